/* bpm_step.c: a step of the simulation is many steps along z; the same frame for both engines, and the device's part.
 */
#include "bpm.h"

#include <math.h>

/* The next section's matrix. With TM it is scaled differently, and the field with it: the amplitude of the power goes
 * on, so H has a step where the index has one. */
static bn_status enter_section(bn_sim *sim, bpm *s, const bpm_marcher *marcher)
{
    s->section_begin = s->done;
    if (s->method == BPM_FFT)
        return bpm_fft_section(sim, s, s->done);
    if (s->space) {
        bpm_make_space_section(s, s->done);
        return marcher->section(sim, s);
    }
    const bool scaled = s->tm && s->done > 0;
    if (scaled)
        BN_TRY(bpm_fetch(s));
    bpm_make_section(s, s->done);
    if (scaled)
        BN_TRY(bpm_put(s));
    return marcher->section(sim, s);
}

bn_status bpm_serialize(bn_sim *sim, void *state, bn_checkpoint_state *k)
{
    bpm *s = state;
    const size_t columns = sizeof *s->record / sizeof(double);
    unsigned long long counts[] = { s->done,    s->section_begin, s->section_end,
                                    s->records, s->relaxing,      (unsigned long long)s->relax_stage };
    double reals[] = { s->relax_index,    s->relax_change,  s->reference, s->theory[0],
                       s->start_power[0], s->mode_power[0], s->n_eff[0] };
    _Static_assert(sizeof *s->record % sizeof(double) == 0, "a record is all numbers");
    BN_TRY(bn_state_same(k, "output.map", s->map != NULL));
    BN_TRY(bn_state_counts(k, "counts", counts, sizeof counts / sizeof *counts));
    BN_TRY(bn_state_reals(k, "reals", reals, sizeof reals / sizeof *reals));
    s->done = (size_t)counts[0];
    s->section_begin = (size_t)counts[1];
    s->section_end = (size_t)counts[2];
    s->records = (size_t)counts[3];
    s->relaxing = counts[4] != 0;
    s->relax_stage = (int)counts[5];
    s->relax_index = reals[0];
    s->relax_change = reals[1];
    s->reference = reals[2];
    s->theory[0] = reals[3];
    s->start_power[0] = reals[4];
    s->mode_power[0] = reals[5];
    s->n_eff[0] = reals[6];
    if (s->records > s->room)
        return bn_fail(bn_sim_context(sim), BN_IO, "the checkpoint has %zu records, the case has %zu", s->records,
                       s->room);
    BN_TRY(bn_state_reals(k, "records", &s->record[0].z, s->records * columns));
    if (s->map)
        BN_TRY(bn_state_reals(k, "map", s->map, s->records * s->map_n));
    return BN_OK;
}

bn_status bpm_take_up(bn_sim *sim, bpm *s, const bpm_marcher *marcher)
{
    const size_t end = s->section_end;
    if (s->relaxing)
        return BN_OK;
    /* psi is scaled as its section asks for; at z = 0 none has been entered yet. */
    if (s->method == BPM_FFT) {
        if (end > 0)
            BN_TRY(bpm_fft_section(sim, s, s->section_begin));
    } else {
        (s->space ? bpm_make_space_section : bpm_make_section)(s, s->section_begin);
        BN_TRY(marcher->section(sim, s));
    }
    s->section_end = end;
    return BN_OK;
}

bn_status bpm_advance(bn_sim *sim, bpm *s, const bpm_marcher *marcher, bn_step *out)
{
    if (s->relaxing)
        return bpm_relax(sim, s, marcher, out);
    const size_t before = s->done;
    size_t end = s->done + s->per_record;
    end = end < s->steps ? end : s->steps;
    while (s->done < end) {
        if (s->done >= s->section_end)
            BN_TRY(enter_section(sim, s, marcher));
        const size_t stop = end < s->section_end ? end : s->section_end;
        BN_TRY(marcher->march(sim, s, s->done, stop - s->done, stop == end));
        s->done = stop;
    }
    BN_TRY(bpm_keep_record(sim, s));
    const bpm_state *now = &s->record[s->records - 1];
    if (!isfinite(now->power) || now->power > 1e6)
        return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                       "the field grows without bound; try a smaller march.dz (now %g m)", s->dz);
    *out = (bn_step){ .dt = (double)(s->done - before) * s->dz,
                      .residual = (double)NAN,
                      .complete = s->done >= s->steps };
    out->series[0] = now->power;
    out->series[1] = now->start;
    out->series[2] = now->mirror;
    out->series[3] = now->mode;
    out->series[4] = now->centre;
    out->series[5] = now->width;
    out->series[6] = s->n_eff[0]; /* in space */
    return BN_OK;
}

/* --- in space: lines along x are rows of one grid, lines along y of another, which is the first one turned --- */

/* Lines along x are rows of the simulation's own grid. */
static bn_status setup_axis(bn_sim *sim, bpm *s, int d)
{
    static const bn_kernel_desc line = { "bpm_line", BN_PER_ROW, { .reads = 5, .writes = 2, .flops = 60 } };
    bpm_axis *a = &s->axis[d];
    if (d == 1) {
        BN_TRY(bn_domain_transposed(bn_sim_domain(sim), &a->domain));
        BN_TRY(bn_field_create(a->domain, &(bn_field_desc){ .name = "psi of lines", .type = BN_T_REAL2 }, &a->psi));
        BN_TRY(bn_field_create(a->domain, &(bn_field_desc){ .name = "work of lines", .type = BN_T_REAL2 }, &a->work));
    } else {
        a->domain = bn_sim_domain(sim);
        a->psi = s->psi;
        a->work = s->work;
    }
    const bn_define defines[] = { { "CHUNK", BN_DEF_INT, { .i = a->chunk } },
                                  { "CHUNKS", BN_DEF_INT, { .i = a->chunks } },
                                  { "LOSSY", BN_DEF_INT, { .i = s->lossy } },
                                  { "METHOD", BN_DEF_INT, { .i = 2 } } };
    BN_TRY(bn_program_build(a->domain, "bpm", defines, sizeof defines / sizeof *defines, &a->program));
    BN_TRY(bn_kernel_find(a->program, &line, &a->line));
    BN_TRY(bn_field_create(a->domain, &(bn_field_desc){ .name = "r of lines", .type = BN_T_REAL2 }, &a->r_field));
    return bn_field_create(
        a->domain, &(bn_field_desc){ .name = "v of lines", .type = s->lossy ? BN_T_REAL2 : BN_T_REAL }, &a->v_field);
}

static void teardown_axis(bpm_axis *a, int d)
{
    bn_program_destroy(&a->program);
    bn_field_destroy(&a->r_field);
    bn_field_destroy(&a->v_field);
    if (d == 1) {
        bn_field_destroy(&a->work);
        bn_field_destroy(&a->psi);
        bn_domain_destroy(&a->domain);
    }
}

typedef enum bpm_turn { STAYS, TRANSPOSED, BOTH } bpm_turn; /* where a result is stored; see kernels/bpm.cl */

/* `count` half steps along the lines of direction d. */
static bn_status run_lines(const bpm *s, int d, int count, bpm_turn turn)
{
    const bpm_axis *a = &s->axis[d];
    const bn_arg here = BN_UPDATE(a->psi), there = BN_WRITE_TRANSPOSED(s->axis[!d].psi);
    return BN_RUN(a->line, here, BN_READ(a->r_field, 0), BN_READ(a->v_field, 0), BN_UPDATE(a->work),
                  turn == STAYS ? here : there, BN_I32V(turn), BN_REALV(s->factor[0]), BN_REALV(s->factor[1]),
                  BN_I32V(a->reach), BN_I32V(count));
}

/* x, y y, x x, ..., and the last one alone. The field stays with the lines that the next step begins with; when it is
 * looked at it is with those along x, too. */
static bn_status march_space(const bpm *s, size_t first, size_t steps, bool look)
{
    int d = bpm_begins_along_y(first);
    BN_TRY(run_lines(s, d, 1, TRANSPOSED));
    d = !d;
    for (size_t k = 1; k < steps; k++, d = !d)
        BN_TRY(run_lines(s, d, 2, TRANSPOSED));
    return run_lines(s, d, 1, look && d == 1 ? BOTH : STAYS);
}

typedef struct lines {
    bpm *s;
    int d;
} lines;

static bn_status make_lines(void *user, uint32_t first, uint32_t count, double *const *values)
{
    const lines *l = user;
    bpm_space_lines(l->s, l->d, first, count, values[0], values[1]);
    return BN_OK;
}

static bn_status section_of_lines(bn_sim *sim, bpm *s, int d)
{
    bpm_axis *a = &s->axis[d];
    lines l = { s, d };
    const bn_row_band rows[] = { { a->r_field, false, true }, { a->v_field, false, true } };
    BN_TRY(bn_field_row_bands(rows, 2, false, make_lines, &l));
    double reach = a->reach; /* of the lines that were made here */
    bn_context_agree(bn_sim_context(sim), &reach, 1);
    a->reach = (int)reach;
    return BN_OK;
}

static bn_status section(bn_sim *sim, bpm *s)
{
    const size_t points = (size_t)s->n * s->rows;
    for (int d = 0; s->space && d < 2; d++)
        BN_TRY(section_of_lines(sim, s, d));
    if (s->space)
        return BN_OK;
    BN_TRY(bn_field_set(s->r_field, s->r, 2 * points));
    return bn_field_set(s->v_field, s->v, (s->lossy ? 2 : 1) * points);
}

static bn_status setup_fft(bn_sim *sim, bpm *s)
{
    static const bn_kernel_desc times = { "bpm_times", BN_PER_CELL, { .reads = 4, .writes = 2, .flops = 6 } };
    const bn_define defines[] = { { "METHOD", BN_DEF_INT, { .i = 3 } }, { "LOSSY", BN_DEF_INT, { .i = 0 } } };
    bn_domain *d = bn_sim_domain(sim);
    BN_TRY(bn_program_build(d, "bpm", defines, sizeof defines / sizeof *defines, &s->own_program));
    BN_TRY(bn_kernel_find(s->own_program, &times, &s->times));
    BN_TRY(bn_fft_create(d, BN_FFT_COMPLEX, &s->fft));
    return s->space ? bpm_begin(sim, s) : BN_OK;
}

static bn_status times_field(bn_sim *sim, bpm *s, bn_field *field, bn_field *by)
{
    (void)sim;
    return BN_RUN(s->times, BN_UPDATE(field), BN_READ(by, 0));
}

static bn_status setup(bn_sim *sim, void *state)
{
    bpm *s = state;
    bn_domain *d = bn_sim_domain(sim);
    if (s->method == BPM_FFT)
        return setup_fft(sim, s);
    if (s->space) {
        for (int k = 0; k < 2; k++)
            BN_TRY(setup_axis(sim, s, k));
        return bpm_begin(sim, s);
    }
    s->march = bn_sim_kernel(sim, "bpm_march");
    return bn_device_array_reals(d, "factors", s->factor, 2 * s->beams, &s->factors);
}

static void teardown(void *state)
{
    bpm *s = state;
    for (int d = 1; d >= 0; d--)
        teardown_axis(&s->axis[d], d);
    bn_fft_destroy(&s->fft);
    bn_program_destroy(&s->own_program);
    bn_device_array_destroy(&s->factors);
}

static bn_status march(bn_sim *sim, bpm *s, size_t first, size_t steps, bool look)
{
    if (s->method == BPM_FFT)
        return bpm_fft_march(sim, s, steps, times_field);
    if (s->space)
        return march_space(s, first, steps, look);
    bn_kernel_repeats(s->march, (double)steps);
    return BN_RUN(s->march, BN_UPDATE(s->psi), BN_READ(s->r_field, 0), BN_READ(s->v_field, 0), BN_UPDATE(s->work),
                  BN_ARRAY(s->factors), BN_I32V(s->reach), BN_I32V((int32_t)steps));
}

static const bpm_marcher marcher = { section, march };

static bn_status step(bn_sim *sim, void *state, bn_step *out) { return bpm_advance(sim, state, &marcher, out); }

/* Checkpoints have the field along x; a step that begins along y needs it there: no half step, but turned. */
static bn_status resume(bn_sim *sim, void *state)
{
    const bpm *s = state;
    BN_TRY(bpm_take_up(sim, state, &marcher));
    if (!s->space || s->method == BPM_FFT || s->relaxing || !bpm_begins_along_y(s->done))
        return BN_OK;
    return run_lines(s, 0, 0, TRANSPOSED);
}

const bn_engine bpm_device = { .name = "opencl",
                               .setup = setup,
                               .step = step,
                               .teardown = teardown,
                               .update_outputs = bpm_update_outputs,
                               .resume = resume };
