/* csv_read.c: tables of numbers from text, of this program and embedded in it; a head or value in quotes may hold
 * commas. */
#include "io/csv_read.h"
#include "io/decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void bn_csv_table_free(bn_csv_table *t)
{
    free(t->values);
    free(t->comments);
    free(t->text);
    *t = (bn_csv_table){ .columns = 0 };
}

/* The next line of *rest, ended where its newline stood (and a carriage return before it); NULL after the last. */
static char *next_line(char **rest)
{
    char *line = *rest;
    if (!*line)
        return NULL;
    char *end = strchr(line, '\n');
    *rest = end ? end + 1 : line + strlen(line);
    if (end)
        *end = 0;
    const size_t length = strlen(line);
    if (length > 0 && line[length - 1] == '\r')
        line[length - 1] = 0;
    return line;
}

/* The end of a text in quotes, which lose themselves; one that is written twice stands for itself. */
static char *unquote(char *text)
{
    char *to = text, *from = text + 1;
    for (; *from && (*from != '"' || from[1] == '"'); from++) {
        from += *from == '"';
        *to++ = *from;
    }
    char *rest = *from ? from + 1 : from;
    *to = 0;
    return rest;
}

/* The next place of *rest, ended at its comma; *rest is NULL after the last. */
static char *next_place(char **rest)
{
    char *place = *rest, *comma = strchr(*place == '"' ? unquote(place) : place, ',');
    *rest = comma ? comma + 1 : NULL;
    if (comma)
        *comma = 0;
    while (*place == ' ')
        place++;
    return place;
}

static bn_status read_row(bn_context *ctx, const char *name, size_t number, char *line, bn_csv_table *t, size_t *room)
{
    if ((t->rows + 1) * t->columns > *room) {
        const size_t wanted = 2 * *room + 64 * t->columns;
        double *grown = realloc(t->values, wanted * sizeof *grown);
        if (!grown)
            return bn_fail(ctx, BN_MEMORY, "no memory for %s", name);
        t->values = grown;
        *room = wanted;
    }
    double *row = t->values + t->rows * t->columns;
    size_t places = 0;
    for (char *rest = line; rest; places++) {
        char *place = next_place(&rest);
        double value = (double)NAN;
        if (*place && !bn_decimal_parse(place, &value))
            return bn_fail(ctx, BN_IO, "%s, line %zu: \"%s\" is no number", name, number, place);
        if (places < t->columns)
            row[places] = value;
    }
    if (places != t->columns)
        return bn_fail(ctx, BN_IO, "%s, line %zu has %zu places, the heads are %zu", name, number, places, t->columns);
    t->rows++;
    return BN_OK;
}

bn_status bn_csv_parse(bn_context *ctx, const char *name, const char *text, bn_csv_table *out)
{
    bn_csv_table t = { .text = strdup(text), .comments = calloc(strlen(text) + 1, 1) };
    bn_status st = BN_OK;
    size_t room = 0, number = 0;
    char *rest = t.text, *line;
    *out = (bn_csv_table){ .columns = 0 };
    if (!t.text || !t.comments)
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for %s", name));
    while ((line = next_line(&rest))) {
        number++;
        if (*line == '#' && t.columns == 0) {
            strcat(t.comments, line + (line[1] == ' ' ? 2 : 1));
            strcat(t.comments, "\n");
        } else if (*line == '#' || !*line) {
            continue;
        } else if (t.columns == 0) {
            for (char *places = line; places; t.columns++) {
                char *head = next_place(&places);
                if (t.columns == BN_CSV_COLUMNS)
                    BN_GO(bn_fail(ctx, BN_IO, "%s has more than %d columns", name, (int)BN_CSV_COLUMNS));
                t.heads[t.columns] = head;
            }
        } else {
            BN_GO(read_row(ctx, name, number, line, &t, &room));
        }
    }
    if (t.rows == 0)
        st = bn_fail(ctx, BN_IO, "%s holds no row of numbers", name);
    if (st == BN_OK) {
        *out = t;
        t = (bn_csv_table){ .columns = 0 };
    }
out:
    bn_csv_table_free(&t);
    return st;
}
