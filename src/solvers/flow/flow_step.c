/* flow_step.c: the step on a device, and what both engines report. */
#include "flow.h"

#include <math.h>

static bn_status setup(bn_sim *sim, void *state)
{
    flow *s = state;
    s->advance = bn_sim_kernel(sim, "flow_advance");
    s->source = bn_sim_kernel(sim, "flow_source");
    s->walls = bn_sim_kernel(sim, "flow_walls");
    s->total = bn_sim_kernel(sim, "flow_total");
    BN_TRY(bn_cg_create(bn_sim_domain(sim), "flow cg", &(bn_cg_work){ s->r, s->p, s->p_next }, &s->cg));
    BN_TRY(bn_partials_create(bn_sim_domain(sim), "flow sums", 3, &s->partials));
    return bn_scalars_create(bn_sim_domain(sim), "flow totals", 3, &s->scalars);
}

static void teardown(void *state)
{
    flow *s = state;
    bn_cg_destroy(&s->cg);
    bn_partials_destroy(&s->partials);
    bn_scalars_destroy(&s->scalars);
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    flow *s = state;
    bn_context *ctx = bn_sim_context(sim);
    BN_TRY(BN_RUN(s->advance, BN_READ(s->omega, 1), BN_READ(s->velocity, 0), BN_READ(s->node, 0), BN_WRITE(s->rhs),
                  BN_WRITE(s->next)));
    BN_TRY(bn_cg_solve(s->cg, s->A_omega, s->next, s->rhs, &s->target_omega, &s->report_omega));
    BN_TRY(bn_cg_judge(ctx, "the system for omega", &s->target_omega, &s->report_omega));
    BN_TRY(BN_RUN(s->source, BN_READ(s->next, 0), BN_READ(s->psi, 1), BN_READ(s->node, 0), BN_UPDATE(s->before),
                  BN_WRITE(s->rhs)));
    BN_TRY(bn_cg_solve(s->cg, s->A_psi, s->before, s->rhs, &s->target_psi, &s->report_psi));
    BN_TRY(bn_cg_judge(ctx, "the system for psi", &s->target_psi, &s->report_psi));
    bn_field_swap(s->psi, s->before);
    BN_TRY(BN_RUN(s->walls, BN_READ(s->psi, 1), BN_READ(s->next, 1), BN_READ(s->node, 0), BN_UPDATE(s->omega),
                  BN_UPDATE(s->velocity), BN_PARTIALS(s->partials)));
    BN_TRY(BN_RUN(s->total, BN_PARTIALS(s->partials), BN_SCALARS(s->scalars)));
    BN_TRY(bn_scalars_read(s->scalars, s->totals, 3));
    return flow_report(sim, s, out);
}

/* Errors of psi do not outlive the step, those of omega add up over the steps of a reference time: omega gets the
 * smaller share. Nothing below the roundoff is asked for. */
void flow_set_tolerance(flow *s, double tolerance)
{
    s->target_psi.tolerance = fmax(tolerance, s->roundoff);
    s->target_omega.tolerance = fmax(tolerance * fmin(1, s->k.dt / s->reference_time), s->roundoff);
}

bn_status flow_report(bn_sim *sim, flow *s, bn_step *out)
{
    const double change = s->totals[0], size = s->totals[1], speed = s->totals[2];
    if (!isfinite(change) || !isfinite(size) || !isfinite(speed))
        return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                       "the vorticity is not finite any more; try a smaller time.dt (now %g s)", s->k.dt);
    s->total_iterations += s->report_psi.iterations + s->report_omega.iterations;
    *out = (bn_step){ .dt = s->k.dt };
    out->residual = size > 0 ? sqrt(change / size) * (s->reference_time / s->k.dt) : 0;
    /* The next solve need not be more exact than what a step changes anyway: the error stays a share of the time step's
     * own. */
    if (s->cg_forcing > 0 && size > 0)
        flow_set_tolerance(s, fmax(s->cg_tolerance, fmin(s->cg_forcing * sqrt(change / size), FLOW_LOOSEST)));
    out->converged = s->steady > 0 && out->residual <= s->steady;
    out->series[0] = s->report_omega.iterations;
    out->series[1] = s->report_psi.iterations;
    out->series[2] = s->report_psi.residual;
    out->series[3] = speed;
    return BN_OK;
}

const bn_engine flow_device = { .name = "opencl", .setup = setup, .step = step, .teardown = teardown };
