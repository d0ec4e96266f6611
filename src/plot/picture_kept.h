/* picture_kept.h: values of a picture as data inside its file, so that it can be drawn again with another range. */
#ifndef BN_PICTURE_KEPT_H
#define BN_PICTURE_KEPT_H

#include "io/png_file.h"
#include "plot/picture_type.h"

/* Packs the values of a picture whose frame has w x h pixels, or what the pixels show where that is less; its title and
 * caption; the scale of all its values. */
BN_CHECKED bn_status bn_picture_keep(bn_context *, const char *path, const bn_picture *, int w, int h,
                                     bn_png_kept *out);

/* The other way: grid, values, lines, title and caption of `out` are set, in memory that *memory owns (free() it); its
 * other members stay. NULL in *memory: the data are none of this program on this machine. */
BN_CHECKED bn_status bn_picture_unpack(bn_context *, const char *path, const bn_png_kept *, bn_picture *out,
                                       bn_picture_scale *, void **memory);

#endif
