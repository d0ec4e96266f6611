/* cg.cl: conjugate gradients (Hestenes and Stiefel 1952) on the five-point matrix of lib/stencil.h, with or without a
 * preconditioner z = M r, in the order of Chronopoulos and Gear (1989), in which an iteration is one launch: z.Az tells
 * p.Ap before the direction p is known,
 *   beta  = r.z / (r.z of the iteration before);     p.Ap = z.Az - beta^2 (p.Ap of the iteration before)
 *   alpha = r.z / p.Ap;   p = z + beta p;   x = x + alpha p;   r = r - alpha A p;   r.r, r.Ar
 * cg_step does so without preconditioner, from what it left itself, at first from what cg_dots finds; with one,
 * cg_dots follows each application of M, and cg_preconditioned_step needs no r.Ar.
 *
 * The scalars s (src/numerics/cg.c has the same list) and all decisions stay on the device: the host may launch more
 * iterations than are needed, which do nothing once the state is no longer CG_RUN. A step reads one set of scalars and
 * writes another, so that all work-groups read the same. */
#define CG_RR 0         /* r.r of the recurrence */
#define CG_RZ 1         /* r.z, z the preconditioned residual */
#define CG_BB 2         /* b.b */
#define CG_TRUE 3       /* r.r of the last residual that was computed as b - A x */
#define CG_PAP 4        /* p.Ap */
#define CG_STATE 5
#define CG_ITERATIONS 6
#define CG_RESTARTS 7
#define CG_FRESH 8      /* 1: the next direction is the residual itself */
#define CG_SCALARS 9

#define CG_RUN 0        /* iterating */
#define CG_CLAIMED 1    /* the recurrence is below the tolerance, or the limit is reached; x is not checked yet */
#define CG_REACHED 2    /* the true residual is below the tolerance */
#define CG_ROUNDED 3    /* the recurrence is below the tolerance, the true residual at the rounding of the precision */
#define CG_STALLED 4    /* a restart no longer halves the true residual */
#define CG_BROKEN 5     /* z.Az is not positive, or not finite */
#define CG_LIMIT 6      /* as many iterations as are allowed, and the recurrence is not below the tolerance */

/* The first work-group writes the next set of scalars, which all work-groups have computed alike. */
#define WRITE_SCALARS(next, first_)                            \
    if (first_group() && get_local_id(0) == 0) {              \
        for (int c_ = 0; c_ < CG_SCALARS; c_++)               \
            (next)[c_] = s[c_];                               \
        first_                                                \
    }

/* The state after an update that left r.r of the recurrence. */
static inline int state_after(acc rr, global const real *restrict s, real tolerance2, real limit)
{
    return not_finite(rr)                                                     ? CG_BROKEN
           : rr <= tolerance2 * s[CG_BB] || s[CG_ITERATIONS] >= limit ? CG_CLAIMED
                                                                              : CG_RUN;
}

/* r = b - A x, and the sums r.r, b.b, x.x over the unknowns. With `check` only after the recurrence has claimed to be
 * done, which is found out here after the last update that was launched. */
kernel void cg_residual(STENCIL_ARGUMENTS, global const real *restrict x, global const real *restrict b,
                        global real *restrict r, global const real *restrict s, global real *restrict s_next,
                        global const acc *restrict rr_totals, int check, real tolerance2, real limit,
                        global acc *restrict partials)
{
    local acc rr[LANES], bb[LANES], xx[LANES];
    const acc recurrence = total_sum(rr_totals, 0, rr);
    const int updated = check && s[CG_STATE] == CG_RUN && s[CG_FRESH] == 0;
    const int state = updated ? state_after(recurrence, s, tolerance2, limit) : (int)s[CG_STATE];
    const int active = !check || state == CG_CLAIMED;
    WRITE_SCALARS(s_next, if (updated && state != CG_RUN) {
        s_next[CG_RR] = recurrence;
        s_next[CG_STATE] = state;
    })
    CLEAR_LANES(rr);
    CLEAR_LANES(bb);
    CLEAR_LANES(xx);
    FOR_CELLS_ALIKE(active, i, j, lane, stencil, STENCIL_INSIDE) {
        const index_t at = AT(i, j);
        const int n = STENCIL_HERE(at);
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
 * squares of kappa u |A| and of kappa u, u the unit roundoff (docs/flow.md). `direct`: x comes from a direct solver, no
 * iterations follow. */
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
    s[CG_PAP] = 0;
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

/* int active, real alpha and beta of the next step, from r.r, r.z and z.Az; the next scalars. Where rounding leaves no
 * positive p.Ap, as it may of numbers near the smallest, the direction begins anew with the residual. */
#define NEXT_STEP(rr, rz, zaz)                                                                           \
    const int running = s[CG_STATE] == CG_RUN, fresh = s[CG_FRESH] != 0;                                 \
    const real ratio = fresh ? 0 : (rz) / s[CG_RZ], rest = (zaz)-ratio * ratio * s[CG_PAP];              \
    const real beta = rest > 0 ? ratio : 0, pap = rest > 0 ? rest : (zaz), alpha = (rz) / pap;           \
    const int judged = running && !fresh ? state_after(rr, s, tolerance2, limit) : (int)s[CG_STATE];     \
    const int state = judged == CG_RUN && (not_finite(pap) || !(pap > 0)) ? CG_BROKEN : judged;          \
    const int active = state == CG_RUN;                                                                  \
    WRITE_SCALARS(s_next, if (running) {                                                                 \
        s_next[CG_RR] = rr;                                                                              \
        s_next[CG_RZ] = rz;                                                                              \
        s_next[CG_PAP] = pap;                                                                            \
        s_next[CG_STATE] = state;                                                                        \
        s_next[CG_ITERATIONS] = s[CG_ITERATIONS] + (real)active;                                         \
        s_next[CG_FRESH] = active ? 0 : s[CG_FRESH];                                                     \
    })

/* The sums r.z and z.Az. */
kernel void cg_dots(STENCIL_ARGUMENTS, global const real *restrict r, global const real *restrict z,
                    global acc *restrict partials)
{
    local acc rz[LANES], zaz[LANES];
    CLEAR_LANES(rz);
    CLEAR_LANES(zaz);
    FOR_CELLS_ALIKE(1, i, j, lane, stencil, STENCIL_INSIDE) {
        const index_t at = AT(i, j);
        const int n = STENCIL_HERE(at);
        const real here = n ? z[at] : 0;
#define VALUE(dx, dy) z[AROUND(dx, dy)]
        STENCIL_PRODUCT(product, n, here, VALUE)
#undef VALUE
        rz[lane] += n ? r[at] * here : 0;
        zaz[lane] += n ? here * product : 0;
    }
    FOLD(ROW_LANES, FOLD_STEP(rz, left_, PLUS_) FOLD_STEP(zaz, left_, PLUS_))
    if (get_local_id(0) == 0) {
        partials[partial_index()] = rz[0];
        partials[PARTIALS + partial_index()] = zaz[0];
    }
}

/* A work-group of cg_step has STEP_BLOCKS blocks above each other, whose sums it forms each by itself. The next
 * direction is computed on them and two nodes around, the next residual on them and one around: what work-groups
 * compute twice saves launches and passes over the grid. */
#define STEP_ROWS (STEP_BLOCKS * BLOCK_NY)
/* In line j, whose first node of a loop over columns is i: where nodes end that have all bits. */
#define END_OF_INSIDE(i, j) ((j) < NY ? end_of_bytes(stencil + AT(i, j), from_, end_, STENCIL_INSIDE) : from_)
#define P_COLUMNS (BLOCK_NX + 4)
#define R_COLUMNS (BLOCK_NX + 2)

kernel void cg_step(STENCIL_ARGUMENTS, global const real *restrict r, global real *restrict r_next,
                    global const real *restrict p, global real *restrict p_next, global real *restrict x,
                    global const real *restrict s, global real *restrict s_next, global const acc *restrict totals,
                    real tolerance2, real limit, global acc *restrict partials)
{
    local real P[P_COLUMNS * (STEP_ROWS + 4)], R[R_COLUMNS * (STEP_ROWS + 2)];
    local acc *sums = P; /* r.r and r.Ar of each block, where the directions are no longer needed */
    load_sums(totals, TOTALS, TOTAL_LANES, sums);
    load_sums(totals + TOTALS, TOTALS, TOTAL_LANES, sums + LANES);
    FOLD(TOTAL_LANES, FOLD_STEP(sums, left_, PLUS_) FOLD_STEP(sums + LANES, left_, PLUS_))
    const acc rr = sums[0], rar = sums[LANES];
    barrier(CLK_LOCAL_MEM_FENCE);
    NEXT_STEP(rr, rr, rar)
    const int left = block_first(), top = (int)get_group_id(1) * STEP_ROWS + LAUNCH_Y;
    const int wide = active ? min(BLOCK_NX, NX - left) : -4;
    FOR_COLUMNS_ALIKE(c, wide + 4, q, ROWS_OF_BOX(STEP_ROWS, top) + 4, STEP_ROWS + 4, end_) {
        EACH_ROW(row, STEP_ROWS + 4) {
            const index_t at = AT(left + c - 2, top + q + row - 2);
            P[(q + row) * P_COLUMNS + c] = top + q + row < NY + 4 ? r[at] + beta * p[at] : 0;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_COLUMNS_ALIKE(c, wide + 2, q, ROWS_OF_BOX(STEP_ROWS, top) + 2, STEP_ROWS + 2,
                      END_OF_INSIDE(left - 1, top + q - 1)) {
        EACH_ROW(row, STEP_ROWS + 2) {
            const int line = top + q + row - 1, i = WITHIN_X((int)(left + c - 1)), j = WITHIN_Y(line);
            const index_t at = AT(left + c - 1, line);
            const int n = CODE_HERE(line <= NY ? stencil[at] : 0, STENCIL_INSIDE);
            const real before = line <= NY ? r[at] : 0;
            (void)i, (void)j; /* of a stretched grid */
            local const real *around = P + (q + row + 1) * P_COLUMNS + c + 1;
            const real here = n ? around[0] : 0;
#define VALUE(dx, dy) around[(dx) + (dy)*P_COLUMNS]
            STENCIL_PRODUCT(product, n, here, VALUE)
#undef VALUE
            R[(q + row) * R_COLUMNS + c] = n ? before - alpha * product : 0;
        }
    }
    FOR_COLUMNS_ALIKE(c, wide, q, ROWS_OF_BOX(STEP_ROWS, top), STEP_ROWS, END_OF_INSIDE(left, top + q)) {
        real here[ROWS_AT_ONCE(STEP_ROWS)], better[ROWS_AT_ONCE(STEP_ROWS)];
        EACH_ROW(row, STEP_ROWS) {
            const index_t at = AT(left + c, LINE_OF_BOX(top + q + row));
            const int n = STENCIL_HERE(at);
            const real direction = P[(q + row + 2) * P_COLUMNS + c + 2], value = x[at];
            here[row] = n ? direction : 0;
            better[row] = n ? value + alpha * direction : value;
        }
        EACH_ROW(row, STEP_ROWS) {
            const index_t at = AT(left + c, top + q + row);
            if (top + q + row < NY) {
                p_next[at] = here[row];
                x[at] = better[row];
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_LANES(l, 2 * STEP_BLOCKS * LANES)
    sums[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_COLUMNS_ALIKE(lane, wide, q, ROWS_OF_BOX(STEP_ROWS, top), STEP_ROWS, END_OF_INSIDE(left, top + q)) {
        EACH_ROW(row, STEP_ROWS) {
            const int j = top + q + row; /* Mesa 22.3's llvmpipe goes wrong with one of 64 bits */
            const index_t i = left + lane;
            if (j < NY) {
                const int n = STENCIL_HERE(AT(i, j));
                local const real *around = R + (q + row + 1) * R_COLUMNS + lane + 1;
                local acc *of_block = sums + (q + row) / BLOCK_NY * 2 * LANES;
                const real here = around[0];
#define VALUE(dx, dy) around[(dx) + (dy)*R_COLUMNS]
                STENCIL_PRODUCT(product, n, here, VALUE)
#undef VALUE
                of_block[lane] += n ? here * here : 0;
                of_block[lane + LANES] += n ? here * product : 0;
                r_next[AT(i, j)] = here;
            }
        }
    }
    FOLD(ROW_LANES, for (int k_ = 0; k_ < 2 * STEP_BLOCKS; k_++) FOLD_STEP(sums + k_ * LANES, left_, PLUS_))
    FOR_LANES(l, 2 * STEP_BLOCKS) {
        const int block = l / 2, place = ((Y0 + top) / BLOCK_NY + block) * SUM_BLOCKS_X + (X0 + left) / BLOCK_NX;
        if (top + block * BLOCK_NY < NY)
            partials[l % 2 * PARTIALS + place] = sums[l * LANES];
    }
}

/* The same with a preconditioner, but for its last sum. Its name does not begin with that of cg_step, to which Oclgrind
 * would count its local memory. */
kernel void cg_preconditioned_step(STENCIL_ARGUMENTS, global const real *restrict z, global real *restrict r,
                                   global const real *restrict p, global real *restrict p_next,
                                   global real *restrict x, global const real *restrict s,
                                   global real *restrict s_next, global const acc *restrict rr_totals,
                                   global const acc *restrict totals, real tolerance2, real limit,
                                   global acc *restrict partials)
{
    local acc lanes[LANES], rzs[LANES], zazs[LANES];
    load_sums(rr_totals, TOTALS, TOTAL_LANES, lanes);
    load_sums(totals, TOTALS, TOTAL_LANES, rzs);
    load_sums(totals + TOTALS, TOTALS, TOTAL_LANES, zazs);
    fold_sums_3(lanes, rzs, zazs, TOTAL_LANES);
    const acc rr = lanes[0], rz = rzs[0], zaz = zazs[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    NEXT_STEP(rr, rz, zaz)
    /* By way of local memory: NVIDIA's compiler keeps fewer loads under way where it sees that alpha is one of two
     * (4097 x 4097 nodes on an H200: 226 us for 205). */
    if (get_local_id(0) == 0)
        rzs[0] = alpha;
    barrier(CLK_LOCAL_MEM_FENCE);
    const real along = rzs[0];
    const int left = block_first(), top = block_top(), wide = active ? min(BLOCK_NX, NX - left) : 0;
    CLEAR_LANES(lanes);
    FOR_COLUMNS_ALIKE(lane, wide, q, ROWS_OF_BOX(BLOCK_NY, top), BLOCK_NY, END_OF_INSIDE(left, top + q)) {
        real residual[ROWS_AT_ONCE(BLOCK_NY)], better[ROWS_AT_ONCE(BLOCK_NY)], here[ROWS_AT_ONCE(BLOCK_NY)];
        EACH_ROW(row, BLOCK_NY) {
            const int j = LINE_OF_BOX(top + q + row);
            const index_t i = left + lane, at = AT(i, j);
            const int n = STENCIL_HERE(at);
#define VALUE(dx, dy) (z[AROUND(dx, dy)] + beta * p[AROUND(dx, dy)])
            here[row] = n ? VALUE(0, 0) : 0;
            STENCIL_PRODUCT(product, n, here[row], VALUE)
#undef VALUE
            residual[row] = n ? r[at] - along * product : 0;
            better[row] = n ? x[at] + along * here[row] : x[at];
        }
        EACH_ROW(row, BLOCK_NY) {
            const index_t at = AT(left + lane, top + q + row);
            if (top + q + row < NY) {
                p_next[at] = here[row];
                r[at] = residual[row];
                x[at] = better[row];
                lanes[lane] += residual[row] * residual[row];
            }
        }
    }
    put_partial_sum(partials, 0, lanes);
}
