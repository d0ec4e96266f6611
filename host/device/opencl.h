/* opencl.h: a device's handles, and checked calls. Nothing outside host/ sees it. */
#ifndef BN_HOST_OPENCL_H
#define BN_HOST_OPENCL_H

#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <signal.h>

#include "api/device.h"
#include "device/context.h"
#include "device/quirks.h"

/* What stands in a device's queue: markers, the oldest first, each with the launches before it. */
typedef struct bn_queue_limit {
    cl_event marker[2];
    unsigned markers, launches[2];
    unsigned since, batch; /* launches behind the last marker, and how many until the next */
    double waited;         /* [s] when the last wait ended */
} bn_queue_limit;

struct bn_device {
    bn_context *ctx;
    bn_device_info info;    /* texts owned by the context's device list */
    bn_device_info *listed; /* the same in that list, for what is measured later */
    bn_quirks quirks;
    cl_platform_id platform;
    cl_device_id id;
    cl_context cl;
    cl_command_queue queue; /* in order; everything that computes. A caller that uses it itself takes bn_queue() */
    /* In order, for what goes to other devices and comes from them while the first one computes; only where there are
     * others. */
    cl_command_queue outgoing, incoming;
    struct bn_fork {
        cl_event before, last;
    } fork;            /* what stood in `queue` before launches in `incoming` beside it; the last of those */
    cl_event moves[2]; /* of the last two calls that got a bn_move_event; NULL: none */
    bool second_move;  /* the last one was moves[1] */
    struct bn_device *next_open;
    /* The group of devices of this process that share a domain, this one first; only the first one knows them. All
     * processes have `global_count`, of which this process has those from `global_first` on. */
    struct bn_device **group;
    size_t group_size, global_count, global_first;
    bn_device_info least; /* as info, with the least memory of all of them */
    double *weights;      /* of the devices of all processes: their shares of the cells; NULL: alike */
    bool profile;         /* the queue takes event times */
    struct {
        bn_device_event *list; /* what it did, where it does */
        size_t count, room;
    } events;
    const struct bn_program_list *listing; /* takes the programs, which are not compiled then; NULL: none */
    struct bn_pinned *stage;               /* through which values come from other host memory; NULL: not yet */
    bool reads_twice;                      /* what is read from it is read again and compared */
    bool other_groups;                     /* kernels run in another shape of work-groups than usual */
    bn_queue_counts counts;
    bn_queue_limit ahead;
    struct bn_device_thread *thread; /* makes its calls (device_thread.h); NULL: the caller does */
    struct bn_crew *crew;            /* of the first device of a group with threads: what they have in common */
};

/* The name of an OpenCL status, "CL_OUT_OF_RESOURCES"; "CL error -9999" for unknown ones; static storage. */
const char *bn_cl_name(cl_int status);

/* SIGINT and SIGTERM wait, for this thread and what it starts, until pthread_sigmask puts `before` back. Drivers run
 * linkers as processes, which Ctrl-C at a terminal reaches too unless they inherit this, and PoCL then ends the
 * program. */
static inline void bn_hold_signals(sigset_t *before)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &ends, before); /* fails for no argument that is used here */
}

/* The event argument of calls on the queue that move data from or to host memory and don't wait. */
cl_event *bn_move_event(bn_device *);

/* Waits for an event of a profiled queue, notes it (`what` NULL: by the kind of its command), and gives its seconds. */
cl_int bn_device_note_event(bn_device *, cl_event, const char *what, double *seconds);

/* Fails with BN_MEMORY for allocation failures and BN_DEVICE for the rest: "clFinish failed on NVIDIA H200:
 * CL_OUT_OF_RESOURCES (while ...)". `what` says what was being done, may be NULL. A lost device gets advice.
 * Before, it waits until calls with a bn_move_event have ended, on all devices: a failed clFinish does not mean that
 * the device won't write any more, and the caller frees what it would write to. */
bn_status bn_cl_fail(const bn_device *, cl_int status, const char *call, const char *what);

#define BN_CL(device, what, call_, ...)                              \
    do {                                                             \
        cl_int cl_status_ = call_(__VA_ARGS__);                      \
        if (cl_status_ != CL_SUCCESS)                                \
            return bn_cl_fail((device), cl_status_, #call_, (what)); \
    } while (0)

#endif
