/* flow_one_launch.c: a step in one launch (kernels/flow_step.cl) on small grids, where launches cost more than what
 * they do: on a device whose work-groups run side by side, which the setup proves, since they wait for each other. */
#include "flow.h"

#include "numerics/spectral_plan.h"

#include <stdlib.h>

/* Above so many nodes separate launches are faster: on an H200 103 us a step against 119 at 513 x 513, with heat. */
enum { ONE_LAUNCH_NODES = 300 * 300 };

/* Whether the case is of the kind, on a device that could. */
static bool suits(const flow *s, const bn_device_info *device, int log[2], bool odd[2])
{
    int heat_log[2];
    if (!s->systems.coupled || s->newton.on || s->systems.launches == FLOW_LAUNCHES_SEVERAL)
        return false;
    if (s->systems.launches == FLOW_LAUNCHES_AUTO &&
        (!device || !device->side_by_side || (double)s->config.nx * s->config.ny > ONE_LAUNCH_NODES))
        return false;
    if (!bn_spectral_folds(&s->systems.desc[FLOW_OMEGA].stencil, flow_real_bytes(s), log, odd))
        return false;
    return s->config.a == 0 ||
           (s->systems.desc[FLOW_HEAT].method == BN_LINEAR_SPECTRAL &&
            bn_spectral_folds(&s->systems.desc[FLOW_HEAT].stencil, flow_real_bytes(s), heat_log, odd));
}

bn_status flow_plan_one_launch(const flow *s, bn_plan *p)
{
    int log[2];
    bool odd[2];
    const bn_device_info *device = bn_plan_device(p);
    const bool one = suits(s, device, log, odd);
    /* The last one of several launches, without the sums, which take its time on a GPU and none on a CPU. */
    if (one || !s->systems.direct || s->newton.on || !device || device->cpu)
        BN_TRY(bn_plan_skip_kernel(p, "flow_velocity"));
    if (!one)
        return bn_plan_skip_kernel(p, "flow_step");
    BN_TRY(bn_plan_define_int(p, "ONE_LAUNCH", 1));
    BN_TRY(bn_plan_define_int(p, "STEP_LOG_X", log[0]));
    BN_TRY(bn_plan_define_int(p, "STEP_LOG_Y", log[1]));
    BN_TRY(bn_plan_define_int(p, "HEAT_ODD_X", odd[0]));
    BN_TRY(bn_plan_define_int(p, "HEAT_ODD_Y", odd[1]));
    return bn_plan_define_int(p, "BORDER", s->systems.border);
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
    for (int k = 0; k < 2; k++) {
        const bn_spectral_axis *a = &omega.axis[k], *h = &heat.axis[k];
        const size_t count = (size_t)a->count;
        BN_GO(bn_device_array_reals(d, "twiddle factors", a->factors, bn_spectral_factors(a),
                                    &table[STEP_TWIDDLE_X + k]));
        BN_GO(bn_device_array_integers(d, "order", a->pick, count, &table[STEP_PICK_X + k]));
        BN_GO(bn_device_array_reals(d, "eigenvalues", a->eigenvalue, count, &table[STEP_OMEGA_X + k]));
        BN_GO(bn_device_array_reals(d, "eigenvalues", psi.axis[k].eigenvalue, count, &table[STEP_PSI_X + k]));
        if (s->config.a == 0)
            continue;
        BN_GO(bn_device_array_integers(d, "order", h->pick, (size_t)h->count, &table[STEP_HEAT_PICK_X + k]));
        BN_GO(bn_device_array_reals(d, "eigenvalues", h->eigenvalue, (size_t)h->count, &table[STEP_HEAT_X + k]));
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
        return BN_RUN(
            s->device.step, BN_UPDATE(f->omega), BN_UPDATE(f->next), BN_READ(f->psi, 1), BN_UPDATE(f->before),
            BN_UPDATE(f->velocity), BN_ARRAY(s->device.moving), BN_UPDATE(f->T), BN_UPDATE(f->T_next),
            BN_READ(s->systems.work[FLOW_HEAT].bits, 0), BN_READ(f->node, 0), BN_READ(w->bits, 0), BN_UPDATE(f->rhs),
            BN_UPDATE(w->q), BN_UPDATE(w->p), BN_READ(border, 0), BN_ARRAY(t[STEP_TWIDDLE_X]),
            BN_ARRAY(t[STEP_TWIDDLE_Y]), BN_ARRAY(t[STEP_PICK_X]), BN_ARRAY(t[STEP_PICK_Y]), BN_ARRAY(t[STEP_OMEGA_X]),
            BN_ARRAY(t[STEP_OMEGA_Y]), BN_ARRAY(t[STEP_PSI_X]), BN_ARRAY(t[STEP_PSI_Y]), BN_ARRAY(t[STEP_HEAT_PICK_X]),
            BN_ARRAY(t[STEP_HEAT_PICK_Y]), BN_ARRAY(t[STEP_HEAT_X]), BN_ARRAY(t[STEP_HEAT_Y]),
            BN_ARRAY(t[STEP_COEFFICIENTS]), BN_ARRAY(t[STEP_MEETING]), BN_I32V(run), BN_SCALARS(s->device.totals));
    return BN_RUN(s->device.step, BN_UPDATE(f->omega), BN_UPDATE(f->next), BN_READ(f->psi, 1), BN_UPDATE(f->before),
                  BN_UPDATE(f->velocity), BN_ARRAY(s->device.moving), BN_READ(f->node, 0), BN_READ(w->bits, 0),
                  BN_UPDATE(f->rhs), BN_UPDATE(w->q), BN_UPDATE(w->p), BN_READ(border, 0), BN_ARRAY(t[STEP_TWIDDLE_X]),
                  BN_ARRAY(t[STEP_TWIDDLE_Y]), BN_ARRAY(t[STEP_PICK_X]), BN_ARRAY(t[STEP_PICK_Y]),
                  BN_ARRAY(t[STEP_OMEGA_X]), BN_ARRAY(t[STEP_OMEGA_Y]), BN_ARRAY(t[STEP_PSI_X]),
                  BN_ARRAY(t[STEP_PSI_Y]), BN_ARRAY(t[STEP_COEFFICIENTS]), BN_ARRAY(t[STEP_MEETING]), BN_I32V(run),
                  BN_SCALARS(s->device.totals));
}

bn_status flow_one_launch_setup(bn_sim *sim, flow *s)
{
    bn_domain *d = bn_sim_domain(sim);
    bn_device_array **t = s->device.step_tables;
    const size_t pitch = ((size_t)s->config.ny + 15) / 16 * 16, coefficients = 3 * pitch * s->config.nx;
    const int32_t none[4] = { 0 };
    double totals[FLOW_TOTALS + 1];
    s->device.step = bn_sim_kernel(sim, "flow_step");
    if (!s->device.step || bn_domain_boxes(d) > 1 || !bn_kernel_fits(s->device.step)) {
        s->device.step = NULL;
        return BN_OK;
    }
    double *zeros = calloc(coefficients, sizeof *zeros);
    if (!zeros)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the coefficients of a step");
    const bn_status st = bn_device_array_reals(d, "coefficients", zeros, coefficients, &t[STEP_COEFFICIENTS]);
    free(zeros);
    BN_TRY(st);
    BN_TRY(bn_device_array_integers(d, "meeting", none, 4, &t[STEP_MEETING]));
    BN_TRY(create_tables(d, s, t));
    (void)bn_kernel_side_by_side(s->device.step, s->config.nx > s->config.ny ? s->config.nx : s->config.ny);
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
