/* maxwell_step.c: the iteration on a device, and what both engines report. */
#include "maxwell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* |E| above this many times the incident field counts as growing without bound. */
#define RUNAWAY 1e6

static size_t levels(const maxwell *s) { return (size_t)s->pml + 1; }
static size_t lateral_count(const maxwell *s) { return 2 * (2 + (size_t)s->n[0] + s->n[1]); }

static bn_status setup(bn_sim *sim, void *state)
{
    maxwell *s = state;
    bn_domain *d = bn_sim_domain(sim);
    s->step_H = bn_sim_kernel(sim, "maxwell_H");
    s->step_E = bn_sim_kernel(sim, "maxwell_E");
    s->step_H_rows = bn_sim_kernel(sim, "maxwell_H_rows");
    s->step_E_rows = bn_sim_kernel(sim, "maxwell_E_rows");
    s->step_E_watched = bn_sim_kernel(sim, "maxwell_E_watched");
    s->take_norm = bn_sim_kernel(sim, "maxwell_norm");
    s->keep_state = bn_sim_kernel(sim, "maxwell_serialize");
    s->gram = bn_sim_kernel(sim, "maxwell_gram");
    s->gram_total = bn_sim_kernel(sim, "maxwell_gram_total");
    s->mix_states = bn_sim_kernel(sim, "maxwell_mix");
    s->total = bn_sim_kernel(sim, "maxwell_total");
    s->fused = bn_sim_kernel(sim, "maxwell_fused");
    s->seed_H = bn_sim_kernel(sim, "maxwell_seed_H");
    s->seed_E = bn_sim_kernel(sim, "maxwell_seed_E");
    s->seed_whole = bn_sim_kernel(sim, "maxwell_seed_whole");
    if (s->fuse && !bn_kernel_fits(s->fused))
        bn_log(bn_sim_context(sim), BN_LOG_WARNING,
               "maxwell: this device has no work-groups large enough for one sweep; H and E take a pass each");
    BN_TRY(bn_device_array_reals(d, "coefficients of E", s->t.E, 4 * levels(s) * (size_t)s->class_count, &s->table_E));
    BN_TRY(bn_device_array_reals(d, "coefficients of H", s->t.H, 4 * levels(s), &s->table_H));
    BN_TRY(bn_device_array_reals(d, "contrast", s->t.contrast, 2 * (size_t)s->class_count, &s->table_contrast));
    BN_TRY(bn_device_array_reals(d, "incident wave", s->t.wave, 2 * (size_t)s->n[2], &s->table_wave));
    BN_TRY(bn_device_array_reals(d, "lateral phases", s->t.lateral, lateral_count(s), &s->table_lateral));
    BN_TRY(bn_partials_create(d, "largest change", 2, 3, &s->partials));
    BN_TRY(bn_scalars_create(d, "totals", 2, &s->scalars));
    if (!s->accelerate)
        return BN_OK;
    BN_TRY(bn_partials_create(d, "products of changes", 2 * MAXWELL_COLUMNS, 0, &s->gram_partials));
    BN_TRY(bn_scalars_create(d, "products of changes", (size_t)(2 * s->depth * s->depth), &s->gram_scalars));
    return bn_scalars_create(d, "weights of states", 2 * (size_t)s->depth, &s->weight_scalars);
}

static void teardown(void *state)
{
    maxwell *s = state;
    bn_device_array_destroy(&s->table_E);
    bn_device_array_destroy(&s->table_H);
    bn_device_array_destroy(&s->table_contrast);
    bn_device_array_destroy(&s->table_wave);
    bn_device_array_destroy(&s->table_lateral);
    bn_partials_destroy(&s->partials);
    bn_scalars_destroy(&s->scalars);
    bn_partials_destroy(&s->gram_partials);
    bn_scalars_destroy(&s->gram_scalars);
    bn_scalars_destroy(&s->weight_scalars);
}

/* The tables of the next wavelength. */
static bn_status rewrite_tables(maxwell *s)
{
    BN_TRY(bn_device_array_rewrite(s->table_E, s->t.E, 4 * levels(s) * (size_t)s->class_count));
    BN_TRY(bn_device_array_rewrite(s->table_H, s->t.H, 4 * levels(s)));
    BN_TRY(bn_device_array_rewrite(s->table_contrast, s->t.contrast, 2 * (size_t)s->class_count));
    BN_TRY(bn_device_array_rewrite(s->table_wave, s->t.wave, 2 * (size_t)s->n[2]));
    return bn_device_array_rewrite(s->table_lateral, s->t.lateral, lateral_count(s));
}

enum { DRIVE_MOST = 5 };

/* The arguments that tell a kernel of the light: of the incident field beside the source plane, or, for E alone
 * (`incident` NULL), of the volume source. */
static size_t drive(const maxwell *s, const cplx incident[2], bn_arg args[DRIVE_MOST])
{
    const double ramp = maxwell_ramp(s);
    size_t count = 0;
    if (s->volume && !incident) {
        args[count++] = (bn_arg)BN_ARRAY(s->table_contrast);
        args[count++] = (bn_arg)BN_ARRAY(s->table_wave);
        args[count++] = (bn_arg)BN_REALV(ramp * s->amplitude * cos(s->polarisation));
        args[count++] = (bn_arg)BN_REALV(ramp * s->amplitude * sin(s->polarisation));
    } else if (!s->volume) {
        for (int i = 0; i < 2; i++) {
            args[count++] = (bn_arg)BN_REALV(ramp * incident[i].re);
            args[count++] = (bn_arg)BN_REALV(ramp * incident[i].im);
        }
    }
    if (s->bloch)
        args[count++] = (bn_arg)BN_ARRAY(s->table_lateral);
    return count;
}

/* Runs a kernel with `count` arguments of its own and those of the light behind them. */
static bn_status run(const maxwell *s, bn_kernel *kernel, const bn_arg *own, size_t count, const cplx incident[2])
{
    bn_arg args[16];
    memcpy(args, own, count * sizeof *own);
    return bn_launch(kernel, args, count + drive(s, incident, args + count));
}

#define RUN_LIT(s, kernel, incident, ...) \
    run(s, kernel, (const bn_arg[]){ __VA_ARGS__ }, sizeof((const bn_arg[]){ __VA_ARGS__ }) / sizeof(bn_arg), incident)

/* Both half steps in one sweep, into the other buffers. */
static bn_status step_fused(maxwell *s)
{
    bn_arg args[11 + 2 * DRIVE_MOST] = {
        BN_READ_WRAPPED(s->E, 1),      BN_READ_WRAPPED(s->H, 1), BN_READ_WRAPPED(s->part_E, 0),
        BN_READ_WRAPPED(s->part_H, 1), BN_READ(s->edges, 0),     BN_ARRAY(s->table_E),
        BN_ARRAY(s->table_H),          BN_WRITE(s->E_next),      BN_WRITE(s->H_next),
        BN_WRITE(s->part_E_next),      BN_WRITE(s->part_H_next),
    };
    size_t count = 11;
    if (s->volume) {
        count += drive(s, NULL, args + count);
    } else { /* of E's incident wave and of H's; what is lateral comes once, at the end */
        const size_t lateral = s->bloch ? 1 : 0;
        count += drive(s, s->t.e_inc, args + count) - lateral;
        count += drive(s, s->t.h_inc, args + count);
    }
    BN_TRY(bn_launch(s->fused, args, count));
    bn_field_swap(s->E, s->E_next);
    bn_field_swap(s->H, s->H_next);
    bn_field_swap(s->part_E, s->part_E_next);
    bn_field_swap(s->part_H, s->part_H_next);
    return BN_OK;
}

static bn_status step_compact(maxwell *s, bool watched)
{
    const cplx *e = s->t.e_inc, *h = s->volume ? NULL : s->t.h_inc;
    const bool rows = s->sweep == MAXWELL_ROWS;
    if (s->fuse && !watched && bn_kernel_fits(s->fused))
        return step_fused(s);
    BN_TRY(RUN_LIT(s, rows ? s->step_H_rows : s->step_H, e, BN_READ_WRAPPED_SIDE(s->E, 1, 1), BN_ARRAY(s->table_H),
                   BN_UPDATE(s->H), BN_UPDATE(s->part_H)));
    if (watched)
        return RUN_LIT(s, s->step_E_watched, h, BN_READ_WRAPPED_SIDE(s->H, 1, -1), BN_READ(s->edges, 0),
                       BN_ARRAY(s->table_E), BN_UPDATE(s->E), BN_UPDATE(s->part_E), BN_PARTIALS(s->partials));
    return RUN_LIT(s, rows ? s->step_E_rows : s->step_E, h, BN_READ_WRAPPED_SIDE(s->H, 1, -1), BN_READ(s->edges, 0),
                   BN_ARRAY(s->table_E), BN_UPDATE(s->E), BN_UPDATE(s->part_E));
}

static bn_status step_seed(maxwell *s)
{
    const double ramp = maxwell_ramp(s);
    BN_TRY(BN_RUN(s->seed_H, BN_READ(s->record_E, 1), BN_UPDATE(s->record_H), BN_REALV(ramp)));
    return BN_RUN(s->seed_E, BN_READ(s->record_H, 1), BN_UPDATE(s->record_E), BN_REALV(ramp), BN_PARTIALS(s->partials));
}

/* Ends a cycle: products of all pairs of differences, then the mean of the states that they ask for. */
static bn_status extrapolate(maxwell *s)
{
    double gram[2 * MAXWELL_DEPTH * MAXWELL_DEPTH], weights[2 * MAXWELL_DEPTH];
    const size_t count = 2 * (size_t)s->depth;
    for (int row = 0; row < s->depth; row++)
        for (int from = 0; from <= row; from += MAXWELL_COLUMNS) {
            BN_TRY(BN_RUN(s->gram, BN_READ(s->history, 0), BN_I32V(row), BN_I32V(from), BN_PARTIALS(s->gram_partials)));
            BN_TRY(BN_RUN(s->gram_total, BN_TOTALS(s->gram_partials), BN_I32V(row), BN_I32V(from),
                          BN_SCALARS(s->gram_scalars)));
        }
    BN_TRY(bn_scalars_read(s->gram_scalars, gram, count * (size_t)s->depth));
    maxwell_weights(s, gram, weights);
    BN_TRY(bn_scalars_write(s->weight_scalars, weights, count));
    return BN_RUN(s->mix_states, BN_READ(s->history, 0), BN_SCALARS(s->weight_scalars), BN_WRITE(s->E), BN_WRITE(s->H),
                  BN_WRITE(s->part_E), BN_WRITE(s->part_H));
}

static bn_status keep_state(maxwell *s, int slot)
{
    return BN_RUN(s->keep_state, BN_READ(s->E, 0), BN_READ(s->H, 0), BN_READ(s->part_E, 0), BN_READ(s->part_H, 0),
                  BN_UPDATE(s->history), BN_I32V(slot));
}

static bn_status cycle(maxwell *s)
{
    const maxwell_cycle now = maxwell_cycle_now(s);
    if (now.slot >= 0)
        BN_TRY(keep_state(s, now.slot));
    if (now.finish)
        BN_TRY(extrapolate(s));
    return now.begin ? keep_state(s, -1) : BN_OK;
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    maxwell *s = state;
    const bool watched = maxwell_watches(s);
    const int present = s->present;
    BN_TRY(s->form == MAXWELL_COMPACT ? step_compact(s, watched) : step_seed(s));
    if (watched) {
        double totals[2];
        BN_TRY(BN_RUN(s->total, BN_TOTALS(s->partials), BN_SCALARS(s->scalars)));
        BN_TRY(bn_scalars_read(s->scalars, totals, 2));
        s->change = totals[0];
        s->size = totals[1];
    }
    BN_TRY(maxwell_report(sim, s, watched, out));
    if (s->present != present)
        BN_TRY(rewrite_tables(s));
    return out->converged || out->complete ? BN_OK : cycle(s);
}

static bn_status update_outputs(bn_sim *sim, void *state)
{
    maxwell *s = state;
    (void)sim;
    if (s->volume) {
        const double drive = maxwell_ramp(s) * s->amplitude;
        return BN_RUN(s->take_norm, BN_READ(s->E, 0), BN_WRITE(s->norm), BN_ARRAY(s->table_wave),
                      BN_REALV(drive * cos(s->polarisation)), BN_REALV(drive * sin(s->polarisation)));
    }
    if (s->form == MAXWELL_COMPACT)
        return BN_RUN(s->take_norm, BN_READ(s->E, 0), BN_WRITE(s->norm));
    BN_TRY(BN_RUN(s->seed_whole, BN_READ(s->record_E, 0), BN_WRITE(s->E)));
    BN_TRY(BN_RUN(s->seed_whole, BN_READ(s->record_H, 0), BN_WRITE(s->H)));
    return BN_RUN(s->take_norm, BN_READ(s->E, 0), BN_WRITE(s->norm));
}

bool maxwell_watches(const maxwell *s) { return (s->since + 1) % (unsigned long long)s->watch_every == 0; }

/* Enters how the present wavelength ended and, if it converged, what its field gives; else that row stays empty. */
static bn_status enter_wavelength(bn_sim *sim, maxwell *s, bool converged)
{
    double *row = s->spectrum + (size_t)s->present * (size_t)s->spectrum_columns;
    double *end = s->ends + (size_t)s->present * MAXWELL_ENDS;
    end[0] = (double)s->since;
    end[1] = s->residual;
    end[2] = converged;
    s->spectrum_rows = s->present + 1;
    for (int i = 0; i < s->spectrum_columns; i++)
        row[i] = i == 0 ? s->t.wavelength : (double)NAN;
    return converged ? maxwell_measure_row(sim, s, row) : BN_OK;
}

bn_status maxwell_begin_wavelength(bn_sim *sim, maxwell *s)
{
    bn_field *const dark[] = { s->E,      s->H,      s->norm,        s->part_E,      s->part_H,
                               s->E_next, s->H_next, s->part_E_next, s->part_H_next, s->history };
    s->since = 0;
    s->change = s->size = 0;
    s->residual = (double)NAN; /* not looked at yet */
    for (size_t i = 0; i < sizeof dark / sizeof *dark; i++)
        if (dark[i])
            BN_TRY(bn_field_zero(dark[i]));
    if (s->form != MAXWELL_COMPACT)
        return maxwell_write_records(sim, s);
    return s->start == MAXWELL_LAYERS ? maxwell_start_from_layers(sim, s) : BN_OK;
}

/* Moves on to the next wavelength of a sweep. */
static bn_status next_wavelength(bn_sim *sim, maxwell *s)
{
    s->present++;
    maxwell_set_wavelength(bn_sim_case(sim), s, maxwell_wavelength(s, s->present));
    maxwell_set_tables(s);
    return maxwell_begin_wavelength(sim, s);
}

/* What is due after a step: the wavelength ends when it has converged, or in a sweep when its steps are used up; after
 * the last one so does the run. */
static bn_status look_for_end(bn_sim *sim, maxwell *s, bool converged, bn_step *out)
{
    const bool sweep = s->wavelengths > 1, used_up = sweep && s->since >= (unsigned long long)s->most_steps;
    if (!converged && !used_up)
        return BN_OK;
    if (!s->imported)
        BN_TRY(enter_wavelength(sim, s, converged));
    if (s->present + 1 < s->wavelengths)
        return next_wavelength(sim, s);
    out->converged = converged && maxwell_unconverged(s) == 0;
    out->complete = !out->converged;
    return BN_OK;
}

/* The first value of E that is too large or not finite. */
typedef struct runaway {
    double most;
    bool found;
    size_t at[3];
} runaway;

static bn_status look_for_runaway(void *user, int component, const bn_region *r, const void *read)
{
    const double *values = read;
    runaway *w = user;
    (void)component;
    for (size_t i = 0; i < bn_region_points(r) && !w->found; i++) {
        const double re = values[2 * i], im = values[2 * i + 1];
        if (isfinite(re) && isfinite(im) && hypot(re, im) <= w->most)
            continue;
        w->found = true;
        bn_region_place(r, i, w->at);
    }
    return BN_OK;
}

/* BN_DIVERGED with the first cell where it shows. */
static bn_status diverged(bn_sim *sim, const maxwell *s)
{
    runaway w = { .most = RUNAWAY * s->amplitude };
    BN_TRY(bn_sim_update_outputs(sim));
    BN_TRY(bn_field_visit(s->E, BN_AS_DOUBLES, look_for_runaway, &w));
    return bn_fail(
        bn_sim_context(sim), BN_DIVERGED,
        "the iteration diverges: |E| reaches %g V/m, first in cell (%zu, %zu, %zu), %s; a material with little "
        "loss and a permittivity between -1 and 1 does that, or solver.courant above 1",
        sqrt(s->size), w.at[0], w.at[1], w.at[2],
        s->material[s->cell[(w.at[2] * s->n[1] + w.at[1]) * s->n[0] + w.at[0]]].name);
}

bn_status maxwell_report(bn_sim *sim, maxwell *s, bool watched, bn_step *out)
{
    *out = (bn_step){ .dt = s->courant / sqrt(3.0) * s->h / 299792458.0, .residual = s->residual };
    const bool full = maxwell_ramp(s) >= 1;
    s->since++;
    out->series[0] = s->t.wavelength;
    out->series[1] = s->size > 0 ? sqrt(s->size) : 0;
    if (!watched)
        return look_for_end(sim, s, false, out);
    if (!isfinite(s->change) || !isfinite(s->size) || s->size > RUNAWAY * RUNAWAY * s->amplitude * s->amplitude)
        return diverged(sim, s);
    s->residual = out->residual = s->size > 0 ? sqrt(s->change / s->size) : 1;
    return look_for_end(sim, s, full && out->residual < s->epsilon, out);
}

bn_status maxwell_serialize(bn_sim *sim, void *state, bn_checkpoint_state *k)
{
    maxwell *s = state;
    unsigned long long counts[3] = { (unsigned long long)s->present, s->since, (unsigned long long)s->spectrum_rows };
    double reals[3] = { s->residual, s->change, s->size };
    BN_TRY(bn_state_counts(k, "counts", counts, 3));
    BN_TRY(bn_state_reals(k, "residual", reals, 3));
    BN_TRY(bn_state_reals(k, "spectrum", s->spectrum, (size_t)(s->wavelengths * s->spectrum_columns)));
    BN_TRY(bn_state_reals(k, "ends", s->ends, (size_t)(s->wavelengths * MAXWELL_ENDS)));
    s->since = counts[1];
    s->spectrum_rows = (int)counts[2];
    s->residual = reals[0];
    s->change = reals[1];
    s->size = reals[2];
    if ((int)counts[0] == s->present)
        return BN_OK;
    s->present = (int)counts[0];
    maxwell_set_wavelength(bn_sim_case(sim), s, maxwell_wavelength(s, s->present));
    maxwell_set_tables(s);
    return BN_OK;
}

static bn_status resume(bn_sim *sim, void *state)
{
    (void)sim;
    return rewrite_tables(state);
}

const bn_engine maxwell_device = {
    .name = "opencl", .setup = setup, .step = step, .teardown = teardown, .update_outputs = update_outputs, .resume = resume
};
