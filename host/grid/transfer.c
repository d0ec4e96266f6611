/* transfer.c: between host memory in C order and the own cells of the boxes, padding left out. */
#include "grid/transfer.h"

#include "device/calls.h"

#include "grid/queues.h"
#include "grid/regions.h"

#include <stdlib.h>
#include <string.h>

size_t bn_field_unit(const bn_field *f, int *first, int *count)
{
    if (!(f->desc.role & BN_INTERLEAVED))
        return f->element_bytes;
    *first = 0;
    *count = 1;
    return f->element_bytes * (size_t)f->desc.components;
}

/* Between `values`, which hold the region `room`, and a dense block of the points of `part`. */
static void move_part(const bn_region *room, const bn_region *part, size_t eb, int count, char *values, char *block,
                      bool to_block)
{
    const size_t row = part->n[0] * eb;
    for (int c = 0; c < count; c++)
        for (uint32_t k = 0; k < part->n[2]; k++)
            for (uint32_t j = 0; j < part->n[1]; j++, block += row) {
                const size_t slice = (size_t)c * room->n[2] + part->first[2] + k - room->first[2];
                char *at = values + ((slice * room->n[1] + part->first[1] + j - room->first[1]) * room->n[0] +
                                     part->first[0] - room->first[0]) *
                                        eb;
                memcpy(to_block ? block : at, to_block ? at : block, row);
            }
}

/* The parts of other ranks: everyone gets the whole region. */
static bn_status complete(bn_field *f, int count, size_t eb, const bn_region *region, char *values)
{
    bn_domain *d = f->domain;
    const bn_comm *comm = &d->ctx->comm;
    bn_region part;
    size_t most = 0;
    if (!bn_domain_across_ranks(d))
        return BN_OK;
    for (size_t b = 0; b < d->box_count; b++)
        if (bn_box_common(&d->boxes[b], region, &part)) {
            const size_t bytes = bn_region_points(&part) * eb * (size_t)count;
            most = bytes > most ? bytes : most;
        }
    char *block = malloc(most + 1);
    if (!block)
        return bn_fail(d->ctx, BN_MEMORY, "no memory to read field %s on all ranks", f->desc.name);
    for (size_t b = 0; b < d->box_count; b++) {
        const bn_box *box = &d->boxes[b];
        if (!bn_box_common(box, region, &part))
            continue;
        if (box->rank == comm->rank)
            move_part(region, &part, eb, count, values, block, true);
        comm->ops->broadcast(box->rank, block, bn_region_points(&part) * eb * (size_t)count);
        if (box->rank != comm->rank)
            move_part(region, &part, eb, count, values, block, false);
    }
    free(block);
    return BN_OK;
}

bn_rect bn_rect_in(const bn_field *f, size_t b, int component, const long first[3], size_t eb)
{
    const bn_box *box = &f->domain->boxes[b];
    const bn_layout *l = &f->domain->shapes[box->shape].layout;
    return (bn_rect){ box,
                      f->buffers[b],
                      { (size_t)((long)l->left + first[0]) * eb, (size_t)(l->halo[1] + first[1]),
                        (size_t)component * l->layers + (size_t)(l->halo[2] + first[2]) },
                      l->pitch * eb,
                      l->slice * eb };
}

bn_rect bn_rect_of(const bn_field *f, size_t b, int component, const uint32_t first[3], size_t eb)
{
    const uint32_t *box = f->domain->boxes[b].offset;
    const long own[3] = { (long)first[0] - (long)box[0], (long)first[1] - (long)box[1], (long)first[2] - (long)box[2] };
    return bn_rect_in(f, b, component, own, eb);
}

/* Points `part` of a box, which may lie in its halo, from or to `values`, which hold the region `room`. `aside`: in the
 * queue of outgoing messages, after what was marked in the other one. */
static bn_status enqueue(bn_field *f, size_t b, int first, int count, size_t eb, const bn_region *room,
                         const bn_region *part, void *values, bool write, bool aside)
{
    const bn_domain *d = f->domain;
    const bn_box *box = &d->boxes[b];
    const size_t host_row = room->n[0] * eb, host_slice = host_row * room->n[1];
    const size_t region[3] = { part->n[0] * eb, part->n[1], part->n[2] };
    for (int c = 0; c < count; c++) {
        const bn_rect r = bn_rect_of(f, b, first + c, part->first, eb);
        const size_t in_host[3] = { (part->first[0] - room->first[0]) * eb, part->first[1] - room->first[1],
                                    (size_t)c * room->n[2] + part->first[2] - room->first[2] };
        const bn_copy copy = { .queue = aside ? box->device->outgoing : box->device->queue,
                               .wait = { aside ? &box->device->fork.before : NULL },
                               .mem = r.buffer->mem,
                               .data = values,
                               .write = write,
                               .moves = true,
                               .at = { r.at[0], r.at[1], r.at[2] },
                               .in_host = { in_host[0], in_host[1], in_host[2] },
                               .region = { region[0], region[1], region[2] },
                               .row = r.row,
                               .slice = r.slice,
                               .host_row = host_row,
                               .host_slice = host_slice };
        BN_TRY(bn_call_copy(box->device, f->desc.name, &copy));
    }
    return BN_OK;
}

bn_status bn_field_enqueue_box(bn_field *f, size_t box, const bn_region *region, void *values)
{
    int first = 0, count = f->desc.components;
    const size_t eb = bn_field_unit(f, &first, &count);
    return enqueue(f, box, first, count, eb, region, region, values, false, false);
}

static bn_status enqueue_all(bn_field *f, int first, int count, size_t eb, const bn_region *region, void *values,
                             bool write, bool aside)
{
    const bn_domain *d = f->domain;
    for (size_t b = 0; b < d->box_count; b++) {
        bn_region part;
        if (d->boxes[b].device && bn_box_common(&d->boxes[b], region, &part))
            BN_TRY(enqueue(f, b, first, count, eb, region, &part, values, write, aside));
    }
    return BN_OK;
}

bn_status bn_field_read_aside(bn_field *f, const bn_region *region, void *values)
{
    int first = 0, count = f->desc.components;
    const size_t eb = bn_field_unit(f, &first, &count);
    return enqueue_all(f, first, count, eb, region, values, false, true);
}

/* Reads once more what has just been read (bn_domain_read_twice). */
static bn_status read_again(bn_field *f, int first, int count, size_t eb, const bn_region *region, const void *values)
{
    const size_t bytes = bn_region_points(region) * eb * (size_t)count;
    void *again = malloc(bytes);
    if (!again)
        return bn_fail(f->domain->ctx, BN_MEMORY, "no memory to read field %s twice", f->desc.name);
    memcpy(again, values, bytes); /* cells of other ranks */
    bn_status st = enqueue_all(f, first, count, eb, region, again, false, false);
    if (st == BN_OK)
        st = bn_wait_for_launches(f->domain, f->desc.name);
    if (st == BN_OK && memcmp(again, values, bytes) != 0)
        st = bn_read_differs(f->domain->device, f->desc.name);
    free(again);
    return st;
}

bn_status bn_field_transfer(bn_field *f, int first, int count, const bn_region *region, void *values, bool write,
                            bool wait)
{
    bn_domain *d = f->domain;
    const size_t eb = bn_field_unit(f, &first, &count);
    if (f->host) {
        const bn_region whole = bn_domain_whole(d);
        move_part(&whole, region, eb, count, (char *)f->host + bn_domain_points(d) * eb * (size_t)first, values,
                  !write);
        return BN_OK;
    }
    BN_TRY(enqueue_all(f, first, count, eb, region, values, write, false));
    if (wait)
        BN_TRY(bn_wait_for_launches(d, f->desc.name));
    if (wait && !write && d->device->reads_twice)
        BN_TRY(read_again(f, first, count, eb, region, values));
    d->device->counts.waits += wait;
    return wait && !write ? complete(f, count, eb, region, values) : BN_OK;
}
