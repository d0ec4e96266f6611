/* bench_cg.c: conjugate gradients by themselves, for the published study of their dot and matrix-vector products. */
#include "cli/bench.h"

#include "numerics/linear.h"
#include "output/progress.h"

#include <math.h>
#include <stdlib.h>

/* Poisson's equation on the unit square, zero at the border, a right-hand side with noise; in the order of the fields.
 */
enum { X, B, BITS, A, R, P, Q, FIELDS };
typedef struct problem {
    bn_domain *domain;
    bn_field *fields[FIELDS];
    uint8_t *bits;
    bool *unknown, *cell;
    double *values;
} problem;

static void destroy(problem *p)
{
    for (int i = 0; i < FIELDS; i++)
        bn_field_destroy(&p->fields[i]);
    bn_domain_destroy(&p->domain);
    free(p->bits);
    free(p->unknown);
    free(p->cell);
    free(p->values);
}

static bn_status create(const bn_bench_device *d, uint32_t n, bool twice, problem *p)
{
    static const char *const names[FIELDS] = { "x", "b", "bits", "A", "r", "p", "q" };
    const size_t points = (size_t)n * n;
    const bn_domain_desc desc = { .grid = { .dims = 2, .n = { n, n, 1 }, .h = { 1, 1, 1 }, .nodes = true },
                                  .precision = twice ? BN_DOUBLE : BN_SINGLE,
                                  .halo = 1,
                                  .device = d->plain };
    BN_TRY(bn_domain_create(d->cli->ctx, &desc, &p->domain));
    for (int i = 0; i < FIELDS; i++)
        BN_TRY(bn_field_create(
            p->domain,
            &(bn_field_desc){ .name = names[i], .type = i == BITS ? BN_T_U8 : BN_T_REAL, .components = i == A ? 5 : 1 },
            &p->fields[i]));
    p->bits = calloc(points, 1);
    p->unknown = calloc(points, sizeof *p->unknown);
    p->cell = calloc(points, sizeof *p->cell);
    p->values = calloc(points, sizeof *p->values);
    if (!p->bits || !p->unknown || !p->cell || !p->values)
        return bn_fail(d->cli->ctx, BN_MEMORY, "no memory for a system of %u x %u nodes", n, n);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < n; i++) {
            const size_t at = (size_t)j * n + i;
            p->unknown[at] = i > 0 && j > 0 && i + 1 < n && j + 1 < n;
            p->cell[at] = true;
            p->values[at] = p->unknown[at] ? 1 + 0.1 * (double)(at * 2654435761u % 1000) / 1000 : 0;
        }
    bn_stencil_bits(n, n, p->unknown, p->cell, p->bits);
    return bn_field_set(p->fields[B], p->values, points);
}

bn_status bn_bench_cg(const bn_bench_device *d, unsigned n, bool twice, int spmv, int dot, double *seconds)
{
    problem p = { 0 };
    bn_linear *l = NULL;
    bn_status st = BN_OK;
    const double k = (double)(n - 1) * (n - 1);
    const unsigned iterations = 50;
    *seconds = (double)NAN;
    BN_GO(create(d, n, twice, &p));
    const bn_linear_desc desc = { .name = "bench",
                                  .stencil = (bn_stencil){ n, n, 0, k, k, p.bits },
                                  .method = BN_LINEAR_CG,
                                  .spmv = (bn_spmv)spmv,
                                  .dot = (bn_dot)dot };
    BN_GO(bn_linear_create(
        p.domain, &desc,
        &(bn_linear_work){
            .bits = p.fields[BITS], .A = p.fields[A], .r = p.fields[R], .p = p.fields[P], .q = p.fields[Q] },
        &l));
    double best = HUGE_VAL;
    for (int i = 0; i < 4; i++) { /* the first warms up */
        bn_cg_report report = { 0 };
        BN_GO(bn_field_zero(p.fields[X]));
        BN_GO(bn_domain_finish(p.domain));
        const double start = bn_seconds_now();
        BN_GO(bn_linear_solve(l, p.fields[X], p.fields[B], &(bn_cg_target){ 1e-30, iterations }));
        BN_GO(bn_domain_finish(p.domain));
        const double took = bn_seconds_now() - start;
        const bn_status ended = bn_linear_report(l, &report);
        if (ended != BN_OK && report.state != BN_CG_LIMIT) { /* the limit is what was asked for */
            st = ended;
            goto out;
        }
        if (ended != BN_OK)
            bn_error_clear(d->cli->ctx);
        if (i > 0 && report.iterations > 0)
            best = fmin(best, took / report.iterations);
    }
    *seconds = best;
out:
    bn_linear_destroy(&l);
    destroy(&p);
    return st;
}
