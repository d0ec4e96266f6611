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
 * On a CPU the chunks of a line are the lanes of vectors: bpm_lanes.cl, behind this file, has the kernels (IN_LANES).
 *
 * LOSSY: v is complex (absorption, absorbing layers). SPACE: lines of a cross-section instead of beams in a plane.
 * TRANSFORMS: split steps instead, of which the kernel is only what lies between two transforms. */
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

#define CHUNKS ((NX + CHUNK - 1) / CHUNK)
#define END(c) min((c + 1) * CHUNK, NX)
#define ROWS (SPACE ? 4 : 1) /* BN_PER_ROWS */

/* Where node i of a row lies in the transposed grid. OTHER_FIRST, OTHER_PITCH: of grids in one box; else 0. */
#if OTHER_PITCH
#define IS_STORED(i) 1
#define STORED_AT(i, row) (OTHER_FIRST + (index_t)(i)*OTHER_PITCH + (row))
#else
#define IS_STORED(i) IS_TRANSPOSED(sizes, i)
#define STORED_AT(i, row) AT_TRANSPOSED(sizes, i, row)
#endif

/* LANES_FIT: whether a CPU's local memory holds a line. Where loops end early, those that bring it there are too
 * many. */
#define IN_LANES (!KEEPS_REGISTERS && LANES_FIT && !LOOPS_END)
#if !IN_LANES
/* c - a b */
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

/* In space a work-group takes LINES lines side by side (SIDE_BY_SIDE of the host); work-item t has chunk t / LINES of
 * line t % LINES. psi and v are in local memory, the values of a node of these lines beside each other. It has room for
 * psi of HELD lines, a multiple of LINES. They are stored transposed together where that fills the 32 bytes that memory
 * writes at once: parts of them cost more than to store in place, and to read again once ROWS lines are there. In a
 * plane, or where not even one line fits (HELD 0), psi stays in registers: less time a step, and more registers. */
#define LANES 256 /* of a work-group, usually; the ends of 342 chunks exceed 32 KiB */
#define HAS_ALL_CHUNKS (KEEPS_REGISTERS && CHUNKS <= LANES)
#define IN_WINDOWS (KEEPS_REGISTERS && SPACE && CHUNKS > LANES)
#define GROUP_CHUNKS (IN_WINDOWS ? LANES : CHUNKS) /* those that a work-group has at a time */
#define LINES (HAS_ALL_CHUNKS ? SIDE_BY_SIDE : 1)
#define IN_LOCAL (HAS_ALL_CHUNKS && HELD > 0)
#define STORED_FROM_LOCAL (IN_LOCAL && HELD * 2 * REAL_BYTES >= 32)

/* (5): what enters chunk c of so many from the chunks before it, and from those behind it. */
#define FORWARD_INPUT(y, c)                                 \
    real2 y = (real2)(0);                                   \
    for (int from_ = max(c - reach, 0); from_ < c; from_++) \
        y = cfma(forward_factor[from_ * LINES], y, forward_carry[from_ * LINES]);
#define BACKWARD_INPUT(u, c, chunks)                                   \
    real2 u = (real2)(0);                                              \
    for (int from_ = min(c + reach, (chunks) - 1); from_ > c; from_--) \
        u = cfma(backward_factor[from_ * LINES], u, backward_carry[from_ * LINES]);

/* Whether node j of chunk c is there: only the last chunk may be short. */
#define IS_NODE(c, j) (NX % CHUNK == 0 || (c) < CHUNKS - 1 || (j) < NX % CHUNK)

/* The nodes of a chunk, one by one: what is kept of them stays in registers. */
#define FOR_NODES(j) UNROLLED for (int j = 0; j < CHUNK; j++)
#define FOR_NODES_BACK(j) UNROLLED for (int j = CHUNK - 1; j >= 0; j--)

/* Work-items read nodes in order and store them in order, neighbours beside each other, whoever's chunk they are in:
 * CHUNKS at a time, so that only of the last it is a question whether they are there. */
#define IN_ORDER(j) (own + (j)*CHUNKS)
#define IS_IN_ORDER(j) (((j) + 1) * CHUNKS <= NX || IN_ORDER(j) < NX)
#define TO_LOCAL(a, memory) FOR_NODES(j) if (mine) memory[IN_ORDER(j) * LINES + l] = a[j];

/* Local memory: carries and factors, v, psi of the lines that are held. */
#if IN_LOCAL
#define OF_CHUNK(memory, j) memory[(own * CHUNK + (j)) * LINES + l]
#define PSI(j) OF_CHUNK(nodes, j)
#define V(j) OF_CHUNK(nodes_v, j)
#define AT_V (4 * LINES * CHUNKS)
#define AT_NODES (AT_V + (LOSSY ? 2 : 1) * LINES * CHUNKS * CHUNK / 2 + 1)
#define NODES (LINES * (CHUNKS * CHUNK + 1))
#define NODES_OF(k) (AT_NODES + (k) % HELD / LINES * NODES)
#define MEMORY_VALUES (AT_NODES + HELD / LINES * NODES)
#else
#define PSI(j) f[j]
#define V(j) v[j]
#define IN_REGISTERS_ALONE (6 * GROUP_CHUNKS + 2) /* with low and high */
#define IN_MEMORY (4 * LINES * CHUNKS)
#define MEMORY_VALUES                                                                                         \
    (HAS_ALL_CHUNKS || (IN_WINDOWS && IN_REGISTERS_ALONE > IN_MEMORY) ? IN_REGISTERS_ALONE : IN_MEMORY)
#endif

/* Chunks of a line that a work-group takes at once, so many from `begin` on: all of them, or a part that overlaps the
 * next one. It stores those in [stored_begin, stored_end). */
typedef struct window {
    int begin, chunks, stored_begin, stored_end;
} window;
#define WHOLE_LINE ((window){ 0, CHUNKS, 0, CHUNKS })

/* A work-item's part of a line's matrix: r of its chunk's nodes and of the one before. */
typedef struct matrix {
    real2 r_before, r[CHUNK];
} matrix;

#if IN_LOCAL
/* Brings the matrices of the lines from row on: v to local memory, and (5) what carries are multiplied by. psi must not
 * be there yet. */
ALWAYS_INLINED void take_matrices(matrix *m, global const real2 *factors_r, global const change_t *change, int row,
                                  int k, local real2 *memory)
{
    const int l = (int)(get_local_id(0) % LINES), c = (int)(get_local_id(0) / LINES);
    const int mine = c < CHUNKS, own = min(c, CHUNKS - 1);
    const index_t first = AT(0, min(row + l, NY - 1)) + own;
    local change_t *nodes_v = (local change_t *)(memory + AT_V);
    local real2 *nodes = memory + NODES_OF(k), *forward_factor = memory + l + 2 * LINES * CHUNKS;
    local real2 *backward_factor = forward_factor + LINES * CHUNKS;
    real2 r[CHUNK];
    change_t v[CHUNK];
    FOR_NODES(j) {
        r[j] = IS_IN_ORDER(j) ? factors_r[first + j * CHUNKS] : (real2)(0);
        v[j] = IS_IN_ORDER(j) ? change[first + j * CHUNKS] : (change_t)(0);
    }
    TO_LOCAL(r, nodes)
    TO_LOCAL(v, nodes_v)
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_NODES(j)
        m->r[j] = OF_CHUNK(nodes, j);
    m->r_before = own > 0 ? OF_CHUNK(nodes, -1) : (real2)(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine) {
        real2 forward = (real2)(1, 0), backward = (real2)(1, 0);
        FOR_NODES(j)
            if (IS_NODE(own, j)) {
                forward = cmul(forward, j > 0 ? -m->r[j - 1] : c > 0 ? -m->r_before : (real2)(0));
                backward = cmul(backward, -m->r[j]);
            }
        forward_factor[c * LINES] = forward;
        backward_factor[c * LINES] = backward;
    }
}
#endif

/* One work-item per chunk. Steps of the lines from row on, number k and following of the work-group's; psi is stored in
 * `result`, which is psi itself but for windows, unless it is only to be stored from local memory. taken: whether `m`
 * has these lines' matrices already. */
static inline void steps_in_registers(global const real2 *psi, global const real2 *factors_r,
                                      global const change_t *change, global real2 *result, window w, int store, int row,
                                      int k, real2 factor, int reach, int steps, local real2 *memory, matrix *m,
                                      int taken)
{
    const int l = (int)(get_local_id(0) % LINES), c = (int)(get_local_id(0) / LINES);
    const int mine = c < w.chunks;
    /* Work-items without a chunk, and lines that are not there, do what the last does. */
    const int own = min(c, w.chunks - 1), of_line = w.begin + own;
    const index_t first = AT(0, min(row + l, NY - 1));
    local real2 *forward_carry = memory + l, *backward_carry = forward_carry + LINES * GROUP_CHUNKS;
    local real2 *forward_factor = backward_carry + LINES * GROUP_CHUNKS;
    local real2 *backward_factor = forward_factor + LINES * GROUP_CHUNKS;
    real2 y[CHUNK];
#if IN_LOCAL
    local const change_t *nodes_v = (local const change_t *)(memory + AT_V);
    local real2 *nodes = memory + NODES_OF(k);
    global const real2 *line_psi = psi + first + own;
    FOR_NODES(j)
        y[j] = IS_IN_ORDER(j) ? line_psi[j * CHUNKS] : (real2)(0);
    if (!taken)
        take_matrices(m, factors_r, change, row, k, memory);
    const real2 r_before = m->r_before;
    real2 r[CHUNK];
    FOR_NODES(j)
        r[j] = m->r[j];
    TO_LOCAL(y, nodes)
    if (c == 0)
        nodes[CHUNKS * CHUNK * LINES + l] = (real2)(0);
#else
    local real2 *low = backward_factor + GROUP_CHUNKS, *high = low + GROUP_CHUNKS + 1;
    real2 r_before = (real2)(0), r[CHUNK], f[CHUNK];
    change_t v[CHUNK];
    FOR_NODES(j) {
        const int is_node = mine && IS_NODE(of_line, j);
        const index_t at = first + (is_node ? of_line * CHUNK + j : 0);
        f[j] = is_node ? psi[at] : (real2)(0);
        r[j] = is_node ? factors_r[at] : (real2)(0);
        v[j] = is_node ? change[at] : (change_t)(0);
    }
    if (mine && c > 0)
        r_before = factors_r[first + of_line * CHUNK - 1];
    if (c == 0)
        high[0] = low[w.chunks] = (real2)(0);
    if (mine) {
        real2 forward = (real2)(1, 0), backward = (real2)(1, 0);
        FOR_NODES(j)
            if (IS_NODE(of_line, j)) {
                forward = cmul(forward, j > 0 ? -r[j - 1] : c > 0 ? -r_before : (real2)(0));
                backward = cmul(backward, -r[j]);
            }
        forward_factor[c * LINES] = forward;
        backward_factor[c * LINES] = backward;
    }
    (void)m;
    (void)taken;
#endif
    for (int step = 0; step < steps; step++) {
#if IN_LOCAL
        barrier(CLK_LOCAL_MEM_FENCE);
        real2 before = own > 0 ? PSI(-1) : (real2)(0);
        const real2 above = PSI(CHUNK);
#else
        if (mine) {
            if (c > 0)
                low[c] = f[0];
            high[c + 1] = f[CHUNK - 1];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        real2 before = high[own];
        const real2 above = low[own + 1];
#endif
        real2 carry = (real2)(0);
        FOR_NODES(j) { /* (2), (3) as if nothing entered */
            const real2 here = PSI(j);
            y[j] = apply_operator(before, here, j + 1 < CHUNK ? PSI(j + 1) : above, V(j));
            carry = cfnma(j > 0 ? r[j - 1] : r_before, carry, y[j]);
            before = here;
        }
        if (mine)
            forward_carry[c * LINES] = carry;
        barrier(CLK_LOCAL_MEM_FENCE);
        FORWARD_INPUT(y_in, own)
        FOR_NODES(j) /* (3) */
            y_in = y[j] = cfnma(j > 0 ? r[j - 1] : r_before, y_in, y[j]);
        real2 u = (real2)(0);
        FOR_NODES_BACK(j) { /* (4) as if nothing entered */
            const real2 next = cmul(r[j], y[j] - u);
            u = IS_NODE(of_line, j) ? next : u;
        }
        if (mine)
            backward_carry[c * LINES] = u;
        barrier(CLK_LOCAL_MEM_FENCE);
        BACKWARD_INPUT(u_in, own, w.chunks)
        FOR_NODES_BACK(j) { /* (4), (1) */
            const real2 next = cmul(r[j], y[j] - u_in);
            u_in = IS_NODE(of_line, j) ? next : u_in;
            if ((mine | !IN_LOCAL) && IS_NODE(of_line, j))
                PSI(j) = cfnma(factor, u_in, PSI(j));
        }
    }
#if IN_LOCAL
    if (STORED_FROM_LOCAL && store == 1)
        return;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* all have read, those that only follow the last too */
    FOR_NODES(j)
        if (mine && row + l < NY && IS_IN_ORDER(j))
            result[first + IN_ORDER(j)] = nodes[IN_ORDER(j) * LINES + l];
#else
    const int stored = mine && of_line >= w.stored_begin && of_line < w.stored_end;
    FOR_NODES(j)
        if (stored && IS_NODE(of_line, j))
            result[first + of_line * CHUNK + j] = f[j];
    (void)store;
    (void)k;
#endif
}

/* Work-items with several chunks each: psi and y stay in global memory. */
static inline void steps_in_memory(global real2 *psi, global const real2 *factors_r, global const change_t *change,
                                   global real2 *work, index_t first, real2 factor, int reach, int steps,
                                   local real2 *memory)
{
    local real2 *forward_carry = memory, *backward_carry = forward_carry + LINES * CHUNKS;
    local real2 *forward_factor = backward_carry + LINES * CHUNKS, *backward_factor = forward_factor + LINES * CHUNKS;
    FOR_CHUNKS(c) {
        real2 forward = (real2)(1, 0), backward = (real2)(1, 0);
        for (int i = c * CHUNK; i < END(c); i++) {
            forward = cmul(forward, i > 0 ? -factors_r[first + i - 1] : (real2)(0));
            backward = cmul(backward, -factors_r[first + i]);
        }
        forward_factor[c * LINES] = forward;
        backward_factor[c * LINES] = backward;
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
            forward_carry[c * LINES] = carry;
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
            backward_carry[c * LINES] = u;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        FOR_CHUNKS(c) {
            BACKWARD_INPUT(u, c, CHUNKS)
            for (int i = END(c) - 1; i >= c * CHUNK; i--) { /* (4), (1) */
                u = cmul(factors_r[first + i], work[first + i] - u);
                psi[first + i] = cfnma(factor, u, psi[first + i]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}

#define IN_REGISTERS (HAS_ALL_CHUNKS && get_local_size(0) >= LINES * CHUNKS)
#define TAKE_STEPS(store, row, k, factor, m, taken)                                                               \
    if (IN_REGISTERS)                                                                                             \
        steps_in_registers(psi, factors_r, change, psi, WHOLE_LINE, store, row, k, factor, reach, steps, memory,  \
                           m, taken);                                                                             \
    else                                                                                                          \
        for (int row_ = row; row_ < min(row + LINES, NY); row_++)                                                 \
            steps_in_memory(psi, factors_r, change, work, AT(0, row_), factor, reach, steps, memory);

#if !SPACE
/* Any number of steps of beams in a plane, a work-group a beam; section: whose matrices they are, of several. */
kernel void bpm_crank_nicolson(global real2 *psi, global const real2 *restrict factors_r,
                               global const change_t *restrict change, global real2 *work,
                               global const real2 *restrict factors, int section, int reach, int steps)
{
    local real2 memory[MEMORY_VALUES];
    factors_r += (index_t)section * PLANE;
    change += (index_t)section * PLANE;
    matrix m;
    TAKE_STEPS(0, (int)get_global_id(1) - Y0, 0, factors[(int)get_global_id(1)], &m, 0)
}
#else
/* The rows [top, end), at most ROWS, to the transposed grid. */
static inline void store_transposed(global real2 *other, const int16 sizes, global const real2 *from, int top, int end)
{
    const uint rows = end - top == 1 ? 1 : ROWS;
    for (uint n = (uint)get_local_id(0); n < NX * rows; n += (uint)get_local_size(0)) {
        const int i = (int)(rows == 1 ? n : n / ROWS), row = top + (int)(rows == 1 ? 0 : n % ROWS);
        if (row < end && IS_STORED(i))
            other[STORED_AT(i, row)] = from[AT(i, row)];
    }
}

/* Half steps along the lines [top, bottom), at most ROWS, of a cross-section. apart: work-groups of a launch have a
 * line each. taken: whether `m` has these lines' matrices already. */
static inline void steps_along(global real2 *psi, global const real2 *factors_r, global const change_t *change,
                               global real2 *work, global real2 *other, const int16 sizes, int store, int top,
                               int bottom, int apart, real2 factor, int reach, int steps, local real2 *memory,
                               matrix *m, int taken)
{
    const int from_local = STORED_FROM_LOCAL & IN_REGISTERS & !apart;
    ROLLED for (int row = top; row < bottom; row += LINES) {
        TAKE_STEPS(from_local ? store : 2, row, row - top, factor, m, taken)
        barrier(CLK_LOCAL_MEM_FENCE);
#if STORED_FROM_LOCAL
        const int begin = (row - top) / HELD * HELD, end = row - top + LINES; /* of the lines that are held, so far */
        const uint values = store && from_local && (end - begin == HELD || top + end >= NY) ? NX * HELD : 0;
        for (uint n = (uint)get_local_id(0); n < values; n += (uint)get_local_size(0)) {
            const int i = (int)(n / HELD), at = begin + (int)(n % HELD);
            if (top + at < NY && IS_STORED(i))
                other[STORED_AT(i, top + at)] = memory[NODES_OF(at) + i * LINES + at % LINES];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    if ((store != 0) & !from_local)
        store_transposed(other, sizes, psi, top, bottom);
}

#if ONE_LAUNCH
#define MATRICES_AHEAD (IN_LOCAL && LINES >= ROWS)
#if MATRICES_AHEAD
#define TAKE_AHEAD(y, task)                                                                                   \
    take_matrices(&m, (y) ? factors_y : factors_x, (y) ? change_y : change_x, (task)*ROWS, 0, memory);
#else
#define TAKE_AHEAD(y, task)
#endif
/* Passes along the lines of one direction and of the other by turns, as many half steps in the first as `first` says,
 * in the last one `last`, else two: many steps along z of a small square cross-section, whose launches cost more than
 * what they do. Grids of both directions lie alike. Between passes all work-groups meet (lib/meet.h); while it waits
 * for the others, a work-group brings the matrices of its next lines. along_y: whether the first pass is along y.
 * store: of the last pass, as of bpm_half_step. passes 0: a meeting alone, which proves that work-groups run side by
 * side. failed: 1 where they did not; then psi is no number, as the host will see. */
kernel void bpm_steps(global real2 *psi_x, global real2 *psi_y, global const real2 *restrict factors_x,
                      global const real2 *restrict factors_y, global const change_t *restrict change_x,
                      global const change_t *restrict change_y, global real2 *work, int along_y, int passes, int first,
                      int last, int store, real factor_x, real factor_y, int reach_x, int reach_y,
                      volatile global int *meeting, global real *failed)
{
    local real2 memory[MEMORY_VALUES];
    int met = meeting[MEETINGS];
    const int tasks = passes > 0 ? (NY + ROWS - 1) / ROWS : 0;
    const int mine = (int)get_group_id(0), groups = (int)get_num_groups(0);
    matrix m;
    TAKE_AHEAD(along_y, mine)
    barrier(CLK_LOCAL_MEM_FENCE);
    ROLLED for (int pass = 0; pass < max(passes, 1); pass++) {
        const int y = (along_y + pass) & 1, ends = pass + 1 >= passes;
        const int count = pass == 0 ? first : ends ? last : 2;
        FOR_GROUPS(task, tasks)
        {
            steps_along(y ? psi_y : psi_x, y ? factors_y : factors_x, y ? change_y : change_x, work, y ? psi_x : psi_y,
                        (int16)(0), ends ? store : 1, task * ROWS, min(task * ROWS + ROWS, NY), 0,
                        (real2)(factor_x, factor_y), y ? reach_y : reach_x, count, memory, &m, MATRICES_AHEAD);
            barrier(CLK_LOCAL_MEM_FENCE);
            ROLLED for (int next = task + groups; next < tasks; next = tasks) {
                TAKE_AHEAD(y, next)
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }
        if (!ends || passes == 0) {
            const int last_one = arrive(meeting, met);
            TAKE_AHEAD(!y, mine)
            wait_for_all(meeting, &met, last_one);
        }
    }
    if (get_local_id(0) == 0 && meeting[FAILED] != 0) {
        const index_t own = AT(0, (int)get_group_id(0) * ROWS);
        psi_x[own] = psi_y[own] = (real2)(NAN);
        failed[0] = 1;
    }
}
#else
/* Lines of more chunks than work-items go by in windows that overlap, each with ends as if there were walls: what is
 * wrong there comes reach + 1 chunks inwards in a step, as with pieces of lines (docs/bpm.md). Results lie in `work`:
 * the next window needs what psi was. */
#define BEYOND (steps * (reach + 1))
#define WINDOW_STORES (min((int)get_local_size(0), LANES) - 2 * BEYOND)
#define FEWEST_STORED 32 /* with fewer the windows have more to do than lines in global memory */
static inline void steps_in_windows(global real2 *psi, global const real2 *factors_r, global const change_t *change,
                                    global real2 *work, global real2 *other, const int16 sizes, int store, int top,
                                    int bottom, real2 factor, int reach, int steps, local real2 *memory)
{
    const int each = WINDOW_STORES;
    matrix m;
    ROLLED for (int row = top; row < bottom; row++)
        ROLLED for (int begin = 0, end; begin < CHUNKS; begin = end) {
            const int first = max(begin - BEYOND, 0), last = min(begin + each + BEYOND, CHUNKS);
            end = last < CHUNKS ? begin + each : CHUNKS;
            steps_in_registers(psi, factors_r, change, work, (window){ first, last - first, begin, end }, 0, row, 0,
                               factor, reach, steps, memory, &m, 0);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (store != 0)
        store_transposed(other, sizes, work, top, bottom);
    for (int row = top; store != 1 && row < bottom; row++)
        for (int i = (int)get_local_id(0); i < NX; i += (int)get_local_size(0))
            psi[AT(i, row)] = work[AT(i, row)];
}

/* Half steps along the lines of a cross-section: what P has along the line and half of the index; the rest belongs to
 * the half steps along the lines across, and each of them keeps the power. store: 0 in place; 1 transposed, value i of
 * row j to row i of the transposed grid, whose box has these `sizes`, at place j; 2 both. ROWS values that lie beside
 * each other there are stored together: memory takes no less at a time. Of a grid in several boxes each has pieces of
 * the lines along y, from chunk to chunk, which end as walls: what enters them is wrong there, and (5) carries that
 * `reach` chunks inwards, twice with the nodes beside them in each half step. So much more than it stores has a piece.
 */
kernel void bpm_half_step(global real2 *psi, global const real2 *restrict factors_r,
                          global const change_t *restrict change, global real2 *work, global real2 *other,
                          const int16 sizes, int store, real factor_x, real factor_y, int reach, int steps)
{
    local real2 memory[MEMORY_VALUES];
    /* Where other devices wait for a part of a launch each of its rows has a work-group of its own (BN_PER_ROWS). */
    const int apart = (LINES == 1) & (get_num_groups(2) > 1), k = (int)get_group_id(2);
    const int top = LAUNCH_Y + (int)get_group_id(1) * ROWS + (apart ? k : 0);
    const int bottom = min(top + (apart ? 1 : k > 0 ? 0 : ROWS), NY);
    if (IN_WINDOWS & (WINDOW_STORES >= FEWEST_STORED)) {
        steps_in_windows(psi, factors_r, change, work, other, sizes, store, top, bottom, (real2)(factor_x, factor_y),
                         reach, steps, memory);
        return;
    }
    matrix m;
    steps_along(psi, factors_r, change, work, other, sizes, store, top, bottom, apart, (real2)(factor_x, factor_y),
                reach, steps, memory, &m, 0);
}
#endif
#endif
#endif
#endif
