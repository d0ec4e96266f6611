/* transposed.c: the argument of kernels that store their result transposed, in a field of another domain. Where boxes
 * there overlap on several devices, the rows that others need come first: they travel while the rest is computed. */
#include "api/transpose.h"

#include "comm/overlap.h"
#include "grid/block_copy.h"
#include "launch/argument.h"

static void declare(bn_launching *l, const bn_arg *a)
{
    if (a->object.field && a->object.field->domain->overlaps)
        l->divides = a;
}

static bn_status check(const bn_launching *l, const bn_arg *a)
{
    const bn_kernel_desc *k = l->kernel->desc;
    const bn_field *f = a->object.field;
    const bn_domain *d = l->domain, *to = f->domain;
    const uint32_t *n = d->desc.grid.n, *m = to->desc.grid.n;
    if (!to->desc.whole_rows || !d->desc.whole_rows || to == d || n[0] != m[1] || n[1] != m[0] || n[2] != 1 ||
        m[2] != 1 || f->desc.components != 1 || (d->box_count > 1 && d->overlaps == to->overlaps))
        return bn_fail(d->ctx, BN_USAGE,
                       "kernel %s can't store transposed in field %s: it is not of one component, of the transposed "
                       "grid (bn_domain_transposed)",
                       k->name, f->desc.name);
    if ((k->range != BN_PER_ROW && k->range != BN_PER_ROWS && k->range != BN_PER_BLOCK) || l->requests > 0)
        return bn_fail(d->ctx, BN_USAGE,
                       "kernel %s can't store transposed: it needs one of the ranges per row and per block, and no "
                       "neighbours of other boxes",
                       k->name);
    return BN_OK;
}

static bn_status prepare(bn_launching *l, const bn_arg *a)
{
    (void)l;
    return a->object.field->domain->overlaps ? bn_overlap_begin(a->object.field) : BN_OK;
}

/* Rows at the box's begin and at its end that other boxes need. */
static size_t divide(const bn_launching *l, size_t box, bn_part parts[BN_PARTS_MAX])
{
    const bn_domain *d = l->domain, *to = l->divides->object.field->domain;
    const uint32_t begin = d->boxes[box].offset[1], rows = d->boxes[box].n[1];
    uint32_t low = 0, high = rows, first, n;
    for (size_t other = 0; other < d->box_count; other++) {
        if (!bn_overlap_of(to, box, other, &first, &n))
            continue;
        if (other < box && first + n - begin > low)
            low = first + n - begin;
        if (other > box && first - begin < high)
            high = first - begin;
    }
    low = (low + BN_BLOCK_NY - 1) / BN_BLOCK_NY * BN_BLOCK_NY;
    high = high < rows ? high / BN_BLOCK_NY * BN_BLOCK_NY : rows;
    const bn_part whole = bn_whole_box(d, box);
    if (!d->distributed || low >= high || !bn_worth_splitting(l->kernel, box)) {
        parts[0] = whole;
        return 1;
    }
    const uint32_t starts[] = { 0, high, low }, ends[] = { low, rows, high };
    size_t count = 0;
    for (int p = 0; p < 3; p++)
        if (ends[p] > starts[p]) {
            parts[count] = whole;
            parts[count].first[1] = starts[p];
            parts[count++].n[1] = ends[p] - starts[p];
        }
    return count;
}

static bn_status outer_launched(const bn_launching *l, size_t box)
{
    return bn_overlap_pack(l->divides->object.field, box);
}

static bn_status after(const bn_launching *l, const bn_arg *a)
{
    (void)l;
    if (a->object.field->domain->overlaps)
        BN_TRY(bn_overlap_end(a->object.field));
    return bn_field_changed(a->object.field);
}

const bn_argument_kind bn_argument_transposed = { .owner = bn_argument_field_owner,
                                                  .field = true,
                                                  .writes = true,
                                                  .other_grid = true,
                                                  .declare = declare,
                                                  .check = check,
                                                  .prepare = prepare,
                                                  .set = bn_argument_set_field,
                                                  .divide = divide,
                                                  .outer_launched = outer_launched,
                                                  .after = after };
