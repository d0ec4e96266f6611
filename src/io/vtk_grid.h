/* vtk_grid.h: what a VTK file holds, before vtk_read.c makes an image of it. Values are in VTK's order, component
 * fastest, in the byte order of this machine. */
#ifndef BN_VTK_GRID_H
#define BN_VTK_GRID_H

#include "io/vtk_layout.h"

enum { BN_VTK_CELLS, BN_VTK_POINTS };

typedef struct bn_vtk_arrays {
    bn_vtk_array *items;
    size_t count;
} bn_vtk_arrays;

typedef struct bn_vtk_grid {
    bool hexagons; /* in rows along x, every odd one half a cell further */
    bool mesh;     /* unstructured; else points on a lattice, `extent` cells along each axis from number `first` on */
    long long first[3];
    uint32_t extent[3];
    double origin[3], h[3];
    size_t tuples[2]; /* cells, points */
    bn_vtk_arrays data[2];
    bool uneven; /* its places along each axis are `line` */
    bn_vtk_array line[3];
    bn_vtk_array places, corners,
        ends; /* of a mesh: the points, the points of all cells, where each cell's end in that list */
    size_t corner_count;
    double time;
    char *title;
} bn_vtk_grid;

/* Each reads a whole file; the grid is to be freed after a failure, too. bn_vtk_xml_read: .vti, .vtr, .vtu, .pvti and
 * .pvtr with their pieces. */
BN_CHECKED bn_status bn_vtk_xml_read(bn_context *, const char *path, bn_vtk_grid *);
BN_CHECKED bn_status bn_vtk_legacy_read(bn_context *, const char *path, bn_vtk_grid *);

/* Numbers of cells and points from the extent; false when they don't fit a size_t. */
bool bn_vtk_count_tuples(bn_vtk_grid *);
/* Adds an array, whose memory the list then owns; false: no memory. */
bool bn_vtk_arrays_add(bn_vtk_arrays *, bn_vtk_array *);
void bn_vtk_array_free(bn_vtk_array *);
void bn_vtk_grid_free(bn_vtk_grid *);

/* Puts the values of a piece at their place in the whole, whose sizes are known; they may move. NULL or why it can't be
 * done. seen: a byte a cell of an image, 1 where a piece was; NULL where there is but one. */
const char *bn_vtk_add_piece(bn_vtk_grid *whole, bn_vtk_grid *piece, unsigned char *seen);

/* A mesh whose cells (or points) fill a lattice: makes it one, with the order of its data; NULL or why it can't be
 * done. Data of the other kind go. */
const char *bn_vtk_lattice(bn_vtk_grid *, int kind);

/* How the values of an array are stored in a file. */
typedef struct bn_vtk_encoding {
    enum { BN_VTK_ASCII, BN_VTK_BASE64, BN_VTK_RAW } form;
    bool swapped, compressed; /* not the byte order of this machine; zlib */
    size_t word;              /* bytes of a number in the head: 4 or 8; 0: there is no head */
} bn_vtk_encoding;

/* Decodes *count elements (SIZE_MAX: as many as there are) from the beginning of a text of `length` bytes into fresh
 * memory, with a byte to spare; NULL or why it can't be done. More memory than the text can fill is never asked for. */
extern const char bn_vtk_no_memory[];
const char *bn_vtk_decode(const bn_vtk_encoding *, const char *text, size_t length, const char *type, size_t *count,
                          void **values);
/* Length of the `count` numbers at the beginning of a text that are parted by blanks; SIZE_MAX: there are fewer. */
size_t bn_vtk_numbers_length(const char *text, size_t length, size_t count);

#endif
