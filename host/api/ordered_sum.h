/* ordered_sum.h: sums on the host in the same order as kernels/lib/reduce.h forms them on a device, so that both give
 * the same bits: lanes within a segment of a row, then lanes over all segments. A template: the includer defines
 * BN_SUM_REAL, the type, and BN_SUM_NAME(name), and may include it again with others. */

/* Lanes of a segment and of the final sum; the same numbers as in kernels/lib/reduce.h. */
#ifndef BN_SUM_LANES
#define BN_SUM_LANES 64
#define BN_SUM_FINISH_LANES 256
#endif

/* Adds `count` lanes (a power of two) as a tree, the upper half onto the lower. */
static inline BN_SUM_REAL BN_SUM_NAME(fold)(BN_SUM_REAL *lanes, int count)
{
    for (int width = count / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++)
            lanes[l] += lanes[l + width];
    return lanes[0];
}

/* Adds up the partial sums of all segments. */
static inline BN_SUM_REAL BN_SUM_NAME(ordered_total)(const BN_SUM_REAL *partials, size_t count)
{
    BN_SUM_REAL lanes[BN_SUM_FINISH_LANES];
    for (size_t l = 0; l < BN_SUM_FINISH_LANES; l++) {
        BN_SUM_REAL sum = 0;
        for (size_t p = l; p < count; p += BN_SUM_FINISH_LANES)
            sum += partials[p];
        lanes[l] = sum;
    }
    return BN_SUM_NAME(fold)(lanes, BN_SUM_FINISH_LANES);
}

/* Sum of a[i] * b[i] over nx * rows points (b NULL: of a[i]). `partials` has room for rows * ceil(nx / BN_SEGMENT). */
static inline BN_SUM_REAL BN_SUM_NAME(ordered_dot)(const BN_SUM_REAL *a, const BN_SUM_REAL *b, size_t nx, size_t rows,
                                                   BN_SUM_REAL *partials)
{
    size_t count = 0;
    for (size_t row = 0; row < rows; row++)
        for (size_t first = 0; first < nx; first += BN_SEGMENT) {
            size_t end = first + BN_SEGMENT < nx ? first + BN_SEGMENT : nx;
            BN_SUM_REAL lanes[BN_SUM_LANES];
            for (size_t l = 0; l < BN_SUM_LANES; l++) {
                BN_SUM_REAL sum = 0;
                for (size_t i = first + l; i < end; i += BN_SUM_LANES)
                    sum += b ? a[row * nx + i] * b[row * nx + i] : a[row * nx + i];
                lanes[l] = sum;
            }
            partials[count++] = BN_SUM_NAME(fold)(lanes, BN_SUM_LANES);
        }
    return BN_SUM_NAME(ordered_total)(partials, count);
}

#undef BN_SUM_REAL
#undef BN_SUM_NAME
