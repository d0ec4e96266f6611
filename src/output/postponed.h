/* postponed.h: pictures that are drawn once, when the scale of all of their kind is known: those that wait for a thread
 * of the writer when a run ends. Until then only what they keep is there, in memory. Threads may call all of these. */
#ifndef BN_POSTPONED_H
#define BN_POSTPONED_H

#include "io/png_file.h"

#include <stdbool.h>

typedef struct bn_postponed bn_postponed;

BN_CHECKED bn_status bn_postponed_create(bn_context *, bn_postponed **out);
void bn_postponed_destroy(bn_postponed **); /* accepts NULL in it */

/* From now on pictures are to be put here. */
void bn_postponed_begin(bn_postponed *);
bool bn_postponed_begun(bn_postponed *);

/* Takes over the data that the picture at this path keeps. */
BN_CHECKED bn_status bn_postponed_put(bn_context *, bn_postponed *, const char *path, bn_png_kept);
/* Lends them, until the end; NULL: the picture has been drawn. */
const bn_png_kept *bn_postponed_find(bn_postponed *, const char *path);

#endif
