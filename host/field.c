/* field.c: values on a grid: creation, conversion, filling. Where they lie is a matter of the domain's boxes. */
#include "internal/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t type_bytes(bn_type type, const bn_domain *d)
{
    switch (type) {
    case BN_T_REAL: return bn_domain_real_bytes(d);
    case BN_T_REAL2: return 2 * bn_domain_real_bytes(d);
    case BN_T_I32: return 4;
    case BN_T_I64: return 8;
    case BN_T_U8: return 1;
    }
    return 0;
}

bn_status bn_field_create(bn_domain *d, const bn_field_desc *desc, bn_field **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_field *f = calloc(1, sizeof *f);
    if (!f)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for field %s", desc->name);
    f->domain = d;
    f->desc = *desc;
    f->desc.components = desc->components > 0 ? desc->components : 1;
    f->desc.name = strdup(desc->name);
    f->desc.unit = strdup(desc->unit ? desc->unit : "");
    f->element_bytes = type_bytes(desc->type, d);
    if (!f->desc.name || !f->desc.unit) {
        st = bn_fail(d->ctx, BN_MEMORY, "no memory for field %s", desc->name);
        goto out;
    }
    size_t per_point = f->element_bytes * (size_t)f->desc.components;
    if (!d->device) {
        size_t bytes;
        if (__builtin_mul_overflow(bn_domain_points(d), per_point, &bytes) || !(f->host = calloc(1, bytes))) {
            st = bn_fail(d->ctx, BN_MEMORY, "no memory for field %s of the reference (%.2f GiB)", desc->name,
                         (double)bn_domain_points(d) * (double)per_point / 0x1p30);
            goto out;
        }
    } else {
        f->buffers = calloc(d->box_count, sizeof *f->buffers);
        if (!f->buffers) {
            st = bn_fail(d->ctx, BN_MEMORY, "no memory for field %s", desc->name);
            goto out;
        }
        for (size_t b = 0; b < d->box_count; b++) {
            size_t bytes;
            if (!d->boxes[b].device)
                continue;
            if (__builtin_mul_overflow(d->shapes[d->boxes[b].shape].layout.plane, per_point, &bytes)) {
                st = bn_fail(d->ctx, BN_MEMORY, "field %s is too large to address", desc->name);
                goto out;
            }
            BN_GO(bn_buffer_create(d, d->boxes[b].device, desc->name, bytes, &f->buffers[b]));
        }
        if (bn_context_debug(d->ctx)) /* the paint stays in padding and halo */
            BN_GO(bn_field_clear(f));
    }
    *out = f;
    f = NULL;
out:
    bn_field_destroy(&f);
    return st;
}

void bn_field_destroy(bn_field **field)
{
    if (!field || !*field)
        return;
    bn_field *f = *field;
    for (size_t b = 0; f->buffers && b < f->domain->box_count; b++)
        bn_buffer_destroy(f->domain, &f->buffers[b]);
    free(f->buffers);
    free(f->host);
    free((char *)f->desc.name);
    free((char *)f->desc.unit);
    free(f);
    *field = NULL;
}

const bn_field_desc *bn_field_describe(const bn_field *f) { return &f->desc; }
bn_domain *bn_field_domain(const bn_field *f) { return f->domain; }
size_t bn_field_element_bytes(const bn_field *f) { return f->element_bytes; }
void *bn_field_host(bn_field *f) { return f->host; }

size_t bn_field_bytes(const bn_field *f)
{
    return bn_domain_points(f->domain) * f->element_bytes * (size_t)f->desc.components;
}

void bn_field_swap(bn_field *a, bn_field *b)
{
    bn_buffer **buffers = a->buffers;
    void *host = a->host;
    int valid = a->halo_valid, unwrapped = a->halo_unwrapped;
    a->buffers = b->buffers;
    a->host = b->host;
    a->halo_valid = b->halo_valid;
    a->halo_unwrapped = b->halo_unwrapped;
    for (int i = 0; i < 2; i++) {
        const int side = a->halo_side[i];
        a->halo_side[i] = b->halo_side[i];
        b->halo_side[i] = side;
    }
    b->buffers = buffers;
    b->host = host;
    b->halo_valid = valid;
    b->halo_unwrapped = unwrapped;
}

static bn_status check_size(const bn_field *f, size_t given, size_t wanted, const char *what)
{
    if (given != wanted)
        return bn_fail(f->domain->ctx, BN_USAGE, "field %s has %zu %s, not %zu", f->desc.name, wanted, what, given);
    return BN_OK;
}

bn_status bn_field_read(bn_field *f, void *values, size_t bytes)
{
    BN_TRY(check_size(f, bytes, bn_field_bytes(f), "bytes"));
    return bn_field_transfer(f, 0, f->desc.components, values, false, true, NULL);
}

bn_status bn_field_write(bn_field *f, const void *values, size_t bytes)
{
    BN_TRY(check_size(f, bytes, bn_field_bytes(f), "bytes"));
    return bn_field_transfer(f, 0, f->desc.components, (void *)values, true, true, NULL);
}

/* Between fields of one domain: their memory as it is, halos included; enqueued. */
static bn_status copy_boxes(bn_field *from, bn_field *to)
{
    const bn_domain *d = from->domain;
    if (from->host)
        memcpy(to->host, from->host, bn_field_bytes(from));
    for (size_t b = 0; from->buffers && b < d->box_count; b++)
        if (from->buffers[b])
            BN_CL(d->boxes[b].device, from->desc.name, clEnqueueCopyBuffer, d->boxes[b].device->queue,
                  from->buffers[b]->mem, to->buffers[b]->mem, 0, 0, from->buffers[b]->bytes, 0, NULL, NULL);
    to->halo_valid = from->halo_valid;
    to->halo_unwrapped = from->halo_unwrapped;
    memcpy(to->halo_side, from->halo_side, sizeof to->halo_side);
    return BN_OK;
}

bn_status bn_field_copy(bn_field *from, bn_field *to)
{
    const bn_domain *a = from->domain, *b = to->domain;
    if (a == b && from->element_bytes == to->element_bytes && from->desc.type == to->desc.type &&
        from->desc.components == to->desc.components && !((from->desc.role ^ to->desc.role) & BN_INTERLEAVED))
        return copy_boxes(from, to);
    if (!a->device || !b->device || memcmp(a->desc.grid.n, b->desc.grid.n, sizeof a->desc.grid.n) != 0 ||
        from->element_bytes != to->element_bytes || from->desc.type != to->desc.type ||
        from->desc.components != to->desc.components || ((from->desc.role ^ to->desc.role) & BN_INTERLEAVED))
        return bn_fail(a->ctx, BN_USAGE, "field %s can't be copied to %s, which has other values", from->desc.name,
                       to->desc.name);
    /* Memory that devices reach at full speed; one room for all that is gathered from a domain and dealt out again. */
    bn_domain *d = a->box_count > 1 ? from->domain : to->domain;
    BN_TRY(bn_pinned_need(d, d->device, &d->copied, bn_field_bytes(from)));
    BN_TRY(bn_field_transfer(from, 0, from->desc.components, d->copied.data, false, true, NULL));
    return bn_field_transfer(to, 0, to->desc.components, d->copied.data, true, true, NULL);
}

/* Reals per point of one component; 0 for integers. */
static size_t reals(const bn_field *f) { return f->desc.type == BN_T_REAL ? 1 : f->desc.type == BN_T_REAL2 ? 2 : 0; }

/* Converts `count` reals between double and the field's own precision. */
static void to_real(const bn_field *f, const double *from, void *to, size_t count)
{
    if (f->domain->desc.precision == BN_DOUBLE)
        memcpy(to, from, count * sizeof(double));
    else
        for (size_t i = 0; i < count; i++)
            ((float *)to)[i] = (float)from[i];
}

bn_status bn_field_get(bn_field *f, double *values, size_t count)
{
    size_t have = bn_domain_points(f->domain) * reals(f) * (size_t)f->desc.components;
    BN_TRY(check_size(f, count, have, "reals"));
    BN_TRY(bn_field_read(f, values, bn_field_bytes(f))); /* floats fit into the doubles' room: widened from the end */
    if (f->domain->desc.precision == BN_SINGLE)
        for (size_t i = count; i-- > 0;) {
            float x;
            memcpy(&x, (const char *)values + 4 * i, 4);
            values[i] = (double)x;
        }
    return BN_OK;
}

/* Writes components [first, first + components) from doubles. */
static bn_status set_components(bn_field *f, int first, int components, const double *values)
{
    size_t count = bn_domain_points(f->domain) * reals(f) * (size_t)components;
    void *own = malloc(count * bn_domain_real_bytes(f->domain));
    if (!own)
        return bn_fail(f->domain->ctx, BN_MEMORY, "no memory to convert field %s", f->desc.name);
    to_real(f, values, own, count);
    bn_status st = bn_field_transfer(f, first, components, own, true, true, NULL);
    free(own);
    return st;
}

bn_status bn_field_set(bn_field *f, const double *values, size_t count)
{
    size_t have = bn_domain_points(f->domain) * reals(f) * (size_t)f->desc.components;
    BN_TRY(check_size(f, count, have, "reals"));
    return set_components(f, 0, f->desc.components, values);
}

bn_status bn_field_fill(bn_field *f, int component, double (*value)(const double x[3], const void *user),
                        const void *user)
{
    if (f->desc.type != BN_T_REAL || component < 0 || component >= f->desc.components)
        return bn_fail(f->domain->ctx, BN_USAGE, "field %s has no real component %d", f->desc.name, component);
    const bn_grid *g = &f->domain->desc.grid;
    double *values = malloc(bn_domain_points(f->domain) * sizeof *values);
    if (!values)
        return bn_fail(f->domain->ctx, BN_MEMORY, "no memory to fill field %s", f->desc.name);
    size_t at = 0;
    for (uint32_t k = 0; k < g->n[2]; k++)
        for (uint32_t j = 0; j < g->n[1]; j++)
            for (uint32_t i = 0; i < g->n[0]; i++) {
                const double x[3] = { g->origin[0] + i * g->h[0], g->origin[1] + j * g->h[1],
                                      g->origin[2] + k * g->h[2] };
                values[at++] = value(x, user);
            }
    bn_status st = set_components(f, component, 1, values);
    free(values);
    return st;
}

bn_status bn_field_zero(bn_field *f)
{
    if (f->host) {
        memset(f->host, 0, bn_field_bytes(f));
        return BN_OK;
    }
    return bn_field_clear(f);
}
