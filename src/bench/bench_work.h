/* bench_work.h: what a benchmark times: steps of a simulation, or solves of a linear system by itself. */
#ifndef BN_BENCH_WORK_H
#define BN_BENCH_WORK_H

#include "bench/bench.h"
#include "sim/sim_parts.h"

typedef struct bn_bench_system bn_bench_system;

typedef struct bn_bench_work {
    const bn_bench_job *job;
    bn_case *c;
    bn_sim *sim;             /* NULL: a linear system */
    bn_bench_system *system; /* NULL: a simulation */
    bn_sim_snapshot *begin;  /* of all rounds; NULL: what a step takes does not follow from the state */
} bn_bench_work;

/* `device` NULL: on the CPU reference. Close the work also after a failure. */
BN_CHECKED bn_status bn_bench_work_open(bn_context *, bn_device *device, const bn_bench_job *, bn_bench_work *out);
void bn_bench_work_close(bn_bench_work *);
bn_domain *bn_bench_work_domain(const bn_bench_work *);

/* Does so many steps, fewer where the case ends, and waits for the last one. *steps: how many of the job's steps were
 * done, which is a fraction where the simulation chooses how much a call does. */
BN_CHECKED bn_status bn_bench_work_run(bn_bench_work *, unsigned count, double *steps);

/* Steps until the work is that of a typical step, for `most` seconds at most, and takes that state for the begin of all
 * rounds; where what a step takes follows from the state, else nothing. */
BN_CHECKED bn_status bn_bench_work_develop(bn_bench_work *, double most);
/* Goes back to the begin of all rounds, and waits until it is there. */
BN_CHECKED bn_status bn_bench_work_restart(bn_bench_work *);

/* Updates of a step: those of the job, or what the simulation has counted. */
BN_CHECKED bn_status bn_bench_work_updates(const bn_bench_work *, double *updates);

/* bench_linear.c: Poisson's equation on the unit square, zero at the border. */
BN_CHECKED bn_status bn_bench_system_create(bn_context *, bn_device *, const bn_bench_job *, bn_bench_system **out);
void bn_bench_system_destroy(bn_bench_system **);
bn_domain *bn_bench_system_domain(const bn_bench_system *);
/* Solves `count` times from zero and waits. *iterations: in all; of the direct method one a solve. */
BN_CHECKED bn_status bn_bench_system_solve(bn_bench_system *, unsigned count, double *iterations);

#endif
