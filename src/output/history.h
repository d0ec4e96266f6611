/* history.h: what a run has written so far: what the next file of a series needs to know, and what a run that goes on from
 * a checkpoint takes up again. */
#ifndef BN_PAST_H
#define BN_PAST_H

#include "io/csv.h"
#include "output/output_dir.h"
#include "sim/checkpoint_state.h"

#define BN_PAST_NEVER (~0ull)

typedef struct bn_past {
    unsigned long long fields_step; /* of the last fields; BN_PAST_NEVER: none yet */
    unsigned long long row_step;    /* of the last row of the series; 0: none yet */
    unsigned long long *moments;    /* steps whose fields or pictures were written */
    size_t moment_count;
    unsigned long long *drawn_steps; /* of the pictures so far: for the animations */
    size_t drawn_count;
    char **files; /* relative to the folder, with their times: for the .pvd */
    double *times;
    size_t file_count;
    double *steps_seen, *residuals; /* for the chart; room for BN_PAST_RESIDUALS once there is one */
    size_t seen;
} bn_past;

enum { BN_PAST_RESIDUALS = 4096 };

void bn_past_release(bn_past *);
BN_CHECKED bn_status bn_past_moment(bn_context *, bn_past *, unsigned long long step);
BN_CHECKED bn_status bn_past_drawn(bn_context *, bn_past *, unsigned long long step);
BN_CHECKED bn_status bn_past_file(bn_context *, bn_past *, const char *name, double time);
/* Every second point is dropped when there are too many. */
BN_CHECKED bn_status bn_past_residual(bn_context *, bn_past *, unsigned long long step, double residual);

/* To a checkpoint or from it, with the rows of the series. A checkpoint that no run has written leaves everything as it
 * is. */
BN_CHECKED bn_status bn_past_keep(bn_past *, bn_csv_series *, bn_keeper *);
/* Forgets files that are not in the folder: a run may go on in another one. */
void bn_past_trim(bn_past *, bn_folder *);

#endif
