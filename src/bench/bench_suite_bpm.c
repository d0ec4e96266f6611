/* bench_suite_bpm.c: the published study 003: beams: a step along z over N, elimination against the iteration of
 * the study, on the device and on one core. */
#include "bench/bench_suites.h"

#include "studies/bpm_serial.h"

#include <math.h>
#include <stdio.h>

static const double pi = 3.14159265358979323846;
enum { SIZES = 6 };
static const unsigned sizes[3][SIZES] = { { 100, 200, 300, 400 },
                                          { 100, 300, 600, 1000, 2000, 3000 },
                                          { 100, 300, 600, 1000, 2000, 3000 } };
/* Left out of the paper's figure, which ends at 3000; elimination alone. */
static const unsigned larger[] = { 6000, 15000 };

static double elimination(const bn_suite *s, unsigned n, bn_status *st)
{
    bn_bench_case of = bn_suite_base("bpm");
    bn_bench_job job;
    double seconds = (double)NAN;
    of.what = "step along z, elimination";
    bn_bench_prepare(&of, n, false, s->gpu, &job);
    if (*st == BN_OK)
        *st = bn_suite_seconds(s, &job, &seconds);
    return seconds;
}

/* Seconds of a step along z, of many sweeps; *sweep: of one. A step of the simulation is one along z. */
static double iteration(const bn_suite *s, const char *tau, unsigned n, double *sweep, bn_status *st)
{
    const bn_bench_case of = {
        .solver = "bpm_iteration",
        .what = "step along z, iteration",
        .unit = "point",
        .text = "[case]\nsolver='bpm_iteration'\n[grid]\nwidth=10e-6\n[launch]\nwaist=1e-6\n[solver]\ntolerance=1e-8\n",
        .dims = 1,
        .counts = "sweeps",
    };
    bn_bench_job job = { .of = &of, .n = n, .per_step = n - 1, .set_count = 4 };
    bn_bench_result r = { .seconds = (double)NAN };
    snprintf(job.sets[0], sizeof job.sets[0], "case.precision=single");
    snprintf(job.sets[1], sizeof job.sets[1], "grid.cells=%u", n);
    snprintf(job.sets[2], sizeof job.sets[2], "march.length=%.17g", 4000 * 10e-6 / n / pi);
    snprintf(job.sets[3], sizeof job.sets[3], "solver.tau=%s", tau);
    if (*st == BN_OK)
        *st = bn_suite_measure(s, &job, false, &r);
    *sweep = (n - 1) / r.updates;
    return r.seconds;
}

/* Seconds of a sweep on one core: the fastest of five, as others use the machine too. */
static double serial(const bn_suite *s, unsigned n, bn_status *st)
{
    bpm_serial b;
    double best = (double)INFINITY;
    if (*st != BN_OK || s->checks)
        return (double)NAN;
    if (!bpm_serial_create(n, &b)) {
        *st = bn_fail(s->d->wish->ctx, BN_MEMORY, "no memory for %u points", n);
        return (double)NAN;
    }
    const long long count = 30000000 / n / (s->level == BN_SUITE_SMALLEST ? 10 : 1);
    for (int i = 0; i < 5; i++) {
        const double start = bn_seconds_now();
        bpm_serial_sweep(&b, count);
        best = fmin(best, (bn_seconds_now() - start) / (double)count);
    }
    bpm_serial_destroy(&b);
    return best;
}

/* c[0] + c[1] x + ... + c[degree] x^degree through points, by least squares: normal equations in x over the largest. */
static void fit(const double *x, const double *y, size_t count, int degree, double c[3])
{
    double m[3][4] = { { 0 } };
    for (size_t i = 0; i < count; i++)
        for (int r = 0; r <= degree; r++) {
            const double u = x[i] / x[count - 1];
            for (int k = 0; k <= degree; k++)
                m[r][k] += pow(u, r + k);
            m[r][3] += pow(u, r) * y[i];
        }
    for (int p = 0; p <= degree; p++)
        for (int r = 0; r <= degree; r++) {
            const double factor = r == p ? 0 : m[r][p] / m[p][p];
            for (int k = 0; k < 4; k++)
                m[r][k] -= factor * m[p][k];
        }
    for (int p = 0; p < 3; p++)
        c[p] = p <= degree ? m[p][3] / m[p][p] / pow(x[count - 1], p) : 0;
}

/* The whole march of the paper has round(10 pi N) steps; it does not tell how many sweeps a step, so one here. */
static bn_status figure_2(const bn_suite *s)
{
    const unsigned *list = sizes[s->level];
    double x[SIZES], core[SIZES], device[SIZES], c[3];
    size_t count = 0;
    bn_status st = BN_OK;
    for (; count < SIZES && list[count]; count++) {
        const double steps = round(10 * pi * list[count]), published = (double)NAN;
        double sweep;
        x[count] = list[count];
        (void)iteration(s, "seed", list[count], &sweep, &st);
        device[count] = steps * sweep;
        core[count] = steps * serial(s, list[count], &st);
        BN_TRY(st);
        BN_TRY(bn_suite_point(s, "device", x[count], published, device[count], "s"));
        BN_TRY(bn_suite_point(s, "one core", x[count], published, core[count], "s"));
    }
    for (int which = 0; which < 2; which++) {
        fit(x, which ? device : core, count, which ? 1 : 2, c);
        for (size_t i = 0; i < count; i++)
            BN_TRY(bn_suite_point(s, which ? "line through device" : "parabola through one core", x[i], (double)NAN,
                                  c[0] + c[1] * x[i] + c[2] * x[i] * x[i], "s"));
    }
    return BN_OK;
}

static bn_status steps(const bn_suite *s)
{
    const unsigned *list = sizes[s->level];
    const double none = (double)NAN;
    double ignored;
    bn_status st = BN_OK;
    for (size_t i = 0; i < SIZES && list[i]; i++) {
        const double direct = elimination(s, list[i], &st), best = iteration(s, "optimal", list[i], &ignored, &st),
                     seed = iteration(s, "seed", list[i], &ignored, &st);
        BN_TRY(st);
        BN_TRY(bn_suite_point(s, "elimination", list[i], none, 1e6 * direct, "us"));
        BN_TRY(bn_suite_point(s, "iteration, best tau", list[i], none, 1e6 * best, "us"));
        BN_TRY(bn_suite_point(s, "iteration, the paper's tau", list[i], none, 1e6 * seed, "us"));
    }
    for (size_t i = 0; i < sizeof larger / sizeof *larger; i++) {
        const double direct = !s->level && !s->checks ? none : elimination(s, larger[i], &st);
        BN_TRY(st);
        if (!s->level)
            BN_TRY(bn_suite_skip_point(s, "elimination", larger[i], none, "us", bn_suite_left_out));
        else
            BN_TRY(bn_suite_point(s, "elimination", larger[i], none, 1e6 * direct, "us"));
    }
    return BN_OK;
}

static bn_status speed_up(const bn_suite *s)
{
    const unsigned n = s->level == BN_SUITE_SMALLEST ? 400 : 3000;
    const double published = bn_published_item("data/published/seed-003-bpm.csv", "speed-up per z step N=3000");
    bn_status st = BN_OK;
    double sweep, best_sweep;
    const double core = serial(s, n, &st), step = iteration(s, "seed", n, &sweep, &st),
                 best = iteration(s, "optimal", n, &best_sweep, &st), direct = elimination(s, n, &st);
    BN_TRY(st);
    const double sweeps = step / sweep; /* the core needs as many */
    BN_TRY(bn_suite_add(s, (double)NAN, 1e6 * core, "us", "N = %u, a sweep on one core (C, -O3, vectors)", n));
    BN_TRY(bn_suite_add(s, (double)NAN, 1e6 * sweep, "us", "N = %u, a sweep on the device", n));
    BN_TRY(bn_suite_add(s, (double)NAN, sweeps, "", "N = %u, sweeps a step to 1e-8, the paper's tau", n));
    BN_TRY(bn_suite_add(s, (double)NAN, best / best_sweep, "", "N = %u, sweeps a step to 1e-8, best tau", n));
    BN_TRY(bn_suite_add(s, n == 3000 ? published : (double)NAN, core / sweep, "x",
                        "N = %u, device over one core, the paper's iteration", n));
    return bn_suite_add(s, (double)NAN, core * sweeps / direct, "x",
                        "N = %u, our elimination over one core with the paper's iteration", n);
}

/* The paper's main operation, z = A x by diagonals as in (6) and (7), for bands of several widths. */
static bn_status bands(const bn_suite *s)
{
    static const unsigned widths[] = { 1, 2, 4, 8, 16 };
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const unsigned n = s->level == BN_SUITE_SMALLEST ? 400 : s->gpu ? 1 << 20 : 1 << 16, w = widths[i];
        const bn_bench_case of = {
            .solver = "band_product",
            .what = "product with a band matrix",
            .unit = "row",
            .text = "[case]\nsolver='band_product'\n[stop]\nsteps=100000000\n",
            .dims = 1,
        };
        bn_bench_job job = { .of = &of, .n = n, .per_step = n, .set_count = 4 };
        double seconds;
        snprintf(job.sets[0], sizeof job.sets[0], "case.precision=single");
        snprintf(job.sets[1], sizeof job.sets[1], "grid.points=%u", n);
        snprintf(job.sets[2], sizeof job.sets[2], "band.lower=%u", w);
        snprintf(job.sets[3], sizeof job.sets[3], "band.upper=%u", w);
        BN_TRY(bn_suite_seconds(s, &job, &seconds));
        const double numbers = 2.0 * w + 1; /* entries of a row; each, and each of x and z, takes 8 bytes */
        BN_TRY(bn_suite_point(s, "rate", 2 * w + 1, (double)NAN, 1e-9 * 8 * numbers * n / seconds, "GFLOP/s"));
        BN_TRY(bn_suite_point(s, "limit by bandwidth", 2 * w + 1, (double)NAN,
                              1e-9 * s->d->limits.copy * numbers / (numbers + 2), "GFLOP/s"));
    }
    return BN_OK;
}

const bn_suite_table bn_suite_bpm[] = {
    { .id = "figure-2",
      .title = "Fig. 2: time of the march over 100 um, one sweep a step",
      .run = figure_2,
      .x_label = "N",
      .y_label = "time [s]",
      .note = "The paper's time needs the number of sweeps a step, which it does not tell: here one. Its figure has no "
              "numbers; a parabola for the core and a line for the device are what it says of it." },
    { .id = "speed-up",
      .title = "The speed-up at N = 3000",
      .run = speed_up,
      .note = "One core: the paper's iteration on the three diagonals in single precision, real and imaginary parts "
              "in arrays of their own, compiled with -O3; not the reference of the self-test." },
    { .id = "step",
      .title = "A step along z to a residual of 1e-8",
      .run = steps,
      .x_label = "N",
      .y_label = "time of a step [us]",
      .log_x = true,
      .log_y = true,
      .note = "Not in the paper: elimination needs no sweeps." },
    { .id = "bands",
      .title = "Band matrices of any width by diagonals",
      .run = bands,
      .x_label = "diagonals",
      .y_label = "GFLOP/s",
      .log_x = true,
      .note =
          "Not measured in the paper, which stores bands so in general, (6) and (7), and uses one diagonal on either "
          "side. 8 operations and 8 bytes an entry." },
    { 0 },
};
