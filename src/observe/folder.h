/* folder.h: the folder of a run: whose it is, and that only one run writes to it. */
#ifndef BN_OUTPUT_FOLDER_H
#define BN_OUTPUT_FOLDER_H

#include "binnacle/sim.h"

typedef struct bn_folder bn_folder;

/* Makes or takes over `path`: refused (BN_IO) when it holds what Binnacle did not write, when a finished run is in it
 * (unless `force`: then its output is removed), or when another run is at work there. Writes case.toml. */
BN_CHECKED bn_status bn_folder_open(bn_context *, const char *path, const bn_case *, bool force, bn_folder **out);

/* Lets the next run in. Accepts NULL. */
void bn_folder_close(bn_folder **);

const char *bn_folder_path(const bn_folder *);

/* A path inside, printf-like: fresh memory in *out. */
BN_CHECKED bn_status bn_folder_name(bn_folder *, char **out, const char *format, ...) BN_PRINTF(3, 4);

/* Whether the user has put a file STOP there; removes it. */
bool bn_folder_stop_wanted(bn_folder *);

/* Where a command writes unless told: "data/cavity.toml" with the ending ".out" is "cavity.out", in the present folder. NULL:
 * no memory; else free() it. */
char *bn_folder_default(const char *case_path, const char *ending);

#endif
