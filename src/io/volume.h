/* volume.h: numbers on a grid in three dimensions from files of several kinds, and to TIFF and HDF5. */
#ifndef BN_VOLUME_H
#define BN_VOLUME_H

#include "binnacle/context.h"
#include <stdint.h>

enum { BN_VOLUME_POINTS = 1 << 30 };

/* Values x fastest; h: spacing [m], 0 where the file does not give it. */
typedef struct bn_volume {
    uint32_t n[3];
    double h[3];
    double *values;
} bn_volume;

/* By the end of the name: .vti, .pvti (with its pieces), .vtu and .vtk, .tif or .tiff, .h5 or .hdf5. `name` picks an
 * array of VTK's files and .h5; "": the only one, or the first of an openPMD file. BN_IO names path and reason. The
 * volume owns its memory until bn_volume_free. */
BN_CHECKED bn_status bn_volume_read(bn_context *, const char *path, const char *name, bn_volume *out);
void bn_volume_free(bn_volume *);

/* Zeroed memory for n[0] * n[1] * n[2] values; BN_IO when they are more than 2^30 or none. */
BN_CHECKED bn_status bn_volume_create(bn_context *, const char *path, const uint32_t n[3], bn_volume *out);

/* A stack of pictures of one size, one number a pixel: integers of 8, 16 or 32 bits or floats; x along a row, y from
 * row to row in the order of the file, z from picture to picture. */
BN_CHECKED bn_status bn_tiff_read(bn_context *, const char *path, bn_volume *out);
/* Float pictures in the same order; from 4 GB on BN_IO says to take HDF5 instead. */
BN_CHECKED bn_status bn_tiff_write(bn_context *, const char *path, const uint32_t n[3], const float *values,
                                   const char *description);

/* The same picture after picture, each n[0] * n[1] values; `description` goes to the first. After a failure of
 * bn_tiff_add comes bn_tiff_abort; bn_tiff_end puts the file in its place. */
typedef struct bn_tiff bn_tiff;
BN_CHECKED bn_status bn_tiff_begin(bn_context *, const char *path, const uint32_t n[3], bn_tiff **out);
/* Before the first picture: the rows go from north to south, and this is where they lie [m] (GeoTIFF, OGC 19-008r4).
 * NaN: no data. */
typedef struct bn_tiff_place {
    double west, north, h[2]; /* corner of the first pixel; size of a pixel */
    int epsg;                 /* code of the projected coordinates; 0: not known */
} bn_tiff_place;
void bn_tiff_georeference(bn_tiff *, const bn_tiff_place *);
BN_CHECKED bn_status bn_tiff_add(bn_tiff *, const float *values, const char *description);
BN_CHECKED bn_status bn_tiff_end(bn_tiff **);
void bn_tiff_abort(bn_tiff **);

/* One array of a mesh for openPMD. */
typedef struct bn_mesh_array {
    const char *name, *unit;
    const void
        *values; /* float, or double where `wide`; in planes, component slowest; not looked at where there are pieces */
    int components;
    bool wide, is_complex; /* is_complex: two components, the real and the imaginary part */
} bn_mesh_array;

/* A part of a mesh in a file of its own beside it, itself a mesh with these arrays and step, of which the first n
 * values along x, y, z are those of the whole from `first` on. */
typedef struct bn_mesh_piece {
    const char *file;
    uint32_t first[3], n[3], size[3]; /* size: of the file's own mesh, at least n */
} bn_mesh_piece;

typedef struct bn_mesh {
    int dims;
    uint32_t n[3];
    double origin[3], h[3]; /* of the first value, and spacing [m] */
    const double *place[3]; /* of all nodes along an axis whose spacings differ; NULL: they are `h` apart */
    double time, dt;        /* [s]; dt: of the step that has led here, 0 at the beginning */
    bool nodes;
    unsigned long long step;
    const bn_mesh_array *arrays;
    size_t count;
    const char *software, *version;
    const bn_mesh_piece *pieces; /* NULL: the arrays have values */
    size_t piece_count;
    const struct bn_mesh *other; /* arrays on another grid at the same time, in the same file; NULL: none */
} bn_mesh;

/* HDF5: openPMD 1.1.0 meshes (axis labels in any order, unitSI applied), or plain datasets in C order, z slowest. */
/* HDF5 must not be called from two threads of a process: between these two, only one does. */
void bn_hdf5_begin(void);
void bn_hdf5_end(void);
BN_CHECKED bn_status bn_hdf5_read(bn_context *, const char *path, const char *name, bn_volume *out);
/* With pieces the datasets are virtual: HDF5 finds their values in the files of the pieces. */
BN_CHECKED bn_status bn_hdf5_write(bn_context *, const char *path, const bn_mesh *);

#endif
