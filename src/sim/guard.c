/* guard.c: steps that are computed twice, for devices that now and then compute wrongly or lose bits without telling
 * (`run --guard N`); and hashes of fields, by which the two are compared and checkpoints know what they hold. */
#include "sim/guard.h"

#include "sim/checkpoint.h"
#include "sim/results_list.h"
#include "sim/sim_struct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A bijection for each place, so that one wrong element always changes the sum (the finalizer of splitmix64). */
static uint64_t mix(uint64_t place, uint64_t element)
{
    uint64_t x = element + place * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t bn_hash_region(const bn_part_layout *l, const bn_region *r, const void *values)
{
    const size_t bytes = bn_part_bytes(l->type), row = (size_t)(r->n[0] * l->n[4]);
    const unsigned char *at = values;
    uint64_t sum = 0;
    for (uint64_t c = 0; c < l->n[0]; c++)
        for (uint64_t k = 0; k < r->n[2]; k++)
            for (uint64_t j = 0; j < r->n[1]; j++) {
                const uint64_t slice = (c * l->n[1] + r->first[2] + k) * l->n[2] + r->first[1] + j;
                const uint64_t place = (slice * l->n[3] + r->first[0]) * l->n[4];
                for (size_t i = 0; i < row; i++, at += bytes) {
                    uint64_t element = 0;
                    memcpy(&element, at, bytes);
                    sum += mix(place + i, element);
                }
            }
    return sum;
}

bn_status bn_hash_field(const bn_plan *plan, bn_field *f, uint64_t *sum)
{
    const bn_part_layout l = bn_field_layout(plan, bn_field_describe(f));
    bn_context *ctx = bn_domain_context(bn_field_domain(f));
    bn_snapshot *s;
    bn_status st = BN_OK;
    *sum = 0;
    BN_TRY(bn_snapshot_begin(f, false, &s));
    for (size_t part = 0; st == BN_OK && part < bn_snapshot_parts(s); part++) {
        bn_region r;
        const void *values;
        if ((st = bn_snapshot_wait(ctx, s, part, &r, &values)) == BN_OK)
            *sum += bn_hash_region(&l, &r, values);
    }
    bn_snapshot_release(&s);
    return st;
}

/* What a step has left: a hash of each field of the state, the numbers beside them, its report. */
typedef struct known {
    uint64_t hash[BN_PLAN_FIELDS];
    bn_checkpoint_state numbers;
    bn_step step;
} known;

static bool is_state(const bn_sim *sim, size_t i) { return sim->plan->fields[i].role & BN_STATE; }

static bn_status numbers_of(bn_sim *sim, known *m)
{
    BN_TRY(bn_sim_update_outputs(sim)); /* as before a checkpoint */
    sim->outputs_of = 0;
    bn_checkpoint_state_group(&m->numbers, "solver");
    return sim->solver->serialize ? sim->solver->serialize(sim, sim->state, &m->numbers) : BN_OK;
}

static bn_status compute(bn_sim *sim, known *m)
{
    m->step = (bn_step){ .residual = (double)NAN };
    BN_TRY(sim->engine->step(sim, sim->state, &m->step));
    BN_TRY(numbers_of(sim, m));
    for (size_t i = 0; i < sim->plan->field_count; i++)
        if (is_state(sim, i))
            BN_TRY(bn_hash_field(sim->plan, sim->fields[i], &m->hash[i]));
    return BN_OK;
}

static bool same_numbers(const bn_checkpoint_state *a, const bn_checkpoint_state *b, const char **name)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        *name = a->items[i].name;
        same = a->items[i].count == b->items[i].count &&
               memcmp(a->items[i].values, b->items[i].values, a->items[i].count * bn_part_bytes(a->items[i].type)) == 0;
    }
    return same;
}

/* All ranks fail where one finds a difference. */
static bn_status compare(bn_sim *sim, const known *a, const known *b)
{
    const char *name = "its report";
    bool same = memcmp(&a->step.dt, &b->step.dt, sizeof a->step.dt) == 0 && a->step.converged == b->step.converged &&
                a->step.complete == b->step.complete && a->step.unfinished == b->step.unfinished;
    same = same && same_numbers(&a->numbers, &b->numbers, &name);
    for (size_t i = 0; same && i < sim->plan->field_count; i++)
        if (a->hash[i] != b->hash[i]) {
            name = sim->plan->fields[i].name;
            same = false;
        }
    double differs = !same;
    bn_context_agree(sim->ctx, &differs, 1);
    if (!(differs > 0))
        return BN_OK;
    return bn_fail(sim->ctx, BN_MISMATCH,
                   "a step that was computed twice gave different bits (%s): the device computes wrongly now and then; "
                   "go on from the last checkpoint on another one",
                   same ? "on another rank" : name);
}

/* What was wrong in all that both steps had in common, fields in between them too, moves what the scheme conserves. */
static bn_status look_at_balance(bn_sim *sim)
{
    const double limit = sim->solver->balance ? sim->solver->balance_limit(sim, sim->state) : HUGE_VAL;
    bn_results *r = NULL;
    bn_status st = BN_OK;
    if (isinf(limit))
        return BN_OK;
    BN_TRY(bn_results_create(sim->plan, &r));
    BN_GO(sim->solver->measure(sim, sim->state, r));
    for (size_t i = 0; st == BN_OK && i < bn_results_count(r); i++) {
        const bn_result_info *one = bn_results_at(r, i);
        if (strcmp(one->name, sim->solver->balance) == 0 && !(fabs(one->value) <= limit))
            st = bn_fail(sim->ctx, BN_MISMATCH,
                         "%s is %.2g, and the scheme keeps it below %.2g: the device has damaged the fields; go on "
                         "from an earlier checkpoint on another device",
                         one->name, one->value, limit);
    }
out:
    bn_results_destroy(&r);
    return st;
}

bn_status bn_guard_step(bn_sim *sim)
{
    const double began = bn_seconds_now();
    bn_status st = BN_MEMORY;
    bn_sim_snapshot *before = NULL;
    known *m = calloc(2, sizeof *m); /* after, after once more */
    if (!m)
        return bn_fail(sim->ctx, st, "no memory to compute a step twice");
    for (int i = 0; i < 2; i++)
        m[i].numbers = (bn_checkpoint_state){ .ctx = sim->ctx, .path = "memory", .case_path = "" };
    BN_GO(bn_sim_snapshot_take(sim, &before));
    BN_GO(compute(sim, &m[0]));
    sim->last = m[0].step;
    if (m[0].step.unfinished) /* it is asked to end: no time for a second one */
        goto out;
    BN_GO(bn_sim_snapshot_restore(sim, before));
    bn_domain_other_groups(sim->domain, true);
    st = compute(sim, &m[1]);
    bn_domain_other_groups(sim->domain, false);
    if (st == BN_OK && !m[1].step.unfinished)
        st = compare(sim, &m[0], &m[1]);
    if (st == BN_OK)
        st = look_at_balance(sim);
    sim->last = m[1].step;
    sim->guard.steps++;
    sim->guard.seconds += bn_seconds_now() - began;
out:
    bn_sim_snapshot_release(&before);
    for (int i = 0; i < 2; i++)
        bn_checkpoint_state_release(&m[i].numbers);
    free(m);
    return st;
}

void bn_sim_guard(bn_sim *sim, unsigned long long every)
{
    sim->guard.every = every;
    if (every > 0)
        bn_domain_read_twice(sim->domain);
}

const bn_guard *bn_sim_guarded(const bn_sim *sim) { return &sim->guard; }
