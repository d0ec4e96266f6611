/* block_copy.h: kernels that copy and fill blocks of cells, which may reach into the halo (kernels/halo.cl). */
#ifndef BN_HOST_BLOCK_COPY_H
#define BN_HOST_BLOCK_COPY_H

#include "grid/enqueue.h"

/* From one box to another of the same device, of the same field or of one with the same components. */
BN_CHECKED bn_status bn_block_copy(const bn_field *from, size_t from_box, const long from_first[3], bn_field *to,
                                   size_t to_box, const long to_first[3], const long n[3]);
/* Between the field's box and a buffer of the same device: `place` has the element that the block begins at there, and
 * those from row to row, slice to slice, component to component. */
BN_CHECKED bn_status bn_block_move(bn_field *, size_t box, const long first[3], const long n[3], const bn_buffer *,
                                   const cl_long place[4], bool to_field, const bn_order *);
/* Contiguous elements of a point: interleaved components count as one component of longer rows. */
long bn_field_width(const bn_field *);
/* The halo is stale from now on; in debug contexts it is painted with NaN. */
BN_CHECKED bn_status bn_field_changed(bn_field *);
/* Own cells to zero, the halo stale. */
BN_CHECKED bn_status bn_field_clear(bn_field *);

#endif
