/* together.c: what is no field has a copy on every device: partial sums of all blocks, scalars, counters. Here the copies are
 * made one again after devices have changed their own parts. All of it is exact: every partial sum has one owner, scalars
 * that differ follow a rule that knows no order, counters are integers. */
#include "internal/context.h"
#include "internal/runtime.h"

#include <stdlib.h>
#include <string.h>

static bn_device *member_device(const bn_domain *d, size_t m) { return d->boxes[d->lead[m]].device; }

/* The blocks of a box among those of the grid, first and count along x, y, z. */
static void blocks_of(const bn_box *box, size_t first[3], size_t n[3])
{
    const size_t unit[3] = { BN_SEGMENT, BN_SEGMENT_ROWS, 1 };
    for (int k = 0; k < 3; k++) {
        first[k] = box->offset[k] / unit[k];
        n[k] = (box->n[k] + unit[k] - 1) / unit[k];
    }
}

/* The host waits here for all devices, in one round. Two rooms take turns: while one is read into, the other may still be on
 * its way to a device. */
bn_status bn_partials_gather(bn_partials *p)
{
    bn_domain *d = p->domain;
    const bn_comm_ops *ops = d->ctx->comm.ops;
    if (!d->spread || !p->apart)
        return BN_OK;
    const size_t real = bn_domain_real_bytes(d), bytes = d->partials * (size_t)p->components * real;
    if (d->gathered.bytes < 2 * bytes) {
        BN_TRY(bn_finish_all(d, "bringing partial sums together"));
        BN_TRY(bn_pinned_need(d, d->device, &d->gathered, 2 * bytes));
    }
    char *room = (char *)d->gathered.data + (d->gather_turn++ % 2) * (d->gathered.bytes / 2 / real * real);
    if (ops)
        memset(room, 0, bytes);
    const size_t rows = (d->desc.grid.n[1] + BN_SEGMENT_ROWS - 1) / BN_SEGMENT_ROWS;
    const size_t row = d->segments * real, slice = row * rows;
    for (size_t b = 0; b < d->box_count; b++) {
        const bn_box *box = &d->boxes[b];
        if (!box->device)
            continue;
        size_t first[3], n[3];
        blocks_of(box, first, n);
        for (int c = 0; c < p->components; c++) {
            const size_t at[3] = { first[0] * real, first[1], (size_t)c * d->desc.grid.n[2] + first[2] };
            if (n[0] == d->segments && n[1] == rows) /* one piece */
                BN_CL(box->device, p->buffer[0]->name, clEnqueueReadBuffer, box->device->queue, p->buffer[box->member]->mem,
                      CL_FALSE, at[2] * slice, n[2] * slice, room + at[2] * slice, 0, NULL, NULL);
            else
                BN_CL(box->device, p->buffer[0]->name, clEnqueueReadBufferRect, box->device->queue,
                      p->buffer[box->member]->mem, CL_FALSE, at, at, (const size_t[]){ n[0] * real, n[1], n[2] }, row, slice,
                      row, slice, room, 0, NULL, NULL);
        }
    }
    for (size_t m = 0; m < d->members; m++)
        BN_CL(member_device(d, m), p->buffer[m]->name, clFlush, member_device(d, m)->queue);
    for (size_t m = 0; m < d->members; m++)
        BN_CL(member_device(d, m), p->buffer[m]->name, clFinish, member_device(d, m)->queue);
    if (ops)
        ops->all_or(room, bytes);
    if (d->members > 1 || ops)
        BN_TRY(bn_copies_write(d, p->buffer, room, bytes, false));
    p->apart = false;
    return BN_OK;
}

/* Every value of `fresh` that is not as before takes its place in `values`; where several have changed, the largest in the
 * order of their bits, which for numbers that are not negative is their own. */
static void take_changes(const bn_scalars *s, const unsigned char *fresh, unsigned char *values, size_t real)
{
    for (size_t i = 0; i < s->count; i++) {
        uint64_t was = 0, is = 0, best = 0;
        memcpy(&was, (const unsigned char *)s->before + i * real, real);
        memcpy(&is, fresh + i * real, real);
        memcpy(&best, values + i * real, real);
        if (is != was && (best == was || is > best))
            memcpy(values + i * real, fresh + i * real, real);
    }
}

bn_status bn_scalars_merge(bn_scalars *s)
{
    bn_domain *d = s->domain;
    const bn_comm *comm = &d->ctx->comm;
    if (!d->spread || !s->apart || !s->shared)
        return BN_OK;
    const size_t real = bn_domain_real_bytes(d), bytes = s->count * real;
    bn_status st = BN_OK;
    unsigned char *fresh = malloc(bytes * d->members), *values = malloc(bytes), *all = NULL;
    if (!fresh || !values || (comm->ops && !(all = malloc(bytes * (size_t)comm->ranks)))) {
        st = bn_fail(d->ctx, BN_MEMORY, "no memory for the scalars %s", s->buffer[0]->name);
        goto out;
    }
    for (size_t m = 0; m < d->members; m++) {
        const bn_device *device = member_device(d, m);
        cl_int status = clEnqueueReadBuffer(device->queue, s->buffer[m]->mem, CL_FALSE, 0, bytes, fresh + m * bytes, 0, NULL,
                                            NULL);
        if (status == CL_SUCCESS)
            status = clFlush(device->queue);
        if (status != CL_SUCCESS)
            st = bn_cl_fail(device, status, "clEnqueueReadBuffer", s->buffer[m]->name);
    }
    for (size_t m = 0; m < d->members; m++) {
        const cl_int status = clFinish(member_device(d, m)->queue);
        if (status != CL_SUCCESS)
            st = bn_cl_fail(member_device(d, m), status, "clFinish", s->buffer[m]->name);
    }
    if (st != BN_OK)
        goto out;
    memcpy(values, s->before, bytes);
    for (size_t m = 0; m < d->members; m++)
        take_changes(s, fresh + m * bytes, values, real);
    if (comm->ops) {
        comm->ops->gather(values, bytes, all);
        memcpy(values, s->before, bytes);
        for (int r = 0; r < comm->ranks; r++)
            take_changes(s, all + (size_t)r * bytes, values, real);
    }
    memcpy(s->before, values, bytes);
    s->apart = false;
    st = bn_copies_write(d, s->buffer, values, bytes, true);
out:
    free(fresh);
    free(values);
    free(all);
    return st;
}

bn_status bn_counters_merge(bn_table *t)
{
    bn_domain *d = t->domain;
    const bn_comm_ops *ops = d->ctx->comm.ops;
    if (!d->spread)
        return BN_OK;
    const size_t bytes = t->buffer[0]->bytes, count = bytes / sizeof(int64_t);
    bn_status st = BN_OK;
    int64_t *sum = calloc(count, sizeof *sum), *part = malloc(bytes);
    if (!sum || !part) {
        st = bn_fail(d->ctx, BN_MEMORY, "no memory for the counters %s", t->buffer[0]->name);
        goto out;
    }
    for (size_t m = 0; m < d->members; m++) {
        const bn_device *device = member_device(d, m);
        const cl_int status = clEnqueueReadBuffer(device->queue, t->buffer[m]->mem, CL_TRUE, 0, bytes, part, 0, NULL, NULL);
        if (status != CL_SUCCESS) {
            st = bn_cl_fail(device, status, "clEnqueueReadBuffer", t->buffer[m]->name);
            goto out;
        }
        for (size_t i = 0; i < count; i++)
            sum[i] += part[i];
    }
    if (ops)
        ops->all_sum(sum, count);
    st = bn_copies_write(d, t->buffer, sum, bytes, true);
out:
    free(sum);
    free(part);
    return st;
}

bn_status bn_counters_clear(bn_table *t)
{
    bn_domain *d = t->domain;
    const cl_uint zero = 0;
    for (size_t m = 0; d->spread && m < d->members; m++)
        BN_CL(member_device(d, m), t->buffer[m]->name, clEnqueueFillBuffer, member_device(d, m)->queue, t->buffer[m]->mem,
              &zero, sizeof zero, 0, t->buffer[m]->bytes, 0, NULL, NULL);
    return BN_OK;
}
