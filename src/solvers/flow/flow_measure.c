/* flow_measure.c: what a run of flow found: the vortex' centre between the nodes, velocity profiles on the centre lines
 * and their extrema, heat transfer. */
#include "flow.h"

#include <math.h>
#include <stdlib.h>

/* A quadratic through the 3 x 3 nodes around (i, j), in units of the spacing: value + g d + d H d / 2. */
typedef struct quadratic {
    double value, gx, gy, hxx, hyy, hxy;
} quadratic;

static bn_status fit(bn_field *field, uint32_t i, uint32_t j, quadratic *q)
{
    double f[9];
    const double *c = f + 4;
    BN_TRY(bn_field_read_region(field, 0, 1, &(bn_region){ { i - 1, j - 1, 0 }, { 3, 3, 1 } }, BN_AS_DOUBLES, f));
    *q = (quadratic){ c[0],
                      0.5 * (c[1] - c[-1]),
                      0.5 * (c[3] - c[-3]),
                      c[1] - 2 * c[0] + c[-1],
                      c[3] - 2 * c[0] + c[-3],
                      0.25 * (c[4] - c[-2] - c[2] + c[-4]) };
    return BN_OK;
}

static double evaluate(const quadratic *q, double dx, double dy)
{
    return q->value + q->gx * dx + q->gy * dy + 0.5 * (q->hxx * dx * dx + q->hyy * dy * dy) + q->hxy * dx * dy;
}

/* Between the nodes around (i, j) inside: where the quadratic has its extremum, if it has one there. */
static void between_nodes(const quadratic *q, double *dx, double *dy)
{
    const double det = q->hxx * q->hyy - q->hxy * q->hxy;
    *dx = -(q->hyy * q->gx - q->hxy * q->gy) / det;
    *dy = -(q->hxx * q->gy - q->hxy * q->gx) / det;
    if (!(det > 0 && fabs(*dx) <= 1 && fabs(*dy) <= 1))
        *dx = *dy = 0;
}

/* The least value inside and the largest of all, with their nodes. */
typedef struct extrema {
    uint32_t nx, ny;
    double low, high;
    uint32_t low_at[2], high_at[2];
} extrema;

static bn_status look_for_extrema(void *user, int component, const bn_region *r, const void *values)
{
    extrema *e = user;
    const double *f = values;
    (void)component;
    for (uint32_t j = r->first[1]; j < r->first[1] + r->n[1]; j++, f += e->nx)
        for (uint32_t i = 0; i < e->nx; i++) {
            if (f[i] > e->high) {
                e->high = f[i];
                e->high_at[0] = i, e->high_at[1] = j;
            }
            if (f[i] < e->low && i > 0 && j > 0 && i + 1 < e->nx && j + 1 < e->ny) {
                e->low = f[i];
                e->low_at[0] = i, e->low_at[1] = j;
            }
        }
    return BN_OK;
}

/* The least psi inside, and the largest, which may be the border's. */
static bn_status measure_vortex(const flow *s, bn_results *results)
{
    extrema e = { s->config.nx, s->config.ny, HUGE_VAL, -HUGE_VAL, { 1, 1 }, { 0, 0 } };
    quadratic q, w;
    double dx, dy;
    BN_TRY(bn_field_visit(s->fields.psi, BN_AS_DOUBLES, look_for_extrema, &e));
    BN_TRY(fit(s->fields.psi, e.low_at[0], e.low_at[1], &q));
    BN_TRY(fit(s->fields.omega, e.low_at[0], e.low_at[1], &w));
    between_nodes(&q, &dx, &dy);
    BN_TRY(bn_result(results, "psi_min", evaluate(&q, dx, dy)));
    BN_TRY(bn_result(results, "psi_min_x", flow_place(s, 0, e.low_at[0] + dx)));
    BN_TRY(bn_result(results, "psi_min_y", flow_place(s, 1, e.low_at[1] + dy)));
    BN_TRY(bn_result(results, "omega_at_psi_min", evaluate(&w, dx, dy)));
    const uint32_t ci = e.high_at[0], cj = e.high_at[1];
    dx = dy = 0;
    if (ci > 0 && cj > 0 && ci + 1 < e.nx && cj + 1 < e.ny) {
        BN_TRY(fit(s->fields.psi, ci, cj, &q));
        between_nodes(&q, &dx, &dy);
        e.high = evaluate(&q, dx, dy);
    }
    BN_TRY(bn_result(results, "psi_max", e.high));
    BN_TRY(bn_result(results, "psi_max_x", flow_place(s, 0, ci + dx)));
    return bn_result(results, "psi_max_y", flow_place(s, 1, cj + dy));
}

/* Extremum of a profile along x (0) or y (1) (sign -1: minimum, +1: maximum), between nodes by a parabola; at an end
 * the node itself. */
static void extremum(const flow *s, int dim, const double *f, double sign, double *value, double *place)
{
    const size_t n = dim ? s->config.ny : s->config.nx;
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (sign * f[i] > sign * f[best])
            best = i;
    double d = 0, g = 0;
    if (best > 0 && best + 1 < n) {
        const double curvature = f[best + 1] - 2 * f[best] + f[best - 1];
        g = 0.5 * (f[best + 1] - f[best - 1]);
        d = curvature != 0 ? -g / curvature : 0;
    }
    *value = f[best] + 0.5 * g * d;
    *place = flow_place(s, dim, (double)best + d);
}

static bn_status put_extremum(const flow *s, bn_results *results, const char *name, const char *place_name, int dim,
                              const double *f, double sign)
{
    double value, place;
    extremum(s, dim, f, sign, &value, &place);
    BN_TRY(bn_result(results, name, value));
    return bn_result(results, place_name, place);
}

/* Adds a half of what flows across one line of nodes, column or row number `line`, to a profile. */
static bn_status add_line(const flow *s, bool column, uint32_t line, double *profile, double *velocity)
{
    const uint32_t n = column ? s->config.ny : s->config.nx;
    const bn_region r = { { column ? line : 0, column ? 0 : line, 0 }, { column ? 1 : n, column ? n : 1, 1 } };
    BN_TRY(bn_field_read_region(s->fields.velocity, column ? 0 : 1, 1, &r, BN_AS_DOUBLES, velocity));
    for (uint32_t m = 0; m < n; m++)
        profile[m] += 0.5 * velocity[m];
    return BN_OK;
}

/* u along y in the middle of x, and v along x in the middle of y: the mean of two columns where no node lies in the
 * middle. */
static bn_status measure_profiles(const flow *s, bn_results *results, double *scratch)
{
    const uint32_t nx = s->config.nx, ny = s->config.ny, most = nx > ny ? nx : ny;
    double *place = scratch, *profile = scratch + most;
    for (int column = 1; column >= 0; column--) {
        const uint32_t n = column ? ny : nx, across = column ? nx : ny;
        for (uint32_t m = 0; m < n; m++) {
            place[m] = flow_place(s, column, m);
            profile[m] = 0;
        }
        BN_TRY(add_line(s, column, (across - 1) / 2, profile, profile + most));
        BN_TRY(add_line(s, column, across / 2, profile, profile + most));
        BN_TRY(bn_result_table(
            results, column ? "centreline-u" : "centreline-v",
            (const bn_column[]){ { column ? "y" : "x", "m", place }, { column ? "u" : "v", "m s-1", profile } }, 2, n));
        BN_TRY(
            put_extremum(s, results, column ? "u_min" : "v_min", column ? "u_min_y" : "v_min_x", column, profile, -1));
        BN_TRY(
            put_extremum(s, results, column ? "u_max" : "v_max", column ? "u_max_y" : "v_max_x", column, profile, 1));
    }
    return BN_OK;
}

/* Weight of node i along a dimension for an integral by trapezoids, in units of the mean spacing. */
static double trapezoid(const flow *s, int dim, size_t i)
{
    const size_t n = dim ? s->config.ny : s->config.nx;
    if (!s->config.widths)
        return i == 0 || i + 1 == n ? 0.5 : 1;
    const double *width = s->config.widths + (dim ? s->config.nx - 1 : 0);
    return 0.5 * ((i > 0 ? width[i - 1] : 0) + (i + 1 < n ? width[i] : 0));
}

/* The derivative at a side inwards, times -1, second order, from the value there and the next two. */
static double side_slope(const flow *s, int dim, double f0, double f1, double f2)
{
    if (!s->config.widths)
        return (3 * f0 - 4 * f1 + f2) / (2 * s->config.h[dim]);
    const double one = flow_place(s, dim, 1), two = flow_place(s, dim, 2); /* both sides are alike */
    return ((f0 - f1) * two / one - (f0 - f2) * one / two) / (two - one);
}

static bool differs(const flow *s)
{
    const flow_piece *left = &s->border.piece[FLOW_LEFT], *right = &s->border.piece[FLOW_RIGHT];
    return s->config.a > 0 && s->border.pieces == FLOW_SIDES && left->heat == FLOW_GIVEN && right->heat == FLOW_GIVEN &&
           left->temperature != right->temperature;
}

static bool heated_channel(const flow *s)
{
    const flow_piece *piece = s->border.piece;
    return s->config.a > 0 && s->border.pieces == FLOW_SIDES && !s->border.solid &&
           piece[FLOW_LEFT].kind == FLOW_INFLOW && piece[FLOW_RIGHT].kind == FLOW_OUTFLOW &&
           piece[FLOW_BOTTOM].heat == FLOW_GIVEN && piece[FLOW_TOP].heat == FLOW_GIVEN &&
           piece[FLOW_BOTTOM].temperature == piece[FLOW_TOP].temperature;
}

/* -T_x at node i of a row, second order: one-sided at the sides. */
static double flux_x(const flow *s, const double *row, size_t i)
{
    if (i == 0)
        return side_slope(s, 0, row[0], row[1], row[2]);
    if (i + 1 == s->config.nx)
        return -side_slope(s, 0, row[i], row[i - 1], row[i - 2]);
    return (row[i - 1] - row[i + 1]) / (2 * s->config.h[0] * trapezoid(s, 0, i));
}

/* What is summed over the temperature, row by row. */
typedef struct heat_sums {
    double low, high, sum;
    double *flux, *volume, *heat; /* of each column: u T / a - T_x, u, u T by trapezoids */
    double *left, *right;         /* of each row: -T_x at the sides */
} heat_sums;

static void add_row(const flow *s, heat_sums *h, size_t j, const double *T, const double *u)
{
    const size_t nx = s->config.nx;
    const double weight = trapezoid(s, 1, j);
    for (size_t i = 0; i < nx; i++) {
        h->low = fmin(h->low, T[i]);
        h->high = fmax(h->high, T[i]);
        h->sum += trapezoid(s, 0, i) * weight * T[i];
        h->flux[i] += weight * (u[i] * T[i] / s->config.a + flux_x(s, T, i));
        h->volume[i] += weight * u[i];
        h->heat[i] += weight * u[i] * T[i];
    }
    h->left[j] = flux_x(s, T, 0);
    h->right[j] = flux_x(s, T, nx - 1);
}

static bn_status add_rows(const flow *s, heat_sums *h)
{
    enum { VALUES = 1 << 20 };
    const uint32_t nx = s->config.nx, most = VALUES / nx + 1;
    bn_status st = BN_OK;
    double *T = malloc(2 * (size_t)most * nx * sizeof *T);
    if (!T)
        return bn_fail(bn_domain_context(bn_field_domain(s->fields.T)), BN_MEMORY, "no memory for rows of flow");
    double *u = T + (size_t)most * nx;
    for (uint32_t j = 0; j < s->config.ny; j += most) {
        const bn_region r = { { 0, j, 0 }, { nx, s->config.ny - j < most ? s->config.ny - j : most, 1 } };
        BN_GO(bn_field_read_region(s->fields.T, 0, 1, &r, BN_AS_DOUBLES, T));
        BN_GO(bn_field_read_region(s->fields.velocity, 0, 1, &r, BN_AS_DOUBLES, u));
        if (j == 0)
            h->low = h->high = T[0];
        for (size_t m = 0; m < r.n[1]; m++)
            add_row(s, h, j + m, T + m * nx, u + m * nx);
    }
out:
    free(T);
    return st;
}

/* Heat through the column x = i h over what conduction alone would carry between the sides: (u T - a T_x) over a
 * (T_left - T_right) / width, meant over the height. */
static double nusselt(const flow *s, const heat_sums *h, size_t i)
{
    const double drop = s->border.piece[FLOW_LEFT].temperature - s->border.piece[FLOW_RIGHT].temperature;
    return h->flux[i] / (s->config.ny - 1) * s->config.size[0] / drop;
}

static bn_status measure_nusselt(const flow *s, heat_sums *h, bn_results *results, double *place)
{
    const size_t nx = s->config.nx, ny = s->config.ny;
    const double drop = s->border.piece[FLOW_LEFT].temperature - s->border.piece[FLOW_RIGHT].temperature;
    double mean = 0;
    for (size_t i = 0; i < nx; i++)
        mean += trapezoid(s, 0, i) * nusselt(s, h, i) / (double)(nx - 1);
    for (size_t j = 0; j < ny; j++) {
        place[j] = flow_place(s, 1, (double)j);
        h->left[j] = h->left[j] * s->config.size[0] / drop;
        h->right[j] = h->right[j] * s->config.size[0] / drop;
    }
    BN_TRY(bn_result_table(
        results, "nusselt",
        (const bn_column[]){ { "y", "m", place }, { "left", "", h->left }, { "right", "", h->right } }, 3, ny));
    BN_TRY(bn_result(results, "nusselt_mean", mean));
    BN_TRY(bn_result(results, "nusselt_left", nusselt(s, h, 0)));
    BN_TRY(bn_result(results, "nusselt_right", nusselt(s, h, nx - 1)));
    BN_TRY(bn_result(results, "nusselt_middle", 0.5 * (nusselt(s, h, (nx - 1) / 2) + nusselt(s, h, nx / 2))));
    BN_TRY(put_extremum(s, results, "nusselt_left_max", "nusselt_left_max_y", 1, h->left, 1));
    return put_extremum(s, results, "nusselt_left_min", "nusselt_left_min_y", 1, h->left, -1);
}

/* Along a channel whose walls have one temperature: bulk temperature T_b = int u T / int u, and the Nusselt number q 2
 * H / (T_wall - T_b) on the hydraulic diameter 2 H, q the mean of -T_n at both walls, of which `walls` has three rows
 * each. */
static bn_status measure_channel(const flow *s, const heat_sums *h, bn_results *results, double *place, double *walls)
{
    const uint32_t nx = s->config.nx, ny = s->config.ny;
    const double wall = s->border.piece[FLOW_BOTTOM].temperature;
    double *bulk = place + nx, *number = bulk + nx;
    BN_TRY(bn_field_read_region(s->fields.T, 0, 1, &(bn_region){ { 0, 0, 0 }, { nx, 3, 1 } }, BN_AS_DOUBLES, walls));
    BN_TRY(bn_field_read_region(s->fields.T, 0, 1, &(bn_region){ { 0, ny - 3, 0 }, { nx, 3, 1 } }, BN_AS_DOUBLES,
                                walls + 3 * (size_t)nx));
    for (size_t i = 0; i < nx; i++) {
        const double *b = walls + i, *t = walls + 5 * (size_t)nx + i;
        const double below = side_slope(s, 1, b[0], b[nx], b[2 * (size_t)nx]);
        const double above = side_slope(s, 1, t[0], t[-(ptrdiff_t)nx], t[-2 * (ptrdiff_t)nx]);
        place[i] = flow_place(s, 0, (double)i);
        bulk[i] = h->volume[i] != 0 ? h->heat[i] / h->volume[i] : wall;
        number[i] = bulk[i] != wall ? 0.5 * (below + above) * 2 * s->config.size[1] / (wall - bulk[i]) : 0;
    }
    BN_TRY(bn_result_table(
        results, "channel",
        (const bn_column[]){ { "x", "m", place }, { "T_bulk", "K", bulk }, { "nusselt", "", number } }, 3, nx));
    BN_TRY(bn_result(results, "temperature_bulk_out", bulk[nx - 1]));
    return bn_result(results, "nusselt_channel", number[nx - 1 - nx / 10]);
}

/* scratch: nine rows, in either direction, and 3 nx + 2 ny zeros. */
static bn_status measure_heat(const flow *s, bn_results *results, double *scratch, double *zeros)
{
    const size_t nx = s->config.nx, ny = s->config.ny;
    heat_sums h = { .flux = zeros,
                    .volume = zeros + nx,
                    .heat = zeros + 2 * nx,
                    .left = zeros + 3 * nx,
                    .right = zeros + 3 * nx + ny };
    BN_TRY(add_rows(s, &h));
    BN_TRY(bn_result(results, "temperature_min", h.low));
    BN_TRY(bn_result(results, "temperature_max", h.high));
    BN_TRY(bn_result(results, "temperature_mean", h.sum / ((double)(nx - 1) * (double)(ny - 1))));
    if (differs(s))
        BN_TRY(measure_nusselt(s, &h, results, scratch));
    return heated_channel(s) ? measure_channel(s, &h, results, scratch, scratch + 3 * nx) : BN_OK;
}

bn_status flow_measure(bn_sim *sim, void *state, bn_results *results)
{
    flow *s = state;
    const size_t most = s->config.nx > s->config.ny ? s->config.nx : s->config.ny;
    bn_status st = BN_OK;
    BN_TRY(flow_catch_up(s));
    double *values = calloc(14 * most, sizeof *values);
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to measure the flow");
    BN_GO(measure_vortex(s, results));
    BN_GO(measure_profiles(s, results, values));
    if (s->config.a > 0)
        BN_GO(measure_heat(s, results, values, values + 9 * most));
    BN_GO(bn_result(results, "cg_residual", s->systems.report[FLOW_PSI].residual));
    BN_GO(bn_result(results, "cg_residual_at_rounding", s->systems.report[FLOW_PSI].state == BN_CG_ROUNDED));
    BN_GO(bn_result(results, "cg_iterations_total", s->systems.total_iterations));
    BN_GO(bn_result(results, "steady_residual", s->steady_residual));
    if (s->border.bodies > 0)
        BN_GO(bn_result(results, "psi_body", s->psi_body));
out:
    free(values);
    return st;
}

bn_status flow_plan_results(const flow *s, bn_plan *p)
{
    const bool heat = s->config.a > 0, between = differs(s), channel = heated_channel(s);
    const struct {
        bool there;
        const char *name, *unit, *help;
    } results[] = {
        { true, "psi_min", "m2 s-1", "smallest stream function, between nodes by a quadratic" },
        { true, "psi_min_x", "m", "its place" },
        { true, "psi_min_y", "m", "its place" },
        { true, "omega_at_psi_min", "s-1", "vorticity there" },
        { true, "psi_max", "m2 s-1", "largest stream function, between nodes likewise, or at the border" },
        { true, "psi_max_x", "m", "its place" },
        { true, "psi_max_y", "m", "its place" },
        { true, "u_min", "m s-1", "smallest u on the vertical centre line" },
        { true, "u_min_y", "m", "its place" },
        { true, "u_max", "m s-1", "largest u on the vertical centre line" },
        { true, "u_max_y", "m", "its place" },
        { true, "v_min", "m s-1", "smallest v on the horizontal centre line" },
        { true, "v_min_x", "m", "its place" },
        { true, "v_max", "m s-1", "largest v on the horizontal centre line" },
        { true, "v_max_x", "m", "its place" },
        { heat, "temperature_min", "K", "lowest temperature at a node" },
        { heat, "temperature_max", "K", "highest temperature at a node" },
        { heat, "temperature_mean", "K", "over the rectangle" },
        { between, "nusselt_mean", "", "heat from side to side over pure conduction, mean over the rectangle" },
        { between, "nusselt_left", "", "the same through the left side" },
        { between, "nusselt_right", "", "the same through the right side" },
        { between, "nusselt_middle", "", "the same through the vertical centre line" },
        { between, "nusselt_left_max", "", "largest local value on the left side" },
        { between, "nusselt_left_max_y", "m", "its place" },
        { between, "nusselt_left_min", "", "smallest local value on the left side" },
        { between, "nusselt_left_min_y", "m", "its place" },
        { channel, "nusselt_channel", "", "on the hydraulic diameter, at nine tenths of the length" },
        { channel, "temperature_bulk_out", "K", "mean temperature of what flows out" },
        { true, "cg_residual", "", "true residual of the last solve for psi, relative to its right-hand side" },
        { true, "cg_residual_at_rounding", "", "1: that is the rounding of the precision, not the tolerance" },
        { true, "cg_iterations_total", "", "iterations of all solves; by Newton's method, products with the Jacobian" },
        { true, "steady_residual", "", "share of the vorticity that changes in length / speed (docs/flow.md)" },
        { s->border.bodies > 0, "psi_body", "m2 s-1", "stream function on the first obstacle" },
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].there)
            BN_TRY(bn_plan_result(p, results[i].name, results[i].unit, results[i].help));
    return BN_OK;
}
