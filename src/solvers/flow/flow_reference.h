/* flow_reference.h: what the parts of flow's CPU reference share, in the precision of the file that includes this. */
#ifndef BN_FLOW_REFERENCE_H
#define BN_FLOW_REFERENCE_H

#include "flow.h"
#include "numerics/linear_reference.h"
#include "numerics/stretched.h"
#include "sim/reference.h"

typedef struct constants {
    FLOW_CONSTANTS(BN_CONSTANT_REAL)
} constants;

typedef struct reference {
    bn_linear_reference *linear[FLOW_SYSTEMS];
    real *addends, *partials; /* values to be summed, partial sums */
    constants k;
    real *spacings;                                      /* of a stretched grid: bn_stencil_axes */
    real columns[FLOW_NEWTON_BATCH][FLOW_NEWTON_COLUMN]; /* of Newton's method */
} reference;

/* The constants in this precision. */
static inline const constants *constants_of(const flow *s) { return &((const reference *)s->reference)->k; }

/* Sum over all nodes of a, or of a b, in the order of the device. */
static inline double sum_of(const flow *s, const reference *r, const real *a, const real *b)
{
    const size_t n[3] = { s->config.nx, s->config.ny, 1 };
    return (double)bn_ordered_dot(a, b, n, r->partials);
}

static inline bn_spacings_at spacings_at(const flow *s, size_t at)
{
    return bn_spacings(((const reference *)s->reference)->spacings, s->config.nx, s->config.ny, at);
}

/* Control volume over h_x h_y. */
static inline real area(const flow *s, size_t at, unsigned bits)
{
    if (s->config.widths) {
        const bn_spacings_at h = spacings_at(s, at);
        return bn_stretched_area(&h, bits);
    }
    return REAL(0.25) * (real)(((bits & BN_CELL_SW) != 0) + ((bits & BN_CELL_SE) != 0) + ((bits & BN_CELL_NW) != 0) +
                               ((bits & BN_CELL_NE) != 0));
}

/* k times the length of a face over the distance of the nodes beside it. */
static inline real coupling(const flow *s, size_t at, real k, unsigned bits, int direction)
{
    if (s->config.widths) {
        const bn_spacings_at h = spacings_at(s, at);
        return bn_stretched_face(&h, k, bits, direction);
    }
    return k * (real)bn_stencil_face(bits, direction);
}

/* A value of a side over the width of the cell beside it, against the mean. */
static inline real beside(const flow *s, size_t at, int side, real value)
{
    return s->config.widths ? value * spacings_at(s, at).per_width[side / 2][side % 2 == 0] : value;
}

/* 1 / (2 h) along x (0) or y (1). */
static inline real per_2(const flow *s, size_t at, int dim)
{
    const real mean = dim ? constants_of(s)->per_2h_y : constants_of(s)->per_2h_x;
    return s->config.widths ? mean * spacings_at(s, at).per_node[dim] : mean;
}

/* Of differences to the neighbours along one dimension: h^2 times the second derivative. */
static inline real curvature(const flow *s, size_t at, int dim, real below, real above)
{
    if (!s->config.widths)
        return below + above;
    const bn_spacings_at h = spacings_at(s, at);
    return (below * h.per_width[dim][0] + above * h.per_width[dim][1]) * h.per_node[dim];
}

/* Neighbours whose value is given (bits from `first` on), each times its coupling. */
static inline real given(const flow *s, const real *f, size_t at, int n, int first, unsigned bits, real kx, real ky)
{
    const size_t nx = s->config.nx;
    const real west = n & first ? coupling(s, at, kx, bits, 0) * f[at - 1] : 0;
    const real east = n & 2 * first ? coupling(s, at, kx, bits, 1) * f[at + 1] : 0;
    const real south = n & 4 * first ? coupling(s, at, ky, bits, 2) * f[at - nx] : 0;
    const real north = n & 8 * first ? coupling(s, at, ky, bits, 3) * f[at + nx] : 0;
    return (west + east) + (south + north);
}

/* Derivative between two nodes, central or upwind against c. */
static inline real derivative(const flow *s, real before, real here, real after, real c, real per_2h)
{
    return s->config.convection == FLOW_UPWIND ? 2 * per_2h * (c > 0 ? here - before : after - here)
                                               : per_2h * (after - before);
}

typedef struct velocity {
    real u, v;
} velocity;

/* c f_x + c f_y, in whichever dimension there are two neighbours. c: the velocity of the stream function psi; upwind
 * differences look at that of `by`. In the fluid, conservative: (u f)_x + (v f)_y by central differences of psi at the
 * neighbours, which is free of divergence and so leaves differences of f alone. */
static inline real convection(const flow *s, const real *f, const real *psi, size_t at, int n, velocity by, velocity c)
{
    const size_t nx = s->config.nx, i = at % nx, j = at / nx;
    if (s->config.convection == FLOW_CONSERVATIVE && (n & FLOW_NODE_OMEGA)) {
        const real sw = psi[at - nx - 1], se = psi[at - nx + 1], nw = psi[at + nx - 1], ne = psi[at + nx + 1];
        const real x = (ne - se) * (f[at + 1] - f[at]) + (nw - sw) * (f[at] - f[at - 1]);
        const real y = (ne - nw) * (f[at + nx] - f[at]) + (se - sw) * (f[at] - f[at - nx]);
        return (per_2(s, at, 0) * per_2(s, at, 1)) * (x - y);
    }
    const real x = i > 0 && i + 1 < nx ? derivative(s, f[at - 1], f[at], f[at + 1], by.u, per_2(s, at, 0)) : 0;
    const real y = j > 0 && j + 1 < s->config.ny ? derivative(s, f[at - nx], f[at], f[at + nx], by.v, per_2(s, at, 1))
                                                 : 0;
    return c.u * x + c.v * y;
}

static inline size_t inner(const flow *s, size_t at, int side)
{
    return side == FLOW_LEFT     ? at + 1
           : side == FLOW_RIGHT  ? at - 1
           : side == FLOW_BOTTOM ? at + s->config.nx
                                 : at - s->config.nx;
}

/* Courant number of the flow out through a side, cut to 0 ... 1. */
static inline real convective_outflow(const flow *s, size_t at, int side, real u, real v)
{
    const real out = side == FLOW_LEFT ? -u : side == FLOW_RIGHT ? u : side == FLOW_BOTTOM ? -v : v;
    const real mean = side < FLOW_BOTTOM ? constants_of(s)->courant_x : constants_of(s)->courant_y;
    const real c = beside(s, at, side, mean) * out;
    return c > 1 ? 1 : c > 0 ? c : 0;
}

/* Steady residual of the vorticity in the fluid: dt (nu Laplace omega - u omega_x - v omega_y + C T_x), the change that
 * an explicit step would make. scale: of the viscosity. */
static inline real vorticity_change(const flow *s, const real *omega, const real *psi, const real *T, size_t at,
                                    velocity c, real scale)
{
    const constants *k = constants_of(s);
    const size_t nx = s->config.nx;
    const real w = omega[at], west = omega[at - 1], east = omega[at + 1], south = omega[at - nx],
               north = omega[at + nx];
    const real diffusion = scale * k->nu_x * curvature(s, at, 0, west - w, east - w) +
                           scale * k->nu_y * curvature(s, at, 1, south - w, north - w);
    const real residual = diffusion - k->dt * convection(s, omega, psi, at, FLOW_NODE_OMEGA, c, c);
    return T ? residual + (k->dt * k->buoyancy) * (per_2(s, at, 0) * (T[at + 1] - T[at - 1])) : residual;
}

/* The same for the temperature: conduction through the faces of the control volume, over its area, less convection. */
static inline real heat_change(const flow *s, const real *T, const real *psi, size_t at, int n, velocity c, real scale)
{
    const constants *k = constants_of(s);
    const unsigned bits = s->systems.bits[FLOW_HEAT][at];
    const size_t nx = s->config.nx, other[4] = { at - 1, at + 1, at - nx, at + nx };
    const int side = n / FLOW_NODE_SIDE & 3;
    real flux[4] = { 0 };
    for (int d = 0; d < 4; d++)
        if (bn_stencil_face(bits, d) > 0)
            flux[d] = coupling(s, at, d < 2 ? k->a_x : k->a_y, bits, d) * (T[other[d]] - T[at]);
    const real conduction = scale * (((flux[0] + flux[1]) + (flux[2] + flux[3])) / area(s, at, bits));
    const real change = conduction - k->dt * convection(s, T, psi, at, n, c, c);
    return n & FLOW_NODE_OUTFLOW ? change - convective_outflow(s, at, side, c.u, c.v) * (T[at] - T[inner(s, at, side)])
                                 : change;
}

/* Vorticity at the wall node `at` from the fluid node `other`, without slip: Thom (1933), omega_w = -2 (psi_1 - psi_w)
 * / h^2, or Woods (1954), omega_w = -3 (psi_1 - psi_w) / h^2 - omega_1 / 2. */
static inline real wall_formula(const flow *s, const real *psi, const real *next, size_t at, size_t other, real wall)
{
    return -wall * (psi[other] - psi[at]) - constants_of(s)->wall_omega * next[other];
}

/* At a side. */
static inline real side_formula(const flow *s, const real *psi, const real *next, size_t at, int side)
{
    const real wall = side < FLOW_BOTTOM ? constants_of(s)->wall_x : constants_of(s)->wall_y;
    return wall_formula(s, psi, next, at, inner(s, at, side), beside(s, at, side, beside(s, at, side, wall)));
}

/* At a node of a body: the mean of the wall formula over the fluid neighbours. */
static inline real body_vorticity(const flow *s, const real *psi, const real *next, size_t at, int n)
{
    const size_t around[4] = { at - 1, at + 1, at - s->config.nx, at + s->config.nx };
    const constants *k = constants_of(s);
    real sum = 0;
    int count = 0;
    for (int d = 0; d < 4; d++)
        if (n & FLOW_PSI_GIVEN << d) {
            sum = sum + wall_formula(s, psi, next, at, around[d], d < 2 ? k->wall_x : k->wall_y);
            count++;
        }
    return sum / (real)count;
}

/* Solves one of the systems. */
bn_status BN_PRECISE(flow_solve)(flow *, flow_system, real *x, const real *rhs, const bn_cg_target *);
/* Step (3)'s right-hand side and start; psi on the bodies around which the fluid flows, see kernels/flow.cl. */
void BN_PRECISE(flow_poisson_source)(const flow *, const real *omega, const real *psi, const int32_t *node,
                                     real *before, real *rhs);
real BN_PRECISE(flow_correct_bodies)(flow *, const reference *, real *psi, const real *next, const real *T);

#endif
