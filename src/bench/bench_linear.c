/* bench_linear.c: the linear solvers by themselves, on Poisson's equation with a right-hand side with noise. */
#include "bench/bench_work.h"

#include "numerics/linear.h"
#include "numerics/spectral.h"
#include "numerics/spectral_plan.h"

#include <stdlib.h>

enum { X, B, BITS, R, P, Q, Z, FIELDS };
struct bn_bench_system {
    bn_context *ctx;
    bn_domain *domain;
    bn_field *fields[FIELDS];
    bn_linear *linear; /* NULL: by the direct method */
    bn_spectral *spectral;
    bn_cg_target target;
};

/* The stencil's bits and the right-hand side of n x n nodes. */
static void fill(uint32_t n, bool *unknown, bool *cell, double *b, uint8_t *bits)
{
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < n; i++) {
            const size_t at = (size_t)j * n + i;
            unknown[at] = i > 0 && j > 0 && i + 1 < n && j + 1 < n;
            cell[at] = true;
            b[at] = unknown[at] ? 1 + 0.1 * (double)(at * 2654435761u % 1000) / 1000 : 0;
        }
    bn_stencil_bits(n, n, unknown, cell, bits);
}

static bn_status create_fields(bn_bench_system *s, bn_device *device, const bn_bench_job *job)
{
    static const char *const names[FIELDS] = { "x", "b", "bits", "r", "p", "q", "z" };
    const bn_domain_desc desc = { .grid = { .dims = 2, .n = { job->n, job->n, 1 }, .h = { 1, 1, 1 }, .nodes = true },
                                  .precision = job->twice ? BN_DOUBLE : BN_SINGLE,
                                  .halo = BN_CG_RADIUS,
                                  .device = device };
    BN_TRY(bn_domain_create(s->ctx, &desc, &s->domain));
    for (int i = 0; i < FIELDS; i++) {
        const bn_field_desc field = { .name = names[i], .type = i == BITS ? BN_T_U8 : BN_T_REAL, .components = 1 };
        BN_TRY(bn_field_create(s->domain, &field, &s->fields[i]));
    }
    return BN_OK;
}

static bn_status create_solver(bn_bench_system *s, const bn_bench_job *job, const uint8_t *bits)
{
    const uint32_t n = job->n;
    const double k = (double)(n - 1) * (n - 1);
    const bn_stencil stencil = { n, n, 0, k, k, bits, NULL, NULL };
    const char *why = NULL;
    if (job->of->linear == BN_BENCH_DIRECT && !bn_spectral_suits(&stencil, job->twice ? 8 : 4, &why))
        return bn_fail(s->ctx, BN_USAGE, "the direct method does not suit %u x %u nodes: %s", n, n, why ? why : "");
    if (job->of->linear == BN_BENCH_DIRECT)
        return bn_spectral_create(s->domain, &stencil, s->fields[Q], NULL, BN_LAUNCHES_AUTO, &s->spectral);
    const bool multigrid = job->of->linear == BN_BENCH_MULTIGRID;
    const bn_linear_desc desc = { .name = "bench",
                                  .stencil = stencil,
                                  .method = multigrid ? BN_LINEAR_MULTIGRID : BN_LINEAR_CG };
    const bn_linear_work work = {
        .bits = s->fields[BITS], .r = s->fields[R], .p = s->fields[P], .q = s->fields[Q], .z = s->fields[Z]
    };
    s->target = multigrid ? (bn_cg_target){ job->twice ? 1e-10 : 1e-6, 1000 } : (bn_cg_target){ 1e-30, 200 };
    return bn_linear_create(s->domain, &desc, &work, &s->linear);
}

bn_status bn_bench_system_create(bn_context *ctx, bn_device *device, const bn_bench_job *job, bn_bench_system **out)
{
    const size_t points = (size_t)job->n * job->n;
    bool *unknown = calloc(points, sizeof *unknown), *cell = calloc(points, sizeof *cell);
    double *b = calloc(points, sizeof *b);
    uint8_t *bits = calloc(points, 1);
    bn_bench_system *s = calloc(1, sizeof *s);
    bn_status st = BN_OK;
    if (!unknown || !cell || !b || !bits || !s)
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for a system of %u x %u nodes", job->n, job->n));
    s->ctx = ctx;
    fill(job->n, unknown, cell, b, bits);
    BN_GO(create_fields(s, device, job));
    BN_GO(bn_field_set(s->fields[B], b, points));
    BN_GO(create_solver(s, job, bits));
    *out = s;
    s = NULL;
out:
    bn_bench_system_destroy(&s);
    free(unknown);
    free(cell);
    free(b);
    free(bits);
    return st;
}

void bn_bench_system_destroy(bn_bench_system **p)
{
    bn_bench_system *s = *p;
    if (!s)
        return;
    bn_linear_destroy(&s->linear);
    bn_spectral_destroy(&s->spectral);
    for (int i = 0; i < FIELDS; i++)
        bn_field_destroy(&s->fields[i]);
    bn_domain_destroy(&s->domain);
    free(s);
    *p = NULL;
}

bn_domain *bn_bench_system_domain(const bn_bench_system *s) { return s->domain; }

bn_status bn_bench_system_solve(bn_bench_system *s, unsigned count, double *iterations)
{
    bn_cg_report report = { .iterations = 1 };
    for (unsigned i = 0; i < count && s->spectral; i++)
        BN_TRY(bn_spectral_solve(s->spectral, s->fields[X], s->fields[B]));
    for (unsigned i = 0; i < count && s->linear; i++) {
        BN_TRY(bn_field_zero(s->fields[X]));
        BN_TRY(bn_linear_solve(s->linear, s->fields[X], s->fields[B], &s->target));
    }
    BN_TRY(bn_domain_finish(s->domain));
    const bn_status st = s->linear ? bn_linear_report(s->linear, &report) : BN_OK;
    if (st != BN_OK && report.state != BN_CG_LIMIT)
        return st;
    if (st != BN_OK) /* so many iterations are what was asked for */
        bn_error_clear(s->ctx);
    *iterations = (double)count * report.iterations;
    return BN_OK;
}
