/* field.h: numbers of the domain's precision. */
#ifndef BN_HOST_FIELD_H
#define BN_HOST_FIELD_H

#include "grid/grid.h"

/* Numbers of the domain's precision, which fill the beginning of `values`, to doubles in place. */
void bn_reals_widen(const bn_domain *, double *values, size_t count);

#endif
