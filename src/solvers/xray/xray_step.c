/* xray_step.c: a batch of photons on a device, and what both engines report. */
#include "xray.h"

#include <math.h>

/* Photons of the first launch, when it is not known how long it takes, and how many times as many the next may have. */
enum { XRAY_FIRST_LAUNCH = 1 << 14, XRAY_LAUNCH_GROWTH = 16 };
static const double XRAY_LAUNCH_SECONDS = 0.25;

/* Numbers of n[0] * n[1] * n[2] cells or blocks with the axis of the cuts as the slowest: kernels/xray.cl, PLACE_IN. */
static const double *turned(const xray *s, const double *values, const uint32_t n[3])
{
    if (!s->turned)
        return values;
    const size_t nx = n[0], ny = n[1], nz = n[2];
    for (size_t k = 0; k < nz; k++)
        for (size_t j = 0; j < ny; j++)
            for (size_t i = 0; i < nx; i++)
                s->turned[s->cut == 0 ? (i * nz + k) * ny + j : (j * nz + k) * nx + i] = values[(k * ny + j) * nx + i];
    return s->turned;
}

static size_t product(const uint32_t n[3]) { return (size_t)n[0] * n[1] * n[2]; }

static bn_status make_slabs(bn_domain *d, xray *s, size_t targets)
{
    const size_t cells = s->box[s->cut], blocks = s->blocks[s->cut];
    BN_TRY(bn_device_array_slabs(d, "density", turned(s, s->optical, s->box), cells, product(s->box) / cells,
                          (size_t)1 << s->bits[s->cut], &s->d_optical));
    BN_TRY(bn_device_array_slabs(d, "majorants", turned(s, s->majorant, s->blocks), blocks, product(s->blocks) / blocks, 1,
                          &s->d_majorant));
    BN_TRY(bn_device_array_counters(d, "lives", XRAY_LIFE * targets, &s->d_lives));
    return bn_migrating_particles_create(d, "photons on their way", s->particle_words, s->particle_room, &s->travellers);
}

static bn_status make_whole(bn_domain *d, xray *s)
{
    bn_kernel_layers(s->fly, s->layers);
    BN_TRY(bn_device_array_reals(d, "density", s->optical, product(s->box), &s->d_optical));
    return bn_device_array_reals(d, "majorants", s->majorant, product(s->blocks), &s->d_majorant);
}

static bn_status setup(bn_sim *sim, void *state)
{
    xray *s = state;
    bn_domain *d = bn_sim_domain(sim);
    const size_t targets = (size_t)s->cells[0] * s->cells[1];
    s->fly = bn_sim_kernel(sim, "xray_fly");
    s->cross = bn_sim_kernel(sim, "xray_cross");
    s->count = bn_sim_kernel(sim, "xray_count");
    s->gather = bn_sim_kernel(sim, "xray_gather");
    BN_TRY(s->slabs ? make_slabs(d, s, targets) : make_whole(d, s));
    BN_TRY(bn_device_array_integers(d, "directions", s->toward, 4 * targets, &s->d_toward));
    BN_TRY(bn_device_array_reals(d, "scattering angles", s->angle, ((size_t)1 << XRAY_ANGLE_BITS) + 1, &s->d_angle));
    BN_TRY(bn_device_array_counters(d, "detector", 4 * targets, &s->d_tally));
    return s->against_fft ? xray_fourier(sim, s) : BN_OK;
}

static void teardown(void *state)
{
    xray *s = state;
    bn_device_array_destroy(&s->d_optical);
    bn_device_array_destroy(&s->d_majorant);
    bn_device_array_destroy(&s->d_toward);
    bn_device_array_destroy(&s->d_angle);
    bn_device_array_destroy(&s->d_tally);
    bn_device_array_destroy(&s->d_lives);
    bn_migrating_particles_destroy(&s->travellers);
}

static uint32_t low(uint64_t n) { return (uint32_t)n; }
static uint32_t high(uint64_t n) { return (uint32_t)(n >> 32); }

/* What the photons have brought since the last time joins the sums. */
static bn_status update_outputs(bn_sim *sim, void *state)
{
    xray *s = state;
    (void)sim;
    const bool fresh = s->fresh;
    s->fresh = false;
    if (s->slabs)
        BN_TRY(BN_RUN(s->count, BN_COUNTERS(s->d_lives), BN_UPDATE(s->lives)));
    return BN_RUN(s->gather, BN_COUNTERS(s->d_tally), BN_UPDATE(s->sums), BN_UPDATE(s->kept), BN_UPDATE(s->amplitude),
                  BN_WRITE(s->intensity), BN_WRITE(s->shown), BN_WRITE(s->hits), BN_I32V(fresh));
}

/* The photons begin ... end - 1 of a batch to their ends, in one launch. What they add are integers, and which cell
 * counts their lives follows from their numbers: how a batch is cut into launches does not show. */
static bn_status launch(xray *s, const xray_batch *b, uint64_t begin, uint64_t end)
{
    const uint64_t cells = (uint64_t)s->cells[0] * s->cells[1], first = begin - (begin - b->first) % cells;
    const uint32_t rounds = (uint32_t)((end - first + cells - 1) / cells),
                   layers = s->layers < rounds ? s->layers : rounds;
    if (!s->slabs) {
        bn_kernel_repeats(s->fly, (double)(end - begin) / (double)cells);
        return BN_RUN(s->fly, BN_ARRAY(s->d_optical), BN_ARRAY(s->d_majorant), BN_ARRAY(s->d_toward),
                      BN_ARRAY(s->d_angle), BN_ARRAY(s->d_tally), BN_UPDATE(s->lives), BN_U32V(low(first)),
                      BN_U32V(high(first)), BN_U32V(low(begin)), BN_U32V(high(begin)), BN_U32V(low(end)),
                      BN_U32V(high(end)), BN_U32V(rounds), BN_U32V(layers));
    }
    return BN_MIGRATION(s->cross, BN_ARRAY(s->d_optical), BN_ARRAY(s->d_majorant), BN_ARRAY(s->d_toward),
                     BN_ARRAY(s->d_angle), BN_ARRAY(s->d_tally), BN_ARRAY(s->d_lives), BN_MIGRATING(s->travellers),
                     BN_FIRST_PLANE(s->d_majorant), BN_END_PLANE(s->d_majorant), BN_U32V(low(first)),
                     BN_U32V(high(first)), BN_U32V(low(begin)), BN_U32V(high(begin)), BN_U32V(low(end)),
                     BN_U32V(high(end)), BN_U32V(rounds), BN_U32V(layers));
}

/* Waits for photons that were launched at `start`, and says how many are to follow. */
static bn_status look_at_pace(bn_sim *sim, xray *s, uint64_t photons, double start)
{
    BN_TRY(bn_domain_finish(bn_sim_domain(sim)));
    double took = bn_seconds_now() - start;
    bn_context_agree(bn_sim_context(sim), &took, 1); /* all ranks fly as many */
    const double wanted = took > 0 ? (double)photons * XRAY_LAUNCH_SECONDS / took : HUGE_VAL;
    if (2 * (double)photons >= s->in_launch) /* fewer, the last ones of a batch, say little */
        s->in_launch = fmin(fmax(wanted, 1024), XRAY_LAUNCH_GROWTH * s->in_launch);
    return BN_OK;
}

/* The batch's photons to their ends: in one launch where that is short, which no one waits for; else in launches that
 * are waited for, so that a run can end between them. */
static bn_status fly(bn_sim *sim, xray *s, const xray_batch *b, bool *unfinished)
{
    s->flown = b->begin;
    s->in_launch = s->in_launch > 0 ? s->in_launch : XRAY_FIRST_LAUNCH;
    while (s->flown < b->end) {
        const uint64_t begin = s->flown, left = b->end - begin;
        const bool whole = (double)left <= s->in_launch, alone = whole && begin == b->first;
        const uint64_t count = whole ? left : (uint64_t)s->in_launch;
        const double start = bn_seconds_now();
        BN_TRY(launch(s, b, begin, begin + count));
        s->flown = begin + count;
        if (!alone)
            BN_TRY(look_at_pace(sim, s, count, start));
        if (s->flown < b->end && bn_sim_asked_to_end(sim)) {
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
    if (s->frames > 0) {
        xray_density_at(s, b.time);
        BN_TRY(bn_device_array_rewrite(s->d_optical, turned(s, s->optical, s->box), product(s->box)));
        BN_TRY(bn_device_array_rewrite(s->d_majorant, turned(s, s->majorant, s->blocks), product(s->blocks)));
    }
    if (b.fresh) {
        BN_TRY(update_outputs(sim, s));
        s->fresh = true;
    }
    bool unfinished = false;
    BN_TRY(fly(sim, s, &b, &unfinished));
    xray_report(s, out);
    out->unfinished = unfinished;
    return BN_OK;
}

xray_batch xray_next_batch(const xray *s, unsigned long long step)
{
    const uint64_t batch = (uint64_t)s->rounds * s->cells[0] * s->cells[1];
    xray_batch b = { .first = step * batch, .rounds = s->rounds };
    b.first = b.first < s->photons ? b.first : s->photons;
    b.end = s->photons - b.first > batch ? b.first + batch : s->photons;
    b.begin = s->flown > b.first && s->flown < b.end ? s->flown : b.first;
    b.time = s->pulse[0] + (s->pulse[1] - s->pulse[0]) * 0.5 * ((double)b.first + (double)b.end) / (double)s->photons;
    b.fresh = s->coherent > 0 && b.begin == b.first && step > 0 && step % (unsigned long long)s->coherent == 0;
    return b;
}

void xray_report(const xray *s, bn_step *out)
{
    *out = (bn_step){ .dt = 1, .residual = (double)NAN, .complete = s->flown == s->photons };
    out->series[0] = (double)s->flown;
}

const bn_engine xray_device = {
    .name = "opencl", .setup = setup, .step = step, .update_outputs = update_outputs, .teardown = teardown
};
