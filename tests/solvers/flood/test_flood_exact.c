/* test_flood_exact.c: numbers that the scheme of flood gives to rounding, step by step, from states that the tests set:
 * dams, supercritical and uniform flow, friction, rain, links, edges at walls; and orders of convergence to smooth
 * exact flows. All on the reference; the device has its bits (test_conformance_flood.c). */
#include "support_case.h"

#include "api/field.h"
#include "sim/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "[case]\nsolver='flood'\nprecision='double'\n"
static const double pi = 3.14159265358979323846, slant = 0.86602540378443864676, g = 9.81;
static const char *const kinds[] = { "grid.kind=square", "grid.kind=hexagon" };
static const char *const orders[] = { "solver.order=1", "solver.order=2" };

/* ----------------------------------------------------------------------------------------------- states that tests set
 */

/* A run that has not begun, its fields, and where its cells are. A dry start: the first time step is time.dt_max. */
typedef struct state {
    run r;
    unsigned nx, ny;
    bool hexagons;
    double d, row;
    size_t points;     /* of all storeys */
    double *h, *c, *z; /* both components of c, one after the other */
} state;

static state prepare(const char *text, const char *const *overrides)
{
    state s = { .hexagons = false };
    size_t count = 0;
    while (overrides[count])
        count++;
    OK(bn_case_parse(ctx, "test.toml", text, overrides, count, &s.r.config));
    OK(bn_sim_create(ctx, s.r.config, &(bn_sim_desc){ 0 }, &s.r.sim));
    const bn_sim_field_info *info = field_info(&s.r, "depth");
    s.nx = info->n[0];
    s.ny = info->n[1];
    s.points = (size_t)info->n[0] * info->n[1] * info->n[2];
    s.d = info->h[0];
    s.row = info->h[1];
    s.hexagons = s.row < s.d;
    s.h = field(&s.r, "depth", NULL);
    s.c = field(&s.r, "velocity", NULL);
    s.z = field(&s.r, "bed", NULL);
    return s;
}
#define PREPARE(text, ...) prepare((text), (const char *const[]){ __VA_ARGS__, NULL })

static void set_fields(state *s)
{
    OK(bn_field_set(bn_sim_field(s->r.sim, "depth"), s->h, s->points));
    OK(bn_field_set(bn_sim_field(s->r.sim, "velocity"), s->c, 2 * s->points));
    OK(bn_field_set(bn_sim_field(s->r.sim, "bed"), s->z, s->points));
}

/* Runs to the end and reads the fields. */
static void run_on(state *s)
{
    while (!bn_sim_done(s->r.sim))
        OK(bn_sim_step(s->r.sim));
    OK(bn_sim_measure(s->r.sim));
    free(s->h), free(s->c);
    s->h = field(&s->r, "depth", NULL);
    s->c = field(&s->r, "velocity", NULL);
}

static void go(state *s)
{
    set_fields(s);
    run_on(s);
}

static void end(state *s)
{
    free(s->h), free(s->c), free(s->z);
    end_run(&s->r);
}

/* The middle of a cell [m]: hexagons of odd rows stand half a cell further to the east. */
static void place_of(const state *s, size_t at, double x[2])
{
    const size_t i = at % s->nx, j = at / s->nx % s->ny;
    x[0] = ((double)i + (!s->hexagons ? 0.5 : j % 2 ? 0.75 : 0.25)) * s->d;
    x[1] = ((double)j + 0.5) * s->row;
}

/* Numbers in 0 ... 1 of a cell, the same in every run. */
static double scatter(size_t n, size_t seed)
{
    const double x = sin((double)(n + 1) * 12.9898 + (double)seed * 78.233) * 43758.5453;
    return x - floor(x);
}

/* One step of `dt` of 6 x 8 cells between walls, periodic across the axis. */
static state strip(int hexagons, bool along_y, double dt)
{
    char text[512];
    snprintf(text, sizeof text,
             HEAD "[grid]\nkind='%s'\ncells=%s\nspacing=0.5\nperiodic_%s=true\n[initial]\nkind='dry'\n[time]\n"
                  "dt_max=%.17g\ninterval=%.17g\n[stop]\nsteps=1\n",
             hexagons ? "hexagon" : "square", along_y ? "[6,8]" : "[8,6]", along_y ? "x" : "y", dt, dt);
    return PREPARE(text, "case.title=''");
}

/* ------------------------------------------------------------------------------------------------------ single edges
 */

/* A dam in the middle of water at rest, maybe on a step of the ground; what crosses an edge in one step is the state of
 * HLL between waves of -s and s, onto dry ground of -s and 2 s (s of the deeper side above the higher ground). */
static void break_dam(int hexagons, bool along_y, bool exchanged, const double depth[2], const double bed[2])
{
    const double dt = 0.01;
    state s = strip(hexagons, along_y, dt);
    const double K = dt * (hexagons ? 2 / (3 * s.d) : 1 / s.d);
    const double edges = hexagons ? 2 : 1, facing = hexagons ? 2 * slant : 1; /* number, and sum of normals */
    for (size_t at = 0; at < s.points; at++) {
        const bool far = (along_y ? at / s.nx : at % s.nx) >= 4;
        s.h[at] = depth[far != exchanged];
        s.z[at] = bed[far != exchanged];
    }
    go(&s);
    const double crest = fmax(bed[0], bed[1]), a = fmax(0, depth[0] + bed[0] - crest);
    const double b = fmax(0, depth[1] + bed[1] - crest), wave = sqrt(g * fmax(a, b));
    const double mass = b > 0 ? wave * (a - b) / 2 : 2 * wave * a / 3;
    const double thrust = b > 0 ? g * (a * a + b * b) / 4 : g * a * a / 3;
    for (int k = 0; k < 2; k++) { /* the cells on both sides of the dam */
        const int p = 3 + (k != (int)exchanged);
        const size_t at = along_y ? (size_t)p * s.nx + 2 : 2 * (size_t)s.nx + (size_t)p;
        const double own = k == 0 ? a : b, sign = k == 0 ? -1 : 1;
        const double h = depth[k] + sign * K * edges * mass;
        const double push = sign * K * facing * (thrust - g * own * own / 2) * (exchanged ? -1 : 1);
        near(s.h[at], h, 1e-14, "depth beside a dam after a step");
        near(s.c[at + (along_y ? s.points : 0)], push / h, 2e-14, "velocity beside a dam after a step");
        near(s.c[at + (along_y ? 0 : s.points)], 0, 1e-14, "velocity along a dam");
    }
    end(&s);
}

TEST(a_dam_breaks_as_its_waves_say)
{
    static const double depths[][2] = { { 1, 0.4 }, { 1, 0 }, { 1, 0.4 }, { 1, 0 }, { 0.6, 0 } };
    static const double beds[][2] = { { 0, 0 }, { 0, 0 }, { 0, 0.3 }, { 0, 0.3 }, { 0.5, 0 } };
    for (int k = 0; k < 5; k++)
        for (int way = 0; way < 6; way++) /* of hexagons only across the rows: along them a dam is jagged */
            break_dam(way >= 4, way >= 2, way % 2, depths[k], beds[k]);
}

/* Water that moves towards a dry floor or away from it, at -2 ... 1 times its wave speed, between waves of u - s and
 * u + 2 s (Toro 2001): h (u + 2 s) / 3 passes with the momentum h (u + 2 s) (2 u + s) / 6, of faster water what comes
 * and of water that leaves at 2 s nothing. */
TEST(moving_water_runs_onto_a_dry_floor)
{
    static const double speeds[] = { -2.2, -1.5, -0.6, 0.7, 1.4 }; /* over s */
    const double dt = 0.01, wave = sqrt(g);
    for (int way = 0; way < 4; way++)
        for (int k = 0; k < 5; k++) {
            const bool along_y = way / 2;
            const int sign = way % 2 ? -1 : 1;
            const double u = speeds[k] * wave, reach = fmax(0, u + 2 * wave);
            const double mass = u > wave ? u : reach / 3,
                         thrust = u > wave ? u * u + g / 2 : reach * (2 * u + wave) / 6;
            state s = strip(0, along_y, dt);
            double *n = s.c + (along_y ? s.points : 0);
            for (size_t at = 0; at < s.points; at++)
                if (((along_y ? at / s.nx : at % s.nx) < 4) == (sign > 0)) {
                    s.h[at] = 1;
                    n[at] = sign * u;
                }
            go(&s);
            n = s.c + (along_y ? s.points : 0);
            const size_t one = along_y ? s.nx : 1, wet = (sign > 0 ? 3 : 4) * one + 2 * (along_y ? 1 : s.nx);
            const size_t dry = sign > 0 ? wet + one : wet - one;
            const double h = 1 + dt / s.d * (u - mass), hu = u + dt / s.d * (u * u + g / 2 - thrust);
            near(s.h[wet], h, 1e-14, "depth of the water");
            near(n[wet], sign * hu / h, 1e-13, "its velocity");
            near(s.h[dry], dt / s.d * mass, 1e-15, "depth on the dry floor");
            near(n[dry], reach > 0 ? sign * thrust / mass : 0, 1e-12, "its velocity");
            end(&s);
        }
}

/* Where nothing runs upstream, an edge passes what comes: h u, h u^2 + g h^2 / 2, h u v. So it is of two states that
 * differ in the velocity along the edge alone; of squares, whose edges all have that velocity along them. */
static void step_downstream(int hexagons, bool along_y, int sign, const double up[3], const double down[3])
{
    const double dt = 0.004;
    state s = strip(hexagons, along_y, dt);
    double *n = s.c + (along_y ? s.points : 0), *a = s.c + (along_y ? 0 : s.points);
    const double per = dt / (along_y ? s.row : s.d);
    for (size_t at = 0; at < s.points; at++) {
        const size_t p = along_y ? at / s.nx : at % s.nx;
        const double *const of = (p >= 4) == (sign > 0) ? down : up;
        s.h[at] = of[0];
        n[at] = sign * of[1];
        a[at] = of[2];
    }
    go(&s);
    n = s.c + (along_y ? s.points : 0), a = s.c + (along_y ? 0 : s.points);
    for (int k = 0; k < 2; k++) {
        const int p = sign > 0 ? 4 - k : 3 + k; /* the first cell downstream, the last one upstream */
        const size_t at = along_y ? (size_t)p * s.nx + 3 : 3 * (size_t)s.nx + (size_t)p;
        const double *const own = k ? up : down;
        const double h = own[0] + per * (up[0] * up[1] - own[0] * own[1]);
        const double hn = own[0] * own[1] + per * (up[0] * up[1] * up[1] - own[0] * own[1] * own[1] +
                                                   g / 2 * (up[0] * up[0] - own[0] * own[0]));
        const double ha = own[0] * own[2] + per * (up[0] * up[1] * up[2] - own[0] * own[1] * own[2]);
        near(s.h[at], h, 1e-14, "depth downstream");
        near(n[at], sign * hn / h, 1e-13, "velocity downstream");
        near(a[at], ha / h, 1e-14, "velocity along the edge");
    }
    end(&s);
}

TEST(what_comes_from_upstream_is_passed_on)
{
    static const double fast[][3] = { { 1, 6, 0.7 }, { 0.6, 7, -0.4 } },
                        sheared[][3] = { { 1, 1, 0.7 }, { 1, 1, -0.4 } };
    for (int way = 0; way < 4; way++) {
        step_downstream(0, way / 2, way % 2 ? 1 : -1, fast[0], fast[1]);
        step_downstream(0, way / 2, way % 2 ? 1 : -1, sheared[0], sheared[1]);
        if (way < 2)
            step_downstream(1, true, way % 2 ? 1 : -1, fast[0], fast[1]);
    }
}

/* Through an edge that ends at a wall of hexagon edges passes a quarter more. All that crosses a dam in a step: along
 * the rows and across them two of the edges end at the walls. */
TEST(edges_at_jagged_walls_pass_a_quarter_more)
{
    const double dt = 0.01, mass = sqrt(g) * 0.6 / 2; /* 1 m against 0.4 m */
    for (int way = 0; way < 4; way++) {
        const bool along_y = way % 2;
        state s = PREPARE(HEAD "[grid]\ncells=[10,12]\nspacing=0.5\n[initial]\nkind='dry'\n[time]\ndt_max=0.01\n"
                               "interval=0.01\n[stop]\nsteps=1\n",
                          kinds[way / 2]);
        double crossing = s.hexagons ? 0.5 : 0, before = 0, after = 0;
        for (size_t at = 0; at < s.points; at++) {
            double x[2], y[2];
            place_of(&s, at, x);
            const double middle = 0.5 * (along_y ? s.ny * s.row : s.nx * s.d);
            const bool low = x[along_y] < middle;
            s.h[at] = low ? 1 : 0.4;
            before += low ? s.h[at] : 0;
            for (size_t to = 0; low && to < s.points; to++) {
                place_of(&s, to, y);
                crossing += y[along_y] >= middle && hypot(x[0] - y[0], x[1] - y[1]) < 1.01 * s.d;
            }
        }
        go(&s);
        for (size_t at = 0; at < s.points; at++) {
            double x[2];
            place_of(&s, at, x);
            after += x[along_y] < 0.5 * (along_y ? s.ny * s.row : s.nx * s.d) ? s.h[at] : 0;
        }
        near((before - after) / (dt * (s.hexagons ? 2 / (3 * s.d) : 1 / s.d) * mass), crossing, 1e-11, "edges");
        end(&s);
    }
}

/* A cell of water on a dry floor loses 2/3 sqrt(g h) h through each of its edges: all it has with a step of 0.375 d
 * over sqrt(g h). */
TEST(a_column_of_water_spreads)
{
    for (int k = 0; k < 2; k++) {
        state s = PREPARE(HEAD "[grid]\ncells=[9,9]\nspacing=2\n[fluid]\ngravity=4\n[initial]\nkind='dry'\n[time]\n"
                               "dt_max=0.25\ninterval=0.25\n[stop]\nsteps=1\n",
                          kinds[k]);
        const size_t middle = 4 * 9 + 4;
        const int edges = s.hexagons ? 6 : 4;
        s.h[middle] = 1; /* 0.25 = 0.375 * 2 / 2 * 2 / 3 */
        go(&s);
        near(s.h[middle], 1.0 / 3, 1e-15, "what is left after two thirds of the longest step");
        double sum = 0, out[2] = { 0, 0 };
        int wet = 0;
        for (size_t at = 0; at < s.points; at++) {
            double x[2], y[2];
            sum += s.h[at];
            wet += s.h[at] > 0;
            if (at == middle || !(s.h[at] > 0))
                continue;
            place_of(&s, at, x);
            place_of(&s, middle, y);
            near(s.h[at], 2.0 / 3 / edges, 1e-15, "the same for all around");
            /* g h^2 / 3 came with 2/3 sqrt(g h) h: half of sqrt(g h) */
            near(s.c[at], 1 * (x[0] - y[0]) / s.d, 1e-14, "away from the middle");
            near(s.c[at + s.points], 1 * (x[1] - y[1]) / s.d, 1e-14, "away from the middle");
            out[0] += s.c[at], out[1] += s.c[at + s.points];
        }
        ck_assert_int_eq(wet, edges + 1);
        near(sum, 1, 1e-15, "all water");
        near(hypot(out[0], out[1]), 0, 1e-14, "to all sides alike");
        end(&s);
    }
}

/* ------------------------------------------------------------------------------------------------------ uniform flows
 */

/* Uniform flow stays what it is, whatever passes through the sides. */
static void stays(state *s, double h, double u, double v, const char *what)
{
    for (size_t at = 0; at < s->points; at++) {
        s->h[at] = h;
        s->z[at] = 0.3;
        s->c[at] = u;
        s->c[at + s->points] = v;
    }
    go(s);
    for (size_t at = 0; at < s->points; at++) {
        near(s->h[at], h, 1e-13, what);
        near(s->c[at], u, 1e-12, what);
        near(s->c[at + s->points], v, 1e-12, what);
    }
}

TEST(uniform_flow_passes_through_the_sides)
{
    static const char *const sides[] = { "left", "right", "bottom", "top" };
    for (int k = 0; k < 4; k++)
        for (int from = 0; from < 4; from++) {
            char text[1024];
            /* in at a side, out at the one across, whose level is ground and depth, or which is open */
            for (int open = 0; open < 2; open++) {
                snprintf(text, sizeof text,
                         HEAD "[grid]\ncells=[8,10]\nspacing=0.5\nperiodic_%s=true\n[initial]\nkind='dry'\n"
                              "[boundary.%s]\nkind='inflow'\ndischarge=1.2\n[boundary.%s]\n%s[time]\ndt_max=0.02\n"
                              "interval=0.2\n[stop]\nsteps=1\n",
                         from < 2 ? "y" : "x", sides[from], sides[from ^ 1],
                         open ? "kind='open'\n" : "kind='level'\nlevel=1.1\n");
                state s = PREPARE(text, kinds[k % 2], orders[k / 2]);
                const double speed = from % 2 ? -1.5 : 1.5;
                stays(&s, 0.8, from < 2 ? speed : 0, from < 2 ? 0 : speed, sides[from]);
                near(result(&s.r, "volume_left"), 0, 1e-13, "as much enters as leaves");
                end(&s);
            }
            /* aslant, through two open sides */
            snprintf(text, sizeof text,
                     HEAD
                     "[grid]\ncells=[8,10]\nspacing=0.5\nperiodic_%s=true\n[initial]\nkind='dry'\n[boundary.%s]\n"
                     "kind='open'\n[boundary.%s]\nkind='open'\n[time]\ndt_max=0.02\ninterval=0.2\n[stop]\nsteps=1\n",
                     from < 2 ? "y" : "x", sides[from], sides[from ^ 1]);
            state s = PREPARE(text, kinds[k % 2], orders[k / 2]);
            stays(&s, 0.8, from % 2 ? -1.1 : 1.1, 0.7, "open sides");
            end(&s);
        }
}

/* Along jagged walls too: what comes by longer edges leaves by longer edges, with its momentum. */
TEST(uniform_flow_passes_along_walls)
{
    for (int k = 0; k < 8; k++) {
        state s = PREPARE(
            HEAD "[grid]\ncells=[8,10]\nspacing=0.5\n[initial]\nkind='dry'\n[time]\ndt_max=0.02\ninterval=0.2\n"
                 "[stop]\nsteps=1\n",
            kinds[k % 2], orders[k / 2 % 2], k / 4 ? "grid.periodic_x=true" : "grid.periodic_y=true");
        stays(&s, 0.8, k / 4 ? 1.3 : 0, k / 4 ? 0 : 1.3, "between walls");
        end(&s);
    }
}

/* Onto a dry floor an inflow comes at its critical depth c^2 / g, q = c^3 / g: in its cells stands h = q t, with the
 * momentum (q c + g h^2 / 2) t, which is 3/2 c q t. */
TEST(an_inflow_begins_at_its_critical_depth)
{
    static const char *const sides[] = { "left", "right", "bottom", "top" };
    const double q = 0.4, critical = cbrt(q * g);
    for (int k = 0; k < 2; k++)
        for (int side = 0; side < 4; side++) {
            char text[512];
            snprintf(text, sizeof text,
                     HEAD "[grid]\ncells=[8,10]\nspacing=0.5\n[initial]\nkind='dry'\n[boundary.%s]\nkind='inflow'\n"
                          "discharge=0.4\n[time]\ndt_max=0.01\ninterval=0.01\n[stop]\nsteps=1\n",
                     sides[side]);
            state s = PREPARE(text, kinds[k]);
            go(&s);
            const double width = side < 2 ? s.ny * s.row : s.nx * s.d;
            const size_t component = side < 2 ? 0 : s.points;
            near(result(&s.r, "volume_left"), -q * width * 0.01, 1e-15, sides[side]);
            near(result(&s.r, "volume"), q * width * 0.01, 1e-15, sides[side]);
            int wet = 0;
            for (size_t at = 0; at < s.points; at++)
                if (s.h[at] > 0) {
                    near(s.c[at + component], (side % 2 ? -1 : 1) * 1.5 * critical, 1e-13, sides[side]);
                    wet++;
                }
            ck_assert_int_eq(wet, (int)(side < 2 ? s.ny : s.nx));
            end(&s);
        }
}

/* Of second order slopes make no new extrema: a step in what a uniform flow carries stays between its two values. */
TEST(steps_are_carried_without_overshoot)
{
    for (int way = 0; way < 2; way++) {
        state s = PREPARE(HEAD
                          "[grid]\nkind='square'\nspacing=1\nperiodic_x=true\nperiodic_y=true\n[initial]\nkind='dry'\n"
                          "[time]\ndt_max=0.05\ninterval=1\n[stop]\nsteps=4\n",
                          orders[1], way ? "grid.cells=[4,24]" : "grid.cells=[24,4]");
        double *along = s.c + (way ? s.points : 0), *across = s.c + (way ? 0 : s.points);
        for (size_t at = 0; at < s.points; at++) {
            s.h[at] = 1;
            along[at] = 1;
            across[at] = (way ? at / s.nx : at % s.nx) < 12 ? 0.7 : -0.4;
        }
        go(&s);
        across = s.c + (way ? 0 : s.points);
        double sum = 0;
        for (size_t at = 0; at < s.points; at++) {
            near(fmax(0, fabs(across[at] - 0.15) - 0.55), 0, 1e-13, "beyond -0.4 and 0.7");
            sum += across[at] / (double)s.points;
        }
        near(sum, 0.15, 1e-13, "momentum");
        end(&s);
    }
}

/* Ripples of 1 mm on a flow at nine times its wave speed do not grow: time steps follow from the speed of the water
 * too, in each direction. The run goes on from a checkpoint, which finds the speeds of what the test has set. */
TEST(time_steps_follow_fast_flow)
{
    for (int k = 0; k < 8; k++) {
        state s = PREPARE(HEAD
                          "[grid]\ncells=[12,12]\nspacing=1\nperiodic_x=true\nperiodic_y=true\n[fluid]\ngravity=1\n"
                          "[initial]\nkind='dry'\n[time]\ndt_max=9\ninterval=0.9\n[stop]\nsteps=1\n",
                          kinds[k % 2]);
        const double angle = k / 2 * pi / 6;
        double most = 0;
        for (size_t at = 0; at < s.points; at++) {
            s.h[at] = 1 + 0.001 * (2 * scatter(at, 5) - 1);
            s.c[at] = 9 * cos(angle) + 0.001 * (2 * scatter(at, 6) - 1);
            s.c[at + s.points] = 9 * sin(angle) + 0.001 * (2 * scatter(at, 7) - 1);
        }
        set_fields(&s);
        OK(bn_sim_save(s.r.sim, test_folder));
        bn_sim_destroy(&s.r.sim);
        OK(bn_sim_create(ctx, s.r.config, &(bn_sim_desc){ .resume = test_folder }, &s.r.sim));
        run_on(&s);
        for (size_t at = 0; at < s.points; at++) {
            most = fmax(most, fabs(s.h[at] - 1));
            most = fmax(most, hypot(s.c[at] - 9 * cos(angle), s.c[at + s.points] - 9 * sin(angle)));
        }
        near(most, 0, 0.001, "ripples");
        end(&s);
    }
}

/* Uniform flow with friction alone: 1 / c' = 1 / c + dt g n^2 h^(-4/3) c' / c in each of the steps, and the direction
 * stays. */
TEST(friction_slows_uniform_flow)
{
    static const double depths[] = { 0.002, 0.3, 25 };
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++) {
            state s = PREPARE(HEAD "[grid]\ncells=[4,4]\nspacing=1\nperiodic_x=true\nperiodic_y=true\n[fluid]\n"
                                   "manning=0.05\n[initial]\nkind='dry'\n[time]\ndt_max=0.01\ninterval=0.01\n[stop]\n"
                                   "steps=3\n",
                              kinds[k % 2], orders[k / 2], "solver.dry=1e-3");
            const double rate = 0.01 * g * 0.05 * 0.05 * pow(depths[i], -4.0 / 3);
            double speed = 2;
            for (int n = 0; n < 3; n++)
                speed = 2 * speed / (1 + sqrt(1 + 4 * rate * speed));
            for (size_t at = 0; at < s.points; at++) {
                s.h[at] = depths[i];
                s.c[at] = -1.2;
                s.c[at + s.points] = 1.6;
            }
            go(&s);
            near(s.h[5], depths[i], 1e-14 * depths[i], "depth");
            near(s.c[5] / (-0.6 * speed), 1, 1e-11, "velocity along x");
            near(s.c[5 + s.points] / (0.8 * speed), 1, 1e-11, "velocity along y");
            end(&s);
        }
}

/* ------------------------------------------------------------------------------------- rain, drains, links in one step
 */

/* Rain on all of a uniform flow: it falls at rest, so the momentum stays. */
TEST(rain_slows_uniform_flow)
{
    for (int k = 0; k < 4; k++) {
        state s = PREPARE(HEAD
                          "[grid]\ncells=[6,6]\nspacing=0.5\nperiodic_x=true\nperiodic_y=true\n[initial]\nkind='dry'\n"
                          "[[source]]\nat=[1.5,1.4]\nradius=9\nrate=2\n[time]\ndt_max=0.01\ninterval=0.1\n[stop]\n"
                          "steps=2\n",
                          kinds[k % 2], orders[k / 2]);
        for (size_t at = 0; at < s.points; at++) {
            s.h[at] = 0.5;
            s.c[at] = 0.8;
            s.c[at + s.points] = -0.5;
        }
        go(&s);
        const double h = 0.5 + 2 * 0.2 / (36 * s.d * s.row);
        for (size_t at = 0; at < s.points; at++) {
            near(s.h[at], h, 1e-14, "depth after the rain");
            near(s.c[at], 0.8 * 0.5 / h, 1e-13, "velocity along x");
            near(s.c[at + s.points], -0.5 * 0.5 / h, 1e-13, "velocity along y");
        }
        near(result(&s.r, "volume_fed"), 0.4, 1e-15, "rate times time");
        end(&s);
    }
}

/* Storeys of 2 m x 2 m, 3 m apart, periodic, on each of which all is `meaning` (the lowest first); one step of `dt`. */
static state tower(const char *const *meaning, const char *legend, double dt, const char *order)
{
    char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   HEAD
                                   "[grid]\nkind='square'\nspacing=0.25\nperiodic_x=true\nperiodic_y=true\n[initial]\n"
                                   "kind='dry'\n[time]\ndt_max=%.17g\ninterval=%.17g\n[stop]\nsteps=1\n%s",
                                   dt, dt, legend);
    for (int k = 0; meaning[k]; k++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%d.csv", test_folder, k);
        FILE *f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        ck_assert_int_gt(fprintf(f, "meaning,wkt\n%s,\"POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))\"\n", meaning[k]), 0);
        ck_assert_int_eq(fclose(f), 0);
        used += (size_t)snprintf(text + used, sizeof text - used, "[[storey]]\nplan='%s'\nheight=%d\n", path, 3 * k);
    }
    return PREPARE(text, order);
}
#define TOWER(legend, dt, order, ...) tower((const char *const[]){ __VA_ARGS__, NULL }, (legend), (dt), (order))

/* Depths of each storey, and velocities along x of all. */
static void fill_tower(state *s, const double *depth, const double *velocity)
{
    for (size_t at = 0; at < s->points; at++) {
        s->h[at] = depth[at / 64];
        s->c[at] = velocity[at / 64];
    }
}

static void check_tower(state *s, const double *depth, const double *velocity)
{
    go(s);
    for (size_t at = 0; at < s->points; at++) {
        near(s->h[at], depth[at / 64], 1e-14, "depth after a step");
        near(s->c[at], velocity[at / 64], 1e-13, "velocity after a step");
    }
    end(s);
}

TEST(links_move_what_their_formulas_say)
{
    static const char hole[] = "[[legend]]\nname='hole'\nkind='opening'\ncoefficient=0.3\n";
    static const char steps[] = "[[legend]]\nname='steps'\nkind='stair'\nwidth=0.5\n";
    const double dt = 0.01, C = pow(2.0 / 3, 1.5) * sqrt(g), share = 0.5 / 4;
    for (int k = 0; k < 2; k++) {
        /* Through two holes at once: the middle storey gets from above and gives to below. */
        const double a = 0.3 * sqrt(2 * g * 0.4) * dt, b = 0.3 * sqrt(2 * g * 0.9) * dt;
        state s = TOWER(hole, dt, orders[k], "floor", "hole", "hole");
        fill_tower(&s, (const double[]){ 0, 0.4, 0.9 }, (const double[]){ 0, 0.6, -1.1 });
        check_tower(&s, (const double[]){ a, 0.4 + b - a, 0.9 - b },
                    (const double[]){ 0, 0.6 * (b > a ? 0.4 / (0.4 + b - a) : 1), -1.1 });
        /* The level below presses through the hole: 3.5 m against 3 + 0.2 m. */
        const double up = 0.3 * sqrt(2 * g * 0.3) * dt;
        s = TOWER(hole, dt, orders[k], "floor", "hole");
        fill_tower(&s, (const double[]){ 3.5, 0.2 }, (const double[]){ 0.5, 0.4 });
        check_tower(&s, (const double[]){ 3.5 - up, 0.2 + up }, (const double[]){ 0.5, 0.4 * 0.2 / (0.2 + up) });
        /* A stair under moving water, whose head counts; what falls is at rest. */
        const double fall = share * C * pow(0.4 + 1.5 * 1.5 / (2 * g), 1.5) * dt;
        s = TOWER(steps, dt, orders[k], "floor", "steps");
        fill_tower(&s, (const double[]){ 0.1, 0.4 }, (const double[]){ 0.7, 1.5 });
        check_tower(&s, (const double[]){ 0.1 + fall, 0.4 - fall }, (const double[]){ 0.7 * 0.1 / (0.1 + fall), 1.5 });
        /* Drowned: 0.35 m over the upper floor, more than 2/3 of 0.5 m; and from below, where it is more than all. */
        const double slow = share * 0.35 * sqrt(2 * g * 0.15) * dt;
        s = TOWER(steps, dt, orders[k], "floor", "steps");
        fill_tower(&s, (const double[]){ 3.35, 0.5 }, (const double[]){ 0, 0 });
        check_tower(&s, (const double[]){ 3.35 + slow, 0.5 - slow }, (const double[]){ 0, 0 });
        s = TOWER(steps, dt, orders[k], "floor", "steps");
        fill_tower(&s, (const double[]){ 3.5, 0.35 }, (const double[]){ 0, 0 });
        check_tower(&s, (const double[]){ 3.5 - slow, 0.35 + slow }, (const double[]){ 0, 0 });
        /* At most half of the water. */
        s = TOWER(hole, 2, orders[k], "floor", "hole");
        fill_tower(&s, (const double[]){ 0, 0.4 }, (const double[]){ 0, 0.9 });
        check_tower(&s, (const double[]){ 0.2, 0.2 }, (const double[]){ 0, 0.9 });
    }
}

TEST(sources_and_drains_of_a_plan)
{
    static const char pipes[] =
        "[[legend]]\nname='tap'\nkind='source'\nrate=0.6\n[[legend]]\nname='sink'\nkind='drain'\nrate=0.8\n";
    for (int k = 0; k < 2; k++) {
        state s = TOWER(pipes, 0.1, orders[k], "sink", "tap");
        fill_tower(&s, (const double[]){ 0.5, 0.2 }, (const double[]){ 0.9, -0.3 });
        check_tower(&s, (const double[]){ 0.5 - 0.02, 0.2 + 0.015 }, (const double[]){ 0.9, -0.3 * 0.2 / 0.215 });
        /* A drain takes at most half of the water; what is left moves on. */
        s = TOWER(pipes, 2, orders[k], "sink");
        fill_tower(&s, (const double[]){ 0.5 }, (const double[]){ 0.9 });
        go(&s);
        near(s.h[9], 0.25, 1e-15, "half of the water");
        near(s.c[9], 0.9, 1e-14, "what is left");
        near(result(&s.r, "volume_left"), 0.25 * 4, 1e-14, "what the drain took");
        end(&s);
    }
}

/* ---------------------------------------------------------------------------------------- hexagons turned by 60
 * degrees */

enum { WIDTH = 40, MIDDLE = 20 };

/* Place of a cell on the lattice of hexagons turned by 60 degrees about the middle. */
static size_t turned(size_t at)
{
    const int i = (int)(at % WIDTH), j = (int)(at / WIDTH), q = i - (j - j % 2) / 2 - (MIDDLE - MIDDLE / 2),
              r = j - MIDDLE;
    const int to_q = -r, to_r = q + r, y = to_r + MIDDLE, x = to_q + (MIDDLE - MIDDLE / 2) + (y - (y & 1)) / 2;
    return x < 0 || y < 0 || x >= WIDTH || y >= WIDTH ? SIZE_MAX : (size_t)(y * WIDTH + x);
}

TEST(hexagons_turned_by_a_sixth)
{
    static const char text[] = HEAD "[grid]\ncells=[40,40]\nspacing=0.5\n[fluid]\nmanning=0.03\n[initial]\nkind='dry'\n"
                                    "[time]\ndt_max=0.01\ninterval=0.01\n[stop]\nsteps=3\n";
    for (int k = 0; k < 2; k++) {
        state a = PREPARE(text, orders[k]), b = PREPARE(text, orders[k]);
        double x[2], m[2], fastest = 0;
        place_of(&a, MIDDLE * WIDTH + MIDDLE, m);
        for (size_t at = 0; at < a.points; at++) {
            place_of(&a, at, x);
            const bool inside = hypot(x[0] - m[0], x[1] - m[1]) < 3.1;
            a.h[at] = !inside ? 1 : scatter(at, 3) < 0.1 ? 0 : 0.5 + scatter(at, 0);
            a.z[at] = inside ? 0.2 * scatter(at, 1) : 0;
            a.c[at] = inside && a.h[at] > 0 ? scatter(at, 2) - 0.5 : 0;
            a.c[at + a.points] = inside && a.h[at] > 0 ? scatter(at, 4) - 0.5 : 0;
            b.h[at] = 1;
        }
        for (size_t at = 0; at < a.points; at++) {
            const size_t to = turned(at);
            if (to == SIZE_MAX)
                continue;
            b.h[to] = a.h[at];
            b.z[to] = a.z[at];
            b.c[to] = 0.5 * a.c[at] - slant * a.c[at + a.points];
            b.c[to + a.points] = slant * a.c[at] + 0.5 * a.c[at + a.points];
        }
        go(&a);
        go(&b);
        for (size_t at = 0; at < a.points; at++) {
            const size_t to = turned(at);
            if (to == SIZE_MAX)
                continue;
            const double u = a.c[at], v = a.c[at + a.points];
            near(b.h[to], a.h[at], 1e-13, "depth turned by 60 degrees");
            near(b.c[to], 0.5 * u - slant * v, 1e-12, "velocity turned by 60 degrees");
            near(b.c[to + a.points], slant * u + 0.5 * v, 1e-12, "velocity turned by 60 degrees");
            fastest = fmax(fastest, hypot(u, v));
        }
        ck_assert_double_gt(fastest, 0.5);
        end(&a);
        end(&b);
    }
}

/* -------------------------------------------------------------------------------------------------- smooth exact flows
 */

/* Depth, velocity along the axis and across it, ground, at a place 0 ... 1 and a time; g = 1 m/s2. */
typedef void exact_flow(double x, double t, double f[4]);

/* Simple wave to the right, 5 % of its mean speed high, on a current: u - 2 c is the same everywhere, and u + c carries
 * each value of it (Stoker 1957). It breaks after 1.06 s. */
static void simple_wave(double x, double t, double f[4])
{
    double low = x - 3, high = x + 1;
    for (int i = 0; i < 60; i++) {
        const double from = 0.5 * (low + high), c = 1 + 0.05 * sin(2 * pi * from);
        *(from + (3 * c - 2 + 0.6) * t > x ? &high : &low) = from;
    }
    const double c = 1 + 0.05 * sin(2 * pi * low);
    f[0] = c * c;
    f[1] = 2 * (c - 1) + 0.6;
    f[2] = -0.3;
    f[3] = 0;
}

/* Velocity across a uniform flow is carried along. */
static void shear_wave(double x, double t, double f[4])
{
    f[0] = 1;
    f[1] = 0.6;
    f[2] = 0.3 * sin(2 * pi * (x - 0.6 * t));
    f[3] = 0;
}

/* Steady flow over ripples: q = 0.5 m2/s, energy head 1.125 m over the mean ground (Bernoulli). */
static void ripples(double x, double t, double f[4])
{
    const double q = 0.5, z = 0.05 * sin(2 * pi * x);
    double h = 1 - z;
    (void)t;
    for (int i = 0; i < 20; i++)
        h -= (q * q / (2 * h * h) + h + z - 1.125) / (1 - q * q / (h * h * h));
    f[0] = h;
    f[1] = q / h;
    f[2] = 0.25;
    f[3] = z;
}

typedef enum direction { ALONG_X, ALONG_Y, ASLANT } direction;

/* Mean errors of depth and both components after 0.3 s, of waves 1 m long on `n` cells; aslant the wave is the diagonal
 * of a field of n x n cells or so. */
static void errors_of(exact_flow *exact, int n, direction way, const char *kind, const char *order, double error[3],
                      double *spacing)
{
    char text[512];
    const double rows = strstr(kind, "hexagon") ? slant : 1; /* apart, in distances of the middles */
    const int nx = way == ALONG_Y ? 4 : n, ny = way == ALONG_X ? 4 : way == ALONG_Y ? n : 2 * (int)rint(n / rows / 2);
    const double per_x = way == ALONG_Y ? 0 : 1.0 / nx, per_y = way == ALONG_X ? 0 : 1 / (ny * rows);
    const double d = hypot(per_x, per_y), normal[2] = { per_x / d, per_y / d };
    snprintf(text, sizeof text,
             HEAD "[grid]\ncells=[%d,%d]\nspacing=%.17g\nperiodic_x=true\nperiodic_y=true\n[fluid]\ngravity=1\n"
                  "[initial]\nkind='dry'\n[time]\ndt_max=%.17g\ninterval=0.3\n[stop]\ntime=0.3\n",
             nx, ny, d, 0.12 * d);
    state s = PREPARE(text, kind, order);
    double x[2], f[4];
    for (size_t at = 0; at < s.points; at++) {
        place_of(&s, at, x);
        exact(x[0] * normal[0] + x[1] * normal[1], 0, f);
        s.h[at] = f[0];
        s.c[at] = f[1] * normal[0] - f[2] * normal[1];
        s.c[at + s.points] = f[1] * normal[1] + f[2] * normal[0];
        s.z[at] = f[3];
    }
    go(&s);
    error[0] = error[1] = error[2] = 0;
    for (size_t at = 0; at < s.points; at++) {
        const double u = s.c[at], v = s.c[at + s.points];
        place_of(&s, at, x);
        exact(x[0] * normal[0] + x[1] * normal[1], 0.3, f);
        error[0] += fabs(s.h[at] - f[0]) / (double)s.points;
        error[1] += fabs(u * normal[0] + v * normal[1] - f[1]) / (double)s.points;
        error[2] += fabs(v * normal[0] - u * normal[1] - f[2]) / (double)s.points;
    }
    *spacing = d;
    end(&s);
}

/* Of twice as many cells the errors together show the order, and each is below most d^order, d in parts of the wave:
 * what the schemes have on squares or aslant by 1.1 to 1.3, between half and all of that elsewhere. */
static void converge(exact_flow *exact, const double most[2][3])
{
    for (int k = 0; k < 12; k++) {
        double coarse[3], fine[3], d;
        const direction way = (direction)(k / 4);
        const int cells = way == ASLANT ? 32 : 48, order = 1 + k / 2 % 2;
        errors_of(exact, cells, way, kinds[k % 2], orders[order - 1], coarse, &d);
        errors_of(exact, 2 * cells, way, kinds[k % 2], orders[order - 1], fine, &d);
        for (int c = 0; c < 3; c++)
            near(fine[c] / pow(d, order), 0, most[order - 1][c], "error over that of the order");
        const double found = log2((coarse[0] + coarse[1] + coarse[2]) / (fine[0] + fine[1] + fine[2]));
        ck_assert_msg(found >= order - 0.1, "order %.2f instead of %d, %s, direction %d", found, order, kinds[k % 2],
                      (int)way);
    }
}

TEST(simple_waves_converge)
{
    static const double most[2][3] = { { 0.55, 0.55, 0.016 }, { 1.5, 1.5, 0.016 } };
    converge(simple_wave, most);
}

TEST(shear_waves_converge)
{
    static const double most[2][3] = { { 0.06, 0.08, 0.85 }, { 0.033, 0.047, 2.4 } };
    converge(shear_wave, most);
}

TEST(steady_flow_over_ripples_converges)
{
    static const double most[2][3] = { { 0.08, 0.07, 0.021 }, { 0.05, 0.05, 0.0085 } };
    converge(ripples, most);
}

/* MacDonald's channel far from its ends, where only the first order holds: 40 s after the exact flow was set, which
 * 5 m/s carry 200 m far. */
static double macdonald_error(int n)
{
    char text[512];
    snprintf(text, sizeof text,
             HEAD "[grid]\ncells=[%d,4]\nspacing=%.17g\nperiodic_y=true\n[fluid]\nmanning=0.033\n[bed]\n"
                  "kind='macdonald'\n[initial]\nkind='dry'\n[boundary.left]\nkind='inflow'\ndischarge=2\n"
                  "[boundary.right]\nkind='level'\nlevel=0.75\n[time]\ndt_max=%.17g\n[stop]\ntime=40\n",
             n, 1000.0 / n, 40.0 / n);
    state s = PREPARE(text, kinds[1], orders[1]);
    double x[2], error = 0, most = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t at = 0; at < s.points; at++) {
            place_of(&s, at, x);
            const double r = x[0] / 1000 - 0.5, h = cbrt(4 / g) * (1 + 0.5 * exp(-16 * r * r));
            if (pass == 0) {
                s.h[at] = h;
                s.c[at] = 2 / h;
            } else if (fabs(r) < 0.25) {
                error += fabs(s.h[at] - h) + fabs(s.h[at] * s.c[at] - 2);
                most++;
            }
        }
        if (pass == 0)
            go(&s);
    }
    end(&s);
    return error / most;
}

TEST(macdonalds_channel_is_of_second_order)
{
    const double coarse = macdonald_error(50), fine = macdonald_error(100);
    ck_assert_double_ge(log2(coarse / fine), 1.9);
    near(fine, 0, 2.5e-4, "depth and discharge together");
}

int main(void) { return bn_test_main("flood exact", open_folder, close_folder); }
