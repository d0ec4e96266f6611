/* test_rain.c: rain, infiltration, land cover and run-off against closed forms. On the reference; the device has its
 * bits (test_conformance_flood.c). */
#include "support_case.h"

#include "api/field.h"
#include "sim/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "[case]\nsolver='flood'\nprecision='double'\n[initial]\nkind='dry'\n"
static const char *const kinds[] = { "grid.kind=square", "grid.kind=hexagon" };
static const char *const orders[] = { "solver.order=1", "solver.order=2" };
static const double mm_per_hour = 3.6e6, root_3 = 1.7320508075688772;

static void write_map(const char *name, const char *rows)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", test_folder, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("ncols 2\nnrows 1\nxllcorner 100\nyllcorner 0\ncellsize 10\nnodata_value -9\n", f);
    fputs(rows, f);
    ck_assert_int_eq(fclose(f), 0);
}

/* A basin without a way out: what falls stays, evenly. The rate rises to 36 mm/h in 20 s, stays and falls in 10 s to
 * nothing: 0.1 + 0.3 + 0.05 mm. */
TEST(a_basin_takes_the_rain_of_its_history)
{
    for (int k = 0; k < 2; k++)
        for (int o = 0; o < 2; o++) {
            run r = RUN(HEAD "[grid]\ncells=[6,6]\nspacing=1\n[time]\ninterval=7\n[stop]\ntime=70\n"
                             "[[history]]\nof='rain'\ntime=0\nvalue=0\n[[history]]\nof='rain'\ntime=20\nvalue=36\n"
                             "[[history]]\nof='rain'\ntime=50\nvalue=36\n[[history]]\nof='rain'\ntime=60\nvalue=0\n",
                        NULL, kinds[k], orders[o]);
            size_t n;
            double *h = field(&r, "depth", &n);
            for (size_t at = 0; at < n; at++)
                near(h[at], 4.5e-4, 1e-17, "depth of the rain that has fallen");
            const double area = 36 * (k ? root_3 / 2 : 1);
            near(result(&r, "volume_rained"), 4.5e-4 * area, 1e-16, "volume of the rain");
            ck_assert_double_le(fabs(result(&r, "mass_error")), 1e-14);
            free(h);
            end_run(&r);
        }
}

/* Ponded water: F - S ln(1 + F / S) = K t (Green and Ampt 1911). The midpoint is of second order
 * where F has grown; the first steps, where F grows like a root, leave an error that goes with dt^1.5. */
TEST(ponded_ground_takes_water_as_green_and_ampt_say)
{
    const double K = 2e-5, S = 0.11 * 0.3, t = 600;
    double error[2];
    for (int fine = 0; fine < 2; fine++) {
        run r = RUN(
            "[case]\nsolver='flood'\nprecision='double'\n[grid]\ncells=[4,4]\nspacing=1\n[initial]\nkind='level'\n"
            "level=0.5\n[soil]\nconductivity=2e-5\nsuction=0.11\ndeficit=0.3\n[time]\ninterval=30\n"
            "[stop]\ntime=600\n",
            NULL, fine ? "time.dt_max=0.02" : "time.dt_max=0.04");
        double *F = field(&r, "soaked", NULL);
        error[fine] = (F[5] - S * log1p(F[5] / S)) / (K * t) - 1;
        near(result(&r, "volume_soaked"), F[5] * 16 * root_3 / 2, 1e-14, "volume in the ground");
        ck_assert_double_le(fabs(result(&r, "mass_error")), 1e-14);
        free(F);
        end_run(&r);
    }
    near(error[1], 0, 6e-6, "infiltration of ponded water");
    near(error[0] / error[1], pow(2, 1.5), 0.03, "the error goes with the step to 1.5");
}

/* Steady rain i > K soaks in as a whole until F = S K / (i - K), and then as F - Fp - S ln((F + S) / (Fp + S)) = K (t -
 * Fp / i) (Mein and Larson 1973); the rest stands. Less rain than K soaks in for ever. */
TEST(rain_ponds_when_the_ground_is_full)
{
    static const char text[] = HEAD
        "[grid]\ncells=[4,4]\nspacing=1\n[rain]\nrate='72 mm/h'\n[soil]\n"
        "conductivity='18 mm/h'\nsuction=0.1\ndeficit=0.25\n[time]\ninterval=30\ndt_max=0.5\n"
        "[stop]\ntime=1800\n";
    const double i = 72 / mm_per_hour, K = 18 / mm_per_hour, S = 0.025, Fp = S * K / (i - K), t = 1800;
    run r = RUN(text, NULL, "solver.order=2");
    double *F = field(&r, "soaked", NULL), *h = field(&r, "depth", NULL);
    near(F[5] - Fp - S * log((F[5] + S) / (Fp + S)), K * (t - Fp / i), 3e-6 * K * t, "infiltration after ponding");
    near(h[5], i * t - F[5], 1e-12, "what has not soaked in stands");
    free(F), free(h);
    end_run(&r);
    r = RUN(text, NULL, "rain.rate='17.9 mm/h'", "soil.suction=0");
    F = field(&r, "soaked", NULL), h = field(&r, "depth", NULL);
    near(F[5], 17.9 / mm_per_hour * t, 1e-15, "all of a small rain soaks in");
    near(h[5], 0, 1e-18, "nothing stands");
    free(F), free(h);
    end_run(&r);
}

/* A plane under steady rain: as much runs off above a place as falls there, with Manning's speed: h = (n i x /
 * sqrt(S))^(3/5); the side lets pass what comes. Away from the upper end, where a film of the first cells is too thin
 * by a tenth, and from the lower one, where it is thinned over three cells since the last cell has no slope; the last
 * cell itself has the exact depth. The slope along x or y. */
static void run_off(int kind, bool along_y)
{
    char text[700];
    const double n = 0.1, S = 0.01, i = 40 / mm_per_hour;
    snprintf(
        text, sizeof text,
        HEAD
        "[grid]\ncells=%s\nspacing=2\nperiodic_%s=true\n[bed]\nkind='slope'\nslope=%s\n[fluid]\nmanning=0.1\n"
        "[rain]\nrate='40 mm/h'\n[boundary.%s]\nkind='normal'\nslope=0.01\n[time]\ninterval=60\n[stop]\ntime='1 h'\n",
        along_y ? "[4,30]" : "[30,4]", along_y ? "x" : "y", along_y ? "[0,-0.01]" : "[-0.01,0]",
        along_y ? "top" : "right");
    run r = RUN(text, NULL, kinds[kind]);
    double *h = field(&r, "depth", NULL), *z = field(&r, "bed", NULL);
    double top = z[0];
    for (size_t at = 0; at < 120; at++)
        top = fmax(top, z[at]);
    for (size_t at = 0; at < 120; at++) {
        const size_t place = along_y ? at / 4 : at % 30;
        const double x = -z[at] / S, from = place + 1 == 30 && kind == 0 ? 1 : 0; /* the last cell holds its own rain */
        const double exact = pow(n * i * (x + from) / sqrt(S), 0.6);
        if (place >= 8 && place < 20)
            near(h[at], exact, 0.012 * exact, "depth of the run-off");
        if (place == 29 && kind == 0)
            near(h[at], exact, 0.012 * exact, "depth at the side that it leaves by");
    }
    const double width = (along_y || kind == 0 ? 8 : 4 * root_3), length = along_y && kind ? 30 * root_3 : 60;
    near(result(&r, "volume_rained"), i * 3600 * width * length, 1e-9, "rain on the plane");
    ck_assert_double_le(fabs(result(&r, "mass_error")), 1e-13);
    free(h), free(z);
    end_run(&r);
}

TEST(rain_runs_off_a_plane)
{
    for (int k = 0; k < 2; k++) {
        run_off(k, false);
        run_off(k, true);
    }
}

/* Uniform flow keeps its velocity while water soaks in, and slows down as much as rain that brings no momentum makes it
 * deeper. */
TEST(soil_takes_momentum_rain_brings_none)
{
    static const char text[] =
        "[case]\nsolver='flood'\nprecision='double'\n[grid]\ncells=[4,4]\nspacing=1\nperiodic_x=true\n"
        "periodic_y=true\n[initial]\nkind='level'\nlevel=0.2\n[time]\ndt_max=0.01\ninterval=0.5\n"
        "[stop]\nsteps=1\n";
    for (int o = 0; o < 2; o++)
        for (int rain = 0; rain < 2; rain++) {
            bn_case *c;
            bn_sim *sim;
            double depth[16], speed[32];
            OK(bn_case_parse(ctx, "test.toml", text,
                             (const char *const[]){ orders[o], rain ? "rain.rate=1e-3" : "soil.conductivity=1e-3" }, 2,
                             &c));
            OK(bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &sim));
            for (size_t at = 0; at < 32; at++)
                speed[at] = at < 16 ? 0.3 : -0.2;
            OK(bn_field_set(bn_sim_field(sim, "velocity"), speed, 32));
            OK(bn_sim_step(sim));
            run r = { c, sim };
            double *h = field(&r, "depth", NULL), *u = field(&r, "velocity", NULL);
            memcpy(depth, h, sizeof depth);
            near(depth[3], rain ? 0.2005 : 0.1995, 1e-14, "depth under rain or over soil");
            near(u[3], rain ? 0.3 * 0.2 / 0.2005 : 0.3, 1e-13, "velocity along x");
            near(u[19], rain ? -0.2 * 0.2 / 0.2005 : -0.2, 1e-13, "velocity along y");
            free(h), free(u);
            end_run(&r);
        }
}

/* Down a gentle slope water leaves with Manning's speed, down a steep one as fast as its waves: of a square cell of
 * still water h m dt / d. */
TEST(water_leaves_at_normal_depth)
{
    static const char *const sides[] = { "left", "right", "bottom", "top" };
    static const size_t middle[] = { 3, 5, 1, 7 };
    for (int i = 0; i < 8; i++) {
        const int side = i / 2, steep = i % 2;
        char text[600];
        snprintf(text, sizeof text,
                 "[case]\nsolver='flood'\nprecision='double'\n[grid]\nkind='square'\ncells=[3,3]\nspacing=2\n[fluid]\n"
                 "manning=0.04\n[initial]\nkind='level'\nlevel=0.3\n[boundary.%s]\nkind='normal'\nslope=%s\n[time]\n"
                 "dt_max=0.01\ninterval=0.01\n[stop]\nsteps=1\n",
                 sides[side], steep ? "1" : "0.002");
        run r = RUN(text, NULL, "case.title=''");
        const double speed = steep ? sqrt(9.81 * 0.3) : sqrt(0.002) * cbrt(0.09) / 0.04;
        double *h = field(&r, "depth", NULL);
        near(h[middle[side]], 0.3 - 0.3 * speed * 0.01 / 2, 1e-15, "depth after water has left");
        near(result(&r, "volume_left"), 3 * 0.3 * speed * 0.01 * 2, 1e-14, "volume that has left");
        free(h);
        end_run(&r);
    }
}

/* 18,000 small portions in single precision, into the soil and onto the water. */
TEST(small_portions_add_up_in_single_precision)
{
    run r = RUN(
        "[case]\nsolver='flood'\nprecision='single'\n[grid]\ncells=[4,4]\nspacing=1\n[initial]\nkind='level'\nlevel=0."
        "5\n"
        "[soil]\nconductivity=3.3e-6\n[rain]\nrate=7.7e-6\n[time]\ndt_max=0.01\ninterval=20\n[stop]\ntime=180\n",
        NULL, "solver.order=2");
    near(result(&r, "volume_soaked") / (3.3e-6 * 180 * 8 * root_3), 1, 2e-7, "volume in the ground");
    near(result(&r, "mass_error"), 0, 2e-10, "mass error of small portions");
    end_run(&r);
}

/* Numbers 7 in the west, 8 in the east of the map, which begins at x = 100 m: friction and soil by place, the rest as
 * the case says; a share of the rain that is 1 and 3 at the middles of its pixels and linear between. */
TEST(maps_say_where)
{
    char text[900];
    write_map("cover.asc", "7 8\n");
    write_map("share.asc", "1 3\n");
    snprintf(
        text, sizeof text,
        "[case]\nsolver='flood'\nprecision='double'\n[grid]\nkind='square'\ncells=[20,2]\nspacing=1\norigin=[100,4]\n"
        "[bed]\ncover='%s/cover.asc'\n[[cover]]\ncode=8\nmanning=0.05\nconductivity=1e-4\nsuction=0.02\ndeficit=0.5\n"
        "[soil]\nconductivity=3e-5\n[rain]\nrate=1e-3\nshare='%s/share.asc'\n[initial]\nkind='level'\nlevel=1\n"
        "[time]\ndt_max=0.01\ninterval=0.01\n[stop]\nsteps=1\n",
        test_folder, test_folder);
    run r = RUN(text, NULL, "case.title=''");
    double *F = field(&r, "soaked", NULL), *h = field(&r, "depth", NULL);
    const double east = 0.5e-6 + sqrt(0.25e-12 + 2e-6 * 0.01);
    for (size_t at = 0; at < 40; at++) {
        const double x = (double)(at % 20) + 0.5, share = fmin(fmax(1 + 2 * (x - 5) / 10, 1), 3);
        const double soaks = x < 10 ? 3e-7 : east;
        near(F[at], soaks, 1e-16, "what the ground of a cover takes");
        near(h[at], 1 + 1e-5 * share - soaks, 1e-15, "rain by its share");
    }
    free(F), free(h);
    end_run(&r);
}

/* Uniform flow over two covers: |c'| + dt g n^2 h^(-4/3) |c'|^2 = |c|, with n of the cover. */
TEST(friction_is_that_of_the_cover)
{
    char text[600];
    bn_case *c;
    bn_sim *sim;
    write_map("cover.asc", "7 8\n");
    snprintf(
        text, sizeof text,
        "[case]\nsolver='flood'\nprecision='double'\n[grid]\ncells=[20,2]\nspacing=1\norigin=[100,4]\nperiodic_x=true\n"
        "periodic_y=true\n[bed]\ncover='%s/cover.asc'\n[[cover]]\ncode=8\nmanning=0.05\n[fluid]\nmanning=0.02\n"
        "[initial]\nkind='level'\nlevel=0.5\n[time]\ndt_max=0.02\ninterval=0.02\n[stop]\nsteps=1\n",
        test_folder);
    OK(bn_case_parse(ctx, "test.toml", text, NULL, 0, &c));
    OK(bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &sim));
    double speed[80];
    for (size_t at = 0; at < 80; at++)
        speed[at] = at < 40 ? 0.8 : 0.6;
    OK(bn_field_set(bn_sim_field(sim, "velocity"), speed, 80));
    OK(bn_sim_step(sim));
    run r = { c, sim };
    double *u = field(&r, "velocity", NULL);
    for (size_t at = 0; at < 40; at++) {
        const double n = at % 20 < 10 ? 0.02 : 0.05, f = 0.02 * 9.81 * n * n * pow(0.5, -4.0 / 3);
        near(u[at] / 0.8, (sqrt(1 + 4 * f) - 1) / (2 * f), 1e-12, "velocity after friction");
        near(u[at + 40] / 0.6, u[at] / 0.8, 1e-14, "its direction stays");
    }
    free(u);
    end_run(&r);
}

TEST(cases_that_make_no_sense_are_rejected)
{
    rejected_case(HEAD "[rain]\nshare='x.asc'\n", BN_CASE, "there is no rain to be shared");
    rejected_case(HEAD "[[cover]]\ncode=1\n", BN_CASE, "land cover needs a map of its numbers");
    rejected_case(HEAD "[[history]]\nof='rain'\nvalue=-1\n", BN_CASE, "rain does not fall upwards");
    rejected_case(HEAD "[boundary.left]\nkind='normal'\n", BN_CASE, "without friction there is no normal depth");
    rejected_case(HEAD "[rain]\nrate='1 mm/h'\n[[storey]]\n[[storey]]\nheight=3\n", BN_CASE, "for the open air");
}

int main(void) { return bn_test_main("rain", open_folder, close_folder); }
