/* cg.cl: conjugate gradients (Hestenes and Stiefel 1952) on a five-point matrix, in two kernels per iteration, with or
 * without a preconditioner; and the same iteration in separate steps on a matrix stored by diagonals, as it was written
 * for the first programmable GPUs, in the variants of its product and its dot product.
 *
 * What decides stays on the device, in the scalars s (src/numerics/cg.c has the same list): the host may launch more
 * iterations than are needed, they do nothing once the state is no longer CG_RUN, and read the scalars when it
 * likes. The two fused kernels read one set of scalars and write another, so that all work-groups see the same. */
#define CG_RR 0         /* r.r of the recurrence */
#define CG_RZ 1         /* r.z, z the preconditioned residual */
#define CG_BB 2         /* b.b */
#define CG_TRUE 3       /* r.r of the last residual that was computed as b - A x */
#define CG_ALPHA 4
#define CG_BETA 5
#define CG_STATE 6
#define CG_ITERATIONS 7
#define CG_RESTARTS 8
#define CG_FRESH 9      /* 1: the next direction is the residual itself */
#define CG_SCALARS 10

#define CG_RUN 0        /* iterating */
#define CG_CLAIMED 1    /* the recurrence says that it is done, or may not go on; not checked yet */
#define CG_REACHED 2    /* the true residual is below the tolerance */
#define CG_ROUNDED 3    /* the recurrence is below the tolerance, the true residual at the rounding of the precision */
#define CG_STALLED 4    /* a restart no longer halves the true residual */
#define CG_BROKEN 5     /* p.Ap is not positive, or not finite */
#define CG_LIMIT 6      /* as many iterations as are allowed, and the recurrence is not below the tolerance */

/* r = b - A x, and the sums r.r, b.b, x.x over the unknowns. With `check` only after the recurrence has claimed to be
 * done. */
kernel void cg_residual(STENCIL_ARGUMENTS, global const real *restrict x, global const real *restrict b,
                        global real *restrict r, global const real *restrict s, int check,
                        global acc *restrict partials)
{
    local acc rr[LANES], bb[LANES], xx[LANES];
    const int active = !check || s[CG_STATE] == CG_CLAIMED;
    CLEAR_LANES(rr);
    CLEAR_LANES(bb);
    CLEAR_LANES(xx);
    FOR_CELLS(active, i, j, lane) {
        const index_t at = AT(i, j);
        const int n = stencil[at];
#define VALUE(dx, dy) x[AROUND(dx, dy)]
        STENCIL_PRODUCT(product, n, x[at], VALUE)
#undef VALUE
        const real right = n ? b[at] : 0, here = n ? x[at] : 0, residual = n ? right - product : 0;
        rr[lane] += residual * residual;
        bb[lane] += right * right;
        xx[lane] += here * here;
        r[at] = residual;
    }
    fold_sums_3(rr, bb, xx, ROW_LANES);
    put_partials_3(partials, 0, rr, bb, xx);
}

/* Judges the residual that cg_residual computed. tolerance2: square of the relative tolerance; floor_x, floor_b:
 * squares of kappa u |A| and of kappa u, u the unit roundoff (docs/flow.md). `direct`: x comes from a direct solver,
 * nothing follows. */
kernel void cg_judge(global const acc *restrict totals, global real *restrict s, int check, int direct,
                     real tolerance2, real floor_x, real floor_b)
{
    local acc rrs[FINISH_LANES], bbs[FINISH_LANES], xxs[FINISH_LANES];
    load_sums(totals, TOTALS, TOTAL_LANES, rrs);
    load_sums(totals + TOTALS, TOTALS, TOTAL_LANES, bbs);
    load_sums(totals + 2 * TOTALS, TOTALS, TOTAL_LANES, xxs);
    fold_sums_3(rrs, bbs, xxs, TOTAL_LANES);
    const acc rr = rrs[0], bb = bbs[0], xx = xxs[0];
    if (get_local_id(0) != 0 || (check && s[CG_STATE] != CG_CLAIMED))
        return;
    const real before = s[CG_TRUE], recurrence = s[CG_RR];
    s[CG_RR] = rr;
    s[CG_RZ] = rr;
    s[CG_BB] = bb;
    s[CG_TRUE] = rr;
    s[CG_BETA] = 0;
    s[CG_FRESH] = 1;
    if (!check) {
        s[CG_ITERATIONS] = 0;
        s[CG_RESTARTS] = 0;
    }
    if (not_finite(rr))
        s[CG_STATE] = CG_BROKEN;
    else if (rr <= tolerance2 * bb)
        s[CG_STATE] = CG_REACHED;
    else if (check && recurrence > tolerance2 * bb)
        s[CG_STATE] = CG_LIMIT;
    else if ((check || direct) && rr <= floor_x * xx + floor_b * bb)
        s[CG_STATE] = CG_ROUNDED;
    else if (direct || (check && s[CG_RESTARTS] > 0 && 4 * rr > before))
        s[CG_STATE] = CG_STALLED;
    else {
        s[CG_STATE] = CG_RUN;
        if (check)
            s[CG_RESTARTS] += 1;
    }
}

/* What follows from r.r and r.z: the state, and beta. For every work-group the same; the first writes it down. */
#define KEEP_SCALARS(next, first_)                            \
    if (first_group() && get_local_id(0) == 0) {              \
        for (int c_ = 0; c_ < CG_SCALARS; c_++)               \
            (next)[c_] = s[c_];                               \
        first_                                                \
    }

/* p_next = z + beta p, at the neighbours too (recomputed: that saves a pass), and the sum p_next . A p_next. Without
 * preconditioner z is r and the sums rz are the sums rr. */
kernel void cg_direction(STENCIL_ARGUMENTS, global const real *restrict z, global const real *restrict p,
                         global real *restrict p_next, global const real *restrict s, global real *restrict s_next,
                         global const acc *restrict rr_totals, global const acc *restrict rz_totals,
                         int preconditioned, real tolerance2, real limit, global acc *restrict partials)
{
    local acc lanes[LANES];
    const acc rr = total_sum(rr_totals, 0, lanes);
    const acc rz = preconditioned ? total_sum(rz_totals, 0, lanes) : rr;
    const int running = s[CG_STATE] == CG_RUN;
    const real beta = s[CG_FRESH] != 0 ? 0 : rz / s[CG_RZ];
    int state = (int)s[CG_STATE];
    if (running && s[CG_FRESH] == 0)
        state = not_finite(rr) || not_finite(beta)                               ? CG_BROKEN
                : rr <= tolerance2 * s[CG_BB] || s[CG_ITERATIONS] >= limit ? CG_CLAIMED
                                                                                 : CG_RUN;
    KEEP_SCALARS(s_next, if (running) {
        s_next[CG_RR] = rr;
        s_next[CG_RZ] = rz;
        s_next[CG_BETA] = beta;
        s_next[CG_STATE] = state;
        s_next[CG_FRESH] = state == CG_RUN ? 0 : s[CG_FRESH];
    })
    CLEAR_LANES(lanes);
    FOR_CELLS(state == CG_RUN, i, j, lane) {
        const index_t at = AT(i, j);
        const int n = stencil[at];
#define VALUE(dx, dy) (z[AROUND(dx, dy)] + beta * p[AROUND(dx, dy)])
        const real next = n ? VALUE(0, 0) : 0;
        STENCIL_PRODUCT(product, n, next, VALUE)
#undef VALUE
        lanes[lane] += next * product;
        p_next[at] = next;
    }
    put_partial_sum(partials, 0, lanes);
}

/* x += alpha p, r -= alpha A p, and the sum r.r. */
kernel void cg_update(STENCIL_ARGUMENTS, global const real *restrict p, global real *restrict x,
                      global real *restrict r, global const real *restrict s, global real *restrict s_next,
                      global const acc *restrict pap_totals, global acc *restrict partials)
{
    local acc lanes[LANES];
    const acc pap = total_sum(pap_totals, 0, lanes);
    const int running = s[CG_STATE] == CG_RUN, sound = !not_finite(pap) && pap > 0;
    const real alpha = s[CG_RZ] / pap;
    KEEP_SCALARS(s_next, if (running) {
        s_next[CG_ALPHA] = alpha;
        s_next[CG_STATE] = sound ? CG_RUN : CG_BROKEN;
        s_next[CG_ITERATIONS] = s[CG_ITERATIONS] + (sound ? 1 : 0);
    })
    CLEAR_LANES(lanes);
    FOR_CELLS(running && sound, i, j, lane) {
        const index_t at = AT(i, j);
        const int n = stencil[at];
#define VALUE(dx, dy) p[AROUND(dx, dy)]
        STENCIL_PRODUCT(product, n, p[at], VALUE)
#undef VALUE
        const real residual = r[at] - alpha * product, better = x[at] + alpha * p[at];
        x[at] = n ? better : x[at];
        r[at] = residual;
        lanes[lane] += residual * residual;
    }
    put_partial_sum(partials, 0, lanes);
}

/* The sum r.z. */
kernel void cg_dot(global const uchar *restrict stencil, global const real *restrict r, global const real *restrict z,
                   global acc *restrict partials)
{
    local acc lanes[LANES];
    CLEAR_LANES(lanes);
    FOR_CELLS(1, i, j, lane) {
        const index_t at = AT(i, j);
        lanes[lane] += stencil[at] ? r[at] * z[at] : 0;
    }
    put_partial_sum(partials, 0, lanes);
}

/* ------------------------------------------------------------------ separate steps, matrix stored by diagonals (DIA)
 *
 * A has five components: the diagonal, then the entries to the west, east, south and north neighbour; offsets[c] is the
 * distance of component c from the diagonal in memory. An entry of zero means that the neighbour is no unknown (it may
 * not even exist: it is not read then). */

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
kernel void dia_spmv(global const real *restrict A, global const int *restrict offsets, VECTOR_ARGUMENT,
                     global real *restrict y, global const real *restrict s)
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
    if (i < NX && j < NY && s[CG_STATE] == CG_RUN) {
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

kernel void dia_dot(global const real *restrict a, global const real *restrict b, global acc *restrict partials)
{
    BLOCK_DOT(a[at] * b[at])
    PUT_DOT
}

kernel void dia_norm(global const real *restrict a, global acc *restrict partials)
{
    BLOCK_DOT(a[at] * a[at])
    PUT_DOT
}

kernel void dia_alpha(global const acc *restrict totals, global real *restrict s)
{
    local acc scratch[FINISH_LANES];
    const acc pap = total_sum(totals, 0, scratch);
    if (get_local_id(0) != 0 || s[CG_STATE] != CG_RUN)
        return;
    if (not_finite(pap) || !(pap > 0))
        s[CG_STATE] = CG_BROKEN;
    else
        s[CG_ALPHA] = s[CG_RR] / pap;
}

kernel void dia_beta(global const acc *restrict totals, global real *restrict s, real tolerance2, real limit)
{
    local acc scratch[FINISH_LANES];
    const acc rr = total_sum(totals, 0, scratch);
    if (get_local_id(0) != 0 || s[CG_STATE] != CG_RUN)
        return;
    s[CG_BETA] = rr / s[CG_RR];
    s[CG_RR] = rr;
    s[CG_ITERATIONS] += 1;
    if (not_finite(rr))
        s[CG_STATE] = CG_BROKEN;
    else if (rr <= tolerance2 * s[CG_BB] || s[CG_ITERATIONS] >= limit)
        s[CG_STATE] = CG_CLAIMED;
}

/* y = y + sign alpha x at the unknowns */
kernel void dia_axpy(global const uchar *restrict stencil, global const real *restrict x, global real *restrict y, global const real *restrict s, real sign)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    if (s[CG_STATE] == CG_RUN && stencil[at])
        y[at] = y[at] + (sign * s[CG_ALPHA]) * x[at];
}

/* p = r + beta p */
kernel void dia_xpay(global const real *restrict r, global real *restrict p, global const real *restrict s)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    if (s[CG_STATE] == CG_RUN)
        p[at] = r[at] + s[CG_BETA] * p[at];
}
