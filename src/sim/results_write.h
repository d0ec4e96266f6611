/* results_write.h: how a solver fills in the results of a run. */
#ifndef BN_RESULTS_WRITE_H
#define BN_RESULTS_WRITE_H

#include "binnacle/results.h"

/* Sets a scalar that plan() announced; an unannounced name is BN_USAGE. NaN is allowed and becomes null in JSON. */
BN_CHECKED bn_status bn_result(bn_results *, const char *name, double value);

/* Adds a table NAME.csv; the values are copied. */
BN_CHECKED bn_status bn_result_table(bn_results *, const char *name, const bn_column *columns, size_t count,
                                     size_t rows);

/* The end of the name of a column that holds the standard errors of the one before: bars in charts. */
#define BN_STANDARD_ERROR ", standard error"
bool bn_column_is_error(const char *name);

/* Adds a map; all of it is copied. */
BN_CHECKED bn_status bn_result_map(bn_results *, const bn_map *);
/* Adds a small text file NAME to the output directory ("detector.poni"); the text is copied. */
BN_CHECKED bn_status bn_result_text(bn_results *, const char *name, const char *text);

/* Names what did not converge on the way to the end ("wavelength 550 nm"): the run fails with that. Copied. */
BN_CHECKED bn_status bn_result_unconverged(bn_results *, const char *what);

#endif
