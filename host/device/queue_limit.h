/* queue_limit.h: bounds the work that stands in a device's queue. */
#ifndef BN_HOST_QUEUE_LIMIT_H
#define BN_HOST_QUEUE_LIMIT_H

#include "device/opencl.h"

/* To be called before each launch: waits while too much is in the queue. And before the queue is released. */
BN_CHECKED bn_status bn_limit_queue(bn_device *, const char *what);
void bn_unlimit_queue(bn_device *);

#endif
