/* field_files.h: fields of one output time in VTK, TIFF and HDF5 files. */
#ifndef BN_FIELD_FILES_H
#define BN_FIELD_FILES_H

#include "io/volume.h"
#include "io/vtk.h"
#include "output/field_sampler.h"
#include "output/output_dir.h"

/* "vtu" on hexagons, "vtr" on nodes of differing spacings, else "vti". */
const char *bn_field_vtk_ending(const bn_plan *);
/* The whole grid, or the plan's second one (`volume`), with its fields of role output; room for BN_PLAN_FIELDS arrays.
 * Without data the arrays have none. */
bn_vtk_image bn_field_image(const bn_field_sampler *, bool volume, bn_vtk_array *arrays);
/* The same for HDF5, of the fields of reals. */
bn_mesh bn_field_mesh(const bn_field_sampler *, bool volume, bn_mesh_array *arrays);
/* Float TIFF: a file for each component, fields/FIELD-STEP.tif, of the fields of reals. */
BN_CHECKED bn_status bn_field_tiff_write(bn_context *, const bn_field_sampler *, const bn_output_dir *);

#endif
