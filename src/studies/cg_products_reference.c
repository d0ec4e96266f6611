/* cg_products_reference.c: the iterations in plain C (Hestenes and Stiefel 1952). Compiled for float and for double;
 * sums are formed in the order of the variant of the dot product. */
#include "sim/reference.h"
#include "studies/cg_products.h"

#include <math.h>
#include <stdlib.h>

static real dot(const cg_products *s, const real *a, const real *b, real *partials)
{
    const size_t n[3] = { s->nx, s->ny, 1 };
    if (s->dot >= DOT_CONFLICT_FREE)
        return bn_ordered_dot(a, b, n, partials);
    size_t count = 0;
    for (size_t top = 0; top < n[1]; top += BN_BLOCK_NY)
        for (size_t first = 0; first < n[0]; first += BN_BLOCK_NX) {
            real lanes[BN_SUM_LANES] = { 0 };
            for (size_t c = 0; c < (size_t)BN_BLOCK_NX * BN_BLOCK_NY; c++) {
                const size_t i = first + c % BN_BLOCK_NX, j = top + c / BN_BLOCK_NX;
                if (i < n[0] && j < n[1])
                    lanes[s->dot == DOT_NAIVE ? c / BN_BLOCK_NY : c % BN_BLOCK_NX] += a[j * n[0] + i] * b[j * n[0] + i];
            }
            for (size_t width = 1; width < BN_SUM_LANES; width *= 2)
                for (size_t lane = 0; lane < BN_SUM_LANES; lane += 2 * width)
                    lanes[lane] += lanes[lane + width];
            partials[count++] = lanes[0];
        }
    return bn_ordered_total(partials, count);
}

/* Row `at` of A v; entries of zero lead nowhere. */
static real row(const cg_products *s, size_t at, const real *A, const real *v)
{
    const size_t points = (size_t)s->nx * s->ny, place[5] = { at, at - 1, at + 1, at - s->nx, at + s->nx };
    real sum = 0;
    for (size_t c = 0; c < 5; c++)
        if (A[c * points + at] != 0)
            sum = c == 0 ? A[at] * v[at] : sum + A[c * points + at] * v[place[c]];
    return sum;
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    const cg_products *s = state;
    const size_t points = (size_t)s->nx * s->ny;
    const real *A = bn_field_host(s->A), *b = bn_field_host(s->b);
    real *x = bn_field_host(s->x), *r = bn_field_host(s->r), *p = bn_field_host(s->p), *q = bn_field_host(s->q);
    real *partials = calloc((s->nx / BN_BLOCK_NX + 1) * (size_t)(s->ny / BN_BLOCK_NY + 1), sizeof *partials);
    if (!partials)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for partial sums");
    for (size_t at = 0; at < points; at++) {
        x[at] = p[at] = 0;
        r[at] = b[at];
    }
    real rr = dot(s, r, r, partials), beta = 0;
    for (int i = 0; i < CG_PRODUCTS_ITERATIONS; i++) {
        for (size_t at = 0; at < points; at++)
            p[at] = r[at] + beta * p[at];
        for (size_t at = 0; at < points; at++)
            q[at] = row(s, at, A, p);
        const real alpha = rr / dot(s, p, q, partials);
        for (size_t at = 0; at < points; at++) {
            x[at] = x[at] + alpha * p[at];
            r[at] = r[at] - alpha * q[at];
        }
        const real before = rr;
        rr = dot(s, r, r, partials);
        beta = rr / before;
    }
    free(partials);
    *out = (bn_step){ .dt = 1, .residual = (double)NAN };
    return BN_OK;
}

const bn_engine BN_REFERENCE(cg_products) = { .name = "reference", .step = step };
