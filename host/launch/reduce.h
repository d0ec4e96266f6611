/* reduce.h: partial sums as kernels read them. */
#ifndef BN_HOST_REDUCE_H
#define BN_HOST_REDUCE_H

#include "comm/allreduce.h"

/* Brings the packs of partial sums up to date. */
BN_CHECKED bn_status bn_partials_pack(bn_partials *);

#endif
