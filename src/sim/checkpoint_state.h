/* checkpoint_state.h: the named numbers of a checkpoint that are no fields. The same calls fill it and read from it. */
#ifndef BN_CHECKPOINT_STATE_H
#define BN_CHECKPOINT_STATE_H

#include "io/checkpoint_part.h"
#include "sim/solver.h"

enum { BN_STATE_NAME = 96 };

typedef struct bn_state_entry {
    char name[BN_STATE_NAME]; /* "solver/spectrum" */
    bn_part_type type;        /* F64, I64 or U8 */
    size_t count;
    void *values; /* NULL when count is 0 */
} bn_state_entry;

/* `path`: of the checkpoint, for messages; `case_path`: of the case that restarts from it. Neither is owned. */
struct bn_checkpoint_state {
    bn_context *ctx;
    bool restores;
    const char *path, *case_path;
    char group[32]; /* prefix of the names */
    bn_state_entry *items;
    size_t count;
};

/* Names from here on belong to `group`: "run", "solver", "output". */
void bn_checkpoint_state_group(bn_checkpoint_state *, const char *group);
/* Texts of any length; restoring gives a NUL-terminated text in *text that the state owns. */
BN_CHECKED bn_status bn_state_text(bn_checkpoint_state *, const char *name, const char **text, size_t *bytes);
/* Whether a state that is restored has that name in the current group. */
bool bn_checkpoint_state_has(const bn_checkpoint_state *, const char *name);
/* Appends an entry with memory for its values and one byte more; for readers of files. */
BN_CHECKED bn_status bn_checkpoint_state_add(bn_checkpoint_state *, const char *name, bn_part_type, size_t count,
                                             bn_state_entry **out);
void bn_checkpoint_state_release(bn_checkpoint_state *);

#endif
