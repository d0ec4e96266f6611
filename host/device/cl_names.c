/* cl_names.c: OpenCL's status codes as text, and failures of its calls as the context's story. */
#include "device/context.h"
#include "device/opencl.h"

#include <stdio.h>
#include <time.h>

enum { BN_MOVES_SECONDS = 10 };

#define NAMES(X)                                    \
    X(CL_SUCCESS)                                   \
    X(CL_DEVICE_NOT_FOUND)                          \
    X(CL_DEVICE_NOT_AVAILABLE)                      \
    X(CL_COMPILER_NOT_AVAILABLE)                    \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE)             \
    X(CL_OUT_OF_RESOURCES)                          \
    X(CL_OUT_OF_HOST_MEMORY)                        \
    X(CL_PROFILING_INFO_NOT_AVAILABLE)              \
    X(CL_MEM_COPY_OVERLAP)                          \
    X(CL_IMAGE_FORMAT_MISMATCH)                     \
    X(CL_IMAGE_FORMAT_NOT_SUPPORTED)                \
    X(CL_BUILD_PROGRAM_FAILURE)                     \
    X(CL_MAP_FAILURE)                               \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET)              \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) \
    X(CL_COMPILE_PROGRAM_FAILURE)                   \
    X(CL_LINKER_NOT_AVAILABLE)                      \
    X(CL_LINK_PROGRAM_FAILURE)                      \
    X(CL_DEVICE_PARTITION_FAILED)                   \
    X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)             \
    X(CL_INVALID_VALUE)                             \
    X(CL_INVALID_DEVICE_TYPE)                       \
    X(CL_INVALID_PLATFORM)                          \
    X(CL_INVALID_DEVICE)                            \
    X(CL_INVALID_CONTEXT)                           \
    X(CL_INVALID_QUEUE_PROPERTIES)                  \
    X(CL_INVALID_COMMAND_QUEUE)                     \
    X(CL_INVALID_HOST_PTR)                          \
    X(CL_INVALID_MEM_OBJECT)                        \
    X(CL_INVALID_BINARY)                            \
    X(CL_INVALID_BUILD_OPTIONS)                     \
    X(CL_INVALID_PROGRAM)                           \
    X(CL_INVALID_PROGRAM_EXECUTABLE)                \
    X(CL_INVALID_KERNEL_NAME)                       \
    X(CL_INVALID_KERNEL_DEFINITION)                 \
    X(CL_INVALID_KERNEL)                            \
    X(CL_INVALID_ARG_INDEX)                         \
    X(CL_INVALID_ARG_VALUE)                         \
    X(CL_INVALID_ARG_SIZE)                          \
    X(CL_INVALID_KERNEL_ARGS)                       \
    X(CL_INVALID_WORK_DIMENSION)                    \
    X(CL_INVALID_WORK_GROUP_SIZE)                   \
    X(CL_INVALID_WORK_ITEM_SIZE)                    \
    X(CL_INVALID_GLOBAL_OFFSET)                     \
    X(CL_INVALID_EVENT_WAIT_LIST)                   \
    X(CL_INVALID_EVENT)                             \
    X(CL_INVALID_OPERATION)                         \
    X(CL_INVALID_BUFFER_SIZE)                       \
    X(CL_INVALID_GLOBAL_WORK_SIZE) X(CL_INVALID_PROPERTY) X(CL_INVALID_COMPILER_OPTIONS) X(CL_INVALID_LINKER_OPTIONS)

const char *bn_cl_name(cl_int status)
{
    switch (status) {
#define ROW(name) \
    case name: return #name;
        NAMES(ROW)
#undef ROW
    case -1001: return "no platform found (-1001)";
    case -9999: return "vendor error -9999 (often an illegal access in a kernel)";
    default: return "an OpenCL status without a name";
    }
}

cl_event *bn_move_event(bn_device *d)
{
    d->second_move = !d->second_move;
    cl_event *event = &d->moves[d->second_move];
    double seconds;
    if (*event && d->profile) /* what can't be read is missing in the timeline alone */
        (void)bn_device_note_event(d, *event, NULL, &seconds);
    if (*event)
        clReleaseEvent(*event);
    *event = NULL;
    return event;
}

/* Queues are in order: the last call is enough, and the one before it where the last one failed. A device that does not
 * end them in this time won't. */
static void outlast_moves(const bn_context *ctx)
{
    const double end = bn_seconds_now() + BN_MOVES_SECONDS;
    for (const bn_device *d = ctx->open; d; d = d->next_open) {
        (void)clFlush(d->queue);
        for (size_t i = 0; i < 2; i++)
            for (cl_int state = CL_QUEUED; d->moves[i] && state > CL_COMPLETE && bn_seconds_now() < end;) {
                if (clGetEventInfo(d->moves[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) !=
                    CL_SUCCESS)
                    break;
                if (state > CL_COMPLETE)
                    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
            }
    }
}

bn_status bn_cl_fail(const bn_device *device, cl_int status, const char *call, const char *what)
{
    const bool first = bn_error_status(device->ctx) == BN_OK;
    outlast_moves(device->ctx);
    const char *on = device->info.name ? device->info.name : "a device";
    char which[32] = ""; /* of several that may have one name */
    if (device->thread)
        snprintf(which, sizeof which, " (device %zu)", device->info.index);
    bn_status st = status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY ? BN_MEMORY
                                                                                                 : BN_DEVICE;
    bn_fail(device->ctx, st, "%s failed on %s%s: %s (%d)%s%s", call, on, which, bn_cl_name(status), (int)status,
            what ? ", " : "", what ? what : "");
    if (!first) /* advice belongs to the failure that is told */
        return st;
    if (st == BN_MEMORY)
        bn_note(device->ctx, "use a smaller grid, single precision, or a device with more memory");
    else if (status == CL_OUT_OF_RESOURCES || status == CL_INVALID_COMMAND_QUEUE || status == -9999)
        bn_note(
            device->ctx,
            "the device may have been reset (a launch that took too long, or a wrong access): see the system's log, "
            "try another device with --device, and `binnacle verify` on this one");
    return st;
}
