/* sim.h: a simulation: one case, one solver, one engine (an OpenCL device or the CPU reference), advanced by its owner,
 * who reads and writes its fields between steps.
 *
 * Threads: calls on one context and what was made through it come from one thread at a time. Contexts do not know each
 * other: each thread may have one, with a device and simulations of its own, and gets the bits it would get alone. */
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
    unsigned long long items; /* computed: cells or nodes, all of the grid in each step, in each time step of flood;
                                 photons of xray */
    bool converged;
    bool complete; /* the solver has come to the end of what the case describes */
} bn_sim_state;

/* One field, as bn_sim_field_at describes it; names live as long as the simulation. */
typedef struct bn_sim_field_info {
    const char *name, *unit;
    int components, dims;   /* both numbers of a pair are components */
    unsigned n[3];          /* points along x, y, z; 1 in dimensions that are not there */
    double origin[3], h[3]; /* place of the first point, and spacing [m] */
    bool nodes;             /* values at nodes (else cells) */
    size_t element_bytes;   /* of one component: 4 float, 8 double (reals); integers of that size */
    bool real;
    bool output, compare;   /* roles: written to files; compared by verify */
    bool state;             /* steps go on from it: it can be written */
    bool pairs;             /* complex numbers: real and imaginary part stand side by side */
    bool hexagons;          /* every odd row stands half a cell further along x */
    const double *place[3]; /* of all points along a dimension whose spacings differ [m]; NULL: they are `h` apart */
} bn_sim_field_info;

/* Part of a field, and how its values lie in the caller's memory. Zeroed: all of it, in C order: along x side by side,
 * rows, layers, components one after the other. */
typedef struct bn_field_part {
    int first, components;  /* of a field of pairs: pairs; components 0: all from `first` on */
    unsigned from[3], n[3]; /* points along x, y, z; n 0: all from there on */
    long long strides[4];   /* bytes to the next value along x, y, z and to the next component; all 0: C order */
} bn_field_part;

/* Numbers in the caller's memory: as the field has them (bn_sim_field_info), or reals of a precision of one's own,
 * rounded to nearest. Pairs are two of them. */
typedef enum bn_numbers { BN_NUMBERS_OWN, BN_NUMBERS_FLOAT, BN_NUMBERS_DOUBLE } bn_numbers;

/* Who is asked whether a simulation goes on: every `seconds` at most (0: after every step), on the thread that steps,
 * also within a step that takes long. It may look at what other threads have said, and must not call the simulation or
 * its context. `left`: seconds until the end, estimated; NaN where nothing is known. False ends with BN_INTERRUPTED
 * after the step. go_on NULL: nobody is. */
typedef struct bn_watch {
    bool (*go_on)(void *user, const bn_sim_state *now, double left);
    void *user;
    double seconds;
} bn_watch;

BN_CHECKED bn_status bn_sim_create(bn_context *, bn_case *, const bn_sim_desc *, bn_sim **out);
void bn_sim_destroy(bn_sim **);

/* One step. BN_DIVERGED with step, field and cell when a value is not finite or a linear solve fails. */
BN_CHECKED bn_status bn_sim_step(bn_sim *);
bool bn_sim_done(const bn_sim *); /* converged, complete, or stop.steps or stop.time reached */

/* So many steps, or until bn_sim_done with 0. Ends before only where a simulation is complete: one that has converged
 * can go on after its owner has changed it. The host does not wait for the device after each step: with more than one,
 * residual and series are those of the last. `watch` may be NULL. Fails as bn_sim_step does, and with BN_INTERRUPTED;
 * then bn_error_clear and another call go on. */
BN_CHECKED bn_status bn_sim_advance(bn_sim *, unsigned long long steps, const bn_watch *watch);
bn_sim_state bn_sim_now(const bn_sim *);

/* Writes a checkpoint of the present state into `folder`, beside the last one (docs/checkpoints.md). */
BN_CHECKED bn_status bn_sim_save(bn_sim *, const char *folder);

/* Fills in the scalars and tables of the results from the present fields. */
BN_CHECKED bn_status bn_sim_measure(bn_sim *);
const bn_results *bn_sim_results(const bn_sim *);

size_t bn_sim_field_count(const bn_sim *);
const bn_sim_field_info *bn_sim_field_at(const bn_sim *, size_t index);

/* Copies a field to the host in C order (x fastest, component slowest), in its own element type; `bytes` is all of it.
 */
BN_CHECKED bn_status bn_sim_read(bn_sim *, const char *field, void *values, size_t bytes);

/* Copies part of a field (NULL: all of it) to the caller's memory, waiting for the steps before. BN_USAGE: there is no
 * such field or part, or it has no reals and another type than its own is asked for. */
BN_CHECKED bn_status bn_sim_get(bn_sim *, const char *field, const bn_field_part *, bn_numbers, void *values);

/* The other way: the next step begins with these values. Only for fields of the state, else BN_USAGE: others follow
 * from them. Solvers do not check what they get, and results that compare the end with the beginning, such as a mass
 * error, count what was written as an error. */
BN_CHECKED bn_status bn_sim_set(bn_sim *, const char *field, const bn_field_part *, bn_numbers, const void *values);

/* Adds to what is there: heat to a temperature, water to a depth, a current to a field. One rounding per value, to the
 * field's precision. Only reals of the state. */
BN_CHECKED bn_status bn_sim_add(bn_sim *, const char *field, const bn_field_part *, bn_numbers, const void *values);

/* The index map that the case gives (`material.map` of bpm, `structure.map` of maxwell): values along x, y, z; false:
 * it gives none. */
bool bn_sim_map(const bn_sim *, unsigned n[3]);

/* How a number F that follows from the present fields changes with the refractive index of every value of that map:
 * dF/dn, x fastest, by the adjoint equations of the scheme (docs/bpm.md, docs/maxwell.md say at which cost, and what is
 * held fixed). `of` is
 *   a result ("port_1", "reflectance"), with `slopes` NULL, or
 *   a field ("envelope", "E", "Z0H"), with the slopes of F in its numbers, laid out as bn_sim_read has them, in double:
 *   dF/d(real part) and dF/d(imaginary part) side by side.
 * The simulation stays as it is. `watch` (may be NULL) is asked as in bn_sim_advance. BN_USAGE: there is no map, the
 * solver has no such gradient; BN_DIVERGED: maxwell has not converged, here or in the adjoint equations. */
BN_CHECKED bn_status bn_sim_gradient(bn_sim *, const char *of, const double *slopes, const bn_watch *watch,
                                     double *gradient);

/* The series: step, time (or z), residual, and the solver's own columns. Of a simulation that bn_run gave: all rows of
 * series.csv. Of another one: a single row, that of the last step. Lent until the next call on the simulation. */
BN_CHECKED bn_status bn_sim_series(bn_sim *, const bn_column **columns, size_t *count, size_t *rows);

/* Names of the solvers built in, ending with NULL, and their one-line descriptions. */
const char *const *bn_solver_names(void);
const char *bn_solver_summary(const char *name);

/* A commented case with every key, its unit, default and range (`binnacle new SOLVER --all`); free() it. */
BN_CHECKED bn_status bn_solver_every_key(bn_context *, const char *solver, char **text);

BN_INTERFACE_END
#endif
