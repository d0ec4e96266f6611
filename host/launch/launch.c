/* launch.c: runs a kernel over all boxes of a domain: checks the arguments, refreshes the halos it reads, enqueues,
 * counts. */
#include "comm/halo_exchange.h"
#include "device/calls.h"
#include "launch/argument.h"

#include <string.h>

/* Bytes that a box moves in one launch, from which on its inside is launched by itself while halos are exchanged: some
 * 30 us of a fast GPU, as long as the host takes for the launches and events that it has more to do. Whole lines are
 * eliminated at a third of that rate. */
enum { BN_WORTH_SPLITTING_CPU = 1 << 12, BN_WORTH_SPLITTING_GPU = 1 << 27, BN_WORTH_SPLITTING_LINES = 1 << 26 };

static bn_status check_arg(const bn_launching *l, size_t number)
{
    const bn_domain *d = l->domain;
    const char *kernel = l->kernel->desc->name;
    const bn_arg *a = &l->args[number];
    const bn_domain *owner = a->kind->owner ? a->kind->owner(a) : d;
    /* Which device a box lies on depends on its number alone. */
    const bool same_boxes = owner && owner->box_count == d->box_count &&
                            memcmp(owner->lattice, d->lattice, sizeof d->lattice) == 0;
    const bool whole = owner && (owner->desc.copies || owner->box_count == 1);
    const bool related = owner && (owner == d || (owner->device == d->device && ((a->kind->other_grid && same_boxes) ||
                                                                                 (a->kind->everywhere && whole))));
    if (!related)
        return bn_fail(d->ctx, BN_USAGE, "argument %zu of kernel %s is missing or belongs to another domain", number,
                       kernel);
    if (a->radius < 0 || a->radius > owner->max_radius)
        return bn_fail(d->ctx, BN_USAGE, "argument %zu of kernel %s reaches %d cells, the halo is %d", number, kernel,
                       a->radius, owner->max_radius);
    if (a->kind->field && l->kernel->range == BN_PER_PARTICLE)
        return bn_fail(d->ctx, BN_USAGE, "kernel %s belongs to no grid and can't have field %s", kernel,
                       a->object.field->desc.name);
    /* Reading neighbours of what the same launch writes is a race. */
    for (size_t j = 0; a->radius > 0 && j < l->count; j++)
        if (j != number && l->args[j].kind->writes && l->args[j].object.field == a->object.field)
            return bn_fail(d->ctx, BN_USAGE, "kernel %s reads neighbours of %s and writes it", kernel,
                           a->object.field->desc.name);
    return BN_OK;
}

static bn_status set_args(const bn_launching *l, size_t box)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->args[i].kind->set)
            BN_TRY(l->args[i].kind->set(l, &l->args[i], box, (cl_uint)i));
    return BN_OK;
}

/* Rows of a work-group of the ranges that go by blocks. */
static size_t group_rows(const bn_kernel *k)
{
    return k->range == BN_PER_BLOCK && k->patch[1] ? k->patch[1] : BN_BLOCK_NY;
}

/* Offset, global and local size of a part of a box; see bn_range. `waited_for`: by other devices. */
static void shape_launch(const bn_kernel *k, const bn_box *box, const bn_part *part, bool waited_for, size_t offset[3],
                         size_t global[3])
{
    const bool gridless = k->range == BN_ONCE || k->range == BN_PER_PARTICLE;
    for (int i = 0; i < 3; i++) {
        offset[i] = gridless ? 0 : (size_t)((long)box->offset[i] + part->first[i]);
        size_t items = part->n[i];
        if (i == 2 && (k->range == BN_PER_CELL || k->range == BN_PER_BLOCK) && k->layers > 1 &&
            k->program->domain->desc.grid.dims < 3)
            items = k->layers;
        if (i == 0 && k->range == BN_PER_BLOCK)
            items = (items + BN_BLOCK_NX - 1) / BN_BLOCK_NX * k->group[0];
        if (i == 0 && (k->range == BN_PER_ROW || k->range == BN_PER_ROWS))
            items = k->group[0];
        if (k->range == BN_PER_ROW_PAIR || k->range == BN_PER_COLUMN_PAIR) {
            const size_t lines = 2 * (k->pairs ? k->pairs : 1), along = part->n[k->range == BN_PER_ROW_PAIR];
            const size_t groups = (along + lines - 1) / lines * (k->shares ? k->shares : 1);
            items = i == 0 ? groups * k->group[0] : i == 2 && k->layers > 1 ? k->layers : 1;
        }
        if (k->range == BN_SIDE_BY_SIDE)
            items = i != 0 ? 1 : k->side_by_side * k->group[0];
        if (k->range == BN_PER_TILE) {
            const size_t own[3] = { BN_TILE_X, BN_TILE_Y - 1, k->program->domain->tile_layers };
            items = (items + own[i] - 1) / own[i] * k->group[i];
        }
        if (k->range == BN_PER_PATCH && i < 2)
            items = (items + k->patch[i] - 1) / k->patch[i] * k->group[i];
        if (i == 1 && (k->range == BN_PER_BLOCK || k->range == BN_PER_ROWS))
            items = (items + group_rows(k) - 1) / group_rows(k);
        if (i == 2 && k->range == BN_PER_ROWS && waited_for)
            items = BN_BLOCK_NY;
        global[i] = (items + k->group[i] - 1) / k->group[i] * k->group[i];
    }
}

static bn_status launch_shaped(bn_kernel *k, size_t b, const bn_part *part, bool waited_for, const bn_order *order)
{
    size_t offset[3], global[3];
    shape_launch(k, &k->program->domain->boxes[b], part, waited_for, offset, global);
    return bn_enqueue(k, b, offset, global, k->group, order);
}

static bn_status launch_part(bn_kernel *k, size_t b, const bn_part *part, const bn_order *order)
{
    return launch_shaped(k, b, part, false, order);
}

bn_part bn_whole_box(const bn_domain *d, size_t b)
{
    const uint32_t *n = d->boxes[b].n;
    return (bn_part){ .n = { n[0], n[1], n[2] } };
}

bool bn_worth_splitting(const bn_kernel *k, size_t b)
{
    const bn_domain *d = k->program->domain;
    const bn_box *box = &d->boxes[b];
    const double bytes = (k->desc->cost.reads + k->desc->cost.writes) * (double)bn_domain_real_bytes(d) * box->n[0] *
                         box->n[1] * box->n[2];
    const bool lines = k->range == BN_PER_ROW || k->range == BN_PER_ROWS;
    return bytes >= (box->device->info.cpu ? BN_WORTH_SPLITTING_CPU
                     : lines               ? BN_WORTH_SPLITTING_LINES
                                           : BN_WORTH_SPLITTING_GPU);
}

/* Splits a box into what reads no other device's cells as these requests say, and the rest in at most six slabs. Cuts
 * lie at multiples of what a launch covers at a time, so that no cell is computed twice. False: nothing is left inside.
 */
static bool split_box(const bn_kernel *k, size_t b, const bn_halo_request *requests, size_t count, bn_part *inside,
                      bn_part slabs[BN_PARTS_MAX], size_t *slab_count)
{
    const bn_domain *d = k->program->domain;
    const bn_box *box = &d->boxes[b];
    const bool blocks = k->range == BN_PER_BLOCK, tiles = k->range == BN_PER_TILE, patches = k->range == BN_PER_PATCH;
    bn_part rest = bn_whole_box(d, b);
    *slab_count = 0;
    if (!bn_worth_splitting(k, b)) /* what is done before it could be launched twice hides nothing */
        return false;
    if (!blocks && !tiles && !patches && (k->range != BN_PER_CELL || k->layers > 1))
        return false;
    if (tiles && (box->remote[0][0] || box->remote[0][1] || box->remote[1][0] || box->remote[1][1]))
        return false;            /* tiles begin at the first cell along x and y */
    size_t radius[2] = { 0, 0 }; /* towards lower and higher indices */
    for (size_t r = 0; r < count; r++)
        for (int side = 0; side < 2; side++)
            if (requests[r].side != (side ? -1 : 1) && (size_t)requests[r].own_radius > radius[side])
                radius[side] = (size_t)requests[r].own_radius;
    for (int dim = d->desc.grid.dims - 1; dim >= 0; dim--) {
        const size_t unit = blocks    ? (size_t[]){ BN_BLOCK_NX, group_rows(k), 1 }[dim]
                            : tiles   ? d->tile_layers
                            : patches ? k->patch[dim]
                                      : k->group[dim];
        const size_t n = rest.n[dim];
        const size_t low = box->remote[dim][0] ? (radius[0] + unit - 1) / unit * unit : 0;
        const size_t keep = box->remote[dim][1] ? radius[1] : 0;
        if (n <= low + keep)
            return false;
        const size_t middle = keep > 0 ? (n - low - keep) / unit * unit : n - low;
        if (middle == 0)
            return false;
        const size_t starts[2] = { 0, low + middle }, counts[2] = { low, n - low - middle };
        for (int side = 0; side < 2; side++)
            if (counts[side] > 0) {
                bn_part *slab = &slabs[(*slab_count)++];
                *slab = rest;
                slab->first[dim] = rest.first[dim] + (long)starts[side];
                slab->n[dim] = counts[side];
            }
        rest.first[dim] += (long)low;
        rest.n[dim] = middle;
    }
    *inside = rest;
    return true;
}

/* Everything that arguments need before a kernel runs, except halos. */
static bn_status prepare_args(bn_launching *l)
{
    for (size_t i = 0; l->domain->distributed && i < l->count; i++)
        if (l->args[i].kind->collect)
            BN_TRY(l->args[i].kind->collect(l, &l->args[i]));
    if (l->partial_count + l->scalar_count > 0)
        BN_TRY((l->begins ? bn_allreduce_begin : bn_allreduce)(l->domain, l->partials, l->partial_count, l->scalars,
                                                               l->scalar_count));
    for (size_t i = 0; i < l->count; i++)
        if (l->args[i].kind->prepare)
            BN_TRY(l->args[i].kind->prepare(l, &l->args[i]));
    return BN_OK;
}

/* One work-group, or one work-item a particle, on each device. */
static bn_status launch_without_grid(bn_launching *l)
{
    const bn_domain *d = l->domain;
    const bn_part part = { { 0, 0, 0 }, { l->kernel->range == BN_ONCE ? 1 : l->items, 1, 1 } };
    for (size_t m = 0; m < d->local_count; m++) {
        BN_TRY(set_args(l, d->first_box[m]));
        BN_TRY(launch_part(l->kernel, d->first_box[m], &part, NULL));
    }
    return BN_OK;
}

/* Whether a kernel must not run twice at a time on one of the devices. */
static bool one_at_a_time(const bn_domain *d)
{
    bool alone = false;
    for (size_t m = 0; m < d->local_count; m++)
        alone = alone || bn_local_device(d, m)->quirks.runs_alone;
    return alone;
}

/* The inside of boxes while these halos are under way, and beside it, when they have come, the slabs at the cuts, which
 * alone would not fill a device; where a kernel must not run twice at a time behind it. */
static bn_status launch_split(bn_launching *l, const bn_halo_request *requests)
{
    bn_domain *d = l->domain, *received = l->received;
    const bool beside = !one_at_a_time(d);
    bn_kernel *k = l->kernel;
    bn_part inside, slabs[BN_PARTS_MAX];
    size_t count;
    for (size_t b = 0; b < d->box_count; b++)
        if (d->boxes[b].device && split_box(k, b, requests, l->requests, &inside, slabs, &count))
            BN_TRY(launch_part(k, b, &inside, NULL));
    BN_TRY(bn_halo_exchange_send(received));
    BN_TRY(bn_halo_exchange_end(received, requests, l->requests, beside));
    for (size_t b = 0; b < d->box_count; b++) {
        if (!d->boxes[b].device || !split_box(k, b, requests, l->requests, &inside, slabs, &count))
            continue;
        for (size_t p = 0; p < count; p++) {
            const bn_order order = bn_halo_exchange_order(d->boxes[b].device, p + 1 == count);
            BN_TRY(launch_part(k, b, &slabs[p], beside ? &order : NULL));
        }
    }
    return beside ? bn_halo_exchange_join(received) : BN_OK;
}

static bn_status receive(const bn_launching *l, const bn_halo_request *requests)
{
    BN_TRY(bn_halo_exchange_send(l->received));
    return bn_halo_exchange_end(l->received, requests, l->requests, false);
}

/* A box, in the parts that an argument asks for. Others need what all but the last of them store: that is computed
 * first, and sent. Alone it would not fill a device, so the last part begins right behind it, in a queue of its own,
 * and takes what room there is. */
static bn_status launch_divided(bn_launching *l, size_t b)
{
    static const char doing[] = "launching what other devices need first";
    const bn_domain *d = l->domain;
    bn_device *device = d->boxes[b].device;
    const bn_argument_kind *kind = l->divides ? l->divides->kind : NULL;
    bn_part parts[BN_PARTS_MAX] = { bn_whole_box(d, b) };
    const size_t count = kind ? kind->divide(l, b, parts) : 1, outer = count > 1 ? count - 1 : count;
    const bool beside = outer < count && !one_at_a_time(d);
    const bn_order order = { &device->fork.before, &device->fork.last, true };
    const cl_event *last[BN_HOLDS] = { &device->fork.last };
    if (beside)
        BN_TRY(bn_call_mark(device, doing, &device->fork.before));
    for (size_t p = 0; p < outer; p++)
        BN_TRY(launch_shaped(l->kernel, b, &parts[p], outer < count, NULL));
    if (outer > 0 && kind && kind->outer_launched)
        BN_TRY(kind->outer_launched(l, b));
    if (beside)
        BN_TRY(bn_call_flush(device, doing, device->queue));
    for (size_t p = outer; p < count; p++)
        BN_TRY(launch_part(l->kernel, b, &parts[p], beside ? &order : NULL));
    if (beside)
        BN_TRY(bn_call_flush(device, doing, device->incoming));
    return beside ? bn_call_hold(device, doing, last) : BN_OK;
}

/* Over every box here; with `requests` these halos are exchanged. */
static bn_status launch_boxes(bn_launching *l, const bn_halo_request *requests)
{
    bn_domain *d = l->domain;
    bn_kernel *k = l->kernel;
    bn_part inside, parts[BN_PARTS_MAX];
    size_t count;
    bool split = l->requests > 0 && l->needed;
    for (size_t b = 0; b < d->box_count; b++)
        if (d->boxes[b].device) {
            BN_TRY(set_args(l, b));
            split = split && split_box(k, b, requests, l->requests, &inside, parts, &count);
        }
    if (split)
        return launch_split(l, requests);
    if (l->requests > 0 && l->needed)
        BN_TRY(receive(l, requests));
    for (size_t b = 0; b < d->box_count; b++)
        if (d->boxes[b].device)
            BN_TRY(launch_divided(l, b));
    return l->requests > 0 && !l->needed ? receive(l, requests) : BN_OK;
}

static bn_status check_kernel(const bn_kernel *k)
{
    const bn_domain *d = k->program->domain;
    if (!k->fits && k->local_bytes > d->device->info.local_bytes)
        return bn_fail(d->ctx, BN_DEVICE, "kernel %s needs %llu bytes of local memory, %s has %llu", k->desc->name,
                       (unsigned long long)k->local_bytes, d->device->info.name,
                       (unsigned long long)d->device->info.local_bytes);
    if (!k->fits)
        return bn_fail(
            d->ctx, BN_DEVICE,
            "%s can't run kernel %s in the work-groups of %d x %d that it is made for: %zu work-items are the most",
            d->device->info.name, k->desc->name, (int)BN_TILE_X, (int)BN_TILE_Y, k->max_group);
    if (d->coarsened && k->range == BN_PER_BLOCK && d->box_count > 1)
        return bn_fail(d->ctx, BN_USAGE, "kernel %s forms sums on a coarser grid, whose cuts split their blocks",
                       k->desc->name);
    const bool rows = k->range == BN_PER_ROW || k->range == BN_PER_ROWS || k->range == BN_PER_ROW_PAIR ||
                      k->range == BN_PER_COLUMN_PAIR;
    if ((k->range == BN_SIDE_BY_SIDE && d->box_count > 1) || (rows && d->lattice[0] > 1))
        return bn_fail(d->ctx, BN_USAGE, "kernel %s needs whole lines, the grid is cut into %zu boxes", k->desc->name,
                       d->box_count);
    return BN_OK;
}

/* Cells of the halo that are right as far as this argument is concerned. */
static int valid_for(const bn_domain *d, const bn_arg *a)
{
    const struct bn_valid_halo *valid = &a->object.field->valid;
    if (!a->wraps || !d->distributed)
        return valid->all;
    return a->side == 0 ? valid->unwrapped : valid->side[a->side > 0];
}

/* Whether the argument reads cells of a halo that is stale. */
static bool needs_halo(const bn_launching *l, const bn_arg *a)
{
    return a->kind->reads && a->radius > valid_for(l->domain, a) && !(a->wraps && l->domain->box_count == 1);
}

/* The domain whose halos are exchanged while the kernel runs: its own, or that of another grid if none of its own is
 * stale. */
static bn_domain *receives(const bn_launching *l)
{
    bn_domain *other = NULL;
    for (size_t i = 0; l->domain->distributed && i < l->count; i++) {
        if (!needs_halo(l, &l->args[i]))
            continue;
        other = l->args[i].object.field->domain;
        if (other == l->domain)
            break;
    }
    return other;
}

/* Cells of the kernel's grid from a cut within which one reads another grid's cells that lie so far beyond it. */
static int own_radius(const bn_launching *l, const bn_arg *a)
{
    const bn_domain *d = l->domain, *of = a->object.field->domain;
    uint32_t step = 1;
    if (of == d)
        return a->radius;
    for (int k = 0; k < d->desc.grid.dims; k++) {
        const uint32_t n = of->desc.grid.n[k], along = (d->desc.grid.n[k] + n - 1) / n;
        step = along > step ? along : step;
    }
    return (a->radius + 1) * (int)step;
}

/* Lists them. */
static bn_status list_requests(bn_launching *l, bn_halo_request requests[BN_HALO_REQUESTS])
{
    l->received = receives(l);
    for (size_t i = 0; l->received && i < l->count; i++) {
        const bn_arg *a = &l->args[i];
        if (!needs_halo(l, a) || a->object.field->domain != l->received)
            continue;
        const int radius = a->radius, side = a->wraps ? a->side : 0;
        size_t at = 0;
        l->needed = l->needed || !a->kind->later;
        while (at < l->requests && requests[at].field != a->object.field)
            at++;
        bn_halo_request *r = &requests[at];
        if (at == BN_HALO_REQUESTS)
            return bn_fail(l->domain->ctx, BN_USAGE, "kernel %s reads halos of more than %d fields",
                           l->kernel->desc->name, (int)BN_HALO_REQUESTS);
        if (at == l->requests) {
            requests[l->requests++] = (bn_halo_request){ a->object.field, radius, own_radius(l, a), side, a->wraps };
            continue;
        }
        r->radius = radius > r->radius ? radius : r->radius;
        r->own_radius = own_radius(l, a) > r->own_radius ? own_radius(l, a) : r->own_radius;
        r->wraps = r->wraps && a->wraps;
        r->side = r->wraps && r->side == a->side ? a->side : 0;
    }
    return BN_OK;
}

/* Exchanges the other halos: between boxes of one device, or of grids whose messages are not those that travel. */
static bn_status exchange_now(const bn_launching *l)
{
    for (size_t i = 0; i < l->count; i++) {
        const bn_arg *a = &l->args[i];
        if (!needs_halo(l, a))
            continue;
        bn_field *f = a->object.field;
        if (!l->domain->distributed) {
            BN_TRY(bn_halo_exchange_in_phases(f, a->radius));
        } else if (f->domain != l->received) {
            const bn_halo_request other = { .field = f, .radius = a->radius, .wraps = a->wraps };
            BN_TRY(bn_halo_exchange_at_once(f->domain, &other));
        }
    }
    return BN_OK;
}

bn_status bn_launch(bn_kernel *k, const bn_arg *args, size_t count)
{
    bn_domain *d = k->program->domain;
    bn_launching l = { .kernel = k, .domain = d, .args = args, .count = count };
    bn_halo_request requests[BN_HALO_REQUESTS];
    if (d->device->listing)
        return BN_OK;
    bn_kernel_shape(k);
    const bool without_grid = k->range == BN_ONCE || k->range == BN_PER_PARTICLE;
    BN_TRY(bn_kernel_ready(k));
    size_t set = 0;
    while (set < count && args[set].kind->set)
        set++;
    if (set != k->argument_count)
        return bn_fail(d->ctx, BN_USAGE, "kernel %s takes %u arguments, not %zu", k->desc->name, k->argument_count,
                       set);
    for (size_t i = 0; i < count; i++)
        if (args[i].kind->declare)
            args[i].kind->declare(&l, &args[i]);
    if ((k->range == BN_PER_PARTICLE) != (l.items > 0))
        return bn_fail(d->ctx, BN_USAGE,
                       "kernel %s: migrating particles are for the range BN_PER_PARTICLE, and for it alone",
                       k->desc->name);
    for (size_t i = 0; i < count; i++)
        BN_TRY(check_arg(&l, i));
    BN_TRY(check_kernel(k));
    BN_TRY(list_requests(&l, requests));
    for (size_t i = 0; i < count; i++)
        if (args[i].kind->check)
            BN_TRY(args[i].kind->check(&l, &args[i]));
    BN_TRY(exchange_now(&l));
    BN_TRY(prepare_args(&l));
    if (l.requests > 0)
        BN_TRY(bn_halo_exchange_begin(l.received, requests, l.requests));
    BN_TRY(without_grid ? launch_without_grid(&l) : launch_boxes(&l, requests));
    const double cells = k->range == BN_ONCE ? 1.0 : l.covered > 0 ? l.covered : (double)bn_domain_points(d);
    k->calls++;
    k->bytes += (k->desc->cost.reads + k->desc->cost.writes) * (double)bn_domain_real_bytes(d) * cells;
    k->flops += k->desc->cost.flops * cells * (k->repeats > 0 ? k->repeats : 1);
    for (size_t i = 0; i < count; i++)
        if (args[i].kind->after)
            BN_TRY(args[i].kind->after(&l, &args[i]));
    return BN_OK;
}
