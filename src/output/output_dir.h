/* output_dir.h: the folder of a run: whose it is, and that only one run writes to it. */
#ifndef BN_OUTPUT_FOLDER_H
#define BN_OUTPUT_FOLDER_H

#include "binnacle/sim.h"

typedef struct bn_folder bn_folder;

typedef enum bn_folder_use {
    BN_FOLDER_NEW,   /* refused when results or a checkpoint of an earlier run are there */
    BN_FOLDER_FORCE, /* they are removed */
    BN_FOLDER_GO_ON  /* they stay, but for the summary */
} bn_folder_use;

/* Makes or takes over `path`: refused (BN_IO) when it holds what Binnacle did not write, or when another run is at work
 * there. Writes case.toml. */
BN_CHECKED bn_status bn_folder_open(bn_context *, const char *path, const bn_case *, bn_folder_use, bn_folder **out);

/* The same folder on another rank than the one that opened it: only to name files in it. BN_IO if it is not to be seen
 * there. */
BN_CHECKED bn_status bn_folder_follow(bn_context *, const char *path, bn_folder **out);

/* Removes numbered fields and pictures of all steps but these: what a run wrote after its checkpoint. */
void bn_folder_remove_others(bn_folder *, const unsigned long long *steps, size_t count);

/* Lets the next run in. Accepts NULL. */
void bn_folder_close(bn_folder **);

const char *bn_folder_path(const bn_folder *);

/* A path inside, printf-like: fresh memory in *out. */
BN_CHECKED bn_status bn_folder_name(bn_folder *, char **out, const char *format, ...) BN_PRINTF(3, 4);

/* Whether the user has put a file STOP there; removes it. */
bool bn_folder_stop_wanted(bn_folder *);

/* Where a command writes unless told: "data/cavity.toml" with the ending ".out" is "cavity.out", in the present folder.
 * NULL: no memory; else free() it. */
char *bn_folder_default(const char *case_path, const char *ending);

#endif
