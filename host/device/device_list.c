/* device_list.c: finds the OpenCL devices of this machine and describes them. */
#include "device/bandwidth.h"
#include "device/device_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { BN_PLATFORMS_MAX = 64 };

/* A text property in fresh memory, white space folded; "" when it can't be read. */
static char *text_of(cl_device_id device, cl_platform_id platform, cl_uint what)
{
    char raw[65536] = "";
    cl_int status = device ? clGetDeviceInfo(device, what, sizeof raw - 1, raw, NULL)
                           : clGetPlatformInfo(platform, what, sizeof raw - 1, raw, NULL);
    if (status != CL_SUCCESS)
        raw[0] = '\0';
    char *out = malloc(strlen(raw) + 1);
    size_t n = 0;
    for (const char *p = raw; out && *p; p++)
        if (!isspace((unsigned char)*p) || (n > 0 && out[n - 1] != ' '))
            out[n++] = isspace((unsigned char)*p) ? ' ' : *p;
    if (out)
        out[n > 0 && out[n - 1] == ' ' ? n - 1 : n] = '\0';
    return out;
}

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)) != NULL; p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

#define NUMBER(id, what, target) (void)clGetDeviceInfo((id), (what), sizeof(target), &(target), NULL)

/* BINNACLE_DEVICE_BYTES: a device says that it has no more memory than that. For tests of what does not fit. */
static void limit_memory(bn_device_info *info)
{
    const char *text = getenv("BINNACLE_DEVICE_BYTES");
    const uint64_t limit = text ? strtoull(text, NULL, 10) : 0;
    if (limit > 0 && limit < info->bytes)
        info->bytes = limit;
    if (limit > 0 && limit < info->largest_buffer)
        info->largest_buffer = limit;
}

/* BINNACLE_DEVICE_TYPE=gpu: a CPU counts as a GPU and is given the kernels of one, so that a machine without a GPU can
 * run and compile them. */
static bool counts_as_cpu(cl_device_type type)
{
    const char *text = getenv("BINNACLE_DEVICE_TYPE");
    return (type & CL_DEVICE_TYPE_CPU) != 0 && !(text && strcmp(text, "gpu") == 0);
}

/* The smallest sub-group that a device's compiler offers, 0 where it does not say. */
static size_t least_sub_group(cl_device_id id, const char *extensions)
{
    enum { SUB_GROUP_SIZES = 0x4108, SIZES_MAX = 16 }; /* CL_DEVICE_SUB_GROUP_SIZES_INTEL */
    size_t sizes[SIZES_MAX], bytes = 0, least = 0;
    if (!has_word(extensions, "cl_intel_required_subgroup_size") ||
        clGetDeviceInfo(id, SUB_GROUP_SIZES, sizeof sizes, sizes, &bytes) != CL_SUCCESS)
        return 0;
    for (size_t i = 0; i < bytes / sizeof *sizes && i < SIZES_MAX; i++)
        if (least == 0 || sizes[i] < least)
            least = sizes[i];
    return least;
}

/* *why: the first failure to tell what kernels are made for; with half of that they would be made for another device.
 */
static bn_status describe(bn_context *ctx, cl_platform_id platform, cl_device_id id, bn_device_info *info,
                          struct bn_device_entry *entry, cl_int *why)
{
#define FACT(what, target) \
    *why = *why == CL_SUCCESS ? clGetDeviceInfo(id, (what), sizeof(target), &(target), NULL) : *why
    char *extensions = text_of(id, NULL, CL_DEVICE_EXTENSIONS);
    cl_device_type type = 0;
    cl_ulong memory = 0, largest = 0, local = 0;
    cl_device_fp_config single = 0, full = 0;
    info->extensions = extensions;
    info->name = text_of(id, NULL, CL_DEVICE_NAME);
    info->platform = text_of(NULL, platform, CL_PLATFORM_NAME);
    info->vendor = text_of(id, NULL, CL_DEVICE_VENDOR);
    info->driver = text_of(id, NULL, CL_DRIVER_VERSION);
    info->version = text_of(id, NULL, CL_DEVICE_VERSION);
    if (!extensions || !info->name || !info->platform || !info->vendor || !info->driver || !info->version)
        return bn_fail(ctx, BN_MEMORY, "no memory for the description of a device");
    *why = CL_SUCCESS;
    FACT(CL_DEVICE_TYPE, type);
    FACT(CL_DEVICE_GLOBAL_MEM_SIZE, memory);
    FACT(CL_DEVICE_MAX_MEM_ALLOC_SIZE, largest);
    FACT(CL_DEVICE_LOCAL_MEM_SIZE, local);
    FACT(CL_DEVICE_MAX_WORK_GROUP_SIZE, info->max_work_group);
    FACT(CL_DEVICE_MAX_WORK_ITEM_SIZES, info->max_work_item);
    FACT(CL_DEVICE_SINGLE_FP_CONFIG, single);
    NUMBER(id, CL_DEVICE_MAX_COMPUTE_UNITS, info->compute_units);
    NUMBER(id, CL_DEVICE_MAX_CLOCK_FREQUENCY, info->clock_mhz);
    info->cpu = counts_as_cpu(type);
    info->bytes = memory;
    info->largest_buffer = largest;
    info->local_bytes = local;
    if (has_word(extensions, "cl_khr_fp64"))
        FACT(CL_DEVICE_DOUBLE_FP_CONFIG, full);
#undef FACT
    info->fp64 = full != 0;
    info->int64_atomics = has_word(extensions, "cl_khr_int64_base_atomics");
    info->exact_division = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    if (info->max_work_group < 1)
        info->max_work_group = 1;
    for (int i = 0; i < 3; i++)
        if (info->max_work_item[i] < 1)
            info->max_work_item[i] = 1;
    limit_memory(info);
    *entry = (struct bn_device_entry){ platform, id, bn_quirks_find(info, least_sub_group(id, extensions)) };
    entry->quirks.exact_division_flag = info->exact_division;
    info->side_by_side = entry->quirks.side_by_side && !info->cpu;
    info->bandwidth = bn_bandwidth_known(ctx, info);
    /* What is chosen and compiled for a CPU does not depend on how many of its threads a run takes, nor do processes
     * that the run starts. */
    const uint32_t processors = entry->quirks.wakes_all_threads ? bn_quirks_processors() : 0;
    if (processors > info->compute_units) {
        info->threads = info->compute_units;
        info->compute_units = processors;
    }
    return BN_OK;
}

static void free_texts(bn_device_info *info)
{
    free((char *)info->name);
    free((char *)info->platform);
    free((char *)info->vendor);
    free((char *)info->driver);
    free((char *)info->version);
    free((char *)info->extensions);
    *info = (bn_device_info){ 0 };
}

/* The parts of a CPU, made once and kept until the process ends: a thread of PoCL 3.1 may look at the device of a
 * command that has ended after the host has seen that end, and the command's queue does not keep a part alive. */
static struct {
    pthread_mutex_t lock;
    cl_device_id whole, part[BN_DEVICES_MAX];
    cl_uint made;
    long parts;
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* `parts` devices with a share of the cores each; 0: the implementation does not do that. */
static cl_uint take_parts(cl_device_id whole, long parts, cl_uint units, cl_device_id *out)
{
    const cl_device_partition_property equally[] = { CL_DEVICE_PARTITION_EQUALLY,
                                                     (cl_device_partition_property)(units / parts), 0 };
    pthread_mutex_lock(&kept.lock);
    if (kept.whole != whole || kept.parts != parts) { /* other ones stay where they are in use */
        kept.made = 0;
        if (clCreateSubDevices(whole, equally, BN_DEVICES_MAX, kept.part, &kept.made) != CL_SUCCESS ||
            kept.made < (cl_uint)parts)
            kept.made = 0;
        kept.whole = whole;
        kept.parts = parts;
    }
    const cl_uint count = kept.made > 0 ? (cl_uint)parts : 0;
    memcpy(out, kept.part, count * sizeof *out);
    pthread_mutex_unlock(&kept.lock);
    return count;
}

/* BINNACLE_PARTITION=4: a platform's only device stands for four, a CPU with a share of its cores each; where there are
 * not so many, and on a GPU, they share them. For trying out several devices on one. */
static void part_device(cl_device_id ids[BN_DEVICES_MAX], cl_uint *count)
{
    const char *text = getenv("BINNACLE_PARTITION");
    const long parts = text ? strtol(text, NULL, 10) : 0;
    cl_device_type type = 0;
    cl_uint units = 0;
    if (parts < 2 || parts > BN_DEVICES_MAX || *count != 1)
        return;
    NUMBER(ids[0], CL_DEVICE_TYPE, type);
    NUMBER(ids[0], CL_DEVICE_MAX_COMPUTE_UNITS, units);
    *count = (cl_uint)parts;
    if ((type & CL_DEVICE_TYPE_CPU) && units >= (cl_uint)parts && take_parts(ids[0], parts, units, ids) > 0)
        return;
    for (long i = 1; i < parts; i++)
        ids[i] = ids[0];
}

/* Adds the devices of one platform; one that fails or has none is skipped: *why, if nothing was there to tell yet. */
static bn_status add_platform(bn_context *ctx, bn_device_list *list, cl_platform_id platform, size_t platform_index,
                              bn_no_device *why)
{
    cl_device_id ids[BN_DEVICES_MAX];
    cl_uint count = 0;
    cl_int status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, BN_DEVICES_MAX, ids, &count);
    if (status != CL_SUCCESS) {
        char *name = text_of(NULL, platform, CL_PLATFORM_NAME);
        bn_log(ctx, BN_LOG_INFO, "platform %zu (%s): %s", platform_index, name ? name : "",
               status == CL_DEVICE_NOT_FOUND ? "no devices" : bn_cl_name(status));
        free(name);
        *why = why->status == CL_DEVICE_NOT_FOUND ? (bn_no_device){ "clGetDeviceIDs", status } : *why;
        return BN_OK;
    }
    if (count > BN_DEVICES_MAX)
        count = BN_DEVICES_MAX;
    part_device(ids, &count);
    for (size_t i = 0; i < count && list->count < BN_DEVICES_MAX; i++) {
        bn_device_info *info = &list->info[list->count];
        BN_TRY(describe(ctx, platform, ids[i], info, &list->entry[list->count], &status));
        if (status != CL_SUCCESS) {
            bn_log(ctx, BN_LOG_WARNING, "%s (%s) is left out: clGetDeviceInfo failed: %s", info->name, info->platform,
                   bn_cl_name(status));
            *why = why->status == CL_DEVICE_NOT_FOUND ? (bn_no_device){ "clGetDeviceInfo", status } : *why;
            free_texts(info);
            continue;
        }
        if (list->entry[list->count].quirks.excluded) {
            bn_log(ctx, BN_LOG_INFO, "%s (%s) is left out: %s", info->name, info->platform,
                   list->entry[list->count].quirks.why_excluded);
            free_texts(info);
            continue;
        }
        info->index = list->count++;
        info->platform_index = platform_index;
        info->index_in_platform = i;
    }
    return BN_OK;
}

static void destroy_list(void *object)
{
    bn_device_list *list = object;
    for (size_t i = 0; list && list->info && i < BN_DEVICES_MAX; i++)
        free_texts(&list->info[i]);
    if (list) {
        free(list->info);
        free(list->entry);
    }
    free(list);
}

static bn_status find_devices(bn_context *ctx, const bn_device_list **lent)
{
    cl_platform_id platforms[BN_PLATFORMS_MAX];
    cl_uint count = 0;
    bn_no_device why = { "clGetPlatformIDs", clGetPlatformIDs(BN_PLATFORMS_MAX, platforms, &count) };
    if (why.status != CL_SUCCESS)
        count = 0;
    else
        why.status = CL_DEVICE_NOT_FOUND;
    if (count > BN_PLATFORMS_MAX)
        count = BN_PLATFORMS_MAX;
    bn_status st = BN_OK;
    bn_device_list *list = calloc(1, sizeof *list);
    if (!list || !(list->info = calloc(BN_DEVICES_MAX, sizeof *list->info)) ||
        !(list->entry = calloc(BN_DEVICES_MAX, sizeof *list->entry)))
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for the list of devices"));
    for (size_t p = 0; p < count; p++)
        BN_GO(add_platform(ctx, list, platforms[p], p, &why));
    if (list->count == 0) {
        st = bn_fail_no_device(ctx, &why, count);
        goto out;
    }
    *lent = list;
    return bn_attach(ctx, &ctx->attached, list, destroy_list);
out:
    destroy_list(list);
    return st;
}

bn_status bn_device_list_get(bn_context *ctx, const bn_device_list **lent)
{
    sigset_t before;
    *lent = bn_attached(ctx->attached, destroy_list);
    if (*lent)
        return BN_OK;
    BN_TRY(bn_pocl_cache_choose(ctx));
    bn_hold_signals(&before); /* PoCL's threads, which run its compiler and linker, begin here */
    const bn_status st = find_devices(ctx, lent);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return st;
}

bn_status bn_devices(bn_context *ctx, const bn_device_info **lent, size_t *count)
{
    const bn_device_list *list;
    *lent = NULL;
    *count = 0;
    BN_TRY(bn_device_list_get(ctx, &list));
    *lent = list->info;
    *count = list->count;
    return BN_OK;
}
