/* flow_reference.c: one step of flow in plain C, the specification of kernels/flow.cl and, with its own conjugate
 * gradients, of kernels/numerics.cl. Compiled for float and for double; every expression is associated as on the
 * device, so that both give the same bits. */
#include "flow.h"
#include "sim/reference.h"

#include <math.h>
#include <stdlib.h>

/* Arrays that only the linear solver needs. */
typedef struct work {
    real *q, *product, *partials; /* A p; products to be summed; partial sums */
} work;

/* The five diagonals of a matrix, and the grid. */
typedef struct matrix {
    const real *d[5];
    size_t nx, ny;
} matrix;

static matrix matrix_of(const flow *s, bn_field *A)
{
    matrix m = { .nx = s->nx, .ny = s->ny };
    for (size_t c = 0; c < 5; c++)
        m.d[c] = (const real *)bn_field_host(A) + c * m.nx * m.ny;
    return m;
}

/* Row `at` of A v; an entry of zero means that the neighbour may not exist. */
static real row(const matrix *m, size_t at, const real *v)
{
    const real west = m->d[1][at] == 0 ? 0 : m->d[1][at] * v[at - 1];
    const real east = m->d[2][at] == 0 ? 0 : m->d[2][at] * v[at + 1];
    const real south = m->d[3][at] == 0 ? 0 : m->d[3][at] * v[at - m->nx];
    const real north = m->d[4][at] == 0 ? 0 : m->d[4][at] * v[at + m->nx];
    return m->d[0][at] * v[at] + ((west + east) + (south + north));
}

/* Sum of a b over the unknowns (both are zero elsewhere, or `only` says which points count). */
static real dot(const matrix *m, const work *w, const real *a, const real *b, bool only)
{
    for (size_t at = 0; only && at < m->nx * m->ny; at++)
        w->product[at] = m->d[0][at] != 0 ? a[at] : 0;
    return bn_ordered_dot(only ? w->product : a, only ? w->product : b, m->nx, m->ny, w->partials);
}

/* Conjugate gradients after Hestenes and Stiefel (1952), started from x, judged by the residual recomputed from x; the
 * rules are those of src/numerics/cg.h. r, p: work fields. */
static void conjugate_gradients(const matrix *m, const work *w, real *x, const real *b, real *r, real *p,
                                const bn_cg_target *target, bn_cg_report *report)
{
    const size_t points = m->nx * m->ny;
    const bn_cg_limits limits = bn_cg_limits_for(target, sizeof(real) == 8 ? BN_DOUBLE : BN_SINGLE);
    const real tolerance2 = (real)limits.tolerance2, floor_x = (real)limits.floor_x, floor_b = (real)limits.floor_b;
    real rr = 0, bb = 0, last_true = 0;
    *report = (bn_cg_report){ .state = BN_CG_RUN };
    for (bool check = false;; check = true) {
        for (size_t at = 0; at < points; at++)
            r[at] = m->d[0][at] != 0 ? b[at] - row(m, at, x) : 0;
        const real recurrence = rr, before = last_true;
        rr = dot(m, w, r, r, false);
        bb = dot(m, w, b, b, true);
        const real xx = dot(m, w, x, x, true);
        last_true = rr;
        if (!isfinite(rr))
            report->state = BN_CG_BROKEN;
        else if (rr <= tolerance2 * bb)
            report->state = BN_CG_REACHED;
        else if (check && recurrence > tolerance2 * bb)
            report->state = BN_CG_LIMIT;
        else if (check && rr <= floor_x * xx + floor_b * bb)
            report->state = BN_CG_ROUNDED;
        else if (check && report->restarts > 0 && 4 * rr > before)
            report->state = BN_CG_STALLED;
        else
            report->restarts += check;
        real beta = 0;
        while (report->state == BN_CG_RUN) {
            for (size_t at = 0; at < points; at++)
                p[at] = m->d[0][at] != 0 ? r[at] + beta * p[at] : 0;
            for (size_t at = 0; at < points; at++) {
                w->q[at] = m->d[0][at] != 0 ? row(m, at, p) : 0;
                w->product[at] = p[at] * w->q[at];
            }
            const real pAp = bn_ordered_dot(w->product, NULL, m->nx, m->ny, w->partials);
            if (!isfinite(pAp) || !(pAp > 0)) {
                report->state = BN_CG_BROKEN;
                break;
            }
            const real alpha = rr / pAp;
            for (size_t at = 0; at < points; at++)
                if (m->d[0][at] != 0) {
                    r[at] = r[at] - alpha * w->q[at];
                    x[at] = x[at] + alpha * p[at];
                }
            const real rr_next = dot(m, w, r, r, false);
            beta = rr_next / rr;
            rr = rr_next;
            report->iterations++;
            if (!isfinite(rr))
                report->state = BN_CG_BROKEN;
            else if (rr <= tolerance2 * bb || report->iterations >= target->iterations)
                report->state = BN_CG_CLAIMED;
        }
        if (report->state != BN_CG_CLAIMED)
            break;
        report->state = BN_CG_RUN; /* unless the true residual says otherwise */
    }
    const double residual = (double)last_true;
    report->residual = residual == 0 ? 0 : sqrt(residual / (double)bb);
}

/* The vorticity equation's right-hand side; values of neighbours that are no unknowns go there. */
static void advance(const flow *s, const real *omega, const real *u, const real *v, const int32_t *node, real *rhs,
                    real *next)
{
    const flow_constants *k = &s->k;
    const real dt = (real)k->dt, ix2 = (real)k->ix2, iy2 = (real)k->iy2, nux = (real)k->nux, nuy = (real)k->nuy;
    const size_t nx = s->nx;
    for (size_t at = 0; at < nx * s->ny; at++) {
        const int n = node[at];
        next[at] = omega[at];
        rhs[at] = 0;
        if (!(n & FLOW_NODE_OMEGA))
            continue;
        const real west = omega[at - 1], east = omega[at + 1], south = omega[at - nx], north = omega[at + nx],
                   w = omega[at];
        const real w_x = s->upwind ? 2 * ix2 * (u[at] > 0 ? w - west : east - w) : ix2 * (east - west);
        const real w_y = s->upwind ? 2 * iy2 * (v[at] > 0 ? w - south : north - w) : iy2 * (north - south);
        const real fixed_x = (n & FLOW_OMEGA_FIXED ? west : 0) + (n & 2 * FLOW_OMEGA_FIXED ? east : 0);
        const real fixed_y = (n & 4 * FLOW_OMEGA_FIXED ? south : 0) + (n & 8 * FLOW_OMEGA_FIXED ? north : 0);
        rhs[at] = (w - dt * (u[at] * w_x + v[at] * w_y)) + (nux * fixed_x + nuy * fixed_y);
    }
}

/* The stream function's right-hand side. */
static void source(const flow *s, const real *omega, const real *psi, const int32_t *node, real *before, real *rhs)
{
    const real cx = (real)s->k.cx, cy = (real)s->k.cy;
    const size_t nx = s->nx;
    for (size_t at = 0; at < nx * s->ny; at++) {
        const int n = node[at];
        before[at] = psi[at] + (psi[at] - before[at]);
        rhs[at] = 0;
        if (!(n & FLOW_NODE_PSI))
            continue;
        const real fixed_x = (n & FLOW_PSI_FIXED ? psi[at - 1] : 0) + (n & 2 * FLOW_PSI_FIXED ? psi[at + 1] : 0);
        const real fixed_y = (n & 4 * FLOW_PSI_FIXED ? psi[at - nx] : 0) + (n & 8 * FLOW_PSI_FIXED ? psi[at + nx] : 0);
        const real sum = omega[at] + (cx * fixed_x + cy * fixed_y);
        rhs[at] = n & FLOW_NODE_HALF ? REAL(0.5) * sum : sum;
    }
}

/* Velocity from psi, and the vorticity at the border.
 *   walls:   Thom (1933), omega_w = -2 (psi_1 - psi_w) / h^2 - s 2 U / h, or
 *            Woods (1954), omega_w = -3 (psi_1 - psi_w) / h^2 - omega_1 / 2 - s 3 U / h,
 *            with s = 1 at the top and left, -1 at the bottom and right, U along +x or +y; the change is taken by the
 *            share theta
 *   slip:    omega = 0
 *   outflow: omega_t + u_n omega_n = 0, upwind */
static void walls(const flow *s, const real *psi, const real *next, const int32_t *node, real *omega, real *u, real *v,
                  const work *w)
{
    const flow_constants *k = &s->k;
    const real ix2 = (real)k->ix2, iy2 = (real)k->iy2, theta = (real)k->theta, wall_omega = (real)k->wall_omega;
    const size_t nx = s->nx;
    for (size_t at = 0; at < nx * s->ny; at++) {
        const int n = node[at], side = n / FLOW_NODE_SIDE & 3;
        const bool upright = side < FLOW_BOTTOM;
        const real old = omega[at];
        real value = next[at];
        if (n & FLOW_NODE_OMEGA) {
            u[at] = iy2 * (psi[at + nx] - psi[at - nx]);
            v[at] = ix2 * (psi[at - 1] - psi[at + 1]);
        } else if (n & (FLOW_NODE_WALL | FLOW_NODE_FREE | FLOW_NODE_OUT)) {
            const size_t inner = side == FLOW_LEFT     ? at + 1
                                 : side == FLOW_RIGHT  ? at - 1
                                 : side == FLOW_BOTTOM ? at + nx
                                                       : at - nx;
            const real drop = psi[inner] - psi[at];
            if (n & FLOW_NODE_WALL) {
                const real formula = -(real)(upright ? k->wall_x : k->wall_y) * drop - wall_omega * next[inner] -
                                     (real)k->slip[side];
                value = old + theta * (formula - old);
            } else if (n & FLOW_NODE_FREE) {
                value = 0;
                if (upright)
                    v[at] = 2 * ix2 * (side == FLOW_LEFT ? -drop : drop);
                else
                    u[at] = 2 * iy2 * (side == FLOW_BOTTOM ? drop : -drop);
            } else {
                if (upright)
                    u[at] = iy2 * (psi[at + nx] - psi[at - nx]);
                else
                    v[at] = ix2 * (psi[at - 1] - psi[at + 1]);
                const real out = side == FLOW_LEFT     ? -u[at]
                                 : side == FLOW_RIGHT  ? u[at]
                                 : side == FLOW_BOTTOM ? -v[at]
                                                       : v[at];
                const real c = (real)(upright ? k->convect_x : k->convect_y) * out;
                value = old - (c > 1 ? 1 : c > 0 ? c : 0) * (old - next[inner]);
            }
        }
        omega[at] = value;
        w->q[at] = value - old;
    }
}

static bn_status setup(bn_sim *sim, void *state)
{
    flow *s = state;
    const size_t points = (size_t)s->nx * s->ny;
    work *w = s->work = calloc(1, sizeof *w);
    if (!w || !(w->q = calloc(points, sizeof(real))) || !(w->product = calloc(points, sizeof(real))) ||
        !(w->partials = calloc((s->nx / BN_SEGMENT + 1) * (size_t)s->ny, sizeof(real))))
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the reference of flow");
    return BN_OK;
}

static void teardown(void *state)
{
    work *w = ((flow *)state)->work;
    if (w) {
        free(w->q);
        free(w->product);
        free(w->partials);
    }
    free(w);
    ((flow *)state)->work = NULL;
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    flow *s = state;
    const work *w = s->work;
    bn_context *ctx = bn_sim_context(sim);
    const size_t nx = s->nx, points = nx * s->ny;
    real *omega = bn_field_host(s->omega), *next = bn_field_host(s->next), *psi = bn_field_host(s->psi);
    real *before = bn_field_host(s->before);
    real *u = bn_field_host(s->velocity), *v = u + points, *rhs = bn_field_host(s->rhs);
    real *r = bn_field_host(s->r), *p = bn_field_host(s->p);
    const int32_t *node = bn_field_host(s->node);
    const matrix A_omega = matrix_of(s, s->A_omega), A_psi = matrix_of(s, s->A_psi);

    advance(s, omega, u, v, node, rhs, next);
    conjugate_gradients(&A_omega, w, next, rhs, r, p, &s->target_omega, &s->report_omega);
    BN_TRY(bn_cg_judge(ctx, "the system for omega", &s->target_omega, &s->report_omega));
    source(s, next, psi, node, before, rhs);
    conjugate_gradients(&A_psi, w, before, rhs, r, p, &s->target_psi, &s->report_psi);
    BN_TRY(bn_cg_judge(ctx, "the system for psi", &s->target_psi, &s->report_psi));
    bn_field_swap(s->psi, s->before);
    walls(s, before, next, node, omega, u, v, w);

    s->totals[0] = (double)bn_ordered_dot(w->q, w->q, nx, s->ny, w->partials);
    s->totals[1] = (double)bn_ordered_dot(omega, omega, nx, s->ny, w->partials);
    real speed = 0;
    for (size_t at = 0; at < points; at++) {
        const real here = (real)fabs((double)u[at]) + (real)fabs((double)v[at]);
        speed = here > speed || !isfinite(here) ? here : speed;
    }
    s->totals[2] = (double)speed;
    return flow_report(sim, s, out);
}

const bn_engine BN_REFERENCE(flow) = { .name = "reference", .setup = setup, .step = step, .teardown = teardown };
