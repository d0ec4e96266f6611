/* test_flow_properties.c: what must hold for the solver `flow` whatever device and reference agree on: turned cases
 * give turned fields, exact solutions of the discrete equations in every direction, the steady state that Newton's
 * method finds, and the balance around a body in the stream. */
#include "support_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOTTOM, RIGHT, TOP, LEFT, SIDES }; /* counterclockwise: a quarter turn to the left adds one */
static const char *const side_names[SIDES] = { "bottom", "right", "top", "left" };

/* A case that can be turned. Speeds of walls are tangential, counterclockwise; a piece covers `from` to `to` of a side
 * counterclockwise, or all of it where to == 0. */
typedef struct piece {
    int side;
    const char *kind;
    double speed, temperature;
    bool heated; /* temperature is given */
    double from, to;
} piece;

typedef struct turnable {
    int nodes[2];
    double size[2];
    const char *more;          /* the rest of the case */
    double centre[2], body[2]; /* of a rectangle; body[0] == 0: none */
    piece piece[6];            /* ends with kind == NULL */
} turnable;

static void write_case(const turnable *c, int turns, char *text, size_t room)
{
    const bool across = turns % 2;
    const double *l = c->size;
    const double places[4][2] = { { c->centre[0], c->centre[1] },
                                  { l[1] - c->centre[1], c->centre[0] },
                                  { l[0] - c->centre[0], l[1] - c->centre[1] },
                                  { c->centre[1], l[0] - c->centre[0] } };
    size_t at = (size_t)snprintf(text, room,
                                 "[case]\nsolver = \"flow\"\nprecision = \"double\"\n%s[grid]\nnodes = [%d, %d]\n"
                                 "size = [%.17g, %.17g]\n",
                                 c->more, c->nodes[across], c->nodes[!across], l[across], l[!across]);
    if (c->body[0] > 0)
        at += (size_t)snprintf(text + at, room - at,
                               "[obstacle]\nshape = \"rectangle\"\ncentre = [%.17g, %.17g]\nsize = [%.17g, %.17g]\n",
                               places[turns][0], places[turns][1], c->body[across], c->body[!across]);
    for (const piece *p = c->piece; p->kind; p++) {
        const int side = (p->side + turns) % SIDES;
        const bool wall = strcmp(p->kind, "wall") == 0, rising = side == BOTTOM || side == RIGHT;
        const double length = l[p->side == LEFT || p->side == RIGHT];
        if (p->to > 0)
            at += (size_t)snprintf(text + at, room - at,
                                   "[[boundary.segment]]\nside = \"%s\"\nfrom = %.17g\nto = %.17g\n", side_names[side],
                                   rising ? p->from : length - p->to, rising ? p->to : length - p->from);
        else
            at += (size_t)snprintf(text + at, room - at, "[boundary.%s]\n", side_names[side]);
        const bool inflow = strncmp(p->kind, "inflow", 6) == 0; /* a second key may stand behind it */
        at += (size_t)snprintf(text + at, room - at, "kind = \"%s\"\n", p->kind);
        if (wall || inflow)
            at += (size_t)snprintf(text + at, room - at, "speed = %.17g\n", wall && !rising ? -p->speed : p->speed);
        if (p->heated)
            at += (size_t)snprintf(text + at, room - at, "%stemperature = %.17g\n", inflow ? "" : "heat = \"given\"\n",
                                   p->temperature);
    }
    ck_assert(at < room);
}

/* A quarter turn to the left of nx * ny values, in place; the turned field has ny values in a row. */
static void turn(double *f, int nx, int ny, double *scratch)
{
    memcpy(scratch, f, (size_t)nx * (size_t)ny * sizeof *f);
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++)
            f[i * ny + ny - 1 - j] = scratch[j * nx + i];
}

/* psi (from its value in the corner that the origin becomes), omega, u, v and, with heat, T, as nx * ny values each. */
enum { PSI, OMEGA, U, V, HEAT, FIELDS };
typedef struct fields {
    int n[2];
    double *f[FIELDS];
} fields;

static fields read_fields(const run *r, int nx, int ny, bool heat)
{
    const size_t count = (size_t)nx * (size_t)ny;
    fields out = { { nx, ny }, { field(r, "psi", NULL), field(r, "omega", NULL), field(r, "velocity", NULL) } };
    out.f[V] = malloc(count * sizeof(double));
    out.f[HEAT] = heat ? field(r, "temperature", NULL) : calloc(count, sizeof(double));
    ck_assert(out.f[V] && out.f[HEAT]);
    memcpy(out.f[V], out.f[U] + count, count * sizeof(double));
    return out;
}

static void turn_fields(fields *s)
{
    double *scratch = malloc((size_t)s->n[0] * (size_t)s->n[1] * sizeof *scratch);
    ck_assert(scratch);
    for (int k = 0; k < FIELDS; k++)
        turn(s->f[k], s->n[0], s->n[1], scratch);
    free(scratch);
    double *const u = s->f[U];
    s->f[U] = s->f[V];
    s->f[V] = u;
    const int nx = s->n[1], ny = s->n[0];
    for (int at = 0; at < nx * ny; at++)
        s->f[U][at] = -s->f[U][at];
    s->n[0] = nx;
    s->n[1] = ny;
}

static void free_fields(fields *s)
{
    for (int k = 0; k < FIELDS; k++)
        free(s->f[k]);
}

static void compare(const fields *a, const fields *b, double allowed, const char *what)
{
    static const char *const names[FIELDS] = { "psi", "omega", "u", "v", "T" };
    for (int k = 0; k < FIELDS; k++) {
        double most = 0, worst = 0;
        for (int at = 0; at < a->n[0] * a->n[1]; at++) {
            const double shift = k == PSI ? a->f[k][0] - b->f[k][0] : 0;
            most = fmax(most, fabs(b->f[k][at]));
            worst = fmax(worst, fabs(a->f[k][at] - b->f[k][at] - shift));
        }
        ck_assert_msg(worst <= allowed * fmax(most, 1), "%s: %s differs by %g of %g", what, names[k], worst, most);
    }
}

/* Runs the case in all four orientations. `expected`: the fields as they are not turned; NULL: those of the first run.
 */
static void check_turns(const turnable *c, const char *name, fields *expected, double allowed)
{
    fields first = { 0 };
    const bool heat = strstr(c->more, "diffusivity") != NULL;
    for (int turns = 0; turns < 4; turns++) {
        char text[4096], what[128];
        write_case(c, turns, text, sizeof text);
        snprintf(what, sizeof what, "%s, %d quarter turns", name, turns);
        run r = RUN(text, NULL, "solver.cg_forcing=0", "solver.cg_tolerance=1e-13");
        fields here = read_fields(&r, c->nodes[turns % 2], c->nodes[(turns + 1) % 2], heat);
        if (turns == 0 && !expected) {
            first = here;
        } else {
            fields *const base = expected ? expected : &first;
            if (turns > 0)
                turn_fields(base);
            compare(&here, base, allowed, what);
            free_fields(&here);
        }
        end_run(&r);
    }
    if (!expected)
        free_fields(&first);
}

/* --- turned cases --- */

#define STILL "[fluid]\nviscosity = 0.05\ndiffusivity = 0.03\n[stop]\nsteps = 25\n"

/* Moving walls on all sides and heat through two, a body beside the middle; h differs between x and y. Differences are
 * rounding, grown over 25 steps. */
TEST(moving_walls_turn_with_the_box)
{
    turnable box = { .nodes = { 25, 17 },
                     .size = { 1.2, 1 },
                     .centre = { 0.5, 0.5625 },
                     .body = { 0.2, 0.25 },
                     .piece = { { BOTTOM, "wall", 0.2, 0, false, 0, 0 },
                                { RIGHT, "wall", -0.4, 1, true, 0, 0 },
                                { TOP, "wall", -1, 0, false, 0, 0 },
                                { LEFT, "wall", 0.6, 0, true, 0, 0 } } };
    box.more = STILL "[solver]\nwall_vorticity = \"thom\"\nconvection = \"conservative\"\n";
    check_turns(&box, "moving walls, Thom, conservative", NULL, 2.5e-15);
    box.more = STILL "[solver]\nwall_vorticity = \"woods\"\nconvection = \"upwind\"\n";
    check_turns(&box, "moving walls, Woods, upwind", NULL, 2.5e-15);
}

/* Inflow and outflow, slip, a segment that is heated. */
TEST(streams_turn_with_the_box)
{
    turnable stream = { .nodes = { 25, 17 },
                        .size = { 1.8, 1 },
                        .centre = { 0.9, 0.4375 },
                        .body = { 0.25, 0.25 },
                        .piece = { { BOTTOM, "slip", 0, 0, false, 0, 0 },
                                   { RIGHT, "outflow", 0, 0, false, 0, 0 },
                                   { TOP, "wall", 0, 0, false, 0, 0 },
                                   { LEFT, "wall", 0, 0, false, 0, 0 },
                                   { LEFT, "inflow", 1, 0.5, true, 0.25, 0.75 },
                                   { 0 } } };
    for (int central = 0; central < 2; central++) {
        stream.more = central ? STILL "[solver]\nconvection = \"central\"\n"
                              : STILL "[solver]\nconvection = \"conservative\"\n";
        check_turns(&stream, central ? "a stream, central" : "a stream, conservative", NULL, 4e-14);
    }
    stream.piece[5] = (piece){ TOP, "wall", 0.5, 1, true, 0.3, 0.9 };
    turnable more = stream;
    more.piece[3] = (piece){ LEFT, "inflow", 1, 0.5, true, 0, 0 };
    more.piece[4] = (piece){ 0 };
    more.more = STILL "[solver]\nconvection = \"upwind\"\nwall_vorticity = \"woods\"\n";
    check_turns(&more, "an inflow through a whole side, upwind", NULL, 4e-14);
}

/* Segments that cover their sides are the sides: inflow, outflow, slip and a moving wall of given temperature, on every
 * side. */
TEST(segments_over_whole_sides_are_the_sides)
{
    turnable whole = { .nodes = { 17, 12 },
                       .size = { 1.2, 1 },
                       .more = STILL,
                       .piece = { { BOTTOM, "slip", 0, 0, false, 0, 0 },
                                  { RIGHT, "outflow", 0, 0, false, 0, 0 },
                                  { TOP, "wall", 0.5, 1, true, 0, 0 },
                                  { LEFT, "inflow", 1, 0.5, true, 0, 0 } } };
    for (int turns = 0; turns < 4; turns++) {
        fields f[2];
        for (int k = 0; k < 2; k++) {
            turnable c = whole;
            char text[4096];
            for (int p = 0; p < 4; p++)
                c.piece[p].to = k ? c.size[c.piece[p].side == LEFT || c.piece[p].side == RIGHT] : 0;
            write_case(&c, turns, text, sizeof text);
            if (k)
                strcat(text, "[boundary.top]\nspeed = 0\n");
            run r = RUN(text, NULL, "stop.steps=5", "solver.cg_forcing=0", "solver.cg_tolerance=1e-13");
            f[k] = read_fields(&r, c.nodes[turns % 2], c.nodes[(turns + 1) % 2], true);
            end_run(&r);
        }
        compare(&f[1], &f[0], 1e-14, "segments in place of sides");
        free_fields(&f[0]);
        free_fields(&f[1]);
    }
}

/* --- exact solutions in every direction --- */

static fields make_fields(const turnable *c)
{
    fields out = { { c->nodes[0], c->nodes[1] }, { 0 } };
    for (int k = 0; k < FIELDS; k++)
        ck_assert((out.f[k] = calloc((size_t)c->nodes[0] * (size_t)c->nodes[1], sizeof(double))) != NULL);
    return out;
}

/* Woods' formula is exact for a cubic psi: from rest the flow becomes psi = 3 eta^2 - 2 eta^3 at every node. */
TEST(poiseuille_flow_is_exact_from_every_side)
{
    const turnable channel = { .nodes = { 17, 9 },
                               .size = { 2, 1 },
                               .more = "[fluid]\nviscosity = 0.5\n[solver]\nwall_vorticity = \"woods\"\n"
                                       "steady_tolerance = 1e-10\n[stop]\nsteps = 5000\n",
                               .piece = { { BOTTOM, "wall", 0, 0, false, 0, 0 },
                                          { RIGHT, "outflow", 0, 0, false, 0, 0 },
                                          { TOP, "wall", 0, 0, false, 0, 0 },
                                          { LEFT, "inflow", 1, 0, false, 0, 0 } } };
    fields exact = make_fields(&channel);
    for (int j = 0; j < 9; j++)
        for (int i = 0; i < 17; i++) {
            const double eta = j / 8.0;
            const int at = j * 17 + i;
            exact.f[PSI][at] = eta * eta * (3 - 2 * eta);
            exact.f[U][at] = j % 8 != 0 && (i == 0 || i == 16) ? 6 * eta * (1 - eta) : 0;
            /* Corners have no vorticity. Inside u is psi's central difference: 6 eta (1 - eta) - 2 h^2. */
            exact.f[OMEGA][at] = i % 16 != 0 || j % 8 != 0 ? -6 * (1 - 2 * eta) : 0;
            if (j % 8 != 0 && i > 0)
                exact.f[U][at] = 6 * eta * (1 - eta) - 2.0 / 64;
        }
    check_turns(&channel, "Poiseuille flow", &exact, 2e-11);
    free_fields(&exact);
}

/* In a uniform stream between two temperatures upwind differences give T_i = (r^i - 1) / (r^N - 1) with r = 1 + U h /
 * a, central ones the same with r = (1 + U h / 2 a) / (1 - U h / 2 a). */
TEST(heat_in_a_uniform_stream_is_exact_from_every_side)
{
    for (int upwind = 0; upwind < 2; upwind++) {
        turnable stream = { .nodes = { 17, 6 },
                            .size = { 1, 0.5 },
                            .piece = { { BOTTOM, "slip", 0, 0, false, 0, 0 },
                                       { RIGHT, "inflow", -1, 1, true, 0, 0 },
                                       { TOP, "slip", 0, 0, false, 0, 0 },
                                       { LEFT, "inflow", 1, 0, true, 0, 0 } } };
        char more[512];
        for (int side = 0; side < SIDES; side++)
            if (side == RIGHT || side == LEFT)
                stream.piece[side].kind = "inflow\"\nprofile = \"uniform"; /* a second key in the text */
        snprintf(more, sizeof more,
                 "[fluid]\nviscosity = 0.1\ndiffusivity = 0.1\n[solver]\nconvection = \"%s\"\n[stop]\nsteps = 200\n",
                 upwind ? "upwind" : "central");
        stream.more = more;
        fields exact = make_fields(&stream);
        const double cell = 1.0 / 16 / 0.1, r = upwind ? 1 + cell : (1 + cell / 2) / (1 - cell / 2);
        for (int j = 0; j < 6; j++)
            for (int i = 0; i < 17; i++) {
                exact.f[PSI][j * 17 + i] = 0.1 * j;
                exact.f[U][j * 17 + i] = 1;
                exact.f[HEAT][j * 17 + i] = (pow(r, i) - 1) / (pow(r, 16) - 1);
            }
        check_turns(&stream, upwind ? "heat in a stream, upwind" : "heat in a stream, central", &exact, 1.5e-13);
        free_fields(&exact);
    }
}

/* Column i of 0 ... n of a mode in a uniform stream, 1 at the inflow: a sum of two powers that meets the row of the
 * outflow, (2 + p + m) f_n = (2 + p) f_n-1. p: U h / a; m: h^2 times the mode's eigenvalue across the stream. */
static double stream_mode(int i, int n, double p, double m, bool upwind)
{
    const double square = upwind ? 1 : 1 - 0.5 * p, half = 0.5 * (2 + m + (upwind ? p : 0)),
                 constant = upwind ? 1 + p : 1 + 0.5 * p, root = sqrt(half * half - square * constant);
    double f = 0, left[2], r[2] = { (half - root) / square, (half + root) / square };
    for (int k = 0; k < 2; k++)
        left[k] = pow(r[k], n - 1) * ((2 + p + m) * r[k] - (2 + p));
    for (int k = 0; k < 2; k++)
        f += left[!k] / (left[!k] - left[k]) * pow(r[k], i);
    return f;
}

/* Temperature in a uniform stream between slip sides of given temperatures, from the values at the inflow: sine modes
 * of the difference to the linear profile. */
static void stream_temperature(double *T, int nx, int ny, double cell, bool upwind, const double *inflow, double bottom)
{
    const double pi = 3.14159265358979323846, n = ny - 1;
    for (int at = 0; at < nx * ny; at++)
        T[at] = bottom + (1 - bottom) * (at / nx) / n;
    for (int k = 1; k < ny - 1; k++) {
        const double wave = k * pi / n, s = sin(0.5 * wave);
        double c = 0;
        for (int j = 1; j < ny - 1; j++)
            c += 2 / n * sin(wave * j) * (inflow[j] - bottom - (1 - bottom) * j / n);
        for (int i = 0; i < nx; i++)
            for (int j = 1; j < ny - 1; j++)
                T[j * nx + i] += c * stream_mode(i, nx - 1, cell, 4 * s * s, upwind) * sin(wave * j);
    }
}

enum { STREAM_NX = 17, STREAM_NY = 9 };
static const double stream_h = 0.125, stream_a = 0.25; /* U h / a = 1/2 */

/* A uniform stream from left to right, steady to the last digits after 400 steps. */
static turnable uniform_stream(bool upwind, double bottom, char more[512])
{
    snprintf(more, 512,
             "[fluid]\nviscosity = 0.5\ndiffusivity = 0.25\n[time]\ndt = 0.08\n[solver]\nconvection = \"%s\"\n"
             "[stop]\nsteps = 400\n",
             upwind ? "upwind" : "central");
    return (turnable){ .nodes = { STREAM_NX, STREAM_NY },
                       .size = { 2, 1 },
                       .more = more,
                       .piece = { { BOTTOM, "slip", 0, bottom, true, 0, 0 },
                                  { RIGHT, "outflow", 0, 0, false, 0, 0 },
                                  { TOP, "slip", 0, 1, true, 0, 0 },
                                  { LEFT, "inflow\"\nprofile = \"uniform", 1, 0, true, 0, 0 } } };
}

static fields uniform_fields(const turnable *c)
{
    fields exact = make_fields(c);
    for (int j = 0; j < STREAM_NY; j++)
        for (int i = 0; i < STREAM_NX; i++) {
            exact.f[PSI][j * STREAM_NX + i] = stream_h * j;
            exact.f[U][j * STREAM_NX + i] = i < STREAM_NX - 1 || j % (STREAM_NY - 1) != 0; /* not in its corners */
        }
    return exact;
}

/* Cold fluid between hot slip sides, up to the outflow and through it; the Nusselt number and the mean temperature at
 * the end are those of the exact values, with the gradient at a wall by three nodes. */
TEST(heat_from_walls_leaves_with_the_stream_exactly)
{
    static const double cold[STREAM_NY] = { 0 };
    char more[512], text[2048];
    for (int upwind = 0; upwind < 2; upwind++) {
        const turnable stream = uniform_stream(upwind, 1, more);
        fields exact = uniform_fields(&stream);
        double *const T = exact.f[HEAT], *const out = T + STREAM_NX - 1, mean = 0, bulk = 1.0 / 8;
        stream_temperature(T, STREAM_NX, STREAM_NY, stream_h / stream_a, upwind, cold, 1);
        T[0] = T[(STREAM_NY - 1) * STREAM_NX] = 0.5; /* in corners the mean of both sides */
        for (int j = 1; j < STREAM_NY - 1; j++) {
            mean += out[j * STREAM_NX] / 7;
            bulk += out[j * STREAM_NX - 1] / 8;
        }
        const double wall = (3 - 4 * out[STREAM_NX - 1] + out[2 * STREAM_NX - 1]) / (2 * stream_h);
        write_case(&stream, 0, text, sizeof text);
        run r = RUN(text, NULL, "solver.cg_forcing=0", "solver.cg_tolerance=1e-13");
        near(result(&r, "nusselt_channel"), 2 * wall / (1 - bulk), 3e-12, "at nine tenths of the length");
        near(result(&r, "temperature_bulk_out"), mean, 2e-15, "over the nodes in the stream");
        near(result(&r, "temperature_min"), 0, 0, "of the inflow");
        near(result(&r, "temperature_max"), 1, 1e-14, "of the walls");
        end_run(&r);
        check_turns(&stream, upwind ? "hot walls, upwind" : "hot walls, central", &exact, 2.5e-14);
        free_fields(&exact);
    }
}

/* Two streams side by side; the node where their inflows meet belongs to the second. */
TEST(two_streams_mix_exactly)
{
    static const double inflow[STREAM_NY] = { 0, 0, 0, 0, 1, 1, 1, 1, 1 };
    char more[512];
    for (int upwind = 0; upwind < 2; upwind++) {
        turnable stream = uniform_stream(upwind, 0, more);
        stream.piece[3] = (piece){ LEFT, "inflow\"\nprofile = \"uniform", 1, 0, true, 0.5, 1 }; /* counterclockwise */
        stream.piece[4] = (piece){ LEFT, "inflow\"\nprofile = \"uniform", 1, 1, true, 0, 0.5 };
        fields exact = uniform_fields(&stream);
        stream_temperature(exact.f[HEAT], STREAM_NX, STREAM_NY, stream_h / stream_a, upwind, inflow, 0);
        char text[2048];
        write_case(&stream, 0, text, sizeof text);
        run r = RUN(text, NULL, "solver.cg_forcing=0", "solver.cg_tolerance=1e-13");
        fields here = read_fields(&r, STREAM_NX, STREAM_NY, true);
        compare(&here, &exact, 2e-14, upwind ? "two streams, upwind" : "two streams, central");
        free_fields(&here);
        free_fields(&exact);
        end_run(&r);
    }
}

/* Before the first step psi is that of a stream without vorticity. */
TEST(a_stream_starts_as_potential_flow)
{
    char more[512], text[2048];
    const turnable stream = uniform_stream(false, 0, more);
    run r = { 0 };
    write_case(&stream, 0, text, sizeof text);
    OK(bn_case_parse(ctx, "stream", text, NULL, 0, &r.config));
    OK(bn_sim_create(ctx, r.config, &(bn_sim_desc){ 0 }, &r.sim));
    double *psi = field(&r, "psi", NULL);
    for (int at = 0; at < STREAM_NX * STREAM_NY; at++)
        near(psi[at], stream_h * (at / STREAM_NX), 1e-14, "psi of a uniform stream");
    free(psi);
    end_run(&r);
}

/* Far from the inflow of a vertical channel between walls of temperatures 1 and 0 T is linear, omega_xx = -C T_x / nu,
 * and psi, of the fourth degree in z = x - 1/2, follows from the wall formula with coefficient k / h^2 and share q of
 * the next node's vorticity: an even part from buoyancy, omega = w z^2 + e, and an odd one, omega = b z, from the flux
 * upwards. */
TEST(warm_wall_lifts_the_stream_beside_it)
{
    enum { N = 8, NY = 65 };
    static const char text[] =
        "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [9, 65]\nsize = [1, 8]\n[fluid]\n"
        "viscosity = 0.5\ndiffusivity = 0.4\nbuoyancy = 25\n[boundary.left]\nheat = \"given\"\ntemperature = 1\n"
        "[boundary.right]\nheat = \"given\"\n[boundary.bottom]\nkind = \"inflow\"\nspeed = 1\ntemperature = 0.5\n"
        "[boundary.top]\nkind = \"outflow\"\n[solver]\nsteady_tolerance = 1e-10\n[stop]\nsteps = 4000\n";
    for (int woods = 0; woods < 2; woods++) {
        const double h = 1.0 / N, k = woods ? 3 : 2, q = woods ? 0.5 : 0, s = 0.5 - h, w = 25 / (2 * 0.5);
        const double fourth = (s * s * s * s - 1.0 / 16) / 12, second = (s * s - 0.25) / 2;
        const double e = (-w / 4 - q * w * s * s + k / (h * h) * w * (fourth - h * h / 6 * second)) /
                         (1 + q - k / (h * h) * second);
        /* -b/2 = -k/h^2 (psi_1 - 1/2) + q b s, psi_odd = -b z^3 / 6 + (b / 24 - 1) z at z = -s */
        const double b = k / (h * h) * (s - 0.5) / (0.5 + q * s - k / (h * h) * (s * s * s / 6 - s / 24));
        run r = RUN(text, NULL, woods ? "solver.wall_vorticity=woods" : "solver.wall_vorticity=thom");
        ck_assert(bn_sim_now(r.sim).converged);
        double *psi = field(&r, "psi", NULL), *omega = field(&r, "omega", NULL), *T = field(&r, "temperature", NULL);
        for (int i = 0; i <= N; i++) {
            const double z = i * h - 0.5, z2 = z * z;
            const int row = (NY - (i == 0 || i == N ? 2 : 1)) * (N + 1) + i; /* corners have no vorticity */
            const double even = -w * (z2 * z2 - 1.0 / 16) / 12 - (e - w * h * h / 6) * (z2 - 0.25) / 2;
            near(T[row], 1 - i * h, 1e-7, "linear between the walls");
            near(omega[row], w * z2 + e + b * z, 4e-7, "omega of mixed convection");
            near(psi[row], even - b * z * z2 / 6 + (b / 24 - 1) * z - 0.5, 6e-9, "psi of mixed convection");
        }
        free(psi);
        free(omega);
        free(T);
        end_run(&r);
    }
}

/* --- the scheme's own steady state --- */

static const char cavity_case[] =
    "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [33, 33]\n[fluid]\nviscosity = 0.01\n"
    "[solver]\nsteady_tolerance = 1e-9\n[stop]\nsteps = 20000\n";

/* The lid-driven cavity at Re 100 on 33 x 33 nodes by Newton's method on the discrete equations, programmed apart from
 * this one. What is left of the slowest change is twice the residual. */
TEST(cavity_is_the_steady_state_of_the_scheme)
{
    static const struct {
        const char *wall, *convection;
        double psi_min, x, y, u_min, v_min, v_max;
    } newton[] = {
        { "solver.wall_vorticity=thom", "solver.convection=central", -0.100435799, 0.621416932, 0.742631665,
          -0.204173693, -0.238380125, 0.168309930 },
        { "solver.wall_vorticity=woods", "solver.convection=central", -0.101012806, 0.619815028, 0.741751537,
          -0.205771429, -0.240581696, 0.170473040 },
        { NULL, "solver.convection=conservative", -0.102773860, 0.615579345, 0.738009303, -0.209851290, -0.250340670,
          0.176889557 },
    };
    for (size_t w = 0; w < sizeof newton / sizeof *newton; w++) {
        run r = RUN(cavity_case, NULL, newton[w].convection, newton[w].wall);
        ck_assert(bn_sim_now(r.sim).converged);
        near(result(&r, "psi_min"), newton[w].psi_min, 1.3e-9, "psi_min by Newton's method");
        near(result(&r, "psi_min_x"), newton[w].x, 4e-9, "its place");
        near(result(&r, "psi_min_y"), newton[w].y, 4e-9, "its place");
        near(result(&r, "u_min"), newton[w].u_min, 3e-9, "u_min");
        near(result(&r, "v_min"), newton[w].v_min, 6e-9, "v_min");
        near(result(&r, "v_max"), newton[w].v_max, 7e-9, "v_max");
        end_run(&r);
    }
}

/* The residual of a temperature that decays as half waves between insulated sides: a lambda_h rms(T) over the
 * amplitude, times size^2 / a. */
TEST(residual_of_heat_is_that_of_its_steady_equation)
{
    static const char text[] =
        "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [17, 17]\n[fluid]\nviscosity = 0.01\n"
        "diffusivity = 0.02\n[boundary.top]\nspeed = 0\n[initial]\nheat = \"cosine\"\nheat_amplitude = 3\n"
        "[time]\ndt = 0.1\n[solver]\ncg_forcing = 0\ncg_tolerance = 1e-13\n[stop]\nsteps = 4\n";
    const double pi = 3.14159265358979323846, h = 1.0 / 16, s = sin(0.5 * pi * h), lambda = 8 / (h * h) * s * s;
    double square = 0;
    for (int i = 0; i < 17; i++)
        square += cos(pi * i * h) * cos(pi * i * h) / 17;
    run r = RUN(text, NULL, NULL);
    near(bn_sim_now(r.sim).residual / (lambda * square * pow(1 + 0.1 * 0.02 * lambda, -4)), 1, 6e-15,
         "a lambda_h size^2 / a");
    end_run(&r);
}

/* A warm stream past a hot body with a moving, heated wall, slip and an outflow becomes steady: at every kind of node
 * the residual vanishes where the step no longer changes anything. */
TEST(the_residual_vanishes_at_every_kind_of_node)
{
    turnable stream = { .nodes = { 25, 17 },
                        .size = { 1.5, 1 },
                        .centre = { 0.75, 0.4375 },
                        .body = { 0.25, 0.25 },
                        .more = "[fluid]\nviscosity = 0.2\ndiffusivity = 0.1\nbuoyancy = 0.5\n[solver]\n"
                                "steady_tolerance = 1e-9\n[stop]\nsteps = 5000\n",
                        .piece = { { BOTTOM, "slip", 0, 0, false, 0, 0 },
                                   { RIGHT, "outflow", 0, 0, false, 0, 0 },
                                   { TOP, "wall", 0.5, 1, true, 0, 0 },
                                   { LEFT, "inflow", 1, 0.5, true, 0, 0 } } };
    for (int turns = 0; turns < 4; turns++) {
        char text[4096];
        write_case(&stream, turns, text, sizeof text);
        run r = RUN(text, NULL, "obstacle.heat=given", "obstacle.temperature=2");
        ck_assert_msg(bn_sim_now(r.sim).converged, "%d quarter turns: residual %g", turns, bn_sim_now(r.sim).residual);
        end_run(&r);
    }
}

/* --- the balance around a body --- */

/* The pressure around an insulated body in a buoyant flow is single-valued: nu (integral of omega_n) + C (integral of T
 * t_y) = 0, with Thom's omega at the surface face by face, and h_x unlike h_y. */
TEST(pressure_around_a_buoyant_body_is_single_valued)
{
    enum { NX = 25, NY = 33, I0 = 8, I1 = 13, J0 = 14, J1 = 20 };
    static const char text[] =
        "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [25, 33]\n[fluid]\nviscosity = 0.71\n"
        "diffusivity = 1\nbuoyancy = 2000\n[boundary.left]\nheat = \"given\"\ntemperature = 1\n[boundary.right]\n"
        "heat = \"given\"\n[boundary.top]\nspeed = 0\n[obstacle]\nshape = \"rectangle\"\ncentre = [0.4375, 0.53125]\n"
        "size = [0.21, 0.19]\n[solver]\nwall_vorticity = \"thom\"\ncg_forcing = 0\ncg_tolerance = 1e-12\n[stop]\nsteps "
        "= 60\n";
    run r = RUN(text, NULL, NULL);
    double *psi = field(&r, "psi", NULL), *omega = field(&r, "omega", NULL), *T = field(&r, "temperature", NULL);
    const double hx = 1.0 / (NX - 1), hy = 1.0 / (NY - 1), c = psi[J0 * NX + I0];
    double turning = 0, heat = 0, size = 0;
    near(psi[J1 * NX + I1], c, 0, "the body's nodes are those of the rectangle");
    ck_assert(psi[J1 * NX + I1 + 1] != c && psi[J0 * NX + I0 - 1] != c && psi[(J1 + 1) * NX + I1] != c);
    for (int j = J0; j <= J1; j++)
        for (int right = 0; right < 2; right++) {
            const int wall = j * NX + (right ? I1 : I0), fluid = wall + (right ? 1 : -1);
            const double part = (omega[fluid] + 2 * (psi[fluid] - c) / (hx * hx)) / hx * hy;
            turning += part;
            size += fabs(part);
            heat += (right ? hy : -hy) * T[wall];
        }
    for (int i = I0; i <= I1; i++)
        for (int top = 0; top < 2; top++) {
            const int wall = (top ? J1 : J0) * NX + i, fluid = wall + (top ? NX : -NX);
            const double part = (omega[fluid] + 2 * (psi[fluid] - c) / (hy * hy)) / hy * hx;
            turning += part;
            size += fabs(part);
        }
    ck_assert_msg(fabs(2000 * heat) > 1e-3 * 0.71 * size, "buoyancy %g has a part in %g", 2000 * heat, 0.71 * size);
    near((0.71 * turning + 2000 * heat) / (0.71 * size), 0, 3.5e-14,
         "nu (integral of omega_n) + C (integral of T t_y)");
    free(psi);
    free(omega);
    free(T);
    end_run(&r);
}

int main(void) { return bn_test_main("flow properties", open_context, close_context); }
