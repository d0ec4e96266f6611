/* flow_reference.c: one step of flow in plain C, the specification of kernels/flow.cl. Compiled for float and for
 * double. The formulas are those of the kernels in the same association, so that both give the same bits: this proves
 * the port, tests/solvers/flow/ prove the scheme. */
#include "flow_reference.h"

#include <math.h>
#include <stdlib.h>

static void advect_heat(const flow *s, const real *T, const real *psi, const real *u, const real *v,
                        const int32_t *node, real *rhs, real *next)
{
    const constants *k = constants_of(s);
    const size_t nx = s->config.nx;
    for (size_t at = 0; at < nx * s->config.ny; at++) {
        const unsigned bits = s->systems.bits[FLOW_HEAT][at];
        const velocity c = { u[at], v[at] };
        const int n = node[at], side = n / FLOW_NODE_SIDE & 3;
        next[at] = T[at];
        rhs[at] = 0;
        if (!bits)
            continue;
        real moved = T[at] - k->dt * convection(s, T, psi, at, n, c, c);
        if (n & FLOW_NODE_OUTFLOW)
            moved = moved - convective_outflow(s, at, side, u[at], v[at]) * (T[at] - T[inner(s, at, side)]);
        rhs[at] = area(s, at, bits) * moved + given(s, T, at, n, FLOW_HEAT_GIVEN, bits, k->a_x, k->a_y);
    }
}

static void advect_vorticity(const flow *s, const real *omega, const real *psi, const real *u, const real *v,
                             const real *T, const int32_t *node, real *rhs, real *next)
{
    const constants *k = constants_of(s);
    for (size_t at = 0; at < (size_t)s->config.nx * s->config.ny; at++) {
        const velocity c = { u[at], v[at] };
        next[at] = omega[at];
        rhs[at] = 0;
        if (!(node[at] & FLOW_NODE_OMEGA))
            continue;
        real sum = omega[at] - k->dt * convection(s, omega, psi, at, node[at], c, c);
        if (T)
            sum = sum + (k->dt * k->buoyancy) * (per_2(s, at, 0) * (T[at + 1] - T[at - 1]));
        if (s->config.widths)
            sum = area(s, at, s->systems.bits[FLOW_OMEGA][at]) * sum;
        rhs[at] = sum +
                  given(s, omega, at, node[at], FLOW_OMEGA_GIVEN, s->systems.bits[FLOW_OMEGA][at], k->nu_x, k->nu_y);
    }
}

void BN_PRECISE(flow_poisson_source)(const flow *s, const real *omega, const real *psi, const int32_t *node,
                                     real *before, real *rhs)
{
    const constants *k = constants_of(s);
    for (size_t at = 0; at < (size_t)s->config.nx * s->config.ny; at++) {
        const unsigned bits = s->systems.bits[FLOW_PSI][at];
        rhs[at] = 0;
        if (!bits) {
            before[at] = psi[at];
            continue;
        }
        before[at] = psi[at] + (psi[at] - before[at]);
        const int links = (int)(bits / BN_LINK_WEST); /* to neighbours that the matrix has */
        rhs[at] = area(s, at, bits) * omega[at] + given(s, psi, at, node[at] & ~(links * FLOW_PSI_GIVEN),
                                                        FLOW_PSI_GIVEN, bits, k->per_h2_x, k->per_h2_y);
    }
}

/* Velocity from psi, and the vorticity at the border and on bodies:
 *   walls and bodies: the formula, and at walls what the velocity given there adds; omega changes by the share theta of
 *                     the difference
 *   slip:             omega = 0
 *   outflow:          omega_t + u_n omega_n = 0, upwind
 * r->addends: steady residual, as the change that an explicit step would make; at walls the change that spreads to the
 * next node. */
static void wall_vorticity(const flow *s, const reference *r, const real *psi, const real *next, const real *T,
                           const int32_t *node, real *omega, real *u, real *v)
{
    const constants *k = constants_of(s);
    const size_t nx = s->config.nx;
    for (size_t at = 0; at < nx * s->config.ny; at++) {
        const int n = node[at], side = n / FLOW_NODE_SIDE & 3;
        const bool vertical = side < FLOW_BOTTOM;
        const real old = omega[at];
        real value = next[at], residual = 0;
        if (n & FLOW_NODE_OMEGA) {
            u[at] = per_2(s, at, 1) * (psi[at + nx] - psi[at - nx]);
            v[at] = per_2(s, at, 0) * (psi[at - 1] - psi[at + 1]);
            residual = vorticity_change(s, next, psi, T, at, (velocity){ u[at], v[at] }, 1);
        } else if (n & FLOW_NODE_WALL) {
            const real formula = side_formula(s, psi, next, at, side) +
                                 (real)flow_along(s, s->border.moving, side)[vertical ? at / nx : at % nx];
            value = old + k->theta * (formula - old);
            residual = (vertical ? k->nu_x : k->nu_y) * (formula - old);
        } else if (n & FLOW_NODE_BODY) {
            const real formula = body_vorticity(s, psi, next, at, n);
            value = old + k->theta * (formula - old);
            residual = (k->nu_x > k->nu_y ? k->nu_x : k->nu_y) * (formula - old);
        } else if (n & FLOW_NODE_SLIP) {
            const real drop = psi[inner(s, at, side)] - psi[at];
            value = 0;
            if (vertical)
                v[at] = beside(s, at, side, 2 * k->per_2h_x) * (side == FLOW_LEFT ? -drop : drop);
            else
                u[at] = beside(s, at, side, 2 * k->per_2h_y) * (side == FLOW_BOTTOM ? drop : -drop);
        } else if (n & FLOW_NODE_OUTFLOW) {
            if (vertical)
                u[at] = per_2(s, at, 1) * (psi[at + nx] - psi[at - nx]);
            else
                v[at] = per_2(s, at, 0) * (psi[at - 1] - psi[at + 1]);
            residual = -(convective_outflow(s, at, side, u[at], v[at]) * (old - next[inner(s, at, side)]));
            value = old + residual;
        }
        omega[at] = value;
        r->addends[at] = residual;
    }
}

/* psi on the bodies around which the fluid flows; see kernels/flow.cl. */
real BN_PRECISE(flow_correct_bodies)(flow *s, const reference *r, real *psi, const real *next, const real *T)
{
    const size_t nx = s->config.nx, points = nx * s->config.ny;
    const constants *k = constants_of(s);
    const real w[2] = { k->body_x, k->body_y }, g[2] = { k->body_psi_x, k->body_psi_y };
    const real *influence = bn_field_host(s->fields.influence);
    real change[FLOW_BODIES] = { 0 };
    const int bodies = s->border.bodies;
    for (int body = 1; body <= bodies; body++) {
        for (size_t at = 0; at < points; at++) {
            real sum = 0;
            r->addends[at] = 0;
            if (!s->systems.bits[FLOW_OMEGA][at])
                continue;
            const size_t around[4] = { at - 1, at + 1, at - nx, at + nx };
            for (int d = 0; d < 4; d++)
                if (s->border.body[around[d]] == body)
                    sum = sum + (w[d / 2] * next[at] + g[d / 2] * (psi[at] - psi[around[d]]));
            if (T && s->border.body[around[0]] == body)
                sum = sum + k->body_heat * T[around[0]];
            if (T && s->border.body[around[1]] == body)
                sum = sum - k->body_heat * T[around[1]];
            r->addends[at] = sum;
        }
        const real total = (real)sum_of(s, r, r->addends, NULL);
        for (int b = 0; b < bodies; b++)
            change[b] = change[b] + (real)s->influence_inverse[b * bodies + body - 1] * total;
    }
    for (size_t at = 0; at < points; at++)
        for (int b = 0; b < bodies; b++)
            psi[at] = psi[at] + change[b] * influence[(size_t)b * points + at];
    return change[0];
}

bn_status BN_PRECISE(flow_solve)(flow *s, flow_system system, real *x, const real *rhs, const bn_cg_target *target)
{
    const reference *r = s->reference;
    return BN_PRECISE(linear_reference_solve)(r->linear[system], x, rhs, target, &s->systems.report[system]);
}

static bn_status solve_psi(flow *s, const bn_cg_target *target)
{
    return BN_PRECISE(flow_solve)(s, FLOW_PSI, bn_field_host(s->fields.next), bn_field_host(s->fields.rhs), target);
}

/* Without counting a solve. */
static bn_status solve_border(flow *s, const bn_cg_target *target)
{
    const reference *r = s->reference;
    bn_linear_reference *psi = r->linear[FLOW_PSI];
    (void)target;
    BN_PRECISE(linear_reference_solve_two)
    (psi, psi, bn_field_host(s->fields.next), r->addends, bn_field_host(s->fields.rhs), NULL);
    return BN_OK;
}

/* omega and psi together. The right-hand side of psi is needed for its residual alone. */
static bn_status solve_coupled(flow *s, real *next, real *rhs)
{
    const reference *r = s->reference;
    bn_linear_reference *omega = r->linear[FLOW_OMEGA], *psi = r->linear[FLOW_PSI];
    real *solution = bn_field_host(s->fields.before);
    BN_PRECISE(linear_reference_solve_two)
    (omega, psi, next, solution, rhs, s->systems.border ? bn_field_host(s->fields.psi_border) : NULL);
    BN_TRY(BN_PRECISE(linear_reference_check)(omega, next, rhs, &s->systems.target[FLOW_OMEGA],
                                              &s->systems.report[FLOW_OMEGA]));
    BN_PRECISE(flow_poisson_source)
    (s, next, bn_field_host(s->fields.psi), bn_field_host(s->fields.node), r->addends, rhs);
    return BN_PRECISE(linear_reference_check)(psi, solution, rhs, &s->systems.target[FLOW_PSI],
                                              &s->systems.report[FLOW_PSI]);
}

static bn_status set_spacings(bn_sim *sim, const flow *s, reference *r)
{
    const bn_stencil *stencil = &s->systems.desc[FLOW_PSI].stencil;
    const size_t count = bn_stencil_axes_count(stencil);
    double *wide = bn_stencil_axes(stencil);
    r->spacings = malloc(count * sizeof *r->spacings);
    if (!wide || !r->spacings) {
        free(wide);
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the spacings of a grid");
    }
    bn_round_constants(wide, count, r->spacings);
    free(wide);
    return BN_OK;
}

static bn_status setup(bn_sim *sim, void *state)
{
    flow *s = state;
    const size_t points = (size_t)s->config.nx * s->config.ny;
    reference *r = s->reference = calloc(1, sizeof *r);
    if (!r || !(r->addends = calloc(points, sizeof(real))) ||
        !(r->partials = calloc((s->config.nx / BN_BLOCK_NX + 1) * (size_t)(s->config.ny / BN_BLOCK_NY + 1),
                               sizeof(real))))
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the reference of flow");
    bn_round_constants((const double *)&s->k, sizeof s->k / sizeof(double), (real *)&r->k);
    if (s->config.widths)
        BN_TRY(set_spacings(sim, s, r));
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (s->systems.bits[i])
            BN_TRY(BN_PRECISE(linear_reference_create)(bn_sim_context(sim), &s->systems.desc[i], &r->linear[i]));
    BN_TRY(flow_setup_start(sim, s, s->systems.coupled ? solve_border : solve_psi));
    if (s->systems.border)
        BN_TRY(flow_setup_border(s, solve_border));
    if (s->border.bodies > 0)
        BN_TRY(flow_setup_bodies(sim, s, solve_psi));
    s->systems.solves[FLOW_PSI] = BN_PRECISE(linear_reference_solves)(r->linear[FLOW_PSI]);
    return BN_OK;
}

static void teardown(void *state)
{
    flow *s = state;
    reference *r = s->reference;
    if (r) {
        for (int i = 0; i < FLOW_SYSTEMS; i++)
            BN_PRECISE(linear_reference_destroy)(&r->linear[i]);
        free(r->addends);
        free(r->partials);
        free(r->spacings);
    }
    free(r);
    s->reference = NULL;
}

static bn_status newton_step(bn_sim *sim, flow *s, bn_step *out)
{
    const reference *r = s->reference;
    BN_TRY(flow_newton_step(sim, s, &BN_PRECISE(flow_newton), out));
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        s->systems.solves[i] = r->linear[i] ? BN_PRECISE(linear_reference_solves)(r->linear[i]) : 0;
    return BN_OK;
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    flow *s = state;
    const reference *r = s->reference;
    if (s->newton.on)
        return newton_step(sim, s, out);
    const size_t points = (size_t)s->config.nx * s->config.ny;
    real *omega = bn_field_host(s->fields.omega), *next = bn_field_host(s->fields.next);
    real *u = bn_field_host(s->fields.velocity), *v = u + points, *rhs = bn_field_host(s->fields.rhs);
    const int32_t *node = bn_field_host(s->fields.node);
    if (s->config.a > 0) {
        advect_heat(s, bn_field_host(s->fields.T), bn_field_host(s->fields.psi), u, v, node, rhs,
                    bn_field_host(s->fields.T_next));
        BN_TRY(
            BN_PRECISE(flow_solve)(s, FLOW_HEAT, bn_field_host(s->fields.T_next), rhs, &s->systems.target[FLOW_HEAT]));
        bn_field_swap(s->fields.T, s->fields.T_next);
    }
    const real *T = s->config.a > 0 ? bn_field_host(s->fields.T) : NULL;
    advect_vorticity(s, omega, bn_field_host(s->fields.psi), u, v, T, node, rhs, next);
    if (s->systems.coupled) {
        BN_TRY(solve_coupled(s, next, rhs));
    } else {
        BN_TRY(BN_PRECISE(flow_solve)(s, FLOW_OMEGA, next, rhs, &s->systems.target[FLOW_OMEGA]));
        BN_PRECISE(flow_poisson_source)
        (s, next, bn_field_host(s->fields.psi), node, bn_field_host(s->fields.before), rhs);
        BN_TRY(BN_PRECISE(flow_solve)(s, FLOW_PSI, bn_field_host(s->fields.before), rhs, &s->systems.target[FLOW_PSI]));
    }
    bn_field_swap(s->fields.psi, s->fields.before);
    real *psi = bn_field_host(s->fields.psi);
    if (s->border.bodies > 0)
        s->totals[FLOW_TOTALS] = (double)((real)s->psi_body + BN_PRECISE(flow_correct_bodies)(s, r, psi, next, T));
    wall_vorticity(s, r, psi, next, T, node, omega, u, v);

    s->totals[0] = sum_of(s, r, r->addends, r->addends);
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
            r->addends[at] = s->systems.bits[FLOW_HEAT][at]
                                 ? heat_change(s, T, psi, at, node[at], (velocity){ u[at], v[at] }, 1)
                                 : 0;
        s->totals[3] = sum_of(s, r, r->addends, r->addends);
    }
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        s->systems.solves[i] = r->linear[i] ? BN_PRECISE(linear_reference_solves)(r->linear[i]) : 0;
    return flow_report(sim, s, out);
}

static bn_status resume(bn_sim *sim, void *state)
{
    flow *s = state;
    const reference *r = s->reference;
    (void)sim;
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (r->linear[i])
            BN_PRECISE(linear_reference_resume)(r->linear[i], s->systems.solves[i], &s->systems.report[i]);
    return BN_OK;
}

const bn_engine
    BN_REFERENCE(flow) = { .name = "reference", .setup = setup, .step = step, .teardown = teardown, .resume = resume };
