/* run.c: the sequence of a run. Nothing is created before case, device, self-test, memory and kernels are in order; whatever happens afterwards, what
 * was written stays, and the summary says how it ended. */
#include "observe/run.h"

#include "observe/output.h"
#include "observe/progress.h"
#include "observe/summary.h"
#include "sim/selftest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    bn_context *ctx;
    bn_case *config;
    const bn_run_desc *desc;
    bn_device *device;
    bn_sim *sim;
    bn_folder *folder;
    bn_output *output;
    bn_progress progress;
    bn_summary summary;
    char *out;
} run;

/* "data/cavity.toml" -> "cavity.out" */
static char *default_folder(const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t n = strlen(name);
    if (n > 5 && strcmp(name + n - 5, ".toml") == 0)
        n -= 5;
    char *out = malloc(n + 5);
    if (out)
        snprintf(out, n + 5, "%.*s.out", (int)n, name);
    return out;
}

/* The device, after it has passed its self-test. */
static bn_status open_device(run *r)
{
    bn_context *ctx = r->ctx;
    const bn_device_info *all;
    size_t count, index, chosen;
    char selector[32];
    bn_selftest_outcome outcome;
    BN_TRY(bn_device_select(ctx, r->desc->device, &index, 1, &chosen, &r->summary.selected_because));
    BN_TRY(bn_devices(ctx, &all, &count));
    snprintf(selector, sizeof selector, "%zu", index);
    BN_TRY(bn_device_open(ctx, selector, r->desc->profile, &r->device));
    r->summary.device = bn_device_describe(r->device);
    bn_status st = bn_selftest_ensure(ctx, r->summary.device, bn_case_solver(r->config), bn_case_double(r->config),
                                      r->desc->program, &outcome);
    r->summary.selftest = bn_selftest_outcome_text(outcome);
    if (st == BN_MISMATCH && r->desc->force) {
        bn_log(ctx, BN_LOG_WARNING, "%s\n  running all the same (--force)", bn_error_text(ctx));
        bn_error_clear(ctx);
        r->summary.selftest = "failed, run all the same (--force)";
        st = BN_OK;
    }
    if (st == BN_OK) /* not knowing the limit is no reason not to run */
        if (bn_device_bandwidth(r->device, &r->summary.bandwidth) != BN_OK) {
            bn_log(ctx, BN_LOG_WARNING, "%s", bn_error_text(ctx));
            bn_error_clear(ctx);
        }
    return st;
}

static void say_what_runs(const run *r)
{
    const bn_plan *p = bn_sim_plan(r->sim);
    uint64_t bytes = r->device ? bn_plan_device_bytes(p, NULL) : bn_plan_host_bytes(p);
    if (r->desc->quiet || r->desc->json)
        return;
    fprintf(stderr, "%s  %s  %s  %s  %u x %u", p->solver->name, bn_case_path(r->config),
            r->device ? r->summary.device->name : "CPU reference", p->precision == BN_DOUBLE ? "double" : "single", p->grid.n[0],
            p->grid.n[1]);
    if (p->grid.dims > 2)
        fprintf(stderr, " x %u", p->grid.n[2]);
    fprintf(stderr, " = %.4g %s  %.3g MiB\n", (double)bn_domain_points(bn_sim_domain(r->sim)), p->grid.nodes ? "nodes" : "cells",
            (double)bytes / 0x1p20);
    if (r->device)
        fprintf(stderr, "device: %s; self-test %s; kernels built in %.1f s; output: %s\n", r->summary.selected_because,
                r->summary.selftest, bn_domain_build_stats(bn_sim_domain(r->sim)).seconds, bn_folder_path(r->folder));
    else
        fprintf(stderr, "output: %s\n", bn_folder_path(r->folder));
}

static bool stop_file(run *r, double *looked)
{
    const double now = bn_seconds_now();
    if (now - *looked < 0.25)
        return false;
    *looked = now;
    return bn_folder_stop_wanted(r->folder);
}

/* Steps until something ends the run; says what in summary.stopped_by. */
static bn_status loop(run *r)
{
    const long long limit = r->desc->steps;
    double looked = 0;
    r->summary.stopped_by = "failure";
    while (!bn_sim_done(r->sim) && (limit < 0 || bn_sim_now(r->sim).step < (unsigned long long)limit)) {
        BN_TRY(bn_sim_step(r->sim));
        BN_TRY(bn_output_after_step(r->output));
        bool wanted = r->desc->status_wanted && *r->desc->status_wanted;
        bn_progress_show(&r->progress, r->sim, wanted);
        if (wanted)
            *r->desc->status_wanted = 0;
        if (r->desc->stop && *r->desc->stop) {
            r->summary.stopped_by = "signal";
            return bn_fail(r->ctx, BN_INTERRUPTED, "interrupted after step %llu; everything so far is in %s",
                           bn_sim_now(r->sim).step, bn_folder_path(r->folder));
        }
        if (stop_file(r, &looked)) {
            r->summary.stopped_by = "STOP file";
            return BN_OK;
        }
    }
    BN_TRY(bn_domain_finish(bn_sim_domain(r->sim)));
    const bn_sim_state now = bn_sim_now(r->sim);
    const bool by_limit = limit >= 0 && now.step >= (unsigned long long)limit;
    r->summary.stopped_by = now.converged                                                          ? "converged"
                            : by_limit                                                             ? "--steps"
                            : now.step >= (unsigned long long)bn_case_int(r->config, "stop.steps") ? "stop.steps"
                                                                                                   : "stop.time";
    const double tolerance = bn_sim_plan(r->sim)->tolerance;
    if (tolerance > 0 && !now.converged && !by_limit)
        return bn_fail(r->ctx, BN_DIVERGED, "not converged after %llu steps: residual %.3g, asked for %.3g; raise stop.steps, or see "
                                            "series.csv whether it still falls",
                       now.step, now.residual, tolerance);
    return BN_OK;
}

/* Keeps the first failure; a later one is logged. */
static void then(run *r, bn_status *st, bn_status next)
{
    if (next != BN_OK && *st == BN_OK)
        *st = next;
    else if (next != BN_OK)
        bn_log(r->ctx, BN_LOG_DEBUG, "also: %s", bn_status_text(next));
}

static void say_results(const run *r, bn_status st)
{
    const bn_results *found = bn_sim_results(r->sim);
    if (r->desc->json) {
        printf("{\"event\":\"end\",\"status\":%d,\"exit_code\":%d,\"steps\":%llu,\"converged\":%s}\n", (int)st, bn_exit_code(st),
               bn_sim_now(r->sim).step, bn_sim_now(r->sim).converged ? "true" : "false");
        fflush(stdout);
    }
    if (r->desc->quiet || r->desc->json)
        return;
    fprintf(stderr, "%llu steps in %.2f s, stopped by %s\n", bn_sim_now(r->sim).step, r->summary.steps, r->summary.stopped_by);
    for (size_t i = 0; i < bn_results_count(found); i++) {
        const bn_result_info *info = bn_results_at(found, i);
        if (isfinite(info->value))
            fprintf(stderr, "  %-24s %14.8g %s\n", info->name, info->value, info->unit ? info->unit : "");
    }
}

static void say_profile(const run *r)
{
    bn_profile_row rows[64];
    size_t count = bn_domain_profile(bn_sim_domain(r->sim), rows, 64);
    fprintf(stderr, "%-16s %9s %11s %10s %9s %9s\n", "kernel", "calls", "time", "per call", "GB/s", "of limit");
    for (size_t i = 0; i < count && i < 64; i++) {
        const double rate = rows[i].bytes / rows[i].seconds;
        fprintf(stderr, "%-16s %9llu %9.3f s %7.2f us", rows[i].kernel, rows[i].calls, rows[i].seconds,
                1e6 * rows[i].seconds / (double)rows[i].calls);
        if (rows[i].bytes > 0)
            fprintf(stderr, " %9.1f", 1e-9 * rate);
        if (rows[i].bytes > 0 && r->summary.bandwidth > 0)
            fprintf(stderr, " %7.0f %%", 100 * rate / r->summary.bandwidth);
        fputc('\n', stderr);
    }
}

/* What is written at the end of every run that has begun, also of one that failed. */
static void finish(run *r, bn_status *st, double begin)
{
    const double steps_end = bn_seconds_now();
    const bool readable = *st != BN_DEVICE;
    const bool sound = readable && *st != BN_DIVERGED;
    bool not_steady = *st == BN_DIVERGED && strcmp(r->summary.stopped_by, "stop.steps") == 0;
    bn_progress_end(&r->progress);
    r->summary.steps = steps_end - r->progress.start - bn_output_seconds(r->output);
    if (sound || not_steady)
        then(r, st, bn_sim_measure(r->sim));
    if (readable)
        then(r, st, bn_output_fields(r->output));
    then(r, st, bn_output_finish(r->output));
    r->summary.output = bn_output_seconds(r->output);
    r->summary.total = bn_seconds_now() - begin;
    r->summary.status = *st;
    r->summary.error = *st == BN_OK ? NULL : bn_error_text(r->ctx);
    then(r, st, bn_summary_write(r->ctx, r->sim, r->folder, &r->summary));
    if (r->desc->profile && r->device)
        say_profile(r);
    say_results(r, *st);
}

bn_status bn_run_case(bn_context *ctx, bn_case *config, const bn_run_desc *desc)
{
    bn_status st = BN_OK;
    const double begin = bn_seconds_now();
    run r = { .ctx = ctx, .config = config, .desc = desc, .summary = { .selftest = "not needed", .stopped_by = "failure" } };
    r.out = desc->out ? strdup(desc->out) : default_folder(bn_case_path(config));
    if (!r.out) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for the output folder's name");
        goto out;
    }
    if (!desc->reference)
        BN_GO(open_device(&r));
    bn_sim_desc sim = { .device = r.device, .boxes = desc->boxes };
    memcpy(sim.work_group, desc->work_group, sizeof sim.work_group);
    memcpy(r.summary.work_group, desc->work_group, sizeof sim.work_group);
    BN_GO(bn_sim_create(ctx, config, &sim, &r.sim));
    BN_GO(bn_folder_open(ctx, r.out, config, desc->force, &r.folder));
    BN_GO(bn_output_create(ctx, r.sim, r.folder, !r.device || bn_device_single_threaded(r.device), &r.output));
    r.summary.setup = bn_seconds_now() - begin;
    say_what_runs(&r);
    bn_progress_begin(&r.progress, desc->quiet, desc->json, r.summary.bandwidth,
                      (double)(desc->steps >= 0 ? desc->steps : bn_case_int(config, "stop.steps")));
    st = loop(&r);
    finish(&r, &st, begin);
    if (!desc->quiet && !desc->json && st != BN_INTERRUPTED)
        fprintf(stderr, "results, fields and pictures: %s\n", bn_folder_path(r.folder));
out:
    bn_output_destroy(&r.output);
    bn_folder_close(&r.folder);
    bn_sim_destroy(&r.sim);
    bn_device_close(&r.device);
    free(r.out);
    return st;
}
