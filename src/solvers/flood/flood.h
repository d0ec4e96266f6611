/* flood.h: what the files of `flood` share: the case in numbers, the codes of cells, exact solutions. */
#ifndef BN_FLOOD_H
#define BN_FLOOD_H

#include "sim/solver.h"

/* A cell's code. Edges count from the one to the east, counter-clockwise: six of a hexagon, four of a square. The
 * kernels get these numbers as constants. */
enum {
    FLOOD_CLOSED = 1,       /* << edge: nothing passes */
    FLOOD_SOLID = 1 << 6,   /* no floor for water: a wall or an obstacle */
    FLOOD_SPECIAL = 1 << 7, /* anything below */
    FLOOD_OUTER = 1 << 8,   /* << edge: leads out of the domain, through an open side */
    FLOOD_DOWN = 1 << 14,   /* * flood_link: to the cell below */
    FLOOD_UP = 1 << 16,     /* * flood_link: of the cell above to this one */
    FLOOD_SIDE = 1 << 18,   /* * side: of the outer edges */
    FLOOD_ITEM = 1 << 20,   /* * (1 + item): a source, a drain, the measure of a link down */
    FLOOD_ITEMS = 255,
    FLOOD_DRAIN = 1 << 28, /* the item takes water away */
    FLOOD_LONGER =
        29, /* bits from this one on: of the edges that the cell owns, whether they are longer by a quarter */
};
typedef enum flood_link { FLOOD_NO_LINK, FLOOD_STAIR, FLOOD_OPENING } flood_link;
typedef enum flood_side { FLOOD_LEFT, FLOOD_RIGHT, FLOOD_BOTTOM, FLOOD_TOP, FLOOD_SIDES } flood_side;
typedef enum flood_border { FLOOD_WALL, FLOOD_OPEN, FLOOD_INFLOW, FLOOD_LEVEL } flood_border; /* order of the choices */
typedef enum flood_bed {
    FLOOD_FLAT,
    FLOOD_SLOPE,
    FLOOD_LAKE,
    FLOOD_RANDOM,
    FLOOD_BUMP,
    FLOOD_BOWL,
    FLOOD_MACDONALD,
    FLOOD_TERRAIN
} flood_bed;
typedef enum flood_start {
    FLOOD_DRY_START,
    FLOOD_LEVEL_START,
    FLOOD_DEPTH_START,
    FLOOD_DAM,
    FLOOD_CIRCLE,
    FLOOD_PLANAR,
    FLOOD_RADIAL
} flood_start;

/* Values that steps read from a table: two for each side (discharge and critical depth, or the level), one an item. */
enum { FLOOD_ITEM_VALUES = 2 * FLOOD_SIDES, FLOOD_VALUES = FLOOD_ITEM_VALUES + FLOOD_ITEMS };

/* The clock on the device: three slots that steps use in turn (kernels/flood.cl). */
enum { FLOOD_SLOTS = 3, FLOOD_SLOT = 8, CLOCK_LEFT = 1, CLOCK_STEPS = 2, CLOCK_WISH = 3, CLOCK_SPEED = 4 };

typedef struct flood_constants {
    double g, dry, edge, reach, dt_max, friction, wet, weir; /* edge: length over area [m-1]; reach: dt times wave speed
                                                     [m]; friction: g n^2 */
} flood_constants;

typedef enum flood_item_kind {
    FLOOD_ITEM_SOURCE,
    FLOOD_ITEM_DRAIN,
    FLOOD_ITEM_STAIR,
    FLOOD_ITEM_OPENING
} flood_item_kind;

/* What cells share: a source or a drain [m3/s], the crest of a stair [m], the coefficient of an opening. */
typedef struct flood_item {
    flood_item_kind kind;
    double rate;
    size_t cells;
} flood_item;

/* What the ground and the start are made of; read once, asked for every cell. */
typedef struct flood_shapes {
    double slope[2], amplitude, radius, depth, level, levels[2], circle;
    uint64_t seed;
    bool along_x;
    long long storey;
} flood_shapes;

typedef struct flood {
    uint32_t nx, ny, storeys;
    int edges, order, registers;
    double d, h[2], area, size[2]; /* distance of centres; spacing; of a cell; of the domain [m] */
    double origin[2];              /* of the domain's lower left corner, in the coordinates of the case [m] */
    bool periodic[2];
    flood_constants k;
    flood_bed bed_kind;
    flood_shapes shapes;
    flood_start start;
    flood_border border[FLOOD_SIDES];
    double discharge[FLOOD_SIDES], level[FLOOD_SIDES]; /* [m2/s], [m] */
    double interval;                                   /* [s] */
    bool jagged, special, links, record, all_blocks, compensated;
    double left_out; /* what a block that is left out costs, of one that is computed */
    bool shared, packed,
        numbered;   /* fluxes by the two cells of an edge; state of a cell in one place; neighbours looked up */
    double quantum; /* beds and levels are multiples of it */
    struct flood_plans *plans;
    flood_item *item; /* [[source]] first */
    int items;
    int32_t *cell;                                          /* codes of all cells */
    double *bed;                                            /* [m] */
    const bn_input *terrain;                                /* of the lowest storey; NULL: none */
    double terrain_shift[2], terrain_scale, terrain_offset; /* [m]; height = scale * value + offset */
    double *exact_bed; /* of the steady flow of MacDonald's type, one value a column; NULL: none */
    bool *solid;       /* cells drawn as walls; NULL: none */

    bn_field *depth, *velocity, *bed_field, *cell_field, *next_depth, *next_velocity, *gone;
    bn_field *rest, *next_rest; /* by how much rounding has made the depths too large */
    bn_field *arrival, *deepest, *hazard;
    bn_field *half_depth, *half_velocity; /* of second order: half a time step later */
    bn_field *state, *next_state, *near;  /* packed: depth, velocity and bed of cells; places of neighbours */
    bn_kernel *begin, *predict, *advance, *pack, *unpack;
    bn_partials *blocks;
    bn_scalars *clock;
    bn_device_array *table;
    double values[FLOOD_VALUES];
    bool values_known;
    unsigned slot;
    double wish;  /* time step that the last step would have liked */
    double water; /* sum of all depths, where reading the clock brings it along */
    bool water_known;
    double start_volume, fed;           /* [m3] */
    size_t gauges, gauge_count, *gauge; /* places in the fields; rows read so far */
    bool gauge_speeds;
    double *gauge_rows;            /* time, depths, and speeds if wanted; freed by teardown */
    unsigned long long time_steps; /* since the start */
    void *reference;
} flood;

/* One time step of whichever engine, after which s->depth and s->velocity are the new state: slot of the clock, seconds
 * to go if an interval begins (else 0), its end. */
typedef bn_status flood_advance(flood *, unsigned slot, double refill, double end);
typedef bn_status flood_read_clock(flood *, unsigned slot, double out[FLOOD_SLOT]);

/* What a checkpoint needs beside the fields; and, coming back, the fields that the next step is written to: dry blocks
 * leave them as they are. */
BN_CHECKED bn_status flood_serialize(bn_sim *, void *state, bn_checkpoint_state *);
BN_CHECKED bn_status flood_take_up(flood *s);

/* An interval of simulated time, by as many time steps as it takes. */
bn_status flood_interval(bn_sim *sim, flood *s, flood_advance *advance, flood_read_clock *read, bn_step *out);

/* Place of a cell's centre [m], from the corner of the domain. */
void flood_place(const flood *, size_t i, size_t j, double x[2]);

/* The cell beside another one of the same storey; false: outside. */
bool flood_beside(const flood *, size_t i, size_t j, int edge, long *x, long *y);

/* Plans of the storeys, which decide the size of the grid; later what they mean for the cells. */
bn_status flood_read_plans(const bn_case *, bn_plan *, flood *);
bn_status flood_code_plans(const bn_case *, bn_plan *, flood *);

/* Walls between cells with floor on both sides, thinner than a cell, so that no cell is solid there: the edges that
 * they close, x and y of both ends [m], kept by the plan. */
typedef struct flood_thin_walls {
    const double (*ends)[4];
    size_t count;
} flood_thin_walls;
BN_CHECKED bn_status flood_find_thin_walls(bn_plan *, const flood *, size_t storey, flood_thin_walls *out);
/* Lengthens edges that end at walls of hexagon edges. */
void flood_lengthen(flood *);

/* Mean of what [[history]] says of a side (0 ... 3) or source (4, counted from 1) from `begin` to `end`; `constant`
 * where it says nothing. */
double flood_mean(const bn_case *, int of, long long source, double begin, double end, double constant);

/* Bed and codes of the cells; their start. */
bn_status flood_read_terrain(const bn_case *, bn_plan *, flood *);
bn_status flood_fill(bn_sim *, flood *);

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

extern const bn_engine flood_device, bn_flood_reference_single, bn_flood_reference_double;

#endif
