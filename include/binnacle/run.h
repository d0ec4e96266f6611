/* run.h: a case from its beginning to its end in one call, as `binnacle run` does it: with an output directory, with
 * checkpoints, and with somebody who watches and may stop it. */
#ifndef BINNACLE_RUN_H
#define BINNACLE_RUN_H

#include "binnacle/sim.h"

BN_INTERFACE_BEGIN

/* Zeroed: on the reference, to the end that the case says, nothing written, nobody asked. Everything is lent for the
 * call. */
typedef struct bn_run_options {
    bn_sim_desc sim;            /* device, pieces, work-groups, checkpoint to go on from */
    const char *out;            /* output directory, made if need be; NULL: no file is written */
    bool force;                 /* overwrite a finished run there */
    unsigned long long steps;   /* end after so many at most, which is no failure; 0: where the case ends */
    long long checkpoint_steps; /* between checkpoints in `out`; 0: what the case says */
    double checkpoint_seconds;  /* the same by the clock [s] */
    bn_watch watch;
    /* Path of the program `binnacle`: it tests the device with known answers, once for each device and driver, in a
     * process of its own, since drivers may crash. NULL: no test. */
    const char *program;
} bn_run_options;

/* Runs a case and measures its results. What was written stays whatever the outcome:
 *   BN_OK           converged, or all steps were done, or a file STOP was found in `out`
 *   BN_DIVERGED     a value is not finite, a linear solve failed, or stop.steps came before the convergence that the
 *                   case asks for
 *   BN_INTERRUPTED  the watch said so; with `out` a checkpoint was written
 *   others          device, memory, mismatch (self-test), io, case: see bn_error_text
 * `*out` is the simulation where it ended, also after BN_DIVERGED and BN_INTERRUPTED: fields, results and series can be
 * read from it, and it can be stepped on. NULL when the run did not get to its first step. The caller destroys it,
 * before the device and the case. `out` may be NULL. */
BN_CHECKED bn_status bn_run(bn_context *, bn_case *, const bn_run_options *, bn_sim **out);

BN_INTERFACE_END
#endif
