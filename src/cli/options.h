/* options.h: the command line, parsed once from one table that also makes the help and the completion. */
#ifndef BN_OPTIONS_H
#define BN_OPTIONS_H

#include "binnacle/binnacle.h"
#include <signal.h>

enum { BN_SETS_MAX = 128 };

typedef enum bn_which_precision { BN_AS_CASE, BN_ONLY_SINGLE, BN_ONLY_DOUBLE, BN_BOTH } bn_which_precision;

typedef struct bn_options {
    const char *device, *out, *field;
    const char *sets[BN_SETS_MAX];
    size_t set_count;
    long long steps;              /* -1: not given */
    int boxes;
    size_t work_group[3];
    bn_which_precision precision;
    bool reference, profile, json, quiet, verbose, force, check, measure, child;
    const char *const *arguments; /* what is left: case files, names */
    size_t argument_count;
    const char *program;          /* path of this binary */
    const volatile sig_atomic_t *stop;
    volatile sig_atomic_t *status_wanted;
} bn_options;

/* A command of the program. */
typedef struct bn_command {
    const char *name, *arguments, *help;
    const char *options;          /* names of the options it takes, separated by blanks */
    size_t least, most;           /* arguments */
    bn_status (*run)(bn_context *, const bn_options *);
    const char *details;          /* more help; may be NULL */
} bn_command;

/* Ends with a NULL name; commands without help are not listed. */
extern const bn_command bn_commands[];

/* Parses argv[1...] behind the command. BN_USAGE with a message on stderr. `*help`: --help was given. */
BN_CHECKED bn_status bn_options_parse(int argc, char **argv, const bn_command *, bn_options *, bool *help);

void bn_help(void);                           /* all commands, to stdout */
void bn_help_command(const bn_command *);

/* Reads the case with the overrides of the command line. */
BN_CHECKED bn_status bn_options_case(bn_context *, const bn_options *, bn_case **out);

bn_status bn_cli_run(bn_context *, const bn_options *);
bn_status bn_cli_verify(bn_context *, const bn_options *);
bn_status bn_cli_check(bn_context *, const bn_options *);
bn_status bn_cli_devices(bn_context *, const bn_options *);
bn_status bn_cli_new(bn_context *, const bn_options *);
bn_status bn_cli_plot(bn_context *, const bn_options *);
bn_status bn_cli_self_test(bn_context *, const bn_options *);

#endif
