/* solver.h: all that a solver sees of the simulation: its table, what plan() announces, the inputs that it asks for. */
#ifndef BN_SOLVER_H
#define BN_SOLVER_H

#include "api/ranks.h"
#include "sim/announcements.h"
#include "sim/inputs.h"
#include "sim/results_write.h"
#include "sim/solver_table.h"

#endif
