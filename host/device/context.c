/* context.c: creating and destroying a context. */
#include "device/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BN_VERSION_STRING
#error "the build passes -DBN_VERSION_STRING"
#endif

const char *bn_version(void) { return BN_VERSION_STRING; }

static void log_to_stderr(void *user, int level, const char *text)
{
    (void)user;
    if (level <= BN_LOG_WARNING)
        fprintf(stderr, "binnacle: %s\n", text);
}

/* "a" + "b" in fresh memory, NULL when a is NULL or memory is out. */
static char *joined(const char *a, const char *b)
{
    size_t bytes = a ? strlen(a) + strlen(b) + 1 : 0;
    char *text = a ? malloc(bytes) : NULL;
    if (text)
        snprintf(text, bytes, "%s%s", a, b);
    return text;
}

/* The cache folder that is wished for; NULL for none. XDG asks to ignore relative paths. */
static char *wished_cache_dir(const bn_context_desc *desc)
{
    const char *off = getenv("BINNACLE_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (off && strcmp(off, "off") == 0)
        return NULL;
    if (desc && desc->cache_dir)
        return desc->cache_dir[0] ? strdup(desc->cache_dir) : NULL;
    if (xdg && xdg[0] == '/')
        return joined(xdg, "/binnacle");
    return joined(home && home[0] == '/' ? home : NULL, "/.cache/binnacle");
}

bn_status bn_context_create(const bn_context_desc *desc, bn_context **out)
{
    *out = NULL;
    bn_context *ctx = calloc(1, sizeof *ctx);
    if (!ctx || !(ctx->story = calloc(1, BN_STORY_BYTES))) {
        free(ctx);
        return BN_MEMORY;
    }
    pthread_mutex_init(&ctx->lock, NULL);
    ctx->log = desc && desc->log ? desc->log : log_to_stderr;
    ctx->user = desc ? desc->user : NULL;
    ctx->debug = desc && desc->debug;
    ctx->comm.ranks = ctx->comm.local_ranks = 1;
    ctx->cache_dir = wished_cache_dir(desc);
    const char *kernels = desc && desc->kernel_dir ? desc->kernel_dir : getenv("BINNACLE_KERNEL_PATH");
    if (kernels && kernels[0] && !(ctx->kernel_dir = strdup(kernels))) {
        bn_context_destroy(&ctx);
        return BN_MEMORY;
    }
    *out = ctx;
    return BN_OK;
}

void bn_context_share_machine(bn_context *ctx, int index, int count)
{
    ctx->comm.local_rank = index;
    ctx->comm.local_ranks = count;
}

void bn_context_destroy(bn_context **context)
{
    if (!context || !*context)
        return;
    bn_context *ctx = *context;
    bn_detach_all(&ctx->attached);
    bn_error_clear(ctx);
    free(ctx->warnings);
    pthread_mutex_destroy(&ctx->lock);
    free(ctx->kernel_dir);
    free(ctx->cache_dir);
    free(ctx->story);
    free(ctx);
    *context = NULL;
}
