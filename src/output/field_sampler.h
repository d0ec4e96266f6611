/* field_sampler.h: the fields of one output time: where their values come from, and to float TIFF and HDF5 after openPMD,
 * beside VTK. */
#ifndef BN_FIELD_SAMPLER_H
#define BN_FIELD_SAMPLER_H

#include "io/volume.h"
#include "sim/plan.h"

typedef struct bn_field_sampler {
    const bn_plan *plan;
    double time, dt; /* [s]; of the step that has led here, 0 at the beginning */
    unsigned long long step;
    const size_t *field; /* indices of the plan's fields, `count` of them, and what they hold */
    size_t count;
    const void *const *data; /* whole fields in planes; NULL: ... */
    bn_sim *sim;             /* ... ranks have parts of them, which they bring together: all make the same calls */
    bool leads;              /* this process writes the files, the others only bring their parts */
    const char *tiff, *hdf5; /* path without ".tif", FIELD comes before it; path; NULL: not wanted */
} bn_field_sampler;

/* Values of a component (of pairs: the real part is component 2 c, the imaginary one 2 c + 1) of field number `which`
 * of those at this time, in C order. */
BN_CHECKED bn_status bn_field_sampler_values(bn_context *, const bn_field_sampler *, size_t which, int component, const bn_region *,
                                      double *values);

/* Fields of reals whose role is output; others are left out. */
BN_CHECKED bn_status bn_field_sampler_write(bn_context *, const bn_field_sampler *);

/* The mesh and its arrays, room for BN_PLAN_FIELDS, for HDF5; the caller says where the values are. */
bn_mesh bn_field_sampler_mesh(const bn_field_sampler *, bn_mesh_array *arrays);

#endif
