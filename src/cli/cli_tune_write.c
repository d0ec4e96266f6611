/* cli_tune_write.c: what `binnacle tune` found: a table, tune.csv, tune.json, and charts. */
#include "cli/cli_text.h"
#include "cli/cli_tune.h"

#include "io/file.h"
#include "plot/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the printed table: every shape would be too much where hundreds were tried. */
enum { BEST_SHOWN = 6, SHOWN_MOST = 40, BLOCK = 8, FEW_STEPS = 5 };

typedef struct column {
    size_t side[3];
} column;

static const char *const verdicts[] = {
    "not tried", "ok", "wrong", "failed", "crashed", "skipped"
}; /* bn_tune_verdict */

static const bn_tune_shape *find_shape(const bn_tune_kernel *k, const size_t side[3])
{
    for (size_t s = 0; s < k->count; s++)
        if (memcmp(k->shapes[s].side, side, sizeof k->shapes[s].side) == 0)
            return &k->shapes[s];
    return NULL;
}

/* How many shapes of the kernel are faster. */
static size_t rank_of(const bn_tune_kernel *k, const bn_tune_shape *s)
{
    size_t rank = 0;
    for (size_t i = 0; i < k->count; i++)
        rank += k->shapes[i].verdict == BN_TUNE_OK && bn_tune_median(&k->shapes[i]) < bn_tune_median(s);
    return rank;
}

static int by_size(const void *a, const void *b)
{
    const size_t *x = ((const column *)a)->side, *y = ((const column *)b)->side;
    const size_t items_x = x[0] * x[1] * x[2], items_y = y[0] * y[1] * y[2];
    if (items_x != items_y)
        return items_x < items_y ? -1 : 1;
    for (int d = 2; d >= 0; d--)
        if (x[d] != y[d])
            return x[d] < y[d] ? -1 : 1;
    return 0;
}

/* Each kernel's default and its fastest shapes. */
static size_t choose_columns(const bn_tune *t, column out[SHOWN_MOST])
{
    size_t count = 0;
    for (size_t k = 0; k < t->count; k++)
        for (size_t s = 0; s < t->kernels[k].count && count < SHOWN_MOST; s++) {
            const bn_tune_shape *shape = &t->kernels[k].shapes[s];
            bool shown = s == 0 || s == t->kernels[k].best ||
                         (shape->verdict == BN_TUNE_OK && rank_of(&t->kernels[k], shape) < BEST_SHOWN);
            for (size_t c = 0; c < count; c++)
                shown = shown && memcmp(out[c].side, shape->side, sizeof shape->side) != 0;
            if (shown && !t->kernels[k].skipped[0])
                memcpy(out[count++].side, shape->side, sizeof shape->side);
        }
    qsort(out, count, sizeof *out, by_size);
    return count;
}

static void time_text(char *text, size_t room, double seconds)
{
    if (!(seconds >= 0))
        snprintf(text, room, "-");
    else if (seconds < 1e-3)
        snprintf(text, room, "%.*f us", seconds < 99.95e-6 ? 1 : 0, 1e6 * seconds);
    else if (seconds < 1)
        snprintf(text, room, "%.*f ms", seconds < 99.95e-3 ? 2 : 0, 1e3 * seconds);
    else
        snprintf(text, room, "%.2f s", seconds);
}

static void cell_text(char cell[BN_TEXT_TABLE_CELL], const bn_tune_kernel *k, const bn_tune_shape *s)
{
    char time[32];
    if (!s || s->verdict != BN_TUNE_OK) {
        snprintf(cell, BN_TEXT_TABLE_CELL, "%s", !s || s->verdict == BN_TUNE_UNTRIED ? "-" : verdicts[s->verdict]);
        return;
    }
    time_text(time, sizeof time, bn_tune_median(s));
    const char *mark = s == &k->shapes[k->best] ? "*" : s->tied ? "=" : " ";
    if (s->count > 1)
        snprintf(cell, BN_TEXT_TABLE_CELL, "%s (%.0f %%)%s", time, 100 * bn_tune_spread(s), mark);
    else
        snprintf(cell, BN_TEXT_TABLE_CELL, "%s%s", time, mark);
}

static bn_status print_block(const bn_tune *t, const column *columns, size_t count)
{
    bn_text_table table = { .columns = count + 1, .right = ~1u };
    char(*cells)[BN_TEXT_TABLE_CELL] = bn_text_table_row(t->cli->ctx, &table);
    if (cells)
        snprintf(cells[0], BN_TEXT_TABLE_CELL, "kernel");
    for (size_t c = 0; cells && c < count; c++)
        bn_tune_shape_text(cells[c + 1], columns[c].side);
    for (size_t k = 0; cells && k < t->count; k++) {
        const bn_tune_kernel *kernel = &t->kernels[k];
        bool any = false;
        for (size_t c = 0; c < count; c++)
            any = any || find_shape(kernel, columns[c].side);
        if (!any || kernel->skipped[0] || !(cells = bn_text_table_row(t->cli->ctx, &table)))
            continue;
        snprintf(cells[0], BN_TEXT_TABLE_CELL, "%s", kernel->name);
        for (size_t c = 0; c < count; c++)
            cell_text(cells[c + 1], kernel, find_shape(kernel, columns[c].side));
    }
    if (cells)
        bn_text_table_print(&table);
    bn_text_table_release(&table);
    return cells ? BN_OK : BN_MEMORY;
}

static void print_verdict(const bn_tune_kernel *k)
{
    char text[48], time[32];
    if (k->skipped[0]) {
        printf("%s: skipped: %s\n", k->name, k->skipped);
        return;
    }
    const bn_tune_shape *first = &k->shapes[0], *best = &k->shapes[k->best], *chosen = &k->shapes[k->chosen];
    bn_tune_shape_text(text, first->side);
    time_text(time, sizeof time, bn_tune_median(first));
    printf("%s: default %s: %s", k->name, text, time);
    if (k->best > 0) {
        bn_tune_shape_text(text, best->side);
        time_text(time, sizeof time, bn_tune_median(best));
        printf(", best %s: %s (%+.0f %%)", text, time, 100 * (bn_tune_median(first) / bn_tune_median(best) - 1));
    } else {
        printf(", which is the best");
    }
    const char *joint = ", ties with ";
    for (size_t s = 0; s < k->count; s++)
        if (k->shapes[s].tied) {
            bn_tune_shape_text(text, k->shapes[s].side);
            printf("%s%s", joint, text);
            joint = " ";
        }
    printf("%s\n", chosen == best || !first->tied ? "" : ": the default stays");
    for (size_t s = 0; s < k->count; s++)
        if (k->shapes[s].verdict > BN_TUNE_OK) {
            bn_tune_shape_text(text, k->shapes[s].side);
            printf("  %s %s: %s\n", text, verdicts[k->shapes[s].verdict], k->shapes[s].why);
        }
}

bn_status bn_tune_print(const bn_tune *t)
{
    column columns[SHOWN_MOST];
    char name[BN_TEXT_TABLE_CELL];
    if (t->cli->options->run.json)
        return bn_json_print(t->cli, bn_tune_json(t));
    const size_t count = choose_columns(t, columns);
    bn_text_device(name, t->device);
    printf("%s on %s, %s precision, %zu x %zu x %zu; time of a launch, median of %d (spread), %llu steps each\n",
           t->solver, name, t->precision, t->n[0], t->n[1], t->n[2], (int)BN_TUNE_ROUNDS, t->steps);
    bn_tune_print_variants(t);
    for (size_t c = 0; c < count; c += BLOCK)
        BN_TRY(print_block(t, columns + c, count - c < BLOCK ? count - c : BLOCK));
    printf("* the best, = ties with it: the times overlap\n\n");
    for (size_t k = 0; k < t->count; k++)
        print_verdict(&t->kernels[k]);
    if (t->steps < FEW_STEPS)
        printf("Only %llu steps of the case can be timed: differences of some per cent mean nothing.\n", t->steps);
    if (t->no_gain)
        printf("A whole step is slower with the fastest shapes: the default ones stay.\n");
    char before[32], after[32];
    time_text(before, sizeof before, t->default_step);
    time_text(after, sizeof after, t->tuned_step);
    printf("A step, with the clock in the queue: default %s, tuned %s. %zu shapes tried, %zu wrong, %zu failed; all "
           "others "
           "gave the result of the CPU reference.\nTables and charts: %s\n",
           before, after, t->tried, t->wrong, t->failed, t->out);
    return BN_OK;
}

/* ------------------------------------------------------------------------------------------ files */

json_t *bn_tune_json(const bn_tune *t)
{
    json_t *kernels = json_array();
    for (size_t k = 0; k < t->count; k++) {
        const bn_tune_kernel *kernel = &t->kernels[k];
        json_t *shapes = json_array();
        for (size_t s = 0; s < kernel->count; s++) {
            const bn_tune_shape *shape = &kernel->shapes[s];
            json_array_append_new(shapes, json_pack("{s:[I,I,I], s:s, s:s?, s:o, s:o, s:I, s:b}", "work_group",
                                                    (json_int_t)shape->side[0], (json_int_t)shape->side[1],
                                                    (json_int_t)shape->side[2], "verdict", verdicts[shape->verdict],
                                                    "why", shape->why[0] ? shape->why : NULL, "seconds",
                                                    bn_json_real(bn_tune_median(shape)), "spread",
                                                    bn_json_real(bn_tune_spread(shape)), "measurements",
                                                    (json_int_t)shape->count, "tied", (int)shape->tied));
        }
        const size_t *best = kernel->shapes[kernel->best].side, *chosen = kernel->shapes[kernel->chosen].side;
        json_array_append_new(
            kernels, json_pack("{s:s, s:s?, s:I, s:I, s:I, s:I, s:[I,I,I], s:[I,I,I], s:o}", "kernel", kernel->name,
                               "skipped", kernel->skipped[0] ? kernel->skipped : NULL, "calls",
                               (json_int_t)kernel->calls, "largest", (json_int_t)kernel->largest, "multiple",
                               (json_int_t)kernel->multiple, "local_bytes", (json_int_t)kernel->local_bytes, "best",
                               (json_int_t)best[0], (json_int_t)best[1], (json_int_t)best[2], "chosen",
                               (json_int_t)chosen[0], (json_int_t)chosen[1], (json_int_t)chosen[2], "shapes", shapes));
    }
    json_t *variants = json_array();
    for (size_t i = 0; i < t->variant_count; i++) {
        const bn_tune_variant *v = &t->variants[i];
        json_array_append_new(
            variants,
            json_pack("{s:s, s:s, s:s, s:s, s:s?, s:o, s:o, s:I, s:b, s:b, s:b, s:b}", "key", v->of->key, "value",
                      v->value, "present", v->present, "verdict", verdicts[v->times.verdict], "why",
                      v->times.why[0] ? v->times.why : NULL, "step_seconds", bn_json_real(bn_tune_median(&v->times)),
                      "spread", bn_json_real(bn_tune_spread(&v->times)), "measurements", (json_int_t)v->times.count,
                      "same_bits", (int)v->same, "tied", (int)v->tied, "best", (int)v->best, "chosen", (int)v->chosen));
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:[I,I,I], s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "binnacle",
                     bn_version(), "solver", t->solver, "case", bn_json_text(t->cli->options->args[0]), "device",
                     bn_json_text(t->device->name), "driver", bn_json_text(t->device->driver), "precision",
                     t->precision, "grid", (json_int_t)t->n[0], (json_int_t)t->n[1], (json_int_t)t->n[2], "steps",
                     (json_int_t)t->steps, "default_step_seconds", bn_json_real(t->default_step), "tuned_step_seconds",
                     bn_json_real(t->tuned_step), "seconds", bn_json_real(t->seconds), "kernels", kernels,
                     "plain_step_seconds", bn_json_real(bn_tune_median(&t->plain)), "variants", variants);
}

static bn_status write_json(const bn_tune *t, const char *path)
{
    json_t *root = bn_tune_json(t);
    char *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : NULL;
    json_decref(root);
    if (!text)
        return bn_fail(t->cli->ctx, BN_MEMORY, "no memory for tune.json");
    bn_status st = bn_file_write(t->cli->ctx, path, text, strlen(text));
    free(text);
    return st;
}

static bn_status write_csv(const bn_tune *t, const char *path)
{
    bn_file *file = NULL;
    BN_TRY(bn_file_begin(t->cli->ctx, path, &file));
    FILE *to = bn_file_stream(file);
    fprintf(to, "kernel,x,y,z,work-items,verdict,measurements,median [s],smallest [s],largest [s],best,ties,chosen\n");
    for (size_t k = 0; k < t->count; k++)
        for (size_t s = 0; s < t->kernels[k].count; s++) {
            const bn_tune_kernel *kernel = &t->kernels[k];
            const bn_tune_shape *shape = &kernel->shapes[s];
            const size_t *g = shape->side;
            fprintf(to, "%s,%zu,%zu,%zu,%zu,%s,%zu,", kernel->name, g[0], g[1], g[2], g[0] * g[1] * g[2],
                    kernel->skipped[0] ? "skipped" : verdicts[shape->verdict], shape->count);
            if (shape->count > 0)
                fprintf(to, "%.6g,%.6g,%.6g", bn_tune_median(shape), shape->seconds[0],
                        shape->seconds[shape->count - 1]);
            else
                fputs(",,", to);
            const bool tuned = !kernel->skipped[0];
            fprintf(to, ",%d,%d,%d\n", tuned && s == kernel->best, (int)shape->tied, tuned && s == kernel->chosen);
        }
    return bn_file_commit(&file);
}

/* log2 of the work-items of a group. */
static size_t size_of(const bn_tune_shape *s) { return (size_t)log2((double)(s->side[0] * s->side[1] * s->side[2])); }

/* Puts a shape's time, over that of the fastest, to a place of a map: the smallest of all that fall there. */
static void take_value(double *at, const bn_tune_kernel *k, size_t shape)
{
    const double ratio = bn_tune_median(&k->shapes[shape]) / bn_tune_median(&k->shapes[k->best]);
    if (k->shapes[shape].verdict == BN_TUNE_OK && !(*at <= ratio))
        *at = fmax(1, ratio); /* one that was measured once may have been lucky */
}

static bn_status draw_map(const bn_tune *t, const char *name, const char *title, const size_t n[2],
                          const double *values, const char *x, const char *y)
{
    const bn_picture picture = { .n = { (uint32_t)n[0], (uint32_t)n[1] },
                                 .h = { 1, 1 },
                                 .values = values,
                                 .low = 1,
                                 .high = 2,
                                 .map = BN_MAP_SEQUENTIAL,
                                 .title = title,
                                 .name = "time / fastest",
                                 .unit = "",
                                 .axes = { x, y },
                                 .shape = 1.4,
                                 .plain = true };
    char *path = bn_path_join(t->out, name);
    bn_status st = path ? bn_picture_write(t->cli->ctx, path, &picture)
                        : bn_fail(t->cli->ctx, BN_MEMORY, "no memory for a path");
    free(path);
    return st;
}

/* One kernel's times over the sides of its groups; of several heights the fastest. */
static bn_status write_map(const bn_tune *t, const bn_tune_kernel *k)
{
    size_t n[2] = { 0, 0 };
    char name[96], title[256];
    for (size_t s = 0; s < k->count; s++)
        for (int d = 0; d < 2; d++) {
            const size_t columns = (size_t)log2((double)k->shapes[s].side[d]) + 1;
            n[d] = columns > n[d] ? columns : n[d];
        }
    if (k->skipped[0] || n[0] < 2 || n[1] < 2)
        return BN_OK;
    double *values = malloc(n[0] * n[1] * sizeof *values);
    if (!values)
        return bn_fail(t->cli->ctx, BN_MEMORY, "no memory for a heat map");
    for (size_t i = 0; i < n[0] * n[1]; i++)
        values[i] = (double)NAN;
    for (size_t s = 0; s < k->count; s++) {
        const size_t *side = k->shapes[s].side;
        take_value(&values[(size_t)log2((double)side[1]) * n[0] + (size_t)log2((double)side[0])], k, s);
    }
    snprintf(name, sizeof name, "map-%s.png", k->name);
    snprintf(title, sizeof title, "%s: time over the fastest work-group's (grey: not tried)", k->name);
    bn_status st = draw_map(t, name, title, n, values, "log2 of the work-group's x", "log2 of its y");
    free(values);
    return st;
}

/* All kernels over the sizes of groups. */
static bn_status write_overview(const bn_tune *t)
{
    size_t rows = 0, n[2] = { 0, 0 };
    for (size_t k = 0; k < t->count; k++)
        for (size_t s = 0; !t->kernels[k].skipped[0] && s < t->kernels[k].count; s++) {
            const size_t columns = size_of(&t->kernels[k].shapes[s]) + 1;
            n[0] = columns > n[0] ? columns : n[0];
            rows = k + 1;
        }
    n[1] = rows;
    if (n[0] < 1 || n[1] < 1)
        return BN_OK;
    double *values = malloc(n[0] * n[1] * sizeof *values);
    if (!values)
        return bn_fail(t->cli->ctx, BN_MEMORY, "no memory for a heat map");
    for (size_t i = 0; i < n[0] * n[1]; i++)
        values[i] = (double)NAN;
    for (size_t k = 0; k < rows; k++)
        for (size_t s = 0; !t->kernels[k].skipped[0] && s < t->kernels[k].count; s++)
            take_value(&values[k * n[0] + size_of(&t->kernels[k].shapes[s])], &t->kernels[k], s);
    bn_status st = draw_map(t, "map.png", "Time over the fastest work-group's (grey: not tried)", n, values,
                            "log2 of the work-items in a group", "kernel, as numbered in tune.csv from 0");
    free(values);
    return st;
}

/* Time that a kernel takes of a step, in its default shape; 0 when it is not tuned. */
static double cost_of(const bn_tune_kernel *k)
{
    const double seconds = bn_tune_median(&k->shapes[0]) * (double)k->calls;
    return !k->skipped[0] && seconds > 0 ? seconds : 0;
}

/* The costliest kernels' fastest group of each size, over the size. */
static bn_status write_chart(const bn_tune *t, const char *path)
{
    enum { SIZES = 20, LINES_MOST = 6 };
    bn_chart_line *lines = calloc(t->count, sizeof *lines);
    double(*numbers)[2][SIZES] = calloc(t->count, sizeof *numbers);
    char title[256];
    size_t count = 0;
    bn_status st = BN_OK;
    if (!lines || !numbers) {
        st = bn_fail(t->cli->ctx, BN_MEMORY, "no memory for a chart");
        goto out;
    }
    for (size_t k = 0; k < t->count; k++) {
        const bn_tune_kernel *kernel = &t->kernels[k];
        size_t points = 0, costlier = 0;
        for (size_t o = 0; o < t->count; o++)
            costlier += cost_of(&t->kernels[o]) > cost_of(kernel);
        if (costlier >= LINES_MOST)
            continue;
        for (size_t l = 0; l < SIZES && !kernel->skipped[0]; l++) {
            double least = (double)NAN;
            for (size_t s = 0; s < kernel->count; s++) {
                const size_t *g = kernel->shapes[s].side;
                const double median = bn_tune_median(&kernel->shapes[s]);
                if ((size_t)log2((double)(g[0] * g[1] * g[2])) == l && kernel->shapes[s].verdict == BN_TUNE_OK &&
                    !(least <= median))
                    least = median;
            }
            if (least > 0) {
                numbers[k][0][points] = (double)l;
                numbers[k][1][points++] = bn_tune_median(&kernel->shapes[0]) / least;
            }
        }
        if (points > 0)
            lines[count++] = (bn_chart_line){ kernel->name, numbers[k][0], numbers[k][1], points, points == 1 };
    }
    snprintf(title, sizeof title, "%s, %zu x %zu x %zu: fastest work-group of each size", t->solver, t->n[0], t->n[1],
             t->n[2]);
    if (count > 0)
        st = bn_chart_write(t->cli->ctx, path,
                            &(bn_chart){ .title = title,
                                         .x_label = "log2 of the work-items in a group",
                                         .y_label = "speed over the default shape's",
                                         .lines = lines,
                                         .count = count });
out:
    free(lines);
    free(numbers);
    return st;
}

bn_status bn_tune_write(const bn_tune *t)
{
    static bn_status (*const writers[])(const bn_tune *, const char *) = { write_csv, write_json, write_chart };
    static const char *const names[] = { "tune.csv", "tune.json", "tune.png" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = bn_path_join(t->out, names[i]);
        bn_status st = path ? writers[i](t, path) : bn_fail(t->cli->ctx, BN_MEMORY, "no memory for a path");
        free(path);
        BN_TRY(st);
    }
    for (size_t k = 0; k < t->count; k++)
        BN_TRY(write_map(t, &t->kernels[k]));
    return write_overview(t);
}
