/* cg.cl: conjugate gradients (Hestenes and Stiefel 1952) on the five-point matrix of lib/stencil.h, in two kernels per
 * iteration, with or without a preconditioner z = M r:
 *   cg_direction   beta = r.z / (r.z of the iteration before);  p = z + beta p;  p.Ap
 *   cg_update      alpha = r.z / p.Ap;  x = x + alpha p;  r = r - alpha A p;  r.r
 *
 * The scalars s (src/numerics/cg.c has the same list) and all decisions stay on the device: the host may launch more
 * iterations than are needed, which do nothing once the state is no longer CG_RUN. cg_direction and cg_update read one
 * set of scalars and write another, so that all work-groups read the same. */
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
#define CG_CLAIMED 1    /* the recurrence is below the tolerance, or the limit is reached; x is not checked yet */
#define CG_REACHED 2    /* the true residual is below the tolerance */
#define CG_ROUNDED 3    /* the recurrence is below the tolerance, the true residual at the rounding of the precision */
#define CG_STALLED 4    /* a restart no longer halves the true residual */
#define CG_BROKEN 5     /* p.Ap is not positive, or not finite */
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

/* p_next = z + beta p, and the sum p_next . A p_next, for which p_next is recomputed at the neighbours: that saves a
 * pass. Without preconditioner z is r and rz_totals are rr_totals; in the first iteration rr_totals are of a solve
 * before. */
kernel void cg_direction(STENCIL_ARGUMENTS, global const real *restrict z, global const real *restrict p,
                         global real *restrict p_next, global const real *restrict s, global real *restrict s_next,
                         global const acc *restrict rr_totals, global const acc *restrict rz_totals,
                         int preconditioned, real tolerance2, real limit, global acc *restrict partials)
{
    local acc lanes[LANES];
    const int running = s[CG_STATE] == CG_RUN, fresh = s[CG_FRESH] != 0;
    const acc recurrence = total_sum(rr_totals, 0, lanes), rr = fresh ? s[CG_RR] : recurrence;
    const acc rz = preconditioned ? total_sum(rz_totals, 0, lanes) : rr;
    const real beta = fresh ? 0 : rz / s[CG_RZ];
    int state = (int)s[CG_STATE];
    if (running && !fresh)
        state = state_after(rr, s, tolerance2, limit);
    if (state == CG_RUN && not_finite(beta))
        state = CG_BROKEN;
    WRITE_SCALARS(s_next, if (running) {
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
    WRITE_SCALARS(s_next, if (running) {
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
