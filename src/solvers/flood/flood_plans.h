/* flood_plans.h: floor plans, from pictures (flood_storeys.c) and from polygons (flood_polygons.c), and what stands on
 * them. */
#ifndef BN_FLOOD_PLANS_H
#define BN_FLOOD_PLANS_H

#include "flood.h"

#define FLOOD_MEANINGS(X)   \
    X(FLOOR, "floor")       \
    X(WALL, "wall")         \
    X(OBSTACLE, "obstacle") \
    X(DOOR, "door")         \
    X(STAIR, "stair") X(OPENING, "opening") X(SOURCE, "source") X(DRAIN, "drain")
typedef enum meaning { FLOOD_MEANINGS(BN_CHOICE_ENUM) MEANINGS } meaning;
enum { LEGEND_MAX = 64 };

/* What [[history]] is of: the sides in the order of flood_side, a source, the rain. */
#define FLOOD_HISTORIES(X)    \
    X(HISTORY_LEFT, "left")   \
    X(HISTORY_RIGHT, "right") \
    X(HISTORY_BOTTOM, "bottom") X(HISTORY_TOP, "top") X(HISTORY_SOURCE, "source") X(HISTORY_RAIN, "rain")
typedef enum flood_history { FLOOD_HISTORIES(BN_CHOICE_ENUM) } flood_history;

typedef struct legend {
    unsigned char rgb[3];
    bool coloured;
    const char *name; /* of polygons; "": of a colour only */
    meaning kind;
    double rate, width, coefficient;
    bool open;
} legend;

struct flood_plans {
    legend entry[LEGEND_MAX + MEANINGS]; /* the words of the meanings stand behind those of the case */
    size_t count;
    uint32_t width, height;     /* pixels of each picture */
    double pixel, corner[2];    /* [m]; of the pictures, from the corner of the domain */
    const unsigned char **rgb;  /* of each storey; NULL: no picture */
    unsigned char **index;      /* place in the legend of each pixel */
    const bn_input **shapes;    /* of each storey; NULL: no polygons */
    unsigned char **meaning_of; /* place in the legend of each shape */
};

bool flood_blocks_water(const legend *);

/* [[history]]: rows that contradict each other or the case reject it. */
void flood_check_histories(const bn_case *, const flood *);

/* Reads a storey's polygons and finds them in the legend. A meaning that isn't there rejects the case. */
bn_status flood_read_shapes(const bn_case *, bn_plan *, flood *, size_t storey);

/* Walls of a storey of polygons: cells whose middle is not open are solid, between two others nothing passes where the
 * way between their middles is not. */
bn_status flood_code_shapes(const bn_case *, bn_plan *, flood *, size_t storey);

/* Stairs, openings, sources and drains of a storey of polygons, each shape a patch. */
bn_status flood_code_shape_patches(const bn_case *, bn_plan *, flood *, size_t storey);

/* The keys of a list of places: [[source]], [[drain]]. */
typedef struct flood_place_keys {
    const char *list, *storey, *at, *radius, *rate;
} flood_place_keys;
extern const flood_place_keys flood_source_keys, flood_drain_keys;

/* [[source]], [[drain]] and [[culvert]]: the cells at their places. */
void flood_code_places(const bn_case *, flood *);
/* The cell nearest to a place of a storey that is not solid, or (`any`) of any kind; `taken`: and has no item. Its
 * distance. */
double flood_find_nearest(const flood *, size_t storey, const double x[2], bool any, bool taken, size_t *nearest);

/* The pixel of a storey's picture at a place; false: outside of the plan. */
bool flood_pixel_at(const struct flood_plans *, const double x[2], size_t *column, size_t *row);

/* Adds what cells share; false: there are FLOOD_ITEMS already. */
bool flood_add_item(flood *, const flood_item *);

/* Gives the cells of a patch their item, and of a link the storey below its end; `where` names the patch in messages,
 * NULL: by pixels. */
void flood_code_patch(const bn_case *, flood *, size_t storey, const legend *, const size_t *list, size_t count,
                      const char *where);

#endif
