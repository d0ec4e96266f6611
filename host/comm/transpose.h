/* transpose.h: kernels of one domain that store their results transposed, in a field of another (bn_domain_transposed).
 */
#ifndef BN_HOST_TRANSPOSE_H
#define BN_HOST_TRANSPOSE_H

#include "grid/grid.h"

/* Why the field can't take transposed stores of this domain's kernels; NULL: it can. */
const char *bn_transpose_objection(const bn_domain *, const bn_field *);
/* The memory that the kernel of a box stores to. */
const cl_mem *bn_transpose_memory(const bn_domain *, const bn_field *, size_t box);
/* Domains of several boxes: `begin` readies that memory, `packed` follows the launch over each strip of rows, in order,
 * of every box, `deliver` copies what other boxes have stored into the field's boxes. */
BN_CHECKED bn_status bn_transpose_begin(bn_domain *, bn_field *);
BN_CHECKED bn_status bn_transpose_packed(bn_domain *, size_t box, size_t strip);
BN_CHECKED bn_status bn_transpose_deliver(bn_domain *, bn_field *);

#endif
