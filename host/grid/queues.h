/* queues.h: the devices of a domain and their queues. A device's local index is that in its rank's group, its global
 * index that among the devices of all ranks. */
#ifndef BN_HOST_QUEUES_H
#define BN_HOST_QUEUES_H

#include "grid/grid.h"

bn_device *bn_local_device(const bn_domain *, size_t local);
/* Devices of all ranks that the domain is distributed over, and the global index of one; 1 and 0 if it is not. */
int bn_global_count(const bn_domain *);
int bn_global_index(const bn_domain *, size_t local);

/* Hands all that was enqueued to the devices. */
BN_CHECKED bn_status bn_flush_all(bn_domain *, const char *what);
/* Waits for what was launched. */
BN_CHECKED bn_status bn_wait_for_launches(bn_domain *, const char *what);
/* The failure of a device of which two reads of the same memory gave different bits. */
bn_status bn_read_differs(const bn_device *, const char *what);
/* What is enqueued from now on begins when all devices of the domain here have done what was enqueued before. The
 * host waits only where events of one can't hold up another: the threads of the devices for each other, and where other
 * ranks have a part the caller. */
BN_CHECKED bn_status bn_queues_meet(bn_domain *, const char *what);
/* The host, or each of the devices' threads, waits until all devices of the domain here have done what stands in their
 * queues of outgoing messages, whatever they compute meanwhile. */
BN_CHECKED bn_status bn_outgoing_meet(bn_domain *, const char *what);
/* Waits for all queues of the domain's devices, messages included. */
BN_CHECKED bn_status bn_finish_all(bn_domain *, const char *what);

/* Double-buffered pinned memory of the domain: gives one half, of so many bytes at least. Devices may still read the
 * half that was given last, but not the one before that, if the queues have met in between. */
BN_CHECKED bn_status bn_double_buffer_next(bn_domain *, const char *what, size_t bytes, void **half);

#endif
