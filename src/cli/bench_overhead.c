/* bench_overhead.c: `bench --suite overhead`: small cases, in which launching and waiting weigh more than the kernels,
 * and runs of one step in processes of their own, from nothing and with everything in caches. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "cli/bench.h"

#include "cli/cli_text.h"
#include "io/file.h"
#include "output/progress.h"
#include "run/child.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TROUBLE = BN_BENCH_REASON, RUN_SECONDS = 300, PATH = BN_BENCH_PATH };

/* What a launch may cost and what may lie between, on a GPU. */
static const double launch_goal = 4e-6, between_goal = 0.2;

static const struct {
    const char *solver, *what;
    unsigned n;
} small[] = {
    { "flow", "time step", 64 },  { "flow", "time step", 65 }, { "maxwell", "iteration", 48 },
    { "flood", "time step", 32 }, { "bpm", "launch", 300 },    { "xray", "batch", 64 },
};
enum { SMALL = sizeof small / sizeof *small };

static bn_bench_case small_case(size_t i)
{
    const bn_bench_case *c = bn_bench_cases;
    while (strcmp(c->solver, small[i].solver) != 0)
        c++;
    bn_bench_case own = *c;
    own.what = small[i].what;
    return own;
}

/* A step of this table is what the simulation launches at once. */
static void prepare(const bn_bench_case *of, size_t i, bn_bench_job *job)
{
    bn_bench_prepare(of, small[i].n, false, false, job);
    job->per_step *= job->per_record;
}

static bn_status measure_steps(const bn_bench_device *d, json_t *rows)
{
    for (size_t i = 0; i < SMALL; i++) {
        const bn_bench_case of = small_case(i);
        bn_bench_job job;
        bn_bench_result r;
        char trouble[TROUBLE];
        prepare(&of, i, &job);
        bn_bench_tell(d, &job);
        BN_TRY(bn_bench_measure(d, &job, false, &r, trouble, sizeof trouble));
        double kernels = 0;
        for (size_t k = 0; k < r.kernel_count; k++)
            kernels += r.kernels[k].seconds;
        const double queued = r.launches * d->limits.launch;
        json_t *row = json_pack("{s:s, s:s, s:i, s:i, s:o}", "solver", of.solver, "what", of.what, "size", (int)job.n,
                                "dims", of.dims, "trouble", trouble[0] ? bn_json_text(trouble) : json_null());
        json_t *more = trouble[0]
                           ? NULL
                           : json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "seconds", bn_json_real(r.seconds),
                                       "noise", bn_json_real(r.noise), "launches", bn_json_real(r.launches), "waits",
                                       bn_json_real(r.waits), "kernels", bn_json_real(kernels), "queued",
                                       bn_json_real(queued), "above", bn_json_real(r.seconds / queued - 1), "goal",
                                       bn_json_real(r.launches * launch_goal * (1 + between_goal)));
        BN_TRY(bn_bench_add_row(d->cli->ctx, rows, row, more));
    }
    return BN_OK;
}

bn_status bn_bench_child_command(const bn_bench_device *d, const bn_bench_job *job, const char *folder,
                                 const char *command, const char *const *options, bn_bench_command *out)
{
    size_t n = 0;
    snprintf(out->index, sizeof out->index, "%zu", bn_device_describe(d->plain)->index);
    snprintf(out->path, sizeof out->path, "%s/case.toml", folder);
    snprintf(out->results, sizeof out->results, "%s/out", folder);
    const char *const fixed[] = { d->cli->program, command, out->path, "--device", out->index, "--out", out->results };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        out->arguments[n++] = fixed[i];
    while (*options && n + 1 < BN_BENCH_ARGUMENTS)
        out->arguments[n++] = *options++;
    for (size_t i = 0; i < job->set_count + 4 && n + 3 <= BN_BENCH_ARGUMENTS; i++) {
        const char *set = i < job->set_count ? job->sets[i] : job->of->sets[i - job->set_count];
        if (!set)
            break;
        out->arguments[n++] = "--set";
        out->arguments[n++] = set;
    }
    out->arguments[n] = NULL;
    return bn_file_write(d->cli->ctx, out->path, job->of->text, strlen(job->of->text));
}

bn_status bn_bench_temporary(bn_context *ctx, char folder[BN_BENCH_PATH])
{
    const char *place = getenv("TMPDIR");
    if (snprintf(folder, BN_BENCH_PATH, "%s/binnacle-bench-XXXXXX", place && place[0] ? place : "/tmp") >=
            BN_BENCH_PATH ||
        !mkdtemp(folder))
        return bn_fail(ctx, BN_IO, "no temporary folder for runs in new processes: %s", strerror(errno));
    return BN_OK;
}

/* --- starts: processes of their own, whose caches lie in a folder of ours --- */
static const char *const cache_names[] = { "XDG_CACHE_HOME", "POCL_CACHE_DIR", "CUDA_CACHE_PATH" };
enum { CACHES = sizeof cache_names / sizeof *cache_names };

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *walk)
{
    (void)s, (void)kind, (void)walk;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

void bn_bench_remove_tree(const char *path) { (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

/* The environment as it was: getenv()'s texts don't live on behind setenv(). */
typedef struct kept {
    char *values[CACHES];
} kept;

static void restore(kept *k)
{
    for (size_t i = 0; i < CACHES; i++) {
        if (k->values[i])
            (void)setenv(cache_names[i], k->values[i], 1);
        else
            (void)unsetenv(cache_names[i]);
        free(k->values[i]);
    }
}

/* Our cache in FOLDER/own, those of drivers in FOLDER/NAME-`round`. */
static bn_status set_caches(bn_context *ctx, const char *folder, int round)
{
    for (size_t i = 0; i < CACHES; i++) {
        char path[PATH + 64];
        if (i == 0)
            snprintf(path, sizeof path, "%s/own", folder);
        else
            snprintf(path, sizeof path, "%s/%s-%d", folder, cache_names[i], round);
        if (mkdir(path, 0700) != 0 && errno != EEXIST) /* others may not write: they are refused otherwise */
            return bn_fail(ctx, BN_IO, "cannot create the folder %s: %s", path, strerror(errno));
        if (setenv(cache_names[i], path, 1) != 0)
            return bn_fail(ctx, BN_MEMORY, "no memory for the environment of a child process");
    }
    return BN_OK;
}

typedef struct start {
    double wall;  /* [s] of the whole process */
    double ready; /* [s] until the first step; the end of the process is counted along */
    double build; /* [s] of it that the programs took */
} start;

static const start unknown = { (double)NAN, (double)NAN, (double)NAN };

/* One step of the case in a new process. */
static bn_status run_once(const bn_bench_device *d, const bn_bench_job *job, const char *folder, start *out,
                          char *trouble, size_t room)
{
    static const char *const options[] = { "--force", "--quiet", "--steps", "1", NULL };
    char path[PATH + 128];
    bn_bench_command command = { 0 };
    bn_child child;
    json_error_t error;
    BN_TRY(bn_bench_child_command(d, job, folder, "run", options, &command));
    *out = unknown;
    const double begin = bn_seconds_now();
    BN_TRY(bn_child_run(d->cli->ctx, d->cli->stop, command.arguments, RUN_SECONDS, &child));
    const double wall = bn_seconds_now() - begin;
    bn_child_release(&child);
    if (child.end != BN_CHILD_EXITED || child.code != 0) {
        snprintf(trouble, room, "a run of one step ended with %s %d",
                 child.end == BN_CHILD_EXITED ? "exit code" : "signal", child.code);
        return BN_OK;
    }
    snprintf(path, sizeof path, "%s/summary.json", command.results);
    json_t *summary = json_load_file(path, 0, &error);
    const json_t *timings = json_object_get(summary, "timings");
    *out = (start){ wall, wall - bn_json_number(timings, "total") + bn_json_number(timings, "setup"),
                    bn_json_number(timings, "build") };
    json_decref(summary);
    return BN_OK;
}

/* Three starts: with nothing in the caches (the first one measures the device's bandwidth besides), with the
 * self-test's result, with compiled kernels. */
static bn_status measure_start(const bn_bench_device *d, size_t i, const char *folder, json_t *rows)
{
    const bn_bench_case of = small_case(i);
    bn_bench_job job;
    start s[3] = { unknown, unknown, unknown };
    char trouble[TROUBLE] = "", kernels[PATH + 64];
    prepare(&of, i, &job);
    if (!d->cli->options->run.quiet)
        fprintf(stderr, "bench: three starts of %s\n", of.solver);
    snprintf(kernels, sizeof kernels, "%s/own/binnacle/kernels", folder);
    for (int k = 0; k < 3 && !trouble[0]; k++) {
        if (k < 2)
            bn_bench_remove_tree(kernels);
        BN_TRY(set_caches(d->cli->ctx, folder, 2 * (int)i + (k > 0)));
        BN_TRY(run_once(d, &job, folder, &s[k], trouble, sizeof trouble));
    }
    for (int again = 0; again < 3 && !trouble[0]; again++) { /* the machine may do other things: the shortest */
        start other;
        BN_TRY(run_once(d, &job, folder, &other, trouble, sizeof trouble));
        if (!trouble[0] && other.wall < s[2].wall)
            s[2] = other;
    }
    json_t *row = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "solver", of.solver, "trouble",
                            trouble[0] ? bn_json_text(trouble) : json_null(), "first", bn_json_real(s[0].wall), "cold",
                            bn_json_real(s[1].wall), "cold_build", bn_json_real(s[1].build), "warm",
                            bn_json_real(s[2].wall), "warm_ready", bn_json_real(s[2].ready), "warm_build",
                            bn_json_real(s[2].build));
    return bn_bench_add_row(d->cli->ctx, rows, row, NULL);
}

static bn_status measure_starts(const bn_bench_device *d, json_t *rows)
{
    char folder[PATH];
    kept before = { { NULL } };
    bn_status st = BN_OK;
    BN_TRY(bn_bench_temporary(d->cli->ctx, folder));
    for (size_t i = 0; i < CACHES; i++)
        if (getenv(cache_names[i]) && !(before.values[i] = strdup(getenv(cache_names[i])))) {
            st = bn_fail(d->cli->ctx, BN_MEMORY, "no memory for the environment");
            goto out;
        }
    for (size_t i = 0; i < SMALL; i++)
        if (i == 0 || strcmp(small[i].solver, small[i - 1].solver) != 0)
            BN_GO(measure_start(d, i, folder, rows));
out:
    restore(&before);
    bn_bench_remove_tree(folder);
    return st;
}

bn_status bn_bench_overhead(const bn_bench_device *d, json_t **out)
{
    json_t *steps = json_array(), *starts = json_array();
    bn_status st = BN_OK;
    *out = NULL;
    BN_GO(measure_steps(d, steps));
    BN_GO(measure_starts(d, starts));
    if (!(*out = json_pack("{s:O, s:O}", "steps", steps, "starts", starts)))
        st = bn_fail(d->cli->ctx, BN_MEMORY, "no memory for the document");
out:
    json_decref(steps);
    json_decref(starts);
    return st;
}

bn_status bn_bench_overhead_print(bn_context *ctx, const json_t *overhead)
{
    static const bn_bench_column steps[] = {
        { "solver", "solver", BN_BENCH_TEXT, NULL },     { "what", "what", BN_BENCH_TEXT, NULL },
        { "size", "size", BN_BENCH_SIZE, NULL },         { "a step", "seconds", BN_BENCH_DURATION, NULL },
        { "noise", "noise", BN_BENCH_SHARE, NULL },      { "launches", "launches", BN_BENCH_NUMBER, "" },
        { "waits", "waits", BN_BENCH_NUMBER, "" },       { "in kernels", "kernels", BN_BENCH_DURATION, NULL },
        { "queued", "queued", BN_BENCH_DURATION, NULL }, { "above", "above", BN_BENCH_SHARE, NULL },
        { "goal", "goal", BN_BENCH_DURATION, NULL },
    };
    static const bn_bench_column starts[] = {
        { "solver", "solver", BN_BENCH_TEXT, NULL },
        { "first start", "first", BN_BENCH_DURATION, NULL },
        { "no kernels compiled", "cold", BN_BENCH_DURATION, NULL },
        { "building", "cold_build", BN_BENCH_DURATION, NULL },
        { "all in caches", "warm", BN_BENCH_DURATION, NULL },
        { "to the first step", "warm_ready", BN_BENCH_DURATION, NULL },
        { "building", "warm_build", BN_BENCH_DURATION, NULL },
    };
    printf("Small cases: what a step takes, kernels and waits of the host in it, and the launches' cost by itself.\n"
           "goal: 4 us a launch and a fifth more (GPUs).\n");
    BN_TRY(bn_bench_print(ctx, json_object_get(overhead, "steps"), steps, sizeof steps / sizeof *steps));
    printf("\n`run --steps 1`, the whole process: the first one tests the solver on the device besides.\n");
    return bn_bench_print(ctx, json_object_get(overhead, "starts"), starts, sizeof starts / sizeof *starts);
}
