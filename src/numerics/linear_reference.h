/* linear_reference.h: the methods of linear.h in plain C, in the precision of the file that includes this. */
#ifndef BN_LINEAR_REFERENCE_H
#define BN_LINEAR_REFERENCE_H

#include "numerics/linear.h"
#include "numerics/real.h"

typedef struct bn_linear_reference bn_linear_reference;

/* The stencil's bits must live as long. */
BN_CHECKED bn_status BN_PRECISE(linear_reference_create)(bn_context *, const bn_linear_desc *,
                                                         bn_linear_reference **out);
void BN_PRECISE(linear_reference_destroy)(bn_linear_reference **);

/* As bn_linear_solve and bn_linear_report in one; x and b have nx * ny values. */
BN_CHECKED bn_status BN_PRECISE(linear_reference_solve)(bn_linear_reference *, real *x, const real *b,
                                                        const bn_cg_target *, bn_cg_report *);

/* As bn_linear_solve_two, and as bn_linear_check and bn_linear_report in one. */
void BN_PRECISE(linear_reference_solve_two)(bn_linear_reference *first, bn_linear_reference *second, real *x, real *y,
                                            const real *b, const real *plus);
BN_CHECKED bn_status BN_PRECISE(linear_reference_check)(bn_linear_reference *, const real *x, const real *b,
                                                        const bn_cg_target *, bn_cg_report *);

/* As bn_linear_solves and bn_linear_resume. */
unsigned long long BN_PRECISE(linear_reference_solves)(const bn_linear_reference *);
void BN_PRECISE(linear_reference_resume)(bn_linear_reference *, unsigned long long solves, const bn_cg_report *);

#endif
