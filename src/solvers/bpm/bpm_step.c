/* bpm_step.c: a step of the simulation is many steps along z; the same frame for both engines and all methods. */
#include "bpm.h"

#include <math.h>

/* Counts the iterations in kernels/bpm.cl of a work-item that takes all chunks of so many lines, and stores them
 * transposed; a loop of n has n + 1, with the one that ends it. */
bn_status bpm_launch_steps(const bpm_axis *a, int lines, size_t wish, size_t *steps)
{
    const double chunks = a->chunks, node_loop = a->chunk + 1, carry_loop = a->reach + 1;
    const double once = a->n + 4 + (chunks + 1) * (node_loop + 1);
    const double each = 4 + chunks * (4 * node_loop + 2 * carry_loop + 3);
    return bn_kernel_rounds(a->kernel, lines * once, lines * each, wish, steps);
}

bn_status bpm_setup(bn_sim *sim, bpm *s, const bpm_methods *methods)
{
    (void)sim;
    s->method = s->c.solver == BPM_FFT ? methods->fft : s->c.axes == 2 ? methods->space : methods->plane;
    s->space.sum_rows = methods->sum_rows;
    if (s->method->setup)
        BN_TRY(s->method->setup(sim, s));
    if (s->method->prepare)
        s->method->prepare(s, 0); /* psi is launched in its scaling */
    s->section_end = 0;
    BN_TRY(s->geometry->launch(s));
    return s->space.relaxing ? BN_OK : bpm_add_record(s);
}

void bpm_teardown(void *state)
{
    bpm *s = state;
    if (s->method)
        s->method->teardown(s);
    bpm_row_sums_destroy(s);
}

bn_status bpm_update_outputs(bn_sim *sim, void *state)
{
    bpm *s = state;
    (void)sim;
    return s->geometry->update_outputs(s);
}

/* Steps along z at first without an answer, how many times as many the next time at most, and how long they may take.
 */
enum { BPM_FIRST_PIECE = 16, BPM_PIECE_GROWTH = 8 };
static const double BPM_PIECE_SECONDS = 0.25;

/* On to step `stop`, of one section: at once where that is short, else in pieces that are waited for, so that a run can
 * end between them. The bits are the same: psi is stored with the lines along x too behind every piece. */
static bn_status propagate(bn_sim *sim, bpm *s, size_t stop, bool observed, bool *unfinished)
{
    s->per_piece = s->per_piece > 0 ? s->per_piece : BPM_FIRST_PIECE;
    while (s->done < stop) {
        const size_t left = stop - s->done;
        const bool whole = (double)left <= s->per_piece;
        const size_t count = whole ? left : (size_t)s->per_piece;
        const double start = bn_seconds_now();
        BN_TRY(s->method->propagate(s, &(bpm_steps){ s->done, count, observed || !whole }));
        s->done += count;
        if (whole)
            break;
        BN_TRY(bn_domain_finish(bn_sim_domain(sim)));
        double took = bn_seconds_now() - start;
        bn_context_agree(bn_sim_context(sim), &took, 1); /* all ranks take as many */
        const double wanted = took > 0 ? (double)count * BPM_PIECE_SECONDS / took : HUGE_VAL;
        s->per_piece = fmin(fmax(floor(wanted), 1), BPM_PIECE_GROWTH * s->per_piece);
        if (bn_sim_asked_to_end(sim)) {
            *unfinished = true;
            break;
        }
    }
    return BN_OK;
}

bn_status bpm_step(bn_sim *sim, void *state, bn_step *out)
{
    bpm *s = state;
    if (s->space.relaxing)
        return bpm_relax(sim, s, out);
    const size_t before = s->done - s->done % s->c.per_record; /* the step may have begun before an interruption */
    size_t end = before + s->c.per_record;
    end = end < s->c.steps ? end : s->c.steps;
    while (s->done < end) {
        if (s->done >= s->section_end) {
            s->section_begin = s->done;
            BN_TRY(s->method->section(sim, s, true));
        }
        const size_t stop = end < s->section_end ? end : s->section_end;
        bool unfinished = false;
        BN_TRY(propagate(sim, s, stop, stop == end, &unfinished));
        if (unfinished) {
            *out = (bn_step){ .residual = (double)NAN, .unfinished = true };
            return BN_OK;
        }
    }
    BN_TRY(bpm_add_record(s));
    const bpm_record *now = &s->history.record[s->history.records - 1];
    if (!isfinite(now->power))
        BN_TRY(bpm_check_meetings(s));
    if (!isfinite(now->power) || now->power > 1e6)
        return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                       "the field grows without bound; try a smaller march.dz (now %g m)", s->c.dz);
    const double points = (double)bn_domain_points(bn_sim_domain(sim)), steps = (double)(s->done - before);
    *out = (bn_step){
        .dt = steps * s->c.dz, .residual = (double)NAN, .updates = steps * points, .complete = s->done >= s->c.steps
    };
    out->series[0] = now->power;
    out->series[1] = now->start;
    out->series[2] = now->mirror;
    out->series[3] = now->mode;
    out->series[4] = now->centre;
    out->series[5] = now->width;
    out->series[6] = s->beam[0].n_eff; /* a column in space alone */
    return BN_OK;
}

bn_status bpm_serialize(bn_sim *sim, void *state, bn_checkpoint_state *k)
{
    bpm *s = state;
    bpm_space *space = &s->space;
    bpm_history *history = &s->history;
    bpm_beam *beam = s->beam;
    const size_t columns = sizeof *history->record / sizeof(double);
    unsigned long long counts[] = { s->done,          s->section_begin, s->section_end,
                                    history->records, space->relaxing,  (unsigned long long)space->relax_stage };
    double reals[] = { space->relax_index, space->relax_change, s->c.reference, beam->phase,
                       beam->start_power,  beam->mode_power,    beam->n_eff };
    _Static_assert(sizeof *history->record % sizeof(double) == 0, "a record is all numbers");
    BN_TRY(bn_state_same(k, "output.map", history->map != NULL));
    BN_TRY(bn_state_counts(k, "counts", counts, sizeof counts / sizeof *counts));
    BN_TRY(bn_state_reals(k, "reals", reals, sizeof reals / sizeof *reals));
    s->done = (size_t)counts[0];
    s->section_begin = (size_t)counts[1];
    s->section_end = (size_t)counts[2];
    history->records = (size_t)counts[3];
    space->relaxing = counts[4] != 0;
    space->relax_stage = (int)counts[5];
    space->relax_index = reals[0];
    space->relax_change = reals[1];
    s->c.reference = reals[2];
    beam->phase = reals[3];
    beam->start_power = reals[4];
    beam->mode_power = reals[5];
    beam->n_eff = reals[6];
    if (history->records > history->capacity)
        return bn_fail(bn_sim_context(sim), BN_IO, "the checkpoint has %zu records, the case has %zu", history->records,
                       history->capacity);
    BN_TRY(bn_state_reals(k, "records", &history->record->z, history->records * columns));
    if (history->map)
        BN_TRY(bn_state_reals(k, "map", history->map, history->records * history->map_n));
    return BN_OK;
}

/* A checkpoint has psi in the scaling of its section. While a mode is sought every step makes its own section. */
bn_status bpm_resume(bn_sim *sim, void *state)
{
    bpm *s = state;
    const size_t end = s->section_end;
    if (s->space.relaxing)
        return BN_OK;
    BN_TRY(s->method->section(sim, s, false));
    s->section_end = end; /* 0: at z = 0 no section has been entered yet */
    return BN_OK;
}

static bn_status setup(bn_sim *sim, void *state)
{
    static const bpm_methods methods = { &bpm_plane_method, &bpm_space_method, &bpm_fft_method, bpm_sum_rows };
    if (((bpm *)state)->c.axes == 2)
        BN_TRY(bpm_row_sums_create(sim, state));
    return bpm_setup(sim, state, &methods);
}

const bn_engine bpm_device = { .name = "opencl",
                               .setup = setup,
                               .step = bpm_step,
                               .teardown = bpm_teardown,
                               .update_outputs = bpm_update_outputs,
                               .resume = bpm_resume };
