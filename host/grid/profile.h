/* profile.h: what kernels have done, continued by the domain that takes the place of another. */
#ifndef BN_HOST_PROFILE_H
#define BN_HOST_PROFILE_H

#include "grid/grid.h"

/* What the kernels and programs of `old` have done so far counts for the other domain, too, from now on. */
BN_CHECKED bn_status bn_profile_continue(const bn_domain *old, bn_domain *);

#endif
