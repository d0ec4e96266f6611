/* bench.h: what the benchmarks share: a context, a device, a clock, and figures that are printed only if they can be
 * believed. A time is the median of rounds, each of so many steps that waiting for the last one does not count; no
 * time is a difference of two others, whose errors would add up in it. Beside it stands the distance of the rounds'
 * quartiles. */
#ifndef BN_TESTS_BENCH_H
#define BN_TESTS_BENCH_H

#include "binnacle/binnacle.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BENCH_ROUNDS = 7, BENCH_REASON = 128 };

/* Quartiles further apart than this share of the median: other work disturbed the rounds. */
static const double bench_widest = 0.1;
/* What the measured bandwidth itself may be wrong by. */
static const double bench_above_floor = 0.05;

typedef struct bench_time {
    double seconds, spread; /* median of the rounds; distance of their quartiles over it */
} bench_time;

static bn_context *ctx;
static bn_device *device;
static unsigned bench_refused; /* rows that were not printed */

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

static inline int bench_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of `count` rounds, BENCH_ROUNDS of them or more; sorts them. */
static inline bench_time bench_middle(double *rounds, size_t count)
{
    qsort(rounds, count, sizeof *rounds, bench_ascending);
    const double median = count % 2 ? rounds[count / 2] : 0.5 * (rounds[count / 2 - 1] + rounds[count / 2]);
    return (bench_time){ median, (rounds[count - 1 - count / 4] - rounds[count / 4]) / median };
}

/* Seconds of one call of `work`, which may leave commands in the queue that `wait` waits for. A round is as many calls
 * as take `at_least` seconds, found by the calls that warm up. */
static inline bench_time bench_rounds(void (*work)(void *), void (*wait)(void *), void *user, double at_least)
{
    double rounds[BENCH_ROUNDS], took = 0;
    unsigned calls = 1;
    work(user); /* a driver may compile at the first launch */
    wait(user);
    for (;; calls *= 2) {
        const double start = now();
        for (unsigned i = 0; i < calls; i++)
            work(user);
        wait(user);
        took = now() - start;
        if (took >= 0.5 * at_least || calls >= 1u << 20)
            break;
    }
    calls = took >= at_least ? calls : 2 * calls;
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        const double start = now();
        for (unsigned i = 0; i < calls; i++)
            work(user);
        wait(user);
        rounds[round] = (now() - start) / calls;
    }
    return bench_middle(rounds, BENCH_ROUNDS);
}

/* Whether a time can be believed; else why not, in `reason`. `floor`: the seconds that it takes at least, 0 where that
 * is not known. */
static inline bool bench_believes(bench_time t, double floor, char reason[BENCH_REASON])
{
    if (!(t.seconds > 0) || !isfinite(t.seconds))
        snprintf(reason, BENCH_REASON, "%g s is no time", t.seconds);
    else if (!(t.spread <= bench_widest))
        snprintf(reason, BENCH_REASON, "the quartiles of %d rounds lie %.0f %% apart, %.0f %% is the most",
                 BENCH_ROUNDS, 100 * t.spread, 100 * bench_widest);
    else if (floor > (1 + bench_above_floor) * t.seconds)
        snprintf(reason, BENCH_REASON, "%.3g us, %.0f %% of the floor: no floor where the data stay in a cache",
                 1e6 * t.seconds, 100 * floor / t.seconds);
    else
        return true;
    return false;
}

/* The beginning of a row: what it is about, and if its time can be believed room for the figures behind; else the
 * reason and the row's end. */
__attribute__((format(printf, 3, 4))) static inline bool bench_row(bench_time t, double floor, const char *format, ...)
{
    char what[96], reason[BENCH_REASON];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    const bool good = bench_believes(t, floor, reason);
    printf("  %-50s ", what);
    if (!good) {
        printf("not shown: %s\n", reason);
        bench_refused++;
    }
    fflush(stdout);
    return good;
}

/* When, with what, on what: a table without these can't be compared with another. */
static inline void bench_begin(int argc, char **argv, double bandwidth)
{
    const bn_device_info *info = bn_device_describe(device);
    const time_t t = time(NULL);
    struct tm utc;
    char date[32] = "?";
    if (gmtime_r(&t, &utc))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
    printf("%s, driver %s, binnacle %s, %s\n", info->name, info->driver, bn_version(), date);
    const char *name = strrchr(argv[0], '/');
    printf("%s", name ? name + 1 : argv[0]);
    for (int i = 1; i < argc; i++)
        printf(" %s", argv[i]);
    if (bandwidth > 0)
        printf("; copy %.4g GB/s", 1e-9 * bandwidth);
    printf("; median of %d rounds, +- half the distance of their quartiles\n", BENCH_ROUNDS);
    fflush(stdout);
}

/* The exit code: 1 if rows are missing. */
static inline int bench_end(void)
{
    bn_device_close(&device);
    bn_context_destroy(&ctx);
    if (bench_refused)
        fprintf(stderr, "bench: %u rows are not shown, each with its reason\n", bench_refused);
    return bench_refused > 0;
}

/* "12.34 us +- 0.5 %" */
static inline void bench_print_time(bench_time t, double scale, const char *unit)
{
    printf("%9.4g %s +-%4.1f %%", scale * t.seconds, unit, 50 * t.spread);
}

#endif
