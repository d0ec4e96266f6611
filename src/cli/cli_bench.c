/* cli_bench.c: `binnacle bench`: the device's limits, the standard sizes of each solver beside them, one table. */
#include "bench/bench.h"

#include "cli/cli_text.h"
#include "cli/commands.h"
#include "io/file.h"
#include "output/html.h"
#include "output/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEVICES_MAX = 64, DATE = 32, TROUBLE = BN_BENCH_REASON, LISTED_MOST = 32 };

/* In budgets of the clock: what a size takes by itself (the clock's rounds, those by events, warming up), and what all
 * sizes of a kind of work may take: 10 s. And the steps that a size takes at least. */
static const double FIXED_BUDGETS = 2, LIMIT_BUDGETS = 20, LEAST_STEPS = 10;
/* [s] that the usual table takes on a device: each kind of work gets its share of what is left. */
static const double USUAL_SECONDS = 80;

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
    const bn_device_limits *p = &d->limits;
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

static json_t *figures_json(const bn_bench_result *r)
{
    json_t *kernels = json_array();
    for (size_t k = 0; k < r->kernel_count; k++)
        json_array_append_new(
            kernels, json_pack("{s:s, s:o, s:o, s:o, s:o}", "name", r->kernels[k].name, "calls",
                               bn_json_real(r->kernels[k].calls), "seconds", bn_json_real(r->kernels[k].seconds),
                               "bytes", bn_json_real(r->kernels[k].bytes), "flops", bn_json_real(r->kernels[k].flops)));
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:s, s:s, s:o}, s:{s:o, s:o, s:i, s:i}, s:o, s:o}",
        "refused", r->refused[0] ? bn_json_text(r->refused) : json_null(), "seconds", bn_json_real(r->seconds), "noise",
        bn_json_real(r->noise), "updates", bn_json_real(r->updates), "launches", bn_json_real(r->launches), "waits",
        bn_json_real(r->waits), "bytes", bn_json_real(r->bytes), "flops", bn_json_real(r->flops), "bytes_per_second",
        bn_json_real(r->bytes / r->seconds), "flops_per_second", bn_json_real(r->flops / r->seconds), "floor",
        "seconds", bn_json_real(r->floor), "bound", r->by_bytes ? "bytes" : "operations", "source",
        r->counted ? "counted" : "declared", "share", bn_json_real(r->share), "build", "without_cache",
        bn_json_real(r->build), "as_it_came", bn_json_real(r->rebuild), "built", (int)r->built, "cached",
        (int)r->cached, "outside_kernels", bn_json_real(r->outside), "kernels", kernels);
}

static bn_status add_row(bn_context *ctx, json_t *rows, const bn_bench_job *job, const bn_bench_result *r,
                         const char *trouble)
{
    return bn_bench_add_row(ctx, rows,
                            json_pack("{s:s, s:s, s:s, s:I, s:i, s:s, s:o}", "solver", job->of->solver, "what",
                                      job->of->what, "precision", job->twice ? "double" : "single", "size",
                                      (json_int_t)job->n, "dims", job->of->dims, "unit", job->of->unit, "trouble",
                                      trouble[0] ? bn_json_text(trouble) : json_null()),
                            trouble[0] ? NULL : figures_json(r));
}

#define COUNT(array) (sizeof(array) / sizeof *(array))
static const bn_bench_column limit_columns[] = {
    { "limits of", "limits/date", BN_BENCH_TEXT, NULL },
    { "copy", "limits/copy", BN_BENCH_RATE, "B/s" },
    { "single", "limits/single", BN_BENCH_RATE, "flop/s" },
    { "double", "limits/double", BN_BENCH_RATE, "flop/s" },
    { "local memory", "limits/local", BN_BENCH_RATE, "B/s" },
    { "atomics", "limits/atomics", BN_BENCH_RATE, "/s" },
    { "launch", "limits/launch", BN_BENCH_DURATION, NULL },
    { "waited for", "limits/finish", BN_BENCH_DURATION, NULL },
    { "upload", "limits/upload", BN_BENCH_RATE, "B/s" },
    { "download", "limits/download", BN_BENCH_RATE, "B/s" },
};
static const bn_bench_column row_columns[] = {
    { "solver", "solver", BN_BENCH_TEXT, NULL },
    { "what", "what", BN_BENCH_TEXT, NULL },
    { "precision", "precision", BN_BENCH_TEXT, NULL },
    { "size", "size", BN_BENCH_SIZE, NULL },
    { "a step", "seconds", BN_BENCH_DURATION, NULL },
    { "noise", "noise", BN_BENCH_SHARE, NULL },
    { "rate", "updates", BN_BENCH_RATE, NULL },
    { "bytes", "bytes_per_second", BN_BENCH_RATE, "B/s" },
    { "operations", "flops_per_second", BN_BENCH_RATE, "flop/s" },
    { "floor", "floor/seconds", BN_BENCH_DURATION, NULL },
    { "share", "floor/share", BN_BENCH_SHARE, NULL },
    { "by", "floor/bound", BN_BENCH_TEXT, NULL },
    { "build", "build/without_cache", BN_BENCH_DURATION, NULL },
    { "again", "build/as_it_came", BN_BENCH_DURATION, NULL },
    { "outside", "outside_kernels", BN_BENCH_SHARE, NULL },
};

/* What the device can do at most, as a table of one line. */
static bn_status print_limits(bn_context *ctx, const json_t *device)
{
    json_t *one = json_pack("[O]", (json_t *)(uintptr_t)device);
    printf("%s, %s, driver %s\n", json_string_value(json_object_get(device, "name")),
           json_string_value(json_object_get(device, "platform")),
           json_string_value(json_object_get(device, "driver")));
    const bn_status st = bn_bench_print(ctx, one, limit_columns, COUNT(limit_columns));
    printf("\n");
    json_decref(one);
    return st;
}

static bn_status print_rows(bn_context *ctx, const json_t *entry)
{
    BN_TRY(bn_bench_print(ctx, json_object_get(entry, "rows"), row_columns, COUNT(row_columns)));
    printf(
        "\nfloor: the larger of bytes over copy bandwidth and operations over half of the peak (no multiply-adds are "
        "fused);\noutside: share of the wall time outside of kernels. docs/bench.md explains the columns.\n");
    return BN_OK;
}

/* Time that a kind of work has taken so far, from which that of the next size is estimated: the clock's rounds take the
 * budget whatever the size; the rest, setting up fields and copying them to the device, grows with it. */
typedef struct spending {
    double limit; /* [s] for all sizes of a kind of work; 0: none */
    double spent, growing;
    double updates; /* of a step, where `growing` was seen */
} spending;

static double expected_seconds(const spending *s, const bn_bench_job *job, double budget)
{
    return s->updates > 0 ? FIXED_BUDGETS * budget + s->growing * job->per_step / s->updates * (job->twice ? 2 : 1) : 0;
}

static void note_spending(spending *s, const bn_bench_job *job, const bn_bench_result *r, double took)
{
    s->spent += took;
    s->growing = r->setup + LEAST_STEPS * r->seconds;
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
        bn_bench_tell(d, job);
        BN_TRY(bn_bench_measure(d, job, cold ? BN_BENCH_COLD : BN_BENCH_WHOLE, &r, trouble, sizeof trouble));
        if (!trouble[0]) {
            note_spending(s, job, &r, bn_seconds_now() - start);
            if (!d->wish->quiet) /* the table comes at the end of all */
                fprintf(stderr, "bench:   %.4g ms a step\n", 1e3 * r.seconds);
        }
    } else {
        snprintf(trouble, sizeof trouble,
                 "it would take about %.0f s, and %.0f of the %.0f s of its kind of work are gone; --size measures it",
                 expected, s->spent, s->limit);
    }
    return add_row(d->wish->ctx, rows, job, &r, trouble);
}

/* The sizes to be measured: those of --size (1, 2, ...: which of the list), else the list, of which --quick takes two.
 */
static size_t list_sizes(const bn_options *o, const unsigned list[BN_BENCH_SIZES_MOST], unsigned out[LISTED_MOST])
{
    size_t count = 0;
    if (!o->sizes) {
        while (count < (o->quick ? 2 : BN_BENCH_SIZES_MOST) && list[count])
            out[count] = list[count], count++;
        return count;
    }
    for (const char *at = o->sizes; *at && count < LISTED_MOST; at += strcspn(at, ","), at += *at == ',') {
        const unsigned long n = strtoul(at, NULL, 10);
        const unsigned size = n > BN_BENCH_SIZES_MOST ? (unsigned)n : list[n - 1];
        if (size > 0)
            out[count++] = size;
    }
    return count;
}

static bool is_usual(const bn_options *o) { return !o->quick && !o->sizes && !o->full; }

/* [s] for the sizes of a kind of work in one precision; 0: none, as in the suite of peers, which has few rows. */
static double usual_limit(const bn_bench_device *d, const bn_options *o)
{
    const double share = fmax(1e-3, d->end - bn_seconds_now()) / (double)(2 * d->kinds);
    return is_usual(o) && !o->suite ? fmin(LIMIT_BUDGETS * d->budget, share) : 0;
}

/* The sizes in the precision that is asked for. Without a wish: all in single precision, and in double the last one
 * that was measured of the kinds that --quick takes too; with --full all in both. */
static bn_status measure_case(bn_bench_device *d, const bn_options *o, const bn_bench_case *c, json_t *rows)
{
    const bool gpu = !bn_device_describe(d->plain)->cpu, all = o->full || o->precision != BN_WISH_BOTH;
    spending s = { .limit = usual_limit(d, o) };
    unsigned sizes[LISTED_MOST];
    const size_t count = list_sizes(o, c->sizes[gpu], sizes);
    size_t last = 0;
    bool measured;
    bn_bench_job job;
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < count; i++) {
            if (twice ? !all || o->precision == BN_WISH_SINGLE : o->precision == BN_WISH_DOUBLE)
                continue;
            bn_bench_prepare_on(c, sizes[i], twice, gpu, &d->limits, 1, &job);
            BN_TRY(measure_size(d, &job, i == 0, &s, rows, &measured));
            last = measured ? i : last;
        }
    if (all || count == 0 || c->level != BN_BENCH_QUICK || o->quick || o->sizes)
        return BN_OK;
    s.spent = 0; /* double precision has its own time: the largest size that fits into it */
    s.limit = usual_limit(d, o);
    for (bn_bench_prepare_on(c, sizes[last], true, gpu, &d->limits, 1, &job);
         last > 0 && expected_seconds(&s, &job, d->budget) > s.limit;)
        bn_bench_prepare_on(c, sizes[--last], true, gpu, &d->limits, 1, &job);
    return measure_size(d, &job, false, &s, rows, &measured);
}

static bn_status open_device(const bn_cli *cli, const bn_bench_wish *wish, size_t index, bn_bench_device *d)
{
    char selector[32];
    snprintf(selector, sizeof selector, "%zu", index);
    *d = (bn_bench_device){ .wish = wish, .budget = 0.25 };
    BN_TRY(bn_device_open(cli->ctx, selector, false, &d->plain));
    if (!cli->options->quick) /* on a GPU more would only repeat more */
        d->budget = bn_device_describe(d->plain)->cpu && !is_usual(cli->options) ? 1.5 : 0.5;
    BN_TRY(bn_device_open(cli->ctx, selector, true, &d->profiling));
    return bn_device_measure_limits(d->plain, cli->options->measure, &d->limits);
}

/* Suites that are no published study. Without `run`: the usual table, of other kinds of work. */
typedef struct own_suite {
    const char *name, *key; /* key: in the document */
    bn_status (*run)(const bn_bench_device *, json_t **out);
    bn_status (*print)(bn_context *, const json_t *);
    bool all_devices; /* all at once */
    bool solvers;     /* takes their names */
    bool compares;    /* has rows that --compare understands */
} own_suite;

static const own_suite own_suites[] = {
    { "scaling", "scaling", bn_bench_scaling, bn_bench_scaling_print, true, true, false },
    { "jobs", "jobs", bn_bench_jobs, bn_bench_jobs_print, false, true, true },
    { "peers", NULL, NULL, NULL, false, true, true },
    { 0 },
};

/* NULL: the name is that of a published study, or of none. */
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
    const bn_bench_wish wish = { .ctx = cli->ctx,
                                 .program = cli->program,
                                 .stop = cli->stop,
                                 .device = o->run.device,
                                 .out = o->run.out,
                                 .solvers = o->args,
                                 .solver_count = o->arg_count,
                                 .quiet = o->run.quiet,
                                 .quick = o->quick,
                                 .smallest = o->quick && o->sizes };
    bn_bench_device d = { 0 };
    bn_bench_tested tested = { 0 };
    bn_status st = BN_OK;
    json_t *rows = json_array(), *entry = NULL;
    BN_GO(open_device(cli, &wish, index, &d));
    d.tested = &tested;
    d.ordinal = json_array_size(devices);
    entry = json_pack("{s:o, s:O}", "device", device_json(&d), "rows", rows);
    if (!entry || json_array_append_new(devices, entry) != 0)
        BN_GO(bn_fail(cli->ctx, BN_MEMORY, "no memory for the document"));
    const own_suite *own = find_own(o->suite);
    const bool peers = own && !own->run;
    if (o->suite && !peers) {
        json_t *suite = NULL;
        BN_GO(own ? own->run(&d, &suite) : bn_bench_suite(&d, o->suite, &suite));
        if (json_object_set_new(entry, own ? own->key : "suite", suite) != 0)
            BN_GO(bn_fail(cli->ctx, BN_MEMORY, "no memory for the document"));
    }
    const bn_bench_level level = peers      ? BN_BENCH_FULL
                                 : o->quick ? BN_BENCH_QUICK
                                 : o->full  ? BN_BENCH_FULL
                                            : BN_BENCH_USUAL;
    const bn_bench_case *cases = peers ? bn_bench_peers : bn_bench_cases;
    d.end = bn_seconds_now() + USUAL_SECONDS;
    for (const bn_bench_case *c = cases; c->solver; c++)
        d.kinds += bn_bench_wanted(&wish, c->solver) && c->level <= level;
    for (const bn_bench_case *c = cases; (!o->suite || peers) && c->solver; c++)
        if (bn_bench_wanted(&wish, c->solver) && c->level <= level) {
            BN_GO(measure_case(&d, o, c, rows));
            d.kinds--;
        }
    if (!o->run.json) {
        BN_GO(print_limits(cli->ctx, json_object_get(entry, "device")));
        BN_GO(peers      ? print_rows(cli->ctx, entry)
              : own      ? own->print(cli->ctx, json_object_get(entry, own->key))
              : o->suite ? bn_bench_suite_print(cli->ctx, json_object_get(entry, "suite"))
                         : print_rows(cli->ctx, entry));
    }
out:
    json_decref(rows);
    bn_device_close(&d.profiling);
    bn_device_close(&d.plain);
    return st;
}

/* report.html of a device, beside its pictures; of the first one with links to those of the others. */
static bn_status write_page(bn_context *ctx, const char *folder, const json_t *devices, size_t which)
{
    static const char *const pictures[] = { "roofline.png", "scaling.png" };
    const json_t *entry = json_array_get(devices, which), *device = json_object_get(entry, "device"),
                 *rows = json_object_get(entry, "rows");
    if (json_array_size(rows) == 0)
        return BN_OK; /* a published study has a page of its own */
    bn_string page = { 0 };
    char title[256];
    json_t *one = json_pack("[O]", (json_t *)(uintptr_t)device);
    snprintf(title, sizeof title, "How fast on %.120s", json_string_value(json_object_get(device, "name")));
    bn_html_begin(&page, title);
    bn_html_add(&page, "<p>Binnacle %s, driver %s; all figures: <a href=\"%sbench.json\">bench.json</a>", bn_version(),
                json_string_value(json_object_get(device, "driver")), which > 0 ? "../" : "");
    for (size_t i = 1; which == 0 && i < json_array_size(devices); i++)
        bn_string_add(&page, ", <a href=\"device-%zu/report.html\">device %zu</a>", i, i);
    bn_string_add(&page, "</p>\n");
    for (size_t i = 0; i < COUNT(pictures); i++)
        if (access(bn_path_join(folder, pictures[i]).text, F_OK) == 0) /* not where nothing could be measured */
            bn_string_add(&page, "<figure><img src=\"%s\" alt=\"%s\"></figure>\n", pictures[i],
                          i == 0
                              ? "Operations per second of each kernel under the roof of the device; the table has the "
                                "shares"
                              : "Time of a step over the size of the grid; the table has the numbers");
    bn_status st = bn_bench_html(ctx, &page, "Steps: floor is the least time that the device's limits allow", rows,
                                 row_columns, COUNT(row_columns));
    if (st == BN_OK)
        st = bn_bench_html(ctx, &page, "Limits of the device, measured", one, limit_columns, COUNT(limit_columns));
    bn_html_end(&page);
    if (st == BN_OK)
        st = page.failed
                 ? bn_fail(ctx, BN_MEMORY, "no memory for a page")
                 : bn_file_write(ctx, bn_path_join(folder, "report.html").text, bn_string_text(&page), page.bytes);
    json_decref(one);
    bn_string_clear(&page);
    return st;
}

/* bench.json, report.html and the pictures; those of the second device and further ones in folders of their own. */
static bn_status write_folder(const bn_cli *cli, const json_t *document)
{
    bn_context *ctx = cli->ctx;
    const char *folder = cli->options->run.out;
    const json_t *devices = json_object_get(document, "devices");
    BN_TRY(bn_directory_create(ctx, folder));
    BN_TRY(bn_json_write(ctx, bn_path_join(folder, "bench.json").text, document, JSON_INDENT(2)));
    for (size_t i = 0; i < json_array_size(devices); i++) {
        char name[32];
        snprintf(name, sizeof name, "device-%zu", i);
        const bn_path path = bn_path_join(folder, i > 0 ? name : ".");
        BN_TRY(bn_directory_create(ctx, path.text));
        BN_TRY(bn_bench_draw(ctx, path.text, json_array_get(devices, i)));
        BN_TRY(write_page(ctx, path.text, devices, i));
    }
    return BN_OK;
}

/* Fails if no row was measured, with the reason of the first one. */
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
    const own_suite *own = find_own(o->suite);
    if (o->suite && !own)
        BN_TRY(bn_bench_suite_check(cli->ctx, o->suite));
    if (o->quick && o->full)
        return bn_fail(cli->ctx, BN_USAGE, "--quick and --full exclude each other");
    for (const char *at = o->sizes; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strspn(at, "0123456789") != strcspn(at, ",") || strcspn(at, ",") > 8 || strtoul(at, NULL, 10) < 1)
            return bn_fail(
                cli->ctx, BN_USAGE,
                "--size %s: expected whole numbers with commas between: up to %d the first, second, ... size "
                "of each kind of work, above points along a side",
                o->sizes, (int)BN_BENCH_SIZES_MOST);
    if (o->suite && ((o->arg_count > 0 && !(own && own->solvers)) || (o->compare && !(own && own->compares))))
        return bn_fail(cli->ctx, BN_USAGE, "--suite %s goes without %s", o->suite,
                       o->compare && !(own && own->compares) ? "--compare" : "solvers");
    if (o->sizes && own && own->run)
        return bn_fail(cli->ctx, BN_USAGE, "--suite %s goes without --size: it has sizes of its own", o->suite);
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
    json_t *old = NULL; /* read first: a wrong path ends the command at once */
    if (o->compare)
        BN_TRY(bn_bench_read(cli->ctx, o->compare, &old));
    date_text((long long)time(NULL), date);
    json_t *devices = json_array();
    json_t *document = json_pack("{s:s, s:s, s:b, s:O}", "binnacle", bn_version(), "date", date, "quick", (int)o->quick,
                                 "devices", devices);
    if (!document)
        BN_GO(bn_fail(cli->ctx, BN_MEMORY, "no memory for the document"));
    const own_suite *own = find_own(o->suite);
    for (size_t i = 0; i < (own && own->all_devices ? 1 : count); i++)
        BN_GO(bench_device(cli, indices[i], devices));
    if (o->compare)
        BN_GO(bn_bench_compare(cli->ctx, document, old, o->compare, !o->run.json));
    if (o->run.json)
        BN_GO(bn_json_print(cli, json_incref(document)));
    if (o->run.out)
        BN_GO(write_folder(cli, document));
    if (!o->suite || (own && !own->run))
        st = check_measured(cli->ctx, devices);
out:
    json_decref(old);
    json_decref(devices);
    json_decref(document);
    return st;
}
