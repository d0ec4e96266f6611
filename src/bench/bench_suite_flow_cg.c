/* bench_suite_flow_cg.c: the published study 004: conjugate gradients on its three matrices, on the device and on one
 * core. */
#include "bench/bench_suites.h"

#include "numerics/linear.h"
#include "studies/cg_serial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The study's three: A = -Laplacian, B = 1 + c A. Its time step and tolerance are not told; with 1e-10 and a right-hand
 * side of noise these c give its iterations. */
static const struct {
    const char *name;
    double c; /* 0: A itself */
} systems[] = { { "A", 0 }, { "B_T", 4e-5 }, { "B_omega", 1e-11 } };
enum { SYSTEMS = sizeof systems / sizeof *systems, FIELDS = 6, MOST = 20000 };
static const double tolerance = 1e-10;

typedef struct problem {
    unsigned n;
    bool twice;
    double mass, k;
    double *b, *x;
    uint8_t *bits;
} problem;

typedef struct outcome {
    double iterations, seconds, with_transfer;
} outcome;

static bn_status prepare(bn_context *ctx, unsigned n, bool twice, double c, problem *p)
{
    const size_t points = (size_t)n * n;
    const double k = (double)(n - 1) * (n - 1);
    bool *unknown = calloc(points, sizeof *unknown), *cell = calloc(points, sizeof *cell);
    *p = (problem){ n, twice, c > 0 ? 1 : 0, c > 0 ? c * k : k, calloc(points, sizeof(double)), NULL, NULL };
    p->x = calloc(points, sizeof(double));
    p->bits = calloc(points, 1);
    const bool room = unknown && cell && p->b && p->x && p->bits;
    uint32_t noise = 1;
    for (size_t at = 0; room && at < points; at++) {
        const size_t i = at % n, j = at / n;
        noise = noise * 1664525u + 1013904223u;
        cell[at] = true;
        unknown[at] = i > 0 && j > 0 && i + 1 < n && j + 1 < n;
        p->b[at] = unknown[at] ? (double)(noise >> 8) / (1 << 24) - 0.5 : 0;
    }
    if (room)
        bn_stencil_bits(n, n, unknown, cell, p->bits);
    free(unknown);
    free(cell);
    return room ? BN_OK : bn_fail(ctx, BN_MEMORY, "no memory for a system of %u x %u nodes", n, n);
}

static void release(problem *p)
{
    free(p->b);
    free(p->x);
    free(p->bits);
    *p = (problem){ 0 };
}

/* The second of two solves, as the first one finds caches and clocks cold; the only one where it takes seconds. */
static bn_status solve(bn_context *ctx, bn_device *device, const problem *p, outcome *out)
{
    static const char *const names[FIELDS] = { "x", "b", "bits", "r", "p", "q" };
    const size_t points = (size_t)p->n * p->n;
    bn_domain *domain = NULL;
    bn_field *f[FIELDS] = { NULL };
    bn_linear *linear = NULL;
    bn_cg_report report;
    bn_status st = BN_OK;
    BN_GO(bn_domain_create(
        ctx,
        &(bn_domain_desc){ .grid = { .dims = 2, .n = { p->n, p->n, 1 }, .h = { 1, 1, 1 }, .nodes = true },
                           .precision = p->twice ? BN_DOUBLE : BN_SINGLE,
                           .halo = 1,
                           .device = device },
        &domain));
    for (int i = 0; i < FIELDS; i++)
        BN_GO(bn_field_create(
            domain, &(bn_field_desc){ .name = names[i], .type = i == 2 ? BN_T_U8 : BN_T_REAL, .components = 1 },
            &f[i]));
    BN_GO(bn_linear_create(domain,
                           &(bn_linear_desc){ .name = "the study's system",
                                              .stencil = { p->n, p->n, p->mass, p->k, p->k, p->bits },
                                              .method = BN_LINEAR_CG },
                           &(bn_linear_work){ .bits = f[2], .r = f[3], .p = f[4], .q = f[5] }, &linear));
    for (int round = p->n < 512 ? 0 : 1; round < 2; round++) {
        const double begin = bn_seconds_now();
        BN_GO(bn_field_set(f[1], p->b, points));
        BN_GO(bn_field_zero(f[0]));
        BN_GO(bn_domain_finish(domain));
        const double start = bn_seconds_now();
        BN_GO(bn_linear_solve(linear, f[0], f[1], &(bn_cg_target){ tolerance, MOST }));
        BN_GO(bn_linear_report(linear, &report));
        const double end = bn_seconds_now();
        BN_GO(bn_field_get(f[0], p->x, points));
        *out = (outcome){ report.iterations, end - start, bn_seconds_now() - begin };
    }
out:
    bn_linear_destroy(&linear);
    for (int i = 0; i < FIELDS; i++)
        bn_field_destroy(&f[i]);
    bn_domain_destroy(&domain);
    return st;
}

/* Where a solve takes long, the time of some hundred iterations stands for it. */
static bn_status solve_serial(bn_context *ctx, const problem *p, outcome *out)
{
    const long most = p->n < 512 ? MOST : 100;
    const double start = bn_seconds_now();
    const long done = (p->twice ? cg_serial_double : cg_serial_single)(p->n, p->mass, p->k, p->b, tolerance, most,
                                                                       p->x);
    if (done < 0)
        return bn_fail(ctx, BN_MEMORY, "no memory for a system of %u x %u nodes", p->n, p->n);
    *out = (outcome){ .iterations = (double)done, .seconds = bn_seconds_now() - start };
    return BN_OK;
}

static bn_status add_system(const bn_suite *s, unsigned n, bool twice, int which)
{
    static const char data[] = "data/published/seed-004-cg.csv";
    const char *precision = twice ? "double" : "single";
    double iterations = (double)NAN, device = iterations, first = iterations, core = iterations, flops = iterations;
    problem p = { 0 };
    outcome ours = { (double)NAN, (double)NAN, (double)NAN }, serial = ours;
    bn_published t = bn_published_open(data);
    while (bn_published_next(&t))
        if (strcmp(bn_published_text(&t, "precision"), precision) == 0 && (unsigned)bn_published_number(&t, "N") == n &&
            strcmp(bn_published_text(&t, "system"), systems[which].name) == 0) {
            iterations = bn_published_number(&t, "iter");
            device = bn_published_seconds(&t, "gpu_dia2_time");
            first = bn_published_seconds(&t, "gpu_dia1_time");
            core = bn_published_seconds(&t, "cpu_time");
            flops = bn_published_number(&t, "gpu_dia2_GF");
        }
    if (s->checks)
        return BN_OK;
    s->why[0] = '\0';
    if (s->level == BN_SUITE_SMALLEST && n > 64) {
        snprintf(s->why, BN_SUITE_WHY, "%s", bn_suite_left_out);
    } else if (twice && !bn_device_describe(s->d->plain)->fp64) {
        snprintf(s->why, BN_SUITE_WHY, "needs double precision");
    } else {
        if (!s->d->wish->quiet)
            fprintf(stderr, "bench: CG, %s, %s, %u\n", systems[which].name, precision, n);
        bn_context *ctx = s->d->wish->ctx;
        bn_status st = prepare(ctx, n, twice, systems[which].c, &p);
        if (st == BN_OK)
            st = solve_serial(ctx, &p, &serial);
        if (st == BN_OK)
            st = solve(ctx, s->d->plain, &p, &ours);
        release(&p);
        if (st == BN_OK) {
            *s->measured = true;
        } else {
            snprintf(s->why, BN_SUITE_WHY, "%.*s", (int)strcspn(bn_error_text(ctx), "\n"), bn_error_text(ctx));
            bn_error_clear(ctx);
            *s->failed = true;
        }
        if (*s->d->wish->stop)
            return bn_fail(ctx, BN_INTERRUPTED, "interrupted");
    }
    const double points = (double)(n - 2) * (n - 2), work = 1e-9 * (20 * ours.iterations + 14) * points;
    BN_TRY(bn_suite_add(s, iterations, ours.iterations, "", "%u^2, %s: iterations", n, systems[which].name));
    BN_TRY(bn_suite_add(s, 1e3 * device, 1e3 * ours.seconds, "ms", "%u^2, %s: time", n, systems[which].name));
    BN_TRY(bn_suite_add(s, flops, work / ours.seconds, "GFLOP/s", "%u^2, %s: rate", n, systems[which].name));
    BN_TRY(bn_suite_add(s, 1e3 * first, 1e3 * ours.with_transfer, "ms", "%u^2, %s: time with transfer", n,
                        systems[which].name));
    const double per_iteration = serial.seconds / fmax(1, serial.iterations);
    BN_TRY(bn_suite_add(s, 1e3 * core, 1e3 * per_iteration * ours.iterations, "ms", "%u^2, %s: time on one core", n,
                        systems[which].name));
    return bn_suite_add(s, core / device, per_iteration * ours.iterations / ours.seconds, "x",
                        "%u^2, %s: device over one core", n, systems[which].name);
}

static bn_status table(const bn_suite *s, bool twice)
{
    for (unsigned n = 64; n <= 1024; n *= 4)
        for (int which = 0; which < SYSTEMS; which++)
            BN_TRY(add_system(s, n, twice, which));
    return BN_OK;
}

bn_status bn_suite_flow_cg_single(const bn_suite *s) { return table(s, false); }
bn_status bn_suite_flow_cg_double(const bn_suite *s) { return table(s, true); }
