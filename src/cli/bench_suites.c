/* bench_suites.c: published studies, their figures beside ours. The figures travel inside the program
 * (data/published/); what a study did and this program does not is told by an empty place. */
#include "cli/bench_suites.h"

#include "cli/cli_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- 001: light in thin films: work-groups on coefficients in cells, arrays of structures and structures of arrays ---
 */
static bn_status workgroups(const bn_suite *s)
{
    bn_bench_case of = bn_suite_base("maxwell");
    bn_bench_job job;
    double seconds;
    static const char *const forms[] = { "aos", "soa", "compact" };
    const unsigned n = s->gpu ? 128 : 48;
    of.what = "an iteration, array of structures";
    of.sets[0] = "solver.form=aos";
    of.sets[1] = NULL;
    bn_published t = bn_published_open("data/published/seed-001-workgroups.csv");
    while (bn_published_next(&t)) {
        const char *shape = bn_published_text(&t, "shape");
        const size_t per_axis = (size_t)bn_published_number(&t, "n");
        bn_bench_prepare(&of, n, false, s->gpu, &job);
        size_t k = 0;
        for (const char *c = shape; *c && k < 3; c++)
            if (*c == 'n' || *c == '1')
                job.work_group[k++] = *c == 'n' ? per_axis : 1;
        if (s->quick && (per_axis != 4 || strcmp(bn_published_text(&t, "table"), "4.2.2") == 0))
            continue;
        for (int form = 0; form < 2; form++) { /* the study's tables are those of arrays of structures */
            of.what = form ? "an iteration, structure of arrays" : "an iteration, array of structures";
            of.sets[0] = form ? "solver.form=soa" : "solver.form=aos";
            BN_TRY(bn_suite_seconds(s, &job, &seconds));
            BN_TRY(bn_suite_add(s, form ? (double)NAN : bn_published_number(&t, "ms"), 1e3 * seconds, "ms",
                                "table %s: %2s work-items, n = %2zu, %s, %s", bn_published_text(&t, "table"),
                                bn_published_text(&t, "workgroup_size"), per_axis, shape, form ? "SoA" : "AoS"));
        }
    }
    for (int f = 0; f < 3; f++) {
        char with[64];
        snprintf(with, sizeof with, "solver.form=%s", forms[f]);
        of.sets[0] = with;
        bn_bench_prepare(&of, n, false, s->gpu, &job);
        BN_TRY(bn_suite_seconds(s, &job, &seconds));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e3 * seconds, "ms", "%s, our shape", forms[f]));
    }
    return BN_OK;
}

/* --- 003: beams: a step along z over N, elimination against the iteration of the study --- */
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

static bn_status beams(const bn_suite *s)
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

/* --- 004: flow: products of conjugate gradients, whole time steps --- */
static bn_status products(const bn_suite *s, unsigned n, bool twice)
{
    static const char *const spmv[] = { "naive", "local", "image" };
    static const char *const dot[] = { "naive", "coalesced", "convergent", "conflict-free", "unrolled", "norm" };
    const char *precision = twice ? "double" : "single";
    double published = (double)NAN;
    bn_published t = bn_published_open("data/published/seed-004-cg.csv");
    while (bn_published_next(&t))
        if (strcmp(bn_published_text(&t, "precision"), precision) == 0 && (unsigned)bn_published_number(&t, "N") == n &&
            strcmp(bn_published_text(&t, "system"), "A") == 0)
            published = 1e6 * bn_published_seconds(&t, "gpu_dia2_time") / bn_published_number(&t, "iter");
    for (int v = 0; v < 3; v++)
        for (int p = 0; p < 6; p++) {
            double seconds = (double)NAN;
            if (v != 1 && p != 5)
                continue;
            s->why[0] = '\0';
            const bn_status st = s->checks ? BN_OK : bn_bench_cg(s->d, n, twice, v, p, &seconds);
            if (st != BN_OK) { /* such as a device without images */
                const char *text = bn_error_text(s->d->cli->ctx);
                bn_log(s->d->cli->ctx, BN_LOG_WARNING, "%s", text);
                snprintf(s->why, BN_SUITE_WHY, "%.*s", (int)strcspn(text, "\n"), text);
                bn_error_clear(s->d->cli->ctx);
            }
            BN_TRY(bn_suite_add(s, v == 1 && p == 5 ? published : (double)NAN, 1e6 * seconds, "us",
                                "CG, an iteration, %4u^2, %s: product %s, dot %s", n, precision, spmv[v], dot[p]));
            if (*s->d->cli->stop)
                return bn_fail(s->d->cli->ctx, BN_INTERRUPTED, "interrupted");
        }
    return BN_OK;
}

static bn_status flow(const bn_suite *s)
{
    const unsigned most = s->gpu ? 1024 : s->quick ? 64 : 256;
    const bool fp64 = bn_device_describe(s->d->plain)->fp64;
    bn_bench_case of = bn_suite_base("flow");
    for (unsigned n = 64; n <= most; n *= 4)
        for (int twice = 0; twice < (fp64 && !s->quick ? 2 : 1); twice++)
            BN_TRY(products(s, n, twice));
    bn_published t = bn_published_open("data/published/flow-seed-times.csv");
    while (bn_published_next(&t)) {
        const unsigned n = (unsigned)bn_published_number(&t, "N");
        const bool twice = strcmp(bn_published_text(&t, "precision"), "double") == 0;
        const double published = 1e3 * (bn_published_seconds(&t, "total") - bn_published_seconds(&t, "save"));
        double seconds = (double)NAN;
        /* Beside the second version our CG, which does what it did; beside the host one the method that is the default.
         */
        const bool cg = strcmp(bn_published_text(&t, "version"), "GPU_2") == 0,
                   best = strcmp(bn_published_text(&t, "version"), "CPU") == 0;
        const char *version = bn_published_text(&t, "version"), *precision = bn_published_text(&t, "precision"),
                   *why = !cg && !best                       ? "a version of the study's own"
                          : n <= most || (best && !s->quick) ? NULL
                          : s->quick                         ? "left out with --quick"
                                                             : "takes minutes on a CPU";
        if (!why || s->checks) {
            bn_bench_job job;
            of.sets[0] = cg ? "solver.poisson=cg" : NULL;
            of.sets[1] = cg ? "solver.diffusion=cg" : NULL;
            of.sets[2] = NULL;
            of.what = cg ? "time step, CG" : "time step, direct";
            bn_bench_prepare(&of, n, twice, s->gpu, &job);
            BN_TRY(bn_suite_seconds(s, &job, &seconds));
        }
        if (why)
            BN_TRY(bn_suite_skip(s, published, "ms", why, "time step without saving, %4u^2, %s: %s", n, precision,
                                 version));
        else
            BN_TRY(bn_suite_add(s, published, 1e3 * seconds, "ms", "time step without saving, %4u^2, %s: %s; ours %s",
                                n, precision, version, cg ? "by CG" : "direct"));
    }
    return BN_OK;
}

/* --- 000: X-rays: precision, error over photons --- */
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

static bn_status xrays(const bn_suite *s)
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
        if (!s->d->cli->options->quiet && !s->checks && !why)
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

static const struct {
    const char *name, *source;
    bn_status (*run)(const bn_suite *);
} suites[] = {
    { "seed-000", "X-rays as particles: precision and error over photons; Grund, Dresden 2016 (Nvidia K20X)", xrays },
    { "seed-001", "light in thin films: work-groups and layouts; thesis, Erlangen (Nvidia GT 330M), grid not stated",
      workgroups },
    { "seed-002",
      "shallow water on hexagons: precision, layouts, sizes; thesis (Nvidia GTX TITAN Black, 1,147,423 cells)",
      bn_suite_flood },
    { "seed-003",
      "beam propagation: a step along z over N; Alekseev and Golovashkin (Nvidia GTS 250, one core of an E7500)",
      beams },
    { "seed-004",
      "flow: products of conjugate gradients, time steps; diploma thesis (Nvidia Tesla C1060, one core of its host)",
      flow },
};
enum { SUITES = sizeof suites / sizeof *suites };

bn_status bn_bench_suite_check(bn_context *ctx, const char *name)
{
    for (size_t i = 0; i < SUITES; i++)
        if (strcmp(suites[i].name, name) == 0)
            return BN_OK;
    return bn_fail(ctx, BN_USAGE,
                   "unknown suite `%s`; there are seed-000, seed-001, seed-002, seed-003, seed-004, overhead and "
                   "default-vs-tuned",
                   name);
}

/* A suite without any figure of ours is a failure: of its first row. */
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
    s.checks = true; /* all cases first: a mistake in one is not to be told after minutes, nor by an empty place */
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
