/* field.c: values on a grid: creation, conversion, filling. Where they lie is a matter of the domain's boxes. */
#include "device/calls.h"
#include "grid/field.h"

#include "api/parallel_rows.h"
#include "device/buffer.h"
#include "device/device_thread.h"
#include "grid/block_copy.h"
#include "grid/domain.h"
#include "grid/queues.h"
#include "grid/transfer.h"

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
    if (!f->desc.name || !f->desc.unit)
        BN_GO(bn_fail(d->ctx, BN_MEMORY, "no memory for field %s", desc->name));
    size_t per_point = f->element_bytes * (size_t)f->desc.components;
    if (!d->device) {
        size_t bytes;
        if (__builtin_mul_overflow(bn_domain_points(d), per_point, &bytes) || !(f->host = calloc(1, bytes)))
            BN_GO(bn_fail(d->ctx, BN_MEMORY, "no memory for field %s of the reference (%.2f GiB)", desc->name,
                          (double)bn_domain_points(d) * (double)per_point / 0x1p30));
    } else {
        f->buffers = calloc(d->box_count, sizeof *f->buffers);
        if (!f->buffers)
            BN_GO(bn_fail(d->ctx, BN_MEMORY, "no memory for field %s", desc->name));
        for (size_t b = 0; b < d->box_count; b++) {
            size_t bytes;
            if (!d->boxes[b].device)
                continue;
            if (__builtin_mul_overflow(d->shapes[d->boxes[b].shape].layout.plane, per_point, &bytes))
                BN_GO(bn_fail(d->ctx, BN_MEMORY, "field %s is too large to address", desc->name));
            BN_GO(bn_buffer_create(d->boxes[b].device, &d->buffers, desc->name, bytes, &f->buffers[b]));
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
        bn_buffer_destroy(&f->buffers[b]);
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
    const bn_field before = *a;
    a->buffers = b->buffers;
    a->host = b->host;
    a->valid = b->valid;
    b->buffers = before.buffers;
    b->host = before.host;
    b->valid = before.valid;
}

/* Reals per point of one component; 0 for integers. */
static size_t reals(const bn_field *f) { return f->desc.type == BN_T_REAL ? 1 : f->desc.type == BN_T_REAL2 ? 2 : 0; }

static void narrow_reals(const bn_domain *d, const double *from, void *to, size_t count)
{
    if (d->desc.precision == BN_DOUBLE)
        memcpy(to, from, count * sizeof(double));
    else
        for (size_t i = 0; i < count; i++)
            ((float *)to)[i] = (float)from[i];
}

void bn_reals_widen(const bn_domain *d, double *values, size_t count)
{
    for (size_t i = d->desc.precision == BN_SINGLE ? count : 0; i-- > 0;) {
        float x;
        memcpy(&x, (const char *)values + i * sizeof x, sizeof x);
        values[i] = (double)x;
    }
}

static bn_status check_size(const bn_field *f, size_t given, size_t wanted, const char *what)
{
    if (given != wanted)
        return bn_fail(f->domain->ctx, BN_USAGE, "field %s has %zu %s, not %zu", f->desc.name, wanted, what, given);
    return BN_OK;
}

static size_t region_bytes(const bn_field *f, const bn_region *r, int components)
{
    return bn_region_points(r) * f->element_bytes * (size_t)components;
}

static bn_status check_region(const bn_field *f, int first, int count, const bn_region *r, bn_host_type type)
{
    const uint32_t *n = f->domain->desc.grid.n;
    bool inside = first >= 0 && count > 0 && first + count <= f->desc.components;
    for (int k = 0; k < 3; k++)
        inside = inside && r->n[k] > 0 && r->first[k] < n[k] && r->n[k] <= n[k] - r->first[k];
    if (!inside || ((f->desc.role & BN_INTERLEAVED) && count != f->desc.components))
        return bn_fail(f->domain->ctx, BN_USAGE, "field %s has no such part", f->desc.name);
    if (type == BN_AS_DOUBLES && reals(f) == 0)
        return bn_fail(f->domain->ctx, BN_USAGE, "field %s has no reals", f->desc.name);
    return BN_OK;
}

/* The next band of a part: rows of a layer, or whole layers, of `points` points at most unless a row has more. */
static bool next_band(const bn_region *part, size_t points, bn_region *band)
{
    const size_t rows = points / part->n[0] > 0 ? points / part->n[0] : 1, layers = rows / part->n[1];
    const uint32_t end[2] = { part->first[1] + part->n[1], part->first[2] + part->n[2] };
    if (band->n[0] == 0) {
        *band = *part;
    } else if (band->first[1] + band->n[1] < end[0]) {
        band->first[1] += band->n[1];
    } else {
        band->first[1] = part->first[1];
        band->first[2] += band->n[2];
    }
    if (band->first[2] >= end[1])
        return false;
    const size_t left = end[0] - band->first[1], behind = end[1] - band->first[2];
    band->n[1] = (uint32_t)(left < rows ? left : rows);
    band->n[2] = (uint32_t)(layers < 1 ? 1 : layers < behind ? layers : behind);
    return true;
}

/* A piece of values on its way into pinned memory, or from there. */
typedef struct staged {
    const void *from;
    void *to;
    size_t numbers, from_bytes, to_bytes; /* of a number; where both are 1 they are just copied */
} staged;
enum { STAGE_ROW = 1024, STAGE_BYTES = 1 << 25 }; /* numbers; of a piece */

static void stage_rows(void *user, size_t first, size_t end)
{
    const staged *s = user;
    const size_t begin = first * STAGE_ROW, last = end * STAGE_ROW < s->numbers ? end * STAGE_ROW : s->numbers;
    if (s->from_bytes > s->to_bytes)
        for (size_t i = begin; i < last; i++)
            ((float *)s->to)[i] = (float)((const double *)s->from)[i];
    else if (s->from_bytes < s->to_bytes)
        for (size_t i = begin; i < last; i++)
            ((double *)s->to)[i] = (double)((const float *)s->from)[i];
    else
        memcpy((char *)s->to + begin, (const char *)s->from + begin, last - begin);
}

static void stage(const staged *s)
{
    bn_parallel_rows((s->numbers + STAGE_ROW - 1) / STAGE_ROW, STAGE_ROW, stage_rows, (void *)s);
}

/* The device's pinned memory, of so many bytes at least. */
static bn_status need_stage(bn_field *f, size_t bytes, char **data)
{
    bn_device *device = f->domain->device;
    if (!device->stage && !(device->stage = calloc(1, sizeof *device->stage)))
        return bn_fail(f->domain->ctx, BN_MEMORY, "no memory for values of field %s", f->desc.name);
    BN_TRY(bn_pinned_need(device, device->stage, bytes));
    *data = device->stage->data;
    return BN_OK;
}

/* Of a piece, where there are so many bytes and those of a row stay together. */
static size_t piece_bytes(size_t all, size_t row)
{
    return row > STAGE_BYTES ? row : all < STAGE_BYTES ? all : STAGE_BYTES;
}

/* Writes values some rows at a time, copied to pinned memory or narrowed there on all processors while the piece before
 * moves: drivers take other memory at a seventh of the speed, and this takes room for two pieces alone. */
static bn_status write_staged(bn_field *f, int first, int count, const bn_region *r, bool narrows, const void *values)
{
    bn_domain *d = f->domain;
    const size_t point = bn_field_unit(f, &first, &count), row = r->n[0] * point,
                 each = piece_bytes(bn_region_points(r) * point, row), here = narrows ? sizeof(double) : 1,
                 there = narrows ? sizeof(float) : 1;
    const char *from = values;
    char *data;
    unsigned pieces = 0;
    BN_TRY(need_stage(f, 2 * each, &data));
    for (int c = first; c < first + count; c++)
        for (bn_region band = { .n = { 0 } }; next_band(r, each / point, &band);) {
            const size_t numbers = bn_region_points(&band) * point / there;
            char *piece = data + pieces % 2 * each;
            stage(&(staged){ from, piece, numbers, here, there });
            from += numbers * here;
            if (pieces++ > 0)
                BN_TRY(bn_wait_for_launches(d, f->desc.name));
            BN_TRY(bn_field_transfer(f, c, 1, &band, piece, true, false));
            BN_TRY(bn_flush_all(d, f->desc.name));
        }
    d->device->counts.waits++;
    return bn_wait_for_launches(d, f->desc.name);
}

/* The other way, a piece after the other. */
static bn_status read_staged(bn_field *f, int first, int count, const bn_region *r, bool widens, void *values)
{
    const size_t all = region_bytes(f, r, count), point = bn_field_unit(f, &first, &count), row = r->n[0] * point,
                 each = piece_bytes(all, row), here = widens ? sizeof(double) : 1, there = widens ? sizeof(float) : 1;
    char *to = values, *data;
    BN_TRY(need_stage(f, each, &data));
    for (int c = first; c < first + count; c++)
        for (bn_region band = { .n = { 0 } }; next_band(r, each / point, &band);) {
            const size_t numbers = bn_region_points(&band) * point / there;
            BN_TRY(bn_field_transfer(f, c, 1, &band, data, false, true));
            stage(&(staged){ data, to, numbers, there, here });
            to += numbers * here;
        }
    return BN_OK;
}

/* Whether it pays. */
enum { LEAST_TO_STAGE = 1 << 20 };
static bool stages(const bn_field *f, const bn_region *r, int count, bool converts)
{
    const bn_device *device = f->domain->device;
    return device && (converts || !device->info.cpu) && region_bytes(f, r, count) >= LEAST_TO_STAGE;
}

/* Whether values are doubles here and floats on devices. */
static bool converts(const bn_field *f, bn_host_type type)
{
    return type == BN_AS_DOUBLES && f->domain->desc.precision == BN_SINGLE;
}

bn_status bn_field_read_region(bn_field *f, int first, int count, const bn_region *r, bn_host_type type, void *values)
{
    BN_TRY(check_region(f, first, count, r, type));
    if (stages(f, r, count, converts(f, type)))
        return read_staged(f, first, count, r, converts(f, type), values);
    BN_TRY(bn_field_transfer(f, first, count, r, values, false, true));
    if (type == BN_AS_DOUBLES)
        bn_reals_widen(f->domain, values, bn_region_points(r) * reals(f) * (size_t)count);
    return BN_OK;
}

bn_status bn_field_write_region(bn_field *f, int first, int count, const bn_region *r, bn_host_type type,
                                const void *values)
{
    BN_TRY(check_region(f, first, count, r, type));
    if (stages(f, r, count, converts(f, type))) {
        BN_TRY(write_staged(f, first, count, r, converts(f, type), values));
        return bn_field_changed(f);
    }
    if (type == BN_OWN_TYPE) {
        BN_TRY(bn_field_transfer(f, first, count, r, (void *)values, true, true));
        return bn_field_changed(f);
    }
    const size_t numbers = bn_region_points(r) * reals(f) * (size_t)count;
    void *own = malloc(numbers * bn_domain_real_bytes(f->domain));
    if (!own)
        return bn_fail(f->domain->ctx, BN_MEMORY, "no memory to convert field %s", f->desc.name);
    narrow_reals(f->domain, values, own, numbers);
    const bn_status st = bn_field_transfer(f, first, count, r, own, true, true);
    free(own);
    return st == BN_OK ? bn_field_changed(f) : st;
}

bn_status bn_field_read(bn_field *f, void *values, size_t bytes)
{
    const bn_region whole = bn_domain_whole(f->domain);
    BN_TRY(check_size(f, bytes, bn_field_bytes(f), "bytes"));
    return bn_field_read_region(f, 0, f->desc.components, &whole, BN_OWN_TYPE, values);
}

bn_status bn_field_write(bn_field *f, const void *values, size_t bytes)
{
    const bn_region whole = bn_domain_whole(f->domain);
    BN_TRY(check_size(f, bytes, bn_field_bytes(f), "bytes"));
    return bn_field_write_region(f, 0, f->desc.components, &whole, BN_OWN_TYPE, values);
}

bn_status bn_field_get(bn_field *f, double *values, size_t count)
{
    const bn_region whole = bn_domain_whole(f->domain);
    BN_TRY(check_size(f, count, bn_domain_points(f->domain) * reals(f) * (size_t)f->desc.components, "reals"));
    return bn_field_read_region(f, 0, f->desc.components, &whole, BN_AS_DOUBLES, values);
}

bn_status bn_field_set(bn_field *f, const double *values, size_t count)
{
    const bn_region whole = bn_domain_whole(f->domain);
    BN_TRY(check_size(f, count, bn_domain_points(f->domain) * reals(f) * (size_t)f->desc.components, "reals"));
    return bn_field_write_region(f, 0, f->desc.components, &whole, BN_AS_DOUBLES, values);
}

bn_status bn_field_visit(bn_field *f, bn_host_type type, bn_field_visitor *visit, void *user)
{
    enum { BAND_BYTES = 1 << 24 };
    const int count = f->desc.role & BN_INTERLEAVED ? f->desc.components : 1;
    const size_t point = (size_t)count * (type == BN_AS_DOUBLES ? reals(f) * sizeof(double) : f->element_bytes);
    const size_t points = point > 0 ? BAND_BYTES / point : 0;
    const size_t room = points > f->domain->desc.grid.n[0] ? points : f->domain->desc.grid.n[0];
    void *values = malloc(room * point + 1);
    bn_status st = BN_OK;
    if (!values)
        return bn_fail(f->domain->ctx, BN_MEMORY, "no memory for a band of field %s", f->desc.name);
    for (int c = 0; c < f->desc.components; c += count)
        for (bn_region r = { .n = { 0 } }; bn_domain_next_band(f->domain, points, &r);) {
            BN_GO(bn_field_read_region(f, c, count, &r, type, values));
            BN_GO(visit(user, c, &r, values));
        }
out:
    free(values);
    return st;
}

bn_status bn_field_supply(bn_field *f, bn_host_type type, bn_field_supplier *supply, void *user)
{
    enum { BAND_BYTES = 1 << 26 }; /* rows enough for all processors */
    bn_status st = BN_OK;
    for (size_t i = 0; st == BN_OK && i < bn_domain_parts(f->domain); i++) {
        bn_region part, point = { .n = { 1, 1, 1 } };
        (void)bn_domain_part(f->domain, i, &part);
        const size_t own = region_bytes(f, &point, f->desc.components),
                     bytes = type == BN_AS_DOUBLES ? own / bn_domain_real_bytes(f->domain) * sizeof(double) : own;
        size_t room = 0;
        void *values = NULL;
        for (bn_region r = { .n = { 0 } }; st == BN_OK && next_band(&part, BAND_BYTES / bytes, &r);) {
            const size_t need = bn_region_points(&r) * bytes;
            if (need > room) {
                free(values);
                values = malloc(room = need);
            }
            if (!values)
                return bn_fail(f->domain->ctx, BN_MEMORY, "no memory for %zu bytes of field %s", need, f->desc.name);
            st = supply(user, &r, values);
            if (st == BN_OK)
                st = bn_field_write_region(f, 0, f->desc.components, &r, type, values);
        }
        free(values);
    }
    return st;
}

/* Between fields of one domain: their memory as it is, halos included; enqueued. */
static bn_status copy_boxes(bn_field *from, bn_field *to)
{
    const bn_domain *d = from->domain;
    if (from->host)
        memcpy(to->host, from->host, bn_field_bytes(from));
    for (size_t b = 0; from->buffers && b < d->box_count; b++)
        if (from->buffers[b])
            BN_CL(d->boxes[b].device, from->desc.name, clEnqueueCopyBuffer, bn_queue(d->boxes[b].device),
                  from->buffers[b]->mem, to->buffers[b]->mem, 0, 0, from->buffers[b]->bytes, 0, NULL, NULL);
    to->valid = from->valid;
    return BN_OK;
}

/* Whether every device with a box of `to` has the whole of `from`. */
static bool is_everywhere(const bn_field *from, const bn_field *to)
{
    const bn_domain *a = from->domain, *b = to->domain;
    bool whole = a->device && (a->desc.copies || a->box_count == 1);
    for (size_t i = 0; whole && i < b->box_count; i++)
        whole = !b->boxes[i].device || a->distributed || b->boxes[i].device == a->device;
    return whole;
}

/* From the device's copy to each box, halo included. */
static bn_status copy_from_whole(const bn_field *from, bn_field *to)
{
    const bn_domain *a = from->domain, *d = to->domain;
    const bn_grid *g = &d->desc.grid;
    const bool periodic = g->periodic[0] || g->periodic[1] || g->periodic[2];
    BN_TRY(bn_field_changed(to));
    for (size_t b = 0; b < d->box_count; b++) {
        const bn_box *box = &d->boxes[b];
        long first[3], here[3], n[3];
        for (int k = 0; box->device && k < 3; k++) {
            const long halo = periodic ? 0 : d->shapes[box->shape].layout.halo[k], begin = (long)box->offset[k],
                       end = begin + (long)box->n[k], all = (long)g->n[k];
            first[k] = begin > halo ? begin - halo : 0;
            here[k] = first[k] - begin;
            n[k] = (end + halo < all ? end + halo : all) - first[k];
        }
        if (box->device)
            BN_TRY(bn_block_copy(from, a->distributed ? box->local : 0, first, to, b, here, n));
    }
    if (!periodic)
        to->valid = (struct bn_valid_halo){ d->max_radius, d->max_radius, { d->max_radius, d->max_radius } };
    return BN_OK;
}

static bool are_alike(const bn_field *a, const bn_field *b)
{
    return a->element_bytes == b->element_bytes && a->desc.type == b->desc.type &&
           a->desc.components == b->desc.components && !((a->desc.role ^ b->desc.role) & BN_INTERLEAVED);
}

static bn_status other_values(const bn_field *from, const bn_field *to)
{
    return bn_fail(from->domain->ctx, BN_USAGE, "field %s can't be copied to %s, which has other values",
                   from->desc.name, to->desc.name);
}

/* A region of the one, through pinned memory, to all of the other, which has the same points. */
static bn_status copy_through_host(bn_field *from, const bn_region *r, bn_field *to)
{
    bn_domain *d = from->domain->box_count > 1 ? from->domain : to->domain;
    void *values;
    BN_TRY(bn_double_buffer_next(d, from->desc.name, bn_field_bytes(to), &values));
    const bn_region whole = bn_domain_whole(to->domain);
    const bool across = bn_domain_across_ranks(d); /* ranks tell each other what they have read */
    BN_TRY(bn_field_transfer(from, 0, from->desc.components, r, values, false, across));
    if (!across)
        BN_TRY(bn_queues_meet(d, from->desc.name));
    BN_TRY(bn_field_transfer(to, 0, to->desc.components, &whole, values, true, across));
    BN_TRY(bn_field_changed(to));
    return across ? BN_OK : bn_flush_all(d, to->desc.name);
}

/* Whether columns are on their way while other things are done: not between ranks. */
static bool copies_aside(const bn_domain *d) { return d->distributed && !bn_domain_across_ranks(d); }

static bn_region columns_of(const bn_field *to)
{
    const uint32_t *n = to->domain->desc.grid.n;
    return (bn_region){ .n = { n[0], n[1], 1 } };
}

bn_status bn_field_copy_columns_begin(bn_field *from, bn_field *to)
{
    bn_domain *a = from->domain, *b = to->domain;
    const uint32_t *n = b->desc.grid.n, *all = a->desc.grid.n;
    if (!are_alike(from, to) || !a->device || a->device != b->device || n[0] > all[0] || n[1] != all[1] || n[2] != 1 ||
        (b->box_count > 1 && !b->desc.copies) || a->lattice[0] > 1)
        return other_values(from, to);
    if (!copies_aside(a))
        return BN_OK;
    const bn_region columns = columns_of(to);
    BN_TRY(bn_double_buffer_next(a, from->desc.name, bn_field_bytes(to), &to->under_way));
    for (size_t m = 0; m < a->local_count; m++)
        BN_TRY(bn_call_mark(bn_local_device(a, m), from->desc.name, &bn_local_device(a, m)->fork.before));
    BN_TRY(bn_flush_all(a, from->desc.name)); /* the other queue waits for it */
    BN_TRY(bn_field_read_aside(from, &columns, to->under_way));
    for (size_t m = 0; m < a->local_count; m++)
        BN_TRY(bn_call_flush(bn_local_device(a, m), from->desc.name, bn_local_device(a, m)->outgoing));
    return BN_OK;
}

bn_status bn_field_copy_columns_end(bn_field *from, bn_field *to)
{
    bn_domain *a = from->domain;
    const bn_region columns = columns_of(to), whole = bn_domain_whole(to->domain);
    if (copies_aside(a)) {
        BN_TRY(bn_flush_all(a, from->desc.name)); /* what was launched meanwhile */
        BN_TRY(bn_outgoing_meet(a, from->desc.name));
        BN_TRY(bn_field_transfer(to, 0, to->desc.components, &whole, to->under_way, true, false));
        BN_TRY(bn_field_changed(to));
        return bn_flush_all(a, to->desc.name);
    }
    if (a->distributed)
        return copy_through_host(from, &columns, to);
    BN_TRY(bn_field_changed(to));
    for (size_t i = 0; i < a->box_count; i++) {
        const bn_box *box = &a->boxes[i];
        const long there[3] = { 0, (long)box->offset[1], 0 }, points[3] = { (long)columns.n[0], (long)box->n[1], 1 };
        BN_TRY(bn_block_copy(from, i, (const long[3]){ 0 }, to, 0, there, points));
    }
    return BN_OK;
}

bn_status bn_field_copy(bn_field *from, bn_field *to)
{
    const bn_domain *a = from->domain, *b = to->domain;
    const bool alike = are_alike(from, to);
    if (alike && a == b)
        return copy_boxes(from, to);
    if (!alike || !a->device || !b->device || memcmp(a->desc.grid.n, b->desc.grid.n, sizeof a->desc.grid.n) != 0)
        return other_values(from, to);
    if (is_everywhere(from, to) && b->box_count > 1 && !b->desc.copies)
        return copy_from_whole(from, to);
    const bn_region whole = bn_domain_whole(a);
    return copy_through_host(from, &whole, to);
}

/* What bn_field_fill sets. */
typedef struct filled {
    const bn_field *field;
    double (*value)(const double x[3], const void *user);
    const void *user;
} filled;

static bn_status fill_region(void *user, const bn_region *r, void *values)
{
    const filled *f = user;
    const bn_grid *g = &f->field->domain->desc.grid;
    const size_t points = bn_region_points(r);
    for (size_t at = 0; at < points; at++) {
        size_t place[3];
        double x[3];
        bn_region_place(r, at, place);
        for (int k = 0; k < 3; k++)
            x[k] = g->origin[k] + (double)place[k] * g->h[k];
        const double value = f->value(x, f->user);
        for (int c = 0; c < f->field->desc.components; c++)
            ((double *)values)[(size_t)c * points + at] = value;
    }
    return BN_OK;
}

bn_status bn_field_fill(bn_field *f, double (*value)(const double x[3], const void *user), const void *user)
{
    if (f->desc.type != BN_T_REAL || (f->desc.role & BN_INTERLEAVED))
        return bn_fail(f->domain->ctx, BN_USAGE, "field %s has no planes of reals", f->desc.name);
    return bn_field_supply(f, BN_AS_DOUBLES, fill_region, &(filled){ f, value, user });
}

bn_status bn_field_zero(bn_field *f)
{
    if (f->host) {
        memset(f->host, 0, bn_field_bytes(f));
        return BN_OK;
    }
    return bn_field_clear(f);
}
