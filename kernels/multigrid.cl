/* multigrid.cl: one V-cycle of geometric multigrid for the matrix of lib/stencil.h, as a preconditioner of conjugate
 * gradients: damped Jacobi (two sweeps down from zero, two sweeps up: symmetric), bilinear interpolation, its transpose
 * as restriction, Galerkin matrices on the coarser grids (nine points, stored), a dense inverse on the coarsest
 * (src/numerics/multigrid.c prepares them).
 *
 * A program is built for every level. A grid may be cut into several boxes, at multiples of STEP, so that node (i, j)
 * of a box is node (STEP i, STEP j) of the box of the finer grid; the border is known from the place in the whole grid.
 *   FINEST                 the matrix is a stencil; else it is stored in A: ten components, diagonal, entries to W, E,
 *                          S, N, SW, SE, NW, NE, damping over the diagonal; all zero where there is no unknown
 *   COARSEST               the level has the dense inverse
 *   STEP_X, STEP_Y         2 where the next coarser grid has every other node, 1 where it has all of them
 *   LAST_X, LAST_Y         weight of the last coarse node for the fine node beyond it, where there is one
 *   COARSE_..., FINER_...  size and layout of the next coarser and of the next finer grid
 *   SEPARATE               the residual of this level is a field of its own (FINER_SEPARATE: of the next finer level).
 *                          Boxes without ghost cells exchange it: to restrict it as it is computed takes wider halos
 *   FUSED                  mg_correct_smooth takes the place of mg_correct
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
#define MATRIX_ARGUMENTS global const real *restrict A
#define UNKNOWNS MATRIX_ARGUMENTS
#define UNKNOWN(at) (A[at] != 0)
#define WEIGHT(at) A[(at) + 9 * PLANE]
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

#if SEPARATE
/* y = b - A x. */
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
#endif

#if !COARSEST
/* Weight of the coarse node below fine node i when there is none above. */
#define ALONE(i, step, last) ((step) == 2 && ((i)&1) ? (last) : REAL(1.0))

/* (P e) at a node: the coarse correction, bilinear; e is zero where there is no unknown. */
static inline real interpolated(global const real *e, int i, int j)
{
    const index_t from = COARSE_FIRST + (index_t)parent_below(j, STEP_Y) * COARSE_PITCH + parent_below(i, STEP_X);
    const int above_x = has_above(X0 + i, STEP_X, COARSE_NX), above_y = has_above(Y0 + j, STEP_Y, COARSE_NY);
    const real alone_x = ALONE(i, STEP_X, LAST_X), alone_y = ALONE(j, STEP_Y, LAST_Y);
    const real e00 = e[from], e10 = e[from + 1], e01 = e[from + COARSE_PITCH], e11 = e[from + COARSE_PITCH + 1];
    const real low = above_x ? REAL(0.5) * (e00 + e10) : alone_x * e00;
    const real high = above_x ? REAL(0.5) * (e01 + e11) : alone_x * e01;
    return above_y ? REAL(0.5) * (low + high) : alone_y * low;
}

#if FUSED
/* x + P e; beyond the grid, where it does not count, 0. */
static inline real corrected(global const real *e, global const real *x, int i, int j)
{
    return i < 0 || j < 0 || i >= NX || j >= NY ? 0 : x[AT(i, j)] + interpolated(e, i, j);
}

/* mg_correct and the first mg_smooth in one, on a grid in one box whose launches cost more than its arithmetic: each
 * work-item recomputes the correction at the neighbours. */
kernel void mg_correct_smooth(MATRIX_ARGUMENTS, global const real *restrict b, global const real *restrict e,
                              global const real *restrict x, global real *restrict y)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    real value = 0;
    if (UNKNOWN(at)) {
        const real here = corrected(e, x, i, j);
#define VALUE(dx, dy) corrected(e, x, i + (dx), j + (dy))
        MATRIX_PRODUCT(product, here, VALUE)
#undef VALUE
        value = here + WEIGHT(at) * (b[at] - product);
    }
    y[at] = value;
}
#else
/* x += P e. */
kernel void mg_correct(UNKNOWNS, global const real *restrict e, global real *restrict x, int ghosts)
{
    CELL_AND_GHOSTS(i, j, ghosts);
    const index_t at = AT(i, j);
    if (UNKNOWN(at))
        x[at] = x[at] + interpolated(e, i, j);
}
#endif
#endif

#if !FINEST
/* Share of fine node `fine` that goes to coarse node `coarse`: the transpose of mg_correct. */
static inline real share(int fine, int coarse, int step, int n, real last)
{
    if (fine == step * coarse)
        return 1;
    return fine > step * coarse && !has_above(fine, step, n) ? last : REAL(0.5);
}

#if FINER_FINEST
#define FINER_ARGUMENTS STENCIL_ARGUMENTS
#define FINER_UNKNOWN (stencil[at] != 0)
#define FINER_PRODUCT STENCIL_PRODUCT(product, (int)stencil[at], finer_x[at], FINER_X)
#else
#define FINER_ARGUMENTS global const real *restrict finer_A
#define FINER_UNKNOWN (finer_A[at] != 0)
#define FINER_PRODUCT STORED_PRODUCT(product, finer_A, at, FINER_PLANE, finer_x[at], FINER_X)
#endif
#define FINER_X(dx, dy) finer_x[at + (dx) + (index_t)(dy) * FINER_PITCH]

/* Right-hand side of this level: the residual b - A x of the next finer one, zero where that has no unknown,
 * restricted. */
kernel void mg_restrict(
#if FINER_SEPARATE
    global const real *restrict finer_y,
#else
    FINER_ARGUMENTS, global const real *restrict finer_b, global const real *restrict finer_x,
#endif
    global const real *restrict A, global real *restrict b)
{
    CELL(i, j);
    real total = 0;
    if (UNKNOWN(AT(i, j)))
        for (int dy = 1 - FINER_STEP_Y; dy < FINER_STEP_Y; dy++)
            for (int dx = 1 - FINER_STEP_X; dx < FINER_STEP_X; dx++) {
                const int fi = FINER_STEP_X * (X0 + i) + dx, fj = FINER_STEP_Y * (Y0 + j) + dy;
                if (fi < 0 || fj < 0 || fi >= FINER_NX || fj >= FINER_NY)
                    continue;
                const index_t at = FINER_FIRST + (index_t)(FINER_STEP_Y * j + dy) * FINER_PITCH + FINER_STEP_X * i + dx;
#if FINER_SEPARATE
                const real residual = finer_y[at];
#else
                if (!FINER_UNKNOWN)
                    continue;
                FINER_PRODUCT
                const real residual = finer_b[at] - product;
#endif
                const real weight = share(fj, Y0 + j, FINER_STEP_Y, GNY, FINER_LAST_Y) *
                                    share(fi, X0 + i, FINER_STEP_X, GNX, FINER_LAST_X);
                total = total + weight * residual;
            }
    b[AT(i, j)] = total;
}
#endif

#if COARSEST
/* x = inverse b; inverse: NX NY rows and columns, symmetric. */
kernel void mg_dense(global const real *restrict inverse, global const real *restrict b, global real *restrict x)
{
    CELL(i, j);
    real sum = 0;
    for (int k = 0; k < NX * NY; k++)
        sum = sum + inverse[k * (NX * NY) + j * NX + i] * b[AT(k % NX, k / NX)];
    x[AT(i, j)] = sum;
}
#endif
