/* terrain.h: heights of the ground on a grid that knows its place: ESRI ASCII grids and GeoTIFF. */
#ifndef BN_TERRAIN_H
#define BN_TERRAIN_H

#include "binnacle/context.h"
#include <stdint.h>

enum { BN_TERRAIN_POINTS = 1 << 28 };

typedef struct bn_terrain {
    uint32_t n[2];          /* columns and rows */
    double corner[2], h[2]; /* lower left corner of the lower left pixel; size of a pixel [m] */
    double *values;         /* of pixels, west to east in rows from the south; NaN: no data */
    int epsg;               /* code of the coordinates; 0: the file doesn't tell */
} bn_terrain;

/* By the end of the name: .tif or .tiff, else an ESRI ASCII grid. BN_IO: the file can't be read or is damaged. BN_CASE:
 * it is no terrain that can be used (turned, in degrees, no place, ...). Owns its memory until bn_terrain_free. */
BN_CHECKED bn_status bn_terrain_read(bn_context *, const char *path, bn_terrain *out);
void bn_terrain_free(bn_terrain *);

BN_CHECKED bn_status bn_geotiff_read(bn_context *, const char *path, bn_terrain *out);

/* Memory for n[0] x n[1] values; BN_CASE when they are none or too many. */
BN_CHECKED bn_status bn_terrain_create(bn_context *, const char *path, double columns, double rows, bn_terrain *out);

/* The height at a place between the middles of four pixels (bilinear; beyond the outermost middles that of the border's
 * pixels). NaN: a pixel without data takes part, or the place lies outside. */
double bn_terrain_at(const bn_terrain *, const double x[2]);

/* The value of the pixel in which the place lies; NaN: it has none, or the place lies outside. */
double bn_terrain_pixel(const bn_terrain *, const double x[2]);

#endif
