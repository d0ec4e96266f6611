/* maxwell_model.c: from the case to the model: grid, light, absorbing layers, structure, and the tables of its
 * coefficients at a wavelength. */
#include "maxwell.h"

#include "numerics/expression.h"

#include <math.h>

/* With fewer than eight cells a wavelength the numerical dispersion is too large. */
static void check_resolution(const bn_case *c, const maxwell_model *m)
{
    for (int i = 0; i < m->structure.materials; i++) {
        const maxwell_material *of = &m->structure.material[i];
        const double n = fabs(maxwell_index(of).re), cells = m->t.wavelength / (n * m->h);
        if (of->used && n > fabs(maxwell_index(of).im) && cells < 8)
            (void)bn_case_reject(c, "grid.spacing", "eight are the least",
                                 "too coarse: %.3g cells a wavelength in %s (n = %.3g at %g nm)", cells, of->name, n,
                                 1e9 * m->t.wavelength);
    }
}

/* The light must come from a lossless material, and absorbing layers must lie in a dielectric. */
static void check_half_spaces(const bn_case *c, const maxwell_model *m)
{
    const maxwell_material *above = &m->structure.material[m->structure.above],
                           *low = &m->structure.material[m->structure.cell[0]];
    if (above->k > 0 || above->mu.im != 0)
        (void)bn_case_reject(c, "structure.above", NULL,
                             "the light comes from a material without loss, %s has k = %g, mu_loss = %g", above->name,
                             above->k, -above->mu.im);
    for (int i = 0; i < (m->pml.bottom ? 2 : 1); i++)
        if ((i ? low : above)->mu.re < 0)
            (void)bn_case_reject(c, i ? "structure.below" : "structure.above", NULL,
                                 "absorbing layers need a positive permeability, %s has mu = %g",
                                 (i ? low : above)->name, (i ? low : above)->mu.re);
    if (m->pml.bottom && low->n <= low->k)
        (void)bn_case_reject(c, "boundary.bottom", "end it with boundary.bottom = \"wall\"",
                             "the absorbing layer at the bottom can't lie in a metal (%s, n = %g, k = %g)", low->name,
                             low->n, low->k);
}

static void read_light(const bn_case *c, maxwell_model *m)
{
    m->light.wavelength = bn_case_real(c, "light.wavelength");
    m->light.until = bn_case_real(c, "light.until");
    m->light.wavelengths = (int)bn_case_int(c, "light.count");
    m->light.amplitude = bn_case_real(c, "light.amplitude");
    m->light.polarisation = bn_case_real(c, "light.polarisation");
    m->light.incidence = bn_case_real(c, "light.incidence");
    m->light.azimuth = bn_case_real(c, "light.azimuth");
    m->light.ramp_periods = bn_case_real(c, "light.ramp");
    m->light.volume = bn_case_choice(c, "light.source") == MAXWELL_SOURCE_VOLUME;
    m->light.magnetic = bn_case_choice(c, "light.source") == MAXWELL_SOURCE_MAGNETIC;
    m->light.current = m->light.magnetic || bn_case_choice(c, "light.source") == MAXWELL_SOURCE_CURRENT;
    m->light.bloch = m->light.incidence > 0;
    if (m->light.bloch && !bn_case_given(c, "light.ramp"))
        m->light.ramp_periods = 30; /* waves at grazing angles leave slowly and PML hardly damps them: excite few */
    m->pml.sides = bn_case_choice(c, "boundary.sides") == MAXWELL_SIDES_ABSORBING;
    m->pml.bottom = bn_case_choice(c, "boundary.bottom") == MAXWELL_BOTTOM_ABSORBING;
    m->pml.cells = (int)bn_case_int(c, "pml.cells");
    m->pml.order = (int)bn_case_int(c, "pml.order");
    m->pml.reflection = bn_case_real(c, "pml.reflection");
    static const char *const keys[3] = { "light.current_x", "light.current_y", "light.current_z" };
    for (size_t d = 0; d < 3; d++) {
        const char *text = bn_case_text(c, keys[d]);
        double value;
        const char *wrong = text[0] ? bn_expression(text, (const double[3]){ 0 }, &value) : NULL;
        if (wrong)
            (void)bn_case_reject(c, keys[d], "x, y, z, pi, + - * / ^, sin cos exp log sqrt abs step",
                                 "the expression cannot be read from \"%.20s\" on", wrong);
    }
    if (m->light.current && m->light.wavelengths > 1)
        (void)bn_case_reject(c, "light.count", "a case for each wavelength", "currents have one wavelength");
    if (m->pml.sides && !m->light.volume && !m->light.current)
        (void)bn_case_reject(c, "boundary.sides", "light.source = \"volume\"",
                             "absorbing sides do not let a plane wave along");
    if (m->light.volume && m->light.bloch)
        (void)bn_case_reject(c, "light.incidence", NULL, "light.source = \"volume\" knows normal incidence alone");
    if (m->light.volume && !m->pml.bottom)
        (void)bn_case_reject(c, "boundary.bottom", NULL, "light.source = \"volume\" needs an absorbing bottom");
    if (m->light.wavelengths > 1 && !bn_case_given(c, "light.until"))
        (void)bn_case_reject(c, "light.until", NULL, "a sweep of %d wavelengths needs the last one",
                             m->light.wavelengths);
}

static void read_grid(const bn_case *c, maxwell_model *m)
{
    for (size_t d = 0; d < 3; d++)
        m->n[d] = (uint32_t)bn_case_int_at(c, "grid.cells", d);
    m->h = bn_case_real(c, "grid.spacing");
    const uint32_t least = 2 * (uint32_t)m->pml.cells + 8;
    if (m->n[2] < least)
        (void)bn_case_reject(c, "grid.cells", NULL,
                             "%u cells along z leave no room between the absorbing layers: %u are the least", m->n[2],
                             least);
    for (size_t d = 0; d < 2 && m->pml.sides; d++)
        if (m->n[d] < least)
            (void)bn_case_reject(c, "grid.cells", NULL,
                                 "%u cells leave no room between the absorbing sides: %u are the least", m->n[d],
                                 least);
    m->light.source = m->n[2] - (uint32_t)m->pml.cells - 3;
}

double maxwell_wavelength(const maxwell_model *m, int which)
{
    const maxwell_light *l = &m->light;
    return l->wavelengths < 2 ? l->wavelength
                              : l->wavelength + (l->until - l->wavelength) * which / (l->wavelengths - 1);
}

void maxwell_set_wavelength(const bn_case *c, maxwell_model *m, double wavelength)
{
    m->t.wavelength = wavelength;
    maxwell_set_materials(c, &m->structure, wavelength);
    maxwell_set_tables(m);
}

/* Builds the structure and checks it at every wavelength, the first one last, at which the run begins. */
static bn_status plan_structure(const bn_case *c, bn_plan *p, maxwell_model *m)
{
    BN_TRY(maxwell_read_materials(c, p, &m->structure));
    if (bn_case_diagnostics(c)[0])
        return BN_OK; /* the structure needs a valid grid */
    BN_TRY(maxwell_build_structure(c, p, m));
    for (int i = m->light.wavelengths - 1; i >= 0; i--) {
        m->t.wavelength = maxwell_wavelength(m, i);
        maxwell_set_materials(c, &m->structure, m->t.wavelength);
        if (!m->structure.cell) /* cells are only counted */
            continue;
        check_resolution(c, m);
        check_half_spaces(c, m);
    }
    return bn_case_diagnostics(c)[0] || !m->structure.cell ? BN_OK : maxwell_find_classes(c, p, m);
}

bn_status maxwell_plan_model(const bn_case *c, bn_plan *p, maxwell_model *m)
{
    m->courant = bn_case_real(c, "solver.courant");
    m->structure.average = bn_case_choice(c, "structure.borders") == MAXWELL_BORDERS_AVERAGE;
    read_light(c, m);
    read_grid(c, m);
    BN_TRY(plan_structure(c, p, m));
    if (bn_case_diagnostics(c)[0])
        return BN_OK;
    BN_TRY(maxwell_allocate_tables(p, m));
    maxwell_set_tables(m);
    const bool around = !m->pml.sides;
    return bn_plan_grid(p, &(bn_grid){ .dims = 3,
                                       .n = { m->n[0], m->n[1], m->n[2] },
                                       .h = { m->h, m->h, m->h },
                                       .origin = { 0.5 * m->h, 0.5 * m->h, 0.5 * m->h },
                                       .periodic = { around, around, false } });
}
