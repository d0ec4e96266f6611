/* bench_suites.c: published studies, their figures beside ours. The published ones are embedded in the program
 * (data/published/); a figure that one side does not have is left empty. */
#include "cli/bench_suites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *source;
    bn_status (*run)(const bn_suite *);
} suites[] = {
    { "seed-000", "X-rays as particles: precision and error over photons; Grund, Dresden 2016 (Nvidia K20X)",
      bn_suite_xray },
    { "seed-001", "light in thin films: work-groups and layouts; thesis, Erlangen (Nvidia GT 330M), grid not stated",
      bn_suite_maxwell },
    { "seed-002",
      "shallow water on hexagons: precision, layouts, sizes; thesis (Nvidia GTX TITAN Black, 1,147,423 cells)",
      bn_suite_flood },
    { "seed-003",
      "beam propagation: a step along z over N; Alekseev and Golovashkin (Nvidia GTS 250, one core of an E7500)",
      bn_suite_bpm },
    { "seed-004",
      "flow: products of conjugate gradients, time steps; diploma thesis (Nvidia Tesla C1060, one core of its host)",
      bn_suite_flow },
};
enum { SUITES = sizeof suites / sizeof *suites };

bn_status bn_bench_suite_check(bn_context *ctx, const char *name)
{
    for (size_t i = 0; i < SUITES; i++)
        if (strcmp(suites[i].name, name) == 0)
            return BN_OK;
    return bn_fail(ctx, BN_USAGE,
                   "unknown suite `%s`; there are seed-000, seed-001, seed-002, seed-003, seed-004, overhead, "
                   "default-vs-tuned, scaling and jobs",
                   name);
}

/* Fails if there is no figure of ours, with the reason of the first row. */
static bn_status check_measured(bn_context *ctx, const json_t *rows)
{
    for (size_t r = 0; r < json_array_size(rows); r++)
        if (json_is_number(json_object_get(json_array_get(rows, r), "ours")))
            return BN_OK;
    const json_t *missing = json_object_get(json_array_get(rows, 0), "missing");
    return bn_fail(ctx, BN_DEVICE, "nothing could be measured: %s",
                   json_is_string(missing) ? json_string_value(missing) : "the study has no cases");
}

bn_status bn_bench_suite(const bn_bench_device *d, const char *name, json_t **out)
{
    size_t i = 0;
    while (i + 1 < SUITES && strcmp(suites[i].name, name) != 0)
        i++;
    bn_suite s = {
        .d = d, .rows = json_array(), .gpu = !bn_device_describe(d->plain)->cpu, .quick = d->cli->options->quick
    };
    char why[BN_SUITE_WHY] = "";
    bn_bench_device shorter = *d;
    shorter.budget = fmin(d->budget, 0.5); /* many rows */
    s.d = &shorter;
    s.why = why;
    s.checks = true; /* all cases are read first: a wrong one ends the command at once */
    bn_status st = suites[i].run(&s);
    s.checks = false;
    json_array_clear(s.rows);
    if (st == BN_OK)
        st = suites[i].run(&s);
    if (st == BN_OK)
        st = check_measured(d->cli->ctx, s.rows);
    *out = st == BN_OK
               ? json_pack("{s:s, s:s, s:O}", "name", suites[i].name, "source", suites[i].source, "rows", s.rows)
               : NULL;
    json_decref(s.rows);
    return st == BN_OK && !*out ? bn_fail(d->cli->ctx, BN_MEMORY, "no memory for the suite") : st;
}

bn_status bn_bench_suite_print(bn_context *ctx, const json_t *suite)
{
    static const bn_bench_column columns[] = {
        { "", "what", BN_BENCH_TEXT, NULL },
        { "published", "published", BN_BENCH_NUMBER, NULL },
        { "ours", "ours", BN_BENCH_NUMBER, "" },
        { "", "unit", BN_BENCH_TEXT, NULL },
        { "ours over published", "ratio", BN_BENCH_NUMBER, "" },
    };
    printf("%s\n", json_string_value(json_object_get(suite, "source")));
    return bn_bench_print(ctx, json_object_get(suite, "rows"), columns, sizeof columns / sizeof *columns);
}
