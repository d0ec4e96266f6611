/* test_fft.c: transforms of fields against sums written out by their definition, on the device (clFFT) and on the host
 * (KISS FFT). */
#include "support_device.h"

#include "api/fft.h"
#include "binnacle/binnacle.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* re + i im; the constant I is single precision and would be widened. */
static double complex pair(double re, double im)
{
    const double parts[2] = { re, im };
    double complex z;
    memcpy(&z, parts, sizeof z);
    return z;
}

/* The factor of x_j in y_k along one dimension. */
static double complex factor(size_t j, size_t k, size_t n)
{
    return cexp(pair(0, -2 * pi * (double)(j * k % n) / (double)n));
}

/* y over all k (x fastest) of a field x of n[0] * n[1] * n[2] values. */
static void by_definition(const uint32_t n[3], const double complex *x, double complex *y)
{
    for (size_t k2 = 0; k2 < n[2]; k2++)
        for (size_t k1 = 0; k1 < n[1]; k1++)
            for (size_t k0 = 0; k0 < n[0]; k0++) {
                double complex sum = 0;
                for (size_t j2 = 0; j2 < n[2]; j2++)
                    for (size_t j1 = 0; j1 < n[1]; j1++)
                        for (size_t j0 = 0; j0 < n[0]; j0++)
                            sum += x[(j2 * n[1] + j1) * n[0] + j0] * factor(j0, k0, n[0]) * factor(j1, k1, n[1]) *
                                   factor(j2, k2, n[2]);
                y[(k2 * n[1] + k1) * n[0] + k0] = sum;
            }
}

/* Forward against the definition, and back again. */
static void check(bn_precision precision, int dims, const uint32_t n[3])
{
    const size_t points = (size_t)n[0] * n[1] * n[2];
    bn_domain_desc desc = { .grid = { .dims = dims, .n = { n[0], n[1], n[2] }, .h = { 1, 1, 1 } },
                            .precision = precision,
                            .halo = 1,
                            .device = device };
    bn_fft *fft;
    bn_domain *domain = new_domain(&desc);
    bn_field *in = new_field(domain, "in", BN_T_REAL2, 1), *back = new_field(domain, "back", BN_T_REAL2, 1),
             *out = new_field(domain, "out", BN_T_REAL2, 1);
    double *values = calloc(2 * points, sizeof *values), *found = calloc(2 * points, sizeof *found);
    double complex *x = calloc(points, sizeof *x), *y = calloc(points, sizeof *y);
    for (size_t i = 0; i < 2 * points; i++)
        values[i] = (double)(float)sin(1.7 * (double)(i * i % 101) + 0.3);
    for (size_t i = 0; i < points; i++)
        x[i] = pair(values[2 * i], values[2 * i + 1]);
    OK(bn_field_set(in, values, 2 * points));
    OK(bn_fft_create(domain, &fft));
    OK(bn_fft_forward(fft, in, out));
    OK(bn_field_get(out, found, 2 * points));
    by_definition(n, x, y);
    double largest = 0, worst = 0;
    for (size_t i = 0; i < points; i++) {
        const double complex f = pair(found[2 * i], found[2 * i + 1]);
        largest = fmax(largest, cabs(y[i]));
        worst = fmax(worst, isfinite(cabs(f)) ? cabs(f - y[i]) : HUGE_VAL);
    }
    const double limit = (precision == BN_DOUBLE ? 1e-13 : 1e-6) * largest;
    ck_assert_msg(worst <= limit, "%s, %u x %u x %u: off by %g, at most %g", device ? "device" : "host", n[0], n[1],
                  n[2], worst, limit);
    OK(bn_fft_backward(fft, out, back));
    OK(bn_field_get(back, found, 2 * points));
    for (size_t i = 0; i < 2 * points; i++)
        ck_assert_msg(fabs(found[i] - values[i]) <= (precision == BN_DOUBLE ? 1e-14 : 4e-6),
                      "back: value %zu is %g, was %g", i, found[i], values[i]);
    bn_fft_destroy(&fft);
    drop_objects();
    free(values);
    free(found);
    free(x);
    free(y);
}

static const uint32_t sizes[][3] = { { 15, 1, 1 }, { 8, 5, 1 }, { 4, 3, 6 } };

TEST(on_the_host)
{
    open_device(0, false);
    for (int dims = 1; dims <= 3; dims++)
        for (int precision = 0; precision < 2; precision++)
            check(precision ? BN_DOUBLE : BN_SINGLE, dims, sizes[dims - 1]);
    check(BN_DOUBLE, 2, (const uint32_t[]){ 17, 31, 1 }); /* any length */
    close_device();
}

TEST(on_the_device)
{
    open_device(1, false);
    for (int dims = 1; dims <= 3; dims++)
        for (int precision = 0; precision < (bn_device_describe(device)->fp64 ? 2 : 1); precision++)
            check(precision ? BN_DOUBLE : BN_SINGLE, dims, sizes[dims - 1]);
    close_device();
}

TEST(refusals)
{
    bn_fft *fft;
    open_device(1, false);
    bn_domain_desc desc = { .grid = { .dims = 2, .n = { 34, 8, 1 }, .h = { 1, 1, 1 } }, .halo = 1, .device = device };
    REFUSED(bn_fft_create(new_domain(&desc), &fft), BN_USAGE, "33 and 35"); /* 34 = 2 x 17 */
    desc.grid.n[0] = 32;
    desc.boxes = 2;
    REFUSED(bn_fft_create(new_domain(&desc), &fft), BN_USAGE, "");
    desc.boxes = 1;
    bn_domain *domain = new_domain(&desc);
    bn_field *f = new_field(domain, "f", BN_T_REAL, 1);
    OK(bn_fft_create(domain, &fft));
    ck_assert_int_eq(bn_fft_forward(fft, f, f), BN_USAGE);
    bn_error_clear(ctx);
    bn_fft_destroy(&fft);
    close_device();
}

int main(void) { return bn_test_main("fft", NULL, NULL); }
