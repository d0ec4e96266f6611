/* pair.h: complex numbers of the CPU references, as pairs with the roundings of the kernels' real2. */
#ifndef BN_PAIR_H
#define BN_PAIR_H

#include "numerics/real.h"
#include <math.h>

typedef struct pair {
    real x, y;
} pair;

static inline pair minus(pair a, pair b) { return (pair){ a.x - b.x, a.y - b.y }; }
static inline pair cmul(pair a, pair b) { return (pair){ FMA(a.x, b.x, -(a.y * b.y)), FMA(a.x, b.y, a.y * b.x) }; }
static inline pair cfma(pair a, pair b, pair c) /* c + a b */
{
    return (pair){ FMA(-a.y, b.y, FMA(a.x, b.x, c.x)), FMA(a.y, b.x, FMA(a.x, b.y, c.y)) };
}

#endif
