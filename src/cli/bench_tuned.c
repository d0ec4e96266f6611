/* bench_tuned.c: `bench --suite default-vs-tuned`: each solver's standard case through `tune`, with a database that
 * nobody else sees: how far the default work-groups are from the best ones. */
#include "cli/bench.h"

#include "cli/cli_text.h"
#include "io/file.h"
#include "run/child.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TUNE_SECONDS = 3600, TROUBLE = BN_BENCH_REASON };

/* Seconds of a shape of a kernel in tune's document. */
static double seconds_of(const json_t *kernel, const json_t *group)
{
    const json_t *shapes = json_object_get(kernel, "shapes");
    for (size_t i = 0; i < json_array_size(shapes); i++)
        if (json_equal(json_object_get(json_array_get(shapes, i), "work_group"), group))
            return bn_json_number(json_array_get(shapes, i), "seconds");
    return (double)NAN;
}

/* A row for each kernel that takes a twentieth of the step or more. */
static bn_status take(bn_context *ctx, const bn_bench_job *job, const json_t *tuned, json_t *rows)
{
    const json_t *kernels = json_object_get(tuned, "kernels");
    double all = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < json_array_size(kernels); k++) {
            const json_t *kernel = json_array_get(kernels, k);
            const json_t *first = json_object_get(json_array_get(json_object_get(kernel, "shapes"), 0), "work_group");
            const double before = seconds_of(kernel, first), best = seconds_of(kernel, json_object_get(kernel, "best")),
                         cost = before * bn_json_number(kernel, "calls");
            if (!(cost > 0))
                continue;
            if (pass == 0) {
                all += cost;
                continue;
            }
            if (cost < 0.05 * all)
                continue;
            json_t *row = json_pack(
                "{s:s, s:i, s:i, s:O, s:o, s:O, s:O, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "solver", job->of->solver,
                "size", (int)job->n, "dims", job->of->dims, "kernel", json_object_get(kernel, "kernel"), "share",
                bn_json_real(cost / all), "default", first, "best", json_object_get(kernel, "best"), "default_seconds",
                bn_json_real(before), "best_seconds", bn_json_real(best), "ratio", bn_json_real(before / best),
                "step_default", bn_json_real(bn_json_number(tuned, "default_step_seconds")), "step_tuned",
                bn_json_real(bn_json_number(tuned, "tuned_step_seconds")), "tied",
                json_boolean(
                    json_is_true(json_object_get(json_array_get(json_object_get(kernel, "shapes"), 0), "tied"))),
                "trouble", json_null());
            BN_TRY(bn_bench_add_row(ctx, rows, row, NULL));
        }
    return BN_OK;
}

static bn_status tune_one(const bn_bench_device *d, const bn_bench_job *job, const char *folder, json_t *rows)
{
    const bn_cli *cli = d->cli;
    const char *options[] = { "--quiet", "--json", "--shapes-only", cli->options->quick ? "--quick" : NULL, NULL };
    char trouble[TROUBLE] = "";
    bn_bench_command command = { 0 };
    bn_child child;
    json_error_t error;
    BN_TRY(bn_bench_child_command(d, job, folder, "tune", options, &command));
    BN_TRY(bn_child_run(cli->ctx, cli->stop, command.arguments, TUNE_SECONDS, &child));
    json_t *tuned = child.end == BN_CHILD_EXITED && child.code == 0 ? json_loads(child.said, 0, &error) : NULL;
    bn_child_release(&child);
    if (!tuned)
        snprintf(trouble, sizeof trouble, "`tune` ended with %s %d",
                 child.end == BN_CHILD_EXITED ? "exit code" : "signal", child.code);
    bn_status st = BN_OK;
    if (tuned)
        st = take(cli->ctx, job, tuned, rows);
    else
        st = bn_bench_add_row(cli->ctx, rows,
                              json_pack("{s:s, s:i, s:i, s:o}", "solver", job->of->solver, "size", (int)job->n, "dims",
                                        job->of->dims, "trouble", bn_json_text(trouble)),
                              NULL);
    json_decref(tuned);
    return st;
}

bn_status bn_bench_tuned(const bn_bench_device *d, json_t **out)
{
    static const char variable[] = "XDG_DATA_HOME";
    const bool gpu = !bn_device_describe(d->plain)->cpu;
    char folder[BN_BENCH_PATH], *before = NULL;
    const char *solver = "";
    json_t *rows = json_array();
    bn_status st = BN_OK;
    *out = NULL;
    BN_TRY(bn_bench_temporary(d->cli->ctx, folder));
    if ((getenv(variable) && !(before = strdup(getenv(variable)))) || setenv(variable, folder, 1) != 0) {
        st = bn_fail(d->cli->ctx, BN_MEMORY, "no memory for the environment of child processes");
        goto out;
    }
    for (const bn_bench_case *c = bn_bench_cases; c->solver; c++) {
        bn_bench_job job;
        if (strcmp(c->solver, solver) == 0) /* the first kind of work of each */
            continue;
        solver = c->solver;
        bn_bench_prepare(c, c->sizes[gpu][!d->cli->options->quick], false, gpu, &job);
        if (!d->cli->options->run.quiet)
            fprintf(stderr, "bench: tune %s, %s, %u\n", c->solver, c->what, job.n);
        BN_GO(tune_one(d, &job, folder, rows));
    }
    *out = json_incref(rows);
out:
    if (before)
        (void)setenv(variable, before, 1);
    else
        (void)unsetenv(variable);
    free(before);
    bn_bench_remove_tree(folder);
    json_decref(rows);
    return st;
}

bn_status bn_bench_tuned_print(bn_context *ctx, const json_t *rows)
{
    static const bn_bench_column columns[] = {
        { "solver", "solver", BN_BENCH_TEXT, NULL },
        { "kernel", "kernel", BN_BENCH_TEXT, NULL },
        { "size", "size", BN_BENCH_SIZE, NULL },
        { "of a step", "share", BN_BENCH_SHARE, NULL },
        { "default", "default", BN_BENCH_SHAPE, NULL },
        { "", "default_seconds", BN_BENCH_DURATION, NULL },
        { "best", "best", BN_BENCH_SHAPE, NULL },
        { "", "best_seconds", BN_BENCH_DURATION, NULL },
        { "default / best", "ratio", BN_BENCH_NUMBER, "" },
        { "step: default", "step_default", BN_BENCH_DURATION, NULL },
        { "tuned", "step_tuned", BN_BENCH_DURATION, NULL },
    };
    BN_TRY(bn_bench_print(ctx, rows, columns, sizeof columns / sizeof *columns));
    printf("Kernels of a twentieth of the step or more. Where the times of both overlap, `tune` keeps the default.\n");
    return BN_OK;
}
