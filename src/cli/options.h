/* options.h: the command line as one table of commands and one of options; parsing, help and completion all
 * read them. */
#ifndef BN_OPTIONS_H
#define BN_OPTIONS_H

#include "api/ranks.h"
#include "run/run.h"

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
    BN_CMD_CASES = 1024,
    BN_CMD_HELP = 2048,
    BN_CMD_COMPARE = 4096,
    BN_CMD_SWEEP = 8192,
    BN_CMD_MATERIALS = 16384,
    BN_CMD_ALL = 32767
};

typedef enum bn_precision_wish { BN_WISH_BOTH, BN_WISH_SINGLE, BN_WISH_DOUBLE } bn_precision_wish;

typedef struct bn_options {
    bn_run_desc run; /* what a run reads; other commands take some of it */
    struct {
        const char *field;                   /* NULL: not given, as all texts here */
        const char *range, *slice;           /* LOW:HIGH, z=0.5 */
        const char *line, *format, *colours; /* X,Y:X,Y; end of file names; name of a colour map */
        bool log, overlay, animate;
    } plot;
    const char *suite, *compare; /* of bench */
    const char *tolerance;       /* of compare: a number */
    const char *sizes;           /* of bench: numbers separated by commas */
    const char *kernel;          /* of tune */
    const char *report;          /* of devices: the file */
    const char **set;            /* key=value texts, in the order given */
    size_t set_count;
    struct {
        const char **vary; /* KEY=VALUES texts */
        size_t vary_count;
        long long jobs;        /* points at once; 0: as many as devices */
        long long evaluations; /* of the optimiser, at most; 0: by the number of keys */
        const char *optimize;  /* RESULT=max or RESULT=min */
        const char *table;     /* names of results */
        bool zip;
    } sweep;
    bn_precision_wish precision;
    bool verbose, help, version, check, measure, child, quick, full, all, shapes_only, defines;
    const char *const *args; /* arguments after the command that are no options */
    size_t arg_count;
    const struct bn_command *commands; /* the table, for help and completion */
} bn_options;

/* What a command gets from main. */
typedef struct bn_cli {
    bn_context *ctx;
    const bn_options *options;
    const char *program;               /* path of this binary, for child processes */
    const volatile sig_atomic_t *stop; /* non-zero: end soon (SIGINT, SIGTERM) */
    bool *answered;                    /* --json: the command has printed its document */
} bn_cli;

typedef struct bn_command {
    const char *name, *arguments, *summary;
    const char *details; /* more lines for `COMMAND --help` */
    unsigned bit;
    size_t least, most;     /* how many arguments it takes */
    bool hidden, stoppable; /* stoppable: it looks at bn_cli.stop */
    bn_status (*run)(const bn_cli *);
} bn_command;

/* Parses the command line by the table of `commands`, which ends with a NULL name; `*command` is NULL when none was
 * named. BN_USAGE with what is wrong and what was meant. Release the options also after a failure. */
BN_CHECKED bn_status bn_options_parse(bn_context *, const bn_command *commands, int argc, char **argv, bn_options *,
                                      const bn_command **command);
void bn_options_release(bn_options *);

/* Help of the program (NULL) or of a command, to stdout or stderr. */
void bn_options_help(const bn_options *, const bn_command *, bool to_stderr);

/* The next option of a command from number *i on, which then is behind it; false: there is none. */
typedef struct bn_option_info {
    const char *name, *argument, *help; /* argument: NULL: it takes none */
    char letter;                        /* 0: none */
    bool perhaps;                       /* the argument may be left out */
} bn_option_info;
bool bn_options_next(const bn_command *, size_t *i, bn_option_info *out);

/* `binnacle help [COMMAND]`. */
BN_CHECKED bn_status bn_cli_help(const bn_cli *);
/* A completion script for a shell on stdout. */
BN_CHECKED bn_status bn_cli_completion(const bn_cli *);

#endif
