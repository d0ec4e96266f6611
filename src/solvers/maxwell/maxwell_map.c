/* maxwell_map.c: the refractive index of cells from a map (structure.map), over that of their materials, which keep
 * their extinction: for structures whose index varies, and for those who design them. */
#include "maxwell.h"

#include <math.h>
#include <string.h>

double maxwell_cell_index(const maxwell_model *m, size_t cell)
{
    const maxwell_structure *s = &m->structure;
    return s->map && !isnan(s->map[cell]) ? s->map[cell] : s->material[s->cell[cell]].n;
}

bool maxwell_mapped_edge(const maxwell_model *m, int axis, const size_t place[3], size_t cell[4], maxwell_class *out)
{
    const int a = axis == 0, b = axis == 2 ? 1 : 2; /* the other two */
    bool mapped = false;
    for (int quarter = 0; quarter < 4; quarter++) {
        size_t at[3] = { place[0], place[1], place[2] };
        if (quarter & 1)
            at[a] = maxwell_cell_before(m, a, (uint32_t)place[a]);
        if (quarter & 2)
            at[b] = maxwell_cell_before(m, b, (uint32_t)place[b]);
        cell[quarter] = (at[2] * m->n[1] + at[1]) * m->n[0] + at[0];
        mapped = mapped || !isnan(m->structure.map[cell[quarter]]);
    }
    if (!mapped)
        return false;
    *out = (maxwell_class){ .eps = { 0, 0 } };
    for (int i = 0; i < 4; i++) {
        const double n = maxwell_cell_index(m, cell[i]), k = m->structure.material[m->structure.cell[cell[i]]].k;
        out->of[i] = m->structure.cell[cell[i]];
        out->share[i] = 0.25;
        out->loss[i] = 0.25 * 2 * n * k;
        out->eps = cplx_plus(out->eps, cplx_scaled(0.25, maxwell_permittivity(n, k)));
    }
    return true;
}

/* Whether the model has one material there: an absorbing layer, or planes from the source upwards. */
static bool is_kept(const maxwell_model *m, size_t cell)
{
    const size_t place[3] = { cell % m->n[0], cell / m->n[0] % m->n[1], cell / m->n[0] / m->n[1] };
    const size_t d = (size_t)m->pml.cells + m->light.volume;
    bool kept = !m->light.volume && !m->light.current && place[2] >= m->light.source;
    for (int dim = 0; dim < 3; dim++) {
        const bool low = dim < 2 ? m->pml.sides : m->pml.bottom, high = dim == 2 || m->pml.sides;
        kept = kept || (low && place[dim] < d) || (high && place[dim] + d >= m->n[dim]);
    }
    return kept;
}

static bn_status check_map(const bn_case *c, const maxwell_model *m, double *map)
{
    for (size_t at = 0; at < maxwell_cells(m); at++) {
        const maxwell_material *of = &m->structure.material[m->structure.cell[at]];
        const size_t x = at % m->n[0], y = at / m->n[0] % m->n[1], z = at / m->n[0] / m->n[1];
        const maxwell_material unit = { .n = 1, .mu = of->mu };
        const double most = m->light.wavelength / (8 * m->h * maxwell_index(&unit).re);
        if (isnan(map[at]))
            continue;
        if (!(map[at] > 0 && map[at] <= most) || maxwell_permittivity(map[at], of->k).re < 1)
            return bn_case_reject(c, "structure.map", "NaN leaves a cell as it is",
                                  "an index of %g in cell %zu, %zu, %zu: eight cells a wavelength allow %.3g, and the "
                                  "iteration a permittivity of 1 or more",
                                  map[at], x, y, z, most);
        if (!is_kept(m, at))
            continue;
        if (fabs(map[at] - of->n) > 1e-6 * of->n) /* a float's rounding apart it may repeat what is there */
            return bn_case_reject(
                c, "structure.map", "NaN leaves a cell as it is",
                "cell %zu, %zu, %zu, in an absorbing layer or above the light's source, must keep the "
                "index of %s",
                x, y, z, of->name);
        map[at] = (double)NAN;
    }
    return BN_OK;
}

/* Numbers the rows; an edge beside a metal might have a mean permittivity that the iteration does not allow. */
static bn_status number_rows(const bn_case *c, bn_plan *p, maxwell_model *m)
{
    const size_t cells = maxwell_cells(m), levels = (size_t)m->pml.cells + 1;
    BN_TRY(bn_plan_allocate(p, 3 * cells * sizeof *m->structure.row, (void **)&m->structure.row));
    m->structure.rows = levels * (size_t)m->structure.class_count;
    for (size_t edge = 0; edge < 3 * cells; edge++) {
        const size_t at = edge % cells, place[3] = { at % m->n[0], at / m->n[0] % m->n[1], at / m->n[0] / m->n[1] };
        size_t cell[4];
        maxwell_class class;
        const bool mapped = maxwell_mapped_edge(m, (int)(edge / cells), place, cell, &class);
        if (mapped && class.eps.re < 1)
            return bn_case_reject(c, "structure.map", "NaN leaves a cell as it is",
                                  "cell %zu, %zu, %zu lies beside a metal: the mean permittivity of an edge is %g",
                                  place[0], place[1], place[2], class.eps.re);
        m->structure.row[edge] = (int32_t)(mapped ? m->structure.rows++ : m->structure.edge[edge] * levels);
    }
    return m->structure.rows < INT32_MAX ? BN_OK
                                         : bn_case_reject(c, "structure.map", NULL, "more edges than can be numbered");
}

bn_status maxwell_read_map(const bn_case *c, bn_plan *p, maxwell_model *m)
{
    const bn_input *in;
    m->structure.mapped = bn_case_text(c, "structure.map")[0] != '\0';
    if (!m->structure.mapped || bn_case_diagnostics(c)[0] || !m->structure.cell)
        return BN_OK; /* there is none, or cells are only counted */
    if (!m->structure.average)
        return bn_case_reject(c, "structure.map", "structure.borders = \"average\"",
                              "with sharp borders the index of an edge is no mean of cells");
    BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_VOLUME, .key = "structure.map" }, &in));
    if (memcmp(in->n, m->n, sizeof m->n) != 0)
        return bn_case_reject(c, "structure.map", NULL, "%u x %u x %u numbers for %u x %u x %u cells", in->n[0],
                              in->n[1], in->n[2], m->n[0], m->n[1], m->n[2]);
    BN_TRY(bn_plan_allocate(p, maxwell_cells(m) * sizeof *m->structure.map, (void **)&m->structure.map));
    memcpy(m->structure.map, in->values, maxwell_cells(m) * sizeof *m->structure.map);
    if (check_map(c, m, m->structure.map) != BN_OK || number_rows(c, p, m) != BN_OK)
        return BN_OK; /* the case is rejected */
    BN_TRY(maxwell_allocate_tables(p, m));
    maxwell_set_tables(m);
    return BN_OK;
}
