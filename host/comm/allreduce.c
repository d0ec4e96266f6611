/* allreduce.c: partial sums of all reduction blocks, scalars and counters have a copy on every device. After devices
 * have changed their own parts, an allreduce makes the copies equal. It is exact, whatever the order: every partial sum
 * has one owner, of changed scalars the largest counts, counters are integers. */
#include "comm/allreduce.h"

#include "comm/channel.h"
#include "device/calls.h"
#include "grid/queues.h"

#include <stdlib.h>
#include <string.h>

/* The blocks of a box among those of the grid, first and count along x, y, z. */
static void blocks_of(const bn_box *box, size_t first[3], size_t n[3])
{
    const size_t unit[3] = { BN_BLOCK_NX, BN_BLOCK_NY, 1 };
    for (int k = 0; k < 3; k++) {
        first[k] = box->offset[k] / unit[k];
        n[k] = (box->n[k] + unit[k] - 1) / unit[k];
    }
}

/* Every value of `fresh` that is not as before takes its place in `values`; where several have changed, the largest in
 * the order of their bits, which for numbers that are not negative is their own. */
static void take_changes(size_t count, const unsigned char *before, const unsigned char *fresh, unsigned char *values,
                         size_t real)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t was = 0, is = 0, best = 0;
        memcpy(&was, before + i * real, real);
        memcpy(&is, fresh + i * real, real);
        memcpy(&best, values + i * real, real);
        if (is != was && (best == was || is > best))
            memcpy(values + i * real, fresh + i * real, real);
    }
}

/* A round: parts are read into pinned memory, the devices' threads (or the caller, where other ranks have a part) wait
 * until all are there, and the whole goes back to the devices while they go on. */
typedef struct bn_round {
    bn_domain *d;
    char *room;
    size_t at;
    char *exchanged; /* behind it: the part of this rank, and those of all */
    /* Of each device, what is read comes after this event, in the queue of outgoing messages; NULL: it is read in the
     * queue of launches. */
    const cl_event *after;
} bn_round;

static size_t partial_bytes(const bn_partials *p)
{
    return p->domain->sums.partials * (size_t)p->components * bn_domain_real_bytes(p->domain);
}

static bool has_changed(const bn_partials *p, int component)
{
    return component >= 64 || (p->changed >> component & 1);
}

static cl_command_queue queue_of_reads(const bn_round *r, const bn_device *device)
{
    return r->after ? device->outgoing : device->queue;
}

static const cl_event *before_reads(const bn_round *r, size_t local) { return r->after ? &r->after[local] : NULL; }

static bn_status read_partials(bn_round *r, const bn_partials *p)
{
    const bn_domain *d = r->d;
    char *room = r->room + r->at;
    const size_t real = bn_domain_real_bytes(d), rows = (d->desc.grid.n[1] + BN_BLOCK_NY - 1) / BN_BLOCK_NY;
    const size_t row = d->sums.blocks_x * real, slice = row * rows;
    for (size_t b = 0; b < d->box_count; b++) {
        const bn_box *box = &d->boxes[b];
        if (!box->device)
            continue;
        const bn_buffer *from = p->buffer[box->local];
        size_t first[3], n[3];
        blocks_of(box, first, n);
        for (int c = 0; c < p->components; c++) {
            const size_t at[3] = { first[0] * real, first[1], (size_t)c * d->desc.grid.n[2] + first[2] };
            if (!has_changed(p, c))
                continue;
            /* One piece, or rows of some layers. */
            const bool one = n[0] == d->sums.blocks_x && (n[1] == rows || n[2] == 1);
            const bn_copy copy = { .queue = queue_of_reads(r, box->device),
                                   .wait = { before_reads(r, box->local) },
                                   .mem = from->mem,
                                   .data = room,
                                   .at = { at[0], at[1], at[2] },
                                   .in_host = { at[0], at[1], at[2] },
                                   .region = { one ? n[2] * n[1] * row : n[0] * real, one ? 1 : n[1], one ? 1 : n[2] },
                                   .row = row,
                                   .slice = slice,
                                   .host_row = row,
                                   .host_slice = slice };
            BN_TRY(bn_call_copy(box->device, from->name, &copy));
        }
    }
    return BN_OK;
}

/* Bytes of one component of the partial sums of the rank that has the most. */
static size_t largest_part(const bn_domain *d)
{
    size_t most = 0;
    for (int rank = 0; rank < d->ctx->comm.ranks; rank++) {
        size_t bytes = 0, first[3], n[3];
        for (size_t b = 0; b < d->box_count; b++)
            if (d->boxes[b].rank == rank) {
                blocks_of(&d->boxes[b], first, n);
                bytes += n[0] * n[1] * n[2] * bn_domain_real_bytes(d);
            }
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Copies a rank's partial sums of so many components between `values`, where they stand as on a device, and `part`,
 * where they are dense. */
static void copy_part(const bn_domain *d, int rank, int components, char *values, char *part, bool out)
{
    const size_t real = bn_domain_real_bytes(d), rows = (d->desc.grid.n[1] + BN_BLOCK_NY - 1) / BN_BLOCK_NY;
    for (size_t b = 0; b < d->box_count; b++) {
        size_t first[3], n[3];
        if (d->boxes[b].rank != rank)
            continue;
        blocks_of(&d->boxes[b], first, n);
        for (int c = 0; c < components; c++)
            for (size_t k = 0; k < n[2]; k++)
                for (size_t j = 0; j < n[1]; j++, part += n[0] * real) {
                    const size_t row = ((size_t)c * d->desc.grid.n[2] + first[2] + k) * rows + first[1] + j;
                    char *place = values + (row * d->sums.blocks_x + first[0]) * real;
                    memcpy(out ? part : place, out ? place : part, n[0] * real);
                }
    }
}

/* With other ranks: to `values`, which have those of this one, the partial sums of the others. */
static void gather_partials(const bn_round *r, int components, char *values)
{
    const bn_comm *comm = &r->d->ctx->comm;
    const size_t each = (size_t)components * largest_part(r->d);
    char *all = r->exchanged + each;
    copy_part(r->d, comm->rank, components, values, r->exchanged, true);
    comm->ops->gather(r->exchanged, each, all);
    for (int rank = 0; rank < comm->ranks; rank++)
        if (rank != comm->rank)
            copy_part(r->d, rank, components, values, all + (size_t)rank * each, false);
}

/* To every device what it does not have: the components that have changed. */
static bn_status write_partials(bn_round *r, bn_partials *p)
{
    bn_domain *d = r->d;
    const size_t bytes = partial_bytes(p), part = bytes / (size_t)p->components;
    for (int c = 0, end; c < p->components; c = end + 1) { /* from c on those that have changed and lie together */
        for (end = c; end < p->components && has_changed(p, end);)
            end++;
        const size_t at = (size_t)c * part, changed = (size_t)(end - c) * part;
        char *values = r->room + r->at + at;
        if (end == c)
            continue;
        if (d->ctx->comm.ops)
            gather_partials(r, end - c, values);
        for (size_t m = 0; m < d->local_count; m++)
            BN_TRY(bn_call_copy(bn_local_device(d, m), p->buffer[m]->name,
                                &(bn_copy){ .queue = bn_local_device(d, m)->queue,
                                            .mem = p->buffer[m]->mem,
                                            .data = values,
                                            .write = true,
                                            .at = { at, 0, 0 },
                                            .region = { changed, 1, 1 } }));
    }
    p->differ = false;
    p->changed = 0;
    return BN_OK;
}

static bn_status read_scalars(bn_round *r, const bn_scalars *s)
{
    const size_t bytes = s->buffer[0]->bytes;
    for (size_t m = 0; m < r->d->local_count; m++)
        BN_TRY(bn_call_copy(bn_local_device(r->d, m), s->buffer[m]->name,
                            &(bn_copy){ .queue = queue_of_reads(r, bn_local_device(r->d, m)),
                                        .wait = { before_reads(r, m) },
                                        .mem = s->buffer[m]->mem,
                                        .data = r->room + r->at + m * bytes,
                                        .region = { bytes, 1, 1 } }));
    return BN_OK;
}

/* What every device's thread does by itself, with the same result. */
typedef struct bn_agreement {
    unsigned char *before, *values; /* of this device */
    const unsigned char *fresh;     /* of all */
    size_t count, bytes, real, devices;
    cl_mem mem;
} bn_agreement;

static cl_int agree(bn_device *d, const void *arguments, const char **call)
{
    const bn_agreement *a = arguments;
    memcpy(a->values, a->before, a->bytes);
    for (size_t m = 0; m < a->devices; m++)
        take_changes(a->count, a->before, a->fresh + m * a->bytes, a->values, a->real);
    memcpy(a->before, a->values, a->bytes);
    *call = "clEnqueueWriteBuffer";
    return clEnqueueWriteBuffer(d->queue, a->mem, CL_FALSE, 0, a->bytes, a->values, 0, NULL, NULL);
}

/* With other ranks: the caller finds what all of them have changed. */
static bn_status gather_changes(bn_round *r, bn_scalars *s, unsigned char *fresh)
{
    const bn_comm *comm = &r->d->ctx->comm;
    const size_t real = bn_domain_real_bytes(r->d), bytes = s->buffer[0]->bytes, devices = r->d->local_count;
    unsigned char *values = fresh + devices * bytes, *all = malloc(bytes * (size_t)comm->ranks);
    if (!all)
        return bn_fail(r->d->ctx, BN_MEMORY, "no memory for the scalars %s", s->buffer[0]->name);
    memcpy(values, s->before, bytes);
    for (size_t m = 0; m < devices; m++)
        take_changes(s->count, s->before, fresh + m * bytes, values, real);
    comm->ops->gather(values, bytes, all);
    memcpy(values, s->before, bytes);
    for (int k = 0; k < comm->ranks; k++)
        take_changes(s->count, s->before, all + (size_t)k * bytes, values, real);
    free(all);
    for (size_t m = 0; m < devices; m++) /* for the devices, to which all of them are news */
        memcpy(fresh + m * bytes, values, bytes);
    return BN_OK;
}

static bn_status write_scalars(bn_round *r, bn_scalars *s)
{
    bn_domain *d = r->d;
    const size_t bytes = s->buffer[0]->bytes, devices = d->local_count;
    unsigned char *fresh = (unsigned char *)r->room + r->at;
    if (d->ctx->comm.ops)
        BN_TRY(gather_changes(r, s, fresh));
    for (size_t m = 0; m < devices; m++) {
        const bn_agreement a = { .before = (unsigned char *)s->before + m * bytes,
                                 .values = fresh + (devices + m) * bytes,
                                 .fresh = fresh,
                                 .count = s->count,
                                 .bytes = bytes,
                                 .real = bn_domain_real_bytes(d),
                                 .devices = devices,
                                 .mem = s->buffer[m]->mem };
        BN_TRY(bn_call_list(bn_local_device(d, m), s->buffer[m]->name, agree, &a, sizeof a, false));
    }
    s->differ = false;
    return BN_OK;
}

static bool needs(const bn_scalars *s) { return s->shared && s->differ; }

static size_t padded(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* What one round makes equal. */
typedef struct bn_subjects {
    bn_partials *partials[BN_ALLREDUCE_MOST];
    bn_scalars *scalars[BN_ALLREDUCE_MOST];
    size_t partial_count, scalar_count;
} bn_subjects;

static bool is_nothing(const bn_subjects *s) { return s->partial_count + s->scalar_count == 0; }

/* Those that devices have changed. */
static bn_subjects changed_ones(bn_partials *const *partials, size_t partial_count, bn_scalars *const *scalars,
                                size_t scalar_count)
{
    bn_subjects s = { .partial_count = 0 };
    for (size_t i = 0; i < partial_count; i++)
        if (partials[i]->differ)
            s.partials[s.partial_count++] = partials[i];
    for (size_t i = 0; i < scalar_count; i++)
        if (needs(scalars[i]))
            s.scalars[s.scalar_count++] = scalars[i];
    return s;
}

/* Lists what all of them are read or, `back`, written by. */
static bn_status list_copies(bn_round *r, const bn_subjects *s, bool back)
{
    r->at = 0;
    for (size_t i = 0; i < s->partial_count; i++) {
        const size_t room = padded(partial_bytes(s->partials[i]));
        BN_TRY(back ? write_partials(r, s->partials[i]) : read_partials(r, s->partials[i]));
        r->at += room;
    }
    for (size_t i = 0; i < s->scalar_count; i++) {
        BN_TRY(back ? write_scalars(r, s->scalars[i]) : read_scalars(r, s->scalars[i]));
        r->at += padded(2 * r->d->local_count * s->scalars[i]->buffer[0]->bytes);
    }
    return BN_OK;
}

static const char doing[] = "allreduce of sums";

static bn_status find_room(bn_domain *d, const bn_subjects *s, const cl_event *after, bn_round *r)
{
    size_t bytes = 0;
    int components = 0; /* that ranks may exchange at once */
    for (size_t i = 0; i < s->partial_count; i++) {
        bytes += padded(partial_bytes(s->partials[i]));
        components = s->partials[i]->components > components ? s->partials[i]->components : components;
    }
    for (size_t i = 0; i < s->scalar_count; i++)
        bytes += padded(2 * d->local_count * s->scalars[i]->buffer[0]->bytes);
    void *begin;
    const size_t parts = (size_t)d->ctx->comm.ranks + 1;
    const size_t exchanged = d->ctx->comm.ops ? parts * (size_t)components * largest_part(d) : 0;
    BN_TRY(bn_double_buffer_next(d, doing, bytes + exchanged, &begin));
    *r = (bn_round){ .d = d, .room = begin, .exchanged = (char *)begin + bytes, .after = after };
    return BN_OK;
}

/* A round that goes on beside launches. Attached to a domain. */
typedef struct bn_begun {
    bn_subjects of; /* of nothing: there is none */
    bn_round round;
    size_t devices;
    cl_event *before; /* of each device: the end of what was launched before it */
} bn_begun;

static void destroy_begun(void *object)
{
    bn_begun *b = object;
    for (size_t m = 0; m < b->devices; m++)
        bn_event_put(&b->before[m], NULL);
    free(b->before);
    free(b);
}

static bn_status find_begun(bn_domain *d, bn_begun **out)
{
    *out = bn_attached(d->attached, destroy_begun);
    if (*out && (*out)->before)
        return BN_OK;
    bn_begun *b = calloc(1, sizeof *b);
    *out = b;
    BN_TRY(bn_attach(d->ctx, &d->attached, b, destroy_begun));
    if (!(b->before = calloc(d->local_count, sizeof(cl_event))))
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the events of %zu devices", d->local_count);
    b->devices = d->local_count;
    return BN_OK;
}

static bn_status end_begun(bn_domain *d)
{
    bn_begun *b = bn_attached(d->attached, destroy_begun);
    if (!b || is_nothing(&b->of))
        return BN_OK;
    const bn_subjects of = b->of;
    b->of = (bn_subjects){ .partial_count = 0 };
    BN_TRY(bn_flush_all(d, doing)); /* what was launched meanwhile */
    BN_TRY(bn_outgoing_meet(d, doing));
    BN_TRY(list_copies(&b->round, &of, true));
    return bn_flush_all(d, doing);
}

/* Those of the next round, the one that goes on having ended; nothing where one device has all boxes. */
static bn_status subjects_now(bn_domain *d, bn_partials *const *partials, size_t partial_count,
                              bn_scalars *const *scalars, size_t scalar_count, bn_subjects *of)
{
    *of = (bn_subjects){ .partial_count = 0 };
    if (!d->distributed)
        return BN_OK;
    BN_TRY(end_begun(d));
    *of = changed_ones(partials, partial_count, scalars, scalar_count);
    return BN_OK;
}

bn_status bn_allreduce_begin(bn_domain *d, bn_partials *const *partials, size_t partial_count,
                             bn_scalars *const *scalars, size_t scalar_count)
{
    bn_begun *b;
    bn_subjects of;
    BN_TRY(subjects_now(d, partials, partial_count, scalars, scalar_count, &of));
    if (is_nothing(&of))
        return BN_OK;
    BN_TRY(find_begun(d, &b));
    BN_TRY(find_room(d, &of, b->before, &b->round));
    for (size_t m = 0; m < d->local_count; m++)
        BN_TRY(bn_call_mark(bn_local_device(d, m), doing, &b->before[m]));
    BN_TRY(bn_flush_all(d, doing)); /* the other queue waits for it */
    BN_TRY(list_copies(&b->round, &of, false));
    BN_TRY(bn_channels_flush(d, true));
    b->of = of;
    return BN_OK;
}

bn_status bn_allreduce(bn_domain *d, bn_partials *const *partials, size_t partial_count, bn_scalars *const *scalars,
                       size_t scalar_count)
{
    bn_round r;
    bn_subjects of;
    BN_TRY(subjects_now(d, partials, partial_count, scalars, scalar_count, &of));
    if (is_nothing(&of))
        return BN_OK;
    const bool looks = of.scalar_count > 0 && !d->device->thread; /* the caller does, at changed scalars */
    BN_TRY(find_room(d, &of, NULL, &r));
    BN_TRY(list_copies(&r, &of, false));
    BN_TRY((looks ? bn_wait_for_launches : bn_queues_meet)(d, doing));
    BN_TRY(list_copies(&r, &of, true));
    return bn_flush_all(d, doing);
}

/* The sum of all devices' counters, in fresh memory: the caller frees it. */
static bn_status sum_counters(bn_device_array *t, int64_t **out)
{
    bn_domain *d = t->domain;
    const bn_comm_ops *ops = d->ctx->comm.ops;
    const size_t bytes = t->buffer[0]->bytes, count = bytes / sizeof(int64_t);
    bn_status st = BN_OK;
    int64_t *sum = calloc(count, sizeof *sum), *part = malloc(bytes);
    if (!sum || !part)
        BN_GO(bn_fail(d->ctx, BN_MEMORY, "no memory for the counters %s", t->buffer[0]->name));
    for (size_t m = 0; m < d->local_count; m++) {
        const bn_device *device = bn_local_device(d, m);
        const cl_int status = clEnqueueReadBuffer(bn_queue(device), t->buffer[m]->mem, CL_TRUE, 0, bytes, part, 0, NULL,
                                                  NULL);
        if (status != CL_SUCCESS) {
            st = bn_cl_fail(device, status, "clEnqueueReadBuffer", t->buffer[m]->name);
            goto out;
        }
        for (size_t i = 0; i < count; i++)
            sum[i] += part[i];
    }
    if (ops && d->distributed)
        ops->all_sum(sum, count);
    *out = sum;
    sum = NULL;
out:
    free(sum);
    free(part);
    return st;
}

bn_status bn_counters_merge(bn_device_array *t)
{
    int64_t *sum;
    if (!t->domain->distributed)
        return BN_OK;
    BN_TRY(sum_counters(t, &sum));
    const bn_status st = bn_copies_write(t->domain, t->buffer, sum, t->buffer[0]->bytes, true);
    free(sum);
    return st;
}

static bn_status clear_counters(bn_device_array *t)
{
    bn_domain *d = t->domain;
    for (size_t m = 0; m < d->local_count; m++)
        BN_TRY(bn_buffer_fill(t->buffer[m], 0, 0, t->buffer[m]->bytes));
    return BN_OK;
}

bn_status bn_counters_clear(bn_device_array *t) { return t->domain->distributed ? clear_counters(t) : BN_OK; }

bn_status bn_device_array_take(bn_device_array *t, int64_t *sums, size_t count)
{
    int64_t *sum;
    if (count * sizeof *sums != t->buffer[0]->bytes)
        return bn_fail(t->domain->ctx, BN_USAGE, "there are %zu counters %s, not %zu",
                       t->buffer[0]->bytes / sizeof *sums, t->buffer[0]->name, count);
    BN_TRY(sum_counters(t, &sum));
    for (size_t i = 0; i < count; i++)
        sums[i] += sum[i];
    free(sum);
    t->domain->device->counts.waits++;
    return clear_counters(t);
}
