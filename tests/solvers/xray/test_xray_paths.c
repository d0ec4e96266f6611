/* test_xray_paths.c: where photons of `xray` go, with which phase they come out, and where they arrive: rays through
 * uneven cells, amplitudes after one and two scatterings, landing on the detector, laws of many scatterings. Numbers
 * are closed forms or integrals made here; limits are statistics, k standard deviations, k beside each. */
#include "xray_runs.h"

#include <complex.h>
#ifndef CMPLX /* glibc has it for gcc alone */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* --- rays through cells --- */

/* A ball of cells with three different sides, with empty cells on all sides of it. */
static const char ball_case[] =
    "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\nkind = \"sphere\"\ncells = [18, 20, 14]\n"
    "cell = [5e-9, 4e-9, 6e-9]\nvalue = 0.08\nradius = 2.8e-8\ncentre = [5e-9, -7e-9]\nstart = 1e-8\ndepth = 6e-8\n"
    "[source]\nprofile = \"pencil\"\nphotons = 30000\n[scattering]\ntheta_max = 1\n"
    "[detector]\ncells = [16, 12]\nbeam_stop = 0\n[solver]\nestimator = \"expected\"\nsamples = 192\n";

/* Whether a place is in a cell whose middle is in the ball: x from the entrance, y and z from its middle. */
static bool in_ball(const double p[3])
{
    static const double h[3] = { 5e-9, 4e-9, 6e-9 }, corner[3] = { 0, -4e-8, -4.2e-8 },
                        middle[3] = { 4e-8, 5e-9, -7e-9 };
    static const int n[3] = { 18, 20, 14 };
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        const double cell = floor((p[d] - corner[d]) / h[d]);
        if (cell < 0 || cell >= n[d])
            return false;
        sum += pow(corner[d] + (cell + 0.5) * h[d] - middle[d], 2);
    }
    return sum < 2.8e-8 * 2.8e-8;
}

/* The parts of a ray p0 + s u that lie in the ball, to 3e-12 m. */
static int parts_in_ball(const double p0[2], const double u[3], double parts[][2])
{
    enum { STEPS = 1 << 16 };
    const double ds = 2e-7 / STEPS;
    int count = 0;
    bool before = false;
    for (int i = 0; i < STEPS; i++) {
        const double s = (i + 0.5) * ds, p[3] = { s * u[0], p0[0] + s * u[1], p0[1] + s * u[2] };
        const bool now = in_ball(p);
        if (now && !before)
            parts[count++][0] = s - 0.5 * ds;
        if (now)
            parts[count - 1][1] = s + 0.5 * ds;
        before = now;
    }
    return count;
}

/* Mean of exp(i a s) over the place s of the first scattering on parts of a ray with `mu` scatterings a metre; *t:
 * their optical depth. */
static double complex mean_on_parts(double parts[][2], int count, double mu, double a, double *t)
{
    double complex sum = 0;
    *t = 0;
    for (int i = 0; i < count; i++) {
        const double complex rate = CMPLX(-mu, a);
        const double length = parts[i][1] - parts[i][0];
        sum += mu * cexp(CMPLX(-*t, a * parts[i][0])) * (cexp(rate * length) - 1) / rate;
        *t += mu * length;
    }
    return sum / (1 - exp(-*t));
}

/* Beer's law along the ray, and the mean of exp(i k (s (1 - u u0) - (u - u0) p0)) in every direction u. */
TEST(oblique_light_meets_the_cells_on_its_way)
{
    static const struct {
        const char *tilt, *centre, *angle, *flight, *precision;
        double tilts[2], places[2], cell_angle;
    } rows[] = {
        { "source.tilt=[0,0]",
          "source.centre=[7e-9,-3e-9]",
          "detector.cell_angle=7e-3",
          "flight.method=exact",
          "case.precision=double",
          { 0, 0 },
          { 7e-9, -3e-9 },
          7e-3 },
        { "source.tilt=[0.1,-0.06]",
          "source.centre=[-3e-9,4e-9]",
          "detector.cell_angle=0.02",
          "flight.block=2",
          "case.precision=double",
          { 0.1, -0.06 },
          { -3e-9, 4e-9 },
          0.02 },
        { "source.tilt=[-0.5,0.35]",
          "source.centre=[3.1e-8,-2.9e-8]",
          "detector.cell_angle=0.1",
          "flight.method=exact",
          "case.precision=single",
          { -0.5, 0.35 },
          { 3.1e-8, -2.9e-8 },
          0.1 },
        /* These two come in through a side of the box. */
        { "source.tilt=[0.7,-0.4]",
          "source.centre=[-5e-8,1.5e-8]",
          "detector.cell_angle=0.1",
          "flight.block=1",
          "case.precision=double",
          { 0.7, -0.4 },
          { -5e-8, 1.5e-8 },
          0.1 },
        { "source.tilt=[0.3,0.8]",
          "source.centre=[-4e-9,-5.5e-8]",
          "detector.cell_angle=0.15",
          "flight.method=exact",
          "case.precision=double",
          { 0.3, 0.8 },
          { -4e-9, -5.5e-8 },
          0.15 },
    };
    static const int n[2] = { 16, 12 };
    const double k = 2 * pi / 1e-10, mu = -log(0.92) / 5e-9;
    for (size_t row = 0; row < COUNT(rows); row++) {
        run r = RUN(ball_case, NULL, rows[row].tilt, rows[row].centre, rows[row].angle, rows[row].flight,
                    rows[row].precision);
        double *amplitude = field(&r, "amplitude", NULL), *hits = field(&r, "photons", NULL), parts[64][2], u0[3], t;
        double worst = 0;
        const double *p0 = rows[row].places;
        beam_direction(rows[row].tilts, u0);
        const int count = parts_in_ball(p0, u0, parts);
        for (int c = 0; c < n[0] * n[1]; c++) {
            double u[3];
            detector_direction(n, rows[row].cell_angle, true, c % n[0], c / n[0], u);
            const double turn = -k * ((u[1] - u0[1]) * p0[0] + (u[2] - u0[2]) * p0[1]);
            const double complex form = mean_on_parts(parts, count, mu, k * (1 - dot(u, u0)), &t) *
                                        cexp(CMPLX(0, turn));
            worst = fmax(worst, cabs(CMPLX(amplitude[c], amplitude[n[0] * n[1] + c]) / hits[c] - form));
        }
        ck_assert_msg(t > 0.3, "row %zu: the ray has a depth of only %g", row, t);
        near(result(&r, "unscattered"), exp(-t), 5 * sqrt(exp(-t) * (1 - exp(-t)) / 30000), "Beer's law, 5 sigma");
        /* |sum|^2 of N terms about their mean is N times an exponential law at most: 1e-5 for one of 192 cells in all.
         */
        const double limit = sqrt(log(192 * 1e5) / (30000 * (1 - exp(-t))));
        ck_assert_msg(worst < limit, "row %zu: amplitudes differ by up to %g, limit %g", row, worst, limit);
        free(amplitude);
        free(hits);
        end_run(&r);
    }
    /* Beside the ball, and beside its box. */
    run r = RUN(ball_case, NULL, "source.tilt=[0.7,0]", "source.centre=[3.5e-8,0]");
    ck_assert(result(&r, "unscattered") == 1);
    end_run(&r);
}

/* All lengths twice as long: the same integers, so the same bits. */
TEST(only_ratios_of_lengths_count)
{
    run a = RUN(ball_case, NULL, "source.tilt=[0.1,-0.06]", "source.centre=[-3e-9,4e-9]", "detector.cell_angle=0.02");
    run b = RUN(ball_case, NULL, "source.tilt=[0.1,-0.06]", "source.centre=[-6e-9,8e-9]", "detector.cell_angle=0.02",
                "density.cell=[1e-8,8e-9,1.2e-8]", "density.radius=5.6e-8", "density.centre=[1e-8,-1.4e-8]",
                "density.start=2e-8", "density.depth=1.2e-7", "source.wavelength=2e-10", "detector.distance=10");
    same_bits(&a, &b, "sums");
    same_bits(&a, &b, "tallies");
    end_run(&a);
    end_run(&b);
}

/* --- two scatterings --- */

/* In a deep medium of mu scatterings a metre the free paths are exponential, and the mean phase factor of photons that
 * go on in direction u after the second is <1 / (1 - i k (1 - u u1) / mu)> / (1 - i k (1 - u u0) / mu), the mean over
 * the directions u1 between them: for a law uniform up to theta_max, those within theta_max of both u0 and u. Their
 * solid angle is the law of u. At `wavelength` the phases are of the order of 1. */
static void check_two_scatterings(double theta_max, double wavelength, double cell_angle)
{
    static const char text[] =
        "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\nkind = \"slab\"\ncells = [128, 2, 2]\n"
        "cell = [1e-7, 4e-5, 4e-5]\nvalue = 0.2\n[source]\nprofile = \"pencil\"\nphotons = 400000\n"
        "tilt = [0.004, -0.003]\ncentre = [2e-7, -1e-7]\n[scattering]\norder = \"multiple\"\nmost = 2\n"
        "[detector]\ncells = [24, 20]\nbeam_stop = 0\n";
    enum { N0 = 24, N1 = 20, FINE = 160 };
    static const int n[2] = { N0, N1 };
    static const double tilts[2] = { 0.004, -0.003 }, p0[2] = { 2e-7, -1e-7 };
    static double u1[FINE * FINE][3];
    const double k = 2 * pi / wavelength, free_path = -1e-7 / log(0.8), cap = 1 - cos(theta_max);
    double u0[3];
    char keys[3][64];
    snprintf(keys[0], sizeof keys[0], "scattering.theta_max=%g", theta_max);
    snprintf(keys[1], sizeof keys[1], "source.wavelength=%g", wavelength);
    snprintf(keys[2], sizeof keys[2], "detector.cell_angle=%g", cell_angle);
    beam_direction(tilts, u0);
    const double norm = hypot(u0[0], u0[1]), b[3] = { -u0[1] / norm, u0[0] / norm, 0 };
    const double g[3] = { -u0[2] * b[1], u0[2] * b[0], norm }; /* u0 x b */
    for (int i = 0; i < FINE; i++)
        for (int j = 0; j < FINE; j++) {
            const double c = 1 - cap * (i + 0.5) / FINE, across = sqrt(1 - c * c), phi = 2 * pi * (j + 0.5) / FINE;
            for (int d = 0; d < 3; d++)
                u1[i * FINE + j][d] = c * u0[d] + across * (cos(phi) * b[d] + sin(phi) * g[d]);
        }
    run r = RUN(text, NULL, keys[0], keys[1], keys[2]);
    double *amplitude = field(&r, "amplitude", NULL), *hits = field(&r, "photons", NULL), phases = 0, counts = 0;
    size_t cells = 0;
    for (int c = 0; c < N0 * N1; c++) {
        double u[3], common = 0;
        double complex sum = 0;
        detector_direction(n, cell_angle, true, c % N0, c / N0, u);
        for (int i = 0; i < FINE * FINE; i++) {
            const double deficit = 1 - dot(u, u1[i]);
            if (deficit < cap) {
                common++;
                sum += 1 / CMPLX(1, -k * deficit * free_path);
            }
        }
        const double solid = pow(cell_angle, 2) * (u[0] * u[0] + u[1] * u[1]) * (u[0] * u[0] + u[2] * u[2]) / u[0];
        const double expected = 400000 * common / (FINE * FINE) * solid / (2 * pi * cap);
        if (expected < 100)
            continue;
        const double turn = -k * ((u[1] - u0[1]) * p0[0] + (u[2] - u0[2]) * p0[1]);
        const double complex form = sum / common / CMPLX(1, -k * (1 - dot(u, u0)) * free_path) * cexp(CMPLX(0, turn));
        const double complex mean = CMPLX(amplitude[c], amplitude[N0 * N1 + c]) / hits[c];
        phases += hits[c] * pow(cabs(mean - form), 2) / (1 - pow(cabs(form), 2));
        counts += pow(hits[c] - expected, 2) / expected;
        cells++;
    }
    /* Each |mean - form|^2 N / (1 - |form|^2) has the mean 1 and a variance of 2 at most; 3.7 sigma. */
    const double spread = 3.7 * sqrt(2.0 * (double)cells);
    ck_assert_msg(cells > 250 && fabs(phases - (double)cells) < spread, "%s: amplitudes: %g for %zu cells", keys[0],
                  phases, cells);
    ck_assert_msg(fabs(counts - (double)cells) < spread, "%s: counts: chi^2 = %g for %zu cells", keys[0], counts,
                  cells);
    free(amplitude);
    free(hits);
    end_run(&r);
}

TEST(two_scatterings_have_their_amplitude_and_their_law)
{
    check_two_scatterings(0.012, 1e-10, 2e-3);
    check_two_scatterings(1, 1e-6, 0.07); /* 1 - u of a direction is no longer small */
}

/* --- landing --- */

static const char beam_case[] =
    "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\nkind = \"slab\"\ncells = [1, 2, 2]\n"
    "value = 1e-12\n[source]\nprofile = \"pencil\"\nphotons = 8\n[scattering]\ntheta_max = 2\n"
    "[detector]\ncells = [40, 30]\ncell_angle = 0.06\nbeam_stop = 0\n";

/* Straight light, almost at the edges of the cells, on small and wide detectors. */
TEST(a_cell_takes_what_comes_half_a_cell_around_its_middle)
{
    static const int n[2] = { 40, 30 };
    static const double angles[] = { 0.06, 5e-3 };
    for (int kind = 0; kind < 4; kind++)
        for (int side = -1; side <= 1; side++)
            for (int i = -21; i <= 21; i += 7) {
                const double cell = angles[kind / 2], off = 0.4999 * side, a = (i + off) * cell;
                const double b = (-i / 2 - off) * cell;
                char tilt[100], size[64];
                snprintf(tilt, sizeof tilt, "source.tilt=[%.15g,%.15g]", kind % 2 ? atan(a) : a,
                         kind % 2 ? atan(b) : b);
                snprintf(size, sizeof size, "detector.cell_angle=%g", cell);
                run r = RUN(beam_case, NULL, tilt, size, kind % 2 ? "detector.spacing=lengths" : NULL);
                double *hits = field(&r, "photons", NULL);
                const int y = n[0] / 2 + i, z = n[1] / 2 - i / 2;
                ck_assert_msg(y < 0 || y >= n[0] ? result(&r, "missed") == 8 : hits[z * n[0] + y] == 8,
                              "%s, %s: not in column %d, row %d", tilt, size, y, z);
                free(hits);
                end_run(&r);
            }
}

/* The light of a thin layer in a quarter of the detector's distance lands where light of three quarters of that
 * distance would: <r^2> = (3/4)^2 <tan^2>, and <tan^2> = 1 / cos theta_max - 1; a cell adds a sixth of its square. */
TEST(the_last_place_counts_on_a_near_detector)
{
    run r = RUN(beam_case, NULL, "density.cells=[64,4,4]", "density.cell=[4e-8,1e-6,1e-6]", "density.start=6.4e-7",
                "density.depth=4e-8", "density.value=1", "detector.distance=2.64e-6", "scattering.theta_max=0.6",
                "detector.spacing=lengths", "detector.cells=[60,50]", "detector.cell_angle=0.04",
                "source.photons=200000");
    double *hits = field(&r, "photons", NULL), y = 0, z = 0, y2 = 0, z2 = 0;
    for (int c = 0; c < 60 * 50; c++) {
        const double at[2] = { (c % 60 - 30) * 0.04, (c / 60 - 25) * 0.04 };
        y += hits[c] * at[0] / 200000;
        z += hits[c] * at[1] / 200000;
        y2 += hits[c] * at[0] * at[0] / 200000;
        z2 += hits[c] * at[1] * at[1] / 200000;
    }
    /* The first of 4e-8 m with the density of a probability of 1 scatters within 1e-9 m. */
    const double scale = 1 - (6.4e-7 + 4e-8 / 44.36) / 2.64e-6, square = scale * scale * (1 / cos(0.6) - 1) / 2;
    near(total(hits, 3000), 200000, 0, "all on the detector");
    near(y, 0, 5 * sqrt(square / 200000), "mean along y, 5 sigma");
    near(z, 0, 5 * sqrt(square / 200000), "mean along z, 5 sigma");
    near(y2, square + 0.04 * 0.04 / 12, 5 * square * sqrt(1.0 / 200000), "square along y, 5 sigma");
    near(z2, square + 0.04 * 0.04 / 12, 5 * square * sqrt(1.0 / 200000), "square along z, 5 sigma");
    free(hits);
    end_run(&r);
}

/* What lies behind the beam stop has no light, and nothing else. */
TEST(a_beam_stop_hides_the_direct_beam)
{
    static const char *const spacings[] = { "detector.spacing=angles", "detector.spacing=lengths" };
    for (int k = 0; k < 2; k++) {
        run r = RUN(beam_case, NULL, "density.value=0.3", "source.photons=50000", "source.tilt=[0.3,-0.2]",
                    "detector.beam_stop=3.3", spacings[k], "solver.estimator=expected", "solver.samples=1200");
        run counted = RUN(beam_case, NULL, "density.value=0.3", "source.photons=50000", "source.tilt=[0.3,-0.2]",
                          "detector.beam_stop=3.3", spacings[k]);
        double *hits = field(&r, "photons", NULL), *photons = field(&counted, "photons", NULL), hidden = 0;
        const double beam[2] = { (k ? tan(0.3) : 0.3) / 0.06 + 20, (k ? tan(-0.2) : -0.2) / 0.06 + 15 };
        for (int c = 0; c < 1200; c++) {
            const bool stopped = hypot(c % 40 - beam[0], c / 40 - beam[1]) < 3.3;
            ck_assert_msg(stopped ? hits[c] == 0 && photons[c] == 0 : hits[c] > 0, "%s: column %d, row %d", spacings[k],
                          c % 40, c / 40);
            double u[3];
            detector_direction((const int[]){ 40, 30 }, 0.06, k == 0, c % 40, c / 40, u);
            const double ty = u[1] / u[0], tz = u[2] / u[0], stretch = k == 0 ? (1 + ty * ty) * (1 + tz * tz) : 1;
            hidden += stopped ? 0.0036 * stretch * pow(u[0], 3) : 0;
        }
        const double left = result(&counted, "unscattered"),
                     share = left + (1 - left) * hidden / (2 * pi * (1 - cos(2.0)));
        near(result(&counted, "stopped") / 50000, share, 5 * sqrt(0.01 / 50000),
             "straight light and a little, 5 sigma");
        free(hits);
        free(photons);
        end_run(&r);
        end_run(&counted);
    }
}

/* --- the Fourier picture --- */

/* The transform of the projection added up column by column, around tilted light, with and without that of a cell. */
TEST(fourier_picture_of_uneven_cells_is_the_direct_sum)
{
    static const char *const positions[] = { "source.positions=random", "source.positions=fixed" };
    static const double h[2] = { 4e-9, 6e-9 };
    static const int n[2] = { 16, 12 };
    double u0[3], chance[14][20], first = 0;
    beam_direction((const double[]){ 0.007, -0.01 }, u0);
    for (int k = 0; k < 14; k++)
        for (int j = 0; j < 20; j++) {
            int cells = 0;
            for (int i = 0; i < 18; i++)
                cells += in_ball((const double[]){ (i + 0.5) * 5e-9, (j - 9.5) * h[0], (k - 6.5) * h[1] });
            chance[k][j] = 1 - pow(0.92, cells);
            first += chance[k][j];
        }
    for (int fixed = 0; fixed < 2; fixed++) {
        run r = RUN(ball_case, NULL, "source.profile=uniform", "source.photons=100", "source.tilt=[0.007,-0.01]",
                    "detector.cell_angle=3e-3", "solver.compare=fft", positions[fixed]);
        double *f = field(&r, "fourier", NULL), *shown = field(&r, "log_fourier", NULL), most = 0, worst = 0;
        for (int c = 0; c < n[0] * n[1]; c++) {
            double u[3], q[2], shape = 1;
            double complex sum = 0;
            detector_direction(n, 3e-3, true, c % n[0], c / n[0], u);
            for (int d = 0; d < 2; d++) {
                q[d] = (u[d + 1] - u0[d + 1]) * h[d] / 1e-10;
                shape *= fixed || q[d] == 0 ? 1 : pow(sin(pi * q[d]) / (pi * q[d]), 2);
            }
            for (int k = 0; k < 14; k++)
                for (int j = 0; j < 20; j++)
                    sum += chance[k][j] * cexp(CMPLX(0, 2 * pi * (q[0] * j + q[1] * k)));
            worst = fmax(worst, fabs(f[c] / (first * first) - pow(cabs(sum) / first, 2) * shape));
            most = fmax(most, f[c]);
        }
        for (int c = 0; c < n[0] * n[1]; c++)
            near(shown[c], log10(fmax(f[c] / most, 1e-12)), 1e-12, "share of the largest");
        /* Cubics between points at most a tenth of a cycle apart: 0.0234 (0.2 pi)^4 at the ends, far less in the
         * middle. */
        ck_assert_msg(worst < 1.5e-5, "%s: %g of the largest", positions[fixed], worst);
        free(f);
        free(shown);
        end_run(&r);
    }
}

/* --- the light's places --- */

static const char light_case[] =
    "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\nkind = \"single-slit\"\ncells = [4, 24, 21]\n"
    "cell = [4e-9, 5e-9, 3e-9]\nvalue = 1\nwidth = 3e-8\nheight = 2.1e-8\n[source]\nphotons = 200000\n"
    "[scattering]\ntheta_max = 0.2\n[detector]\ncells = [16, 12]\ncell_angle = 5e-3\nbeam_stop = 0\n";

/* Light as wide as the slit is long and wide, a third or a quarter of it beside the slit, on each of four sides. */
TEST(even_light_fills_what_it_says)
{
    static const struct {
        const char *centre;
        double share;
    } rows[] = { { "source.centre=[0,0]", 1 },           { "source.centre=[1e-8,0]", 2.0 / 3 },
                 { "source.centre=[-1e-8,0]", 2.0 / 3 }, { "source.centre=[0,5.25e-9]", 0.75 },
                 { "source.centre=[0,-5.25e-9]", 0.75 }, { "source.centre=[7.5e-9,-7e-9]", 0.5 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        run r = RUN(light_case, NULL, "source.size=[3e-8,2.1e-8]", rows[i].centre);
        near(1 - result(&r, "unscattered"), rows[i].share, 5 * sqrt(rows[i].share * (1 - rows[i].share) / 2e5),
             "share in the slit, 5 sigma");
        end_run(&r);
    }
}

/* Light within one cell, at its middle, is a pencil there; of an even and an odd number of cells. */
TEST(fixed_positions_are_the_middles_of_cells)
{
    static const char *const more[] = { "source.photons=20000", "solver.estimator=expected", "solver.samples=192" };
    run a = RUN(light_case, NULL, more[0], more[1], more[2], "source.profile=pencil", "source.centre=[7.5e-9,-6e-9]");
    run b = RUN(light_case, NULL, more[0], more[1], more[2], "source.positions=fixed", "source.size=[3e-9,2e-9]",
                "source.centre=[6.6e-9,-5.7e-9]");
    run c = RUN(light_case, NULL, more[0], more[1], more[2], "source.size=[3e-9,2e-9]",
                "source.centre=[6.6e-9,-5.7e-9]");
    double *x = field(&a, "amplitude", NULL), *y = field(&b, "amplitude", NULL), *z = field(&c, "amplitude", NULL);
    double fixed = 0, random = 0, most = 0;
    for (int i = 0; i < 384; i++) {
        fixed = fmax(fixed, fabs(x[i] - y[i]));
        random = fmax(random, fabs(x[i] - z[i]));
        most = fmax(most, fabs(x[i]));
    }
    /* Places are integers of 2^-24 wavelengths, and a unit of them is 1e-8 of the phase here. */
    ck_assert_msg(fixed < 1e-6 * most && random > 0.01 * most, "amplitudes differ by %g and %g of %g", fixed, random,
                  most);
    free(x), free(y), free(z);
    end_run(&a);
    end_run(&b);
    end_run(&c);
}

/* Light as wide as the face meets an opaque slab as wide as the face. These seeds have photons so near the end of y or
 * z that single precision rounds them onto it. */
TEST(light_at_the_end_of_the_face_is_in_it)
{
    static const char *const seeds[] = { "case.seed=33865", "case.seed=137035" };
    for (int i = 0; i < 2; i++) {
        run r = RUN(beam_case, NULL, "case.precision=single", "density.cells=[8,8,8]", "density.value=1",
                    "source.profile=uniform", "source.photons=1000", seeds[i]);
        ck_assert_msg(result(&r, "unscattered") == 0, "%s: %g pass an opaque slab", seeds[i],
                      1000 * result(&r, "unscattered"));
        end_run(&r);
    }
}

/* --- laws of directions --- */

static const char deep_case[] =
    "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\nkind = \"slab\"\ncells = [512, 8, 8]\n"
    "cell = [4e-9, 4e-7, 4e-7]\nvalue = 0.9\n[source]\nprofile = \"pencil\"\nphotons = 400000\n"
    "[scattering]\nangle = \"polarised\"\ntheta_max = 1.5\norder = \"multiple\"\n"
    "[detector]\ncells = [32, 32]\ncell_angle = 1e-4\nbeam_stop = 0\ndistance = 1e6\n";

/* Mean over the law 1 + c^2, c from cos(theta_max) to 1, of f, by Simpson's rule. */
static double mean_of(double (*f)(double c), double theta_max)
{
    enum { STEPS = 1000 };
    const double low = cos(theta_max), h = (1 - low) / STEPS;
    double sum = 0, all = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double c = low + i * h, w = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
        sum += w * f(c);
        all += w * (1 + c * c);
    }
    return sum / all;
}
static double along_path(double c) { return (1 + c * c) * c * c; }
static double along_field(double c) { return (1 - c * c) * (1 - 0.75 * (1 - c * c)); }
static double across_both(double c) { return (1 - c * c) * (1 - 0.25 * (1 - c * c)); }
static double field_along_x(double c) { return (1 - c * c) * c * c; }

TEST(the_electric_field_goes_with_the_light)
{
    /* d' = c d + s (cos phi e + sin phi g) with the density 1 - s^2 cos^2 phi: <d' d'> = A d d + B e e + C g g, where
     * A = <c^2>, B = <s^2 cos^2 phi>, C = <s^2 sin^2 phi>. The field behind it is e' = (e - (e d') d') / |...|. In the
     * medium nothing turns back within two scatterings of 1.5 rad but what is scattered a second time. */
    const double a = mean_of(along_path, 1.5), b = mean_of(along_field, 1.5), c = mean_of(across_both, 1.5),
                 e = mean_of(field_along_x, 1.5);
    near(a + b + c, 1, 1e-9, "a unit vector");
    run r = RUN(deep_case, NULL, "scattering.most=1");
    near(result(&r, "cos2_mean"), a, 5 * 0.3 / sqrt(4e5), "first scattering, 5 sigma");
    end_run(&r);
    r = RUN(deep_case, NULL, "scattering.most=2");
    near(result(&r, "cos2_mean"), a * a + b * e + c * (1 - a - e), 5 * 0.3 / sqrt(4e5), "second scattering, 5 sigma");
    end_run(&r);
    /* Tilted light: e lies in the plane of its angle and the direction, <u u> = 2/5 - e_u^2 / 5. */
    static const struct {
        const char *tilt, *angle;
        double field;                                                            /* e_u^2 */
    } rows[] = { { "source.tilt=[0.8,0]", "source.polarisation=0", 0.51459976 }, /* sin^2 0.8 */
                 { "source.tilt=[0.8,0]", "source.polarisation=1.5707963267948966", 0 },
                 { "source.tilt=[0,-0.8]", "source.polarisation=1.5707963267948966", 0.51459976 },
                 { "source.tilt=[0,-0.8]", "source.polarisation=0", 0 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        r = RUN(deep_case, NULL, "scattering.most=1", "scattering.theta_max=3.14159265358979", rows[i].tilt,
                rows[i].angle);
        near(result(&r, "cos2_mean"), 0.4 - 0.2 * rows[i].field, 5 * 0.3 / sqrt(4e5), "dipole radiation, 5 sigma");
        end_run(&r);
    }
}

/* van de Hulst, Multiple Light Scattering (1980), table 35: a slab of optical depth 2, albedo 0.9, law of Henyey and
 * Greenstein with g = 0.75: R = 0.09739, T = 0.66096; quoted by Wang, Jacques, Zheng, Comput. Methods Programs Biomed.
 * 47 (1995) 131. The detector reaches to 89.7 degrees, and the rest of T is 1e-5. */
TEST(a_turbid_slab_reflects_and_transmits_as_published)
{
    run r = RUN(deep_case, NULL, "scattering.angle=henyey-greenstein", "scattering.g=0.75",
                "scattering.theta_max=3.14159265358979", "density.cells=[64,2,2]", "density.cell=[4e-9,1e-4,1e-4]",
                "density.value=0.03076676552365587", "density.absorption=0.1", "detector.spacing=lengths",
                "detector.cell_angle=1", "detector.cells=[400,400]", "source.batch=1");
    double *hits = field(&r, "photons", NULL);
    const double through = total(hits, 160000) / 4e5, absorbed = result(&r, "absorbed");
    near(through, 0.66096, 5 * 0.4 / sqrt(4e5), "transmitted, 5 sigma");
    near(absorbed, 1 - 0.66096 - 0.09739, 5 * 0.2 / sqrt(4e5), "absorbed, 5 sigma");
    free(hits);
    end_run(&r);
}

TEST(numbers_of_scatterings_are_poissons)
{
    run r = RUN(deep_case, NULL, "scattering.angle=uniform", "scattering.theta_max=0.001", "density.cells=[100,8,8]",
                "density.value=0.03");
    const double t = -100 * log(0.97);
    double chance = exp(-t), rest = 1;
    size_t rows;
    const bn_column *columns = table(&r, "orders", NULL, &rows);
    ck_assert(rows == 8);
    for (size_t n = 0; n < rows; n++) {
        const double expected = n < 7 ? chance : rest; /* the last row: that or more */
        near(columns[2].values[n], expected, 5 * sqrt(expected * (1 - expected) / 4e5), "Poisson's law, 5 sigma");
        near(columns[1].values[n], 4e5 * columns[2].values[n], 1e-6, "photons and their share");
        rest -= chance;
        chance *= t / (double)(n + 1);
    }
    end_run(&r);
}

int main(void) { return bn_test_main("xray_paths", open_context, close_context); }
