/* bpm_fft.c: steps along z by split operators: half of the index' phase, the phase of free space in the spectrum, the
 * other half (Feit and Fleck 1978). Periodic; paraxial or, with wide_angle, exact in free space. Both engines transform
 * through the same interface. */
#include "api/parallel_rows.h"
#include "bpm.h"

#include <math.h>

bn_status bpm_check_fft(const bn_case *c, const bpm *s)
{
    if (s->c.tm || s->c.pml || s->c.beams > 1 || s->c.theta != 0.5)
        return bn_case_reject(c, "solver.method", "the direct method takes all of them",
                              "transforms are for one scalar beam, without absorbing layers, march.theta 1/2");
    if (s->c.axes == 2 && s->launch.kind == BPM_LAUNCH_MODE)
        return bn_case_reject(c, "launch.kind", "the direct method",
                              "transforms cannot seek the mode of a cross-section");
    for (int d = 0; d < s->c.axes; d++) {
        const uint32_t n = s->axis[d].n;
        uint32_t left = n;
        for (uint32_t prime = 2; prime <= 7; prime++)
            while (left % prime == 0)
                left /= prime;
        if (left != 1)
            bn_case_reject(c, s->c.axes == 2 && d == 0 ? "grid.cells_x" : "grid.cells",
                           "one more than a power of two, for example",
                           "transforms need %u cells less one, %u, to be a product of 2, 3, 5 and 7", n + 1, n);
    }
    return BN_OK;
}

bn_status bpm_plan_fft_fields(bn_plan *p, bpm *s)
{
    BN_TRY(bn_plan_field(p, &s->transforms.half, &(bn_field_desc){ "half", "", BN_T_REAL2, 1, 0 }));
    BN_TRY(bn_plan_field(p, &s->transforms.spectrum, &(bn_field_desc){ "spectrum", "", BN_T_REAL2, 1, 0 }));
    bn_plan_one_box(p);
    BN_TRY(bn_plan_skip_kernel(p, "bpm_crank_nicolson"));
    BN_TRY(bn_plan_define_int(p, "TRANSFORMS", 1));
    return bn_plan_choice(p, "steps along z by", "transforms");
}

/* The spatial frequency of value number i of n, at distances h. */
static double frequency(uint32_t i, uint32_t n, double h)
{
    const double signed_i = i <= n / 2 ? (double)i : (double)i - (double)n;
    return 2 * BPM_PI * signed_i / ((double)n * h);
}

/* Rows of phases that threads make side by side. */
typedef struct phase_rows {
    const bpm *s;
    double z;
    uint32_t first;
    double _Complex *phase;
} phase_rows;
/* Exponential, sine and cosine of each. */
enum { VALUES_A_PHASE = 8 };

static bn_status make_rows(void *user, uint32_t first, uint32_t count, double *const *values,
                           void (*work)(void *user, size_t first, size_t end))
{
    phase_rows *p = user;
    p->first = first;
    p->phase = (double _Complex *)(void *)values[0];
    bn_parallel_rows(count, (size_t)VALUES_A_PHASE * p->s->c.n, work, p);
    return BN_OK;
}

static void spectrum_phases(void *user, size_t begin, size_t end)
{
    const phase_rows *p = user;
    const bpm *s = p->s;
    const double k = bpm_k0(s, 0) * s->c.reference;
    for (size_t row = begin; row < end; row++) {
        const double ky = frequency(p->first + (uint32_t)row, s->c.rows, s->c.h);
        for (uint32_t i = 0; i < s->c.n; i++) {
            const double kx = frequency(i, s->c.n, s->axis[0].h), P = -(kx * kx + ky * ky) / (k * k);
            /* What cannot run along z decays. */
            const double _Complex root = P > -1 ? sqrt(1 + P) - 1 : CMPLX(-1, -sqrt(-1 - P));
            p->phase[row * s->c.n + i] = cexp(CMPLX(0, -k * s->c.dz) * (s->c.wide_angle ? root : 0.5 * P));
        }
    }
}

static bn_status spectrum_rows(void *user, uint32_t first, uint32_t count, double *const *values)
{
    return make_rows(user, first, count, values, spectrum_phases);
}

/* Of half a step; each n^2 is read before its phase takes its place. */
static void half_phases(void *user, size_t begin, size_t end)
{
    const phase_rows *p = user;
    const bpm *s = p->s;
    const double _Complex step = CMPLX(0, -0.25 * bpm_k0(s, 0) * s->c.dz / s->c.reference);
    for (size_t row = begin; row < end; row++) {
        double _Complex *at = p->phase + row * s->c.n;
        s->geometry->row_index(s, p->z, p->first + (uint32_t)row, at);
        for (uint32_t i = 0; i < s->c.n; i++)
            at[i] = cexp(step * (at[i] - s->c.reference * s->c.reference));
    }
}

static bn_status half_rows(void *user, uint32_t first, uint32_t count, double *const *values)
{
    return make_rows(user, first, count, values, half_phases);
}

bn_status bpm_fft_section(bn_sim *sim, bpm *s, bool entered)
{
    (void)sim;
    (void)entered;
    bpm_made_for *made = &s->transforms.made;
    phase_rows p = { .s = s, .z = ((double)s->section_begin + 0.5) * s->c.dz };
    s->section_end = s->section_begin + bpm_constant_steps(s, s->section_begin);
    if (!made->any)
        BN_TRY(bn_field_row_bands(&(const bn_row_band){ s->transforms.spectrum, false, true }, 1, false, spectrum_rows,
                                  &p));
    const bn_row_band half = { s->transforms.half, false, true };
    bpm_mark_stale(s, 0, made, made->any && s->c.axes == 2, p.z);
    *made = (bpm_made_for){ .any = true, .z = p.z };
    return bpm_make_stale(&s->axis[0], &half, 1, half_rows, &p);
}

bn_status bpm_fft_propagate(bpm *s, const bpm_steps *steps, bpm_multiply *multiply)
{
    bpm_transforms *m = &s->transforms;
    for (size_t k = 0; k < steps->count; k++) {
        BN_TRY(multiply(s, s->psi, m->half));
        BN_TRY(bn_fft_forward(m->fft, s->psi, s->work));
        BN_TRY(multiply(s, s->work, m->spectrum));
        BN_TRY(bn_fft_backward(m->fft, s->work, s->psi));
        BN_TRY(multiply(s, s->psi, m->half));
    }
    return BN_OK;
}

/* --- on a device --- */

static bn_status setup(bn_sim *sim, bpm *s)
{
    static const bn_kernel_desc multiply = { "bpm_multiply", BN_PER_CELL, { .reads = 4, .writes = 2, .flops = 6 } };
    bpm_transforms *m = &s->transforms;
    BN_TRY(bn_program_build(bn_sim_domain(sim), "bpm", &(bn_define){ "TRANSFORMS", BN_DEF_INT, { .i = 1 } }, 1,
                            &m->program));
    BN_TRY(bn_kernel_find(m->program, &multiply, &m->multiply));
    return bn_fft_create(bn_sim_domain(sim), &m->fft);
}

static void teardown(bpm *s)
{
    bn_fft_destroy(&s->transforms.fft);
    bn_program_destroy(&s->transforms.program);
}

static bn_status multiply_field(bpm *s, bn_field *field, bn_field *by)
{
    return BN_RUN(s->transforms.multiply, BN_UPDATE(field), BN_READ(by, 0));
}

static bn_status propagate(bpm *s, const bpm_steps *steps) { return bpm_fft_propagate(s, steps, multiply_field); }

const bpm_method bpm_fft_method = {
    .setup = setup, .teardown = teardown, .section = bpm_fft_section, .propagate = propagate
};
