/* table.c: arrays on a device that belong to no grid. */
#include "internal/runtime.h"

#include <stdlib.h>

static bn_status create(bn_domain *d, const char *name, const void *values, size_t bytes, bn_table **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_table *t = calloc(1, sizeof *t);
    if (!t)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the table %s", name);
    t->domain = d;
    BN_GO(bn_copies_create(d, name, bytes, &t->buffer));
    BN_GO(bn_copies_write(d, t->buffer, values, bytes, true));
    *out = t;
    t = NULL;
out:
    bn_table_destroy(&t);
    return st;
}

/* The values rounded to single precision; NULL when memory is out. */
static float *rounded(const double *values, size_t count)
{
    float *single = calloc(count + 1, sizeof *single);
    for (size_t i = 0; single && i < count; i++)
        single[i] = (float)values[i];
    return single;
}

bn_status bn_table_reals(bn_domain *d, const char *name, const double *values, size_t count, bn_table **out)
{
    *out = NULL;
    if (d->desc.precision == BN_DOUBLE)
        return create(d, name, values, count * sizeof *values, out);
    float *single = rounded(values, count);
    if (!single)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the table %s", name);
    const bn_status st = create(d, name, single, count * sizeof *single, out);
    free(single);
    return st;
}

bn_status bn_table_rewrite(bn_table *t, const double *values, size_t count)
{
    bn_domain *d = t->domain;
    const bool is_double = d->desc.precision == BN_DOUBLE;
    const size_t bytes = count * bn_domain_real_bytes(d);
    const char *name = t->buffer[0]->name;
    if (bytes != t->buffer[0]->bytes)
        return bn_fail(d->ctx, BN_USAGE, "the table %s has %zu bytes, not %zu", name, t->buffer[0]->bytes, bytes);
    float *single = is_double ? NULL : rounded(values, count);
    if (!is_double && !single)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the table %s", name);
    const bn_status st = bn_copies_write(d, t->buffer, is_double ? (const void *)values : single, bytes, true);
    free(single);
    return st;
}

bn_status bn_table_integers(bn_domain *d, const char *name, const int32_t *values, size_t count, bn_table **out)
{
    return create(d, name, values, count * sizeof *values, out);
}

bn_status bn_table_counters(bn_domain *d, const char *name, size_t count, bn_table **out)
{
    *out = NULL;
    int64_t *zeros = calloc(count, sizeof *zeros);
    if (!zeros)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the counters %s", name);
    const bn_status st = create(d, name, zeros, count * sizeof *zeros, out);
    free(zeros);
    return st;
}

void bn_table_destroy(bn_table **table)
{
    if (!table || !*table)
        return;
    bn_copies_destroy((*table)->domain, &(*table)->buffer);
    free(*table);
    *table = NULL;
}
