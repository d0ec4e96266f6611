/* test_xray_volume.c: the tally in the cells of the density: Beer's law in each cell, on the grid of the case from
 * every side; exact transport in a half space; sums that hold to the last unit; independence of how the work is cut. */
#include "xray_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Every cell absorbs what collides: no photon is scattered. Uneven cells, and a pencil that is not in the middle. */
static const char black[] =
    "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\nkind = \"slab\"\ncells = [7, 6, 5]\n"
    "cell = [2e-3, 3e-3, 4e-3]\nvalue = 0.2\nabsorption = 1\n[source]\nwavelength = 1e-6\nprofile = \"pencil\"\n"
    "photons = 40000\ncentre = [3.1e-3, -2.1e-3]\n[scattering]\ntheta_max = 3\n"
    "[detector]\ncells = [16, 16]\ncell_angle = 1e-3\nspacing = \"lengths\"\ndistance = 1000\nvolume = true\n";

static int64_t *counted(const run *r, size_t *cells)
{
    const bn_sim_field_info *info = field_info(r, "counted");
    *cells = (size_t)info->n[0] * info->n[1] * info->n[2];
    int64_t *values = malloc(*cells * sizeof *values);
    OK(bn_sim_read(r->sim, "counted", values, *cells * sizeof *values));
    return values;
}

TEST(absorption_without_scattering_is_beers_law_in_each_cell)
{
    static const char *const faces[] = { "source.face=x_min", "source.face=x_max", "source.face=y_min",
                                         "source.face=y_max", "source.face=z_min", "source.face=z_max" };
    static const int n[3] = { 7, 6, 5 };
    static const double h[3] = { 2e-3, 3e-3, 4e-3 }, centre[2] = { 3.1e-3, -2.1e-3 }, p = 0.2, photons = 40000;
    for (int face = 0; face < 6; face++) {
        run r = RUN(black, NULL, faces[face], face % 2 ? "flight.method=exact" : "flight.block=2");
        double *absorbed = field(&r, "absorbed", NULL), *fluence = field(&r, "fluence", NULL);
        const bn_sim_field_info *info = field_info(&r, "fluence");
        const int along = face / 2, y = (along + 1) % 3, z = (along + 2) % 3;
        for (int d = 0; d < 3; d++) {
            ck_assert_int_eq((int)info->n[d], n[d]);
            near(info->h[d], h[d], 1e-15, "cells of the case");
            near(info->origin[d], 0.5 * h[d], 1e-15, "the middle of the first one");
        }
        int at[3];
        for (at[2] = 0; at[2] < n[2]; at[2]++)
            for (at[1] = 0; at[1] < n[1]; at[1]++)
                for (at[0] = 0; at[0] < n[0]; at[0]++) {
                    const int depth = face % 2 ? n[along] - 1 - at[along] : at[along],
                              cell = (at[2] * 6 + at[1]) * 7 + at[0];
                    const bool lit = at[y] == (int)floor(0.5 * n[y] + centre[0] / h[y]) &&
                                     at[z] == (int)floor(0.5 * n[z] + centre[1] / h[z]);
                    const double share = lit ? pow(1 - p, depth) * p : 0, sigma = sqrt(share * (1 - share) / photons);
                    near(absorbed[cell], share, 5 * sigma + 1e-12, "Beer's law, 5 sigma");
                    /* mu_a V, mu_a = -ln(1 - p) over the side along the light */
                    const double volume = -log1p(-p) / h[along] * h[0] * h[1] * h[2];
                    near(fluence[cell] * volume, absorbed[cell], 1e-9, "fluence: absorbed over mu_a V");
                }
        free(absorbed);
        free(fluence);
        end_run(&r);
    }
}

/* Light that enters a half space of isotropic scattering, albedo w, along its normal: Chandrasekhar (Radiative
 * Transfer, 1950): 1 - H(1) sqrt(1 - w) is reflected; deep inside fluence falls by exp(-k t), w = 2 k / ln((1 + k) / (1
 * - k)). H by iteration of its equation, 1 / H(m) = sqrt(1 - w) + w / 2 integral of s H(s) / (m + s) ds. */
static double h_of_one(double w)
{
    enum { NODES = 400, ROUNDS = 200 };
    double h[NODES + 1];
    for (int i = 0; i <= NODES; i++)
        h[i] = 1;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i <= NODES; i++) { /* the middles of intervals, and 1 */
            const double m = i < NODES ? (i + 0.5) / NODES : 1;
            double sum = 0;
            for (int j = 0; j < NODES; j++)
                sum += (j + 0.5) / NODES * h[j] / (m + (j + 0.5) / NODES) / NODES;
            h[i] = 1 / (sqrt(1 - w) + 0.5 * w * sum);
        }
    return h[NODES];
}

TEST(fluence_in_a_half_space_is_that_of_exact_transport)
{
    /* Forty layers of half a mean free path. Across them light goes nowhere near the sides. */
    static const char text[] =
        "[case]\nsolver = \"xray\"\nprecision = \"double\"\n[density]\nkind = \"slab\"\ncells = [40, 1, 1]\n"
        "cell = [1e-3, 1, 1]\nvalue = 0.3934693402873666\nabsorption = 0.1\n[source]\nwavelength = 1e-6\n"
        "profile = \"pencil\"\nphotons = 100000\n[scattering]\norder = \"multiple\"\ntheta_max = 3.14159265358979\n"
        "[detector]\ncells = [16, 16]\ncell_angle = 1e-3\nspacing = \"lengths\"\ndistance = 1000\nvolume = true\n"
        "[flight]\nblock = 3\n";
    const double w = 0.9, photons = 1e5;
    run r = RUN(text, NULL, "case.seed=3");
    double *fluence = field(&r, "fluence", NULL), low = 0, high = 1, near_sum = 0, deep_sum = 0;
    near(result(&r, "absorbed"), h_of_one(w) * sqrt(1 - w), 5 * 0.35 / sqrt(photons), "absorbed, 5 sigma");
    /* mu_a = 0.1 * 500 per m in cells of 1e-3 m3 */
    near(total(fluence, 40) * 50 * 1e-3, result(&r, "absorbed"), 1e-9, "fluence: absorbed over mu_a V");
    for (int i = 0; i < 60; i++) { /* 2 k / ln falls with k */
        const double k = 0.5 * (low + high), albedo = 2 * k / log((1 + k) / (1 - k));
        low = albedo > w ? k : low;
        high = albedo > w ? high : k;
    }
    /* Two bands of two mean free paths, four apart; the first begins four deep, where the rest that is no exponential,
     * below exp(-t), has gone. The deeper one has ten thousand collisions, some seven to a photon, whose weights
     * differ: k to 0.01; 3 sigma. */
    for (int i = 0; i < 4; i++) {
        near_sum += fluence[8 + i];
        deep_sum += fluence[16 + i];
    }
    near(log(near_sum / deep_sum) / 4, low, 0.03, "the length of decay, 3 sigma");
    free(fluence);
    end_run(&r);
}

/* A ball that scatters and absorbs, void around it. */
static const char ball[] =
    "[case]\nsolver = \"xray\"\n[density]\nkind = \"sphere\"\ncells = [12, 14, 10]\ncell = [1e-3, 1e-3, 2e-3]\n"
    "value = 0.3\nradius = 5e-3\ndepth = 1e-2\nabsorption = 0.03\n[source]\nwavelength = 1e-6\nphotons = 20000\nbatch "
    "= 7\n"
    "profile = \"gaussian\"\nsize = [6e-3, 6e-3]\n[scattering]\nangle = \"henyey-greenstein\"\ng = 0.5\norder = "
    "\"multiple\"\n"
    "theta_max = 3\n[detector]\ncells = [16, 16]\ncell_angle = 1e-3\nspacing = \"lengths\"\ndistance = 1000\nvolume = "
    "true\n";

TEST(what_is_absorbed_and_what_escapes_is_what_entered_to_the_last_unit)
{
    static const char *const absorptions[] = { "density.absorption=0.03", "density.absorption=1",
                                               "density.absorption=1e-7", "density.absorption=0" };
    for (size_t i = 0; i < COUNT(absorptions); i++) {
        run r = RUN(ball, NULL, absorptions[i], i == 1 ? "source.face=x_max" : "source.face=x_min");
        size_t cells;
        int64_t *values = counted(&r, &cells), sum = 0, seen = 0;
        double *fluence = field(&r, "fluence", NULL);
        for (size_t c = 0; c < cells; c++) {
            sum += values[c];
            seen += values[c] > 0;
            ck_assert_msg((values[c] > 0) == (fluence[c] > 0), "cell %zu: fluence without collisions", c);
        }
        ck_assert(seen > 100 && seen < 600); /* a ball of 262 cells' volume in 1680 */
        if (i < 3) {
            near(result(&r, "balance"), 0, 0, "absorbed and escaped");
            near((double)sum, result(&r, "absorbed") * 20000 * 0x1p30, 0.5, "the cells' sum");
        } else {
            near((double)sum, result(&r, "scatterings_mean") * 20000, 0.01, "a collision is a scattering");
        }
        if (i == 2) { /* a share that is far from a multiple of the unit, 107.4: right on average */
            const double all = result(&r, "scatterings_mean") * 20000;
            near((double)sum / all, 1e-7 * 0x1p30, 5 * 0.5 / sqrt(all), "rounded at random, 5 sigma");
        }
        free(values);
        free(fluence);
        end_run(&r);
    }
}

TEST(the_tally_does_not_depend_on_how_the_work_is_cut)
{
    static const char *const same[] = { "solver.layers=3", "source.batch=31", "output.every=2",
                                        "solver.density=slabs" };
    bn_device *device = opened_device();
    run a = RUN(ball, NULL, "case.seed=7");
    for (size_t i = 0; i < COUNT(same); i++) {
        run b = run_boxes(ball, device, i == 2 ? 3 : 1, (const char *const[]){ "case.seed=7", same[i], NULL });
        same_bits(&a, &b, "counted");
        same_bits(&a, &b, "fluence");
        same_bits(&a, &b, "absorbed");
        end_run(&b);
    }
    end_run(&a);
}

int main(void) { return bn_test_main("xray_volume", open_context, close_context); }
