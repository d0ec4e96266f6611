/* maxwell_spectrum.c: wavelengths one after the other: how each begins and ends, the spectrum, what a checkpoint keeps.
 */
#include "maxwell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bn_status maxwell_begin_wavelength(bn_sim *sim, maxwell *s)
{
    const maxwell_fields *f = &s->f;
    bn_field *const dark[] = { f->E,      f->H,      f->norm,        f->part_E,      f->part_H,
                               f->E_next, f->H_next, f->part_E_next, f->part_H_next, s->anderson.history };
    s->steps = 0;
    s->change = s->size = 0;
    s->residual = (double)NAN; /* not looked at yet */
    for (size_t i = 0; i < sizeof dark / sizeof *dark; i++)
        if (dark[i])
            BN_TRY(bn_field_zero(dark[i]));
    return s->config.start == MAXWELL_LAYERS ? maxwell_start_from_layers(sim, s) : BN_OK;
}

static void set_wavelength(bn_sim *sim, maxwell *s, int which)
{
    s->spectrum.present = which;
    maxwell_set_wavelength(bn_sim_case(sim), &s->model, maxwell_wavelength(&s->model, which));
    maxwell_write_caption(s);
}

/* Enters how the present wavelength ended and, if it converged, what its field gives; else that row stays empty. */
static bn_status enter_wavelength(bn_sim *sim, maxwell *s, bool converged)
{
    maxwell_spectrum *w = &s->spectrum;
    double *row = w->values + (size_t)w->present * (size_t)w->columns;
    w->ends[w->present] = (maxwell_end){ (double)s->steps, s->residual, converged };
    w->rows = w->present + 1;
    for (int i = 0; i < w->columns; i++)
        row[i] = i == 0 ? s->model.t.wavelength : (double)NAN;
    return converged ? maxwell_measure_row(sim, s, row) : BN_OK;
}

/* Wavelengths that have come to their end without converging. */
static int unconverged(const maxwell_spectrum *w)
{
    int count = 0;
    for (int i = 0; i < w->rows; i++)
        count += w->ends[i].converged == 0;
    return count;
}

bn_status maxwell_end_step(bn_sim *sim, maxwell *s, bool converged, bn_step *out)
{
    const int wavelengths = s->model.light.wavelengths;
    const bool used_up = wavelengths > 1 && s->steps >= (unsigned long long)s->spectrum.most_steps;
    if (!converged && !used_up)
        return BN_OK;
    BN_TRY(bn_sim_catch_up(sim)); /* the field is measured now, and a new one begins */
    BN_TRY(enter_wavelength(sim, s, converged));
    if (s->spectrum.present + 1 < wavelengths) {
        set_wavelength(sim, s, s->spectrum.present + 1);
        return maxwell_begin_wavelength(sim, s);
    }
    out->converged = converged && unconverged(&s->spectrum) == 0;
    out->complete = !out->converged;
    return BN_OK;
}

static bn_status add_spectrum(bn_sim *sim, const maxwell *s, bn_results *results)
{
    const maxwell_model *m = &s->model;
    const size_t columns = (size_t)s->spectrum.columns, rows = (size_t)s->spectrum.rows;
    bn_column head[MAXWELL_MATERIALS + 3] = { { "wavelength", "m", NULL } };
    double *values = malloc((columns * rows + 1) * sizeof *values);
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the spectrum");
    size_t n = 1;
    static const char *const sections[3] = { "sigma_sca", "sigma_abs", "sigma_ext" };
    for (int i = 0; m->light.volume && i < 3; i++)
        head[n++] = (bn_column){ sections[i], "m2", NULL };
    if (!m->light.volume) {
        head[n++] = (bn_column){ "reflectance", "", NULL };
        head[n++] = (bn_column){ "transmittance", "", NULL };
        for (int i = 0; i < m->structure.materials; i++)
            if (m->structure.material[i].used)
                head[n++] = (bn_column){ s->result_name[i][0], "", NULL };
    }
    for (size_t c = 0; c < columns; c++) {
        for (size_t r = 0; r < rows; r++)
            values[c * rows + r] = s->spectrum.values[r * columns + c];
        head[c].values = values + c * rows;
    }
    const bn_status st = bn_result_table(results, "spectrum", head, columns, rows);
    free(values);
    return st;
}

/* How each wavelength ended, and the names of those that did not converge. */
static bn_status add_ends(bn_sim *sim, const maxwell *s, bn_results *results)
{
    const maxwell_spectrum *w = &s->spectrum;
    const size_t rows = (size_t)w->rows;
    double *values = malloc(4 * rows * sizeof *values);
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the ends of %zu wavelengths", rows);
    char names[256] = "";
    int named = 0;
    for (size_t r = 0; r < rows; r++) {
        const size_t length = strlen(names);
        values[r] = maxwell_wavelength(&s->model, (int)r);
        values[rows + r] = w->ends[r].steps;
        values[2 * rows + r] = w->ends[r].residual;
        values[3 * rows + r] = w->ends[r].converged;
        if (w->ends[r].converged == 0 && length + 64 < sizeof names) {
            snprintf(names + length, sizeof names - length, "%s%.6g nm", named > 0 ? ", " : "wavelength ",
                     1e9 * values[r]);
            named++;
        }
    }
    const int rest = unconverged(w) - named;
    if (rest > 0)
        snprintf(names + strlen(names), sizeof names - strlen(names), " and %d more (sweep.csv)", rest);
    bn_status st = bn_result_table(results, "sweep",
                                   (const bn_column[]){ { "wavelength", "m", values },
                                                        { "steps", "", values + rows },
                                                        { "residual", "", values + 2 * rows },
                                                        { "converged", "", values + 3 * rows } },
                                   4, rows);
    if (st == BN_OK && named > 0)
        st = bn_result_unconverged(results, names);
    free(values);
    return st;
}

bn_status maxwell_add_spectrum(bn_sim *sim, const maxwell *s, bn_results *results)
{
    if (s->model.light.wavelengths < 2 || s->spectrum.rows == 0)
        return BN_OK;
    BN_TRY(add_spectrum(sim, s, results));
    return add_ends(sim, s, results);
}

bn_status maxwell_serialize(bn_sim *sim, void *state, bn_checkpoint_state *k)
{
    maxwell *s = state;
    maxwell_spectrum *w = &s->spectrum;
    const size_t wavelengths = (size_t)s->model.light.wavelengths;
    unsigned long long counts[3] = { (unsigned long long)w->present, s->steps, (unsigned long long)w->rows };
    double reals[3] = { s->residual, s->change, s->size };
    BN_TRY(bn_state_counts(k, "counts", counts, 3));
    BN_TRY(bn_state_reals(k, "residual", reals, 3));
    BN_TRY(bn_state_reals(k, "spectrum", w->values, wavelengths * (size_t)w->columns));
    BN_TRY(bn_state_reals(k, "ends", (double *)w->ends, wavelengths * sizeof *w->ends / sizeof(double)));
    s->steps = counts[1];
    w->rows = (int)counts[2];
    s->residual = reals[0];
    s->change = reals[1];
    s->size = reals[2];
    if ((int)counts[0] != w->present)
        set_wavelength(sim, s, (int)counts[0]);
    return BN_OK;
}
