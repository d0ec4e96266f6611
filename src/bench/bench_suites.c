/* bench_suites.c: published studies, their figures beside ours. The published ones are embedded in the program
 * (data/published/); a figure that one side does not have is left empty. */
#include "bench/bench_suites.h"

#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *alias, *source;
    const bn_suite_table *tables;
} suites[] = {
    { "paper-xray", "seed-000",
      "X-rays as particles: precision and error over photons; Grund, Dresden 2016 (Nvidia K20X)", bn_suite_xray },
    { "paper-maxwell", "seed-001",
      "light in thin films: work-groups and layouts; thesis, Erlangen (Nvidia GT 330M), grid not stated",
      bn_suite_maxwell },
    { "paper-flood", "seed-002",
      "shallow water on hexagons: precision, layouts, sizes; thesis (Nvidia GTX TITAN Black, 1,147,423 cells)",
      bn_suite_flood },
    { "paper-bpm", "seed-003",
      "beam propagation: a step along z over N; Alekseev and Golovashkin (Nvidia GTS 250, one core of an E7500)",
      bn_suite_bpm },
    { "paper-flow", "seed-004",
      "flow: products of conjugate gradients, time steps; diploma thesis (Nvidia Tesla C1060, one core of its host)",
      bn_suite_flow },
};
enum { SUITES = sizeof suites / sizeof *suites };

static const struct {
    const char *name, *instead;
} gone[] = {
    { "overhead",
      "`binnacle bench --size 64 --json` has the launches and waits of a step, and the share outside of kernels; a "
      "start stands in `timings` of summary.json and in --suite jobs" },
    { "default-vs-tuned",
      "`binnacle tune SOLVER` prints every kernel's default work-group beside the fastest; --out leaves tune.json" },
};

bn_status bn_bench_suite_check(bn_context *ctx, const char *name)
{
    for (size_t i = 0; i < SUITES; i++)
        if (strcmp(suites[i].name, name) == 0 || strcmp(suites[i].alias, name) == 0)
            return BN_OK;
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (strcmp(gone[i].name, name) == 0)
            return bn_fail(ctx, BN_USAGE, "--suite %s is no more: %s", name, gone[i].instead);
    return bn_fail(ctx, BN_USAGE,
                   "unknown suite `%s`; there are paper-xray, paper-maxwell, paper-flood, paper-bpm, paper-flow "
                   "(seed-000 to seed-004), scaling, peers and jobs",
                   name);
}

/* All cases are read first: a wrong one ends the command at once. */
static bn_status check_cases(bn_suite s, const bn_suite_table *tables)
{
    s.checks = true;
    s.folder = NULL;
    for (s.table = tables; s.table->id; s.table++)
        BN_TRY(s.table->run(&s));
    json_array_clear(s.rows);
    return BN_OK;
}

/* Measures a table, unless it is there, and puts its rows and pictures to those of the suite. */
static bn_status run_table(const bn_suite *s, json_t *tables, json_t *all)
{
    bool found = false;
    *s->failed = false;
    json_array_clear(s->rows);
    json_array_clear(s->pictures);
    if (s->folder)
        BN_TRY(bn_paper_find(s, &found));
    if (!found)
        BN_TRY(s->table->run(s));
    if (s->folder && !found)
        BN_TRY(bn_paper_write(s));
    json_t *entry = json_pack("{s:s, s:o, s:o}", "id", s->table->id, "rows", json_deep_copy(s->rows), "pictures",
                              json_deep_copy(s->pictures));
    for (size_t r = 0; r < json_array_size(s->rows); r++)
        json_object_set_new(json_array_get(s->rows, r), "table", json_string(s->table->id));
    return entry && json_array_append_new(tables, entry) == 0 && json_array_extend(all, s->rows) == 0
               ? BN_OK
               : bn_fail(s->d->wish->ctx, BN_MEMORY, "no memory for the suite");
}

/* The folder for the files of a device, as bench.json's; NULL: there is none. */
static bn_status make_folder(const bn_bench_device *d, char path[BN_BENCH_PATH], const char **out)
{
    const char *folder = d->wish->out;
    *out = folder ? path : NULL;
    if (!folder)
        return BN_OK;
    snprintf(path, BN_BENCH_PATH, d->ordinal > 0 ? "%s/device-%zu" : "%s", folder, d->ordinal);
    return bn_directory_create(d->wish->ctx, path);
}

bn_status bn_bench_suite(const bn_bench_device *d, const char *name, json_t **out)
{
    size_t i = 0;
    while (i + 1 < SUITES && strcmp(suites[i].name, name) != 0 && strcmp(suites[i].alias, name) != 0)
        i++;
    char why[BN_SUITE_WHY] = "", path[BN_BENCH_PATH];
    bool measured = false, failed = false;
    bn_bench_device shorter = *d;
    shorter.budget = d->wish->smallest ? 0.02
                                       : fmin(d->budget, bn_device_describe(d->plain)->cpu ? 0.5 : 0.2); /* many rows */
    json_t *all = json_array(), *tables = json_array();
    bn_suite s = { .d = &shorter,
                   .rows = json_array(),
                   .pictures = json_array(),
                   .kept = json_object(),
                   .why = why,
                   .measured = &measured,
                   .failed = &failed,
                   .level = d->wish->smallest ? BN_SUITE_SMALLEST
                            : d->wish->quick  ? BN_SUITE_QUICK
                                              : BN_SUITE_WHOLE,
                   .gpu = !bn_device_describe(d->plain)->cpu,
                   .quick = d->wish->quick };
    bn_status st = check_cases(s, suites[i].tables);
    if (st == BN_OK)
        st = make_folder(d, path, &s.folder);
    for (s.table = suites[i].tables; st == BN_OK && s.table->id; s.table++)
        st = run_table(&s, tables, all);
    if (st == BN_OK && s.folder)
        st = bn_paper_page(&(bn_suite){ .d = d, .folder = s.folder, .table = suites[i].tables }, suites[i].source,
                           tables);
    if (st == BN_OK && !measured)
        st = bn_fail(d->wish->ctx, BN_DEVICE, "nothing could be measured: %s", why[0] ? why : "the study has no cases");
    *out = st == BN_OK ? json_pack("{s:s, s:s, s:O}", "name", suites[i].name, "source", suites[i].source, "rows", all)
                       : NULL;
    json_decref(s.rows);
    json_decref(s.pictures);
    json_decref(s.kept);
    json_decref(tables);
    json_decref(all);
    return st == BN_OK && !*out ? bn_fail(d->wish->ctx, BN_MEMORY, "no memory for the suite") : st;
}

bn_status bn_bench_suite_print(bn_context *ctx, const json_t *suite)
{
    static const bn_bench_column columns[] = {
        { "table", "table", BN_BENCH_TEXT, NULL },
        { "", "what", BN_BENCH_TEXT, NULL },
        { "published", "published", BN_BENCH_NUMBER, NULL },
        { "ours", "ours", BN_BENCH_NUMBER, "" },
        { "", "unit", BN_BENCH_TEXT, NULL },
        { "ours over published", "ratio", BN_BENCH_NUMBER, "" },
    };
    printf("%s\n", json_string_value(json_object_get(suite, "source")));
    return bn_bench_print(ctx, json_object_get(suite, "rows"), columns, sizeof columns / sizeof *columns);
}
