/* heat_reference.c: one explicit step in plain C; the specification of kernels/heat.cl. Compiled for float and for
 * double. */
#include "heat.h"
#include "sim/reference.h"

#include <math.h>

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    heat *s = state;
    const bn_grid *g = bn_domain_grid(bn_sim_domain(sim));
    const real *T = bn_field_host(s->T), k = (real)s->k;
    real *next = bn_field_host(s->next);
    const size_t nx = g->n[0], ny = g->n[1];
    for (size_t j = 0; j < ny; j++)
        for (size_t i = 0; i < nx; i++) {
            real west = T[j * nx + (i + nx - 1) % nx], east = T[j * nx + (i + 1) % nx];
            real south = T[(j + ny - 1) % ny * nx + i], north = T[(j + 1) % ny * nx + i], here = T[j * nx + i];
            next[j * nx + i] = here + k * (((west + east) + (south + north)) - 4 * here);
        }
    bn_field_swap(s->T, s->next);
    *out = (bn_step){ .dt = s->dt, .residual = (double)NAN };
    return BN_OK;
}

const bn_engine BN_REFERENCE(heat) = { .name = "reference", .step = step };
