/* run.h: runs a case: device, self-test, steps, output, summary. `binnacle run` is a call of this. */
#ifndef BN_RUN_H
#define BN_RUN_H

#include "binnacle/run.h"
#include <signal.h>

/* Message of a signal handler when other ranks may have ended, so that nothing can be waited for: it writes
 * text[which], unless that is empty. */
typedef struct bn_last_words {
    char text[2][1024];
    volatile sig_atomic_t which;
} bn_last_words;

/* The options of a run: the command line fills them in, run, output and simulation read them. */
typedef struct bn_run_desc {
    const char *device;  /* selector; NULL: environment or auto. Ignored with `reference` */
    bool reference;      /* the CPU reference: OpenCL is never touched */
    const char *out;     /* output directory; NULL: CASE-NAME.out in the current one */
    bool force;          /* overwrite a finished run, run after a failed self-test */
    bool profile;        /* time every kernel by device events and print the table */
    bn_sim_desc sim;     /* boxes and work-groups; the run sets its other members */
    long long steps;     /* end after so many steps at most, no failure; < 0: what the case says */
    bool quiet, json;    /* no progress; progress and end as JSON lines on stdout */
    const char *program; /* path of this binary, for the child process of the self-test */
    const char *weights; /* "3,1": shares of the devices; NULL: equal, or by their speed */
    const char *resume;  /* checkpoint to restart from; "": the newest in the output directory, if any; NULL: none */
    long long checkpoint_steps;           /* between checkpoints; 0: what the case says */
    double checkpoint_seconds;            /* the same by the clock */
    long long guard;                      /* every so many steps one is computed twice and compared; 0: none */
    const volatile sig_atomic_t *stop;    /* non-zero: end after the step; the signal's number (SIGINT, SIGTERM) */
    volatile sig_atomic_t *status_wanted; /* non-zero: print a status line (SIGUSR1), then zero it */
    bn_last_words *last_words;            /* kept up to date by the rank that writes; may be NULL */
    const bn_run_options *library;        /* of bn_run: its device, watch, and whether there is a folder; else NULL */
    bn_sim **keep;                        /* receives the simulation at its end, which else is destroyed */
} bn_run_desc;

/* Runs the case. All that was written stays intact whatever the outcome:
 *   BN_OK           converged, or the steps were done, or the file STOP was found in the output directory
 *   BN_DIVERGED     a value is not finite, a linear solve failed, or stop.steps came before the convergence that the
 * case asks for BN_INTERRUPTED  `stop` was set, BN_TERMINATED: to SIGTERM; a checkpoint was written others device,
 * memory, mismatch (self-test), io */
BN_CHECKED bn_status bn_run_case(bn_context *, bn_case *, const bn_run_desc *);

#endif
