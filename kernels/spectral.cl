/* spectral.cl: fast Poisson solver: a direct solver for the matrix of lib/stencil.h on a rectangle in three launches:
 * sine or cosine transforms along x (transform.cl), a tridiagonal system along y for each coefficient (columns.cl), and
 * transforms back (Hockney 1965, who solved the systems by cyclic reduction). With SYSTEMS = 2 it solves A x = b and
 * B y = area x for two matrices of the same unknowns: the coefficients of x are those of the second right-hand side.
 * With ONE_LAUNCH all three are one launch, whose work-groups meet in between. */

#define TABLES(back)                                                                                       \
    ((tables){ pairs, (places) + ((back) ? TERMS * COUNT_X : 0), (pairs) + CHIRP_AT, (pairs) + SPECTRUM_AT, \
               (global const real *)((pairs) + SUMS_AT) })
#define TERMS ((SPLIT_X > 1 ? 2 : 1) * (THEN_SPLIT_X > 1 ? 2 : 1))

#if ONE_LAUNCH
/* The last parts are those of both solutions. meeting: lib/meet.h. failed: 1 where work-groups did not meet. */
kernel void spectral_solve(global const real *in, global real *out, global real *out_second, global real *work,
                           global real *work_second, global const real *plus, global const real2 *restrict pairs,
                           global const int *restrict places, global const real *restrict systems,
                           global const real *restrict systems_second, volatile global int *meeting,
                           global real *failed)
{
    local real2 z[ROOM > 2 * COLUMNS * CHUNKS ? ROOM : 2 * COLUMNS * CHUNKS];
    int met = meeting[MEETINGS];
    const axis x = { ODD_X, FIRST_X, COUNT_X, TWICE_LOW_X, TWICE_HIGH_X };
    const columns c = { COUNT_X, FIRST_Y, FIRST_Y + COUNT_Y - 1, CHUNKS, LOW_FREE_Y, HIGH_FREE_Y };
    const int all = (FIRST_Y + COUNT_Y + 1) / 2; /* pairs of rows */
    ROLLED
    for (int part = 0; part < PARTS; part++) {
        const int back = part == ROWS_BACK, between = part == COLUMNS_BETWEEN;
        const tables t = TABLES(back);
        FOR_GROUPS(task, between ? (COUNT_X + COLUMNS - 1) / COLUMNS : 0)
        solve_columns(work, work, work_second, SYSTEMS, c, COLUMNS * task, systems, systems_second, (local real *)z);
        FOR_GROUPS(task, between ? 0 : back ? SYSTEMS * all : all)
        {
            const int second = task >= all, row = 2 * (second ? task - all : task);
            lines l = take_rows(x, back, row, FIRST_Y, FIRST_Y + COUNT_Y);
            barrier(CLK_LOCAL_MEM_FENCE); /* the pair before is stored */
            transform(!back ? in : second ? work_second : work, l, x, t, 0, z);
            l.first = AT(back ? FIRST_X : 0, row);
            store(!back ? work : second ? out_second : out, l, x, t, 0, PLUS && second, plus, z);
        }
        if (!back)
            meet(meeting, &met);
    }
    if (get_group_id(0) == 0 && get_local_id(0) == 0)
        failed[0] = (real)meeting[FAILED];
}
#else
/* Along x, from the grid to coefficients, or `back`, a layer of the launch for each system; 2: the second alone. Its
 * solution gets `plus` added to it. Twiddle factors, chirps, their spectrum and sums are one array of pairs, since each
 * more makes a launch longer. */
kernel void spectral_rows(global const real *in, global const real *in_second, global real *out,
                          global real *out_second, global const real *plus, global const real2 *restrict pairs,
                          global const int *restrict places, int back)
{
    local real2 z[PAIRS_X * ROOM];
    const axis x = { ODD_X, FIRST_X, COUNT_X, TWICE_LOW_X, TWICE_HIGH_X };
    const tables t = TABLES(back);
    const int group = (int)get_group_id(0), share = group % SHARES, row = 2 * PAIRS_X * (group / SHARES);
    const int second = (int)get_group_id(2) + (back > 1);
    lines l = take_rows(x, back, row, FIRST_Y - Y0, min(FIRST_Y + COUNT_Y - Y0, NY));
    transform(second ? in_second : in, l, x, t, share, z);
    l.first = AT(back ? FIRST_X : 0, row);
    store(second ? out_second : out, l, x, t, share, PLUS && second, plus, z);
}

/* Along y, in place; the coefficients of the second solution are `second`. */
kernel void spectral_columns(global real *coefficients, global real *second, global const real *restrict systems,
                             global const real *restrict systems_second)
{
    local real room[4 * COLUMNS * CHUNKS];
    const columns c = { COUNT_X, FIRST_Y, FIRST_Y + COUNT_Y - 1, CHUNKS, LOW_FREE_Y, HIGH_FREE_Y };
    solve_columns(coefficients, coefficients, second, SYSTEMS, c, COLUMNS * (int)get_group_id(0), systems,
                  systems_second, room);
}
#endif
