/* axis.h: the frame of a plot and the scales beside it. */
#ifndef BN_AXIS_H
#define BN_AXIS_H

#include "plot/canvas.h"
#include "plot/labels.h"

typedef struct bn_plot_frame {
    double x, y, w, h;
} bn_plot_frame; /* upper left corner and size, pixels */

typedef struct bn_axis {
    double low, high; /* at the ends of the frame; logarithms when `log` */
    bool log;
    bn_ticks ticks;
    char label[BN_LABEL_BYTES];
    double widest; /* of the ticks' numbers, pixels */
} bn_axis;

enum { BN_TICK_LENGTH = 6 };

/* Chooses as many ticks as the numbers have room for along `length` pixels. `upright`: the axis stands; low < high. */
void bn_axis_make(bn_canvas *, bn_axis *, double low, double high, bool log, double length, bool upright);

/* Pixels that an axis takes beside its frame. */
double bn_axis_thickness(const bn_axis *, bool upright);

/* Places of a value along the frame, in pixels of the sheet. */
double bn_axis_x(const bn_axis *, const bn_plot_frame *, double value);
double bn_axis_y(const bn_axis *, const bn_plot_frame *, double value);

void bn_axis_draw_below(bn_canvas *, const bn_axis *, const bn_plot_frame *);
void bn_axis_draw_beside(bn_canvas *, const bn_axis *, const bn_plot_frame *, bool right);

/* The frame's outline, one pixel wide, just outside of it. */
void bn_frame_draw(bn_canvas *, const bn_plot_frame *);

#endif
