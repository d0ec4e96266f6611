/* test_flood_properties.c: what holds whatever engine computes: images of a case under turning and mirroring, budgets
 * of mass and momentum, friction against a slope, links between storeys in closed form, hazard ratings. All on the
 * reference; the device has its bits (test_conformance_flood.c). */
#include "flood_folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "[case]\nsolver='flood'\nprecision='double'\n"

/* ------------------------------------------------------------------------------------- rotated and mirrored cases */

typedef enum image { TURNED_90, TURNED_180, MIRRORED_Y } image;

/* Where a cell and its velocity come to lie. */
static size_t image_of(image how, const unsigned n[3], size_t i, size_t j, double *u, double *v)
{
    const double x = *u, y = *v;
    switch (how) {
    case TURNED_90: *u = -y, *v = x; return i * n[1] + (n[1] - 1 - j);
    case TURNED_180: *u = -x, *v = -y; return (n[1] - 1 - j) * n[0] + (n[0] - 1 - i);
    default: *v = -y; return (n[1] - 1 - j) * n[0] + i;
    }
}

/* Both cases run a hundred steps or so, in which rounding (some 1e-16 a step) may grow a thousandfold, no more: a wrong
 * sign or an exchanged side shows at the first digit. */
static void is_image(image how, const char *text, const char *other, const char *order)
{
    run a = RUN(text, NULL, order), b = RUN(other, NULL, order);
    const unsigned *n = field_info(&a, "depth")->n;
    double *h = field(&a, "depth", NULL), *c = field(&a, "velocity", NULL);
    double *g = field(&b, "depth", NULL), *d = field(&b, "velocity", NULL), fastest = 0;
    const size_t points = (size_t)n[0] * n[1];
    for (size_t j = 0; j < n[1]; j++)
        for (size_t i = 0; i < n[0]; i++) {
            double u = c[j * n[0] + i], v = c[j * n[0] + i + points];
            const size_t at = image_of(how, n, i, j, &u, &v);
            fastest = fmax(fastest, hypot(u, v));
            near(g[at], h[j * n[0] + i], 1e-11, "depth of the image");
            near(d[at], u, 1e-10, "velocity of the image along x");
            near(d[at + points], v, 1e-10, "velocity of the image along y");
        }
    ck_assert_double_gt(fastest, 0.5); /* something moves */
    free(h), free(c), free(g), free(d);
    end_run(&a);
    end_run(&b);
}

static const char *const orders[] = { "solver.order=1", "solver.order=2" };
#define SLOW "[fluid]\nmanning=0.03\n[time]\ninterval=0.5\n[stop]\ntime=2\n"

START_TEST(squares_turned_by_a_right_angle)
{
    for (int k = 0; k < 2; k++)
        is_image(TURNED_90,
                 HEAD "[grid]\nkind='square'\ncells=[30,22]\nspacing=0.25\n[bed]\nkind='slope'\nslope=[0.02,0]\n"
                      "[initial]\nkind='dam'\nlevels=[0.9,0.4]\n[boundary.left]\nkind='inflow'\ndischarge=0.4\n"
                      "[boundary.right]\nkind='level'\nlevel=0.5\n"
                      "[[source]]\nat=[2.1,1.4]\nradius=0.6\nrate=0.5\n" SLOW,
                 HEAD "[grid]\nkind='square'\ncells=[22,30]\nspacing=0.25\n[bed]\nkind='slope'\nslope=[0,0.02]\n"
                      "[initial]\nkind='dam'\naxis='y'\nlevels=[0.9,0.4]\n[boundary.bottom]\nkind='inflow'\n"
                      "discharge=0.4\n[boundary.top]\nkind='level'\nlevel=0.5\n"
                      "[[source]]\nat=[4.1,2.1]\nradius=0.6\nrate=0.5\n" SLOW, /* 5.5 - 1.4 */
                 orders[k]);
}
END_TEST

START_TEST(hexagons_turned_by_half_a_turn)
{
    for (int k = 0; k < 2; k++)
        is_image(TURNED_180,
                 HEAD "[grid]\ncells=[26,24]\nspacing=0.25\n[initial]\nkind='dam'\nlevels=[0.9,0.4]\n"
                      "[boundary.left]\nkind='inflow'\ndischarge=0.4\n[boundary.top]\nkind='open'\n"
                      "[boundary.right]\nkind='level'\nlevel=0.3\n" SLOW,
                 HEAD "[grid]\ncells=[26,24]\nspacing=0.25\n[initial]\nkind='dam'\nlevels=[0.4,0.9]\n"
                      "[boundary.right]\nkind='inflow'\ndischarge=0.4\n[boundary.bottom]\nkind='open'\n"
                      "[boundary.left]\nkind='level'\nlevel=0.3\n" SLOW,
                 orders[k]);
}
END_TEST

START_TEST(hexagons_mirrored_across_the_rows)
{
    for (int k = 0; k < 2; k++)
        is_image(
            MIRRORED_Y,
            HEAD "[grid]\ncells=[26,23]\nspacing=0.25\n[bed]\nkind='slope'\nslope=[0.02,0]\n[initial]\nkind='circle'\n"
                 "radius=1.3\nlevels=[0.9,0.4]\n[boundary.bottom]\nkind='inflow'\ndischarge=0.4\n[boundary.top]\n"
                 "kind='level'\nlevel=0.5\n[boundary.left]\nkind='open'\n" SLOW,
            HEAD "[grid]\ncells=[26,23]\nspacing=0.25\n[bed]\nkind='slope'\nslope=[0.02,0]\n[initial]\nkind='circle'\n"
                 "radius=1.3\nlevels=[0.9,0.4]\n[boundary.top]\nkind='inflow'\ndischarge=0.4\n[boundary.bottom]\n"
                 "kind='level'\nlevel=0.5\n[boundary.left]\nkind='open'\n" SLOW,
            orders[k]);
}
END_TEST

/* ---------------------------------------------------------------------------------------------------- budgets */

/* As long as no wave has reached the walls, the momentum is what their pressures have given: t W g (h1^2 - h2^2) / 2.
 */
static void check_momentum(const char *text, bool along_x, const char *kind, const char *order)
{
    run r = RUN(text, NULL, kind, order);
    const unsigned *n = field_info(&r, "depth")->n;
    double *h = field(&r, "depth", NULL), *c = field(&r, "velocity", NULL), sum[2] = { 0, 0 };
    const size_t points = (size_t)n[0] * n[1];
    const double row = strstr(kind, "hexagon") ? sqrt(0.75) : 1; /* d = 1 m */
    for (size_t at = 0; at < 2 * points; at++)
        sum[at / points] += h[at % points] * c[at] * row;
    const double wall = along_x ? n[1] * row : n[0], expected = 2 * wall * 0.5 * 9.81 * (10 * 10 - 2 * 2);
    near(sum[!along_x] / expected, 1, 1e-9, "momentum against what the walls gave");
    near(sum[along_x] / expected, 0, 1e-12, "momentum along the dam");
    near(result(&r, "mass_error"), 0, 1e-14, "mass");
    free(h), free(c);
    end_run(&r);
}

START_TEST(momentum_is_what_the_walls_have_given)
{
    static const char *const kinds[] = { "grid.kind=hexagon", "grid.kind=square" };
    for (int k = 0; k < 4; k++) {
        check_momentum(HEAD "[grid]\ncells=[160,4]\nspacing=1\nperiodic_y=true\n[fluid]\ngravity=9.81\n[initial]\n"
                            "kind='dam'\nlevels=[10,2]\n[stop]\ntime=2\n",
                       true, kinds[k % 2], orders[k / 2]);
        check_momentum(HEAD "[grid]\ncells=[4,160]\nspacing=1\nperiodic_x=true\n[fluid]\ngravity=9.81\n[initial]\n"
                            "kind='dam'\naxis='y'\nlevels=[10,2]\n[stop]\ntime=2\n",
                       false, kinds[k % 2], orders[k / 2]);
    }
}
END_TEST

/* ---------------------------------------------------------------------------------------------------- friction */

/* Far down a steep channel friction and slope balance: h = (n q / sqrt(S))^(3/5). At second order that flow is a fixed
 * point of prediction and step, each with friction over its own time, so rounding and the approach are all that is left
 * over; the approach is e^(-x / 3 m) about. Friction over another time in one of them moves q / (h u) by dt g S / (2 u)
 * = 2e-3. */
START_TEST(friction_balances_the_slope)
{
    static const char *const kinds[] = { "grid.kind=hexagon", "grid.kind=square" };
    const double normal = pow(0.03 * 2 / sqrt(0.05), 0.6);
    for (int k = 0; k < 2; k++) {
        run r = RUN(HEAD "[grid]\ncells=[200,4]\nspacing=1\nperiodic_y=true\n[fluid]\nmanning=0.03\n[bed]\n"
                         "kind='slope'\nslope=[-0.05,0]\n[initial]\nkind='dry'\n[boundary.left]\nkind='inflow'\n"
                         "discharge=2\n[boundary.right]\nkind='open'\n[stop]\ntime=160\n",
                    NULL, kinds[k], "solver.order=2");
        double *h = field(&r, "depth", NULL), *c = field(&r, "velocity", NULL);
        near(h[150] / normal, 1, 1e-6, "normal depth");
        near(c[150] * h[150] / 2, 1, 1e-6, "discharge");
        free(h), free(c);
        end_run(&r);
    }
}
END_TEST

/* ------------------------------------------------------------------------------------------- from storey to storey */

/* A square room of 2 m x 2 m below another one of whose floor all is `meaning`. */
static void write_rooms(const char *meaning)
{
    for (int i = 1; i <= 2; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%d.csv", folder, i);
        FILE *f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        ck_assert_int_gt(
            fprintf(f, "meaning,wkt\n%s,\"POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))\"\n", i == 1 ? "floor" : meaning), 0);
        ck_assert_int_eq(fclose(f), 0);
    }
}

enum { LOW, HIGH };

/* Depths of both rooms, everywhere the same, at a time, with time steps of `dt`. storey, level: where water is at
 * first. */
static void level_out(const char *legend, int storey, double level, double time, double dt, double out[2])
{
    char text[2048];
    snprintf(text, sizeof text,
             HEAD
             "[grid]\nkind='square'\nspacing=0.25\n[fluid]\ngravity=9.81\n[[storey]]\nplan='%s/1.csv'\n[[storey]]\n"
             "plan='%s/2.csv'\nheight=3\n%s[initial]\nkind='level'\nstorey=%d\nlevel=%.17g\n[time]\ndt_max=%.17g\n"
             "interval=%.17g\n[stop]\ntime=%.17g\n",
             folder, folder, legend, storey, level, dt, time, time);
    run r = run_case(text, NULL, (const char *const[]){ NULL });
    const unsigned *n = field_info(&r, "depth")->n;
    double *h = field(&r, "depth", NULL);
    const size_t points = (size_t)n[0] * n[1];
    ck_assert_uint_eq(n[2], 2);
    ck_assert_uint_eq(n[0], 8);
    for (size_t at = 0; at < 2 * points; at++)
        near(h[at], h[at / points * points], 1e-9, "the same depth everywhere");
    out[LOW] = h[0];
    out[HIGH] = h[points];
    near(result(&r, "mass_error"), 0, 1e-14, "mass");
    free(h);
    end_run(&r);
}

static const double dt_fine = 0.002;

/* Steps of first order in time, so half of the step has half of the error, and that is below `limit`, t dt h'' / 2. */
static void converges(const char *legend, int storey, double level, double time, double exact, double limit)
{
    double coarse[2], fine[2];
    level_out(legend, storey, level, time, 2 * dt_fine, coarse);
    level_out(legend, storey, level, time, dt_fine, fine);
    const double before = coarse[HIGH] - exact, after = fine[HIGH] - exact;
    ck_assert_msg(fabs(after) <= limit, "%g instead of %g", fine[HIGH], exact);
    ck_assert_msg(before / after > 1.9 && before / after < 2.1, "errors %g and %g", before, after);
}

START_TEST(openings_empty_and_level_in_the_time_of_the_closed_form)
{
    static const char legend[] = "[[legend]]\nname='hole'\nkind='opening'\ncoefficient=0.3\n";
    write_rooms("hole");
    /* Torricelli: sqrt(h) falls by C sqrt(g / 2) a second. */
    const double g = 9.81, C = 0.3, t = 0.8, root = sqrt(0.8) - C * sqrt(g / 2) * t;
    converges(legend, 2, 3.8, t, root * root, t * dt_fine / 2 * C * C * g);
    /* Water that presses from below: the difference D of the levels loses twice what passes: sqrt(D) falls by C sqrt(2
     * g). */
    const double difference = sqrt(0.8) - C * sqrt(2 * g) * 0.5;
    converges(legend, 1, 3.8, 0.5, 0.5 * (0.8 - difference * difference), 0.5 * dt_fine / 2 * 2 * C * C * g);
}
END_TEST

/* What docs/flood.md says of stairs, as an equation in time: Runge and Kutta's method with steps that leave 1e-12. */
static double weir(double high, double low)
{
    const double g = 9.81, H = fmax(high, low), h2 = fmin(high, low), share = 0.8 / 4; /* width over area */
    const double q = h2 > 2 * H / 3 ? h2 * sqrt(2 * g * fmax(H - h2, 0)) : pow(2.0 / 3, 1.5) * sqrt(g) * pow(H, 1.5);
    return share * (high > low ? -q : q);
}

/* Depth of the upper room, `tail` being that of the lower one over the upper floor, negative below it. */
static double over_time(double high, double tail, double time)
{
    const int steps = 20000;
    const double dt = time / steps, sum = high + tail;
    for (int i = 0; i < steps; i++) {
        const double k1 = weir(high, fmax(sum - high, 0)), a = high + 0.5 * dt * k1;
        const double k2 = weir(a, fmax(sum - a, 0)), b = high + 0.5 * dt * k2;
        const double k3 = weir(b, fmax(sum - b, 0)), c = high + dt * k3;
        high += dt / 6 * (k1 + 2 * k2 + 2 * k3 + weir(c, fmax(sum - c, 0)));
    }
    return high;
}

START_TEST(stairs_into_an_empty_and_a_full_room)
{
    static const char legend[] = "[[legend]]\nname='steps'\nkind='stair'\nwidth=0.8\n";
    write_rooms("steps");
    /* Free: 1 / sqrt(h) grows by w C / (2 A) a second. */
    const double C = pow(2.0 / 3, 1.5) * sqrt(9.81), root = 1 / sqrt(0.8) + 0.8 * C / (2 * 4) * 2;
    const double limit = 2.2 * dt_fine / 2 * 1.5 * (0.2 * C) * (0.2 * C) * 0.8 * 0.8; /* h'' is largest at first */
    converges(legend, 2, 3.8, 2, 1 / (root * root), limit);
    near(over_time(0.8, -10, 2), 1 / (root * root), 1e-10, "the method, where there is a closed form");
    /* From a room that is full 0.8 m over the upper floor: free at first, drowned from 0.48 m to 0.32 m on. */
    const double exact = over_time(0, 0.8, 2.2);
    ck_assert_double_gt(exact, 2 * (0.8 - exact) / 3);
    converges(legend, 1, 3.8, 2.2, exact, limit);
}
END_TEST

/* ---------------------------------------------------------------------------------------------------- records */

START_TEST(still_water_has_half_its_depth_as_hazard_moving_water_more)
{
    static const char *const kinds[] = { "grid.kind=hexagon", "grid.kind=square" };
    for (int k = 0; k < 2; k++) {
        run r = RUN(HEAD "[grid]\ncells=[20,12]\nspacing=0.5\n[bed]\nkind='random'\namplitude=0.5\n[initial]\n"
                         "kind='level'\nlevel=0.75\n[output]\nrecords=true\n[stop]\ntime=2\n",
                    NULL, kinds[k]);
        double *h = field(&r, "depth", NULL), *most = field(&r, "depth_max", NULL);
        double *hazard = field(&r, "hazard_max", NULL), *arrival = field(&r, "arrival", NULL);
        for (int at = 0; at < 240; at++) {
            ck_assert_double_eq(most[at], h[at]);
            near(hazard[at], 0.5 * h[at], 1e-14, "h (0 + 0.5 m/s)");
            ck_assert_double_eq(arrival[at], 0);
        }
        free(h), free(most), free(hazard), free(arrival);
        end_run(&r);
    }
    /* Two time steps, an interval each: records are of the states before them. */
    bn_case *c;
    run r;
    const char *text = HEAD "[grid]\ncells=[30,12]\nspacing=0.5\n[initial]\nkind='dam'\nlevels=[1,0.2]\n[output]\n"
                            "records=true\n[time]\ninterval=0.05\ndt_max=0.05\n[stop]\nsteps=2\n";
    OK(bn_case_parse(ctx, "test.toml", text, NULL, 0, &c));
    r.config = c;
    OK(bn_sim_create(ctx, c, &(bn_sim_desc){ 0 }, &r.sim));
    double *h0 = field(&r, "depth", NULL);
    OK(bn_sim_step(r.sim));
    double *h1 = field(&r, "depth", NULL), *c1 = field(&r, "velocity", NULL), rises = 0;
    OK(bn_sim_step(r.sim));
    double *most = field(&r, "depth_max", NULL), *hazard = field(&r, "hazard_max", NULL);
    for (int at = 0; at < 360; at++) {
        const double hazard_after = h1[at] * (hypot(c1[at], c1[at + 360]) + 0.5);
        near(hazard[at], fmax(0.5 * h0[at], hazard_after), 1e-14, "the larger one of two ratings");
        ck_assert_double_eq(most[at], fmax(h0[at], h1[at]));
        rises = fmax(rises, hazard_after - 0.5 * h0[at]);
    }
    ck_assert_double_gt(rises, 0.1);
    free(h0), free(h1), free(c1), free(most), free(hazard);
    end_run(&r);
}
END_TEST

START_TEST(what_is_written_does_not_change_what_is_computed)
{
    static const char text[] = HEAD "[grid]\ncells=[30,20]\nspacing=0.25\n[initial]\nkind='circle'\nlevels=[1,0]\n"
                                    "radius=1\n[boundary.left]\nkind='open'\n[[source]]\nat=[2,2]\nrate=0.1\n"
                                    "[time]\ninterval=0.25\n[stop]\ntime=2\n";
    run a = RUN(text, NULL, "output.records=false"), b = RUN(text, NULL, "output.records=true", "output.every=1",
                                                             "output.wet=0.1", "output.epsg=32632", "exact.within=1");
    double *x = field(&a, "depth", NULL), *y = field(&b, "depth", NULL);
    ck_assert_int_eq(memcmp(x, y, 600 * sizeof *x), 0);
    free(x), free(y);
    end_run(&a);
    end_run(&b);
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_checked_fixture(tests, open_folder, remove_folder);
    tcase_add_test(tests, squares_turned_by_a_right_angle);
    tcase_add_test(tests, hexagons_turned_by_half_a_turn);
    tcase_add_test(tests, hexagons_mirrored_across_the_rows);
    tcase_add_test(tests, momentum_is_what_the_walls_have_given);
    tcase_add_test(tests, friction_balances_the_slope);
    tcase_add_test(tests, openings_empty_and_level_in_the_time_of_the_closed_form);
    tcase_add_test(tests, stairs_into_an_empty_and_a_full_room);
    tcase_add_test(tests, still_water_has_half_its_depth_as_hazard_moving_water_more);
    tcase_add_test(tests, what_is_written_does_not_change_what_is_computed);
}

int main(void) { return bn_test_main("flood properties", add); }
