/* cli_tune_child.c: the measuring half of `binnacle tune`, in a process of its own: a shape may crash a driver. */
#include "cli/cli_tune.h"

#include "api/embedded_files.h"
#include "output/progress.h"
#include "run/verify.h"
#include "sim/guard.h"
#include "sim/sim_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_STEPS = 2, STEPS_MOST = 50, STEPS_LEAST = 2 };
static const double seconds_of_default = 0.5; /* of timed steps, when their number is not known yet */

bn_status bn_tune_case(const bn_cli *cli, const char *const *set, size_t set_count, bn_case **out)
{
    const bn_options *o = cli->options;
    const char *name = o->args[0], **all = calloc(o->set_count + set_count + 1, sizeof *all);
    char file[128];
    const bn_embedded *f = bn_embedded_files;
    if (!all)
        return bn_fail(cli->ctx, BN_MEMORY, "no memory for the settings of a case");
    for (size_t i = 0; i < o->set_count + set_count; i++) /* the last one counts */
        all[i] = i < o->set_count ? o->set[i] : set[i - o->set_count];
    snprintf(file, sizeof file, "selftest/%.100s.toml", name);
    while (f->name && strcmp(f->name, file) != 0)
        f++;
    const bool given = strpbrk(name, "./") || !bn_solver_summary(name);
    const bn_status st = given ? bn_case_read(cli->ctx, name, all, o->set_count + set_count, out)
                         : f->name
                             ? bn_case_parse(cli->ctx, f->name, f->text, all, o->set_count + set_count, out)
                             : bn_fail(cli->ctx, BN_USAGE, "solver %s has no self-test to tune on: give a case", name);
    free(all);
    return st;
}

/* Over the bits of all fields that verify compares. */
static bn_status hash_fields(bn_sim *sim, char text[BN_TUNE_HASH])
{
    uint64_t hash = BN_HASH_START, field;
    BN_TRY(bn_sim_update_outputs(sim));
    for (size_t f = 0; f < bn_sim_field_count(sim); f++) {
        const bn_sim_field_info *info = bn_sim_field_at(sim, f);
        if (!info->compare)
            continue;
        BN_TRY(bn_hash_field(bn_sim_plan(sim), bn_sim_field(sim, info->name), &field));
        hash = bn_hash(hash, &field, sizeof field);
    }
    snprintf(text, BN_TUNE_HASH, "%016llx", (unsigned long long)hash);
    return BN_OK;
}

/* Adds a kernel's calls and times: it may be in several programs, such as one for each linear system. */
static void add_up(const bn_profile_row *rows, size_t count, double sign, bn_tune_row *to)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].kernel, to->name) == 0) {
            to->calls += sign * (double)rows[i].calls;
            to->seconds += sign * rows[i].seconds;
        }
}

/* The domain's kernels, and what they took since `before`. */
static void take_kernels(bn_sim *sim, const bn_profile_row *before, size_t before_count, bn_tune_answer *a)
{
    bn_profile_row rows[BN_PROFILE_ROWS];
    bn_kernel_info infos[BN_TUNE_KERNELS];
    const size_t count = bn_profile_rows(sim, false, rows);
    const size_t found = bn_domain_kernels(bn_sim_domain(sim), infos, BN_TUNE_KERNELS);
    for (size_t i = 0; i < found && i < BN_TUNE_KERNELS; i++) {
        const bn_kernel_info *k = &infos[i];
        size_t first = 0;
        while (strcmp(infos[first].kernel, k->kernel) != 0)
            first++;
        if (first < i)
            continue;
        bn_tune_row *to = &a->rows[a->row_count++];
        *to = (bn_tune_row){ .range = k->range,
                             .side = { k->group[0], k->group[1], k->group[2] },
                             .largest = k->largest,
                             .multiple = k->multiple,
                             .local_bytes = k->local_bytes,
                             .fits = k->fits };
        snprintf(to->name, sizeof to->name, "%s", k->kernel);
        add_up(rows, count, 1, to);
        add_up(before, before_count, -1, to);
    }
}

/* Warm-up, hash, timed steps, hash. */
static bn_status time_steps(const bn_cli *cli, bn_case *c, const bn_sim_desc *desc, const bn_tune_job *j,
                            bn_tune_answer *a)
{
    bn_profile_row before[BN_PROFILE_ROWS];
    bn_sim *sim = NULL;
    bn_status st = BN_OK;
    BN_GO(bn_sim_create(cli->ctx, c, desc, &sim));
    for (int s = 0; s < WARM_STEPS && !bn_sim_done(sim); s++)
        BN_GO(bn_sim_step(sim));
    BN_GO(hash_fields(sim, a->hash_warm));
    const size_t count = bn_profile_rows(sim, false, before);
    const double start = bn_seconds_now();
    while (a->steps < (j->steps ? j->steps : STEPS_MOST) && !bn_sim_done(sim)) {
        if (!j->steps && a->steps >= STEPS_LEAST && bn_seconds_now() - start > seconds_of_default)
            break;
        BN_GO(bn_sim_step(sim));
        if (!j->steps)
            BN_GO(bn_sim_finish(sim));
        a->steps++;
    }
    BN_GO(bn_sim_finish(sim));
    a->step_seconds = (bn_seconds_now() - start) / (double)a->steps;
    take_kernels(sim, before, count, a);
    BN_GO(hash_fields(sim, a->hash_end));
    const bn_plan *p = bn_sim_plan(sim);
    a->dims = p->grid.dims;
    for (int d = 0; d < 3; d++)
        a->n[d] = p->grid.n[d];
    snprintf(a->precision, sizeof a->precision, "%s", p->precision == BN_DOUBLE ? "double" : "single");
    snprintf(a->solver, sizeof a->solver, "%s", p->solver->name);
out:
    bn_sim_destroy(&sim);
    return st;
}

/* Bits equal to those of a run that was checked are checked too; any others are compared with the reference. */
static bn_status check(const bn_cli *cli, bn_case *c, const bn_sim_desc *desc, const bn_tune_job *j,
                       const bn_tune_answer *a)
{
    const bool same = strcmp(j->hash_warm, a->hash_warm) == 0;
    bn_verify_report report = { 0 };
    if (!same || j->reference)
        BN_TRY(bn_verify_run(cli->ctx, c, desc, WARM_STEPS, &report));
    for (size_t r = 0; r < report.count; r++)
        if (!report.rows[r].ok)
            return bn_fail(cli->ctx, BN_MISMATCH, "field %s differs from the reference by %.3g", report.rows[r].field,
                           report.rows[r].max_difference);
    if (same && j->hash_end[0] && strcmp(j->hash_end, a->hash_end) != 0)
        return bn_fail(cli->ctx, BN_MISMATCH, "after more steps the fields differ from those of the default shapes");
    return BN_OK;
}

/* A device after an error can't be trusted with the next job: it is closed. */
static void do_job(const bn_cli *cli, const bn_tune_job *j, bn_device **device, bn_tune_answer *a)
{
    const char *set[BN_TUNE_VARIANTS + 1];
    bn_kernel_group groups[BN_TUNE_KERNELS];
    bn_case *c = NULL;
    bn_status st = BN_OK;
    for (size_t i = 0; i < j->set_count; i++)
        set[i] = j->set[i];
    set[j->set_count] = "stop.steps=1000000000";
    for (size_t i = 0; i < j->group_count; i++) {
        groups[i] = (bn_kernel_group){ .kernel = j->groups[i].kernel };
        memcpy(groups[i].shape, j->groups[i].side, sizeof groups[i].shape);
    }
    BN_GO(bn_tune_case(cli, set, j->set_count + 1, &c));
    if (!*device)
        BN_GO(bn_device_open(cli->ctx, cli->options->run.device, true, device));
    const bn_sim_desc desc = { .device = *device, .groups = groups, .group_count = j->group_count };
    BN_GO(time_steps(cli, c, &desc, j, a));
    BN_GO(check(cli, c, &desc, j, a));
out:
    bn_case_destroy(&c);
    if ((a->status = st) == BN_OK)
        return;
    snprintf(a->error, sizeof a->error, "%s", bn_error_text(cli->ctx));
    bn_error_clear(cli->ctx);
    bn_device_close(device);
}

bn_status bn_tune_child(const bn_cli *cli)
{
    static bn_tune_job job;
    static bn_tune_answer answer;
    bn_device *device = NULL;
    bool goes_on = true;
    while (goes_on && bn_child_hear(&job, sizeof job)) {
        memset(&answer, 0, sizeof answer);
        do_job(cli, &job, &device, &answer);
        goes_on = bn_child_answer(&answer, sizeof answer);
    }
    bn_device_close(&device);
    return BN_OK;
}
