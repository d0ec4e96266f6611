/* build.c: programs compiled beside the host, where compilers let themselves be called from several threads
 * (bn_quirks.parallel_builds): by one thread, in order, and by whoever waits for a kernel and has nothing else to do.
 * More at once would not come sooner: such a compiler holds a lock most of the time. */
#include "grid/build.h"

#include "device/program_build.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct bn_builder {
    pthread_mutex_t lock;
    pthread_cond_t compiled;
    bn_build *waiting, *all;
    pthread_t thread;
    bool works, started; /* the thread; it ends when nothing waits */
};

bool bn_build_comes_later(const char *file) { return strcmp(file, "reduce") == 0; }

static void compile(bn_build *b) { b->st = bn_cl_build(b->device, b->file, b->text, b->options, &b->cl, &b->cached); }

/* With the lock, which is given up meanwhile. */
static void compile_unlocked(bn_builder *w, bn_build *b)
{
    pthread_mutex_unlock(&w->lock);
    compile(b);
    pthread_mutex_lock(&w->lock);
    b->compiled = true;
    pthread_cond_broadcast(&w->compiled);
}

static void *work(void *user)
{
    bn_builder *w = user;
    pthread_mutex_lock(&w->lock);
    for (bn_build *b; (b = w->waiting) != NULL;) {
        w->waiting = b->next;
        compile_unlocked(w, b);
    }
    w->works = false;
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void join(bn_builder *w)
{
    if (w->started)
        (void)pthread_join(w->thread, NULL); /* fails only where there is no such thread */
    w->started = false;
}

static void destroy_builder(void *object)
{
    bn_builder *w = object;
    join(w);
    pthread_cond_destroy(&w->compiled);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static bn_builder *find_builder(bn_context *ctx)
{
    bn_builder *w = bn_attached(ctx->attached, destroy_builder);
    if (w || !(w = calloc(1, sizeof *w)))
        return w;
    (void)pthread_mutex_init(&w->lock, NULL); /* neither fails on Linux */
    (void)pthread_cond_init(&w->compiled, NULL);
    return bn_attach(ctx, &ctx->attached, w, destroy_builder) == BN_OK ? w : NULL;
}

/* With the lock. False: it does not wait any more. */
static bool take_out(bn_builder *w, const bn_build *b)
{
    bn_build **at = &w->waiting;
    while (*at && *at != b)
        at = &(*at)->next;
    const bool waits = *at != NULL;
    if (waits)
        *at = b->next;
    return waits;
}

/* False: there is no thread. */
static bool compile_beside(bn_build *b)
{
    bn_builder *w = b->of;
    pthread_mutex_lock(&w->lock);
    bn_build **at = &w->waiting;
    while (*at && (*at)->later <= b->later)
        at = &(*at)->next;
    b->next = *at;
    *at = b;
    if (!w->works) {
        join(w); /* it has left the lock for good */
        w->works = w->started = pthread_create(&w->thread, NULL, work, w) == 0;
    }
    b->builder = w->works || !take_out(w, b) ? w : NULL;
    pthread_mutex_unlock(&w->lock);
    return b->builder;
}

bn_status bn_build_wait(bn_build *b)
{
    bn_builder *w = b->builder;
    if (!w)
        return b->st;
    pthread_mutex_lock(&w->lock);
    if (take_out(w, b))
        compile_unlocked(w, b);
    while (!b->compiled) {
        bn_build *next = w->waiting;
        if (next && take_out(w, next))
            compile_unlocked(w, next);
        else
            pthread_cond_wait(&w->compiled, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    b->builder = NULL;
    return b->st;
}

void bn_build_release(bn_build *b)
{
    if (!b || --b->users > 0)
        return;
    bn_builder *w = b->builder;
    for (bn_build **at = &b->of->all; *at; at = &(*at)->other)
        if (*at == b) {
            *at = b->other;
            break;
        }
    if (w) {
        pthread_mutex_lock(&w->lock);
        const bool unwanted = take_out(w, b);
        while (!unwanted && !b->compiled)
            pthread_cond_wait(&w->compiled, &w->lock);
        pthread_mutex_unlock(&w->lock);
    }
    if (b->cl)
        clReleaseProgram(b->cl);
    free(b->file);
    free(b->text);
    free(b->options);
    free(b);
}

bn_status bn_build_begin(bn_device *device, const char *file, char *text, char *options, bn_build **out)
{
    bn_builder *w = find_builder(device->ctx);
    for (bn_build *same = w ? w->all : NULL; same; same = same->other)
        if (same->device == device && strcmp(same->file, file) == 0 && strcmp(same->options, options) == 0) {
            free(text);
            free(options);
            same->users++;
            *out = same;
            return same->builder ? BN_OK : same->st;
        }
    bn_build *b = w ? calloc(1, sizeof *b) : NULL;
    char *name = strdup(file);
    if (!b || !name) {
        free(b);
        free(name);
        free(text);
        free(options);
        return bn_fail(device->ctx, BN_MEMORY, "no memory for program %s", file);
    }
    *b = (bn_build){ .users = 1,
                     .other = w->all,
                     .of = w,
                     .later = bn_build_comes_later(file),
                     .device = device,
                     .file = name,
                     .text = text,
                     .options = options };
    *out = w->all = b;
    if (device->listing)
        device->listing->add(device->listing->user, file, text, options);
    else if (device->quirks.parallel_builds && compile_beside(b))
        return BN_OK; /* as far as is known */
    else
        compile(b);
    return b->st;
}
