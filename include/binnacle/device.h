/* device.h: which OpenCL devices are there, how they are named, and which one to take. */
#ifndef BINNACLE_DEVICE_H
#define BINNACLE_DEVICE_H

#include "binnacle/context.h"
#include <stdint.h>

BN_INTERFACE_BEGIN

typedef struct bn_device bn_device;

typedef struct bn_device_info {
    size_t index;                             /* as in `binnacle devices` and --device */
    size_t platform_index, index_in_platform; /* --device P:D */
    const char *name;                         /* CL_DEVICE_NAME, white space folded */
    const char *platform;                     /* CL_PLATFORM_NAME */
    const char *vendor;
    const char *driver;      /* CL_DRIVER_VERSION */
    const char *version;     /* CL_DEVICE_VERSION */
    const char *extensions;  /* CL_DEVICE_EXTENSIONS, words with a space between them */
    bool cpu;                /* a CPU rather than a GPU or accelerator */
    bool fp64;               /* cl_khr_fp64 or double in core */
    bool int64_atomics;      /* cl_khr_int64_base_atomics */
    bool exact_division;     /* fp32 / and sqrt correctly rounded (natively or by build flag) */
    uint64_t bytes;          /* global memory [B] */
    uint64_t largest_buffer; /* CL_DEVICE_MAX_MEM_ALLOC_SIZE [B] */
    uint64_t local_bytes;    /* local memory of a work-group [B] */
    uint32_t compute_units, clock_mhz;
    uint32_t threads;      /* of a CPU, where a run of few points takes fewer than it has compute units; 0: all */
    size_t max_work_group; /* work-items */
    size_t max_work_item[3];
    bool side_by_side; /* work-groups that fit together run together, and may wait for each other */
    double bandwidth;  /* measured copy bandwidth, read + write [B/s]; 0 if it has not been measured */
} bn_device_info;

/* A work-group shape for one kernel. */
typedef struct bn_kernel_group {
    const char *kernel;
    size_t shape[3];
} bn_kernel_group;

/* All usable devices, in a stable order (platform order of the loader, then device order). Platforms that fail or
 * have no device are logged and skipped. `*lent` lives as long as the context. Fails with BN_DEVICE when there is no
 * device at all, with a text that says which loader looked where and what to install. */
BN_CHECKED bn_status bn_devices(bn_context *, const bn_device_info **lent, size_t *count);

/* Which devices a selector names: "auto", "3", "0:1", "gpu", "gpu:1", "cpu", "cpu:0", a part of a name (any case;
 * ambiguity is an error that lists the matches), "all", or a list "0,2". "gpu" names the fastest GPU and, as far as
 * there is room, all others of the same name and platform. NULL or "": $BINNACLE_DEVICE, else "auto". auto: a GPU
 * before a CPU, then the larger measured copy bandwidth where all of the candidates have one, then compute units times
 * clock, then the lower index. Writes at most `room` indices to `indices`. `reason` (may be NULL) receives why, static
 * or context-owned. */
BN_CHECKED bn_status bn_device_select(bn_context *, const char *selector, size_t *indices, size_t room, size_t *count,
                                      const char **reason);

/* Opens what the selector names: a device, or several that work on a simulation together ("all", "0,2", "gpu"), the
 * first of which then stands for them all. Of several ranks on one machine (bn_context_join) each opens its share; all
 * ranks call this together. */
BN_CHECKED bn_status bn_device_open(bn_context *, const char *selector, bool profile, bn_device **out);
void bn_device_close(bn_device **);
const bn_device_info *bn_device_describe(const bn_device *);
size_t bn_device_local_count(const bn_device *);                    /* devices of this process that work together */
const bn_device_info *bn_device_local(const bn_device *, size_t i); /* the i-th of them */
size_t bn_device_global_count(const bn_device *);                   /* and those of all ranks */
/* The device that stands for them all, with no more memory than any of those of all ranks has: what is decided by it,
 * all ranks decide alike. */
const bn_device_info *bn_device_least(const bn_device *);

/* Shares of the cells, in the order of the devices, for as many boxes as there are devices; every rank gives the same.
 * BN_USAGE unless there is a positive number for each. Unasked, different devices of one process share by their
 * measured copy bandwidths. */
BN_CHECKED bn_status bn_device_weigh(bn_device *, const double *weights, size_t count);

/* The implementation must not be called from two threads: output is then written in place. */
bool bn_device_single_threaded(const bn_device *);

/* Measured copy bandwidth [B/s], read + write; measures (about 0.2 s) when it isn't known yet and keeps it in the
 * cache. */
BN_CHECKED bn_status bn_device_bandwidth(bn_device *, double *bytes_per_second);

/* One line per vendor file and platform: loaded, failed (and why), or without devices: for `devices --check`.
 * Written to `*text`, to be freed by the caller. Never opens a device in this process. */
BN_CHECKED bn_status bn_device_check_icd_loader(bn_context *, char **text);

BN_INTERFACE_END
#endif
