/* flood.cl: shallow water by finite volumes on hexagons or squares, one time step a launch (docs/flood.md).
 *   h_t + div(h c) = q,   (h c)_t + div(h c c + g h^2 / 2) = -g h grad z - g n^2 |c| c / h^(1/3)
 *
 * Cells stand in rows; of hexagons every odd row is shifted by half a cell to the east. Edges count from the east,
 * counter-clockwise; a cell owns the first half of its edges. An edge's flux is always computed from its west (south)
 * side, so that the two cells beside it get the same bits and no water is lost, whoever computes it: with SHARED a
 * work-group computes each edge once and hands the flux to the other cell through local memory, else every cell all of
 * its own. cell: codes of src/solvers/flood/flood.h.
 *
 * The clock: three slots of eight reals, used in turn; step n reads slot n % 3, writes the next and clears the one
 * after.
 *   0  bits of the largest speed (wave_speed) as a float, joined by atomic maxima   1  seconds left of the interval
 *   2  steps of the interval   3  time step without the end of the interval   4  the speed once more, as a real
 *   5  the time step itself
 * Components of blocks: 0-2 the largest speed in each block at the times of these slots (0: dry), 3 whether the block
 * has cells with a special code. */
#define BLOCK_CELLS (BLOCK_NX * BLOCK_NY)

#define SLOTS 3
#define SLOT 8

#define HALF REAL(0.5)
#define TINY REAL(1e-30) /* [m/s], where no water is on either side */
#define AXES (EDGES / 2)
#if EDGES == 6
#define SLANT REAL(0.86602540378443864676) /* sin 60 degrees */
#endif

typedef struct cell_state {
    real h, u, v, lost, rest; /* lost: depth that left through open sides in the step; rest: how much h is too large */
} cell_state;

/* What passes through an edge: mass, momentum along the normal less the hydrostatic pressure of the left or right
 * side, and along the edge. */
typedef struct edge_flux {
    real mass, left, right, along;
} edge_flux;

/* What an edge sees of the cell on one side: depth (0: the water there does not move), ground, velocity. And what the
 * slope of the level within the cell pushes along the axis. */
typedef struct edge_side {
    real h, z, u, v, push;
} edge_side;

/* Sums over edges of a cell, in x and y. */
typedef struct edge_sums {
    real mass, x, y;
} edge_sums;

INLINED real moving(real h) { return h > DRY ? h : 0; }

/* HLLC with the hydrostatic reconstruction of Audusse et al. (2004); u along the normal, v along the edge. */
INLINED void pass(real hl, real ul, real vl, real zl, real hr, real ur, real vr, real zr, edge_flux *f)
{
    const real rise = zr - zl, on_left = hl - MAXIMUM(rise, 0), on_right = hr + MINIMUM(rise, 0);
    const real a = MAXIMUM(on_left, 0), b = MAXIMUM(on_right, 0);
    const real c = SQRT(G * MAXIMUM(a, b)), twice = c + c;
    const real from = a > 0 ? ul : ur, to = b > 0 ? ur : ul;
    const real slow = MINIMUM(from, to) - (a > 0 ? c : twice), fast = MAXIMUM(from, to) + (b > 0 ? c : twice);
    const real low = MINIMUM(slow, 0), high = MAXIMUM(fast, 0), share = -low / MAXIMUM(high - low, TINY);
    const real ql = a * ul, qr = b * ur, jump = qr - ql, more = b - a, straight = ql * ul;
    const real head = HALF * G * (more * (b + a)); /* what the pressure is higher on the right */
    const real thrust = straight + share * (((qr * ur - straight) + head) - high * jump);
    f->mass = ql + share * (jump - high * more);
    f->left = thrust;
    f->right = thrust - head;
    f->along = f->mass * (f->mass > 0 ? vl : vr);
}

/* Components along the normal of an axis' edges and along the edge. Products with 0 and 1 are left out. */
INLINED void turn(int axis, real x, real y, real *normal, real *along)
{
#if EDGES == 6
    const real hx = HALF * x, hy = HALF * y, sx = SLANT * x, sy = SLANT * y;
    *normal = axis == 0 ? x : axis == 1 ? hx + sy : sy - hx;
    *along = axis == 0 ? y : axis == 1 ? hy - sx : -(hy + sx);
#else
    *normal = axis == 0 ? x : y;
    *along = axis == 0 ? y : -x;
#endif
}

/* x and y of what all axes have along their normals and edges, fluxes with the first index for `left` or `right`. */
#if EDGES == 6
#define SUM_X(n0, n1, n2, a1, a2) ((n0) + (HALF * ((n1) - (n2)) - SLANT * ((a1) + (a2))))
#define SUM_Y(a0, n1, n2, a1, a2) ((a0) + (SLANT * ((n1) + (n2)) + HALF * ((a1) - (a2))))
#endif

/* The cell behind the edge of an axis, and that behind the opposite one; `shifted`: the cell's own row stands half a
 * cell to the east. */
INLINED place_t beyond(place_t at, int axis, int shifted)
{
#if EDGES == 6
    return axis == 0 ? at + 1 : axis == 1 ? at + PITCH + shifted : at + PITCH + shifted - 1;
#else
    (void)shifted;
    return axis == 0 ? at + 1 : at + PITCH;
#endif
}
#if ORDER == 2 || SPECIALS || !SHARED
INLINED place_t behind(place_t at, int axis, int shifted)
{
#if EDGES == 6
    return axis == 0 ? at - 1 : axis == 1 ? at - PITCH + shifted - 1 : at - PITCH + shifted;
#else
    (void)shifted;
    return axis == 0 ? at - 1 : at - PITCH;
#endif
}
#endif
#define OTHER_ROW(axis, shifted) (EDGES == 6 && (axis) > 0 ? 1 - (shifted) : (shifted))

/* Where a cell's depth, velocity and ground stand: each in a plane of its own, or (PACKED) beside each other. */
#if PACKED
#define H_OF(at) depth[4 * (long)(at)]
#define U_OF(at) depth[4 * (long)(at) + 1]
#define V_OF(at) depth[4 * (long)(at) + 2]
#define Z_OF(at) depth[4 * (long)(at) + 3]
#define NEXT_H(at) next_depth[4 * (long)(at)]
#define NEXT_U(at) next_depth[4 * (long)(at) + 1]
#define NEXT_V(at) next_depth[4 * (long)(at) + 2]
#else
#define H_OF(at) depth[at]
#define U_OF(at) velocity[at]
#define V_OF(at) velocity[(at) + PLANE]
#define Z_OF(at) bed[at]
#define NEXT_H(at) next_depth[at]
#define NEXT_U(at) next_velocity[at]
#define NEXT_V(at) next_velocity[(at) + PLANE]
#endif

/* Not restrict, which Oclgrind's compiler can't inline; the kernels' own arguments are. */
#define FIELDS                                                                                                       \
    global const real *depth, global const real *velocity, global const real *bed, global const int *cell,           \
        global const real *half_depth, global const real *half_velocity
#define GIVEN depth, velocity, bed, cell, half_depth, half_velocity

#if SPECIALS
/* Normal of an edge. */
static inline real normal_x(int e)
{
#if EDGES == 6
    return e == 0 ? 1 : e == 3 ? -1 : e == 1 || e == 5 ? HALF : -HALF;
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
/* Half of the limited difference across a cell (generalised minmod, factor 1.5): monotone, and zero at extrema. a:
 * from the one before, b: to the one after. */
INLINED real limited(real a, real b, int usable)
{
    const real least = MINIMUM(ABS(a), ABS(b)), edge = REAL(0.75) * least, mean = REAL(0.25) * ABS(a + b);
    const real steep = MINIMUM(edge, mean);
    return (usable & ((a > 0) == (b > 0))) ? (a > 0 ? steep : -steep) : 0;
}

/* Slopes across a cell along an axis, of depth, level, velocity. There are none beside closed edges and dry cells. */
typedef struct cell_slopes {
    real h, level, u, v;
} cell_slopes;
INLINED void slopes(FIELDS, place_t at, int axis, int shifted, cell_slopes *s)
{
    const place_t from = behind(at, axis, shifted), to = beyond(at, axis, shifted);
    const int both = CLOSED << axis | CLOSED << (axis + AXES);
    const real h0 = depth[from], h1 = depth[at], h2 = depth[to];
    const real l0 = h0 + bed[from], l1 = h1 + bed[at], l2 = h2 + bed[to];
    const real u1 = velocity[at], v1 = velocity[at + PLANE];
    const int usable = !(cell[at] & both) & (h0 > DRY) & (h1 > DRY) & (h2 > DRY);
    s->h = limited(h1 - h0, h2 - h1, usable);
    s->level = limited(l1 - l0, l2 - l1, usable);
    s->u = limited(u1 - velocity[from], velocity[to] - u1, usable);
    s->v = limited(v1 - velocity[from + PLANE], velocity[to + PLANE] - v1, usable);
    (void)half_depth, (void)half_velocity;
}
#endif

/* A cell as the edge of an axis sees it, the one ahead or the opposite one. At second order the bed there is level
 * less depth (Audusse and Bristeau 2005), all at half the time step; what the level's slope pushes is a sum for both
 * edges. */
INLINED void look(FIELDS, place_t at, int axis, int shifted, int ahead, edge_side *s)
{
#if ORDER == 2
    const real h = half_depth[at], u = half_velocity[at], v = half_velocity[at + PLANE], level = h + bed[at];
    cell_slopes slope;
    slopes(GIVEN, at, axis, shifted, &slope);
    const real deep = ahead ? h + slope.h : h - slope.h;
    s->h = moving(deep);
    s->z = (ahead ? level + slope.level : level - slope.level) - deep;
    s->u = ahead ? u + slope.u : u - slope.u;
    s->v = ahead ? v + slope.v : v - slope.v;
    s->push = 2 * G * (h * slope.level);
#else
    s->h = moving(H_OF(at));
    s->z = Z_OF(at);
    s->u = U_OF(at);
    s->v = V_OF(at);
    s->push = 0;
    (void)cell, (void)half_depth, (void)half_velocity, (void)axis, (void)shifted, (void)ahead;
    (void)velocity, (void)bed;
#endif
}

/* Through the edge of an axis between two cells, of which the one in the west pushes as well; `shifted`: it is. Edges that end at
 * a wall of hexagon edges are longer by a quarter (src/solvers/flood/flood_walls.c). */
INLINED void through(FIELDS, place_t west, place_t east, int axis, int shifted, int open, edge_flux *f)
{
    edge_side l, r;
    real ul, vl, ur, vr;
    look(GIVEN, west, axis, shifted, 1, &l);
    look(GIVEN, east, axis, OTHER_ROW(axis, shifted), 0, &r);
    turn(axis, l.u, l.v, &ul, &vl);
    turn(axis, r.u, r.v, &ur, &vr);
    pass(l.h, ul, vl, l.z, r.h, ur, vr, r.z, f);
#if JAGGED
    if (IS_CPU || (cell[west] >> LONGER & 7)) { /* few cells: the others save the products */
        const real length = cell[west] >> (LONGER + axis) & 1 ? REAL(1.25) : 1;
        f->mass = length * f->mass;
        f->left = length * f->left;
        f->right = length * f->right;
        f->along = length * f->along;
    }
#endif
    f->mass = open ? f->mass : 0;
#if ORDER == 2
    f->left = f->left + l.push;
#endif
    f->left = open ? f->left : 0;
    f->right = open ? f->right : 0;
    f->along = open ? f->along : 0;
}

/* What leaves through the edges that a cell owns: these, the ones towards the rows above. */
INLINED void sum_own(const edge_flux *e, const edge_flux *first, const edge_flux *second, edge_sums *s)
{
#if EDGES == 6
    s->mass = (e->mass + first->mass) + second->mass;
    s->x = SUM_X(e->left, first->left, second->left, first->along, second->along);
    s->y = SUM_Y(e->along, first->left, second->left, first->along, second->along);
#else
    (void)second;
    s->mass = e->mass + first->mass;
    s->x = e->left - first->along;
    s->y = e->along + first->left;
#endif
}

/* What comes through the edges towards the row below, of its cells in the south-west and south-east: mass, thrust,
 * along. */
INLINED void sum_below(const edge_sums *first, const edge_sums *second, edge_sums *s)
{
#if EDGES == 6
    s->mass = first->mass + second->mass;
    s->x = HALF * (first->x - second->x) - SLANT * (first->y + second->y);
    s->y = SLANT * (first->x + second->x) + HALF * (first->y - second->y);
#else
    (void)second;
    s->mass = first->mass;
    s->x = -first->y;
    s->y = first->x;
#endif
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

/* |c'| + dt g n^2 h^(-4/3) |c'|^2 = |c|, solved for c' / c */
INLINED void rub(real deep, int wet, real dt, real *u, real *v)
{
    const real root = inverse_cube_root(wet ? deep : 1), square = root * root;
    const real f = dt * GN2 * SQRT(*u * *u + *v * *v) * (square * square);
    const real slower = 2 / (1 + SQRT(1 + 4 * f));
    *u = *u * slower;
    *v = *v * slower;
}
#endif

/* A cell after `dt` in which `mass`, mx, my left it, `out` of it through open sides; rest: what rounding left over. */
INLINED void settle(real h, real u, real v, real rest, real mass, real mx, real my, real out, real dt, cell_state *next)
{
    const real scale = dt * EDGE;
#if COMPENSATED /* what rounding leaves over comes to the next step (Kahan 1965) */
    const real change = -(scale * mass) - rest, deep = h + change;
    next->rest = deep > DRY ? (deep - h) - change : 0;
#else
    const real deep = h - scale * mass;
    next->rest = 0;
    (void)rest;
#endif
    const real qx = h * u - scale * mx, qy = h * v - scale * my;
    const int wet = !(deep <= DRY);
    const real inverse = 1 / (wet ? deep : 1);
    next->h = deep < 0 ? 0 : deep;
    next->u = (wet ? qx * inverse : 0) + 0; /* no zero keeps a sign, which minima and maxima may have given it */
    next->v = (wet ? qy * inverse : 0) + 0;
    next->lost = scale * out;
#if FRICTION
    rub(deep, wet, dt, &next->u, &next->v);
#endif
}

#if SPECIALS || !SHARED
/* The neighbours along an axis: computed, or looked up. */
#if NUMBERED
#define AHEAD(axis) (complete ? beyond(at, axis, shifted) : near[at + (axis)*PLANE])
#define BACK(axis) (complete ? behind(at, axis, shifted) : near[at + ((axis) + AXES) * PLANE])
#else
#define AHEAD(axis) beyond(at, axis, shifted)
#define BACK(axis) behind(at, axis, shifted)
#endif
/* Through both edges of an axis. */
#define BOTH_WAYS(axis)                                                                                              \
    through(GIVEN, at, AHEAD(axis), axis, shifted, !(code & CLOSED << (axis)), &own[axis]);                          \
    through(GIVEN, BACK(axis), at, axis, OTHER_ROW(axis, shifted), !(code & CLOSED << ((axis) + AXES)), &f);         \
    back[axis].mass = f.mass;                                                                                          \
    back[axis].x = f.right;                                                                                            \
    back[axis].y = f.along;

/* A cell after `dt`, all its edges computed here. `shifted`: its row stands half a cell to the east; `complete`: with
 * open sides, which the cells of the inside need not look for. */
INLINED void advance(FIELDS, global const real *values, global const real *rest, global const int *near, place_t at,
                    int code, int shifted, real dt, int complete, cell_state *next)
{
    const real h = H_OF(at), u = U_OF(at), v = V_OF(at);
    edge_flux own[3], f;
    edge_sums back[3], s, below;
    real out = 0;
    BOTH_WAYS(0)
    BOTH_WAYS(1)
#if EDGES == 6
    BOTH_WAYS(2)
#endif
    sum_own(&own[0], &own[1], &own[AXES - 1], &s);
    sum_below(&back[1], &back[AXES - 1], &below);
    real mass = (s.mass - below.mass) - back[0].mass;
    real mx = (s.x - below.x) - back[0].x, my = (s.y - below.y) - back[0].y;
    (void)values, (void)rest, (void)near, (void)complete;
#if SPECIALS
    /* Open sides. values: two for each side: of an inflow the discharge per metre (>= 0) and the critical depth, of a
     * given level -1 and the level, of an open side -2. */
    if (complete && (code & OUTER * ((1 << EDGES) - 1))) {
        const int side = (uint)code / SIDE & 3;
        const real z = Z_OF(at), q = values[2 * side], second = values[2 * side + 1];
        const real out_x = side == 0 ? -1 : side == 1 ? 1 : 0, out_y = side == 2 ? -1 : side == 3 ? 1 : 0;
        for (int e = 0; e < EDGES; e++)
            if (code & OUTER << e) {
                const real nx = normal_x(e), ny = normal_y(e);
                if (q >= 0) {
                    const real facing = nx * out_x + ny * out_y, deep = h > second ? h : second;
                    const real in = facing > 0 ? q * facing : 0;
                    const real push = deep > DRY ? in * (q / deep) : 0;
                    const real thrust = HALF * G * (deep * deep - h * h);
                    out = out - in;
                    mx = mx + (thrust * nx + push * out_x);
                    my = my + (thrust * ny + push * out_y);
                } else {
                    const real un = u * nx + v * ny, ut = v * nx - u * ny;
                    const real deep = q < REAL(-1.5) ? h : second - z > 0 ? second - z : 0;
                    pass(moving(h), un, ut, z, moving(deep), un, ut, z, &f);
                    out = out + f.mass;
                    mx = mx + (f.left * nx - f.along * ny);
                    my = my + (f.left * ny + f.along * nx);
                }
            }
        mass = mass + out;
    }
#endif
    settle(h, u, v, COMPENSATED ? rest[at] : 0, mass, mx, my, out, dt, next);
}
#endif

/* What limits the time step: the largest speed of a wave across an edge. */
INLINED real wave_speed(real h, real u, real v)
{
    const real straight = ABS(u);
#if EDGES == 6
    const real slanted = HALF * straight + SLANT * ABS(v), flow = slanted <= straight ? straight : slanted;
#else
    const real flow = larger(straight, ABS(v));
#endif
    const real speed = flow + SQRT(G * h);
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
    int x = (X0 + block_first()) / BLOCK_NX + dx, y = (Y0 + block_top()) / BLOCK_NY + dy;
    if (PERIODIC_X)
        x = x < 0 ? x + SUM_BLOCKS_X : x >= SUM_BLOCKS_X ? x - SUM_BLOCKS_X : x;
    if (PERIODIC_Y)
        y = y < 0 ? y + SUM_BLOCKS_Y : y >= SUM_BLOCKS_Y ? y - SUM_BLOCKS_Y : y;
    return x < 0 || x >= SUM_BLOCKS_X || y < 0 || y >= SUM_BLOCKS_Y ? -1
                                                               : ((Z0 + block_k()) * SUM_BLOCKS_Y + y) * SUM_BLOCKS_X + x;
}

/* What all work-items of a step need to know, found by a few of them: the clock's times, and in which blocks around
 * there is water, now or a step ago (then the field that is written is older by a step). */
enum { NOW_DT, NOW_WISH, NOW_LEFT, NOW_AFTER, NOW_WET, NOW_SPECIAL = NOW_WET + 9, NOW };
static inline void find_now(local real *now, global const acc *blocks, global const real *clock, int slot, real refill)
{
    const int before = (slot + SLOTS - 1) % SLOTS;
    if (get_local_id(0) == get_local_size(0) - 1) { /* not of those who look at blocks */
        real wish, left, after;
        now[NOW_DT] = step_of(clock, slot, refill, &wish, &left, &after);
        now[NOW_WISH] = wish;
        now[NOW_LEFT] = left;
        now[NOW_AFTER] = after;
    }
    FOR_LANES(n, NOW - NOW_WET) {
        const int b = n < 9 ? block_beside(n % 3 - 1, n / 3 - 1) : partial_index();
        const int at = n < 9 ? slot : SLOTS, also = n < 9 ? before : SLOTS;
        now[NOW_WET + n] = b >= 0 && (blocks[at * PARTIALS + b] != 0 || blocks[also * PARTIALS + b] != 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Whether anything can change in this block: it has special cells, or there is water in or beside it. */
static inline int block_active(local const real *now)
{
    int active = ALL_BLOCKS;
    for (int n = 0; n < NOW - NOW_WET; n++)
        active = active || now[NOW_WET + n] != 0;
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
        const place_t at = AT3(i, j, block_k());
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
/* The depth that goes down from `up` to `below` through a link in `dt`; negative: it comes up. share: of a stair its
 * crest over the cell's area, of an opening the coefficient of discharge. At most half of what is there.
 *   stair      broad-crested weir under the head H over the upper floor: (2/3)^1.5 SQRT(g) H^1.5, and once the water
 * below
 *              stands higher than 2/3 H, h2 SQRT(2 g (H - h2))
 *   opening    orifice: C SQRT(2 g times the difference of levels)                                              */
static inline real through_link(int kind, real share, real dt, cell_state up, real z, cell_state below, real z_below)
{
    const real level = below.h + z_below - z;
    const real head = up.h > DRY ? up.h + (up.u * up.u + up.v * up.v) / (2 * G) : 0;
    const real tail = below.h > DRY && level > 0 ? level : 0;
    const real most = head > tail ? head : tail, least = head > tail ? tail : head, fall = most - least;
    const real weir = 3 * least > 2 * most ? least * SQRT(2 * G * fall) : WEIR * (most * SQRT(most));
    const real depth = dt * (share * (kind == 1 ? weir : SQRT(2 * G * fall)));
    const real limit = HALF * (head > tail ? up.h : below.h);
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
/* A cell half a time step later (Hancock), from the slopes within it alone. */
INLINED void predict(FIELDS, place_t at, int shifted, real dt, global real *later_depth,
                    global real *later_velocity)
{
    const real h = depth[at], u = velocity[at], v = velocity[at + PLANE], scale = dt * EDGE;
    cell_slopes s, s1, s2;
    real n, n1, n2, d, d1, d2, unused;
    slopes(GIVEN, at, 0, shifted, &s);
    slopes(GIVEN, at, 1, shifted, &s1);
    turn(0, u, v, &n, &unused);
    turn(1, u, v, &n1, &unused);
    turn(0, s.u, s.v, &d, &unused);
    turn(1, s1.u, s1.v, &d1, &unused);
#if EDGES == 6
    slopes(GIVEN, at, 2, shifted, &s2);
    turn(2, u, v, &n2, &unused);
    turn(2, s2.u, s2.v, &d2, &unused);
    const real fill = (n * s.h + n1 * s1.h + n2 * s2.h) + h * ((d + d1) + d2);
    const real push_u = (n * s.u + n1 * s1.u + n2 * s2.u) + G * (s.level + HALF * (s1.level - s2.level));
    const real push_v = (n * s.v + n1 * s1.v + n2 * s2.v) + G * (SLANT * (s1.level + s2.level));
#else
    (void)s2, (void)n2, (void)d2;
    const real fill = (n * s.h + n1 * s1.h) + h * (d + d1);
    const real push_u = (n * s.u + n1 * s1.u) + G * s.level, push_v = (n * s.v + n1 * s1.v) + G * s1.level;
#endif
    const real deep = h - scale * fill, least = HALF * h, later = deep > least ? deep : least;
    real half_u = u - scale * push_u, half_v = v - scale * push_v;
#if FRICTION
    rub(later, !(later <= DRY), HALF * dt, &half_u, &half_v);
#endif
    later_depth[at] = later;
    later_velocity[at] = half_u;
    later_velocity[at + PLANE] = half_v;
}

kernel void flood_predict(global const real *restrict depth, global const real *restrict velocity,
                          global const real *restrict bed, global const int *restrict cell, global acc *restrict blocks,
                          global real *restrict clock, global real *restrict half_depth,
                          global real *restrict half_velocity, uint slot, real refill)
{
    local real now[NOW];
    find_now(now, blocks, clock, (int)slot, refill);
    const real dt = now[NOW_DT];
    const int k = block_k(), first = block_first(), top = block_top(), width = min(BLOCK_NX, NX - first);
    const int rows = block_active(now) && dt > 0 ? min(BLOCK_NY, NY - top) : 0;
    for (int row = 0; row < rows; row++) {
        const place_t at = AT3(first, top + row, k);
        if (row & 1) {
            EACH_LANE(lane, width,
                      predict(depth, velocity, bed, cell, depth, depth, at + lane, 1, dt, half_depth, half_velocity))
        } else {
            EACH_LANE(lane, width,
                      predict(depth, velocity, bed, cell, depth, depth, at + lane, 0, dt, half_depth, half_velocity))
        }
    }
}
#endif

#if SHARED
/* Each edge once. A work-group goes through the rows of its block from south to north; what leaves a cell through the
 * edges that it owns waits in local memory for the cell beside it. Lanes count from -1, the one in the west of the
 * block, to LANES. Components mass, thrust along the normal, along the edge (or, of sums, x and y):
 *   OWN        what the lane's cell lets out by its own edges less what came in from below
 *   EAST       of the edge to the cell before, that is to the lane one to the west
 *   STAY MOVE  of the two edges towards the row below: between cells of the same lane; of lanes beside each other
 * Two banks, by the row's parity: the lanes of a row are written while those of the row before are still read. */
#define WIDE (LANES + 2)
#define OWN(c) ((c)*WIDE + 1)
#define STAY(c) ((3 + (c)) * WIDE + 1)
#define EAST(bank, c) ((6 + 3 * (bank) + (c)) * WIDE + 1)
#define MOVE(bank, c) ((12 + 3 * (bank) + (c)) * WIDE + 1)
#define KEPT ((EDGES == 6 ? 18 : 12) * WIDE)

INLINED void keep_flux(local real *kept, lane_t first, const edge_flux *f)
{
    kept[first] = f->mass;
    kept[first + WIDE] = f->right;
    kept[first + 2 * WIDE] = f->along;
}

INLINED void take_sums(local const real *kept, lane_t first, edge_sums *s)
{
    s->mass = kept[first];
    s->x = kept[first + WIDE];
    s->y = kept[first + 2 * WIDE];
}

/* What passes through the upper edges of a lane's cell to the cells of the row above. Of hexagons in a row that is
 * shifted the edge 2 leads to the cell of the same lane, 1 to that of the next one; in others 1 and, to the one
 * before, 2. */
INLINED void keep_above(local real *kept, lane_t lane, int shifted, const edge_flux *first, const edge_flux *second)
{
#if EDGES == 6
    keep_flux(kept, STAY(0) + lane, shifted ? second : first);
    keep_flux(kept, shifted ? MOVE(1, 0) + lane + 1 : MOVE(0, 0) + lane - 1, shifted ? first : second);
#else
    (void)shifted, (void)second;
    keep_flux(kept, STAY(0) + lane, first);
#endif
}

/* The edges that a cell of the block owns. */
INLINED void own_edges(FIELDS, local real *kept, lane_t lane, place_t at, int shifted)
{
    const int code = cell[at];
    edge_flux e, first, second;
    edge_sums s, below, stay, move;
    take_sums(kept, STAY(0) + lane, &stay);
#if EDGES == 6
    take_sums(kept, MOVE(1 - shifted, 0) + lane, &move);
    sum_below(shifted ? &stay : &move, shifted ? &move : &stay, &below);
#else
    sum_below(&stay, &stay, &below);
    (void)move, (void)second;
#endif
    through(GIVEN, at, beyond(at, 0, shifted), 0, shifted, !(code & CLOSED), &e);
    through(GIVEN, at, beyond(at, 1, shifted), 1, shifted, !(code & CLOSED << 1), &first);
#if EDGES == 6
    through(GIVEN, at, beyond(at, 2, shifted), 2, shifted, !(code & CLOSED << 2), &second);
#endif
    sum_own(&e, &first, &second, &s);
    kept[OWN(0) + lane] = s.mass - below.mass;
    kept[OWN(1) + lane] = s.x - below.x;
    kept[OWN(2) + lane] = s.y - below.y;
    keep_flux(kept, EAST(shifted, 0) + lane + 1, &e);
    keep_above(kept, lane, shifted, &first, &second);
}

/* The upper edges of the row below the block; whether they are open is known to the cells above. */
INLINED void edges_below(FIELDS, local real *kept, lane_t lane, place_t at, place_t up)
{
    edge_flux first, second;
    through(GIVEN, at, beyond(at, 1, 1), 1, 1, !(cell[EDGES == 6 ? up + 1 : up] & CLOSED << (1 + AXES)), &first);
#if EDGES == 6
    through(GIVEN, at, beyond(at, 2, 1), 2, 1, !(cell[up] & CLOSED << 5), &second);
#endif
    keep_above(kept, lane, 1, &first, &second);
}

/* The edges between the block and the cells in the west and east of it that those own: into the rows 0 to 3 from the
 * west, and from below into the rows 0 to 3 of hexagons. One after the other in `rim`; what the row 0 needs from
 * below goes where it looks for it. */
#define RIM (EDGES == 6 ? 2 * BLOCK_NY : BLOCK_NY)
INLINED void rim_edge(FIELDS, local real *kept, local real *rim, int q, int width, int rows, int k)
{
    const int row = q % BLOCK_NY, from_below = q / BLOCK_NY, shifted = from_below ? 1 - (row & 1) : row & 1;
    /* Of what comes from below: into shifted rows, from the east by the edge 2; into others, from the west by 1. */
    const int axis = from_below ? 1 + (row & 1) : 0, lane = axis == 2 ? width : -1, to = axis == 2 ? width - 1 : 0;
    const int i = block_first(), j = block_top() + row;
    edge_flux f = { 0, 0, 0, 0 };
    const place_t at = AT3(i + lane, j - from_below, k);
    if (row < rows)
        through(GIVEN, at, beyond(at, axis, shifted), axis, shifted,
                !(cell[AT3(i + to, j, k)] & CLOSED << (axis + AXES)), &f);
    rim[q * 3] = f.mass;
    rim[q * 3 + 1] = f.right;
    rim[q * 3 + 2] = f.along;
    if (EDGES == 6 && q == BLOCK_NY)
        keep_flux(kept, MOVE(1, 0), &f);
}

/* What the first lane of a row needs from the west, and the first or last one of the next row from below. */
INLINED void place_rim(local real *kept, local const real *rim, int row, int width)
{
    for (int c = 0; c < 3; c++) {
        kept[EAST(row & 1, c)] = rim[row * 3 + c];
        if (EDGES == 6 && row + 1 < BLOCK_NY)
            kept[row & 1 ? MOVE(1, c) : MOVE(0, c) + width - 1] = rim[(BLOCK_NY + row + 1) * 3 + c];
    }
}
#endif

#if PACKED
/* Between planes, for all who read and write fields, and the cells that steps go through. */
kernel void flood_pack(global const real *restrict depth, global const real *restrict velocity,
                       global const real *restrict bed, global real *restrict packed)
{
    FOR_CELLS(1, i, j, lane) {
        const place_t at = AT3(i, j, block_k());
        packed[4 * (long)at] = depth[at];
        packed[4 * (long)at + 1] = velocity[at];
        packed[4 * (long)at + 2] = velocity[at + PLANE];
        packed[4 * (long)at + 3] = bed[at];
    }
}

kernel void flood_unpack(global const real *restrict packed, global real *restrict depth,
                         global real *restrict velocity)
{
    FOR_CELLS(1, i, j, lane) {
        const place_t at = AT3(i, j, block_k());
        depth[at] = packed[4 * (long)at];
        velocity[at] = packed[4 * (long)at + 1];
        velocity[at + PLANE] = packed[4 * (long)at + 2];
    }
}
#endif

#if NUMBERED
/* The places of all neighbours, for a sweep that looks them up. */
kernel void flood_number(global int *restrict near)
{
    FOR_CELLS(1, i, j, lane) {
        const place_t at = AT3(i, j, block_k());
        for (int axis = 0; axis < AXES; axis++) {
            near[at + axis * PLANE] = (int)beyond(at, axis, j & 1);
            near[at + (axis + AXES) * PLANE] = (int)behind(at, axis, j & 1);
        }
    }
}
#endif

/* A cell of the inside becomes `next`: records of the state before, the state after, its speed. */
#define PUT_CELL(at, code, lane)                                                                                     \
    {                                                                                                                \
        RECORD_CELL(at)                                                                                              \
        NEXT_H(at) = next.h;                                                                                     \
        NEXT_U(at) = next.u;                                                                                  \
        NEXT_V(at) = next.v;                                                                        \
        KEEP_REST(at)                                                                                                \
        const real speed = wave_speed(next.h, next.u, next.v);                                                       \
        ADD_TO_MAXIMUM(speeds, lane, SPECIALS && ((code) & SPECIAL) ? 0 : speed)                                                 \
    }
#if RECORD && IS_CPU
#define RECORD_CELL(at)                                                                                              \
    const real begin = end - left, h_ = H_OF(at), u_ = U_OF(at), v_ = V_OF(at);                   \
    const real danger = h_ * (SQRT(u_ * u_ + v_ * v_) + HALF);                                                       \
    arrival[at] = arrival[at] < 0 && h_ > WET ? begin : arrival[at];                                                 \
    deepest[at] = h_ > deepest[at] ? h_ : deepest[at];                                                               \
    hazard[at] = danger > hazard[at] ? danger : hazard[at];
#elif RECORD /* writes nothing where nothing is new */
#define RECORD_CELL(at)                                                                                              \
    const real h_ = H_OF(at), u_ = U_OF(at), v_ = V_OF(at), arrived_ = arrival[at], most_ = deepest[at];             \
    const real worst_ = hazard[at], danger = h_ * (SQRT(u_ * u_ + v_ * v_) + HALF);                                  \
    if ((arrived_ < 0) & (h_ > WET))                                                                                 \
        arrival[at] = end - left;                                                                                    \
    if (h_ > most_)                                                                                                  \
        deepest[at] = h_;                                                                                            \
    if (danger > worst_)                                                                                             \
        hazard[at] = danger;
#else
#define RECORD_CELL(at)
#endif
#if COMPENSATED
#define KEEP_REST(at) next_rest[at] = next.rest;
#else
#define KEEP_REST(at)
#endif

/* What is left to do for the cell of a lane when all its fluxes are known. */
#define SETTLE_LANE(here, lane, from)                                                                                \
    cell_state next;                                                                                                 \
    settle(H_OF(here), U_OF(here), V_OF(here), COMPENSATED ? rest[here] : 0, kept[OWN(0) + (lane)] - kept[from],     \
           kept[OWN(1) + (lane)] - kept[(from) + WIDE], kept[OWN(2) + (lane)] - kept[(from) + 2 * WIDE], 0, dt,      \
           &next);                                                                                                   \
    PUT_CELL(here, cell[here], lane)

/* The whole cell, where fluxes are not handed on. */
#define ADVANCE_LANE(here, lane, shifted)                                                                            \
    const int code = cell[here];                                                                                     \
    cell_state next;                                                                                                 \
    advance(GIVEN, values, rest, near, here, code, shifted, dt, 0, &next);                                           \
    PUT_CELL(here, code, lane)

/* One time step of every block that has water. end: of the interval [s]; refill: its length when it begins, else 0. */
kernel void flood_advance(
#if PACKED
                          global const real *restrict depth,
#else
                          global const real *restrict depth, global const real *restrict velocity,
                          global const real *restrict bed,
#endif
                          global const int *restrict cell,
#if NUMBERED
                          global const int *restrict near,
#endif
#if SPECIALS
                          global const real *restrict values, global real *restrict gone,
#endif
#if RECORD
                          global real *restrict arrival, global real *restrict deepest, global real *restrict hazard,
#endif
#if COMPENSATED
                          global const real *restrict rest, global real *restrict next_rest,
#endif
                          global real *restrict next_depth,
#if !PACKED
                          global real *restrict next_velocity,
#endif
                          global acc *restrict blocks, global real *restrict clock,
#if ORDER == 2
                          global const real *restrict half_depth, global const real *restrict half_velocity,
#endif
                          uint slot_, real refill, real end)
{
    local acc speeds[LANES];
    local real now[NOW];
#if SHARED
    local real kept[KEPT], rim[3 * RIM];
#elif SPECIALS && IS_CPU
    local real kept[BLOCK_CELLS];
#endif
#if SPECIALS
    local int list[BLOCK_CELLS], listed;
#endif
    const int slot = (int)slot_, next_slot = (slot + 1) % SLOTS;
    BEGIN_MAXIMUM(speeds)
    find_now(now, blocks, clock, slot, refill);
    const real dt = now[NOW_DT], left = now[NOW_LEFT];
    const int active = block_active(now);
    const int k = block_k();
#if !IS_CPU /* where work-items may leave before barriers (lib/reduce.h) */
    if (!active && partial_index() != 0) {
        if (get_local_id(0) == 0)
            put_speed(blocks, clock, next_slot, 0);
        return;
    }
#endif
    (void)end, (void)left;
#if ORDER == 1
    global const real *half_depth = depth, *half_velocity = depth; /* not read */
#endif
#if PACKED
    global const real *velocity = depth, *bed = depth; /* not read */
#endif
#if !NUMBERED
    global const int *near = cell; /* not read */
    (void)near;
#endif
#if !COMPENSATED
    global const real *rest = bed; /* not read */
#endif
#if !SPECIALS
    global const real *values = bed; /* not read */
    (void)values;
#endif
#if SPECIALS
    if (get_local_id(0) == 0)
        listed = 0;
#endif
    const int first = block_first(), top = block_top(), width = min(BLOCK_NX, NX - first);
#if SHARED
    const int rows = active && dt > 0 ? min(BLOCK_NY, NY - top) : -2;
    for (int row = -1; row <= (HAS_ROWS ? rows : -2); row++) {
        const place_t at = AT3(first, top + row, k);
        const lane_t from = EAST(1 - (row & 1), 0);
        if (row > 0) {
            EACH_LANE_OF_ROW(lane, width, SETTLE_LANE(at - PITCH + lane, lane, from + lane))
        }
        if (row < 0) {
            EACH_LANE_OF_ROW(lane, width, edges_below(GIVEN, kept, lane, at + lane, at + PITCH + lane))
            FOR_LANES_OF_ROW(q, RIM)
                rim_edge(GIVEN, kept, rim, q, width, rows, k);
        } else if (row < rows) {
            if (row & 1) {
                EACH_LANE_OF_ROW(lane, width, own_edges(GIVEN, kept, lane, at + lane, 1))
            } else {
                EACH_LANE_OF_ROW(lane, width, own_edges(GIVEN, kept, lane, at + lane, 0))
            }
            if (IS_CPU || get_local_id(0) == 0)
                place_rim(kept, rim, row, width);
        }
        END_OF_ROW
    }
#else
    const int rows = active && dt > 0 ? min(BLOCK_NY, NY - top) : 0;
    for (int row = 0; row < rows; row++) {
        const place_t at = AT3(first, top + row, k);
        if (row & 1) {
            EACH_LANE(lane, width, ADVANCE_LANE(at + lane, lane, 1))
        } else {
            EACH_LANE(lane, width, ADVANCE_LANE(at + lane, lane, 0))
        }
    }
#endif
    FOR_CELLS(active && !(dt > 0), i, j, lane) { /* launched after the end of the interval: nothing changes */
        const place_t at = AT3(i, j, k);
        NEXT_H(at) = H_OF(at);
#if COMPENSATED
        next_rest[at] = rest[at];
#endif
        NEXT_U(at) = U_OF(at);
        NEXT_V(at) = V_OF(at);
        ADD_TO_MAXIMUM(speeds, lane, wave_speed(H_OF(at), U_OF(at), V_OF(at)))
    }
#if SPECIALS
    /* Cells with open sides, sources, drains and links: what is still missing there. They are few, and beside each
     * other: all work-items take their share of a list. */
    const int special = dt > 0 && now[NOW_SPECIAL] != 0;
#if IS_CPU || !SHARED
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
    FOR_FEW_CELLS(special, i, j, lane)
        if (cell[AT3(i, j, k)] & SPECIAL)
            list[atomic_inc(&listed)] = (j - block_top()) * BLOCK_NX + lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int count = special ? listed : 0;
    for (int n = (int)get_local_id(0); n < count; n += (int)get_local_size(0)) {
        const int j = block_top() + list[n] / BLOCK_NX;
        const place_t at = AT3(block_first() + list[n] % BLOCK_NX, j, k);
        const int code = cell[at];
        cell_state next = { NEXT_H(at), NEXT_U(at), NEXT_V(at), 0, 0 };
#if COMPENSATED
        next.rest = next_rest[at];
#endif
        if (code & OUTER * ((1 << EDGES) - 1))
            advance(GIVEN, values, rest, near, at, code, j & 1, dt, 1, &next);
        const int item = (uint)code / ITEM & 255;
        const real value = item > 0 ? values[ITEM_VALUES + item - 1] : 0;
        real lost = next.lost, gain = 0;
#if LINKS
        const int link_down = (uint)code / DOWN & 3, link_up = (uint)code / UP & 3;
        for (int down = 1; down >= 0; down--) /* the other cell of a link, below and above */
            if (down ? link_down > 0 : link_up > 0) {
                const place_t other = down ? at - SLICE : at + SLICE;
                const int code_there = cell[other], item_above = (uint)code_there / ITEM & 255;
                cell_state there;
                advance(GIVEN, values, rest, near, other, code_there, j & 1, dt, 1, &there);
                if (down)
                    gain = gain - through_link(link_down, value, dt, next, Z_OF(at), there, Z_OF(other));
                else
                    gain = gain + through_link(link_up, values[ITEM_VALUES + item_above - 1], dt, there,
                                               Z_OF(other), next, Z_OF(at));
            }
        if (link_down == 0 && item > 0) {
#else
        if (item > 0) {
#endif
            const real amount = dt * value, most = HALF * next.h;
            if (code & DRAIN) {
                const real taken = amount < most ? amount : most;
                gain = gain - taken;
                lost = lost + taken;
            } else {
                gain = gain + amount;
            }
        }
        next = add_still_water(next, gain);
        /* Summed with what rounding left over (Kahan 1965). */
        const real sum = gone[at], more = lost - gone[at + PLANE], total = sum + more;
        gone[at + PLANE] = (total - sum) - more;
        gone[at] = total;
        NEXT_H(at) = next.h;
        NEXT_U(at) = next.u;
        NEXT_V(at) = next.v;
#if COMPENSATED
        next_rest[at] = next.rest;
#endif
#if IS_CPU
        kept[n] = wave_speed(next.h, next.u, next.v);
#else
        ADD_TO_MAXIMUM(speeds, n, wave_speed(next.h, next.u, next.v))
#endif
    }
#if IS_CPU
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_LANES(lane, LANES)
        for (int n = lane; n < count; n += LANES)
            speeds[lane] = larger(speeds[lane], kept[n]);
#endif
#endif
    END_MAXIMUM(speeds)
    if (get_local_id(0) == 0)
        put_speed(blocks, clock, next_slot, speeds[0]);
    if (get_local_id(0) == 0 && partial_index() == 0) {
        global real *this = clock + slot * SLOT, *next = clock + next_slot * SLOT;
        const real steps = refill > 0 ? 0 : this[2];
        next[1] = now[NOW_AFTER];
        next[2] = dt > 0 ? steps + 1 : steps;
        next[3] = now[NOW_WISH];
        next[4] = (real)as_float(((global const uint *)this)[0]);
        next[5] = dt;
        ((global uint *)(clock + (slot + 2) % SLOTS * SLOT))[0] = 0;
    }
}
