/* flow_step.cl: a whole step of flow.cl in one launch, on a rectangle whose lines are all folded (transform.cl) and on
 * which psi and omega have the same unknowns. Its parts are the functions that the separate launches consist of, on the
 * same values in the same order: the bits are the same. Between two parts all work-groups meet, so the launch has only
 * as many as run side by side (BN_SIDE_BY_SIDE), and each goes through several pairs of lines. */
#if ONE_LAUNCH

/* What a work-group wrote before a meeting all see after it. That `mem_fence` reaches beyond the work-group nobody
 * promises, and first-level caches need not be coherent: membar.gl of NVIDIA's machine language sees to both. */
#ifdef __NV_CL_C_VERSION
#define FENCE asm volatile("membar.gl;" ::: "memory")
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

/* Polls after which a work-group gives up: a second or more. */
#define PATIENCE (1 << 22)
#define ARRIVALS 0
#define MEETINGS 1
#define FAILED 2

ALWAYS_INLINED void meet(volatile global int *meeting)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0 && get_num_groups(0) > 1) {
        const int before = meeting[MEETINGS];
        FENCE;
        if (atomic_inc(meeting + ARRIVALS) == (int)get_num_groups(0) - 1) {
            atomic_xchg(meeting + ARRIVALS, 0);
            FENCE;
            atomic_inc(meeting + MEETINGS);
        } else {
            int polls = meeting[FAILED] ? PATIENCE : 0;
            while (meeting[MEETINGS] == before && polls < PATIENCE)
                polls++;
            if (polls == PATIENCE)
                atomic_xchg(meeting + FAILED, 1);
        }
        FENCE;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

#define FOLDED(log, odd) \
    { log, 0, 0, 1, odd, odd, (odd) ? (1 << (log)) - 1 : (1 << (log)) + 1, !(odd), !(odd) }
#define LOG_MOST (STEP_LOG_X > STEP_LOG_Y ? STEP_LOG_X : STEP_LOG_Y)
#define STEP_POINTS ((1 << LOG_MOST) + 16 * HEAT)
#define COEFFICIENTS_PITCH ((NY + 15) / 16 * 16)
#define COEFFICIENTS(k) (coefficients + (index_t)(k) * (NX * COEFFICIENTS_PITCH))
#define FOR_GROUPS(task, count) for (int task = (int)get_group_id(0); task < (count); task += (int)get_num_groups(0))
#define LOCAL_AND_GLOBAL barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

/* run: 0 for meetings alone, which prove that the work-groups run side by side. totals[4]: 1 where they did not. */
kernel void flow_step(global real *omega, global real *next, global const real *psi_before, global real *psi,
                      global real *velocity, global const real *restrict moving,
#if HEAT
                      global real *T, global real *T_next, global const uchar *heat_stencil,
#endif
                      global const int *node, global const uchar *stencil, global real *rhs, global real *spread,
                      global real *spread_psi, global const real *psi_border, global const real2 *restrict twiddle_x,
                      global const real2 *restrict twiddle_y, global const int *restrict pick_x,
                      global const int *restrict pick_y, global const real *restrict omega_x,
                      global const real *restrict omega_y, global const real *restrict psi_x,
                      global const real *restrict psi_y,
#if HEAT
                      global const int *restrict heat_pick_x, global const int *restrict heat_pick_y,
                      global const real *restrict heat_x, global const real *restrict heat_y,
#endif
                      global real *coefficients, volatile global int *meeting, int run, global real *totals)
{
    local real2 z[STEP_POINTS];
    const axis x = FOLDED(STEP_LOG_X, 1), y = FOLDED(STEP_LOG_Y, 1);
    const tables along_x = { twiddle_x, 0, pick_x, 0, 0 }, along_y = { twiddle_y, 0, pick_y, 0, 0 };
    const int row_pairs = run ? (NY - 1) / 2 : 0, column_pairs = run ? (NX - 1) / 2 : 0, rows = run ? NY : 0;
#if HEAT
    const axis hx = FOLDED(STEP_LOG_X, HEAT_ODD_X), hy = FOLDED(STEP_LOG_Y, HEAT_ODD_Y);
    const tables heat_along_x = { twiddle_x, 0, heat_pick_x, 0, 0 }, heat_along_y = { twiddle_y, 0, heat_pick_y, 0, 0 };
    const int heat_row_pairs = run ? (hy.count + 1) / 2 : 0, heat_column_pairs = run ? (hx.count + 1) / 2 : 0;
    FOR_GROUPS(pair, heat_row_pairs)
    {
        for (int j = hy.first + 2 * pair; j < min(hy.first + 2 * pair + 2, hy.first + hy.count); j++)
            FOR_ITEMS(i, NX)
                advect_heat(i, j, T, psi_before, velocity, node, heat_stencil, rhs, T_next);
        LOCAL_AND_GLOBAL
        forward_rows(rhs, coefficients, COEFFICIENTS_PITCH, 2 * pair, hx, hy, heat_along_x, z);
        LOCAL_AND_GLOBAL
    }
    meet(meeting);
    FOR_GROUPS(pair, heat_column_pairs)
    {
        forward_columns(coefficients, COEFFICIENTS_PITCH, 2 * pair, hx, hy, heat_along_y, z);
        divide_columns(coefficients, COEFFICIENTS_PITCH, 2 * pair, hx, hy, heat_along_y, 1, heat_x, heat_y, 0, 0, z);
        LOCAL_AND_GLOBAL
        back_columns(coefficients, spread, COEFFICIENTS_PITCH, 2 * pair, hx, hy, heat_along_y, z);
        LOCAL_AND_GLOBAL
    }
    meet(meeting);
    FOR_GROUPS(pair, heat_row_pairs)
    {
        back_rows(spread, T_next, 2 * pair, hx, hy, heat_along_x, 0, 0, z);
        LOCAL_AND_GLOBAL
    }
    meet(meeting);
#else
    global const real *T_next = 0;
#endif
    FOR_GROUPS(pair, row_pairs)
    {
        /* The rows of the border, which are copied, go with the first and the last. */
        for (int j = pair == 0 ? 0 : 2 * pair + 1; j < min(2 * pair + 3 + (pair == row_pairs - 1), NY); j++)
            FOR_ITEMS(i, NX)
                advect_vorticity(i, j, omega, psi_before, velocity, T_next, node, stencil, rhs, next);
        LOCAL_AND_GLOBAL
        forward_rows(rhs, coefficients, COEFFICIENTS_PITCH, 2 * pair, x, y, along_x, z);
        LOCAL_AND_GLOBAL
    }
    meet(meeting);
    /* Where there are enough work-groups each takes one of the systems: the forward transform twice, side by side. */
    const int apart = (int)get_num_groups(0) >= 2 * column_pairs;
    FOR_GROUPS(task, column_pairs << apart)
    {
        const int pair = task >> apart, from = apart ? task & 1 : 0, to = apart ? from : 1;
        forward_columns(coefficients, COEFFICIENTS_PITCH, 2 * pair, x, y, along_y, z);
        for (int system = from; system <= to; system++)
            divide_columns(COEFFICIENTS(1 + system), COEFFICIENTS_PITCH, 2 * pair, x, y, along_y, 1 + system, omega_x,
                           omega_y, psi_x, psi_y, z);
        for (int system = from; system <= to; system++) {
            LOCAL_AND_GLOBAL
            back_columns(COEFFICIENTS(1 + system), system == 0 ? spread : spread_psi, COEFFICIENTS_PITCH, 2 * pair, x,
                         y, along_y, z);
        }
        LOCAL_AND_GLOBAL
    }
    meet(meeting);
    FOR_GROUPS(task, 2 * row_pairs)
    {
        const int second = task & 1;
        back_rows(second ? spread_psi : spread, second ? psi : next, 2 * (task >> 1), x, y, along_x,
                  BORDER && second, psi_border, z);
        LOCAL_AND_GLOBAL
    }
    meet(meeting);
    FOR_GROUPS(j, rows)
    {
        FOR_ITEMS(i, NX)
        {
            const index_t at = AT(i, j);
            real w = omega[at], u = velocity[at], v = velocity[at + PLANE], residual;
            wall_vorticity(i, j, psi, next, T_next, moving, at, node[at], &w, &u, &v, &residual);
            omega[at] = w;
            velocity[at] = u;
            velocity[at + PLANE] = v;
        }
    }
    if (get_group_id(0) == 0 && get_local_id(0) == 0)
        totals[4] = (real)meeting[FAILED];
}
#endif
