/* picture_type.h: what a picture of a 2-D field shows. */
#ifndef BN_PICTURE_TYPE_H
#define BN_PICTURE_TYPE_H

#include "io/drawing.h"
#include "plot/colour_maps.h"

#include <stdbool.h>
#include <stddef.h>

/* Lines of equal value drawn over the colours: of the field itself or of another one (stream function over vorticity).
 */
typedef struct bn_contours {
    const double *values; /* n[0] * n[1] values, x fastest; NULL: no lines */
    const double *levels; /* ascending; NULL: at most `count` round ones between smallest and largest */
    size_t count;
    const char *label; /* "psi [m2 s-1]", named under the picture where there is a line; may be NULL */
    bool outlines;     /* borders of what is there: no numbers at the lines */
    bool arrows; /* no lines: `values` are directions [rad] of arrows that are as long as the picture's values say */
} bn_contours;

/* A dashed line from side to side of the frame, upright at a place on the first axis or level at one on the second. */
typedef struct bn_marked_line {
    bool upright;
    double at; /* [m] */
    const char *label;
} bn_marked_line;

typedef struct bn_picture {
    uint32_t n[2];          /* values along x and y; y points up in the picture */
    double origin[2], h[2]; /* place of the first value and spacing, in metres */
    bool nodes;             /* values at nodes: the frame ends at the outermost; else at cell edges */
    const double *values;   /* x fastest; NaN is drawn grey, -infinity is left blank */
    double low, high; /* range of the colour bar; low == high: from the data, symmetric about 0 for BN_MAP_DIVERGING */
    bn_colour_map map;
    const char *title, *name, *unit; /* title, of two lines where it has a "\n"; quantity and unit at the colour bar */
    bn_contours contours;
    const char *axes[2];           /* names of the axes; NULL: x and y */
    bool plain;                    /* the axes count something: no lengths, no unit */
    const bn_drawing *drawing;     /* over the colours; NULL: none */
    const bn_value_class *classes; /* instead of `map`; NULL: none */
    size_t class_count;
    double axis_scale; /* 0: the axes are lengths; else so many `axis_unit` make a metre */
    const char *axis_unit;
    double line_low, line_high; /* low < high: between these are the round levels of the lines */
    bool keeps_values;          /* the file keeps its values, for bn_pictures_to_one_scale */
    double shape;               /* width over height of the frame, the axes to scales of their own; 0: to one scale */
    const char *caption;        /* a line of its own under the picture; NULL: none */
    const bn_marked_line *marks;
    size_t mark_count;
} bn_picture;

/* Smallest and largest value of a field and of what has lines; low > high: none. */
typedef struct bn_picture_scale {
    double low, high, line_low, line_high;
} bn_picture_scale;

#endif
