/* reduce.cl: one number from a field (host/api/reduce.h): partial results per block, then the total, in fixed
 * order. A program has what one of SUM, SUM_SQUARES, MAX_ABS, ABOVE, PACKS needs. */
#define PARTIAL_KERNEL(name, take, put)                                                                 \
    kernel void name(global const real *restrict field, int component, real limit,                      \
                     global acc *restrict partials)                                                     \
    {                                                                                                   \
        local acc lanes[LANES];                                                                         \
        (void)limit; /* of one of them alone */                                                         \
        CLEAR_LANES(lanes);                                                                             \
        FOR_CELLS(1, i, j, lane) {                                                                      \
            const real x = field[AT3(i, j, block_k()) + (index_t)component * PLANE];                    \
            const acc total = lanes[lane];                                                              \
            lanes[lane] = take;                                                                         \
        }                                                                                               \
        put(partials, 0, lanes);                                                                        \
    }

#ifdef SUM
PARTIAL_KERNEL(reduce_sum, total + x, put_partial_sum)
#endif
#ifdef SUM_SQUARES
PARTIAL_KERNEL(reduce_squares, total + x * x, put_partial_sum)
#endif
#ifdef MAX_ABS
PARTIAL_KERNEL(reduce_max_abs, larger(total, fabs(x)), put_partial_max)
#endif

#ifdef ABOVE
PARTIAL_KERNEL(reduce_above, total + (x > limit ? 1 : 0), put_partial_sum)
#endif

#if defined(SUM) || defined(SUM_SQUARES) || defined(ABOVE)
kernel void reduce_total_sum(global const acc *restrict totals, global acc *restrict result)
{
    local acc scratch[FINISH_LANES];
    const acc total = total_sum(totals, 0, scratch);
    if (get_local_id(0) == 0)
        result[0] = total;
}
#endif

#ifdef MAX_ABS
kernel void reduce_total_max(global const acc *restrict totals, global acc *restrict result)
{
    local acc scratch[FINISH_LANES];
    const acc total = total_max(totals, 0, scratch);
    if (get_local_id(0) == 0)
        result[0] = total;
}
#endif

#ifdef PACKS
/* Pack get_group_id(0) of component get_group_id(1): 256 partial results made one. Bit c of `maxima`: component c is a
 * maximum. */
kernel void reduce_pack(global const acc *restrict partials, int maxima, global acc *restrict packed)
{
    local acc scratch[FINISH_LANES];
    const int pack = (int)get_group_id(0), component = (int)get_group_id(1), first = pack * FINISH_LANES;
    global const acc *values = partials + component * PARTIALS + first;
    const int count = min(FINISH_LANES, PARTIALS - first);
    const acc sum = lane_sum(values, count, FINISH_LANES, scratch);
    const acc most = lane_max(values, count, FINISH_LANES, scratch);
    if (get_local_id(0) == 0)
        packed[component * TOTALS + pack] = maxima >> component & 1 ? most : sum;
}
#endif
