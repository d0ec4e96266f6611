/* field_file.h: fields as an image, from any file of fields that this program writes. */
#ifndef BN_FIELD_FILE_H
#define BN_FIELD_FILE_H

#include "io/vtk.h"

/* Whether bn_field_file_read takes files of that name: what bn_vtk_is_image names, .h5 and .nc. */
bool bn_field_file_is(const char *path);
/* How many times a file has: one, but of .nc any number. */
BN_CHECKED bn_status bn_field_file_times(bn_context *, const char *path, size_t *count);
/* Time number `which`; `field` as for bn_vtk_read. bn_vtk_free the image. */
BN_CHECKED bn_status bn_field_file_read(bn_context *, const char *path, const char *field, size_t which,
                                        bn_vtk_image *out);

/* The meshes of the first iteration of an openPMD file (HDF5), in one to three dimensions, all of one grid. */
BN_CHECKED bn_status bn_hdf5_fields(bn_context *, const char *path, bn_vtk_image *out);
/* A layer of cells over time (ugrid.h) that this program wrote; cells that are no faces are NaN. */
BN_CHECKED bn_status bn_ugrid_times_of(bn_context *, const char *path, size_t *count);
BN_CHECKED bn_status bn_ugrid_read(bn_context *, const char *path, size_t which, bn_vtk_image *out);

/* The files that a .pvd lists, with their folder, in their order; free() each and the list. */
BN_CHECKED bn_status bn_vtk_collection_read(bn_context *, const char *path, char ***files, size_t *count);

#endif
