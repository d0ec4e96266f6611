/* bench_suites.c: published studies, their figures beside ours. The figures travel inside the program
 * (data/published/); what a study did and this program does not is told by an empty place. */
#include "cli/bench.h"

#include "api/embedded_files.h"
#include "cli/cli_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIELDS = 16, FIELD = 80, TROUBLE = 300 };

typedef struct suite {
    const bn_bench_device *d;
    json_t *rows;
    bool gpu, quick;
} suite;

static bn_status add(const suite *s, double published, double ours, const char *unit, const char *format, ...)
    BN_PRINTF(5, 6);

static bn_status add(const suite *s, double published, double ours, const char *unit, const char *format, ...)
{
    char what[128];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    json_t *row = json_pack("{s:o, s:o, s:o, s:s}", "what", bn_json_text(what), "published", bn_json_real(published),
                            "ours", bn_json_real(ours), "unit", unit);
    if (!row || json_array_append_new(s->rows, row) != 0)
        return bn_fail(s->d->cli->ctx, BN_MEMORY, "no memory for a row of the table");
    return BN_OK;
}

/* Seconds of a step; NaN, with a warning, where it could not be measured. */
static bn_status seconds_of(const suite *s, const bn_bench_job *job, double *seconds)
{
    bn_bench_result r;
    char trouble[TROUBLE];
    if (!s->d->cli->options->quiet)
        fprintf(stderr, "bench: %s, %s, %s, %u\n", job->of->solver, job->of->what, job->twice ? "double" : "single",
                job->n);
    BN_TRY(bn_bench_time(s->d, job, &r, trouble, sizeof trouble));
    if (trouble[0])
        bn_log(s->d->cli->ctx, BN_LOG_WARNING, "%s, %s, %u: %s", job->of->solver, job->of->what, job->n, trouble);
    *seconds = trouble[0] ? (double)NAN : r.seconds;
    return BN_OK;
}

/* --- the published tables: lines of fields with commas between, comments, one line of heads --- */
typedef struct csv {
    const char *at;
    char heads[FIELDS][FIELD], fields[FIELDS][FIELD];
    size_t count;
} csv;

/* The next line that is no comment, split; a field in quotes may hold commas. */
static bool next_fields(csv *t, char fields[FIELDS][FIELD])
{
    while (*t->at == '#')
        t->at += strcspn(t->at, "\n") + (strchr(t->at, '\n') != NULL);
    if (!*t->at)
        return false;
    memset(fields, 0, FIELDS * sizeof *fields);
    size_t f = 0, n = 0;
    bool quoted = false;
    for (; *t->at && *t->at != '\n'; t->at++) {
        if (*t->at == '"')
            quoted = !quoted;
        else if (*t->at == ',' && !quoted && f + 1 < FIELDS)
            f++, n = 0;
        else if (n + 1 < FIELD)
            fields[f][n++] = *t->at;
    }
    t->at += *t->at == '\n';
    t->count = f + 1;
    return true;
}

static csv open_table(const char *name)
{
    csv t = { .at = "" };
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        if (strcmp(f->name, name) == 0)
            t.at = f->text;
    (void)next_fields(&t, t.heads); /* a table that is not there is empty */
    return t;
}

static bool next_row(csv *t) { return next_fields(t, t->fields); }

static const char *field(const csv *t, const char *head)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(t->heads[i], head) == 0)
            return t->fields[i];
    return "";
}

static double number(const csv *t, const char *head)
{
    char *end;
    const double value = strtod(field(t, head), &end);
    return end == field(t, head) ? (double)NAN : value;
}

/* "22.52ms", "0.17s", "9.13min". */
static double duration(const csv *t, const char *head)
{
    char *end;
    const double value = strtod(field(t, head), &end);
    return strcmp(end, "ms") == 0    ? 1e-3 * value
           : strcmp(end, "s") == 0   ? value
           : strcmp(end, "min") == 0 ? 60 * value
                                     : (double)NAN;
}

/* A case of the list by solver and beginning of its name. */
static bn_bench_case base_of(const char *solver)
{
    const bn_bench_case *c = bn_bench_cases;
    while (strcmp(c->solver, solver) != 0)
        c++;
    return *c;
}

/* --- 001: light in thin films: work-groups on coefficients in cells, arrays of structures and structures of arrays ---
 */
static bn_status workgroups(const suite *s)
{
    bn_bench_case of = base_of("maxwell");
    bn_bench_job job;
    double seconds;
    static const char *const forms[] = { "aos", "soa", "compact" };
    const unsigned n = s->gpu ? 128 : 48;
    of.what = "an iteration, array of structures";
    of.sets[0] = "solver.form=aos";
    of.sets[1] = NULL;
    csv t = open_table("data/published/seed-001-workgroups.csv");
    while (next_row(&t)) {
        const char *shape = field(&t, "shape");
        const size_t per_axis = (size_t)number(&t, "n");
        bn_bench_prepare(&of, n, false, s->gpu, &job);
        size_t k = 0;
        for (const char *c = shape; *c && k < 3; c++)
            if (*c == 'n' || *c == '1')
                job.work_group[k++] = *c == 'n' ? per_axis : 1;
        if (s->quick && (per_axis != 4 || strcmp(field(&t, "table"), "4.2.2") == 0))
            continue;
        BN_TRY(seconds_of(s, &job, &seconds));
        BN_TRY(add(s, number(&t, "ms"), 1e3 * seconds, "ms", "table %s: %2s work-items, n = %2zu, %s",
                   field(&t, "table"), field(&t, "workgroup_size"), per_axis, shape));
    }
    for (int f = 0; f < 3; f++) {
        char with[64];
        snprintf(with, sizeof with, "solver.form=%s", forms[f]);
        of.sets[0] = with;
        bn_bench_prepare(&of, n, false, s->gpu, &job);
        BN_TRY(seconds_of(s, &job, &seconds));
        BN_TRY(add(s, (double)NAN, 1e3 * seconds, "ms", "%s, our shape", forms[f]));
    }
    return BN_OK;
}

/* --- 002: shallow water: precision, size of the scenario --- */
static bn_status shallow_water(const suite *s)
{
    const bn_bench_case of = base_of("flood");
    double published[2] = { (double)NAN, (double)NAN }, ours[2];
    csv t = open_table("data/published/seed-002-flood.csv");
    while (next_row(&t)) {
        if (strcmp(field(&t, "item"), "single time") == 0)
            published[0] = number(&t, "value");
        if (strcmp(field(&t, "item"), "double time") == 0)
            published[1] = number(&t, "value");
        if (strncmp(field(&t, "table"), "4.6", 3) == 0) /* layouts: here it is always SoA */
            BN_TRY(add(s, number(&t, "value"), (double)NAN, "ms", "%s", field(&t, "item")));
    }
    /* 1,147,423 cells for 600 s: some 12,000 steps, more or less by what flows. Ours: the same number of cells, all
     * wet. */
    const unsigned n = s->gpu || !s->quick ? 1071 : 256;
    for (int twice = 0; twice < 2; twice++) {
        bn_bench_job job;
        bn_bench_prepare(&of, n, twice, s->gpu, &job);
        BN_TRY(seconds_of(s, &job, &ours[twice]));
        BN_TRY(add(s, (double)NAN, 1e3 * ours[twice], "ms", "a step of %u x %u wet cells, %s", n, n,
                   twice ? "double" : "single"));
    }
    for (int twice = 0; twice < 2; twice++)
        BN_TRY(add(s, published[twice], (double)NAN, "ms", "600 s in the building, %s", twice ? "double" : "single"));
    BN_TRY(add(s, published[1] / published[0], ours[1] / ours[0], "", "double over single"));
    for (int i = 0; i < (s->quick ? 2 : BN_BENCH_SIZES); i++) {
        bn_bench_job job;
        double seconds;
        bn_bench_prepare(&of, of.sizes[s->gpu][i], false, s->gpu, &job);
        BN_TRY(seconds_of(s, &job, &seconds));
        BN_TRY(add(s, (double)NAN, 1e3 * seconds, "ms", "a step of %u x %u wet cells, single", job.n, job.n));
    }
    return BN_OK;
}

/* --- 003: beams: a step along z over N, elimination against the iteration of the study --- */
static void prepare_beam(const suite *s, bn_bench_case *of, const char *method, const char *tau, unsigned n,
                         bn_bench_job *job)
{
    const bool direct = strcmp(method, "direct") == 0;
    static char with[2][64];
    snprintf(with[0], sizeof with[0], "solver.method=%s", method);
    snprintf(with[1], sizeof with[1], "solver.tau=%s", tau);
    of->sets[0] = with[0];
    of->sets[1] = with[1];
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

static bn_status beams(const suite *s)
{
    static const unsigned sizes[] = { 100, 300, 1000, 3000, 6000, 15000 };
    bn_bench_case of = base_of("bpm");
    double published = (double)NAN, iteration = (double)NAN, direct = (double)NAN, reference = (double)NAN;
    csv t = open_table("data/published/seed-003-bpm.csv");
    while (next_row(&t))
        if (strncmp(field(&t, "item"), "speed-up", 8) == 0)
            published = number(&t, "value");
    for (size_t i = 0; i < (s->quick ? 3 : sizeof sizes / sizeof *sizes); i++) {
        bn_bench_job job;
        double seconds[3] = { (double)NAN, (double)NAN, (double)NAN };
        prepare_beam(s, &of, "direct", "optimal", sizes[i], &job);
        BN_TRY(seconds_of(s, &job, &seconds[0]));
        prepare_beam(s, &of, "iteration", "optimal", sizes[i], &job);
        BN_TRY(seconds_of(s, &job, &seconds[1]));
        prepare_beam(s, &of, "iteration", "seed", sizes[i], &job);
        if (sizes[i] <= 3000) /* beyond, its sweeps take the study's own time */
            BN_TRY(seconds_of(s, &job, &seconds[2]));
        BN_TRY(add(s, (double)NAN, 1e6 * seconds[0], "us", "N = %5u, elimination", sizes[i]));
        BN_TRY(add(s, (double)NAN, 1e6 * seconds[1], "us", "N = %5u, iteration, best tau", sizes[i]));
        BN_TRY(add(s, (double)NAN, 1e6 * seconds[2], "us", "N = %5u, iteration, the study's tau", sizes[i]));
        if (sizes[i] == (s->quick ? 1000 : 3000)) {
            direct = seconds[0];
            iteration = seconds[2];
            job.reference = true;
            BN_TRY(seconds_of(s, &job, &reference));
        }
    }
    const char *at = s->quick ? "N = 1000 (published: 3000)" : "N = 3000";
    BN_TRY(add(s, published, reference / iteration, "x", "device over one core, the study's iteration, %s", at));
    return add(s, (double)NAN, reference / direct, "x", "our elimination over one core with the study's, %s", at);
}

/* --- 004: flow: products of conjugate gradients, whole time steps --- */
static bn_status products(const suite *s, unsigned n, bool twice)
{
    static const char *const spmv[] = { "naive", "local", "image" };
    static const char *const dot[] = { "naive", "coalesced", "convergent", "conflict-free", "unrolled", "norm" };
    const char *precision = twice ? "double" : "single";
    double published = (double)NAN;
    csv t = open_table("data/published/seed-004-cg.csv");
    while (next_row(&t))
        if (strcmp(field(&t, "precision"), precision) == 0 && (unsigned)number(&t, "N") == n &&
            strcmp(field(&t, "system"), "A") == 0)
            published = 1e6 * duration(&t, "gpu_dia2_time") / number(&t, "iter");
    for (int v = 0; v < 3; v++)
        for (int p = 0; p < 6; p++) {
            double seconds;
            if (v != 1 && p != 5)
                continue;
            const bn_status st = bn_bench_cg(s->d, n, twice, v, p, &seconds);
            if (st != BN_OK) { /* such as a device without images */
                bn_log(s->d->cli->ctx, BN_LOG_WARNING, "%s", bn_error_text(s->d->cli->ctx));
                bn_error_clear(s->d->cli->ctx);
            }
            BN_TRY(add(s, v == 1 && p == 5 ? published : (double)NAN, 1e6 * seconds, "us",
                       "CG, an iteration, %4u^2, %s: product %s, dot %s", n, precision, spmv[v], dot[p]));
            if (*s->d->cli->stop)
                return bn_fail(s->d->cli->ctx, BN_INTERRUPTED, "interrupted");
        }
    return BN_OK;
}

static bn_status flow(const suite *s)
{
    const unsigned most = s->gpu ? 1024 : s->quick ? 64 : 256;
    const bool fp64 = bn_device_describe(s->d->plain)->fp64;
    bn_bench_case of = base_of("flow");
    for (unsigned n = 64; n <= most; n *= 4)
        for (int twice = 0; twice < (fp64 && !s->quick ? 2 : 1); twice++)
            BN_TRY(products(s, n, twice));
    csv t = open_table("data/published/flow-seed-times.csv");
    while (next_row(&t)) {
        const unsigned n = (unsigned)number(&t, "N");
        const bool twice = strcmp(field(&t, "precision"), "double") == 0;
        const double published = 1e3 * (duration(&t, "total") - duration(&t, "save"));
        double seconds = (double)NAN;
        /* Beside the second version our CG, which does what it did; beside the host one the method that is the default.
         */
        const bool cg = strcmp(field(&t, "version"), "GPU_2") == 0, best = strcmp(field(&t, "version"), "CPU") == 0;
        if ((cg || best) && (n <= most || (best && !s->quick))) {
            bn_bench_job job;
            of.sets[0] = cg ? "solver.poisson=cg" : NULL;
            of.sets[1] = cg ? "solver.diffusion=cg" : NULL;
            of.sets[2] = NULL;
            of.what = cg ? "time step, CG" : "time step, direct";
            bn_bench_prepare(&of, n, twice, s->gpu, &job);
            BN_TRY(seconds_of(s, &job, &seconds));
        }
        BN_TRY(add(s, published, 1e3 * seconds, "ms", "time step without saving, %4u^2, %s: %s%s", n,
                   field(&t, "precision"), field(&t, "version"),
                   cg     ? "; ours by CG"
                   : best ? "; ours direct"
                          : ""));
    }
    return BN_OK;
}

/* --- 000: X-rays: precision, error over photons --- */
static bn_status slit(const suite *s, double photons, double *error)
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

static bn_status xrays(const suite *s)
{
    const bn_bench_case of = base_of("xray");
    double seconds[2], ours = (double)NAN, spent = 0;
    for (int twice = 0; twice < 2; twice++) {
        bn_bench_job job;
        bn_bench_prepare(&of, 256, twice, s->gpu, &job);
        BN_TRY(seconds_of(s, &job, &seconds[twice]));
        BN_TRY(add(s, (double)NAN, 1e-6 * job.per_step / seconds[twice], "M photons/s", "slab of 256 cells, %s",
                   twice ? "double" : "single"));
    }
    csv t = open_table("data/published/seed-000-xray.csv");
    while (next_row(&t))
        if (strncmp(field(&t, "item"), "single/double", 13) == 0) {
            const char *text = field(&t, "value"); /* "7.8 / 8.4 / 1.6": of three tests */
            for (int i = 4; i <= 6; i++) {
                char *end;
                const double value = strtod(text, &end);
                BN_TRY(add(s, value, seconds[1] / seconds[0], "x", "single over double, test %d", i));
                text = end + strspn(end, " /");
            }
        }
    t = open_table("data/published/xray-double-slit.csv");
    while (next_row(&t)) {
        /* 1.408e8 photons are what 50,000 steps with 2 photons a cell were. A line takes twice the time of the one
         * before. */
        const double product = number(&t, "product"), photons = 1408 * product;
        const time_t begin = time(NULL);
        const bool first = product < 26000;
        ours = (double)NAN;
        if (s->quick ? s->gpu : (first || spent < (s->gpu ? 60 : 15))) {
            if (!s->d->cli->options->quiet)
                fprintf(stderr, "bench: double slit, %.3g photons\n", photons);
            BN_TRY(slit(s, photons, &ours));
        }
        spent += difftime(time(NULL), begin);
        BN_TRY(add(s, number(&t, "grund"), ours, "", "mean squared error, %.3g photons", photons));
    }
    return BN_OK;
}

static const struct {
    const char *name, *source;
    bn_status (*run)(const suite *);
} suites[] = {
    { "seed-000", "X-rays as particles: precision and error over photons; Grund, Dresden 2016 (Nvidia K20X)", xrays },
    { "seed-001", "light in thin films: work-groups and layouts; thesis, Erlangen (Nvidia GT 330M), grid not stated",
      workgroups },
    { "seed-002",
      "shallow water on hexagons: precision, layouts, sizes; thesis (Nvidia GTX TITAN Black, 1,147,423 cells)",
      shallow_water },
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

bn_status bn_bench_suite(const bn_bench_device *d, const char *name, json_t **out)
{
    size_t i = 0;
    while (i + 1 < SUITES && strcmp(suites[i].name, name) != 0)
        i++;
    suite s = {
        .d = d, .rows = json_array(), .gpu = !bn_device_describe(d->plain)->cpu, .quick = d->cli->options->quick
    };
    bn_bench_device shorter = *d;
    shorter.budget = fmin(d->budget, 0.5); /* many rows */
    s.d = &shorter;
    bn_status st = suites[i].run(&s);
    *out = st == BN_OK
               ? json_pack("{s:s, s:s, s:O}", "name", suites[i].name, "source", suites[i].source, "rows", s.rows)
               : NULL;
    json_decref(s.rows);
    return st == BN_OK && !*out ? bn_fail(d->cli->ctx, BN_MEMORY, "no memory for the suite") : st;
}
