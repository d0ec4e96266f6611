/* picture.h: pictures of a 2-D field as PNG, SVG or PDF: perceptual colour map, colour bar, axes with units, title,
 * contour lines.
 */
#ifndef BN_PICTURE_H
#define BN_PICTURE_H

#include "binnacle/context.h"
#include "io/png_file.h"
#include "plot/picture_type.h"

/* Renders to `path`, as SVG or PDF where it ends so, else as PNG, about 1000 pixels on the longer side, equal scale on
 * both axes unless the box is longer than 8 : 1. */
BN_CHECKED bn_status bn_picture_write(bn_context *, const char *path, const bn_picture *);

/* Colours around zero when both signs take a real share of the range. */
bn_colour_map bn_map_for(const double *values, size_t points);

/* Draws pictures of one kind that keep their values again, one after the other: those that find the range of their
 * colours or the levels of their lines in the data do so in the data of all of them. `kind`: what they have in common;
 * grid, values, lines, title and caption come from the files. A picture that keeps nothing stays as it is, with a
 * warning. */
BN_CHECKED bn_status bn_pictures_to_one_scale(bn_context *, const char *const *paths, size_t count,
                                              const bn_picture *kind);
/* Its two parts: what all of them have, and one picture drawn again, which threads may do side by side. A picture that
 * is yet to be drawn (bn_picture_postpone) is given as what it keeps; NULL: its file keeps it. */
BN_CHECKED bn_status bn_pictures_scale(bn_context *, const char *const *paths, const bn_png_kept *const *kept,
                                       size_t count, const bn_picture *kind, bn_picture_scale *out);
BN_CHECKED bn_status bn_picture_to_scale(bn_context *, const char *path, const bn_png_kept *kept,
                                         const bn_picture *kind, const bn_picture_scale *);
/* What the file of a picture would keep, without drawing it; free() its data. */
BN_CHECKED bn_status bn_picture_postpone(bn_context *, const char *path, const bn_picture *, bn_png_kept *out);
/* bn_picture_write of a picture whose file keeps these data. */
BN_CHECKED bn_status bn_picture_redraw(bn_context *, const char *path, const bn_picture *, const bn_png_kept *);

/* A line chart as PNG, SVG or PDF: several columns over the first one; log axes for residuals and rooflines. */
typedef struct bn_chart_line {
    const char *label;
    const double *x, *y;
    size_t count;
    bool markers;
    const double *error; /* half the length of a bar at each point; NULL: none */
} bn_chart_line;
typedef struct bn_chart {
    const char *title, *x_label, *y_label;
    bool log_y;
    const bn_chart_line *lines;
    size_t count;
    bool log_x;
} bn_chart;
/* Whether it has a point to draw: on a logarithmic axis zeros have none. */
bool bn_chart_shows(const bn_chart *);
BN_CHECKED bn_status bn_chart_write(bn_context *, const char *path, const bn_chart *);

#endif
