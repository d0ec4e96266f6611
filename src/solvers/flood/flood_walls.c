/* flood_walls.c: longer edges at walls made of hexagon edges. Such a wall is jagged and on the average a straight line.
 * An open edge that ends at the wall stops short of that line, so that too little water passes along the wall. It is
 * lengthened by a quarter: from the corner of the wall to the mean of the two closed edges that meet there, which lies
 * along the edge itself. The areas of the cells are right on the average already. A closed edge adds at most as much to
 * two others as it takes away, so that time steps stay safe; both cells of an edge see the same length, so that no
 * water is lost. */
#include "flood.h"

#include <math.h>

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

/* The ends of the edge between two cells that lie beside one another; false: they meet across a periodic side. */
static bool edge_between(const flood *s, size_t a, size_t b, double ends[4])
{
    double x[2], y[2];
    flood_place(s, a % s->grid.nx, a / s->grid.nx, x);
    flood_place(s, b % s->grid.nx, b / s->grid.nx, y);
    const double dx = y[0] - x[0], dy = y[1] - x[1];
    const double half = 0.5 * (s->grid.edges == 6 ? 1 / sqrt(3.0) : 1); /* of its length, in distances of the middles */
    if (hypot(dx, dy) > 1.5 * s->grid.d)
        return false;
    for (int k = 0; k < 2; k++) {
        const double sign = k == 0 ? -half : half;
        ends[2 * k] = s->grid.origin[0] + 0.5 * (x[0] + y[0]) - sign * dy;
        ends[2 * k + 1] = s->grid.origin[1] + 0.5 * (x[1] + y[1]) + sign * dx;
    }
    return true;
}

bn_status flood_find_thin_walls(bn_plan *p, const flood *s, size_t storey, flood_thin_walls *out)
{
    const size_t layer = (size_t)s->grid.nx * s->grid.ny;
    const int32_t *cell = s->cells.code + storey * layer;
    double(*ends)[4] = NULL;
    *out = (flood_thin_walls){ NULL, 0 };
    if (bn_plan_only_counts(p, (double)layer * s->grid.storeys))
        return BN_OK;
    for (int pass = 0; pass < 2; pass++) { /* they are counted first */
        size_t count = 0;
        for (size_t at = 0; at < layer; at++)
            for (int e = 0; e < s->grid.edges / 2; e++) {
                long i, j;
                double place[4];
                if (!(cell[at] & FLOOD_CLOSED << e) || (cell[at] & FLOOD_SOLID) ||
                    !flood_beside(s, at % s->grid.nx, at / s->grid.nx, e, &i, &j))
                    continue;
                const size_t to = (size_t)j * s->grid.nx + (size_t)i;
                if ((cell[to] & FLOOD_SOLID) || !edge_between(s, at, to, place))
                    continue;
                for (int k = 0; ends && k < 4; k++)
                    ends[count][k] = place[k];
                count++;
            }
        out->count = count;
        if (pass == 0 && count == 0)
            return BN_OK;
        if (pass == 0)
            BN_TRY(bn_plan_allocate(p, count * sizeof *ends, (void **)&ends));
    }
    out->ends = (const double(*)[4])ends;
    return BN_OK;
}
