/* bpm_start.c: the field that enters, and the mode it is compared with. */
#include "bpm.h"

#include <math.h>
#include <stdlib.h>

static void gaussian(const bpm *s, size_t beam, double *field)
{
    const double k = bpm_k0(s, beam) * s->background, middle = s->centre + s->beam[beam][1];
    for (size_t i = 0; i < s->n; i++) {
        const double y = (double)(i + 1) * s->h - middle;
        const double size = s->launch == BPM_LAUNCH_PLANE ? 1 : exp(-y * y / (s->waist * s->waist));
        /* exp(-i k sin(tilt) y) runs towards +y. */
        field[2 * i] = size < 1e-30 ? 0 : size * cos(k * sin(s->tilt) * y);
        field[2 * i + 1] = size < 1e-30 ? 0 : -size * sin(k * sin(s->tilt) * y);
    }
}

/* From a table of y, real and imaginary part; straight between its places. A node within half a cell beyond an end has
 * the value of that end, whose y may have been rounded to the other side of it; further out there is nothing. */
static void from_file(const bpm *s, double *field)
{
    const bn_input *t = s->file;
    for (size_t i = 0; i < s->n; i++) {
        const double node = (double)(i + 1) * s->h, first = t->values[0], last = t->values[(t->rows - 1) * t->columns];
        const double y = fmin(fmax(node, first), last);
        size_t k = 0;
        while (k + 2 < t->rows && t->values[(k + 1) * t->columns] < y)
            k++;
        const double *low = t->values + k * t->columns, *high = low + t->columns;
        const bool within = fabs(node - y) < 0.5 * s->h;
        const double share = within ? (y - low[0]) / (high[0] - low[0]) : 0;
        for (size_t part = 0; part < 2; part++) {
            const size_t from = part + 1;
            field[2 * i + part] = within && from < t->columns ? low[from] + share * (high[from] - low[from]) : 0;
        }
    }
}

/* Phase per step along z that the scheme gives a mode of index n_eff: of (1 + q P) / (1 + p P), P = (n_eff / n_ref)^2
 * - 1. */
static double discrete_phase(const bpm *s, size_t beam, double n_eff)
{
    const double ratio = n_eff / s->reference;
    const double P = (ratio - 1) * (ratio + 1);
    double _Complex p, q;
    if (s->method == BPM_FFT)
        return -bpm_k0(s, beam) * s->reference * s->dz * (s->wide_angle ? ratio - 1 : 0.5 * P);
    bpm_step_weights(s, beam, &p, &q);
    return carg((1 + q * P) / (1 + p * P));
}

/* What lies beside the guides at the start: a mode below it would leak away. */
static double outside(const bpm *s) { return bpm_guides(s, 0.5 * s->dz) ? s->background : 0; }

static bn_status find_modes(const bn_case *c, bpm *s, double *room)
{
    for (size_t beam = 0; beam < s->beams; beam++) {
        double n_eff = 0;
        bpm_make_operator(s, beam, 0.5 * s->dz, &s->op);
        const bool found = bpm_find_mode(s, beam, &s->op, s->mode, &n_eff, room) && n_eff > outside(s) * (1 + 1e-12);
        if (!found && s->launch == BPM_LAUNCH_MODE)
            return bn_case_reject(
                c, "launch.mode", "modes count from 0, the fundamental",
                "the guide at z = 0 has no mode %d: its index would be %.6f, not above the %.6f around it", s->mode,
                n_eff, outside(s));
        s->n_eff[beam] = found ? n_eff : (double)NAN;
        for (size_t i = 0; i < s->n; i++)
            s->mode_field[2 * (beam * s->n + i)] = found ? room[i] : 0;
    }
    return BN_OK;
}

static double norm2(const double *field, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < 2 * n; i++)
        sum += field[i] * field[i];
    return sum;
}

bn_status bpm_make_start(const bn_case *c, bpm *s)
{
    const size_t n = s->n;
    const bool found_reference = s->reference == 0;
    double *room = malloc(n * sizeof *room);
    if (!room)
        return bn_case_reject(c, "grid.cells", NULL, "no memory for %zu unknowns", n);
    if (found_reference)
        s->reference = s->background;
    const bool with_pml = s->pml;
    s->pml = false; /* modes belong to the guide, not to the layers before the walls */
    const bn_status st = find_modes(c, s, room);
    s->pml = with_pml;
    free(room);
    BN_TRY(st);
    if (found_reference && bpm_guides(s, 0.5 * s->dz) && isfinite(s->n_eff[0]))
        s->reference = s->n_eff[0];
    for (size_t beam = 0; beam < s->beams; beam++) {
        double *start = s->start_field + 2 * beam * n, *mode = s->mode_field + 2 * beam * n;
        if (s->launch == BPM_LAUNCH_MODE)
            for (size_t i = 0; i < 2 * n; i++)
                start[i] = mode[i];
        else if (s->launch == BPM_LAUNCH_FILE)
            from_file(s, start);
        else
            gaussian(s, beam, start);
        if (s->tm)
            bpm_impedance_root(s, beam, 0.5 * s->dz, s->op.index2);
        for (size_t i = 0; s->tm && i < n; i++) {
            ((double _Complex *)(void *)start)[i] /= s->op.index2[i];
            ((double _Complex *)(void *)mode)[i] /= s->op.index2[i];
        }
        s->start_power[beam] = norm2(start, n);
        s->mode_power[beam] = norm2(mode, n);
        if (!(s->start_power[beam] > 0))
            return bn_case_reject(c, "launch.centre", NULL, "the field that enters vanishes on the whole grid");
        s->theory[beam] = isfinite(s->n_eff[beam]) ? discrete_phase(s, beam, s->n_eff[beam]) : (double)NAN;
    }
    return BN_OK;
}
