/* reduce.h: sums whose order depends on the grid alone, never on work-groups, boxes or devices.
 *
 * A row is cut into segments of SEGMENT cells. In a segment, lane l of LANES adds cells l, l + LANES, l + 2 LANES, ... in
 * this order; then lanes are added as a tree: l += l + 32, l += l + 16, ... A work-group may have any number of work-items up to LANES: each
 * takes several lanes. The reference adds in the same order (src/sim/reference.h).
 *
 * In a kernel of range BN_PER_SEGMENT:
 *     local acc lane_sum[LANES];
 *     FOR_LANES(lane) {
 *         acc sum = 0;
 *         FOR_CELLS(i, lane) { ... AT(i, row_j()) ...; sum += value; }
 *         lane_sum[lane] = sum;
 *     }
 *     put_partial_sum(partials, 0, lane_sum);
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

#define FOR_LANES(lane) for (int lane = (int)get_local_id(0); lane < LANES; lane += (int)get_local_size(0))
#define FOR_CELLS(i, lane) FOR_CELLS_IF(1, i, lane)

/* The same, or nothing unless `active`. A kernel that has nothing to do must still reach its barriers: PoCL 3.1 hangs when a kernel
 * returns before them, even if all work-items do. */
#define FOR_CELLS_IF(active, i, lane)                                                                  \
    for (int i = segment_first() + (lane), end_ = (active) ? segment_end() : 0; i < end_; i += LANES)

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
    for (int l = (int)get_local_id(0); l < FINISH_LANES; l += (int)get_local_size(0)) {
        acc sum = 0;
        for (int p = l; p < PARTIALS; p += FINISH_LANES)
            sum += partials[component * PARTIALS + p];
        scratch[l] = sum;
    }
    fold_sum(scratch, FINISH_LANES);
    const acc total = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}

static inline acc total_max(global const acc *partials, int component, local acc *scratch)
{
    for (int l = (int)get_local_id(0); l < FINISH_LANES; l += (int)get_local_size(0)) {
        acc largest = 0;
        for (int p = l; p < PARTIALS; p += FINISH_LANES)
            largest = larger(largest, partials[component * PARTIALS + p]);
        scratch[l] = largest;
    }
    fold_max(scratch, FINISH_LANES);
    const acc total = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}
