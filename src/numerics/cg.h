/* cg.h: conjugate gradients on a device for the matrices of stencil.h (kernels/cg.cl), and what a solve is asked for
 * and answers. */
#ifndef BN_CG_H
#define BN_CG_H

#include "api/launch.h"
#include "numerics/stencil.h"

typedef struct bn_cg bn_cg;

/* What a solve is asked for. */
typedef struct bn_cg_target {
    double tolerance;    /* |b - A x| <= tolerance |b|, for the residual recomputed from x */
    unsigned iterations; /* at most */
} bn_cg_target;

/* Outcomes, the states of kernels/cg.cl. */
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
    double residual;   /* bn_cg_relative, recomputed */
    unsigned iterations, restarts;
    double right; /* |b| */
} bn_cg_report;

/* |b - A x| / |b| from the squares of both, or |b - A x| itself where b is zero and a value in A x is given. */
double bn_cg_relative(double residual2, double right2);

/* Factors kappa of the rounding floor |r| <= kappa u (|A| |x| + |b|) that counts as reached: for conjugate gradients
 * once the recurrence has passed the tolerance, for a direct solution at once (its transforms round in every one of
 * some ten levels); u is the unit roundoff, 2^-24 or 2^-53. */
#define BN_CG_KAPPA 4.0
#define BN_DIRECT_KAPPA 16.0

/* Squares of the factors of |b|, |x| and |b| in the tests, one place for device and reference. */
typedef struct bn_cg_limits {
    double tolerance2, floor_x, floor_b;
} bn_cg_limits;
bn_cg_limits bn_cg_limits_for(const bn_cg_target *, double norm, double kappa, bn_precision);

/* Cells around one that an iteration without preconditioner is computed from. */
enum { BN_CG_RADIUS = 2 };

/* A preconditioner: launches what computes z from r. */
typedef bn_status bn_preconditioner(void *user, bn_field *r, bn_field *z);

typedef struct bn_cg_desc {
    const char *name;
    bn_stencil stencil;  /* its bits are not used: the field has them */
    bn_field *bits;      /* BN_T_U8 */
    bn_field *r, *p, *q; /* work: the residual and two directions */
    bn_field *z;         /* the preconditioned residual, or without preconditioner the next one */
    bool checks;         /* for bn_cg_check alone, which takes r and no other field */
    bn_preconditioner *preconditioner;
    void *user;
} bn_cg_desc;

/* `axes` of kernels/lib/stencil.h on a device; NULL unless the grid is stretched. */
BN_CHECKED bn_status bn_linear_axes(bn_domain *, const bn_stencil *, bn_device_array **out);

BN_CHECKED bn_status bn_cg_create(bn_domain *, const bn_cg_desc *, bn_cg **out);
void bn_cg_destroy(bn_cg **);

/* Solves A x = b from the present x, which keeps its values where there is no unknown; b must be zero there. Returns an
 * error only if OpenCL fails; the report says how the solve ended. On entry the report is that of a similar solve (or
 * zeros), whose iterations are launched before the first read of the scalars. Convergence, restarts, rounding:
 * docs/flow.md. */
BN_CHECKED bn_status bn_cg_solve(bn_cg *, bn_field *x, bn_field *b, const bn_cg_target *, bn_cg_report *);

/* Launches the computation of the true residual of an x from a direct solver, and its judgement. The report follows
 * from the scalars, which may be read along with others in one wait. */
BN_CHECKED bn_status bn_cg_check(bn_cg *, bn_field *x, bn_field *b, const bn_cg_target *);
enum { BN_CG_SCALARS = 9 };
bn_scalars *bn_cg_scalars(const bn_cg *);
bn_cg_report bn_cg_report_of(const double scalars[BN_CG_SCALARS]);

/* Fails with BN_DIVERGED and advice unless the report is a success. `system`: what was solved, for the message. */
BN_CHECKED bn_status bn_cg_judge(bn_context *, const char *system, const bn_cg_target *, const bn_cg_report *);

#endif
