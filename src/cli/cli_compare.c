/* cli_compare.c: `binnacle compare`: two runs (folders), or two files of fields, side by side: which keys of the case,
 * results, tables and fields differ, and by how much. */
#include "cli/commands.h"

#include "case/string_buffer.h"
#include "cli/cli_plot.h"
#include "cli/cli_text.h"
#include "io/csv_read.h"
#include "io/file.h"
#include "io/field_file.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MOST = 1 << 28, NAME_BYTES = 192, CASE_LINES = 8192 };

typedef struct comparison {
    const bn_cli *cli;
    const char *folder[2];
    double tolerance; /* HUGE_VAL: none was given */
    size_t beyond;    /* how many things differ by more */
    bn_text_table rows;
    bn_string pictures; /* their names, a line each */
    json_t *document;
} comparison;

/* How far values lie apart: of all, of the largest, and where that is. */
typedef struct distance {
    double sum, squares, size, size_squares, largest, scale;
    size_t at, count;
} distance;

static void add_distance(distance *d, double a, double b, size_t at)
{
    const double difference = isnan(a) && isnan(b) ? 0
                              : a == b             ? 0
                                                   : fabs(a - b),
                 apart = isnan(difference) ? HUGE_VAL : difference; /* one of them is NaN */
    d->sum += apart;
    d->squares += apart * apart;
    d->size += isnan(a) ? 0 : fabs(a);
    d->size_squares += isnan(a) ? 0 : a * a;
    d->scale = fabs(a) > d->scale ? fabs(a) : d->scale;
    if (apart > d->largest) {
        d->largest = apart;
        d->at = at;
    }
    d->count++;
}

/* a / b, and what differs from nothing is infinitely far from it. */
static double relative(double a, double b) { return a == 0 ? 0 : b > 0 ? a / b : HUGE_VAL; }

/* One row of the answer, for people and for scripts; `b` may be empty. share -1: of texts. */
static bn_status tell(comparison *c, const char *list, const char *name, const char *a, const char *b, double share,
                      const distance *d)
{
    const bool beyond = share > c->tolerance;
    char text[BN_SHORT_TEXT] = "";
    json_t *items = json_object_get(c->document, list),
           *item = json_pack("{s:s, s:s, s:s, s:o, s:b}", "name", name, "first", a, "second", b, "relative",
                             bn_json_real(share), "beyond_tolerance", beyond);
    if (!item || json_array_append_new(items, item) != 0)
        return bn_fail(c->cli->ctx, BN_MEMORY, "no memory to compare %s", name);
    if (d && (json_object_set_new(item, "l1", bn_json_real(relative(d->sum, d->size))) != 0 ||
              json_object_set_new(item, "l2", bn_json_real(sqrt(relative(d->squares, d->size_squares)))) != 0 ||
              json_object_set_new(item, "largest", bn_json_real(d->largest)) != 0))
        return bn_fail(c->cli->ctx, BN_MEMORY, "no memory to compare %s", name);
    c->beyond += beyond;
    if (isfinite(share) && share >= 0)
        snprintf(text, sizeof text, "%.3g%s", share, beyond ? "  " : "");
    return bn_text_table_add(c->cli->ctx, &c->rows, "  %.120s\t%.120s\t%.120s\t%s%s", name, a, b, text,
                             beyond ? "beyond the tolerance" : "");
}

/* Prints what has been told since the last heading; nothing differs: says so. */
static void print_rows(comparison *c, const char *heading, const char *none)
{
    if (!c->cli->options->run.json) {
        printf("%s%s\n", heading, c->rows.rows ? "" : none);
        bn_text_table_print(&c->rows);
    }
    bn_text_table_release(&c->rows);
    c->rows = (bn_text_table){ .columns = 4 };
}

/* The keys of a written case as "table.key = value" in fresh memory, a line each. */
static bn_status read_keys(comparison *c, int which, char **text, char **lines, size_t *count)
{
    char *raw = NULL, table[NAME_BYTES] = "", *save = NULL;
    size_t bytes = 0, room, used = 0;
    BN_TRY(bn_file_read(c->cli->ctx, bn_path_join(c->folder[which], "case.toml").text, FILE_MOST, &raw, &bytes));
    room = bytes + 1;
    for (size_t i = 0; i < bytes; i++)
        room += raw[i] == '\n' ? NAME_BYTES : 0;
    *text = malloc(room);
    *count = 0;
    int item = 0;
    char last[NAME_BYTES] = "";
    for (char *line = *text ? strtok_r(raw, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
        if (line[0] == '[') {
            const bool list = line[1] == '[';
            const char *name = line + 1 + list;
            const int length = (int)strcspn(name, "]");
            item = list && strlen(last) == (size_t)length && strncmp(last, name, (size_t)length) == 0 ? item + 1 : 1;
            snprintf(last, sizeof last, "%.*s", length, name);
            snprintf(table, sizeof table, list ? "%.*s.%d" : "%.*s", length < 128 ? length : 128, name, item);
        } else if (line[0] != '#' && *count < CASE_LINES) {
            lines[(*count)++] = *text + used;
            char *unit = strchr(line, '"') ? NULL : strstr(line, " # "); /* a comment behind a number */
            if (unit)
                memmove(unit + 1, unit + 3, strlen(unit + 3) + 1);
            used += (size_t)snprintf(*text + used, room - used, "%s.%s", table, line) + 1;
        }
    }
    free(raw);
    return *text ? BN_OK : bn_fail(c->cli->ctx, BN_MEMORY, "no memory for the case of %s", c->folder[which]);
}

static const char *find_key(char *const *lines, size_t count, const char *like)
{
    const size_t length = strcspn(like, "=");
    for (size_t i = 0; i < count; i++)
        if (strncmp(lines[i], like, length) == 0 && lines[i][length] == '=')
            return lines[i];
    return NULL;
}

static const char *value_of(const char *line) { return line ? line + strcspn(line, "=") + 2 : "-"; }

static bn_status compare_cases(comparison *c)
{
    char *text[2] = { NULL, NULL }, **lines[2];
    size_t count[2] = { 0, 0 };
    bn_status st = BN_OK;
    for (int k = 0; k < 2; k++)
        lines[k] = calloc(CASE_LINES, sizeof *lines[k]);
    if (!lines[0] || !lines[1])
        BN_GO(bn_fail(c->cli->ctx, BN_MEMORY, "no memory for two cases"));
    for (int k = 0; k < 2; k++)
        BN_GO(read_keys(c, k, &text[k], lines[k], &count[k]));
    for (int k = 0; k < 2; k++) /* keys of the first, then those that the second alone has */
        for (size_t i = 0; i < count[k]; i++) {
            const char *other = find_key(lines[1 - k], count[1 - k], lines[k][i]);
            char name[NAME_BYTES];
            if (k == 1 ? other != NULL : other && strcmp(other, lines[k][i]) == 0)
                continue;
            snprintf(name, sizeof name, "%.*s", (int)strcspn(lines[k][i], " ="), lines[k][i]);
            BN_GO(
                tell(c, "case", name, value_of(k ? other : lines[k][i]), value_of(k ? lines[k][i] : other), -1, NULL));
        }
    print_rows(c, "case:", " no key differs");
out:
    for (int k = 0; k < 2; k++) {
        free(text[k]);
        free(lines[k]);
    }
    return st;
}

static bn_status compare_results(comparison *c, json_t *const summary[2])
{
    json_t *all[2] = { json_object_get(summary[0], "results"), json_object_get(summary[1], "results") };
    const char *name;
    json_t *value;
    json_object_foreach(all[0], name, value)
    {
        char text[2][BN_SHORT_TEXT] = { "-", "-" };
        double number[2];
        for (int k = 0; k < 2; k++) {
            number[k] = bn_json_number(all[k], name); /* NaN: there is none */
            if (!isnan(number[k]))
                snprintf(text[k], sizeof text[k], "%.9g", number[k]);
        }
        distance d = { 0 };
        add_distance(&d, number[0], number[1], 0);
        if (d.largest > 0)
            BN_TRY(tell(c, "results", name, text[0], text[1], relative(d.largest, d.scale), NULL));
    }
    json_object_foreach(all[1], name, value)
    {
        char text[BN_SHORT_TEXT] = "-";
        if (json_is_number(value))
            snprintf(text, sizeof text, "%.9g", json_number_value(value));
        if (!json_object_get(all[0], name))
            BN_TRY(tell(c, "results", name, "-", text, HUGE_VAL, NULL));
    }
    print_rows(c, "results (first, second, difference over the first):", " all equal");
    return BN_OK;
}

/* Tables of both runs. Those that hold texts are compared as such: *texts is true, and *equal says whether they are. */
static bn_status read_tables(const comparison *c, const char *name, bn_csv_table table[2], bool *texts, bool *equal)
{
    char *text[2] = { NULL, NULL };
    size_t bytes[2];
    bn_status st = BN_OK;
    *texts = *equal = false;
    for (int k = 0; k < 2; k++)
        BN_GO(bn_file_read(c->cli->ctx, bn_path_join(c->folder[k], name).text, FILE_MOST, &text[k], &bytes[k]));
    *equal = strcmp(text[0], text[1]) == 0;
    for (int k = 0; k < 2 && st == BN_OK; k++)
        st = bn_csv_parse(c->cli->ctx, bn_path_join(c->folder[k], name).text, text[k], &table[k]);
    if (st == BN_IO) {
        bn_error_clear(c->cli->ctx);
        *texts = true;
        st = BN_OK;
    }
out:
    for (int k = 0; k < 2; k++)
        free(text[k]);
    return st;
}

/* Columns of a table that both runs wrote, as far as their rows are of the same steps or places. */
static bn_status compare_table(comparison *c, const char *name)
{
    bn_csv_table t[2] = { { 0 }, { 0 } };
    bool texts = false, equal = false;
    bn_status st = BN_OK;
    BN_GO(read_tables(c, name, t, &texts, &equal));
    if (texts) {
        if (!equal)
            st = tell(c, "tables", name, "texts that differ", "", HUGE_VAL, NULL);
        goto out;
    }
    size_t rows = 0;
    bool alike = t[0].columns == t[1].columns;
    for (size_t i = 0; alike && i < t[0].columns; i++)
        alike = strcmp(t[0].heads[i], t[1].heads[i]) == 0;
    while (alike && rows < t[0].rows && rows < t[1].rows &&
           t[0].values[rows * t[0].columns] == t[1].values[rows * t[0].columns])
        rows++;
    if (rows < t[0].rows || rows < t[1].rows) {
        char a[BN_SHORT_TEXT], b[BN_SHORT_TEXT];
        snprintf(a, sizeof a, "%zu rows", t[0].rows);
        snprintf(b, sizeof b, "%zu, %zu alike", t[1].rows, rows);
        BN_GO(tell(c, "tables", name, a, b, HUGE_VAL, NULL));
    }
    for (size_t i = 1; rows > 0 && i < t[0].columns; i++) {
        distance d = { 0 };
        char label[NAME_BYTES], where[BN_TEXT_TABLE_CELL];
        for (size_t r = 0; r < rows; r++)
            add_distance(&d, t[0].values[r * t[0].columns + i], t[1].values[r * t[0].columns + i], r);
        if (d.largest == 0)
            continue;
        snprintf(label, sizeof label, "%.80s: %.80s", name, t[0].heads[i]);
        snprintf(where, sizeof where, "largest at %.60s = %.9g", t[0].heads[0], t[0].values[d.at * t[0].columns]);
        BN_GO(tell(c, "tables", label, where, "", relative(d.largest, d.scale), &d));
    }
out:
    for (int k = 0; k < 2; k++)
        bn_csv_table_free(&t[k]);
    return st;
}

/* The array of that name; NULL: there is none. */
static const bn_vtk_array *find_array(const bn_vtk_image *image, const char *name)
{
    for (size_t i = 0; i < image->count; i++)
        if (strcmp(image->arrays[i].name, name) == 0)
            return &image->arrays[i];
    return NULL;
}

/* Whether the values of two images of one size have the same places, as far as files round them. */
static bool same_places(const bn_vtk_image image[2])
{
    bool same = image[0].nodes == image[1].nodes && image[0].hexagons == image[1].hexagons;
    for (int d = 0; same && d < image[0].dims; d++) {
        const double step = image[0].h[d], apart = fabs(image[1].origin[d] - image[0].origin[d]);
        const double *a = image[0].place[d], *b = image[1].place[d];
        same = fabs(image[1].h[d] - step) * image[0].n[d] <= 1e-3 * step && apart <= 1e-3 * step && !a == !b;
        for (uint32_t i = 0; a && same && i < image[0].n[d]; i++)
            same = fabs(a[i] - b[i]) <= 1e-3 * step;
    }
    return same;
}

/* Where value `i` of an image lies: "(0.25, 0.5)" in metres. */
static void describe_place(const bn_vtk_image *image, size_t i, char text[BN_TEXT_TABLE_CELL])
{
    size_t at = 0;
    uint32_t index[3];
    for (int k = 0; k < 3; k++) {
        index[k] = (uint32_t)(i % image->n[k]);
        i /= image->n[k];
    }
    for (int k = 0; k < image->dims; k++) {
        const double shift = (image->nodes ? 0 : 0.5) + (image->hexagons && k == 0 && index[1] % 2 ? 0.5 : 0);
        at += (size_t)snprintf(text + at, BN_TEXT_TABLE_CELL - at, "%s%.4g", k ? ", " : "largest at (",
                               image->place[k] ? image->place[k][index[k]]
                                               : image->origin[k] + (image->first[k] + index[k] + shift) * image->h[k]);
    }
    snprintf(text + at, BN_TEXT_TABLE_CELL - at, ") m");
}

static bn_status draw_difference(comparison *c, const char *name, const bn_vtk_image *image, const bn_vtk_array *a,
                                 const bn_vtk_array *b, size_t component)
{
    const size_t plane = (size_t)image->n[0] * image->n[1], points = plane * image->n[2];
    const size_t first = image->n[2] / 2 * plane; /* in three dimensions the middle of z */
    const double shift = image->nodes ? 0 : 0.5;
    char file[2 * NAME_BYTES], title[2 * NAME_BYTES], part[BN_SHORT_TEXT] = "", of[BN_SHORT_TEXT] = "", where[64] = "";
    double *values = calloc(plane, sizeof *values);
    bn_picture picture = { .map = BN_MAP_DIVERGING, .title = title, .name = a->name, .unit = a->unit };
    if (a->components > 1) {
        snprintf(part, sizeof part, "-%zu", component + 1);
        snprintf(of, sizeof of, " %zu", component + 1);
    }
    if (image->dims == 3)
        snprintf(where, sizeof where, ", z = %.4g m", image->origin[2] + (image->n[2] / 2 + shift) * image->h[2]);
    snprintf(file, sizeof file, "%.120s%s%.120s%s-difference.png", name, name[0] ? "-" : "", a->name, part);
    snprintf(title, sizeof title, "%.120s%s: second minus first%s%s%.120s", a->name, of, where, name[0] ? "\n" : "",
             name);
    const bn_path path = bn_path_join(c->cli->options->run.out, file);
    bn_status st = values ? BN_OK : bn_fail(c->cli->ctx, BN_MEMORY, "no memory to draw %s", name);
    for (size_t i = 0; st == BN_OK && i < plane; i++)
        values[i] = bn_vtk_value(b, first + i + component * points) - bn_vtk_value(a, first + i + component * points);
    if (st == BN_OK)
        st = bn_plot_plane(c->cli->ctx, image, (const int[]){ 0, 1 }, &values, &picture);
    if (st == BN_OK)
        st = bn_picture_write(c->cli->ctx, path.text, &picture);
    if (st == BN_OK && !c->cli->options->run.json)
        bn_string_add(&c->pictures, "  %s\n", path.text);
    free(values);
    return st;
}

static bn_status compare_arrays(comparison *c, const char *name, const bn_vtk_image image[2], const bn_vtk_array *a)
{
    const size_t points = (size_t)image[0].n[0] * image[0].n[1] * image[0].n[2];
    const bn_vtk_array *b = find_array(&image[1], a->name);
    char label[NAME_BYTES], where[BN_TEXT_TABLE_CELL];
    snprintf(label, sizeof label, "%.80s: %.80s", name, a->name);
    if (!b || b->components != a->components)
        return tell(c, "fields", label, b ? "other components" : "in the first alone", "", HUGE_VAL, NULL);
    for (size_t k = 0; k < (size_t)a->components; k++) {
        distance d = { 0 };
        for (size_t i = 0; i < points; i++)
            add_distance(&d, bn_vtk_value(a, i + k * points), bn_vtk_value(b, i + k * points), i);
        if (a->components > 1)
            snprintf(label, sizeof label, "%.80s: %.80s %zu", name, a->name, k + 1);
        describe_place(&image[0], d.at, where);
        char norms[BN_TEXT_TABLE_CELL];
        snprintf(norms, sizeof norms, "L1 %.3g, L2 %.3g, largest", relative(d.sum, d.size),
                 sqrt(relative(d.squares, d.size_squares)));
        if (d.largest > 0)
            BN_TRY(tell(c, "fields", label, where, norms, relative(d.largest, d.scale), &d));
        if (d.largest > 0 && c->cli->options->run.out && image[0].dims >= 2)
            BN_TRY(draw_difference(c, name, &image[0], a, b, k));
    }
    return BN_OK;
}

static bn_status compare_images(comparison *c, const char *name, const char *const path[2])
{
    bn_vtk_image image[2] = { { 0 }, { 0 } };
    size_t times[2] = { 0 };
    bn_status st = BN_OK;
    for (int k = 0; k < 2; k++)
        BN_GO(bn_field_file_times(c->cli->ctx, path[k], &times[k]));
    for (int k = 0; k < 2; k++)
        BN_GO(bn_field_file_read(c->cli->ctx, path[k], c->cli->options->plot.field, times[k] - 1, &image[k]));
    if (memcmp(image[0].n, image[1].n, sizeof image[0].n) != 0) {
        char size[2][BN_SHORT_TEXT];
        for (int k = 0; k < 2; k++)
            snprintf(size[k], sizeof size[k], "%u x %u x %u", image[k].n[0], image[k].n[1], image[k].n[2]);
        BN_GO(tell(c, "fields", name, size[0], size[1], HUGE_VAL, NULL));
    } else {
        if (!same_places(image))
            BN_GO(tell(c, "fields", name, "other places", "compared value by value", HUGE_VAL, NULL));
        for (size_t i = 0; i < image[1].count; i++)
            if (!find_array(&image[0], image[1].arrays[i].name) &&
                (!c->cli->options->plot.field || strcmp(c->cli->options->plot.field, image[1].arrays[i].name) == 0))
                BN_GO(tell(c, "fields", image[1].arrays[i].name, "in the second alone", "", HUGE_VAL, NULL));
        for (size_t i = 0; i < image[0].count; i++)
            if (!c->cli->options->plot.field || strcmp(c->cli->options->plot.field, image[0].arrays[i].name) == 0)
                BN_GO(compare_arrays(c, name, image, &image[0].arrays[i]));
    }
out:
    for (int k = 0; k < 2; k++)
        bn_vtk_free(&image[k]);
    return st;
}

/* Does `act` for every file of the first folder's `sub`, in order of their names; those that one folder lacks are
 * reported. */
static bn_status each_file(comparison *c, const char *sub, const char *list,
                           bn_status (*act)(comparison *, const char *sub, const char *name))
{
    bn_status st = BN_OK;
    for (int side = 0; side < 2; side++) {
        struct dirent **names = NULL;
        const int count = scandir(bn_path_join(c->folder[side], sub).text, &names, NULL, alphasort);
        for (int i = 0; i < count; i++) {
            char name[2 * NAME_BYTES];
            struct stat info;
            const bool table = bn_path_ends(names[i]->d_name, ".csv");
            snprintf(name, sizeof name, "%s%s%.200s", sub, sub[0] ? "/" : "", names[i]->d_name);
            if (st == BN_OK && (strcmp(list, "tables") == 0 ? table : bn_vtk_is_image(names[i]->d_name))) {
                if (stat(bn_path_join(c->folder[1 - side], name).text, &info) != 0)
                    st = tell(c, list, name, side ? "in the second alone" : "in the first alone", "", HUGE_VAL, NULL);
                else if (side == 0)
                    st = act(c, sub, name);
            }
            free(names[i]);
        }
        free(names);
    }
    return st;
}

static bn_status act_table(comparison *c, const char *sub, const char *name)
{
    (void)sub;
    return compare_table(c, name);
}

static bn_status act_image(comparison *c, const char *sub, const char *name)
{
    const bn_path path[2] = { bn_path_join(c->folder[0], name), bn_path_join(c->folder[1], name) };
    return compare_images(c, name + (sub[0] ? strlen(sub) + 1 : 0),
                          (const char *const[]){ path[0].text, path[1].text });
}

static bn_status read_summary(const comparison *c, int which, json_t **out)
{
    const bn_path path = bn_path_join(c->folder[which], "summary.json");
    json_error_t error;
    *out = json_load_file(path.text, 0, &error);
    return *out ? BN_OK
                : bn_fail(c->cli->ctx, BN_IO, "%s is not the folder of a run: %s: %s", c->folder[which], path.text,
                          error.text);
}

static bn_status compare_runs(comparison *c)
{
    json_t *summary[2] = { NULL, NULL };
    bn_status st = BN_OK;
    for (int k = 0; k < 2; k++)
        BN_GO(read_summary(c, k, &summary[k]));
    const char *solver[2];
    for (int k = 0; k < 2; k++)
        solver[k] = json_string_value(json_object_get(summary[k], "solver"));
    if (!solver[0] || !solver[1] || strcmp(solver[0], solver[1]) != 0)
        BN_GO(bn_fail(c->cli->ctx, BN_USAGE, "%s is a run of %s, %s one of %s: two of one solver can be compared",
                      c->folder[0], solver[0] ? solver[0] : "no solver", c->folder[1],
                      solver[1] ? solver[1] : "no solver"));
    BN_GO(compare_cases(c));
    BN_GO(compare_results(c, summary));
    BN_GO(each_file(c, "", "tables", act_table));
    print_rows(c, "tables (difference over the column's largest value):", " all equal");
    BN_GO(each_file(c, "", "fields", act_image));
    BN_GO(each_file(c, "fields", "fields", act_image));
    print_rows(c, "fields (difference over the first's largest value):", " all equal");
out:
    for (int k = 0; k < 2; k++)
        json_decref(summary[k]);
    return st;
}

bn_status bn_cli_compare(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    comparison c = { .cli = cli, .folder = { o->args[0], o->args[1] }, .tolerance = HUGE_VAL, .rows.columns = 4 };
    char *end = NULL;
    bn_status st = BN_OK;
    if (o->tolerance && (!((c.tolerance = strtod(o->tolerance, &end)) >= 0) || *end != '\0'))
        return bn_fail(cli->ctx, BN_USAGE, "--tolerance %s: expected a number, 0 or more, like 1e-6", o->tolerance);
    if (!(c.document = json_pack("{s:[], s:[], s:[], s:[]}", "case", "results", "tables", "fields")))
        return bn_fail(cli->ctx, BN_MEMORY, "no memory to compare runs");
    if (o->run.out)
        BN_GO(bn_directory_create(cli->ctx, o->run.out));
    if (bn_field_file_is(o->args[0]) && bn_field_file_is(o->args[1])) {
        BN_GO(compare_images(&c, "", o->args));
        print_rows(&c, "fields (difference over the first's largest value):", " all equal");
    } else {
        BN_GO(compare_runs(&c));
    }
    if (c.pictures.failed)
        BN_GO(bn_fail(cli->ctx, BN_MEMORY, "no memory for the names of pictures"));
    if (c.pictures.bytes)
        printf("pictures of the differences:\n%s", bn_string_text(&c.pictures));
    if (o->run.json) {
        json_t *document = c.document;
        c.document = NULL;
        BN_GO(bn_json_print(cli, document));
    }
    if (c.beyond > 0)
        st = bn_fail(cli->ctx, BN_MISMATCH, "%zu %s by more than the tolerance of %g", c.beyond,
                     c.beyond == 1 ? "thing differs" : "things differ", c.tolerance);
out:
    bn_text_table_release(&c.rows);
    bn_string_clear(&c.pictures);
    json_decref(c.document);
    return st;
}
