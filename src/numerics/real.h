/* real.h: what the CPU references are written with. A file NAME_reference.c is compiled twice, for float and for
 * double, so that a device can be compared with it bit for bit in its own precision. It is plain C loops over whole
 * arrays (x fastest, no halo). Its formulas are those of the kernels in the same association, written again: equal bits
 * prove the port, and the tests of the solvers prove the scheme. */
#ifndef BN_REAL_H
#define BN_REAL_H

#include "api/domain.h"
#include <stddef.h>

#if BN_REFERENCE_BYTES == 8
typedef double real;
#define REAL(x) x
#define FMA fma /* one rounding, as fma() of the kernels */
#define BN_PRECISE(name) bn_##name##_double
#elif BN_REFERENCE_BYTES == 4
typedef float real;
#define REAL(x) x##f
#define FMA fmaf
#define BN_PRECISE(name) bn_##name##_single
#else
#error "BN_REFERENCE_BYTES must be 4 or 8: this header is for NAME_reference.c files"
#endif

/* A member of the struct of a reference's constants, beside BN_CONSTANT_MEMBER of sim/solver.h:
 *     struct { FLOW_CONSTANTS(BN_CONSTANT_REAL) } k;
 *     bn_round_constants((const double *)&s->k, sizeof s->k / sizeof(double), (real *)&k); */
#define BN_CONSTANT_REAL(name, meaning) real name;
static inline void bn_round_constants(const double *values, size_t count, real *rounded)
{
    for (size_t i = 0; i < count; i++)
        rounded[i] = (real)values[i];
}

/* bn_ordered_dot(a, b, n, partials): the sum of a[i] * b[i] in the order of the device's kernels. */
#define BN_SUM_REAL real
#define BN_SUM_NAME(name) bn_##name
#include "api/ordered_sum.h"

#endif
