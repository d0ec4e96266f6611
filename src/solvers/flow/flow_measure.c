/* flow_measure.c: what a run of flow found: the vortex' centre between the nodes, velocity profiles on the centre lines
 * and their extrema. */
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

static bn_status measure_vortex(const flow *s, const double *psi, const double *omega, bn_results *results)
{
    const size_t nx = s->nx, ny = s->ny;
    size_t ci = 1, cj = 1;
    double highest = psi[0];
    for (size_t j = 0; j < ny; j++)
        for (size_t i = 0; i < nx; i++) {
            if (psi[j * nx + i] > highest)
                highest = psi[j * nx + i];
            if (i > 0 && j > 0 && i + 1 < nx && j + 1 < ny && psi[j * nx + i] < psi[cj * nx + ci])
                ci = i, cj = j;
        }
    const quadratic q = fit(psi, nx, ci, cj), w = fit(omega, nx, ci, cj);
    const double det = q.hxx * q.hyy - q.hxy * q.hxy;
    double dx = 0, dy = 0;
    if (det > 0 && q.hxx > 0) { /* a true minimum: the quadratic's own */
        dx = -(q.hyy * q.gx - q.hxy * q.gy) / det;
        dy = -(q.hxx * q.gy - q.hxy * q.gx) / det;
        if (!(fabs(dx) <= 1 && fabs(dy) <= 1))
            dx = dy = 0;
    }
    BN_TRY(bn_result(results, "psi_min", evaluate(&q, dx, dy)));
    BN_TRY(bn_result(results, "psi_min_x", ((double)ci + dx) * s->h[0]));
    BN_TRY(bn_result(results, "psi_min_y", ((double)cj + dy) * s->h[1]));
    BN_TRY(bn_result(results, "omega_at_psi_min", evaluate(&w, dx, dy)));
    return bn_result(results, "psi_max", highest);
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
static bn_status measure_profiles(const flow *s, const double *u, const double *v, bn_results *results, double *room)
{
    const size_t nx = s->nx, ny = s->ny, most = nx > ny ? nx : ny;
    double *place = room, *profile = room + most;
    for (size_t j = 0; j < ny; j++) {
        place[j] = (double)j * s->h[1];
        profile[j] = 0.5 * (u[j * nx + (nx - 1) / 2] + u[j * nx + nx / 2]);
    }
    BN_TRY(bn_result_table(results, "centreline-u",
                           (const bn_column[]){ { "y", "m", place }, { "u", "m s-1", profile } }, 2, ny));
    BN_TRY(put_extremum(results, "u_min", "u_min_y", profile, ny, s->h[1], -1));
    BN_TRY(put_extremum(results, "u_max", "u_max_y", profile, ny, s->h[1], 1));
    for (size_t i = 0; i < nx; i++) {
        place[i] = (double)i * s->h[0];
        profile[i] = 0.5 * (v[(ny - 1) / 2 * nx + i] + v[ny / 2 * nx + i]);
    }
    BN_TRY(bn_result_table(results, "centreline-v",
                           (const bn_column[]){ { "x", "m", place }, { "v", "m s-1", profile } }, 2, nx));
    BN_TRY(put_extremum(results, "v_min", "v_min_x", profile, nx, s->h[0], -1));
    return put_extremum(results, "v_max", "v_max_x", profile, nx, s->h[0], 1);
}

bn_status flow_measure(bn_sim *sim, void *state, bn_results *results)
{
    const flow *s = state;
    const size_t points = (size_t)s->nx * s->ny;
    bn_status st = BN_OK;
    double *values = malloc((4 * points + 2 * ((size_t)s->nx + s->ny)) * sizeof *values);
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to measure the flow");
    double *psi = values, *omega = psi + points, *velocity = omega + points, *room = velocity + 2 * points;
    BN_GO(bn_field_get(s->psi, psi, points));
    BN_GO(bn_field_get(s->omega, omega, points));
    BN_GO(bn_field_get(s->velocity, velocity, 2 * points));
    BN_GO(measure_vortex(s, psi, omega, results));
    BN_GO(measure_profiles(s, velocity, velocity + points, results, room));
    BN_GO(bn_result(results, "cg_residual", s->report_psi.residual));
    BN_GO(bn_result(results, "cg_residual_at_rounding", s->report_psi.state == BN_CG_ROUNDED));
    BN_GO(bn_result(results, "cg_iterations_total", s->total_iterations));
out:
    free(values);
    return st;
}
