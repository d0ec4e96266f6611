/* sim.h: a simulation: one case, one solver, one engine (an OpenCL device or the CPU reference). */
#ifndef BINNACLE_SIM_H
#define BINNACLE_SIM_H

#include "binnacle/case.h"
#include "binnacle/device.h"
#include "binnacle/results.h"

BN_INTERFACE_BEGIN

typedef struct bn_sim bn_sim;

typedef struct bn_sim_desc {
    bn_device *device;    /* NULL: the CPU reference, which never touches OpenCL */
    int boxes;            /* pieces the domain is cut into; 0 means 1. The bits do not depend on it */
    size_t work_group[3]; /* {0}: the tuned or default shape. The bits do not depend on it */
    /* Shapes of single kernels, copied; they go before work_group. */
    const bn_kernel_group *groups;
    size_t group_count;
    const char *resume; /* a checkpoint to go on from: its manifest or its folder; NULL: what the case says */
    bool tuned; /* without any of these: the shapes that `binnacle tune` has found for such a case on the device, if any
                 */
} bn_sim_desc;

/* What a step reported; NaN in `residual` where the solver has none. */
typedef struct bn_sim_state {
    unsigned long long step;  /* steps done */
    double time;              /* simulated time [s], or the coordinate that the solver steps along (z of a beam [m]) */
    double residual;          /* the solver's measure of change; converged when below its tolerance */
    unsigned long long items; /* cells, photons or points updated so far */
    bool converged;
    bool complete; /* the solver has come to the end of what the case describes */
} bn_sim_state;

/* One field, as bn_sim_field_at describes it. Data: bn_sim_read. */
typedef struct bn_sim_field_info {
    const char *name, *unit;
    int components, dims;
    unsigned n[3];          /* points along x, y, z */
    double origin[3], h[3]; /* [m] */
    bool nodes;             /* values at nodes (else cells) */
    size_t element_bytes;   /* of one component: 4 float, 8 double (reals); integers of that size */
    bool real;
    bool output, compare; /* roles: written to files; compared by verify */
} bn_sim_field_info;

BN_CHECKED bn_status bn_sim_create(bn_context *, bn_case *, const bn_sim_desc *, bn_sim **out);
void bn_sim_destroy(bn_sim **);

/* One step. BN_DIVERGED with step, field and cell when a value is not finite or a linear solve fails. */
BN_CHECKED bn_status bn_sim_step(bn_sim *);
bool bn_sim_done(const bn_sim *); /* converged, complete, or stop.steps or stop.time reached */
bn_sim_state bn_sim_now(const bn_sim *);

/* Writes a checkpoint of the present state into `folder`, beside the last one (docs/checkpoints.md). */
BN_CHECKED bn_status bn_sim_save(bn_sim *, const char *folder);

/* Fills in the scalars and tables of the results from the present fields. */
BN_CHECKED bn_status bn_sim_measure(bn_sim *);
const bn_results *bn_sim_results(const bn_sim *);

size_t bn_sim_field_count(const bn_sim *);
const bn_sim_field_info *bn_sim_field_at(const bn_sim *, size_t index);

/* Copies a field to the host in C order (x fastest, component slowest), in its own element type. */
BN_CHECKED bn_status bn_sim_read(bn_sim *, const char *field, void *values, size_t bytes);

/* Names of the solvers built in, ending with NULL, and their one-line descriptions. */
const char *const *bn_solver_names(void);
const char *bn_solver_summary(const char *name);

/* A commented case with every key, its unit, default and range (`binnacle new SOLVER --all`); free() it. */
BN_CHECKED bn_status bn_solver_every_key(bn_context *, const char *solver, char **text);

BN_INTERFACE_END
#endif
