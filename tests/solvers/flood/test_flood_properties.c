/* test_flood_properties.c: what holds whatever engine computes: images of a case under turning and mirroring, budgets
 * of mass and momentum, friction against a slope, links between storeys in closed form, hazard ratings. All on the
 * reference; the device has its bits (test_conformance_flood.c). */
#include "support_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

TEST(squares_turned_by_a_right_angle)
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

TEST(hexagons_turned_by_half_a_turn)
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

TEST(hexagons_mirrored_across_the_rows)
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

TEST(momentum_is_what_the_walls_have_given)
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

/* ---------------------------------------------------------------------------------------------------- friction */

/* Far down a steep channel friction and slope balance: h = (n q / sqrt(S))^(3/5). At second order that flow is a fixed
 * point of prediction and step, each with friction over its own time, so rounding and the approach are all that is left
 * over; the approach is e^(-x / 3 m) about. Friction over another time in one of them moves q / (h u) by dt g S / (2 u)
 * = 2e-3. */
TEST(friction_balances_the_slope)
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

/* ------------------------------------------------------------------------------------------- from storey to storey */

/* A square room of 2 m x 2 m below another one of whose floor all is `meaning`. */
static void write_rooms(const char *meaning)
{
    for (int i = 1; i <= 2; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%d.csv", test_folder, i);
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
             test_folder, test_folder, legend, storey, level, dt, time, time);
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

TEST(openings_empty_and_level_in_the_time_of_the_closed_form)
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

TEST(stairs_into_an_empty_and_a_full_room)
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

/* ---------------------------------------------------------------------------------------------------- records */

TEST(still_water_has_half_its_depth_as_hazard_moving_water_more)
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

/* Rain on a closed floor makes it 1 mm deeper in each time step of 0.125 s. */
TEST(water_arrives_when_it_is_deep_enough)
{
    static const char text[] = HEAD
        "[grid]\nkind='square'\ncells=[6,6]\nspacing=0.5\n[initial]\nkind='dry'\n[[source]]\nat=[1.5,1.5]\nradius=9\n"
        "rate=0.072\n[time]\ndt_max=0.125\ninterval=0.5\n[stop]\ntime=2\n[output]\nrecords=true\n"; /* 9 m2 */
    static const char *const wets[] = { "output.wet=0.0045", "output.wet=0.0125", "output.wet=0.03" };
    static const double arrivals[] = { 0.625, 1.625, -1 }, areas[] = { 9, 9, 0 };
    for (int k = 0; k < 3; k++) {
        run r = RUN(text, NULL, wets[k]);
        double *arrival = field(&r, "arrival", NULL), *deepest = field(&r, "depth_max", NULL);
        near(result(&r, "time_steps"), 16, 0, "2 s in steps of 0.125 s");
        for (int at = 0; at < 36; at++) {
            near(arrival[at], arrivals[k], 1e-12, "begin of the first time step with so much water");
            near(deepest[at], 0.015, 1e-15, "before the last time step");
        }
        near(result(&r, "wet_area"), areas[k], 1e-12, "all or nothing");
        near(result(&r, "max_depth"), 0.016, 1e-15, "16 time steps");
        free(arrival), free(deepest);
        end_run(&r);
    }
}

TEST(films_thinner_than_solver_dry_do_not_move)
{
    static const char text[] = HEAD
        "[grid]\ncells=[6,6]\nspacing=0.5\n[bed]\nkind='slope'\nslope=[0.3,-0.2]\n[initial]\n"
        "kind='depth'\nlevel=0.01\n[time]\ninterval=0.1\n[stop]\nsteps=2\n";
    static const char *const dry[] = { "solver.dry=0.011", "solver.dry=0.009" };
    for (int k = 0; k < 4; k++) {
        run r = RUN(text, NULL, dry[k % 2], orders[k / 2]);
        double *h = field(&r, "depth", NULL), *c = field(&r, "velocity", NULL), most = 0, moved = 0;
        for (int at = 0; at < 36; at++) {
            moved = fmax(moved, fabs(h[at] - 0.01));
            most = fmax(most, hypot(c[at], c[at + 36]));
        }
        ck_assert_msg(k % 2 ? moved > 1e-3 && most > 0.01 : moved < 1e-15 && most == 0, "%s: %g m, %g m/s", dry[k % 2],
                      moved, most);
        free(h), free(c);
        end_run(&r);
    }
}

/* ---------------------------------------------------------------------------------------- sums and time steps */

/* Waves of 1 m/s over cells of 1 m. */
TEST(time_steps_are_as_long_as_the_keys_allow)
{
    static const char text[] = HEAD
        "[grid]\ncells=[4,4]\nspacing=1\n[fluid]\ngravity=1\n[initial]\nkind='level'\nlevel=1\n"
        "[time]\ninterval=1\ndt_max=10\n[stop]\ntime=1\n";
    static const struct {
        const char *key;
        double steps;
    } of[] = { { "solver.order=1", 3 }, /* 1 / 0.36 */
               { "solver.order=2", 4 }, /* 1 / 0.25 */
               { "solver.cfl=0.05", 20 }, { "time.dt_max=0.01", 100 },
               { "grid.spacing=0.5", 6 }, { "fluid.gravity=9", 9 }, /* 3 / 0.36 */
               { "initial.level=4", 6 } };
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        run r = RUN(text, NULL, of[k].key);
        near(result(&r, "time_steps"), of[k].steps, 0, of[k].key);
        end_run(&r);
    }
}

/* With time steps that are too long depths would become negative and be cut off, which makes water. Falls over steps of
 * the ground, fast flow down a slope, and one wet cell, which at 0.375 loses all it has in a time step; at first order.
 */
TEST(no_water_is_made_at_the_longest_time_steps)
{
    static const char rough[] = HEAD
        "[grid]\ncells=[30,26]\nspacing=0.5\n[bed]\nkind='random'\namplitude=2\n[initial]\n"
        "kind='dam'\nlevels=[2.5,-9]\n[time]\ninterval=0.25\n[stop]\ntime=1\n";
    static const char steep[] = HEAD
        "[grid]\ncells=[60,10]\nspacing=0.5\n[bed]\nkind='slope'\nslope=[-0.8,0.3]\n[initial]\n"
        "kind='dam'\nlevels=[-2,-90]\n[boundary.right]\nkind='open'\n[time]\ninterval=0.25\n"
        "[stop]\ntime=1\n";
    static const char *const kinds[] = { "grid.kind=hexagon", "grid.kind=square" };
    static const char column[] = HEAD "[grid]\ncells=[9,9]\nspacing=1\n[initial]\nradius=0.3\nlevels=[1,0]\n[time]\n"
                                      "interval=2\ndt_max=9\n[stop]\ntime=2\n";
    static const char *const cases[] = { rough, steep, column };
    static const char *const cfls[] = { "solver.cfl=0", "solver.cfl=0.375" };
    for (int k = 0; k < 12; k++) {
        run r = RUN(cases[k / 4], NULL, kinds[k % 2], cfls[k / 2 % 2]);
        near(result(&r, "mass_error"), 0, 2e-15, "water at the end less what was there and left");
        ck_assert_double_ge(result(&r, "min_depth"), 0);
        end_run(&r);
    }
}

/* In single precision 1e-8 m of rain in each of 2,000 time steps on water 1 m deep, whose last place is 6e-8 m. */
TEST(rain_is_not_lost_in_rounding)
{
    run r = RUN(
        "[case]\nsolver='flood'\n[grid]\nkind='square'\ncells=[4,4]\nspacing=1\n[initial]\nkind='level'\nlevel=1\n"
        "[[source]]\nat=[2,2]\nradius=9\nrate=1.6e-5\n[time]\ndt_max=0.01\ninterval=1\n[stop]\ntime=20\n",
        NULL, "solver.order=1");
    near((result(&r, "volume") - 16) / (16 * 2e-5), 1, 1e-4, "rate times time; the rate is rounded");
    near(result(&r, "mass_error"), 0, 1e-9, "mass");
    end_run(&r);
}

/* ------------------------------------------------------------------------------- what changes with time, and where */

/* An inflow from 0 at 1 s to 0.6 m2/s at 3 s brings 1.2 m2 in 4 s, whatever the intervals are. */
TEST(inflows_follow_their_histories)
{
    static const char *const sides[] = { "left", "right", "bottom", "top" };
    static const char *const kinds[] = { "grid.kind=hexagon", "grid.kind=square" };
    for (int k = 0; k < 8; k++) {
        const char *const side = sides[k / 2];
        char text[1024];
        snprintf(text, sizeof text,
                 HEAD "[grid]\ncells=[9,12]\nspacing=0.5\n[initial]\nkind='dry'\n[boundary.%s]\nkind='inflow'\n"
                      "discharge=5\n[[history]]\nof='%s'\ntime=1\nvalue=0\n[[history]]\nof='%s'\ntime=3\nvalue=0.6\n"
                      "[time]\ninterval=0.8\n[stop]\ntime=4\n",
                 side, side, side);
        run r = RUN(text, NULL, kinds[k % 2]);
        const double width = k / 2 >= 2 ? 4.5 : 6 * (k % 2 ? 1 : sqrt(0.75));
        near(result(&r, "volume_left") / (-1.2 * width), 1, 1e-14, side);
        near(result(&r, "volume") / (1.2 * width), 1, 1e-14, side);
        end_run(&r);
    }
}

/* A level that rises at a side from 0.5 m to 0.7 m within 2 s fills the basin: after 60 s what is left of the waves,
 * which lose a part of them at the side every 4 s, is rounding. */
TEST(a_basin_fills_to_the_level_of_its_side)
{
    static const char *const sides[] = { "left", "right", "bottom", "top" };
    static const char *const kinds[] = { "grid.kind=hexagon", "grid.kind=square" };
    for (int k = 0; k < 8; k++) {
        const char *const side = sides[k / 2];
        char text[1024];
        snprintf(text, sizeof text,
                 HEAD "[grid]\ncells=[4,4]\nspacing=0.1\n[bed]\nkind='slope'\nslope=[1,0.5]\n[initial]\nkind='level'\n"
                      "level=0.5\n[boundary.%s]\nkind='level'\nlevel=5\n[[history]]\nof='%s'\ntime=0\nvalue=0.5\n"
                      "[[history]]\nof='%s'\ntime=2\nvalue=0.7\n[time]\ninterval=0.5\n[stop]\ntime=60\n",
                 side, side, side);
        run r = RUN(text, NULL, kinds[k % 2]);
        double *h = field(&r, "depth", NULL), *z = field(&r, "bed", NULL);
        for (int at = 0; at < 16; at++)
            near(h[at], fmax(0, 0.7 - z[at]), 5e-5, side);
        near(result(&r, "mass_error"), 0, 1e-14, "mass");
        free(h), free(z);
        end_run(&r);
    }
}

/* Between sides whose level is the lake's, over islands, nothing moves. */
TEST(a_lake_between_sides_of_its_level_stays_at_rest)
{
    static const char *const kinds[] = { "grid.kind=hexagon", "grid.kind=square" };
    for (int k = 0; k < 4; k++) {
        run r = RUN(HEAD
                    "[grid]\ncells=[14,15]\nspacing=0.3\n[bed]\nkind='random'\namplitude=0.5\n[initial]\nkind='level'\n"
                    "level=0.4\n[boundary.left]\nkind='level'\nlevel=0.4\n[boundary.right]\nkind='level'\nlevel=0.4\n"
                    "[boundary.bottom]\nkind='level'\nlevel=0.4\n[boundary.top]\nkind='level'\nlevel=0.4\n[stop]\n"
                    "time=1\n",
                    NULL, kinds[k % 2], orders[k / 2]);
        ck_assert_double_le(result(&r, "max_speed"), 1e-14);
        near(result(&r, "volume_left"), 0, 1e-14, "nothing passes");
        end_run(&r);
    }
}

/* Where sources stand: in one step from a dry floor nothing spreads. Of two the second has a history, 0 at 0 s to 2
 * m3/s at 0.02 s, of which half of the step has the mean 0.5; in the upper one of two storeys. */
TEST(sources_stand_where_and_as_large_as_asked)
{
    static const char *const kinds[] = { "grid.kind=hexagon", "grid.kind=square" };
    for (int k = 0; k < 2; k++) {
        run r = RUN(
            HEAD "[grid]\ncells=[12,10]\nspacing=0.5\norigin=[100,-20]\n[[storey]]\n[[storey]]\nheight=3\n[initial]\n"
                 "kind='dry'\n[[source]]\nat=[101.3,-18.9]\nradius=0.8\nrate=0.7\n[[source]]\nstorey=2\n"
                 "at=[104.2,-17.1]\nrate=9\n[[history]]\nsource=2\ntime=0\nvalue=0\n[[history]]\nsource=2\n"
                 "time=0.02\nvalue=2\n[time]\ndt_max=0.01\ninterval=0.01\n[stop]\nsteps=1\n",
            NULL, kinds[k]);
        const double row = k == 0 ? 0.5 * sqrt(0.75) : 0.5, area = 0.5 * row;
        double *h = field(&r, "depth", NULL), least = 9;
        int nearest = 0, within = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int at = 0; at < 120; at++) {
                const double x = (at % 12 + (k == 1        ? 0.5
                                             : at / 12 % 2 ? 0.75
                                                           : 0.25)) *
                                 0.5,
                             y = (at / 12 + 0.5) * row;
                const bool inside = hypot(x - 1.3, y - 1.1) <= 0.8;
                const double off = hypot(x - 4.2, y - 2.9);
                if (pass == 0) {
                    within += inside;
                    nearest = off < least ? at : nearest;
                    least = fmin(least, off);
                } else {
                    near(h[at], inside ? 0.01 * 0.7 / (within * area) : 0, 1e-15, "first source, lower storey");
                    near(h[at + 120], at == nearest ? 0.01 * 0.5 / area : 0, 1e-15, "second source, upper storey");
                }
            }
        ck_assert_int_gt(within, 5);
        near(result(&r, "volume_fed"), 0.007 + 0.005, 1e-16, "rates times time");
        free(h);
        end_run(&r);
    }
}

/* ---------------------------------------------------------------------------------------- ground and water at the
 * start */

/* What a field is before the first step, to be freed. */
static double *at_start(const char *text, const char *name, const char *a, const char *b, const char *c)
{
    bn_case *config;
    run r;
    const char *const overrides[] = { a, b, c };
    OK(bn_case_parse(ctx, "test.toml", text, overrides, 3, &config));
    r.config = config;
    OK(bn_sim_create(ctx, config, &(bn_sim_desc){ 0 }, &r.sim));
    double *values = field(&r, name, NULL);
    end_run(&r);
    return values;
}

enum { NX = 16, NY = 14 };
static const double wide = 0.7;

/* x and y from the middle and from the corner of the domain, by docs/flood.md. */
static void find_place(bool square, int at, double x[2], double off[2])
{
    const double row = wide * (square ? 1 : sqrt(0.75));
    x[0] = (at % NX + (square ? 0.5 : at / NX % 2 ? 0.75 : 0.25)) * wide;
    x[1] = (at / NX + 0.5) * row;
    off[0] = x[0] - 0.5 * NX * wide;
    off[1] = x[1] - 0.5 * NY * row;
}

TEST(ground_and_water_begin_as_the_formulas_say)
{
    static const char text[] = HEAD "[grid]\ncells=[16,14]\nspacing=0.7\n[bed]\nkind='slope'\nslope=[0.02,-0.03]\n"
                                    "[initial]\nkind='level'\nlevel=0.05\n[stop]\nsteps=1\n";
    static const char bowl[] = HEAD "[grid]\ncells=[16,14]\nspacing=0.7\n[bed]\nkind='bowl'\nradius=3\ndepth=0.8\n"
                                    "[initial]\nkind='planar'\nshift=0.4\n[stop]\nsteps=1\n";
    static const char *const kinds[] = { "grid.kind=hexagon", "grid.kind=square" };
    static const char none[] = "case.title=''";
    for (int k = 0; k < 2; k++) {
        double *z = at_start(text, "bed", kinds[k], none, none), *h = at_start(text, "depth", kinds[k], none, none);
        double *bump = at_start(text, "bed", kinds[k], "bed.kind=bump", none);
        double *lake = at_start(text, "bed", kinds[k], "bed.kind=lake", none);
        double *round = at_start(text, "depth", kinds[k], "initial.kind=circle", "initial.levels=[2,1]");
        double *small = at_start(HEAD
                                 "[grid]\ncells=[16,14]\nspacing=0.7\n[initial]\nradius=1.7\nlevels=[2,1]\n[stop]\n"
                                 "steps=1\n",
                                 "depth", kinds[k], none, none);
        double *dam = at_start(text, "depth", kinds[k], "initial.kind=dam", "initial.levels=[2,1]");
        double *across = at_start(HEAD
                                  "[grid]\ncells=[16,14]\nspacing=0.7\n[initial]\nkind='dam'\naxis='y'\nlevels=[2,1]\n"
                                  "[stop]\nsteps=1\n",
                                  "depth", kinds[k], none, none);
        double *deep = at_start(text, "depth", kinds[k], "initial.kind=depth", none);
        double *hollow = at_start(bowl, "bed", kinds[k], none, none),
               *plane = at_start(bowl, "depth", kinds[k], none, none);
        double *speed = at_start(bowl, "velocity", kinds[k], none, none);
        double *wave = at_start(bowl, "depth", kinds[k], "initial.kind=radial", none);
        for (int at = 0; at < NX * NY; at++) {
            double x[2], off[2];
            find_place(k == 1, at, x, off);
            const double r = hypot(off[0], off[1]);
            near(z[at], 0.02 * x[0] - 0.03 * x[1], 1e-15, "plane");
            near(h[at], fmax(0, 0.05 - z[at]), 1e-15, "level");
            near(deep[at], 0.05, 1e-15, "depth");
            near(bump[at], fmax(0, 0.2 - 0.05 * (x[0] - 10) * (x[0] - 10)), 1e-15,
                 "bump of a flume (Delestre et al. 2013)");
            near(lake[at], 0.3 * exp(-4 * r * r) + 0.05 * sin(7 * off[0]) * cos(5 * off[1]) + 0.05, 1e-15,
                 "island and ripples");
            near(round[at], (r < 2.5 ? 2 : 1) - z[at], 1e-14, "circle of 2.5 m");
            near(small[at], r < 1.7 ? 2 : 1, 1e-14, "circle of 1.7 m");
            near(dam[at], (off[0] < 0 ? 2 : 1) - z[at], 1e-14, "dam across x");
            near(across[at], off[1] < 0 ? 2 : 1, 1e-14, "dam across y");
            near(hollow[at], 0.8 * (r * r / 9 - 1), 1e-13, "paraboloid");
            /* Thacker (1981): a plane of water that turns about the middle, h0 / a^2 (2 s x - s^2) high, s w fast; and
             * a paraboloid of water, h0 / r0^2 a^2 (1 - r^2 / r0^2) as it begins, r0 the key's shift. */
            const double level = 0.8 / 9 * (2 * 0.4 * off[0] - 0.4 * 0.4), water = fmax(0, level - hollow[at]);
            near(plane[at], water, 1e-13, "plane of water");
            near(speed[at], 0, 1e-15, "velocity along x");
            near(speed[at + NX * NY], water > 0 ? 0.4 * sqrt(2 * 9.81 * 0.8) / 3 : 0, 1e-14, "velocity along y");
            const double A = (9 - 0.16) / (9 + 0.16), root = sqrt(1 - A * A) / (1 - A);
            const double eta = 0.8 * (root - 1 - r * r / 9 * (root * root - 1));
            near(wave[at], fmax(0, eta - hollow[at]), 1e-13, "Thacker's radial wave");
        }
        free(z), free(h), free(bump), free(round), free(small), free(dam), free(across), free(deep), free(hollow);
        free(plane), free(speed), free(wave), free(lake);
    }
}

/* Even between 0 and the amplitude: mean and variance within four of their standard deviations; other numbers for
 * another seed. */
TEST(random_ground_is_even_between_its_bounds)
{
    enum { CELLS = 100 * 100 };
    static const char text[] = HEAD
        "[grid]\ncells=[100,100]\n[bed]\nkind='random'\namplitude=3\n[initial]\nkind='dry'\n"
        "[stop]\nsteps=1\n";
    double *z = at_start(text, "bed", "case.seed=1", "case.title=''", "case.title=''");
    double *other = at_start(text, "bed", "case.seed=2", "case.title=''", "case.title=''");
    double mean = 0, square = 0, both = 0;
    for (int at = 0; at < CELLS; at++) {
        ck_assert(z[at] >= 0 && z[at] <= 3);
        mean += z[at] / 3 / CELLS;
        square += (z[at] / 3 - 0.5) * (z[at] / 3 - 0.5) / CELLS;
        both += (z[at] / 3 - 0.5) * (other[at] / 3 - 0.5) / CELLS;
    }
    near(mean, 0.5, 4 * sqrt(1.0 / 12 / CELLS), "mean");
    near(square, 1.0 / 12, 4 * sqrt(1.0 / 180 / CELLS), "variance");
    near(both, 0, 4 / 12.0 / sqrt(CELLS), "covariance of two seeds");
    free(z), free(other);
}

TEST(storeys_begin_with_the_water_they_are_asked_for)
{
    static const char text[] = HEAD "[grid]\ncells=[4,4]\n[[storey]]\n[[storey]]\nheight=3\n[[storey]]\nheight=6.5\n"
                                    "[initial]\nkind='depth'\nlevel=0.4\nstorey=2\n[stop]\nsteps=1\n";
    static const struct {
        const char *kind, *storey, *level;
        double depth[3];
    } of[] = { { "initial.kind=depth", "initial.storey=2", "initial.level=0.4", { 0, 0.4, 0 } },
               { "initial.kind=depth", "initial.storey=0", "initial.level=0.4", { 0.4, 0.4, 0.4 } },
               { "initial.kind=level", "initial.storey=2", "initial.level=3.4", { 0, 0.4, 0 } },
               { "initial.kind=level", "initial.storey=0", "initial.level=3.4", { 3.4, 0.4, 0 } },
               { "initial.kind=level", "initial.storey=3", "initial.level=7", { 0, 0, 0.5 } } };
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        double *h = at_start(text, "depth", of[k].kind, of[k].storey, of[k].level);
        for (int at = 0; at < 48; at++)
            near(h[at], of[k].depth[at / 16], 1e-14, of[k].storey);
        free(h);
    }
}

/* Errors against a closed form are means over cells up to a distance: of a dam that breaks onto dry ground (Ritter
 * 1892), 4/9 of the depth at the dam. */
TEST(errors_are_those_of_the_cells_asked_for)
{
    static const char *const withins[] = { "exact.within=0", "exact.within=6" };
    for (int k = 0; k < 4; k++) {
        run r = RUN(HEAD
                    "[grid]\nkind='square'\ncells=[40,4]\nspacing=1\nperiodic_y=true\n[initial]\nkind='dam'\n[stop]\n"
                    "time=1\n",
                    NULL, withins[k % 2], k / 2 ? "initial.levels=[0,3]" : "initial.levels=[3,0]");
        double *h = field(&r, "depth", NULL), sum = 0, most = 0, water = 0;
        int cells = 0;
        for (int i = 0; i < 40; i++) {
            const double x = (k / 2 ? -1 : 1) * (i - 19.5), c = sqrt(9.81 * 3), fan = (2 * c - x) / 3;
            const double exact = x <= -c ? 3 : x >= 2 * c ? 0 : fan * fan / 9.81, error = fabs(h[i] - exact);
            if (k % 2 && fabs(x) > 6)
                continue;
            sum += error;
            water += exact;
            most = fmax(most, error);
            cells++;
        }
        near(result(&r, "l1_depth"), sum / cells, 1e-14, "mean error");
        near(result(&r, "linf_depth"), most, 1e-14, "largest error");
        near(result(&r, "l1_relative"), sum / water, 1e-14, "relative error");
        ck_assert_double_lt(sum / cells, 0.2);
        free(h);
        end_run(&r);
    }
}

/* Two rooms of 2 m x 2 m beside each other, between which stands what `between` is; water comes into the left one. */
TEST(doors_hold_water_if_they_are_closed)
{
    static const struct {
        const char *between, *legend;
        bool passes;
    } of[] = { { "floor", "", true },
               { "wall", "", false },
               { "obstacle", "", false },
               { "door", "", true },
               { "gate", "[[legend]]\nname='gate'\nkind='door'\nopen=false\n", false },
               { "gate", "[[legend]]\nname='gate'\nkind='door'\nopen=true\n", true },
               { "block", "[[legend]]\nname='block'\nkind='wall'\n", false },
               { "block", "[[legend]]\nname='block'\nkind='obstacle'\n", false },
               { "block", "[[legend]]\nname='block'\nkind='floor'\n", true } };
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char text[1024], path[128];
        snprintf(path, sizeof path, "%s/1.csv", test_folder);
        FILE *f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        ck_assert_int_gt(
            fprintf(f,
                    "meaning,wkt\nfloor,\"POLYGON ((0 0, 4.5 0, 4.5 2, 0 2, 0 0))\"\n%s,\"POLYGON ((2 0, 2.5 "
                    "0, 2.5 2, 2 2, 2 0))\"\n",
                    of[k].between),
            0);
        ck_assert_int_eq(fclose(f), 0);
        snprintf(text, sizeof text,
                 HEAD
                 "[grid]\nkind='square'\nspacing=0.25\n[[storey]]\nplan='%s'\n%s[initial]\nkind='dry'\n[[source]]\n"
                 "at=[1,1]\nrate=0.2\n[stop]\ntime=40\n",
                 path, of[k].legend);
        run r = RUN(text, NULL, "fluid.manning=0.05");
        double *h = field(&r, "depth", NULL), sides[2] = { 0, 0 };
        for (int at = 0; at < 18 * 8; at++)
            sides[at % 18 >= 10] += at % 18 < 8 || at % 18 >= 10 ? h[at] / 64 : 0;
        /* 8 m3 in a room of 4 m2, or on 9 m2, where waves of some centimetres are left */
        near(sides[0], of[k].passes ? 8.0 / 9 : 2, of[k].passes ? 0.03 : 1e-12, of[k].between);
        near(sides[1], of[k].passes ? 8.0 / 9 : 0, of[k].passes ? 0.03 : 0, of[k].between);
        free(h);
        end_run(&r);
    }
}

TEST(what_is_written_does_not_change_what_is_computed)
{
    static const char text[] = HEAD "[grid]\ncells=[30,20]\nspacing=0.25\n[initial]\nkind='circle'\nlevels=[1,0]\n"
                                    "radius=1\n[boundary.left]\nkind='open'\n[[source]]\nat=[2,2]\nrate=0.1\n"
                                    "[time]\ninterval=0.25\n[stop]\ntime=2\n";
    run a = RUN(text, NULL, "output.records=false"), b = RUN(text, NULL, "output.records=true", "output.every=1",
                                                             "output.wet=0.1", "output.epsg=32632", "exact.within=1");
    same_fields(&a, &b, (const char *const[]){ "depth" }, 1, "files or not");
    end_run(&a);
    end_run(&b);
}

int main(void) { return bn_test_main("flood properties", open_folder, close_folder); }
