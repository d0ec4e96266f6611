/* stretched.h: what kernels/lib/stencil.h computes from the spacings of a stretched grid, in the precision of the file
 * that includes this. */
#ifndef BN_STRETCHED_H
#define BN_STRETCHED_H

#include "numerics/real.h"
#include "numerics/stencil.h"

/* Around a node, along x and y: widths of the cells below and above it over their mean, the inverses, and the inverse
 * of the mean of both. */
typedef struct bn_spacings_at {
    real width[2][2], per_width[2][2], per_node[2];
} bn_spacings_at;

/* axes: bn_stencil_axes, rounded. */
static inline bn_spacings_at bn_spacings(const real *axes, size_t nx, size_t ny, size_t at)
{
    bn_spacings_at out;
    for (int d = 0; d < 2; d++) {
        const size_t cells = (d ? ny : nx) + 1;
        const real *from = axes + (d ? 3 * (nx + 1) + at / nx : at % nx);
        for (int k = 0; k < 2; k++) {
            out.width[d][k] = from[k];
            out.per_width[d][k] = from[cells + (size_t)k];
        }
        out.per_node[d] = from[2 * cells];
    }
    return out;
}

static inline real bn_stretched_face(const bn_spacings_at *h, real k, unsigned bits, int direction)
{
    const unsigned *cells = bn_stencil_face_cells[direction];
    const int across = direction / 2;
    const real low = bits & cells[0] ? h->width[!across][0] : 0, high = bits & cells[1] ? h->width[!across][1] : 0;
    return k * (REAL(0.5) * (low + high) * h->per_width[across][direction % 2]);
}

static inline real bn_stretched_area(const bn_spacings_at *h, unsigned bits)
{
    const real south = (bits & BN_CELL_SW ? h->width[0][0] : 0) + (bits & BN_CELL_SE ? h->width[0][1] : 0);
    const real north = (bits & BN_CELL_NW ? h->width[0][0] : 0) + (bits & BN_CELL_NE ? h->width[0][1] : 0);
    return REAL(0.25) * (h->width[1][0] * south + h->width[1][1] * north);
}

#endif
