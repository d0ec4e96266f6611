/* maxwell_rows.cl: the two passes of CPUs, behind kernels/maxwell.cl.
 *
 * A work-group does a block by itself, row by row, in vectors: PoCL 5.0 and 6.0 don't make any of loops (lanes.h).
 * A loop goes along cells with the same coefficients, without a side, source or radiation; others are done one by one.
 * The arithmetic is that of the other kernels, bit for bit. */

/* Cells along x that may go in loops: neither at an end of the box's rows nor in an absorbing side. */
#define LOOPS_FROM max(block_first(), PML_SIDES ? PML_CELLS + 1 - X0 : 1)
#define LOOPS_TO min(min(block_first() + BLOCK_NX, NX - 1), PML_SIDES ? GNX - PML_CELLS - 1 - X0 : NX)

/* Real and imaginary parts lie beside each other: vectors of them, and a cell at a time at the end of a stretch. */
#if REAL_BYTES == 8
#define REALS_AT(f, offset) vload8(0, (f) + 2 * i + (offset))
#define STORE_REALS(value, f) vstore8(value, 0, (f) + 2 * i)
#define OTHER_PARTS(v) (v).s10325476
#define SIGNS (reals)(-1, 1, -1, 1, -1, 1, -1, 1)
#else
#define REALS_AT(f, offset) vload16(0, (f) + 2 * i + (offset))
#define STORE_REALS(value, f) vstore16(value, 0, (f) + 2 * i)
#define OTHER_PARTS(v) (v).s1032547698badcfe
#define SIGNS (reals)(-1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1)
#endif
#define CELLS_OF_REALS (32 / REAL_BYTES)
#define TIMES_REALS(a, v) ((a).x * (v) + (a).y * SIGNS * OTHER_PARTS(v))
#define PAIR_AT(f, offset) vload2(0, (f) + 2 * i + (offset))
#define STORE_PAIR(value, f) vstore2(value, 0, (f) + 2 * i)

/* (1) or (2) for cells i ... to - 1 of a row, so many at a time. FIRST and SECOND: the two differences, by macros with
 * the macro that loads. */
#define ROW_UNSPLIT(cells, type, LOAD, TIMES, STORE, old, FIRST, SECOND)          \
    for (; i + (cells) <= to; i += (cells)) {                                     \
        const type d = FIRST(LOAD) + SECOND(LOAD), o = LOAD(old, 0);              \
        STORE(TIMES(t, o) + TIMES(c, d), old);                                    \
    }

/* (3) */
#define ROW_SPLIT(cells, type, LOAD, TIMES, STORE, old, part, FIRST, SECOND)      \
    for (; i + (cells) <= to; i += (cells)) {                                     \
        const type f = FIRST(LOAD), s = SECOND(LOAD), p = LOAD(part, 0);          \
        const type o = LOAD(old, 0) - p;                                          \
        const type first_part = TIMES(t, p) + TIMES(c, f);                        \
        STORE(first_part, part);                                                  \
        STORE(first_part + (TIMES(t2, o) + TIMES(c2, s)), old);                   \
    }

/* One component of a stretch, with the coefficients at `first` and `second` for the two differences. */
#define ROW_COMPONENT(old, part, split, first, second, FIRST, SECOND)                                                  \
    {                                                                                                                  \
        const real2 t = coefficients[2 * (first)], c = coefficients[2 * (first) + 1];                                  \
        int i = from;                                                                                                  \
        if (split) {                                                                                                   \
            const real2 t2 = coefficients[2 * (second)], c2 = coefficients[2 * (second) + 1];                          \
            ROW_SPLIT(CELLS_OF_REALS, reals, REALS_AT, TIMES_REALS, STORE_REALS, old, part, FIRST, SECOND)             \
            ROW_SPLIT(1, real2, PAIR_AT, times, STORE_PAIR, old, part, FIRST, SECOND)                                  \
        } else {                                                                                                       \
            ROW_UNSPLIT(CELLS_OF_REALS, reals, REALS_AT, TIMES_REALS, STORE_REALS, old, FIRST, SECOND)                 \
            ROW_UNSPLIT(1, real2, PAIR_AT, times, STORE_PAIR, old, FIRST, SECOND)                                      \
        }                                                                                                              \
    }

/* The differences of (1) and (2): along z (of a z component along x), and along the other axis. */
#define H_X_FIRST(LOAD) (LOAD(ey, 2 * SLICE) - LOAD(ey, 0))
#define H_X_SECOND(LOAD) (LOAD(ez, 0) - LOAD(ez, 2 * PITCH))
#define H_Y_FIRST(LOAD) -(LOAD(ex, 2 * SLICE) - LOAD(ex, 0))
#define H_Y_SECOND(LOAD) (LOAD(ez, 2) - LOAD(ez, 0))
#define H_Z_FIRST(LOAD) (LOAD(ey, 0) - LOAD(ey, 2))
#define H_Z_SECOND(LOAD) (LOAD(ex, 2 * PITCH) - LOAD(ex, 0))
#define E_X_FIRST(LOAD) -(LOAD(hy, 0) - LOAD(hy, -2 * SLICE))
#define E_X_SECOND(LOAD) (LOAD(hz, 0) - LOAD(hz, -2 * PITCH))
#define E_Y_FIRST(LOAD) (LOAD(hx, 0) - LOAD(hx, -2 * SLICE))
#define E_Y_SECOND(LOAD) (LOAD(hz, -2) - LOAD(hz, 0))
#define E_Z_FIRST(LOAD) (LOAD(hy, 0) - LOAD(hy, -2))
#define E_Z_SECOND(LOAD) (LOAD(hx, -2 * PITCH) - LOAD(hx, 0))

/* The reals of row j, k of a component, from its first cell on. */
#define READ(f, component) ((global const real *)(f) + 2 * (AT3(0, j, k) + (component)*PLANE))
#define ROW(f, component) ((global real *)(f) + 2 * (AT3(0, j, k) + (component)*PLANE))

/* Where the stretch of cells with the class of cell i ends. */
static inline int stretch_end(global const edge_t *edge, int i, int end)
{
    const edge_t class = edge[i];
#if !MAPPED
    const ulong eight = (ulong)class * 0x0101010101010101UL;
    while (i + 8 <= end && as_ulong(vload8(0, edge + i)) == eight)
        i += 8;
#endif
    while (i < end && edge[i] == class)
        i++;
    return i;
}

#if VOLUME
/* Whether an edge along x or y, or a face across, of cells block_first() ... end - 1 of a row radiates (5). */
static inline int row_radiates(global const edge_t *edge, global const real2 *contrast, int end)
{
    int radiates = 0;
    for (int component = 0; component < 2; component++, edge += PLANE)
        for (int i = block_first(); i < end && !radiates; i = stretch_end(edge, i, end))
            radiates = contrast[edge[i]].x != 0 || contrast[edge[i]].y != 0;
    return radiates;
}
#endif

#if CURRENT
/* Whether such a row has a current (5a). */
static inline int row_radiates(global const real2 *current, int end)
{
    int radiates = 0;
    for (int component = 0; component < 3; component++, current += PLANE)
        for (int i = block_first(); i < end && !radiates; i++)
            radiates = current[i].x != 0 || current[i].y != 0;
    return radiates;
}
#endif

/* One component of a row: stretches of one class in loops. */
#define CLASS_COMPONENT(of, component, old, part, split, depth, FIRST, SECOND)                                    \
    for (int from = loops_from, to; from < loops_to; from = to) {                                                 \
        global const edge_t *classes = of + AT3(0, j, k) + (component)*PLANE;                                     \
        const int class = ROW_OF(classes[from]);                                                                  \
        to = stretch_end(classes, from, loops_to);                                                                \
        ROW_COMPONENT(old, part, split, class + (depth), class, FIRST, SECOND)                                    \
    }
#if MAGNETIC
#define H_COMPONENT(component, old, part, split, depth, FIRST, SECOND) \
    CLASS_COMPONENT(face, component, old, part, split, depth, FIRST, SECOND)
#else
#define H_COMPONENT(component, old, part, split, depth, FIRST, SECOND)        \
    {                                                                         \
        const int from = loops_from, to = loops_to;                           \
        ROW_COMPONENT(old, part, split, depth, 0, FIRST, SECOND)              \
    }
#endif

kernel void maxwell_H_rows(global const real2 *restrict E, global const real2 *restrict coefficients,
                           global real2 *restrict H, global real2 *restrict part H_PARAMETERS)
{
    const int k = block_k(), z = Z0 + k, dz = DEPTH_Z(OF_H, z), end = min(block_first() + BLOCK_NX, NX);
    const int rows = get_local_id(0) == 0 ? min(block_top() + BLOCK_NY, NY) : 0;
    for (int j = block_top(); j < rows; j++) {
        const int dy = DEPTH_Y(OF_H, Y0 + j);
        const int special = z == GNZ - 1 || z == SOURCE_PLANE || dy > 0 || j == NY - 1 ||
                            ROW_RADIATES_H(AT3(0, j, k));
        const int loops_from = special ? end : min(LOOPS_FROM, end);
        const int loops_to = special ? end : max(LOOPS_TO, loops_from);
        for (int i = block_first(); i < loops_from; i++)
            step_cell_H(E, coefficients, H, part, i, j, k FACE SOURCE_H);
        if (loops_from < loops_to) {
            global const real *restrict ex = READ(E, 0), *restrict ey = READ(E, 1), *restrict ez = READ(E, 2);
            global real *restrict hx = ROW(H, 0), *restrict hy = ROW(H, 1), *restrict hz = ROW(H, 2);
            global real *restrict px = ROW(part, 0), *restrict py = ROW(part, 1);
            H_COMPONENT(0, hx, px, dz > 0, dz, H_X_FIRST, H_X_SECOND)
            H_COMPONENT(1, hy, py, dz > 0, dz, H_Y_FIRST, H_Y_SECOND)
            H_COMPONENT(2, hz, px, 0, 0, H_Z_FIRST, H_Z_SECOND)
        }
        for (int i = loops_to; i < end; i++)
            step_cell_H(E, coefficients, H, part, i, j, k FACE SOURCE_H);
    }
}

kernel void maxwell_E_rows(global const real2 *restrict H, global const edge_t *restrict edge,
                           global const real2 *restrict coefficients, global real2 *restrict E,
                           global real2 *restrict part SOURCE_E_PARAMETERS)
{
    const int k = block_k(), z = Z0 + k, dz = DEPTH_Z(OF_E, z), end = min(block_first() + BLOCK_NX, NX);
    const int rows = get_local_id(0) == 0 ? min(block_top() + BLOCK_NY, NY) : 0;
    vector old, next;
    for (int j = block_top(); j < rows; j++) {
        const int dy = DEPTH_Y(OF_E, Y0 + j);
        const int special = z == 0 || z == SOURCE_PLANE || dy > 0 || j == 0 || ROW_RADIATES(AT3(0, j, k));
        const int loops_from = special ? end : min(LOOPS_FROM, end);
        const int loops_to = special ? end : max(LOOPS_TO, loops_from);
        for (int i = block_first(); i < loops_from; i++)
            step_cell_E(H, edge, coefficients, E, part, i, j, k, &old, &next SOURCE_E);
        if (loops_from < loops_to) {
            global const real *restrict hx = READ(H, 0), *restrict hy = READ(H, 1), *restrict hz = READ(H, 2);
            global real *restrict ex = ROW(E, 0), *restrict ey = ROW(E, 1), *restrict ez = ROW(E, 2);
            global real *restrict px = ROW(part, 0), *restrict py = ROW(part, 1);
            CLASS_COMPONENT(edge, 0, ex, px, dz > 0, dz, E_X_FIRST, E_X_SECOND)
            CLASS_COMPONENT(edge, 1, ey, py, dz > 0, dz, E_Y_FIRST, E_Y_SECOND)
            CLASS_COMPONENT(edge, 2, ez, px, 0, 0, E_Z_FIRST, E_Z_SECOND)
        }
        for (int i = loops_to; i < end; i++)
            step_cell_E(H, edge, coefficients, E, part, i, j, k, &old, &next SOURCE_E);
    }
}
