/* cli_bench.c: `binnacle bench`: the device's limits, the standard sizes of each solver beside them, one table. */
#include "cli/bench.h"

#include "cli/cli_text.h"
#include "io/file.h"
#include "output/progress.h"
#include "sim/sim_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEVICES_MAX = 64, DATE = 32, TROUBLE = 300 };

/* In budgets of the clock: what a size takes by itself (the clock's rounds, those by events, warming up), and what all
 * sizes of a kind of work may take: on a GPU 10 s, ten kinds of work. And the steps that a size takes at least. */
static const double BN_BENCH_FIXED = 2, BN_BENCH_LIMIT = 20, BN_BENCH_STEPS = 10;

static void date_text(long long seconds, char text[DATE])
{
    const time_t t = (time_t)seconds;
    struct tm utc;
    if (!gmtime_r(&t, &utc) || strftime(text, DATE, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(text, DATE, "?");
}

static json_t *device_json(const bn_bench_device *d)
{
    const bn_device_info *info = bn_device_describe(d->plain);
    const bn_device_limits *p = &d->peaks;
    char date[DATE];
    date_text(p->date, date);
    return json_pack("{s:o, s:o, s:o, s:s, s:{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}}", "name",
                     bn_json_text(info->name), "platform", bn_json_text(info->platform), "driver",
                     bn_json_text(info->driver), "type", info->cpu ? "cpu" : "gpu", "limits", "date", date, "copy",
                     bn_json_real(p->copy), "single", bn_json_real(p->flops[0]), "double",
                     p->flops[1] > 0 ? bn_json_real(p->flops[1]) : json_null(), "local", bn_json_real(p->local_bytes),
                     "atomics", bn_json_real(p->atomics), "launch", bn_json_real(p->launch), "finish",
                     bn_json_real(p->finish), "upload", bn_json_real(p->upload), "download", bn_json_real(p->download));
}

static json_t *row_json(const bn_bench_job *job, const bn_bench_result *r, const char *trouble)
{
    json_t *row = json_pack("{s:s, s:s, s:s, s:I, s:i, s:s, s:o}", "solver", job->of->solver, "what", job->of->what,
                            "precision", job->twice ? "double" : "single", "size", (json_int_t)job->n, "dims",
                            job->of->dims, "unit", job->of->unit, "trouble",
                            trouble[0] ? bn_json_text(trouble) : json_null());
    if (!row || trouble[0])
        return row;
    json_t *kernels = json_array(), *more;
    for (size_t k = 0; k < r->kernel_count; k++)
        json_array_append_new(
            kernels, json_pack("{s:s, s:o, s:o, s:o, s:o}", "name", r->kernels[k].name, "calls",
                               bn_json_real(r->kernels[k].calls), "seconds", bn_json_real(r->kernels[k].seconds),
                               "bytes", bn_json_real(r->kernels[k].bytes), "flops", bn_json_real(r->kernels[k].flops)));
    more = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:s, s:s, s:o}, s:{s:o, s:o, s:i, s:i}, s:o, s:o}",
                     "seconds", bn_json_real(r->seconds), "noise", bn_json_real(r->noise), "updates",
                     bn_json_real(r->updates), "bytes", bn_json_real(r->bytes), "flops", bn_json_real(r->flops),
                     "bytes_per_second", bn_json_real(r->bytes / r->seconds), "flops_per_second",
                     bn_json_real(r->flops / r->seconds), "floor", "seconds", bn_json_real(r->floor), "bound",
                     r->by_bytes ? "bytes" : "operations", "source", r->counted ? "counted" : "declared", "share",
                     bn_json_real(r->share), "build", "without_cache", bn_json_real(r->build), "as_it_came",
                     bn_json_real(r->rebuild), "built", (int)r->built, "cached", (int)r->cached, "outside_kernels",
                     bn_json_real(r->outside), "kernels", kernels);
    if (!more || json_object_update(row, more) != 0) {
        json_decref(row);
        row = NULL;
    }
    json_decref(more);
    return row;
}

/* 1.23 G, 45.6 M: three digits and a letter. */
static void put_rate(char cell[BN_TEXT_TABLE_CELL], double value, const char *unit)
{
    static const char letters[] = " kMGTP";
    int k = 0;
    for (; value >= 999.5 && k < 5; k++)
        value /= 1000;
    if (isfinite(value))
        snprintf(cell, BN_TEXT_TABLE_CELL, "%.*f %.*s%s",
                 value < 9.995   ? 2
                 : value < 99.95 ? 1
                                 : 0,
                 value, k > 0, letters + k, unit);
    else
        snprintf(cell, BN_TEXT_TABLE_CELL, "-");
}

/* `why`: there is none. */
static void put_share(char cell[BN_TEXT_TABLE_CELL], double value, const char *why)
{
    if (isfinite(value))
        snprintf(cell, BN_TEXT_TABLE_CELL, "%.*f %%", value < 0.0995 ? 1 : 0, 100 * value);
    else
        snprintf(cell, BN_TEXT_TABLE_CELL, "%s", why);
}

static void put_duration(char cell[BN_TEXT_TABLE_CELL], double seconds)
{
    const double scale = seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1;
    if (!isfinite(seconds))
        snprintf(cell, BN_TEXT_TABLE_CELL, "-");
    else
        snprintf(cell, BN_TEXT_TABLE_CELL, "%.3g %s", scale * seconds, seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s");
}

static void print_limits(const json_t *device)
{
    const json_t *l = json_object_get(device, "limits");
    char cells[9][BN_TEXT_TABLE_CELL];
    put_rate(cells[0], bn_json_number(l, "copy"), "B/s");
    put_rate(cells[1], bn_json_number(l, "single"), "flop/s");
    put_rate(cells[2], bn_json_number(l, "double"), "flop/s");
    put_rate(cells[3], bn_json_number(l, "local"), "B/s");
    put_rate(cells[4], bn_json_number(l, "atomics"), "/s");
    put_duration(cells[5], bn_json_number(l, "launch"));
    put_duration(cells[6], bn_json_number(l, "finish"));
    put_rate(cells[7], bn_json_number(l, "upload"), "B/s");
    put_rate(cells[8], bn_json_number(l, "download"), "B/s");
    printf("%s, %s, driver %s\n"
           "limits of %s: copy %s, single %s, double %s, local memory %s, atomics %s,\n"
           "launch %s (waited for: %s), upload %s, download %s\n\n",
           json_string_value(json_object_get(device, "name")), json_string_value(json_object_get(device, "platform")),
           json_string_value(json_object_get(device, "driver")), json_string_value(json_object_get(l, "date")),
           cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7], cells[8]);
}

static void put_row(char (*cells)[BN_TEXT_TABLE_CELL], const json_t *row)
{
    static const char *const raised[] = { "", "", "^2", "^3" };
    const json_t *floor = json_object_get(row, "floor"), *build = json_object_get(row, "build");
    const char *trouble = json_string_value(json_object_get(row, "trouble")),
               *bound = json_string_value(json_object_get(floor, "bound"));
    char unit[32], again[BN_TEXT_TABLE_CELL];
    snprintf(cells[0], BN_TEXT_TABLE_CELL, "%s", json_string_value(json_object_get(row, "solver")));
    snprintf(cells[1], BN_TEXT_TABLE_CELL, "%s", json_string_value(json_object_get(row, "what")));
    snprintf(cells[2], BN_TEXT_TABLE_CELL, "%s", json_string_value(json_object_get(row, "precision")));
    snprintf(cells[3], BN_TEXT_TABLE_CELL, "%lld%s", (long long)json_integer_value(json_object_get(row, "size")),
             raised[json_integer_value(json_object_get(row, "dims"))]);
    if (trouble) {
        snprintf(cells[4], BN_TEXT_TABLE_CELL, "not measured"); /* the reason stands below the table */
        return;
    }
    snprintf(unit, sizeof unit, "%ss/s", json_string_value(json_object_get(row, "unit")));
    put_duration(cells[4], bn_json_number(row, "seconds"));
    snprintf(cells[5], BN_TEXT_TABLE_CELL, "%.1f %%", 100 * bn_json_number(row, "noise"));
    put_rate(cells[6], bn_json_number(row, "updates"), unit);
    put_rate(cells[7], bn_json_number(row, "bytes"), "B");
    put_rate(cells[8], bn_json_number(row, "bytes_per_second"), "B/s");
    put_rate(cells[9], bn_json_number(row, "flops"), "flop");
    put_rate(cells[10], bn_json_number(row, "flops_per_second"), "flop/s");
    put_duration(cells[11], bn_json_number(floor, "seconds"));
    put_share(cells[12], bn_json_number(floor, "share"), "cache");
    snprintf(cells[13], BN_TEXT_TABLE_CELL, "%s", bound);
    put_duration(cells[14], bn_json_number(build, "without_cache"));
    put_duration(again, bn_json_number(build, "as_it_came"));
    snprintf(cells[14] + strlen(cells[14]), BN_TEXT_TABLE_CELL - strlen(cells[14]), " / %.40s", again);
    put_share(cells[15], bn_json_number(row, "outside_kernels"), "noise");
}

static bn_status print_rows(bn_context *ctx, const json_t *rows)
{
    static const char *const heads[] = { "solver", "what",  "precision", "size",       "a step",  "noise",
                                         "rate",   "bytes", "reached",   "operations", "reached", "floor",
                                         "share",  "by",    "build",     "outside" };
    bn_text_table table = { .columns = sizeof heads / sizeof *heads, .right = 0xdff8 };
    char(*cells)[BN_TEXT_TABLE_CELL] = bn_text_table_row(ctx, &table);
    for (size_t c = 0; cells && c < table.columns; c++)
        snprintf(cells[c], BN_TEXT_TABLE_CELL, "%s", heads[c]);
    for (size_t r = 0; cells && r < json_array_size(rows); r++)
        if ((cells = bn_text_table_row(ctx, &table)) != NULL)
            put_row(cells, json_array_get(rows, r));
    if (cells)
        bn_text_table_print(&table);
    bn_text_table_release(&table);
    for (size_t r = 0; r < json_array_size(rows); r++) {
        const json_t *row = json_array_get(rows, r);
        const char *trouble = json_string_value(json_object_get(row, "trouble"));
        if (trouble)
            printf("%s, %s, %s, %lld: not measured: %s\n", json_string_value(json_object_get(row, "solver")),
                   json_string_value(json_object_get(row, "what")),
                   json_string_value(json_object_get(row, "precision")),
                   (long long)json_integer_value(json_object_get(row, "size")), trouble);
    }
    return cells ? BN_OK : BN_MEMORY;
}

static bn_status print_suite(bn_context *ctx, const json_t *suite)
{
    static const char *const heads[] = { "", "published", "ours", "", "ours over published" };
    const json_t *rows = json_object_get(suite, "rows");
    size_t left_out = 0;
    bn_text_table table = { .columns = sizeof heads / sizeof *heads, .right = 0x16 };
    char(*cells)[BN_TEXT_TABLE_CELL] = bn_text_table_row(ctx, &table);
    for (size_t c = 0; cells && c < table.columns; c++)
        snprintf(cells[c], BN_TEXT_TABLE_CELL, "%s", heads[c]);
    for (size_t r = 0; cells && r < json_array_size(rows); r++) {
        const json_t *row = json_array_get(rows, r);
        const double published = bn_json_number(row, "published"), ours = bn_json_number(row, "ours");
        if ((cells = bn_text_table_row(ctx, &table)) == NULL)
            break;
        snprintf(cells[0], BN_TEXT_TABLE_CELL, "%s", json_string_value(json_object_get(row, "what")));
        if (isfinite(published))
            snprintf(cells[1], BN_TEXT_TABLE_CELL, "%.4g", published);
        if (isfinite(ours))
            snprintf(cells[2], BN_TEXT_TABLE_CELL, "%.4g", ours);
        else
            left_out++;
        snprintf(cells[3], BN_TEXT_TABLE_CELL, "%s", json_string_value(json_object_get(row, "unit")));
        if (isfinite(ours / published))
            snprintf(cells[4], BN_TEXT_TABLE_CELL, "%.3g", ours / published);
    }
    if (cells) {
        printf("%s\n", json_string_value(json_object_get(suite, "source")));
        bn_text_table_print(&table);
    }
    bn_text_table_release(&table);
    if (cells && left_out > 0)
        printf("\nNot measured:\n");
    for (size_t r = 0; cells && r < json_array_size(rows); r++) {
        const json_t *row = json_array_get(rows, r);
        const char *missing = json_string_value(json_object_get(row, "missing"));
        if (missing)
            printf("%s: %s\n", json_string_value(json_object_get(row, "what")), missing);
    }
    return cells ? BN_OK : BN_MEMORY;
}

static bool wanted(const bn_options *o, const char *solver)
{
    for (size_t i = 0; i < o->arg_count; i++)
        if (strcmp(o->args[i], solver) == 0)
            return true;
    return o->arg_count == 0;
}

static void tell(const bn_options *o, const bn_bench_job *job)
{
    if (!o->run.quiet)
        fprintf(stderr, "bench: %s, %s, %s, %u\n", job->of->solver, job->of->what, job->twice ? "double" : "single",
                job->n);
}

/* What a kind of work has taken so far, for what the next size will take: the clock's rounds take the budget whatever
 * the size, the rest (the case's fields on the host, their way to the device) grows with it. */
typedef struct spending {
    double limit; /* [s] for all sizes of a kind of work; 0: none */
    double spent, growing;
    double updates; /* of a step, where `growing` was seen */
} spending;

static double expected_seconds(const spending *s, const bn_bench_job *job, double budget)
{
    return s->updates > 0 ? BN_BENCH_FIXED * budget + s->growing * job->per_step / s->updates * (job->twice ? 2 : 1)
                          : 0;
}

static void note_spending(spending *s, const bn_bench_job *job, const bn_bench_result *r, double took)
{
    s->spent += took;
    s->growing = r->setup + BN_BENCH_STEPS * r->seconds;
    s->updates = job->per_step * (job->twice ? 2 : 1);
}

/* One size, unless it would take longer than what is left of the time. *measured: it was. */
static bn_status measure_size(const bn_bench_device *d, const bn_bench_job *job, bool cold, spending *s, json_t *rows,
                              bool *measured)
{
    bn_bench_result r = { 0 };
    char trouble[TROUBLE] = "";
    const double start = bn_seconds_now(), expected = expected_seconds(s, job, d->budget);
    *measured = s->limit <= 0 || s->spent + expected <= s->limit;
    if (*measured) {
        tell(d->cli->options, job);
        BN_TRY(bn_bench_measure(d, job, cold, &r, trouble, sizeof trouble));
        if (!trouble[0])
            note_spending(s, job, &r, bn_seconds_now() - start);
    } else {
        snprintf(trouble, sizeof trouble,
                 "it would take about %.0f s, and %.0f of the %.0f s of its kind of work are gone; --size measures it",
                 expected, s->spent, s->limit);
    }
    json_t *row = row_json(job, &r, trouble);
    if (!row || json_array_append_new(rows, row) != 0)
        return bn_fail(d->cli->ctx, BN_MEMORY, "no memory for a row of the table");
    return BN_OK;
}

/* All sizes in single precision, or the one that is asked for, and the last one that was measured of the kinds that
 * --quick takes too in double. */
static bn_status measure_case(const bn_bench_device *d, const bn_bench_case *c, json_t *rows)
{
    const bn_options *o = d->cli->options;
    const bool gpu = !bn_device_describe(d->plain)->cpu;
    spending s = { .limit = o->quick || o->size ? 0 : BN_BENCH_LIMIT * d->budget };
    size_t sizes = 0, last = 0;
    bool measured;
    bn_bench_job job;
    while (sizes < (o->quick ? 2 : BN_BENCH_SIZES) && c->sizes[gpu][sizes])
        sizes++;
    const size_t first = o->size ? (size_t)o->size - 1 : 0, end = o->size ? first + 1 : sizes;
    for (size_t i = first; i < end; i++) {
        bn_bench_prepare(c, c->sizes[gpu][i], false, gpu, &job);
        BN_TRY(measure_size(d, &job, i == first, &s, rows, &measured));
        last = measured ? i : last;
    }
    if (!c->quick || o->quick || o->size)
        return BN_OK;
    s.spent = 0; /* double precision has its own time: the largest size that fits into it */
    for (bn_bench_prepare(c, c->sizes[gpu][last], true, gpu, &job);
         last > 0 && expected_seconds(&s, &job, d->budget) > s.limit;)
        bn_bench_prepare(c, c->sizes[gpu][--last], true, gpu, &job);
    return measure_size(d, &job, false, &s, rows, &measured);
}

static bn_status open_device(const bn_cli *cli, size_t index, bn_bench_device *d)
{
    char selector[32];
    snprintf(selector, sizeof selector, "%zu", index);
    *d = (bn_bench_device){ .cli = cli, .budget = 0.25 };
    BN_TRY(bn_device_open(cli->ctx, selector, false, &d->plain));
    if (!cli->options->quick) /* on a GPU more would only repeat more */
        d->budget = bn_device_describe(d->plain)->cpu ? 1.5 : 0.5;
    BN_TRY(bn_device_open(cli->ctx, selector, true, &d->profiling));
    return bn_device_measure_limits(d->plain, cli->options->measure, &d->peaks);
}

/* Suites that no publication is behind. */
typedef struct own_suite {
    const char *name, *key; /* key: in the document */
    bn_status (*run)(const bn_bench_device *, json_t **out);
    bn_status (*print)(bn_context *, const json_t *);
} own_suite;

static const own_suite own_suites[] = {
    { "overhead", "overhead", bn_bench_overhead, bn_bench_overhead_print },
    { "default-vs-tuned", "default_vs_tuned", bn_bench_tuned, bn_bench_tuned_print },
    { 0 },
};

/* NULL: it is another one. */
static const own_suite *find_own(const char *name)
{
    const own_suite *s = own_suites;
    while (name && s->name && strcmp(s->name, name) != 0)
        s++;
    return name && s->name ? s : NULL;
}

static bn_status bench_device(const bn_cli *cli, size_t index, json_t *devices)
{
    const bn_options *o = cli->options;
    bn_bench_device d = { 0 };
    bn_bench_tested tested = { 0 };
    bn_status st = BN_OK;
    json_t *rows = json_array(), *entry = NULL;
    BN_GO(open_device(cli, index, &d));
    d.tested = &tested;
    entry = json_pack("{s:o, s:O}", "device", device_json(&d), "rows", rows);
    if (!entry || json_array_append_new(devices, entry) != 0) {
        st = bn_fail(cli->ctx, BN_MEMORY, "no memory for the document");
        goto out;
    }
    const own_suite *own = find_own(o->suite);
    if (o->suite) {
        json_t *suite = NULL;
        BN_GO(own ? own->run(&d, &suite) : bn_bench_suite(&d, o->suite, &suite));
        if (json_object_set_new(entry, own ? own->key : "suite", suite) != 0) {
            st = bn_fail(cli->ctx, BN_MEMORY, "no memory for the document");
            goto out;
        }
    }
    for (const bn_bench_case *c = bn_bench_cases; !o->suite && c->solver; c++)
        if (wanted(o, c->solver) && (c->quick || !o->quick))
            BN_GO(measure_case(&d, c, rows));
    if (!o->run.json) {
        print_limits(json_object_get(entry, "device"));
        BN_GO(own        ? own->print(cli->ctx, json_object_get(entry, own->key))
              : o->suite ? print_suite(cli->ctx, json_object_get(entry, "suite"))
                         : print_rows(cli->ctx, rows));
    }
out:
    json_decref(rows);
    bn_device_close(&d.profiling);
    bn_device_close(&d.plain);
    return st;
}

/* bench.json and the pictures; those of the second device and further ones in folders of their own. */
static bn_status write_folder(const bn_cli *cli, const json_t *document)
{
    bn_context *ctx = cli->ctx;
    const char *folder = cli->options->run.out;
    const json_t *devices = json_object_get(document, "devices");
    BN_TRY(bn_directory_create(ctx, folder));
    char *path = bn_path_join(folder, "bench.json"), *text = json_dumps(document, JSON_INDENT(2));
    bn_status st = path && text ? bn_file_write(ctx, path, text, strlen(text))
                                : bn_fail(ctx, BN_MEMORY, "no memory for the document");
    free(text);
    free(path);
    for (size_t i = 0; st == BN_OK && i < json_array_size(devices); i++) {
        char name[32];
        snprintf(name, sizeof name, "device-%zu", i);
        path = bn_path_join(folder, i > 0 ? name : ".");
        st = path ? BN_OK : bn_fail(ctx, BN_MEMORY, "no memory for a path");
        if (st == BN_OK && i > 0)
            st = bn_directory_create(ctx, path);
        if (st == BN_OK)
            st = bn_bench_draw(ctx, path, json_array_get(devices, i));
        free(path);
    }
    return st;
}

/* One row that was measured is a success: the others say what kept them. */
static bn_status check_measured(bn_context *ctx, const json_t *devices)
{
    const char *trouble = NULL;
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *rows = json_object_get(json_array_get(devices, i), "rows");
        for (size_t r = 0; r < json_array_size(rows); r++) {
            const char *text = json_string_value(json_object_get(json_array_get(rows, r), "trouble"));
            if (!text)
                return BN_OK;
            trouble = trouble ? trouble : text;
        }
    }
    if (!trouble)
        return bn_fail(ctx, BN_USAGE, "there are no standard sizes of what was named");
    return bn_fail(ctx, BN_DEVICE, "nothing could be measured: %s", trouble);
}

static bn_status check_arguments(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    if (o->suite && !find_own(o->suite))
        BN_TRY(bn_bench_suite_check(cli->ctx, o->suite));
    if (o->suite && (o->arg_count > 0 || o->compare))
        return bn_fail(cli->ctx, BN_USAGE, "--suite goes without solvers and without --compare");
    for (size_t i = 0; i < o->arg_count; i++) {
        const char *const *names = bn_solver_names();
        while (*names && strcmp(*names, o->args[i]) != 0)
            names++;
        if (!*names)
            return bn_fail(cli->ctx, BN_USAGE, "unknown solver `%s` (binnacle new lists them)", o->args[i]);
    }
    return BN_OK;
}

bn_status bn_cli_bench(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    size_t indices[DEVICES_MAX], count = 0;
    char date[DATE];
    bn_status st = BN_OK;
    BN_TRY(check_arguments(cli));
    BN_TRY(bn_device_select(cli->ctx, o->run.device, indices, DEVICES_MAX, &count, NULL));
    json_t *old = NULL; /* read first: a bad path is not to be told after minutes */
    if (o->compare)
        BN_TRY(bn_bench_read(cli->ctx, o->compare, &old));
    date_text((long long)time(NULL), date);
    json_t *devices = json_array();
    json_t *document = json_pack("{s:s, s:s, s:b, s:O}", "binnacle", bn_version(), "date", date, "quick", (int)o->quick,
                                 "devices", devices);
    if (!document) {
        st = bn_fail(cli->ctx, BN_MEMORY, "no memory for the document");
        goto out;
    }
    for (size_t i = 0; i < count; i++)
        BN_GO(bench_device(cli, indices[i], devices));
    if (o->compare)
        BN_GO(bn_bench_compare(cli, document, old));
    if (o->run.json)
        BN_GO(bn_json_print(cli, json_incref(document)));
    else if (!o->suite)
        printf(
            "\nA step's floor: the larger of bytes over copy bandwidth and operations over half of the peak (no "
            "multiply-adds"
            " are fused);\noutside: share of the wall time outside of kernels. docs/bench.md explains the columns.\n");
    if (o->run.out)
        BN_GO(write_folder(cli, document));
    if (!o->suite)
        st = check_measured(cli->ctx, devices);
out:
    json_decref(old);
    json_decref(devices);
    json_decref(document);
    return st;
}
