/* regions.h: boxes and their neighbours. */
#ifndef BN_HOST_REGIONS_H
#define BN_HOST_REGIONS_H

#include "grid/grid.h"

/* Direction number v as steps of -1, 0, 1; false for the middle. */
enum { BN_DIRECTIONS = 27 };
bool bn_direction(int v, int step[3]);
/* The box that lies a step away, each of -1, 0, 1; -1: the grid ends there, or has no such dimension. */
long bn_box_at(const bn_domain *, const bn_box *, const int step[3]);
/* What a box has of a region; false: nothing. */
bool bn_box_common(const bn_box *, const bn_region *, bn_region *out);
/* Whether a kernel may copy between the boxes. */
bool bn_same_device(const bn_box *, const bn_box *);

#endif
