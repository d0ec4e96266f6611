/* shapes_parts.h: what shapes_read.c and shapes.c share. */
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
    char last_message[200]; /* of GEOS */
};

BN_CHECKED bn_status bn_shapes_begin(bn_context *, const char *path, double snap, bn_shapes **out);

#endif
