/* decimal.h: real numbers as text and back, with a decimal point in any locale of the process. */
#ifndef BN_DECIMAL_H
#define BN_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

enum { BN_DECIMAL_BYTES = 32 }; /* room for any double at 17 digits */

/* The shortest of 15, 16 or 17 significant digits that reads back as the same bits; "nan", "inf" and "-inf" else. */
void bn_decimal_format(char text[BN_DECIMAL_BYTES], double value);

/* `value` with `digits` places after the point, cut at `bytes`; for labels. */
void bn_decimal_fixed(char *text, size_t bytes, int digits, double value);

/* `value` with so many significant digits; for reading. */
void bn_decimal_short(char text[BN_DECIMAL_BYTES], int digits, double value);

/* Reads a number that must be the whole text, blanks around it apart; false when it is none. */
bool bn_decimal_parse(const char *text, double *value);

#endif
