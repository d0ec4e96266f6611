/* transfer.h: between host memory in C order and the boxes of a field. */
#ifndef BN_HOST_TRANSFER_H
#define BN_HOST_TRANSFER_H

#include "grid/grid.h"

/* Moves components [first, first + count) of a region; the caller says so when a field was changed (bn_field_changed).
 */
BN_CHECKED bn_status bn_field_transfer(bn_field *, int first, int count, const bn_region *, void *values, bool write,
                                       bool wait);
/* Begins to read all components of a region in the queue of outgoing messages, after what was marked in fork.before. */
BN_CHECKED bn_status bn_field_read_aside(bn_field *, const bn_region *, void *values);
/* Bytes of an element as transfers see it: interleaved components are one component of longer elements. */
size_t bn_field_unit(const bn_field *, int *first, int *count);
/* Begins to read all components of a region of one box, which may reach into its halo. */
BN_CHECKED bn_status bn_field_enqueue_box(bn_field *, size_t box, const bn_region *, void *values);

/* Cells in the buffer of one of a field's boxes, which may lie in its halo, for calls that copy rectangles: elements of
 * eb bytes, from the cell `first` of the grid on. */
typedef struct bn_rect {
    const bn_box *box;
    bn_buffer *buffer;
    size_t at[3], row, slice; /* bytes, rows, layers; bytes from row to row, from layer to layer */
} bn_rect;
bn_rect bn_rect_of(const bn_field *, size_t box, int component, const uint32_t first[3], size_t eb);
/* The same from a place that is counted from the box's first cell. */
bn_rect bn_rect_in(const bn_field *, size_t box, int component, const long first[3], size_t eb);

#endif
