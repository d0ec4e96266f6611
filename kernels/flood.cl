/* flood.cl: shallow water by finite volumes on hexagons or squares, one time step a launch (docs/flood.md).
 *   h_t + div(h c) = q,   (h c)_t + div(h c c + g h^2 / 2) = -g h grad z - g n^2 |c| c / h^(1/3)
 * lint: -DORDER=1 -DCOMPENSATED=1 -DEDGES=6 -DFRICTION=0 -DSPECIALS=0 -DLINKS=0 -DRECORD=0 -DALL_BLOCKS=0 -DG=9.81 -DDRY=0.000001 -DEDGE=0.666 -DREACH=0.36 -DDT_MAX=0.5 -DGN2=0.0 -DWET=0.001 -DWEIR=1.7049 -DCLOSED=1 -DSPECIAL=128 -DOUTER=256 -DDOWN=16384 -DUP=65536 -DSIDE=262144 -DITEM=1048576 -DDRAIN=268435456 -DITEM_VALUES=8
 * lint: -DORDER=1 -DCOMPENSATED=1 -DEDGES=4 -DFRICTION=1 -DSPECIALS=1 -DLINKS=1 -DRECORD=1 -DALL_BLOCKS=1 -DG=9.81 -DDRY=0.000001 -DEDGE=0.666 -DREACH=0.36 -DDT_MAX=0.5 -DGN2=0.001 -DWET=0.001 -DWEIR=1.7049 -DCLOSED=1 -DSPECIAL=128 -DOUTER=256 -DDOWN=16384 -DUP=65536 -DSIDE=262144 -DITEM=1048576 -DDRAIN=268435456 -DITEM_VALUES=8
 * lint: -DORDER=2 -DCOMPENSATED=0 -DEDGES=4 -DFRICTION=0 -DSPECIALS=0 -DLINKS=0 -DRECORD=0 -DALL_BLOCKS=0 -DG=9.81 -DDRY=0.000001 -DEDGE=0.666 -DREACH=0.36 -DDT_MAX=0.5 -DGN2=0.0 -DWET=0.001 -DWEIR=1.7049 -DCLOSED=1 -DSPECIAL=128 -DOUTER=256 -DDOWN=16384 -DUP=65536 -DSIDE=262144 -DITEM=1048576 -DDRAIN=268435456 -DITEM_VALUES=8
 * lint: -DORDER=2 -DCOMPENSATED=0 -DEDGES=6 -DFRICTION=1 -DSPECIALS=1 -DLINKS=1 -DRECORD=1 -DALL_BLOCKS=1 -DG=9.81 -DDRY=0.000001 -DEDGE=0.666 -DREACH=0.36 -DDT_MAX=0.5 -DGN2=0.001 -DWET=0.001 -DWEIR=1.7049 -DCLOSED=1 -DSPECIAL=128 -DOUTER=256 -DDOWN=16384 -DUP=65536 -DSIDE=262144 -DITEM=1048576 -DDRAIN=268435456 -DITEM_VALUES=8
 *
 * Cells stand in rows; of hexagons every odd row is shifted by half a cell to the east. Edges count from the east,
 * counter-clockwise. An edge's flux is always computed from its west (south) side, so that the two cells beside it get
 * the same bits and no water is lost. cell: codes of src/solvers/flood/flood.h.
 *
 * The clock: three slots of eight reals, used in turn; step n reads slot n % 3, writes the next and clears the one after.
 *   0  bits of the largest |c| + sqrt(g h) as a float, joined by atomic maxima   1  seconds left of the interval
 *   2  steps of the interval   3  time step without the end of the interval   4  the speed once more, as a real
 *   5  the time step itself
 * Components of blocks: 0-2 the largest speed in each block at the times of these slots (0: dry), 3 whether the block has
 * cells with a special code. */
/* PoCL makes vectors of neighbouring cells if it knows at once that it may: what is called in the loop over cells must
 * become part of it, the root be the compiler's own, and structures not be passed by value. */
#ifdef POCL_DEVICE_ADDRESS_BITS
#define FOLDED static inline __attribute__((always_inline))
#if REAL_BYTES == 8
#define ROOT(x) __builtin_sqrt(x)
#else
#define ROOT(x) __builtin_sqrtf(x)
#endif
#else
#define FOLDED static inline
#define ROOT(x) sqrt(x)
#endif

/* FOR_CELLS for a large body that few cells need: not unrolled. */
#define FOR_FEW_CELLS(active, i, j, lane)                                                                              \
    for (int lane = (int)get_local_id(0), i = block_first() + lane, end_ = min(block_first() + SEGMENT, NX); i < end_; \
         lane += (int)get_local_size(0), i += (int)get_local_size(0))                                                  \
        for (int j = block_top(), rows_ = (active) ? min(block_top() + SEGMENT_ROWS, NY) : 0; j < rows_; j++)

#define SLOTS 3
#define SLOT 8

#if EDGES == 6
#define SLANT REAL(0.86602540378443864676) /* sin 60 degrees */
#endif

typedef struct cell_state {
    real h, u, v, lost, rest; /* lost: depth that left through open sides in the step; rest: by how much h is too large */
} cell_state;

/* What passes through an edge: mass, momentum along the normal less the hydrostatic pressure of the left or right side, and
 * along the edge. */
typedef struct edge_flux {
    real mass, left, right, along;
} edge_flux;

/* HLLC with the hydrostatic reconstruction of Audusse et al. (2004); u along the normal, v along the edge. */
FOLDED void pass(real hl, real ul, real vl, real zl, real hr, real ur, real vr, real zr, edge_flux *f)
{
    const real rise = zr - zl;
    const real down = hl - (rise > 0 ? rise : 0), up = hr + (rise < 0 ? rise : 0);
    const real a = ((hl > DRY) & (down > 0)) ? down : 0, b = ((hr > DRY) & (up > 0)) ? up : 0;
    const real c = ROOT(G * (a > b ? a : b));
    const real ul_ = a > 0 ? ul : ur, ur_ = b > 0 ? ur : ul;
    real low = (ul_ < ur_ ? ul_ : ur_) - (a > 0 ? c : 2 * c), high = (ul_ > ur_ ? ul_ : ur_) + (b > 0 ? c : 2 * c);
    low = low < 0 ? low : 0;
    high = high > 0 ? high : 0;
    const real span = high - low;
    const real share = span > 0 ? -low / span : 0;
    const real ql = a * ul, qr = b * ur, pl = REAL(0.5) * G * (a * a), pr = REAL(0.5) * G * (b * b);
    const real jump = qr - ql;
    const real thrust = ql * ul + share * (((qr * ur + pr) - (ql * ul + pl)) - high * jump);
    f->mass = ql + share * (jump - high * (b - a));
    f->left = thrust;
    f->right = thrust + (pl - pr);
    f->along = f->mass * (f->mass > 0 ? vl : vr);
}

#if FRICTION
/* x^(-1/3): a guess by the exponent, good to 4 %, then Newton's method, which doubles the digits. */
static inline real inverse_cube_root(real x)
{
    real y = (real)as_float(0x54a2fa8cu - as_uint(convert_float(x)) / 3u);
    for (int i = 0; i < (REAL_BYTES == 8 ? 5 : 3); i++)
        y = y * ((4 - x * (y * (y * y))) * REAL(0.33333333333333333333));
    return y;
}
#endif

/* Velocity components along the normal and along the edge, for the edges 0, 1, 2 (the opposite ones follow). */
#if EDGES == 6
#define NORMAL_1(u, v) (REAL(0.5) * (u) + SLANT * (v))
#define ALONG_1(u, v) (REAL(0.5) * (v)-SLANT * (u))
#define NORMAL_2(u, v) (SLANT * (v)-REAL(0.5) * (u))
#define ALONG_2(u, v) (-(REAL(0.5) * (v) + SLANT * (u)))
#endif

/* Adds what leaves through the edge `e` towards `to`: own cell on the west side. X, Y: along x and y what is n along the
 * normal and a along the edge. */
#define LEAVE(e, to, N, A, X, Y)                                                                                    \
    {                                                                                                               \
        const real un = velocity[to], vn = velocity[(to) + PLANE];                                                  \
        edge_flux f;                                                                                                \
        pass(h, N(u, v), A(u, v), z, depth[to], N(un, vn), A(un, vn), bed[to], &f);                                 \
        const int open = !(code & CLOSED << (e));                                                                   \
        const real n = open ? f.left : 0, a = open ? f.along : 0;                                                   \
        mass = mass + (open ? f.mass : 0);                                                                          \
        mx = mx + (X(n, a));                                                                                        \
        my = my + (Y(n, a));                                                                                        \
    }
/* The same through an opposite edge: own cell on the east side. */
#define ENTER(e, to, N, A, X, Y)                                                                                    \
    {                                                                                                               \
        const real un = velocity[to], vn = velocity[(to) + PLANE];                                                  \
        edge_flux f;                                                                                                \
        pass(depth[to], N(un, vn), A(un, vn), bed[to], h, N(u, v), A(u, v), z, &f);                                 \
        const int open = !(code & CLOSED << (e));                                                                   \
        const real n = open ? f.right : 0, a = open ? f.along : 0;                                                  \
        mass = mass - (open ? f.mass : 0);                                                                          \
        mx = mx - (X(n, a));                                                                                        \
        my = my - (Y(n, a));                                                                                        \
    }
#define FIRST_OF(u, v) (u)
#define SECOND_OF(u, v) (v)
#define MINUS_FIRST(u, v) (-(u))
#define X_1(n, a) (REAL(0.5) * (n)-SLANT * (a))
#define Y_1(n, a) (SLANT * (n) + REAL(0.5) * (a))
#define X_2(n, a) (-(REAL(0.5) * (n) + SLANT * (a)))
#define Y_2(n, a) (SLANT * (n)-REAL(0.5) * (a))
#define MINUS_SECOND(n, a) (-(a))

#if SPECIALS
/* Normal of an edge. */
static inline real normal_x(int e)
{
#if EDGES == 6
    return e == 0 ? 1 : e == 3 ? -1 : e == 1 || e == 5 ? REAL(0.5) : REAL(-0.5);
#else
    return e == 0 ? 1 : e == 2 ? -1 : 0;
#endif
}
static inline real normal_y(int e)
{
#if EDGES == 6
    return e == 0 || e == 3 ? 0 : e < 3 ? SLANT : -SLANT;
#else
    return e == 1 ? 1 : e == 3 ? -1 : 0;
#endif
}
#endif

#if ORDER == 2
/* Half of the limited difference across a cell (generalised minmod, factor 1.5): monotone, and zero at extrema. */
static inline real limited(real before, real here, real after, int usable)
{
    const real a = here - before, b = after - here, mean = REAL(0.25) * (a + b);
    const real a1 = REAL(0.75) * a, b1 = REAL(0.75) * b;
    const real up = a1 < b1 ? (a1 < mean ? a1 : mean) : (b1 < mean ? b1 : mean);
    const real down = a1 > b1 ? (a1 > mean ? a1 : mean) : (b1 > mean ? b1 : mean);
    const real steep = ((a > 0) & (b > 0)) ? up : ((a < 0) & (b < 0)) ? down : 0;
    return usable ? steep : 0;
}

/* Slopes across the cell `at` between `before` and `after`: of depth, level, velocity. There are none beside closed edges
 * and dry cells. */
typedef struct cell_slopes {
    real h, level, u, v;
} cell_slopes;
FOLDED void slopes(global const real *depth, global const real *velocity, global const real *bed, index_t before,
                   index_t at, index_t after, int open, cell_slopes *s)
{
    const real h0 = depth[before], h1 = depth[at], h2 = depth[after];
    const int usable = open & (h0 > DRY) & (h1 > DRY) & (h2 > DRY);
    s->h = limited(h0, h1, h2, usable);
    s->level = limited(h0 + bed[before], h1 + bed[at], h2 + bed[after], usable);
    s->u = limited(velocity[before], velocity[at], velocity[after], usable);
    s->v = limited(velocity[before + PLANE], velocity[at + PLANE], velocity[after + PLANE], usable);
}

/* Both edges of one axis: edge e towards the cell `east` and the opposite one towards `west`; `west2`, `east2` are the next
 * ones in line. The bed at an edge is level less depth there; what the level's slope pushes within the cell comes to the
 * momentum (Audusse and Bristeau 2005, less what all edges have in common). */
#define AXIS(e, west2, west, east, east2, N, A, X, Y)                                                                   \
    {                                                                                                                   \
        const int opposite = (e) + EDGES / 2, both = CLOSED << (e) | CLOSED << opposite;                                \
        const int code_w = cell[west], code_e = cell[east];                                                             \
        cell_slopes sw, so, se;                                                                                         \
        slopes(depth, velocity, bed, west2, west, at, !(code_w & both), &sw);                                           \
        slopes(depth, velocity, bed, west, at, east, !(code & both), &so);                                              \
        slopes(depth, velocity, bed, at, east, east2, !(code_e & both), &se);                                           \
        const real level = h + z, level_w = depth[west] + bed[west], level_e = depth[east] + bed[east];                 \
        edge_flux f;                                                                                                    \
        {                                                                                                               \
            const real hl = h + so.h, hr = depth[east] - se.h, ul = u + so.u, vl = v + so.v;                            \
            const real ur = velocity[east] - se.u, vr = velocity[(east) + PLANE] - se.v;                                \
            pass(hl, N(ul, vl), A(ul, vl), level + so.level - hl, hr, N(ur, vr), A(ur, vr), level_e - se.level - hr,    \
                 &f);                                                                                                   \
            const int open = !(code & CLOSED << (e));                                                                   \
            const real n = open ? f.left + REAL(0.5) * G * ((h + hl) * so.level) : 0, a = open ? f.along : 0;           \
            mass = mass + (open ? f.mass : 0);                                                                          \
            mx = mx + (X(n, a));                                                                                        \
            my = my + (Y(n, a));                                                                                        \
        }                                                                                                               \
        {                                                                                                               \
            const real hl = depth[west] + sw.h, hr = h - so.h, ul = velocity[west] + sw.u;                              \
            const real vl = velocity[(west) + PLANE] + sw.v, ur = u - so.u, vr = v - so.v;                              \
            pass(hl, N(ul, vl), A(ul, vl), level_w + sw.level - hl, hr, N(ur, vr), A(ur, vr), level - so.level - hr,    \
                 &f);                                                                                                   \
            const int open = !(code & CLOSED << opposite);                                                              \
            const real n = open ? f.right - REAL(0.5) * G * ((h + hr) * so.level) : 0, a = open ? f.along : 0;          \
            mass = mass - (open ? f.mass : 0);                                                                          \
            mx = mx - (X(n, a));                                                                                        \
            my = my - (Y(n, a));                                                                                        \
        }                                                                                                               \
    }
#endif

/* A cell after `dt`, from the fields before. `shifted`: its row stands half a cell to the east; `complete`: with open sides,
 * which the cells of the inside need not look for. Fluxes are added in the order of the edges. */
FOLDED void advance(global const real *depth, global const real *velocity, global const real *bed,
                    global const int *cell, global const real *values, global const real *rest, index_t at, int code,
                    int shifted, real dt, int complete, cell_state *next)
{
    const real h = depth[at], u = velocity[at], v = velocity[at + PLANE], z = bed[at], scale = dt * EDGE;
    real mass = 0, mx = 0, my = 0, out = 0;
    (void)cell, (void)values, (void)rest, (void)complete, (void)shifted;
#if ORDER == 2 && EDGES == 6
    const index_t above = at + PITCH + shifted, below = at - PITCH + shifted;
    AXIS(0, at - 2, at - 1, at + 1, at + 2, FIRST_OF, SECOND_OF, FIRST_OF, SECOND_OF)
    AXIS(1, at - 2 * PITCH - 1, below - 1, above, at + 2 * PITCH + 1, NORMAL_1, ALONG_1, X_1, Y_1)
    AXIS(2, at - 2 * PITCH + 1, below, above - 1, at + 2 * PITCH - 1, NORMAL_2, ALONG_2, X_2, Y_2)
#elif ORDER == 2
    AXIS(0, at - 2, at - 1, at + 1, at + 2, FIRST_OF, SECOND_OF, FIRST_OF, SECOND_OF)
    AXIS(1, at - 2 * PITCH, at - PITCH, at + PITCH, at + 2 * PITCH, SECOND_OF, MINUS_FIRST, MINUS_SECOND, FIRST_OF)
#elif EDGES == 6
    const index_t north_east = at + PITCH + shifted, south_east = at - PITCH + shifted;
    LEAVE(0, at + 1, FIRST_OF, SECOND_OF, FIRST_OF, SECOND_OF)
    LEAVE(1, north_east, NORMAL_1, ALONG_1, X_1, Y_1)
    LEAVE(2, north_east - 1, NORMAL_2, ALONG_2, X_2, Y_2)
    ENTER(3, at - 1, FIRST_OF, SECOND_OF, FIRST_OF, SECOND_OF)
    ENTER(4, south_east - 1, NORMAL_1, ALONG_1, X_1, Y_1)
    ENTER(5, south_east, NORMAL_2, ALONG_2, X_2, Y_2)
#else
    LEAVE(0, at + 1, FIRST_OF, SECOND_OF, FIRST_OF, SECOND_OF)
    LEAVE(1, at + PITCH, SECOND_OF, MINUS_FIRST, MINUS_SECOND, FIRST_OF)
    ENTER(2, at - 1, FIRST_OF, SECOND_OF, FIRST_OF, SECOND_OF)
    ENTER(3, at - PITCH, SECOND_OF, MINUS_FIRST, MINUS_SECOND, FIRST_OF)
#endif
#if SPECIALS
    /* Open sides. values: two for each side: of an inflow the discharge per metre (>= 0) and the critical depth, of a given
     * level -1 and the level, of an open side -2. */
    if (complete && (code & OUTER * ((1 << EDGES) - 1))) {
        const int side = code / SIDE & 3;
        const real q = values[2 * side], second = values[2 * side + 1];
        const real out_x = side == 0 ? -1 : side == 1 ? 1 : 0, out_y = side == 2 ? -1 : side == 3 ? 1 : 0;
        for (int e = 0; e < EDGES; e++)
            if (code & OUTER << e) {
                const real nx = normal_x(e), ny = normal_y(e);
                if (q >= 0) {
                    const real facing = nx * out_x + ny * out_y, deep = h > second ? h : second;
                    const real in = facing > 0 ? q * facing : 0;
                    const real push = deep > DRY ? in * (q / deep) : 0;
                    const real thrust = REAL(0.5) * G * (deep * deep - h * h);
                    out = out - in;
                    mx = mx + (thrust * nx + push * out_x);
                    my = my + (thrust * ny + push * out_y);
                } else {
                    const real un = u * nx + v * ny, ut = v * nx - u * ny;
                    const real deep = q < REAL(-1.5) ? h : second - z > 0 ? second - z : 0;
                    edge_flux f;
                    pass(h, un, ut, z, deep, un, ut, z, &f);
                    out = out + f.mass;
                    mx = mx + (f.left * nx - f.along * ny);
                    my = my + (f.left * ny + f.along * nx);
                }
            }
        mass = mass + out;
    }
#endif
#if COMPENSATED /* what rounding leaves over comes to the next step (Kahan 1965) */
    const real change = -(scale * mass) - rest[at], deep = h + change;
    next->rest = deep > DRY ? (deep - h) - change : 0;
#else
    const real deep = h - scale * mass;
    next->rest = 0;
#endif
    const real qx = h * u - scale * mx, qy = h * v - scale * my;
    const int wet = !(deep <= DRY);
    const real inverse = 1 / (wet ? deep : 1);
    next->h = deep < 0 ? 0 : deep;
    next->u = wet ? qx * inverse : 0;
    next->v = wet ? qy * inverse : 0;
    next->lost = scale * out;
#if FRICTION
    /* |c'| + dt g n^2 h^(-4/3) |c'|^2 = |c|, solved for c' / c */
    const real root = inverse_cube_root(wet ? deep : 1), square = root * root;
    const real f = dt * GN2 * ROOT(next->u * next->u + next->v * next->v) * (square * square);
    const real slower = 2 / (1 + ROOT(1 + 4 * f));
    next->u = next->u * slower;
    next->v = next->v * slower;
#endif
}

static inline real wave_speed(real h, real u, real v)
{
    const real speed = ROOT(u * u + v * v) + ROOT(G * h);
    return h > DRY || not_finite(h) ? speed : 0;
}

/* The time step that starts from a slot of the clock: as long as the waves allow, and so that the interval is hit. */
static inline real step_of(global const real *clock, int slot, real refill, real *wish, real *left, real *after)
{
    const real speed = (real)as_float(((global const uint *)(clock + slot * SLOT))[0]);
    const real allowed = speed > 0 ? REACH / speed : DT_MAX;
    *wish = allowed < DT_MAX ? allowed : DT_MAX;
    *left = refill > 0 ? refill : clock[slot * SLOT + 1];
    const real steps = ceil(*left / *wish);
    *after = steps > 1 ? *left - *left / steps : 0;
    return *left - *after; /* exact: all steps together are the interval */
}

/* The block of this work-group among those of the whole grid, dx, dy blocks further; -1: there is none. */
static inline int block_beside(int dx, int dy)
{
    int x = (X0 + block_first()) / SEGMENT + dx, y = (Y0 + block_top()) / SEGMENT_ROWS + dy;
    if (PERIODIC_X)
        x = x < 0 ? x + SEGMENTS : x >= SEGMENTS ? x - SEGMENTS : x;
    if (PERIODIC_Y)
        y = y < 0 ? y + BLOCK_ROWS : y >= BLOCK_ROWS ? y - BLOCK_ROWS : y;
    return x < 0 || x >= SEGMENTS || y < 0 || y >= BLOCK_ROWS ? -1
                                                               : ((Z0 + block_k()) * BLOCK_ROWS + y) * SEGMENTS + x;
}

/* Whether anything can change in this block: there was water in or beside it now or a step ago (then the field that is
 * written is older by a step), or it has special cells; of two stages the second may carry on what came in by special cells
 * beside it in the first. */
static inline int block_active(global const acc *blocks, int slot)
{
    const int before = (slot + SLOTS - 1) % SLOTS;
    int active = ALL_BLOCKS || blocks[SLOTS * PARTIALS + partial_index()] != 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            const int b = block_beside(dx, dy);
            active = active || (b >= 0 && (blocks[slot * PARTIALS + b] != 0 || blocks[before * PARTIALS + b] != 0));
#if ORDER == 2
            active = active || (b >= 0 && blocks[SLOTS * PARTIALS + b] != 0);
#endif
        }
    return active;
}

/* Ends a step: the block's largest speed to its place and to the clock. */
static inline void put_speed(global acc *blocks, global real *clock, int slot, acc speed)
{
    blocks[slot * PARTIALS + partial_index()] = speed;
    if (speed != 0)
        atomic_max((volatile global uint *)(clock + slot * SLOT), as_uint(convert_float(speed)));
}

/* The speeds at the start, and which blocks have special cells. */
kernel void flood_begin(global const real *restrict depth, global const real *restrict velocity,
                        global const int *restrict cell, global acc *restrict blocks, global real *restrict clock)
{
    local acc speeds[LANES], special[LANES];
    CLEAR_LANES(speeds);
    CLEAR_LANES(special);
    FOR_CELLS(1, i, j, lane) {
        const index_t at = AT3(i, j, block_k());
        speeds[lane] = larger(speeds[lane], wave_speed(depth[at], velocity[at], velocity[at + PLANE]));
        special[lane] = cell[at] & SPECIAL ? 1 : special[lane];
    }
    fold_max(speeds, LANES);
    if (get_local_id(0) == 0)
        put_speed(blocks, clock, 0, speeds[0]);
    put_partial_max(blocks, SLOTS, special);
    if (get_local_id(0) == 0) {
        blocks[1 * PARTIALS + partial_index()] = 0;
        blocks[2 * PARTIALS + partial_index()] = 0;
    }
}

#if SPECIALS
#if LINKS
/* The depth that goes down from `up` to `below` through a link in `dt`; negative: it comes up. share: of a stair its crest
 * over the cell's area, of an opening the coefficient of discharge. At most half of what is there.
 *   stair      broad-crested weir under the head H over the upper floor: (2/3)^1.5 ROOT(g) H^1.5, and once the water below
 *              stands higher than 2/3 H, h2 ROOT(2 g (H - h2))
 *   opening    orifice: C ROOT(2 g times the difference of levels)                                              */
static inline real through_link(int kind, real share, real dt, cell_state up, real z, cell_state below, real z_below)
{
    const real level = below.h + z_below - z;
    const real head = up.h > DRY ? up.h + (up.u * up.u + up.v * up.v) / (2 * G) : 0;
    const real tail = below.h > DRY && level > 0 ? level : 0;
    const real most = head > tail ? head : tail, least = head > tail ? tail : head, fall = most - least;
    const real weir = 3 * least > 2 * most ? least * ROOT(2 * G * fall) : WEIR * (most * ROOT(most));
    const real depth = dt * (share * (kind == 1 ? weir : ROOT(2 * G * fall)));
    const real limit = REAL(0.5) * (head > tail ? up.h : below.h);
    const real moved = depth < limit ? depth : limit;
    return head > tail ? moved : -moved;
}
#endif

static inline cell_state add_still_water(cell_state c, real amount)
{
    const real change = COMPENSATED ? amount - c.rest : amount, deep = c.h + change;
    const real slower = amount > 0 && deep > 0 ? c.h / deep : 1;
    c.rest = COMPENSATED && deep > DRY ? (deep - c.h) - change : 0;
    c.h = deep < 0 ? 0 : deep;
    c.u = deep > DRY ? c.u * slower : 0;
    c.v = deep > DRY ? c.v * slower : 0;
    return c;
}
#endif

#if ORDER == 2
/* The second stage: the mean of the state before the step and of `next`, which went on from the first stage. */
FOLDED void average(global const real *depth, global const real *velocity, index_t at, int stage, cell_state *next)
{
    const real before = depth[at], h = REAL(0.5) * (before + next->h);
    const real qx = REAL(0.5) * (before * velocity[at] + next->h * next->u);
    const real qy = REAL(0.5) * (before * velocity[at + PLANE] + next->h * next->v);
    const int wet = !(h <= DRY);
    const real inverse = 1 / (wet ? h : 1);
    next->h = stage ? h : next->h;
    next->u = stage ? (wet ? qx * inverse : 0) : next->u;
    next->v = stage ? (wet ? qy * inverse : 0) : next->v;
}
#endif

/* One time step of every block that has water. end: of the interval [s]; refill: its length when it begins, else 0. At
 * second order one of two stages (Heun's method): the first, `stage` 0, goes from the state to `next`; the second from
 * `next`, which stands in the first arguments then, and its mean with the state becomes the state. */
kernel void flood_advance(global const real *restrict depth, global const real *restrict velocity,
                          global const real *restrict bed, global const int *restrict cell,
#if SPECIALS
                          global const real *restrict values, global real *restrict gone,
#endif
#if RECORD
                          global real *restrict arrival, global real *restrict deepest, global real *restrict hazard,
#endif
#if COMPENSATED
                          global const real *restrict rest, global real *restrict next_rest,
#endif
                          global real *restrict next_depth, global real *restrict next_velocity,
                          global acc *restrict blocks, global real *restrict clock, uint slot_, real refill, real end, int stage)
{
    local acc speeds[LANES];
    const int slot = (int)slot_, next_slot = (slot + 1) % SLOTS;
    real wish, left, after;
    const real dt = step_of(clock, slot, refill, &wish, &left, &after);
    const int active = block_active(blocks, slot);
    const int k = block_k();
    (void)end, (void)stage;
#if !COMPENSATED
    global const real *rest = bed; /* not read */
#endif
#if !SPECIALS
    global const real *values = bed; /* not read */
#endif
    CLEAR_LANES(speeds);
    FOR_CELLS(active && dt > 0, i, j, lane) {
        const index_t at = AT3(i, j, k);
        const int code = cell[at];
        cell_state next;
        advance(depth, velocity, bed, cell, values, rest, at, code, j & 1, dt, 0, &next);
#if ORDER == 2
        average(next_depth, next_velocity, at, stage, &next);
        const int later = stage && (code & SPECIAL); /* its turn comes below */
        next.h = later ? next_depth[at] : next.h;
        next.u = later ? next_velocity[at] : next.u;
        next.v = later ? next_velocity[at + PLANE] : next.v;
#endif
#if RECORD
        const real now = end - left, h = stage ? 0 : depth[at], u = velocity[at], v = velocity[at + PLANE];
        const real danger = h * (ROOT(u * u + v * v) + REAL(0.5));
        arrival[at] = arrival[at] < 0 && h > WET ? now : arrival[at];
        deepest[at] = h > deepest[at] ? h : deepest[at];
        hazard[at] = danger > hazard[at] ? danger : hazard[at];
#endif
        next_depth[at] = next.h;
        next_velocity[at] = next.u;
        next_velocity[at + PLANE] = next.v;
#if COMPENSATED
        next_rest[at] = next.rest;
#endif
        const real speed = wave_speed(next.h, next.u, next.v);
        speeds[lane] = larger(speeds[lane], code & SPECIAL ? 0 : speed);
    }
    FOR_CELLS(active && !(dt > 0), i, j, lane) { /* launched after the end of the interval: nothing changes */
        const index_t at = AT3(i, j, k);
        next_depth[at] = depth[at];
#if COMPENSATED
        next_rest[at] = rest[at];
#endif
        next_velocity[at] = velocity[at];
        next_velocity[at + PLANE] = velocity[at + PLANE];
        speeds[lane] = larger(speeds[lane], wave_speed(depth[at], velocity[at], velocity[at + PLANE]));
    }
#if SPECIALS
    /* Cells with open sides, sources, drains and links once more, with all that belongs to them. */
    const int special = blocks[SLOTS * PARTIALS + partial_index()] != 0;
    FOR_FEW_CELLS(special, i, j, lane) {
        const index_t at = AT3(i, j, k);
        const int code = cell[at];
        if (code & SPECIAL) {
            cell_state next = { depth[at], velocity[at], velocity[at + PLANE], 0, COMPENSATED ? rest[at] : 0 };
            if (dt > 0) {
                advance(depth, velocity, bed, cell, values, rest, at, code, j & 1, dt, 1, &next);
                const int item = code / ITEM & 255;
                const real value = item > 0 ? values[ITEM_VALUES + item - 1] : 0;
                real lost = next.lost, gain = 0;
#if LINKS
                const int link_down = code / DOWN & 3, link_up = code / UP & 3;
                if (link_down > 0) {
                    const index_t to = at - SLICE;
                    cell_state below;
                    advance(depth, velocity, bed, cell, values, rest, to, cell[to], j & 1, dt, 1, &below);
                    gain = gain - through_link(link_down, value, dt, next, bed[at], below, bed[to]);
                }
                if (link_up > 0) {
                    const index_t from = at + SLICE;
                    const int code_above = cell[from], item_above = code_above / ITEM & 255;
                    cell_state above;
                    advance(depth, velocity, bed, cell, values, rest, from, code_above, j & 1, dt, 1, &above);
                    gain = gain + through_link(link_up, values[ITEM_VALUES + item_above - 1], dt, above, bed[from], next,
                                               bed[at]);
                }
                if (link_down == 0 && item > 0) {
#else
                if (item > 0) {
#endif
                    const real amount = dt * value, most = REAL(0.5) * next.h;
                    if (code & DRAIN) {
                        const real taken = amount < most ? amount : most;
                        gain = gain - taken;
                        lost = lost + taken;
                    } else {
                        gain = gain + amount;
                    }
                }
                next = add_still_water(next, gain);
#if ORDER == 2
                average(next_depth, next_velocity, at, stage, &next);
                lost = REAL(0.5) * lost;
#endif
                /* Summed with what rounding left over (Kahan 1965). */
                const real sum = gone[at], more = lost - gone[at + PLANE], total = sum + more;
                gone[at + PLANE] = (total - sum) - more;
                gone[at] = total;
            }
            next_depth[at] = next.h;
            next_velocity[at] = next.u;
            next_velocity[at + PLANE] = next.v;
#if COMPENSATED
            next_rest[at] = next.rest;
#endif
            speeds[lane] = larger(speeds[lane], wave_speed(next.h, next.u, next.v));
        }
    }
#endif
    fold_max(speeds, LANES);
    if (stage + 1 == ORDER && get_local_id(0) == 0)
        put_speed(blocks, clock, next_slot, speeds[0]);
    if (stage + 1 == ORDER && get_local_id(0) == 0 && partial_index() == 0) {
        global real *now = clock + slot * SLOT, *next = clock + next_slot * SLOT;
        const real steps = refill > 0 ? 0 : now[2];
        next[1] = after;
        next[2] = dt > 0 ? steps + 1 : steps;
        next[3] = wish;
        next[4] = (real)as_float(((global const uint *)now)[0]);
        next[5] = dt;
        ((global uint *)(clock + (slot + 2) % SLOTS * SLOT))[0] = 0;
    }
}
