/* xray_step.c: a batch of photons on a device, and what both engines report. */
#include "xray.h"

#include <math.h>

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
    BN_TRY(bn_table_slabs(d, "density", turned(s, s->optical, s->box), cells, product(s->box) / cells,
                          (size_t)1 << s->bits[s->cut], &s->d_optical));
    BN_TRY(bn_table_slabs(d, "majorants", turned(s, s->majorant, s->blocks), blocks, product(s->blocks) / blocks, 1,
                          &s->d_majorant));
    BN_TRY(bn_table_counters(d, "lives", XRAY_LIFE * targets, &s->d_lives));
    return bn_travellers_create(d, "photons on their way", s->traveller_words, s->traveller_room, &s->travellers);
}

static bn_status make_whole(bn_domain *d, xray *s)
{
    bn_kernel_layers(s->fly, s->layers);
    BN_TRY(bn_table_reals(d, "density", s->optical, product(s->box), &s->d_optical));
    return bn_table_reals(d, "majorants", s->majorant, product(s->blocks), &s->d_majorant);
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
    bn_table_destroy(&s->d_lives);
    bn_travellers_destroy(&s->travellers);
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
    if (s->slabs)
        BN_TRY(BN_RUN(s->count, BN_COUNTERS(s->d_lives), BN_UPDATE(s->lives)));
    return BN_RUN(s->gather, BN_COUNTERS(s->d_tally), BN_UPDATE(s->sums), BN_UPDATE(s->kept), BN_UPDATE(s->amplitude),
                  BN_WRITE(s->intensity), BN_WRITE(s->shown), BN_WRITE(s->hits), BN_I32V(fresh));
}

/* The batch's photons to their ends. */
static bn_status fly(xray *s, const xray_batch *b)
{
    if (!s->slabs) {
        bn_kernel_repeats(s->fly, (double)b->rounds);
        return BN_RUN(s->fly, BN_TABLE(s->d_optical), BN_TABLE(s->d_majorant), BN_TABLE(s->d_toward),
                      BN_TABLE(s->d_angle), BN_TABLE(s->d_tally), BN_UPDATE(s->lives), BN_U32V(low(b->first)),
                      BN_U32V(high(b->first)), BN_U32V(low(b->end)), BN_U32V(high(b->end)), BN_U32V(b->rounds),
                      BN_U32V(s->layers));
    }
    return BN_TRAVEL(s->cross, BN_TABLE(s->d_optical), BN_TABLE(s->d_majorant), BN_TABLE(s->d_toward),
                     BN_TABLE(s->d_angle), BN_TABLE(s->d_tally), BN_TABLE(s->d_lives), BN_TRAVELLERS(s->travellers),
                     BN_FIRST_PLANE(s->d_majorant), BN_END_PLANE(s->d_majorant), BN_U32V(low(b->first)),
                     BN_U32V(high(b->first)), BN_U32V(low(b->end)), BN_U32V(high(b->end)), BN_U32V(b->rounds),
                     BN_U32V(s->layers));
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    xray *s = state;
    const xray_batch b = xray_next_batch(s, bn_sim_steps(sim));
    if (s->frames > 0) {
        xray_density_at(s, b.time);
        BN_TRY(bn_table_rewrite(s->d_optical, turned(s, s->optical, s->box), product(s->box)));
        BN_TRY(bn_table_rewrite(s->d_majorant, turned(s, s->majorant, s->blocks), product(s->blocks)));
    }
    if (b.fresh) {
        BN_TRY(present(sim, s));
        s->fresh = true;
    }
    BN_TRY(fly(s, &b));
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
    *out = (bn_step){ .dt = 1, .residual = (double)NAN, .complete = b->end == s->photons };
    out->series[0] = (double)b->end;
}

const bn_engine xray_device = {
    .name = "opencl", .setup = setup, .step = step, .present = present, .teardown = teardown
};
