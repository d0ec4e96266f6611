/* sim_create.c: makes a simulation of a case on one engine from its plan, and releases it. */
#include "sim/sim_struct.h"

#include "io/file.h"
#include "sim/checkpoint.h"
#include "sim/results_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bn_status create_fields(bn_sim *sim)
{
    const bn_plan *p = sim->plan;
    sim->fields = calloc(p->field_count, sizeof *sim->fields);
    sim->infos = calloc(p->field_count, sizeof *sim->infos);
    if (!sim->fields || !sim->infos)
        return bn_fail(sim->ctx, BN_MEMORY, "no memory for the list of fields");
    for (size_t i = 0; i < p->field_count; i++) {
        const bn_field_desc *d = &p->fields[i];
        const bn_grid *g = bn_plan_grid_of(p, d);
        BN_TRY(bn_field_create(d->role & BN_VOLUME ? sim->volume : sim->domain, d, &sim->fields[i]));
        *p->holders[i] = sim->fields[i];
        bn_sim_field_info *info = &sim->infos[i];
        *info = (bn_sim_field_info){
            .name = d->name,
            .unit = d->unit ? d->unit : "",
            .components = (d->components > 0 ? d->components : 1) * (d->type == BN_T_REAL2 ? 2 : 1),
            .dims = g->dims,
            .nodes = g->nodes,
            .element_bytes = bn_field_element_bytes(sim->fields[i]) / (d->type == BN_T_REAL2 ? 2 : 1),
            .real = d->type == BN_T_REAL || d->type == BN_T_REAL2,
            .output = (d->role & BN_OUTPUT) != 0,
            .compare = (d->role & BN_COMPARE) != 0,
            .state = (d->role & BN_STATE) != 0,
            .pairs = d->type == BN_T_REAL2,
            .hexagons = g->kind == BN_HEXAGONAL,
        };
        for (int k = 0; k < 3; k++) {
            info->n[k] = g->n[k];
            info->origin[k] = g->origin[k];
            info->h[k] = g->h[k];
            info->place[k] = g->place[k];
        }
    }
    return BN_OK;
}

/* Applies what the tuning database prefers for keys that the case leaves open; true: something changed. */
static bool take_choices(bn_sim *sim, bn_case *config)
{
    bn_tuning *t = &sim->tuned.groups;
    size_t used = 0;
    for (size_t i = 0; i < t->choice_count; i++) {
        const bn_variant *v = sim->solver->variants;
        while (v && v->key && strcmp(v->key, t->choices[i].key) != 0)
            v++;
        if (v && v->key && v->same_bits && bn_case_prefer(config, t->choices[i].key, t->choices[i].value))
            t->choices[used++] = t->choices[i];
    }
    t->choice_count = used;
    return used > 0;
}

/* Work-groups of single kernels: those of the caller, else of the tuning database. `*again`: a choice of the case has
 * changed, so that the plan has to be made again. */
static bn_status choose_groups(bn_sim *sim, bn_case *config, const bn_sim_desc *desc, bool *again)
{
    *again = false;
    sim->tuned.source = desc->work_group[0] || desc->group_count ? "command line" : "default";
    if (desc->group_count)
        return bn_tuning_copy(sim->ctx, desc->groups, desc->group_count, &sim->tuned.groups);
    if (!desc->tuned || !desc->device || desc->work_group[0])
        return BN_OK;
    const uint32_t *n = sim->plan->grid.n;
    const bn_tuning_key key = { .solver = sim->solver->name,
                                .device = bn_device_describe(desc->device),
                                .precision = sim->plan->precision == BN_DOUBLE ? "double" : "single",
                                .size_class = bn_tuning_size_class((double)n[0] * n[1] * n[2]) };
    bn_tuning_load(sim->ctx, &key, &sim->tuned.groups);
    *again = take_choices(sim, config);
    if (sim->tuned.groups.count || *again)
        sim->tuned.source = sim->tuned.groups.own ? "database" : "shipped";
    return BN_OK;
}

/* Restarts from the checkpoint that the caller or else the case names, if any. */
static bn_status resume(bn_sim *sim, const bn_sim_desc *desc)
{
    const char *given = bn_case_text(sim->config, "case.resume");
    if (!desc->resume && !given[0])
        return BN_OK;
    BN_TRY(bn_checkpoint_open(
        sim->ctx, desc->resume ? desc->resume : bn_path_beside(bn_case_path(sim->config), given).text, &sim->resumed));
    return bn_checkpoint_restore(sim->resumed, sim);
}

bn_status bn_sim_create(bn_context *ctx, bn_case *config, const bn_sim_desc *desc, bn_sim **out)
{
    return bn_sim_create_checked(ctx, config, desc, NULL, NULL, out);
}

bn_status bn_sim_create_checked(bn_context *ctx, bn_case *config, const bn_sim_desc *desc, bn_sim_check check,
                                void *user, bn_sim **out)
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
    sim->device = desc->device;
    sim->boxes = desc->boxes;
    sim->stop.time = bn_case_real(config, "stop.time");
    sim->now.residual = (double)NAN;
    if (!(sim->state = calloc(1, sim->solver->state_size)))
        BN_GO(bn_fail(ctx, BN_MEMORY, "no memory for the state of %s", sim->solver->name));
    const bn_device_info *device = desc->device ? bn_device_least(desc->device) : NULL;
    const bool shared = desc->device && desc->boxes != 1; /* one box lies on the first device */
    const size_t slots = shared ? bn_device_global_count(desc->device) : 1;
    bool again = false;
    BN_GO(bn_plan_count(ctx, config, device, slots, sim->state, &sim->plan));
    BN_GO(choose_groups(sim, config, desc, &again));
    if (sim->plan->estimate.counted) /* before host memory is allocated for every cell */
        BN_GO(bn_plan_check_memory(ctx, sim->plan, device, slots));
    if (again || sim->plan->estimate.counted) {
        bn_plan_destroy(&sim->plan);
        memset(sim->state, 0, sim->solver->state_size);
        BN_GO(bn_plan_create(ctx, config, device, slots, sim->state, &sim->plan));
    }
    BN_GO(bn_plan_check_memory(ctx, sim->plan, device, slots));
    if (check)
        BN_GO(check(user, sim->plan));
    sim->stop.steps = bn_plan_most_steps(sim->plan, config);
    /* Pieces of files share the nodes at cuts. */
    const int halo = sim->plan->cut.halo > 0 || !sim->plan->grid.nodes ? sim->plan->cut.halo : 1;
    const bn_domain_desc domain = {
        .grid = sim->plan->grid,
        .precision = precision,
        .halo = halo + sim->plan->cut.ghost_cells,
        .ghost_cells = sim->plan->cut.ghost_cells,
        .align = sim->plan->cut.align,
        .whole_rows = sim->plan->cut.whole_rows,
        .boxes = sim->plan->cut.one_box             ? 1
                 : desc->boxes > 0 || !desc->device ? desc->boxes
                                                    : (int)bn_device_global_count(desc->device),
        .device = desc->device,
        .work_group = { desc->work_group[0], desc->work_group[1], desc->work_group[2] },
        .groups = sim->tuned.groups.groups,
        .group_count = sim->tuned.groups.count,
    };
    BN_GO(bn_domain_create(ctx, &domain, &sim->domain));
    if (sim->plan->volume.dims > 0)
        BN_GO(bn_domain_create(ctx, &(bn_domain_desc){ .grid = sim->plan->volume, .precision = precision },
                               &sim->volume));
    BN_GO(bn_results_create(sim->plan, &sim->results));
    BN_GO(create_fields(sim));
    if (desc->device)
        BN_GO(bn_sim_build_kernels(sim));
    BN_GO(bn_reduce_prepare(sim->domain, BN_MAX_ABS)); /* every run ends with a check that all is finite */
    BN_GO(sim->solver->init(sim, sim->state));
    sim->set_up = true;
    if (sim->engine->setup)
        BN_GO(sim->engine->setup(sim, sim->state));
    BN_GO(resume(sim, desc));
    BN_GO(bn_domain_kernels_ready(sim->domain));
    const long long every = bn_case_int(config, "case.balance");
    const size_t all = desc->device ? bn_device_global_count(desc->device) : 1;
    if (sim->engine->work && every >= 0 && all > 1 && bn_domain_boxes(sim->domain) == all)
        bn_load_balance_begin(&sim->balance, sim->plan, sim->domain, desc->device, every, sim->now.step);
    *out = sim;
    sim = NULL;
out:
    bn_sim_destroy(&sim);
    return st;
}

bn_status bn_sim_create_like(bn_sim *sim, const char *const *overrides, size_t count, bn_case **config, bn_sim **out)
{
    char *text;
    BN_TRY(bn_case_resolved(sim->config, &text));
    bn_status st = bn_case_parse(sim->ctx, bn_case_path(sim->config), text, overrides, count, config);
    free(text);
    for (const bn_case_numbers *of = bn_case_all_numbers(sim->config); st == BN_OK && of; of = of->next)
        st = bn_case_give(*config, of->name, of->n, of->values);
    if (st == BN_OK)
        st = bn_sim_create(sim->ctx, *config, &(bn_sim_desc){ .device = sim->device, .boxes = sim->boxes }, out);
    return st;
}

void bn_sim_destroy(bn_sim **simulation)
{
    if (!simulation || !*simulation)
        return;
    bn_sim *sim = *simulation;
    if (sim->set_up && sim->engine->teardown)
        sim->engine->teardown(sim->state);
    bn_program_destroy(&sim->program[0]);
    bn_program_destroy(&sim->program[1]);
    for (size_t i = 0; sim->fields && i < sim->plan->field_count; i++)
        bn_field_destroy(&sim->fields[i]);
    bn_domain_destroy(&sim->domain);
    bn_domain_destroy(&sim->former);
    bn_domain_destroy(&sim->volume);
    bn_results_destroy(&sim->results);
    bn_series_release(&sim->recorded.series);
    bn_plan_destroy(&sim->plan);
    bn_tuning_release(&sim->tuned.groups);
    bn_checkpoint_close(&sim->resumed);
    free(sim->files);
    free(sim->fields);
    free(sim->infos);
    free(sim->kernels);
    free(sim->state);
    free(sim);
    *simulation = NULL;
}

bn_status bn_sim_save(bn_sim *sim, const char *folder)
{
    bn_checkpoint_writer *s;
    BN_TRY(bn_checkpoint_writer_begin(sim, folder, 0, &s));
    const bn_status st = bn_checkpoint_writer_write(sim->ctx, s);
    bn_checkpoint_writer_release(&s);
    return st;
}
