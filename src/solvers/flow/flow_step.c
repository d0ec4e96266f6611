/* flow_step.c: the step on a device, and what both engines report. */
#include "flow.h"

#include <math.h>
#include <stdlib.h>

/* The lifts: what 1 on one body and 0 on all others and on the border is in the fluid. */
static bn_status setup_bodies(bn_sim *sim, flow *s)
{
    const size_t points = (size_t)s->nx * s->ny;
    bn_status st = BN_OK;
    double *lift = calloc(((size_t)s->bodies + 1) * points, sizeof *lift),
           *rhs = lift ? lift + (size_t)s->bodies * points : NULL;
    if (!lift)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the obstacles");
    bn_cg_target target = s->target[FLOW_PSI];
    target.tolerance = fmax(1e-12, 8 * s->roundoff);
    for (int body = 1; body <= s->bodies; body++) {
        double *own = lift + (size_t)(body - 1) * points;
        flow_lift_system(s, body, rhs, own);
        BN_GO(bn_field_set(s->next, own, points));
        BN_GO(bn_field_set(s->rhs, rhs, points));
        BN_GO(bn_linear_solve(s->linear[FLOW_PSI], s->next, s->rhs, &target));
        BN_GO(bn_linear_report(s->linear[FLOW_PSI], &s->report[FLOW_PSI]));
        BN_GO(bn_field_get(s->next, own, points));
    }
    BN_GO(bn_field_set(s->lift, lift, (size_t)s->bodies * points));
    BN_GO(flow_find_response(sim, s, lift));
    BN_GO(bn_partials_create(bn_sim_domain(sim), "sums over bodies", s->bodies, 0, &s->body_sums));
    BN_GO(bn_scalars_create(bn_sim_domain(sim), "response", (size_t)(s->bodies * s->bodies), &s->responses));
    BN_GO(bn_scalars_write(s->responses, s->response, (size_t)(s->bodies * s->bodies)));
out:
    free(lift);
    return st;
}

static bn_status setup(bn_sim *sim, void *state)
{
    flow *s = state;
    s->heat = bn_sim_kernel(sim, "flow_heat");
    s->advance = bn_sim_kernel(sim, "flow_advance");
    s->source = bn_sim_kernel(sim, "flow_source");
    s->walls = bn_sim_kernel(sim, "flow_walls");
    s->total = bn_sim_kernel(sim, "flow_total");
    s->sum_bodies = bn_sim_kernel(sim, "flow_bodies");
    s->respond = bn_sim_kernel(sim, "flow_respond");
    s->raise = bn_sim_kernel(sim, "flow_lift");
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (s->bits[i])
            BN_TRY(bn_linear_create(bn_sim_domain(sim), &s->system[i], &s->work[i], &s->linear[i]));
    BN_TRY(bn_partials_create(bn_sim_domain(sim), "flow sums", 4, 1u << 2, &s->partials));
    BN_TRY(bn_scalars_create(bn_sim_domain(sim), "flow totals", FLOW_TOTALS + FLOW_BODIES, &s->scalars));
    return s->bodies > 0 ? setup_bodies(sim, s) : BN_OK;
}

static void teardown(void *state)
{
    flow *s = state;
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        bn_linear_destroy(&s->linear[i]);
    bn_partials_destroy(&s->partials);
    bn_partials_destroy(&s->body_sums);
    bn_scalars_destroy(&s->scalars);
    bn_scalars_destroy(&s->responses);
}

static bn_status step_heat(flow *s)
{
    BN_TRY(BN_RUN(s->heat, BN_READ(s->T, 1), BN_READ(s->velocity, 0), BN_READ(s->node, 0),
                  BN_READ(s->work[FLOW_HEAT].bits, 0), BN_WRITE(s->rhs), BN_WRITE(s->T_next)));
    BN_TRY(bn_linear_solve(s->linear[FLOW_HEAT], s->T_next, s->rhs, &s->target[FLOW_HEAT]));
    bn_field_swap(s->T, s->T_next);
    return BN_OK;
}

/* psi on the bodies, from the new vorticity beside them. */
static bn_status step_bodies(flow *s)
{
    if (s->a > 0)
        BN_TRY(BN_RUN(s->sum_bodies, BN_READ(s->psi, 1), BN_READ(s->next, 0), BN_READ(s->T, 1), BN_READ(s->node, 1),
                      BN_PARTIALS(s->body_sums)));
    else
        BN_TRY(BN_RUN(s->sum_bodies, BN_READ(s->psi, 1), BN_READ(s->next, 0), BN_READ(s->node, 1),
                      BN_PARTIALS(s->body_sums)));
    BN_TRY(BN_RUN(s->respond, BN_TOTALS(s->body_sums), BN_SCALARS(s->responses), BN_SCALARS(s->scalars)));
    return BN_RUN(s->raise, BN_READ(s->lift, 0), BN_SCALARS(s->scalars), BN_UPDATE(s->psi));
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    flow *s = state;
    const bool heat = s->a > 0;
    if (heat) {
        BN_TRY(step_heat(s));
        BN_TRY(BN_RUN(s->advance, BN_READ(s->omega, 1), BN_READ(s->velocity, 0), BN_READ(s->T, 1), BN_READ(s->node, 0),
                      BN_READ(s->work[FLOW_OMEGA].bits, 0), BN_WRITE(s->rhs), BN_WRITE(s->next)));
    } else {
        BN_TRY(BN_RUN(s->advance, BN_READ(s->omega, 1), BN_READ(s->velocity, 0), BN_READ(s->node, 0),
                      BN_READ(s->work[FLOW_OMEGA].bits, 0), BN_WRITE(s->rhs), BN_WRITE(s->next)));
    }
    BN_TRY(bn_linear_solve(s->linear[FLOW_OMEGA], s->next, s->rhs, &s->target[FLOW_OMEGA]));
    BN_TRY(BN_RUN(s->source, BN_READ(s->next, 0), BN_READ(s->psi, 1), BN_READ(s->node, 0),
                  BN_READ(s->work[FLOW_PSI].bits, 0), BN_UPDATE(s->before), BN_WRITE(s->rhs)));
    BN_TRY(bn_linear_solve(s->linear[FLOW_PSI], s->before, s->rhs, &s->target[FLOW_PSI]));
    bn_field_swap(s->psi, s->before);
    if (s->bodies > 0)
        BN_TRY(step_bodies(s));
    if (heat)
        BN_TRY(BN_RUN(s->walls, BN_READ(s->psi, 1), BN_READ(s->next, 1), BN_READ(s->T, 1),
                      BN_READ(s->work[FLOW_HEAT].bits, 0), BN_READ(s->node, 0), BN_UPDATE(s->omega),
                      BN_UPDATE(s->velocity), BN_PARTIALS(s->partials)));
    else
        BN_TRY(BN_RUN(s->walls, BN_READ(s->psi, 1), BN_READ(s->next, 1), BN_READ(s->node, 0), BN_UPDATE(s->omega),
                      BN_UPDATE(s->velocity), BN_PARTIALS(s->partials)));
    BN_TRY(BN_RUN(s->total, BN_TOTALS(s->partials), BN_SCALARS(s->scalars)));
    BN_TRY(
        bn_linear_reports(s->linear, s->report, FLOW_SYSTEMS, s->scalars, s->totals, FLOW_TOTALS + (size_t)s->bodies));
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        s->solves[i] = s->linear[i] ? bn_linear_solves(s->linear[i]) : 0;
    return flow_report(sim, s, out);
}

/* Errors of psi do not outlive the step, those of omega and of the temperature add up over the steps of a reference
 * time: they get the smaller share. Nothing below the roundoff is asked for. */
static void set_tolerances(flow *s, double psi, double tolerance)
{
    const double share = tolerance * fmin(1, s->k.dt / s->reference_time);
    s->target[FLOW_PSI].tolerance = fmax(psi, s->roundoff);
    s->target[FLOW_OMEGA].tolerance = s->target[FLOW_HEAT].tolerance = fmax(share, s->roundoff);
}

void flow_set_tolerance(flow *s, double tolerance) { set_tolerances(s, tolerance, tolerance); }

/* The next solves need not be more exact than what the steady equations leave over in a step, `rest` of the vorticity,
 * whose norm is `size`: the error stays a share of the time step's own. That share must be free of what the errors
 * themselves do to the vorticity at walls, or they would sustain each other: a residual r of psi's system moves it by
 * at most wall sqrt(length / h) |r| in the norm, of which the step after leaves viscosity dt / h^2 (docs/flow.md). */
static void follow_flow(flow *s, double rest, double size)
{
    const double h = fmin(s->h[0], s->h[1]), wall = s->woods ? 3 : 2;
    const double noise = wall * sqrt(s->length / h) * fmax(s->k.nux, s->k.nuy);
    const double steady = s->steady * s->k.dt / s->reference_time, least = s->steady > 0 ? 0 : s->cg_tolerance;
    const double enough = s->cg_forcing * fmax(rest, steady), right = s->report[FLOW_PSI].right;
    const double scale = (right > size ? size / right : 1) / fmax(1, noise);
    set_tolerances(s, fmin(fmax(least, enough * scale), FLOW_LOOSEST), fmin(fmax(least, enough), FLOW_LOOSEST));
}

bn_status flow_report(bn_sim *sim, flow *s, bn_step *out)
{
    const double rest = s->totals[0], size = s->totals[1], speed = s->totals[2], warming = s->totals[3];
    if (!isfinite(rest) || !isfinite(size) || !isfinite(speed) || !isfinite(warming))
        return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                       "the vorticity is not finite any more; try a smaller time.dt (now %g s)", s->k.dt);
    const double points = (double)s->nx * s->ny, rate = s->reference_time / s->k.dt;
    /* By itself at rest vorticity is only rounding: then the temperature decides alone. */
    const double turning = size > 0 ? sqrt(rest / size) : 0;
    const double heating = s->a > 0 ? sqrt(warming / points) / s->temperature_scale : 0;
    const double relative = fmax(turning, heating);
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        s->total_iterations += s->report[i].iterations;
    *out = (bn_step){ .dt = s->k.dt };
    out->residual = relative * rate;
    if (s->cg_forcing > 0 && size > 0)
        follow_flow(s, relative, sqrt(size));
    out->converged = s->steady > 0 && out->residual <= s->steady;
    out->series[0] = s->report[FLOW_OMEGA].iterations;
    out->series[1] = s->report[FLOW_PSI].iterations;
    out->series[2] = s->report[FLOW_PSI].residual;
    out->series[3] = speed;
    size_t next = 4;
    if (s->a > 0)
        out->series[next++] = s->report[FLOW_HEAT].iterations;
    if (s->bodies > 0) {
        s->psi_body += s->totals[FLOW_TOTALS];
        out->series[next] = s->psi_body;
    }
    return BN_OK;
}

bn_status flow_serialize(bn_sim *sim, void *state, bn_checkpoint_state *k)
{
    flow *s = state;
    double sums[2] = { s->total_iterations, s->psi_body };
    (void)sim;
    BN_TRY(bn_state_reals(k, "sums", sums, 2));
    s->total_iterations = sums[0];
    s->psi_body = sums[1];
    BN_TRY(bn_state_counts(k, "solves", s->solves, FLOW_SYSTEMS));
    for (int i = 0; i < FLOW_SYSTEMS; i++) {
        static const char *const names[FLOW_SYSTEMS] = { "psi", "omega", "heat" };
        bn_cg_report *r = &s->report[i];
        double report[] = { r->state, r->residual, r->iterations, r->restarts, r->right, s->target[i].tolerance };
        BN_TRY(bn_state_reals(k, names[i], report, sizeof report / sizeof *report));
        *r = (bn_cg_report){ .state = (bn_cg_state)report[0],
                             .residual = report[1],
                             .iterations = (unsigned)report[2],
                             .restarts = (unsigned)report[3],
                             .right = report[4] };
        s->target[i].tolerance = report[5];
    }
    return BN_OK;
}

static bn_status resume(bn_sim *sim, void *state)
{
    flow *s = state;
    (void)sim;
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (s->linear[i])
            bn_linear_resume(s->linear[i], s->solves[i], &s->report[i]);
    return BN_OK;
}

const bn_engine flow_device = {
    .name = "opencl", .setup = setup, .step = step, .teardown = teardown, .resume = resume
};
