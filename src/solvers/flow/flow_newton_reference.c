/* flow_newton_reference.c: what flow_newton.c asks of an engine, in plain C, the specification of
 * kernels/flow_newton.cl. Compiled for float and for double. */
#include "flow_reference.h"

#include <math.h>

static size_t points_of(const flow *s) { return (size_t)s->config.nx * s->config.ny; }

static real *vector(const flow *s, int k)
{
    return (real *)bn_field_host(s->newton.vectors) + (size_t)k * (s->config.a > 0 ? 2 : 1) * points_of(s);
}

/* Velocity from psi, or its change from that of psi; where it does not follow from psi it stays. */
static void velocity_of(const flow *s, const real *psi, size_t at, int n, velocity *c)
{
    const constants *k = constants_of(s);
    const size_t nx = s->config.nx;
    const int side = n / FLOW_NODE_SIDE & 3;
    if (n & FLOW_NODE_SLIP) {
        const real drop = psi[inner(s, at, side)] - psi[at];
        if (side < FLOW_BOTTOM)
            c->v = beside(s, at, side, 2 * k->per_2h_x) * (side == FLOW_LEFT ? -drop : drop);
        else
            c->u = beside(s, at, side, 2 * k->per_2h_y) * (side == FLOW_BOTTOM ? drop : -drop);
    }
    if ((n & FLOW_NODE_OMEGA) || ((n & FLOW_NODE_OUTFLOW) && side < FLOW_BOTTOM))
        c->u = per_2(s, at, 1) * (psi[at + nx] - psi[at - nx]);
    if ((n & FLOW_NODE_OMEGA) || ((n & FLOW_NODE_OUTFLOW) && side >= FLOW_BOTTOM))
        c->v = per_2(s, at, 0) * (psi[at - 1] - psi[at + 1]);
}

/* The change of the vorticity anywhere; in the fluid with the velocity of `stream`. */
static real change_at(const flow *s, const real *w, const real *psi, const real *T, const real *stream, size_t at,
                      int n, velocity c, real moving, real scale)
{
    const constants *k = constants_of(s);
    const int side = n / FLOW_NODE_SIDE & 3;
    const bool vertical = side < FLOW_BOTTOM;
    const real nu_x = scale * k->nu_x, nu_y = scale * k->nu_y;
    if (n & FLOW_NODE_OMEGA)
        return vorticity_change(s, w, stream, T, at, c, scale);
    if (n & FLOW_NODE_WALL) {
        const real formula = side_formula(s, psi, w, at, side) + moving;
        return (vertical ? nu_x : nu_y) * (formula - w[at]);
    }
    if (n & FLOW_NODE_BODY)
        return (nu_x > nu_y ? nu_x : nu_y) * (body_vorticity(s, psi, w, at, n) - w[at]);
    return n & FLOW_NODE_OUTFLOW ? -(convective_outflow(s, at, side, c.u, c.v) * (w[at] - w[inner(s, at, side)])) : 0;
}

static bn_status solve_psi(bn_sim *sim, flow *s)
{
    const reference *r = s->reference;
    const real *omega = bn_field_host(s->fields.omega);
    (void)sim;
    BN_PRECISE(flow_poisson_source)
    (s, omega, bn_field_host(s->fields.psi), bn_field_host(s->fields.node), bn_field_host(s->fields.before),
     bn_field_host(s->fields.rhs));
    BN_TRY(BN_PRECISE(flow_solve)(s, FLOW_PSI, bn_field_host(s->fields.before), bn_field_host(s->fields.rhs),
                                  &s->systems.target[FLOW_PSI]));
    bn_field_swap(s->fields.psi, s->fields.before);
    if (s->border.bodies == 0)
        return BN_OK;
    const real *T = s->config.a > 0 ? bn_field_host(s->fields.T) : NULL;
    real *psi = bn_field_host(s->fields.psi);
    s->psi_body = (double)((real)s->psi_body + BN_PRECISE(flow_correct_bodies)(s, r, psi, omega, T));
    return BN_OK;
}

static bn_status residual(bn_sim *sim, flow *s, double wide_scale)
{
    const reference *r = s->reference;
    const size_t points = points_of(s);
    const real scale = (real)wide_scale, weight = (real)s->newton.weight;
    const real *psi = bn_field_host(s->fields.psi), *omega = bn_field_host(s->fields.omega);
    const real *T = s->config.a > 0 ? bn_field_host(s->fields.T) : NULL;
    const int32_t *node = bn_field_host(s->fields.node);
    real *u = bn_field_host(s->fields.velocity), *v = u + points, *f = vector(s, 0), speed = 0;
    (void)sim;
    for (size_t at = 0; at < points; at++) {
        velocity c = { u[at], v[at] };
        velocity_of(s, psi, at, node[at], &c);
        u[at] = c.u;
        v[at] = c.v;
        const int side = node[at] / FLOW_NODE_SIDE & 3;
        const size_t place = side < FLOW_BOTTOM ? at / s->config.nx : at % s->config.nx;
        const real moving = node[at] & FLOW_NODE_WALL ? (real)flow_along(s, s->border.moving, side)[place] : 0;
        f[at] = change_at(s, omega, psi, T, psi, at, node[at], c, moving, scale);
        const real here = (real)fabs((double)c.u) + (real)fabs((double)c.v);
        speed = here > speed || !isfinite(here) ? here : speed;
        if (T) {
            r->addends[at] = s->systems.bits[FLOW_HEAT][at] ? heat_change(s, T, psi, at, node[at], c, scale) : 0;
            f[points + at] = weight * r->addends[at];
        }
    }
    s->totals[0] = sum_of(s, r, f, f);
    s->totals[1] = sum_of(s, r, omega, omega);
    s->totals[2] = (double)speed;
    s->totals[3] = T ? sum_of(s, r, r->addends, r->addends) : 0;
    return BN_OK;
}

/* Product of two vectors. */
static real dot(const flow *s, int a, int b)
{
    const reference *r = s->reference;
    const size_t points = points_of(s);
    const real *x = vector(s, a), *y = vector(s, b);
    for (size_t at = 0; at < points; at++) {
        r->addends[at] = x[at] * y[at];
        if (s->config.a > 0)
            r->addends[at] = r->addends[at] + x[points + at] * y[points + at];
    }
    return (real)sum_of(s, r, r->addends, NULL);
}

static size_t values_of_vector(const flow *s) { return (s->config.a > 0 ? 2 : 1) * points_of(s); }

/* The columns of a batch. */
static real *column_of(const flow *s, int column) { return ((reference *)s->reference)->columns[column]; }

static bn_status normalise(flow *s, int k, int column)
{
    const real length = (real)sqrt((double)dot(s, k, k)), factor = length > 0 ? 1 / length : 0;
    real *x = vector(s, k);
    column_of(s, column)[k] = length;
    for (size_t at = 0; at < values_of_vector(s); at++)
        x[at] = factor * x[at];
    return BN_OK;
}

/* The value of a vector at node p of a side that is a wall. */
static real wall_value(const flow *s, const real *x, const int32_t *node, int side, size_t p)
{
    const size_t nx = s->config.nx, ny = s->config.ny;
    const size_t at = side == FLOW_LEFT     ? p * nx
                      : side == FLOW_RIGHT  ? p * nx + nx - 1
                      : side == FLOW_BOTTOM ? p
                                            : (ny - 1) * nx + p;
    return node[at] & FLOW_NODE_WALL ? x[at] : 0;
}

static void precondition_walls(const flow *s, const real *x, real *d_omega)
{
    const flow_newton *w = &s->newton;
    const double nu_x = w->scale * s->k.nu_x, nu_y = w->scale * s->k.nu_y;
    const real per_nu_x = (real)(1 / nu_x), per_nu_y = (real)(1 / nu_y);
    const real share = (real)(FLOW_NEWTON_BODY / (nu_x > nu_y ? nu_x : nu_y));
    const int32_t *node = bn_field_host(s->fields.node);
    const size_t nx = s->config.nx;
    for (size_t at = 0; at < points_of(s); at++) {
        const int side = node[at] / FLOW_NODE_SIDE & 3;
        const bool vertical = side < FLOW_BOTTOM;
        d_omega[at] = 0;
        if (node[at] & FLOW_NODE_WALL) {
            const size_t m = vertical ? at / nx : at % nx, count = vertical ? s->config.ny : nx;
            const double *t = w->table + (vertical ? 0 : 2 * s->config.ny);
            real sum[4] = { 0 };
            for (size_t p = 1; p + 1 < count; p++)
                sum[(p - 1) % 4] = sum[(p - 1) % 4] +
                                   ((real)t[m < p ? p - m : m - p] - (real)t[m + p]) * wall_value(s, x, node, side, p);
            d_omega[at] = -((vertical ? per_nu_x : per_nu_y) * ((sum[0] + sum[1]) + (sum[2] + sum[3])));
        } else if (node[at] & FLOW_NODE_BODY) {
            d_omega[at] = -(share * x[at]);
        }
    }
}

static void vorticity_source(const flow *s, const real *x, const real *d_omega, const real *d_heat, real *rhs)
{
    const constants *k = constants_of(s);
    const size_t points = points_of(s);
    const real per_nu = (real)(s->k.per_h2_x / (s->newton.scale * s->k.nu_x));
    const int32_t *node = bn_field_host(s->fields.node);
    const real *u = bn_field_host(s->fields.velocity), *v = u + points;
    for (size_t at = 0; at < points; at++) {
        const unsigned bits = s->systems.bits[FLOW_PSI][at];
        const int n = node[at], side = n / FLOW_NODE_SIDE & 3;
        real value = x[at];
        rhs[at] = 0;
        if (!bits)
            continue;
        if (n & FLOW_NODE_OUTFLOW) {
            const real out = convective_outflow(s, at, side, u[at], v[at]);
            value = beside(s, at, side, beside(s, at, side, side < FLOW_BOTTOM ? 2 * k->per_h2_x : 2 * k->per_h2_y)) *
                    (value / (out > 0 ? out : 1));
        } else {
            if (d_heat)
                value = value - (k->dt * k->buoyancy) * (per_2(s, at, 0) * (d_heat[at + 1] - d_heat[at - 1]));
            value = per_nu * value;
        }
        rhs[at] = given(s, d_omega, at, n, FLOW_PSI_GIVEN, bits, k->per_h2_x, k->per_h2_y) - area(s, at, bits) * value;
    }
}

static bn_status precondition(flow *s, int number)
{
    const reference *r = s->reference;
    const flow_newton *w = &s->newton;
    const size_t points = points_of(s);
    const real *x = vector(s, number);
    real *d_omega = bn_field_host(w->d_omega), *d_psi = bn_field_host(s->fields.before);
    real *d_heat = s->config.a > 0 ? bn_field_host(w->d_heat) : NULL, *rhs = bn_field_host(s->fields.rhs);
    precondition_walls(s, x, d_omega);
    if (d_heat) {
        const real per_a = (real)(s->k.per_h2_x / (s->k.a_x * w->scale * w->weight));
        for (size_t at = 0; at < points; at++) {
            const unsigned bits = s->systems.bits[FLOW_HEAT][at];
            rhs[at] = bits ? area(s, at, bits) * -(per_a * x[points + at]) : 0;
            d_heat[at] = 0;
        }
        BN_TRY(BN_PRECISE(flow_solve)(s, FLOW_HEAT, d_heat, rhs, &s->systems.target[FLOW_HEAT]));
    }
    vorticity_source(s, x, d_omega, d_heat, rhs);
    if (s->systems.coupled) {
        bn_linear_reference *psi = r->linear[FLOW_PSI];
        for (size_t at = 0; at < points; at++)
            d_psi[at] = 0;
        BN_PRECISE(linear_reference_solve_two)(psi, psi, d_omega, d_psi, rhs, NULL);
        return BN_PRECISE(linear_reference_check)(psi, d_omega, rhs, &s->systems.target[FLOW_PSI],
                                                  &s->systems.report[FLOW_PSI]);
    }
    BN_TRY(BN_PRECISE(flow_solve)(s, FLOW_PSI, d_omega, rhs, &s->systems.target[FLOW_PSI]));
    for (size_t at = 0; at < points; at++) {
        const unsigned bits = s->systems.bits[FLOW_PSI][at];
        rhs[at] = bits ? area(s, at, bits) * d_omega[at] : 0;
        d_psi[at] = 0;
    }
    BN_TRY(BN_PRECISE(flow_solve)(s, FLOW_PSI, d_psi, rhs, &s->systems.target[FLOW_PSI]));
    if (s->border.bodies > 0)
        BN_PRECISE(flow_correct_bodies)(s, r, d_psi, d_omega, d_heat);
    return BN_OK;
}

static void jacobian(const flow *s, real *out)
{
    const constants *k = constants_of(s);
    const size_t points = points_of(s);
    const real scale = (real)s->newton.scale, weight = (real)s->newton.weight;
    const real *omega = bn_field_host(s->fields.omega), *d_omega = bn_field_host(s->newton.d_omega);
    const real *T = s->config.a > 0 ? bn_field_host(s->fields.T) : NULL;
    const real *d_heat = T ? bn_field_host(s->newton.d_heat) : NULL, *d_psi = bn_field_host(s->fields.before);
    const real *psi = bn_field_host(s->fields.psi);
    const real *u = bn_field_host(s->fields.velocity), *v = u + points;
    const int32_t *node = bn_field_host(s->fields.node);
    for (size_t at = 0; at < points; at++) {
        const int n = node[at], side = n / FLOW_NODE_SIDE & 3;
        const velocity c = { u[at], v[at] };
        const real left = convective_outflow(s, at, side, c.u, c.v);
        velocity d = { 0, 0 };
        velocity_of(s, d_psi, at, n, &d);
        real change = change_at(s, d_omega, d_psi, d_heat, psi, at, n, c, 0, scale);
        if (n & FLOW_NODE_OMEGA)
            change = change - k->dt * convection(s, omega, d_psi, at, n, c, d);
        else if ((n & FLOW_NODE_OUTFLOW) && !(left > 0))
            change = -d_omega[at];
        const real out_of = side == FLOW_LEFT ? -d.u : side == FLOW_RIGHT ? d.u : side == FLOW_BOTTOM ? -d.v : d.v;
        const real d_left = left > 0 && left < 1
                                ? beside(s, at, side, side < FLOW_BOTTOM ? k->courant_x : k->courant_y) * out_of
                                : 0;
        if (n & FLOW_NODE_OUTFLOW)
            change = change - d_left * (omega[at] - omega[inner(s, at, side)]);
        out[at] = change;
        if (!T)
            continue;
        real heat = 0;
        if (s->systems.bits[FLOW_HEAT][at]) {
            heat = heat_change(s, d_heat, psi, at, n, c, scale) - k->dt * convection(s, T, d_psi, at, n, c, d);
            if (n & FLOW_NODE_OUTFLOW)
                heat = heat - d_left * (T[at] - T[inner(s, at, side)]);
        }
        out[points + at] = weight * heat;
    }
}

/* x -= factors times the vectors before number k. */
static void subtract_vectors(const flow *s, real *x, const real *factors, int k)
{
    for (int c = 0; c < k; c++) {
        const real *other = vector(s, c);
        for (size_t at = 0; at < values_of_vector(s); at++)
            x[at] = x[at] - factors[c] * other[at];
    }
}

static bn_status orthogonalise(flow *s, int k, int column)
{
    real *factors = column_of(s, column);
    jacobian(s, vector(s, k));
    for (int c = 0; c < k; c++)
        factors[c] = dot(s, c, k);
    subtract_vectors(s, vector(s, k), factors, k);
    return BN_OK;
}

static bn_status read_columns(flow *s, double (*columns)[FLOW_NEWTON_COLUMN], int count, int rows)
{
    for (int b = 0; b < count; b++)
        for (int i = 0; i < rows; i++)
            columns[b][i] = (double)column_of(s, b)[i];
    return BN_OK;
}

static bn_status combine(flow *s, const double *wide, int k)
{
    real factors[FLOW_NEWTON_COLUMN], *x = vector(s, k);
    for (int c = 0; c < k; c++)
        factors[c] = (real)wide[c];
    for (size_t at = 0; at < values_of_vector(s); at++)
        x[at] = 0;
    subtract_vectors(s, x, factors, k);
    return BN_OK;
}

static bn_status update(flow *s, double wide_step)
{
    const real step = (real)wide_step;
    const struct {
        bn_field *now, *change, *next;
    } of[2] = { { s->fields.omega, s->newton.d_omega, s->fields.next },
                { s->fields.T, s->newton.d_heat, s->fields.T_next } };
    for (int i = 0; i < (s->config.a > 0 ? 2 : 1); i++) {
        const real *now = bn_field_host(of[i].now), *change = bn_field_host(of[i].change);
        real *next = bn_field_host(of[i].next);
        for (size_t at = 0; at < points_of(s); at++)
            next[at] = now[at] + step * change[at];
        bn_field_swap(of[i].now, of[i].next);
    }
    return BN_OK;
}

static bn_status predict(flow *s, double further, bool back)
{
    bn_field *const of[2][2] = { { s->fields.omega, s->newton.omega_before }, { s->fields.T, s->newton.T_before } };
    for (int i = 0; i < (s->config.a > 0 ? 2 : 1); i++) {
        real *now = bn_field_host(of[i][0]), *before = bn_field_host(of[i][1]);
        for (size_t at = 0; at < points_of(s); at++) {
            const real x = now[at], x_before = before[at];
            now[at] = back ? x_before : x + (real)further * (x - x_before);
            before[at] = back ? x_before : x;
        }
    }
    return BN_OK;
}

/* Elimination in a band, in 2 x 2 blocks: flow_krylov.cl has the matrix. */
typedef struct band {
    real *values;
    int width;
    size_t nodes;
} band;

/* The four elements of a block. */
static real *entry(const band *b, int e, size_t row, int slot)
{
    return b->values + ((size_t)e * b->nodes + row) * (size_t)(2 * b->width + 2) + (size_t)slot;
}

/* What the rows of node (i, j) say of the unknowns `part` of a colour, from J times them. */
static void set_rows(const flow *s, const band *b, size_t i, size_t j, int colour, int part)
{
    const constants *k = constants_of(s);
    const int *stride = s->newton.stride;
    const size_t at = j * s->config.nx + i, row = i * (size_t)stride[0] + j * (size_t)stride[1];
    const int di = (colour % 3 - (int)(i % 3) + 4) % 3 - 1, dj = (colour / 3 - (int)(j % 3) + 4) % 3 - 1;
    const bool here = di == 0 && dj == 0;
    const int slot = b->width + di * stride[0] + dj * stride[1];
    const unsigned bits = s->systems.bits[FLOW_PSI][at];
    const int32_t *node = bn_field_host(s->fields.node);
    real face[4], of_psi = here && part == 0 ? 1 : 0;
    if ((di < 0 && i == 0) || (di > 0 && i + 1 == s->config.nx) || (dj < 0 && j == 0) ||
        (dj > 0 && j + 1 == s->config.ny))
        return;
    for (int d = 0; d < 4; d++)
        face[d] = coupling(s, at, d < 2 ? k->per_h2_x : k->per_h2_y, bits, d);
    if (bits && part == 0)
        of_psi = here      ? (face[0] + face[1]) + (face[2] + face[3])
                 : dj == 0 ? -face[di < 0 ? 0 : 1]
                 : di == 0 ? -face[dj < 0 ? 2 : 3]
                           : 0;
    else if (bits)
        of_psi = here ? -area(s, at, bits) : 0;
    *entry(b, part, row, slot) = of_psi;
    *entry(b, 2 + part, row, slot) = node[at] & FLOW_NODE_UNKNOWN ? vector(s, 1)[at] : here && part == 1 ? 1 : 0;
}

/* The matrix, column by column of J; nodes of a colour are three apart, so that no row sees two of them. */
static void set_matrix(const flow *s, const band *b)
{
    const size_t nx = s->config.nx, ny = s->config.ny;
    real *d_omega = bn_field_host(s->newton.d_omega), *d_psi = bn_field_host(s->fields.before);
    for (int c = 0; c < 18; c++) {
        const int colour = c % 9, part = c / 9;
        for (size_t at = 0; at < nx * ny; at++) {
            const real one = at % nx % 3 + 3 * (at / nx % 3) == (size_t)colour ? 1 : 0;
            d_omega[at] = part == 1 ? one : 0;
            d_psi[at] = part == 0 ? one : 0;
        }
        jacobian(s, vector(s, 1));
        for (size_t at = 0; at < nx * ny; at++)
            set_rows(s, b, at % nx, at / nx, colour, part);
    }
}

static void eliminate_row(const band *b, size_t pivot, int r)
{
    const int width = b->width, below = width - 1 - r;
    const size_t row = pivot + 1 + (size_t)r;
    const real p0 = *entry(b, 0, pivot, width), p1 = *entry(b, 1, pivot, width), p2 = *entry(b, 2, pivot, width),
               p3 = *entry(b, 3, pivot, width), scale = 1 / (p0 * p3 - p1 * p2);
    const real a0 = *entry(b, 0, row, below), a1 = *entry(b, 1, row, below), a2 = *entry(b, 2, row, below),
               a3 = *entry(b, 3, row, below);
    const real m[4] = { scale * (a0 * p3 - a1 * p2), scale * (a1 * p0 - a0 * p1), scale * (a2 * p3 - a3 * p2),
                        scale * (a3 * p0 - a2 * p1) };
    for (int e = 0; e < 4; e++) {
        const real first = m[e & 2], second = m[(e & 2) + 1];
        const real *upper = entry(b, e & 1, pivot, width + 1), *lower = entry(b, 2 + (e & 1), pivot, width + 1);
        real *own = entry(b, e, row, width - r), *right = entry(b, e, row, 2 * width + 1);
        for (int c = 0; c < width; c++)
            own[c] = own[c] - (first * upper[c] + second * lower[c]);
        *right = *right - (first * upper[width] + second * lower[width]);
    }
}

static bn_status eliminate(bn_sim *sim, flow *s, bool *asked)
{
    const flow_newton *w = &s->newton;
    const size_t nx = s->config.nx, ny = s->config.ny;
    const band b = { bn_field_host(w->matrix), w->band, nx * ny };
    const int right = 2 * b.width + 1;
    real *d_omega = bn_field_host(w->d_omega);
    BN_TRY(bn_field_zero(w->matrix));
    set_matrix(s, &b);
    for (size_t at = 0; at < b.nodes; at++)
        *entry(&b, 2, at % nx * (size_t)w->stride[0] + at / nx * (size_t)w->stride[1], right) = -vector(s, 0)[at];
    for (size_t pivot = 0; pivot + 1 < b.nodes && !*asked; pivot++) {
        for (int r = 0; r < b.width && pivot + 1 + (size_t)r < b.nodes; r++)
            eliminate_row(&b, pivot, r);
        *asked = bn_sim_asked_to_end(sim);
    }
    for (size_t pivot = b.nodes; pivot-- > 0 && !*asked;) {
        const real p0 = *entry(&b, 0, pivot, b.width), p1 = *entry(&b, 1, pivot, b.width),
                   p2 = *entry(&b, 2, pivot, b.width), p3 = *entry(&b, 3, pivot, b.width),
                   scale = 1 / (p0 * p3 - p1 * p2);
        const real y0 = *entry(&b, 0, pivot, right), y1 = *entry(&b, 2, pivot, right);
        const real x0 = scale * (p3 * y0 - p1 * y1), x1 = scale * (p0 * y1 - p2 * y0);
        for (size_t r = 0; r < (size_t)b.width && r < pivot; r++)
            for (int e = 0; e < 4; e += 2) {
                real *y = entry(&b, e, pivot - 1 - r, right);
                const int slot = b.width + 1 + (int)r;
                *y = *y - (*entry(&b, e, pivot - 1 - r, slot) * x0 + *entry(&b, e + 1, pivot - 1 - r, slot) * x1);
            }
        *entry(&b, 3, pivot, right) = x1;
    }
    for (size_t at = 0; at < b.nodes; at++)
        d_omega[at] = *entry(&b, 3, at % nx * (size_t)w->stride[0] + at / nx * (size_t)w->stride[1], right);
    return BN_OK;
}

const flow_newton_engine BN_PRECISE(flow_newton) = {
    .solve_psi = solve_psi,
    .residual = residual,
    .normalise = normalise,
    .precondition = precondition,
    .orthogonalise = orthogonalise,
    .read_columns = read_columns,
    .combine = combine,
    .update = update,
    .predict = predict,
    .eliminate = eliminate,
};
