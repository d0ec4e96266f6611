/* test_xray.c: the physics of the solver `xray` through the library's public interface: closed forms, published
 * numbers, statistics with fixed seeds, and cases that must be rejected. The reference does it, since device and
 * reference agree photon by photon (tests/conformance, and here for what the self-test leaves out). */
#include "xray_runs.h"

#include "api/launch.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* --- the double slit of Grund (2016) --- */

/* His 256 x 128 x 128 cells; only the middle rows of the detector, and a cone that just covers them: the same photons
 * for each of their cells from far fewer in all. */
static const char slit_case[] =
    "[case]\nsolver = \"xray\"\n[density]\nkind = \"double-slit\"\ncells = [256, 128, 128]\ncell = [4e-9, 4e-9, 4e-9]\n"
    "width = 12e-9\npitch = 32e-9\ncentre = [2e-9, 0]\ndepth = 4e-9\n[source]\nsize = [44e-9, 0]\ncentre = [2e-9, 0]\n"
    "[scattering]\ntheta_max = 0.03592\n[detector]\ncells = [1024, 4]\ncell_angle = 70e-6\nbeam_stop = 1\n"
    "[solver]\ncompare = \"curve\"\n";

/* Photons for mu in a cell: share of the cone in a cell, share of the light in the slits. */
static double photons_for(double mu)
{
    const double cone = 2 * pi * (1 - cos(0.03592)), cell = 70e-6 * 70e-6;
    return mu * cone / cell * 11 / 6;
}

static double double_slit_error(double mu, int seed, double *expected)
{
    char photons[64], number[64];
    snprintf(photons, sizeof photons, "source.photons=%.0f", photons_for(mu));
    snprintf(number, sizeof number, "case.seed=%d", seed);
    run r = RUN(slit_case, NULL, photons, number);
    const double error = result(&r, "mqf");
    *expected = result(&r, "mqf_expected");
    double *hits = field(&r, "photons", NULL);
    near(total(hits, 4096) / 4096, mu, 5 * sqrt(mu / 4096) + 0.003 * mu, "photons in a cell of the detector");
    free(hits);
    end_run(&r);
    return error;
}

TEST(double_slit_converges_as_predicted)
{
    /* Error and its standard deviation from 40 runs of an independent program (double precision, time steps as in Grund
     * 2016): data/published/xray-double-slit.csv. */
    static const struct {
        double mu, error, deviation;
        int runs;
        bool slow;
    } rows[] = {
        { 2.9972, 2.2185e-2, 1.0e-3, 3, false },
        { 11.9886, 1.1893e-2, 9.3e-4, 1, true },
        { 119.8862, 1.3545e-3, 1.5e-4, 1, true },
        { 239.7725, 6.1998e-4, 6.9e-5, 1, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].slow && !long_tests())
            continue;
        double sum = 0, expected = 0;
        for (int seed = 1; seed <= rows[i].runs; seed++)
            sum += double_slit_error(rows[i].mu, seed, &expected) / rows[i].runs;
        near(sum, rows[i].error, 3 * rows[i].deviation / sqrt(rows[i].runs) + 0.05 * rows[i].error, "MQF, 40 runs");
        near(expected, rows[i].error, 0.12 * rows[i].error, "MQF, predicted");
    }
}

TEST(expected_values_give_the_same_slits_with_fewer_photons)
{
    /* Every scattering speaks to every cell: 20,000 photons are worth 1.1e4 a cell, and MQF = 2 <I (1 + J)> / mu; three
     * times that. */
    run r = RUN(slit_case, NULL, "source.photons=20000", "solver.estimator=expected", "solver.samples=4096",
                "scattering.theta_max=0.1");
    ck_assert_msg(result(&r, "mqf") < 3 * 2 * 0.06 / 1e4, "mqf = %g", result(&r, "mqf"));
    double *intensity = field(&r, "intensity", NULL);
    const size_t row = 2 * 1024 + 512;
    /* Maxima and a zero beside the middle: 2.9735 mrad, 5.835 mrad, 8.3333 mrad (closed form). */
    const double unit = intensity[row + 42] / 0.629915;
    near(intensity[row + 83] / unit, 0.112731, 0.02, "second maximum");
    near(intensity[row + 119] / unit, 0, 15 / 1e4, "zero of the envelope");
    free(intensity);
    end_run(&r);
}

/* --- slabs: numbers of scatterings, angles --- */

static const char slab_case[] = "[case]\nsolver = \"xray\"\n[density]\nkind = \"slab\"\ncells = [512, 8, 8]\ncell = "
                                "[4e-9, 4e-7, 4e-7]\nvalue = 0.001\n"
                                "[source]\nphotons = 400000\n[scattering]\ntheta_max = 0.001\norder = \"multiple\"\n"
                                "[detector]\ncells = [32, 32]\ncell_angle = 1e-4\nbeam_stop = 0\n";

static void check_share(double share, double expected, double photons, const char *what)
{
    near(share, expected, 5 * sqrt(expected * (1 - expected) / photons), what);
}

TEST(transmission_follows_the_law_of_beer)
{
    static const struct {
        const char *cells, *value;
        double left;
    } rows[] = {
        { "density.cells=[512,8,8]", "density.value=0.001", 0.59914229 },
        { "density.cells=[128,8,8]", "density.value=0.01", 0.27625167 },
        { "density.cells=[256,8,8]", "density.value=0.001", 0.77404282 },
    };
    for (size_t i = 0; i < 3; i++)
        for (int exact = 0; exact < (i > 0 || long_tests() ? 2 : 1); exact++) { /* the longest walk in long tests */
            run r = RUN(slab_case, NULL, rows[i].cells, rows[i].value,
                        exact ? "flight.method=exact" : "flight.block=3");
            const double depth = -log(rows[i].left);
            check_share(result(&r, "unscattered"), rows[i].left, 4e5, "(1 - p)^n");
            check_share(result(&r, "scattered_once"), depth * rows[i].left, 4e5, "Poisson's law, 1");
            near(result(&r, "scatterings_mean"), depth, 5 * sqrt(depth / 4e5), "Poisson's law, mean");
            ck_assert(result(&r, "detected") + result(&r, "stopped") + result(&r, "missed") == 4e5);
            end_run(&r);
        }
}

TEST(thomson_density_is_in_electrons)
{
    /* 1e31 per m3 over 2.048 um: depth 6.6524587e-29 * 1e31 * 2.048e-6 = 1.3624e-3. */
    run r = RUN(slab_case, NULL, "density.measure=electrons", "density.value=1e31");
    near(result(&r, "scatterings_mean"), 1.362424e-3, 5 * sqrt(1.3624e-3 / 4e5), "sigma rho L");
    end_run(&r);
}

/* k scatterings in a wide, opaque slab, from its surface: nothing may turn back before the last. */
static run scattered(const char *law, const char *theta, int k)
{
    char most[64];
    snprintf(most, sizeof most, "scattering.most=%d", k);
    return RUN(slab_case, NULL, "density.value=0.9", "density.cell=[4e-9,1e-3,1e-3]", "detector.distance=1e6",
               "source.profile=pencil", law, theta, most, strstr(law, "henyey") ? "scattering.g=0.7" : NULL);
}

TEST(directions_after_k_scatterings)
{
    const double c = cos(0.7), norm = (1 - c) + (1 - c * c * c) / 3;
    const double square = ((1 - c * c * c) / 3 + (1 - pow(c, 5)) / 5) / norm, p2 = 1.5 * square - 0.5;
    for (int k = 1; k <= 3; k++) {
        run cap = scattered("scattering.angle=uniform", "scattering.theta_max=0.1", k);
        const double one = 0.9975020826, spread = result(&cap, "cos2_mean") - pow(one, 2 * k);
        near(result(&cap, "cos_mean"), pow(one, k), 5 * sqrt(fabs(spread) / 4e5) + 1e-8, "((1 + cos theta_max) / 2)^k");
        end_run(&cap);
        if (k == 3)
            continue;
        /* Laws of Legendre polynomials: <P2> after k scatterings is <P2>^k; here up to 0.7 rad. */
        run r = scattered("scattering.angle=thomson", "scattering.theta_max=0.7", k);
        near(1.5 * result(&r, "cos2_mean") - 0.5, pow(p2, k), 5 * 1.5 * sqrt(0.03 / 4e5), "<P2>^k");
        end_run(&r);
    }
    run r = scattered("scattering.angle=thomson", "scattering.theta_max=3.14159265358979", 1);
    near(result(&r, "cos_mean"), 0, 5 * sqrt(0.4 / 4e5), "Thomson: no mean direction");
    near(result(&r, "cos2_mean"), 0.4, 5 * sqrt(0.09 / 4e5), "<cos^2> = 2/5");
    end_run(&r);
    r = scattered("scattering.angle=polarised", "scattering.theta_max=3.14159265358979", 1);
    near(result(&r, "cos2_mean"), 0.4, 5 * sqrt(0.09 / 4e5), "<cos^2> = 2/5");
    end_run(&r);
    r = scattered("scattering.angle=henyey-greenstein", "scattering.theta_max=3.14159265358979", 1);
    near(result(&r, "cos_mean"), 0.7, 5 * sqrt(0.2 / 4e5) + 1e-3, "Henyey and Greenstein's g");
    end_run(&r);
}

/* Chi-squared of counts against a density of directions f(1 - cos theta, cos phi to y), integrated over each cell by 8
 * x 8 points. */
static void check_directions(const char *law, const char *theta, double (*f)(double u, double v, double w))
{
    enum { N = 24, FINE = 8 };
    run r = RUN(slab_case, NULL, "density.value=0.9", "density.cell=[4e-9,1e-3,1e-3]", "source.profile=pencil",
                "detector.distance=1e6", "detector.cells=[24,24]", "detector.cell_angle=0.05",
                "scattering.order=single", law, theta);
    double *hits = field(&r, "photons", NULL), chi = 0, all = 0;
    size_t count = 0;
    for (int c = 0; c < N * N; c++) {
        double share = 0;
        for (int p = 0; p < FINE * FINE; p++) {
            const double y = (c % N - N / 2 - 0.5 + (p % FINE + 0.5) / FINE) * 0.05;
            const double z = (c / N - N / 2 - 0.5 + (p / FINE + 0.5) / FINE) * 0.05;
            const double ty = tan(y), tz = tan(z), norm = sqrt(1 + ty * ty + tz * tz);
            share += f(1 / norm, ty / norm, tz / norm) * (1 + ty * ty) * (1 + tz * tz) / (norm * norm * norm) * 0.05 *
                     0.05 / (FINE * FINE);
        }
        all += share;
        if (share * 4e5 < 20)
            continue;
        chi += pow(hits[c] - share * 4e5, 2) / (share * 4e5);
        count++;
    }
    /* One in 1e4 of all seeds is above: a sum of n squares is n +- sqrt(2 n), nearly normal. */
    ck_assert_msg(fabs(chi - (double)count) < 3.7 * sqrt(2.0 * (double)count), "%s: chi^2 = %g for %zu cells", law, chi,
                  count);
    near(total(hits, N * N) / 4e5, all, 5 * sqrt(all / 4e5), "share on the detector");
    free(hits);
    end_run(&r);
}

static double thomson_density(double u, double v, double w)
{
    (void)v, (void)w;
    return 3 / (16 * pi) * (1 + u * u);
}
static double polarised_density(double u, double v, double w)
{
    (void)u, (void)w;
    return 3 / (8 * pi) * (1 - v * v);
}
static double even_density(double u, double v, double w)
{
    (void)u, (void)v, (void)w;
    return 1 / (2 * pi * (1 - cos(1.2)));
}

TEST(angles_follow_their_laws)
{
    check_directions("scattering.angle=thomson", "scattering.theta_max=3.14159265358979", thomson_density);
    check_directions("scattering.angle=polarised", "scattering.theta_max=3.14159265358979", polarised_density);
    check_directions("scattering.angle=uniform", "scattering.theta_max=1.2", even_density);
}

TEST(small_angles_have_no_rings)
{
    /* In single precision an angle from arccos(1 - x) would come in steps of 345 urad: cells of 20 urad must all be met
     * alike. */
    run r = RUN(slab_case, NULL, "density.value=0.9", "scattering.order=single", "scattering.theta_max=0.00045",
                "detector.cell_angle=2e-5", "source.photons=800000");
    double *hits = field(&r, "photons", NULL), chi = 0;
    const double mean = 8e5 * 4e-10 / (pi * 0.00045 * 0.00045);
    size_t count = 0;
    for (int c = 0; c < 32 * 32; c++)
        if (hypot(c % 32 - 16, c / 32 - 16) < 20 && (c % 32) > 0 && c >= 32) {
            chi += pow(hits[c] - mean, 2) / mean;
            count++;
        }
    ck_assert_msg(fabs(chi - (double)count) < 3.7 * sqrt(2.0 * (double)count), "chi^2 = %g for %zu cells", chi, count);
    free(hits);
    end_run(&r);
}

/* --- delta tracking against the walk from cell to cell --- */

static const char gratings_case[] = "[case]\nsolver = \"xray\"\n[density]\nkind = \"offset-gratings\"\ncells = [256, "
                                    "32, 8]\ncell = [4e-9, 4e-9, 4e-9]\n"
                                    "value = 0.01\nwidth = 8e-9\npitch = 16e-9\nshift = 8e-9\n[source]\nphotons = "
                                    "1000000\n[scattering]\norder = \"multiple\"\n"
                                    "[detector]\ncells = [32, 32]\ncell_angle = 4e-3\nbeam_stop = 1\n";

TEST(delta_tracking_is_the_exact_walk)
{
    const char *const photons = long_tests() ? "source.photons=1000000" : "source.photons=400000";
    const double count = long_tests() ? 1e6 : 4e5;
    run a = RUN(gratings_case, NULL, "flight.method=exact", photons),
        b = RUN(gratings_case, NULL, "flight.block=3", "case.seed=2", photons);
    double *x = field(&a, "photons", NULL), *y = field(&b, "photons", NULL);
    same_law(x, y, 32 * 32, "exact walk and blocks of eight cells");
    const double mean = result(&a, "scatterings_mean");
    near(result(&b, "scatterings_mean"), mean, 5 * sqrt(2 * mean / count), "scatterings");
    near(result(&b, "unscattered"), result(&a, "unscattered"), 5 * sqrt(0.5 / count), "unscattered");
    free(x);
    free(y);
    end_run(&a);
    end_run(&b);
}

/* Cells that scatter everything have the depth 44: a block with one of them refuses nearly all of its collisions. */
static const char opaque_case[] =
    "[case]\nsolver = \"xray\"\n[density]\nkind = \"grating\"\ncells = [192, 48, 16]\ncell = [4e-9, 4e-9, 4e-9]\n"
    "value = 1\nwidth = 12e-9\npitch = 32e-9\ncentre = [2e-9, 0]\n[source]\nphotons = 60000\n"
    "[scattering]\ntheta_max = 0.2\norder = \"multiple\"\nmost = 3\n[detector]\n"
    "cells = [16, 16]\ncell_angle = 0.05\nbeam_stop = 1\n";

TEST(blocks_of_opaque_cells_refuse_few_collisions)
{
    /* Lines of three cells, five apart, all along x: blocks of one cell alone are all full or all empty. */
    const char *const photons = long_tests() ? "source.photons=60000" : "source.photons=20000";
    const double count = long_tests() ? 6e4 : 2e4;
    run a = RUN(opaque_case, NULL, "flight.method=exact", photons), b = RUN(opaque_case, NULL, "case.seed=2", photons);
    run c = RUN(opaque_case, NULL, "case.seed=3", "flight.block=1", photons);
    near(note(&b, "side of a block of cells"), 1, 0, "the grating's blocks");
    double *x = field(&a, "photons", NULL), *y = field(&b, "photons", NULL), *z = field(&c, "photons", NULL);
    same_law(x, y, 16 * 16, "exact walk and the blocks chosen");
    same_law(x, z, 16 * 16, "exact walk and blocks of two cells");
    const double mean = result(&a, "scatterings_mean");
    near(result(&c, "unscattered"), result(&a, "unscattered"), 5 * sqrt(0.5 / count), "unscattered, 5 sigma");
    ck_assert(mean > 1);
    free(x);
    free(y);
    free(z);
    end_run(&a);
    end_run(&b);
    end_run(&c);
    /* A homogeneous slab refuses nothing, however opaque: its blocks are as large as can be. */
    a = RUN(opaque_case, NULL, "density.kind=slab", "source.photons=100");
    near(note(&a, "side of a block of cells"), 128, 0, "the slab's blocks");
    end_run(&a);
}

/* Fluence of an isotropic source in a cube of side `side` [mm] by diffusion (Farrell, Patterson, Wilson 1992), with
 * images in faces 2 D outside; a pencil's source lies a transport mean free path deep. */
static double diffusion(double side, double absorbed, double scattered, const double x[3])
{
    const double d = 1 / (3 * (absorbed + scattered)), k = sqrt(absorbed / d), out = 2 * d, period = side + 2 * out;
    const double source[3] = { 1 / (absorbed + scattered) + out, 0.5 * period, 0.5 * period };
    double sum = 0;
    for (int image = 0; image < 8 * 125; image++) { /* a sign for each axis, and -2 ... 2 periods */
        double r2 = 0;
        for (int i = 0, rest = image / 8; i < 3; i++, rest /= 5) {
            const double at = (image >> i & 1 ? -1 : 1) * source[i] + 2 * period * (rest % 5 - 2);
            r2 += pow(x[i] + out - at, 2);
        }
        const int odd = (image & 1) + (image >> 1 & 1) + (image >> 2 & 1);
        sum += (odd % 2 ? -1 : 1) * exp(-k * sqrt(r2)) / (4 * pi * d * sqrt(r2));
    }
    return sum;
}

TEST(turbid_cube_absorbs_as_elsewhere)
{
    /* cube60 of MCX, 1 scattering and 0.005 absorptions a mm, 60 mm, a pencil in the middle of a face, g = 0.01, ended
     * after 5 ns, which are 1094 mm: 17.8 % of the light is absorbed after 79 scatterings. Positions to 1 mm; a pencil
     * beside the middle changes less than 0.1 %. */
    static const char text[] =
        "[case]\nsolver = \"xray\"\n[density]\nkind = \"slab\"\ncells = [60, 60, 60]\ncell = [1e-3, 1e-3, 1e-3]\nvalue "
        "= "
        "0.633955\nabsorption = 0.004975124378109453\n[source]\nwavelength = 1e-6\nprofile = \"pencil\"\nphotons = "
        "20000\n"
        "[scattering]\norder = \"multiple\"\nangle = \"henyey-greenstein\"\ng = 0.01\ntheta_max = 3.14159265358979\n"
        "most = 1094\n[detector]\ncells = [32, 32]\ncell_angle = 0.03\nspacing = \"lengths\"\ndistance = 1000\n"
        "beam_stop = 0\nvolume = true\n";
    run r = RUN(text, NULL, "case.precision=single");
    near(result(&r, "absorbed"), 0.178, 5 * 0.2 / sqrt(20000) + 5e-4, "MCX, cube60, 5 sigma");
    near(result(&r, "scatterings_mean"), 79, 5 * 130 / sqrt(20000), "MCX, cube60, 5 sigma");
    /* 32 x 32 x 16 cells far from the source: some 4e4 collisions, twenty to a photon: 3 %, 4 sigma. */
    double *fluence = field(&r, "fluence", NULL), sum = 0, expected = 0;
    for (int k = 14; k < 46; k++)
        for (int j = 14; j < 46; j++)
            for (int i = 18; i < 34; i++)
                sum += fluence[(k * 60 + j) * 60 + i] * 1e-6;
    for (int k = 14; k < 46; k += 4)
        for (int j = 14; j < 46; j += 4)
            for (int i = 18; i < 34; i += 2)
                expected += 32 * diffusion(60, 0.005, 0.99, (const double[]){ i + 1, j + 2, k + 2 });
    near(sum / expected, 1, 4 * 0.03, "fluence by diffusion, 4 sigma");
    free(fluence);
    end_run(&r);
}

/* --- two gratings, one behind the other --- */

/* Intensity in the first order over that straight ahead, from expected values: all cells hear of every scattering. */
static double first_order(const char *kind, const char *value)
{
    run r = RUN(gratings_case, NULL, kind, value, "scattering.order=single", "solver.estimator=expected",
                "solver.samples=64", "detector.cells=[16,4]", "detector.cell_angle=3.1250204e-3",
                "detector.spacing=angles", "source.photons=100000", "detector.beam_stop=0");
    double *sums = field(&r, "intensity", NULL);
    const double share = sums[2 * 16 + 10] / sums[2 * 16 + 8];
    free(sums);
    end_run(&r);
    return share;
}

TEST(offset_gratings_have_their_weak_first_order)
{
    const double both = first_order("density.kind=offset-gratings", "density.value=0.01");
    const double one = first_order("density.kind=grating", "density.value=0.0001");
    near(both, 0.03754249, 0.05 * 0.0375, "first Born approximation, p = 0.01");
    near(one, 0.35468003, 0.06 * 0.3547, "one grating, p -> 0");
}

/* --- phases --- */

TEST(single_precision_has_the_phases_of_double)
{
    /* 40 um long and wide; photons that are alone in their cell show their phase. */
    static const char text[] = "[case]\nsolver = \"xray\"\n[density]\nkind = \"slab\"\ncells = [64, 64, 64]\ncell = "
                               "[6.25e-7, 6.25e-7, 6.25e-7]\n"
                               "value = 0.05\n[source]\nphotons = 4000\n[detector]\ncells = [64, 64]\ncell_angle = "
                               "3e-3\ndistance = 1e5\nbeam_stop = 1\n";
    run a = RUN(text, NULL, "case.precision=single"), b = RUN(text, NULL, "case.precision=double");
    double *x = field(&a, "amplitude", NULL), *y = field(&b, "amplitude", NULL), *n = field(&a, "photons", NULL),
           *m = field(&b, "photons", NULL);
    double worst = 0;
    size_t alone = 0;
    for (int c = 0; c < 64 * 64; c++)
        if (n[c] == 1 && m[c] == 1) {
            worst = fmax(worst, hypot(x[c] - y[c], x[4096 + c] - y[4096 + c]));
            alone++;
        }
    ck_assert_msg(alone > 500 && worst < 1e-3, "%zu photons, phases differ by up to %g rad", alone, worst);
    free(x);
    free(y);
    free(n);
    free(m);
    end_run(&a);
    end_run(&b);
}

TEST(a_tilted_beam_has_its_pattern_around_it)
{
    run r = RUN(slit_case, NULL, "source.photons=4000", "solver.estimator=expected", "solver.samples=4096",
                "solver.compare=fft", "scattering.theta_max=0.1", "source.tilt=[0.0105,0]");
    /* As above, 2,200 a cell. */
    ck_assert_msg(result(&r, "mqf_fft") < 3 * 2 * 0.06 / 2.2e3, "mqf_fft = %g", result(&r, "mqf_fft"));
    end_run(&r);
}

/* --- the Fourier picture --- */

TEST(fourier_picture_is_the_closed_form)
{
    /* Cells at the angles of the transform of 512 nm: m lambda / (128 ds), m = 16, 32, 64 (closed form of the double
     * slit). */
    run r = RUN(slit_case, NULL, "source.photons=100", "solver.compare=both", "detector.cell_angle=1.953125e-4",
                "detector.cells=[256,4]", "detector.spacing=lengths", "scattering.theta_max=0.1");
    double *f = field(&r, "fourier", NULL);
    const double *row = f + 2 * 256 + 128;
    const double sine[] = { sin(atan(16 * 1.953125e-4)), sin(atan(32 * 1.953125e-4)), sin(atan(64 * 1.953125e-4)) };
    static const int at[] = { 16, 32, 64 };
    static const double value[] = { 0.61499051, 0.09006327, 0.04503164 };
    for (int i = 0; i < 3; i++) {
        near(sine[i], at[i] * 1.953125e-4, 3e-6, "sine and tangent");
        near(row[at[i]] / row[0], value[i], 3e-5, "transform of the mask times sinc^2");
    }
    ck_assert(result(&r, "fft_error") < 1e-6);
    free(f);
    end_run(&r);
}

/* The projection's transform, added up term by term. */
TEST(fourier_picture_is_the_direct_sum)
{
    run r = RUN(slit_case, NULL, "source.photons=100", "density.kind=sphere", "density.depth=1e-7",
                "density.radius=4e-8", "density.cells=[25,24,24]", "density.value=0.001", "density.centre=[0,0]",
                "source.size=[0,0]", "source.centre=[0,0]", "solver.compare=fft", "detector.cells=[40,40]",
                "detector.cell_angle=4e-4", "scattering.theta_max=0.1");
    double *f = field(&r, "fourier", NULL), first = 0;
    for (int c = 0; c < 5; c++) {
        const int iy = 20 + 3 * c, iz = 20 + 2 * c;
        const double ty = tan((iy - 20) * 4e-4), tz = tan((iz - 20) * 4e-4), norm = sqrt(1 + ty * ty + tz * tz);
        const double q[2] = { ty / norm * 40, tz / norm * 40 }; /* turns a cell: ds / lambda = 40 */
        double re = 0, im = 0;
        for (int k = 0; k < 24; k++)
            for (int j = 0; j < 24; j++) {
                const double y = (j - 11.5) * 4e-9, z = (k - 11.5) * 4e-9;
                int cells = 0;
                for (int i = 0; i < 25; i++)
                    cells += pow((i + 0.5) * 4e-9 - 5e-8, 2) + y * y + z * z < 1.6e-15;
                const double chance = 1 - pow(0.999, cells);
                re += chance * cos(2 * pi * (q[0] * j + q[1] * k));
                im += chance * sin(2 * pi * (q[0] * j + q[1] * k));
            }
        double sum = re * re + im * im;
        for (int d = 0; d < 2; d++)
            sum *= q[d] == 0 ? 1 : pow(sin(pi * q[d]) / (pi * q[d]), 2);
        first = c == 0 ? sum : first;
        near(f[iz * 40 + iy] / f[20 * 40 + 20], sum / first, 3e-6, "direct sum");
    }
    free(f);
    end_run(&r);
}

/* --- the sphere --- */

TEST(sphere_has_its_form_factor)
{
    /* Radius 50 nm of 2.5 nm cells; thin. Form factor [3 (sin x - x cos x) / x^3]^2, x = 4 pi R sin(theta / 2) /
     * lambda. */
    run r = RUN(slit_case, NULL, "density.kind=sphere", "density.cells=[42,42,42]",
                "density.cell=[2.5e-9,2.5e-9,2.5e-9]", "density.centre=[0,0]", "density.depth=1.05e-7",
                "density.radius=5e-8", "density.value=0.0002", "source.size=[0,0]", "source.centre=[0,0]",
                "source.photons=6000000", "solver.estimator=expected", "solver.samples=128", "solver.compare=none",
                "detector.cells=[64,2]", "detector.cell_angle=5e-5", "scattering.theta_max=0.02",
                "scattering.order=single");
    double *intensity = field(&r, "intensity", NULL), worst = 0, unit = 0;
    for (int i = 4; i < 32; i++) { /* along y, beyond the beam's own cell */
        const double a = sqrt(intensity[64 + 32 + i]), x = 4 * pi * 5e-8 * sin(0.5 * i * 5e-5) / 1e-10;
        const double form = 3 * (sin(x) - x * cos(x)) / (x * x * x);
        if (i == 4)
            unit = a / fabs(form);
        worst = fmax(worst, fabs(a / unit - fabs(form)));
    }
    /* 1 / sqrt(2 N), N = 1.7e4 photons scattered in the ball: 3 sigma. */
    ck_assert_msg(worst < 0.016, "amplitudes differ by up to %g of the largest", worst);
    free(intensity);
    end_run(&r);
}

/* --- the light --- */

TEST(gaussian_light_has_a_gaussian_pattern)
{
    /* Full width 100 nm, so sigma = 42.466 nm; |psi|^2 = exp(-(k sigma sin theta)^2). */
    run r = RUN(slab_case, NULL, "density.cells=[1,256,256]", "density.cell=[4e-9,4e-9,4e-9]", "density.value=0.5",
                "source.profile=gaussian", "source.size=[1e-7,1e-7]", "source.photons=60000", "scattering.order=single",
                "scattering.theta_max=0.01", "solver.estimator=expected", "solver.samples=128", "detector.cells=[64,2]",
                "detector.cell_angle=2e-5");
    double *intensity = field(&r, "intensity", NULL);
    for (int i = 0; i < 24; i += 4) {
        const double x = 2 * pi / 1e-10 * 42.466e-9 * i * 2e-5;
        near(intensity[64 + 32 + i] / intensity[64 + 32], exp(-x * x), 0.02, "Gaussian light");
    }
    free(intensity);
    end_run(&r);
}

TEST(fixed_positions_repeat_the_pattern)
{
    /* Points at a distance of 4 nm: the pattern repeats after lambda / 4 nm = 0.025 in the sine. */
    run r = RUN(slit_case, NULL, "source.photons=40000", "source.positions=fixed", "solver.estimator=expected",
                "solver.samples=256", "detector.cells=[128,2]", "detector.cell_angle=5e-4", "detector.spacing=lengths",
                "scattering.theta_max=0.1", "solver.compare=none");
    double *intensity = field(&r, "intensity", NULL);
    const double *row = intensity + 128 + 64;
    for (int i = 1; i < 10; i++)
        near(row[i + 50] / row[1], row[i] / row[1], 0.03, "repeats every 25 mrad");
    free(intensity);
    end_run(&r);
}

TEST(light_enters_through_every_face)
{
    /* A slab 64 cells deep along each axis in turn. */
    static const char *const faces[] = { "source.face=x_max", "source.face=y_min", "source.face=z_max" };
    static const char *const cells[] = { "density.cells=[64,8,8]", "density.cells=[8,64,8]", "density.cells=[8,8,64]" };
    for (int i = 0; i < 3; i++) {
        run r = RUN(slab_case, NULL, faces[i], cells[i], "density.cell=[4e-9,4e-9,4e-9]", "density.value=0.01");
        check_share(result(&r, "unscattered"), pow(0.99, 64), 4e5, "(1 - p)^n");
        end_run(&r);
    }
}

TEST(ripples_keep_a_foil_as_thick)
{
    run r = RUN(slab_case, NULL, "density.kind=foil", "density.cells=[64,64,8]", "density.cell=[4e-9,4e-9,4e-9]",
                "density.value=0.02", "density.start=8e-8", "density.depth=4e-8", "density.ripple=3e-8",
                "density.pitch=6.4e-8");
    check_share(result(&r, "unscattered"), pow(0.98, 10), 4e5, "(1 - p)^n");
    end_run(&r);
}

/* --- random numbers --- */

TEST(philox_gives_its_known_answers)
{
    /* kat_vectors of Random123, philox4x32 10. */
    static const uint32_t rows[][10] = {
        { 0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
        { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
          0x6d5451fd },
        { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
          0x24126ea1 },
    };
    static const bn_kernel_desc desc = { "philox_words", BN_PER_CELL, { 0, 0, 0 } };
    bn_domain *domain;
    bn_program *program;
    bn_kernel *kernel;
    bn_field *out;
    close_context();
    ck_assert_int_eq(bn_context_create(&(bn_context_desc){ .kernel_dir = BN_TEST_KERNELS }, &ctx), BN_OK);
    bn_device *device = opened_device();
    OK(bn_domain_create(
        ctx, &(bn_domain_desc){ .grid = { .dims = 2, .n = { 8, 8, 1 }, .h = { 1, 1, 1 } }, .device = device },
        &domain));
    OK(bn_field_create(domain, &(bn_field_desc){ .name = "words", .type = BN_T_I32 }, &out));
    OK(bn_program_build(domain, "philox_probe", NULL, 0, &program));
    OK(bn_kernel_find(program, &desc, &kernel));
    for (size_t i = 0; i < 3; i++) {
        int32_t words[64] = { 0 };
        bn_device_array *table;
        memcpy(words, rows[i], 6 * sizeof *words);
        OK(bn_device_array_integers(domain, "in", words, 6, &table));
        OK(BN_RUN(kernel, BN_ARRAY(table), BN_WRITE(out)));
        OK(bn_field_read(out, words, sizeof words));
        ck_assert_msg(memcmp(words, rows[i] + 6, 16) == 0, "row %zu: %08x %08x %08x %08x", i, (unsigned)words[0],
                      (unsigned)words[1], (unsigned)words[2], (unsigned)words[3]);
        bn_device_array_destroy(&table);
    }
    bn_program_destroy(&program);
    bn_field_destroy(&out);
    bn_domain_destroy(&domain);
}

/* --- same photons everywhere --- */

TEST(device_flies_the_same_photons)
{
    without_optimiser(true);
    bn_device *device = opened_device();
    static const char *const cases[][4] = {
        { "scattering.angle=thomson", "source.profile=gaussian", "scattering.theta_max=3", "detector.spacing=lengths" },
        { "scattering.angle=uniform", "solver.estimator=expected", "scattering.order=single",
          "source.positions=fixed" },
        { "density.absorption=0.1", "source.tilt=[0.2,-0.1]", "source.profile=pencil", "case.seed=123456789012" },
    };
    for (size_t i = 0; i < 3; i++) {
        const char *const *o = cases[i];
        run a = RUN(gratings_case, NULL, "source.photons=5000", o[0], o[1], o[2], o[3]);
        run b = RUN(gratings_case, device, "source.photons=5000", o[0], o[1], o[2], o[3]);
        same_bits(&a, &b, "tallies");
        same_bits(&a, &b, "sums");
        same_bits(&a, &b, "intensity");
        end_run(&a);
        end_run(&b);
    }
}

TEST(batches_do_not_change_the_picture)
{
    run a = RUN(gratings_case, NULL, "source.photons=100000", "source.batch=1");
    run b = RUN(gratings_case, NULL, "source.photons=100000", "source.batch=7");
    same_bits(&a, &b, "sums");
    same_bits(&a, &b, "tallies");
    end_run(&a);
    end_run(&b);
}

TEST(coherence_time_makes_the_pattern_weaker_not_the_light)
{
    /* Photons alone interfere with nobody: the intensity is their number. */
    run a = RUN(gratings_case, NULL, "source.photons=8192", "source.batch=1", "source.coherent_steps=0");
    run b = RUN(gratings_case, NULL, "source.photons=8192", "source.batch=1", "source.coherent_steps=1");
    double *whole = field(&a, "intensity", NULL), *parts = field(&b, "intensity", NULL),
           *hits = field(&b, "photons", NULL);
    same_bits(&a, &b, "photons");
    ck_assert(total(whole, 1024) != total(parts, 1024));
    near(total(parts, 1024) / total(hits, 1024), 1, 0.1, "intensity a photon, 8 batches of 1 a cell");
    free(whole);
    free(parts);
    free(hits);
    end_run(&a);
    end_run(&b);
}

/* --- bad input --- */

TEST(contradictions_are_rejected)
{
    static const struct {
        const char *change, *key, *word;
    } rows[] = {
        { "density.value=1.5", "density.value", "above 1" },
        { "density.value=-0.1", "density.value", "" },
        { "density.start=1e-3", "density.kind", "no cell" },
        { "density.width=40e-9", "density.width", "are one" },
        { "scattering.theta_max=1e-6", "scattering.theta_max", "beam stop" },
        { "source.size=[1e-6,0]", "source.size", "wider" },
        { "source.wavelength=1e-30", "source.wavelength", "wavelengths" },
        { "detector.distance=1e-6", "detector.distance", "far field" },
        { "detector.cell_angle=0.01", "detector.cells", "right angle" },
        { "density.kind=sphere", "solver.compare", "closed form" },
        { "density.cells=[65536,65536,2]", "density.cells", "2^30" },
        { "density.colour=red", "density.colour", "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bn_case *c = NULL;
        bn_sim *sim = NULL;
        const char *overrides[] = { rows[i].change };
        bn_status st = bn_case_parse(ctx, "test.toml", slit_case, overrides, 1, &c);
        if (st == BN_OK)
            st = bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &sim);
        ck_assert_msg(st == BN_CASE, "%s: status %d", rows[i].change, (int)st);
        ck_assert_msg(strstr(bn_error_text(ctx), strchr(rows[i].key, '.') + 1) &&
                          strstr(bn_error_text(ctx), rows[i].word),
                      "%s: %s", rows[i].change, bn_error_text(ctx));
        bn_sim_destroy(&sim);
        bn_case_destroy(&c);
        bn_context_destroy(&ctx);
        open_context();
    }
}

int main(void) { return bn_test_main("xray", open_context, close_context); }
