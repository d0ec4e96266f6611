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

/* A CPU of which a run takes so many threads copies as fast as these do. */
typedef struct kept_name {
    char text[32];
} kept_name;

static kept_name name_of(const bn_device_info *info)
{
    kept_name name = { "" };
    if (info->threads > 0)
        snprintf(name.text, sizeof name.text, "-%u-threads", (unsigned)info->threads);
    return name;
}

double bn_bandwidth_known(bn_context *ctx, const bn_device_info *info)
{
    double value = 0;
    FILE *f = bn_device_kept(ctx, info, name_of(info).text);
    if (!f)
        return 0;
    if (fscanf(f, "copy_bytes_per_second %lf", &value) != 1 || !isfinite(value) || value < 1e6 || value > 1e15)
        value = 0;
    fclose(f);
    return value;
}

/* The copy of a part of memory to another one, as large as its measurement asks for. */
typedef struct copy {
    cl_program program;
    cl_kernel kernel;
    cl_mem from, to;
    size_t bytes;
} copy;

static void release(copy *c)
{
    if (c->from)
        clReleaseMemObject(c->from);
    if (c->to)
        clReleaseMemObject(c->to);
    if (c->kernel)
        clReleaseKernel(c->kernel);
    if (c->program)
        clReleaseProgram(c->program);
}

/* Release it also after a failure. */
static bn_status prepare(bn_device *d, copy *c)
{
    cl_int status;
    cl_ulong cache = 0;
    *c = (copy){ .bytes = BN_COPY_BYTES * (d->info.cpu ? 1u : 4u) }; /* several times a GPU's last cache */
    BN_CL(d, "measuring bandwidth", clGetDeviceInfo, d->id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache, &cache,
          NULL);
    while (2 * c->bytes < cache)
        c->bytes *= 2;
    while (c->bytes > d->info.largest_buffer / 4 && c->bytes > 4096)
        c->bytes /= 2;
    BN_TRY(bn_cl_build(d, "copy (built in)", copy_text, "-cl-std=CL1.2", &c->program, NULL));
    c->kernel = clCreateKernel(c->program, "copy", &status);
    if (status == CL_SUCCESS)
        c->from = clCreateBuffer(d->cl, CL_MEM_READ_WRITE, c->bytes, NULL, &status);
    if (status == CL_SUCCESS)
        c->to = clCreateBuffer(d->cl, CL_MEM_READ_WRITE, c->bytes, NULL, &status);
    const cl_uint zero = 0;
    if (status == CL_SUCCESS)
        status = clEnqueueFillBuffer(bn_queue(d), c->from, &zero, sizeof zero, 0, c->bytes, 0, NULL, NULL);
    if (status == CL_SUCCESS)
        status = clSetKernelArg(c->kernel, 0, sizeof c->from, &c->from);
    if (status == CL_SUCCESS)
        status = clSetKernelArg(c->kernel, 1, sizeof c->to, &c->to);
    return status == CL_SUCCESS ? BN_OK : bn_cl_fail(d, status, "preparing the copy", "measuring bandwidth");
}

static bn_status launch(bn_device *d, const copy *c, int rounds)
{
    const size_t items = c->bytes / 16;
    for (int i = 0; i < rounds; i++)
        BN_CL(d, "measuring bandwidth", clEnqueueNDRangeKernel, bn_queue(d), c->kernel, 1, NULL, &items, NULL, 0, NULL,
              NULL);
    BN_CL(d, "measuring bandwidth", clFinish, bn_queue(d));
    return BN_OK;
}

/* Best of several batches by the host's clock; the first batch warms up. Stops after about 0.2 s. */
static bn_status measure(bn_device *d, const copy *c, double *value)
{
    const double begin = bn_seconds_now();
    *value = 0;
    for (int batch = 0; batch < 16 && (batch < 3 || bn_seconds_now() - begin < 0.2); batch++) {
        const double start = bn_seconds_now();
        BN_TRY(launch(d, c, BN_COPY_ROUNDS));
        const double rate = 2.0 * (double)c->bytes * BN_COPY_ROUNDS / (bn_seconds_now() - start);
        if (batch > 0 && rate > *value)
            *value = rate;
    }
    return BN_OK;
}

bn_status bn_device_bandwidth(bn_device *d, double *bytes_per_second)
{
    copy c;
    char text[64];
    *bytes_per_second = d->info.bandwidth;
    if (d->info.bandwidth > 0)
        return BN_OK;
    bn_status st = prepare(d, &c);
    if (st == BN_OK)
        st = measure(d, &c, bytes_per_second);
    release(&c);
    if (st != BN_OK)
        return st;
    d->info.bandwidth = *bytes_per_second;
    if (d->info.threads == 0)
        d->listed->bandwidth = *bytes_per_second;
    snprintf(text, sizeof text, "copy_bytes_per_second %.6g\n", *bytes_per_second);
    bn_device_keep(d->ctx, &d->info, name_of(&d->info).text, text);
    return BN_OK;
}

bn_status bn_device_compile_copy(bn_device *d)
{
    copy c;
    if (d->info.bandwidth > 0)
        return BN_OK;
    bn_status st = prepare(d, &c);
    if (st == BN_OK)
        st = launch(d, &c, 1);
    release(&c);
    return st;
}
