/* reference.h: what the CPU reference of a solver is written with (numerics/real.h), and its name. */
#ifndef BN_REFERENCE_H
#define BN_REFERENCE_H

#include "numerics/real.h"
#include "sim/solver.h"

#define BN_REFERENCE(solver) BN_PRECISE(solver##_reference)

#endif
