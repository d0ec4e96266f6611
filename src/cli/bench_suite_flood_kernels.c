/* bench_suite_flood_kernels.c: table 4.2 of the study of shallow water: time, registers, local memory and occupancy of
 * the kernels of a step. OpenCL 1.2 does not tell registers; they are read in what a compiler says of its work. */
#include "cli/bench_suites.h"

#include "io/file.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned bn_suite_flood_cells(const bn_suite *s)
{
    return s->level == BN_SUITE_SMALLEST ? 64 : s->gpu || !s->quick ? 1071 : 256;
}

/* All logs of a folder, one after the other; free it. */
static bn_status read_logs(const bn_suite *s, const char *folder, char **out)
{
    bn_string all = { 0 };
    bn_status st = BN_OK;
    DIR *d = opendir(folder);
    if (!d)
        return bn_fail(s->d->cli->ctx, BN_IO, "cannot read %s: %s", folder, strerror(errno));
    for (const struct dirent *e = readdir(d); st == BN_OK && e; e = readdir(d)) {
        char path[BN_BENCH_PATH + 300], *text = NULL;
        size_t bytes;
        const char *end = strrchr(e->d_name, '.');
        if (!end || strcmp(end, ".log") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        st = bn_file_read(s->d->cli->ctx, path, (size_t)1 << 24, &text, &bytes);
        if (st == BN_OK)
            bn_string_add(&all, "%s\n", text);
        free(text);
    }
    (void)closedir(d);
    if (st == BN_OK && all.failed)
        st = bn_fail(s->d->cli->ctx, BN_MEMORY, "no memory for the logs of the compiler");
    *out = st == BN_OK ? bn_string_take(&all) : NULL;
    bn_string_clear(&all);
    return st;
}

static bn_status set_variable(const bn_suite *s, const char *name, const char *value)
{
    return (value ? setenv(name, value, 1) : unsetenv(name)) == 0
               ? BN_OK
               : bn_fail(s->d->cli->ctx, BN_MEMORY, "%s cannot be set: %s", name, strerror(errno));
}

/* What the compiler says of the job's programs, in a process that finds nothing in a driver's cache: what is taken from
 * there has no log. */
static bn_status compile(const bn_suite *s, const bn_bench_job *job, char **log)
{
    static const char programs[] = "BINNACLE_PROGRAMS", no_cache[] = "CUDA_CACHE_DISABLE";
    const char *before = getenv(programs), *sets[BN_BENCH_SETS + 4];
    char folder[BN_BENCH_PATH], kept[BN_BENCH_PATH] = "";
    size_t n = 0;
    bn_suite_run r = { 0 };
    for (; n < job->set_count; n++)
        sets[n] = job->sets[n];
    sets[n++] = "stop.steps=1";
    sets[n++] = "output.pictures=false";
    sets[n++] = "output.vtk=false";
    sets[n] = NULL;
    if (before)
        snprintf(kept, sizeof kept, "%s", before);
    BN_TRY(bn_bench_temporary(s->d->cli->ctx, folder));
    bn_status st = set_variable(s, programs, folder);
    if (st == BN_OK)
        st = set_variable(s, no_cache, "1");
    if (st == BN_OK)
        st = bn_suite_simulate(s, "table-4.2", job->of->text, sets, &r);
    bn_suite_run_release(s, &r);
    if (st == BN_OK)
        st = read_logs(s, folder, log);
    bn_bench_remove_tree(folder);
    const bn_status restored = set_variable(s, programs, before ? kept : NULL),
                    cleared = set_variable(s, no_cache, NULL);
    return st != BN_OK ? st : restored != BN_OK ? restored : cleared;
}

static bn_status add_kernel(const bn_suite *s, const bn_bench_kernel *k, double all, const char *log)
{
    const double none = (double)NAN;
    unsigned registers = 0, architecture = 0;
    BN_TRY(bn_suite_add(s, none, 100 * k->seconds / all, "percent", "here: %s", k->name));
    BN_TRY(bn_suite_add(s, none, (double)k->local_bytes, "bytes", "here: %s, local memory of a group of %zu", k->name,
                        k->group));
    if (!bn_bench_registers(log, k->name, &registers, &architecture)) {
        BN_TRY(bn_suite_skip(s, none, "", "this compiler does not tell registers", "here: %s, registers of a work-item",
                             k->name));
        return bn_suite_skip(s, none, "percent", "needs the number of registers", "here: %s, occupancy", k->name);
    }
    BN_TRY(bn_suite_add(s, none, registers, "", "here: %s, registers of a work-item", k->name));
    const double share = bn_bench_occupancy(architecture, registers, k->group, k->local_bytes);
    if (!isfinite(share))
        return bn_suite_skip(s, none, "percent", "limits of this architecture are not known", "here: %s, occupancy",
                             k->name);
    return bn_suite_add(s, none, share, "percent", "here: %s, occupancy", k->name);
}

bn_status bn_suite_flood_table_4_2(const bn_suite *s)
{
    const bn_bench_case of = bn_suite_base("flood");
    bn_bench_job job;
    bn_bench_result r;
    double all = 0;
    char *log = NULL;
    bn_bench_prepare(&of, bn_suite_flood_cells(s), false, s->gpu, &job);
    BN_TRY(bn_suite_measure(s, &job, true, &r)); /* which runs the self-test, whose programs are others */
    bn_status st = s->checks ? BN_OK : compile(s, &job, &log);
    for (size_t k = 0; k < r.kernel_count; k++)
        all += r.kernels[k].seconds;
    for (size_t k = 0; st == BN_OK && k < r.kernel_count; k++)
        st = add_kernel(s, &r.kernels[k], all, log ? log : "");
    free(log);
    BN_TRY(st);
    if (r.kernel_count == 0)
        BN_TRY(bn_suite_add(s, (double)NAN, (double)NAN, "percent", "here"));
    bn_published t = bn_published_open("data/published/seed-002-flood.csv");
    while (bn_published_next(&t))
        if (strcmp(bn_published_text(&t, "table"), "4.2") == 0)
            BN_TRY(bn_suite_skip(s, bn_published_number(&t, "value"), "percent",
                                 "a kernel of the study's; ours do its work in one sweep", "%s (%s)",
                                 bn_published_text(&t, "item"), bn_published_text(&t, "note")));
    return BN_OK;
}
