/* shapes.h: polygons and lines with names, from files of WKT and from tables with a column of WKT; the geometry is that
 * of GEOS. */
#ifndef BN_SHAPES_H
#define BN_SHAPES_H

#include "binnacle/context.h"

typedef struct bn_shape {
    const char *name;       /* of the column `meaning`; "" in a file of WKT alone */
    size_t line, number;    /* where it begins in the file, which one it is there; both from 1 */
    double low[2], high[2]; /* the rectangle around it */
    double inside[2];       /* some place in it */
    bool open;              /* a line, without an inside */
} bn_shape;

typedef struct bn_shapes bn_shapes;

/* A file that ends in .csv is a table: its first line names the columns, among them `wkt` and `meaning`; commas or
 * semicolons between the places, quotes around those that hold some. Any other file is WKT: one geometry after the
 * other, lines that begin with # are left out. Polygons, lines and collections of either. Vertices move to a lattice of
 * `snap` metres, so that neighbours that were meant to touch do. `wkt`: what a file of WKT would hold, and `path` says
 * where that stands; NULL: the file is read. BN_IO: the file can't be read. BN_CASE: what stands in it makes no sense;
 * names path, line and shape. */
BN_CHECKED bn_status bn_shapes_read(bn_context *, const char *path, const char *wkt, double snap, bn_shapes **out);
void bn_shapes_destroy(bn_shapes **);
size_t bn_shapes_count(const bn_shapes *);
const bn_shape *bn_shapes_at(const bn_shapes *, size_t index);

/* Is the place in the shape or on its border? */
bool bn_shape_covers(const bn_shapes *, size_t index, const double x[2]);

/* Draws shapes one over the other: those with draw[i] > 0 open an area, those with draw[i] < 0 close what was open
 * there; lines that close are bars across it. `whole`: the rectangle from low to high is open at the beginning. */
BN_CHECKED bn_status bn_shapes_draw(bn_context *, bn_shapes *, const signed char *draw, bool whole, const double low[2],
                                    const double high[2]);

/* Of what was drawn: is the whole segment from a to b open (the point a, where both are the same)? */
bool bn_shapes_open(const bn_shapes *, const double a[2], const double b[2]);
/* Is all of a rectangle open (1), none of it (-1), or is it neither (0)? */
int bn_shapes_box(const bn_shapes *, const double low[2], const double high[2]);

/* The lines of a shape, or around all that is open, or the bars across it: points with a NaN behind each line. `points`
 * may be NULL; returns how many there are. */
enum { BN_SHAPES_AREA = -1, BN_SHAPES_BARS = -2 };
size_t bn_shapes_outline(const bn_shapes *, long which, double (*points)[2]);

#endif
