/* cg.c: launches the iterations of kernels/cg.cl. The number of iterations between two reads of the scalars is a guess
 * from the last solve; the result does not depend on it, because the kernels do nothing once the solve has ended. */
#include "numerics/cg.h"

#include <math.h>
#include <stdlib.h>

/* Places of the scalars, as in kernels/cg.cl. */
enum { CG_RR, CG_RZ, CG_BB, CG_TRUE, CG_PAP, CG_STATE, CG_ITERATIONS, CG_RESTARTS, CG_FRESH, CG_SCALARS };

enum { CG_RESIDUAL, CG_JUDGE, CG_DOTS, CG_STEP, CG_PRECONDITIONED_STEP, CG_KERNELS };

static const bn_kernel_desc kernel_table[CG_KERNELS] = {
    [CG_RESIDUAL] = { "cg_residual", BN_PER_BLOCK, { .reads = 2, .writes = 1, .flops = 16 } },
    [CG_JUDGE] = { "cg_judge", BN_ONCE, { 0, 0, 0 } },
    [CG_DOTS] = { "cg_dots", BN_PER_BLOCK, { .reads = 2, .writes = 0, .flops = 13 } },
    [CG_STEP] = { "cg_step", BN_PER_PATCH, { .reads = 3, .writes = 3, .flops = 28 } },
    [CG_PRECONDITIONED_STEP] = { "cg_preconditioned_step", BN_PER_BLOCK, { .reads = 4, .writes = 3, .flops = 25 } },
};

/* Whether a system has a kernel: compilers take a tenth of a second for each. Those that iterate have all, so that they
 * share one program. */
static bool has(const bn_cg_desc *d, int kernel) { return kernel < CG_DOTS || !d->checks; }

struct bn_cg {
    bn_domain *domain;
    bn_program *program;
    bn_kernel *kernels[CG_KERNELS];
    bn_partials *sums, *dots; /* of a residual; r.z and z.Az of a preconditioned one */
    bn_partials *left, *next; /* r.r and r.Ar, which a step leaves, and the next one; with a preconditioner r.r alone */
    bn_scalars *scalars, *scalars_next, *diagonal;
    bn_device_array *axes; /* of a stretched grid */
    bn_cg_desc desc;
};

bn_cg_limits bn_cg_limits_for(const bn_cg_target *t, double norm, double kappa, bn_precision precision)
{
    const double u = precision == BN_DOUBLE ? 0x1p-53 : 0x1p-24, floor_b = kappa * u, floor_x = floor_b * norm;
    return (bn_cg_limits){ t->tolerance * t->tolerance, floor_x * floor_x, floor_b * floor_b };
}

static bn_status create_scalars(bn_cg *cg)
{
    double diagonal[BN_DIAGONALS];
    const int kept = cg->desc.preconditioner ? 1 : 2;
    BN_TRY(bn_partials_create(cg->domain, cg->desc.name, 3, 0, &cg->sums));
    BN_TRY(bn_partials_create(cg->domain, cg->desc.name, 2, 0, &cg->dots));
    BN_TRY(bn_partials_create(cg->domain, cg->desc.name, kept, 0, &cg->left));
    BN_TRY(bn_partials_create(cg->domain, cg->desc.name, kept, 0, &cg->next));
    BN_TRY(bn_scalars_create(cg->domain, cg->desc.name, CG_SCALARS, &cg->scalars));
    BN_TRY(bn_scalars_create(cg->domain, cg->desc.name, CG_SCALARS, &cg->scalars_next));
    BN_TRY(bn_scalars_create(cg->domain, cg->desc.name, BN_DIAGONALS, &cg->diagonal));
    bn_stencil_diagonals(&cg->desc.stencil, diagonal);
    return bn_scalars_write(cg->diagonal, diagonal, BN_DIAGONALS);
}

/* Numbers in local memory there: P and R of kernels/cg.cl. */
static size_t step_values(size_t blocks)
{
    const size_t rows = blocks * BN_BLOCK_NY;
    return (BN_BLOCK_NX + 4) * (rows + 4) + (BN_BLOCK_NX + 2) * (rows + 2);
}

/* Blocks of a work-group of cg_step. Several share what lies around them; but each compute unit should have four
 * work-groups, and both arrays must fit into local memory: a GPU's into the 32 KiB that all have, two blocks in single,
 * one in double precision. */
static int step_blocks(const bn_domain *domain)
{
    const uint32_t *n = bn_domain_grid(domain)->n;
    const bn_device *device = bn_domain_device(domain);
    const bn_device_info *info = bn_device_describe(device);
    const size_t blocks = (size_t)((n[0] - 1) / BN_BLOCK_NX + 1) * ((n[1] - 1) / BN_BLOCK_NY + 1);
    const size_t wish = blocks / ((size_t)4 * info->compute_units);
    const bool single = bn_domain_precision(domain) == BN_SINGLE;
    size_t most = bn_runs_cpu_kernels(device) ? 8 : single ? 2 : 1;
    while (most > 1 && step_values(most) * (single ? 4 : 8) > info->local_bytes)
        most--;
    return (int)(wish < 1 ? 1 : wish < most ? wish : most);
}

bn_status bn_linear_axes(bn_domain *domain, const bn_stencil *s, bn_device_array **out)
{
    *out = NULL;
    if (!s->widths)
        return BN_OK;
    double *values = bn_stencil_axes(s);
    if (!values)
        return bn_fail(bn_domain_context(domain), BN_MEMORY, "no memory for the spacings of a grid");
    const bn_status st = bn_device_array_reals(domain, "spacings", values, bn_stencil_axes_count(s), out);
    free(values);
    return st;
}

bn_status bn_cg_create(bn_domain *domain, const bn_cg_desc *desc, bn_cg **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_cg *cg = calloc(1, sizeof *cg);
    if (!cg)
        return bn_fail(bn_domain_context(domain), BN_MEMORY, "no memory for a linear solver");
    cg->domain = domain;
    cg->desc = *desc;
    const int blocks = step_blocks(domain);
    bn_define defines[CG_KERNELS + 2] = { { .name = "STEP_BLOCKS", .kind = BN_DEF_INT, .u.i = blocks } };
    size_t count = 1;
    for (int k = 0; k < CG_KERNELS; k++)
        if (!has(desc, k))
            defines[count++] = (bn_define){ .name = kernel_table[k].name, .kind = BN_DEF_LEFT_OUT };
    if (desc->stencil.widths)
        defines[count++] = (bn_define){ .name = "STRETCHED", .kind = BN_DEF_INT, .u.i = 1 };
    BN_GO(bn_program_build(domain, "cg", defines, count, &cg->program));
    BN_GO(bn_linear_axes(domain, &desc->stencil, &cg->axes));
    for (int k = 0; k < CG_KERNELS; k++)
        if (has(desc, k))
            BN_GO(bn_kernel_find(cg->program, &kernel_table[k], &cg->kernels[k]));
    if (has(desc, CG_STEP))
        bn_kernel_patch(cg->kernels[CG_STEP], BN_BLOCK_NX, (size_t)blocks * BN_BLOCK_NY);
    BN_GO(create_scalars(cg));
    BN_GO(bn_field_zero(desc->p)); /* the first direction is z + 0 p: p must be a number */
    BN_GO(bn_field_zero(desc->q));
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
    bn_cg *cg = *solver;
    bn_partials_destroy(&cg->sums);
    bn_partials_destroy(&cg->dots);
    bn_partials_destroy(&cg->left);
    bn_partials_destroy(&cg->next);
    bn_scalars_destroy(&cg->scalars);
    bn_scalars_destroy(&cg->scalars_next);
    bn_scalars_destroy(&cg->diagonal);
    bn_device_array_destroy(&cg->axes);
    bn_program_destroy(&cg->program);
    free(cg);
    *solver = NULL;
}

static void swap_scalars(bn_cg *cg)
{
    bn_scalars *s = cg->scalars;
    cg->scalars = cg->scalars_next;
    cg->scalars_next = s;
}

/* The arguments of STENCIL_ARGUMENTS in kernels/lib/stencil.h; kx and ky are no definitions, so that all systems of a
 * domain share one program. */
#define MATRIX(cg, radius)                                                                      \
    BN_ARRAY_OR_NULL((cg)->axes), BN_READ((cg)->desc.bits, radius), BN_SCALARS((cg)->diagonal), \
        BN_REALV((cg)->desc.stencil.kx), BN_REALV((cg)->desc.stencil.ky)

/* r = b - A x and its judgement; with `check` only if the recurrence claims to be done, after at most `most`
 * iterations. `direct`: x is from a direct solver. */
static bn_status residual(bn_cg *cg, bn_field *x, bn_field *b, const bn_cg_limits *l, int check, int direct,
                          unsigned most)
{
    BN_TRY(BN_RUN(cg->kernels[CG_RESIDUAL], MATRIX(cg, 0), BN_READ(x, 1), BN_READ(b, 0), BN_UPDATE(cg->desc.r),
                  BN_SCALARS(cg->scalars), BN_SCALARS(cg->scalars_next), BN_TOTALS(cg->left), BN_I32V(check),
                  BN_REALV(l->tolerance2), BN_REALV((double)most), BN_PARTIALS(cg->sums)));
    swap_scalars(cg);
    return BN_RUN(cg->kernels[CG_JUDGE], BN_TOTALS(cg->sums), BN_SCALARS(cg->scalars), BN_I32V(check), BN_I32V(direct),
                  BN_REALV(l->tolerance2), BN_REALV(l->floor_x), BN_REALV(l->floor_b));
}

/* r.z and z.Az. The step of an iteration with a preconditioner, which follows, reads neighbours of p. */
static bn_status dots(bn_cg *cg, bn_field *z, bn_partials *out)
{
    return BN_RUN(cg->kernels[CG_DOTS], MATRIX(cg, 0), BN_READ(cg->desc.r, 0), BN_READ(z, 1), BN_PARTIALS(out),
                  BN_READ_AHEAD(cg->desc.p, cg->desc.preconditioner ? 1 : 0));
}

/* An iteration; it finds out whether the one before was enough. */
static bn_status step(bn_cg *cg, bn_field *x, const bn_cg_limits *l, unsigned most)
{
    bn_cg_desc *d = &cg->desc;
    if (d->preconditioner) {
        BN_TRY(d->preconditioner(d->user, d->r, d->z));
        BN_TRY(dots(cg, d->z, cg->dots));
        BN_TRY(BN_RUN(cg->kernels[CG_PRECONDITIONED_STEP], MATRIX(cg, 0), BN_READ(d->z, 1), BN_UPDATE(d->r),
                      BN_READ(d->p, 1), BN_UPDATE(d->q), BN_UPDATE(x), BN_SCALARS(cg->scalars),
                      BN_SCALARS(cg->scalars_next), BN_TOTALS(cg->left), BN_TOTALS(cg->dots), BN_REALV(l->tolerance2),
                      BN_REALV((double)most), BN_PARTIALS(cg->next)));
    } else {
        BN_TRY(BN_RUN(cg->kernels[CG_STEP], MATRIX(cg, 1), BN_READ(d->r, BN_CG_RADIUS), BN_UPDATE(d->z),
                      BN_READ(d->p, BN_CG_RADIUS), BN_UPDATE(d->q), BN_UPDATE(x), BN_SCALARS(cg->scalars),
                      BN_SCALARS(cg->scalars_next), BN_TOTALS(cg->left), BN_REALV(l->tolerance2),
                      BN_REALV((double)most), BN_PARTIALS(cg->next)));
        bn_field_swap(d->r, d->z);
    }
    bn_field_swap(d->p, d->q);
    bn_partials *left = cg->left;
    cg->left = cg->next;
    cg->next = left;
    swap_scalars(cg);
    return BN_OK;
}

bn_status bn_cg_check(bn_cg *cg, bn_field *x, bn_field *b, const bn_cg_target *target)
{
    const bn_cg_limits l = bn_cg_limits_for(target, bn_stencil_norm(&cg->desc.stencil), BN_DIRECT_KAPPA,
                                            bn_domain_precision(cg->domain));
    return residual(cg, x, b, &l, 0, 1, 0);
}

_Static_assert((int)CG_SCALARS == (int)BN_CG_SCALARS, "the header knows the number of scalars");

bn_scalars *bn_cg_scalars(const bn_cg *cg) { return cg->scalars; }

double bn_cg_relative(double residual2, double right2)
{
    return right2 == 0 ? sqrt(residual2) : sqrt(residual2 / right2);
}

bn_cg_report bn_cg_report_of(const double s[BN_CG_SCALARS])
{
    return (bn_cg_report){
        .state = (bn_cg_state)s[CG_STATE],
        .residual = bn_cg_relative(s[CG_TRUE], s[CG_BB]),
        .iterations = (unsigned)s[CG_ITERATIONS],
        .restarts = (unsigned)s[CG_RESTARTS],
        .right = sqrt(s[CG_BB]),
    };
}

bn_status bn_cg_solve(bn_cg *cg, bn_field *x, bn_field *b, const bn_cg_target *target, bn_cg_report *report)
{
    const bn_cg_limits l = bn_cg_limits_for(target, bn_stencil_norm(&cg->desc.stencil), BN_CG_KAPPA,
                                            bn_domain_precision(cg->domain));
    double s[CG_SCALARS];
    const bool known = report->state != BN_CG_RUN, costly = cg->desc.preconditioner != NULL;
    unsigned batch = known ? report->iterations : costly ? 4 : 8;
    BN_TRY(residual(cg, x, b, &l, 0, 0, target->iterations));
    do {
        if (!costly) /* a preconditioner's are found in each step */
            BN_TRY(dots(cg, cg->desc.r, cg->left));
        for (unsigned i = 0; i < batch; i++)
            BN_TRY(step(cg, x, &l, target->iterations));
        BN_TRY(residual(cg, x, b, &l, 1, 0, target->iterations));
        BN_TRY(bn_scalars_read(cg->scalars, s, CG_SCALARS));
        const unsigned done = (unsigned)s[CG_ITERATIONS];
        /* Not enough: an eighth more, or twice as many where no solve before gave a guess. An idle preconditioner costs
         * more than a wait. */
        batch = costly ? 1 : known ? done / 8 + 2 : done + 8;
    } while (s[CG_STATE] == BN_CG_RUN || s[CG_STATE] == BN_CG_CLAIMED);
    *report = bn_cg_report_of(s);
    return BN_OK;
}

bn_status bn_cg_judge(bn_context *ctx, const char *system, const bn_cg_target *target, const bn_cg_report *r)
{
    if (r->state == BN_CG_REACHED || r->state == BN_CG_ROUNDED)
        return BN_OK;
    const char *why = !isfinite(r->residual) ? "values are not finite: take a smaller time step"
                      : r->iterations == 0 && r->state != BN_CG_BROKEN
                          ? "the direct solution is off: case.precision = \"double\", or another solver.poisson and "
                            "solver.diffusion; binnacle verify tells whether the device computes right"
                      : r->state == BN_CG_STALLED
                          ? "restarts no longer reduce the residual: case.precision = \"double\", or a larger "
                            "solver.cg_tolerance"
                      : r->state == BN_CG_LIMIT
                          ? "the limit of iterations was reached: raise solver.cg_iterations, or let multigrid "
                            "take fewer (solver.poisson)"
                          : "the matrix is not positive definite: binnacle verify tells whether the device "
                            "computes right";
    return bn_fail(ctx, BN_DIVERGED,
                   "%s was not solved: true residual %.3g of the right-hand side, asked for %.3g, after %u iterations "
                   "and %u restarts; %s",
                   system, r->residual, target->tolerance, r->iterations, r->restarts, why);
}
