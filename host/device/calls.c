/* calls.c: calls on a device's queues that are listed. */
#include "device/calls.h"

cl_uint bn_events_at(const cl_event *const *places, cl_uint count, cl_event *events)
{
    cl_uint n = 0;
    for (cl_uint i = 0; i < count; i++)
        if (places[i] && *places[i])
            events[n++] = *places[i];
    return n;
}

void bn_event_put(cl_event *place, cl_event fresh)
{
    if (*place)
        clReleaseEvent(*place);
    *place = fresh;
}

static cl_int copy(bn_device *d, const void *arguments, const char **call)
{
    const bn_copy *c = arguments;
    const bool one = c->region[1] == 1 && c->region[2] == 1; /* calls for rectangles take the host twice as long */
    const size_t at = c->at[2] * c->slice + c->at[1] * c->row + c->at[0];
    char *data = one ? (char *)c->data + c->in_host[2] * c->host_slice + c->in_host[1] * c->host_row + c->in_host[0]
                     : c->data;
    cl_event waits[2], fresh = NULL;
    const cl_uint n = bn_events_at(c->wait, 2, waits);
    const cl_event *wait = n ? waits : NULL;
    cl_event *event = c->moves ? bn_move_event(d) : c->done ? &fresh : NULL;
    cl_int status;
    *call = one        ? c->write ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer"
            : c->write ? "clEnqueueWriteBufferRect"
                       : "clEnqueueReadBufferRect";
    if (one)
        status = c->write ? clEnqueueWriteBuffer(c->queue, c->mem, CL_FALSE, at, c->region[0], data, n, wait, event)
                          : clEnqueueReadBuffer(c->queue, c->mem, CL_FALSE, at, c->region[0], data, n, wait, event);
    else
        status = c->write ? clEnqueueWriteBufferRect(c->queue, c->mem, CL_FALSE, c->at, c->in_host, c->region, c->row,
                                                     c->slice, c->host_row, c->host_slice, data, n, wait, event)
                          : clEnqueueReadBufferRect(c->queue, c->mem, CL_FALSE, c->at, c->in_host, c->region, c->row,
                                                    c->slice, c->host_row, c->host_slice, data, n, wait, event);
    if (status == CL_SUCCESS && c->done)
        bn_event_put(c->done, fresh);
    return status;
}

bn_status bn_call_copy(bn_device *d, const char *what, const bn_copy *c)
{
    _Static_assert(sizeof *c <= BN_CALL_BYTES, "a copy is listed whole");
    return bn_call_list(d, what, copy, c, sizeof *c, false);
}

static cl_int mark(bn_device *d, const void *arguments, const char **call)
{
    cl_event *const *done = arguments, fresh;
    *call = "clEnqueueMarkerWithWaitList";
    const cl_int status = clEnqueueMarkerWithWaitList(d->queue, 0, NULL, &fresh);
    if (status == CL_SUCCESS)
        bn_event_put(*done, fresh);
    return status;
}

bn_status bn_call_mark(bn_device *d, const char *what, cl_event *done)
{
    return bn_call_list(d, what, mark, &done, sizeof done, true);
}

typedef struct bn_shared_event {
    const cl_event *event;
    cl_event *also;
} bn_shared_event;

static cl_int share(bn_device *d, const void *arguments, const char **call)
{
    const bn_shared_event *s = arguments;
    (void)d;
    *call = "clRetainEvent";
    const cl_int status = clRetainEvent(*s->event);
    if (status == CL_SUCCESS)
        bn_event_put(s->also, *s->event);
    return status;
}

bn_status bn_call_share(bn_device *d, const char *what, const cl_event *event, cl_event *also)
{
    const bn_shared_event s = { event, also };
    return bn_call_list(d, what, share, &s, sizeof s, true);
}

static cl_int hold(bn_device *d, const void *arguments, const char **call)
{
    cl_event events[BN_HOLDS];
    const cl_uint n = bn_events_at(arguments, BN_HOLDS, events);
    *call = "clEnqueueBarrierWithWaitList";
    return n ? clEnqueueBarrierWithWaitList(d->queue, n, events, NULL) : CL_SUCCESS;
}

bn_status bn_call_hold(bn_device *d, const char *what, const cl_event *const places[BN_HOLDS])
{
    return bn_call_list(d, what, hold, places, BN_HOLDS * sizeof *places, true);
}

static cl_int flush(bn_device *d, const void *arguments, const char **call)
{
    (void)d;
    *call = "clFlush";
    return clFlush(*(const cl_command_queue *)arguments);
}

bn_status bn_call_flush(bn_device *d, const char *what, cl_command_queue queue)
{
    return bn_call_list(d, what, flush, &queue, sizeof queue, false);
}

static cl_int finish(bn_device *d, const void *arguments, const char **call)
{
    (void)d;
    *call = "clFinish";
    return clFinish(*(const cl_command_queue *)arguments);
}

bn_status bn_call_finish(bn_device *d, const char *what, cl_command_queue queue)
{
    return bn_call_list(d, what, finish, &queue, sizeof queue, false);
}
