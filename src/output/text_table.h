/* text_table.h: aligned tables, sizes and times for people. */
#ifndef BN_TEXT_TABLE_H
#define BN_TEXT_TABLE_H

#include "binnacle/device.h"
#include <stdint.h>

enum { BN_TEXT_TABLE_COLUMNS = 16, BN_TEXT_TABLE_CELL = 128 };

/* Rows of texts, printed with columns as wide as their widest cell. */
typedef struct bn_text_table {
    size_t columns, rows, room;
    unsigned right; /* bit c: column c stands at its right edge */
    char (*cells)[BN_TEXT_TABLE_COLUMNS][BN_TEXT_TABLE_CELL];
} bn_text_table;

/* Adds an empty row; its cells are valid until the next call. NULL: bn_fail reported a lack of memory. */
char (*bn_text_table_row(bn_context *, bn_text_table *))[BN_TEXT_TABLE_CELL];
/* Adds a row, printf-like, its cells parted by tabs. */
BN_CHECKED bn_status bn_text_table_add(bn_context *, bn_text_table *, const char *format, ...) BN_PRINTF(3, 4);
void bn_text_table_print(const bn_text_table *);
void bn_text_table_release(bn_text_table *);

enum { BN_SHORT_TEXT = 32 };
void bn_text_bytes(char text[BN_SHORT_TEXT], uint64_t bytes);         /* "1.5 GiB" */
void bn_text_rate(char text[BN_SHORT_TEXT], double bytes_per_second); /* "11 GB/s"; "-" when it is 0 */
/* A device in a table: its name, cut where it is long, and the platform in brackets: several implementations name
 * themselves after the CPU. */
void bn_text_device(char text[BN_TEXT_TABLE_CELL], const bn_device_info *);
void bn_text_seconds(char text[BN_SHORT_TEXT], double seconds); /* "2:30", "15 h" */

#endif
