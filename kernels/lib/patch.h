/* patch.h: patches of the nodes of a grid in local memory, for kernels of range BN_PER_PATCH that go through several
 * steps at once. A work-group has PATCH_X nodes in `rows` - 2 PATCH_MARGIN rows, `rows` an argument of the kernel, and
 * computes them from the nodes of PATCH_MARGIN around them, too: with each step one node less far out. rows: 2 more
 * than a multiple of 4, at most PATCH_ROWS. Three arrays of PATCH_NODES reals and one of bytes take less than the
 * 32 KiB of local memory that every device has. Hosts that launch them know the same sizes. */
#define PATCH_MARGIN 3
#define PATCH_COLUMNS (256 / REAL_BYTES)
#define PATCH_ROWS 38
#define PATCH_X (PATCH_COLUMNS - 2 * PATCH_MARGIN)
#define PATCH_NODES (PATCH_COLUMNS * PATCH_ROWS)

/* The nodes of a patch with its margin but for `left` of them on all sides. On a GPU a work-item has four nodes above
 * each other, so that what it loads for one serves the next (`loop`: UNROLLED or ROLLED); on a CPU it has rows, which
 * are turned into vectors. FOR_COARSE: the coarse nodes in a patch.
 *   NEAR(array, dx, dy)           the value of a local array at a distance from the node
 *   COARSE_ROW, ROW_IS_BETWEEN    with `left` 1: the coarse row below, counted from the patch's first, and whether
 *                                 there is another one above it */
#if IS_CPU
#define FOR_PATCH(column, row, left, loop, end_of_those_alike)                                                     \
    for (long row = (left); row < rows - (left); row++)                                                            \
        IN_STRETCHES(column, lane_, left, PATCH_COLUMNS - (left), end_of_those_alike)
#define FOR_COARSE(column, row, end_of_those_alike)                                                                \
    for (long row = 0; row < rows / 2 - PATCH_MARGIN; row++)                                                       \
        IN_STRETCHES(column, lane_, 0, PATCH_X / 2, end_of_those_alike)
#define END_OF_KIND(kinds, usual) end_of_local_bytes((kinds) + row * PATCH_COLUMNS, from_, end_, usual)
#define KINDS_ARE_KEPT 1
#define IS_ALIKE (!other_)
#define NEAR(array, dx, dy) array[(row + (dy)) * PATCH_COLUMNS + column + (dx)]
#define COARSE_ROW(row) (((row)-PATCH_MARGIN) >> 1)
#define ROW_IS_BETWEEN(row) (((row)&1) == 0)
#else
#define FOR_PATCH(column, row, left, loop, end_of_those_alike)                                                     \
    ROLLED for (int unit_ = (int)get_local_id(0); unit_ < PATCH_COLUMNS * ((rows + 3 - 2 * (left)) / 4);           \
                unit_ += (int)get_local_size(0))                                                                   \
        if (unit_ % PATCH_COLUMNS >= (left) && unit_ % PATCH_COLUMNS < PATCH_COLUMNS - (left))                     \
            loop for (int column = unit_ % PATCH_COLUMNS, first_ = (left) + unit_ / PATCH_COLUMNS * 4,             \
                          base_ = first_ * PATCH_COLUMNS + column, row_ = 0, row = first_;                         \
                      row_ < 4; row_++, row++)                                                                     \
                if ((left) % 2 == 1 || row_ < 2 || first_ + 4 <= rows - (left))
#define KINDS_ARE_KEPT 0
#define IS_ALIKE 0
#define FOR_COARSE(column, row, end_of_those_alike)                                                                \
    ROLLED for (int unit_ = (int)get_local_id(0); unit_ < PATCH_COLUMNS / 2 * (rows / 2 - PATCH_MARGIN);           \
                unit_ += (int)get_local_size(0))                                                                   \
        if (unit_ % (PATCH_COLUMNS / 2) < PATCH_X / 2)                                                             \
            for (int column = unit_ % (PATCH_COLUMNS / 2), row = unit_ / (PATCH_COLUMNS / 2), last_ = row;         \
                 row == last_; row++)
/* Written so that compilers see which loads are the same. */
#define NEAR(array, dx, dy) (array + base_)[(row_ + (dy)) * PATCH_COLUMNS + (dx)]
#define COARSE_ROW(row) (unit_ / PATCH_COLUMNS * 2 + ((row_ - 2) >> 1))
#define ROW_IS_BETWEEN(row) ((row_ & 1) != 0)
#endif
