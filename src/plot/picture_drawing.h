/* picture_drawing.h: a plan over the colours of a picture. */
#ifndef BN_PICTURE_DRAWING_H
#define BN_PICTURE_DRAWING_H

#include "io/drawing.h"
#include "plot/axis.h"

/* The frame on the sheet and what lies in it: lower left corner and size [m]. */
typedef struct bn_plot_place {
    bn_plot_frame frame;
    double low[2], size[2];
} bn_plot_place;

/* What is solid; then lines, walls above all others, and gauges with their numbers. The drawing may be NULL. */
void bn_drawing_solid(bn_canvas *, const bn_plot_place *, const bn_drawing *);
void bn_drawing_lines(bn_canvas *, const bn_plot_place *, const bn_drawing *);

/* Doors and what else there is beside walls are named under the picture, around (x, y). */
bool bn_drawing_has_key(const bn_drawing *);
void bn_drawing_key(bn_canvas *, double x, double y, const bn_drawing *);

#endif
