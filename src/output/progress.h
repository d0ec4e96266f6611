/* progress.h: progress and speed of a run, as lines of text. */
#ifndef BN_PROGRESS_H
#define BN_PROGRESS_H

#include "sim/sim_parts.h"
#include <pthread.h>

enum { BN_PROFILE_ROWS = 64 };

/* What a line says. */
typedef struct bn_progress_figures {
    unsigned long long step;
    double along, elapsed, residual, rate, share,
        left;          /* time or z; rate: what the solver counts a second; share: of the copy limit */
    bool known, guess; /* known: a step has been done; guess: `left` is by the slope of the residual */
    char own[96];      /* the solver's own figure, in words */
} bn_progress_figures;

typedef struct bn_progress {
    bool quiet, json, terminal;
    double start, last;           /* seconds of the monotonic clock */
    double limit;                 /* copy bandwidth of the device [B/s]; 0: unknown */
    double steps_end;             /* step at which the run ends at the latest */
    double trend_time, trend_log; /* where the slope of the residual begins */
    size_t width;                 /* of the line on the terminal */
    bn_sim_state before;          /* steps and cells before a restart */
    double bytes_before;          /* what launches had declared then */
    bn_coordinate along;
    const char *counts;          /* what the rate is of */
    bn_progress_figures figures; /* of the last step looked at */
    pthread_t watcher;           /* prints within long steps: */
    pthread_mutex_t lock;        /* of `figures`, `last`, `width`, `ending` */
    pthread_cond_t changed;
    bool watched, ending;
} bn_progress;

/* Rates and the time left count from the present step. bn_progress_end comes before *p goes. */
void bn_progress_begin(bn_progress *, bn_sim *, bool quiet, bool json, double limit, double steps_end);

/* Prints when due. `wanted`: a line on stderr now, in any mode. */
void bn_progress_show(bn_progress *, bn_sim *, bool wanted);

/* Estimated seconds to the end; NaN: nothing is known. */
double bn_progress_left(bn_progress *, bn_sim *);

/* Ends the rewritten line and the thread; may be called again. */
void bn_progress_end(bn_progress *);

/* Kernels launched so far, at most BN_PROFILE_ROWS; none for the reference. all: also on the other grids of its solves.
 */
size_t bn_profile_rows(bn_sim *, bool all, bn_profile_row *rows);

/* Bytes that launches have declared since bn_progress_begin. */
double bn_progress_bytes(const bn_progress *, bn_sim *);

#endif
