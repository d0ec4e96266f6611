/* multigrid.h: a V-cycle on a device (kernels/multigrid.cl), the preconditioner of cg.h. */
#ifndef BN_MULTIGRID_H
#define BN_MULTIGRID_H

#include "api/launch.h"
#include "numerics/stencil.h"

typedef struct bn_multigrid bn_multigrid;

/* bits: the stencil's, as a field of the domain, which has one box; `room`: a work field. Makes the coarser grids. */
BN_CHECKED bn_status bn_multigrid_create(bn_domain *, const bn_stencil *, bn_field *bits, bn_field *room,
                                         bn_multigrid **out);
void bn_multigrid_destroy(bn_multigrid **);

/* z = one cycle for A z = r; a bn_preconditioner, `user` is the bn_multigrid. */
BN_CHECKED bn_status bn_multigrid_cycle(void *user, bn_field *r, bn_field *z);

#endif
