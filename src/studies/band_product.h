/* band_product.h: a study of the product of a band matrix of any width and a vector, stored by diagonals as in (6) and
 * (7) of Alekseev and Golovashkin (2010): complex numbers, p diagonals under the main one and q above it. */
#ifndef BN_BAND_PRODUCT_H
#define BN_BAND_PRODUCT_H

#include "sim/solver.h"

typedef struct band_product {
    uint32_t n, lower, upper;                   /* N, p, q */
    double *diagonal, *upper_band, *lower_band; /* pairs: A_diag, B_diag, C_diag */
    bn_field *x, *z;
    bn_kernel *multiply;
    bn_device_array *arrays[3];
} band_product;

/* Where diagonal m of a band, counted from 1 beside the main one, begins: (7). */
static inline size_t band_start(size_t n, size_t m) { return (m - 1) * n - m * (m - 1) / 2; }

extern const bn_engine bn_band_product_reference_single, bn_band_product_reference_double;

#endif
