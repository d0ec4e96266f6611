/* maxwell_gradient.c: how a number F that follows from the field changes with the index of cells, by one more run: the
 * adjoint equations (docs/maxwell.md).
 *
 * At its end the iteration has solved M (E, H) = b on the grid, with rows i w eps E - curl H = -Z0 h J and
 * i w mu H + curl E = ..., differences divided by the stretching s of the absorbing layers. Rows times the product of
 * the three stretchings at their place (over that along their own axis twice, which is 1 outside the layers), rows of H
 * with the other sign, are a symmetric matrix. So where slopes and map are outside the layers
 *     dF = Re sum of g . d(E, H),   M y = g,   dF/d(eps of an edge) = -Re(i w E y):
 * y is the field of the currents Z0 h J = -g. Oblique light: the transposed phases across the sides are those of the
 * opposite direction. Slopes of H are folded into those of E, of which H follows. */
#include "maxwell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool maxwell_map(const void *state, unsigned n[3])
{
    const maxwell_model *m = &((const maxwell *)state)->model;
    memcpy(n, m->n, sizeof m->n);
    return m->structure.mapped;
}

static bn_status usage(bn_sim *sim, const char *text) { return bn_fail(bn_sim_context(sim), BN_USAGE, "%s", text); }

/* --- slopes: complex numbers g of 3 components of all cells, dF = Re sum g dE --- */

/* Adds `value` times the difference of a neighbour of the cell at `place`, `step` cells along `dim`. */
static void add_slope(const maxwell_model *m, cplx *component, const size_t place[3], int dim, int step, cplx value)
{
    size_t p[3] = { place[0], place[1], place[2] };
    const bool across = p[dim] + (size_t)step >= m->n[dim];
    if (across && (dim == 2 || m->pml.sides))
        return;
    p[dim] = (p[dim] + (size_t)step) % m->n[dim];
    if (across && m->light.bloch) {
        const double *phase = m->t.of[MAXWELL_LATERAL] + 2 * dim;
        value = cplx_times(value, (cplx){ phase[0], phase[1] });
    }
    cplx *to = &component[(p[2] * m->n[1] + p[1]) * m->n[0] + p[0]];
    *to = cplx_plus(*to, value);
}

/* H_a = -(d_b E_c - d_c E_b) / (i w mu), (a, b, c) in turn; d: the difference of the neighbour and the cell. */
static void fold_H(const maxwell_model *m, const cplx *slopes, cplx *g)
{
    const size_t cells = maxwell_cells(m);
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        for (size_t at = 0; at < cells; at++) {
            const cplx of = slopes[(size_t)a * cells + at];
            cplx by = { -of.im / m->t.w, of.re / m->t.w }; /* i g / (w mu) */
            const size_t place[3] = { at % m->n[0], at / m->n[0] % m->n[1], at / m->n[0] / m->n[1] };
            if (of.re == 0 && of.im == 0)
                continue;
            if (m->structure.magnetic)
                by = cplx_over(by, m->structure.faces[m->structure.face[(size_t)a * cells + at]].mu);
            const cplx back = cplx_scaled(-1, by);
            add_slope(m, g + (size_t)c * cells, place, b, 1, by);
            add_slope(m, g + (size_t)c * cells, place, b, 0, back);
            add_slope(m, g + (size_t)b * cells, place, c, 1, back);
            add_slope(m, g + (size_t)b * cells, place, c, 0, by);
        }
    }
}

/* Shares of the incident power: the flux downwards through a plane, -1/2 Re sum (E_x H_y* - E_y H_x*). */
static bn_status flux_slopes(bn_sim *sim, const maxwell *s, const char *of, cplx *g)
{
    const maxwell_model *m = &s->model;
    const size_t cells = maxwell_cells(m), plane = (size_t)m->n[0] * m->n[1];
    const bool reflected = strcmp(of, "reflectance") == 0;
    const size_t k = reflected ? m->light.source + 1 : (size_t)m->pml.cells + 1;
    const double unit = (reflected ? 0.5 : -0.5) / (m->t.flux * (double)plane);
    if (m->light.volume || m->light.current || (!reflected && strcmp(of, "transmittance") != 0) ||
        (!reflected && !m->pml.bottom))
        return usage(sim, "maxwell has gradients of reflectance and transmittance of a plane wave, and of what follows "
                          "from the fields E and Z0H, with slopes");
    cplx *E = calloc(6 * plane + 3 * cells, sizeof *E);
    if (!E)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the slopes of %s", of);
    cplx *H = E + 3 * plane, *slopes = H + 3 * plane;
    const bn_region r = { { 0, 0, (uint32_t)k }, { m->n[0], m->n[1], 1 } };
    bn_status st = bn_field_read_region(s->f.E, 0, 3, &r, BN_AS_DOUBLES, (double *)E);
    if (st == BN_OK)
        st = bn_field_read_region(s->f.H, 0, 3, &r, BN_AS_DOUBLES, (double *)H);
    for (size_t i = 0; st == BN_OK && i < plane; i++) { /* of Re a b*: g_a = b*, g_b = a* */
        const size_t x = k * plane + i, y = cells + x;
        g[x] = cplx_plus(g[x], (cplx){ unit * H[plane + i].re, -unit * H[plane + i].im });
        g[y] = cplx_plus(g[y], (cplx){ -unit * H[i].re, unit * H[i].im });
        slopes[x] = (cplx){ -unit * E[plane + i].re, unit * E[plane + i].im };
        slopes[y] = (cplx){ unit * E[i].re, -unit * E[i].im };
    }
    if (st == BN_OK)
        fold_H(m, slopes, g);
    free(E);
    return st;
}

static bn_status find_slopes(bn_sim *sim, const maxwell *s, const char *of, const double *given, cplx *g)
{
    const maxwell_model *m = &s->model;
    const size_t cells = maxwell_cells(m);
    const bool H = given && strcmp(of, "Z0H") == 0;
    if (!given) {
        BN_TRY(flux_slopes(sim, s, of, g));
    } else if (!H && strcmp(of, "E") != 0) {
        return usage(sim, "slopes are those of the fields E or Z0H");
    } else {
        cplx *own = H ? calloc(3 * cells, sizeof *own) : g;
        if (!own)
            return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for slopes");
        for (size_t i = 0; i < 3 * cells; i++)
            own[i] = (cplx){ given[2 * i], -given[2 * i + 1] };
        if (H) {
            fold_H(m, own, g);
            free(own);
        }
    }
    for (size_t i = 0; i < 3 * cells; i++) {
        const size_t at = i % cells, place[3] = { at % m->n[0], at / m->n[0] % m->n[1], at / m->n[0] / m->n[1] };
        bool deep = false;
        for (int dim = 0; dim < 3; dim++)
            deep = deep || maxwell_depth_E(m, dim, (uint32_t)place[dim]) > 0 ||
                   (dim == (int)(i / cells) && maxwell_depth_H(m, dim, (uint32_t)place[dim]) > 0);
        if (deep && (g[i].re != 0 || g[i].im != 0))
            return usage(sim, "slopes must be 0 in the absorbing layers, and those of Z0H beside them");
    }
    return BN_OK;
}

/* --- the adjoint field --- */

/* The field y of the currents -g, in double. */
static bn_status adjoint_field(bn_sim *sim, const maxwell *s, const cplx *g, cplx *y)
{
    const maxwell_model *m = &s->model;
    const size_t cells = maxwell_cells(m);
    char azimuth[64];
    /* Charges that the rise of currents leaves do not move on a grid without loss: a slow rise leaves few of them. */
    const char *keys[] = { "light.source=current", "solver.start=dark", "case.resume=''",
                           m->light.ramp_periods < 30 ? "light.ramp=30" : "light.source=current", azimuth };
    bn_case *config = NULL;
    bn_sim *adjoint = NULL;
    bn_status st = BN_OK;
    double largest = 0;
    snprintf(azimuth, sizeof azimuth, "light.azimuth=%.17g",
             m->light.azimuth + (m->light.azimuth > 0 ? -1 : 1) * 3.14159265358979323846);
    for (size_t i = 0; i < 3 * cells; i++)
        largest = fmax(largest, fmax(fabs(g[i].re), fabs(g[i].im)));
    if (largest == 0) {
        memset(y, 0, 3 * cells * sizeof *y);
        return BN_OK;
    }
    const double unit = 1 / (largest * MAXWELL_VACUUM_IMPEDANCE * m->h); /* fields of some volts per metre */
    for (size_t i = 0; i < 3 * cells; i++)
        y[i] = cplx_scaled(-unit, g[i]);
    BN_GO(bn_sim_create_like(sim, keys, m->light.bloch ? 5 : 4, &config, &adjoint));
    BN_GO(bn_sim_set(adjoint, "J", NULL, BN_NUMBERS_DOUBLE, y));
    while (!bn_sim_done(adjoint)) {
        BN_GO(bn_sim_step(adjoint));
        if (bn_sim_now(adjoint).step % 32 == 0 && bn_sim_asked_to_end(sim))
            BN_GO(bn_fail(bn_sim_context(sim), BN_INTERRUPTED, "interrupted"));
    }
    if (!bn_sim_now(adjoint).converged)
        BN_GO(bn_fail(bn_sim_context(sim), BN_DIVERGED,
                      "the adjoint field has not converged in %llu steps, to %g; solver.accelerate = \"anderson\" may "
                      "help, or more stop.steps",
                      bn_sim_now(adjoint).step, bn_sim_now(adjoint).residual));
    BN_GO(bn_sim_get(adjoint, "E", NULL, BN_NUMBERS_DOUBLE, y));
    for (size_t i = 0; i < 3 * cells; i++)
        y[i] = cplx_scaled(largest, y[i]);
out:
    bn_sim_destroy(&adjoint);
    bn_case_destroy(&config);
    return st;
}

/* Total E in the place of the scattered one. */
static void add_incident(const maxwell_model *m, cplx *E)
{
    const size_t cells = maxwell_cells(m), plane = (size_t)m->n[0] * m->n[1];
    const double drive[2] = { m->light.amplitude * cos(m->light.polarisation),
                              m->light.amplitude * sin(m->light.polarisation) };
    for (size_t i = 0; m->light.volume && i < 2 * cells; i++) {
        const double *wave = m->t.of[MAXWELL_WAVE] + 2 * (i % cells / plane);
        E[i] = cplx_plus(E[i], cplx_scaled(drive[i / cells], (cplx){ wave[0], wave[1] }));
    }
}

bn_status maxwell_gradient(bn_sim *sim, void *state, const char *of, const double *slopes, double *gradient)
{
    const maxwell *s = state;
    const maxwell_model *m = &s->model;
    const size_t cells = maxwell_cells(m);
    bn_status st = BN_OK;
    if (m->light.wavelengths > 1)
        return usage(sim, "a gradient belongs to one wavelength: light.count = 1");
    if (!bn_sim_now(sim).converged)
        return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                       "the field has not converged yet, and only then does it obey the equations that are derived");
    cplx *g = calloc(9 * cells, sizeof *g);
    if (!g)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the gradient of %zu cells", cells);
    cplx *y = g + 3 * cells, *E = y + 3 * cells;
    BN_GO(find_slopes(sim, s, of, slopes, g));
    BN_GO(adjoint_field(sim, s, g, y));
    BN_GO(bn_field_get(s->f.E, (double *)E, 6 * cells));
    add_incident(m, E);
    for (size_t i = 0; i < 3 * cells; i++) {
        const size_t at = i % cells, place[3] = { at % m->n[0], at / m->n[0] % m->n[1], at / m->n[0] / m->n[1] };
        size_t cell[4];
        maxwell_class class;
        if (!maxwell_mapped_edge(m, (int)(i / cells), place, cell, &class))
            continue;
        /* -Re(i w E y d eps), and d eps = 1/4 of 2 (n - i k) dn for each of the four cells */
        const cplx product = cplx_times(E[i], y[i]);
        for (int quarter = 0; quarter < 4; quarter++) {
            const double n = maxwell_cell_index(m, cell[quarter]),
                         k = m->structure.material[m->structure.cell[cell[quarter]]].k;
            if (!isnan(m->structure.map[cell[quarter]]))
                gradient[cell[quarter]] += 0.5 * m->t.w * (n * product.im - k * product.re);
        }
    }
out:
    free(g);
    return st;
}
