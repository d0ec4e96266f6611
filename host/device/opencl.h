/* opencl.h: what the files of host/ share about OpenCL: the device's handles, checked calls, program texts. Nothing
 * outside host/ sees it. */
#ifndef BN_HOST_OPENCL_H
#define BN_HOST_OPENCL_H

#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include "api/domain.h"
#include "api/launch.h"
#include "binnacle/device.h"

/* Quirks of implementations (style R18): rows of test, remedy, reason, source, date in quirks.c; no vendor name stands
 * anywhere else. */
typedef enum bn_cache_policy { BN_CACHE_OURS, BN_CACHE_PLATFORM } bn_cache_policy;
typedef struct bn_quirks {
    bn_cache_policy cache;    /* whose binary cache to use */
    bool single_threaded;     /* the implementation must not be called from two threads */
    bool register_option;     /* -cl-nv-maxrregcount is understood */
    bool exact_division_flag; /* -cl-fp32-correctly-rounded-divide-sqrt is understood */
    bool runs_gpu_kernels;    /* a CPU by its own word that is given what GPUs are given */
    int sub_group;            /* work-items that run together, asked of every kernel; 0: the compiler chooses */
    bool excluded;            /* never offered (OpenCL 1.1 only, known to be broken) */
    const char *why_excluded;
    size_t preferred_work_group; /* work-items for kernels per cell; 0: ask the kernel */
} bn_quirks;

/* What stands in a device's queue (ahead.c): markers, the oldest first, each with the launches before it. */
typedef struct bn_queue_limit {
    cl_event marker[2];
    unsigned markers, launches[2];
    unsigned since, batch; /* launches behind the last marker, and how many until the next */
    double waited;         /* [s] when the last wait ended */
} bn_queue_limit;

struct bn_device {
    bn_context *ctx;
    bn_device_info info; /* texts owned by the context's device list */
    bn_quirks quirks;
    cl_platform_id platform;
    cl_device_id id;
    cl_context cl;
    cl_command_queue queue; /* in order; everything that computes */
    /* In order, for what goes to other devices and comes from them while the first one computes; only where there are
     * others. */
    cl_command_queue outgoing, incoming;
    /* The devices of this process that work together, this one first; only the first one knows them. `slots`: devices
     * of all processes, of which this process has those from `first_slot`. */
    struct bn_device **team;
    size_t team_count, slots, first_slot;
    bn_device_info least; /* as info, with the least memory of all of them */
    double *weights;      /* of all slots: their shares of the cells; NULL: alike */
    bool profile;         /* the queue takes event times */
    cl_uint align_bytes;  /* CL_DEVICE_MEM_BASE_ADDR_ALIGN / 8 */
    bn_queue_counts counts;
    bn_queue_limit ahead;
};

/* The name of an OpenCL status, "CL_OUT_OF_RESOURCES"; "CL error -9999" for unknown ones; static storage. */
const char *bn_cl_name(cl_int status);

/* Fails with BN_MEMORY for allocation failures and BN_DEVICE for the rest: "clFinish failed on NVIDIA H200:
 * CL_OUT_OF_RESOURCES (while ...)". `what` says what was being done, may be NULL. A lost device gets advice. */
bn_status bn_cl_fail(const bn_device *, cl_int status, const char *call, const char *what);

#define BN_CL(device, what, call_, ...)                              \
    do {                                                             \
        cl_int cl_status_ = call_(__VA_ARGS__);                      \
        if (cl_status_ != CL_SUCCESS)                                \
            return bn_cl_fail((device), cl_status_, #call_, (what)); \
    } while (0)

/* To be called before each launch: waits while too much is in the queue. And before the queue is released. */
BN_CHECKED bn_status bn_limit_queue(bn_device *, const char *what);
void bn_unlimit_queue(bn_device *);

/* Builds the program text for one device: `options` and `text` final, `name` for messages. Uses the binary cache where
 * the quirks say so. On failure BN_DEVICE with the compiler's log. `*cached` tells where it came from (may be NULL). */
BN_CHECKED bn_status bn_cl_build(bn_device *, const char *name, const char *text, const char *options, cl_program *out,
                                 bool *cached);

/* The complete text of kernels/FILE.cl for these defines: a comment with the sorted define list, the prelude
 * (device/prelude.def), each file behind a #line; from the override folder if the context has one, else embedded.
 * free() both. */
BN_CHECKED bn_status bn_kernel_text(bn_context *, const char *file, const bn_define *sorted, size_t count, bn_precision,
                                    char **text, char **options);

/* The quirks of a device, from its platform's and its own description. `least_sub_group`: the smallest number of
 * work-items that its compiler can let run together, 0 where the device does not say. */
bn_quirks bn_quirks_find(const bn_device_info *, size_t least_sub_group);

#endif
