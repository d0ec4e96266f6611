/* device_limits.c: what a device can do at most besides copying: arithmetic, local memory, atomics, launches,
 * transfers. Measured once per device and driver and kept in the cache, with the date. */
#include "api/limits.h"
#include "device/device_list.h"
#include "device/device_thread.h"
#include "device/bandwidth.h"
#include "device/program_build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { GROUP = 64, CHAINS = 8, ROUNDS = 512, LAUNCHES = 200, TRANSFER_BYTES = 32 << 20 };
static const char doing[] = "measuring the device";

/* Arithmetic: chains of multiply-adds that don't wait for each other, over vectors as wide as a CPU's registers (WIDE)
 * or narrow ones that leave a GPU room for many work-items. All lanes differ and all are used, or a compiler would
 * leave some out. Contraction is left on: that is the device's peak. */
static const char arithmetic_text[] = "#ifdef DOUBLE\n"
                                      "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                                      "#endif\n"
                                      "kernel void arithmetic(global R *out, const R a, const R b)\n"
                                      "{\n"
                                      "    V x0 = (V)(a) + b * (V)(LANES), x1 = x0 + b, x2 = x1 + b, x3 = x2 + b, x4 = "
                                      "x3 + b, x5 = x4 + b, x6 = x5 + b, x7 = x6 + b;\n"
                                      "    const V m = (V)(a), c = (V)(b + (R)get_global_id(0));\n"
                                      "    for (int i = 0; i < 512; i++) {\n"
                                      "        x0 = x0 * m + c; x1 = x1 * m + c; x2 = x2 * m + c; x3 = x3 * m + c;\n"
                                      "        x4 = x4 * m + c; x5 = x5 * m + c; x6 = x6 * m + c; x7 = x7 * m + c;\n"
                                      "    }\n"
                                      "    x0 += x1 + x2 + x3 + x4 + x5 + x6 + x7;\n"
                                      "    out[get_global_id(0)] = SUM(x0);\n"
                                      "}\n";

/* Work-items of a group read each other's values; the next place depends on nothing that was read. */
static const char rest_text[] = "kernel void empty(global uint *out) { (void)out; }\n"
                                "kernel void shared(global float4 *out)\n"
                                "{\n"
                                "    local float4 values[64];\n"
                                "    const uint me = get_local_id(0);\n"
                                "    float4 s = (float4)(0), t = s;\n"
                                "    values[me] = (float4)(me);\n"
                                "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                                "    for (uint i = 0; i < 512; i += 2) {\n"
                                "        s += values[(me + i) & 63];\n"
                                "        t += values[(me + i + 1) & 63];\n"
                                "    }\n"
                                "    out[get_global_id(0)] = s + t;\n"
                                "}\n"
                                "kernel void atomics(global uint *out)\n"
                                "{\n"
                                "    uint at = get_global_id(0) * 2654435761u;\n"
                                "    for (int i = 0; i < 16; i++, at = at * 1664525u + 1013904223u)\n"
                                "        (void)atomic_add(&out[at >> 16], 1u);\n"
                                "}\n";

/* Best of several launches by the host's clock; the first warms up. Stops after about 0.15 s. */
static bn_status best_seconds(bn_device *d, cl_kernel kernel, size_t items, double *best)
{
    const size_t group = GROUP;
    const double begin = bn_seconds_now();
    *best = HUGE_VAL;
    for (int i = 0; i < 32 && (i < 3 || bn_seconds_now() - begin < 0.15); i++) {
        const double start = bn_seconds_now();
        BN_CL(d, doing, clEnqueueNDRangeKernel, bn_queue(d), kernel, 1, NULL, &items, &group, 0, NULL, NULL);
        BN_CL(d, doing, clFinish, bn_queue(d));
        const double took = bn_seconds_now() - start;
        *best = i > 0 ? fmin(*best, took) : *best;
    }
    return BN_OK;
}

/* Items enough to fill the device several times over, few enough for a CPU to be done in milliseconds. */
static size_t items_of(const bn_device *d)
{
    return (size_t)(d->info.compute_units ? d->info.compute_units : 1) * (d->info.cpu ? 1024 : 16384);
}

static bn_status arithmetic(bn_device *d, cl_mem buffer, bool twice, bool wide, double *flops)
{
    bn_status st = BN_OK;
    cl_int status;
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    char options[512];
    const int lanes = (wide ? 16 : 4) / (twice ? 2 : 1);
    const char *real = twice ? "double" : "float";
    double seconds;
    /* "0,1,2,3" and "x.s0+x.s1+x.s2+x.s3" for as many lanes */
    char places[64] = "0", sum[128] = "x.s0";
    for (int lane = 1; lane < lanes; lane++) {
        snprintf(places + strlen(places), sizeof places - strlen(places), ",%d", lane);
        snprintf(sum + strlen(sum), sizeof sum - strlen(sum), "+x.s%x", (unsigned)lane);
    }
    snprintf(options, sizeof options, "-cl-std=CL1.2 -cl-mad-enable -D R=%s -D V=%s%d%s -D LANES=%s -D SUM(x)=(%s)",
             real, real, lanes, twice ? " -D DOUBLE" : "", places, sum);
    BN_GO(bn_cl_build(d, "arithmetic (built in)", arithmetic_text, options, &program, NULL));
    kernel = clCreateKernel(program, "arithmetic", &status);
    const float a4 = 0.999F, b4 = 1e-4F;
    const double a8 = 0.999, b8 = 1e-4;
    if (status == CL_SUCCESS)
        status = clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    if (status == CL_SUCCESS)
        status = twice ? clSetKernelArg(kernel, 1, sizeof a8, &a8) : clSetKernelArg(kernel, 1, sizeof a4, &a4);
    if (status == CL_SUCCESS)
        status = twice ? clSetKernelArg(kernel, 2, sizeof b8, &b8) : clSetKernelArg(kernel, 2, sizeof b4, &b4);
    if (status != CL_SUCCESS) {
        st = bn_cl_fail(d, status, "preparing arithmetic", doing);
        goto out;
    }
    const size_t items = items_of(d);
    BN_GO(best_seconds(d, kernel, items, &seconds));
    *flops = fmax(*flops, 2.0 * CHAINS * ROUNDS * lanes * (double)items / seconds);
out:
    if (kernel)
        clReleaseKernel(kernel);
    if (program)
        clReleaseProgram(program);
    return st;
}

/* An empty kernel many times, waited for at the end and every time. */
static bn_status launches(bn_device *d, cl_kernel kernel, double *launch, double *finish)
{
    const size_t items = GROUP, group = GROUP;
    *launch = *finish = HUGE_VAL;
    for (int batch = 0; batch < 6; batch++) {
        double start = bn_seconds_now();
        for (int i = 0; i < LAUNCHES; i++)
            BN_CL(d, doing, clEnqueueNDRangeKernel, bn_queue(d), kernel, 1, NULL, &items, &group, 0, NULL, NULL);
        BN_CL(d, doing, clFinish, bn_queue(d));
        const double many = (bn_seconds_now() - start) / LAUNCHES;
        start = bn_seconds_now();
        for (int i = 0; i < 20; i++) {
            BN_CL(d, doing, clEnqueueNDRangeKernel, bn_queue(d), kernel, 1, NULL, &items, &group, 0, NULL, NULL);
            BN_CL(d, doing, clFinish, bn_queue(d));
        }
        const double one = (bn_seconds_now() - start) / 20;
        if (batch > 0) {
            *launch = fmin(*launch, many);
            *finish = fmin(*finish, one);
        }
    }
    return BN_OK;
}

static bn_status transfers(bn_device *d, cl_mem buffer, size_t bytes, double *upload, double *download)
{
    cl_int status;
    bn_status st = BN_OK;
    cl_mem pinned = clCreateBuffer(d->cl, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &status);
    void *host = status == CL_SUCCESS ? clEnqueueMapBuffer(bn_queue(d), pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                                           bytes, 0, NULL, NULL, &status)
                                      : NULL;
    if (host)
        memset(host, 1, bytes);
    for (int i = 0; i < 4 && status == CL_SUCCESS; i++) { /* the first warms up */
        double start = bn_seconds_now();
        status = clEnqueueWriteBuffer(bn_queue(d), buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL);
        if (i > 0)
            *upload = fmax(*upload, (double)bytes / (bn_seconds_now() - start));
        start = bn_seconds_now();
        if (status == CL_SUCCESS)
            status = clEnqueueReadBuffer(bn_queue(d), buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL);
        if (i > 0)
            *download = fmax(*download, (double)bytes / (bn_seconds_now() - start));
    }
    if (host) {
        const cl_int unmapped = clEnqueueUnmapMemObject(bn_queue(d), pinned, host, 0, NULL, NULL);
        const cl_int done = clFinish(bn_queue(d));
        status = status != CL_SUCCESS ? status : unmapped != CL_SUCCESS ? unmapped : done;
    }
    if (pinned)
        clReleaseMemObject(pinned);
    if (status != CL_SUCCESS)
        st = bn_cl_fail(d, status, "timing transfers", doing);
    return st;
}

static bn_status rest(bn_device *d, cl_mem buffer, size_t bytes, bn_device_limits *p)
{
    static const char *const names[] = { "empty", "shared", "atomics" };
    bn_status st = BN_OK;
    cl_int status = CL_SUCCESS;
    cl_program program = NULL;
    cl_kernel kernels[3] = { NULL };
    double seconds;
    const double items = (double)items_of(d);
    BN_GO(bn_cl_build(d, "peaks (built in)", rest_text, "-cl-std=CL1.2", &program, NULL));
    for (int k = 0; k < 3 && status == CL_SUCCESS; k++) {
        kernels[k] = clCreateKernel(program, names[k], &status);
        if (status == CL_SUCCESS)
            status = clSetKernelArg(kernels[k], 0, sizeof buffer, &buffer);
    }
    if (status != CL_SUCCESS) {
        st = bn_cl_fail(d, status, "preparing the peaks' kernels", doing);
        goto out;
    }
    BN_GO(launches(d, kernels[0], &p->launch, &p->finish));
    BN_GO(best_seconds(d, kernels[1], (size_t)items, &seconds));
    p->local_bytes = items * ROUNDS * 16 / seconds;
    BN_GO(best_seconds(d, kernels[2], (size_t)items, &seconds));
    p->atomics = items * 16 / seconds;
    BN_GO(transfers(d, buffer, bytes, &p->upload, &p->download));
out:
    for (int k = 0; k < 3; k++)
        if (kernels[k])
            clReleaseKernel(kernels[k]);
    if (program)
        clReleaseProgram(program);
    return st;
}

/* One number a line behind its name; the order is the same for reading and writing. */
enum { KEPT = 9 };
static void list(bn_device_limits *p, const char *names[KEPT], double *values[KEPT])
{
    static const char *const all[KEPT] = { "copy",   "flops32", "flops64", "local",   "atomics",
                                           "launch", "finish",  "upload",  "download" };
    double *const at[KEPT] = { &p->copy,   &p->flops[0], &p->flops[1], &p->local_bytes, &p->atomics,
                               &p->launch, &p->finish,   &p->upload,   &p->download };
    for (int i = 0; i < KEPT; i++) {
        names[i] = all[i];
        values[i] = at[i];
    }
}

static bool known(bn_context *ctx, const bn_device_info *info, bn_device_limits *p)
{
    char name[32];
    const char *names[KEPT];
    double *values[KEPT];
    FILE *f = bn_device_kept(ctx, info, "-peaks");
    if (!f)
        return false;
    list(p, names, values);
    bool good = fscanf(f, "date %lld", &p->date) == 1 && p->date > 0;
    for (int i = 0; good && i < KEPT; i++)
        good = fscanf(f, "%31s %lf", name, values[i]) == 2 && strcmp(name, names[i]) == 0 && isfinite(*values[i]) &&
               *values[i] >= 0;
    fclose(f);
    return good && p->copy > 0 && p->flops[0] > 0 && p->launch > 0;
}

static void keep(bn_context *ctx, const bn_device_info *info, bn_device_limits *p)
{
    char text[64 * (KEPT + 1)];
    const char *names[KEPT];
    double *values[KEPT];
    list(p, names, values);
    int used = snprintf(text, sizeof text, "date %lld\n", p->date);
    for (int i = 0; i < KEPT; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s %.6g\n", names[i], *values[i]);
    bn_device_keep(ctx, info, "-peaks", text);
}

bn_status bn_device_measure_limits(bn_device *d, bool again, bn_device_limits *p)
{
    *p = (bn_device_limits){ 0 };
    if (!again && known(d->ctx, &d->info, p))
        return BN_OK;
    *p = (bn_device_limits){ 0 };
    bn_status st = BN_OK;
    cl_int status;
    size_t bytes = TRANSFER_BYTES;
    while (bytes < items_of(d) * 16)
        bytes *= 2;
    cl_mem buffer = clCreateBuffer(d->cl, CL_MEM_READ_WRITE, bytes, NULL, &status);
    if (status != CL_SUCCESS)
        return bn_cl_fail(d, status, "clCreateBuffer", doing);
    if (again)
        d->info.bandwidth = 0;
    BN_GO(bn_device_bandwidth(d, &p->copy));
    /* Two rounds over all of them: a neighbour that is busy for a moment does not spoil one kind alone. */
    for (int i = 0; i < 4; i++)
        for (int twice = 0; twice < (d->info.fp64 ? 2 : 1); twice++)
            BN_GO(arithmetic(d, buffer, twice, i % 2 == 1, &p->flops[twice]));
    BN_GO(rest(d, buffer, TRANSFER_BYTES, p));
    p->date = (long long)time(NULL);
    keep(d->ctx, &d->info, p);
out:
    clReleaseMemObject(buffer);
    return st;
}
