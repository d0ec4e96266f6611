/* flow_border.c: what every node is, the bits of the three matrices, and the values at the border and at the start.
 * Made once on the host in double, the same for device and reference. */
#include "flow.h"

#include "api/parallel_rows.h"
#include "numerics/capacitance_plan.h"
#include "numerics/spectral_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Speed over mean speed, and its derivative by eta. */
static double shape(flow_profile profile, double eta) { return profile == FLOW_UNIFORM ? 1 : 6 * eta * (1 - eta); }
static double slope(flow_profile profile, double eta) { return profile == FLOW_UNIFORM ? 0 : 6 * (1 - 2 * eta); }

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

double *flow_along(const flow *s, double *values, int side)
{
    return values + (size_t)side * (s->config.nx > s->config.ny ? s->config.nx : s->config.ny);
}

/* Counterclockwise d psi = -(normal speed inwards) ds, from psi = 0 in the corner at the origin; the other corners have
 * what the side that ends there says. */
bn_status flow_plan_border(bn_plan *plan, flow *s)
{
    const size_t longer = s->config.nx > s->config.ny ? s->config.nx : s->config.ny;
    const uint32_t right = s->config.nx - 1, top = s->config.ny - 1;
    double begin = 0;
    static const int order[FLOW_SIDES] = { FLOW_BOTTOM, FLOW_RIGHT, FLOW_TOP, FLOW_LEFT };
    BN_TRY(bn_plan_allocate(plan, FLOW_SIDES * longer * sizeof(double), (void **)&s->border.psi));
    for (int step = 0; step < FLOW_SIDES; step++) {
        const int side = order[step];
        const bool rising = side == FLOW_BOTTOM || side == FLOW_RIGHT;
        const double whole = flux_before(s, side, flow_side_length(s, side));
        for (uint32_t m = 0; m < flow_side_nodes(s, side); m++) {
            const double before = flux_before(s, side, flow_node_place(s, side, m));
            flow_along(s, s->border.psi, side)[m] = begin - (rising ? before : whole - before);
        }
        begin -= whole;
    }
    double *psi[FLOW_SIDES];
    for (int side = 0; side < FLOW_SIDES; side++)
        psi[side] = flow_along(s, s->border.psi, side);
    psi[FLOW_LEFT][0] = psi[FLOW_BOTTOM][0] = 0;
    psi[FLOW_BOTTOM][right] = psi[FLOW_RIGHT][0];
    psi[FLOW_RIGHT][top] = psi[FLOW_TOP][right];
    psi[FLOW_TOP][0] = psi[FLOW_LEFT][top];
    return BN_OK;
}

/* The second derivative along a side at a node, from it and the two beside it. */
static double second_along(const flow *s, int side, uint32_t m, const double f[3])
{
    const double below = flow_node_place(s, side, m) - flow_node_place(s, side, m - 1),
                 above = flow_node_place(s, side, m + 1) - flow_node_place(s, side, m);
    return 2 * ((f[2] - f[1]) / above - (f[1] - f[0]) / below) / (below + above);
}

/* With U along +x or +y, psi_n = -s U inwards, s = 1 at the top and left, -1 at the bottom and right. Where something
 * flows through, psi_nn = -omega - psi_tt, and with Woods psi_nnn = -omega_n - (psi_n)_tt; t: along the side. */
bn_status flow_plan_moving(bn_plan *plan, flow *s)
{
    const size_t longer = s->config.nx > s->config.ny ? s->config.nx : s->config.ny;
    const size_t points = (size_t)s->config.nx * s->config.ny;
    const double wall = s->config.woods ? 3 : 2;
    BN_TRY(bn_plan_allocate(plan, FLOW_SIDES * longer * sizeof(double), (void **)&s->border.moving));
    if (bn_plan_only_counts(plan, (double)points))
        return BN_OK;
    for (int side = 0; side < FLOW_SIDES; side++)
        for (uint32_t m = 1; m + 1 < flow_side_nodes(s, side); m++) {
            const flow_piece *p = flow_piece_at(s, side, m);
            const bool vertical = side < FLOW_BOTTOM;
            const double across = s->config.least_h[vertical ? 0 : 1], along = s->config.h[vertical ? 1 : 0];
            const double sign = side == FLOW_LEFT || side == FLOW_TOP ? 1 : -1;
            double U[3] = { p->speed, p->speed, p->speed }, psi[3] = { 0 }, psi_tt = 0;
            for (uint32_t k = 0; k < 3 && p->kind == FLOW_VELOCITY; k++) {
                double velocity[2];
                flow_table_velocity(p, flow_node_place(s, side, m - 1 + k), velocity);
                U[k] = velocity[vertical];
                psi[k] = flow_along(s, s->border.psi, side)[m - 1 + k];
                psi_tt += (k == 1 ? -2 : 1) * psi[k] / (along * along);
            }
            const double U_tt = !s->config.woods   ? 0
                                : s->config.widths ? second_along(s, side, m, U)
                                                   : (U[0] - 2 * U[1] + U[2]) / (along * along);
            if (s->config.widths)
                psi_tt = second_along(s, side, m, psi);
            const double lid = sign * (0.5 * across * U_tt - wall / across * U[1]);
            s->border.moving[(size_t)side * longer + m] = lid - 0.5 * wall * psi_tt;
        }
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

/* Whether temperature is given at a node, and which: the mean of two sides in a corner. `solid`: on an obstacle. */
static bool given_temperature(const flow *s, uint32_t i, uint32_t j, bool solid, double *value)
{
    const bool on_side[FLOW_SIDES] = { i == 0, i + 1 == s->config.nx, j == 0, j + 1 == s->config.ny };
    double sum = 0;
    int count = 0;
    for (int side = 0; side < FLOW_SIDES; side++)
        if (on_side[side] && gives_heat(piece_of(s, side, i, j))) {
            sum += piece_of(s, side, i, j)->temperature;
            count++;
        }
    if (count == 0 && solid && s->border.body_heat == FLOW_GIVEN) {
        sum = s->border.body_temperature;
        count = 1;
    }
    *value = count > 0 ? sum / count : s->config.start_temperature;
    return count > 0;
}

/* Which nodes are unknowns of a system, and which cells fluid. */
typedef struct flow_flags {
    const flow *s;
    bool obstacles; /* or those of the rectangle, as if there were none */
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
            const bool solid = f->obstacles && solid_at(s, at);
            double value;
            f->unknown[FLOW_OMEGA][at] = side < 0 && !solid;
            f->unknown[FLOW_PSI][at] = !solid && (side < 0 ||
                                                  (side < FLOW_SIDES && piece_of(s, side, i, j)->kind == FLOW_OUTFLOW));
            f->unknown[FLOW_HEAT][at] = !given_temperature(s, i, j, solid, &value);
            if (i < row && j + 1 < s->config.ny)
                f->cell[j * row + i] = !(solid && solid_at(s, at + 1) && solid_at(s, at + s->config.nx) &&
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
    const bool suits = bn_spectral_suits(&s->systems.desc[system].stencil, flow_real_bytes(s), &why);
    if (choice == FLOW_AUTO) {
        /* Little diffusion in a step: a few iterations are cheaper than transforms of long lines. */
        if (system != FLOW_PSI && !s->newton.on && (double)s->config.nx * s->config.ny > FLOW_SMALL_GRID &&
            fmax(s->systems.desc[system].stencil.kx, s->systems.desc[system].stencil.ky) < 0.1)
            return BN_LINEAR_CG;
        return suits                                                       ? BN_LINEAR_SPECTRAL
               : (system == FLOW_PSI || s->newton.on) && !s->config.widths ? BN_LINEAR_MULTIGRID
                                                                           : BN_LINEAR_CG;
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
static void couple_systems(flow *s)
{
    const size_t points = (size_t)s->config.nx * s->config.ny;
    bn_linear_desc *psi = &s->systems.desc[FLOW_PSI], *omega = &s->systems.desc[FLOW_OMEGA];
    if (s->newton.on) {
        s->systems.coupled = psi->method == BN_LINEAR_SPECTRAL;
        return;
    }
    s->systems.coupled = psi->method == BN_LINEAR_SPECTRAL && omega->method == BN_LINEAR_SPECTRAL &&
                         !psi->stencil.rectangle &&
                         memcmp(s->systems.bits[FLOW_PSI], s->systems.bits[FLOW_OMEGA], points) == 0;
    psi->only_coupled = omega->only_coupled = s->systems.coupled;
    for (int side = 0; side < FLOW_SIDES && s->systems.coupled; side++)
        for (uint32_t m = 0; m < flow_side_nodes(s, side); m++)
            s->systems.border = s->systems.border || flow_along(s, s->border.psi, side)[m] != 0;
}

/* For the direct solver: the bits as if there were no obstacles. */
static bn_status plan_rectangles(bn_plan *p, flow *s, flow_flags *f)
{
    f->obstacles = false;
    bn_parallel_rows(s->config.ny, s->config.nx, find_flags, f);
    for (int i = 0; i < FLOW_SYSTEMS; i++) {
        uint8_t *bits;
        if (!s->systems.bits[i])
            continue;
        BN_TRY(bn_plan_allocate(p, (size_t)s->config.nx * s->config.ny, (void **)&bits));
        bn_stencil_bits(s->config.nx, s->config.ny, f->unknown[i], f->cell, bits);
        s->systems.desc[i].stencil.rectangle = bits;
    }
    return BN_OK;
}

/* For direct solutions nodes of obstacles are neighbours like others: capacitance_plan.h. */
static void link_obstacles(flow *s)
{
    for (int i = 0; i < FLOW_SYSTEMS; i++) {
        const bn_linear_desc *d = &s->systems.desc[i];
        uint8_t *bits = s->systems.bits[i];
        const bool linked = bits && d->method == BN_LINEAR_SPECTRAL && d->stencil.rectangle;
        for (size_t at = 0; linked && at < (size_t)s->config.nx * s->config.ny; at++)
            bits[at] = bits[at] ? d->stencil.rectangle[at] : 0;
    }
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
    flow_flags f = { s, true, { flags, flags + points, flags + 2 * points }, flags + 3 * points };
    bn_parallel_rows(s->config.ny, s->config.nx, find_flags, &f);
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
                                                            s->systems.bits[i], s->config.widths, NULL } };
    }
    if (s->border.solid && !s->newton.on && points <= BN_CAPACITANCE_VALUES)
        BN_GO(plan_rectangles(p, s, &f));
    for (int i = 0; i < (s->config.a > 0 ? FLOW_SYSTEMS : FLOW_HEAT); i++)
        s->systems.desc[i].method = choose_method(
            c, s, (flow_system)i, i == FLOW_PSI || s->newton.on ? "solver.poisson" : "solver.diffusion");
    link_obstacles(s);
    couple_systems(s);
out:
    free(flags);
    return st;
}

/* A region of a field on its way there. */
typedef struct filled {
    const flow *s;
    flow_node_value *value;
    int which, components;
    bool integers;
    uint32_t margin; /* nodes from the border on, 0: none; all others, the most of a large grid, have the same value */
    double inside;
    const bn_region *region;
    void *values;
} filled;

static void fill_rows(void *user, size_t first, size_t end)
{
    const filled *f = user;
    const bn_region *r = f->region;
    for (int c = 0; c < f->components; c++)
        for (size_t row = first; row < end; row++) {
            const size_t to = (size_t)c * bn_region_points(r) + row * r->n[0];
            const uint32_t j = r->first[1] + (uint32_t)row;
            const bool inside = f->margin > 0 && j >= f->margin && j + f->margin < f->s->config.ny;
            for (uint32_t n = 0; n < r->n[0]; n++) {
                const uint32_t i = r->first[0] + n;
                const bool alike = inside && i >= f->margin && i + f->margin < f->s->config.nx;
                const double value = alike ? f->inside : f->value(f->s, f->which + c, i, j);
                if (f->integers)
                    ((int32_t *)f->values)[to + n] = (int32_t)value;
                else
                    ((double *)f->values)[to + n] = value;
            }
        }
}

static bn_status fill_region(void *user, const bn_region *r, void *values)
{
    filled f = *(const filled *)user;
    f.region = r;
    f.values = values;
    bn_parallel_rows(r->n[1], r->n[0], fill_rows, &f);
    return BN_OK;
}

static flow_node_value border_source, node_code, value_at_start, temperature_at_start;

/* The margin of these values, and what they are inside of it. */
static uint32_t find_margin(const flow *s, flow_node_value *value, double *inside)
{
    *inside = value == node_code              ? FLOW_NODE_PSI | FLOW_NODE_OMEGA
              : value == temperature_at_start ? s->config.start_temperature
                                              : 0;
    if (s->border.solid)
        return 0;
    if (value == node_code || value == border_source)
        return 2;
    return (value == value_at_start && s->config.start == FLOW_REST) ||
           (value == temperature_at_start && s->config.heat_mode == FLOW_EVEN);
}

bn_status flow_supply(bn_field *field, const flow *s, flow_node_value *value, int which)
{
    double inside;
    const uint32_t margin = find_margin(s, value, &inside);
    const bn_field_desc *d = bn_field_describe(field);
    const bool integers = d->type == BN_T_I32;
    return bn_field_supply(field, integers ? BN_OWN_TYPE : BN_AS_DOUBLES, fill_region,
                           &(filled){ .s = s,
                                      .value = value,
                                      .which = which,
                                      .components = d->components,
                                      .integers = integers,
                                      .margin = margin,
                                      .inside = inside });
}

/* What values of psi at the border and on nothing else make of the right-hand side. */
static double border_source(const flow *s, int which, uint32_t i, uint32_t j)
{
    const unsigned bits = s->systems.bits[FLOW_PSI][(size_t)j * s->config.nx + i];
    const bool beside[FLOW_SIDES] = { i == 1, i + 2 == s->config.nx, j == 1, j + 2 == s->config.ny };
    double rhs = 0;
    (void)which;
    for (int side = 0; side < FLOW_SIDES && bits; side++)
        if (beside[side] && !(bits & BN_LINK_WEST << side))
            rhs += bn_stencil_coupling(&s->systems.desc[FLOW_PSI].stencil, bits, side, i, j) *
                   flow_along(s, s->border.psi, side)[side < FLOW_BOTTOM ? j : i];
    return rhs;
}

bn_status flow_setup_border(flow *s, bn_status (*solve)(flow *, const bn_cg_target *))
{
    BN_TRY(flow_supply(s->fields.rhs, s, border_source, 0));
    BN_TRY(solve(s, &s->systems.target[FLOW_PSI]));
    return bn_field_copy(s->fields.next, s->fields.psi_border);
}

/* The integer of a node (see flow.h). */
static double node_code(const flow *s, int which, uint32_t i, uint32_t j)
{
    static const int dx[4] = { -1, 1, 0, 0 }, dy[4] = { 0, 0, -1, 1 };
    static const int32_t given[FLOW_SYSTEMS] = { FLOW_PSI_GIVEN, FLOW_OMEGA_GIVEN, FLOW_HEAT_GIVEN };
    const size_t at = (size_t)j * s->config.nx + i;
    const int side = side_of(s, i, j);
    int32_t n = 0;
    (void)which;
    n |= s->systems.bits[FLOW_PSI][at] ? FLOW_NODE_PSI : 0;
    n |= s->systems.bits[FLOW_OMEGA][at] ? FLOW_NODE_OMEGA : 0;
    for (int d = 0; d < 4; d++) {
        const long x = (long)i + dx[d], y = (long)j + dy[d];
        if (x < 0 || y < 0 || x >= (long)s->config.nx || y >= (long)s->config.ny)
            continue;
        const size_t other = (size_t)(y * (long)s->config.nx + x);
        for (int k = 0; k < FLOW_SYSTEMS; k++)
            if (s->systems.bits[k] && s->systems.bits[k][at] && !s->systems.bits[k][other] &&
                bn_stencil_face(s->systems.bits[k][at], d) > 0 &&
                (k == FLOW_PSI || !(s->systems.bits[k][at] & BN_LINK_WEST << d)))
                n |= given[k] << d;
        /* Of a solid node: the neighbour is fluid. Nodes on the border, whose vorticity is no unknown, are not. */
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
            (s->border.body[at] <= FLOW_BODIES ? s->border.body[at] * FLOW_BODY_NUMBER : 0);
    return n;
}

enum { START_PSI, START_OMEGA, START_U, START_V };

/* Values of a node at the start. */
typedef struct flow_start_values {
    double psi, omega, u, v;
} flow_start_values;

/* Velocity and vorticity at the border that do not follow from psi: walls and inflows. */
static void set_border_motion(const flow *s, int side, uint32_t m, flow_start_values *to)
{
    const flow_piece *p = flow_piece_at(s, side, m);
    const double inwards = side == FLOW_LEFT || side == FLOW_BOTTOM ? 1 : -1;
    const double length = p->to - p->from, eta = (flow_node_place(s, side, m) - p->from) / length;
    double *along = side < FLOW_BOTTOM ? &to->v : &to->u, *across = side < FLOW_BOTTOM ? &to->u : &to->v;
    if (p->kind == FLOW_WALL) {
        *along = p->speed;
    } else if (p->kind == FLOW_VELOCITY) {
        double velocity[2];
        flow_table_velocity(p, flow_node_place(s, side, m), velocity);
        to->u = velocity[0];
        to->v = velocity[1];
    } else if (p->kind == FLOW_INFLOW) {
        *across = inwards * p->speed * shape(p->profile, eta);
        /* omega = v_x - u_y, with no change along the normal */
        if (m > 0 && m + 1 < flow_side_nodes(s, side))
            to->omega = (side < FLOW_BOTTOM ? -1 : 1) * inwards * p->speed * slope(p->profile, eta) / length;
    }
}

/* At the border, and at rest. psi of a solid: that of the border it touches; of a body in the fluid: as if the flow
 * passed it on both sides alike. */
static flow_start_values at_rest(const flow *s, uint32_t i, uint32_t j)
{
    const bool on_side[FLOW_SIDES] = { i == 0, i + 1 == s->config.nx, j == 0, j + 1 == s->config.ny };
    const size_t at = (size_t)j * s->config.nx + i;
    const bool solid = solid_at(s, at);
    flow_start_values to = { .psi = solid ? s->border.body_psi[s->border.body[at]] : 0 };
    for (int side = 0; side < FLOW_SIDES; side++)
        if (on_side[side]) {
            const uint32_t m = side < FLOW_BOTTOM ? j : i;
            to.psi = flow_along(s, s->border.psi, side)[m];
            if (!solid)
                set_border_motion(s, side, m, &to);
        }
    return to;
}

static double value_at_start(const flow *s, int which, uint32_t i, uint32_t j)
{
    const uint32_t right = s->config.nx - 1, top = s->config.ny - 1;
    const flow_piece *left = &s->border.piece[FLOW_LEFT];
    const bool starts = i > 0 && j > 0 && j < top && !solid_at(s, (size_t)j * s->config.nx + i) &&
                        (i < right || flow_piece_at(s, FLOW_RIGHT, j)->kind == FLOW_OUTFLOW);
    flow_start_values to = at_rest(s, i, j);
    if (starts && s->config.start == FLOW_VORTEX) {
        const double pi = 3.14159265358979323846, ax = pi / s->config.size[0], ay = pi / s->config.size[1];
        const double x = flow_place(s, 0, i), y = flow_place(s, 1, j);
        to.psi = s->config.strength * sin(ax * x) * sin(ay * y);
        to.omega = (ax * ax + ay * ay) * to.psi;
        to.u = which == START_U ? s->config.strength * ay * sin(ax * x) * cos(ay * y) : 0;
        to.v = which == START_V ? -s->config.strength * ax * cos(ax * x) * sin(ay * y) : 0;
    } else if (starts && s->config.start == FLOW_DEVELOPED) {
        const double v = to.v;
        to = at_rest(s, 0, j);
        to.v = v;
    } else if (s->config.start == FLOW_DEVELOPED && (j == 0 || j == top) && i > 0 && i < right &&
               flow_piece_at(s, j > 0 ? FLOW_TOP : FLOW_BOTTOM, i)->kind == FLOW_WALL) {
        /* vorticity of the walls of a developed flow: that of the profile, u_y at both ends */
        to.omega = -left->speed * slope(left->profile, j > 0) / s->config.size[1];
    }
    return which == START_PSI ? to.psi : which == START_OMEGA ? to.omega : which == START_U ? to.u : to.v;
}

static double temperature_at_start(const flow *s, int which, uint32_t i, uint32_t j)
{
    const double pi = 3.14159265358979323846;
    const double x = s->config.widths ? pi * flow_place(s, 0, i) / s->config.size[0] : pi * i / (s->config.nx - 1);
    const double y = s->config.widths ? pi * flow_place(s, 1, j) / s->config.size[1] : pi * j / (s->config.ny - 1);
    double value;
    (void)which;
    if (given_temperature(s, i, j, solid_at(s, (size_t)j * s->config.nx + i), &value) ||
        s->config.heat_mode == FLOW_EVEN)
        return value;
    return value + (s->config.heat_mode == FLOW_SINE ? s->config.heat_amplitude * sin(x) * sin(y)
                                                     : s->config.heat_amplitude * cos(x) * cos(y));
}

bn_status flow_fill(flow *s)
{
    BN_TRY(flow_supply(s->fields.node, s, node_code, 0));
    if (s->config.a > 0) {
        BN_TRY(flow_supply(s->fields.T, s, temperature_at_start, 0));
        BN_TRY(bn_field_copy(s->fields.T, s->fields.T_next));
    }
    BN_TRY(flow_supply(s->fields.psi, s, value_at_start, START_PSI));
    BN_TRY(flow_supply(s->fields.omega, s, value_at_start, START_OMEGA));
    BN_TRY(flow_supply(s->fields.velocity, s, value_at_start, START_U));
    s->psi_body = s->border.body_psi[1];
    return bn_field_copy(s->fields.psi, s->fields.before);
}
