/* multigrid.cl: one V-cycle of geometric multigrid for the matrix of lib/stencil.h, as a preconditioner of conjugate
 * gradients: damped Jacobi (two sweeps down from zero, two sweeps up: symmetric), bilinear interpolation, its transpose
 * as restriction, Galerkin matrices on the coarser grids (nine points, stored), a dense inverse on the coarsest
 * (src/numerics/multigrid.c prepares them).
 *
 * A grid takes two launches: mg_down goes from its right-hand side to that of the next coarser grid, mg_up from the
 * coarser grid's correction to its own. What lies between stays in local memory, and the sweeps down are done again on
 * the way up, which costs less than to store their result.
 *
 * The finest grid has a program of its own, with its sizes injected. All coarser grids, of any size, share one, whose
 * sizes are arguments (BN_SIZES): their launches cost more than their arithmetic, and each program takes a compiler
 * longer than all cycles of a short run. A grid may be cut into several boxes, at multiples of the step, so that node
 * (i, j) of a box is node (step i, step j) of the box of the finer grid; the border is known from the place in the
 * whole grid.
 *   FINEST                 the matrix is a stencil, whose bits are the kinds of nodes; else
 *   kind                   0: no unknown; 1: the row is `same`, as far from sides and obstacles; 2: it is stored in A
 *   same, A                ten components: diagonal, entries to W, E, S, N, SW, SE, NW, NE, damping over the diagonal
 *   coarser, finer         sizes of the next coarser and of the next finer grid
 *   step_x, step_y         between the two: 2 where the coarser one has every other node, 1 where it has all of them
 *   last_x, last_y         weight of the last coarse node for the fine node beyond it, where there is one */

/* real sum = (A v) for a stored matrix: all entries are loaded at once; what stands beside an entry of zero does not
 * count. */
#define STORED_PRODUCT(sum, A, at, plane, here, v)                                                              \
    real sum;                                                                                                   \
    {                                                                                                           \
        const real c0_ = A[at], w_ = A[(at) + (plane)], e_ = A[(at) + 2 * (index_t)(plane)],                    \
                   s_ = A[(at) + 3 * (index_t)(plane)], n_ = A[(at) + 4 * (index_t)(plane)],                    \
                   sw_ = A[(at) + 5 * (index_t)(plane)], se_ = A[(at) + 6 * (index_t)(plane)],                  \
                   nw_ = A[(at) + 7 * (index_t)(plane)], ne_ = A[(at) + 8 * (index_t)(plane)];                  \
        sum = c0_ * (here);                                                                                     \
        sum = w_ != 0 ? sum + w_ * v(-1, 0) : sum;                                                              \
        sum = e_ != 0 ? sum + e_ * v(1, 0) : sum;                                                               \
        sum = s_ != 0 ? sum + s_ * v(0, -1) : sum;                                                              \
        sum = n_ != 0 ? sum + n_ * v(0, 1) : sum;                                                               \
        sum = sw_ != 0 ? sum + sw_ * v(-1, -1) : sum;                                                           \
        sum = se_ != 0 ? sum + se_ * v(1, -1) : sum;                                                            \
        sum = nw_ != 0 ? sum + nw_ * v(-1, 1) : sum;                                                            \
        sum = ne_ != 0 ? sum + ne_ * v(1, 1) : sum;                                                             \
    }

#if FINEST
#define MATRIX_ARGUMENTS global const uchar *restrict kind, global const real *restrict diagonal, real kx, real ky
#define SAME 255 /* all cells belong to the domain, all neighbours are unknowns */
/* For a node of kind n, at `at`. */
#define WEIGHT(n, at) diagonal[16 + ((n) & 15)]
#define OWN_PRODUCT(sum, n, here, v) STENCIL_PRODUCT(sum, n, here, v)
/* The row of nodes of kind SAME, and its product. */
#define SAME_ROW                                                                             \
    const real same_0 = diagonal[15], same_x = stencil_face(kx, SAME, 0, 2),                 \
               same_y = stencil_face(ky, SAME, 0, 1), same_weight = diagonal[31];
#define SAME_PRODUCT(sum, here, v)    \
    real sum = same_0 * (here);       \
    sum = sum - same_x * v(-1, 0);    \
    sum = sum - same_x * v(1, 0);     \
    sum = sum - same_y * v(0, -1);    \
    sum = sum - same_y * v(0, 1);
#else
#undef NX
#undef NY
#undef GNX
#undef GNY
#undef X0
#undef Y0
#undef PITCH
#undef PLANE
#undef FIRST
#define NX own.SIZES_NX
#define NY own.SIZES_NY
#define GNX own.SIZES_GNX
#define GNY own.SIZES_GNY
#define X0 own.SIZES_X0
#define Y0 own.SIZES_Y0
#define PITCH own.SIZES_PITCH
#define PLANE SIZES_PLANE(own)
#define FIRST own.SIZES_FIRST
#define MATRIX_ARGUMENTS                                                                                           \
    const int16 own, global const uchar *restrict kind, global const real *restrict A, global const real *restrict same
#define SAME 1
#define WEIGHT(n, at) A[(at) + 9 * (index_t)PLANE]
#define OWN_PRODUCT(sum, n, here, v) STORED_PRODUCT(sum, A, at, PLANE, here, v)
#define SAME_ROW                                                                                      \
    const real same_0 = same[0], same_w = same[1], same_e = same[2], same_s = same[3], same_n = same[4], \
               same_sw = same[5], same_se = same[6], same_nw = same[7], same_ne = same[8], same_weight = same[9];
#define SAME_PRODUCT(sum, here, v)     \
    real sum = same_0 * (here);        \
    sum = sum + same_w * v(-1, 0);     \
    sum = sum + same_e * v(1, 0);      \
    sum = sum + same_s * v(0, -1);     \
    sum = sum + same_n * v(0, 1);      \
    sum = sum + same_sw * v(-1, -1);   \
    sum = sum + same_se * v(1, -1);    \
    sum = sum + same_nw * v(-1, 1);    \
    sum = sum + same_ne * v(1, 1);
#endif

/* Along one dimension: the coarse node below fine node i, and whether there is another one above it. */
#define parent_below(i, step) ((step) == 2 ? (i) >> 1 : (i))
static inline int has_above(int i, int step, int coarse_n) { return step == 2 && (i & 1) && (i >> 1) + 1 < coarse_n; }

/* Weight of the coarse node below fine node i when there is none above. */
#define ALONE(i, step, last) ((step) == 2 && ((i)&1) ? (last) : REAL(1.0))

#define BETWEEN_GRIDS int step_x, int step_y, real last_x, real last_y

/* (P e) at node (i, j) of the box: the coarse correction, bilinear; e is zero where there is no unknown. */
static inline real interpolated(global const real *e, const int16 coarser, BETWEEN_GRIDS, int i, int j)
{
    const index_t pitch = coarser.SIZES_PITCH,
                  from = coarser.SIZES_FIRST + parent_below(j, step_y) * pitch + parent_below(i, step_x);
    const int above_x = has_above(step_x * coarser.SIZES_X0 + i, step_x, coarser.SIZES_GNX),
              above_y = has_above(step_y * coarser.SIZES_Y0 + j, step_y, coarser.SIZES_GNY);
    const real alone_x = ALONE(i, step_x, last_x), alone_y = ALONE(j, step_y, last_y);
    const real e00 = e[from], e10 = e[from + 1], e01 = e[from + pitch], e11 = e[from + pitch + 1];
    const real low = above_x ? REAL(0.5) * (e00 + e10) : alone_x * e00;
    const real high = above_x ? REAL(0.5) * (e01 + e11) : alone_x * e01;
    return above_y ? REAL(0.5) * (low + high) : alone_y * low;
}

/* Share of fine node `fine` that goes to coarse node `coarse`: the transpose of interpolation. */
static inline real share(int fine, int coarse, int step, int n, real last)
{
    if (fine == step * coarse)
        return 1;
    return fine > step * coarse && !has_above(fine, step, n) ? last : REAL(0.5);
}

/* real total: the finer grid's residual r(dx, dy) around coarse node (ci, cj) of the whole grid, restricted; it is zero
 * where there is no unknown. */
#define RESTRICTED(total, r, ci, cj, coarse_nx, coarse_ny, fine_nx, fine_ny)                                      \
    real total = 0;                                                                                               \
    for (int dy_ = 1 - step_y; dy_ < step_y; dy_++)                                                               \
        for (int dx_ = 1 - step_x; dx_ < step_x; dx_++) {                                                         \
            const int fi_ = step_x * (ci) + dx_, fj_ = step_y * (cj) + dy_;                                       \
            if (fi_ < 0 || fj_ < 0 || fi_ >= (fine_nx) || fj_ >= (fine_ny))                                       \
                continue;                                                                                         \
            const real weight_y_ = share(fj_, cj, step_y, coarse_ny, last_y),                                     \
                       weight_x_ = share(fi_, ci, step_x, coarse_nx, last_x);                                     \
            total = total + weight_y_ * weight_x_ * r(dx_, dy_);                                                  \
        }

/* ---------------------------------------------------------------------------------------------------------- patches
 * mg_down and mg_up work on patches (lib/patch.h; src/numerics/multigrid.c has the same sizes): low ones where a grid
 * has few of them. */

/* Where a patch lies in its box, which nodes can be read there, and whether all of the patch can. */
#define PATCH_PLACE                                                                                                \
    const int patch_i = (int)get_group_id(0) * PATCH_X + (int)get_global_offset(0) - X0 - PATCH_MARGIN,            \
              patch_j = (int)get_group_id(1) * (rows - 2 * PATCH_MARGIN) + (int)get_global_offset(1) - Y0 -        \
                        PATCH_MARGIN,                                                                              \
              begin_i = max(-X0, -PATCH_MARGIN), begin_j = max(-Y0, -PATCH_MARGIN),                                \
              end_i = min(GNX - X0, NX + PATCH_MARGIN), end_j = min(GNY - Y0, NY + PATCH_MARGIN),                  \
              inside = patch_i >= begin_i && patch_i + PATCH_COLUMNS <= end_i && patch_j >= begin_j &&             \
                       patch_j + rows <= end_j;

/* B = b, V = W b, the first sweep from zero. special: whether not all nodes are of kind SAME; then, and on CPUs, K are
 * the kinds, 0 beyond the grid, and B is zero where there is no unknown. */
#define LOAD_PATCH                                                                                                 \
    if (get_local_id(0) == 0)                                                                                      \
        special = !inside;                                                                                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
    if (!KINDS_ARE_KEPT && inside) {                                                                               \
        int others = 0;                                                                                            \
        FOR_PATCH(column, row, 0, UNROLLED, from_) {                                                               \
            const index_t at = AT(patch_i + column, patch_j + row);                                                \
            const real right = b[at];                                                                              \
            others |= kind[at] ^ SAME;                                                                             \
            NEAR(B, 0, 0) = right;                                                                                 \
            NEAR(V, 0, 0) = same_weight * right;                                                                   \
        }                                                                                                          \
        if (others)                                                                                                \
            atomic_or(&special, 1);                                                                                \
    }                                                                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
    if (KINDS_ARE_KEPT || special)                                                                                 \
        FOR_PATCH(column, row, 0, UNROLLED, END_OF_READABLE) {                                                     \
            const int i_wanted = patch_i + (int)column, j_wanted = patch_j + (int)row,                             \
                      i = IS_ALIKE ? i_wanted : clamp(i_wanted, begin_i, end_i - 1),                               \
                      j = IS_ALIKE ? j_wanted : clamp(j_wanted, begin_j, end_j - 1);                               \
            const index_t at = AT(i, j);                                                                           \
            const int there = kind[at], n = i == i_wanted && j == j_wanted ? there : 0;                            \
            const real right = b[at], weight = WEIGHT(n, at);                                                      \
            NEAR(K, 0, 0) = (uchar)n;                                                                              \
            NEAR(B, 0, 0) = n ? right : 0;                                                                         \
            NEAR(V, 0, 0) = n ? weight * right : 0;                                                                \
        }                                                                                                          \
    barrier(CLK_LOCAL_MEM_FENCE)
/* Of a row of the patch, from from_ on: where what can be read ends. */
#define END_OF_READABLE                                                                                            \
    (patch_j + row >= begin_j && patch_j + row < end_j && patch_i + from_ >= begin_i                               \
         ? max(from_, min((long)(end_i - patch_i), end_))                                                          \
         : from_)

/* What becomes of value, residual and damping over the diagonal at each node, `left` of them from the margin's end,
 * from the values v(dx, dy): put_same where all nodes of the patch, or around, are of kind SAME; else put, of zeros
 * where there is no unknown. */
#define FOR_RESIDUALS(v, left, put_same, put)                                                                      \
    if (KINDS_ARE_KEPT || special) {                                                                               \
        FOR_PATCH(column, row, left, ROLLED, END_OF_KIND(K, SAME)) {                                               \
            const real here = v(0, 0);                                                                             \
            if (IS_ALIKE) {                                                                                        \
                SAME_RESIDUAL(v)                                                                                   \
                put_same;                                                                                          \
            } else {                                                                                               \
                const int n = NEAR(K, 0, 0), i = patch_i + (int)column, j = patch_j + (int)row;                    \
                const index_t at = AT(i, j);                                                                       \
                real residual = 0, weight = 0;                                                                     \
                (void)weight, (void)at;                                                                            \
                if (!KINDS_ARE_KEPT && n == SAME) {                                                                \
                    SAME_PRODUCT(product, here, v)                                                                 \
                    residual = NEAR(B, 0, 0) - product;                                                            \
                    weight = same_weight;                                                                          \
                } else if (n) {                                                                                    \
                    OWN_PRODUCT(product, n, here, v)                                                               \
                    residual = NEAR(B, 0, 0) - product;                                                            \
                    weight = WEIGHT(n, at);                                                                        \
                }                                                                                                  \
                put;                                                                                               \
            }                                                                                                      \
        }                                                                                                          \
    } else {                                                                                                       \
        FOR_PATCH(column, row, left, UNROLLED, from_) {                                                            \
            const real here = v(0, 0);                                                                             \
            SAME_RESIDUAL(v)                                                                                       \
            put_same;                                                                                              \
        }                                                                                                          \
    }
#define SAME_RESIDUAL(v)                                                                                           \
    const real weight = same_weight;                                                                               \
    (void)weight;                                                                                                  \
    SAME_PRODUCT(product, here, v)                                                                                 \
    const real residual = NEAR(B, 0, 0) - product;

#define OF_V(dx, dy) NEAR(V, dx, dy)
#define OF_S(dx, dy) NEAR(S, dx, dy)
#define SWEPT (here + weight * residual)

/* Of a row of coarse nodes, from from_ on: where those end that have two steps to the next one on all sides. */
#define END_OF_EVEN                                                                                                \
    (step_x == 2 && step_y == 2 && IS_EVEN(row, patch_j, SIZES_Y0, SIZES_NY, SIZES_GNY) &&                         \
             IS_EVEN(from_, patch_i, SIZES_X0, SIZES_NX, SIZES_GNX)                                                \
         ? min(end_, min(coarser.SIZES_GNX - 1 - coarser.SIZES_X0, coarser.SIZES_NX) -                             \
                         (long)((patch_i + PATCH_MARGIN) / 2))                                                     \
         : from_)
#define IS_EVEN(at, patch, x0, nx, gnx)                                                                            \
    ((at) + (patch + PATCH_MARGIN) / 2 < coarser.nx && (at) + (patch + PATCH_MARGIN) / 2 + coarser.x0 >= 1 &&      \
     (at) + (patch + PATCH_MARGIN) / 2 + coarser.x0 <= coarser.gnx - 2)

/* From the right-hand side of this grid to that of the next coarser one: two sweeps of damped Jacobi from zero,
 * x1 = W b, x = x1 + W (b - A x1); the residual b - A x; restricted. */
kernel void mg_down(MATRIX_ARGUMENTS, global const real *restrict b, int rows, const int16 coarser, BETWEEN_GRIDS,
                    global const uchar *restrict coarser_kind, global real *restrict coarser_b)
{
    local real B[PATCH_NODES], V[PATCH_NODES], S[PATCH_NODES];
    local uchar K[PATCH_NODES];
    local int special;
    SAME_ROW
    PATCH_PLACE
    LOAD_PATCH;
    FOR_RESIDUALS(OF_V, 1, NEAR(S, 0, 0) = SWEPT, NEAR(S, 0, 0) = SWEPT)
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_RESIDUALS(OF_S, 2, NEAR(V, 0, 0) = residual, NEAR(V, 0, 0) = residual)
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_COARSE(column, row, END_OF_EVEN) {
        const int j = (patch_j + PATCH_MARGIN) / step_y + (int)row;
        const index_t i = (patch_i + PATCH_MARGIN) / step_x + column,
                      c = (step_y * j - patch_j) * PATCH_COLUMNS + step_x * i - patch_i;
        const index_t to = coarser.SIZES_FIRST + (index_t)j * coarser.SIZES_PITCH + i;
        const int wanted = IS_ALIKE || (i < coarser.SIZES_NX && j < coarser.SIZES_NY);
        real value = 0;
#define FINER(dx, dy) V[c + (dx) + (dy)*PATCH_COLUMNS]
        if (IS_ALIKE | (!KINDS_ARE_KEPT & !special)) {
            value = value + REAL(0.25) * FINER(-1, -1);
            value = value + REAL(0.5) * FINER(0, -1);
            value = value + REAL(0.25) * FINER(1, -1);
            value = value + REAL(0.5) * FINER(-1, 0);
            value = value + FINER(0, 0);
            value = value + REAL(0.5) * FINER(1, 0);
            value = value + REAL(0.25) * FINER(-1, 1);
            value = value + REAL(0.5) * FINER(0, 1);
            value = value + REAL(0.25) * FINER(1, 1);
            value = KINDS_ARE_KEPT && coarser_kind[to] == 0 ? 0 : value;
        } else if (wanted && coarser_kind[to] != 0) {
            RESTRICTED(total, FINER, coarser.SIZES_X0 + (int)i, coarser.SIZES_Y0 + j, coarser.SIZES_GNX,
                       coarser.SIZES_GNY, GNX, GNY)
            value = total;
        }
#undef FINER
        if (wanted)
            coarser_b[to] = value;
    }
}

/* The second sweep and the correction: among nodes of one kind the coarse nodes around are all there. */
#define CORRECTED_SAME                                                                                             \
    const index_t from = COARSE_ROW(row) * pitch + ((column - PATCH_MARGIN) >> 1);                                 \
    const int between = (column & 1) == 0;                                                                         \
    const real e00 = first_e[from], e10 = first_e[from + 1];                                                       \
    real correction = between ? REAL(0.5) * (e00 + e10) : e00;                                                     \
    if (ROW_IS_BETWEEN(row)) {                                                                                     \
        const real e01 = first_e[from + pitch], e11 = first_e[from + pitch + 1];                                   \
        correction = REAL(0.5) * (correction + (between ? REAL(0.5) * (e01 + e11) : e01));                         \
    }                                                                                                              \
    NEAR(S, 0, 0) = SWEPT + correction
#define CORRECTED                                                                                                  \
    NEAR(S, 0, 0) = n ? SWEPT + interpolated(e, coarser, step_x, step_y, last_x, last_y, i, j) : 0
#define WRITTEN_SAME                                                                                               \
    if (patch_i + column < NX && patch_j + row < NY)                                                               \
    x[AT(patch_i + column, patch_j + row)] = SWEPT
#define WRITTEN                                                                                                    \
    if (i < NX && j < NY)                                                                                          \
    x[at] = SWEPT

/* From the right-hand side of this grid and the coarser one's correction e to its own: two sweeps from zero again, x +=
 * P e, two sweeps. */
kernel void mg_up(MATRIX_ARGUMENTS, global const real *restrict b, int rows, global const real *restrict e,
                  const int16 coarser, BETWEEN_GRIDS, global real *restrict x)
{
    local real B[PATCH_NODES], V[PATCH_NODES], S[PATCH_NODES];
    local uchar K[PATCH_NODES];
    local int special;
    SAME_ROW
    PATCH_PLACE
    const index_t pitch = coarser.SIZES_PITCH;
    global const real *first_e = e + (coarser.SIZES_FIRST + ((patch_j + PATCH_MARGIN) >> 1) * pitch +
                                      ((patch_i + PATCH_MARGIN) >> 1));
    LOAD_PATCH;
    FOR_RESIDUALS(OF_V, 1, CORRECTED_SAME, CORRECTED)
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_RESIDUALS(OF_S, 2, NEAR(V, 0, 0) = SWEPT, NEAR(V, 0, 0) = SWEPT)
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_RESIDUALS(OF_V, PATCH_MARGIN, WRITTEN_SAME, WRITTEN)
}

#if !FINEST
/* x = inverse b; inverse: NX NY rows and columns, symmetric. */
kernel void mg_dense(const int16 own, global const real *restrict inverse, global const real *restrict b,
                     global real *restrict x)
{
    CELL(i, j);
    const int nodes = NX * NY, row = j * NX + i;
    index_t at = FIRST;
    int left = NX; /* nodes of the row */
    real sum = 0;
    UNROLLED_BY_8
    for (int k = 0; k < nodes; k++) {
        sum = sum + inverse[k * nodes + row] * b[at];
        left--;
        at += left > 0 ? 1 : PITCH - NX + 1;
        left = left > 0 ? left : NX;
    }
    x[AT(i, j)] = sum;
}
#endif
