/* reduce.c: partial sums, scalars on the device, and one number from a field in an order that the grid alone decides.
 */
#include "internal/runtime.h"

#include <math.h>
#include <stdlib.h>

#define BN_SUM_REAL float
#define BN_SUM_NAME(name) single_##name
#include "api/ordered_sum.h"
#define BN_SUM_REAL double
#define BN_SUM_NAME(name) double_##name
#include "api/ordered_sum.h"

bn_status bn_partials_create(bn_domain *d, const char *name, int components, bn_partials **out)
{
    *out = NULL;
    bn_partials *p = calloc(1, sizeof *p);
    if (!p)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the partial sums %s", name);
    p->domain = d;
    p->components = components;
    bn_status st = bn_buffer_create(d, name, d->partials * (size_t)components * bn_domain_real_bytes(d), &p->buffer);
    if (st != BN_OK)
        bn_partials_destroy(&p);
    *out = p;
    return st;
}

void bn_partials_destroy(bn_partials **partials)
{
    if (!partials || !*partials)
        return;
    bn_buffer_destroy((*partials)->domain, &(*partials)->buffer);
    free(*partials);
    *partials = NULL;
}

bn_status bn_scalars_create(bn_domain *d, const char *name, size_t count, bn_scalars **out)
{
    *out = NULL;
    bn_scalars *s = calloc(1, sizeof *s);
    if (!s)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the scalars %s", name);
    s->domain = d;
    s->count = count;
    bn_status st = bn_buffer_create(d, name, count * bn_domain_real_bytes(d), &s->buffer);
    double *zero = st == BN_OK ? calloc(count, sizeof *zero) : NULL;
    if (st == BN_OK)
        st = zero ? bn_scalars_write(s, zero, count) : bn_fail(d->ctx, BN_MEMORY, "no memory for the scalars %s", name);
    free(zero);
    if (st != BN_OK)
        bn_scalars_destroy(&s);
    *out = s;
    return st;
}

void bn_scalars_destroy(bn_scalars **scalars)
{
    if (!scalars || !*scalars)
        return;
    bn_buffer_destroy((*scalars)->domain, &(*scalars)->buffer);
    free(*scalars);
    *scalars = NULL;
}

/* Scalars are few: their conversion needs no heap. */
enum { BN_SCALARS_MAX = 256 };

bn_status bn_scalars_read(bn_scalars *s, double *values, size_t count)
{
    bn_domain *d = s->domain;
    float single[BN_SCALARS_MAX];
    bool is_double = d->desc.precision == BN_DOUBLE;
    if (count > s->count || count > BN_SCALARS_MAX)
        return bn_fail(d->ctx, BN_USAGE, "%s holds %zu scalars, not %zu", s->buffer->name, s->count, count);
    BN_CL(d->device, s->buffer->name, clEnqueueReadBuffer, d->device->queue, s->buffer->mem, CL_TRUE, 0,
          count * bn_domain_real_bytes(d), is_double ? (void *)values : single, 0, NULL, NULL);
    for (size_t i = 0; !is_double && i < count; i++)
        values[i] = (double)single[i];
    d->unflushed = 0;
    return BN_OK;
}

bn_status bn_scalars_write(bn_scalars *s, const double *values, size_t count)
{
    bn_domain *d = s->domain;
    float single[BN_SCALARS_MAX];
    bool is_double = d->desc.precision == BN_DOUBLE;
    if (count > s->count || count > BN_SCALARS_MAX)
        return bn_fail(d->ctx, BN_USAGE, "%s holds %zu scalars, not %zu", s->buffer->name, s->count, count);
    for (size_t i = 0; i < count; i++)
        single[i] = (float)values[i];
    BN_CL(d->device, s->buffer->name, clEnqueueWriteBuffer, d->device->queue, s->buffer->mem, CL_TRUE, 0,
          count * bn_domain_real_bytes(d), is_double ? (const void *)values : single, 0, NULL, NULL);
    return BN_OK;
}

static const bn_kernel_desc partial_kernels[] = {
    [BN_SUM] = { "reduce_sum", BN_PER_SEGMENT, { 1, 0, 1 } },
    [BN_SUM_SQUARES] = { "reduce_squares", BN_PER_SEGMENT, { 1, 0, 2 } },
    [BN_MAX_ABS] = { "reduce_max_abs", BN_PER_SEGMENT, { 1, 0, 1 } },
};
static const bn_kernel_desc total_kernels[] = {
    [BN_SUM] = { "reduce_total_sum", BN_ONCE, { 0, 0, 0 } },
    [BN_SUM_SQUARES] = { "reduce_total_sum", BN_ONCE, { 0, 0, 0 } },
    [BN_MAX_ABS] = { "reduce_total_max", BN_ONCE, { 0, 0, 0 } },
};

static bn_status reduce_on_device(bn_field *f, int component, bn_reduce_op op, double *result)
{
    bn_domain *d = f->domain;
    bn_kernel *partial, *total;
    if (!d->reductions)
        BN_TRY(bn_program_build(d, "reduce", NULL, 0, &d->reductions));
    if (!d->reduce_partials)
        BN_TRY(bn_partials_create(d, "reduce partials", 1, &d->reduce_partials));
    if (!d->reduce_scalars)
        BN_TRY(bn_scalars_create(d, "reduce result", 1, &d->reduce_scalars));
    BN_TRY(bn_kernel_find(d->reductions, &partial_kernels[op], &partial));
    BN_TRY(bn_kernel_find(d->reductions, &total_kernels[op], &total));
    BN_TRY(BN_RUN(partial, BN_READ(f, 0), BN_I32V(component), BN_PARTIALS(d->reduce_partials)));
    BN_TRY(BN_RUN(total, BN_PARTIALS(d->reduce_partials), BN_SCALARS(d->reduce_scalars)));
    return bn_scalars_read(d->reduce_scalars, result, 1);
}

/* The largest magnitude; not finite as soon as one value is. */
static double largest(const bn_field *f, const void *values, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double x = f->domain->desc.precision == BN_DOUBLE ? ((const double *)values)[i]
                                                          : (double)((const float *)values)[i];
        if (!isfinite(x))
            return x;
        if (fabs(x) > most)
            most = fabs(x);
    }
    return most;
}

bn_status bn_reduce(bn_field *f, int component, bn_reduce_op op, double *result)
{
    bn_domain *d = f->domain;
    if (f->desc.type != BN_T_REAL || component < 0 || component >= f->desc.components)
        return bn_fail(d->ctx, BN_USAGE, "field %s has no real component %d to reduce", f->desc.name, component);
    if (d->device)
        return reduce_on_device(f, component, op, result);
    size_t points = bn_domain_points(d), nx = d->desc.grid.n[0];
    const void *own = (const char *)f->host + points * f->element_bytes * (size_t)component;
    if (op == BN_MAX_ABS) {
        *result = largest(f, own, points);
        return BN_OK;
    }
    void *partials = malloc(d->partials * f->element_bytes);
    if (!partials)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the partial sums of %s", f->desc.name);
    bool squares = op == BN_SUM_SQUARES;
    *result = d->desc.precision == BN_DOUBLE
                  ? double_ordered_dot(own, squares ? own : NULL, nx, points / nx, partials)
                  : (double)single_ordered_dot(own, squares ? own : NULL, nx, points / nx, partials);
    free(partials);
    return BN_OK;
}
