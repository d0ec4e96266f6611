/* queue_limit.c: how far the host may queue launches ahead of a device. A signal ends a run after what stands in the
 * queue, so that is bounded by time: markers stand in the queue, two at most, with so many launches between them as
 * take BN_BETWEEN seconds by the clock; before a third marker the host waits for the first. While it waits the device
 * has the launches behind that marker to do: the queue does not run dry. */
#include "device/queue_limit.h"

#include <math.h>

/* Three such batches at most are in the queue: less than a quarter of a second. */
static const double BN_BETWEEN = 0.08;
/* So many launches of the shortest kind take some milliseconds, in which a wait that ends late does not show; a longer
 * kind that follows them finds a queue that is not long. */
enum { BN_BATCH_MOST = 1024, BN_BATCH_CHANGE = 4 };

static unsigned clamped(double value, double least, double most)
{
    return (unsigned)fmax(1, fmin(fmax(value, least), most));
}

static cl_int wait_for_oldest(bn_device *d)
{
    bn_queue_limit *a = &d->ahead;
    const double batch = a->launches[0];
    const cl_int status = clWaitForEvents(1, &a->marker[0]);
    if (status != CL_SUCCESS)
        return status;
    clReleaseEvent(a->marker[0]);
    a->marker[0] = a->marker[1];
    a->launches[0] = a->launches[1];
    a->marker[1] = NULL;
    a->markers--;
    /* Longer than the launches took, where the host was slower than the device: then the queue is short anyway. */
    const double now = bn_seconds_now(), took = now - a->waited;
    a->waited = now;
    a->batch = clamped(took > 0 ? batch * BN_BETWEEN / took : BN_BATCH_MOST, batch / BN_BATCH_CHANGE,
                       fmin(batch * BN_BATCH_CHANGE, BN_BATCH_MOST));
    return CL_SUCCESS;
}

cl_int bn_limit_queue(bn_device *d, const char **call)
{
    bn_queue_limit *a = &d->ahead;
    if (a->batch == 0) { /* the first launch */
        a->batch = 1;
        a->waited = bn_seconds_now();
    }
    if (a->since >= a->batch) {
        *call = "clWaitForEvents";
        cl_int status = a->markers == 2 ? wait_for_oldest(d) : CL_SUCCESS;
        if (status != CL_SUCCESS)
            return status;
        *call = "clEnqueueMarkerWithWaitList";
        status = clEnqueueMarkerWithWaitList(d->queue, 0, NULL, &a->marker[a->markers]);
        if (status != CL_SUCCESS)
            return status;
        a->launches[a->markers++] = a->since;
        a->since = 0;
        *call = "clFlush";
        if ((status = clFlush(d->queue)) != CL_SUCCESS)
            return status;
    }
    a->since++;
    const unsigned ahead = a->launches[0] * (a->markers > 0) + a->launches[1] * (a->markers > 1) + a->since;
    d->counts.most_ahead = ahead > d->counts.most_ahead ? ahead : d->counts.most_ahead;
    return CL_SUCCESS;
}

void bn_unlimit_queue(bn_device *d)
{
    for (unsigned i = 0; i < d->ahead.markers; i++)
        clReleaseEvent(d->ahead.marker[i]);
    d->ahead = (bn_queue_limit){ 0 };
}
