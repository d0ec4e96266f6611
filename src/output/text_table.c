/* text_table.c: tables, and sizes and times for people. */
#include "output/text_table.h"

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
