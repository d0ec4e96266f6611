/* fft_parts.h: the two transforms behind host/api/fft.h: dense complex arrays, x fastest, unnormalised both ways. */
#ifndef BN_HOST_FFT_PARTS_H
#define BN_HOST_FFT_PARTS_H

#include "device/opencl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* fft_kiss.cpp: on the host in double, in place: n[0] * n[1] * n[2] pairs. False when memory is out. */
bool bn_kiss_transform(double *pairs, const size_t n[3], bool inverse);

/* fft_clfft.c: on a device, out of place, from `from` to `to`. */
typedef struct bn_clfft bn_clfft;
BN_CHECKED bn_status bn_clfft_create(bn_device *, const size_t n[3], int dims, bn_precision, bn_clfft **out);
void bn_clfft_destroy(bn_clfft **);
BN_CHECKED bn_status bn_clfft_run(bn_clfft *, cl_mem from, cl_mem to, bool inverse);

#ifdef __cplusplus
}
#endif
#endif
