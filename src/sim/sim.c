/* sim.c: steps of a simulation, its checks for values that are not finite, its load balance, its state in checkpoints.
 */
#include "sim/guard.h"
#include "sim/sim_struct.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BN_FINITE_EVERY = 100 }; /* steps between checks that all fields are finite */

static bool is_apart(const bn_solver *solver, const bn_kernel_desc *k)
{
    return solver->apart && strcmp(solver->apart, k->name) == 0;
}

static bool is_left_out(const bn_plan *p, const char *kernel)
{
    size_t k = 0;
    while (k < p->define_count && (p->defines[k].kind != BN_DEF_LEFT_OUT || strcmp(p->defines[k].name, kernel) != 0))
        k++;
    return k < p->define_count;
}

/* The program of the kernel that is compiled apart, or of the others. */
static bn_status build_program(bn_sim *sim, bool apart)
{
    const bn_plan *p = sim->plan;
    const bn_kernel_desc *kernels = sim->solver->kernels;
    size_t count = 0;
    while (kernels[count].name)
        count++;
    bn_define *defines = calloc(p->define_count + count + 1, sizeof *defines);
    if (!defines)
        return bn_fail(sim->ctx, BN_MEMORY, "no memory for the constants of a kernel");
    for (size_t k = 0; k < p->define_count; k++)
        defines[k] = p->defines[k];
    size_t all = p->define_count;
    for (const bn_kernel_desc *k = kernels; k->name; k++)
        if (is_apart(sim->solver, k) != apart && !is_left_out(p, k->name))
            defines[all++] = (bn_define){ .name = k->name, .kind = BN_DEF_LEFT_OUT };
    const bn_status st = bn_program_build(sim->domain, sim->solver->program ? sim->solver->program : sim->solver->name,
                                          defines, all, &sim->program[apart]);
    free(defines);
    return st;
}

bn_status bn_sim_build_kernels(bn_sim *sim)
{
    size_t count = 0;
    while (sim->solver->kernels[count].name)
        count++;
    sim->kernels = calloc(count + 1, sizeof *sim->kernels);
    if (!sim->kernels)
        return bn_fail(sim->ctx, BN_MEMORY, "no memory for the list of kernels");
    for (size_t i = 0; i < count; i++) {
        const bn_kernel_desc *k = &sim->solver->kernels[i];
        if (is_left_out(sim->plan, k->name))
            continue;
        const bool apart = is_apart(sim->solver, k);
        if (!sim->program[apart])
            BN_TRY(build_program(sim, apart));
        BN_TRY(bn_kernel_find(sim->program[apart], k, &sim->kernels[i]));
    }
    return BN_OK;
}

/* Where the first value that is not finite is. */
typedef struct search {
    int components; /* of a point, if they are interleaved; else 1 */
    bool found;
    size_t at[3];
} search;

static bn_status find_bad_value(void *user, int component, const bn_region *r, const void *read)
{
    const double *values = read;
    search *s = user;
    (void)component;
    for (size_t i = 0; i < bn_region_points(r) * (size_t)s->components && !s->found; i++)
        if (!isfinite(values[i])) {
            s->found = true;
            bn_region_place(r, i / (size_t)s->components, s->at);
        }
    return BN_OK;
}

/* Adds the place of the first value that is not finite to the failure's message. */
static void note_bad_value(bn_sim *sim)
{
    const bn_plan *p = sim->plan;
    search s = { .found = false };
    for (size_t f = 0; f < p->field_count && !s.found; f++) {
        const bn_field_desc *d = &p->fields[f];
        if (!(d->role & (BN_STATE | BN_COMPARE)) || d->type != BN_T_REAL)
            continue;
        const bn_grid *g = bn_plan_grid_of(p, d);
        s.components = d->role & BN_INTERLEAVED ? sim->infos[f].components : 1;
        if (bn_field_visit(sim->fields[f], BN_AS_DOUBLES, find_bad_value, &s) == BN_OK && s.found)
            bn_note(sim->ctx, "first value that is not finite: %s at (%zu, %zu, %zu), x = %g m, y = %g m", d->name,
                    s.at[0], s.at[1], s.at[2], g->origin[0] + (double)s.at[0] * g->h[0],
                    g->origin[1] + (double)s.at[1] * g->h[1]);
    }
}

/* BN_DIVERGED when a field of the state holds a value that is not finite. */
static bn_status check_finite(bn_sim *sim)
{
    const bn_plan *p = sim->plan;
    for (size_t f = 0; f < p->field_count; f++) {
        const bn_field_desc *d = &p->fields[f];
        search s = { .components = sim->infos[f].components };
        if (!(d->role & BN_STATE) || d->type != BN_T_REAL)
            continue;
        if (d->role & BN_INTERLEAVED)
            BN_TRY(bn_field_visit(sim->fields[f], BN_AS_DOUBLES, find_bad_value, &s));
        for (int c = 0; !(d->role & BN_INTERLEAVED) && c < s.components && !s.found; c++) {
            double largest;
            BN_TRY(bn_reduce(sim->fields[f], c, BN_MAX_ABS, &largest));
            s.found = !isfinite(largest);
        }
        if (s.found)
            return bn_fail(sim->ctx, BN_DIVERGED, "%s is not finite any more; try a smaller time step", d->name);
    }
    return BN_OK;
}

/* Continues in a domain with these cuts: fields move there; everything else that belongs to a domain is made again, as
 * after a restart. */
static bn_status repartition(bn_sim *sim, const bn_cuts *cuts)
{
    bn_checkpoint_state numbers = { .ctx = sim->ctx, .path = "memory", .case_path = bn_case_path(sim->config) };
    bn_domain *fresh = NULL;
    bn_status st = BN_OK;
    BN_GO(bn_sim_update_outputs(sim));
    bn_checkpoint_state_group(&numbers, "solver");
    if (sim->solver->serialize)
        BN_GO(sim->solver->serialize(sim, sim->state, &numbers));
    BN_GO(bn_domain_repartition(sim->domain, cuts, &fresh));
    sim->former = sim->domain; /* a failure after this ends the run; fields can still be read and destroyed */
    sim->domain = fresh;
    if (sim->engine->teardown)
        sim->engine->teardown(sim->state);
    sim->set_up = false;
    bn_program_destroy(&sim->program[0]);
    bn_program_destroy(&sim->program[1]);
    free(sim->kernels);
    sim->kernels = NULL;
    for (size_t i = 0; i < sim->plan->field_count; i++)
        if (!(sim->plan->fields[i].role & BN_VOLUME))
            BN_GO(bn_field_move(sim->fields[i], fresh));
    bn_domain_destroy(&sim->former);
    BN_GO(bn_sim_build_kernels(sim));
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

/* When a check is due: measures how the devices share the work, and moves the cuts if that pays. */
static bn_status balance_load(bn_sim *sim)
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
        st = repartition(sim, &cuts);
    if (st == BN_OK)
        bn_load_balance_looked(b, sim->domain, &cuts, moves, began, sim->now.step);
    else
        bn_note(sim->ctx, "while balancing the load of the devices in step %llu", sim->now.step);
    bn_cuts_free(&cuts);
    free(work);
    return st;
}

/* What setup derived from fields that the owner has written since is derived again, as after a restart. */
static bn_status take_written(bn_sim *sim)
{
    const bool due = sim->written && sim->engine->resume;
    sim->written = false;
    return due ? sim->engine->resume(sim, sim->state) : BN_OK;
}

bn_status bn_sim_step(bn_sim *sim)
{
    sim->last = (bn_step){ .residual = (double)NAN };
    const bool guarded = sim->guard.every > 0 && (sim->now.step + 1) % sim->guard.every == 0;
    bn_status st = take_written(sim);
    if (st == BN_OK)
        st = guarded ? bn_guard_step(sim) : sim->engine->step(sim, sim->state, &sim->last);
    if (st == BN_OK && sim->last.unfinished) {
        sim->outputs_of = 0; /* the step's number has not changed, the fields have */
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
            st = balance_load(sim);
    }
    if (st != BN_OK) {
        if (st == BN_DIVERGED)
            note_bad_value(sim);
        bn_note(sim->ctx, "in step %llu (%s = %g %s) of %s, %s", sim->now.step + (sim->last.dt == 0),
                bn_solver_coordinate(sim->plan->solver).letter, sim->now.time,
                bn_solver_coordinate(sim->plan->solver).unit, bn_case_path(sim->config), sim->engine->name);
    }
    return st;
}

void bn_sim_watch(bn_sim *sim, bool (*asked_to_end)(void *), void *user)
{
    sim->watch.asked = asked_to_end;
    sim->watch.user = user;
}

void bn_sim_quiet(bn_sim *sim, bool quiet) { sim->quiet = quiet; }
bool bn_sim_is_quiet(const bn_sim *sim) { return sim->quiet; }

bool bn_sim_asked_to_end(bn_sim *sim)
{
    double asked = sim->watch.asked && sim->watch.asked(sim->watch.user);
    bn_context_agree(sim->ctx, &asked, 1);
    return asked > 0;
}

bool bn_sim_done(const bn_sim *sim)
{
    return sim->now.converged || sim->now.complete || (double)sim->now.step >= sim->stop.steps ||
           (sim->stop.time > 0 && sim->now.time >= sim->stop.time * (1 - 1e-12));
}

bn_status bn_sim_measure(bn_sim *sim)
{
    bn_status st = check_finite(sim);
    if (st == BN_DIVERGED)
        note_bad_value(sim);
    if (st == BN_OK)
        st = bn_sim_update_outputs(sim);
    if (st == BN_OK && sim->solver->measure)
        st = sim->solver->measure(sim, sim->state, sim->results);
    if (st != BN_OK)
        bn_note(sim->ctx, "while measuring after step %llu", sim->now.step);
    return st;
}

bn_status bn_sim_catch_up(bn_sim *sim)
{
    return sim->engine->catch_up ? sim->engine->catch_up(sim, sim->state) : BN_OK;
}

bn_status bn_sim_finish(bn_sim *sim)
{
    BN_TRY(bn_sim_catch_up(sim));
    return bn_domain_finish(sim->domain);
}

bn_status bn_sim_update_outputs(bn_sim *sim)
{
    BN_TRY(take_written(sim));
    BN_TRY(bn_sim_catch_up(sim));
    if (!sim->engine->update_outputs || sim->outputs_of == sim->now.step + 1)
        return BN_OK;
    BN_TRY(sim->engine->update_outputs(sim, sim->state));
    sim->outputs_of = sim->now.step + 1;
    return BN_OK;
}

/* A line for every file that the plan has read. */
static bn_status list_files(bn_sim *sim)
{
    size_t bytes = 1, at = 0;
    for (const bn_plan_file *f = sim->plan->files; f; f = f->next)
        bytes += BN_SHA256_TEXT + 1 + strlen(f->name);
    char *text = calloc(bytes, 1);
    if (!text)
        return bn_fail(sim->ctx, BN_MEMORY, "no memory for the list of files of the case");
    sim->files = text;
    for (const bn_plan_file *f = sim->plan->files; f; f = f->next) {
        char sum[BN_SHA256_TEXT];
        BN_TRY(bn_sha256(sim->ctx, f->values, f->bytes, sum));
        at += (size_t)snprintf(text + at, bytes - at, "%s %s\n", sum, f->name);
    }
    return BN_OK;
}

/* The files that the case names; after a restart they must hold what they held. */
static bn_status serialize_files(bn_sim *sim, bn_checkpoint_state *k)
{
    if (!sim->files)
        BN_TRY(list_files(sim));
    const char *text = sim->files, *mine = sim->files;
    size_t bytes = strlen(text);
    BN_TRY(bn_state_text(k, "inputs", &text, &bytes));
    for (const bn_plan_file *f = sim->plan->files; f; f = f->next) {
        const size_t length = strcspn(mine, "\n") + 1;
        if (strncmp(mine, text, BN_SHA256_TEXT) != 0)
            return bn_fail(sim->ctx, BN_CASE, "%s: %s has changed since the checkpoint %s was written",
                           bn_case_path(sim->config), f->name, k->path);
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
    BN_TRY(serialize_files(sim, k));
    bn_checkpoint_state_group(k, "solver");
    if (sim->solver->serialize)
        BN_TRY(sim->solver->serialize(sim, sim->state, k));
    if (bn_state_restores(k) && sim->engine->resume)
        BN_TRY(sim->engine->resume(sim, sim->state));
    return BN_OK;
}

bn_checkpoint *bn_sim_resumed(const bn_sim *sim) { return sim->resumed; }
bn_sim_state bn_sim_now(const bn_sim *sim) { return sim->now; }
bn_sim_stop bn_sim_stops_at(const bn_sim *sim) { return sim->stop; }
const bn_results *bn_sim_results(const bn_sim *sim) { return sim->results; }
size_t bn_sim_field_count(const bn_sim *sim) { return sim->plan->field_count; }
const bn_sim_field_info *bn_sim_field_at(const bn_sim *sim, size_t index) { return &sim->infos[index]; }
const bn_plan *bn_sim_plan(const bn_sim *sim) { return sim->plan; }
const bn_step *bn_sim_last_step(const bn_sim *sim) { return &sim->last; }
const char *bn_sim_engine_name(const bn_sim *sim) { return sim->engine->name; }
const char *bn_sim_tuning_source(const bn_sim *sim) { return sim->tuned.source; }
const bn_tuning *bn_sim_tuning(const bn_sim *sim) { return &sim->tuned.groups; }
const bn_load_balance *bn_sim_load_balance(const bn_sim *sim) { return &sim->balance; }

long bn_sim_field_index(const bn_sim *sim, const char *name)
{
    for (size_t i = 0; i < sim->plan->field_count; i++)
        if (strcmp(sim->plan->fields[i].name, name) == 0)
            return (long)i;
    return -1;
}

bn_status bn_sim_read(bn_sim *sim, const char *field, void *values, size_t bytes)
{
    long i = bn_sim_field_index(sim, field);
    if (i < 0)
        return bn_fail(sim->ctx, BN_USAGE, "%s has no field %s", sim->solver->name, field);
    BN_TRY(bn_sim_update_outputs(sim));
    return bn_field_read(sim->fields[i], values, bytes);
}

bn_field *bn_sim_field(bn_sim *sim, const char *name)
{
    long i = bn_sim_field_index(sim, name);
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
