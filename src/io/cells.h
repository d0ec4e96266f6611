/* cells.h: where the cells of one layer of a grid are, squares or hexagons in rows along x of which every odd one
 * stands half a cell further; outlines of sets of them. */
#ifndef BN_CELLS_H
#define BN_CELLS_H

#include "binnacle/context.h"
#include <stdint.h>

typedef struct bn_cells {
    uint32_t n[2];
    double first[2], h[2]; /* middle of the first cell; from cell to cell and from row to row [m] */
    bool hexagons;
} bn_cells;

/* Corners, and edges from one corner to the next: six or four. Edges count from the east, counter-clockwise; edge k
 * lies opposite to k + 3 (squares: k + 2). */
static inline int bn_cells_edges(const bn_cells *c) { return c->hexagons ? 6 : 4; }

void bn_cells_middle(const bn_cells *, uint32_t i, uint32_t j, double x[2]);

/* Corners are shared by neighbours: how many there are, the numbers of a cell's, counter-clockwise from the lower left
 * (hexagons) or lower left corner (squares), and their places. */
size_t bn_cells_corners(const bn_cells *);
void bn_cells_ring(const bn_cells *, uint32_t i, uint32_t j, size_t corner[6]);
void bn_cells_corner(const bn_cells *, size_t corner, double x[2]);

/* The cell beside an edge; false: there is none. Layers do not close round. */
bool bn_cells_beside(const bn_cells *, size_t cell, int edge, size_t *other);

/* MULTIPOLYGON (WKT) around the cells that are `in`: a polygon for each connected set, its outer ring first, counter-
 * clockwise, then its holes; MULTIPOLYGON EMPTY without any. free() the text. */
typedef struct bn_outline {
    char *text;
    size_t polygons, cells;
} bn_outline;
BN_CHECKED bn_status bn_outline_make(bn_context *, const bn_cells *, const bool *in, bn_outline *out);

#endif
