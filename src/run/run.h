/* run.h: a case from its file to its folder: device, self-test, steps, output, summary. The program's `run` is a call
 * of this. */
#ifndef BN_RUN_H
#define BN_RUN_H

#include "binnacle/sim.h"
#include <signal.h>

/* What is to be said when the process is told to end while other ranks may be gone and nothing can be waited for: a
 * signal handler writes text[which], unless it is empty. */
typedef struct bn_last_words {
    char text[2][1024];
    volatile sig_atomic_t which;
} bn_last_words;

typedef struct bn_run_desc {
    const char *device; /* selector; NULL: environment or auto. Ignored with `reference` */
    bool reference;     /* the CPU reference: OpenCL is never touched */
    const char *out;    /* output folder; NULL: CASE-NAME.out in the current folder */
    bool force;         /* overwrite a finished run, go on after a failed self-test */
    bool profile;       /* time every kernel by device events and print the table */
    int boxes;
    size_t work_group[3];
    long long steps;     /* end after so many steps at most, no failure; < 0: what the case says */
    bool quiet, json;    /* no progress; progress and end as JSON lines on stdout */
    const char *program; /* path of this binary, for the self-test's child */
    const char *weights; /* "3,1": shares of the devices; NULL: alike, or by their speed */
    const char *resume;  /* a checkpoint to go on from; "": the newest in the output folder, if any; NULL: none */
    long long checkpoint_steps;           /* between checkpoints; 0: what the case says */
    double checkpoint_seconds;            /* the same by the clock */
    const volatile sig_atomic_t *stop;    /* non-zero: end after the step; the signal's number (SIGINT, SIGTERM) */
    volatile sig_atomic_t *status_wanted; /* non-zero: print a status line (SIGUSR1), then zero it */
    bn_last_words *last_words;            /* kept up to date by the rank that writes; may be NULL */
} bn_run_desc;

/* Runs the case. All that was written stays intact whatever the outcome:
 *   BN_OK           converged, or the steps were done, or the file STOP was found in the folder
 *   BN_DIVERGED     a value is not finite, a linear solve failed, or the case asks for convergence and stop.steps came
 * first BN_INTERRUPTED  `stop` was set; BN_TERMINATED if to SIGTERM; both times a checkpoint was written others as they
 * come: device, memory, mismatch (self-test), io */
BN_CHECKED bn_status bn_run_case(bn_context *, bn_case *, const bn_run_desc *);

#endif
