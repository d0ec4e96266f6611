/* ordered_sum.h: sums on the host in the same order as kernels/lib/reduce.h forms them on a device, so that both give
 * the same bits: lanes within a block of cells, then lanes over all blocks. A template: the includer defines
 * BN_SUM_REAL, the type, and BN_SUM_NAME(name), and may include it again with others. */

/* Lanes of a reduction block and of the final sum; the same numbers as in kernels/lib/reduce.h. */
#ifndef BN_SUM_LANES
#define BN_SUM_LANES 256
#define BN_SUM_FINISH_LANES 256
#define BN_SUM_TOTALS_MAX 2048
#endif

/* Adds `count` lanes (a power of two) as a tree, the upper half onto the lower. */
static inline BN_SUM_REAL BN_SUM_NAME(fold)(BN_SUM_REAL *lanes, int count)
{
    for (int width = count / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++)
            lanes[l] += lanes[l + width];
    return lanes[0];
}

static inline BN_SUM_REAL BN_SUM_NAME(lane_sum)(const BN_SUM_REAL *values, size_t count)
{
    BN_SUM_REAL lanes[BN_SUM_FINISH_LANES];
    for (size_t l = 0; l < BN_SUM_FINISH_LANES; l++) {
        BN_SUM_REAL sum = 0;
        for (size_t p = l; p < count; p += BN_SUM_FINISH_LANES)
            sum += values[p];
        lanes[l] = sum;
    }
    return BN_SUM_NAME(fold)(lanes, BN_SUM_FINISH_LANES);
}

/* Adds up the partial sums of all blocks: where there are many, packs of them first. Packs take the place of the
 * partial sums. */
static inline BN_SUM_REAL BN_SUM_NAME(ordered_total)(BN_SUM_REAL *partials, size_t count)
{
    if (count <= BN_SUM_TOTALS_MAX)
        return BN_SUM_NAME(lane_sum)(partials, count);
    size_t packs = 0;
    for (size_t first = 0; first < count; first += BN_SUM_FINISH_LANES)
        partials[packs++] = BN_SUM_NAME(lane_sum)(
            partials + first, count - first < BN_SUM_FINISH_LANES ? count - first : BN_SUM_FINISH_LANES);
    return BN_SUM_NAME(lane_sum)(partials, packs);
}

/* Sum of a[i] * b[i] over nx * ny * nz points (b NULL: of a[i]). `partials` has room for one
 * number a block, nz * ceil(ny / BN_BLOCK_NY) * ceil(nx / BN_BLOCK_NX). */
static inline BN_SUM_REAL BN_SUM_NAME(ordered_dot)(const BN_SUM_REAL *a, const BN_SUM_REAL *b, const size_t n[3],
                                                   BN_SUM_REAL *partials)
{
    size_t count = 0;
    for (size_t k = 0; k < n[2]; k++)
        for (size_t j = 0; j < n[1]; j += BN_BLOCK_NY)
            for (size_t i = 0; i < n[0]; i += BN_BLOCK_NX) {
                const size_t end = i + BN_BLOCK_NX < n[0] ? i + BN_BLOCK_NX : n[0];
                const size_t bottom = j + BN_BLOCK_NY < n[1] ? j + BN_BLOCK_NY : n[1];
                BN_SUM_REAL lanes[BN_SUM_LANES] = { 0 };
                for (size_t y = j; y < bottom; y++) {
                    const size_t row = (k * n[1] + y) * n[0];
                    for (size_t x = i; x < end; x++)
                        lanes[x - i] += b ? a[row + x] * b[row + x] : a[row + x];
                }
                partials[count++] = BN_SUM_NAME(fold)(lanes, BN_SUM_LANES);
            }
    return BN_SUM_NAME(ordered_total)(partials, count);
}

#undef BN_SUM_REAL
#undef BN_SUM_NAME
