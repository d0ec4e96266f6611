/* embedded_files.h: files inside the library, made at build time by host/build/embed.awk. */
#ifndef BN_API_EMBEDDED_FILES_H
#define BN_API_EMBEDDED_FILES_H

#include "binnacle/context.h"
#include <stddef.h>
#include <stdint.h>

typedef struct bn_embedded {
    const char *name, *text;
    size_t bytes; /* of a file that is no text; 0: a text, which ends with a NUL */
} bn_embedded;

/* The self-test cases of each solver, "selftest/flow.toml" (data/cases/flow/selftest.toml) and any
 * "selftest/flow/heat.toml" (data/cases/flow/selftest-heat.toml); the other cases, with the files they name, materials
 * and tables by their paths, "data/cases/flood/house.toml"; ends with a NULL name. */
extern const bn_embedded bn_embedded_files[];

/* A hash over all kernel texts in use (embedded, or from the override folder): whatever was learned about kernels holds
 * for it. */
BN_CHECKED bn_status bn_kernels_hash(bn_context *, uint64_t *hash);

/* The same hash for other data: FNV-1a, 64 bit. Begin with BN_HASH_START. */
#define BN_HASH_START 0xcbf29ce484222325u
uint64_t bn_hash(uint64_t hash, const void *data, size_t bytes);

#endif
