/* launch.h: running a kernel over the whole domain. Arguments say how they are used and the radius of the stencil that
 * reads them; stale halos are exchanged before the kernel runs, so no solver has a halo call or a loop over boxes. */
#ifndef BN_API_LAUNCH_H
#define BN_API_LAUNCH_H

#include "api/device_array.h"
#include "api/program.h"
#include "api/reduce.h"

/* How an argument is used. Kinds that few solvers need stand in headers of their own: migrate.h, other_grids.h,
 * transpose.h. */
typedef struct bn_argument_kind bn_argument_kind;
extern const bn_argument_kind bn_argument_null, bn_argument_real, bn_argument_word, bn_argument_read,
    bn_argument_read_ahead, bn_argument_image, bn_argument_write, bn_argument_update, bn_argument_array,
    bn_argument_counters, bn_argument_partials, bn_argument_partials_ahead, bn_argument_totals, bn_argument_scalars,
    bn_argument_scalars_ahead, bn_argument_inner_rows, bn_argument_only_inner_rows;

typedef struct bn_arg {
    const bn_argument_kind *kind;
    union {
        bn_field *field;
        bn_domain *domain;
        bn_partials *partials;
        bn_scalars *scalars;
        bn_device_array *array;
        void *other;
    } object;
    union {
        double r;
        int32_t i;
        uint32_t u;
    } value;
    int radius;    /* cells beyond its own that the kernel reads */
    bool wraps;    /* the kernel steps over periodic sides by itself where the box is the whole grid (NX == GNX, ...) */
    int side;      /* with `wraps`: 1 if only cells of higher indices are read beyond its own, -1 if only those of lower
                      ones; 0: both */
    int component; /* partial sums: the only component that the kernel writes, plus one; 0: any */
} bn_arg;

/* clang-format off */
#define BN_READ(f, radius_) { .kind = &bn_argument_read, .object.field = (f), .radius = (radius_) }
/* The same for kernels that find the neighbour across a periodic side by its index: no halo is copied while the grid is
 * one box. */
#define BN_READ_WRAPPED(f, radius_) BN_READ_WRAPPED_SIDE(f, radius_, 0)
#define BN_READ_WRAPPED_SIDE(f, radius_, side_) \
    { .kind = &bn_argument_read, .object.field = (f), .radius = (radius_), .wraps = true, .side = (side_) }
/* No argument of the kernel; it stands behind all that are. The next launch reads neighbours within this radius, and
 * the halo comes in the same message as those that this launch needs. */
#define BN_READ_AHEAD(f, radius_) { .kind = &bn_argument_read_ahead, .object.field = (f), .radius = (radius_) }
/* A field read as an image: image1d_buffer_t of reals, in double precision of uint4 that are two of them. */
#define BN_IMAGE(f, radius_) { .kind = &bn_argument_image, .object.field = (f), .radius = (radius_) }
#define BN_WRITE(f) { .kind = &bn_argument_write, .object.field = (f) }
#define BN_UPDATE(f) { .kind = &bn_argument_update, .object.field = (f) }
#define BN_PARTIALS(p) { .kind = &bn_argument_partials, .object.partials = (p) }
/* The same for a kernel that writes one component of several. */
#define BN_PARTIALS_OF(p, c) { .kind = &bn_argument_partials, .object.partials = (p), .component = (c) + 1 }
/* Partial sums to be added up: total_sum in the kernel. */
#define BN_TOTALS(p) { .kind = &bn_argument_totals, .object.partials = (p) }
#define BN_SCALARS(s) { .kind = &bn_argument_scalars, .object.scalars = (s) }
/* No arguments of the kernel; they stand behind all that are. The next launch needs these sums and scalars: devices
 * begin to agree on them as they are before this launch, which has none and keeps the devices busy meanwhile. */
#define BN_PARTIALS_AHEAD(p) { .kind = &bn_argument_partials_ahead, .object.partials = (p) }
#define BN_SCALARS_AHEAD(s) { .kind = &bn_argument_scalars_ahead, .object.scalars = (s) }
/* Rows of each box that have so many cells, at most half of the box, in whole blocks, from the second block on (row
 * BN_BLOCK_NY), so that neither they nor those beside them lie in a halo across y; none in boxes of less than three
 * blocks. The kernel is given their number. */
#define BN_INNER_ROWS(cells) { .kind = &bn_argument_inner_rows, .value.u = (cells) }
/* The same for a kernel that has work there alone, and reads no halo: where boxes have programs of their own, which
 * know their place (kernels/lib/index.h), no other rows are launched. */
#define BN_ONLY_INNER_ROWS(cells) { .kind = &bn_argument_only_inner_rows, .value.u = (cells) }
#define BN_ARRAY(a) { .kind = &bn_argument_array, .object.array = (a) }
/* What the case has, or NULL, which the kernel is given then and does not access: NVIDIA's driver takes 0.2 to 0.4 us a
 * launch for every buffer, and none for NULL. */
#define BN_NULL { .kind = &bn_argument_null }
#define BN_READ_OR_NULL(f, radius_) \
    { .kind = (f) ? &bn_argument_read : &bn_argument_null, .object.field = (f), .radius = (f) ? (radius_) : 0 }
#define BN_UPDATE_OR_NULL(f) { .kind = (f) ? &bn_argument_update : &bn_argument_null, .object.field = (f) }
#define BN_SCALARS_OR_NULL(s) { .kind = (s) ? &bn_argument_scalars : &bn_argument_null, .object.scalars = (s) }
#define BN_ARRAY_OR_NULL(a) { .kind = (a) ? &bn_argument_array : &bn_argument_null, .object.array = (a) }
/* Counters that the kernel takes: it sees what work-items of all boxes have added up, in its own cells; afterwards all
 * counters are zero. */
#define BN_COUNTERS(a) { .kind = &bn_argument_counters, .object.array = (a) }
#define BN_REALV(x) { .kind = &bn_argument_real, .value.r = (x) } /* in the domain's precision */
#define BN_I32V(x) { .kind = &bn_argument_word, .value.i = (x) }
#define BN_U32V(x) { .kind = &bn_argument_word, .value.u = (x) }
/* clang-format on */

#define BN_RUN(kernel, ...) \
    bn_launch((kernel), (const bn_arg[]){ __VA_ARGS__ }, sizeof((const bn_arg[]){ __VA_ARGS__ }) / sizeof(bn_arg))

/* Enqueues the kernel over every box, in order after all that was launched before; does not wait. Checks count and kind
 * of the arguments, that fields belong to the kernel's domain, and that no radius exceeds the halo. */
BN_CHECKED bn_status bn_launch(bn_kernel *, const bn_arg *, size_t count);

#endif
