/* sim_parts.h: what the output and the program may see of a simulation beyond its public interface. */
#ifndef BN_SIM_PARTS_H
#define BN_SIM_PARTS_H

#include "sim/checkpoint_state.h"
#include "sim/load_balance.h"
#include "sim/plan.h"
#include "sim/tuning.h"

typedef struct bn_checkpoint bn_checkpoint;

/* bn_sim_create; `check` sees the plan before anything is built or run on the device. */
typedef bn_status (*bn_sim_check)(void *user, const bn_plan *);
BN_CHECKED bn_status bn_sim_create_checked(bn_context *, bn_case *, const bn_sim_desc *, bn_sim_check check, void *user,
                                           bn_sim **out);
const bn_plan *bn_sim_plan(const bn_sim *);
/* Everything about the run that is no field: step and time, its last step, the solver's numbers. After a restart the
 * engine's `resume` is called. */
BN_CHECKED bn_status bn_sim_serialize(bn_sim *, bn_checkpoint_state *);
/* The present state in memory of the host, and the return to it: the steps that follow then have the same bits. For the
 * simulation that it was taken of; release it before that one is destroyed. */
typedef struct bn_sim_snapshot bn_sim_snapshot;
BN_CHECKED bn_status bn_sim_snapshot_take(bn_sim *, bn_sim_snapshot **out);
BN_CHECKED bn_status bn_sim_snapshot_restore(bn_sim *, bn_sim_snapshot *);
void bn_sim_snapshot_release(bn_sim_snapshot **);
/* The checkpoint that the simulation was restarted from, with what its writer added; NULL: none. */
bn_checkpoint *bn_sim_resumed(const bn_sim *);
const bn_step *bn_sim_last_step(const bn_sim *);
const char *bn_sim_engine_name(const bn_sim *); /* "opencl" or "reference" */

/* Where the work-groups come from: "database", "shipped" (data/tuning), "command line" (the caller), or
 * "default". */
const char *bn_sim_tuning_source(const bn_sim *);
const bn_tuning *bn_sim_tuning(const bn_sim *);

/* How its devices share the work; `on` is false where cuts can't be moved. */
const bn_load_balance *bn_sim_load_balance(const bn_sim *);

/* The question behind bn_sim_asked_to_end; none at the beginning. A step that was asked to end returns BN_OK and may
 * not have advanced the number of the step. */
void bn_sim_watch(bn_sim *, bool (*asked_to_end)(void *user), void *user);

/* A watch in use. A request to end is never withdrawn. */
typedef struct bn_watching {
    const bn_watch *watch; /* NULL: none */
    double asked;          /* [s], when it was last asked */
    bool ended;
} bn_watching;
bool bn_watch_due(bn_watching *); /* whether it is time to ask; true from the request on */
bool bn_watch_ends(bn_watching *, const bn_sim *, double left);

/* Rows of step, coordinate, residual, and what the solver announced. */
enum { BN_SERIES_FIXED = 3 };
typedef struct bn_series {
    bn_column columns[BN_SERIES_FIXED + BN_SERIES_MAX];
    size_t count, rows;
} bn_series;
BN_CHECKED bn_status bn_series_create(const bn_plan *, size_t rows, bn_series *out);
void bn_series_put(bn_series *, size_t row, const double *values);
void bn_series_release(bn_series *);
/* Takes over the series of a whole run, which bn_sim_series lends from then on. */
void bn_sim_keep_series(bn_sim *, bn_series *);
/* Every so many steps one is computed twice and compared, and all reads from the device are made twice; 0: never. */
void bn_sim_guard(bn_sim *, unsigned long long every);
typedef struct bn_guard {
    unsigned long long every, steps; /* steps that were computed twice so far */
    double seconds;                  /* that these steps took, both times and the comparison */
} bn_guard;
const bn_guard *bn_sim_guarded(const bn_sim *);

/* Where the case ends it at the latest. */
typedef struct bn_sim_stop {
    double steps, time; /* [s] of the model's time, 0: at any */
} bn_sim_stop;
bn_sim_stop bn_sim_stops_at(const bn_sim *);

/* Nobody will look at the residual and the series of the next steps: they may be those of a step before. */
void bn_sim_quiet(bn_sim *, bool quiet);

#endif
