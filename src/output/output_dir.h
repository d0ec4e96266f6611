/* output_dir.h: the output directory of a run, with a lock against other runs. */
#ifndef BN_OUTPUT_DIR_H
#define BN_OUTPUT_DIR_H

#include "binnacle/sim.h"
#include "io/file.h"

typedef struct bn_output_dir bn_output_dir;

typedef enum bn_output_dir_use {
    BN_OUTPUT_DIR_NEW,   /* refused if it has results or a checkpoint of an earlier run */
    BN_OUTPUT_DIR_FORCE, /* they are removed */
    BN_OUTPUT_DIR_GO_ON  /* they stay, but for summary and report */
} bn_output_dir_use;

/* Whether a run may use `path` as it is now: BN_IO, as below. Nothing is made or locked. */
BN_CHECKED bn_status bn_output_dir_admit(bn_context *, const char *path, bn_output_dir_use);

/* Makes or reuses `path`: refused (BN_IO) if it holds files that Binnacle did not write, or if another run uses it.
 * Writes case.toml. */
BN_CHECKED bn_status bn_output_dir_open(bn_context *, const char *path, const bn_case *, bn_output_dir_use,
                                        bn_output_dir **out);

/* The same directory on another rank, to name files in it. BN_IO if it is not visible there. */
BN_CHECKED bn_status bn_output_dir_follow(bn_context *, const char *path, bn_output_dir **out);

bool bn_steps_have(const unsigned long long *steps, size_t count, unsigned long long step);
/* Removes numbered fields and pictures of all steps but these: files that a run wrote after its checkpoint. */
void bn_output_dir_remove_others(bn_output_dir *, const unsigned long long *steps, size_t count);

/* Releases the lock. Accepts NULL. */
void bn_output_dir_close(bn_output_dir **);

const char *bn_output_dir_path(const bn_output_dir *);

/* A path inside, printf-like. */
bn_path bn_output_dir_name(const bn_output_dir *, const char *format, ...) BN_PRINTF(2, 3);

/* Whether the user has put a file STOP there; removes it. */
bool bn_output_dir_stop_wanted(bn_output_dir *);

/* Default output directory: for "data/cavity.toml" and the ending ".out", "cavity.out" in the current directory. */
bn_path bn_output_dir_default(const char *case_path, const char *ending);

#endif
