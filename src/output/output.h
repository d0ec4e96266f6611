/* output.h: what a run writes while it runs: series, fields with time, pictures, tables. */
#ifndef BN_OUTPUT_H
#define BN_OUTPUT_H

#include "output/output_dir.h"
#include "sim/sim_parts.h"

typedef struct bn_output bn_output;

/* Without an output directory no file is written: rows of the series are kept all the same.
 * `leads`: this rank writes the common files; the others only pieces of fields and parts of checkpoints. `synchronous`:
 * no writer thread (the OpenCL implementation must not be called from two). All ranks make the same calls. */
BN_CHECKED bn_status bn_output_create(bn_context *, bn_sim *, bn_output_dir *, bool leads, bool synchronous,
                                      bn_output **out);

/* Ranks write at their own pace. From time to time the run gets from bn_output_say what this rank has written, reduces
 * it over all ranks (bn_context_agree takes the largest) and passes it to bn_output_hear, which then writes the files
 * that list pieces and parts. */
enum { BN_OUTPUT_SAID = 2 };
void bn_output_say(const bn_output *, double said[BN_OUTPUT_SAID]);
BN_CHECKED bn_status bn_output_hear(bn_output *, const double said[BN_OUTPUT_SAID]);

/* After each step: a row of the series and the fields when they are due. Copies are enqueued; the writer's thread does
 * the rest. */
BN_CHECKED bn_status bn_output_after_step(bn_output *);

/* The rows of the series so far, as the text of series.csv; not ended by a NUL; lent until the next row. */
void bn_output_series(const bn_output *, const char **text, size_t *bytes);

/* Fields and pictures of the current state, unless they were just written. */
BN_CHECKED bn_status bn_output_fields(bn_output *);

/* Begins a checkpoint of the current state in checkpoint/, unless there is one of this step. The writer finishes it
 * after all files that were submitted before, so that the files that it lists exist. Waits while the one before is not
 * on the disk: there are never two copies of the state. */
BN_CHECKED bn_status bn_output_checkpoint(bn_output *);
/* Whether one is still being written. */
bool bn_output_saving(const bn_output *);
/* The step of the last one that is on the disk, or of the one that the run was resumed from; 0: none. */
unsigned long long bn_output_saved(const bn_output *);

/* Tables of the results, the chart of the residual, the series; waits for the writer, then joins the pictures of each
 * kind to an animation where the case asks for it and there are two or more. They are drawn again before that, with one
 * range of colours and one set of lines. `sound`: the last step succeeded and gets a row. The first failure counts, but
 * the rest is written all the same. */
BN_CHECKED bn_status bn_output_finish(bn_output *, bool sound);
void bn_output_destroy(bn_output **);

double bn_output_seconds(const bn_output *); /* spent by the stepping thread */
double bn_output_waited(const bn_output *);  /* of them, for memory of frames that were not written yet */

#endif
