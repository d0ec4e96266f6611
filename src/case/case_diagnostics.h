/* case_diagnostics.h: what is wrong with a case, collected, and printed with the lines it stands in. */
#ifndef BN_CASE_DIAGNOSTICS_H
#define BN_CASE_DIAGNOSTICS_H

#include "string_buffer.h"
#include "toml_shim.h"

#include "binnacle/context.h"

#include <stdarg.h>

enum {
    BN_DIAGNOSTICS_LISTED = 50, /* printed one by one; the rest is counted */
    BN_DIAGNOSTICS_KEPT = 1000  /* stored for sorting; more are only counted */
};

typedef struct bn_diagnostic {
    bn_toml_place place;
    size_t override; /* 0: in the file; else the number of the override from 1 */
    char *key;       /* full name, "grid.nodes"; NULL: it is about none, or there was no memory */
    char *text;
    size_t order; /* as found */
} bn_diagnostic;

/* Zeroed memory is an empty list. */
typedef struct bn_diagnostics {
    bn_diagnostic *items;
    size_t count, room;
    size_t total; /* with those only counted */
    bool failed;  /* out of memory */
} bn_diagnostics;

/* The text that places refer to, and what the last line points at. */
typedef struct bn_source {
    const char *name; /* of the file */
    const char *text;
    size_t bytes;
    const char *const *overrides;
    const char *solver; /* NULL: not known */
} bn_source;

/* Copies `key` (NULL: none), takes `text` over (NULL: no memory). */
void bn_diagnostics_add(bn_diagnostics *, bn_toml_place place, size_t override, const char *key, char *text);

/* True when a further problem would only be counted, so that finding words for it is wasted. */
bool bn_diagnostics_full(const bn_diagnostics *);

/* All problems in the order of lines, then of overrides, and the line that counts them; free() it. NULL: no memory. */
char *bn_diagnostics_text(bn_diagnostics *, const bn_source *);
void bn_diagnostics_clear(bn_diagnostics *);

/* Fails with that text as BN_CASE, and adds each problem that it lists to those of the failure. */
bn_status bn_diagnostics_fail(bn_context *, bn_diagnostics *, const bn_source *);

#endif
