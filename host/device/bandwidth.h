/* bandwidth.h: what has been measured of a device and is kept in the cache. */
#ifndef BN_HOST_BANDWIDTH_H
#define BN_HOST_BANDWIDTH_H

#include "binnacle/device.h"

#include <stdio.h>

/* The bandwidth that an earlier run has measured with as many threads, 0 when there is none. */
double bn_bandwidth_known(bn_context *, const bn_device_info *);
/* A text that an earlier run has kept of the device and its driver, by its name, to be read and closed; NULL: there is
 * none. */
FILE *bn_device_kept(bn_context *, const bn_device_info *, const char *what);
/* Keeps lines; where there is no cache nothing. */
void bn_device_keep(bn_context *, const bn_device_info *, const char *what, const char *text);

#endif
