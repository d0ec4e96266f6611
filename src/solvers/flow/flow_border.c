/* flow_border.c: what every node is, the two matrices by diagonals, and the values at the border and at the start. Made
 * once on the host in double, the same for device and reference. */
#include "flow.h"

#include <math.h>
#include <stdlib.h>

/* Share of a side's flux through its first part eta, 0 <= eta <= 1; symmetric about the middle. */
static double cumulative(flow_profile profile, double eta)
{
    return profile == FLOW_UNIFORM ? eta : eta * eta * (3 - 2 * eta);
}

/* Speed over mean speed, and its derivative by eta. */
static double shape(flow_profile profile, double eta) { return profile == FLOW_UNIFORM ? 1 : 6 * eta * (1 - eta); }
static double slope(flow_profile profile, double eta) { return profile == FLOW_UNIFORM ? 0 : 6 * (1 - 2 * eta); }

static double side_length(const flow *s, int side) { return s->size[side < FLOW_BOTTOM ? 1 : 0]; }

double flow_net_inflow(const flow *s)
{
    double in = 0;
    for (int i = 0; i < FLOW_SIDES; i++)
        if (s->side[i].kind == FLOW_INFLOW)
            in += s->side[i].speed * side_length(s, i);
    return in;
}

/* Node number m of a side in the order of x or y. */
static size_t side_node(const flow *s, int side, uint32_t m)
{
    switch (side) {
    case FLOW_LEFT: return (size_t)m * s->nx;
    case FLOW_RIGHT: return (size_t)m * s->nx + s->nx - 1;
    case FLOW_BOTTOM: return m;
    default: return (size_t)(s->ny - 1) * s->nx + m;
    }
}

static uint32_t side_nodes(const flow *s, int side) { return side < FLOW_BOTTOM ? s->ny : s->nx; }

/* psi along the border, counterclockwise: d psi = -(normal speed inwards) ds. Begins behind the outflow, where psi is
 * left to the solve; the corner at the origin has psi = 0 (unless it is swallowed by the outflow). */
static void set_border_psi(const flow *s, const int32_t *node, double *psi)
{
    static const int order[FLOW_SIDES] = { FLOW_BOTTOM, FLOW_RIGHT, FLOW_TOP, FLOW_LEFT };
    static const bool rising[FLOW_SIDES] = { [FLOW_BOTTOM] = true, [FLOW_RIGHT] = true };
    int first = 0;
    for (int i = 0; i < FLOW_SIDES; i++)
        if (s->side[order[i]].kind == FLOW_OUTFLOW)
            first = i + 1;
    double value = 0;
    for (int step = 0; step < FLOW_SIDES; step++) {
        const int side = order[(first + step) % FLOW_SIDES];
        const flow_side *b = &s->side[side];
        const uint32_t n = side_nodes(s, side);
        if (b->kind == FLOW_OUTFLOW)
            continue;
        const double flux = b->kind == FLOW_INFLOW ? b->speed * side_length(s, side) : 0;
        for (uint32_t m = 0; m < n; m++)
            psi[side_node(s, side, rising[side] ? m : n - 1 - m)] = value -
                                                                    flux * cumulative(b->profile, (double)m / (n - 1));
        value -= flux;
    }
    const double origin = psi[0];
    for (size_t at = 0; at < (size_t)s->nx * s->ny; at++)
        if (!(node[at] & FLOW_NODE_PSI))
            psi[at] -= origin;
}

/* Velocity and vorticity at the border that do not follow from psi: walls and inflows. */
static void set_border_motion(const flow *s, double *omega, double *u, double *v)
{
    for (int side = 0; side < FLOW_SIDES; side++) {
        const flow_side *b = &s->side[side];
        const uint32_t n = side_nodes(s, side);
        const double inwards = side == FLOW_LEFT || side == FLOW_BOTTOM ? 1 : -1;
        double *along = side < FLOW_BOTTOM ? v : u, *across = side < FLOW_BOTTOM ? u : v;
        for (uint32_t m = 0; m < n; m++) {
            const size_t at = side_node(s, side, m);
            const double eta = (double)m / (n - 1);
            if (b->kind == FLOW_WALL) {
                along[at] = b->speed;
            } else if (b->kind == FLOW_INFLOW) {
                across[at] = inwards * b->speed * shape(b->profile, eta);
                /* omega = v_x - u_y, with no change along the normal */
                if (m > 0 && m < n - 1)
                    omega[at] = (side < FLOW_BOTTOM ? -1 : 1) * inwards * b->speed * slope(b->profile, eta) /
                                side_length(s, side);
            }
        }
    }
}

static void set_start(const flow *s, double *psi, double *omega, double *u, double *v)
{
    const double pi = 3.14159265358979323846, ax = pi / s->size[0], ay = pi / s->size[1];
    for (uint32_t j = 1; j + 1 < s->ny && s->start != FLOW_REST; j++)
        for (uint32_t i = 1; i < s->nx; i++) {
            const size_t at = (size_t)j * s->nx + i;
            const bool border = i + 1 == s->nx;
            if (border && s->side[FLOW_RIGHT].kind != FLOW_OUTFLOW)
                continue;
            if (s->start == FLOW_VORTEX) {
                const double x = i * s->h[0], y = j * s->h[1];
                psi[at] = s->strength * sin(ax * x) * sin(ay * y);
                omega[at] = (ax * ax + ay * ay) * psi[at];
                u[at] = s->strength * ay * sin(ax * x) * cos(ay * y);
                v[at] = -s->strength * ax * cos(ax * x) * sin(ay * y);
            } else {
                const size_t inlet = (size_t)j * s->nx;
                psi[at] = psi[inlet];
                omega[at] = omega[inlet];
                u[at] = u[inlet];
            }
        }
    /* Vorticity of the walls of a developed flow: that of the profile, u_y at both ends. */
    if (s->start == FLOW_DEVELOPED)
        for (uint32_t i = 1; i + 1 < s->nx; i++)
            for (int top = 0; top < 2; top++)
                if (s->side[top ? FLOW_TOP : FLOW_BOTTOM].kind == FLOW_WALL)
                    omega[side_node(s, top ? FLOW_TOP : FLOW_BOTTOM, i)] = -s->side[FLOW_LEFT].speed *
                                                                           slope(s->side[FLOW_LEFT].profile, top) /
                                                                           s->size[1];
}

/* What the node (i, j) is. */
static int32_t classify(const flow *s, uint32_t i, uint32_t j)
{
    const bool on_x = i == 0 || i + 1 == s->nx, on_y = j == 0 || j + 1 == s->ny;
    if (on_x && on_y)
        return 0; /* no stencil reaches a corner */
    if (!on_x && !on_y)
        return FLOW_NODE_OMEGA | FLOW_NODE_PSI;
    const int side = on_x ? (i == 0 ? FLOW_LEFT : FLOW_RIGHT) : (j == 0 ? FLOW_BOTTOM : FLOW_TOP);
    switch (s->side[side].kind) {
    case FLOW_WALL: return FLOW_NODE_WALL | side * FLOW_NODE_SIDE;
    case FLOW_SLIP: return FLOW_NODE_FREE | side * FLOW_NODE_SIDE;
    case FLOW_OUTFLOW: return FLOW_NODE_OUT | FLOW_NODE_PSI | FLOW_NODE_HALF | side * FLOW_NODE_SIDE;
    default: return 0;
    }
}

/* Neighbour c (0 west, 1 east, 2 south, 3 north) of a node, or -1 outside the grid. */
static long neighbour(const flow *s, uint32_t i, uint32_t j, int c)
{
    static const int dx[4] = { -1, 1, 0, 0 }, dy[4] = { 0, 0, -1, 1 };
    const long x = (long)i + dx[c], y = (long)j + dy[c];
    return x < 0 || y < 0 || x >= (long)s->nx || y >= (long)s->ny ? -1 : y * (long)s->nx + x;
}

/* Rows of A (for psi) and I + dt nu A (for omega), and the bits for neighbours whose value is given. A mirrored border
 * has no node outside: its inner neighbour counts twice, and half of the row keeps the matrix symmetric. */
static void set_rows(const flow *s, int32_t *node, double *A_psi, double *A_omega)
{
    const flow_constants *k = &s->k;
    const size_t points = (size_t)s->nx * s->ny;
    for (uint32_t j = 0; j < s->ny; j++)
        for (uint32_t i = 0; i < s->nx; i++) {
            const size_t at = (size_t)j * s->nx + i;
            const int32_t n = node[at];
            const double half = n & FLOW_NODE_HALF ? 0.5 : 1;
            for (int c = 0; c < 4; c++) {
                const long other = neighbour(s, i, j, c), mirror = neighbour(s, i, j, c ^ 1);
                const double entry = (c < 2 ? k->cx : k->cy) * half * (mirror < 0 ? 2 : 1);
                if (other < 0)
                    continue;
                if (n & FLOW_NODE_PSI) {
                    if (node[other] & FLOW_NODE_PSI)
                        A_psi[(size_t)(c + 1) * points + at] = -entry;
                    else
                        node[at] |= FLOW_PSI_FIXED << c;
                }
                if (n & FLOW_NODE_OMEGA) {
                    if (node[other] & FLOW_NODE_OMEGA)
                        A_omega[(size_t)(c + 1) * points + at] = -(c < 2 ? k->nux : k->nuy);
                    else
                        node[at] |= FLOW_OMEGA_FIXED << c;
                }
            }
            if (n & FLOW_NODE_PSI)
                A_psi[at] = half * 2 * (k->cx + k->cy);
            if (n & FLOW_NODE_OMEGA)
                A_omega[at] = 1 + 2 * (k->nux + k->nuy);
        }
}

bn_status flow_fill(bn_sim *sim, flow *s)
{
    bn_status st = BN_OK;
    const size_t points = (size_t)s->nx * s->ny;
    double *values = calloc(14 * points, sizeof *values); /* psi, omega, u, v, and twice five diagonals */
    int32_t *node = calloc(points, sizeof *node);
    if (!values || !node) {
        st = bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the initial values of flow");
        goto out;
    }
    double *psi = values, *omega = psi + points, *u = omega + points, *v = u + points;
    double *A_psi = v + points, *A_omega = A_psi + 5 * points;
    for (uint32_t j = 0; j < s->ny; j++)
        for (uint32_t i = 0; i < s->nx; i++)
            node[(size_t)j * s->nx + i] = classify(s, i, j);
    set_border_psi(s, node, psi);
    set_border_motion(s, omega, u, v);
    set_start(s, psi, omega, u, v);
    set_rows(s, node, A_psi, A_omega);
    BN_GO(bn_field_write(s->node, node, points * sizeof *node));
    BN_GO(bn_field_set(s->psi, psi, points));
    BN_GO(bn_field_set(s->before, psi, points));
    BN_GO(bn_field_set(s->omega, omega, points));
    BN_GO(bn_field_set(s->velocity, u, 2 * points));
    BN_GO(bn_field_set(s->A_psi, A_psi, 5 * points));
    BN_GO(bn_field_set(s->A_omega, A_omega, 5 * points));
out:
    free(values);
    free(node);
    return st;
}
