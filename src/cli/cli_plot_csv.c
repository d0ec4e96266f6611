/* cli_plot_csv.c: charts from a table that this program wrote: a line of "name [unit]" heads, then numbers; an empty
 * cell is none. */
#include "cli/cli_text.h"
#include "cli/commands.h"

#include "io/decimal.h"
#include "io/file.h"
#include "plot/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 64, TABLE_BYTES_MAX = 1 << 28 };

typedef struct number_table {
    char *text; /* the file; heads point into it */
    char *heads[COLUMNS_MAX];
    double *values; /* column after column, `rows` each */
    size_t columns, rows;
} number_table;

/* Ends the cell at `at` and returns the next one, NULL at the end of the line. A comma within quotes ends nothing. */
static char *end_cell(char *at)
{
    char *closing = *at == '"' ? strchr(at + 1, '"') : NULL;
    char *comma = strchr(closing ? closing : at, ',');
    if (!comma)
        return NULL;
    *comma = '\0';
    return comma + 1;
}

/* Ends the line at `*at` and returns it; `*at` advances, to NULL after the last. */
static char *next_line(char **at)
{
    char *line = *at, *end = strpbrk(line, "\r\n");
    *at = NULL;
    if (end) {
        char *next = end + strspn(end, "\r\n");
        *at = *next ? next : NULL;
        *end = '\0';
    }
    return line;
}

/* A head in quotes, without them. */
static char *unquoted(char *head)
{
    size_t n = strlen(head);
    if (n < 2 || head[0] != '"' || head[n - 1] != '"')
        return head;
    head[n - 1] = '\0';
    return head + 1;
}

static bn_status read_table(bn_context *ctx, const char *path, number_table *t)
{
    size_t bytes = 0, room = 1;
    BN_TRY(bn_file_read(ctx, path, TABLE_BYTES_MAX, &t->text, &bytes));
    for (size_t i = 0; i < bytes; i++)
        room += t->text[i] == '\n';
    char *rest = t->text, *cell = next_line(&rest);
    for (char *next; cell; cell = next) {
        if (t->columns == COLUMNS_MAX)
            return bn_fail(ctx, BN_IO, "%s has more than %d columns", path, COLUMNS_MAX);
        next = end_cell(cell);
        t->heads[t->columns++] = unquoted(cell);
    }
    t->values = calloc(room * t->columns, sizeof *t->values);
    if (!t->values)
        return bn_fail(ctx, BN_MEMORY, "no memory for the %zu rows of %s", room, path);
    for (; rest; t->rows++) {
        cell = next_line(&rest);
        for (size_t c = 0; c < t->columns; c++) {
            double *value = &t->values[c * room + t->rows];
            char *next = cell ? end_cell(cell) : NULL;
            if (!cell || (!next && c + 1 < t->columns) || (cell[0] && !bn_decimal_parse(cell, value)))
                return bn_fail(ctx, BN_IO, "%s: line %zu, column %zu: no number", path, t->rows + 2, c + 1);
            if (!cell[0])
                *value = (double)NAN;
            cell = next;
        }
    }
    for (size_t c = 1; c < t->columns; c++) /* no gaps between the columns */
        memmove(t->values + c * t->rows, t->values + c * room, t->rows * sizeof *t->values);
    if (t->columns < 2 || t->rows == 0)
        return bn_fail(ctx, BN_IO, "%s has %zu columns and %zu rows: nothing to plot", path, t->columns, t->rows);
    return BN_OK;
}

static bn_status plot_column(const bn_cli *cli, const char *path, const number_table *t, size_t c, const char *name)
{
    const char *slash = strrchr(path, '/');
    char *to = NULL;
    bn_status st = BN_OK;
    bn_chart_line line = { .label = t->heads[c], .x = t->values, .y = t->values + c * t->rows, .count = t->rows };
    bn_chart chart = { .title = slash ? slash + 1 : path,
                       .x_label = t->heads[0],
                       .y_label = t->heads[c],
                       .log_y = strstr(name, "residual") != NULL,
                       .lines = &line,
                       .count = 1 };
    BN_GO(bn_cli_plot_name(cli, path, name, &to));
    BN_GO(bn_chart_write(cli->ctx, to, &chart));
    printf("%s\n", to);
out:
    free(to);
    return st;
}

bn_status bn_cli_plot_csv(const bn_cli *cli, const char *path)
{
    number_table t = { .text = NULL };
    size_t drawn = 0;
    bn_status st = BN_OK;
    BN_GO(read_table(cli->ctx, path, &t));
    for (size_t c = 1; c < t.columns; c++) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(t.heads[c], " ["), t.heads[c]);
        if (cli->options->field && strcmp(cli->options->field, name) != 0)
            continue;
        BN_GO(plot_column(cli, path, &t, c, name));
        drawn++;
    }
    if (drawn == 0)
        st = bn_fail(cli->ctx, BN_USAGE, "%s has no column %s", path, cli->options->field);
out:
    free(t.values);
    free(t.text);
    return st;
}
