/* reduce.h: sums whose order depends on the grid alone, never on work-groups, boxes or devices.
 *
 * The grid is cut into blocks of SEGMENT cells in SEGMENT_ROWS rows. In a block, lane l adds the cells of column l, row
 * by row; then lanes are added as a tree: l += l + 128, l += l + 64, ... A work-group may have any number of work-items:
 * each takes its share of the lanes. Totals are formed from the partial sums of all blocks, by FINISH_LANES lanes in the
 * same way; if there are more than 2048, packs of 256 are added first (reduce.cl, launched by the runtime). The
 * reference adds in the same order (host/api/ordered_sum.h).
 *
 * In a kernel of range BN_PER_SEGMENT:
 *     local acc sum[LANES];
 *     CLEAR_LANES(sum);
 *     FOR_CELLS(1, i, j, lane) { ... AT(i, j) ...; sum[lane] += value; }
 *     put_partial_sum(partials, 0, sum);
 * In a later kernel, of range BN_ONCE or BN_PER_SEGMENT:
 *     local acc scratch[FINISH_LANES];
 *     const acc total = total_sum(totals, 0, scratch);      every work-item gets it
 */
#define SEGMENT 256
#define SEGMENT_ROWS 4
#define LANES 256
#define FINISH_LANES 256

/* Block of this work-group, in the box. */
#define block_k() ((int)get_group_id(2) + LAUNCH_Z)
#define block_top() ((int)get_group_id(1) * SEGMENT_ROWS + LAUNCH_Y)
#define block_first() ((int)get_group_id(0) * SEGMENT + LAUNCH_X)

/* Whether this is the work-group that writes down what all find alike: the first of a launch. */
#define first_group() (get_group_id(0) == 0 && get_group_id(1) == 0 && get_group_id(2) == 0)

/* Lanes of this work-item. */
#define FOR_LANES(lane, count) for (int lane = (int)get_local_id(0); lane < (count); lane += (int)get_local_size(0))
#define CLEAR_LANES(sum)       \
    FOR_LANES(l_, LANES)       \
    (sum)[l_] = 0

/* The cells of this work-item's lanes, or nothing unless `active`. A kernel that has nothing to do must still reach its
 * barriers: PoCL 3.1 hangs when a kernel returns before them, even if all work-items do. On a CPU (work-groups of one)
 * neighbouring lanes follow each other, which its compiler turns into vectors; each lane meets its cells in the same
 * order either way. */
#if IS_CPU
#define FOR_CELLS(active, i, j, lane)                                                                              \
    for (int j = block_top(), rows_ = (active) ? min(block_top() + SEGMENT_ROWS, NY) : 0; j < rows_; j++)          \
        for (int lane = (int)get_local_id(0), i = block_first() + lane, end_ = min(block_first() + SEGMENT, NX);   \
             i < end_; lane += (int)get_local_size(0), i += (int)get_local_size(0))
#else
/* The number of rows is a constant, so that compilers unroll them and their loads overlap. */
#define FOR_CELLS(active, i, j, lane)                                                                              \
    for (int lane = (int)get_local_id(0), i = block_first() + lane,                                                \
             end_ = (active) ? min(block_first() + SEGMENT, NX) : 0;                                               \
         i < end_; lane += (int)get_local_size(0), i += (int)get_local_size(0))                                    \
        for (int row_ = 0, j = block_top(); row_ < SEGMENT_ROWS; row_++, j++)                                      \
            if (j < NY)
#endif

/* Place of this work-group's block among those of the whole grid. */
static inline int partial_index(void)
{
    return ((Z0 + block_k()) * BLOCK_ROWS + (Y0 + block_top()) / SEGMENT_ROWS) * SEGMENTS + (X0 + block_first()) / SEGMENT;
}

static inline acc larger(acc a, acc b)
{
    return not_finite(a) ? a : (not_finite(b) || b > a ? b : a); /* a NaN must not get lost, as it would in fmax */
}

/* Folds `count` lanes into lane 0; all work-items of the group must call it. On a CPU one work-item does it alone: each
 * barrier costs seconds of compilation there and time when it is met. */
#if IS_CPU
#define FOLD(lanes, count, combine)                          \
    barrier(CLK_LOCAL_MEM_FENCE);                            \
    if (get_local_id(0) == 0)                                \
        for (int width = (count) / 2; width > 0; width /= 2) \
            for (int l = 0; l < width; l++)                  \
                combine;                                     \
    barrier(CLK_LOCAL_MEM_FENCE);
#else
#define FOLD(lanes, count, combine)                                                           \
    for (int width = (count) / 2; width > 0; width /= 2) {                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                         \
        for (int l = (int)get_local_id(0); l < width; l += (int)get_local_size(0))            \
            combine;                                                                          \
    }                                                                                         \
    barrier(CLK_LOCAL_MEM_FENCE);
#endif

static inline void fold_sum(local acc *lanes, int count)
{
    FOLD(lanes, count, lanes[l] += lanes[l + width])
}

static inline void fold_max(local acc *lanes, int count)
{
    FOLD(lanes, count, lanes[l] = larger(lanes[l], lanes[l + width]))
}

static inline void put_partial_sum(global acc *partials, int component, local acc *lanes)
{
    fold_sum(lanes, LANES);
    if (get_local_id(0) == 0)
        partials[component * PARTIALS + partial_index()] = lanes[0];
    barrier(CLK_LOCAL_MEM_FENCE); /* the lanes may be used again */
}

static inline void put_partial_max(global acc *partials, int component, local acc *lanes)
{
    fold_max(lanes, LANES);
    if (get_local_id(0) == 0)
        partials[component * PARTIALS + partial_index()] = lanes[0];
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Lane sums of `count` values, folded; every work-item gets the result. */
static inline acc lane_sum(global const acc *values, int count, local acc *scratch)
{
    FOR_LANES(l, FINISH_LANES) {
        acc sum = 0;
        for (int at = l; at < count; at += FINISH_LANES)
            sum += values[at];
        scratch[l] = sum;
    }
    fold_sum(scratch, FINISH_LANES);
    const acc total = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}

static inline acc lane_max(global const acc *values, int count, local acc *scratch)
{
    FOR_LANES(l, FINISH_LANES) {
        acc most = 0;
        for (int at = l; at < count; at += FINISH_LANES)
            most = larger(most, values[at]);
        scratch[l] = most;
    }
    fold_max(scratch, FINISH_LANES);
    const acc total = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}

static inline acc total_sum(global const acc *totals, int component, local acc *scratch)
{
    return lane_sum(totals + component * TOTALS, TOTALS, scratch);
}

static inline acc total_max(global const acc *totals, int component, local acc *scratch)
{
    return lane_max(totals + component * TOTALS, TOTALS, scratch);
}
