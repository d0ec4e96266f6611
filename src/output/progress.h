/* progress.h: the line that tells how far a run is, and how fast. */
#ifndef BN_PROGRESS_H
#define BN_PROGRESS_H

#include "sim/sim_parts.h"

enum { BN_PROFILE_ROWS = 64 };

typedef struct bn_progress {
    bool quiet, json, terminal;
    double start, last;           /* seconds of the monotonic clock */
    double limit;                 /* copy bandwidth of the device [B/s]; 0: unknown */
    double steps_end;             /* step at which the run ends at the latest */
    double trend_time, trend_log; /* where the slope of the residual is taken from */
    size_t width;                 /* of the line on the terminal */
    bn_sim_state before;          /* what was done before this process took over */
} bn_progress;

void bn_progress_begin(bn_progress *, bool quiet, bool json, double limit, double steps_end);

/* The simulation goes on from where it is: rates and the time left are those of what comes. */
void bn_progress_resume(bn_progress *, bn_sim *);

/* Prints when it is time to. `wanted`: a line on stderr now, whatever the mode. */
void bn_progress_show(bn_progress *, bn_sim *, bool wanted);

/* Ends the rewritten line. */
void bn_progress_end(bn_progress *);

/* Kernels that ran so far, at most BN_PROFILE_ROWS; none for the reference. */
size_t bn_profile_rows(bn_sim *, bn_profile_row *rows);

/* Bytes that all launches so far have declared. */
double bn_declared_bytes(bn_sim *);

#endif
