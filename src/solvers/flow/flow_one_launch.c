/* flow_one_launch.c: a step in one launch (kernels/flow_step.cl) on small grids, where launches cost more than what
 * they do: on a device whose work-groups run side by side, which the setup proves, since they wait for each other. */
#include "flow.h"

#include "numerics/spectral.h"

#include <stdlib.h>

/* Rows and columns of the temperature, if there is one, else of the vorticity. False: the case is not of the kind, or
 * the device could not. */
static bool suits(const flow *s, const bn_device_info *device, bn_spectral_axis out[2])
{
    if (!s->systems.coupled || s->newton.on || s->systems.launches == BN_LAUNCHES_SEVERAL)
        return false;
    if (s->systems.launches == BN_LAUNCHES_AUTO && !bn_spectral_gains_by_one_launch(device, s->config.nx, s->config.ny))
        return false;
    if (!bn_spectral_folds_or_splits(&s->systems.desc[FLOW_OMEGA].stencil, flow_real_bytes(s), out) || !out[0].odd ||
        out[1].low_free || out[1].high_free)
        return false;
    return s->config.a == 0 ||
           (s->systems.desc[FLOW_HEAT].method == BN_LINEAR_SPECTRAL &&
            bn_spectral_folds_or_splits(&s->systems.desc[FLOW_HEAT].stencil, flow_real_bytes(s), out));
}

bn_status flow_plan_one_launch(flow *s, bn_plan *p)
{
    bn_spectral_axis axes[2];
    const bn_spectral_axis *x = &axes[0], *y = &axes[1];
    const bn_device_info *device = bn_plan_device(p);
    const bool one = suits(s, device, axes);
    /* Beside steps in one launch there are few direct solutions. */
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        s->systems.desc[i].launches = one ? BN_LAUNCHES_SEVERAL : s->systems.launches;
    /* The last one of several launches, without the sums, which take more time than all the rest of it. */
    if (one || !s->systems.direct || s->newton.on || !device)
        BN_TRY(bn_plan_skip_kernel(p, "flow_velocity"));
    if (!one)
        return bn_plan_skip_kernel(p, "flow_step");
    BN_TRY(bn_plan_define_int(p, "ONE_LAUNCH", 1));
    BN_TRY(bn_plan_define_int(p, "LENGTH_X", x->length));
    BN_TRY(bn_plan_define_int(p, "LOG_X", x->log));
    BN_TRY(bn_plan_define_int(p, "SPLIT_X", x->split[0]));
    BN_TRY(bn_plan_define_int(p, "THEN_SPLIT_X", x->split[1]));
    BN_TRY(bn_plan_define_int(p, "ROOM", (long)bn_spectral_room(x)));
    BN_TRY(bn_plan_define_int(p, "CHUNK", bn_column_chunk(y->intervals)));
    BN_TRY(bn_plan_define_int(p, "COLUMNS", BN_SPECTRAL_ONE_LAUNCH_COLUMNS));
    BN_TRY(bn_plan_define_int(p, "HEAT_ODD_X", x->odd));
    BN_TRY(bn_plan_define_int(p, "HEAT_LOW_FREE_Y", y->low_free));
    BN_TRY(bn_plan_define_int(p, "HEAT_HIGH_FREE_Y", y->high_free));
    return bn_plan_define_int(p, "BORDER", s->systems.border);
}

static bn_status create_systems(bn_domain *d, const bn_column_plan *p, bn_device_array **out)
{
    return bn_device_array_reals(d, "systems along y", p->tables, bn_column_numbers(p), out);
}

static bn_status create_tables(bn_domain *d, const flow *s, bn_device_array **table)
{
    const size_t bytes = flow_real_bytes(s);
    bn_spectral_plan omega = { 0 }, psi = { 0 }, heat = { 0 };
    bn_status st = BN_OK;
    if (!bn_spectral_plan_create(&s->systems.desc[FLOW_OMEGA].stencil, bytes, &omega) ||
        !bn_spectral_plan_second(&s->systems.desc[FLOW_PSI].stencil, bytes, &psi) ||
        (s->config.a > 0 && !bn_spectral_plan_create(&s->systems.desc[FLOW_HEAT].stencil, bytes, &heat))) {
        st = bn_fail(bn_domain_context(d), BN_MEMORY, "no memory for the tables of a step");
        goto out;
    }
    BN_GO(bn_spectral_tables(d, &omega.axis[0], false, &table[STEP_PAIRS], &table[STEP_PLACES]));
    BN_GO(create_systems(d, &omega.columns, &table[STEP_OMEGA]));
    BN_GO(create_systems(d, &psi.columns, &table[STEP_PSI]));
    if (s->config.a > 0) {
        BN_GO(bn_spectral_tables(d, &heat.axis[0], false, NULL, &table[STEP_HEAT_PLACES]));
        BN_GO(create_systems(d, &heat.columns, &table[STEP_HEAT]));
    }
out:
    bn_spectral_plan_destroy(&omega);
    bn_spectral_plan_destroy(&psi);
    bn_spectral_plan_destroy(&heat);
    return st;
}

static bn_status launch(flow *s, bool run)
{
    bn_device_array *const *t = s->device.step_tables;
    const flow_fields *f = &s->fields;
    const bn_linear_work *w = &s->systems.work[FLOW_OMEGA];
    bn_field *border = f->psi_border ? f->psi_border : f->rhs;
    if (s->config.a > 0)
        return BN_RUN(s->device.step, BN_UPDATE(f->omega), BN_UPDATE(f->next), BN_READ(f->psi, 1), BN_UPDATE(f->before),
                      BN_UPDATE(f->velocity), BN_ARRAY(s->device.moving), BN_UPDATE(f->T), BN_UPDATE(f->T_next),
                      BN_READ(s->systems.work[FLOW_HEAT].bits, 0), BN_READ(f->node, 0), BN_READ(w->bits, 0),
                      BN_UPDATE(f->rhs), BN_UPDATE(w->q), BN_UPDATE(w->p), BN_READ(border, 0), BN_ARRAY(t[STEP_PAIRS]),
                      BN_ARRAY(t[STEP_PLACES]), BN_ARRAY(t[STEP_OMEGA]), BN_ARRAY(t[STEP_PSI]),
                      BN_ARRAY(t[STEP_HEAT_PLACES]), BN_ARRAY(t[STEP_HEAT]), BN_ARRAY(t[STEP_MEETING]), BN_I32V(run),
                      BN_SCALARS(s->device.totals));
    return BN_RUN(s->device.step, BN_UPDATE(f->omega), BN_UPDATE(f->next), BN_READ(f->psi, 1), BN_UPDATE(f->before),
                  BN_UPDATE(f->velocity), BN_ARRAY(s->device.moving), BN_READ(f->node, 0), BN_READ(w->bits, 0),
                  BN_UPDATE(f->rhs), BN_UPDATE(w->q), BN_UPDATE(w->p), BN_READ(border, 0), BN_ARRAY(t[STEP_PAIRS]),
                  BN_ARRAY(t[STEP_PLACES]), BN_ARRAY(t[STEP_OMEGA]), BN_ARRAY(t[STEP_PSI]), BN_ARRAY(t[STEP_MEETING]),
                  BN_I32V(run), BN_SCALARS(s->device.totals));
}

bn_status flow_one_launch_setup(bn_sim *sim, flow *s)
{
    bn_domain *d = bn_sim_domain(sim);
    bn_device_array **t = s->device.step_tables;
    double totals[FLOW_TOTALS + 1];
    s->device.step = bn_sim_kernel(sim, "flow_step");
    if (!s->device.step || bn_domain_boxes(d) > 1 || !bn_kernel_fits(s->device.step)) {
        s->device.step = NULL;
        return BN_OK;
    }
    BN_TRY(bn_device_array_meeting(d, &t[STEP_MEETING]));
    BN_TRY(create_tables(d, s, t));
    bn_kernel_side_by_side(s->device.step, s->config.nx > s->config.ny ? s->config.nx : s->config.ny);
    BN_TRY(launch(s, false));
    BN_TRY(bn_scalars_read(s->device.totals, totals, FLOW_TOTALS + 1));
    if (totals[FLOW_TOTALS] != 0) {
        bn_log(bn_sim_context(sim), BN_LOG_WARNING,
               "work-groups do not run side by side as this device's promise has it: steps are several launches");
        s->device.step = NULL;
    }
    return BN_OK;
}

void flow_one_launch_teardown(flow *s)
{
    for (int i = 0; i < FLOW_STEP_TABLES; i++)
        bn_device_array_destroy(&s->device.step_tables[i]);
}

bn_status flow_one_launch(flow *s)
{
    BN_TRY(launch(s, true));
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (s->systems.solver[i])
            bn_linear_count(s->systems.solver[i]);
    bn_field_swap(s->fields.psi, s->fields.before);
    if (s->config.a > 0)
        bn_field_swap(s->fields.T, s->fields.T_next);
    return BN_OK;
}

bn_status flow_one_launch_check(bn_sim *sim, const flow *s)
{
    return !s->device.step || s->totals[FLOW_TOTALS] == 0
               ? BN_OK
               : bn_fail(bn_sim_context(sim), BN_DEVICE,
                         "work-groups waited for each other in vain; solver.launches = \"several\" goes without");
}
