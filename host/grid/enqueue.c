/* enqueue.c: sets arguments and enqueues kernels; takes their times where devices are profiled. */
#include "grid/enqueue.h"

#include "device/queue_limit.h"
#include "grid/queues.h"

#include <string.h>

/* Launches after which the queue is flushed: without it some implementations start nothing until the host waits. */
enum { BN_FLUSH_AFTER = 64 };

bn_status bn_set_arg(bn_kernel *k, size_t box, cl_uint index, size_t bytes, const void *value)
{
    if (k->program->domain->device->listing)
        return BN_OK;
    bn_set_argument *last = index < k->argument_count && bytes <= sizeof last->value
                                ? &k->set[box * k->argument_count + index]
                                : NULL;
    if (last && last->bytes == bytes && memcmp(last->value, value, bytes) == 0)
        return BN_OK;
    cl_int status = clSetKernelArg(k->cl[box], index, bytes, value);
    if (status == CL_SUCCESS) {
        if (last) {
            last->bytes = bytes;
            memcpy(last->value, value, bytes);
        }
        return BN_OK;
    }
    const bn_device *device = k->program->domain->device;
    bn_cl_fail(device, status, "clSetKernelArg", k->desc->name);
    bn_note(device->ctx, "while setting argument %u of kernel %s", index, k->desc->name);
    return bn_error_status(device->ctx);
}

bn_status bn_collect_events(bn_kernel *k)
{
    bn_status st = BN_OK;
    for (size_t i = 0; i < k->pending_count; i++) {
        bn_device *device = k->pending_on[i];
        double seconds;
        const cl_int status = bn_device_note_event(device, k->pending[i], k->desc->name, &seconds);
        if (status != CL_SUCCESS && st == BN_OK)
            st = bn_cl_fail(device, status, "clGetEventProfilingInfo", k->desc->name);
        k->seconds += seconds;
        clReleaseEvent(k->pending[i]);
    }
    k->pending_count = 0;
    return st;
}

bn_status bn_enqueue(bn_kernel *k, size_t box, const size_t offset[3], const size_t global[3], const size_t local[3],
                     cl_uint waits, const cl_event *wait, cl_event *done)
{
    bn_domain *d = k->program->domain;
    bn_device *device = d->boxes[box].device;
    bool profile = device->profile;
    if (device->listing)
        return BN_OK;
    BN_TRY(bn_limit_queue(device, k->desc->name));
    if (profile && k->pending_count == BN_PENDING_EVENTS)
        BN_TRY(bn_collect_events(k));
    cl_event *event = profile ? &k->pending[k->pending_count] : done;
    cl_int status = clEnqueueNDRangeKernel(device->queue, k->cl[box], 3, offset, global, local, waits,
                                           waits ? wait : NULL, event);
    if (status == CL_SUCCESS && profile && done && (status = clRetainEvent(*event)) == CL_SUCCESS)
        *done = *event;
    if (status != CL_SUCCESS) {
        bn_cl_fail(device, status, "clEnqueueNDRangeKernel", k->desc->name);
        bn_note(d->ctx, "while launching kernel %s over %zu x %zu x %zu work-items in groups of %zu x %zu x %zu",
                k->desc->name, global[0], global[1], global[2], local[0], local[1], local[2]);
        return bn_error_status(d->ctx);
    }
    if (profile)
        k->pending_on[k->pending_count++] = device;
    d->device->counts.launches++;
    return ++d->unflushed >= BN_FLUSH_AFTER ? bn_flush_all(d, k->desc->name) : BN_OK;
}
