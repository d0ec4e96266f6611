/* table.c: constant arrays on a device. */
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
    BN_GO(bn_buffer_create(d, name, bytes, &t->buffer));
    const cl_int status = clEnqueueWriteBuffer(d->device->queue, t->buffer->mem, CL_TRUE, 0, bytes, values, 0, NULL,
                                               NULL);
    if (status != CL_SUCCESS) {
        st = bn_cl_fail(d->device, status, "clEnqueueWriteBuffer", name);
        goto out;
    }
    *out = t;
    t = NULL;
out:
    bn_table_destroy(&t);
    return st;
}

bn_status bn_table_reals(bn_domain *d, const char *name, const double *values, size_t count, bn_table **out)
{
    *out = NULL;
    if (d->desc.precision == BN_DOUBLE)
        return create(d, name, values, count * sizeof *values, out);
    float *single = calloc(count, sizeof *single);
    if (!single)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the table %s", name);
    for (size_t i = 0; i < count; i++)
        single[i] = (float)values[i];
    const bn_status st = create(d, name, single, count * sizeof *single, out);
    free(single);
    return st;
}

bn_status bn_table_integers(bn_domain *d, const char *name, const int32_t *values, size_t count, bn_table **out)
{
    return create(d, name, values, count * sizeof *values, out);
}

void bn_table_destroy(bn_table **table)
{
    if (!table || !*table)
        return;
    bn_buffer_destroy((*table)->domain, &(*table)->buffer);
    free(*table);
    *table = NULL;
}
