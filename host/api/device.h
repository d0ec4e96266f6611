/* device.h: what a device's programs and queue are described by. */
#ifndef BN_API_DEVICE_H
#define BN_API_DEVICE_H

#include "binnacle/device.h"

typedef enum bn_precision { BN_SINGLE, BN_DOUBLE } bn_precision;

/* Constants of a program. Reals become hexadecimal literals of the domain's precision; names (identifiers) pick
 * variants. A kernel that is left out is not compiled. */
typedef enum bn_define_kind { BN_DEF_INT, BN_DEF_REAL, BN_DEF_NAME, BN_DEF_LEFT_OUT } bn_define_kind;
typedef struct bn_define {
    const char *name;
    bn_define_kind kind;
    union {
        long long i;
        double r;
        const char *s;
    } u;
} bn_define;

/* Of the same name and platform: they share work out alike. */
bool bn_devices_alike(const bn_device_info *, const bn_device_info *);

double bn_seconds_now(void); /* of the monotonic clock */

/* For a process that opens one device for a moment, before it lists any: drivers that listen to an environment variable
 * prepare for a single queue then, unless the user's environment says otherwise. */
void bn_devices_one_queue(void);

/* For a process that opens devices for one run, before it lists any: drivers of CPUs that wake all their threads for
 * every launch begin with so many, rounded up, unless the user's environment says otherwise. */
void bn_devices_enough_threads(double threads);

/* Whether kernels that a process of this program has compiled need not be compiled by this one: they are in a cache
 * that all share, or had by bn_device_fetch_kernels. Not of drivers whose cache is their own affair. */
bool bn_device_shares_kernels(const bn_device *);
/* Takes over the kernels that processes which this one has started, and which have ended, have compiled. What can't be
 * had is compiled again. */
void bn_device_fetch_kernels(const bn_device *);

/* Compiles what bn_device_bandwidth launches, unless the bandwidth is known. */
BN_CHECKED bn_status bn_device_compile_copy(bn_device *);

/* What a device was asked for so far: kernels, calls that returned only when it had done all before them, and rounds of
 * messages between devices, each for the halos that one launch needed. And the most kernels that ever stood in its
 * queue without the host having seen them done. */
typedef struct bn_queue_counts {
    unsigned long long launches, waits, exchanges, most_ahead;
} bn_queue_counts;
bn_queue_counts bn_device_counts(const bn_device *);

/* What the queue of a device of a group did, by the device's own clock, where it was opened for profiling: kernels, and
 * transfers that the host did not wait for. In no order; the first BN_DEVICE_EVENTS. Waits for what is under way. */
enum { BN_DEVICE_EVENTS = 1 << 20 };
typedef struct bn_device_event {
    const char *what; /* static, or the kernel's name in its solver's table */
    bool transfer;
    double start, end; /* [s] */
} bn_device_event;
const bn_device_event *bn_device_events(bn_device *, size_t in_group, size_t *count);

#endif
