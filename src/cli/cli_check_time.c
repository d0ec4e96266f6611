/* cli_check_time.c: `binnacle check --measure`: times some steps of the case as `run` would do them, within some
 * seconds and in a child process, since a driver may hang, and estimates the time of all steps. No files are written.
 */
#include "cli/cli_check_time.h"

#include "cli/cli_text.h"
#include "output/progress.h"
#include "run/child.h"
#include "sim/scaling.h"
#include "sim/sim_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double steps_for = 3;    /* [s] that steps are measured */
static const double patience = 30;    /* [s] that the process may take, building kernels included */
static const double noticeable = 1.5; /* ratio of the times of later and earlier steps that is worth a word */

/* --- the child --- */

/* Steps done, what all but the first took, and what one took in the last batch and in the batch before it. The first is
 * not among them: drivers build kernels at their first launch. */
typedef struct batches {
    double steps, first, seconds, each, before;
} batches;

/* As in a run, the residuals of most steps need not be known. */
static bn_status run_batch(bn_sim *sim, unsigned long long most, double *steps, double *seconds)
{
    const double start = bn_seconds_now();
    const unsigned long long every = (unsigned long long)bn_case_int(bn_sim_case(sim), "output.series_every");
    unsigned long long count = 0;
    for (; count < most && !bn_sim_done(sim); count++) {
        bn_sim_quiet(sim, count + 1 < most && (bn_sim_now(sim).step + 1) % every != 0);
        BN_TRY(bn_sim_step(sim));
    }
    BN_TRY(bn_sim_finish(sim));
    *steps += (double)count;
    *seconds = bn_seconds_now() - start;
    return BN_OK;
}

static bn_status say(bn_context *ctx, json_t *line)
{
    char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
    json_decref(line);
    if (!text)
        return bn_fail(ctx, BN_MEMORY, "no memory for a measurement");
    printf("%s\n", text);
    fflush(stdout);
    free(text);
    return BN_OK;
}

static bn_status say_steps(bn_context *ctx, bn_sim *sim, const batches *b)
{
    return say(ctx, json_pack("{s:f, s:f, s:f, s:f, s:o, s:f, s:f, s:b}", "steps", b->steps, "first", b->first,
                              "seconds", b->seconds, "each", b->each, "before", bn_json_real(b->before), "time",
                              bn_sim_now(sim).time, "dt", bn_sim_last_step(sim)->dt, "done", bn_sim_done(sim)));
}

/* The first step by itself; then batches, each twice as long as the one before: the last one is about half of all. */
static bn_status run_steps(bn_context *ctx, bn_sim *sim)
{
    batches b = { .before = (double)NAN };
    unsigned long long most = 1;
    BN_TRY(run_batch(sim, 1, &b.steps, &b.first));
    b.each = b.first;
    BN_TRY(say_steps(ctx, sim, &b));
    while (b.seconds < steps_for && !bn_sim_done(sim)) {
        const double done = b.steps;
        double seconds;
        BN_TRY(run_batch(sim, most, &b.steps, &seconds));
        b.before = done > 1 ? b.each : (double)NAN;
        b.each = seconds / (b.steps - done);
        b.seconds += seconds;
        const double rest = (steps_for - b.seconds) / b.each; /* steps that there is time for */
        most = rest < 1 ? 1 : rest < 2 * (double)most ? (unsigned long long)rest : 2 * most;
    }
    return say_steps(ctx, sim, &b);
}

bn_status bn_check_child(const bn_cli *cli)
{
    const bn_options *o = cli->options;
    const double begin = bn_seconds_now();
    bn_case *c = NULL;
    bn_device *device = NULL;
    bn_sim *sim = NULL;
    char name[96], text[128], room[BN_SCALING_SELECTOR];
    const char *selector = o->run.device;
    bn_status st = BN_OK;
    BN_GO(bn_case_read(cli->ctx, o->args[0], o->set, o->set_count, &c));
    BN_GO(bn_scaling_select(cli->ctx, c, &selector, room, NULL));
    BN_GO(bn_device_open(cli->ctx, selector, false, &device));
    BN_GO(bn_sim_create(cli->ctx, c, &(bn_sim_desc){ .device = device, .tuned = true }, &sim));
    BN_GO(bn_sim_finish(sim));
    snprintf(name, sizeof name, "%s", bn_device_describe(device)->name);
    if (bn_device_global_count(device) > 1)
        snprintf(text, sizeof text, "%zu devices, the first %s", bn_device_global_count(device), name);
    else
        snprintf(text, sizeof text, "%s", name);
    BN_GO(say(cli->ctx, json_pack("{s:o, s:f}", "device", bn_json_text(text), "setup", bn_seconds_now() - begin)));
    BN_GO(run_steps(cli->ctx, sim));
out:
    bn_sim_destroy(&sim);
    bn_device_close(&device);
    bn_case_destroy(&c);
    return st;
}

/* --- output --- */

double bn_check_steps(const bn_plan *p, const bn_case *c, double done, double time, double dt, const char **end)
{
    const double stop_time = bn_case_real(c, "stop.time");
    double steps = bn_plan_most_steps(p, c);
    *end = "stop.steps";
    if (p->course.steps > 0 && p->course.steps <= steps) {
        steps = p->course.steps;
        *end = "the case";
    }
    const double by_time = stop_time > 0 && dt > 0 ? done + ceil((stop_time - time) / dt * (1 - 1e-9)) : HUGE_VAL;
    if (by_time < steps) {
        steps = fmax(by_time, done);
        *end = "stop.time";
    }
    return steps;
}

/* Parses the child's output line by line: a driver may have printed lines, too. */
static json_t *hear(char *said)
{
    json_t *all = json_object();
    for (char *line = said, *next; line; line = next) {
        if ((next = strchr(line, '\n')) != NULL)
            *next++ = '\0';
        json_t *row = line[0] == '{' ? json_loads(line, 0, NULL) : NULL;
        if (row)
            json_object_update(all, row);
        json_decref(row);
    }
    return all;
}

static void conclude(const bn_plan *p, const bn_case *c, const json_t *said, bn_check_time *t)
{
    const char *device = json_string_value(json_object_get(said, "device"));
    snprintf(t->device, sizeof t->device, "%s", device ? device : "");
    t->setup = bn_json_number(said, "setup");
    t->steps = bn_json_number(said, "steps");
    t->first = bn_json_number(said, "first");
    t->seconds = bn_json_number(said, "seconds");
    t->each = bn_json_number(said, "each");
    t->each_earlier = bn_json_number(said, "before");
    t->ended = json_is_true(json_object_get(said, "done"));
    const double done = t->steps > 0 ? t->steps : 0, dt = bn_json_number(said, "dt");
    t->run_steps = t->ended ? t->steps : bn_check_steps(p, c, done, bn_json_number(said, "time"), dt, &t->end);
    t->open = p->course.tolerance > 0 && !t->ended;
    t->total = t->first + t->seconds + (t->ended ? 0 : (t->run_steps - t->steps) * t->each);
}

bn_status bn_check_measure(const bn_cli *cli, const bn_plan *p, const bn_case *c, bn_check_time *t)
{
    const bn_options *o = cli->options;
    bn_child child = { 0 };
    json_t *said = NULL;
    size_t n = 0;
    bn_status st = BN_OK;
    *t = (bn_check_time){ .limit = patience };
    const char **arguments = calloc(2 * o->set_count + 8, sizeof *arguments);
    if (!arguments)
        return bn_fail(cli->ctx, BN_MEMORY, "no memory to start a process");
    const char *const fixed[] = { cli->program, "check", o->args[0], "--child" };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        arguments[n++] = fixed[i];
    for (size_t i = 0; i < o->set_count; i++)
        arguments[n++] = "--set", arguments[n++] = o->set[i];
    if (o->run.device)
        arguments[n++] = "--device", arguments[n++] = o->run.device;
    BN_GO(bn_child_run(cli->ctx, cli->stop, arguments, patience, &child));
    said = hear(child.said);
    t->hung = child.end == BN_CHILD_HUNG;
    if (child.end == BN_CHILD_CRASHED)
        st = bn_fail(cli->ctx, BN_DEVICE, "the process that measured steps of the case died of signal %d", child.code);
    else if (child.end == BN_CHILD_EXITED && child.code != 0)
        st = bn_fail(cli->ctx, bn_child_status(child.code), "no step of the case could be measured, as told above");
    else
        conclude(p, c, said, t);
out:
    json_decref(said);
    bn_child_release(&child);
    free(arguments);
    return st;
}

void bn_check_time_print(const bn_check_time *t)
{
    char total[BN_SHORT_TEXT];
    if (t->hung && !(t->setup >= 0)) {
        printf("time: not known: to build the kernels and fill the fields took more than %.0f s\n", t->limit);
        return;
    }
    printf("time on %s: ", t->device);
    if (t->hung && !(t->first >= 0)) { /* at least: every step as long as the first had already taken */
        bn_text_seconds(total, t->run_steps * (t->limit - t->setup));
        printf("more than %s: the first of at most %.0f steps (%s) had not ended after %.0f s\n", total, t->run_steps,
               t->end, t->limit - t->setup);
        return;
    }
    bn_text_seconds(total, t->total);
    if (t->ended)
        printf("%s for all %.0f steps, which were run", total, t->steps);
    else if (t->open)
        printf("%.3g s a step, at most %s for %.0f steps (%s): how many it takes to converge is not known before",
               t->each, total, t->run_steps, t->end);
    else
        printf("about %s for %.0f steps (%s)", total, t->run_steps, t->end);
    printf("\n  measured: the first step in %.3g s, %.0f more in %.3g s, after %.3g s for kernels and fields; files to "
           "write "
           "come on top\n",
           t->first, t->steps - 1, t->seconds, t->setup);
    const double ratio = t->each / t->each_earlier;
    if (!t->ended && (ratio > noticeable || ratio < 1 / noticeable))
        printf("  later steps took %.2g times as long as earlier ones: the rest may differ still more\n", ratio);
}

json_t *bn_check_time_json(const bn_check_time *t)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o}", "device", bn_json_text(t->device),
                     "setup_seconds", bn_json_real(t->setup), "first_step_seconds", bn_json_real(t->first),
                     "measured_steps", bn_json_real(t->steps), "measured_seconds", bn_json_real(t->seconds),
                     "seconds_per_step", bn_json_real(t->each), "ended", (int)t->ended, "until_converged", (int)t->open,
                     "steps", bn_json_real(t->run_steps), "seconds", bn_json_real(t->total));
}
