/* overlap.h: boxes of a transposed domain overlap (api/transpose.h): points that one has for its own are sent to the
 * others that have them, too. */
#ifndef BN_HOST_OVERLAP_H
#define BN_HOST_OVERLAP_H

#include "grid/grid.h"

/* Of the points that box `from` has for its own those that box `to` has, too, along x; false: none. */
bool bn_overlap_of(const bn_domain *, size_t from, size_t to, uint32_t *first, uint32_t *n);
/* Readies memory for the messages; packs what other devices need of a box, when that has been launched; sends and
 * copies all that overlaps. */
BN_CHECKED bn_status bn_overlap_begin(bn_field *);
BN_CHECKED bn_status bn_overlap_pack(bn_field *, size_t box);
BN_CHECKED bn_status bn_overlap_end(bn_field *);

#endif
