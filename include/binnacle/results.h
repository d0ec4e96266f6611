/* results.h: what a run found: named scalars and tables. */
#ifndef BINNACLE_RESULTS_H
#define BINNACLE_RESULTS_H

#include "binnacle/status.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bn_results bn_results;

typedef struct bn_result_info {
    const char *name, *unit, *help;
    double value;
} bn_result_info;

/* A column of a table: name and unit go to the head of the CSV file. */
typedef struct bn_column {
    const char *name, *unit;
    const double *values;
} bn_column;

/* Sets a scalar that plan() announced; an unannounced name is BN_USAGE. NaN is allowed and becomes null in JSON. */
BN_CHECKED bn_status bn_result(bn_results *, const char *name, double value);

/* Adds a table NAME.csv; the values are copied. */
BN_CHECKED bn_status bn_result_table(bn_results *, const char *name, const bn_column *columns, size_t count,
                                     size_t rows);

/* Adds a text, which becomes the file of that name; one of the same name is replaced. Copied. */
BN_CHECKED bn_status bn_result_text(bn_results *, const char *file, const char *text);

size_t bn_results_count(const bn_results *);
const bn_result_info *bn_results_at(const bn_results *, size_t index);
size_t bn_results_tables(const bn_results *);
/* Lends table `index`: `*columns` lives as long as the results. */
const char *bn_results_table_at(const bn_results *, size_t index, const bn_column **columns, size_t *count,
                                size_t *rows);
size_t bn_results_texts(const bn_results *);
/* Lends the file name and the text `index`; both live as long as the results, or until the text is replaced. */
const char *bn_results_text_at(const bn_results *, size_t index, const char **text);

#ifdef __cplusplus
}
#endif
#endif
