/* bpm_iteration.c: the published experiment of Alekseev and Golovashkin (2010): Crank-Nicolson steps of a beam between
 * metal walls, each solved by a one-parameter iteration (kernels/studies/bpm_iteration.cl). Elimination, as the solver
 * bpm has it, is always faster: `binnacle bench --suite seed-003` measures both. */
#include "bpm_iteration.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

/* clang-format off */
static const bn_key schema[] = {
    { .name = "grid.cells", .type = BN_KEY_INT, .def = 500, .min = 8, .max = 16384,
      .help = "intervals between the walls" },
    { .name = "grid.width", .type = BN_KEY_REAL, .unit = "m", .def = 10e-6, .max = 1, .above = true,
      .help = "distance of the walls" },
    { .name = "light.wavelength", .type = BN_KEY_REAL, .unit = "m", .def = 1e-6, .max = 1, .above = true,
      .help = "in the medium" },
    { .name = "launch.waist", .type = BN_KEY_REAL, .unit = "m", .def = 2e-6, .max = 1, .above = true,
      .help = "w of the Gaussian exp(-y^2 / w^2) that enters in the middle" },
    { .name = "march.length", .type = BN_KEY_REAL, .unit = "m", .def = 100e-6, .max = 1e3, .above = true,
      .help = "along z" },
    { .name = "march.dz", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1,
      .help = "step, rounded so that a whole number fits; 0: a cell's width over pi" },
    { .name = "solver.tau", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(BPM_ITERATION_TAUS), .def_text = "optimal",
      .help = "parameter of the iteration: the best for the spectrum, or the paper's, 2 over the sum of its ends" },
    { .name = "solver.tolerance", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 0.1,
      .help = "residual over the right-hand side; 0: 1e-15 in double, 1e-8 in single precision" },
    { .name = "solver.sweeps", .type = BN_KEY_INT, .def = 100000, .min = 1, .max = 1e9,
      .help = "in a step along z, at most" },
    { 0 },
};
/* clang-format on */

static const bn_kernel_desc kernels[] = {
    { "bpm_iteration_start", BN_PER_BLOCK, { .reads = 2, .writes = 4, .flops = 20 } },
    { "bpm_iteration_sweep", BN_PER_CELL, { .reads = 4, .writes = 2, .flops = 24 } },
    { "bpm_iteration_residual", BN_PER_BLOCK, { .reads = 4, .writes = 0, .flops = 20 } },
    { "bpm_iteration_total", BN_ONCE, { 0, 0, 0 } },
    { "bpm_iteration_add", BN_PER_CELL, { .reads = 4, .writes = 2, .flops = 2 } },
    { 0 },
};

/* The parameter of x <- x + tau (b - A x) for eigenvalues on the segment 1 + i [low, high], and the share of the error
 * that a sweep leaves. With middle m and half length w of the segment the best is
 *     1 / tau = c + i m,   c = (e + sqrt(e^2 + 4 m^2)) / 2,   e = 1 + w^2 - m^2;
 * the paper's, 2 over the sum of the ends, has c = 1. */
static double _Complex choose_tau(bpm_iteration_tau rule, double low, double high, double *rate)
{
    const double m = 0.5 * (low + high), w = 0.5 * (high - low), e = 1 + w * w - m * m;
    const double c = rule == BPM_TAU_SEED ? 1 : 0.5 * (e + sqrt(e * e + 4 * m * m));
    *rate = sqrt(((c - 1) * (c - 1) + w * w) / (c * c + m * m));
    return 1 / __builtin_complex(c, m);
}

static long long sweeps_for(const bpm_iteration *s, double residual, double goal)
{
    return residual > goal ? (long long)fmin(fmax(ceil(log(goal / residual) / log(s->rate)), 1), 1e15) : 1;
}

static void read_case(const bn_case *c, bpm_iteration *s)
{
    const double length = bn_case_real(c, "march.length"), dz = bn_case_real(c, "march.dz");
    const uint32_t cells = (uint32_t)bn_case_int(c, "grid.cells");
    s->n = cells - 1;
    s->width = bn_case_real(c, "grid.width");
    s->h = s->width / cells;
    s->steps = (size_t)fmin(fmax(round(length / (dz > 0 ? dz : s->h / pi)), 1), 1e9);
    s->dz = length / (double)s->steps;
    s->wavelength = bn_case_real(c, "light.wavelength");
    s->waist = bn_case_real(c, "launch.waist");
    s->single = !bn_case_double(c);
    s->tolerance = bn_case_real(c, "solver.tolerance");
    if (s->tolerance == 0)
        s->tolerance = s->single ? 1e-8 : 1e-15;
    s->most_sweeps = bn_case_int(c, "solver.sweeps");
}

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    bpm_iteration *s = state;
    read_case(c, s);
    const double k = 2 * pi / s->wavelength, hk = s->h * k, quarter = 0.25 * (k * s->dz);
    s->k = (bpm_iteration_constants){ .a_im = quarter / (hk * hk),
                                      .b_im = -2 * quarter / (hk * hk),
                                      .b_all_im = -quarter / (hk * hk) };
    /* The eigenvalues of d2 lie between -4 and 0. */
    const double _Complex tau = choose_tau((bpm_iteration_tau)bn_case_choice(c, "solver.tau"), -4 * s->k.a_im, 0,
                                           &s->rate);
    s->k.tau_re = creal(tau);
    s->k.tau_im = cimag(tau);
    s->norm = hypot(1, 4 * s->k.a_im);
    if (sweeps_for(s, 1, s->tolerance) > s->most_sweeps)
        return bn_case_reject(c, "solver.sweeps", "smaller steps, or solver.tau = \"optimal\"",
                              "a sweep of the iteration leaves %.6f of the error: it cannot converge to "
                              "solver.tolerance within solver.sweeps = %lld for march.dz = %g m",
                              s->rate, s->most_sweeps, s->dz);
    BN_TRY(bn_plan_grid(
        p, &(bn_grid){ .dims = 2, .n = { s->n, 1, 1 }, .h = { s->h, s->h, 1 }, .origin = { s->h }, .nodes = true }));
    BN_TRY(bn_plan_field(p, &s->psi, &(bn_field_desc){ "psi", "", BN_T_REAL2, 1, BN_STATE | BN_COMPARE | BN_OUTPUT }));
    BN_TRY(bn_plan_field(p, &s->g, &(bn_field_desc){ "g", "", BN_T_REAL2, 1, 0 }));
    BN_TRY(bn_plan_field(p, &s->u, &(bn_field_desc){ "u", "", BN_T_REAL2, 1, 0 }));
    BN_TRY(bn_plan_field(p, &s->next, &(bn_field_desc){ "u_next", "", BN_T_REAL2, 1, 0 }));
    BN_TRY(bn_plan_constants(p, BN_CONSTANT_NAMES(BPM_ITERATION_CONSTANTS), (const double *)&s->k));
    BN_TRY(bn_plan_result(p, "power", "", "at the end, over that of the start"));
    BN_TRY(bn_plan_result(p, "sweeps", "", "of the iteration, mean per step along z"));
    BN_TRY(bn_plan_result(p, "rate", "", "share of the error that a sweep leaves, by theory"));
    BN_TRY(bn_plan_series(p, "sweeps", ""));
    bn_plan_steps(p, (double)s->steps);
    return BN_OK;
}

static double gaussian(const bpm_iteration *s, size_t i)
{
    const double y = (double)(i + 1) * s->h - 0.5 * s->width, value = exp(-y * y / (s->waist * s->waist));
    return value < 1e-30 ? 0 : value;
}

static bn_status init(bn_sim *sim, void *state)
{
    bpm_iteration *s = state;
    double *values = calloc(2 * (size_t)s->n, sizeof *values);
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the field that enters");
    for (size_t i = 0; i < s->n; i++)
        values[2 * i] = gaussian(s, i);
    const bn_status st = bn_field_set(s->psi, values, 2 * (size_t)s->n);
    free(values);
    return st;
}

static bn_status cannot_converge(bn_sim *sim, const bpm_iteration *s, long long sweeps, double residual)
{
    return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                   "the iteration is at a residual of %.3g after %lld sweeps, %.3g was asked for; by theory a sweep "
                   "leaves %.4f of the error: take a larger solver.tolerance or a smaller march.dz (now %g m)",
                   residual, sweeps, s->tolerance, s->rate, s->dz);
}

/* A is normal, so every sweep leaves at most the share `rate` of the residual: the number of sweeps is known
 * beforehand, and the residual is computed when they are done. */
bn_status bpm_iteration_step(bn_sim *sim, bpm_iteration *s, const bpm_iteration_engine *engine, bn_step *out)
{
    BN_TRY(engine->start(s));
    const double size = sqrt(s->totals[0]), roundoff = s->single ? 0x1p-24 : 0x1p-53;
    double residual = sqrt(s->totals[1]);
    /* Below 4 u (|A| |u| + |g|) there is only rounding; |u| <= |g| since no eigenvalue of A is below 1. */
    const double goal = fmax(s->tolerance * size, 4 * roundoff * (s->norm + 1) * residual);
    long long done = 0;
    while (!(residual <= goal)) {
        const long long count = sweeps_for(s, residual, goal);
        const double before = residual;
        if (!isfinite(residual) || done + count > s->most_sweeps)
            return cannot_converge(sim, s, done, residual / size);
        BN_TRY(engine->sweeps(s, count));
        done += count;
        residual = sqrt(s->totals[1]);
        if (residual > goal && !(residual < 0.99 * before) && done > count)
            return cannot_converge(sim, s, done, residual / size);
    }
    s->sweeps += (double)done;
    s->done++;
    *out = (bn_step){ .dt = s->dz, .residual = (double)NAN, .complete = s->done >= s->steps };
    out->series[0] = (double)done;
    return engine->add(s);
}

/* --- the device --- */

static bn_status setup(bn_sim *sim, void *state)
{
    bpm_iteration *s = state;
    s->start = bn_sim_kernel(sim, "bpm_iteration_start");
    s->sweep = bn_sim_kernel(sim, "bpm_iteration_sweep");
    s->residual = bn_sim_kernel(sim, "bpm_iteration_residual");
    s->total = bn_sim_kernel(sim, "bpm_iteration_total");
    s->add = bn_sim_kernel(sim, "bpm_iteration_add");
    BN_TRY(bn_partials_create(bn_sim_domain(sim), "sums of squares", 2, 0, &s->partials));
    return bn_scalars_create(bn_sim_domain(sim), "totals", 2, &s->scalars);
}

static void teardown(void *state)
{
    bpm_iteration *s = state;
    bn_partials_destroy(&s->partials);
    bn_scalars_destroy(&s->scalars);
}

static bn_status read_totals(bpm_iteration *s)
{
    BN_TRY(BN_RUN(s->total, BN_TOTALS(s->partials), BN_SCALARS(s->scalars)));
    return bn_scalars_read(s->scalars, s->totals, 2);
}

static bn_status start(bpm_iteration *s)
{
    BN_TRY(BN_RUN(s->start, BN_READ(s->psi, 1), BN_WRITE(s->g), BN_WRITE(s->u), BN_PARTIALS(s->partials)));
    return read_totals(s);
}

static bn_status sweeps(bpm_iteration *s, long long count)
{
    for (long long k = 0; k < count; k++) {
        BN_TRY(BN_RUN(s->sweep, BN_READ(s->u, 1), BN_READ(s->g, 0), BN_WRITE(s->next)));
        bn_field_swap(s->u, s->next);
    }
    BN_TRY(BN_RUN(s->residual, BN_READ(s->u, 1), BN_READ(s->g, 0), BN_PARTIALS(s->partials)));
    return read_totals(s);
}

static bn_status add(bpm_iteration *s) { return BN_RUN(s->add, BN_READ(s->u, 0), BN_UPDATE(s->psi)); }

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    static const bpm_iteration_engine engine = { start, sweeps, add };
    return bpm_iteration_step(sim, state, &engine, out);
}

static const bn_engine device = { .name = "opencl", .setup = setup, .step = step, .teardown = teardown };

static bn_status measure(bn_sim *sim, void *state, bn_results *results)
{
    const bpm_iteration *s = state;
    double *values = calloc(2 * (size_t)s->n, sizeof *values), power = 0, entered = 0;
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the field");
    const bn_status st = bn_field_get(s->psi, values, 2 * (size_t)s->n);
    for (size_t i = 0; i < s->n; i++) {
        power += values[2 * i] * values[2 * i] + values[2 * i + 1] * values[2 * i + 1];
        entered += gaussian(s, i) * gaussian(s, i);
    }
    free(values);
    BN_TRY(st);
    BN_TRY(bn_result(results, "power", power / entered));
    BN_TRY(bn_result(results, "sweeps", s->done > 0 ? s->sweeps / (double)s->done : 0));
    return bn_result(results, "rate", s->rate);
}

static bn_status serialize(bn_sim *sim, void *state, bn_checkpoint_state *k)
{
    bpm_iteration *s = state;
    unsigned long long done = s->done;
    (void)sim;
    BN_TRY(bn_state_counts(k, "done", &done, 1));
    s->done = (size_t)done;
    return bn_state_reals(k, "sweeps", &s->sweeps, 1);
}

const bn_solver bn_solver_bpm_iteration = {
    .name = "bpm_iteration",
    .summary = "beam propagation by the one-parameter iteration of Alekseev and Golovashkin (2010)",
    .program = "studies/bpm_iteration",
    .schema = schema,
    .kernels = kernels,
    .state_size = sizeof(bpm_iteration),
    .device = &device,
    .reference = { &bn_bpm_iteration_reference_single, &bn_bpm_iteration_reference_double },
    .plan = plan,
    .init = init,
    .measure = measure,
    .serialize = serialize,
    .along = "z",
    .along_unit = "m",
};
