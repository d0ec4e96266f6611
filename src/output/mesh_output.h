/* mesh_output.h: files of each layer of cells, such as the storeys of a building: a mesh with values over time for programs
 * of geography (UGRID NetCDF), polygons around what is above a value (WKT) for those of crowds. */
#ifndef BN_LAYERS_H
#define BN_LAYERS_H

#include "output/field_sampler.h"
#include "output/output_dir.h"

typedef struct bn_layers bn_layers;

/* NULL in *out when the plan wants none. */
BN_CHECKED bn_status bn_layers_create(bn_context *, bn_folder *, bn_sim *, bn_layers **out);

/* Goes on with the files in the folder: what they have of these steps stays in them. */
BN_CHECKED bn_status bn_layers_take_up(bn_layers *, const unsigned long long *steps, size_t count);

/* At an output time; on the writer's thread, with its context. Where ranks have parts of the fields all call it, those
 * that do not lead without layers. */
BN_CHECKED bn_status bn_layers_write(bn_context *, bn_layers *, const bn_export *);

/* Gives the meshes their names. */
BN_CHECKED bn_status bn_layers_finish(bn_layers *);

/* Drops meshes that have no name yet. Accepts NULL. */
void bn_layers_destroy(bn_layers **);

#endif
