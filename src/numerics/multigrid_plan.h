/* multigrid_plan.h: the grids and matrices of multigrid (kernels/multigrid.cl), for device and reference. */
#ifndef BN_MULTIGRID_PLAN_H
#define BN_MULTIGRID_PLAN_H

#include "numerics/stencil.h"
#include <stddef.h>

enum { BN_GRID_LEVELS = 16, BN_DENSE_NODES = 256, BN_STORED = 10 };

/* A grid. step: 2 where the next coarser grid has every other node, 1 where it has all of them. A row of its matrix has
 * BN_STORED values (diagonal; W, E, S, N, SW, SE, NW, NE; damping over the diagonal); bn_grid_matrix has them. Pointers
 * are NULL on the finest grid. */
typedef struct bn_grid_level {
    uint32_t nx, ny;
    int step_x, step_y;
    double last_x, last_y;  /* weight of the last coarse node for the fine node beyond it, where there is one */
    uint8_t *kind;          /* nx * ny: which nodes are unknowns, and of them those with the row `same` */
    double same[BN_STORED]; /* away from sides and obstacles */
    double *own;            /* other rows, in the order of the nodes */
    uint32_t *own_x;        /* where each of them is along x */
    size_t *first_own;      /* number of the first in each row of nodes, and behind the last */
} bn_grid_level;

typedef struct bn_multigrid_plan {
    int levels;
    bn_grid_level level[BN_GRID_LEVELS];
    double *inverse; /* of the coarsest matrix, (nx ny)^2 */
} bn_multigrid_plan;

/* Step between the nodes of the next coarser grid along a dimension. */
int bn_grid_step(uint32_t n);

/* Fields of reals that a coarser grid takes: its matrix, and three vectors. */
enum { BN_GRID_FIELDS = BN_STORED + 3 };
/* Changes the size to that of the next coarser grid; false: this grid is the coarsest. */
bool bn_grid_next(uint32_t *nx, uint32_t *ny);

/* The first components of the matrix of a coarser grid at nodes from `first` on, n along x and y: component slowest, as
 * floats (`single`) or doubles. On all processors. */
void bn_grid_matrix(const bn_grid_level *, int components, const uint32_t first[2], const uint32_t n[2], bool single,
                    void *out);

/* Which of these nodes, in the same order, are no unknown (0), have the row `same` (1), which then has no zero in this
 * precision among its first nine values, or another one (2). On all processors. */
void bn_grid_kinds(const bn_grid_level *, const uint32_t first[2], const uint32_t n[2], bool single, uint8_t *out);

/* False: no memory. */
bool bn_multigrid_plan_create(const bn_stencil *, bn_multigrid_plan *out);
void bn_multigrid_plan_destroy(bn_multigrid_plan *);

#endif
