/* cli_plot_csv.c: charts from a table that this program wrote: a chart for each column over the first one. */
#include "cli/cli_plot.h"

#include "io/csv_read.h"
#include "io/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES_MAX = 1 << 28 };

static bn_status plot_column(bn_plot *p, const char *path, const bn_csv_table *t, const double *x, const double *y,
                             size_t c, const char *name)
{
    return bn_plot_add_line(p, &(bn_plot_line){ .path = path,
                                                .name = name,
                                                .title = bn_path_last(path),
                                                .x_label = t->heads[0],
                                                .y_label = t->heads[c],
                                                .log_y = p->cli->options->plot.log || strstr(name, "residual") != NULL,
                                                .x = x,
                                                .y = y,
                                                .count = t->rows });
}

bn_status bn_plot_csv(bn_plot *p, const char *path)
{
    const bn_cli *cli = p->cli;
    bn_csv_table t = { .columns = 0 };
    char *text = NULL;
    double *values = NULL; /* of two columns */
    size_t drawn = 0, bytes;
    bn_status st = BN_OK;
    BN_GO(bn_file_read(cli->ctx, path, TABLE_BYTES_MAX, &text, &bytes));
    BN_GO(bn_csv_parse(cli->ctx, path, text, &t));
    if (!(values = malloc(2 * t.rows * sizeof *values)))
        BN_GO(bn_fail(cli->ctx, BN_MEMORY, "no memory for the %zu rows of %s", t.rows, path));
    for (size_t c = 0; c < t.columns; c++) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(t.heads[c], " ["), t.heads[c]);
        for (size_t i = 0; i < t.rows; i++)
            values[(c > 0) * t.rows + i] = t.values[i * t.columns + c];
        if (c == 0 || (cli->options->plot.field && strcmp(cli->options->plot.field, name) != 0))
            continue;
        BN_GO(plot_column(p, path, &t, values, values + t.rows, c, name));
        drawn++;
    }
    if (drawn == 0 && cli->options->plot.field)
        st = bn_fail(cli->ctx, BN_USAGE, "%s has no column %s", path, cli->options->plot.field);
    else if (drawn == 0)
        st = bn_fail(cli->ctx, BN_IO, "%s has one column alone: nothing to plot", path);
out:
    bn_csv_table_free(&t);
    free(values);
    free(text);
    return st;
}
