/* reduce.cl: one number from a field (host/api/reduce.h): partial results per block, then the total, in fixed
 * order. A program has what one of SUM, SUM_SQUARES, MAX_ABS, ABOVE, PACKS needs, for grids of any size: sizes are
 * arguments (BN_SIZES, or numbers), since compiling it takes longer than its launches in a short run. */
#undef NX
#undef NY
#undef X0
#undef Y0
#undef Z0
#undef LAUNCH_X
#undef LAUNCH_Y
#undef LAUNCH_Z
#undef SUM_BLOCKS_X
#undef SUM_BLOCKS_Y
#undef PITCH
#undef SLICE
#undef PLANE
#undef FIRST
#define NX own.SIZES_NX
#define NY own.SIZES_NY
#define X0 own.SIZES_X0
#define Y0 own.SIZES_Y0
#define Z0 own.SIZES_Z0
#define LAUNCH_X ((int)get_global_offset(0) - X0)
#define LAUNCH_Y ((int)get_global_offset(1) - Y0)
#define LAUNCH_Z ((int)get_global_offset(2) - Z0)
#define SUM_BLOCKS_X ((own.SIZES_GNX + BLOCK_NX - 1) / BLOCK_NX)
#define SUM_BLOCKS_Y ((own.SIZES_GNY + BLOCK_NY - 1) / BLOCK_NY)
#define PITCH own.SIZES_PITCH
#define SLICE own.SIZES_SLICE
#define PLANE SIZES_PLANE(own)
#define FIRST own.SIZES_FIRST

#define PARTIAL_KERNEL(name, take, fold)                                                                        \
    kernel void name(const int16 own, global const real *restrict field, int component, real limit,            \
                     global acc *restrict partials)                                                             \
    {                                                                                                           \
        local acc lanes[LANES];                                                                                 \
        (void)limit; /* of one of them alone */                                                                 \
        CLEAR_LANES(lanes);                                                                                     \
        FOR_CELLS(1, i, j, lane) {                                                                              \
            const real x = field[AT3(i, j, block_k()) + (index_t)component * PLANE];                            \
            const acc total = lanes[lane];                                                                      \
            lanes[lane] = take;                                                                                 \
        }                                                                                                       \
        fold(lanes, LANES);                                                                                     \
        if (get_local_id(0) == 0)                                                                               \
            partials[partial_index()] = lanes[0];                                                               \
    }

#ifdef SUM
PARTIAL_KERNEL(reduce_sum, total + x, fold_sum)
#endif
#ifdef SUM_SQUARES
PARTIAL_KERNEL(reduce_squares, total + x * x, fold_sum)
#endif
#ifdef MAX_ABS
PARTIAL_KERNEL(reduce_max_abs, larger(total, fabs(x)), fold_max)
#endif

#ifdef ABOVE
PARTIAL_KERNEL(reduce_above, total + (x > limit ? 1 : 0), fold_sum)
#endif

#if defined(SUM) || defined(SUM_SQUARES) || defined(ABOVE)
kernel void reduce_total_sum(global const acc *restrict totals, int count, global acc *restrict result)
{
    local acc scratch[FINISH_LANES];
    const acc total = lane_sum(totals, count, FINISH_LANES, scratch);
    if (get_local_id(0) == 0)
        result[0] = total;
}
#endif

#ifdef MAX_ABS
kernel void reduce_total_max(global const acc *restrict totals, int count, global acc *restrict result)
{
    local acc scratch[FINISH_LANES];
    const acc total = lane_max(totals, count, FINISH_LANES, scratch);
    if (get_local_id(0) == 0)
        result[0] = total;
}
#endif

#ifdef PACKS
/* Pack get_group_id(0) of component get_group_id(1): 256 of its `count` partial results made one of `packs`. Bit c of
 * `maxima`: component c is a maximum. */
kernel void reduce_pack(global const acc *restrict partials, int count, int packs, int maxima,
                        global acc *restrict packed)
{
    local acc scratch[FINISH_LANES];
    const int pack = (int)get_group_id(0), component = (int)get_group_id(1), first = pack * FINISH_LANES;
    global const acc *values = partials + component * count + first;
    const int here = min(FINISH_LANES, count - first);
    const acc sum = lane_sum(values, here, FINISH_LANES, scratch);
    const acc most = lane_max(values, here, FINISH_LANES, scratch);
    if (get_local_id(0) == 0)
        packed[component * packs + pack] = maxima >> component & 1 ? most : sum;
}
#endif
