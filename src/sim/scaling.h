/* scaling.h: how many devices of one machine make a step shorter, by the model of docs/scaling.md. */
#ifndef BN_SCALING_H
#define BN_SCALING_H

#include "sim/plan.h"

enum { BN_SCALING_SELECTOR = 512 };

/* The time of a step on so many devices like this one over the time on one, at least 1 / devices; NaN where the solver
 * has not said what its steps cost. */
double bn_scaling_time(const bn_plan *, const bn_device_info *, size_t devices);
/* The fewest of `most` devices like this one on which a step takes the shortest time within some per cent, but so many
 * as the case needs for its memory; `most` where nothing is known. */
size_t bn_scaling_devices(const bn_plan *, const bn_device_info *, size_t most);

/* Before devices are listed: CPUs take as many threads as a step of the case is worth (bn_devices_enough_threads). */
BN_CHECKED bn_status bn_scaling_threads(bn_context *, const bn_case *);
/* Where the selector is "gpu" it names, in `room`, so many devices as make a step of the case shorter from now on; any
 * other stays. `reason` (may be NULL): why, where these are fewer; else it stays. */
BN_CHECKED bn_status bn_scaling_select(bn_context *, const bn_case *, const char **selector,
                                       char room[BN_SCALING_SELECTOR], const char **reason);

#endif
