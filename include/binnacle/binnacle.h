/* binnacle.h: all of the library's public interface. */
#ifndef BINNACLE_H
#define BINNACLE_H

#include "binnacle/case.h"
#include "binnacle/context.h"
#include "binnacle/device.h"
#include "binnacle/results.h"
#include "binnacle/sim.h"
#include "binnacle/status.h"

#endif
