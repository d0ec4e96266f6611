/* repartition.h: load balance between the devices of a domain: how even their work is, cuts that make it more even, and
 * moving fields to a domain that is cut so. All of it depends on numbers that every rank has: all ranks cut alike. */
#ifndef BN_API_REPARTITION_H
#define BN_API_REPARTITION_H

#include "api/field.h"

/* Blocks of the grid along x, y, z: BN_BLOCK_NX cells in BN_BLOCK_NY rows of a layer, in the order of partial sums.
 */
void bn_domain_blocks(const bn_domain *, size_t n[3]);

/* What of the grid's cells a box has. */
double bn_domain_share(const bn_domain *, size_t box);

/* Boxes in a row. `now`, `then`: what the busiest device has to do over the mean of all, as the domain is cut and with
 * these cuts, a device's share of the cells (bn_device_weigh) taken into account; 1: all have the same. */
typedef struct bn_cuts {
    int along;       /* dimension */
    size_t count;    /* boxes */
    uint32_t *begin; /* their first cells along it; NULL: no cuts are possible */
    double now, then;
} bn_cuts;

/* The best cuts for a domain with one box for each of several devices. `work`: of each block, none negative, in any
 * unit; `most`: cells that a device has room for. Cuts lie at multiples of so many cells that each device has some
 * dozens of them: small changes of the work lead to cuts that there were before, whose programs are known. */
BN_CHECKED bn_status bn_cuts_find(const bn_domain *, const double *work, double most, bn_cuts *out);
void bn_cuts_free(bn_cuts *);

/* A domain like `old`, whose boxes lie on the same devices but are cut so; the counts and times of its kernels and
 * programs go on from there. Both live by themselves. */
BN_CHECKED bn_status bn_domain_repartition(const bn_domain *old, const bn_cuts *, bn_domain **out);

/* Moves a field to another domain of the same grid on the same devices, with its values. Cells that stay on their
 * device are copied there; the others go through the host, some megabytes at a time. The field keeps its address.
 * Waits. */
BN_CHECKED bn_status bn_field_move(bn_field *, bn_domain *to);

#endif
