/* maxwell_reference.c: one iteration in plain C, the specification of kernels/maxwell.cl. Compiled for float and for
 * double; every expression is associated as on the device, so that both give the same bits. */
#include "maxwell.h"
#include "sim/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
    real re, im;
} pair;

typedef struct reference {
    real *table[MAXWELL_TABLES]; /* rounded */
    int wavelength;              /* number of the wavelength that they are for; -1: none yet */
    real *products;              /* of two differences of states: real parts of all cells, then imaginary parts */
    real *partials;              /* for ordered sums */
} reference;

static pair times(pair a, pair b) { return (pair){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re }; }
static pair plus(pair a, pair b) { return (pair){ a.re + b.re, a.im + b.im }; }
static pair minus(pair a, pair b) { return (pair){ a.re - b.re, a.im - b.im }; }
static pair negative(pair a) { return (pair){ -a.re, -a.im }; }
static pair scaled(real f, pair a) { return (pair){ f * a.re, f * a.im }; }
static pair at_pair(const real *table, size_t i) { return (pair){ table[2 * i], table[2 * i + 1] }; }
static pair rounded(cplx a, double ramp) { return (pair){ (real)(ramp * a.re), (real)(ramp * a.im) }; }
static real square(pair a) { return a.re * a.re + a.im * a.im; }

static void round_tables(const maxwell *s, reference *r)
{
    for (int i = 0; i < MAXWELL_TABLES; i++)
        for (size_t k = 0; k < maxwell_table_size(&s->model, (maxwell_table)i); k++)
            r->table[i][k] = (real)s->model.t.of[i][k];
    r->wavelength = s->spectrum.present;
}

static bn_status setup(bn_sim *sim, void *state)
{
    maxwell *s = state;
    reference *r = s->reference = calloc(1, sizeof *r);
    if (!r)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the reference");
    const size_t cells = maxwell_cells(&s->model);
    bool complete = true;
    for (int i = 0; i < MAXWELL_TABLES; i++) {
        r->table[i] = calloc(maxwell_table_size(&s->model, (maxwell_table)i), sizeof(real));
        complete = complete && r->table[i];
    }
    if (s->anderson.on) {
        r->products = calloc(2 * cells, sizeof(real));
        r->partials = calloc(cells, sizeof(real));
        complete = complete && r->products && r->partials;
    }
    if (!complete)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the reference");
    r->wavelength = -1;
    return BN_OK;
}

static void teardown(void *state)
{
    reference *r = ((maxwell *)state)->reference;
    if (!r)
        return;
    for (int i = 0; i < MAXWELL_TABLES; i++)
        free(r->table[i]);
    free(r->products);
    free(r->partials);
    free(r);
}

/* A component at a neighbour, `step` cells along a dimension: across a periodic side, times the phase of a Bloch wave
 * (backwards its conjugate); 0 behind a metal wall. */
static pair neighbour(const maxwell_model *m, const reference *r, const pair *f, const uint32_t at[3], int dim,
                      int step)
{
    const size_t nx = m->n[0], ny = m->n[1];
    const long n = m->n[dim], to = (long)at[dim] + step;
    uint32_t p[3] = { at[0], at[1], at[2] };
    const bool across = to < 0 || to >= n;
    if (across && (dim == 2 || m->pml.sides))
        return (pair){ 0, 0 };
    p[dim] = (uint32_t)((to + n) % n);
    const pair value = f[((size_t)p[2] * ny + p[1]) * nx + p[0]];
    if (!across || !m->light.bloch)
        return value;
    pair phase = at_pair(r->table[MAXWELL_LATERAL], (size_t)dim);
    if (step < 0)
        phase.im = -phase.im;
    return times(value, phase);
}

static pair incident(const maxwell_model *m, const reference *r, pair value, const uint32_t at[3])
{
    if (!m->light.bloch)
        return value;
    const real *lateral = r->table[MAXWELL_LATERAL] + 4;
    return times(value, times(at_pair(lateral, at[0]), at_pair(lateral, m->n[0] + at[1])));
}

/* The row of an edge or a face in a table whose classes have so many rows; `class` NULL: all are of the first one. */
static size_t row_of(const uint8_t *class, size_t at, size_t levels) { return class ? class[at] * levels : 0; }

/* kernels/maxwell.cl, (1) or (2); where the component is split, (3). */
static pair update_component(pair old, pair first, pair second, const real *coefficients, size_t at_first,
                             size_t at_second, bool split, pair *part)
{
    const pair t = at_pair(coefficients, 2 * at_first), c = at_pair(coefficients, 2 * at_first + 1);
    if (!split)
        return plus(times(t, old), times(c, plus(first, second)));
    const pair t2 = at_pair(coefficients, 2 * at_second), c2 = at_pair(coefficients, 2 * at_second + 1);
    const pair a = plus(times(t, *part), times(c, first));
    const pair b = plus(times(t2, minus(old, *part)), times(c2, second));
    *part = a;
    return plus(a, b);
}

static void step_H(const maxwell *s, const reference *r)
{
    const maxwell_model *m = &s->model;
    const size_t nx = m->n[0], ny = m->n[1], cells = nx * ny * m->n[2];
    const pair *ex = bn_field_host(s->f.E), *ey = ex + cells, *ez = ey + cells;
    pair *hx = bn_field_host(s->f.H), *hy = hx + cells, *hz = hy + cells;
    pair *px = bn_field_host(s->f.part_H), *py = px + cells, *pz = py + cells;
    const real *table = r->table[MAXWELL_UPDATE_H];
    const uint8_t *face = m->structure.face;
    const pair *M = m->light.magnetic ? bn_field_host(s->f.current) : NULL;
    const size_t levels = (size_t)m->pml.cells + 1;
    const double ramp = maxwell_ramp(m, s->steps);
    const pair in_x = rounded(m->t.e_inc[0], ramp), in_y = rounded(m->t.e_inc[1], ramp);
    const real drive[2] = { (real)(ramp * m->light.amplitude * sin(m->light.polarisation)),
                            -(real)(ramp * m->light.amplitude * cos(m->light.polarisation)) };
    const real drive_M = (real)(-ramp * m->h);
    for (uint32_t k = 0; k < m->n[2]; k++)
        for (uint32_t j = 0; j < ny; j++)
            for (uint32_t i = 0; i < nx; i++) {
                const uint32_t at[3] = { i, j, k };
                const size_t here = ((size_t)k * ny + j) * nx + i;
                const size_t dx = (size_t)maxwell_depth_H(m, 0, i), dy = (size_t)maxwell_depth_H(m, 1, j),
                             dz = (size_t)maxwell_depth_H(m, 2, k);
                const size_t x = row_of(face, here, levels), y = row_of(face, cells + here, levels),
                             z = row_of(face, 2 * cells + here, levels), row[3] = { x, y, z };
                pair dz_ex = minus(neighbour(m, r, ex, at, 2, 1), ex[here]);
                pair dz_ey = minus(neighbour(m, r, ey, at, 2, 1), ey[here]);
                if (!m->light.volume && !m->light.current && k == m->light.source) {
                    dz_ex = plus(dz_ex, incident(m, r, in_x, at));
                    dz_ey = plus(dz_ey, incident(m, r, in_y, at));
                }
                hx[here] = update_component(hx[here], dz_ey, minus(ez[here], neighbour(m, r, ez, at, 1, 1)), table,
                                            x + dz, x + dy, dz + dy > 0, px + here);
                hy[here] = update_component(hy[here], negative(dz_ex), minus(neighbour(m, r, ez, at, 0, 1), ez[here]),
                                            table, y + dz, y + dx, dz + dx > 0, py + here);
                hz[here] = update_component(hz[here], minus(ey[here], neighbour(m, r, ey, at, 0, 1)),
                                            minus(neighbour(m, r, ex, at, 1, 1), ex[here]), table, z + dx, z + dy,
                                            dx + dy > 0, m->pml.sides ? pz + here : NULL);
                for (size_t c = 0; c < 3; c++) {
                    pair *h = hx + c * cells + here;
                    const pair factor = at_pair(table, 2 * row[c] + 1);
                    if (m->light.volume && face && c < 2) {
                        const size_t class = face[c * cells + here] * (m->structure.row ? levels : 1);
                        *h = plus(*h,
                                  scaled(drive[c], times(factor, times(at_pair(r->table[MAXWELL_CONTRAST_H], class),
                                                                       at_pair(r->table[MAXWELL_WAVE], m->n[2] + k)))));
                    }
                    if (M)
                        *h = plus(*h, scaled(drive_M, times(factor, M[c * cells + here])));
                }
            }
}

/* The largest |change|^2 and |E|^2; one that is not a number stays. */
static void note_change(maxwell *s, pair new, pair old)
{
    const double change = (double)square(minus(new, old)), size = (double)square(new);
    if (!(change <= s->change) && !isnan(s->change))
        s->change = change;
    if (!(size <= s->size) && !isnan(s->size))
        s->size = size;
}

static void step_E(maxwell *s, const reference *r)
{
    const maxwell_model *m = &s->model;
    const size_t nx = m->n[0], ny = m->n[1], cells = nx * ny * m->n[2], levels = (size_t)m->pml.cells + 1;
    const pair *hx = bn_field_host(s->f.H), *hy = hx + cells, *hz = hy + cells;
    pair *E = bn_field_host(s->f.E), *part = bn_field_host(s->f.part_E);
    const pair *J = m->light.current && !m->light.magnetic ? bn_field_host(s->f.current) : NULL;
    const double ramp = maxwell_ramp(m, s->steps);
    const pair in_x = rounded(m->t.h_inc[0], ramp), in_y = rounded(m->t.h_inc[1], ramp);
    const real drive[2] = { (real)(ramp * m->light.amplitude * cos(m->light.polarisation)),
                            (real)(ramp * m->light.amplitude * sin(m->light.polarisation)) };
    const real drive_J = (real)(-ramp * MAXWELL_VACUUM_IMPEDANCE * m->h);
    for (uint32_t k = 0; k < m->n[2]; k++)
        for (uint32_t j = 0; j < ny; j++)
            for (uint32_t i = 0; i < nx; i++) {
                const uint32_t at[3] = { i, j, k };
                const size_t here = ((size_t)k * ny + j) * nx + i;
                const size_t depth[3] = { (size_t)maxwell_depth_E(m, 0, i), (size_t)maxwell_depth_E(m, 1, j),
                                          (size_t)maxwell_depth_E(m, 2, k) };
                pair dz_hx = minus(hx[here], neighbour(m, r, hx, at, 2, -1));
                pair dz_hy = minus(hy[here], neighbour(m, r, hy, at, 2, -1));
                if (!m->light.volume && !m->light.current && k == m->light.source) {
                    dz_hx = plus(dz_hx, incident(m, r, in_x, at));
                    dz_hy = plus(dz_hy, incident(m, r, in_y, at));
                }
                const pair first[3] = { negative(dz_hy), dz_hx, minus(hy[here], neighbour(m, r, hy, at, 0, -1)) };
                const pair second[3] = { minus(hz[here], neighbour(m, r, hz, at, 1, -1)),
                                         minus(neighbour(m, r, hz, at, 0, -1), hz[here]),
                                         minus(neighbour(m, r, hx, at, 1, -1), hx[here]) };
                static const int along[3][2] = { { 2, 1 }, { 2, 0 }, { 0, 1 } };
                const bool wall_x = m->pml.sides && i == 0, wall_y = m->pml.sides && j == 0, wall_z = k == 0;
                const bool wall[3] = { wall_y || wall_z, wall_x || wall_z, wall_x || wall_y };
                for (int c = 0; c < 3; c++) {
                    const size_t own = (size_t)c * cells + here,
                                 class = m->structure.row ? (size_t)m->structure.row[own] : m->structure.edge[own],
                                 base = m->structure.row ? class : class * levels;
                    const size_t a = depth[along[c][0]], b = depth[along[c][1]];
                    const pair old = E[own];
                    pair new = update_component(old, first[c], second[c], r->table[MAXWELL_UPDATE_E], base + a,
                                                base + b, a + b > 0, c < 2 || m->pml.sides ? part + own : NULL);
                    if (m->light.volume && c < 2)
                        new = plus(new, scaled(drive[c], times(at_pair(r->table[MAXWELL_UPDATE_E], 2 * base + 1),
                                                               times(at_pair(r->table[MAXWELL_CONTRAST], class),
                                                                     at_pair(r->table[MAXWELL_WAVE], k)))));
                    if (J)
                        new = plus(new,
                                   scaled(drive_J, times(at_pair(r->table[MAXWELL_UPDATE_E], 2 * base + 1), J[own])));
                    if (wall[c])
                        new = (pair){ 0, 0 };
                    note_change(s, new, old);
                    E[own] = new;
                }
            }
}

/* -------------------------------------------------------------------------------------------------- acceleration */

/* Component c of the state, which is E, H and the parts of both. */
static pair *state_of(const maxwell *s, int c)
{
    const maxwell_model *m = &s->model;
    const size_t cells = (size_t)m->n[0] * m->n[1] * m->n[2], parts = m->pml.sides ? 3 : 2;
    bn_field *const f[4] = { s->f.E, s->f.H, s->f.part_E, s->f.part_H };
    const size_t count[4] = { 3, 3, parts, parts };
    size_t own = (size_t)c;
    int which = 0;
    while (own >= count[which])
        own -= count[which++];
    return (pair *)bn_field_host(f[which]) + own * cells;
}

/* Component c of difference `slot`, or, with slot = depth, of the last state. */
static pair *history_of(const maxwell *s, int slot, int c)
{
    const maxwell_model *m = &s->model;
    const size_t cells = (size_t)m->n[0] * m->n[1] * m->n[2];
    return (pair *)bn_field_host(s->anderson.history) +
           ((size_t)slot * (size_t)s->anderson.components + (size_t)c) * cells;
}

static void store_state(const maxwell *s, int slot)
{
    const maxwell_model *m = &s->model;
    const size_t cells = (size_t)m->n[0] * m->n[1] * m->n[2];
    for (int c = 0; c < s->anderson.components; c++) {
        const pair *x = state_of(s, c);
        pair *last = history_of(s, s->anderson.depth, c);
        for (size_t i = 0; i < cells; i++) {
            if (slot >= 0)
                history_of(s, slot, c)[i] = minus(x[i], last[i]);
            last[i] = x[i];
        }
    }
}

static void gram_entry(const maxwell *s, const reference *r, int row, int column, double *out)
{
    const maxwell_model *m = &s->model;
    const size_t n[3] = { m->n[0], m->n[1], m->n[2] }, cells = n[0] * n[1] * n[2];
    memset(r->products, 0, 2 * cells * sizeof *r->products);
    for (int c = 0; c < s->anderson.components; c++) {
        const pair *a = history_of(s, column, c), *b = history_of(s, row, c);
        for (size_t i = 0; i < cells; i++) {
            r->products[i] += a[i].re * b[i].re + a[i].im * b[i].im;
            r->products[cells + i] += a[i].re * b[i].im - a[i].im * b[i].re;
        }
    }
    out[0] = (double)bn_ordered_dot(r->products, NULL, n, r->partials);
    out[1] = (double)bn_ordered_dot(r->products + cells, NULL, n, r->partials);
}

static void extrapolate(const maxwell *s, const reference *r)
{
    const maxwell_model *m = &s->model;
    const size_t cells = (size_t)m->n[0] * m->n[1] * m->n[2];
    double gram[2 * MAXWELL_DEPTH * MAXWELL_DEPTH] = { 0 }, weights[2 * MAXWELL_DEPTH];
    for (int row = 0; row < s->anderson.depth; row++)
        for (int column = 0; column <= row; column++)
            gram_entry(s, r, row, column, gram + 2 * (row * s->anderson.depth + column));
    maxwell_anderson_weights(s, gram, weights);
    for (int c = 0; c < s->anderson.components; c++) {
        pair *x = state_of(s, c);
        const pair *last = history_of(s, s->anderson.depth, c);
        for (size_t i = 0; i < cells; i++) {
            pair sum = last[i];
            for (int l = 1; l < s->anderson.depth; l++)
                sum = minus(sum,
                            times((pair){ (real)weights[2 * l], (real)weights[2 * l + 1] }, history_of(s, l, c)[i]));
            x[i] = sum;
        }
    }
}

static void anderson_step(const maxwell *s, const reference *r)
{
    const maxwell_cycle now = maxwell_cycle_now(s);
    if (now.slot >= 0)
        store_state(s, now.slot);
    if (now.finish)
        extrapolate(s, r);
    if (now.begin)
        store_state(s, -1);
}

/* ------------------------------------------------------------------------------------------------------ the engine */

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    maxwell *s = state;
    reference *r = s->reference;
    if (r->wavelength != s->spectrum.present)
        round_tables(s, r);
    const bool watched = maxwell_watches(s);
    const double change = s->change, size = s->size;
    s->change = s->size = 0;
    step_H(s, r);
    step_E(s, r);
    if (!watched) { /* as devices, which look at watched steps alone */
        s->change = change;
        s->size = size;
    }
    BN_TRY(maxwell_report(sim, s, watched, out));
    if (!out->converged && !out->complete && s->anderson.on)
        anderson_step(s, r);
    return BN_OK;
}

static bn_status update_outputs(bn_sim *sim, void *state)
{
    const maxwell *s = state;
    const maxwell_model *m = &s->model;
    const size_t cells = (size_t)m->n[0] * m->n[1] * m->n[2];
    (void)sim;
    const pair *E = bn_field_host(s->f.E);
    real *norm = bn_field_host(s->f.norm);
    const double ramp = maxwell_ramp(m, s->steps);
    for (size_t i = 0; i < cells; i++) {
        pair e[3] = { E[i], E[cells + i], E[2 * cells + i] };
        if (m->light.volume) {
            const size_t k = i / ((size_t)m->n[0] * m->n[1]);
            const pair wave = { (real)m->t.of[MAXWELL_WAVE][2 * k], (real)m->t.of[MAXWELL_WAVE][2 * k + 1] };
            e[0] = plus(e[0], scaled((real)(ramp * m->light.amplitude * cos(m->light.polarisation)), wave));
            e[1] = plus(e[1], scaled((real)(ramp * m->light.amplitude * sin(m->light.polarisation)), wave));
        }
        norm[i] = (real)sqrt((double)(square(e[0]) + square(e[1]) + square(e[2])));
    }
    return BN_OK;
}

const bn_engine BN_REFERENCE(maxwell) = {
    .name = "reference", .setup = setup, .step = step, .teardown = teardown, .update_outputs = update_outputs
};
