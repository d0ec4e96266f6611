/* bench_compare.c: two documents of `bench`, row by row. */
#include "bench/bench.h"

#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENT_MAX = 64 << 20 };

/* Below this a change is not told, however quiet both runs were: clocks and neighbours differ from day to day. */
static const double least_change = 0.03;

bn_status bn_bench_read(bn_context *ctx, const char *path, json_t **out)
{
    char *text = NULL;
    size_t bytes;
    json_error_t error;
    *out = NULL;
    BN_TRY(bn_file_read(ctx, path, DOCUMENT_MAX, &text, &bytes));
    json_t *document = json_loadb(text, bytes, 0, &error);
    free(text);
    if (!document)
        return bn_fail(ctx, BN_IO, "%s:%d:%d: no JSON: %s", path, error.line, error.column, error.text);
    if (!json_is_array(json_object_get(document, "devices"))) {
        json_decref(document);
        return bn_fail(ctx, BN_IO, "%s was not written by `binnacle bench --json`: it has no list `devices`", path);
    }
    *out = document;
    return BN_OK;
}

static bool same_text(const json_t *a, const json_t *b, const char *key)
{
    const char *x = json_string_value(json_object_get(a, key)), *y = json_string_value(json_object_get(b, key));
    return x && y && strcmp(x, y) == 0;
}

static const json_t *find_device(const json_t *document, const json_t *like)
{
    const json_t *list = json_object_get(document, "devices"), *wanted = json_object_get(like, "device");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i), *device = json_object_get(entry, "device");
        if (same_text(device, wanted, "name") && same_text(device, wanted, "platform"))
            return entry;
    }
    return NULL;
}

/* Standard sizes, or whole runs of `--suite jobs`. */
static const json_t *rows_of(const json_t *entry)
{
    const json_t *jobs = json_object_get(entry, "jobs");
    return jobs ? jobs : json_object_get(entry, "rows");
}

static const json_t *find_row(const json_t *entry, const json_t *like)
{
    const json_t *list = rows_of(entry);
    const json_int_t size = json_integer_value(json_object_get(like, "size"));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        if (same_text(row, like, "solver") && same_text(row, like, "what") && same_text(row, like, "precision") &&
            json_integer_value(json_object_get(row, "size")) == size)
            return row;
    }
    return NULL;
}

/* A change must exceed twice the noise of both runs, added as independent errors are. */
static json_t *change_of(const json_t *row, const json_t *before)
{
    const double now = bn_json_number(row, "seconds"), then = bn_json_number(before, "seconds"), ratio = now / then;
    const double open = fmax(least_change, 2 * hypot(bn_json_number(row, "noise"), bn_json_number(before, "noise")));
    if (!isfinite(ratio) || !(then > 0) || !isfinite(open))
        return NULL;
    const char *verdict = ratio > 1 + open ? "slower" : ratio < 1 / (1 + open) ? "faster" : "same";
    return json_pack("{s:O, s:O, s:O, s:O, s:f, s:f, s:f, s:f, s:s}", "solver", json_object_get(row, "solver"), "what",
                     json_object_get(row, "what"), "precision", json_object_get(row, "precision"), "size",
                     json_object_get(row, "size"), "before", then, "now", now, "ratio", ratio, "noise", open, "verdict",
                     verdict);
}

static bn_status print_changes(bn_context *ctx, const json_t *changes)
{
    static const bn_bench_column columns[] = {
        { "solver", "solver", BN_BENCH_TEXT, NULL },
        { "what", "what", BN_BENCH_TEXT, NULL },
        { "precision", "precision", BN_BENCH_TEXT, NULL },
        { "size", "size", BN_BENCH_SIZE, NULL },
        { "before", "before", BN_BENCH_DURATION, NULL },
        { "now", "now", BN_BENCH_DURATION, NULL },
        { "ratio", "ratio", BN_BENCH_NUMBER, "" },
        { "noise", "noise", BN_BENCH_SHARE, NULL },
        { "", "verdict", BN_BENCH_TEXT, NULL },
    };
    size_t slower = 0;
    for (size_t r = 0; r < json_array_size(changes); r++)
        slower += strcmp(json_string_value(json_object_get(json_array_get(changes, r), "verdict")), "slower") == 0;
    printf("\n");
    BN_TRY(bn_bench_print(ctx, changes, columns, sizeof columns / sizeof *columns));
    printf("%zu of %zu became slower by more than the noise of both runs.\n", slower, json_array_size(changes));
    return BN_OK;
}

bn_status bn_bench_compare(bn_context *ctx, json_t *now, const json_t *old, const char *path, bool print)
{
    const json_t *devices = json_object_get(now, "devices");
    json_t *changes = json_array();
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *entry = json_array_get(devices, i), *before = find_device(old, entry);
        const json_t *rows = rows_of(entry);
        for (size_t r = 0; before && r < json_array_size(rows); r++) {
            const json_t *row = json_array_get(rows, r), *then = find_row(before, row);
            json_t *change = then ? change_of(row, then) : NULL;
            if (change)
                json_array_append_new(changes, change);
        }
    }
    if (json_array_size(changes) == 0)
        bn_log(ctx, BN_LOG_WARNING, "%s has no row of the same device, case and size", path);
    bn_status st = print ? print_changes(ctx, changes) : BN_OK;
    if (json_object_set_new(now, "compare", changes) != 0 && st == BN_OK)
        st = bn_fail(ctx, BN_MEMORY, "no memory for the comparison");
    return st;
}
