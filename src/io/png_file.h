/* png_file.h: pixels into a PNG file. */
#ifndef BN_PNG_FILE_H
#define BN_PNG_FILE_H

#include "binnacle/context.h"
#include <stdint.h>

/* Rows from the top, `stride` bytes apart, each pixel a native 32-bit word 0x??RRGGBB. */
typedef struct bn_png_pixels {
    int width, height, stride;
    const unsigned char *data;
} bn_png_pixels;

/* Data of ours in a chunk of the file that other programs skip. */
typedef struct bn_png_kept {
    unsigned char *data;
    size_t bytes; /* 0: none */
} bn_png_kept;

/* Eight bits per channel, with the texts Title (UTF-8; "": none) and Software, and such data (NULL or empty: none);
 * whole or not at all. */
BN_CHECKED bn_status bn_png_write(bn_context *, const char *path, const bn_png_pixels *, const char *title,
                                  const bn_png_kept *);
/* A number of a chunk. */
uint32_t bn_png_number(const unsigned char *at);
/* The data that a file keeps, free() them; none is no failure. */
BN_CHECKED bn_status bn_png_read_kept(bn_context *, const char *path, bn_png_kept *out);

#endif
