/* targets.h: the parsers that read what others wrote, by name, for hostile inputs. */
#ifndef BN_TEST_TARGETS_H
#define BN_TEST_TARGETS_H

#include "binnacle/context.h"

#include <stddef.h>

/* A scratch folder is the current one when `read` and `make` are called. */
typedef struct bn_target {
    const char *name;
    const char *file;     /* where the input lies: the end of its name chooses the parser */
    const char *seeds[2]; /* patterns of files in the tree (glob); beside them tests/fuzz/corpus/NAME */
    /* Reads the input; what it returns is looked at from end to end, and abort() says that it makes no sense. */
    void (*read)(bn_context *, const char *path, char *text, size_t bytes);
    void (*make)(bn_context *, const char *path); /* writes a seed that no file of the tree is; may be NULL */
} bn_target;

enum { BN_TARGETS = 22 };
extern const bn_target bn_targets[BN_TARGETS];

/* Makes the scratch folder and goes there; `home` is the tree's root. Once in a process; bn_target_end removes it. */
void bn_target_begin(char home[4096]);
void bn_target_end(const char *home);

/* All seeds, the one of `make` among them; free() each and the list. */
typedef struct bn_seed {
    char *data;
    size_t bytes;
} bn_seed;
size_t bn_target_seeds(const bn_target *, const char *home, bn_seed **out);

void bn_target_give(const bn_target *, const void *data, size_t bytes);

#endif
