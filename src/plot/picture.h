/* picture.h: pictures of a 2-D field as PNG: perceptual colour map, colour bar, axes with units, title, contour lines.
 */
#ifndef BN_PICTURE_H
#define BN_PICTURE_H

#include "binnacle/context.h"
#include <stdint.h>

typedef enum bn_colour_map { BN_MAP_SEQUENTIAL, BN_MAP_DIVERGING, BN_MAP_CYCLIC } bn_colour_map;

/* Lines of equal value drawn over the colours: of the field itself or of another one (stream function over vorticity).
 */
typedef struct bn_contours {
    const double *values; /* n[0] * n[1] values, x fastest; NULL: no lines */
    const double *levels; /* ascending; NULL: at most `count` round ones between smallest and largest */
    size_t count;
    const char *label; /* "psi [m2 s-1]", named under the picture where there is a line; may be NULL */
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
    const char *title, *name, *unit; /* title line; quantity and unit at the colour bar */
    bn_contours contours;
    const char *axes[2];      /* names of the axes; NULL: x and y */
    bool plain;               /* the axes count something: no lengths, no unit */
    const double (*walls)[4]; /* walls thinner than a cell: x, y of both ends [m] */
    size_t wall_count;
    double line_low, line_high; /* low < high: between these are the round levels of the lines */
    bool keeps_values;          /* the file keeps all of this, for bn_pictures_to_one_scale */
    double shape;               /* width over height of the frame, the axes to scales of their own; 0: to one scale */
    const char *caption;        /* a line of its own under the picture; NULL: none */
    const bn_marked_line *marks;
    size_t mark_count;
} bn_picture;

/* Renders to PNG at `path`, about 1000 pixels on the longer side, equal scale on both axes unless the box is longer
 * than 8 : 1. */
BN_CHECKED bn_status bn_picture_write(bn_context *, const char *path, const bn_picture *);

/* Draws pictures of one kind that keep their values anew, one after the other: those that find the range of their
 * colours or the levels of their lines in the data do so in the data of all of them. A picture that keeps nothing stays
 * as it is, with a warning. */
BN_CHECKED bn_status bn_pictures_to_one_scale(bn_context *, const char *const *paths, size_t count);

/* A line chart as PNG: several columns over the first one; log axes for residuals and rooflines. */
typedef struct bn_chart_line {
    const char *label;
    const double *x, *y;
    size_t count;
    bool markers;
} bn_chart_line;
typedef struct bn_chart {
    const char *title, *x_label, *y_label;
    bool log_y;
    const bn_chart_line *lines;
    size_t count;
    bool log_x;
} bn_chart;
BN_CHECKED bn_status bn_chart_write(bn_context *, const char *path, const bn_chart *);

#endif
