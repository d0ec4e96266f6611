/* flow.cl: one time step of temperature, vorticity and stream function on the nodes of a rectangle, border included
 * (docs/flow.md). With u = psi_y, v = -psi_x, omega = v_x - u_y, A the five-point matrix of -Laplace:
 *   (1) (I + dt a A) T' = T - dt (u T_x + v T_y) + dt a (given T)                             flow_advect_heat
 *   (2) (I + dt nu A) omega' = omega - dt (u omega_x + v omega_y) + dt C T'_x + dt nu (given omega)
 *                                                                                             flow_advect_vorticity
 *   (3) A psi' = omega' + (given psi)                                                         flow_poisson_source
 *   (4) psi' on bodies with fluid all around, from a single-valued pressure                   flow_body_...
 *   (5) velocities from psi', vorticity at the border and on obstacles from psi' and omega'   flow_wall_vorticity,
 *                                                                                             flow_velocity
 * The kernels make the right-hand sides; src/numerics/ solves. Constants: FLOW_CONSTANTS of src/solvers/flow/flow.h,
 * such as NU_X = dt nu / h_x^2 and BUOYANCY = C.
 *
 * node: bits of a node, FLOW_NODE_CODES of flow.h. stencil: area and faces of a node's control volume (lib/stencil.h).
 * velocity: u, then v a plane further. */

/* The bits of a node. Compilers leave out what is done at nodes of a kind that the case does not have. */
#define NODE_AT(at) (node[at] & ~ABSENT_KINDS)
/* The bits of most nodes: psi and omega are unknown there and at all neighbours, and so is T; the four cells around are
 * fluid. What a loop over cells alike (lib/lanes.h) has for the bits of a node. */
#define IN_THE_FLUID (NODE_OMEGA | NODE_PSI)
#define NODE_HERE(at) CODE_HERE(NODE_AT(at), IN_THE_FLUID)

/* Sum over neighbours whose value is given, each times its coupling; `first`: PSI_GIVEN, OMEGA_GIVEN or HEAT_GIVEN. */
#define GIVEN(f, n, first, s, kx, ky)                                                                            \
    ((((n) & (first) ? stencil_face(kx, s, 0, 2) * f[at - 1] : 0) +                                              \
      ((n) & 2 * (first) ? stencil_face(kx, s, 1, 3) * f[at + 1] : 0)) +                                         \
     (((n) & 4 * (first) ? stencil_face(ky, s, 0, 1) * f[at - PITCH] : 0) +                                      \
      ((n) & 8 * (first) ? stencil_face(ky, s, 2, 3) * f[at + PITCH] : 0)))

/* 1 / (2 h) at a node, and a value of a side over the width of the cell beside it; on equal spacings the value. */
#define PER_2X AT_NODE_X(PER_2H_X)
#define PER_2Y AT_NODE_Y(PER_2H_Y)
#if STRETCHED
#define BESIDE(side, value) ((value) * ((side) < 2 ? PER_WIDTH_X((side) == 0) : PER_WIDTH_Y((side) == 2)))
#define SUM_X(west, east) AT_NODE_X((west)*PER_WIDTH_X(0) + (east)*PER_WIDTH_X(1))
#define SUM_Y(south, north) AT_NODE_Y((south)*PER_WIDTH_Y(0) + (north)*PER_WIDTH_Y(1))
/* Functions that take the spacings, too. */
#define convection(f, psi, at, n, x, y, u, v, a, b) convection(f, psi, at, n, x, y, u, v, a, b, axes, i, j)
#define convective_outflow(side, u, v) convective_outflow(side, u, v, axes, i, j)
#define advect_heat(i, j, T, psi, c, n, s, rhs, to) advect_heat(i, j, T, psi, c, n, s, rhs, to, axes)
#define advect_vorticity(i, j, w, psi, c, T, n, s, rhs, to) advect_vorticity(i, j, w, psi, c, T, n, s, rhs, to, axes)
#define wall_vorticity(i, j, p, f, T, m, o, c, at, n, w, u, v, r) \
    wall_vorticity(i, j, p, f, T, m, o, c, at, n, w, u, v, r, axes)
#else
#define BESIDE(side, value) (value)
#define SUM_X(west, east) ((west) + (east))
#define SUM_Y(south, north) ((south) + (north))
#endif

/* Derivative along one dimension at a node between two others: central, or upwind against the velocity c. */
static inline real derivative(real before, real here, real after, real c, real per_2h)
{
    return UPWIND ? 2 * per_2h * (c > 0 ? here - before : after - here) : per_2h * (after - before);
}

/* Whether a node's own velocity carries what is there; else psi does. */
#define OWN_VELOCITY(n) (!(CONSERVATIVE && ((n) & NODE_OMEGA)))

/* a f_x + b f_y, in whichever dimension there are two neighbours. (a, b): the velocity of the stream function psi; (u,
 * v): the one that upwind differences look at. In the fluid, CONSERVATIVE: (a f)_x + (b f)_y by central differences of
 * psi at the neighbours, which is free of divergence and so leaves differences of f alone. */
static inline real (convection)(global const real *f, global const real *psi, index_t at, int n, int inner_x,
                              int inner_y, real u, real v, real a, real b AXES_AT)
{
    if (!OWN_VELOCITY(n)) {
        const real sw = psi[at - PITCH - 1], se = psi[at - PITCH + 1], nw = psi[at + PITCH - 1],
                   ne = psi[at + PITCH + 1];
        const real x = (ne - se) * (f[at + 1] - f[at]) + (nw - sw) * (f[at] - f[at - 1]);
        const real y = (ne - nw) * (f[at + PITCH] - f[at]) + (se - sw) * (f[at] - f[at - PITCH]);
        return (PER_2X * PER_2Y) * (x - y);
    }
    const real x = inner_x ? derivative(f[at - 1], f[at], f[at + 1], u, PER_2X) : 0;
    const real y = inner_y ? derivative(f[at - PITCH], f[at], f[at + PITCH], v, PER_2Y) : 0;
    return a * x + b * y;
}

/* Distance to the node next to the border, and the velocity out of the domain there. No choice of four: LLVM asks for
 * two bits of a code then, and Oclgrind compares the whole byte. */
#define INNER(side) ((side) < 2 ? 1 - 2 * (side) : (5 - 2 * (side)) * PITCH)
#define OUTWARDS(side, u, v) (((side) & 1 ? 1 : -1) * ((side) < 2 ? (u) : (v)))

/* Convective outflow condition f_t + u_n f_n = 0, upwind: the share of the difference to the inner neighbour that
 * leaves in a step, the Courant number cut to 0 ... 1. */
static inline real (convective_outflow)(int side, real u, real v AXES_AT)
{
    const real c = BESIDE(side, side < 2 ? COURANT_X : COURANT_Y) * OUTWARDS(side, u, v);
    return c > 1 ? 1 : c > 0 ? c : 0;
}

#if HEAT
/* Right-hand side of (1), by control volumes; zero where T is given. The solution starts from T. */
INLINED void (advect_heat)(int i, int j, global const real *T, global const real *psi, global const real *velocity,
                         int n, int s, global real *rhs, global real *next WITH_AXES)
{
    const index_t at = AT(i, j);
    const int side = n / NODE_SIDE & 3;
    const real t = T[at];
    real sum = 0;
    if (s) {
        const int own = OWN_VELOCITY(n);
        const real u = own ? velocity[at] : 0, v = own ? velocity[at + PLANE] : 0;
        const int inner_x = X0 + i > 0 && X0 + i < GNX - 1, inner_y = Y0 + j > 0 && Y0 + j < GNY - 1;
        real moved = t - DT * convection(T, psi, at, n, inner_x, inner_y, u, v, u, v);
        if (n & NODE_OUTFLOW)
            moved = moved - convective_outflow(side, u, v) * (t - T[at + INNER(side)]);
        sum = stencil_area(s) * moved + GIVEN(T, n, HEAT_GIVEN, s, A_X, A_Y);
    }
    rhs[at] = sum;
    next[at] = t;
}

kernel void flow_advect_heat(AXES_ARGUMENT global const real *restrict T, global const real *restrict psi,
                             global const real *restrict velocity, global const int *restrict node,
                             global const uchar *restrict stencil, global real *restrict rhs,
                             global real *restrict next)
{
    EACH_CELL_ALIKE(i, j, node, IN_THE_FLUID)
        advect_heat(i, j, T, psi, velocity, NODE_HERE(AT(i, j)), STENCIL_HERE(AT(i, j)), rhs, next);
}
#endif

/* Right-hand side of (2); zero where omega is no unknown. The solution starts from omega. */
INLINED void (advect_vorticity)(int i, int j, global const real *omega, global const real *psi,
                              global const real *velocity, global const real *T, int n, int s, global real *rhs,
                              global real *next WITH_AXES)
{
    const index_t at = AT(i, j);
    const real w = omega[at];
    real sum = 0;
    if (n & NODE_OMEGA) {
        const real u = velocity[at], v = velocity[at + PLANE];
        sum = w - DT * convection(omega, psi, at, n, 1, 1, u, v, u, v);
#if HEAT
        sum = sum + (DT * BUOYANCY) * (PER_2X * (T[at + 1] - T[at - 1]));
#else
        (void)T;
#endif
#if STRETCHED
        sum = stencil_area(s) * sum;
#endif
        sum = sum + GIVEN(omega, n, OMEGA_GIVEN, s, NU_X, NU_Y);
    }
    rhs[at] = sum;
    next[at] = w;
}

kernel void flow_advect_vorticity(AXES_ARGUMENT global const real *restrict omega, global const real *restrict psi,
                                  global const real *restrict velocity,
#if HEAT
                                  global const real *restrict T,
#endif
                                  global const int *restrict node, global const uchar *restrict stencil,
                                  global real *restrict rhs, global real *restrict next)
{
#if !HEAT
    global const real *T = 0;
#endif
    EACH_CELL_ALIKE(i, j, node, IN_THE_FLUID)
        advect_vorticity(i, j, omega, psi, velocity, T, NODE_HERE(AT(i, j)), STENCIL_HERE(AT(i, j)), rhs, next);
}

/* Right-hand side of (3), and the start value 2 psi - psi_before. */
kernel void flow_poisson_source(AXES_ARGUMENT global const real *restrict omega, global const real *restrict psi,
                                global const int *restrict node, global const uchar *restrict stencil,
                                global real *restrict before, global real *restrict rhs)
{
    EACH_CELL_ALIKE(i, j, node, IN_THE_FLUID) {
        const index_t at = AT(i, j);
        const int n = NODE_HERE(at), s = STENCIL_HERE(at);
        real sum = 0;
        if (n & NODE_PSI) {
            before[at] = psi[at] + (psi[at] - before[at]);
            /* Of obstacles that the direct solver takes the matrix has it. */
            sum = stencil_area(s) * omega[at] +
                  GIVEN(psi, n & ~(s / STENCIL_WEST * PSI_GIVEN), PSI_GIVEN, s, PER_H2_X, PER_H2_Y);
        } else {
            before[at] = psi[at];
        }
        rhs[at] = sum;
    }
}

/* Thom (1933) or Woods (1954) in one form, from the node next to the wall: omega_w = -WALL (psi_1 - psi_w) - WALL_OMEGA
 * omega_1, without the share of the velocity that is given there: OF_WALL of the array `moving`. */
#define OF_WALL(side) ((side) * (GNX > GNY ? GNX : GNY) + ALONG_SIDE(side, i, j))
#define WALL_FORMULA(wall, to) (-(wall) * (psi[at + (to)] - psi[at]) - WALL_OMEGA * next[at + (to)])

#define WALL_AT(side) BESIDE(side, BESIDE(side, (side) < 2 ? WALL_X : WALL_Y))

/* At a node of a body: the mean of the formula over the fluid neighbours. */
static inline real body_vorticity(global const real *psi, global const real *next, index_t at, int n)
{
    real sum = 0;
    int count = 0;
    if (n & PSI_GIVEN)
        sum = sum + WALL_FORMULA(WALL_X, -1), count++;
    if (n & 2 * PSI_GIVEN)
        sum = sum + WALL_FORMULA(WALL_X, 1), count++;
    if (n & 4 * PSI_GIVEN)
        sum = sum + WALL_FORMULA(WALL_Y, -PITCH), count++;
    if (n & 8 * PSI_GIVEN)
        sum = sum + WALL_FORMULA(WALL_Y, PITCH), count++;
    return sum / (real)count;
}

/* Flux k (f of the neighbour - f here) through the face between the cells of bits a and b; where there is no face the
 * neighbour is not read. */
#define FLUX(f, k, s, a, b, to) ((s) >> (a)&1 || (s) >> (b)&1 ? stencil_face(k, s, a, b) * (f[at + (to)] - f[at]) : 0)

/* (5) at a node: stores the new vorticity and velocity and gives them to the caller, with the steady residual of omega.
 * In the fluid the old ones are not read. A residual is the change that an explicit step would make: in the fluid
 * dt (nu Laplace omega - u omega_x - v omega_y + C T_x), at walls and on bodies dt nu / h^2 (formula - omega), the rate
 * at which the difference spreads to the next node; see docs/flow.md. */
INLINED void (wall_vorticity)(int i, int j, global const real *psi, global const real *next, global const real *T,
                            global const real *moving, global real *omega, global real *velocity, index_t at, int n,
                            real *omega_here, real *u_here, real *v_here, real *residual_here WITH_AXES)
{
    const int side = n / NODE_SIDE & 3;
    real w = next[at], old = 0, u = 0, v = 0, residual = 0;
    if (!(n & NODE_OMEGA)) {
        old = omega[at];
        u = velocity[at];
        v = velocity[at + PLANE];
    }
    if (n & NODE_OMEGA) {
        const real west = next[at - 1], east = next[at + 1], south = next[at - PITCH], north = next[at + PITCH];
        u = PER_2Y * (psi[at + PITCH] - psi[at - PITCH]);
        v = PER_2X * (psi[at - 1] - psi[at + 1]);
        residual = (NU_X * SUM_X(west - w, east - w) + NU_Y * SUM_Y(south - w, north - w)) -
                   DT * convection(next, psi, at, n, 1, 1, u, v, u, v);
#if HEAT
        residual = residual + (DT * BUOYANCY) * (PER_2X * (T[at + 1] - T[at - 1]));
#else
        (void)T;
#endif
    } else if (n & NODE_WALL) { /* the velocity is the wall's own */
        const real wall = WALL_FORMULA(WALL_AT(side), INNER(side)) + moving[OF_WALL(side)];
        w = old + THETA * (wall - old);
        residual = (side < 2 ? NU_X : NU_Y) * (wall - old);
    } else if (n & NODE_BODY) { /* at rest; the mean of the formula over the fluid neighbours */
        const real wall = body_vorticity(psi, next, at, n);
        w = old + THETA * (wall - old);
        residual = (NU_X > NU_Y ? NU_X : NU_Y) * (wall - old);
    } else if (n & NODE_SLIP) { /* omega = 0: psi is straight along the normal */
        const real drop = psi[at + INNER(side)] - psi[at];
        w = 0;
        if (side < 2)
            v = BESIDE(side, 2 * PER_2H_X) * (side == 0 ? -drop : drop);
        else
            u = BESIDE(side, 2 * PER_2H_Y) * (side == 2 ? drop : -drop);
    } else if (n & NODE_OUTFLOW) {
        if (side < 2)
            u = PER_2Y * (psi[at + PITCH] - psi[at - PITCH]);
        else
            v = PER_2X * (psi[at - 1] - psi[at + 1]);
        residual = -(convective_outflow(side, u, v) * (old - next[at + INNER(side)]));
        w = old + residual;
    }
    omega[at] = *omega_here = w;
    velocity[at] = *u_here = u;
    velocity[at + PLANE] = *v_here = v;
    *residual_here = residual;
}

/* (5): velocity everywhere, vorticity at the border and on bodies. Partial sums: squares of the steady residual of
 * omega, squares of omega, the largest |u| + |v|, squares of the steady residual of T. */
kernel void flow_wall_vorticity(AXES_ARGUMENT global const real *restrict psi, global const real *restrict next,
#if HEAT
                                global const real *restrict T, global const uchar *restrict stencil,
#endif
                                global const int *restrict node, global const real *restrict moving,
                                global real *restrict omega, global real *restrict velocity,
                                global acc *restrict partials)
{
    local acc residuals[LANES], sizes[LANES], speeds[LANES];
#if !HEAT
    global const real *T = 0;
#else
    local acc heats[LANES];
    CLEAR_LANES(heats);
#endif
    CLEAR_LANES(residuals);
    CLEAR_LANES(sizes);
    CLEAR_LANES(speeds);
    FOR_CELLS_ALIKE(1, i, j, lane, node, IN_THE_FLUID) {
        const index_t at = AT(i, j);
        const int n = NODE_HERE(at);
        real w, u, v, residual;
        wall_vorticity(i, j, psi, next, T, moving, omega, velocity, at, n, &w, &u, &v, &residual);
        residuals[lane] += residual * residual;
        sizes[lane] += w * w;
        speeds[lane] = larger(speeds[lane], ABS(u) + ABS(v));
#if HEAT
        const int s = STENCIL_HERE(at), side = n / NODE_SIDE & 3;
        if (s) {
            const int inner_x = X0 + i > 0 && X0 + i < GNX - 1, inner_y = Y0 + j > 0 && Y0 + j < GNY - 1;
            real heat = ((FLUX(T, A_X, s, 0, 2, -1) + FLUX(T, A_X, s, 1, 3, 1)) +
                         (FLUX(T, A_Y, s, 0, 1, -PITCH) + FLUX(T, A_Y, s, 2, 3, PITCH))) / stencil_area(s) -
                        DT * convection(T, psi, at, n, inner_x, inner_y, u, v, u, v);
            if (n & NODE_OUTFLOW)
                heat = heat - convective_outflow(side, u, v) * (T[at] - T[at + INNER(side)]);
            heats[lane] += heat * heat;
        }
#endif
    }
    fold_sums_2_max(residuals, sizes, speeds, ROW_LANES);
    put_partials_3(partials, 0, residuals, sizes, speeds);
#if HEAT
    put_partial_sum(partials, 3, heats);
#endif
}

/* The same without the sums, for a step whose residual is not read. */
kernel void flow_velocity(AXES_ARGUMENT global const real *restrict psi, global const real *restrict next,
                          global const int *restrict node, global const real *restrict moving,
                          global real *restrict omega, global real *restrict velocity)
{
    EACH_CELL_ALIKE(i, j, node, IN_THE_FLUID) {
        const index_t at = AT(i, j);
        real w, u, v, residual;
        wall_vorticity(i, j, psi, next, next, moving, omega, velocity, at, NODE_HERE(at), &w, &u, &v, &residual);
    }
}

kernel void flow_total_residual(global const acc *restrict sums, global real *restrict totals)
{
    local acc residuals[FINISH_LANES], sizes[FINISH_LANES], speeds[FINISH_LANES];
    load_sums(sums, TOTALS, TOTAL_LANES, residuals);
    load_sums(sums + TOTALS, TOTALS, TOTAL_LANES, sizes);
    load_max(sums + 2 * TOTALS, TOTALS, TOTAL_LANES, speeds);
    fold_sums_2_max(residuals, sizes, speeds, TOTAL_LANES);
    const acc residual = residuals[0], size = sizes[0], speed = speeds[0];
#if HEAT
    barrier(CLK_LOCAL_MEM_FENCE);
    const acc heat = total_sum(sums, 3, residuals);
#else
    const acc heat = 0;
#endif
    if (get_local_id(0) == 0) {
        totals[0] = residual;
        totals[1] = size;
        totals[2] = speed;
        totals[3] = heat;
    }
}

/* ----------------------------------------------------------------------------------- (4) bodies with fluid all around
 *
 * psi is constant on a body. The constant follows from the pressure being single-valued: along the surface of a body at
 * rest the integral of nu omega_n + C T t_y vanishes (docs/flow.md). With the wall formulas of Thom or Woods this is a
 * sum over the faces between fluid and body, linear in the constant. influence: one component a body, its influence
 * function, the stream function that is 1 on this body and 0 on all others and on the border. */
#if BODIES > 0
#define BODY_OF(at) (node[at] / BODY_NUMBER)

/* The sum over the faces of each body: omega_1 w + (psi_1 - psi_body) g, and buoyancy at the vertical faces. */
kernel void flow_body_pressure(global const real *restrict psi, global const real *restrict next,
#if HEAT
                               global const real *restrict T,
#endif
                               global const int *restrict node, global acc *restrict partials)
{
    local acc lanes[LANES];
    for (int body = 1; body <= BODIES; body++) {
        CLEAR_LANES(lanes);
        FOR_CELLS_ALIKE(1, i, j, lane, node, IN_THE_FLUID) {
            const index_t at = AT(i, j);
            const int n = NODE_HERE(at);
            if ((n & NODE_OMEGA) && (n & 15 * PSI_GIVEN)) {
                real sum = 0;
#define FACE_OF_BODY(bit, to, w, g)                                       \
    if ((n & (bit)*PSI_GIVEN) && BODY_OF(at + (to)) == body)              \
        sum = sum + ((w)*next[at] + (g) * (psi[at] - psi[at + (to)]));
                FACE_OF_BODY(1, -1, BODY_X, BODY_PSI_X)
                FACE_OF_BODY(2, 1, BODY_X, BODY_PSI_X)
                FACE_OF_BODY(4, -PITCH, BODY_Y, BODY_PSI_Y)
                FACE_OF_BODY(8, PITCH, BODY_Y, BODY_PSI_Y)
#if HEAT
                if ((n & PSI_GIVEN) && BODY_OF(at - 1) == body)
                    sum = sum + BODY_HEAT * T[at - 1];
                if ((n & 2 * PSI_GIVEN) && BODY_OF(at + 1) == body)
                    sum = sum - BODY_HEAT * T[at + 1];
#endif
                lanes[lane] += sum;
            }
        }
        put_partial_sum(partials, body - 1, lanes);
    }
}

/* psi += the changes of psi on the bodies, which are the inverse of the influence matrix times the sums, times the
 * influence functions. totals[4]: psi on the first body, from the totals of the step before; `before` is NULL where it
 * is not psi that changes. */
kernel void flow_add_influence(global const real *restrict influence, global const acc *restrict sums,
                               global const real *restrict influence_inverse, global const real *restrict before,
                               global real *restrict totals, global real *restrict psi)
{
    local acc scratch[FINISH_LANES];
    real change[BODIES];
    for (int k = 0; k < BODIES; k++)
        change[k] = 0;
    for (int body = 0; body < BODIES; body++) {
        const acc sum = total_sum(sums, body, scratch);
        for (int k = 0; k < BODIES; k++)
            change[k] = change[k] + influence_inverse[k * BODIES + body] * sum;
    }
    if (before && first_group() && get_local_id(0) == 0)
        totals[4] = before[4] + change[0];
    FOR_CELLS(1, i, j, lane) {
        const index_t at = AT(i, j);
        real value = psi[at];
        for (int k = 0; k < BODIES; k++)
            value = value + change[k] * influence[at + (index_t)k * PLANE];
        psi[at] = value;
    }
}
#endif
