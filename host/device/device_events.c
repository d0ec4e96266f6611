/* device_events.c: what the queue of a profiled device did and when. */
#include "device/opencl.h"

#include <stdlib.h>

/* Room for one more; false: it is not noted. */
static bool make_room(bn_device *d)
{
    if (d->events.count < d->events.room)
        return true;
    const size_t room = d->events.room > 0 ? 2 * d->events.room : 1024;
    bn_device_event *more = room <= BN_DEVICE_EVENTS ? realloc(d->events.list, room * sizeof *more) : NULL;
    if (!more)
        return false;
    d->events.list = more;
    d->events.room = room;
    return true;
}

cl_int bn_device_note_event(bn_device *d, cl_event event, const char *what, double *seconds)
{
    cl_ulong start = 0, end = 0;
    cl_command_type type = CL_COMMAND_NDRANGE_KERNEL;
    cl_int status = clWaitForEvents(1, &event);
    if (status == CL_SUCCESS)
        status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (status == CL_SUCCESS)
        status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    if (status == CL_SUCCESS && !what)
        status = clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL);
    *seconds = status == CL_SUCCESS ? 1e-9 * (double)(end - start) : 0;
    if (status != CL_SUCCESS || !make_room(d))
        return status;
    const bool reads = type == CL_COMMAND_READ_BUFFER || type == CL_COMMAND_READ_BUFFER_RECT;
    d->events.list[d->events.count++] = (bn_device_event){ .what = what    ? what
                                                                   : reads ? "to the host"
                                                                           : "from the host",
                                                           .transfer = !what,
                                                           .start = 1e-9 * (double)start,
                                                           .end = 1e-9 * (double)end };
    return status;
}

const bn_device_event *bn_device_events(bn_device *group, size_t in_group, size_t *count)
{
    bn_device *d = in_group > 0 ? group->group[in_group] : group;
    for (int i = 0; i < 2; i++)
        (void)bn_move_event(d);
    *count = d->events.count;
    return d->events.list;
}
