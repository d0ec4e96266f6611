/* fft.c: transforms of fields (host/api/fft.h): spread the field into a dense complex array (extended for sine and
 * cosine), transform, gather and scale. On a device by kernels/fft.cl and clFFT, on the host in double by KISS FFT. */
#include "api/fft.h"

#include "api/embedded_files.h"
#include "grid/block_copy.h"
#include "grid/enqueue.h"
#include "grid/field.h"
#include "launch/fft_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPREAD_REAL, SPREAD_COMPLEX, SPREAD_HALF, GATHER_REAL, GATHER_COMPLEX, FFT_KERNELS };

static const bn_kernel_desc kernel_table[FFT_KERNELS] = {
    { "fft_spread_real", BN_PER_CELL, { 1, 2, 0 } },    { "fft_spread_complex", BN_PER_CELL, { 2, 2, 0 } },
    { "fft_spread_half", BN_PER_CELL, { 2, 2, 0 } },    { "fft_gather_real", BN_PER_CELL, { 2, 1, 1 } },
    { "fft_gather_complex", BN_PER_CELL, { 2, 2, 2 } },
};

struct bn_fft {
    bn_domain *domain;
    bn_fft_kind kind;
    size_t n[3], m[3], points; /* of the field; of the dense array; product of m */
    bn_clfft *plan;            /* device */
    bn_program *program;
    bn_kernel *kernels[FFT_KERNELS];
    bn_buffer *from, *to;
    double *pairs; /* host */
    double bake_seconds, error;
};

static bool extended(const bn_fft *f) { return f->kind == BN_FFT_SINE || f->kind == BN_FFT_COSINE; }

/* Lengths of the dense array. */
static bn_status measure(bn_fft *f)
{
    const bn_grid *g = &f->domain->desc.grid;
    f->points = 1;
    for (int k = 0; k < 3; k++) {
        f->n[k] = f->m[k] = g->n[k];
        if (k < g->dims && f->kind == BN_FFT_SINE)
            f->m[k] = 2 * (f->n[k] + 1);
        if (k < g->dims && f->kind == BN_FFT_COSINE)
            f->m[k] = 2 * (f->n[k] - 1);
        if (k < g->dims && f->kind == BN_FFT_COSINE && f->n[k] < 2)
            return bn_fail(f->domain->ctx, BN_USAGE,
                           "a cosine transform needs at least two points along each dimension");
        if (__builtin_mul_overflow(f->points, f->m[k], &f->points) || f->points > SIZE_MAX / 32)
            return bn_fail(f->domain->ctx, BN_MEMORY, "a Fourier transform of this grid is too large to address");
    }
    return BN_OK;
}

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
    if (!expected || !native) {
        st = bn_fail(d->ctx, BN_MEMORY, "no memory to check a Fourier transform");
        goto out;
    }
    for (size_t i = 0; i < 2 * f->points; i++) {
        expected[i] = (double)(float)noise(&state);
        if (is_double)
            ((double *)native)[i] = expected[i];
        else
            ((float *)native)[i] = (float)expected[i];
    }
    status = clEnqueueWriteBuffer(d->device->queue, f->from->mem, CL_TRUE, 0, bytes, native, 0, NULL, NULL);
    if (status != CL_SUCCESS) {
        st = bn_cl_fail(d->device, status, "clEnqueueWriteBuffer", "checking a Fourier transform");
        goto out;
    }
    BN_GO(bn_clfft_run(f->plan, f->from->mem, f->to->mem, false));
    status = clEnqueueReadBuffer(d->device->queue, f->to->mem, CL_TRUE, 0, bytes, native, 0, NULL, NULL);
    if (status != CL_SUCCESS) {
        st = bn_cl_fail(d->device, status, "clEnqueueReadBuffer", "checking a Fourier transform");
        goto out;
    }
    if (!bn_kiss_transform(expected, f->m, false)) {
        st = bn_fail(d->ctx, BN_MEMORY, "no memory to check a Fourier transform");
        goto out;
    }
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

/* <cache>/fft/HASH.txt for this device, driver, precision and size; false without a cache. */
static bool kept_path(const bn_fft *f, char *path, size_t room)
{
    const bn_device_info *info = &f->domain->device->info;
    const char *dir = bn_context_cache_dir(f->domain->ctx);
    const char *const parts[] = { info->name, info->platform, info->driver, info->version };
    uint64_t h = bn_hash(BN_HASH_START, f->m, sizeof f->m);
    h = bn_hash(h, &f->domain->desc.precision, sizeof f->domain->desc.precision);
    for (size_t i = 0; i < 4; i++)
        h = bn_hash(h, parts[i], strlen(parts[i]) + 1);
    if (!dir || snprintf(path, room, "%s/fft", dir) >= (int)room)
        return false;
    (void)mkdir(path, 0700);
    return snprintf(path, room, "%s/fft/%016llx.txt", dir, (unsigned long long)h) < (int)room;
}

/* Once per device, driver and size: the plan must agree with the reference. Rounding grows with the logarithm of the
 * length. */
static bn_status check_plan(bn_fft *f)
{
    bn_domain *d = f->domain;
    const double unit = d->desc.precision == BN_DOUBLE ? 0x1p-53 : 0x1p-24,
                 limit = 16 * unit * log2((double)f->points + 2);
    char path[4096];
    const bool keeps = kept_path(f, path, sizeof path);
    FILE *file = keeps ? fopen(path, "r") : NULL;
    bool known = file && fscanf(file, "error %lf", &f->error) == 1 && f->error <= limit;
    if (file)
        fclose(file);
    if (known)
        return BN_OK;
    BN_TRY(find_error(f, &f->error));
    if (!(f->error <= limit))
        return bn_fail(d->ctx, BN_MISMATCH,
                       "the Fourier transform of %zu x %zu x %zu points is wrong on %s (driver %s): off by %.3g, at "
                       "most %.3g is rounding",
                       f->m[0], f->m[1], f->m[2], d->device->info.name, d->device->info.driver, f->error, limit);
    char aside[4200];
    snprintf(aside, sizeof aside, "%s.%ld", path, (long)getpid());
    file = keeps ? fopen(aside, "w") : NULL;
    if (file) {
        bool ok = fprintf(file, "error %.6g\n", f->error) > 0;
        ok = fclose(file) == 0 && ok;
        if (!ok || rename(aside, path) != 0)
            (void)remove(aside);
    }
    return BN_OK;
}

static bn_status create_on_device(bn_fft *f)
{
    bn_domain *d = f->domain;
    const size_t bytes = 2 * f->points * bn_domain_real_bytes(d);
    if (d->box_count != 1)
        return bn_fail(d->ctx, BN_USAGE, "a Fourier transform needs the grid in one box, not %zu", d->box_count);
    const bn_define defines[] = {
        { "FN0", BN_DEF_INT, { .i = (long long)f->n[0] } },     { "FN1", BN_DEF_INT, { .i = (long long)f->n[1] } },
        { "FN2", BN_DEF_INT, { .i = (long long)f->n[2] } },     { "M0", BN_DEF_INT, { .i = (long long)f->m[0] } },
        { "M1", BN_DEF_INT, { .i = (long long)f->m[1] } },      { "M2", BN_DEF_INT, { .i = (long long)f->m[2] } },
        { "ODD", BN_DEF_INT, { .i = f->kind == BN_FFT_SINE } },
    };
    BN_TRY(bn_program_build(d, "fft", defines, sizeof defines / sizeof *defines, &f->program));
    for (int k = 0; k < FFT_KERNELS; k++)
        BN_TRY(bn_kernel_find(f->program, &kernel_table[k], &f->kernels[k]));
    BN_TRY(bn_buffer_create(d->device, &d->buffers, "Fourier transform, input", bytes, &f->from));
    BN_TRY(bn_buffer_create(d->device, &d->buffers, "Fourier transform, output", bytes, &f->to));
    const double start = bn_host_seconds();
    BN_TRY(bn_clfft_create(d->device, f->m, d->desc.grid.dims, d->desc.precision, &f->plan));
    f->bake_seconds = bn_host_seconds() - start;
    bn_log(d->ctx, BN_LOG_INFO, "Fourier transform of %zu x %zu x %zu points baked in %.2f s", f->m[0], f->m[1],
           f->m[2], f->bake_seconds);
    return check_plan(f);
}

bn_status bn_fft_create(bn_domain *d, bn_fft_kind kind, bn_fft **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_fft *f = calloc(1, sizeof *f);
    if (!f)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for a Fourier transform");
    f->domain = d;
    f->kind = kind;
    BN_GO(measure(f));
    if (d->device)
        BN_GO(create_on_device(f));
    else if (!(f->pairs = malloc(2 * f->points * sizeof *f->pairs))) {
        st = bn_fail(d->ctx, BN_MEMORY, "no memory for a Fourier transform of %zu points", f->points);
        goto out;
    }
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
        clFinish(f->domain->device->queue);
    bn_clfft_destroy(&f->plan);
    bn_program_destroy(&f->program);
    bn_buffer_destroy(&f->from);
    bn_buffer_destroy(&f->to);
    free(f->pairs);
    free(f);
    *fft = NULL;
}

double bn_fft_bake_seconds(const bn_fft *f) { return f->bake_seconds; }
double bn_fft_check_error(const bn_fft *f) { return f->error; }

/* Factors of real and imaginary part in the result. The transform of an odd extension in D dimensions is (-i)^D times
 * the sine transform. */
static void factors(const bn_fft *f, bool inverse, double *x, double *y)
{
    const double scale = inverse ? 1.0 / (double)f->points : 1;
    const int dims = f->domain->desc.grid.dims;
    *x = scale;
    *y = 0;
    if (f->kind == BN_FFT_SINE) {
        *x = dims == 2 ? -scale : 0;
        *y = dims == 1 ? -scale : dims == 3 ? scale : 0;
    }
}

static size_t half_width(const bn_fft *f) { return f->n[0] / 2 + 1; }

static bn_status check_field(const bn_fft *f, const bn_field *field, bool spectrum)
{
    const bool half = spectrum && f->kind == BN_FFT_REAL;
    const bn_type type = f->kind == BN_FFT_COMPLEX || half ? BN_T_REAL2 : BN_T_REAL;
    const bn_domain *d = field->domain;
    const size_t width = half ? half_width(f) : f->n[0];
    if (field->desc.type != type || field->desc.components != 1 || d->device != f->domain->device ||
        d->box_count != 1 || d->desc.precision != f->domain->desc.precision || d->desc.grid.n[0] != width ||
        d->desc.grid.n[1] != f->n[1] || d->desc.grid.n[2] != f->n[2])
        return bn_fail(f->domain->ctx, BN_USAGE,
                       "field %s does not fit the Fourier transform: %zu x %zu x %zu %s are needed", field->desc.name,
                       width, f->n[1], f->n[2], type == BN_T_REAL2 ? "complex values" : "reals");
    return BN_OK;
}

/* Runs a spread or gather kernel over `items`; both begin with the field or dense array and the field's layout. */
static bn_status run_kernel(bn_kernel *k, cl_mem first, cl_mem second, const bn_field *field, const size_t items[3])
{
    const bn_layout *l = &field->domain->shapes[0].layout;
    const cl_long place[3] = { (cl_long)l->first, (cl_long)l->pitch, (cl_long)l->slice };
    BN_TRY(bn_set_arg(k, 0, 0, sizeof first, &first));
    BN_TRY(bn_set_arg(k, 0, 1, sizeof second, &second));
    for (cl_uint i = 0; i < 3; i++)
        BN_TRY(bn_set_arg(k, 0, 2 + i, sizeof place[i], &place[i]));
    const size_t none[3] = { 0, 0, 0 };
    size_t global[3];
    for (int i = 0; i < 3; i++)
        global[i] = (items[i] + k->group[i] - 1) / k->group[i] * k->group[i];
    k->calls++;
    return bn_enqueue(k, 0, none, global, k->group, 0, NULL, NULL);
}

static bn_status set_factors(bn_fft *f, bn_kernel *k, size_t width, double x, double y)
{
    const cl_int wide = (cl_int)width;
    const float x4 = (float)x, y4 = (float)y;
    const bool is_double = f->domain->desc.precision == BN_DOUBLE;
    BN_TRY(bn_set_arg(k, 0, 5, sizeof wide, &wide));
    BN_TRY(bn_set_arg(k, 0, 6, is_double ? 8 : 4, is_double ? (const void *)&x : &x4));
    return bn_set_arg(k, 0, 7, is_double ? 8 : 4, is_double ? (const void *)&y : &y4);
}

static bn_status on_device(bn_fft *f, bn_field *in, bn_field *out, bool inverse)
{
    const bool half_in = f->kind == BN_FFT_REAL && inverse, half_out = f->kind == BN_FFT_REAL && !inverse;
    const bool pairs = f->kind == BN_FFT_COMPLEX;
    bn_kernel *spread = f->kernels[pairs ? SPREAD_COMPLEX : half_in ? SPREAD_HALF : SPREAD_REAL];
    bn_kernel *gather = f->kernels[pairs || half_out ? GATHER_COMPLEX : GATHER_REAL];
    const size_t width = half_out ? half_width(f) : f->n[0], items[3] = { width, f->n[1], f->n[2] };
    double x, y;
    factors(f, inverse, &x, &y);
    BN_TRY(run_kernel(spread, in->buffers[0]->mem, f->from->mem, in, f->m));
    BN_TRY(bn_clfft_run(f->plan, f->from->mem, f->to->mem, inverse && !extended(f)));
    BN_TRY(set_factors(f, gather, width, x, y));
    BN_TRY(run_kernel(gather, f->to->mem, out->buffers[0]->mem, out, items));
    return bn_field_changed(out, 0);
}

/* The field's point behind point i of the extension (-1: zero), and its sign. */
static long source(const bn_fft *f, int dim, size_t i, double *sign)
{
    const size_t n = f->n[dim], m = f->m[dim];
    if (m == n)
        return (long)i;
    if (f->kind == BN_FFT_COSINE)
        return (long)(i < n ? i : m - i);
    if (i == 0 || i == n + 1)
        return -1;
    if (i > n + 1)
        *sign = -*sign;
    return (long)(i <= n ? i - 1 : m - 1 - i);
}

static void spread_on_host(const bn_fft *f, const double *in, bool half)
{
    const size_t *n = f->n, *m = f->m, width = half ? half_width(f) : n[0];
    const bool pairs = f->kind == BN_FFT_COMPLEX || half;
    for (size_t z = 0; z < m[2]; z++)
        for (size_t y = 0; y < m[1]; y++)
            for (size_t x = 0; x < m[0]; x++) {
                double *to = f->pairs + 2 * ((z * m[1] + y) * m[0] + x), sign = 1;
                const bool mirror = half && x > m[0] / 2;
                long i = source(f, 0, mirror ? m[0] - x : x, &sign),
                     j = source(f, 1, mirror && y ? m[1] - y : y, &sign);
                long k = source(f, 2, mirror && z ? m[2] - z : z, &sign);
                const bool zero = i < 0 || j < 0 || k < 0;
                const size_t at = zero ? 0 : ((size_t)k * n[1] + (size_t)j) * width + (size_t)i;
                to[0] = zero ? 0 : sign * in[pairs ? 2 * at : at];
                to[1] = zero || !pairs ? 0 : (mirror ? -in[2 * at + 1] : in[2 * at + 1]);
            }
}

static void gather_on_host(const bn_fft *f, double *out, bool half, double fx, double fy)
{
    const size_t *n = f->n, *m = f->m, width = half ? half_width(f) : n[0];
    const bool pairs = f->kind == BN_FFT_COMPLEX || half;
    size_t shift[3];
    for (int k = 0; k < 3; k++)
        shift[k] = f->kind == BN_FFT_SINE && m[k] != n[k];
    for (size_t z = 0; z < n[2]; z++)
        for (size_t y = 0; y < n[1]; y++)
            for (size_t x = 0; x < width; x++) {
                const double *from = f->pairs + 2 * (((z + shift[2]) * m[1] + y + shift[1]) * m[0] + x + shift[0]);
                const size_t at = (z * n[1] + y) * width + x;
                if (pairs) {
                    out[2 * at] = fx * from[0];
                    out[2 * at + 1] = fx * from[1];
                } else {
                    out[at] = fx * from[0] + fy * from[1];
                }
            }
}

static size_t reals_of(const bn_field *field)
{
    return bn_domain_points(field->domain) * (field->desc.type == BN_T_REAL2 ? 2 : 1);
}

static bn_status on_host(bn_fft *f, bn_field *in, bn_field *out, bool inverse)
{
    const size_t most = reals_of(in) > reals_of(out) ? reals_of(in) : reals_of(out);
    bn_status st = BN_OK;
    double x, y, *values = malloc(most * sizeof *values);
    if (!values)
        return bn_fail(f->domain->ctx, BN_MEMORY, "no memory for a Fourier transform");
    BN_GO(bn_field_get(in, values, reals_of(in)));
    spread_on_host(f, values, f->kind == BN_FFT_REAL && inverse);
    if (!bn_kiss_transform(f->pairs, f->m, inverse && !extended(f))) {
        st = bn_fail(f->domain->ctx, BN_MEMORY, "no memory for a Fourier transform");
        goto out;
    }
    factors(f, inverse, &x, &y);
    gather_on_host(f, values, f->kind == BN_FFT_REAL && !inverse, x, y);
    BN_GO(bn_field_set(out, values, reals_of(out)));
out:
    free(values);
    return st;
}

static bn_status transform(bn_fft *f, bn_field *in, bn_field *out, bool inverse)
{
    BN_TRY(check_field(f, in, inverse));
    BN_TRY(check_field(f, out, !inverse));
    if (in == out)
        return bn_fail(f->domain->ctx, BN_USAGE, "a Fourier transform of %s into itself", in->desc.name);
    return f->domain->device ? on_device(f, in, out, inverse) : on_host(f, in, out, inverse);
}

bn_status bn_fft_forward(bn_fft *f, bn_field *in, bn_field *out) { return transform(f, in, out, false); }
bn_status bn_fft_backward(bn_fft *f, bn_field *in, bn_field *out) { return transform(f, in, out, true); }
