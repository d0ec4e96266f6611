/* linear.h: solves A x = b for the matrices of stencil.h by the method that is asked for. */
#ifndef BN_LINEAR_H
#define BN_LINEAR_H

#include "numerics/cg.h"
#include "numerics/spectral_plan.h"

typedef enum bn_linear_method {
    BN_LINEAR_CG,       /* conjugate gradients, a kernel per iteration */
    BN_LINEAR_SPECTRAL, /* fast direct solver; rectangles, and obstacles in them (bn_spectral_suits) */
    BN_LINEAR_MULTIGRID /* conjugate gradients preconditioned by a V-cycle */
} bn_linear_method;

/* Fields for the work, which systems may share; those that the method does not need may be NULL. bits belong to the
 * system and are filled at creation. */
typedef struct bn_linear_work {
    bn_field *bits;      /* BN_T_U8, one component */
    bn_field *r, *p, *q; /* all methods */
    bn_field *z;         /* CG, MULTIGRID */
} bn_linear_work;

typedef struct bn_linear_desc {
    const char *name;   /* for messages: "the system for psi" */
    bn_stencil stencil; /* its bits are read at creation and preparation only */
    bn_linear_method method;
    bool only_coupled;    /* a direct system that is solved by bn_linear_solve_two alone */
    bn_launches launches; /* of a direct solution */
} bn_linear_desc;

typedef struct bn_linear bn_linear;

/* On a domain of several boxes SPECTRAL, where it does not fit them (bn_spectral_fits_boxes), solves a copy of the
 * system in one box of the same device: the same bits, at the price of copies through the host. MULTIGRID does so where
 * boxes can't be made coarser or are too thin for ghost cells. */
BN_CHECKED bn_status bn_linear_create(bn_domain *, const bn_linear_desc *, const bn_linear_work *, bn_linear **out);
void bn_linear_destroy(bn_linear **);
/* Waits until the kernels of direct solves are compiled, also those on other grids than the domain's. */
BN_CHECKED bn_status bn_linear_ready(const bn_linear *);

/* Solves for what solves will need (obstacles in the direct solver), after the creation of all systems: their programs
 * are known by then, and the descriptions' bits must still be there. */
BN_CHECKED bn_status bn_linear_prepare(bn_linear *);

/* The residual of a direct solution is recomputed on the first and then on every so many-th solve; it decides nothing
 * but whether the run may go on. In between the report is the last one. */
enum { BN_LINEAR_CHECK_EVERY = 128 };

/* Couples two direct systems A x = b and B y = area x + fixed of the same unknowns (their bits are equal), which may be
 * one and the same, so that bn_linear_solve_two solves both with one transform forward. `plus`: B^-1 fixed, NULL: 0.
 * The stencils are those of their descriptions, with bits; fields as those of bn_linear_create. */
BN_CHECKED bn_status bn_linear_couple(bn_linear *first, const bn_stencil *, const bn_linear_work *,
                                      const bn_stencil *second, bn_field *plus);
BN_CHECKED bn_status bn_linear_solve_two(bn_linear *first, bn_field *x, bn_field *y, bn_field *b);
/* Counts a direct solve, and launches the computation of its residual if that is due, which the report waits for;
 * bn_linear_solve does it by itself. */
bool bn_linear_check_is_due(const bn_linear *);
/* Counts a direct solve that was not done here, when no check is due. */
void bn_linear_count(bn_linear *);
BN_CHECKED bn_status bn_linear_check(bn_linear *, bn_field *x, bn_field *b, const bn_cg_target *);

/* Solves from the present x (a start value, which only iterations use); b must be zero where there is no unknown, x
 * keeps its values there. The report, which may wait for the device, fails unless the solve succeeded. */
BN_CHECKED bn_status bn_linear_solve(bn_linear *, bn_field *x, bn_field *b, const bn_cg_target *);
BN_CHECKED bn_status bn_linear_report(bn_linear *, bn_cg_report *);
/* The same for several systems (NULL: none), with one wait for all of them and for `scalars` of their domain. */
BN_CHECKED bn_status bn_linear_reports(bn_linear *const *, bn_cg_report *, size_t count, bn_scalars *scalars,
                                       double *values, size_t value_count);

/* The number of solves decides whose residual is recomputed: a restarted run sets it, with the last report. */
unsigned long long bn_linear_solves(const bn_linear *);
void bn_linear_resume(bn_linear *, unsigned long long solves, const bn_cg_report *);

#endif
