/* numerics.cl: conjugate gradients (Hestenes and Stiefel 1952) on a matrix stored by diagonals, in two passes over the
 * data per iteration.
 *
 * The matrix has five components: the diagonal, then the entries to the west, east, south and north neighbour. An entry
 * of zero means that the neighbour is no unknown (it may not even exist: it is not read then); a zero diagonal means
 * that the point itself is none.
 *
 * What decides stays on the device, in the scalars s (src/numerics/cg.c has the same list): the host may launch more
 * iterations than are needed, they do nothing once the state is no longer CG_RUN, and read the scalars when it
 * likes. */
#define CG_RR 0         /* r.r of the recurrence */
#define CG_BB 1         /* b.b */
#define CG_TRUE 2       /* r.r of the last residual that was computed as b - A x */
#define CG_ALPHA 3
#define CG_BETA 4
#define CG_STATE 5
#define CG_ITERATIONS 6
#define CG_RESTARTS 7

#define CG_RUN 0        /* iterating */
#define CG_CLAIMED 1    /* the recurrence says that it is done, or may not go on; not checked yet */
#define CG_REACHED 2    /* the true residual is below the tolerance */
#define CG_ROUNDED 3    /* the recurrence is below the tolerance, the true residual at the rounding of the precision */
#define CG_STALLED 4    /* a restart no longer halves the true residual */
#define CG_BROKEN 5     /* p.Ap is not positive, or not finite */
#define CG_LIMIT 6      /* as many iterations as are allowed, and the recurrence is not below the tolerance */

/* (A v) at one point, from the values of v there; v(offset) gives a neighbour's. */
#define PRODUCT(A, at, here, v)                                                                     \
    (A[at] * (here) + ((ENTRY(A, at, 1, v, -1) + ENTRY(A, at, 2, v, 1)) +                           \
                       (ENTRY(A, at, 3, v, -PITCH) + ENTRY(A, at, 4, v, PITCH))))
#define ENTRY(A, at, c, v, offset) (A[(at) + c * PLANE] == 0 ? 0 : A[(at) + c * PLANE] * v((at) + (offset)))

/* r = b - A x, and the sums r.r, b.b, x.x over the unknowns. With `check` only after the recurrence has claimed to be
 * done. */
kernel void cg_residual(global const real *restrict A, global const real *restrict x, global const real *restrict b,
                        global real *restrict r, global const real *restrict s, int check,
                        global acc *restrict partials)
{
    local acc rr[LANES], bb[LANES], xx[LANES];
    const int active = !check || s[CG_STATE] == CG_CLAIMED;
    CLEAR_LANES(rr);
    CLEAR_LANES(bb);
    CLEAR_LANES(xx);
    FOR_CELLS(active, i, lane) {
        const index_t at = AT(i, row_j());
        real residual = 0;
        if (A[at] != 0) {
#define VALUE(place) x[place]
            residual = b[at] - PRODUCT(A, at, x[at], VALUE);
#undef VALUE
            rr[lane] += residual * residual;
            bb[lane] += b[at] * b[at];
            xx[lane] += x[at] * x[at];
        }
        r[at] = residual;
    }
    put_partial_sum(partials, 0, rr);
    put_partial_sum(partials, 1, bb);
    put_partial_sum(partials, 2, xx);
}

/* Judges the residual that cg_residual computed. tolerance2: square of the relative tolerance; floor_x, floor_b:
 * squares of kappa u |A| and of kappa u, u the unit roundoff (docs/flow.md). */
kernel void cg_judge(global const acc *restrict partials, global real *restrict s, int check, real tolerance2,
                     real floor_x, real floor_b)
{
    local acc scratch[FINISH_LANES];
    const acc rr = total_sum(partials, 0, scratch);
    const acc bb = total_sum(partials, 1, scratch);
    const acc xx = total_sum(partials, 2, scratch);
    if (get_local_id(0) != 0 || (check && s[CG_STATE] != CG_CLAIMED))
        return;
    const real before = s[CG_TRUE], recurrence = s[CG_RR];
    s[CG_RR] = rr;
    s[CG_BB] = bb;
    s[CG_TRUE] = rr;
    s[CG_BETA] = 0;
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
    else if (check && rr <= floor_x * xx + floor_b * bb)
        s[CG_STATE] = CG_ROUNDED;
    else if (check && s[CG_RESTARTS] > 0 && 4 * rr > before)
        s[CG_STATE] = CG_STALLED;
    else {
        s[CG_STATE] = CG_RUN;
        if (check)
            s[CG_RESTARTS] += 1;
    }
}

/* p_next = r + beta p, at the neighbours too (recomputed: that saves a pass), and the sum p_next . A p_next. */
kernel void cg_direction(global const real *restrict A, global const real *restrict r, global const real *restrict p,
                         global real *restrict p_next, global const real *restrict s, global acc *restrict partials)
{
    local acc lanes[LANES];
    const int active = s[CG_STATE] == CG_RUN;
    const real beta = s[CG_BETA];
    CLEAR_LANES(lanes);
    FOR_CELLS(active, i, lane) {
        const index_t at = AT(i, row_j());
        real next = 0;
        if (A[at] != 0) {
#define VALUE(place) (r[place] + beta * p[place])
            next = VALUE(at);
            lanes[lane] += next * PRODUCT(A, at, next, VALUE);
#undef VALUE
        }
        p_next[at] = next;
    }
    put_partial_sum(partials, 0, lanes);
}

kernel void cg_alpha(global const acc *restrict partials, global real *restrict s)
{
    local acc scratch[FINISH_LANES];
    const acc pAp = total_sum(partials, 0, scratch);
    if (get_local_id(0) != 0 || s[CG_STATE] != CG_RUN)
        return;
    if (not_finite(pAp) || !(pAp > 0))
        s[CG_STATE] = CG_BROKEN;
    else
        s[CG_ALPHA] = s[CG_RR] / pAp;
}

/* x += alpha p, r -= alpha A p, and the sum r.r. */
kernel void cg_update(global const real *restrict A, global const real *restrict p, global real *restrict x,
                      global real *restrict r, global const real *restrict s, global acc *restrict partials)
{
    local acc lanes[LANES];
    const int active = s[CG_STATE] == CG_RUN;
    const real alpha = s[CG_ALPHA];
    CLEAR_LANES(lanes);
    FOR_CELLS(active, i, lane) {
        const index_t at = AT(i, row_j());
        if (A[at] != 0) {
#define VALUE(place) p[place]
            const real residual = r[at] - alpha * PRODUCT(A, at, p[at], VALUE);
#undef VALUE
            x[at] = x[at] + alpha * p[at];
            r[at] = residual;
            lanes[lane] += residual * residual;
        }
    }
    put_partial_sum(partials, 0, lanes);
}

kernel void cg_beta(global const acc *restrict partials, global real *restrict s, real tolerance2, real limit)
{
    local acc scratch[FINISH_LANES];
    const acc rr = total_sum(partials, 0, scratch);
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
