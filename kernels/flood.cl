/* flood.cl: shallow water by finite volumes on hexagons or squares, one time step a launch, at second order two
 * launches (docs/flood.md). Depth h, velocity c = (u, v), bed z, Manning's roughness n, sources q:
 *   (1)  h_t + div(h c) = q
 *   (2)  (h c)_t + div(h c c + g h^2 / 2) = -g h grad z - g n^2 |c| c / h^(1/3)
 * A time step, with K = dt EDGE_PER_AREA and fluxes of mass (m), of momentum along the normal of an edge (t) and along
 * the edge (a):
 *   (3)  h' = h - K sum of m,   (h c)' = h c - K sum of (t, a) rotated back,   then friction (7)
 * Flux between the left and the right side of an edge, HLLC (Toro 2001) on depths after hydrostatic reconstruction
 * (Audusse et al. 2004); the hydrostatic pressure of a cell adds up to zero over its edges and is left out:
 *   (4)  z* = max(zl, zr),   a = max(0, hl + zl - z*),   b = max(0, hr + zr - z*),   s = sqrt(g max(a, b))
 *        low = min(0, min(ul, ur) - s),   high = max(0, max(ul, ur) + s),   w = -low / (high - low);
 *        beside a dry side the own velocity and 2 s
 *   (5)  m = a ul + w (b ur - a ul - high (b - a)),   a = m (velocity along the edge from where the water comes)
 *        t = a ul^2 + w (b ur^2 - a ul^2 + g (b^2 - a^2) / 2 - high (b ur - a ul)),   right: t - g (b^2 - a^2) / 2
 *   (6)  second order (Audusse and Bristeau 2005): limited slopes of h, h + z, u, v along the axes of the cells, half
 *        a step later by Hancock's method (Toro 2001, 14.4)
 *   (7)  |c'| + dt g n^2 h^(-4/3) |c'|^2 = |c|
 *   (8)  rain falls without momentum; what soaks into the ground, F, takes its momentum along (Green and Ampt 1911):
 *        F_t = K (1 + S / F), over a time step by the midpoint: D = dt K (1 + S / (F + D / 2)), at most what is there
 *
 * Cells stand in rows; of hexagons every odd row is shifted by half a cell to the east. Edges count from the east,
 * counter-clockwise; a cell owns the first half of its edges, one for each axis. A flux is always computed from the
 * west (south) side of its edge, so that both cells get the same bits and no water is lost: with SHARED once, and
 * handed to the other cell through local memory, else by each of the cells. Codes of cells and entries of the clock:
 * src/solvers/flood/flood.h. The clock has three slots: step n reads slot n % 3, writes the next one and clears the one
 * after. Components of blocks: 0 to 2 the largest speed in each block at the times of these slots (0: dry), 3 whether
 * the block has special cells. */
#define HALF REAL(0.5)
#define SLANT REAL(0.86602540378443864676) /* sin 60 degrees */
#define AXES (EDGES / 2)

/* outflow: depth that left through open sides in the step; rest: by how much rounding has made h too large; soaked:
 * depth that the ground has taken, and what rounding has made of it too much. */
typedef struct cell_state {
    real h, u, v, outflow, rest, soaked, soaked_rest;
} cell_state;

/* What a cell gains and loses over its surface: depth of rain in the step; Manning's roughness squared times gravity;
 * the ground's conductivity times the step and its suction times the moisture that it lacks [m]. */
typedef struct surface {
    real rained, gn2, conducted, suction, soaked, soaked_rest;
} surface;

/* Through an edge: mass, momentum along the normal less the hydrostatic pressure of the left or right side, and along
 * the edge. */
typedef struct flux {
    real mass, left, right, along;
} flux;

/* One side of an edge: depth (0: the water does not move), bed, velocity; and the force of the slope of the level
 * within the cell along the axis. */
typedef struct edge_side {
    real h, z, u, v, push;
} edge_side;

typedef struct edge_sums {
    real mass, x, y;
} edge_sums;

/* Half of the limited differences across a cell along an axis. */
typedef struct cell_slopes {
    real h, level, u, v;
} cell_slopes;

/* The fields before the step, and at second order half a step later. Not restrict, which Oclgrind's compiler can't
 * inline; the kernels' own arguments are. */
#define STATE_PARAMETERS                                                                                               \
    global const real *depth, global const real *velocity, global const real *bed, global const int *cell
#define STATE depth, velocity, bed, cell
#define FIELD_PARAMETERS STATE_PARAMETERS, global const real *half_depth, global const real *half_velocity
#define FIELDS STATE, half_depth, half_velocity
#define SURFACE_PARAMETERS                                                                                     \
    global const real *rest, global const real *values, global const real *rain_share, global const int *land, \
        global const real *soaked
#define SURFACE rest, values, rain_share, land, soaked
#define ALL_PARAMETERS FIELD_PARAMETERS, SURFACE_PARAMETERS
#define ALL FIELDS, SURFACE
#define NEXT_PARAMETERS \
    global real *next_depth, global real *next_velocity, global real *next_rest, global real *next_soaked
#define NEXT next_depth, next_velocity, next_rest, next_soaked

INLINED real wet_depth(real h) { return h > DRY ? h : 0; }

/* (4) and (5); u along the normal, v along the edge. */
INLINED void hllc_flux(real hl, real ul, real vl, real zl, real hr, real ur, real vr, real zr, flux *f)
{
    const real rise = zr - zl, on_left = hl - MAXIMUM(rise, 0), on_right = hr + MINIMUM(rise, 0);
    const real a = MAXIMUM(on_left, 0), b = MAXIMUM(on_right, 0);
    const real s = SQRT(G * MAXIMUM(a, b)), twice = s + s;
    const real from = a > 0 ? ul : ur, to = b > 0 ? ur : ul;
    const real slow = MINIMUM(from, to) - (a > 0 ? s : twice), fast = MAXIMUM(from, to) + (b > 0 ? s : twice);
    const real low = MINIMUM(slow, 0), high = MAXIMUM(fast, 0), weight = -low / MAXIMUM(high - low, REAL(1e-30));
    const real ql = a * ul, qr = b * ur, jump = qr - ql, more = b - a, momentum = ql * ul;
    const real pressure = HALF * G * (more * (b + a)); /* on the right less that on the left */
    const real thrust = momentum + weight * (((qr * ur - momentum) + pressure) - high * jump);
    f->mass = ql + weight * (jump - high * more);
    f->left = thrust;
    f->right = thrust - pressure;
    f->along = f->mass * (f->mass > 0 ? vl : vr);
}

/* Components along the normal of the edges of an axis and along the edge. Products with 0 and 1 are left out. */
INLINED void rotate_to_edge(int axis, real x, real y, real *normal, real *along)
{
    const real hx = HALF * x, hy = HALF * y, sx = SLANT * x, sy = SLANT * y;
    *normal = axis == 0 ? x : EDGES == 4 ? y : axis == 1 ? hx + sy : sy - hx;
    *along = axis == 0 ? y : EDGES == 4 ? -x : axis == 1 ? hy - sx : -(hy + sx);
}

/* x and y of what passes the edges of the axes 1 and 2, of squares 1 alone, along their normals and edges. */
INLINED void rotate_back(real normal_1, real along_1, real normal_2, real along_2, real *x, real *y)
{
    *x = EDGES == 6 ? HALF * (normal_1 - normal_2) - SLANT * (along_1 + along_2) : -along_1;
    *y = EDGES == 6 ? SLANT * (normal_1 + normal_2) + HALF * (along_1 - along_2) : normal_1;
}

/* The cell behind the edge of an axis, and that behind the opposite one; `shifted`: the row of the cell is shifted. */
INLINED place_t cell_ahead(place_t at, int axis, int shifted)
{
    return axis == 0 ? at + 1 : EDGES == 6 ? at + PITCH + (axis == 1 ? shifted : shifted - 1) : at + PITCH;
}
INLINED place_t cell_behind(place_t at, int axis, int shifted)
{
    return axis == 0 ? at - 1 : EDGES == 6 ? at - PITCH + (axis == 1 ? shifted - 1 : shifted) : at - PITCH;
}
#define OTHER_ROW(axis, shifted) (EDGES == 6 && (axis) > 0 ? 1 - (shifted) : (shifted))

/* Half of the limited difference across a cell (generalised minmod, factor 1.5), zero at extrema. a: from the cell
 * before, b: to the one after. */
INLINED real limited_slope(real a, real b, int usable)
{
    const real least = MINIMUM(ABS(a), ABS(b)), edge = REAL(0.75) * least, mean = REAL(0.25) * ABS(a + b);
    const real steep = MINIMUM(edge, mean);
    return (usable & ((a > 0) == (b > 0))) ? (a > 0 ? steep : -steep) : 0;
}

/* (6) along an axis; zero beside closed edges and dry cells. */
INLINED void limited_slopes(STATE_PARAMETERS, place_t at, int axis, int shifted, cell_slopes *s)
{
    const place_t from = cell_behind(at, axis, shifted), to = cell_ahead(at, axis, shifted);
    const int both = CLOSED << axis | CLOSED << (axis + AXES);
    const real h0 = depth[from], h1 = depth[at], h2 = depth[to];
    const real l0 = h0 + bed[from], l1 = h1 + bed[at], l2 = h2 + bed[to];
    const real u1 = velocity[at], v1 = velocity[at + PLANE];
    const int usable = !(cell[at] & both) & (h0 > DRY) & (h1 > DRY) & (h2 > DRY);
    s->h = limited_slope(h1 - h0, h2 - h1, usable);
    s->level = limited_slope(l1 - l0, l2 - l1, usable);
    s->u = limited_slope(u1 - velocity[from], velocity[to] - u1, usable);
    s->v = limited_slope(v1 - velocity[from + PLANE], velocity[to + PLANE] - v1, usable);
}

/* A cell at its edge `ahead` along an axis, or at the opposite one. At second order the bed there is level less depth,
 * and all values are those half a time step later. */
INLINED void reconstruct(FIELD_PARAMETERS, place_t at, int axis, int shifted, int ahead, edge_side *s)
{
    if (ORDER == 2) {
        const real h = half_depth[at], u = half_velocity[at], v = half_velocity[at + PLANE], level = h + bed[at];
        cell_slopes slope;
        limited_slopes(STATE, at, axis, shifted, &slope);
        const real deep = ahead ? h + slope.h : h - slope.h;
        s->h = wet_depth(deep);
        s->z = (ahead ? level + slope.level : level - slope.level) - deep;
        s->u = ahead ? u + slope.u : u - slope.u;
        s->v = ahead ? v + slope.v : v - slope.v;
        s->push = 2 * G * (h * slope.level); /* the sum over both edges of the axis */
    } else {
        s->h = wet_depth(depth[at]);
        s->z = bed[at];
        s->u = velocity[at];
        s->v = velocity[at + PLANE];
        s->push = 0;
    }
}

/* Flux through the edge of an axis between two cells; the west one adds its push. `shifted`: of the west one's row.
 * Edges that end at a wall of hexagon edges are longer by a quarter (src/solvers/flood/flood_walls.c). */
INLINED void edge_flux(FIELD_PARAMETERS, place_t west, place_t east, int axis, int shifted, int open, flux *f)
{
    edge_side l, r;
    real ul, vl, ur, vr;
    reconstruct(FIELDS, west, axis, shifted, 1, &l);
    reconstruct(FIELDS, east, axis, OTHER_ROW(axis, shifted), 0, &r);
    rotate_to_edge(axis, l.u, l.v, &ul, &vl);
    rotate_to_edge(axis, r.u, r.v, &ur, &vr);
    hllc_flux(l.h, ul, vl, l.z, r.h, ur, vr, r.z, f);
    if (JAGGED && WORTH_A_BRANCH(cell[west] >> LONGER & 7)) {
        const real length = cell[west] >> (LONGER + axis) & 1 ? REAL(1.25) : 1;
        f->mass = length * f->mass;
        f->left = length * f->left;
        f->right = length * f->right;
        f->along = length * f->along;
    }
    const real left = ORDER == 2 ? f->left + l.push : f->left;
    f->mass = open ? f->mass : 0;
    f->left = open ? left : 0;
    f->right = open ? f->right : 0;
    f->along = open ? f->along : 0;
}

/* What leaves through the edges that a cell owns: of axis 0 and those towards the row above. */
INLINED void sum_own_edges(const flux *e, const flux *first, const flux *second, edge_sums *s)
{
    real x, y;
    rotate_back(first->left, first->along, second->left, second->along, &x, &y);
    s->mass = EDGES == 6 ? (e->mass + first->mass) + second->mass : e->mass + first->mass;
    s->x = e->left + x;
    s->y = e->along + y;
}

/* What comes through the edges towards the row below, from its cells in the south-west and south-east. */
INLINED void sum_edges_below(const edge_sums *first, const edge_sums *second, edge_sums *s)
{
    s->mass = EDGES == 6 ? first->mass + second->mass : first->mass;
    rotate_back(first->x, first->y, second->x, second->y, &s->x, &s->y);
}

/* x^(-1/3): a guess by the exponent, good to 4 %, then Newton's method, which doubles the digits. */
static inline real inverse_cube_root(real x)
{
    real y = (real)as_float(0x54a2fa8cu - as_uint(convert_float(x)) / 3u);
    for (int i = 0; i < (REAL_BYTES == 8 ? 5 : 3); i++)
        y = y * ((4 - x * (y * (y * y))) * REAL(0.33333333333333333333));
    return y;
}

/* (7), solved for c' / c. */
INLINED void manning_friction(real deep, int wet, real dt, real gn2, real *u, real *v)
{
    const real root = inverse_cube_root(wet ? deep : 1), square = root * root;
    const real f = dt * gn2 * SQRT(*u * *u + *v * *v) * (square * square);
    const real slower = 2 / (1 + SQRT(1 + 4 * f));
    *u = *u * slower;
    *v = *v * slower;
}

#define LAND_OF(at) (LAND_VALUES + (LAND ? LAND_VALUE * land[at] : 0))

INLINED void read_surface(SURFACE_PARAMETERS, place_t at, real dt, surface *s)
{
    s->rained = RAIN ? dt * values[RAIN_RATE] * rain_share[at] : 0;
    s->gn2 = LAND ? values[LAND_OF(at)] : GN2;
    s->conducted = SOIL ? dt * values[LAND_OF(at) + 1] : 0;
    s->suction = SOIL ? values[LAND_OF(at) + 2] : 0;
    s->soaked = SOIL ? soaked[at] : 0;
    s->soaked_rest = SOIL ? rest[at + PLANE] : 0;
}

/* (8), of water `deep`; what is below DRY waits for rain. */
INLINED real infiltration(real deep, int raining, const surface *s)
{
    const real a = s->soaked - HALF * s->conducted, b = 2 * s->conducted * (s->soaked + s->suction);
    const real root = SQRT(a * a + b), most = a > 0 ? b / (a + root) : root - a;
    const real there = deep > DRY || raining ? MAXIMUM(deep, 0) : 0;
    return MINIMUM(most, there);
}

/* (3) from the sums over all edges; out: the part of `mass` through open sides. With REST what rounding of the depth
 * leaves over comes to the next step (Kahan 1965). */
INLINED void update_cell(real h, real u, real v, real rest, const edge_sums *sums, real out, real dt, int raining,
                         const surface *ground, cell_state *next)
{
    const real scale = dt * EDGE_PER_AREA, flown = REST ? -(scale * sums->mass) - rest : -(scale * sums->mass);
    const real change = RAIN ? flown + ground->rained : flown, filled = h + change;
    const real qx = h * u - scale * sums->x, qy = h * v - scale * sums->y;
    const real taken = SOIL ? infiltration(filled, raining, ground) : 0, deep = SOIL ? filled - taken : filled;
    const int wet = !(deep <= DRY);
    const real inverse = 1 / (wet ? filled : 1), left_over = REST && deep > DRY ? (filled - h) - change : 0;
    next->rest = SOIL && deep > DRY ? left_over + ((deep - filled) + taken) : left_over;
    next->h = deep < 0 ? 0 : deep;
    next->soaked = next->soaked_rest = 0;
    if (SOIL) {
        const real more = taken - ground->soaked_rest;
        next->soaked = ground->soaked + more;
        next->soaked_rest = (next->soaked - ground->soaked) - more;
    }
    next->u = (wet ? qx * inverse : 0) + 0; /* no zero keeps a sign, which minima and maxima may have given it */
    next->v = (wet ? qy * inverse : 0) + 0;
    next->outflow = scale * out;
    if (FRICTION)
        manning_friction(deep, wet, dt, ground->gn2, &next->u, &next->v);
}

/* Adds what leaves a cell through its outer edges on an open side; returns the mass. values: two for each side: of an
 * inflow the discharge per metre (>= 0) and the critical depth, of a given level -1 and the level, of an open side -2,
 * of one that water leaves at normal depth -3 and the slope: Manning's speed there, sqrt(S) h^(2/3) / n, at most as
 * fast as a wave. */
static inline real open_side_flux(global const real *values, int code, real h, real u, real v, real z, real gn2,
                                  edge_sums *sums)
{
    const int side = (uint)code / SIDE & 3;
    const real q = values[2 * side], second = values[2 * side + 1];
    const real out_x = side == 0 ? -1 : side == 1 ? 1 : 0, out_y = side == 2 ? -1 : side == 3 ? 1 : 0;
    real out = 0;
    for (int e = 0; e < EDGES; e++)
        if (code & OUTER << e) {
            const real nx = e == 0 ? 1 : e == AXES ? -1 : EDGES == 4 ? 0 : e == 1 || e == 5 ? HALF : -HALF;
            const real ny = e % AXES == 0 ? 0 : (EDGES == 6 ? SLANT : 1) * (e < AXES ? 1 : -1);
            if (q >= 0) {
                const real facing = nx * out_x + ny * out_y, deep = h > second ? h : second;
                const real in = facing > 0 ? q * facing : 0, push = deep > DRY ? in * (q / deep) : 0;
                const real thrust = HALF * G * (deep * deep - h * h);
                out = out - in;
                sums->x = sums->x + (thrust * nx + push * out_x);
                sums->y = sums->y + (thrust * ny + push * out_y);
            } else if (q < REAL(-2.5)) {
                const real facing = nx * out_x + ny * out_y, deep = wet_depth(h),
                           wave = ABS(u * nx + v * ny) + SQRT(G * deep);
                const real speed = deep * inverse_cube_root(deep > 0 ? deep : 1) * SQRT(G * second / gn2);
                const real mass = facing > 0 ? deep * MINIMUM(speed, wave) * facing : 0;
                out = out + mass;
                sums->x = sums->x + mass * u;
                sums->y = sums->y + mass * v;
            } else {
                const real un = u * nx + v * ny, ut = v * nx - u * ny;
                const real deep = q < REAL(-1.5) ? h : second - z > 0 ? second - z : 0;
                flux f;
                hllc_flux(wet_depth(h), un, ut, z, wet_depth(deep), un, ut, z, &f);
                out = out + f.mass;
                sums->x = sums->x + (f.left * nx - f.along * ny);
                sums->y = sums->y + (f.left * ny + f.along * nx);
            }
        }
    return out;
}

/* Flux through both edges of an axis. */
INLINED void axis_flux(FIELD_PARAMETERS, place_t at, int code, int axis, int shifted, flux *own, edge_sums *back)
{
    flux f;
    edge_flux(FIELDS, at, cell_ahead(at, axis, shifted), axis, shifted, !(code & CLOSED << axis), own);
    edge_flux(FIELDS, cell_behind(at, axis, shifted), at, axis, OTHER_ROW(axis, shifted),
              !(code & CLOSED << (axis + AXES)), &f);
    back->mass = f.mass;
    back->x = f.right;
    back->y = f.along;
}

/* A cell after the step, all its edges computed here. `open_sides`: with those. */
INLINED void advance_cell(ALL_PARAMETERS, place_t at, int code, int shifted, real dt, int open_sides, cell_state *next)
{
    const real h = depth[at], u = velocity[at], v = velocity[at + PLANE];
    flux own[3];
    edge_sums back[3], s, below;
    real out = 0;
    axis_flux(FIELDS, at, code, 0, shifted, &own[0], &back[0]);
    axis_flux(FIELDS, at, code, 1, shifted, &own[1], &back[1]);
    if (EDGES == 6)
        axis_flux(FIELDS, at, code, 2, shifted, &own[2], &back[2]);
    sum_own_edges(&own[0], &own[1], &own[AXES - 1], &s);
    sum_edges_below(&back[1], &back[AXES - 1], &below);
    s.mass = (s.mass - below.mass) - back[0].mass;
    s.x = (s.x - below.x) - back[0].x;
    s.y = (s.y - below.y) - back[0].y;
    surface ground;
    read_surface(SURFACE, at, dt, &ground);
    if (SPECIALS && open_sides && (code & OUTER * ((1 << EDGES) - 1))) {
        out = open_side_flux(values, code, h, u, v, bed[at], ground.gn2, &s);
        s.mass = s.mass + out;
    }
    update_cell(h, u, v, REST ? rest[at] : 0, &s, out, dt, RAIN && values[RAIN_RATE] > 0, &ground, next);
}

/* What limits the time step: the largest speed of a wave across an edge. */
INLINED real wave_speed(real h, real u, real v)
{
    const real straight = ABS(u), slanted = HALF * straight + SLANT * ABS(v);
    const real flow = EDGES == 6 ? (slanted <= straight ? straight : slanted) : larger(straight, ABS(v));
    const real speed = flow + SQRT(G * h);
    return h > DRY || not_finite(h) ? speed : 0;
}

/* Keeps the largest depth and hazard of the state before the step, and when water came. */
INLINED void record_cell(place_t at, real begin, real h, real u, real v, global real *arrival, global real *deepest,
                         global real *hazard)
{
    const real arrived = arrival[at], most = deepest[at], worst = hazard[at], danger = h * (SQRT(u * u + v * v) + HALF);
    STORE_IF((arrived < 0) & (h > WET), arrival[at], begin)
    STORE_IF(h > most, deepest[at], h)
    STORE_IF(danger > worst, hazard[at], danger)
}

/* Stores a cell after the step; returns its wave speed, of special cells 0: they are not complete yet. */
INLINED real store_cell(NEXT_PARAMETERS, place_t at, int code, const cell_state *next)
{
    next_depth[at] = next->h;
    next_velocity[at] = next->u;
    next_velocity[at + PLANE] = next->v;
    if (REST)
        next_rest[at] = next->rest;
    if (SOIL) {
        next_soaked[at] = next->soaked;
        next_rest[at + PLANE] = next->soaked_rest;
    }
    const real speed = wave_speed(next->h, next->u, next->v);
    return SPECIALS && (code & SPECIAL) ? 0 : speed;
}

/* What all work-items of a step need: the time step, with and without the end of the interval; seconds of the interval
 * before and after it; which blocks around have water, now or a step ago; whether this block has special cells. */
enum { STEP_DT, STEP_ALLOWED, STEP_LEFT, STEP_AFTER, STEP_WET, STEP_SPECIAL = STEP_WET + 9, STEP };

/* The step that starts from a slot of the clock: as long as the waves allow, and so that the interval is hit. */
static inline void time_step(local real *step, global const real *clock, int slot, real refill)
{
    const real speed = (real)as_float(((global const uint *)(clock + slot * SLOT))[CLOCK_SPEED_BITS]);
    const real stable = speed > 0 ? CFL_LENGTH / speed : DT_MAX, allowed = stable < DT_MAX ? stable : DT_MAX;
    const real left = refill > 0 ? refill : clock[slot * SLOT + CLOCK_LEFT], steps = ceil(left / allowed);
    const real after = steps > 1 ? left - left / steps : 0;
    step[STEP_DT] = left - after; /* exact: all steps add up to the interval */
    step[STEP_ALLOWED] = allowed;
    step[STEP_LEFT] = left;
    step[STEP_AFTER] = after;
}

/* Finds it by a few of the work-items; returns whether anything can change in this block. */
static inline int begin_step(local real *step, global acc *blocks, global const real *clock, int slot, real refill,
                             global const real *values)
{
    int active = RAIN && values[RAIN_LATELY] != 0;
    if (get_local_id(0) == get_local_size(0) - 1) /* which looks up no block below */
        time_step(step, clock, slot, refill);
    FOR_LANES(n, STEP - STEP_WET) {
        const int b = n < 9 ? block_beside(n % 3 - 1, n / 3 - 1) : partial_index();
        const int at = n < 9 ? slot : SLOTS, also = n < 9 ? (slot + SLOTS - 1) % SLOTS : SLOTS;
        step[STEP_WET + n] = b >= 0 && (blocks[at * PARTIALS + b] != 0 || blocks[also * PARTIALS + b] != 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 0; n < STEP - STEP_WET; n++)
        active = active || step[STEP_WET + n] != 0;
    return active;
}

/* Ends a step by one work-item: the largest speed of the block to its place and to the clock. */
static inline void put_speed(global acc *blocks, global real *clock, int slot, acc speed)
{
    if (get_local_id(0) != 0)
        return;
    blocks[slot * PARTIALS + partial_index()] = speed;
    if (speed != 0)
        atomic_max((volatile global uint *)(clock + slot * SLOT) + CLOCK_SPEED_BITS, as_uint(convert_float(speed)));
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
    put_speed(blocks, clock, 0, speeds[0]);
    put_partial_max(blocks, SLOTS, special);
    if (get_local_id(0) == 0) {
        blocks[1 * PARTIALS + partial_index()] = 0;
        blocks[2 * PARTIALS + partial_index()] = 0;
    }
}

/* Special cells have links between storeys, sources, drains, open sides. The depth that goes down from `up` to `below`
 * through a link in `dt`; negative: it comes up. share: of a stair its crest over the area of the cell, of an opening
 * the coefficient of discharge. At most half of what is there.
 *   stair      broad-crested weir under the head H over the upper floor: (2/3)^1.5 sqrt(g) H^1.5, and once the water
 *              below stands higher than 2/3 H, at h2: h2 sqrt(2 g (H - h2))
 *   opening    orifice: C sqrt(2 g times the difference of levels) */
static inline real link_flow(int kind, real share, real dt, const cell_state *up, real z, const cell_state *below,
                             real z_below)
{
    const real level = below->h + z_below - z;
    const real kinetic = kind == STAIR ? (up->u * up->u + up->v * up->v) / (2 * G) : 0;
    const real head = up->h > DRY ? up->h + kinetic : 0;
    const real tail = below->h > DRY && level > 0 ? level : 0;
    const real most = head > tail ? head : tail, least = head > tail ? tail : head, fall = most - least;
    const real weir = 3 * least > 2 * most ? least * SQRT(2 * G * fall) : WEIR * (most * SQRT(most));
    const real depth = dt * (share * (kind == STAIR ? weir : SQRT(2 * G * fall)));
    const real limit = HALF * (head > tail ? up->h : below->h);
    const real moved = depth < limit ? depth : limit;
    return head > tail ? moved : -moved;
}

static inline void add_still_water(cell_state *c, real amount)
{
    const real change = REST ? amount - c->rest : amount, deep = c->h + change;
    const real slower = amount > 0 && deep > 0 ? c->h / deep : 1;
    c->rest = REST && deep > DRY ? (deep - c->h) - change : 0;
    c->h = deep < 0 ? 0 : deep;
    c->u = deep > DRY ? c->u * slower : 0;
    c->v = deep > DRY ? c->v * slower : 0;
}

#define ITEM_OF(code) ((int)((uint)(code) / ITEM & ITEMS))

/* What the links of a cell bring, from the values that both cells have after the fluxes: each computes the other's. */
static inline real links_gain(ALL_PARAMETERS, place_t at, int code, int shifted, real dt, const cell_state *here)
{
    const int kinds[2] = { (int)((uint)code / UP & 3), (int)((uint)code / DOWN & 3) };
    real gain = 0;
    for (int down = 1; down >= 0; down--)
        if (kinds[down] > 0) {
            const place_t other = down ? at - SLICE : at + SLICE;
            const real share = values[ITEM_VALUES + ITEM_OF(down ? code : cell[other]) - 1];
            cell_state there;
            advance_cell(ALL, other, cell[other], shifted, dt, 1, &there);
            gain = gain - (down ? link_flow(kinds[1], share, dt, here, bed[at], &there, bed[other])
                                : -link_flow(kinds[0], share, dt, &there, bed[other], here, bed[at]));
        }
    return gain;
}

/* Completes a special cell that was stored without open sides, links and items; returns its wave speed. outflow: a sum
 * and what rounding of it left over (Kahan 1965). */
static inline real finish_special_cell(ALL_PARAMETERS, NEXT_PARAMETERS, global real *outflow, place_t at, int shifted,
                                       real dt)
{
    const int code = cell[at], item = ITEM_OF(code), link_down = (uint)code / DOWN & 3;
    cell_state next = { next_depth[at], next_velocity[at], next_velocity[at + PLANE], 0, 0, 0, 0 };
    if (REST)
        next.rest = next_rest[at];
    if (SOIL) {
        next.soaked = next_soaked[at];
        next.soaked_rest = next_rest[at + PLANE];
    }
    if (code & OUTER * ((1 << EDGES) - 1))
        advance_cell(ALL, at, code, shifted, dt, 1, &next);
    real lost = next.outflow, gain = LINKS ? links_gain(ALL, at, code, shifted, dt, &next) : 0;
    if (item > 0 && link_down == 0) {
        const real amount = dt * values[ITEM_VALUES + item - 1], most = HALF * next.h;
        if (code & DRAIN) {
            const real taken = amount < most ? amount : most;
            gain = gain - taken;
            lost = lost + taken;
        } else {
            gain = gain + amount;
        }
    }
    add_still_water(&next, gain);
    const real sum = outflow[at], more = lost - outflow[at + PLANE], total = sum + more;
    outflow[at + PLANE] = (total - sum) - more;
    outflow[at] = total;
    return store_cell(NEXT, at, 0, &next);
}

/* Runs a statement with the constant `shifted`. */
#define BY_PARITY(row, statement)                                                                                      \
    if ((row)&1) {                                                                                                     \
        enum { shifted = 1 };                                                                                          \
        statement                                                                                                      \
    } else {                                                                                                           \
        enum { shifted = 0 };                                                                                          \
        statement                                                                                                      \
    }

#if ORDER == 2
/* (6) along an axis; velocity and divergence along its normal. */
INLINED void predict_axis(STATE_PARAMETERS, place_t at, int axis, int shifted, cell_slopes *s, real *n, real *d)
{
    real unused;
    limited_slopes(STATE, at, axis, shifted, s);
    rotate_to_edge(axis, velocity[at], velocity[at + PLANE], n, &unused);
    rotate_to_edge(axis, s->u, s->v, d, &unused);
}

/* A cell half a time step later, from the slopes within it alone, in terms of depth and velocity. */
INLINED void predict_cell(STATE_PARAMETERS, global const real *values, global const int *land, place_t at, int shifted,
                          real dt, global real *half_depth, global real *half_velocity)
{
#define SUM_OVER_AXES(a) (EDGES == 6 ? (a(0) + a(1)) + a(2) : a(0) + a(1))
#define FILL(i) n[i] * s[i].h
#define SPREAD(i) d[i]
#define CARRIED_U(i) n[i] * s[i].u
#define CARRIED_V(i) n[i] * s[i].v
    const real h = depth[at], scale = dt * EDGE_PER_AREA;
    cell_slopes s[3];
    real n[3], d[3];
    predict_axis(STATE, at, 0, shifted, &s[0], &n[0], &d[0]);
    predict_axis(STATE, at, 1, shifted, &s[1], &n[1], &d[1]);
    if (EDGES == 6)
        predict_axis(STATE, at, 2, shifted, &s[2], &n[2], &d[2]);
    const real level_x = EDGES == 6 ? s[0].level + HALF * (s[1].level - s[2].level) : s[0].level;
    const real level_y = EDGES == 6 ? SLANT * (s[1].level + s[2].level) : s[1].level;
    const real deep = h - scale * (SUM_OVER_AXES(FILL) + h * SUM_OVER_AXES(SPREAD));
    const real later = deep > HALF * h ? deep : HALF * h;
    real u = velocity[at] - scale * (SUM_OVER_AXES(CARRIED_U) + G * level_x);
    real v = velocity[at + PLANE] - scale * (SUM_OVER_AXES(CARRIED_V) + G * level_y);
    if (FRICTION)
        manning_friction(later, !(later <= DRY), HALF * dt, LAND ? values[LAND_OF(at)] : GN2, &u, &v);
    half_depth[at] = later;
    half_velocity[at] = u;
    half_velocity[at + PLANE] = v;
}

kernel void flood_predict(global const real *restrict depth, global const real *restrict velocity,
                          global const real *restrict bed, global const int *restrict cell,
                          global const real *restrict values, global const int *restrict land,
                          global acc *restrict blocks, global real *restrict clock, global real *restrict half_depth,
                          global real *restrict half_velocity, uint slot, real refill)
{
    local real step[STEP];
    const int active = begin_step(step, blocks, clock, (int)slot, refill, values);
    const real dt = step[STEP_DT];
    const int k = block_k(), first = block_first(), top = block_top(), width = min(BLOCK_NX, NX - first);
    const int rows = active && dt > 0 ? min(BLOCK_NY, NY - top) : 0;
    for (int row = 0; row < rows; row++) {
        const place_t at = AT3(first, top + row, k);
        BY_PARITY(row, EACH_LANE(lane, width,
                                 predict_cell(STATE, values, land, at + lane, shifted, dt, half_depth, half_velocity)))
    }
}
#endif

/* Each edge once. A work-group goes through the rows of its block from south to north; what leaves a cell through the
 * edges that it owns waits in local memory for the cell beside it. Lanes count from -1, the one in the west of the
 * block, to LANES. Components mass, thrust along the normal, along the edge (or, of sums, x and y):
 *   OWN        what the cell of the lane lets out by its own edges less what came in from below
 *   EAST       of the edge to the cell before, that is to the lane one to the west
 *   STAY MOVE  of the two edges towards the row below: between cells of the same lane; of lanes beside each other
 * Two banks, by the parity of the row: lanes of a row are written while those of the row before are still read. */
#define WIDE (LANES + 2)
#define OWN(c) ((c)*WIDE + 1)
#define STAY(c) ((3 + (c)) * WIDE + 1)
#define EAST(bank, c) ((6 + 3 * (bank) + (c)) * WIDE + 1)
#define MOVE(bank, c) ((12 + 3 * (bank) + (c)) * WIDE + 1)
#define SHARED_REALS ((EDGES == 6 ? 18 : 12) * WIDE)

INLINED void store_flux(local real *shared, lane_t first, const flux *f)
{
    shared[first] = f->mass;
    shared[first + WIDE] = f->right;
    shared[first + 2 * WIDE] = f->along;
}

INLINED void load_edge(local const real *shared, lane_t first, edge_sums *s)
{
    s->mass = shared[first];
    s->x = shared[first + WIDE];
    s->y = shared[first + 2 * WIDE];
}

/* The fluxes through the upper edges of the cell of a lane, for the row above. Of hexagons in a shifted row the edge 2
 * leads to the cell of the same lane, 1 to that of the next one; in others 1 and, to the one before, 2. */
INLINED void store_above(local real *shared, lane_t lane, int shifted, const flux *first, const flux *second)
{
    store_flux(shared, STAY(0) + lane, EDGES == 6 && shifted ? second : first);
    if (EDGES == 6)
        store_flux(shared, shifted ? MOVE(1, 0) + lane + 1 : MOVE(0, 0) + lane - 1, shifted ? first : second);
}

/* The edges that a cell of the block owns. */
INLINED void own_edges(FIELD_PARAMETERS, local real *shared, lane_t lane, place_t at, int shifted)
{
    const int code = cell[at];
    flux e, first, second = { 0, 0, 0, 0 };
    edge_sums s, below, stay, move;
    load_edge(shared, STAY(0) + lane, &stay);
    load_edge(shared, (EDGES == 6 ? MOVE(1 - shifted, 0) : STAY(0)) + lane, &move);
    sum_edges_below(shifted ? &stay : &move, shifted ? &move : &stay, &below);
    edge_flux(FIELDS, at, cell_ahead(at, 0, shifted), 0, shifted, !(code & CLOSED), &e);
    edge_flux(FIELDS, at, cell_ahead(at, 1, shifted), 1, shifted, !(code & CLOSED << 1), &first);
    if (EDGES == 6)
        edge_flux(FIELDS, at, cell_ahead(at, 2, shifted), 2, shifted, !(code & CLOSED << 2), &second);
    sum_own_edges(&e, &first, &second, &s);
    shared[OWN(0) + lane] = s.mass - below.mass;
    shared[OWN(1) + lane] = s.x - below.x;
    shared[OWN(2) + lane] = s.y - below.y;
    store_flux(shared, EAST(shifted, 0) + lane + 1, &e);
    store_above(shared, lane, shifted, &first, &second);
}

/* The upper edges of the row below the block; whether they are open is known to the cells above. */
INLINED void edges_below(FIELD_PARAMETERS, local real *shared, lane_t lane, place_t at, place_t up)
{
    flux first, second = { 0, 0, 0, 0 };
    edge_flux(FIELDS, at, cell_ahead(at, 1, 1), 1, 1, !(cell[EDGES == 6 ? up + 1 : up] & CLOSED << (1 + AXES)), &first);
    if (EDGES == 6)
        edge_flux(FIELDS, at, cell_ahead(at, 2, 1), 2, 1, !(cell[up] & CLOSED << 5), &second);
    store_above(shared, lane, 1, &first, &second);
}

/* The edges between the block and the cells in the west and east of it that own them: into the rows 0 to 3 from the
 * west, and from below into the rows 0 to 3 of hexagons. One after the other in `rim`; what the row 0 needs from below
 * goes where it looks for it. */
#define RIM (EDGES == 6 ? 2 * BLOCK_NY : BLOCK_NY)
INLINED void rim_edge(FIELD_PARAMETERS, local real *shared, local real *rim, int q, int width, int rows, int k)
{
    const int row = q % BLOCK_NY, from_below = q / BLOCK_NY, shifted = from_below ? 1 - (row & 1) : row & 1;
    /* Of what comes from below: into shifted rows, from the east by the edge 2; into others, from the west by 1. */
    const int axis = from_below ? 1 + (row & 1) : 0, lane = axis == 2 ? width : -1, to = axis == 2 ? width - 1 : 0;
    const int i = block_first(), j = block_top() + row;
    flux f = { 0, 0, 0, 0 };
    const place_t at = AT3(i + lane, j - from_below, k);
    if (row < rows)
        edge_flux(FIELDS, at, cell_ahead(at, axis, shifted), axis, shifted,
                  !(cell[AT3(i + to, j, k)] & CLOSED << (axis + AXES)), &f);
    rim[q * 3] = f.mass;
    rim[q * 3 + 1] = f.right;
    rim[q * 3 + 2] = f.along;
    if (EDGES == 6 && q == BLOCK_NY)
        store_flux(shared, MOVE(1, 0), &f);
}

/* What the first lane of a row needs from the west, and the first or last one of the next row from below. */
INLINED void place_rim(local real *shared, local const real *rim, int row, int width)
{
    for (int c = 0; c < 3; c++) {
        shared[EAST(row & 1, c)] = rim[row * 3 + c];
        if (EDGES == 6 && row + 1 < BLOCK_NY)
            shared[row & 1 ? MOVE(1, c) : MOVE(0, c) + width - 1] = rim[(BLOCK_NY + row + 1) * 3 + c];
    }
}

/* What is left to do for a cell when all its fluxes are known; `edge`: place of the one from the west. */
#define FINISH_LANE(lane, at, edge)                                                                                    \
    cell_state next_;                                                                                                  \
    edge_sums sums_;                                                                                                   \
    sums_.mass = shared[OWN(0) + (lane)] - shared[edge];                                                               \
    sums_.x = shared[OWN(1) + (lane)] - shared[(edge) + WIDE];                                                         \
    sums_.y = shared[OWN(2) + (lane)] - shared[(edge) + 2 * WIDE];                                                     \
    surface ground_;                                                                                          \
    read_surface(SURFACE, at, dt, &ground_);                                                                  \
    update_cell(depth[at], velocity[at], velocity[(at) + PLANE], REST ? rest[at] : 0, &sums_, 0, dt, raining, \
                &ground_, &next_);                                                                            \
    STORE_LANE(lane, at)
/* The whole cell, all its edges computed here. */
#define ADVANCE_LANE(lane, at, shifted)                                                                                \
    cell_state next_;                                                                                                  \
    advance_cell(ALL, at, cell[at], shifted, dt, 0, &next_);                                          \
    STORE_LANE(lane, at)
#define STORE_LANE(lane, at)                                                                                           \
    if (RECORD)                                                                                                        \
        record_cell(at, begin, depth[at], velocity[at], velocity[(at) + PLANE], arrival, deepest, hazard);             \
    ADD_TO_MAXIMUM(speeds, lane, store_cell(NEXT, at, cell[at], &next_))

/* One time step of every block that has water. end: of the interval [s]; refill: its length when it begins, else 0.
 * rest, next_rest: with REST; half_depth, half_velocity: of second order; values: with SPECIALS, RAIN, SOIL, LAND;
 * rain_share: of the rain that falls on a cell; land: class of its cover; soaked, next_soaked: with SOIL; outflow: with
 * SPECIALS; arrival, deepest, hazard: with RECORD. */
kernel void flood_advance(global const real *restrict depth, global const real *restrict velocity,
                          global const real *restrict bed, global const int *restrict cell,
                          global const real *restrict rest, global const real *restrict half_depth,
                          global const real *restrict half_velocity, global const real *restrict values,
                          global const real *restrict rain_share, global const int *restrict land,
                          global const real *restrict soaked, global real *restrict next_depth,
                          global real *restrict next_velocity, global real *restrict next_rest,
                          global real *restrict next_soaked, global real *restrict outflow,
                          global real *restrict arrival, global real *restrict deepest, global real *restrict hazard,
                          global acc *restrict blocks, global real *restrict clock, uint slot_, real refill, real end)
{
    local acc speeds[LANES];
    local real step[STEP], shared[SHARED ? SHARED_REALS : 1], rim[SHARED ? 3 * RIM : 1];
    local int list[SPECIALS ? BLOCK_NX * BLOCK_NY : 1], listed;
    const int slot = (int)slot_, next_slot = (slot + 1) % SLOTS, k = block_k();
    BEGIN_MAXIMUM(speeds)
    const int active = begin_step(step, blocks, clock, slot, refill, values);
    const int raining = RAIN && values[RAIN_RATE] > 0;
    const real dt = step[STEP_DT], begin = end - step[STEP_LEFT];
    if (MAY_RETURN_EARLY && !active && partial_index() != 0) {
        put_speed(blocks, clock, next_slot, 0);
        return;
    }
    if (SPECIALS && get_local_id(0) == 0)
        listed = 0;
    const int first = block_first(), top = block_top(), width = min(BLOCK_NX, NX - first);
    const int computed = active && dt > 0 ? min(BLOCK_NY, NY - top) : 0;
    if (SHARED) {
        const int rows = HAS_ROWS && computed > 0 ? computed : -2;
        for (int row = -1; row <= rows; row++) {
            const place_t at = AT3(first, top + row, k);
            const lane_t edge = EAST(1 - (row & 1), 0);
            if (row > 0)
                EACH_LANE_OF_ROW(lane, width, FINISH_LANE(lane, at - PITCH + lane, edge + lane))
            if (row < 0) {
                EACH_LANE_OF_ROW(lane, width, edges_below(FIELDS, shared, lane, at + lane, at + PITCH + lane))
                FOR_LANES_OF_ROW(q, RIM)
                    rim_edge(FIELDS, shared, rim, q, width, rows, k);
            } else if (row < rows) {
                BY_PARITY(row, EACH_LANE_OF_ROW(lane, width, own_edges(FIELDS, shared, lane, at + lane, shifted)))
                if (get_local_id(0) == 0)
                    place_rim(shared, rim, row, width);
            }
            END_OF_ROW
        }
    } else {
        for (int row = 0; row < computed; row++) {
            const place_t at = AT3(first, top + row, k);
            BY_PARITY(row, EACH_LANE(lane, width, ADVANCE_LANE(lane, at + lane, shifted)))
        }
    }
    FOR_CELLS(active && !(dt > 0), i, j, lane) { /* launched after the end of the interval: nothing changes */
        const place_t at = AT3(i, j, k);
        const cell_state same = { depth[at],           velocity[at],          velocity[at + PLANE],       0,
                                  REST ? rest[at] : 0, SOIL ? soaked[at] : 0, SOIL ? rest[at + PLANE] : 0 };
        ADD_TO_MAXIMUM(speeds, lane, store_cell(NEXT, at, 0, &same))
    }
    if (SPECIALS) { /* few, and beside each other: all work-items take their share of a list */
        const int special = dt > 0 && step[STEP_SPECIAL] != 0;
        if (!(SHARED && ROWS_END_WITH_BARRIER))
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        FOR_FEW_CELLS(special, i, j, lane)
            if (cell[AT3(i, j, k)] & SPECIAL)
                list[atomic_inc(&listed)] = (j - top) * BLOCK_NX + lane;
        barrier(CLK_LOCAL_MEM_FENCE);
        const int count = special ? listed : 0;
        FOR_ENTRIES(n, count, lane) {
            const int row = list[n] / BLOCK_NX;
            const place_t at = AT3(first + list[n] % BLOCK_NX, top + row, k);
            ADD_TO_MAXIMUM(speeds, lane, finish_special_cell(ALL, NEXT, outflow, at, row & 1, dt))
        }
    }
    END_MAXIMUM(speeds)
    put_speed(blocks, clock, next_slot, speeds[0]);
    if (get_local_id(0) == 0 && partial_index() == 0) {
        global real *this = clock + slot * SLOT, *next = clock + next_slot * SLOT;
        const real steps = refill > 0 ? 0 : this[CLOCK_STEPS];
        next[CLOCK_LEFT] = step[STEP_AFTER];
        next[CLOCK_STEPS] = dt > 0 ? steps + 1 : steps;
        next[CLOCK_ALLOWED] = step[STEP_ALLOWED];
        next[CLOCK_SPEED] = (real)as_float(((global const uint *)this)[CLOCK_SPEED_BITS]);
        ((global uint *)(clock + (slot + 2) % SLOTS * SLOT))[CLOCK_SPEED_BITS] = 0;
    }
}
