/* column_plan.c: chunks and tables of tridiagonal systems. */
#include "numerics/column_plan.h"

#include <stdlib.h>

/* From so many intervals on chunks are longer. */
enum { INTERVALS_OF_16 = 161, INTERVALS_OF_32 = 641, INTERVALS_OF_64 = 1281 };
/* A smaller share of a number changes none of another's figures, and times a small one it would become a number that
 * some devices do not have. */
#define NOTHING 0x1p-80
/* The same of what a separator takes of the next one, with seven bits to spare: devices that have some chunks each then
 * need not know of all others. */
static double no_coupling(size_t real_bytes) { return real_bytes == 8 ? 0x1p-60 : 0x1p-31; }

int bn_column_chunk(int intervals)
{
    return intervals < INTERVALS_OF_16 ? 8 : intervals < INTERVALS_OF_32 ? 16 : intervals < INTERVALS_OF_64 ? 32 : 64;
}

int bn_column_chunks(int intervals, bn_column_ends ends)
{
    return (intervals - 1 + ends.high_free) / bn_column_chunk(intervals) + 1;
}

/* Nodes behind the last separator that are unknowns. */
static int nodes_of_last(const bn_column_plan *p, bn_column_ends ends)
{
    return p->intervals - 1 + ends.high_free - (p->chunks - 1) * p->chunk;
}

/* The tables of `count` nodes behind a separator. Behind them is another one, or a value that is `given`, or the last
 * of them is a mirrored end (`free`). Returns one less the shares of the first node in the separators. */
static double fill_chunk(double m, int count, bool free, bool given, double *multiplier, double *share, size_t stride)
{
    /* excess: one less the multiplier. lack: where both separators are 1, what node j takes of that behind it. */
    double excess = 1, lack = given ? 1 : 0, product = 1;
    for (int j = count; j >= 1; j--) {
        const bool mirror = free && j == count;
        const double by = mirror ? 1 / (1 + 0.5 * m) : 1 / (1 + m + excess);
        multiplier[(size_t)(j - 1) * stride] = by;
        lack = mirror ? 0.5 * m * by : (m + lack) * by;
        excess = mirror ? 0.5 * m * by : (m + excess) * by;
    }
    for (int j = 1; j <= count; j++) {
        product *= multiplier[(size_t)(j - 1) * stride];
        share[(size_t)(j - 1) * stride] = product < NOTHING ? 0 : product;
    }
    return lack;
}

/* Returns whether its separators are coupled. */
static bool fill_column(const bn_column_plan *p, bn_column_ends ends, double m, double nothing, double *to)
{
    bool coupled = false;
    const size_t stride = p->columns;
    const int inner = p->chunk - 1, last = nodes_of_last(p, ends);
    const double lack = fill_chunk(m, inner, false, false, to + (size_t)bn_column_multiplier(p, false) * stride,
                                   to + (size_t)bn_column_share(p, false) * stride, stride);
    const double lack_at_end = fill_chunk(m, last, ends.high_free, !ends.high_free,
                                          to + (size_t)bn_column_multiplier(p, true) * stride,
                                          to + (size_t)bn_column_share(p, true) * stride, stride);
    const double coupling = to[(size_t)(bn_column_share(p, false) + inner - 1) * stride];
    double *multiplier = to + (size_t)bn_column_separator(p) * stride,
           *inverse = to + (size_t)bn_column_inverse(p) * stride;
    double rest = 1; /* one less the multiplier of the separator before */
    for (int s = 0; s < p->chunks; s++) {
        /* The pivot less the coupling to the next separator. */
        const bool is_last = s + 1 == p->chunks, at_end = is_last && last == 0 && ends.high_free;
        const double own = s == 0 || at_end ? 0.5 * m : m; /* the row of a mirrored end is halved */
        const double above = is_last ? lack_at_end : lack;
        const double excess = own + above + (s == 0 ? 0 : lack + coupling * rest);
        const double pivot = excess + (is_last ? 0 : coupling);
        const bool given = s == 0 && !ends.low_free;
        const double by = given || is_last ? 0 : coupling / pivot;
        multiplier[(size_t)s * stride] = by < nothing ? 0 : by;
        coupled = coupled || by >= nothing;
        inverse[(size_t)s * stride] = given ? 0 : 1 / pivot;
        rest = given ? 1 : excess / pivot;
    }
    return coupled;
}

bool bn_column_plan_create(int intervals, bn_column_ends ends, const double *value, size_t columns, double k,
                           double scale, size_t real_bytes, bn_column_plan *out)
{
    *out = (bn_column_plan){ .intervals = intervals, .chunk = bn_column_chunk(intervals), .columns = columns };
    out->chunks = bn_column_chunks(intervals, ends);
    out->tables = calloc(bn_column_numbers(out), sizeof *out->tables);
    if (!out->tables)
        return false;
    for (size_t c = 0; c < columns; c++)
        if (fill_column(out, ends, value[c] / k, no_coupling(real_bytes), out->tables + c))
            out->coupled = c + 1;
    out->tables[bn_column_numbers(out) - 1] = scale;
    return true;
}

void bn_column_plan_destroy(bn_column_plan *p)
{
    free(p->tables);
    *p = (bn_column_plan){ 0 };
}
