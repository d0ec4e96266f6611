/* channel.c: messages between boxes of different devices, through pinned host memory (channel.h). */
#include "comm/channel.h"

#include "grid/regions.h"

#include <stdlib.h>

bool bn_channel_exists(const bn_box *from, const bn_box *to)
{
    return (from->device || to->device) && !bn_same_device(from, to);
}

int bn_channel_tag(size_t number)
{
    enum { TAGS = 32768 }; /* what every MPI allows; order tells apart what shares one */
    return (int)(number % TAGS);
}

void bn_channel_event(cl_event *kept, cl_event fresh)
{
    if (*kept)
        clReleaseEvent(*kept);
    *kept = fresh;
}

bn_status bn_channel_mark(const bn_device *device, cl_event *mark, cl_event *kept)
{
    if (*mark)
        BN_CL(device, "messages between devices", clRetainEvent, *mark);
    else
        BN_CL(device, "messages between devices", clEnqueueMarkerWithWaitList, device->queue, 0, NULL, mark);
    bn_channel_event(kept, *mark);
    return BN_OK;
}

/* The events that there are among two. */
static cl_uint events_of(cl_event a, cl_event b, cl_event out[2])
{
    cl_uint n = 0;
    if (a)
        out[n++] = a;
    if (b)
        out[n++] = b;
    return n;
}

void bn_channel_release(bn_channel *l)
{
    bn_channel_event(&l->packed, NULL);
    bn_channel_event(&l->read, NULL);
    bn_channel_event(&l->written, NULL);
    bn_channel_event(&l->unpacked, NULL);
    bn_pinned_free(&l->host);
    free(l->pieces);
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

static bn_status flush(const bn_device *device, cl_command_queue queue)
{
    BN_CL(device, "messages between devices", clFlush, queue);
    return BN_OK;
}

static bn_status wait_for(const bn_device *device, cl_event event)
{
    if (event)
        BN_CL(device, "messages between devices", clWaitForEvents, 1, &event);
    return BN_OK;
}

/* A piece between its device and the host. Calls for rectangles take the host twice as long as others. */
static bn_status move_piece(const bn_channel_piece *p, bool out, void *data, cl_uint waits, const cl_event *wait,
                            cl_event *done)
{
    const bn_rect *r = out ? &p->source : &p->target;
    const bn_device *device = r->box->device;
    const char *name = r->buffer->name;
    const bool one = p->region[1] == 1 && p->region[2] == 1;
    const size_t start = r->at[2] * r->slice + r->at[1] * r->row + r->at[0], origin[3] = { 0, 0, 0 };
    if (out && one)
        BN_CL(device, name, clEnqueueReadBuffer, device->outgoing, r->buffer->mem, CL_FALSE, start, p->region[0], data,
              waits, wait, done);
    else if (out)
        BN_CL(device, name, clEnqueueReadBufferRect, device->outgoing, r->buffer->mem, CL_FALSE, r->at, origin,
              p->region, r->row, r->slice, 0, 0, data, waits, wait, done);
    else if (one)
        BN_CL(device, name, clEnqueueWriteBuffer, device->incoming, r->buffer->mem, CL_FALSE, start, p->region[0], data,
              waits, wait, done);
    else
        BN_CL(device, name, clEnqueueWriteBufferRect, device->incoming, r->buffer->mem, CL_FALSE, r->at, origin,
              p->region, r->row, r->slice, 0, 0, data, waits, wait, done);
    return BN_OK;
}

/* All pieces; the first one waits, and the queue is in order. */
static bn_status move_pieces(const bn_channel *l, bool out, cl_uint waits, const cl_event *wait, cl_event *done)
{
    for (size_t i = 0; i < l->piece_count; i++)
        BN_TRY(move_piece(&l->pieces[i], out, (char *)l->host.data + l->pieces[i].at, i == 0 ? waits : 0,
                          i == 0 && waits ? wait : NULL, i + 1 == l->piece_count ? done : NULL));
    return BN_OK;
}

/* From the sender's device to the host; `one_context`: events order it with the receiver's device, which reads the same
 * memory. */
static bn_status read_out(bn_channel *l, bool one_context)
{
    const bn_device *device = l->source->device;
    cl_event waits[2], read;
    const cl_uint n = events_of(l->packed, one_context ? l->written : NULL, waits);
    if (l->piece_count > 0)
        BN_TRY(move_pieces(l, true, n, waits, &read));
    else
        BN_CL(device, l->send->name, clEnqueueReadBuffer, device->outgoing, l->send->mem, CL_FALSE, l->send_at,
              l->bytes, l->host.data, n, n ? waits : NULL, &read);
    bn_channel_event(&l->read, read);
    return flush(device, device->outgoing);
}

static bn_status write_in(bn_channel *l, cl_event after)
{
    const bn_device *device = l->target->device;
    cl_event waits[2], written;
    const cl_uint n = events_of(after, l->unpacked, waits);
    if (l->piece_count > 0)
        BN_TRY(move_pieces(l, false, n, waits, &written));
    else
        BN_CL(device, l->receive->name, clEnqueueWriteBuffer, device->incoming, l->receive->mem, CL_FALSE, 0, l->bytes,
              l->host.data, n, n ? waits : NULL, &written);
    bn_channel_event(&l->written, written);
    return flush(device, device->incoming);
}

/* Both devices are here and share a context. */
static bool in_one_context(const bn_channel *l)
{
    const bn_device *from = l->source->device, *to = l->target->device;
    return from && to && from->cl == to->cl;
}

bn_status bn_channels_expect(bn_domain *d, bn_channel *channels, size_t count)
{
    const bn_comm_ops *ops = d->ctx->comm.ops;
    for (size_t i = 0; i < count; i++) {
        bn_channel *l = &channels[i];
        if (l->source->device || l->bytes == 0)
            continue;
        BN_TRY(wait_for(l->target->device, l->written)); /* the memory may still be on its way to the device */
        const bn_message m = { l->source->rank, l->tag, l->host.data, l->bytes };
        ops->receive(&m);
    }
    return BN_OK;
}

bn_status bn_channels_send(bn_channel *channels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (channels[i].source->device && channels[i].bytes > 0)
            BN_TRY(read_out(&channels[i], in_one_context(&channels[i])));
    for (size_t i = 0; i < count; i++)
        if (in_one_context(&channels[i]) && channels[i].bytes > 0)
            BN_TRY(write_in(&channels[i], channels[i].read));
    return BN_OK;
}

bn_status bn_channels_deliver(bn_domain *d, bn_channel *channels, size_t count)
{
    const bn_comm_ops *ops = d->ctx->comm.ops;
    for (size_t i = 0; i < count; i++) {
        bn_channel *l = &channels[i];
        const bn_device *from = l->source->device, *to = l->target->device;
        if (!from || l->bytes == 0 || in_one_context(l))
            continue;
        BN_TRY(wait_for(from, l->read));
        if (to) {
            BN_TRY(wait_for(to, l->unpacked)); /* events of another context can't be given to the write */
            BN_TRY(write_in(l, NULL));
            BN_TRY(wait_for(to, l->written)); /* the next message goes through the same memory */
        } else {
            const bn_message m = { l->target->rank, l->tag, l->host.data, l->bytes };
            ops->send(&m);
        }
    }
    if (ops)
        ops->wait();
    for (size_t i = 0; i < count; i++)
        if (!channels[i].source->device && channels[i].bytes > 0)
            BN_TRY(write_in(&channels[i], NULL));
    return BN_OK;
}
