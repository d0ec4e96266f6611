/* heat.cl: T_t = a Lap T on a periodic square, explicit in time. */
kernel void heat_advance(global const real *restrict T, global real *restrict next)
{
    CELL(i, j);
    const real around = (T[AT(i - 1, j)] + T[AT(i + 1, j)]) + (T[AT(i, j - 1)] + T[AT(i, j + 1)]);
    next[AT(i, j)] = T[AT(i, j)] + K * (around - 4 * T[AT(i, j)]);
}
