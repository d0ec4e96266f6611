/* cg.h: conjugate gradients on fields of a device, for symmetric positive definite matrices stored by diagonals
 * (kernels/numerics.cl). The reference of a solver brings its own plain one. */
#ifndef BN_CG_H
#define BN_CG_H

#include "api/launch.h"

typedef struct bn_cg bn_cg;

/* Work fields, real, one component each, announced by the solver's plan so that they are counted: the residual and two
 * directions. */
typedef struct bn_cg_work {
    bn_field *r, *p, *p_next;
} bn_cg_work;

/* What a solve is asked for. */
typedef struct bn_cg_target {
    double tolerance;    /* |b - A x| <= tolerance |b|, for the residual recomputed from x */
    double norm;         /* of A, infinity norm: for the rounding floor */
    unsigned iterations; /* at most */
} bn_cg_target;

/* Outcomes, the states of kernels/numerics.cl. */
typedef enum bn_cg_state {
    BN_CG_RUN,
    BN_CG_CLAIMED,
    BN_CG_REACHED,
    BN_CG_ROUNDED,
    BN_CG_STALLED,
    BN_CG_BROKEN,
    BN_CG_LIMIT
} bn_cg_state;

typedef struct bn_cg_report {
    bn_cg_state state; /* REACHED and ROUNDED are successes */
    double residual;   /* |b - A x| / |b|, recomputed; 0 when b = 0 = residual */
    unsigned iterations, restarts;
} bn_cg_report;

/* Factor kappa of the rounding floor |r| <= kappa u (|A| |x| + |b|) that counts as reached once the recurrence has
 * passed the tolerance; u is the unit roundoff, 2^-24 or 2^-53. */
#define BN_CG_KAPPA 2.0

/* Squares of the factors of |b|, |x| and |b| in the tests, one place for device and reference. */
typedef struct bn_cg_limits {
    double tolerance2, floor_x, floor_b;
} bn_cg_limits;
bn_cg_limits bn_cg_limits_for(const bn_cg_target *, bn_precision);

BN_CHECKED bn_status bn_cg_create(bn_domain *, const char *name, const bn_cg_work *, bn_cg **out);
void bn_cg_destroy(bn_cg **);

/* Solves A x = b from the present x, which keeps its values where the diagonal of A is zero; b must be zero there. A
 * has five components: diagonal, west, east, south, north; entries towards points that are no unknowns are zero. Fails
 * only for OpenCL's failures: the report says how it ended. On entry it may hold the report of a similar solve (or
 * zeros): a guess of how many iterations to launch before looking. Convergence, restarts, rounding: docs/flow.md. */
BN_CHECKED bn_status bn_cg_solve(bn_cg *, bn_field *A, bn_field *x, bn_field *b, const bn_cg_target *, bn_cg_report *);

/* Fails with BN_DIVERGED and advice unless the report is a success. `system`: what was solved, for the message. */
BN_CHECKED bn_status bn_cg_judge(bn_context *, const char *system, const bn_cg_target *, const bn_cg_report *);

#endif
