/* device_list.h: the devices found, with the handles behind their descriptions. */
#ifndef BN_HOST_DEVICE_LIST_H
#define BN_HOST_DEVICE_LIST_H

#include "device/opencl.h"

enum { BN_DEVICES_MAX = 256 };

typedef struct bn_device_list {
    size_t count;
    bn_device_info *info;
    struct bn_device_entry {
        cl_platform_id platform;
        cl_device_id id;
        bn_quirks quirks;
    } * entry;
} bn_device_list;

/* Finds the devices once per context. */
BN_CHECKED bn_status bn_device_list_get(bn_context *, const bn_device_list **lent);

/* pocl_cache.c: gives PoCL a folder of this process's own, before PoCL is loaded. */
BN_CHECKED bn_status bn_pocl_cache_choose(bn_context *);
/* Links what is in the folders of processes that have ended, this one's children among them, into its own. */
void bn_pocl_cache_fetch(void);

/* Why there is none: the first call that failed. */
typedef struct bn_no_device {
    const char *call;
    cl_int status;
} bn_no_device;
/* icd_loader.c: the message for "no OpenCL device": which loader searched where, what it found, what to install. */
bn_status bn_fail_no_device(bn_context *, const bn_no_device *, size_t platforms);

#endif
