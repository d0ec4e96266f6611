/* cli_text.c: tables, numbers for people, JSON. */
#include "cli/cli_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

char (*bn_text_table_row(bn_context *ctx, bn_text_table *t))[BN_TEXT_TABLE_CELL]
{
    if (t->rows == t->room) {
        size_t room = t->room ? 2 * t->room : 16;
        void *grown = realloc(t->cells, room * sizeof *t->cells);
        if (!grown) {
            bn_fail(ctx, BN_MEMORY, "no memory for a table of %zu rows", room);
            return NULL;
        }
        t->cells = grown;
        t->room = room;
    }
    memset(t->cells[t->rows], 0, sizeof *t->cells);
    return t->cells[t->rows++];
}

bn_status bn_text_table_add(bn_context *ctx, bn_text_table *t, const char *format, ...)
{
    char line[BN_TEXT_TABLE_COLUMNS * BN_TEXT_TABLE_CELL];
    char(*cells)[BN_TEXT_TABLE_CELL] = bn_text_table_row(ctx, t);
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    const char *at = line;
    for (size_t c = 0; cells && c < t->columns; c++) {
        snprintf(cells[c], BN_TEXT_TABLE_CELL, "%.*s", (int)strcspn(at, "\t"), at);
        at += strcspn(at, "\t");
        at += *at == '\t';
    }
    return cells ? BN_OK : BN_MEMORY;
}

/* Characters of a UTF-8 text: bytes that continue one do not count. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void bn_text_table_print(const bn_text_table *t)
{
    int widths[BN_TEXT_TABLE_COLUMNS] = { 0 };
    for (size_t r = 0; r < t->rows; r++)
        for (size_t c = 0; c < t->columns; c++) {
            int width = width_of(t->cells[r][c]);
            widths[c] = width > widths[c] ? width : widths[c];
        }
    for (size_t r = 0; r < t->rows; r++) {
        size_t last = t->columns; /* no blanks at the end of a line */
        while (last > 0 && !t->cells[r][last - 1][0])
            last--;
        for (size_t c = 0; c < last; c++) {
            const char *cell = t->cells[r][c];
            int blanks = widths[c] - width_of(cell);
            bool right = t->right >> c & 1;
            printf("%*s%s", right ? blanks : 0, "", cell);
            if (c + 1 < last)
                printf("%*s", (right ? 0 : blanks) + 2, "");
        }
        putchar('\n');
    }
}

void bn_text_table_release(bn_text_table *t)
{
    free(t->cells);
    *t = (bn_text_table){ 0 };
}

void bn_text_bytes(char text[BN_SHORT_TEXT], uint64_t bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double value = (double)bytes;
    size_t u = 0;
    while (value >= 1000 && u + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        u++;
    }
    snprintf(text, BN_SHORT_TEXT, "%.*f %s", u > 0 && value < 9.95 ? 1 : 0, value, units[u]);
}

void bn_text_rate(char text[BN_SHORT_TEXT], double bytes_per_second)
{
    if (!(bytes_per_second > 0))
        snprintf(text, BN_SHORT_TEXT, "-");
    else if (bytes_per_second >= 1e12)
        snprintf(text, BN_SHORT_TEXT, "%.1f TB/s", bytes_per_second / 1e12);
    else
        snprintf(text, BN_SHORT_TEXT, "%.*f GB/s", bytes_per_second < 9.95e9 ? 1 : 0, bytes_per_second / 1e9);
}

void bn_text_seconds(char text[BN_SHORT_TEXT], double seconds)
{
    if (!(seconds < 3.6e8))
        snprintf(text, BN_SHORT_TEXT, "more than ten years");
    else if (seconds < 10)
        snprintf(text, BN_SHORT_TEXT, "%.1f s", seconds);
    else if (seconds < 3600)
        snprintf(text, BN_SHORT_TEXT, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
    else if (seconds < 48 * 3600)
        snprintf(text, BN_SHORT_TEXT, "%.1f h", seconds / 3600);
    else
        snprintf(text, BN_SHORT_TEXT, "%.0f days", seconds / 86400);
}

void bn_text_device(char text[BN_TEXT_TABLE_CELL], const bn_device_info *d)
{
    enum { NAME_WIDTH = 36 };
    /* PoCL's platform spells its name out; its version does not. */
    const char *platform = strstr(d->version, "PoCL") ? "PoCL" : d->platform;
    bool cut = strlen(d->name) > NAME_WIDTH, same = strstr(d->name, platform) != NULL;
    snprintf(text, BN_TEXT_TABLE_CELL, "%.*s%s%s%.40s%s", NAME_WIDTH, d->name, cut ? "..." : "", same ? "" : " (",
             same ? "" : platform, same ? "" : ")");
}

json_t *bn_cli_device_json(const bn_device_info *d, bool chosen)
{
    return json_pack(
        "{s:I, s:I, s:I, s:b, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:b, s:b, s:b, s:I, s:I, s:I, s:i, s:i, s:I, s:o, "
        "s:o}",
        "index", (json_int_t)d->index, "platform_index", (json_int_t)d->platform_index, "index_in_platform",
        (json_int_t)d->index_in_platform, "auto", (int)chosen, "name", bn_json_text(d->name), "platform",
        bn_json_text(d->platform), "vendor", bn_json_text(d->vendor), "driver", bn_json_text(d->driver), "version",
        bn_json_text(d->version), "type", d->cpu ? "cpu" : "gpu", "fp64", (int)d->fp64, "int64_atomics",
        (int)d->int64_atomics, "exact_division", (int)d->exact_division, "side_by_side", (int)d->side_by_side, "bytes",
        (json_int_t)d->bytes, "largest_buffer", (json_int_t)d->largest_buffer, "local_bytes",
        (json_int_t)d->local_bytes, "compute_units", (int)d->compute_units, "clock_mhz", (int)d->clock_mhz,
        "max_work_group", (json_int_t)d->max_work_group, "bandwidth",
        d->bandwidth > 0 ? json_real(d->bandwidth) : json_null(), "extensions", bn_json_text(d->extensions));
}

double bn_json_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

bn_status bn_json_print(const bn_cli *cli, json_t *document)
{
    if (!document)
        return bn_fail(cli->ctx, BN_MEMORY, "no memory for the JSON document");
    /* main reports a failure of stdout, as for any other output. */
    *cli->answered = true;
    int failed = json_dumpf(document, stdout, JSON_INDENT(2));
    json_decref(document);
    if (failed && !ferror(stdout))
        return bn_fail(cli->ctx, BN_MEMORY, "no memory to print the JSON document");
    putchar('\n');
    return BN_OK;
}
