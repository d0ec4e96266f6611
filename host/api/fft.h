/* fft.h: Fourier, sine and cosine transforms of a field: clFFT on devices, KISS FFT for the reference. */
#ifndef BN_API_FFT_H
#define BN_API_FFT_H

#include "api/field.h"

typedef struct bn_fft bn_fft;

/* complex: REAL2 -> REAL2, sum of x_j exp(-2 pi i j k / n). real: REAL -> REAL2, of which the first n[0] / 2 + 1 values
 * along x are kept (the output's domain has that size). sine: DST-I, y_k = 2 sum x_j sin(pi (j + 1)(k + 1) / (n + 1)),
 * zero beyond both ends. cosine: DCT-I, y_k = x_0 +
 * (-1)^k x_{n-1} + 2 sum x_j cos(pi j k / (n - 1)), mirrored at the end points. Both REAL -> REAL, by odd and even
 * extension. */
typedef enum bn_fft_kind { BN_FFT_COMPLEX, BN_FFT_REAL, BN_FFT_SINE, BN_FFT_COSINE } bn_fft_kind;

/* Over all dimensions of the domain's grid, one box only. The plan is baked once, its time reported, and checked once
 * per device and driver against the reference transform (BN_MISMATCH when it is wrong). */
BN_CHECKED bn_status bn_fft_create(bn_domain *, bn_fft_kind, bn_fft **out);
void bn_fft_destroy(bn_fft **);

/* Unnormalised forward transform; the backward one is normalised, so that backward(forward(x)) = x. `in` and `out`
 * differ. */
BN_CHECKED bn_status bn_fft_forward(bn_fft *, bn_field *in, bn_field *out);
BN_CHECKED bn_status bn_fft_backward(bn_fft *, bn_field *in, bn_field *out);

/* Seconds that baking took, and the error found by the check, relative to the largest value. */
double bn_fft_bake_seconds(const bn_fft *);
double bn_fft_check_error(const bn_fft *);

#endif
