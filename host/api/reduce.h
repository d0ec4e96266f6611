/* reduce.h: sums over the whole grid whose bits do not depend on work-groups or boxes, and small arrays of scalars that
 * stay on the device.
 *
 * A kernel of range BN_PER_BLOCK writes one partial sum per block (BN_BLOCK_NX cells of BN_BLOCK_NY rows) into
 * bn_partials. Later kernels add them up in fixed order: one of range BN_ONCE, which puts what it makes of them into
 * bn_scalars, or every work-group by itself, which saves a launch (kernels/lib/reduce.h). */
#ifndef BN_API_REDUCE_H
#define BN_API_REDUCE_H

#include "api/field.h"

typedef struct bn_partials bn_partials;
typedef struct bn_scalars bn_scalars;

/* `components` sums at a time; each has one `acc` (real of the domain's precision) per block of the grid. Bit c of
 * `maxima`: component c is a maximum instead. Device domains only. */
BN_CHECKED bn_status bn_partials_create(bn_domain *, const char *name, int components, unsigned maxima,
                                        bn_partials **out);
void bn_partials_destroy(bn_partials **);

/* Kernels of range BN_PER_BLOCK read partial sums of earlier launches in other blocks. */
void bn_partials_share(bn_partials *);

/* One component of partial sums, of all blocks of the grid (bn_domain_blocks) and on all ranks. Waits. */
BN_CHECKED bn_status bn_partials_read(bn_partials *, int component, double *values, size_t count);

/* `count` reals, zero at first. Reading waits; reads a few dozen bytes. */
BN_CHECKED bn_status bn_scalars_create(bn_domain *, const char *name, size_t count, bn_scalars **out);
void bn_scalars_destroy(bn_scalars **);
BN_CHECKED bn_status bn_scalars_read(bn_scalars *, double *values, size_t count);
BN_CHECKED bn_status bn_scalars_write(bn_scalars *, const double *values, size_t count);

/* Work-groups of range BN_PER_BLOCK write to them: each value only by one of them, or by atomic_max of non-negative
 * numbers. Without it a kernel may write scalars only if every box's launch writes the same: in range BN_ONCE, or in
 * the first_group() of kernels/lib/reduce.h. */
BN_CHECKED bn_status bn_scalars_share(bn_scalars *);

/* Several of one domain in one wait. */
typedef struct bn_scalars_request {
    bn_scalars *scalars;
    double *values;
    size_t count;
} bn_scalars_request;
BN_CHECKED bn_status bn_scalars_read_all(const bn_scalars_request *, size_t count);

typedef enum bn_reduce_op { BN_SUM, BN_SUM_SQUARES, BN_MAX_ABS, BN_COUNT_ABOVE } bn_reduce_op;

/* One number from one component of a real field, for both engines, same bits; NaN or infinity anywhere gives a result
 * that is not finite. */
BN_CHECKED bn_status bn_reduce(bn_field *, int component, bn_reduce_op, double *result);
/* Begins to compile what such a reduction needs, where compilers work beside the host. */
BN_CHECKED bn_status bn_reduce_prepare(bn_domain *, bn_reduce_op);
/* How many points have more than `limit` there, summed in the field's precision. */
BN_CHECKED bn_status bn_reduce_above(bn_field *, int component, double limit, double *count);
/* On a device: launches one of these (`limit`: of BN_COUNT_ABOVE) and lends the scalars whose first one it is until the
 * next one of its kind: to be read along with others. */
BN_CHECKED bn_status bn_reduce_launch(bn_field *, int component, bn_reduce_op, double limit, bn_scalars **lent);

#endif
