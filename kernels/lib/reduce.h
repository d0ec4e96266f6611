/* reduce.h: sums whose order depends on the grid alone, never on work-groups, boxes or devices.
 *
 * The grid is cut into blocks of BLOCK_NX cells in BLOCK_NY rows. In a block, lane l adds the cells of column l, row
 * by row; then lanes are added as a tree: l += l + 128, l += l + 64, ... A work-group may have any number of
 * work-items: each takes its share of the lanes. Totals are formed from the partial sums of all blocks, by FINISH_LANES
 * lanes in the same way; if there are more than 2048, packs of 256 are added first (reduce.cl, launched by the
 * runtime). The reference adds in the same order (host/api/ordered_sum.h).
 *
 * In a kernel of range BN_PER_BLOCK:
 *     local acc sum[LANES];
 *     CLEAR_LANES(sum);
 *     FOR_CELLS(1, i, j, lane) { ... AT(i, j) ...; sum[lane] += value; }
 *     put_partial_sum(partials, 0, sum);
 * In a later kernel, of range BN_ONCE or BN_PER_BLOCK:
 *     local acc scratch[FINISH_LANES];
 *     const acc total = total_sum(totals, 0, scratch);      every work-item gets it */
#define BLOCK_NX 256
#define BLOCK_NY 4
#define LANES 256
#define FINISH_LANES 256

/* Block of this work-group, in the box. */
#if DIMS < 3 /* the third dimension of the launch are layers (bn_kernel_layers) */
#define block_k() 0
#else
#define block_k() ((int)get_group_id(2) + LAUNCH_Z)
#endif
#define block_top() ((int)get_group_id(1) * BLOCK_NY + LAUNCH_Y)
#define block_first() ((int)get_group_id(0) * BLOCK_NX + LAUNCH_X)

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
#define FOR_CELLS(active, i, j, lane) FOR_CELLS_FROM(active, block_top(), i, j, lane)

/* The same of the block that begins in the row `top`. */
#if IS_CPU
#define FOR_CELLS_FROM(active, top, i, j, lane)                                                                     \
    for (int j = (top), rows_ = (active) ? min(j + BLOCK_NY, NY) : 0; j < rows_; j++)                               \
        for (int lane = (int)get_local_id(0), i = block_first() + lane, end_ = min(block_first() + BLOCK_NX, NX);   \
             i < end_; lane += (int)get_local_size(0), i += (int)get_local_size(0))
#else
/* The number of rows is a constant, and where all blocks are whole none is asked for, so that compilers unroll them
 * and their loads overlap. */
#define FOR_CELLS_FROM(active, top, i, j, lane)                                                                     \
    for (int lane = (int)get_local_id(0), i = block_first() + lane,                                                 \
             end_ = (active) ? min(block_first() + BLOCK_NX, NX) : 0;                                               \
         i < end_; lane += (int)get_local_size(0), i += (int)get_local_size(0))                                     \
        for (int row_ = 0, j = (top); row_ < BLOCK_NY; row_++, j++)                                                 \
            if (NY % BLOCK_NY == 0 || j < NY)
#endif

/* Nodes of a work-group in columns above each other: on a GPU a work-item has `chunk` of the `high` rows of a column at
 * a time, and loads all that it needs for them before it stores anything, else each row would wait for the one before.
 * On a CPU, which makes vectors of neighbouring columns, row by row (FOR_COLUMNS_ALIKE of lanes.h). ROWS_OF_BOX: of so
 * many from `top` on; GPUs, whose loops are to have constant ends, go beyond the box, and read the last line there
 * (LINE_OF_BOX). */
#if IS_CPU
#define ROWS_OF_BOX(rows, top) min(rows, NY - (top))
#define LINE_OF_BOX(j) (j)
#define EACH_ROW(row, chunk) for (int row = 0; row < 1; row++)
#define ROWS_AT_ONCE(rows) 1
#else
#define FOR_COLUMNS(c, wide, first, high, chunk)                                                              \
    for (int c = (int)get_local_id(0); c < (wide); c += (int)get_local_size(0))                               \
        for (int first = 0; first < (high); first += (chunk))
#define ROWS_OF_BOX(rows, top) (rows)
#define LINE_OF_BOX(j) min(j, NY - 1)
#define EACH_ROW(row, chunk) UNROLLED for (int row = 0; row < (chunk); row++)
#define ROWS_AT_ONCE(rows) (rows)
#endif

/* Place among the blocks of the whole grid of a block of this work-group's, which begins in the row `top`; and of the
 * only one that it usually has. */
#define block_of_grid(top) \
    (((Z0 + block_k()) * SUM_BLOCKS_Y + (Y0 + (top)) / BLOCK_NY) * SUM_BLOCKS_X + (X0 + block_first()) / BLOCK_NX)
#define partial_index() block_of_grid(block_top())

/* A NaN must not get lost, as it would in fmax. One selection, not one inside another: LLVM 18 in PoCL 6 dies of that
 * ("Instruction Combining did not reach a fixpoint") in work-groups of more than one work-item. */
static inline acc larger(acc a, acc b)
{
    return (not_finite(a) | !(not_finite(b) | (b > a))) ? a : b;
}

/* Lanes from the power of two above the row's, or the totals', length on hold nothing but +0: left out, the tree gives
 * the same bits. No lane is -0, since it began as +0. Not on CPUs: LLVM 15 in PoCL 3.1 dies of folds over a few lanes.
 */
#if IS_CPU
#define ROW_LANES LANES
#define TOTAL_LANES FINISH_LANES
#else
#define POWER_ABOVE(n)                                                                                        \
    ((n) <= 1 ? 1 : (n) <= 2 ? 2 : (n) <= 4 ? 4 : (n) <= 8 ? 8 : (n) <= 16 ? 16 : (n) <= 32 ? 32 : (n) <= 64 ? 64 \
     : (n) <= 128 ? 128 : 256)
#define ROW_LANES POWER_ABOVE(NX)
#define TOTAL_LANES POWER_ABOVE(TOTALS)
#endif

/* Folds lanes into lane 0; all work-items of the group must call it. `step` takes the lanes from `left_` to
 * LANES_AFTER(left_). On a GPU it takes three levels of the tree between two barriers. On a CPU one work-item does it
 * alone: each barrier costs seconds of compilation there and time when it is met. */
#if IS_CPU
#define LANES_AFTER(left) ((left) / 2)
#define FOLD(count, step)                                                       \
    barrier(CLK_LOCAL_MEM_FENCE);                                               \
    if (get_local_id(0) == 0)                                                   \
        for (int left_ = (count); left_ > 1; left_ = LANES_AFTER(left_)) {           \
            step                                                                \
        }                                                                       \
    barrier(CLK_LOCAL_MEM_FENCE);
#define FOLD_STEP(lanes, left, combine)                  \
    for (int l_ = 0, width_ = (left) / 2; l_ < width_; l_++) \
        (lanes)[l_] = combine((lanes)[l_], (lanes)[l_ + width_]);
#else
#define LANES_AFTER(left) ((left) >= 8 ? (left) / 8 : 1)
#define FOLD(count, step)                                             \
    for (int left_ = (count); left_ > 1; left_ = LANES_AFTER(left_)) {     \
        barrier(CLK_LOCAL_MEM_FENCE);                                 \
        step                                                          \
    }                                                                 \
    barrier(CLK_LOCAL_MEM_FENCE);
/* Lane l is the tree over l, l + q, ... l + 7q: no other work-item reads or writes these. */
#define FOLD_STEP(lanes, left, combine)                                                                             \
    for (int q_ = LANES_AFTER(left), l_ = (int)get_local_id(0); l_ < q_; l_ += (int)get_local_size(0)) { \
        local acc *x_ = (lanes) + l_;                                                                               \
        if ((left) >= 8)                                                                                            \
            x_[0] = combine(combine(combine(x_[0], x_[4 * q_]), combine(x_[2 * q_], x_[6 * q_])),                   \
                            combine(combine(x_[q_], x_[5 * q_]), combine(x_[3 * q_], x_[7 * q_])));                 \
        else if ((left) == 4)                                                                                       \
            x_[0] = combine(combine(x_[0], x_[2]), combine(x_[1], x_[3]));                                          \
        else                                                                                                        \
            x_[0] = combine(x_[0], x_[1]);                                                                          \
    }
#endif
#define PLUS_(a, b) ((a) + (b))

static inline void fold_sum(local acc *lanes, int count)
{
    FOLD(count, FOLD_STEP(lanes, left_, PLUS_))
}

static inline void fold_max(local acc *lanes, int count)
{
    FOLD(count, FOLD_STEP(lanes, left_, larger))
}

/* Several at once, for the price of one in barriers. */
static inline void fold_sums_3(local acc *a, local acc *b, local acc *c, int count)
{
    FOLD(count, FOLD_STEP(a, left_, PLUS_) FOLD_STEP(b, left_, PLUS_) FOLD_STEP(c, left_, PLUS_))
}

static inline void fold_sums_2_max(local acc *a, local acc *b, local acc *most, int count)
{
    FOLD(count, FOLD_STEP(a, left_, PLUS_) FOLD_STEP(b, left_, PLUS_) FOLD_STEP(most, left_, larger))
}

static inline void put_partial_sum(global acc *partials, int component, local acc *lanes)
{
    fold_sum(lanes, ROW_LANES);
    if (get_local_id(0) == 0)
        partials[component * PARTIALS + partial_index()] = lanes[0];
    barrier(CLK_LOCAL_MEM_FENCE); /* the lanes may be used again */
}

static inline void put_partial_max(global acc *partials, int component, local acc *lanes)
{
    fold_max(lanes, ROW_LANES);
    if (get_local_id(0) == 0)
        partials[component * PARTIALS + partial_index()] = lanes[0];
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Components c, c + 1, ... below `end` of the block, as many as are formed at once: on a GPU for the price of one in
 * barriers; those beyond the last are the last again. */
#if IS_CPU
#define SUMS_AT_ONCE 1
static inline void put_partial_sums(global acc *partials, int c, int end, local acc *lanes)
{
    put_partial_sum(partials, min(c, end - 1), lanes);
}
#else
#define SUMS_AT_ONCE 8
#define FOLD_ONE_OF(lanes, q) FOLD_STEP((lanes) + (q)*LANES, left_, PLUS_)
static inline void put_partial_sums(global acc *partials, int c, int end, local acc *lanes)
{
    FOLD(ROW_LANES, FOLD_ONE_OF(lanes, 0) FOLD_ONE_OF(lanes, 1) FOLD_ONE_OF(lanes, 2) FOLD_ONE_OF(lanes, 3)
                        FOLD_ONE_OF(lanes, 4) FOLD_ONE_OF(lanes, 5) FOLD_ONE_OF(lanes, 6) FOLD_ONE_OF(lanes, 7))
    if (get_local_id(0) == 0)
        for (int q = 0; q < SUMS_AT_ONCE; q++)
            partials[min(c + q, end - 1) * PARTIALS + partial_index()] = lanes[q * LANES];
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

/* Components c, c + 1 and c + 2 of the block, already folded. */
static inline void put_partials_3(global acc *partials, int component, local acc *a, local acc *b, local acc *c)
{
    if (get_local_id(0) == 0) {
        partials[component * PARTIALS + partial_index()] = a[0];
        partials[(component + 1) * PARTIALS + partial_index()] = b[0];
        partials[(component + 2) * PARTIALS + partial_index()] = c[0];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Puts the sums of every FINISH_LANES-th of `count` values into the first `lanes` lanes. On a GPU eight loads of
 * a lane are on their way at once, all that there are but on the largest grids; what is beyond the last adds +0, which
 * changes no sum. */
#if IS_CPU
static inline void load_sums(global const acc *values, int count, int lanes, local acc *scratch)
{
    FOR_LANES(l, lanes) {
        acc sum = 0;
        for (int at = l; at < count; at += FINISH_LANES)
            sum += values[at];
        scratch[l] = sum;
    }
}
#else
static inline void load_sums(global const acc *values, int count, int lanes, local acc *scratch)
{
    FOR_LANES(l, lanes) {
        acc value[8], sum = 0;
        for (int first = l; first < count; first += 8 * FINISH_LANES) {
            UNROLLED
            for (int k = 0; k < 8; k++)
                value[k] = first + k * FINISH_LANES < count ? values[first + k * FINISH_LANES] : 0;
            UNROLLED
            for (int k = 0; k < 8; k++)
                sum += value[k];
        }
        scratch[l] = sum;
    }
}
#endif

static inline void load_max(global const acc *values, int count, int lanes, local acc *scratch)
{
    FOR_LANES(l, lanes) {
        acc most = 0;
        for (int at = l; at < count; at += FINISH_LANES)
            most = larger(most, values[at]);
        scratch[l] = most;
    }
}

/* Sum of `count` values; every work-item gets the result. `lanes`: POWER_ABOVE(count), or more. */
static inline acc lane_sum(global const acc *values, int count, int lanes, local acc *scratch)
{
    load_sums(values, count, lanes, scratch);
    fold_sum(scratch, lanes);
    const acc total = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}

static inline acc lane_max(global const acc *values, int count, int lanes, local acc *scratch)
{
    load_max(values, count, lanes, scratch);
    fold_max(scratch, lanes);
    const acc total = scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}

static inline acc total_sum(global const acc *totals, int component, local acc *scratch)
{
    return lane_sum(totals + component * TOTALS, TOTALS, TOTAL_LANES, scratch);
}

static inline acc total_max(global const acc *totals, int component, local acc *scratch)
{
    return lane_max(totals + component * TOTALS, TOTALS, TOTAL_LANES, scratch);
}
