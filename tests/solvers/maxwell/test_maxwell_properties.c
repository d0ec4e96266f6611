/* test_maxwell_properties.c: what must hold of the solver `maxwell` whatever its results are: energy, reciprocity,
 * symmetry, two ways to bring in the same light, order under refinement, sweeps as runs of their own. Device and
 * reference may share a mistake; these see it. */
#include "support_case.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double complex cplx;

static const char p_light[] = "light.polarisation=0", s_light[] = "light.polarisation=1.5707963267948966";

/* An absorber and a metal over glass, plane. What the absorbing layers reflect of the amplitude shows in the balance,
 * and falls with pml.reflection: 1.1e-5 with the default 1e-6 at 30 degrees, 3.5e-6 with 1e-7, 2.5e-6 with 1e-8. */
static const char stack_case[] =
    "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [%u, %u, 100]\nspacing = 20e-9\n"
    "[light]\nwavelength = 700e-9\n[pml]\ncells = 20\nreflection = 1e-8\n[structure]\ntop = 1.2e-6\nabove = "
    "\"%s\"\nbelow = \"%s\"\n"
    "[[material]]\nname = \"glass\"\nn = 1.5\n[[material]]\nname = \"absorber\"\nn = 2.5\nk = 0.2\n"
    "[[material]]\nname = \"metal\"\nn = 0.1\nk = 3\n%s"
    "[solver]\nepsilon = 1e-8\naccelerate = \"anderson\"\n";
static const char down[] = "[[layer]]\nmaterial = \"absorber\"\nthickness = 100e-9\n"
                           "[[layer]]\nmaterial = \"metal\"\nthickness = 20e-9\n"
                           "[[layer]]\nmaterial = \"glass\"\nthickness = 140e-9\n";
static const char up[] = "[[layer]]\nmaterial = \"glass\"\nthickness = 140e-9\n"
                         "[[layer]]\nmaterial = \"metal\"\nthickness = 20e-9\n"
                         "[[layer]]\nmaterial = \"absorber\"\nthickness = 100e-9\n";

static const char tabled[] = "[[layer]]\nmaterial = \"absorber\"\nthickness = 100e-9\n"
                             "[[layer]]\nmaterial = \"Ag-Johnson1972\"\nthickness = 20e-9\n";

#define STACK(text, nx, ny, above, below, layers) \
    snprintf((text), sizeof(text), stack_case, (nx), (ny), (above), (below), (layers))

TEST(energy_balances_at_oblique_incidence_along_x_and_along_y)
{
    static const char *const azimuths[] = { "light.azimuth=0", "light.azimuth=1.5707963267948966",
                                            "light.azimuth=0.6" };
    static const char *const polarisations[] = { p_light, s_light };
    char text[2048];
    double R[2][3];
    STACK(text, 2u, 2u, "vacuum", "glass", down);
    for (int p = 0; p < 2; p++)
        for (int a = 0; a < 3; a++) {
            run r = RUN(text, NULL, "light.incidence=0.5", azimuths[a], polarisations[p]);
            near(result(&r, "energy_balance"), 0, 6e-6, "R + T + A = 1");
            near(result(&r, "absorptance_poynting"), result(&r, "absorptance"), 6e-8, "Poynting's theorem");
            R[p][a] = result(&r, "reflectance");
            end_run(&r);
        }
    for (int p = 0; p < 2; p++)
        near(R[p][1], R[p][0], 1e-14, "the grid is the same along x and y");
    ck_assert(fabs(R[0][0] - R[1][0]) > 0.01); /* p and s are not */
}

/* Light that comes the other way, at the angle that it left with, meets the same layers: it loses other parts to
 * reflection, but as much of it gets through (Lorentz). */
TEST(as_much_light_gets_through_from_either_side)
{
    static const char *const polarisations[] = { p_light, s_light };
    char text[2048], angle[64];
    /* The lateral wave number is the same on both sides: n sin(angle). */
    snprintf(angle, sizeof angle, "light.incidence=%.17g", asin(sin(0.5) / 1.5));
    for (int p = 0; p < 2; p++) {
        STACK(text, 1u, 1u, "vacuum", "glass", down);
        run one = RUN(text, NULL, "light.incidence=0.5", polarisations[p]);
        STACK(text, 1u, 1u, "glass", "vacuum", up);
        run other = RUN(text, NULL, angle, polarisations[p]);
        ck_assert_double_gt(result(&one, "transmittance"), 0.05);
        ck_assert(fabs(result(&one, "reflectance") - result(&other, "reflectance")) > 0.01);
        near(result(&other, "transmittance"), result(&one, "transmittance"), 6e-6, "reciprocity");
        end_run(&one);
        end_run(&other);
    }
}

/* Blocks without any symmetry under oblique light; or their image. */
typedef enum image { ITSELF, EXCHANGED, MIRRORED_X, MIRRORED_Y, IMAGES } image; /* exchanged: x and y */

static run blocks(image of, const char *polarisation)
{
    static const char shape[] = "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[light]\nincidence = 0.4\n"
                                "azimuth = %.17g\nramp = 1\n[structure]\ntop = 0.6e-6\nbelow = \"glass\"\n"
                                "[grid]\ncells = [%d, %d, 64]\n[[material]]\nname = \"glass\"\nn = 1.5\n"
                                "[[material]]\nname = \"metal\"\nn = 0.1\nk = 3\n"
                                "[[box]]\nmaterial = \"metal\"\nfrom = [%g, %g, 5e-7]\nto = [%g, %g, 6e-7]\n"
                                "[[box]]\nmaterial = \"glass\"\nfrom = [%g, %g, 6e-7]\nto = [%g, %g, 7e-7]\n"
                                "[solver]\nepsilon = 1e-9\n[stop]\nsteps = 200\n";
    const double quarter = 1.5707963267948966, angle = 0.3, spacing = 20e-9;
    const double azimuth[IMAGES] = { angle, quarter - angle, 2 * quarter - angle, -angle };
    const int size[2] = { 10, 8 }, x = of == EXCHANGED;
    int corner[2][2][2] = { { { 1, 2 }, { 5, 6 } }, { { 3, 1 }, { 8, 4 } } }; /* box, from and to, x and y */
    double v[8];
    char text[2048];
    for (int b = 0; b < 2; b++) {
        const int d = of == MIRRORED_Y, low = corner[b][0][d];
        if (of == MIRRORED_X || of == MIRRORED_Y) {
            corner[b][0][d] = size[d] - corner[b][1][d];
            corner[b][1][d] = size[d] - low;
        }
        for (int i = 0; i < 4; i++)
            v[4 * b + i] = spacing * corner[b][i / 2][i % 2 ^ x];
    }
    snprintf(text, sizeof text, shape, azimuth[of], size[x], size[!x], v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
    return RUN(text, NULL, polarisation);
}

/* A mirror turns s into -s. The steps of all runs are the same sums in another order. */
TEST(images_of_a_structure_reflect_and_absorb_alike)
{
    static const char *const names[] = { "reflectance", "transmittance", "absorptance_metal", "energy_balance" };
    static const char *const polarisations[] = { p_light, s_light };
    for (int p = 0; p < 2; p++) {
        run one = blocks(ITSELF, polarisations[p]);
        for (int of = EXCHANGED; of < IMAGES; of++) {
            run other = blocks((image)of, polarisations[p]);
            for (int i = 0; i < 4; i++)
                near(result(&other, names[i]), result(&one, names[i]), 1e-14, names[i]);
            end_run(&other);
        }
        end_run(&one);
    }
}

/* The scattered field of a volume source and what the plane source gives differ by the incident wave, which the former
 * leaves out everywhere, the latter above the source alone: |E| of the whole field below the source is the same. */
TEST(a_volume_source_lights_as_a_plane_source_does)
{
    char text[2048];
    STACK(text, 2u, 2u, "vacuum", "vacuum", down);
    run plane = RUN(text, NULL, "light.source=plane", "light.polarisation=0.4");
    run volume = RUN(text, NULL, "light.source=volume", "light.polarisation=0.4");
    enum { CELLS = 2 * 2 * 100, SOURCE = 77, LOW = 20 };
    double a[CELLS], b[CELLS];
    OK(bn_sim_read(plane.sim, "E_norm", a, sizeof a));
    OK(bn_sim_read(volume.sim, "E_norm", b, sizeof b));
    double largest = 0, difference = 0;
    for (size_t i = 4 * (LOW + 1); i < 4 * SOURCE; i++) { /* between the absorbing layer below and the source */
        largest = fmax(largest, a[i]);
        difference = fmax(difference, fabs(a[i] - b[i]));
    }
    ck_assert_double_gt(largest, 1);
    near(result(&volume, "energy_balance"), 0, 6e-8, "scattered and absorbed light is what the wave has lost");
    near(difference / largest, 0, 5e-6, "the same light");
    end_run(&plane);
    end_run(&volume);
}

/* In any order, accelerated or not, with a metal whose constants change along the way. */
TEST(each_wavelength_of_a_sweep_is_a_run_of_its_own)
{
    static const char *const ways[] = { "solver.accelerate=none", "solver.accelerate=anderson" };
    char text[2048];
    STACK(text, 1u, 2u, "vacuum", "vacuum", tabled);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        size_t count, rows, back_count, back_rows;
        run there = RUN(text, NULL, "light.wavelength=600e-9", "light.until=700e-9", "light.count=3", ways[w],
                        "solver.epsilon=1e-5");
        run back = RUN(text, NULL, "light.wavelength=700e-9", "light.until=600e-9", "light.count=3", ways[w],
                       "solver.epsilon=1e-5");
        const bn_column *a = table(&there, "spectrum", &count, &rows);
        const bn_column *b = table(&back, "spectrum", &back_count, &back_rows);
        ck_assert(rows == 3 && back_rows == 3 && count == back_count);
        for (size_t i = 0; i < rows; i++) {
            char wavelength[64];
            near(a[0].values[i], 600e-9 + 50e-9 * (double)i, 1e-21, "equal distances");
            snprintf(wavelength, sizeof wavelength, "light.wavelength=%.17g", a[0].values[i]);
            run own = RUN(text, NULL, wavelength, ways[w], "solver.epsilon=1e-5");
            for (size_t c = 1; c < count; c++) {
                ck_assert_msg(a[c].values[i] == result(&own, a[c].name), "%s: %.17g in a sweep, %.17g alone", a[c].name,
                              a[c].values[i], result(&own, a[c].name));
                if (b[0].values[2 - i] == a[0].values[i])
                    ck_assert_double_eq(b[c].values[2 - i], a[c].values[i]);
            }
            end_run(&own);
        }
        end_run(&there);
        end_run(&back);
    }
}

/* Ridges of an absorber, in light whose E lies across them (E_x and E_z) and along them (E_y). Averaged permittivities
 * on faces between cells are second order, halving the spacing divides what changes by 4; across the ridges E has no
 * bound at their edges, which takes a part of an order away. The borders are where edges of the grid are: an error of
 * half a cell in one component would be first order, a ratio of 2. */
TEST(absorptance_of_a_grating_converges)
{
    double A[2][3];
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < 3; i++) {
            const int fine = 1 << i;
            char text[2048];
            snprintf(text, sizeof text,
                     "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [%d, 1, %d]\nspacing = %g\n"
                     "[light]\nwavelength = 700e-9\npolarisation = %g\n[pml]\ncells = %d\n[structure]\ntop = 0.76e-6\n"
                     "[[material]]\nname = \"absorber\"\nn = 1.7\nk = 0.3\n"
                     "[[layer]]\nmaterial = \"absorber\"\nthickness = 160e-9\n"
                     "[[box]]\nmaterial = \"vacuum\"\nfrom = [0, 0, 0.6e-6]\nto = [160e-9, 1e-6, 0.76e-6]\n"
                     "[solver]\nepsilon = 1e-7\naccelerate = \"anderson\"\n",
                     8 * fine, 32 * fine, 40e-9 / fine, p * 1.5707963267948966, 10 * fine);
            run r = RUN(text, NULL, NULL);
            A[p][i] = result(&r, "absorptance_absorber");
            end_run(&r);
        }
    for (int p = 0; p < 2; p++) {
        const double ratio = (A[p][0] - A[p][1]) / (A[p][1] - A[p][2]);
        ck_assert_msg(ratio > (p ? 3.6 : 3.0) && ratio < 5, "E %s the ridges: %.8f %.8f %.8f, ratio %.3f",
                      p ? "along" : "across", A[p][0], A[p][1], A[p][2], ratio);
    }
}

/* A simulation that the test steps by itself. */
static run begin(const char *text, const char *const *overrides, size_t count)
{
    run r;
    OK(bn_case_parse(ctx, "test.toml", text, overrides, count, &r.config));
    OK(bn_sim_create(ctx, r.config, &(bn_sim_desc){ .device = NULL }, &r.sim));
    return r;
}

static void steps(run *r, int count)
{
    for (int i = 0; i < count; i++)
        OK(bn_sim_step(r->sim));
}

/* The amplitude rises as a quintic that is flat at both ends, over light.ramp periods. In vacuum a plane has the
 * strength that the source had when the wave left it: a cell takes sqrt(3) / courant steps. E and H are half a step
 * apart, and the ramp changes by up to 15 / 8 of its argument. */
TEST(light_rises_over_its_periods)
{
    enum { NZ = 64, PML = 20, SOURCE = NZ - PML - 3, BELOW = 2, PERIODS = 50, CELLS = 20 };
    const double step = 0.9 / sqrt(3.0), whole = PERIODS * CELLS / step;
    static const char *const overrides[] = { "light.ramp=50", "solver.courant=0.9", "light.amplitude=3" };
    run r = begin("[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [1, 1, 64]\n"
                  "spacing = 30e-9\n[light]\nwavelength = 600e-9\n[pml]\ncells = 20\n",
                  overrides, sizeof overrides / sizeof *overrides);
    for (int quarter = 1; quarter <= 4; quarter++) {
        const double x = 0.25 * quarter;
        steps(&r, (int)(whole * x) - (int)bn_sim_now(r.sim).step);
        const double since = ((double)bn_sim_now(r.sim).step - BELOW / step) / whole;
        double norm[NZ];
        OK(bn_sim_read(r.sim, "E_norm", norm, sizeof norm));
        near(norm[SOURCE - BELOW] / 3, since * since * since * (10 + since * (6 * since - 15)), 0.94 / whole,
             "a quintic, to half a step");
    }
    end_run(&r);
}

/* The state of a run, in one array: E, H and the parts of both. */
enum { STATE_CELLS = 48, STATE = 10 * STATE_CELLS };
static void read_state(run *r, cplx to[STATE])
{
    static const char *const names[] = { "E", "Z0H", "part_E", "part_H" };
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        size_t count;
        double *values = field(r, names[f], &count);
        memcpy(to, values, count * sizeof *values);
        to += count / 2;
        free(values);
    }
}

static cplx product(const cplx *a, const cplx *b)
{
    cplx sum = 0;
    for (int i = 0; i < STATE; i++)
        sum += conj(a[i]) * b[i];
    return sum;
}

/* A cycle of three states ends with the mean of G(X_0), G(X_1), G(X_2) whose weights, of sum 1, leave the least of the
 * changes U_i = G(X_i) - X_i: here by the normal equations for the first two weights. The solver adds 1e-13 to their
 * diagonal. */
TEST(acceleration_takes_the_mean_with_the_least_change)
{
    enum { APART = 7, DEPTH = 3 };
    static const char *const plain[] = { "solver.accelerate=none" }, *const fast[] = { "solver.accelerate=anderson",
                                                                                       "solver.depth=3",
                                                                                       "solver.apart=7" };
    static const char text[] = "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [1, 1, 48]\n"
                               "spacing = 30e-9\n[light]\nwavelength = 600e-9\nincidence = 0.4\nramp = 0\n"
                               "[structure]\ntop = 0.7e-6\n[[material]]\nname = \"absorber\"\nn = 1.8\nk = 0.3\n"
                               "[[layer]]\nmaterial = \"absorber\"\nthickness = 0.2e-6\n";
    static cplx X[DEPTH + 1][STATE], U[DEPTH][STATE], D[DEPTH][STATE], mean[STATE], found[STATE];
    run r = begin(text, plain, sizeof plain / sizeof *plain);
    for (int i = 0; i <= DEPTH; i++) {
        steps(&r, i ? APART : 1); /* a cycle begins when the light is full */
        read_state(&r, X[i]);
        for (int k = 0; i && k < STATE; k++)
            U[i - 1][k] = X[i][k] - X[i - 1][k];
    }
    end_run(&r);
    for (int i = 0; i < STATE; i++) {
        D[0][i] = U[0][i] - U[2][i];
        D[1][i] = U[1][i] - U[2][i];
        D[2][i] = -U[2][i];
    }
    const cplx aa = product(D[0], D[0]), ab = product(D[0], D[1]), ba = product(D[1], D[0]), bb = product(D[1], D[1]),
               a = product(D[0], D[2]), b = product(D[1], D[2]), determinant = aa * bb - ab * ba;
    const cplx w0 = (a * bb - ab * b) / determinant, w1 = (aa * b - ba * a) / determinant;
    for (int i = 0; i < STATE; i++)
        mean[i] = w0 * X[1][i] + w1 * X[2][i] + (1 - w0 - w1) * X[3][i];
    r = begin(text, fast, sizeof fast / sizeof *fast);
    steps(&r, 1 + DEPTH * APART);
    read_state(&r, found);
    end_run(&r);
    double difference = 0, largest = 0;
    for (int i = 0; i < STATE; i++) {
        difference = fmax(difference, cabs(found[i] - mean[i]));
        largest = fmax(largest, cabs(found[i]));
    }
    ck_assert(cabs(w0) > 0.01 && cabs(w1) > 0.01);
    near(difference / largest, 0, 1e-13, "the least change");
}

int main(void) { return bn_test_main("maxwell-properties", open_context, close_context); }
