/* spectral.h: the fast direct solver on a device (kernels/spectral.cl): three launches. */
#ifndef BN_SPECTRAL_H
#define BN_SPECTRAL_H

#include "api/other_grids.h"
#include "numerics/stencil.h"

typedef struct bn_spectral bn_spectral;

/* bn_spectral_suits must be true; the domain has one box. `work`: a work field. */
BN_CHECKED bn_status bn_spectral_create(bn_domain *, const bn_stencil *, bn_field *work, bn_spectral **out);
void bn_spectral_destroy(bn_spectral **);

/* x = A^-1 b at the unknowns; the rest of x stays. b may be x. */
BN_CHECKED bn_status bn_spectral_solve(bn_spectral *, bn_field *x, bn_field *b);

#endif
