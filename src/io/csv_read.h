/* csv_read.h: reads tables of numbers as comma-separated text: comments (#) first, then a line of heads, then rows. */
#ifndef BN_CSV_READ_H
#define BN_CSV_READ_H

#include "binnacle/context.h"
#include <stddef.h>

enum { BN_CSV_COLUMNS = 64 };

typedef struct bn_csv_table {
    size_t columns, rows;
    char *heads[BN_CSV_COLUMNS]; /* into `text` */
    double *values;              /* row by row; an empty place is NaN */
    char *comments, *text;
} bn_csv_table;

/* BN_IO, naming `name` and the line, when a place holds no number, a row has another number of places than the heads,
 * or there is no row. `name` stands in messages. */
BN_CHECKED bn_status bn_csv_parse(bn_context *, const char *name, const char *text, bn_csv_table *out);
void bn_csv_table_free(bn_csv_table *);

#endif
