/* xray_runs.h: what the tests of the solver `xray` share: fields of a run as numbers, and comparisons of two runs. */
#ifndef BN_TEST_XRAY_RUNS_H
#define BN_TEST_XRAY_RUNS_H

#include "support_case.h"

#include <stddef.h>

/* Direction of a detector cell: half the cells are the middle, which looks along x. */
void detector_direction(const int n[2], double cell_angle, bool equal_angles, double i, double j, double u[3]);
/* Direction of light with this tilt towards y and z. */
void beam_direction(const double tilt[2], double u[3]);
double dot(const double a[3], const double b[3]);

double total(const double *values, size_t count);

/* Both runs have the field to the bit. */
void same_bits(run *, run *, const char *name);

/* Two pictures of `cells` counted photons from photons of their own follow one law: chi-squared over the cells that
 * have more than 20 photons together, 3.7 standard deviations. */
void same_law(const double *x, const double *y, size_t cells, const char *what);

/* What `binnacle check` prints beside the results. */
double note(const run *, const char *name);

#endif
