/* maxwell_tables.c: tables of the update of a cell: classes of edges, coefficients, the incident wave. */
#include "maxwell.h"

#include <math.h>
#include <string.h>

#define SPEED_OF_LIGHT 299792458.0

int maxwell_depth_E(const maxwell_model *m, int dim, uint32_t at)
{
    const int n = (int)m->n[dim], d = m->pml.cells, place = (int)at;
    const bool low = dim < 2 ? m->pml.sides : m->pml.bottom, high = dim < 2 ? m->pml.sides : true;
    return low && place < d ? d - place : high && place > n - d ? place - (n - d) : 0;
}

int maxwell_depth_H(const maxwell_model *m, int dim, uint32_t at)
{
    const int n = (int)m->n[dim], d = m->pml.cells, place = (int)at;
    const bool low = dim < 2 ? m->pml.sides : m->pml.bottom, high = dim < 2 ? m->pml.sides : true;
    return low && place < d ? d - place : high && place >= n - d ? place - (n - d) + 1 : 0;
}

/* ------------------------------------------------------------------------------------------------------- classes */

uint32_t maxwell_cell_before(const maxwell_model *m, int dim, uint32_t at)
{
    return at > 0 ? at - 1 : dim < 2 && !m->pml.sides ? m->n[dim] - 1 : 0;
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

/* Number of the class with these materials, a new one where there is none yet; -1: there are too many. */
static int class_of(maxwell_model *m, const uint8_t of[4])
{
    for (int i = 0; i < m->structure.class_count; i++)
        if (memcmp(m->structure.classes[i].of, of, 4) == 0)
            return i;
    if (m->structure.class_count == MAXWELL_CLASSES)
        return -1;
    memcpy(m->structure.classes[m->structure.class_count].of, of, 4);
    return m->structure.class_count++;
}

/* Number of the class of a face between these materials, the lower number first; -1: there are too many. */
static int face_class(maxwell_structure *s, uint8_t one, uint8_t other)
{
    const uint8_t of[2] = { one < other ? one : other, one < other ? other : one };
    int i = 0;
    while (i < s->face_count && memcmp(s->faces[i].of, of, 2) != 0)
        i++;
    if (i == s->face_count && i < MAXWELL_CLASSES)
        memcpy(s->faces[s->face_count++].of, of, 2);
    return i < MAXWELL_CLASSES ? i : -1;
}

static bn_status find_faces(const bn_case *c, bn_plan *p, maxwell_model *m)
{
    const size_t cells = maxwell_cells(m);
    m->structure.face_count = !m->structure.magnetic; /* vacuum, the first material, on both sides */
    if (!m->structure.magnetic)
        return BN_OK;
    if (m->structure.average)
        BN_TRY(bn_plan_allocate(p, 3 * cells, (void **)&m->structure.face));
    for (size_t face = 0; face < 3 * cells; face++) {
        const size_t at = face % cells, step[3] = { 1, m->n[0], (size_t)m->n[0] * m->n[1] };
        const int axis = (int)(face / cells);
        const uint32_t place = (uint32_t)(at / step[axis] % m->n[axis]), before = maxwell_cell_before(m, axis, place);
        uint8_t one = m->structure.face[face], other = one; /* the material at the face itself */
        if (m->structure.average) {
            one = m->structure.cell[at];
            other = m->structure.cell[at + before * step[axis] - place * step[axis]];
        }
        const int number = face_class(&m->structure, one, other);
        if (number < 0)
            return bn_case_reject(c, "structure.above", "use fewer materials", "more than %d pairs of materials",
                                  (int)MAXWELL_CLASSES);
        m->structure.face[face] = (uint8_t)number;
    }
    return BN_OK;
}

bn_status maxwell_find_classes(const bn_case *c, bn_plan *p, maxwell_model *m)
{
    const size_t nx = m->n[0], ny = m->n[1], nz = m->n[2], cells = nx * ny * nz;
    if (m->structure.average)
        BN_TRY(bn_plan_allocate(p, 3 * cells, (void **)&m->structure.edge));
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
                            at[a] = maxwell_cell_before(m, a, here[a]);
                        if (quarter & 2)
                            at[b] = maxwell_cell_before(m, b, here[b]);
                        of[quarter] = m->structure.cell[((size_t)at[2] * ny + at[1]) * nx + at[0]];
                    }
                    if (!m->structure.average) /* the material at the edge itself */
                        memset(of, m->structure.edge[(size_t)axis * cells + ((size_t)k * ny + j) * nx + i], sizeof of);
                    sort4(of);
                    if (number < 0 || memcmp(of, last, 4) != 0) {
                        memcpy(last, of, 4);
                        if ((number = class_of(m, of)) < 0)
                            return bn_case_reject(c, "structure.above", "use fewer materials",
                                                  "more than %d different neighbourhoods of materials",
                                                  (int)MAXWELL_CLASSES);
                    }
                    m->structure.edge[(size_t)axis * cells + ((size_t)k * ny + j) * nx + i] = (uint8_t)number;
                }
    }
    return find_faces(c, p, m);
}

static double norm2(cplx a) { return a.re * a.re + a.im * a.im; }
static cplx permittivity(const maxwell_material *m) { return maxwell_permittivity(m->n, m->k); }

/* The mean of the four cells. Where a metal and a dielectric nearly cancel, the iteration would not be stable: then the
 * permittivity of the material that most of the cells have (of two equally frequent ones the first). */
static void mean_permittivity(const maxwell_model *m, maxwell_class *class)
{
    cplx mean = { 0, 0 };
    int most = 0, count[4] = { 0 };
    for (int i = 0; i < 4; i++) {
        const cplx eps = permittivity(&m->structure.material[class->of[i]]);
        mean.re += 0.25 * eps.re;
        mean.im += 0.25 * eps.im;
        for (int k = 0; k < 4; k++)
            count[i] += class->of[k] == class->of[i];
        if (count[i] > count[most])
            most = i;
    }
    const bool all = fabs(mean.re) >= 1;
    for (int i = 0; i < 4; i++) {
        const maxwell_material *of = &m->structure.material[class->of[i]];
        class->share[i] = all ? 0.25 : i == most;
        class->loss[i] = class->share[i] * 2 * of->n * of->k;
    }
    class->eps = all ? mean : permittivity(&m->structure.material[class->of[most]]);
}

/* H is normal to the face that it stands on, and mu H is the same on both sides: the mean of 1 / mu, where E, along all
 * faces that meet in its edge, wants that of eps. Beside a magnetic metal (mu' < 0) the mean may have any size: then
 * the permeability of the first material. */
static void mean_permeability(const maxwell_model *m, maxwell_face *face)
{
    const cplx one = { 1, 0 }, mu[2] = { m->structure.material[face->of[0]].mu, m->structure.material[face->of[1]].mu };
    const bool same = face->of[0] == face->of[1], both = !same && mu[0].re * mu[1].re > 0;
    face->mu = both ? cplx_over(one, cplx_scaled(0.5, cplx_plus(cplx_over(one, mu[0]), cplx_over(one, mu[1])))) : mu[0];
    for (int i = 0; i < 2; i++) /* mu'' |B / mu|^2 of each half */
        face->loss[i] = (both ? 0.5 * norm2(face->mu) / norm2(mu[i]) : i == 0) * -mu[i].im;
}

/* -------------------------------------------------------------------------------------------------- coefficients */

/* t and c of the update  new = t old + c curl  from the relative permittivity (or permeability) er and the loss s, for
 * a step tau of phase w tau = 2 half, with z = exp(i half).
 *     er >= 0:  (er z / tau + s) new = (er / (z tau)) old + curl
 *     er < 0:   (|er| / (z tau) + s) new = (|er| z / tau) old + curl      (Pflaum and Rahimi 2011)
 * Both have the fixed point (i w er + s) field = curl exactly, since er is multiplied by half / sin(half). */
static void set_update(double er, cplx loss, double tau, double half, double out[4])
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
static double conductivity(const maxwell_model *m, double depth)
{
    const double most = -(m->pml.order + 1) * log(m->pml.reflection) / (2 * m->pml.cells);
    return depth > 0 ? most * pow(depth / m->pml.cells, m->pml.order) : 0;
}

/* A row of a table for the permittivity or permeability er; the layer is matched: its conductivity goes with er. */
static void set_row(maxwell_model *m, maxwell_table table, cplx er, double depth, double tau, double half, size_t row)
{
    const double sigma = conductivity(m, depth), w = m->t.w;
    const cplx loss = { -w * er.im + sigma * er.re, sigma * er.im };
    set_update(er.re, loss, tau, half, m->t.of[table] + 4 * row);
}

/* -i w (eps - eps_above), or of mu */
static void set_contrast(maxwell_model *m, maxwell_table table, cplx er, cplx above, size_t at)
{
    m->t.of[table][2 * at] = m->t.w * (er.im - above.im);
    m->t.of[table][2 * at + 1] = -m->t.w * (er.re - above.re);
}

static void set_coefficients(maxwell_model *m)
{
    maxwell_tables *t = &m->t;
    const double tau = m->courant / sqrt(3.0), half = 0.5 * t->w * tau;
    const int levels = m->pml.cells + 1;
    const maxwell_material *half_space = &m->structure.material[m->structure.above];
    const cplx above = permittivity(half_space);
    size_t row = 0;
    for (int i = 0; i < m->structure.class_count; i++) {
        mean_permittivity(m, &m->structure.classes[i]);
        for (int depth = 0; depth < levels; depth++)
            set_row(m, MAXWELL_UPDATE_E, m->structure.classes[i].eps, depth, tau, half, row++);
        set_contrast(m, MAXWELL_CONTRAST, m->structure.classes[i].eps, above,
                     m->structure.mapped ? row - (size_t)levels : (size_t)i);
    }
    const size_t first = row, cells = maxwell_cells(m);
    for (size_t edge = 0; m->structure.row && edge < 3 * cells; edge++) {
        const size_t at = edge % cells, place[3] = { at % m->n[0], at / m->n[0] % m->n[1], at / m->n[0] / m->n[1] };
        size_t cell[4];
        maxwell_class class;
        row = (size_t)m->structure.row[edge];
        if (row < first || !maxwell_mapped_edge(m, (int)(edge / cells), place, cell, &class))
            continue;
        set_row(m, MAXWELL_UPDATE_E, class.eps, 0, tau, half, row);
        set_contrast(m, MAXWELL_CONTRAST, class.eps, above, row);
    }
    row = 0;
    for (int i = 0; i < m->structure.face_count; i++) {
        mean_permeability(m, &m->structure.faces[i]);
        const cplx mu = m->structure.faces[i].mu;
        for (int depth = 0; depth < levels; depth++)
            set_row(m, MAXWELL_UPDATE_H, mu, depth > 0 ? depth - 0.5 : 0, tau, half, row++);
        set_contrast(m, MAXWELL_CONTRAST_H, mu, half_space->mu, m->structure.mapped ? row - (size_t)levels : (size_t)i);
    }
}

/* The incident plane wave, exact on the grid: wave numbers obey sum sin^2(k_i / 2) = (n w / 2)^2, the amplitudes are
 * perpendicular to K = 2 sin(k / 2), and H = K x E / (w mu). It travels downwards. */
static void set_wave(maxwell_model *m)
{
    maxwell_tables *t = &m->t;
    const maxwell_material *above = &m->structure.material[m->structure.above];
    const double n = maxwell_index(above).re, mu = above->mu.re,
                 kx = n * t->w * sin(m->light.incidence) * cos(m->light.azimuth),
                 ky = n * t->w * sin(m->light.incidence) * sin(m->light.azimuth);
    const double Kx = 2 * sin(0.5 * kx), Ky = 2 * sin(0.5 * ky), Kz = -sqrt(n * t->w * n * t->w - Kx * Kx - Ky * Ky);
    const double kz = 2 * asin(-0.5 * Kz), across = hypot(Kx, Ky), K = n * t->w;
    double e[3] = { cos(m->light.polarisation), sin(m->light.polarisation), 0 };
    if (across > 0) { /* p and s */
        const double p = cos(m->light.polarisation), q = sin(m->light.polarisation);
        e[0] = p * Kx * Kz / (K * across) - q * Ky / across;
        e[1] = p * Ky * Kz / (K * across) + q * Kx / across;
        e[2] = -p * across / K;
    }
    for (int i = 0; i < 3; i++)
        e[i] *= m->light.amplitude;
    const double hx = (Ky * e[2] - Kz * e[1]) / (t->w * mu), hy = (Kz * e[0] - Kx * e[2]) / (t->w * mu);
    /* E_x and H_y stand half a cell further along x, E_y and H_x along y, H half a cell higher. */
    const cplx half_x = { cos(0.5 * kx), -sin(0.5 * kx) }, half_y = { cos(0.5 * ky), -sin(0.5 * ky) };
    const cplx half_z = { cos(0.5 * kz), sin(0.5 * kz) };
    t->e_inc[0] = (cplx){ e[0] * half_x.re, e[0] * half_x.im };
    t->e_inc[1] = (cplx){ e[1] * half_y.re, e[1] * half_y.im };
    t->h_inc[0] = cplx_times((cplx){ hx * half_y.re, hx * half_y.im }, half_z);
    t->h_inc[1] = cplx_times((cplx){ hy * half_x.re, hy * half_x.im }, half_z);
    t->flux = -0.5 * (t->e_inc[0].re * t->h_inc[1].re + t->e_inc[0].im * t->h_inc[1].im -
                      (t->e_inc[1].re * t->h_inc[0].re + t->e_inc[1].im * t->h_inc[0].im));
    for (uint32_t k = 0; k < m->n[2]; k++) {
        const double phase = kz * ((double)k - m->light.source);
        double *E = t->of[MAXWELL_WAVE] + 2 * k, *H = E + 2 * m->n[2];
        E[0] = cos(phase);
        E[1] = sin(phase);
        H[0] = -Kz / (t->w * mu) * cos(phase + 0.5 * kz);
        H[1] = -Kz / (t->w * mu) * sin(phase + 0.5 * kz);
    }
    double *lateral = t->of[MAXWELL_LATERAL];
    for (int dim = 0; dim < 2; dim++) {
        const double k = dim ? ky : kx;
        lateral[2 * dim] = cos(k * m->n[dim]);
        lateral[2 * dim + 1] = -sin(k * m->n[dim]);
    }
    lateral += 4;
    for (int dim = 0; dim < 2; lateral += 2 * m->n[dim], dim++)
        for (uint32_t i = 0; i < m->n[dim]; i++) {
            lateral[2 * i] = cos((dim ? ky : kx) * i);
            lateral[2 * i + 1] = -sin((dim ? ky : kx) * i);
        }
}

size_t maxwell_table_size(const maxwell_model *m, maxwell_table table)
{
    const size_t levels = (size_t)m->pml.cells + 1, classes = (size_t)m->structure.class_count,
                 faces = (size_t)m->structure.face_count;
    switch (table) {
    case MAXWELL_UPDATE_E: return 4 * (m->structure.row ? m->structure.rows : levels * classes);
    case MAXWELL_UPDATE_H: return 4 * levels * faces;
    case MAXWELL_CONTRAST: return 2 * (m->structure.row ? m->structure.rows : classes);
    case MAXWELL_CONTRAST_H: return 2 * (m->structure.row ? levels * faces : faces);
    case MAXWELL_WAVE: return 4 * (size_t)m->n[2];
    case MAXWELL_LATERAL: return 2 * (2 + (size_t)m->n[0] + m->n[1]);
    default: return 0;
    }
}

bn_status maxwell_allocate_tables(bn_plan *p, maxwell_model *m)
{
    for (int i = 0; i < MAXWELL_TABLES; i++)
        BN_TRY(bn_plan_allocate(p, maxwell_table_size(m, (maxwell_table)i) * sizeof(double), (void **)&m->t.of[i]));
    return BN_OK;
}

void maxwell_set_tables(maxwell_model *m)
{
    const double two_pi = 6.283185307179586;
    m->t.w = two_pi * m->h / m->t.wavelength;
    m->t.ramp = m->light.ramp_periods > 0 ? m->t.w * m->courant / sqrt(3.0) / (two_pi * m->light.ramp_periods) : 2;
    set_coefficients(m);
    set_wave(m);
}

unsigned long long maxwell_steps_of_ramp(const maxwell_model *m)
{
    return m->t.ramp >= 1 ? 1 : (unsigned long long)(1 / m->t.ramp) + 1;
}

double maxwell_ramp(const maxwell_model *m, unsigned long long steps)
{
    const double x = m->t.ramp * (double)(steps + 1);
    return x >= 1 ? 1 : x * x * x * (10 + x * (6 * x - 15));
}
