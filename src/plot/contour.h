/* contour.h: lines of equal value through a grid of values. */
#ifndef BN_CONTOUR_H
#define BN_CONTOUR_H

#include "binnacle/context.h"
#include <stdint.h>

/* Receives one line: points (x, y) in units of the grid's spacing from its first value. A closed line ends in its first
 * point. */
typedef void bn_contour_line(void *user, const double (*points)[2], size_t count);

/* Hands over every line on which the values (n[0] * n[1], x fastest) equal `level`, joined as far as it goes. Squares
 * with a corner that is not finite have none. */
BN_CHECKED bn_status bn_contour_trace(bn_context *, const double *values, const uint32_t n[2], double level,
                                      bn_contour_line *line, void *user);

#endif
