/* test_maxwell_magnetic.c: magnetic materials and magnetic currents of the solver `maxwell`: slabs against their closed
 * form, the dual of a problem (E <-> H, eps <-> mu), equal bits, cases that must be rejected. Their fields at every
 * edge and face: test_maxwell_equations.c. */
#include "support_case.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double complex cplx;

static const double pi = 3.14159265358979323846;

/* --- slabs in vacuum --- */

static const char slab_case[] = "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [1, 1, %d]\n"
                                "spacing = %.17g\n[pml]\ncells = 20\n[[material]]\nname = \"m\"\nn = %.17g\nk = %.17g\n"
                                "mu = %.17g\nmu_loss = %.17g\n[structure]\ntop = 1e-6\n"
                                "[[layer]]\nmaterial = \"m\"\nthickness = %.17g\n[solver]\nstart = \"layers\"\n"
                                "epsilon = 1e-9\nwatch_every = 20\n";

typedef struct slab {
    double n, k, mu, mu_loss, thickness, limit; /* of what two grids extrapolate to */
} slab;

static run solve_slab(const slab *s, double h)
{
    char text[1024];
    snprintf(text, sizeof text, slab_case, (int)(1.4e-6 / h) + 44, h, s->n, s->k, s->mu, s->mu_loss, s->thickness);
    return RUN(text, NULL, NULL);
}

/* Airy's sums with the impedance Z = sqrt(mu / eps) of the slab over that of vacuum. Faces between cells are second
 * order in the spacing: the error falls by 4 (3.88 to 4.07 measured, the one of R = 6e-4 worst) from 10 nm to 5 nm, and
 * of the extrapolated shares the fourth order is left. The layers reflect 3e-6 of the amplitude. */
TEST(slabs_reflect_as_their_impedance_says)
{
    static const slab slabs[] = { { 1.4142135623730951, 0, 3, 0, 300e-9, 3e-5 },
                                  { 1.7320508075688772, 0, 2, 0, 300e-9, 8e-6 }, /* its dual: the same shares */
                                  { 1.5, 0.1, 2, 0.3, 300e-9, 4e-6 },
                                  { 1, 0, -15.9975, 0.4, 30e-9, 1.5e-5 } }; /* a magnetic metal, as silver by eps */
    for (const slab *s = slabs; s < slabs + sizeof slabs / sizeof *slabs; s++) {
        const cplx index = CMPLX(s->n, -s->k), mu = CMPLX(s->mu, -s->mu_loss);
        cplx n = csqrt(index * index * mu);
        n = cimag(n) > 0 ? -n : n;
        const cplx r = (mu / n - 1) / (mu / n + 1), pass = cexp(-CMPLX(0, 2 * pi * s->thickness / 600e-9) * n);
        const cplx sum = 1 / (1 - r * r * pass * pass), R = r * (1 - pass * pass) * sum, T = (1 - r * r) * pass * sum;
        const double closed[2] = { creal(R * conj(R)), creal(T * conj(T)) };
        double error[2][2];
        for (int fine = 0; fine < 2; fine++) {
            run v = solve_slab(s, fine ? 5e-9 : 10e-9);
            error[fine][0] = result(&v, "reflectance") - closed[0];
            error[fine][1] = result(&v, "transmittance") - closed[1];
            near(result(&v, "energy_balance"), 0, 6e-6, "R + T + A = 1");
            near(result(&v, "absorptance_m_poynting"), result(&v, "absorptance_m"), 1e-7, "Poynting's theorem");
            end_run(&v);
        }
        for (int share = 0; share < 2; share++) {
            near(error[0][share] / error[1][share], 4, 0.25, "second order");
            near((4 * error[1][share] - error[0][share]) / 3, 0, s->limit, share ? "transmittance" : "reflectance");
        }
    }
}

/* --- duality: where (E, H) solves a problem, (H, -E) solves that with eps and mu exchanged and the currents (-M, J).
 * Yee's grid goes over into itself half a cell on along every axis. Sharp borders give edges of the one and faces of
 * the other the same material; what differs are the absorbing layers, half a cell off. --- */

enum { N = 6, NZ = 64, CELLS = N * N * NZ };

static const char block_case[] =
    "[case]\nsolver = \"maxwell\"\nprecision = \"double\"\n[grid]\ncells = [6, 6, 64]\nspacing = 30e-9\n"
    "[light]\nsource = \"%s\"\npolarisation = %.17g\nramp = %g\n[pml]\ncells = 20\nreflection = 1e-8\n"
    "[structure]\nborders = \"sharp\"\n[[material]]\nname = \"one\"\nn = %.17g\nk = %.17g\nmu = %.17g\nmu_loss = "
    "%.17g\n"
    "[[material]]\nname = \"two\"\nn = %.17g\nmu = %.17g\n"
    "[[box]]\nmaterial = \"one\"\nfrom = [%.17g, %.17g, %.17g]\nto = [%.17g, %.17g, %.17g]\n"
    "[[box]]\nmaterial = \"two\"\nfrom = [%.17g, %.17g, %.17g]\nto = [%.17g, %.17g, %.17g]\n"
    "[solver]\nepsilon = 1e-9\naccelerate = \"anderson\"\n";

/* A block of eps = 2.25 - 0.6 i, mu = 1.3 on one of eps = 1, mu = 1.8; its dual half a cell on. */
static run solve_block(bool dual, const char *source, double polarisation, double ramp, const cplx *current)
{
    const double h = 30e-9, on = dual ? 0.5 * h : 0;
    const cplx eps = CMPLX(2.25, -0.6), n = csqrt(eps);
    char text[2048];
    run r;
    snprintf(text, sizeof text, block_case, source, polarisation, ramp, dual ? sqrt(1.3) : creal(n),
             dual ? 0 : -cimag(n), dual ? 2.25 : 1.3, dual ? 0.6 : 0, dual ? sqrt(1.8) : 1, dual ? 1 : 1.8,
             1.3 * h + on, 1.2 * h + on, 30.2 * h + on, 4.3 * h + on, 3.7 * h + on, 35.3 * h + on, 2.2 * h + on,
             2.3 * h + on, 26.3 * h + on, 5.3 * h + on, 4.6 * h + on, 30.1 * h + on);
    OK(bn_case_parse(ctx, "block.toml", text, NULL, 0, &r.config));
    OK(bn_sim_create(ctx, r.config, &(bn_sim_desc){ .boxes = 1 }, &r.sim));
    if (current)
        OK(bn_sim_set(r.sim, dual ? "M" : "J", NULL, BN_NUMBERS_DOUBLE, current));
    OK(bn_sim_advance(r.sim, 0, NULL));
    ck_assert_msg(bn_sim_now(r.sim).converged, "not converged: %g", bn_sim_now(r.sim).residual);
    OK(bn_sim_measure(r.sim));
    return r;
}

static size_t cell(int i, int j, int k) { return (size_t)((k * N + (j + N) % N) * N + (i + N) % N); }

/* The field of the dual problem, E (of_H = 0) or H, against sign * factor * the other field of the first one. */
static void check_dual(const run *first, const run *dual, int of_H, cplx factor, double limit)
{
    cplx *a = (cplx *)field(first, of_H ? "E" : "Z0H", NULL), *b = (cplx *)field(dual, of_H ? "Z0H" : "E", NULL);
    double largest = 0, difference = 0;
    for (int c = 0; c < 3; c++)
        for (int k = 22; k < NZ - 22; k++)
            for (int j = 0; j < N; j++)
                for (int i = 0; i < N; i++) { /* E of the dual at H's place of the first one, and so on */
                    const size_t there = cell(i + ((c == 0) == of_H), j + ((c == 1) == of_H), k + ((c == 2) == of_H));
                    const cplx one = factor * a[(size_t)c * CELLS + cell(i, j, k)],
                               other = b[(size_t)c * CELLS + there];
                    largest = fmax(largest, cabs(one));
                    difference = fmax(difference, cabs(other - one));
                }
    ck_assert_double_gt(largest, 1e-3);
    near(difference / largest, 0, limit, of_H ? "H of the dual problem" : "E of the dual problem");
    free(a);
    free(b);
}

/* The wave that is E_x of the one is -H_y, hence E along -y, of the other, whose source plane lies half a cell off.
 * Waves leave along z alone, where 20 cells of layer reflect 2e-6 of them from either side, with another phase in the
 * dual. */
TEST(scattered_light_has_a_dual)
{
    const double w = 2 * pi * 30 / 600;
    const cplx turn = cexp(CMPLX(0, asin(0.5 * w))); /* half a cell downwards: exp(i k_z / 2), sin(k_z / 2) = w / 2 */
    run first = solve_block(false, "volume", 0.4, 3, NULL), dual = solve_block(true, "volume", 0.4 - 0.5 * pi, 3, NULL);
    check_dual(&first, &dual, 0, turn, 1.2e-5);
    check_dual(&first, &dual, 1, -turn, 1.2e-5);
    static const char *const names[] = { "sigma_sca", "sigma_abs", "sigma_ext" };
    for (int i = 0; i < 3; i++)
        near(result(&dual, names[i]) / result(&first, names[i]), 1, 4e-6, names[i]);
    end_run(&first);
    end_run(&dual);
}

/* M = -Z0 J radiates as much, and H of it is -E of J. */
TEST(magnetic_currents_radiate_as_electric_ones)
{
    const double Z0 = 376.730313668;
    cplx *J = calloc(6 * CELLS, sizeof *J), *M = J + 3 * CELLS;
    ck_assert_ptr_nonnull(J);
    static const int at[3] = { 2, 4, 33 };
    for (int c = 0; c < 3; c++) {
        const cplx density = CMPLX(1 + c, 0.5) * 1e4;
        J[(size_t)c * CELLS + cell(at[0], at[1], at[2])] = density;
        M[(size_t)c * CELLS + cell(at[0] + (c == 0), at[1] + (c == 1), at[2] + (c == 2))] = -Z0 * density;
    }
    run first = solve_block(false, "current", 0, 30, J), dual = solve_block(true, "magnetic-current", 0, 30, M);
    check_dual(&first, &dual, 0, 1, 1e-6);
    check_dual(&first, &dual, 1, -1, 1e-6);
    near(result(&dual, "radiated_power") / result(&first, "radiated_power"), 1, 4e-7, "power");
    end_run(&first);
    end_run(&dual);
    free(J);
}

/* --- equal bits --- */

static const char bits_case[] =
    "[case]\nsolver = \"maxwell\"\n[grid]\ncells = [9, 7, 26]\nspacing = 30e-9\n[light]\npolarisation = 0.4\n"
    "ramp = 0.1\n[pml]\ncells = 4\n[structure]\nabove = \"two\"\nbelow = \"two\"\n"
    "[[material]]\nname = \"one\"\nn = 1.5\nk = 0.1\nmu = 1.3\nmu_loss = 0.2\n[[material]]\nname = \"two\"\nn = 1\nmu "
    "= 1.8\n"
    "[[material]]\nname = \"three\"\nn = 1.5\nmu = -5\n"
    "[[box]]\nmaterial = \"one\"\nfrom = [60e-9, 60e-9, 300e-9]\nto = [180e-9, 150e-9, 390e-9]\n"
    "[[box]]\nmaterial = \"three\"\nfrom = [90e-9, 30e-9, 240e-9]\nto = [210e-9, 180e-9, 300e-9]\n"
    "[solver]\nwatch_every = 3\n[stop]\nsteps = 7\n";

static run step_bits(bn_device *device, int boxes, const char *const keys[3], const double *map, const cplx *M)
{
    run r;
    const unsigned n[3] = { 9, 7, 26 };
    OK(bn_case_parse(ctx, "bits.toml", bits_case, keys, 3, &r.config));
    OK(bn_case_give(r.config, "map", n, map));
    OK(bn_sim_create(ctx, r.config, &(bn_sim_desc){ .device = device, .boxes = boxes }, &r.sim));
    if (strcmp(keys[1], "light.source=magnetic-current") == 0)
        OK(bn_sim_set(r.sim, "M", NULL, BN_NUMBERS_DOUBLE, M));
    OK(bn_sim_advance(r.sim, 0, NULL));
    return r;
}

/* Each source by another sweep, in two boxes of one shape; self-test and conformance have the plane. */
TEST(magnetic_sweeps_have_the_references_bits)
{
    enum { BITS = 9 * 7 * 26 };
    static const char *const keys[][3] = {
        { "solver.sweep=rows", "light.source=volume", "structure.map=map" },
        { "solver.sweep=fused", "light.source=magnetic-current", "structure.map=''" },
    };
    static const char *const names[] = { "E", "Z0H", "E_norm" };
    double map[BITS];
    cplx *M = calloc(3 * BITS, sizeof *M);
    ck_assert_ptr_nonnull(M);
    bn_device *device = opened_device();
    for (int i = 0; i < BITS; i++)
        map[i] = i / 63 >= 11 && i / 63 < 14 ? 1.3 + 1e-3 * (i % 50) : (double)NAN;
    M[BITS + 12 * 63 + 2 * 9] = CMPLX(3e6, -1e6); /* beside periodic sides */
    M[13 * 63 + 6 * 9 + 8] = CMPLX(-2e6, 5e6);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        run reference = step_bits(NULL, 1, keys[i], map, M), other = step_bits(device, 2, keys[i], map, M);
        same_fields(&reference, &other, names, 3, keys[i][1]);
        end_run(&reference);
        end_run(&other);
    }
    free(M);
}

TEST(materials_that_cannot_be)
{
    static const char *const head = "[case]\nsolver = \"maxwell\"\n[[material]]\nname = \"m\"\nn = 1.2\n";
    static const char *const wrong[][2] = {
        { "mu = 0\n[structure]\nbelow = \"m\"", "leaves H without an equation" },
        { "mu = -2\n[structure]\nbelow = \"m\"", "positive permeability" },
        { "mu = -2\n[structure]\nabove = \"m\"", "positive permeability" },
        { "mu_loss = 0.1\n[structure]\nabove = \"m\"", "without loss" },
        { "mu = 20\n[structure]\nbelow = \"m\"", "cells a wavelength in m (n = 5.37" },
    };
    char text[512];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text, "%s%s\n", head, wrong[i][0]);
        rejected_case(text, BN_CASE, wrong[i][1]);
    }
}

/* Currents that the case gives as expressions of the place: the field that a caller would write, and its light. E_x is
 * known half a cell further along x, H_x half a cell further along y and z. */
TEST(currents_are_expressions_of_the_place)
{
    static const char text[] = "[case]\nsolver='maxwell'\nprecision='double'\n[grid]\ncells=[6,6,64]\n"
                               "spacing='30 nm'\n[light]\nwavelength='600 nm'\n[stop]\nsteps=40\n";
    const double h = 30e-9;
    cplx *wanted = calloc(3 * CELLS, sizeof *wanted), *given = calloc(3 * CELLS, sizeof *given);
    ck_assert(wanted && given);
    for (int magnetic = 0; magnetic < 2; magnetic++) {
        const char *const source = magnetic ? "light.source=magnetic-current" : "light.source=current";
        const size_t bytes = 3 * CELLS * sizeof *wanted;
        run by_case = RUN(text, NULL, source, "light.current_x='2*cos(2*pi*y/150e-9)*step(z - 700e-9)'",
                          "light.current_z='-(x/1e-7)^2'");
        for (size_t at = 0; at < CELLS; at++) {
            const size_t i = at % N, j = at / N % N, k = at / N / N;
            const double half = magnetic ? 0.5 : 0, y = ((double)j + half) * h, z = ((double)k + half) * h;
            wanted[at] = z < 700e-9 ? 0 : 2 * cos(2 * 3.14159265358979323846 * y / 150e-9);
            wanted[2 * CELLS + at] = -pow(((double)i + half) * h / 1e-7, 2);
        }
        OK(bn_sim_read(by_case.sim, magnetic ? "M" : "J", given, bytes));
        /* a handful of roundings of numbers up to 2.9 */
        for (size_t at = 0; at < 3 * CELLS; at++)
            ck_assert_msg(cabs(given[at] - wanted[at]) <= 8 * 0x1p-52, "current %zu: %g for %g", at, creal(given[at]),
                          creal(wanted[at]));
        run by_caller = { 0 };
        OK(bn_case_parse(ctx, "case.toml", text, &source, 1, &by_caller.config));
        OK(bn_sim_create(ctx, by_caller.config, &(bn_sim_desc){ .boxes = 1 }, &by_caller.sim));
        OK(bn_sim_set(by_caller.sim, magnetic ? "M" : "J", NULL, BN_NUMBERS_DOUBLE, given));
        OK(bn_sim_advance(by_caller.sim, 0, NULL));
        same_fields(&by_case, &by_caller, (const char *const[]){ "E", "Z0H" }, 2,
                    "currents by the case and by a caller");
        end_run(&by_case);
        end_run(&by_caller);
    }
    free(wanted);
    free(given);
    rejected_case("[case]\nsolver='maxwell'\n[light]\nsource='current'\ncurrent_y='2*sin(q)'\n", BN_CASE,
                  "cannot be read from \"q)\" on");
}

int main(void) { return bn_test_main("maxwell-magnetic", open_context, close_context); }
