/* migrate.c: particles that migrate from device to device. In each round the host writes arriving particles to every
 * device, launches the kernel, reads the departed ones, and assigns each to the device that it names, through messages
 * where that is another rank's. All ranks make the same rounds: they agree on whether particles are under way. */
#include "api/migrate.h"

#include "device/device_thread.h"
#include "launch/argument.h"

#include <stdlib.h>
#include <string.h>

/* The array on the device, in words; the same as in kernels/lib/migrate.h. */
enum { ITEMS, WORDS, DEVICE, ARRIVED, PAUSE, DEPARTED, HEAD = 16 };

/* Particles in host memory, one after the other. */
typedef struct particle_list {
    cl_uint *words;
    size_t count, room;
} particle_list;

struct bn_migrating_particles {
    bn_domain *domain;
    char *name;
    size_t words, capacity;
    bn_buffer **buffer;     /* one per device */
    bn_pinned *pinned;      /* one per device: head and particles on their way to the device and back */
    particle_list *waiting; /* one per device */
    particle_list *leaving; /* one per rank; NULL where there is only one */
    uint64_t *starts;       /* the first part of each rank, and behind them the number of parts */
    bn_migration_counts counts;
};

static size_t buffer_words(size_t words, size_t capacity) { return HEAD + capacity + 2 * capacity * words; }

uint64_t bn_migrating_particles_bytes(size_t words, size_t capacity)
{
    return sizeof(cl_uint) * (uint64_t)buffer_words(words, capacity);
}

static int ranks_of(const bn_domain *d) { return bn_domain_across_ranks(d) ? d->ctx->comm.ranks : 1; }

static bn_status find_ranks(bn_migrating_particles *t)
{
    const bn_domain *d = t->domain;
    const size_t ranks = (size_t)ranks_of(d);
    const uint64_t first = (uint64_t)bn_global_index(d, 0);
    t->starts = calloc(ranks + 1, sizeof *t->starts);
    t->leaving = ranks > 1 ? calloc(ranks, sizeof *t->leaving) : NULL;
    if (!t->starts || (ranks > 1 && !t->leaving))
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the migrating particles %s", t->name);
    if (ranks > 1)
        d->ctx->comm.ops->gather(&first, sizeof first, t->starts);
    t->starts[ranks] = (uint64_t)bn_global_count(d);
    return BN_OK;
}

bn_status bn_migrating_particles_create(bn_domain *d, const char *name, size_t words, size_t capacity,
                                        bn_migrating_particles **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_migrating_particles *t = NULL;
    if (!d->device || words < 1 || words > 4096 || capacity < 1 || capacity > INT32_MAX / 4)
        return bn_fail(d->ctx, BN_USAGE, "no room can be made for %zu particles %s of %zu words", capacity, name,
                       words);
    if (!(t = calloc(1, sizeof *t)) || !(t->name = strdup(name)) ||
        !(t->pinned = calloc(d->local_count, sizeof *t->pinned)) ||
        !(t->waiting = calloc(d->local_count, sizeof *t->waiting)))
        BN_GO(bn_fail(d->ctx, BN_MEMORY, "no memory for the migrating particles %s", name));
    t->domain = d;
    t->words = words;
    t->capacity = capacity;
    BN_GO(find_ranks(t));
    BN_GO(bn_copies_create(d, name, sizeof(cl_uint) * buffer_words(words, capacity), &t->buffer));
    for (size_t m = 0; m < d->local_count; m++)
        BN_GO(bn_pinned_need(bn_local_device(d, m), &t->pinned[m], sizeof(cl_uint) * (HEAD + capacity * words)));
    *out = t;
    t = NULL;
out:
    bn_migrating_particles_destroy(&t);
    return st;
}

void bn_migrating_particles_destroy(bn_migrating_particles **particles)
{
    if (!particles || !*particles)
        return;
    bn_migrating_particles *t = *particles;
    for (size_t m = 0; t->domain && m < t->domain->local_count; m++) {
        bn_pinned_free(&t->pinned[m]);
        free(t->waiting[m].words);
    }
    for (size_t r = 0; t->leaving && r < (size_t)ranks_of(t->domain); r++)
        free(t->leaving[r].words);
    if (t->buffer)
        bn_copies_destroy(t->domain, &t->buffer);
    free(t->pinned);
    free(t->waiting);
    free(t->leaving);
    free(t->starts);
    free(t->name);
    free(t);
    *particles = NULL;
}

bn_migration_counts bn_migrating_particles_counts(const bn_migrating_particles *t) { return t->counts; }

/* Appends so many, for the caller to fill in. NULL: there is no memory. */
static cl_uint *join(const bn_migrating_particles *t, particle_list *c, size_t more)
{
    if (c->count + more > c->room) {
        const size_t room = 2 * (c->count + more);
        cl_uint *words = realloc(c->words, room * t->words * sizeof *words);
        if (!words) {
            bn_fail(t->domain->ctx, BN_MEMORY, "no memory for %zu particles %s that wait", room, t->name);
            return NULL;
        }
        c->words = words;
        c->room = room;
    }
    c->count += more;
    return c->words + (c->count - more) * t->words;
}

/* Appends a particle to those that wait for a device here, or that leave for another rank. */
static bn_status assign(bn_migrating_particles *t, const cl_uint *one)
{
    const bn_domain *d = t->domain;
    const size_t ranks = (size_t)ranks_of(d), mine = (size_t)bn_global_index(d, 0);
    if (one[0] >= t->starts[ranks])
        return bn_fail(d->ctx, BN_MISMATCH, "one of the migrating particles %s wants to go to device %u of %d", t->name,
                       one[0], bn_global_count(d));
    particle_list *to = NULL;
    if (one[0] >= mine && one[0] < mine + d->local_count)
        to = &t->waiting[one[0] - mine];
    for (size_t r = 0; !to; r++)
        if (one[0] < t->starts[r + 1])
            to = &t->leaving[r];
    cl_uint *place = join(t, to, 1);
    if (!place)
        return bn_error_status(d->ctx);
    memcpy(place, one, t->words * sizeof *one);
    return BN_OK;
}

/* Writes the head, and as many of the waiting particles as there is room for. */
static bn_status send_in(bn_migrating_particles *t, size_t m, bool pause)
{
    const bn_domain *d = t->domain;
    const bn_device *device = bn_local_device(d, m);
    particle_list *w = &t->waiting[m];
    cl_uint *head = t->pinned[m].data;
    const size_t arrived = w->count < t->capacity ? w->count : t->capacity, bytes = arrived * t->words * sizeof *head;
    w->count -= arrived;
    memset(head, 0, HEAD * sizeof *head);
    head[ITEMS] = (cl_uint)t->capacity;
    head[WORDS] = (cl_uint)t->words;
    head[DEVICE] = (cl_uint)bn_global_index(d, m);
    head[ARRIVED] = (cl_uint)arrived;
    head[PAUSE] = pause;
    BN_CL(device, t->name, clEnqueueWriteBuffer, bn_queue(device), t->buffer[m]->mem, CL_FALSE, 0, HEAD * sizeof *head,
          head, 0, NULL, NULL);
    if (arrived > 0) {
        memcpy(head + HEAD, w->words + w->count * t->words, bytes);
        BN_CL(device, t->name, clEnqueueWriteBuffer, bn_queue(device), t->buffer[m]->mem, CL_FALSE,
              (HEAD + t->capacity) * sizeof *head, bytes, head + HEAD, 0, NULL, NULL);
    }
    return BN_OK;
}

/* Reads every device's head into its pinned memory, or, behind it, the departed particles that the head counts. */
static bn_status read_out(bn_migrating_particles *t, bool who)
{
    const bn_domain *d = t->domain;
    for (size_t m = 0; m < d->local_count; m++) {
        const bn_device *device = bn_local_device(d, m);
        cl_uint *head = t->pinned[m].data;
        const size_t at = who ? HEAD + t->capacity + t->capacity * t->words : 0;
        const size_t words = who ? head[DEPARTED] * t->words : HEAD;
        if (words > 0)
            BN_CL(device, t->name, clEnqueueReadBuffer, bn_queue(device), t->buffer[m]->mem, CL_FALSE,
                  at * sizeof *head, words * sizeof *head, head + (who ? HEAD : 0), 0, NULL, NULL);
    }
    BN_TRY(bn_wait_for_launches(t->domain, t->name));
    d->device->counts.waits++;
    return BN_OK;
}

/* Sends particles to other ranks and receives theirs; tells whether any are under way, and whether a device has more
 * waiting than it can take. */
static bn_status exchange_with_ranks(bn_migrating_particles *t, bool *under_way, bool *pause)
{
    const bn_domain *d = t->domain;
    const bn_comm *comm = &d->ctx->comm;
    const size_t ranks = (size_t)ranks_of(d), me = (size_t)comm->rank, row = ranks + 2;
    size_t arrived = 0, waits = 0;
    bool overfull = false;
    for (size_t m = 0; m < d->local_count; m++) {
        waits += t->waiting[m].count;
        overfull = overfull || t->waiting[m].count > t->capacity;
    }
    *under_way = waits > 0;
    *pause = overfull;
    if (ranks == 1)
        return BN_OK;
    cl_uint *all = calloc((ranks + 1) * row, sizeof *all);
    if (!all)
        return bn_fail(d->ctx, BN_MEMORY, "no memory to exchange particles among %zu ranks", ranks);
    cl_uint *mine = all + ranks * row;
    for (size_t r = 0; r < ranks; r++)
        mine[r] = (cl_uint)t->leaving[r].count;
    mine[ranks] = waits > 0;
    mine[ranks + 1] = overfull;
    comm->ops->gather(mine, row * sizeof *all, all);
    for (size_t r = 0; r < ranks; r++) {
        arrived += all[r * row + me];
        for (size_t to = 0; to < ranks + 1; to++)
            *under_way = *under_way || all[r * row + to] > 0;
        *pause = *pause || all[r * row + ranks + 1] > 0;
    }
    bn_status st = BN_OK;
    particle_list list = { 0 };
    cl_uint *at = arrived > 0 ? join(t, &list, arrived) : NULL;
    if (arrived > 0 && !at) {
        st = bn_error_status(d->ctx);
        goto out;
    }
    for (size_t r = 0; r < ranks; r++) {
        const size_t count = all[r * row + me];
        const bn_message m = { (int)r, 0, at, count * t->words * sizeof *at };
        if (count > 0) {
            comm->ops->receive(&m);
            at += count * t->words;
        }
    }
    for (size_t r = 0; r < ranks; r++) {
        const bn_message m = { (int)r, 0, t->leaving[r].words, t->leaving[r].count * t->words * sizeof *at };
        if (m.bytes > 0)
            comm->ops->send(&m);
    }
    comm->ops->wait();
    for (size_t r = 0; r < ranks; r++)
        t->leaving[r].count = 0;
    for (size_t i = 0; i < arrived; i++)
        BN_GO(assign(t, list.words + i * t->words));
out:
    free(list.words);
    free(all);
    return st;
}

/* One launch on every device; departed particles are assigned. */
static bn_status migration_round(bn_migrating_particles *t, bn_kernel *k, const bn_arg *args, size_t count, bool pause)
{
    const bn_domain *d = t->domain;
    for (size_t m = 0; m < d->local_count; m++)
        BN_TRY(send_in(t, m, pause));
    BN_TRY(bn_launch(k, args, count));
    t->counts.launches++;
    BN_TRY(read_out(t, false));
    for (size_t m = 0; m < d->local_count; m++) {
        const cl_uint *head = t->pinned[m].data;
        if (head[DEPARTED] > t->capacity)
            return bn_fail(d->ctx, BN_MISMATCH, "kernel %s has sent %u particles away, for %zu there is room",
                           k->desc->name, head[DEPARTED], t->capacity);
        t->counts.particles += head[DEPARTED];
    }
    BN_TRY(read_out(t, true));
    for (size_t m = 0; m < d->local_count; m++) {
        const cl_uint *head = t->pinned[m].data;
        for (size_t i = 0; i < head[DEPARTED]; i++)
            BN_TRY(assign(t, head + HEAD + i * t->words));
    }
    return BN_OK;
}

static bn_domain *owner(const bn_arg *a)
{
    const bn_migrating_particles *t = a->object.other;
    return t ? t->domain : NULL;
}

static void declare(bn_launching *l, const bn_arg *a)
{
    const bn_migrating_particles *t = a->object.other;
    l->items = t ? t->capacity : 0;
}

static bn_status set(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    const bn_migrating_particles *t = a->object.other;
    const bn_buffer *buffer = t->buffer[l->domain->boxes[box].local];
    return bn_set_arg(l->kernel, box, index, sizeof(cl_mem), &buffer->mem);
}

static bn_status set_plane(const bn_launching *l, const bn_arg *a, size_t box, cl_uint index)
{
    size_t first, end;
    bn_device_array_planes(a->object.array, l->domain->boxes[box].local, &first, &end);
    const cl_int plane = (cl_int)(a->kind == &bn_argument_end_plane ? end : first);
    return bn_set_arg(l->kernel, box, index, sizeof plane, &plane);
}

const bn_argument_kind bn_argument_migrating = { .owner = owner, .declare = declare, .set = set };
const bn_argument_kind bn_argument_first_plane = { .owner = bn_argument_array_owner, .set = set_plane };
const bn_argument_kind bn_argument_end_plane = { .owner = bn_argument_array_owner, .set = set_plane };

bn_status bn_migration(bn_kernel *k, const bn_arg *args, size_t count)
{
    bn_domain *d = k->program->domain;
    bn_migrating_particles *t = NULL;
    for (size_t i = 0; i < count; i++)
        t = args[i].kind == &bn_argument_migrating ? args[i].object.other : t;
    if (!t || t->domain != d)
        return bn_fail(d->ctx, BN_USAGE, "kernel %s has no migrating particles, or those of another domain",
                       k->desc->name);
    for (size_t m = 0; m < d->local_count; m++) {
        t->waiting[m].count = 0;
        BN_TRY(bn_buffer_fill(t->buffer[m], 0, HEAD * sizeof(cl_uint), t->capacity * sizeof(cl_uint)));
    }
    bool under_way = true, pause = false;
    while (under_way) {
        const bool held = pause;
        BN_TRY(migration_round(t, k, args, count, held));
        BN_TRY(exchange_with_ranks(t, &under_way, &pause));
        under_way = under_way || held; /* there may be work that has not been begun */
    }
    return BN_OK;
}
