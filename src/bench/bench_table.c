/* bench_table.c: rows of a document as a table for people. */
#include "bench/bench.h"

#include "output/text_table.h"
#include "output/html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const reasons[] = { "trouble", "missing", "refused" };

/* The member that "a/b" names. */
static const json_t *member(const json_t *row, const char *key)
{
    char first[64];
    const char *slash = strchr(key, '/');
    if (!slash)
        return json_object_get(row, key);
    snprintf(first, sizeof first, "%.*s", (int)(slash - key), key);
    return member(json_object_get(row, first), slash + 1);
}

/* Three digits. */
static int decimals(double value) { return value < 9.995 ? 2 : value < 99.95 ? 1 : 0; }

static void put_rate(char cell[BN_TEXT_TABLE_CELL], double value, const char *unit)
{
    static const char letters[] = " kMGTP";
    int k = 0;
    for (; value >= 999.5 && k < 5; k++)
        value /= 1000;
    snprintf(cell, BN_TEXT_TABLE_CELL, "%.*f %.*s%.40s", decimals(value), value, k > 0, letters + k, unit);
}

static void put_duration(char cell[BN_TEXT_TABLE_CELL], double seconds)
{
    const double scale = seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1;
    snprintf(cell, BN_TEXT_TABLE_CELL, "%.3g %s", scale * seconds, seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s");
}

static void put_size(char cell[BN_TEXT_TABLE_CELL], const json_t *row)
{
    static const char *const raised[] = { "", "", "^2", "^3" };
    snprintf(cell, BN_TEXT_TABLE_CELL, "%lld%s", (long long)json_integer_value(json_object_get(row, "size")),
             raised[json_integer_value(json_object_get(row, "dims")) & 3]);
}

static void put(char cell[BN_TEXT_TABLE_CELL], const json_t *row, const bn_bench_column *c)
{
    const json_t *m = member(row, c->key);
    const double value = json_is_number(m) ? json_number_value(m) : (double)NAN;
    char unit[48];
    if (c->format == BN_BENCH_TEXT)
        snprintf(cell, BN_TEXT_TABLE_CELL, "%.120s", json_is_string(m) ? json_string_value(m) : "");
    else if (c->format == BN_BENCH_SIZE)
        put_size(cell, row);
    else if (c->format == BN_BENCH_SHARE && isfinite(value))
        snprintf(cell, BN_TEXT_TABLE_CELL, "%.*f %%", fabs(value) < 0.0995 ? 1 : 0, 100 * value);
    else if (!isfinite(value) || (c->format == BN_BENCH_RATE && value == 0)) /* 0: nothing was counted */
        snprintf(cell, BN_TEXT_TABLE_CELL, "-");
    else if (c->format == BN_BENCH_DURATION)
        put_duration(cell, value);
    else if (c->format == BN_BENCH_NUMBER)
        snprintf(cell, BN_TEXT_TABLE_CELL, "%.4g%s", value, c->unit ? c->unit : "");
    else if (c->unit)
        put_rate(cell, value, c->unit);
    else {
        snprintf(unit, sizeof unit, "%.40ss/s", json_string_value(json_object_get(row, "unit")));
        put_rate(cell, value, unit);
    }
}

/* Whether a column is left out where a row has no figures; numbers without a unit belong to what the row is about. */
static bool is_figure(const bn_bench_column *c)
{
    return c->format == BN_BENCH_TEXT     ? strchr(c->key, '/') != NULL
           : c->format == BN_BENCH_NUMBER ? c->unit != NULL
                                          : c->format != BN_BENCH_SIZE;
}

/* Why a row has no figures, or none that are shown; "": it has. */
static const char *reason_of(const json_t *row)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (json_is_string(json_object_get(row, reasons[i])))
            return json_string_value(json_object_get(row, reasons[i]));
    return "";
}

/* "flow, time step, single, 257^2: not shown: ..." */
static void add_reason(bn_string *to, const json_t *row)
{
    static const char *const names[] = { "solver", "what", "precision" };
    char size[BN_TEXT_TABLE_CELL];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_is_string(json_object_get(row, names[i])))
            bn_string_add(to, "%s%s", to->bytes ? ", " : "", json_string_value(json_object_get(row, names[i])));
    put_size(size, row);
    if (json_object_get(row, "size"))
        bn_string_add(to, "%s%s", to->bytes ? ", " : "", size);
    bn_string_add(to, ": %s: %s", json_is_string(json_object_get(row, "refused")) ? "not shown" : "not measured",
                  reason_of(row));
}

/* The reasons of all rows that have one: on a page, or (NULL) to stdout. */
static void tell_reasons(const json_t *rows, bn_string *page)
{
    for (size_t r = 0; r < json_array_size(rows); r++) {
        bn_string text = { 0 };
        if (!reason_of(json_array_get(rows, r))[0])
            continue;
        add_reason(&text, json_array_get(rows, r));
        if (!page)
            printf("%s\n", bn_string_text(&text));
        else
            bn_html_add(page, "<p>%s</p>\n", bn_string_text(&text));
        bn_string_clear(&text);
    }
}

/* Heads, and the cells of all rows. */
static bn_status fill(bn_context *ctx, bn_text_table *table, const json_t *rows, const bn_bench_column *columns,
                      size_t count)
{
    *table = (bn_text_table){ .columns = count };
    for (size_t c = 0; c < count; c++)
        table->right |= (unsigned)(columns[c].format != BN_BENCH_TEXT) << c;
    char(*cells)[BN_TEXT_TABLE_CELL] = bn_text_table_row(ctx, table);
    for (size_t c = 0; cells && c < count; c++)
        snprintf(cells[c], BN_TEXT_TABLE_CELL, "%s", columns[c].head);
    for (size_t r = 0; cells && r < json_array_size(rows) && (cells = bn_text_table_row(ctx, table)) != NULL; r++) {
        const json_t *row = json_array_get(rows, r);
        const bool kept = reason_of(row)[0] != '\0';
        for (size_t c = 0; c < count; c++)
            if (!kept || !is_figure(&columns[c]))
                put(cells[c], row, &columns[c]);
            else
                snprintf(cells[c], BN_TEXT_TABLE_CELL, "-");
    }
    return cells ? BN_OK : BN_MEMORY;
}

bn_status bn_bench_print(bn_context *ctx, const json_t *rows, const bn_bench_column *columns, size_t count)
{
    bn_text_table table;
    const bn_status st = fill(ctx, &table, rows, columns, count);
    if (st == BN_OK)
        bn_text_table_print(&table);
    bn_text_table_release(&table);
    if (st == BN_OK)
        tell_reasons(rows, NULL);
    return st;
}

bn_status bn_bench_html(bn_context *ctx, bn_string *page, const char *caption, const json_t *rows,
                        const bn_bench_column *columns, size_t count)
{
    bn_text_table table;
    const bn_status st = fill(ctx, &table, rows, columns, count);
    bn_html_add(page, "<div class=\"wide\" tabindex=\"0\">\n<table>\n<caption>%s</caption>\n", caption);
    for (size_t r = 0; st == BN_OK && r < table.rows; r++) {
        bn_string_add(page, "<tr>");
        for (size_t c = 0; c < count && r == 0; c++)
            bn_html_add(page, "<th scope=\"col\">%s</th>", table.cells[r][c]);
        for (size_t c = 0; c < count && r > 0; c++)
            bn_html_add(page, "<td>%s</td>", table.cells[r][c]);
        bn_string_add(page, "</tr>\n");
    }
    bn_string_add(page, "</table>\n</div>\n");
    tell_reasons(rows, page);
    bn_text_table_release(&table);
    return st;
}

bn_status bn_bench_add_row(bn_context *ctx, json_t *rows, json_t *row, json_t *more)
{
    const bool ok = row && (!more || json_object_update(row, more) == 0);
    json_decref(more);
    if (!ok)
        json_decref(row);
    return ok && json_array_append_new(rows, row) == 0 ? BN_OK
                                                       : bn_fail(ctx, BN_MEMORY, "no memory for a row of the table");
}

void bn_bench_tell(const bn_bench_device *d, const bn_bench_job *job)
{
    if (!d->wish->quiet)
        fprintf(stderr, "bench: %s, %s, %s, %u\n", job->of->solver, job->of->what, job->twice ? "double" : "single",
                job->n);
}

bool bn_bench_wanted(const bn_bench_wish *w, const char *solver)
{
    for (size_t i = 0; i < w->solver_count; i++)
        if (strcmp(w->solvers[i], solver) == 0)
            return true;
    return w->solver_count == 0;
}
