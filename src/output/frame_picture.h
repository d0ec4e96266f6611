/* frame_picture.h: pictures of one output time, as the plan describes them. */
#ifndef BN_FRAME_PICTURE_H
#define BN_FRAME_PICTURE_H

#include "output/field_sampler.h"

/* Draws picture number `which` of the plan to `path`. `caption`: as the solver had it at this time; NULL: none.
 * `keeps`: the file keeps its values, for the next call. */
BN_CHECKED bn_status bn_frame_picture_write(bn_context *, const bn_field_sampler *, size_t which, const char *caption,
                                            bool keeps, const char *path);

/* Draws the pictures of number `which` at these paths again, all with one range of colours and one set of lines. */
BN_CHECKED bn_status bn_frame_pictures_rescale(bn_context *, const bn_plan *, size_t which, const char *const *paths,
                                               size_t count);

#endif
