/* snapshot.c: copies of fields in pinned memory, made without stopping the steps. The copy is enqueued behind the steps
 * launched so far (the queue is in order), and whoever wants the data waits for its event, on any thread. Pinned memory
 * is kept and used again: getting it costs more than a step. */
#include "internal/context.h"
#include "internal/runtime.h"

#include <stdlib.h>
#include <string.h>

struct bn_staging {
    bn_staging *next;
    bn_pinned memory;
};

struct bn_snapshot {
    bn_domain *domain;
    bn_staging *staging; /* devices */
    cl_event *ready;     /* one a device */
    void *copy;          /* reference */
};

void bn_staging_free_all(bn_domain *d)
{
    while (d->idle) {
        bn_staging *next = d->idle->next;
        bn_pinned_free(&d->idle->memory);
        free(d->idle);
        d->idle = next;
    }
}

/* An idle one that is large enough, or a new one. */
static bn_status staging_get(bn_domain *d, size_t bytes, bn_staging **out)
{
    *out = NULL;
    pthread_mutex_lock(&d->lock);
    for (bn_staging **at = &d->idle; *at; at = &(*at)->next)
        if ((*at)->memory.bytes == bytes) {
            *out = *at;
            *at = (*at)->next;
            break;
        }
    pthread_mutex_unlock(&d->lock);
    if (*out)
        return BN_OK;
    bn_staging *s = calloc(1, sizeof *s);
    if (!s)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for a snapshot");
    const bn_status st = bn_pinned_need(d, d->device, &s->memory, bytes);
    if (st != BN_OK) {
        free(s);
        return st;
    }
    *out = s;
    return BN_OK;
}

bn_status bn_snapshot_begin(bn_field *f, bn_snapshot **out)
{
    *out = NULL;
    bn_domain *d = f->domain;
    bn_status st = BN_OK;
    bn_snapshot *s = calloc(1, sizeof *s);
    if (!s)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for a snapshot of %s", f->desc.name);
    s->domain = d;
    bn_domain_hold(d);
    if (!d->device) {
        if (!(s->copy = malloc(bn_field_bytes(f)))) {
            st = bn_fail(d->ctx, BN_MEMORY, "no memory for a snapshot of %s", f->desc.name);
            goto out;
        }
        memcpy(s->copy, f->host, bn_field_bytes(f));
    } else {
        /* Ranks exchange their parts at once: only the thread that steps may. */
        const bool together = d->spread && d->ctx->comm.ops;
        BN_GO(staging_get(d, bn_field_bytes(f), &s->staging));
        if (!together && !(s->ready = calloc(d->members, sizeof(cl_event)))) {
            st = bn_fail(d->ctx, BN_MEMORY, "no memory for a snapshot of %s", f->desc.name);
            goto out;
        }
        BN_GO(bn_field_transfer(f, 0, f->desc.components, s->staging->memory.data, false, together, s->ready));
        for (size_t m = 0; m < d->members; m++) {
            const bn_device *device = bn_member_device(d, m);
            cl_int status = clFlush(device->queue);
            if (status != CL_SUCCESS) {
                st = bn_cl_fail(device, status, "clFlush", f->desc.name);
                goto out;
            }
        }
    }
    *out = s;
    s = NULL;
out:
    bn_snapshot_release(&s);
    return st;
}

bn_status bn_snapshot_wait(bn_context *ctx, bn_snapshot *s, const void **data)
{
    for (size_t m = 0; s->ready && m < s->domain->members; m++) {
        cl_int status = clWaitForEvents(1, &s->ready[m]);
        if (status != CL_SUCCESS)
            return bn_fail(ctx, BN_DEVICE, "copying a field from %s failed: %s",
                           bn_member_device(s->domain, m)->info.name, bn_cl_name(status));
    }
    *data = s->staging ? s->staging->memory.data : s->copy;
    return BN_OK;
}

void bn_snapshot_release(bn_snapshot **snapshot)
{
    if (!snapshot || !*snapshot)
        return;
    bn_snapshot *s = *snapshot;
    for (size_t m = 0; s->ready && m < s->domain->members; m++)
        if (s->ready[m]) {
            clWaitForEvents(1, &s->ready[m]); /* nobody may write into memory that goes back */
            clReleaseEvent(s->ready[m]);
        }
    free(s->ready);
    if (s->staging) {
        pthread_mutex_lock(&s->domain->lock);
        s->staging->next = s->domain->idle;
        s->domain->idle = s->staging;
        pthread_mutex_unlock(&s->domain->lock);
    }
    free(s->copy);
    bn_domain_let_go(s->domain);
    free(s);
    *snapshot = NULL;
}
