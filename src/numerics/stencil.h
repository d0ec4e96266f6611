/* stencil.h: symmetric five-point matrices on the nodes of a grid, without storing them: mass * area - k Laplacian as
 * finite volumes, of which some cells between the nodes may not belong to the domain (obstacles, and all that lies
 * outside). The bits of a node are explained in kernels/lib/stencil.h. */
#ifndef BN_STENCIL_H
#define BN_STENCIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of a node. */
enum {
    BN_CELL_SW = 1,
    BN_CELL_SE = 2,
    BN_CELL_NW = 4,
    BN_CELL_NE = 8,
    BN_CELLS = 15,
    BN_LINK_WEST = 16,
    BN_LINK_EAST = 32,
    BN_LINK_SOUTH = 64,
    BN_LINK_NORTH = 128
};

/* kx, ky: the coefficient over the square of the spacing. bits: nx * ny, x fastest; 0 where there is no unknown.
 * widths: NULL, or, of a stretched grid, those of the nx - 1 cells along x and then of the ny - 1 along y, over their
 * means, which kx and ky are for. rectangle: NULL, or, where there are obstacles, the bits without them. */
typedef struct bn_stencil {
    uint32_t nx, ny;
    double mass, kx, ky;
    const uint8_t *bits;
    const double *widths;
    const uint8_t *rectangle;
} bn_stencil;

/* Damping of the Jacobi sweeps of multigrid. */
#define BN_JACOBI_DAMPING 0.8

enum { BN_DIAGONALS = 32 };
/* The diagonal for each of the sixteen sets of cells, then the damping over it (0 for no cell); of a stretched grid
 * `mass` alone, as number 15. */
void bn_stencil_diagonals(const bn_stencil *, double out[BN_DIAGONALS]);

/* The two cells beside the face towards each direction. */
extern const unsigned bn_stencil_face_cells[4][2];

/* Sum of the halves of a node's four faces; direction 0 west, 1 east, 2 south, 3 north. */
double bn_stencil_face(unsigned bits, int direction);

/* The entry towards a neighbour, 0 when that is no unknown. */
double bn_stencil_entry(const bn_stencil *, unsigned bits, int direction);

/* The coupling of node (i, j) through its face, as the entry towards a neighbour without the sign. */
double bn_stencil_coupling(const bn_stencil *, unsigned bits, int direction, uint32_t i, uint32_t j);

/* `axes` of kernels/lib/stencil.h for a stretched grid. */
static inline size_t bn_stencil_axes_count(const bn_stencil *s) { return 3 * ((size_t)s->nx + s->ny + 2); }
/* To be freed; NULL: no memory. */
double *bn_stencil_axes(const bn_stencil *);

/* Bits of all nodes from what is an unknown and what belongs to the domain: `unknown` nx * ny, `cell` (nx - 1) * (ny -
 * 1), both x fastest. */
void bn_stencil_bits(uint32_t nx, uint32_t ny, const bool *unknown, const bool *cell, uint8_t *bits);

/* An upper bound of the infinity norm of the matrix. */
double bn_stencil_norm(const bn_stencil *);

#endif
