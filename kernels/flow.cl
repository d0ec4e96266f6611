/* flow.cl: one time step of temperature, vorticity and stream function on the nodes of a rectangle, border included
 * (docs/flow.md). With u = psi_y, v = -psi_x, omega = v_x - u_y, A the five-point matrix of -Laplace:
 *   (1) (I + dt a A) T' = T - dt (u T_x + v T_y) + dt a (given T)                             flow_advect_heat
 *   (2) (I + dt nu A) omega' = omega - dt (u omega_x + v omega_y) + dt C T'_x + dt nu (given omega)
 *                                                                                             flow_advect_vorticity
 *   (3) A psi' = omega' + (given psi)                                                         flow_poisson_source
 *   (4) psi' on bodies with fluid all around, from a single-valued pressure                   flow_body_...
 *   (5) velocities from psi', vorticity at the border and on obstacles from psi' and omega'   flow_wall_vorticity
 * The kernels make the right-hand sides; src/numerics/ solves. Constants: FLOW_CONSTANTS of src/solvers/flow/flow.h,
 * such as NU_X = dt nu / h_x^2 and BUOYANCY = C.
 *
 * node: bits of a node, FLOW_NODE_CODES of flow.h. stencil: area and faces of a node's control volume (lib/stencil.h).
 * velocity: u, then v a plane further. */

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
#define wall_vorticity(i, j, p, f, T, m, at, n, w, u, v, r) wall_vorticity(i, j, p, f, T, m, at, n, w, u, v, r, axes)
#define velocity_of(psi, at, n, u, v) velocity_of(psi, at, n, u, v, axes, i, j)
#define vorticity_change(w, psi, T, c, at, n, u, v, m, k) vorticity_change(w, psi, T, c, at, n, u, v, m, k, axes, i, j)
#define heat_change(T, psi, at, n, s, x, y, u, v, k) heat_change(T, psi, at, n, s, x, y, u, v, k, axes, i, j)
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
                         global const int *node, global const uchar *stencil, global real *rhs,
                         global real *next WITH_AXES)
{
    const index_t at = AT(i, j);
    const int n = node[at], s = stencil[at], side = n / NODE_SIDE & 3;
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
    CELL(i, j);
    advect_heat(i, j, T, psi, velocity, node, stencil, rhs, next);
}
#endif

/* Right-hand side of (2); zero where omega is no unknown. The solution starts from omega. */
INLINED void (advect_vorticity)(int i, int j, global const real *omega, global const real *psi,
                              global const real *velocity, global const real *T, global const int *node,
                              global const uchar *stencil, global real *rhs, global real *next WITH_AXES)
{
    const index_t at = AT(i, j);
    const int n = node[at];
    const real w = omega[at];
    real sum = 0;
    if (n & NODE_OMEGA) {
        const int s = stencil[at];
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
    CELL(i, j);
#if !HEAT
    global const real *T = 0;
#endif
    advect_vorticity(i, j, omega, psi, velocity, T, node, stencil, rhs, next);
}

/* Right-hand side of (3), and the start value 2 psi - psi_before. */
kernel void flow_poisson_source(AXES_ARGUMENT global const real *restrict omega, global const real *restrict psi,
                                global const int *restrict node, global const uchar *restrict stencil,
                                global real *restrict before, global real *restrict rhs)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int n = node[at], s = stencil[at];
    real sum = 0;
    if (n & NODE_PSI) {
        before[at] = psi[at] + (psi[at] - before[at]);
        sum = stencil_area(s) * omega[at] + GIVEN(psi, n, PSI_GIVEN, s, PER_H2_X, PER_H2_Y);
    } else {
        before[at] = psi[at];
    }
    rhs[at] = sum;
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

/* (5) at a node: from the old vorticity and velocity there to the new ones, and the steady residual of omega. A
 * residual is the change that an explicit step would make: dt (nu Laplace omega - u omega_x - v omega_y + C T_x) in the
 * fluid, dt nu / h^2 (formula - omega) at walls and on bodies, the rate at which the difference spreads to the next
 * node; see docs/flow.md. */
INLINED void (wall_vorticity)(int i, int j, global const real *psi, global const real *next, global const real *T,
                            global const real *moving, index_t at, int n, real *omega_here, real *u_here,
                            real *v_here, real *residual_here WITH_AXES)
{
    const int side = n / NODE_SIDE & 3;
    const real old = *omega_here;
    real w = next[at], u = *u_here, v = *v_here, residual = 0;
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
    *omega_here = w;
    *u_here = u;
    *v_here = v;
    *residual_here = residual;
}

/* (5): velocity everywhere, vorticity at the border and on bodies. Partial sums: squares of the steady residual of
 * omega, squares of omega, the largest |u| + |v|, squares of the steady residual of T; unless they are `summed` they
 * may be left out. */
kernel void flow_wall_vorticity(AXES_ARGUMENT global const real *restrict psi, global const real *restrict next,
#if HEAT
                                global const real *restrict T, global const uchar *restrict stencil,
#endif
                                global const int *restrict node, global const real *restrict moving,
                                global real *restrict omega, global real *restrict velocity,
                                global acc *restrict partials, int summed)
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
    FOR_CELLS_ALIKE(i, j, lane, node, NODE_OMEGA | NODE_PSI) {
        const index_t at = AT(i, j);
        const int n = CODE_HERE(node[at], NODE_OMEGA | NODE_PSI);
        real w = omega[at], u = velocity[at], v = velocity[at + PLANE], residual;
        wall_vorticity(i, j, psi, next, T, moving, at, n, &w, &u, &v, &residual);
        omega[at] = w;
        velocity[at] = u;
        velocity[at + PLANE] = v;
        residuals[lane] += residual * residual;
        sizes[lane] += w * w;
        speeds[lane] = larger(speeds[lane], ABS(u) + ABS(v));
#if HEAT
        const int s = stencil[at], side = n / NODE_SIDE & 3;
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
    if (MAY_RETURN_EARLY && !summed)
        return;
    fold_sums_2_max(residuals, sizes, speeds, ROW_LANES);
    put_partials_3(partials, 0, residuals, sizes, speeds);
#if HEAT
    put_partial_sum(partials, 3, heats);
#endif
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
        FOR_CELLS(1, i, j, lane) {
            const index_t at = AT(i, j);
            const int n = node[at];
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

/* Changes of psi on the bodies: the inverse of the influence matrix times the sums. totals[4 + k]: of body k + 1. */
kernel void flow_body_constants(global const acc *restrict sums, global const real *restrict influence_inverse,
                                global real *restrict totals)
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
    if (get_local_id(0) == 0)
        for (int k = 0; k < BODIES; k++)
            totals[4 + k] = change[k];
}

/* psi += the changes times the influence functions. */
kernel void flow_add_influence(global const real *restrict influence, global const real *restrict totals,
                               global real *restrict psi)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    real value = psi[at];
    for (int k = 0; k < BODIES; k++)
        value = value + totals[4 + k] * influence[at + (index_t)k * PLANE];
    psi[at] = value;
}
#endif

/* ------------------------------------------------------------------------------------------- steady by Newton's method
 *
 * Unknowns: omega wherever it is not given, and T. psi follows from them, psi = A^-1 omega, and so do the velocities. F
 * is the steady residual of flow_wall_vorticity, at `scale` times the viscosity and the diffusivity, J its derivative,
 * P what J is without convection and with walls each for itself. docs/flow.md has the method, src/solvers/flow/
 * flow_newton.c the order of the launches. Vector k of `basis` has PARTS components: of omega, and of T times
 * `weight`. */
#if NEWTON
#define PARTS (1 + HEAT)
#define VECTOR(k) ((index_t)((k)*PARTS) * PLANE)

/* Velocity from psi, or its change from that of psi; where it does not follow from psi u and v stay. */
static inline void (velocity_of)(global const real *psi, index_t at, int n, real *u, real *v AXES_AT)
{
    const int side = n / NODE_SIDE & 3;
    if (n & NODE_SLIP) {
        const real drop = psi[at + INNER(side)] - psi[at];
        if (side < 2)
            *v = BESIDE(side, 2 * PER_2H_X) * (side == 0 ? -drop : drop);
        else
            *u = BESIDE(side, 2 * PER_2H_Y) * (side == 2 ? drop : -drop);
    }
    if ((n & NODE_OMEGA) || ((n & NODE_OUTFLOW) && side < 2))
        *u = PER_2Y * (psi[at + PITCH] - psi[at - PITCH]);
    if ((n & NODE_OMEGA) || ((n & NODE_OUTFLOW) && side >= 2))
        *v = PER_2X * (psi[at - 1] - psi[at + 1]);
}

/* What omega = w changes by in a step, linear in w, psi, T and what walls move: diffusion, convection by the stream
 * function `stream` and buoyancy in the fluid, what the formula asks for at walls and on bodies, what flows out. */
static inline real (vorticity_change)(global const real *w, global const real *psi, global const real *T,
                                    global const real *stream, index_t at, int n, real u, real v, real moving,
                                    real scale AXES_AT)
{
    const int side = n / NODE_SIDE & 3;
    const real nu_x = scale * NU_X, nu_y = scale * NU_Y;
    global const real *next = w;
    if (n & NODE_OMEGA) {
        const real diffusion = nu_x * SUM_X(w[at - 1] - w[at], w[at + 1] - w[at]) +
                               nu_y * SUM_Y(w[at - PITCH] - w[at], w[at + PITCH] - w[at]);
        const real change = diffusion - DT * convection(w, stream, at, n, 1, 1, u, v, u, v);
        return HEAT ? change + (DT * BUOYANCY) * (PER_2X * (T[at + 1] - T[at - 1])) : change;
    }
    if (n & NODE_WALL) {
        const real formula = WALL_FORMULA(WALL_AT(side), INNER(side)) + moving;
        return (side < 2 ? nu_x : nu_y) * (formula - w[at]);
    }
    if (n & NODE_BODY)
        return (nu_x > nu_y ? nu_x : nu_y) * (body_vorticity(psi, w, at, n) - w[at]);
    return n & NODE_OUTFLOW ? -(convective_outflow(side, u, v) * (w[at] - w[at + INNER(side)])) : 0;
}

#if HEAT
/* The same for the temperature, where s says that it is an unknown. */
static inline real (heat_change)(global const real *T, global const real *psi, index_t at, int n, int s, int inner_x,
                               int inner_y, real u, real v, real scale AXES_AT)
{
    const int side = n / NODE_SIDE & 3;
    const real flux = (FLUX(T, A_X, s, 0, 2, -1) + FLUX(T, A_X, s, 1, 3, 1)) +
                      (FLUX(T, A_Y, s, 0, 1, -PITCH) + FLUX(T, A_Y, s, 2, 3, PITCH));
    const real conduction = scale * (flux / stencil_area(s));
    const real change = conduction - DT * convection(T, psi, at, n, inner_x, inner_y, u, v, u, v);
    return n & NODE_OUTFLOW ? change - convective_outflow(side, u, v) * (T[at] - T[at + INNER(side)]) : change;
}
#endif

/* Velocities from psi, F into vector 0. Partial sums: those of flow_wall_vorticity in `sums`, |F|^2 in `norms`. */
kernel void flow_newton_residual(AXES_ARGUMENT global const real *restrict psi, global const real *restrict omega,
                                 global const real *restrict T, global const uchar *restrict stencil,
                                 global const int *restrict node, global const real *restrict moving,
                                 global real *restrict velocity, global real *restrict basis, real scale,
                                 real weight, global acc *restrict sums,
                                 global acc *restrict norms)
{
    local acc residuals[LANES], sizes[LANES], speeds[LANES], heats[LANES], all[LANES];
    CLEAR_LANES(residuals);
    CLEAR_LANES(sizes);
    CLEAR_LANES(speeds);
    CLEAR_LANES(heats);
    CLEAR_LANES(all);
    FOR_CELLS(1, i, j, lane) {
        const index_t at = AT(i, j);
        const int n = node[at];
        real u = velocity[at], v = velocity[at + PLANE];
        velocity_of(psi, at, n, &u, &v);
        const real moves = n & NODE_WALL ? moving[OF_WALL(n / NODE_SIDE & 3)] : 0;
        const real f = vorticity_change(omega, psi, T, psi, at, n, u, v, moves, scale);
        real sum = f * f;
        basis[at] = f;
        velocity[at] = u;
        velocity[at + PLANE] = v;
        residuals[lane] += f * f;
        sizes[lane] += omega[at] * omega[at];
        speeds[lane] = larger(speeds[lane], fabs(u) + fabs(v));
#if HEAT
        const int s = stencil[at], inner_x = X0 + i > 0 && X0 + i < GNX - 1, inner_y = Y0 + j > 0 && Y0 + j < GNY - 1;
        const real heat = s ? heat_change(T, psi, at, n, s, inner_x, inner_y, u, v, scale) : 0, weighed = weight * heat;
        basis[at + PLANE] = weighed;
        heats[lane] += heat * heat;
        sum = sum + weighed * weighed;
#else
        (void)stencil, (void)weight;
#endif
        all[lane] += sum;
    }
    fold_sums_2_max(residuals, sizes, speeds, ROW_LANES);
    put_partials_3(sums, 0, residuals, sizes, speeds);
    put_partial_sum(sums, 3, heats);
    put_partial_sum(norms, 0, all);
}

#if HEAT
/* P^-1 for T: right-hand side and start. per_a: over dt a scale weight. */
kernel void flow_newton_heat_source(AXES_ARGUMENT global const real *restrict basis,
                                    global const uchar *restrict stencil, int k, real per_a,
                                    global real *restrict rhs, global real *restrict d_heat)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int s = stencil[at];
    rhs[at] = s ? stencil_area(s) * -(per_a * basis[at + VECTOR(k) + PLANE]) : 0;
    d_heat[at] = 0;
}
#endif

/* P^-1 for omega: right-hand side. At an outflow omega - omega_inner is given. per_nu: over dt nu scale. */
kernel void flow_newton_vorticity_source(AXES_ARGUMENT global const real *restrict basis,
                                         global const real *restrict d_omega,
                                         global const real *restrict d_heat, global const real *restrict velocity,
                                         global const int *restrict node, global const uchar *restrict stencil, int k,
                                         real per_nu, global real *restrict rhs)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int n = node[at], s = stencil[at], side = n / NODE_SIDE & 3;
    real sum = 0;
    if (s) {
        real value = basis[at + VECTOR(k)];
        if (n & NODE_OUTFLOW) {
            const real out = convective_outflow(side, velocity[at], velocity[at + PLANE]);
            value = BESIDE(side, BESIDE(side, side < 2 ? 2 * PER_H2_X : 2 * PER_H2_Y)) * (value / (out > 0 ? out : 1));
        } else {
#if HEAT
            value = value - (DT * BUOYANCY) * (PER_2X * (d_heat[at + 1] - d_heat[at - 1]));
#else
            (void)d_heat;
#endif
            value = per_nu * value;
        }
        sum = GIVEN(d_omega, n, PSI_GIVEN, s, PER_H2_X, PER_H2_Y) - stencil_area(s) * value;
    }
    rhs[at] = sum;
}

/* The system for the change of psi: right-hand side and start. */
kernel void flow_newton_poisson(AXES_ARGUMENT global const real *restrict d_omega, global const uchar *restrict stencil,
                                global real *restrict d_psi, global real *restrict rhs)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int s = stencil[at];
    rhs[at] = s ? stencil_area(s) * d_omega[at] : 0;
    d_psi[at] = 0;
}

/* Vector k = J (d_omega, d_psi, d_heat). */
kernel void flow_newton_jacobian(AXES_ARGUMENT global const real *restrict omega, global const real *restrict psi,
                                 global const real *restrict T, global const real *restrict velocity,
                                 global const real *restrict d_omega, global const real *restrict d_psi,
                                 global const real *restrict d_heat, global const uchar *restrict stencil,
                                 global const int *restrict node, global real *restrict basis, int k, real scale,
                                 real weight)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int n = node[at], side = n / NODE_SIDE & 3;
    const int own = OWN_VELOCITY(n);
    const real u = own ? velocity[at] : 0, v = own ? velocity[at + PLANE] : 0, out = convective_outflow(side, u, v);
    real du = 0, dv = 0;
    velocity_of(d_psi, at, n, &du, &dv);
    real change = vorticity_change(d_omega, d_psi, d_heat, psi, at, n, u, v, 0, scale);
    if (n & NODE_OMEGA)
        change = change - DT * convection(omega, d_psi, at, n, 1, 1, u, v, du, dv);
    else if ((n & NODE_OUTFLOW) && !(out > 0))
        change = -d_omega[at]; /* F does not depend on it: it stays */
    const real d_out = out > 0 && out < 1 ? BESIDE(side, side < 2 ? COURANT_X : COURANT_Y) * OUTWARDS(side, du, dv) : 0;
    if (n & NODE_OUTFLOW)
        change = change - d_out * (omega[at] - omega[at + INNER(side)]);
    basis[at + VECTOR(k)] = change;
#if HEAT
    const int s = stencil[at], inner_x = X0 + i > 0 && X0 + i < GNX - 1, inner_y = Y0 + j > 0 && Y0 + j < GNY - 1;
    real heat = 0;
    if (s) {
        heat = heat_change(d_heat, psi, at, n, s, inner_x, inner_y, u, v, scale) -
               DT * convection(T, d_psi, at, n, inner_x, inner_y, u, v, du, dv);
        if (n & NODE_OUTFLOW)
            heat = heat - d_out * (T[at] - T[at + INNER(side)]);
    }
    basis[at + VECTOR(k) + PLANE] = weight * heat;
#else
    (void)T, (void)stencil, (void)weight;
#endif
}
#endif
