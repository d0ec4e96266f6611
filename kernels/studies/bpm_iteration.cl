/* bpm_iteration.cl: Crank-Nicolson steps of a beam in a plane by the one-parameter iteration of Alekseev and
 * Golovashkin (2010). Between metal walls in one medium a step along z changes the envelope psi by u,
 *     A u = g,   A = 1 + i a d2,   g = i b d2 psi      (1)
 * where d2 is the second difference with zeros beyond the walls. It is solved by sweeps, one a launch:
 *     u <- u + tau (g - A u)      (2)
 * u = 0 at the start, which is the paper's start from the last psi. The residual is compared with the whole right-hand
 * side, psi + i b_all d2 psi. Pairs (real2) are complex numbers. */

static inline real2 second_difference(global const real2 *restrict f, index_t at, int i)
{
    const real2 before = i + X0 > 0 ? f[at - 1] : (real2)(0), after = i + X0 + 1 < GNX ? f[at + 1] : (real2)(0);
    return (after - f[at]) - (f[at] - before);
}

/* g - A u */
static inline real2 residual_at(global const real2 *restrict u, real2 g, index_t at, int i)
{
    return (g - u[at]) - cmul((real2)(0, A_IM), second_difference(u, at, i));
}

/* g and u = 0; the sums of squares of the right-hand side and of the first residual, which is g. */
kernel void bpm_iteration_start(global const real2 *restrict psi, global real2 *restrict g, global real2 *restrict u,
                                global acc *restrict partials)
{
    local acc sizes[LANES], residuals[LANES];
    CLEAR_LANES(sizes);
    CLEAR_LANES(residuals);
    FOR_CELLS(1, i, j, lane) {
        const index_t at = AT(i, j);
        const real2 d2 = second_difference(psi, at, i);
        const real2 all = cfma((real2)(0, B_ALL_IM), d2, psi[at]), own = cmul((real2)(0, B_IM), d2);
        g[at] = own;
        u[at] = (real2)(0);
        sizes[lane] += all.x * all.x + all.y * all.y;
        residuals[lane] += own.x * own.x + own.y * own.y;
    }
    put_partial_sum(partials, 0, sizes);
    put_partial_sum(partials, 1, residuals);
}

kernel void bpm_iteration_sweep(global const real2 *restrict u, global const real2 *restrict g,
                                global real2 *restrict next)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    next[at] = cfma((real2)(TAU_RE, TAU_IM), residual_at(u, g[at], at, i), u[at]);
}

/* The sum of squares of the residual of u. */
kernel void bpm_iteration_residual(global const real2 *restrict u, global const real2 *restrict g,
                                   global acc *restrict partials)
{
    local acc residuals[LANES];
    CLEAR_LANES(residuals);
    FOR_CELLS(1, i, j, lane) {
        const index_t at = AT(i, j);
        const real2 left = residual_at(u, g[at], at, i);
        residuals[lane] += left.x * left.x + left.y * left.y;
    }
    put_partial_sum(partials, 1, residuals);
}

kernel void bpm_iteration_total(global const acc *restrict sums, global real *restrict totals)
{
    local acc scratch[FINISH_LANES];
    const acc size = total_sum(sums, 0, scratch), residual = total_sum(sums, 1, scratch);
    if (get_local_id(0) == 0) {
        totals[0] = size;
        totals[1] = residual;
    }
}

kernel void bpm_iteration_add(global const real2 *restrict u, global real2 *restrict psi)
{
    CELL(i, j);
    psi[AT(i, j)] += u[AT(i, j)];
}
