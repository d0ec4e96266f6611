/* cg.c: launches the iterations of kernels/numerics.cl. How many it launches between two looks at the scalars is a
 * guess from the last solve; the result does not depend on it, because the device stops by itself. */
#include "numerics/cg.h"

#include <math.h>
#include <stdlib.h>

/* Places of the scalars, as in kernels/numerics.cl. */
enum { CG_RR, CG_BB, CG_TRUE, CG_ALPHA, CG_BETA, CG_STATE, CG_ITERATIONS, CG_RESTARTS, CG_SCALARS };

enum { CG_RESIDUAL, CG_JUDGE, CG_DIRECTION, CG_FIND_ALPHA, CG_UPDATE, CG_FIND_BETA, CG_KERNELS };

static const bn_kernel_desc kernel_table[CG_KERNELS] = {
    [CG_RESIDUAL] = { "cg_residual", BN_PER_SEGMENT, { .reads = 7, .writes = 1, .flops = 16 } },
    [CG_JUDGE] = { "cg_judge", BN_ONCE, { 0, 0, 0 } },
    [CG_DIRECTION] = { "cg_direction", BN_PER_SEGMENT, { .reads = 7, .writes = 1, .flops = 21 } },
    [CG_FIND_ALPHA] = { "cg_alpha", BN_ONCE, { 0, 0, 0 } },
    [CG_UPDATE] = { "cg_update", BN_PER_SEGMENT, { .reads = 8, .writes = 2, .flops = 15 } },
    [CG_FIND_BETA] = { "cg_beta", BN_ONCE, { 0, 0, 0 } },
};

struct bn_cg {
    bn_domain *domain;
    bn_program *program;
    bn_kernel *kernels[CG_KERNELS];
    bn_partials *partials;
    bn_scalars *scalars;
    bn_cg_work work;
};

bn_cg_limits bn_cg_limits_for(const bn_cg_target *t, bn_precision precision)
{
    const double u = precision == BN_DOUBLE ? 0x1p-53 : 0x1p-24, floor_b = BN_CG_KAPPA * u, floor_x = floor_b * t->norm;
    return (bn_cg_limits){ t->tolerance * t->tolerance, floor_x * floor_x, floor_b * floor_b };
}

bn_status bn_cg_create(bn_domain *domain, const char *name, const bn_cg_work *work, bn_cg **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_cg *cg = calloc(1, sizeof *cg);
    if (!cg)
        return bn_fail(bn_domain_context(domain), BN_MEMORY, "no memory for a linear solver");
    cg->domain = domain;
    cg->work = *work;
    BN_GO(bn_program_build(domain, "numerics", NULL, 0, &cg->program));
    for (int k = 0; k < CG_KERNELS; k++)
        BN_GO(bn_kernel_find(cg->program, &kernel_table[k], &cg->kernels[k]));
    BN_GO(bn_partials_create(domain, name, 3, &cg->partials));
    BN_GO(bn_scalars_create(domain, name, CG_SCALARS, &cg->scalars));
    *out = cg;
    cg = NULL;
out:
    bn_cg_destroy(&cg);
    return st;
}

void bn_cg_destroy(bn_cg **solver)
{
    if (!solver || !*solver)
        return;
    bn_partials_destroy(&(*solver)->partials);
    bn_scalars_destroy(&(*solver)->scalars);
    bn_program_destroy(&(*solver)->program);
    free(*solver);
    *solver = NULL;
}

/* r = b - A x and what follows from it; with `check` only if the recurrence has claimed to be done. */
static bn_status residual(bn_cg *cg, bn_field *A, bn_field *x, bn_field *b, const bn_cg_limits *l, int check)
{
    BN_TRY(BN_RUN(cg->kernels[CG_RESIDUAL], BN_READ(A, 0), BN_READ(x, 1), BN_READ(b, 0), BN_UPDATE(cg->work.r),
                  BN_SCALARS(cg->scalars), BN_I32V(check), BN_PARTIALS(cg->partials)));
    return BN_RUN(cg->kernels[CG_JUDGE], BN_PARTIALS(cg->partials), BN_SCALARS(cg->scalars), BN_I32V(check),
                  BN_REALV(l->tolerance2), BN_REALV(l->floor_x), BN_REALV(l->floor_b));
}

static bn_status iterate(bn_cg *cg, bn_field *A, bn_field *x, const bn_cg_limits *l, unsigned most)
{
    bn_cg_work *w = &cg->work;
    BN_TRY(BN_RUN(cg->kernels[CG_DIRECTION], BN_READ(A, 0), BN_READ(w->r, 1), BN_READ(w->p, 1), BN_UPDATE(w->p_next),
                  BN_SCALARS(cg->scalars), BN_PARTIALS(cg->partials)));
    BN_TRY(BN_RUN(cg->kernels[CG_FIND_ALPHA], BN_PARTIALS(cg->partials), BN_SCALARS(cg->scalars)));
    BN_TRY(BN_RUN(cg->kernels[CG_UPDATE], BN_READ(A, 0), BN_READ(w->p_next, 1), BN_UPDATE(x), BN_UPDATE(w->r),
                  BN_SCALARS(cg->scalars), BN_PARTIALS(cg->partials)));
    BN_TRY(BN_RUN(cg->kernels[CG_FIND_BETA], BN_PARTIALS(cg->partials), BN_SCALARS(cg->scalars),
                  BN_REALV(l->tolerance2), BN_REALV((double)most)));
    bn_field_swap(w->p, w->p_next);
    return BN_OK;
}

bn_status bn_cg_solve(bn_cg *cg, bn_field *A, bn_field *x, bn_field *b, const bn_cg_target *target,
                      bn_cg_report *report)
{
    const bn_cg_limits l = bn_cg_limits_for(target, bn_domain_precision(cg->domain));
    double s[CG_SCALARS];
    const bool known = report->state != BN_CG_RUN;
    unsigned batch = known ? report->iterations : 8;
    BN_TRY(residual(cg, A, x, b, &l, 0));
    do {
        for (unsigned i = 0; i < batch; i++)
            BN_TRY(iterate(cg, A, x, &l, target->iterations));
        if (batch > 0)
            BN_TRY(residual(cg, A, x, b, &l, 1));
        BN_TRY(bn_scalars_read(cg->scalars, s, CG_SCALARS));
        const unsigned done = (unsigned)s[CG_ITERATIONS];
        /* Too few: an eighth more than the last solve had, or twice as many when there is none. */
        batch = known ? done / 8 + 4 : done + 8;
    } while (s[CG_STATE] == BN_CG_RUN || s[CG_STATE] == BN_CG_CLAIMED);
    *report = (bn_cg_report){
        .state = (bn_cg_state)s[CG_STATE],
        .residual = s[CG_TRUE] == 0 ? 0 : sqrt(s[CG_TRUE] / s[CG_BB]),
        .iterations = (unsigned)s[CG_ITERATIONS],
        .restarts = (unsigned)s[CG_RESTARTS],
    };
    return BN_OK;
}

bn_status bn_cg_judge(bn_context *ctx, const char *system, const bn_cg_target *target, const bn_cg_report *r)
{
    if (r->state == BN_CG_REACHED || r->state == BN_CG_ROUNDED)
        return BN_OK;
    const char *why = r->state == BN_CG_STALLED ? "restarts no longer reduce the residual"
                      : r->state == BN_CG_LIMIT ? "the limit of iterations was reached"
                                                : "the matrix is not positive definite, or values are not finite";
    return bn_fail(ctx, BN_DIVERGED,
                   "%s was not solved: true residual %.3g of the right-hand side, asked for %.3g, after %u iterations "
                   "and %u restarts; %s. A smaller time step, double precision, more solver.cg_iterations or a larger "
                   "solver.cg_tolerance may help",
                   system, r->residual, target->tolerance, r->iterations, r->restarts, why);
}
