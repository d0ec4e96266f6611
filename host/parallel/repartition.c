/* repartition.c: cuts that balance work which differs from block to block, and moving fields to a domain cut so. */
#include "device/device_thread.h"
#include "api/repartition.h"
#include "grid/block_copy.h"
#include "grid/domain.h"
#include "grid/profile.h"
#include "grid/queues.h"
#include "grid/regions.h"
#include "grid/transfer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cuts lie at multiples of so many cells that a device has this many of them, where the grid allows: what a device has
 * to do is right to a thirtieth then, and cuts that come back find the programs of their boxes in a cache. */
enum { BN_PIECES = 32 };

/* Bytes of a field that are in host memory at a time. */
enum { BN_MOVE_BYTES = 32 << 20 };

void bn_domain_blocks(const bn_domain *d, size_t n[3])
{
    for (int k = 0; k < 3; k++) {
        const uint32_t unit = bn_cut_unit(k);
        n[k] = (d->desc.grid.n[k] + unit - 1) / unit;
    }
}

double bn_domain_share(const bn_domain *d, size_t box)
{
    const uint32_t *n = d->boxes[box].n;
    return (double)n[0] * n[1] * n[2] / (double)bn_domain_points(d);
}

/* -------------------------------------------------------------------------------------------------------------- cuts
 */

/* Pieces of the grid in a row, to be distributed over devices in order. */
typedef struct bn_row {
    size_t pieces, devices;
    double *work;             /* of each piece */
    const double *weights;    /* of each device; NULL: alike */
    size_t least, last, most; /* pieces that a device has at least, the last one at least, any at most */
} bn_row;

static double weight(const bn_row *r, size_t device) { return r->weights ? r->weights[device] : 1; }

/* Distributes the pieces so that no device has more than `most` for each unit of its weight. False: that is not enough.
 * first: pieces at which devices begin. */
static bool distribute(const bn_row *r, double most, size_t *first)
{
    size_t at = 0;
    for (size_t p = 0; p < r->devices; p++) {
        const bool last = p + 1 == r->devices;
        const size_t after = last ? 0 : r->least * (r->devices - 2 - p) + r->last; /* what the others need */
        const size_t least = last ? r->last : r->least, begin = at;
        double sum = 0;
        first[p] = at;
        while (at < r->pieces - after && at - begin < r->most &&
               (at - begin < least || sum + r->work[at] <= most * weight(r, p)))
            sum += r->work[at++];
        if (at - begin < least || sum > most * weight(r, p))
            return false;
    }
    return at == r->pieces;
}

/* The least that the busiest device can have for each unit of its weight; HUGE_VAL: the pieces can't be distributed. */
static double share_out(const bn_row *r, double total, size_t *first)
{
    enum { HALVINGS = 48 };
    double low = 0, high = total;
    for (size_t p = 0; p < r->devices; p++)
        high = fmax(high, total / weight(r, p));
    if (r->least * (r->devices - 1) + r->last > r->pieces || !distribute(r, high, first))
        return HUGE_VAL;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = low + (high - low) / 2;
        if (distribute(r, middle, first))
            high = middle;
        else
            low = middle;
    }
    return distribute(r, high, first) ? high : HUGE_VAL;
}

/* Cells along a dimension in a piece, which no cut divides. */
static uint32_t piece_of(const bn_domain *d, int dim, size_t devices)
{
    uint32_t unit = bn_cut_unit(dim);
    while (d->desc.grid.n[dim] / (2 * unit) >= BN_PIECES * devices)
        unit *= 2;
    return unit;
}

/* The work of all pieces along a dimension. */
static void add_up(const bn_domain *d, const double *work, int dim, uint32_t unit, double *pieces)
{
    size_t n[3], at[3];
    bn_domain_blocks(d, n);
    for (at[2] = 0; at[2] < n[2]; at[2]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[0] = 0; at[0] < n[0]; at[0]++)
                pieces[at[dim] * bn_cut_unit(dim) / unit] += *work++;
}

/* What the busiest device has for each unit of its weight as the domain is cut. */
static double busiest(const bn_domain *d, const double *work, const double *weights)
{
    size_t n[3], first[3], end[3];
    double most = 0;
    bn_domain_blocks(d, n);
    for (size_t b = 0; b < d->box_count; b++) {
        const bn_box *box = &d->boxes[b];
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            first[k] = box->offset[k] / bn_cut_unit(k);
            end[k] = first[k] + (box->n[k] + bn_cut_unit(k) - 1) / bn_cut_unit(k);
        }
        for (size_t z = first[2]; z < end[2]; z++)
            for (size_t y = first[1]; y < end[1]; y++)
                for (size_t x = first[0]; x < end[0]; x++)
                    sum += work[(z * n[1] + y) * n[0] + x];
        most = fmax(most, sum / (weights ? weights[b] : 1));
    }
    return most;
}

/* The best cuts along one dimension, if they are better than those in `out`. */
static void try_along(const bn_domain *d, int dim, const double *work, double total, double mean, double most,
                      bn_row *r, size_t *first, bn_cuts *out)
{
    const uint32_t n = d->desc.grid.n[dim], unit = piece_of(d, dim, r->devices), rest = n % unit;
    const double layer = (double)bn_domain_points(d) / n, room = floor(most / layer / unit);
    r->pieces = (n + unit - 1) / unit;
    const uint32_t thick = bn_least_thickness(&d->desc);
    r->least = (thick + unit - 1) / unit;
    r->last = r->least + (rest > 0 && rest < thick); /* the last piece may be thinner */
    r->most = room < (double)r->pieces ? (size_t)room : r->pieces;
    memset(r->work, 0, r->pieces * sizeof *r->work);
    add_up(d, work, dim, unit, r->work);
    const double then = share_out(r, total, first) / mean;
    /* Cells across the slower dimension are contiguous: a faster one has to be better by a twentieth. */
    if (!(then < (out->begin[0] == UINT32_MAX ? HUGE_VAL : 0.95 * out->then)))
        return;
    out->along = dim;
    out->then = then;
    for (size_t p = 0; p < r->devices; p++)
        out->begin[p] = (uint32_t)first[p] * unit;
}

bn_status bn_cuts_find(const bn_domain *d, const double *work, double most, bn_cuts *out)
{
    *out = (bn_cuts){ .count = d->box_count, .now = 1, .then = 1 };
    size_t n[3], longest = 0;
    double total = 0, weights = 0;
    bn_domain_blocks(d, n);
    for (int k = 0; k < 3; k++)
        longest = n[k] > longest ? n[k] : longest;
    for (size_t i = 0; i < n[0] * n[1] * n[2]; i++)
        total += work[i];
    if (!d->distributed || d->box_count != d->device->global_count)
        return bn_fail(d->ctx, BN_USAGE, "%zu boxes on %zu devices can't share out their work", d->box_count,
                       d->device ? d->device->global_count : 0);
    if (!(total > 0) || isinf(total))
        return BN_OK;
    bn_row r = { .devices = d->box_count, .weights = d->device->weights, .work = calloc(longest, sizeof *r.work) };
    size_t *first = calloc(d->box_count, sizeof *first);
    if (!r.work || !first || !(out->begin = calloc(d->box_count, sizeof *out->begin))) {
        free(r.work);
        free(first);
        return bn_fail(d->ctx, BN_MEMORY, "no memory to share out the work of %zu devices", d->box_count);
    }
    for (size_t p = 0; p < r.devices; p++)
        weights += weight(&r, p);
    out->begin[0] = UINT32_MAX; /* none yet */
    out->now = busiest(d, work, r.weights) / (total / weights);
    for (int dim = d->desc.grid.dims - 1; dim >= 0; dim--)
        try_along(d, dim, work, total, total / weights, most, &r, first, out);
    if (out->begin[0] == UINT32_MAX) {
        bn_cuts_free(out);
        out->then = out->now;
    }
    free(r.work);
    free(first);
    return BN_OK;
}

void bn_cuts_free(bn_cuts *c)
{
    free(c->begin);
    c->begin = NULL;
}

bn_status bn_domain_repartition(const bn_domain *old, const bn_cuts *cuts, bn_domain **out)
{
    *out = NULL;
    const bn_domain_desc *desc = &old->desc;
    bool sound = cuts->begin && cuts->count == old->box_count && cuts->along >= 0 && cuts->along < desc->grid.dims &&
                 !old->coarsened && cuts->begin[0] == 0;
    for (size_t p = 0; sound && p < cuts->count; p++) {
        const uint32_t end = p + 1 < cuts->count ? cuts->begin[p + 1] : desc->grid.n[cuts->along];
        sound = cuts->begin[p] % bn_cut_unit(cuts->along) == 0 && end > cuts->begin[p] &&
                end - cuts->begin[p] >= bn_least_thickness(desc);
    }
    if (!sound)
        return bn_fail(old->ctx, BN_USAGE,
                       "a domain of %zu boxes can't be cut that way: boxes are at least as thick as the "
                       "halo, and cuts lie between blocks of sums",
                       old->box_count);
    BN_TRY(bn_domain_create_cut(old->ctx, desc, &(const bn_box_cuts){ cuts->along, cuts->begin }, out));
    const bn_status st = bn_profile_continue(old, *out);
    if (st != BN_OK)
        bn_domain_destroy(out);
    return st;
}

/* ------------------------------------------------------------------------------------------------------------- fields
 */

/* Some rows, through the host memory `host`. */
static bn_status through_host(const bn_comm *comm, bn_rect from, bn_rect to, const size_t size[3], void *host,
                              const char *name)
{
    static const size_t none[3] = { 0, 0, 0 };
    const bn_message message = { from.box->device ? to.box->rank : from.box->rank, 0, host, size[0] * size[1] };
    if (from.box->device)
        BN_CL(from.box->device, name, clEnqueueReadBufferRect, bn_queue(from.box->device), from.buffer->mem, CL_TRUE,
              from.at, none, size, from.row, from.slice, size[0], size[0] * size[1], host, 0, NULL, NULL);
    if (!from.box->device || !to.box->device) {
        (from.box->device ? comm->ops->send : comm->ops->receive)(&message);
        comm->ops->wait();
    }
    if (to.box->device)
        BN_CL(to.box->device, name, clEnqueueWriteBufferRect, bn_queue(to.box->device), to.buffer->mem, CL_TRUE, to.at,
              none, size, to.row, to.slice, size[0], size[0] * size[1], host, 0, NULL, NULL);
    return BN_OK;
}

/* The cells of one component that two boxes have in common. */
static bn_status copy_common(const bn_field *from, size_t a, const bn_field *to, size_t b, int component, size_t eb,
                             const bn_region *part)
{
    bn_domain *d = to->domain;
    const uint32_t *n = part->n;
    const bn_rect source = bn_rect_of(from, a, component, part->first, eb),
                  target = bn_rect_of(to, b, component, part->first, eb);
    const bn_device *device = source.box->device;
    if (device && device == target.box->device) {
        BN_CL(device, from->desc.name, clEnqueueCopyBufferRect, bn_queue(device), source.buffer->mem,
              target.buffer->mem, source.at, target.at, (const size_t[]){ n[0] * eb, n[1], n[2] }, source.row,
              source.slice, target.row, target.slice, 0, NULL, NULL);
        return BN_OK;
    }
    if (!device && !target.box->device)
        return BN_OK;
    const size_t row = n[0] * eb, fit = BN_MOVE_BYTES / row, rows = fit > n[1] ? n[1] : fit > 0 ? fit : 1;
    void *host;
    BN_TRY(bn_double_buffer_next(d, from->desc.name, row * rows, &host));
    for (uint32_t z = 0; z < n[2]; z++)
        for (size_t y = 0; y < n[1]; y += rows) {
            bn_rect s = source, t = target;
            s.at[2] += z;
            t.at[2] += z;
            s.at[1] += y;
            t.at[1] += y;
            BN_TRY(through_host(&d->ctx->comm, s, t, (const size_t[]){ row, n[1] - y < rows ? n[1] - y : rows, 1 },
                                host, from->desc.name));
        }
    return BN_OK;
}

static bn_status copy_boxes(const bn_field *from, const bn_field *to)
{
    int first = 0, count = from->desc.components;
    const size_t eb = bn_field_unit(from, &first, &count);
    bn_region of, part;
    for (int c = 0; c < count; c++)
        for (size_t a = 0; a < from->domain->box_count; a++) /* every rank goes through them in this order */
            for (size_t b = 0; b < to->domain->box_count; b++) {
                bn_domain_box(from->domain, a, &of);
                if (bn_box_common(&to->domain->boxes[b], &of, &part))
                    BN_TRY(copy_common(from, a, to, b, c, eb, &part));
            }
    return BN_OK;
}

bn_status bn_field_move(bn_field *f, bn_domain *to)
{
    bn_domain *from = f->domain;
    if (!from->device || from->device != to->device || from->distributed != to->distributed ||
        memcmp(from->desc.grid.n, to->desc.grid.n, sizeof from->desc.grid.n) != 0 ||
        from->desc.precision != to->desc.precision)
        return bn_fail(from->ctx, BN_USAGE, "field %s can't move to a domain of another grid or on other devices",
                       f->desc.name);
    bn_field *moved;
    BN_TRY(bn_field_create(to, &f->desc, &moved));
    bn_status st = copy_boxes(f, moved);
    if (st == BN_OK) {
        bn_buffer **buffers = f->buffers;
        f->buffers = moved->buffers;
        f->domain = to;
        moved->buffers = buffers;
        moved->domain = from;
        st = bn_field_changed(f);
    }
    const bn_status waited = bn_finish_all(to, f->desc.name); /* the old buffers go */
    bn_field_destroy(&moved);
    return st == BN_OK ? waited : st;
}
