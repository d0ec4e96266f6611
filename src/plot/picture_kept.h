/* picture_kept.h: what a picture shows, as data inside its file, so that it can be drawn anew with another range. */
#ifndef BN_PICTURE_KEPT_H
#define BN_PICTURE_KEPT_H

#include "plot/picture.h"
#include "io/png_file.h"

/* Packs all of a picture, whose frame has w x h pixels: its values, or what the pixels show where that is less. */
BN_CHECKED bn_status bn_picture_keep(bn_context *, const char *path, const bn_picture *, int w, int h,
                                     bn_png_kept *out);

/* picture.c: bn_picture_write with such data at hand; NULL: made, where the picture is to keep its values. */
BN_CHECKED bn_status bn_picture_draw(bn_context *, const char *path, const bn_picture *, const bn_png_kept *);

#endif
