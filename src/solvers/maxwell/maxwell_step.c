/* maxwell_step.c: the iteration on a device, and what both engines report. */
#include "maxwell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* |E| above this many times the incident field counts as growing without bound. */
#define RUNAWAY 1e6
enum { CELLS_A_GROUP = 128 }; /* of the kernel of small grids */
/* Iterations that one launch does at most: they take longer than the host takes for as many steps and a launch. */
enum { MOST_ITERATIONS = 16 };

static bn_status write_light(bn_domain *d, maxwell *s);

/* The tables of the present wavelength on the device. `create`: for the first time. */
static bn_status write_tables(bn_domain *d, maxwell *s, bool create)
{
    static const char *const names[MAXWELL_TABLES] = { "coefficients of E", "coefficients of H", "contrast",
                                                       "incident wave",     "lateral phases",    "magnetic contrast" };
    for (int i = 0; i < MAXWELL_TABLES; i++) {
        const size_t size = maxwell_table_size(&s->model, (maxwell_table)i);
        BN_TRY(create ? bn_device_array_reals(d, names[i], s->model.t.of[i], size, &s->k.table[i])
                      : bn_device_array_rewrite(s->k.table[i], s->model.t.of[i], size));
    }
    return s->k.both ? write_light(d, s) : BN_OK;
}

static bn_status iterate_in_one_launch(maxwell *s, unsigned long long steps, int iterations, bool watched);

/* Largest change and size, and, of launches of `both`, whether work-groups did not meet. */
enum { MAXIMA = 3 };

static size_t most_groups(const maxwell *s)
{
    const uint32_t *n = s->model.n;
    return ((size_t)n[0] * n[1] * n[2] + CELLS_A_GROUP - 1) / CELLS_A_GROUP;
}

/* Whether the work-groups of `both` run side by side. */
static bn_status prove_meeting(bn_sim *sim, maxwell *s)
{
    double maxima[MAXIMA];
    BN_TRY(bn_device_array_meeting(bn_sim_domain(sim), &s->k.meeting));
    if (bn_domain_boxes(bn_sim_domain(sim)) > 1 || !bn_kernel_fits(s->k.both)) {
        s->k.both = NULL;
        return BN_OK;
    }
    bn_kernel_items(s->k.both, CELLS_A_GROUP);
    bn_kernel_side_by_side(s->k.both, most_groups(s));
    BN_TRY(iterate_in_one_launch(s, 0, 0, true));
    BN_TRY(bn_scalars_read(s->k.scalars, maxima, MAXIMA));
    if (maxima[2] != 0) {
        bn_log(bn_sim_context(sim), BN_LOG_WARNING,
               "work-groups do not run side by side as this device's promise has it: H and E take a pass each");
        s->k.both = NULL;
    }
    return BN_OK;
}

static bn_status setup(bn_sim *sim, void *state)
{
    maxwell *s = state;
    bn_domain *d = bn_sim_domain(sim);
    s->k = (maxwell_kernels){
        .H = bn_sim_kernel(sim, "maxwell_H"),
        .E = bn_sim_kernel(sim, "maxwell_E"),
        .H_rows = bn_sim_kernel(sim, "maxwell_H_rows"),
        .E_rows = bn_sim_kernel(sim, "maxwell_E_rows"),
        .E_watched = bn_sim_kernel(sim, "maxwell_E_watched"),
        .fused = bn_sim_kernel(sim, "maxwell_fused"),
        .both = bn_sim_kernel(sim, "maxwell_both"),
        .maxima = bn_sim_kernel(sim, "maxwell_maxima"),
        .norm = bn_sim_kernel(sim, "maxwell_norm"),
    };
    if (s->k.fused && !bn_kernel_fits(s->k.fused))
        bn_log(bn_sim_context(sim), BN_LOG_WARNING,
               "maxwell: this device has no work-groups large enough for one sweep; H and E take a pass each");
    BN_TRY(write_tables(d, s, true));
    BN_TRY(bn_partials_create(d, "largest change", 2, 3, &s->k.partials));
    BN_TRY(bn_scalars_create(d, "maxima", MAXIMA + (s->k.both ? 2 * most_groups(s) : 0), &s->k.scalars));
    if (s->k.both)
        BN_TRY(prove_meeting(sim, s));
    return s->anderson.on ? maxwell_anderson_setup(sim, s) : BN_OK;
}

static void teardown(void *state)
{
    maxwell *s = state;
    for (int i = 0; i < MAXWELL_TABLES; i++)
        bn_device_array_destroy(&s->k.table[i]);
    bn_partials_destroy(&s->k.partials);
    bn_scalars_destroy(&s->k.scalars);
    bn_device_array_destroy(&s->k.meeting);
    bn_device_array_destroy(&s->k.light);
    maxwell_anderson_teardown(s);
}

enum { SOURCE_ARGUMENTS = 6, LIGHT = 8 }; /* kernels/maxwell.cl */

/* The numbers among them in the step after so many; returns how many. */
static size_t light_numbers(const maxwell *s, unsigned long long steps, bool of_H, double numbers[LIGHT])
{
    const maxwell_light *light = &s->model.light;
    const double ramp = maxwell_ramp(&s->model, steps);
    size_t count = 0;
    if (light->volume && (!of_H || s->model.structure.magnetic)) {
        numbers[count++] = ramp * light->amplitude * cos(light->polarisation);
        numbers[count++] = ramp * light->amplitude * sin(light->polarisation);
    } else if (light->current && of_H == light->magnetic) { /* curl H - J, curl E + M in V/m, lengths in cells */
        numbers[count++] = -ramp * (of_H ? 1 : MAXWELL_VACUUM_IMPEDANCE) * s->model.h;
    } else if (!light->volume && !light->current) {
        const cplx *incident = of_H ? s->model.t.e_inc : s->model.t.h_inc;
        for (int i = 0; i < 2; i++) {
            numbers[count++] = ramp * incident[i].re;
            numbers[count++] = ramp * incident[i].im;
        }
    }
    return count;
}

/* Those of H, then of E, for `both`, of all steps of the ramp and one after it. */
static bn_status write_light(bn_domain *d, maxwell *s)
{
    const size_t rows = (size_t)maxwell_steps_of_ramp(&s->model) + 1;
    double *rows_of_light = calloc(rows * LIGHT, sizeof *rows_of_light);
    if (!rows_of_light)
        return bn_fail(bn_domain_context(d), BN_MEMORY, "no memory for the light of %zu steps", rows);
    for (size_t r = 0; r < rows; r++) {
        double *row = rows_of_light + r * LIGHT;
        const size_t of_H = light_numbers(s, r, true, row);
        if (!s->model.light.volume || of_H == 0) /* of a volume source both have the same */
            (void)light_numbers(s, r, false, row + of_H);
    }
    bn_device_array_destroy(&s->k.light);
    const bn_status st = bn_device_array_reals(d, "light", rows_of_light, rows * LIGHT, &s->k.light);
    free(rows_of_light);
    return st;
}

/* The arguments that tell a kernel for H, or one for E, of faces and source: of the incident field beside the source
 * plane, of the volume source, or of currents. H of tiles is that of neighbours, too: it reads them there. */
static size_t source_arguments(const maxwell *s, bool of_H, bn_arg args[SOURCE_ARGUMENTS])
{
    const maxwell_light *light = &s->model.light;
    const bool magnetic = s->model.structure.magnetic;
    double numbers[LIGHT];
    size_t count = 0;
    if (of_H && magnetic)
        args[count++] = (bn_arg)BN_READ_WRAPPED(s->f.faces, 1);
    if (light->volume && (!of_H || magnetic)) {
        args[count++] = (bn_arg)BN_ARRAY(s->k.table[of_H ? MAXWELL_CONTRAST_H : MAXWELL_CONTRAST]);
        args[count++] = (bn_arg)BN_ARRAY(s->k.table[MAXWELL_WAVE]);
    } else if (light->current && of_H == light->magnetic) {
        args[count++] = (bn_arg)BN_READ_WRAPPED(s->f.current, of_H);
    }
    const size_t more = light_numbers(s, s->steps, of_H, numbers);
    for (size_t i = 0; i < more; i++)
        args[count++] = (bn_arg)BN_REALV(numbers[i]);
    if (light->bloch)
        args[count++] = (bn_arg)BN_ARRAY(s->k.table[MAXWELL_LATERAL]);
    return count;
}

/* Runs a kernel with `count` arguments of its own and those of the source behind them. */
static bn_status run(const maxwell *s, bn_kernel *kernel, const bn_arg *own, size_t count, bool of_H)
{
    bn_arg args[16];
    memcpy(args, own, count * sizeof *own);
    return bn_launch(kernel, args, count + source_arguments(s, of_H, args + count));
}

#define RUN_WITH_SOURCE(s, kernel, of_H, ...) \
    run(s, kernel, (const bn_arg[]){ __VA_ARGS__ }, sizeof((const bn_arg[]){ __VA_ARGS__ }) / sizeof(bn_arg), of_H)

/* Of H, then of E; what both have, the wave of the volume source or the lateral phases, comes once, at the end. */
static size_t arguments_of_both(const maxwell *s, bn_arg args[2 * SOURCE_ARGUMENTS])
{
    const size_t both = s->model.light.bloch ? 1 : s->model.light.volume && s->model.structure.magnetic ? 3 : 0;
    const size_t of_H = source_arguments(s, true, args) - both;
    return of_H + source_arguments(s, false, args + of_H);
}

static void swap_buffers(const maxwell_fields *f)
{
    bn_field_swap(f->E, f->E_next);
    bn_field_swap(f->H, f->H_next);
    bn_field_swap(f->part_E, f->part_E_next);
    bn_field_swap(f->part_H, f->part_H_next);
}

/* So many iterations, the first of which is the step after `steps` of them; 0: meetings alone. */
static bn_status iterate_in_one_launch(maxwell *s, unsigned long long steps, int iterations, bool watched)
{
    const maxwell_fields *f = &s->f;
    const maxwell_light *light = &s->model.light;
    const unsigned long long last = maxwell_steps_of_ramp(&s->model);
    size_t count = 18;
    bn_arg args[18 + 2 * SOURCE_ARGUMENTS] = {
        BN_UPDATE(f->E),
        BN_UPDATE(f->H),
        BN_UPDATE(f->part_E),
        BN_UPDATE(f->part_H),
        BN_UPDATE(f->E_next),
        BN_UPDATE(f->H_next),
        BN_UPDATE(f->part_E_next),
        BN_UPDATE(f->part_H_next),
        BN_READ(f->edges, 0),
        BN_ARRAY(s->k.table[MAXWELL_UPDATE_E]),
        BN_ARRAY(s->k.table[MAXWELL_UPDATE_H]),
        BN_ARRAY(s->k.meeting),
        BN_I32V(iterations),
        BN_ARRAY(s->k.light),
        BN_I32V(steps < last ? steps : last),
        BN_I32V(last),
        BN_I32V(watched),
        BN_SCALARS(s->k.scalars),
    };
    if (s->model.structure.magnetic)
        args[count++] = (bn_arg)BN_READ(f->faces, 0);
    if (light->volume && s->model.structure.magnetic)
        args[count++] = (bn_arg)BN_ARRAY(s->k.table[MAXWELL_CONTRAST_H]);
    if (light->volume) {
        args[count++] = (bn_arg)BN_ARRAY(s->k.table[MAXWELL_CONTRAST]);
        args[count++] = (bn_arg)BN_ARRAY(s->k.table[MAXWELL_WAVE]);
    }
    if (light->current)
        args[count++] = (bn_arg)BN_READ(f->current, 0);
    if (light->bloch)
        args[count++] = (bn_arg)BN_ARRAY(s->k.table[MAXWELL_LATERAL]);
    bn_kernel_repeats(s->k.both, iterations);
    BN_TRY(bn_launch(s->k.both, args, count));
    if (iterations % 2 == 1)
        swap_buffers(f);
    return BN_OK;
}

static bn_status launch_put_off(maxwell *s, bool watched)
{
    const int iterations = s->k.put_off;
    s->k.put_off = 0;
    return iterations > 0 ? iterate_in_one_launch(s, s->k.put_off_from, iterations, watched) : BN_OK;
}

bn_status maxwell_catch_up(maxwell *s) { return launch_put_off(s, false); }

static bn_status catch_up(bn_sim *sim, void *state)
{
    (void)sim;
    return maxwell_catch_up(state);
}

/* Steps of small grids wait for others and share a launch with them. */
static bn_status put_off(maxwell *s, bool watched)
{
    if (s->k.put_off++ == 0)
        s->k.put_off_from = s->steps;
    return watched || s->k.put_off == MOST_ITERATIONS ? launch_put_off(s, watched) : BN_OK;
}

/* Both half steps in one sweep, into the other buffers. */
static bn_status step_fused(maxwell *s)
{
    const maxwell_fields *f = &s->f;
    bn_arg args[11 + 2 * SOURCE_ARGUMENTS] = {
        BN_READ_WRAPPED(f->E, 1),
        BN_READ_WRAPPED(f->H, 1),
        BN_READ_WRAPPED(f->part_E, 0),
        BN_READ_WRAPPED(f->part_H, 1),
        BN_READ(f->edges, 0),
        BN_ARRAY(s->k.table[MAXWELL_UPDATE_E]),
        BN_ARRAY(s->k.table[MAXWELL_UPDATE_H]),
        BN_WRITE(f->E_next),
        BN_WRITE(f->H_next),
        BN_WRITE(f->part_E_next),
        BN_WRITE(f->part_H_next),
    };
    BN_TRY(bn_launch(s->k.fused, args, 11 + arguments_of_both(s, args + 11)));
    swap_buffers(f);
    return BN_OK;
}

/* H, then E, a pass over the grid each. */
static bn_status step_two_pass(maxwell *s, bool watched)
{
    const maxwell_fields *f = &s->f;
    const bool rows = s->config.sweep == MAXWELL_ROWS;
    BN_TRY(RUN_WITH_SOURCE(s, rows ? s->k.H_rows : s->k.H, true, BN_READ_WRAPPED_SIDE(f->E, 1, 1),
                           BN_ARRAY(s->k.table[MAXWELL_UPDATE_H]), BN_UPDATE(f->H), BN_UPDATE(f->part_H)));
    if (watched)
        return RUN_WITH_SOURCE(s, s->k.E_watched, false, BN_READ_WRAPPED_SIDE(f->H, 1, -1), BN_READ(f->edges, 0),
                               BN_ARRAY(s->k.table[MAXWELL_UPDATE_E]), BN_UPDATE(f->E), BN_UPDATE(f->part_E),
                               BN_PARTIALS(s->k.partials));
    return RUN_WITH_SOURCE(s, rows ? s->k.E_rows : s->k.E, false, BN_READ_WRAPPED_SIDE(f->H, 1, -1),
                           BN_READ(f->edges, 0), BN_ARRAY(s->k.table[MAXWELL_UPDATE_E]), BN_UPDATE(f->E),
                           BN_UPDATE(f->part_E));
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    maxwell *s = state;
    const bool watched = maxwell_watches(s);
    const int wavelength = s->spectrum.present;
    const bool fused = s->k.fused && bn_kernel_fits(s->k.fused) && !watched;
    BN_TRY(s->k.both ? put_off(s, watched) : fused ? step_fused(s) : step_two_pass(s, watched));
    if (watched) {
        double maxima[MAXIMA];
        if (!s->k.both)
            BN_TRY(BN_RUN(s->k.maxima, BN_TOTALS(s->k.partials), BN_SCALARS(s->k.scalars)));
        BN_TRY(bn_scalars_read(s->k.scalars, maxima, MAXIMA));
        if (s->k.both && maxima[2] != 0)
            return bn_fail(bn_sim_context(sim), BN_DEVICE,
                           "work-groups waited for each other in vain; solver.sweep = \"two-pass\" goes without");
        s->change = maxima[0];
        s->size = maxima[1];
    }
    BN_TRY(maxwell_report(sim, s, watched, out));
    if (s->spectrum.present != wavelength)
        BN_TRY(write_tables(bn_sim_domain(sim), s, false));
    return out->converged || out->complete || !s->anderson.on ? BN_OK : maxwell_anderson_step(s);
}

static bn_status update_outputs(bn_sim *sim, void *state)
{
    maxwell *s = state;
    const maxwell_light *light = &s->model.light;
    (void)sim;
    if (!light->volume)
        return BN_RUN(s->k.norm, BN_READ(s->f.E, 0), BN_WRITE(s->f.norm));
    const double amplitude = maxwell_ramp(&s->model, s->steps) * light->amplitude;
    return BN_RUN(s->k.norm, BN_READ(s->f.E, 0), BN_WRITE(s->f.norm), BN_ARRAY(s->k.table[MAXWELL_WAVE]),
                  BN_REALV(amplitude * cos(light->polarisation)), BN_REALV(amplitude * sin(light->polarisation)));
}

bool maxwell_watches(const maxwell *s) { return (s->steps + 1) % (unsigned long long)s->config.watch_every == 0; }

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
    const maxwell_model *m = &s->model;
    runaway w = { .most = RUNAWAY * m->light.amplitude };
    BN_TRY(bn_sim_update_outputs(sim));
    BN_TRY(bn_field_visit(s->f.E, BN_AS_DOUBLES, look_for_runaway, &w));
    return bn_fail(
        bn_sim_context(sim), BN_DIVERGED,
        "the iteration diverges: |E| reaches %g V/m, first in cell (%zu, %zu, %zu), %s; a material with little "
        "loss and a permittivity or permeability between -1 and 1 does that, or solver.courant above 1",
        sqrt(s->size), w.at[0], w.at[1], w.at[2],
        m->structure.material[m->structure.cell[(w.at[2] * m->n[1] + w.at[1]) * m->n[0] + w.at[0]]].name);
}

bn_status maxwell_report(bn_sim *sim, maxwell *s, bool watched, bn_step *out)
{
    const maxwell_model *m = &s->model;
    *out = (bn_step){ .dt = m->courant / sqrt(3.0) * m->h / 299792458.0, .residual = s->residual };
    const bool full = maxwell_ramp(m, s->steps) >= 1;
    s->steps++;
    out->series[0] = m->t.wavelength;
    out->series[1] = s->size > 0 ? sqrt(s->size) : 0;
    if (!watched)
        return maxwell_end_step(sim, s, false, out);
    if (!isfinite(s->change) || !isfinite(s->size) || /* currents may be as strong as their owner likes */
        (!m->light.current && s->size > RUNAWAY * RUNAWAY * m->light.amplitude * m->light.amplitude))
        return diverged(sim, s);
    s->residual = out->residual = s->size > 0 ? sqrt(s->change / s->size) : 1;
    return maxwell_end_step(sim, s, full && out->residual < s->config.epsilon, out);
}

static bn_status resume(bn_sim *sim, void *state) { return write_tables(bn_sim_domain(sim), state, false); }

const bn_engine maxwell_device = { .name = "opencl",
                                   .setup = setup,
                                   .step = step,
                                   .catch_up = catch_up,
                                   .teardown = teardown,
                                   .update_outputs = update_outputs,
                                   .resume = resume };
