/* diagnostics.c: errors, the log, the clock, and the folders of caches and kernels: what every other file needs. */
#include "api/device.h"
#include "device/context.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

double bn_seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Without memory, or after very many of them, a warning is not kept: the log has it. */
static void keep_warning(bn_context *ctx, const char *text)
{
    const size_t had = ctx->warnings ? strlen(ctx->warnings) : 0, bytes = strlen(text);
    char *grown = had + bytes < BN_STORY_BYTES ? realloc(ctx->warnings, had + bytes + 2) : NULL;
    if (!grown)
        return;
    snprintf(grown + had, bytes + 2, "%s\n", text);
    ctx->warnings = grown;
}

const char *bn_context_warnings(const bn_context *ctx) { return ctx->warnings ? ctx->warnings : ""; }

void bn_log(bn_context *ctx, int level, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&ctx->lock);
    ctx->log(ctx->user, level, text);
    if (level == BN_LOG_WARNING)
        keep_warning(ctx, text);
    pthread_mutex_unlock(&ctx->lock);
}

bn_status bn_fail(bn_context *ctx, bn_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&ctx->lock);
    bool first = ctx->status == BN_OK;
    char later[1024];
    if (first) {
        ctx->status = status;
        vsnprintf(ctx->story, BN_STORY_BYTES, format, args);
    } else {
        vsnprintf(later, sizeof later, format, args);
    }
    pthread_mutex_unlock(&ctx->lock);
    va_end(args);
    if (!first)
        bn_log(ctx, BN_LOG_DEBUG, "after the first failure: %s", later);
    return status;
}

void bn_note(bn_context *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&ctx->lock);
    size_t at = strlen(ctx->story);
    if (ctx->status != BN_OK && at + 4 < BN_STORY_BYTES) {
        at += (size_t)snprintf(ctx->story + at, BN_STORY_BYTES - at, "\n  ");
        vsnprintf(ctx->story + at, BN_STORY_BYTES - at, format, args);
    }
    pthread_mutex_unlock(&ctx->lock);
    va_end(args);
}

const char *bn_error_text(const bn_context *ctx) { return ctx->story; }
bn_status bn_error_status(const bn_context *ctx) { return ctx->status; }
bool bn_context_debug(const bn_context *ctx) { return ctx->debug; }
const char *bn_context_kernel_dir(const bn_context *ctx) { return ctx->kernel_dir; }

void bn_error_clear(bn_context *ctx)
{
    ctx->status = BN_OK;
    ctx->story[0] = '\0';
    for (size_t i = 0; i < ctx->item_count; i++) {
        const bn_error_item *item = &ctx->items[i];
        free((char *)item->file);
        free((char *)item->override);
        free((char *)item->key);
        free((char *)item->message);
    }
    free(ctx->items);
    ctx->items = NULL;
    ctx->item_count = 0;
}

static char *copied(const char *text) { return text ? strdup(text) : NULL; }

void bn_error_add(bn_context *ctx, const bn_error_item *item)
{
    bn_error_item *grown = ctx->status != BN_OK ? realloc(ctx->items, (ctx->item_count + 1) * sizeof *grown) : NULL;
    if (!grown)
        return;
    ctx->items = grown;
    ctx->items[ctx->item_count++] = (bn_error_item){ .file = copied(item->file),
                                                     .override = copied(item->override),
                                                     .line = item->line,
                                                     .column = item->column,
                                                     .key = copied(item->key),
                                                     .message = copied(item->message) };
}

const bn_error_item *bn_error_items(const bn_context *ctx, size_t *count)
{
    *count = ctx->item_count;
    return ctx->items;
}

/* Makes the folder and its parents, each private. */
static int make_folders(const char *path)
{
    char part[4096];
    size_t length = strlen(path);
    if (length >= sizeof part)
        return ENAMETOOLONG;
    for (size_t i = 1; i <= length; i++)
        if (path[i] == '/' || path[i] == '\0') {
            memcpy(part, path, i);
            part[i] = '\0';
            if (mkdir(part, 0700) != 0 && errno != EEXIST)
                return errno;
        }
    return 0;
}

const char *bn_private_folder(const char *path)
{
    struct stat s;
    const int error = make_folders(path);
    if (error != 0 || lstat(path, &s) != 0)
        return strerror(error != 0 ? error : errno);
    if (!S_ISDIR(s.st_mode))
        return "it is no folder";
    if (s.st_uid != geteuid())
        return "it belongs to somebody else";
    if (s.st_mode & (S_IWGRP | S_IWOTH))
        return "others can write to it";
    return access(path, W_OK | X_OK) == 0 ? NULL : strerror(errno);
}

const char *bn_context_cache_dir(bn_context *ctx)
{
    if (ctx->cache_state == BN_CACHE_UNKNOWN && ctx->cache_dir) {
        const char *why = bn_private_folder(ctx->cache_dir);
        if (why)
            bn_log(ctx, BN_LOG_WARNING, "no cache: %s can't be used (%s); kernels are compiled anew each time",
                   ctx->cache_dir, why);
        ctx->cache_state = why ? BN_CACHE_REFUSED : BN_CACHE_USABLE;
    }
    return ctx->cache_state == BN_CACHE_USABLE ? ctx->cache_dir : NULL;
}
