/* expression.c: reads an expression from left to right and computes it on the way. */
#include "numerics/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { DEEPEST = 64 }; /* brackets and signs within each other */

typedef struct reader {
    const char *at;
    const double *place;
    int depth;
    bool failed; /* at `at` */
} reader;

static double read_sum(reader *);

static double fail(reader *r)
{
    r->failed = true;
    return 0;
}

static bool take(reader *r, char c)
{
    while (*r->at == ' ')
        r->at++;
    if (r->failed || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* Digits, point, exponent, whatever the locale. Powers of ten up to 22 are exact, so that usual numbers are rounded
 * once. */
static double read_number(reader *r)
{
    double digits = 0;
    int power = 0, exponent = 0;
    bool any = false;
    for (bool fraction = false; isdigit((unsigned char)*r->at) || (*r->at == '.' && !fraction); r->at++) {
        if (*r->at == '.') {
            fraction = true;
            continue;
        }
        any = true;
        digits = 10 * digits + (*r->at - '0');
        power -= fraction;
    }
    const char *e = r->at + 1 + (r->at[0] && (r->at[1] == '-' || r->at[1] == '+'));
    if ((*r->at == 'e' || *r->at == 'E') && isdigit((unsigned char)*e)) {
        const int sign = r->at[1] == '-' ? -1 : 1;
        for (r->at = e; isdigit((unsigned char)*r->at); r->at++)
            exponent = exponent < 1000 ? 10 * exponent + (*r->at - '0') : exponent;
        power += sign * exponent;
    }
    if (!any)
        return fail(r);
    return power < 0 ? digits / pow(10, -power) : digits * pow(10, power);
}

static double step(double x) { return x < 0 ? 0 : 1; }

static double read_name(reader *r)
{
    static const struct {
        const char *name;
        double (*of)(double);
    } functions[] = { { "sin", sin },   { "cos", cos },  { "exp", exp },  { "log", log },
                      { "sqrt", sqrt }, { "abs", fabs }, { "step", step } };
    const char *name = r->at;
    size_t length = 0;
    while (isalpha((unsigned char)name[length]))
        length++;
    r->at += length;
    if (length == 1 && name[0] >= 'x' && name[0] <= 'z')
        return r->place[name[0] - 'x'];
    if (length == 2 && memcmp(name, "pi", 2) == 0)
        return 3.14159265358979323846;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].name) == length && memcmp(name, functions[i].name, length) == 0 && take(r, '(')) {
            const double value = functions[i].of(read_sum(r));
            return take(r, ')') ? value : fail(r);
        }
    if (!r->failed)
        r->at = name;
    return fail(r);
}

/* Signs bind less than powers: -x^2 is -(x^2). */
static double read_factor(reader *r)
{
    double value;
    if (++r->depth > DEEPEST)
        return fail(r);
    if (take(r, '-')) {
        value = -read_factor(r);
    } else {
        if (take(r, '(')) {
            value = read_sum(r);
            if (!take(r, ')'))
                return fail(r);
        } else {
            value = isalpha((unsigned char)*r->at) ? read_name(r) : read_number(r);
        }
        if (take(r, '^'))
            value = pow(value, read_factor(r));
    }
    r->depth--;
    return value;
}

static double read_product(reader *r)
{
    double value = read_factor(r);
    for (;;)
        if (take(r, '*'))
            value *= read_factor(r);
        else if (take(r, '/'))
            value /= read_factor(r);
        else
            return value;
}

static double read_sum(reader *r)
{
    double value = read_product(r);
    for (;;)
        if (take(r, '+'))
            value += read_product(r);
        else if (take(r, '-'))
            value -= read_product(r);
        else
            return value;
}

const char *bn_expression(const char *text, const double place[3], double *value)
{
    reader r = { .at = text, .place = place };
    *value = read_sum(&r);
    while (!r.failed && *r.at == ' ')
        r.at++;
    return r.failed || *r.at ? r.at : NULL;
}
