/* progress.h: progress and speed of a run, as lines of text. */
#ifndef BN_PROGRESS_H
#define BN_PROGRESS_H

#include "sim/sim_parts.h"

enum { BN_PROFILE_ROWS = 64 };

typedef struct bn_progress {
    bool quiet, json, terminal;
    double start, last;           /* seconds of the monotonic clock */
    double limit;                 /* copy bandwidth of the device [B/s]; 0: unknown */
    double steps_end;             /* step at which the run ends at the latest */
    double trend_time, trend_log; /* where the slope of the residual begins */
    size_t width;                 /* of the line on the terminal */
    bn_sim_state before;          /* steps and cells before a restart */
} bn_progress;

void bn_progress_begin(bn_progress *, bool quiet, bool json, double limit, double steps_end);

/* After a restart: rates and the remaining time count from the current step. */
void bn_progress_resume(bn_progress *, bn_sim *);

/* Prints when due. `wanted`: a line on stderr now, in any mode. */
void bn_progress_show(bn_progress *, bn_sim *, bool wanted);

/* Within a step that takes seconds: that it is at work. */
void bn_progress_within(bn_progress *, bn_sim *);

/* Estimated seconds to the end; NaN: nothing is known. */
double bn_progress_left(bn_progress *, bn_sim *);

/* Ends the rewritten line. */
void bn_progress_end(bn_progress *);

/* Kernels launched so far, at most BN_PROFILE_ROWS; none for the reference. */
size_t bn_profile_rows(bn_sim *, bn_profile_row *rows);

/* Bytes that all launches so far have declared. */
double bn_declared_bytes(bn_sim *);

#endif
