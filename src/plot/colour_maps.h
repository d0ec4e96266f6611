/* colour_maps.h: colours for values, in which equal steps look equally large. */
#ifndef BN_COLOUR_MAPS_H
#define BN_COLOUR_MAPS_H

#include <stdint.h>

typedef enum bn_colour_map { BN_MAP_SEQUENTIAL, BN_MAP_DIVERGING, BN_MAP_CYCLIC } bn_colour_map;

enum { BN_PALETTE_COLOURS = 1024 };

typedef struct bn_palette {
    uint32_t rgb[BN_PALETTE_COLOURS];
} bn_palette; /* 0xRRGGBB, from the low to the high end */

void bn_palette_make(bn_colour_map, bn_palette *out);

/* The colour at `t` in 0 ... 1; beyond, the end's colour. */
uint32_t bn_palette_at(const bn_palette *, double t);

#endif
