/* clock.c: seconds of the monotonic clock. */
#include "sim/solver_table.h"

#include <time.h>

double bn_seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
