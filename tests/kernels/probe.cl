/* probe.cl: kernels for the tests of launches, halos and sums. */
kernel void probe_diffuse(global const real *restrict a, global real *restrict b)
{
    CELL(i, j);
    const real around = (a[AT(i - 1, j)] + a[AT(i + 1, j)]) + (a[AT(i, j - 1)] + a[AT(i, j + 1)]);
    b[AT(i, j)] = a[AT(i, j)] + K * (around - 4 * a[AT(i, j)]);
}

/* The cell and its 26 neighbours, so that edges and corners of the halo count; two components. */
kernel void probe_corners(global const real *restrict a, global real *restrict b)
{
    CELL3(i, j, k);
    for (int c = 0; c < 2; c++) {
        real sum = 0;
        for (int dz = -1; dz <= 1; dz++)
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    sum += a[AT3(i + dx, j + dy, k + dz) + c * PLANE];
        b[AT3(i, j, k) + c * PLANE] = sum * K;
    }
}

/* The cell's number in the whole grid. */
kernel void probe_number(global int *restrict number)
{
    CELL3(i, j, k);
    number[AT3(i, j, k)] = ((Z0 + k) * GNY + Y0 + j) * GNX + X0 + i;
}

/* The first `columns` of both components from a field that lies elsewhere by these numbers, the last row first; the
 * rest stays. */
kernel void probe_upside_down(global real *restrict out, global const real *restrict whole, int first, int pitch,
                              int plane, int columns)
{
    CELL(i, j);
    for (int c = 0; c < 2 && X0 + i < columns; c++)
        out[AT(i, j) + c * PLANE] = whole[first + c * plane + (GNY - 1 - Y0 - j) * pitch + X0 + i];
}

/* A work-group a row: numbers its cells, then turns the row around. */
kernel void probe_row(global int *number)
{
    const int j = (int)get_global_id(1) - Y0;
    for (int i = (int)get_local_id(0); i < NX; i += (int)get_local_size(0))
        number[AT(i, j)] = (Y0 + j) * GNX + i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int i = (int)get_local_id(0); i < NX / 2; i += (int)get_local_size(0)) {
        const int here = number[AT(i, j)];
        number[AT(i, j)] = number[AT(NX - 1 - i, j)];
        number[AT(NX - 1 - i, j)] = here;
    }
}

/* One more than here and, where they are, the cells `far` before and behind in the row as well, in the turned grid. */
kernel void probe_turn(global const int *restrict here, global int *restrict there, const int16 sizes, int far)
{
    const int j = (int)get_global_id(1) - Y0;
    for (int i = (int)get_local_id(0); i < NX; i += (int)get_local_size(0)) {
        int sum = here[AT(i, j)] + 1;
        if (!IS_TRANSPOSED(sizes, i))
            continue;
        if (far > 0 && X0 + i >= far)
            sum += here[AT(i - far, j)];
        if (far > 0 && X0 + i + far < GNX)
            sum += here[AT(i + far, j)];
        there[AT_TRANSPOSED(sizes, i, j)] = sum;
    }
}

kernel void probe_turn_pairs(global const real2 *restrict here, global real2 *restrict there, const int16 sizes,
                             int far)
{
    const int j = (int)get_global_id(1) - Y0;
    for (int i = (int)get_local_id(0); i < NX; i += (int)get_local_size(0))
        if (IS_TRANSPOSED(sizes, i))
            there[AT_TRANSPOSED(sizes, i, j)] = here[AT(i, j)] + (real2)(1 + far, -1);
}

kernel void probe_overflow(global real *a)
{
    CELL(i, j);
    if (i == 0 && j == 0)
        a[PLANE + 3] = 1; /* behind the buffer's end */
}

/* Every cell adds numbers of either sign, large and small, to one of eight sums. */
kernel void probe_fixed(global long *restrict sums)
{
    CELL(i, j);
    const int n = (Y0 + j) * GNX + X0 + i;
    fixed_add(&sums[FIRST + (n & 7)], (n % 3 - 1) * ((long)n * n * n + ((long)n << 33)));
    fixed_add(&sums[FIRST + (n & 7)], convert_long_rte(REAL(128.0) * n));
}
