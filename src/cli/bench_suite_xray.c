/* bench_suite_xray.c: the published study 000: X-rays: precision, error over photons. */
#include "cli/bench_suites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bn_status slit(const bn_suite *s, double photons, double *error)
{
    static const char text[] = "[case]\nsolver='xray'\n[density]\nkind='double-slit'\ncells=[256,128,128]\n"
                               "centre=[2e-9,0]\ndepth=4e-9\n[source]\nsize=[44e-9,0]\ncentre=[2e-9,0]\n"
                               "[detector]\ncells=[1024,1024]\ncell_angle=70e-6\nbeam_stop=2\n"
                               "[solver]\ncompare='curve'\n[output]\npictures=false\n";
    char set[64];
    const char *sets[] = { set };
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    bn_status st = BN_OK;
    *error = (double)NAN;
    snprintf(set, sizeof set, "source.photons=%.17g", photons);
    BN_GO(bn_case_parse(s->d->cli->ctx, "bench", text, sets, 1, &c));
    if (s->checks)
        goto out;
    BN_GO(bn_sim_create(s->d->cli->ctx, c, &(bn_sim_desc){ .device = s->d->plain }, &sim));
    while (!bn_sim_done(sim)) {
        BN_GO(bn_sim_step(sim));
        if (*s->d->cli->stop) {
            st = bn_fail(s->d->cli->ctx, BN_INTERRUPTED, "interrupted");
            goto out;
        }
    }
    BN_GO(bn_sim_measure(sim));
    const bn_results *r = bn_sim_results(sim);
    for (size_t i = 0; i < bn_results_count(r); i++)
        if (strcmp(bn_results_at(r, i)->name, "mqf") == 0)
            *error = bn_results_at(r, i)->value;
out:
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    return st;
}

bn_status bn_suite_xray(const bn_suite *s)
{
    const bn_bench_case of = bn_suite_base("xray");
    double seconds[2], ours = (double)NAN, spent = 0;
    for (int twice = 0; twice < 2; twice++) {
        bn_bench_job job;
        bn_bench_prepare(&of, 256, twice, s->gpu, &job);
        BN_TRY(bn_suite_seconds(s, &job, &seconds[twice]));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e-6 * job.per_step / seconds[twice], "M photons/s",
                            "slab of 256 cells, %s", twice ? "double" : "single"));
    }
    bn_published t = bn_published_open("data/published/seed-000-xray.csv");
    while (bn_published_next(&t))
        if (strncmp(bn_published_text(&t, "item"), "single/double", 13) == 0) {
            const char *text = bn_published_text(&t, "value"); /* "7.8 / 8.4 / 1.6": of three tests */
            char *rest;
            const double first = strtod(text, &rest);
            BN_TRY(bn_suite_add(s, first, seconds[1] / seconds[0], "x",
                                "single over double: ours on that slab, published of test 4 (5 / 6: %s)",
                                rest + strspn(rest, " /")));
        }
    t = bn_published_open("data/published/xray-double-slit.csv");
    while (bn_published_next(&t)) {
        /* 1.408e8 photons are what 50,000 steps with 2 photons a cell were. A line takes twice the time of the one
         * before. */
        const double product = bn_published_number(&t, "product"), photons = 1408 * product;
        const time_t begin = time(NULL);
        const bool first = product < 26000;
        ours = (double)NAN;
        const char *why = s->quick && !s->gpu                               ? "left out with --quick on a CPU"
                          : s->quick || first || spent < (s->gpu ? 60 : 15) ? NULL
                          : s->gpu                                          ? "the lines above have taken a minute"
                                                                            : "the lines above have taken 15 s";
        if (!s->d->cli->options->run.quiet && !s->checks && !why)
            fprintf(stderr, "bench: double slit, %.3g photons\n", photons);
        s->why[0] = '\0';
        if (!why || s->checks)
            BN_TRY(slit(s, photons, &ours));
        spent += difftime(time(NULL), begin);
        const double published = bn_published_number(&t, "grund");
        if (why)
            BN_TRY(bn_suite_skip(s, published, "", why, "mean squared error, %.3g photons", photons));
        else
            BN_TRY(bn_suite_add(s, published, ours, "", "mean squared error, %.3g photons", photons));
    }
    return BN_OK;
}
