/* reduce.h: sums whose order depends on the grid alone, never on work-groups, boxes or devices.
 *
 * A row is cut into segments of SEGMENT cells. In a segment, lane l of LANES adds cells l, l + LANES, l + 2 LANES, ...
 * in this order; then lanes are added as a tree: l += l + 32, l += l + 16, ... A work-group may have any number of
 * work-items: each takes its share of the lanes. The reference adds in the same order (host/api/ordered_sum.h).
 *
 * In a kernel of range BN_PER_SEGMENT:
 *     local acc sum[LANES];
 *     CLEAR_LANES(sum);
 *     FOR_CELLS(1, i, lane) { ... AT(i, row_j()) ...; sum[lane] += value; }
 *     put_partial_sum(partials, 0, sum);
 * In a kernel of range BN_ONCE (FINISH_LANES lanes in the same way over all partials):
 *     local acc scratch[FINISH_LANES];
 *     const acc total = total_sum(partials, 0, scratch);      every work-item gets it
 *     if (get_local_id(0) == 0) scalars[...] = ...;
 */
#define SEGMENT 256
#define LANES 64
#define FINISH_LANES 256

/* Row and segment of this work-group, in the box. */
#define row_j() ((int)get_group_id(1))
#define row_k() ((int)get_group_id(2))
#define segment_first() ((int)get_group_id(0) * SEGMENT)
#define segment_end() min(segment_first() + SEGMENT, NX)

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
#define FOR_CELLS(active, i, lane)                                                                             \
    for (int begin_ = segment_first(), end_ = (active) ? segment_end() : 0; begin_ < end_; begin_ += LANES)    \
        for (int lane = (int)get_local_id(0), i = begin_ + lane; lane < LANES && i < end_;                     \
             lane += (int)get_local_size(0), i += (int)get_local_size(0))
#else
#define FOR_CELLS(active, i, lane)                                                                             \
    FOR_LANES(lane, LANES)                                                                                     \
    for (int i = segment_first() + (lane), end_ = (active) ? segment_end() : 0; i < end_; i += LANES)
#endif

/* Place of this work-group's segment among those of the whole grid. */
static inline int partial_index(void)
{
    return ((Z0 + row_k()) * GNY + Y0 + row_j()) * SEGMENTS + X0 / SEGMENT + (int)get_group_id(0);
}

static inline acc larger(acc a, acc b)
{
    return not_finite(a) ? a : (not_finite(b) || b > a ? b : a); /* a NaN must not get lost, as it would in fmax */
}

/* Folds `count` lanes into lane 0; all work-items of the group must call it. */
static inline void fold_sum(local acc *lanes, int count)
{
    for (int width = count / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int l = (int)get_local_id(0); l < width; l += (int)get_local_size(0))
            lanes[l] += lanes[l + width];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

static inline void fold_max(local acc *lanes, int count)
{
    for (int width = count / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int l = (int)get_local_id(0); l < width; l += (int)get_local_size(0))
            lanes[l] = larger(lanes[l], lanes[l + width]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
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

static inline acc total_sum(global const acc *partials, int component, local acc *scratch)
{
    FOR_LANES(l, FINISH_LANES)
    scratch[l] = 0;
    for (int first = 0; first < PARTIALS; first += FINISH_LANES) {
        const int count = min(FINISH_LANES, PARTIALS - first);
        FOR_LANES(l, count)
        scratch[l] += partials[component * PARTIALS + first + l];
    }
    fold_sum(scratch, FINISH_LANES);
    const acc total = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}

static inline acc total_max(global const acc *partials, int component, local acc *scratch)
{
    FOR_LANES(l, FINISH_LANES)
    scratch[l] = 0;
    for (int first = 0; first < PARTIALS; first += FINISH_LANES) {
        const int count = min(FINISH_LANES, PARTIALS - first);
        FOR_LANES(l, count)
        scratch[l] = larger(scratch[l], partials[component * PARTIALS + first + l]);
    }
    fold_max(scratch, FINISH_LANES);
    const acc total = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}
