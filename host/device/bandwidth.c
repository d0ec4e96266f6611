/* bandwidth.c: how fast a device copies its own memory, measured once per device and driver and kept in the cache.
 * Every share of the limit that the program prints is a share of this. */
#include "device/bandwidth.h"

#include "device/device_thread.h"
#include "api/embedded_files.h"
#include "device/program_build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BN_COPY_BYTES = 64 << 20, BN_COPY_ROUNDS = 8 };

static const char copy_text[] = "kernel void copy(global const float4 *restrict from, global float4 *restrict to)\n"
                                "{\n"
                                "    to[get_global_id(0)] = from[get_global_id(0)];\n"
                                "}\n";

/* <cache>/devices/HASHwhat.txt, the hash over everything that tells devices and drivers apart; false when there is no
 * cache. Makes the folder. */
static bool kept_path(bn_context *ctx, const bn_device_info *info, const char *what, char *path, size_t room)
{
    const char *dir = bn_context_cache_dir(ctx);
    if (!dir || snprintf(path, room, "%s/devices", dir) >= (int)room)
        return false;
    (void)mkdir(path, 0700);
    const char *const parts[] = { info->name, info->platform, info->driver, info->version };
    uint64_t h = BN_HASH_START;
    for (size_t i = 0; i < 4; i++)
        h = bn_hash(h, parts[i], strlen(parts[i]) + 1);
    return snprintf(path, room, "%s/devices/%016llx%s.txt", dir, (unsigned long long)h, what) < (int)room;
}

FILE *bn_device_kept(bn_context *ctx, const bn_device_info *info, const char *what)
{
    char path[4096];
    return kept_path(ctx, info, what, path, sizeof path) ? fopen(path, "r") : NULL;
}

void bn_device_keep(bn_context *ctx, const bn_device_info *info, const char *what, const char *text)
{
    char path[4096], aside[4200];
    if (!kept_path(ctx, info, what, path, sizeof path))
        return;
    snprintf(aside, sizeof aside, "%s.%ld", path, (long)getpid());
    FILE *f = fopen(aside, "w");
    if (!f)
        return;
    bool ok = fprintf(f, "%s# %s, %s, driver %s\n", text, info->name, info->platform, info->driver) > 0;
    ok = fclose(f) == 0 && ok;
    if (!ok || rename(aside, path) != 0)
        (void)remove(aside);
}

double bn_bandwidth_known(bn_context *ctx, const bn_device_info *info)
{
    double value = 0;
    FILE *f = bn_device_kept(ctx, info, "");
    if (!f)
        return 0;
    if (fscanf(f, "copy_bytes_per_second %lf", &value) != 1 || !isfinite(value) || value < 1e6 || value > 1e15)
        value = 0;
    fclose(f);
    return value;
}

/* Best of several batches by the host's clock; the first batch warms up. Stops after about 0.2 s. */
static bn_status measure(bn_device *d, cl_kernel kernel, size_t bytes, double *value)
{
    const size_t items = bytes / 16;
    const double begin = bn_seconds_now();
    *value = 0;
    for (int batch = 0; batch < 16 && (batch < 3 || bn_seconds_now() - begin < 0.2); batch++) {
        const double start = bn_seconds_now();
        for (int i = 0; i < BN_COPY_ROUNDS; i++)
            BN_CL(d, "measuring bandwidth", clEnqueueNDRangeKernel, bn_queue(d), kernel, 1, NULL, &items, NULL, 0, NULL,
                  NULL);
        BN_CL(d, "measuring bandwidth", clFinish, bn_queue(d));
        const double rate = 2.0 * (double)bytes * BN_COPY_ROUNDS / (bn_seconds_now() - start);
        if (batch > 0 && rate > *value)
            *value = rate;
    }
    return BN_OK;
}

bn_status bn_device_bandwidth(bn_device *d, double *bytes_per_second)
{
    *bytes_per_second = d->info.bandwidth;
    if (d->info.bandwidth > 0)
        return BN_OK;
    bn_status st = BN_OK;
    char text[64];
    cl_int status;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem from = NULL, to = NULL;
    size_t bytes = BN_COPY_BYTES * (d->info.cpu ? 1u : 4u); /* several times a GPU's last cache */
    cl_ulong cache = 0;
    BN_CL(d, "measuring bandwidth", clGetDeviceInfo, d->id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache, &cache,
          NULL);
    while (2 * bytes < cache)
        bytes *= 2;
    while (bytes > d->info.largest_buffer / 4 && bytes > 4096)
        bytes /= 2;
    BN_GO(bn_cl_build(d, "copy (built in)", copy_text, "-cl-std=CL1.2", &program, NULL));
    kernel = clCreateKernel(program, "copy", &status);
    if (status == CL_SUCCESS)
        from = clCreateBuffer(d->cl, CL_MEM_READ_WRITE, bytes, NULL, &status);
    if (status == CL_SUCCESS)
        to = clCreateBuffer(d->cl, CL_MEM_READ_WRITE, bytes, NULL, &status);
    const cl_uint zero = 0;
    if (status == CL_SUCCESS)
        status = clEnqueueFillBuffer(bn_queue(d), from, &zero, sizeof zero, 0, bytes, 0, NULL, NULL);
    if (status == CL_SUCCESS)
        status = clSetKernelArg(kernel, 0, sizeof from, &from);
    if (status == CL_SUCCESS)
        status = clSetKernelArg(kernel, 1, sizeof to, &to);
    if (status != CL_SUCCESS) {
        st = bn_cl_fail(d, status, "preparing the copy", "measuring bandwidth");
        goto out;
    }
    BN_GO(measure(d, kernel, bytes, bytes_per_second));
    d->info.bandwidth = *bytes_per_second;
    d->listed->bandwidth = *bytes_per_second;
    snprintf(text, sizeof text, "copy_bytes_per_second %.6g\n", *bytes_per_second);
    bn_device_keep(d->ctx, &d->info, "", text);
out:
    if (from)
        clReleaseMemObject(from);
    if (to)
        clReleaseMemObject(to);
    if (kernel)
        clReleaseKernel(kernel);
    if (program)
        clReleaseProgram(program);
    return st;
}
