/* suggest.h: the comparison of names for every "did you mean"; bn_suggest (schema.h) uses it for lists. */
#ifndef BN_SUGGEST_H
#define BN_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BN_NEAR_NONE SIZE_MAX

/* Whether `name` is near `word`, and nearer than `*best` (at first BN_NEAR_NONE), which then becomes its distance. Case
 * does not count. */
bool bn_nearer(const char *word, const char *name, size_t name_bytes, size_t *best);

#endif
