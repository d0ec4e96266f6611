/* bench_suite_xray_speed.c: the study of X-rays: timelines, single against double precision, several devices, sizes. */
#include "bench/bench_suites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The double slit through all of the volume, along 256 cells; the detector is written once, at the end. */
static const char volume_text[] = "[case]\nsolver='xray'\n[density]\nkind='double-slit'\ncells=[256,160,128]\n"
                                  "value=0.01\n[detector]\ncells=[1024,1024]\ncell_angle=70e-6\nbeam_stop=2\n"
                                  "[output]\nvtk=false\n";
/* Share of the thesis' photons. */
static double share(const bn_suite *s) { return s->level == BN_SUITE_SMALLEST ? 2e-3 : s->quick && !s->gpu ? 0.1 : 1; }

/* Seconds of stepping, and of the output where that is wanted, of so many photons in a volume. */
static bn_status run_volume(const bn_suite *s, const char *name, const char *cells, double photons, bool twice,
                            const char *option, bn_suite_run *r, double *seconds)
{
    char count[64];
    snprintf(count, sizeof count, "source.photons=%g", fmax(1e4, photons * share(s)));
    const char *const sets[] = { cells, count, twice ? "case.precision=double" : "case.precision=single", option,
                                 NULL };
    const bn_status st = bn_suite_simulate(s, name, NULL, volume_text, sets, r);
    *seconds = bn_json_number(json_object_get(r->summary, "timings"), "steps");
    return st;
}

/* --- figs. 6.13 and 6.14 --- */
static int by_begin(const void *a, const void *b)
{
    const double x = bn_json_number(*(json_t *const *)a, "ts"), y = bn_json_number(*(json_t *const *)b, "ts");
    return (x > y) - (x < y);
}

/* Events around the end of the last photons as a line for each name, which is up while it runs. */
static bn_status add_last(const bn_suite *s, json_t *const *events, size_t count)
{
    enum { LAST = 12, NAMES = 12 };
    const char *names[NAMES];
    size_t known = 0, first = count;
    while (first > 0 && strcmp(json_string_value(json_object_get(events[first - 1], "name")), "xray_trace") != 0)
        first--;
    first = first > 4 ? first - 4 : 0;
    for (size_t i = first; i < count && i < first + LAST; i++) {
        const char *name = json_string_value(json_object_get(events[i], "name"));
        const double from = 1e-3 * (bn_json_number(events[i], "ts") - bn_json_number(events[first], "ts")),
                     to = from + 1e-3 * bn_json_number(events[i], "dur");
        size_t k = 0;
        while (k < known && strcmp(names[k], name) != 0)
            k++;
        if (k == NAMES)
            continue;
        if (k == known)
            names[known++] = name;
        const double x[4] = { from, from, to, to }, up = (double)k + 0.8, y[4] = { (double)k, up, up, (double)k };
        for (int p = 0; p < 4; p++)
            BN_TRY(bn_suite_point(s, name, x[p], (double)NAN, y[p], ""));
    }
    return BN_OK;
}

/* Shares of a run's device time, and where asked for its end as lines. */
static bn_status add_timeline(const bn_suite *s, const bn_suite_run *r, const char *what, bool drawn)
{
    char path[BN_BENCH_PATH + 16];
    snprintf(path, sizeof path, "%s/trace.json", r->folder);
    json_t *trace = json_load_file(path, 0, NULL);
    const json_t *all = json_object_get(trace, "traceEvents");
    const size_t most = json_array_size(all);
    json_t **events = malloc((most + 1) * sizeof *events);
    size_t count = 0;
    double tracing = 0, moving = 0, total = 0;
    bn_status st = events ? BN_OK : bn_fail(s->d->wish->ctx, BN_MEMORY, "no memory for a timeline");
    for (size_t i = 0; st == BN_OK && i < most; i++) {
        json_t *e = json_array_get(all, i);
        const char *name = json_string_value(json_object_get(e, "name"));
        if (!json_object_get(e, "dur"))
            continue;
        const double seconds = 1e-6 * bn_json_number(e, "dur");
        total += seconds;
        tracing += strcmp(name, "xray_trace") == 0 ? seconds : 0;
        moving += json_integer_value(json_object_get(e, "tid")) == 1 ? seconds : 0;
        events[count++] = e;
    }
    if (st == BN_OK)
        qsort(events, count, sizeof *events, by_begin);
    const json_t *timings = json_object_get(r->summary, "timings");
    if (st == BN_OK)
        st = bn_suite_add(s, (double)NAN, 100 * tracing / total, "percent", "tracing of the device's time, %s", what);
    if (st == BN_OK)
        st = bn_suite_add(s, (double)NAN, 100 * moving / total, "percent", "transfers of the device's time, %s", what);
    if (st == BN_OK)
        st = bn_suite_add(s, 150, 1e3 * bn_json_number(timings, "output"), "ms", "output of the detector, %s", what);
    if (st == BN_OK && drawn)
        st = add_last(s, events, count);
    free(events);
    json_decref(trace);
    return st;
}

bn_status bn_suite_xray_figure_6_13(const bn_suite *s)
{
    static const struct {
        const char *what, *cells;
        double photons;
        bool twice;
    } runs[] = { { "5.2 M cells, double", "density.cells=[256,160,128]", 52.4e6, true },
                 { "5.2 M cells, single", "density.cells=[256,160,128]", 52.4e6, false },
                 { "2.1 M cells, double", "density.cells=[256,128,64]", 21e6, true },
                 { "2.1 M cells, single", "density.cells=[256,128,64]", 21e6, false } };
    const bool fp64 = bn_device_describe(s->d->plain)->fp64;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char name[32];
        bn_suite_run r;
        double seconds;
        if (runs[i].twice && !fp64) {
            BN_TRY(bn_suite_skip(s, (double)NAN, "percent", "needs double precision", "%s", runs[i].what));
            continue;
        }
        snprintf(name, sizeof name, "timeline-%zu", i + 1);
        bn_status st = run_volume(s, name, runs[i].cells, runs[i].photons, runs[i].twice, "--profile", &r, &seconds);
        if (st == BN_OK)
            st = add_timeline(s, &r, runs[i].what, i == (fp64 ? 0 : 1));
        bn_suite_run_release(s, &r);
        BN_TRY(st);
    }
    return BN_OK;
}

/* --- fig. 6.15 --- */
bn_status bn_suite_xray_figure_6_15(const bn_suite *s)
{
    static const struct {
        const char *what, *cells;
        double photons, published;
        unsigned devices;
    } tests[] = {
        { "test 1, 2.6 M photons", "density.cells=[256,128,128]", 2.6e6, (double)NAN, 1 },
        { "test 2, 26 M photons", "density.cells=[256,160,128]", 26.2e6, (double)NAN, 1 },
        { "test 3, 16 M photons", "density.cells=[256,128,64]", 16e6, (double)NAN, 1 },
        { "test 4, 52 M photons", "density.cells=[256,160,128]", 52.4e6, 7.8, 1 },
        { "test 5, 52 M photons on each of 8", "density.cells=[256,160,128]", 52.4e6, 8.4, 8 },
        { "test 6, 39 M photons, 40 um", "density.cells=[9984,32,32]", 39e6, 1.6, 1 },
    };
    const bool fp64 = bn_device_describe(s->d->plain)->fp64;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        double seconds[2] = { (double)NAN, (double)NAN };
        if (tests[i].devices > 1) { /* tests 4 and 5 have the same on a device */
            BN_TRY(
                bn_suite_skip(s, tests[i].published, "x", "needs 8 devices", "%s, double over single", tests[i].what));
            continue;
        }
        for (int twice = 0; twice < (fp64 ? 2 : 1); twice++) {
            char name[32];
            bn_suite_run r;
            snprintf(name, sizeof name, "test-%zu-%s", i + 1, twice ? "double" : "single");
            const bn_status st = run_volume(s, name, tests[i].cells, tests[i].photons, twice, "output.pictures=false",
                                            &r, &seconds[twice]);
            bn_suite_run_release(s, &r);
            BN_TRY(st);
            BN_TRY(bn_suite_add(s, (double)NAN, seconds[twice] / share(s), "s", "%s, %s", tests[i].what,
                                twice ? "double" : "single"));
        }
        if (fp64)
            BN_TRY(bn_suite_add(s, tests[i].published, seconds[1] / seconds[0], "x", "%s, double over single",
                                tests[i].what));
        else
            BN_TRY(bn_suite_skip(s, tests[i].published, "x", "needs double precision", "%s, double over single",
                                 tests[i].what));
    }
    return BN_OK;
}

/* --- figs. 6.16 to 6.20 --- */
enum { DEVICES_MAX = 64 };

/* The time of the photons on the first devices of --device, or on this one. */
static bn_status run_on(const bn_suite *s, size_t line, size_t n, const size_t *indices, double photons, bool twice,
                        double *seconds)
{
    char name[64], devices[512] = "--device=";
    bn_suite_run r;
    for (size_t i = 0; i < n; i++)
        snprintf(devices + strlen(devices), sizeof devices - strlen(devices), "%s%zu", i ? "," : "", indices[i]);
    snprintf(name, sizeof name, "scaling-%zu-%zu", line, n);
    const bn_status st = run_volume(s, name, "density.cells=[256,128,64]", photons, twice,
                                    n > 1 ? devices : "output.pictures=false", &r, seconds);
    bn_suite_run_release(s, &r);
    return st;
}

bn_status bn_suite_xray_figure_6_16(const bn_suite *s)
{
    static const struct {
        const char *what;
        double photons, published; /* efficiency on 64 devices [%] */
        bool weak, twice;
    } lines[] = { { "weak, 16 M photons each, single", 16e6, 95, true, false },
                  { "weak, 52 M photons each, single", 52.4e6, 96, true, false },
                  { "weak, 52 M photons each, double", 52.4e6, 90, true, true },
                  { "strong, 67 M photons, single", 67e6, 100 * 2 * 9 / 64.0, false, false },
                  { "strong, 67 M photons, double", 67e6, 100 * 2 * 9 / 64.0, false, true } };
    size_t indices[DEVICES_MAX] = { bn_device_describe(s->d->plain)->index }, count = 1;
    if (!s->checks)
        BN_TRY(bn_device_select(s->d->wish->ctx, s->d->wish->device, indices, DEVICES_MAX, &count, NULL));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        double one = (double)NAN;
        const bool possible = !lines[i].twice || bn_device_describe(s->d->plain)->fp64;
        for (size_t n = 1; n <= DEVICES_MAX; n *= 2) {
            const double published = n == DEVICES_MAX ? lines[i].published : (double)NAN;
            char why[64];
            double seconds;
            snprintf(why, sizeof why, "needs %zu devices", n);
            if (n > count || !possible) {
                BN_TRY(bn_suite_skip_point(s, lines[i].what, (double)n, published, "percent",
                                           possible ? why : "needs double precision"));
                continue;
            }
            BN_TRY(
                run_on(s, i, n, indices, lines[i].photons * (lines[i].weak ? (double)n : 1), lines[i].twice, &seconds));
            one = n == 1 ? seconds : one;
            BN_TRY(bn_suite_point(s, lines[i].what, (double)n, published,
                                  100 * one / seconds / (lines[i].weak ? 1 : (double)n), "percent"));
        }
    }
    return BN_OK;
}

/* Fig. 6.21: time over the number of cells along the light. */
bn_status bn_suite_xray_figure_6_21(const bn_suite *s)
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
