/* bench_suite_bpm.c: the published study 003: beams: a step along z over N, elimination against the iteration of
 * the study. */
#include "cli/bench_suites.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static void prepare_elimination(const bn_suite *s, bn_bench_case *of, unsigned n, bn_bench_job *job)
{
    *of = bn_suite_base("bpm");
    of->what = "step along z, elimination";
    bn_bench_prepare(of, n, false, s->gpu, job);
}

/* A step of the simulation is one along z, of many launches. */
static void prepare_iteration(bn_bench_case *of, const char *tau, unsigned n, bn_bench_job *job)
{
    *of = (bn_bench_case){
        .solver = "bpm_iteration",
        .what = "step along z, iteration",
        .unit = "point",
        .text = "[case]\nsolver='bpm_iteration'\n[grid]\nwidth=10e-6\n[launch]\nwaist=1e-6\n[solver]\ntolerance=1e-8\n",
        .dims = 1,
    };
    *job = (bn_bench_job){ .of = of, .n = n, .per_step = n - 1, .per_item = 1, .set_count = 4 };
    snprintf(job->sets[0], sizeof job->sets[0], "case.precision=single");
    snprintf(job->sets[1], sizeof job->sets[1], "grid.cells=%u", n);
    snprintf(job->sets[2], sizeof job->sets[2], "march.length=%.17g", 4000 * 10e-6 / n / pi);
    snprintf(job->sets[3], sizeof job->sets[3], "solver.tau=%s", tau);
}

bn_status bn_suite_bpm(const bn_suite *s)
{
    static const unsigned sizes[] = { 100, 300, 1000, 3000, 6000, 15000 };
    bn_bench_case of;
    double published = (double)NAN, iteration = (double)NAN, direct = (double)NAN, reference = (double)NAN;
    bn_published t = bn_published_open("data/published/seed-003-bpm.csv");
    while (bn_published_next(&t))
        if (strncmp(bn_published_text(&t, "item"), "speed-up", 8) == 0)
            published = bn_published_number(&t, "value");
    for (size_t i = 0; i < (s->quick ? 3 : sizeof sizes / sizeof *sizes); i++) {
        bn_bench_job job;
        double seconds[3] = { (double)NAN, (double)NAN, (double)NAN };
        const bool too_long = sizes[i] > 3000; /* the sweeps with the study's tau take the study's own time */
        prepare_elimination(s, &of, sizes[i], &job);
        BN_TRY(bn_suite_seconds(s, &job, &seconds[0]));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e6 * seconds[0], "us", "N = %5u, elimination", sizes[i]));
        prepare_iteration(&of, "optimal", sizes[i], &job);
        BN_TRY(bn_suite_seconds(s, &job, &seconds[1]));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e6 * seconds[1], "us", "N = %5u, iteration, best tau", sizes[i]));
        prepare_iteration(&of, "seed", sizes[i], &job);
        if (!too_long || s->checks)
            BN_TRY(bn_suite_seconds(s, &job, &seconds[2]));
        if (!too_long)
            BN_TRY(
                bn_suite_add(s, (double)NAN, 1e6 * seconds[2], "us", "N = %5u, iteration, the study's tau", sizes[i]));
        if (sizes[i] == (s->quick ? 1000 : 3000)) {
            direct = seconds[0];
            iteration = seconds[2];
            job.reference = true;
            BN_TRY(bn_suite_seconds(s, &job, &reference));
        }
    }
    const char *at = s->quick ? "N = 1000 (published: 3000)" : "N = 3000";
    BN_TRY(
        bn_suite_add(s, published, reference / iteration, "x", "device over one core, the study's iteration, %s", at));
    return bn_suite_add(s, (double)NAN, reference / direct, "x", "our elimination over one core with the study's, %s",
                        at);
}
