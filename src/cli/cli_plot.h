/* cli_plot.h: `binnacle plot`: what its parts share. */
#ifndef BN_CLI_PLOT_H
#define BN_CLI_PLOT_H

#include "cli/options.h"
#include "io/vtk.h"
#include "plot/picture.h"

/* Lines of one chart, of several runs; the frames of one field. */
typedef struct bn_plot_chart bn_plot_chart;
typedef struct bn_plot_movie bn_plot_movie;

typedef struct bn_plot {
    const bn_cli *cli;
    bn_plot_chart *charts; /* of --overlay, drawn at the end */
    bn_plot_movie *movies; /* of --animate, joined at the end */
    size_t chart_count, movie_count;
} bn_plot;

/* One line of a chart, at once or at the end. `path`: the file it comes from; `name`: what it shows, in the name of the
 * picture; `when`: its time, told beside the run in charts of several; may be NULL. What is kept is copied. */
typedef struct bn_plot_line {
    const char *path, *name, *title, *when, *x_label, *y_label;
    const double *x, *y;
    size_t count;
    bool log_y;
} bn_plot_line;
BN_CHECKED bn_status bn_plot_add_line(bn_plot *, const bn_plot_line *);

/* A picture of the array `name` in a file, at once or as a frame. */
BN_CHECKED bn_status bn_plot_add_picture(bn_plot *, const char *path, const char *name, bn_picture *);

/* Makes a picture of values of an image along two axes: on equal distances, and of hexagons half cells. Replaces
 * `*values` by what is drawn, and sets what a picture has of its grid. */
BN_CHECKED bn_status bn_plot_plane(bn_context *, const bn_vtk_image *, const int axis[2], double **values,
                                   bn_picture *out);

/* Draws the charts and joins the frames that were kept. */
BN_CHECKED bn_status bn_plot_finish(bn_plot *);
void bn_plot_release(bn_plot *);

/* The options that are texts: mistakes before the first picture. */
BN_CHECKED bn_status bn_plot_check(const bn_cli *);

/* The fields of a file, or the columns of a table over its first one. */
BN_CHECKED bn_status bn_plot_fields(bn_plot *, const char *path);
BN_CHECKED bn_status bn_plot_csv(bn_plot *, const char *path);

#endif
