/* transfer.c: between host memory in C order and the own cells of the boxes, padding left out. */
#include "internal/context.h"
#include "internal/runtime.h"

#include <stdlib.h>
#include <string.h>

/* Between the cells of a box in memory in C order and a dense block. */
static void move_box(const bn_domain *d, const bn_box *box, size_t eb, int count, char *values, char *block, bool to_block)
{
    const uint32_t *n = d->desc.grid.n;
    const size_t row = box->n[0] * eb;
    for (int c = 0; c < count; c++)
        for (uint32_t k = 0; k < box->n[2]; k++)
            for (uint32_t j = 0; j < box->n[1]; j++, block += row) {
                char *at = values + ((((size_t)c * n[2] + box->offset[2] + k) * n[1] + box->offset[1] + j) * n[0] +
                                     box->offset[0]) * eb;
                memcpy(to_block ? block : at, to_block ? at : block, row);
            }
}

/* The parts of other ranks: everyone gets the whole. */
static bn_status complete(bn_field *f, int count, size_t eb, char *values)
{
    bn_domain *d = f->domain;
    const bn_comm *comm = &d->ctx->comm;
    if (!d->spread || !comm->ops)
        return BN_OK;
    size_t most = 0;
    for (size_t b = 0; b < d->box_count; b++) {
        const uint32_t *n = d->boxes[b].n;
        const size_t bytes = (size_t)n[0] * n[1] * n[2] * eb * (size_t)count;
        most = bytes > most ? bytes : most;
    }
    char *block = malloc(most);
    if (!block)
        return bn_fail(d->ctx, BN_MEMORY, "no memory to bring field %s together", f->desc.name);
    for (size_t b = 0; b < d->box_count; b++) {
        const bn_box *box = &d->boxes[b];
        const size_t bytes = (size_t)box->n[0] * box->n[1] * box->n[2] * eb * (size_t)count;
        if (box->rank == comm->rank)
            move_box(d, box, eb, count, values, block, true);
        comm->ops->broadcast(box->rank, block, bytes);
        if (box->rank != comm->rank)
            move_box(d, box, eb, count, values, block, false);
    }
    free(block);
    return BN_OK;
}

bn_status bn_field_transfer(bn_field *f, int first, int count, void *values, bool write, bool wait, cl_event *last)
{
    bn_domain *d = f->domain;
    const uint32_t *n = d->desc.grid.n;
    size_t eb = f->element_bytes, points = bn_domain_points(d);
    if (f->desc.role & BN_INTERLEAVED) { /* as one component of longer elements; never a part of them */
        eb *= (size_t)f->desc.components;
        first = 0;
        count = 1;
    }
    if (f->host) {
        void *own = (char *)f->host + points * eb * (size_t)first;
        if (write)
            memcpy(own, values, points * eb * (size_t)count);
        else
            memcpy(values, own, points * eb * (size_t)count);
        return BN_OK;
    }
    const size_t host_row = n[0] * eb, host_slice = host_row * n[1];
    for (int c = 0; c < count; c++)
        for (size_t b = 0; b < d->box_count; b++) {
            const bn_box *box = &d->boxes[b];
            if (!box->device)
                continue;
            const bn_layout *l = &d->shapes[box->shape].layout;
            const size_t region[3] = { box->n[0] * eb, box->n[1], box->n[2] };
            const size_t in_buffer[3] = { l->left * eb, (size_t)l->halo[1],
                                          (size_t)(first + c) * l->layers + (size_t)l->halo[2] };
            const size_t in_host[3] = { box->offset[0] * eb, box->offset[1], (size_t)c * n[2] + box->offset[2] };
            /* Queues are in order: the last transfer of each is waited for. */
            bool is_last = c == count - 1 && (b + 1 == d->box_count || d->boxes[b + 1].device != box->device);
            cl_event *event = last && is_last ? &last[box->member] : NULL;
            cl_int status = write ? clEnqueueWriteBufferRect(box->device->queue, f->buffers[b]->mem, CL_FALSE, in_buffer,
                                                             in_host, region, l->pitch * eb, l->slice * eb, host_row,
                                                             host_slice, values, 0, NULL, event)
                                  : clEnqueueReadBufferRect(box->device->queue, f->buffers[b]->mem, CL_FALSE, in_buffer,
                                                            in_host, region, l->pitch * eb, l->slice * eb, host_row,
                                                            host_slice, values, 0, NULL, event);
            if (status != CL_SUCCESS) {
                bn_cl_fail(box->device, status, write ? "clEnqueueWriteBufferRect" : "clEnqueueReadBufferRect",
                           f->desc.name);
                for (size_t m = 0; m < d->members; m++) /* earlier parts may still use the caller's memory */
                    clFinish(bn_member_device(d, m)->queue);
                return bn_error_status(d->ctx);
            }
        }
    for (size_t m = 0; wait && m < d->members; m++)
        BN_CL(bn_member_device(d, m), f->desc.name, clFinish, bn_member_device(d, m)->queue);
    d->device->counts.waits += wait;
    if (wait && !write)
        BN_TRY(complete(f, count, eb, values));
    if (write) {
        bn_halo_set(f, 0);
        if (bn_context_debug(d->ctx))
            BN_TRY(bn_halo_poison(f));
    }
    return BN_OK;
}
