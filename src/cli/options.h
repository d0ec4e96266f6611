/* options.h: the command line as one table of commands and one of options; parsing, help and completion all
 * read them. */
#ifndef BN_OPTIONS_H
#define BN_OPTIONS_H

#include "binnacle/context.h"
#include <signal.h>

/* Commands as bits, so that an option can say which ones take it. */
enum {
    BN_CMD_RUN = 1,
    BN_CMD_VERIFY = 2,
    BN_CMD_CHECK = 4,
    BN_CMD_DEVICES = 8,
    BN_CMD_NEW = 16,
    BN_CMD_PLOT = 32,
    BN_CMD_COMPLETION = 64,
    BN_CMD_SELFTEST = 128,
    BN_CMD_TUNE = 256,
    BN_CMD_BENCH = 512,
    BN_CMD_ALL = 1023
};

typedef enum bn_precision_wish { BN_WISH_BOTH, BN_WISH_SINGLE, BN_WISH_DOUBLE } bn_precision_wish;

typedef struct bn_options {
    const char *device, *out, *field; /* NULL: not given */
    const char *suite, *compare;      /* of bench */
    const char *sizes;                /* of bench: numbers with commas between; NULL: not given */
    const char *kernel;               /* of tune; NULL: not given */
    const char *weights;              /* of devices; NULL: not given */
    const char *report;               /* of devices: the file; NULL: not given */
    const char *resume;               /* "": the newest checkpoint in the output folder; NULL: not given */
    long long checkpoint_steps;       /* 0: not given */
    double checkpoint_seconds;        /* 0: not given */
    const char **set;                 /* key=value texts, in the order given */
    size_t set_count;
    long long steps;      /* < 0: not given */
    int boxes;            /* 0: not given */
    size_t work_group[3]; /* {0}: not given */
    bn_precision_wish precision;
    bool reference, profile, json, quiet, verbose, force, help, version, check, measure, child, quick, full,
        shapes_only, defines;
    const char *const *args; /* what is no option, behind the command */
    size_t arg_count;
} bn_options;

/* What a command gets from main. */
typedef struct bn_cli {
    bn_context *ctx;
    const bn_options *options;
    const char *program;                  /* path of this binary, for child processes */
    const volatile sig_atomic_t *stop;    /* non-zero: end soon (SIGINT, SIGTERM) */
    volatile sig_atomic_t *status_wanted; /* non-zero: print a status line (SIGUSR1) */
    bool *answered;                       /* --json: the command has printed its document */
    struct bn_last_words *last_words;     /* what a signal handler says when it may be too late for more */
} bn_cli;

typedef struct bn_command {
    const char *name, *arguments, *summary;
    const char *details; /* more lines for `COMMAND --help` */
    unsigned bit;
    size_t least, most;     /* how many arguments it takes */
    bool hidden, stoppable; /* stoppable: it looks at bn_cli.stop */
    bn_status (*run)(const bn_cli *);
} bn_command;

extern const bn_command bn_commands[]; /* ends with a NULL name; stands in main.c */

/* Parses the command line; `*command` is NULL when none was named. BN_USAGE with what is wrong and what was meant.
 * Release the options also after a failure. */
BN_CHECKED bn_status bn_options_parse(bn_context *, int argc, char **argv, bn_options *, const bn_command **command);
void bn_options_release(bn_options *);

/* Help of the program (NULL) or of a command, to stdout or stderr. */
void bn_options_help(const bn_command *, bool to_stderr);

/* A completion script for bash on stdout. */
bn_status bn_cli_completion(const bn_cli *);

#endif
