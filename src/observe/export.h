/* export.h: the fields of one output time as float TIFF and as HDF5 after openPMD, beside VTK. */
#ifndef BN_EXPORT_H
#define BN_EXPORT_H

#include "sim/plan.h"

typedef struct bn_export {
    const bn_plan *plan;
    double time;
    unsigned long long step;
    const size_t *field; /* indices of the plan's fields, `count` of them, and what they hold */
    size_t count;
    const void *const *data;
    const char *tiff, *hdf5; /* path without ".tif", FIELD comes before it; path; NULL: not wanted */
} bn_export;

/* Fields of reals whose role is output; others are left out. */
BN_CHECKED bn_status bn_export_write(bn_context *, const bn_export *);

#endif
