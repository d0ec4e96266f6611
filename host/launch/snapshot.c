/* snapshot.c: copies of fields in pinned memory, made without stopping the steps. The copy is enqueued behind the steps
 * launched so far (the queue is in order), and whoever wants the data waits for its event, on any thread. Pinned memory
 * is kept and used again: getting it costs more than a step. */
#include "device/context.h"
#include "grid/runtime.h"

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
    size_t count;
    struct part {
        bn_region region;
        size_t at, box; /* byte of its first value */
    } * parts;
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
    if (overlap && f->halo_valid < 1) {
        const bn_halo_request request = { .field = f, .reach = 1 };
        BN_TRY(bn_halo_exchange_at_once(d, &request));
    }
    for (size_t i = 0; i < s->count; i++) {
        char *values = (char *)s->staging->memory.data + s->parts[i].at;
        if (bn_domain_distributed(d))
            BN_TRY(bn_field_enqueue_box(f, s->parts[i].box, &s->parts[i].region, values));
        else
            BN_TRY(bn_field_transfer(f, 0, f->desc.components, &s->parts[i].region, values, false, false));
    }
    for (size_t m = 0; m < d->members; m++) {
        const bn_device *device = bn_member_device(d, m);
        BN_CL(device, f->desc.name, clEnqueueMarkerWithWaitList, device->queue, 0, NULL, &s->ready[m]);
        BN_CL(device, f->desc.name, clFlush, device->queue);
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
    bn_domain_hold(d);
    overlap = overlap && bn_domain_distributed(d);
    if (overlap && d->desc.halo < 1) {
        st = bn_fail(d->ctx, BN_USAGE, "parts of field %s can't overlap: its boxes have no halo", f->desc.name);
        goto out;
    }
    BN_GO(find_parts(s, f, overlap, &bytes));
    if (!d->device) {
        if (!(s->copy = malloc(bytes))) {
            st = bn_fail(d->ctx, BN_MEMORY, "no memory for a snapshot of %s", f->desc.name);
            goto out;
        }
        memcpy(s->copy, f->host, bytes);
    } else {
        BN_GO(staging_get(d, bytes, &s->staging));
        if (!(s->ready = calloc(d->members, sizeof(cl_event)))) {
            st = bn_fail(d->ctx, BN_MEMORY, "no memory for a snapshot of %s", f->desc.name);
            goto out;
        }
        BN_GO(copy_parts(s, f, overlap));
    }
    *out = s;
    s = NULL;
out:
    for (size_t m = 0; s && s->staging && m < d->members;
         m++) /* what was enqueued before a failure may still write there */
        clFinish(bn_member_device(d, m)->queue);
    bn_snapshot_release(&s);
    return st;
}

size_t bn_snapshot_parts(const bn_snapshot *s) { return s->count; }

bn_status bn_snapshot_wait(bn_context *ctx, bn_snapshot *s, size_t part, bn_region *region, const void **data)
{
    for (size_t m = 0; s->ready && m < s->domain->members; m++) {
        cl_int status = clWaitForEvents(1, &s->ready[m]);
        if (status != CL_SUCCESS)
            return bn_fail(ctx, BN_DEVICE, "copying a field from %s failed: %s",
                           bn_member_device(s->domain, m)->info.name, bn_cl_name(status));
    }
    *region = s->parts[part].region;
    *data = (const char *)(s->staging ? s->staging->memory.data : s->copy) + s->parts[part].at;
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
    free(s->parts);
    free(s);
    *snapshot = NULL;
}
