/* flow_newton.c: steady states by Newton's method with GMRES: the method, on either engine. Sums, and with them all
 * decisions, have the same bits on both. docs/flow.md explains it. */
#include "flow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Residual at which a state of more viscosity is good enough to go on from (a worse one may lie where Newton's method
 * gets stuck at less viscosity); steps that it may take; the least share of a Newton step that is tried. */
#define LEVEL_RESIDUAL 0.1
#define LEAST_STEP (1.0 / 64)
enum { LEVEL_STEPS = 12 };
/* Of a coarser grid, beside its vectors, about. */
enum { OTHER_FIELDS = 20 };
/* Reynolds or Peclet number (of the largest expected speed) that needs no continuation; its factor from level to level.
 */
#define EASY 60.0
#define LEVEL_FACTOR 1.6
/* Residual on a coarser grid from where the finer one is as good: the grid's own errors are larger. */
#define COARSE_RESIDUAL 1e-3
/* Largest and least share of the residual that a linear solve leaves. */
#define LOOSEST 0.1
#define TIGHTEST 1e-6

/* The residual of flow_report (flow_step.c) from the last totals. */
static double residual_of(const flow *s)
{
    const double points = (double)s->config.nx * s->config.ny, rate = s->config.reference_time / s->k.dt;
    const double turning = s->totals[1] > 0 ? sqrt(s->totals[0] / s->totals[1]) : 0;
    const double heating = s->config.a > 0 ? sqrt(s->totals[3] / points) / s->config.temperature_scale : 0;
    return fmax(turning, heating) * rate;
}

/* |F| in the norm that is minimised. */
static double norm_of(const flow *s) { return sqrt(s->totals[0] + s->newton.weight * s->newton.weight * s->totals[3]); }

/* Rotates column k of the Hessenberg matrix by the rotations of the columns before and its own (Saad and Schultz 1986).
 */
static void rotate(double *h, int k, double *cosine, double *sine, double *right)
{
    for (int i = 0; i < k; i++) {
        const double a = h[i], b = h[i + 1];
        h[i] = cosine[i] * a + sine[i] * b;
        h[i + 1] = cosine[i] * b - sine[i] * a;
    }
    const double length = sqrt(h[k] * h[k] + h[k + 1] * h[k + 1]);
    cosine[k] = length > 0 ? h[k] / length : 1;
    sine[k] = length > 0 ? h[k + 1] / length : 0;
    h[k] = length;
    right[k + 1] = -sine[k] * right[k];
    right[k] = cosine[k] * right[k];
}

/* GMRES: d_omega, d_heat = the y of the Krylov space, at most `basis` vectors, that leaves the least of F + J y; of the
 * scale |F| = norm. */
static bn_status solve_linear(flow *s, const flow_newton_engine *e, double norm)
{
    flow_newton *w = &s->newton;
    bn_status st = BN_OK;
    const size_t m = (size_t)w->basis;
    double columns[FLOW_NEWTON_BATCH][FLOW_NEWTON_COLUMN];
    double *h = calloc(m * (m + 2) + 4 * (m + 2), sizeof *h);
    if (!h)
        return bn_fail(bn_domain_context(bn_field_domain(w->vectors)), BN_MEMORY, "no memory for a Krylov space");
    double *cosine = h + m * (m + 2), *sine = cosine + m + 2, *right = sine + m + 2, *y = right + m + 2;
    int k = 0;
    right[0] = norm;
    BN_GO(e->normalise(s, 0, 0));
    while (k < w->basis && fabs(right[k]) > w->forcing * norm) {
        const int batch = w->basis - k < FLOW_NEWTON_BATCH ? w->basis - k : FLOW_NEWTON_BATCH;
        for (int b = 0; b < batch; b++) {
            BN_GO(e->precondition(s, k + b));
            BN_GO(e->orthogonalise(s, k + b + 1, b));
            BN_GO(e->normalise(s, k + b + 1, b));
        }
        BN_GO(e->read_columns(s, columns, batch, k + batch + 1));
        w->products += (unsigned long long)batch;
        for (int b = 0; b < batch; b++, k++) {
            double *column = h + (size_t)k * (m + 2);
            for (int i = 0; i <= k + 1; i++)
                column[i] = columns[b][i];
            rotate(column, k, cosine, sine, right);
        }
    }
    /* A column of zeros (the space is exhausted) adds nothing. */
    for (int i = k - 1; i >= 0; i--) {
        double sum = right[i];
        for (int c = i + 1; c < k; c++)
            sum -= h[(size_t)c * (m + 2) + (size_t)i] * y[c];
        const double pivot = h[(size_t)i * (m + 2) + (size_t)i];
        y[i] = pivot > 0 ? sum / pivot : 0;
    }
    BN_GO(e->combine(s, y, k));
    BN_GO(e->precondition(s, k));
out:
    free(h);
    return st;
}

/* psi, velocities and F of omega and T. */
static bn_status evaluate(bn_sim *sim, flow *s, const flow_newton_engine *e)
{
    BN_TRY(e->solve_psi(sim, s));
    return e->residual(sim, s, s->newton.scale);
}

/* As much of the Newton step as reduces the residual (Armijo). False: no part of it does. */
static bn_status search(bn_sim *sim, flow *s, const flow_newton_engine *e, double norm, bool *found)
{
    *found = false;
    for (double step = 1; step >= LEAST_STEP && !*found; step *= 0.5) {
        BN_TRY(e->update(s, step));
        BN_TRY(evaluate(sim, s, e));
        *found = norm_of(s) <= (1 - 1e-4 * step) * norm;
        if (!*found) { /* back to where it was */
            bn_field_swap(s->fields.omega, s->fields.next);
            if (s->config.a > 0)
                bn_field_swap(s->fields.T, s->fields.T_next);
        }
    }
    return *found ? BN_OK : evaluate(sim, s, e);
}

/* On to less viscosity, from the line through the last two states. */
static bn_status next_level(bn_sim *sim, flow *s, const flow_newton_engine *e)
{
    flow_newton *w = &s->newton;
    const double scale = fmax(1, w->scale / w->factor);
    const double further = w->scale_before > 0 ? log(scale / w->scale) / log(w->scale / w->scale_before) : 0;
    BN_TRY(e->predict(s, further, false));
    w->scale_before = w->scale;
    w->scale = scale;
    w->level_steps = 0;
    w->forcing = LOOSEST;
    return evaluate(sim, s, e);
}

/* Back to the viscosity before, to a better state there, and on in smaller steps. */
static bn_status last_level(bn_sim *sim, flow *s, const flow_newton_engine *e)
{
    flow_newton *w = &s->newton;
    if (!(w->scale_before > 0) || w->factor < 1.02)
        return bn_fail(
            bn_sim_context(sim), BN_DIVERGED,
            "Newton's method does not reduce the residual below %.3g: this is the rounding of the precision "
            "(double precision or a larger solver.steady_tolerance helps), or more solver.krylov_vectors are "
            "needed, or no steady state is near, which solver.steady = \"march\" would show",
            residual_of(s));
    w->factor = sqrt(w->factor);
    w->level_residual *= 0.1;
    w->scale = w->scale_before;
    w->scale_before = 0;
    w->level_steps = 0;
    w->forcing = LOOSEST;
    BN_TRY(e->predict(s, 0, true));
    return evaluate(sim, s, e);
}

/* Eisenstat and Walker (1996): the linear solve need not be better than what the last step has shown the linear model
 * to be worth, nor than what ends the run. */
static void choose_forcing(flow *s, double ratio, double residual)
{
    flow_newton *w = &s->newton;
    w->forcing = fmin(LOOSEST, fmax(TIGHTEST, 0.9 * ratio * ratio));
    if (w->scale == 1)
        w->forcing = fmin(LOOSEST, fmax(w->forcing, 0.3 * s->config.steady / residual));
}

/* The steady state of the same case on a grid of half the intervals, as far as the run is not asked to end. */
static bn_status solve_coarser(bn_sim *sim, const flow *s, double *omega, double *T, bool *asked)
{
    char nodes[64], grids[64], tolerance[64];
    const char *const keys[] = { nodes, grids, tolerance, "case.resume=''" };
    const uint32_t nx = (s->config.nx + 1) / 2, ny = (s->config.ny + 1) / 2;
    bn_status st = BN_OK;
    bn_case *config = NULL;
    bn_sim *coarser = NULL;
    snprintf(nodes, sizeof nodes, "grid.nodes=[%u,%u]", (unsigned)nx, (unsigned)ny);
    snprintf(grids, sizeof grids, "solver.coarse_grids=%d", s->newton.grids - 1);
    snprintf(tolerance, sizeof tolerance, "solver.steady_tolerance=%.17g", fmax(s->config.steady, COARSE_RESIDUAL));
    BN_GO(bn_sim_create_like(sim, keys, sizeof keys / sizeof *keys, &config, &coarser));
    while (!*asked && !bn_sim_done(coarser)) {
        BN_GO(bn_sim_step(coarser));
        *asked = bn_sim_asked_to_end(sim);
    }
    const bn_sim_state now = bn_sim_now(coarser);
    if (!*asked && !now.converged)
        BN_GO(bn_fail(bn_sim_context(sim), BN_DIVERGED, "Newton's method has not converged in %llu steps, to %g",
                      now.step, now.residual));
    BN_GO(bn_sim_get(coarser, "omega", NULL, BN_NUMBERS_DOUBLE, omega));
    if (s->config.a > 0)
        BN_GO(bn_sim_get(coarser, "temperature", NULL, BN_NUMBERS_DOUBLE, T));
out:
    if (st != BN_OK)
        bn_note(bn_sim_context(sim), "on the coarser grid of %u x %u nodes (solver.coarse_grids)", (unsigned)nx,
                (unsigned)ny);
    bn_sim_destroy(&coarser);
    bn_case_destroy(&config);
    return st;
}

/* Unknowns between the nodes of a coarser grid: linear. */
static bn_status refine(const flow *s, bn_field *field, const double *coarse, const int32_t *node, double *values)
{
    const size_t nx = s->config.nx, ny = s->config.ny, coarse_nx = (nx + 1) / 2;
    BN_TRY(bn_field_get(field, values, nx * ny));
    for (size_t j = 0; j < ny; j++)
        for (size_t i = 0; i < nx; i++) {
            const double *low = coarse + j / 2 * coarse_nx, *high = coarse + (j + 1) / 2 * coarse_nx;
            if (field == s->fields.T ? s->systems.bits[FLOW_HEAT][j * nx + i] != 0
                                     : (node[j * nx + i] & FLOW_NODE_UNKNOWN) != 0)
                values[j * nx + i] = 0.25 * ((low[i / 2] + low[(i + 1) / 2]) + (high[i / 2] + high[(i + 1) / 2]));
        }
    return bn_field_set(field, values, nx * ny);
}

/* Begins at the case's own viscosity with the steady state of a coarser grid. */
static bn_status start_from_coarser(bn_sim *sim, flow *s, bool *asked)
{
    const size_t points = (size_t)s->config.nx * s->config.ny,
                 coarse = ((size_t)s->config.nx + 1) / 2 * (((size_t)s->config.ny + 1) / 2);
    bn_status st = BN_OK;
    int32_t *node = malloc(points * sizeof *node);
    double *values = malloc(points * sizeof *values), *omega = malloc(2 * coarse * sizeof *omega);
    if (!node || !values || !omega)
        BN_GO(bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the state of a coarser grid"));
    double *T = omega + coarse;
    BN_GO(bn_field_read(s->fields.node, node, points * sizeof *node));
    BN_GO(solve_coarser(sim, s, omega, T, asked));
    if (*asked)
        goto out;
    BN_GO(refine(s, s->fields.omega, omega, node, values));
    if (s->config.a > 0)
        BN_GO(refine(s, s->fields.T, T, node, values));
    s->newton.scale = 1;
out:
    free(node);
    free(values);
    free(omega);
    return st;
}

bn_status flow_newton_step(bn_sim *sim, flow *s, const flow_newton_engine *e, bn_step *out)
{
    flow_newton *w = &s->newton;
    bool found, asked = false;
    if (w->grids > 0 && bn_sim_steps(sim) == 0) {
        BN_TRY(start_from_coarser(sim, s, &asked));
        *out = (bn_step){ .unfinished = asked };
        if (asked)
            return BN_OK;
    }
    BN_TRY(evaluate(sim, s, e));
    const double norm = norm_of(s);
    const unsigned long long products = w->products;
    BN_TRY(w->band > 0 ? e->eliminate(sim, s, &asked) : solve_linear(s, e, norm));
    if (asked) {
        *out = (bn_step){ .unfinished = true };
        return BN_OK;
    }
    BN_TRY(search(sim, s, e, norm, &found));
    double residual = residual_of(s);
    choose_forcing(s, norm > 0 ? norm_of(s) / norm : 0, residual);
    *out = (bn_step){ .residual = residual };
    w->level_steps++;
    const bool done = w->scale == 1 && residual <= s->config.steady;
    if (found && w->scale > 1 && residual <= w->level_residual)
        BN_TRY(next_level(sim, s, e));
    else if (!done &&
             (!found || (w->scale_before > 0 && w->level_steps >= LEVEL_STEPS && residual > w->level_residual)))
        BN_TRY(last_level(sim, s, e));
    if (w->scale > 1 || w->level_steps == 0) { /* what the equations of the case leave over */
        BN_TRY(e->residual(sim, s, 1));
        out->residual = residual_of(s);
    }
    if (!isfinite(out->residual))
        return bn_fail(bn_sim_context(sim), BN_DIVERGED, "the vorticity is not finite any more");
    s->steady_residual = out->residual;
    out->converged = done;
    s->systems.total_iterations += (double)(w->products - products);
    size_t next = 0;
    out->series[next++] = (double)(w->products - products);
    out->series[next++] = w->scale;
    out->series[next++] = s->systems.report[FLOW_PSI].residual;
    out->series[next++] = s->totals[2];
    if (s->border.bodies > 0)
        out->series[next] = s->psi_body;
    return BN_OK;
}

/* Entries of the inverse of S, the share of the wall formula in J along one side: z = S^-1 v has
 * z_m = sum over p of (t[|m - p|] - t[m + p]) v_p. In a half plane the sine modes are its eigenvectors: with q < 1,
 * q + 1 / q = 2 + h^2 lambda, vorticity decays as q^j from the wall, psi_1 = h^2 q^2 / (1 - q^2), and
 * S = 1 + wall q^2 / (1 - q^2) + wall_omega q. `wall`: 2 or 3. */
static void wall_table(uint32_t nodes, double across, double along, double wall, double wall_omega, double *t)
{
    const double pi = 3.14159265358979323846;
    const uint32_t n = nodes - 1;
    for (uint32_t d = 0; d < 2 * nodes; d++) {
        t[d] = 0;
        for (uint32_t l = 1; l < n; l++) {
            const double sine = sin(0.5 * pi * l / n), half = 2 * sine * sine * (across * across) / (along * along);
            const double q = 1 + half - sqrt(half * (2 + half)), S = 1 + wall * q * q / (1 - q * q) + wall_omega * q;
            t[d] += cos(pi * (double)((unsigned long long)l * d % (2 * n)) / n) / (S * n);
        }
    }
}

/* Vectors of GMRES, or the band of elimination, with nodes numbered along the shorter side first. */
static bn_status plan_solver(const bn_case *c, flow *s, bn_plan *p)
{
    flow_newton *w = &s->newton;
    const bool along_x = s->config.nx <= s->config.ny;
    w->basis = (int)bn_case_int(c, "solver.krylov_vectors");
    if (bn_case_choice(c, "solver.newton_solver") == FLOW_GMRES)
        return BN_OK;
    if (s->config.a > 0 || s->border.bodies > 0)
        (void)bn_case_reject(c, "solver.newton_solver", "\"gmres\"",
                             "elimination knows no temperature and no body with fluid all around");
    w->basis = 1; /* F, and a product with J */
    w->stride[0] = along_x ? 1 : (int)s->config.ny;
    w->stride[1] = along_x ? (int)s->config.nx : 1;
    w->band = w->stride[0] + w->stride[1];
    bn_plan_one_box(p);
    return bn_plan_needs(p, "elimination");
}

bn_status flow_newton_plan(const bn_case *c, flow *s, bn_plan *p)
{
    flow_newton *w = &s->newton;
    const double number = s->config.length * s->config.length / s->config.reference_time /
                          (s->config.a > 0 ? fmin(s->config.nu, s->config.a) : s->config.nu);
    const double wall = s->config.woods ? 3 : 2;
    const uint32_t shorter = s->config.nx < s->config.ny ? s->config.nx : s->config.ny;
    BN_TRY(plan_solver(c, s, p));
    w->grids = (int)bn_case_int(c, "solver.coarse_grids");
    if (w->grids > 0 &&
        ((((s->config.nx - 1) | (s->config.ny - 1)) % (1u << w->grids)) != 0 || (shorter - 1) >> w->grids < 8))
        (void)bn_case_reject(c, "solver.coarse_grids",
                             "nodes of 2^k m + 1, such as 129, 257, 513, can be halved k times",
                             "%u x %u nodes have no %d coarser grids of 8 or more whole intervals",
                             (unsigned)s->config.nx, (unsigned)s->config.ny, w->grids);
    w->scale = fmax(1, number / EASY);
    w->factor = pow(w->scale, 1 / fmax(1, ceil(log(w->scale) / log(LEVEL_FACTOR))));
    w->forcing = LOOSEST;
    w->level_residual = LEVEL_RESIDUAL;
    /* psi and the preconditioner, which has to be the same operator throughout a Krylov space. */
    for (int i = 0; i < FLOW_SYSTEMS; i++)
        s->systems.target[i].tolerance = fmax(fmin(s->config.cg_tolerance, 0.01 * s->config.steady),
                                              4 * s->config.roundoff);
    w->weight = s->config.a > 0 ? 1 / (s->config.reference_time * s->config.temperature_scale) : 0;
    if (s->config.steady == 0)
        (void)bn_case_reject(c, "solver.steady", "give solver.steady_tolerance, such as 1e-8",
                             "\"newton\" ends when the flow is steady, and nothing says when that is");
    if (bn_case_real(c, "stop.time") > 0)
        (void)bn_case_reject(c, "stop.time", "leave it out, or take solver.steady = \"march\"",
                             "solver.steady = \"newton\" has no time: its steps are iterations");
    if (w->band == 0)
        BN_TRY(bn_plan_note(p, "Krylov vectors at most", w->basis, ""));
    BN_TRY(bn_plan_note(p, "viscosity of the start over that of the case", w->scale, ""));
    if (bn_plan_only_counts(p, (double)s->config.nx * s->config.ny))
        return BN_OK;
    bool given = s->config.a == 0;
    for (size_t at = 0; at < (size_t)s->config.nx * s->config.ny && !given; at++)
        given = !s->systems.bits[FLOW_HEAT][at];
    if (!given)
        (void)bn_case_reject(c, "solver.steady", "give the temperature of a wall, an inflow or an obstacle",
                             "no temperature is given anywhere: many steady states are possible");
    BN_TRY(bn_plan_allocate(p, 2 * ((size_t)s->config.nx + s->config.ny) * sizeof(double), (void **)&w->table));
    wall_table(s->config.ny, s->config.least_h[0], s->config.h[1], wall, s->k.wall_omega, w->table);
    wall_table(s->config.nx, s->config.least_h[1], s->config.h[0], wall, s->k.wall_omega, w->table + 2 * s->config.ny);
    return BN_OK;
}

bn_status flow_newton_plan_fields(flow *s, bn_plan *p)
{
    flow_newton *w = &s->newton;
    const bool heat = s->config.a > 0;
    const int vectors = (heat ? 2 : 1) * (w->basis + 1);
    const int others = OTHER_FIELDS + (w->band > 0 ? 4 * w->band : 0);
    bn_grid coarser = { .dims = 2, .n = { s->config.nx, s->config.ny, 1 }, .h = { 1, 1, 1 }, .nodes = true };
    for (int k = 0; k < w->grids; k++) {
        coarser.n[0] = (coarser.n[0] + 1) / 2;
        coarser.n[1] = (coarser.n[1] + 1) / 2;
        for (int field = 0; field < vectors + others; field++)
            BN_TRY(bn_plan_more_memory(p, &coarser, BN_T_REAL, false));
    }
    BN_TRY(bn_plan_field(p, &w->vectors, &(bn_field_desc){ "krylov", "", BN_T_REAL, vectors, 0 }));
    if (w->band > 0)
        BN_TRY(bn_plan_field(p, &w->matrix, &(bn_field_desc){ "matrix", "", BN_T_REAL, 8 * (w->band + 1), 0 }));
    BN_TRY(bn_plan_field(p, &w->d_omega, &(bn_field_desc){ "omega_change", "s-1", BN_T_REAL, 1, 0 }));
    BN_TRY(bn_plan_field(p, &w->omega_before, &(bn_field_desc){ "omega_before", "s-1", BN_T_REAL, 1, BN_STATE }));
    if (heat) {
        BN_TRY(bn_plan_field(p, &w->d_heat, &(bn_field_desc){ "temperature_change", "K", BN_T_REAL, 1, 0 }));
        BN_TRY(bn_plan_field(p, &w->T_before, &(bn_field_desc){ "temperature_before", "K", BN_T_REAL, 1, BN_STATE }));
    }
    return BN_OK;
}

bn_status flow_newton_serialize(flow *s, bn_checkpoint_state *k)
{
    flow_newton *w = &s->newton;
    double values[] = { w->scale, w->scale_before, w->factor, w->forcing, w->level_residual, w->level_steps };
    BN_TRY(bn_state_reals(k, "newton", values, sizeof values / sizeof *values));
    w->scale = values[0];
    w->scale_before = values[1];
    w->factor = values[2];
    w->forcing = values[3];
    w->level_residual = values[4];
    w->level_steps = (unsigned)values[5];
    return bn_state_counts(k, "newton products", &w->products, 1);
}
