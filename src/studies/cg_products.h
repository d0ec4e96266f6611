/* cg_products.h: a study of conjugate gradients as they were written for the first programmable GPUs: separate kernels
 * on a matrix stored by diagonals, the matrix-vector product and the dot product each in several variants. The system
 * is Poisson's equation on a square, zero on its border. */
#ifndef BN_CG_PRODUCTS_H
#define BN_CG_PRODUCTS_H

#include "sim/solver.h"

/* In the order in which each was found to be faster than the one before; kernels/studies/cg_products.cl explains them.
 */
#define CG_PRODUCTS_SPMV(X) X(SPMV_NAIVE, "naive") X(SPMV_LOCAL, "local") X(SPMV_IMAGE, "image")
#define CG_PRODUCTS_DOT(X)          \
    X(DOT_NAIVE, "naive")           \
    X(DOT_COALESCED, "coalesced")   \
    X(DOT_CONVERGENT, "convergent") \
    X(DOT_CONFLICT_FREE, "conflict-free") X(DOT_UNROLLED, "unrolled") X(DOT_NORM, "norm")
enum { CG_PRODUCTS_SPMV(BN_CHOICE_ENUM) };
enum { CG_PRODUCTS_DOT(BN_CHOICE_ENUM) };

/* A step of the simulation: so many iterations from x = 0. */
enum { CG_PRODUCTS_ITERATIONS = 50 };

typedef struct cg_products {
    uint32_t nx, ny;
    int spmv, dot;
    bn_field *A, *x, *b, *r, *p, *q; /* A: diagonal, west, east, south, north */
    /* device */
    bn_kernel *start, *direction, *product, *multiply, *square, *find_alpha, *find_beta, *add;
    bn_partials *pap, *rr;
    bn_scalars *scalars;
    bn_device_array *offsets;
} cg_products;

extern const bn_engine bn_cg_products_reference_single, bn_cg_products_reference_double;

#endif
