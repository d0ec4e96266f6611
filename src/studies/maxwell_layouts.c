/* maxwell_layouts.c: see maxwell_layouts.h. */
#include "studies/maxwell_layouts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A key is read in one piece. */
/* clang-format off */
static const bn_key schema[] = {
#include "solvers/maxwell/maxwell_keys.def"

    { .name = "solver.layout", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(MAXWELL_LAYOUTS), .def_text = "aos",
      .help = "array of structures or structure of arrays" },
    { 0 },
};
/* clang-format on */

/* Per cell, in reals. */
static const bn_kernel_desc kernels[] = {
    { "maxwell_layouts_H", BN_PER_CELL, { .reads = 52, .writes = 12, .flops = 132 } },
    { "maxwell_layouts_E", BN_PER_BLOCK, { .reads = 52, .writes = 12, .flops = 152 } },
    { "maxwell_layouts_add_parts", BN_PER_CELL, { .reads = 12, .writes = 6, .flops = 6 } },
    { "maxwell_layouts_maxima", BN_ONCE, { 2, 0, 0 } },
    { 0 },
};

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    maxwell_layouts *s = state;
    const maxwell_model *m = &s->model;
    BN_TRY(maxwell_plan_model(c, p, &s->model));
    if (m->pml.sides || m->light.volume || m->light.current || m->light.bloch || m->light.wavelengths > 1)
        (void)bn_case_reject(c, "case.solver", NULL,
                             "this study knows periodic sides and a plane wave of one wavelength at normal incidence");
    if (bn_case_diagnostics(c)[0])
        return BN_OK;
    s->layout = (maxwell_layout)bn_case_choice(c, "solver.layout");
    s->epsilon = bn_case_real(c, "solver.epsilon");
    s->watch_every = (int)bn_case_int(c, "solver.watch_every");
    const unsigned compared = BN_OUTPUT | BN_COMPARE,
                   record = BN_STATE | (s->layout == MAXWELL_AOS ? BN_INTERLEAVED : 0);
    BN_TRY(bn_plan_field(p, &s->E, &(bn_field_desc){ "E", "V m-1", BN_T_REAL2, 3, compared }));
    BN_TRY(bn_plan_field(p, &s->H, &(bn_field_desc){ "Z0H", "V m-1", BN_T_REAL2, 3, compared }));
    BN_TRY(bn_plan_field(p, &s->record_E, &(bn_field_desc){ "record_E", "", BN_T_REAL2, MAXWELL_RECORD, record }));
    BN_TRY(bn_plan_field(p, &s->record_H, &(bn_field_desc){ "record_H", "", BN_T_REAL2, MAXWELL_RECORD, record }));
    BN_TRY(bn_plan_define_int(p, "INTERLEAVED", s->layout == MAXWELL_AOS));
    bn_plan_wants_convergence(p, s->epsilon, NULL);
    return bn_plan_result(p, "update_norm", "", "largest change of E in an iteration over the largest E");
}

/* Parts of zero, their factors and the source of one cell: 2 * MAXWELL_RECORD reals. */
static void fill_record(const maxwell_model *m, bool magnetic, const uint32_t at[3], double *record)
{
    /* The parts xy, xz, yz, yx, zx, zy are driven by derivatives along these dimensions. */
    static const int derivative[6] = { 2, 1, 0, 2, 1, 0 };
    const size_t levels = (size_t)m->pml.cells + 1, here = ((size_t)at[2] * m->n[1] + at[1]) * m->n[0] + at[0];
    memset(record, 0, 2 * MAXWELL_RECORD * sizeof *record);
    for (int part = 0; part < 6; part++) {
        const int component = part / 2, along = derivative[part];
        const double *update; /* t and c */
        if (magnetic) {
            const size_t class = m->structure.face ? m->structure.face[(size_t)component * maxwell_cells(m) + here] : 0;
            update = m->t.of[MAXWELL_UPDATE_H] + 4 * (class * levels + (size_t)maxwell_depth_H(m, along, at[along]));
        } else {
            if (component < 2 && at[2] == 0) /* tangential, on the metal wall behind the bottom */
                continue;
            const size_t class = m->structure.edge[(size_t)component * maxwell_cells(m) + here];
            update = m->t.of[MAXWELL_UPDATE_E] + 4 * (class * levels + (size_t)maxwell_depth_E(m, along, at[along]));
        }
        memcpy(record + 2 * (MAXWELL_FACTORS_T + part), update, 2 * sizeof *update);
        memcpy(record + 2 * (MAXWELL_FACTORS_C + part), update + 2, 2 * sizeof *update);
        if (part % 3 == 0 && at[2] == m->light.source) { /* E: xy -h_y, yx +h_x; H: xy +e_y, yx -e_x */
            const cplx c = { update[2], update[3] };
            const cplx incident = magnetic ? m->t.e_inc[component == 0] : m->t.h_inc[component == 0];
            const cplx source = cplx_scaled((component == 0) == magnetic ? 1 : -1, cplx_times(c, incident));
            memcpy(record + 2 * (MAXWELL_RECORD_SOURCE + component), &source, sizeof source);
        }
    }
}

static bn_status write_records(bn_sim *sim, const maxwell_layouts *s, bool magnetic)
{
    const maxwell_model *m = &s->model;
    const size_t cells = maxwell_cells(m), count = cells * 2 * MAXWELL_RECORD;
    double *values = malloc(count * sizeof *values), record[2 * MAXWELL_RECORD];
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the coefficients of every cell");
    for (size_t cell = 0; cell < cells; cell++) {
        const uint32_t at[3] = { (uint32_t)(cell % m->n[0]), (uint32_t)(cell / m->n[0] % m->n[1]),
                                 (uint32_t)(cell / m->n[0] / m->n[1]) };
        fill_record(m, magnetic, at, record);
        for (size_t i = 0; i < MAXWELL_RECORD; i++)
            memcpy(values + 2 * (s->layout == MAXWELL_AOS ? cell * MAXWELL_RECORD + i : i * cells + cell),
                   record + 2 * i, 2 * sizeof *values);
    }
    const bn_status st = bn_field_set(magnetic ? s->record_H : s->record_E, values, count);
    free(values);
    return st;
}

static bn_status init(bn_sim *sim, void *state)
{
    maxwell_layouts *s = state;
    s->residual = (double)NAN; /* not looked at yet */
    BN_TRY(write_records(sim, s, false));
    return write_records(sim, s, true);
}

static bn_status setup(bn_sim *sim, void *state)
{
    maxwell_layouts *s = state;
    s->step_H = bn_sim_kernel(sim, "maxwell_layouts_H");
    s->step_E = bn_sim_kernel(sim, "maxwell_layouts_E");
    s->add_parts = bn_sim_kernel(sim, "maxwell_layouts_add_parts");
    s->maxima = bn_sim_kernel(sim, "maxwell_layouts_maxima");
    BN_TRY(bn_partials_create(bn_sim_domain(sim), "largest change", 2, 3, &s->partials));
    return bn_scalars_create(bn_sim_domain(sim), "totals", 2, &s->scalars);
}

static void teardown(void *state)
{
    maxwell_layouts *s = state;
    bn_partials_destroy(&s->partials);
    bn_scalars_destroy(&s->scalars);
}

bool maxwell_layouts_watches(const maxwell_layouts *s)
{
    return (s->steps + 1) % (unsigned long long)s->watch_every == 0;
}

void maxwell_layouts_report(maxwell_layouts *s, bool watched, bn_step *out)
{
    const bool full = maxwell_ramp(&s->model, s->steps) >= 1;
    s->steps++;
    if (watched)
        s->residual = s->size > 0 ? sqrt(s->change / s->size) : 1;
    *out = (bn_step){ .dt = s->model.courant / sqrt(3.0) * s->model.h / 299792458.0,
                      .residual = s->residual,
                      .converged = watched && full && s->residual < s->epsilon };
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    maxwell_layouts *s = state;
    const double ramp = maxwell_ramp(&s->model, s->steps);
    const bool watched = maxwell_layouts_watches(s);
    (void)sim;
    BN_TRY(BN_RUN(s->step_H, BN_READ(s->record_E, 1), BN_UPDATE(s->record_H), BN_REALV(ramp)));
    BN_TRY(
        BN_RUN(s->step_E, BN_READ(s->record_H, 1), BN_UPDATE(s->record_E), BN_REALV(ramp), BN_PARTIALS(s->partials)));
    if (watched) {
        double maxima[2];
        BN_TRY(BN_RUN(s->maxima, BN_TOTALS(s->partials), BN_SCALARS(s->scalars)));
        BN_TRY(bn_scalars_read(s->scalars, maxima, 2));
        s->change = maxima[0];
        s->size = maxima[1];
    }
    maxwell_layouts_report(s, watched, out);
    return BN_OK;
}

static bn_status update_outputs(bn_sim *sim, void *state)
{
    maxwell_layouts *s = state;
    (void)sim;
    BN_TRY(BN_RUN(s->add_parts, BN_READ(s->record_E, 0), BN_WRITE(s->E)));
    return BN_RUN(s->add_parts, BN_READ(s->record_H, 0), BN_WRITE(s->H));
}

static bn_status measure(bn_sim *sim, void *state, bn_results *results)
{
    (void)sim;
    return bn_result(results, "update_norm", ((const maxwell_layouts *)state)->residual);
}

static const bn_engine device = {
    .name = "opencl", .setup = setup, .step = step, .teardown = teardown, .update_outputs = update_outputs
};

const bn_solver bn_solver_maxwell_layouts = {
    .name = "maxwell_layouts",
    .summary = "maxwell with split fields and coefficients in every cell, in two layouts",
    .program = "studies/maxwell_layouts",
    .schema = schema,
    .kernels = kernels,
    .state_size = sizeof(maxwell_layouts),
    .device = &device,
    .reference = { &bn_maxwell_layouts_reference_single, &bn_maxwell_layouts_reference_double },
    .plan = plan,
    .init = init,
    .measure = measure,
};
