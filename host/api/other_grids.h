/* other_grids.h: kernels that work on two grids in the same boxes, such as the levels of a multigrid method. */
#ifndef BN_API_OTHER_GRIDS_H
#define BN_API_OTHER_GRIDS_H

#include "api/launch.h"

extern const bn_argument_kind bn_argument_read_other_grid, bn_argument_read_later, bn_argument_write_other_grid,
    bn_argument_read_everywhere, bn_argument_sizes;

/* clang-format off */
/* Fields of another grid in the same boxes, such as the next coarser one (bn_domain_coarsen): box b sees box b's; the
 * kernel knows their layout from BN_SIZES. The radius is counted in cells of that grid. */
#define BN_READ_OTHER_GRID(f) BN_READ_OTHER_GRID_RADIUS(f, 0)
#define BN_READ_OTHER_GRID_RADIUS(f, radius_) \
    { .kind = &bn_argument_read_other_grid, .object.field = (f), .radius = (radius_) }
/* No argument of the kernel; it stands behind all that are. A later launch reads neighbours within this radius: they
 * are received while this kernel runs, which reads no halo of any field. */
#define BN_READ_LATER(f, radius_) { .kind = &bn_argument_read_later, .object.field = (f), .radius = (radius_) }
#define BN_WRITE_OTHER_GRID(f) { .kind = &bn_argument_write_other_grid, .object.field = (f) }
/* A field of another grid that is whole on every device (bn_domain_desc.copies): each box sees the copy of its device,
 * whose layout bn_domain_place gives. */
#define BN_READ_EVERYWHERE(f) { .kind = &bn_argument_read_everywhere, .object.field = (f) }
/* Sizes and layout of a box of the kernel's own or another grid: int16, whose parts are SIZES_NX, ... of
 * kernels/lib/index.h. */
#define BN_SIZES(domain_) { .kind = &bn_argument_sizes, .object.domain = (domain_) }
/* clang-format on */

#endif
