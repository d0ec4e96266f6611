/* cli_sweep_table.c: the points of a sweep from --vary, and its results as a table and charts. */
#include "cli/cli_sweep.h"

#include "cli/cli_text.h"
#include "io/file.h"
#include "output/html.h"
#include "plot/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RESULTS = 64, LINES = 8, NAME_BYTES = 128, ROWS_SHOWN = 2000 /* of the report */ };
enum { FEW = 12 /* values whose points are marked */ };
enum { EVALUATIONS = 40 /* a key, unless --evaluations says otherwise */ };

static bn_status wrong(const bn_sweep *s, const char *given, const char *why)
{
    return bn_fail(s->cli->ctx, BN_USAGE, "--vary %s: %s; expected %s", given, why,
                   s->goal[0] ? "KEY=FROM:TO or KEY=\"FROM:TO UNIT\""
                              : "KEY=FROM:TO:COUNT, KEY=\"FROM:TO:COUNT UNIT\" or KEY=VALUE,VALUE,...");
}

bn_status bn_sweep_add(const bn_sweep *s, bn_sweep_axis *a, const char *text, size_t bytes, double number)
{
    if ((a->count & (a->count - 1)) == 0) {
        const size_t room = a->count ? 2 * a->count : 1;
        void *grown = realloc(a->text, room * sizeof *a->text);
        if (grown)
            a->text = grown;
        double *numbers = grown ? realloc(a->number, room * sizeof *a->number) : NULL;
        if (numbers)
            a->number = numbers;
        else
            return bn_fail(s->cli->ctx, BN_MEMORY, "no memory for the values of %s", a->key);
    }
    if (bytes == 0 || bytes >= BN_SWEEP_TEXT / 2)
        return bn_fail(s->cli->ctx, BN_USAGE, "--vary %s: value number %zu is %s", a->key, a->count + 1,
                       bytes ? "too long" : "empty");
    snprintf(a->text[a->count], sizeof *a->text, "%.*s", (int)bytes, text);
    a->number[a->count++] = number;
    return BN_OK;
}

/* "400:800:50 nm": 50 values from 400 to 800 nm. */
static bn_status read_range(const bn_sweep *s, bn_sweep_axis *a, const char *given, const char *spec)
{
    char *end = NULL;
    const double from = strtod(spec, &end);
    if (end == spec || *end != ':')
        return wrong(s, given, "FROM is no number");
    const char *at = end + 1;
    const double to = strtod(at, &end);
    if (end == at || (*end != ':' && !s->goal[0]))
        return wrong(s, given, "TO is no number");
    if (s->goal[0]) {
        a->low = from;
        a->high = to;
        snprintf(a->unit, sizeof a->unit, "%s", end + strspn(end, " "));
        if (*end == ':' || !isfinite(from) || !isfinite(to) || !(from < to))
            return wrong(s, given, *end == ':' ? "an optimiser chooses the values" : "FROM is not below TO");
        for (int i = 0; i < 2; i++) { /* they are checked as points are */
            char text[BN_SWEEP_TEXT];
            const int bytes = snprintf(text, sizeof text, "%.12g%s%.64s", i ? to : from, a->unit[0] ? " " : "",
                                       a->unit);
            BN_TRY(bn_sweep_add(s, a, text, (size_t)bytes, i ? to : from));
        }
        return BN_OK;
    }
    at = end + 1;
    const long count = strtol(at, &end, 10);
    if (end == at || count < 1 || count > BN_SWEEP_VALUES || !isfinite(from) || !isfinite(to))
        return wrong(s, given, "COUNT is not from 1 to 100000");
    snprintf(a->unit, sizeof a->unit, "%s", end + strspn(end, " "));
    a->even = true;
    for (long i = 0; i < count; i++) {
        char text[BN_SWEEP_TEXT];
        const double value = i == count - 1 ? to : from + (to - from) * (double)i / (double)(count > 1 ? count - 1 : 1);
        const int bytes = snprintf(text, sizeof text, "%.12g%s%.64s", value, a->unit[0] ? " " : "", a->unit);
        BN_TRY(bn_sweep_add(s, a, text, (size_t)bytes, value));
    }
    return BN_OK;
}

/* "a,b,[1,2]": commas within brackets part nothing. Numbers keep their unit if all have the same. */
static bn_status read_list(const bn_sweep *s, bn_sweep_axis *a, const char *spec)
{
    int depth = 0;
    const char *from = spec;
    for (const char *at = spec;; at++) {
        depth += (*at == '[') - (*at == ']');
        if (*at && (*at != ',' || depth > 0))
            continue;
        char *end = NULL, value[BN_SWEEP_TEXT];
        snprintf(value, sizeof value, "%.*s", (int)(at - from), from);
        const double number = strtod(value, &end);
        const char *unit = end + strspn(end, " ");
        if (a->count == 0)
            snprintf(a->unit, sizeof a->unit, "%s", unit);
        a->words = a->words || end == value || strcmp(a->unit, unit) != 0;
        BN_TRY(bn_sweep_add(s, a, from, (size_t)(at - from), number));
        if (!*at)
            break;
        from = at + 1;
    }
    for (size_t i = 0; a->words && i < a->count; i++)
        a->number[i] = (double)i;
    if (a->words)
        a->unit[0] = '\0';
    return BN_OK;
}

/* --optimize: the result, and whether its largest or its smallest value is sought. */
static bn_status read_goal(bn_sweep *s)
{
    const bn_options *o = s->cli->options;
    const char *equals = o->sweep.optimize ? strchr(o->sweep.optimize, '=') : NULL;
    s->zip = o->sweep.zip || o->sweep.optimize;
    if (!o->sweep.optimize && o->sweep.evaluations > 0)
        return bn_fail(s->cli->ctx, BN_USAGE, "--evaluations goes with --optimize");
    if (!o->sweep.optimize)
        return BN_OK;
    if (o->sweep.zip || o->sweep.jobs > 0)
        return bn_fail(s->cli->ctx, BN_USAGE, "--optimize chooses one point after the other: leave out --%s",
                       o->sweep.zip ? "zip" : "jobs");
    s->most = equals && strcmp(equals + 1, "max") == 0;
    if (!equals || equals == o->sweep.optimize || (!s->most && strcmp(equals + 1, "min") != 0) ||
        (size_t)(equals - o->sweep.optimize) >= sizeof s->goal)
        return bn_fail(s->cli->ctx, BN_USAGE, "--optimize %s: expected RESULT=max or RESULT=min", o->sweep.optimize);
    snprintf(s->goal, sizeof s->goal, "%.*s", (int)(equals - o->sweep.optimize), o->sweep.optimize);
    return BN_OK;
}

bn_status bn_sweep_axes(bn_sweep *s)
{
    const bn_options *o = s->cli->options;
    BN_TRY(read_goal(s));
    if (o->sweep.vary_count == 0)
        return bn_fail(s->cli->ctx, BN_USAGE, "a sweep needs --vary KEY=FROM:TO:COUNT or --vary KEY=VALUE,VALUE,...");
    if (o->sweep.vary_count > BN_SWEEP_AXES)
        return bn_fail(s->cli->ctx, BN_USAGE, "at most %d keys can be varied", BN_SWEEP_AXES);
    s->points = s->goal[0] ? 2 : 1;
    for (size_t i = 0; i < o->sweep.vary_count; i++) {
        const char *given = o->sweep.vary[i], *equals = strchr(given, '='), *spec = equals ? equals + 1 : NULL;
        bn_sweep_axis *a = &s->axis[s->axis_count++];
        if (!spec || equals == given || (size_t)(equals - given) >= BN_SWEEP_TEXT / 2)
            return wrong(s, given, spec || strpbrk(given, ":,") ? "no key" : "no values");
        snprintf(a->key, sizeof a->key, "%.*s", (int)(equals - given), given);
        BN_TRY(s->goal[0] || strchr(spec, ':') ? read_range(s, a, given, spec) : read_list(s, a, spec));
        if (s->goal[0])
            continue;
        if (s->zip && a->count != s->axis[0].count)
            return bn_fail(s->cli->ctx, BN_USAGE, "--zip: %s has %zu values, %s has %zu", s->axis[0].key,
                           s->axis[0].count, a->key, a->count);
        s->points = s->zip ? a->count : s->points * a->count;
        if (s->points > BN_SWEEP_VALUES)
            return bn_fail(s->cli->ctx, BN_USAGE, "a sweep has at most %d points", BN_SWEEP_VALUES);
    }
    s->room = !s->goal[0]                ? s->points
              : o->sweep.evaluations > 0 ? (size_t)o->sweep.evaluations
                                         : EVALUATIONS * s->axis_count;
    return BN_OK;
}

size_t bn_sweep_index(const bn_sweep *s, size_t point, size_t axis)
{
    if (s->zip)
        return point;
    for (size_t a = s->axis_count - 1; a > axis; a--)
        point /= s->axis[a].count;
    return point % s->axis[axis].count;
}

const char *bn_sweep_first_reason(const bn_sweep *s)
{
    for (size_t p = 0; p < s->points; p++)
        if (s->reason[p])
            return s->reason[p];
    return "";
}

void bn_sweep_release(bn_sweep *s)
{
    for (size_t p = 0; p < s->room; p++) {
        if (s->summary)
            json_decref(s->summary[p]);
        if (s->reason)
            free(s->reason[p]);
    }
    free(s->summary);
    free(s->reason);
    for (size_t a = 0; a < s->axis_count; a++) {
        free(s->axis[a].text);
        free(s->axis[a].number);
    }
}

/* The results of the first point that has some; NULL: none has. */
static json_t *some_results(const bn_sweep *s)
{
    json_t *all = NULL;
    for (size_t p = 0; p < s->points && !all; p++)
        all = json_object_get(s->summary[p], "results");
    return all;
}

void bn_sweep_names(json_t *results, char *text, size_t room)
{
    const char *name;
    json_t *value;
    size_t at = 0;
    text[0] = '\0';
    json_object_foreach(results, name, value)
    {
        if (at < room)
            at += (size_t)snprintf(text + at, room - at, "%s%s", at ? ", " : "", name);
    }
}

/* The results that the table has: those of --table, or all. */
static bn_status choose_results(const bn_sweep *s, char names[RESULTS][NAME_BYTES], size_t *count)
{
    json_t *all = some_results(s), *value;
    const char *name, *asked = s->cli->options->sweep.table ? s->cli->options->sweep.table : "";
    char known[1024];
    *count = 0;
    bn_sweep_names(all, known, sizeof known);
    json_object_foreach(all, name, value)
    {
        if (!*asked && json_is_number(value) && *count < RESULTS)
            snprintf(names[(*count)++], NAME_BYTES, "%s", name);
    }
    while (*asked && *count < RESULTS) {
        const size_t bytes = strcspn(asked, ",");
        snprintf(names[*count], NAME_BYTES, "%.*s", (int)(bytes < NAME_BYTES ? bytes : NAME_BYTES - 1), asked);
        if (all && !json_object_get(all, names[*count]))
            return bn_fail(s->cli->ctx, BN_USAGE, "--table: there is no result `%s`; there are %s", names[*count],
                           known);
        (*count)++;
        asked += bytes + (asked[bytes] == ',');
    }
    return BN_OK;
}

static const char *unit_of(const bn_sweep *s, const char *result)
{
    for (size_t p = 0; p < s->points; p++)
        if (s->summary[p]) {
            const char *unit = json_string_value(json_object_get(json_object_get(s->summary[p], "units"), result));
            return unit ? unit : "";
        }
    return "";
}

static void label(char out[2 * NAME_BYTES], const char *name, const char *unit)
{
    snprintf(out, 2 * NAME_BYTES, unit[0] ? "%.120s [%.100s]" : "%.120s", name, unit);
}

static void label_axis(char out[2 * NAME_BYTES], const bn_sweep_axis *a)
{
    label(out, a->key, a->unit[0] ? a->unit : a->si);
}

/* Names a file that was written. */
static void say(const bn_sweep *s, bn_status st, const bn_path *path)
{
    if (st == BN_OK && !s->cli->options->run.json)
        printf("%s\n", path->text);
}

/* sweep.csv: the keys, the results, and why a point has none. */
static bn_status write_table(const bn_sweep *s, char names[RESULTS][NAME_BYTES], size_t count)
{
    const bn_path path = bn_path_join(s->out, "sweep.csv");
    char *text = NULL, head[2 * NAME_BYTES];
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    bn_status st = to ? BN_OK : bn_fail(s->cli->ctx, BN_MEMORY, "no memory for the table of a sweep");
    for (size_t a = 0; st == BN_OK && a < s->axis_count; a++) {
        label_axis(head, &s->axis[a]);
        fprintf(to, "%s,", head);
    }
    for (size_t i = 0; st == BN_OK && i < count; i++) {
        label(head, names[i], unit_of(s, names[i]));
        fprintf(to, "%s,", head);
    }
    if (st == BN_OK)
        fprintf(to, "reason\n");
    for (size_t p = 0; st == BN_OK && p < s->points; p++) {
        for (size_t a = 0; a < s->axis_count; a++) {
            const size_t i = bn_sweep_index(s, p, a);
            if (s->axis[a].words)
                fprintf(to, "\"%s\",", s->axis[a].text[i]);
            else
                fprintf(to, "%.12g,", s->axis[a].number[i]);
        }
        for (size_t i = 0; i < count; i++) {
            const double value = bn_json_number(json_object_get(s->summary[p], "results"), names[i]);
            if (isnan(value))
                fprintf(to, ",");
            else
                fprintf(to, "%.17g,", value);
        }
        fprintf(to, "%s\n", s->reason[p] ? s->reason[p] : "");
    }
    if (to && fclose(to) != 0 && st == BN_OK)
        st = bn_fail(s->cli->ctx, BN_MEMORY, "no memory for the table of a sweep");
    if (st == BN_OK)
        st = bn_file_write(s->cli->ctx, path.text, text, bytes);
    say(s, st, &path);
    free(text);
    return st;
}

/* A result over the last key, a line for each value of the key before. */
static bn_status draw_lines(const bn_sweep *s, const char *path, const char *name, const double *values,
                            bn_string *page)
{
    const bool zip = s->zip;
    const bn_sweep_axis *along = &s->axis[zip ? 0 : s->axis_count - 1];
    const size_t lines = zip ? 1 : s->points / along->count;
    bn_chart_line line[LINES];
    char text[LINES][2 * NAME_BYTES], x[2 * NAME_BYTES], y[2 * NAME_BYTES];
    for (size_t l = 0; l < lines; l++) {
        size_t at = 0;
        text[l][0] = '\0';
        for (size_t a = 0; !zip && a + 1 < s->axis_count && at < sizeof text[l]; a++)
            at += (size_t)snprintf(text[l] + at, sizeof text[l] - at, "%s%s = %s", a ? ", " : "", s->axis[a].key,
                                   s->axis[a].text[bn_sweep_index(s, l * along->count, a)]);
        line[l] = (bn_chart_line){ .label = text[l],
                                   .x = along->number,
                                   .y = values + l * along->count,
                                   .count = along->count,
                                   .markers = along->count <= FEW };
    }
    label_axis(x, along);
    label(y, name, unit_of(s, name));
    const bn_chart chart = { .title = name, .x_label = x, .y_label = y, .lines = line, .count = lines };
    bn_html_chart(page, &chart);
    return bn_chart_write(s->cli->ctx, path, &chart);
}

/* A result over two keys at equal distances. */
static bn_status draw_map(const bn_sweep *s, const char *path, const char *name, const double *values, bn_string *page)
{
    const bn_sweep_axis *y = &s->axis[0], *x = &s->axis[1];
    char title[4 * NAME_BYTES];
    snprintf(title, sizeof title, "%.120s over %.120s (across) and %.120s", name, x->key, y->key);
    bn_string_add(page, "<figure>\n<img src=\"");
    bn_html_address(page, name);
    bn_html_add(page, ".png\" alt=\"Map of %s\">\n</figure>\n", title);
    return bn_picture_write(s->cli->ctx, path,
                            &(bn_picture){ .n = { (uint32_t)x->count, (uint32_t)y->count },
                                           .origin = { x->number[0], y->number[0] },
                                           .h = { (x->number[x->count - 1] - x->number[0]) / (double)(x->count - 1),
                                                  (y->number[y->count - 1] - y->number[0]) / (double)(y->count - 1) },
                                           .nodes = true,
                                           .values = values,
                                           .map = BN_MAP_SEQUENTIAL,
                                           .title = title,
                                           .name = name,
                                           .unit = unit_of(s, name) });
}

/* The result that is sought over the evaluations, and the best so far. */
static bn_status draw_convergence(const bn_sweep *s, bn_string *page)
{
    const bn_path path = bn_path_join(s->out, "convergence.png");
    char y[2 * NAME_BYTES];
    double *values = calloc(3 * s->points, sizeof *values), *best = values + s->points, *x = best + s->points;
    bn_status st = values ? BN_OK : bn_fail(s->cli->ctx, BN_MEMORY, "no memory to draw %s", s->goal);
    for (size_t p = 0; st == BN_OK && p < s->points; p++) {
        values[p] = bn_sweep_goal(s, p);
        best[p] = p == 0 ? values[p] : s->most ? fmax(best[p - 1], values[p]) : fmin(best[p - 1], values[p]);
        x[p] = (double)(p + 1);
    }
    label(y, s->goal, unit_of(s, s->goal));
    const bn_chart_line lines[] = { { s->most ? "largest so far" : "smallest so far", x, best, s->points, false, NULL },
                                    { "evaluation", x, values, s->points, true, NULL } };
    const bn_chart chart = { .title = s->goal, .x_label = "evaluation", .y_label = y, .lines = lines, .count = 2 };
    if (st == BN_OK) {
        bn_html_chart(page, &chart);
        st = bn_chart_write(s->cli->ctx, path.text, &chart);
    }
    say(s, st, &path);
    free(values);
    return st;
}

/* One picture a result: a chart, or a map where there would be too many lines. */
static bn_status draw(const bn_sweep *s, const char *name, bn_string *page)
{
    char file[2 * NAME_BYTES];
    const bool zip = s->zip;
    const size_t lines = zip ? 1 : s->points / s->axis[s->axis_count - 1].count;
    const bool map = !zip && s->axis_count == 2 && s->axis[0].even && s->axis[1].even && lines > 2 &&
                     s->axis[1].count > 2 && lines > LINES / 2 && s->axis[0].number[0] < s->axis[0].number[1] &&
                     s->axis[1].number[0] < s->axis[1].number[1];
    if (s->points < 2 || (!map && lines > LINES))
        return BN_OK;
    snprintf(file, sizeof file, "%.120s.png", name);
    const bn_path path = bn_path_join(s->out, file);
    double *values = calloc(s->points, sizeof *values);
    bn_status st = values ? BN_OK : bn_fail(s->cli->ctx, BN_MEMORY, "no memory to draw %s", name);
    size_t there = 0;
    for (size_t p = 0; st == BN_OK && p < s->points; p++) {
        values[p] = bn_json_number(json_object_get(s->summary[p], "results"), name);
        there += isfinite(values[p]);
    }
    if (st == BN_OK && there >= 2) {
        st = map ? draw_map(s, path.text, name, values, page) : draw_lines(s, path.text, name, values, page);
        say(s, st, &path);
    }
    free(values);
    return st;
}

/* --json: every point with its keys and results. */
static bn_status print_json(const bn_sweep *s)
{
    json_t *points = json_array();
    for (size_t p = 0; p < s->points; p++) {
        json_t *keys = json_object(), *results = json_object_get(s->summary[p], "results");
        for (size_t a = 0; a < s->axis_count; a++)
            if (json_object_set_new(keys, s->axis[a].key, bn_json_text(s->axis[a].text[bn_sweep_index(s, p, a)])) != 0)
                break;
        json_t *point = json_pack("{s:o, s:O?, s:o}", "keys", keys, "results", results, "reason",
                                  s->reason[p] ? bn_json_text(s->reason[p]) : json_null());
        if (!point || json_array_append_new(points, point) != 0) {
            json_decref(points);
            return bn_fail(s->cli->ctx, BN_MEMORY, "no memory for the document of a sweep");
        }
    }
    size_t best = 0;
    json_t *document = json_pack("{s:o, s:s}", "points", points, "folder", s->out);
    if (document && s->goal[0] && bn_sweep_best(s, &best) &&
        json_object_set_new(document, "best", json_integer((json_int_t)best)) != 0) {
        json_decref(document);
        document = NULL;
    }
    return bn_json_print(s->cli, document);
}

/* A point in the report: its keys, its results, and the page of its run or why there is none. */
static void add_point(const bn_sweep *s, size_t p, char names[RESULTS][NAME_BYTES], size_t count, bn_string *page)
{
    bn_string_add(page, "<tr><td>");
    if (access(bn_sweep_path(s, p, "report.html").text, F_OK) == 0)
        bn_string_add(page, "<a href=\"points/%04zu/report.html\">point %zu</a>", p + 1, p + 1);
    bn_string_add(page, "</td>");
    for (size_t a = 0; a < s->axis_count; a++)
        bn_html_add(page, "<th scope=\"row\">%s</th>", s->axis[a].text[bn_sweep_index(s, p, a)]);
    for (size_t i = 0; i < count; i++) {
        bn_string_add(page, "<td>");
        bn_html_number(page, bn_json_number(json_object_get(s->summary[p], "results"), names[i]));
        bn_string_add(page, "</td>");
    }
    bn_html_add(page, "<td>%s</td></tr>\n", s->reason[p]);
}

static bn_status write_report(const bn_sweep *s, char names[RESULTS][NAME_BYTES], size_t count, bn_string *page,
                              bn_string *charts)
{
    const bn_path path = bn_path_join(s->out, "report.html");
    char head[2 * NAME_BYTES];
    bn_html_heading(page, "Points");
    bn_string_add(page,
                  "<p>%zu of %zu; all: <a href=\"sweep.csv\">sweep.csv</a></p>\n<div class=\"wide\">\n<table>\n<tr><th "
                  "scope=\"col\">run</th>",
                  s->points < ROWS_SHOWN ? s->points : ROWS_SHOWN, s->points);
    for (size_t i = 0; i < s->axis_count + count; i++) { /* values of keys have their units with them */
        const bool key = i < s->axis_count;
        label(head, key ? s->axis[i].key : names[i - s->axis_count], key ? "" : unit_of(s, names[i - s->axis_count]));
        bn_html_add(page, "<th scope=\"col\">%s</th>", head);
    }
    bn_string_add(page, "<th scope=\"col\">why it failed</th></tr>\n");
    for (size_t p = 0; p < s->points && p < ROWS_SHOWN; p++)
        add_point(s, p, names, count, page);
    bn_string_add(page, "</table>\n</div>\n");
    bn_html_heading(page, "Charts");
    bn_string_add(page, "<div class=\"charts\">\n%s</div>\n", bn_string_text(charts));
    bn_html_end(page);
    bn_status st = !page->failed && !charts->failed
                       ? bn_file_write(s->cli->ctx, path.text, bn_string_text(page), page->bytes)
                       : bn_fail(s->cli->ctx, BN_MEMORY, "no memory for the report of a sweep");
    say(s, st, &path);
    return st;
}

bn_status bn_sweep_write(const bn_sweep *s)
{
    char names[RESULTS][NAME_BYTES], title[2 * NAME_BYTES];
    const char *file = strrchr(s->cli->options->args[0], '/');
    size_t count = 0;
    bn_string page = { 0 }, charts = { 0 };
    bn_status st = BN_OK;
    BN_TRY(choose_results(s, names, &count));
    BN_TRY(write_table(s, names, count));
    snprintf(title, sizeof title, "Sweep of %.200s", file ? file + 1 : s->cli->options->args[0]);
    bn_html_begin(&page, title);
    if (s->goal[0])
        BN_GO(draw_convergence(s, &charts));
    for (size_t i = 0; !s->goal[0] && i < count; i++)
        BN_GO(draw(s, names[i], &charts));
    BN_GO(write_report(s, names, count, &page, &charts));
    if (s->cli->options->run.json)
        st = print_json(s);
out:
    bn_string_clear(&page);
    bn_string_clear(&charts);
    return st;
}
