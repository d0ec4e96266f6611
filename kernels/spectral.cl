/* spectral.cl: fast Poisson solver: a direct solver for the matrix of lib/stencil.h on a rectangle by sine and cosine
 * transforms along x and y (transform.cl), division by the eigenvalues, and back, in three launches (Hockney 1965).
 * With SYSTEMS = 2 it solves A x = b and B y = area x for two matrices of the same unknowns: the coefficients of x are
 * those of the second right-hand side. */

#define AXIS_X ((axis){ LOG_X, LENGTH_X, CHIRP_X, FOLD_X, ODD_X, FIRST_X, COUNT_X, TWICE_LOW_X, TWICE_HIGH_X })
#define AXIS_Y ((axis){ LOG_Y, LENGTH_Y, CHIRP_Y, FOLD_Y, ODD_Y, FIRST_Y, COUNT_Y, TWICE_LOW_Y, TWICE_HIGH_Y })
/* The end of a folded line of even symmetry stands behind the others. */
#define POINTS_X ((1 << LOG_X) + 16 * FOLD_X * !ODD_X)
#define POINTS_Y ((1 << LOG_Y) + 16 * FOLD_Y * !ODD_Y)

kernel void spectral_rows(global const real *restrict in, global real *restrict transposed,
                          global const real2 *restrict twiddle, global const int *restrict load,
                          global const int *restrict pick, global const real2 *restrict chirp,
                          global const real2 *restrict spectrum)
{
    local real2 z[POINTS_X];
    const tables t = { twiddle, load, pick, chirp, spectrum };
    forward_rows(in, transposed + TRANSPOSED_FIRST, TRANSPOSED_PITCH, 2 * (int)get_group_id(0), AXIS_X, AXIS_Y, t, z);
}

/* Along y: transposed lines forward, division by eigenvalue_x + eigenvalue_y (both times the lengths of the periods;
 * those of the second system are not), back, to the grid's order in `out`. */
kernel void spectral_columns(global real *transposed, global real *transposed_second, global real *out,
                             global real *out_second, global const real *restrict eigenvalue_x,
                             global const real *restrict eigenvalue_y, global const real *restrict second_x,
                             global const real *restrict second_y, global const real2 *restrict twiddle,
                             global const int *restrict load, global const int *restrict pick,
                             global const int *restrict load_back, global const int *restrict pick_back,
                             global const real2 *restrict chirp, global const real2 *restrict spectrum)
{
    local real2 z[POINTS_Y];
    const tables forward = { twiddle, load, pick, chirp, spectrum };
    const tables back = { twiddle, load_back, pick_back, chirp, spectrum };
    global real *first = transposed + TRANSPOSED_FIRST, *second = transposed_second + TRANSPOSED_FIRST;
    const int column = 2 * (int)get_group_id(0);
    forward_columns(first, TRANSPOSED_PITCH, column, AXIS_X, AXIS_Y, forward, z);
    if (SYSTEMS > 1)
        divide_columns(second, TRANSPOSED_PITCH, column, AXIS_X, AXIS_Y, forward, 2, eigenvalue_x, eigenvalue_y,
                       second_x, second_y, z);
    divide_columns(first, TRANSPOSED_PITCH, column, AXIS_X, AXIS_Y, forward, 1, eigenvalue_x, eigenvalue_y, 0, 0, z);
    for (int system = 0; system < SYSTEMS; system++) {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        back_columns(system == 0 ? first : second, system == 0 ? out : out_second, TRANSPOSED_PITCH, column, AXIS_X,
                     AXIS_Y, back, z);
    }
}

/* Along x, from what spectral_columns wrote to the grid. The second solution gets `plus` added to it. */
kernel void spectral_rows_back(global const real *in, global const real *in_second, global real *out,
                               global real *out_second, global const real *plus, global const real2 *restrict twiddle,
                               global const int *restrict load, global const int *restrict pick,
                               global const real2 *restrict chirp, global const real2 *restrict spectrum)
{
    local real2 z[POINTS_X];
    const tables t = { twiddle, load, pick, chirp, spectrum };
    const int row = 2 * (int)get_group_id(0);
    back_rows(in, out, row, AXIS_X, AXIS_Y, t, 0, plus, z);
    if (SYSTEMS > 1) { /* no loop: PoCL does not take every barrier in one */
        barrier(CLK_LOCAL_MEM_FENCE);
        back_rows(in_second, out_second, row, AXIS_X, AXIS_Y, t, PLUS, plus, z);
    }
}
