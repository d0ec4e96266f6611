/* bpm.cl: Crank-Nicolson steps of light along z by elimination: beams in a plane, each a row of the grid (x of the grid
 * is the transverse coordinate y of the beam), or a beam in space, whose cross-section is the grid.
 * Pairs (real2) are complex numbers. The walls are metal: psi is zero before the first and behind the last node.
 *
 * With P' the second difference d2 along the line plus v (docs/bpm.md), (1 + p P) psi_new = (1 + q P) psi becomes
 *     psi_new = psi - factor u,   factor = (p - q) / p,   (d2 + D) u = g      (1)
 *     g_i = (d2 + v) psi      (2)
 * D enters through r_i = 1 / (D_i - r_(i-1)), which the host makes, and u by
 *     y_i = g_i - r_(i-1) y_(i-1)     forward elimination      (3)
 *     u_i = r_i (y_i - u_(i+1))       back substitution      (4)
 * A line is cut into CHUNKS chunks of CHUNK nodes. Both recurrences first run through every chunk as if nothing entered
 * it; the value at its other end is the chunk's carry. What enters chunk c is then
 *     y_in(c) = sum over b < c of carry(b) factor(b+1) ... factor(c-1)      (5)
 * factor(b), the product of all -r that chunk b multiplies by, is the share of what enters b that leaves it; then chunk
 * c is done once more, from y_in. |r| < 1: behind `reach` chunks less than the rounding is left of a carry, so (5) has
 * `reach` terms. A step has three barriers, and its bits depend on CHUNK and reach alone.
 *
 *     chunk     0          1          2               forward:  forward_carry[c] leaves chunk c at its end
 *     nodes     c c c c    c c c c    c c c o         backward: backward_carry[c] leaves it at its begin
 *
 * LOSSY: v is complex (absorption, absorbing layers). SPACE: lines of a cross-section instead of beams in a plane.
 * TRANSFORMS: split steps instead, of which the kernel is only what lies between two transforms. */
static inline real2 cmul(real2 a, real2 b) { return (real2)(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x)); }

#ifdef TRANSFORMS
kernel void bpm_multiply(global real2 *psi, global const real2 *restrict by)
{
    CELL(i, j);
    psi[AT(i, j)] = cmul(psi[AT(i, j)], by[AT(i, j)]);
}
#else
#if LOSSY
typedef real2 change_t;
#else
typedef real change_t;
#endif

/* c + a b and c - a b */
static inline real2 cfma(real2 a, real2 b, real2 c)
{
    return (real2)(fma(-a.y, b.y, fma(a.x, b.x, c.x)), fma(a.y, b.x, fma(a.x, b.y, c.y)));
}
static inline real2 cfnma(real2 a, real2 b, real2 c)
{
    return (real2)(fma(a.y, b.y, fma(-a.x, b.x, c.x)), fma(-a.y, b.x, fma(-a.x, b.y, c.y)));
}

/* (second difference + v) psi */
static inline real2 apply_operator(real2 before, real2 here, real2 after, change_t v)
{
    const real2 g = (after - here) - (here - before);
#if LOSSY
    return cfma(v, here, g);
#else
    return (real2)(fma(v, here.x, g.x), fma(v, here.y, g.y));
#endif
}

#define FOR_CHUNKS(c) for (int c = (int)get_local_id(0); c < CHUNKS; c += (int)get_local_size(0))
#define END(c) min((c + 1) * CHUNK, NX)

/* (5): what enters chunk c from the chunks before it, and from those behind it. */
#define FORWARD_INPUT(y, c)                                 \
    real2 y = (real2)(0);                                   \
    for (int from_ = max(c - reach, 0); from_ < c; from_++) \
        y = cfma(forward_factor[from_], y, forward_carry[from_]);
#define BACKWARD_INPUT(u, c)                                         \
    real2 u = (real2)(0);                                            \
    for (int from_ = min(c + reach, CHUNKS - 1); from_ > c; from_--) \
        u = cfma(backward_factor[from_], u, backward_carry[from_]);

/* Whether node j of chunk c is there: only the last chunk may be short. */
#define IS_NODE(c, j) (NX % CHUNK == 0 || (c) < CHUNKS - 1 || (j) < NX % CHUNK)

/* The nodes of a chunk in registers. */
#define FOR_NODES(j) UNROLLED for (int j = 0; j < CHUNK; j++)
#define FOR_NODES_BACK(j) UNROLLED for (int j = CHUNK - 1; j >= 0; j--)

/* Where the result of a row goes: to its own place, transposed to a column of another grid, or both. */
typedef struct target {
    global real2 *values;
    index_t first, stride;
    int both;
} target;

/* Where a row fits into the local memory that every device has, neighbouring work-items read it in order into `stage`;
 * chunks are taken from there, which for odd CHUNK lie in different banks. */
#define STAGED (2 * REAL_BYTES * (NX + 6 * CHUNKS + 2) <= 32768)
#define LOAD_CHUNKS(to, stage, from, type)                                                         \
    for (int i = (int)get_local_id(0); i < NX; i += (int)get_local_size(0))                        \
        stage[i] = from[first + i];                                                                \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* global: others will write there */     \
    FOR_NODES(j) to[j] = mine && IS_NODE(c, j) ? stage[c * CHUNK + j] : (type)(0);                  \
    barrier(CLK_LOCAL_MEM_FENCE);

/* One work-item per chunk, whose nodes stay in registers. low and high: psi at the ends of chunks, for neighbours. */
static inline void steps_in_registers(global real2 *psi, global const real2 *factors_r, global const change_t *change,
                                      index_t first, real2 factor, int reach, int steps, target to,
                                      local real2 *forward_carry, local real2 *backward_carry,
                                      local real2 *forward_factor, local real2 *backward_factor, local real2 *low,
                                      local real2 *high, local real2 *stage)
{
    const int c = (int)get_local_id(0);
    const int mine = c < CHUNKS;
    const int own = min(c, CHUNKS - 1); /* work-items without a chunk must not read beyond the arrays */
    real2 f[CHUNK], r[CHUNK], y[CHUNK];
    change_t v[CHUNK];
#if STAGED
    local change_t *stage_v = (local change_t *)stage;
    LOAD_CHUNKS(f, stage, psi, real2)
    LOAD_CHUNKS(r, stage, factors_r, real2)
    LOAD_CHUNKS(v, stage_v, change, change_t)
#else
    FOR_NODES(j) {
        const int there = mine && IS_NODE(c, j);
        const index_t at = first + (there ? c * CHUNK + j : 0);
        f[j] = there ? psi[at] : (real2)(0);
        r[j] = there ? factors_r[at] : (real2)(0);
        v[j] = there ? change[at] : (change_t)(0);
    }
#endif
    const real2 r_before = mine && c > 0 ? factors_r[first + c * CHUNK - 1] : (real2)(0);
    if (mine) {
        real2 forward = (real2)(1, 0), backward = (real2)(1, 0);
        FOR_NODES(j)
            if (IS_NODE(c, j)) {
                forward = cmul(forward, j > 0 ? -r[j - 1] : c > 0 ? -r_before : (real2)(0));
                backward = cmul(backward, -r[j]);
            }
        forward_factor[c] = forward;
        backward_factor[c] = backward;
    }
    if (c == 0)
        high[0] = low[CHUNKS] = (real2)(0);
    for (int step = 0; step < steps; step++) {
        if (mine) {
            if (c > 0)
                low[c] = f[0];
            high[c + 1] = f[CHUNK - 1];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const real2 below = mine ? high[c] : (real2)(0), above = mine ? low[c + 1] : (real2)(0);
        real2 carry = (real2)(0);
        FOR_NODES(j) { /* (2), (3) as if nothing entered */
            y[j] = apply_operator(j > 0 ? f[j - 1] : below, f[j], j + 1 < CHUNK ? f[j + 1] : above, v[j]);
            carry = cfnma(j > 0 ? r[j - 1] : r_before, carry, y[j]);
        }
        if (mine)
            forward_carry[c] = carry;
        barrier(CLK_LOCAL_MEM_FENCE);
        FORWARD_INPUT(y_in, own)
        FOR_NODES(j) /* (3) */
            y_in = y[j] = cfnma(j > 0 ? r[j - 1] : r_before, y_in, y[j]);
        real2 u = (real2)(0);
        FOR_NODES_BACK(j) /* (4) as if nothing entered */
            u = IS_NODE(c, j) ? cmul(r[j], y[j] - u) : u;
        if (mine)
            backward_carry[c] = u;
        barrier(CLK_LOCAL_MEM_FENCE);
        BACKWARD_INPUT(w, own)
        FOR_NODES_BACK(j) /* (4), (1) */
            if (IS_NODE(c, j)) {
                w = cmul(r[j], y[j] - w);
                f[j] = cfnma(factor, w, f[j]);
            }
    }
    FOR_NODES(j)
        if (mine && IS_NODE(c, j)) {
            to.values[to.first + (c * CHUNK + j) * to.stride] = f[j];
            if (to.both)
                psi[first + c * CHUNK + j] = f[j];
        }
}

/* Work-items with several chunks each: psi and y stay in global memory. */
static inline void steps_in_memory(global real2 *psi, global const real2 *factors_r, global const change_t *change,
                                   global real2 *work, index_t first, real2 factor, int reach, int steps, target to,
                                   local real2 *forward_carry, local real2 *backward_carry,
                                   local real2 *forward_factor, local real2 *backward_factor)
{
    FOR_CHUNKS(c) {
        real2 forward = (real2)(1, 0), backward = (real2)(1, 0);
        for (int i = c * CHUNK; i < END(c); i++) {
            forward = cmul(forward, i > 0 ? -factors_r[first + i - 1] : (real2)(0));
            backward = cmul(backward, -factors_r[first + i]);
        }
        forward_factor[c] = forward;
        backward_factor[c] = backward;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 0; step < steps; step++) {
        FOR_CHUNKS(c) {
            real2 before = c > 0 ? psi[first + c * CHUNK - 1] : (real2)(0), here = psi[first + c * CHUNK];
            real2 r = c > 0 ? factors_r[first + c * CHUNK - 1] : (real2)(0), carry = (real2)(0);
            for (int i = c * CHUNK; i < END(c); i++) { /* (2), (3) as if nothing entered */
                const real2 after = i + 1 < NX ? psi[first + i + 1] : (real2)(0);
                const real2 g = apply_operator(before, here, after, change[first + i]);
                work[first + i] = g;
                carry = cfnma(r, carry, g);
                r = factors_r[first + i];
                before = here;
                here = after;
            }
            forward_carry[c] = carry;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        FOR_CHUNKS(c) {
            real2 r = c > 0 ? factors_r[first + c * CHUNK - 1] : (real2)(0), u = (real2)(0);
            FORWARD_INPUT(y_in, c)
            for (int i = c * CHUNK; i < END(c); i++) { /* (3) */
                y_in = cfnma(r, y_in, work[first + i]);
                work[first + i] = y_in;
                r = factors_r[first + i];
            }
            for (int i = END(c) - 1; i >= c * CHUNK; i--) /* (4) as if nothing entered */
                u = cmul(factors_r[first + i], work[first + i] - u);
            backward_carry[c] = u;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        FOR_CHUNKS(c) {
            BACKWARD_INPUT(u, c)
            for (int i = END(c) - 1; i >= c * CHUNK; i--) { /* (4), (1) */
                u = cmul(factors_r[first + i], work[first + i] - u);
                psi[first + i] = cfnma(factor, u, psi[first + i]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    if (to.values != psi)
        for (int i = (int)get_local_id(0); i < NX; i += (int)get_local_size(0))
            to.values[to.first + i * to.stride] = psi[first + i];
}

#define SCRATCH                                                                             \
    local real2 forward_carry[CHUNKS], backward_carry[CHUNKS];                              \
    local real2 forward_factor[CHUNKS], backward_factor[CHUNKS];                            \
    local real2 low[CHUNKS + 1], high[CHUNKS + 1], stage[STAGED ? NX : 1]

#define RUN_STEPS(factor)                                                                                        \
    if (KEEPS_REGISTERS && get_local_size(0) >= CHUNKS)                                                          \
        steps_in_registers(psi, factors_r, change, first, factor, reach, steps, to, forward_carry,               \
                           backward_carry, forward_factor, backward_factor, low, high, stage);                   \
    else                                                                                                         \
        steps_in_memory(psi, factors_r, change, work, first, factor, reach, steps, to, forward_carry,            \
                        backward_carry, forward_factor, backward_factor);

#if !SPACE
/* Any number of steps of beams in a plane, a work-group a beam. */
kernel void bpm_crank_nicolson(global real2 *psi, global const real2 *restrict factors_r,
                               global const change_t *restrict change, global real2 *work,
                               global const real2 *restrict factors, int reach, int steps)
{
    SCRATCH;
    const int row = (int)get_global_id(1) - Y0;
    const index_t first = AT(0, row);
    target to;
    to.values = psi;
    to.first = first;
    to.stride = 1;
    to.both = 0;
    RUN_STEPS(factors[(int)get_global_id(1)])
}
#else
/* Half steps along the lines of a cross-section: what P has along the line and half of the index; the rest belongs to
 * the half steps along the lines across, and each of them keeps the power. store: 0 in place; 1 transposed, value i of
 * row j to row i of the transposed grid, at place j; 2 both. */
kernel void bpm_half_step(global real2 *psi, global const real2 *restrict factors_r,
                          global const change_t *restrict change, global real2 *work, global real2 *other, int store,
                          real factor_x, real factor_y, int reach, int steps)
{
    SCRATCH;
    const int row = (int)get_global_id(1) - Y0;
    const index_t first = AT(0, row);
    target to;
    to.values = store ? other : psi;
    to.first = store ? AT_TRANSPOSED(0, row) : first;
    to.stride = store ? (index_t)TRANSPOSE_PITCH : 1;
    to.both = store == 2;
    RUN_STEPS((real2)(factor_x, factor_y))
}
#endif
#endif
