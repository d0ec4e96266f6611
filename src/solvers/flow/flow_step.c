/* flow_step.c: the step on a device, and what both engines report. */
#include "flow.h"

#include <math.h>

static bn_status solve_psi(flow *s, const bn_cg_target *target)
{
    BN_TRY(bn_linear_solve(s->systems.solver[FLOW_PSI], s->fields.next, s->fields.rhs, target));
    return bn_linear_report(s->systems.solver[FLOW_PSI], &s->systems.report[FLOW_PSI]);
}

/* psi on the first body, to which a device adds its changes. */
static bn_status write_totals(flow *s)
{
    s->totals[FLOW_TOTALS] = s->psi_body;
    return bn_scalars_write(s->device.totals, s->totals, FLOW_TOTALS + 1);
}

/* The inverse of the influence matrix, and the sums that it is applied to. */
static bn_status setup_bodies(bn_sim *sim, flow *s)
{
    const int n = s->border.bodies;
    BN_TRY(flow_setup_bodies(sim, s, solve_psi));
    BN_TRY(bn_partials_create(bn_sim_domain(sim), "sums over bodies", n, 0, &s->device.body_sums));
    bn_partials_share(s->device.body_sums);
    BN_TRY(bn_scalars_create(bn_sim_domain(sim), "flow totals", FLOW_TOTALS + 1, &s->device.totals_before));
    BN_TRY(bn_scalars_create(bn_sim_domain(sim), "influence matrix", (size_t)(n * n), &s->device.influence_inverse));
    BN_TRY(bn_scalars_write(s->device.influence_inverse, s->influence_inverse, (size_t)(n * n)));
    return write_totals(s);
}

/* The system of psi alone: the first of two that are the same; the second solution is not wanted. */
static bn_status solve_border(flow *s, const bn_cg_target *target)
{
    bn_linear *psi = s->systems.solver[FLOW_PSI];
    const bn_stencil *stencil = &s->systems.desc[FLOW_PSI].stencil;
    (void)target;
    BN_TRY(bn_linear_couple(psi, stencil, &s->systems.work[FLOW_PSI], stencil, s->fields.psi_border));
    return bn_linear_solve_two(psi, s->fields.next, s->systems.work[FLOW_PSI].r, s->fields.rhs);
}

static bn_status setup_coupled(bn_sim *sim, flow *s)
{
    const bn_linear_desc *desc = s->systems.desc;
    const flow_system first = s->newton.on ? FLOW_PSI : FLOW_OMEGA;
    BN_TRY(flow_setup_start(sim, s, solve_border));
    if (s->systems.border)
        BN_TRY(flow_setup_border(s, solve_border));
    return bn_linear_couple(s->systems.solver[first], &desc[first].stencil, &s->systems.work[first],
                            &desc[FLOW_PSI].stencil, s->fields.psi_border);
}

static bn_status setup(bn_sim *sim, void *state)
{
    flow *s = state;
    s->device.advect_heat = bn_sim_kernel(sim, "flow_advect_heat");
    s->device.advect_vorticity = bn_sim_kernel(sim, "flow_advect_vorticity");
    s->device.poisson_source = bn_sim_kernel(sim, "flow_poisson_source");
    s->device.wall_vorticity = bn_sim_kernel(sim, "flow_wall_vorticity");
    s->device.velocity = bn_sim_kernel(sim, "flow_velocity");
    s->device.total_residual = bn_sim_kernel(sim, "flow_total_residual");
    s->device.body_pressure = bn_sim_kernel(sim, "flow_body_pressure");
    s->device.add_influence = bn_sim_kernel(sim, "flow_add_influence");
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (s->systems.bits[i] && !(s->newton.on && i == FLOW_OMEGA))
            BN_TRY(
                bn_linear_create(bn_sim_domain(sim), &s->systems.desc[i], &s->systems.work[i], &s->systems.solver[i]));
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (s->systems.solver[i])
            BN_TRY(bn_linear_prepare(s->systems.solver[i]));
    if (s->newton.on)
        BN_TRY(flow_newton_setup(sim, s));
    BN_TRY(bn_linear_axes(bn_sim_domain(sim), &s->systems.desc[FLOW_PSI].stencil, &s->device.axes));
    if (s->systems.coupled)
        BN_TRY(setup_coupled(sim, s));
    BN_TRY(bn_partials_create(bn_sim_domain(sim), "flow sums", 4, 1u << 2, &s->device.sums));
    BN_TRY(bn_scalars_create(bn_sim_domain(sim), "flow totals", FLOW_TOTALS + 1, &s->device.totals));
    BN_TRY(bn_device_array_reals(bn_sim_domain(sim), "walls' motion", s->border.moving,
                                 FLOW_SIDES * (size_t)(s->config.nx > s->config.ny ? s->config.nx : s->config.ny),
                                 &s->device.moving));
    if (!s->systems.coupled)
        BN_TRY(flow_setup_start(sim, s, solve_psi));
    if (s->border.bodies > 0)
        BN_TRY(setup_bodies(sim, s));
    s->systems.solves[FLOW_PSI] = bn_linear_solves(s->systems.solver[FLOW_PSI]);
    BN_TRY(flow_one_launch_setup(sim, s));
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (s->systems.solver[i])
            BN_TRY(bn_linear_ready(s->systems.solver[i]));
    return BN_OK;
}

static void teardown(void *state)
{
    flow *s = state;
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        bn_linear_destroy(&s->systems.solver[i]);
    bn_partials_destroy(&s->device.sums);
    bn_partials_destroy(&s->device.body_sums);
    bn_scalars_destroy(&s->device.totals);
    bn_scalars_destroy(&s->device.totals_before);
    bn_scalars_destroy(&s->device.influence_inverse);
    flow_one_launch_teardown(s);
    bn_device_array_destroy(&s->device.moving);
    bn_device_array_destroy(&s->device.axes);
    flow_newton_teardown(s);
}

static bn_status step_heat(flow *s)
{
    BN_TRY(BN_RUN(s->device.advect_heat, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(s->fields.T, 1),
                  BN_READ(s->fields.psi, 1), BN_READ(s->fields.velocity, 0), BN_READ(s->fields.node, 0),
                  BN_READ(s->systems.work[FLOW_HEAT].bits, 0), BN_WRITE(s->fields.rhs), BN_WRITE(s->fields.T_next)));
    BN_TRY(
        bn_linear_solve(s->systems.solver[FLOW_HEAT], s->fields.T_next, s->fields.rhs, &s->systems.target[FLOW_HEAT]));
    bn_field_swap(s->fields.T, s->fields.T_next);
    return BN_OK;
}

bn_status flow_step_bodies(flow *s, bool changes, bn_field *psi, bn_field *omega, bn_field *T)
{
    bn_scalars *before = changes ? NULL : s->device.totals;
    if (s->config.a > 0)
        BN_TRY(BN_RUN(s->device.body_pressure, BN_READ(psi, 1), BN_READ(omega, 0), BN_READ(T, 1),
                      BN_READ(s->fields.node, 1), BN_PARTIALS(s->device.body_sums)));
    else
        BN_TRY(BN_RUN(s->device.body_pressure, BN_READ(psi, 1), BN_READ(omega, 0), BN_READ(s->fields.node, 1),
                      BN_PARTIALS(s->device.body_sums)));
    if (before) {
        s->device.totals = s->device.totals_before;
        s->device.totals_before = before;
    }
    return BN_RUN(s->device.add_influence, BN_READ(s->fields.influence, 0), BN_TOTALS(s->device.body_sums),
                  BN_SCALARS(s->device.influence_inverse), BN_SCALARS_OR_NULL(before), BN_SCALARS(s->device.totals),
                  BN_UPDATE(psi));
}

static bn_status newton_step(bn_sim *sim, flow *s, bn_step *out)
{
    BN_TRY(flow_newton_step(sim, s, &flow_newton_device, out));
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        s->systems.solves[i] = s->systems.solver[i] ? bn_linear_solves(s->systems.solver[i]) : 0;
    return BN_OK;
}

/* Right-hand side of psi, and its start in `start`. */
static bn_status poisson_source(flow *s, bn_field *start)
{
    return BN_RUN(s->device.poisson_source, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(s->fields.next, 0),
                  BN_READ(s->fields.psi, 1), BN_READ(s->fields.node, 0), BN_READ(s->systems.work[FLOW_PSI].bits, 0),
                  BN_UPDATE(start), BN_WRITE(s->fields.rhs));
}

/* omega and psi together. The right-hand side of psi is needed for its residual alone. */
static bn_status solve_coupled(flow *s)
{
    bn_linear *omega = s->systems.solver[FLOW_OMEGA], *psi = s->systems.solver[FLOW_PSI];
    BN_TRY(bn_linear_solve_two(omega, s->fields.next, s->fields.before, s->fields.rhs));
    BN_TRY(bn_linear_check(omega, s->fields.next, s->fields.rhs, &s->systems.target[FLOW_OMEGA]));
    if (bn_linear_check_is_due(psi))
        BN_TRY(poisson_source(s, s->systems.work[FLOW_PSI].p));
    return bn_linear_check(psi, s->fields.before, s->fields.rhs, &s->systems.target[FLOW_PSI]);
}

static bn_status solve_apart(flow *s)
{
    BN_TRY(
        bn_linear_solve(s->systems.solver[FLOW_OMEGA], s->fields.next, s->fields.rhs, &s->systems.target[FLOW_OMEGA]));
    BN_TRY(poisson_source(s, s->fields.before));
    return bn_linear_solve(s->systems.solver[FLOW_PSI], s->fields.before, s->fields.rhs, &s->systems.target[FLOW_PSI]);
}

/* What is told of a step that nobody looks at. */
static bn_status quiet_step(flow *s, bn_step *out)
{
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        s->systems.solves[i] = s->systems.solver[i] ? bn_linear_solves(s->systems.solver[i]) : 0;
    *out = s->told;
    out->converged = false;
    s->behind = true;
    return BN_OK;
}

bn_status flow_catch_up(flow *s)
{
    if (!s->behind)
        return BN_OK;
    BN_TRY(bn_linear_reports(s->systems.solver, s->systems.report, FLOW_SYSTEMS, s->device.totals, s->totals,
                             FLOW_TOTALS + 1));
    if (s->border.bodies > 0)
        s->psi_body = s->totals[FLOW_TOTALS];
    s->behind = false;
    return BN_OK;
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    flow *s = state;
    const bool heat = s->config.a > 0;
    if (s->newton.on)
        return newton_step(sim, s, out);
    /* Direct solves need no answer of the device. */
    const bool quiet = s->systems.direct && bn_sim_is_quiet(sim) && bn_sim_steps(sim) % FLOW_LOOK_EVERY != 0 &&
                       s->told.dt > 0;
    if (quiet && s->device.step) {
        BN_TRY(flow_one_launch(s));
        return quiet_step(s, out);
    }
    if (heat) {
        BN_TRY(step_heat(s));
        BN_TRY(BN_RUN(s->device.advect_vorticity, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(s->fields.omega, 1),
                      BN_READ(s->fields.psi, 1), BN_READ(s->fields.velocity, 0), BN_READ(s->fields.T, 1),
                      BN_READ(s->fields.node, 0), BN_READ(s->systems.work[FLOW_OMEGA].bits, 0), BN_WRITE(s->fields.rhs),
                      BN_WRITE(s->fields.next)));
    } else {
        BN_TRY(BN_RUN(s->device.advect_vorticity, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(s->fields.omega, 1),
                      BN_READ(s->fields.psi, 1), BN_READ(s->fields.velocity, 0), BN_READ(s->fields.node, 0),
                      BN_READ(s->systems.work[FLOW_OMEGA].bits, 0), BN_WRITE(s->fields.rhs), BN_WRITE(s->fields.next)));
    }
    BN_TRY(s->systems.coupled ? solve_coupled(s) : solve_apart(s));
    bn_field_swap(s->fields.psi, s->fields.before);
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        s->systems.solves[i] = s->systems.solver[i] ? bn_linear_solves(s->systems.solver[i]) : 0;
    if (s->border.bodies > 0)
        BN_TRY(flow_step_bodies(s, false, s->fields.psi, s->fields.next, s->fields.T));
    if (quiet && s->device.velocity) {
        BN_TRY(BN_RUN(s->device.velocity, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(s->fields.psi, 1),
                      BN_READ(s->fields.next, 1), BN_READ(s->fields.node, 0), BN_ARRAY(s->device.moving),
                      BN_UPDATE(s->fields.omega), BN_UPDATE(s->fields.velocity)));
        return quiet_step(s, out);
    }
    if (heat)
        BN_TRY(BN_RUN(s->device.wall_vorticity, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(s->fields.psi, 1),
                      BN_READ(s->fields.next, 1), BN_READ(s->fields.T, 1), BN_READ(s->systems.work[FLOW_HEAT].bits, 0),
                      BN_READ(s->fields.node, 0), BN_ARRAY(s->device.moving), BN_UPDATE(s->fields.omega),
                      BN_UPDATE(s->fields.velocity), BN_PARTIALS(s->device.sums)));
    else
        BN_TRY(BN_RUN(s->device.wall_vorticity, BN_ARRAY_OR_NULL(s->device.axes), BN_READ(s->fields.psi, 1),
                      BN_READ(s->fields.next, 1), BN_READ(s->fields.node, 0), BN_ARRAY(s->device.moving),
                      BN_UPDATE(s->fields.omega), BN_UPDATE(s->fields.velocity), BN_PARTIALS(s->device.sums)));
    if (quiet)
        return quiet_step(s, out);
    BN_TRY(BN_RUN(s->device.total_residual, BN_TOTALS(s->device.sums), BN_SCALARS(s->device.totals)));
    BN_TRY(bn_linear_reports(s->systems.solver, s->systems.report, FLOW_SYSTEMS, s->device.totals, s->totals,
                             FLOW_TOTALS + 1));
    BN_TRY(flow_one_launch_check(sim, s));
    return flow_report(sim, s, out);
}

/* Errors of psi do not outlive the step, those of omega and of the temperature add up over the steps of a reference
 * time: they get the smaller share. Nothing below the roundoff is asked for. */
static void set_tolerances(flow *s, double psi, double tolerance)
{
    const double share = tolerance * fmin(1, s->k.dt / s->config.reference_time);
    s->systems.target[FLOW_PSI].tolerance = fmax(psi, s->config.roundoff);
    s->systems.target[FLOW_OMEGA].tolerance = s->systems.target[FLOW_HEAT].tolerance = fmax(share, s->config.roundoff);
}

void flow_set_tolerance(flow *s, double tolerance) { set_tolerances(s, tolerance, tolerance); }

/* Sets the tolerances of the next solves from the relative change of the flow in this step, so that their errors stay a
 * share of it. `size`: norm of the vorticity. Errors of psi change the vorticity at walls, and with it the measured
 * change: a residual r of psi's system by at most wall sqrt(length / h) |r| in the norm, of which nu dt / h^2 enters
 * the next step (docs/flow.md). The tolerance of psi leaves this out, so that errors do not sustain each other. */
static void follow_flow(flow *s, double change, double size)
{
    const double h = fmin(s->config.least_h[0], s->config.least_h[1]), wall = s->config.woods ? 3 : 2;
    const double noise = wall * sqrt(s->config.length / h) * flow_diffusion_number(s);
    const double steady = s->config.steady * s->k.dt / s->config.reference_time,
                 least = s->config.steady > 0 ? 0 : s->config.cg_tolerance;
    const double enough = s->config.cg_forcing * fmax(change, steady), right = s->systems.report[FLOW_PSI].right;
    const double scale = (right > size ? size / right : 1) / fmax(1, noise);
    set_tolerances(s, fmin(fmax(least, enough * scale), FLOW_LOOSEST), fmin(fmax(least, enough), FLOW_LOOSEST));
}

bn_status flow_report(bn_sim *sim, flow *s, bn_step *out)
{
    const double change = s->totals[0], size = s->totals[1], speed = s->totals[2], heat = s->totals[3];
    if (!isfinite(change) || !isfinite(size) || !isfinite(speed) || !isfinite(heat))
        return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                       "the vorticity is not finite any more; try a smaller time.dt (now %g s)", s->k.dt);
    const double points = (double)s->config.nx * s->config.ny, rate = s->config.reference_time / s->k.dt;
    /* Without any vorticity the temperature decides alone. */
    const double turning = size > 0 ? sqrt(change / size) : 0;
    const double heating = s->config.a > 0 ? sqrt(heat / points) / s->config.temperature_scale : 0;
    const double relative = fmax(turning, heating);
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        s->systems.total_iterations += s->systems.report[i].iterations;
    *out = (bn_step){ .dt = s->k.dt };
    out->residual = s->steady_residual = relative * rate;
    const bool look = bn_sim_steps(sim) % FLOW_LOOK_EVERY == 0;
    if (s->config.cg_forcing > 0 && size > 0 && (look || !s->systems.direct))
        follow_flow(s, relative, sqrt(size));
    out->converged = look && s->config.steady > 0 && out->residual <= s->config.steady;
    out->series[0] = s->systems.report[FLOW_OMEGA].iterations;
    out->series[1] = s->systems.report[FLOW_PSI].iterations;
    out->series[2] = s->systems.report[FLOW_PSI].residual;
    out->series[3] = speed;
    size_t next = 4;
    if (s->config.a > 0)
        out->series[next++] = s->systems.report[FLOW_HEAT].iterations;
    if (s->border.bodies > 0) {
        s->psi_body = s->totals[FLOW_TOTALS];
        out->series[next] = s->psi_body;
    }
    s->told = *out;
    s->behind = false;
    return BN_OK;
}

bn_status flow_serialize(bn_sim *sim, void *state, bn_checkpoint_state *k)
{
    flow *s = state;
    if (!bn_state_restores(k))
        BN_TRY(flow_catch_up(s));
    double sums[3] = { s->systems.total_iterations, s->psi_body, s->steady_residual };
    (void)sim;
    BN_TRY(bn_state_reals(k, "sums", sums, 3));
    s->systems.total_iterations = sums[0];
    s->psi_body = sums[1];
    s->steady_residual = sums[2];
    if (s->newton.on)
        BN_TRY(flow_newton_serialize(s, k));
    BN_TRY(bn_state_counts(k, "solves", s->systems.solves, FLOW_SYSTEMS));
    for (int i = 0; i < FLOW_SYSTEMS; i++) {
        static const char *const names[FLOW_SYSTEMS] = { "psi", "omega", "heat" };
        bn_cg_report *r = &s->systems.report[i];
        double report[] = {
            r->state, r->residual, r->iterations, r->restarts, r->right, s->systems.target[i].tolerance
        };
        BN_TRY(bn_state_reals(k, names[i], report, sizeof report / sizeof *report));
        *r = (bn_cg_report){ .state = (bn_cg_state)report[0],
                             .residual = report[1],
                             .iterations = (unsigned)report[2],
                             .restarts = (unsigned)report[3],
                             .right = report[4] };
        s->systems.target[i].tolerance = report[5];
    }
    return BN_OK;
}

static bn_status resume(bn_sim *sim, void *state)
{
    flow *s = state;
    (void)sim;
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        if (s->systems.solver[i])
            bn_linear_resume(s->systems.solver[i], s->systems.solves[i], &s->systems.report[i]);
    return s->border.bodies > 0 ? write_totals(s) : BN_OK;
}

const bn_engine flow_engine = {
    .name = "opencl", .setup = setup, .step = step, .teardown = teardown, .resume = resume
};
