/* mesh_output.h: files of each layer of cells, such as the storeys of a building: a mesh with values over time for
 * geographic information systems (UGRID NetCDF), polygons around cells above a value (WKT) for simulations of crowds.
 */
#ifndef BN_MESH_OUTPUT_H
#define BN_MESH_OUTPUT_H

#include "output/field_sampler.h"
#include "output/output_dir.h"

typedef struct bn_mesh_output bn_mesh_output;

/* NULL in *out when the plan wants none. */
BN_CHECKED bn_status bn_mesh_output_create(bn_context *, bn_output_dir *, bn_sim *, bn_mesh_output **out);

/* After a restart: the files keep what they have of these steps. */
BN_CHECKED bn_status bn_mesh_output_resume(bn_mesh_output *, const unsigned long long *steps, size_t count);

/* At an output time, on the writer's thread with its context. Where ranks have parts of the fields, all call it; ranks
 * that do not lead pass NULL. */
BN_CHECKED bn_status bn_mesh_output_write(bn_context *, bn_mesh_output *, const bn_field_sampler *);

/* Completes the meshes and gives them their names. */
BN_CHECKED bn_status bn_mesh_output_finish(bn_mesh_output *);

/* Removes meshes that are not complete. Accepts NULL. */
void bn_mesh_output_destroy(bn_mesh_output **);

#endif
