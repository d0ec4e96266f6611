/* fft_clfft.c: plans of clFFT. The library has one state per process and bakes one plan at a time: a mutex guards both.
 */
#include "launch/fft_parts.h"

#include "device/device_thread.h"

#include <clFFT.h>
#include <pthread.h>
#include <stdlib.h>

struct bn_clfft {
    bn_device *device;
    clfftPlanHandle plan;
    bool planned;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users; /* of the library's state, guarded by lock */

static bn_status fail(const bn_device *d, clfftStatus status, const char *call)
{
    if (status > CLFFT_INVALID_GLOBAL_WORK_SIZE && status < CLFFT_BUGCHECK) /* one of OpenCL's own */
        return bn_cl_fail(d, (cl_int)status, call, "Fourier transform");
    return bn_fail(d->ctx, BN_DEVICE, "%s failed on %s: clFFT status %d", call, d->info.name, (int)status);
}

/* Smallest number not below n, and largest not above, of which 2, 3, 5, 7, 11, 13 are the only prime factors. */
static bool supported(size_t n)
{
    static const size_t primes[] = { 2, 3, 5, 7, 11, 13 };
    for (size_t i = 0; i < 6; i++)
        while (n % primes[i] == 0)
            n /= primes[i];
    return n == 1;
}

static bn_status check_lengths(const bn_device *d, const size_t n[3])
{
    for (int k = 0; k < 3; k++) {
        size_t below = n[k], above = n[k];
        while (!supported(below))
            below--;
        while (!supported(above))
            above++;
        if (below != n[k])
            return bn_fail(d->ctx, BN_USAGE,
                           "a Fourier transform of length %zu has a prime factor above 13, which clFFT refuses; "
                           "lengths of %zu and %zu "
                           "are possible",
                           n[k], below, above);
    }
    return BN_OK;
}

static clfftStatus bake(bn_clfft *f, const size_t n[3], int dims, bn_precision precision)
{
    clfftStatus s = clfftCreateDefaultPlan(&f->plan, f->device->cl, (clfftDim)dims, n);
    f->planned = s == CLFFT_SUCCESS;
    if (s == CLFFT_SUCCESS)
        s = clfftSetPlanPrecision(f->plan, precision == BN_DOUBLE ? CLFFT_DOUBLE : CLFFT_SINGLE);
    if (s == CLFFT_SUCCESS)
        s = clfftSetLayout(f->plan, CLFFT_COMPLEX_INTERLEAVED, CLFFT_COMPLEX_INTERLEAVED);
    if (s == CLFFT_SUCCESS) /* in place its kernels race with themselves under Oclgrind */
        s = clfftSetResultLocation(f->plan, CLFFT_OUTOFPLACE);
    if (s == CLFFT_SUCCESS)
        s = clfftSetPlanScale(f->plan, CLFFT_FORWARD, 1);
    if (s == CLFFT_SUCCESS)
        s = clfftSetPlanScale(f->plan, CLFFT_BACKWARD, 1);
    if (s == CLFFT_SUCCESS)
        s = clfftBakePlan(f->plan, 1, &f->device->queue, NULL, NULL);
    return s;
}

bn_status bn_clfft_create(bn_device *d, const size_t n[3], int dims, bn_precision precision, bn_clfft **out)
{
    *out = NULL;
    BN_TRY(check_lengths(d, n));
    bn_clfft *f = calloc(1, sizeof *f);
    if (!f)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for a Fourier transform");
    f->device = d;
    clfftSetupData data;
    pthread_mutex_lock(&lock);
    clfftStatus s = clfftInitSetupData(&data);
    if (s == CLFFT_SUCCESS && users == 0)
        s = clfftSetup(&data);
    if (s == CLFFT_SUCCESS) {
        users++;
        s = bake(f, n, dims, precision);
    } else {
        f->device = NULL; /* nothing to give back */
    }
    pthread_mutex_unlock(&lock);
    if (s != CLFFT_SUCCESS) {
        bn_status st = fail(d, s, "clfftBakePlan");
        bn_clfft_destroy(&f);
        return st;
    }
    *out = f;
    return BN_OK;
}

void bn_clfft_destroy(bn_clfft **fft)
{
    if (!fft || !*fft)
        return;
    bn_clfft *f = *fft;
    pthread_mutex_lock(&lock);
    if (f->planned)
        clfftDestroyPlan(&f->plan);
    if (f->device && --users == 0)
        clfftTeardown();
    pthread_mutex_unlock(&lock);
    free(f);
    *fft = NULL;
}

bn_status bn_clfft_run(bn_clfft *f, cl_mem from, cl_mem to, bool inverse)
{
    cl_command_queue queue = bn_queue(f->device);
    clfftStatus s = clfftEnqueueTransform(f->plan, inverse ? CLFFT_BACKWARD : CLFFT_FORWARD, 1, &queue, 0, NULL, NULL,
                                          &from, &to, NULL);
    return s == CLFFT_SUCCESS ? BN_OK : fail(f->device, s, "clfftEnqueueTransform");
}
