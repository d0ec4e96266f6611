/* overlap.c: what boxes of a transposed domain have in common, from the box that has it for its own to the others:
 * copied on one device, to other devices a message (channel.h). */
#include "comm/overlap.h"

#include "comm/channel.h"
#include "device/calls.h"
#include "grid/block_copy.h"
#include "grid/queues.h"
#include "grid/regions.h"

#include <stdlib.h>

/* Attached to the domain. */
typedef struct bn_overlaps {
    size_t element_bytes;
    bn_channel *channels;
    size_t count;
} bn_overlaps;

static const char doing[] = "exchanging what boxes have in common";

bool bn_overlap_of(const bn_domain *d, size_t from, size_t to, uint32_t *first, uint32_t *n)
{
    const uint32_t *own = d->cuts[1] + from, begin = d->boxes[to].offset[0], end = begin + d->boxes[to].n[0];
    const uint32_t low = own[0] > begin ? own[0] : begin, high = own[1] < end ? own[1] : end;
    *first = low;
    *n = low < high ? high - low : 0;
    return d->overlaps && from != to && low < high;
}

static bool needs(const bn_domain *d, size_t from, size_t to)
{
    uint32_t first, n;
    return bn_overlap_of(d, from, to, &first, &n);
}

static void destroy(void *object)
{
    bn_overlaps *x = object;
    bn_channels_destroy(x->channels, x->count);
    free(x);
}

/* Once for fields of these elements. */
bn_status bn_overlap_begin(bn_field *f)
{
    bn_domain *d = f->domain;
    bn_overlaps *x = bn_attached(d->attached, destroy);
    d->device->counts.exchanges += d->distributed;
    if (x && x->element_bytes == f->element_bytes)
        return BN_OK;
    if (x)
        BN_TRY(bn_finish_all(d, doing));
    bn_detach(&d->attached, destroy);
    x = calloc(1, sizeof *x);
    BN_TRY(bn_attach(d->ctx, &d->attached, x, destroy));
    x->element_bytes = f->element_bytes;
    BN_TRY(bn_channels_find(d, needs, "what boxes have in common", &x->channels, &x->count));
    for (size_t i = 0; i < x->count; i++) {
        bn_channel *l = &x->channels[i];
        uint32_t first, n;
        (void)bn_overlap_of(d, l->from, l->to, &first, &n);
        l->bytes = (size_t)n * d->desc.grid.n[1] * x->element_bytes;
        if (l->source->device)
            BN_TRY(bn_buffer_create(l->source->device, &d->buffers, "overlap that goes out", l->bytes, &l->send));
        if (l->target->device)
            BN_TRY(bn_buffer_create(l->target->device, &d->buffers, "overlap that comes in", l->bytes, &l->receive));
        BN_TRY(bn_channel_room(l, l->bytes));
    }
    return BN_OK;
}

/* Between the field and the message. */
static bn_status move_block(bn_field *f, const bn_channel *l, bool out, const bn_order *order)
{
    const bn_domain *d = f->domain;
    const size_t box = out ? l->from : l->to;
    uint32_t at, points;
    (void)bn_overlap_of(d, l->from, l->to, &at, &points);
    const long first[3] = { (long)(at - d->boxes[box].offset[0]), 0, 0 };
    const long n[3] = { (long)points, (long)d->desc.grid.n[1], 1 };
    const cl_long dense[4] = { 0, n[0], n[0] * n[1], n[0] * n[1] };
    return bn_block_move(f, box, first, n, out ? l->send : l->receive, dense, !out, order);
}

bn_status bn_overlap_pack(bn_field *f, size_t box)
{
    bn_overlaps *x = bn_attached(f->domain->attached, destroy);
    for (size_t i = 0; i < x->count; i++) {
        bn_channel *l = &x->channels[i];
        if (l->from != box || !l->source->device)
            continue;
        BN_TRY(move_block(f, l, true, &(bn_order){ &l->read, &l->packed, false }));
    }
    return BN_OK;
}

bn_status bn_overlap_end(bn_field *f)
{
    bn_domain *d = f->domain;
    bn_overlaps *x = bn_attached(d->attached, destroy);
    BN_TRY(bn_flush_all(d, doing)); /* messages wait for it in queues of their own */
    BN_TRY(bn_channels_expect(d, x->channels, x->count));
    BN_TRY(bn_channels_send(d, x->channels, x->count));
    for (size_t a = 0; a < d->box_count; a++)
        for (size_t b = 0; b < d->box_count; b++) {
            uint32_t at, points;
            if (!bn_same_device(&d->boxes[a], &d->boxes[b]) || !bn_overlap_of(d, a, b, &at, &points))
                continue;
            const long from[3] = { (long)(at - d->boxes[a].offset[0]), 0, 0 };
            const long to[3] = { (long)(at - d->boxes[b].offset[0]), 0, 0 };
            const long n[3] = { (long)points, (long)d->desc.grid.n[1], 1 };
            BN_TRY(bn_block_copy(f, a, from, f, b, to, n));
        }
    BN_TRY(bn_channels_deliver(d, x->channels, x->count));
    BN_TRY(bn_channels_flush(d, false));
    for (size_t i = 0; i < x->count; i++) {
        bn_channel *l = &x->channels[i];
        if (l->target->device)
            BN_TRY(move_block(f, l, false, &(bn_order){ &l->written, &l->unpacked, false }));
    }
    return BN_OK;
}
