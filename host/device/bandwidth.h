/* bandwidth.h: what has been measured of a device and is kept in the cache. */
#ifndef BN_HOST_BANDWIDTH_H
#define BN_HOST_BANDWIDTH_H

#include "binnacle/device.h"

/* The bandwidth that an earlier run has measured, 0 when there is none. */
double bn_bandwidth_known(bn_context *, const bn_device_info *);
/* <cache>/devices/HASHwhat.txt, the hash over everything that tells devices and drivers apart; false when there is no
 * cache. `make`: makes the folder. */
bool bn_device_kept_path(bn_context *, const bn_device_info *, const char *what, char *path, size_t room, bool make);

#endif
