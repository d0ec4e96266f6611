/* quirks.h: what is special about implementations: rows of test, remedy, reason, source and date in quirks.c. No
 * vendor's name stands anywhere else. */
#ifndef BN_HOST_QUIRKS_H
#define BN_HOST_QUIRKS_H

#include "binnacle/device.h"

/* Who keeps compiled programs: this program, the platform, or the platform in a folder of each process. */
typedef enum bn_cache_policy { BN_CACHE_OURS, BN_CACHE_PLATFORM, BN_CACHE_FOLDER } bn_cache_policy;

typedef struct bn_quirks {
    bn_cache_policy cache;        /* whose binary cache to use */
    bool wakes_all_threads;       /* for every launch, however small; their number is asked for by the environment */
    bool single_threaded;         /* the implementation must not be called from two threads */
    bool register_option;         /* -cl-nv-maxrregcount and -cl-nv-verbose are understood */
    bool exact_division_flag;     /* -cl-fp32-correctly-rounded-divide-sqrt is understood */
    bool parallel_builds;         /* programs are compiled in threads beside the host */
    bool local_counted_twice;     /* what it says that a kernel takes of local memory is twice what it takes */
    bool runs_alone;              /* a kernel must not run twice at a time: not on two devices, nor in two queues */
    bool runs_gpu_kernels;        /* a CPU by its own word that is given what GPUs are given */
    bool minutes_over_vectors;    /* its compiler takes minutes over kernels that are written in wide vectors */
    int sub_group;                /* work-items that run together, asked of every kernel; 0: the compiler chooses */
    const char *option;           /* of every build; words are known to kernels/lib; NULL: none */
    const char *variable, *value; /* of the environment, for its compiler, unless it is set; NULL: none */
    bool excluded;                /* never offered (OpenCL 1.1 only, known to be broken) */
    const char *why_excluded;
    double loop_limit; /* most iterations of all loops together that a work-item does in a launch; 0: any number */
    bool side_by_side; /* a launch's work-groups run together as long as they fit, so that they may wait for each other
                        */
    size_t preferred_work_group; /* work-items for kernels per cell; 0: ask the kernel */
} bn_quirks;

/* The quirks of a device, from its platform's and its own description. `least_sub_group`: the smallest number of
 * work-items that its compiler can let run together, 0 where the device does not say. */
bn_quirks bn_quirks_find(const bn_device_info *, size_t least_sub_group);

/* Processors, where the environment says how many threads a CPU's driver takes (bn_devices_enough_threads); else 0. */
uint32_t bn_quirks_processors(void);

#endif
