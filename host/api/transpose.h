/* transpose.h: a grid whose rows are the columns of another one, for methods that work along columns. */
#ifndef BN_API_TRANSPOSE_H
#define BN_API_TRANSPOSE_H

#include "api/other_grids.h"

/* The transposed grid in two dimensions: x of the other domain, which has whole rows, along y and its y along x. It has
 * as many boxes, on the same devices. Box b has, for its own, the points that box b of the other domain has: of every
 * row a piece. Where the row goes on it has more of it, up to a multiple of `chunk` points and `chunks` such chunks
 * beyond, which other boxes have for their own: boxes overlap, and what needs no more of a row than that needs no other
 * device. Kernels of a box see rows as long as the box is wide. It lives on by itself. */
BN_CHECKED bn_status bn_domain_transposed(bn_domain *, uint32_t chunk, uint32_t chunks, bn_domain **out);

/* A field of one component of the transposed grid, or, for kernels there, of the other one; BN_SIZES of its domain must
 * be an argument, too. The kernel writes cell (i, j) to the element AT_TRANSPOSED of kernels/lib/index.h if the box has
 * it for its own (IS_TRANSPOSED), all of these cells, and reads no neighbours in other rows. Then boxes are sent what
 * others have for their own, the rest of the kernel running meanwhile. */
extern const bn_argument_kind bn_argument_transposed;
/* clang-format off */
#define BN_WRITE_TRANSPOSED(f) { .kind = &bn_argument_transposed, .object.field = (f) }
/* clang-format on */

#endif
