/* binnacle.h: the public interface that does not depend on a solver; flood.h is that of one. */
#ifndef BINNACLE_H
#define BINNACLE_H

#include "binnacle/case.h"
#include "binnacle/context.h"
#include "binnacle/device.h"
#include "binnacle/results.h"
#include "binnacle/run.h"
#include "binnacle/sim.h"
#include "binnacle/status.h"

#endif
