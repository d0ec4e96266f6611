/* bench_suite_xray_rounding.c: chapter 5 of the study of X-rays: errors of phases and lengths by rounding, on the host,
 * beside the paths in integers of 2^-12 wavelengths that the solver's photons have. */
#include "bench/bench_suites.h"

#include <math.h>
#include <string.h>

static const long double pi = 3.14159265358979323846264338327950288L, light = 299792458.0L;
static const double wavelength = 1e-10, step = 13.3e-18; /* [m], [s] */
enum { PATH_BITS = 12 };                                 /* 40 um and 0.1 nm: docs/xray.md */

static double magnitude(long double x) { return (double)fabsl(x); }

/* The error [rad] of a path [wavelengths] as an integer of path units. */
static double integer_error(long double path)
{
    return magnitude(2 * pi * (roundl(ldexpl(path, PATH_BITS)) / ldexpl(1, PATH_BITS) - path));
}

/* omega dt t by both orders of multiplication, against the product of the same numbers. */
static void single_errors(double dt, long n, double out[2])
{
    const float omega = (float)(2 * pi * light / (long double)wavelength), time_step = (float)dt, t = (float)n;
    const float per_step = omega * time_step, time = time_step * t;
    const long double exact = (long double)omega * (long double)time_step * (long double)n;
    out[0] = magnitude((long double)(per_step * t) - exact);
    out[1] = magnitude((long double)(omega * time) - exact);
}

bn_status bn_suite_xray_figure_5_1(const bn_suite *s)
{
    enum { STEPS = 24576, POINTS = 64 };
    double most[3] = { 0 };
    if (s->checks)
        return BN_OK;
    for (long n = 1; n <= STEPS; n++) {
        double errors[2];
        single_errors(step, n, errors);
        const long double phase = 2 * pi * light * (long double)step / (long double)wavelength * (long double)n;
        most[0] = fmax(most[0], errors[0]);
        most[1] = fmax(most[1], errors[1]);
        most[2] = fmax(most[2], integer_error(phase / (2 * pi)));
        if (n % (STEPS / POINTS) != 0)
            continue;
        BN_TRY(bn_suite_point(s, "(omega dt) t", (double)n, (double)NAN, most[0], "rad"));
        BN_TRY(bn_suite_point(s, "omega (dt t)", (double)n, (double)NAN, most[1], "rad"));
        BN_TRY(bn_suite_point(s, "bound (5.19)", (double)n, (double)NAN, (double)(2 * ldexpl(phase, -24)), "rad"));
        BN_TRY(bn_suite_point(s, "paths in integers", (double)n, (double)NAN, most[2], "rad"));
    }
    *s->measured = true;
    return BN_OK;
}

bn_status bn_suite_xray_figure_5_2(const bn_suite *s)
{
    for (int i = 1; i <= 128 && !s->checks; i++) {
        double errors[2];
        single_errors(13.3e-18 * i / 64, 24576, errors);
        BN_TRY(bn_suite_point(s, "(omega dt) t", 13.3 * i / 64, (double)NAN, errors[0], "rad"));
        BN_TRY(bn_suite_point(s, "omega (dt t)", 13.3 * i / 64, (double)NAN, errors[1], "rad"));
    }
    return BN_OK;
}

/* In double precision, then modulo 2 pi, then rounded to single. The exact phase has 64 bits. */
bn_status bn_suite_xray_figure_5_3(const bn_suite *s)
{
    const double omega = (double)(2 * pi * light / (long double)wavelength), turn = (double)(2 * pi);
    double most[3] = { 0 };
    long double end = 1024;
    for (long double n = 1; n < 0x1p30L && !s->checks; n = floorl(n * 1.001L) + 1) {
        const double phase = omega * step * (double)n, reduced = remainder(phase, turn);
        const long double exact = (long double)omega * (long double)step * n, rest = remainderl(exact, 2 * pi);
        const long double errors[3] = { (long double)phase - exact, (long double)reduced - rest,
                                        (long double)(float)reduced - rest };
        for (int k = 0; k < 3; k++) /* both ends of a turn are one */
            most[k] = fmax(most[k], magnitude(k > 0 ? remainderl(errors[k], 2 * pi) : errors[k]));
        if (n < end)
            continue;
        end *= 2;
        BN_TRY(bn_suite_point(s, "double", (double)n, (double)NAN, most[0], "rad"));
        BN_TRY(bn_suite_point(s, "reduced to a turn", (double)n, (double)NAN, most[1], "rad"));
        BN_TRY(bn_suite_point(s, "then rounded to single", (double)n, (double)NAN, most[2], "rad"));
        BN_TRY(bn_suite_point(s, "bound", (double)n, (double)NAN, (double)ldexpl(2 * exact, -53), "rad"));
    }
    return BN_OK;
}

/* A photon that goes from cell to cell, its position in the cell in single or double precision. */
bn_status bn_suite_xray_figure_5_5(const bn_suite *s)
{
    enum { STEPS = 10240, POINTS = 64 };
    const double cell = 4e-9, turns = 2 * (double)pi * cell / wavelength; /* [rad] a cell */
    const double u = cos(0.05), v = sin(0.05);
    const float along = (float)u, across = (float)v;
    float x = 0, y = 0;
    double X = 0, Y = 0, cells[4] = { 0 }, most[3] = { 0 };
    for (int n = 1; n <= STEPS && !s->checks; n++) {
        x += along, y += across, X += u, Y += v;
        if (x >= 1)
            x -= 1, cells[0]++;
        if (y >= 1)
            y -= 1, cells[1]++;
        if (X >= 1)
            X -= 1, cells[2]++;
        if (Y >= 1)
            Y -= 1, cells[3]++;
        const long double single = hypotl((long double)cells[0] + (long double)x,
                                          (long double)cells[1] + (long double)y),
                          twice = hypotl((long double)cells[2] + (long double)X,
                                         (long double)cells[3] + (long double)Y);
        most[0] = fmax(most[0], turns * magnitude(single - n));
        most[1] = fmax(most[1], turns * magnitude(twice - n));
        most[2] = fmax(most[2], integer_error((long double)n * (long double)(u * cell / wavelength)));
        if (n % (STEPS / POINTS) != 0)
            continue;
        BN_TRY(bn_suite_point(s, "single", 1e6 * cell * n, (double)NAN, most[0], "rad"));
        BN_TRY(bn_suite_point(s, "double", 1e6 * cell * n, (double)NAN, most[1], "rad"));
        BN_TRY(bn_suite_point(s, "paths in integers", 1e6 * cell * n, (double)NAN, most[2], "rad"));
    }
    return BN_OK;
}

bn_status bn_suite_xray_figure_5_6(const bn_suite *s)
{
    const float distance = 5;
    double most[3] = { 0 }, end = 1e-6;
    for (double at = 1e-6; at < 0.5 && !s->checks; at *= 1.0005) {
        const float e = (float)at, root = sqrtf(distance * distance + e * e);
        const long double l = (long double)distance, x = (long double)e, exact = sqrtl(l * l + x * x),
                          more = x * x / (exact + l);
        most[0] = fmax(most[0], magnitude((long double)root - exact));
        most[1] = fmax(most[1], magnitude((long double)(root - distance) - more));
        most[2] = fmax(most[2], magnitude((long double)(e * e / (root + distance)) - more));
        if (at < end)
            continue;
        end *= 1.25;
        BN_TRY(bn_suite_point(s, "distance (5.6)", at, (double)NAN, most[0], "m"));
        BN_TRY(bn_suite_point(s, "less 5 m (5.7)", at, (double)NAN, most[1], "m"));
        BN_TRY(bn_suite_point(s, "in one fraction (5.8)", at, (double)NAN, most[2], "m"));
        BN_TRY(bn_suite_point(s, "half a wavelength", at, (double)NAN, 0.5 * wavelength, "m"));
    }
    return BN_OK;
}
