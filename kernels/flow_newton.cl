/* flow_newton.cl: steady by Newton's method: the equations of flow.cl as F = 0 and the products with their derivative.
 *
 * Unknowns: omega wherever it is not given, and T. psi follows from them, psi = A^-1 omega, and so do the velocities. F
 * is the steady residual of flow_wall_vorticity, at `scale` times the viscosity and the diffusivity, J its derivative,
 * P what J is without convection and with walls each for itself. docs/flow.md has the method, src/solvers/flow/
 * flow_newton.c the order of the launches, flow_krylov.cl what is done with vectors. Vector k of `basis` has PARTS
 * components: of omega, and of T times `weight`. */
#if NEWTON
#if STRETCHED
/* Functions that take the spacings, too. */
#define velocity_of(psi, at, n, u, v) velocity_of(psi, at, n, u, v, axes, i, j)
#define vorticity_change(w, psi, T, c, at, n, u, v, m, k) vorticity_change(w, psi, T, c, at, n, u, v, m, k, axes, i, j)
#define heat_change(T, psi, at, n, s, x, y, u, v, k) heat_change(T, psi, at, n, s, x, y, u, v, k, axes, i, j)
#endif
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
    FOR_CELLS_ALIKE(1, i, j, lane, node, IN_THE_FLUID) {
        const index_t at = AT(i, j);
        const int n = NODE_HERE(at);
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
        speeds[lane] = larger(speeds[lane], ABS(u) + ABS(v));
#if HEAT
        const int s = STENCIL_HERE(at);
        const int inner_x = X0 + i > 0 && X0 + i < GNX - 1, inner_y = Y0 + j > 0 && Y0 + j < GNY - 1;
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
    EACH_CELL_ALIKE(i, j, node, IN_THE_FLUID) {
        const index_t at = AT(i, j);
        const int n = NODE_HERE(at), s = STENCIL_HERE(at), side = n / NODE_SIDE & 3;
        real sum = 0;
        if (s) {
            real value = basis[at + VECTOR(k)];
            if (n & NODE_OUTFLOW) {
                const real out = convective_outflow(side, velocity[at], velocity[at + PLANE]);
                value = BESIDE(side, BESIDE(side, side < 2 ? 2 * PER_H2_X : 2 * PER_H2_Y)) *
                        (value / (out > 0 ? out : 1));
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
    EACH_CELL_ALIKE(i, j, node, IN_THE_FLUID) {
        const index_t at = AT(i, j);
        const int n = NODE_HERE(at), side = n / NODE_SIDE & 3;
        const int own = OWN_VELOCITY(n);
        const real u = own ? velocity[at] : 0, v = own ? velocity[at + PLANE] : 0, out = convective_outflow(side, u, v);
        real du = 0, dv = 0;
        velocity_of(d_psi, at, n, &du, &dv);
        real change = vorticity_change(d_omega, d_psi, d_heat, psi, at, n, u, v, 0, scale);
        if (n & NODE_OMEGA)
            change = change - DT * convection(omega, d_psi, at, n, 1, 1, u, v, du, dv);
        else if ((n & NODE_OUTFLOW) && !(out > 0))
            change = -d_omega[at]; /* F does not depend on it: it stays */
        const real d_out =
            out > 0 && out < 1 ? BESIDE(side, side < 2 ? COURANT_X : COURANT_Y) * OUTWARDS(side, du, dv) : 0;
        if (n & NODE_OUTFLOW)
            change = change - d_out * (omega[at] - omega[at + INNER(side)]);
        basis[at + VECTOR(k)] = change;
#if HEAT
        const int s = STENCIL_HERE(at);
        const int inner_x = X0 + i > 0 && X0 + i < GNX - 1, inner_y = Y0 + j > 0 && Y0 + j < GNY - 1;
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
}
#endif
