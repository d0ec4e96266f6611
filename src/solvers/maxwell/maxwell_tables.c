/* maxwell_tables.c: what the cells are made of as numbers of the iteration: classes of edges, coefficients, the
 * incident wave of the grid. */
#include "maxwell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPEED_OF_LIGHT 299792458.0

int maxwell_depth_E(const maxwell *s, int dim, uint32_t at)
{
    const int n = (int)s->n[dim], d = s->pml, place = (int)at;
    const bool low = dim < 2 ? s->pml_sides : s->pml_bottom, high = dim < 2 ? s->pml_sides : true;
    return low && place < d ? d - place : high && place > n - d ? place - (n - d) : 0;
}

int maxwell_depth_H(const maxwell *s, int dim, uint32_t at)
{
    const int n = (int)s->n[dim], d = s->pml, place = (int)at;
    const bool low = dim < 2 ? s->pml_sides : s->pml_bottom, high = dim < 2 ? s->pml_sides : true;
    return low && place < d ? d - place : high && place >= n - d ? place - (n - d) + 1 : 0;
}

/* ------------------------------------------------------------------------------------------------------- classes */

/* Place on an axis of the cell before `at`: around a periodic side, at a wall the cell itself. */
static uint32_t before(const maxwell *s, int dim, uint32_t at)
{
    return at > 0 ? at - 1 : dim < 2 && !s->pml_sides ? s->n[dim] - 1 : 0;
}

static void sort4(uint8_t *v)
{
    for (int i = 1; i < 4; i++)
        for (int k = i; k > 0 && v[k] < v[k - 1]; k--) {
            const uint8_t t = v[k];
            v[k] = v[k - 1];
            v[k - 1] = t;
        }
}

/* Number of the class with these materials; entered when it is new; -1: there are too many. */
static int class_of(maxwell *s, const uint8_t of[4])
{
    for (int i = 0; i < s->class_count; i++)
        if (memcmp(s->classes[i].of, of, 4) == 0)
            return i;
    if (s->class_count == MAXWELL_CLASSES)
        return -1;
    memcpy(s->classes[s->class_count].of, of, 4);
    return s->class_count++;
}

bn_status maxwell_find_classes(const bn_case *c, bn_plan *p, maxwell *s)
{
    const size_t nx = s->n[0], ny = s->n[1], nz = s->n[2], cells = nx * ny * nz;
    if (s->average)
        BN_TRY(bn_plan_allocate(p, 3 * cells, (void **)&s->edge));
    uint8_t last[4] = { 0 };
    int number = -1;
    for (int axis = 0; axis < 3; axis++) {
        const int a = axis == 0, b = axis == 2 ? 1 : 2; /* the other two */
        for (uint32_t k = 0; k < nz; k++)
            for (uint32_t j = 0; j < ny; j++)
                for (uint32_t i = 0; i < nx; i++) {
                    const uint32_t here[3] = { i, j, k };
                    uint8_t of[4];
                    for (int quarter = 0; quarter < 4; quarter++) {
                        uint32_t at[3] = { i, j, k };
                        if (quarter & 1)
                            at[a] = before(s, a, here[a]);
                        if (quarter & 2)
                            at[b] = before(s, b, here[b]);
                        of[quarter] = s->cell[((size_t)at[2] * ny + at[1]) * nx + at[0]];
                    }
                    if (!s->average) /* what stands on the edge itself */
                        memset(of, s->edge[(size_t)axis * cells + ((size_t)k * ny + j) * nx + i], sizeof of);
                    sort4(of);
                    if (number < 0 || memcmp(of, last, 4) != 0) {
                        memcpy(last, of, 4);
                        if ((number = class_of(s, of)) < 0)
                            return bn_case_reject(c, "structure.above", "use fewer materials",
                                                  "more than %d different neighbourhoods of materials",
                                                  (int)MAXWELL_CLASSES);
                    }
                    s->edge[(size_t)axis * cells + ((size_t)k * ny + j) * nx + i] = (uint8_t)number;
                }
    }
    return BN_OK;
}

static cplx permittivity(const maxwell_material *m) { return (cplx){ m->n * m->n - m->k * m->k, -2 * m->n * m->k }; }

/* The mean of the four cells; where that would be next to nothing, which only a metal and a dielectric together give
 * and the iteration does not stand, the material that fills most of them (of two equal ones the first). */
static void mix(const maxwell *s, maxwell_class *class)
{
    cplx mean = { 0, 0 };
    int most = 0, count[4] = { 0 };
    for (int i = 0; i < 4; i++) {
        const cplx eps = permittivity(&s->material[class->of[i]]);
        mean.re += 0.25 * eps.re;
        mean.im += 0.25 * eps.im;
        for (int k = 0; k < 4; k++)
            count[i] += class->of[k] == class->of[i];
        if (count[i] > count[most])
            most = i;
    }
    const bool all = fabs(mean.re) >= 1;
    for (int i = 0; i < 4; i++)
        class->share[i] = all ? 0.25 : i == most;
    class->eps = all ? mean : permittivity(&s->material[class->of[most]]);
}

/* -------------------------------------------------------------------------------------------------- coefficients */

/* t and c of  new = t old + c curl  from the relative permittivity (or permeability) er and the loss s, for a step tau
 * of phase w tau = 2 half. Forward: (er z / tau + s) new = (er / (z tau)) old + curl, z = exp(i half). Backward, for er
 * < 0:
 * (|er| / (z tau) + s) new = (|er| z / tau) old + curl. Both have the fixed point (i w er + s) field = curl exactly,
 * since er is multiplied by half / sin(half). */
static void iteration(double er, cplx loss, double tau, double half, double out[4])
{
    const double scale = fabs(er) * half / sin(half) / tau, sign = er < 0 ? -1 : 1;
    const cplx z = { cos(half), sign * sin(half) }; /* the factor of the new value */
    const cplx below = { scale * z.re + loss.re, scale * z.im + loss.im }, above = { scale * z.re, -scale * z.im };
    const cplx t = cplx_over(above, below), c = cplx_over((cplx){ 1, 0 }, below);
    out[0] = t.re;
    out[1] = t.im;
    out[2] = c.re;
    out[3] = c.im;
}

/* Conductivity of the absorbing layer at a depth [cells] over the permittivity, times h / c: graded polynomially, with
 * the reflection that the continuous layer has at normal incidence (Berenger 1994). */
static double conductivity(const maxwell *s, double depth)
{
    const double most = -(s->pml_order + 1) * log(s->pml_reflection) / (2 * s->pml);
    return depth > 0 ? most * pow(depth / s->pml, s->pml_order) : 0;
}

static void set_coefficients(maxwell *s)
{
    maxwell_tables *t = &s->t;
    const double tau = s->courant / sqrt(3.0), half = 0.5 * t->w * tau;
    const int levels = s->pml + 1;
    for (int i = 0; i < s->class_count; i++) {
        mix(s, &s->classes[i]);
        const cplx eps = s->classes[i].eps, above = permittivity(&s->material[s->above]);
        for (int depth = 0; depth < levels; depth++) {
            const double sigma = conductivity(s, depth);
            const cplx loss = { -t->w * eps.im + sigma * eps.re, sigma * eps.im };
            iteration(eps.re, loss, tau, half, t->E + 4 * ((size_t)i * levels + (size_t)depth));
        }
        /* -i w (eps - eps_above) */
        t->contrast[2 * i] = t->w * (eps.im - above.im);
        t->contrast[2 * i + 1] = -t->w * (eps.re - above.re);
    }
    for (int depth = 0; depth < levels; depth++)
        iteration(1, (cplx){ conductivity(s, depth > 0 ? depth - 0.5 : 0), 0 }, tau, half, t->H + 4 * (size_t)depth);
}

/* The incident plane wave, exact on the grid: wave numbers obey sum sin^2(k_i / 2) = (n w / 2)^2, the amplitudes stand
 * across K = 2 sin(k / 2), and H = K x E / w. It travels downwards. */
static void set_wave(maxwell *s)
{
    maxwell_tables *t = &s->t;
    const double n = s->material[s->above].n, kx = n * t->w * sin(s->incidence) * cos(s->azimuth),
                 ky = n * t->w * sin(s->incidence) * sin(s->azimuth);
    const double Kx = 2 * sin(0.5 * kx), Ky = 2 * sin(0.5 * ky), Kz = -sqrt(n * t->w * n * t->w - Kx * Kx - Ky * Ky);
    const double kz = 2 * asin(-0.5 * Kz), across = hypot(Kx, Ky), K = n * t->w;
    double e[3] = { cos(s->polarisation), sin(s->polarisation), 0 };
    if (across > 0) { /* p and s */
        const double p = cos(s->polarisation), q = sin(s->polarisation);
        e[0] = p * Kx * Kz / (K * across) - q * Ky / across;
        e[1] = p * Ky * Kz / (K * across) + q * Kx / across;
        e[2] = -p * across / K;
    }
    for (int i = 0; i < 3; i++)
        e[i] *= s->amplitude;
    const double hx = (Ky * e[2] - Kz * e[1]) / t->w, hy = (Kz * e[0] - Kx * e[2]) / t->w;
    /* Half a cell along x for E_x and H_y, along y for E_y and H_x, and for H half a cell up. */
    const cplx half_x = { cos(0.5 * kx), -sin(0.5 * kx) }, half_y = { cos(0.5 * ky), -sin(0.5 * ky) };
    const cplx half_z = { cos(0.5 * kz), sin(0.5 * kz) };
    t->e_inc[0] = (cplx){ e[0] * half_x.re, e[0] * half_x.im };
    t->e_inc[1] = (cplx){ e[1] * half_y.re, e[1] * half_y.im };
    t->h_inc[0] = cplx_times((cplx){ hx * half_y.re, hx * half_y.im }, half_z);
    t->h_inc[1] = cplx_times((cplx){ hy * half_x.re, hy * half_x.im }, half_z);
    t->step_z = (cplx){ cos(kz), sin(kz) };
    t->flux = -0.5 * (t->e_inc[0].re * t->h_inc[1].re + t->e_inc[0].im * t->h_inc[1].im -
                      (t->e_inc[1].re * t->h_inc[0].re + t->e_inc[1].im * t->h_inc[0].im));
    for (uint32_t k = 0; k < s->n[2]; k++) {
        const double phase = kz * ((double)k - s->source);
        t->wave[2 * k] = cos(phase);
        t->wave[2 * k + 1] = sin(phase);
    }
    double *lateral = t->lateral;
    for (int dim = 0; dim < 2; dim++) {
        const double k = dim ? ky : kx;
        lateral[2 * dim] = cos(k * s->n[dim]);
        lateral[2 * dim + 1] = -sin(k * s->n[dim]);
    }
    lateral += 4;
    for (int dim = 0; dim < 2; lateral += 2 * s->n[dim], dim++)
        for (uint32_t i = 0; i < s->n[dim]; i++) {
            lateral[2 * i] = cos((dim ? ky : kx) * i);
            lateral[2 * i + 1] = -sin((dim ? ky : kx) * i);
        }
}

bn_status maxwell_room_for_tables(bn_plan *p, maxwell *s)
{
    const size_t levels = (size_t)s->pml + 1;
    BN_TRY(bn_plan_allocate(p, 4 * levels * (size_t)s->class_count * sizeof(double), (void **)&s->t.E));
    BN_TRY(bn_plan_allocate(p, 4 * levels * sizeof(double), (void **)&s->t.H));
    BN_TRY(bn_plan_allocate(p, 2 * (size_t)s->class_count * sizeof(double), (void **)&s->t.contrast));
    BN_TRY(bn_plan_allocate(p, 2 * (size_t)s->n[2] * sizeof(double), (void **)&s->t.wave));
    return bn_plan_allocate(p, 2 * (2 + (size_t)s->n[0] + s->n[1]) * sizeof(double), (void **)&s->t.lateral);
}

void maxwell_set_tables(maxwell *s)
{
    const double two_pi = 6.283185307179586;
    s->t.w = two_pi * s->h / s->t.wavelength;
    s->t.ramp = s->ramp_periods > 0 ? s->t.w * s->courant / sqrt(3.0) / (two_pi * s->ramp_periods) : 2;
    set_coefficients(s);
    set_wave(s);
    snprintf(s->caption, sizeof s->caption, "slice at %c = %.4g nm, wavelength in vacuum %.6g nm", "xyz"[s->across],
             1e9 * (s->slice + 0.5) * s -> h, 1e9 * s -> t.wavelength);
}

double maxwell_ramp(const maxwell *s)
{
    const double x = s->t.ramp * (double)(s->since + 1);
    /* A field that is there already stays lit. */
    return x >= 1 || s->start == MAXWELL_LAYERS ? 1 : x * x * x * (10 + x * (6 * x - 15));
}

/* ------------------------------------------------------------------------------------------------------- records */

/* Depths of a cell's components in the order of the parts: xy, xz, yz, yx, zx, zy are driven by derivatives along z, y,
 * x, z, y, x. */
static const int driven_along[6] = { 2, 1, 0, 2, 1, 0 };

void maxwell_fill_record(const maxwell *s, bool magnetic, const uint32_t at[3], double *record)
{
    const size_t cells = (size_t)s->n[0] * s->n[1] * s->n[2], levels = (size_t)s->pml + 1;
    const size_t here = ((size_t)at[2] * s->n[1] + at[1]) * s->n[0] + at[0];
    memset(record, 0, 2 * MAXWELL_RECORD * sizeof *record);
    for (int part = 0; part < 6; part++) {
        const int component = part / 2, along = driven_along[part];
        const double *t;
        if (magnetic) {
            t = s->t.H + 4 * (size_t)maxwell_depth_H(s, along, at[along]);
        } else {
            if (component < 2 && at[2] == 0) /* tangential, on the metal wall behind the bottom */
                continue;
            t = s->t.E +
                4 * (s->edge[(size_t)component * cells + here] * levels + (size_t)maxwell_depth_E(s, along, at[along]));
        }
        memcpy(record + 2 * (6 + part), t, 2 * sizeof *t);
        memcpy(record + 2 * (12 + part), t + 2, 2 * sizeof *t);
        if (part % 3 == 0 && at[2] == s->source) { /* xy and yx */
            const cplx c = { t[2], t[3] };
            const cplx in = magnetic ? s->t.e_inc[component == 0] : s->t.h_inc[component == 0];
            const cplx add = cplx_times(c, in);
            /* E: xy -h_y, yx +h_x; H: xy +e_y, yx -e_x */
            const double sign = (component == 0) == magnetic ? 1 : -1;
            record[2 * (18 + component)] = sign * add.re;
            record[2 * (18 + component) + 1] = sign * add.im;
        }
    }
}

bn_status maxwell_write_records(bn_sim *sim, maxwell *s)
{
    const size_t cells = (size_t)s->n[0] * s->n[1] * s->n[2], count = cells * 2 * MAXWELL_RECORD;
    bn_status st = BN_OK;
    double *values = malloc(count * sizeof *values), record[2 * MAXWELL_RECORD];
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the coefficients of every cell");
    for (int magnetic = 0; magnetic < 2; magnetic++) {
        for (uint32_t k = 0; k < s->n[2]; k++)
            for (uint32_t j = 0; j < s->n[1]; j++)
                for (uint32_t i = 0; i < s->n[0]; i++) {
                    const uint32_t at[3] = { i, j, k };
                    const size_t here = ((size_t)k * s->n[1] + j) * s->n[0] + i;
                    if (s->imported)
                        maxwell_take_record(s, magnetic, at, record);
                    else
                        maxwell_fill_record(s, magnetic, at, record);
                    for (size_t m = 0; m < MAXWELL_RECORD; m++)
                        memcpy(values + 2 * (s->form == MAXWELL_AOS ? here * MAXWELL_RECORD + m : m * cells + here),
                               record + 2 * m, 2 * sizeof *values);
                }
        BN_GO(bn_field_set(magnetic ? s->record_H : s->record_E, values, count));
    }
out:
    free(values);
    return st;
}
