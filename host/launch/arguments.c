/* arguments.c: the kinds of arguments that every solver has: numbers, fields, arrays, sums. */
#include "grid/block_copy.h"
#include "launch/argument.h"
#include "launch/reduce.h"

static bn_status set_memory(const bn_launching *l, size_t box, cl_uint index, const bn_buffer *buffer)
{
    return bn_set_arg(l->kernel, box, index, sizeof(cl_mem), &buffer->mem);
}

bn_status bn_argument_set_copy(const bn_launching *l, size_t box, cl_uint index, bn_buffer *const *copies)
{
    return set_memory(l, box, index, copies[l->domain->boxes[box].local]);
}

/* ----------------------------------------------------------------------------------------------------------- numbers
 */

static bn_status set_real(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    const float single = (float)a->value.r;
    return l->domain->desc.precision == BN_DOUBLE ? bn_set_arg(l->kernel, box, index, sizeof(double), &a->value.r)
                                                  : bn_set_arg(l->kernel, box, index, sizeof single, &single);
}

static bn_status set_word(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    return bn_set_arg(l->kernel, box, index, sizeof a->value.i, &a->value.i);
}

static bn_status set_null(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    const cl_mem none = NULL;
    (void)a;
    return bn_set_arg(l->kernel, box, index, sizeof none, &none);
}

/* See BN_INNER_ROWS. */
static uint32_t inner_rows(const bn_domain *d, size_t box, const bn_arg *a)
{
    const uint32_t *n = d->boxes[box].n, half = n[1] < 3 * BN_BLOCK_NY ? 0 : n[1] / 2;
    const uint64_t rows = a->value.u / ((uint64_t)n[0] * n[2]);
    return (rows < half ? (uint32_t)rows : half) / BN_BLOCK_NY * BN_BLOCK_NY;
}

static bn_status set_inner_rows(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    const cl_uint rows = inner_rows(l->domain, box, a);
    return bn_set_arg(l->kernel, box, index, sizeof rows, &rows);
}

static void cover_inner_rows(bn_launching *l, const bn_arg *a)
{
    l->divides = a;
    for (size_t b = 0; b < l->domain->box_count; b++)
        l->covered += (double)inner_rows(l->domain, b, a) * l->domain->boxes[b].n[0] * l->domain->boxes[b].n[2];
}

static bn_status reads_no_halo(const bn_launching *l, const bn_arg *a)
{
    (void)a;
    for (size_t i = 0; i < l->count; i++)
        if (l->args[i].radius > 0)
            return bn_fail(l->domain->ctx, BN_USAGE, "kernel %s reads a halo, and has work on inner rows alone",
                           l->kernel->desc->name);
    return BN_OK;
}

static size_t divide_inner_rows(const bn_launching *l, size_t box, bn_part parts[BN_PARTS_MAX])
{
    const uint32_t rows = inner_rows(l->domain, box, l->divides);
    parts[0] = bn_whole_box(l->domain, box);
    if (l->domain->distributed) {
        parts[0].first[1] = BN_BLOCK_NY;
        parts[0].n[1] = rows;
    }
    return rows > 0 ? 1 : 0;
}

const bn_argument_kind bn_argument_inner_rows = { .set = set_inner_rows };
const bn_argument_kind bn_argument_only_inner_rows = {
    .declare = cover_inner_rows, .check = reads_no_halo, .set = set_inner_rows, .divide = divide_inner_rows
};
const bn_argument_kind bn_argument_null = { .set = set_null };
const bn_argument_kind bn_argument_real = { .set = set_real };
const bn_argument_kind bn_argument_word = { .set = set_word };

/* ------------------------------------------------------------------------------------------------------------ fields
 */

bn_domain *bn_argument_field_owner(const bn_arg *a) { return a->object.field ? a->object.field->domain : NULL; }

bn_status bn_argument_set_field(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    return set_memory(l, box, index, a->object.field->buffers[box]);
}

static bn_status set_image(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    bn_buffer *b = a->object.field->buffers[box];
    BN_TRY(bn_buffer_image(b, l->domain->desc.precision));
    return bn_set_arg(l->kernel, box, index, sizeof(cl_mem), &b->image);
}

bn_status bn_argument_field_changed(const bn_launching *l, const bn_arg *a)
{
    (void)l;
    return bn_field_changed(a->object.field);
}

const bn_argument_kind bn_argument_read = {
    .owner = bn_argument_field_owner, .field = true, .reads = true, .set = bn_argument_set_field
};
const bn_argument_kind bn_argument_read_ahead = { .owner = bn_argument_field_owner, .field = true, .reads = true };
const bn_argument_kind bn_argument_image = {
    .owner = bn_argument_field_owner, .field = true, .reads = true, .set = set_image
};
const bn_argument_kind bn_argument_write = { .owner = bn_argument_field_owner,
                                             .field = true,
                                             .writes = true,
                                             .set = bn_argument_set_field,
                                             .after = bn_argument_field_changed };
const bn_argument_kind bn_argument_update = { .owner = bn_argument_field_owner,
                                              .field = true,
                                              .reads = true,
                                              .writes = true,
                                              .set = bn_argument_set_field,
                                              .after = bn_argument_field_changed };

/* ------------------------------------------------------------------------------------------------------------ arrays
 */

bn_domain *bn_argument_array_owner(const bn_arg *a) { return a->object.array ? a->object.array->domain : NULL; }

static bn_status set_array(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    return bn_argument_set_copy(l, box, index, a->object.array->buffer);
}

static bn_status merge_counters(bn_launching *l, const bn_arg *a)
{
    (void)l;
    return bn_counters_merge(a->object.array);
}

static bn_status clear_counters(const bn_launching *l, const bn_arg *a)
{
    (void)l;
    return bn_counters_clear(a->object.array);
}

const bn_argument_kind bn_argument_array = { .owner = bn_argument_array_owner, .set = set_array };
const bn_argument_kind bn_argument_counters = {
    .owner = bn_argument_array_owner, .collect = merge_counters, .set = set_array, .after = clear_counters
};

/* -------------------------------------------------------------------------------------------------------------- sums
 */

static bn_status too_many(const bn_launching *l)
{
    return bn_fail(l->domain->ctx, BN_USAGE, "a kernel with more than %d partial sums or scalars",
                   (int)BN_ALLREDUCE_MOST);
}

static bn_domain *partials_owner(const bn_arg *a) { return a->object.partials ? a->object.partials->domain : NULL; }

static bn_status collect_partials(bn_launching *l, bn_partials *p)
{
    for (size_t i = 0; i < l->partial_count; i++) /* a kernel may be given the same ones twice */
        if (l->partials[i] == p)
            return BN_OK;
    if (l->partial_count == BN_ALLREDUCE_MOST)
        return too_many(l);
    l->partials[l->partial_count++] = p;
    return BN_OK;
}

static bn_status collect_shared_partials(bn_launching *l, const bn_arg *a)
{
    return a->object.partials->shared ? collect_partials(l, a->object.partials) : BN_OK;
}

static bn_status collect_totals(bn_launching *l, const bn_arg *a) { return collect_partials(l, a->object.partials); }

static bn_status set_partials(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    return bn_argument_set_copy(l, box, index, a->object.partials->buffer);
}

static bn_status set_totals(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    const bn_partials *p = a->object.partials;
    return bn_argument_set_copy(l, box, index, p->packed ? p->packed : p->buffer);
}

static bn_status pack_totals(bn_launching *l, const bn_arg *a)
{
    (void)l;
    return bn_partials_pack(a->object.partials);
}

static bn_status partials_changed(const bn_launching *l, const bn_arg *a)
{
    bn_partials *p = a->object.partials;
    (void)l;
    p->stale = p->differ = true;
    p->changed |= a->component > 0 && a->component < 64 ? (uint64_t)1 << (a->component - 1) : ~(uint64_t)0;
    return BN_OK;
}

static bn_domain *scalars_owner(const bn_arg *a) { return a->object.scalars ? a->object.scalars->domain : NULL; }

static bn_status collect_scalars(bn_launching *l, const bn_arg *a)
{
    for (size_t i = 0; i < l->scalar_count; i++)
        if (l->scalars[i] == a->object.scalars)
            return BN_OK;
    if (l->scalar_count == BN_ALLREDUCE_MOST)
        return too_many(l);
    l->scalars[l->scalar_count++] = a->object.scalars;
    return BN_OK;
}

static bn_status set_scalars(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    return bn_argument_set_copy(l, box, index, a->object.scalars->buffer);
}

static bn_status scalars_changed(const bn_launching *l, const bn_arg *a)
{
    (void)l;
    a->object.scalars->differ = a->object.scalars->differ || a->object.scalars->shared;
    return BN_OK;
}

static void declare_begin(bn_launching *l, const bn_arg *a)
{
    (void)a;
    l->begins = true;
}

static bn_status has_no_sums(const bn_launching *l, const bn_arg *a)
{
    (void)a;
    for (size_t i = 0; i < l->count; i++) {
        const bn_argument_kind *k = l->args[i].kind;
        if (k == &bn_argument_partials || k == &bn_argument_totals || k == &bn_argument_scalars)
            return bn_fail(l->domain->ctx, BN_USAGE, "kernel %s has sums or scalars, and runs beside their exchange",
                           l->kernel->desc->name);
    }
    return BN_OK;
}

const bn_argument_kind bn_argument_partials_ahead = {
    .owner = partials_owner, .declare = declare_begin, .check = has_no_sums, .collect = collect_shared_partials
};
const bn_argument_kind bn_argument_scalars_ahead = {
    .owner = scalars_owner, .declare = declare_begin, .check = has_no_sums, .collect = collect_scalars
};
const bn_argument_kind bn_argument_partials = {
    .owner = partials_owner, .collect = collect_shared_partials, .set = set_partials, .after = partials_changed
};
const bn_argument_kind bn_argument_totals = {
    .owner = partials_owner, .collect = collect_totals, .prepare = pack_totals, .set = set_totals
};
const bn_argument_kind bn_argument_scalars = {
    .owner = scalars_owner, .collect = collect_scalars, .set = set_scalars, .after = scalars_changed
};
