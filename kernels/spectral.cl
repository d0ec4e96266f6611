/* spectral.cl: fast Poisson solver: a direct solver for the matrix of lib/stencil.h on a rectangle by sine and cosine
 * transforms along x and y (transform.cl), division by the eigenvalues, and back, in three launches (Hockney 1965).
 * With SYSTEMS = 2 it solves A x = b and B y = area x for two matrices of the same unknowns: the coefficients of x are
 * those of the second right-hand side. */

#define AXIS(dim)                                                                                                   \
    ((axis){ LOG_##dim, LEVELS_##dim, LENGTH_##dim, SPLIT_##dim, THEN_SPLIT_##dim, CHIRP_##dim, MIRRORED_##dim,     \
             ODD_##dim, FIRST_##dim, COUNT_##dim, TWICE_LOW_##dim, TWICE_HIGH_##dim, PAIRS_##dim, POINTS(dim) })
/* An axis has its tables in one array of pairs and one of places, since each more makes a launch longer. */
#define TABLES(dim, pairs, places, back)                                                                            \
    ((tables){ pairs, (places) + ((back) ? TERMS(dim) * COUNT_##dim : 0), (pairs) + CHIRP_AT_##dim,                 \
               (pairs) + SPECTRUM_AT_##dim, (global const real *)((pairs) + SUMS_AT_##dim) })
#define TERMS(dim) ((SPLIT_##dim > 1 ? 2 : 1) * (THEN_SPLIT_##dim > 1 ? 2 : 1))
/* The end of a line of even symmetry stands behind the others. Results at the same place of several pairs lie in
 * different banks. Lines that are split need room for the shorter ones, and as much for what the sums are made of. */
#define POINTS(dim)                                                                                                 \
    (SPLIT_##dim > 1 ? 2 * (LENGTH_##dim / 2 + SPLIT_##dim * THEN_SPLIT_##dim)                                      \
                     : (1 << LOG_##dim) + 16 * !ODD_##dim + (PAIRS_##dim > 1 ? 16 / PAIRS_##dim : 0))

/* Along x, from the grid to transposed lines; or back, from what spectral_columns wrote to the grid, a layer of the
 * launch for each system. The second solution gets `plus` added to it. */
kernel void spectral_rows(global const real *in, global const real *in_second, global real *out,
                          global real *out_second, global const real *plus, global const real2 *restrict pairs,
                          global const int *restrict places, int back)
{
    local real2 z[PAIRS_X * POINTS(X)];
    const axis x = AXIS(X), y = AXIS(Y);
    const tables t = TABLES(X, pairs, places, back);
    const int row = 2 * PAIRS_X * (int)get_group_id(0), second = (int)get_group_id(2);
    lines l;
    take_lines(&l, row, x, y, back, AT(back ? 0 : FIRST_X, FIRST_Y + row), PITCH);
    if (!back)
        weigh_lines(&l, x, y);
    transform(second ? in_second : in, l, x, t, z);
    if (back)
        place_lines(&l, AT(FIRST_X, FIRST_Y + row), PITCH, 1);
    else
        place_lines(&l, TRANSPOSED_FIRST + row, 1, TRANSPOSED_PITCH);
    store(second ? out_second : out, l, x, t, !back, 0, NOT_DIVIDED, NOT_DIVIDED, PLUS && second, plus, z);
}

/* Along y: transposed lines forward, division by eigenvalue_x + eigenvalue_y (both times the lengths of the periods;
 * those of the second system are not), back, to the grid's order in `out`. eigenvalues: along x, along y, and of the
 * second system. */
kernel void spectral_columns(global real *transposed, global real *transposed_second, global real *out,
                             global real *out_second, global const real *restrict eigenvalues,
                             global const real2 *restrict pairs, global const int *restrict places)
{
    local real2 z[PAIRS_Y * POINTS(Y)];
    const axis x = AXIS(X), y = AXIS(Y);
    const int column = 2 * PAIRS_Y * (int)get_group_id(0);
    /* Forward, then each system back; the text of a transform stands once: compilers take seconds over each. */
    ROLLED
    for (int pass = 0; pass <= SYSTEMS; pass++) {
        const int back = pass > 0;
        const tables t = TABLES(Y, pairs, places, back);
        lines l;
        take_lines(&l, column, y, x, back, TRANSPOSED_FIRST + (index_t)column * TRANSPOSED_PITCH, TRANSPOSED_PITCH);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        transform(pass < 2 ? transposed : transposed_second, l, y, t, z);
        if (back)
            place_lines(&l, AT(column, FIRST_Y), 1, PITCH);
        ROLLED
        for (int system = 0; system < (back ? 1 : SYSTEMS); system++) {
            global const real *second_values = eigenvalues + COUNT_X + COUNT_Y;
            const divisor by = DIVISOR(COUNT_X, eigenvalues, eigenvalues + COUNT_X);
            const divisor then_by = DIVISOR(COUNT_X, second_values, second_values + COUNT_X);
            global real *first = back ? out : transposed, *second = back ? out_second : transposed_second;
            store((back ? pass == 2 : system == 1) ? second : first, l, y, t, back, back ? 0 : 1 + system, by, then_by,
                  0, 0, z);
        }
    }
}
