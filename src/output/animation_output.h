/* animation_output.h: pictures of one kind become an animated one when the run ends. */
#ifndef BN_ANIMATION_OUTPUT_H
#define BN_ANIMATION_OUTPUT_H

#include "io/writer.h"
#include "output/history.h"
#include "output/output_dir.h"
#include "output/postponed.h"
#include "sim/sim_parts.h"

/* Draws the pictures that the history lists, all of which are on the disk or postponed, again with one scale for each
 * kind, and joins them to pictures/NAME.png; all by jobs of the writer, for which it waits. */
BN_CHECKED bn_status bn_animation_output_write(bn_context *, const bn_plan *, bn_output_dir *, bn_writer *,
                                               const bn_history *, bn_postponed *);
/* How many pictures of a kind it takes to draw them again. */
enum { BN_ANIMATION_LEAST = 2 };

#endif
