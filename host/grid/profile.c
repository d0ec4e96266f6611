/* profile.c: what the kernels of a domain have done, and what a tuner has to know of them. */
#include "grid/profile.h"

#include "grid/enqueue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Kernels of the domains that this one continues. */
typedef struct bn_past {
    size_t count;
    bn_profile_row rows[];
} bn_past;

static void destroy_past(void *past) { free(past); }

/* Adds a row to those that there are, or to the one of the same kernel. */
static void add_row(bn_profile_row *rows, size_t room, size_t *count, const bn_profile_row *more)
{
    size_t i = 0;
    while (i < *count && i < room && strcmp(rows[i].kernel, more->kernel) != 0)
        i++;
    if (i < *count && i < room) {
        rows[i].calls += more->calls;
        rows[i].seconds += more->seconds;
        rows[i].bytes += more->bytes;
        rows[i].flops += more->flops;
        return;
    }
    if (*count < room)
        rows[*count] = *more;
    ++*count;
}

/* The kernels of a domain that have run; by_name: added to rows that there are. */
static void add_kernels(const bn_domain *d, bool by_name, bn_profile_row *rows, size_t room, size_t *count)
{
    for (bn_program *p = d->programs; p; p = p->next)
        for (bn_kernel *k = p->kernels; k; k = k->next) {
            if (k->calls == 0)
                continue;
            const bool timed = d->device->profile && bn_collect_events(k) == BN_OK;
            const bn_profile_row row = { k->desc->name, k->calls, timed ? k->seconds : (double)NAN, k->bytes,
                                         k->flops };
            if (by_name) {
                add_row(rows, room, count, &row);
                continue;
            }
            if (*count < room)
                rows[*count] = row;
            ++*count;
        }
}

size_t bn_domain_profile(const bn_domain *d, bool all, bn_profile_row *rows, size_t room)
{
    size_t count = 0;
    add_kernels(d, false, rows, room, &count);
    for (const bn_domain *a = all ? d->auxiliaries : NULL; a; a = a->next_auxiliary)
        add_kernels(a, true, rows, room, &count);
    const bn_past *past = bn_attached(d->attached, destroy_past);
    for (size_t i = 0; past && i < past->count; i++)
        add_row(rows, room, &count, &past->rows[i]);
    return count;
}

size_t bn_domain_kernels(const bn_domain *d, bn_kernel_info *rows, size_t room)
{
    size_t count = 0;
    for (const bn_program *p = d->programs; p; p = p->next)
        for (const bn_kernel *k = p->kernels; k; k = k->next, count++) {
            if (count >= room)
                continue;
            const size_t most = d->device->info.max_work_group;
            rows[count] = (bn_kernel_info){ .kernel = k->desc->name,
                                            .range = k->range,
                                            .calls = k->calls,
                                            .group = { k->group[0], k->group[1], k->group[2] },
                                            .largest = k->max_group < most ? k->max_group : most,
                                            .multiple = k->multiple,
                                            .local_bytes = k->local_bytes,
                                            .fits = k->fits };
        }
    return count;
}

bn_status bn_profile_continue(const bn_domain *old, bn_domain *d)
{
    const size_t room = bn_domain_profile(old, true, NULL, 0) + 1;
    bn_past *past = calloc(1, sizeof *past + room * sizeof *past->rows);
    if (!past)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the profile of %zu kernels", room);
    past->count = bn_domain_profile(old, true, past->rows, room);
    past->count = past->count < room ? past->count : room;
    d->build.built += old->build.built;
    d->build.cached += old->build.cached;
    d->build.seconds += old->build.seconds;
    d->build.cache = old->build.cache;
    return bn_attach(d->ctx, &d->attached, past, destroy_past);
}
