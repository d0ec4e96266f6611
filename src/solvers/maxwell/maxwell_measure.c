/* maxwell_measure.c: results of the converged field: reflectance, transmittance, absorptance of every material, or
 * cross sections of scatterers. Powers are in the units of  1/2 Re E H* per face of a cell;  they balance exactly on
 * the grid: the flux through plane k is that of E there and of H half a cell above. */
#include "maxwell.h"

#include "api/parallel_rows.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* E and H of some planes of the grid, in double precision. */
typedef struct window {
    const maxwell *s;
    const maxwell_model *m; /* of s */
    cplx *E, *H;
    size_t nx, ny, nz;
    size_t cells;              /* of a component of the loaded planes */
    size_t first, count, most; /* the loaded planes; how many fit */
} window;

enum { WINDOW_CELLS = 1 << 20, WINDOW_PLANES = 1 << 12 };

/* Loads planes low ... high - 1, at most three, and those that follow as many as fit. */
static bn_status load_planes(window *v, size_t low, size_t high)
{
    const maxwell_model *m = v->m;
    if (low >= v->first && high <= v->first + v->count)
        return BN_OK;
    v->first = low;
    v->count = v->nz - low < v->most ? v->nz - low : v->most;
    v->cells = v->count * v->nx * v->ny;
    const bn_region r = { { 0, 0, (uint32_t)low }, { m->n[0], m->n[1], (uint32_t)v->count } };
    BN_TRY(bn_field_read_region(v->s->f.E, 0, 3, &r, BN_AS_DOUBLES, (double *)v->E));
    return bn_field_read_region(v->s->f.H, 0, 3, &r, BN_AS_DOUBLES, (double *)v->H);
}

static size_t at(const window *v, size_t i, size_t j, size_t k) { return ((k - v->first) * v->ny + j) * v->nx + i; }
static double dot(cplx a, cplx b) { return a.re * b.re + a.im * b.im; } /* Re a b* */

typedef struct powers {
    double incident, reflected, transmitted, scattered, extinct;
    double absorbed[MAXWELL_MATERIALS], poynting[MAXWELL_MATERIALS]; /* lost in each material: by eps'', by the flux */
} powers;

/* Flux downwards through plane k, which is loaded. */
static double flux_down(const window *v, size_t k)
{
    const cplx *ex = v->E, *ey = ex + v->cells, *hx = v->H, *hy = hx + v->cells;
    double sum = 0;
    for (size_t p = at(v, 0, 0, k); p < at(v, 0, 0, k + 1); p++)
        sum -= 0.5 * (dot(ex[p], hy[p]) - dot(ey[p], hx[p]));
    return sum;
}

/* The neighbour of a cell of E or H one step on or back: across a periodic side, times the phase of a Bloch wave; 0
 * beyond other sides. */
static cplx neighbour(const window *v, const cplx *f, const size_t place[3], int dim, int step)
{
    const maxwell_model *m = v->m;
    size_t p[3] = { place[0], place[1], place[2] };
    const bool across = p[dim] == (step < 0 ? 0 : m->n[dim] - 1);
    if (across && (dim == 2 || m->pml.sides))
        return (cplx){ 0, 0 };
    p[dim] = across ? (step < 0 ? m->n[dim] - 1 : 0) : p[dim] + (size_t)step;
    const cplx value = f[at(v, p[0], p[1], p[2])];
    if (!across || !m->light.bloch)
        return value;
    const double *phase = m->t.of[MAXWELL_LATERAL] + 2 * dim;
    return cplx_times(value, (cplx){ phase[0], step * phase[1] });
}

/* curl H at the place of component c of E (step = -1), or curl E at that of H (1). */
static cplx curl(const window *v, int c, const size_t p[3], int step)
{
    const int a = (c + 1) % 3, b = (c + 2) % 3; /* curl_c = d_a F_b - d_b F_a */
    const cplx *f = step < 0 ? v->H : v->E, *fa = f + (size_t)a * v->cells, *fb = f + (size_t)b * v->cells;
    const size_t here = at(v, p[0], p[1], p[2]);
    const cplx far_b = neighbour(v, fb, p, a, step), far_a = neighbour(v, fa, p, b, step);
    return cplx_scaled(-step, (cplx){ (fb[here].re - far_b.re) - (fa[here].re - far_a.re),
                                      (fb[here].im - far_b.im) - (fa[here].im - far_a.im) });
}

/* The incident field of a volume source at an edge, or half a cell above at a face. */
static cplx incident(const maxwell_model *m, bool of_H, int c, size_t k)
{
    const double *wave = m->t.of[MAXWELL_WAVE] + 2 * (of_H ? m->n[2] + k : k);
    const double x = m->light.amplitude * cos(m->light.polarisation),
                 y = m->light.amplitude * sin(m->light.polarisation);
    const double drive = !m->light.volume || c == 2 ? 0 : of_H ? (c ? -x : y) : c ? y : x;
    return (cplx){ drive * wave[0], drive * wave[1] };
}

/* Adds an edge (`of_H`: a face): its loss, to its materials in proportion; the same by Poynting's theorem; extinction
 * by the optical theorem. er: its permittivity or permeability; of, loss: of `count` materials. */
static void add_place(const window *v, bool of_H, int c, const size_t p[3], cplx er, cplx contrast, int count,
                      const uint8_t *of, const double *loss, powers *out)
{
    const maxwell_model *m = v->m;
    const maxwell_material *above = &m->structure.material[m->structure.above];
    if (er.im == 0 && contrast.re == 0 && contrast.im == 0)
        return;
    const cplx scattered = (of_H ? v->H : v->E)[(size_t)c * v->cells + at(v, p[0], p[1], p[2])];
    const cplx in = incident(m, of_H, c, p[2]), f = cplx_plus(scattered, in);
    if (m->light.volume) /* 1/2 Re J* . E_inc with J = -contrast E */
        out->extinct -= 0.5 * dot(cplx_times(contrast, f), in);
    if (er.im == 0)
        return;
    /* of the total field: the incident one has curl H = i w eps_above E, -curl E = i w mu_above H */
    const double of_above = m->t.w * (of_H ? above->mu.re : above->n * above->n);
    cplx turning = cplx_scaled(of_H ? -1 : 1, curl(v, c, p, of_H ? 1 : -1));
    turning = cplx_plus(turning, (cplx){ -of_above * in.im, of_above * in.re });
    const double square = dot(f, f), poynting = 0.5 * dot(f, turning);
    for (int i = 0; i < count; i++) {
        out->absorbed[of[i]] += 0.5 * m->t.w * loss[i] * square;
        out->poynting[of[i]] += poynting * loss[i] / -er.im;
    }
}

static void add_edge(const window *v, int c, const size_t p[3], powers *out)
{
    const maxwell_model *m = v->m;
    const size_t place = (((size_t)c * v->nz + p[2]) * v->ny + p[1]) * v->nx + p[0];
    const double *contrast = m->t.of[MAXWELL_CONTRAST] +
                             2 * (m->structure.row ? (size_t)m->structure.row[place] : m->structure.edge[place]);
    size_t around[4];
    maxwell_class own_class;
    const maxwell_class *class = m->structure.row && maxwell_mapped_edge(m, c, p, around, &own_class)
                                     ? &own_class
                                     : &m->structure.classes[m->structure.edge[place]];
    add_place(v, false, c, p, class->eps, (cplx){ contrast[0], contrast[1] }, 4, class->of, class->loss, out);
}

static void add_face(const window *v, int c, const size_t p[3], powers *out)
{
    const maxwell_structure *s = &v->m->structure;
    const size_t class = s->face[(((size_t)c * v->nz + p[2]) * v->ny + p[1]) * v->nx + p[0]];
    const double *contrast = v->m->t.of[MAXWELL_CONTRAST_H] + 2 * class * (s->row ? (size_t)v->m->pml.cells + 1 : 1);
    const maxwell_face *face = &s->faces[class];
    add_place(v, true, c, p, face->mu, (cplx){ contrast[0], contrast[1] }, 2, face->of, face->loss, out);
}

/* Across a periodic dimension a box extends over the whole grid, and has no faces. */
static bool is_periodic(const maxwell_model *m, int dim) { return dim < 2 && !m->pml.sides; }

/* Adds the power that leaves through the face at place `p` of dimension `dim`, from a box of places lo ... hi (E
 * inside: lo + 1 ... hi, H inside: lo ... hi - 1; along periodic dimensions all places). */
static bn_status add_flux_out(window *v, int dim, size_t p, const size_t lo[3], const size_t hi[3], double sign,
                              double *sum)
{
    const int a = (dim + 1) % 3, b = (dim + 2) % 3; /* S_dim = E_a H_b* - E_b H_a* */
    size_t low[3], high[3], q[3];
    double face = 0;
    for (int d = 0; d < 3; d++) {
        low[d] = d == dim ? p : lo[d];
        high[d] = d == dim ? p : hi[d] - is_periodic(v->m, d);
    }
    for (q[2] = low[2]; q[2] <= high[2]; q[2]++) {
        BN_TRY(load_planes(v, q[2], q[2] + 1));
        const cplx *ea = v->E + (size_t)a * v->cells, *eb = v->E + (size_t)b * v->cells;
        const cplx *ha = v->H + (size_t)a * v->cells, *hb = v->H + (size_t)b * v->cells;
        for (q[1] = low[1]; q[1] <= high[1]; q[1]++)
            for (q[0] = low[0]; q[0] <= high[0]; q[0]++) {
                const size_t here = at(v, q[0], q[1], q[2]);
                if (q[a] < hi[a] && (q[b] > lo[b] || is_periodic(v->m, b)))
                    face += 0.5 * dot(ea[here], hb[here]);
                if ((q[a] > lo[a] || is_periodic(v->m, a)) && q[b] < hi[b])
                    face -= 0.5 * dot(eb[here], ha[here]);
            }
    }
    *sum += sign * face;
    return BN_OK;
}

/* Where losses are added: places lo ... end - 1. */
typedef struct box {
    size_t lo[3], end[3];
    bool slab; /* of both end planes what lies between them: E_x of the upper, H_x half a cell above the lower one */
} box;

typedef struct plane_losses {
    const window *v;
    const box *box;
    size_t first;
    powers *sums; /* of plane `first` and those that follow */
} plane_losses;

static void add_planes(void *user, size_t begin, size_t end)
{
    const plane_losses *l = user;
    const box *b = l->box;
    for (size_t plane = begin; plane < end; plane++) {
        const size_t k = l->first + plane;
        const bool at_E = !b->slab || k > b->lo[2], at_H = !b->slab || k + 1 < b->end[2];
        l->sums[plane] = (powers){ 0 };
        for (int c = 0; c < 3; c++)
            for (size_t j = b->lo[1]; j < b->end[1]; j++)
                for (size_t i = b->lo[0]; i < b->end[0]; i++) {
                    const size_t p[3] = { i, j, k };
                    if (c < 2 ? at_E : at_H)
                        add_edge(l->v, c, p, &l->sums[plane]);
                    if (l->v->m->structure.magnetic && (c < 2 ? at_H : at_E))
                        add_face(l->v, c, p, &l->sums[plane]);
                }
    }
}

/* By planes on all processors; planes are added in their order, so that the sum does not depend on how many there are.
 */
static bn_status add_losses(bn_sim *sim, window *v, const box *b, powers *out)
{
    const size_t after = v->m->structure.magnetic ? 1 : 0; /* planes that a plane needs: a face has E above it */
    bn_status st = BN_OK;
    powers *sums = malloc(v->most * sizeof *sums);
    if (!sums)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to measure the field");
    for (size_t k = b->lo[2], planes; k < b->end[2]; k += planes) {
        BN_GO(load_planes(v, k > 0 ? k - 1 : 0, k + 1 + after < v->nz ? k + 1 + after : v->nz));
        const size_t loaded = v->first + v->count, end = loaded < v->nz ? loaded - after : loaded;
        planes = (end < b->end[2] ? end : b->end[2]) - k;
        bn_parallel_rows(planes, 3 * v->nx * v->ny, add_planes, &(plane_losses){ v, b, k, sums });
        for (size_t plane = 0; plane < planes; plane++) {
            out->extinct += sums[plane].extinct;
            for (int i = 0; i < v->m->structure.materials; i++) {
                out->absorbed[i] += sums[plane].absorbed[i];
                out->poynting[i] += sums[plane].poynting[i];
            }
        }
    }
out:
    free(sums);
    return st;
}

static bn_status add_volume(bn_sim *sim, window *v, powers *out)
{
    const maxwell_model *m = v->m;
    const size_t d = (size_t)m->pml.cells;
    size_t lo[3], hi[3];
    box edges = { .slab = false }; /* inside */
    for (int dim = 0; dim < 3; dim++) {
        lo[dim] = is_periodic(m, dim) ? 0 : d;
        hi[dim] = is_periodic(m, dim) ? m->n[dim] : m->n[dim] - d - 1;
        edges.lo[dim] = lo[dim];
        edges.end[dim] = is_periodic(m, dim) ? m->n[dim] : hi[dim] + 1;
    }
    for (int dim = is_periodic(m, 0) ? 2 : 0; dim < 3; dim++) {
        BN_TRY(add_flux_out(v, dim, hi[dim], lo, hi, 1, &out->scattered));
        BN_TRY(add_flux_out(v, dim, lo[dim], lo, hi, -1, &out->scattered));
    }
    return add_losses(sim, v, &edges, out);
}

/* The flux through this plane counts as transmitted. */
static size_t exit_plane(const maxwell_model *m) { return m->pml.bottom ? (size_t)m->pml.cells + 1 : 0; }

static bn_status add_slab(bn_sim *sim, window *v, powers *out)
{
    const maxwell_model *m = v->m;
    const size_t low = exit_plane(m);
    out->incident = m->t.flux * (double)(v->nx * v->ny);
    BN_TRY(load_planes(v, m->light.source + 1, m->light.source + 2));
    out->reflected = -flux_down(v, m->light.source + 1);
    BN_TRY(load_planes(v, low, low + 1));
    out->transmitted = m->pml.bottom ? flux_down(v, low) : 0;
    const box all = { { 0, 0, low }, { v->nx, v->ny, m->light.source + 1 }, .slab = true };
    return add_losses(sim, v, &all, out);
}

static bn_status measure_powers(bn_sim *sim, const maxwell *s, window *v, powers *out)
{
    const maxwell_model *m = &s->model;
    const size_t plane = (size_t)m->n[0] * m->n[1], fit = WINDOW_CELLS / plane;
    *v = (window){ .s = s, .m = m, .nx = m->n[0], .ny = m->n[1], .nz = m->n[2] };
    v->most = fit < 3 ? 3 : fit < WINDOW_PLANES ? fit : WINDOW_PLANES;
    v->most = v->most < v->nz ? v->most : v->nz;
    if (!(v->E = malloc(6 * v->most * plane * sizeof *v->E))) /* the caller frees it */
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to measure the field");
    v->H = v->E + 3 * v->most * plane;
    return m->light.volume ? add_volume(sim, v, out) : add_slab(sim, v, out);
}

/* A row of the spectrum: the wavelength, then R, T and the absorptances, or with a volume source cross sections [m2].
 */
static void fill_row(const maxwell_model *m, const powers *w, double *row)
{
    const maxwell_structure *structure = &m->structure;
    size_t n = 0;
    row[n++] = m->t.wavelength;
    if (m->light.volume) {
        const maxwell_material *above = &structure->material[structure->above];
        const double intensity = 0.5 * above->n / sqrt(above->mu.re) * m->light.amplitude * m->light.amplitude;
        const double unit = m->h * m->h / intensity;
        double absorbed = 0;
        for (int i = 0; i < structure->materials; i++)
            absorbed += w->absorbed[i];
        row[n++] = unit * w->scattered;
        row[n++] = unit * absorbed;
        row[n++] = unit * w->extinct;
        return;
    }
    row[n++] = w->reflected / w->incident;
    row[n++] = w->transmitted / w->incident;
    for (int i = 0; i < structure->materials; i++)
        if (structure->material[i].used)
            row[n++] = w->absorbed[i] / w->incident;
}

bn_status maxwell_measure_row(bn_sim *sim, const maxwell *s, double *row)
{
    window v = { .E = NULL };
    powers w = { 0 };
    const bn_status st = measure_powers(sim, s, &v, &w);
    if (st == BN_OK)
        fill_row(&s->model, &w, row);
    free(v.E);
    return st;
}

static bn_status add_slab_results(const maxwell *s, const powers *w, bn_results *results)
{
    double absorbed = 0, poynting = 0;
    for (int i = 0; i < s->model.structure.materials; i++)
        if (s->model.structure.material[i].used) {
            BN_TRY(bn_result(results, s->result_name[i][0], w->absorbed[i] / w->incident));
            BN_TRY(bn_result(results, s->result_name[i][1], w->poynting[i] / w->incident));
            absorbed += w->absorbed[i] / w->incident;
            poynting += w->poynting[i] / w->incident;
        }
    const double R = w->reflected / w->incident, T = w->transmitted / w->incident;
    BN_TRY(bn_result(results, "reflectance", R));
    BN_TRY(bn_result(results, "transmittance", T));
    BN_TRY(bn_result(results, "absorptance", absorbed));
    BN_TRY(bn_result(results, "absorptance_poynting", poynting));
    return bn_result(results, "energy_balance", R + T + absorbed - 1);
}

static bn_status add_cross_sections(const maxwell *s, const powers *w, bn_results *results)
{
    const double radius = s->model.structure.sphere_radius;
    double row[4];
    fill_row(&s->model, w, row);
    BN_TRY(bn_result(results, "sigma_sca", row[1]));
    BN_TRY(bn_result(results, "sigma_abs", row[2]));
    BN_TRY(bn_result(results, "sigma_ext", row[3]));
    BN_TRY(bn_result(results, "energy_balance", (row[1] + row[2] - row[3]) / row[3]));
    if (radius > 0) {
        const double area = 3.14159265358979323846 * radius * radius;
        BN_TRY(bn_result(results, "q_sca", row[1] / area));
        BN_TRY(bn_result(results, "q_abs", row[2] / area));
        BN_TRY(bn_result(results, "q_ext", row[3] / area));
    }
    return BN_OK;
}

/* What the incident H adds to the flux through the source plane: E there is the total field, H above it the scattered
 * one. */
static double flux_of_source(const window *v)
{
    const maxwell_tables *t = &v->m->t;
    const cplx *ex = v->E, *ey = ex + v->cells;
    double sum = 0;
    for (size_t j = 0; j < v->ny; j++)
        for (size_t i = 0; i < v->nx; i++) {
            const double *x = t->of[MAXWELL_LATERAL] + 4 + 2 * i, *y = t->of[MAXWELL_LATERAL] + 4 + 2 * (v->nx + j);
            const cplx phase = cplx_times((cplx){ x[0], x[1] }, (cplx){ y[0], y[1] });
            const size_t p = at(v, i, j, v->m->light.source);
            sum -= 0.5 * (dot(ex[p], cplx_times(t->h_inc[1], phase)) - dot(ey[p], cplx_times(t->h_inc[0], phase)));
        }
    return sum;
}

typedef struct profile {
    const window *v;
    const powers *w;
    size_t first; /* plane */
    double *z, *flux, *rms;
} profile;

static void profile_planes(void *user, size_t begin, size_t end)
{
    const profile *p = user;
    const window *v = p->v;
    const maxwell_model *m = v->m;
    const size_t cells = v->nx * v->ny;
    for (size_t k = p->first + begin; k < p->first + end; k++) {
        double sum = 0;
        for (size_t c = 0; c < 3; c++)
            for (size_t i = 0; i < cells; i++) {
                const cplx e = v->E[c * v->cells + at(v, 0, 0, k) + i];
                sum += dot(e, e);
            }
        p->z[k] = (double)k * m->h;
        p->flux[k] = (flux_down(v, k) + (k == m->light.source ? flux_of_source(v) : 0)) / p->w->incident;
        p->rms[k] = sqrt(sum / (double)cells) / m->light.amplitude;
    }
}

/* profile.csv: the flux downwards over the incident one and the root mean square of |E|, plane by plane. */
static bn_status add_profile(bn_sim *sim, window *v, const powers *w, bn_results *results)
{
    bn_status st = BN_OK;
    double *values = malloc(3 * v->nz * sizeof *values);
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the profile");
    profile p = { .v = v, .w = w, .z = values, .flux = values + v->nz, .rms = values + 2 * v->nz };
    for (; p.first < v->nz; p.first = v->first + v->count) {
        BN_GO(load_planes(v, p.first, p.first + 1));
        bn_parallel_rows(v->first + v->count - p.first, 6 * v->nx * v->ny, profile_planes, &p);
    }
    st = bn_result_table(results, "profile",
                         (const bn_column[]){ { "z", "m", p.z },
                                              { "flux_down_over_incident", "", p.flux },
                                              { "E_rms_over_incident", "", p.rms } },
                         3, v->nz);
out:
    free(values);
    return st;
}

/* The power that the currents give to the field, -1/2 Re of the integral of E . J*, or of H . M*. */
static bn_status add_radiated(bn_sim *sim, const maxwell *s, bn_results *results)
{
    const size_t plane = (size_t)s->model.n[0] * s->model.n[1];
    double sum = 0;
    cplx *E = calloc(6 * plane, sizeof *E), *J = E ? E + 3 * plane : NULL;
    bn_status st = E ? BN_OK : bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to measure the field");
    for (uint32_t k = 0; st == BN_OK && k < s->model.n[2]; k++) {
        const bn_region r = { { 0, 0, k }, { s->model.n[0], s->model.n[1], 1 } };
        BN_GO(bn_field_read_region(s->model.light.magnetic ? s->f.H : s->f.E, 0, 3, &r, BN_AS_DOUBLES, (double *)E));
        BN_GO(bn_field_read_region(s->f.current, 0, 3, &r, BN_AS_DOUBLES, (double *)J));
        for (size_t i = 0; i < 3 * plane; i++)
            sum -= 0.5 * dot(E[i], J[i]);
    }
    if (s->model.light.magnetic)
        sum /= MAXWELL_VACUUM_IMPEDANCE;
    BN_GO(bn_result(results, "radiated_power", sum * s->model.h * s->model.h * s->model.h));
out:
    free(E);
    return st;
}

bn_status maxwell_measure(bn_sim *sim, void *state, bn_results *results)
{
    const maxwell *s = state;
    window v = { .E = NULL };
    powers w = { 0 };
    bn_status st = BN_OK;
    BN_GO(bn_result(results, "wavelength", s->model.t.wavelength));
    BN_GO(bn_result(results, "update_norm", s->residual));
    if (s->model.light.current)
        return add_radiated(sim, s, results);
    BN_GO(measure_powers(sim, s, &v, &w));
    if (s->model.light.volume) {
        BN_GO(add_cross_sections(s, &w, results));
    } else {
        BN_GO(add_slab_results(s, &w, results));
        BN_GO(add_profile(sim, &v, &w, results));
    }
    BN_GO(maxwell_add_spectrum(sim, s, results));
out:
    free(v.E);
    return st;
}

/* "absorptance_aSi" and the same by Poynting's theorem; other characters than letters and digits become _. */
static void name_results(const maxwell *s)
{
    for (int i = 0; i < s->model.structure.materials; i++) {
        char name[MAXWELL_NAME];
        snprintf(name, sizeof name, "%s", s->model.structure.material[i].name);
        for (char *p = name; *p; p++)
            *p = isalnum((unsigned char)*p) ? *p : '_';
        snprintf(s->result_name[i][0], sizeof s->result_name[i][0], "absorptance_%s", name);
        snprintf(s->result_name[i][1], sizeof s->result_name[i][1], "absorptance_%s_poynting", name);
    }
}

bn_status maxwell_plan_results(bn_plan *p, maxwell *s)
{
    const maxwell_model *m = &s->model;
    maxwell_spectrum *w = &s->spectrum;
    int used = 0;
    BN_TRY(bn_plan_allocate(p, (size_t)m->structure.materials * sizeof *s->result_name, (void **)&s->result_name));
    name_results(s);
    for (int i = 0; i < m->structure.materials; i++)
        used += m->structure.material[i].used;
    w->columns = m->light.volume ? 4 : 3 + used;
    const size_t wavelengths = (size_t)m->light.wavelengths;
    BN_TRY(bn_plan_allocate(p, wavelengths * (size_t)w->columns * sizeof *w->values, (void **)&w->values));
    BN_TRY(bn_plan_allocate(p, wavelengths * sizeof *w->ends, (void **)&w->ends));
    BN_TRY(bn_plan_result(p, "wavelength", "m", "of the light, in vacuum; of a sweep the last one"));
    BN_TRY(bn_plan_result(p, "update_norm", "", "largest change of E in an iteration over the largest E"));
    if (m->light.current)
        return bn_plan_result(p, "radiated_power", "W", "that the currents J or M give to the field");
    if (m->light.volume) {
        BN_TRY(
            bn_plan_result(p, "sigma_sca", "m2", "scattered power over the incident intensity, by the flux outwards"));
        BN_TRY(bn_plan_result(p, "sigma_abs", "m2", "absorbed power over it, by the loss in the volume"));
        BN_TRY(bn_plan_result(p, "sigma_ext", "m2", "extinction, by the optical theorem in the volume"));
        BN_TRY(bn_plan_result(p, "energy_balance", "", "(sigma_sca + sigma_abs - sigma_ext) / sigma_ext"));
        static const char *const q[3] = { "q_sca", "q_abs", "q_ext" };
        for (int i = 0; i < 3 && m->structure.sphere_radius > 0; i++)
            BN_TRY(bn_plan_result(p, q[i], "", "that cross section over pi radius^2"));
        return BN_OK;
    }
    BN_TRY(bn_plan_result(p, "reflectance", "", "reflected power over incident power"));
    BN_TRY(
        bn_plan_result(p, "transmittance", "", "power into the absorbing layer at the bottom, over the incident one"));
    BN_TRY(bn_plan_result(p, "absorptance", "", "of all materials"));
    BN_TRY(bn_plan_result(p, "absorptance_poynting", "", "the same by Poynting's theorem"));
    BN_TRY(bn_plan_result(p, "energy_balance", "", "R + T + A - 1"));
    for (int i = 0; i < m->structure.materials; i++)
        if (m->structure.material[i].used) {
            BN_TRY(bn_plan_result(p, s->result_name[i][0], "", "power lost in that material over the incident power"));
            BN_TRY(bn_plan_result(p, s->result_name[i][1], "", "the same by Poynting's theorem"));
        }
    return BN_OK;
}
