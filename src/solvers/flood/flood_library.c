/* flood_library.c: binnacle/flood.h, for programs that advance a flood themselves. */
#include "binnacle/flood.h"

#include "binnacle/case.h"
#include "sim/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bn_status check(bn_context *ctx, bn_sim *sim)
{
    if (strcmp(bn_case_solver(bn_sim_case(sim)), "flood") == 0)
        return BN_OK;
    return bn_fail(ctx, BN_USAGE, "this simulation is one of %s, not of flood", bn_case_solver(bn_sim_case(sim)));
}

bn_status bn_flood_describe(bn_context *ctx, bn_sim *sim, bn_flood_grid *out)
{
    BN_TRY(check(ctx, sim));
    const bn_grid *g = bn_domain_grid(bn_sim_domain(sim));
    *out = (bn_flood_grid){ g->n[0],
                            g->n[1],
                            g->n[2],
                            g->h[0],
                            g->h[1],
                            g->kind == BN_HEXAGONAL,
                            { g->origin[0] - (g->kind == BN_HEXAGONAL ? 0.25 : 0.5) * g->h[0],
                              g->origin[1] - 0.5 * g->h[1] } };
    return BN_OK;
}

static double first_of(const bn_flood_grid *g, unsigned row) { return !g->hexagons ? 0.5 : row % 2 != 0 ? 0.75 : 0.25; }

void bn_flood_place(const bn_flood_grid *g, unsigned cell, unsigned row, double x[2])
{
    x[0] = g->origin[0] + (cell + first_of(g, row)) * g->spacing;
    x[1] = g->origin[1] + (row + 0.5) * g->row;
}

bool bn_flood_find(const bn_flood_grid *g, const double x[2], unsigned *cell, unsigned *row)
{
    double least = HUGE_VAL;
    const double middle = floor((x[1] - g->origin[1]) / g->row);
    for (double j = middle - 1; j <= middle + 1; j++) { /* the nearest centre, which may stand in the row beside */
        if (!(j >= 0 && j < g->rows))
            continue;
        const double i = rint((x[0] - g->origin[0]) / g->spacing - first_of(g, (unsigned)j));
        if (!(i >= 0 && i < g->cells))
            continue;
        double y[2];
        bn_flood_place(g, (unsigned)i, (unsigned)j, y);
        const double r = hypot(y[0] - x[0], y[1] - x[1]);
        if (r < least) {
            least = r;
            *cell = (unsigned)i;
            *row = (unsigned)j;
        }
    }
    return least <= g->spacing;
}

bn_status bn_flood_advance(bn_context *ctx, bn_sim *sim, double seconds)
{
    BN_TRY(check(ctx, sim));
    const double end = bn_sim_now(sim).time + seconds;
    while (bn_sim_now(sim).time < end * (1 - 1e-9)) {
        BN_TRY(bn_sim_step(sim));
        const double overrun = bn_sim_now(sim).time - end;
        if (overrun > 1e-6 * end)
            return bn_fail(ctx, BN_USAGE, "%g s are not a whole number of intervals: the time is %g s now", seconds,
                           bn_sim_now(sim).time);
    }
    return BN_OK;
}

bn_status bn_flood_read(bn_context *ctx, bn_sim *sim, unsigned storey, double *depth, double *speed, size_t count)
{
    bn_flood_grid g;
    BN_TRY(bn_flood_describe(ctx, sim, &g));
    const size_t layer = (size_t)g.cells * g.rows;
    if (storey < 1 || storey > g.storeys || count != layer)
        return bn_fail(ctx, BN_USAGE, "storey %u with %zu cells was asked for; there are %u storeys of %zu cells",
                       storey, count, g.storeys, layer);
    const bn_region r = { { 0, 0, storey - 1 }, { g.cells, g.rows, 1 } };
    if (depth)
        BN_TRY(bn_field_read_region(bn_sim_field(sim, "depth"), 0, 1, &r, BN_AS_DOUBLES, depth));
    if (!speed)
        return BN_OK;
    double *velocity = malloc(2 * layer * sizeof *velocity);
    if (!velocity)
        return bn_fail(ctx, BN_MEMORY, "no memory for the state of the flood");
    const bn_status st = bn_field_read_region(bn_sim_field(sim, "velocity"), 0, 2, &r, BN_AS_DOUBLES, velocity);
    for (size_t at = 0; at < layer; at++)
        speed[at] = hypot(velocity[at], velocity[layer + at]);
    free(velocity);
    return st;
}
