/* bench_suite_bpm.c: the published study 003: beams: a step along z over N, elimination against the iteration of
 * the study. */
#include "cli/bench_suites.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void prepare_beam(const bn_suite *s, bn_bench_case *of, const char *method, const char *tau, unsigned n,
                         bn_bench_job *job)
{
    const bool direct = strcmp(method, "direct") == 0;
    static char with[2][64];
    snprintf(with[0], sizeof with[0], "solver.method=%s", method);
    snprintf(with[1], sizeof with[1], "solver.tau=%s", tau);
    of->sets[0] = with[0];
    of->sets[1] = direct ? NULL : with[1]; /* of the iteration alone */
    of->sets[2] = direct ? NULL : "solver.tolerance=1e-8";
    of->sets[3] = NULL;
    of->what = direct ? "step along z, elimination" : "step along z, iteration";
    bn_bench_prepare(of, n, false, s->gpu, job);
    if (direct)
        return;
    job->per_item = 2; /* every step is many launches already */
    for (size_t i = 0; i < job->set_count; i++)
        if (strncmp(job->sets[i], "march.length", 12) == 0)
            snprintf(job->sets[i], sizeof job->sets[i], "march.length=%.17g",
                     2 * 2000 * 10e-6 / n / 3.14159265358979323846);
}

bn_status bn_suite_bpm(const bn_suite *s)
{
    static const unsigned sizes[] = { 100, 300, 1000, 3000, 6000, 15000 };
    bn_bench_case of = bn_suite_base("bpm");
    double published = (double)NAN, iteration = (double)NAN, direct = (double)NAN, reference = (double)NAN;
    bn_published t = bn_published_open("data/published/seed-003-bpm.csv");
    while (bn_published_next(&t))
        if (strncmp(bn_published_text(&t, "item"), "speed-up", 8) == 0)
            published = bn_published_number(&t, "value");
    for (size_t i = 0; i < (s->quick ? 3 : sizeof sizes / sizeof *sizes); i++) {
        bn_bench_job job;
        double seconds[3] = { (double)NAN, (double)NAN, (double)NAN };
        const bool too_long = sizes[i] > 3000; /* the sweeps with the study's tau take the study's own time */
        prepare_beam(s, &of, "direct", "optimal", sizes[i], &job);
        BN_TRY(bn_suite_seconds(s, &job, &seconds[0]));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e6 * seconds[0], "us", "N = %5u, elimination", sizes[i]));
        prepare_beam(s, &of, "iteration", "optimal", sizes[i], &job);
        BN_TRY(bn_suite_seconds(s, &job, &seconds[1]));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e6 * seconds[1], "us", "N = %5u, iteration, best tau", sizes[i]));
        prepare_beam(s, &of, "iteration", "seed", sizes[i], &job);
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
