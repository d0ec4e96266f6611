/* domain.h: a regular grid cut into boxes. Solvers never see the cut: fields, launches and sums work on the whole grid.
 */
#ifndef BN_API_DOMAIN_H
#define BN_API_DOMAIN_H

#include "api/device.h"

typedef struct bn_domain bn_domain;

typedef enum bn_grid_kind { BN_CARTESIAN, BN_HEXAGONAL } bn_grid_kind;

/* n: points along x, y, z (1 in the dimensions that are not there); h: spacing [m]; origin: place of the first point
 * [m]. */
typedef struct bn_grid {
    int dims;
    uint32_t n[3];
    double h[3], origin[3];
    const double *place[3]; /* of the nodes along a dimension whose spacings differ; NULL: `h` apart */
    bool periodic[3];
    bool nodes; /* values stand at nodes that include the border, else at cell centres */
    bn_grid_kind kind;
} bn_grid;

typedef struct bn_domain_desc {
    bn_grid grid;
    bn_precision precision; /* of every field of type real */
    int halo;               /* cells around each box: the largest stencil radius of any launch */
    int ghost_cells; /* of the halo, that only launches with ghost cells need: boxes may be thinner than the halo by as
                        much (bn_domain_max_radius) */
    int boxes;       /* 0 means 1. Cuts only at multiples of BN_BLOCK_NX cells along x, BN_BLOCK_NY along y */
    /* 0 or a power of two: cuts lie at multiples of it, or of its half, quarter, ... if boxes would be too unequal. */
    int align;
    bool copies;     /* every device of this process has the whole grid in a box of its own; `boxes` is left out */
    bool whole_rows; /* no cuts along x: kernels of range BN_PER_ROW, BN_PER_ROWS and transposed stores need it */
    /* NULL: a domain of the CPU reference, one box in host memory. If it stands for several devices
     * (bn_device_global_count), several boxes are distributed over them, at least one on each; one box is whole on
     * every rank's first device. */
    bn_device *device;
    struct bn_domain *auxiliary_to; /* NULL, or another domain, whose profile has the kernels of this one, too */
    size_t work_group[3];           /* {0}: default shape */
    /* Shapes of single kernels, which go before work_group; lent while the domain lives. */
    const bn_kernel_group *groups;
    size_t group_count;
} bn_domain_desc;

/* A reduction block: so many cells of a row, in so many rows. Sums are formed block by block, so that their order
 * depends on the grid alone. */
enum { BN_BLOCK_NX = 256, BN_BLOCK_NY = 4 };

BN_CHECKED bn_status bn_domain_create(bn_context *, const bn_domain_desc *, bn_domain **out);
void bn_domain_destroy(bn_domain **);
const bn_grid *bn_domain_grid(const bn_domain *);
bn_precision bn_domain_precision(const bn_domain *);
bn_context *bn_domain_context(const bn_domain *);
bn_device *bn_domain_device(const bn_domain *); /* NULL for the reference */
size_t bn_domain_boxes(const bn_domain *);
size_t bn_domain_real_bytes(const bn_domain *);
size_t bn_domain_points(const bn_domain *); /* n[0] * n[1] * n[2] */

/* A grid of every step-th point of another domain's, from the first on, in the same boxes on the same devices: box b
 * has what box b has there. Every cut of the finer domain must be a multiple of the step (bn_domain_divides), else
 * BN_USAGE. Sums can't be formed on it: cuts split their blocks. It lives on by itself. */
BN_CHECKED bn_status bn_domain_coarsen(bn_domain *fine, const int step[3], int halo, bn_domain **out);
bool bn_domain_divides(const bn_domain *, const int step[3]);
/* The largest stencil radius of a launch: the halo, unless there are thinner boxes. */
int bn_domain_max_radius(const bn_domain *);

/* How the first box lies in memory, in elements: first point, from row to row, from component to component. For kernels
 * that read or write fields of two domains of one box; several boxes have it from BN_SIZES (other_grids.h). */
typedef struct bn_place {
    long long first, pitch, plane;
} bn_place;
bn_place bn_domain_place(const bn_domain *);

/* Points [first, first + n) along x, y, z. */
typedef struct bn_region {
    uint32_t first[3], n[3];
} bn_region;
bn_region bn_domain_whole(const bn_domain *);

static inline size_t bn_region_points(const bn_region *r) { return (size_t)r->n[0] * r->n[1] * r->n[2]; }

/* Where in the grid the points of a region lie, which are numbered in C order. */
static inline void bn_region_place(const bn_region *r, size_t number, size_t place[3])
{
    place[0] = r->first[0] + number % r->n[0];
    place[1] = r->first[1] + number / r->n[0] % r->n[1];
    place[2] = r->first[2] + number / r->n[0] / r->n[1];
}

/* What of the grid this process takes into host memory in one piece: the whole grid, unless other ranks have boxes of
 * it, which do not overlap: then each of its own boxes. */
size_t bn_domain_parts(const bn_domain *);
/* Gives the number of the box, 0 for the whole grid. */
size_t bn_domain_part(const bn_domain *, size_t part, bn_region *);
/* The points of a box, wherever it lies. */
void bn_domain_box(const bn_domain *, size_t box, bn_region *);
/* The next band of a walk over the whole grid in C order: whole rows of a layer or whole layers, of `points` points at
 * most unless a row has more. Begins with a zeroed region; false: that was all. */
bool bn_domain_next_band(const bn_domain *, size_t points, bn_region *band);
/* Whether ranks have different boxes. If not, every rank has the whole grid. */
bool bn_domain_across_ranks(const bn_domain *);

/* Waits until everything that was launched on the domain is done. */
BN_CHECKED bn_status bn_domain_finish(bn_domain *);

/* From now on all that is read from the domain's devices is read twice: BN_MISMATCH where that gives different bits. */
void bn_domain_read_twice(bn_domain *);
/* From now on kernels run in work-groups of another shape than usual, or in the usual one again; the bits stay the
 * same. Kernels that are made for one shape (BN_PER_TILE) and devices with work-groups of one have no other. */
void bn_domain_other_groups(bn_domain *, bool other);

/* Debug contexts: BN_MISMATCH and the field's name when a canary behind any of the domain's buffers is gone. */
BN_CHECKED bn_status bn_domain_check_canaries(bn_domain *);

/* Bytes that a field takes on a device, padding included, for the estimate of `check`; 0 when it overflows. */
uint64_t bn_domain_estimate(const bn_domain_desc *, int element_bytes, int components, uint64_t *largest_buffer);

#endif
