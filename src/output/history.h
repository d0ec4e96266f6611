/* history.h: what a run has written so far: for files that list others, for charts and animations, and for restarts. */
#ifndef BN_HISTORY_H
#define BN_HISTORY_H

#include "io/csv.h"
#include "output/output_dir.h"
#include "sim/checkpoint_state.h"

#define BN_HISTORY_NEVER (~0ull)

typedef struct bn_history {
    unsigned long long fields_step; /* of the last fields; BN_HISTORY_NEVER: none yet */
    unsigned long long row_step;    /* of the last row of the series; 0: none yet */
    unsigned long long *frames;     /* steps whose fields or pictures were written */
    size_t frame_count;
    unsigned long long *drawn_steps; /* of the pictures, for animations */
    size_t drawn_count;
    char **files; /* relative to the output directory, with their times: for fields.pvd */
    double *times;
    size_t file_count;
    double *steps_seen, *residuals; /* for the chart; room for BN_HISTORY_RESIDUALS once there is one */
    size_t seen;
} bn_history;

enum { BN_HISTORY_RESIDUALS = 4096 };

void bn_history_release(bn_history *);
BN_CHECKED bn_status bn_history_frame(bn_context *, bn_history *, unsigned long long step);
BN_CHECKED bn_status bn_history_drawn(bn_context *, bn_history *, unsigned long long step);
BN_CHECKED bn_status bn_history_file(bn_context *, bn_history *, const char *name, double time);
/* Every second point is dropped when there are too many. */
BN_CHECKED bn_status bn_history_residual(bn_context *, bn_history *, unsigned long long step, double residual);

/* To a checkpoint or from it, with the rows of the series. A checkpoint that bn_sim_save wrote changes nothing. */
BN_CHECKED bn_status bn_history_serialize(bn_history *, bn_csv_series *, bn_checkpoint_state *);
/* Forgets files that are not in the output directory: a run may be resumed in another one. */
void bn_history_trim(bn_history *, bn_output_dir *);

#endif
