/* launch.h: running a kernel over the whole domain. Arguments say how they are used and how far they reach; stale halos
 * are exchanged before the kernel runs, so no solver has a halo call or a loop over boxes. */
#ifndef BN_API_LAUNCH_H
#define BN_API_LAUNCH_H

#include "api/program.h"
#include "api/reduce.h"
#include "api/device_array.h"
#include "api/migrate.h"

typedef enum bn_access {
    BN_A_SCALAR,
    BN_A_READ,
    BN_A_WRITE,
    BN_A_UPDATE,
    BN_A_PARTIALS,
    BN_A_TOTALS,
    BN_A_SCALARS,
    BN_A_ARRAY,
    BN_A_COUNTERS,
    BN_A_IMAGE,
    BN_A_TRANSPOSED,
    BN_A_PLANE,
    BN_A_MIGRATING,
    BN_A_GHOST_CELLS
} bn_access;
typedef enum bn_value_kind { BN_V_REAL, BN_V_I32, BN_V_U32 } bn_value_kind;

typedef struct bn_arg {
    bn_access access;
    int reach; /* cells beyond its own that the kernel reads */
    bn_field *field;
    bn_partials *partials;
    bn_scalars *scalars;
    bn_device_array *table;
    bn_migrating_particles *travellers;
    int side;      /* with `wraps`: 1 if only cells of higher indices are read beyond its own, -1 if only those of lower
                      ones; 0: both */
    int component; /* partial sums: the only component that the kernel writes, plus one; 0: any */
    bool wraps;    /* the kernel steps over periodic sides by itself where the box is the whole grid (NX == GNX, ...) */
    bool foreign; /* the field may belong to another domain of the same boxes on the same devices: box b sees box b's */
    bn_value_kind kind;
    union {
        double r;
        int32_t i;
        uint32_t u;
    } value;
} bn_arg;

#define BN_READ(f, reach_)                                   \
    {                                                        \
        .access = BN_A_READ, .reach = (reach_), .field = (f) \
    }
/* The same for kernels that find the neighbour across a periodic side by its index: no halo is copied while the grid is
 * one box. */
#define BN_READ_WRAPPED(f, reach_)                                          \
    {                                                                       \
        .access = BN_A_READ, .reach = (reach_), .field = (f), .wraps = true \
    }
#define BN_READ_WRAPPED_SIDE(f, reach_, side_)                                               \
    {                                                                                        \
        .access = BN_A_READ, .reach = (reach_), .field = (f), .wraps = true, .side = (side_) \
    }
#define BN_WRITE(f)                        \
    {                                      \
        .access = BN_A_WRITE, .field = (f) \
    }
#define BN_UPDATE(f)                        \
    {                                       \
        .access = BN_A_UPDATE, .field = (f) \
    }
#define BN_PARTIALS(p)                           \
    {                                            \
        .access = BN_A_PARTIALS, .partials = (p) \
    }
/* The same for a kernel that writes one component of several. */
#define BN_PARTIALS_OF(p, c)                                           \
    {                                                                  \
        .access = BN_A_PARTIALS, .partials = (p), .component = (c) + 1 \
    }
/* Partial sums to be added up: total_sum in the kernel. */
#define BN_TOTALS(p)                           \
    {                                          \
        .access = BN_A_TOTALS, .partials = (p) \
    }
#define BN_SCALARS(s)                          \
    {                                          \
        .access = BN_A_SCALARS, .scalars = (s) \
    }
#define BN_ARRAY(t)                        \
    {                                      \
        .access = BN_A_ARRAY, .table = (t) \
    }
/* Counters that the kernel takes: it sees what work-items of all boxes have added up, in its own cells; afterwards all
 * counters are zero. */
#define BN_COUNTERS(t)                        \
    {                                         \
        .access = BN_A_COUNTERS, .table = (t) \
    }
/* Of a table that is cut into slabs (bn_device_array_slabs): the first plane that the kernel sees, and the one behind the
 * last; int. */
#define BN_FIRST_PLANE(t)                              \
    {                                                  \
        .access = BN_A_PLANE, .table = (t), .side = -1 \
    }
#define BN_END_PLANE(t)                               \
    {                                                 \
        .access = BN_A_PLANE, .table = (t), .side = 1 \
    }
/* Those who have come and those who leave, in a kernel of range BN_PER_PARTICLE: global uint * (kernels/lib/migrate.h).
 */
#define BN_MIGRATING(t)                             \
    {                                                \
        .access = BN_A_MIGRATING, .travellers = (t) \
    }
/* So many cells of the halo, where other boxes lie, are computed along with a box, and need no exchange when they are
 * read: a kernel of range BN_PER_CELL that says CELL_AND_GHOSTS. What it reads of its own grid then reaches so much
 * further, which need not be said. int; the kernel gets 0 where boxes share a device, on which an exchange is cheap. */
#define BN_GHOST_CELLS(cells)                                                     \
    {                                                                        \
        .access = BN_A_GHOST_CELLS, .kind = BN_V_I32, .value.i = (int32_t)(cells) \
    }
/* A field read as an image: image1d_buffer_t of reals, in double precision of uint4 that are two of them. */
#define BN_IMAGE(f, reach_)                                   \
    {                                                         \
        .access = BN_A_IMAGE, .reach = (reach_), .field = (f) \
    }
/* Fields of another grid in the same boxes, such as the next coarser one (bn_domain_coarsen); the kernel knows their
 * layout from BN_DEF_PLACE. The reach is counted in cells of that grid. */
#define BN_READ_OTHER_GRID(f) BN_READ_OTHER_GRID_RADIUS(f, 0)
#define BN_READ_OTHER_GRID_RADIUS(f, reach_)                                      \
    {                                                                         \
        .access = BN_A_READ, .reach = (reach_), .field = (f), .foreign = true \
    }
#define BN_WRITE_OTHER_GRID(f)                                 \
    {                                                       \
        .access = BN_A_WRITE, .field = (f), .foreign = true \
    }
/* A field of the turned grid (bn_domain_transposed), of one component: the kernel, which reads no neighbours in other rows,
 * writes cell (i, j) to the element AT_TRANSPOSED(i, j) of kernels/lib/index.h, all of them; then they go where they
 * belong, to whichever device. */
#define BN_WRITE_TRANSPOSED(f)                  \
    {                                       \
        .access = BN_A_TRANSPOSED, .field = (f) \
    }
#define BN_SCALARS_OTHER_GRID(s)                                   \
    {                                                           \
        .access = BN_A_SCALARS, .scalars = (s), .foreign = true \
    }
#define BN_REALV(x)                                              \
    {                                                            \
        .access = BN_A_SCALAR, .kind = BN_V_REAL, .value.r = (x) \
    } /* in the domain's precision */
#define BN_I32V(x)                                              \
    {                                                           \
        .access = BN_A_SCALAR, .kind = BN_V_I32, .value.i = (x) \
    }
#define BN_U32V(x)                                              \
    {                                                           \
        .access = BN_A_SCALAR, .kind = BN_V_U32, .value.u = (x) \
    }
#define BN_RUN(kernel, ...) \
    bn_launch((kernel), (const bn_arg[]){ __VA_ARGS__ }, sizeof((const bn_arg[]){ __VA_ARGS__ }) / sizeof(bn_arg))

/* Enqueues the kernel over every box, in order after all that was launched before; does not wait. Checks count and kind
 * of the arguments, that fields belong to the kernel's domain, and that no reach exceeds the halo. */
BN_CHECKED bn_status bn_launch(bn_kernel *, const bn_arg *, size_t count);

/* A kernel of range BN_PER_PARTICLE, one of whose arguments is BN_MIGRATING: launches it again and again, and takes
 * those who leave one device to the one that they name, until nobody is on the way and every work-item is through with
 * what it begins by itself (travel.h). Waits for every launch. */
#define BN_MIGRATION(kernel, ...) \
    bn_migration((kernel), (const bn_arg[]){ __VA_ARGS__ }, sizeof((const bn_arg[]){ __VA_ARGS__ }) / sizeof(bn_arg))
BN_CHECKED bn_status bn_migration(bn_kernel *, const bn_arg *, size_t count);

/* From now on a kernel of range BN_PER_CELL in one or two dimensions runs with so many work-items a cell, told apart by
 * get_global_id(2): for grids of few cells on devices that want many work-items. They may only write by atomics. */
void bn_kernel_layers(bn_kernel *, size_t layers);

/* From now on a launch does the operations of its declared cost so often on the same data, which move once: steps of a
 * beam that stays in a work-group, photons one after the other. */
void bn_kernel_repeats(bn_kernel *, double times);

/* One row per kernel that ran: for the summary and `run --profile`. */
typedef struct bn_profile_row {
    const char *kernel;
    unsigned long long calls;
    double seconds;      /* by device events; NaN unless the device was opened for profiling */
    double bytes, flops; /* declared */
} bn_profile_row;

/* What a device was asked for so far: kernels, calls that returned only when it had done all before them, and rounds of
 * messages between devices, each for the halos that one launch needed. And the most kernels that ever stood in its
 * queue without the host having seen them done. */
typedef struct bn_queue_counts {
    unsigned long long launches, waits, exchanges, most_ahead;
} bn_queue_counts;
bn_queue_counts bn_device_counts(const bn_device *);

size_t bn_domain_profile(const bn_domain *, bn_profile_row *rows, size_t room);

/* What a tuner has to know of a kernel. */
typedef struct bn_kernel_info {
    const char *kernel;
    bn_range range;
    unsigned long long calls;
    size_t group[3];      /* work-group in use */
    size_t largest;       /* work-items that a group may have: the device's and the kernel's limit */
    size_t multiple;      /* sizes that the device prefers are multiples of it */
    uint64_t local_bytes; /* local memory of a group */
    bool fits;            /* bn_kernel_fits */
} bn_kernel_info;

/* All kernels of the domain's programs, also those that never ran. */
size_t bn_domain_kernels(const bn_domain *, bn_kernel_info *rows, size_t room);

#endif
