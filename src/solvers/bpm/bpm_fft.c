/* bpm_fft.c: steps along z by split operators: half of the index' phase, the phase of free space in the spectrum, the
 * other half (Feit and Fleck 1978). Periodic; paraxial or, with wide_angle, exact in free space. Both engines transform
 * through the same interface. */
#include "bpm.h"

#include <math.h>
#include <stdlib.h>

bn_status bpm_plan_fft(const bn_case *c, bn_plan *p, bpm *s)
{
    void *memory;
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
    BN_TRY(bn_plan_allocate(p, 2 * (size_t)s->c.n * s->c.rows * sizeof *s->transforms.phases, &memory));
    s->transforms.phases = memory;
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

static bn_status set_spectrum(bpm *s)
{
    const double k = bpm_k0(s, 0) * s->c.reference;
    double _Complex *phase = (double _Complex *)(void *)s->transforms.phases;
    for (uint32_t j = 0; j < s->c.rows; j++)
        for (uint32_t i = 0; i < s->c.n; i++) {
            const double kx = frequency(i, s->c.n, s->axis[0].h), ky = frequency(j, s->c.rows, s->c.h);
            const double P = -(kx * kx + ky * ky) / (k * k);
            /* What cannot run along z decays. */
            const double _Complex root = P > -1 ? sqrt(1 + P) - 1 : CMPLX(-1, -sqrt(-1 - P));
            phase[(size_t)j * s->c.n + i] = cexp(CMPLX(0, -k * s->c.dz) * (s->c.wide_angle ? root : 0.5 * P));
        }
    return bn_field_set(s->transforms.spectrum, s->transforms.phases, 2 * (size_t)s->c.n * s->c.rows);
}

bn_status bpm_fft_section(bn_sim *sim, bpm *s, bool entered)
{
    const double k0 = bpm_k0(s, 0), z = ((double)s->section_begin + 0.5) * s->c.dz;
    double _Complex *phase = (double _Complex *)(void *)s->transforms.phases, *index2 = calloc(s->c.n, sizeof *index2);
    bn_status st = BN_OK;
    (void)entered;
    if (!index2)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the index of the next section");
    s->section_end = s->section_begin + bpm_constant_steps(s, s->section_begin);
    if (!s->transforms.spectrum_set)
        BN_GO(set_spectrum(s));
    s->transforms.spectrum_set = true;
    for (uint32_t j = 0; j < s->c.rows; j++) {
        s->geometry->row_index(s, z, j, index2);
        for (uint32_t i = 0; i < s->c.n; i++) /* half a step */
            phase[(size_t)j * s->c.n + i] = cexp(CMPLX(0, -0.25 * k0 * s->c.dz / s->c.reference) *
                                                 (index2[i] - s->c.reference * s->c.reference));
    }
    BN_GO(bn_field_set(s->transforms.half, s->transforms.phases, 2 * (size_t)s->c.n * s->c.rows));
out:
    free(index2);
    return st;
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
