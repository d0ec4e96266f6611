/* tiff_parts.h: what the readers of TIFF share: messages of libtiff, and pixels of one number. */
#ifndef BN_TIFF_PARTS_H
#define BN_TIFF_PARTS_H

#include "binnacle/context.h"
#include <stdbool.h>
#include <stdint.h>
#include <tiffio.h>

/* Tags of GeoTIFF and GDAL, which libtiff does not know. */
enum {
    TIFF_PIXEL_SCALE = 33550,
    TIFF_TIE_POINTS = 33922,
    TIFF_TRANSFORMATION = 34264,
    TIFF_KEY_DIRECTORY = 34735,
    TIFF_GDAL_METADATA = 42112,
    TIFF_GDAL_NODATA = 42113,
};
/* Keys of the key directory, and their values. */
enum { GEO_MODEL_TYPE = 1024, GEO_RASTER_TYPE = 1025, GEO_PROJECTED = 3072, GEO_LINEAR_UNITS = 3076 };
enum {
    GEO_IS_PROJECTED = 1,
    GEO_GEOGRAPHIC = 2,
    GEO_AREA = 1,
    GEO_POINT = 2,
    GEO_METRE = 9001,
    GEO_USER_DEFINED = 32767
};

typedef struct tiff_page {
    uint32_t width, height;
    uint16_t bits, samples, format;
} tiff_page;

/* Opens a file; libtiff's messages in this thread are kept from then on. TIFFClose it. */
BN_CHECKED bn_status bn_tiff_open(bn_context *, const char *path, TIFF **out);
const char *bn_tiff_message(void); /* the last one since then; "" */

/* Sizes and types of the present picture. False: libtiff does not know them. */
bool bn_tiff_page(TIFF *, tiff_page *);
/* Whether there is one sample per pixel, of a type that bn_tiff_number reads. */
bool bn_tiff_numbers(const tiff_page *);
/* Number `x` of a row of the file. */
double bn_tiff_number(const tiff_page *, const unsigned char *row, uint32_t x);

#endif
