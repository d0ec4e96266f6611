/* flow_bodies.c: what is solved for before the first step (docs/flow.md): psi at the start, and for bodies with fluid
 * all around, on which psi is an unknown constant, their influence functions and the inverse of the influence matrix.
 */
#include "flow.h"

#include "api/parallel_rows.h"
#include "numerics/inverse.h"

#include <math.h>
#include <stdlib.h>

static const int beside_x[4] = { -1, 1, 0, 0 }, beside_y[4] = { 0, 0, -1, 1 };

static double spacing_term(const flow *s, int d) { return d < 2 ? s->k.per_h2_x : s->k.per_h2_y; }

/* The body at the neighbour of a node that has one there. */
static int body_beside(const flow *s, uint32_t i, uint32_t j, int d)
{
    return s->border.body[(size_t)((long)j + beside_y[d]) * s->config.nx + (size_t)((long)i + beside_x[d])];
}

/* The system for the influence function of a body: its values on the bodies ... */
static double on_body(const flow *s, int body, uint32_t i, uint32_t j)
{
    return s->border.body[(size_t)j * s->config.nx + i] == body;
}

/* ... and the right-hand side. */
static double influence_source(const flow *s, int body, uint32_t i, uint32_t j)
{
    const unsigned bits = s->systems.bits[FLOW_PSI][(size_t)j * s->config.nx + i];
    double rhs = 0;
    for (int d = 0; d < 4 && bits; d++)
        if (bn_stencil_face(bits, d) > 0 && !(bits & BN_LINK_WEST << d) && body_beside(s, i, j, d) == body)
            rhs += spacing_term(s, d) * bn_stencil_face(bits, d);
    return rhs;
}

/* Rows of a field on the host, by regions: the row before them and the row behind are there where the grid has them. */
enum { REGION_POINTS = 1 << 22 }; /* rows enough for several processors */
typedef bn_status rows_visitor(void *user, const bn_region *, const double *values);

static bn_status visit_rows(bn_sim *sim, const flow *s, bn_field *f, rows_visitor *visit, void *user)
{
    const size_t nx = s->config.nx;
    bn_status st = BN_OK;
    double *values = malloc((REGION_POINTS + 3 * nx) * sizeof *values);
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for some rows of flow");
    for (bn_region r = { .n = { 0 } }; bn_domain_next_band(bn_sim_domain(sim), REGION_POINTS, &r);) {
        bn_region wide = r;
        const bool before = r.first[1] > 0;
        wide.first[1] -= before;
        wide.n[1] += before + (r.first[1] + r.n[1] < s->config.ny);
        BN_GO(bn_field_read_region(f, 0, 1, &wide, BN_AS_DOUBLES, values));
        BN_GO(visit(user, &r, values + before * nx));
    }
out:
    free(values);
    return st;
}

/* psi at the start: its right-hand side from omega, in whose place it comes, and from psi beside what is unknown. */
typedef struct start {
    flow *s;
    double *omega;
    const double *psi;
    const bn_region *region;
} start;

static void set_source(void *user, size_t first, size_t end)
{
    const start *w = user;
    const flow *s = w->s;
    const long nx = (long)s->config.nx, step[4] = { -1, 1, -nx, nx };
    for (long at = (long)first * nx; at < (long)end * nx; at++) {
        const unsigned bits = s->systems.bits[FLOW_PSI][(long)w->region->first[1] * nx + at];
        double rhs = 0;
        for (unsigned cell = BN_CELL_SW; cell <= BN_CELL_NE; cell <<= 1)
            rhs += bits & cell ? 0.25 * w->omega[at] : 0;
        for (int d = 0; d < 4 && bits; d++)
            if (bn_stencil_face(bits, d) > 0 && !(bits & BN_LINK_WEST << d))
                rhs += spacing_term(s, d) * bn_stencil_face(bits, d) * w->psi[at + step[d]];
        w->omega[at] = rhs;
    }
}

static bn_status write_source(void *user, const bn_region *r, const double *psi)
{
    start *w = user;
    w->psi = psi;
    w->region = r;
    BN_TRY(bn_field_read_region(w->s->fields.omega, 0, 1, r, BN_AS_DOUBLES, w->omega));
    bn_parallel_rows(r->n[1], r->n[0], set_source, w);
    return bn_field_write_region(w->s->fields.rhs, 0, 1, r, BN_AS_DOUBLES, w->omega);
}

/* The first step carries omega and T by psi: between what flows in and out it must be that of a flow, not 0. */
bn_status flow_setup_start(bn_sim *sim, flow *s, bn_status (*solve)(flow *, const bn_cg_target *))
{
    bool streams = false;
    for (int i = 0; i < s->border.pieces; i++)
        streams = streams || s->border.piece[i].kind == FLOW_INFLOW || s->border.piece[i].kind == FLOW_VELOCITY;
    if (!streams || s->newton.on || (s->config.start == FLOW_DEVELOPED && !s->border.solid))
        return BN_OK;
    start w = { s, malloc((REGION_POINTS + (size_t)s->config.nx) * sizeof *w.omega), NULL, NULL };
    if (!w.omega)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the start of flow");
    const bn_status st = visit_rows(sim, s, s->fields.psi, write_source, &w);
    free(w.omega);
    BN_TRY(st);
    BN_TRY(bn_field_copy(s->fields.psi, s->fields.next));
    BN_TRY(solve(s, &s->systems.target[FLOW_PSI]));
    BN_TRY(bn_field_copy(s->fields.next, s->fields.psi));
    return bn_field_copy(s->fields.psi, s->fields.before);
}

/* An influence function. */
typedef struct influence {
    flow *s;
    int body;
} influence;

/* M_kl = sum over the faces of body k of g (influence_l on the body - influence_l in the fluid). */
static bn_status take_influence(void *user, const bn_region *r, const double *values)
{
    const influence *w = user;
    flow *s = w->s;
    const long nx = (long)s->config.nx, step[4] = { -1, 1, -nx, nx };
    for (long at = 0; at < (long)bn_region_points(r); at++) {
        const uint32_t i = (uint32_t)(at % nx), j = r->first[1] + (uint32_t)(at / nx);
        for (int d = 0; d < 4 && s->systems.bits[FLOW_OMEGA][(long)j * nx + i]; d++) {
            const int body = body_beside(s, i, j, d);
            if (body > 0 && body <= s->border.bodies)
                s->influence_inverse[(body - 1) * s->border.bodies + w->body - 1] +=
                    (d < 2 ? s->k.body_psi_x : s->k.body_psi_y) * (values[at + step[d]] - values[at]);
        }
    }
    return bn_field_write_region(s->fields.influence, w->body - 1, 1, r, BN_AS_DOUBLES, values);
}

bn_status flow_setup_bodies(bn_sim *sim, flow *s, bn_status (*solve)(flow *, const bn_cg_target *))
{
    const int n = s->border.bodies;
    bn_cg_target target = s->systems.target[FLOW_PSI];
    target.tolerance = fmax(1e-12, 8 * s->config.roundoff);
    for (int i = 0; i < n * n; i++)
        s->influence_inverse[i] = 0;
    for (int body = 1; body <= n; body++) {
        BN_TRY(flow_supply(s->fields.next, s, on_body, body));
        BN_TRY(flow_supply(s->fields.rhs, s, influence_source, body));
        BN_TRY(solve(s, &target));
        BN_TRY(visit_rows(sim, s, s->fields.next, take_influence, &(influence){ s, body }));
    }
    return bn_inverse(s->influence_inverse, (size_t)n)
               ? BN_OK
               : bn_fail(bn_sim_context(sim), BN_DIVERGED, "the stream function on the obstacles can't be found");
}
