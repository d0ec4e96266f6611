/* bench_work.c: a benchmark's case as a simulation or a linear system, stepped and waited for. */
#include "bench/bench_work.h"

#include "output/progress.h"

#include <string.h>

/* Calls after which the work is that of most steps of a run: a flow that starts at once takes three or four cycles of
 * multigrid a step at first, one or two from some 70 steps on (65^2 to 1025^2 nodes); water in a bowl has wetted its
 * banks. */
enum { DEVELOPED = 100 };

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
    const bn_status st = job->of->linear ? BN_OK : parse(d->wish->ctx, job, &c);
    bn_case_destroy(&c);
    return st;
}

bn_status bn_bench_work_open(bn_context *ctx, bn_device *device, const bn_bench_job *job, bn_bench_work *out)
{
    *out = (bn_bench_work){ .job = job };
    if (job->of->linear)
        return bn_bench_system_create(ctx, device, job, &out->system);
    const size_t *shape = job->work_group;
    const bn_sim_desc desc = { .device = device, .work_group = { shape[0], shape[1], shape[2] } };
    BN_TRY(parse(ctx, job, &out->c));
    return bn_sim_create(ctx, out->c, &desc, &out->sim);
}

void bn_bench_work_close(bn_bench_work *w)
{
    bn_bench_system_destroy(&w->system);
    bn_sim_snapshot_release(&w->begin);
    bn_sim_destroy(&w->sim);
    bn_case_destroy(&w->c);
}

bn_domain *bn_bench_work_domain(const bn_bench_work *w)
{
    return w->system ? bn_bench_system_domain(w->system) : bn_sim_domain(w->sim);
}

bn_status bn_bench_work_run(bn_bench_work *w, unsigned count, double *steps)
{
    if (w->system)
        return bn_bench_system_solve(w->system, count, steps);
    const unsigned long long before = bn_sim_now(w->sim).items;
    bn_sim_quiet(w->sim, true);
    for (unsigned i = 0; i < count && !bn_sim_done(w->sim); i++)
        BN_TRY(bn_sim_step(w->sim));
    BN_TRY(bn_sim_finish(w->sim));
    *steps = (double)(bn_sim_now(w->sim).items - before) / w->job->per_step;
    return BN_OK;
}

bn_status bn_bench_work_develop(bn_bench_work *w, double most)
{
    double steps;
    if (!w->job->of->develops)
        return BN_OK;
    BN_TRY(bn_bench_work_run(w, 1, &steps)); /* a driver may compile at the first launch */
    const double start = bn_seconds_now();
    for (int i = 1; i < DEVELOPED && bn_seconds_now() - start < most; i++)
        BN_TRY(bn_bench_work_run(w, 1, &steps));
    return bn_sim_snapshot_take(w->sim, &w->begin);
}

bn_status bn_bench_work_restart(bn_bench_work *w)
{
    if (!w->begin)
        return BN_OK;
    BN_TRY(bn_sim_snapshot_restore(w->sim, w->begin));
    return bn_sim_finish(w->sim);
}

bn_status bn_bench_work_updates(const bn_bench_work *w, double *updates)
{
    *updates = w->job->per_step;
    if (!w->job->of->counts)
        return BN_OK;
    BN_TRY(bn_sim_measure(w->sim));
    const bn_results *r = bn_sim_results(w->sim);
    for (size_t i = 0; i < bn_results_count(r); i++)
        if (strcmp(bn_results_at(r, i)->name, w->job->of->counts) == 0)
            *updates *= bn_results_at(r, i)->value;
    return BN_OK;
}
