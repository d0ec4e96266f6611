/* queues.c: the devices of a domain: which they are, flushing, waiting, and ordering what several of them do. */
#include "grid/queues.h"

#include "device/calls.h"

#include <stdlib.h>

bool bn_domain_across_ranks(const bn_domain *d) { return d->distributed && d->ctx->comm.ops && !d->desc.copies; }

bn_device *bn_local_device(const bn_domain *d, size_t local)
{
    return d->distributed ? d->device->group[local] : d->device;
}

int bn_global_count(const bn_domain *d) { return d->distributed ? (int)d->device->global_count : 1; }
int bn_global_index(const bn_domain *d, size_t local)
{
    return d->distributed ? (int)(d->device->global_first + local) : 0;
}

bn_status bn_flush_all(bn_domain *d, const char *what)
{
    d->unflushed = 0;
    for (size_t m = 0; m < d->local_count; m++)
        BN_TRY(bn_call_flush(bn_local_device(d, m), what, bn_local_device(d, m)->queue));
    return BN_OK;
}

static bn_status all_made(const bn_domain *d)
{
    for (size_t m = 0; m < d->local_count; m++)
        BN_TRY(bn_calls_made(bn_local_device(d, m)));
    return BN_OK;
}

bn_status bn_wait_for_launches(bn_domain *d, const char *what)
{
    /* So that all work at the same time. One device needs none, and must have none: in Mesa 22.3 clFinish does not wait
     * for what was flushed before. */
    if (d->local_count > 1)
        BN_TRY(bn_flush_all(d, what));
    for (size_t m = 0; m < d->local_count; m++)
        BN_TRY(bn_call_finish(bn_local_device(d, m), what, bn_local_device(d, m)->queue));
    return all_made(d);
}

/* The queues of devices in one context wait for each other's events. */
static bn_status meet_by_events(bn_domain *d, const char *what)
{
    bn_status st = BN_OK;
    cl_event events[BN_HOLDS] = { NULL };
    const cl_event *places[BN_HOLDS] = { NULL };
    for (size_t m = 0; m < d->local_count; m++) {
        places[m] = &events[m];
        BN_GO(bn_call_mark(bn_local_device(d, m), what, &events[m]));
    }
    BN_GO(bn_flush_all(d, what));
    for (size_t m = 0; m < d->local_count; m++)
        BN_GO(bn_call_hold(bn_local_device(d, m), what, places));
out:
    for (size_t m = 0; m < d->local_count; m++)
        bn_event_put(&events[m], NULL);
    return st;
}

bn_status bn_queues_meet(bn_domain *d, const char *what)
{
    bool met = false;
    if (d->local_count < 2 && !bn_domain_across_ranks(d))
        return BN_OK;
    if (!bn_domain_across_ranks(d))
        BN_TRY(bn_threads_meet(d->device, false, what, &met));
    if (!met && !bn_domain_across_ranks(d) && bn_local_device(d, 1)->cl == d->device->cl)
        return meet_by_events(d, what); /* all of them: device_open.c */
    if (met) {
        d->unflushed = 0;
        return BN_OK;
    }
    d->device->counts.waits++;
    return bn_wait_for_launches(d, what);
}

bn_status bn_outgoing_meet(bn_domain *d, const char *what)
{
    bool met = false;
    if (d->local_count > 1 && !bn_domain_across_ranks(d))
        BN_TRY(bn_threads_meet(d->device, true, what, &met));
    for (size_t m = 0; !met && m < d->local_count; m++)
        BN_TRY(bn_call_finish(bn_local_device(d, m), what, bn_local_device(d, m)->outgoing));
    return met ? BN_OK : all_made(d);
}

bn_status bn_finish_all(bn_domain *d, const char *what)
{
    for (size_t m = 0; m < d->local_count; m++) {
        bn_device *device = bn_local_device(d, m);
        const cl_command_queue queues[] = { device->outgoing, device->incoming, device->queue };
        for (size_t q = 0; q < sizeof queues / sizeof *queues; q++)
            if (queues[q])
                BN_TRY(bn_call_finish(device, what, queues[q]));
    }
    return all_made(d);
}

void bn_domain_read_twice(bn_domain *d)
{
    for (size_t m = 0; m < d->local_count; m++)
        d->device->group[m]->reads_twice = true;
}

void bn_domain_other_groups(bn_domain *d, bool other)
{
    for (size_t m = 0; m < d->local_count; m++)
        d->device->group[m]->other_groups = other;
}

bn_status bn_read_differs(const bn_device *device, const char *what)
{
    return bn_fail(
        device->ctx, BN_MISMATCH,
        "%s was read twice from %s, with different bits: memory, the bus or the driver damages data; run the "
        "case on another device",
        what, device->info.name);
}

bn_status bn_domain_finish(bn_domain *d)
{
    if (d->device)
        d->device->counts.waits++;
    return bn_finish_all(d, "waiting for the steps launched so far");
}

typedef struct bn_double_buffer {
    bn_pinned pinned;
    unsigned next;
} bn_double_buffer;

static void destroy_double_buffer(void *object)
{
    bn_pinned_free(&((bn_double_buffer *)object)->pinned);
    free(object);
}

bn_status bn_double_buffer_next(bn_domain *d, const char *what, size_t bytes, void **half)
{
    enum { ALIGN = 64 };
    const size_t each = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    bn_double_buffer *b = bn_attached(d->attached, destroy_double_buffer);
    if (!b) {
        b = calloc(1, sizeof *b);
        BN_TRY(bn_attach(d->ctx, &d->attached, b, destroy_double_buffer));
    }
    if (b->pinned.bytes < 2 * each) {
        BN_TRY(bn_finish_all(d, what));
        BN_TRY(bn_pinned_need(d->device, &b->pinned, 2 * each));
    }
    *half = (char *)b->pinned.data + (b->next++ % 2) * (b->pinned.bytes / (2 * ALIGN) * ALIGN);
    return BN_OK;
}
