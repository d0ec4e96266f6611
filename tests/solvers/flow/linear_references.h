/* linear_references.h: the references of linear solvers in both precisions, of which src/numerics/linear_reference.h
 * shows one at a time; a system solved by them and on a device. */
#ifndef BN_TEST_LINEAR_REFERENCES_H
#define BN_TEST_LINEAR_REFERENCES_H

#include "numerics/linear.h"

typedef struct bn_linear_reference bn_linear_reference;
bn_status bn_linear_reference_create_single(bn_context *, const bn_linear_desc *, bn_linear_reference **);
bn_status bn_linear_reference_create_double(bn_context *, const bn_linear_desc *, bn_linear_reference **);
void bn_linear_reference_destroy_single(bn_linear_reference **);
void bn_linear_reference_destroy_double(bn_linear_reference **);
bn_status bn_linear_reference_solve_single(bn_linear_reference *, float *, const float *, const bn_cg_target *,
                                           bn_cg_report *);
bn_status bn_linear_reference_solve_double(bn_linear_reference *, double *, const double *, const bn_cg_target *,
                                           bn_cg_report *);
void bn_linear_reference_solve_two_single(bn_linear_reference *, bn_linear_reference *, float *, float *, const float *,
                                          const float *);
void bn_linear_reference_solve_two_double(bn_linear_reference *, bn_linear_reference *, double *, double *,
                                          const double *, const double *);

/* A random number from -1 to 1, always the same ones. */
double noise_at(size_t at);

/* Bits of the nodes of a rectangle (bn_stencil_bits), to be freed. mirrored: whether the left, right, bottom, top
 * border is so; solid: nodes of obstacles, NULL for none. */
uint8_t *bits_of_nodes(uint32_t nx, uint32_t ny, const bool mirrored[4], const bool *solid);

/* What a solve from zero gave. */
typedef struct answer {
    double *x; /* to be freed */
    bn_cg_report report;
} answer;
answer solve_by_reference(const bn_linear_desc *, const double *b, bn_precision, const bn_cg_target *);
/* On a domain of that description, whose grid is the system's. */
answer solve_on_device(const bn_linear_desc *, const double *b, bn_domain_desc, const bn_cg_target *);

/* Two coupled direct systems, A and B in this order: x = A^-1 b, y = B^-1 area x + plus. */
void solve_two_by_reference(const bn_linear_desc[2], const double *b, const double *plus, bn_precision, double *x,
                            double *y);
void solve_two_on_device(const bn_linear_desc[2], const double *b, const double *plus, bn_domain_desc, double *x,
                         double *y);

#endif
