/* device_open.c: opens and closes devices, alone or as the group that shares a domain, also with those of other ranks.
 */
#include "device/bandwidth.h"
#include "device/buffer.h"
#include "device/device_list.h"
#include "device/device_thread.h"
#include "device/program_build.h"
#include "device/queue_limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A driver lets only one thread at a time into a context. Two devices of a platform share one: then events order what
 * happens on both, no host waits, and one thread makes all calls. From three on that thread would be what limits them:
 * each has a context of its own, and a thread (device_thread.h). On two H200s a step of flow at 4097 x 4097 nodes takes
 * 3.37 ms in one context and 3.73 ms in two; of that the calls of the one thread are all, those of each of two a third.
 */
enum { BN_SHARE_CONTEXT = 2 };

static bn_status open_one(bn_context *ctx, const bn_device_list *list, size_t index, bool profile,
                          const bn_device *first, const size_t *indices, size_t count, bn_device **out)
{
    const struct bn_device_entry *entry = &list->entry[index];
    bn_status st = BN_OK;
    cl_int status = CL_SUCCESS;
    bn_device *d = calloc(1, sizeof *d);
    if (!d)
        return bn_fail(ctx, BN_MEMORY, "no memory to open %s", list->info[index].name);
    *d = (bn_device){ .ctx = ctx,
                      .info = list->info[index],
                      .listed = &list->info[index],
                      .quirks = entry->quirks,
                      .platform = entry->platform,
                      .id = entry->id,
                      .profile = profile };
    if (d->info.threads > 0)
        d->info.bandwidth = bn_bandwidth_known(ctx, &d->info);
    if (d->quirks.variable)
        (void)setenv(d->quirks.variable, d->quirks.value, 0); /* without memory for it the compiler does as it likes */
    const cl_context_properties properties[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)entry->platform, 0 };
    const cl_device_id ids[] = { d->id, list->entry[indices[count - 1]].id };
    const bool both = count == BN_SHARE_CONTEXT && ids[0] != ids[1] &&
                      list->entry[indices[count - 1]].platform == d->platform;
    if (first && count == BN_SHARE_CONTEXT && first->platform == d->platform &&
        clRetainContext(first->cl) == CL_SUCCESS)
        d->cl = first->cl;
    else
        d->cl = clCreateContext(properties, both && !first ? 2 : 1, ids, NULL, NULL, &status);
    if (status != CL_SUCCESS) {
        d->cl = NULL;
        st = bn_cl_fail(d, status, "clCreateContext", NULL);
        goto out;
    }
    cl_command_queue *const queues[] = { &d->queue, &d->outgoing, &d->incoming };
    for (size_t i = 0; i < (count > 1 || ctx->comm.ranks > 1 ? 3u : 1u); i++) {
        *queues[i] = clCreateCommandQueue(d->cl, d->id, profile && i != 1 ? CL_QUEUE_PROFILING_ENABLE : 0, &status);
        if (status != CL_SUCCESS) {
            *queues[i] = NULL;
            st = bn_cl_fail(d, status, "clCreateCommandQueue", NULL);
            goto out;
        }
    }
    d->next_open = ctx->open;
    ctx->open = d;
    *out = d;
    d = NULL;
out:
    bn_device_close(&d);
    return st;
}

/* Ranks of one machine share out its devices: as many to each as there are, or one that others have too. "auto" then
 * means all devices like the best one. */
static void take_share(const bn_context *ctx, const bn_device_list *list, const char *selector, size_t *indices,
                       size_t *count)
{
    const size_t local = (size_t)ctx->comm.local_rank, ranks = (size_t)ctx->comm.local_ranks;
    if (ranks <= 1)
        return;
    if (!selector || !selector[0])
        selector = getenv("BINNACLE_DEVICE");
    if (*count == 1 && (!selector || !selector[0] || strcmp(selector, "auto") == 0)) {
        const bn_device_info best = list->info[indices[0]];
        *count = 0;
        for (size_t i = 0; i < list->count; i++)
            if (bn_devices_alike(&list->info[i], &best))
                indices[(*count)++] = i;
    }
    const size_t each = *count / ranks > 0 ? *count / ranks : 1;
    size_t mine[BN_DEVICES_MAX] = { 0 };
    for (size_t i = 0; i < each; i++)
        mine[i] = indices[(local * each + i) % *count];
    memcpy(indices, mine, each * sizeof *mine);
    *count = each;
}

/* A simulator, which must not be called from two threads, is no help to others. */
static void leave_out_simulators(const bn_device_list *list, size_t *indices, size_t *count)
{
    size_t left = 0;
    for (size_t i = 0; i < *count; i++)
        if (!list->entry[indices[i]].quirks.single_threaded)
            indices[left++] = indices[i];
    if (left > 0)
        *count = left;
}

/* How many devices all ranks have, where this one's begin, and the memory that each of them has at least. */
static bn_status count_devices(bn_device *d)
{
    const bn_comm *comm = &d->ctx->comm;
    enum { COUNT, BYTES, BUFFER, NUMBERS };
    uint64_t mine[NUMBERS] = { d->group_size, d->info.bytes, d->info.largest_buffer };
    for (size_t i = 1; i < d->group_size; i++) {
        const bn_device_info *other = &d->group[i]->info;
        mine[BYTES] = other->bytes < mine[BYTES] ? other->bytes : mine[BYTES];
        mine[BUFFER] = other->largest_buffer < mine[BUFFER] ? other->largest_buffer : mine[BUFFER];
    }
    uint64_t *all = calloc(NUMBERS * (size_t)comm->ranks, sizeof *all);
    if (!all)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the devices of %d ranks", comm->ranks);
    memcpy(all, mine, sizeof mine);
    if (comm->ops)
        comm->ops->gather(mine, sizeof mine, all);
    d->global_count = 0;
    d->least = d->info;
    for (int r = 0; r < comm->ranks; r++) {
        const uint64_t *rank = all + NUMBERS * r;
        if (r == comm->rank)
            d->global_first = d->global_count;
        d->global_count += rank[COUNT];
        d->least.bytes = rank[BYTES] < d->least.bytes ? rank[BYTES] : d->least.bytes;
        d->least.largest_buffer = rank[BUFFER] < d->least.largest_buffer ? rank[BUFFER] : d->least.largest_buffer;
    }
    free(all);
    return BN_OK;
}

bn_status bn_device_weigh(bn_device *d, const double *weights, size_t count)
{
    if (count != d->global_count)
        return bn_fail(d->ctx, BN_USAGE, "%zu weights for %zu devices", count, d->global_count);
    for (size_t i = 0; i < count; i++)
        if (!(weights[i] > 0) || !isfinite(weights[i]))
            return bn_fail(d->ctx, BN_USAGE, "weight %zu is %g; positive numbers are possible", i + 1, weights[i]);
    double *own = malloc(count * sizeof *own);
    if (!own)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the weights of %zu devices", count);
    memcpy(own, weights, count * sizeof *own);
    free(d->weights);
    d->weights = own;
    return BN_OK;
}

/* Devices of different kinds share by what they copy; where that can't be measured, alike. */
static bn_status weigh_unequal(bn_device *d)
{
    bool alike = true;
    for (size_t i = 1; i < d->group_size; i++)
        alike = alike && strcmp(d->group[i]->info.name, d->info.name) == 0;
    if (alike || d->ctx->comm.ranks > 1)
        return BN_OK;
    double *found = calloc(d->group_size, sizeof *found);
    if (!found)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the weights of %zu devices", d->group_size);
    bn_status st = BN_OK;
    for (size_t i = 0; st == BN_OK && i < d->group_size; i++)
        st = bn_device_bandwidth(d->group[i], &found[i]);
    if (st == BN_OK)
        st = bn_device_weigh(d, found, d->group_size);
    free(found);
    return st;
}

bn_status bn_device_open(bn_context *ctx, const char *selector, bool profile, bn_device **out)
{
    *out = NULL;
    size_t indices[BN_DEVICES_MAX], count;
    const bn_device_list *list;
    BN_TRY(bn_device_select(ctx, selector, indices, BN_DEVICES_MAX, &count, NULL));
    BN_TRY(bn_device_list_get(ctx, &list));
    leave_out_simulators(list, indices, &count);
    take_share(ctx, list, selector, indices, &count);
    bn_status st = BN_OK;
    bn_device *first = NULL;
    bn_device **group = calloc(count, sizeof(bn_device *));
    if (!group)
        return bn_fail(ctx, BN_MEMORY, "no memory to open %zu devices", count);
    size_t opened = 0;
    for (; opened < count; opened++)
        BN_GO(open_one(ctx, list, indices[opened], profile, group[0], indices, count, &group[opened]));
    first = group[0];
    first->group = group;
    first->group_size = count;
    group = NULL;
    BN_GO(count_devices(first));
    BN_GO(weigh_unequal(first));
    BN_GO(bn_threads_start(first));
    *out = first;
    first = NULL;
out:
    for (size_t i = 0; group && i < opened; i++)
        bn_device_close(&group[i]);
    free(group);
    bn_device_close(&first);
    return st;
}

void bn_device_close(bn_device **device)
{
    if (!device || !*device)
        return;
    bn_device *d = *device;
    for (size_t i = 0; i < d->group_size; i++) /* all, before what they have in common goes */
        if (d->group[i]->thread)
            bn_calls_settle(d->group[i]);
    for (size_t i = 1; i < d->group_size; i++)
        bn_device_close(&d->group[i]);
    bn_thread_end(d);
    if (d->stage)
        bn_pinned_free(d->stage);
    free(d->stage);
    const cl_command_queue queues[] = { d->queue, d->outgoing, d->incoming };
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++)
        if (queues[i]) {
            clFinish(queues[i]); /* some implementations abort when the process ends with work in flight */
            if (queues[i] == d->queue)
                bn_unlimit_queue(d);
            clReleaseCommandQueue(queues[i]);
        }
    const cl_event events[] = { d->moves[0], d->moves[1], d->fork.before, d->fork.last };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            clReleaseEvent(events[i]);
    if (d->cl)
        clReleaseContext(d->cl);
    for (bn_device **at = &d->ctx->open; *at; at = &(*at)->next_open)
        if (*at == d) {
            *at = d->next_open;
            break;
        }
    free(d->events.list);
    free(d->group);
    free(d->weights);
    free(d);
    *device = NULL;
}

size_t bn_device_local_count(const bn_device *d) { return d->group_size; }
size_t bn_device_global_count(const bn_device *d) { return d->global_count; }
const bn_device_info *bn_device_local(const bn_device *d, size_t i) { return &d->group[i]->info; }
const bn_device_info *bn_device_describe(const bn_device *device) { return &device->info; }
const bn_device_info *bn_device_least(const bn_device *device) { return &device->least; }
bool bn_device_single_threaded(const bn_device *device) { return device->quirks.single_threaded; }

bool bn_device_shares_kernels(const bn_device *device)
{
    return device->quirks.cache == BN_CACHE_FOLDER || bn_uses_own_cache(device);
}

void bn_device_fetch_kernels(const bn_device *device)
{
    if (device->quirks.cache == BN_CACHE_FOLDER)
        bn_pocl_cache_fetch();
}

bn_queue_counts bn_device_counts(const bn_device *device)
{
    bn_calls_settle(device);
    return device->counts;
}
