/* device_array.h: memory that belongs to no grid, on every device of a domain. */
#ifndef BN_HOST_DEVICE_ARRAY_H
#define BN_HOST_DEVICE_ARRAY_H

#include "api/device_array.h"
#include "grid/queues.h"

struct bn_device_array {
    bn_domain *domain;
    bn_buffer **buffer;        /* one per device */
    size_t planes, each, unit; /* of bn_device_array_slabs; 0: every device has all of it */
};

/* The planes of a slab array that a device has, [first, end). */
void bn_device_array_planes(const bn_device_array *, size_t local, size_t *first, size_t *end);

/* A buffer on each device; NULL, or an array to be destroyed with the other. */
BN_CHECKED bn_status bn_copies_create(bn_domain *, const char *name, size_t bytes, bn_buffer ***out);
void bn_copies_destroy(bn_domain *, bn_buffer ***);
/* The same bytes to every copy; waits, or the host memory must stay as it is. */
BN_CHECKED bn_status bn_copies_write(bn_domain *, bn_buffer *const *, const void *data, size_t bytes, bool wait);

#endif
