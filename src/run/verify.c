/* verify.c: device against reference. Values that are not finite never pass, even if both sides are equal. */
#include "run/verify.h"

#include "sim/sim_parts.h"
#include "sim/sim_struct.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Index of a float or double among all representable numbers: neighbours differ by one. */
static int64_t place(const void *at, size_t bytes)
{
    if (bytes == 4) {
        int32_t i;
        memcpy(&i, at, 4);
        return i < 0 ? -(int64_t)(i & INT32_MAX) : i;
    }
    int64_t i;
    memcpy(&i, at, 8);
    return i < 0 ? -(i & INT64_MAX) : i;
}

static double value(const void *at, size_t bytes)
{
    float f;
    double d;
    if (bytes == 4)
        return memcpy(&f, at, 4), (double)f;
    return memcpy(&d, at, 8), d;
}

static void compare_reals(const unsigned char *a, const unsigned char *b, size_t count, size_t bytes,
                          bn_verify_row *row)
{
    double squares = 0, reference = 0;
    for (size_t i = 0; i < count; i++, a += bytes, b += bytes) {
        const double x = value(a, bytes), y = value(b, bytes), difference = fabs(x - y);
        if (!isfinite(x) || !isfinite(y)) {
            row->not_finite++;
            continue;
        }
        row->max_difference = fmax(row->max_difference, difference);
        row->ulps = fmax(row->ulps, fabs((double)place(a, bytes) - (double)place(b, bytes)));
        squares += difference * difference;
        reference += y * y;
    }
    row->relative_l2 = squares > 0 ? sqrt(squares / reference) : 0;
    if (row->not_finite > 0)
        row->max_difference = row->relative_l2 = row->ulps = (double)NAN;
}

/* Integers: counts those that differ. */
static void compare_bytes(const unsigned char *a, const unsigned char *b, size_t count, size_t bytes,
                          bn_verify_row *row)
{
    for (size_t i = 0; i < count; i++)
        row->max_difference += memcmp(a + i * bytes, b + i * bytes, bytes) != 0;
    row->ulps = row->max_difference;
}

void bn_verify_compare(const void *device, const void *reference, size_t count, size_t element_bytes, bool real,
                       bn_verify_row *row)
{
    *row = (bn_verify_row){ .field = row->field, .values = count, .tolerance = row->tolerance };
    (real ? compare_reals : compare_bytes)(device, reference, count, element_bytes, row);
    row->ok = row->not_finite == 0 && (row->tolerance > 0 ? row->max_difference <= row->tolerance
                                                          : memcmp(device, reference, count * element_bytes) == 0);
}

static bn_status compare_field(bn_context *ctx, bn_sim *device, bn_sim *reference, size_t f, const bn_case *c,
                               bn_verify_row *row)
{
    const bn_sim_field_info *info = bn_sim_field_at(device, f);
    const bn_solver *solver = bn_sim_plan(device)->solver;
    size_t count = (size_t)info->n[0] * info->n[1] * info->n[2] * (size_t)info->components;
    bn_status st = BN_OK;
    unsigned char *a = malloc(count * info->element_bytes), *b = malloc(count * info->element_bytes);
    if (!a || !b)
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory to compare field %s", info->name));
    BN_GO(bn_sim_read(device, info->name, a, count * info->element_bytes));
    BN_GO(bn_sim_read(reference, info->name, b, count * info->element_bytes));
    *row = (bn_verify_row){ .field = info->name,
                            .tolerance = solver->tolerance ? solver->tolerance(c, info->name) : 0 };
    bn_verify_compare(a, b, count, info->element_bytes, info->real, row);
out:
    free(a);
    free(b);
    return st;
}

/* Numbers of a step: both sides may have none (NaN). */
static void compare_numbers(const char *name, const double *device, const double *reference, size_t count,
                            bn_verify_report *report)
{
    double a[BN_SERIES_MAX], b[BN_SERIES_MAX];
    size_t some = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(device[i]) || !isnan(reference[i])) {
            a[some] = device[i];
            b[some++] = reference[i];
        }
    if (some == 0 || report->count == BN_VERIFY_FIELDS)
        return;
    bn_verify_row *row = &report->rows[report->count++];
    *row = (bn_verify_row){ .field = name };
    bn_verify_compare(a, b, some, sizeof *a, true, row);
    report->ok = report->ok && row->ok;
}

bn_status bn_verify_run(bn_context *ctx, bn_case *c, const bn_sim_desc *desc, unsigned long long steps,
                        bn_verify_report *report)
{
    *report = (bn_verify_report){ .ok = true };
    bn_status st = BN_OK;
    bn_sim *device = NULL, *reference = NULL;
    BN_GO(bn_sim_create(ctx, c, desc, &device));
    BN_GO(bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &reference));
    while (report->steps < steps && !bn_sim_done(device)) {
        /* The device goes on as in a run whose steps nobody looks at, but for the last one. */
        const double next = (double)report->steps + 1, last = fmin((double)steps, bn_plan_most_steps(device->plan, c));
        bn_sim_quiet(device, next < last && !(bn_case_real(c, "stop.time") > 0));
        BN_GO(bn_sim_step(device));
        BN_GO(bn_sim_step(reference));
        report->steps++;
    }
    if (bn_context_debug(ctx))
        BN_GO(bn_domain_check_canaries(bn_sim_domain(device)));
    for (size_t f = 0; f < bn_sim_field_count(device) && report->count < BN_VERIFY_FIELDS; f++)
        if (bn_sim_field_at(device, f)->compare) {
            bn_verify_row *row = &report->rows[report->count++];
            BN_GO(compare_field(ctx, device, reference, f, c, row));
            report->ok = report->ok && row->ok;
        }
    bool tolerant = false;
    for (size_t i = 0; i < report->count; i++)
        tolerant = tolerant || report->rows[i].tolerance > 0;
    if (report->steps > 0 &&
        !tolerant) { /* they come out of kernels that change no field; their bits follow from all */
        const bn_step *a = &device->last, *b = &reference->last;
        compare_numbers("residual", &a->residual, &b->residual, 1, report);
        compare_numbers("series", a->series, b->series, bn_sim_plan(device)->series_count, report);
    }
out:
    bn_sim_destroy(&device);
    bn_sim_destroy(&reference);
    return st;
}
