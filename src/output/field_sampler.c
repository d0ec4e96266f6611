/* field_sampler.c: values of the fields of one output time. */
#include "output/field_sampler.h"

#include "sim/sim_parts.h"

#include <stdlib.h>

static double number(const bn_plan *p, const void *values, size_t at)
{
    return p->precision == BN_DOUBLE ? ((const double *)values)[at] : (double)((const float *)values)[at];
}

/* Where ranks have parts of the field. `pair`: the field has pairs, of which component 0 or 1 is wanted. */
static bn_status read_remote(bn_context *ctx, const bn_field_sampler *e, size_t which, int component,
                             const bn_region *r, double *values)
{
    const bn_field_desc *d = &e->plan->fields[e->field[which]];
    const size_t pair = d->type == BN_T_REAL2 ? 2 : 1, points = bn_region_points(r);
    double *own = malloc(points * pair * sizeof *own);
    if (!own)
        return bn_fail(ctx, BN_MEMORY, "no memory for %s", d->name);
    const bn_status st = bn_field_read_region(bn_sim_field(e->sim, d->name), component / (int)pair, 1, r, BN_AS_DOUBLES,
                                              own);
    for (size_t i = 0; i < points && st == BN_OK; i++)
        values[i] = own[i * pair + (size_t)component % pair];
    free(own);
    return st;
}

bn_status bn_field_sampler_values(bn_context *ctx, const bn_field_sampler *e, size_t which, int component,
                                  const bn_region *r, double *values)
{
    const uint32_t *n = bn_plan_grid_of(e->plan, &e->plan->fields[e->field[which]])->n;
    if (e->sim)
        return read_remote(ctx, e, which, component, r, values);
    for (uint32_t k = 0; k < r->n[2]; k++)
        for (uint32_t j = 0; j < r->n[1]; j++) {
            const size_t row = (((size_t)component * n[2] + r->first[2] + k) * n[1] + r->first[1] + j) * n[0] +
                               r->first[0];
            for (uint32_t i = 0; i < r->n[0]; i++)
                *values++ = number(e->plan, e->data[which], row + i);
        }
    return BN_OK;
}
