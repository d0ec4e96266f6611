/* queue_limit.h: bounds the work that stands in a device's queue. */
#ifndef BN_HOST_QUEUE_LIMIT_H
#define BN_HOST_QUEUE_LIMIT_H

#include "device/opencl.h"

/* To be called before each launch: waits while too much is in the queue; gives an OpenCL status, and the name of the
 * call that failed. And before the queue is released. */
cl_int bn_limit_queue(bn_device *, const char **call);
void bn_unlimit_queue(bn_device *);

#endif
