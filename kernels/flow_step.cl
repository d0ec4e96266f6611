/* flow_step.cl: a whole step of flow.cl in one launch, on a rectangle whose rows all have two ends of one kind and are
 * folded or split (transform.cl), and on which psi and omega are given at all sides. Its parts are the functions that
 * the separate launches consist of, on the same values in the same order: the bits are the same. Between two parts all
 * work-groups meet, so the launch has only as many as run side by side (BN_SIDE_BY_SIDE), and each goes through several
 * pairs of lines. The parts are rows and columns of the temperature, then of vorticity and stream function together;
 * the rows that come back of the temperature are those whose vorticity goes forward next, which reads no others. */
#if ONE_LAUNCH

#define ROW(odd) { odd, odd, LENGTH_X / 2 + 1 - 2 * (odd), !(odd), !(odd) }
/* The last chunk begins at or before the last unknown. */
#define COLUMN(x, low_free, high_free) \
    { (x).count, !(low_free), NY - 2 + (high_free), (NY - 2 + (high_free)) / CHUNK + 1, low_free, high_free }
/* Sums stand behind the factors of all lengths. */
#define TABLES(places) ((tables){ pairs, places, 0, 0, (global const real *)(pairs + (2 << LOG_X)) })
/* Local memory in pairs: ROOM for a pair of rows, or columns. */
#define CHUNK_POINTS (2 * COLUMNS * (NY / CHUNK + 1))

/* run: 0 for meetings alone, which prove that the work-groups run side by side. totals[4]: 1 where they did not. */
kernel void flow_step(global real *omega, global real *next, global const real *psi_before, global real *psi,
                      global real *velocity, global const real *restrict moving,
#if HEAT
                      global real *T, global real *T_next, global const uchar *heat_stencil,
#endif
                      global const int *node, global const uchar *stencil, global real *rhs, global real *spread,
                      global real *spread_psi, global const real *psi_border, global const real2 *restrict pairs,
                      global const int *restrict places, global const real *restrict omega_systems,
                      global const real *restrict psi_systems,
#if HEAT
                      global const int *restrict heat_places, global const real *restrict heat_systems,
#endif
                      volatile global int *meeting, int run, global real *totals)
{
    local real2 z[ROOM > CHUNK_POINTS ? ROOM : CHUNK_POINTS];
    int met = meeting[MEETINGS];
#if !HEAT
    global const real *T_next = 0;
#endif
    /* The text of a transform stands once in the kernel: compilers take seconds over each. */
    ROLLED
    for (int part = 0; part < (HEAT ? PARTS + ROWS_BACK : PARTS); part++) {
        /* Back there are two systems behind one another at last, before that the temperature and then vorticity. */
        const int last = part == (HEAT ? PARTS + ROWS_BACK : PARTS) - 1, turns = HEAT && part == ROWS_BACK ? 2 : 1;
        const int all = (NY + 1) / 2;
        if (part % 2 == COLUMNS_BETWEEN) {
            const int heat = HEAT && part < PARTS, odd = heat ? HEAT_ODD_X : 1;
            const axis x = ROW(odd);
#if HEAT
            const columns y = COLUMN(x, heat && HEAT_LOW_FREE_Y, heat && HEAT_HIGH_FREE_Y);
            global const real *systems = heat ? heat_systems : omega_systems;
#else
            const columns y = COLUMN(x, 0, 0);
            global const real *systems = omega_systems;
#endif
            FOR_GROUPS(task, run ? (x.count + COLUMNS - 1) / COLUMNS : 0)
            solve_columns(spread, spread, spread_psi, heat ? 1 : 2, y, task * COLUMNS, systems, psi_systems,
                          (local real *)z);
            meet(meeting, &met);
            continue;
        }
        FOR_GROUPS(task, run ? (last ? 2 * all : all) : 0)
        ROLLED
        for (int turn = 0; turn < turns; turn++) {
            const int heat = HEAT && part < PARTS && turn == 0, back = part > 0 && turn == 0;
            const int odd = heat ? HEAT_ODD_X : 1, first_row = heat ? !HEAT_LOW_FREE_Y : 1;
            const int end_row = NY - 1 + (heat && HEAT_HIGH_FREE_Y);
            const int second = task >= all, row = 2 * (second ? task - all : task);
            const axis x = ROW(odd);
#if HEAT
            const tables t = TABLES(heat ? heat_places : places);
            global real *solution = heat ? T_next : next;
#else
            const tables t = TABLES(places);
            global real *solution = next;
#endif
            if (row >= end_row)
                continue;
            if (!back) {
                /* The last row of the border, where vorticity is copied like in the first, goes with the last pair. */
                const int low = heat ? max(row, first_row) : row;
                const int high = row + 2 < end_row ? row + 2 : heat ? end_row : NY;
                for (int j = low; j < high; j++)
                    FOR_ITEMS(i, NX)
                    {
                        const index_t at = AT(i, j);
                        const int n = NODE_AT(at);
#if HEAT
                        if (heat)
                            advect_heat(i, j, T, psi_before, velocity, n, heat_stencil[at], rhs, T_next);
                        else
#endif
                            advect_vorticity(i, j, omega, psi_before, velocity, T_next, n, stencil[at], rhs, next);
                    }
            }
            lines l = take_rows(x, back, row, first_row, end_row);
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            transform(!back ? rhs : second ? spread_psi : spread, l, x, t, 0, z);
            l.first = AT(back ? x.first : 0, row);
            store(!back ? spread : second ? psi : solution, l, x, t, 0, BORDER && second, psi_border, z);
#if HEAT
            barrier(CLK_GLOBAL_MEM_FENCE); /* vorticity reads the temperature of its row */
#endif
        }
        meet(meeting, &met);
    }
    const int rows = run ? NY : 0;
    FOR_GROUPS(j, rows)
    {
        FOR_ITEMS(i, NX)
        {
            const index_t at = AT(i, j);
            real w, u, v, residual;
            wall_vorticity(i, j, psi, next, T_next, moving, omega, velocity, at, NODE_AT(at), &w, &u, &v, &residual);
        }
    }
    if (get_group_id(0) == 0 && get_local_id(0) == 0)
        totals[4] = (real)meeting[FAILED];
}
#endif
