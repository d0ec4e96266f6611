/* tiff_parts.h: what the readers of TIFF share: libtiff's complaints, and numbers of one sample a pixel. */
#ifndef BN_TIFF_PARTS_H
#define BN_TIFF_PARTS_H

#include "binnacle/context.h"
#include <stdbool.h>
#include <stdint.h>
#include <tiffio.h>

typedef struct tiff_page {
    uint32_t width, height;
    uint16_t bits, samples, format;
} tiff_page;

/* Opens a file; complaints of this thread are kept from then on. TIFFClose it. */
BN_CHECKED bn_status bn_tiff_open(bn_context *, const char *path, TIFF **out);
const char *bn_tiff_complaint(void); /* the last one since; "" */

/* Of the present picture. False: libtiff can't tell. */
bool bn_tiff_page(TIFF *, tiff_page *);
/* One sample a pixel, of a kind that bn_tiff_number reads? */
bool bn_tiff_numbers(const tiff_page *);
/* Number `x` of a row as it stands in the file. */
double bn_tiff_number(const tiff_page *, const unsigned char *row, uint32_t x);

#endif
