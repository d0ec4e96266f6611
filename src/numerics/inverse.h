/* inverse.h: the inverse of a small dense matrix. */
#ifndef BN_INVERSE_H
#define BN_INVERSE_H

#include <stdbool.h>
#include <stddef.h>

/* In place, of n * n values, by Gauss and Jordan without pivoting: for matrices that are positive definite or have a
 * large diagonal. False: a pivot was zero, whose row is passed over, or not finite. */
bool bn_inverse(double *m, size_t n);

#endif
