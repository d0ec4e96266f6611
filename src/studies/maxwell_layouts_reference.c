/* maxwell_layouts_reference.c: one iteration in plain C, the specification of kernels/studies/maxwell_layouts.cl.
 * Compiled for float and for double; every expression is associated as on the device, so that both give the same bits.
 */
#include "sim/reference.h"
#include "studies/maxwell_layouts.h"

#include <math.h>

typedef struct pair {
    real re, im;
} pair;

static pair times(pair a, pair b) { return (pair){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re }; }
static pair plus(pair a, pair b) { return (pair){ a.re + b.re, a.im + b.im }; }
static pair minus(pair a, pair b) { return (pair){ a.re - b.re, a.im - b.im }; }
static real square(pair a) { return a.re * a.re + a.im * a.im; }

/* The records of E or H, whichever layout they have. */
typedef struct records {
    pair *values;
    size_t of_cell, of_member; /* strides */
} records;

static records records_of(const maxwell_layouts *s, bn_field *f)
{
    return s->layout == MAXWELL_AOS ? (records){ bn_field_host(f), MAXWELL_RECORD, 1 }
                                    : (records){ bn_field_host(f), 1, maxwell_cells(&s->model) };
}

static pair *member(const records *r, size_t i, size_t cell)
{
    return &r->values[i * r->of_member + cell * r->of_cell];
}

/* A component is the sum of its two parts; `cell` may be the number of cells: beyond the bottom or top. */
static pair component_at(const maxwell_model *m, const records *r, size_t component, size_t cell)
{
    return cell == maxwell_cells(m) ? (pair){ 0, 0 }
                                    : plus(*member(r, 2 * component, cell), *member(r, 2 * component + 1, cell));
}

/* The cell one step along a dimension. */
static size_t neighbour(const maxwell_model *m, const uint32_t at[3], int dim, int step)
{
    const long n = m->n[dim], to = (long)at[dim] + step;
    uint32_t p[3] = { at[0], at[1], at[2] };
    if (dim == 2 && (to < 0 || to >= n))
        return maxwell_cells(m);
    p[dim] = (uint32_t)((to + n) % n);
    return ((size_t)p[2] * m->n[1] + p[1]) * m->n[0] + p[0];
}

/* Keeps the larger value, or one that is not a number. */
static void take_largest(double *most, double value)
{
    if (!(value <= *most) && !isnan(*most))
        *most = value;
}

/* Half a step of E (from H) or of H (from E). */
static void half_step(maxwell_layouts *s, bool magnetic)
{
    static const int driver[6] = { 1, 2, 2, 0, 0, 1 }; /* component of the other field: xy, xz, yz, yx, zx, zy */
    static const int along[6] = { 2, 1, 0, 2, 1, 0 };
    /* Whether the farther neighbour comes first in the difference, for H; for E the other way round. */
    static const bool far_first[6] = { true, false, true, false, true, false };
    const maxwell_model *m = &s->model;
    const records own = records_of(s, magnetic ? s->record_H : s->record_E);
    const records other = records_of(s, magnetic ? s->record_E : s->record_H);
    const real ramp = (real)maxwell_ramp(m, s->steps);
    for (size_t cell = 0; cell < maxwell_cells(m); cell++) {
        const uint32_t at[3] = { (uint32_t)(cell % m->n[0]), (uint32_t)(cell / m->n[0] % m->n[1]),
                                 (uint32_t)(cell / m->n[0] / m->n[1]) };
        pair new[6], old[3];
        for (size_t c = 0; c < 3; c++)
            old[c] = component_at(m, &own, c, cell);
        for (size_t i = 0; i < 6; i++) {
            const pair here = component_at(m, &other, (size_t)driver[i], cell);
            const pair far = component_at(m, &other, (size_t)driver[i], neighbour(m, at, along[i], magnetic ? 1 : -1));
            const pair difference = far_first[i] ? minus(far, here) : minus(here, far);
            new[i] = plus(times(*member(&own, MAXWELL_FACTORS_T + i, cell), *member(&own, i, cell)),
                          times(*member(&own, MAXWELL_FACTORS_C + i, cell), difference));
            if (i % 3 == 0) {
                const pair source = *member(&own, MAXWELL_RECORD_SOURCE + i / 3, cell);
                new[i] = plus(new[i], (pair){ ramp * source.re, ramp * source.im });
            }
        }
        for (size_t i = 0; i < 6; i++)
            *member(&own, i, cell) = new[i];
        for (size_t c = 0; c < 3 && !magnetic; c++) {
            const pair now = component_at(m, &own, c, cell);
            take_largest(&s->change, (double)square(minus(now, old[c])));
            take_largest(&s->size, (double)square(now));
        }
    }
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    maxwell_layouts *s = state;
    (void)sim;
    s->change = s->size = 0;
    half_step(s, true);
    half_step(s, false);
    maxwell_layouts_report(s, maxwell_layouts_watches(s), out);
    return BN_OK;
}

static bn_status update_outputs(bn_sim *sim, void *state)
{
    const maxwell_layouts *s = state;
    const size_t cells = maxwell_cells(&s->model);
    (void)sim;
    for (int magnetic = 0; magnetic < 2; magnetic++) {
        const records r = records_of(s, magnetic ? s->record_H : s->record_E);
        pair *f = bn_field_host(magnetic ? s->H : s->E);
        for (size_t c = 0; c < 3; c++)
            for (size_t cell = 0; cell < cells; cell++)
                f[c * cells + cell] = component_at(&s->model, &r, c, cell);
    }
    return BN_OK;
}

const bn_engine BN_REFERENCE(maxwell_layouts) = { .name = "reference", .step = step, .update_outputs = update_outputs };
