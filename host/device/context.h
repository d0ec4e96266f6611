/* context.h: the insides of a context, shared by the files of host/ alone. */
#ifndef BN_HOST_CONTEXT_H
#define BN_HOST_CONTEXT_H

#include "binnacle/context.h"
#include "api/ranks.h"
#include "device/attachment.h"
#include "device/comm.h"
#include <pthread.h>

enum { BN_STORY_BYTES = 65536 };

struct bn_context {
    void (*log)(void *user, int level, const char *text);
    void *user;
    bool debug;
    pthread_mutex_t lock; /* story and log: the writer's thread may log too */
    bn_status status;     /* of the first failure */
    char *story;          /* BN_STORY_BYTES, so that lack of memory can still be told */
    bn_error_item *items; /* mistakes that the failure consists of; texts are the context's own */
    size_t item_count;
    char *warnings;  /* those of the log so far, a line each; NULL: none */
    char *cache_dir; /* as wished; checked when first asked for */
    enum { BN_CACHE_UNKNOWN, BN_CACHE_USABLE, BN_CACHE_REFUSED } cache_state;
    char *kernel_dir;
    bn_attachment *attached; /* by other files: destroyed with the context */
    struct bn_device *open;  /* the first of the open devices */
    bn_comm comm;            /* the only rank, unless it has joined others */
};

/* diagnostics.c: makes the folder and its parents, private, where they are missing. NULL, or why nothing that lies
 * there is to be run: it is no folder (nor is a link), belongs to somebody else, or others can write to it. */
const char *bn_private_folder(const char *path);

#endif
