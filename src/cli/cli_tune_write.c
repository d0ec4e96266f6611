/* cli_tune_write.c: what `binnacle tune` found: a table, tune.csv, tune.json, and charts. */
#include "cli/cli_text.h"
#include "cli/cli_tune.h"

#include "io/file.h"
#include "plot/picture.h"
#include <jansson.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows of a kernel in the printed table: every shape would be too much where hundreds were tried. */
enum { BEST_SHOWN = 6, FEW_STEPS = 5 };

static void shape_text(char text[48], const size_t side[3])
{
    snprintf(text, 48, "%zux%zux%zu", side[0], side[1], side[2]);
}

static size_t items_of(const size_t side[3]) { return side[0] * side[1] * side[2]; }

/* How many shapes of the kernel are faster, or as fast and before it in the list. */
static size_t rank_of(const bn_tune_kernel *k, size_t shape)
{
    const double own = bn_tune_median(&k->shapes[shape]);
    size_t rank = 0;
    for (size_t i = 0; i < k->count; i++) {
        const double other = bn_tune_median(&k->shapes[i]);
        rank += k->shapes[i].verdict == BN_TUNE_OK && (other < own || (other == own && i < shape));
    }
    return rank;
}

static void time_text(char text[32], double seconds)
{
    if (!(seconds >= 0))
        snprintf(text, 32, "-");
    else if (seconds < 1e-3)
        snprintf(text, 32, "%.*f us", seconds < 99.95e-6 ? 1 : 0, 1e6 * seconds);
    else if (seconds < 1)
        snprintf(text, 32, "%.*f ms", seconds < 99.95e-3 ? 2 : 0, 1e3 * seconds);
    else
        snprintf(text, 32, "%.2f s", seconds);
}

/* The default and the fastest shapes of a kernel, by time; and what is wrong with others. */
static bn_status add_rows(bn_context *ctx, bn_text_table *table, const bn_tune_kernel *k)
{
    for (size_t rank = 0; rank < k->count; rank++)
        for (size_t i = 0; i < k->count; i++) {
            const bn_tune_candidate *s = &k->shapes[i];
            if (s->verdict != BN_TUNE_OK || rank_of(k, i) != rank || (rank >= BEST_SHOWN && i > 0 && i != k->best))
                continue;
            char shape[48], time[32], range[32] = "";
            shape_text(shape, s->side);
            time_text(time, bn_tune_median(s));
            if (s->count > 1)
                snprintf(range, sizeof range, "%.0f %%", 100 * bn_tune_range(s));
            BN_TRY(bn_text_table_add(ctx, table, "%s\t%s\t%s\t%s\t%+.0f %%\t%s%s%s", k->info.name, shape, time, range,
                                     100 * (bn_tune_median(&k->shapes[0]) / bn_tune_median(s) - 1),
                                     i == k->best ? "*"
                                     : s->tied    ? "="
                                                  : " ",
                                     i == 0 ? " default" : "", i == k->chosen ? " kept" : ""));
        }
    return BN_OK;
}

static bn_status print_kernels(const bn_tune *t)
{
    bn_text_table table = { .columns = 6, .right = 0x1e };
    bn_status st = bn_text_table_add(t->cli->ctx, &table, "kernel\twork-group\ta launch\trange\tspeed\t");
    for (size_t k = 0; st == BN_OK && k < t->count; k++)
        if (!t->kernels[k].skipped[0])
            st = add_rows(t->cli->ctx, &table, &t->kernels[k]);
    if (st == BN_OK)
        bn_text_table_print(&table);
    bn_text_table_release(&table);
    printf("* the best; = ties with it (their times overlap): a default that ties is kept\n\n");
    for (size_t k = 0; k < t->count; k++) {
        const bn_tune_kernel *kernel = &t->kernels[k];
        if (kernel->skipped[0])
            printf("%s: skipped: %s\n", kernel->info.name, kernel->skipped);
        for (size_t s = 0; s < kernel->count && !kernel->skipped[0]; s++)
            if (kernel->shapes[s].verdict > BN_TUNE_OK) {
                char text[48];
                shape_text(text, kernel->shapes[s].side);
                printf("%s %s %s: %s\n", kernel->info.name, text, bn_tune_verdicts[kernel->shapes[s].verdict],
                       kernel->shapes[s].why);
            }
    }
    return st;
}

static void print_variants(const bn_tune *t)
{
    char time[32];
    if (t->variant_count == 0)
        return;
    time_text(time, bn_tune_median(&t->plain));
    printf("Variants, a whole step in the default work-groups; the case as it is: %s\n", time);
    for (size_t i = 0; i < t->variant_count; i++) {
        const bn_tune_variant *v = &t->variants[i];
        if (v->times.verdict != BN_TUNE_OK) {
            printf("  %s: %s%s%s\n", v->set, bn_tune_verdicts[v->times.verdict], v->times.why[0] ? ": " : "",
                   v->times.why);
            continue;
        }
        time_text(time, bn_tune_median(&v->times));
        printf("  %s: %s (%+.0f %% speed)%s%s\n", v->set, time,
               100 * (bn_tune_median(&t->plain) / bn_tune_median(&v->times) - 1), v->times.tied ? ", ties" : "",
               v->chosen             ? ", kept for later runs"
               : v->best && !v->open ? "; the case has chosen by itself"
               : v->best             ? "; other rounding or other random numbers: runs take it when the case says so"
                                     : "");
    }
    printf("\n");
}

/* ------------------------------------------------------------------------------------------ files */

static json_t *shape_json(const size_t side[3])
{
    return json_pack("[I,I,I]", (json_int_t)side[0], (json_int_t)side[1], (json_int_t)side[2]);
}

/* Verdict and times of a candidate; `seconds` names the median. */
static json_t *times_json(const bn_tune_candidate *s, const char *seconds)
{
    return json_pack("{s:s, s:s?, s:o, s:o, s:I, s:b}", "verdict", bn_tune_verdicts[s->verdict], "why",
                     s->why[0] ? s->why : NULL, seconds, bn_json_real(bn_tune_median(s)), "range",
                     bn_json_real(bn_tune_range(s)), "measurements", (json_int_t)s->count, "tied", (int)s->tied);
}

static json_t *kernel_json(const bn_tune_kernel *k)
{
    json_t *shapes = json_array();
    for (size_t s = 0; s < k->count; s++) {
        json_t *shape = times_json(&k->shapes[s], "seconds");
        json_object_set_new(shape, "work_group", shape_json(k->shapes[s].side));
        json_array_append_new(shapes, shape);
    }
    return json_pack("{s:s, s:s?, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "kernel", k->info.name, "skipped",
                     k->skipped[0] ? k->skipped : NULL, "calls", (json_int_t)k->info.calls, "largest",
                     (json_int_t)k->info.largest, "multiple", (json_int_t)k->info.multiple, "local_bytes",
                     (json_int_t)k->info.local_bytes, "best", shape_json(k->shapes[k->best].side), "chosen",
                     shape_json(k->shapes[k->chosen].side), "shapes", shapes);
}

static json_t *document(const bn_tune *t)
{
    json_t *kernels = json_array(), *variants = json_array();
    for (size_t k = 0; k < t->count; k++)
        json_array_append_new(kernels, kernel_json(&t->kernels[k]));
    for (size_t i = 0; i < t->variant_count; i++) {
        const bn_tune_variant *v = &t->variants[i];
        json_t *row = times_json(&v->times, "step_seconds"),
               *more = json_pack("{s:s, s:s, s:s, s:b, s:b, s:b}", "key", v->of->key, "value", v->value, "present",
                                 v->present, "same_bits", (int)v->same, "best", (int)v->best, "chosen", (int)v->chosen);
        json_object_update(row, more);
        json_decref(more);
        json_array_append_new(variants, row);
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "binnacle", bn_version(),
                     "solver", t->first.solver, "case", bn_json_text(t->cli->options->args[0]), "device",
                     bn_json_text(t->device->name), "driver", bn_json_text(t->device->driver), "precision",
                     t->first.precision, "grid", shape_json(t->first.n), "steps", (json_int_t)t->job.steps,
                     "default_step_seconds", bn_json_real(t->default_step), "tuned_step_seconds",
                     bn_json_real(t->tuned_step), "seconds", bn_json_real(t->seconds), "kernels", kernels,
                     "plain_step_seconds", bn_json_real(bn_tune_median(&t->plain)), "variants", variants);
}

static bn_status write_json(const bn_tune *t, const char *path)
{
    json_t *root = document(t);
    const bn_status st = bn_json_write(t->cli->ctx, path, root, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(root);
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
            const bn_tune_candidate *shape = &kernel->shapes[s];
            const size_t *g = shape->side;
            const bool tuned = !kernel->skipped[0];
            fprintf(to, "%s,%zu,%zu,%zu,%zu,%s,%zu,", kernel->info.name, g[0], g[1], g[2], items_of(g),
                    tuned ? bn_tune_verdicts[shape->verdict] : "skipped", shape->count);
            if (shape->count > 0)
                fprintf(to, "%.6g,%.6g,%.6g", bn_tune_median(shape), shape->seconds[0],
                        shape->seconds[shape->count - 1]);
            else
                fputs(",,", to);
            fprintf(to, ",%d,%d,%d\n", tuned && s == kernel->best, (int)shape->tied, tuned && s == kernel->chosen);
        }
    return bn_file_commit(&file);
}

static size_t log2_of(size_t n) { return (size_t)log2((double)n); }

/* Draws a kernel's times, over that of its fastest shape, over the sides of the groups. Where several shapes fall on
 * one place the fastest is shown. */
static bn_status write_map(const bn_tune *t, const bn_tune_kernel *k)
{
    char name[96], title[256];
    size_t n[2] = { 0, 0 };
    for (size_t s = 0; s < k->count && !k->skipped[0]; s++)
        for (int d = 0; d < 2; d++)
            n[d] = log2_of(k->shapes[s].side[d]) >= n[d] ? log2_of(k->shapes[s].side[d]) + 1 : n[d];
    if (n[0] < 2 || n[1] < 2)
        return BN_OK;
    double *values = malloc(n[0] * n[1] * sizeof *values);
    if (!values)
        return bn_fail(t->cli->ctx, BN_MEMORY, "no memory for a heat map");
    for (size_t i = 0; i < n[0] * n[1]; i++)
        values[i] = (double)NAN;
    for (size_t s = 0; s < k->count; s++) {
        const bn_tune_candidate *shape = &k->shapes[s];
        const double ratio = bn_tune_median(shape) / bn_tune_median(&k->shapes[k->best]);
        double *to = &values[log2_of(shape->side[1]) * n[0] + log2_of(shape->side[0])];
        if (shape->verdict == BN_TUNE_OK && !(*to <= ratio))
            *to = fmax(1, ratio); /* one that was measured once may have been lucky */
    }
    snprintf(name, sizeof name, "map-%s.png", k->info.name);
    snprintf(title, sizeof title, "%s: time over the fastest work-group's (grey: not tried)", k->info.name);
    const bn_picture picture = {
        .n = { (uint32_t)n[0], (uint32_t)n[1] },
        .h = { 1, 1 },
        .values = values,
        .low = 1,
        .high = 2,
        .map = BN_MAP_SEQUENTIAL,
        .title = title,
        .name = "time / fastest",
        .unit = "",
        .axes = { "log2 of the work-group's x", "log2 of its y" },
        .shape = 1.4,
        .plain = true,
    };
    const bn_status st = bn_picture_write(t->cli->ctx, bn_path_join(t->out.text, name).text, &picture);
    free(values);
    return st;
}

/* Time that a kernel takes of a step, in its default shape; 0 when it is not tuned. */
static double cost_of(const bn_tune_kernel *k)
{
    const double seconds = bn_tune_median(&k->shapes[0]) * (double)k->info.calls;
    return !k->skipped[0] && seconds > 0 ? seconds : 0;
}

enum { SIZES = 20, LINES_MOST = 6 };

/* A kernel's fastest group of each size over the size: speed over the default's. How many points. */
static size_t speeds_of(const bn_tune_kernel *k, double numbers[2][SIZES])
{
    size_t points = 0;
    for (size_t l = 0; l < SIZES && !k->skipped[0]; l++) {
        double least = (double)NAN;
        for (size_t s = 0; s < k->count; s++)
            if (log2_of(items_of(k->shapes[s].side)) == l && k->shapes[s].verdict == BN_TUNE_OK)
                least = fmin(least, bn_tune_median(&k->shapes[s]));
        if (least > 0) {
            numbers[0][points] = (double)l;
            numbers[1][points++] = bn_tune_median(&k->shapes[0]) / least;
        }
    }
    return points;
}

static bn_status write_chart(const bn_tune *t, const char *path)
{
    bn_chart_line lines[LINES_MOST];
    double numbers[LINES_MOST][2][SIZES];
    char title[256];
    size_t count = 0;
    for (size_t k = 0; k < t->count && count < LINES_MOST; k++) {
        size_t costlier = 0;
        for (size_t o = 0; o < t->count; o++)
            costlier += cost_of(&t->kernels[o]) > cost_of(&t->kernels[k]);
        const size_t points = costlier < LINES_MOST ? speeds_of(&t->kernels[k], numbers[count]) : 0;
        if (points > 0) {
            lines[count] = (bn_chart_line){
                t->kernels[k].info.name, numbers[count][0], numbers[count][1], points, points == 1, NULL
            };
            count++;
        }
    }
    snprintf(title, sizeof title, "%s, %zu x %zu x %zu: fastest work-group of each size", t->first.solver,
             t->first.n[0], t->first.n[1], t->first.n[2]);
    const bn_chart chart = { .title = title,
                             .x_label = "log2 of the work-items in a group",
                             .y_label = "speed over the default shape's",
                             .lines = lines,
                             .count = count };
    return count > 0 ? bn_chart_write(t->cli->ctx, path, &chart) : BN_OK;
}

bn_status bn_tune_write(const bn_tune *t)
{
    static bn_status (*const writers[])(const bn_tune *, const char *) = { write_csv, write_json, write_chart };
    static const char *const names[] = { "tune.csv", "tune.json", "tune.png" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        BN_TRY(writers[i](t, bn_path_join(t->out.text, names[i]).text));
    for (size_t k = 0; k < t->count; k++)
        BN_TRY(write_map(t, &t->kernels[k]));
    return BN_OK;
}

bn_status bn_tune_print(const bn_tune *t)
{
    char name[BN_TEXT_TABLE_CELL], before[32], after[32];
    if (t->cli->options->run.json)
        return bn_json_print(t->cli, document(t));
    bn_text_device(name, t->device);
    printf("%s on %s, %s precision, %zu x %zu x %zu; time of a launch, median of %d (range), %llu steps each\n",
           t->first.solver, name, t->first.precision, t->first.n[0], t->first.n[1], t->first.n[2], (int)BN_TUNE_ROUNDS,
           t->job.steps);
    print_variants(t);
    BN_TRY(print_kernels(t));
    if (t->job.steps < FEW_STEPS)
        printf("Only %llu steps of the case can be timed: differences of some per cent mean nothing.\n", t->job.steps);
    if (t->no_gain)
        printf("A whole step is slower with the fastest shapes: the default ones stay.\n");
    time_text(before, t->default_step);
    time_text(after, t->tuned_step);
    printf("A step, with the clock in the queue: default %s, tuned %s. %zu shapes tried, %zu wrong, %zu failed; all "
           "others gave the result of the CPU reference.\nTables and charts: %s\n",
           before, after, t->tried, t->wrong, t->failed, t->out.text);
    return BN_OK;
}
