/* limits.h: what a device can do at most, measured. */
#ifndef BN_API_LIMITS_H
#define BN_API_LIMITS_H

#include "binnacle/device.h"

/* What a device can do at most, measured: the limits that `bench` holds everything against. 0: it can't do that, or it
 * could not be measured. */
typedef struct bn_device_limits {
    double copy;           /* as bn_device_bandwidth [B/s] */
    double flops[2];       /* multiplications and additions in single and double precision [1/s], fused where it can */
    double local_bytes;    /* reads of local memory [B/s] */
    double atomics;        /* atomic additions to 65,536 places of global memory [1/s] */
    double launch, finish; /* of an empty kernel: one of many in the queue, and one that is waited for [s] */
    double upload, download; /* from and to pinned host memory [B/s] */
    long long date;          /* seconds since 1970 */
} bn_device_limits;

/* Measured once (about two seconds) and kept in the cache with its date; `again`: measured in any case. */
BN_CHECKED bn_status bn_device_measure_limits(bn_device *, bool again, bn_device_limits *out);

#endif
