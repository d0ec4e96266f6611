/* flow_bodies.c: what is solved for before the first step (docs/flow.md): psi at the start, and for bodies with fluid
 * all around, on which psi is an unknown constant, their influence functions and the inverse of the influence matrix.
 */
#include "flow.h"

#include <math.h>
#include <stdlib.h>

/* The system for the influence function of a body: right-hand side, and the start with the values on the bodies. */
static void influence_system(const flow *s, int body, double *rhs, double *influence)
{
    const double k[4] = { s->k.per_h2_x, s->k.per_h2_x, s->k.per_h2_y, s->k.per_h2_y };
    const long step[4] = { -1, 1, -(long)s->config.nx, (long)s->config.nx };
    for (size_t at = 0; at < (size_t)s->config.nx * s->config.ny; at++) {
        influence[at] = s->border.body[at] == body;
        rhs[at] = 0;
        for (int d = 0; d < 4 && s->systems.bits[FLOW_PSI][at]; d++)
            if (bn_stencil_face(s->systems.bits[FLOW_PSI][at], d) > 0 &&
                !(s->systems.bits[FLOW_PSI][at] & BN_LINK_WEST << d) &&
                s->border.body[(size_t)((long)at + step[d])] == body)
                rhs[at] += k[d] * bn_stencil_face(s->systems.bits[FLOW_PSI][at], d);
    }
}

/* Inverts a small matrix; false: singular. */
static bool invert(double *m, int n)
{
    for (int p = 0; p < n; p++) {
        if (m[p * n + p] == 0 || !isfinite(m[p * n + p]))
            return false;
        const double pivot = 1 / m[p * n + p];
        m[p * n + p] = 1;
        for (int c = 0; c < n; c++)
            m[p * n + c] *= pivot;
        for (int r = 0; r < n; r++)
            if (r != p) {
                const double factor = m[r * n + p];
                m[r * n + p] = 0;
                for (int c = 0; c < n; c++)
                    m[r * n + c] -= factor * m[p * n + c];
            }
    }
    return true;
}

/* M_kl = sum over the faces of body k of g (influence_l on the body - influence_l in the fluid). */
static bn_status invert_influence_matrix(bn_sim *sim, flow *s, const double *influence)
{
    const size_t points = (size_t)s->config.nx * s->config.ny;
    const double g[4] = { s->k.body_psi_x, s->k.body_psi_x, s->k.body_psi_y, s->k.body_psi_y };
    const long step[4] = { -1, 1, -(long)s->config.nx, (long)s->config.nx };
    const int n = s->border.bodies;
    for (int i = 0; i < n * n; i++)
        s->influence_inverse[i] = 0;
    for (size_t at = 0; at < points; at++)
        for (int d = 0; d < 4 && s->systems.bits[FLOW_OMEGA][at]; d++) {
            const size_t other = (size_t)((long)at + step[d]);
            const int body = s->border.body[other];
            for (int k = 0; body > 0 && k < n; k++)
                s->influence_inverse[(body - 1) * n + k] += g[d] * (influence[(size_t)k * points + other] -
                                                                    influence[(size_t)k * points + at]);
        }
    if (!invert(s->influence_inverse, n))
        return bn_fail(bn_sim_context(sim), BN_DIVERGED, "the stream function on the obstacles can't be found");
    return BN_OK;
}

/* The first step carries omega and T by psi: between what flows in and out it must be that of a flow, not 0. */
bn_status flow_setup_start(bn_sim *sim, flow *s, bn_status (*solve)(flow *, const bn_cg_target *))
{
    const size_t points = (size_t)s->config.nx * s->config.ny;
    const double k[4] = { s->k.per_h2_x, s->k.per_h2_x, s->k.per_h2_y, s->k.per_h2_y };
    const long step[4] = { -1, 1, -(long)s->config.nx, (long)s->config.nx };
    bool streams = false;
    bn_status st = BN_OK;
    for (int i = 0; i < s->border.pieces; i++)
        streams = streams || s->border.piece[i].kind == FLOW_INFLOW || s->border.piece[i].kind == FLOW_VELOCITY;
    if (!streams || s->newton.on || (s->config.start == FLOW_DEVELOPED && !s->border.solid))
        return BN_OK;
    double *psi = malloc(3 * points * sizeof *psi);
    if (!psi)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the start of flow");
    double *omega = psi + points, *rhs = omega + points;
    BN_GO(bn_field_get(s->fields.psi, psi, points));
    BN_GO(bn_field_get(s->fields.omega, omega, points));
    for (size_t at = 0; at < points; at++) {
        const unsigned bits = s->systems.bits[FLOW_PSI][at];
        rhs[at] = 0;
        for (unsigned cell = BN_CELL_SW; cell <= BN_CELL_NE; cell <<= 1)
            rhs[at] += bits & cell ? 0.25 * omega[at] : 0;
        for (int d = 0; d < 4 && bits; d++)
            if (bn_stencil_face(bits, d) > 0 && !(bits & BN_LINK_WEST << d))
                rhs[at] += k[d] * bn_stencil_face(bits, d) * psi[(size_t)((long)at + step[d])];
    }
    BN_GO(bn_field_set(s->fields.rhs, rhs, points));
    BN_GO(bn_field_copy(s->fields.psi, s->fields.next));
    BN_GO(solve(s, &s->systems.target[FLOW_PSI]));
    BN_GO(bn_field_copy(s->fields.next, s->fields.psi));
    BN_GO(bn_field_copy(s->fields.psi, s->fields.before));
out:
    free(psi);
    return st;
}

bn_status flow_setup_bodies(bn_sim *sim, flow *s, bn_status (*solve)(flow *, const bn_cg_target *))
{
    const size_t points = (size_t)s->config.nx * s->config.ny, bodies = (size_t)s->border.bodies;
    bn_status st = BN_OK;
    bn_cg_target target = s->systems.target[FLOW_PSI];
    target.tolerance = fmax(1e-12, 8 * s->config.roundoff);
    double *influence = calloc((bodies + 1) * points, sizeof *influence);
    if (!influence)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the obstacles");
    double *rhs = influence + bodies * points;
    for (size_t body = 0; body < bodies; body++) {
        double *own = influence + body * points;
        influence_system(s, (int)body + 1, rhs, own);
        BN_GO(bn_field_set(s->fields.next, own, points));
        BN_GO(bn_field_set(s->fields.rhs, rhs, points));
        BN_GO(solve(s, &target));
        BN_GO(bn_field_get(s->fields.next, own, points));
    }
    BN_GO(bn_field_set(s->fields.influence, influence, bodies * points));
    BN_GO(invert_influence_matrix(sim, s, influence));
out:
    free(influence);
    return st;
}
