/* sim_snapshot.c: the state of a simulation in memory, to which it can return. */
#include "sim/checkpoint_state.h"
#include "sim/sim_struct.h"

#include <stdlib.h>

struct bn_sim_snapshot {
    bn_snapshot *fields[BN_PLAN_FIELDS]; /* of the state */
    bn_checkpoint_state numbers;
};

void bn_sim_snapshot_release(bn_sim_snapshot **snapshot)
{
    if (!*snapshot)
        return;
    for (size_t i = 0; i < BN_PLAN_FIELDS; i++)
        bn_snapshot_release(&(*snapshot)->fields[i]);
    bn_checkpoint_state_release(&(*snapshot)->numbers);
    free(*snapshot);
    *snapshot = NULL;
}

bn_status bn_sim_snapshot_take(bn_sim *sim, bn_sim_snapshot **out)
{
    bn_status st = BN_OK;
    *out = NULL;
    bn_sim_snapshot *s = calloc(1, sizeof *s);
    if (!s)
        return bn_fail(sim->ctx, BN_MEMORY, "no memory for the state of a simulation");
    s->numbers = (bn_checkpoint_state){ .ctx = sim->ctx, .path = "memory", .case_path = bn_case_path(sim->config) };
    BN_GO(bn_sim_update_outputs(sim)); /* as before a checkpoint */
    sim->outputs_of = 0;
    BN_GO(bn_sim_serialize(sim, &s->numbers));
    for (size_t i = 0; i < sim->plan->field_count; i++)
        if (sim->plan->fields[i].role & BN_STATE)
            BN_GO(bn_snapshot_begin(sim->fields[i], false, &s->fields[i]));
    *out = s;
    s = NULL;
out:
    bn_sim_snapshot_release(&s);
    return st;
}

bn_status bn_sim_snapshot_restore(bn_sim *sim, bn_sim_snapshot *s)
{
    BN_TRY(bn_sim_catch_up(sim));
    for (size_t i = 0; i < sim->plan->field_count; i++)
        for (size_t part = 0; s->fields[i] && part < bn_snapshot_parts(s->fields[i]); part++) {
            bn_region r;
            const void *values;
            BN_TRY(bn_snapshot_wait(sim->ctx, s->fields[i], part, &r, &values));
            BN_TRY(bn_field_write_region(sim->fields[i], 0, bn_field_describe(sim->fields[i])->components, &r,
                                         BN_OWN_TYPE, values));
        }
    s->numbers.restores = true;
    sim->outputs_of = 0;
    return bn_sim_serialize(sim, &s->numbers);
}
