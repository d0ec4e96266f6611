/* band_product.cl: z = A x for a band matrix of UPPER diagonals above the main one and LOWER under it, stored by
 * diagonals after Alekseev and Golovashkin (2010), (6) and (7), counted from 0:
 *     A(i, i) = diagonal(i),   A(i, i + m) = upper(start(m) + i),   A(j + h, j) = lower(start(h) + j)
 * with start(m) = (m - 1) N - m (m - 1) / 2. Neighbouring work-items read neighbouring entries. Pairs are complex. */
#define START(m) ((index_t)((m)-1) * GNX - (index_t)(m) * ((m)-1) / 2)

kernel void band_product_multiply(global const real2 *restrict diagonal, global const real2 *restrict upper,
                                  global const real2 *restrict lower, global const real2 *restrict x,
                                  global real2 *restrict z)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int row = i + X0;
    real2 sum = cmul(diagonal[row], x[at]);
    for (int m = 1; m <= min(UPPER, GNX - 1 - row); m++)
        sum = cfma(upper[START(m) + row], x[at + m], sum);
    for (int h = 1; h <= min(LOWER, row); h++)
        sum = cfma(lower[START(h) + row - h], x[at - h], sum);
    z[at] = sum;
}
