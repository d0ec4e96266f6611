/* bench_jobs.c: `bench --suite jobs`: every case that is part of the program as a process of its own, with warm caches:
 * where the time goes that a person waits, beside what the kernels take by themselves. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "bench/bench.h"

#include "api/embedded_files.h"
#include "run/child.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 16, PATH = BN_BENCH_PATH, NAME = 64 };

/* [s] after which a run is told to end, and after which it is killed. */
static const double told_after = 20, told_after_quick = 3, killed_after = 120;

bn_status bn_bench_temporary(bn_context *ctx, char folder[BN_BENCH_PATH])
{
    const char *place = getenv("TMPDIR");
    if (snprintf(folder, BN_BENCH_PATH, "%s/binnacle-bench-XXXXXX", place && place[0] ? place : "/tmp") >=
            BN_BENCH_PATH ||
        !mkdtemp(folder))
        return bn_fail(ctx, BN_IO, "no temporary folder for runs in new processes: %s", strerror(errno));
    return BN_OK;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *walk)
{
    (void)s, (void)kind, (void)walk;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

void bn_bench_remove_tree(const char *path) { (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

/* What a run's summary says of it. */
typedef struct job_run {
    double wall, setup, build, steps, output, waits, kernels;
    unsigned long long count; /* of steps */
    char precision[16];
    bool told; /* it was told to end */
} job_run;

static double kernel_seconds(const json_t *summary)
{
    const json_t *rows = json_object_get(summary, "profile");
    double seconds = 0;
    for (size_t i = 0; i < json_array_size(rows); i++)
        seconds += bn_json_number(json_array_get(rows, i), "seconds");
    return seconds;
}

/* `trouble` tells why there is no result. A run that does not converge within its steps has one. */
static bn_status run_once(const bn_bench_wish *w, const char *const *arguments, const char *results, job_run *out,
                          char *trouble, size_t room)
{
    const double start = bn_seconds_now(), most = w->quick ? told_after_quick : told_after;
    char path[PATH + 128];
    bn_child child;
    json_error_t error;
    *out = (job_run){ .wall = 0 };
    BN_TRY(bn_child_start(w->ctx, arguments, BN_CHILD_ERRORS, &child));
    while (bn_child_poll(&child, 1) > 0) {
        const double now = bn_seconds_now() - start;
        if (*w->stop || now > most + killed_after) {
            bn_child_kill(&child);
        } else if (now > most && !out->told) {
            out->told = true;
            (void)kill(child.pid, SIGTERM);
        }
    }
    out->wall = bn_seconds_now() - start;
    bn_child_release(&child);
    if (*w->stop)
        return bn_fail(w->ctx, BN_INTERRUPTED, "interrupted");
    snprintf(path, sizeof path, "%s/summary.json", results);
    json_t *summary = json_load_file(path, 0, &error);
    const json_t *timings = json_object_get(summary, "timings");
    const bool good = child.end == BN_CHILD_EXITED &&
                      (out->told || child.code == 0 || child.code == bn_exit_code(BN_DIVERGED));
    if (!good || !timings)
        snprintf(trouble, room, "the run ended with %s %d", child.end == BN_CHILD_EXITED ? "exit code" : "signal",
                 child.code);
    out->setup = bn_json_number(timings, "setup");
    out->build = bn_json_number(timings, "build");
    out->steps = bn_json_number(timings, "steps");
    out->output = bn_json_number(timings, "output");
    out->waits = bn_json_number(timings, "output_waits");
    out->kernels = kernel_seconds(summary);
    out->count = (unsigned long long)json_integer_value(json_object_get(summary, "steps"));
    const char *precision = json_string_value(json_object_get(summary, "precision"));
    snprintf(out->precision, sizeof out->precision, "%s", precision ? precision : "single");
    json_decref(summary);
    return BN_OK;
}

/* A step that fills the caches, two runs of which the shorter counts, and one in which events take the kernels' times.
 * Runs that were told to end are compared with as many steps. */
static bn_status measure_job(const bn_bench_device *d, const char *name, const char *folder, json_t *rows)
{
    const bn_bench_wish *w = d->wish;
    char path[PATH + 2 * NAME], results[PATH + NAME], index[32], count[32], trouble[BN_BENCH_REASON] = "";
    const char *slash = strchr(name, '/') + 1;
    job_run first = { .wall = 0 }, again = first, timed = first;
    snprintf(path, sizeof path, "%s/%s.toml", folder, slash);
    snprintf(results, sizeof results, "%s/out", folder);
    snprintf(index, sizeof index, "%zu", bn_device_describe(d->plain)->index);
    const char *const copy[] = { w->program, "cases", name, "--out", folder, NULL };
    const char *run[ARGUMENTS] = { w->program, "run",     path,      "--device", index, "--out",
                                   results,    "--force", "--quiet", "--steps",  "1",   NULL };
    enum { STEPS = 9 };
    bn_child child;
    if (!w->quiet)
        fprintf(stderr, "bench: %s\n", name);
    BN_TRY(bn_child_start(w->ctx, copy, BN_CHILD_ERRORS, &child));
    while (bn_child_poll(&child, 1) > 0)
        continue;
    bn_child_release(&child);
    BN_TRY(run_once(w, run, results, &first, trouble, sizeof trouble));
    run[STEPS] = run[STEPS + 1] = NULL;
    if (!trouble[0])
        BN_TRY(run_once(w, run, results, &first, trouble, sizeof trouble));
    snprintf(count, sizeof count, "%llu", first.count);
    const char *const as_many[] = { "--steps", count, NULL };
    size_t end = STEPS;
    for (size_t i = 0; first.told && as_many[i]; i++)
        run[end++] = as_many[i];
    if (!trouble[0])
        BN_TRY(run_once(w, run, results, &again, trouble, sizeof trouble));
    run[end++] = "--profile";
    if (!trouble[0])
        BN_TRY(run_once(w, run, results, &timed, trouble, sizeof trouble));
    json_t *row = json_pack("{s:s#, s:s, s:o}", "solver", name, (int)(slash - 1 - name), "what", slash, "trouble",
                            trouble[0] ? bn_json_text(trouble) : json_null());
    const job_run *best = !trouble[0] && again.wall < first.wall ? &again : &first;
    json_t *more = trouble[0] ? NULL
                              : json_pack("{s:s, s:i, s:I, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                                          "precision", best->precision, "size", 1, "steps", (json_int_t)best->count,
                                          "cut", (int)first.told, "seconds", bn_json_real(best->wall), "noise",
                                          bn_json_real(fabs(first.wall - again.wall) / 2 / best->wall), "setup",
                                          bn_json_real(best->setup), "build", bn_json_real(best->build), "stepping",
                                          bn_json_real(best->steps), "output", bn_json_real(best->output), "waits",
                                          bn_json_real(best->waits), "kernels", bn_json_real(timed.kernels), "ratio",
                                          bn_json_real(best->wall / timed.kernels));
    return bn_bench_add_row(w->ctx, rows, row, more);
}

bn_status bn_bench_jobs(const bn_bench_device *d, json_t **out)
{
    static const char cases[] = "data/cases/";
    const size_t skip = sizeof cases - 1;
    char folder[PATH];
    bn_status st = BN_OK;
    json_t *rows = json_array();
    *out = NULL;
    BN_TRY(bn_bench_temporary(d->wish->ctx, folder));
    for (const bn_embedded *f = bn_embedded_files; f->name; f++) {
        char name[NAME], solver[NAME];
        const size_t bytes = strlen(f->name);
        if (strncmp(f->name, cases, skip) != 0 || strcmp(f->name + bytes - 5, ".toml") != 0 || bytes - skip >= NAME)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(bytes - 5 - skip), f->name + skip);
        snprintf(solver, sizeof solver, "%.*s", (int)strcspn(name, "/"), name);
        if (bn_bench_wanted(d->wish, solver))
            BN_GO(measure_job(d, name, folder, rows));
    }
    *out = json_incref(rows);
out:
    json_decref(rows);
    bn_bench_remove_tree(folder);
    return st;
}

bn_status bn_bench_jobs_print(bn_context *ctx, const json_t *rows)
{
    static const bn_bench_column columns[] = {
        { "solver", "solver", BN_BENCH_TEXT, NULL },       { "case", "what", BN_BENCH_TEXT, NULL },
        { "steps", "steps", BN_BENCH_NUMBER, "" },         { "wall", "seconds", BN_BENCH_DURATION, NULL },
        { "noise", "noise", BN_BENCH_SHARE, NULL },        { "set-up", "setup", BN_BENCH_DURATION, NULL },
        { "build", "build", BN_BENCH_DURATION, NULL },     { "steps", "stepping", BN_BENCH_DURATION, NULL },
        { "output", "output", BN_BENCH_DURATION, NULL },   { "waits", "waits", BN_BENCH_DURATION, NULL },
        { "kernels", "kernels", BN_BENCH_DURATION, NULL }, { "wall over kernels", "ratio", BN_BENCH_NUMBER, "" },
    };
    printf(
        "Whole runs in processes of their own, caches warm; told to end after %.0f s. build is a part of set-up, waits "
        "one of output;\nkernels: their own time, by device events in another run.\n",
        told_after);
    return bn_bench_print(ctx, rows, columns, sizeof columns / sizeof *columns);
}
