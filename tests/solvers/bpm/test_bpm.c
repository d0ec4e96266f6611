/* test_bpm.c: the physics of the solver `bpm` through the library's public interface: closed forms of the scheme,
 * published indices, symmetry, what is kept, and cases that must be rejected. The reference finds the numbers; the
 * device is compared with it, and computes modes, chunks and single precision itself. */
#include "support_case.h"

#include <complex.h>
#ifndef CMPLX /* glibc has it for gcc alone */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double pi = 3.14159265358979323846;
static bn_device *device;

static void open_all(void)
{
    open_context();
    device = opened_device();
}

/* The text with `what` in it replaced: overrides do not reach into lists. Lent until the next call. */
static const char *with(const char *text, const char *what, const char *by)
{
    static char made[4096];
    char copy[4096];
    snprintf(copy, sizeof copy, "%s", text);
    const char *at = strstr(copy, what);
    ck_assert_msg(at, "no %s in the case", what);
    snprintf(made, sizeof made, "%.*s%s%s", (int)(at - copy), copy, by, at + strlen(what));
    return made;
}

/* psi, to be freed: pairs, `points` of them. */
static double *psi_of(const run *r, size_t *points)
{
    double *values = field(r, "psi", points);
    *points /= 2;
    return values;
}

/* Row `row` of a column of a table of the results. */
static double value_in(const run *r, const char *name, const char *column, size_t row)
{
    size_t count, rows, i = 0;
    const bn_column *columns = table(r, name, &count, &rows);
    while (i < count && strcmp(columns[i].name, column) != 0)
        i++;
    ck_assert_msg(i < count && row < rows, "no %s in %s", column, name);
    return columns[i].values[row];
}

static void same_psi(const run *a, const run *b, const char *what)
{
    same_fields(a, b, (const char *const[]){ "psi" }, 1, what);
}

/* --- the guide between metal walls --- */

static const char metal[] = "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 100\nwidth = 10e-6\n"
                            "[output]\nmap = false\n";

TEST(modes_have_the_schemes_own_phase)
{
    /* data/published/bpm-cn-modes.csv: N, mode from 1, phase rate [rad/um] */
    static const struct {
        const char *cells, *mode;
        double rate;
    } modes[] = {
        { "grid.cells=100", "launch.mode=0", 0.00785333565024 },
        { "grid.cells=100", "launch.mode=9", 0.778919842027 },
        { "grid.cells=200", "launch.mode=4", 0.196248470158 },
        { "grid.cells=500", "launch.mode=1", 0.0314155130163 },
    };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        for (int on = 0; on < 2; on++) {
            run r = RUN(metal, on ? device : NULL, modes[i].cells, modes[i].mode);
            near(result(&r, "beta") * 1e-6, 2 * pi - modes[i].rate, 1.5e-12,
                 "(2 / dz) atan(4 alpha sin^2(j pi / 2 N))");
            near(result(&r, "phase_error"), 0, 2e-13, "closed form, over 100 um");
            near(result(&r, "power"), 1, 2e-14, "Crank-Nicolson keeps the power");
            near(result(&r, "overlap_mode"), 1, 2e-14, "a mode stays itself");
            end_run(&r);
        }
}

TEST(single_precision_keeps_its_digits)
{
    /* Solved for the new field, elimination would lose 3e-3 rad and 6e-3 of the power at N = 3000. */
    static const char *const cells[] = { "grid.cells=100", "grid.cells=3000", "grid.cells=1000" };
    for (size_t i = 0; i < (long_tests() ? 3 : 2); i++) {
        const bool part = i == 1 && !long_tests(); /* a quarter of the way, a quarter of the error */
        run r = RUN(metal, device, cells[i], "case.precision=single",
                    part ? "march.length=25e-6" : "march.length=100e-6");
        near(result(&r, "phase_error"), 0, part ? 1.25e-7 : 5e-7, "closed form, single precision");
        near(result(&r, "power"), 1, 1e-7, "power, single precision");
        end_run(&r);
    }
}

TEST(any_field_is_the_sum_of_its_modes)
{
    enum { N = 80 };
    run r = RUN(metal, NULL, "grid.cells=80", "launch.kind=gaussian", "launch.centre=3e-6", "launch.waist=1e-6",
                "launch.tilt=0.2", "march.length=20e-6", "march.dz=0.1e-6");
    size_t points;
    double *psi = psi_of(&r, &points);
    const double h = 10.0 / N, dz = 0.1, alpha = dz / (8 * pi * h * h);
    double _Complex start[N];
    double error = 0, size = 0;
    for (int i = 1; i < N; i++) {
        const double y = i * h - 3;
        start[i] = exp(-y * y) * cexp(CMPLX(0, -2 * pi * sin(0.2) * y));
    }
    for (int i = 1; i < N; i++) {
        double _Complex sum = 0;
        for (int j = 1; j < N; j++) {
            const double sine = sin(0.5 * pi * j / N), d = 4 * alpha * sine * sine;
            double _Complex share = 0;
            for (int k = 1; k < N; k++)
                share += 2.0 / N * start[k] * sin(pi * j * k / N);
            sum += share * cexp(CMPLX(0, 400 * atan(d))) * sin(pi * j * i / N);
        }
        const double _Complex found = CMPLX(psi[2 * i - 2], psi[2 * i - 1]);
        error += creal((found - sum) * conj(found - sum));
        size += creal(sum * conj(sum));
    }
    near(sqrt(error / size), 0, 1.3e-14, "sine series, each mode times g_j^200");
    free(psi);
    end_run(&r);
}

/* The study of the published iteration, on the same guide. */
static const char iteration[] =
    "[case]\nsolver = \"bpm_iteration\"\nprecision = \"double\"\n[grid]\ncells = 100\nwidth = 10e-6\n";

TEST(iteration_agrees_with_elimination)
{
    run direct = RUN(metal, NULL, "march.length=5e-6", "launch.kind=gaussian");
    run seed = RUN(iteration, NULL, "march.length=5e-6", "solver.tolerance=1e-13", "solver.tau=seed");
    run best = RUN(iteration, NULL, "march.length=5e-6", "solver.tolerance=1e-13");
    size_t points;
    double *a = psi_of(&direct, &points), *b = psi_of(&seed, &points), *c = psi_of(&best, &points);
    for (size_t i = 0; i < 2 * points; i++) {
        near(b[i], a[i], 2e-11, "iteration with the seed's tau");
        near(c[i], a[i], 1e-11, "iteration with the best tau");
    }
    near(result(&best, "rate"), 0.2388, 2e-4, "sqrt(s / (1 + s)), s = (sqrt(1 + 16 alpha^2) - 1) / 2, alpha = 0.12665");
    near(result(&seed, "rate"), 0.2455, 2e-4, "2 alpha / sqrt(1 + 4 alpha^2)");
    free(a);
    free(b);
    free(c);
    end_run(&direct);
    end_run(&seed);
    end_run(&best);
}

TEST(iteration_keeps_the_power)
{
    run r = RUN(iteration, NULL, "case.title=double");
    near(result(&r, "power"), 1, 1.3e-13, "power, over 100 um");
    end_run(&r);
    r = RUN(iteration, NULL, "case.precision=single");
    near(result(&r, "power"), 1, 1e-5, "power, single precision");
    end_run(&r);
}

TEST(sweeps_are_as_many_as_theory_says)
{
    /* Gaussian of 1 um, started from the field before, to 1e-8; dz = h / pi. */
    static const struct {
        const char *cells, *length, *tau;
        double sweeps;
    } counts[] = {
        { "grid.cells=100", "march.length=0.6366e-6", "solver.tau=seed", 10 },
        { "grid.cells=100", "march.length=0.6366e-6", "solver.tau=optimal", 9 },
        { "grid.cells=1000", "march.length=9.549e-9", "solver.tau=seed", 148 },
        { "grid.cells=1000", "march.length=9.549e-9", "solver.tau=optimal", 55 },
        { "grid.cells=3000", "march.length=2.122e-9", "solver.tau=seed", 1114 },
        { "grid.cells=3000", "march.length=2.122e-9", "solver.tau=optimal", 146 },
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        run r = RUN(iteration, NULL, counts[i].cells, counts[i].length, counts[i].tau, "solver.tolerance=1e-8",
                    "launch.waist=1e-6");
        near(result(&r, "sweeps"), counts[i].sweeps, 1 + 0.003 * counts[i].sweeps, "counted by another program");
        end_run(&r);
    }
}

TEST(light_images_itself_between_metal_walls)
{
    /* 500 cells, steps of 0.05 um; all by sine series in double: mirror image at 400 um, two halves at 200 um. */
    run r = RUN(metal, NULL, "grid.cells=500", "launch.kind=gaussian", "launch.centre=3e-6", "launch.waist=0.8e-6",
                "march.length=400e-6", "march.dz=0.05e-6", "march.records=2");
    near(result(&r, "overlap_mirror"), 0.99846285, 1e-8, "mirror image at 4 n W^2 / lambda");
    near(value_in(&r, "powers", "overlap_start", 1), 0.499798, 1e-6, "half of it at 200 um");
    near(value_in(&r, "powers", "overlap_mirror", 1), 0.499798, 1e-6, "the other half");
    end_run(&r);
}

/* --- free space --- */

static const char gaussian[] =
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 1000\nwidth = 100e-6\n"
    "[launch]\nkind = \"gaussian\"\nwaist = 2e-6\n[march]\nlength = 50e-6\ndz = 0.1e-6\n"
    "records = 2\n[output]\nmap = false\n";

TEST(gaussian_beam_spreads)
{
    /* w0 = 2 um, lambda = 1 um: Rayleigh length 4 pi um; w and intensity at 25 and 50 um. */
    run r = RUN(gaussian, NULL, "case.title=coarse");
    near(value_in(&r, "along_z", "peak", 1), 0.449110, 1e-3 * 0.449110, "1 / sqrt(1 + (z / zR)^2) at 25 um");
    near(value_in(&r, "along_z", "beam_width", 1) * 1e6, 4.453250, 2e-3 * 4.45, "w at 25 um");
    near(result(&r, "peak"), 0.243747, 4e-4 * 0.243747, "at 50 um");
    const double coarse = result(&r, "beam_width") * 1e6 - 8.205226;
    end_run(&r);
    r = RUN(gaussian, NULL, "grid.cells=2000", "march.dz=0.05e-6");
    const double fine = result(&r, "beam_width") * 1e6 - 8.205226;
    near(fine / 8.2, 0, 5e-4, "w at 50 um");
    near(coarse / fine, 4, 0.01, "second order");
    end_run(&r);
}

TEST(wide_angle_is_right_where_paraxial_is_not)
{
    /* Mode 7 of the metal guide is two plane waves at asin(0.35) = 20.49 degrees: n_eff = cos. */
    const double exact = cos(asin(0.35)), P = -0.35 * 0.35;
    const char *const common[] = { "grid.cells=4000", "launch.mode=6", "march.dz=0.02e-6", "march.length=1e-6" };
    run r = RUN(metal, NULL, common[0], common[1], common[2], common[3]);
    near(result(&r, "marched_index"), 1 + P / 2, 1.3e-6, "paraxial");
    near(result(&r, "marched_index") - exact, 2.0e-3, 2e-6, "0.2 percent off at 20 degrees");
    end_run(&r);
    r = RUN(metal, NULL, common[0], common[1], common[2], common[3], "march.wide_angle=true");
    near(result(&r, "marched_index"), 1 + 0.5 * P / (1 + 0.25 * P), 1.5e-6, "Pade (1, 1)");
    near(result(&r, "marched_index"), exact, 7e-5, "cos(20.49 degrees)");
    near(result(&r, "power"), 1, 1.5e-14, "keeps the power too");
    end_run(&r);
}

TEST(layers_absorb_what_runs_into_them)
{
    /* A beam at 10 degrees leaves the grid: nothing comes back. With metal walls all of it does. */
    const char *const common[] = { "grid.cells=400", "grid.width=40e-6", "launch.tilt=0.1745", "launch.waist=6e-6",
                                   "march.length=400e-6" };
    run r = RUN(gaussian, NULL, common[0], common[1], common[2], common[3], common[4], "walls.kind=pml");
    ck_assert_msg(result(&r, "power") < 5e-6, "%.3g of the power is left", result(&r, "power"));
    end_run(&r);
    r = RUN(gaussian, NULL, common[0], common[1], common[2], common[3], common[4]);
    near(result(&r, "power"), 1, 3e-15, "metal reflects");
    end_run(&r);
}

TEST(transforms_agree)
{
    /* In free space they are exact but for the window. */
    run r = RUN(gaussian, NULL, "solver.method=fft", "grid.cells=1025", "grid.width=102.5e-6");
    run same = RUN(gaussian, NULL, "solver.method=fft", "grid.cells=1025", "grid.width=102.5e-6");
    run direct = RUN(gaussian, NULL, "grid.cells=4100", "grid.width=102.5e-6", "march.dz=0.02e-6");
    near(result(&r, "beam_width") * 1e6, 8.205226, 1e-6, "w at 50 um");
    near(result(&r, "peak"), 0.243747, 5e-5, "1 / sqrt(1 + (z / zR)^2), between two points");
    near(result(&r, "power"), 1, 2e-13, "kept");
    near(result(&r, "beam_width"), result(&same, "beam_width"), 1e-18,
         "the reference, by another library of transforms");
    near(result(&r, "overlap_start"), result(&direct, "overlap_start"), 1.6e-5, "elimination on a finer grid");
    end_run(&r);
    end_run(&same);
    end_run(&direct);
    r = RUN(metal, NULL, "solver.method=fft", "grid.cells=4001", "launch.kind=plane", "launch.tilt=0",
            "march.length=1e-6");
    near(result(&r, "overlap_start"), 1, 1.8e-13, "a plane wave stays one");
    end_run(&r);
}

/* --- guides --- */

static const char slab[] =
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 1000\nwidth = 20e-6\n"
    "[material]\nindex = 1.45\nreference_index = 1.45\n[[structure]]\nindex = 1.5\nwidth = 3e-6\n"
    "[march]\nlength = 100e-6\ndz = 0.1e-6\nrecords = 4\n[output]\nmap = false\n";

TEST(transforms_see_the_same_guide)
{
    run r = RUN(slab, NULL, "solver.method=fft", "grid.cells=1001", "march.length=50e-6");
    near(result(&r, "marched_index"), 1.495032554, 4.8e-6, "(n_eff^2 + n_ref^2) / (2 n_ref)");
    near(result(&r, "overlap_mode"), 1, 1.8e-3, "the discrete mode, nearly that of the continuum");
    end_run(&r);
}

TEST(slab_modes_have_the_published_index)
{
    /* data/published/bpm-slab-modes.csv: n_eff, and (n_eff^2 + n_ref^2) / (2 n_ref) */
    static const struct {
        const char *mode, *polarisation;
        double n_eff, paraxial;
    } modes[] = {
        { "launch.mode=0", "light.polarisation=te", 1.494354177, 1.495032554 },
        { "launch.mode=1", "light.polarisation=te", 1.478003219, 1.478273626 },
        { "launch.mode=2", "light.polarisation=te", 1.454663008, 1.454670506 },
        { "launch.mode=0", "light.polarisation=tm", 1.494201261, 1.494874968 },
        { "launch.mode=1", "light.polarisation=tm", 1.477550646, 1.477812383 },
    };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        run r = RUN(slab, NULL, modes[i].mode, modes[i].polarisation);
        near(result(&r, "n_eff"), modes[i].n_eff, 9e-6, "transcendental equation, h = 0.02 um");
        near(result(&r, "marched_index"), modes[i].paraxial, 1e-5, "from the phase along z");
        near(result(&r, "overlap_mode"), 1, 8e-14, "the mode is kept");
        if (i < 3)
            near(result(&r, "power"), 1, 8e-14, "and its power");
        end_run(&r);
        r = RUN(slab, NULL, modes[i].mode, modes[i].polarisation, "march.wide_angle=true", "march.length=20e-6");
        near(result(&r, "marched_index"), modes[i].n_eff, 4e-5, "wide angle: the index itself");
        end_run(&r);
    }
    run coarse = RUN(slab, NULL, "grid.cells=500", "march.length=0.1e-6");
    run fine = RUN(slab, NULL, "grid.cells=1500", "march.length=0.1e-6");
    near((result(&coarse, "n_eff") - 1.4943541772) / (result(&fine, "n_eff") - 1.4943541772), 9, 0.02, "second order");
    end_run(&coarse);
    end_run(&fine);
}

TEST(absorption_takes_its_share)
{
    run r = RUN(with(slab, "width = 3e-6", "width = 20e-6\nabsorption = 1e-5"), NULL, "launch.mode=0",
                "material.reference_index=1.5", "march.length=500e-6");
    const double k = 2 * pi * 1.5, sine = 2 * sin(0.5 * pi / 1000) / (0.02 * k);
    const double _Complex n = CMPLX(1.5, -1e-5), P = (n / 1.5 - 1) * (n / 1.5 + 1) - sine * sine;
    const double step = cabs((1 - CMPLX(0, 0.025 * k) * P) / (1 + CMPLX(0, 0.025 * k) * P));
    near(result(&r, "power"), pow(step, 10000), 1e-12, "5000 steps by the scheme's own factor");
    near(result(&r, "power"), exp(-2 * 2 * pi * 500 * 1e-5), 6e-10, "exp(-2 k0 kappa z) in one medium, paraxial");
    end_run(&r);
}

static const char junction[] =
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 300\nwidth = 30e-6\n"
    "[light]\nwavelength = 1.55e-6\n[material]\nindex = 1.45\n[walls]\nkind = \"pml\"\n"
    "[[structure]]\nkind = \"y-junction\"\nindex = 1.46\nwidth = 3e-6\nseparation = 0\nseparation_end = 12e-6\n"
    "[[port]]\nfrom = 1e-6\nto = 14e-6\n[[port]]\nfrom = 16e-6\nto = 29e-6\n"
    "[march]\nlength = 600e-6\ndz = 0.5e-6\nrecords = 4\n[output]\nmap = false\n";

TEST(y_junction_is_symmetric)
{
    run r = RUN(junction, NULL, "launch.mode=0");
    near(result(&r, "port_1"), result(&r, "port_2"), 5e-14, "mirror symmetry");
    ck_assert_msg(result(&r, "port_1") > 0.4, "an arm has %.3f of the power", result(&r, "port_1"));
    end_run(&r);
    /* The odd mode of two guides, far apart, into the combiner: nothing in the even fundamental mode. */
    r = RUN(with(junction, "separation = 0\nseparation_end = 12e-6", "separation = 12e-6\nseparation_end = 0"), NULL,
            "launch.mode=1");
    size_t points;
    double *psi = psi_of(&r, &points), even = 0;
    for (size_t i = 0; i < points; i++)
        even = fmax(even,
                    hypot(psi[2 * i] + psi[2 * (points - 1 - i)], psi[2 * i + 1] + psi[2 * (points - 1 - i) + 1]));
    near(even, 0, 3e-12, "stays odd");
    free(psi);
    end_run(&r);
}

/* --- beams side by side, ways to compute --- */

TEST(a_beam_of_a_batch_is_the_beam_alone)
{
    run all = RUN(junction, NULL, "batch.count=5", "batch.wavelength=[1.5e-6,1.6e-6]", "batch.index=[0,0.004]",
                  "batch.offset=[-1e-6,1e-6]", "launch.kind=gaussian", "march.length=50e-6",
                  "material.reference_index=1.45", "walls.strength=10");
    run third = RUN(with(junction, "index = 1.46", "index = 1.462"), NULL, "light.wavelength=1.55e-6",
                    "launch.kind=gaussian", "march.length=50e-6", "material.reference_index=1.45", "walls.strength=10");
    size_t points, one;
    double *a = psi_of(&all, &points), *b = psi_of(&third, &one);
    ck_assert_uint_eq(points, 5 * one);
    for (size_t i = 0; i < 2 * one; i++)
        near(a[4 * one + i], b[i], 1.5e-15, "third of five beams");
    near(value_in(&all, "beams", "port_1", 2), result(&third, "port_1"), 1e-15, "table of the beams");
    free(a);
    free(b);
    end_run(&all);
    end_run(&third);
}

TEST(chunks_change_nothing_but_rounding)
{
    run usual = RUN(slab, device, "launch.mode=1", "march.length=20e-6");
    static const char *const chunks[] = { "solver.chunk=2", "solver.chunk=7", "solver.chunk=33", "solver.chunk=64" };
    size_t points;
    double *a = psi_of(&usual, &points);
    for (size_t k = 0; k < 4; k++) {
        run other = RUN(slab, device, chunks[k], "launch.mode=1", "march.length=20e-6");
        run reference = RUN(slab, NULL, chunks[k], "launch.mode=1", "march.length=20e-6");
        double *b = psi_of(&other, &points);
        for (size_t i = 0; i < 2 * points; i++)
            near(b[i], a[i], 5.5e-15, chunks[k]);
        free(b);
        same_psi(&other, &reference, chunks[k]);
        end_run(&other);
        end_run(&reference);
    }
    free(a);
    end_run(&usual);
}

TEST(device_equals_reference_in_all_variants)
{
    static const char *const variants[][3] = {
        { "case.precision=single", "walls.kind=pml", "light.polarisation=tm" },
        { "case.precision=single", "march.wide_angle=true", "march.theta=0.6" },
        { "case.precision=double", "walls.kind=pml", "march.wide_angle=true" },
        { "case.precision=double", "light.polarisation=tm", "launch.kind=gaussian" },
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const char *const *v = variants[i];
        const char *text = i % 2 ? junction : with(junction, "width = 3e-6", "width = 3e-6\nabsorption = 1e-4");
        run a = RUN(text, device, v[0], v[1], v[2], "march.length=20e-6");
        run b = RUN(text, NULL, v[0], v[1], v[2], "march.length=20e-6");
        same_psi(&a, &b, v[1]);
        end_run(&a);
        end_run(&b);
    }
}

/* --- in space --- */

static const char space[] =
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 60\nwidth = 24e-6\ncells_x = 40\nwidth_x = "
    "20e-6\n"
    "[launch]\nkind = \"gaussian\"\nwaist = 3e-6\ncentre = 11e-6\n[march]\nlength = 20e-6\ndz = 0.5e-6\nrecords = 3\n";

TEST(in_empty_space_directions_do_not_mix)
{
    run both = RUN(space, NULL, "launch.tilt=0.1");
    run y = RUN(space, NULL, "launch.tilt=0.1", "grid.cells_x=0");
    run x = RUN(space, NULL, "grid.cells_x=0", "grid.cells=40", "grid.width=20e-6", "launch.centre=10e-6");
    size_t points, nx, ny;
    double *f = psi_of(&both, &points), *g = psi_of(&x, &nx), *h = psi_of(&y, &ny);
    ck_assert_uint_eq(points, nx * ny);
    for (size_t j = 0; j < ny; j++)
        for (size_t i = 0; i < nx; i++) {
            const double *a = f + 2 * (j * nx + i), *b = g + 2 * i, *c = h + 2 * j;
            near(a[0], b[0] * c[0] - b[1] * c[1], 1.7e-15, "the product of two beams in a plane");
            near(a[1], b[0] * c[1] + b[1] * c[0], 1.7e-15, "the product of two beams in a plane");
        }
    near(result(&both, "power"), 1, 1.4e-14, "both half steps keep the power");
    free(f);
    free(g);
    free(h);
    end_run(&both);
    end_run(&x);
    end_run(&y);
}

static const char fibre[] =
    "[case]\nsolver = \"bpm\"\nprecision = \"double\"\n[grid]\ncells = 200\nwidth = 48e-6\ncells_x = 200\nwidth_x = "
    "48e-6\n"
    "[light]\nwavelength = 1.55e-6\n[material]\nindex = 1.455\n[[structure]]\nkind = \"fibre\"\nindex = 1.46\n"
    "width = 8e-6\n[launch]\nkind = \"mode\"\n[march]\nlength = 50e-6\ndz = 0.5e-6\nrecords = 4\n";

TEST(fibre_modes_have_the_analytic_index)
{
    run r = RUN(fibre, device, "case.title=step");
    near(result(&r, "n_eff"), 1.457013048, 7e-7, "u J1(u) / J0(u) = w K1(w) / K0(w)");
    near(result(&r, "marched_index"), 1.457013048, 8e-7, "from the phase along z");
    near(result(&r, "power"), 1, 2.3e-14, "metal walls, no absorption");
    near(result(&r, "overlap_mode"), 1, 5e-6, "the mode is kept");
    end_run(&r);
    /* k^2 n_eff^2 = k^2 n_1^2 - 2 g, g = k sqrt(n_1^2 - n_2^2) / R, the mode exp(-g r^2 / 2) */
    const double k = 2 * pi / 1.55, g = k * sqrt(1.475 * 1.475 - 1.455 * 1.455) / 15;
    r = RUN(with(fibre, "kind = \"fibre\"\nindex = 1.46\nwidth = 8e-6",
                 "kind = \"graded-fibre\"\nindex = 1.475\nwidth = 30e-6"),
            device, "march.length=1e-6");
    near(result(&r, "n_eff"), sqrt(1.475 * 1.475 - 2 * g / (k * k)), 6e-7, "parabolic index");
    near(result(&r, "beam_width"), sqrt(2 / g) * 1e-6, 0.01e-6, "w = sqrt(2 / g)");
    end_run(&r);
}

TEST(device_equals_reference_in_space)
{
    static const char *const variants[][2] = {
        { "case.precision=single", "walls.kind=metal" },
        { "case.precision=double", "walls.kind=pml" },
    };
    for (size_t i = 0; i < 2; i++) {
        run a = RUN(fibre, device, variants[i][0], variants[i][1], "grid.cells=50", "grid.cells_x=40");
        run b = RUN(fibre, NULL, variants[i][0], variants[i][1], "grid.cells=50", "grid.cells_x=40");
        same_psi(&a, &b, variants[i][1]);
        near(result(&a, "n_eff"), result(&b, "n_eff"), 0, "same bits");
        end_run(&a);
        end_run(&b);
    }
}

/* --- from files --- */

/* The drawn splitter, as structures; the pixels' borders are theirs. */
static const char drawn[] =
    "[case]\nsolver = \"bpm\"\n[grid]\ncells = 480\nwidth = 24e-6\n[light]\nwavelength = 1.55e-6\n"
    "[material]\nindex = 1.45\nreference_index = 1.48\n"
    "[[structure]]\nindex = 1.5\nwidth = 2.5e-6\nto = 40e-6\n"
    "[[structure]]\nindex = 1.5\nwidth = 12e-6\nfrom = 40e-6\nto = 122e-6\n"
    "[[structure]]\nkind = \"coupler\"\nindex = 1.5\nwidth = 2.5e-6\nseparation = 6.5e-6\nfrom = 122e-6\n"
    "[walls]\nkind = \"pml\"\nthickness = 3e-6\n[march]\nlength = 182e-6\ndz = 0.1e-6\nwide_angle = true\n";

TEST(a_picture_is_what_it_shows)
{
    static const char *const precise[] = { "case.precision=double" };
    run r, s = RUN(drawn, NULL, precise[0]);
    OK(bn_case_read(ctx, "data/cases/bpm/splitter.toml", precise, 1, &r.config));
    OK(bn_sim_create(ctx, r.config, &(bn_sim_desc){ 0 }, &r.sim));
    while (!bn_sim_done(r.sim))
        OK(bn_sim_step(r.sim));
    size_t points;
    double *a = psi_of(&r, &points), *b = psi_of(&s, &points);
    for (size_t i = 0; i < 2 * points; i++)
        near(a[i], b[i], 1.6e-14, "the same splitter as a list of structures");
    free(a);
    free(b);
    end_run(&r);
    end_run(&s);
}

TEST(a_field_from_a_file_is_launched)
{
    char path[] = "/tmp/binnacle-bpm-XXXXXX", launch[64];
    const int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    FILE *f = fdopen(descriptor, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "y,re,im\n");
    for (int i = 0; i <= 1000; i++)
        fprintf(f, "%.10g,%.17g,%.17g\n", i * 1e-7, exp(-pow(0.1 * i - 50, 2) / 4) * cos(0.05 * i),
                exp(-pow(0.1 * i - 50, 2) / 4) * sin(0.05 * i));
    ck_assert_int_eq(fclose(f), 0);
    snprintf(launch, sizeof launch, "launch.file=\"%s\"", path);
    run r = RUN(gaussian, NULL, launch, "launch.kind=file", "march.length=1e-9", "march.dz=1e-9");
    size_t points;
    double *psi = psi_of(&r, &points);
    for (size_t i = 0; i < points; i++) {
        const double size = exp(-pow(0.1 * (double)(i + 1) - 50, 2) / 4);
        near(psi[2 * i], size * cos(0.05 * (double)(i + 1)), 1.7e-4, "the file's real part");
        near(psi[2 * i + 1], size * sin(0.05 * (double)(i + 1)), 1.7e-4, "the file's imaginary part");
    }
    free(psi);
    end_run(&r);
    remove(path);
}

/* --- what must be refused --- */

TEST(nonsense_is_refused)
{
    REJECTED(slab, BN_CASE, "has no mode 3", "launch.mode=3");
    REJECTED(iteration, BN_CASE, "sweep", "grid.cells=3000", "march.dz=1e-6", "solver.sweeps=1000");
    REJECTED(metal, BN_CASE, "binnacle bench --suite seed-003", "solver.tau=seed");
    REJECTED(with(slab, "width = 3e-6", "from = 50e-6\nto = 40e-6"), BN_CASE, "before it begins",
             "launch.kind=gaussian");
    REJECTED(with(slab, "width = 3e-6", "from = 1.0"), BN_CASE, "behind the end", "launch.kind=gaussian");
    REJECTED(with(junction, "from = 1e-6", "from = 20e-6"), BN_CASE, "before it begins", "launch.mode=0");
    REJECTED(gaussian, BN_CASE, "leave nothing", "walls.kind=pml", "walls.thickness=60e-6");
    REJECTED(with(metal, "[output]",
                  "[material]\npicture = \"data/cases/bpm/splitter.png\"\n[[colour]]\nrgb = 0xffffff\n"
                  "[output]"),
             BN_CASE, "the colour 0x3b6ea8, in column 40 and row 24", "launch.kind=gaussian");
    REJECTED(with(metal, "[output]", "[[colour]]\nrgb = 0\n[output]"), BN_CASE, "no material.picture",
             "launch.kind=gaussian");
    REJECTED(gaussian, BN_CASE, "no such file", "launch.kind=file", "launch.file=nowhere.csv");
    REJECTED(gaussian, BN_CASE, "product of 2, 3, 5 and 7", "solver.method=fft", "grid.cells=102");
    REJECTED(slab, BN_CASE, "transforms are for", "solver.method=fft", "walls.kind=pml");
    REJECTED(fibre, BN_CASE, "cannot seek the mode", "solver.method=fft", "grid.cells=129", "grid.cells_x=129");
    REJECTED(fibre, BN_CASE, "only the fundamental", "launch.mode=1");
    REJECTED(fibre, BN_CASE, "one scalar beam", "march.wide_angle=true");
    REJECTED(space, BN_CASE, "no structure that could have a mode", "launch.kind=mode");
    REJECTED(gaussian, BN_CASE, "local memory", "grid.cells=3000", "solver.chunk=1");
}

int main(void) { return bn_test_main("bpm", open_all, close_context); }
