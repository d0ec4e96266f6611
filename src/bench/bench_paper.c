/* bench_paper.c: what a published study leaves in a folder: of each table and figure a CSV file, a chart, and a
 * document that says it is finished; and the page that shows all of them. */
#include "bench/bench_suites.h"

#include "io/file.h"
#include "output/html.h"
#include "output/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 32, COLUMNS = 64 };

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static bn_status write_text(const bn_suite *s, const char *ending, bn_string *b)
{
    char path[BN_BENCH_PATH + 128];
    const char *text = bn_string_text(b);
    snprintf(path, sizeof path, "%s/%s", s->folder, ending);
    const bn_status st = b->failed ? bn_fail(s->d->wish->ctx, BN_MEMORY, "no memory for %s", path)
                                   : bn_file_write(s->d->wish->ctx, path, text, strlen(text));
    bn_string_clear(b);
    return st;
}

/* --- a finished table --- */
/* What a table must have in common with this command to be taken as it is. */
static json_t *key_of(const bn_suite *s)
{
    const bn_device_info *info = bn_device_describe(s->d->plain);
    return json_pack("{s:s, s:o, s:o, s:i}", "binnacle", bn_version(), "device", bn_json_text(info->name), "driver",
                     bn_json_text(info->driver), "level", (int)s->level);
}

bn_status bn_paper_find(const bn_suite *s, bool *found)
{
    char path[BN_BENCH_PATH + 128];
    snprintf(path, sizeof path, "%s/%s.json", s->folder, s->table->id);
    json_t *document = json_load_file(path, 0, NULL), *key = key_of(s);
    const json_t *rows = json_object_get(document, "rows"), *pictures = json_object_get(document, "pictures");
    *found = key && json_equal(key, json_object_get(document, "key")) && json_is_array(rows) && json_is_array(pictures);
    const bool added = !*found || (json_array_extend(s->rows, (json_t *)(uintptr_t)rows) == 0 &&
                                   json_array_extend(s->pictures, (json_t *)(uintptr_t)pictures) == 0);
    if (*found)
        *s->measured = true;
    json_decref(document);
    json_decref(key);
    return added ? BN_OK : bn_fail(s->d->wish->ctx, BN_MEMORY, "no memory for %s", path);
}

static void add_quoted(bn_string *b, const char *text)
{
    bn_string_add(b, "\"");
    for (; *text; text++)
        bn_string_add(b, *text == '"' ? "\"\"" : "%c", *text);
    bn_string_add(b, "\"");
}

static bn_status write_csv(const bn_suite *s)
{
    static const char *const keys[] = { "what", "line", "x", "ours", "published", "ratio", "unit", "missing" };
    bn_string b = { 0 };
    char name[128];
    bn_string_add(&b, "what,line,x,ours,published,ratio,unit,missing\n");
    for (size_t r = 0; r < json_array_size(s->rows); r++)
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const json_t *value = json_object_get(json_array_get(s->rows, r), keys[k]);
            bn_string_add(&b, "%s", k > 0 ? "," : "");
            if (json_is_number(value))
                bn_string_add_real(&b, json_number_value(value));
            else if (json_is_string(value))
                add_quoted(&b, json_string_value(value));
            if (k + 1 == sizeof keys / sizeof *keys)
                bn_string_add(&b, "\n");
        }
    snprintf(name, sizeof name, "%s.csv", s->table->id);
    return write_text(s, name, &b);
}

/* The points of a line, ours or the published ones. */
static size_t points(const json_t *rows, const char *line, const char *side, double *x, double *y)
{
    size_t count = 0;
    for (size_t r = 0; r < json_array_size(rows); r++) {
        const json_t *row = json_array_get(rows, r);
        const double value = bn_json_number(row, side), at = bn_json_number(row, "x");
        if (strcmp(text_of(row, "line"), line) == 0 && isfinite(value) && isfinite(at)) {
            x[count] = at;
            y[count++] = value;
        }
    }
    return count;
}

/* The names of the lines, in the order of the rows. */
static size_t list_lines(const json_t *rows, const char *names[LINES])
{
    size_t count = 0;
    for (size_t r = 0; r < json_array_size(rows); r++) {
        const char *line = text_of(json_array_get(rows, r), "line");
        size_t i = 0;
        while (i < count && strcmp(names[i], line) != 0)
            i++;
        if (line[0] && i == count && count < LINES)
            names[count++] = line;
    }
    return count;
}

static bn_status draw(const bn_suite *s)
{
    static const char *const sides[] = { "ours", "published" };
    const size_t rows = json_array_size(s->rows);
    const char *names[LINES];
    char path[BN_BENCH_PATH + 128], labels[LINES][128];
    bn_chart_line lines[LINES];
    size_t count = 0, used = 0;
    bn_status st = BN_OK;
    const size_t named = list_lines(s->rows, names);
    double *numbers = named > 0 ? calloc(4 * rows * named, sizeof *numbers) : NULL;
    if (named == 0)
        return BN_OK;
    if (!numbers)
        return bn_fail(s->d->wish->ctx, BN_MEMORY, "no memory for a chart");
    for (size_t i = 0; i < named; i++)
        for (int side = 0; side < 2 && count < LINES; side++) {
            double *x = numbers + used, *y = x + rows;
            const size_t n = points(s->rows, names[i], sides[side], x, y);
            if (n == 0)
                continue;
            snprintf(labels[count], sizeof *labels, "%.100s%s", names[i], side ? ", published" : "");
            lines[count] = (bn_chart_line){ .label = labels[count], .x = x, .y = y, .count = n, .markers = n == 1 };
            count++;
            used += 2 * rows;
        }
    snprintf(path, sizeof path, "%s/%s.png", s->folder, s->table->id);
    if (count > 0)
        st = bn_chart_write(s->d->wish->ctx, path,
                            &(bn_chart){ .title = s->table->title,
                                         .x_label = s->table->x_label,
                                         .y_label = s->table->y_label,
                                         .log_x = s->table->log_x,
                                         .log_y = s->table->log_y,
                                         .lines = lines,
                                         .count = count });
    free(numbers);
    return st;
}

bn_status bn_paper_write(const bn_suite *s)
{
    char path[BN_BENCH_PATH + 128];
    BN_TRY(write_csv(s));
    if (s->table->x_label)
        BN_TRY(draw(s));
    if (*s->failed)
        return BN_OK; /* the next command tries again */
    json_t *document = json_pack("{s:o, s:O, s:O}", "key", key_of(s), "rows", s->rows, "pictures", s->pictures);
    snprintf(path, sizeof path, "%s/%s.json", s->folder, s->table->id);
    const bn_status st = bn_json_write(s->d->wish->ctx, path, document, JSON_INDENT(1));
    json_decref(document);
    return st;
}

/* --- the page --- */
static void add_rows(bn_string *b, const char *caption, const json_t *rows)
{
    bn_html_table(b, caption, "|here|published|unit|here over published|why there is no number");
    for (size_t r = 0; r < json_array_size(rows); r++) {
        const json_t *row = json_array_get(rows, r);
        static const char *const keys[] = { "ours", "published", "unit", "ratio", "missing" };
        bn_string_add(b, "<tr><th scope=\"row\">");
        bn_html_text(b, text_of(row, "what"));
        bn_string_add(b, "</th>");
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const json_t *value = json_object_get(row, keys[k]);
            bn_string_add(b, "<td>");
            if (json_is_number(value))
                bn_html_number(b, json_number_value(value));
            else
                bn_html_text(b, json_string_value(value));
            bn_string_add(b, "</td>");
        }
        bn_string_add(b, "</tr>\n");
    }
    bn_string_add(b, "</table>\n");
}

static const json_t *row_at(const json_t *rows, const char *line, double x)
{
    for (size_t r = 0; r < json_array_size(rows); r++) {
        const json_t *row = json_array_get(rows, r);
        if (strcmp(text_of(row, "line"), line) == 0 && fabs(bn_json_number(row, "x") - x) <= 1e-9 * fabs(x))
            return row;
    }
    return NULL;
}

/* A row of the page for each line, a column for each x; green the lowest numbers, red the highest, each side by itself
 * and by logarithms. */
static void add_matrix(bn_string *b, const char *caption, const char *x_label, const char *side, const json_t *rows)
{
    const char *names[LINES];
    const size_t named = list_lines(rows, names);
    double x[COLUMNS], low = (double)INFINITY, high = 0;
    size_t columns = 0;
    for (size_t r = 0; r < json_array_size(rows); r++) {
        const double at = bn_json_number(json_array_get(rows, r), "x"),
                     value = bn_json_number(json_array_get(rows, r), side);
        size_t c = 0;
        while (c < columns && x[c] < at)
            c++;
        if (c < COLUMNS && isfinite(at) && !(c < columns && x[c] <= at) && columns < COLUMNS) {
            memmove(x + c + 1, x + c, (columns++ - c) * sizeof *x);
            x[c] = at;
        }
        low = value > 0 ? fmin(low, value) : low;
        high = fmax(high, value);
    }
    if (!(high > 0))
        return;
    bn_string_add(b, "<table>\n<caption>");
    bn_html_text(b, caption);
    bn_string_add(b, ", %s</caption>\n<tr><th scope=\"col\">", strcmp(side, "ours") == 0 ? "here" : side);
    bn_html_text(b, x_label);
    bn_string_add(b, "</th>");
    for (size_t c = 0; c < columns; c++)
        bn_string_add(b, "<th scope=\"col\">%g</th>", x[c]);
    bn_string_add(b, "</tr>\n");
    for (size_t i = 0; i < named; i++) {
        bn_string_add(b, "<tr><th scope=\"row\">");
        bn_html_text(b, names[i]);
        bn_string_add(b, "</th>");
        for (size_t c = 0; c < columns; c++) {
            const double value = bn_json_number(row_at(rows, names[i], x[c]), side);
            if (value > 0)
                bn_string_add(b, "<td style=\"background:hsl(%.0f,70%%,85%%)\">%.4g</td>",
                              high > low ? 120 * log(high / value) / log(high / low) : 120, value);
            else
                bn_string_add(b, "<td></td>");
        }
        bn_string_add(b, "</tr>\n");
    }
    bn_string_add(b, "</table>\n");
}

static void add_picture(bn_string *b, const char *path, const char *caption)
{
    bn_string_add(b, "<figure><img src=\"");
    bn_html_address(b, path);
    bn_string_add(b, "\" alt=\"");
    bn_html_text(b, caption);
    bn_string_add(b, "\" loading=\"lazy\"><figcaption>");
    bn_html_text(b, caption);
    bn_string_add(b, "</figcaption></figure>\n");
}

static void add_section(bn_string *b, const bn_suite *s, const bn_suite_table *t, const json_t *entry)
{
    const json_t *rows = json_object_get(entry, "rows"), *pictures = json_object_get(entry, "pictures");
    char path[BN_BENCH_PATH + 128], name[128];
    bn_html_heading(b, t->title);
    if (t->note) {
        bn_string_add(b, "<p>");
        bn_html_text(b, t->note);
        bn_string_add(b, "</p>\n");
    }
    snprintf(name, sizeof name, "%s.png", t->id);
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    FILE *chart = t->x_label ? fopen(path, "rb") : NULL;
    if (chart) {
        (void)fclose(chart);
        add_picture(b, name, t->title);
    }
    for (size_t i = 0; i < json_array_size(pictures); i++) {
        const json_t *p = json_array_get(pictures, i);
        add_picture(b, text_of(p, "path"), text_of(p, "caption"));
    }
    snprintf(name, sizeof name, "%s.csv", t->id);
    bn_string_add(b, "<p><a href=\"%s\">%s</a></p>\n<div class=\"wide\">\n", name, name);
    if (t->matrix) {
        const char *x_label = t->x_label ? t->x_label : "";
        add_matrix(b, t->title, x_label, "ours", rows);
        add_matrix(b, t->title, x_label, "published", rows);
    } else {
        add_rows(b, t->title, rows);
    }
    bn_string_add(b, "</div>\n");
}

bn_status bn_paper_page(const bn_suite *s, const char *source, const json_t *tables)
{
    const bn_device_info *info = bn_device_describe(s->d->plain);
    bn_string b = { 0 };
    bn_html_begin(&b, source);
    bn_string_add(&b, "<p>Here: ");
    bn_html_text(&b, info->name);
    bn_string_add(&b, ", ");
    bn_html_text(&b, info->platform);
    bn_string_add(&b, ", driver ");
    bn_html_text(&b, info->driver);
    bn_string_add(&b, "; Binnacle %s.</p>\n", bn_version());
    for (size_t i = 0; i < json_array_size(tables) && s->table[i].id; i++)
        add_section(&b, s, &s->table[i], json_array_get(tables, i));
    bn_html_end(&b);
    return write_text(s, "report.html", &b);
}
