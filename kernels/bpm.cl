/* bpm.cl: light that marches along z: beams in a plane, each a row of the grid (x of the grid is the transverse
 * coordinate y of the beam), or a beam in space, whose cross-section is the grid.
 * Pairs (real2) are complex numbers. The walls are metal: zero before the first and behind the last node.
 *
 * bpm_march: psi <- psi - factor u, (second difference + D) u = (second difference + v) psi, any number of steps in one
 * launch, a work-group a beam. D enters through r_i = 1 / (D_i - r_(i-1)):
 *     y_i = g_i - r_(i-1) y_(i-1)   forwards,      u_i = r_i (y_i - u_(i+1))   backwards.
 * A row is cut into CHUNKS chunks of CHUNK nodes. Every chunk is eliminated as if nothing entered it; then what enters
 * is gathered from the `reach` chunks before (behind) it, each of which lets pass the product of its -r; then the chunk
 * is done once more with what enters. Influence decays along the chunks: beyond `reach` of them it is below the
 * rounding. So a step has three barriers, and its bits depend on CHUNK and reach alone.
 *
 *     chunk     0          1          2               forwards:  ahead[c], what leaves chunk c at its end
 *     nodes     c c c c    c c c c    c c c o         backwards: back[c], what leaves it at its begin
 */
#if LOSSY
typedef real2 change_t;
#else
typedef real change_t;
#endif

static inline real2 times(real2 a, real2 b) { return (real2)(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x)); }

#if METHOD != 3
/* c + a b */
static inline real2 more(real2 c, real2 a, real2 b)
{
    return (real2)(fma(-a.y, b.y, fma(a.x, b.x, c.x)), fma(a.y, b.x, fma(a.x, b.y, c.y)));
}

/* (second difference + v) psi */
static inline real2 applied(real2 before, real2 here, real2 after, change_t v)
{
    const real2 g = (after - here) - (here - before);
#if LOSSY
    return more(g, v, here);
#else
    return (real2)(fma(v, here.x, g.x), fma(v, here.y, g.y));
#endif
}
#endif

/* -------------------------------------------------------------------------------------------------- elimination */
#if METHOD == 0 || METHOD == 2
/* c - a b */
static inline real2 less(real2 c, real2 a, real2 b)
{
    return (real2)(fma(a.y, b.y, fma(-a.x, b.x, c.x)), fma(-a.y, b.x, fma(-a.x, b.y, c.y)));
}

#define FOR_CHUNKS(c) for (int c = (int)get_local_id(0); c < CHUNKS; c += (int)get_local_size(0))
#define END(c) min((c + 1) * CHUNK, NX)

/* What enters chunk c from the chunks before it, and from those behind it. */
#define ENTERS_FORWARDS(y, c)                          \
    real2 y = (real2)(0);                              \
    for (int from_ = max(c - reach, 0); from_ < c; from_++) \
        y = more(ahead[from_], forth_left[from_], y);
#define ENTERS_BACKWARDS(u, c)                                    \
    real2 u = (real2)(0);                                         \
    for (int from_ = min(c + reach, CHUNKS - 1); from_ > c; from_--) \
        u = more(back[from_], back_left[from_], u);

/* Whether node j of chunk c is there: only the last chunk may be short. */
#define IS_NODE(c, j) (NX % CHUNK == 0 || (c) < CHUNKS - 1 || (j) < NX % CHUNK)

/* The nodes of a chunk in registers, which asks for unrolled loops. On a CPU, where no work-group is that large unless
 * asked for, they stay loops: PoCL 3.1 makes broken code of long ones between barriers. */
#if IS_CPU
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#endif
#define FOR_NODES(j) UNROLL for (int j = 0; j < CHUNK; j++)
#define FOR_NODES_BACK(j) UNROLL for (int j = CHUNK - 1; j >= 0; j--)

/* Where the result of a row goes: to its own place, or turned, so that rows become columns of another grid, or both. */
typedef struct target {
    global real2 *values;
    index_t first, stride;
    int both;
} target;

/* Where it fits into the local memory that every device has, a row is read by neighbouring work-items in order, and
 * taken from there in chunks, which for odd CHUNK hit different banks. */
#define STAGED (2 * REAL_BYTES * (NX + 6 * CHUNKS + 2) <= 32768)
#define TAKE_CHUNKS(to, stage, from, type)                                                         \
    for (int i = (int)get_local_id(0); i < NX; i += (int)get_local_size(0))                        \
        stage[i] = from[first + i];                                                                \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* global: others will write there */      \
    FOR_NODES(j) to[j] = mine && IS_NODE(c, j) ? stage[c * CHUNK + j] : (type)(0);                  \
    barrier(CLK_LOCAL_MEM_FENCE);

/* A chunk a work-item: all of it stays in registers. low and high: values at the chunks' ends, for their neighbours. */
static inline void march_resident(global real2 *psi, global const real2 *factors_r,
                                  global const change_t *change, index_t first, real2 factor, int reach,
                                  int steps, target to, local real2 *ahead, local real2 *back, local real2 *forth_left,
                                  local real2 *back_left, local real2 *low, local real2 *high, local real2 *stage)
{
    const int c = (int)get_local_id(0);
    const int mine = c < CHUNKS;
    const int known = min(c, CHUNKS - 1); /* work-items without a chunk go along, and must not read beyond the arrays */
    real2 f[CHUNK], r[CHUNK], y[CHUNK];
    change_t v[CHUNK];
#if STAGED
    local change_t *stage_v = (local change_t *)stage;
    TAKE_CHUNKS(f, stage, psi, real2)
    TAKE_CHUNKS(r, stage, factors_r, real2)
    TAKE_CHUNKS(v, stage_v, change, change_t)
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
        real2 forth = (real2)(1, 0), backwards = (real2)(1, 0);
        FOR_NODES(j)
            if (IS_NODE(c, j)) {
                forth = times(forth, j > 0 ? -r[j - 1] : c > 0 ? -r_before : (real2)(0));
                backwards = times(backwards, -r[j]);
            }
        forth_left[c] = forth;
        back_left[c] = backwards;
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
        real2 leaves = (real2)(0);
        FOR_NODES(j) {
            y[j] = applied(j > 0 ? f[j - 1] : below, f[j], j + 1 < CHUNK ? f[j + 1] : above, v[j]);
            leaves = less(y[j], j > 0 ? r[j - 1] : r_before, leaves);
        }
        if (mine)
            ahead[c] = leaves;
        barrier(CLK_LOCAL_MEM_FENCE);
        ENTERS_FORWARDS(enters, known)
        FOR_NODES(j)
            enters = y[j] = less(y[j], j > 0 ? r[j - 1] : r_before, enters);
        real2 u = (real2)(0);
        FOR_NODES_BACK(j)
            u = IS_NODE(c, j) ? times(r[j], y[j] - u) : u;
        if (mine)
            back[c] = u;
        barrier(CLK_LOCAL_MEM_FENCE);
        ENTERS_BACKWARDS(w, known)
        FOR_NODES_BACK(j)
            if (IS_NODE(c, j)) {
                w = times(r[j], y[j] - w);
                f[j] = less(f[j], factor, w);
            }
    }
    FOR_NODES(j)
        if (mine && IS_NODE(c, j)) {
            to.values[to.first + (c * CHUNK + j) * to.stride] = f[j];
            if (to.both)
                psi[first + c * CHUNK + j] = f[j];
        }
}

/* Chunks one after the other, as few work-items have to: the row and y stay in global memory. */
static inline void march_shared(global real2 *psi, global const real2 *factors_r,
                                global const change_t *change, global real2 *work, index_t first, real2 factor,
                                int reach, int steps, target to, local real2 *ahead, local real2 *back,
                                local real2 *forth_left, local real2 *back_left)
{
    FOR_CHUNKS(c) { /* what it lets pass of what enters it */
        real2 forth = (real2)(1, 0), backwards = (real2)(1, 0);
        for (int i = c * CHUNK; i < END(c); i++) {
            forth = times(forth, i > 0 ? -factors_r[first + i - 1] : (real2)(0));
            backwards = times(backwards, -factors_r[first + i]);
        }
        forth_left[c] = forth;
        back_left[c] = backwards;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 0; step < steps; step++) {
        FOR_CHUNKS(c) {
            real2 before = c > 0 ? psi[first + c * CHUNK - 1] : (real2)(0), here = psi[first + c * CHUNK];
            real2 r = c > 0 ? factors_r[first + c * CHUNK - 1] : (real2)(0), leaves = (real2)(0);
            for (int i = c * CHUNK; i < END(c); i++) {
                const real2 after = i + 1 < NX ? psi[first + i + 1] : (real2)(0);
                const real2 g = applied(before, here, after, change[first + i]);
                work[first + i] = g;
                leaves = less(g, r, leaves);
                r = factors_r[first + i];
                before = here;
                here = after;
            }
            ahead[c] = leaves;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        FOR_CHUNKS(c) {
            real2 r = c > 0 ? factors_r[first + c * CHUNK - 1] : (real2)(0), u = (real2)(0);
            ENTERS_FORWARDS(enters, c)
            for (int i = c * CHUNK; i < END(c); i++) {
                enters = less(work[first + i], r, enters);
                work[first + i] = enters;
                r = factors_r[first + i];
            }
            for (int i = END(c) - 1; i >= c * CHUNK; i--)
                u = times(factors_r[first + i], work[first + i] - u);
            back[c] = u;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        FOR_CHUNKS(c) {
            ENTERS_BACKWARDS(u, c)
            for (int i = END(c) - 1; i >= c * CHUNK; i--) {
                u = times(factors_r[first + i], work[first + i] - u);
                psi[first + i] = less(psi[first + i], factor, u);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    if (to.values != psi)
        for (int i = (int)get_local_id(0); i < NX; i += (int)get_local_size(0))
            to.values[to.first + i * to.stride] = psi[first + i];
}

#define SCRATCH                                                                         \
    local real2 ahead[CHUNKS], back[CHUNKS], forth_left[CHUNKS], back_left[CHUNKS];     \
    local real2 low[CHUNKS + 1], high[CHUNKS + 1], stage[STAGED ? NX : 1]

/* Not on CPUs, whose work-groups are of one unless asked for: Intel's compiler for them (2026.2) gives other results by chunks that stay
 * in registers across barriers, in subgroups of any width. */
#define MARCH(factor)                                                                                              \
    if (!IS_CPU && get_local_size(0) >= CHUNKS)                                                                    \
        march_resident(psi, factors_r, change, first, factor, reach, steps, to, ahead, back, forth_left,           \
                       back_left, low, high, stage);                                                               \
    else                                                                                                           \
        march_shared(psi, factors_r, change, work, first, factor, reach, steps, to, ahead, back, forth_left,       \
                     back_left);

#if METHOD == 0
kernel void bpm_march(global real2 *psi, global const real2 *restrict factors_r, global const change_t *restrict change,
                      global real2 *work, global const real2 *restrict factors, int reach, int steps)
{
    SCRATCH;
    const int row = (int)get_global_id(1) - Y0;
    const index_t first = AT(0, row);
    target to;
    to.values = psi;
    to.first = first;
    to.stride = 1;
    to.both = 0;
    MARCH(factors[(int)get_global_id(1)])
}
#else
/* Lines of a cross-section. What P has along the line and half of the index belong to it, the rest to the lines across;
 * each half step keeps the power. With `turn` the result is stored for those: value number i of row j goes to row i of
 * the turned grid, at place j; with turn = 2 it is stored here as well. */
kernel void bpm_line(global real2 *psi, global const real2 *restrict factors_r, global const change_t *restrict change,
                     global real2 *work, global real2 *other, int turn, real factor_x, real factor_y, int reach,
                     int steps)
{
    SCRATCH;
    const int row = (int)get_global_id(1) - Y0;
    const index_t first = AT(0, row);
    target to;
    to.values = turn ? other : psi;
    to.first = turn ? AT_TRANSPOSED(0, row) : first;
    to.stride = turn ? (index_t)TRANSPOSE_PITCH : 1;
    to.both = turn == 2;
    MARCH((real2)(factor_x, factor_y))
}
#endif
#endif

/* ----------------------------------------------------------------------------------------------------- transforms */
#if METHOD == 3
kernel void bpm_times(global real2 *restrict psi, global const real2 *restrict by)
{
    CELL(i, j);
    psi[AT(i, j)] = times(psi[AT(i, j)], by[AT(i, j)]);
}
#endif
