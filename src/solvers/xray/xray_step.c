/* xray_step.c: a batch of photons on a device, and what both engines report. */
#include "xray.h"

#include <math.h>
#include <stdlib.h>

/* Photons of the first launch, when it is not known how long it takes, and how many times as many the next may have. */
enum { XRAY_FIRST_LAUNCH = 1 << 14, XRAY_LAUNCH_GROWTH = 16 };
static const double XRAY_LAUNCH_SECONDS = 0.25;

/* Values of n[0] * n[1] * n[2] cells or blocks with the axis of the slabs as the slowest: slab_index of
 * kernels/lib/ray.h. */
static const double *transposed(const xray *s, const double *values, const uint32_t n[3])
{
    if (!s->slabs.transposed)
        return values;
    const size_t nx = n[0], ny = n[1], nz = n[2];
    for (size_t k = 0; k < nz; k++)
        for (size_t j = 0; j < ny; j++)
            for (size_t i = 0; i < nx; i++)
                s->slabs.transposed[s->slabs.cut == 0 ? (i * nz + k) * ny + j : (j * nz + k) * nx + i] =
                    values[(k * ny + j) * nx + i];
    return s->slabs.transposed;
}

static bn_status make_slabs(bn_domain *d, xray *s)
{
    const xray_volume *v = &s->volume;
    xray_slabs *slabs = &s->slabs;
    const size_t cells = v->box[slabs->cut], blocks = v->blocks[slabs->cut];
    BN_TRY(bn_device_array_slabs(d, "density", transposed(s, v->optical, v->box), cells, xray_cells(v->box) / cells,
                                 (size_t)1 << v->bits[slabs->cut], &s->arrays.optical));
    BN_TRY(bn_device_array_slabs(d, "majorants", transposed(s, v->majorant, v->blocks), blocks,
                                 xray_cells(v->blocks) / blocks, 1, &s->arrays.majorant));
    BN_TRY(bn_device_array_counters(d, "tallies", XRAY_TALLIES * xray_detector_cells(s), &slabs->tallies));
    return bn_migrating_particles_create(d, "migrating photons", slabs->words, slabs->room, &slabs->migrating);
}

static bn_status make_whole(bn_domain *d, xray *s)
{
    const xray_volume *v = &s->volume;
    bn_kernel_layers(s->trace, s->config.layers);
    BN_TRY(bn_device_array_reals(d, "density", v->optical, xray_cells(v->box), &s->arrays.optical));
    return bn_device_array_reals(d, "majorants", v->majorant, xray_cells(v->blocks), &s->arrays.majorant);
}

static bn_status setup(bn_sim *sim, void *state)
{
    xray *s = state;
    xray_arrays *a = &s->arrays;
    bn_domain *d = bn_sim_domain(sim);
    const size_t cells = xray_detector_cells(s), angles = ((size_t)1 << XRAY_ANGLE_BITS) + 1;
    s->trace = bn_sim_kernel(sim, "xray_trace");
    s->slabs.trace = bn_sim_kernel(sim, "xray_trace_slab");
    s->slabs.collect = bn_sim_kernel(sim, "xray_collect_tallies");
    s->gather = bn_sim_kernel(sim, "xray_gather");
    BN_TRY(s->slabs.used ? make_slabs(d, s) : make_whole(d, s));
    BN_TRY(bn_device_array_integers(d, "directions", s->detector.directions, 4 * cells, &a->directions));
    BN_TRY(bn_device_array_reals(d, "scattering angles", s->detector.angle, angles, &a->angle));
    BN_TRY(bn_device_array_counters(d, "detector", 4 * cells, &a->image));
    BN_TRY(bn_device_array_counters(d, "volume", xray_counters(s), &a->volume));
    return xray_against_fft(s) ? xray_fourier(sim, s) : BN_OK;
}

static void teardown(void *state)
{
    xray *s = state;
    bn_device_array_destroy(&s->arrays.optical);
    bn_device_array_destroy(&s->arrays.majorant);
    bn_device_array_destroy(&s->arrays.directions);
    bn_device_array_destroy(&s->arrays.angle);
    bn_device_array_destroy(&s->arrays.image);
    bn_device_array_destroy(&s->arrays.volume);
    bn_device_array_destroy(&s->slabs.tallies);
    bn_migrating_particles_destroy(&s->slabs.migrating);
}

static uint32_t low(uint64_t n) { return (uint32_t)n; }
static uint32_t high(uint64_t n) { return (uint32_t)(n >> 32); }

static bn_status gather_volume(bn_sim *sim, xray *s)
{
    const size_t count = xray_counters(s), cells = xray_cells(s->volume.box);
    int64_t *counted = calloc(count, sizeof *counted);
    bn_status st = counted ? BN_OK : bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the tally in the volume");
    BN_GO(bn_device_array_take(s->arrays.volume, counted, count));
    for (size_t i = cells; i < count; i++)
        counted[i % cells] += counted[i];
    BN_GO(xray_gather_volume(sim, s, counted));
out:
    free(counted);
    return st;
}

/* Adds what the photons have deposited since the last call to the sums. */
static bn_status update_outputs(bn_sim *sim, void *state)
{
    xray *s = state;
    const bool fresh = s->fresh;
    s->fresh = false;
    if (s->config.volume)
        BN_TRY(gather_volume(sim, s));
    if (s->slabs.used)
        BN_TRY(BN_RUN(s->slabs.collect, BN_COUNTERS(s->slabs.tallies), BN_UPDATE(s->fields.tallies)));
    return BN_RUN(s->gather, BN_COUNTERS(s->arrays.image), BN_UPDATE(s->fields.sums), BN_UPDATE(s->fields.past),
                  BN_UPDATE(s->fields.amplitude), BN_WRITE(s->fields.intensity), BN_WRITE(s->fields.log_intensity),
                  BN_WRITE(s->fields.photons), BN_I32V(fresh));
}

/* Traces the photons begin ... end - 1 of a batch in one launch. What they add are integers, and the cell that has
 * their tallies follows from their numbers: the result does not depend on how a batch is divided into launches. */
static bn_status launch(xray *s, const xray_batch *b, uint64_t begin, uint64_t end)
{
    const uint64_t cells = (uint64_t)s->config.cells[0] * s->config.cells[1],
                   first = begin - (begin - b->first) % cells;
    const uint32_t rounds = (uint32_t)((end - first + cells - 1) / cells),
                   layers = s->config.layers < rounds ? s->config.layers : rounds;
    if (!s->slabs.used) {
        bn_kernel_repeats(s->trace, (double)(end - begin) / (double)cells);
        return BN_RUN(s->trace, BN_ARRAY(s->arrays.optical), BN_ARRAY(s->arrays.majorant),
                      BN_ARRAY(s->arrays.directions), BN_ARRAY(s->arrays.angle), BN_ARRAY(s->arrays.image),
                      BN_ARRAY(s->arrays.volume), BN_UPDATE(s->fields.tallies), BN_U32V(low(first)),
                      BN_U32V(high(first)), BN_U32V(low(begin)), BN_U32V(high(begin)), BN_U32V(low(end)),
                      BN_U32V(high(end)), BN_U32V(rounds), BN_U32V(layers));
    }
    return BN_MIGRATION(s->slabs.trace, BN_ARRAY(s->arrays.optical), BN_ARRAY(s->arrays.majorant),
                        BN_ARRAY(s->arrays.directions), BN_ARRAY(s->arrays.angle), BN_ARRAY(s->arrays.image),
                        BN_ARRAY(s->arrays.volume), BN_ARRAY(s->slabs.tallies), BN_MIGRATING(s->slabs.migrating),
                        BN_FIRST_PLANE(s->arrays.majorant), BN_END_PLANE(s->arrays.majorant), BN_U32V(low(first)),
                        BN_U32V(high(first)), BN_U32V(low(begin)), BN_U32V(high(begin)), BN_U32V(low(end)),
                        BN_U32V(high(end)), BN_U32V(rounds), BN_U32V(layers));
}

/* Waits for photons that were launched at `start`, and sets how many the next launch traces. */
static bn_status measure_pace(bn_sim *sim, xray *s, uint64_t photons, double start)
{
    BN_TRY(bn_domain_finish(bn_sim_domain(sim)));
    double took = bn_seconds_now() - start;
    bn_context_agree(bn_sim_context(sim), &took, 1); /* all ranks trace as many */
    const double wanted = took > 0 ? (double)photons * XRAY_LAUNCH_SECONDS / took : HUGE_VAL;
    if (2 * (double)photons >= s->per_launch) /* fewer, the last ones of a batch, say little */
        s->per_launch = fmin(fmax(wanted, 1024), XRAY_LAUNCH_GROWTH * s->per_launch);
    return BN_OK;
}

/* Traces the batch: in one launch where that is short, without waiting for it; else in launches that are waited for, so
 * that a run can end between them. */
static bn_status trace(bn_sim *sim, xray *s, const xray_batch *b, bool *unfinished)
{
    s->traced = b->begin;
    s->per_launch = s->per_launch > 0 ? s->per_launch : XRAY_FIRST_LAUNCH;
    while (s->traced < b->end) {
        const uint64_t begin = s->traced, left = b->end - begin;
        const bool whole = (double)left <= s->per_launch, alone = whole && begin == b->first;
        const uint64_t count = whole ? left : (uint64_t)s->per_launch;
        const double start = bn_seconds_now();
        BN_TRY(launch(s, b, begin, begin + count));
        s->traced = begin + count;
        if (!alone)
            BN_TRY(measure_pace(sim, s, count, start));
        if (s->traced < b->end && bn_sim_asked_to_end(sim)) {
            *unfinished = true;
            return BN_OK;
        }
    }
    return BN_OK;
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    xray *s = state;
    const xray_batch b = xray_next_batch(s, bn_sim_steps(sim));
    const xray_volume *v = &s->volume;
    if (v->frames > 0) {
        xray_density_at(s, b.time);
        BN_TRY(bn_device_array_rewrite(s->arrays.optical, transposed(s, v->optical, v->box), xray_cells(v->box)));
        BN_TRY(
            bn_device_array_rewrite(s->arrays.majorant, transposed(s, v->majorant, v->blocks), xray_cells(v->blocks)));
    }
    if (b.fresh) {
        BN_TRY(update_outputs(sim, s));
        s->fresh = true;
    }
    bool unfinished = false;
    BN_TRY(trace(sim, s, &b, &unfinished));
    if (xray_against_curve(s) && !bn_sim_is_quiet(sim))
        BN_TRY(update_outputs(sim, s));
    BN_TRY(xray_report(sim, s, &b, out));
    out->unfinished = unfinished;
    return BN_OK;
}

xray_batch xray_next_batch(const xray *s, unsigned long long step)
{
    const uint64_t batch = (uint64_t)s->config.rounds * s->config.cells[0] * s->config.cells[1];
    xray_batch b = { .first = step * batch };
    b.first = b.first < s->config.photons ? b.first : s->config.photons;
    b.end = s->config.photons - b.first > batch ? b.first + batch : s->config.photons;
    b.begin = s->traced > b.first && s->traced < b.end ? s->traced : b.first;
    b.time = s->config.pulse[0] + (s->config.pulse[1] - s->config.pulse[0]) * 0.5 * ((double)b.first + (double)b.end) /
                                      (double)s->config.photons;
    b.fresh = s->config.coherent_steps > 0 && b.begin == b.first && step > 0 &&
              step % (unsigned long long)s->config.coherent_steps == 0;
    return b;
}

bn_status xray_report(bn_sim *sim, const xray *s, const xray_batch *b, bn_step *out)
{
    *out = (bn_step){ .dt = 1,
                      .residual = (double)NAN,
                      .complete = s->traced == s->config.photons,
                      .updates = (double)(s->traced - b->first) };
    out->series[0] = (double)s->traced;
    out->series[1] = (double)NAN;
    return xray_against_curve(s) && !bn_sim_is_quiet(sim) ? xray_cut_error(sim, s, &out->series[1]) : BN_OK;
}

const bn_engine xray_device = {
    .name = "opencl", .setup = setup, .step = step, .update_outputs = update_outputs, .teardown = teardown
};
