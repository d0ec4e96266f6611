/* maxwell.cl: time-harmonic Maxwell equations on Yee's (1966) staggered grid, solved by iteration (docs/maxwell.md).
 * Complex amplitudes of exp(+i omega t); lengths in cells, H times the impedance of vacuum. E_x of cell (i, j, k) is at
 * (i + 1/2, j, k), ..., H_x at (i, j + 1/2, k + 1/2), ...; d_x, d_y, d_z are differences of neighbours.
 *
 *   H' = t H - c curl E     with t, c of the depth in the absorbing layers                                    (1)
 *   E' = t E + c curl H     with t, c of the materials around the edge of the grid and of that depth          (2)
 *   In absorbing layers (split-field PML, Berenger 1994) a component F is the sum of two parts, each driven by
 *   one of the two differences of its curl, with t and c of the depth along that difference's axis:
 *   F_1' = t_1 F_1 + c_1 d_1 G,   F_2' = t_2 F_2 + c_2 d_2 G,   F = F_1 + F_2                                 (3)
 *   `part` keeps F_1, the part of the difference along z (of a z component: along x); F_2 = F - F_1.
 *
 *   Light comes from SOURCE_PLANE, a plane of E, above which H and E are the scattered field, below the total
 *   one: differences across it include the incident field                                                     (4)
 *   or (VOLUME) E and H are the scattered field everywhere, and the structure radiates,
 *   E' = ... + c contrast E_incident,   contrast = -i omega h / c_0 (eps - eps_above)                         (5)
 *   or (CURRENT) given currents do,  E' = ... - c h Z_0 J                                                     (5a)
 *
 * Sides are periodic (BLOCH: but for a phase), or absorbing with a metal wall behind (PML_SIDES). At the top lies an
 * absorbing layer, at the bottom another (PML_BOTTOM) or a metal wall. Tables of t and c: for E in the order class of
 * materials, depth; for H in the order depth. With MAPPED, where the index of every cell is given, an edge holds the
 * number of its row in the table, else that of its class. */
#if MAPPED
typedef int edge_t;
#define ROW_OF(edge) (edge)
#else
typedef uchar edge_t;
#define ROW_OF(edge) ((edge) * (PML_CELLS + 1))
#endif
#define NOTHING ((real2)(0, 0))

static inline real2 times(real2 a, real2 b) { return (real2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
static inline real2 conjugate(real2 a) { return (real2)(a.x, -a.y); }
static inline real square(real2 a) { return a.x * a.x + a.y * a.y; }

/* The largest of three squared moduli: one that is not finite must not get lost. */
static inline real largest(real2 a, real2 b, real2 c) { return larger(larger(square(a), square(b)), square(c)); }

typedef struct vector {
    real2 x, y, z;
} vector;

static inline vector load_vector(global const real2 *f, index_t at)
{
    const vector v = { f[at], f[at + PLANE], f[at + 2 * PLANE] };
    return v;
}

#define STORE_VECTOR(f, at, value)      \
    f[at] = (value).x;                  \
    f[(at) + PLANE] = (value).y;        \
    f[(at) + 2 * PLANE] = (value).z;

/* ------------------------------------------------------------------------------------------------ absorbing layers */

/* Depth in cells of a place in the absorbing layers of an axis, 0 outside. `low`, `high`: has that side a layer?
 * `of`: OF_E, or OF_H, which is half a cell further on and has the coefficients of half a cell more depth.
 * (Conditions instead of max would become a saturating subtraction, which Oclgrind 21.10 does not know.) */
enum { OF_E = 0, OF_H = 1 };
static inline int depth(int of, int at, int cells, int low, int high)
{
    return (low ? max(PML_CELLS - at, 0) : 0) + (high ? max(at - (cells - PML_CELLS) + of, 0) : 0);
}
#define DEPTH_X(of, x) depth(of, x, GNX, PML_SIDES, PML_SIDES)
#define DEPTH_Y(of, y) depth(of, y, GNY, PML_SIDES, PML_SIDES)
#define DEPTH_Z(of, z) depth(of, z, GNZ, PML_BOTTOM, 1)

static inline int3 depths(int of, int x, int y, int z)
{
    return (int3)(DEPTH_X(of, x), DEPTH_Y(of, y), DEPTH_Z(of, z));
}

/* One component: (1) or (2), or (3) where it is split. */
static inline real2 update_component(real2 old, real2 first, real2 second, global const real2 *table, int at_first,
                                     int at_second, int split, global const real2 *part, index_t at, real2 *new_part)
{
    if (split) {
        const real2 before = part[at];
        const real2 a = times(table[2 * at_first], before) + times(table[2 * at_first + 1], first);
        const real2 b = times(table[2 * at_second], old - before) + times(table[2 * at_second + 1], second);
        *new_part = a;
        return a + b;
    }
    return times(table[2 * at_first], old) + times(table[2 * at_first + 1], first + second);
}

/* Stores the parts of a cell at depths d where it has any. */
#define STORE_PARTS(part, at, parts, d)       \
    if ((d).z + (d).y > 0)                    \
        part[at] = (parts).x;                 \
    if ((d).z + (d).x > 0)                    \
        part[(at) + PLANE] = (parts).y;       \
    if (PML_SIDES && (d).x + (d).y > 0)       \
        part[(at) + 2 * PLANE] = (parts).z;

/* ------------------------------------------------------------------------------------------------ sides of the grid */

/* The neighbour one step on (or back) along a dimension. Where the box is the whole grid the step wraps around,
 * else the halo holds the opposite side. */
#define EAST(i, at) (NX == GNX && (i) == NX - 1 ? (at) - (NX - 1) : (at) + 1)
#define WEST(i, at) (NX == GNX && (i) == 0 ? (at) + (NX - 1) : (at)-1)
#define NORTH(j, at) (NY == GNY && (j) == NY - 1 ? (at) - (index_t)(NY - 1) * PITCH : (at) + PITCH)
#define SOUTH(j, at) (NY == GNY && (j) == 0 ? (at) + (index_t)(NY - 1) * PITCH : (at)-PITCH)

/* The value at a neighbour, which may be across a side: 0 behind a metal wall, else times the phase of a Bloch wave. */
#define ACROSS(outside, value, phase) \
    (PML_SIDES && (outside) ? NOTHING : BLOCH && (outside) ? times(value, phase) : (value))

/* E of the cell above: nothing in the metal wall behind the layer at the top. */
static inline vector load_above(global const real2 *E, index_t at, int z)
{
    const vector nothing = { NOTHING, NOTHING, NOTHING };
    return z == GNZ - 1 ? nothing : load_vector(E, at + SLICE);
}

/* ------------------------------------------------------------------------------------------------ light */

/* `lateral`: the phases across the sides, then those of the incident wave along x and along y. */
#if BLOCH
#define LATERAL_PARAMETER , global const real2 *restrict lateral
#define LATERAL , lateral
#define PHASE_X lateral[0]
#define PHASE_Y lateral[1]
#define INCIDENT(value, i, j) times(value, times(lateral[2 + (i)], lateral[2 + GNX + (j)]))
#else
#define LATERAL_PARAMETER
#define LATERAL
#define PHASE_X (real2)(1, 0)
#define PHASE_Y (real2)(1, 0)
#define INCIDENT(value, i, j) (value)
#endif

/* Parameters of the source. Volume source: the incident wave along z, its amplitudes along x and y. Source plane: the
 * incident E in it, for H, and the incident H half a cell above, for E. */
#if VOLUME
#define WAVE_PARAMETERS , global const real2 *restrict wave, real wave_x, real wave_y
#define SOURCE_E_PARAMETERS , global const real2 *restrict contrast WAVE_PARAMETERS
#define SOURCE_E , contrast, wave, wave_x, wave_y
#define SOURCE_H_PARAMETERS
#define SOURCE_H
#define ADD_INCIDENT(difference_x, difference_y)
#define ADD_RADIATION(e, class_x, class_y, class_z)                                                            \
    e.x = e.x + wave_x * times(coefficients[2 * class_x + 1], times(contrast[edge[at]], wave[z]));                     \
    e.y = e.y + wave_y * times(coefficients[2 * class_y + 1], times(contrast[edge[at + PLANE]], wave[z]));
#define ADD_WAVE(e, z)                  \
    e.x = e.x + wave_x * wave[z];       \
    e.y = e.y + wave_y * wave[z];
#define ROW_RADIATES(row) row_radiates(edge + (row), contrast, end)
#elif CURRENT
#define WAVE_PARAMETERS
#define SOURCE_E_PARAMETERS , global const real2 *restrict current, real drive LATERAL_PARAMETER
#define SOURCE_E , current, drive LATERAL
#define SOURCE_H_PARAMETERS LATERAL_PARAMETER
#define SOURCE_H LATERAL
#define ADD_INCIDENT(difference_x, difference_y)
#define ADD_RADIATION(e, class_x, class_y, class_z)                                             \
    e.x = e.x + drive * times(coefficients[2 * class_x + 1], current[at]);                      \
    e.y = e.y + drive * times(coefficients[2 * class_y + 1], current[at + PLANE]);              \
    e.z = e.z + drive * times(coefficients[2 * class_z + 1], current[at + 2 * PLANE]);
#define ADD_WAVE(e, z)
#define ROW_RADIATES(row) row_radiates(current + (row), end)
#else
#define WAVE_PARAMETERS
#define SOURCE_E_PARAMETERS SOURCE_H_PARAMETERS
#define SOURCE_E SOURCE_H
#define SOURCE_H_PARAMETERS , real x_re, real x_im, real y_re, real y_im LATERAL_PARAMETER
#define SOURCE_H , x_re, x_im, y_re, y_im LATERAL
#define ADD_INCIDENT(difference_x, difference_y)                                \
    if (z == SOURCE_PLANE) {                                                    \
        difference_x = difference_x + INCIDENT((real2)(x_re, x_im), x, y);      \
        difference_y = difference_y + INCIDENT((real2)(y_re, y_im), x, y);      \
    }
#define ADD_RADIATION(e, class_x, class_y, class_z)
#define ADD_WAVE(e, z)
#define ROW_RADIATES(row) 0
#endif

/* ------------------------------------------------------------------------------------------------ one cell */

/* H of a cell after the next half step (1). e, above: E of the cell and of the one above; i, j: in the box; x, y, z: in
 * the grid. */
static inline vector update_H(global const real2 *E, global const real2 *H, global const real2 *part,
                              global const real2 *coefficients, index_t at, int i, int j, int x, int y, int z, vector e,
                              vector above, vector *parts SOURCE_H_PARAMETERS)
{
    const index_t east = EAST(i, at), north = NORTH(j, at);
    const vector h = load_vector(H, at);
    const real2 e_y_east = ACROSS(x == GNX - 1, E[east + PLANE], PHASE_X);
    const real2 e_z_east = ACROSS(x == GNX - 1, E[east + 2 * PLANE], PHASE_X);
    const real2 e_x_north = ACROSS(y == GNY - 1, E[north], PHASE_Y);
    const real2 e_z_north = ACROSS(y == GNY - 1, E[north + 2 * PLANE], PHASE_Y);
    real2 dz_ex = above.x - e.x, dz_ey = above.y - e.y;
    ADD_INCIDENT(dz_ex, dz_ey)
    const int3 d = depths(OF_H, x, y, z);
    vector new;
    new.x = update_component(h.x, dz_ey, e.z - e_z_north, coefficients, d.z, d.y, d.z + d.y, part, at, &parts->x);
    new.y = update_component(h.y, -dz_ex, e_z_east - e.z, coefficients, d.z, d.x, d.z + d.x, part, at + PLANE,
                             &parts->y);
    new.z = update_component(h.z, e.y - e_y_east, e_x_north - e.x, coefficients, d.x, d.y, d.x + d.y, part,
                             at + 2 * PLANE, &parts->z);
    return new;
}

/* E of a cell after the next half step (2), from H of the cell and of its neighbours to the west, south and below. */
static inline vector update_E(vector e, global const edge_t *edge, global const real2 *part,
                              global const real2 *coefficients, index_t at, int x, int y, int z, vector h, vector west,
                              vector south, vector below, vector *parts SOURCE_E_PARAMETERS)
{
    const int3 d = depths(OF_E, x, y, z);
    const int class_x = ROW_OF(edge[at]), class_y = ROW_OF(edge[at + PLANE]), class_z = ROW_OF(edge[at + 2 * PLANE]);
    real2 dz_hx = h.x - below.x, dz_hy = h.y - below.y;
    ADD_INCIDENT(dz_hx, dz_hy)
    vector new;
    new.x = update_component(e.x, -dz_hy, h.z - south.z, coefficients, class_x + d.z, class_x + d.y, d.z + d.y, part,
                             at, &parts->x);
    new.y = update_component(e.y, dz_hx, west.z - h.z, coefficients, class_y + d.z, class_y + d.x, d.z + d.x, part,
                             at + PLANE, &parts->y);
    new.z = update_component(e.z, h.y - west.y, south.x - h.x, coefficients, class_z + d.x, class_z + d.y, d.x + d.y,
                             part, at + 2 * PLANE, &parts->z);
    ADD_RADIATION(new, class_x, class_y, class_z)
    /* tangential components vanish on metal walls */
    const int wall_x = PML_SIDES && x == 0, wall_y = PML_SIDES && y == 0;
    if (wall_y | (z == 0))
        new.x = NOTHING;
    if (wall_x | (z == 0))
        new.y = NOTHING;
    if (wall_x | wall_y)
        new.z = NOTHING;
    return new;
}

/* ------------------------------------------------------------------------------------------------ two passes */

static inline void step_cell_H(global const real2 *E, global const real2 *coefficients, global real2 *H,
                               global real2 *part, int i, int j, int k SOURCE_H_PARAMETERS)
{
    const int x = X0 + i, y = Y0 + j, z = Z0 + k;
    const index_t at = AT3(i, j, k);
    vector parts;
    const vector new = update_H(E, H, part, coefficients, at, i, j, x, y, z, load_vector(E, at), load_above(E, at, z),
                                &parts SOURCE_H);
    STORE_VECTOR(H, at, new)
    STORE_PARTS(part, at, parts, depths(OF_H, x, y, z))
}

/* The next E of a cell; *old: the one before. */
static inline void step_cell_E(global const real2 *H, global const edge_t *edge, global const real2 *coefficients,
                               global real2 *E, global real2 *part, int i, int j, int k, vector *old,
                               vector *next SOURCE_E_PARAMETERS)
{
    const int x = X0 + i, y = Y0 + j, z = Z0 + k;
    const index_t at = AT3(i, j, k), west_at = WEST(i, at), south_at = SOUTH(j, at);
    const vector h = load_vector(H, at);
    vector west, south, below, parts;
    west.x = south.y = below.z = NOTHING; /* not used */
    west.y = ACROSS(x == 0, H[west_at + PLANE], conjugate(PHASE_X));
    west.z = ACROSS(x == 0, H[west_at + 2 * PLANE], conjugate(PHASE_X));
    south.x = ACROSS(y == 0, H[south_at], conjugate(PHASE_Y));
    south.z = ACROSS(y == 0, H[south_at + 2 * PLANE], conjugate(PHASE_Y));
    below.x = z == 0 ? NOTHING : H[at - SLICE];
    below.y = z == 0 ? NOTHING : H[at - SLICE + PLANE];
    *old = load_vector(E, at);
    *next = update_E(*old, edge, part, coefficients, at, x, y, z, h, west, south, below, &parts SOURCE_E);
    STORE_VECTOR(E, at, (*next))
    STORE_PARTS(part, at, parts, depths(OF_E, x, y, z))
}

kernel void maxwell_H(global const real2 *restrict E, global const real2 *restrict coefficients, global real2 *H,
                      global real2 *part SOURCE_H_PARAMETERS)
{
    CELL3(i, j, k);
    step_cell_H(E, coefficients, H, part, i, j, k SOURCE_H);
}

kernel void maxwell_E(global const real2 *restrict H, global const edge_t *restrict edge,
                      global const real2 *restrict coefficients, global real2 *E,
                      global real2 *part SOURCE_E_PARAMETERS)
{
    CELL3(i, j, k);
    vector old, next;
    step_cell_E(H, edge, coefficients, E, part, i, j, k, &old, &next SOURCE_E);
}

/* The same with the largest |change|^2 and |E|^2 of every block. */
kernel void maxwell_E_watched(global const real2 *restrict H, global const edge_t *restrict edge,
                              global const real2 *restrict coefficients, global real2 *E, global real2 *part,
                              global acc *restrict partials SOURCE_E_PARAMETERS)
{
    local acc changes[LANES], sizes[LANES];
    CLEAR_LANES(changes);
    CLEAR_LANES(sizes);
    FOR_CELLS(1, i, j, lane) {
        vector old, new;
        step_cell_E(H, edge, coefficients, E, part, i, j, block_k(), &old, &new SOURCE_E);
        changes[lane] = larger(changes[lane], largest(new.x - old.x, new.y - old.y, new.z - old.z));
        sizes[lane] = larger(sizes[lane], largest(new.x, new.y, new.z));
    }
    put_partial_max(partials, 0, changes);
    put_partial_max(partials, 1, sizes);
}

kernel void maxwell_maxima(global const acc *restrict partials, global real *restrict maxima)
{
    local acc scratch[FINISH_LANES];
    const acc change = total_max(partials, 0, scratch);
    const acc size = total_max(partials, 1, scratch);
    if (get_local_id(0) == 0) {
        maxima[0] = change;
        maxima[1] = size;
    }
}

/* ------------------------------------------------------------------------------------------------ two passes by rows
 *
 * A work-group does a block by itself, row by row, in vectors: PoCL 5.0 and 6.0 don't make any of loops (lanes.h).
 * A loop goes along cells with the same coefficients, without a side, source or radiation; others are done one by one.
 * The arithmetic is that of the other kernels, bit for bit. */

/* Cells along x that may go in loops: neither at an end of the box's rows nor in an absorbing side. */
#define LOOPS_FROM max(block_first(), PML_SIDES ? PML_CELLS + 1 - X0 : 1)
#define LOOPS_TO min(min(block_first() + BLOCK_NX, NX - 1), PML_SIDES ? GNX - PML_CELLS - 1 - X0 : NX)

/* Real and imaginary parts lie beside each other: vectors of them, and a cell at a time at the end of a stretch. */
#if REAL_BYTES == 8
typedef double8 reals;
#define REALS_AT(f, offset) vload8(0, (f) + 2 * i + (offset))
#define STORE_REALS(value, f) vstore8(value, 0, (f) + 2 * i)
#define OTHER_PARTS(v) (v).s10325476
#define SIGNS (reals)(-1, 1, -1, 1, -1, 1, -1, 1)
#else
typedef float16 reals;
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

kernel void maxwell_H_rows(global const real2 *restrict E, global const real2 *restrict coefficients,
                           global real2 *restrict H, global real2 *restrict part SOURCE_H_PARAMETERS)
{
    const int k = block_k(), z = Z0 + k, dz = DEPTH_Z(OF_H, z), end = min(block_first() + BLOCK_NX, NX);
    const int rows = get_local_id(0) == 0 ? min(block_top() + BLOCK_NY, NY) : 0;
    for (int j = block_top(); j < rows; j++) {
        const int dy = DEPTH_Y(OF_H, Y0 + j);
        const int special = z == GNZ - 1 || z == SOURCE_PLANE || dy > 0 || j == NY - 1;
        const int from = special ? end : min(LOOPS_FROM, end), to = special ? end : max(LOOPS_TO, from);
        for (int i = block_first(); i < from; i++)
            step_cell_H(E, coefficients, H, part, i, j, k SOURCE_H);
        if (from < to) {
            global const real *restrict ex = READ(E, 0), *restrict ey = READ(E, 1), *restrict ez = READ(E, 2);
            global real *restrict hx = ROW(H, 0), *restrict hy = ROW(H, 1), *restrict hz = ROW(H, 2);
            global real *restrict px = ROW(part, 0), *restrict py = ROW(part, 1);
            ROW_COMPONENT(hx, px, dz > 0, dz, 0, H_X_FIRST, H_X_SECOND)
            ROW_COMPONENT(hy, py, dz > 0, dz, 0, H_Y_FIRST, H_Y_SECOND)
            ROW_COMPONENT(hz, px, 0, 0, 0, H_Z_FIRST, H_Z_SECOND)
        }
        for (int i = to; i < end; i++)
            step_cell_H(E, coefficients, H, part, i, j, k SOURCE_H);
    }
}

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
/* Whether an edge along x or y of cells block_first() ... end - 1 of a row radiates (5). */
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
#define E_COMPONENT(component, old, part, split, depth, FIRST, SECOND)                                            \
    for (int from = loops_from, to; from < loops_to; from = to) {                                                 \
        global const edge_t *classes = edge + AT3(0, j, k) + (component)*PLANE;                                    \
        const int class = ROW_OF(classes[from]);                                                                  \
        to = stretch_end(classes, from, loops_to);                                                                \
        ROW_COMPONENT(old, part, split, class + (depth), class, FIRST, SECOND)                                    \
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
            E_COMPONENT(0, ex, px, dz > 0, dz, E_X_FIRST, E_X_SECOND)
            E_COMPONENT(1, ey, py, dz > 0, dz, E_Y_FIRST, E_Y_SECOND)
            E_COMPONENT(2, ez, px, 0, 0, E_Z_FIRST, E_Z_SECOND)
        }
        for (int i = loops_to; i < end; i++)
            step_cell_E(H, edge, coefficients, E, part, i, j, k, &old, &next SOURCE_E);
    }
}

/* |E| of the total field. */
kernel void maxwell_norm(global const real2 *restrict E, global real *restrict norm WAVE_PARAMETERS)
{
    CELL3(i, j, k);
    const index_t at = AT3(i, j, k);
    vector e = load_vector(E, at);
    ADD_WAVE(e, Z0 + k)
    norm[at] = sqrt(square(e.x) + square(e.y) + square(e.z));
}

#if FUSED
/* ------------------------------------------------------------------------------------------------ one sweep
 *
 * A work-group goes up through the layers of its tile. It computes the new H of its cells, of which the first column
 * and row belong to the neighbouring tiles; then the new E, with H of neighbours from local memory, of the layer below
 * from registers. Other tiles still read the old fields, so the new ones go to other buffers. Same arithmetic. */
#define LEVELS (REAL_BYTES == 8 ? 1 : 2) /* layers of H in local memory: two save a barrier, where they fit */
#if VOLUME || CURRENT
#define FUSED_PARAMETERS SOURCE_E_PARAMETERS
#define FUSED_H SOURCE_H
#define FUSED_E SOURCE_E
#else
#define FUSED_PARAMETERS                                                                                            \
    , real e_x_re, real e_x_im, real e_y_re, real e_y_im, real h_x_re, real h_x_im, real h_y_re,                    \
        real h_y_im LATERAL_PARAMETER
#define FUSED_H , e_x_re, e_x_im, e_y_re, e_y_im LATERAL
#define FUSED_E , h_x_re, h_x_im, h_y_re, h_y_im LATERAL
#endif

kernel __attribute__((reqd_work_group_size(TILE_X, TILE_Y, 1))) void
maxwell_fused(global const real2 *restrict E, global const real2 *restrict H, global const real2 *restrict part_E,
              global const real2 *restrict part_H, global const edge_t *restrict edge,
              global const real2 *restrict coefficients_E, global const real2 *restrict coefficients_H,
              global real2 *restrict new_E, global real2 *restrict new_H, global real2 *restrict new_part_E,
              global real2 *restrict new_part_H FUSED_PARAMETERS)
{
    local real2 level_x[LEVELS][TILE_Y][TILE_X], level_y[LEVELS][TILE_Y][TILE_X], level_z[LEVELS][TILE_Y][TILE_X];
    const int column = (int)get_local_id(0), row = (int)get_local_id(1);
    const int i0 = (int)get_group_id(0) * (TILE_X - 1) + column - 1, j0 = (int)get_group_id(1) * (TILE_Y - 1) + row - 1;
    /* The cell before the first one is the last one where the box wraps around, else one of the halo. */
    const int i = NX == GNX && i0 < 0 ? NX - 1 : i0, j = NY == GNY && j0 < 0 ? NY - 1 : j0;
    const int x = X0 + i, y = Y0 + j, inside = i0 < NX && j0 < NY, own = inside && column > 0 && row > 0;
    const int first = (int)get_group_id(2) * TILE_LAYERS + LAUNCH_Z, end = min(first + TILE_LAYERS, NZ);
    vector below, h, parts, e, next_e;
    below.x = below.y = below.z = h.x = h.y = h.z = (real2)(0, 0);
    /* E of the next layer; there is no layer below the grid that would load the first one. */
    next_e = inside && Z0 + first == 0 ? load_vector(E, AT3(i, j, first)) : below;
    for (int k = first - 1; k < end; k++) {
        const int z = Z0 + k, level = LEVELS > 1 ? k & 1 : 0;
        const index_t at = AT3(i, j, k);
        if (inside && z >= 0) {
            const vector above = load_above(E, at, z);
            e = k < first ? load_vector(E, at) : next_e;
            next_e = above;
            h = update_H(E, H, part_H, coefficients_H, at, i, j, x, y, z, e, above, &parts FUSED_H);
            if (own && k >= first) {
                STORE_VECTOR(new_H, at, h)
                STORE_PARTS(new_part_H, at, parts, depths(OF_H, x, y, z))
            }
        }
        level_x[level][row][column] = h.x;
        level_y[level][row][column] = h.y;
        level_z[level][row][column] = h.z;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (own && k >= first) {
            vector west, south;
            west.x = south.y = NOTHING;
            west.y = ACROSS(x == 0, level_y[level][row][column - 1], conjugate(PHASE_X));
            west.z = ACROSS(x == 0, level_z[level][row][column - 1], conjugate(PHASE_X));
            south.x = ACROSS(y == 0, level_x[level][row - 1][column], conjugate(PHASE_Y));
            south.z = ACROSS(y == 0, level_z[level][row - 1][column], conjugate(PHASE_Y));
            e = update_E(e, edge, part_E, coefficients_E, at, x, y, z, h, west, south, below, &parts FUSED_E);
            STORE_VECTOR(new_E, at, e)
            STORE_PARTS(new_part_E, at, parts, depths(OF_E, x, y, z))
        }
        below = h;
        if (LEVELS == 1)
            barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif

#if ANDERSON_DEPTH
/* ------------------------------------------------------------------------------------------------ acceleration
 *
 * Anderson (1965), restarted: `history` holds ANDERSON_DEPTH differences U_l of successive states and the last state X.
 * Components of a state are those of E, H and the parts of both, one after the other.
 *   gram(row, column) = sum over cells of conj(U_column) U_row,   new state = X - sum over l of weight_l U_l    (6) */
#define PART_COUNT (PML_SIDES ? 3 : 2)
#define COMPONENTS (6 + 2 * PART_COUNT)
#define HISTORY(slot, c) history[(long)((slot)*COMPONENTS + (c)) * PLANE + at]

/* Component c of the state of a cell. */
#define STATE(c)                                         \
    *((c) < 3                ? &E[at + (c)*PLANE]        \
      : (c) < 6              ? &H[at + ((c)-3) * PLANE]  \
      : (c) < 6 + PART_COUNT ? &part_E[at + ((c)-6) * PLANE] \
                             : &part_H[at + ((c)-6 - PART_COUNT) * PLANE])

/* Stores the state as the last one and, unless slot is -1, its difference to the one before. */
kernel void maxwell_anderson_store(global const real2 *restrict E, global const real2 *restrict H,
                                   global const real2 *restrict part_E, global const real2 *restrict part_H,
                                   global real2 *restrict history, int slot)
{
    CELL3(i, j, k);
    const index_t at = AT3(i, j, k);
    for (int c = 0; c < COMPONENTS; c++) {
        const real2 x = STATE(c);
        if (slot >= 0)
            HISTORY(slot, c) = x - HISTORY(ANDERSON_DEPTH, c);
        HISTORY(ANDERSON_DEPTH, c) = x;
    }
}

/* (6): real and imaginary parts of gram(row, from), gram(row, from + 1), ... by block; then sums over all blocks. */
kernel void maxwell_anderson_gram(global const real2 *restrict history, int row, int from,
                                  global acc *restrict partials)
{
    local acc re[GRAM_COLUMNS][LANES], im[GRAM_COLUMNS][LANES];
    for (int m = 0; m < GRAM_COLUMNS; m++) {
        CLEAR_LANES(re[m]);
        CLEAR_LANES(im[m]);
    }
    FOR_CELLS(1, i, j, lane) {
        const index_t at = AT3(i, j, block_k());
        real a[GRAM_COLUMNS] = { 0 }, b[GRAM_COLUMNS] = { 0 };
        for (int c = 0; c < COMPONENTS; c++) {
            const real2 u = HISTORY(row, c);
            for (int m = 0; m < GRAM_COLUMNS; m++) {
                const real2 v = HISTORY(min(from + m, row), c);
                a[m] = a[m] + (v.x * u.x + v.y * u.y);
                b[m] = b[m] + (v.x * u.y - v.y * u.x);
            }
        }
        for (int m = 0; m < GRAM_COLUMNS; m++) {
            re[m][lane] += a[m];
            im[m][lane] += b[m];
        }
    }
    for (int m = 0; m < GRAM_COLUMNS; m++) {
        put_partial_sum(partials, 2 * m, re[m]);
        put_partial_sum(partials, 2 * m + 1, im[m]);
    }
}

kernel void maxwell_anderson_gram_sum(global const acc *restrict sums, int row, int from, global real *restrict gram)
{
    local acc scratch[FINISH_LANES];
    for (int m = 0; m < 2 * GRAM_COLUMNS; m++) {
        const acc sum = total_sum(sums, m, scratch);
        if (get_local_id(0) == 0 && from + m / 2 <= row)
            gram[2 * (row * ANDERSON_DEPTH + from) + m] = sum;
    }
}

kernel void maxwell_anderson_update(global const real2 *restrict history, global const real2 *restrict weights,
                                    global real2 *restrict E, global real2 *restrict H, global real2 *restrict part_E,
                                    global real2 *restrict part_H)
{
    CELL3(i, j, k);
    const index_t at = AT3(i, j, k);
    for (int c = 0; c < COMPONENTS; c++) {
        real2 x = HISTORY(ANDERSON_DEPTH, c);
        for (int l = 1; l < ANDERSON_DEPTH; l++)
            x = x - times(weights[l], HISTORY(l, c));
        STATE(c) = x;
    }
}
#endif
