/* context.h: the one object that everything is created through. It holds the first error and its story,
 * the log function, and the folders of caches and kernels; there is no global state.
 *
 * A call that fails returns a status and leaves a story in its context, which stands there until bn_error_clear: clear
 * it before going on, or the next failure is only logged. The log function may be called from threads of the library,
 * one at a time. */
#ifndef BINNACLE_CONTEXT_H
#define BINNACLE_CONTEXT_H

#include "binnacle/status.h"
#include <stdbool.h>
#include <stddef.h>

BN_INTERFACE_BEGIN

typedef struct bn_context bn_context;

enum { BN_LOG_WARNING = 1, BN_LOG_INFO = 2, BN_LOG_DEBUG = 3 };

typedef struct bn_context_desc {
    void (*log)(void *user, int level, const char *text); /* NULL: warnings go to stderr, the rest nowhere */
    void *user;
    const char *cache_dir;  /* NULL: $XDG_CACHE_HOME/binnacle or ~/.cache/binnacle; "" : no cache */
    const char *kernel_dir; /* NULL: $BINNACLE_KERNEL_PATH, or the text embedded in the library */
    bool debug;             /* canaries behind buffers, NaN in padding and stale halos; slow, same bits */
} bn_context_desc;

/* Creates a context; `desc` may be NULL. Fails only for lack of memory. Destroy last, after all it made. */
BN_CHECKED bn_status bn_context_create(const bn_context_desc *desc, bn_context **out);
void bn_context_destroy(bn_context **context);

/* Records a failure and returns `status`. The first failure wins: later ones are only logged at debug level. */
bn_status bn_fail(bn_context *, bn_status status, const char *format, ...) BN_PRINTF(3, 4);

/* Adds half a sentence to the story of the recorded failure ("while ..."); nothing if there is none. */
void bn_note(bn_context *, const char *format, ...) BN_PRINTF(2, 3);

/* The story so far: "what failed: why\n  while ...". "" when nothing failed. Owned by the context. */
const char *bn_error_text(const bn_context *);
bn_status bn_error_status(const bn_context *);
void bn_error_clear(bn_context *);

/* One of the mistakes that a failure consists of, as in a case file. Texts may be NULL where there is none. */
typedef struct bn_error_item {
    const char *file;     /* the file that it stands in; NULL: it came with `override` */
    const char *override; /* "key=value" of the command line */
    size_t line, column;  /* from 1; 0: nowhere */
    const char *key;      /* "grid.nodes" */
    const char *message;
} bn_error_item;

/* Copies a mistake to those of the recorded failure; without memory, or when nothing failed, it is left out. */
void bn_error_add(bn_context *, const bn_error_item *);
/* Lent until the next call on the context. */
const bn_error_item *bn_error_items(const bn_context *, size_t *count);

void bn_log(bn_context *, int level, const char *format, ...) BN_PRINTF(3, 4);
/* The warnings of the log so far, a line each, at most some 64 KiB; "": none. Lent until the next one. */
const char *bn_context_warnings(const bn_context *);

bool bn_context_debug(const bn_context *);

/* Folder for caches (made on demand, mode 0700, owned by the user), or NULL when none can be used.
 * Why it can't is logged once as a warning. */
const char *bn_context_cache_dir(bn_context *);

/* Folder that overrides the embedded kernels, or NULL. */
const char *bn_context_kernel_dir(const bn_context *);

/* The version of the library, "major.minor.patch". */
const char *bn_version(void);

BN_INTERFACE_END
#endif
