/* multigrid.cl: one V-cycle of geometric multigrid for the matrix of lib/stencil.h, as a preconditioner of conjugate
 * gradients: damped Jacobi (two sweeps down from zero, two sweeps up: symmetric), bilinear interpolation, its transpose
 * as restriction, Galerkin matrices on the coarser grids (nine points, stored), a dense inverse on the coarsest
 * (src/numerics/multigrid.c prepares them).
 *
 * The finest grid has a program of its own, with its sizes injected. All coarser grids, of any size, share one, whose
 * sizes are arguments (BN_SIZES): their launches cost more than their arithmetic, and each program takes a compiler
 * longer than all cycles of a short run. A grid may be cut into several boxes, at multiples of the step, so that node
 * (i, j) of a box is node (step i, step j) of the box of the finer grid; the border is known from the place in the
 * whole grid.
 *   FINEST                 the matrix is a stencil; else it is stored in A: ten components, diagonal, entries to W, E,
 *                          S, N, SW, SE, NW, NE, damping over the diagonal; all zero where there is no unknown
 *   coarser, finer         sizes of the next coarser and of the next finer grid
 *   step_x, step_y         between the two: 2 where the coarser one has every other node, 1 where it has all of them
 *   last_x, last_y         weight of the last coarse node for the fine node beyond it, where there is one
 *   ghosts                 ghost cells that are computed along with the box (lib/index.h) */

/* real sum = (A v) for a stored matrix; neighbours with an entry of zero are not read. */
#define STORED_PRODUCT(sum, A, at, plane, here, v)                              \
    real sum = A[at] * (here);                                                  \
    STORED_ENTRY(sum, A, at, plane, 1, v, -1, 0)                                \
    STORED_ENTRY(sum, A, at, plane, 2, v, 1, 0)                                 \
    STORED_ENTRY(sum, A, at, plane, 3, v, 0, -1)                                \
    STORED_ENTRY(sum, A, at, plane, 4, v, 0, 1)                                 \
    STORED_ENTRY(sum, A, at, plane, 5, v, -1, -1)                               \
    STORED_ENTRY(sum, A, at, plane, 6, v, 1, -1)                                \
    STORED_ENTRY(sum, A, at, plane, 7, v, -1, 1)                                \
    STORED_ENTRY(sum, A, at, plane, 8, v, 1, 1)
#define STORED_ENTRY(sum, A, at, plane, c, v, dx, dy)                           \
    if (A[(at) + (index_t)(c) * (plane)] != 0)                                  \
        sum = sum + A[(at) + (index_t)(c) * (plane)] * v(dx, dy);

#if FINEST
#define MATRIX_ARGUMENTS STENCIL_ARGUMENTS
#define UNKNOWNS global const uchar *restrict stencil
#define UNKNOWN(at) (stencil[at] != 0)
#define WEIGHT(at) diagonal[16 + (stencil[at] & 15)]
#define MATRIX_PRODUCT(sum, here, v) STENCIL_PRODUCT(sum, (int)stencil[at], here, v)
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
#define MATRIX_ARGUMENTS const int16 own, global const real *restrict A
#define UNKNOWNS MATRIX_ARGUMENTS
#define UNKNOWN(at) (A[at] != 0)
#define WEIGHT(at) A[(at) + 9 * (index_t)PLANE]
#define MATRIX_PRODUCT(sum, here, v) STORED_PRODUCT(sum, A, at, PLANE, here, v)
#endif

/* Along one dimension: the coarse node below fine node i, and whether there is another one above it. */
#define parent_below(i, step) ((step) == 2 ? (i) >> 1 : (i))
static inline int has_above(int i, int step, int coarse_n) { return step == 2 && (i & 1) && (i >> 1) + 1 < coarse_n; }

/* Two sweeps of damped Jacobi from zero: x1 = W b, x = x1 + W (b - A x1). */
kernel void mg_start(MATRIX_ARGUMENTS, global const real *restrict b, global real *restrict x, int ghosts)
{
    CELL_AND_GHOSTS(i, j, ghosts);
    const index_t at = AT(i, j);
    real value = 0;
    if (UNKNOWN(at)) {
#define VALUE(dx, dy) (WEIGHT(AROUND(dx, dy)) * b[AROUND(dx, dy)])
        const real first = VALUE(0, 0);
        MATRIX_PRODUCT(product, first, VALUE)
#undef VALUE
        value = first + WEIGHT(at) * (b[at] - product);
    }
    x[at] = value;
}

/* real name = b - A x, at one unknown. */
#define X_AROUND(dx, dy) x[AROUND(dx, dy)]
#define RESIDUAL(name)                        \
    MATRIX_PRODUCT(product_, x[at], X_AROUND) \
    const real name = b[at] - product_;

/* One sweep: y = x + W (b - A x). */
kernel void mg_smooth(MATRIX_ARGUMENTS, global const real *restrict b, global const real *restrict x,
                      global real *restrict y, int ghosts)
{
    CELL_AND_GHOSTS(i, j, ghosts);
    const index_t at = AT(i, j);
    real value = 0;
    if (UNKNOWN(at)) {
        RESIDUAL(residual)
        value = x[at] + WEIGHT(at) * residual;
    }
    y[at] = value;
}

/* y = b - A x: where boxes have no ghost cells they exchange it. To restrict it as it is computed takes wider halos. */
kernel void mg_residual(MATRIX_ARGUMENTS, global const real *restrict b, global const real *restrict x,
                        global real *restrict y)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    real value = 0;
    if (UNKNOWN(at)) {
        RESIDUAL(residual)
        value = residual;
    }
    y[at] = value;
}

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

/* mg_correct and the first mg_smooth in one, on a grid in one box whose launches cost more than its arithmetic: each
 * work-item recomputes the correction at the neighbours. */
kernel void mg_correct_smooth(MATRIX_ARGUMENTS, global const real *restrict b, global const real *restrict e,
                              const int16 coarser, BETWEEN_GRIDS, global const real *restrict x,
                              global real *restrict y)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    real value = 0;
    if (UNKNOWN(at)) {
        /* beyond the grid, where it does not count, 0 */
#define VALUE(dx, dy)                                                                                     \
    (i + (dx) < 0 || j + (dy) < 0 || i + (dx) >= NX || j + (dy) >= NY                                     \
         ? 0                                                                                              \
         : x[AROUND(dx, dy)] + interpolated(e, coarser, step_x, step_y, last_x, last_y, i + (dx), j + (dy)))
        const real here = VALUE(0, 0);
        MATRIX_PRODUCT(product, here, VALUE)
#undef VALUE
        value = here + WEIGHT(at) * (b[at] - product);
    }
    y[at] = value;
}

/* x += P e. */
kernel void mg_correct(UNKNOWNS, global const real *restrict e, const int16 coarser, BETWEEN_GRIDS,
                       global real *restrict x, int ghosts)
{
    CELL_AND_GHOSTS(i, j, ghosts);
    const index_t at = AT(i, j);
    if (UNKNOWN(at))
        x[at] = x[at] + interpolated(e, coarser, step_x, step_y, last_x, last_y, i, j);
}

#if !FINEST
/* Share of fine node `fine` that goes to coarse node `coarse`: the transpose of mg_correct. */
static inline real share(int fine, int coarse, int step, int n, real last)
{
    if (fine == step * coarse)
        return 1;
    return fine > step * coarse && !has_above(fine, step, n) ? last : REAL(0.5);
}

/* Where mg_restrict has the residual of the next finer grid from: b - A x of a stencil, of a stored matrix, or itself,
 * which is zero where there is no unknown. */
#define OF_STENCIL 0
#define OF_STORED 1
#define OF_RESIDUAL 2
#define FINER_X(dx, dy) x[at + (dx) + (index_t)(dy) * finer.SIZES_PITCH]

/* The finer grid's residual around coarse node (i, j) of the box, restricted. */
static inline real restricted(int from, global const uchar *stencil, global const real *diagonal, real kx, real ky,
                              global const real *A, global const real *b, global const real *x, const int16 finer,
                              const int16 own, BETWEEN_GRIDS, int i, int j)
{
    real total = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            const int fi = step_x * (X0 + i) + dx, fj = step_y * (Y0 + j) + dy;
            if ((step_x == 1 && dx != 0) || (step_y == 1 && dy != 0) || fi < 0 || fj < 0 || fi >= finer.SIZES_GNX ||
                fj >= finer.SIZES_GNY)
                continue;
            const index_t at = finer.SIZES_FIRST + (index_t)(step_y * j + dy) * finer.SIZES_PITCH + step_x * i + dx;
            real residual = b[at];
            if (from == OF_STENCIL) {
                if (stencil[at] == 0)
                    continue;
                STENCIL_PRODUCT(product, (int)stencil[at], x[at], FINER_X)
                residual = residual - product;
            } else if (from == OF_STORED) {
                if (A[at] == 0)
                    continue;
                STORED_PRODUCT(product, A, at, SIZES_PLANE(finer), x[at], FINER_X)
                residual = residual - product;
            }
            const real weight = share(fj, Y0 + j, step_y, GNY, last_y) * share(fi, X0 + i, step_x, GNX, last_x);
            total = total + weight * residual;
        }
    return total;
}

/* Right-hand side of this grid: the residual b - A x of the next finer one, zero where that has no unknown, restricted.
 * First, if that is the finest. */
kernel void mg_restrict_first(MATRIX_ARGUMENTS, const int16 finer, BETWEEN_GRIDS, STENCIL_ARGUMENTS,
                              global const real *restrict finer_b, global const real *restrict finer_x,
                              global real *restrict b)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    b[at] = UNKNOWN(at) ? restricted(OF_STENCIL, stencil, diagonal, kx, ky, 0, finer_b, finer_x, finer, own, step_x,
                                     step_y, last_x, last_y, i, j)
                        : 0;
}

kernel void mg_restrict(MATRIX_ARGUMENTS, const int16 finer, BETWEEN_GRIDS, global const real *restrict finer_A,
                        global const real *restrict finer_b, global const real *restrict finer_x,
                        global real *restrict b)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    b[at] = UNKNOWN(at) ? restricted(OF_STORED, 0, 0, 0, 0, finer_A, finer_b, finer_x, finer, own, step_x, step_y,
                                     last_x, last_y, i, j)
                        : 0;
}

/* Where it is a field of its own. */
kernel void mg_restrict_residual(MATRIX_ARGUMENTS, const int16 finer, BETWEEN_GRIDS,
                                 global const real *restrict finer_y, global real *restrict b)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    b[at] = UNKNOWN(at) ? restricted(OF_RESIDUAL, 0, 0, 0, 0, 0, finer_y, 0, finer, own, step_x, step_y, last_x,
                                     last_y, i, j)
                        : 0;
}

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
