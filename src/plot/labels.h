/* labels.h: what stands at axes and colour bars: tick marks at round numbers, and names with units in proper signs. */
#ifndef BN_LABELS_H
#define BN_LABELS_H

#include <stdbool.h>
#include <stddef.h>

enum { BN_LABEL_BYTES = 256, BN_TICKS_MAX = 64, BN_TICK_BYTES = 32 };

typedef struct bn_ticks {
    int count;
    double at[BN_TICKS_MAX];
    char text[BN_TICKS_MAX][BN_TICK_BYTES]; /* UTF-8; "": a small mark without a number */
    int exponent;                           /* the numbers are to be multiplied by 10^exponent */
    double offset;                          /* and this is to be added: map coordinates, values near one another */
} bn_ticks;

/* About `wanted` marks (2 or more) at round numbers within low < high. */
void bn_ticks_linear(bn_ticks *, double low, double high, int wanted);

/* Marks at powers of ten, `low` and `high` being the logarithms, with small marks between when the range is short. */
void bn_ticks_log(bn_ticks *, double low, double high, int wanted);

/* "m2 s-1" as "m²/s", "W m-2 K-1" as "W/(m²·K)"; "1" and NULL as ""; text of another form as it is. */
void bn_label_unit(char *out, size_t bytes, const char *unit);

/* "omega", "s-1" with ticks in thousandths as "ω [10⁻³ 1/s]", "x", "m" with ticks counted from 600000 as
 * "x − 600 000 [m]"; `unit` may be NULL or "", the ticks NULL. */
void bn_label_format(char *out, size_t bytes, const char *name, const char *unit, const bn_ticks *);

/* The same for "omega [s-1]" in one text. */
void bn_label_text(char *out, size_t bytes, const char *text, const bn_ticks *);

/* A number with three digits: "−1.23×10⁻⁵". */
void bn_label_number(char *out, size_t bytes, double value);

/* The smallest of 1, 2, 5 times a power of ten that is not below `step` > 0. */
double bn_round_step(double step);

/* The SI prefix for lengths up to `size` metres: "km", "m", "mm", "µm", "nm"; `*factor` units make a metre. */
const char *bn_label_length(double size, double *factor);

#endif
