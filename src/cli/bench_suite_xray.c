/* bench_suite_xray.c: the published study 000: X-rays: error over photons, cuts, single and multiple scattering,
 * precision. */
#include "cli/bench_suites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char slit_text[] = "[case]\nsolver='xray'\n[density]\nkind='double-slit'\ncells=[256,128,128]\n"
                                "centre=[2e-9,0]\ndepth=4e-9\n[source]\nsize=[44e-9,0]\ncentre=[2e-9,0]\n"
                                "[detector]\ncells=[1024,1024]\ncell_angle=70e-6\nbeam_stop=2\n"
                                "[solver]\ncompare='curve'\n[output]\nvtk=false\n";
/* 1.408e8 photons are what 50,000 steps with 2 photons a cell were. */
static double photons_of_product(const bn_suite *s) { return s->level == BN_SUITE_SMALLEST ? 1408 / 40.0 : 1408; }
/* Behind the names of lines that are not to be compared. */
static const char *fewer(const bn_suite *s)
{
    return s->level == BN_SUITE_SMALLEST ? ", a fortieth of the photons" : "";
}
enum { PRODUCTS = 64, TABLE = 64 };

/* How many photon steps of table 6.1 (steps times photons a cell) this level reaches. */
static double most_product(const bn_suite *s)
{
    return s->level == BN_SUITE_SMALLEST           ? 25000
           : s->level == BN_SUITE_QUICK && !s->gpu ? 100000
           : s->level == BN_SUITE_QUICK            ? 1000000
           : s->gpu                                ? 4000000
                                                   : 500000;
}

typedef struct sample {
    double product, error, expected;
} sample;

static double result_of(const bn_sim *sim, const char *name)
{
    const bn_results *r = bn_sim_results(sim);
    for (size_t i = 0; i < bn_results_count(r); i++)
        if (strcmp(bn_results_at(r, i)->name, name) == 0)
            return bn_results_at(r, i)->value;
    return (double)NAN;
}

/* One run, measured on its way at all products. */
static bn_status errors(const bn_suite *s, bool twice, sample *samples, size_t count)
{
    const bn_cli *cli = s->d->cli;
    char photons[64], precision[64];
    snprintf(photons, sizeof photons, "source.photons=%.17g",
             photons_of_product(s) * (count > 0 ? samples[count - 1].product : 1));
    snprintf(precision, sizeof precision, "case.precision=%s", twice ? "double" : "single");
    /* A step of the simulation is a batch, here a photon for each of the detector's 1024^2 cells, which is what it
     * counts; 25,000 steps of one photon are 33.6 of them. */
    const char *const sets[] = { photons, precision, "output.pictures=false", "source.batch=1" };
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    bn_status st = BN_OK;
    BN_GO(bn_case_parse(cli->ctx, "bench", slit_text, sets, 4, &c));
    if (s->checks)
        goto out;
    if (!cli->options->run.quiet)
        fprintf(stderr, "bench: double slit, %s\n", photons);
    BN_GO(bn_sim_create(cli->ctx, c, &(bn_sim_desc){ .device = s->d->plain }, &sim));
    for (size_t i = 0; i < count; i++) {
        while (!bn_sim_done(sim) &&
               (double)bn_sim_now(sim).items < photons_of_product(s) * samples[i].product * (1 - 1e-9)) {
            BN_GO(bn_sim_step(sim));
            if (*cli->stop) {
                st = bn_fail(cli->ctx, BN_INTERRUPTED, "interrupted");
                goto out;
            }
        }
        BN_GO(bn_sim_measure(sim));
        samples[i].error = result_of(sim, "mqf");
        samples[i].expected = result_of(sim, "mqf_expected");
        *s->measured = true;
    }
out:
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    if (st == BN_OK || st == BN_INTERRUPTED || st == BN_CASE)
        return st;
    snprintf(s->why, BN_SUITE_WHY, "%.*s", (int)strcspn(bn_error_text(cli->ctx), "\n"), bn_error_text(cli->ctx));
    bn_error_clear(cli->ctx);
    *s->failed = true;
    return BN_OK;
}

static int by_product(const void *a, const void *b)
{
    const double x = ((const sample *)a)->product, y = ((const sample *)b)->product;
    return (x > y) - (x < y);
}

/* The products of table 6.1 that are reached, ascending, each once. */
static size_t list_products(const bn_suite *s, sample samples[PRODUCTS])
{
    size_t count = 0, kept = 0;
    bn_published t = bn_published_open("data/published/seed-000-table-6.1.csv");
    while (bn_published_next(&t) && count < PRODUCTS) {
        const double product = bn_published_number(&t, "steps") * bn_published_number(&t, "photons_per_cell");
        if (product <= most_product(s))
            samples[count++] = (sample){ product, (double)NAN, (double)NAN };
    }
    qsort(samples, count, sizeof *samples, by_product);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || samples[i].product > samples[kept - 1].product)
            samples[kept++] = samples[i];
    return kept;
}

/* ln g = ln A - ln(1 + B x), the thesis' (6.3), by least squares: the best B by golden sections of its logarithm. */
static double misfit(const sample *samples, size_t count, double b, double *a)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        mean += log(samples[i].error * (1 + b * samples[i].product)) / (double)count;
    for (size_t i = 0; i < count; i++)
        sum += pow(log(samples[i].error * (1 + b * samples[i].product)) - mean, 2);
    *a = exp(mean);
    return sum;
}

static void fit(const sample *samples, size_t count, double *a, double *b)
{
    const double golden = 0.6180339887498949;
    double low = log(1e-7), high = log(1e-2);
    for (int i = 0; i < 60; i++) {
        const double left = high - golden * (high - low), right = low + golden * (high - low);
        if (misfit(samples, count, exp(left), a) < misfit(samples, count, exp(right), a))
            high = right;
        else
            low = left;
    }
    *b = exp(0.5 * (low + high));
    (void)misfit(samples, count, *b, a);
}

static const sample *find(const sample *samples, size_t count, double product)
{
    for (size_t i = 0; i < count; i++)
        if (samples[i].product >= product && samples[i].product <= product)
            return &samples[i];
    return NULL;
}

static const char *too_long(const bn_suite *s)
{
    return s->quick ? bn_suite_left_out : s->gpu ? NULL : "needs a GPU, or hours";
}

static bn_status table_6_1(const bn_suite *s)
{
    sample samples[PRODUCTS] = { { 0 } };
    const size_t count = list_products(s, samples);
    BN_TRY(errors(s, false, samples, count));
    bn_published t = bn_published_open("data/published/seed-000-table-6.1.csv");
    while (bn_published_next(&t)) {
        const double steps = bn_published_number(&t, "steps"), each = bn_published_number(&t, "photons_per_cell"),
                     published = bn_published_number(&t, "mqf_seed");
        char line[64];
        snprintf(line, sizeof line, "%g photons a cell%s", each, fewer(s));
        const sample *m = find(samples, count, steps * each);
        if (m)
            BN_TRY(bn_suite_point(s, line, steps, published, m->error, ""));
        else
            BN_TRY(bn_suite_skip_point(s, line, steps, published, "", too_long(s)));
    }
    return BN_OK;
}

static bn_status figures_6_7(const bn_suite *s)
{
    sample samples[2][PRODUCTS] = { { { 0 } } };
    size_t count = 0;
    const bool fp64 = bn_device_describe(s->d->plain)->fp64;
    for (int twice = 0; twice < 2; twice++) {
        count = list_products(s, samples[twice]);
        if (!twice || fp64)
            BN_TRY(errors(s, twice, samples[twice], count));
        for (size_t i = 0; i < count; i++) {
            double published = (double)NAN;
            bn_published t = bn_published_open("data/published/xray-double-slit.csv");
            while (!twice && bn_published_next(&t))
                if (fabs(bn_published_number(&t, "product") - samples[0][i].product) < 0.5)
                    published = bn_published_number(&t, "grund");
            const double product = samples[twice][i].product, error = samples[twice][i].error;
            if (twice && !fp64)
                BN_TRY(bn_suite_skip_point(s, "double", product, (double)NAN, "", "needs double precision"));
            else
                BN_TRY(bn_suite_point(s, twice ? "double" : "single", product, published, error, ""));
        }
    }
    for (size_t i = 0; i < count; i++)
        BN_TRY(bn_suite_point(s, "theory", samples[0][i].product, (double)NAN, samples[0][i].expected, ""));
    if (s->checks)
        return BN_OK;
    const size_t enough = 4; /* two parameters, and something to fit */
    double a = (double)NAN, b = (double)NAN;
    if (count >= enough && isfinite(samples[0][0].error))
        fit(samples[0], count, &a, &b);
    for (size_t i = 0; i < count && isfinite(b); i++) {
        const double product = samples[0][i].product;
        BN_TRY(bn_suite_point(s, "fit (6.3)", product, 3.5e-2 / (1 + 2.1e-5 * product), a / (1 + b * product), ""));
    }
    if (count < enough) {
        BN_TRY(bn_suite_skip(s, 3.5e-2, "", bn_suite_left_out, "fit (6.3), A"));
        return bn_suite_skip(s, 2.1e-5, "", bn_suite_left_out, "fit (6.3), B");
    }
    BN_TRY(bn_suite_add(s, 3.5e-2, a, "", "fit (6.3), A"));
    return bn_suite_add(s, 2.1e-5, b, "", "fit (6.3), B");
}

/* Points of a run's cut.csv, at most so many, up to an angle. */
static bn_status add_cut(const bn_suite *s, const bn_suite_run *r, const char *line, const char *closed, double most,
                         double scale, double *largest)
{
    bn_csv_table t;
    BN_TRY(bn_suite_run_table(s, r, "cut.csv", &t));
    bn_status st = BN_OK;
    size_t inside = 0, seen = 0;
    for (size_t i = 0; i < t.rows; i++)
        inside += fabs(t.values[i * t.columns]) <= most;
    *largest = 0;
    for (size_t i = 0; st == BN_OK && i < t.rows; i++) {
        const double *row = t.values + i * t.columns;
        if (fabs(row[0]) > most || seen++ % (inside / 256 + 1) != 0 || !isfinite(row[1]))
            continue;
        *largest = fmax(*largest, row[1]);
        st = bn_suite_point(s, line, 1e3 * row[0], (double)NAN, scale * row[1], "");
        if (st == BN_OK && closed && t.columns > 2 && isfinite(row[2]))
            st = bn_suite_point(s, closed, 1e3 * row[0], (double)NAN, row[2], "");
    }
    bn_csv_table_free(&t);
    return st;
}

static bn_status figures_6_3(const bn_suite *s)
{
    char photons[64];
    double largest;
    bn_suite_run r = { 0 };
    snprintf(photons, sizeof photons, "source.photons=%.17g",
             photons_of_product(s) * 100000); /* 10,000 steps, 10 a cell */
    for (int twice = 0; twice < 2; twice++) {
        const char *precision = twice ? "case.precision=double" : "case.precision=single", *const sets[] = { photons,
                                                                                                             precision,
                                                                                                             NULL };
        const char *name = twice ? "double-slit-double" : "double-slit-single";
        if (twice && !bn_device_describe(s->d->plain)->fp64) {
            BN_TRY(bn_suite_skip(s, 1.219e-2, "", "needs double precision", "mean squared error, double"));
            continue;
        }
        bn_status st = bn_suite_simulate(s, name, slit_text, sets, &r);
        if (st == BN_OK)
            st = bn_suite_add(s, twice ? 1.219e-2 : 1.224e-2, bn_suite_result(&r, "mqf"), "",
                              "mean squared error after 10,000 steps of 10 photons, %s%s", twice ? "double" : "single",
                              fewer(s));
        if (st == BN_OK)
            st = add_cut(s, &r, twice ? "double" : "single", twice ? NULL : "closed form (6.2)", 20e-3, 1, &largest);
        if (st == BN_OK)
            st = bn_suite_show(s, &r, "detector", twice ? "the detector, double" : "the detector, single");
        bn_suite_run_release(s, &r);
        BN_TRY(st);
    }
    return BN_OK;
}

/* Thesis, fig. 6.12: a slab of two gratings, every photon at most once or as often as it happens. */
static bn_status figure_6_12(const bn_suite *s)
{
    const char *const text = bn_suite_case("data/cases/xray/offset-gratings.toml");
    double scale = 1, largest, most[2] = { (double)NAN, (double)NAN };
    bn_suite_run r = { 0 };
    for (int i = 0; i < 2; i++) {
        const char *order = i ? "multiple" : "single";
        char set[64], photons[64];
        snprintf(set, sizeof set, "scattering.order=%s", order);
        snprintf(photons, sizeof photons, "source.photons=%g", s->level == BN_SUITE_SMALLEST ? 6e5 : 6e7);
        const char *const sets[] = { set, photons, NULL };
        bn_status st = bn_suite_simulate(s, i ? "gratings-multiple" : "gratings-single", text, sets, &r);
        if (st == BN_OK)
            st = add_cut(s, &r, order, NULL, 9e-3, scale, &largest);
        if (st == BN_OK)
            st = bn_suite_show(s, &r, "detector", i ? "multiple scattering" : "single scattering");
        const bool ran = r.summary;
        bn_suite_run_release(s, &r);
        BN_TRY(st);
        most[i] = ran ? largest : (double)NAN;
    }
    return bn_suite_add(s, 0.1, most[1] / most[0], "x",
                        "largest intensity outside the beam stop, multiple over single (published: an order of "
                        "magnitude)");
}

static bn_status speed(const bn_suite *s)
{
    const bn_bench_case of = bn_suite_base("xray");
    double seconds[2];
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
    return BN_OK;
}

/* Fig. 6.21: time over the number of cells along the light. */
static bn_status figure_6_21(const bn_suite *s)
{
    static const unsigned cells[] = { 64, 128, 256, 512, 1024 };
    const bn_bench_case of = bn_suite_base("xray");
    const size_t count = s->level == BN_SUITE_SMALLEST ? 2 : sizeof cells / sizeof *cells;
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < count; i++) {
            bn_bench_job job;
            double seconds;
            bn_bench_prepare(&of, cells[i], twice, s->gpu, &job);
            BN_TRY(bn_suite_seconds(s, &job, &seconds));
            BN_TRY(bn_suite_point(s, twice ? "double" : "single", cells[i], (double)NAN, 1e9 * seconds / job.per_step,
                                  "ns"));
        }
    return BN_OK;
}

const bn_suite_table bn_suite_xray[] = {
    { .id = "table-6.1",
      .title = "Table 6.1: mean squared error of the double slit",
      .run = table_6_1,
      .x_label = "time steps",
      .y_label = "mean squared error",
      .log_y = true,
      .matrix = true,
      .note = "Steps times photons a cell decide; one run is measured on its way. Cells of 70 urad, which follow from "
              "this table: with the 12 um at 5 m of the text it could not be." },
    { .id = "figure-6.7-6.9",
      .title = "Figs. 6.7 to 6.9: mean squared error over photons",
      .run = figures_6_7,
      .x_label = "steps times photons a cell",
      .y_label = "mean squared error",
      .log_y = true,
      .note = "Theory: the expectation for photons at random. The fit is of the logarithms; the published one is too "
              "flat for its own table." },
    { .id = "figure-6.3-6.6",
      .title = "Figs. 6.3 to 6.6: intensity after 10,000 steps",
      .run = figures_6_3,
      .x_label = "angle [mrad]",
      .y_label = "intensity over its largest value",
      .note = "Single and double precision trace the same photons: their curves lie on one another." },
    { .id = "figure-6.12",
      .title = "Fig. 6.12: two offset gratings",
      .run = figure_6_12,
      .x_label = "angle [mrad]",
      .y_label = "intensity",
      .log_y = true,
      .note = "The thesis expects no orders from the projection; in three dimensions the first Born approximation "
              "has them, 9.5 times weaker than those of one grating." },
    { .id = "speed",
      .title = "Single over double precision",
      .run = speed,
      .note = "The thesis' photons move in time steps; here each is traced through the volume at once." },
    { .id = "figure-6.21",
      .title = "Fig. 6.21: time of a photon over the size",
      .run = figure_6_21,
      .x_label = "cells along the light",
      .y_label = "time of a photon [ns]",
      .log_x = true,
      .log_y = true },
    { 0 },
};
