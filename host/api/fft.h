/* fft.h: Fourier transforms of complex fields: clFFT on devices, KISS FFT for the reference. */
#ifndef BN_API_FFT_H
#define BN_API_FFT_H

#include "api/field.h"

typedef struct bn_fft bn_fft;

/* Over all dimensions of the domain's grid, one box only. The plan is baked once, its time reported, and checked once
 * per device and driver against the reference transform (BN_MISMATCH when it is wrong). */
BN_CHECKED bn_status bn_fft_create(bn_domain *, bn_fft **out);
void bn_fft_destroy(bn_fft **);

/* Fields of type BN_T_REAL2 and one component. Forward: the sum of x_j exp(-2 pi i j k / n), unnormalised; the backward
 * one is normalised, so that backward(forward(x)) = x. `in` and `out` differ. */
BN_CHECKED bn_status bn_fft_forward(bn_fft *, bn_field *in, bn_field *out);
BN_CHECKED bn_status bn_fft_backward(bn_fft *, bn_field *in, bn_field *out);

#endif
