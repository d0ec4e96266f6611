/* spectral_plan.h: tables of the fast direct solver (kernels/spectral.cl): lengths, extensions, chirps and tridiagonal
 * systems, computed once in double for device and reference. */
#ifndef BN_SPECTRAL_PLAN_H
#define BN_SPECTRAL_PLAN_H

#include "numerics/column_plan.h"
#include "numerics/stencil.h"
#include <stddef.h>

/* Which end of a line is mirrored where the value at the other one is given. */
typedef enum bn_spectral_mirrored {
    BN_SPECTRAL_NOT_MIRRORED, /* both ends are alike */
    BN_SPECTRAL_MIRRORED_HIGH,
    BN_SPECTRAL_MIRRORED_LOW
} bn_spectral_mirrored;

/* One dimension. Unknowns are `count` nodes from node `first` on. The rest describes the transform along x. A line has
 * so many `intervals`, and a period of `length`, twice as many, about whose ends it is odd (the value is given) or
 * even. With ends that are not alike it is taken together with its image in the mirrored end: an odd line of twice the
 * intervals. Lines are folded, over 2^log intervals: their own; those of the shorter lines into which a line of m 2^log
 * is split, m odd; or those of a convolution (`chirps`). Where their own are too many for the local memory of a
 * work-group on a GPU, 2^share_log of them share a pair of lines (kernels/transform.cl).
 *
 * A line is split by the prime factor algorithm (Good 1958, Thomas 1963) into split[0] lines, and each of them into
 * split[1] (1: not); the two have no divisor in common. With h = (m - 1) / 2 the m lines that come of one of I
 * intervals are, at j = 0 ... I / m, of the values f at points i = m j + 2 (I / m) n of a period,
 *   number c = 0 ... h    f + sum over n = 1 ... h of cos(2 pi c n / m) (f at n + f at -n), whose ends are as before;
 *   number h + c          the sum over n = 1 ... h of sin(2 pi c n / m) (f at n - f at -n), with ends of the other
 *                         kind.
 * twiddle     bn_spectral_twiddles() numbers: exp(-i pi t / 2^log), t <= 2^log
 * factors     bn_spectral_factors() numbers: the same for kernels/transform.cl, exp(-2 pi i t / 2^n), t < 2^n / 2, from
 *             pair 2^n / 2 on, for every length 2^n
 * chirp       bn_spectral_chirps() numbers, pairs (re, im): [intervals + 1] of the values, and as many of the results
 * spectrum    bn_spectral_spectrum() numbers, pairs in the order of the transform's points
 * sums        bn_spectral_sums() numbers: for each split the cosines and sines above, a row for each n
 * pick, pick_back
 *             [terms][count]: 1 + the place of each value in the result of the transform, forward and back, negative
 *             where its sign is to be changed; of lines that are split a value is the sum of `terms`, of which 0 stands
 *             for none, and point p of shorter line l is at place l (2^log + 1) + p
 * On a stretched grid `dense` tables of kernels/spectral_dense.cl stand in place of all these, along x and y: with a
 * column for each of the `nodes`, intervals + 1, forward and back a row for each unknown, and eigenvalues. */
typedef struct bn_spectral_axis {
    int intervals, count, first, length, log, share_log, split[2], terms;
    bool low_free, high_free; /* mirrored ends, whose node is an unknown */
    bn_spectral_mirrored mirrored;
    bool odd, chirps;
    int32_t *pick, *pick_back;
    double *twiddle, *factors, *sums, *chirp, *spectrum;
    bool dense;
    double *forward, *back, *eigenvalue;
} bn_spectral_axis;

/* columns: the systems along y of each coefficient along x; none on a stretched grid. */
typedef struct bn_spectral_plan {
    bn_spectral_axis axis[2];
    bn_column_plan columns;
} bn_spectral_plan;

static inline size_t bn_spectral_twiddles(const bn_spectral_axis *a) { return 2 * (((size_t)1 << a->log) + 1); }

static inline size_t bn_spectral_factors(const bn_spectral_axis *a) { return (size_t)4 << a->log; }

/* Into how many lines a line is split in all. */
static inline int bn_spectral_lines(const bn_spectral_axis *a) { return a->split[0] * a->split[1]; }

/* Of a line split into m: a row of the table of sums, in which cosines and sines are each filled up to a multiple of
 * four; and where in it the one for line number c is. */
static inline int bn_spectral_sums_row(int m) { return 4 * (m / 2 / 4 + 1 + (m / 2 + 3) / 4); }
static inline int bn_spectral_sum_at(int m, int c) { return c > m / 2 ? c - m / 2 - 1 + 4 * (m / 2 / 4 + 1) : c; }

static inline size_t bn_spectral_sums(const bn_spectral_axis *a)
{
    size_t count = 0;
    for (int s = 0; s < 2; s++)
        count += (size_t)(a->split[s] / 2) * (size_t)bn_spectral_sums_row(a->split[s]);
    return count;
}

/* Points of all the lines that come of a split: of the last one, and more than of the line itself or of the first. */
static inline size_t bn_spectral_split_points(const bn_spectral_axis *a)
{
    return (size_t)(a->intervals + bn_spectral_lines(a));
}

/* Of the points of a line, or of one that it is split into, that a work-group has. */
static inline int bn_spectral_group_log(const bn_spectral_axis *a) { return a->log - a->share_log; }

/* Points of local memory for a pair of lines, or a share of it (kernels/transform.cl): the end of a line of even
 * symmetry stands behind the others. Lines that are split need room for the shorter ones, and as much for what the sums
 * are made of. */
static inline size_t bn_spectral_room(const bn_spectral_axis *a)
{
    return bn_spectral_lines(a) > 1 ? 2 * bn_spectral_split_points(a)
                                    : ((size_t)1 << bn_spectral_group_log(a)) + (a->odd ? 0 : 16);
}

static inline size_t bn_spectral_chirps(const bn_spectral_axis *a) { return 4 * (size_t)(a->intervals + 1); }

/* From which pair on the chirps of the results stand. */
static inline int bn_spectral_chirps_back(const bn_spectral_axis *a) { return a->intervals + 1; }

static inline size_t bn_spectral_spectrum(const bn_spectral_axis *a) { return 2 * (((size_t)1 << a->log) + 1); }

/* The value at point m of a transform, -1: zero. Forward, or back from coefficients. */
static inline int bn_spectral_value_at(const bn_spectral_axis *a, int m, bool back)
{
    const int from_mirror = m > a->count ? m - a->count : a->count - m;
    if (a->mirrored && back)
        return m % 2 && m / 2 < a->count ? m / 2 : -1;
    if (a->mirrored)
        return from_mirror >= a->count                   ? -1
               : a->mirrored == BN_SPECTRAL_MIRRORED_LOW ? from_mirror
                                                         : a->count - 1 - from_mirror;
    return m >= a->odd && m - a->odd < a->count ? m - a->odd : -1;
}

/* Whether the direct solver can take the matrix: a whole rectangle with each side given or mirrored throughout, lines
 * that fit into BN_SPECTRAL_LOCAL_BYTES or, on a stretched grid, of BN_SPECTRAL_DENSE_NODES at most, and obstacles in
 * it as capacitance_plan.h takes them. *why (why may be NULL): the reason why not. */
bool bn_spectral_suits(const bn_stencil *, size_t real_bytes, const char **why);

/* Rows and columns of a matrix that suits, without tables. False: rows are convolved, taken together with their images,
 * or too long for one work-group; or the grid is stretched. */
bool bn_spectral_folds_or_splits(const bn_stencil *, size_t real_bytes, bn_spectral_axis out[2]);
/* What the lines along dimension 0 or 1 of a matrix that suits are, a literal: other code for each. Ends count where
 * lines along x are whole or split once. */
const char *bn_spectral_kind(const bn_stencil *, size_t real_bytes, int dim);
/* That of columns by cut_columns.h: of more than bn_column_chunks_most() chunks on GPUs, and of those that several
 * devices share out. */
#define BN_SPECTRAL_CUT_COLUMNS "columns in several launches"

/* Local memory that every device has (OpenCL 1.2, table 4.3). */
enum { BN_SPECTRAL_LOCAL_BYTES = 32768 };
/* Each share of a line is computed from the whole line: more than four work-groups would load it more than four times.
 */
enum { BN_SPECTRAL_SHARE_LOG = 2 };
/* Eigenvectors of longer lines take minutes to find. */
enum { BN_SPECTRAL_DENSE_NODES = 1025 };

/* For numbers of so many bytes. False: no memory. */
bool bn_spectral_plan_create(const bn_stencil *, size_t real_bytes, bn_spectral_plan *out);
/* Of the second of two systems: its columns are not divided by the length of the period, since they come of
 * coefficients of the first solution, not of a transform. */
bool bn_spectral_plan_second(const bn_stencil *, size_t real_bytes, bn_spectral_plan *out);
void bn_spectral_plan_destroy(bn_spectral_plan *);

#endif
