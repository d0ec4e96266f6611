/* enqueue.h: one kernel of one box into its device's queue, and the times of those that have run. */
#ifndef BN_HOST_ENQUEUE_H
#define BN_HOST_ENQUEUE_H

#include "grid/program.h"

BN_CHECKED bn_status bn_set_arg(bn_kernel *, size_t box, cl_uint index, size_t bytes, const void *value);
/* When a launch is made: after the event that stands in `wait` by then; its own goes to `done`. NULL: none. `beside`:
 * in the queue of what comes from other devices, beside what the device computes. */
typedef struct bn_order {
    const cl_event *wait;
    cl_event *done;
    bool beside;
} bn_order;
/* With all arguments set; `order` NULL: after what was launched before. */
BN_CHECKED bn_status bn_enqueue(bn_kernel *, size_t box, const size_t offset[3], const size_t global[3],
                                const size_t local[3], const bn_order *order);
/* Adds the times of finished launches to kernel->seconds. */
BN_CHECKED bn_status bn_collect_events(bn_kernel *);

#endif
