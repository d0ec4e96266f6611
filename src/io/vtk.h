/* vtk.h: VTK images and meshes. Written: XML ImageData (.vti), RectilinearGrid (.vtr) and UnstructuredGrid (.vtu) in
 * zlib blocks as base64, .pvti, .pvtr and .pvtu, which name pieces that several processes wrote, and a .pvd file for
 * time. Read: these and what VTK's own writers make of grids on a lattice. */
#ifndef BN_VTK_H
#define BN_VTK_H

#include "binnacle/context.h"
#include <stdint.h>

/* An array: `components` planes in C order (component slowest, as bn_sim_read gives), real or integer. VTK wants
 * components fastest: the writer interleaves. `type`: "Float32", "Float64", "Int8", "UInt8" ... "UInt64". */
typedef struct bn_vtk_array {
    const char *name, *unit, *type;
    int components;
    const void *data;
} bn_vtk_array;

typedef struct bn_vtk_image {
    int dims;          /* 1, 2 or 3 */
    uint32_t n[3];     /* values along x, y, z */
    uint32_t first[3]; /* of a piece: the place of its first value in the whole grid, whose origin it has */
    double origin[3],
        h[3]; /* place of the first node [m] (nodes) or of the corner of the first cell (cells); spacing [m] */
    const double *place[3]; /* of nodes along an axis whose spacings differ (.vtr); NULL: they are `h` apart; of a piece
                               that is written those of the whole */
    bool nodes;             /* point data, else cell data */
    bool hexagons; /* cell data on hexagons in rows along x, every odd row half a cell further: an unstructured grid
                      (.vtu) */
    double time;   /* [s]; field data "TimeValue" */
    const bn_vtk_array *arrays;
    size_t count;
    const char *title; /* field data "Title" of an image, attribute `title` of a mesh's <VTKFile>; may be NULL */
} bn_vtk_image;

BN_CHECKED bn_status bn_vtk_write(bn_context *, const char *path, const bn_vtk_image *);

/* The same for hexagons: points of storey after storey, three planes x, y, z of as many values as bn_vtk_hexagon_points
 * gives; six numbers of points for each cell, counter-clockwise from the lower left. */
size_t bn_vtk_hexagon_points(const bn_vtk_image *);
void bn_vtk_hexagons(const bn_vtk_image *, double *points, int32_t *corners);

/* One piece of a whole: its file, beside the one that lists the pieces, and which values it has. Pieces of nodes share
 * those at their borders, or programs that draw them leave gaps. */
typedef struct bn_vtk_piece {
    const char *file;
    uint32_t first[3], n[3];
} bn_vtk_piece;

/* Writes the list of pieces, .pvti, .pvtr or (hexagons) .pvtu. `whole` describes all of it; of its arrays name, type
 * and components are looked at. */
BN_CHECKED bn_status bn_vtk_pieces_write(bn_context *, const char *path, const bn_vtk_image *whole,
                                         const bn_vtk_piece *pieces, size_t count);

/* Reads an image: .vti, .vtr, .pvti and .pvtr with their pieces, legacy .vtk; or a mesh, .vtu and .vtk, whose cells
 * fill a lattice. Where a file has data of points and of cells, those with the array `field`; NULL, or no such array:
 * of cells. The image owns its memory until bn_vtk_free; values are in planes (component slowest). */
BN_CHECKED bn_status bn_vtk_read(bn_context *, const char *path, const char *field, bn_vtk_image *out);
void bn_vtk_free(bn_vtk_image *);
/* Whether places are numbers, each above the one before. */
bool bn_vtk_places_rise(const double *place, size_t count);
/* Whether bn_vtk_read takes files of that name. */
bool bn_vtk_is_image(const char *path);
/* Element `i` of an array of any type. */
double bn_vtk_value(const bn_vtk_array *, size_t i);

/* Rewrites the .pvd collection: `files` relative to the folder of the .pvd. */
BN_CHECKED bn_status bn_vtk_collection_write(bn_context *, const char *path, const char *const *files,
                                             const double *times, size_t count);

#endif
