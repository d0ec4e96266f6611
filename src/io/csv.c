/* csv.c: tables as comma-separated text after RFC 4180 with '\n' ends. A table is a series that is published once. */
#include "io/csv.h"

#include "io/decimal.h"
#include "io/file.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct bn_csv_series {
    bn_context *ctx;
    char *path, *text;                /* the whole file so far: the heads, then the rows */
    size_t columns, used, room, head; /* head: bytes of the line of heads */
    bool changed;                     /* there is something that `path` does not hold yet */
};

static bn_status append(bn_csv_series *s, const char *bytes, size_t count)
{
    if (count > SIZE_MAX / 4 - s->used)
        return bn_fail(s->ctx, BN_MEMORY, "the table %s is too large", s->path);
    if (s->used + count > s->room) {
        const size_t room = 2 * (s->used + count) + 1024;
        char *more = realloc(s->text, room);
        if (!more)
            return bn_fail(s->ctx, BN_MEMORY, "cannot keep the table %s (%zu bytes): out of memory", s->path, room);
        s->text = more;
        s->room = room;
    }
    memcpy(s->text + s->used, bytes, count);
    s->used += count;
    return BN_OK;
}

/* Text within a quoted cell: a quote is written twice. */
static bn_status append_quoted(bn_csv_series *s, const char *text)
{
    for (const char *at = text; *at; at++)
        BN_TRY(*at == '"' ? append(s, "\"\"", 2) : append(s, at, 1));
    return BN_OK;
}

/* name [unit]; quoted only where a comma, a quote or a line's end asks for it. */
static bn_status append_head(bn_csv_series *s, const bn_column *head)
{
    const char *special = ",\"\r\n";
    const bool unit = head->unit && head->unit[0];
    const bool quoted = strpbrk(head->name, special) || (unit && strpbrk(head->unit, special));
    if (quoted)
        BN_TRY(append(s, "\"", 1));
    BN_TRY(append_quoted(s, head->name));
    if (unit) {
        BN_TRY(append(s, " [", 2));
        BN_TRY(append_quoted(s, head->unit));
        BN_TRY(append(s, "]", 1));
    }
    return quoted ? append(s, "\"", 1) : BN_OK;
}

static void series_free(bn_csv_series **series)
{
    if (!*series)
        return;
    free((*series)->path);
    free((*series)->text);
    free(*series);
    *series = NULL;
}

bn_status bn_csv_series_open(bn_context *ctx, const char *path, const bn_column *heads, size_t count,
                             bn_csv_series **out)
{
    bn_status st = BN_OK;
    *out = NULL;
    if (count == 0)
        return bn_fail(ctx, BN_USAGE, "the table %s has no columns", path);
    bn_csv_series *s = calloc(1, sizeof *s);
    if (!s || !(s->path = strdup(path)))
        BN_GO(bn_fail(ctx, BN_MEMORY, "cannot keep the table %s: out of memory", path));
    s->ctx = ctx;
    s->columns = count;
    s->changed = true;
    for (size_t c = 0; c < count; c++) {
        BN_GO(append_head(s, &heads[c]));
        BN_GO(append(s, c + 1 < count ? "," : "\n", 1));
    }
    s->head = s->used;
    *out = s;
    s = NULL;
out:
    series_free(&s);
    return st;
}

/* Without memory for a row nothing of it is added. */
static bn_status append_row(bn_csv_series *s, const double *row)
{
    for (size_t c = 0; c < s->columns; c++) {
        char text[BN_DECIMAL_BYTES] = "";
        if (!isnan(row[c]))
            bn_decimal_format(text, row[c]);
        BN_TRY(append(s, text, strlen(text)));
        BN_TRY(append(s, c + 1 < s->columns ? "," : "\n", 1));
    }
    return BN_OK;
}

bn_status bn_csv_series_add(bn_csv_series *s, const double *row)
{
    const size_t before = s->used;
    const bn_status st = append_row(s, row);
    if (st == BN_OK)
        s->changed = true;
    else
        s->used = before;
    return st;
}

void bn_csv_series_text(const bn_csv_series *s, const char **text, size_t *bytes)
{
    *text = s->text;
    *bytes = s->used;
}

bn_status bn_csv_series_set(bn_csv_series *s, const char *text, size_t bytes)
{
    if (bytes < s->head || memcmp(text, s->text, s->head) != 0)
        return bn_fail(s->ctx, BN_IO, "%s cannot go on: its earlier rows have other columns", s->path);
    s->used = s->head;
    s->changed = true;
    return append(s, text + s->head, bytes - s->head);
}

bn_status bn_csv_series_publish(bn_csv_series *s)
{
    if (!s->changed || !s->path[0])
        return BN_OK;
    BN_TRY(bn_file_write(s->ctx, s->path, s->text, s->used));
    s->changed = false;
    return BN_OK;
}

bn_status bn_csv_series_close(bn_csv_series **series)
{
    if (!*series)
        return BN_OK;
    const bn_status st = bn_csv_series_publish(*series);
    series_free(series);
    return st;
}

bn_status bn_csv_write(bn_context *ctx, const char *path, const bn_column *columns, size_t count, size_t rows)
{
    bn_status st = BN_OK;
    bn_csv_series *s = NULL;
    double *row = calloc(count ? count : 1, sizeof *row);
    if (!row)
        return bn_fail(ctx, BN_MEMORY, "cannot write the table %s: out of memory", path);
    BN_GO(bn_csv_series_open(ctx, path, columns, count, &s));
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < count; c++)
            row[c] = columns[c].values[r];
        BN_GO(bn_csv_series_add(s, row));
    }
    st = bn_csv_series_publish(s);
out:
    series_free(&s);
    free(row);
    return st;
}
