/* bpm_fft.c: steps along z by split operators: half of the index' phase, the phase of free space in the spectrum, the
 * other half (Feit and Fleck 1978). Periodic; paraxial or, with wide_angle, exact in free space. Both engines transform
 * through the same interface. */
#include "bpm.h"

#include <math.h>
#include <stdlib.h>

bn_status bpm_plan_fft(const bn_case *c, bn_plan *p, bpm *s)
{
    void *memory;
    if (s->tm || s->pml || s->beams > 1 || s->theta != 0.5)
        return bn_case_reject(c, "solver.method", "the direct method takes all of them",
                              "transforms are for one scalar beam, without absorbing layers, march.theta 1/2");
    if (s->space && s->launch == BPM_LAUNCH_MODE)
        return bn_case_reject(c, "launch.kind", "the direct method",
                              "transforms cannot seek the mode of a cross-section");
    for (int d = 0; d < (s->space ? 2 : 1); d++) {
        const uint32_t n = d ? s->rows : s->n;
        uint32_t left = n;
        for (uint32_t prime = 2; prime <= 7; prime++)
            while (left % prime == 0)
                left /= prime;
        if (left != 1)
            bn_case_reject(c, s->space && d == 0 ? "grid.cells_x" : "grid.cells",
                           "one more than a power of two, for example",
                           "transforms need %u cells less one, %u, to be a product of 2, 3, 5 and 7", n + 1, n);
    }
    BN_TRY(bn_plan_allocate(p, 2 * (size_t)s->n * s->rows * sizeof *s->phases, &memory));
    s->phases = memory;
    return BN_OK;
}

/* The spatial frequency of value number i of n, at distances h. */
static double frequency(uint32_t i, uint32_t n, double h)
{
    const double signed_i = i <= n / 2 ? (double)i : (double)i - (double)n;
    return 2 * 3.14159265358979323846 * signed_i / ((double)n * h);
}

static bn_status set_spectrum(bpm *s)
{
    const double k = bpm_k0(s, 0) * s->reference;
    const double hx = s->space ? s->axis[0].h : s->h;
    double _Complex *phase = (double _Complex *)(void *)s->phases;
    for (uint32_t j = 0; j < s->rows; j++)
        for (uint32_t i = 0; i < s->n; i++) {
            const double kx = frequency(i, s->n, hx), ky = s->space ? frequency(j, s->rows, s->h) : 0;
            const double P = -(kx * kx + ky * ky) / (k * k);
            /* What cannot run along z decays. */
            const double _Complex root = P > -1 ? sqrt(1 + P) - 1 : CMPLX(-1, -sqrt(-1 - P));
            phase[(size_t)j * s->n + i] = cexp(CMPLX(0, -k * s->dz) * (s->wide_angle ? root : 0.5 * P));
        }
    return bn_field_set(s->spectrum, s->phases, 2 * (size_t)s->n * s->rows);
}

bn_status bpm_fft_section(bn_sim *sim, bpm *s, size_t at)
{
    const double k0 = bpm_k0(s, 0), z = ((double)at + 0.5) * s->dz;
    double _Complex *phase = (double _Complex *)(void *)s->phases, *index2 = calloc(s->n, sizeof *index2);
    bn_status st = BN_OK;
    if (!index2)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the index of the next section");
    s->section_end = at + bpm_constant_steps(s, at);
    if (!s->spectrum_set)
        BN_GO(set_spectrum(s));
    s->spectrum_set = true;
    for (uint32_t j = 0; j < s->rows; j++) {
        if (s->space)
            bpm_index_row(s, z, (double)(j + 1) * s->h, 0, s->n, index2);
        else
            bpm_index(s, 0, z, s->h, s->n, false, index2);
        for (uint32_t i = 0; i < s->n; i++) /* half a step */
            phase[(size_t)j * s->n + i] = cexp(CMPLX(0, -0.25 * k0 * s->dz / s->reference) *
                                               (index2[i] - s->reference * s->reference));
    }
    BN_GO(bn_field_set(s->half, s->phases, 2 * (size_t)s->n * s->rows));
out:
    free(index2);
    return st;
}

bn_status bpm_fft_march(bn_sim *sim, bpm *s, size_t steps, bn_status (*times)(bn_sim *, bpm *, bn_field *, bn_field *))
{
    for (size_t k = 0; k < steps; k++) {
        BN_TRY(times(sim, s, s->psi, s->half));
        BN_TRY(bn_fft_forward(s->fft, s->psi, s->work));
        BN_TRY(times(sim, s, s->work, s->spectrum));
        BN_TRY(bn_fft_backward(s->fft, s->work, s->psi));
        BN_TRY(times(sim, s, s->psi, s->half));
    }
    return BN_OK;
}
