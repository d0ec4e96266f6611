/* bpm_lanes.cl: the kernels of bpm.cl, which stands before it and has the method, for CPUs: the chunks of a line are
 * the lanes of vectors, and one work-item takes all steps of a line. The arithmetic is that of a GPU, bit for bit.
 *
 * Node j of chunk c, real or imaginary part, is lane c of row j of an array in local memory. psi has a row in front of
 * the first, of the nodes before the chunks, and one behind the last; r has the former. Outside of the line all is
 * zero, but y and what is carried: loops over lanes go on to a multiple of 16, so that all are in vectors. Distances
 * between arrays are constants, so that compilers see that no loop reads what it writes. */
#if IN_LANES
#define LANES_LOOPED ((CHUNKS + 15) / 16 * 16)
#define LANES_WIDE (LANES_LOOPED + 16 + LANE_MARGIN)
#define PSI_ROW(part, j) (((part) * (CHUNK + 2) + 1 + (j)) * LANES_WIDE + LANE_MARGIN)
#define R_ROW(part, j) (((2 + (part)) * (CHUNK + 2) + 1 + (j)) * LANES_WIDE + LANE_MARGIN)
#define Y_ROW(part, j) (((4 + (part)) * (CHUNK + 2) + (j)) * LANES_WIDE + LANE_MARGIN)
#define V_ROW(part, j) (((6 + (part)) * (CHUNK + 2) + (j)) * LANES_WIDE + LANE_MARGIN)
#define OF_LANES(what, part) (((7 + LOSSY) * (CHUNK + 2) + 2 * (what) + (part)) * LANES_WIDE + LANE_MARGIN)
enum { CARRIED, ENTERING, FORWARD_FACTOR, BACKWARD_FACTOR, WHAT_LANES_HAVE };
#define LANES_VALUES OF_LANES(WHAT_LANES_HAVE, 0)

/* The last chunk may be short, and have no node j. */
#define LAST_NODES (NX - (CHUNKS - 1) * CHUNK)
#define LAST_HAS(j) ((j) < LAST_NODES)
#define EACH_CHUNK(c, count) IN_WHOLE_VECTORS for (lane_t c = 0; c < (count); c++)
#define EACH_LANE_IN_VECTORS(c) EACH_CHUNK(c, LANES_LOOPED)

/* cmul and cfma of lib/pair.h, part by part: of pairs compilers make no vectors. */
INLINED void multiply(real ax, real ay, real bx, real by, real *x, real *y)
{
    *x = fma(ax, bx, -(ay * by));
    *y = fma(ax, by, ay * bx);
}
INLINED void multiply_add(real ax, real ay, real bx, real by, real cx, real cy, real *x, real *y)
{
    *x = fma(-ay, by, fma(ax, bx, cx));
    *y = fma(ay, bx, fma(ax, by, cy));
}

/* The nodes of a line from memory, and the shares of what enters a chunk that leave it. */
INLINED void load_lanes(local real *m, global const real2 *psi, global const real2 *r, global const change_t *change)
{
    for (int j = 0; j < CHUNK; j++) {
        local real *row = m + j * LANES_WIDE;
        const lane_t count = CHUNKS - !LAST_HAS(j);
        EACH_CHUNK(c, count) {
            row[PSI_ROW(0, 0) + c] = psi[c * CHUNK + j].x;
            row[PSI_ROW(1, 0) + c] = psi[c * CHUNK + j].y;
            row[R_ROW(0, 0) + c] = r[c * CHUNK + j].x;
            row[R_ROW(1, 0) + c] = r[c * CHUNK + j].y;
#if LOSSY
            row[V_ROW(0, 0) + c] = change[c * CHUNK + j].x;
            row[V_ROW(1, 0) + c] = change[c * CHUNK + j].y;
#else
            row[V_ROW(0, 0) + c] = change[c * CHUNK + j];
#endif
        }
    }
    EACH_CHUNK(c, CHUNKS) {
        m[R_ROW(0, -1) + c] = m[R_ROW(0, CHUNK - 1) + c - 1];
        m[R_ROW(1, -1) + c] = m[R_ROW(1, CHUNK - 1) + c - 1];
        m[OF_LANES(FORWARD_FACTOR, 0) + c] = m[OF_LANES(BACKWARD_FACTOR, 0) + c] = 1;
        m[OF_LANES(FORWARD_FACTOR, 1) + c] = m[OF_LANES(BACKWARD_FACTOR, 1) + c] = 0;
    }
    for (int j = 0; j < CHUNK; j++) {
        local real *row = m + j * LANES_WIDE;
        EACH_LANE_IN_VECTORS(c) { /* the last chunk hands nothing on, so that its nodes do not matter */
            real fx, fy, bx, by;
            multiply(m[OF_LANES(FORWARD_FACTOR, 0) + c], m[OF_LANES(FORWARD_FACTOR, 1) + c], -row[R_ROW(0, -1) + c],
                     -row[R_ROW(1, -1) + c], &fx, &fy);
            multiply(m[OF_LANES(BACKWARD_FACTOR, 0) + c], m[OF_LANES(BACKWARD_FACTOR, 1) + c], -row[R_ROW(0, 0) + c],
                     -row[R_ROW(1, 0) + c], &bx, &by);
            m[OF_LANES(FORWARD_FACTOR, 0) + c] = fx;
            m[OF_LANES(FORWARD_FACTOR, 1) + c] = fy;
            m[OF_LANES(BACKWARD_FACTOR, 0) + c] = bx;
            m[OF_LANES(BACKWARD_FACTOR, 1) + c] = by;
        }
        if (j == 0) /* nothing enters the first chunk */
            m[OF_LANES(FORWARD_FACTOR, 0)] = m[OF_LANES(FORWARD_FACTOR, 1)] = 0;
    }
}

/* (5) for all chunks, from those before them (FORWARD_FACTOR) or behind (BACKWARD_FACTOR). */
INLINED void enter_lanes(local real *m, int factor, int reach)
{
    const int forward = factor == FORWARD_FACTOR;
    EACH_CHUNK(c, CHUNKS)
        m[OF_LANES(ENTERING, 0) + c] = m[OF_LANES(ENTERING, 1) + c] = 0;
    for (int k = min(reach, CHUNKS - 1); k > 0; k--) {
        local const real *from = m + (forward ? 0 : k);
        local real *to = m + (forward ? k : 0);
        EACH_CHUNK(c, CHUNKS - k) {
            real x, y;
            multiply_add(from[OF_LANES(factor, 0) + c], from[OF_LANES(factor, 1) + c], to[OF_LANES(ENTERING, 0) + c],
                         to[OF_LANES(ENTERING, 1) + c], from[OF_LANES(CARRIED, 0) + c], from[OF_LANES(CARRIED, 1) + c],
                         &x, &y);
            to[OF_LANES(ENTERING, 0) + c] = x;
            to[OF_LANES(ENTERING, 1) + c] = y;
        }
    }
}

/* What lies outside of the line, and where its last chunk may have no node. */
INLINED void clear_lanes(local real *m)
{
    for (int row = 0; row < LANES_VALUES - LANE_MARGIN; row += LANES_WIDE) {
        for (int n = 0; n < LANE_MARGIN; n++)
            m[row + n] = 0;
        for (int n = LANE_MARGIN + CHUNKS - 1; n < LANES_WIDE; n++)
            m[row + n] = 0;
    }
}

/* Steps of a line whose first node is at `first`; m: cleared once for all lines. */
INLINED void steps_in_lanes(global real2 *psi, global const real2 *factors_r, global const change_t *change,
                            index_t first, real2 factor, int reach, int steps, local real *m)
{
    load_lanes(m, psi + first, factors_r + first, change + first);
    for (int step = 0; step < steps; step++) {
        EACH_CHUNK(c, CHUNKS) {
            m[PSI_ROW(0, -1) + c] = m[PSI_ROW(0, CHUNK - 1) + c - 1];
            m[PSI_ROW(1, -1) + c] = m[PSI_ROW(1, CHUNK - 1) + c - 1];
            m[PSI_ROW(0, CHUNK) + c] = m[PSI_ROW(0, 0) + c + 1];
            m[PSI_ROW(1, CHUNK) + c] = m[PSI_ROW(1, 0) + c + 1];
            m[OF_LANES(CARRIED, 0) + c] = m[OF_LANES(CARRIED, 1) + c] = 0;
        }
        for (int j = 0; j < CHUNK; j++) { /* (2), (3) as if nothing entered */
            local real *row = m + j * LANES_WIDE;
            EACH_LANE_IN_VECTORS(c) {
                const real x = row[PSI_ROW(0, 0) + c], y = row[PSI_ROW(1, 0) + c];
                const real second_x = (row[PSI_ROW(0, 1) + c] - x) - (x - row[PSI_ROW(0, -1) + c]);
                const real second_y = (row[PSI_ROW(1, 1) + c] - y) - (y - row[PSI_ROW(1, -1) + c]);
                const real v = row[V_ROW(0, 0) + c], w = LOSSY ? row[V_ROW(LOSSY, 0) + c] : 0;
                const real gx = LOSSY ? fma(-w, y, fma(v, x, second_x)) : fma(v, x, second_x);
                const real gy = LOSSY ? fma(w, x, fma(v, y, second_y)) : fma(v, y, second_y);
                real carried_x, carried_y;
                multiply_add(-row[R_ROW(0, -1) + c], -row[R_ROW(1, -1) + c], m[OF_LANES(CARRIED, 0) + c],
                             m[OF_LANES(CARRIED, 1) + c], gx, gy, &carried_x, &carried_y);
                row[Y_ROW(0, 0) + c] = gx;
                row[Y_ROW(1, 0) + c] = gy;
                m[OF_LANES(CARRIED, 0) + c] = carried_x;
                m[OF_LANES(CARRIED, 1) + c] = carried_y;
            }
        }
        enter_lanes(m, FORWARD_FACTOR, reach);
        for (int j = 0; j < CHUNK; j++) { /* (3) */
            local real *row = m + j * LANES_WIDE;
            EACH_LANE_IN_VECTORS(c) {
                real x, y;
                multiply_add(-row[R_ROW(0, -1) + c], -row[R_ROW(1, -1) + c], m[OF_LANES(ENTERING, 0) + c],
                             m[OF_LANES(ENTERING, 1) + c], row[Y_ROW(0, 0) + c], row[Y_ROW(1, 0) + c], &x, &y);
                row[Y_ROW(0, 0) + c] = m[OF_LANES(ENTERING, 0) + c] = x;
                row[Y_ROW(1, 0) + c] = m[OF_LANES(ENTERING, 1) + c] = y;
            }
        }
        EACH_CHUNK(c, CHUNKS)
            m[OF_LANES(CARRIED, 0) + c] = m[OF_LANES(CARRIED, 1) + c] = 0;
        for (int j = CHUNK - 1; j >= 0; j--) { /* (4) as if nothing entered */
            local real *row = m + j * LANES_WIDE;
            EACH_LANE_IN_VECTORS(c) {
                real ux, uy;
                multiply(row[R_ROW(0, 0) + c], row[R_ROW(1, 0) + c], row[Y_ROW(0, 0) + c] - m[OF_LANES(CARRIED, 0) + c],
                         row[Y_ROW(1, 0) + c] - m[OF_LANES(CARRIED, 1) + c], &ux, &uy);
                m[OF_LANES(CARRIED, 0) + c] = ux;
                m[OF_LANES(CARRIED, 1) + c] = uy;
            }
            if (!LAST_HAS(j))
                m[OF_LANES(CARRIED, 0) + CHUNKS - 1] = m[OF_LANES(CARRIED, 1) + CHUNKS - 1] = 0;
        }
        enter_lanes(m, BACKWARD_FACTOR, reach);
        for (int j = CHUNK - 1; j >= 0; j--) { /* (4), (1) */
            local real *row = m + j * LANES_WIDE;
            EACH_LANE_IN_VECTORS(c) {
                real ux, uy, x, y;
                multiply(row[R_ROW(0, 0) + c], row[R_ROW(1, 0) + c],
                         row[Y_ROW(0, 0) + c] - m[OF_LANES(ENTERING, 0) + c],
                         row[Y_ROW(1, 0) + c] - m[OF_LANES(ENTERING, 1) + c], &ux, &uy);
                multiply_add(-factor.x, -factor.y, ux, uy, row[PSI_ROW(0, 0) + c], row[PSI_ROW(1, 0) + c], &x, &y);
                m[OF_LANES(ENTERING, 0) + c] = ux;
                m[OF_LANES(ENTERING, 1) + c] = uy;
                row[PSI_ROW(0, 0) + c] = x;
                row[PSI_ROW(1, 0) + c] = y;
            }
            if (!LAST_HAS(j)) {
                m[OF_LANES(ENTERING, 0) + CHUNKS - 1] = m[OF_LANES(ENTERING, 1) + CHUNKS - 1] = 0;
                row[PSI_ROW(0, 0) + CHUNKS - 1] = row[PSI_ROW(1, 0) + CHUNKS - 1] = 0;
            }
        }
        m[PSI_ROW(0, 0) + CHUNKS] = m[PSI_ROW(1, 0) + CHUNKS] = 0; /* behind the line, whatever sign it got */
    }
    for (int c = 0; c < CHUNKS; c++)
        for (int i = c * CHUNK, j = 0; i < END(c); i++, j++)
            psi[first + i] = (real2)(m[PSI_ROW(0, j) + c], m[PSI_ROW(1, j) + c]);
}

#if !SPACE
kernel void bpm_crank_nicolson(global real2 *psi, global const real2 *restrict factors_r,
                               global const change_t *restrict change, global real2 *work,
                               global const real2 *restrict factors, int section, int reach, int steps)
{
    local real memory[LANES_VALUES];
    const index_t first = AT(0, (int)get_global_id(1) - Y0), matrix = (index_t)section * PLANE;
    if (get_local_id(0) != 0)
        return;
    clear_lanes(memory);
    steps_in_lanes(psi, factors_r + matrix, change + matrix, first, factors[(int)get_global_id(1)], reach, steps,
                   memory);
    (void)work;
}
#else
kernel void bpm_half_step(global real2 *psi, global const real2 *restrict factors_r,
                          global const change_t *restrict change, global real2 *work, global real2 *other,
                          const int16 sizes, int store, real factor_x, real factor_y, int reach, int steps)
{
    local real memory[LANES_VALUES];
    /* Where other devices wait for a part of a launch each of its rows has a work-group of its own (BN_PER_ROWS). */
    const int apart = get_num_groups(2) > 1, k = (int)get_group_id(2);
    const int top = LAUNCH_Y + (int)get_group_id(1) * ROWS + (apart ? k : 0);
    const int bottom = min(top + (apart ? 1 : ROWS), NY);
    if (get_local_id(0) != 0)
        return;
    clear_lanes(memory);
    for (int row = top; row < bottom; row++)
        steps_in_lanes(psi, factors_r, change, AT(0, row), (real2)(factor_x, factor_y), reach, steps, memory);
    for (int i = 0; i < (store != 0 ? NX : 0); i++)
        for (int row = top; row < bottom; row++)
            if (IS_STORED(i))
                other[STORED_AT(i, row)] = psi[AT(i, row)];
    (void)work;
}
#endif
#endif
