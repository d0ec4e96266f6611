/* flood.cl: shallow water by finite volumes on hexagons or squares (docs/flood.md): what passes an edge, what becomes
 * of a cell; flood_step.cl, behind it, has the kernels. Depth h, velocity c = (u, v), bed z, Manning's roughness n,
 * sources q:
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
 *   (6)  second order (Audusse and Bristeau 2005): limited slopes of h, h + z, c along the axes of the cells, half
 *        a step later by Hancock's method (Toro 2001, 14.4)
 *   (7)  |c'| + dt g n^2 h^(-4/3) |c'|^2 = |c|
 *   (8)  rain falls without momentum; what soaks into the ground, F, takes its momentum along (Green and Ampt 1911):
 *        F_t = K (1 + S / F), over a time step by the midpoint: D = dt K (1 + S / (F + D / 2)), at most what is there
 *
 * Cells stand in rows; of hexagons every odd row is shifted by half a cell to the east. Edges count from the east,
 * counter-clockwise; a cell owns the first half of its edges, one for each axis. A flux is always computed from the
 * west (south) side of its edge, so that both cells get the same bits and no water is lost: with SHARED once, and
 * handed to the other cell through local memory, else by each of the cells. Codes of cells and entries of the clock:
 * src/solvers/flood/flood.h. */
#define HALF REAL(0.5)
#define SLANT REAL(0.86602540378443864676) /* sin 60 degrees */
#define AXES (EDGES / 2)

/* Of normal numbers, and maxima in bits (lib/lanes.h), but not at second order on hexagons: there NVIDIA's compiler
 * would take 96 registers for 64 (148 for 121 in double precision), and a step a sixth more time (in double half). */
#define QUICK (ORDER == 1 || EDGES == 4)
#define RECIPROCAL(b) (QUICK ? normal_reciprocal(b) : 1 / (b))
#define QUOTIENT(a, b) (QUICK ? normal_quotient(a, b) : (a) / (b))
#define ROOT(x) (QUICK ? normal_root(x) : SQRT(x))

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
 * the edge; at second order what the level of the left cell pushes. */
typedef struct flux {
    real mass, left, right, along, push;
} flux;

/* One side of an edge: depth (0: the water does not move), bed, velocity along the normal and along the edge; and the
 * force of the slope of the level within the cell along the axis. */
typedef struct edge_side {
    real h, z, normal, along, push;
} edge_side;

typedef struct edge_sums {
    real mass, x, y;
} edge_sums;

/* Limited differences over two cells along an axis, from the one before to the one behind: half a cell away, at an
 * edge, values are a quarter of that larger or smaller. The velocity's are limited along the normal of its edges and
 * along them: so the scheme does not know x from y, and turns with the cells. */
typedef struct cell_slopes {
    real h, level, normal, along;
} cell_slopes;
#define TO_EDGE REAL(0.25)

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

/* (4) and (5); u along the normal, v along the edge. rise - step is min(rise, 0), without rounding. */
INLINED void hllc_flux(real hl, real ul, real vl, real zl, real hr, real ur, real vr, real zr, flux *f)
{
    const real rise = zr - zl, step = MAXIMUM(rise, 0), on_left = hl - step, on_right = hr + (rise - step);
    const real a = MAXIMUM(on_left, 0), b = MAXIMUM(on_right, 0);
    const real s = ROOT(fma(G, MAXIMUM(a, b), REAL(1e-30))), twice = s + s;
    const real from = a > 0 ? ul : ur, to = b > 0 ? ur : ul;
    const real slow = MINIMUM(from, to) - (a > 0 ? s : twice), fast = MAXIMUM(from, to) + (b > 0 ? s : twice);
    const real low = MINIMUM(slow, 0), high = MAXIMUM(fast, 0), weight = QUOTIENT(-low, high - low);
    const real ql = a * ul, qr = b * ur, jump = qr - ql, more = b - a, momentum = ql * ul;
    const real pressure = HALF * G * (more * (b + a)); /* on the right less that on the left */
    const real thrust = fma(weight, fma(-high, jump, fma(qr, ur, -momentum) + pressure), momentum);
    f->mass = fma(weight, fma(-high, more, jump), ql);
    f->left = thrust;
    f->right = thrust - pressure;
    f->along = f->mass * (f->mass > 0 ? vl : vr);
}

/* Components along the normal of the edges of an axis and along the edge. Products with 0 and 1 are left out. */
INLINED void rotate_to_edge(int axis, real x, real y, real *normal, real *along)
{
    *normal = axis == 0 ? x : EDGES == 4 ? y : fma(SLANT, y, axis == 1 ? HALF * x : -HALF * x);
    *along = axis == 0 ? y : EDGES == 4 ? -x : fma(-SLANT, x, axis == 1 ? HALF * y : -HALF * y);
}

/* x and y of what passes the edges of the axes 1 and 2, of squares 1 alone, along their normals and edges. */
INLINED void rotate_back(real normal_1, real along_1, real normal_2, real along_2, real *x, real *y)
{
    *x = EDGES == 6 ? fma(-SLANT, along_1 + along_2, HALF * (normal_1 - normal_2)) : -along_1;
    *y = EDGES == 6 ? fma(SLANT, normal_1 + normal_2, HALF * (along_1 - along_2)) : normal_1;
}

/* The cell behind the edge of an axis, and that behind the opposite one; `shifted`: the row of the cell is shifted. */
INLINED index_t cell_ahead(index_t at, int axis, int shifted)
{
    return axis == 0 ? at + 1 : EDGES == 6 ? at + PITCH + (axis == 1 ? shifted : shifted - 1) : at + PITCH;
}
INLINED index_t cell_behind(index_t at, int axis, int shifted)
{
    return axis == 0 ? at - 1 : EDGES == 6 ? at - PITCH + (axis == 1 ? shifted - 1 : shifted) : at - PITCH;
}
#define OTHER_ROW(axis, shifted) (EDGES == 6 && (axis) > 0 ? 1 - (shifted) : (shifted))

/* Generalised minmod: a + b, but 2 `steepness` times the smaller one at most, and zero where signs differ. a: from the
 * cell before, b: to the one behind. |a + b| - |a - b| is twice the smaller one, or negative at an extremum: few
 * comparisons, which GPUs make at half the rate of sums. */
INLINED real limited_slope(real a, real b, real steepness)
{
    const real sum = a + b, most = MAXIMUM(steepness * (ABS(sum) - ABS(b - a)), 0);
    return MINIMUM(MAXIMUM(sum, -most), most);
}

/* (6) along an axis; zero beside closed edges and dry cells. */
INLINED void limited_slopes(STATE_PARAMETERS, index_t at, int axis, int shifted, cell_slopes *s)
{
    const index_t from = cell_behind(at, axis, shifted), to = cell_ahead(at, axis, shifted);
    const int both = CLOSED << axis | CLOSED << (axis + AXES);
    const real h0 = depth[from], h1 = depth[at], h2 = depth[to];
    const real l0 = h0 + bed[from], l1 = h1 + bed[at], l2 = h2 + bed[to];
    const real u = velocity[at], v = velocity[at + PLANE];
    real n0, a0, n2, a2;
    const int usable = !(cell[at] & both) & (h0 > DRY) & (h1 > DRY) & (h2 > DRY);
    const real steepness = usable ? REAL(1.5) : 0;
    s->h = limited_slope(h1 - h0, h2 - h1, steepness);
    s->level = limited_slope(l1 - l0, l2 - l1, steepness);
    rotate_to_edge(axis, u - velocity[from], v - velocity[from + PLANE], &n0, &a0);
    rotate_to_edge(axis, velocity[to] - u, velocity[to + PLANE] - v, &n2, &a2);
    s->normal = limited_slope(n0, n2, steepness);
    s->along = limited_slope(a0, a2, steepness);
}

/* A cell at its edge `ahead` along an axis, or at the opposite one. At second order the bed there is level less depth,
 * and all values are those half a time step later. */
INLINED void reconstruct(FIELD_PARAMETERS, index_t at, int axis, int shifted, int ahead, edge_side *s)
{
    if (ORDER == 2) {
        const real h = half_depth[at], to_edge = ahead ? TO_EDGE : -TO_EDGE;
        real normal, along;
        cell_slopes slope;
        rotate_to_edge(axis, half_velocity[at], half_velocity[at + PLANE], &normal, &along);
        limited_slopes(STATE, at, axis, shifted, &slope);
        const real deep = fma(to_edge, slope.h, h);
        s->h = wet_depth(deep);
        s->z = fma(to_edge, slope.level, h + bed[at]) - deep;
        s->normal = fma(to_edge, slope.normal, normal);
        s->along = fma(to_edge, slope.along, along);
        s->push = 2 * TO_EDGE * G * (h * slope.level); /* the sum over both edges of the axis */
    } else {
        s->h = wet_depth(depth[at]);
        s->z = bed[at];
        rotate_to_edge(axis, velocity[at], velocity[at + PLANE], &s->normal, &s->along);
        s->push = 0;
    }
}

/* Flux through the open edge of an axis between two cells, but for finish_edge(). `shifted`: of the west one's row. */
INLINED void edge_flux(FIELD_PARAMETERS, index_t west, index_t east, int axis, int shifted, flux *f)
{
    edge_side l, r;
    reconstruct(FIELDS, west, axis, shifted, 1, &l);
    reconstruct(FIELDS, east, axis, OTHER_ROW(axis, shifted), 0, &r);
    hllc_flux(l.h, l.normal, l.along, l.z, r.h, r.normal, r.along, r.z, f);
    f->push = l.push;
}

/* Nothing passes closed edges; edges that end at a wall of hexagon edges are longer by a quarter
 * (src/solvers/flood/flood_walls.c). At second order what the level of the west cell pushes comes on top. code: of that
 * cell. */
INLINED void finish_edge(int code, int axis, int open, flux *f)
{
    if (JAGGED && WORTH_A_BRANCH(code >> LONGER & 7)) {
        const real length = code >> (LONGER + axis) & 1 ? REAL(1.25) : 1;
        f->mass = length * f->mass;
        f->left = length * f->left;
        f->right = length * f->right;
        f->along = length * f->along;
    }
    const real left = ORDER == 2 ? f->left + f->push : f->left;
    f->mass = open ? f->mass : 0;
    f->left = open ? left : 0;
    f->right = open ? f->right : 0;
    f->along = open ? f->along : 0;
}

/* Whether at first order finish_edge() may change what passes the edges that a cell owns. */
#define HAS_ENDS(code) (((code) & (CLOSED * ((1 << AXES) - 1) | (JAGGED ? 7 << LONGER : 0))) != 0)

/* The flux through an edge that may be closed. */
INLINED void any_edge_flux(FIELD_PARAMETERS, index_t west, index_t east, int axis, int shifted, int open, flux *f)
{
    edge_flux(FIELDS, west, east, axis, shifted, f);
    finish_edge(cell[west], axis, open, f);
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
    const real f = dt * gn2 * small_root(*u * *u + *v * *v) * (square * square);
    const real slower = normal_quotient(2, 1 + normal_root(1 + 4 * f));
    *u = *u * slower;
    *v = *v * slower;
}

#define LAND_OF(at) (LAND_VALUES + (LAND ? LAND_VALUE * land[at] : 0))

INLINED void read_surface(SURFACE_PARAMETERS, index_t at, real dt, surface *s)
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

/* A velocity [m/s]; slower than STILL it is 0: no zero keeps a sign, which minima and maxima may have given it (Mesa's
 * compiler leaves out x + 0), and devices that take subnormal numbers for zero have the bits of others. */
#define STILL REAL(1e-20)
INLINED real moving(int wet, real speed) { return (wet & !(ABS(speed) < STILL)) ? speed : 0; }

/* (3) from the sums over all edges; out: the part of `mass` through open sides. With REST what rounding of the depth
 * leaves over comes to the next step (Kahan 1965). */
INLINED void update_cell(real h, real u, real v, real rest, const edge_sums *sums, real out, real dt, int raining,
                         const surface *ground, cell_state *next)
{
    const real scale = dt * EDGE_PER_AREA, flown = REST ? -(scale * sums->mass) - rest : -(scale * sums->mass);
    const real change = RAIN ? flown + ground->rained : flown, filled = h + change;
    const real qx = fma(-scale, sums->x, h * u), qy = fma(-scale, sums->y, h * v);
    const real taken = SOIL ? infiltration(filled, raining, ground) : 0, deep = SOIL ? filled - taken : filled;
    const int wet = !(deep <= DRY);
    const real inverse = RECIPROCAL(wet ? filled : 1), left_over = REST && deep > DRY ? (filled - h) - change : 0;
    next->rest = SOIL && deep > DRY ? left_over + ((deep - filled) + taken) : left_over;
    next->h = deep < 0 ? 0 : deep;
    next->soaked = next->soaked_rest = 0;
    if (SOIL) {
        const real more = taken - ground->soaked_rest;
        next->soaked = ground->soaked + more;
        next->soaked_rest = (next->soaked - ground->soaked) - more;
    }
    next->u = moving(wet, qx * inverse);
    next->v = moving(wet, qy * inverse);
    next->outflow = scale * out;
    if (FRICTION && WORTH_A_BRANCH(wet))
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
INLINED void axis_flux(FIELD_PARAMETERS, index_t at, int code, int axis, int shifted, flux *own, edge_sums *back)
{
    flux f;
    any_edge_flux(FIELDS, at, cell_ahead(at, axis, shifted), axis, shifted, !(code & CLOSED << axis), own);
    any_edge_flux(FIELDS, cell_behind(at, axis, shifted), at, axis, OTHER_ROW(axis, shifted),
                  !(code & CLOSED << (axis + AXES)), &f);
    back->mass = f.mass;
    back->x = f.right;
    back->y = f.along;
}

/* A cell after the step, all its edges computed here. `open_sides`: with those. */
INLINED void advance_cell(ALL_PARAMETERS, index_t at, int code, int shifted, real dt, int open_sides, cell_state *next)
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
    const real straight = ABS(u), slanted = fma(SLANT, ABS(v), HALF * straight);
    const real flow = EDGES == 6 ? (slanted <= straight ? straight : slanted) : larger(straight, ABS(v));
    const real speed = flow + ROOT(G * h);
    return h > DRY || not_finite(h) ? speed : 0;
}

/* Keeps the largest depth and hazard of the state before the step, and when water came: once the largest depth was
 * more than WET, it has come. A cell may be recorded twice in a step. */
INLINED void record_cell(index_t at, real begin, real h, real u, real v, global real *arrival, global real *deepest,
                         global real *hazard)
{
    const real most = deepest[at], worst = hazard[at];
    const real danger = h * (small_root(u * u + v * v) + HALF);
    STORE_IF((most <= WET) & (h > WET), arrival[at], begin)
    STORE_IF(h > most, deepest[at], h)
    STORE_IF(danger > worst, hazard[at], danger)
}

/* Stores a cell after the step; returns its wave speed, of special cells 0: they are not complete yet. */
INLINED real store_cell(NEXT_PARAMETERS, index_t at, int code, const cell_state *next)
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

/* HW / D where Q* reaches 3.5 and 4.0 in culvert_flow. */
#define CULVERT_WEIR REAL(1.18718734520505)
#define CULVERT_ORIFICE REAL(1.39)

/* Special cells have links between storeys, sources, drains, culverts, open sides. The depth that goes down from `up`
 * to `below` through a link in `dt`; negative: it comes up. share: of a stair its crest over the area of the cell, of
 * an opening the coefficient of discharge. At most half of what is there.
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
#define MORE_OF(item) (values + MORE_VALUES + ((item) - 1) * MORE_VALUE)

/* What a drain takes of water of a depth in a second: as much as falls over its edge, at most what its openings let
 * through. */
static inline real drain_rate(real rate, global const real *more, real h)
{
    const real root = SQRT(h), weir = more[0] * (h * root), orifice = more[1] * root;
    const real most = weir < orifice ? weir : orifice;
    return more[0] > 0 && most < rate ? most : rate;
}

/* The discharge of a culvert from the end with the water h to that with `beyond`, per metre of its width (Federal
 * Highway Administration, HDS-5, 3rd edition, 2012, SI units); heads count from the higher one of the two sills.
 *   inlet      Q* = 1.811 q / D^(3/2): below 3.5 it is (HW / (0.515 D))^(3/2), above 4.0 sqrt((HW / D - 0.79) / 0.0375)
 *              (chart 10, a box between headwalls at a right angle, form 2), a straight line in between
 *   outlet     q = y sqrt(2 g (fall of the level) / losses), where water stands y <= D deep in the barrel: that behind
 *              the outlet, at least as deep as what comes through the inlet is at critical flow */
static inline real culvert_flow(global const real *more, real h, real beyond)
{
    const real high = more[0], drop = more[3], level = h - more[1], head = level + (drop < 0 ? drop : 0);
    if (!((h > DRY) & (head > DRY))) /* not a selection of the result: reduce.h says what LLVM 18 makes of that */
        return 0;
    const real tail = beyond > DRY ? beyond - more[2] : 0;
    const real ratio = head / high, weir = ratio * REAL(1.94174757281553398);
    const real drowned = SQRT((ratio > REAL(0.79) ? ratio - REAL(0.79) : 0) * REAL(26.6666666666666667));
    const real between = REAL(3.5) + (ratio - CULVERT_WEIR) * (HALF / (CULVERT_ORIFICE - CULVERT_WEIR));
    const real star = ratio < CULVERT_WEIR      ? weir * SQRT(weir > 0 ? weir : 0)
                      : ratio < CULVERT_ORIFICE ? between
                                                : drowned;
    const real inlet = star * (high * SQRT(high)) * REAL(0.552181115405853120);
    const real cube = inlet * inlet / G, root = inverse_cube_root(cube > 0 ? cube : 1), critical = cube * (root * root);
    const real least = critical < high ? critical : high, deep = tail > least ? tail : least;
    const real fall = level + drop - deep, filled = deep < high ? deep : high;
    const real outlet = filled * SQRT(fall > 0 ? more[4] * fall : 0);
    return inlet < outlet ? inlet : outlet;
}

/* What a cell at an end of a culvert gains in a step: the water that went in at the other end in the step before, less
 * what goes in here, at most half of what is there. Of each item the clock has the depth and what went in. */
#define END_OF(slot, item) (CLOCK_ENDS + 2 * ((slot) * CULVERTS + (item) - 1))
static inline real culvert_gain(global const real *values, global real *clock, int slot, int item, real dt, real h)
{
    global const real *more = MORE_OF(item), *here = clock + END_OF(slot, item), *there = here + 2 * (int)more[5];
    const real depth = dt * (values[ITEM_VALUES + item - 1] * culvert_flow(more, here[0], there[0])), most = HALF * h;
    const real taken = depth < most ? depth : most;
    clock[END_OF((slot + 1) % SLOTS, item) + 1] = taken;
    return there[1] - taken;
}

/* Completes a special cell that was stored without open sides, links and items; returns its wave speed. outflow: a sum
 * and what rounding of it left over (Kahan 1965). */
static inline real finish_special_cell(ALL_PARAMETERS, NEXT_PARAMETERS, global real *outflow, global real *clock,
                                       int slot, index_t at, int shifted, real dt)
{
    const int code = cell[at], item = ITEM_OF(code), link_down = (uint)code / DOWN & 3;
    cell_state next = { next_depth[at], next_velocity[at], next_velocity[at + PLANE], 0, 0, 0, 0 };
    if (REST)
        next.rest = next_rest[at];
    if (SOIL) {
        next.soaked = next_soaked[at];
        next.soaked_rest = next_rest[at + PLANE];
    }
    real gain = 0;
    /* The cell itself, where it has open sides, then what its links bring from below and above, from the values that
     * both cells have after the fluxes: each computes the other's. The text stands once: compilers take long for it. */
    ROLLED
    for (int part = 0; part < (LINKS ? 3 : 1); part++) {
        const int down = part == 1, kind = (int)((uint)code / (down ? DOWN : UP) & 3);
        if (part == 0 ? (code & OUTER * ((1 << EDGES) - 1)) != 0 : (kind > 0) & (kind != CULVERT)) {
            const index_t other = part == 0 ? at : down ? at - SLICE : at + SLICE;
            cell_state there;
            advance_cell(ALL, other, cell[other], shifted, dt, 1, &there);
            if (part == 0) {
                next = there;
            } else {
                const real share = values[ITEM_VALUES + ITEM_OF(down ? code : cell[other]) - 1];
                const cell_state upper = down ? next : there, lower = down ? there : next;
                const real moved = link_flow(kind, share, dt, &upper, bed[down ? at : other], &lower,
                                             bed[down ? other : at]);
                gain = gain - (down ? moved : -moved);
            }
        }
    }
    real lost = next.outflow;
    if (item > 0 && link_down == 0) {
        const real rate = values[ITEM_VALUES + item - 1], most = HALF * next.h;
        const real amount = dt * (code & DRAIN ? drain_rate(rate, MORE_OF(item), next.h) : rate);
        if (code & DRAIN) {
            const real taken = amount < most ? amount : most;
            gain = gain - taken;
            lost = lost + taken;
        } else {
            gain = gain + amount;
        }
    }
    if (CULVERTS && link_down == CULVERT)
        gain = gain + culvert_gain(values, clock, slot, item, dt, next.h);
    add_still_water(&next, gain);
    if (CULVERTS && link_down == CULVERT)
        clock[END_OF((slot + 1) % SLOTS, item)] = next.h;
    const real sum = outflow[at], more = lost - outflow[at + PLANE], total = sum + more;
    outflow[at + PLANE] = (total - sum) - more;
    outflow[at] = total;
    return store_cell(NEXT, at, 0, &next);
}
