/* channel.c: messages between boxes of different devices, through pinned host memory (channel.h). */
#include "comm/channel.h"

#include "device/calls.h"
#include "grid/queues.h"
#include "grid/regions.h"

#include <stdlib.h>
#include <string.h>

/* Whether messages from one box to the other concern this rank. */
static bool exists(const bn_box *from, const bn_box *to)
{
    return (from->device || to->device) && !bn_same_device(from, to);
}

/* The number of a channel among all that there can be, the same on all ranks, as the tag of its messages. */
static int tag_of(size_t number)
{
    enum { TAGS = 32768 }; /* what every MPI allows; order tells apart what shares one */
    return (int)(number % TAGS);
}

static const char doing[] = "messages between devices";

/* Messages begin at multiples of this in host memory. Parts have so many bytes at least: the calls for one take as long
 * as some hundred KiB travel. */
enum { BN_MESSAGE_ALIGN = 64, BN_PART_BYTES = 1 << 20 };

bn_status bn_channel_room(bn_channel *l, size_t bytes)
{
    const size_t each = (bytes + BN_MESSAGE_ALIGN - 1) / BN_MESSAGE_ALIGN * BN_MESSAGE_ALIGN;
    return bn_pinned_need(l->source->device ? l->source->device : l->target->device, &l->host, 2 * each);
}

/* Where the message under way stands in host memory. */
static char *message(const bn_channel *l)
{
    const size_t each = l->host.bytes / 2 / BN_MESSAGE_ALIGN * BN_MESSAGE_ALIGN;
    return (char *)l->host.data + l->number % 2 * each;
}

static void destroy(bn_channel *l)
{
    bn_buffer_destroy(&l->send);
    bn_buffer_destroy(&l->receive);
    cl_event *const events[] = { &l->packed, &l->read, &l->written, &l->unpacked };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        bn_event_put(events[i], NULL);
    for (size_t i = 0; i < BN_CHANNEL_PARTS; i++)
        bn_event_put(&l->read_part[i], NULL);
    bn_pinned_free(&l->host);
    free(l->pieces);
}

bn_status bn_channels_find(const bn_domain *d, bool (*needs)(const bn_domain *, size_t from, size_t to),
                           const char *what, bn_channel **out, size_t *count)
{
    *out = NULL;
    *count = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t found = 0;
        for (size_t from = 0; from < d->box_count; from++)
            for (size_t to = 0; to < d->box_count; to++) {
                const bn_box *source = &d->boxes[from], *target = &d->boxes[to];
                if (!exists(source, target) || !needs(d, from, to))
                    continue;
                if (pass == 1)
                    (*out)[found] = (bn_channel){ .from = from,
                                                  .to = to,
                                                  .source = source,
                                                  .target = target,
                                                  .tag = tag_of(from * d->box_count + to) };
                found++;
            }
        if (pass == 0 && !(*out = calloc(found + 1, sizeof **out)))
            return bn_fail(d->ctx, BN_MEMORY, "no memory for %s", what);
        *count = pass == 1 ? found : 0;
    }
    return BN_OK;
}

void bn_channels_destroy(bn_channel *channels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        destroy(&channels[i]);
    free(channels);
}

void bn_channel_empty(bn_channel *l)
{
    l->piece_count = 0;
    l->bytes = 0;
}

bn_status bn_channel_add(bn_context *ctx, bn_channel *l, const bn_channel_piece *piece)
{
    if (l->piece_count == l->piece_room) {
        const size_t room = 2 * l->piece_room + 4;
        bn_channel_piece *more = realloc(l->pieces, room * sizeof *more);
        if (!more)
            return bn_fail(ctx, BN_MEMORY, "no memory for %zu pieces of a message", room);
        l->pieces = more;
        l->piece_room = room;
    }
    l->pieces[l->piece_count++] = *piece;
    return BN_OK;
}

/* A piece between its device and the host. */
static bn_status move_piece(const bn_channel_piece *p, bool out, bn_copy *c)
{
    const bn_rect *r = out ? &p->source : &p->target;
    c->mem = r->buffer->mem;
    memcpy(c->at, r->at, sizeof c->at);
    memcpy(c->region, p->region, sizeof c->region);
    c->row = r->row;
    c->slice = r->slice;
    c->host_row = p->region[0];
    c->host_slice = p->region[0] * p->region[1];
    return bn_call_copy(r->box->device, r->buffer->name, c);
}

/* How many parts the message has: one, if it is of pieces. */
static size_t parts_of(const bn_channel *l)
{
    const size_t parts = l->bytes / BN_PART_BYTES;
    return l->piece_count > 0 || parts < 1 ? 1 : parts < BN_CHANNEL_PARTS ? parts : BN_CHANNEL_PARTS;
}

static cl_event *read_of(bn_channel *l, size_t part) { return part + 1 < parts_of(l) ? &l->read_part[part] : &l->read; }

static bn_status move_pieces(bn_channel *l, bool out, const bn_copy *all)
{
    for (size_t i = 0; i < l->piece_count; i++) {
        bn_copy c = *all;
        if (i > 0)
            c.wait[0] = c.wait[1] = NULL; /* the queue is in order */
        if (i + 1 < l->piece_count)
            c.done = NULL;
        c.data = message(l) + l->pieces[i].at;
        BN_TRY(move_piece(&l->pieces[i], out, &c));
    }
    return BN_OK;
}

/* A part of the message between its device and the host, after up to two events. */
static bn_status move(bn_channel *l, bool out, size_t part, const cl_event *first, const cl_event *second)
{
    bn_device *device = (out ? l->source : l->target)->device;
    const size_t parts = parts_of(l), begin = l->bytes * part / parts, end = l->bytes * (part + 1) / parts;
    const bn_buffer *buffer = out ? l->send : l->receive;
    cl_event *written = part + 1 < parts ? NULL : &l->written;
    bn_copy c = { .queue = out ? device->outgoing : device->incoming,
                  .data = message(l) + begin,
                  .write = !out,
                  .region = { end - begin, 1, 1 },
                  .wait = { first, second },
                  .done = out ? read_of(l, part) : written };
    if (l->piece_count > 0)
        return move_pieces(l, out, &c);
    c.mem = buffer->mem;
    c.at[0] = (out ? l->send_at : 0) + begin;
    return bn_call_copy(device, buffer->name, &c);
}

/* All of them to the device, where the message is in host memory. */
static bn_status write_all(bn_channel *l)
{
    for (size_t part = 0; part < parts_of(l); part++)
        BN_TRY(move(l, false, part, part == 0 ? &l->unpacked : NULL, NULL));
    return BN_OK;
}

bn_status bn_channels_flush(bn_domain *d, bool out)
{
    for (size_t m = 0; m < d->local_count; m++) {
        bn_device *device = bn_local_device(d, m);
        const cl_command_queue queue = out ? device->outgoing : device->incoming;
        if (queue) /* there is one where there are other devices */
            BN_TRY(bn_call_flush(device, doing, queue));
    }
    return BN_OK;
}

/* The caller's wait for an event of a device, where a rank has a part. */
static bn_status wait_for(const bn_device *device, const cl_event *event)
{
    BN_TRY(bn_calls_made(device));
    if (*event)
        BN_CL(device, doing, clWaitForEvents, 1, event);
    return BN_OK;
}

/* Of calls between devices of this rank. */
typedef struct bn_handover {
    bn_channel *channel;
    unsigned long number;
    size_t part;
    const cl_event *read;
} bn_handover;

static cl_int wait_in_call(cl_event event, const char **call)
{
    *call = "clWaitForEvents";
    return event ? clWaitForEvents(1, &event) : CL_SUCCESS;
}

/* What `sent` is when a part is in host memory: of whole messages BN_CHANNEL_PARTS each, however many they have. */
static unsigned long count_of(const bn_handover *h)
{
    const bool last = h->read == &h->channel->read;
    return last ? h->number * BN_CHANNEL_PARTS : (h->number - 1) * BN_CHANNEL_PARTS + h->part + 1;
}

/* The sender, before it reads into memory that held the last message but one. */
static cl_int await_room(bn_device *d, const void *arguments, const char **call)
{
    const bn_handover *h = arguments;
    (void)call;
    if (h->number > 2)
        bn_thread_await(d, &h->channel->taken, h->number - 2);
    return CL_SUCCESS;
}

/* The sender: the part is in host memory. */
static cl_int post_part(bn_device *d, const void *arguments, const char **call)
{
    const bn_handover *h = arguments;
    (void)d;
    const cl_int status = wait_in_call(*h->read, call);
    bn_thread_post(h->channel->target->device, &h->channel->sent, count_of(h));
    return status;
}

/* The receiver: waits for it; the message before has long been written, and its place is free. */
static cl_int await_part(bn_device *d, const void *arguments, const char **call)
{
    const bn_handover *h = arguments;
    bn_thread_await(d, &h->channel->sent, count_of(h));
    if (h->part > 0)
        return CL_SUCCESS;
    const cl_int status = wait_in_call(h->channel->written, call);
    bn_thread_post(h->channel->source->device, &h->channel->taken, h->number - 1);
    return status;
}

static bn_status hand_over(bn_channel *l, bn_call *call, size_t part, bool receives, bool soon)
{
    const bn_handover h = { l, l->number, part, read_of(l, part) };
    return bn_call_list((receives ? l->target : l->source)->device, doing, call, &h, sizeof h, soon);
}

static bool here(const bn_channel *l) { return l->source->device && l->target->device; }

/* Both devices are here, and events of one order what the other does. */
static bool in_one_context(const bn_channel *l) { return here(l) && l->source->device->cl == l->target->device->cl; }

bn_status bn_channels_expect(bn_domain *d, bn_channel *channels, size_t count)
{
    const bn_comm_ops *ops = d->ctx->comm.ops;
    for (size_t i = 0; i < count; i++) {
        bn_channel *l = &channels[i];
        if (l->source->device || l->bytes == 0)
            continue;
        BN_TRY(wait_for(l->target->device, &l->written)); /* the memory may still be on its way to the device */
        const bn_message m = { l->source->rank, l->tag, message(l), l->bytes };
        ops->receive(&m);
    }
    return BN_OK;
}

/* Parts of the longest message. */
static size_t most_parts(const bn_channel *channels, size_t count)
{
    size_t most = 1;
    for (size_t i = 0; i < count; i++)
        most = channels[i].bytes > 0 && parts_of(&channels[i]) > most ? parts_of(&channels[i]) : most;
    return most;
}

static bool has_part(const bn_channel *l, size_t part) { return l->bytes > 0 && part < parts_of(l); }

bn_status bn_channels_send(bn_domain *d, bn_channel *channels, size_t count)
{
    const size_t parts = most_parts(channels, count);
    for (size_t i = 0; i < count; i++) {
        bn_channel *l = &channels[i];
        if (l->bytes == 0 || !here(l) || in_one_context(l))
            continue;
        l->number++;
        BN_TRY(hand_over(l, await_room, 0, false, true));
    }
    for (size_t part = 0; part < parts; part++)
        for (size_t i = 0; i < count; i++) {
            bn_channel *l = &channels[i];
            const bool first = part == 0; /* the queue is in order */
            if (l->source->device && has_part(l, part))
                BN_TRY(move(l, true, part, first ? &l->packed : NULL, first && in_one_context(l) ? &l->written : NULL));
        }
    BN_TRY(bn_channels_flush(d, true));
    for (size_t part = 0; part < parts; part++)
        for (size_t i = 0; i < count; i++) {
            bn_channel *l = &channels[i];
            if (has_part(l, part) && in_one_context(l))
                BN_TRY(move(l, false, part, read_of(l, part), part == 0 ? &l->unpacked : NULL));
        }
    return BN_OK;
}

/* Between devices that have threads: the sender says of each part that it is there, and then writes those that have
 * come to it before it waits for its next ones. */
static bn_status deliver_here(bn_domain *d, bn_channel *channels, size_t count)
{
    const size_t parts = most_parts(channels, count);
    for (size_t part = 0; part < parts; part++) {
        for (int receives = 0; receives < 2; receives++)
            for (size_t i = 0; i < count; i++) {
                bn_channel *l = &channels[i];
                if (!has_part(l, part) || !here(l) || in_one_context(l))
                    continue;
                BN_TRY(hand_over(l, receives ? await_part : post_part, part, receives, receives));
                if (receives)
                    BN_TRY(move(l, false, part, part == 0 ? &l->unpacked : NULL, NULL));
            }
        if (part + 1 < parts)
            BN_TRY(bn_channels_flush(d, false));
    }
    return BN_OK;
}

bn_status bn_channels_deliver(bn_domain *d, bn_channel *channels, size_t count)
{
    const bn_comm_ops *ops = d->ctx->comm.ops;
    BN_TRY(deliver_here(d, channels, count));
    for (size_t i = 0; i < count; i++) {
        bn_channel *l = &channels[i];
        if (!l->source->device || l->bytes == 0 || here(l))
            continue;
        BN_TRY(wait_for(l->source->device, &l->read));
        const bn_message m = { l->target->rank, l->tag, message(l), l->bytes };
        ops->send(&m);
    }
    if (ops)
        ops->wait();
    for (size_t i = 0; i < count; i++)
        if (!channels[i].source->device && channels[i].bytes > 0)
            BN_TRY(write_all(&channels[i]));
    return BN_OK;
}
