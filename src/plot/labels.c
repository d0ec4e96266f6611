/* labels.c: text for pictures, from names, units and numbers. */
#include "plot/labels.h"

#include "io/decimal.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUS "\u2212"

/* Text that is appended piece by piece and silently cut at the end of the buffer, never within a piece. */
typedef struct writing {
    char *out;
    size_t bytes, used;
} writing;

static void put(writing *w, const char *text)
{
    const size_t length = strlen(text);
    if (w->used + length + 1 > w->bytes)
        return;
    memcpy(w->out + w->used, text, length + 1);
    w->used += length;
}

static writing begin(char *out, size_t bytes)
{
    out[0] = '\0';
    return (writing){ out, bytes, 0 };
}

static void put_power(writing *w, int exponent)
{
    static const char *const raised[] = { "\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                          "\u2075", "\u2076", "\u2077", "\u2078", "\u2079" };
    char digits[16];
    snprintf(digits, sizeof digits, "%d", abs(exponent));
    if (exponent < 0)
        put(w, "\u207b");
    for (const char *d = digits; *d; d++)
        put(w, raised[*d - '0']);
}

/* A number as printf made it, with a proper minus. */
static void put_number(writing *w, const char *number)
{
    if (number[0] == '-')
        put(w, MINUS);
    put(w, number + (number[0] == '-'));
}

/* One factor of a unit: letters (or % and the bytes of UTF-8 letters), then an exponent, "^" before it or not. False:
 * another form. */
typedef struct unit_factor {
    char symbol[24];
    int power;
} unit_factor;

static bool read_factor(const char **text, unit_factor *f)
{
    size_t length = 0;
    const char *at = *text;
    while (isalpha((unsigned char)*at) || *at == '%' || (unsigned char)*at >= 0x80) {
        if (length + 1 == sizeof f->symbol)
            return false;
        f->symbol[length++] = *at++;
    }
    f->symbol[length] = '\0';
    f->power = 1;
    if (*at == '^' || *at == '-' || *at == '+' || isdigit((unsigned char)*at)) {
        char *end = NULL;
        at += *at == '^';
        const long power = strtol(at, &end, 10);
        if (end == at || power == 0 || power < -99 || power > 99)
            return false;
        f->power = (int)power;
        at = end;
    }
    if (length == 0 || (*at && *at != ' ' && *at != '.'))
        return false;
    *text = at + strspn(at, " .");
    return true;
}

/* The factors whose power has the given sign, parted by dots; gives their number. */
static int put_factors(writing *w, const unit_factor *factors, int count, int sign)
{
    int done = 0;
    for (int i = 0; i < count; i++) {
        const int power = factors[i].power * sign;
        if (power < 0)
            continue;
        if (done++ > 0)
            put(w, "\u00b7");
        put(w, factors[i].symbol);
        if (power > 1)
            put_power(w, power);
    }
    return done;
}

void bn_label_unit(char *out, size_t bytes, const char *unit)
{
    unit_factor factors[8] = { { "", 0 } };
    int count = 0, below = 0;
    writing w = begin(out, bytes);
    if (!unit || strcmp(unit, "1") == 0)
        return;
    for (const char *at = unit; *at;) {
        if (count == (int)(sizeof factors / sizeof *factors) || !read_factor(&at, &factors[count])) {
            put(&w, unit);
            return;
        }
        below += factors[count++].power < 0;
    }
    if (put_factors(&w, factors, count, 1) == 0 && below > 0)
        put(&w, "1");
    if (below > 0) {
        put(&w, below > 1 ? "/(" : "/");
        put_factors(&w, factors, count, -1);
        put(&w, below > 1 ? ")" : "");
    }
}

/* Names that stand for Greek letters, alone or before an underscore. */
static void put_name(writing *w, const char *name)
{
    static const char *const greek[][2] = {
        { "alpha", "\u03b1" },   { "beta", "\u03b2" },  { "gamma", "\u03b3" }, { "delta", "\u03b4" },
        { "epsilon", "\u03b5" }, { "eta", "\u03b7" },   { "theta", "\u03b8" }, { "kappa", "\u03ba" },
        { "lambda", "\u03bb" },  { "mu", "\u03bc" },    { "nu", "\u03bd" },    { "xi", "\u03be" },
        { "rho", "\u03c1" },     { "sigma", "\u03c3" }, { "tau", "\u03c4" },   { "phi", "\u03c6" },
        { "chi", "\u03c7" },     { "psi", "\u03c8" },   { "omega", "\u03c9" },
    };
    for (size_t i = 0; i < sizeof greek / sizeof *greek; i++) {
        const size_t length = strlen(greek[i][0]);
        if (strncmp(name, greek[i][0], length) == 0 && (name[length] == '\0' || name[length] == '_')) {
            put(w, greek[i][1]);
            put(w, name + length);
            return;
        }
    }
    put(w, name);
}

/* " − 600 000", " + 0.125": what stands between the name and its unit where ticks are counted from a number. */
static void put_offset(writing *w, double offset)
{
    char digits[BN_DECIMAL_BYTES];
    bn_decimal_format(digits, fabs(offset));
    const size_t whole = strspn(digits, "0123456789");
    put(w, offset > 0 ? " " MINUS " " : " + ");
    for (size_t i = 0; digits[i]; i++) {
        const bool group = i > 0 && i < whole && (whole - i) % 3 == 0 && whole > 4 && digits[whole] != 'e';
        put(w, group ? " " : "");
        put(w, (const char[]){ digits[i], '\0' });
    }
}

void bn_label_format(char *out, size_t bytes, const char *name, const char *unit, const bn_ticks *ticks)
{
    char symbol[BN_LABEL_BYTES];
    const int exponent = ticks ? ticks->exponent : 0;
    bn_label_unit(symbol, sizeof symbol, unit);
    writing w = begin(out, bytes);
    put_name(&w, name ? name : "");
    if (ticks && fabs(ticks->offset) > 0)
        put_offset(&w, ticks->offset);
    if (!symbol[0] && exponent == 0)
        return;
    put(&w, w.used ? " [" : "[");
    if (exponent != 0) {
        put(&w, "10");
        put_power(&w, exponent);
        put(&w, symbol[0] ? " " : "");
    }
    put(&w, symbol);
    put(&w, "]");
}

void bn_label_text(char *out, size_t bytes, const char *text, const bn_ticks *ticks)
{
    char name[BN_LABEL_BYTES] = "", unit[BN_LABEL_BYTES] = "";
    const size_t length = text ? strlen(text) : 0;
    const char *open = length && text[length - 1] == ']' ? strrchr(text, '[') : NULL;
    size_t head = open ? (size_t)(open - text) : length;
    if (open && strlen(open) - 2 < sizeof unit)
        memcpy(unit, open + 1, strlen(open) - 2);
    while (head > 0 && text[head - 1] == ' ')
        head--;
    if (head > 0 && head < sizeof name)
        memcpy(name, text, head);
    bn_label_format(out, bytes, name, unit, ticks);
}

/* floor(log10(|value|)), exact at powers of ten; of 0, infinity and NaN what is next to it among doubles. */
static int decade(double value)
{
    if (!(fabs(value) > 0))
        return DBL_MIN_10_EXP;
    if (!isfinite(value))
        return DBL_MAX_10_EXP;
    int e = (int)floor(log10(fabs(value)));
    if (fabs(value) >= pow(10, e + 1))
        e++;
    return e;
}

void bn_label_number(char *out, size_t bytes, double value)
{
    writing w = begin(out, bytes);
    if (!isfinite(value) || !(fabs(value) > 0)) {
        put(&w, isfinite(value) ? "0" : "?");
        return;
    }
    char text[BN_TICK_BYTES];
    int e = decade(value);
    const bool plain = e >= -3 && e < 5;
    bn_decimal_fixed(text, sizeof text, plain ? (e < 2 ? 2 - e : 0) : 2, plain ? value : value / pow(10, e));
    put_number(&w, text);
    if (!plain) {
        put(&w, "\u00d710");
        put_power(&w, e);
    }
}

const char *bn_label_length(double size, double *factor)
{
    static const struct {
        double at_least, factor;
        const char *unit;
    } units[] = {
        { 5e3, 1e-3, "km" },
        { 0.1, 1, "m" },
        { 1e-4, 1e3, "mm" },
        { 1e-7, 1e6, "\u00b5m" },
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (size >= units[i].at_least) {
            *factor = units[i].factor;
            return units[i].unit;
        }
    *factor = 1e9;
    return "nm";
}

double bn_round_step(double step)
{
    static const double steps[] = { 1, 2, 5, 10 };
    const double power = pow(10, decade(step));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] * power >= step * (1 - 1e-9))
            return steps[i] * power;
    return 10 * power;
}

/* What ticks are counted from, so that their numbers stay short: 0, or a round number below all of them, where they
 * would differ only in late digits: 600 000 for 600 050 to 600 250. */
static double find_offset(double low, double high, double step)
{
    const double largest = fmax(fabs(low), fabs(high));
    const int top = decade(largest), digits = top - decade(step);
    const bool narrow = high - low < 0.1 * largest;
    const bool long_numbers = top > 4 ? digits >= 2 : top < -2 ? digits >= 4 : digits >= 5;
    if (!narrow || !long_numbers || largest > 1e15)
        return 0;
    const int e = decade(high - low) + 1;
    return e >= 0 ? floor(low / pow(10, e)) * pow(10, e) : floor(low * pow(10, -e)) / pow(10, -e);
}

void bn_ticks_linear(bn_ticks *t, double low, double high, int wanted)
{
    const double step = bn_round_step((high - low) / wanted);
    t->offset = find_offset(low, high, step);
    const double from = low - t->offset, until = high - t->offset;
    const int top = decade(fmax(fabs(from), fabs(until))), unit = decade(step);
    /* Plain numbers from 0.01 to 99999; beyond, a common power of ten goes to the axis' label. */
    t->exponent = top > 4 || top < -2 ? top : 0;
    const double scale = pow(10, t->exponent);
    const int digits = t->exponent > unit ? t->exponent - unit : 0;
    t->count = 0;
    const double first = ceil(from / step - 1e-6), last = floor(until / step + 1e-6);
    for (double k = first; k <= last && t->count < BN_TICKS_MAX; k += 1) {
        char text[BN_TICK_BYTES];
        t->at[t->count] = t->offset + k * step;
        bn_decimal_fixed(text, sizeof text, digits, fabs(k) > 0 ? k * step / scale : 0);
        writing w = begin(t->text[t->count++], BN_TICK_BYTES);
        put_number(&w, text);
    }
}

void bn_ticks_log(bn_ticks *t, double low, double high, int wanted)
{
    const double first = ceil(low - 1e-6), last = floor(high + 1e-6);
    const double stride = ceil(((last - first) + 1) / wanted);
    t->count = 0;
    t->exponent = 0;
    t->offset = 0;
    for (double k = first - 1; k <= last; k += 1) {
        if (k >= first && t->count < BN_TICKS_MAX) {
            t->at[t->count] = k;
            writing w = begin(t->text[t->count++], BN_TICK_BYTES);
            if (fmod(k - first, stride) < 0.5) {
                put(&w, "10");
                put_power(&w, (int)k);
            }
        }
        for (int m = 2; last - first < 7 && m < 10; m++) {
            const double at = k + log10(m);
            if (at < low || at > high || t->count == BN_TICKS_MAX)
                continue;
            t->at[t->count] = at;
            t->text[t->count++][0] = '\0';
        }
    }
}
