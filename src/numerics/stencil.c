/* stencil.c: entries of five-point matrices. */
#include "numerics/stencil.h"

#include "api/parallel_rows.h"

#include <math.h>
#include <stdlib.h>

const unsigned bn_stencil_face_cells[4][2] = {
    { BN_CELL_SW, BN_CELL_NW }, { BN_CELL_SE, BN_CELL_NE }, { BN_CELL_SW, BN_CELL_SE }, { BN_CELL_NW, BN_CELL_NE }
};

double bn_stencil_face(unsigned bits, int direction)
{
    return 0.5 * ((bits & bn_stencil_face_cells[direction][0]) != 0) +
           0.5 * ((bits & bn_stencil_face_cells[direction][1]) != 0);
}

double bn_stencil_entry(const bn_stencil *s, unsigned bits, int direction)
{
    return bits & (unsigned)BN_LINK_WEST << direction
               ? -(direction < 2 ? s->kx : s->ky) * bn_stencil_face(bits, direction)
               : 0;
}

/* Of the cell below (0) or above (1) node m along one dimension; 1 outside. */
static double width(const bn_stencil *s, int dim, uint32_t m, int above)
{
    const uint32_t n = dim ? s->ny : s->nx, cell = m + (uint32_t)above;
    return cell > 0 && cell < n ? s->widths[(dim ? s->nx - 1 : 0) + cell - 1] : 1;
}

double bn_stencil_coupling(const bn_stencil *s, unsigned bits, int direction, uint32_t i, uint32_t j)
{
    const double k = direction < 2 ? s->kx : s->ky;
    if (!s->widths)
        return k * bn_stencil_face(bits, direction);
    const int across = direction / 2;
    const uint32_t along = across ? i : j;
    const double low = bits & bn_stencil_face_cells[direction][0] ? width(s, !across, along, 0) : 0,
                 high = bits & bn_stencil_face_cells[direction][1] ? width(s, !across, along, 1) : 0;
    return k * (0.5 * (low + high) / width(s, across, across ? j : i, direction % 2));
}

double *bn_stencil_axes(const bn_stencil *s)
{
    double *axes = malloc(bn_stencil_axes_count(s) * sizeof *axes), *out = axes;
    for (int dim = 0; axes && dim < 2; dim++) {
        const uint32_t n = dim ? s->ny : s->nx;
        for (uint32_t m = 0; m <= n; m++) {
            const double below = width(s, dim, m, 0);
            out[m] = below;
            out[n + 1 + m] = 1 / below;
            out[2 * (n + 1) + m] = m < n ? 2 / (below + width(s, dim, m, 1)) : 1;
        }
        out += 3 * ((size_t)n + 1);
    }
    return axes;
}

void bn_stencil_diagonals(const bn_stencil *s, double out[BN_DIAGONALS])
{
    if (s->widths) {
        for (int n = 0; n < BN_DIAGONALS; n++)
            out[n] = n == 15 ? s->mass : 0;
        return;
    }
    for (unsigned cells = 0; cells < 16; cells++) {
        double area = 0, faces[2] = { 0, 0 };
        for (int d = 0; d < 4; d++) {
            area += 0.25 * (cells >> d & 1);
            faces[d / 2] += bn_stencil_face(cells, d);
        }
        out[cells] = s->mass * area + (s->kx * faces[0] + s->ky * faces[1]);
        out[16 + cells] = cells ? BN_JACOBI_DAMPING / out[cells] : 0;
    }
}

typedef struct node_bits {
    uint32_t nx, ny;
    const bool *unknown, *cell;
    uint8_t *bits;
} node_bits;

static void find_bits(void *user, size_t first, size_t end)
{
    const node_bits *b = user;
    const uint32_t nx = b->nx, ny = b->ny;
    const bool *unknown = b->unknown, *cell = b->cell;
    const size_t row = nx - 1;
    for (size_t j = first; j < end; j++)
        for (uint32_t i = 0; i < nx; i++) {
            const size_t at = j * nx + i;
            unsigned bits = 0;
            if (unknown[at]) {
                const bool west = i > 0, east = i + 1 < nx, south = j > 0, north = j + 1 < ny;
                bits = (south && west && cell[(j - 1) * row + i - 1] ? BN_CELL_SW : 0) |
                       (south && east && cell[(j - 1) * row + i] ? BN_CELL_SE : 0) |
                       (north && west && cell[j * row + i - 1] ? BN_CELL_NW : 0) |
                       (north && east && cell[j * row + i] ? BN_CELL_NE : 0);
                const bool there[4] = { west && unknown[at - 1], east && unknown[at + 1], south && unknown[at - nx],
                                        north && unknown[at + nx] };
                for (int d = 0; d < 4; d++)
                    if (there[d] && bn_stencil_face(bits, d) > 0)
                        bits |= (unsigned)BN_LINK_WEST << d;
            }
            b->bits[at] = (uint8_t)bits;
        }
}

void bn_stencil_bits(uint32_t nx, uint32_t ny, const bool *unknown, const bool *cell, uint8_t *bits)
{
    bn_parallel_rows(ny, nx, find_bits, &(node_bits){ nx, ny, unknown, cell, bits });
}

double bn_stencil_norm(const bn_stencil *s)
{
    double least[2] = { 1, 1 }, most[2] = { 1, 1 };
    for (size_t c = 0; s->widths && c + 2 < (size_t)s->nx + s->ny; c++) {
        const int dim = c + 1 >= s->nx;
        least[dim] = fmin(least[dim], s->widths[c]);
        most[dim] = fmax(most[dim], s->widths[c]);
    }
    return s->mass * most[0] * most[1] + 4 * (s->kx * most[1] / least[0] + s->ky * most[0] / least[1]);
}
