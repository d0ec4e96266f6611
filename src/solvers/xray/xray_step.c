/* xray_step.c: a batch of photons on a device, and what both engines report. */
#include "xray.h"

#include <math.h>

static bn_status setup(bn_sim *sim, void *state)
{
    xray *s = state;
    bn_domain *d = bn_sim_domain(sim);
    const size_t cells = (size_t)s->box[0] * s->box[1] * s->box[2], targets = (size_t)s->cells[0] * s->cells[1];
    s->fly = bn_sim_kernel(sim, "xray_fly");
    s->gather = bn_sim_kernel(sim, "xray_gather");
    bn_kernel_layers(s->fly, s->layers);
    BN_TRY(bn_table_reals(d, "density", s->optical, cells, &s->d_optical));
    BN_TRY(bn_table_reals(d, "majorants", s->majorant, (size_t)s->blocks[0] * s->blocks[1] * s->blocks[2],
                          &s->d_majorant));
    BN_TRY(bn_table_integers(d, "directions", s->toward, 4 * targets, &s->d_toward));
    BN_TRY(bn_table_reals(d, "scattering angles", s->angle, ((size_t)1 << XRAY_ANGLE_BITS) + 1, &s->d_angle));
    BN_TRY(bn_table_counters(d, "detector", 4 * targets, &s->d_tally));
    return s->against_fft ? xray_fourier(sim, s) : BN_OK;
}

static void teardown(void *state)
{
    xray *s = state;
    bn_table_destroy(&s->d_optical);
    bn_table_destroy(&s->d_majorant);
    bn_table_destroy(&s->d_toward);
    bn_table_destroy(&s->d_angle);
    bn_table_destroy(&s->d_tally);
}

static uint32_t low(uint64_t n) { return (uint32_t)n; }
static uint32_t high(uint64_t n) { return (uint32_t)(n >> 32); }

/* What the photons have brought since the last time joins the sums. */
static bn_status present(bn_sim *sim, void *state)
{
    xray *s = state;
    (void)sim;
    const bool fresh = s->fresh;
    s->fresh = false;
    return BN_RUN(s->gather, BN_COUNTERS(s->d_tally), BN_UPDATE(s->sums), BN_UPDATE(s->kept), BN_UPDATE(s->amplitude),
                  BN_WRITE(s->intensity), BN_WRITE(s->shown), BN_WRITE(s->hits), BN_I32V(fresh));
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    xray *s = state;
    const xray_batch b = xray_next_batch(s, bn_sim_steps(sim));
    if (s->frames > 0) {
        xray_density_at(s, b.time);
        BN_TRY(bn_table_rewrite(s->d_optical, s->optical, (size_t)s->box[0] * s->box[1] * s->box[2]));
        BN_TRY(bn_table_rewrite(s->d_majorant, s->majorant, (size_t)s->blocks[0] * s->blocks[1] * s->blocks[2]));
    }
    if (b.fresh) {
        BN_TRY(present(sim, s));
        s->fresh = true;
    }
    bn_kernel_repeats(s->fly, (double)b.rounds);
    BN_TRY(BN_RUN(s->fly, BN_TABLE(s->d_optical), BN_TABLE(s->d_majorant), BN_TABLE(s->d_toward), BN_TABLE(s->d_angle),
                  BN_TABLE(s->d_tally), BN_UPDATE(s->lives), BN_U32V(low(b.first)), BN_U32V(high(b.first)),
                  BN_U32V(low(b.end)), BN_U32V(high(b.end)), BN_U32V(b.rounds), BN_U32V(s->layers)));
    xray_report(s, &b, out);
    return BN_OK;
}

xray_batch xray_next_batch(const xray *s, unsigned long long step)
{
    const uint64_t batch = (uint64_t)s->rounds * s->cells[0] * s->cells[1];
    xray_batch b = { .first = step * batch, .rounds = s->rounds };
    b.first = b.first < s->photons ? b.first : s->photons;
    b.end = s->photons - b.first > batch ? b.first + batch : s->photons;
    b.time = s->pulse[0] + (s->pulse[1] - s->pulse[0]) * 0.5 * ((double)b.first + (double)b.end) / (double)s->photons;
    b.fresh = s->coherent > 0 && step > 0 && step % (unsigned long long)s->coherent == 0;
    return b;
}

void xray_report(xray *s, const xray_batch *b, bn_step *out)
{
    s->flown = b->end;
    *out = (bn_step){ .dt = 1, .residual = (double)NAN, .converged = b->end == s->photons };
    out->series[0] = (double)b->end;
}

const bn_engine xray_device = {
    .name = "opencl", .setup = setup, .step = step, .present = present, .teardown = teardown
};
