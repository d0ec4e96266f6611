/* reduce.h: sums over the whole grid whose bits do not depend on work-groups or boxes, and small arrays of scalars that
 * stay on the device.
 *
 * A kernel of range BN_PER_SEGMENT writes one partial sum per segment (BN_SEGMENT cells of a row) into bn_partials; a
 * kernel of range BN_ONCE adds the partials up in fixed order and puts what it makes of them into bn_scalars, where
 * later kernels find it without the host (kernels/lib/reduce.h). */
#ifndef BN_API_REDUCE_H
#define BN_API_REDUCE_H

#include "api/field.h"

typedef struct bn_partials bn_partials;
typedef struct bn_scalars bn_scalars;

/* `components` sums at a time; each has one `acc` (real of the domain's precision) per segment of the grid. Device
 * domains only. */
BN_CHECKED bn_status bn_partials_create(bn_domain *, const char *name, int components, bn_partials **out);
void bn_partials_destroy(bn_partials **);

/* `count` reals, zero at first. Reading waits; reads a few dozen bytes. */
BN_CHECKED bn_status bn_scalars_create(bn_domain *, const char *name, size_t count, bn_scalars **out);
void bn_scalars_destroy(bn_scalars **);
BN_CHECKED bn_status bn_scalars_read(bn_scalars *, double *values, size_t count);
BN_CHECKED bn_status bn_scalars_write(bn_scalars *, const double *values, size_t count);

typedef enum bn_reduce_op { BN_SUM, BN_SUM_SQUARES, BN_MAX_ABS } bn_reduce_op;

/* One number from one component of a real field, for both engines, same bits; NaN or infinity anywhere gives a result
 * that is not finite. */
BN_CHECKED bn_status bn_reduce(bn_field *, int component, bn_reduce_op, double *result);

#endif
