/* multigrid.h: a V-cycle on a device (kernels/multigrid.cl), the preconditioner of cg.h. */
#ifndef BN_MULTIGRID_H
#define BN_MULTIGRID_H

#include "api/other_grids.h"
#include "numerics/stencil.h"

typedef struct bn_multigrid bn_multigrid;

/* Cells by which the halo of a domain of several boxes is wider than 1 for a grid to need two exchanges in a cycle, its
 * right-hand side and its correction, instead of one for each of its six launches. */
enum { BN_MULTIGRID_GHOST_CELLS = 2 };

/* bits: the stencil's, as a field of the domain; `room`: a work field. Makes the coarser grids, in the boxes of the
 * domain as long as they are large; smaller ones are whole on the first device (of every rank). The bits of a cycle do
 * not depend on the boxes. */
BN_CHECKED bn_status bn_multigrid_create(bn_domain *, const bn_stencil *, bn_field *bits, bn_field *room,
                                         bn_multigrid **out);
/* Whether there is a coarser grid that can be cut like the domain: several boxes need one. */
bool bn_multigrid_fits_boxes(const bn_domain *, const bn_stencil *);
void bn_multigrid_destroy(bn_multigrid **);

/* z = one cycle for A z = r; a bn_preconditioner, `user` is the bn_multigrid. */
BN_CHECKED bn_status bn_multigrid_cycle(void *user, bn_field *r, bn_field *z);

#endif
