/* calls.h: calls on a device's queues that are listed (device_thread.h), in order. Events belong to the device: what is
 * named here is the place where the event will stand when the call is made; nothing is waited for where there is none.
 */
#ifndef BN_HOST_CALLS_H
#define BN_HOST_CALLS_H

#include "device/device_thread.h"

/* Between a buffer and host memory; a rectangle where region[1] or region[2] is not 1. Not waited for by the host. */
typedef struct bn_copy {
    cl_command_queue queue;
    cl_mem mem;
    void *data;
    bool write;
    bool moves; /* the event is a bn_move_event */
    size_t at[3], in_host[3], region[3], row, slice, host_row, host_slice;
    const cl_event *wait[2];
    cl_event *done;
} bn_copy;

BN_CHECKED bn_status bn_call_copy(bn_device *, const char *what, const bn_copy *);
/* What stands in the device's queue so far. */
BN_CHECKED bn_status bn_call_mark(bn_device *, const char *what, cl_event *done);
/* The same event in another place, too. */
BN_CHECKED bn_status bn_call_share(bn_device *, const char *what, const cl_event *event, cl_event *also);
/* What comes later in the device's queue waits for these; a NULL is no place. */
enum { BN_HOLDS = 16 };
BN_CHECKED bn_status bn_call_hold(bn_device *, const char *what, const cl_event *const places[BN_HOLDS]);
BN_CHECKED bn_status bn_call_flush(bn_device *, const char *what, cl_command_queue);
BN_CHECKED bn_status bn_call_finish(bn_device *, const char *what, cl_command_queue);

/* For calls: the events that there are among places, and an event in the place of another. */
cl_uint bn_events_at(const cl_event *const *places, cl_uint count, cl_event *events);
void bn_event_put(cl_event *place, cl_event fresh);

#endif
