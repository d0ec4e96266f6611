/* units.c: numbers with units (units.h). UDUNITS-2 knows the units; this file keeps it quiet, forbids what it allows
 * too much (a frequency for a time, "2 500 m" as 2 times 500 m), and names quantities in words. */
#include "units.h"

#include "toml_shim.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <udunits2.h>

struct bn_units {
    ut_system *system;
};

enum { TEXT_MAX = 100 }; /* bytes of a number with its unit; longer ones are no numbers */

/* Quantities in words; anything else is described by its unit. */
static const struct {
    const char *unit, *name;
} quantities[] = {
    { "1", "a dimensionless number" },
    { "m", "a length" },
    { "s", "a time" },
    { "kg", "a mass" },
    { "K", "a temperature" },
    { "A", "an electric current" },
    { "mol", "an amount of substance" },
    { "m2", "an area" },
    { "m3", "a volume" },
    { "m-1", "a wavenumber" },
    { "s-1", "a frequency or rate" },
    { "m s-1", "a speed" },
    { "m s-2", "an acceleration" },
    { "m2 s-1", "a diffusivity or kinematic viscosity" },
    { "m3 s-1", "a volume flow" },
    { "kg m-3", "a density" },
    { "N", "a force" },
    { "Pa", "a pressure" },
    { "Pa s", "a dynamic viscosity" },
    { "J", "an energy" },
    { "W", "a power" },
    { "W m-2", "a power per area" },
    { "W m-1 K-1", "a thermal conductivity" },
    { "J kg-1 K-1", "a specific heat" },
    { "K-1", "a coefficient of expansion" },
    { "V", "a voltage" },
    { "V m-1", "an electric field" },
    { "C", "an electric charge" },
};

/* Where databases lie when the library's own idea of it is wrong, as after a move. */
static const char *const databases[] = {
    "/usr/share/xml/udunits/udunits2.xml",
    "/usr/share/udunits/udunits2.xml",
    "/usr/local/share/udunits/udunits2.xml",
    "/opt/homebrew/share/udunits/udunits2.xml",
};

/* UDUNITS-2 prints its errors and reads numbers in the locale of the process: while it works, it is silent, and the
 * calling thread has the C locale. Where newlocale finds no memory the current locale stays, which is C in our own
 * program. */
typedef struct quiet {
    ut_error_message_handler handler;
    locale_t own, previous;
} quiet;

static quiet quiet_enter(void)
{
    quiet q = { ut_set_error_message_handler(ut_ignore), newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0 };
    if (q.own)
        q.previous = uselocale(q.own);
    return q;
}

static void quiet_leave(quiet q)
{
    ut_set_error_message_handler(q.handler);
    if (!q.own)
        return;
    uselocale(q.previous);
    freelocale(q.own);
}

static ut_system *read_database(void)
{
    ut_system *system = ut_read_xml(NULL);
    if (getenv("UDUNITS2_XML_PATH")) /* who names a database wants that one */
        return system;
    for (size_t i = 0; !system && i < sizeof databases / sizeof *databases; i++)
        system = ut_read_xml(databases[i]);
    return system;
}

/* "deg" is what people write; UDUNITS-2 has "degree" and "arc_degree". False for lack of memory. */
static bool add_aliases(ut_system *system)
{
    ut_unit *degree = ut_get_unit_by_name(system, "arc_degree");
    bool good = degree && ut_map_name_to_unit("deg", UT_ASCII, degree) == UT_SUCCESS;
    ut_free(degree);
    return good;
}

bn_status bn_units_create(bn_context *ctx, bn_units **out)
{
    *out = NULL;
    bn_units *u = calloc(1, sizeof *u);
    if (!u)
        return bn_fail(ctx, BN_MEMORY, "no memory for the units");
    quiet q = quiet_enter();
    u->system = read_database();
    bool good = u->system && add_aliases(u->system);
    quiet_leave(q);
    if (!good) {
        bn_units_destroy(&u);
        return bn_fail(
            ctx, BN_IO,
            "the case has values with units, but the unit database of UDUNITS-2 (udunits2.xml) can't be read.\n"
            "  Install libudunits2-data (Debian, Ubuntu), udunits2 (Fedora) or udunits (Arch, Homebrew),\n"
            "  or let UDUNITS2_XML_PATH name the file, or write plain numbers in SI");
    }
    *out = u;
    return BN_OK;
}

void bn_units_destroy(bn_units **units)
{
    if (!*units)
        return;
    ut_free_system((*units)->system);
    free(*units);
    *units = NULL;
}

/* UDUNITS-2 itself takes reciprocals (s and Hz) for convertible; here they differ. */
static bool same_dimension(const ut_unit *a, const ut_unit *b)
{
    ut_unit *ratio = ut_divide(a, b);
    bool same = ratio && ut_is_dimensionless(ratio) && ut_are_convertible(a, b);
    ut_free(ratio);
    return same;
}

/* "a length (m)", or "something in kg m4" for what has no name. */
static void add_quantity(const bn_units *u, const ut_unit *unit, bn_string *out)
{
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        ut_unit *known = ut_parse(u->system, quantities[i].unit, UT_ASCII);
        bool same = known && same_dimension(unit, known);
        ut_free(known);
        if (same) {
            bn_string_add(out, "%s", quantities[i].name);
            return;
        }
    }
    char text[80];
    int bytes = ut_format(unit, text, sizeof text, UT_ASCII | UT_DEFINITION);
    if (bytes > 0 && bytes < (int)sizeof text)
        bn_string_add(out, "something in %s", text);
    else
        bn_string_add(out, "something else");
}

/* A decimal number at the head of a text, cut into digits with point, and power of ten. */
typedef struct number {
    size_t mantissa, bytes; /* bytes of the digits, and of the whole number; 0: there is none */
    long exponent;
} number;

static size_t count_digits(const char *text) { return strspn(text, "0123456789"); }

static number scan_number(const char *text)
{
    number n = { 0 };
    size_t at = text[0] == '+' || text[0] == '-';
    size_t digits = count_digits(text + at);
    at += digits;
    if (text[at] == '.') {
        size_t more = count_digits(text + at + 1);
        at += 1 + more;
        digits += more;
    }
    if (digits == 0)
        return n;
    n.mantissa = n.bytes = at;
    if (text[at] == 'e' || text[at] == 'E') {
        size_t sign = text[at + 1] == '+' || text[at + 1] == '-';
        size_t more = count_digits(text + at + 1 + sign);
        if (more) {
            n.exponent = strtol(text + at + 1, NULL, 10); /* clamps; such numbers are 0 or too large anyway */
            n.bytes += 1 + sign + more;
        }
    }
    return n;
}

/* The number times 10^shift, rounded once: so that "532 nm" has the same bits as 532e-9. */
static bool read_shifted(const char *text, number n, long shift, double *value)
{
    char decimal[TEXT_MAX + 16];
    size_t plus = text[0] == '+';
    long exponent = n.exponent > 9999 ? 9999 : n.exponent < -9999 ? -9999 : n.exponent;
    snprintf(decimal, sizeof decimal, "%.*se%ld", (int)(n.mantissa - plus), text + plus, exponent + shift);
    return bn_toml_number(decimal, value);
}

/* Whether `factor` is a power of ten, as nearly as doubles are; its exponent in `*power`. */
static bool power_of_ten(double factor, long *power)
{
    if (!(factor > 1e-300 && factor < 1e300))
        return false;
    *power = lround(log10(factor));
    return fabs(factor / pow(10, (double)*power) - 1) < 1e-14;
}

static bool convert(const char *text, number n, const ut_unit *from, const ut_unit *to, double *value)
{
    cv_converter *converter = ut_get_converter((ut_unit *)from, (ut_unit *)to);
    if (!converter)
        return false;
    double plain = 0;
    long power = 0;
    bool good = read_shifted(text, n, 0, &plain);
    *value = cv_convert_double(converter, plain);
    if (good && cv_convert_double(converter, 0) == 0 && power_of_ten(cv_convert_double(converter, 1), &power))
        good = read_shifted(text, n, power, value);
    cv_free(converter);
    return good && isfinite(*value);
}

static bool read_quiet(const bn_units *u, const char *text, const char *unit, double *value, bn_string *why)
{
    bool good = false;
    char rest[TEXT_MAX + 1];
    ut_unit *got = NULL, *want = ut_parse(u->system, *unit ? unit : "1", UT_UTF8);
    number n = scan_number(text);
    const char *tail = text + n.bytes + strspn(text + n.bytes, " \t");
    size_t bytes = strlen(tail);
    while (bytes > 0 && (tail[bytes - 1] == ' ' || tail[bytes - 1] == '\t'))
        bytes--;
    memcpy(rest, tail, bytes);
    rest[bytes] = '\0';

    if (!want)
        bn_string_add(why, "the schema's unit `%s` is unknown to the unit database", unit);
    else if (n.bytes == 0)
        bn_string_add(why, "expected a number%s, got a text that does not begin with one", *unit ? " with a unit" : "");
    else if (bytes == 0)
        bn_string_add(why, "expected %s after the number; a plain number%s stands without quotes",
                      *unit ? "a unit" : "a percent sign", *unit ? " in SI" : "");
    else if (strchr("0123456789+-.,", rest[0]))
        bn_string_add(why, "expected one number with a point, then a unit");
    else if (!(got = ut_parse(u->system, rest, UT_UTF8))) {
        bn_string_add(why, "unknown unit `");
        bn_string_add_shown(why, rest, bytes, 40);
        bn_string_add(why, "`");
    } else if (!same_dimension(got, want)) {
        bn_string_add(why, "expected ");
        add_quantity(u, want, why);
        bn_string_add(why, "%s%s%s, got ", *unit ? " (" : "", unit, *unit ? ")" : "");
        add_quantity(u, got, why);
    } else if (!convert(text, n, got, want, value))
        bn_string_add(why, "expected a finite number");
    else
        good = true;
    ut_free(got);
    ut_free(want);
    return good;
}

bool bn_units_read(const bn_units *u, const char *text, const char *unit, double *value, bn_string *why)
{
    text += strspn(text, " \t");
    if (strlen(text) > TEXT_MAX) {
        bn_string_add(why, "expected a number, got a text of %zu bytes", strlen(text));
        return false;
    }
    quiet q = quiet_enter();
    bool good = read_quiet(u, text, unit, value, why);
    quiet_leave(q);
    return good;
}
