/* cli_tune_variant.c: the values of a case's keys that a solver declares to be about speed (bn_variant): each is
 * compared with the reference, and whole steps are timed, in turns with the case as it is. */
#include "cli/cli_tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double budget = 60, quick_budget = 6; /* [s] of all rounds after the second, without --full */

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

/* Kernels of the last measurement that the device can't run, for which the case has others; `why` tells of the last. */
static size_t count_unfit(const bn_tune *t, char why[BN_TUNE_WHY])
{
    const unsigned long long has = t->device->local_bytes;
    size_t count = 0;
    for (size_t i = 0; i < t->answer.row_count; i++) {
        const bn_tune_row *r = &t->answer.rows[i];
        count += !r->fits;
        if (!r->fits && r->local_bytes > has)
            snprintf(why, BN_TUNE_WHY, "%.60s needs %llu bytes of local memory, the device has %llu", r->name,
                     (unsigned long long)r->local_bytes, has);
        else if (!r->fits)
            snprintf(why, BN_TUNE_WHY, "the device has no work-groups large enough for %.60s", r->name);
    }
    return count;
}

static void add_setting(bn_tune *t, const bn_tune_variant *v)
{
    memcpy(t->job.set[t->job.set_count++], v->set, sizeof v->set);
}

/* One measurement of whole steps in the default work-groups, of the case as it is (`v` NULL) or of a variant, whose
 * first one is compared with the reference. */
static bn_status measure_steps(bn_tune *t, bn_tune_variant *v)
{
    bn_tune_candidate *s = v ? &v->times : &t->plain;
    char why[BN_TUNE_WHY] = "";
    t->job.group_count = 0;
    t->job.reference = v && s->count == 0;
    if (v)
        add_setting(t, v);
    const bn_status st = bn_tune_ask(t);
    t->job.set_count = 0;
    BN_TRY(st);
    const size_t unfit = count_unfit(t, why);
    if (v && unfit > t->unfit) { /* whatever ran instead of it */
        s->verdict = BN_TUNE_SKIPPED;
        memcpy(s->why, why, sizeof why);
    } else if (t->answer.status != BN_OK) {
        bn_tune_blame(t, s);
    } else {
        bn_tune_record(s, t->answer.step_seconds);
        if (v)
            v->same = strcmp(t->answer.hash_warm, t->job.hash_warm) == 0;
        else
            t->unfit = unfit;
    }
    return BN_OK;
}

/* Of one key the fastest value that is right, and faster than the case beyond the noise of both. */
static void decide(bn_tune *t)
{
    for (size_t i = 0; i < t->variant_count; i++) {
        bn_tune_variant *v = &t->variants[i], *best = NULL;
        v->times.tied = v->times.verdict == BN_TUNE_OK && bn_tune_overlap(&v->times, &t->plain);
        if (v->times.verdict != BN_TUNE_OK || v->times.count < 2 || v->times.tied ||
            !(bn_tune_median(&v->times) < bn_tune_median(&t->plain)))
            continue;
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
        if (v->chosen)
            add_setting(t, v);
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
        if (!o->run.quiet)
            fprintf(stderr, "tune: variants, round %d of %d\n", round + 1, (int)BN_TUNE_ROUNDS);
        BN_TRY(measure_steps(t, NULL));
        for (size_t i = 0; i < t->variant_count; i++) {
            bn_tune_variant *v = &t->variants[i];
            const bool hopeless = round > 0 && (v->times.verdict != BN_TUNE_OK ||
                                                bn_tune_median(&v->times) > 2 * bn_tune_median(&t->plain));
            if (!hopeless)
                BN_TRY(measure_steps(t, v));
        }
    }
    decide(t);
    return BN_OK;
}
