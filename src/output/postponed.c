/* postponed.c: a list of pictures that are yet to be drawn. */
#include "output/postponed.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct waiting {
    struct waiting *next;
    char *path;
    bn_png_kept kept;
} waiting;

struct bn_postponed {
    atomic_bool begun;
    pthread_mutex_t lock;
    waiting *all;
};

bn_status bn_postponed_create(bn_context *ctx, bn_postponed **out)
{
    bn_postponed *p = *out = calloc(1, sizeof *p);
    if (!p)
        return bn_fail(ctx, BN_MEMORY, "no memory for the list of pictures");
    (void)pthread_mutex_init(&p->lock, NULL); /* does not fail on Linux */
    return BN_OK;
}

static void free_one(waiting *w)
{
    free(w->kept.data);
    free(w->path);
    free(w);
}

void bn_postponed_destroy(bn_postponed **postponed)
{
    bn_postponed *p = *postponed;
    *postponed = NULL;
    if (!p)
        return;
    for (waiting *w = p->all, *next; w; w = next) {
        next = w->next;
        free_one(w);
    }
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void bn_postponed_begin(bn_postponed *p) { atomic_store(&p->begun, true); }

bool bn_postponed_begun(bn_postponed *p) { return p && atomic_load(&p->begun); }

bn_status bn_postponed_put(bn_context *ctx, bn_postponed *p, const char *path, bn_png_kept kept)
{
    waiting *w = calloc(1, sizeof *w);
    if (!w || !(w->path = strdup(path))) {
        free(w);
        free(kept.data);
        return bn_fail(ctx, BN_MEMORY, "no memory for the picture %s", path);
    }
    w->kept = kept;
    pthread_mutex_lock(&p->lock);
    w->next = p->all;
    p->all = w;
    pthread_mutex_unlock(&p->lock);
    return BN_OK;
}

const bn_png_kept *bn_postponed_find(bn_postponed *p, const char *path)
{
    if (!p)
        return NULL;
    pthread_mutex_lock(&p->lock);
    waiting *w = p->all;
    while (w && strcmp(w->path, path) != 0)
        w = w->next;
    pthread_mutex_unlock(&p->lock);
    return w ? &w->kept : NULL;
}
