/* decimal.c: printf and strtod under the C locale, set for the calling thread alone and put back. */
#include "io/decimal.h"

#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* A library must not rely on its program's locale, nor change it for other threads: uselocale() is per thread. When
 * newlocale() finds no memory the current locale stays, which is "C" in our own program. */
typedef struct decimal_locale {
    locale_t own, previous;
} decimal_locale;

static decimal_locale locale_enter(void)
{
    decimal_locale l = { newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0 };
    if (l.own)
        l.previous = uselocale(l.own);
    return l;
}

static void locale_leave(decimal_locale l)
{
    if (!l.own)
        return;
    uselocale(l.previous);
    freelocale(l.own);
}

void bn_decimal_format(char text[BN_DECIMAL_BYTES], double value)
{
    decimal_locale l = locale_enter();
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, BN_DECIMAL_BYTES, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    locale_leave(l);
}

void bn_decimal_fixed(char *text, size_t bytes, int digits, double value)
{
    decimal_locale l = locale_enter();
    snprintf(text, bytes, "%.*f", digits, value);
    locale_leave(l);
}

void bn_decimal_short(char text[BN_DECIMAL_BYTES], int digits, double value)
{
    decimal_locale l = locale_enter();
    snprintf(text, BN_DECIMAL_BYTES, "%.*g", digits, value);
    locale_leave(l);
}

bool bn_decimal_parse(const char *text, double *value)
{
    decimal_locale l = locale_enter();
    char *end = NULL;
    *value = strtod(text, &end);
    locale_leave(l);
    if (end == text)
        return false;
    while (isspace((unsigned char)*end))
        end++;
    return *end == '\0';
}
