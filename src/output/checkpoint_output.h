/* checkpoint_output.h: checkpoints of a run, written by the writer's thread while steps continue. */
#ifndef BN_CHECKPOINT_OUTPUT_H
#define BN_CHECKPOINT_OUTPUT_H

#include "io/writer.h"
#include "output/history.h"
#include "sim/sim_parts.h"

#include <stdatomic.h>

/* Members from `parts` on are zero at the beginning; must not move while a checkpoint is being written. */
typedef struct bn_checkpoint_output {
    bn_context *ctx;
    bn_sim *sim;
    bn_output_dir *folder;
    bn_writer *writer;
    bool leads;                   /* this rank writes the manifest */
    unsigned long long step;      /* of the last one; BN_HISTORY_NEVER: none yet */
    struct checkpoint_job *parts; /* whose parts not all ranks have written */
    unsigned long long begun;     /* checkpoints in parts so far */
    atomic_ullong parts_written;  /* of them, by this rank */
    atomic_bool writing;          /* one is on its way to the disk */
    atomic_ullong on_disk;        /* step of the last one that is complete; 0: none */
} bn_checkpoint_output;

/* Begins a checkpoint of the current state in checkpoint/, with the history and the rows of the series, unless there is
 * one of this step. Waits while the one before is not on the disk: there are never two copies of the state. */
BN_CHECKED bn_status bn_checkpoint_output_begin(bn_checkpoint_output *, bn_history *, bn_csv_series *);
/* So many checkpoints have been written in parts by all ranks: writes the manifest of the one that waits for it. */
BN_CHECKED bn_status bn_checkpoint_output_complete(bn_checkpoint_output *, unsigned long long by_all);
/* When the writer has ended. */
void bn_checkpoint_output_release(bn_checkpoint_output *);

#endif
