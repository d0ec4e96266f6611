/* snapshot.c: copies of fields in pinned memory, made without stopping the steps. The copy is enqueued behind the steps
 * launched so far (the queue is in order), and whoever wants the data waits for its event, on any thread. Pinned memory
 * is kept and used again: getting it costs more than a step. */
#include "device/device_thread.h"
#include "comm/halo_exchange.h"
#include "grid/queues.h"
#include "grid/transfer.h"

#include <pthread.h>

#include <stdlib.h>
#include <string.h>

typedef struct bn_staging {
    struct bn_staging *next;
    bn_pinned memory;
} bn_staging;

/* Pinned memory to be used again. The domain and its snapshots, which may outlive it, hold the pool. */
typedef struct bn_staging_pool {
    pthread_mutex_t lock;
    size_t holders;
    bn_staging *idle;
} bn_staging_pool;

struct bn_snapshot {
    bn_domain *domain;
    bn_staging_pool *pool;
    bn_staging *staging; /* devices */
    cl_event *ready;     /* one a device */
    size_t ready_count;
    size_t bytes;
    bool twice; /* a second copy lies behind the first one */
    void *copy; /* reference */
    size_t count;
    struct part {
        bn_region region;
        size_t at, box; /* byte of its first value */
    } * parts;
};

static void release_pool(void *object)
{
    bn_staging_pool *p = object;
    pthread_mutex_lock(&p->lock);
    const size_t left = --p->holders;
    pthread_mutex_unlock(&p->lock);
    if (left > 0)
        return;
    while (p->idle) {
        bn_staging *next = p->idle->next;
        bn_pinned_free(&p->idle->memory);
        free(p->idle);
        p->idle = next;
    }
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* The domain's pool, held once more. */
static bn_status hold_pool(bn_domain *d, bn_staging_pool **out)
{
    bn_staging_pool *p = bn_attached(d->attached, release_pool);
    if (!p) {
        if (!(p = calloc(1, sizeof *p)))
            return bn_fail(d->ctx, BN_MEMORY, "no memory for a snapshot");
        pthread_mutex_init(&p->lock, NULL);
        p->holders = 1;
        BN_TRY(bn_attach(d->ctx, &d->attached, p, release_pool));
    }
    pthread_mutex_lock(&p->lock);
    p->holders++;
    pthread_mutex_unlock(&p->lock);
    *out = p;
    return BN_OK;
}

/* An idle one that is large enough, or a new one. */
static bn_status staging_get(const bn_domain *d, bn_staging_pool *pool, size_t bytes, bn_staging **out)
{
    *out = NULL;
    pthread_mutex_lock(&pool->lock);
    for (bn_staging **at = &pool->idle; *at; at = &(*at)->next)
        if ((*at)->memory.bytes == bytes) {
            *out = *at;
            *at = (*at)->next;
            break;
        }
    pthread_mutex_unlock(&pool->lock);
    if (*out)
        return BN_OK;
    bn_staging *s = calloc(1, sizeof *s);
    if (!s)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for a snapshot");
    const bn_status st = bn_pinned_need(d->device, &s->memory, bytes);
    if (st != BN_OK) {
        free(s);
        return st;
    }
    *out = s;
    return BN_OK;
}

/* What is copied of each part: with `overlap` one point more at each upper side where the grid goes on. */
static bn_status find_parts(bn_snapshot *s, const bn_field *f, bool overlap, size_t *bytes)
{
    const bn_domain *d = f->domain;
    const size_t point = f->element_bytes * (size_t)f->desc.components;
    s->count = bn_domain_parts(d);
    if (!(s->parts = calloc(s->count + 1, sizeof *s->parts)))
        return bn_fail(d->ctx, BN_MEMORY, "no memory for a snapshot of %s", f->desc.name);
    *bytes = 0;
    for (size_t i = 0; i < s->count; i++) {
        bn_region *r = &s->parts[i].region;
        s->parts[i].at = *bytes;
        s->parts[i].box = bn_domain_part(d, i, r);
        for (int k = 0; overlap && k < d->desc.grid.dims; k++)
            r->n[k] += r->first[k] + r->n[k] < d->desc.grid.n[k];
        *bytes += bn_region_points(r) * point;
    }
    return BN_OK;
}

/* Enqueues the copies, and a marker behind them on each device. */
static bn_status copy_parts(bn_snapshot *s, bn_field *f, bool overlap)
{
    bn_domain *d = s->domain;
    if (overlap && f->valid.all < 1) {
        const bn_halo_request request = { .field = f, .radius = 1 };
        BN_TRY(bn_halo_exchange_at_once(d, &request));
    }
    for (size_t j = 0; j < s->count * (1 + s->twice); j++) {
        const size_t i = j % s->count;
        char *values = (char *)s->staging->memory.data + s->parts[i].at + (j >= s->count ? s->bytes : 0);
        if (bn_domain_across_ranks(d))
            BN_TRY(bn_field_enqueue_box(f, s->parts[i].box, &s->parts[i].region, values));
        else
            BN_TRY(bn_field_transfer(f, 0, f->desc.components, &s->parts[i].region, values, false, false));
    }
    for (size_t m = 0; m < d->local_count; m++) {
        const bn_device *device = bn_local_device(d, m);
        BN_CL(device, f->desc.name, clEnqueueMarkerWithWaitList, bn_queue(device), 0, NULL, &s->ready[m]);
        BN_CL(device, f->desc.name, clFlush, bn_queue(device));
    }
    return BN_OK;
}

bn_status bn_snapshot_begin(bn_field *f, bool overlap, bn_snapshot **out)
{
    *out = NULL;
    bn_domain *d = f->domain;
    bn_status st = BN_OK;
    size_t bytes = 0;
    bn_snapshot *s = calloc(1, sizeof *s);
    if (!s)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for a snapshot of %s", f->desc.name);
    s->domain = d;
    overlap = overlap && bn_domain_across_ranks(d);
    if (overlap && d->desc.halo < 1)
        BN_GO(bn_fail(d->ctx, BN_USAGE, "parts of field %s can't overlap: its boxes have no halo", f->desc.name));
    BN_GO(find_parts(s, f, overlap, &bytes));
    if (!d->device) {
        if (!(s->copy = malloc(bytes)))
            BN_GO(bn_fail(d->ctx, BN_MEMORY, "no memory for a snapshot of %s", f->desc.name));
        memcpy(s->copy, f->host, bytes);
    } else {
        BN_GO(hold_pool(d, &s->pool));
        s->bytes = bytes;
        s->twice = d->device->reads_twice;
        BN_GO(staging_get(d, s->pool, s->twice ? 2 * bytes : bytes, &s->staging));
        s->ready_count = d->local_count;
        if (!(s->ready = calloc(s->ready_count, sizeof(cl_event))))
            BN_GO(bn_fail(d->ctx, BN_MEMORY, "no memory for a snapshot of %s", f->desc.name));
        BN_GO(copy_parts(s, f, overlap));
    }
    *out = s;
    s = NULL;
out:
    for (size_t m = 0; s && s->staging && m < d->local_count;
         m++) /* what was enqueued before a failure may still write there */
        clFinish(bn_queue(bn_local_device(d, m)));
    bn_snapshot_release(&s);
    return st;
}

size_t bn_snapshot_parts(const bn_snapshot *s) { return s->count; }

bn_status bn_snapshot_wait(bn_context *ctx, bn_snapshot *s, size_t part, bn_region *region, const void **data)
{
    for (size_t m = 0; s->ready && m < s->ready_count; m++) {
        cl_int status = clWaitForEvents(1, &s->ready[m]);
        if (status != CL_SUCCESS)
            return bn_fail(ctx, BN_DEVICE, "clWaitForEvents, for the copy of a field from %s, failed: %s",
                           s->staging->memory.device->group[m]->info.name, bn_cl_name(status));
    }
    const char *values = (const char *)(s->staging ? s->staging->memory.data : s->copy) + s->parts[part].at;
    const size_t end = part + 1 < s->count ? s->parts[part + 1].at : s->bytes;
    if (s->twice && memcmp(values, values + s->bytes, end - s->parts[part].at) != 0)
        return bn_read_differs(s->staging->memory.device, "a field");
    *region = s->parts[part].region;
    *data = values;
    return BN_OK;
}

void bn_snapshot_release(bn_snapshot **snapshot)
{
    if (!snapshot || !*snapshot)
        return;
    bn_snapshot *s = *snapshot;
    for (size_t m = 0; s->ready && m < s->ready_count; m++)
        if (s->ready[m]) {
            clWaitForEvents(1, &s->ready[m]); /* nobody may write into memory that goes back */
            clReleaseEvent(s->ready[m]);
        }
    free(s->ready);
    if (s->staging) {
        pthread_mutex_lock(&s->pool->lock);
        s->staging->next = s->pool->idle;
        s->pool->idle = s->staging;
        pthread_mutex_unlock(&s->pool->lock);
    }
    if (s->pool)
        release_pool(s->pool);
    free(s->copy);
    free(s->parts);
    free(s);
    *snapshot = NULL;
}
