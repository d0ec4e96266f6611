/* capacitance.h: obstacles for the direct solver on a device (capacitance_plan.h, kernels/capacitance.cl). */
#ifndef BN_CAPACITANCE_H
#define BN_CAPACITANCE_H

#include "numerics/capacitance_plan.h"
#include "numerics/spectral.h"

typedef struct bn_capacitance bn_capacitance;

/* Fields for the work: the solution on the rectangle, and a right-hand side at the start alone. */
typedef struct bn_capacitance_work {
    bn_field *filled, *source, *bits;
} bn_capacitance_work;

/* Of a matrix that spectral.h suits; the domain has one box. The solver and the fields must live as long, the bits
 * until the influence functions are found. */
BN_CHECKED bn_status bn_capacitance_create(bn_domain *, const bn_stencil *, bn_spectral *, const bn_capacitance_work *,
                                           bn_capacitance **out);
void bn_capacitance_destroy(bn_capacitance **);

/* Finds the influence functions, by three solves of the rectangle for each surface node; before the first solve. */
BN_CHECKED bn_status bn_capacitance_find(bn_capacitance *);

/* x = A^-1 b at the unknowns; elsewhere b is zero, and x is given. Four launches. */
BN_CHECKED bn_status bn_capacitance_solve(bn_capacitance *, bn_field *x, bn_field *b);

#endif
