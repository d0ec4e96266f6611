/* cli_tune.c: `binnacle tune`: which shapes are tried, in what order, and which one is taken. The measuring is done by
 * child processes (cli_tune_child.c). Kernels do not disturb each other in the queue, so one measurement gives every
 * kernel another of its shapes. */
#include "cli/cli_tune.h"

#include "cli/commands.h"
#include "io/file.h"
#include "output/output_dir.h"
#include "output/progress.h"
#include "sim/tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    COARSE_MOST = 24,
    QUICK_MOST = 10,
    CONTENDERS = 6,
    ALWAYS = 4,
    STEPS_MOST = 50,
    STEPS_LEAST = 2,
    JOB_SECONDS = 120,
    WARM_STEPS = 2
};
static const double budget = 60;       /* [s] of each of the three parts of a sweep, without --full */
static const double quick_budget = 6;  /* the same with --quick */
static const double measurement = 0.2; /* [s] of timed steps, about */
static const double worse = 1.03;      /* times the default's step: the default stays */
static const double hopeless = 1.3;    /* times the best: not measured again */

/* A measurement to be made: the shape of each kernel, 0 being the default, IDLE too, but without taking its time. */
enum { IDLE = 0xffff };
typedef struct job {
    unsigned short at[BN_TUNE_KERNELS];
    bool reference; /* compare with the CPU reference whatever the bits */
} job;

typedef struct job_list {
    job *jobs;
    size_t count, room;
} job_list;

static bool is_changed(const job *j, size_t kernel) { return j->at[kernel] > 0 && j->at[kernel] != IDLE; }

static bn_status add_job(bn_context *ctx, job_list *list, const job *j)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 64;
        job *grown = realloc(list->jobs, room * sizeof *grown);
        if (!grown)
            return bn_fail(ctx, BN_MEMORY, "no memory for %zu measurements", room);
        list->jobs = grown;
        list->room = room;
    }
    list->jobs[list->count++] = *j;
    return BN_OK;
}

void bn_tune_shape_text(char text[48], const size_t side[3])
{
    snprintf(text, 48, "%zux%zux%zu", side[0], side[1], side[2]);
}

double bn_tune_median(const bn_tune_shape *s)
{
    if (s->count == 0)
        return (double)NAN;
    return s->count % 2 ? s->seconds[s->count / 2] : 0.5 * (s->seconds[s->count / 2 - 1] + s->seconds[s->count / 2]);
}

double bn_tune_spread(const bn_tune_shape *s)
{
    return s->count > 1 ? (s->seconds[s->count - 1] - s->seconds[0]) / bn_tune_median(s) : (double)NAN;
}

/* Keeps the times ascending. */
static void record(bn_tune_shape *s, double seconds)
{
    if (s->count == BN_TUNE_ROUNDS)
        return;
    size_t at = s->count++;
    for (; at > 0 && s->seconds[at - 1] > seconds; at--)
        s->seconds[at] = s->seconds[at - 1];
    s->seconds[at] = seconds;
}

/* ------------------------------------------------------------------------------------------ which shapes */

static void add_shape(bn_tune_kernel *k, size_t x, size_t y, size_t z)
{
    for (size_t i = 0; i < k->count; i++)
        if (k->shapes[i].side[0] == x && k->shapes[i].side[1] == y && k->shapes[i].side[2] == z)
            return;
    if (k->count < BN_TUNE_SHAPES)
        k->shapes[k->count++] = (bn_tune_shape){ .side = { x, y, z } };
}

static size_t power_above(size_t n)
{
    size_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

/* Whether a group of that shape makes sense and is allowed. */
static bool allowed(const bn_tune *t, const bn_tune_kernel *k, const size_t side[3])
{
    if (side[0] * side[1] * side[2] > k->largest)
        return false;
    for (int d = 0; d < 3; d++) {
        const size_t most = k->range != BN_PER_CELL ? (d ? 1 : SIZE_MAX) : d < t->dims ? power_above(t->n[d]) : 1;
        if (side[d] < 1 || side[d] > t->device->max_work_item[d] || (side[d] > most && side[d] > 1))
            return false;
    }
    return true;
}

static int log2_of(size_t n)
{
    int l = 0;
    while (n >>= 1)
        l++;
    return l;
}

/* Groups of 256 in rows are right for most kernels: how far a shape is from that, the nearest being tried first.
 * Products of the multiple that the device prefers come before all others. */
static int distance(const bn_tune_kernel *k, const size_t side[3])
{
    const size_t items = side[0] * side[1] * side[2];
    return (items % k->multiple ? 100 : 0) + 2 * abs(log2_of(items) - 8) + abs(log2_of(side[0]) - 6) +
           2 * log2_of(side[2]);
}

/* Shapes with sides that are powers of two: all of them, or the most promising. */
static void choose_shapes(const bn_tune *t, bn_tune_kernel *k)
{
    const bn_options *o = t->cli->options;
    const bool full = o->full;
    const size_t most = k->range == BN_PER_BLOCK && k->largest > BN_BLOCK_NX ? BN_BLOCK_NX : k->largest;
    const size_t room = full ? BN_TUNE_SHAPES : o->quick ? QUICK_MOST : COARSE_MOST;
    for (int wanted = 0; wanted < 200 && k->count < room; wanted++)
        for (size_t z = 1; z <= most; z *= 2)
            for (size_t y = 1; y * z <= most; y *= 2)
                for (size_t x = 1; x * y * z <= most; x *= 2) {
                    const size_t side[3] = { x, y, z };
                    if (distance(k, side) == wanted && (full || x * y * z <= 1024) && allowed(t, k, side) &&
                        k->count < room)
                        add_shape(k, x, y, z);
                }
}

/* The fastest that was measured so often; 0, the default, when there is no other. */
static size_t fastest(const bn_tune_kernel *k, size_t least)
{
    size_t best = 0;
    for (size_t s = 0; s < k->count; s++)
        if (k->shapes[s].verdict == BN_TUNE_OK && k->shapes[s].count >= least &&
            !(bn_tune_median(&k->shapes[best]) <= bn_tune_median(&k->shapes[s])))
            best = s;
    return best;
}

/* Coarse to fine: what lies beside the fastest shape in any direction. */
static void add_neighbours(const bn_tune *t, bn_tune_kernel *k)
{
    const size_t *best = k->shapes[fastest(k, 1)].side;
    const size_t most = k->range == BN_PER_BLOCK && k->largest > BN_BLOCK_NX ? BN_BLOCK_NX : k->largest;
    size_t from[3] = { best[0], best[1], best[2] };
    for (int up = -1; up < 3; up++)
        for (int down = -1; down < 3; down++) {
            size_t side[3] = { from[0], from[1], from[2] };
            if (down >= 0 && side[down] % 2)
                continue;
            if (up >= 0)
                side[up] *= 2;
            if (down >= 0)
                side[down] /= 2;
            if (allowed(t, k, side) && side[0] * side[1] * side[2] <= most)
                add_shape(k, side[0], side[1], side[2]);
        }
}

/* ------------------------------------------------------------------------------------------ measurements */

static json_t *job_json(const bn_tune *t, const job *j, size_t index)
{
    json_t *groups = json_object();
    for (size_t k = 0; k < t->count; k++) {
        if (!is_changed(j, k))
            continue;
        const size_t *side = t->kernels[k].shapes[j->at[k]].side;
        json_object_set_new(groups, t->kernels[k].name,
                            json_pack("[I,I,I]", (json_int_t)side[0], (json_int_t)side[1], (json_int_t)side[2]));
    }
    return json_pack("{s:I, s:b, s:o}", "job", (json_int_t)index, "reference", (int)j->reference, "groups", groups);
}

/* Runs jobs [first, count) in a child; *answer gets its lines as an array, *child how it ended. */
static bn_status ask_child(const bn_tune *t, const job_list *list, const bool *done, double seconds, json_t **answer,
                           bn_child *child)
{
    const bn_options *o = t->cli->options;
    bn_context *ctx = t->cli->ctx;
    char index[32], *path = bn_path_join(t->out, ".plan.json"), *text = NULL;
    const size_t room = 2 * (o->set_count + t->extra_count) + 16;
    const char **arguments = calloc(room, sizeof *arguments);
    size_t n = 0, asked = 0;
    json_t *jobs = json_array();
    json_t *plan = json_pack("{s:I, s:I, s:s, s:s, s:f, s:O}", "warm", (json_int_t)t->warm, "steps",
                             (json_int_t)t->steps, "hash_warm", t->hash_warm, "hash_end", t->hash_end, "seconds",
                             seconds, "jobs", jobs);
    bn_status st = BN_OK;
    *child = (bn_child){ 0 };
    for (size_t j = 0; j < list->count; j++)
        if (!done[j] && json_array_append_new(jobs, job_json(t, &list->jobs[j], j)) == 0)
            asked++;
    *answer = json_array();
    if (!path || !arguments || !plan || !*answer || !(text = json_dumps(plan, JSON_COMPACT))) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for the plan of a child process");
        goto out;
    }
    BN_GO(bn_file_write(ctx, path, text, strlen(text)));
    snprintf(index, sizeof index, "%zu", t->device->index);
    const char *const fixed[] = { t->cli->program, "tune", o->args[0], "--child", "--plan", path, "--device", index };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        arguments[n++] = fixed[i];
    for (size_t i = 0; i < o->set_count; i++)
        arguments[n++] = "--set", arguments[n++] = o->set[i];
    for (size_t i = 0; i < t->extra_count; i++)
        arguments[n++] = "--set", arguments[n++] = t->extra[i];
    arguments[n++] = "--set", arguments[n++] = "stop.steps=1000000000"; /* the last one counts */
    if (o->quiet)
        arguments[n++] = "--quiet";
    BN_GO(bn_child_run(ctx, t->cli->stop, arguments, JOB_SECONDS * (double)(asked + 4), child));
    for (char *line = child->said, *next; line; line = next) {
        if ((next = strchr(line, '\n')) != NULL)
            *next++ = '\0';
        json_t *row = line[0] == '{' ? json_loads(line, 0, NULL) : NULL; /* a driver may print things too */
        if (row)
            json_array_append_new(*answer, row);
    }
out:
    if (path)
        (void)unlink(path);
    free(path);
    free(text);
    free(arguments);
    json_decref(plan);
    json_decref(jobs);
    return st;
}

/* Number of kernels that a job gives another shape than the default; *kernel is the last of them. */
static size_t changed(const bn_tune *t, const job *j, size_t *kernel)
{
    size_t count = 0;
    for (size_t k = 0; k < t->count; k++)
        if (is_changed(j, k))
            *kernel = k, count++;
    return count;
}

/* A shape did not do. One that was blamed together with others is tried alone. */
static bn_status blame(bn_tune *t, const job *j, bn_tune_verdict verdict, const char *why, job_list *again)
{
    size_t kernel = 0;
    if (changed(t, j, &kernel) == 1) {
        bn_tune_shape *s = &t->kernels[kernel].shapes[j->at[kernel]];
        s->verdict = verdict;
        snprintf(s->why, sizeof s->why, "%.*s", (int)strcspn(why, "\n"), why);
        return BN_OK;
    }
    for (size_t k = 0; k < t->count; k++)
        if (is_changed(j, k)) {
            job alone = { .reference = j->reference };
            memset(alone.at, 0xff, sizeof alone.at);
            alone.at[k] = j->at[k];
            BN_TRY(add_job(t->cli->ctx, again, &alone));
        }
    return BN_OK;
}

static bn_status take_row(bn_tune *t, const job *j, const json_t *row, job_list *again)
{
    const bn_status st = (bn_status)json_integer_value(json_object_get(row, "status"));
    const char *error = json_string_value(json_object_get(row, "error"));
    const json_t *rows = json_object_get(row, "kernels");
    if (st != BN_OK)
        return blame(t, j, st == BN_MISMATCH || st == BN_DIVERGED ? BN_TUNE_WRONG : BN_TUNE_FAILED,
                     error ? error : "no reason given", again);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *r = json_array_get(rows, i);
        const char *name = json_string_value(json_object_get(r, "kernel"));
        const double calls = json_number_value(json_object_get(r, "calls"));
        for (size_t k = 0; k < t->count && name && calls > 0; k++) {
            if (j->at[k] == IDLE || strcmp(t->kernels[k].name, name) != 0)
                continue;
            bn_tune_shape *s = &t->kernels[k].shapes[j->at[k]];
            bool same = true;
            for (size_t d = 0; d < 3; d++)
                same = same && s->side[d] == (size_t)json_integer_value(json_array_get(json_object_get(r, "group"), d));
            if (!same) {
                s->verdict = BN_TUNE_FAILED;
                snprintf(s->why, sizeof s->why, "the device can't run it in this shape");
                continue;
            }
            s->verdict = BN_TUNE_OK;
            record(s, json_number_value(json_object_get(r, "seconds")) / calls);
        }
    }
    const double step = json_number_value(json_object_get(row, "step_seconds"));
    size_t kernel;
    double *least = changed(t, j, &kernel) == 0 ? &t->default_step : j->reference ? &t->tuned_step : NULL;
    const char *end = json_string_value(json_object_get(row, "hash_end"));
    if (changed(t, j, &kernel) == 0 && end)
        snprintf(t->hash_end, sizeof t->hash_end, "%s", end);
    if (least && step > 0 && !(*least < step))
        *least = step;
    return BN_OK;
}

/* Does the jobs, in as many children as crashes make necessary. */
static bn_status do_jobs(bn_tune *t, const job_list *list, double seconds, job_list *again)
{
    bool *done = calloc(list->count + 1, sizeof *done);
    bn_status st = BN_OK;
    const double start = bn_seconds_now();
    for (bool more = done && list->count > 0; more && st == BN_OK;) {
        json_t *answer = NULL;
        bn_child child;
        more = false;
        const double left = seconds > 0 ? fmax(1e-3, seconds - (bn_seconds_now() - start)) : 0;
        st = ask_child(t, list, done, left, &answer, &child);
        for (size_t i = 0; i < json_array_size(answer) && st == BN_OK; i++) {
            const json_t *row = json_array_get(answer, i), *number = json_object_get(row, "job");
            const size_t j = (size_t)json_integer_value(number);
            if (json_is_integer(number) && j < list->count && !done[j]) {
                done[j] = true;
                st = take_row(t, &list->jobs[j], row, again);
            }
        }
        if (st == BN_OK && (child.end != BN_CHILD_EXITED || child.code != 0)) {
            char why[64];
            size_t j = 0;
            while (j < list->count && done[j])
                j++;
            snprintf(why, sizeof why, "%s (%s %d)", child.end == BN_CHILD_HUNG ? "hung" : "crashed",
                     child.end == BN_CHILD_EXITED ? "exit" : "signal", child.code);
            if (j < list->count) {
                done[j] = more = true;
                st = blame(t, &list->jobs[j], BN_TUNE_CRASHED, why, again);
            }
        }
        bn_child_release(&child);
        json_decref(answer);
    }
    if (!done)
        st = bn_fail(t->cli->ctx, BN_MEMORY, "no memory for %zu measurements", list->count);
    free(done);
    return st;
}

/* The jobs, and then alone what failed together with others. */
static bn_status sweep(bn_tune *t, job_list *list, double seconds)
{
    job_list again = { 0 }, none = { 0 };
    bn_status st = do_jobs(t, list, seconds, &again);
    if (st == BN_OK && again.count > 0)
        st = do_jobs(t, &again, seconds, &none);
    free(again.jobs);
    free(none.jobs);
    list->count = 0;
    return st;
}

/* ------------------------------------------------------------------------------------------ the sweep */

static const char *unfit(const bn_tune *t, const json_t *row, char why[BN_TUNE_WHY])
{
    const bn_range range = (bn_range)json_integer_value(json_object_get(row, "range"));
    const unsigned long long local = (unsigned long long)json_integer_value(json_object_get(row, "local_bytes"));
    why[0] = '\0';
    if (local > t->device->local_bytes)
        snprintf(why, BN_TUNE_WHY, "needs %llu bytes of local memory, the device has %llu", local,
                 (unsigned long long)t->device->local_bytes);
    else if (json_integer_value(json_object_get(row, "calls")) == 0)
        return NULL; /* the case does not use it */
    else if (range == BN_PER_TILE)
        snprintf(why, BN_TUNE_WHY, "made for work-groups of %d x %d", (int)BN_TILE_X, (int)BN_TILE_Y);
    else if (range == BN_ONCE)
        return NULL; /* one work-group: nothing to gain */
    return why;
}

/* Fills in what the first measurement tells: grid, kernels, number of steps, the hash that others have to meet. */
static bn_status take_default(bn_tune *t, const json_t *row)
{
    bn_context *ctx = t->cli->ctx;
    const char *only = t->cli->options->kernel;
    const json_t *rows = json_object_get(row, "kernels");
    const double step = json_number_value(json_object_get(row, "step_seconds"));
    snprintf(t->solver, sizeof t->solver, "%s", json_string_value(json_object_get(row, "solver")));
    snprintf(t->precision, sizeof t->precision, "%s", json_string_value(json_object_get(row, "precision")));
    snprintf(t->hash_warm, sizeof t->hash_warm, "%s", json_string_value(json_object_get(row, "hash_warm")));
    t->dims = (int)json_integer_value(json_object_get(row, "dims"));
    t->points = 1;
    for (size_t d = 0; d < 3; d++) {
        t->n[d] = (size_t)json_integer_value(json_array_get(json_object_get(row, "n"), d));
        t->points *= (double)t->n[d];
    }
    const double fit = measurement / fmax(step, 1e-9), most = json_number_value(json_object_get(row, "steps"));
    t->steps = (unsigned long long)fmax(1, fmin(fmin(STEPS_MOST, most), fmax(STEPS_LEAST, fit)));
    if (!(most > 0))
        return bn_fail(ctx, BN_USAGE, "the case ends after %llu steps: too few to time anything", t->warm);
    for (size_t i = 0; i < json_array_size(rows) && t->count < BN_TUNE_KERNELS; i++) {
        const json_t *r = json_array_get(rows, i);
        const char *name = json_string_value(json_object_get(r, "kernel"));
        char why[BN_TUNE_WHY];
        const char *skipped = unfit(t, r, why);
        if (!skipped || (only && strcmp(only, name) != 0))
            continue;
        bn_tune_kernel *k = &t->kernels[t->count++];
        snprintf(k->name, sizeof k->name, "%s", name);
        snprintf(k->skipped, sizeof k->skipped, "%s", skipped);
        k->range = (bn_range)json_integer_value(json_object_get(r, "range"));
        k->calls = (unsigned long long)json_integer_value(json_object_get(r, "calls"));
        k->largest = (size_t)json_integer_value(json_object_get(r, "largest"));
        k->multiple = (size_t)json_integer_value(json_object_get(r, "multiple"));
        k->local_bytes = (uint64_t)json_integer_value(json_object_get(r, "local_bytes"));
        size_t side[3];
        for (size_t d = 0; d < 3; d++)
            side[d] = (size_t)json_integer_value(json_array_get(json_object_get(r, "group"), d));
        add_shape(k, side[0], side[1], side[2]);
        if (!skipped[0])
            choose_shapes(t, k);
    }
    if (t->count == 0 && only)
        return bn_fail(ctx, BN_USAGE,
                       "the case runs no kernel %s whose work-group can be chosen (run --profile lists them)", only);
    return t->count ? BN_OK : bn_fail(ctx, BN_USAGE, "the case runs no kernel whose work-group can be chosen");
}

bn_status bn_tune_measure_plain(const bn_tune *t, bool reference, json_t **answer, bn_child *child)
{
    job plain = { .reference = reference };
    const job_list list = { .jobs = &plain, .count = 1, .room = 1 };
    const bool done[1] = { false };
    return ask_child(t, &list, done, 0, answer, child);
}

/* The default shapes first: checked against the reference, since everything else is compared with them. */
static bn_status measure_default(bn_tune *t)
{
    bn_context *ctx = t->cli->ctx;
    t->count = 0;
    t->steps = 0;
    t->hash_warm[0] = '\0';
    json_t *answer = NULL;
    bn_child child = { 0 };
    bn_status st = BN_OK;
    BN_GO(bn_tune_measure_plain(t, true, &answer, &child));
    const json_t *row = json_array_get(answer, json_array_size(answer) ? json_array_size(answer) - 1 : 0);
    const char *error = json_string_value(json_object_get(row, "error"));
    if (child.end != BN_CHILD_EXITED || !row) {
        st = bn_fail(ctx, BN_DEVICE, "%s (driver %s) %s over %s with the default work-groups (%d)", t->device->name,
                     t->device->driver, child.end == BN_CHILD_HUNG ? "hung" : "crashed", t->cli->options->args[0],
                     child.code);
        bn_note(ctx, "another driver version may help; --device picks another device");
    } else if (child.code != 0)
        st = bn_fail(ctx, bn_child_status(child.code), "%s", error ? error : "no reason given");
    else if (json_integer_value(json_object_get(row, "status")) != BN_OK) {
        st = bn_fail(ctx, (bn_status)json_integer_value(json_object_get(row, "status")), "%s", error);
        bn_note(ctx, "with the default work-groups on %s", t->device->name);
    } else
        st = take_default(t, row);
out:
    bn_child_release(&child);
    json_decref(answer);
    return st;
}

/* Jobs that give kernel k its shapes [from[k], count), one after the other. */
static bn_status queue_shapes(bn_tune *t, job_list *list, const size_t from[BN_TUNE_KERNELS])
{
    for (size_t i = 0;; i++) {
        job j = { .reference = false };
        size_t kernel;
        for (size_t k = 0; k < t->count; k++)
            j.at[k] = !t->kernels[k].skipped[0] && from[k] + i < t->kernels[k].count ? (unsigned short)(from[k] + i)
                                                                                     : IDLE;
        if (changed(t, &j, &kernel) == 0)
            return BN_OK;
        BN_TRY(add_job(t->cli->ctx, list, &j));
    }
}

/* The default and the fastest few of a kernel; how many. A first time may have been disturbed: some are always taken.
 */
static size_t contenders(const bn_tune_kernel *k, size_t out[CONTENDERS])
{
    size_t count = 0;
    out[count++] = 0;
    const double limit = hopeless * bn_tune_median(&k->shapes[fastest(k, 1)]);
    while (count < CONTENDERS) {
        size_t next = 0;
        for (size_t s = 1; s < k->count; s++) {
            bool taken = k->shapes[s].verdict != BN_TUNE_OK ||
                         (count >= ALWAYS && !(bn_tune_median(&k->shapes[s]) <= limit));
            for (size_t c = 0; c < count; c++)
                taken = taken || out[c] == s;
            if (!taken && (next == 0 || bn_tune_median(&k->shapes[s]) < bn_tune_median(&k->shapes[next])))
                next = s;
        }
        if (next == 0)
            break;
        out[count++] = next;
    }
    return count;
}

/* Interleaved: each round takes every contender once. */
static bn_status queue_rounds(bn_tune *t, job_list *list)
{
    for (int round = 1; round < BN_TUNE_ROUNDS; round++)
        for (size_t i = 0; i < CONTENDERS; i++) {
            job j = { .reference = false };
            size_t kernel;
            for (size_t k = 0; k < t->count; k++) {
                size_t who[CONTENDERS];
                const size_t count = t->kernels[k].skipped[0] ? 0 : contenders(&t->kernels[k], who);
                j.at[k] = i < count ? (unsigned short)who[i] : IDLE;
            }
            if (i == 0 || changed(t, &j, &kernel) > 0)
                BN_TRY(add_job(t->cli->ctx, list, &j));
        }
    return BN_OK;
}

bool bn_tune_overlap(const bn_tune_shape *a, const bn_tune_shape *b)
{
    const size_t cut_a = a->count >= 4, cut_b = b->count >= 4;
    return a->count > 0 && b->count > 0 && a->seconds[cut_a] <= b->seconds[b->count - 1 - cut_b] &&
           b->seconds[cut_b] <= a->seconds[a->count - 1 - cut_a];
}

static void decide(bn_tune *t)
{
    for (size_t k = 0; k < t->count; k++) {
        bn_tune_kernel *kernel = &t->kernels[k];
        if (kernel->shapes[0].count == 0 && !kernel->skipped[0])
            snprintf(kernel->skipped, sizeof kernel->skipped, "did not run within the %llu steps that were timed",
                     t->steps);
        const size_t least = kernel->shapes[0].count / 2 + 1; /* the hopeless ones have one time */
        kernel->best = fastest(kernel, least);
        for (size_t s = 0; s < kernel->count; s++) {
            bn_tune_shape *shape = &kernel->shapes[s];
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
    job_list list = { 0 };
    job chosen = { .reference = true }, plain = { .reference = false };
    size_t kernel, wrong = 0;
    for (size_t k = 0; k < t->count; k++)
        chosen.at[k] = (unsigned short)t->kernels[k].chosen;
    t->default_step = t->tuned_step = (double)NAN;
    bn_status st = BN_OK;
    for (int round = 0; round < BN_TUNE_ROUNDS && st == BN_OK; round++) {
        st = add_job(t->cli->ctx, &list, &plain);
        if (st == BN_OK && changed(t, &chosen, &kernel) > 0)
            st = add_job(t->cli->ctx, &list, &chosen);
    }
    job_list again = { 0 };
    if (st == BN_OK)
        st = do_jobs(t, &list, 0, &again);
    wrong = again.count;
    for (size_t k = 0; k < t->count; k++)
        wrong += t->kernels[k].shapes[t->kernels[k].chosen].verdict != BN_TUNE_OK && !t->kernels[k].skipped[0];
    if (st == BN_OK && wrong > 0)
        st = bn_fail(t->cli->ctx, BN_MISMATCH, "the fastest shapes fail when they are used together; nothing was kept");
    if (changed(t, &chosen, &kernel) == 0)
        t->tuned_step = t->default_step;
    /* Kernels of a microsecond look faster than they make a step. */
    t->no_gain = st == BN_OK && t->tuned_step > worse * t->default_step;
    for (size_t k = 0; t->no_gain && k < t->count; k++)
        t->kernels[k].chosen = 0;
    free(list.jobs);
    free(again.jobs);
    return st;
}

static bn_status store(bn_tune *t)
{
    bn_tuning_entry entries[BN_TUNE_KERNELS];
    size_t count = 0;
    const bn_tuning_key key = { .solver = t->solver,
                                .precision = t->precision,
                                .device = t->device,
                                .size_class = bn_tuning_size_class(t->points) };
    for (size_t k = 0; k < t->count; k++) {
        const bn_tune_kernel *kernel = &t->kernels[k];
        const bn_tune_shape *s = &kernel->shapes[kernel->chosen];
        if (!kernel->skipped[0])
            entries[count++] = (bn_tuning_entry){
                .group = { .kernel = kernel->name, .shape = { s->side[0], s->side[1], s->side[2] } },
                .seconds = bn_tune_median(s),
                .default_seconds = bn_tune_median(&kernel->shapes[0]),
            };
    }
    bn_tuning_choice choices[BN_TUNING_CHOICES];
    size_t chosen = 0;
    for (size_t i = 0; i < t->variant_count && chosen < BN_TUNING_CHOICES; i++) {
        const bn_tune_variant *v = &t->variants[i];
        bn_tuning_choice *to = &choices[chosen];
        if (!v->chosen || strlen(v->of->key) >= sizeof to->key || strlen(v->value) >= sizeof to->value)
            continue;
        *to = (bn_tuning_choice){ .seconds = bn_tune_median(&v->times), .default_seconds = bn_tune_median(&t->plain) };
        strcpy(to->key, v->of->key);
        strcpy(to->value, v->value);
        chosen++;
    }
    return count ? bn_tuning_store(t->cli->ctx, &key, entries, count, choices, chosen) : BN_OK;
}

static bn_status run_sweep(bn_tune *t, const bn_case *c)
{
    const bool full = t->cli->options->full;
    const double limit = full ? 0 : t->cli->options->quick ? quick_budget : budget, start = bn_seconds_now();
    size_t from[BN_TUNE_KERNELS];
    job_list list = { 0 };
    bn_status st = BN_OK;
    BN_GO(measure_default(t));
    if (!t->cli->options->kernel && !t->cli->options->shapes_only) {
        BN_GO(bn_tune_variants(t, c));
        if (t->extra_count > 0)
            BN_GO(measure_default(t));
    }
    /* First the default again, over the number of steps that all others get. */
    BN_GO(add_job(t->cli->ctx, &list, &(job){ .reference = false }));
    for (size_t k = 0; k < t->count; k++)
        from[k] = 1;
    BN_GO(queue_shapes(t, &list, from));
    BN_GO(sweep(t, &list, limit));
    for (size_t k = 0; k < t->count; k++) {
        from[k] = t->kernels[k].count;
        if (!full && !t->kernels[k].skipped[0])
            add_neighbours(t, &t->kernels[k]);
    }
    BN_GO(queue_shapes(t, &list, from));
    BN_GO(sweep(t, &list, limit));
    BN_GO(queue_rounds(t, &list));
    BN_GO(sweep(t, &list, limit));
    decide(t);
    BN_GO(confirm(t));
    t->seconds = bn_seconds_now() - start;
out:
    free(list.jobs);
    return st;
}

bn_status bn_cli_tune(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    if (o->child)
        return bn_tune_child(cli);
    bn_tune t = { .cli = cli, .default_step = (double)NAN, .tuned_step = (double)NAN };
    const bn_device_info *devices = NULL;
    size_t found = 0, index = 0, count = 0;
    bn_case *c = NULL;
    bn_status st = BN_OK;
    BN_GO(bn_tune_case(cli, o->set, o->set_count, &c)); /* its errors are told before anything else happens */
    BN_GO(bn_devices(cli->ctx, &devices, &found));
    BN_GO(bn_device_select(cli->ctx, o->device, &index, 1, &count, NULL));
    if (count > 1) {
        st = bn_fail(cli->ctx, BN_USAGE, "tune takes one device at a time, --device %s names %zu", o->device, count);
        goto out;
    }
    t.device = &devices[index];
    t.kernels = calloc(BN_TUNE_KERNELS, sizeof *t.kernels);
    t.out = o->out ? strdup(o->out) : bn_output_dir_default(bn_case_path(c), ".tune");
    if (!t.kernels || !t.out) {
        st = bn_fail(cli->ctx, BN_MEMORY, "no memory for the times of %d kernels", (int)BN_TUNE_KERNELS);
        goto out;
    }
    t.warm = WARM_STEPS;
    BN_GO(bn_output_dir_create(cli->ctx, t.out));
    BN_GO(run_sweep(&t, c));
    BN_GO(bn_tune_write(&t));
    BN_GO(store(&t));
    BN_GO(bn_tune_print(&t));
out:
    bn_case_destroy(&c);
    free(t.kernels);
    free(t.out);
    return st;
}
