/* test_flow_equations.c: one step of the solver `flow` against the equations of docs/flow.md, node by node and term by
 * term. They are written here once more, by cells and their faces, for one case that has every kind of border,
 * segments, obstacles from a picture and from a shape, heat and buoyancy, with h_x unlike h_y. */
#include "support_case.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NX = 23, NY = 19, POINTS = NX * NY };
static const double hx = 0.1, hy = 0.07, nu = 0.2, a = 0.15, buoyancy = 0.8, dt = 0.015, theta = 0.6;
static const double inflow_from = 4 * 0.07, inflow_length = 9 * 0.07, start_temperature = 0.25, body_temperature = 4;
static const double pi = 3.14159265358979323846, largest_drop = 3 - 0.25 + 1; /* the last: of the wave at the start */

static const char stream_case[] =
    "[case]\nsolver = \"flow\"\nprecision = \"double\"\n[grid]\nnodes = [23, 19]\nsize = [2.2, 1.26]\n"
    "[fluid]\nviscosity = 0.2\ndiffusivity = 0.15\nbuoyancy = 0.8\n[initial]\ntemperature = 0.25\nheat = \"cosine\"\n"
    "[boundary.left]\nspeed = -0.2\nheat = \"given\"\ntemperature = 1\n"
    "[boundary.right]\nkind = \"outflow\"\n[boundary.bottom]\nkind = \"slip\"\n"
    "[boundary.top]\nspeed = 0.7\nheat = \"given\"\ntemperature = 2\n"
    "[[boundary.segment]]\nside = \"left\"\nfrom = 0.28\nto = 0.91\nkind = \"inflow\"\nspeed = 1\ntemperature = 0.5\n"
    "[[boundary.segment]]\nside = \"bottom\"\nfrom = 0.6\nto = 1.4\nspeed = -0.4\nheat = \"given\"\n"
    "temperature = 1.5\n"
    "[[boundary.segment]]\nside = \"top\"\nfrom = 0\nto = 0.5\nspeed = 0.1\nheat = \"given\"\ntemperature = 3\n"
    "[time]\ndt = 0.015\n[solver]\ncg_forcing = 0\ncg_tolerance = 1e-13\nwall_relaxation = 0.6\n";

/* What changes from run to run. */
typedef struct options {
    enum { CENTRAL, UPWIND, CONSERVATIVE } convection;
    bool woods, bodies, heated; /* heated: the temperature of obstacles is given */
    bool iterated;              /* psi by multigrid, where the direct solver would take the obstacles */
} options;

/* Body 1 and the bump on the top, 3, are in the picture, body 2 is the shape; the picture has a line that is thinner
 * than a cell and must be dropped. */
static int body_at(const options *o, int i, int j)
{
    return !o->bodies                                ? 0
           : i >= 9 && i <= 12 && j >= 8 && j <= 11  ? 1
           : i >= 17 && i <= 19 && j >= 4 && j <= 7  ? 2
           : i >= 15 && i <= 17 && j >= 15 && j < NY ? 3
                                                     : 0;
}

static void write_picture(const options *o, const char *path)
{
    unsigned char pixels[NY][NX];
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            const int body = body_at(o, i, j);
            pixels[NY - 1 - j][i] = body == 1 || body == 3 || (i == 3 && j > 1 && j < 6) ? 100 : 200;
        }
    png_image picture = { .version = PNG_IMAGE_VERSION, .width = NX, .height = NY, .format = PNG_FORMAT_GRAY };
    ck_assert_msg(png_image_write_to_file(&picture, path, 0, pixels, 0, NULL), "%s: %s", path, picture.message);
}

typedef enum kind { INSIDE, SOLID, CORNER, WALL, SLIP, INFLOW, OUTFLOW } kind;

static kind kind_at(const options *o, int i, int j)
{
    const bool x = i == 0 || i == NX - 1, y = j == 0 || j == NY - 1;
    return body_at(o, i, j) ? SOLID
           : x && y         ? CORNER
           : i == 0         ? (j > 4 && j < 13 ? INFLOW : WALL)
           : i == NX - 1    ? OUTFLOW
           : j == 0         ? (i > 6 && i < 14 ? WALL : SLIP)
           : j == NY - 1    ? WALL
                            : INSIDE;
}

/* Whether the temperature is given at a node; where two sides give one, their mean. */
static bool heat_given(const options *o, int i, int j, double *value)
{
    double sum = 0;
    int count = 0;
    if (i == 0)
        sum += j > 4 && j < 13 ? 0.5 : 1, count++;
    if (j == NY - 1)
        sum += i < 5 ? 3 : 2, count++;
    if (j == 0 && i > 6 && i < 14)
        sum += 1.5, count++;
    if (count == 0 && o->heated && body_at(o, i, j))
        sum = body_temperature, count = 1;
    *value = sum / (count ? count : 1);
    return count > 0;
}

typedef struct fields {
    double *psi, *omega, *u, *v, *T;
} fields;

static fields read_fields(const run *r)
{
    fields f = { field(r, "psi", NULL), field(r, "omega", NULL), field(r, "velocity", NULL), NULL,
                 field(r, "temperature", NULL) };
    f.v = f.u + POINTS;
    return f;
}

static void free_fields(fields *f)
{
    free(f->psi);
    free(f->omega);
    free(f->u);
    free(f->T);
}

/* Integral of -f_n around the control volume of a node, over its area: the quarters of the cells that are not solid.
 * NaN where there is none. */
static double outwards(const options *o, const double *f, int i, int j)
{
    double area = 0, sum = 0;
    for (int c = 0; c < 4; c++) {
        const int x = c % 2 ? 1 : -1, y = c / 2 ? 1 : -1;
        if (i + x < 0 || i + x >= NX || j + y < 0 || j + y >= NY)
            continue;
        if (body_at(o, i, j) && body_at(o, i + x, j) && body_at(o, i, j + y) && body_at(o, i + x, j + y))
            continue;
        area += 0.25 * hx * hy;
        sum += 0.5 * hy / hx * (f[j * NX + i] - f[j * NX + i + x]) +
               0.5 * hx / hy * (f[j * NX + i] - f[(j + y) * NX + i]);
    }
    return area > 0 ? sum / area : (double)NAN;
}

/* c f_x or c f_y, `step` to the next node. */
static double carried(const options *o, const double *f, int at, int step, double h, double c)
{
    return c * (o->convection != UPWIND ? (f[at + step] - f[at - step]) / (2 * h)
                : c > 0                 ? (f[at] - f[at - step]) / h
                                        : (f[at + step] - f[at]) / h);
}

/* (u f)_x + (v f)_y by central differences, the velocities those of psi. */
static double divergence(const double *f, const double *psi, int at)
{
    double sum = 0;
    for (int side = -1; side <= 1; side += 2) {
        const int x = at + side, y = at + side * NX;
        sum += side * (psi[x + NX] - psi[x - NX]) / (2 * hy) * f[x] / (2 * hx) -
               side * (psi[y + 1] - psi[y - 1]) / (2 * hx) * f[y] / (2 * hy);
    }
    return sum;
}

/* u f_x + v f_y, without what points across the border; at the outflow u f_x upwind, its Courant number at most 1. */
static double convection(const options *o, const double *f, const fields *by, int i, int j)
{
    const int at = j * NX + i;
    const double *const u = by->u, *const v = by->v;
    double sum = 0;
    if (o->convection == CONSERVATIVE && kind_at(o, i, j) == INSIDE)
        return divergence(f, by->psi, at);
    if (i > 0 && i < NX - 1)
        sum += carried(o, f, at, 1, hx, u[at]);
    if (j > 0 && j < NY - 1)
        sum += carried(o, f, at, NX, hy, v[at]);
    return kind_at(o, i, j) == OUTFLOW ? sum + fmin(fmax(u[at] / hx, 0), 1 / dt) * (f[at] - f[at - 1]) : sum;
}

/* Thom or Woods at the wall node `wall` from the node `next` to it; `slip`: s U. */
static double wall_formula(const options *o, const double *psi, const double *omega, int wall, int next, double h,
                           double slip)
{
    const double first = (psi[next] - psi[wall]) / (h * h) + slip / h;
    return o->woods ? -3 * first - 0.5 * omega[next] : -2 * first;
}

/* The formula at a node of the border, or the mean over the fluid around a node of an obstacle (NaN: none). */
static double formula_at(const options *o, const double *psi, const double *omega, int i, int j)
{
    static const int x[4] = { -1, 1, 0, 0 }, y[4] = { 0, 0, -1, 1 };
    const int at = j * NX + i;
    double sum = 0;
    int count = 0;
    if (kind_at(o, i, j) == WALL)
        return i == 0   ? wall_formula(o, psi, omega, at, at + 1, hx, -0.2)
               : j == 0 ? wall_formula(o, psi, omega, at, at + NX, hy, 0.4)
                        : wall_formula(o, psi, omega, at, at - NX, hy, i < 5 ? 0.1 : 0.7);
    for (int d = 0; d < 4; d++)
        if (i + x[d] >= 0 && i + x[d] < NX && j + y[d] >= 0 && j + y[d] < NY &&
            kind_at(o, i + x[d], j + y[d]) == INSIDE) {
            sum += wall_formula(o, psi, omega, at, at + x[d] + y[d] * NX, d < 2 ? hx : hy, 0);
            count++;
        }
    return count ? sum / count : (double)NAN;
}

/* psi around the border and on the bump, from what flows in: the corner at the origin has 0, the top everything. */
static double border_psi(int i, int j)
{
    const double eta = fmin(fmax((j * hy - inflow_from) / inflow_length, 0), 1);
    return j == 0 ? 0 : i == 0 ? inflow_length * eta * eta * (3 - 2 * eta) : inflow_length;
}

/* (1): T' - T + dt (u T_x + v T_y) = dt a Laplace T', and the temperatures that are given. */
static void check_heat(const options *o, const fields *before, const fields *after)
{
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            const int at = j * NX + i;
            const double out = outwards(o, after->T, i, j);
            double value;
            if (heat_given(o, i, j, &value))
                near(after->T[at], value, 1e-14, "the temperature given here");
            else if (isnan(out))
                near(after->T[at], start_temperature + cos(pi * i / (NX - 1)) * cos(pi * j / (NY - 1)), 1e-14,
                     "inside of an obstacle");
            else
                near(after->T[at] - before->T[at] + dt * (convection(o, before->T, before, i, j) + a * out), 0, 5e-14,
                     "heat of a control volume");
        }
}

/* (2) and (3) in the fluid, psi on all else. `omega`: the new one in the fluid, the old one at borders and bodies. */
static void check_vorticity_and_psi(const options *o, const fields *before, const fields *after, const double *omega)
{
    double bodies[3] = { after->psi[8 * NX + 9], after->psi[4 * NX + 17], inflow_length };
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            const int at = j * NX + i;
            const kind k = kind_at(o, i, j);
            if (k == INSIDE)
                near(omega[at] - before->omega[at] +
                         dt * (convection(o, before->omega, before, i, j) + nu * outwards(o, omega, i, j) -
                               buoyancy * (after->T[at + 1] - after->T[at - 1]) / (2 * hx)),
                     0, 7e-14, "vorticity of a node");
            if (k == INSIDE || k == OUTFLOW)
                near(outwards(o, after->psi, i, j), omega[at], 2e-11, "-Laplace psi = omega");
            else if (k == SOLID)
                near(after->psi[at], bodies[body_at(o, i, j) - 1], 4e-16, "psi of an obstacle is one number");
            else
                near(after->psi[at], border_psi(i, j), 5e-16, "psi of the border");
        }
}

/* (4): nu (integral of omega_n) + C (integral of T t_y) = 0 around each body in the fluid. */
static void check_bodies(const options *o, const fields *after, const double *omega)
{
    static const int x[4] = { -1, 1, 0, 0 }, y[4] = { 0, 0, -1, 1 };
    for (int body = 1; body <= 2; body++) {
        double turning = 0, heat = 0, size = 0;
        for (int j = 1; j < NY - 1; j++)
            for (int i = 1; i < NX - 1; i++)
                for (int d = 0; d < 4 && kind_at(o, i, j) == INSIDE; d++) {
                    if (body_at(o, i + x[d], j + y[d]) != body)
                        continue;
                    const int at = j * NX + i, wall = at + x[d] + y[d] * NX;
                    const double h = d < 2 ? hx : hy, face = hx * hy / h;
                    const double part = (omega[at] - wall_formula(o, after->psi, omega, wall, at, h, 0)) / h * face;
                    turning += nu * part;
                    size += nu * fabs(part);
                    heat += buoyancy * after->T[wall] * face * (d == 0 ? 1 : d == 1 ? -1 : 0);
                }
        ck_assert_msg(o->heated || fabs(heat) > 1e-4 * size, "buoyancy %g has a part in %g", heat, size);
        near((turning + heat) / size, 0, 1e-14, "pressure around a body is single-valued");
    }
}

/* (5): velocities, and vorticity at the border and on obstacles. */
static void check_borders(const options *o, const fields *before, const fields *after, const double *omega)
{
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            const int at = j * NX + i;
            const double *const psi = after->psi, eta = (j * hy - inflow_from) / inflow_length;
            const double told = after->omega[at], old = before->omega[at], formula = formula_at(o, psi, omega, i, j);
            double u = 0, v = 0;
            switch (kind_at(o, i, j)) {
            case CORNER: near(told, 0, 0, "corners have no vorticity"); continue;
            case INSIDE:
                u = (psi[at + NX] - psi[at - NX]) / (2 * hy);
                v = (psi[at - 1] - psi[at + 1]) / (2 * hx);
                break;
            case SOLID: near(told, isnan(formula) ? 0 : old + theta * (formula - old), 1e-14, "on an obstacle"); break;
            case WALL:
                u = j == 0 ? -0.4 : j == NY - 1 ? i < 5 ? 0.1 : 0.7 : 0;
                v = i == 0 ? -0.2 : 0;
                near(told, old + theta * (formula - old), 1e-14, "wall vorticity");
                break;
            case SLIP:
                u = (psi[at + NX] - psi[at]) / hy;
                near(told, 0, 0, "slip has no vorticity");
                break;
            case INFLOW:
                u = 6 * eta * (1 - eta);
                near(told, -6 * (1 - 2 * eta) / inflow_length, 1.5e-14, "-u_y of the parabola");
                break;
            case OUTFLOW:
                u = (psi[at + NX] - psi[at - NX]) / (2 * hy);
                near(told, old - fmin(fmax(dt * u / hx, 0), 1) * (old - omega[at - 1]), 1e-15, "omega flows out");
                break;
            }
            near(after->u[at], u, 2e-15, "u");
            near(after->v[at], v, 2e-15, "v");
        }
}

/* The residual that is told, from what the steady equations leave over: of vorticity over its norm, of heat over the
 * largest difference given and the number of nodes; the larger, times length / speed. */
static void check_residual(const options *o, const fields *before, const fields *after, const double *omega,
                           double told)
{
    double turning = 0, size = 0, heating = 0, value;
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            const int at = j * NX + i;
            const kind k = kind_at(o, i, j);
            const double h = i == 0 ? hx : hy, left = (after->omega[at] - before->omega[at]) / dt;
            double rate = 0;
            if (k == INSIDE)
                rate = buoyancy * (after->T[at + 1] - after->T[at - 1]) / (2 * hx) - nu * outwards(o, omega, i, j) -
                       convection(o, omega, after, i, j);
            else if (k == WALL)
                rate = nu * dt / (h * h) * left / theta;
            else if (k == OUTFLOW)
                rate = left;
            turning += rate * rate;
            size += after->omega[at] * after->omega[at];
            if (!heat_given(o, i, j, &value)) {
                rate = a * outwards(o, after->T, i, j) + convection(o, after->T, after, i, j);
                heating += rate * rate;
            }
        }
    const double expected = fmax(sqrt(turning / size), sqrt(heating / POINTS) / largest_drop) * 1.26 / 1.5;
    near(told / expected, 1, 3e-15, "the residual of the steady equations");
}

static void check_step(const options *o, int steps, const char *mask)
{
    static const char *const conv[] = { "solver.convection=central", "solver.convection=upwind",
                                        "solver.convection=conservative" };
    char count[32];
    run r[2];
    fields f[2];
    for (int k = 0; k < 2; k++) {
        snprintf(count, sizeof count, "stop.steps=%d", steps + k);
        const char *overrides[] = { count,
                                    conv[o->convection],
                                    o->woods ? "solver.wall_vorticity=woods" : "solver.wall_vorticity=thom",
                                    o->iterated ? "solver.poisson=multigrid" : "solver.poisson=auto",
                                    o->heated ? "obstacle.heat=given" : "obstacle.heat=insulated",
                                    o->bodies ? "obstacle.centre=[1.8,0.385]" : NULL,
                                    "obstacle.size=[0.21,0.22]",
                                    "obstacle.shape=rectangle",
                                    mask,
                                    o->heated ? "obstacle.temperature=4" : NULL,
                                    NULL };
        r[k] = run_case(stream_case, NULL, overrides);
        f[k] = read_fields(&r[k]);
    }
    double omega[POINTS];
    for (int at = 0; at < POINTS; at++)
        omega[at] = (kind_at(o, at % NX, at / NX) == INSIDE ? f[1] : f[0]).omega[at];
    check_heat(o, &f[0], &f[1]);
    check_vorticity_and_psi(o, &f[0], &f[1], omega);
    check_borders(o, &f[0], &f[1], omega);
    if (o->bodies) {
        check_bodies(o, &f[1], omega);
        near(result(&r[1], "psi_body"), f[1].psi[4 * NX + 17], 1e-13, "psi of the first body from below");
    } else {
        check_residual(o, &f[0], &f[1], omega, bn_sim_now(r[1].sim).residual);
    }
    for (int k = 0; k < 2; k++) {
        free_fields(&f[k]);
        end_run(&r[k]);
    }
}

/* Limits: three times the rounding that there is, which is a few units of 2^-53 of the largest term: 30 s-1 for the
 * vorticity, 0.6 m2/s over h^2 for its source in psi. */
TEST(every_term_of_a_step_is_that_of_the_equations)
{
    static const options cases[] = {
        { CENTRAL, false, false, false, false },     { UPWIND, false, false, false, false },
        { CONSERVATIVE, true, false, false, false }, { CONSERVATIVE, false, true, false, false },
        { UPWIND, true, true, true, false },         { UPWIND, true, true, true, true },
        { CENTRAL, true, true, false, false },       { CENTRAL, true, true, false, true }
    };
    char folder[256], mask[320];
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/binnacle-flow-XXXXXX", base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(mask, sizeof mask, "obstacle.mask=%s/mask.png", folder);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        if (cases[c].bodies)
            write_picture(&cases[c], strchr(mask, '=') + 1);
        for (int steps = 1; steps <= 9; steps += 8)
            check_step(&cases[c], steps, mask);
    }
    ck_assert_int_eq(remove(strchr(mask, '=') + 1), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

int main(void) { return bn_test_main("flow equations", open_context, close_context); }
