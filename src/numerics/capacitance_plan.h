/* capacitance_plan.h: the capacitance matrix method (Buzbee, Dorr, George, Golub 1971), by which the direct solver of a
 * rectangle takes obstacles in it whose values are given. With x_0 the solution on the rectangle, obstacles filled, of
 * a right-hand side that is zero on them,
 *
 *     x = x_0 + sum over their surface nodes k of (x(k) - x_0(k)) influence_k,
 *
 * where influence_k solves the same equations in the fluid, is 1 at surface node k and 0 at all others. It is made by
 * charges at surface nodes, column k of the inverse of the capacitance matrix, whose entry (i, k) is the value at
 * surface node i of a unit charge at surface node k. Computed once, the same for device and reference.
 *
 * Where the bits of an unknown have a link towards a surface node, x there counts in its row; else what is given there
 * is part of the right-hand side, and then x_0 is large beside the obstacle, and rounded so. */
#ifndef BN_CAPACITANCE_PLAN_H
#define BN_CAPACITANCE_PLAN_H

#include "api/domain.h"
#include "numerics/stencil.h"

/* More surface nodes, or more of them times the nodes of the rectangle, take longer to prepare than many steps gain. */
enum { BN_CAPACITANCE_SURFACE = 256, BN_CAPACITANCE_VALUES = 1 << 23 };

/* surface: nodes i + nx j of obstacles beside unknowns, `count` of them. influence: count times the nodes of the
 * window, x fastest, outside which it is below the rounding of x_0. */
typedef struct bn_capacitance_plan {
    size_t count;
    uint32_t *surface;
    bn_region window;
    double *influence;
} bn_capacitance_plan;

/* Surface nodes of a matrix with obstacles; at most `room` of them are stored (surface may be NULL for none). */
size_t bn_capacitance_surface(const bn_stencil *, uint32_t *surface, size_t room);

/* Why the obstacles of a matrix can't be taken, or NULL. */
const char *bn_capacitance_refuses(const bn_stencil *);

/* Solves the system of the rectangle in the engine's own precision: nx * ny values each. */
typedef bn_status bn_capacitance_solver(void *user, const double *b, double *x);

/* bn_capacitance_refuses must be NULL. */
BN_CHECKED bn_status bn_capacitance_plan_create(bn_context *, const bn_stencil *, double roundoff,
                                                bn_capacitance_solver *, void *user, bn_capacitance_plan *out);
void bn_capacitance_plan_destroy(bn_capacitance_plan *);

#endif
