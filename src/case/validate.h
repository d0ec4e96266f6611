/* validate.h: from the tree of a TOML text to the values of a case, key by key. */
#ifndef BN_VALIDATE_H
#define BN_VALIDATE_H

#include "case_parts.h"

/* Reads all keys below `root` that nothing has given yet, and reports unknown ones. `complete`: the solver's keys are
 * known too. */
void bn_validate(bn_reader *, const bn_toml *root, bool complete);

/* Gives what an override says of items of lists that the file has, "layer.1.thickness". */
void bn_validate_items(bn_reader *, const bn_toml *root);

/* Reports required keys that nothing gives, at their table in the file's tree. */
void bn_validate_missing(bn_reader *, const bn_toml *root);

/* The entry with a full name such as "grid.size", of which `bytes` bytes count; NULL when there is none. */
const bn_toml *bn_toml_find(const bn_toml *root, const char *name, size_t bytes);

#endif
