/* cli_tune.c: `binnacle tune`: which shapes are tried, in what order, and which one is taken. A child process measures
 * (cli_tune_child.c). Kernels do not overlap in the queue, so one measurement gives every kernel another shape. */
#include "cli/cli_tune.h"

#include "cli/commands.h"
#include "io/file.h"
#include "output/output_dir.h"
#include "sim/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CONTENDERS = 6,
    ALWAYS = 4,
    STEPS_MOST = 50,
    STEPS_LEAST = 2,
    ANSWER_SECONDS = 600 /* of one measurement, with builds and the reference: then the child hangs */
};
static const double budget = 60;       /* [s] of each of the three parts of a sweep, without --full */
static const double quick_budget = 6;  /* the same with --quick */
static const double measurement = 0.2; /* [s] of timed steps, about */
static const double worse = 1.03;      /* times the default's step: the default stays */
static const double hopeless = 1.3;    /* times the best: not measured again */

const char *const bn_tune_verdicts[] = { "not tried", "ok", "wrong", "failed", "crashed", "skipped" };

/* What a measurement gives each kernel: the number of a shape, 0 being the default; DEFAULT: that, without its time. */
enum { DEFAULT = 0xffff };
typedef struct choice {
    unsigned short at[BN_TUNE_KERNELS];
} choice;

static bool is_changed(const choice *c, size_t kernel) { return c->at[kernel] > 0 && c->at[kernel] != DEFAULT; }

void bn_tune_blame(const bn_tune *t, bn_tune_candidate *s)
{
    const bn_status st = t->answer.status;
    s->verdict = !t->answered                             ? BN_TUNE_CRASHED
                 : st == BN_MISMATCH || st == BN_DIVERGED ? BN_TUNE_WRONG
                                                          : BN_TUNE_FAILED;
    if (t->answered)
        snprintf(s->why, sizeof s->why, "%.*s", (int)fmin(strcspn(t->answer.error, "\n"), BN_TUNE_WHY),
                 t->answer.error);
    else
        bn_child_end_text(&t->child, s->why);
}

/* ------------------------------------------------------------------------------------------ measurements */

static bn_status start_child(bn_tune *t)
{
    const bn_options *o = t->cli->options;
    const char **arguments = calloc(2 * o->set_count + 8, sizeof *arguments);
    char index[32];
    size_t n = 0;
    if (!arguments)
        return bn_fail(t->cli->ctx, BN_MEMORY, "no memory for the arguments of a child process");
    snprintf(index, sizeof index, "%zu", t->device->index);
    const char *const fixed[] = { t->cli->program, "tune", o->args[0], "--child", "--device", index };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        arguments[n++] = fixed[i];
    for (size_t i = 0; i < o->set_count; i++)
        arguments[n++] = "--set", arguments[n++] = o->set[i];
    bn_child_release(&t->child);
    const bn_status st = bn_child_start(t->cli->ctx, arguments, BN_CHILD_SOCKET, &t->child);
    free(arguments);
    return st;
}

bn_status bn_tune_ask(bn_tune *t)
{
    if (!t->child.running)
        BN_TRY(start_child(t));
    BN_TRY(bn_child_ask(t->cli->ctx, t->cli->stop, &t->child, &t->job, sizeof t->job, ANSWER_SECONDS, &t->answer,
                        sizeof t->answer, &t->answered));
    if (!t->answered)
        t->answer = (bn_tune_answer){ .status = BN_DEVICE };
    return BN_OK;
}

static void take_times(bn_tune *t, const choice *c)
{
    for (size_t k = 0; k < t->count; k++)
        for (size_t i = 0; i < t->answer.row_count && c->at[k] != DEFAULT; i++) {
            const bn_tune_row *r = &t->answer.rows[i];
            bn_tune_candidate *s = &t->kernels[k].shapes[c->at[k]];
            if (!(r->calls > 0) || strcmp(t->kernels[k].info.name, r->name) != 0)
                continue;
            if (memcmp(s->side, r->side, sizeof s->side) == 0) {
                bn_tune_record(s, r->seconds / r->calls);
            } else {
                s->verdict = BN_TUNE_FAILED;
                snprintf(s->why, sizeof s->why, "the device can't run it in this shape");
            }
        }
}

/* Measures shapes together; *step gets the seconds of a step, NaN where they fail. What fails together with others is
 * tried alone, if `alone`. */
static bn_status measure(bn_tune *t, const choice *c, bool reference, bool alone, double *step)
{
    bn_tune_job *j = &t->job;
    size_t kernel = 0;
    j->reference = reference;
    j->group_count = 0;
    for (size_t k = 0; k < t->count; k++)
        if (is_changed(c, k)) {
            memcpy(j->groups[j->group_count].side, t->kernels[k].shapes[c->at[k]].side, sizeof j->groups->side);
            memcpy(j->groups[j->group_count++].kernel, t->kernels[k].info.name, BN_TUNE_NAME);
            kernel = k;
        }
    const size_t count = j->group_count;
    BN_TRY(bn_tune_ask(t));
    const bool failed = t->answer.status != BN_OK;
    *step = failed ? (double)NAN : t->answer.step_seconds;
    if (!failed)
        take_times(t, c);
    else if (count == 1)
        bn_tune_blame(t, &t->kernels[kernel].shapes[c->at[kernel]]);
    if (!failed && count == 0)
        memcpy(j->hash_end, t->answer.hash_end, sizeof j->hash_end);
    for (size_t k = 0; k < t->count && failed && count > 1 && alone; k++) {
        choice own;
        double unused;
        if (!is_changed(c, k))
            continue;
        memset(own.at, 0xff, sizeof own.at);
        own.at[k] = c->at[k];
        BN_TRY(measure(t, &own, reference, false, &unused));
    }
    return BN_OK;
}

/* ------------------------------------------------------------------------------------------ the sweep */

/* Why a kernel is not tuned; "": it is; NULL: it is not told of. */
static const char *reason_to_skip(const bn_tune *t, const bn_tune_row *r, char why[BN_TUNE_WHY])
{
    why[0] = '\0';
    if (r->local_bytes > t->device->local_bytes)
        snprintf(why, BN_TUNE_WHY, "needs %llu bytes of local memory, the device has %llu",
                 (unsigned long long)r->local_bytes, (unsigned long long)t->device->local_bytes);
    else if (!(r->calls > 0) || r->range == BN_ONCE) /* the case does not use it; one work-group: nothing to gain */
        return NULL;
    else if (r->range == BN_PER_TILE)
        snprintf(why, BN_TUNE_WHY, "made for work-groups of %d x %d", (int)BN_TILE_X, (int)BN_TILE_Y);
    return why;
}

/* What the first measurement tells: grid, kernels, number of steps, the bits that others have to give. */
static bn_status take_default(bn_tune *t)
{
    bn_context *ctx = t->cli->ctx;
    const char *only = t->cli->options->kernel;
    const bn_tune_answer *a = &t->first;
    t->first = t->answer;
    if (a->steps == 0)
        return bn_fail(ctx, BN_USAGE, "the case ends during the warm-up: too few steps to time anything");
    memcpy(t->job.hash_warm, a->hash_warm, sizeof t->job.hash_warm);
    t->points = (double)a->n[0] * (double)a->n[1] * (double)a->n[2];
    const double fit = fmax(STEPS_LEAST, measurement / fmax(a->step_seconds, 1e-9));
    t->job.steps = (unsigned long long)fmax(1, fmin(fmin(STEPS_MOST, (double)a->steps), fit));
    for (size_t i = 0; i < a->row_count; i++) {
        const bn_tune_row *r = &a->rows[i];
        bn_tune_kernel *k = &t->kernels[t->count];
        char why[BN_TUNE_WHY];
        if (!reason_to_skip(t, r, why) || (only && strcmp(only, r->name) != 0))
            continue;
        *k = (bn_tune_kernel){ .info = *r };
        memcpy(k->skipped, why, sizeof why);
        t->count++;
        bn_tune_add_shape(k, r->side);
        if (!why[0])
            bn_tune_choose_shapes(t, k);
    }
    if (t->count == 0 && only)
        return bn_fail(ctx, BN_USAGE,
                       "the case runs no kernel %s whose work-group can be chosen (run --profile lists them)", only);
    return t->count ? BN_OK : bn_fail(ctx, BN_USAGE, "the case runs no kernel whose work-group can be chosen");
}

/* The default shapes first: checked against the reference, since everything else is compared with them. */
static bn_status measure_default(bn_tune *t)
{
    bn_context *ctx = t->cli->ctx;
    const choice plain = { { 0 } };
    double unused;
    t->count = t->job.steps = 0;
    t->job.hash_warm[0] = '\0';
    BN_TRY(measure(t, &plain, true, false, &unused));
    t->job.hash_end[0] = '\0'; /* of another number of steps than what follows */
    if (t->answer.status == BN_OK)
        return take_default(t);
    if (t->answered) {
        (void)bn_fail(ctx, t->answer.status, "%s", t->answer.error);
        bn_note(ctx, "with the default work-groups on %s", t->device->name);
    } else {
        (void)bn_fail(ctx, BN_DEVICE, "%s (driver %s) %s over %s with the default work-groups (%d)", t->device->name,
                      t->device->driver, t->child.end == BN_CHILD_HUNG ? "hung" : "crashed", t->cli->options->args[0],
                      t->child.code);
        bn_note(ctx, "another driver version may help; --device picks another device");
    }
    return t->answer.status;
}

static void show_progress(const bn_tune *t, size_t done, size_t count, double start, double *last)
{
    const double now = bn_seconds_now();
    const bool terminal = isatty(STDERR_FILENO) == 1;
    if (t->cli->options->run.quiet || count < 2 || now - *last < (terminal ? 0.2 : 5))
        return;
    *last = now;
    fprintf(stderr, "%stune: %zu of %zu measurements, at most %.0f s left%s", terminal ? "\r" : "", done, count,
            (now - start) / (double)done * (double)(count - done), terminal ? "   " : "\n");
    if (terminal && done == count)
        fputc('\n', stderr);
}

/* Each kernel's shapes number[0], number[1], ..., as many as it has: one of each kernel in a measurement. `limit` in s;
 * 0: none. */
typedef struct queue {
    unsigned short number[BN_TUNE_SHAPES];
    size_t count;
} queue;

static bn_status measure_queues(bn_tune *t, const queue *queues, int rounds, double limit)
{
    const double start = bn_seconds_now();
    double last = start, unused;
    size_t most = 0, done = 0;
    for (size_t k = 0; k < t->count; k++)
        most = queues[k].count > most ? queues[k].count : most;
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < most; i++) {
            choice c;
            if (limit > 0 && bn_seconds_now() - start > limit)
                return BN_OK;
            for (size_t k = 0; k < t->count; k++)
                c.at[k] = i < queues[k].count ? queues[k].number[i] : DEFAULT;
            BN_TRY(measure(t, &c, false, true, &unused));
            show_progress(t, ++done, most * (size_t)rounds, start, &last);
        }
    return BN_OK;
}

/* The default and the fastest few of a kernel. A first time may have been disturbed: some are always taken. */
static void queue_contenders(const bn_tune_kernel *k, queue *q)
{
    const double limit = hopeless * bn_tune_median(&k->shapes[bn_tune_fastest(k, 1)]);
    q->count = 0;
    q->number[q->count++] = 0;
    while (q->count < CONTENDERS) {
        size_t next = 0;
        for (size_t s = 1; s < k->count; s++) {
            bool taken = k->shapes[s].verdict != BN_TUNE_OK ||
                         (q->count >= ALWAYS && !(bn_tune_median(&k->shapes[s]) <= limit));
            for (size_t i = 0; i < q->count; i++)
                taken = taken || q->number[i] == s;
            if (!taken && (next == 0 || bn_tune_median(&k->shapes[s]) < bn_tune_median(&k->shapes[next])))
                next = s;
        }
        if (next == 0)
            break;
        q->number[q->count++] = (unsigned short)next;
    }
}

/* Each kernel's shapes that were not tried yet. */
static void queue_untried(const bn_tune *t, queue *queues)
{
    for (size_t k = 0; k < t->count; k++) {
        const bn_tune_kernel *kernel = &t->kernels[k];
        queues[k].count = 0;
        for (size_t s = 0; s < kernel->count && !kernel->skipped[0]; s++)
            if (kernel->shapes[s].verdict == BN_TUNE_UNTRIED)
                queues[k].number[queues[k].count++] = (unsigned short)s;
    }
}

static void decide(bn_tune *t)
{
    for (size_t k = 0; k < t->count; k++) {
        bn_tune_kernel *kernel = &t->kernels[k];
        if (kernel->shapes[0].count == 0 && !kernel->skipped[0])
            snprintf(kernel->skipped, sizeof kernel->skipped, "did not run within the %llu steps that were timed",
                     t->job.steps);
        const size_t least = kernel->shapes[0].count / 2 + 1; /* the hopeless ones have one time */
        kernel->best = bn_tune_fastest(kernel, least);
        for (size_t s = 0; s < kernel->count; s++) {
            bn_tune_candidate *shape = &kernel->shapes[s];
            shape->tied = s != kernel->best && shape->verdict == BN_TUNE_OK && shape->count >= least &&
                          bn_tune_overlap(shape, &kernel->shapes[kernel->best]);
            t->tried += shape->verdict != BN_TUNE_UNTRIED && !kernel->skipped[0];
            t->wrong += shape->verdict == BN_TUNE_WRONG;
            t->failed += shape->verdict == BN_TUNE_FAILED || shape->verdict == BN_TUNE_CRASHED;
        }
        kernel->chosen = kernel->shapes[0].tied ? 0 : kernel->best;
    }
}

/* All chosen shapes together: compared with the reference once more, and timed against the default. */
static bn_status confirm(bn_tune *t)
{
    choice chosen = { { 0 } }, plain = { { 0 } };
    bool any = false;
    for (size_t k = 0; k < t->count; k++) {
        chosen.at[k] = (unsigned short)t->kernels[k].chosen;
        any = any || is_changed(&chosen, k);
    }
    for (int round = 0; round < BN_TUNE_ROUNDS; round++) {
        double before, after = 0;
        BN_TRY(measure(t, &plain, false, false, &before));
        if (any)
            BN_TRY(measure(t, &chosen, true, false, &after));
        if (!(before > 0) || isnan(after))
            return bn_fail(t->cli->ctx, BN_MISMATCH,
                           "the fastest shapes fail when they are used together; nothing was kept");
        t->default_step = fmin(t->default_step, before);
        t->tuned_step = fmin(t->tuned_step, any ? after : before);
    }
    /* Kernels of a microsecond look faster than they make a step. */
    t->no_gain = t->tuned_step > worse * t->default_step;
    for (size_t k = 0; t->no_gain && k < t->count; k++)
        t->kernels[k].chosen = 0;
    return BN_OK;
}

static bn_status sweep(bn_tune *t, const bn_case *c)
{
    const bn_options *o = t->cli->options;
    const double limit = o->full ? 0 : o->quick ? quick_budget : budget, start = bn_seconds_now();
    queue *queues = calloc(BN_TUNE_KERNELS, sizeof *queues);
    bn_status st = BN_OK;
    if (!queues)
        return bn_fail(t->cli->ctx, BN_MEMORY, "no memory for the shapes of %d kernels", (int)BN_TUNE_KERNELS);
    BN_GO(measure_default(t));
    if (!o->kernel && !o->shapes_only) {
        BN_GO(bn_tune_variants(t, c));
        if (t->job.set_count > 0)
            BN_GO(measure_default(t));
    }
    for (int pass = 0; pass < (o->full ? 1 : 2); pass++) { /* coarse, then fine */
        for (size_t k = 0; k < t->count && pass == 1; k++)
            if (!t->kernels[k].skipped[0])
                bn_tune_add_neighbours(t, &t->kernels[k]);
        queue_untried(t, queues);
        BN_GO(measure_queues(t, queues, 1, limit));
    }
    for (size_t k = 0; k < t->count; k++)
        if (t->kernels[k].skipped[0])
            queues[k].count = 0;
        else
            queue_contenders(&t->kernels[k], &queues[k]);
    BN_GO(measure_queues(t, queues, BN_TUNE_ROUNDS - 1, limit));
    decide(t);
    BN_GO(confirm(t));
    t->seconds = bn_seconds_now() - start;
out:
    free(queues);
    return st;
}

static bn_status store(const bn_tune *t)
{
    bn_tuning_entry entries[BN_TUNE_KERNELS + BN_TUNE_VARIANTS];
    size_t count = 0;
    const bn_tuning_key key = { .solver = t->first.solver,
                                .precision = t->first.precision,
                                .device = t->device,
                                .size_class = bn_tuning_size_class(t->points) };
    for (size_t k = 0; k < t->count; k++) {
        const bn_tune_kernel *kernel = &t->kernels[k];
        const bn_tune_candidate *s = &kernel->shapes[kernel->chosen];
        if (!kernel->skipped[0])
            entries[count++] = (bn_tuning_entry){ .name = kernel->info.name,
                                                  .shape = { s->side[0], s->side[1], s->side[2] },
                                                  .seconds = bn_tune_median(s),
                                                  .default_seconds = bn_tune_median(&kernel->shapes[0]) };
    }
    for (size_t i = 0; i < t->variant_count && count > 0; i++)
        if (t->variants[i].chosen)
            entries[count++] = (bn_tuning_entry){ .name = t->variants[i].of->key,
                                                  .value = t->variants[i].value,
                                                  .seconds = bn_tune_median(&t->variants[i].times),
                                                  .default_seconds = bn_tune_median(&t->plain) };
    return count ? bn_tuning_store(t->cli->ctx, &key, entries, count) : BN_OK;
}

bn_status bn_cli_tune(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    if (o->child)
        return bn_tune_child(cli);
    static bn_tune t; /* hundreds of kilobytes */
    t = (bn_tune){ .cli = cli, .default_step = HUGE_VAL, .tuned_step = HUGE_VAL };
    const bn_device_info *devices = NULL;
    size_t found = 0, index = 0, count = 0;
    bn_case *c = NULL;
    bn_status st = BN_OK;
    BN_GO(bn_tune_case(cli, NULL, 0, &c)); /* its errors are reported before anything else happens */
    BN_GO(bn_devices(cli->ctx, &devices, &found));
    BN_GO(bn_device_select(cli->ctx, o->run.device, &index, 1, &count, NULL));
    if (count > 1)
        BN_GO(bn_fail(cli->ctx, BN_USAGE, "tune takes one device at a time, --device %s names %zu", o->run.device,
                      count));
    t.device = &devices[index];
    t.kernels = calloc(BN_TUNE_KERNELS, sizeof *t.kernels);
    t.out = o->run.out ? bn_path_join("", o->run.out) : bn_output_dir_default(bn_case_path(c), ".tune");
    if (!t.kernels)
        BN_GO(bn_fail(cli->ctx, BN_MEMORY, "no memory for the times of %d kernels", (int)BN_TUNE_KERNELS));
    BN_GO(bn_directory_create(cli->ctx, t.out.text));
    BN_GO(sweep(&t, c));
    BN_GO(bn_tune_write(&t));
    BN_GO(store(&t));
    BN_GO(bn_tune_print(&t));
out:
    bn_child_release(&t.child);
    bn_case_destroy(&c);
    free(t.kernels);
    return st;
}
