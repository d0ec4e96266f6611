/* heat.h: what the device's and the reference's step of `heat` share. */
#ifndef BN_HEAT_H
#define BN_HEAT_H

#include "sim/solver.h"

typedef struct heat {
    double dt, k; /* time step [s]; a dt / h^2 */
    bn_field *T, *next;
} heat;

extern const bn_engine bn_heat_reference_single, bn_heat_reference_double;

#endif
