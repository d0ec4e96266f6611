/* other_grids.c: arguments of kernels that work on two grids in the same boxes, as multigrid does. */
#include "api/other_grids.h"

#include "launch/argument.h"

const bn_argument_kind bn_argument_read_other_grid = {
    .owner = bn_argument_field_owner, .field = true, .reads = true, .other_grid = true, .set = bn_argument_set_field
};
const bn_argument_kind bn_argument_read_later = {
    .owner = bn_argument_field_owner, .field = true, .reads = true, .other_grid = true, .later = true
};
const bn_argument_kind bn_argument_write_other_grid = { .owner = bn_argument_field_owner,
                                                        .field = true,
                                                        .writes = true,
                                                        .other_grid = true,
                                                        .set = bn_argument_set_field,
                                                        .after = bn_argument_field_changed };

static bn_status set_everywhere(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    return bn_argument_set_copy(l, box, index, a->object.field->buffers);
}

const bn_argument_kind bn_argument_read_everywhere = {
    .owner = bn_argument_field_owner, .field = true, .reads = true, .everywhere = true, .set = set_everywhere
};

static bn_domain *sizes_owner(const bn_arg *a) { return a->object.domain; }

static bn_status set_sizes(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    const bn_domain *d = a->object.domain;
    const bn_box *b = &d->boxes[box];
    const bn_layout *p = &d->shapes[b->shape].layout;
    const uint32_t *n = b->n, *g = d->desc.grid.n, *o = b->offset;
    const size_t all[] = { n[0], n[1], n[2],     g[0],     g[1],     g[2],     o[0],
                           o[1], o[2], p->pitch, p->slice, p->plane, p->first, p->plane >> 31 };
    cl_int sizes[16] = { 0 };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sizes[i] = (cl_int)(all[i] & INT32_MAX);
    return bn_set_arg(l->kernel, box, index, sizeof sizes, sizes);
}

const bn_argument_kind bn_argument_sizes = { .owner = sizes_owner, .other_grid = true, .set = set_sizes };
