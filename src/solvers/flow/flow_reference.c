/* flow_reference.c: one step of flow in plain C, the specification of kernels/flow.cl. Compiled for float and for
 * double; every expression is associated as on the device, so that both give the same bits. */
#include "flow.h"
#include "numerics/linear_reference.h"
#include "sim/reference.h"

#include <math.h>
#include <stdlib.h>

typedef struct reference {
    bn_linear_reference *linear[FLOW_SYSTEMS];
    real *rest, *partials; /* values to be summed, partial sums */
    real response[FLOW_BODIES * FLOW_BODIES];
} reference;

/* Sum of a step's contributions. */
static double sum_of(const flow *s, const reference *r, const real *a, const real *b)
{
    const size_t n[3] = { s->nx, s->ny, 1 };
    return (double)bn_ordered_dot(a, b, n, r->partials);
}

/* Control volume over h_x h_y. */
static real area(unsigned bits)
{
    return REAL(0.25) * (real)(((bits & BN_CELL_SW) != 0) + ((bits & BN_CELL_SE) != 0) + ((bits & BN_CELL_NW) != 0) +
                               ((bits & BN_CELL_NE) != 0));
}

/* Neighbours whose value is given (bits from `first` on), each times its coupling. */
static real given(const flow *s, const real *f, size_t at, int n, int first, unsigned bits, real kx, real ky)
{
    const size_t nx = s->nx;
    const real west = n & first ? kx * (real)bn_stencil_face(bits, 0) * f[at - 1] : 0;
    const real east = n & 2 * first ? kx * (real)bn_stencil_face(bits, 1) * f[at + 1] : 0;
    const real south = n & 4 * first ? ky * (real)bn_stencil_face(bits, 2) * f[at - nx] : 0;
    const real north = n & 8 * first ? ky * (real)bn_stencil_face(bits, 3) * f[at + nx] : 0;
    return (west + east) + (south + north);
}

/* Derivative between two nodes, central or upwind against c. */
static real derivative(const flow *s, real before, real here, real after, real c, real i2)
{
    return s->upwind ? 2 * i2 * (c > 0 ? here - before : after - here) : i2 * (after - before);
}

static size_t inner(const flow *s, size_t at, int side)
{
    return side == FLOW_LEFT ? at + 1 : side == FLOW_RIGHT ? at - 1 : side == FLOW_BOTTOM ? at + s->nx : at - s->nx;
}

/* Courant number of what leaves through a side, 0 ... 1. */
static real carried(const flow *s, int side, real u, real v)
{
    const real out = side == FLOW_LEFT ? -u : side == FLOW_RIGHT ? u : side == FLOW_BOTTOM ? -v : v;
    const real c = (real)(side < FLOW_BOTTOM ? s->k.convect_x : s->k.convect_y) * out;
    return c > 1 ? 1 : c > 0 ? c : 0;
}

static void heat(const flow *s, const real *T, const real *u, const real *v, const int32_t *node, real *rhs, real *next)
{
    const real dt = (real)s->k.dt, ix2 = (real)s->k.ix2, iy2 = (real)s->k.iy2;
    const size_t nx = s->nx;
    for (size_t at = 0; at < nx * s->ny; at++) {
        const unsigned bits = s->bits[FLOW_HEAT][at];
        const size_t i = at % nx, j = at / nx;
        const int n = node[at], side = n / FLOW_NODE_SIDE & 3;
        next[at] = T[at];
        rhs[at] = 0;
        if (!bits)
            continue;
        const real t_x = i > 0 && i + 1 < nx ? derivative(s, T[at - 1], T[at], T[at + 1], u[at], ix2) : 0;
        const real t_y = j > 0 && j + 1 < s->ny ? derivative(s, T[at - nx], T[at], T[at + nx], v[at], iy2) : 0;
        real moved = T[at] - dt * (u[at] * t_x + v[at] * t_y);
        if (n & FLOW_NODE_OUT)
            moved = moved - carried(s, side, u[at], v[at]) * (T[at] - T[inner(s, at, side)]);
        rhs[at] = area(bits) * moved + given(s, T, at, n, FLOW_HEAT_FIXED, bits, (real)s->k.ax, (real)s->k.ay);
    }
}

static void advance(const flow *s, const real *omega, const real *u, const real *v, const real *T, const int32_t *node,
                    real *rhs, real *next)
{
    const real dt = (real)s->k.dt, ix2 = (real)s->k.ix2, iy2 = (real)s->k.iy2, buoyancy = (real)s->k.buoyancy;
    const size_t nx = s->nx;
    for (size_t at = 0; at < nx * s->ny; at++) {
        next[at] = omega[at];
        rhs[at] = 0;
        if (!(node[at] & FLOW_NODE_OMEGA))
            continue;
        const real w_x = derivative(s, omega[at - 1], omega[at], omega[at + 1], u[at], ix2);
        const real w_y = derivative(s, omega[at - nx], omega[at], omega[at + nx], v[at], iy2);
        real sum = omega[at] - dt * (u[at] * w_x + v[at] * w_y);
        if (T)
            sum = sum + (dt * buoyancy) * (ix2 * (T[at + 1] - T[at - 1]));
        rhs[at] = sum + given(s, omega, at, node[at], FLOW_OMEGA_FIXED, s->bits[FLOW_OMEGA][at], (real)s->k.nux,
                              (real)s->k.nuy);
    }
}

static void source(const flow *s, const real *omega, const real *psi, const int32_t *node, real *before, real *rhs)
{
    for (size_t at = 0; at < (size_t)s->nx * s->ny; at++) {
        const unsigned bits = s->bits[FLOW_PSI][at];
        rhs[at] = 0;
        if (!bits) {
            before[at] = psi[at];
            continue;
        }
        before[at] = psi[at] + (psi[at] - before[at]);
        rhs[at] = area(bits) * omega[at] +
                  given(s, psi, at, node[at], FLOW_PSI_FIXED, bits, (real)s->k.cx, (real)s->k.cy);
    }
}

/* What the wall formula asks for at `at` from the fluid node `other`, without slip: Thom (1933), omega_w = -2 (psi_1 -
 * psi_w) / h^2, or Woods (1954), omega_w = -3 (psi_1 - psi_w) / h^2 - omega_1 / 2. */
static real formula(const flow *s, const real *psi, const real *next, size_t at, size_t other, bool along_x)
{
    return -(real)(along_x ? s->k.wall_x : s->k.wall_y) * (psi[other] - psi[at]) - (real)s->k.wall_omega * next[other];
}

static real on_body(const flow *s, const real *psi, const real *next, size_t at, int n)
{
    const size_t around[4] = { at - 1, at + 1, at - s->nx, at + s->nx };
    real sum = 0;
    int count = 0;
    for (int d = 0; d < 4; d++)
        if (n & FLOW_PSI_FIXED << d) {
            sum = sum + formula(s, psi, next, at, around[d], d < 2);
            count++;
        }
    return sum / (real)count;
}

/* What an explicit step would change of the vorticity in the fluid: dt (nu Laplace omega - u omega_x - v omega_y + C
 * T_x), which vanishes when the flow is steady. */
static real explicit_change(const flow *s, const real *omega, const real *T, size_t at, real u, real v)
{
    const real dt = (real)s->k.dt, ix2 = (real)s->k.ix2, iy2 = (real)s->k.iy2, buoyancy = (real)s->k.buoyancy;
    const size_t nx = s->nx;
    const real w = omega[at], west = omega[at - 1], east = omega[at + 1], south = omega[at - nx],
               north = omega[at + nx];
    const real spread = (real)s->k.nux * ((west - w) + (east - w)) + (real)s->k.nuy * ((south - w) + (north - w));
    const real rest = spread -
                      dt * (u * derivative(s, west, w, east, u, ix2) + v * derivative(s, south, w, north, v, iy2));
    return T ? rest + (dt * buoyancy) * (ix2 * (T[at + 1] - T[at - 1])) : rest;
}

/* The same for the temperature: conduction through the faces of the control volume, over its area, less convection. */
static real explicit_heating(const flow *s, const real *T, size_t at, int n, real u, real v)
{
    const unsigned bits = s->bits[FLOW_HEAT][at];
    const size_t nx = s->nx, i = at % nx, j = at / nx, other[4] = { at - 1, at + 1, at - nx, at + nx };
    real through[4] = { 0 };
    for (int d = 0; d < 4; d++)
        if (bn_stencil_face(bits, d) > 0)
            through[d] = (real)(d < 2 ? s->k.ax : s->k.ay) * (real)bn_stencil_face(bits, d) * (T[other[d]] - T[at]);
    const real t_x = i > 0 && i + 1 < nx ? derivative(s, T[at - 1], T[at], T[at + 1], u, (real)s->k.ix2) : 0;
    const real t_y = j > 0 && j + 1 < s->ny ? derivative(s, T[at - nx], T[at], T[at + nx], v, (real)s->k.iy2) : 0;
    const real rest = ((through[0] + through[1]) + (through[2] + through[3])) / area(bits) -
                      (real)s->k.dt * (u * t_x + v * t_y);
    const int side = n / FLOW_NODE_SIDE & 3;
    return n & FLOW_NODE_OUT ? rest - carried(s, side, u, v) * (T[at] - T[inner(s, at, side)]) : rest;
}

/* Velocity from psi, and the vorticity at the border and on bodies:
 *   walls and bodies: the formula, minus s 2 U / h or s 3 U / h, s = 1 at the top and left, -1 at the bottom and right,
 *                     U along +x or +y; the change is taken by the share theta
 *   slip:             omega = 0
 *   outflow:          omega_t + u_n omega_n = 0, upwind
 * `rest`: what the steady equations leave over, as the change of an explicit step; at walls as it spreads to the node
 * beside. */
static void walls(const flow *s, const reference *r, const real *psi, const real *next, const real *T,
                  const int32_t *node, real *omega, real *u, real *v)
{
    const real ix2 = (real)s->k.ix2, iy2 = (real)s->k.iy2, theta = (real)s->k.theta;
    const real nux = (real)s->k.nux, nuy = (real)s->k.nuy;
    const size_t nx = s->nx;
    for (size_t at = 0; at < nx * s->ny; at++) {
        const int n = node[at], side = n / FLOW_NODE_SIDE & 3;
        const bool upright = side < FLOW_BOTTOM;
        const real old = omega[at];
        real value = next[at], rest = 0;
        if (n & FLOW_NODE_OMEGA) {
            u[at] = iy2 * (psi[at + nx] - psi[at - nx]);
            v[at] = ix2 * (psi[at - 1] - psi[at + 1]);
            rest = explicit_change(s, next, T, at, u[at], v[at]);
        } else if (n & FLOW_NODE_WALL) {
            const real slip = upright ? (real)s->k.slip_x * v[at] : (real)s->k.slip_y * u[at];
            const real asked = formula(s, psi, next, at, inner(s, at, side), upright) -
                               (side == FLOW_LEFT || side == FLOW_TOP ? slip : -slip);
            value = old + theta * (asked - old);
            rest = (upright ? nux : nuy) * (asked - old);
        } else if (n & FLOW_NODE_BODY) {
            const real asked = on_body(s, psi, next, at, n);
            value = old + theta * (asked - old);
            rest = (nux > nuy ? nux : nuy) * (asked - old);
        } else if (n & FLOW_NODE_FREE) {
            const real drop = psi[inner(s, at, side)] - psi[at];
            value = 0;
            if (upright)
                v[at] = 2 * ix2 * (side == FLOW_LEFT ? -drop : drop);
            else
                u[at] = 2 * iy2 * (side == FLOW_BOTTOM ? drop : -drop);
        } else if (n & FLOW_NODE_OUT) {
            if (upright)
                u[at] = iy2 * (psi[at + nx] - psi[at - nx]);
            else
                v[at] = ix2 * (psi[at - 1] - psi[at + 1]);
            rest = -(carried(s, side, u[at], v[at]) * (old - next[inner(s, at, side)]));
            value = old + rest;
        }
        omega[at] = value;
        r->rest[at] = rest;
    }
}

/* psi on the bodies around which the fluid flows; see kernels/flow.cl. */
static void raise_bodies(flow *s, const reference *r, real *psi, const real *next, const real *T)
{
    const size_t nx = s->nx, points = nx * s->ny;
    const real w[2] = { (real)s->k.body_x, (real)s->k.body_y }, push = (real)s->k.body_heat;
    const real g[2] = { (real)s->k.body_psi_x, (real)s->k.body_psi_y };
    const real *lift = bn_field_host(s->lift);
    real change[FLOW_BODIES] = { 0 };
    for (int body = 1; body <= s->bodies; body++) {
        for (size_t at = 0; at < points; at++) {
            real sum = 0;
            r->rest[at] = 0;
            if (!s->bits[FLOW_OMEGA][at])
                continue;
            const size_t around[4] = { at - 1, at + 1, at - nx, at + nx };
            for (int d = 0; d < 4; d++)
                if (s->body[around[d]] == body)
                    sum = sum + (w[d / 2] * next[at] + g[d / 2] * (psi[at] - psi[around[d]]));
            if (T && s->body[around[0]] == body)
                sum = sum + push * T[around[0]];
            if (T && s->body[around[1]] == body)
                sum = sum - push * T[around[1]];
            r->rest[at] = sum;
        }
        const real total = (real)sum_of(s, r, r->rest, NULL);
        for (int k = 0; k < s->bodies; k++)
            change[k] = change[k] + r->response[k * s->bodies + body - 1] * total;
    }
    for (size_t at = 0; at < points; at++)
        for (int k = 0; k < s->bodies; k++)
            psi[at] = psi[at] + change[k] * lift[(size_t)k * points + at];
    for (int k = 0; k < s->bodies; k++)
        s->totals[FLOW_TOTALS + k] = (double)change[k];
}

static bn_status solve(flow *s, flow_system system, real *x, const real *rhs, const bn_cg_target *target)
{
    const reference *r = s->reference;
    return BN_PRECISE(linear_reference_solve)(r->linear[system], x, rhs, target, &s->report[system]);
}

static bn_status setup_bodies(bn_sim *sim, flow *s)
{
    reference *r = s->reference;
    const size_t points = (size_t)s->nx * s->ny;
    bn_status st = BN_OK;
    double *lift = calloc(((size_t)s->bodies + 1) * points, sizeof *lift),
           *right = lift ? lift + (size_t)s->bodies * points : NULL;
    real *x = calloc(points, sizeof *x), *rhs = calloc(points, sizeof *rhs);
    if (!lift || !x || !rhs) {
        st = bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the obstacles");
        goto out;
    }
    bn_cg_target target = s->target[FLOW_PSI];
    target.tolerance = fmax(1e-12, 8 * s->roundoff);
    for (int body = 1; body <= s->bodies; body++) {
        double *own = lift + (size_t)(body - 1) * points;
        flow_lift_system(s, body, right, own);
        for (size_t at = 0; at < points; at++) {
            x[at] = (real)own[at];
            rhs[at] = (real)right[at];
        }
        BN_GO(solve(s, FLOW_PSI, x, rhs, &target));
        for (size_t at = 0; at < points; at++)
            own[at] = (double)x[at];
    }
    BN_GO(bn_field_set(s->lift, lift, (size_t)s->bodies * points));
    BN_GO(flow_find_response(sim, s, lift));
    for (int i = 0; i < s->bodies * s->bodies; i++)
        r->response[i] = (real)s->response[i];
out:
    free(lift);
    free(x);
    free(rhs);
    return st;
}

static bn_status setup(bn_sim *sim, void *state)
{
    flow *s = state;
    const size_t points = (size_t)s->nx * s->ny;
    reference *r = s->reference = calloc(1, sizeof *r);
    if (!r || !(r->rest = calloc(points, sizeof(real))) ||
        !(r->partials = calloc((s->nx / BN_BLOCK_NX + 1) * (size_t)(s->ny / BN_BLOCK_NY + 1), sizeof(real))))
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the reference of flow");
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (s->bits[i])
            BN_TRY(BN_PRECISE(linear_reference_create)(bn_sim_context(sim), &s->system[i], &r->linear[i]));
    return s->bodies > 0 ? setup_bodies(sim, s) : BN_OK;
}

static void teardown(void *state)
{
    flow *s = state;
    reference *r = s->reference;
    if (r) {
        for (int i = 0; i < FLOW_SYSTEMS; i++)
            BN_PRECISE(linear_reference_destroy)(&r->linear[i]);
        free(r->rest);
        free(r->partials);
    }
    free(r);
    s->reference = NULL;
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    flow *s = state;
    const reference *r = s->reference;
    const size_t points = (size_t)s->nx * s->ny;
    real *omega = bn_field_host(s->omega), *next = bn_field_host(s->next);
    real *u = bn_field_host(s->velocity), *v = u + points, *rhs = bn_field_host(s->rhs);
    const int32_t *node = bn_field_host(s->node);
    if (s->a > 0) {
        heat(s, bn_field_host(s->T), u, v, node, rhs, bn_field_host(s->T_next));
        BN_TRY(solve(s, FLOW_HEAT, bn_field_host(s->T_next), rhs, &s->target[FLOW_HEAT]));
        bn_field_swap(s->T, s->T_next);
    }
    const real *T = s->a > 0 ? bn_field_host(s->T) : NULL;
    advance(s, omega, u, v, T, node, rhs, next);
    BN_TRY(solve(s, FLOW_OMEGA, next, rhs, &s->target[FLOW_OMEGA]));
    source(s, next, bn_field_host(s->psi), node, bn_field_host(s->before), rhs);
    BN_TRY(solve(s, FLOW_PSI, bn_field_host(s->before), rhs, &s->target[FLOW_PSI]));
    bn_field_swap(s->psi, s->before);
    real *psi = bn_field_host(s->psi);
    if (s->bodies > 0)
        raise_bodies(s, r, psi, next, T);
    walls(s, r, psi, next, T, node, omega, u, v);

    s->totals[0] = sum_of(s, r, r->rest, r->rest);
    s->totals[1] = sum_of(s, r, omega, omega);
    real speed = 0;
    for (size_t at = 0; at < points; at++) {
        const real here = (real)fabs((double)u[at]) + (real)fabs((double)v[at]);
        speed = here > speed || !isfinite(here) ? here : speed;
    }
    s->totals[2] = (double)speed;
    s->totals[3] = 0;
    if (T) {
        for (size_t at = 0; at < points; at++)
            r->rest[at] = s->bits[FLOW_HEAT][at] ? explicit_heating(s, T, at, node[at], u[at], v[at]) : 0;
        s->totals[3] = sum_of(s, r, r->rest, r->rest);
    }
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        s->solves[i] = r->linear[i] ? BN_PRECISE(linear_reference_solves)(r->linear[i]) : 0;
    return flow_report(sim, s, out);
}

static bn_status resume(bn_sim *sim, void *state)
{
    flow *s = state;
    const reference *r = s->reference;
    (void)sim;
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (r->linear[i])
            BN_PRECISE(linear_reference_resume)(r->linear[i], s->solves[i], &s->report[i]);
    return BN_OK;
}

const bn_engine
    BN_REFERENCE(flow) = { .name = "reference", .setup = setup, .step = step, .teardown = teardown, .resume = resume };
