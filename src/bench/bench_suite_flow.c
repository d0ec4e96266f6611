/* bench_suite_flow.c: the published study 004: flow: products of conjugate gradients, whole time steps, cavities and
 * channels. */
#include "bench/bench_suites.h"

#include "studies/cg_products.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECOND(id, text) text,
static const char *const spmv[] = { CG_PRODUCTS_SPMV(SECOND) };
static const char *const dot[] = { CG_PRODUCTS_DOT(SECOND) };
static const bn_bench_case cg_products_case = {
    .solver = "cg_products",
    .what = "conjugate gradients in separate kernels",
    .unit = "point",
    .text = "[case]\nsolver='cg_products'\n[stop]\nsteps=100000000\n",
    .dims = 2,
};

/* Operations a second of the kernels whose names begin so, by device events; NaN: there is none. */
static double rate_of(const bn_bench_result *r, const char *begin, double flops)
{
    for (size_t k = 0; k < r->kernel_count; k++)
        if (strncmp(r->kernels[k].name, begin, strlen(begin)) == 0)
            return flops * r->kernels[k].calls / r->kernels[k].seconds;
    return (double)NAN;
}

/* The six dot products or the three matrix products over the number of unknowns, and what the bandwidth allows: two
 * numbers read for two operations; eleven numbers moved for ten. */
static bn_status products(const bn_suite *s, bool matrix, bool twice)
{
    static const unsigned cpu[3][6] = { { 64 }, { 64, 128, 256 }, { 64, 128, 256, 512, 1024 } },
                          gpu[3][6] = { { 64 }, { 64, 256, 1024 }, { 64, 256, 1024, 2048 } };
    const unsigned *sizes = s->gpu ? gpu[s->level] : cpu[s->level]; /* a CPU takes seconds for a naive one of 1024^2 */
    const double bytes = (twice ? 8 : 4) * (matrix ? 11.0 : 2.0), flops = matrix ? 10 : 2,
                 published = 102 * flops / bytes;
    for (size_t i = 0; i < 6 && sizes[i]; i++) {
        const unsigned n = sizes[i];
        const double points = (double)n * n;
        for (int v = 0; v < (matrix ? 3 : 6); v++) {
            bn_bench_result r = { 0 };
            bn_bench_job job;
            char line[64];
            bn_bench_prepare(&cg_products_case, n, twice, s->gpu, &job);
            snprintf(job.sets[job.set_count++], BN_BENCH_SET, "grid.nodes=[%u,%u]", n, n);
            snprintf(job.sets[job.set_count++], BN_BENCH_SET, "solver.spmv=%s", matrix ? spmv[v] : "local");
            snprintf(job.sets[job.set_count++], BN_BENCH_SET, "solver.dot=%s", matrix ? "norm" : dot[v]);
            BN_TRY(bn_suite_measure(s, &job, true, &r));
            snprintf(line, sizeof line, "%s", matrix ? spmv[v] : dot[v]);
            const char *kernel = matrix ? "cg_products_spmv" : v == DOT_NORM ? "cg_products_norm" : "cg_products_dot";
            BN_TRY(bn_suite_point(s, line, points, (double)NAN, 1e-9 * rate_of(&r, kernel, flops * points), "GFLOP/s"));
        }
        BN_TRY(bn_suite_point(s, "limit by bandwidth", points, published, 1e-9 * s->d->limits.copy * flops / bytes,
                              "GFLOP/s"));
    }
    return BN_OK;
}

static bn_status dots_single(const bn_suite *s) { return products(s, false, false); }
static bn_status dots_double(const bn_suite *s) { return products(s, false, true); }
static bn_status matrices_single(const bn_suite *s) { return products(s, true, false); }
static bn_status matrices_double(const bn_suite *s) { return products(s, true, true); }

/* Kernels of linear systems by the beginnings of their names. */
static bool solves(const char *kernel)
{
    static const char *const begins[] = { "cg_", "multigrid_", "spectral_" };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(kernel, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

typedef struct step_parts {
    double total, solve, save;
} step_parts;

/* A step by conjugate gradients in the study's way, the share of its systems in the kernels' time, and a frame of
 * output of the case that stands for the study's step. Where a step takes seconds, that case's kernels, by events, give
 * the time, too. */
static bn_status measure_step(const bn_suite *s, unsigned n, bool twice, step_parts *out)
{
    bn_bench_case of = bn_suite_base("flow");
    bn_bench_job job;
    bn_bench_result r;
    bn_suite_run run;
    char path[64], name[64];
    double all = 0, systems = 0;
    *out = (step_parts){ (double)NAN, (double)NAN, (double)NAN };
    of.sets[0] = "solver.poisson=cg";
    of.sets[1] = "solver.diffusion=cg";
    of.sets[2] = NULL;
    of.what = "time step, CG";
    bn_bench_prepare(&of, n, twice, s->gpu, &job);
    const bool slow = !s->gpu && n > 256;
    const double steps = slow ? 2 : 4;
    if (!slow || s->checks)
        BN_TRY(bn_suite_measure(s, &job, true, &r));
    else
        r = (bn_bench_result){ 0 };
    for (size_t k = 0; k < r.kernel_count; k++) {
        all += r.kernels[k].seconds;
        systems += solves(r.kernels[k].name) ? r.kernels[k].seconds : 0;
    }
    snprintf(path, sizeof path, "data/cases/flow/timing-%u.toml", n);
    snprintf(name, sizeof name, "timing-%u-%s", n, twice ? "double" : "single");
    const char *const sets[] = { twice ? "case.precision=double" : "case.precision=single",
                                 slow ? "stop.steps=2" : "stop.steps=4",
                                 "output.every=1",
                                 "solver.poisson=cg",
                                 "solver.diffusion=cg",
                                 slow ? "--profile" : NULL,
                                 NULL };
    const bn_status st = bn_suite_simulate(s, name, NULL, bn_suite_file(path), sets, &run);
    if (st == BN_OK && run.summary)
        out->save = bn_json_number(json_object_get(run.summary, "timings"), "output") / steps;
    const json_t *profile = json_object_get(run.summary, "profile");
    for (size_t k = 0; slow && k < json_array_size(profile); k++) {
        const json_t *row = json_array_get(profile, k);
        const char *kernel = json_string_value(json_object_get(row, "kernel"));
        all += bn_json_number(row, "seconds");
        systems += kernel && solves(kernel) ? bn_json_number(row, "seconds") : 0;
    }
    bn_suite_run_release(s, &run);
    out->total = slow ? all / (steps - 1) : r.seconds; /* the first step, from rest, has no stream function */
    out->solve = out->total * systems / all;
    return st;
}

static bn_status time_steps(const bn_suite *s, bool twice)
{
    const char *precision = twice ? "double" : "single";
    const bool fp64 = bn_device_describe(s->d->plain)->fp64;
    for (unsigned n = 64; n <= 1024; n *= 4) {
        const char *why = s->level == BN_SUITE_SMALLEST && n > 64 ? bn_suite_left_out
                          : twice && !fp64                        ? "needs double precision"
                                                                  : NULL;
        step_parts ours = { (double)NAN, (double)NAN, (double)NAN };
        if (!why || s->checks)
            BN_TRY(measure_step(s, n, twice, &ours));
        bn_published t = bn_published_open("data/published/flow-seed-times.csv");
        while (bn_published_next(&t)) {
            const char *version = bn_published_text(&t, "version");
            if ((unsigned)bn_published_number(&t, "N") != n || strcmp(version, "GPU_2") != 0 ||
                strcmp(bn_published_text(&t, "precision"), precision) != 0)
                continue;
            const struct {
                const char *name, *key;
                double value;
            } parts[] = { { "linear systems", "solve", ours.solve },
                          { "saving", "save", ours.save },
                          { "rest", "rest", ours.total - ours.solve },
                          { "all", "total", ours.total + ours.save } };
            for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
                if (why)
                    BN_TRY(bn_suite_skip(s, 1e3 * bn_published_seconds(&t, parts[i].key), "ms", why, "%u^2: %s", n,
                                         parts[i].name));
                else
                    BN_TRY(bn_suite_add(s, 1e3 * bn_published_seconds(&t, parts[i].key), 1e3 * parts[i].value, "ms",
                                        "%u^2: %s", n, parts[i].name));
        }
        if (!why || s->checks) {
            bn_bench_case of = bn_suite_base("flow");
            bn_bench_job job;
            double seconds;
            of.what = "time step, direct";
            bn_bench_prepare(&of, n, twice, s->gpu, &job);
            BN_TRY(bn_suite_seconds(s, &job, &seconds));
            BN_TRY(bn_suite_add(s, (double)NAN, 1e3 * seconds, "ms", "%u^2: our default, without saving", n));
        }
    }
    return BN_OK;
}

static bn_status steps_single(const bn_suite *s) { return time_steps(s, false); }
static bn_status steps_double(const bn_suite *s) { return time_steps(s, true); }

/* A profile of the run at a place, linear between its points. */
static double at(const bn_csv_table *t, double x)
{
    for (size_t i = 1; i < t->rows; i++) {
        const double *a = t->values + (i - 1) * t->columns, *b = a + t->columns;
        if (x <= b[0])
            return a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0]);
    }
    return (double)NAN;
}

static bn_status add_profile(const bn_suite *s, const bn_suite_run *r, const char *what, double reynolds)
{
    char file[32], line[64];
    bn_csv_table t;
    bn_status st = BN_OK;
    snprintf(file, sizeof file, "centreline-%s.csv", what);
    snprintf(line, sizeof line, "%s",
             strcmp(what, "u") == 0 ? "u on the vertical centre line" : "v on the horizontal one");
    BN_TRY(bn_suite_run_table(s, r, file, &t));
    bn_published p = bn_published_open("data/published/flow-cavity-profiles.csv");
    size_t known = 0;
    while (st == BN_OK && t.rows > 0 && bn_published_next(&p)) {
        if (fabs(bn_published_number(&p, "Re") - reynolds) > 0.5 || strcmp(bn_published_text(&p, "line"), what) != 0)
            continue;
        const double place = bn_published_number(&p, "coord");
        known++;
        st = bn_suite_point(s, line, place, bn_published_number(&p, "ref"), at(&t, place), "m/s");
    }
    for (size_t i = 0; st == BN_OK && known == 0 && i < t.rows; i++)
        st = bn_suite_point(s, line, t.values[i * t.columns], (double)NAN, t.values[i * t.columns + 1], "m/s");
    bn_csv_table_free(&t);
    return st;
}

static bn_status cavity(const bn_suite *s, double reynolds)
{
    static const unsigned nodes[] = { 17, 65, 129 };
    char path[64], name[32], grid[64];
    bn_suite_run r;
    snprintf(path, sizeof path, "data/cases/flow/cavity-re%g.toml", reynolds);
    snprintf(name, sizeof name, "cavity-re%g", reynolds);
    const unsigned n = s->gpu ? 257 : reynolds > 1000 && s->level == BN_SUITE_SMALLEST ? 65 : nodes[s->level];
    if (n == 65 && s->level == BN_SUITE_SMALLEST && !s->checks) /* coarser grids have no steady solution */
        return bn_suite_skip(s, (double)NAN, "m2/s", bn_suite_left_out, "psi in the primary vortex");
    snprintf(grid, sizeof grid, "grid.nodes=[%u,%u]", n, n);
    const char *const sets[] = { grid, "solver.steady=newton", "stop.steps=100", "output.vtk=false", NULL };
    bn_status st = bn_suite_simulate(s, name, NULL, bn_suite_file(path), sets, &r);
    if (st == BN_OK && r.summary) {
        double psi = (double)NAN;
        bn_published t = bn_published_open("data/published/flow-cavity-vortices.csv");
        while (bn_published_next(&t))
            if (fabs(bn_published_number(&t, "Re") - reynolds) < 0.5 &&
                strcmp(bn_published_text(&t, "vortex"), "primary") == 0)
                psi = bn_published_number(&t, "psi");
        st = bn_suite_add(s, psi, bn_suite_result(&r, "psi_min"), "m2/s", "psi in the primary vortex, %u^2 nodes", n);
    }
    if (st == BN_OK && !r.summary && !s->checks)
        st = bn_suite_add(s, (double)NAN, (double)NAN, "m2/s", "psi in the primary vortex, %u^2 nodes", n);
    if (st == BN_OK)
        st = add_profile(s, &r, "u", reynolds);
    if (st == BN_OK)
        st = add_profile(s, &r, "v", reynolds);
    if (st == BN_OK)
        st = bn_suite_show(s, &r, "psi", "stream lines");
    if (st == BN_OK)
        st = bn_suite_show(s, &r, "velocity", "velocity");
    if (st == BN_OK)
        st = bn_suite_show(s, &r, "vorticity", "vorticity");
    bn_suite_run_release(s, &r);
    return st;
}

static bn_status cavity_1(const bn_suite *s) { return cavity(s, 1); }
static bn_status cavity_100(const bn_suite *s) { return cavity(s, 100); }
static bn_status cavity_3333(const bn_suite *s) { return cavity(s, 3333); }

/* How the flow comes to rest, in some 100 points of its series: step, time, residual. */
static bn_status add_history(const bn_suite *s, const bn_suite_run *r)
{
    bn_csv_table t;
    bn_status st = bn_suite_run_table(s, r, "series.csv", &t);
    for (size_t i = 0; st == BN_OK && i < t.rows; i += 1 + t.rows / 100)
        st = bn_suite_point(s, "residual", t.values[i * t.columns + 1], (double)NAN, t.values[i * t.columns + 2], "");
    bn_csv_table_free(&t);
    return st;
}

/* A case of ours that does what the study shows, on `nodes` for each level, and a result beside its closed form. */
static bn_status experiment(const bn_suite *s, const char *name, const char *const nodes[3], const char *set,
                            const char *result, double expected)
{
    char path[64];
    bn_suite_run r;
    snprintf(path, sizeof path, "data/cases/flow/%s.toml", name);
    const char *const sets[] = { nodes[s->gpu ? 2 : s->level], "output.vtk=false", set, NULL };
    bn_status st = bn_suite_simulate(s, name, NULL, bn_suite_file(path), sets, &r);
    if (st == BN_OK)
        st = bn_suite_add(s, s->level ? expected : (double)NAN, bn_suite_result(&r, result), "", "%s", result);
    if (st == BN_OK)
        st = add_history(s, &r);
    if (st == BN_OK)
        st = bn_suite_show(s, &r, "temperature", "temperature");
    if (st == BN_OK)
        st = bn_suite_show(s, &r, "velocity", "velocity");
    if (st == BN_OK)
        st = bn_suite_show(s, &r, "psi", "stream lines");
    bn_suite_run_release(s, &r);
    return st;
}

static bn_status channel(const bn_suite *s)
{
    static const char *const nodes[] = { "grid.nodes=[65,9]", "grid.nodes=[257,33]", "grid.nodes=[513,65]" };
    return experiment(s, "channel-heat", nodes, s->level ? NULL : "stop.steps=20", "nusselt_channel", 7.5407);
}

static bn_status mixing(const bn_suite *s)
{
    static const char *const nodes[] = { "grid.nodes=[33,17]", "grid.nodes=[129,65]", "grid.nodes=[257,129]" };
    return experiment(s, "mixing", nodes, s->level ? NULL : "stop.steps=20", "temperature_mean", 0.5);
}

static bn_status diffusion(const bn_suite *s)
{
    static const char *const nodes[] = { "grid.nodes=[33,33]", "grid.nodes=[65,65]", "grid.nodes=[129,129]" };
    return experiment(s, "diffusion", nodes, s->level ? NULL : "solver.steady_tolerance=0.5", "temperature_max", 2);
}

#define PRODUCTS_NOTE                                                                                            \
    "By device events. The published line is the study's limit of 102 GB/s; the heights of its curves are in a " \
    "picture alone."
#define CG_NOTE                                                                                                       \
    "The study tells neither tolerance nor right-hand side nor time step: here 1e-10, noise, and 4e-5 and 1e-11 for " \
    "time step times diffusivity, which give about its iterations. Single precision ends at rounding. One core: C "   \
    "with -O3, above 256^2 by the time of 100 iterations. Published times with transfer: its first version."
#define STEP_NOTE \
    "Ours by conjugate gradients; beside the study's second version. Saving: a frame of all fields as VTK."
#define CAVITY_NOTE                                                                                             \
    "The study shows pictures alone; the published column is the steady solution extrapolated from 128 to 512 " \
    "intervals."
#define HISTORY .x_label = "time [s]", .y_label = "largest change in a unit of time", .log_y = true
#define POINTS .x_label = "unknowns", .y_label = "GFLOP/s", .log_x = true, .note = PRODUCTS_NOTE
#define PROFILES .x_label = "place [m]", .y_label = "velocity [m/s]", .note = CAVITY_NOTE
const bn_suite_table bn_suite_flow[] = {
    { .id = "dot-single", .title = "Dot products, single precision", .run = dots_single, POINTS },
    { .id = "dot-double", .title = "Dot products, double precision", .run = dots_double, POINTS },
    { .id = "matrix-single", .title = "Matrix products, single precision", .run = matrices_single, POINTS },
    { .id = "matrix-double", .title = "Matrix products, double precision", .run = matrices_double, POINTS },
    { .id = "cg-single",
      .title = "Conjugate gradients, single precision",
      .run = bn_suite_flow_cg_single,
      .note = CG_NOTE },
    { .id = "cg-double",
      .title = "Conjugate gradients, double precision",
      .run = bn_suite_flow_cg_double,
      .note = CG_NOTE },
    { .id = "step-single", .title = "A time step, single precision", .run = steps_single, .note = STEP_NOTE },
    { .id = "step-double", .title = "A time step, double precision", .run = steps_double, .note = STEP_NOTE },
    { .id = "cavity-re1", .title = "Driven cavity, Re = 1", .run = cavity_1, PROFILES },
    { .id = "cavity-re100", .title = "Driven cavity, Re = 100", .run = cavity_100, PROFILES },
    { .id = "cavity-re3333",
      .title = "Driven cavity, Re = 3333",
      .run = cavity_3333,
      .x_label = "place [m]",
      .y_label = "velocity [m/s]",
      .note = "Printed as 3.333 in the study, which its series 1, 100 and the picture contradict." },
    { .id = "channel", .title = "Channel flow between hot walls", .run = channel, HISTORY },
    { .id = "mixing", .title = "Mixing of two streams", .run = mixing, HISTORY },
    { .id = "diffusion", .title = "Diffusion around a hot block", .run = diffusion, HISTORY },
    { 0 },
};
