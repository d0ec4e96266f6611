/* flood_terrain.c: the ground, the codes of cells at the sides of the domain, and the water at the start. */
#include "flood.h"

#include "api/parallel_rows.h"

#include <math.h>
#include <stdlib.h>

void flood_place(const flood *s, size_t i, size_t j, double x[2])
{
    const double shift = s->grid.edges == 4 ? 0.5 : j % 2 != 0 ? 0.75 : 0.25; /* the jagged sides lie at their mean */
    x[0] = ((double)i + shift) * s->grid.h[0];
    x[1] = ((double)j + 0.5) * s->grid.h[1];
}

void flood_place_on_map(const flood *s, size_t i, size_t j, double x[2])
{
    flood_place(s, i, j, x);
    for (int k = 0; k < 2; k++)
        x[k] += s->grid.origin[k] + s->ground.shift[k];
}

/* A number in 0 ... 1 that depends on seed and cell alone. */
static double scatter(uint64_t seed, uint64_t cell)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + cell; /* the finish of splitmix64 */
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* The bed of the steady flow with the depth (4/g)^(1/3) (1 + exp(-16 (x/L - 1/2)^2) / 2) (Delestre et al. 2013, after
 * MacDonald): z' = (q^2 / (g h^3) - 1) h' - n^2 q^2 h^(-10/3), z(L) = 0, by Simpson's rule. */
static double macdonald_depth(const flood *s, double x, double *slope)
{
    const double r = x / s->grid.size[0] - 0.5, peak = 0.5 * exp(-16 * r * r), scale = cbrt(4 / s->k.g);
    *slope = scale * peak * -32 * r / s->grid.size[0];
    return scale * (1 + peak);
}

static double macdonald_fall(const flood *s, double x)
{
    double slope;
    const double h = macdonald_depth(s, x, &slope), q = s->side[FLOOD_LEFT].discharge, q2 = q * q;
    return (q2 / (s->k.g * h * h * h) - 1) * slope - s->k.gn2 / s->k.g * q2 * pow(h, -10.0 / 3);
}

static double macdonald_bed(const flood *s, double x)
{
    enum { PIECES = 200 };
    const double step = (s->grid.size[0] - x) / PIECES;
    double sum = 0;
    for (int i = 0; i < PIECES; i++) {
        const double a = x + i * step;
        sum += macdonald_fall(s, a) + 4 * macdonald_fall(s, a + 0.5 * step) + macdonald_fall(s, a + step);
    }
    return -sum * step / 6;
}

static void read_ground(const bn_case *c, flood_ground *g)
{
    g->kind = (flood_bed)bn_case_choice(c, "bed.kind");
    for (size_t i = 0; i < 2; i++)
        g->slope[i] = bn_case_real_at(c, "bed.slope", i);
    g->amplitude = bn_case_real(c, "bed.amplitude");
    g->radius = bn_case_real(c, "bed.radius");
    g->depth = bn_case_real(c, "bed.depth");
    g->seed = (uint64_t)bn_case_int(c, "case.seed");
}

static void read_initial(const bn_case *c, flood_initial *w)
{
    w->kind = (flood_start)bn_case_choice(c, "initial.kind");
    for (size_t i = 0; i < 2; i++)
        w->levels[i] = bn_case_real_at(c, "initial.levels", i);
    w->level = bn_case_real(c, "initial.level");
    w->circle = bn_case_real(c, "initial.radius");
    w->along_x = bn_case_choice(c, "initial.axis") == FLOOD_ALONG_X;
    w->storey = bn_case_int(c, "initial.storey");
}

static double bed_at(const flood *s, size_t i, size_t j)
{
    const flood_ground *w = &s->ground;
    double x[2];
    if (s->ground.kind == FLOOD_FLAT)
        return 0;
    flood_place(s, i, j, x);
    const double dx = x[0] - 0.5 * s->grid.size[0], dy = x[1] - 0.5 * s->grid.size[1], r2 = dx * dx + dy * dy;
    switch (s->ground.kind) {
    case FLOOD_SLOPE: return w->slope[0] * x[0] + w->slope[1] * x[1];
    case FLOOD_LAKE: return 0.3 * exp(-4 * r2) + 0.05 * sin(7 * dx) * cos(5 * dy) + 0.05;
    case FLOOD_RANDOM: return w->amplitude * scatter(w->seed, (uint64_t)j * s->grid.nx + i);
    case FLOOD_BUMP: return fmax(0, 0.2 - 0.05 * (x[0] - 10) * (x[0] - 10));
    case FLOOD_BOWL: return -w->depth * (1 - r2 / (w->radius * w->radius));
    case FLOOD_TERRAIN:
        flood_place_on_map(s, i, j, x);
        return s->ground.scale * bn_input_height(s->ground.terrain, x) + s->ground.offset;
    case FLOOD_MACDONALD: return s->ground.macdonald[2 * i + (s->grid.edges == 6 && j % 2 != 0)];
    default: return 0;
    }
}

static double ground_at(const flood *s, size_t i, size_t j, size_t k)
{
    return (s->ground.terrain && k > 0 ? 0 : bed_at(s, i, j)) + s->ground.floor[k];
}

double flood_ground_at(const flood *s, size_t i, size_t j, size_t k)
{
    const double z = s->ground.quantum * rint(ground_at(s, i, j, k) / s->ground.quantum);
    return isnan(z) ? s->ground.lowest : z;
}

/* Height of the water at the start, where it is one. */
static double level_at(const flood *s, const double x[2])
{
    const flood_initial *w = &s->initial;
    const double dx = x[0] - 0.5 * s->grid.size[0], dy = x[1] - 0.5 * s->grid.size[1];
    switch (s->initial.kind) {
    case FLOOD_DAM: return w->levels[(w->along_x ? dx : dy) < 0 ? 0 : 1];
    case FLOOD_CIRCLE: return w->levels[dx * dx + dy * dy < w->circle * w->circle ? 0 : 1];
    case FLOOD_LEVEL_START: return w->level;
    default: return -HUGE_VAL;
    }
}

bool flood_beside(const flood *s, size_t i, size_t j, int e, long *x, long *y)
{
    static const int hex_x[2][6] = { { 1, 0, -1, -1, -1, 0 }, { 1, 1, 0, -1, 0, 1 } },
                     hex_y[6] = { 0, 1, 1, 0, -1, -1 };
    static const int square_x[4] = { 1, 0, -1, 0 }, square_y[4] = { 0, 1, 0, -1 };
    *x = (long)i + (s->grid.edges == 6 ? hex_x[j % 2][e] : square_x[e]);
    *y = (long)j + (s->grid.edges == 6 ? hex_y[e] : square_y[e]);
    if (s->grid.periodic[0])
        *x = (*x + (long)s->grid.nx) % (long)s->grid.nx;
    if (s->grid.periodic[1])
        *y = (*y + (long)s->grid.ny) % (long)s->grid.ny;
    return *x >= 0 && *y >= 0 && *x < (long)s->grid.nx && *y < (long)s->grid.ny;
}

/* Closes what leads out of the domain; what leads out through an open side is marked. In a corner a cell belongs to the
 * side across x, unless only the other one is open; so does an edge of a hexagon that leads out past both. */
static void code_sides(void *user, size_t first, size_t end)
{
    flood *s = user;
    for (size_t row = first; row < end; row++) {
        const size_t j = row % s->grid.ny;
        for (size_t i = 0; i < s->grid.nx; i++) {
            int32_t *code = &s->cells.code[row * s->grid.nx + i];
            int outer[FLOOD_SIDES] = { 0 };
            for (int e = 0; e < s->grid.edges; e++) {
                long x, y;
                if (flood_beside(s, i, j, e, &x, &y))
                    continue;
                *code |= FLOOD_CLOSED << e;
                const int across_x = x < 0 ? FLOOD_LEFT : FLOOD_RIGHT, across_y = y < 0 ? FLOOD_BOTTOM : FLOOD_TOP;
                const bool out_x = x < 0 || x >= (long)s->grid.nx, out_y = y < 0 || y >= (long)s->grid.ny;
                const int side = out_x && (!out_y || s->side[across_x].kind != FLOOD_WALL) ? across_x : across_y;
                if (s->side[side].kind != FLOOD_WALL)
                    outer[side] |= FLOOD_OUTER << e;
            }
            for (int side = 0; side < FLOOD_SIDES; side++)
                if (outer[side]) {
                    *code |= outer[side] | side * FLOOD_SIDE | FLOOD_SPECIAL;
                    break;
                }
        }
    }
}

/* The ground under a row of cells. */
typedef struct ground_row {
    double low, high;
    bool gaps; /* cells without a height */
} ground_row;

/* The ground under rows of cells of all storeys. */
typedef struct ground_rows {
    flood *s;
    bool wall; /* cells without a height are walls */
    ground_row *row;
} ground_rows;

static void find_ground(void *user, size_t first, size_t end)
{
    const ground_rows *g = user;
    flood *s = g->s;
    for (size_t row = first; row < end; row++) {
        ground_row r = { HUGE_VAL, -HUGE_VAL, false };
        for (size_t i = 0; i < s->grid.nx; i++) {
            const double z = ground_at(s, i, row % s->grid.ny, row / s->grid.ny);
            if (isnan(z) && g->wall)
                s->cells.code[row * s->grid.nx + i] |= FLOOD_SOLID;
            r.gaps = r.gaps || isnan(z);
            r.low = fmin(r.low, z); /* leaves NaN out */
            r.high = fmax(r.high, z);
        }
        g->row[row] = r;
    }
}

/* The largest power of two of which beds and levels are multiples so that their sums and differences are exact: water
 * at rest then stays at rest in every bit. */
static double quantum_of(double most, bool is_double)
{
    int exponent;
    (void)frexp(most > 0 ? most : 1, &exponent);
    return ldexp(1, exponent - (is_double ? 53 : 24) + 2);
}

/* The file of a terrain, and what its numbers mean. */
static bn_status read_file(const bn_case *c, bn_plan *p, flood *s)
{
    if (s->ground.kind != FLOOD_TERRAIN)
        return BN_OK;
    if (bn_case_text(c, "bed.file")[0] == '\0')
        return bn_case_reject(c, "bed.kind", "bed.file = \"...\"", "a terrain needs a file");
    for (size_t k = 0; k < 2; k++)
        s->ground.shift[k] = bn_case_real_at(c, "bed.shift", k);
    s->ground.scale = bn_case_real(c, "bed.scale");
    s->ground.offset = bn_case_real(c, "bed.offset");
    return bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_TERRAIN, .key = "bed.file" }, &s->ground.terrain);
}

/* Rejects a cell without a height: outside of the terrain, or without data there. */
static void reject_missing(const bn_case *c, const flood *s, size_t at)
{
    const bn_input *t = s->ground.terrain;
    double x[2];
    flood_place_on_map(s, at % s->grid.nx, at / s->grid.nx, x);
    if (x[0] >= t->low[0] && x[1] >= t->low[1] && x[0] <= t->high[0] && x[1] <= t->high[1])
        (void)bn_case_reject(
            c, "bed.file", "bed.nodata = \"wall\"",
            "the terrain has no data at or beside (%.10g m, %.10g m), column %.0f, row %.0f from the north", x[0], x[1],
            floor((x[0] - t->low[0]) / t->h[0]) + 1, floor((t->high[1] - x[1]) / t->h[1]) + 1);
    else
        (void)bn_case_reject(
            c, "bed.file", "see bed.shift, grid.origin",
            "the terrain reaches from (%.10g m, %.10g m) to (%.10g m, %.10g m), the domain from (%.10g m, "
            "%.10g m) to (%.10g m, %.10g m)",
            t->low[0], t->low[1], t->high[0], t->high[1], s->grid.origin[0] + s->ground.shift[0],
            s->grid.origin[1] + s->ground.shift[1], s->grid.origin[0] + s->ground.shift[0] + s->grid.size[0],
            s->grid.origin[1] + s->ground.shift[1] + s->grid.size[1]);
}

/* Cells without a height are walls where the case says so; elsewhere than in a wall of the plan they reject it. */
static bn_status check_heights(const bn_case *c, flood *s, const ground_row *row)
{
    const size_t nx = s->grid.nx, layer = nx * s->grid.ny;
    for (size_t at = 0; at < layer; at++)
        if (!row[at / nx].gaps)
            at += nx - 1;
        else if (isnan(ground_at(s, at % nx, at / nx, 0)) && !(s->cells.code[at] & FLOOD_SOLID)) {
            reject_missing(c, s, at);
            return BN_OK;
        }
    for (size_t at = 0; s->grid.storeys > 1 && at < layer; at++) {
        const double above = flood_ground_at(s, at % nx, at / nx, 1), z = flood_ground_at(s, at % nx, at / nx, 0);
        if (!((s->cells.code[at] | s->cells.code[at + layer]) & FLOOD_SOLID) && z >= above)
            return bn_case_reject_item(c, "storey.height", 1, "heights of storeys count from the zero of the terrain",
                                       "storey 2: its floor at %g m lies in the ground, which is %g m high there",
                                       above, z);
    }
    return BN_OK;
}

bn_status flood_read_terrain(const bn_case *c, bn_plan *p, flood *s)
{
    const size_t layer = (size_t)s->grid.nx * s->grid.ny, points = layer * s->grid.storeys;
    read_ground(c, &s->ground);
    read_initial(c, &s->initial);
    if ((s->initial.kind == FLOOD_PLANAR || s->initial.kind == FLOOD_RADIAL) && s->ground.kind != FLOOD_BOWL)
        (void)bn_case_reject(c, "initial.kind", "bed.kind = \"bowl\"", "Thacker's waves need a paraboloid");
    if (s->initial.kind == FLOOD_RADIAL && bn_case_real(c, "initial.shift") >= bn_case_real(c, "bed.radius"))
        (void)bn_case_reject(c, "initial.shift", NULL, "Thacker's radial wave needs a radius below bed.radius");
    if (s->ground.kind == FLOOD_MACDONALD && !(s->side[FLOOD_LEFT].discharge > 0))
        (void)bn_case_reject(c, "bed.kind", "boundary.left.kind = \"inflow\"",
                             "this channel needs a discharge from the left");
    if (bn_case_diagnostics(c)[0])
        return BN_OK;
    BN_TRY(read_file(c, p, s));
    if (bn_plan_only_counts(p, (double)points)) {
        s->ground.quantum = 1;
        s->scheme.special = s->scheme.special || bn_case_items(c, "storey") > 0 || bn_case_items(c, "source") > 0 ||
                            bn_case_items(c, "drain") > 0 || bn_case_items(c, "culvert") > 0;
        return BN_OK;
    }
    BN_TRY(bn_plan_allocate(p, points * sizeof *s->cells.code, (void **)&s->cells.code));
    BN_TRY(bn_plan_allocate(p, s->grid.storeys * sizeof *s->ground.floor, (void **)&s->ground.floor));
    if (s->ground.kind == FLOOD_MACDONALD) {
        BN_TRY(bn_plan_allocate(p, 2 * s->grid.nx * sizeof *s->ground.macdonald, (void **)&s->ground.macdonald));
        for (size_t i = 0; i < 2 * s->grid.nx; i++)
            s->ground.macdonald[i] = macdonald_bed(s,
                                                   0.5 * ((double)i + (s->grid.edges == 6 ? 0.5 : 1)) * s->grid.h[0]);
    }
    double most = fmax(fabs(bn_case_real(c, "initial.level")), fabs(bn_case_real_at(c, "initial.levels", 0)));
    most = fmax(most, fabs(bn_case_real_at(c, "initial.levels", 1)));
    for (int side = 0; side < FLOOD_SIDES; side++)
        most = fmax(most, fabs(s->side[side].level));
    const size_t rows = (size_t)s->grid.ny * s->grid.storeys;
    ground_row *row = malloc(rows * sizeof *row);
    bn_status st = BN_OK;
    if (!row)
        return bn_fail(bn_plan_context(p), BN_MEMORY, "no memory for the ground");
    for (size_t k = 0; k < s->grid.storeys; k++)
        s->ground.floor[k] = k < bn_case_items(c, "storey") ? bn_case_item_real(c, "storey.height", k) : 0;
    bn_parallel_rows(rows, s->grid.nx, find_ground,
                     &(ground_rows){ s, bn_case_choice(c, "bed.nodata") == FLOOD_WALL_NODATA, row });
    double low = HUGE_VAL;
    for (size_t at = 0; at < rows; at++) {
        most = row[at].low <= row[at].high ? fmax(most, fmax(-row[at].low, row[at].high)) : most;
        low = at < s->grid.ny ? fmin(low, row[at].low) : low;
    }
    s->ground.quantum = quantum_of(most, bn_case_double(c));
    s->ground.lowest = isfinite(low) ? s->ground.quantum * rint(low / s->ground.quantum) : 0;
    bn_parallel_rows(rows, s->grid.nx, code_sides, s);
    BN_GO(flood_code_plans(c, p, s));
    flood_lengthen(s);
    if (s->ground.terrain && !bn_case_diagnostics(c)[0])
        st = check_heights(c, s, row);
out:
    free(row);
    return st;
}

/* Argument of the fillers of initial values. */
typedef struct start {
    const bn_case *c;
    const flood *s;
} start;

/* The water of a cell at the start; waves are those of the lowest storey. */
static flood_exact start_of(const start *w, size_t i, size_t j, size_t k)
{
    const flood *s = w->s;
    const size_t at = (k * s->grid.ny + j) * s->grid.nx + i;
    flood_exact e = { .h = 0 };
    double x[2];
    const bool anywhere = s->initial.kind == FLOOD_LEVEL_START || s->initial.kind == FLOOD_DEPTH_START;
    const long long storey = s->initial.storey;
    if ((s->cells.code[at] & FLOOD_SOLID) || (anywhere ? storey > 0 && k + 1 != (size_t)storey : k > 0))
        return e;
    flood_place(s, i, j, x);
    if (s->initial.kind == FLOOD_PLANAR || s->initial.kind == FLOOD_RADIAL)
        (void)flood_solution(w->c, s, x, 0, &e);
    else if (s->initial.kind == FLOOD_DEPTH_START)
        e.h = fmax(0, s->ground.quantum * rint(s->initial.level / s->ground.quantum));
    else if (s->initial.kind != FLOOD_DRY_START)
        e.h = fmax(0, s->ground.quantum * rint(level_at(s, x) / s->ground.quantum) - flood_ground_at(s, i, j, k));
    return e;
}

/* A region on its way to a field. */
enum { START_DEPTH, START_VELOCITY, START_BED };
typedef struct start_rows {
    const start *w;
    int what;
    const bn_region *r;
    double *values;
} start_rows;

static void find_start(void *user, size_t first, size_t end)
{
    const start_rows *t = user;
    const bn_region *r = t->r;
    const size_t points = bn_region_points(r);
    for (size_t row = first; row < end; row++)
        for (size_t column = 0; column < r->n[0]; column++) {
            const size_t i = r->first[0] + column, j = r->first[1] + row % r->n[1], k = r->first[2] + row / r->n[1];
            double *value = t->values + row * r->n[0] + column;
            if (t->what == START_BED) {
                *value = flood_ground_at(t->w->s, i, j, k);
                continue;
            }
            const flood_exact e = start_of(t->w, i, j, k);
            value[0] = t->what == START_VELOCITY ? e.u : e.h;
            if (t->what == START_VELOCITY)
                value[points] = e.v;
        }
}

static bn_status fill(void *user, const bn_region *r, void *to)
{
    start_rows t = *(const start_rows *)user;
    t.r = r;
    t.values = to;
    bn_parallel_rows((size_t)r->n[1] * r->n[2], r->n[0], find_start, &t);
    return BN_OK;
}

static double never(const double x[3], const void *user)
{
    (void)x, (void)user;
    return -1;
}

bn_status flood_add_up(void *sum, int component, const bn_region *r, const void *values)
{
    const double *value = values;
    (void)component;
    for (size_t at = 0; at < bn_region_points(r); at++)
        *(double *)sum += value[at];
    return BN_OK;
}

bn_status flood_fill(bn_sim *sim, flood *s)
{
    const size_t points = (size_t)s->grid.nx * s->grid.ny * s->grid.storeys;
    start w = { bn_sim_case(sim), s };
    BN_TRY(bn_field_supply(s->f.depth, BN_AS_DOUBLES, fill, &(start_rows){ &w, START_DEPTH, NULL, NULL }));
    BN_TRY(bn_field_zero(s->f.velocity));
    if (s->initial.kind == FLOOD_PLANAR || s->initial.kind == FLOOD_RADIAL)
        BN_TRY(bn_field_supply(s->f.velocity, BN_AS_DOUBLES, fill, &(start_rows){ &w, START_VELOCITY, NULL, NULL }));
    BN_TRY(bn_field_copy(s->f.depth, s->f.next_depth));
    BN_TRY(bn_field_copy(s->f.velocity, s->f.next_velocity));
    BN_TRY(bn_field_supply(s->f.bed, BN_AS_DOUBLES, fill, &(start_rows){ &w, START_BED, NULL, NULL }));
    BN_TRY(bn_field_write(s->f.cell, s->cells.code, points * sizeof *s->cells.code));
    s->now.start_volume = 0;
    BN_TRY(bn_field_visit(s->f.depth, BN_AS_DOUBLES, flood_add_up, &s->now.start_volume));
    s->now.start_volume *= s->grid.area;
    if (s->f.rest) {
        BN_TRY(bn_field_zero(s->f.rest));
        BN_TRY(bn_field_zero(s->f.next_rest));
    }
    BN_TRY(flood_fill_surface(sim, s));
    if (s->scheme.special)
        BN_TRY(bn_field_zero(s->f.outflow));
    if (!s->scheme.record)
        return BN_OK;
    BN_TRY(bn_field_zero(s->f.deepest));
    BN_TRY(bn_field_zero(s->f.hazard));
    return bn_field_fill(s->f.arrival, never, NULL);
}
