/* transposed.c: the argument of kernels that store their result transposed, in a field of another domain. */
#include "api/transpose.h"

#include "comm/transpose.h"
#include "grid/block_copy.h"
#include "launch/argument.h"

/* One box stores straight into the field; of several each stores blocks of its own, strip by strip. */
static void declare(bn_launching *l, const bn_arg *a)
{
    if (l->domain->box_count > 1)
        l->divides = a;
}

static bn_status check(const bn_launching *l, const bn_arg *a)
{
    const bn_kernel_desc *k = l->kernel->desc;
    const char *objection = bn_transpose_objection(l->domain, a->object.field);
    if (objection)
        return bn_fail(l->domain->ctx, BN_USAGE, "kernel %s can't store transposed in field %s: %s", k->name,
                       a->object.field->desc.name, objection);
    if ((k->range != BN_PER_ROW && k->range != BN_PER_ROWS && k->range != BN_PER_BLOCK) || l->requests > 0)
        return bn_fail(l->domain->ctx, BN_USAGE,
                       "kernel %s can't store transposed: it needs one of the ranges per row and per block, and no "
                       "neighbours of other boxes",
                       k->name);
    return BN_OK;
}

static bn_status prepare(bn_launching *l, const bn_arg *a)
{
    return l->domain->box_count > 1 ? bn_transpose_begin(l->domain, a->object.field) : BN_OK;
}

static bn_status set(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    return bn_set_arg(l->kernel, box, index, sizeof(cl_mem), bn_transpose_memory(l->domain, a->object.field, box));
}

static size_t divide(const bn_launching *l, size_t box, bn_part strips[BN_PARTS_MAX])
{
    const bn_box *b = &l->domain->boxes[box];
    const uint32_t strip = l->domain->shapes[b->shape].transposed.strip;
    size_t count = 0;
    for (uint32_t row = 0; row < b->n[1]; row += strip) {
        strips[count] = bn_whole_box(l->domain, box);
        strips[count].first[1] = row;
        strips[count++].n[1] = b->n[1] - row < strip ? b->n[1] - row : strip;
    }
    return count;
}

static bn_status part_launched(const bn_launching *l, size_t box, size_t part)
{
    return bn_transpose_packed(l->domain, box, part);
}

static bn_status after(const bn_launching *l, const bn_arg *a)
{
    if (l->domain->box_count > 1)
        BN_TRY(bn_transpose_deliver(l->domain, a->object.field));
    return bn_field_changed(a->object.field, 0);
}

const bn_argument_kind bn_argument_transposed = { .owner = bn_argument_field_owner,
                                                  .field = true,
                                                  .writes = true,
                                                  .any_domain = true,
                                                  .declare = declare,
                                                  .check = check,
                                                  .prepare = prepare,
                                                  .set = set,
                                                  .divide = divide,
                                                  .part_launched = part_launched,
                                                  .after = after };
