/* maxwell.cl: time-harmonic Maxwell equations on Yee's (1966) staggered grid, solved by iteration (docs/maxwell.md).
 * Complex amplitudes of exp(+i omega t); lengths in cells, H times the impedance of vacuum. E_x of cell (i, j, k) is at
 * (i + 1/2, j, k), ..., H_x at (i, j + 1/2, k + 1/2), ...; d_x, d_y, d_z are differences of neighbours.
 *
 *   H' = t H - c curl E     with t, c of the depth in the absorbing layers, where MAGNETIC also of the
 *                           materials beside the face that H stands on                                      (1)
 *   E' = t E + c curl H     with t, c of the materials around the edge of the grid and of that depth          (2)
 *   In absorbing layers (split-field PML, Berenger 1994) a component F is the sum of two parts, each driven by
 *   one of the two differences of its curl, with t and c of the depth along that difference's axis:
 *   F_1' = t_1 F_1 + c_1 d_1 G,   F_2' = t_2 F_2 + c_2 d_2 G,   F = F_1 + F_2                                 (3)
 *   `part` keeps F_1, the part of the difference along z (of a z component: along x); F_2 = F - F_1.
 *
 *   Light comes from SOURCE_PLANE, a plane of E, above which H and E are the scattered field, below the total
 *   one: differences across it include the incident field                                                     (4)
 *   or (VOLUME) E and H are the scattered field everywhere, and the structure radiates,
 *   E' = ... + c contrast E_incident,   contrast = -i omega h / c_0 (eps - eps_above), H by mu in this way    (5)
 *   or given currents do,  CURRENT = 1: E' = ... - c h Z_0 J,   CURRENT = 2: H' = ... - c h M                 (5a)
 *
 * Sides are periodic (BLOCH: but for a phase), or absorbing with a metal wall behind (PML_SIDES). At the top lies an
 * absorbing layer, at the bottom another (PML_BOTTOM) or a metal wall. Tables of t and c: in the order class of
 * materials, depth; without magnetic materials H has one class. With MAPPED, where the index of every cell is given,
 * edges and faces hold the number of their row in the table, else that of their class. */
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

/* What `edge` says of the three edges of a cell. */
typedef struct edges {
    edge_t x, y, z;
} edges;

static inline edges load_edges(global const edge_t *edge, index_t at)
{
    const edges e = { edge[at], edge[at + PLANE], edge[at + 2 * PLANE] };
    return e;
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

/* One component that is not split: (1) or (2). */
static inline real2 whole_component(real2 old, real2 sum, global const real2 *table, int at)
{
    return times(table[2 * at], old) + times(table[2 * at + 1], sum);
}

/* One component: (1) or (2), or (3) where it is split. On small grids the time goes into loads that wait for each
 * other, so there both are computed and none stands behind a branch. */
static inline real2 update_component(real2 old, real2 first, real2 second, global const real2 *table, int at_first,
                                     int at_second, int split, global const real2 *part, index_t at, real2 *new_part)
{
    if (ONE_LAUNCH || split) {
        const real2 before = part[split ? at : 0];
        const real2 a = times(table[2 * at_first], before) + times(table[2 * at_first + 1], first);
        const real2 b = times(table[2 * at_second], old - before) + times(table[2 * at_second + 1], second);
        const real2 whole = whole_component(old, first + second, table, at_first), both = a + b;
        *new_part = a;
        return (real2)(split ? both.x : whole.x, split ? both.y : whole.y);
    }
    return whole_component(old, first + second, table, at_first);
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
#if ONE_LAUNCH
    const int top = z == GNZ - 1;
    vector e = load_vector(E, top ? at : at + SLICE);
    e.x = top ? NOTHING : e.x;
    e.y = top ? NOTHING : e.y;
    return e;
#else
    const vector nothing = { NOTHING, NOTHING, NOTHING };
    return z == GNZ - 1 ? nothing : load_vector(E, at + SLICE);
#endif
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

/* Where MAGNETIC, H knows the classes of faces. */
#if MAGNETIC
#define FACE_PARAMETER , global const edge_t *restrict face
#define FACE , face
#define FACE_ROW(at) ROW_OF(face[at])
#else
#define FACE_PARAMETER
#define FACE
#define FACE_ROW(at) 0
#endif

/* Parameters of the source. Volume source: the incident wave along z, E of all planes, then H half a cell above them;
 * its amplitudes along x and y. Source plane: the incident E in it, for H, and the incident H half a cell above, for E.
 * FUSED_...: both. What a source does not have is empty. FIXED_PARAMETERS: of both, what is the same in all iterations;
 * TAKE_LIGHT: the rest, of one of them. */
#define ADD_CURRENT(f, class_x, class_y, class_z)                                               \
    f.x = f.x + drive * times(coefficients[2 * class_x + 1], current[at]);                      \
    f.y = f.y + drive * times(coefficients[2 * class_y + 1], current[at + PLANE]);              \
    f.z = f.z + drive * times(coefficients[2 * class_z + 1], current[at + 2 * PLANE]);
#if VOLUME
#define WAVE_PARAMETERS , global const real2 *restrict wave, real wave_x, real wave_y
#define SOURCE_E_PARAMETERS , global const real2 *restrict contrast WAVE_PARAMETERS
#define SOURCE_E , contrast, wave, wave_x, wave_y
#define ADD_RADIATION(e, class_x, class_y, class_z)                                                            \
    e.x = e.x + wave_x * times(coefficients[2 * class_x + 1], times(contrast[edge.x], wave[z]));                       \
    e.y = e.y + wave_y * times(coefficients[2 * class_y + 1], times(contrast[edge.y], wave[z]));
#define ADD_WAVE(e, z)                  \
    e.x = e.x + wave_x * wave[z];       \
    e.y = e.y + wave_y * wave[z];
#define ROW_RADIATES(row) row_radiates(edge + (row), contrast, end)
#define TAKE_LIGHT(light) const real wave_x = (light)[0], wave_y = (light)[1];
#if MAGNETIC
#define SOURCE_H_PARAMETERS , global const real2 *restrict contrast_H WAVE_PARAMETERS
#define SOURCE_H , contrast_H, wave, wave_x, wave_y
#define FUSED_PARAMETERS , global const real2 *restrict contrast_H SOURCE_E_PARAMETERS
#define FIXED_PARAMETERS \
    , global const real2 *restrict contrast_H, global const real2 *restrict contrast, global const real2 *restrict wave
#define ADD_RADIATION_H(h, class_x, class_y, class_z)                                                           \
    h.x = h.x + wave_y * times(coefficients[2 * class_x + 1], times(contrast_H[face[at]], wave[GNZ + z]));      \
    h.y = h.y - wave_x * times(coefficients[2 * class_y + 1], times(contrast_H[face[at + PLANE]], wave[GNZ + z]));
#define ROW_RADIATES_H(row) row_radiates(face + (row), contrast_H, end)
#else
#define SOURCE_H_PARAMETERS
#define SOURCE_H
#define FUSED_PARAMETERS SOURCE_E_PARAMETERS
#define FIXED_PARAMETERS , global const real2 *restrict contrast, global const real2 *restrict wave
#endif
#elif CURRENT
#define FUSED_PARAMETERS , global const real2 *restrict current, real drive LATERAL_PARAMETER
#define FIXED_PARAMETERS , global const real2 *restrict current LATERAL_PARAMETER
#define TAKE_LIGHT(light) const real drive = *(light);
#if CURRENT == 2
#define SOURCE_E_PARAMETERS LATERAL_PARAMETER
#define SOURCE_E LATERAL
#define SOURCE_H_PARAMETERS FUSED_PARAMETERS
#define SOURCE_H , current, drive LATERAL
#define ADD_RADIATION_H ADD_CURRENT
#define ROW_RADIATES_H(row) row_radiates(current + (row), end)
#else
#define SOURCE_E_PARAMETERS FUSED_PARAMETERS
#define SOURCE_E , current, drive LATERAL
#define SOURCE_H_PARAMETERS LATERAL_PARAMETER
#define SOURCE_H LATERAL
#define ADD_RADIATION ADD_CURRENT
#define ROW_RADIATES(row) row_radiates(current + (row), end)
#endif
#else
#define SOURCE_E_PARAMETERS SOURCE_H_PARAMETERS
#define SOURCE_E SOURCE_H
#define SOURCE_H_PARAMETERS , real x_re, real x_im, real y_re, real y_im LATERAL_PARAMETER
#define SOURCE_H , x_re, x_im, y_re, y_im LATERAL
#define FUSED_PARAMETERS                                                                                            \
    , real e_x_re, real e_x_im, real e_y_re, real e_y_im, real h_x_re, real h_x_im, real h_y_re,                    \
        real h_y_im LATERAL_PARAMETER
#define FIXED_PARAMETERS LATERAL_PARAMETER
#define TAKE_LIGHT(light)                                                                                           \
    const real e_x_re = (light)[0], e_x_im = (light)[1], e_y_re = (light)[2], e_y_im = (light)[3],                  \
               h_x_re = (light)[4], h_x_im = (light)[5], h_y_re = (light)[6], h_y_im = (light)[7];
#define FUSED_H , e_x_re, e_x_im, e_y_re, e_y_im LATERAL
#define FUSED_E , h_x_re, h_x_im, h_y_re, h_y_im LATERAL
#define ADD_INCIDENT(difference_x, difference_y)                                \
    if (z == SOURCE_PLANE) {                                                    \
        difference_x = difference_x + INCIDENT((real2)(x_re, x_im), x, y);      \
        difference_y = difference_y + INCIDENT((real2)(y_re, y_im), x, y);      \
    }
#endif
#ifndef ADD_INCIDENT
#define FUSED_H SOURCE_H
#define FUSED_E SOURCE_E
#define ADD_INCIDENT(difference_x, difference_y)
#endif
#ifndef ADD_RADIATION
#define ADD_RADIATION(e, class_x, class_y, class_z)
#define ROW_RADIATES(row) 0
#endif
#ifndef ADD_RADIATION_H
#define ADD_RADIATION_H(h, class_x, class_y, class_z)
#define ROW_RADIATES_H(row) 0
#endif
#if !VOLUME
#define WAVE_PARAMETERS
#define ADD_WAVE(e, z)
#endif
#define H_PARAMETERS FACE_PARAMETER SOURCE_H_PARAMETERS

/* ------------------------------------------------------------------------------------------------ one cell */

/* H of a cell after the next half step (1). e, above: E of the cell and of the one above; i, j: in the box; x, y, z: in
 * the grid. */
static inline vector update_H(global const real2 *E, global const real2 *H, global const real2 *part,
                              global const real2 *coefficients, index_t at, int i, int j, int x, int y, int z, vector e,
                              vector above, vector *parts H_PARAMETERS)
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
    const int class_x = FACE_ROW(at), class_y = FACE_ROW(at + PLANE), class_z = FACE_ROW(at + 2 * PLANE);
    vector new;
    new.x = update_component(h.x, dz_ey, e.z - e_z_north, coefficients, class_x + d.z, class_x + d.y, d.z + d.y, part,
                             at, &parts->x);
    new.y = update_component(h.y, -dz_ex, e_z_east - e.z, coefficients, class_y + d.z, class_y + d.x, d.z + d.x, part,
                             at + PLANE, &parts->y);
    new.z = update_component(h.z, e.y - e_y_east, e_x_north - e.x, coefficients, class_z + d.x, class_z + d.y,
                             d.x + d.y, part, at + 2 * PLANE, &parts->z);
    ADD_RADIATION_H(new, class_x, class_y, class_z)
    return new;
}

/* E of a cell after the next half step (2), from H of the cell and of its neighbours to the west, south and below. */
static inline vector update_E(vector e, edges edge, global const real2 *part,
                              global const real2 *coefficients, index_t at, int x, int y, int z, vector h, vector west,
                              vector south, vector below, vector *parts SOURCE_E_PARAMETERS)
{
    const int3 d = depths(OF_E, x, y, z);
    const int class_x = ROW_OF(edge.x), class_y = ROW_OF(edge.y), class_z = ROW_OF(edge.z);
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
                               global real2 *part, int i, int j, int k H_PARAMETERS)
{
    const int x = X0 + i, y = Y0 + j, z = Z0 + k;
    const index_t at = AT3(i, j, k);
    vector parts;
    const vector new = update_H(E, H, part, coefficients, at, i, j, x, y, z, load_vector(E, at), load_above(E, at, z),
                                &parts FACE SOURCE_H);
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
    *next = update_E(*old, load_edges(edge, at), part, coefficients, at, x, y, z, h, west, south, below,
                     &parts SOURCE_E);
    STORE_VECTOR(E, at, (*next))
    STORE_PARTS(part, at, parts, depths(OF_E, x, y, z))
}

kernel void maxwell_H(global const real2 *restrict E, global const real2 *restrict coefficients, global real2 *H,
                      global real2 *part H_PARAMETERS)
{
    CELL3(i, j, k);
    step_cell_H(E, coefficients, H, part, i, j, k FACE SOURCE_H);
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

#if ONE_LAUNCH
/* ------------------------------------------------------------------------------------------------ small grids
 *
 * So many iterations in one launch of work-groups that meet after each (lib/meet.h), to and fro between two buffers of
 * every field; 0: meetings alone, which prove that they run side by side. The new H of the cells to the west, south and
 * below is computed for each cell again: that takes less time than to wait for those who store it.
 *
 * light: rows of LIGHT numbers of the source, of one iteration after the other, the last one those of full light; row:
 * that of the first iteration here. watched: 1 for the largest |change|^2 and |E|^2 of the last iteration, to maxima[0]
 * and [1], and to [2] whether work-groups did not meet; behind them there is room for both of each work-group. */
enum { GROUP_MAXIMA = 3, LIGHT = 8 };

#define NEW_H(at, i, j, x, y, z, parts)                                                                                \
    update_H(E, H, part_H, coefficients_H, at, i, j, x, y, z, load_vector(E, at), load_above(E, at, z), parts          \
                 FACE FUSED_H)
kernel void maxwell_both(global real2 *E_0, global real2 *H_0, global real2 *part_E_0, global real2 *part_H_0,
                         global real2 *E_1, global real2 *H_1, global real2 *part_E_1, global real2 *part_H_1,
                         global const edge_t *restrict edge, global const real2 *restrict coefficients_E,
                         global const real2 *restrict coefficients_H, volatile global int *meeting,
                         int iterations, global const real *restrict light, int row, int last_row, int watched,
                         global real *maxima FACE_PARAMETER FIXED_PARAMETERS)
{
    local acc changes[LANES], sizes[LANES];
    acc change = 0, extent = 0;
    const int size = (int)get_local_size(0), groups = iterations > 0 ? (NX * NY * NZ + size - 1) / size : 0;
    int met = meeting[MEETINGS];
    ROLLED for (int n = 0; n < max(iterations, 1); n++) {
        const int odd = n % 2;
        TAKE_LIGHT(light + LIGHT * min(row + n, last_row))
        global const real2 *E = odd ? E_1 : E_0, *H = odd ? H_1 : H_0, *part_E = odd ? part_E_1 : part_E_0,
                           *part_H = odd ? part_H_1 : part_H_0;
        global real2 *new_E = odd ? E_0 : E_1, *new_H = odd ? H_0 : H_1, *new_part_E = odd ? part_E_0 : part_E_1,
                     *new_part_H = odd ? part_H_0 : part_H_1;
        FOR_GROUPS(task, groups)
        {
            const int cell = task * size + (int)get_local_id(0);
            if (cell < NX * NY * NZ) {
                const int i = cell % NX, j = cell / NX % NY, k = cell / (NX * NY), x = X0 + i, y = Y0 + j, z = Z0 + k;
                const int i_west = i == 0 ? NX - 1 : i - 1, j_south = j == 0 ? NY - 1 : j - 1;
                const index_t at = AT3(i, j, k);
                vector parts_H, parts_E, others;
                const edges classes = load_edges(edge, at);
                const vector e = load_vector(E, at), h = NEW_H(at, i, j, x, y, z, &parts_H);
                vector west = NEW_H(AT3(i_west, j, k), i_west, j, X0 + i_west, y, z, &others);
                vector south = NEW_H(AT3(i, j_south, k), i, j_south, x, Y0 + j_south, z, &others);
                vector below = NEW_H(z > 0 ? at - SLICE : at, i, j, x, y, max(z - 1, 0), &others);
                below.x = z > 0 ? below.x : NOTHING;
                below.y = z > 0 ? below.y : NOTHING;
                west.y = ACROSS(x == 0, west.y, conjugate(PHASE_X));
                west.z = ACROSS(x == 0, west.z, conjugate(PHASE_X));
                south.x = ACROSS(y == 0, south.x, conjugate(PHASE_Y));
                south.z = ACROSS(y == 0, south.z, conjugate(PHASE_Y));
                const vector next = update_E(e, classes, part_E, coefficients_E, at, x, y, z, h, west, south, below,
                                             &parts_E FUSED_E);
                if (n + 1 == iterations) {
                    change = larger(change, largest(next.x - e.x, next.y - e.y, next.z - e.z));
                    extent = larger(extent, largest(next.x, next.y, next.z));
                }
                STORE_VECTOR(new_H, at, h)
                STORE_VECTOR(new_E, at, next)
                STORE_PARTS(new_part_H, at, parts_H, depths(OF_H, x, y, z))
                STORE_PARTS(new_part_E, at, parts_E, depths(OF_E, x, y, z))
            }
        }
        meet(meeting, &met);
    }
    /* Of the work-items of each work-group, then of all work-groups. */
    ROLLED for (int round = 0; round < 2 * watched; round++) {
        const int item = (int)get_local_id(0), group = (int)get_group_id(0);
        CLEAR_LANES(changes);
        CLEAR_LANES(sizes);
        ROLLED for (int first = 0; first < size; first += LANES) {
            if (item >= first && item < first + LANES) {
                changes[item - first] = larger(changes[item - first], change);
                sizes[item - first] = larger(sizes[item - first], extent);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        FOLD(LANES, FOLD_STEP(changes, left_, larger) FOLD_STEP(sizes, left_, larger))
        global real *to = round == 0 ? maxima + GROUP_MAXIMA + 2 * group : maxima;
        if (item == 0 && (round == 0 || group == 0)) {
            to[0] = changes[0];
            to[1] = sizes[0];
        }
        meet(meeting, &met);
        FOR_LANES(other, round == 0 ? (int)get_num_groups(0) : 0) {
            change = larger(change, maxima[GROUP_MAXIMA + 2 * other]);
            extent = larger(extent, maxima[GROUP_MAXIMA + 2 * other + 1]);
        }
    }
    if (watched && get_global_id(0) == 0)
        maxima[2] = (real)meeting[FAILED];
}
#endif

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
 * A work-group goes up through a piece of the layers. It computes the new H of its cells, of which the first row
 * belongs to the tile to the south, and with its first work-items that of the column to the west; then the new E, with
 * H of neighbours from local memory, of the layer below from registers. Other tiles still read the old fields, so the
 * new ones go to other buffers. Same arithmetic. E is loaded again for each use: caches have it, and the registers that
 * would keep it are worth a third more work-groups at a time. */
#define LEVELS 2 /* layers of H in local memory: two save a barrier */

#ifdef OFFSET_X /* the launch may be of a part of the box: pieces are equally long */
static inline int piece_start(int piece) { return min(LAUNCH_Z + piece * TILE_LAYERS, NZ); }
#else
/* Twice the work in the first k layers of the box: an absorbing one takes 2.5 times as long. */
static inline int work_below(int k)
{
    const int bottom = clamp(PML_BOTTOM * PML_CELLS - Z0, 0, k), top = clamp(Z0 + k - (GNZ - PML_CELLS), 0, k);
    return 2 * k + 3 * (bottom + top);
}

/* The first layer of a piece. All pieces are as much work, so that work-groups side by side end together. */
static inline int piece_start(int piece)
{
    const int work = (int)((long)work_below(NZ) * piece / (int)get_num_groups(2));
    int low = 0, high = NZ;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (work_below(middle) < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
#endif

kernel __attribute__((reqd_work_group_size(TILE_X, TILE_Y, 1))) void
maxwell_fused(global const real2 *restrict E, global const real2 *restrict H, global const real2 *restrict part_E,
              global const real2 *restrict part_H, global const edge_t *restrict edge,
              global const real2 *restrict coefficients_E, global const real2 *restrict coefficients_H,
              global real2 *restrict new_E, global real2 *restrict new_H, global real2 *restrict new_part_E,
              global real2 *restrict new_part_H FACE_PARAMETER FUSED_PARAMETERS)
{
    /* Row 0 is the one to the south; y and z have the column to the west in front. */
    local real2 level_x[LEVELS][TILE_Y][TILE_X], level_y[LEVELS][TILE_Y][TILE_X + 1],
        level_z[LEVELS][TILE_Y][TILE_X + 1];
    const int column = (int)get_local_id(0), row = (int)get_local_id(1), item = row * TILE_X + column;
    const int i_first = (int)get_group_id(0) * TILE_X, j_first = (int)get_group_id(1) * (TILE_Y - 1);
    /* The cell before the first one is the last one where the box wraps around, else one of the halo; behind a wall
     * there is none. */
    const int i = i_first + column, j0 = j_first + row - 1;
    const int j = NY == GNY && j0 < 0 ? NY - 1 : j0;
    const int x = X0 + i, y = Y0 + j, inside = i < NX && j0 < NY && (!PML_SIDES | (y >= 0)), own = inside && row > 0;
    const int i_west = NX == GNX && i_first == 0 ? NX - 1 : i_first - 1, j_west = j_first + item, row_west = item + 1;
    const int has_west = row_west < TILE_Y && j_west < NY && (!PML_SIDES | (X0 + i_west >= 0));
    const int first = piece_start((int)get_group_id(2)), end = piece_start((int)get_group_id(2) + 1);
    vector below, h, parts;
    below.x = below.y = below.z = h.x = h.y = h.z = NOTHING;
    for (int k = first - 1; k < end; k++) {
        const int z = Z0 + k, level = k & 1;
        const index_t at = AT3(i, j, k);
        edges classes; /* for E, a barrier before they are needed */
        if (own && k >= first)
            classes = load_edges(edge, at);
        if (has_west && k >= first) {
            const index_t at_west = AT3(i_west, j_west, k);
            vector parts_west;
            const vector west = update_H(E, H, part_H, coefficients_H, at_west, i_west, j_west, X0 + i_west,
                                         Y0 + j_west, z, load_vector(E, at_west), load_above(E, at_west, z),
                                         &parts_west FACE FUSED_H);
            level_y[level][row_west][0] = west.y;
            level_z[level][row_west][0] = west.z;
        }
        if (inside && z >= 0) {
            h = update_H(E, H, part_H, coefficients_H, at, i, j, x, y, z, load_vector(E, at), load_above(E, at, z),
                         &parts FACE FUSED_H);
            if (own && k >= first) {
                STORE_VECTOR(new_H, at, h)
                STORE_PARTS(new_part_H, at, parts, depths(OF_H, x, y, z))
            }
        }
        level_x[level][row][column] = h.x;
        level_y[level][row][column + 1] = h.y;
        level_z[level][row][column + 1] = h.z;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (own && k >= first) {
            const vector e = load_vector(E, at);
            vector west, south;
            west.x = south.y = NOTHING;
            west.y = ACROSS(x == 0, level_y[level][row][column], conjugate(PHASE_X));
            west.z = ACROSS(x == 0, level_z[level][row][column], conjugate(PHASE_X));
            south.x = ACROSS(y == 0, level_x[level][row - 1][column], conjugate(PHASE_Y));
            south.z = ACROSS(y == 0, level_z[level][row - 1][column + 1], conjugate(PHASE_Y));
            const vector next = update_E(e, classes, part_E, coefficients_E, at, x, y, z, h, west, south, below,
                                         &parts FUSED_E);
            STORE_VECTOR(new_E, at, next)
            STORE_PARTS(new_part_E, at, parts, depths(OF_E, x, y, z))
        }
        below = h;
    }
}
#endif
