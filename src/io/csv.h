/* csv.h: tables as comma-separated text, numbers with enough digits to read back the same bits, "name [unit]" heads. */
#ifndef BN_CSV_H
#define BN_CSV_H

#include "binnacle/results.h"
#include "binnacle/context.h"

/* A whole table, written aside and renamed. NaN is an empty cell. */
BN_CHECKED bn_status bn_csv_write(bn_context *, const char *path, const bn_column *columns, size_t count, size_t rows);

/* A series that grows while the program runs. Rows are text in memory; `publish` writes all of them under a temporary
 * name and renames it, so that a reader always finds whole rows, and does nothing without new rows. With the path ""
 * there is no file. */
typedef struct bn_csv_series bn_csv_series;
BN_CHECKED bn_status bn_csv_series_open(bn_context *, const char *path, const bn_column *heads, size_t count,
                                        bn_csv_series **out);
BN_CHECKED bn_status bn_csv_series_add(bn_csv_series *, const double *row);
/* The whole text so far, valid until the next row; and another one in its place, such as that of a checkpoint: BN_IO
 * unless it has the same heads. */
void bn_csv_series_text(const bn_csv_series *, const char **text, size_t *bytes);
BN_CHECKED bn_status bn_csv_series_set(bn_csv_series *, const char *text, size_t bytes);
BN_CHECKED bn_status bn_csv_series_publish(bn_csv_series *);
BN_CHECKED bn_status bn_csv_series_close(bn_csv_series **); /* publishes; accepts NULL */

#endif
