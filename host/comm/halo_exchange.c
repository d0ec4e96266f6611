/* halo_exchange.c: halos of boxes on different devices. All that one box needs of another, of all fields of a launch
 * and corners included, is one message (channel.h), packed by kernels on the sender's device and unpacked by kernels on
 * the receiver's; where it is made of whole rows of a plane, they are copied from field to field. Corners come from the
 * diagonal neighbour itself, not in a second round: a round that follows another could not begin before the kernels
 * launched in between are done. */
#include "comm/halo_exchange.h"

#include "comm/channel.h"
#include "device/calls.h"
#include "grid/block_copy.h"
#include "grid/queues.h"
#include "grid/regions.h"

#include <stdlib.h>
#include <string.h>

static const char doing[] = "exchanging halos";

/* Attached to a domain. */
typedef struct bn_halo_channels {
    bn_channel *channels;
    size_t count;
} bn_halo_channels;

/* Whether the reader does not need the cells that way: it steps over periodic sides by itself, or reads other sides
 * only. */
static bool unwanted(const bn_domain *d, const bn_halo_request *r, const int step[3])
{
    for (int k = 0; k < 3; k++)
        if ((r->wraps && step[k] != 0 && d->lattice[k] == 1) || (r->side != 0 && step[k] == -r->side))
            return true;
    return false;
}

/* The cells that `to` needs of `from`, a step away. */
static void block_of(const bn_domain *d, size_t from, size_t to, const int step[3], int radius, long source[3],
                     long target[3], long n[3])
{
    for (int k = 0; k < 3; k++) {
        n[k] = step[k] == 0 ? (long)d->boxes[to].n[k] : radius;
        source[k] = step[k] < 0 ? (long)d->boxes[from].n[k] - radius : 0;
        target[k] = step[k] < 0 ? -radius : step[k] > 0 ? (long)d->boxes[to].n[k] : 0;
    }
}

/* Whether a box lies beside another. */
static bool needs(const bn_domain *d, size_t from, size_t to)
{
    for (int v = 0; v < BN_DIRECTIONS; v++) {
        int step[3];
        if (bn_direction(v, step) && bn_box_at(d, &d->boxes[to], step) == (long)from)
            return true;
    }
    return false;
}

static void destroy_channels(void *object)
{
    bn_halo_channels *x = object;
    bn_channels_destroy(x->channels, x->count);
    free(x);
}

static bn_status find_channels(bn_domain *d, bn_halo_channels **out)
{
    *out = bn_attached(d->attached, destroy_channels);
    if (*out)
        return BN_OK;
    bn_halo_channels *x = *out = calloc(1, sizeof *x);
    BN_TRY(bn_attach(d->ctx, &d->attached, x, destroy_channels));
    return bn_channels_find(d, needs, "the exchange of halos", &x->channels, &x->count);
}

bn_status bn_halo_exchange_at_once(bn_domain *d, const bn_halo_request *request)
{
    BN_TRY(bn_halo_exchange_begin(d, request, 1));
    BN_TRY(bn_halo_exchange_send(d));
    return bn_halo_exchange_end(d, request, 1, false);
}

/* Whether messages are whole rows, which a device copies as fast as contiguous memory. */
static bool copies_rows(const bn_domain *d) { return d->desc.grid.dims == 2 && d->lattice[0] == 1; }

/* Gives the bytes of the piece in the message. */
static bn_status add_piece(bn_domain *d, bn_channel *l, const bn_field *f, const long source[3], const long target[3],
                           const long n[3], size_t at, size_t *bytes)
{
    int first = 0, count = f->desc.components;
    const size_t eb = bn_field_unit(f, &first, &count);
    bn_channel_piece piece = { .source = bn_rect_in(f, l->from, 0, source, eb),
                               .target = bn_rect_in(f, l->to, 0, target, eb),
                               .at = at,
                               .region = { (size_t)n[0] * eb, (size_t)n[1], (size_t)count } };
    /* Where x is not periodic nothing is read from between the rows: one contiguous copy that includes it is cheaper.
     */
    if (count == 1 && !d->desc.grid.periodic[0]) {
        piece.region[0] = piece.source.row * piece.region[1];
        piece.region[1] = 1;
        piece.source.at[0] = piece.target.at[0] = 0;
    }
    *bytes = bn_block_end(piece.region[0] * piece.region[1] * piece.region[2]);
    return bn_channel_add(d->ctx, l, &piece);
}

/* Lists, packs or unpacks the blocks of a message. The first one waits, the last one tells. */
typedef enum bn_pass { BN_PASS_LIST, BN_PASS_PACK, BN_PASS_UNPACK } bn_pass;
static bn_status each_block(bn_domain *d, bn_channel *l, const bn_halo_request *requests, size_t count, bn_pass pass,
                            const bn_order *all)
{
    size_t at = 0;
    bool first = true;
    for (size_t r = 0; r < count; r++)
        for (int v = 0; v < BN_DIRECTIONS; v++) {
            int step[3];
            long source[3], target[3], n[3];
            if (!bn_direction(v, step) || bn_box_at(d, &d->boxes[l->to], step) != (long)l->from ||
                unwanted(d, &requests[r], step))
                continue;
            block_of(d, l->from, l->to, step, requests[r].radius, source, target, n);
            size_t bytes = bn_halo_block_bytes(requests[r].field, n);
            if (pass == BN_PASS_LIST) {
                if (copies_rows(d))
                    BN_TRY(add_piece(d, l, requests[r].field, source, target, n, at, &bytes));
            } else {
                const bool last = at + bytes == l->bytes, unpack = pass == BN_PASS_UNPACK;
                const bn_order order = { first ? all->wait : NULL, last ? all->done : NULL, all->beside };
                BN_TRY(bn_halo_pack(requests[r].field, unpack ? l->to : l->from, unpack ? target : source, n,
                                    unpack ? l->receive : l->send, at, unpack, &order));
                first = false;
            }
            at += bytes;
        }
    l->bytes = at;
    return BN_OK;
}

/* Memory for the message: on the devices of this rank, and between them. */
static bn_status make_room(bn_domain *d, bn_channel *l)
{
    bn_device *from = l->source->device, *to = l->target->device;
    if (l->room >= l->bytes)
        return BN_OK;
    BN_TRY(bn_finish_all(d, doing));
    bn_buffer_destroy(&l->send);
    bn_buffer_destroy(&l->receive);
    if (from && l->piece_count == 0)
        BN_TRY(bn_buffer_create(from, &d->buffers, "halos that go out", l->bytes, &l->send));
    if (to && l->piece_count == 0)
        BN_TRY(bn_buffer_create(to, &d->buffers, "halos that come in", l->bytes, &l->receive));
    l->room = l->bytes;
    return bn_channel_room(l, l->bytes);
}

/* Messages copied from field to field wait for the kernels launched so far, which write what they read and read what
 * they write. */
static bn_status mark_launches(bn_halo_channels *x, bn_device *device)
{
    BN_TRY(bn_call_mark(device, doing, &device->fork.before));
    for (size_t i = 0; i < x->count; i++) {
        bn_channel *l = &x->channels[i];
        for (int end = 0; end < 2; end++)
            if ((end ? l->target : l->source)->device == device && l->piece_count > 0)
                BN_TRY(bn_call_share(device, doing, &device->fork.before, end ? &l->unpacked : &l->packed));
    }
    return BN_OK;
}

/* Later kernels wait for received and sent halo regions, and for `also`, if there is one. */
static bn_status hold_launches(const bn_halo_channels *x, bn_device *device, const cl_event *also)
{
    const cl_event *places[BN_HOLDS] = { also };
    size_t n = also ? 1 : 0;
    for (size_t i = 0; i < x->count; i++) {
        const bn_channel *l = &x->channels[i];
        if (l->piece_count == 0 || (l->source->device != device && l->target->device != device))
            continue;
        places[n++] = l->source->device == device ? &l->read : &l->written;
        if (n < BN_HOLDS)
            continue;
        BN_TRY(bn_call_hold(device, doing, places));
        memset(places, 0, sizeof places);
        n = 0;
    }
    return n > 0 ? bn_call_hold(device, doing, places) : BN_OK;
}

bn_status bn_halo_exchange_begin(bn_domain *d, const bn_halo_request *requests, size_t count)
{
    bn_halo_channels *x;
    BN_TRY(find_channels(d, &x));
    d->device->counts.exchanges++;
    for (size_t i = 0; i < x->count; i++) {
        bn_channel *l = &x->channels[i];
        bn_channel_empty(l);
        BN_TRY(each_block(d, l, requests, count, BN_PASS_LIST, NULL));
        BN_TRY(make_room(d, l));
    }
    for (size_t i = 0; i < x->count; i++) {
        bn_channel *l = &x->channels[i];
        const bn_device *from = l->source->device;
        if (!from || l->bytes == 0 || l->piece_count > 0)
            continue;
        BN_TRY(each_block(d, l, requests, count, BN_PASS_PACK, &(bn_order){ &l->read, &l->packed, false }));
    }
    /* Between boxes of one device, and across a periodic side to the box itself, a kernel copies. */
    for (size_t b = 0; b < d->box_count; b++)
        for (int v = 0; v < BN_DIRECTIONS; v++) {
            int step[3];
            const long other = bn_direction(v, step) ? bn_box_at(d, &d->boxes[b], step) : -1;
            if (other < 0 || !bn_same_device(&d->boxes[b], &d->boxes[other]))
                continue;
            for (size_t r = 0; r < count; r++) {
                long source[3], target[3], n[3];
                if (unwanted(d, &requests[r], step))
                    continue;
                block_of(d, (size_t)other, b, step, requests[r].radius, source, target, n);
                BN_TRY(bn_block_copy(requests[r].field, (size_t)other, source, requests[r].field, b, target, n));
            }
        }
    for (size_t m = 0; m < d->local_count; m++)
        BN_TRY(mark_launches(x, bn_local_device(d, m)));
    return BN_OK;
}

/* Called after the launch of kernels that run meanwhile: some implementations block the caller while they copy. */
bn_status bn_halo_exchange_send(bn_domain *d)
{
    BN_TRY(bn_flush_all(d, doing)); /* messages wait for it in queues of their own */
    const bn_halo_channels *x = bn_attached(d->attached, destroy_channels);
    BN_TRY(bn_channels_expect(d, x->channels, x->count));
    return bn_channels_send(d, x->channels, x->count);
}

bn_order bn_halo_exchange_order(bn_device *device, bool last)
{
    return (bn_order){ &device->fork.before, last ? &device->fork.last : NULL, true };
}

bn_status bn_halo_exchange_join(bn_domain *d)
{
    const bn_halo_channels *x = bn_attached(d->attached, destroy_channels);
    BN_TRY(bn_channels_flush(d, false));
    for (size_t m = 0; m < d->local_count; m++)
        BN_TRY(hold_launches(x, bn_local_device(d, m), &bn_local_device(d, m)->fork.last));
    return BN_OK;
}

bn_status bn_halo_exchange_end(bn_domain *d, const bn_halo_request *requests, size_t count, bool beside)
{
    const bn_halo_channels *x = bn_attached(d->attached, destroy_channels);
    BN_TRY(bn_channels_deliver(d, x->channels, x->count));
    if (!beside)
        BN_TRY(bn_channels_flush(d, false));
    for (size_t i = 0; i < x->count; i++) {
        bn_channel *l = &x->channels[i];
        if (!l->target->device || l->bytes == 0 || l->piece_count > 0)
            continue;
        /* In the queue of incoming messages `written` has come before. */
        const bn_order order = { beside ? &l->target->device->fork.before : &l->written, &l->unpacked, beside };
        BN_TRY(each_block(d, l, requests, count, BN_PASS_UNPACK, &order));
    }
    for (size_t m = 0; !beside && m < d->local_count; m++)
        BN_TRY(hold_launches(x, bn_local_device(d, m), NULL));
    for (size_t r = 0; r < count; r++) {
        bn_field *f = requests[r].field;
        for (int side = 0; side < 2; side++)
            if (requests[r].side != (side ? -1 : 1))
                f->valid.side[side] = requests[r].radius;
        if (requests[r].side == 0)
            f->valid.unwrapped = requests[r].radius;
        if (requests[r].side == 0 && !requests[r].wraps)
            f->valid.all = requests[r].radius;
    }
    return BN_OK;
}
