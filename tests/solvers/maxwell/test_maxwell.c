/* test_maxwell.c: the physics of the solver `maxwell` through the library's public interface: plane waves, slabs and
 * stacks against the transfer-matrix method, absorbing layers, spheres against Mie, symmetry, sweeps and layouts
 * against each other, and cases that must be rejected. */
#include "support_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a plane wave: numerical dispersion --- */

static const char wave_case[] = "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [1, 1, 120]\n"
                                "[pml]\ncells = 20\n[solver]\nepsilon = 1e-8\naccelerate = \"anderson\"\n";

static void check_dispersion(int cells, const char *courant, double n)
{
    char spacing[64], index[96];
    snprintf(spacing, sizeof spacing, "grid.spacing=%.17g", 600e-9 / (cells * n));
    snprintf(index, sizeof index,
             "%s[[material]]\nname = \"m\"\nn = %.17g\n[structure]\nabove = \"m\"\nbelow = \"m\"\n", "", n);
    char text[512];
    snprintf(text, sizeof text, "%s%s", wave_case, index);
    run r = RUN(text, NULL, spacing, courant);
    size_t count;
    double *e = field(&r, "E", &count);
    /* The phase over four planes of E_x, far from the layers: it travels downwards. */
    const double *a = e + 2 * 50, *b = e + 2 * 54;
    const double phase = atan2(b[1] * a[0] - b[0] * a[1], b[0] * a[0] + b[1] * a[1]);
    const double k = 3.14159265358979323846 / cells, reflected = sqrt(result(&r, "reflectance"));
    /* The layers reflect 3e-6: two such waves turn the phase at either plane by as much. */
    near(reflected, 0, 6e-6, "nothing is there but layers of 20 cells");
    near(phase / 4 / (2 * k), asin(k) / k, 2 * reflected / (4 * 2 * k), "k~/k = (N/pi) asin(pi/N)");
    near(result(&r, "transmittance"), 1, 5e-8, "nothing is there");
    free(e);
    end_run(&r);
}

TEST(waves_have_the_grids_own_length_whatever_the_time_step)
{
    check_dispersion(10, "solver.courant=0.99", 1);
    check_dispersion(20, "solver.courant=0.99", 1);
    check_dispersion(20, "solver.courant=0.4", 1);
    check_dispersion(20, "solver.courant=0.99", 1.5);
    check_dispersion(40, "solver.courant=0.99", 1);
}

/* --- slabs in vacuum --- */

static const char slab_case[] = "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [1, 1, %d]\n"
                                "spacing = %.17g\n[pml]\ncells = 20\n[[material]]\nname = \"m\"\nn = %g\nk = %g\n"
                                "[structure]\ntop = 1e-6\n[[layer]]\nmaterial = \"m\"\nthickness = %.17g\n"
                                "[solver]\nepsilon = 1e-8\n";

static run slab(double n, double k, double thickness, double h, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text, slab_case, (int)(1.4e-6 / h) + 44, h, n, k, thickness);
    return RUN(text, NULL, "solver.watch_every=20", more);
}

TEST(slabs_reflect_as_the_transfer_matrix_says)
{
    static const struct {
        double n, k, thickness, R, T, tolerance;
    } slabs[] = { { 1.5, 0, 500e-9, 0.1479289941, 0.8520710059, 5e-4 },
                  { 3.5, 0.1, 300e-9, 0.5355876655, 0.1879278561, 3.5e-3 },
                  { 0.05, 4, 30e-9, 0.9059541576, 0.0769542723, 5e-4 } };
    for (size_t i = 0; i < sizeof slabs / sizeof *slabs; i++) {
        run r = slab(slabs[i].n, slabs[i].k, slabs[i].thickness, 5e-9, "solver.start=dark");
        near(result(&r, "reflectance"), slabs[i].R, slabs[i].tolerance, "transfer matrix");
        near(result(&r, "transmittance"), slabs[i].T, slabs[i].tolerance, "transfer matrix");
        near(result(&r, "energy_balance"), 0, 1e-5, "R + T + A = 1");
        near(result(&r, "absorptance_m_poynting"), result(&r, "absorptance_m"), 4e-6, "Poynting's theorem");
        end_run(&r);
    }
}

TEST(slabs_converge_in_second_order)
{
    static const double expected[3] = { 0.143248, 0.146795, 0.147648 };
    double error[3];
    for (int i = 0; i < 3; i++) {
        run r = slab(1.5, 0, 500e-9, 20e-9 / (1 << i), "solver.start=dark");
        near(result(&r, "reflectance"), expected[i], 3e-6, "the same grid, another program");
        error[i] = fabs(result(&r, "reflectance") - 0.1479289941);
        end_run(&r);
    }
    near(error[0] / error[1], 4, 0.25, "second order");
    near(error[1] / error[2], 4, 0.1, "second order");
}

/* The layers' own solution is the fixed point of the iteration: starting there, nothing moves. */
TEST(layers_as_a_start_are_the_solution)
{
    char text[1024];
    snprintf(text, sizeof text, slab_case, 184, 10e-9, 3.5, 0.1, 300e-9);
    run dark = RUN(text, NULL, "solver.start=dark", "light.polarisation=0.6", "solver.accelerate=anderson");
    run lit = RUN(text, NULL, "solver.start=layers", "light.polarisation=0.6", "solver.watch_every=1");
    near(bn_sim_now(lit.sim).residual, 0, 6e-15, "a fixed point");
    ck_assert_uint_eq(bn_sim_now(lit.sim).step, 1);
    near(result(&lit, "reflectance"), result(&dark, "reflectance"), 4e-8, "the dark start's result");
    end_run(&dark);
    end_run(&lit);
}

TEST(oblique_light_reflects_as_fresnel_and_airy_say)
{
    static const struct {
        const char *angle, *polarisation;
        double R, tolerance;
    } rows[] = { { "light.incidence=0.5235987755982988", "light.polarisation=1.5707963267948966", 0.1744508794, 3e-4 },
                 { "light.incidence=0.5235987755982988", "light.polarisation=0", 0.0794052821, 7e-4 },
                 { "light.incidence=0.7853981633974483", "light.polarisation=1.5707963267948966", 0.1384215582, 2e-3 },
                 { "light.incidence=0.7853981633974483", "light.polarisation=0", 0.0122448428, 1e-4 } };
    char text[1024];
    snprintf(text, sizeof text, slab_case, 184, 10e-9, 1.5, 0.0, 500e-9);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run r = RUN(text, NULL, rows[i].angle, rows[i].polarisation, "light.azimuth=0.3", "solver.epsilon=1e-7",
                    "pml.reflection=1e-8", "solver.accelerate=anderson");
        near(result(&r, "reflectance"), rows[i].R, rows[i].tolerance, "transfer matrix, oblique");
        near(result(&r, "energy_balance"), 0, 1e-3, "R + T = 1");
        end_run(&r);
    }
}

/* --- stacks --- */

static const char cell_case[] =
    "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [1, 1, 300]\nspacing = 5e-9\n"
    "[light]\nwavelength = %g\n[boundary]\nbottom = \"wall\"\n[pml]\ncells = 20\n"
    "[[material]]\nname = \"front\"\nn = %g\nk = %g\n[[material]]\nname = \"absorber\"\nn = %g\nk = %g\n"
    "[[material]]\nname = \"back\"\nn = %g\nk = %g\n[[material]]\nname = \"Ag\"\nn = %g\nk = %g\n"
    "[structure]\nbelow = \"Ag\"\ntop = 1e-6\n"
    "[[layer]]\nmaterial = \"front\"\nthickness = 400e-9\n[[layer]]\nmaterial = \"absorber\"\nthickness = 300e-9\n"
    "[[layer]]\nmaterial = \"back\"\nthickness = 100e-9\n[solver]\nstart = \"layers\"\nepsilon = 1e-10\n";

TEST(a_cell_of_given_constants_absorbs_as_the_transfer_matrix_says)
{
    static const struct {
        double wavelength, tco[2], absorber[2], ag[2], R, A[4];
    } cells[] = { { 600e-9,
                    { 1.9, 0.005 },
                    { 4.2, 0.45 },
                    { 0.06, 3.9 },
                    0.01633403,
                    { 0.05613571, 0.92482846, 0.00150082, 0.00120098 } },
                  { 800e-9,
                    { 1.85, 0.01 },
                    { 3.7, 0.004 },
                    { 0.04, 5.4 },
                    0.89785163,
                    { 0.06917698, 0.01876394, 0.01170540, 0.00250205 } } };
    static const char *const names[4] = { "absorptance_front", "absorptance_absorber", "absorptance_back",
                                          "absorptance_Ag" };
    for (size_t i = 0; i < 2; i++) {
        char text[2048];
        snprintf(text, sizeof text, cell_case, cells[i].wavelength, cells[i].tco[0], cells[i].tco[1],
                 cells[i].absorber[0], cells[i].absorber[1], cells[i].tco[0], cells[i].tco[1], cells[i].ag[0],
                 cells[i].ag[1]);
        run r = RUN(text, NULL, "solver.watch_every=20");
        near(result(&r, "reflectance"), cells[i].R, 2e-3, "transfer matrix");
        for (int a = 0; a < 4; a++)
            near(result(&r, names[a]), cells[i].A[a], 2e-3, "transfer matrix");
        near(result(&r, "energy_balance"), 0, 6e-6, "R + A = 1");
        end_run(&r);
    }
}

static const char stack_case[] =
    "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [1, 1, 600]\nspacing = 2.5e-9\n"
    "[light]\nwavelength = 500e-9\nuntil = 900e-9\ncount = 9\n[boundary]\nbottom = \"wall\"\n"
    "[pml]\ncells = 20\n[[material]]\nname = \"glass\"\nn = 1.5\n[structure]\nabove = \"glass\"\n"
    "below = \"Ag-Johnson1972\"\ntop = 1030e-9\n"
    "[[layer]]\nmaterial = \"AZO-Treharne2011\"\nthickness = 500e-9\n"
    "[[layer]]\nmaterial = \"a-Si-Pierce1972\"\nthickness = 300e-9\n"
    "[[layer]]\nmaterial = \"AZO-Treharne2011\"\nthickness = 80e-9\n"
    "[solver]\nstart = \"layers\"\nepsilon = 1e-9\n";

/* A sweep of wavelengths in one run against data/published/maxwell-stack.csv. */
TEST(a_sweep_gives_the_spectrum_of_the_stack)
{
    run r = RUN(stack_case, NULL, "solver.watch_every=20");
    size_t count, rows;
    const bn_column *columns = table(&r, "spectrum", &count, &rows);
    ck_assert_uint_eq(rows, 9);
    FILE *f = fopen("data/published/maxwell-stack.csv", "r");
    ck_assert_ptr_nonnull(f);
    char line[512];
    size_t row = 0;
    while (fgets(line, sizeof line, f)) {
        double v[12];
        if (sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
                   &v[6], &v[7], &v[8], &v[9], &v[10], &v[11]) != 12)
            continue;
        near(columns[0].values[row], 1e-9 * v[0], 1e-15, "wavelength");
        for (size_t c = 1; c < count; c++) {
            const double expected = strcmp(columns[c].name, "reflectance") == 0                    ? v[7]
                                    : strcmp(columns[c].name, "absorptance_AZO_Treharne2011") == 0 ? v[8] + v[10]
                                    : strcmp(columns[c].name, "absorptance_a_Si_Pierce1972") == 0  ? v[9]
                                    : strcmp(columns[c].name, "absorptance_Ag_Johnson1972") == 0   ? v[11]
                                                                                                   : 0;
            near(columns[c].values[row], expected, 4e-3, columns[c].name);
        }
        row++;
    }
    fclose(f);
    ck_assert_uint_eq(row, 9);
    end_run(&r);
}

/* --- absorbing layers --- */

/* The numbers have four digits. */
TEST(absorbing_layers_reflect_as_computed_for_the_grid)
{
    FILE *f = fopen("data/published/maxwell-pml.csv", "r");
    ck_assert_ptr_nonnull(f);
    char line[256];
    int compared = 0;
    while (fgets(line, sizeof line, f)) {
        double ppw, cells, order, R0, r;
        if (sscanf(line, "%lf,%lf,%lf,%lf,%lf", &ppw, &cells, &order, &R0, &r) != 5 || r < 1e-7)
            continue;
        char spacing[64], thick[64], reflection[64], grid[64], grade[64];
        snprintf(spacing, sizeof spacing, "grid.spacing=%.17g", 600e-9 / ppw);
        snprintf(thick, sizeof thick, "pml.cells=%d", (int)cells);
        snprintf(reflection, sizeof reflection, "pml.reflection=%g", R0);
        snprintf(grade, sizeof grade, "pml.order=%g", order);
        snprintf(grid, sizeof grid, "grid.cells=[1,1,%d]", 60 + 2 * (int)cells);
        run v = RUN(wave_case, NULL, spacing, thick, reflection, grid, grade, "solver.start=layers",
                    "solver.epsilon=1e-9");
        const double found = sqrt(result(&v, "reflectance"));
        ck_assert_msg(fabs(found / r - 1) < 6e-4, "%g cells, order %g, R0 = %g: |r| = %g, expected %g", cells, order,
                      R0, found, r);
        compared++;
        end_run(&v);
    }
    fclose(f);
    ck_assert_int_ge(compared, 150);
}

/* --- spheres --- */

static const char sphere_case[] =
    "[case]\nsolver = \"maxwell\"\n[grid]\ncells = [%d, %d, %d]\nspacing = %.17g\n"
    "[light]\nwavelength = 600e-9\nsource = \"volume\"\n[boundary]\nsides = \"absorbing\"\n"
    "[structure]\nborders = \"sharp\"\n[[material]]\nname = \"m\"\nn = %.17g\nk = %.17g\n"
    "[[sphere]]\nmaterial = \"m\"\ncentre = [%.17g, %.17g, %.17g]\nradius = %.17g\n"
    "[solver]\nepsilon = 1e-4\naccelerate = \"anderson\"\n";

static run sphere(bn_device *device, double x, double n, double k, int ppw, int cells)
{
    char text[1024];
    const double h = 600e-9 / ppw, middle = 0.5 * cells * h;
    snprintf(text, sizeof text, sphere_case, cells, cells, cells, h, n, k, middle, middle, middle,
             x * 600e-9 / (2 * 3.14159265358979323846));
    return RUN(text, device, "case.seed=1");
}

TEST(spheres_scatter_as_mie_says)
{
    bn_device *device = opened_device();
    run r = sphere(device, 3, 1.5, 0, 20, 48);
    near(result(&r, "q_sca") / 3.41805617, 1, 0.008, "Mie");
    near(result(&r, "q_ext") / 3.41805617, 1, 0.01, "Mie, by the optical theorem");
    near(result(&r, "energy_balance"), 0, 5e-3, "scattered + absorbed = extinct");
    end_run(&r);
    r = sphere(device, 3, 1.5, 0.1, 20, 48);
    near(result(&r, "q_sca") / 2.12674871, 1, 0.02, "Mie");
    near(result(&r, "q_abs") / 0.89524954, 1, 0.006, "Mie");
    end_run(&r);
    if (long_tests()) {
        r = sphere(device, 3, 1.5, 0, 40, 70);
        near(result(&r, "q_sca") / 3.41805617, 1, 0.015, "Mie, finer");
        end_run(&r);
        /* eps = -20 - 5i: n - ik with n^2 - k^2 = -20, 2 n k = 5 */
        r = sphere(device, 2, 0.5551194, 4.5034637, 40, 60);
        near(result(&r, "q_sca") / 2.91648, 1, 0.12, "Mie, a metal in steps");
        near(result(&r, "q_abs") / 0.25895, 1, 0.25, "Mie, a metal in steps");
        end_run(&r);
    }
}

/* --- symmetry, sweeps, layouts, acceleration --- */

static const char block_case[] =
    "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [8, 8, 52]\n"
    "[[box]]\nmaterial = \"absorber\"\nfrom = [40e-9, 40e-9, 360e-9]\nto = [120e-9, 120e-9, 480e-9]\n"
    "[[box]]\nmaterial = \"Ag-Johnson1972\"\nfrom = [40e-9, 40e-9, 300e-9]\nto = [120e-9, 120e-9, 360e-9]\n"
    "[[material]]\nname = \"absorber\"\nn = 3\nk = 0.2\n[solver]\nepsilon = 1e-6\n";

TEST(polarisations_are_equal_on_a_square)
{
    run x = RUN(block_case, NULL, "light.polarisation=0"),
        y = RUN(block_case, NULL, "light.polarisation=1.5707963267948966");
    near(result(&x, "reflectance"), result(&y, "reflectance"), 1e-14, "symmetry");
    near(result(&x, "absorptance_absorber"), result(&y, "absorptance_absorber"), 1e-14, "symmetry");
    ck_assert_double_gt(result(&x, "absorptance_absorber"), 0.02);
    near(result(&x, "energy_balance"), 0, 4e-5, "R + T + A = 1");
    end_run(&x);
    end_run(&y);
}

TEST(two_tiles_are_one_twice)
{
    char text[2048];
    snprintf(text, sizeof text,
             "%s[[box]]\nmaterial = \"absorber\"\nfrom = [200e-9, 40e-9, 360e-9]\nto = [280e-9, 120e-9, 480e-9]\n"
             "[[box]]\nmaterial = \"Ag-Johnson1972\"\nfrom = [200e-9, 40e-9, 300e-9]\nto = [280e-9, 120e-9, 360e-9]\n",
             block_case);
    run one = RUN(block_case, NULL, "stop.steps=300"), two = RUN(text, NULL, "stop.steps=300", "grid.cells=[16,8,52]");
    near(result(&two, "reflectance"), result(&one, "reflectance"), 1e-14, "a period is a period");
    end_run(&one);
    end_run(&two);
}

/* The study of layouts computes the same iteration from coefficients in every cell: by its reference the solver's
 * fields but for rounding, on a device its reference's bits. */
TEST(layouts_of_the_published_study_give_the_same_fields)
{
    static const char *const layouts[] = { "solver.layout=soa", "solver.layout=aos" };
    without_optimiser(true);
    bn_device *device = opened_device();
    run compact = RUN(block_case, NULL, "stop.steps=150");
    size_t count;
    double *e = field(&compact, "E", &count), largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(e[i]));
    ck_assert_double_gt(largest, 0.5);
    for (int f = 0; f < 2; f++) {
        run reference = RUN(block_case, NULL, "stop.steps=150", "case.solver=maxwell_layouts", layouts[f]);
        run other = RUN(block_case, device, "stop.steps=150", "case.solver=maxwell_layouts", layouts[f]);
        double *r = field(&reference, "E", &count), *o = field(&other, "E", &count), difference = 0;
        for (size_t i = 0; i < count; i++)
            difference = fmax(difference, fabs(r[i] - e[i]));
        near(difference / largest, 0, 1e-14, layouts[f]);
        ck_assert_msg(memcmp(r, o, count * sizeof *r) == 0, "%s: device and reference differ", layouts[f]);
        near(result(&other, "update_norm"), result(&reference, "update_norm"), 0, "the same change");
        free(r);
        free(o);
        end_run(&reference);
        end_run(&other);
    }
    free(e);
    end_run(&compact);
}

TEST(sweeps_of_all_kinds_give_the_same_bits)
{
    static const char *const sweeps[] = { "solver.sweep=two-pass", "solver.sweep=rows", "solver.sweep=fused",
                                          "solver.sweep=one-launch" };
    without_optimiser(true);
    bn_device *device = opened_device();
    run reference = RUN(block_case, NULL, "stop.steps=45");
    size_t count;
    double *e = field(&reference, "E", &count);
    for (int i = 0; i < 4; i++) {
        run other = RUN(block_case, device, "stop.steps=45", sweeps[i]);
        double *o = field(&other, "E", &count);
        ck_assert_msg(memcmp(e, o, count * sizeof *e) == 0, "%s differs", sweeps[i]);
        free(o);
        end_run(&other);
    }
    free(e);
    end_run(&reference);
}

/* Steps of small grids wait for others and share a launch: whatever looks at the field or changes it comes after them.
 */
TEST(steps_that_share_a_launch_give_the_same_bits)
{
    enum { CASES = 7, MORE = 3 };
    static const char *const more[CASES][MORE] = {
        { "solver.watch_every=40", "light.ramp=0", "stop.steps=61" },
        { "solver.watch_every=7", "light.ramp=0.2", "light.incidence=0.3" },
        { "solver.accelerate=anderson", "solver.apart=5", "solver.depth=3" },
        { "light.wavelength=600e-9", "light.until=640e-9", "light.count=2" }, /* of which no one converges */
        { "light.source=volume", "light.ramp=0.3" },
        { "light.source=current", "light.ramp=0.3", "light.current_x=\"1e9\"" },
        { "light.source=magnetic-current", "light.ramp=0.3", "light.current_y=\"1e9\"" },
    };
    static const char *const names[] = { "E", "Z0H", "E_norm" };
    without_optimiser(true);
    bn_device *device = opened_device();
    for (int i = 0; i < CASES; i++) {
        run apart = RUN(block_case, device, "light.ramp=0", "stop.steps=29", "solver.sweep=two-pass", more[i][0],
                        more[i][1], more[i][2]),
            shared = RUN(block_case, device, "light.ramp=0", "stop.steps=29", "solver.sweep=one-launch", more[i][0],
                         more[i][1], more[i][2]);
        same_fields(&apart, &shared, names, 3, more[i][0]);
        ck_assert_uint_eq(bn_sim_now(apart.sim).step, bn_sim_now(shared.sim).step);
        for (int n = 0; i == 0 && n < 20; n++) {
            OK(bn_sim_step(apart.sim));
            OK(bn_sim_step(shared.sim));
            if (n % 6 == 4)
                same_fields(&apart, &shared, names, 3, "in between");
            if (n == 13) {
                size_t count;
                double *e = field(&apart, "E", &count);
                OK(bn_sim_step(apart.sim));
                OK(bn_sim_step(shared.sim));
                OK(bn_sim_set(apart.sim, "E", NULL, BN_NUMBERS_DOUBLE, e));
                OK(bn_sim_set(shared.sim, "E", NULL, BN_NUMBERS_DOUBLE, e));
                free(e);
            }
        }
        same_fields(&apart, &shared, names, 3, "in the end");
        end_run(&apart);
        end_run(&shared);
    }
}

TEST(acceleration_finds_the_same_field_in_fewer_steps)
{
    const char *wait = "solver.epsilon=1e-7";
    run plain = RUN(block_case, NULL, wait, "solver.accelerate=none"),
        fast = RUN(block_case, NULL, wait, "solver.accelerate=anderson");
    near(result(&fast, "reflectance"), result(&plain, "reflectance"), 1e-7, "the plain iteration");
    near(result(&fast, "absorptance_absorber"), result(&plain, "absorptance_absorber"), 1e-7, "the plain iteration");
    ck_assert_msg(bn_sim_now(fast.sim).step * 3 < bn_sim_now(plain.sim).step * 2, "%llu steps instead of %llu",
                  bn_sim_now(fast.sim).step, bn_sim_now(plain.sim).step);
    end_run(&plain);
    end_run(&fast);
}

/* --- failures --- */

TEST(contradictions_are_rejected)
{
    REJECTED(block_case, BN_CASE, "is known from 300 to 1200 nm", "light.wavelength=2e-6");
    REJECTED(block_case, BN_CASE, "cells a wavelength in absorber", "grid.spacing=40e-9");
    REJECTED(block_case, BN_CASE, "reaches into the absorbing layer", "pml.cells=20");
    REJECTED(block_case, BN_CASE, "bottom, or the cell before it", "pml.cells=15", "light.source=volume");
    REJECTED(block_case, BN_CASE, "the layer lies below the grid: its upper face is at z = -",
             "layer=[{material='absorber',thickness=9e-6},{material='absorber',thickness=1e-7}]");
    REJECTED(block_case, BN_CASE, "no room between the absorbing layers", "grid.cells=[8,8,20]");
    REJECTED(block_case, BN_CASE, "unknown material", "structure.below=unobtainium");
    REJECTED(block_case, BN_CASE, "without loss", "structure.above=absorber");
    REJECTED(block_case, BN_CASE, "plane wave", "boundary.sides=absorbing");
    REJECTED(block_case, BN_CASE, "normal incidence", "solver.start=layers", "light.incidence=0.2");
    REJECTED(block_case, BN_CASE, "normal incidence", "case.solver=maxwell_layouts", "light.incidence=0.2");
    REJECTED(block_case, BN_CASE, "bench --suite seed-001", "solver.form=soa");
    REJECTED(block_case, BN_CASE, "is gone", "exchange.read=folder");
    REJECTED(block_case, BN_CASE, "needs the last one", "light.count=3");
    REJECTED(block_case, BN_CASE, "can't lie in a metal", "structure.below=Ag-Johnson1972", "structure.top=260e-9");
    REJECTED("[case]\nsolver = \"maxwell\"\n[[material]]\nname = \"m\"\ntable = \"nowhere.csv\"\n", BN_CASE,
             "there is no file nowhere.csv", "case.seed=1");
    REJECTED("[case]\nsolver = \"maxwell\"\n[[layer]]\nmaterial = \"m\"\n", BN_CASE, "unknown material m",
             "case.seed=1");
}

/* A permittivity between 0 and 1 breaks the stability limit of the time step. */
TEST(divergence_is_reported_with_its_place)
{
    REJECTED("[case]\nsolver = \"maxwell\"\n[grid]\ncells = [6, 6, 60]\n[[material]]\nname = \"thin\"\nn = 0.2\n"
             "[[box]]\nmaterial = \"thin\"\nfrom = [0, 0, 4e-7]\nto = [1.2e-7, 1.2e-7, 6e-7]\n",
             BN_DIVERGED, "the iteration diverges", "light.ramp=1");
    REJECTED("[case]\nsolver = \"maxwell\"\n[grid]\ncells = [6, 6, 60]\n[[material]]\nname = \"thin\"\nn = 0.2\n"
             "[[box]]\nmaterial = \"thin\"\nfrom = [0, 0, 4e-7]\nto = [1.2e-7, 1.2e-7, 6e-7]\n",
             BN_DIVERGED, "first in cell", "light.ramp=1");
}

int main(void) { return bn_test_main("maxwell", open_context, close_context); }
