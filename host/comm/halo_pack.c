/* halo_pack.c: keeps the halos of boxes equal to their neighbours' border cells. Phases x, y, z: a phase copies the halos
 * that earlier phases filled along with the cells, so corners need no messages of their own. A periodic side is an
 * exchange with the far box, which may be the box itself. Boxes of one device copy on the device. */
#include "grid/runtime.h"

#include <stdio.h>
#include <string.h>

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

void bn_halo_set(bn_field *f, int valid)
{
    f->halo_valid = f->halo_unwrapped = f->halo_side[0] = f->halo_side[1] = valid;
}

static bn_status find_service(bn_field *f, const bn_kernel_desc *by_word, bn_kernel **out)
{
    bn_domain *d = f->domain;
    if (!d->services)
        BN_TRY(bn_program_build(d, "halo", NULL, 0, &d->services));
    size_t word = f->element_bytes == 1 ? 0 : f->element_bytes == 4 ? 1 : f->element_bytes == 8 ? 2 : 3;
    return bn_kernel_find(d->services, &by_word[word], out);
}

/* Elements that lie together at a point: an interleaved field is moved like one of a single component on longer rows.
 */
static long together(const bn_field *f) { return (f->desc.role & BN_INTERLEAVED) ? f->desc.components : 1; }

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
                                    cl_uint waits, const cl_event *wait, cl_event *done)
{
    const long width = together(f);
    const int components = (f->desc.role & BN_INTERLEAVED) ? 1 : f->desc.components;
    const cl_int extent[4] = { (cl_int)(n[0] * width), (cl_int)n[1], (cl_int)n[2], components };
    for (cl_uint i = 0; i < 4; i++)
        BN_TRY(bn_set_arg(k, box, at + i, sizeof extent[i], &extent[i]));
    const size_t items[3] = { (size_t)(n[0] * width), (size_t)n[1], (size_t)n[2] * (size_t)components };
    const size_t none[3] = { 0, 0, 0 };
    /* A thin block along x is one item wide: a shape that follows the block keeps work-groups full. */
    size_t limit = k->max_group < 64 ? k->max_group : 64, local[3] = { 1, 1, 1 }, global[3];
    for (int i = 0; i < 2; i++)
        while (local[i] * 2 <= items[i] && local[0] * local[1] * 2 <= limit)
            local[i] *= 2;
    for (int i = 0; i < 3; i++)
        global[i] = (items[i] + local[i] - 1) / local[i] * local[i];
    k->calls++;
    return bn_enqueue_after(k, box, none, global, local, waits, wait, done);
}

bn_status bn_halo_copy(bn_field *f, size_t from, const long from_first[3], size_t to, const long to_first[3],
                       const long n[3])
{
    bn_domain *d = f->domain;
    bn_kernel *k;
    BN_TRY(find_service(f, copy_kernels, &k));
    BN_TRY(bn_set_arg(k, to, 0, sizeof(cl_mem), &f->buffers[from]->mem));
    BN_TRY(bn_set_arg(k, to, 1, sizeof(cl_mem), &f->buffers[to]->mem));
    BN_TRY(set_place(k, to, 2, &d->shapes[d->boxes[from].shape].layout, from_first, together(f)));
    BN_TRY(set_place(k, to, 6, &d->shapes[d->boxes[to].shape].layout, to_first, together(f)));
    return set_extent_and_run(k, to, 10, n, f, 0, NULL, NULL);
}

size_t bn_block_end(size_t bytes)
{
    enum { ALIGN = 16 }; /* the largest element */
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

size_t bn_halo_block_bytes(const bn_field *f, const long n[3])
{
    return bn_block_end((size_t)(n[0] * n[1] * n[2]) * (size_t)f->desc.components * f->element_bytes);
}

bn_status bn_block_move(bn_field *f, size_t box, const long first[3], const long n[3], const bn_buffer *buffer,
                        const cl_long lie[4], bool unpack, cl_uint waits, const cl_event *wait, cl_event *done)
{
    bn_domain *d = f->domain;
    bn_kernel *k;
    BN_TRY(find_service(f, copy_kernels, &k));
    const cl_mem *from = unpack ? &buffer->mem : &f->buffers[box]->mem,
                 *to = unpack ? &f->buffers[box]->mem : &buffer->mem;
    BN_TRY(bn_set_arg(k, box, 0, sizeof(cl_mem), from));
    BN_TRY(bn_set_arg(k, box, 1, sizeof(cl_mem), to));
    BN_TRY(set_place(k, box, unpack ? 6 : 2, &d->shapes[d->boxes[box].shape].layout, first, together(f)));
    for (cl_uint i = 0; i < 4; i++)
        BN_TRY(bn_set_arg(k, box, (unpack ? 2 : 6) + i, sizeof lie[i], &lie[i]));
    return set_extent_and_run(k, box, 10, n, f, waits, wait, done);
}

bn_status bn_halo_pack(bn_field *f, size_t box, const long first[3], const long n[3], bn_buffer *buffer,
                       size_t at_bytes, bool unpack, cl_uint waits, const cl_event *wait, cl_event *done)
{
    const cl_long row = n[0] * together(f);
    const cl_long dense[4] = { (cl_long)(at_bytes / f->element_bytes), row, row * n[1], row * n[1] * n[2] };
    return bn_block_move(f, box, first, n, buffer, dense, unpack, waits, wait, done);
}

static bn_status fill_block(bn_field *f, size_t box, const bn_block *block, cl_uint paint)
{
    bn_domain *d = f->domain;
    if (block->n[0] <= 0 || block->n[1] <= 0 || block->n[2] <= 0)
        return BN_OK;
    bn_kernel *k;
    BN_TRY(find_service(f, fill_kernels, &k));
    BN_TRY(bn_set_arg(k, box, 0, sizeof(cl_mem), &f->buffers[box]->mem));
    BN_TRY(bn_set_arg(k, box, 1, sizeof paint, &paint));
    BN_TRY(set_place(k, box, 2, &d->shapes[d->boxes[box].shape].layout, block->first, together(f)));
    return set_extent_and_run(k, box, 6, block->n, f, 0, NULL, NULL);
}

long bn_box_at(const bn_domain *d, const bn_box *box, const int step[3])
{
    int place[3];
    for (int k = 0; k < 3; k++) {
        place[k] = box->place[k] + step[k];
        if (step[k] != 0 && k >= d->desc.grid.dims)
            return -1;
        if (place[k] < 0 || place[k] >= d->lattice[k]) {
            if (!d->desc.grid.periodic[k])
                return -1;
            place[k] = (place[k] + d->lattice[k]) % d->lattice[k];
        }
    }
    return place[0] + (long)d->lattice[0] * (place[1] + (long)d->lattice[1] * place[2]);
}

bn_status bn_halo_exchange(bn_field *f, int reach)
{
    bn_domain *d = f->domain;
    const int *halo = d->shapes[0].layout.halo;
    for (int dim = 0; dim < d->desc.grid.dims; dim++)
        for (size_t b = 0; b < d->box_count; b++)
            for (int side = -1; side <= 1; side += 2) {
                const bn_box *box = &d->boxes[b];
                int step[3] = { 0, 0, 0 };
                step[dim] = side;
                const long other = bn_box_at(d, box, step);
                if (other < 0)
                    continue;
                long to[3], from[3], n[3];
                for (int k = 0; k < 3; k++) {
                    long wide = k < dim ? halo[k] : 0; /* halos of earlier phases go along: corners */
                    to[k] = from[k] = -wide;
                    n[k] = (long)box->n[k] + 2 * wide;
                }
                n[dim] = reach;
                to[dim] = side < 0 ? -reach : (long)box->n[dim];
                from[dim] = side < 0 ? (long)d->boxes[other].n[dim] - reach : 0;
                BN_TRY(bn_halo_copy(f, (size_t)other, from, b, to, n));
            }
    bn_halo_set(f, reach);
    return BN_OK;
}

/* Debug contexts: NaN in every halo but in its first `valid` cells, so that a launch whose declared reach is too small
 * shows at once. */
bn_status bn_halo_poison(bn_field *f, int valid)
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
                block.n[dim] = halo[dim] - valid;
                block.first[dim] = side < 0 ? -halo[dim] : (long)d->boxes[b].n[dim] + valid;
                BN_TRY(fill_block(f, b, &block, 0x7fc0beefu));
            }
    return BN_OK;
}

bn_status bn_field_clear(bn_field *f)
{
    bn_domain *d = f->domain;
    const cl_uint nothing = 0;
    for (size_t b = 0; b < d->box_count; b++) {
        if (!d->boxes[b].device)
            continue;
        if (!bn_context_debug(d->ctx)) { /* halos and padding too: no kernel has to be built for it */
            const bn_device *device = d->boxes[b].device;
            BN_CL(device, f->desc.name, clEnqueueFillBuffer, device->queue, f->buffers[b]->mem, &nothing,
                  f->buffers[b]->bytes % sizeof nothing ? 1 : sizeof nothing, 0, f->buffers[b]->bytes, 0, NULL, NULL);
            continue;
        }
        const uint32_t *n = d->boxes[b].n;
        const bn_block own = { { 0, 0, 0 }, { n[0], n[1], n[2] } };
        BN_TRY(fill_block(f, b, &own, 0));
    }
    bn_halo_set(f, 0);
    return BN_OK;
}
