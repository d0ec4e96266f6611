/* png_read.h: a PNG picture as grey values or colours, for masks and plans that a user has drawn. */
#ifndef BN_PNG_READ_H
#define BN_PNG_READ_H

#include "binnacle/context.h"
#include <stdint.h>

enum { BN_PNG_SIDE_MAX = 32768, BN_PNG_PIXELS_MAX = 1 << 28 };

/* Reads the PNG at `path`, of any colour type, depth and interlacing. (*grey)[y * *width + x], from 0 for black to 255
 * for white, is the pixel in column x from the left and row y from the top; free() it. Colours become their luma
 * (ITU-R BT.709: 0.2126 R + 0.7152 G + 0.0722 B) of the values as stored, whatever gamma the file names; what is
 * transparent shows white paper behind it. BN_IO names path and reason: not to be opened, no PNG, damaged, longer than
 * BN_PNG_SIDE_MAX on a side or more than BN_PNG_PIXELS_MAX pixels. After a failure *grey is NULL. */
BN_CHECKED bn_status bn_png_read_grey(bn_context *, const char *path, uint32_t *width, uint32_t *height,
                                      unsigned char **grey);

/* The same as colours: three bytes red, green, blue of each pixel as stored, over white paper where it is transparent.
 */
BN_CHECKED bn_status bn_png_read_rgb(bn_context *, const char *path, uint32_t *width, uint32_t *height,
                                     unsigned char **rgb);

#endif
