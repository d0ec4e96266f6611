/* device_array.h: arrays on a domain's device that belong to no grid: constants that kernels only read (twiddle
 * factors, permutations, a small inverse, a density), and counters that they add to. */
#ifndef BN_API_DEVICE_ARRAY_H
#define BN_API_DEVICE_ARRAY_H

#include "api/domain.h"

typedef struct bn_device_array bn_device_array;

/* Reals are rounded once to the domain's precision; pairs (`real2`) lie as two reals one after the other. Device
 * domains only. */
BN_CHECKED bn_status bn_device_array_reals(bn_domain *, const char *name, const double *values, size_t count,
                                           bn_device_array **out);
/* Reals in planes of `each`, of which every device has some that follow one another; cut at multiples of `unit` planes,
 * so that no device has more than one unit more than another. Kernels know which ones they see by BN_FIRST_PLANE
 * and BN_END_PLANE (launch.h): none, where there are fewer units than devices. */
BN_CHECKED bn_status bn_device_array_slabs(bn_domain *, const char *name, const double *values, size_t planes,
                                           size_t each, size_t unit, bn_device_array **out);
BN_CHECKED bn_status bn_device_array_integers(bn_domain *, const char *name, const int32_t *values, size_t count,
                                              bn_device_array **out);
/* What work-groups that wait for each other meet by (kernels/lib/meet.h). */
BN_CHECKED bn_status bn_device_array_meeting(bn_domain *, bn_device_array **out);
/* New values of a table of reals, as many as it has; kernels launched before still see the old ones. */
BN_CHECKED bn_status bn_device_array_rewrite(bn_device_array *, const double *values, size_t count);
/* `count` 64-bit integers, zero at first, that the work-items of all boxes add to with fixed_add (kernels/lib/fixed.h).
 */
BN_CHECKED bn_status bn_device_array_counters(bn_domain *, const char *name, size_t count, bn_device_array **out);
/* Waits, adds what the work-items of all boxes have added up to `sums`, on every rank, and sets the counters to zero.
 */
BN_CHECKED bn_status bn_device_array_take(bn_device_array *, int64_t *sums, size_t count);
void bn_device_array_destroy(bn_device_array **);

#endif
