/* flood_reference.c: one time step of flood in plain C, the specification of kernels/flood.cl, which gives the
 * equations. Compiled for float and for double; every expression is associated as on the device, so that both give the
 * same bits: that proves the kernels, and tests/solvers/flood prove the scheme. It computes every cell, with water or
 * without. */
#include "flood.h"
#include "sim/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if BN_REFERENCE_BYTES == 8
#define SQRT sqrt
#define CEIL ceil
#define FABS fabs
enum { NEWTON = 5 };
#else
#define SQRT sqrtf
#define CEIL ceilf
#define FABS fabsf
enum { NEWTON = 3 };
#endif

typedef struct constants {
    FLOOD_CONSTANTS(BN_CONSTANT_REAL)
} constants;

typedef struct reference {
    constants k;
    real clock[FLOOD_SLOTS][FLOOD_SLOT];
    float fastest[FLOOD_SLOTS];
    real values[FLOOD_VALUES];
    real culverts[FLOOD_SLOTS][FLOOD_ITEMS]; /* what went in at the end of this item */
} reference;

typedef struct cell_state {
    real h, u, v, outflow, rest, soaked, soaked_rest;
} cell_state;

/* The fields before a step. */
typedef struct before {
    const flood *s;
    constants k;
    const real *depth, *u, *v, *bed, *values, *rest;
    const real *rain_share, *soaked, *soaked_rest;
    const int32_t *land;
    real *half_depth, *half_u, *half_v; /* of second order: half a time step later */
    const int32_t *cell;
    const real *culverts; /* what went in at each end in the step before */
    real *put_in;         /* in this one */
    real dt;
} before;

static size_t neighbour(const flood *s, size_t at, int e)
{
    static const int hex_x[2][6] = { { 1, 0, -1, -1, -1, 0 }, { 1, 1, 0, -1, 0, 1 } },
                     hex_y[6] = { 0, 1, 1, 0, -1, -1 };
    static const int square_x[4] = { 1, 0, -1, 0 }, square_y[4] = { 0, 1, 0, -1 };
    const size_t nx = s->grid.nx, ny = s->grid.ny, i = at % nx, j = at / nx % ny, k = at / nx / ny;
    const int dx = s->grid.edges == 6 ? hex_x[j % 2][e] : square_x[e], dy = s->grid.edges == 6 ? hex_y[e] : square_y[e];
    return (k * ny + (j + ny + (size_t)dy) % ny) * nx +
           (i + nx + (size_t)dx) % nx; /* what is closed is not looked at */
}

/* Unit normals of the edges, whose opposites follow with the other sign. */
static void normal_of(const flood *s, int e, real *x, real *y)
{
    static const real hex_x[6] = { 1, REAL(0.5), REAL(-0.5), -1, REAL(-0.5), REAL(0.5) };
    static const real slant = REAL(0.86602540378443864676);
    static const real square_x[4] = { 1, 0, -1, 0 }, square_y[4] = { 0, 1, 0, -1 };
    *x = s->grid.edges == 6 ? hex_x[e] : square_x[e];
    *y = s->grid.edges == 4 ? square_y[e] : e == 0 || e == 3 ? 0 : e < 3 ? slant : -slant;
}

/* Rotates (x, y) into components along the normal of edge e and along the edge. Products with 0 and 1 are left out, as
 * on the device. */
static void rotate_to_edge(const flood *s, int e, real x, real y, real *normal, real *along)
{
    const real half = REAL(0.5), slant = REAL(0.86602540378443864676);
    if (e == 0) {
        *normal = x;
        *along = y;
    } else if (s->grid.edges == 4) {
        *normal = y;
        *along = -x;
    } else {
        *normal = FMA(slant, y, e == 1 ? half * x : -half * x);
        *along = FMA(-slant, x, e == 1 ? half * y : -half * y);
    }
}

/* Flux from left to right: mass, momentum along the normal less the hydrostatic pressure of either side, along the
 * edge. */
typedef struct flux {
    real mass, left, right, along;
} flux;

static real wet_depth(const before *b, real h) { return h > b->k.dry ? h : 0; }
static real minimum(real a, real b) { return a < b ? a : b; }
static real maximum(real a, real b) { return a > b ? a : b; }

/* HLLC (Toro 2001), whose mass flux is that of HLL and carries the velocity along the edge from where it comes; speeds
 * of a dry bed (two rarefactions); hydrostatic reconstruction (Audusse et al. 2004), which leaves out the hydrostatic
 * pressure of the cell itself, since that adds up to zero over its edges. Hence no flux at all at walls. */
static flux hllc_flux(const before *p, real hl, real ul, real vl, real zl, real hr, real ur, real vr, real zr)
{
    const real g = p->k.g, rise = zr - zl;
    const real a = maximum(hl - maximum(rise, 0), 0), b = maximum(hr + minimum(rise, 0), 0);
    const real s = SQRT(FMA(g, maximum(a, b), REAL(1e-30))), twice = s + s;
    const real from = a > 0 ? ul : ur, to = b > 0 ? ur : ul;
    const real low = minimum(minimum(from, to) - (a > 0 ? s : twice), 0);
    const real high = maximum(maximum(from, to) + (b > 0 ? s : twice), 0);
    const real weight = -low / (high - low);
    const real ql = a * ul, qr = b * ur, jump = qr - ql;
    const real pressure = REAL(0.5) * g * ((b - a) * (b + a)); /* on the right less that on the left */
    const real thrust = FMA(weight, FMA(-high, jump, FMA(qr, ur, -(ql * ul)) + pressure), ql * ul);
    const real mass = FMA(weight, FMA(-high, b - a, jump), ql);
    return (flux){ mass, thrust, thrust - pressure, mass * (mass > 0 ? vl : vr) };
}

/* x^(-1/3) by Newton's method from a guess by the exponent. */
static real inverse_cube_root(real x)
{
    const float rounded = (float)x;
    uint32_t bits;
    float guess;
    memcpy(&bits, &rounded, sizeof bits);
    bits = 0x54a2fa8cu - bits / 3u;
    memcpy(&guess, &bits, sizeof guess);
    real y = (real)guess;
    for (int i = 0; i < NEWTON; i++)
        y = y * ((4 - x * (y * (y * y))) * REAL(0.33333333333333333333));
    return y;
}

/* Of the cover of a cell: gravity times Manning's roughness squared, the ground's conductivity, its suction. */
static const real *land_values(const before *b, size_t at)
{
    return b->values + FLOOD_LAND_VALUES + (b->land ? FLOOD_LAND_VALUE * b->land[at] : 0);
}

static real roughness(const before *b, size_t at) { return b->land ? land_values(b, at)[0] : b->k.gn2; }

/* Flux through the outer edges of an open side: returns the mass, adds the momentum. An inflow enters along the side's
 * normal with the discharge q per metre, at least critically deep; down a slope water leaves with Manning's speed, at
 * most as fast as a wave; a given level or the own water stand behind other sides. */
static real open_side_flux(const before *b, size_t at, real *mx, real *my)
{
    const flood *s = b->s;
    const int code = b->cell[at], side = (int)((uint32_t)code / FLOOD_SIDE & 3);
    const real g = b->k.g, h = b->depth[at], u = b->u[at], v = b->v[at], z = b->bed[at];
    const real q = b->values[2 * side], second = b->values[2 * side + 1];
    const real out_x = side == FLOOD_LEFT ? -1 : side == FLOOD_RIGHT ? 1 : 0;
    const real out_y = side == FLOOD_BOTTOM ? -1 : side == FLOOD_TOP ? 1 : 0;
    real out = 0;
    for (int e = 0; e < s->grid.edges; e++) {
        real nx, ny;
        if (!(code & FLOOD_OUTER << e))
            continue;
        normal_of(s, e, &nx, &ny);
        if (q >= 0) {
            const real facing = nx * out_x + ny * out_y, deep = h > second ? h : second;
            const real in = facing > 0 ? q * facing : 0, push = deep > b->k.dry ? in * (q / deep) : 0;
            const real thrust = REAL(0.5) * g * (deep * deep - h * h);
            out = out - in;
            *mx = *mx + (thrust * nx + push * out_x);
            *my = *my + (thrust * ny + push * out_y);
        } else if (q < REAL(-2.5)) {
            const real facing = nx * out_x + ny * out_y, deep = wet_depth(b, h);
            const real wave = FABS(u * nx + v * ny) + SQRT(g * deep);
            const real speed = deep * inverse_cube_root(deep > 0 ? deep : 1) * SQRT(g * second / roughness(b, at));
            const real mass = facing > 0 ? deep * minimum(speed, wave) * facing : 0;
            out = out + mass;
            *mx = *mx + mass * u;
            *my = *my + mass * v;
        } else {
            const real un = u * nx + v * ny, ut = v * nx - u * ny;
            const real deep = q < REAL(-1.5) ? h : second - z > 0 ? second - z : 0;
            const flux f = hllc_flux(b, wet_depth(b, h), un, ut, z, wet_depth(b, deep), un, ut, z);
            out = out + f.mass;
            *mx = *mx + (f.left * nx - f.along * ny);
            *my = *my + (f.left * ny + f.along * nx);
        }
    }
    return out;
}

/* The difference from the cell before to the one behind, a + b, limited: generalised minmod with the factor 1.5, three
 * times the smaller one of a and b at most and zero where their signs differ. |a + b| - |a - b| is twice the smaller
 * one, or negative. */
static real limited_slope(real a, real b)
{
    const real most = maximum(REAL(1.5) * (FABS(a + b) - FABS(b - a)), 0);
    return minimum(maximum(a + b, -most), most);
}

/* What changes over two cells along an axis; nothing beside closed edges and dry cells. Velocities are limited
 * along the normal of the axis' edges and along them, so that the scheme turns with the cells. */
typedef struct cell_slopes {
    real h, level, normal, along;
} cell_slopes;
/* The share of it that lies between a cell and its edge. */
#define TO_EDGE REAL(0.25)

static cell_slopes limited_slopes(const before *b, size_t at, int axis)
{
    const flood *s = b->s;
    const real dry = b->k.dry, h = b->depth[at];
    const size_t from = neighbour(s, at, axis + s->grid.edges / 2), to = neighbour(s, at, axis);
    if (b->cell[at] & (FLOOD_CLOSED << axis | FLOOD_CLOSED << (axis + s->grid.edges / 2)))
        return (cell_slopes){ 0, 0, 0, 0 };
    if (!(b->depth[from] > dry && h > dry && b->depth[to] > dry))
        return (cell_slopes){ 0, 0, 0, 0 };
    const real level = h + b->bed[at];
    real n0, a0, n2, a2;
    rotate_to_edge(s, axis, b->u[at] - b->u[from], b->v[at] - b->v[from], &n0, &a0);
    rotate_to_edge(s, axis, b->u[to] - b->u[at], b->v[to] - b->v[at], &n2, &a2);
    return (cell_slopes){ limited_slope(h - b->depth[from], b->depth[to] - h),
                          limited_slope(level - (b->depth[from] + b->bed[from]), b->depth[to] + b->bed[to] - level),
                          limited_slope(n0, n2), limited_slope(a0, a2) };
}

/* A cell on one of its edges: depth (0 where it does not move), ground, velocity along the normal and along the edge;
 * what the level's slope pushes along the axis. At second order (Audusse and Bristeau 2005, along the axes of the
 * cells) all at half the time step, and the bed is level less depth. */
typedef struct edge_side {
    real h, z, normal, along, push;
} edge_side;

static edge_side reconstruct(const before *b, size_t at, int axis, bool ahead)
{
    const flood *s = b->s;
    real normal, along;
    if (s->scheme.order == 1) {
        rotate_to_edge(s, axis, b->u[at], b->v[at], &normal, &along);
        return (edge_side){ wet_depth(b, b->depth[at]), b->bed[at], normal, along, 0 };
    }
    rotate_to_edge(s, axis, b->half_u[at], b->half_v[at], &normal, &along);
    const cell_slopes slope = limited_slopes(b, at, axis);
    const real h = b->half_depth[at], to_edge = ahead ? TO_EDGE : -TO_EDGE, deep = FMA(to_edge, slope.h, h);
    return (edge_side){ wet_depth(b, deep), FMA(to_edge, slope.level, h + b->bed[at]) - deep,
                        FMA(to_edge, slope.normal, normal), FMA(to_edge, slope.along, along),
                        2 * TO_EDGE * b->k.g * (h * slope.level) };
}

/* Flux through edge e of a cell: always that from its west (south) side, where it adds what the level pushes. An edge
 * that ends at a wall may be longer (flood_walls.c). */
static flux edge_flux(const before *b, size_t at, int e)
{
    const flood *s = b->s;
    if (b->cell[at] & FLOOD_CLOSED << e)
        return (flux){ 0, 0, 0, 0 };
    const int axis = e % (s->grid.edges / 2);
    const size_t other = neighbour(s, at, e), west = e == axis ? at : other, east = e == axis ? other : at;
    const edge_side l = reconstruct(b, west, axis, true), r = reconstruct(b, east, axis, false);
    const flux f = hllc_flux(b, l.h, l.normal, l.along, l.z, r.h, r.normal, r.along, r.z);
    const real length = (uint32_t)b->cell[west] >> (FLOOD_LONGER + axis) & 1 ? REAL(1.25) : 1;
    return (flux){ length * f.mass, length * f.left + l.push, length * f.right, length * f.along };
}

/* x and y of what has components along the normals and edges of the axes 1 and 2, of squares 1 alone. */
static void rotate_back(const flood *s, real normal_1, real along_1, real normal_2, real along_2, real *x, real *y)
{
    const real half = REAL(0.5), slant = REAL(0.86602540378443864676);
    *x = s->grid.edges == 6 ? FMA(-slant, along_1 + along_2, half * (normal_1 - normal_2)) : -along_1;
    *y = s->grid.edges == 6 ? FMA(slant, normal_1 + normal_2, half * (along_1 - along_2)) : normal_1;
}

/* Sum of the fluxes over the edges of a cell: those to the east and north, less what comes in by those to the south,
 * less what comes in from the west. */
static void sum_edges(const before *b, size_t at, real *mass, real *mx, real *my)
{
    const flood *s = b->s;
    flux f[6] = { { 0 } };
    real own_x, own_y, below_x, below_y;
    for (int e = 0; e < s->grid.edges; e++)
        f[e] = edge_flux(b, at, e);
    const int west = s->grid.edges / 2, below = west + 1; /* of squares f[5] is zero */
    const real more = s->grid.edges == 6 ? f[2].mass : 0, own = (f[0].mass + f[1].mass) + more;
    rotate_back(s, f[1].left, f[1].along, f[2].left, f[2].along, &own_x, &own_y);
    rotate_back(s, f[below].right, f[below].along, f[5].right, f[5].along, &below_x, &below_y);
    *mass = (own - (f[below].mass + f[5].mass)) - f[west].mass;
    *mx = ((f[0].left + own_x) - below_x) - f[west].right;
    *my = ((f[0].along + own_y) - below_y) - f[west].along;
}

/* |c'| + dt g n^2 h^(-4/3) |c'|^2 = |c|, solved for c' / c */
static void manning_friction(const before *b, size_t at, real deep, real dt, real *u, real *v)
{
    const real root = inverse_cube_root(deep > b->k.dry ? deep : 1), square = root * root;
    const real f = dt * roughness(b, at) * SQRT(*u * *u + *v * *v) * (square * square);
    const real slower = 2 / (1 + SQRT(1 + 4 * f));
    *u = *u * slower;
    *v = *v * slower;
}

/* All cells half a time step later, from the slopes within each of them (Hancock's method; Toro 2001, 14.4), in terms
 * of depth and velocity: what is at rest stays so. */
static void predict(const before *b, size_t points)
{
    const flood *s = b->s;
    const real half = REAL(0.5), g = b->k.g;
    /* dt / 2 by the gradient, for hexagons and squares */
    const real scale = TO_EDGE * b->dt * b->k.edge_per_area;
    for (size_t at = 0; at < points; at++) {
        const real h = b->depth[at], u = b->u[at], v = b->v[at];
        real fill[3] = { 0 }, spread[3] = { 0 }, normal[3] = { 0 }, along[3] = { 0 }, x, y;
        for (int axis = 0; axis < s->grid.edges / 2; axis++) {
            const cell_slopes slope = limited_slopes(b, at, axis);
            real n, unused;
            rotate_to_edge(s, axis, u, v, &n, &unused);
            fill[axis] = n * slope.h;
            spread[axis] = slope.normal;
            normal[axis] = FMA(n, slope.normal, g * slope.level);
            along[axis] = n * slope.along;
        }
        rotate_back(s, normal[1], along[1], normal[2], along[2], &x, &y);
        const real filled = (fill[0] + fill[1]) + fill[2], grows = (spread[0] + spread[1]) + spread[2];
        b->half_depth[at] = maximum(FMA(-scale, FMA(h, grows, filled), h), half * h);
        b->half_u[at] = FMA(-scale, normal[0] + x, u);
        b->half_v[at] = FMA(-scale, along[0] + y, v);
        if (s->scheme.friction)
            manning_friction(b, at, b->half_depth[at], half * b->dt, &b->half_u[at], &b->half_v[at]);
    }
}

/* The depth that the ground takes of water `deep` in a step (Green and Ampt 1911): F_t = K (1 + S / F), D = dt K (1 + S
 * / (F + D / 2)), where there is water that moves, or rain. */
static real infiltration(const before *b, size_t at, real deep)
{
    const real *land = land_values(b, at), conducted = b->dt * land[1], soaked = b->soaked[at];
    const real p = soaked - REAL(0.5) * conducted, q = 2 * conducted * (soaked + land[2]);
    const real root = SQRT(p * p + q), most = p > 0 ? q / (p + root) : root - p;
    const bool raining = b->rain_share && b->values[FLOOD_RAIN_RATE] > 0;
    return minimum(most, deep > b->k.dry || raining ? maximum(deep, 0) : 0);
}

/* Slower than this is 0, which has no sign [m/s]. */
#define STILL REAL(1e-20)
static real moving(bool wet, real speed) { return wet && !(FABS(speed) < STILL) ? speed : 0; }

/* A cell after dt by what passes through its edges, rain, infiltration and friction. */
static cell_state advance_cell(const before *b, size_t at)
{
    const flood *s = b->s;
    const int code = b->cell[at];
    const real h = b->depth[at], u = b->u[at], v = b->v[at], scale = b->dt * b->k.edge_per_area;
    real mass, mx, my, out = 0;
    sum_edges(b, at, &mass, &mx, &my);
    if (code & FLOOD_OUTER * ((1 << s->grid.edges) - 1)) {
        out = open_side_flux(b, at, &mx, &my);
        mass = mass + out;
    }
    /* What rounding leaves over comes to the next step (Kahan 1965). */
    const bool compensated = b->rest;
    const real flown = compensated ? -(scale * mass) - b->rest[at] : -(scale * mass);
    const real change = b->rain_share ? flown + b->dt * b->values[FLOOD_RAIN_RATE] * b->rain_share[at] : flown;
    const real filled = h + change, taken = b->soaked ? infiltration(b, at, filled) : 0;
    const real deep = b->soaked ? filled - taken : filled;
    const real left_over = compensated && deep > b->k.dry ? (filled - h) - change : 0;
    const real rest = b->soaked && deep > b->k.dry ? left_over + ((deep - filled) + taken) : left_over;
    const real qx = FMA(-scale, mx, h * u), qy = FMA(-scale, my, h * v);
    const bool wet = !(deep <= b->k.dry);
    const real inverse = 1 / (wet ? filled : 1); /* what soaks in takes its momentum along */
    cell_state next = {
        deep < 0 ? 0 : deep, moving(wet, qx * inverse), moving(wet, qy * inverse), scale * out, rest, 0, 0
    };
    if (b->soaked) {
        const real more = taken - b->soaked_rest[at];
        next.soaked = b->soaked[at] + more;
        next.soaked_rest = (next.soaked - b->soaked[at]) - more;
    }
    if (s->scheme.friction)
        manning_friction(b, at, deep, b->dt, &next.u, &next.v);
    return next;
}

/* The depth that goes down a link; the formulas stand in docs/flood.md. */
static real link_flow(const before *b, int kind, real share, real dt, cell_state up, real z, cell_state below,
                      real z_below)
{
    const real g = b->k.g, dry = b->k.dry, level = below.h + z_below - z;
    const real kinetic = kind == FLOOD_STAIR ? (up.u * up.u + up.v * up.v) / (2 * g) : 0;
    const real head = up.h > dry ? up.h + kinetic : 0;
    const real tail = below.h > dry && level > 0 ? level : 0;
    const real most = head > tail ? head : tail, least = head > tail ? tail : head, fall = most - least;
    const real weir = 3 * least > 2 * most ? least * SQRT(2 * g * fall) : b->k.weir * (most * SQRT(most));
    const real depth = dt * (share * (kind == FLOOD_STAIR ? weir : SQRT(2 * g * fall)));
    const real limit = REAL(0.5) * (head > tail ? up.h : below.h);
    const real moved = depth < limit ? depth : limit;
    return head > tail ? moved : -moved;
}

static cell_state add_still_water(const before *b, cell_state c, real amount)
{
    const real change = b->rest ? amount - c.rest : amount, deep = c.h + change;
    const real slower = amount > 0 && deep > 0 ? c.h / deep : 1;
    const bool wet = deep > b->k.dry;
    c.rest = b->rest && wet ? (deep - c.h) - change : 0;
    c.h = deep < 0 ? 0 : deep;
    c.u = wet ? c.u * slower : 0;
    c.v = wet ? c.v * slower : 0;
    return c;
}

/* HEC-22 (2009), 4.4.4.1; flood_places.c. */
static real drain_rate(real rate, const real *more, real h)
{
    const real most = minimum(more[0] * (h * SQRT(h)), more[1] * SQRT(h));
    return more[0] > 0 ? minimum(most, rate) : rate;
}

/* HDS-5 (2012): the discharge of a culvert per metre of its width, as kernels/flood.cl says; flood_places.c has the
 * further values. */
static real culvert_flow(const before *b, const real *more, real h, real beyond)
{
    const real weir_end = REAL(1.18718734520505), orifice_begin = REAL(1.39), high = more[0], drop = more[3];
    const real level = h - more[1], head = level + minimum(drop, 0), tail = beyond > b->k.dry ? beyond - more[2] : 0;
    const real ratio = head / high;
    real star;
    if (!(h > b->k.dry && head > b->k.dry))
        return 0;
    if (ratio < weir_end) {
        const real weir = ratio * REAL(1.94174757281553398);
        star = weir * SQRT(weir);
    } else if (ratio < orifice_begin) {
        star = REAL(3.5) + (ratio - weir_end) * (REAL(0.5) / (orifice_begin - weir_end));
    } else {
        star = SQRT((ratio - REAL(0.79)) * REAL(26.6666666666666667));
    }
    const real inlet = star * (high * SQRT(high)) * REAL(0.552181115405853120);
    const real cube = inlet * inlet / b->k.g, root = inverse_cube_root(cube > 0 ? cube : 1);
    const real deep = maximum(tail, minimum(cube * (root * root), high)), fall = level + drop - deep;
    return fall > 0 ? minimum(inlet, minimum(deep, high) * SQRT(more[4] * fall)) : 0;
}

/* Links, sources, drains and culverts of a special cell. */
static cell_state advance_special(const before *b, size_t at, real *lost)
{
    const flood *s = b->s;
    const size_t layer = (size_t)s->grid.nx * s->grid.ny;
    const int code = b->cell[at], item = (int)((uint32_t)code / FLOOD_ITEM & FLOOD_ITEMS);
    const int down = (int)((uint32_t)code / FLOOD_DOWN & 3), up = (int)((uint32_t)code / FLOOD_UP & 3);
    const real value = item > 0 ? b->values[FLOOD_ITEM_VALUES + item - 1] : 0;
    cell_state next = advance_cell(b, at);
    real gain = 0;
    *lost = next.outflow;
    if (down && down != FLOOD_CULVERT) {
        const cell_state below = advance_cell(b, at - layer);
        gain = gain - link_flow(b, down, value, b->dt, next, b->bed[at], below, b->bed[at - layer]);
    }
    if (up) {
        const size_t from = at + layer;
        const int above_item = (int)((uint32_t)b->cell[from] / FLOOD_ITEM & FLOOD_ITEMS);
        const cell_state above = advance_cell(b, from);
        gain = gain + link_flow(b, up, b->values[FLOOD_ITEM_VALUES + above_item - 1], b->dt, above, b->bed[from], next,
                                b->bed[at]);
    }
    if (!down && item > 0) {
        const real *more = b->values + FLOOD_MORE_VALUES + (item - 1) * FLOOD_MORE_VALUE;
        const real amount = b->dt * (code & FLOOD_DRAIN ? drain_rate(value, more, next.h) : value);
        const real most = REAL(0.5) * next.h, taken = amount < most ? amount : most;
        if (code & FLOOD_DRAIN) {
            gain = gain - taken;
            *lost = *lost + taken;
        } else {
            gain = gain + amount;
        }
    }
    if (down == FLOOD_CULVERT) { /* what went in at the other end in the step before, less what goes in here */
        const real *more = b->values + FLOOD_MORE_VALUES + (item - 1) * FLOOD_MORE_VALUE;
        const int other = item + (int)more[5];
        const real depth = b->dt * (value * culvert_flow(b, more, b->depth[at], b->depth[s->cells.item[other - 1].at]));
        const real taken = minimum(depth, REAL(0.5) * next.h);
        b->put_in[item - 1] = taken;
        gain = gain + (b->culverts[other - 1] - taken);
    }
    return add_still_water(b, next, gain);
}

/* What limits the time step: the largest speed of a wave across an edge. */
static real wave_speed(const flood *s, const constants *k, cell_state c)
{
    const real straight = FABS(c.u), across = FABS(c.v);
    const real half = REAL(0.5), slant = REAL(0.86602540378443864676);
    const real slanted = s->grid.edges == 6 ? FMA(slant, across, half * straight) : across;
    const real flow = slanted <= straight ? straight : slanted;
    return c.h > k->dry || !isfinite(c.h) ? flow + SQRT(k->g * c.h) : 0;
}

static void note_speed(float *fastest, real speed)
{
    const float rounded = (float)speed;
    if (rounded > *fastest || !isfinite(rounded))
        *fastest = rounded;
}

static void record_cell(const flood *s, const constants *k, size_t at, real now, real h, real u, real v)
{
    real *arrival = bn_field_host(s->f.arrival), *deepest = bn_field_host(s->f.deepest),
         *hazard = bn_field_host(s->f.hazard);
    const real danger = h * (SQRT(u * u + v * v) + REAL(0.5));
    if (deepest[at] <= k->wet && h > k->wet)
        arrival[at] = now;
    if (h > deepest[at])
        deepest[at] = h;
    if (danger > hazard[at])
        hazard[at] = danger;
}

/* All cells; returns the largest speed after the step. */
static float advance_all(flood *s, unsigned slot, real dt, real now)
{
    reference *r = s->reference;
    const size_t points = (size_t)s->grid.nx * s->grid.ny * s->grid.storeys;
    const real *depth = bn_field_host(s->f.depth), *u = bn_field_host(s->f.velocity);
    real *next_depth = bn_field_host(s->f.next_depth), *next_u = bn_field_host(s->f.next_velocity);
    real *outflow = s->scheme.special ? bn_field_host(s->f.outflow) : NULL;
    const real *rest = s->f.rest ? bn_field_host(s->f.rest) : NULL;
    real *next_rest = s->f.rest ? bn_field_host(s->f.next_rest) : NULL;
    const real *soaked = s->f.soaked ? bn_field_host(s->f.soaked) : NULL;
    real *next_soaked = s->f.soaked ? bn_field_host(s->f.next_soaked) : NULL;
    real *half_u = s->scheme.order == 2 ? bn_field_host(s->f.half_velocity) : NULL;
    const before b = { .s = s,
                       .k = r->k,
                       .depth = depth,
                       .u = u,
                       .v = u + points,
                       .bed = bn_field_host(s->f.bed),
                       .values = r->values,
                       .rest = rest,
                       .rain_share = s->f.rain_share ? bn_field_host(s->f.rain_share) : NULL,
                       .soaked = soaked,
                       .soaked_rest = soaked ? rest + points : NULL,
                       .land = s->f.land ? bn_field_host(s->f.land) : NULL,
                       .half_depth = s->scheme.order == 2 ? bn_field_host(s->f.half_depth) : NULL,
                       .half_u = half_u,
                       .half_v = half_u ? half_u + points : NULL,
                       .cell = bn_field_host(s->f.cell),
                       .culverts = r->culverts[slot],
                       .put_in = r->culverts[(slot + 1) % FLOOD_SLOTS],
                       .dt = dt };
    memcpy(b.put_in, b.culverts, sizeof r->culverts[slot]);
    float fastest = 0;
    if (s->scheme.order == 2 && dt > 0)
        predict(&b, points);
    for (size_t at = 0; at < points; at++) {
        if (s->scheme.record)
            record_cell(s, &b.k, at, now, depth[at], u[at], u[at + points]);
        cell_state c = { depth[at],
                         u[at],
                         u[at + points],
                         0,
                         rest ? rest[at] : 0,
                         soaked ? soaked[at] : 0,
                         soaked ? rest[at + points] : 0 };
        const bool special = b.cell[at] & FLOOD_SPECIAL;
        real lost = 0;
        if (dt > 0)
            c = special ? advance_special(&b, at, &lost) : advance_cell(&b, at);
        if (dt > 0 && special) { /* a sum with what rounding left over (Kahan 1965) */
            const real sum = outflow[at], more = lost - outflow[at + points], total = sum + more;
            outflow[at + points] = (total - sum) - more;
            outflow[at] = total;
        }
        next_depth[at] = c.h;
        if (next_rest)
            next_rest[at] = c.rest;
        if (next_soaked) {
            next_soaked[at] = c.soaked;
            next_rest[at + points] = c.soaked_rest;
        }
        next_u[at] = c.u;
        next_u[at + points] = c.v;
        note_speed(&fastest, wave_speed(s, &b.k, c));
    }
    return fastest;
}

static bn_status advance(flood *s, unsigned slot, double refill, double end)
{
    reference *r = s->reference;
    const unsigned next_slot = (slot + 1) % FLOOD_SLOTS;
    real *now = r->clock[slot], *later = r->clock[next_slot];
    /* As long a step as the waves allow, and so that whole steps fit into what is left of the interval. */
    const real speed = (real)r->fastest[slot], longest = r->k.dt_max;
    const real stable = speed > 0 ? r->k.cfl_length / speed : longest;
    const real allowed = stable < longest ? stable : longest;
    const real left = refill > 0 ? (real)refill : now[FLOOD_CLOCK_LEFT], steps = CEIL(left / allowed);
    const real after = steps > 1 ? left - left / steps : 0;
    const real dt = left - after; /* exact (Sterbenz 1974): all steps add up to the interval */
    for (int i = 0; i < FLOOD_VALUES; i++)
        r->values[i] = (real)s->now.values[i];
    const float fastest = advance_all(s, slot, dt, (real)end - left);
    bn_field_swap(s->f.depth, s->f.next_depth);
    bn_field_swap(s->f.velocity, s->f.next_velocity);
    if (s->f.rest)
        bn_field_swap(s->f.rest, s->f.next_rest);
    if (s->f.soaked)
        bn_field_swap(s->f.soaked, s->f.next_soaked);
    r->fastest[next_slot] = fastest;
    later[FLOOD_CLOCK_LEFT] = after;
    later[FLOOD_CLOCK_STEPS] = (refill > 0 ? 0 : now[FLOOD_CLOCK_STEPS]) + (dt > 0 ? 1 : 0);
    later[FLOOD_CLOCK_ALLOWED] = allowed;
    later[FLOOD_CLOCK_SPEED] = speed;
    return BN_OK;
}

static bn_status read_clock(flood *s, unsigned slot, double out[FLOOD_SLOT])
{
    const reference *r = s->reference;
    for (int i = 0; i < FLOOD_SLOT; i++)
        out[i] = (double)r->clock[slot][i];
    for (int i = 0; i < s->cells.items; i++)
        s->now.culverts[i] = (double)r->culverts[slot][i];
    return BN_OK;
}

/* The largest speed of the state as it is. */
static void begin(flood *s)
{
    reference *r = s->reference;
    const size_t points = (size_t)s->grid.nx * s->grid.ny * s->grid.storeys;
    const real *depth = bn_field_host(s->f.depth), *u = bn_field_host(s->f.velocity);
    r->fastest[0] = 0;
    for (size_t at = 0; at < points; at++)
        note_speed(&r->fastest[0],
                   wave_speed(s, &r->k, (cell_state){ .h = depth[at], .u = u[at], .v = u[at + points] }));
}

static bn_status setup(bn_sim *sim, void *state)
{
    flood *s = state;
    reference *r = s->reference = calloc(1, sizeof *r);
    if (!r)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the reference of flood");
    bn_round_constants((const double *)&s->k, sizeof s->k / sizeof(double), (real *)&r->k);
    begin(s);
    return BN_OK;
}

static bn_status resume(bn_sim *sim, void *state)
{
    (void)sim;
    flood *s = state;
    reference *r = s->reference;
    s->now.slot = 0;
    BN_TRY(flood_copy_state(s));
    for (int i = 0; i < s->cells.items; i++)
        r->culverts[0][i] = (real)s->now.culverts[i];
    begin(s);
    return BN_OK;
}

static void teardown(void *state)
{
    flood *s = state;
    free(s->gauges.values);
    s->gauges.values = NULL;
    free(s->reference);
    s->reference = NULL;
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    return flood_interval(sim, state, advance, read_clock, out);
}

const bn_engine
    BN_REFERENCE(flood) = { .name = "reference", .setup = setup, .step = step, .teardown = teardown, .resume = resume };
