/* block_copy.c: copies and fills blocks of cells by the kernels of kernels/halo.cl, which are built when first needed.
 */
#include "grid/block_copy.h"

#include "grid/enqueue.h"

/* A block of cells of a box; may reach into the halo. */
typedef struct bn_block {
    long first[3], n[3];
} bn_block;

static const bn_kernel_desc copy_kernels[] = {
    { "halo_copy_1", BN_PER_CELL, { 1, 1, 0 } },
    { "halo_copy_4", BN_PER_CELL, { 1, 1, 0 } },
    { "halo_copy_8", BN_PER_CELL, { 1, 1, 0 } },
    { "halo_copy_16", BN_PER_CELL, { 1, 1, 0 } },
};
static const bn_kernel_desc fill_kernels[] = {
    { "halo_fill_1", BN_PER_CELL, { 0, 1, 0 } },
    { "halo_fill_4", BN_PER_CELL, { 0, 1, 0 } },
    { "halo_fill_8", BN_PER_CELL, { 0, 1, 0 } },
    { "halo_fill_16", BN_PER_CELL, { 0, 1, 0 } },
};

static void destroy_program(void *object)
{
    bn_program *p = object;
    bn_program_destroy(&p);
}

static bn_status find_kernel(bn_field *f, const bn_kernel_desc *by_word, bn_kernel **out)
{
    bn_domain *d = f->domain;
    bn_program *program = bn_attached(d->attached, destroy_program);
    if (!program) {
        BN_TRY(bn_program_build_any_size(d, d, "halo", NULL, 0, &program));
        BN_TRY(bn_attach(d->ctx, &d->attached, program, destroy_program));
    }
    size_t word = f->element_bytes == 1 ? 0 : f->element_bytes == 4 ? 1 : f->element_bytes == 8 ? 2 : 3;
    BN_TRY(bn_kernel_find(program, &by_word[word], out));
    return bn_kernel_ready(*out);
}

long bn_field_width(const bn_field *f) { return (f->desc.role & BN_INTERLEAVED) ? f->desc.components : 1; }

/* The four numbers that place a block in a buffer. */
static bn_status set_place(bn_kernel *k, size_t box, cl_uint at, const bn_layout *l, const long first[3], cl_long width)
{
    const cl_long place[4] = {
        ((cl_long)l->first + first[2] * (cl_long)l->slice + first[1] * (cl_long)l->pitch + first[0]) * width,
        (cl_long)l->pitch * width, (cl_long)l->slice * width, (cl_long)l->plane * width
    };
    for (cl_uint i = 0; i < 4; i++)
        BN_TRY(bn_set_arg(k, box, at + i, sizeof place[i], &place[i]));
    return BN_OK;
}

static bn_status set_extent_and_run(bn_kernel *k, size_t box, cl_uint at, const long n[3], const bn_field *f,
                                    const bn_order *order)
{
    const long width = bn_field_width(f);
    const int components = (f->desc.role & BN_INTERLEAVED) ? 1 : f->desc.components;
    const cl_int extent[4] = { (cl_int)(n[0] * width), (cl_int)n[1], (cl_int)n[2], components };
    for (cl_uint i = 0; i < 4; i++)
        BN_TRY(bn_set_arg(k, box, at + i, sizeof extent[i], &extent[i]));
    const size_t items[3] = { (size_t)(n[0] * width), (size_t)n[1], (size_t)n[2] * (size_t)components };
    const size_t none[3] = { 0, 0, 0 };
    /* A thin block along x is one item wide: a shape that follows the block keeps work-groups full on a GPU. PoCL would
     * compile for each shape: on CPUs there is one, nearly square, for blocks that are thin along either axis. */
    const bool cpu = f->domain->boxes[box].device->info.cpu;
    size_t limit = k->max_group < 64 ? k->max_group : 64, local[3] = { 1, 1, 1 }, global[3];
    for (int i = 0; i < 2; i++)
        while ((cpu ? local[i] < 8 : local[i] * 2 <= items[i]) && local[0] * local[1] * 2 <= limit)
            local[i] *= 2;
    for (int i = 0; i < 3; i++)
        global[i] = (items[i] + local[i] - 1) / local[i] * local[i];
    k->calls++;
    return bn_enqueue(k, box, none, global, local, order);
}

bn_status bn_block_copy(const bn_field *from, size_t from_box, const long from_first[3], bn_field *to, size_t to_box,
                        const long to_first[3], const long n[3])
{
    const bn_domain *a = from->domain, *b = to->domain;
    bn_kernel *k;
    BN_TRY(find_kernel(to, copy_kernels, &k));
    BN_TRY(bn_set_arg(k, to_box, 0, sizeof(cl_mem), &from->buffers[from_box]->mem));
    BN_TRY(bn_set_arg(k, to_box, 1, sizeof(cl_mem), &to->buffers[to_box]->mem));
    BN_TRY(set_place(k, to_box, 2, &a->shapes[a->boxes[from_box].shape].layout, from_first, bn_field_width(from)));
    BN_TRY(set_place(k, to_box, 6, &b->shapes[b->boxes[to_box].shape].layout, to_first, bn_field_width(to)));
    return set_extent_and_run(k, to_box, 10, n, to, NULL);
}

bn_status bn_block_move(bn_field *f, size_t box, const long first[3], const long n[3], const bn_buffer *buffer,
                        const cl_long place[4], bool to_field, const bn_order *order)
{
    bn_domain *d = f->domain;
    bn_kernel *k;
    BN_TRY(find_kernel(f, copy_kernels, &k));
    const cl_mem *from = to_field ? &buffer->mem : &f->buffers[box]->mem,
                 *to = to_field ? &f->buffers[box]->mem : &buffer->mem;
    BN_TRY(bn_set_arg(k, box, 0, sizeof(cl_mem), from));
    BN_TRY(bn_set_arg(k, box, 1, sizeof(cl_mem), to));
    BN_TRY(set_place(k, box, to_field ? 6 : 2, &d->shapes[d->boxes[box].shape].layout, first, bn_field_width(f)));
    for (cl_uint i = 0; i < 4; i++)
        BN_TRY(bn_set_arg(k, box, (to_field ? 2 : 6) + i, sizeof place[i], &place[i]));
    return set_extent_and_run(k, box, 10, n, f, order);
}

static bn_status fill_block(bn_field *f, size_t box, const bn_block *block, cl_uint paint)
{
    bn_domain *d = f->domain;
    if (block->n[0] <= 0 || block->n[1] <= 0 || block->n[2] <= 0)
        return BN_OK;
    bn_kernel *k;
    BN_TRY(find_kernel(f, fill_kernels, &k));
    BN_TRY(bn_set_arg(k, box, 0, sizeof(cl_mem), &f->buffers[box]->mem));
    BN_TRY(bn_set_arg(k, box, 1, sizeof paint, &paint));
    BN_TRY(set_place(k, box, 2, &d->shapes[d->boxes[box].shape].layout, block->first, bn_field_width(f)));
    return set_extent_and_run(k, box, 6, block->n, f, NULL);
}

/* Debug contexts: NaN in every halo, so that a launch whose declared radius is too small shows at once. */
static bn_status poison_halo(bn_field *f)
{
    bn_domain *d = f->domain;
    const int *halo = d->shapes[0].layout.halo;
    for (size_t b = 0; b < d->box_count; b++)
        for (int dim = 0; d->boxes[b].device && dim < d->desc.grid.dims; dim++)
            for (int side = -1; side <= 1; side += 2) {
                bn_block block;
                for (int k = 0; k < 3; k++) {
                    block.first[k] = -halo[k];
                    block.n[k] = (long)d->boxes[b].n[k] + 2 * halo[k];
                }
                block.n[dim] = halo[dim];
                block.first[dim] = side < 0 ? -halo[dim] : (long)d->boxes[b].n[dim];
                BN_TRY(fill_block(f, b, &block, 0x7fc0beefu));
            }
    return BN_OK;
}

bn_status bn_field_changed(bn_field *f)
{
    f->valid = (struct bn_valid_halo){ 0 };
    return bn_context_debug(f->domain->ctx) ? poison_halo(f) : BN_OK;
}

bn_status bn_field_clear(bn_field *f)
{
    bn_domain *d = f->domain;
    for (size_t b = 0; b < d->box_count; b++) {
        if (!d->boxes[b].device)
            continue;
        if (!bn_context_debug(d->ctx)) { /* halos and padding too: no kernel has to be built for it */
            BN_TRY(bn_buffer_fill(f->buffers[b], 0, 0, f->buffers[b]->bytes));
            continue;
        }
        const uint32_t *n = d->boxes[b].n;
        const bn_block own = { { 0, 0, 0 }, { n[0], n[1], n[2] } };
        BN_TRY(fill_block(f, b, &own, 0));
    }
    f->valid = (struct bn_valid_halo){ 0 };
    return BN_OK;
}
