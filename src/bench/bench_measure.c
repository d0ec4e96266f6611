/* bench_measure.c: the one way of measuring: by the clock without profiling, which slows launches down; then kernels by
 * device events; the build without our cache before both. */
#include "bench/bench_work.h"

#include "output/progress.h"
#include "run/selftest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Quartiles further apart than this share of the median: other work disturbed the rounds. */
static const double WIDEST = 0.1;
/* What the limits themselves may be wrong by. */
static const double LIMITS_ERROR = 0.05;

enum { LEAST_ROUNDS = 3, CALLS_MOST = 1 << 20 };

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of the rounds, half the distance of their quartiles, and whether they can be believed. */
static void take_median(double *rounds, size_t count, bn_bench_result *out)
{
    qsort(rounds, count, sizeof *rounds, ascending);
    out->seconds = count % 2 ? rounds[count / 2] : 0.5 * (rounds[count / 2 - 1] + rounds[count / 2]);
    out->noise = 0.5 * (rounds[count - 1 - count / 4] - rounds[count / 4]) / out->seconds;
    if (!(out->seconds > 0) || !isfinite(out->seconds))
        snprintf(out->refused, sizeof out->refused, "%g s is no time", out->seconds);
    else if (!(2 * out->noise <= WIDEST))
        snprintf(out->refused, sizeof out->refused,
                 "the quartiles of %zu rounds lie %.3g %% apart, %.3g %% is the most", count, 200 * out->noise,
                 100 * WIDEST);
}

/* So many calls that they take `at_least` seconds, found by calls that warm up. One call is not repeated where it takes
 * that long. */
static bn_status find_count(bn_bench_work *w, double at_least, unsigned *count)
{
    double steps, took = 0;
    *count = 1;
    BN_TRY(bn_bench_work_run(w, 1, &steps)); /* a driver may compile at the first launch */
    for (double start = bn_seconds_now();; *count *= 2) {
        BN_TRY(bn_bench_work_run(w, *count, &steps));
        took = bn_seconds_now() - start;
        if (took >= 0.5 * at_least || *count >= CALLS_MOST || !(steps > 0))
            break;
        start = bn_seconds_now();
    }
    *count = (unsigned)fmax(1, fmin(*count * at_least / took, CALLS_MOST));
    return BN_OK;
}

static bn_queue_counts device_counts(const bn_bench_work *w)
{
    const bn_device *device = bn_domain_device(bn_bench_work_domain(w));
    return device ? bn_device_counts(device) : (bn_queue_counts){ 0 }; /* the reference has none */
}

/* Median of the rounds, each of the same steps. A device that is slow gets fewer rounds, three at least. */
static bn_status by_clock(const bn_bench_device *d, bn_bench_work *w, bn_bench_result *out)
{
    double each[BN_BENCH_ROUNDS];
    unsigned count;
    size_t rounds = 0;
    BN_TRY(bn_bench_work_develop(w, d->budget));
    BN_TRY(find_count(w, d->budget / BN_BENCH_ROUNDS, &count));
    for (const double begin = bn_seconds_now();
         rounds < BN_BENCH_ROUNDS && (rounds < LEAST_ROUNDS || bn_seconds_now() - begin < 2 * d->budget);) {
        double steps;
        if (*d->wish->stop)
            return bn_fail(d->wish->ctx, BN_INTERRUPTED, "interrupted");
        BN_TRY(bn_bench_work_restart(w));
        const bn_queue_counts before = device_counts(w);
        const double start = bn_seconds_now();
        BN_TRY(bn_bench_work_run(w, count, &steps));
        const double took = bn_seconds_now() - start;
        if (!(steps > 0))
            break;
        const bn_queue_counts after = device_counts(w);
        const unsigned long long waits = after.waits - before.waits;
        out->launches = (double)(after.launches - before.launches) / steps;
        out->waits = (double)(waits - (waits > 0)) / steps; /* one is the round's own */
        each[rounds++] = took / steps;
    }
    if (rounds == 0)
        return bn_fail(d->wish->ctx, BN_USAGE, "the case ended before anything could be timed");
    take_median(each, rounds, out);
    BN_TRY(bn_bench_work_updates(w, &out->updates));
    out->updates /= out->seconds;
    return BN_OK;
}

/* Adds rows to the list of kernels, by name: a kernel stands in several programs where box shapes differ. */
static void add_rows(const bn_bench_work *w, bn_bench_result *out, double sign)
{
    bn_profile_row rows[BN_BENCH_KERNELS];
    size_t count = bn_domain_profile(bn_bench_work_domain(w), true, rows, BN_BENCH_KERNELS);
    for (size_t i = 0; i < count && i < BN_BENCH_KERNELS; i++) {
        size_t k = 0;
        while (k < out->kernel_count && strcmp(out->kernels[k].name, rows[i].kernel) != 0)
            k++;
        if (k == BN_BENCH_KERNELS)
            continue;
        bn_bench_kernel *to = &out->kernels[k];
        if (k == out->kernel_count) {
            out->kernel_count++;
            *to = (bn_bench_kernel){ 0 };
            snprintf(to->name, sizeof to->name, "%s", rows[i].kernel);
        }
        to->calls += sign * (double)rows[i].calls;
        to->seconds += sign * rows[i].seconds;
        to->bytes += sign * rows[i].bytes;
        to->flops += sign * rows[i].flops;
    }
}

/* Their work-groups. */
static void add_groups(const bn_bench_work *w, bn_bench_result *out)
{
    bn_kernel_info rows[BN_BENCH_KERNELS];
    const size_t count = bn_domain_kernels(bn_bench_work_domain(w), rows, BN_BENCH_KERNELS);
    for (size_t i = 0; i < count && i < BN_BENCH_KERNELS; i++)
        for (size_t k = 0; k < out->kernel_count; k++)
            if (strcmp(out->kernels[k].name, rows[i].kernel) == 0) {
                out->kernels[k].group = rows[i].group[0] * rows[i].group[1] * rows[i].group[2];
                out->kernels[k].local_bytes = rows[i].local_bytes;
            }
}

static void note_build(const bn_bench_work *w, double start, bn_bench_result *out)
{
    if (w->job->reference)
        return;
    const bn_build_stats build = bn_domain_build_stats(bn_bench_work_domain(w));
    out->setup += bn_seconds_now() - start - build.seconds;
    out->rebuild = build.seconds;
    out->built = build.built;
    out->cached = build.cached;
}

/* What the kernels took a step, and what they declare. */
static bn_status by_events(const bn_bench_device *d, const bn_bench_job *job, bn_bench_result *out)
{
    bn_bench_work w = { 0 };
    bn_status st = BN_OK;
    unsigned count;
    double spent = 0, steps;
    const double start = bn_seconds_now();
    BN_GO(bn_bench_work_open(d->wish->ctx, d->profiling, job, &w));
    note_build(&w, start, out);
    BN_GO(bn_bench_work_develop(&w, d->budget)); /* kernels of the steps that the clock has timed */
    BN_GO(find_count(&w, 0.04 * d->budget, &count));
    BN_GO(bn_bench_work_restart(&w));
    add_rows(&w, out, -1);
    BN_GO(bn_bench_work_run(&w, count * 3, &steps));
    add_rows(&w, out, 1);
    add_groups(&w, out);
    size_t kept = 0;
    for (size_t k = 0; k < out->kernel_count; k++) {
        bn_bench_kernel r = out->kernels[k];
        if (!(r.calls > 0) || !(steps > 0))
            continue;
        r.calls /= steps, r.seconds /= steps, r.bytes /= steps, r.flops /= steps;
        spent += r.seconds;
        out->bytes += r.bytes;
        out->flops += r.flops;
        out->kernels[kept++] = r;
    }
    out->kernel_count = kept;
    /* A difference of two times: nothing where the first one is uncertain, or where it is negative by more than kernels
     * differ from run to run. */
    const double outside = kept > 0 && !out->refused[0] ? 1 - spent / out->seconds : (double)NAN;
    out->outside = outside >= -LIMITS_ERROR ? fmax(0, outside) : (double)NAN;
out:
    bn_bench_work_close(&w);
    return st;
}

/* The build in a context that has no cache. What a driver keeps by itself stays. */
static bn_status cold_build(const bn_bench_device *d, const bn_bench_job *job, double *seconds)
{
    bn_context *ctx = NULL;
    bn_device *device = NULL;
    bn_bench_work w = { 0 };
    char selector[32];
    snprintf(selector, sizeof selector, "%zu", bn_device_describe(d->plain)->index);
    bn_status st = bn_context_create(&(bn_context_desc){ .cache_dir = "" }, &ctx);
    if (st != BN_OK)
        return st;
    if ((st = bn_device_open(ctx, selector, false, &device)) == BN_OK &&
        (st = bn_bench_work_open(ctx, device, job, &w)) == BN_OK)
        *seconds = bn_domain_build_stats(bn_bench_work_domain(&w)).seconds;
    bn_bench_work_close(&w);
    bn_device_close(&device);
    bn_context_destroy(&ctx);
    return st;
}

/* A multiply-add counts as two in the peak; the kernels do without, so an operation takes a slot of its own. */
static void find_floor(const bn_bench_device *d, const bn_bench_job *job, bn_bench_result *out)
{
    const bn_bench_case *c = job->of;
    const double real = job->twice ? 8 : 4, slots = 0.5 * d->limits.flops[job->twice];
    const bool counts_bytes = c->reals > 0 || c->bytes > 0, counts_operations = c->operations > 0;
    /* Where only operations are counted, the data stay in registers and caches: no bytes are needed at all. */
    const double bytes = counts_bytes        ? (c->reals * real + c->bytes) * job->per_step
                         : counts_operations ? 0
                                             : out->bytes,
                 operations = counts_operations ? c->operations * job->per_step : out->flops,
                 by_bytes = bytes / d->limits.copy, by_operations = slots > 0 ? operations / slots : 0;
    out->counted = counts_bytes || counts_operations;
    out->by_bytes = by_bytes >= by_operations;
    out->floor = c->no_floor ? 0 : fmax(by_bytes, by_operations);
    /* Data that stay in a cache need no bandwidth: then there is no floor. */
    const bool holds = out->floor > 0 && out->floor <= (1 + LIMITS_ERROR) * out->seconds;
    out->share = holds ? out->floor / out->seconds : (double)NAN;
}

/* The solver's self-test, in a child process, goes first: a compiler that aborts would take the whole bench along. */
static bn_status ensure_tested(const bn_bench_device *d, const bn_bench_job *job)
{
    bn_context *ctx = d->wish->ctx;
    bn_bench_tested *t = d->tested;
    bn_selftest_outcome outcome;
    size_t i = 0;
    while (i < t->count && (strcmp(t->rows[i].solver, job->of->solver) != 0 || t->rows[i].twice != job->twice))
        i++;
    if (i < t->count)
        return t->rows[i].outcome == BN_OK ? BN_OK : bn_fail(ctx, t->rows[i].outcome, "%s", t->rows[i].why);
    const bn_status st = bn_selftest_ensure(ctx, bn_device_describe(d->plain), job->of->solver, job->twice, NULL,
                                            d->wish->program, &outcome);
    if (i < BN_BENCH_TESTED) {
        t->rows[i].solver = job->of->solver;
        t->rows[i].twice = job->twice;
        t->rows[i].outcome = st;
        snprintf(t->rows[i].why, sizeof t->rows[i].why, "%s", st == BN_OK ? "" : bn_error_text(ctx));
        t->count++;
    }
    return st;
}

/* Turns a failure of a job into the text of its row. */
static bn_status to_trouble(bn_context *ctx, bn_status st, char *trouble, size_t room)
{
    if (st == BN_OK || st == BN_INTERRUPTED)
        return st;
    const char *text = bn_error_text(ctx);
    snprintf(trouble, room, "%.*s", (int)strcspn(text, "\n"), text);
    bn_error_clear(ctx);
    return BN_OK;
}

bn_status bn_bench_measure(const bn_bench_device *d, const bn_bench_job *job, bn_bench_depth depth,
                           bn_bench_result *out, char *trouble, size_t room)
{
    bn_context *ctx = d->wish->ctx;
    bn_bench_work w = { 0 };
    bn_status st = BN_OK;
    const double none = (double)NAN;
    *out = (bn_bench_result){ .seconds = none, .noise = none, .updates = none, .build = none, .outside = none };
    trouble[0] = '\0';
    BN_TRY(bn_bench_check(d, job));
    if (job->twice && !job->reference && !bn_device_describe(d->plain)->fp64) {
        snprintf(trouble, room, "no double precision");
        return BN_OK;
    }
    if (!job->reference)
        BN_GO(ensure_tested(d, job));
    if (depth == BN_BENCH_COLD && !job->of->clock_only)
        (void)cold_build(d, job, &out->build); /* NaN where it fails; the measurement itself fails then, too */
    const double start = bn_seconds_now();
    BN_GO(bn_bench_work_open(ctx, job->reference ? NULL : d->plain, job, &w));
    note_build(&w, start, out);
    BN_GO(by_clock(d, &w, out));
    bn_bench_work_close(&w);
    if (depth != BN_BENCH_CLOCK && !job->of->clock_only)
        BN_GO(by_events(d, job, out));
    if (depth != BN_BENCH_CLOCK)
        find_floor(d, job, out);
out:
    bn_bench_work_close(&w);
    return to_trouble(ctx, st, trouble, room);
}
