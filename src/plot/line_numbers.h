/* line_numbers.h: the values of contour lines, written along them. */
#ifndef BN_LINE_NUMBERS_H
#define BN_LINE_NUMBERS_H

#include "plot/axis.h"

enum { BN_LINE_NUMBERS = 32, BN_LINE_NUMBER_BYTES = 48 };

/* Zeroed at the begin. */
typedef struct bn_line_numbers {
    struct {
        double x, y, angle; /* [pixels], [rad] */
        char text[BN_LINE_NUMBER_BYTES];
    } number[BN_LINE_NUMBERS];
    size_t count;
    cairo_path_t *longest; /* of the lines looked at */
    double length;         /* of it, pixels */
} bn_line_numbers;

/* Keeps cairo's current path if it is longer than those before. */
void bn_line_numbers_look(bn_line_numbers *, cairo_t *);
/* Finds a place for `text` on the longest line, within the frame and away from other numbers, if there is one; the next
 * line begins anew. */
void bn_line_numbers_place(bn_line_numbers *, const bn_plot_frame *, const char *text);
/* The end: draws them all. */
void bn_line_numbers_draw(bn_line_numbers *, bn_canvas *);

#endif
