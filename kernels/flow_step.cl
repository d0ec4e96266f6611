/* flow_step.cl: a whole step of flow.cl in one launch, on a rectangle whose lines all have two ends of one kind and 2^n
 * intervals (transform.cl), and on which psi and omega have the same unknowns. Its parts are the functions that the
 * separate launches consist of, on the same values in the same order: the bits are the same. Between two parts all
 * work-groups meet, so the launch has only as many as run side by side (BN_SIDE_BY_SIDE), and each goes through several
 * pairs of lines. */
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
    { log, 2, 0, 1, 1, 0, 0, odd, odd, (odd) ? (1 << (log)) - 1 : (1 << (log)) + 1, !(odd), !(odd), 1, 0 }
#define LOG_MOST (STEP_LOG_X > STEP_LOG_Y ? STEP_LOG_X : STEP_LOG_Y)
#define STEP_POINTS ((1 << LOG_MOST) + 16 * HEAT)
#define COEFFICIENTS_PITCH ((NY + 15) / 16 * 16)
#define COEFFICIENTS(k) (coefficients + (index_t)(k) * (NX * COEFFICIENTS_PITCH))
#define FOR_GROUPS(task, count) for (int task = (int)get_group_id(0); task < (count); task += (int)get_num_groups(0))

/* Between two meetings: of the temperature, then of vorticity and stream function together. */
enum { ROWS, COLUMNS, ROWS_BACK, PHASES };

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
#if !HEAT
    global const real *T_next = 0;
#endif
    /* The text of a transform stands once in the kernel: compilers take seconds over each. */
    ROLLED
    for (int part = HEAT ? 0 : PHASES; part < 2 * PHASES; part++) {
        const int heat = HEAT && part < PHASES, phase = part % PHASES, columns = phase == COLUMNS;
        const int odd_x = heat ? HEAT_ODD_X : 1, odd_y = heat ? HEAT_ODD_Y : 1;
        const axis x = FOLDED(STEP_LOG_X, odd_x), y = FOLDED(STEP_LOG_Y, odd_y);
        const axis along = FOLDED(columns ? STEP_LOG_Y : STEP_LOG_X, columns ? odd_y : odd_x);
        const axis across = FOLDED(columns ? STEP_LOG_X : STEP_LOG_Y, columns ? odd_x : odd_y);
        const int pairs = run ? (across.count + 1) / 2 : 0;
#if HEAT
        global const int *pick_row = heat ? heat_pick_x : pick_x, *pick_column = heat ? heat_pick_y : pick_y;
        global const real *x_value = heat ? heat_x : omega_x, *y_value = heat ? heat_y : omega_y;
        global real *solution = heat ? T_next : next;
#else
        global const int *pick_row = pick_x, *pick_column = pick_y;
        global const real *x_value = omega_x, *y_value = omega_y;
        global real *solution = next;
#endif
        const tables t = { columns ? twiddle_y : twiddle_x, columns ? pick_column : pick_row, 0, 0, 0 };
        /* Where there are enough work-groups each takes one of two systems: forward along y twice, side by side. */
        const int systems = heat || phase == ROWS ? 1 : 2;
        const int apart = systems == 2 && (!columns || (int)get_num_groups(0) >= 2 * pairs);
        FOR_GROUPS(task, pairs << apart)
        {
            const int line = 2 * (task >> apart), from = apart ? task & 1 : 0, to = apart ? from + 1 : systems;
            if (phase == ROWS) {
                /* The rows of the border, where vorticity is copied, go with the first and the last. */
                const int low = y.first + line - (!heat && line == 0);
                const int high = y.first + min(line + 2, y.count) + (!heat && line + 2 >= y.count);
                for (int j = low; j < high; j++)
                    FOR_ITEMS(i, NX)
                    {
#if HEAT
                        if (heat)
                            advect_heat(i, j, T, psi_before, velocity, node, heat_stencil, rhs, T_next);
                        else
#endif
                            advect_vorticity(i, j, omega, psi_before, velocity, T_next, node, stencil, rhs, next);
                    }
            }
            /* Columns forward, then each system back. */
            const int passes = columns ? 1 + to - from : 1;
            ROLLED
            for (int pass = 0; pass < passes; pass++) {
                const int forward = columns && pass == 0, system = columns ? from + max(pass - 1, 0) : from;
                const index_t column = line * COEFFICIENTS_PITCH;
                global const real *in = phase == ROWS ? rhs
                                        : columns     ? COEFFICIENTS(forward ? 0 : 1 + system)
                                        : system      ? spread_psi
                                                      : spread;
                lines l;
                take_lines(&l, line, along, across, 0,
                           columns ? column : AT(phase == ROWS ? x.first : 0, y.first + line),
                           columns ? COEFFICIENTS_PITCH : PITCH);
                if (phase == ROWS)
                    weigh_lines(&l, x, y);
                barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
                transform(in, l, along, t, z);
                if (phase == ROWS)
                    place_lines(&l, line, 1, COEFFICIENTS_PITCH);
                else if (!columns)
                    place_lines(&l, AT(x.first, y.first + line), PITCH, 1);
                else if (!forward)
                    place_lines(&l, AT(line, y.first), 1, PITCH);
                ROLLED
                for (int k = system; k < (forward ? to : system + 1); k++) {
                    const divisor by = DIVISOR(x.count, x_value, y_value);
                    const divisor then_by = DIVISOR(x.count, psi_x, psi_y);
                    global real *out = phase == ROWS ? coefficients
                                       : forward     ? COEFFICIENTS(1 + k)
                                       : columns     ? (k ? spread_psi : spread)
                                       : k           ? psi
                                                     : solution;
                    store(out, l, along, t, phase == ROWS || (columns && !forward), forward ? 1 + k : 0, by, then_by,
                          BORDER && phase == ROWS_BACK && k, psi_border, z);
                }
            }
        }
        meet(meeting);
    }
    const int rows = run ? NY : 0;
    FOR_GROUPS(j, rows)
    {
        FOR_ITEMS(i, NX)
        {
            const index_t at = AT(i, j);
            real w, u, v, residual;
            wall_vorticity(i, j, psi, next, T_next, moving, omega, velocity, at, node[at], &w, &u, &v, &residual);
        }
    }
    if (get_group_id(0) == 0 && get_local_id(0) == 0)
        totals[4] = (real)meeting[FAILED];
}
#endif
