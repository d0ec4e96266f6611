/* exchange.c: halos of boxes on different devices. All that one box needs of another, of all fields of a launch and corners
 * included, is one message: packed on the sender's device, read into pinned host memory, and written from the same memory
 * to the receiver's device, in queues beside the one that computes, events keeping the order; only between platforms or
 * ranks does the host wait. Corners come straight from the box across, not in a second round: a round that follows another
 * could not begin before the kernels launched in between are done. */
#include "internal/context.h"
#include "internal/runtime.h"

#include <stdlib.h>
#include <string.h>

/* The way from one box to another. */
typedef struct bn_link {
    size_t from, to;
    bn_buffer *send, *receive; /* on the two devices, where they are of this rank */
    bn_pinned host;
    size_t bytes;                                 /* of the message under way */
    cl_event packed, read, written, unpacked; /* of the last message; NULL before the first */
} bn_link;

struct bn_exchange {
    bn_link *links; /* by sender, then receiver: ranks go through them in the same order */
    size_t count;
};

enum { BN_DIRECTIONS = 27 };

/* Direction number v as steps of -1, 0, 1; false for the middle. */
static bool direction(int v, int step[3])
{
    step[0] = v % 3 - 1;
    step[1] = v / 3 % 3 - 1;
    step[2] = v / 9 - 1;
    return v != BN_DIRECTIONS / 2;
}

/* Whether the reader has no use for what lies that way: it steps over periodic sides by itself, or never looks there. */
static bool unwanted(const bn_domain *d, const bn_halo_request *r, const int step[3])
{
    for (int k = 0; k < 3; k++)
        if ((r->wraps && step[k] != 0 && d->lattice[k] == 1) || (r->side != 0 && step[k] == -r->side))
            return true;
    return false;
}

/* Whether two boxes can see each other's memory: a kernel may copy between them. */
static bool same_device(const bn_box *a, const bn_box *b) { return a->device && a->device == b->device; }

static void find_far(bn_domain *d, bn_box *box)
{
    for (int v = 0; v < BN_DIRECTIONS; v++) {
        int step[3];
        const long other = direction(v, step) ? bn_box_at(d, box, step) : -1;
        for (int k = 0; other >= 0 && !same_device(box, &d->boxes[other]) && k < 3; k++)
            if (step[k] != 0)
                box->far[k][step[k] > 0] = true;
    }
}

/* The cells that `to` needs of `from`, a step away. */
static void block_of(const bn_domain *d, size_t from, size_t to, const int step[3], int reach, long source[3], long target[3],
                     long n[3])
{
    for (int k = 0; k < 3; k++) {
        n[k] = step[k] == 0 ? (long)d->boxes[to].n[k] : reach;
        source[k] = step[k] < 0 ? (long)d->boxes[from].n[k] - reach : 0;
        target[k] = step[k] < 0 ? -reach : step[k] > 0 ? (long)d->boxes[to].n[k] : 0;
    }
}

/* Whether messages from one box to another exist, and concern this rank. */
static bool linked(const bn_domain *d, size_t from, size_t to)
{
    const bn_box *a = &d->boxes[from], *b = &d->boxes[to];
    if ((!a->device && !b->device) || same_device(a, b))
        return false;
    for (int v = 0; v < BN_DIRECTIONS; v++) {
        int step[3];
        if (direction(v, step) && bn_box_at(d, b, step) == (long)from)
            return true;
    }
    return false;
}

static bn_status find_links(bn_domain *d)
{
    if (d->exchange)
        return BN_OK;
    bn_exchange *x = calloc(1, sizeof *x);
    if (!x)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the exchange of halos");
    d->exchange = x;
    for (size_t b = 0; b < d->box_count; b++)
        find_far(d, &d->boxes[b]);
    for (int pass = 0; pass < 2; pass++) {
        size_t count = 0;
        for (size_t from = 0; from < d->box_count; from++)
            for (size_t to = 0; to < d->box_count; to++) {
                if (!linked(d, from, to))
                    continue;
                if (pass == 1) {
                    x->links[count].from = from;
                    x->links[count].to = to;
                }
                count++;
            }
        if (pass == 0 && !(x->links = calloc(count ? count : 1, sizeof *x->links)))
            return bn_fail(d->ctx, BN_MEMORY, "no memory for the exchange of halos");
        x->count = pass == 1 ? count : 0;
    }
    return BN_OK;
}

static void drop(cl_event *event)
{
    if (*event)
        clReleaseEvent(*event);
    *event = NULL;
}

void bn_exchange_destroy(bn_domain *d)
{
    for (size_t i = 0; d->exchange && i < d->exchange->count; i++) {
        bn_link *l = &d->exchange->links[i];
        drop(&l->packed);
        drop(&l->read);
        drop(&l->written);
        drop(&l->unpacked);
        bn_buffer_destroy(d, &l->send);
        bn_buffer_destroy(d, &l->receive);
        bn_pinned_free(&l->host);
    }
    if (d->exchange)
        free(d->exchange->links);
    free(d->exchange);
    d->exchange = NULL;
}

/* Goes through the blocks of a message: packs them, unpacks them, or only adds up their bytes. The first one waits. */
typedef enum bn_pass { BN_PASS_SIZE, BN_PASS_PACK, BN_PASS_UNPACK } bn_pass;
static bn_status each_block(bn_domain *d, bn_link *l, const bn_halo_request *requests, size_t count, bn_pass pass, cl_event wait,
                            cl_event *done)
{
    size_t at = 0;
    bool first = true;
    for (size_t r = 0; r < count; r++)
        for (int v = 0; v < BN_DIRECTIONS; v++) {
            int step[3];
            long source[3], target[3], n[3];
            if (!direction(v, step) || bn_box_at(d, &d->boxes[l->to], step) != (long)l->from ||
                unwanted(d, &requests[r], step))
                continue;
            block_of(d, l->from, l->to, step, requests[r].reach, source, target, n);
            const size_t bytes = bn_halo_block_bytes(requests[r].field, n);
            if (pass != BN_PASS_SIZE) {
                const bool last = at + bytes == l->bytes, unpack = pass == BN_PASS_UNPACK;
                BN_TRY(bn_halo_pack(requests[r].field, unpack ? l->to : l->from, unpack ? target : source, n,
                                    unpack ? l->receive : l->send, at, unpack, first && wait ? 1 : 0, &wait,
                                    last ? done : NULL));
                first = false;
            }
            at += bytes;
        }
    l->bytes = at;
    return BN_OK;
}

/* Memory for the message: on the devices of this rank, and between them. */
static bn_status make_room(bn_domain *d, bn_link *l)
{
    bn_device *from = d->boxes[l->from].device, *to = d->boxes[l->to].device;
    if (l->host.bytes >= l->bytes)
        return BN_OK;
    BN_TRY(bn_finish_all(d, "exchanging halos"));
    bn_buffer_destroy(d, &l->send);
    bn_buffer_destroy(d, &l->receive);
    if (from)
        BN_TRY(bn_buffer_create(d, from, "halos that go out", l->bytes, &l->send));
    if (to)
        BN_TRY(bn_buffer_create(d, to, "halos that come in", l->bytes, &l->receive));
    return bn_pinned_need(d, from ? from : to, &l->host, l->bytes);
}

/* A list of the events among these that there are. */
static cl_uint events_of(cl_event a, cl_event b, cl_event out[2])
{
    cl_uint n = 0;
    if (a)
        out[n++] = a;
    if (b)
        out[n++] = b;
    return n;
}

static bn_status flush(const bn_device *device, cl_command_queue queue)
{
    BN_CL(device, "exchanging halos", clFlush, queue);
    return BN_OK;
}

static bn_status wait_for(const bn_device *device, cl_event event)
{
    if (event)
        BN_CL(device, "exchanging halos", clWaitForEvents, 1, &event);
    return BN_OK;
}

/* From the sender's device to the host; `together`: the receiver's device reads the same memory in order of events. */
static bn_status read_out(bn_domain *d, bn_link *l, bool together)
{
    const bn_device *device = d->boxes[l->from].device;
    cl_event waits[2], read;
    const cl_uint n = events_of(l->packed, together ? l->written : NULL, waits);
    BN_CL(device, "halos that go out", clEnqueueReadBuffer, device->outgoing, l->send->mem, CL_FALSE, 0, l->bytes,
          l->host.data, n, waits, &read);
    drop(&l->read);
    l->read = read;
    return flush(device, device->outgoing);
}

static bn_status write_in(bn_domain *d, bn_link *l, cl_event after)
{
    const bn_device *device = d->boxes[l->to].device;
    cl_event waits[2], written;
    const cl_uint n = events_of(after, l->unpacked, waits);
    BN_CL(device, "halos that come in", clEnqueueWriteBuffer, device->incoming, l->receive->mem, CL_FALSE, 0, l->bytes,
          l->host.data, n, n ? waits : NULL, &written);
    drop(&l->written);
    l->written = written;
    return flush(device, device->incoming);
}

static bn_message message_of(const bn_domain *d, const bn_link *l, size_t peer_box)
{
    enum { TAGS = 32768 }; /* what every MPI allows; order tells apart what shares one */
    return (bn_message){ d->boxes[peer_box].rank, (int)((l->from * d->box_count + l->to) % TAGS), l->host.data, l->bytes };
}

/* Both devices are here and share a context. */
static bool in_one_context(const bn_domain *d, const bn_link *l)
{
    const bn_device *from = d->boxes[l->from].device, *to = d->boxes[l->to].device;
    return from && to && from->cl == to->cl;
}

bn_status bn_exchange_begin(bn_domain *d, const bn_halo_request *requests, size_t count)
{
    BN_TRY(find_links(d));
    bn_exchange *x = d->exchange;
    for (size_t i = 0; i < x->count; i++) {
        bn_link *l = &x->links[i];
        BN_TRY(each_block(d, l, requests, count, BN_PASS_SIZE, NULL, NULL));
        BN_TRY(make_room(d, l));
    }
    for (size_t i = 0; i < x->count; i++) {
        bn_link *l = &x->links[i];
        const bn_device *from = d->boxes[l->from].device;
        if (!from || l->bytes == 0)
            continue;
        cl_event packed = NULL;
        BN_TRY(each_block(d, l, requests, count, BN_PASS_PACK, l->read, &packed));
        drop(&l->packed);
        l->packed = packed;
        BN_TRY(flush(from, from->queue));
    }
    /* Between boxes of one device, and across a periodic side to the box itself, a kernel copies. */
    for (size_t b = 0; b < d->box_count; b++)
        for (int v = 0; v < BN_DIRECTIONS; v++) {
            int step[3];
            const long other = direction(v, step) ? bn_box_at(d, &d->boxes[b], step) : -1;
            if (other < 0 || !same_device(&d->boxes[b], &d->boxes[other]))
                continue;
            for (size_t r = 0; r < count; r++) {
                long source[3], target[3], n[3];
                if (unwanted(d, &requests[r], step))
                    continue;
                block_of(d, (size_t)other, b, step, requests[r].reach, source, target, n);
                BN_TRY(bn_halo_copy(requests[r].field, (size_t)other, source, b, target, n));
            }
        }
    return BN_OK;
}

/* After the kernels that run meanwhile: some implementations hold the caller up while they copy. */
bn_status bn_exchange_carry(bn_domain *d)
{
    const bn_comm_ops *ops = d->ctx->comm.ops;
    bn_exchange *x = d->exchange;
    for (size_t i = 0; i < x->count; i++) {
        bn_link *l = &x->links[i];
        if (d->boxes[l->from].device || l->bytes == 0)
            continue;
        BN_TRY(wait_for(d->boxes[l->to].device, l->written)); /* the memory may still be on its way to the device */
        const bn_message m = message_of(d, l, l->from);
        ops->receive(&m);
    }
    for (size_t i = 0; i < x->count; i++)
        if (d->boxes[x->links[i].from].device && x->links[i].bytes > 0)
            BN_TRY(read_out(d, &x->links[i], in_one_context(d, &x->links[i])));
    for (size_t i = 0; i < x->count; i++)
        if (in_one_context(d, &x->links[i]) && x->links[i].bytes > 0)
            BN_TRY(write_in(d, &x->links[i], x->links[i].read));
    return BN_OK;
}

bn_status bn_exchange_end(bn_domain *d, const bn_halo_request *requests, size_t count)
{
    const bn_comm_ops *ops = d->ctx->comm.ops;
    bn_exchange *x = d->exchange;
    for (size_t i = 0; i < x->count; i++) {
        bn_link *l = &x->links[i];
        const bn_device *from = d->boxes[l->from].device, *to = d->boxes[l->to].device;
        if (!from || l->bytes == 0 || in_one_context(d, l))
            continue;
        BN_TRY(wait_for(from, l->read));
        if (to) {
            BN_TRY(wait_for(to, l->unpacked)); /* events of another context can't be given to the write */
            BN_TRY(write_in(d, l, NULL));
            BN_TRY(wait_for(to, l->written)); /* the next message goes through the same memory */
        } else {
            const bn_message m = message_of(d, l, l->to);
            ops->send(&m);
        }
    }
    if (ops)
        ops->wait();
    for (size_t i = 0; i < x->count; i++) {
        bn_link *l = &x->links[i];
        const bn_device *to = d->boxes[l->to].device;
        if (!to || l->bytes == 0)
            continue;
        if (!d->boxes[l->from].device)
            BN_TRY(write_in(d, l, NULL));
        cl_event unpacked = NULL;
        BN_TRY(each_block(d, l, requests, count, BN_PASS_UNPACK, l->written, &unpacked));
        drop(&l->unpacked);
        l->unpacked = unpacked;
    }
    for (size_t r = 0; r < count; r++) {
        bn_field *f = requests[r].field;
        for (int side = 0; side < 2; side++)
            if (requests[r].side != (side ? -1 : 1))
                f->halo_side[side] = requests[r].reach;
        if (requests[r].side == 0)
            f->halo_unwrapped = requests[r].reach;
        if (requests[r].side == 0 && !requests[r].wraps)
            f->halo_valid = requests[r].reach;
    }
    return BN_OK;
}
