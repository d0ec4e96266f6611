/* drawing.h: what is drawn over the colours of a field: the lines of a plan, and what stands in it. */
#ifndef BN_DRAWING_H
#define BN_DRAWING_H

#include <stddef.h>

typedef enum bn_drawn_kind {
    BN_DRAWN_WALL,
    BN_DRAWN_DOOR,
    BN_DRAWN_STAIR,
    BN_DRAWN_OPENING,
    BN_DRAWN_SOURCE,
    BN_DRAWN_DRAIN,
    BN_DRAWN_CULVERT,
    BN_DRAWN_COUNT
} bn_drawn_kind;

typedef struct bn_drawn_line {
    double ends[4]; /* x, y of both [m] */
    bn_drawn_kind kind;
} bn_drawn_line;

typedef struct bn_drawing {
    const double (*solid)[2]; /* closed lines, a NaN behind each [m]: solid is what an odd number of them surrounds */
    size_t solid_count;
    const bn_drawn_line *lines;
    size_t line_count;
    const double (*gauges)[3]; /* x, y [m], number */
    size_t gauge_count;
} bn_drawing;

/* Values from `from` on, as far as the next class goes; the first class has all below, too. */
typedef struct bn_value_class {
    double from;
    unsigned rgb; /* 0xRRGGBB */
    const char *name;
} bn_value_class;

#endif
