/* cg_products.cl: conjugate gradients (Hestenes and Stiefel 1952) as they were written for the first programmable GPUs:
 * a kernel for each operation, alpha and beta in memory of the device, on a matrix stored by diagonals (DIA). The
 * matrix-vector product and the dot product have several variants (src/studies/cg_products.h).
 *
 * A has five components: the diagonal, then the entries to the west, east, south and north neighbour; offsets[c] is the
 * distance of component c from the diagonal in memory. An entry of zero means that the neighbour is no unknown (it may
 * not even exist: it is not read then). */

/* Scalars. */
#define RR 0 /* r.r */
#define ALPHA 1
#define BETA 2

/* x = 0, r = b, p = 0 */
kernel void cg_products_start(global const real *restrict b, global real *restrict x, global real *restrict r,
                              global real *restrict p)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    x[at] = 0;
    r[at] = b[at];
    p[at] = 0;
}

/* p = r + beta p */
kernel void cg_products_direction(global const real *restrict r, global real *restrict p, global const real *restrict s)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    p[at] = r[at] + s[BETA] * p[at];
}

#define SPMV_NAIVE 0 /* every work-item reads the offsets from global memory */
#define SPMV_LOCAL 1 /* a work-group shares them in local memory */
#define SPMV_IMAGE 2 /* and the vector is read as an image, through the texture cache */

#if SPMV == SPMV_IMAGE
#define VECTOR_ARGUMENT read_only image1d_buffer_t x
#if REAL_BYTES == 8
static inline real real_of(uint4 two, int which) { return as_double(which ? two.zw : two.xy); }
#define VECTOR(at) real_of(read_imageui(x, (int)((at) >> 1)), (int)((at)&1))
#else
#define VECTOR(at) read_imagef(x, (int)(at)).x
#endif
#else
#define VECTOR_ARGUMENT global const real *restrict x
#define VECTOR(at) x[at]
#endif

/* y = A x */
kernel void cg_products_spmv(global const real *restrict A, global const int *restrict offsets, VECTOR_ARGUMENT,
                             global real *restrict y)
{
    const int i = (int)get_global_id(0) - X0, j = (int)get_global_id(1) - Y0;
#if SPMV == SPMV_NAIVE
#define OFFSET(c) offsets[c]
#else
    local int shared_offsets[5];
    for (int c = (int)(get_local_id(1) * get_local_size(0) + get_local_id(0)); c < 5;
         c += (int)(get_local_size(0) * get_local_size(1)))
        shared_offsets[c] = offsets[c];
    barrier(CLK_LOCAL_MEM_FENCE);
#define OFFSET(c) shared_offsets[c]
#endif
    if (i < NX && j < NY) {
        const index_t at = AT(i, j);
        real dot = 0;
        for (int c = 0; c < 5; c++) {
            const real entry = A[at + (index_t)c * PLANE];
            if (entry != 0)
                dot = c == 0 ? entry * VECTOR(at) : dot + entry * VECTOR(at + OFFSET(c));
        }
        y[at] = dot;
    }
#undef OFFSET
}

#define DOT_NAIVE 0         /* a lane adds neighbouring cells; the tree adds neighbouring lanes, every other one idle */
#define DOT_COALESCED 1     /* neighbouring lanes add neighbouring cells */
#define DOT_CONVERGENT 2    /* the lanes that work in the tree are the first ones */
#define DOT_CONFLICT_FREE 3 /* the tree adds the upper half onto the lower: no two lanes in one memory bank */
#define DOT_UNROLLED 4      /* without a loop */
#define DOT_NORM 5          /* and r.r reads r once */

static inline void fold_dot(local acc *lanes)
{
#if DOT <= DOT_CONVERGENT
    for (int width = 1; width < LANES; width *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
#if DOT == DOT_CONVERGENT
        for (int l = (int)get_local_id(0) * 2 * width; l < LANES; l += (int)get_local_size(0) * 2 * width)
            lanes[l] += lanes[l + width];
#else
        FOR_LANES(l, LANES)
        if (l % (2 * width) == 0)
            lanes[l] += lanes[l + width];
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#elif DOT == DOT_CONFLICT_FREE
    fold_sum(lanes, LANES);
#else
#define STEP(width)                \
    barrier(CLK_LOCAL_MEM_FENCE);  \
    FOR_LANES(l, width)            \
    lanes[l] += lanes[l + (width)];
    STEP(128)
    STEP(64)
    STEP(32)
    STEP(16)
    STEP(8)
    STEP(4)
    STEP(2)
    STEP(1)
#undef STEP
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

/* The sum over one block of the products that `value` gives at `at`. */
#if DOT == DOT_NAIVE
/* Lane l: the cells 4 l ... 4 l + 3 of the block, counted row by row. */
#define BLOCK_DOT(value)                                                                                 \
    local acc lanes[LANES];                                                                              \
    FOR_LANES(lane, LANES) {                                                                             \
        acc sum = 0;                                                                                     \
        for (int c = lane * BLOCK_NY; c < (lane + 1) * BLOCK_NY; c++) {                          \
            const int i = block_first() + c % BLOCK_NX, j = block_top() + c / BLOCK_NX;                    \
            if (i < NX && j < NY) {                                                                      \
                const index_t at = AT(i, j);                                                             \
                sum += (value);                                                                          \
            }                                                                                            \
        }                                                                                                \
        lanes[lane] = sum;                                                                               \
    }
#else
#define BLOCK_DOT(value)             \
    local acc lanes[LANES];          \
    CLEAR_LANES(lanes);              \
    FOR_CELLS(1, i, j, lane) {       \
        const index_t at = AT(i, j); \
        lanes[lane] += (value);      \
    }
#endif

#define PUT_DOT                                           \
    fold_dot(lanes);                                      \
    if (get_local_id(0) == 0)                             \
        partials[partial_index()] = lanes[0];

kernel void cg_products_dot(global const real *restrict a, global const real *restrict b, global acc *restrict partials)
{
    BLOCK_DOT(a[at] * b[at])
    PUT_DOT
}

kernel void cg_products_norm(global const real *restrict a, global acc *restrict partials)
{
    BLOCK_DOT(a[at] * a[at])
    PUT_DOT
}

kernel void cg_products_alpha(global const acc *restrict totals, global real *restrict s)
{
    local acc scratch[FINISH_LANES];
    const acc pap = total_sum(totals, 0, scratch);
    if (get_local_id(0) == 0)
        s[ALPHA] = s[RR] / pap;
}

kernel void cg_products_beta(global const acc *restrict totals, global real *restrict s, int first)
{
    local acc scratch[FINISH_LANES];
    const acc rr = total_sum(totals, 0, scratch);
    if (get_local_id(0) != 0)
        return;
    s[BETA] = first ? 0 : rr / s[RR];
    s[RR] = rr;
}

/* y = y + sign alpha x */
kernel void cg_products_axpy(global const real *restrict x, global real *restrict y, global const real *restrict s,
                             real sign)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    y[at] = y[at] + (sign * s[ALPHA]) * x[at];
}
