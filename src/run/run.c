/* run.c: the sequence of a run. Nothing is written before case, device, self-test, memory and kernels are checked;
 * whatever happens afterwards, what was written stays, and the summary reports how the run ended. */
#include "run/run.h"

#include "api/device.h"
#include "io/csv_read.h"
#include "output/output.h"
#include "output/trace.h"
#include "run/report.h"
#include "sim/checkpoint.h"
#include "sim/scaling.h"
#include "run/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Signals that a program may have handlers for. */
static const int watched[] = { SIGINT, SIGTERM, SIGUSR1 };
enum { BN_WATCHED = sizeof watched / sizeof *watched };

typedef struct run {
    bn_context *ctx;
    bn_case *config;
    const bn_run_desc *desc;
    bn_device *device;
    bn_sim *sim;
    bn_output_dir *folder; /* of the leading rank; others use `followed` */
    bn_output_dir *followed;
    bn_output *output;
    bn_progress progress;
    bn_summary summary;
    double begin, output_before;           /* [s]: when the run began; what output.first took */
    long long save_every;                  /* steps between checkpoints, 0: none */
    double save_after, saved;              /* [s] between them by the clock, 0: none; when the last one began */
    struct sigaction handlers[BN_WATCHED]; /* of the program, at the beginning */
    unsigned long long series_every;       /* steps between rows of the series */
    int asked;                             /* whether the run is asked to end: BN_GO_ON, ... */
    bn_watching watching;                  /* the caller of bn_run */
    bool stepping;                         /* everything was ready for the first step */
    bn_sim_desc sim_desc;
    bn_selftest_closing closing; /* of the self-test, while the run goes on */
    double looked;               /* [s] of the last check for the file STOP */
    char *out;
} run;

enum { BN_DEVICES_MOST = 256 };

/* The first failure counts; later ones are logged. */
static void then(run *r, bn_status *st, bn_status next)
{
    if (next != BN_OK && *st == BN_OK)
        *st = next;
    else if (next != BN_OK)
        bn_log(r->ctx, next == *st ? BN_LOG_INFO : BN_LOG_WARNING, /* of one kind: mostly for the same reason */
               "another failure while the run was ended: %s", bn_status_text(next));
}

/* Turns a failure that the run does not depend on into a warning. */
static void forgive(bn_context *ctx, const char *why)
{
    bn_log(ctx, BN_LOG_WARNING, "%s\n  %s", bn_error_text(ctx), why);
    bn_error_clear(ctx);
}

static bn_status weigh(run *r, const char *text)
{
    double weights[BN_DEVICES_MOST];
    size_t count = 0;
    for (const char *at = text; *at && count < BN_DEVICES_MOST;) {
        char *end;
        weights[count++] = strtod(at, &end);
        if (end == at || (*end != '\0' && *end != ','))
            return bn_fail(r->ctx, BN_USAGE, "--weights %s: expected numbers with commas between, like 3,1", text);
        at = *end ? end + 1 : end;
    }
    return bn_device_weigh(r->device, weights, count);
}

static bn_status open_device(run *r)
{
    bn_context *ctx = r->ctx;
    bn_summary *s = &r->summary;
    size_t indices[BN_DEVICES_MOST], chosen;
    char room[BN_SCALING_SELECTOR];
    if (r->desc->library) {
        r->device = r->desc->library->sim.device;
        s->selected_because = "opened by the caller";
    } else {
        const char *selector = r->desc->device;
        BN_TRY(bn_scaling_threads(ctx, r->config));
        BN_TRY(bn_device_select(ctx, selector, indices, BN_DEVICES_MOST, &chosen, &s->selected_because));
        if (!r->desc->weights) /* they are for all that were asked for */
            BN_TRY(bn_scaling_select(ctx, r->config, &selector, room, &s->selected_because));
        BN_TRY(bn_device_open(ctx, selector, r->desc->profile, &r->device));
    }
    if (r->desc->weights)
        BN_TRY(weigh(r, r->desc->weights));
    s->device = bn_device_describe(r->device);
    s->devices = r->device;
    s->ranks = bn_context_ranks(ctx);
    return BN_OK;
}

/* Nothing is built on a device that has not passed the self-test of what the plan needs. */
static bn_status test_device(run *r, const bn_plan *plan)
{
    bn_context *ctx = r->ctx;
    bn_summary *s = &r->summary;
    bn_selftest_outcome outcome = BN_SELFTEST_SKIPPED;
    bn_status st = BN_OK;
    const bn_selftest_run wanted = { plan, r->config, &r->sim_desc, &r->closing };
    const double start = bn_seconds_now();
    for (size_t i = 0; r->desc->program && st == BN_OK && i < bn_device_local_count(r->device); i++)
        st = bn_selftest_ensure(ctx, bn_device_local(r->device, i), bn_case_solver(r->config),
                                bn_case_double(r->config), &wanted, r->desc->program, &outcome);
    s->testing = bn_seconds_now() - start;
    s->selftest = st == BN_OK ? bn_selftest_outcome_text(outcome) : "failed, forced";
    if (st == BN_MISMATCH && r->desc->force)
        forgive(ctx, "going on all the same, as --force asks");
    else if (st != BN_OK)
        return st;
    if (bn_device_bandwidth(r->device, &s->bandwidth) == BN_OK) {
        s->bandwidth *= (double)bn_device_global_count(r->device); /* of equal devices; for others the first one's */
    } else {                                                       /* the run does not need to know the limit */
        s->bandwidth = 0;
        forgive(ctx, "going on without the device's copy bandwidth");
    }
    return BN_OK;
}

static bn_output_dir_use folder_use(const run *r)
{
    return r->sim_desc.resume ? BN_OUTPUT_DIR_GO_ON : r->desc->force ? BN_OUTPUT_DIR_FORCE : BN_OUTPUT_DIR_NEW;
}

/* What rank 0 found of the output directory, on all ranks. */
static bn_status agree_on_folder(run *r, bn_status found)
{
    double said = found;
    bn_context_agree(r->ctx, &said, 1);
    return found == BN_OK && said > 0
               ? bn_fail(r->ctx, (bn_status)said, "rank 0 can't use the output directory %s", r->out)
               : found;
}

/* Before anything is built: a directory that is refused is refused at once, not after the set-up. */
static bn_status before_setup(void *user, const bn_plan *plan)
{
    run *r = user;
    BN_TRY(agree_on_folder(
        r, r->out && bn_context_rank(r->ctx) == 0 ? bn_output_dir_admit(r->ctx, r->out, folder_use(r)) : BN_OK));
    return r->device ? test_device(r, plan) : BN_OK;
}

static void keep_handlers(run *r)
{
    for (size_t i = 0; i < BN_WATCHED; i++)
        (void)sigaction(watched[i], NULL, &r->handlers[i]); /* a failure means wrong numbers */
}

/* Drivers that contain LLVM install their own signal handlers while they build kernels, which may be as late as the
 * first launch, and ignore SIGUSR1: the program's handlers are restored. Not after a signal came: the program may have
 * reset its handler. */
static void put_handlers_back(run *r)
{
    for (size_t i = 0; r->device && i < BN_WATCHED; i++)
        if (r->desc->library ||
            (watched[i] == SIGUSR1 ? r->desc->status_wanted != NULL : r->desc->stop && !*r->desc->stop))
            (void)sigaction(watched[i], &r->handlers[i], NULL);
}

/* Checks for the user's file STOP, at most four times a second. */
static bool stop_file(run *r)
{
    const double now = bn_seconds_now();
    if (now - r->looked < 0.25)
        return false;
    r->looked = now;
    put_handlers_back(r);
    return bn_output_dir_stop_wanted(r->folder);
}

/* Why the run ends after the last step; NULL: it does not. */
static const char *ended_by(run *r)
{
    const bn_sim_state now = bn_sim_now(r->sim);
    const long long limit = r->desc->steps;
    if (now.converged)
        return "converged";
    if (now.complete)
        return "complete";
    if (bn_sim_done(r->sim))
        return (double)now.step >= bn_sim_stops_at(r->sim).steps
                   ? "steps"
                   : bn_solver_coordinate(bn_sim_plan(r->sim)->solver).name;
    if (limit >= 0 && now.step >= (unsigned long long)limit)
        return "steps";
    return NULL;
}

/* What the user may ask a run to do. */
enum { BN_GO_ON, BN_STOP_FILE, BN_SIGNAL };

/* A request is never withdrawn. */
static int asked_to_end(run *r)
{
    if (r->desc->stop && *r->desc->stop)
        r->asked = BN_SIGNAL;
    else if (bn_watch_due(&r->watching) && bn_watch_ends(&r->watching, r->sim, bn_progress_left(&r->progress, r->sim)))
        r->asked = BN_SIGNAL;
    else if (r->asked == BN_GO_ON && r->folder && stop_file(r))
        r->asked = BN_STOP_FILE;
    return r->asked;
}

static bool step_is_to_end(void *user) { return asked_to_end(user) != BN_GO_ON; }

/* Ranks agree on what they may see differently: whether the run is to end, whether a checkpoint is due, how many files
 * are written. A single rank has nothing to agree on. */
static bn_status agree(run *r, int *end, bool *save)
{
    double said[2 + BN_OUTPUT_SAID] = { *end, *save };
    if (bn_context_ranks(r->ctx) == 1)
        return BN_OK;
    bn_output_say(r->output, said + 2);
    bn_context_agree(r->ctx, said, 2 + BN_OUTPUT_SAID);
    *end = (int)said[0];
    *save = said[1] > 0;
    return bn_output_hear(r->output, said + 2);
}

static bool saves(const run *r) { return r->save_every > 0 || r->save_after > 0; }

/* The checkpoint to restart from, in case the job is killed. */
static void note_last_words(run *r)
{
    bn_last_words *w = r->desc->last_words;
    const unsigned long long saved = bn_output_saved(r->output);
    if (!w || !r->folder || bn_context_ranks(r->ctx) == 1 || (saved == 0 && bn_output_saving(r->output)))
        return;
    char *next = w->text[!w->which];
    if (saved > 0)
        snprintf(
            next, sizeof w->text[0],
            "binnacle: told to end, perhaps since another rank has died; the last checkpoint is that of step %llu in "
            "%s/checkpoint, --resume goes on from there\n",
            saved, r->out);
    else
        snprintf(next, sizeof w->text[0],
                 "binnacle: told to end, perhaps since another rank has died; there is no checkpoint "
                 "(--checkpoint-every)\n");
    w->which = !w->which;
}

/* By the clock of the leading rank. */
static bool save_is_due(const run *r)
{
    const unsigned long long step = bn_sim_now(r->sim).step;
    const double now = bn_seconds_now();
    const bool by_steps = r->save_every > 0 && step % (unsigned long long)r->save_every == 0;
    const bool by_clock = r->save_after > 0 && now - r->saved >= r->save_after && !bn_output_saving(r->output);
    return by_steps || (r->folder && by_clock);
}

/* Whether a checkpoint is written at the end: where the user stops the run, or the case or the command line asks for
 * checkpoints. */
static bool saves_at_end(const run *r, const char *why)
{
    return strcmp(why, "signal") == 0 || strcmp(why, "STOP file") == 0 || saves(r) ||
           bn_case_bool(r->config, "output.checkpoint");
}

/* Whether nobody looks at what the next step tells: no row of the series is due, and it can't be the last one. */
static bool next_is_quiet(const run *r)
{
    const unsigned long long next = bn_sim_now(r->sim).step + 1;
    const bn_sim_stop end = bn_sim_stops_at(r->sim);
    const double dt = bn_sim_last_step(r->sim)->dt;
    return next % r->series_every != 0 && (r->save_every <= 0 || next % (unsigned long long)r->save_every != 0) &&
           (r->desc->steps < 0 || next < (unsigned long long)r->desc->steps) && (double)next < end.steps &&
           !bn_plan_ends_by(bn_sim_plan(r->sim), (double)next) &&
           (end.time <= 0 || bn_sim_now(r->sim).time + 2 * dt < end.time);
}

/* Steps until the run ends; the reason is in summary.stopped_by. */
static bn_status loop(run *r)
{
    static const char *const asked[] = { [BN_STOP_FILE] = "STOP file", [BN_SIGNAL] = "signal" };
    const char *why;
    put_handlers_back(r);
    int end = asked_to_end(r);
    bool save = false;
    bn_sim_watch(r->sim, step_is_to_end, r);
    BN_TRY(agree(r, &end, &save));
    while (!(why = ended_by(r)) && end == BN_GO_ON) {
        const unsigned long long before = bn_sim_now(r->sim).step;
        bn_sim_quiet(r->sim, next_is_quiet(r));
        BN_TRY(bn_sim_step(r->sim));
        const bool whole = bn_sim_now(r->sim).step > before;
        if (whole)
            BN_TRY(bn_output_after_step(r->output));
        note_last_words(r);
        save = whole && save_is_due(r);
        end = asked_to_end(r);
        BN_TRY(agree(r, &end, &save));
        if (save) {
            r->saved = bn_seconds_now();
            BN_TRY(bn_output_checkpoint(r->output));
        }
        const bool wanted = r->desc->status_wanted && *r->desc->status_wanted;
        if (wanted)
            *r->desc->status_wanted = 0;
        bn_progress_show(&r->progress, r->sim, wanted);
    }
    BN_TRY(bn_sim_finish(r->sim));
    why = why ? why : asked[end];
    r->summary.stopped_by = why;
    r->summary.cut_short = !bn_sim_now(r->sim).converged && !bn_sim_now(r->sim).complete && !bn_sim_done(r->sim);
    /* Before the end adds fields and a row that a run without interruption would not have here. */
    return r->out && saves_at_end(r, why) ? bn_output_checkpoint(r->output) : BN_OK;
}

/* The failure of a run whose steps all succeeded, but that did not converge as the case asks. */
static bn_status verdict(run *r)
{
    const bn_sim_state now = bn_sim_now(r->sim);
    const double tolerance = bn_sim_plan(r->sim)->course.tolerance;
    const char *advice = bn_sim_plan(r->sim)->course.advice;
    const bool term = r->desc->stop && *r->desc->stop == SIGTERM;
    if (strcmp(r->summary.stopped_by, "signal") == 0 && !r->out)
        return bn_fail(r->ctx, BN_INTERRUPTED, "interrupted after step %llu", now.step);
    if (strcmp(r->summary.stopped_by, "signal") == 0)
        return bn_fail(r->ctx, term ? BN_TERMINATED : BN_INTERRUPTED,
                       "%s after step %llu; everything so far is in %s, and --resume goes on from there",
                       term ? "terminated" : "interrupted", now.step, r->out);
    const char *unconverged = bn_results_unconverged(bn_sim_results(r->sim));
    if (unconverged)
        return bn_fail(r->ctx, BN_DIVERGED,
                       "not converged within %lld steps each: %s; what converged is in the results; raise stop.steps, "
                       "or see in series.csv whether the residual still falls",
                       bn_case_int(r->config, "stop.steps"), unconverged);
    const bool by_case = (double)now.step >= bn_sim_stops_at(r->sim).steps;
    if (tolerance > 0 && by_case && strcmp(r->summary.stopped_by, "steps") == 0)
        return bn_fail(r->ctx, BN_DIVERGED,
                       "not converged after %llu steps: residual %.3g, above the tolerance %.3g; raise stop.steps, or "
                       "see in series.csv whether the residual still falls%s%s",
                       now.step, now.residual, tolerance, advice ? "; if it does not, " : "", advice ? advice : "");
    return BN_OK;
}

static void tell_last_checkpoint(run *r)
{
    if (bn_output_saved(r->output) > 0)
        bn_note(r->ctx, "the last checkpoint, of step %llu, is in %s: --resume goes on from it",
                bn_output_saved(r->output), r->out);
}

/* Whether the failure is this rank's alone: the others wait for it, and the end of this process ends them. All ranks
 * find values that are not finite. */
static bool alone_in_it(const run *r, bn_status st)
{
    return bn_context_ranks(r->ctx) > 1 && st != BN_OK && st != BN_DIVERGED;
}

/* For the caller of bn_run, who reads them from the simulation. */
static bn_status keep_series(run *r)
{
    bn_csv_table table;
    bn_series series = { .count = 0 };
    const char *lent;
    size_t bytes;
    bn_output_series(r->output, &lent, &bytes);
    if ((const char *)memchr(lent, '\n', bytes) + 1 == lent + bytes) /* the heads alone */
        return BN_OK;
    char *text = calloc(bytes + 1, 1);
    if (!text)
        return bn_fail(r->ctx, BN_MEMORY, "no memory for the series");
    memcpy(text, lent, bytes);
    bn_status st = bn_csv_parse(r->ctx, "the series", text, &table);
    free(text);
    BN_TRY(st);
    st = bn_series_create(bn_sim_plan(r->sim), table.rows, &series);
    for (size_t row = 0; st == BN_OK && row < table.rows; row++)
        bn_series_put(&series, row, table.values + row * table.columns);
    if (st == BN_OK)
        bn_sim_keep_series(r->sim, &series);
    bn_csv_table_free(&table);
    return st;
}

/* Files and messages at the end of every run that has begun, also of one that failed. */
static void finish(run *r, bn_status *st)
{
    bn_summary *s = &r->summary;
    if (alone_in_it(r, *st)) {
        bn_progress_end(&r->progress);
        tell_last_checkpoint(r);
        return;
    }
    if (*st == BN_OK && r->device) /* steps may still be in the queue, and their time is part of the rates */
        *st = bn_sim_finish(r->sim);
    const bool readable = *st != BN_DEVICE, stepped = *st == BN_OK;
    s->steps = bn_seconds_now() - r->progress.start - (bn_output_seconds(r->output) - r->output_before);
    s->bytes = bn_progress_bytes(&r->progress, r->sim);
    bn_progress_end(&r->progress);
    if (readable && *st != BN_DIVERGED)
        then(r, st, bn_sim_measure(r->sim));
    if (readable && *st != BN_DEVICE)
        then(r, st, bn_output_fields(r->output));
    if (*st != BN_DEVICE && r->out) /* a lost device can't be read; while the fields are written */
        then(r, st, bn_summary_hash_fields(r->ctx, r->sim, s));
    then(r, st, bn_output_finish(r->output, stepped));
    s->output = bn_output_seconds(r->output);
    s->output_waits = bn_output_waited(r->output);
    s->total = bn_seconds_now() - r->begin;
    if (r->desc->keep)
        then(r, st, keep_series(r));
    if (*st == BN_OK)
        *st = verdict(r);
    if (*st != BN_OK && *st != BN_INTERRUPTED && *st != BN_TERMINATED)
        tell_last_checkpoint(r);
    s->status = *st;
    s->error = *st == BN_OK ? NULL : bn_error_text(r->ctx);
    then(r, st, bn_summary_write(r->ctx, r->sim, r->folder, s));
}

/* Everything up to the first step. */
static bn_status prepare(run *r)
{
    const bn_run_desc *d = r->desc;
    if (!(d->library && !d->out) &&
        !(r->out = strdup(d->out ? d->out : bn_output_dir_default(bn_case_path(r->config), ".out").text)))
        return bn_fail(r->ctx, BN_MEMORY, "no memory for the output directory's name");
    if (!d->reference)
        BN_TRY(open_device(r));
    const char *from = d->resume && d->resume[0] ? d->resume : NULL;
    if (d->resume && !from && bn_checkpoint_exists(r->out))
        from = r->out;
    else if (d->resume && !from)
        bn_log(r->ctx, BN_LOG_WARNING, "there is no checkpoint in %s: the run starts from the beginning", r->out);
    bn_sim_desc *sim = &r->sim_desc;
    *sim = d->sim;
    sim->device = r->device;
    sim->tuned = true;
    sim->resume = from;
    memcpy(r->summary.work_group, sim->work_group, sizeof sim->work_group);
    BN_TRY(bn_sim_create_checked(r->ctx, r->config, sim, before_setup, r, &r->sim));
    BN_TRY(agree_on_folder(r, r->out && bn_context_rank(r->ctx) == 0
                                  ? bn_output_dir_open(r->ctx, r->out, r->config, folder_use(r), &r->folder)
                                  : BN_OK));
    if (r->out && !r->folder)
        BN_TRY(bn_output_dir_follow(r->ctx, r->out, &r->followed));
    r->summary.resumed_from = bn_sim_now(r->sim).step;
    r->summary.items_before = bn_sim_now(r->sim).items;
    const bool told = d->checkpoint_steps > 0 || d->checkpoint_seconds > 0;
    r->save_every = told ? d->checkpoint_steps : bn_case_int(r->config, "output.checkpoint_steps");
    r->save_after = told ? d->checkpoint_seconds : bn_case_real(r->config, "output.checkpoint_time");
    if (!r->out) { /* nothing is written */
        r->save_every = 0;
        r->save_after = 0;
    }
    r->series_every = (unsigned long long)bn_case_int(r->config, "output.series_every");
    r->saved = bn_seconds_now();
    bn_sim_guard(r->sim, (unsigned long long)d->guard);
    const bool synchronous = !r->device || !r->out || bn_device_single_threaded(r->device);
    BN_TRY(bn_output_create(r->ctx, r->sim, r->folder ? r->folder : r->followed, r->folder != NULL, synchronous,
                            &r->output));
    r->output_before = bn_output_seconds(r->output);
    r->summary.setup = bn_seconds_now() - r->begin - r->output_before;
    return BN_OK;
}

bn_status bn_run_case(bn_context *ctx, bn_case *config, const bn_run_desc *desc)
{
    run r = { .ctx = ctx, .config = config, .desc = desc, .begin = bn_seconds_now() };
    r.watching = (bn_watching){ .watch = desc->library ? &desc->library->watch : NULL, .asked = r.begin };
    r.summary = (bn_summary){ .selftest = "not needed", .stopped_by = "failure", .cut_short = true };
    keep_handlers(&r);
    bn_status st = prepare(&r);
    if (st == BN_OK) {
        const bool first = bn_context_rank(ctx) == 0, talk = first && !desc->quiet && !desc->json;
        const double known = bn_sim_plan(r.sim)->course.steps, stop = bn_sim_stops_at(r.sim).steps;
        const double most = known > 0 && known < stop ? known : stop; /* the solver may know the number of steps */
        if (talk)
            bn_report_begin(r.sim, &r.summary, bn_output_dir_path(r.folder));
        bn_progress_begin(&r.progress, r.sim, desc->quiet || !first, desc->json && first, r.summary.bandwidth,
                          desc->steps >= 0 && (double)desc->steps < most ? (double)desc->steps : most);
        r.stepping = true;
        st = loop(&r);
        finish(&r, &st);
        if (desc->profile && !desc->quiet && r.device && first)
            bn_report_profile(r.sim, r.summary.bandwidth);
        if (desc->profile && r.device && first && r.folder && st != BN_DEVICE)
            then(&r, &st, bn_trace_write(ctx, r.device, r.folder));
        if (talk)
            bn_report_end(r.sim, &r.summary, bn_output_dir_path(r.folder));
    }
    if (desc->json && bn_context_rank(ctx) == 0)
        bn_report_json_end(ctx, r.sim, r.folder, st);
    bn_output_destroy(&r.output);
    bn_output_dir_close(&r.folder);
    bn_output_dir_close(&r.followed);
    if (desc->keep && r.stepping) {
        bn_sim_watch(r.sim, NULL, NULL);
        bn_sim_quiet(r.sim, false);
        *desc->keep = r.sim;
        r.sim = NULL;
    }
    bn_sim_destroy(&r.sim);
    if (!desc->library)
        bn_device_close(&r.device);
    bn_selftest_close(ctx, &r.closing);
    free(r.out);
    return st;
}

bn_status bn_run(bn_context *ctx, bn_case *config, const bn_run_options *o, bn_sim **out)
{
    const bn_run_desc desc = { .reference = !o->sim.device,
                               .out = o->out,
                               .force = o->force,
                               .sim = o->sim,
                               .steps = o->steps > 0 ? (long long)o->steps : -1,
                               .quiet = true,
                               .program = o->program,
                               .resume = o->sim.resume,
                               .checkpoint_steps = o->checkpoint_steps,
                               .checkpoint_seconds = o->checkpoint_seconds,
                               .library = o,
                               .keep = out };
    if (out)
        *out = NULL;
    return bn_run_case(ctx, config, &desc);
}
