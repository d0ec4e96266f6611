/* multigrid.h: a V-cycle on a device (kernels/multigrid.cl), the preconditioner of cg.h. */
#ifndef BN_MULTIGRID_H
#define BN_MULTIGRID_H

#include "api/other_grids.h"
#include "numerics/stencil.h"

typedef struct bn_multigrid bn_multigrid;

/* Cells of the halo beyond the first that a grid in several boxes needs: a cycle has two halo exchanges then, of its
 * right-hand side and of its correction. */
enum { BN_MULTIGRID_GHOST_CELLS = 2 };

/* bits: the stencil's, as a field of the domain. Makes the coarser grids: large ones in the boxes
 * of the domain, small ones whole on every device. The result of a cycle does not depend on the
 * boxes, in any bit. */
BN_CHECKED bn_status bn_multigrid_create(bn_domain *, const bn_stencil *, bn_field *bits, bn_multigrid **out);
/* Whether there is a coarser grid that can be cut like the domain, whose boxes have ghost cells: several boxes need
 * both. */
bool bn_multigrid_fits_boxes(const bn_domain *, const bn_stencil *);
void bn_multigrid_destroy(bn_multigrid **);

/* z = one cycle for A z = r; a bn_preconditioner, `user` is the bn_multigrid. */
BN_CHECKED bn_status bn_multigrid_cycle(void *user, bn_field *r, bn_field *z);

#endif
