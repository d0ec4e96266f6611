/* results.h: what a run found: named scalars, tables, maps and texts, as bn_sim_measure left them. All is lent: it
 * lives until the next bn_sim_measure or the end of the simulation. Indices count from 0 and must be below the counts.
 */
#ifndef BINNACLE_RESULTS_H
#define BINNACLE_RESULTS_H

#include "binnacle/context.h"
#include <stddef.h>
#include <stdint.h>

BN_INTERFACE_BEGIN

typedef struct bn_results bn_results;

typedef struct bn_result_info {
    const char *name, *unit, *help;
    double value;
    /* What the case states as known ([[expected]]), in the same unit; NaN: nothing. */
    double expected, tolerance; /* tolerance 0: not known */
    const char *source;
} bn_result_info;

/* A column of a table: name and unit go to the head of the CSV file. */
typedef struct bn_column {
    const char *name, *unit;
    const double *values;
} bn_column;

/* A picture of what a run found that is no field of its grid, such as the course of a beam. */
typedef struct bn_map {
    const char *name;  /* of the files: pictures/NAME.png, NAME.vti */
    const char *title; /* stands over the picture, after the case's */
    const char *quantity, *unit;
    const char *axes[2]; /* "z", "y" */
    uint32_t n[2];
    double origin[2], h[2]; /* place of the first value and spacing [m] */
    const double *values;   /* n[0] * n[1], the first axis fastest */
    const double *lines;    /* as many, whose contours are drawn over it; or NULL */
    const double *levels;   /* of the contours, ascending */
    size_t level_count;
    const char *line_label; /* named under the picture, or NULL */
    double shape;           /* width over height of the picture, the axes to scales of their own; 0: to one scale */
    double low, high;       /* of the colours; low == high: from the data */
    bool cells;             /* values at the middle of cells, not at nodes */
} bn_map;

/* Draws a map as PNG, as the program draws its own; NaN is grey. Without `low` and `high` the colours are symmetric
 * about 0 where both signs take a real share of the range. Any values may be drawn, such as those of bn_sim_get. */
BN_CHECKED bn_status bn_map_draw(bn_context *, const bn_map *, const char *path);

size_t bn_results_maps(const bn_results *);
const bn_map *bn_results_map_at(const bn_results *, size_t index);
/* What did not converge on the way to the end; NULL: nothing. */
const char *bn_results_unconverged(const bn_results *);

size_t bn_results_count(const bn_results *);
const bn_result_info *bn_results_at(const bn_results *, size_t index);
size_t bn_results_tables(const bn_results *);
/* Lends table `index`: `*columns` lives as long as the results. */
const char *bn_results_table_at(const bn_results *, size_t index, const bn_column **columns, size_t *count,
                                size_t *rows);

size_t bn_results_texts(const bn_results *);
/* Lends text `index` and its name. */
const char *bn_results_text_at(const bn_results *, size_t index, const char **text);

BN_INTERFACE_END
#endif
