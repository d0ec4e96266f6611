/* flood_walls.c: longer edges at walls made of hexagon edges. Such a wall is jagged and on the average a straight line.
 * An open edge that ends at the wall stops short of that line, so that too little water passes along the wall. It is
 * lengthened by a quarter: from the corner of the wall to the mean of the two closed edges that meet there, which lies
 * along the edge itself. The areas of the cells are right on the average already. A closed edge adds at most as much to
 * two others as it takes away, so that time steps stay safe; both cells of an edge see the same length, so that no
 * water is lost. */
#include "flood.h"

/* Is an edge of a cell a wall? What leads out through an open side is none. */
static bool walled(const flood *s, size_t at, int e)
{
    e = (e + s->grid.edges) % s->grid.edges;
    return (s->cells.code[at] & FLOOD_CLOSED << e) && !(s->cells.code[at] & FLOOD_OUTER << e);
}

void flood_lengthen(flood *s)
{
    const size_t layer = (size_t)s->grid.nx * s->grid.ny;
    const int half = s->grid.edges / 2;
    s->scheme.jagged = false;
    for (size_t at = 0; s->grid.edges == 6 && at < layer * s->grid.storeys; at++)
        for (int e = 0; e < half; e++) {
            long i, j;
            if ((s->cells.code[at] & FLOOD_CLOSED << e) ||
                !flood_beside(s, at % s->grid.nx, at / s->grid.nx % s->grid.ny, e, &i, &j))
                continue;
            const size_t to = at / layer * layer + (size_t)j * s->grid.nx + (size_t)i;
            /* At either end the edges of both cells that meet this one. */
            if ((walled(s, at, e + 1) && walled(s, to, e + half - 1)) ||
                (walled(s, at, e - 1) && walled(s, to, e + half + 1))) {
                s->cells.code[at] = (int32_t)((uint32_t)s->cells.code[at] | 1u << (FLOOD_LONGER + e));
                s->scheme.jagged = true;
            }
        }
}
