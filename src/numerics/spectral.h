/* spectral.h: the fast direct solver on a device (kernels/spectral.cl): one launch on small grids, else three, and some
 * more where columns are cut (cut_columns.h). */
#ifndef BN_SPECTRAL_H
#define BN_SPECTRAL_H

#include "api/other_grids.h"
#include "numerics/spectral_plan.h"

typedef struct bn_spectral bn_spectral;

/* A second system of the same unknowns, whose right-hand side is area times the solution of the first. `plus` is added
 * to its solution (NULL: nothing): the part that does not change. */
typedef struct bn_spectral_second {
    const bn_stencil *stencil;
    bn_field *work, *plus;
} bn_spectral_second;

/* Whether the system can be solved in the domain's boxes: one, or such as have whole rows and whole chunks of columns.
 * On a stretched grid and with obstacles there must be one. */
bool bn_spectral_fits_boxes(const bn_domain *, const bn_stencil *);
/* Whether one launch in place of several is faster, for a solution or a whole step: on small grids, where the device
 * lets work-groups run side by side (NULL: no device). So many columns a work-group then takes at a time. */
bool bn_spectral_gains_by_one_launch(const bn_device_info *, uint32_t nx, uint32_t ny);
enum { BN_SPECTRAL_ONE_LAUNCH_COLUMNS = 4 };
/* Whether a system in one box is solved in one launch (device NULL: none). */
bool bn_spectral_takes_one_launch(const bn_stencil *, size_t real_bytes, const bn_device_info *device, bn_launches);
/* bn_spectral_suits must be true, and bn_spectral_fits_boxes. `work`: a work field. second: NULL for one system. */
BN_CHECKED bn_status bn_spectral_create(bn_domain *, const bn_stencil *, bn_field *work,
                                        const bn_spectral_second *second, bn_launches, bn_spectral **out);
void bn_spectral_destroy(bn_spectral **);
/* Waits until those kernels are compiled that are on grids of their own. */
BN_CHECKED bn_status bn_spectral_ready(const bn_spectral *);

/* The tables of the transform along x: twiddle factors, chirps and their spectrum, sums, one behind the other (NULL:
 * an axis of the same length has them); and the places of values forward and then back. lines: in the order of
 * kernels/spectral_lines.cl, else of kernels/transform.cl. */
BN_CHECKED bn_status bn_spectral_tables(bn_domain *, const bn_spectral_axis *, bool lines, bn_device_array **numbers,
                                        bn_device_array **places);

/* x = A^-1 b at the unknowns; the rest of x stays. b may be x. */
BN_CHECKED bn_status bn_spectral_solve(bn_spectral *, bn_field *x, bn_field *b);
/* x = A^-1 b, y = B^-1 area x + plus. */
BN_CHECKED bn_status bn_spectral_solve_two(bn_spectral *, bn_field *x, bn_field *y, bn_field *b);
/* One number, 1 where work-groups waited for each other in vain and solutions are wrong; NULL (also for NULL): systems
 * are solved in several launches. */
bn_scalars *bn_spectral_failed(const bn_spectral *);

#endif
