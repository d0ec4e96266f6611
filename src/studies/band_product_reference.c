/* band_product_reference.c: the vector algorithm of the paper, diagonal by diagonal, in plain C. */
#include "numerics/pair.h"
#include "sim/reference.h"
#include "studies/band_product.h"

#include <math.h>

static pair entry(const double *pairs, size_t at) { return (pair){ (real)pairs[2 * at], (real)pairs[2 * at + 1] }; }

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    const band_product *s = state;
    const size_t n = s->n;
    const pair *x = bn_field_host(s->x);
    pair *z = bn_field_host(s->z);
    (void)sim;
    for (size_t i = 0; i < n; i++)
        z[i] = cmul(entry(s->diagonal, i), x[i]);
    for (size_t m = 1; m <= s->upper; m++)
        for (size_t i = 0; i < n - m; i++)
            z[i] = cfma(entry(s->upper_band, band_start(n, m) + i), x[i + m], z[i]);
    for (size_t h = 1; h <= s->lower; h++)
        for (size_t j = 0; j < n - h; j++)
            z[j + h] = cfma(entry(s->lower_band, band_start(n, h) + j), x[j], z[j + h]);
    *out = (bn_step){ .dt = 1, .residual = (double)NAN };
    return BN_OK;
}

const bn_engine BN_REFERENCE(band_product) = { .name = "reference", .step = step };
