/* flood.h: what the files of `flood` share: the case in numbers, codes of cells, fields, exact solutions. */
#ifndef BN_FLOOD_H
#define BN_FLOOD_H

#include "sim/solver.h"

/* Constants of the steps (sim/solver.h). */
#define FLOOD_CONSTANTS(X)                                          \
    X(g, "gravity [m s-2]")                                         \
    X(dry, "depth up to which water does not move [m]")             \
    X(edge_per_area, "length of an edge over area of a cell [m-1]") \
    X(cfl_length, "time step times wave speed [m]")                 \
    X(dt_max, "longest time step [s]")                              \
    X(gn2, "gravity times the square of Manning's roughness")       \
    X(wet, "depth from which on water has arrived [m]")             \
    X(weir, "(2/3)^1.5 times the root of gravity")
typedef struct flood_constants {
    FLOOD_CONSTANTS(BN_CONSTANT_MEMBER)
} flood_constants;

/* The bits of a cell, the entries of the table of values and those of the clock. Edges count from the one to the east,
 * counter-clockwise: six of a hexagon, four of a square. */
#define FLOOD_CODES(X)                                                                                        \
    X(CLOSED, 1, "<< edge: nothing passes")                                                                   \
    X(SOLID, 1 << 6, "no floor for water: a wall or an obstacle")                                             \
    X(SPECIAL, 1 << 7, "anything below but LONGER")                                                           \
    X(OUTER, 1 << 8, "<< edge: leads out of the domain, through an open side")                                \
    X(DOWN, 1 << 14, "times STAIR or OPENING: to the cell below")                                             \
    X(UP, 1 << 16, "likewise: of the cell above to this one")                                                 \
    X(SIDE, 1 << 18, "times side: of the outer edges")                                                        \
    X(ITEM, 1 << 20, "times (1 + item): a source, a drain, the measure of a link down")                       \
    X(ITEMS, 255, "items at most")                                                                            \
    X(DRAIN, 1 << 28, "the item takes water away")                                                            \
    X(LONGER, 29, "first of the bits of the edges that the cell owns: longer by a quarter")                   \
    X(STAIR, 1, "a link")                                                                                     \
    X(OPENING, 2, "a link")                                                                                   \
    X(CULVERT, 3, "in place of a link down: an end of a culvert")                                             \
    X(ITEM_VALUES, 8, "first value of items; before them two a side: discharge and critical depth, or level") \
    X(RAIN_RATE, 8 + 255, "value: depth of rain in a second [m s-1]")                                         \
    X(RAIN_LATELY, 8 + 256, "value: not 0 if it rains in this interval or did in the one before")             \
    X(LAND_VALUES, 8 + 257, "first value of the classes of land cover")                                       \
    X(LAND_VALUE, 3, "values of a class: g n^2, conductivity, suction times lack of moisture")                \
    X(LANDS, 64, "classes at most, the first one without a number")                                           \
    X(MORE_VALUES, 8 + 257 + 3 * 64, "first of the further values of the items")                              \
    X(MORE_VALUE, 6, "of an item: flood_places.c says what they are")                                         \
    X(SLOTS, 3, "of the clock: step n reads slot n % SLOTS")                                                  \
    X(SLOT, 8, "entries of a slot:")                                                                          \
    X(CLOCK_SPEED_BITS, 0, "the bits of the largest speed as a float, by atomic maxima")                      \
    X(CLOCK_LEFT, 1, "seconds left of the interval")                                                          \
    X(CLOCK_STEPS, 2, "steps of the interval")                                                                \
    X(CLOCK_ALLOWED, 3, "time step without the end of the interval [s]")                                      \
    X(CLOCK_SPEED, 4, "the largest speed once more, as a real")                                               \
    X(CLOCK_ENDS, 3 * 8, "first of two of each item in each slot: depth at an end of a culvert, what went in")
#define FLOOD_CODE_ENUM(name, value, meaning) FLOOD_##name = value,
enum { FLOOD_CODES(FLOOD_CODE_ENUM) };

typedef enum flood_side { FLOOD_LEFT, FLOOD_RIGHT, FLOOD_BOTTOM, FLOOD_TOP, FLOOD_SIDES } flood_side;
enum { FLOOD_VALUES = FLOOD_MORE_VALUES + FLOOD_MORE_VALUE * FLOOD_ITEMS };

/* Choices of the case. */
#define FLOOD_BORDERS(X)  \
    X(FLOOD_WALL, "wall") \
    X(FLOOD_OPEN, "open") X(FLOOD_INFLOW, "inflow") X(FLOOD_LEVEL, "level") X(FLOOD_NORMAL, "normal")
#define FLOOD_BEDS(X)         \
    X(FLOOD_FLAT, "flat")     \
    X(FLOOD_SLOPE, "slope")   \
    X(FLOOD_LAKE, "lake")     \
    X(FLOOD_RANDOM, "random") \
    X(FLOOD_BUMP, "bump") X(FLOOD_BOWL, "bowl") X(FLOOD_MACDONALD, "macdonald") X(FLOOD_TERRAIN, "terrain")
#define FLOOD_STARTS(X)           \
    X(FLOOD_DRY_START, "dry")     \
    X(FLOOD_LEVEL_START, "level") \
    X(FLOOD_DEPTH_START, "depth") \
    X(FLOOD_DAM, "dam") X(FLOOD_CIRCLE, "circle") X(FLOOD_PLANAR, "planar") X(FLOOD_RADIAL, "radial")
#define FLOOD_CELL_KINDS(X) X(FLOOD_HEXAGONS, "hexagon") X(FLOOD_SQUARES, "square")
#define FLOOD_NODATA(X) X(FLOOD_REJECT_NODATA, "reject") X(FLOOD_WALL_NODATA, "wall")
#define FLOOD_AXES(X) X(FLOOD_ALONG_X, "x") X(FLOOD_ALONG_Y, "y")
#define FLOOD_EDGES(X) X(FLOOD_EDGES_ONCE, "once") X(FLOOD_EDGES_TWICE, "twice")
typedef enum flood_border { FLOOD_BORDERS(BN_CHOICE_ENUM) } flood_border;
typedef enum flood_bed { FLOOD_BEDS(BN_CHOICE_ENUM) } flood_bed;
typedef enum flood_start { FLOOD_STARTS(BN_CHOICE_ENUM) } flood_start;
enum { FLOOD_CELL_KINDS(BN_CHOICE_ENUM) };
enum { FLOOD_NODATA(BN_CHOICE_ENUM) };
enum { FLOOD_AXES(BN_CHOICE_ENUM) };
enum { FLOOD_EDGES(BN_CHOICE_ENUM) };

typedef enum flood_item_kind {
    FLOOD_ITEM_SOURCE,
    FLOOD_ITEM_DRAIN,
    FLOOD_ITEM_STAIR,
    FLOOD_ITEM_OPENING,
    FLOOD_ITEM_CULVERT
} flood_item_kind;

/* What cells share: a source or a drain [m3/s], the crest of a stair [m], the coefficient of an opening; the width of a
 * culvert [m], of each end one cell. */
typedef struct flood_item {
    flood_item_kind kind;
    double rate;
    size_t cells;
    double more[FLOOD_MORE_VALUE];
    size_t at; /* the cell of an end of a culvert */
} flood_item;

typedef struct flood_grid {
    uint32_t nx, ny, storeys;
    int edges;                     /* of a cell: 6 or 4 */
    double d, h[2], area, size[2]; /* distance of centres; spacing; of a cell; of the domain [m] */
    double origin[2];              /* of the domain's lower left corner, in the coordinates of the case [m] */
    bool periodic[2];
} flood_grid;

typedef struct flood_scheme {
    int order, registers;
    size_t group_blocks; /* above each other, of a work-group */
    uint32_t ahead;      /* cells of a device whose fluxes are there before the time step; 0: none */
    bool shared;         /* fluxes are handed on to the other cell of an edge */
    bool jagged;         /* some edges are longer */
    bool special, links; /* there are special cells; some of them are links */
    bool record;
    bool friction, rain, soil; /* somewhere */
    bool compensated;          /* what rounding of the depths leaves over is kept */
    bool values;               /* the steps read any */
    double interval;           /* [s] */
    double skipped_cost;       /* of a block that is left out, over that of one that is computed */
} flood_scheme;

/* The ground; read once, asked for every cell. */
typedef struct flood_ground {
    flood_bed kind;
    double slope[2], amplitude, radius, depth;
    uint64_t seed;
    double quantum;                 /* beds and levels are multiples of it */
    double *floor;                  /* height of each storey [m] */
    double lowest;                  /* of the terrain, and what cells without a height have, which are walls */
    const bn_input *terrain;        /* of the lowest storey; NULL: none */
    double shift[2], scale, offset; /* of the terrain [m]; height = scale * value + offset */
    double *macdonald;              /* of the steady flow of MacDonald's type, two values a column; NULL: none */
} flood_ground;

typedef struct flood_initial {
    flood_start kind;
    double level, levels[2], circle;
    bool along_x;
    long long storey;
} flood_initial;

typedef struct flood_boundary {
    flood_border kind;
    double discharge, level, slope; /* [m2/s], [m] */
} flood_boundary;

/* Of all cells, kept by the plan. */
typedef struct flood_cells {
    int32_t *code;
    bool *solid;      /* cells drawn as walls; NULL: none */
    flood_item *item; /* [[source]] first */
    int items;
    bool culverts;
} flood_cells;

typedef struct flood_fields {
    bn_field *depth, *velocity, *bed, *cell, *next_depth, *next_velocity;
    bn_field *rest, *next_rest;     /* by how much rounding has made depths, and what soaked, too large; or NULL */
    bn_field *rain_share, *land;    /* of the rain that a cell gets; class of its land cover; NULL: none */
    bn_field *soaked, *next_soaked; /* depth that the ground has taken; NULL: it takes none */
    bn_field *half_depth, *half_velocity; /* of second order: half a time step later */
    bn_field *rates;                      /* sums of fluxes that are there before the time step; NULL: none */
    bn_field *outflow;                    /* of special cells: sum and what its rounding left over */
    bn_field *arrival, *deepest, *hazard; /* records */
} flood_fields;

typedef struct flood_device {
    bn_kernel *begin, *predict, *rates, *advance;
    bn_partials *blocks;
    bn_scalars *clock;
    bn_device_array *values;
} flood_device;

/* What changes from interval to interval. */
typedef struct flood_progress {
    unsigned slot;               /* of the clock */
    double dt_allowed;           /* what the waves allowed the last step [s] */
    double values[FLOOD_VALUES]; /* discharges, levels and rates of the interval */
    bool values_known;
    /* Sum of all depths, and how many cells are deeper than `above`, unless it is NaN: where reading the clock brings
     * them along. */
    double water, wet, above;
    bool sums_known;
    double culverts[FLOOD_ITEMS];  /* water on its way into the cell of the other end [m] */
    double start_volume, fed;      /* [m3] */
    double rained;                 /* [m3] */
    unsigned long long time_steps; /* since the start */
} flood_progress;

/* What falls on the ground and what covers it. */
typedef struct flood_surface {
    double rate;            /* of the rain, unless a history tells [m s-1] */
    const bn_input *share;  /* of the rain, by place; NULL: 1 */
    const bn_input *covers; /* numbers of classes, by place; NULL: one class */
    struct {
        long long code;
        double gn2, conductivity, suction; /* [m s-1]; times the lack of moisture [m] */
    } land[FLOOD_LANDS];
    int lands;
    double rained_on; /* sum of the shares of all cells, times their area [m2] */
} flood_surface;

typedef struct flood_gauges {
    size_t count, rows, *place; /* gauges; rows read so far; elements of the fields */
    bool speeds;
    double *values; /* of each row: time, depths, and speeds if wanted; freed by teardown */
} flood_gauges;

typedef struct flood {
    flood_grid grid;
    flood_constants k;
    flood_scheme scheme;
    flood_ground ground;
    flood_initial initial;
    flood_boundary side[FLOOD_SIDES];
    flood_surface surface;
    struct flood_plans *plans;
    flood_cells cells;
    flood_fields f;
    flood_device device;
    flood_progress now;
    flood_gauges gauges;
    void *reference;
} flood;

/* One time step of whichever engine, after which s->f.depth and s->f.velocity are the new state: slot of the clock,
 * seconds to go if an interval begins (else 0), its end. Reading the clock finds what is in the culverts, too. */
typedef bn_status flood_advance(flood *, unsigned slot, double refill, double end);
typedef bn_status flood_read_clock(flood *, unsigned slot, double out[FLOOD_SLOT]);

/* What a checkpoint needs beside the fields; and, coming back, the fields that the next step is written to: dry blocks
 * leave them as they are. */
BN_CHECKED bn_status flood_serialize(bn_sim *, void *state, bn_checkpoint_state *);
BN_CHECKED bn_status flood_copy_state(flood *s);

/* An interval of simulated time, by as many time steps as it takes. */
bn_status flood_interval(bn_sim *sim, flood *s, flood_advance *advance, flood_read_clock *read, bn_step *out);

/* Place of a cell's centre [m], from the corner of the domain. */
void flood_place(const flood *, size_t i, size_t j, double x[2]);
/* The same in the coordinates of terrain and other maps. */
void flood_place_on_map(const flood *, size_t i, size_t j, double x[2]);
/* Height of the ground or floor of a cell of storey k, a multiple of ground.quantum [m]. */
double flood_ground_at(const flood *, size_t i, size_t j, size_t k);

/* The cell beside another one of the same storey; false: outside. */
bool flood_beside(const flood *, size_t i, size_t j, int edge, long *x, long *y);

/* Plans of the storeys, which decide the size of the grid; later what they mean for the cells. */
bn_status flood_read_plans(const bn_case *, bn_plan *, flood *);
bn_status flood_code_plans(const bn_case *, bn_plan *, flood *);

/* What pictures of a storey show of its plan and of the case: walls as they are drawn there, doors, stairs, sources,
 * gauges; kept by the plan. */
BN_CHECKED bn_status flood_draw_storey(const bn_case *, bn_plan *, const flood *, size_t storey, bn_drawing *out);
/* Lengthens edges that end at walls of hexagon edges. */
void flood_lengthen(flood *);

/* Mean of what [[history]] says of a side (0 ... 3) or source (4, counted from 1) from `begin` to `end`; `constant`
 * where it says nothing. */
double flood_mean(const bn_case *, int of, long long source, double begin, double end, double constant);

/* A visitor of fields: adds up values as the field holds them, rounded to its precision; `sum` is a double. */
bn_status flood_add_up(void *sum, int component, const bn_region *, const void *values);

/* Bed and codes of the cells; their start. */
bn_status flood_read_terrain(const bn_case *, bn_plan *, flood *);
bn_status flood_fill(bn_sim *, flood *);

/* Rain, infiltration and land cover: what the case says; the values that steps read of them; their fields. */
bool flood_rains(const bn_case *);
bn_status flood_read_surface(const bn_case *, bn_plan *, flood *);
void flood_surface_values(const bn_case *, const flood *, double begin, double end, double values[FLOOD_VALUES]);
BN_CHECKED bn_status flood_fill_surface(bn_sim *, flood *);

/* The exact depth and velocity at a place and time, where the case has a closed form; false where it has none. */
typedef struct flood_exact {
    double h, u, v;
} flood_exact;
bool flood_solution(const bn_case *, const flood *, const double x[2], double t, flood_exact *out);
bool flood_has_solution(const bn_case *, const flood *);

/* [[gauge]]: where they stand; a row after each interval; tables of the results. */
bn_status flood_plan_gauges(const bn_case *, bn_plan *, flood *);
size_t flood_gauge_width(const flood *); /* values of a row: time, depths, speeds */
bn_status flood_read_gauges(bn_sim *, flood *, double time);
bn_status flood_put_tables(bn_sim *, const flood *, bn_results *);

bn_status flood_plan_results(const bn_case *, const flood *, bn_plan *);
bn_status flood_measure(bn_sim *, void *state, bn_results *);

extern const bn_engine flood_device_engine, bn_flood_reference_single, bn_flood_reference_double;

#endif
