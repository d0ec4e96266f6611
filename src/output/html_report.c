/* html_report.c: report.html of a run's folder: from the top what one asks first. */
#include "output/html_report.h"

#include "io/csv_read.h"
#include "io/file.h"
#include "output/html.h"
#include "sim/results_write.h"
#include "sim/sim_parts.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NAME_BYTES = 256,
    PICTURES = 256,
    ROWS_SHOWN = 40,        /* of a table; all are in its file */
    LINES = 7,              /* in a chart: as many as there are colours */
    SERIES_BYTES = 1 << 28, /* of series.csv */
    SERIES_FIXED = 3        /* its first columns: step, time, residual */
};

typedef struct report {
    bn_string page;
    bn_context *ctx;
    bn_sim *sim;
    bn_output_dir *folder;
    const json_t *summary;
} report;

static const json_t *get(const report *r, const char *group, const char *key)
{
    const json_t *from = group ? json_object_get(r->summary, group) : r->summary;
    return json_object_get(from, key);
}

/* A value of the summary: numbers with a unit behind, texts, lists with commas; null as "none". */
static void add_value(bn_string *b, const json_t *value, const char *unit)
{
    const json_t *item;
    size_t i;
    if (json_is_integer(value))
        bn_string_add(b, "<data value=\"%lld\">%lld</data>", (long long)json_integer_value(value),
                      (long long)json_integer_value(value));
    else if (json_is_real(value))
        bn_html_number(b, json_real_value(value));
    else if (json_is_string(value))
        bn_html_text(b, json_string_value(value));
    else if (json_is_boolean(value))
        bn_string_add(b, json_is_true(value) ? "yes" : "no");
    else if (!json_is_array(value))
        bn_string_add(b, "none");
    json_array_foreach((json_t *)value, i, item)
    {
        bn_string_add(b, i ? ", " : "");
        add_value(b, item, NULL);
    }
    if (json_is_number(value) && unit && unit[0])
        bn_html_add(b, " %s", unit);
}

static void add_row(report *r, const char *name, const json_t *value, const char *unit)
{
    bn_html_add(&r->page, "<tr><th scope=\"row\">%s</th><td>", name);
    add_value(&r->page, value, unit);
    bn_string_add(&r->page, "</td></tr>\n");
}

typedef struct row {
    const char *name, *group, *key, *unit;
} row;

/* Rows of values of the summary; those that it does not have are left out. */
static void add_rows(report *r, const char *caption, const row *rows, size_t count)
{
    bn_html_table(&r->page, caption, "what|value");
    for (size_t i = 0; i < count; i++)
        if (get(r, rows[i].group, rows[i].key))
            add_row(r, rows[i].name, get(r, rows[i].group, rows[i].key), rows[i].unit);
    bn_string_add(&r->page, "</table>\n");
}

static bool there(report *r, const char *name)
{
    return access(bn_output_dir_name(r->folder, "%s", name).text, F_OK) == 0;
}

/* How it ended, and what it warned of. */
static void add_outcome(report *r)
{
    const char *error = json_string_value(get(r, NULL, "error")), *warnings = bn_context_warnings(r->ctx);
    bn_string_add(&r->page, "<p>Solver %s, %lld steps; ended by: ", bn_case_solver(bn_sim_case(r->sim)),
                  (long long)json_integer_value(get(r, NULL, "steps")));
    bn_html_add(&r->page, "%s; on ", json_string_value(get(r, NULL, "stopped_by")));
    add_value(&r->page, json_is_object(get(r, NULL, "device")) ? get(r, "device", "name") : get(r, NULL, "engine"),
              NULL);
    bn_string_add(&r->page, ", %s precision.</p>\n", bn_case_double(bn_sim_case(r->sim)) ? "double" : "single");
    if (error)
        bn_html_add(&r->page, "<p class=\"bad\" role=\"alert\">%s</p>\n", error);
    if (!warnings[0])
        return;
    bn_html_heading(&r->page, "Warnings");
    bn_html_add(&r->page, "<pre>%s</pre>\n", warnings);
}

static void add_change(void *user, const bn_case_change *c)
{
    bn_string *b = user;
    if (strncmp(c->key, "expected.", strlen("expected.")) == 0) /* stands beside the results */
        return;
    const char *dot = strrchr(c->key, '.');
    bn_string_add(b, "<tr><th scope=\"row\">");
    if (c->item > 0) /* as --set names it: layer.2.thickness */
        bn_string_add(b, "%.*s.%zu%s", (int)(dot - c->key), c->key, c->item, dot);
    else
        bn_string_add(b, "%s", c->key);
    bn_html_add(b, "</th><td>%s %s</td><td>%s</td><td>%s</td></tr>\n", c->value, c->unit, c->def, c->help);
}

static bn_status add_case(report *r)
{
    bn_html_heading(&r->page, "Case");
    bn_string_add(&r->page, "<div class=\"wide\">\n");
    bn_html_table(&r->page, "What differs from the defaults, in SI units", "key|value|default|meaning");
    BN_TRY(bn_case_changes(bn_sim_case(r->sim), add_change, &r->page));
    bn_string_add(&r->page, "</table>\n</div>\n<p>All keys: ");
    bn_html_link(&r->page, "case.toml");
    bn_string_add(&r->page, "</p>\n");
    return BN_OK;
}

/* What the case states as known beside a result: three cells, empty where it states nothing. */
static void add_expected(const report *r, bn_string *b, const bn_result_info *info)
{
    const bool is = isfinite(info->expected);
    if (is)
        bn_html_number(b, info->expected);
    if (is && info->tolerance > 0) {
        bn_string_add(b, " &plusmn; ");
        bn_html_number(b, info->tolerance);
    }
    bn_string_add(b, "</td><td>");
    if (is)
        bn_html_number(b, info->value - info->expected);
    const json_t *within = json_object_get(get(r, "expected", info->name), "within");
    if (is && json_is_false(within))
        bn_string_add(b, " <span class=\"bad\">too far</span>");
    else if (is && info->tolerance > 0 && json_is_null(within))
        bn_string_add(b, " (the run ended early)");
    bn_html_add(b, "</td><td>%s</td><td>", is ? info->source : "");
}

static void add_results(report *r)
{
    const bn_plan *p = bn_sim_plan(r->sim);
    const bn_results *results = bn_sim_results(r->sim);
    bn_html_heading(&r->page, "Results");
    if (bn_results_count(results) > 0) {
        bool known = false;
        for (size_t i = 0; i < bn_results_count(results); i++)
            known = known || isfinite(bn_results_at(results, i)->expected);
        bn_html_table(&r->page, "Results",
                      known ? "name|value|unit|expected|difference|source|meaning" : "name|value|unit|meaning");
        for (size_t i = 0; i < bn_results_count(results); i++) {
            const bn_result_info *info = bn_results_at(results, i);
            bn_string_add(&r->page, "<tr><th scope=\"row\">%s</th><td>", info->name);
            add_value(&r->page, get(r, "results", info->name), NULL);
            bn_html_add(&r->page, "</td><td>%s</td><td>", info->unit);
            if (known)
                add_expected(r, &r->page, info);
            bn_html_add(&r->page, "%s</td></tr>\n", info->help);
        }
        bn_string_add(&r->page, "</table>\n");
    }
    if (p->note_count > 0) {
        bn_html_table(&r->page, "What follows from the case", "what|value");
        for (size_t i = 0; i < p->note_count; i++)
            add_row(r, p->notes[i].name, get(r, "notes", p->notes[i].name), p->notes[i].unit);
        bn_string_add(&r->page, "</table>\n");
    }
}

/* A picture or, of those with a number, the last one of its kind. */
typedef struct shown {
    char file[NAME_BYTES];
    size_t stem, count; /* stem: bytes before the number; count: how many have one */
} shown;

/* Bytes before the number of "vorticity-000120.png"; all before the ending when there is none. */
static size_t stem_of(const char *name, bool *numbered)
{
    const char *dot = strrchr(name, '.'), *at = dot;
    while (at > name && at[-1] >= '0' && at[-1] <= '9')
        at--;
    *numbered = dot - at >= 6 && at > name && at[-1] == '-';
    return (size_t)((*numbered ? at - 1 : dot) - name);
}

static int by_name(const void *a, const void *b) { return strcmp(((const shown *)a)->file, ((const shown *)b)->file); }

/* Whether the page draws it itself: the residual and tables with a chart. */
static bool drawn_here(const report *r, const char *name, size_t stem)
{
    return (stem == 8 && strncmp(name, "residual", stem) == 0) || bn_plan_chart_of(bn_sim_plan(r->sim), name, stem);
}

static void take_picture(shown *list, size_t *count, const char *name)
{
    bool numbered;
    const size_t stem = stem_of(name, &numbered);
    size_t i = 0;
    while (i < *count && (list[i].stem != stem || strncmp(list[i].file, name, stem) != 0))
        i++;
    if (i == *count) {
        if (*count == PICTURES)
            return;
        (*count)++;
        list[i] = (shown){ .stem = stem };
    }
    shown *s = &list[i];
    bool old_numbered = s->file[0] != '\0';
    if (old_numbered)
        (void)stem_of(s->file, &old_numbered);
    s->count += numbered;
    /* An animation stands for its pictures; of numbers the largest, which may have a digit more. */
    const bool later = strlen(name) > strlen(s->file) || (strlen(name) == strlen(s->file) && strcmp(name, s->file) > 0);
    if (!s->file[0] || !numbered || (old_numbered && later))
        snprintf(s->file, sizeof s->file, "%s", name);
}

static bn_status add_pictures(report *r)
{
    char file[NAME_BYTES + 16];
    shown *list = calloc(PICTURES, sizeof *list);
    DIR *dir = opendir(bn_output_dir_name(r->folder, "pictures").text);
    size_t count = 0;
    bn_status st = BN_OK;
    if (!list)
        st = bn_fail(r->ctx, BN_MEMORY, "no memory for the pictures of a report");
    for (struct dirent *e; st == BN_OK && dir && (e = readdir(dir)) != NULL;) {
        const size_t bytes = strlen(e->d_name);
        bool numbered;
        if (bytes > 4 && bytes < NAME_BYTES && e->d_name[0] != '.' && strcmp(e->d_name + bytes - 4, ".png") == 0 &&
            !drawn_here(r, e->d_name, stem_of(e->d_name, &numbered)))
            take_picture(list, &count, e->d_name);
    }
    if (count > 0) {
        qsort(list, count, sizeof *list, by_name);
        bn_html_heading(&r->page, "Pictures");
    }
    for (size_t i = 0; i < count; i++) {
        bool numbered;
        (void)stem_of(list[i].file, &numbered);
        snprintf(file, sizeof file, "pictures/%s", list[i].file);
        bn_string_add(&r->page, "<figure>\n<img loading=\"lazy\" src=\"");
        bn_html_address(&r->page, file);
        bn_string_add(&r->page, "\" alt=\"%s", numbered || list[i].count == 0 ? "Picture of " : "Animation of ");
        list[i].file[list[i].stem] = '\0';
        bn_html_text(&r->page, list[i].file);
        if (!numbered && list[i].count > 0)
            bn_string_add(&r->page, " over %zu output times, to one scale", list[i].count);
        else if (numbered)
            bn_string_add(&r->page, " at the last output time");
        bn_html_add(&r->page, "; axes, units and colours stand in the picture\">\n<figcaption>%s", list[i].file);
        if (list[i].count > 1)
            bn_string_add(&r->page, ", %zu output times", list[i].count);
        bn_string_add(&r->page, ": ");
        bn_html_link(&r->page, file);
        bn_string_add(&r->page, "</figcaption>\n</figure>\n");
    }
    if (dir)
        closedir(dir);
    free(list);
    return st;
}

static void head_of(char out[NAME_BYTES], const bn_column *c)
{
    if (c->unit && c->unit[0])
        snprintf(out, NAME_BYTES, "%.120s [%.100s]", c->name, c->unit);
    else
        snprintf(out, NAME_BYTES, "%.120s", c->name);
}

/* The rows of a table, folded up. */
static void add_table(report *r, const char *name, const bn_column *columns, size_t count, size_t rows)
{
    char file[NAME_BYTES], head[NAME_BYTES];
    snprintf(file, sizeof file, "%s.csv", name);
    bn_html_add(&r->page, "<details>\n<summary>%s: %s, %zu rows</summary>\n<div class=\"wide\">\n<table>\n<caption>",
                rows > ROWS_SHOWN ? "First values of" : "Values of", name, rows);
    bn_html_link(&r->page, file);
    bn_string_add(&r->page, "</caption>\n<tr>");
    for (size_t c = 0; c < count; c++) {
        head_of(head, &columns[c]);
        bn_html_add(&r->page, "<th scope=\"col\">%s</th>", head);
    }
    bn_string_add(&r->page, "</tr>\n");
    for (size_t i = 0; i < rows && i < ROWS_SHOWN; i++) {
        bn_string_add(&r->page, "<tr>");
        for (size_t c = 0; c < count; c++) {
            bn_string_add(&r->page, "<td>");
            bn_html_number(&r->page, columns[c].values[i]);
            bn_string_add(&r->page, "</td>");
        }
        bn_string_add(&r->page, "</tr>\n");
    }
    bn_string_add(&r->page, "</table>\n</div>\n</details>\n");
}

/* Columns from `first` on over column `x`: those that stand together and have one unit in one chart. */
static void add_charts(report *r, const char *name, const bn_column *columns, size_t count, size_t rows, size_t x,
                       size_t first)
{
    char across[NAME_BYTES], up[NAME_BYTES], title[2 * NAME_BYTES];
    head_of(across, &columns[x]);
    bn_string_add(&r->page, "<div class=\"charts\">\n");
    for (size_t c = first, n; c < count; c += n) {
        const char *unit = columns[c].unit ? columns[c].unit : "";
        bn_chart_line lines[LINES];
        for (n = 0; n < LINES && c + n < count; n++) {
            const bn_column *at = &columns[c + n];
            if (n > 0 && (!unit[0] || strcmp(unit, at->unit ? at->unit : "") != 0))
                break;
            lines[n] = (bn_chart_line){ .label = at->name, .x = columns[x].values, .y = at->values, .count = rows };
        }
        head_of(up, &(bn_column){ n == 1 ? columns[c].name : name, unit, NULL });
        snprintf(title, sizeof title, "%s: %s%s", name, columns[c].name, n > 1 ? " and others" : "");
        bn_html_chart(&r->page, &(bn_chart){ .title = title,
                                             .x_label = across,
                                             .y_label = up,
                                             .log_y = strcmp(columns[c].name, "residual") == 0,
                                             .lines = lines,
                                             .count = n });
    }
    bn_string_add(&r->page, "</div>\n");
}

/* The chart that the plan announced for a table: all columns over the first one. */
static bn_status add_planned(report *r, const bn_plan_chart_desc *d, const bn_column *columns, size_t count,
                             size_t rows)
{
    bn_chart_line *lines = calloc(count, sizeof *lines);
    double *x = malloc((rows + 1) * sizeof *x);
    if (!lines || !x) {
        free(lines);
        free(x);
        return bn_fail(r->ctx, BN_MEMORY, "no memory for a chart of a report");
    }
    for (size_t i = 0; i < rows; i++)
        x[i] = columns[0].values[i] * (d->x_scale > 0 ? d->x_scale : 1);
    size_t used = 0;
    for (size_t c = 1; c < count; c++)
        if (!bn_column_is_error(columns[c].name))
            lines[used++] = (bn_chart_line){ .label = columns[c].name, .x = x, .y = columns[c].values, .count = rows };
    const bn_chart chart = { .title = d->title,
                             .x_label = d->x_label,
                             .y_label = d->y_label,
                             .log_y = d->log_y,
                             .lines = lines,
                             .count = used };
    if (bn_chart_shows(&chart))
        bn_html_chart(&r->page, &chart);
    free(lines);
    free(x);
    return BN_OK;
}

static bn_status add_tables(report *r)
{
    const bn_results *results = bn_sim_results(r->sim);
    for (size_t i = 0; i < bn_results_tables(results); i++) {
        const bn_column *columns;
        size_t count, rows;
        char file[NAME_BYTES];
        const char *name = bn_results_table_at(results, i, &columns, &count, &rows);
        snprintf(file, sizeof file, "%s.csv", name);
        if (!there(r, file))
            continue;
        bn_html_heading(&r->page, name);
        const bn_plan_chart_desc *planned = bn_plan_chart_of(bn_sim_plan(r->sim), name, strlen(name));
        if (planned)
            BN_TRY(add_planned(r, planned, columns, count, rows));
        else
            add_charts(r, name, columns, count, rows, 0, 1);
        add_table(r, name, columns, count, rows);
    }
    return BN_OK;
}

/* series.csv over time, or over steps where time stands still. */
static bn_status add_series(report *r)
{
    const bn_plan *p = bn_sim_plan(r->sim);
    char *text = NULL;
    double *values = NULL;
    size_t bytes;
    bn_csv_table t = { .columns = 0 };
    bn_column columns[BN_CSV_COLUMNS];
    bn_status st = BN_OK;
    if (!there(r, "series.csv"))
        return BN_OK;
    BN_TRY(bn_file_read(r->ctx, bn_output_dir_name(r->folder, "series.csv").text, SERIES_BYTES, &text, &bytes));
    if (!strchr(text, '\n') || !strchr(text, '\n')[1]) /* heads alone */
        goto out;
    BN_GO(bn_csv_parse(r->ctx, "series.csv", text, &t));
    if (!(values = malloc(t.columns * t.rows * sizeof *values)))
        BN_GO(bn_fail(r->ctx, BN_MEMORY, "no memory for the series of a report"));
    const bn_coordinate along = bn_solver_coordinate(p->solver);
    for (size_t c = 0; c < t.columns; c++) {
        for (size_t i = 0; i < t.rows; i++)
            values[c * t.rows + i] = t.values[i * t.columns + c];
        columns[c] = (bn_column){ t.heads[c], "", values + c * t.rows };
        if (c >= SERIES_FIXED && c < SERIES_FIXED + p->series_count) {
            columns[c].name = p->series[c - SERIES_FIXED].name;
            columns[c].unit = p->series[c - SERIES_FIXED].unit;
        }
    }
    columns[1].name = along.name;
    columns[1].unit = along.unit;
    const double *time = columns[1].values;
    bn_html_heading(&r->page, "series");
    add_charts(r, "series", columns, t.columns, t.rows, time[t.rows - 1] > time[0] ? 1 : 0, 2);
    add_table(r, "series", columns, t.columns, t.rows);
out:
    bn_csv_table_free(&t);
    free(values);
    free(text);
    return st;
}

static void add_speed(report *r)
{
    static const row device[] = {
        { "engine", NULL, "engine", NULL },           { "device", "device", "name", NULL },
        { "platform", "device", "platform", NULL },   { "driver", "device", "driver", NULL },
        { "OpenCL", "device", "version", NULL },      { "selected because", "device", "selected_because", NULL },
        { "devices", "device", "devices", NULL },     { "ranks", "device", "ranks", NULL },
        { "precision", NULL, "precision", NULL },     { "grid", NULL, "grid", NULL },
        { "work-groups from", NULL, "tuning", NULL }, { "self-test", NULL, "selftest", NULL }
    };
    static const row speed[] = { { "in all", "timings", "total", "s" },
                                 { "before the first step", "timings", "setup", "s" },
                                 { "of it the self-test", "timings", "selftest", "s" },
                                 { "of it building kernels", "timings", "build", "s" },
                                 { "steps", "timings", "steps", "s" },
                                 { "output", "timings", "output", "s" },
                                 { "cells per second", "rate", "cells_per_second", "1/s" },
                                 { "photons per second", "rate", "photons_per_second", "1/s" },
                                 { "share of the bandwidth limit", "rate", "share_of_bandwidth_limit", NULL },
                                 { "copy bandwidth", "rate", "bandwidth_bytes_per_second", "B/s" } };
    const json_t *profile = json_object_get(r->summary, "profile"), *kernel;
    size_t i;
    bn_html_heading(&r->page, "Device and time");
    add_rows(r, "Device", device, sizeof device / sizeof *device);
    add_rows(r, "Time by the clock, and its share of what the device could do", speed, sizeof speed / sizeof *speed);
    if (json_array_size(profile) == 0)
        return;
    bn_html_table(&r->page, "Kernels", "kernel|calls|time [s]|share of the copy bandwidth");
    json_array_foreach((json_t *)profile, i, kernel)
    {
        static const char *const keys[] = { "calls", "seconds", "share" };
        bn_string_add(&r->page, "<tr><th scope=\"row\">%s</th>", json_string_value(json_object_get(kernel, "kernel")));
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            bn_string_add(&r->page, "<td>");
            add_value(&r->page, json_object_get(kernel, keys[k]), NULL);
            bn_string_add(&r->page, "</td>");
        }
        bn_string_add(&r->page, "</tr>\n");
    }
    bn_string_add(&r->page, "</table>\n");
}

static void add_files(report *r)
{
    static const char *const files[] = { "summary.json", "case.toml", "series.csv", "fields.pvd", "outlines.csv" };
    const json_t *fields = json_object_get(r->summary, "fields");
    const char *name;
    const json_t *field;
    bn_html_heading(&r->page, "Files");
    bn_string_add(&r->page, "<ul>\n");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (there(r, files[i])) {
            bn_string_add(&r->page, "<li>");
            bn_html_link(&r->page, files[i]);
            bn_string_add(&r->page, "</li>\n");
        }
    bn_string_add(&r->page, "</ul>\n");
    if (json_object_size(fields) > 0) {
        bn_html_table(&r->page, "Fields at the end: a hash over all bits (FNV-1a, 64 bit)", "field|bytes|hash");
        json_object_foreach((json_t *)fields, name, field)
        {
            bn_string_add(&r->page, "<tr><th scope=\"row\">%s</th><td>", name);
            add_value(&r->page, json_object_get(field, "bytes"), NULL);
            bn_string_add(&r->page, "</td><td><code>%s</code></td></tr>\n",
                          json_string_value(json_object_get(field, "hash")));
        }
        bn_string_add(&r->page, "</table>\n");
    }
    bn_html_heading(&r->page, "How to cite");
    bn_string_add(&r->page, "<p>Binnacle, version %s, solver %s, %s precision", bn_version(),
                  bn_case_solver(bn_sim_case(r->sim)), bn_case_double(bn_sim_case(r->sim)) ? "double" : "single");
    if (json_is_object(json_object_get(r->summary, "device"))) {
        bn_string_add(&r->page, ", on ");
        add_value(&r->page, get(r, "device", "name"), NULL);
        bn_string_add(&r->page, " (driver ");
        add_value(&r->page, get(r, "device", "driver"), NULL);
        bn_string_add(&r->page, ")");
    }
    bn_string_add(&r->page,
                  ". With case.toml and the hashes above the run can be repeated and compared bit by bit.</p>\n");
}

bn_status bn_html_report_write(bn_context *ctx, bn_sim *sim, bn_output_dir *folder, const json_t *summary)
{
    report r = { .ctx = ctx, .sim = sim, .folder = folder, .summary = summary };
    const char *title = bn_case_text(bn_sim_case(sim), "case.title");
    bn_status st = BN_OK;
    bn_html_begin(&r.page, title[0] ? title : bn_case_path(bn_sim_case(sim)));
    add_outcome(&r);
    BN_GO(add_case(&r));
    BN_GO(add_pictures(&r));
    add_results(&r);
    BN_GO(add_tables(&r));
    BN_GO(add_series(&r));
    add_speed(&r);
    add_files(&r);
    bn_html_end(&r.page);
    st = r.page.failed ? bn_fail(ctx, BN_MEMORY, "no memory for report.html")
                       : bn_file_write(ctx, bn_output_dir_name(folder, "report.html").text, bn_string_text(&r.page),
                                       r.page.bytes);
out:
    bn_string_clear(&r.page);
    return st;
}
