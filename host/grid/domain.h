/* domain.h: creating a domain, beyond what solvers see. */
#ifndef BN_HOST_DOMAIN_H
#define BN_HOST_DOMAIN_H

#include "grid/grid.h"

/* Boxes in a row along one dimension: where they begin. */
typedef struct bn_box_cuts {
    int along;
    const uint32_t *begin;
} bn_box_cuts;
BN_CHECKED bn_status bn_domain_create_cut(bn_context *, const bn_domain_desc *, const bn_box_cuts *, bn_domain **out);
/* Points that a box has at least along a dimension that is cut. */
uint32_t bn_least_thickness(const bn_domain_desc *);
/* Cells along a dimension that no cut divides. */
uint32_t bn_cut_unit(int dim);
/* Pieces that so many units are cut into: piece p gets units [start(p), start(p + 1)). */
uint32_t bn_piece_start(uint32_t units, int pieces, int p);

#endif
