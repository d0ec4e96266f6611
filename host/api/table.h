/* table.h: constant arrays on a domain's device that kernels only read: twiddle factors, permutations, a small inverse. */
#ifndef BN_API_TABLE_H
#define BN_API_TABLE_H

#include "api/domain.h"

typedef struct bn_table bn_table;

/* Reals are rounded once to the domain's precision; pairs (`real2`) lie as two reals one after the other. Device domains
 * only. */
BN_CHECKED bn_status bn_table_reals(bn_domain *, const char *name, const double *values, size_t count, bn_table **out);
BN_CHECKED bn_status bn_table_integers(bn_domain *, const char *name, const int32_t *values, size_t count,
                                       bn_table **out);
/* New values of a table of reals, as many as it has; kernels launched before still see the old ones. */
BN_CHECKED bn_status bn_table_rewrite(bn_table *, const double *values, size_t count);
void bn_table_destroy(bn_table **);

#endif
