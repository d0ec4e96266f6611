/* cli_materials.c: `binnacle materials`: the optical constants that are part of the program, as a list, as tables for
 * cases of one's own, as charts. */
#include "cli/commands.h"

#include "api/embedded_files.h"
#include "case/schema.h"
#include "cli/cli_text.h"
#include "io/csv_read.h"
#include "io/file.h"
#include "plot/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char folder[] = "data/materials/";
enum { FOLDER_BYTES = sizeof folder - 1, NAME_BYTES = 64, NAMES = 256, TEXT_BYTES = 120 };

/* Whether an embedded file is a material; `name` gets "Ag-Johnson1972", as a case has it. */
static bool is_material(const bn_embedded *f, char name[NAME_BYTES])
{
    const size_t bytes = strlen(f->name);
    if (strncmp(f->name, folder, FOLDER_BYTES) != 0 || bytes < 4 || strcmp(f->name + bytes - 4, ".csv") != 0)
        return false;
    snprintf(name, NAME_BYTES, "%.*s", (int)(bytes - 4 - FOLDER_BYTES), f->name + FOLDER_BYTES);
    return true;
}

/* The line of the comments behind `begin`, up to `end` or the line's end. */
static void take_line(char out[TEXT_BYTES], const char *comments, const char *begin, const char *end)
{
    const char *at = strstr(comments, begin), *stop = at ? strstr(at, end) : NULL;
    at = at ? at + strlen(begin) : "";
    const size_t line = strcspn(at, "\n"), bytes = stop && stop < at + line ? (size_t)(stop - at) : line;
    snprintf(out, TEXT_BYTES, "%.*s", (int)(bytes < TEXT_BYTES ? bytes : TEXT_BYTES - 1), at);
}

/* A chart of n and k over the wavelength. */
static bn_status draw(const bn_cli *cli, const char *name, const bn_csv_table *t)
{
    char file[NAME_BYTES + 8], title[2 * TEXT_BYTES + NAME_BYTES], source[TEXT_BYTES];
    snprintf(file, sizeof file, "%s.png", name);
    const bn_path path = bn_path_join(cli->options->run.out, file);
    double *values = malloc(3 * t->rows * sizeof *values);
    bn_status st = values ? BN_OK : bn_fail(cli->ctx, BN_MEMORY, "no memory for the chart of %s", name);
    if (st != BN_OK)
        goto out;
    for (size_t i = 0; i < 3 * t->rows; i++) /* column by column */
        values[i] = t->values[i % t->rows * t->columns + i / t->rows];
    take_line(source, t->comments, "Source: ", "\n");
    snprintf(title, sizeof title, "%s: %s", name, source);
    const bn_chart_line lines[] = { { "n", values, values + t->rows, t->rows, false, NULL },
                                    { "k", values, values + 2 * t->rows, t->rows, false, NULL } };
    BN_GO(bn_chart_write(cli->ctx, path.text,
                         &(bn_chart){ .title = title,
                                      .x_label = "wavelength [nm]",
                                      .y_label = "n, k",
                                      .log_y = cli->options->plot.log,
                                      .lines = lines,
                                      .count = 2 }));
    fprintf(stderr, "%s\n", path.text);
out:
    free(values);
    return st;
}

/* A row of the list, and the chart where there is a folder for it. */
static bn_status tell(const bn_cli *cli, const char *name, const bn_csv_table *t, bn_text_table *rows, json_t *list)
{
    char what[TEXT_BYTES], source[TEXT_BYTES];
    const double from = t->values[0], to = t->values[(t->rows - 1) * t->columns];
    take_line(what, t->comments, "", ": refractive");
    take_line(source, t->comments, "Source: ", "\n");
    BN_TRY(bn_text_table_add(cli->ctx, rows, "%s\t%g to %g nm\t%s\t%s", name, from, to, source, what));
    json_t *item = json_pack("{s:s, s:f, s:f, s:I, s:s, s:s}", "name", name, "from_nm", from, "to_nm", to, "rows",
                             (json_int_t)t->rows, "what", what, "source", source);
    if (!item || json_array_append_new(list, item) != 0)
        return bn_fail(cli->ctx, BN_MEMORY, "no memory for the list of materials");
    return cli->options->run.out ? draw(cli, name, t) : BN_OK;
}

/* Whether a material is called so. */
static bool is_name(const char *wanted)
{
    char name[NAME_BYTES];
    for (const bn_embedded *f = bn_embedded_files; wanted && f->name; f++)
        if (is_material(f, name) && strcmp(wanted, name) == 0)
            return true;
    return false;
}

bn_status bn_cli_materials(const bn_cli *cli)
{
    const char *wanted = cli->options->arg_count ? cli->options->args[0] : NULL, *names[NAMES] = { NULL };
    char kept[NAMES][NAME_BYTES];
    size_t count = 0;
    const bool one = is_name(wanted); /* else a word of some */
    bn_text_table rows = { .columns = 4 };
    json_t *list = json_array();
    bn_status st = list ? BN_OK : bn_fail(cli->ctx, BN_MEMORY, "no memory for the list of materials");
    if (st == BN_OK && cli->options->run.out)
        st = bn_directory_create(cli->ctx, cli->options->run.out);
    for (const bn_embedded *f = bn_embedded_files; st == BN_OK && f->name && count + 1 < NAMES; f++) {
        bn_csv_table t;
        if (!is_material(f, kept[count]))
            continue;
        names[count] = kept[count];
        char what[TEXT_BYTES];
        take_line(what, f->text, "# ", ": refractive");
        if (!wanted ||
            (one ? strcmp(wanted, names[count]) == 0 : strstr(names[count], wanted) || strstr(what, wanted))) {
            st = bn_csv_parse(cli->ctx, f->name, f->text, &t);
            if (st == BN_OK)
                st = tell(cli, names[count], &t, &rows, list);
            if (st == BN_OK && one && !cli->options->run.json)
                fputs(f->text, stdout); /* as a case can name it, once it is a file of one's own */
            bn_csv_table_free(&t);
        }
        count++;
    }
    if (st == BN_OK && rows.rows == 0) {
        const char *meant = bn_suggest(wanted, names);
        st = bn_fail(cli->ctx, BN_USAGE,
                     "no material is called `%s`, nor says so%s%s%s (binnacle materials lists them)", wanted,
                     meant ? "; did you mean `" : "", meant ? meant : "", meant ? "`?" : "");
    } else if (st == BN_OK && cli->options->run.json) {
        st = bn_json_print(cli, json_pack("{s:O}", "materials", list));
    } else if (st == BN_OK && !one) {
        bn_text_table_print(&rows);
    }
    bn_text_table_release(&rows);
    json_decref(list);
    return st;
}
