/* test_xray_properties.c: properties of `xray` that kernel and reference could both miss in the same way: signs along
 * every axis, closed forms of amplitude and counts cell by cell, budgets of photons and weight, exchange of axes,
 * independence of how the work is cut up. Limits are statistics: k standard deviations, k beside each. */
#include "xray_runs.h"

#include <complex.h>
#ifndef CMPLX /* glibc has it for gcc alone */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static const char slab[] =
    "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\nkind = \"slab\"\n"
    "cells = [64, 64, 64]\ncell = [4e-9, 4e-9, 4e-9]\nvalue = 0.02\n[source]\nphotons = 20000\n"
    "[detector]\ncells = [32, 24]\ncell_angle = 2e-3\nbeam_stop = 0\n[scattering]\ntheta_max = 0.2\n";

/* Mean of exp(i a x) over the place x of one scattering, density t exp(-t x), in 0 ... 1. */
static double complex born(double t, double a)
{
    const double complex end = cexp(CMPLX(-t, a));
    return t / (1 - exp(-t)) * (1 - end) / CMPLX(t, -a);
}

/* --- phases --- */

/* A pencil that enters at p0 along u0 is scattered after a way s with the density of Beer's law, depth t over the way S
 * through the slab. The mean of exp(i k (s (1 - u u0) - (u - u0) p0)) over s is a geometric integral, for every
 * direction u: amplitude over photons must be that, real and imaginary part, in each cell. */
TEST(one_scattering_has_its_amplitude_in_every_direction)
{
    static const struct {
        const char *tilt, *centre, *spacing;
        double tilts[2], places[2];
        bool equal_angles;
    } rows[] = {
        { "source.tilt=[0,0]", "source.centre=[0,0]", "detector.spacing=angles", { 0, 0 }, { 0, 0 }, true },
        { "source.tilt=[0.012,-0.007]",
          "source.centre=[2e-8,-1.2e-8]",
          "detector.spacing=lengths",
          { 0.012, -0.007 },
          { 2e-8, -1.2e-8 },
          false },
    };
    static const int n[2] = { 32, 24 };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        run r = RUN(slab, NULL, "source.profile=pencil", "solver.estimator=expected", "solver.samples=768",
                    rows[row].tilt, rows[row].centre, rows[row].spacing);
        double *amplitude = field(&r, "amplitude", NULL), *hits = field(&r, "photons", NULL), worst = 0;
        double u0[3];
        const double k = 2 * pi / 1e-10, *p0 = rows[row].places;
        beam_direction(rows[row].tilts, u0);
        const double way = 64 * 4e-9 / u0[0], t = -64 * log(0.98) / u0[0];
        for (int c = 0; c < n[0] * n[1]; c++) {
            double u[3];
            detector_direction(n, 2e-3, rows[row].equal_angles, c % n[0], c / n[0], u);
            const double a = k * (1 - dot(u, u0)) * way, turn = -k * ((u[1] - u0[1]) * p0[0] + (u[2] - u0[2]) * p0[1]);
            const double complex form = born(t, a) * cexp(CMPLX(0, turn));
            worst = fmax(worst, cabs(CMPLX(amplitude[c], amplitude[n[0] * n[1] + c]) / hits[c] - form));
        }
        /* |sum|^2 of N terms about their mean is N times an exponential law at most: 1e-5 for one of 768 cells in all.
         */
        const double limit = sqrt(log(768 * 1e5) / (20000 * (1 - exp(-t))));
        ck_assert_msg(worst < limit, "row %zu: amplitudes differ by up to %g, limit %g", row, worst, limit);
        free(amplitude);
        free(hits);
        end_run(&r);
    }
}

/* Two gratings, the second shifted by d: in first Born approximation order m has |1 + exp(i (a - 2 pi m d / P))|^2 / 4
 * of one grating's intensity, a = k (1 - cos) times the way between them: a quarter of a pitch makes the orders unlike.
 */
TEST(both_first_orders_of_shifted_gratings_are_the_born_series)
{
    static const char text[] =
        "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\nkind = \"offset-gratings\"\ncells = [256, 32, "
        "8]\n"
        "cell = [4e-9, 4e-9, 4e-9]\nvalue = 0.0005\nwidth = 8e-9\npitch = 16e-9\n[source]\nphotons = 500000\n"
        "[scattering]\ntheta_max = 0.011\n[detector]\ncells = [16, 4]\ncell_angle = 3.1250204e-3\nbeam_stop = 0\n"
        "[solver]\nestimator = \"expected\"\nsamples = 64\n";
    for (int side = -1; side <= 1; side += 2) {
        run r = RUN(text, NULL, side < 0 ? "density.shift=-4e-9" : "density.shift=4e-9");
        double *intensity = field(&r, "intensity", NULL), *hits = field(&r, "photons", NULL);
        const double depth = 128 * 4e-9, k = 2 * pi / 1e-10, m_photons = 5e5 * (1 - pow(0.9995, 128));
        for (int m = -1; m <= 1; m += 2) {
            const int cell = 2 * 16 + 8 + 2 * m;
            const double a = k * (1 - cos(asin(1e-10 / 16e-9))) * depth, lines = pow(sin(0.5 * pi) / (0.5 * pi), 2);
            const double turn = a - 2 * pi * m * side * 0.25, t = -128 * log(0.9995);
            const double one = pow(cabs(born(t, a)), 2);
            const double share = intensity[cell] / (hits[cell] * hits[cell]);
            /* A share S of N photons scatters by 2 sqrt(S / N) + 1 / N; light that one half keeps from the other moves
             * the weights by half the depth t. */
            const double expected = lines * one * pow(cos(0.5 * turn), 2), sigma = 2 * sqrt(expected / m_photons);
            near(share, expected,
                 5 * sigma + 1 / m_photons + 0.5 * t * expected + 0.5 * t * lines * one * fabs(sin(turn)) * t,
                 "first Born approximation, 5 sigma");
        }
        free(intensity);
        free(hits);
        end_run(&r);
    }
}

/* --- places and directions --- */

static void brightest(const double *values, const int n[2], int at[2])
{
    int best = 0;
    for (int c = 1; c < n[0] * n[1]; c++)
        best = values[c] > values[best] ? c : best;
    at[0] = best % n[0];
    at[1] = best / n[0];
}

TEST(tilted_light_lands_where_it_points)
{
    static const int n[2] = { 32, 24 };
    int at[2];
    /* Straight light: 5 cells to the right, 3 down. */
    run r = RUN(slab, NULL, "source.tilt=[0.01,-0.006]", "density.value=1e-6");
    double *hits = field(&r, "photons", NULL);
    brightest(hits, n, at);
    ck_assert_msg(at[0] == 16 + 5 && at[1] == 12 - 3, "direct beam in column %d, row %d", at[0], at[1]);
    ck_assert(hits[9 * 32 + 21] > 0.99 * 20000);
    free(hits);
    end_run(&r);
    /* The light that interferes has its maximum there, too. */
    r = RUN(slab, NULL, "source.tilt=[0.01,-0.006]", "solver.estimator=expected", "solver.samples=768",
            "density.cells=[4,64,64]", "source.size=[2e-8,2e-8]");
    double *intensity = field(&r, "intensity", NULL);
    brightest(intensity, n, at);
    ck_assert_msg(at[0] == 16 + 5 && at[1] == 12 - 3, "pattern around column %d, row %d", at[0], at[1]);
    free(intensity);
    end_run(&r);
    /* A pencil off the axis: its own place counts, seen from the detector; 3 cells of 2e-3 * 5e-5 m to the right, 2
     * down. */
    r = RUN(slab, NULL, "source.profile=pencil", "source.centre=[3e-7,-2e-7]", "detector.distance=5e-5",
            "density.cell=[4e-9,4e-8,4e-8]", "density.value=1e-6");
    hits = field(&r, "photons", NULL);
    brightest(hits, n, at);
    ck_assert_msg(at[0] == 16 + 3 && at[1] == 12 - 2, "pencil in column %d, row %d", at[0], at[1]);
    free(hits);
    end_run(&r);
}

TEST(gaussian_light_is_as_wide_as_it_says)
{
    /* Half of the full width at half maximum on either side holds erf(sqrt(ln 2)) of the light, 0.7610 (5 sigma; 1 % of
     * the width are 0.5 %). Behind a slit along z, then behind one along y, both away from the middle. */
    static const double photons = 400000;
    const double share = erf(sqrt(log(2)));
    run r = RUN(slab, NULL, "source.photons=400000", "density.kind=single-slit", "density.width=8e-8",
                "density.value=1", "density.centre=[2e-8,0]", "density.cells=[1,64,64]", "source.profile=gaussian",
                "source.size=[8e-8,1e-8]", "source.centre=[2e-8,0]");
    near(1 - result(&r, "unscattered"), share, 5 * sqrt(share * (1 - share) / photons), "within the width along y");
    end_run(&r);
    r = RUN(slab, NULL, "source.photons=400000", "density.height=8e-8", "density.value=1", "density.centre=[0,-2e-8]",
            "density.cells=[1,64,64]", "source.profile=gaussian", "source.size=[1e-8,8e-8]", "source.centre=[0,-2e-8]");
    near(1 - result(&r, "unscattered"), share, 5 * sqrt(share * (1 - share) / photons), "within the width along z");
    end_run(&r);
}

/* The Fourier picture and photons know nothing of which axis is called y. Slits along z become a slab that is low. */
TEST(y_and_z_are_alike)
{
    static const char flat[] =
        "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\ncell = [4e-9, 4e-9, 4e-9]\n"
        "value = 0.01\n[source]\nphotons = 20000\n[scattering]\ntheta_max = 0.2\n"
        "[detector]\ncell_angle = 5e-4\nbeam_stop = 0\n"
        "[solver]\nestimator = \"expected\"\nsamples = 768\ncompare = \"fft\"\n";
    run a = RUN(flat, NULL, "density.kind=single-slit", "density.width=4e-8", "density.centre=[2.2e-8,0]",
                "density.cells=[8,48,32]", "source.size=[1.5e-7,8e-8]", "source.centre=[1.2e-8,-8e-9]",
                "source.tilt=[0.002,-0.001]", "detector.cells=[32,24]");
    run b = RUN(flat, NULL, "density.kind=slab", "density.height=4e-8", "density.centre=[0,2.2e-8]",
                "density.cells=[8,32,48]", "source.size=[8e-8,1.5e-7]", "source.centre=[-8e-9,1.2e-8]",
                "source.tilt=[-0.001,0.002]", "detector.cells=[24,32]");
    double *f = field(&a, "fourier", NULL), *g = field(&b, "fourier", NULL), *x = field(&a, "amplitude", NULL),
           *y = field(&b, "amplitude", NULL);
    double *m = field(&a, "photons", NULL), *n = field(&b, "photons", NULL), most = 0, worst = 0, turned = 0;
    for (int j = 0; j < 24; j++)
        for (int i = 0; i < 32; i++) {
            const int c = j * 32 + i, d = i * 24 + j;
            most = fmax(most, f[c]);
            worst = fmax(worst, fabs(f[c] - g[d]));
            turned = fmax(turned, hypot(x[c] / m[c] - y[d] / n[d], x[768 + c] / m[c] - y[768 + d] / n[d]));
        }
    ck_assert_msg(worst < 1e-10 * most, "Fourier pictures differ by %g of %g", worst, most);
    /* As above, of the difference of two means of N photons. */
    const double count = 20000 * fmin(1 - result(&a, "unscattered"), 1 - result(&b, "unscattered"));
    const double limit = sqrt(2 * log(768 * 1e5) / count);
    ck_assert_msg(turned < limit, "amplitudes differ by %g, limit %g", turned, limit);
    near(result(&a, "unscattered"), result(&b, "unscattered"), 5 * sqrt(0.5 / 20000), "unscattered, 5 sigma");
    free(f), free(g), free(x), free(y), free(m), free(n);
    end_run(&a);
    end_run(&b);
}

/* --- counts --- */

/* What is expected in each cell, by the estimator, is what traced photons deposit there, out to 0.6 rad along both
 * axes. */
static void check_expectation(const char *law, const char *spacing, const char *tilt)
{
    static const char *const common[] = { "density.cells=[64,8,8]",   "density.cell=[4e-9,1e-3,1e-3]",
                                          "density.value=0.2",        "source.profile=pencil",
                                          "detector.distance=1e6",    "detector.cells=[24,24]",
                                          "detector.cell_angle=0.05", "scattering.theta_max=1.5" };
    const char *const *o = common;
    run a = RUN(slab, NULL, law, spacing, tilt, o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7],
                "source.photons=1000000");
    run b = RUN(slab, NULL, law, spacing, tilt, o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], "source.photons=1000",
                "solver.estimator=expected", "solver.samples=576", "detector.beam_stop=0");
    double *counted = field(&a, "photons", NULL), *expected = field(&b, "photons", NULL), chi = 0, sum = 0, mean = 0,
           edge = 0, far = 0;
    const double more = 1e6 * (1 - result(&a, "unscattered")) / (1e3 * (1 - result(&b, "unscattered")));
    size_t cells = 0;
    for (int c = 0; c < 576; c++) {
        /* The cell in the middle stands for its mean to (cell angle)^2 / 8 or so, 3e-4. */
        const double e = expected[c] * more;
        if (e < 20)
            continue;
        const bool outer = abs(c % 24 - 12) > 9 || abs(c / 24 - 12) > 9;
        /* Straight light arrives in one cell. */
        if (counted[c] - e > 50 * sqrt(e) || c % 24 == 0 || c < 24)
            continue;
        chi += pow(counted[c] - e, 2) / e;
        sum += counted[c];
        mean += e;
        far += outer ? counted[c] : 0;
        edge += outer ? e : 0;
        cells++;
    }
    ck_assert_msg(cells > 500 && fabs(chi - (double)cells) < 3.7 * sqrt(2.0 * (double)cells),
                  "%s, %s, %s: chi^2 = %g for %zu cells", law, spacing, tilt, chi, cells);
    near(sum, mean, 5 * sqrt(mean) + 1e-3 * mean, "all cells together, 5 sigma");
    near(far, edge, 5 * sqrt(edge) + 1e-3 * edge, "cells far from the middle, 5 sigma");
    free(counted);
    free(expected);
    end_run(&a);
    end_run(&b);
}

TEST(expected_values_are_what_is_counted)
{
    check_expectation("scattering.angle=uniform", "detector.spacing=angles", "source.tilt=[0,0]");
    check_expectation("scattering.angle=thomson", "detector.spacing=angles", "source.tilt=[0.5,-0.45]");
    check_expectation("scattering.angle=thomson", "detector.spacing=lengths", "source.tilt=[0,0]");
}

TEST(polarised_light_avoids_its_electric_field)
{
    /* 1 - (u e)^2, e at 0.4 rad to y in the plane of y and z: chi-squared over the cells that have 20 or more, 3.7
     * sigma. */
    static const int n[2] = { 24, 24 };
    enum { FINE = 4 };
    run r = RUN(slab, NULL, "density.cells=[64,8,8]", "density.cell=[4e-9,1e-3,1e-3]", "density.value=0.9",
                "source.profile=pencil", "detector.distance=1e6", "detector.cells=[24,24]", "detector.cell_angle=0.05",
                "scattering.theta_max=3.14159265358979", "scattering.angle=polarised", "source.polarisation=0.4",
                "source.photons=300000");
    double *hits = field(&r, "photons", NULL), chi = 0;
    size_t cells = 0;
    for (int c = 0; c < 576; c++) {
        double share = 0;
        for (int p = 0; p < FINE * FINE; p++) {
            double u[3];
            detector_direction(n, 0.05, true, c % 24 - 0.5 + (p % FINE + 0.5) / FINE,
                               c / 24 - 0.5 + (p / FINE + 0.5) / FINE, u);
            const double ty = u[1] / u[0], tz = u[2] / u[0], along = u[1] * cos(0.4) + u[2] * sin(0.4);
            share += 3 / (8 * pi) * (1 - along * along) * (1 + ty * ty) * (1 + tz * tz) * pow(u[0], 3) * 0.0025 /
                     (FINE * FINE);
        }
        const double e = share * 300000 * (1 - result(&r, "unscattered"));
        if (e < 20 || c == 12 * 24 + 12)
            continue;
        chi += pow(hits[c] - e, 2) / e;
        cells++;
    }
    ck_assert_msg(cells > 500 && fabs(chi - (double)cells) < 3.7 * sqrt(2.0 * (double)cells),
                  "chi^2 = %g for %zu cells", chi, cells);
    free(hits);
    end_run(&r);
}

/* --- what the results say --- */

/* Mean of exp(-i q y) over light on [from, to] that is scattered in layers of depth t from x = start on; a = k (1 - u)
 * per length. */
static double complex zone(double from, double to, double q, double start, double length, double t, double a)
{
    const double complex across = (cexp(CMPLX(0, -q * to)) - cexp(CMPLX(0, -q * from))) / CMPLX(0, -q);
    return across * (1 - exp(-t)) * born(t, a * length) * cexp(CMPLX(0, a * start));
}

/* Shifted by a quarter of a pitch, light of half a line meets both gratings, and half lines meet one: the orders on
 * either side, from photons that are counted. */
TEST(results_tell_both_first_orders)
{
    static const char text[] =
        "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\nkind = \"offset-gratings\"\n"
        "cells = [256, 32, 8]\ncell = [4e-9, 4e-9, 4e-9]\nvalue = 0.005\nwidth = 8e-9\npitch = 16e-9\nshift = 4e-9\n"
        "[source]\nphotons = 800000\n[scattering]\ntheta_max = 0.0075\n[detector]\ncells = [32, 4]\n"
        "cell_angle = 1.25000814e-3\nbeam_stop = 0\n";
    static const char *const names[] = { "first_order_minus", "first_order_plus" };
    static const char *const sigmas[] = { "first_order_minus_sigma", "first_order_plus_sigma" };
    run r = RUN(text, NULL, NULL);
    double *intensity = field(&r, "intensity", NULL), between = 0;
    const double t = -128 * log(0.995), l = 128 * 4e-9, p = 4e-9;
    const double all = 2 * p * (1 - exp(-t)) + p * (1 - exp(-2 * t)); /* of three quarters of a pitch */
    /* Between the orders, which are 5 cells apart: two cells of five. */
    for (int i = 0; i < 32; i++)
        between += i % 5 == 3 || i % 5 == 4 ? intensity[2 * 32 + i] / 12 : 0;
    for (int side = 0; side < 2; side++) {
        const double u = 1e-10 / 16e-9 * (2 * side - 1), k = 2 * pi / 1e-10, a = k * (1 - sqrt(1 - u * u)), q = k * u;
        const double share = pow(
            cabs(zone(-p, 0, q, 0, l, t, a) + zone(0, p, q, 0, 2 * l, 2 * t, a) + zone(p, 2 * p, q, l, l, t, a)) / all,
            2);
        /* Scattered photons in a cell of their cone. */
        const double count = 8e5 * all / 16e-9 * pow(1.25e-3, 2) / (2 * pi * (1 - cos(0.0075)));
        near(result(&r, names[side]), share, 5 * sqrt(2 * share / count),
             "first Born approximation of layers, 5 sigma");
        const double at = intensity[2 * 32 + 16 + 5 * (2 * side - 1)];
        near(result(&r, sigmas[side]), (at - between) / between, 1e-9 * at / between, "above the light between them");
    }
    free(intensity);
    end_run(&r);
}

/* The closed forms of slits and of an even and an odd number of lines are the transforms of their cells. */
TEST(closed_forms_are_the_fourier_picture)
{
    static const char text[] =
        "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\ncells = [1, 128, 8]\ncell = [4e-9, 4e-9, 4e-9]\n"
        "width = 12e-9\n[source]\nphotons = 100\n[scattering]\ntheta_max = 0.1\n"
        "[detector]\ncells = [256, 4]\ncell_angle = 1.9e-4\nbeam_stop = 0\n[solver]\ncompare = \"both\"\n";
    static const char *const rows[][3] = {
        { "density.kind=single-slit", "density.centre=[2e-9,0]", NULL },
        { "density.kind=double-slit", "density.centre=[2e-9,0]", "density.pitch=32e-9" },
        { "density.kind=grating", "density.centre=[18e-9,0]", "density.pitch=32e-9" },
        { "density.kind=grating", "density.centre=[2e-9,0]", "density.pitch=32e-9" },
    };
    for (int i = 0; i < 4; i++) {
        run r = RUN(text, NULL, i == 3 ? "density.cells=[1,120,8]" : "density.cells=[1,128,8]", rows[i][0], rows[i][1],
                    rows[i][2]);
        size_t count;
        const bn_column *cut = table(&r, "cut", NULL, &count);
        ck_assert(count == 256);
        near(cut[2].values[128], 1, 1e-12, "straight ahead");
        near(cut[0].values[200], 72 * 1.9e-4, 1e-12, "angle");
        /* Cubics between points a sixteenth of a cycle apart for light at the edge of the face, where they are wrong by
         * 5.6e-4; in the mean square of the cut 4e-11. */
        ck_assert_msg(result(&r, "fft_error") < 1e-10, "%s: fft_error = %g", rows[i][0], result(&r, "fft_error"));
        end_run(&r);
    }
}

TEST(rings_and_logarithms_are_of_the_picture)
{
    run r = RUN(slab, NULL, "detector.spacing=lengths");
    run e = RUN(slab, NULL, "solver.estimator=expected", "solver.samples=100");
    double *intensity = field(&r, "intensity", NULL), *hits = field(&r, "photons", NULL);
    size_t rows;
    const bn_column *rings = table(&r, "rings", NULL, &rows);
    ck_assert(rows == 12);
    for (size_t ring = 0; ring < rows; ring++) {
        double mean = 0, squares = 0, photons = 0;
        int cells = 0;
        for (int c = 0; c < 768; c++)
            if (fabs(hypot(c % 32 - 16, c / 32 - 12) - (double)ring) < 0.5) {
                mean += intensity[c];
                squares += intensity[c] * intensity[c];
                photons += hits[c];
                cells++;
            }
        near(rings[0].values[ring], 4 * pi / 1e-10 * sin(1e-3 * (double)ring), 1e-3, "4 pi / lambda sin(theta / 2)");
        near(rings[1].values[ring], mean / cells, 1e-9 * mean, "mean intensity");
        if (cells > 1)
            near(rings[2].values[ring], sqrt((squares - mean * mean / cells) / cells / (cells - 1)), 1e-9 * mean,
                 "its standard error");
        near(rings[3].values[ring], photons / cells, 1e-9 * photons, "mean of photons");
    }
    /* Expected values are shown in squares of what is added at a time. */
    const double weight = 768.0 / 100 * 4e-6 / (2 * pi * (1 - cos(0.2)));
    const run *runs[] = { &r, &e };
    for (int k = 0; k < 2; k++) {
        double *shown = field(runs[k], "log_intensity", NULL), *values = field(runs[k], "intensity", NULL);
        for (int c = 0; c < 768; c++)
            near(shown[c], log10(1 + values[c] / (k ? weight * weight : 1)), 1e-6, "six digits");
        free(shown);
        free(values);
    }
    /* Where the direct beam meets the detector, for pyFAI: the middle of cell (16, 12) of 2e-3 * 5 m. */
    const char *text = NULL;
    double poni[2], distance;
    ck_assert_uint_eq(bn_results_texts(bn_sim_results(r.sim)), 1);
    ck_assert_str_eq(bn_results_text_at(bn_sim_results(r.sim), 0, &text), "detector.poni");
    ck_assert_int_eq(
        sscanf(strstr(text, "Distance"), "Distance: %lf Poni1: %lf Poni2: %lf", &distance, &poni[0], &poni[1]), 3);
    near(distance, 5, 0, "detector.distance");
    near(poni[0], 12.5 * 0.01, 1e-12, "along z");
    near(poni[1], 16.5 * 0.01, 1e-12, "along y");
    free(intensity);
    free(hits);
    end_run(&r);
    end_run(&e);
}

/* --- budgets --- */

TEST(every_photon_is_detected_absorbed_stopped_or_missed)
{
    static const char *const orders[] = { "scattering.most=1", "scattering.most=2", "scattering.most=3" };
    const double a = 0.15, t = -64 * log(0.98);
    for (int k = 0; k < 3; k++) {
        /* All of them land on the detector: their weights and what was absorbed are the photons that entered. */
        run r = RUN(slab, NULL, "density.absorption=0.15", "scattering.order=multiple", orders[k],
                    "scattering.theta_max=0.003", "source.photons=50000");
        double *hits = field(&r, "photons", NULL),
               share[4] = { result(&r, "unscattered"), result(&r, "scattered_once") };
        share[2] = k == 1 ? 1 - share[0] - share[1]
                          : (3 - result(&r, "scatterings_mean")) - 3 * share[0] - 2 * share[1]; /* k = 2: of most = 3 */
        share[3] = k == 2 ? 1 - share[0] - share[1] - share[2] : 0;
        double lost = 0;
        for (int n = 1; n <= k + 1; n++)
            lost += share[n] * (1 - pow(1 - a, n));
        ck_assert(result(&r, "missed") == 0 && result(&r, "stopped") == 0 && result(&r, "detected") == 50000);
        /* Integers of 2^-30 and 2^-22 of a photon: half a unit a photon, or two. */
        near(result(&r, "absorbed"), lost, 0x1p-28, "1 - (1 - a)^n of those scattered n times");
        near(total(hits, 768) / 50000 + result(&r, "absorbed"), 1, 0x1p-21, "in = out + absorbed");
        near(share[0], exp(-t), 5 * sqrt(exp(-t) * (1 - exp(-t)) / 50000), "Beer's law, 5 sigma");
        if (k == 0)
            near(result(&r, "absorbed"), a * (1 - exp(-t)), 5 * a * sqrt(exp(-t) / 50000), "a (1 - exp(-t)), 5 sigma");
        free(hits);
        end_run(&r);
    }
    /* None is lost whatever the light, the law and the detector. */
    static const char *const kinds[][3] = {
        { "source.profile=gaussian", "scattering.angle=thomson", "source.tilt=[0.3,-0.2]" },
        { "source.profile=uniform", "scattering.angle=henyey-greenstein", "source.tilt=[0,1.2]" },
        { "source.profile=pencil", "scattering.angle=polarised", "detector.spacing=lengths" },
    };
    for (int k = 0; k < 3; k++) {
        run r = RUN(slab, NULL, kinds[k][0], kinds[k][1], kinds[k][2], "scattering.order=multiple",
                    "detector.beam_stop=3", "scattering.theta_max=3", "density.value=0.1");
        ck_assert(result(&r, "detected") + result(&r, "stopped") + result(&r, "missed") == 20000);
        ck_assert(result(&r, "missed") > 0);
        end_run(&r);
    }
}

/* A few cells for each scattering, spread over the detector from a random one on: as many visits as samples, and every
 * cell alike. Visits are sums of 7 neighbours of even counts: chi^2 has the variance 2 * 768 * (1 + 2 sum (n / 7)^2).
 */
TEST(samples_visit_all_cells_alike)
{
    run all = RUN(slab, NULL, "solver.estimator=expected", "solver.samples=768", "source.photons=100");
    run few = RUN(slab, NULL, "solver.estimator=expected", "solver.samples=7");
    double *weights = field(&all, "photons", NULL), *hits = field(&few, "photons", NULL), visits = 0, chi = 0;
    const double scattered = 2e4 * (1 - result(&few, "unscattered")), mean = scattered * 7 / 768;
    for (int c = 0; c < 768; c++) {
        const double here = hits[c] / (weights[c] / (100 * (1 - result(&all, "unscattered")))) * 7 / 768;
        visits += here;
        chi += pow(here - mean, 2) / mean;
    }
    near(visits, 7 * scattered, 1e-4 * scattered, "visits");
    ck_assert_msg(fabs(chi - 768) < 3.7 * sqrt(2 * 4.714 * 768), "chi^2 = %g for 768 cells", chi);
    free(weights);
    free(hits);
    end_run(&all);
    end_run(&few);
}

/* --- coherence --- */

/* The amplitude of all photons so far, step by step, gives what each coherence time has added. */
TEST(intensities_of_coherence_times_add_up)
{
    static const char *const times[] = { "source.coherent_steps=1", "source.coherent_steps=3" };
    static double expected[2][768];
    static int64_t sums[3 * 768], before[2][3 * 768];
    bn_case *config;
    bn_sim *sim;
    OK(bn_case_parse(ctx, "test.toml", slab, (const char *const[]){ "source.batch=3", "scattering.order=multiple" }, 2,
                     &config));
    OK(bn_sim_create(ctx, config, &(bn_sim_desc){ 0 }, &sim));
    for (int step = 1; !bn_sim_done(sim); step++) {
        OK(bn_sim_step(sim));
        OK(bn_sim_read(sim, "sums", sums, sizeof sums));
        for (int k = 0; k < 2; k++)
            if (k == 0 || step % 3 == 0 || bn_sim_done(sim)) {
                for (int c = 0; c < 768; c++)
                    expected[k][c] += pow(0x1p-22 * (double)(sums[c] - before[k][c]), 2) +
                                      pow(0x1p-22 * (double)(sums[768 + c] - before[k][768 + c]), 2);
                memcpy(before[k], sums, sizeof sums);
            }
    }
    bn_sim_destroy(&sim);
    bn_case_destroy(&config);
    for (int k = 0; k < 2; k++) {
        run r = RUN(slab, NULL, "source.batch=3", "scattering.order=multiple", times[k]);
        double *intensity = field(&r, "intensity", NULL);
        for (int c = 0; c < 768; c++)
            near(intensity[c], expected[k][c], 1e-12 * expected[k][c], "|sum of a time|^2, added");
        free(intensity);
        end_run(&r);
    }
}

/* --- how the work is cut up --- */

TEST(the_picture_does_not_depend_on_batches_layers_or_output)
{
    run a = RUN(slab, NULL, "scattering.order=multiple", "density.absorption=0.1");
    static const char *const changes[][2] = { { "source.batch=5", "output.every=2" },
                                              { "solver.layers=7", "output.series_every=1" },
                                              { "solver.compare=fft", "output.first=true" } };
    for (int k = 0; k < 3; k++) {
        run b = RUN(slab, NULL, "scattering.order=multiple", "density.absorption=0.1", changes[k][0], changes[k][1]);
        same_bits(&a, &b, "sums");
        same_bits(&a, &b, "intensity");
        same_bits(&a, &b, "photons");
        ck_assert(result(&a, "absorbed") == result(&b, "absorbed") &&
                  result(&a, "cos2_mean") == result(&b, "cos2_mean"));
        end_run(&b);
    }
    end_run(&a);
}

/* A step is a batch, and takes a second. */
TEST(a_run_ends_where_it_is_told)
{
    static const char *const stops[] = { "stop.steps=3", "stop.time=3" };
    for (int k = 0; k < 2; k++) {
        run r = RUN(slab, NULL, "source.batch=2", stops[k]);
        near(result(&r, "photons"), 3 * 2 * 768, 0, stops[k]);
        near(result(&r, "detected") + result(&r, "missed"), 3 * 2 * 768, 0, stops[k]);
        end_run(&r);
    }
}

int main(void) { return bn_test_main("xray_properties", open_context, close_context); }
