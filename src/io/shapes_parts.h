/* shapes_parts.h: what the two halves of shapes.h share: reading, and geometry. */
#ifndef BN_SHAPES_PARTS_H
#define BN_SHAPES_PARTS_H

#include "io/shapes.h"

#include <geos_c.h>

typedef struct shape_part {
    bn_shape shape;
    char *name;
    GEOSGeometry *geometry;
    const GEOSPreparedGeometry *prepared;
} shape_part;

struct bn_shapes {
    GEOSContextHandle_t geos;
    char *path;
    double snap; /* [m] */
    shape_part *part;
    size_t count, room;
    GEOSGeometry *area, *bars; /* what was drawn */
    const GEOSPreparedGeometry *ready_area, *ready_bars;
    bool barred;
    char complaint[200]; /* what GEOS said last */
};

BN_CHECKED bn_status bn_shapes_begin(bn_context *, const char *path, double snap, bn_shapes **out);

#endif
