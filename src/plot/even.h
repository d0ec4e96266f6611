/* even.h: values at nodes of differing spacings, on nodes of equal ones, as pictures have them. */
#ifndef BN_EVEN_H
#define BN_EVEN_H

#include <stdint.h>

/* Values at n[0] * n[1] nodes, x fastest, linear between them. place: of the nodes along x and y, ascending; NULL: they
 * are even. n becomes the numbers of nodes that keep the smallest spacing, as far as a picture has pixels, h their
 * spacings. The result is fresh memory; NULL: there is none. */
double *bn_even_values(const double *values, const double *const place[2], uint32_t n[2], double h[2]);

#endif
