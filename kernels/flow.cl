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

/* Control volume over h_x h_y. */
static inline real stencil_area(int s)
{
    return REAL(0.25) * (real)((s & 1) + (s >> 1 & 1) + (s >> 2 & 1) + (s >> 3 & 1));
}

/* Derivative along one dimension at a node between two others: central, or upwind against the velocity c. */
static inline real derivative(real before, real here, real after, real c, real per_2h)
{
    return UPWIND ? 2 * per_2h * (c > 0 ? here - before : after - here) : per_2h * (after - before);
}

/* Distance to the node next to the border, and the velocity out of the domain there. */
#define INNER(side) ((side) == 0 ? 1 : (side) == 1 ? -1 : (side) == 2 ? PITCH : -PITCH)
#define OUTWARDS(side, u, v) ((side) == 0 ? -(u) : (side) == 1 ? (u) : (side) == 2 ? -(v) : (v))

/* Convective outflow condition f_t + u_n f_n = 0, upwind: the share of the difference to the inner neighbour that
 * leaves in a step, the Courant number cut to 0 ... 1. */
static inline real convective_outflow(int side, real u, real v)
{
    const real c = (side < 2 ? COURANT_X : COURANT_Y) * OUTWARDS(side, u, v);
    return c > 1 ? 1 : c > 0 ? c : 0;
}

#if HEAT
/* Right-hand side of (1), by control volumes; zero where T is given. The solution starts from T. */
kernel void flow_advect_heat(global const real *restrict T, global const real *restrict velocity,
                             global const int *restrict node, global const uchar *restrict stencil,
                             global real *restrict rhs, global real *restrict next)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int n = node[at], s = stencil[at], side = n / NODE_SIDE & 3;
    const real t = T[at];
    real sum = 0;
    if (s) {
        const real u = velocity[at], v = velocity[at + PLANE];
        const int inner_x = X0 + i > 0 && X0 + i < GNX - 1, inner_y = Y0 + j > 0 && Y0 + j < GNY - 1;
        const real t_x = inner_x ? derivative(T[at - 1], t, T[at + 1], u, PER_2H_X) : 0;
        const real t_y = inner_y ? derivative(T[at - PITCH], t, T[at + PITCH], v, PER_2H_Y) : 0;
        real moved = t - DT * (u * t_x + v * t_y);
        if (n & NODE_OUTFLOW)
            moved = moved - convective_outflow(side, u, v) * (t - T[at + INNER(side)]);
        sum = stencil_area(s) * moved + GIVEN(T, n, HEAT_GIVEN, s, A_X, A_Y);
    }
    rhs[at] = sum;
    next[at] = t;
}
#endif

/* Right-hand side of (2); zero where omega is no unknown. The solution starts from omega. */
kernel void flow_advect_vorticity(global const real *restrict omega, global const real *restrict velocity,
#if HEAT
                                  global const real *restrict T,
#endif
                                  global const int *restrict node, global const uchar *restrict stencil,
                                  global real *restrict rhs, global real *restrict next)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int n = node[at];
    const real w = omega[at];
    real sum = 0;
    if (n & NODE_OMEGA) {
        const int s = stencil[at];
        const real u = velocity[at], v = velocity[at + PLANE];
        const real w_x = derivative(omega[at - 1], w, omega[at + 1], u, PER_2H_X);
        const real w_y = derivative(omega[at - PITCH], w, omega[at + PITCH], v, PER_2H_Y);
        sum = w - DT * (u * w_x + v * w_y);
#if HEAT
        sum = sum + (DT * BUOYANCY) * (PER_2H_X * (T[at + 1] - T[at - 1]));
#endif
        sum = sum + GIVEN(omega, n, OMEGA_GIVEN, s, NU_X, NU_Y);
    }
    rhs[at] = sum;
    next[at] = w;
}

/* Right-hand side of (3), and the start value 2 psi - psi_before. */
kernel void flow_poisson_source(global const real *restrict omega, global const real *restrict psi,
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
 * omega_1, without the slip of a moving wall. */
#define WALL_FORMULA(wall, to) (-(wall) * (psi[at + (to)] - psi[at]) - WALL_OMEGA * next[at + (to)])

/* Flux k (f of the neighbour - f here) through the face between the cells of bits a and b; where there is no face the
 * neighbour is not read. */
#define FLUX(f, k, s, a, b, to) ((s) >> (a)&1 || (s) >> (b)&1 ? stencil_face(k, s, a, b) * (f[at + (to)] - f[at]) : 0)

/* (5): velocity everywhere, vorticity at the border and on bodies. Partial sums: squares of the steady residual of
 * omega, squares of omega, the largest |u| + |v|, squares of the steady residual of T. A residual is the change that an
 * explicit step would make: dt (nu Laplace omega - u omega_x - v omega_y + C T_x) in the fluid, dt nu / h^2 (formula -
 * omega) at walls and on bodies, the rate at which the difference spreads to the next node; see docs/flow.md. */
kernel void flow_wall_vorticity(global const real *restrict psi, global const real *restrict next,
#if HEAT
                                global const real *restrict T, global const uchar *restrict stencil,
#endif
                                global const int *restrict node, global real *restrict omega,
                                global real *restrict velocity, global acc *restrict partials)
{
    local acc residuals[LANES], sizes[LANES], speeds[LANES];
#if HEAT
    local acc heats[LANES];
    CLEAR_LANES(heats);
#endif
    CLEAR_LANES(residuals);
    CLEAR_LANES(sizes);
    CLEAR_LANES(speeds);
    FOR_CELLS(1, i, j, lane) {
        const index_t at = AT(i, j);
        const int n = node[at], side = n / NODE_SIDE & 3;
        const real old = omega[at];
        real w = next[at], u = velocity[at], v = velocity[at + PLANE], residual = 0;
        if (n & NODE_OMEGA) {
            const real west = next[at - 1], east = next[at + 1], south = next[at - PITCH], north = next[at + PITCH];
            u = PER_2H_Y * (psi[at + PITCH] - psi[at - PITCH]);
            v = PER_2H_X * (psi[at - 1] - psi[at + 1]);
            residual = (NU_X * ((west - w) + (east - w)) + NU_Y * ((south - w) + (north - w))) -
                   DT * (u * derivative(west, w, east, u, PER_2H_X) + v * derivative(south, w, north, v, PER_2H_Y));
#if HEAT
            residual = residual + (DT * BUOYANCY) * (PER_2H_X * (T[at + 1] - T[at - 1]));
#endif
        } else if (n & NODE_WALL) { /* the velocity is the wall's own */
            const real formula = WALL_FORMULA(side < 2 ? WALL_X : WALL_Y, INNER(side));
            const real slip = (side < 2 ? SLIP_X * v : SLIP_Y * u);
            const real wall = formula - (side == 0 || side == 3 ? slip : -slip);
            w = old + THETA * (wall - old);
            residual = (side < 2 ? NU_X : NU_Y) * (wall - old);
        } else if (n & NODE_BODY) { /* at rest; the mean of the formula over the fluid neighbours */
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
            const real wall = sum / (real)count;
            w = old + THETA * (wall - old);
            residual = (NU_X > NU_Y ? NU_X : NU_Y) * (wall - old);
        } else if (n & NODE_SLIP) { /* omega = 0: psi is straight along the normal */
            const real drop = psi[at + INNER(side)] - psi[at];
            w = 0;
            if (side < 2)
                v = 2 * PER_2H_X * (side == 0 ? -drop : drop);
            else
                u = 2 * PER_2H_Y * (side == 2 ? drop : -drop);
        } else if (n & NODE_OUTFLOW) {
            if (side < 2)
                u = PER_2H_Y * (psi[at + PITCH] - psi[at - PITCH]);
            else
                v = PER_2H_X * (psi[at - 1] - psi[at + 1]);
            residual = -(convective_outflow(side, u, v) * (old - next[at + INNER(side)]));
            w = old + residual;
        }
        omega[at] = w;
        velocity[at] = u;
        velocity[at + PLANE] = v;
        residuals[lane] += residual * residual;
        sizes[lane] += w * w;
        speeds[lane] = larger(speeds[lane], fabs(u) + fabs(v));
#if HEAT
        const int s = stencil[at];
        if (s) {
            const int inner_x = X0 + i > 0 && X0 + i < GNX - 1, inner_y = Y0 + j > 0 && Y0 + j < GNY - 1;
            const real t = T[at], t_x = inner_x ? derivative(T[at - 1], t, T[at + 1], u, PER_2H_X) : 0;
            const real t_y = inner_y ? derivative(T[at - PITCH], t, T[at + PITCH], v, PER_2H_Y) : 0;
            real heat = ((FLUX(T, A_X, s, 0, 2, -1) + FLUX(T, A_X, s, 1, 3, 1)) +
                         (FLUX(T, A_Y, s, 0, 1, -PITCH) + FLUX(T, A_Y, s, 2, 3, PITCH))) / stencil_area(s) -
                        DT * (u * t_x + v * t_y);
            if (n & NODE_OUTFLOW)
                heat = heat - convective_outflow(side, u, v) * (t - T[at + INNER(side)]);
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
