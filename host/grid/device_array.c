/* device_array.c: memory that belongs to no grid: every device of a domain has a copy, or its own slab. */
#include "grid/device_array.h"

#include "device/device_thread.h"
#include "grid/domain.h"

#include <stdlib.h>

bn_status bn_copies_create(bn_domain *d, const char *name, size_t bytes, bn_buffer ***out)
{
    bn_status st = BN_OK;
    if (!(*out = calloc(d->local_count, sizeof **out)))
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the description of %s", name);
    for (size_t m = 0; m < d->local_count; m++)
        BN_GO(bn_buffer_create(bn_local_device(d, m), &d->buffers, name, bytes, &(*out)[m]));
    return BN_OK;
out:
    bn_copies_destroy(d, out);
    return st;
}

void bn_copies_destroy(bn_domain *d, bn_buffer ***copies)
{
    for (size_t m = 0; *copies && m < d->local_count; m++)
        bn_buffer_destroy(&(*copies)[m]);
    free(*copies);
    *copies = NULL;
}

bn_status bn_copies_write(bn_domain *d, bn_buffer *const *copies, const void *data, size_t bytes, bool wait)
{
    for (size_t m = 0; m < d->local_count; m++)
        BN_CL(copies[m]->device, copies[m]->name, clEnqueueWriteBuffer, bn_queue(copies[m]->device), copies[m]->mem,
              wait ? CL_TRUE : CL_FALSE, 0, bytes, data, 0, NULL, NULL);
    d->device->counts.waits += wait;
    return BN_OK;
}

void bn_device_array_planes(const bn_device_array *t, size_t local, size_t *first, size_t *end)
{
    const int parts = bn_global_count(t->domain), part = bn_global_index(t->domain, local);
    const uint32_t units = (uint32_t)((t->planes + t->unit - 1) / t->unit);
    *first = bn_piece_start(units, parts, part) * t->unit;
    *end = bn_piece_start(units, parts, part + 1) * t->unit;
    *first = *first < t->planes ? *first : t->planes;
    *end = *end < t->planes ? *end : t->planes;
}

/* To every device the planes that it has; waits. */
static bn_status write_slabs(const bn_device_array *t, const void *values)
{
    const bn_domain *d = t->domain;
    const size_t plane = t->each * bn_domain_real_bytes(d);
    for (size_t m = 0; m < d->local_count; m++) {
        size_t first, end;
        bn_device_array_planes(t, m, &first, &end);
        if (first < end)
            BN_CL(bn_local_device(d, m), t->buffer[m]->name, clEnqueueWriteBuffer, bn_queue(bn_local_device(d, m)),
                  t->buffer[m]->mem, CL_TRUE, 0, (end - first) * plane, (const char *)values + first * plane, 0, NULL,
                  NULL);
    }
    d->device->counts.waits++;
    return BN_OK;
}

static bn_status create(bn_domain *d, const char *name, const void *values, size_t bytes, bn_device_array **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_device_array *t = calloc(1, sizeof *t);
    if (!t)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the array %s", name);
    t->domain = d;
    BN_GO(bn_copies_create(d, name, bytes, &t->buffer));
    BN_GO(bn_copies_write(d, t->buffer, values, bytes, true));
    *out = t;
    t = NULL;
out:
    bn_device_array_destroy(&t);
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

bn_status bn_device_array_reals(bn_domain *d, const char *name, const double *values, size_t count,
                                bn_device_array **out)
{
    *out = NULL;
    if (d->desc.precision == BN_DOUBLE)
        return create(d, name, values, count * sizeof *values, out);
    float *single = rounded(values, count);
    if (!single)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the array %s", name);
    const bn_status st = create(d, name, single, count * sizeof *single, out);
    free(single);
    return st;
}

static size_t bytes_of(const bn_device_array *t)
{
    return t->planes ? t->planes * t->each * bn_domain_real_bytes(t->domain) : t->buffer[0]->bytes;
}

bn_status bn_device_array_rewrite(bn_device_array *t, const double *values, size_t count)
{
    bn_domain *d = t->domain;
    const bool is_double = d->desc.precision == BN_DOUBLE;
    const size_t bytes = count * bn_domain_real_bytes(d);
    const char *name = t->buffer[0]->name;
    if (bytes != bytes_of(t))
        return bn_fail(d->ctx, BN_USAGE, "the array %s has %zu bytes, not %zu", name, bytes_of(t), bytes);
    float *single = is_double ? NULL : rounded(values, count);
    if (!is_double && !single)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the array %s", name);
    const void *own = is_double ? (const void *)values : single;
    const bn_status st = t->planes ? write_slabs(t, own) : bn_copies_write(d, t->buffer, own, bytes, true);
    free(single);
    return st;
}

bn_status bn_device_array_slabs(bn_domain *d, const char *name, const double *values, size_t planes, size_t each,
                                size_t unit, bn_device_array **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    size_t bytes;
    if (planes == 0 || each == 0 || unit == 0 || planes > INT32_MAX || __builtin_mul_overflow(planes * 8, each, &bytes))
        return bn_fail(d->ctx, BN_USAGE, "the array %s of %zu planes of %zu reals can't be cut", name, planes, each);
    bn_device_array *t = calloc(1, sizeof *t);
    if (!t || !(t->buffer = calloc(d->local_count, sizeof(bn_buffer *))))
        BN_GO(bn_fail(d->ctx, BN_MEMORY, "no memory for the array %s", name));
    t->domain = d;
    t->planes = planes;
    t->each = each;
    t->unit = unit;
    for (size_t m = 0; m < d->local_count; m++) {
        size_t first, end;
        bn_device_array_planes(t, m, &first, &end);
        const size_t count = (end - first) * each; /* a device without planes has one real: no buffer is empty */
        BN_GO(bn_buffer_create(bn_local_device(d, m), &d->buffers, name, (count ? count : 1) * bn_domain_real_bytes(d),
                               &t->buffer[m]));
    }
    BN_GO(bn_device_array_rewrite(t, values, planes * each));
    *out = t;
    t = NULL;
out:
    bn_device_array_destroy(&t);
    return st;
}

bn_status bn_device_array_integers(bn_domain *d, const char *name, const int32_t *values, size_t count,
                                   bn_device_array **out)
{
    return create(d, name, values, count * sizeof *values, out);
}

bn_status bn_device_array_meeting(bn_domain *d, bn_device_array **out)
{
    static const int32_t none[128] = { 0 };
    return bn_device_array_integers(d, "meeting", none, sizeof none / sizeof *none, out);
}

bn_status bn_device_array_counters(bn_domain *d, const char *name, size_t count, bn_device_array **out)
{
    *out = NULL;
    int64_t *zeros = calloc(count, sizeof *zeros);
    if (!zeros)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the counters %s", name);
    const bn_status st = create(d, name, zeros, count * sizeof *zeros, out);
    free(zeros);
    return st;
}

void bn_device_array_destroy(bn_device_array **array)
{
    if (!array || !*array)
        return;
    bn_copies_destroy((*array)->domain, &(*array)->buffer);
    free(*array);
    *array = NULL;
}
