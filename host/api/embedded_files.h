/* embedded_files.h: texts that travel inside the library, made at build time by host/build/embed.awk. */
#ifndef BN_API_EMBEDDED_FILES_H
#define BN_API_EMBEDDED_FILES_H

typedef struct bn_embedded {
    const char *name, *text;
} bn_embedded;

/* The self-test case of each solver, "selftest/flow.toml" (data/cases/flow/selftest.toml); ends with a NULL name. */
extern const bn_embedded bn_embedded_files[];

#endif
