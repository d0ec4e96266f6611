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

/* Columns of a plan, and those of the second of two systems (NULL: one system); the domain's boxes must fit. The arrays
 * have the tables of both and outlive it. */
BN_CHECKED bn_status bn_cut_columns_create(bn_domain *, const bn_spectral_plan *, const bn_column_plan *second,
                                           bn_device_array *const systems[2], bn_cut_columns **out);
void bn_cut_columns_destroy(bn_cut_columns **);

/* In place; the second system's solution goes to `second`, which is NULL where there is one system. */
BN_CHECKED bn_status bn_cut_columns_solve(bn_cut_columns *, bn_field *coefficients, bn_field *second);

#endif
