/* commands.h: one function a command. Each prints its results on stdout and returns a failure for main to tell. */
#ifndef BN_COMMANDS_H
#define BN_COMMANDS_H

#include "cli/options.h"

BN_CHECKED bn_status bn_cli_run(const bn_cli *);
BN_CHECKED bn_status bn_cli_verify(const bn_cli *);
BN_CHECKED bn_status bn_cli_check(const bn_cli *);
BN_CHECKED bn_status bn_cli_devices(const bn_cli *);
BN_CHECKED bn_status bn_cli_new(const bn_cli *);
BN_CHECKED bn_status bn_cli_cases(const bn_cli *);
BN_CHECKED bn_status bn_cli_materials(const bn_cli *);
BN_CHECKED bn_status bn_cli_plot(const bn_cli *);
BN_CHECKED bn_status bn_cli_sweep(const bn_cli *);
BN_CHECKED bn_status bn_cli_compare(const bn_cli *);
BN_CHECKED bn_status bn_cli_bench(const bn_cli *);
BN_CHECKED bn_status bn_cli_tune(const bn_cli *);
BN_CHECKED bn_status bn_cli_selftest(const bn_cli *);

/* Version, compiler and libraries, on stdout. */
void bn_cli_version(void);

/* A program that was carried here has the database of units and a font beside it, below ../share/binnacle: libraries
 * get to know them by the variables of their own, unless those are set. */
void bn_cli_use_own_files(void);

#endif
