/* cli_tune_variant.c: the values of a case's keys that a solver declares to be about speed (bn_variant): each is
 * compared with the reference, and whole steps are timed, in turns with the case as it is. */
#include "cli/cli_tune.h"

#include "api/embedded_files.h"
#include "output/progress.h"
#include "sim/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double budget = 60, quick_budget = 6; /* [s] of all rounds after the first, without --full */

static bool is_new(const bn_tune *t, const char *key, const char *value)
{
    for (size_t i = 0; i < t->variant_count; i++)
        if (strcmp(t->variants[i].of->key, key) == 0 && strcmp(t->variants[i].value, value) == 0)
            return false;
    return true;
}

/* The values that the case could have instead of its own. */
static void list_variants(bn_tune *t, const bn_case *c)
{
    const bn_solver *solver = bn_solver_find(bn_case_solver(c));
    for (const bn_variant *v = solver->variants; v && v->key; v++) {
        char present[BN_CASE_VALUE];
        if ((v->matters && !v->matters(c)) || !bn_case_value(c, v->key, present))
            continue;
        for (const char *at = v->values; *at && t->variant_count < BN_TUNE_VARIANTS;) {
            const size_t length = strcspn(at, "|");
            bn_tune_variant *own = &t->variants[t->variant_count];
            *own = (bn_tune_variant){ .of = v, .open = !bn_case_given(c, v->key) || strcmp(present, "auto") == 0 };
            snprintf(own->value, sizeof own->value, "%.*s", (int)length, at);
            snprintf(own->present, sizeof own->present, "%s", present);
            snprintf(own->set, sizeof own->set, "%s=%.*s", v->key, (int)length, at);
            if (strcmp(own->value, present) != 0 && is_new(t, v->key, own->value))
                t->variant_count++;
            at += length + (at[length] == '|');
        }
    }
}

static void record(bn_tune_shape *s, double seconds)
{
    if (s->count == BN_TUNE_ROUNDS || !(seconds > 0))
        return;
    size_t at = s->count++;
    for (; at > 0 && s->seconds[at - 1] > seconds; at--)
        s->seconds[at] = s->seconds[at - 1];
    s->seconds[at] = seconds;
}

/* Kernels of a measurement that the device can't run; `why` says so of the last one. The case runs without them. */
static size_t count_unfit(const bn_tune *t, const json_t *row, char why[BN_TUNE_WHY])
{
    const json_t *kernels = json_object_get(row, "kernels");
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        const json_t *k = json_array_get(kernels, i);
        const unsigned long long local = (unsigned long long)json_integer_value(json_object_get(k, "local_bytes")),
                                 has = t->device->local_bytes;
        if (!json_is_false(json_object_get(k, "fits")))
            continue;
        const char *name = json_string_value(json_object_get(k, "kernel"));
        count++;
        if (local > has)
            snprintf(why, BN_TUNE_WHY, "%.60s needs %llu bytes of local memory, the device has %llu", name, local, has);
        else
            snprintf(why, BN_TUNE_WHY, "the device has no work-groups large enough for %.60s", name);
    }
    return count;
}

/* One measurement of whole steps in the default work-groups; the first one of a variant is compared with the reference,
 * if it gives other bits than the case as it is. */
static bn_status measure_one(bn_tune *t, bn_tune_variant *v, bn_tune_shape *s)
{
    bn_child child = { 0 };
    json_t *answer = NULL;
    t->extra_count = v ? 1 : 0;
    t->extra[0] = v ? v->set : NULL;
    bn_status st = bn_tune_measure_plain(t, v && s->count == 0, &answer, &child);
    t->extra_count = 0;
    BN_TRY(st);
    const json_t *row = json_array_get(answer, json_array_size(answer) ? json_array_size(answer) - 1 : 0);
    char unfit[BN_TUNE_WHY] = "";
    const char *error = json_string_value(json_object_get(row, "error")),
               *hash = json_string_value(json_object_get(row, "hash_warm"));
    const bn_status how = row ? (bn_status)json_integer_value(json_object_get(row, "status")) : BN_DEVICE;
    if (child.end != BN_CHILD_EXITED || !row) {
        s->verdict = BN_TUNE_CRASHED;
        snprintf(s->why, sizeof s->why, "%s (%s %d)", child.end == BN_CHILD_HUNG ? "hung" : "crashed",
                 child.end == BN_CHILD_EXITED ? "exit" : "signal", child.code);
    } else if (count_unfit(t, row, unfit) > t->unfit && v) { /* whatever ran instead of it */
        s->verdict = BN_TUNE_SKIPPED;
        snprintf(s->why, sizeof s->why, "%s", unfit);
    } else if (child.code != 0 || how != BN_OK) {
        s->verdict = how == BN_MISMATCH || how == BN_DIVERGED ? BN_TUNE_WRONG : BN_TUNE_FAILED;
        error = error ? error : "no reason given";
        snprintf(s->why, sizeof s->why, "%.*s", (int)strcspn(error, "\n"), error);
    } else {
        s->verdict = BN_TUNE_OK;
        if (!v)
            t->unfit = count_unfit(t, row, unfit);
        record(s, json_number_value(json_object_get(row, "step_seconds")));
        if (v)
            v->same = hash && strcmp(hash, t->hash_warm) == 0;
    }
    bn_child_release(&child);
    json_decref(answer);
    return BN_OK;
}

/* Of one key the fastest value that is right, and faster than the case beyond the noise of both. */
static void decide(bn_tune *t)
{
    for (size_t i = 0; i < t->variant_count; i++) {
        bn_tune_variant *v = &t->variants[i];
        v->tied = v->times.verdict == BN_TUNE_OK && bn_tune_overlap(&v->times, &t->plain);
        if (v->times.verdict != BN_TUNE_OK || v->times.count < 2 || v->tied ||
            !(bn_tune_median(&v->times) < bn_tune_median(&t->plain)))
            continue;
        bn_tune_variant *best = NULL;
        for (size_t o = 0; o < i; o++)
            if (t->variants[o].best && t->variants[o].of == v->of)
                best = &t->variants[o];
        v->best = !best || bn_tune_median(&v->times) < bn_tune_median(&best->times);
        if (best && v->best)
            best->best = false;
    }
    for (size_t i = 0; i < t->variant_count; i++) {
        bn_tune_variant *v = &t->variants[i];
        v->chosen = v->best && v->of->same_bits && v->same && v->open;
    }
}

bn_status bn_tune_variants(bn_tune *t, const bn_case *c)
{
    const bn_options *o = t->cli->options;
    const double start = bn_seconds_now(), limit = o->full ? HUGE_VAL : o->quick ? quick_budget : budget;
    list_variants(t, c);
    for (int round = 0; round < BN_TUNE_ROUNDS && t->variant_count > 0; round++) {
        if (round > 1 && bn_seconds_now() - start > limit)
            break;
        if (!o->quiet)
            fprintf(stderr, "tune: variants, round %d of %d\n", round + 1, (int)BN_TUNE_ROUNDS);
        BN_TRY(measure_one(t, NULL, &t->plain));
        for (size_t i = 0; i < t->variant_count; i++) {
            bn_tune_variant *v = &t->variants[i];
            const bool hopeless = round > 0 && (v->times.verdict != BN_TUNE_OK ||
                                                bn_tune_median(&v->times) > 2 * bn_tune_median(&t->plain));
            if (!hopeless)
                BN_TRY(measure_one(t, v, &v->times));
        }
    }
    decide(t);
    for (size_t i = 0; i < t->variant_count; i++)
        if (t->variants[i].chosen)
            t->extra[t->extra_count++] = t->variants[i].set;
    return BN_OK;
}

static void time_text(char text[32], double seconds)
{
    const double scale = seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1;
    snprintf(text, 32, "%.3g %s", scale * seconds, seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s");
}

void bn_tune_print_variants(const bn_tune *t)
{
    char time[32];
    if (t->variant_count == 0)
        return;
    time_text(time, bn_tune_median(&t->plain));
    printf("Variants, a whole step in the default work-groups; the case as it is: %s\n", time);
    for (size_t i = 0; i < t->variant_count; i++) {
        const bn_tune_variant *v = &t->variants[i];
        static const char *const verdicts[] = {
            "not tried", "", "wrong", "failed", "crashed", "skipped"
        }; /* bn_tune_verdict */
        if (v->times.verdict != BN_TUNE_OK) {
            printf("  %s: %s%s%s\n", v->set, verdicts[v->times.verdict], v->times.why[0] ? ": " : "", v->times.why);
            continue;
        }
        time_text(time, bn_tune_median(&v->times));
        printf("  %s: %s (%+.0f %% speed)%s%s\n", v->set, time,
               100 * (bn_tune_median(&t->plain) / bn_tune_median(&v->times) - 1), v->tied ? ", ties" : "",
               v->chosen             ? ", kept for later runs"
               : v->best && !v->open ? "; the case has chosen by itself"
               : v->best             ? "; other rounding or other random numbers: runs take it when the case says so"
                                     : "");
    }
    printf("\n");
}
