/* sim.c: one case on one engine: builds what the plan asks for, steps, watches for values that are not finite. */
#include "sim/sim_parts.h"

#include "sim/checkpoint.h"
#include "sim/results_list.h"
#include "sim/tuning.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BN_FINITE_EVERY = 100 }; /* steps between looks at the whole fields */

struct bn_sim {
    bn_context *ctx;
    const bn_case *config;
    const bn_solver *solver;
    const bn_engine *engine;
    bn_plan *plan;
    void *state;
    bool set_up;
    bn_domain *domain, *former; /* former: while fields are on their way to another domain */
    bn_field **fields;
    bn_sim_field_info *infos;
    bn_program *program;
    bn_kernel **kernels; /* in the order of the solver's table */
    bn_results *results;
    bn_sim_state now;
    bn_step last;
    unsigned long long presented; /* steps done when the fields were brought up to date, plus one; 0: never */
    double stop_steps;
    double stop_time;
    bn_tuning tuning; /* work-groups of single kernels */
    const char *tuning_source;
    bn_load_balance balance;
    bool (*asked_to_end)(void *); /* NULL: a step never asks */
    void *asked_user;
    bn_checkpoint *resumed; /* what it went on from */
    char *inputs;           /* SHA-256 and name of every file of the case; NULL: not asked for yet */
};

static bn_status create_fields(bn_sim *sim)
{
    const bn_plan *p = sim->plan;
    sim->fields = calloc(p->field_count, sizeof *sim->fields);
    sim->infos = calloc(p->field_count, sizeof *sim->infos);
    if (!sim->fields || !sim->infos)
        return bn_fail(sim->ctx, BN_MEMORY, "no memory for the list of fields");
    for (size_t i = 0; i < p->field_count; i++) {
        const bn_field_desc *d = &p->fields[i];
        BN_TRY(bn_field_create(sim->domain, d, &sim->fields[i]));
        bn_sim_field_info *info = &sim->infos[i];
        *info = (bn_sim_field_info){
            .name = d->name,
            .unit = d->unit ? d->unit : "",
            .components = (d->components > 0 ? d->components : 1) * (d->type == BN_T_REAL2 ? 2 : 1),
            .dims = p->grid.dims,
            .nodes = p->grid.nodes,
            .element_bytes = bn_field_element_bytes(sim->fields[i]) / (d->type == BN_T_REAL2 ? 2 : 1),
            .real = d->type == BN_T_REAL || d->type == BN_T_REAL2,
            .output = (d->role & BN_OUTPUT) != 0,
            .compare = (d->role & BN_COMPARE) != 0,
        };
        for (int k = 0; k < 3; k++) {
            info->n[k] = p->grid.n[k];
            info->origin[k] = p->grid.origin[k];
            info->h[k] = p->grid.h[k];
        }
    }
    return BN_OK;
}

static bn_status build_kernels(bn_sim *sim)
{
    size_t count = 0;
    while (sim->solver->kernels[count].name)
        count++;
    sim->kernels = calloc(count + 1, sizeof *sim->kernels);
    if (!sim->kernels)
        return bn_fail(sim->ctx, BN_MEMORY, "no memory for the list of kernels");
    BN_TRY(bn_program_build(sim->domain, sim->solver->program ? sim->solver->program : sim->solver->name,
                            sim->plan->defines, sim->plan->define_count, &sim->program));
    for (size_t i = 0; i < count; i++) {
        bool skipped = false;
        for (size_t k = 0; k < sim->plan->skipped_count; k++)
            skipped = skipped || strcmp(sim->plan->skipped[k], sim->solver->kernels[i].name) == 0;
        if (!skipped)
            BN_TRY(bn_kernel_find(sim->program, &sim->solver->kernels[i], &sim->kernels[i]));
    }
    return BN_OK;
}

/* Takes what the database prefers for keys that the case leaves open; whether it changed anything. */
static bool take_choices(bn_sim *sim, bn_case *config)
{
    bn_tuning *t = &sim->tuning;
    size_t kept = 0;
    for (size_t i = 0; i < t->choice_count; i++) {
        const bn_variant *v = sim->solver->variants;
        while (v && v->key && strcmp(v->key, t->choices[i].key) != 0)
            v++;
        if (v && v->key && v->same_bits && bn_case_prefer(config, t->choices[i].key, t->choices[i].value))
            t->choices[kept++] = t->choices[i];
    }
    t->choice_count = kept;
    return kept > 0;
}

/* The work-groups of single kernels: those of the caller, else what the database knows. `*again`: the plan has to be
 * made anew, since a choice of the case has changed. */
static bn_status choose_groups(bn_sim *sim, bn_case *config, const bn_sim_desc *desc, bool *again)
{
    *again = false;
    sim->tuning_source = desc->work_group[0] || desc->group_count ? "command line" : "default";
    if (desc->group_count)
        return bn_tuning_copy(sim->ctx, desc->groups, desc->group_count, &sim->tuning);
    if (!desc->tuned || !desc->device || desc->work_group[0])
        return BN_OK;
    const uint32_t *n = sim->plan->grid.n;
    const bn_tuning_key key = { .solver = sim->solver->name,
                                .device = bn_device_describe(desc->device),
                                .precision = sim->plan->precision == BN_DOUBLE ? "double" : "single",
                                .size_class = bn_tuning_size_class((double)n[0] * n[1] * n[2]) };
    bn_tuning_load(sim->ctx, &key, &sim->tuning);
    *again = take_choices(sim, config);
    if (sim->tuning.count || *again)
        sim->tuning_source = sim->tuning.own ? "database" : "shipped";
    return BN_OK;
}

/* From where the caller says, else from where the case says, if either does. */
static bn_status resume(bn_sim *sim, const bn_sim_desc *desc)
{
    const char *given = bn_case_text(sim->config, "case.resume");
    char path[4096];
    if (!desc->resume && !given[0])
        return BN_OK;
    if (!desc->resume && !bn_plan_path(sim->config, given, path, sizeof path))
        return bn_fail(sim->ctx, BN_IO, "the path %s is too long", given);
    BN_TRY(bn_checkpoint_open(sim->ctx, desc->resume ? desc->resume : path, &sim->resumed));
    return bn_checkpoint_restore(sim->resumed, sim);
}

bn_status bn_sim_create(bn_context *ctx, bn_case *config, const bn_sim_desc *desc, bn_sim **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        return bn_fail(ctx, BN_MEMORY, "no memory for a simulation");
    sim->ctx = ctx;
    sim->config = config;
    sim->solver = bn_solver_find(bn_case_solver(config));
    const bn_precision precision = bn_case_double(config) ? BN_DOUBLE : BN_SINGLE;
    sim->engine = desc->device ? sim->solver->device : sim->solver->reference[precision];
    sim->stop_time = bn_case_real(config, "stop.time");
    sim->now.residual = (double)NAN;
    if (!(sim->state = calloc(1, sim->solver->state_size))) {
        st = bn_fail(ctx, BN_MEMORY, "no memory for the state of %s", sim->solver->name);
        goto out;
    }
    const bn_device_info *device = desc->device ? bn_device_least(desc->device) : NULL;
    const bool shared = desc->device && desc->boxes != 1; /* one box is whole on the first device */
    const size_t slots = shared ? bn_device_slots(desc->device) : 1;
    bool again = false;
    BN_GO(bn_plan_count(ctx, config, device, sim->state, &sim->plan));
    BN_GO(choose_groups(sim, config, desc, &again));
    if (sim->plan->counted) /* before it takes memory on the host for every cell */
        BN_GO(bn_plan_check_memory(ctx, sim->plan, device, slots));
    if (again || sim->plan->counted) {
        bn_plan_destroy(&sim->plan);
        memset(sim->state, 0, sim->solver->state_size);
        BN_GO(bn_plan_create(ctx, config, device, sim->state, &sim->plan));
    }
    BN_GO(bn_plan_check_memory(ctx, sim->plan, device, slots));
    sim->stop_steps = bn_plan_most_steps(sim->plan, config);
    /* Pieces of files share nodes. */
    const int halo = sim->plan->halo > 0 || !sim->plan->grid.nodes ? sim->plan->halo : 1;
    const bn_domain_desc domain = {
        .grid = sim->plan->grid,
        .precision = precision,
        .halo = halo + sim->plan->margin,
        .ghost_cells = sim->plan->margin,
        .align = sim->plan->align,
        .whole_rows = sim->plan->whole_rows,
        .boxes = desc->boxes > 0 || !desc->device ? desc->boxes : (int)bn_device_slots(desc->device),
        .device = desc->device,
        .work_group = { desc->work_group[0], desc->work_group[1], desc->work_group[2] },
        .groups = sim->tuning.groups,
        .group_count = sim->tuning.count,
    };
    BN_GO(bn_domain_create(ctx, &domain, &sim->domain));
    BN_GO(bn_results_create(sim->plan, &sim->results));
    BN_GO(create_fields(sim));
    if (desc->device)
        BN_GO(build_kernels(sim));
    BN_GO(sim->solver->init(sim, sim->state));
    sim->set_up = true;
    if (sim->engine->setup)
        BN_GO(sim->engine->setup(sim, sim->state));
    BN_GO(resume(sim, desc));
    const long long every = bn_case_int(config, "case.balance");
    const size_t all = desc->device ? bn_device_slots(desc->device) : 1;
    if (sim->engine->work && every >= 0 && all > 1 && bn_domain_boxes(sim->domain) == all)
        bn_load_balance_begin(&sim->balance, sim->plan, sim->domain, desc->device, every, sim->now.step);
    *out = sim;
    sim = NULL;
out:
    bn_sim_destroy(&sim);
    return st;
}

void bn_sim_destroy(bn_sim **simulation)
{
    if (!simulation || !*simulation)
        return;
    bn_sim *sim = *simulation;
    if (sim->set_up && sim->engine->teardown)
        sim->engine->teardown(sim->state);
    bn_program_destroy(&sim->program);
    for (size_t i = 0; sim->fields && i < sim->plan->field_count; i++)
        bn_field_destroy(&sim->fields[i]);
    bn_domain_destroy(&sim->domain);
    bn_domain_destroy(&sim->former);
    bn_results_destroy(&sim->results);
    bn_plan_destroy(&sim->plan);
    bn_tuning_release(&sim->tuning);
    bn_checkpoint_close(&sim->resumed);
    free(sim->inputs);
    free(sim->fields);
    free(sim->infos);
    free(sim->kernels);
    free(sim->state);
    free(sim);
    *simulation = NULL;
}

/* Where the first value that is not finite is. */
typedef struct search {
    bool found;
    size_t at[3];
} search;

static bn_status look_for_bad(void *user, int component, const bn_region *r, const void *read)
{
    const double *values = read;
    search *s = user;
    (void)component;
    for (size_t i = 0; i < bn_region_points(r) && !s->found; i++)
        if (!isfinite(values[i])) {
            s->found = true;
            bn_region_place(r, i, s->at);
        }
    return BN_OK;
}

/* Adds to the story of a failure where the first value stands that is not finite; other failures stay as they are. */
static void tell_bad_value(bn_sim *sim)
{
    const bn_plan *p = sim->plan;
    search s = { .found = false };
    for (size_t f = 0; f < p->field_count && !s.found; f++) {
        const bn_field_desc *d = &p->fields[f];
        if (!(d->role & (BN_STATE | BN_COMPARE)) || d->type != BN_T_REAL || (d->role & BN_INTERLEAVED))
            continue;
        if (bn_field_visit(sim->fields[f], BN_AS_DOUBLES, look_for_bad, &s) == BN_OK && s.found)
            bn_note(sim->ctx, "first value that is not finite: %s at (%zu, %zu, %zu), x = %g m, y = %g m", d->name,
                    s.at[0], s.at[1], s.at[2], p->grid.origin[0] + (double)s.at[0] * p->grid.h[0],
                    p->grid.origin[1] + (double)s.at[1] * p->grid.h[1]);
    }
}

/* BN_DIVERGED when a field of the state holds a value that is not finite. */
static bn_status check_finite(bn_sim *sim)
{
    const bn_plan *p = sim->plan;
    for (size_t f = 0; f < p->field_count; f++)
        for (int c = 0;
             (p->fields[f].role & BN_STATE) && p->fields[f].type == BN_T_REAL && c < sim->infos[f].components; c++) {
            double largest;
            BN_TRY(bn_reduce(sim->fields[f], c, BN_MAX_ABS, &largest));
            if (!isfinite(largest))
                return bn_fail(sim->ctx, BN_DIVERGED, "%s is not finite any more; try a smaller time step",
                               p->fields[f].name);
        }
    return BN_OK;
}

/* Goes on in a domain that is cut so: fields move there, and everything else that belongs to a domain is made anew, as
 * if the run went on from a checkpoint. */
static bn_status recut(bn_sim *sim, const bn_cuts *cuts)
{
    bn_checkpoint_state numbers = { .ctx = sim->ctx, .path = "memory", .case_path = bn_case_path(sim->config) };
    bn_domain *fresh = NULL;
    bn_status st = BN_OK;
    BN_GO(bn_sim_update_outputs(sim));
    bn_checkpoint_state_group(&numbers, "solver");
    if (sim->solver->serialize)
        BN_GO(sim->solver->serialize(sim, sim->state, &numbers));
    BN_GO(bn_domain_repartition(sim->domain, cuts, &fresh));
    sim->former = sim->domain; /* from here on a failure ends the run; what is left can still be read and destroyed */
    sim->domain = fresh;
    if (sim->engine->teardown)
        sim->engine->teardown(sim->state);
    sim->set_up = false;
    bn_program_destroy(&sim->program);
    free(sim->kernels);
    sim->kernels = NULL;
    for (size_t i = 0; i < sim->plan->field_count; i++)
        BN_GO(bn_field_move(sim->fields[i], fresh));
    bn_domain_destroy(&sim->former);
    BN_GO(build_kernels(sim));
    sim->set_up = true;
    if (sim->engine->setup)
        BN_GO(sim->engine->setup(sim, sim->state));
    numbers.restores = true;
    if (sim->solver->serialize)
        BN_GO(sim->solver->serialize(sim, sim->state, &numbers));
    if (sim->engine->resume)
        BN_GO(sim->engine->resume(sim, sim->state));
out:
    bn_checkpoint_state_release(&numbers);
    return st;
}

/* Looks at how the devices share the work, when it is time to, and moves the cuts to where it is, if that pays. */
static bn_status balance(bn_sim *sim)
{
    bn_load_balance *b = &sim->balance;
    const double began = bn_seconds_now();
    bool moves = false;
    size_t n[3];
    if (!bn_load_balance_due(b, sim->now.step) || bn_sim_done(sim))
        return BN_OK;
    bn_domain_blocks(sim->domain, n);
    bn_cuts cuts = { 0 };
    double *work = malloc(n[0] * n[1] * n[2] * sizeof *work);
    bn_status st = work ? sim->engine->work(sim, sim->state, work)
                        : bn_fail(sim->ctx, BN_MEMORY, "no memory for the work of %zu blocks", n[0] * n[1] * n[2]);
    if (st == BN_OK)
        st = bn_cuts_find(sim->domain, work, b->most, &cuts);
    if (st == BN_OK && (moves = bn_load_balance_wants(b, sim->domain, &cuts)))
        st = recut(sim, &cuts);
    if (st == BN_OK)
        bn_load_balance_looked(b, sim->domain, &cuts, moves, began, sim->now.step);
    else
        bn_note(sim->ctx, "while sharing out the work of step %llu among the devices anew", sim->now.step);
    bn_cuts_free(&cuts);
    free(work);
    return st;
}

bn_status bn_sim_step(bn_sim *sim)
{
    sim->last = (bn_step){ .residual = (double)NAN };
    bn_status st = sim->engine->step(sim, sim->state, &sim->last);
    if (st == BN_OK && sim->last.unfinished) {
        sim->presented = 0; /* the step's number is what it was, the fields are not */
    } else if (st == BN_OK) {
        sim->now.step++;
        sim->now.time += sim->last.dt;
        sim->now.items += sim->last.updates > 0 ? (unsigned long long)sim->last.updates : bn_domain_points(sim->domain);
        sim->now.residual = sim->last.residual;
        sim->now.converged = sim->last.converged;
        sim->now.complete = sim->last.complete;
        if (isinf(sim->last.residual))
            st = bn_fail(sim->ctx, BN_DIVERGED, "the residual is not finite; try a smaller time step");
        else if (sim->now.step % BN_FINITE_EVERY == 0)
            st = check_finite(sim);
        if (st == BN_OK)
            st = balance(sim);
    }
    if (st != BN_OK) {
        if (st == BN_DIVERGED)
            tell_bad_value(sim);
        bn_note(sim->ctx, "in step %llu (%s = %g %s) of %s, %s", sim->now.step + (sim->last.dt == 0),
                bn_solver_coordinate(sim->plan->solver).letter, sim->now.time,
                bn_solver_coordinate(sim->plan->solver).unit, bn_case_path(sim->config), sim->engine->name);
    }
    return st;
}

void bn_sim_watch(bn_sim *sim, bool (*asked_to_end)(void *), void *user)
{
    sim->asked_to_end = asked_to_end;
    sim->asked_user = user;
}

bool bn_sim_asked_to_end(bn_sim *sim)
{
    double asked = sim->asked_to_end && sim->asked_to_end(sim->asked_user);
    bn_context_agree(sim->ctx, &asked, 1);
    return asked > 0;
}

bool bn_sim_done(const bn_sim *sim)
{
    return sim->now.converged || sim->now.complete || (double)sim->now.step >= sim->stop_steps ||
           (sim->stop_time > 0 && sim->now.time >= sim->stop_time * (1 - 1e-12));
}

bn_status bn_sim_measure(bn_sim *sim)
{
    bn_status st = check_finite(sim);
    if (st == BN_DIVERGED)
        tell_bad_value(sim);
    if (st == BN_OK)
        st = bn_sim_update_outputs(sim);
    if (st == BN_OK && sim->solver->measure)
        st = sim->solver->measure(sim, sim->state, sim->results);
    if (st != BN_OK)
        bn_note(sim->ctx, "while measuring after step %llu", sim->now.step);
    return st;
}

bn_status bn_sim_update_outputs(bn_sim *sim)
{
    if (!sim->engine->update_outputs || sim->presented == sim->now.step + 1)
        return BN_OK;
    BN_TRY(sim->engine->update_outputs(sim, sim->state));
    sim->presented = sim->now.step + 1;
    return BN_OK;
}

/* A line for every file that the plan has read. */
static bn_status list_inputs(bn_sim *sim)
{
    const bn_plan *p = sim->plan;
    size_t bytes = 1, at = 0;
    for (size_t i = 0; i < p->input_count; i++)
        bytes += BN_SHA256_TEXT + 1 + strlen(p->inputs[i].name);
    char *text = calloc(bytes, 1);
    if (!text)
        return bn_fail(sim->ctx, BN_MEMORY, "no memory for the list of files of the case");
    sim->inputs = text;
    for (size_t i = 0; i < p->input_count; i++) {
        char sum[BN_SHA256_TEXT];
        BN_TRY(bn_sha256(sim->ctx, p->inputs[i].values, p->inputs[i].bytes, sum));
        at += (size_t)snprintf(text + at, bytes - at, "%s %s\n", sum, p->inputs[i].name);
    }
    return BN_OK;
}

/* The files that the case names; going on, they must hold what they held. */
static bn_status keep_inputs(bn_sim *sim, bn_checkpoint_state *k)
{
    if (!sim->inputs)
        BN_TRY(list_inputs(sim));
    const char *text = sim->inputs, *mine = sim->inputs;
    size_t bytes = strlen(text);
    BN_TRY(bn_state_text(k, "inputs", &text, &bytes));
    for (size_t i = 0; i < sim->plan->input_count; i++) {
        const size_t length = strcspn(mine, "\n") + 1;
        if (strncmp(mine, text, BN_SHA256_TEXT) != 0)
            return bn_fail(sim->ctx, BN_CASE, "%s: %s has changed since the checkpoint %s was written",
                           bn_case_path(sim->config), sim->plan->inputs[i].name, k->path);
        mine += length;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return BN_OK;
}

bn_status bn_sim_serialize(bn_sim *sim, bn_checkpoint_state *k)
{
    bn_sim_state *now = &sim->now;
    bn_step *last = &sim->last;
    unsigned long long counts[] = { now->step, now->items, now->converged, now->complete };
    double reals[] = { now->time, now->residual, last->dt, last->residual };
    bn_checkpoint_state_group(k, "run");
    BN_TRY(bn_state_counts(k, "counts", counts, sizeof counts / sizeof *counts));
    BN_TRY(bn_state_reals(k, "times", reals, sizeof reals / sizeof *reals));
    BN_TRY(bn_state_reals(k, "series", last->series, BN_SERIES_MAX));
    now->step = counts[0];
    now->items = counts[1];
    now->converged = counts[2] != 0;
    now->complete = counts[3] != 0;
    now->time = reals[0];
    now->residual = reals[1];
    last->dt = reals[2];
    last->residual = reals[3];
    BN_TRY(keep_inputs(sim, k));
    bn_checkpoint_state_group(k, "solver");
    if (sim->solver->serialize)
        BN_TRY(sim->solver->serialize(sim, sim->state, k));
    if (bn_state_restores(k) && sim->engine->resume)
        BN_TRY(sim->engine->resume(sim, sim->state));
    return BN_OK;
}

bn_status bn_sim_save(bn_sim *sim, const char *folder)
{
    bn_saving *s;
    BN_TRY(bn_saving_begin(sim, folder, 0, &s));
    const bn_status st = bn_saving_write(sim->ctx, s);
    bn_saving_release(&s);
    return st;
}

bn_checkpoint *bn_sim_resumed(const bn_sim *sim) { return sim->resumed; }
bn_sim_state bn_sim_now(const bn_sim *sim) { return sim->now; }
const bn_results *bn_sim_results(const bn_sim *sim) { return sim->results; }
size_t bn_sim_field_count(const bn_sim *sim) { return sim->plan->field_count; }
const bn_sim_field_info *bn_sim_field_at(const bn_sim *sim, size_t index) { return &sim->infos[index]; }
const bn_plan *bn_sim_plan(const bn_sim *sim) { return sim->plan; }
const bn_step *bn_sim_last_step(const bn_sim *sim) { return &sim->last; }
const char *bn_sim_engine_name(const bn_sim *sim) { return sim->engine->name; }
const char *bn_sim_tuning_source(const bn_sim *sim) { return sim->tuning_source; }
const bn_tuning *bn_sim_tuning(const bn_sim *sim) { return &sim->tuning; }
const bn_load_balance *bn_sim_load_balance(const bn_sim *sim) { return &sim->balance; }

double bn_seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long field_index(const bn_sim *sim, const char *name)
{
    for (size_t i = 0; i < sim->plan->field_count; i++)
        if (strcmp(sim->plan->fields[i].name, name) == 0)
            return (long)i;
    return -1;
}

bn_status bn_sim_read(bn_sim *sim, const char *field, void *values, size_t bytes)
{
    long i = field_index(sim, field);
    if (i < 0)
        return bn_fail(sim->ctx, BN_USAGE, "%s has no field %s", sim->solver->name, field);
    BN_TRY(bn_sim_update_outputs(sim));
    return bn_field_read(sim->fields[i], values, bytes);
}

bn_field *bn_sim_field(bn_sim *sim, const char *name)
{
    long i = field_index(sim, name);
    assert(i >= 0 && "the plan announced no field of that name");
    return sim->fields[i];
}

bn_kernel *bn_sim_kernel(bn_sim *sim, const char *name)
{
    size_t i = 0;
    while (sim->solver->kernels[i].name && strcmp(sim->solver->kernels[i].name, name) != 0)
        i++;
    assert(sim->kernels && sim->solver->kernels[i].name && "the solver's table has no kernel of that name");
    return sim->kernels[i];
}

bn_domain *bn_sim_domain(bn_sim *sim) { return sim->domain; }
bn_context *bn_sim_context(bn_sim *sim) { return sim->ctx; }
const bn_case *bn_sim_case(const bn_sim *sim) { return sim->config; }
double bn_sim_time(const bn_sim *sim) { return sim->now.time; }
unsigned long long bn_sim_steps(const bn_sim *sim) { return sim->now.step; }
