/* maxwell.cl: the time-harmonic iteration on a staggered grid (docs/maxwell.md): complex E and H, leapfrog, split fields in
 * the absorbing layers (PML). Lengths in cells, H times the impedance of vacuum.
 *
 * Of cell (i, j, k): E_x stands at (i + 1/2, j, k), ..., H_x at (i, j + 1/2, k + 1/2), ... Sides are periodic, or absorbing
 * with a metal wall behind (PML_SIDES); at the top lies an absorbing layer, at the bottom too (PML_BOTTOM) or a metal wall.
 *
 *   FORM      0: one material index per component and a small table; 1, 2: every cell has its own coefficients and all
 *             fields are split, as structure of arrays or array of structures
 *   SOURCE    plane of E above which the field is the scattered one; -1 with VOLUME
 *   VOLUME    the field is the scattered one everywhere, driven by the polarisation of what differs from the background
 *   BLOCH     periodic but for a phase
 */
static inline real2 times(real2 a, real2 b) { return (real2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

static inline real square(real2 a) { return a.x * a.x + a.y * a.y; }

/* The largest of three squared moduli: one that is not finite must not get lost. */
static inline real largest(real2 a, real2 b, real2 c) { return larger(larger(square(a), square(b)), square(c)); }

/* ----------------------------------------------------------------------------------------------- the compact form
 *
 * coefficients: t and c of  new = t old + c curl,  for E in the order class, depth; for H in the order depth. In the layers
 * the part of a component that a derivative along z drives (of the z component: along x) is kept by itself, in `part`. */

typedef struct triple {
    real2 x, y, z;
} triple;

static inline triple load_triple(global const real2 *f, index_t at)
{
    const triple t = { f[at], f[at + PLANE], f[at + 2 * PLANE] };
    return t;
}

/* How deep a place lies in an absorbing layer: 0 outside, else in cells, for E at whole places; for H at half places one
 * half more. `low`, `high`: whether there is a layer on that side. (Conditions instead of max would become a saturating
 * subtraction, which Oclgrind 21.10 does not know.) */
static inline int depth_E(int at, int cells, int low, int high)
{
    return (low ? max(PML_CELLS - at, 0) : 0) + (high ? max(at - (cells - PML_CELLS), 0) : 0);
}

static inline int depth_H(int at, int cells, int low, int high)
{
    return (low ? max(PML_CELLS - at, 0) : 0) + (high ? max(at - (cells - PML_CELLS) + 1, 0) : 0);
}

/* The neighbour one step on (or back) along each dimension. Where the box is the whole grid the step wraps around by itself,
 * else the halo holds the far side. */
#define EAST(i, at) (NX == GNX && (i) == NX - 1 ? (at) - (NX - 1) : (at) + 1)
#define WEST(i, at) (NX == GNX && (i) == 0 ? (at) + (NX - 1) : (at)-1)
#define NORTH(j, at) (NY == GNY && (j) == NY - 1 ? (at) - (index_t)(NY - 1) * PITCH : (at) + PITCH)
#define SOUTH(j, at) (NY == GNY && (j) == 0 ? (at) + (index_t)(NY - 1) * PITCH : (at)-PITCH)

/* A value from beyond a side: nothing behind a metal wall, else times the phase of a Bloch wave. */
#if PML_SIDES
#define ACROSS(outside, value, phase) ((outside) ? (real2)(0, 0) : (value))
#elif BLOCH
#define ACROSS(outside, value, phase) ((outside) ? times(value, phase) : (value))
#else
#define ACROSS(outside, value, phase) (value)
#endif

/* The incident wave beside the source plane: E there, H half a cell above. `lateral`: the phases across the sides, then
 * those of the wave along x and along y. */
#if BLOCH
#define LATERAL_ARGUMENT , global const real2 *restrict lateral
#define LATERAL , lateral
#define PHASE_X lateral[0]
#define PHASE_Y lateral[1]
#define BACK_X ((real2)(lateral[0].x, -lateral[0].y))
#define BACK_Y ((real2)(lateral[1].x, -lateral[1].y))
#define INCIDENT(value, i, j) times(value, times(lateral[2 + (i)], lateral[2 + GNX + (j)]))
#else
#define LATERAL_ARGUMENT
#define LATERAL
#define INCIDENT(value, i, j) (value)
#endif

#if VOLUME
#define LIGHT_H_ARGUMENTS
#define LIGHT_H
#define LIGHT_E_ARGUMENTS , global const real2 *restrict contrast, global const real2 *restrict wave, real drive_x, real drive_y
#define LIGHT_E , contrast, wave, drive_x, drive_y
#else
#define LIGHT_H_ARGUMENTS , real x_re, real x_im, real y_re, real y_im LATERAL_ARGUMENT
#define LIGHT_H , x_re, x_im, y_re, y_im LATERAL
#define LIGHT_E_ARGUMENTS LIGHT_H_ARGUMENTS
#define LIGHT_E LIGHT_H
#endif

/* One component: unsplit, or as the sum of two parts, of which `part` is the one driven by `first`. */
static inline real2 advance(real2 old, real2 first, real2 second, global const real2 *coefficients, int at_first,
                            int at_second, int split, global const real2 *part, index_t at, real2 *new_part)
{
    if (split) {
        const real2 before = part[at];
        const real2 a = times(coefficients[2 * at_first], before) + times(coefficients[2 * at_first + 1], first);
        const real2 b = times(coefficients[2 * at_second], old - before) + times(coefficients[2 * at_second + 1], second);
        *new_part = a;
        return a + b;
    }
    return times(coefficients[2 * at_first], old) + times(coefficients[2 * at_first + 1], first + second);
}

/* E of the cell above: nothing in the metal wall behind the layer at the top. */
static inline triple load_above(global const real2 *E, index_t at, int z)
{
    triple t;
    t.x = t.y = t.z = (real2)(0, 0);
    return z == GNZ - 1 ? t : load_triple(E, at + SLICE);
}

/* H of one cell after the next half step, e: E of the cell. i, j: in the box; x, y, z: in the grid. */
static inline triple next_H(global const real2 *E, global const real2 *H, global const real2 *part,
                            global const real2 *coefficients, index_t at, int i, int j, int x, int y, int z, triple e,
                            triple above, triple *parts LIGHT_H_ARGUMENTS)
{
    const index_t east = EAST(i, at), north = NORTH(j, at);
    const triple h = load_triple(H, at);
    const real2 e_y_east = ACROSS(x == GNX - 1, E[east + PLANE], PHASE_X);
    const real2 e_z_east = ACROSS(x == GNX - 1, E[east + 2 * PLANE], PHASE_X);
    const real2 e_x_north = ACROSS(y == GNY - 1, E[north], PHASE_Y);
    const real2 e_z_north = ACROSS(y == GNY - 1, E[north + 2 * PLANE], PHASE_Y);
    real2 dz_ex = above.x - e.x, dz_ey = above.y - e.y;
#if !VOLUME
    if (z == SOURCE) { /* E below is the total field, H is the scattered one */
        dz_ex = dz_ex + INCIDENT((real2)(x_re, x_im), x, y);
        dz_ey = dz_ey + INCIDENT((real2)(y_re, y_im), x, y);
    }
#endif
    const int dx = depth_H(x, GNX, PML_SIDES, PML_SIDES), dy = depth_H(y, GNY, PML_SIDES, PML_SIDES);
    const int dz = depth_H(z, GNZ, PML_BOTTOM, 1);
    triple next;
    next.x = advance(h.x, dz_ey, e.z - e_z_north, coefficients, dz, dy, dz + dy, part, at, &parts->x);
    next.y = advance(h.y, -dz_ex, e_z_east - e.z, coefficients, dz, dx, dz + dx, part, at + PLANE, &parts->y);
    next.z = advance(h.z, e.y - e_y_east, e_x_north - e.x, coefficients, dx, dy, dx + dy, part, at + 2 * PLANE,
                     &parts->z);
    return next;
}

/* E of one cell after the next half step, from H of the cell (here) and of its neighbours to the west, south and below. */
static inline triple next_E(triple e, global const uchar *edge, global const real2 *part,
                            global const real2 *coefficients, index_t at, int x, int y, int z, triple here, triple west,
                            triple south, triple below, triple *parts LIGHT_E_ARGUMENTS)
{
    const int dx = depth_E(x, GNX, PML_SIDES, PML_SIDES), dy = depth_E(y, GNY, PML_SIDES, PML_SIDES);
    const int dz = depth_E(z, GNZ, PML_BOTTOM, 1);
    const int class_x = edge[at] * (PML_CELLS + 1), class_y = edge[at + PLANE] * (PML_CELLS + 1);
    const int class_z = edge[at + 2 * PLANE] * (PML_CELLS + 1);
    real2 dz_hx = here.x - below.x, dz_hy = here.y - below.y;
#if !VOLUME
    if (z == SOURCE) { /* H above is the scattered field, E is the total one */
        dz_hx = dz_hx + INCIDENT((real2)(x_re, x_im), x, y);
        dz_hy = dz_hy + INCIDENT((real2)(y_re, y_im), x, y);
    }
#endif
    triple next;
    next.x = advance(e.x, -dz_hy, here.z - south.z, coefficients, class_x + dz, class_x + dy, dz + dy, part, at, &parts->x);
    next.y = advance(e.y, dz_hx, west.z - here.z, coefficients, class_y + dz, class_y + dx, dz + dx, part, at + PLANE,
                     &parts->y);
    next.z = advance(e.z, here.y - west.y, south.x - here.x, coefficients, class_z + dx, class_z + dy, dx + dy, part,
                     at + 2 * PLANE, &parts->z);
#if VOLUME
    const real2 incident = wave[z];
    next.x = next.x + drive_x * times(coefficients[2 * class_x + 1], times(contrast[edge[at]], incident));
    next.y = next.y + drive_y * times(coefficients[2 * class_y + 1], times(contrast[edge[at + PLANE]], incident));
#endif
    /* tangential components vanish on metal walls */
    const int wall_x = PML_SIDES && x == 0, wall_y = PML_SIDES && y == 0;
    if (wall_y | (z == 0))
        next.x = (real2)(0, 0);
    if (wall_x | (z == 0))
        next.y = (real2)(0, 0);
    if (wall_x | wall_y)
        next.z = (real2)(0, 0);
    return next;
}

/* Stores the parts of a cell where it has any. */
#define STORE_PARTS(part, at, parts, dx, dy, dz)   \
    if ((dz) + (dy) > 0)                           \
        part[at] = (parts).x;                      \
    if ((dz) + (dx) > 0)                           \
        part[(at) + PLANE] = (parts).y;            \
    if (PML_SIDES && (dx) + (dy) > 0)              \
        part[(at) + 2 * PLANE] = (parts).z;

#define STORE_TRIPLE(f, at, value)      \
    f[at] = (value).x;                  \
    f[(at) + PLANE] = (value).y;        \
    f[(at) + 2 * PLANE] = (value).z;

kernel void maxwell_H(global const real2 *restrict E, global const real2 *restrict coefficients, global real2 *H,
                      global real2 *part LIGHT_H_ARGUMENTS)
{
    CELL3(i, j, k);
    const int x = X0 + i, y = Y0 + j, z = Z0 + k;
    const index_t at = AT3(i, j, k);
    triple parts;
    const triple next = next_H(E, H, part, coefficients, at, i, j, x, y, z, load_triple(E, at), load_above(E, at, z),
                               &parts LIGHT_H);
    STORE_TRIPLE(H, at, next)
    STORE_PARTS(part, at, parts, depth_H(x, GNX, PML_SIDES, PML_SIDES), depth_H(y, GNY, PML_SIDES, PML_SIDES),
                depth_H(z, GNZ, PML_BOTTOM, 1))
}

/* The new E of cell (i, j, k); declares x, y, z, at, parts, next. */
#define NEXT_E(i, j, k)                                                                                             \
    const int x = X0 + (i), y = Y0 + (j), z = Z0 + (k);                                                             \
    const index_t at = AT3(i, j, k), west_at = WEST(i, at), south_at = SOUTH(j, at);                                \
    const triple here = load_triple(H, at);                                                                         \
    triple west, south, below, parts;                                                                               \
    west.x = (real2)(0, 0);                                                                                         \
    west.y = ACROSS(x == 0, H[west_at + PLANE], BACK_X);                                                            \
    west.z = ACROSS(x == 0, H[west_at + 2 * PLANE], BACK_X);                                                        \
    south.x = ACROSS(y == 0, H[south_at], BACK_Y);                                                                  \
    south.y = (real2)(0, 0);                                                                                        \
    south.z = ACROSS(y == 0, H[south_at + 2 * PLANE], BACK_Y);                                                      \
    below.x = z == 0 ? (real2)(0, 0) : H[at - SLICE];                                                               \
    below.y = z == 0 ? (real2)(0, 0) : H[at - SLICE + PLANE];                                                       \
    below.z = (real2)(0, 0);                                                                                        \
    const triple old = load_triple(E, at);                                                                          \
    const triple next = next_E(old, edge, part, coefficients, at, x, y, z, here, west, south, below, &parts LIGHT_E);

#define STORE_E                                                                                                     \
    STORE_TRIPLE(E, at, next)                                                                                       \
    STORE_PARTS(part, at, parts, depth_E(x, GNX, PML_SIDES, PML_SIDES), depth_E(y, GNY, PML_SIDES, PML_SIDES),      \
                depth_E(z, GNZ, PML_BOTTOM, 1))

kernel void maxwell_E(global const real2 *restrict H, global const uchar *restrict edge,
                      global const real2 *restrict coefficients, global real2 *E, global real2 *part LIGHT_E_ARGUMENTS)
{
    CELL3(i, j, k);
    NEXT_E(i, j, k)
    STORE_E
}

/* The same with the largest |change|^2 and |E|^2 of every block. */
kernel void maxwell_E_watched(global const real2 *restrict H, global const uchar *restrict edge,
                              global const real2 *restrict coefficients, global real2 *E, global real2 *part,
                              global acc *restrict partials LIGHT_E_ARGUMENTS)
{
    local acc changes[LANES], sizes[LANES];
    CLEAR_LANES(changes);
    CLEAR_LANES(sizes);
    FOR_CELLS(1, i, j, lane) {
        NEXT_E(i, j, block_k())
        changes[lane] = larger(changes[lane], largest(next.x - old.x, next.y - old.y, next.z - old.z));
        sizes[lane] = larger(sizes[lane], largest(next.x, next.y, next.z));
        STORE_E
    }
    put_partial_max(partials, 0, changes);
    put_partial_max(partials, 1, sizes);
}

/* ------------------------------------------------------------------------------------ rows, for CPUs
 *
 * A work-group does a block by itself, row by row, in loops over plain reals that compilers turn into vectors; pairs would
 * keep them from it. Where all cells of a stretch have the same coefficients and none is special, three such loops do it;
 * the rest goes cell by cell. The arithmetic is that of the other kernels, bit for bit. */

/* Cells along x that may go in loops: neither at an end of the box's rows nor in an absorbing side. */
#define PLAIN_FROM max(block_first(), PML_SIDES ? PML_CELLS + 1 - X0 : 1)
#define PLAIN_TO min(min(block_first() + BLOCK_NX, NX - 1), PML_SIDES ? GNX - PML_CELLS - 1 - X0 : NX)

/* new = t old + c (first + second); `first` and `second` are of one real, at 2 i and 2 i + 1. */
#define ROW_LOOP(old, FIRST, SECOND)                                                          \
    for (int i = from; i < to; i++) {                                                         \
        const int r = 2 * i, m = 2 * i + 1;                                                   \
        const real re = FIRST(r) + SECOND(r), im = FIRST(m) + SECOND(m);                      \
        const real old_re = old[r], old_im = old[m];                                          \
        old[r] = (t.x * old_re - t.y * old_im) + (c.x * re - c.y * im);                       \
        old[m] = (t.x * old_im + t.y * old_re) + (c.x * im + c.y * re);                       \
    }

/* The same where it is split: part = t part + c first; old = part + (t2 (old - part before) + c2 second). */
#define SPLIT_LOOP(old, part, FIRST, SECOND)                                                  \
    for (int i = from; i < to; i++) {                                                         \
        const int r = 2 * i, m = 2 * i + 1;                                                   \
        const real f_re = FIRST(r), f_im = FIRST(m), s_re = SECOND(r), s_im = SECOND(m);      \
        const real p_re = part[r], p_im = part[m];                                            \
        const real o_re = old[r] - p_re, o_im = old[m] - p_im;                                \
        const real a_re = (t.x * p_re - t.y * p_im) + (c.x * f_re - c.y * f_im);              \
        const real a_im = (t.x * p_im + t.y * p_re) + (c.x * f_im + c.y * f_re);              \
        const real b_re = (t2.x * o_re - t2.y * o_im) + (c2.x * s_re - c2.y * s_im);          \
        const real b_im = (t2.x * o_im + t2.y * o_re) + (c2.x * s_im + c2.y * s_re);          \
        part[r] = a_re;                                                                       \
        part[m] = a_im;                                                                       \
        old[r] = a_re + b_re;                                                                 \
        old[m] = a_im + b_im;                                                                 \
    }

/* One component of a stretch, with the coefficients at `first` for the derivative that the part keeps and `second` for the
 * other. */
#define ROW_COMPONENT(old, part, split, table, first, second, FIRST, SECOND)                  \
    {                                                                                         \
        const real2 t = (table)[2 * (first)], c = (table)[2 * (first) + 1];                   \
        if (split) {                                                                          \
            const real2 t2 = (table)[2 * (second)], c2 = (table)[2 * (second) + 1];           \
            SPLIT_LOOP(old, part, FIRST, SECOND)                                              \
        } else {                                                                              \
            ROW_LOOP(old, FIRST, SECOND)                                                      \
        }                                                                                     \
    }

/* The reals of a row, from its first cell on. */
#define ROW(f, component, j, k) ((f) + 2 * (AT3(0, j, k) + (component)*PLANE))

#define ONE_CELL_H(i, j)                                                                                              \
    {                                                                                                                 \
        const int x = X0 + (i), y = Y0 + (j), z = Z0 + block_k();                                                     \
        const index_t at = AT3(i, j, block_k());                                                                      \
        triple parts;                                                                                                 \
        const triple next = next_H(E, H, part, coefficients, at, i, j, x, y, z, load_triple(E, at),                     \
                                   load_above(E, at, z), &parts LIGHT_H);                                               \
        STORE_TRIPLE(H, at, next)                                                                                     \
        STORE_PARTS(part, at, parts, depth_H(x, GNX, PML_SIDES, PML_SIDES), depth_H(y, GNY, PML_SIDES, PML_SIDES),    \
                    depth_H(z, GNZ, PML_BOTTOM, 1))                                                                        \
    }

kernel void maxwell_H_rows(global const real2 *restrict E, global const real2 *restrict coefficients,
                           global real2 *restrict H, global real2 *restrict part LIGHT_H_ARGUMENTS)
{
    const int k = block_k(), layer = Z0 + k, dz = depth_H(layer, GNZ, PML_BOTTOM, 1), end = min(block_first() + BLOCK_NX, NX);
    const int rows = get_local_id(0) == 0 ? min(block_top() + BLOCK_NY, NY) : 0;
    for (int j = block_top(); j < rows; j++) {
        const int dy = depth_H(Y0 + j, GNY, PML_SIDES, PML_SIDES);
        const int special = layer == GNZ - 1 || layer == SOURCE || dy > 0 || j == NY - 1;
        const int from = special ? end : min(PLAIN_FROM, end), to = special ? end : max(PLAIN_TO, from);
        for (int i = block_first(); i < from; i++)
            ONE_CELL_H(i, j)
        if (from < to) {
            global const real *restrict e = (global const real *)E;
            global const real *restrict ex = ROW(e, 0, j, k), *restrict ey = ROW(e, 1, j, k), *restrict ez = ROW(e, 2, j, k);
            global real *restrict h = (global real *)H, *restrict p = (global real *)part;
            global real *restrict hx = ROW(h, 0, j, k), *restrict hy = ROW(h, 1, j, k), *restrict hz = ROW(h, 2, j, k);
            global real *restrict px = ROW(p, 0, j, k), *restrict py = ROW(p, 1, j, k);
#define FIRST_X(r) (ey[(r) + 2 * SLICE] - ey[r])
#define SECOND_X(r) (ez[r] - ez[(r) + 2 * PITCH])
#define FIRST_Y(r) (-(ex[(r) + 2 * SLICE] - ex[r]))
#define SECOND_Y(r) (ez[(r) + 2] - ez[r])
#define FIRST_Z(r) (ey[r] - ey[(r) + 2])
#define SECOND_Z(r) (ex[(r) + 2 * PITCH] - ex[r])
            ROW_COMPONENT(hx, px, dz > 0, coefficients, dz, 0, FIRST_X, SECOND_X)
            ROW_COMPONENT(hy, py, dz > 0, coefficients, dz, 0, FIRST_Y, SECOND_Y)
            ROW_COMPONENT(hz, px, 0, coefficients, 0, 0, FIRST_Z, SECOND_Z)
#undef FIRST_X
#undef SECOND_X
#undef FIRST_Y
#undef SECOND_Y
#undef FIRST_Z
#undef SECOND_Z
        }
        for (int i = to; i < end; i++)
            ONE_CELL_H(i, j)
    }
}

/* Where the stretch of cells with the class of cell i ends. */
static inline int stretch_end(global const uchar *restrict edge, int i, int end)
{
    const uchar class = edge[i];
    const ulong eight = (ulong)class * 0x0101010101010101UL;
    while (i + 8 <= end && as_ulong(vload8(0, edge + i)) == eight)
        i += 8;
    while (i < end && edge[i] == class)
        i++;
    return i;
}

#if VOLUME
#define QUIET(class) (contrast[class].x == 0 && contrast[class].y == 0)
#else
#define QUIET(class) 1
#endif

/* One component of a row: stretches of one class in loops. A stretch that radiates goes cell by cell. */
#define E_COMPONENT(component, old, part, split, depth, FIRST, SECOND)                        \
    for (int from = plain_from, to; from < plain_to; from = to) {                             \
        global const uchar *classes = edge + AT3(0, j, k) + (component)*PLANE;                \
        const int class = classes[from];                                                      \
        to = stretch_end(classes, from, plain_to);                                            \
        ROW_COMPONENT(old, part, split, coefficients, class * (PML_CELLS + 1) + (depth),      \
                      class * (PML_CELLS + 1), FIRST, SECOND)                                 \
    }

#define ONE_CELL_E(i, j)                  \
    {                                     \
        NEXT_E(i, j, block_k())           \
        STORE_E                           \
    }

kernel void maxwell_E_rows(global const real2 *restrict H, global const uchar *restrict edge,
                           global const real2 *restrict coefficients, global real2 *restrict E,
                           global real2 *restrict part LIGHT_E_ARGUMENTS)
{
    const int k = block_k(), layer = Z0 + k, dz = depth_E(layer, GNZ, PML_BOTTOM, 1), end = min(block_first() + BLOCK_NX, NX);
    const int rows = get_local_id(0) == 0 ? min(block_top() + BLOCK_NY, NY) : 0;
    for (int j = block_top(); j < rows; j++) {
        const int dy = depth_E(Y0 + j, GNY, PML_SIDES, PML_SIDES);
        int special = layer == 0 || layer == SOURCE || dy > 0 || j == 0;
#if VOLUME
        for (int component = 0; component < 2; component++) /* a row that radiates */
            for (int i = block_first(), to; i < end && !special; i = to) {
                global const uchar *classes = edge + AT3(0, j, k) + component * PLANE;
                to = stretch_end(classes, i, end);
                special = !QUIET(classes[i]);
            }
#endif
        const int plain_from = special ? end : min(PLAIN_FROM, end), plain_to = special ? end : max(PLAIN_TO, plain_from);
        for (int i = block_first(); i < plain_from; i++)
            ONE_CELL_E(i, j)
        if (plain_from < plain_to) {
            global const real *restrict h = (global const real *)H;
            global const real *restrict hx = ROW(h, 0, j, k), *restrict hy = ROW(h, 1, j, k), *restrict hz = ROW(h, 2, j, k);
            global real *restrict e = (global real *)E, *restrict p = (global real *)part;
            global real *restrict ex = ROW(e, 0, j, k), *restrict ey = ROW(e, 1, j, k), *restrict ez = ROW(e, 2, j, k);
            global real *restrict px = ROW(p, 0, j, k), *restrict py = ROW(p, 1, j, k);
#define FIRST_X(r) (-(hy[r] - hy[(r)-2 * SLICE]))
#define SECOND_X(r) (hz[r] - hz[(r)-2 * PITCH])
#define FIRST_Y(r) (hx[r] - hx[(r)-2 * SLICE])
#define SECOND_Y(r) (hz[(r)-2] - hz[r])
#define FIRST_Z(r) (hy[r] - hy[(r)-2])
#define SECOND_Z(r) (hx[(r)-2 * PITCH] - hx[r])
            E_COMPONENT(0, ex, px, dz > 0, dz, FIRST_X, SECOND_X)
            E_COMPONENT(1, ey, py, dz > 0, dz, FIRST_Y, SECOND_Y)
            E_COMPONENT(2, ez, px, 0, 0, FIRST_Z, SECOND_Z)
#undef FIRST_X
#undef SECOND_X
#undef FIRST_Y
#undef SECOND_Y
#undef FIRST_Z
#undef SECOND_Z
        }
        for (int i = plain_to; i < end; i++)
            ONE_CELL_E(i, j)
    }
}

#if FUSED
/* ------------------------------------------------------------------------------------------ H and E in one sweep
 *
 * A work-group goes up through the layers of its tile. In every layer it makes the new H of all its cells, of which the first
 * column and row belong to the tiles beside; then, with H of the neighbours in local memory and of the layer below in
 * registers, the new E. Old and new fields are different buffers, since the neighbours still need the old ones. The
 * arithmetic is that of the two passes. */
#if REAL_BYTES == 8
#define LEVELS 1 /* of H in local memory; a second one saves a barrier where there is room */
#else
#define LEVELS 2
#endif
#if VOLUME
#define FUSED_H
#define FUSED_E LIGHT_E
#define FUSED_ARGUMENTS LIGHT_E_ARGUMENTS
#else
#define FUSED_H , e_x_re, e_x_im, e_y_re, e_y_im LATERAL
#define FUSED_E , h_x_re, h_x_im, h_y_re, h_y_im LATERAL
#define FUSED_ARGUMENTS                                                                                             \
    , real e_x_re, real e_x_im, real e_y_re, real e_y_im, real h_x_re, real h_x_im, real h_y_re,                    \
        real h_y_im LATERAL_ARGUMENT
#endif

kernel __attribute__((reqd_work_group_size(TILE_X, TILE_Y, 1))) void maxwell_fused(global const real2 *restrict E, global const real2 *restrict H,
                          global const real2 *restrict part_E, global const real2 *restrict part_H,
                          global const uchar *restrict edge, global const real2 *restrict coefficients_E,
                          global const real2 *restrict coefficients_H, global real2 *restrict new_E,
                          global real2 *restrict new_H, global real2 *restrict new_part_E,
                          global real2 *restrict new_part_H FUSED_ARGUMENTS)
{
    local real2 level_x[LEVELS][TILE_Y][TILE_X], level_y[LEVELS][TILE_Y][TILE_X], level_z[LEVELS][TILE_Y][TILE_X];
    const int column = (int)get_local_id(0), row = (int)get_local_id(1);
    const int i0 = (int)get_group_id(0) * (TILE_X - 1) + column - 1, j0 = (int)get_group_id(1) * (TILE_Y - 1) + row - 1;
    /* The cell before the first one is the last one where the box wraps around, else a halo's. */
    const int i = NX == GNX && i0 < 0 ? NX - 1 : i0, j = NY == GNY && j0 < 0 ? NY - 1 : j0;
    const int x = X0 + i, y = Y0 + j, there = i0 < NX && j0 < NY, own = there && column > 0 && row > 0;
    const int first = (int)get_group_id(2) * TILE_LAYERS + LAUNCH_Z, end = min(first + TILE_LAYERS, NZ);
    triple below, h, parts, e, next_e;
    below.x = below.y = below.z = h.x = h.y = h.z = (real2)(0, 0);
    /* E of the layer that comes next; below the grid there is none to be passed on. */
    next_e = there && Z0 + first == 0 ? load_triple(E, AT3(i, j, first)) : below;
    for (int k = first - 1; k < end; k++) {
        const int z = Z0 + k, level = LEVELS > 1 ? k & 1 : 0;
        const index_t at = AT3(i, j, k);
        if (there && z >= 0) {
            const triple above = load_above(E, at, z);
            e = k < first ? load_triple(E, at) : next_e;
            next_e = above;
            h = next_H(E, H, part_H, coefficients_H, at, i, j, x, y, z, e, above, &parts FUSED_H);
            if (own && k >= first) {
                STORE_TRIPLE(new_H, at, h)
                STORE_PARTS(new_part_H, at, parts, depth_H(x, GNX, PML_SIDES, PML_SIDES),
                            depth_H(y, GNY, PML_SIDES, PML_SIDES), depth_H(z, GNZ, PML_BOTTOM, 1))
            }
        }
        level_x[level][row][column] = h.x;
        level_y[level][row][column] = h.y;
        level_z[level][row][column] = h.z;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (own && k >= first) {
            triple west, south;
            west.x = south.y = (real2)(0, 0);
            west.y = ACROSS(x == 0, level_y[level][row][column - 1], BACK_X);
            west.z = ACROSS(x == 0, level_z[level][row][column - 1], BACK_X);
            south.x = ACROSS(y == 0, level_x[level][row - 1][column], BACK_Y);
            south.z = ACROSS(y == 0, level_z[level][row - 1][column], BACK_Y);
            e = next_E(e, edge, part_E, coefficients_E, at, x, y, z, h, west, south, below, &parts FUSED_E);
            STORE_TRIPLE(new_E, at, e)
            STORE_PARTS(new_part_E, at, parts, depth_E(x, GNX, PML_SIDES, PML_SIDES),
                        depth_E(y, GNY, PML_SIDES, PML_SIDES), depth_E(z, GNZ, PML_BOTTOM, 1))
        }
        below = h;
        if (LEVELS == 1)
            barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif

#if ANDERSON_DEPTH
/* ------------------------------------------------------------------------------------------------- acceleration
 *
 * history holds DEPTH differences of states and the last state. A state's components are those of E, H and the parts of
 * both, one after the other. */
#define PARTS (PML_SIDES ? 3 : 2)
#define COMPONENTS (6 + 2 * PARTS)
#define KEPT(slot, c) history[(long)((slot)*COMPONENTS + (c)) * PLANE + at]

static inline real2 state_of(global const real2 *E, global const real2 *H, global const real2 *part_E,
                             global const real2 *part_H, int c, index_t at)
{
    return c < 3           ? E[at + c * PLANE]
           : c < 6         ? H[at + (c - 3) * PLANE]
           : c < 6 + PARTS ? part_E[at + (c - 6) * PLANE]
                           : part_H[at + (c - 6 - PARTS) * PLANE];
}

/* The state becomes the last one, its difference to the one before goes to `slot`, if that is one. */
kernel void maxwell_anderson_store(global const real2 *restrict E, global const real2 *restrict H,
                         global const real2 *restrict part_E, global const real2 *restrict part_H,
                         global real2 *restrict history, int slot)
{
    CELL3(i, j, k);
    const index_t at = AT3(i, j, k);
    for (int c = 0; c < COMPONENTS; c++) {
        const real2 x = state_of(E, H, part_E, part_H, c, at);
        if (slot >= 0)
            KEPT(slot, c) = x - KEPT(ANDERSON_DEPTH, c);
        KEPT(ANDERSON_DEPTH, c) = x;
    }
}

/* The sums of conj(difference `from`, from + 1, ...) times difference `row`: real and imaginary parts of up to four. */
kernel void maxwell_anderson_gram(global const real2 *restrict history, int row, int from, global acc *restrict partials)
{
    local acc re[4][LANES], im[4][LANES];
    for (int m = 0; m < 4; m++) {
        CLEAR_LANES(re[m]);
        CLEAR_LANES(im[m]);
    }
    FOR_CELLS(1, i, j, lane) {
        const index_t at = AT3(i, j, block_k());
        real a[4] = { 0, 0, 0, 0 }, b[4] = { 0, 0, 0, 0 };
        for (int c = 0; c < COMPONENTS; c++) {
            const real2 u = KEPT(row, c);
            for (int m = 0; m < 4; m++) {
                const real2 v = KEPT(min(from + m, row), c);
                a[m] = a[m] + (v.x * u.x + v.y * u.y);
                b[m] = b[m] + (v.x * u.y - v.y * u.x);
            }
        }
        for (int m = 0; m < 4; m++) {
            re[m][lane] += a[m];
            im[m][lane] += b[m];
        }
    }
    for (int m = 0; m < 4; m++) {
        put_partial_sum(partials, 2 * m, re[m]);
        put_partial_sum(partials, 2 * m + 1, im[m]);
    }
}

kernel void maxwell_anderson_gram_sum(global const acc *restrict sums, int row, int from, global real *restrict gram)
{
    local acc scratch[FINISH_LANES];
    for (int m = 0; m < 8; m++) {
        const acc sum = total_sum(sums, m, scratch);
        if (get_local_id(0) == 0 && from + m / 2 <= row)
            gram[2 * (row * ANDERSON_DEPTH + from) + m] = sum;
    }
}

/* last state - sum factors[l] difference l */
kernel void maxwell_anderson_update(global const real2 *restrict history, global const real2 *restrict factors,
                        global real2 *restrict E, global real2 *restrict H, global real2 *restrict part_E,
                        global real2 *restrict part_H)
{
    CELL3(i, j, k);
    const index_t at = AT3(i, j, k);
    for (int c = 0; c < COMPONENTS; c++) {
        real2 x = KEPT(ANDERSON_DEPTH, c);
        for (int l = 1; l < ANDERSON_DEPTH; l++)
            x = x - times(factors[l], KEPT(l, c));
        if (c < 3)
            E[at + c * PLANE] = x;
        else if (c < 6)
            H[at + (c - 3) * PLANE] = x;
        else if (c < 6 + PARTS)
            part_E[at + (c - 6) * PLANE] = x;
        else
            part_H[at + (c - 6 - PARTS) * PLANE] = x;
    }
}
#endif

/* |E| of the total field. */
#if VOLUME
kernel void maxwell_norm(global const real2 *restrict E, global real *restrict norm, global const real2 *restrict wave,
                         real drive_x, real drive_y)
#else
kernel void maxwell_norm(global const real2 *restrict E, global real *restrict norm)
#endif
{
    CELL3(i, j, k);
    const index_t at = AT3(i, j, k);
    triple e = load_triple(E, at);
#if VOLUME
    e.x = e.x + drive_x * wave[Z0 + k];
    e.y = e.y + drive_y * wave[Z0 + k];
#endif
    norm[at] = sqrt(square(e.x) + square(e.y) + square(e.z));
}

kernel void maxwell_maxima(global const acc *restrict maxima, global real *restrict totals)
{
    local acc scratch[FINISH_LANES];
    const acc change = total_max(maxima, 0, scratch);
    const acc size = total_max(maxima, 1, scratch);
    if (get_local_id(0) == 0) {
        totals[0] = change;
        totals[1] = size;
    }
}
