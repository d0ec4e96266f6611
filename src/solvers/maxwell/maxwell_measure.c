/* maxwell_measure.c: what the converged field says: reflectance, transmittance, absorptance of every material, or cross
 * sections of what scatters. Powers are in the units of  1/2 Re E H* per face of a cell;  they balance exactly on the
 * grid: the flux through plane k is that of E there and of H half a cell above. */
#include "maxwell.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* E and H of some planes of the grid, as doubles. */
typedef struct view {
    const maxwell *s;
    cplx *E, *H;
    size_t nx, ny, nz;
    size_t cells;              /* of a component: room for so many planes */
    size_t first, count, room; /* planes that are there, and fit */
} view;

enum { WINDOW_CELLS = 1 << 20 };

/* Brings planes low ... high - 1, at most two, and what follows them as far as there is room. */
static bn_status need(view *v, size_t low, size_t high)
{
    const maxwell *s = v->s;
    if (low >= v->first && high <= v->first + v->count)
        return BN_OK;
    v->first = low;
    v->count = v->nz - low < v->room ? v->nz - low : v->room;
    v->cells = v->count * v->nx * v->ny;
    const bn_region r = { { 0, 0, (uint32_t)low }, { s->n[0], s->n[1], (uint32_t)v->count } };
    BN_TRY(bn_field_read_region(s->E, 0, 3, &r, BN_AS_DOUBLES, (double *)v->E));
    return bn_field_read_region(s->H, 0, 3, &r, BN_AS_DOUBLES, (double *)v->H);
}

static size_t at(const view *v, size_t i, size_t j, size_t k) { return ((k - v->first) * v->ny + j) * v->nx + i; }
static double dot(cplx a, cplx b) { return a.re * b.re + a.im * b.im; } /* Re a b* */

/* Powers of a run; share: by material. */
typedef struct powers {
    double incident, reflected, transmitted, scattered, extinct;
    double absorbed[MAXWELL_MATERIALS], drawn[MAXWELL_MATERIALS]; /* by loss in the volume; by Poynting's theorem */
} powers;

/* Flux downwards through plane k, which is there. */
static double flux_down(const view *v, size_t k)
{
    const cplx *ex = v->E, *ey = ex + v->cells, *hx = v->H, *hy = hx + v->cells;
    double sum = 0;
    for (size_t p = at(v, 0, 0, k); p < at(v, 0, 0, k + 1); p++)
        sum -= 0.5 * (dot(ex[p], hy[p]) - dot(ey[p], hx[p]));
    return sum;
}

/* H at a neighbour, around the side or times the phase of a Bloch wave; none below the bottom. */
static cplx back(const view *v, const cplx *h, const size_t place[3], int dim)
{
    const maxwell *s = v->s;
    size_t p[3] = { place[0], place[1], place[2] };
    const bool across = p[dim] == 0;
    if (across && (dim == 2 || s->pml_sides))
        return (cplx){ 0, 0 };
    p[dim] = across ? s->n[dim] - 1 : p[dim] - 1;
    const cplx value = h[at(v, p[0], p[1], p[2])];
    if (!across || !s->bloch)
        return value;
    return cplx_times(value, (cplx){ s->t.lateral[2 * dim], -s->t.lateral[2 * dim + 1] });
}

/* curl H at the place of component c of E, with the source. */
static cplx curl_H(const view *v, int c, const size_t p[3])
{
    const int a = (c + 1) % 3, b = (c + 2) % 3; /* curl_c = d_a H_b - d_b H_a */
    const cplx *ha = v->H + (size_t)a * v->cells, *hb = v->H + (size_t)b * v->cells;
    const size_t here = at(v, p[0], p[1], p[2]);
    const cplx far_b = back(v, hb, p, a), far_a = back(v, ha, p, b);
    return (cplx){ (hb[here].re - far_b.re) - (ha[here].re - far_a.re),
                   (hb[here].im - far_b.im) - (ha[here].im - far_a.im) };
}

/* Total E at an edge. */
static cplx total_E(const view *v, int c, size_t own, size_t k)
{
    const maxwell *s = v->s;
    cplx e = v->E[own];
    if (s->volume && c < 2) {
        const double drive = s->amplitude * (c ? sin(s->polarisation) : cos(s->polarisation));
        e.re += drive * s->t.wave[2 * k];
        e.im += drive * s->t.wave[2 * k + 1];
    }
    return e;
}

/* Loss at an edge, shared among its materials; what Poynting's theorem says of it; extinction by the optical theorem.
 */
static void take_edge(const view *v, int c, const size_t p[3], powers *out)
{
    const maxwell *s = v->s;
    const size_t own = (size_t)c * v->cells + at(v, p[0], p[1], p[2]);
    const size_t edge = s->edge[(((size_t)c * v->nz + p[2]) * v->ny + p[1]) * v->nx + p[0]];
    const maxwell_class *class = &s->classes[edge];
    const cplx contrast = { s->t.contrast[2 * edge], s->t.contrast[2 * edge + 1] };
    if (class->eps.im == 0 && contrast.re == 0 && contrast.im == 0)
        return;
    const cplx e = total_E(v, c, own, p[2]);
    const double square = dot(e, e);
    if (s->volume && c < 2) { /* 1/2 Re J* . E_inc with J = -contrast E */
        const cplx j = cplx_times(contrast, e), scattered = v->E[own];
        out->extinct -= 0.5 * dot(j, (cplx){ e.re - scattered.re, e.im - scattered.im });
    }
    if (class->eps.im == 0)
        return;
    cplx curl = curl_H(v, c, p);
    if (s->volume) { /* of the total field: the incident one has curl H = i w eps_above E */
        const cplx in = { e.re - v->E[own].re, e.im - v->E[own].im };
        const double n = s->material[s->above].n;
        curl.re -= s->t.w * n * n * in.im;
        curl.im += s->t.w * n * n * in.re;
    }
    const double drawn = 0.5 * dot(e, curl);
    for (int i = 0; i < 4; i++) {
        const maxwell_material *m = &s->material[class->of[i]];
        const double loss = class->share[i] * 2 * m->n * m->k; /* share of -eps'' */
        out->absorbed[class->of[i]] += 0.5 * s->t.w * loss * square;
        out->drawn[class->of[i]] += drawn * loss / -class->eps.im;
    }
}

/* Whether the sides of a dimension are periodic: then a box holds all of it, and has no faces there. */
static bool around(const maxwell *s, int dim) { return dim < 2 && !s->pml_sides; }

/* Adds the power that leaves through the face at place `p` of dimension `dim`, from a box of places lo ... hi (E
 * inside: lo + 1 ... hi, H inside: lo ... hi - 1; around periodic sides: all of them). */
static bn_status add_flux_out(view *v, int dim, size_t p, const size_t lo[3], const size_t hi[3], double sign,
                              double *sum)
{
    const int a = (dim + 1) % 3, b = (dim + 2) % 3; /* S_dim = E_a H_b* - E_b H_a* */
    size_t low[3], high[3], q[3];
    double face = 0;
    for (int d = 0; d < 3; d++) {
        low[d] = d == dim ? p : lo[d];
        high[d] = d == dim ? p : hi[d] - around(v->s, d);
    }
    for (q[2] = low[2]; q[2] <= high[2]; q[2]++) {
        BN_TRY(need(v, q[2], q[2] + 1));
        const cplx *ea = v->E + (size_t)a * v->cells, *eb = v->E + (size_t)b * v->cells;
        const cplx *ha = v->H + (size_t)a * v->cells, *hb = v->H + (size_t)b * v->cells;
        for (q[1] = low[1]; q[1] <= high[1]; q[1]++)
            for (q[0] = low[0]; q[0] <= high[0]; q[0]++) {
                const size_t here = at(v, q[0], q[1], q[2]);
                if (q[a] < hi[a] && (q[b] > lo[b] || around(v->s, b)))
                    face += 0.5 * dot(ea[here], hb[here]);
                if ((q[a] > lo[a] || around(v->s, a)) && q[b] < hi[b])
                    face -= 0.5 * dot(eb[here], ha[here]);
            }
    }
    *sum += sign * face;
    return BN_OK;
}

/* All edges of component c in plane k between two corners. */
static bn_status take_plane(view *v, int c, size_t k, const size_t lo[2], const size_t hi[2], powers *out)
{
    BN_TRY(need(v, k > 0 ? k - 1 : 0, k + 1));
    for (size_t j = lo[1]; j < hi[1]; j++)
        for (size_t i = lo[0]; i < hi[0]; i++)
            take_edge(v, c, (const size_t[3]){ i, j, k }, out);
    return BN_OK;
}

static bn_status take_volume(view *v, powers *out)
{
    const maxwell *s = v->s;
    const size_t d = (size_t)s->pml + 1;
    size_t lo[3], hi[3];
    for (int dim = 0; dim < 3; dim++) {
        lo[dim] = around(s, dim) ? 0 : d;
        hi[dim] = around(s, dim) ? s->n[dim] : s->n[dim] - d;
    }
    for (int dim = around(s, 0) ? 2 : 0; dim < 3; dim++) {
        BN_TRY(add_flux_out(v, dim, hi[dim], lo, hi, 1, &out->scattered));
        BN_TRY(add_flux_out(v, dim, lo[dim], lo, hi, -1, &out->scattered));
    }
    for (int c = 0; c < 3; c++)
        for (size_t k = d; k < hi[2]; k++)
            BN_TRY(take_plane(v, c, k, lo, hi, out));
    return BN_OK;
}

/* Plane below which what is left of the light counts as transmitted. */
static size_t exit_plane(const maxwell *s) { return s->pml_bottom ? (size_t)s->pml + 1 : 0; }

static bn_status take_slab(view *v, powers *out)
{
    const maxwell *s = v->s;
    const size_t low = exit_plane(s), all[2] = { v->nx, v->ny }, none[2] = { 0, 0 };
    out->incident = s->t.flux * (double)(v->nx * v->ny);
    BN_TRY(need(v, s->source + 1, s->source + 2));
    out->reflected = -flux_down(v, s->source + 1);
    BN_TRY(need(v, low, low + 1));
    out->transmitted = s->pml_bottom ? flux_down(v, low) : 0;
    for (int c = 0; c < 3; c++)
        for (size_t k = c < 2 ? low + 1 : low; k < (c < 2 ? (size_t)s->source + 1 : s->source); k++)
            BN_TRY(take_plane(v, c, k, none, all, out));
    return BN_OK;
}

/* Room for a window; free(v->E). */
static bn_status look(bn_sim *sim, const maxwell *s, view *v)
{
    const size_t plane = (size_t)s->n[0] * s->n[1], fit = WINDOW_CELLS / plane > 2 ? WINDOW_CELLS / plane : 2;
    *v = (view){ .s = s, .nx = s->n[0], .ny = s->n[1], .nz = s->n[2], .room = fit < s->n[2] ? fit : s->n[2] };
    if (!(v->E = malloc(6 * v->room * plane * sizeof *v->E)))
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory to measure the field");
    v->H = v->E + 3 * v->room * plane;
    return BN_OK;
}

/* A column of the spectrum: wavelength, then with the light from above R, T, the absorptances; else cross sections
 * [m2]. */
static size_t fill_row(const maxwell *s, const powers *w, double *row)
{
    size_t n = 0;
    row[n++] = s->t.wavelength;
    if (s->volume) {
        const double unit = s->h * s->h / (0.5 * s->material[s->above].n * s->amplitude * s->amplitude);
        double absorbed = 0;
        for (int m = 0; m < s->materials; m++)
            absorbed += w->absorbed[m];
        row[n++] = unit * w->scattered;
        row[n++] = unit * absorbed;
        row[n++] = unit * w->extinct;
        return n;
    }
    row[n++] = w->reflected / w->incident;
    row[n++] = w->transmitted / w->incident;
    for (int m = 0; m < s->materials; m++)
        if (s->material[m].used)
            row[n++] = w->absorbed[m] / w->incident;
    return n;
}

bn_status maxwell_measure_row(bn_sim *sim, maxwell *s, double *row)
{
    view v = { .E = NULL };
    powers w = { 0 };
    bn_status st = BN_OK;
    if (s->form != MAXWELL_COMPACT) /* the fields lag behind the records */
        BN_GO((s->reference
                   ? (bn_case_double(bn_sim_case(sim)) ? &bn_maxwell_reference_double : &bn_maxwell_reference_single)
                   : &maxwell_device)
                  ->update_outputs(sim, s));
    BN_GO(look(sim, s, &v));
    BN_GO((s->volume ? take_volume : take_slab)(&v, &w));
    (void)fill_row(s, &w, row);
out:
    free(v.E);
    return st;
}

static bn_status put_slab(const maxwell *s, const powers *w, bn_results *results)
{
    double sum = 0, drawn = 0;
    for (int m = 0; m < s->materials; m++)
        if (s->material[m].used) {
            BN_TRY(bn_result(results, s->result_name[m][0], w->absorbed[m] / w->incident));
            BN_TRY(bn_result(results, s->result_name[m][1], w->drawn[m] / w->incident));
            sum += w->absorbed[m] / w->incident;
            drawn += w->drawn[m] / w->incident;
        }
    const double R = w->reflected / w->incident, T = w->transmitted / w->incident;
    BN_TRY(bn_result(results, "reflectance", R));
    BN_TRY(bn_result(results, "transmittance", T));
    BN_TRY(bn_result(results, "absorptance", sum));
    BN_TRY(bn_result(results, "absorptance_poynting", drawn));
    return bn_result(results, "energy_balance", R + T + sum - 1);
}

static bn_status put_volume(const maxwell *s, const powers *w, bn_results *results)
{
    double row[4];
    (void)fill_row(s, w, row);
    BN_TRY(bn_result(results, "sigma_sca", row[1]));
    BN_TRY(bn_result(results, "sigma_abs", row[2]));
    BN_TRY(bn_result(results, "sigma_ext", row[3]));
    BN_TRY(bn_result(results, "energy_balance", (row[1] + row[2] - row[3]) / row[3]));
    if (s->sphere_radius > 0) {
        const double area = 3.14159265358979323846 * s->sphere_radius * s->sphere_radius;
        BN_TRY(bn_result(results, "q_sca", row[1] / area));
        BN_TRY(bn_result(results, "q_abs", row[2] / area));
        BN_TRY(bn_result(results, "q_ext", row[3] / area));
    }
    return BN_OK;
}

/* Along z: the flux downwards over the incident one, and the root mean square of |E| over the plane. */
static bn_status put_profile(bn_sim *sim, view *v, const powers *w, bn_results *results)
{
    const maxwell *s = v->s;
    bn_status st = BN_OK;
    double *values = malloc(3 * v->nz * sizeof *values);
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the profile");
    double *z = values, *flux = z + v->nz, *rms = flux + v->nz;
    const size_t plane = v->nx * v->ny;
    for (size_t k = 0; k < v->nz; k++) {
        double sum = 0;
        BN_GO(need(v, k, k + 1));
        for (size_t c = 0; c < 3; c++)
            for (size_t i = 0; i < plane; i++) {
                const cplx e = v->E[c * v->cells + at(v, 0, 0, k) + i];
                sum += dot(e, e);
            }
        z[k] = (double)k * s->h;
        flux[k] = flux_down(v, k) / w->incident;
        rms[k] = sqrt(sum / (double)plane) / s->amplitude;
    }
    st = bn_result_table(results, "profile",
                         (const bn_column[]){ { "z", "m", z },
                                              { "flux_down_over_incident", "", flux },
                                              { "E_rms_over_incident", "", rms } },
                         3, v->nz);
out:
    free(values);
    return st;
}

static bn_status put_spectrum(bn_sim *sim, const maxwell *s, bn_results *results)
{
    const size_t columns = (size_t)s->spectrum_columns, rows = (size_t)s->spectrum_rows;
    bn_column head[MAXWELL_MATERIALS + 3] = { { "wavelength", "m", NULL } };
    double *values = malloc((columns * rows + 1) * sizeof *values);
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the spectrum");
    size_t n = 1;
    static const char *const sections[3] = { "sigma_sca", "sigma_abs", "sigma_ext" };
    for (int i = 0; s->volume && i < 3; i++)
        head[n++] = (bn_column){ sections[i], "m2", NULL };
    if (!s->volume) {
        head[n++] = (bn_column){ "reflectance", "", NULL };
        head[n++] = (bn_column){ "transmittance", "", NULL };
        for (int m = 0; m < s->materials; m++)
            if (s->material[m].used)
                head[n++] = (bn_column){ s->result_name[m][0], "", NULL };
    }
    for (size_t c = 0; c < columns; c++) {
        for (size_t r = 0; r < rows; r++)
            values[c * rows + r] = s->spectrum[r * columns + c];
        head[c].values = values + c * rows;
    }
    const bn_status st = bn_result_table(results, "spectrum", head, columns, rows);
    free(values);
    return st;
}

int maxwell_unconverged(const maxwell *s)
{
    int count = 0;
    for (int i = 0; i < s->spectrum_rows; i++)
        count += s->ends[i * MAXWELL_ENDS + 2] == 0;
    return count;
}

/* How each wavelength ended, and the names of those that did not converge. */
static bn_status put_ends(bn_sim *sim, const maxwell *s, bn_results *results)
{
    const size_t rows = (size_t)s->spectrum_rows;
    double *values = malloc((MAXWELL_ENDS + 1) * rows * sizeof *values);
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the ends of %zu wavelengths", rows);
    char names[256] = "";
    int told = 0;
    for (size_t r = 0; r < rows; r++) {
        const double nm = 1e9 * maxwell_wavelength(s, (int)r);
        const size_t length = strlen(names);
        values[r] = maxwell_wavelength(s, (int)r);
        for (size_t i = 0; i < MAXWELL_ENDS; i++)
            values[(i + 1) * rows + r] = s->ends[r * MAXWELL_ENDS + i];
        if (s->ends[r * MAXWELL_ENDS + 2] == 0 && length + 64 < sizeof names) {
            snprintf(names + length, sizeof names - length, "%s%.6g nm", told > 0 ? ", " : "wavelength ", nm);
            told++;
        }
    }
    const int rest = maxwell_unconverged(s) - told;
    if (rest > 0)
        snprintf(names + strlen(names), sizeof names - strlen(names), " and %d more (sweep.csv)", rest);
    bn_status st = bn_result_table(results, "sweep",
                                   (const bn_column[]){ { "wavelength", "m", values },
                                                        { "steps", "", values + rows },
                                                        { "residual", "", values + 2 * rows },
                                                        { "converged", "", values + 3 * rows } },
                                   MAXWELL_ENDS + 1, rows);
    if (st == BN_OK && told > 0)
        st = bn_result_unconverged(results, names);
    free(values);
    return st;
}

bn_status maxwell_measure(bn_sim *sim, void *state, bn_results *results)
{
    const maxwell *s = state;
    view v = { .E = NULL };
    powers w = { 0 };
    bn_status st = BN_OK;
    BN_GO(bn_result(results, "wavelength", s->t.wavelength));
    BN_GO(bn_result(results, "update_norm", s->residual));
    if (s->imported) /* of what the powers would be is not known */
        return BN_OK;
    BN_GO(look(sim, s, &v));
    BN_GO((s->volume ? take_volume : take_slab)(&v, &w));
    BN_GO(s->volume ? put_volume(s, &w, results) : put_slab(s, &w, results));
    if (!s->volume)
        BN_GO(put_profile(sim, &v, &w, results));
    if (s->wavelengths > 1 && s->spectrum_rows > 0)
        BN_GO(put_spectrum(sim, s, results));
    if (s->wavelengths > 1 && s->spectrum_rows > 0)
        BN_GO(put_ends(sim, s, results));
out:
    free(v.E);
    return st;
}

/* "absorptance_aSi" and the same by Poynting's theorem; what is no letter or digit becomes _. */
static void name_results(const maxwell *s)
{
    for (int m = 0; m < s->materials; m++) {
        char name[MAXWELL_NAME];
        snprintf(name, sizeof name, "%s", s->material[m].name);
        for (char *p = name; *p; p++)
            *p = isalnum((unsigned char)*p) ? *p : '_';
        snprintf(s->result_name[m][0], sizeof s->result_name[m][0], "absorptance_%s", name);
        snprintf(s->result_name[m][1], sizeof s->result_name[m][1], "absorptance_%s_poynting", name);
    }
}

bn_status maxwell_plan_results(bn_plan *p, maxwell *s)
{
    int used = 0;
    BN_TRY(bn_plan_allocate(p, (size_t)s->materials * sizeof *s->result_name, (void **)&s->result_name));
    name_results(s);
    for (int m = 0; m < s->materials; m++)
        used += s->material[m].used;
    s->spectrum_columns = s->volume ? 4 : 3 + used;
    BN_TRY(bn_plan_allocate(p, (size_t)(s->wavelengths * s->spectrum_columns) * sizeof(double), (void **)&s->spectrum));
    BN_TRY(bn_plan_allocate(p, (size_t)(s->wavelengths * MAXWELL_ENDS) * sizeof(double), (void **)&s->ends));
    BN_TRY(bn_plan_result(p, "wavelength", "m", "of the light, in vacuum; of a sweep the last one"));
    BN_TRY(bn_plan_result(p, "update_norm", "", "largest change of E in an iteration over the largest E"));
    if (s->imported)
        return BN_OK;
    if (s->volume) {
        BN_TRY(
            bn_plan_result(p, "sigma_sca", "m2", "scattered power over the incident intensity, by the flux outwards"));
        BN_TRY(bn_plan_result(p, "sigma_abs", "m2", "absorbed power over it, by the loss in the volume"));
        BN_TRY(bn_plan_result(p, "sigma_ext", "m2", "extinction, by the optical theorem in the volume"));
        BN_TRY(bn_plan_result(p, "energy_balance", "", "(sigma_sca + sigma_abs - sigma_ext) / sigma_ext"));
        static const char *const q[3] = { "q_sca", "q_abs", "q_ext" };
        for (int i = 0; i < 3 && s->sphere_radius > 0; i++)
            BN_TRY(bn_plan_result(p, q[i], "", "that cross section over pi radius^2"));
        return BN_OK;
    }
    BN_TRY(bn_plan_result(p, "reflectance", "", "reflected power over incident power"));
    BN_TRY(
        bn_plan_result(p, "transmittance", "", "power into the absorbing layer at the bottom, over the incident one"));
    BN_TRY(bn_plan_result(p, "absorptance", "", "of all materials"));
    BN_TRY(bn_plan_result(p, "absorptance_poynting", "", "the same by Poynting's theorem"));
    BN_TRY(bn_plan_result(p, "energy_balance", "", "R + T + A - 1"));
    for (int m = 0; m < s->materials; m++)
        if (s->material[m].used) {
            BN_TRY(bn_plan_result(p, s->result_name[m][0], "", "power lost in that material over the incident power"));
            BN_TRY(bn_plan_result(p, s->result_name[m][1], "", "the same by Poynting's theorem"));
        }
    return BN_OK;
}
