/* transfer.c: between host memory in C order and the own cells of the boxes, padding left out. */
#include "internal/runtime.h"

#include <string.h>

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
            const bn_layout *l = &d->shapes[box->shape].layout;
            const size_t region[3] = { box->n[0] * eb, box->n[1], box->n[2] };
            const size_t in_buffer[3] = { l->left * eb, (size_t)l->halo[1],
                                          (size_t)(first + c) * l->layers + (size_t)l->halo[2] };
            const size_t in_host[3] = { box->offset[0] * eb, box->offset[1], (size_t)c * n[2] + box->offset[2] };
            bool is_last = c == count - 1 && b == d->box_count - 1;
            cl_event *event = last && is_last ? last : NULL;
            /* The queue is in order: waiting for the last transfer is waiting for all of them. */
            cl_bool block = wait && is_last ? CL_TRUE : CL_FALSE;
            cl_int status = write ? clEnqueueWriteBufferRect(d->device->queue, f->buffers[b]->mem, block, in_buffer,
                                                             in_host, region, l->pitch * eb, l->slice * eb, host_row,
                                                             host_slice, values, 0, NULL, event)
                                  : clEnqueueReadBufferRect(d->device->queue, f->buffers[b]->mem, block, in_buffer,
                                                            in_host, region, l->pitch * eb, l->slice * eb, host_row,
                                                            host_slice, values, 0, NULL, event);
            if (status != CL_SUCCESS) {
                bn_cl_fail(d->device, status, write ? "clEnqueueWriteBufferRect" : "clEnqueueReadBufferRect",
                           f->desc.name);
                (void)clFinish(d->device->queue); /* earlier parts may still use the caller's memory */
                return bn_error_status(d->ctx);
            }
        }
    d->device->counts.waits += wait;
    if (write) {
        f->halo_valid = 0;
        if (bn_context_debug(d->ctx))
            BN_TRY(bn_halo_poison(f));
    }
    return BN_OK;
}
