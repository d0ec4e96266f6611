/* raster.h: the field of a picture as pixels. */
#ifndef BN_RASTER_H
#define BN_RASTER_H

#include "plot/picture_type.h"

enum { BN_RASTER_MISSING = 0xb4b4b4, BN_RASTER_BLANK = 0xffffff }; /* grey: not a number; paper: -infinity */

typedef struct bn_value_range {
    double low, high, data_low, data_high;
} bn_value_range; /* of the colours; of the data within them or not */

/* The range asked for, or one that fits the finite data: never empty, symmetric about 0 for a diverging map. */
bn_value_range bn_raster_range(const bn_picture *);

/* The value at (x, y), counted in values from the first one, 0 ... n - 1; NaN where a neighbour is not finite. */
double bn_raster_bilinear(const bn_picture *, const double *values, double x, double y);

/* What w x h pixels show, rows from the top: means, NaN for what is missing, -infinity for what is blank. False: no
 * memory. */
bool bn_raster_means(const bn_picture *, double *means, int w, int h);

/* Fills w x h pixels (0x00RRGGBB, rows from the top, `stride` pixels apart): between nodes bilinear, cells flat. Where
 * several values fall on a pixel their mean is shown. False: no memory. */
bool bn_raster_fill(const bn_picture *, const bn_value_range *, uint32_t *pixels, int w, int h, int stride);

#endif
