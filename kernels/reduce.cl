/* reduce.cl: one number from a field (host/api/reduce.h): partial results per segment, then the total, in fixed
 * order. */
#define PARTIAL_KERNEL(name, take, put)                                                                 \
    kernel void name(global const real *restrict field, int component, global acc *restrict partials)   \
    {                                                                                                   \
        local acc lanes[LANES];                                                                         \
        CLEAR_LANES(lanes);                                                                             \
        FOR_CELLS(1, i, lane) {                                                                         \
            const real x = field[AT3(i, row_j(), row_k()) + (index_t)component * PLANE];                \
            const acc total = lanes[lane];                                                              \
            lanes[lane] = take;                                                                         \
        }                                                                                               \
        put(partials, 0, lanes);                                                                        \
    }

PARTIAL_KERNEL(reduce_sum, total + x, put_partial_sum)
PARTIAL_KERNEL(reduce_squares, total + x * x, put_partial_sum)
PARTIAL_KERNEL(reduce_max_abs, larger(total, fabs(x)), put_partial_max)

kernel void reduce_total_sum(global const acc *restrict partials, global acc *restrict result)
{
    local acc scratch[FINISH_LANES];
    const acc total = total_sum(partials, 0, scratch);
    if (get_local_id(0) == 0)
        result[0] = total;
}

kernel void reduce_total_max(global const acc *restrict partials, global acc *restrict result)
{
    local acc scratch[FINISH_LANES];
    const acc total = total_max(partials, 0, scratch);
    if (get_local_id(0) == 0)
        result[0] = total;
}
