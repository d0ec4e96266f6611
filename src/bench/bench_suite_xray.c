/* bench_suite_xray.c: the published study 000: X-rays: error over photons, cuts, single and multiple scattering,
 * precision. */
#include "bench/bench_suites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char slit_text[] = "[case]\nsolver='xray'\n[density]\nkind='double-slit'\ncells=[256,128,128]\n"
                                "centre=[2e-9,0]\ndepth=4e-9\n[source]\nsize=[44e-9,0]\ncentre=[2e-9,0]\n"
                                "[detector]\ncells=[1024,1024]\ncell_angle=70e-6\nbeam_stop=2\n"
                                "[solver]\ncompare='curve'\n[output]\nvtk=false\n";
/* Fig. 6.9: forty times as far, 40 um, on cells of 1 um along the light, in which the slits are a sheet of 0.1 nm. */
static const char long_text[] = "[case]\nsolver='xray'\n[density]\nkind='double-slit'\ncells=[40,224,224]\n"
                                "cell=[1e-6,4e-9,4e-9]\nmeasure='electrons'\nvalue=1.5e38\n"
                                "centre=[2e-9,0]\ndepth=1e-6\n[source]\nsize=[44e-9,0]\ncentre=[2e-9,0]\n"
                                "[detector]\ncells=[1024,1024]\ncell_angle=70e-6\nbeam_stop=2\n"
                                "[solver]\ncompare='curve'\n[output]\nvtk=false\n";
/* Photons that are scattered beyond the detector, or beyond the row of the cut, change nothing in it: they are not
 * sent. Angles up to those of the row, and of the detector's corners; those of the thesis end at 0.1 rad. */
#define CUT_ANGLE 0.036
#define PICTURE_ANGLE 0.051
#define SET_CUT "scattering.theta_max=0.036"
#define SET_PICTURE "scattering.theta_max=0.051"
/* How many of the thesis' photons are sent at all. */
static double share(const bn_suite *s) { return s->level == BN_SUITE_SMALLEST ? 1e-3 : 1; }
/* For two CPU cores: fewer photons, where the rest of a curve would say nothing new. */
static bool brief(const bn_suite *s) { return s->quick && !s->gpu; }
/* 1.408e8 photons are what 50,000 steps with 2 photons a cell were. */
static double photons_of_product(const bn_suite *s, double angle)
{
    return 1408 * share(s) * pow(sin(0.5 * angle) / sin(0.05), 2);
}
/* Behind the names of lines that are not to be compared. */
static const char *fewer(const bn_suite *s)
{
    return s->level == BN_SUITE_SMALLEST ? ", a thousandth of the photons" : "";
}
enum { PRODUCTS = 64 };

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

/* The samples' errors, if an earlier table of the same command has measured all of them. */
static bool recall(const bn_suite *s, sample *samples, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%.17g", samples[i].product);
        const json_t *known = json_object_get(s->kept, key);
        samples[i].error = bn_json_number(known, "error");
        samples[i].expected = bn_json_number(known, "expected");
        all = all && known;
    }
    return all;
}

static bn_status keep(const bn_suite *s, const sample *of)
{
    char key[32];
    snprintf(key, sizeof key, "%.17g", of->product);
    return json_object_set_new(s->kept, key, json_pack("{s:f, s:f}", "error", of->error, "expected", of->expected)) == 0
               ? BN_OK
               : bn_fail(s->d->wish->ctx, BN_MEMORY, "no memory for an error");
}

/* One run of a case that takes `times` the photons of the double slit, measured on its way at all products. */
static bn_status errors(const bn_suite *s, const char *text, double times, bool twice, sample *samples, size_t count)
{
    const bn_bench_wish *w = s->d->wish;
    const double per_product = times * photons_of_product(s, CUT_ANGLE);
    const int each = s->level ? 4 : 1; /* photons of a batch for each of the detector's cells */
    char photons[64], precision[64], batch[64];
    snprintf(batch, sizeof batch, "source.batch=%d", each);
    snprintf(photons, sizeof photons, "source.photons=%.17g",
             per_product * (count > 0 ? samples[count - 1].product : 1));
    snprintf(precision, sizeof precision, "case.precision=%s", twice ? "double" : "single");
    /* A step of the simulation is a batch, here some photons for each of the detector's cells, of which those beside
     * the cut are left out: 25,000 steps of one photon are 35 of them. */
    const char *const sets[] = {
        photons, precision, "output.pictures=false", batch, SET_CUT, "detector.cells=[1024,32]"
    };
    const bool kept = text == slit_text && !twice; /* table 6.1 and fig. 6.7 */
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    bn_status st = BN_OK;
    BN_GO(bn_case_parse(w->ctx, "bench", text, sets, sizeof sets / sizeof *sets, &c));
    if (s->checks || (kept && recall(s, samples, count)))
        goto out;
    if (!w->quiet)
        fprintf(stderr, "bench: double slit, %s\n", photons);
    BN_GO(bn_sim_create(w->ctx, c, &(bn_sim_desc){ .device = s->d->plain }, &sim));
    for (size_t i = 0; i < count; i++) {
        while (!bn_sim_done(sim) && (double)bn_sim_now(sim).items < per_product * samples[i].product * (1 - 1e-9)) {
            BN_GO(bn_sim_step(sim));
            if (*w->stop)
                BN_GO(bn_fail(w->ctx, BN_INTERRUPTED, "interrupted"));
        }
        BN_GO(bn_sim_measure(sim));
        samples[i].error = result_of(sim, "mqf");
        samples[i].expected = result_of(sim, "mqf_expected");
        if (kept && isfinite(samples[i].error) && isfinite(samples[i].expected))
            BN_GO(keep(s, &samples[i]));
        *s->measured = true;
    }
out:
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
    if (st == BN_OK || st == BN_INTERRUPTED || st == BN_CASE)
        return st;
    snprintf(s->why, BN_SUITE_WHY, "%.*s", (int)strcspn(bn_error_text(w->ctx), "\n"), bn_error_text(w->ctx));
    bn_error_clear(w->ctx);
    *s->failed = true;
    return BN_OK;
}

static int by_product(const void *a, const void *b)
{
    const double x = ((const sample *)a)->product, y = ((const sample *)b)->product;
    return (x > y) - (x < y);
}

/* The products of table 6.1 up to a largest one, ascending, each once. */
static size_t list_products(double most, sample samples[PRODUCTS])
{
    size_t count = 0, kept = 0;
    bn_published t = bn_published_open("data/published/seed-000-table-6.1.csv");
    while (bn_published_next(&t) && count < PRODUCTS) {
        const double product = bn_published_number(&t, "steps") * bn_published_number(&t, "photons_per_cell");
        if (product <= most)
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

static bn_status table_6_1(const bn_suite *s)
{
    sample samples[PRODUCTS] = { { 0 } };
    const size_t count = list_products(HUGE_VAL, samples);
    BN_TRY(errors(s, slit_text, 1, false, samples, count));
    bn_published t = bn_published_open("data/published/seed-000-table-6.1.csv");
    while (bn_published_next(&t)) {
        const double steps = bn_published_number(&t, "steps"), each = bn_published_number(&t, "photons_per_cell");
        char line[64];
        snprintf(line, sizeof line, "%g photons a cell%s", each, fewer(s));
        const sample *m = find(samples, count, steps * each);
        BN_TRY(bn_suite_point(s, line, steps, bn_published_number(&t, "mqf_seed"), m ? m->error : (double)NAN, ""));
    }
    return BN_OK;
}

static bn_status figures_6_7(const bn_suite *s)
{
    sample samples[2][PRODUCTS] = { { { 0 } } };
    const size_t all = list_products(HUGE_VAL, samples[0]);
    const bool fp64 = bn_device_describe(s->d->plain)->fp64;
    for (int twice = 0; twice < 2; twice++) {
        const size_t count = list_products(twice && brief(s) ? 2e5 : HUGE_VAL, samples[twice]);
        if (!twice || fp64)
            BN_TRY(errors(s, slit_text, 1, twice, samples[twice], count));
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
    for (size_t i = 0; i < all; i++)
        BN_TRY(bn_suite_point(s, "theory", samples[0][i].product, (double)NAN, samples[0][i].expected, ""));
    if (s->checks)
        return BN_OK;
    double a = (double)NAN, b = (double)NAN;
    if (isfinite(samples[0][0].error))
        fit(samples[0], all, &a, &b);
    for (size_t i = 0; i < all; i++) {
        const double product = samples[0][i].product;
        BN_TRY(bn_suite_point(s, "fit (6.3)", product, 3.5e-2 / (1 + 2.1e-5 * product), a / (1 + b * product), ""));
    }
    BN_TRY(bn_suite_add(s, 3.5e-2, a, "", "fit (6.3), A"));
    return bn_suite_add(s, 2.1e-5, b, "", "fit (6.3), B");
}

/* Fig. 6.9: 5 photons a cell, up to 200,000 steps, in brief to 50,000; slits of 224 cells instead of 128. */
static bn_status figure_6_9(const bn_suite *s)
{
    enum { POINTS = 8 };
    const bool fp64 = bn_device_describe(s->d->plain)->fp64;
    for (int twice = 0; twice < 2; twice++) {
        sample samples[POINTS] = { { 0 } };
        const char *line = twice ? "double" : "single";
        const size_t count = brief(s) ? POINTS / 2 : POINTS;
        for (size_t i = 0; i < count; i++)
            samples[i] = (sample){ (brief(s) ? 62500.0 : 125000.0) * (double)(i + 1), (double)NAN, (double)NAN };
        if (!twice || fp64)
            BN_TRY(errors(s, long_text, 224 / 128.0, twice, samples, count));
        for (size_t i = 0; i < count; i++) {
            const double steps = samples[i].product / 5;
            if (twice && !fp64)
                BN_TRY(bn_suite_skip_point(s, line, steps, (double)NAN, "", "needs double precision"));
            else
                BN_TRY(bn_suite_point(s, line, steps, (double)NAN, samples[i].error, ""));
            if (!twice)
                BN_TRY(bn_suite_point(s, "fit (6.3)", steps, 3.5e-2 / (1 + 2.1e-5 * samples[i].product),
                                      samples[i].expected, ""));
        }
    }
    return BN_OK;
}

/* (6.2) and its factors. */
static bn_status figure_6_2(const bn_suite *s)
{
    const double k = 2 * 3.14159265358979323846 / 1e-10, width = 12e-9, pitch = 32e-9;
    for (int i = -200; i <= 200; i++) {
        const double mrad = 0.1 * i, sine = sin(1e-3 * mrad), x = 0.5 * k * width * sine;
        const double slit = i == 0 ? 1 : pow(sin(x) / x, 2), pair = pow(cos(0.5 * k * pitch * sine), 2);
        BN_TRY(bn_suite_point(s, "double slit (6.2)", mrad, (double)NAN, slit * pair, ""));
        BN_TRY(bn_suite_point(s, "one slit", mrad, (double)NAN, slit, ""));
        BN_TRY(bn_suite_point(s, "distance of the slits", mrad, (double)NAN, pair, ""));
    }
    return BN_OK;
}

/* Points of a run's cut.csv, at most so many, up to an angle; adds up those at angles of a window. */
static bn_status add_cut(const bn_suite *s, const bn_suite_run *r, const char *line, const char *closed, double most,
                         const double window[2], double *inside_window)
{
    bn_csv_table t;
    BN_TRY(bn_suite_run_table(s, r, "cut.csv", &t));
    bn_status st = BN_OK;
    size_t inside = 0, seen = 0;
    for (size_t i = 0; i < t.rows; i++)
        inside += fabs(t.values[i * t.columns]) <= most;
    for (size_t i = 0; window && i < t.rows; i++)
        if (fabs(t.values[i * t.columns]) >= window[0] && fabs(t.values[i * t.columns]) < window[1] &&
            isfinite(t.values[i * t.columns + 1]))
            *inside_window += t.values[i * t.columns + 1];
    for (size_t i = 0; st == BN_OK && i < t.rows; i++) {
        const double *row = t.values + i * t.columns;
        if (fabs(row[0]) > most || seen++ % (inside / 640 + 1) != 0 || !isfinite(row[1]))
            continue;
        st = bn_suite_point(s, line, 1e3 * row[0], (double)NAN, row[1], "");
        if (st == BN_OK && closed && t.columns > 2 && isfinite(row[2]))
            st = bn_suite_point(s, closed, 1e3 * row[0], (double)NAN, row[2], "");
    }
    bn_csv_table_free(&t);
    return st;
}

/* 10 photons a cell: pictures after 10,000 steps, the cut alone after 200,000, in brief after the 50,000 that table 6.1
 * has, too; photons in the middles of the cells. */
static bn_status figures_6_3(const bn_suite *s)
{
    const double longer = brief(s) ? 5e4 : 2e5;
    const struct {
        const char *name, *caption;
        double steps, published;
        bool twice, cut, fixed;
    } runs[] = {
        { "slit-10k-double", "6.6a, after 10,000 steps, double", 1e4, 1.219e-2, true, false, false },
        { "slit-10k-single", "6.6a, after 10,000 steps, single", 1e4, 1.224e-2, false, false, false },
        { "slit-long-double", NULL, longer, brief(s) ? (double)NAN : 6.193e-4, true, true, false },
        { "slit-long-single", NULL, longer, brief(s) ? 2.93e-3 : 6.309e-4, false, true, false },
        { "slit-fixed", "6.6b, photons in the middles of the cells", 1e4, 0, false, false, true },
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char photons[64], line[64] = "fixed positions";
        bn_suite_run r = { 0 };
        if (!runs[i].fixed)
            snprintf(line, sizeof line, "%g,000 steps, %s", 1e-3 * runs[i].steps, runs[i].twice ? "double" : "single");
        snprintf(photons, sizeof photons, "source.photons=%.17g",
                 10 * runs[i].steps * photons_of_product(s, runs[i].cut ? CUT_ANGLE : PICTURE_ANGLE));
        const char *const sets[] = { photons,
                                     runs[i].twice ? "case.precision=double" : "case.precision=single",
                                     runs[i].cut ? SET_CUT : SET_PICTURE,
                                     runs[i].cut ? "detector.cells=[1024,32]" : "detector.cells=[1024,1024]",
                                     runs[i].fixed ? "source.positions=fixed" : "source.positions=random",
                                     NULL };
        if (runs[i].twice && !bn_device_describe(s->d->plain)->fp64) {
            BN_TRY(bn_suite_skip(s, runs[i].published, "", "needs double precision", "mean squared error, %s", line));
            continue;
        }
        bn_status st = bn_suite_simulate(s, runs[i].name, NULL, slit_text, sets, &r);
        if (st == BN_OK && !runs[i].fixed)
            st = bn_suite_add(s, runs[i].published, bn_suite_result(&r, "mqf"), "",
                              "mean squared error, 10 photons, %s%s", line, fewer(s));
        if (st == BN_OK)
            st = add_cut(s, &r, line, i == 0 ? "closed form (6.2)" : NULL, runs[i].fixed ? 36e-3 : 20e-3, NULL, NULL);
        if (st == BN_OK && runs[i].caption)
            st = bn_suite_show(s, &r, "detector", runs[i].caption);
        bn_suite_run_release(s, &r);
        BN_TRY(st);
    }
    return BN_OK;
}

/* Every photon scattered at most once, or as often as it happens: figs. 6.11 and 6.12. */
static bn_status compare_orders(const bn_suite *s, const char *name, const char *text, double photons,
                                const double window[2], double *multiple_over_single)
{
    double inside[2] = { 0 };
    for (int i = 0; i < 2; i++) {
        const char *order = i ? "multiple" : "single";
        char set[64], count[64], run[64];
        bn_suite_run r = { 0 };
        snprintf(set, sizeof set, "scattering.order=%s", order);
        snprintf(count, sizeof count, "source.photons=%g",
                 photons * (s->level == BN_SUITE_SMALLEST ? 0.03
                            : brief(s)                    ? 0.4
                                                          : 1));
        snprintf(run, sizeof run, "%s-%s", name, order);
        const char *const sets[] = { set, count, NULL };
        bn_status st = bn_suite_simulate(s, run, NULL, text, sets, &r);
        if (st == BN_OK)
            st = add_cut(s, &r, order, NULL, 9e-3, window, &inside[i]);
        if (st == BN_OK)
            st = bn_suite_add(s, (double)NAN, bn_suite_result(&r, "scattered_once"), "",
                              "photons scattered exactly once, %s", order);
        if (st == BN_OK)
            st = bn_suite_show(s, &r, "detector", i ? "multiple scattering" : "single scattering");
        bn_suite_run_release(s, &r);
        BN_TRY(st);
    }
    *multiple_over_single = inside[1] / inside[0]; /* NaN: a run failed */
    return BN_OK;
}

/* The slits through all of 512 cells, in each of which 0.1 % of the photons are scattered, to within the detector.
 * Whether a photon is scattered again depends on its own way: those that the thesis sends elsewhere are none of the
 * pattern. */
static bn_status figure_6_11(const bn_suite *s)
{
    static const char text[] = "[case]\nsolver='xray'\n[density]\nkind='double-slit'\ncells=[512,128,128]\n"
                               "value=0.001\ncentre=[2e-9,0]\n[source]\nsize=[44e-9,0]\ncentre=[2e-9,0]\n"
                               "[scattering]\ntheta_max=0.0254\n"
                               "[detector]\ncells=[512,512]\ncell_angle=70e-6\nbeam_stop=2\n[output]\nvtk=false\n";
    double ratio;
    BN_TRY(compare_orders(s, "long-slits", text, 1e8, (const double[]){ 0, 1.4e-3 }, &ratio));
    return bn_suite_add(s, 0.6, ratio, "x",
                        "intensity of the main maximum, multiple over single (published: about 40 %% lower)");
}

/* A slab of two gratings. */
static bn_status figure_6_12(const bn_suite *s)
{
    double ratio;
    BN_TRY(compare_orders(s, "gratings", bn_suite_file("data/cases/xray/offset-gratings.toml"), 6e7,
                          (const double[]){ 5.9e-3, 6.6e-3 }, &ratio));
    return bn_suite_add(s, 0.1, ratio, "x",
                        "intensity of the first orders, multiple over single (published: an order of magnitude lower)");
}

const bn_suite_table bn_suite_xray[] = {
    { .id = "figure-5.1",
      .title = "Fig. 5.1: error of the phase over time steps, single",
      .run = bn_suite_xray_figure_5_1,
      .x_label = "time step",
      .y_label = "largest error so far [rad]",
      .log_y = true,
      .note = "Wavelength 0.1 nm, steps of 13.3 as. Here paths are integers of 2^-12 wavelengths: the error does not "
              "grow." },
    { .id = "figure-5.2",
      .title = "Fig. 5.2: error of the phase over the time step, single",
      .run = bn_suite_xray_figure_5_2,
      .x_label = "time step [as]",
      .y_label = "error [rad]",
      .note = "After 24,576 steps." },
    { .id = "figure-5.3",
      .title = "Fig. 5.3: error of the phase over time steps, double",
      .run = bn_suite_xray_figure_5_3,
      .x_label = "time step",
      .y_label = "largest error so far [rad]",
      .log_x = true,
      .log_y = true },
    { .id = "figure-5.5",
      .title = "Fig. 5.5: error of the phase over the size",
      .run = bn_suite_xray_figure_5_5,
      .x_label = "path [um]",
      .y_label = "largest error so far [rad]",
      .log_y = true,
      .note = "A photon at 0.05 rad goes from cell to cell of 4 nm, its position in the cell in the precision given." },
    { .id = "figure-5.6-5.8",
      .title = "Figs. 5.6 to 5.8: error of the distance to the detector, single",
      .run = bn_suite_xray_figure_5_6,
      .x_label = "across [m]",
      .y_label = "error [m]",
      .log_x = true,
      .log_y = true,
      .note = "5 m to the detector. The difference of two lengths is printed in the thesis with L squared in its "
              "denominator; here with L." },
    { .id = "figure-6.2",
      .title = "Fig. 6.2: the closed form",
      .run = figure_6_2,
      .x_label = "angle [mrad]",
      .y_label = "intensity over its largest value" },
    { .id = "table-6.1",
      .title = "Table 6.1: mean squared error of the double slit",
      .run = table_6_1,
      .x_label = "time steps",
      .y_label = "mean squared error",
      .log_y = true,
      .matrix = true,
      .note = "Steps times photons a cell decide; one run is measured on its way. Cells of 70 urad, which follow from "
              "this table: with the 12 um at 5 m of the text it could not be. Photons that would miss the cut are not "
              "sent." },
    { .id = "figure-6.7-6.8",
      .title = "Figs. 6.7 and 6.8: mean squared error over photons",
      .run = figures_6_7,
      .x_label = "steps times photons a cell",
      .y_label = "mean squared error",
      .log_y = true,
      .note = "Theory: the expectation for photons at random. The fit is of the logarithms; the published one is too "
              "flat for its own table." },
    { .id = "figure-6.9",
      .title = "Fig. 6.9: mean squared error, 40 um",
      .run = figure_6_9,
      .x_label = "time steps",
      .y_label = "mean squared error",
      .log_y = true,
      .note = "5 photons a cell. Beside the published fit: the expectation for photons at random." },
    { .id = "figure-6.3-6.6",
      .title = "Figs. 6.3 to 6.6: intensity after 10,000 steps and more",
      .run = figures_6_3,
      .x_label = "angle [mrad]",
      .y_label = "intensity over its largest value",
      .note = "Single and double precision trace the same photons: their curves lie on one another. Photons in the "
              "middles of the cells repeat the pattern every 25.0 mrad." },
    { .id = "figure-6.11",
      .title = "Fig. 6.11: slits through the volume",
      .run = figure_6_11,
      .x_label = "angle [mrad]",
      .y_label = "intensity",
      .note = "1e8 photons (--quick on a CPU: 4e7), not 4.9e10, and none of them to beyond the detector." },
    { .id = "figure-6.12",
      .title = "Fig. 6.12: two offset gratings",
      .run = figure_6_12,
      .x_label = "angle [mrad]",
      .y_label = "intensity",
      .log_y = true,
      .note = "The thesis expects no orders from the projection; in three dimensions the first Born approximation "
              "has them, 9.5 times weaker than those of one grating." },
    { .id = "figure-6.13-6.14",
      .title = "Figs. 6.13 and 6.14: the last kernels and transfers of a run",
      .run = bn_suite_xray_figure_6_13,
      .x_label = "time [ms]",
      .y_label = "what runs",
      .note =
          "trace.json of these runs shows all of it. In the thesis particles move in time steps; moving them between "
          "frames takes 93.7 % of the time in double and 56 % in single precision, the output of the detector "
          "150 ms." },
    { .id = "figure-6.15",
      .title = "Fig. 6.15: six configurations, single and double",
      .run = bn_suite_xray_figure_6_15,
      .note =
          "The time of as many photons as are in the thesis' volume at a time. Its own times are in a picture alone; "
          "its memory allocation slows double precision down." },
    { .id = "figure-6.16-6.20",
      .title = "Figs. 6.16 to 6.20: weak and strong scaling",
      .run = bn_suite_xray_figure_6_16,
      .x_label = "devices",
      .y_label = "efficiency [%]",
      .log_x = true,
      .note = "On the devices of --device. Published: strong scaling from two devices on." },
    { .id = "figure-6.21",
      .title = "Fig. 6.21: time of a photon over the size",
      .run = bn_suite_xray_figure_6_21,
      .x_label = "cells along the light",
      .y_label = "time of a photon [ns]",
      .log_x = true,
      .log_y = true },
    { 0 },
};
