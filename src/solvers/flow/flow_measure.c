/* flow_measure.c: what a run of flow found: the vortex' centre between the nodes, velocity profiles on the centre lines
 * and their extrema, heat transfer. */
#include "flow.h"

#include <math.h>
#include <stdlib.h>

/* A quadratic through the 3 x 3 nodes around (i, j), in units of the spacing: value + g d + d H d / 2. */
typedef struct quadratic {
    double value, gx, gy, hxx, hyy, hxy;
} quadratic;

static quadratic fit(const double *f, size_t nx, size_t i, size_t j)
{
    const double *c = f + j * nx + i;
    const ptrdiff_t up = (ptrdiff_t)nx;
    return (quadratic){ c[0],
                        0.5 * (c[1] - c[-1]),
                        0.5 * (c[up] - c[-up]),
                        c[1] - 2 * c[0] + c[-1],
                        c[up] - 2 * c[0] + c[-up],
                        0.25 * (c[up + 1] - c[up - 1] - c[-up + 1] + c[-up - 1]) };
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

/* The least psi inside, and the largest, which may be the border's. */
static bn_status measure_vortex(const flow *s, const double *psi, const double *omega, bn_results *results)
{
    const size_t nx = s->config.nx, ny = s->config.ny;
    size_t ci = 1, cj = 1, high = 0;
    for (size_t at = 0; at < nx * ny; at++) {
        const size_t i = at % nx, j = at / nx;
        if (psi[at] > psi[high])
            high = at;
        if (i > 0 && j > 0 && i + 1 < nx && j + 1 < ny && psi[at] < psi[cj * nx + ci])
            ci = i, cj = j;
    }
    const quadratic q = fit(psi, nx, ci, cj), w = fit(omega, nx, ci, cj);
    double dx, dy, highest = psi[high];
    between_nodes(&q, &dx, &dy);
    BN_TRY(bn_result(results, "psi_min", evaluate(&q, dx, dy)));
    BN_TRY(bn_result(results, "psi_min_x", ((double)ci + dx) * s->config.h[0]));
    BN_TRY(bn_result(results, "psi_min_y", ((double)cj + dy) * s->config.h[1]));
    BN_TRY(bn_result(results, "omega_at_psi_min", evaluate(&w, dx, dy)));
    ci = high % nx, cj = high / nx;
    dx = dy = 0;
    if (ci > 0 && cj > 0 && ci + 1 < nx && cj + 1 < ny) {
        const quadratic top = fit(psi, nx, ci, cj);
        between_nodes(&top, &dx, &dy);
        highest = evaluate(&top, dx, dy);
    }
    BN_TRY(bn_result(results, "psi_max", highest));
    BN_TRY(bn_result(results, "psi_max_x", ((double)ci + dx) * s->config.h[0]));
    return bn_result(results, "psi_max_y", ((double)cj + dy) * s->config.h[1]);
}

/* Extremum of a profile (sign -1: minimum, +1: maximum), between nodes by a parabola; at an end the node itself. */
static void extremum(const double *f, size_t n, double h, double sign, double *value, double *place)
{
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
    *place = ((double)best + d) * h;
}

static bn_status put_extremum(bn_results *results, const char *name, const char *place_name, const double *f, size_t n,
                              double h, double sign)
{
    double value, place;
    extremum(f, n, h, sign, &value, &place);
    BN_TRY(bn_result(results, name, value));
    return bn_result(results, place_name, place);
}

/* u along y in the middle of x, and v along x in the middle of y: the mean of two columns where no node lies in the
 * middle. */
static bn_status measure_profiles(const flow *s, const double *u, const double *v, bn_results *results, double *scratch)
{
    const size_t nx = s->config.nx, ny = s->config.ny, most = nx > ny ? nx : ny;
    double *place = scratch, *profile = scratch + most;
    for (size_t j = 0; j < ny; j++) {
        place[j] = (double)j * s->config.h[1];
        profile[j] = 0.5 * (u[j * nx + (nx - 1) / 2] + u[j * nx + nx / 2]);
    }
    BN_TRY(bn_result_table(results, "centreline-u",
                           (const bn_column[]){ { "y", "m", place }, { "u", "m s-1", profile } }, 2, ny));
    BN_TRY(put_extremum(results, "u_min", "u_min_y", profile, ny, s->config.h[1], -1));
    BN_TRY(put_extremum(results, "u_max", "u_max_y", profile, ny, s->config.h[1], 1));
    for (size_t i = 0; i < nx; i++) {
        place[i] = (double)i * s->config.h[0];
        profile[i] = 0.5 * (v[(ny - 1) / 2 * nx + i] + v[ny / 2 * nx + i]);
    }
    BN_TRY(bn_result_table(results, "centreline-v",
                           (const bn_column[]){ { "x", "m", place }, { "v", "m s-1", profile } }, 2, nx));
    BN_TRY(put_extremum(results, "v_min", "v_min_x", profile, nx, s->config.h[0], -1));
    return put_extremum(results, "v_max", "v_max_x", profile, nx, s->config.h[0], 1);
}

/* Weight of node i of n for an integral by trapezoids, in units of the spacing. */
static double trapezoid(size_t i, size_t n) { return i == 0 || i + 1 == n ? 0.5 : 1; }

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

/* -T_x at column i, second order: one-sided at the sides. */
static double flux_x(const flow *s, const double *T, size_t i, size_t j)
{
    const double *row = T + j * s->config.nx, h = s->config.h[0];
    if (i == 0)
        return (3 * row[0] - 4 * row[1] + row[2]) / (2 * h);
    if (i + 1 == s->config.nx)
        return -(3 * row[i] - 4 * row[i - 1] + row[i - 2]) / (2 * h);
    return (row[i - 1] - row[i + 1]) / (2 * h);
}

/* Heat through the column x = i h over what conduction alone would carry between the sides: (u T - a T_x) over a
 * (T_left - T_right) / width, meant over the height. */
static double nusselt(const flow *s, const double *T, const double *u, size_t i)
{
    const double drop = s->border.piece[FLOW_LEFT].temperature - s->border.piece[FLOW_RIGHT].temperature;
    double sum = 0;
    for (size_t j = 0; j < s->config.ny; j++)
        sum += trapezoid(j, s->config.ny) *
               (u[j * s->config.nx + i] * T[j * s->config.nx + i] / s->config.a + flux_x(s, T, i, j));
    return sum / (s->config.ny - 1) * s->config.size[0] / drop;
}

static bn_status measure_nusselt(const flow *s, const double *T, const double *u, bn_results *results, double *scratch)
{
    const size_t nx = s->config.nx, ny = s->config.ny;
    const double drop = s->border.piece[FLOW_LEFT].temperature - s->border.piece[FLOW_RIGHT].temperature;
    double mean = 0, *place = scratch, *left = scratch + ny, *right = left + ny;
    for (size_t i = 0; i < nx; i++)
        mean += trapezoid(i, nx) * nusselt(s, T, u, i) / (double)(nx - 1);
    for (size_t j = 0; j < ny; j++) {
        place[j] = (double)j * s->config.h[1];
        left[j] = flux_x(s, T, 0, j) * s->config.size[0] / drop;
        right[j] = flux_x(s, T, nx - 1, j) * s->config.size[0] / drop;
    }
    BN_TRY(bn_result_table(results, "nusselt",
                           (const bn_column[]){ { "y", "m", place }, { "left", "", left }, { "right", "", right } }, 3,
                           ny));
    BN_TRY(bn_result(results, "nusselt_mean", mean));
    BN_TRY(bn_result(results, "nusselt_left", nusselt(s, T, u, 0)));
    BN_TRY(bn_result(results, "nusselt_right", nusselt(s, T, u, nx - 1)));
    BN_TRY(bn_result(results, "nusselt_middle", 0.5 * (nusselt(s, T, u, (nx - 1) / 2) + nusselt(s, T, u, nx / 2))));
    BN_TRY(put_extremum(results, "nusselt_left_max", "nusselt_left_max_y", left, ny, s->config.h[1], 1));
    return put_extremum(results, "nusselt_left_min", "nusselt_left_min_y", left, ny, s->config.h[1], -1);
}

/* Along a channel whose walls have one temperature: bulk temperature T_b = int u T / int u, and the Nusselt number q 2
 * H / (T_wall - T_b) on the hydraulic diameter 2 H, q the mean of -T_n at both walls. */
static bn_status measure_channel(const flow *s, const double *T, const double *u, bn_results *results, double *scratch)
{
    const size_t nx = s->config.nx, ny = s->config.ny;
    const double wall = s->border.piece[FLOW_BOTTOM].temperature, h = s->config.h[1];
    double *place = scratch, *bulk = scratch + nx, *number = bulk + nx;
    for (size_t i = 0; i < nx; i++) {
        double volume = 0, heat = 0;
        for (size_t j = 0; j < ny; j++) {
            volume += trapezoid(j, ny) * u[j * nx + i];
            heat += trapezoid(j, ny) * u[j * nx + i] * T[j * nx + i];
        }
        const double *b = T + i, *t = T + (ny - 1) * nx + i;
        const double below = (3 * b[0] - 4 * b[nx] + b[2 * nx]) / (2 * h);
        const double above = (3 * t[0] - 4 * t[-(ptrdiff_t)nx] + t[-2 * (ptrdiff_t)nx]) / (2 * h);
        place[i] = (double)i * s->config.h[0];
        bulk[i] = volume != 0 ? heat / volume : wall;
        number[i] = bulk[i] != wall ? 0.5 * (below + above) * 2 * s->config.size[1] / (wall - bulk[i]) : 0;
    }
    BN_TRY(bn_result_table(
        results, "channel",
        (const bn_column[]){ { "x", "m", place }, { "T_bulk", "K", bulk }, { "nusselt", "", number } }, 3, nx));
    BN_TRY(bn_result(results, "temperature_bulk_out", bulk[nx - 1]));
    return bn_result(results, "nusselt_channel", number[nx - 1 - nx / 10]);
}

static bn_status measure_heat(const flow *s, const double *T, const double *u, bn_results *results, double *scratch)
{
    double low = T[0], high = T[0], sum = 0;
    for (size_t j = 0; j < s->config.ny; j++)
        for (size_t i = 0; i < s->config.nx; i++) {
            const double t = T[j * s->config.nx + i];
            low = fmin(low, t);
            high = fmax(high, t);
            sum += trapezoid(i, s->config.nx) * trapezoid(j, s->config.ny) * t;
        }
    BN_TRY(bn_result(results, "temperature_min", low));
    BN_TRY(bn_result(results, "temperature_max", high));
    BN_TRY(bn_result(results, "temperature_mean", sum / ((double)(s->config.nx - 1) * (s->config.ny - 1))));
    if (differs(s))
        BN_TRY(measure_nusselt(s, T, u, results, scratch));
    return heated_channel(s) ? measure_channel(s, T, u, results, scratch) : BN_OK;
}

bn_status flow_measure(bn_sim *sim, void *state, bn_results *results)
{
    const flow *s = state;
    const size_t points = (size_t)s->config.nx * s->config.ny;
    bn_status st = BN_OK;
    double *values = malloc((5 * points + 3 * ((size_t)s->config.nx + s->config.ny)) * sizeof *values);
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to measure the flow");
    double *psi = values, *omega = psi + points, *velocity = omega + points, *T = velocity + 2 * points,
           *scratch = T + points;
    BN_GO(bn_field_get(s->fields.psi, psi, points));
    BN_GO(bn_field_get(s->fields.omega, omega, points));
    BN_GO(bn_field_get(s->fields.velocity, velocity, 2 * points));
    BN_GO(measure_vortex(s, psi, omega, results));
    BN_GO(measure_profiles(s, velocity, velocity + points, results, scratch));
    if (s->config.a > 0) {
        BN_GO(bn_field_get(s->fields.T, T, points));
        BN_GO(measure_heat(s, T, velocity, results, scratch));
    }
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
