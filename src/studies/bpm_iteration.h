/* bpm_iteration.h: what the study bpm_iteration and its reference share. */
#ifndef BN_BPM_ITERATION_H
#define BN_BPM_ITERATION_H

#include "sim/solver.h"

#define BPM_ITERATION_TAUS(X) X(BPM_TAU_OPTIMAL, "optimal") X(BPM_TAU_SEED, "seed")
typedef enum bpm_iteration_tau { BPM_ITERATION_TAUS(BN_CHOICE_ENUM) } bpm_iteration_tau;

#define BPM_ITERATION_CONSTANTS(X)                                          \
    X(a_im, "A = 1 + i a d2, the operator on the new layer")                \
    X(b_im, "i b d2 psi, the right-hand side of the change")                \
    X(b_all_im, "psi + i b_all d2 psi, the right-hand side of the new psi") \
    X(tau_re, "parameter of the iteration")                                 \
    X(tau_im, "its imaginary part")
typedef struct bpm_iteration_constants {
    BPM_ITERATION_CONSTANTS(BN_CONSTANT_MEMBER)
} bpm_iteration_constants;

typedef struct bpm_iteration {
    uint32_t n; /* unknowns between the walls */
    double width, h, dz, wavelength, waist, tolerance;
    size_t steps, done;
    long long most_sweeps;
    bool single;
    bpm_iteration_constants k;
    double rate, norm; /* share of the error that a sweep leaves; of A, an upper bound */
    double sweeps;     /* so far */
    double totals[2];  /* sums of squares: right-hand side, residual */
    bn_field *psi, *g, *u, *next;
    bn_kernel *start, *sweep, *residual, *total, *add;
    bn_partials *partials;
    bn_scalars *scalars;
    void *reference_memory;
} bpm_iteration;

/* A step's parts in an engine's own words: g, u = 0 and both totals; sweeps and the residual's total; psi + u. */
typedef struct bpm_iteration_engine {
    bn_status (*start)(bpm_iteration *);
    bn_status (*sweeps)(bpm_iteration *, long long count);
    bn_status (*add)(bpm_iteration *);
} bpm_iteration_engine;
BN_CHECKED bn_status bpm_iteration_step(bn_sim *, bpm_iteration *, const bpm_iteration_engine *, bn_step *out);

extern const bn_engine bn_bpm_iteration_reference_single, bn_bpm_iteration_reference_double;

#endif
