/* bench.h: what the benchmarks share: a context, a device, a clock, and an end with the reason when something fails. */
#ifndef BN_BENCH_H
#define BN_BENCH_H

#include "binnacle/binnacle.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static bn_context *ctx;
static bn_device *device;

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void need(bn_status st)
{
    if (st != BN_OK) {
        fprintf(stderr, "bench: %s\n", bn_error_text(ctx));
        exit(1);
    }
}

#endif
