/* fft.c: transforms of complex fields (host/api/fft.h): packs the field into a dense array, transforms it, and unpacks
 * and scales the result. On a device by kernels/fft.cl and clFFT; on the host in double by KISS FFT, also for a device
 * whose compiler does not take clFFT's kernels or makes wrong ones of them. */
#include "api/fft.h"

#include "device/bandwidth.h"
#include "device/device_thread.h"
#include "grid/block_copy.h"
#include "grid/enqueue.h"
#include "grid/field.h"
#include "launch/fft_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const bn_kernel_desc pack_kernel = { "fft_pack", BN_PER_CELL, { 2, 2, 0 } };
static const bn_kernel_desc unpack_kernel = { "fft_unpack", BN_PER_CELL, { 2, 2, 2 } };

enum { BN_CLFFT_WORK_GROUP = 64 }; /* the smallest that it makes kernels for */

struct bn_fft {
    bn_domain *domain;
    size_t n[3], points; /* of the field */
    bn_clfft *plan;      /* device */
    bn_program *program;
    bn_kernel *pack, *unpack;
    bn_buffer *from, *to;
    double *pairs; /* host, or a device without a plan */
    double error;
};

/* Numbers in [-1, 1) that are the same everywhere. */
static double noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) * 0x1p-23 - 1;
}

/* The plan on random input against KISS FFT; the largest difference relative to the largest value. */
static bn_status find_error(bn_fft *f, double *error)
{
    bn_domain *d = f->domain;
    bn_status st = BN_OK;
    const bool is_double = d->desc.precision == BN_DOUBLE;
    const size_t bytes = 2 * f->points * bn_domain_real_bytes(d);
    double *expected = malloc(2 * f->points * sizeof *expected);
    void *native = malloc(bytes);
    uint32_t state = 1;
    cl_int status;
    if (!expected || !native)
        BN_GO(bn_fail(d->ctx, BN_MEMORY, "no memory to check a Fourier transform"));
    for (size_t i = 0; i < 2 * f->points; i++) {
        expected[i] = (double)(float)noise(&state);
        if (is_double)
            ((double *)native)[i] = expected[i];
        else
            ((float *)native)[i] = (float)expected[i];
    }
    status = clEnqueueWriteBuffer(bn_queue(d->device), f->from->mem, CL_TRUE, 0, bytes, native, 0, NULL, NULL);
    if (status != CL_SUCCESS) {
        st = bn_cl_fail(d->device, status, "clEnqueueWriteBuffer", "checking a Fourier transform");
        goto out;
    }
    BN_GO(bn_clfft_run(f->plan, f->from->mem, f->to->mem, false));
    status = clEnqueueReadBuffer(bn_queue(d->device), f->to->mem, CL_TRUE, 0, bytes, native, 0, NULL, NULL);
    if (status != CL_SUCCESS) {
        st = bn_cl_fail(d->device, status, "clEnqueueReadBuffer", "checking a Fourier transform");
        goto out;
    }
    if (!bn_kiss_transform(expected, f->n, false))
        BN_GO(bn_fail(d->ctx, BN_MEMORY, "no memory to check a Fourier transform"));
    double largest = 0, difference = 0;
    for (size_t i = 0; i < 2 * f->points; i++) {
        const double found = is_double ? ((double *)native)[i] : (double)((float *)native)[i];
        largest = fmax(largest, fabs(expected[i]));
        if (!(fabs(found - expected[i]) <= difference))
            difference = fabs(found - expected[i]); /* a NaN stays */
    }
    *error = difference / largest;
out:
    free(expected);
    free(native);
    return st;
}

/* Once per device, driver and size: the plan must agree with the reference. Rounding grows with the logarithm of the
 * length. */
static bn_status check_plan(bn_fft *f)
{
    bn_domain *d = f->domain;
    const bn_device_info *info = &d->device->info;
    const bool is_double = d->desc.precision == BN_DOUBLE;
    const double unit = is_double ? 0x1p-53 : 0x1p-24, limit = 16 * unit * log2((double)f->points + 2);
    char name[96], text[64];
    snprintf(name, sizeof name, "-fft-%zux%zux%zu-%s", f->n[0], f->n[1], f->n[2], is_double ? "double" : "single");
    FILE *file = bn_device_kept(d->ctx, info, name);
    const bool known = file && fscanf(file, "error %lf", &f->error) == 1 && f->error <= limit;
    if (file)
        fclose(file);
    if (known)
        return BN_OK;
    BN_TRY(find_error(f, &f->error));
    if (!(f->error <= limit))
        return bn_fail(d->ctx, BN_MISMATCH,
                       "the Fourier transform of %zu x %zu x %zu points is wrong on %s (driver %s): off by %.3g, at "
                       "most %.3g is rounding",
                       f->n[0], f->n[1], f->n[2], info->name, info->driver, f->error, limit);
    snprintf(text, sizeof text, "error %.6g\n", f->error);
    bn_device_keep(d->ctx, info, name, text);
    return BN_OK;
}

static bn_status create_on_device(bn_fft *f)
{
    bn_domain *d = f->domain;
    const size_t bytes = 2 * f->points * bn_domain_real_bytes(d);
    if (d->device->info.max_work_group < BN_CLFFT_WORK_GROUP) /* it would end the process */
        return bn_fail(d->ctx, BN_DEVICE, "clFFT needs work-groups of %d work-items, %s has %zu", BN_CLFFT_WORK_GROUP,
                       d->device->info.name, d->device->info.max_work_group);
    if (d->box_count != 1)
        return bn_fail(d->ctx, BN_USAGE, "a Fourier transform needs the grid in one box, not %zu", d->box_count);
    BN_TRY(bn_program_build(d, "fft", NULL, 0, &f->program));
    BN_TRY(bn_kernel_find(f->program, &pack_kernel, &f->pack));
    BN_TRY(bn_kernel_find(f->program, &unpack_kernel, &f->unpack));
    BN_TRY(bn_kernel_ready(f->pack));
    BN_TRY(bn_kernel_ready(f->unpack));
    BN_TRY(bn_buffer_create(d->device, &d->buffers, "Fourier transform, input", bytes, &f->from));
    BN_TRY(bn_buffer_create(d->device, &d->buffers, "Fourier transform, output", bytes, &f->to));
    const double start = bn_seconds_now();
    BN_TRY(bn_clfft_create(d->device, f->n, d->desc.grid.dims, d->desc.precision, &f->plan));
    bn_log(d->ctx, BN_LOG_INFO, "Fourier transform of %zu x %zu x %zu points baked in %.2f s", f->n[0], f->n[1],
           f->n[2], bn_seconds_now() - start);
    return check_plan(f);
}

bn_status bn_fft_create(bn_domain *d, bn_fft **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_fft *f = calloc(1, sizeof *f);
    if (!f)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for a Fourier transform");
    f->domain = d;
    f->points = bn_domain_points(d);
    for (int k = 0; k < 3; k++)
        f->n[k] = d->desc.grid.n[k];
    if (f->points > SIZE_MAX / 32)
        BN_GO(bn_fail(d->ctx, BN_MEMORY, "a Fourier transform of this grid is too large to address"));
    if (d->device)
        st = create_on_device(f);
    if (st == BN_DEVICE || st == BN_MISMATCH) {
        bn_log(d->ctx, BN_LOG_WARNING, "clFFT does not work here, transforms are done on the host: %s",
               bn_error_text(d->ctx));
        bn_error_clear(d->ctx);
        bn_clfft_destroy(&f->plan);
        st = BN_OK;
    }
    if (st == BN_OK && !f->plan && !(f->pairs = malloc(2 * f->points * sizeof *f->pairs)))
        st = bn_fail(d->ctx, BN_MEMORY, "no memory for a Fourier transform of %zu points", f->points);
    if (st != BN_OK)
        goto out;
    *out = f;
    f = NULL;
out:
    bn_fft_destroy(&f);
    return st;
}

void bn_fft_destroy(bn_fft **fft)
{
    if (!fft || !*fft)
        return;
    bn_fft *f = *fft;
    if (f->domain->device)
        clFinish(bn_queue(f->domain->device));
    bn_clfft_destroy(&f->plan);
    bn_program_destroy(&f->program);
    bn_buffer_destroy(&f->from);
    bn_buffer_destroy(&f->to);
    free(f->pairs);
    free(f);
    *fft = NULL;
}

static bn_status check_field(const bn_fft *f, const bn_field *field)
{
    const bn_domain *d = field->domain;
    if (field->desc.type != BN_T_REAL2 || field->desc.components != 1 || d->device != f->domain->device ||
        d->box_count != 1 || d->desc.precision != f->domain->desc.precision ||
        memcmp(d->desc.grid.n, f->domain->desc.grid.n, sizeof d->desc.grid.n) != 0)
        return bn_fail(f->domain->ctx, BN_USAGE,
                       "field %s does not fit the Fourier transform: %zu x %zu x %zu complex values are needed",
                       field->desc.name, f->n[0], f->n[1], f->n[2]);
    return BN_OK;
}

/* Arguments are the memory it reads, the memory it writes, and the field's layout; unpacking also scales. */
static bn_status run_kernel(bn_fft *f, bn_kernel *k, cl_mem from, cl_mem to, const bn_field *field)
{
    const bn_layout *l = &field->domain->shapes[0].layout;
    const cl_long place[3] = { (cl_long)l->first, (cl_long)l->pitch, (cl_long)l->slice };
    const size_t none[3] = { 0, 0, 0 };
    size_t global[3];
    bn_kernel_shape(k);
    BN_TRY(bn_set_arg(k, 0, 0, sizeof from, &from));
    BN_TRY(bn_set_arg(k, 0, 1, sizeof to, &to));
    for (cl_uint i = 0; i < 3; i++) {
        BN_TRY(bn_set_arg(k, 0, 2 + i, sizeof place[i], &place[i]));
        global[i] = (f->n[i] + k->group[i] - 1) / k->group[i] * k->group[i];
    }
    k->calls++;
    return bn_enqueue(k, 0, none, global, k->group, NULL);
}

static bn_status on_device(bn_fft *f, bn_field *in, bn_field *out, bool inverse)
{
    const double scale = inverse ? 1.0 / (double)f->points : 1;
    const float single = (float)scale;
    const bool is_double = f->domain->desc.precision == BN_DOUBLE;
    BN_TRY(run_kernel(f, f->pack, in->buffers[0]->mem, f->from->mem, in));
    BN_TRY(bn_clfft_run(f->plan, f->from->mem, f->to->mem, inverse));
    BN_TRY(bn_set_arg(f->unpack, 0, 5, is_double ? 8 : 4, is_double ? (const void *)&scale : &single));
    BN_TRY(run_kernel(f, f->unpack, f->to->mem, out->buffers[0]->mem, out));
    return bn_field_changed(out);
}

static bn_status on_host(bn_fft *f, bn_field *in, bn_field *out, bool inverse)
{
    const double scale = inverse ? 1.0 / (double)f->points : 1;
    BN_TRY(bn_field_get(in, f->pairs, 2 * f->points));
    if (!bn_kiss_transform(f->pairs, f->n, inverse))
        return bn_fail(f->domain->ctx, BN_MEMORY, "no memory for a Fourier transform");
    for (size_t i = 0; i < 2 * f->points; i++)
        f->pairs[i] *= scale;
    return bn_field_set(out, f->pairs, 2 * f->points);
}

static bn_status transform(bn_fft *f, bn_field *in, bn_field *out, bool inverse)
{
    BN_TRY(check_field(f, in));
    BN_TRY(check_field(f, out));
    if (in == out)
        return bn_fail(f->domain->ctx, BN_USAGE, "a Fourier transform of %s into itself", in->desc.name);
    return f->plan ? on_device(f, in, out, inverse) : on_host(f, in, out, inverse);
}

bn_status bn_fft_forward(bn_fft *f, bn_field *in, bn_field *out) { return transform(f, in, out, false); }
bn_status bn_fft_backward(bn_fft *f, bn_field *in, bn_field *out) { return transform(f, in, out, true); }
