/* flood_walls.c: what straightens walls made of hexagon edges. Such a wall is jagged; on the average it is a line, up
 * to which the water of its cells ought to reach. An edge between two cells that ends at the wall would go on to that
 * line, and the better for the flow along it: by a quarter of an edge, from the corner against the mean of the two
 * closed edges that meet it there, which is along the edge itself. The cells' areas are right on the average already. A
 * closed edge adds as much to two others at most as it takes away itself, so that time steps stay safe; what passes is
 * the same for both cells, so that no water is lost. */
#include "flood.h"

/* Is an edge of a cell a wall? What leads out through an open side is none. */
static bool walled(const flood *s, size_t at, int e)
{
    e = (e + s->edges) % s->edges;
    return (s->cell[at] & FLOOD_CLOSED << e) && !(s->cell[at] & FLOOD_OUTER << e);
}

void flood_lengthen(flood *s)
{
    const size_t layer = (size_t)s->nx * s->ny;
    const int half = s->edges / 2;
    s->jagged = false;
    for (size_t at = 0; s->edges == 6 && at < layer * s->storeys; at++)
        for (int e = 0; e < half; e++) {
            long i, j;
            if ((s->cell[at] & FLOOD_CLOSED << e) || !flood_beside(s, at % s->nx, at / s->nx % s->ny, e, &i, &j))
                continue;
            const size_t to = at / layer * layer + (size_t)j * s->nx + (size_t)i;
            /* At either end the edges of both cells that meet this one. */
            if ((walled(s, at, e + 1) && walled(s, to, e + half - 1)) ||
                (walled(s, at, e - 1) && walled(s, to, e + half + 1))) {
                s->cell[at] = (int32_t)((uint32_t)s->cell[at] | 1u << (FLOOD_LONGER + e));
                s->jagged = true;
            }
        }
}
