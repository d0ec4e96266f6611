/* snapshot.c: copies of fields in pinned memory, made without stopping the steps. The copy is enqueued behind the steps
 * launched so far (the queue is in order), and whoever wants the data waits for its event, on any thread. Pinned memory
 * is kept and used again: getting it costs more than a step. */
#include "internal/runtime.h"

#include <stdlib.h>
#include <string.h>

struct bn_staging {
    bn_staging *next;
    cl_mem mem; /* CL_MEM_ALLOC_HOST_PTR, kept mapped at `data` */
    void *data;
    size_t bytes;
};

struct bn_snapshot {
    bn_domain *domain;
    bn_staging *staging; /* devices */
    cl_event ready;
    void *copy; /* reference */
};

static void staging_free(bn_domain *d, bn_staging *s)
{
    if (s->data)
        clEnqueueUnmapMemObject(d->device->queue, s->mem, s->data, 0, NULL, NULL);
    if (s->mem)
        clReleaseMemObject(s->mem);
    free(s);
}

void bn_staging_free_all(bn_domain *d)
{
    while (d->idle) {
        bn_staging *next = d->idle->next;
        staging_free(d, d->idle);
        d->idle = next;
    }
}

/* An idle one that is large enough, or a new one. */
static bn_status staging_get(bn_domain *d, size_t bytes, bn_staging **out)
{
    *out = NULL;
    pthread_mutex_lock(&d->lock);
    for (bn_staging **at = &d->idle; *at; at = &(*at)->next)
        if ((*at)->bytes == bytes) {
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
    cl_int status;
    s->bytes = bytes;
    s->mem = clCreateBuffer(d->device->cl, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &status);
    if (status != CL_SUCCESS)
        s->mem = NULL;
    else
        s->data = clEnqueueMapBuffer(d->device->queue, s->mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL,
                                     NULL, &status);
    if (status != CL_SUCCESS) {
        s->data = NULL;
        staging_free(d, s);
        bn_cl_fail(d->device, status, "clEnqueueMapBuffer", "pinned memory for output");
        bn_note(d->ctx, "while allocating %.1f MiB of pinned host memory", (double)bytes / 0x1p20);
        return bn_error_status(d->ctx);
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
    if (!d->device) {
        if (!(s->copy = malloc(bn_field_bytes(f)))) {
            st = bn_fail(d->ctx, BN_MEMORY, "no memory for a snapshot of %s", f->desc.name);
            goto out;
        }
        memcpy(s->copy, f->host, bn_field_bytes(f));
    } else {
        BN_GO(staging_get(d, bn_field_bytes(f), &s->staging));
        BN_GO(bn_field_transfer(f, 0, f->desc.components, s->staging->data, false, false, &s->ready));
        cl_int status = clFlush(d->device->queue);
        if (status != CL_SUCCESS) {
            st = bn_cl_fail(d->device, status, "clFlush", f->desc.name);
            goto out;
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
    if (s->ready) {
        cl_int status = clWaitForEvents(1, &s->ready);
        if (status != CL_SUCCESS)
            return bn_fail(ctx, BN_DEVICE, "copying a field from %s failed: %s", s->domain->device->info.name,
                           bn_cl_name(status));
    }
    *data = s->staging ? s->staging->data : s->copy;
    return BN_OK;
}

void bn_snapshot_release(bn_snapshot **snapshot)
{
    if (!snapshot || !*snapshot)
        return;
    bn_snapshot *s = *snapshot;
    if (s->ready) {
        clWaitForEvents(1, &s->ready); /* nobody may write into memory that goes back */
        clReleaseEvent(s->ready);
    }
    if (s->staging) {
        pthread_mutex_lock(&s->domain->lock);
        s->staging->next = s->domain->idle;
        s->domain->idle = s->staging;
        pthread_mutex_unlock(&s->domain->lock);
    }
    free(s->copy);
    free(s);
    *snapshot = NULL;
}
