/* cells.c: places and neighbours of cells (cells.h). */
#include "io/cells.h"

void bn_cells_middle(const bn_cells *c, uint32_t i, uint32_t j, double x[2])
{
    x[0] = c->first[0] + (i + (c->hexagons && j % 2 != 0 ? 0.5 : 0)) * c->h[0];
    x[1] = c->first[1] + j * c->h[1];
}

/* Half of the corners of hexagons lie on one zigzag line below each row, and one above the last: 2 n + 2 corners, half
 * a cell apart along x. */
static size_t line_of(const bn_cells *c) { return c->hexagons ? 2 * (size_t)c->n[0] + 2 : (size_t)c->n[0] + 1; }

size_t bn_cells_corners(const bn_cells *c) { return line_of(c) * ((size_t)c->n[1] + 1); }

void bn_cells_ring(const bn_cells *c, uint32_t i, uint32_t j, size_t corner[6])
{
    const size_t line = line_of(c);
    if (!c->hexagons) {
        const size_t at = j * line + i, ring[4] = { at, at + 1, at + line + 1, at + line };
        for (int k = 0; k < 4; k++)
            corner[k] = ring[k];
        return;
    }
    const size_t at = j * line + 2 * (size_t)i + j % 2;
    const size_t ring[6] = { at, at + 1, at + 2, at + line + 2, at + line + 1, at + line };
    for (int k = 0; k < 6; k++)
        corner[k] = ring[k];
}

void bn_cells_corner(const bn_cells *c, size_t corner, double x[2])
{
    const size_t line = line_of(c), m = corner % line, j = corner / line;
    if (!c->hexagons) {
        x[0] = c->first[0] + ((double)m - 0.5) * c->h[0];
        x[1] = c->first[1] + ((double)j - 0.5) * c->h[1];
        return;
    }
    const bool top = j == c->n[1], far = (m + (top ? j - 1 : j)) % 2 != 0;
    const double middle = c->first[1] + (double)(top ? j - 1 : j) * c->h[1], radius = c->h[1] * 2 / 3;
    x[0] = c->first[0] + 0.5 * ((double)m - 1) * c->h[0];
    x[1] = middle + (top ? 1 : -1) * (far ? 1 : 0.5) * radius;
}

bool bn_cells_beside(const bn_cells *c, size_t cell, int edge, size_t *other)
{
    static const int hex_x[2][6] = { { 1, 0, -1, -1, -1, 0 }, { 1, 1, 0, -1, 0, 1 } },
                     hex_y[6] = { 0, 1, 1, 0, -1, -1 };
    static const int square_x[4] = { 1, 0, -1, 0 }, square_y[4] = { 0, 1, 0, -1 };
    const long i = (long)(cell % c->n[0]), j = (long)(cell / c->n[0]);
    const long x = i + (c->hexagons ? hex_x[j % 2][edge] : square_x[edge]);
    const long y = j + (c->hexagons ? hex_y[edge] : square_y[edge]);
    if (x < 0 || y < 0 || x >= (long)c->n[0] || y >= (long)c->n[1])
        return false;
    *other = (size_t)y * c->n[0] + (size_t)x;
    return true;
}
