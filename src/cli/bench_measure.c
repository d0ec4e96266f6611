/* bench_measure.c: one case on one device by the clock, then its kernels by device events, then its build without our
 * cache. The clock runs without profiling, which slows launches down. */
#include "cli/bench.h"

#include "output/progress.h"
#include "run/selftest.h"
#include "sim/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Quartiles further apart than this share of the median are noise; and what the limits themselves are known to. */
static const double BN_BENCH_NOISE = 0.1, BN_BENCH_LEAST = 0.05;

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bn_status parse(bn_context *ctx, const bn_bench_job *job, bn_case **c)
{
    const char *sets[BN_BENCH_SETS + 8];
    size_t count = 0;
    for (size_t i = 0; i < job->set_count; i++)
        sets[count++] = job->sets[i];
    for (size_t i = 0; job->of->sets[i]; i++)
        sets[count++] = job->of->sets[i];
    return bn_case_parse(ctx, "bench", job->of->text, sets, count, c);
}

bn_status bn_bench_check(const bn_bench_device *d, const bn_bench_job *job)
{
    bn_case *c = NULL;
    const bn_status st = parse(d->cli->ctx, job, &c);
    bn_case_destroy(&c);
    return st;
}

static bn_status open_sim(bn_context *ctx, bn_device *device, const bn_bench_job *job, bn_case **c, bn_sim **sim)
{
    const bn_sim_desc desc = { .device = device,
                               .work_group = { job->work_group[0], job->work_group[1], job->work_group[2] } };
    BN_TRY(parse(ctx, job, c));
    return bn_sim_create(ctx, *c, &desc, sim);
}

static void close_sim(bn_case **c, bn_sim **sim)
{
    bn_sim_destroy(sim);
    bn_case_destroy(c);
}

/* So many steps of the simulation, waited for. Fewer where the case comes to its end; *done tells how many. */
static bn_status steps(bn_sim *sim, unsigned count, unsigned *done)
{
    for (*done = 0; *done < count && !bn_sim_done(sim); ++*done)
        BN_TRY(bn_sim_step(sim));
    return bn_domain_finish(bn_sim_domain(sim));
}

/* Steps in a round so that all rounds take the budget; one at least. Warms up besides. */
static bn_status warm_up(bn_sim *sim, double budget, unsigned *count)
{
    unsigned done;
    double start = bn_seconds_now(), took;
    BN_TRY(steps(sim, 1, &done)); /* the first step of a kernel may compile it */
    const bool slow = bn_seconds_now() - start > budget;
    start = bn_seconds_now();
    if (!slow)
        BN_TRY(steps(sim, 2, &done));
    took = (bn_seconds_now() - start) / 2;
    *count = slow || took * BN_BENCH_ROUNDS >= budget ? 1
                                                      : (unsigned)fmin(budget / BN_BENCH_ROUNDS / (took + 1e-7), 1e6);
    return BN_OK;
}

static bn_queue_counts device_counts(bn_sim *sim)
{
    const bn_device *device = bn_domain_device(bn_sim_domain(sim));
    return device ? bn_device_counts(device) : (bn_queue_counts){ 0 }; /* the reference has none */
}

/* Median of the rounds. A device that is slow gets fewer rounds than it should, three at least. */
static bn_status by_clock(const bn_bench_device *d, const bn_bench_job *job, bn_sim *sim, bn_bench_result *out)
{
    double each[BN_BENCH_ROUNDS];
    unsigned count, done;
    size_t rounds = 0;
    BN_TRY(warm_up(sim, d->budget, &count));
    for (const double begin = bn_seconds_now();
         rounds < BN_BENCH_ROUNDS && (rounds < 3 || bn_seconds_now() - begin < 2 * d->budget);) {
        if (*d->cli->stop)
            return bn_fail(d->cli->ctx, BN_INTERRUPTED, "interrupted");
        const unsigned long long before = bn_sim_now(sim).items;
        const bn_queue_counts counted = device_counts(sim);
        const double start = bn_seconds_now();
        BN_TRY(steps(sim, count, &done));
        const double took = bn_seconds_now() - start,
                     updates = (double)(bn_sim_now(sim).items - before) * job->per_item;
        if (!(updates > 0))
            break;
        const bn_queue_counts since = device_counts(sim);
        out->launches = (double)(since.launches - counted.launches) / (updates / job->per_step);
        /* one is the round's own */
        out->waits = (double)(since.waits - counted.waits - (since.waits > counted.waits)) / (updates / job->per_step);
        each[rounds++] = took / (updates / job->per_step);
    }
    if (rounds == 0)
        return bn_fail(d->cli->ctx, BN_USAGE, "the case ended before anything could be timed");
    qsort(each, rounds, sizeof *each, ascending);
    out->seconds = rounds % 2 ? each[rounds / 2] : 0.5 * (each[rounds / 2 - 1] + each[rounds / 2]);
    out->noise = 0.5 * (each[rounds - 1 - rounds / 4] - each[rounds / 4]) / out->seconds;
    out->updates = job->per_step / out->seconds;
    return BN_OK;
}

/* Adds rows to the list of kernels, by name: a kernel stands in several programs where box shapes differ. */
static void add_rows(bn_sim *sim, bn_bench_result *out, double sign)
{
    bn_profile_row rows[BN_BENCH_KERNELS];
    size_t count = bn_domain_profile(bn_sim_domain(sim), rows, BN_BENCH_KERNELS);
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

/* What the kernels took a step, and what they declare. */
static bn_status by_events(const bn_bench_device *d, const bn_bench_job *job, bn_bench_result *out)
{
    bn_context *ctx = d->cli->ctx;
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    bn_status st = BN_OK;
    unsigned count, done;
    double spent = 0;
    const double start = bn_seconds_now();
    BN_GO(open_sim(ctx, d->profiling, job, &c, &sim));
    const bn_build_stats build = bn_domain_build_stats(bn_sim_domain(sim));
    out->setup += bn_seconds_now() - start - build.seconds;
    out->rebuild = build.seconds;
    out->built = build.built;
    out->cached = build.cached;
    BN_GO(warm_up(sim, 0.3 * d->budget, &count));
    add_rows(sim, out, -1);
    const unsigned long long before = bn_sim_now(sim).items;
    BN_GO(steps(sim, count * 3, &done));
    add_rows(sim, out, 1);
    const double made = (double)(bn_sim_now(sim).items - before) * job->per_item / job->per_step;
    size_t kept = 0;
    for (size_t k = 0; k < out->kernel_count; k++) {
        bn_bench_kernel r = out->kernels[k];
        if (!(r.calls > 0) || !(made > 0))
            continue;
        r.calls /= made, r.seconds /= made, r.bytes /= made, r.flops /= made;
        out->kernels[kept++] = r;
    }
    out->kernel_count = kept;
    for (size_t k = 0; k < kept; k++) {
        spent += out->kernels[k].seconds;
        out->bytes += out->kernels[k].bytes;
        out->flops += out->kernels[k].flops;
    }
    /* A difference of two times, which is nothing where the first one is uncertain by a tenth, or that is negative by
     * more than kernels differ from run to run. */
    const double outside = kept > 0 && 2 * out->noise <= BN_BENCH_NOISE ? 1 - spent / out->seconds : (double)NAN;
    out->outside = outside >= -BN_BENCH_LEAST ? fmax(0, outside) : (double)NAN;
out:
    close_sim(&c, &sim);
    return st;
}

/* The build in a context that has no cache. What a driver keeps by itself stays. */
static bn_status cold_build(const bn_bench_device *d, const bn_bench_job *job, double *seconds)
{
    bn_context *ctx = NULL;
    bn_device *device = NULL;
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    char selector[32];
    snprintf(selector, sizeof selector, "%zu", bn_device_describe(d->plain)->index);
    bn_status st = bn_context_create(&(bn_context_desc){ .cache_dir = "" }, &ctx);
    if (st != BN_OK)
        return st;
    if ((st = bn_device_open(ctx, selector, false, &device)) == BN_OK &&
        (st = open_sim(ctx, device, job, &c, &sim)) == BN_OK)
        *seconds = bn_domain_build_stats(bn_sim_domain(sim)).seconds;
    close_sim(&c, &sim);
    bn_device_close(&device);
    bn_context_destroy(&ctx);
    return st;
}

/* A multiply-add counts as two in the peak; the kernels do without, so an operation takes a slot of its own. */
static void find_floor(const bn_bench_device *d, const bn_bench_job *job, bn_bench_result *out)
{
    const bn_bench_case *c = job->of;
    const double real = job->twice ? 8 : 4, slots = 0.5 * d->peaks.flops[job->twice];
    const bool counts_bytes = c->reals > 0 || c->bytes > 0, counts_operations = c->operations > 0;
    /* Where only operations are counted, the data stay in registers and caches: no bytes are needed at all. */
    const double bytes = counts_bytes        ? (c->reals * real + c->bytes) * job->per_step
                         : counts_operations ? 0
                                             : out->bytes,
                 operations = counts_operations ? c->operations * job->per_step : out->flops,
                 by_bytes = bytes / d->peaks.copy, by_operations = slots > 0 ? operations / slots : 0;
    out->counted = counts_bytes || counts_operations;
    out->by_bytes = by_bytes >= by_operations;
    out->floor = fmax(by_bytes, by_operations);
    /* Data that stay in a cache need no bandwidth. */
    out->share = out->floor <= (1 + BN_BENCH_LEAST) * out->seconds ? out->floor / out->seconds : (double)NAN;
}

/* A driver whose compiler aborts would take the whole bench along: the solver's self-test, in a child process, goes
 * first. */
static bn_status ensure_tested(const bn_bench_device *d, const bn_bench_job *job)
{
    bn_context *ctx = d->cli->ctx;
    bn_bench_tested *t = d->tested;
    bn_selftest_outcome outcome;
    size_t i = 0;
    while (i < t->count && (strcmp(t->rows[i].solver, job->of->solver) != 0 || t->rows[i].twice != job->twice))
        i++;
    if (i < t->count)
        return t->rows[i].outcome == BN_OK ? BN_OK : bn_fail(ctx, t->rows[i].outcome, "%s", t->rows[i].why);
    const bn_status st = bn_selftest_ensure(ctx, bn_device_describe(d->plain), job->of->solver, job->twice,
                                            d->cli->program, &outcome);
    if (i < BN_BENCH_TESTED) {
        t->rows[i].solver = job->of->solver;
        t->rows[i].twice = job->twice;
        t->rows[i].outcome = st;
        snprintf(t->rows[i].why, sizeof t->rows[i].why, "%s", st == BN_OK ? "" : bn_error_text(ctx));
        t->count++;
    }
    return st;
}

/* Makes a failure of a job a word about it. */
static bn_status to_trouble(bn_context *ctx, bn_status st, char *trouble, size_t room)
{
    if (st == BN_OK || st == BN_INTERRUPTED)
        return st;
    const char *text = bn_error_text(ctx);
    snprintf(trouble, room, "%.*s", (int)strcspn(text, "\n"), text);
    bn_error_clear(ctx);
    return BN_OK;
}

bn_status bn_bench_time(const bn_bench_device *d, const bn_bench_job *job, bn_bench_result *out, char *trouble,
                        size_t room)
{
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    *out = (bn_bench_result){ .seconds = (double)NAN, .noise = (double)NAN, .updates = (double)NAN };
    trouble[0] = '\0';
    BN_TRY(bn_bench_check(d, job));
    if (job->twice && !job->reference && !bn_device_describe(d->plain)->fp64) {
        snprintf(trouble, room, "no double precision");
        return BN_OK;
    }
    bn_status st = job->reference ? BN_OK : ensure_tested(d, job);
    if (st == BN_OK)
        st = open_sim(d->cli->ctx, job->reference ? NULL : d->plain, job, &c, &sim);
    if (st == BN_OK)
        st = by_clock(d, job, sim, out);
    close_sim(&c, &sim);
    return to_trouble(d->cli->ctx, st, trouble, room);
}

bn_status bn_bench_measure(const bn_bench_device *d, const bn_bench_job *job, bool cold, bn_bench_result *out,
                           char *trouble, size_t room)
{
    bn_context *ctx = d->cli->ctx;
    bn_case *c = NULL;
    bn_sim *sim = NULL;
    bn_status st = BN_OK;
    *out = (bn_bench_result){ .build = (double)NAN, .outside = (double)NAN };
    trouble[0] = '\0';
    BN_TRY(bn_bench_check(d, job));
    if (job->twice && !bn_device_describe(d->plain)->fp64) {
        snprintf(trouble, room, "no double precision");
        return BN_OK;
    }
    BN_GO(ensure_tested(d, job));
    if (cold)
        (void)cold_build(d, job, &out->build); /* NaN tells; what is wrong shows below too */
    const double start = bn_seconds_now();
    BN_GO(open_sim(ctx, d->plain, job, &c, &sim));
    out->setup = bn_seconds_now() - start - bn_domain_build_stats(bn_sim_domain(sim)).seconds;
    BN_GO(by_clock(d, job, sim, out));
    close_sim(&c, &sim);
    BN_GO(by_events(d, job, out));
    find_floor(d, job, out);
out:
    close_sim(&c, &sim);
    return to_trouble(ctx, st, trouble, room);
}
