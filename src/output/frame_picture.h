/* frame_picture.h: pictures of one output time, as the plan describes them. */
#ifndef BN_FRAME_PICTURE_H
#define BN_FRAME_PICTURE_H

#include "output/field_sampler.h"
#include "output/postponed.h"
#include "plot/picture_type.h"

/* Draws picture number `which` of the plan to `path`. `caption`: as the solver had it at this time; NULL: none.
 * `keeps`: the file keeps its values, for the next calls; once drawing is postponed only `postponed` gets them. */
BN_CHECKED bn_status bn_frame_picture_write(bn_context *, const bn_field_sampler *, size_t which, const char *caption,
                                            bool keeps, bn_postponed *postponed, const char *path);

/* Rows of hexagons as 2 nx + 1 columns of half cells, every odd row shifted by one: what stands out at the ends takes
 * the value beside it. NULL: no memory; free() it. */
double *bn_frame_half_cells(const double *values, size_t nx, size_t ny);

/* The scale of the pictures of number `which` at these paths; one of them drawn again with it. kept: of those that are
 * postponed, else NULL. */
BN_CHECKED bn_status bn_frame_pictures_scale(bn_context *, const bn_plan *, size_t which, const char *const *paths,
                                             const bn_png_kept *const *kept, size_t count, bn_picture_scale *out);
BN_CHECKED bn_status bn_frame_picture_rescale(bn_context *, const bn_plan *, size_t which, const char *path,
                                              const bn_png_kept *kept, const bn_picture_scale *);

#endif
