/* cli_check_time.h: how long a case will take, from some of its steps, measured in a process of their own. */
#ifndef BN_CLI_CHECK_TIME_H
#define BN_CLI_CHECK_TIME_H

#include "cli/options.h"
#include "sim/plan.h"
#include <jansson.h>

/* What was measured, and what follows from it. Seconds; NaN: not known. */
typedef struct bn_check_time {
    char device[128];
    double setup;              /* before the first step */
    double steps;              /* that were run */
    double first, seconds;     /* of the first one, which may build kernels; of the others */
    double each, each_earlier; /* of a step in the later half of these, in the earlier half */
    bool ended;                /* the run came to its end meanwhile */
    bool hung;        /* the first step (or, with `setup` NaN, what comes before) took longer than there is time */
    double limit;     /* time that there is */
    double run_steps; /* of the run; with `open` at most */
    bool open;        /* it ends sooner when it converges */
    const char *end;  /* what limits run_steps: a key of the case, or the solver's own number */
    double total;     /* of all steps; with `open` at most */
} bn_check_time;

/* Runs steps of the case for some seconds on the device that `run` would take. */
BN_CHECKED bn_status bn_check_measure(const bn_cli *, const bn_plan *, const bn_case *, bn_check_time *);
/* The child's half: prints what it measures. */
BN_CHECKED bn_status bn_check_child(const bn_cli *);
void bn_check_time_print(const bn_check_time *);
json_t *bn_check_time_json(const bn_check_time *);

/* Steps of a run that has done `done`, is at `time`, and steps by dt [s] (0: not known); `end`: what limits them. */
double bn_check_steps(const bn_plan *, const bn_case *, double done, double time, double dt, const char **end);

#endif
