/* flood_step.cl: a time step of flood, one launch, at second order two, behind kernels/flood.cl, which has the scheme:
 * how long it is, which blocks it leaves out, how the two cells of an edge share its flux.
 *
 * The clock has three slots: step n reads slot n % 3, writes the next one and clears the one after. Components of
 * blocks: 0 to 2 the largest speed in each block at the times of these slots (0: dry), 3 whether the block has special
 * cells. */

/* A work-group has GROUP_BLOCKS blocks above each other (flood.c): the edges towards the row below them, which it
 * computes though they are other cells', and what it does once count the less the more there are. */
#define GROUP_NY (BLOCK_NY * GROUP_BLOCKS)
#define group_top() ((int)get_group_id(1) * GROUP_NY + LAUNCH_Y)
#define group_block() block_of_grid(group_top()) /* the first of them */

/* What all work-items of a step need: the time step, with and without the end of the interval; seconds of the interval
 * before and after it; which blocks have water, now or a step ago, of the group and around it; which of the group have
 * special cells. */
enum { BLOCKS_AROUND = 3 * (GROUP_BLOCKS + 2) };
enum {
    STEP_DT,
    STEP_ALLOWED,
    STEP_LEFT,
    STEP_AFTER,
    STEP_WET,
    STEP_SPECIAL = STEP_WET + BLOCKS_AROUND,
    STEP = STEP_SPECIAL + GROUP_BLOCKS
};

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

/* Finds it by a few of the work-items; returns the rows of the group in which anything can change, from the first to
 * behind the last, of whole blocks. */
static inline int2 begin_step(local real *step, global acc *blocks, global const real *clock, int slot, real refill,
                              global const real *values)
{
    const int rain = RAIN && values[RAIN_LATELY] != 0;
    if (get_local_id(0) == get_local_size(0) - 1) /* which looks up no block below */
        time_step(step, clock, slot, refill);
    FOR_LANES(n, BLOCKS_AROUND + GROUP_BLOCKS) {
        const int b = n < BLOCKS_AROUND   ? block_beside(group_top(), n % 3 - 1, n / 3 - 1)
                      : GROUP_BLOCKS == 1 ? group_block()
                                          : block_beside(group_top(), 0, n - BLOCKS_AROUND);
        const int at = n < BLOCKS_AROUND ? slot : SLOTS, also = n < BLOCKS_AROUND ? (slot + SLOTS - 1) % SLOTS : SLOTS;
        step[STEP_WET + n] = b >= 0 && (blocks[at * PARTIALS + b] != 0 || blocks[also * PARTIALS + b] != 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int from = GROUP_NY, to = 0;
    for (int b = 0; b < GROUP_BLOCKS; b++) {
        int active = rain || step[STEP_SPECIAL + b] != 0;
        for (int n = 0; n < 9; n++)
            active = active || step[STEP_WET + 3 * b + n] != 0;
        if (active && group_top() + b * BLOCK_NY < NY) {
            from = min(from, b * BLOCK_NY);
            to = min((b + 1) * BLOCK_NY, NY - group_top());
        }
    }
    return (int2)(from, to);
}

/* Ends a step of the block that begins in the row `top`, by one work-item: its largest speed to its place and to the
 * clock. */
static inline void put_speed(global acc *blocks, global real *clock, int slot, int top, acc speed)
{
    blocks[slot * PARTIALS + block_of_grid(top)] = speed;
    if (speed != 0)
        atomic_max((volatile global uint *)(clock + slot * SLOT) + CLOCK_SPEED_BITS, as_uint(convert_float(speed)));
}

/* Of the blocks of the group: 0 but for those in these rows of it, whose speeds `lanes` have in the first lane of each.
 */
static inline void put_speeds(global acc *blocks, global real *clock, int slot, local const acc *lanes, int2 rows)
{
    if (get_local_id(0) != 0)
        return;
    for (int b = 0; b < GROUP_BLOCKS; b++) {
        const int row = b * BLOCK_NY, top = group_top() + row;
        if (top < NY)
            put_speed(blocks, clock, slot, top, row >= rows.x && row < rows.y ? lanes[b * LANES] : 0);
    }
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
        if (CULVERTS && ((uint)cell[at] / DOWN & 3) == CULVERT)
            clock[END_OF(0, ITEM_OF(cell[at]))] = depth[at];
    }
    fold_max(speeds, LANES);
    if (get_local_id(0) == 0)
        put_speed(blocks, clock, 0, block_top(), speeds[0]);
    put_partial_max(blocks, SLOTS, special);
    if (get_local_id(0) == 0) {
        blocks[1 * PARTIALS + partial_index()] = 0;
        blocks[2 * PARTIALS + partial_index()] = 0;
    }
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
/* (6) along an axis: what carries depth and velocity along its normal, and the divergence. */
typedef struct axis_terms {
    real fill, spread, normal, along;
} axis_terms;

INLINED void predict_axis(STATE_PARAMETERS, index_t at, int axis, int shifted, axis_terms *t)
{
    cell_slopes s;
    real n, unused;
    limited_slopes(STATE, at, axis, shifted, &s);
    rotate_to_edge(axis, velocity[at], velocity[at + PLANE], &n, &unused);
    t->fill = n * s.h;
    t->spread = s.normal;
    t->normal = fma(n, s.normal, G * s.level);
    t->along = n * s.along;
}

/* A cell half a time step later, from the slopes within it alone, in terms of depth and velocity. */
INLINED void predict_cell(STATE_PARAMETERS, global const real *values, global const int *land, index_t at, int shifted,
                          real dt, global real *half_depth, global real *half_velocity)
{
    const real h = depth[at], scale = TO_EDGE * dt * EDGE_PER_AREA;
    axis_terms a, b, c = { 0, 0, 0, 0 };
    real x, y;
    predict_axis(STATE, at, 0, shifted, &a);
    predict_axis(STATE, at, 1, shifted, &b);
    if (EDGES == 6)
        predict_axis(STATE, at, 2, shifted, &c);
    rotate_back(b.normal, b.along, c.normal, c.along, &x, &y);
    const real filled = (a.fill + b.fill) + c.fill, spread = (a.spread + b.spread) + c.spread;
    const real deep = fma(-scale, fma(h, spread, filled), h), later = deep > HALF * h ? deep : HALF * h;
    real u = fma(-scale, a.normal + x, velocity[at]), v = fma(-scale, a.along + y, velocity[at + PLANE]);
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
    const int2 rows = begin_step(step, blocks, clock, (int)slot, refill, values);
    const real dt = step[STEP_DT];
    const int k = block_k(), first = block_first(), width = min(BLOCK_NX, NX - first);
    for (int row = dt > 0 ? rows.x : GROUP_NY; row < rows.y; row++) {
        const index_t at = AT3(first, group_top() + row, k);
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
 * Two banks, by the parity of the row: lanes of a row are written while those of the row before are still read. Where a
 * lane writes for another one less than 32 vectors behind what lanes read in the same loop, clang makes the vectors
 * shorter, lest loads wait for stores that they overlap: hence this order. */
#define WIDE (LANES + 2 * LANE_MARGIN)
#define EAST(bank, c) ((3 * (bank) + (c)) * WIDE + LANE_MARGIN)
#define MOVE(bank, c) ((6 + 6 * (bank) + (c)) * WIDE + LANE_MARGIN)
#define OWN(c) (((EDGES == 6 ? 9 : 6) + (c)) * WIDE + LANE_MARGIN)
#define STAY(c) (((EDGES == 6 ? 15 : 9) + (c)) * WIDE + LANE_MARGIN)
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
INLINED void own_edges(FIELD_PARAMETERS, local real *shared, lane_t lane, index_t at, int shifted)
{
    const int code = cell[at];
    const index_t east = cell_ahead(at, 0, shifted), up = cell_ahead(at, 1, shifted);
    const index_t back = EDGES == 6 ? cell_ahead(at, 2, shifted) : up;
    flux e = { 0, 0, 0, 0, 0 }, first = { 0, 0, 0, 0, 0 }, second = { 0, 0, 0, 0, 0 };
    edge_sums s, below, stay, move;
    load_edge(shared, STAY(0) + lane, &stay);
    load_edge(shared, (EDGES == 6 ? MOVE(1 - shifted, 0) : STAY(0)) + lane, &move);
    sum_edges_below(shifted ? &stay : &move, shifted ? &move : &stay, &below);
    /* Nothing passes between dry cells, of which blocks within walls have many. */
    if (!SPECIALS || WORTH_A_BRANCH(!((depth[at] <= DRY) & (depth[east] <= DRY) & (depth[up] <= DRY) &
                                      (depth[back] <= DRY)))) {
        const int open[3] = { !(code & CLOSED), !(code & CLOSED << 1), !(code & CLOSED << 2) };
        edge_flux(FIELDS, at, east, 0, shifted, &e);
        if (ORDER == 2)
            finish_edge(code, 0, open[0], &e);
        edge_flux(FIELDS, at, up, 1, shifted, &first);
        if (ORDER == 2)
            finish_edge(code, 1, open[1], &first);
        if (EDGES == 6) {
            edge_flux(FIELDS, at, back, 2, shifted, &second);
            if (ORDER == 2)
                finish_edge(code, 2, open[2], &second);
        }
        /* At first order one branch for all three, whose arithmetic then is interleaved. */
        if (ORDER == 1 && WORTH_A_BRANCH(HAS_ENDS(code))) {
            finish_edge(code, 0, open[0], &e);
            finish_edge(code, 1, open[1], &first);
            if (EDGES == 6)
                finish_edge(code, 2, open[2], &second);
        }
    }
    sum_own_edges(&e, &first, &second, &s);
    shared[OWN(0) + lane] = s.mass - below.mass;
    shared[OWN(1) + lane] = s.x - below.x;
    shared[OWN(2) + lane] = s.y - below.y;
    store_flux(shared, EAST(shifted, 0) + lane + 1, &e);
    store_above(shared, lane, shifted, &first, &second);
}

/* The upper edges of the row below the block; whether they are open is known to the cells above. */
INLINED void edges_below(FIELD_PARAMETERS, local real *shared, lane_t lane, index_t at, index_t up)
{
    flux first, second = { 0, 0, 0, 0, 0 };
    any_edge_flux(FIELDS, at, cell_ahead(at, 1, 1), 1, 1, !(cell[EDGES == 6 ? up + 1 : up] & CLOSED << (1 + AXES)),
                  &first);
    if (EDGES == 6)
        any_edge_flux(FIELDS, at, cell_ahead(at, 2, 1), 2, 1, !(cell[up] & CLOSED << 5), &second);
    store_above(shared, lane, 1, &first, &second);
}

/* The edges between the blocks and the cells in the west and east of them that own them: into each row from the west,
 * and of hexagons from below. One after the other in `rim`; what the row 0 needs from below goes where it looks for it.
 */
#define RIM (EDGES == 6 ? 2 * GROUP_NY : GROUP_NY)
INLINED void rim_edge(FIELD_PARAMETERS, local real *shared, local real *rim, int q, int width, int top, int rows,
                     int k)
{
    const int row = q % GROUP_NY, from_below = q / GROUP_NY, shifted = from_below ? 1 - (row & 1) : row & 1;
    /* Of what comes from below: into shifted rows, from the east by the edge 2; into others, from the west by 1. */
    const int axis = from_below ? 1 + (row & 1) : 0, lane = axis == 2 ? width : -1, to = axis == 2 ? width - 1 : 0;
    const int i = block_first(), j = top + row;
    flux f = { 0, 0, 0, 0, 0 };
    const index_t at = AT3(i + lane, j - from_below, k);
    if (row < rows)
        any_edge_flux(FIELDS, at, cell_ahead(at, axis, shifted), axis, shifted,
                      !(cell[AT3(i + to, j, k)] & CLOSED << (axis + AXES)), &f);
    rim[q * 3] = f.mass;
    rim[q * 3 + 1] = f.right;
    rim[q * 3 + 2] = f.along;
    if (EDGES == 6 && q == GROUP_NY)
        store_flux(shared, MOVE(1, 0), &f);
}

/* What the first lane of a row needs from the west, and the first or last one of the next row from below. */
INLINED void place_rim(local real *shared, local const real *rim, int row, int width, int c)
{
    shared[EAST(row & 1, c)] = rim[row * 3 + c];
    if (EDGES == 6 && row + 1 < GROUP_NY)
        shared[row & 1 ? MOVE(1, c) : MOVE(0, c) + width - 1] = rim[(GROUP_NY + row + 1) * 3 + c];
}

/* What passes all edges of a cell; `edge`: place of the one from the west. */
INLINED void sum_edges(local const real *shared, lane_t lane, lane_t edge, edge_sums *s)
{
    s->mass = shared[OWN(0) + lane] - shared[edge];
    s->x = shared[OWN(1) + lane] - shared[edge + WIDE];
    s->y = shared[OWN(2) + lane] - shared[edge + 2 * WIDE];
}

/* What is left to do for a cell when that is known. */
#define UPDATE_LANE(lane, at, sums)                                                                                    \
    cell_state next_;                                                                                                  \
    surface ground_;                                                                                                   \
    read_surface(SURFACE, at, dt, &ground_);                                                                           \
    update_cell(depth[at], velocity[at], velocity[(at) + PLANE], REST ? rest[at] : 0, sums, 0, dt, raining, &ground_,  \
                &next_);                                                                                               \
    STORE_LANE(lane, at)
#define FINISH_LANE(lane, at, edge)                                                                                    \
    edge_sums sums_;                                                                                                   \
    sum_edges(shared, lane, edge, &sums_);                                                                             \
    UPDATE_LANE(lane, at, &sums_)
/* The whole cell, all its edges computed here. */
#define ADVANCE_LANE(lane, at, shifted)                                                                                \
    RECORD_LANE(at)                                                                                                    \
    cell_state next_;                                                                                                  \
    advance_cell(ALL, at, cell[at], shifted, dt, 0, &next_);                                          \
    STORE_LANE(lane, at)
#define STORE_LANE(lane, at) ADD_TO_MAXIMUM(SPEEDS_HERE, lane, store_cell(NEXT, at, cell[at], &next_), QUICK)
/* Of the state before the step: beside the edges of the cell, so that the loads of both are under way together. */
#define RECORD_LANE(at)                                                                                                \
    if (RECORD && WORTH_A_BRANCH(depth[at] > 0))                                                                       \
        record_cell(at, begin, depth[at], velocity[at], velocity[(at) + PLANE], arrival, deepest, hazard);

/* One of a launch after the end of the interval. */
#define SAME_LANE(lane, at)                                                                                            \
    const cell_state same_ = { depth[at], velocity[at], velocity[(at) + PLANE], 0, REST ? rest[at] : 0,                \
                               SOIL ? soaked[at] : 0, SOIL ? rest[(at) + PLANE] : 0 };                                 \
    ADD_TO_MAXIMUM(SPEEDS_HERE, lane, store_cell(NEXT, at, 0, &same_), QUICK)
/* Where the rows of a block end, the work-item's largest speed in it goes to local memory; the only block's stays with
 * the work-item until the end. */
#define NEXT_BLOCK(ends)                                                                                               \
    if (GROUP_BLOCKS > 1 && (ends)) {                                                                                  \
        KEEP_MAXIMUM(SPEEDS_HERE, QUICK)                                                                               \
        block_++;                                                                                                      \
    }
#define SPEEDS_HERE (speeds + (GROUP_BLOCKS > 1 ? block_ * LANES : 0))

/* A cell that stays as it is: no water moves in it or beside it. */
#define KEEP_LANE(at)                                                                                                  \
    next_depth[at] = depth[at];                                                                                        \
    next_velocity[at] = velocity[at];                                                                                  \
    next_velocity[(at) + PLANE] = velocity[(at) + PLANE];                                                              \
    if (REST)                                                                                                          \
        next_rest[at] = rest[at];                                                                                      \
    if (RECORD)                                                                                                        \
    record_cell(at, begin, depth[at], velocity[at], velocity[(at) + PLANE], arrival, deepest, hazard)

/* The lanes from the first to behind the last one of a block that has water which moves, in its rows or in those beside
 * them, and one more at both ends: in all others nothing changes. */
static inline void find_wet_lanes(global const real *depth, index_t at, int width, int rows, lane_t *from, lane_t *to)
{
    int first = width, last = -2;
    for (int row = -1; row <= rows; row++) { /* from both ends: where all is wet they are found at once */
        global const real *here = depth + at + (index_t)row * PITCH;
        for (int lane = -1; lane < first; lane++)
            first = here[lane] <= DRY ? first : lane;
        for (int lane = width; lane > last; lane--)
            last = here[lane] <= DRY ? last : lane;
    }
    *from = max(first - 1, 0);
    *to = max(min(last + 2, width), (int)*from);
}

/* Goes through so many rows from `top` on. `record` takes a cell before its edges are computed, `finish` when all of
 * them are (see FINISH_LANE), `keep` one beyond the wet lanes; `leave` follows each row, with whether a block ends. */
#define SWEEP_ROWS(record, finish, keep, leave)                                                                        \
    for (int row = -1; row <= rows; row++) {                                                                           \
        const index_t at = AT3(first, top + row, k);                                                                   \
        const lane_t edge = EAST(1 - (row & 1), 0);                                                                    \
        if (row > 0) {                                                                                                 \
            EACH_LANE_OF_ROW(lane, from, to, finish(lane, at - PITCH + lane, edge + lane))                             \
            ROLLED for (int behind = 0; behind < (ROWS_ARE_CUT ? 2 : 0); behind++) /* lanes at both ends */            \
                EACH_LANE_OF_ROW(lane, behind ? to : 0, behind ? width : from, keep(at - PITCH + lane))                \
            leave(row % BLOCK_NY == 0 || row == rows)                                                                  \
        }                                                                                                              \
        if (row < 0) {                                                                                                 \
            EACH_LANE_OF_ROW(lane, edges_from, edges_to,                                                               \
                             edges_below(FIELDS, shared, lane, at + lane, at + PITCH + lane))                          \
            FOR_LANES_OF_ROW(q, RIM)                                                                                   \
                rim_edge(FIELDS, shared, rim, q, width, top, rows, k);                                                 \
        } else if (row < rows) {                                                                                       \
            BY_PARITY(row, EACH_LANE_OF_ROW(lane, edges_from, edges_to,                                                \
                                            record(at + lane)                                                          \
                                            own_edges(FIELDS, shared, lane, at + lane, shifted)))                      \
            FOR_LANES_OF_ROW(c, 3)                                                                                     \
                place_rim(shared, rim, row, width, c);                                                                 \
        }                                                                                                              \
        END_OF_ROW                                                                                                     \
    }

#if AHEAD
/* Whether the sums of fluxes of this block are there before the time step is known: it lies in the rows inside the box
 * (BN_INNER_ROWS), and no cut or periodic side is in the west or east of it, where halos are yet to come. */
#define IS_AHEAD(inner_rows)                                                                                           \
    (block_top() >= BLOCK_NY && block_top() < BLOCK_NY + (int)(inner_rows) &&                                          \
     (block_first() > 0 || (X0 == 0 && !PERIODIC_X)) &&                                                                \
     (block_first() + BLOCK_NX < NX || (X0 + NX == GNX && !PERIODIC_X)))
#define RATES_PARAMETERS , global const real *restrict rates, uint inner_rows
#define STORE_RATES(lane, at, edge)                                                                                    \
    edge_sums sums_;                                                                                                   \
    sum_edges(shared, lane, edge, &sums_);                                                                             \
    rates[at] = sums_.mass;                                                                                            \
    rates[(at) + PLANE] = sums_.x;                                                                                     \
    rates[(at) + 2 * PLANE] = sums_.y
#define NO_LANE(at)

/* What passes the edges of the cells of such blocks: all that a step needs beside its length. At first order. */
kernel void flood_rates(global const real *restrict depth, global const real *restrict velocity,
                        global const real *restrict bed, global const int *restrict cell,
                        global real *restrict rates, uint inner_rows)
{
    local real shared[SHARED_REALS], rim[3 * RIM];
    global const real *const half_depth = depth, *const half_velocity = velocity;
    const int k = block_k(), first = block_first(), top = block_top(), width = min(BLOCK_NX, NX - first);
    const int rows = HAS_ROWS && IS_AHEAD(inner_rows) ? min(BLOCK_NY, NY - top) : -2;
    const lane_t from = 0, to = width, edges_from = from, edges_to = to;
    SWEEP_ROWS(NO_LANE, STORE_RATES, NO_LANE, NO_LANE)
}
#else
#define IS_AHEAD(inner_rows) 0
#define RATES_PARAMETERS
#endif

/* One time step of every block that has water. end: of the interval [s]; refill: its length when it begins, else 0.
 * rest, next_rest: with REST; half_depth, half_velocity: of second order; values: with SPECIALS, RAIN, SOIL, LAND;
 * rain_share: of the rain that falls on a cell; land: class of its cover; soaked, next_soaked: with SOIL; outflow: with
 * SPECIALS; arrival, deepest, hazard: with RECORD; rates, inner_rows: with AHEAD. */
kernel void flood_advance(global const real *restrict depth, global const real *restrict velocity,
                          global const real *restrict bed, global const int *restrict cell,
                          global const real *restrict rest, global const real *restrict half_depth,
                          global const real *restrict half_velocity, global const real *restrict values,
                          global const real *restrict rain_share, global const int *restrict land,
                          global const real *restrict soaked, global real *restrict next_depth,
                          global real *restrict next_velocity, global real *restrict next_rest,
                          global real *restrict next_soaked, global real *restrict outflow,
                          global real *restrict arrival, global real *restrict deepest, global real *restrict hazard,
                          global acc *restrict blocks, global real *restrict clock, uint slot_, real refill,
                          real end RATES_PARAMETERS)
{
    local acc speeds[GROUP_BLOCKS * LANES];
    local real step[STEP], shared[SHARED ? SHARED_REALS : 1], rim[SHARED ? 3 * RIM : 1];
    local ushort list[SPECIALS ? BLOCK_NX * GROUP_NY : 1];
    local int listed;
    const int slot = (int)slot_, next_slot = (slot + 1) % SLOTS, k = block_k();
    BEGIN_MAXIMA(speeds, GROUP_BLOCKS)
    const int2 active = begin_step(step, blocks, clock, slot, refill, values);
    const int raining = RAIN && values[RAIN_RATE] > 0;
    const real dt = step[STEP_DT], begin = end - step[STEP_LEFT];
    if (MAY_RETURN_EARLY && active.x >= active.y && group_block() != 0) {
        put_speeds(blocks, clock, next_slot, speeds, (int2)(0, 0));
        return;
    }
    if (SPECIALS && get_local_id(0) == 0)
        listed = 0;
    const int first = block_first(), width = min(BLOCK_NX, NX - first);
    const int top = GROUP_BLOCKS > 1 ? group_top() + active.x : group_top();
    const int computed = dt > 0 ? active.y - active.x : 0;
    int block_ = active.x / BLOCK_NY; /* whose rows are gone through */
    if (SHARED) {
        const int rows = HAS_ROWS && (computed > 0) & !IS_AHEAD(inner_rows) ? computed : -2;
        lane_t from = 0, to = width;
        if (ROWS_ARE_CUT & !SOIL & !raining & (rows > 0))
            find_wet_lanes(depth, AT3(first, top, k), width, rows, &from, &to);
        const lane_t edges_from = ROWS_ARE_CUT && from > 0 ? from - 1 : from;
        const lane_t edges_to = ROWS_ARE_CUT && to < width ? to + 1 : to;
        SWEEP_ROWS(RECORD_LANE, FINISH_LANE, KEEP_LANE, NEXT_BLOCK)
    } else {
        for (int row = 0; row < computed; row++) {
            const index_t at = AT3(first, top + row, k);
            BY_PARITY(row, EACH_LANE(lane, width, ADVANCE_LANE(lane, at + lane, shifted)))
            NEXT_BLOCK((row + 1) % BLOCK_NY == 0 || row + 1 == computed)
        }
    }
#if AHEAD
    FOR_CELLS(computed > 0 && IS_AHEAD(inner_rows), i, j, lane) {
        const index_t at = AT3(i, j, k);
        const edge_sums sums = { rates[at], rates[at + PLANE], rates[at + 2 * PLANE] };
        RECORD_LANE(at)
        UPDATE_LANE(lane, at, &sums);
    }
#endif
    for (int row = active.x; row < active.y && !(dt > 0); row += BLOCK_NY) { /* behind the interval nothing changes */
        FOR_CELLS_FROM(1, group_top() + row, i, j, lane) {
            const index_t at = AT3(i, j, k);
            SAME_LANE(lane, at)
        }
        NEXT_BLOCK(1)
    }
    if (SPECIALS) { /* few, and beside each other: all work-items take their share of a list */
        if (!(SHARED && ROWS_END_WITH_BARRIER))
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (int b = 0; b < GROUP_BLOCKS; b++)
            FOR_FEW_CELLS(dt > 0 && step[STEP_SPECIAL + b] != 0, group_top() + b * BLOCK_NY, i, j, lane)
                if (cell[AT3(i, j, k)] & SPECIAL)
                    list[atomic_inc(&listed)] = (ushort)((j - group_top()) * BLOCK_NX + lane);
        barrier(CLK_LOCAL_MEM_FENCE);
        const int count = listed;
        FOR_ENTRIES(n, count, lane) {
            const int row = list[n] / BLOCK_NX;
            const index_t at = AT3(first + list[n] % BLOCK_NX, group_top() + row, k);
            const real speed = finish_special_cell(ALL, NEXT, outflow, clock, slot, at, row & 1, dt);
            if (GROUP_BLOCKS > 1) {
                ADD_TO_LANE(speeds, row / BLOCK_NY * LANES + lane, speed, QUICK)
            } else {
                ADD_TO_MAXIMUM(speeds, lane, speed, QUICK)
            }
        }
    }
    if (GROUP_BLOCKS == 1) {
        KEEP_MAXIMUM(speeds, QUICK)
    }
    END_MAXIMA(speeds, GROUP_BLOCKS, QUICK)
    put_speeds(blocks, clock, next_slot, speeds, active);
    if (get_local_id(0) == 0 && group_block() == 0) {
        global real *this = clock + slot * SLOT, *next = clock + next_slot * SLOT;
        const real steps = refill > 0 ? 0 : this[CLOCK_STEPS];
        next[CLOCK_LEFT] = step[STEP_AFTER];
        next[CLOCK_STEPS] = dt > 0 ? steps + 1 : steps;
        next[CLOCK_ALLOWED] = step[STEP_ALLOWED];
        next[CLOCK_SPEED] = (real)as_float(((global const uint *)this)[CLOCK_SPEED_BITS]);
        ((global uint *)(clock + (slot + 2) % SLOTS * SLOT))[CLOCK_SPEED_BITS] = 0;
        for (int n = 0; n < 2 * CULVERTS && !(dt > 0); n++)
            clock[END_OF(next_slot, 1) + n] = clock[END_OF(slot, 1) + n];
    }
}
