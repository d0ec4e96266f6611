/* results_list.h: making and freeing results; the rest of their interface is public (binnacle/results.h). */
#ifndef BN_RESULTS_LIST_H
#define BN_RESULTS_LIST_H

#include "sim/plan.h"

BN_CHECKED bn_status bn_results_create(const bn_plan *, bn_results **out);
void bn_results_destroy(bn_results **);

#endif
