/* bench_suite_flood.c: the study of shallow water on hexagons: layouts, precision, size of the scenario, simulated
 * time. */
#include "bench/bench_suites.h"

#include "io/cells.h"
#include "io/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The scenario that stands in for the study's building, which has no published plan. */
static const char building[] = "data/cases/flood/building.toml";
static const char *const none[] = { NULL };
static const double study_cells = 1147423;

/* Cells along a side: 1,147,423 cells for 600 s are some 12,000 steps, more or less by what flows; here as many, all
 * wet. */
static unsigned cells_of(const bn_suite *s)
{
    return s->level == BN_SUITE_SMALLEST ? 64 : s->gpu || !s->quick ? 1071 : 256;
}

/* The kernels of a step: their shares of the time and local memory. */
static bn_status table_4_2(const bn_suite *s)
{
    const bn_bench_case of = bn_suite_base("flood");
    bn_bench_job job;
    bn_bench_result r;
    double all = 0;
    bn_bench_prepare(&of, cells_of(s), false, s->gpu, &job);
    BN_TRY(bn_suite_measure(s, &job, true, &r));
    for (size_t k = 0; k < r.kernel_count; k++)
        all += r.kernels[k].seconds;
    for (size_t k = 0; k < r.kernel_count; k++) {
        const bn_bench_kernel *kernel = &r.kernels[k];
        BN_TRY(bn_suite_add(s, (double)NAN, 100 * kernel->seconds / all, "percent", "here: %s", kernel->name));
        BN_TRY(bn_suite_add(s, (double)NAN, (double)kernel->local_bytes, "bytes",
                            "here: %s, local memory of a group of %zu", kernel->name, kernel->group));
    }
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

/* Seconds of a step of src/studies/flood_layouts.c, with a setting, on a wet grid like that of the solver's standard
 * case. */
static bn_status time_layout(const bn_suite *s, unsigned n, const char *set, double *seconds)
{
    const bn_bench_case of = {
        .solver = "flood_layouts",
        .what = "time step",
        .unit = "cell",
        .text = "[case]\nsolver='flood_layouts'\n[initial]\nlevels=[2.5,0.5]\n"
                "[output]\npictures=false\n[stop]\nsteps=100000000\n",
        .dims = 2,
        .sets = { set },
    };
    bn_bench_job job;
    bn_bench_prepare(&of, n, false, s->gpu, &job);
    return bn_suite_seconds(s, &job, seconds);
}

/* The study's layouts, arrays of structures and structures of arrays, by the step of src/studies/flood_layouts.c on a
 * wet grid like that of the solver's standard case. */
static bn_status table_4_6(const bn_suite *s)
{
    const unsigned n = cells_of(s);
    bn_published t = bn_published_open("data/published/seed-002-flood.csv");
    double published[2] = { (double)NAN, (double)NAN }, ours[2] = { (double)NAN, (double)NAN };
    static const char *const names[] = { "AoS", "SoA" }, *const settings[] = { "solver.state=cells",
                                                                               "solver.state=planes" };
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
        BN_TRY(time_layout(s, n, settings[i], &ours[i]));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e3 * ours[i], "ms", "a step of %u x %u wet cells, single, %s (%s)", n, n,
                            names[i], settings[i]));
    }
    return bn_suite_add(s, published[0] / published[1], ours[0] / ours[1], "x", "AoS over SoA");
}

/* A wet floor of n x n hexagons as the study's array of neighbours has it: in rows, or without any order. */
static bn_status write_cells(const bn_suite *s, const char *path, unsigned n, bool in_rows)
{
    const bn_cells floor = { .n = { n, n }, .hexagons = true };
    const size_t cells = (size_t)n * n;
    size_t *row = malloc(cells * sizeof *row), *cell = malloc(cells * sizeof *cell); /* of a cell, and of a row */
    bn_string b = { 0 };
    uint32_t noise = 1;
    if (!row || !cell) {
        free(row);
        free(cell);
        return bn_fail(s->d->wish->ctx, BN_MEMORY, "no memory for %zu cells", cells);
    }
    for (size_t k = 0; k < cells; k++)
        cell[k] = k;
    for (size_t k = cells - 1; !in_rows && k > 0; k--) {
        noise = noise * 1664525u + 1013904223u;
        const size_t other = (size_t)(((uint64_t)noise * (k + 1)) >> 32), kept = cell[k];
        cell[k] = cell[other];
        cell[other] = kept;
    }
    for (size_t k = 0; k < cells; k++)
        row[cell[k]] = k;
    bn_string_add(&b, "bed,depth,neighbour_0,neighbour_1,neighbour_2,neighbour_3,neighbour_4,neighbour_5\n");
    for (size_t k = 0; k < cells; k++) {
        const double x = (double)(cell[k] % n) - 0.5 * n, y = (double)(cell[k] / n) - 0.5 * n;
        bn_string_add(&b, "0,%s", x * x + y * y < 0.01 * n * n ? "2.5" : "0.5");
        for (int e = 0; e < 6; e++) {
            size_t beside;
            bn_string_add(&b, ",%ld", bn_cells_beside(&floor, cell[k], e, &beside) ? (long)row[beside] : -1);
        }
        bn_string_add(&b, "\n");
    }
    free(row);
    free(cell);
    const bn_status st = b.failed ? bn_fail(s->d->wish->ctx, BN_MEMORY, "no memory for %zu cells", cells)
                                  : bn_file_write(s->d->wish->ctx, path, bn_string_text(&b), b.bytes);
    bn_string_clear(&b);
    return st;
}

/* The study's array of neighbours (its figs. 3.5 to 3.7), which costs reads that need not lie together, beside
 * neighbours that are computed, which its outlook proposes. */
static bn_status neighbours(const bn_suite *s)
{
    static const struct {
        const char *what, *set;
        bool file, in_rows;
    } ways[] = { { "computed", "solver.neighbours=computed", false, false },
                 { "listed, by the device", "solver.neighbours=listed", false, false },
                 { "from a file, cells in rows", NULL, true, true },
                 { "from a file, cells without order", NULL, true, false } };
    const unsigned n = s->level == BN_SUITE_SMALLEST ? 64 : s->gpu ? 512 : 256;
    char folder[BN_BENCH_PATH], path[BN_BENCH_PATH + 16], set[BN_BENCH_SET];
    bn_status st = BN_OK;
    if (s->checks)
        return BN_OK;
    BN_TRY(bn_bench_temporary(s->d->wish->ctx, folder));
    snprintf(path, sizeof path, "%s/cells.csv", folder);
    if (snprintf(set, sizeof set, "grid.file=%s", path) >= (int)sizeof set)
        st = bn_fail(s->d->wish->ctx, BN_USAGE, "the path %s is too long; set TMPDIR to a shorter one", path);
    for (size_t i = 0; st == BN_OK && i < sizeof ways / sizeof *ways; i++) {
        double seconds = (double)NAN;
        if (ways[i].file)
            st = write_cells(s, path, n, ways[i].in_rows);
        if (st == BN_OK)
            st = time_layout(s, n, ways[i].file ? set : ways[i].set, &seconds);
        if (st == BN_OK)
            st = bn_suite_add(s, (double)NAN, 1e3 * seconds, "ms", "a step of %u x %u wet cells, neighbours %s", n, n,
                              ways[i].what);
    }
    bn_bench_remove_tree(folder);
    return st;
}

/* A run of a case, its seconds of stepping, and a result. */
static bn_status run_for(const bn_suite *s, const char *name, const char *text, const char *const *sets,
                         const char *result, double *seconds, double *value)
{
    bn_suite_run r;
    *seconds = *value = (double)NAN;
    const bn_status st = bn_suite_simulate(s, name, NULL, text, sets, &r);
    if (st == BN_OK && r.summary) {
        *seconds = bn_json_number(json_object_get(r.summary, "timings"), "steps");
        *value = bn_suite_result(&r, result);
    }
    bn_suite_run_release(s, &r);
    return st;
}

enum { FLOOR_TEXT = 600 };
/* A square floor of so many square metres with a source in its middle, for so many seconds. Gives the area of its
 * cells, which can all be wet. */
static double write_floor(double area, double spacing, double end, bool twice, char text[FLOOR_TEXT])
{
    const double side = sqrt(area), row = spacing * 0.8660254037844386;
    snprintf(text, FLOOR_TEXT,
             "[case]\nsolver='flood'\nprecision='%s'\n[grid]\ncells=[%ld,%ld]\nspacing=%.17g\n[fluid]\nmanning=0.013\n"
             "[initial]\nkind='dry'\n[[source]]\nat=[%.17g,%.17g]\nradius=%.17g\nrate=0.1\n[time]\ninterval='1 s'\n"
             "[output]\nrecords=false\nvtk=false\npictures=false\n[stop]\ntime=%.17g\n",
             twice ? "double" : "single", lround(side / spacing), lround(side / row), spacing, 0.5 * side, 0.5 * side,
             fmax(1, spacing), end);
    return (double)lround(side / spacing) * spacing * (double)lround(side / row) * row;
}

/* The study's cells are hexagons of 0.05229 m2, 24.573 cm apart. */
static double spacing_of(const bn_suite *s)
{
    return s->level == BN_SUITE_SMALLEST ? 4 : s->quick && !s->gpu ? 1 : 0.24573;
}

static const double area_low = 4100, area_high = 120000;

static bn_status figure_5_5(const bn_suite *s)
{
    const double areas[] = { area_low, 15000, 30000, 60000, 90000, area_high }, end = s->level ? 600 : 10;
    const size_t step = s->level == BN_SUITE_SMALLEST ? 5 : 1;
    for (size_t i = 0; i < sizeof areas / sizeof *areas; i += step) {
        char text[FLOOR_TEXT], name[32];
        double seconds, wet;
        const double area = write_floor(areas[i], spacing_of(s), end, false, text);
        snprintf(name, sizeof name, "floor-%g", areas[i]);
        BN_TRY(run_for(s, name, text, none, "wet_area", &seconds, &wet));
        BN_TRY(bn_suite_point(s, "computing [s]", areas[i], (double)NAN, seconds, "s"));
        BN_TRY(bn_suite_point(s, "wet share [%]", areas[i], (double)NAN, 100 * wet / area, "percent"));
    }
    return BN_OK;
}

/* The wet share over the time of a run, at some sixty times. */
static bn_status add_wet(const bn_suite *s, const bn_suite_run *r, double area)
{
    bn_csv_table t;
    size_t time = 0, wet = 0;
    BN_TRY(bn_suite_run_table(s, r, "series.csv", &t));
    for (size_t c = 0; c < t.columns; c++) {
        time = strncmp(t.heads[c], "time [", 6) == 0 ? c : time;
        wet = strncmp(t.heads[c], "wet_area", 8) == 0 ? c : wet;
    }
    bn_status st = BN_OK;
    for (size_t i = 0; st == BN_OK && i < t.rows; i += t.rows / 60 + 1)
        st = bn_suite_point(s, "wet share [%]", t.values[i * t.columns + time], (double)NAN,
                            100 * t.values[i * t.columns + wet] / area, "percent");
    bn_csv_table_free(&t);
    return st;
}

static bn_status figure_5_6(const bn_suite *s)
{
    const double ends[] = { 60, 150, 300, 600 };
    const size_t count = sizeof ends / sizeof *ends;
    for (size_t i = 0; i < count; i++) {
        char text[FLOOR_TEXT], name[32];
        bn_suite_run r;
        const double end = s->level ? ends[i] : ends[i] / 30,
                     area = write_floor(area_high, spacing_of(s), end, false, text);
        snprintf(name, sizeof name, "floor-%g-s", end);
        const char *const sets[] = { "output.series_every=1", NULL };
        bn_status st = bn_suite_simulate(s, name, NULL, text, sets, &r);
        if (st == BN_OK)
            st = bn_suite_point(s, "computing [s]", end, (double)NAN,
                                bn_json_number(json_object_get(r.summary, "timings"), "steps"), "s");
        if (st == BN_OK && i + 1 == count)
            st = add_wet(s, &r, area);
        bn_suite_run_release(s, &r);
        BN_TRY(st);
    }
    return BN_OK;
}

/* The study compares sums of the depths, rounded to centimetres; here the water in double over that in single
 * precision, and the largest depth, in percent. */
static bn_status table_4_4(const bn_suite *s)
{
    static const char *const items[2] = { "single time", "double time" }, *const agreements[2] = { "single agreement",
                                                                                                   "double agreement" };
    const bn_bench_case of = bn_suite_base("flood");
    double published[2], seconds[2], depth[2];
    for (int twice = 0; twice < 2; twice++) {
        char text[FLOOR_TEXT];
        const char *precision = twice ? "double" : "single";
        double ignored;
        bn_bench_job job;
        published[twice] = bn_published_item("data/published/seed-002-flood.csv", items[twice]);
        bn_bench_prepare(&of, cells_of(s), twice, s->gpu, &job);
        BN_TRY(bn_suite_seconds(s, &job, &seconds[twice]));
        BN_TRY(bn_suite_add(s, (double)NAN, 1e3 * seconds[twice], "ms", "a step of %u x %u wet cells, %s", cells_of(s),
                            cells_of(s), precision));
        (void)write_floor(area_low, s->level ? 0.5 : 4, s->level ? 60 : 10, twice, text);
        BN_TRY(run_for(s, twice ? "floor-double" : "floor-single", text, none, "max_depth", &ignored, &depth[twice]));
    }
    BN_TRY(bn_suite_add(s, published[1] / published[0], seconds[1] / seconds[0], "x", "double over single, time"));
    return bn_suite_add(s, bn_published_item("data/published/seed-002-flood.csv", agreements[0]),
                        100 * (1 - fabs(depth[0] / depth[1] - 1)), "percent",
                        "agreement of single with double: largest depth on a floor (published: sum of depths)");
}

/* Figs 5.2 to 5.4. The case's plans lie beside it: `binnacle cases building` writes all to the folder. */
static bn_status figure_5_2(const bn_suite *s)
{
    const char *const text = bn_suite_file(building);
    const char *why = s->level == BN_SUITE_SMALLEST ? bn_suite_left_out : NULL;
    const double end = s->gpu ? 600 : s->quick ? 2 : 10; /* whole intervals of the case */
    for (int twice = 0; twice < 2; twice++) {
        const char *precision = twice ? "double" : "single";
        const double published = bn_published_item("data/published/seed-002-flood.csv",
                                                   twice ? "double time" : "single time");
        char time[64], set[64];
        const char *list[16];
        size_t n = 0;
        snprintf(time, sizeof time, "stop.time=%g", end);
        snprintf(set, sizeof set, "case.precision=%s", precision);
        list[n++] = time;
        list[n++] = set;
        list[n++] = "output.pictures=false";
        list[n++] = "output.vtk=false";
        list[n] = NULL;
        if (s->checks)
            continue;
        if (why) {
            BN_TRY(bn_suite_skip(s, published, "ms", why, "computing, %s", precision));
            continue;
        }
        bn_suite_run r;
        bn_status st = bn_suite_simulate(s, twice ? "building-double" : "building-single", building, text, list, &r);
        const json_t *timings = json_object_get(r.summary, "timings");
        const double compute = 1e3 * bn_json_number(timings, "steps");
        if (st == BN_OK)
            st = bn_suite_add(s, end < 600 ? (double)NAN : published, compute, "ms",
                              "computing %g s of the building (fig. 5.2), %s", end, precision);
        if (st == BN_OK)
            st = bn_suite_add(s, (double)NAN, bn_suite_result(&r, "wet_area"), "m2", "wet area then, %s", precision);
        if (st == BN_OK)
            st = bn_suite_add(s, (double)NAN, 1e3 * (bn_json_number(timings, "setup")), "ms",
                              "construction (fig. 5.3), %s", precision);
        if (st == BN_OK)
            st = bn_suite_add(
                s, (double)NAN,
                1e3 * 3 * (twice ? 8 : 4) * study_cells * (1 / s->d->limits.upload + 1 / s->d->limits.download), "ms",
                "transfer of depth and velocity, both ways, by the device's limits (fig. 5.4), %s", precision);
        bn_suite_run_release(s, &r);
        BN_TRY(st);
    }
    return BN_OK;
}

/* Sizes: a step of wet land over its cells. */
static bn_status sizes(const bn_suite *s)
{
    const bn_bench_case of = bn_suite_base("flood");
    for (int i = 0; i < (s->level ? 3 : 1); i++) { /* on a GPU the fourth has 90 times the study's cells */
        bn_bench_job job;
        double seconds;
        bn_bench_prepare(&of, s->level ? of.sizes[s->gpu][i] : 64, false, s->gpu, &job);
        BN_TRY(bn_suite_seconds(s, &job, &seconds));
        BN_TRY(bn_suite_point(s, "a step, single", (double)job.n * job.n, (double)NAN, 1e3 * seconds, "ms"));
    }
    return BN_OK;
}

#define FLOOR_NOTE                                                                                                    \
    "The study gives no strength of its source: here 0.1 m3/s on smooth concrete. Its curves have no numbers in the " \
    "text; what it says: "                                                                                            \
    "a GPU is faster than its serial code from 4,100 m2 on, and water covers a smaller share of a larger floor."
const bn_suite_table bn_suite_flood[] = {
    { .id = "table-4.2",
      .title = "Table 4.2: kernels of a time step",
      .run = table_4_2,
      .note = "Share of the time, by device events; local memory of the work-groups that our rule takes." },
    { .id = "table-4.4",
      .title = "Table 4.4: single and double precision",
      .run = table_4_4,
      .note = "The study sums depths that are rounded to centimetres, in which single precision agrees better than "
              "double." },
    { .id = "table-4.6", .title = "Table 4.6: layouts", .run = table_4_6 },
    { .id = "neighbours",
      .title = "Figs. 3.5 to 3.7: lists of neighbours",
      .run = neighbours,
      .note =
          "Not measured in the study. The same step in single precision; a file may list any cells, such as those of "
          "several storeys, and which of the agents' cells each lies in: agents.csv has their water." },
    { .id = "figure-5.2-5.4",
      .title = "Figs. 5.2 to 5.4: the building",
      .run = figure_5_2,
      .note = "The study's building has no published plan; ours has as many square metres and cells." },
    { .id = "figure-5.5",
      .title = "Fig. 5.5: 600 s on floors of 4,100 to 120,000 m2",
      .run = figure_5_5,
      .x_label = "area [m2]",
      .y_label = "time [s], wet share [%]",
      .note = FLOOR_NOTE },
    { .id = "figure-5.6",
      .title = "Fig. 5.6: simulated times on 120,000 m2",
      .run = figure_5_6,
      .x_label = "simulated time [s]",
      .y_label = "time [s], wet share [%]",
      .note = FLOOR_NOTE },
    { .id = "sizes",
      .title = "A step over the number of cells",
      .run = sizes,
      .x_label = "cells",
      .y_label = "time [ms]",
      .log_x = true,
      .log_y = true },
    { 0 },
};
