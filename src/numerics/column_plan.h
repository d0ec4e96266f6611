/* column_plan.h: tables for the tridiagonal systems of the fast direct solver (kernels/spectral.cl), one for each
 * coefficient along x, computed once in double for device and reference.
 *
 * The system of a column is, over its coupling k from node to node,
 *   -x[j - 1] + (2 + m) x[j] - x[j + 1] = scale b[j], j a node
 * with the same m >= 0 everywhere; the row of a mirrored end is halved, and at a given end x is zero. It is solved by
 * the partition method (Wang 1981): the nodes are cut into `chunks` of `chunk` nodes, counted from node 0. The first
 * of each is a separator. What lies between is solved for with zeros there: from the last node to the first
 *   z[j] = scale b[j] + multiplier[j + 1] z[j + 1],     then x[j] = multiplier[j] (x[j - 1] + z[j]).
 * Separators see that in their right-hand sides and make up a tridiagonal system themselves, solved by
 *   y[s] = b[s] + separator[s - 1] y[s - 1],            then x[s] = separator[s] x[s + 1] + inverse[s] y[s].
 * separator[s] is zero where it is less than rounding, as in most columns: an exponential of the column's number. Only
 * the first `coupled` columns have others.
 * The others then get their share of both: share[j] of the one before, share[chunk - j] of the one behind. The last
 * chunk ends where the column does: it has tables of its own. All of these numbers are positive and are formed from
 * positive ones without a difference, so that each is right to its last figures, and so are solutions where m is
 * next to nothing. */
#ifndef BN_COLUMN_PLAN_H
#define BN_COLUMN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/* Of `intervals` from node to node along a column; `columns` systems. tables[row][column]: rows from those below on, a
 * row each for j = 1 ... chunk - 1, or for each separator; behind all of them `scale`. */
typedef struct bn_column_plan {
    int intervals, chunk, chunks;
    size_t columns, coupled;
    double *tables;
} bn_column_plan;

/* In which row each table begins. */
static inline int bn_column_multiplier(const bn_column_plan *p, bool last) { return last ? 2 * (p->chunk - 1) : 0; }
static inline int bn_column_share(const bn_column_plan *p, bool last) { return (last ? 3 : 1) * (p->chunk - 1); }
static inline int bn_column_separator(const bn_column_plan *p) { return 4 * (p->chunk - 1); }
static inline int bn_column_inverse(const bn_column_plan *p) { return bn_column_separator(p) + p->chunks; }

static inline size_t bn_column_numbers(const bn_column_plan *p)
{
    return (size_t)(bn_column_inverse(p) + p->chunks) * p->columns + 1;
}

/* Chunks of a column that a work-group takes in one launch, for numbers of so many bytes: with more than 64 of them it
 * has two columns alone, whose rows it reads and writes 8 bytes at a time in single precision (docs/measurements.md).
 */
static inline int bn_column_chunks_most(size_t real_bytes) { return real_bytes == 8 ? 128 : 64; }
/* From how many nodes on chunks take more registers than other kernels. */
enum { BN_COLUMN_LONG = 32 };
/* Registers of a work-item, which has the nodes of a chunk in them. */
static inline int bn_column_registers(size_t real_bytes) { return real_bytes == 8 ? 255 : 128; }

/* The ends of a column, where mirrored. */
typedef struct bn_column_ends {
    bool low_free, high_free;
} bn_column_ends;

/* A chunk's nodes: other numbers give other bits. And how many chunks there are. */
int bn_column_chunk(int intervals);
int bn_column_chunks(int intervals, bn_column_ends);

/* Systems whose m is value[column] / k, for numbers of so many bytes. False: no memory. */
bool bn_column_plan_create(int intervals, bn_column_ends, const double *value, size_t columns, double k, double scale,
                           size_t real_bytes, bn_column_plan *out);
void bn_column_plan_destroy(bn_column_plan *);

#endif
