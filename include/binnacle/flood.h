/* flood.h: a simulation of `flood` for programs that advance it themselves, such as crowd simulators: by so many
 * simulated seconds, after which they read depths and speeds into arrays of their own. The simulation comes from
 * bn_sim_create. */
#ifndef BINNACLE_FLOOD_H
#define BINNACLE_FLOOD_H

#include "binnacle/sim.h"

BN_INTERFACE_BEGIN

typedef struct bn_flood_grid {
    unsigned cells, rows, storeys; /* along x, along y, one above the other */
    double spacing, row;           /* between the centres in a row, and from row to row [m] */
    bool hexagons;                 /* every odd row stands half a cell further to the east */
    double origin[2];              /* lower left corner [m], grid.origin of the case or that of its polygons */
} bn_flood_grid;

/* BN_USAGE unless the simulation is one of flood. */
BN_CHECKED bn_status bn_flood_describe(bn_context *, bn_sim *, bn_flood_grid *out);

/* Centre of a cell [m]; and the cell at a place, false outside of the grid. Rows count from y = 0 upwards. */
void bn_flood_place(const bn_flood_grid *, unsigned cell, unsigned row, double x[2]);
bool bn_flood_find(const bn_flood_grid *, const double x[2], unsigned *cell, unsigned *row);

/* Goes on until `seconds` more have passed: whole intervals (time.interval of the case), else BN_USAGE. Does not look
 * at stop.time. */
BN_CHECKED bn_status bn_flood_advance(bn_context *, bn_sim *, double seconds);

/* Depth [m] and speed [m/s] of the cells of a storey (the lowest is 1), row by row; either may be NULL. count: cells *
 * rows. */
BN_CHECKED bn_status bn_flood_read(bn_context *, bn_sim *, unsigned storey, double *depth, double *speed, size_t count);

BN_INTERFACE_END
#endif
