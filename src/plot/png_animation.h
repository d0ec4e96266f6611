/* png_animation.h: several PNG files of one size as one animated PNG. */
#ifndef BN_PNG_ANIMATION_H
#define BN_PNG_ANIMATION_H

#include "binnacle/context.h"

/* Writes the `count` frames (1 or more, in order) to `path`, each shown for `delay_ms` (1 to 65535; what lies outside
 * is taken as the nearest), over and over; a reader that knows no animations shows the last, which stands before the
 * animation as a picture of its own. Pixels are taken over as they are compressed; of the other chunks, those before
 * the last frame's pixels. The frames have to agree in size, depth, colour type and interlacing, and have no palette.
 * BN_IO names the frame that does not, or is damaged; then nothing is left at `path` but what was there before. */
BN_CHECKED bn_status bn_png_animate(bn_context *, const char *path, const char *const *frames, size_t count,
                                    unsigned delay_ms);

/* Whether there is a file at `path` that bn_png_animate wrote, or something that begins like one. */
bool bn_png_animated(const char *path);

#endif
