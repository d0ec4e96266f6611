/* transpose.h: a grid whose rows are the columns of another one, for methods that work on whole columns. */
#ifndef BN_API_TRANSPOSE_H
#define BN_API_TRANSPOSE_H

#include "api/launch.h"

/* The transposed grid in two dimensions: x of the other domain along y and its y along x. Both have whole rows; this
 * one has as many boxes, fewer if it has no more rows for them. A launch on either may store its result transposed, in
 * a field of the other. It lives on by itself. */
BN_CHECKED bn_status bn_domain_transposed(const bn_domain *, bn_domain **out);

/* A field of one component of the transposed grid: the kernel, which reads no neighbours in other rows, writes cell (i,
 * j) to the element AT_TRANSPOSED(i, j) of kernels/lib/index.h, all of them; then they are copied to the boxes of the
 * field, on whichever device. */
extern const bn_argument_kind bn_argument_transposed;
/* clang-format off */
#define BN_WRITE_TRANSPOSED(f) { .kind = &bn_argument_transposed, .object.field = (f) }
/* clang-format on */

#endif
