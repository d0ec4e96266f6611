/* transpose.c: kernels that store their result transposed, in a domain of several boxes. A kernel stores a block in
 * memory of its box's device; the rows of a block that belong to a box of the transposed grid are contiguous. Kernels
 * copy them to boxes of the same device; to other devices they are sent as a message (channel.h) while the next strip
 * is computed. */
#include "comm/transpose.h"

#include "comm/channel.h"
#include "device/calls.h"
#include "grid/block_copy.h"
#include "grid/queues.h"
#include "grid/regions.h"

#include <stdlib.h>
#include <string.h>

/* Attached to the domain whose kernels store. */
typedef struct bn_transpose {
    unsigned long long to; /* number of the domain; 0: it is not complete */
    size_t element_bytes;
    size_t box_count;
    bn_buffer **block;    /* one per box, NULL for a box of another rank */
    bn_channel *channels; /* by strip, sender, receiver: ranks go through them in the same order */
    uint32_t *strip;      /* of each channel */
    size_t count;
} bn_transpose;

static uint32_t strips_of(const bn_domain *d, size_t box)
{
    const uint32_t strip = d->shapes[d->boxes[box].shape].transposed.strip;
    return (d->boxes[box].n[1] + strip - 1) / strip;
}

/* Elements of a strip's block. */
static size_t strip_elements(const bn_domain *d, size_t box)
{
    return d->shapes[d->boxes[box].shape].transposed.pitch * (size_t)d->boxes[box].n[0];
}

/* The first element of a strip's block that belongs to a box of the transposed grid. */
static size_t piece_start(const bn_domain *d, size_t from, uint32_t strip, const bn_box *to)
{
    return strip * strip_elements(d, from) + to->offset[1] * d->shapes[d->boxes[from].shape].transposed.pitch;
}

const char *bn_transpose_objection(const bn_domain *d, const bn_field *f)
{
    const bn_domain *to = f->domain;
    const uint32_t *n = d->desc.grid.n, *m = to->desc.grid.n;
    if (to->device != d->device || !to->desc.whole_rows || !d->desc.whole_rows || n[0] != m[1] || n[1] != m[0] ||
        n[2] != 1 || m[2] != 1 || to->desc.halo != d->desc.halo || to->desc.precision != d->desc.precision ||
        (to->box_count == 1) != (d->box_count == 1))
        return "it is not of the transposed grid (bn_domain_transposed)";
    return f->desc.components != 1 ? "it has several components" : NULL;
}

static void destroy(void *object)
{
    bn_transpose *t = object;
    for (size_t i = 0; i < t->count; i++) {
        bn_buffer_destroy(&t->channels[i].receive);
        bn_channel_release(&t->channels[i]);
    }
    for (size_t b = 0; t->block && b < t->box_count; b++)
        bn_buffer_destroy(&t->block[b]);
    free(t->block);
    free(t->channels);
    free(t->strip);
    free(t);
}

static bn_status find_channels(bn_transpose *t, const bn_domain *d, const bn_domain *to)
{
    for (int pass = 0; pass < 2; pass++) {
        size_t count = 0, number = 0;
        for (uint32_t s = 0; s < BN_TRANSPOSE_STRIPS; s++)
            for (size_t a = 0; a < d->box_count; a++)
                for (size_t b = 0; b < to->box_count; b++, number++) {
                    const bn_box *source = &d->boxes[a], *target = &to->boxes[b];
                    if (s >= strips_of(d, a) || !bn_channel_exists(source, target))
                        continue;
                    if (pass == 1) {
                        t->strip[count] = s;
                        t->channels[count] = (bn_channel){ .from = a,
                                                           .to = b,
                                                           .source = source,
                                                           .target = target,
                                                           .tag = bn_channel_tag(number),
                                                           .send = t->block[a],
                                                           .send_at = piece_start(d, a, s, target) * t->element_bytes,
                                                           .bytes = d->shapes[source->shape].transposed.pitch *
                                                                    target->n[1] * t->element_bytes };
                    }
                    count++;
                }
        if (pass == 0 && (!(t->channels = calloc(count + 1, sizeof *t->channels)) ||
                          !(t->strip = calloc(count + 1, sizeof *t->strip))))
            return bn_fail(d->ctx, BN_MEMORY, "no memory for transposing a grid");
        t->count = pass == 1 ? count : 0;
    }
    return BN_OK;
}

/* Blocks, and messages between devices; once for a field of this kind. */
static bn_status make_room(bn_domain *d, const bn_field *f)
{
    bn_transpose *t = bn_attached(d->attached, destroy);
    if (t && t->to == f->domain->number && t->element_bytes == f->element_bytes)
        return BN_OK;
    if (t)
        BN_TRY(bn_finish_all(d, "transposing a grid"));
    bn_detach(&d->attached, destroy);
    t = calloc(1, sizeof *t);
    BN_TRY(bn_attach(d->ctx, &d->attached, t, destroy));
    t->box_count = d->box_count;
    if (!(t->block = calloc(d->box_count, sizeof(bn_buffer *))))
        return bn_fail(d->ctx, BN_MEMORY, "no memory for transposing a grid");
    t->element_bytes = f->element_bytes;
    for (size_t b = 0; b < d->box_count; b++)
        if (d->boxes[b].device)
            BN_TRY(bn_buffer_create(d->boxes[b].device, &d->buffers, "transposed rows",
                                    strips_of(d, b) * strip_elements(d, b) * t->element_bytes, &t->block[b]));
    BN_TRY(find_channels(t, d, f->domain));
    for (size_t i = 0; i < t->count; i++) {
        bn_channel *l = &t->channels[i];
        if (l->target->device)
            BN_TRY(
                bn_buffer_create(l->target->device, &d->buffers, "transposed rows of others", l->bytes, &l->receive));
        BN_TRY(bn_channel_room(l, l->bytes));
    }
    t->to = f->domain->number;
    return BN_OK;
}

bn_status bn_transpose_begin(bn_domain *d, bn_field *f)
{
    BN_TRY(make_room(d, f));
    bn_transpose *t = bn_attached(d->attached, destroy);
    /* Blocks may still be on their way from the last time. */
    for (size_t m = 0; m < d->local_count; m++) {
        bn_device *device = bn_local_device(d, m);
        for (size_t i = 0; i < t->count; i++)
            if (t->channels[i].source->device == device)
                BN_TRY(
                    bn_call_hold(device, "transposing a grid", (const cl_event *[BN_HOLDS]){ &t->channels[i].read }));
    }
    return BN_OK;
}

const cl_mem *bn_transpose_memory(const bn_domain *d, const bn_field *f, size_t box)
{
    return d->box_count == 1 ? &f->buffers[0]->mem
                             : &((const bn_transpose *)bn_attached(d->attached, destroy))->block[box]->mem;
}

bn_status bn_transpose_packed(bn_domain *d, size_t box, size_t strip)
{
    bn_transpose *t = bn_attached(d->attached, destroy);
    cl_event *packed = NULL;
    for (size_t i = 0; i < t->count; i++) {
        bn_channel *l = &t->channels[i];
        if (l->from != box || t->strip[i] != strip)
            continue;
        BN_TRY(bn_channel_mark(d->boxes[box].device, &packed, &l->packed));
    }
    return BN_OK;
}

/* Copies rows of a strip's block, or a received message, to their place in a box of the transposed grid. */
static bn_status put_piece(bn_domain *d, bn_field *f, size_t from, uint32_t strip, size_t to, const bn_buffer *buffer,
                           size_t start, const cl_event *wait, cl_event *done)
{
    const bn_box *source = &d->boxes[from], *target = &f->domain->boxes[to];
    const bn_transposed_layout *layout = &d->shapes[source->shape].transposed;
    const uint32_t row = strip * layout->strip, left = source->n[1] - row;
    const long first[3] = { (long)(source->offset[1] + row), 0, 0 };
    const long n[3] = { (long)(left < layout->strip ? left : layout->strip), (long)target->n[1], 1 };
    const cl_long pitch = (cl_long)layout->pitch, place[4] = { (cl_long)start, pitch, pitch * n[1], pitch * n[1] };
    return bn_block_move(f, to, first, n, buffer, place, true, wait, done);
}

bn_status bn_transpose_deliver(bn_domain *d, bn_field *f)
{
    bn_transpose *t = bn_attached(d->attached, destroy);
    const bn_domain *to = f->domain;
    BN_TRY(bn_flush_all(d, "transposing a grid"));
    BN_TRY(bn_channels_send(t->channels, t->count));
    for (size_t a = 0; a < d->box_count; a++)
        for (size_t b = 0; b < to->box_count; b++)
            for (uint32_t s = 0; bn_same_device(&d->boxes[a], &to->boxes[b]) && s < strips_of(d, a); s++)
                BN_TRY(put_piece(d, f, a, s, b, t->block[a], piece_start(d, a, s, &to->boxes[b]), NULL, NULL));
    /* Strip by strip: between ranks one is on its way to its device while the next one comes. */
    for (size_t first = 0, end; first < t->count; first = end) {
        for (end = first; end < t->count && t->strip[end] == t->strip[first];)
            end++;
        BN_TRY(bn_channels_expect(d, t->channels + first, end - first));
        BN_TRY(bn_channels_deliver(d, t->channels + first, end - first));
        for (size_t i = first; i < end; i++) {
            bn_channel *l = &t->channels[i];
            if (!l->target->device)
                continue;
            BN_TRY(put_piece(d, f, l->from, t->strip[i], l->to, l->receive, 0, &l->written, &l->unpacked));
        }
    }
    return BN_OK;
}
