/* spectral.cl: fast Poisson solver: a direct solver for the matrix of lib/stencil.h on a rectangle in three launches:
 * sine or cosine transforms along x (transform.cl), a tridiagonal system along y for each coefficient (columns.cl), and
 * transforms back (Hockney 1965, who solved the systems by cyclic reduction). With SYSTEMS = 2 it solves A x = b and
 * B y = area x for two matrices of the same unknowns: the coefficients of x are those of the second right-hand side. */

#define TABLES(back)                                                                                       \
    ((tables){ pairs, (places) + ((back) ? TERMS * COUNT_X : 0), (pairs) + CHIRP_AT, (pairs) + SPECTRUM_AT, \
               (global const real *)((pairs) + SUMS_AT) })
#define TERMS ((SPLIT_X > 1 ? 2 : 1) * (THEN_SPLIT_X > 1 ? 2 : 1))

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
