/* flow_border.c: what every node is, the bits of the three matrices, and the values at the border and at the start.
 * Made once on the host in double, the same for device and reference. */
#include "flow.h"

#include "api/parallel_rows.h"
#include "numerics/spectral_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Speed over mean speed, and its derivative by eta. */
static double shape(flow_profile profile, double eta) { return profile == FLOW_UNIFORM ? 1 : 6 * eta * (1 - eta); }
static double slope(flow_profile profile, double eta) { return profile == FLOW_UNIFORM ? 0 : 6 * (1 - 2 * eta); }

/* Node number m of a side in the order of x or y. */
static size_t side_node(const flow *s, int side, uint32_t m)
{
    switch (side) {
    case FLOW_LEFT: return (size_t)m * s->config.nx;
    case FLOW_RIGHT: return (size_t)m * s->config.nx + s->config.nx - 1;
    case FLOW_BOTTOM: return m;
    default: return (size_t)(s->config.ny - 1) * s->config.nx + m;
    }
}

/* Volume flux per depth into the domain through a side from its begin to `place` [m2/s]; an outflow takes what the
 * inflows leave, evenly (its stream function is an unknown: this only closes the circle). */
static double flux_before(const flow *s, int side, double place)
{
    double sum = 0;
    for (int i = 0; i < s->border.pieces; i++) {
        const flow_piece *p = &s->border.piece[i];
        if (p->side == side && p->kind == FLOW_OUTFLOW)
            sum -= flow_net_inflow(s) * fmin(1, fmax(0, (place - p->from) / (p->to - p->from)));
        else if (p->side == side)
            sum += flow_piece_flux(p, place);
    }
    return sum;
}

/* Counterclockwise d psi = -(normal speed inwards) ds, from psi = 0 in the corner at the origin. */
void flow_border_psi(const flow *s, double *psi)
{
    double begin = 0;
    static const int order[FLOW_SIDES] = { FLOW_BOTTOM, FLOW_RIGHT, FLOW_TOP, FLOW_LEFT };
    for (int step = 0; step < FLOW_SIDES; step++) {
        const int side = order[step];
        const bool rising = side == FLOW_BOTTOM || side == FLOW_RIGHT;
        const double whole = flux_before(s, side, flow_side_length(s, side));
        for (uint32_t m = 0; m < flow_side_nodes(s, side); m++) {
            const double before = flux_before(s, side, flow_node_place(s, side, m));
            psi[side_node(s, side, m)] = begin - (rising ? before : whole - before);
        }
        begin -= whole;
    }
    psi[0] = 0;
}

const double *flow_moving(const flow *s, int side)
{
    return s->border.moving + (size_t)side * (s->config.nx > s->config.ny ? s->config.nx : s->config.ny);
}

/* With U along +x or +y, psi_n = -s U inwards, s = 1 at the top and left, -1 at the bottom and right. Where something
 * flows through, psi_nn = -omega - psi_tt, and with Woods psi_nnn = -omega_n - (psi_n)_tt; t: along the side. */
bn_status flow_plan_moving(bn_plan *plan, flow *s)
{
    const size_t longer = s->config.nx > s->config.ny ? s->config.nx : s->config.ny;
    const size_t points = (size_t)s->config.nx * s->config.ny;
    const double wall = s->config.woods ? 3 : 2;
    double *psi = NULL; /* where a velocity is given */
    bool given = false;
    BN_TRY(bn_plan_allocate(plan, FLOW_SIDES * longer * sizeof(double), (void **)&s->border.moving));
    if (bn_plan_only_counts(plan, (double)points))
        return BN_OK;
    for (int i = 0; i < s->border.pieces; i++)
        given = given || s->border.piece[i].kind == FLOW_VELOCITY;
    if (given && !(psi = calloc(points, sizeof *psi)))
        return bn_fail(bn_plan_context(plan), BN_MEMORY, "no memory for the border of flow");
    if (given)
        flow_border_psi(s, psi);
    for (int side = 0; side < FLOW_SIDES; side++)
        for (uint32_t m = 1; m + 1 < flow_side_nodes(s, side); m++) {
            const flow_piece *p = flow_piece_at(s, side, m);
            const bool vertical = side < FLOW_BOTTOM;
            const double across = s->config.h[vertical ? 0 : 1], along = s->config.h[vertical ? 1 : 0];
            const double sign = side == FLOW_LEFT || side == FLOW_TOP ? 1 : -1;
            double U[3] = { p->speed, p->speed, p->speed }, psi_tt = 0;
            for (uint32_t k = 0; k < 3 && psi && p->kind == FLOW_VELOCITY; k++) {
                double velocity[2];
                flow_table_velocity(p, flow_node_place(s, side, m - 1 + k), velocity);
                U[k] = velocity[vertical];
                psi_tt += (k == 1 ? -2 : 1) * psi[side_node(s, side, m - 1 + k)] / (along * along);
            }
            const double U_tt = s->config.woods ? (U[0] - 2 * U[1] + U[2]) / (along * along) : 0;
            const double lid = sign * (0.5 * across * U_tt - wall / across * U[1]);
            s->border.moving[(size_t)side * longer + m] = lid - 0.5 * wall * psi_tt;
        }
    free(psi);
    return BN_OK;
}

/* The side of a node on the border, -1 inside, FLOW_SIDES in a corner. */
static int side_of(const flow *s, uint32_t i, uint32_t j)
{
    const bool on_x = i == 0 || i + 1 == s->config.nx, on_y = j == 0 || j + 1 == s->config.ny;
    if (on_x && on_y)
        return FLOW_SIDES;
    return on_x ? (i == 0 ? FLOW_LEFT : FLOW_RIGHT) : on_y ? (j == 0 ? FLOW_BOTTOM : FLOW_TOP) : -1;
}

/* The piece of the border at a node of a side. */
static const flow_piece *piece_of(const flow *s, int side, uint32_t i, uint32_t j)
{
    return flow_piece_at(s, side, side < FLOW_BOTTOM ? j : i);
}

static bool solid_at(const flow *s, size_t at) { return s->border.solid && s->border.solid[at]; }

/* Whether a piece prescribes the temperature. */
static bool gives_heat(const flow_piece *p)
{
    return p->kind == FLOW_INFLOW || p->kind == FLOW_VELOCITY || p->heat == FLOW_GIVEN;
}

/* Whether temperature is given at a node, and which: the mean of two sides in a corner. */
static bool given_temperature(const flow *s, uint32_t i, uint32_t j, double *value)
{
    const bool on_side[FLOW_SIDES] = { i == 0, i + 1 == s->config.nx, j == 0, j + 1 == s->config.ny };
    double sum = 0;
    int count = 0;
    for (int side = 0; side < FLOW_SIDES; side++)
        if (on_side[side] && gives_heat(piece_of(s, side, i, j))) {
            sum += piece_of(s, side, i, j)->temperature;
            count++;
        }
    if (count == 0 && solid_at(s, (size_t)j * s->config.nx + i) && s->border.body_heat == FLOW_GIVEN) {
        sum = s->border.body_temperature;
        count = 1;
    }
    *value = count > 0 ? sum / count : s->config.start_temperature;
    return count > 0;
}

/* Which nodes are unknowns of a system, and which cells fluid. */
typedef struct flow_flags {
    const flow *s;
    bool *unknown[FLOW_SYSTEMS], *cell;
} flow_flags;

static void find_flags(void *user, size_t first, size_t end)
{
    const flow_flags *f = user;
    const flow *s = f->s;
    const size_t row = s->config.nx - 1;
    for (uint32_t j = (uint32_t)first; j < end; j++)
        for (uint32_t i = 0; i < s->config.nx; i++) {
            const size_t at = (size_t)j * s->config.nx + i;
            const int side = side_of(s, i, j);
            double value;
            f->unknown[FLOW_OMEGA][at] = side < 0 && !solid_at(s, at);
            f->unknown[FLOW_PSI][at] = !solid_at(s, at) &&
                                       (side < 0 ||
                                        (side < FLOW_SIDES && piece_of(s, side, i, j)->kind == FLOW_OUTFLOW));
            f->unknown[FLOW_HEAT][at] = !given_temperature(s, i, j, &value);
            if (i < row && j + 1 < s->config.ny)
                f->cell[j * row + i] = !(solid_at(s, at) && solid_at(s, at + 1) && solid_at(s, at + s->config.nx) &&
                                         solid_at(s, at + s->config.nx + 1));
        }
}

static const char *const system_names[FLOW_SYSTEMS] = { "the system for psi", "the system for omega",
                                                        "the system for the temperature" };
/* A few iterations cost about as much as transforms on a CPU; on a GPU the launches of an iteration make transforms the
 * faster ones on grids of up to so many nodes. */
enum { FLOW_SMALL_GRID = 600 * 600 };
static const bn_linear_method methods[] = {
    [FLOW_CG] = BN_LINEAR_CG, [FLOW_FFT] = BN_LINEAR_SPECTRAL, [FLOW_MULTIGRID] = BN_LINEAR_MULTIGRID
};

/* Which method solves a system; explains what can't be. */
static bn_linear_method choose_method(const bn_case *c, const flow *s, flow_system system, const char *key)
{
    const flow_method choice = (flow_method)bn_case_choice(c, key);
    const char *why = NULL;
    const bool suits = bn_spectral_suits(&s->systems.desc[system].stencil, s->config.roundoff < 1e-10 ? 8 : 4, &why);
    if (choice == FLOW_AUTO) {
        /* Little diffusion in a step: a few iterations are cheaper than transforms of long lines. */
        if (system != FLOW_PSI && !s->newton.on && (double)s->config.nx * s->config.ny > FLOW_SMALL_GRID &&
            fmax(s->systems.desc[system].stencil.kx, s->systems.desc[system].stencil.ky) < 0.1)
            return BN_LINEAR_CG;
        return suits ? BN_LINEAR_SPECTRAL : system == FLOW_PSI || s->newton.on ? BN_LINEAR_MULTIGRID : BN_LINEAR_CG;
    }
    if (choice == FLOW_FFT && !suits)
        (void)bn_case_reject(c, key, "\"auto\" chooses what is possible", "the direct solver can't be used for %s: %s",
                             s->systems.desc[system].name, why);
    return methods[choice];
}

/* Of nodes that are only counted: methods that take any border and any obstacle, and more memory than the direct one.
 */
static bn_status count_systems(const bn_case *c, bn_plan *p, flow *s)
{
    for (int i = 0; i < (s->config.a > 0 ? FLOW_SYSTEMS : FLOW_HEAT); i++) {
        const flow_method choice = (flow_method)bn_case_choice(c,
                                                               i == FLOW_PSI ? "solver.poisson" : "solver.diffusion");
        BN_TRY(bn_plan_allocate(p, 1, (void **)&s->systems.bits[i])); /* there is such a system */
        s->systems.desc[i] = (bn_linear_desc){ .name = system_names[i],
                                               .method = choice != FLOW_AUTO ? methods[choice]
                                                         : i == FLOW_PSI     ? BN_LINEAR_MULTIGRID
                                                                             : BN_LINEAR_CG };
    }
    return BN_OK;
}

/* Where psi and omega are solved directly and have the same unknowns, one transform forward serves both. */
static bn_status couple_systems(bn_plan *p, flow *s)
{
    const size_t points = (size_t)s->config.nx * s->config.ny;
    bn_linear_desc *psi = &s->systems.desc[FLOW_PSI], *omega = &s->systems.desc[FLOW_OMEGA];
    if (s->newton.on) {
        s->systems.coupled = psi->method == BN_LINEAR_SPECTRAL;
        return BN_OK;
    }
    s->systems.coupled = psi->method == BN_LINEAR_SPECTRAL && omega->method == BN_LINEAR_SPECTRAL &&
                         memcmp(s->systems.bits[FLOW_PSI], s->systems.bits[FLOW_OMEGA], points) == 0;
    psi->only_coupled = omega->only_coupled = s->systems.coupled;
    if (!s->systems.coupled)
        return BN_OK;
    double *values = calloc(points, sizeof *values);
    if (!values)
        return bn_fail(bn_plan_context(p), BN_MEMORY, "no memory for the border of flow");
    flow_border_psi(s, values);
    for (int side = 0; side < FLOW_SIDES; side++)
        for (uint32_t m = 0; m < flow_side_nodes(s, side); m++)
            s->systems.border = s->systems.border || values[side_node(s, side, m)] != 0;
    free(values);
    return BN_OK;
}

bn_status flow_plan_systems(const bn_case *c, bn_plan *p, flow *s)
{
    const size_t points = (size_t)s->config.nx * s->config.ny;
    const flow_constants *k = &s->k;
    bn_status st = BN_OK;
    if (bn_plan_only_counts(p, (double)points))
        return count_systems(c, p, s);
    bool *flags = malloc((FLOW_SYSTEMS + 1) * points * sizeof *flags);
    if (!flags)
        return bn_fail(bn_plan_context(p), BN_MEMORY, "no memory for the nodes of flow");
    flow_flags f = { s, { flags, flags + points, flags + 2 * points }, flags + 3 * points };
    bn_parallel_rows(s->config.ny, find_flags, &f);
    /* Newton's method divides by conduction alone. */
    const double step = s->newton.on ? 0 : 1;
    const double mass[FLOW_SYSTEMS] = { 0, 1, step },
                 kx[FLOW_SYSTEMS] = { k->per_h2_x, k->nu_x, step > 0 ? k->a_x : k->per_h2_x },
                 ky[FLOW_SYSTEMS] = { k->per_h2_y, k->nu_y, step > 0 ? k->a_y : k->per_h2_y };
    for (int i = 0; i < (s->config.a > 0 ? FLOW_SYSTEMS : FLOW_HEAT); i++) {
        BN_GO(bn_plan_allocate(p, points, (void **)&s->systems.bits[i]));
        bn_stencil_bits(s->config.nx, s->config.ny, f.unknown[i], f.cell, s->systems.bits[i]);
        s->systems.desc[i] = (bn_linear_desc){ .name = system_names[i],
                                               .stencil = { s->config.nx, s->config.ny, mass[i], kx[i], ky[i],
                                                            s->systems.bits[i] } };
        s->systems.desc[i].method = choose_method(
            c, s, (flow_system)i, i == FLOW_PSI || s->newton.on ? "solver.poisson" : "solver.diffusion");
    }
    BN_GO(couple_systems(p, s));
out:
    free(flags);
    return st;
}

bn_status flow_setup_border(bn_sim *sim, flow *s, bn_status (*solve)(flow *, const bn_cg_target *))
{
    const size_t points = (size_t)s->config.nx * s->config.ny;
    const double k[4] = { s->k.per_h2_x, s->k.per_h2_x, s->k.per_h2_y, s->k.per_h2_y };
    const long step[4] = { -1, 1, -(long)s->config.nx, (long)s->config.nx };
    bn_status st = BN_OK;
    double *psi = calloc(2 * points, sizeof *psi);
    if (!psi)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the border of flow");
    double *rhs = psi + points;
    flow_border_psi(s, psi);
    for (size_t at = 0; at < points; at++)
        for (int d = 0; d < 4 && s->systems.bits[FLOW_PSI][at]; d++)
            if (!(s->systems.bits[FLOW_PSI][at] & BN_LINK_WEST << d))
                rhs[at] += k[d] * psi[(size_t)((long)at + step[d])];
    BN_GO(bn_field_set(s->fields.rhs, rhs, points));
    BN_GO(solve(s, &s->systems.target[FLOW_PSI]));
    st = bn_field_copy(s->fields.next, s->fields.psi_border);
out:
    free(psi);
    return st;
}

/* What rows of nodes are filled with: their integers (see flow.h) or temperatures. */
typedef struct flow_filled {
    const flow *s;
    int32_t *node;
    double *T;
} flow_filled;

static void set_nodes(void *user, size_t first, size_t end)
{
    const flow_filled *f = user;
    const flow *s = f->s;
    int32_t *node = f->node;
    static const int dx[4] = { -1, 1, 0, 0 }, dy[4] = { 0, 0, -1, 1 };
    static const int32_t given[FLOW_SYSTEMS] = { FLOW_PSI_GIVEN, FLOW_OMEGA_GIVEN, FLOW_HEAT_GIVEN };
    for (uint32_t j = (uint32_t)first; j < end; j++)
        for (uint32_t i = 0; i < s->config.nx; i++) {
            const size_t at = (size_t)j * s->config.nx + i;
            const int side = side_of(s, i, j);
            int32_t n = 0;
            n |= s->systems.bits[FLOW_PSI][at] ? FLOW_NODE_PSI : 0;
            n |= s->systems.bits[FLOW_OMEGA][at] ? FLOW_NODE_OMEGA : 0;
            for (int d = 0; d < 4; d++) {
                const long x = (long)i + dx[d], y = (long)j + dy[d];
                if (x < 0 || y < 0 || x >= (long)s->config.nx || y >= (long)s->config.ny)
                    continue;
                const size_t other = (size_t)(y * (long)s->config.nx + x);
                for (int k = 0; k < FLOW_SYSTEMS; k++)
                    if (s->systems.bits[k] && s->systems.bits[k][at] && !s->systems.bits[k][other] &&
                        bn_stencil_face(s->systems.bits[k][at], d) > 0)
                        n |= given[k] << d;
                /* Of a solid node: the neighbour is fluid. Nodes on the border, whose vorticity is no unknown, are not.
                 */
                if (solid_at(s, at) && s->systems.bits[FLOW_OMEGA][other])
                    n |= FLOW_NODE_BODY | FLOW_PSI_GIVEN << d;
            }
            if (side >= 0 && side < FLOW_SIDES) {
                n |= side * FLOW_NODE_SIDE;
                switch (piece_of(s, side, i, j)->kind) {
                case FLOW_WALL:
                case FLOW_VELOCITY: n |= FLOW_NODE_WALL; break;
                case FLOW_SLIP: n |= FLOW_NODE_SLIP; break;
                case FLOW_OUTFLOW: n |= FLOW_NODE_OUTFLOW; break;
                case FLOW_INFLOW: break;
                }
            }
            if (solid_at(s, at))
                n = (n & ~(FLOW_NODE_WALL | FLOW_NODE_SLIP | FLOW_NODE_OUTFLOW)) |
                    s->border.body[at] * FLOW_BODY_NUMBER;
            node[at] = n;
        }
}

/* Velocity and vorticity at the border that do not follow from psi: walls and inflows. */
static void set_border_motion(const flow *s, double *omega, double *u, double *v)
{
    for (int side = 0; side < FLOW_SIDES; side++) {
        const uint32_t n = flow_side_nodes(s, side);
        const double inwards = side == FLOW_LEFT || side == FLOW_BOTTOM ? 1 : -1;
        double *along = side < FLOW_BOTTOM ? v : u, *across = side < FLOW_BOTTOM ? u : v;
        for (uint32_t m = 0; m < n; m++) {
            const flow_piece *p = flow_piece_at(s, side, m);
            const size_t at = side_node(s, side, m);
            const double length = p->to - p->from, eta = (flow_node_place(s, side, m) - p->from) / length;
            if (solid_at(s, at))
                continue;
            if (p->kind == FLOW_WALL) {
                along[at] = p->speed;
            } else if (p->kind == FLOW_VELOCITY) {
                double velocity[2];
                flow_table_velocity(p, flow_node_place(s, side, m), velocity);
                u[at] = velocity[0];
                v[at] = velocity[1];
            } else if (p->kind == FLOW_INFLOW) {
                across[at] = inwards * p->speed * shape(p->profile, eta);
                /* omega = v_x - u_y, with no change along the normal */
                if (m > 0 && m < n - 1)
                    omega[at] = (side < FLOW_BOTTOM ? -1 : 1) * inwards * p->speed * slope(p->profile, eta) / length;
            }
        }
    }
}

static void set_start(const flow *s, double *psi, double *omega, double *u, double *v)
{
    const double pi = 3.14159265358979323846, ax = pi / s->config.size[0], ay = pi / s->config.size[1];
    for (uint32_t j = 1; j + 1 < s->config.ny && s->config.start != FLOW_REST; j++)
        for (uint32_t i = 1; i < s->config.nx; i++) {
            const size_t at = (size_t)j * s->config.nx + i;
            const bool border = i + 1 == s->config.nx;
            if ((border && piece_of(s, FLOW_RIGHT, i, j)->kind != FLOW_OUTFLOW) || solid_at(s, at))
                continue;
            if (s->config.start == FLOW_VORTEX) {
                const double x = i * s->config.h[0], y = j * s->config.h[1];
                psi[at] = s->config.strength * sin(ax * x) * sin(ay * y);
                omega[at] = (ax * ax + ay * ay) * psi[at];
                u[at] = s->config.strength * ay * sin(ax * x) * cos(ay * y);
                v[at] = -s->config.strength * ax * cos(ax * x) * sin(ay * y);
            } else {
                const size_t inlet = (size_t)j * s->config.nx;
                psi[at] = psi[inlet];
                omega[at] = omega[inlet];
                u[at] = u[inlet];
            }
        }
    /* Vorticity of the walls of a developed flow: that of the profile, u_y at both ends. */
    const flow_piece *left = &s->border.piece[FLOW_LEFT];
    if (s->config.start == FLOW_DEVELOPED)
        for (uint32_t i = 1; i + 1 < s->config.nx; i++)
            for (int top = 0; top < 2; top++) {
                const int side = top ? FLOW_TOP : FLOW_BOTTOM;
                if (flow_piece_at(s, side, i)->kind == FLOW_WALL)
                    omega[side_node(s, side, i)] = -left->speed * slope(left->profile, top) / s->config.size[1];
            }
}

/* psi of a solid: that of the border it touches; of a body in the fluid: as if the flow passed it on both sides alike.
 */
static void set_solid_psi(const flow *s, double *psi)
{
    const size_t nx = s->config.nx, points = nx * s->config.ny;
    double middle = 0;
    for (size_t j = 0; j < s->config.ny; j++)
        middle += psi[j * nx] / s->config.ny;
    for (size_t at = 0; at < points; at++)
        if (s->border.solid[at] && s->border.body[at])
            psi[at] = middle;
    /* Spreads the border's value through the solids that touch it. */
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t j = 1; j + 1 < s->config.ny; j++)
            for (size_t i = 1; i + 1 < nx; i++) {
                const size_t at = j * nx + i, around[4] = { at - 1, at + 1, at - nx, at + nx };
                if (!s->border.solid[at] || s->border.body[at])
                    continue;
                for (int d = 0; d < 4; d++)
                    if (s->border.solid[around[d]] && psi[around[d]] != psi[at] && psi[around[d]] != 0) {
                        psi[at] = psi[around[d]];
                        changed = true;
                        break;
                    }
            }
    }
}

static void set_temperature(void *user, size_t first, size_t end)
{
    const flow_filled *f = user;
    const flow *s = f->s;
    const double pi = 3.14159265358979323846;
    for (uint32_t j = (uint32_t)first; j < end; j++)
        for (uint32_t i = 0; i < s->config.nx; i++) {
            const double x = pi * i / (s->config.nx - 1), y = pi * j / (s->config.ny - 1);
            double *value = &f->T[(size_t)j * s->config.nx + i];
            if (!given_temperature(s, i, j, value))
                *value += s->config.heat_mode == FLOW_SINE     ? s->config.heat_amplitude * sin(x) * sin(y)
                          : s->config.heat_mode == FLOW_COSINE ? s->config.heat_amplitude * cos(x) * cos(y)
                                                               : 0;
        }
}

/* One kind of values at a time, so that few doubles of the whole grid are there. */
bn_status flow_fill(bn_sim *sim, flow *s)
{
    bn_status st = BN_OK;
    const size_t points = (size_t)s->config.nx * s->config.ny;
    int32_t *node = malloc(points * sizeof *node);
    double *values = NULL, *T = NULL;
    if (!node)
        goto no_memory;
    bn_parallel_rows(s->config.ny, set_nodes, &(flow_filled){ s, node, NULL });
    BN_GO(bn_field_write(s->fields.node, node, points * sizeof *node));
    free(node);
    node = NULL;
    if (s->config.a > 0) {
        if (!(T = malloc(points * sizeof *T)))
            goto no_memory;
        bn_parallel_rows(s->config.ny, set_temperature, &(flow_filled){ s, NULL, T });
        BN_GO(bn_field_set(s->fields.T, T, points));
        BN_GO(bn_field_copy(s->fields.T, s->fields.T_next));
        free(T);
        T = NULL;
    }
    if (!(values = calloc(4 * points, sizeof *values))) /* psi, omega, u, v */
        goto no_memory;
    double *psi = values, *omega = psi + points, *u = omega + points, *v = u + points;
    flow_border_psi(s, psi);
    set_border_motion(s, omega, u, v);
    if (s->border.solid)
        set_solid_psi(s, psi);
    set_start(s, psi, omega, u, v);
    for (size_t at = 0; at < points && s->border.bodies > 0; at++)
        if (s->border.body[at] == 1) {
            s->psi_body = psi[at];
            break;
        }
    BN_GO(bn_field_set(s->fields.psi, psi, points));
    BN_GO(bn_field_set(s->fields.omega, omega, points));
    BN_GO(bn_field_set(s->fields.velocity, u, 2 * points));
    st = bn_field_copy(s->fields.psi, s->fields.before);
    goto out;
no_memory:
    st = bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the initial values of flow");
out:
    free(values);
    free(node);
    free(T);
    return st;
}
