/* cut_columns.h: the tridiagonal systems along y of the fast direct solver where no work-group has a whole column
 * (kernels/cut_columns.cl): on several boxes, or where a column has more chunks than a work-group takes. What the
 * boxes tell each other is a number or two for each chunk of a column, in most columns to their neighbours alone. */
#ifndef BN_CUT_COLUMNS_H
#define BN_CUT_COLUMNS_H

#include "api/device_array.h"
#include "api/field.h"
#include "numerics/spectral_plan.h"

typedef struct bn_cut_columns bn_cut_columns;

/* Whether the boxes have whole rows and whole chunks of columns of so many intervals. */
bool bn_columns_fit_boxes(const bn_domain *, int intervals);

/* Columns of a plan, and those of the second of two systems (NULL: one system); the domain's boxes must fit. */
BN_CHECKED bn_status bn_cut_columns_create(bn_domain *, const bn_spectral_plan *, const bn_column_plan *second,
                                           bn_cut_columns **out);
void bn_cut_columns_destroy(bn_cut_columns **);
/* Waits until its kernels are compiled. */
BN_CHECKED bn_status bn_cut_columns_ready(bn_cut_columns *);

/* The first system in place. What follows until the second one is solved for and leaves the coefficients as they are
 * runs beside messages between the boxes: *awaited is a field whose halo of one cell may be received meanwhile
 * (BN_READ_LATER), NULL where there is no second system. */
BN_CHECKED bn_status bn_cut_columns_solve(bn_cut_columns *, bn_field *coefficients, bn_field **awaited);
/* Then the second system, whose solution goes to `second`. */
BN_CHECKED bn_status bn_cut_columns_solve_second(bn_cut_columns *, bn_field *coefficients, bn_field *second);

#endif
