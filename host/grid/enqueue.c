/* enqueue.c: sets arguments and enqueues kernels; takes their times where devices are profiled. */
#include "grid/enqueue.h"

#include "device/calls.h"
#include "device/queue_limit.h"
#include "grid/queues.h"

#include <string.h>

/* Launches after which the queue is flushed: without it some implementations start nothing until the host waits. */
enum { BN_FLUSH_AFTER = 64 };

typedef struct set_argument {
    cl_kernel kernel;
    cl_uint index;
    size_t bytes;
    unsigned char value[BN_ARGUMENT_BYTES];
} set_argument;

static cl_int make_set(bn_device *d, const void *arguments, const char **call)
{
    const set_argument *a = arguments;
    (void)d;
    *call = "clSetKernelArg";
    return clSetKernelArg(a->kernel, a->index, a->bytes, a->value);
}

bn_status bn_set_arg(bn_kernel *k, size_t box, cl_uint index, size_t bytes, const void *value)
{
    if (k->program->domain->device->listing)
        return BN_OK;
    bn_set_argument *last = index < k->argument_count && bytes <= sizeof last->value
                                ? &k->set[box * k->argument_count + index]
                                : NULL;
    if (last && last->bytes == bytes && memcmp(last->value, value, bytes) == 0)
        return BN_OK;
    bn_domain *d = k->program->domain;
    set_argument call = { k->cl[box], index, bytes, { 0 } };
    if (bytes > sizeof call.value)
        return bn_fail(d->ctx, BN_USAGE, "argument %u of kernel %s has %zu bytes", index, k->desc->name, bytes);
    memcpy(call.value, value, bytes);
    const bn_status st = bn_call_list(d->boxes[box].device, k->desc->name, make_set, &call, sizeof call, true);
    if (st != BN_OK) {
        bn_note(d->ctx, "while setting argument %u of kernel %s", index, k->desc->name);
        return st;
    }
    if (last) {
        last->bytes = bytes;
        memcpy(last->value, value, bytes);
    }
    return BN_OK;
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

typedef struct launch_call {
    bn_kernel *kernel;
    cl_kernel cl;
    size_t offset[3], global[3], local[3];
    bn_order order;
} launch_call;

static cl_int make_launch(bn_device *d, const void *arguments, const char **call)
{
    const launch_call *l = arguments;
    bn_kernel *k = l->kernel;
    cl_event wait, event = NULL, *done = l->order.done;
    cl_int status = bn_limit_queue(d, call);
    bn_thread_launched(d, d->ahead.batch);
    if (status != CL_SUCCESS)
        return status;
    const cl_uint waits = bn_events_at(&l->order.wait, 1, &wait);
    *call = "clEnqueueNDRangeKernel";
    status = clEnqueueNDRangeKernel(l->order.beside ? d->incoming : d->queue, l->cl, 3, l->offset, l->global, l->local,
                                    waits, waits ? &wait : NULL, d->profile || done ? &event : NULL);
    if (status == CL_SUCCESS && d->profile && done && (status = clRetainEvent(event)) != CL_SUCCESS)
        clReleaseEvent(event);
    if (status != CL_SUCCESS)
        return status;
    if (done)
        bn_event_put(done, event);
    if (d->profile) { /* the caller's thread */
        k->pending[k->pending_count] = event;
        k->pending_on[k->pending_count++] = d;
    }
    return CL_SUCCESS;
}

bn_status bn_enqueue(bn_kernel *k, size_t box, const size_t offset[3], const size_t global[3], const size_t local[3],
                     const bn_order *order)
{
    bn_domain *d = k->program->domain;
    bn_device *device = d->boxes[box].device;
    if (device->listing)
        return BN_OK;
    launch_call l = { .kernel = k, .cl = k->cl[box], .order = order ? *order : (bn_order){ NULL } };
    for (int i = 0; i < 3; i++) {
        l.offset[i] = offset[i];
        l.global[i] = global[i];
        l.local[i] = local[i];
    }
    if (device->profile && k->pending_count == BN_PENDING_EVENTS)
        BN_TRY(bn_collect_events(k));
    bn_thread_limit(device);
    const bn_status st = bn_call_list(device, k->desc->name, make_launch, &l, sizeof l, false);
    if (st != BN_OK) {
        bn_note(d->ctx, "while launching kernel %s over %zu x %zu x %zu work-items in groups of %zu x %zu x %zu",
                k->desc->name, global[0], global[1], global[2], local[0], local[1], local[2]);
        return st;
    }
    d->device->counts.launches++;
    return ++d->unflushed >= BN_FLUSH_AFTER ? bn_flush_all(d, k->desc->name) : BN_OK;
}
