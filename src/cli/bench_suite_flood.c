/* bench_suite_flood.c: the study of shallow water on hexagons: layouts, precision, size of the scenario, simulated
 * time. */
#include "cli/bench_suites.h"

#include "output/progress.h"
#include "sim/solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The scenario that stands in for the study's building, which has no published plan. */
static const char building[] = "data/cases/flood/building.toml";

/* Seconds of a whole simulation, without its setup and without output; NaN where it ends with an error, which is told.
 * A case that is wrong is a failure. */
static bn_status simulate(const bn_suite *s, const char *path, const char *text, const char *const *sets, size_t count,
                          double *seconds)
{
    bn_context *ctx = s->d->cli->ctx;
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    *seconds = (double)NAN;
    s->why[0] = '\0';
    bn_status st = text ? bn_case_parse(ctx, path, text, sets, count, &c) : bn_case_read(ctx, path, sets, count, &c);
    if (st != BN_OK || s->checks) {
        bn_case_destroy(&c);
        return st;
    }
    st = bn_sim_create(ctx, c, &(bn_sim_desc){ .device = s->d->plain }, &sim);
    const double start = bn_seconds_now();
    while (st == BN_OK && !bn_sim_done(sim)) {
        st = bn_sim_step(sim);
        if (st == BN_OK && *s->d->cli->stop)
            st = bn_fail(ctx, BN_INTERRUPTED, "interrupted");
    }
    if (st == BN_OK)
        st = bn_domain_finish(bn_sim_domain(sim));
    if (st == BN_OK)
        *seconds = bn_seconds_now() - start;
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    if (st == BN_OK || st == BN_INTERRUPTED)
        return st;
    bn_log(ctx, BN_LOG_WARNING, "%s", bn_error_text(ctx));
    snprintf(s->why, BN_SUITE_WHY, "%.*s", (int)strcspn(bn_error_text(ctx), "\n"), bn_error_text(ctx));
    bn_error_clear(ctx);
    return BN_OK;
}

/* The study's layouts, arrays of structures and structures of arrays, by the step of src/studies/flood_layouts.c on a
 * wet grid like that of the solver's standard case. */
static bn_status layouts(const bn_suite *s, unsigned n)
{
    bn_published t = bn_published_open("data/published/seed-002-flood.csv");
    double published[2] = { (double)NAN, (double)NAN }, ours[2] = { (double)NAN, (double)NAN };
    static const char *const names[] = { "AoS", "SoA" }, *const settings[] = { "solver.state=cells",
                                                                               "solver.state=planes" };
    char radius[32];
    snprintf(radius, sizeof radius, "initial.radius=%g", 0.1 * n);
    while (bn_published_next(&t)) {
        const char *item = bn_published_text(&t, "item");
        if (strncmp(bn_published_text(&t, "table"), "4.6", 3) != 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (strncmp(item, "CUDA ", 5) == 0 && strcmp(item + 5, names[i]) == 0)
                published[i] = bn_published_number(&t, "value");
        BN_TRY(bn_suite_skip(s, bn_published_number(&t, "value"), "ms", "its case is not published",
                             "the study's own case, %s", item));
    }
    for (int i = 0; i < 2; i++) {
        const bn_bench_case of = {
            .solver = "flood_layouts",
            .what = "time step",
            .unit = "cell",
            .text = "[case]\nsolver='flood_layouts'\n[initial]\nlevels=[2.5,0.5]\n"
                    "[output]\npictures=false\n[stop]\nsteps=100000000\n",
            .dims = 2,
            .sets = { settings[i], radius },
        };
        bn_bench_job job;
        bn_bench_prepare(&of, n, false, s->gpu, &job);
        snprintf(job.sets[job.set_count++], BN_BENCH_SET, "grid.cells=[%u,%u]", n, n);
        BN_TRY(bn_suite_seconds(s, &job, &ours[i]));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e3 * ours[i], "ms", "a step of %u x %u wet cells, single, %s (%s)", n, n,
                            names[i], settings[i]));
    }
    return bn_suite_add(s, published[0] / published[1], ours[0] / ours[1], "x", "AoS over SoA");
}

/* A circle of deep water that spreads for some seconds. */
static bn_status simulated_time(const bn_suite *s, unsigned n)
{
    const bn_bench_case of = bn_suite_base("flood");
    for (int i = 0; i < (s->quick ? 2 : 4); i++) {
        const double end = 4 << i;
        bn_bench_job job;
        char time[64];
        const char *sets[BN_BENCH_SETS + 8];
        size_t count = 0;
        double seconds;
        bn_bench_prepare(&of, n, false, s->gpu, &job);
        for (size_t k = 0; k < job.set_count; k++)
            sets[count++] = job.sets[k];
        for (size_t k = 0; of.sets[k]; k++)
            sets[count++] = of.sets[k];
        snprintf(time, sizeof time, "stop.time=%g", end);
        sets[count++] = time;
        BN_TRY(simulate(s, "bench", of.text, sets, count, &seconds));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e3 * seconds, "ms", "%2.0f s of %u x %u cells, single", end, n, n));
    }
    return BN_OK;
}

bn_status bn_suite_flood(const bn_suite *s)
{
    const bn_bench_case of = bn_suite_base("flood");
    double published[2] = { (double)NAN, (double)NAN }, ours[2];
    bn_published t = bn_published_open("data/published/seed-002-flood.csv");
    while (bn_published_next(&t)) {
        if (strcmp(bn_published_text(&t, "item"), "single time") == 0)
            published[0] = bn_published_number(&t, "value");
        if (strcmp(bn_published_text(&t, "item"), "double time") == 0)
            published[1] = bn_published_number(&t, "value");
    }
    /* 1,147,423 cells for 600 s: some 12,000 steps, more or less by what flows. Ours: the same number of cells, all
     * wet. */
    const unsigned n = s->gpu || !s->quick ? 1071 : 256;
    BN_TRY(layouts(s, n));
    for (int twice = 0; twice < 2; twice++) {
        bn_bench_job job;
        bn_bench_prepare(&of, n, twice, s->gpu, &job);
        BN_TRY(bn_suite_seconds(s, &job, &ours[twice]));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e3 * ours[twice], "ms", "a step of %u x %u wet cells, %s", n, n,
                            twice ? "double" : "single"));
    }
    BN_TRY(bn_suite_add(s, published[1] / published[0], ours[1] / ours[0], "x", "double over single"));
    for (int twice = 0; twice < 2; twice++) {
        const char *const sets[] = { twice ? "case.precision=double" : "case.precision=single" },
                          *precision = twice ? "double" : "single",
                          *why = access(building, R_OK) != 0 ? "that file is not in the current folder"
                                 : !s->gpu                   ? "takes minutes on a CPU"
                                 : s->quick                  ? "left out with --quick"
                                                             : NULL;
        double seconds = (double)NAN;
        if (!why || (s->checks && access(building, R_OK) == 0))
            BN_TRY(simulate(s, building, NULL, sets, 1, &seconds));
        if (why)
            BN_TRY(bn_suite_skip(s, published[twice], "ms", why, "600 s in the building (ours: %s), %s", building,
                                 precision));
        else
            BN_TRY(bn_suite_add(s, published[twice], 1e3 * seconds, "ms", "600 s in the building (ours: %s), %s",
                                building, precision));
    }
    for (int i = 0; i < (s->quick ? 2 : BN_BENCH_SIZES); i++) {
        bn_bench_job job;
        double seconds;
        bn_bench_prepare(&of, of.sizes[s->gpu][i], false, s->gpu, &job);
        BN_TRY(bn_suite_seconds(s, &job, &seconds));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e3 * seconds, "ms", "a step of %u x %u wet cells, single", job.n, job.n));
    }
    return simulated_time(s, of.sizes[s->gpu][0]);
}
