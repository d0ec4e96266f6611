/* guard.h: steps computed twice and compared, and hashes of fields. */
#ifndef BN_GUARD_H
#define BN_GUARD_H

#include "sim/checkpoint.h"
#include "sim/sim_parts.h"

/* Computes a step, restores what was before it, computes it again with other shapes of work-groups, and compares both
 * in every bit of the state: BN_MISMATCH where they differ. For bn_sim_step. */
BN_CHECKED bn_status bn_guard_step(bn_sim *);

/* The hash of a field is the sum of those of its regions, in any order: this is a region's, of values in C order. */
uint64_t bn_hash_region(const bn_part_layout *, const bn_region *, const void *values);
/* Of what the device holds, in the boxes of this rank. */
BN_CHECKED bn_status bn_hash_field(const bn_plan *, bn_field *, uint64_t *sum);

#endif
