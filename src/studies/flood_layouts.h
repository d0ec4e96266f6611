/* flood_layouts.h: a time step of shallow water at first order on hexagons, with the state of the cells in either
 * memory layout of the published study seed-002, and with neighbours computed or listed, also those of any cells that a
 * file lists. */
#ifndef BN_FLOOD_LAYOUTS_H
#define BN_FLOOD_LAYOUTS_H

#include "sim/solver.h"

#define FLOOD_LAYOUTS_CONSTANTS(X)                      \
    X(g, "gravity [m s-2]")                             \
    X(dry, "depth up to which water does not move [m]") \
    X(flux_scale, "time step times length of an edge over area of a cell [s m-1]")

typedef struct flood_layouts {
    uint32_t nx, ny;
    struct {
        FLOOD_LAYOUTS_CONSTANTS(BN_CONSTANT_MEMBER)
    } k;
    double spacing, dt, amplitude, levels[2], radius; /* [m], [s] */
    bool structures, listed;     /* the state is an array of structures; neighbours come from a list */
    bn_field *state, *next;      /* depth, velocity along x and y, height of the bed */
    bn_field *neighbours;        /* places of the neighbours by the edge */
    const struct bn_input *file; /* the table of cells; NULL: all of nx x ny cells */
    size_t column[9];            /* where the table has bed, depth, six neighbours, the agents' cell */
    size_t cells;                /* of the table */
    bn_kernel *advance;
} flood_layouts;

extern const bn_engine bn_flood_layouts_reference_single, bn_flood_layouts_reference_double;

#endif
