/* launch.c: runs a kernel over all boxes of a domain: checks the arguments, refreshes the halos it reads, enqueues,
 * keeps the books. */
#include "grid/runtime.h"

#include <math.h>
#include <string.h>

/* Launches after which the queue is flushed: without it some implementations start nothing until the host waits. */
enum { BN_FLUSH_AFTER = 64 };

/* Bytes that a box moves in one launch, from which on its inside is launched by itself while halos travel: some 8 us of
 * a fast GPU, which a launch costs, too. */
enum { BN_WORTH_SPLITTING_CPU = 1 << 14, BN_WORTH_SPLITTING_GPU = 1 << 25 };

bn_status bn_set_arg(bn_kernel *k, size_t box, cl_uint index, size_t bytes, const void *value)
{
    bn_set_argument *last = index < k->argument_count && bytes <= sizeof last->value
                                ? &k->set[box * k->argument_count + index]
                                : NULL;
    if (last && last->bytes == bytes && memcmp(last->value, value, bytes) == 0)
        return BN_OK;
    cl_int status = clSetKernelArg(k->cl[box], index, bytes, value);
    if (status == CL_SUCCESS) {
        if (last) {
            last->bytes = bytes;
            memcpy(last->value, value, bytes);
        }
        return BN_OK;
    }
    const bn_device *device = k->program->domain->device;
    bn_cl_fail(device, status, "clSetKernelArg", k->desc->name);
    bn_note(device->ctx, "while setting argument %u of kernel %s", index, k->desc->name);
    return bn_error_status(device->ctx);
}

/* Adds the times of finished launches to the kernel's row. */
static bn_status collect_events(bn_kernel *k)
{
    const bn_device *device = k->program->domain->device;
    bn_status st = BN_OK;
    for (size_t i = 0; i < k->pending_count; i++) {
        cl_ulong start = 0, end = 0;
        cl_int status = clWaitForEvents(1, &k->pending[i]);
        if (status == CL_SUCCESS)
            status = clGetEventProfilingInfo(k->pending[i], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
        if (status == CL_SUCCESS)
            status = clGetEventProfilingInfo(k->pending[i], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
        if (status != CL_SUCCESS && st == BN_OK)
            st = bn_cl_fail(device, status, "clGetEventProfilingInfo", k->desc->name);
        k->seconds += 1e-9 * (double)(end - start);
        clReleaseEvent(k->pending[i]);
    }
    k->pending_count = 0;
    return st;
}

bn_status bn_enqueue_after(bn_kernel *k, size_t box, const size_t offset[3], const size_t global[3],
                           const size_t local[3], cl_uint waits, const cl_event *wait, cl_event *done)
{
    bn_domain *d = k->program->domain;
    bn_device *device = d->boxes[box].device;
    bool profile = device->profile;
    BN_TRY(bn_limit_queue(device, k->desc->name));
    if (profile && k->pending_count == BN_PENDING_EVENTS)
        BN_TRY(collect_events(k));
    cl_event *event = profile ? &k->pending[k->pending_count] : done;
    cl_int status = clEnqueueNDRangeKernel(device->queue, k->cl[box], 3, offset, global, local, waits,
                                           waits ? wait : NULL, event);
    if (status == CL_SUCCESS && profile && done && (status = clRetainEvent(*event)) == CL_SUCCESS)
        *done = *event;
    if (status != CL_SUCCESS) {
        bn_cl_fail(device, status, "clEnqueueNDRangeKernel", k->desc->name);
        bn_note(d->ctx, "while launching kernel %s over %zu x %zu x %zu work-items in groups of %zu x %zu x %zu",
                k->desc->name, global[0], global[1], global[2], local[0], local[1], local[2]);
        return bn_error_status(d->ctx);
    }
    k->pending_count += profile;
    d->device->counts.launches++;
    return ++d->unflushed >= BN_FLUSH_AFTER ? bn_flush_all(d, k->desc->name) : BN_OK;
}

bn_status bn_enqueue(bn_kernel *k, size_t box, const size_t offset[3], const size_t global[3], const size_t local[3])
{
    return bn_enqueue_after(k, box, offset, global, local, 0, NULL, NULL);
}

/* Room for travellers on each device; 0: the kernel has none. */
static size_t capacity_of(const bn_arg *args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (args[i].travellers)
            return bn_migrating_particles_capacity(args[i].travellers);
    return 0;
}

/* Cells of the halo that a launch computes along with the boxes. */
static int margin_of(const bn_domain *d, const bn_arg *args, size_t count)
{
    for (size_t i = 0; d->spread && i < count; i++)
        if (args[i].access == BN_A_GHOST_CELLS)
            return args[i].value.i;
    return 0;
}

/* Cells of its own grid beyond a box that it reads then. */
static int reach_of(const bn_arg *a, int margin) { return a->foreign ? a->reach : a->reach + margin; }

static bool reads(const bn_arg *a, int margin)
{
    return a->access == BN_A_READ || a->access == BN_A_IMAGE || (a->access == BN_A_UPDATE && margin > 0 && !a->foreign);
}

static bn_status check_margin(const bn_kernel *k, int margin)
{
    const bn_domain *d = k->program->domain;
    const bool *periodic = d->desc.grid.periodic;
    if (margin == 0 || (margin > 0 && margin <= d->reach && k->desc->range == BN_PER_CELL && k->layers <= 1 &&
                        !periodic[0] && !periodic[1] && !periodic[2]))
        return BN_OK;
    return bn_fail(d->ctx, BN_USAGE,
                   "kernel %s can't compute %d cells of a halo of %d: it is not one per cell, or a side is periodic",
                   k->desc->name, margin, d->reach);
}

static bn_status check_args(const bn_kernel *k, const bn_arg *args, size_t count, int margin)
{
    const bn_domain *d = k->program->domain;
    BN_TRY(check_margin(k, margin));
    if (count != k->argument_count)
        return bn_fail(d->ctx, BN_USAGE, "kernel %s takes %u arguments, not %zu", k->desc->name, k->argument_count,
                       count);
    if ((k->desc->range == BN_PER_PARTICLE) != (capacity_of(args, count) > 0))
        return bn_fail(d->ctx, BN_USAGE, "kernel %s: travellers are for the range BN_PER_PARTICLE, and for it alone",
                       k->desc->name);
    for (size_t i = 0; i < count; i++) {
        const bn_arg *a = &args[i];
        const char *objection = a->access == BN_A_TRANSPOSED && a->field ? bn_transpose_objection(d, a->field) : NULL;
        if (objection)
            return bn_fail(d->ctx, BN_USAGE, "kernel %s can't turn its result into field %s: %s", k->desc->name,
                           a->field->desc.name, objection);
        const bn_domain *owner = a->field        ? a->field->domain
                                 : a->partials   ? a->partials->domain
                                 : a->scalars    ? a->scalars->domain
                                 : a->table      ? a->table->domain
                                 : a->travellers ? bn_migrating_particles_domain(a->travellers)
                                                 : d;
        const bool object = a->field || a->partials || a->scalars || a->table || a->travellers;
        const bool value = a->access == BN_A_SCALAR || a->access == BN_A_GHOST_CELLS;
        /* Which device a box lies on depends on its number alone. */
        bool related = owner == d || a->access == BN_A_TRANSPOSED ||
                       (a->foreign && owner->device == d->device && owner->box_count == d->box_count &&
                        memcmp(owner->lattice, d->lattice, sizeof d->lattice) == 0);
        if (object == value || !related)
            return bn_fail(d->ctx, BN_USAGE, "argument %zu of kernel %s is missing or belongs to another domain", i,
                           k->desc->name);
        const int reach = a->field ? reach_of(a, margin) : 0;
        if (a->reach < 0 || reach > owner->reach)
            return bn_fail(d->ctx, BN_USAGE, "argument %zu of kernel %s reaches %d cells, the halo is %d", i,
                           k->desc->name, reach, owner->reach);
        if (a->field && k->desc->range == BN_PER_PARTICLE)
            return bn_fail(d->ctx, BN_USAGE, "kernel %s belongs to no grid and can't have field %s", k->desc->name,
                           a->field->desc.name);
        /* Reading neighbours of what the same launch writes is a race. */
        for (size_t j = 0; a->reach > 0 && j < count; j++)
            if (j != i && args[j].field == a->field && (args[j].access == BN_A_WRITE || args[j].access == BN_A_UPDATE))
                return bn_fail(d->ctx, BN_USAGE, "kernel %s reads neighbours of %s and writes it", k->desc->name,
                               a->field->desc.name);
    }
    return BN_OK;
}

static bn_status set_args(bn_kernel *k, size_t box, const bn_arg *args, size_t count, int margin)
{
    bool is_double = k->program->domain->desc.precision == BN_DOUBLE;
    const size_t member = k->program->domain->boxes[box].member;
    for (cl_uint i = 0; i < count; i++) {
        const bn_arg *a = &args[i];
        float single = (float)a->value.r;
        const cl_int wide = margin;
        cl_int plane;
        const void *value = NULL;
        size_t bytes = sizeof(cl_mem);
        if (a->access == BN_A_IMAGE) {
            BN_TRY(bn_buffer_image(a->field->domain, a->field->buffers[box]));
            value = &a->field->buffers[box]->image;
        } else if (a->access == BN_A_TRANSPOSED) {
            value = bn_transpose_memory(k->program->domain, a->field, box);
        } else if (a->field)
            value = &a->field->buffers[box]->mem;
        else if (a->access == BN_A_PLANE) {
            size_t ends[2];
            bn_device_array_planes(a->table, member, &ends[0], &ends[1]);
            plane = (cl_int)ends[a->side > 0];
            value = &plane;
            bytes = sizeof plane;
        } else if (a->access == BN_A_GHOST_CELLS) {
            value = &wide;
            bytes = sizeof wide;
        } else if (a->table)
            value = &a->table->buffer[member]->mem;
        else if (a->travellers)
            value = &bn_migrating_particles_buffer(a->travellers, member)->mem;
        else if (a->access == BN_A_TOTALS && a->partials->packed)
            value = &a->partials->packed[member]->mem;
        else if (a->partials)
            value = &a->partials->buffer[member]->mem;
        else if (a->scalars)
            value = &a->scalars->buffer[member]->mem;
        else if (a->kind == BN_V_REAL) {
            value = is_double ? (const void *)&a->value.r : &single;
            bytes = is_double ? sizeof(double) : sizeof(float);
        } else {
            value = &a->value.i;
            bytes = 4;
        }
        BN_TRY(bn_set_arg(k, box, i, bytes, value));
    }
    return BN_OK;
}

/* A part of a box, in its own cells, or of its halo. */
typedef struct bn_part {
    long first[3];
    size_t n[3];
} bn_part;

/* Offset, global and local size of a part of a box; see bn_range. */
static void shape_launch(const bn_kernel *k, const bn_box *box, const bn_part *part, size_t offset[3], size_t global[3])
{
    const bool gridless = k->desc->range == BN_ONCE || k->desc->range == BN_PER_PARTICLE;
    for (int i = 0; i < 3; i++) {
        offset[i] = gridless ? 0 : (size_t)((long)box->offset[i] + part->first[i]);
        size_t items = part->n[i];
        if (i == 2 && k->desc->range == BN_PER_CELL && k->layers > 1 && k->program->domain->desc.grid.dims < 3)
            items = k->layers;
        if (i == 0 && k->desc->range == BN_PER_BLOCK)
            items = (items + BN_BLOCK_NX - 1) / BN_BLOCK_NX * k->group[0];
        if (i == 0 && k->desc->range == BN_PER_ROW)
            items = k->group[0];
        if (k->desc->range == BN_PER_ROW_PAIR || k->desc->range == BN_PER_COLUMN_PAIR)
            items = i != 0 ? 1 : (part->n[k->desc->range == BN_PER_ROW_PAIR] + 1) / 2 * k->group[0];
        if (k->desc->range == BN_PER_TILE) {
            const size_t own[3] = { BN_TILE_X - 1, BN_TILE_Y - 1, k->program->domain->tile_layers };
            items = (items + own[i] - 1) / own[i] * k->group[i];
        }
        if (i == 1 && k->desc->range == BN_PER_BLOCK)
            items = (items + BN_BLOCK_NY - 1) / BN_BLOCK_NY;
        global[i] = (items + k->group[i] - 1) / k->group[i] * k->group[i];
    }
}

static bn_status launch_part(bn_kernel *k, size_t b, const bn_part *part)
{
    size_t offset[3], global[3];
    shape_launch(k, &k->program->domain->boxes[b], part, offset, global);
    return bn_enqueue(k, b, offset, global, k->group);
}

/* All cells, and so many of the halo where the grid goes on. */
static bn_part whole_box(const bn_domain *d, size_t b, int margin)
{
    const bn_box *box = &d->boxes[b];
    bn_part part;
    for (int k = 0; k < 3; k++) {
        const int low = box->offset[k] > 0 ? margin : 0,
                  high = box->offset[k] + box->n[k] < d->desc.grid.n[k] ? margin : 0;
        part.first[k] = -low;
        part.n[k] = box->n[k] + (size_t)(low + high);
    }
    return part;
}

/* Splits a box into what reads no other device's cells as these requests say, and the rest in at most six slabs. Cuts
 * lie at multiples of what a launch covers at a time, so that no cell is computed twice. False: nothing is left inside.
 */
static bool split_box(const bn_kernel *k, size_t b, int margin, const bn_halo_request *requests, size_t count,
                      bn_part *inside, bn_part slabs[6], size_t *slab_count)
{
    const bn_domain *d = k->program->domain;
    const bn_box *box = &d->boxes[b];
    const bool segments = k->desc->range == BN_PER_BLOCK, tiles = k->desc->range == BN_PER_TILE;
    bn_part rest = whole_box(d, b, margin);
    const double bytes = (k->desc->cost.reads + k->desc->cost.writes) * (double)bn_domain_real_bytes(d) * box->n[0] *
                         box->n[1] * box->n[2];
    *slab_count = 0;
    /* What is done before it could be launched twice hides nothing. */
    if (bytes < (box->device->info.cpu ? BN_WORTH_SPLITTING_CPU : BN_WORTH_SPLITTING_GPU))
        return false;
    if (!segments && !tiles && (k->desc->range != BN_PER_CELL || k->layers > 1))
        return false;
    if (tiles && (box->far[0][0] || box->far[0][1] || box->far[1][0] || box->far[1][1]))
        return false;           /* tiles overlap along x and y */
    size_t reach[2] = { 0, 0 }; /* towards lower and higher indices */
    for (size_t r = 0; r < count; r++)
        for (int side = 0; side < 2; side++)
            if (requests[r].side != (side ? -1 : 1) && (size_t)requests[r].reach > reach[side])
                reach[side] = (size_t)requests[r].reach;
    for (int dim = d->desc.grid.dims - 1; dim >= 0; dim--) {
        const size_t unit = segments ? (size_t[]){ BN_BLOCK_NX, BN_BLOCK_NY, 1 }[dim]
                            : tiles  ? d->tile_layers
                                     : k->group[dim];
        /* Counted from where the rest begins, with margins in the halo. */
        const size_t n = rest.n[dim], before = (size_t)-rest.first[dim];
        const size_t behind = n - before - box->n[dim];
        const size_t low = box->far[dim][0] ? (before + reach[0] + unit - 1) / unit * unit : 0;
        const size_t keep = box->far[dim][1] ? reach[1] + behind : 0;
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

/* The strips of rows that are turned one by one. */
static size_t split_strips(const bn_domain *d, size_t b, bn_part strips[BN_TRANSPOSE_STRIPS])
{
    const bn_box *box = &d->boxes[b];
    const uint32_t strip = d->shapes[box->shape].turned.strip;
    size_t count = 0;
    for (uint32_t row = 0; row < box->n[1]; row += strip) {
        strips[count] = whole_box(d, b, 0);
        strips[count].first[1] = row;
        strips[count++].n[1] = box->n[1] - row < strip ? box->n[1] - row : strip;
    }
    return count;
}

/* What arguments other than fields need before a launch where several devices have copies of them. */
static bn_status bring_together(bn_domain *d, const bn_arg *args, size_t count)
{
    bn_partials *partials[BN_ALLREDUCE_MOST];
    bn_scalars *scalars[BN_ALLREDUCE_MOST];
    size_t p = 0, s = 0;
    for (size_t i = 0; d->spread && i < count; i++) {
        const bn_arg *a = &args[i];
        bool known = false; /* a kernel may be given the same one twice */
        for (size_t k = 0; k < i; k++)
            known = known || (args[k].partials == a->partials && args[k].scalars == a->scalars);
        const bool sums = !known && a->partials && (a->access == BN_A_TOTALS || a->partials->shared);
        const bool numbers = !known && a->scalars;
        if ((sums && p == BN_ALLREDUCE_MOST) || (numbers && s == BN_ALLREDUCE_MOST))
            return bn_fail(d->ctx, BN_USAGE, "a kernel with more than %d partial sums or scalars", (int)BN_ALLREDUCE_MOST);
        if (sums)
            partials[p++] = a->partials;
        if (numbers)
            scalars[s++] = a->scalars;
        if (a->access == BN_A_COUNTERS)
            BN_TRY(bn_counters_merge(a->table));
    }
    if (p + s > 0)
        BN_TRY(bn_allreduce(d, partials, p, scalars, s));
    for (size_t i = 0; i < count; i++)
        if (args[i].access == BN_A_TOTALS)
            BN_TRY(bn_partials_pack(args[i].partials));
    return BN_OK;
}

/* Over every box here; with `requests` the inside of boxes while these halos travel, and then the rest. */
static bn_status launch_boxes(bn_kernel *k, const bn_arg *args, size_t count, int margin,
                              const bn_halo_request *requests, size_t request_count)
{
    bn_domain *d = k->program->domain;
    bn_part inside, slabs[6];
    size_t slab_count;
    /* First, since it goes on while the host waits for the rest. */
    if (request_count > 0)
        BN_TRY(bn_halo_exchange_begin(d, requests, request_count));
    BN_TRY(bring_together(d, args, count));
    if (k->desc->range == BN_ONCE || k->desc->range == BN_PER_PARTICLE) {
        const bn_part part = { { 0, 0, 0 }, { k->desc->range == BN_ONCE ? 1 : capacity_of(args, count), 1, 1 } };
        for (size_t m = 0; m < d->members; m++) {
            BN_TRY(set_args(k, d->lead[m], args, count, margin));
            BN_TRY(launch_part(k, d->lead[m], &part));
        }
        return BN_OK;
    }
    bn_field *turned = NULL;
    for (size_t i = 0; i < count; i++)
        if (args[i].access == BN_A_TRANSPOSED && d->box_count > 1)
            turned = args[i].field;
    if (turned)
        BN_TRY(bn_transpose_begin(d, turned));
    for (size_t b = 0; b < d->box_count; b++)
        if (d->boxes[b].device)
            BN_TRY(set_args(k, b, args, count, margin));
    if (request_count > 0) {
        for (size_t b = 0; b < d->box_count; b++)
            if (d->boxes[b].device && split_box(k, b, margin, requests, request_count, &inside, slabs, &slab_count))
                BN_TRY(launch_part(k, b, &inside));
        BN_TRY(bn_halo_exchange_carry(d));
        BN_TRY(bn_halo_exchange_end(d, requests, request_count));
    }
    for (size_t b = 0; b < d->box_count; b++) {
        if (!d->boxes[b].device)
            continue;
        if (request_count == 0 || !split_box(k, b, margin, requests, request_count, &inside, slabs, &slab_count)) {
            slabs[0] = whole_box(d, b, margin);
            slab_count = 1;
        }
        if (turned)
            slab_count = split_strips(d, b, slabs);
        for (size_t s = 0; s < slab_count; s++) {
            BN_TRY(launch_part(k, b, &slabs[s]));
            if (turned)
                BN_TRY(bn_transpose_packed(d, b, s));
        }
    }
    return turned ? bn_transpose_deliver(d, turned) : BN_OK;
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
    if (d->coarsened && k->desc->range == BN_PER_BLOCK && d->box_count > 1)
        return bn_fail(d->ctx, BN_USAGE, "kernel %s forms sums on a coarser grid, whose cuts split their blocks",
                       k->desc->name);
    if (((k->desc->range == BN_PER_ROW_PAIR || k->desc->range == BN_PER_COLUMN_PAIR) && d->box_count > 1) ||
        (k->desc->range == BN_PER_ROW && d->lattice[0] > 1))
        return bn_fail(d->ctx, BN_USAGE, "kernel %s needs whole lines, the grid is cut into %zu boxes", k->desc->name,
                       d->box_count);
    return BN_OK;
}

/* And what is true of it afterwards. */
static bn_status note_changes(bn_domain *d, const bn_arg *a, int margin)
{
    if (a->access == BN_A_PARTIALS) {
        bn_partials *p = a->partials;
        p->stale = p->apart = true;
        p->changed |= a->component > 0 && a->component < 64 ? (uint64_t)1 << (a->component - 1) : ~(uint64_t)0;
    }
    if (a->scalars && a->scalars->shared)
        a->scalars->apart = true;
    else if (a->access == BN_A_COUNTERS)
        return bn_counters_clear(a->table);
    else if (a->access == BN_A_WRITE || a->access == BN_A_UPDATE || a->access == BN_A_TRANSPOSED) {
        const int valid = a->foreign ? 0 : margin;
        bn_halo_set(a->field, valid);
        if (bn_context_debug(d->ctx))
            return bn_halo_poison(a->field, valid);
    }
    return BN_OK;
}

/* Cells of the halo that are right as far as this argument is concerned. */
static int valid_for(const bn_domain *d, const bn_arg *a)
{
    const bn_field *f = a->field;
    if (!a->wraps || !d->spread)
        return f->halo_valid;
    return a->side == 0 ? f->halo_unwrapped : f->halo_side[a->side > 0];
}

bn_status bn_launch(bn_kernel *k, const bn_arg *args, size_t count)
{
    bn_domain *d = k->program->domain;
    bn_halo_request requests[BN_HALO_REQUESTS];
    size_t request_count = 0;
    const int margin = margin_of(d, args, count);
    BN_TRY(check_args(k, args, count, margin));
    BN_TRY(check_kernel(k));
    for (size_t i = 0; i < count; i++) {
        const bn_arg *a = &args[i];
        const int reach = reach_of(a, margin);
        if (!reads(a, margin) || reach <= valid_for(d, a) || (a->wraps && d->box_count == 1))
            continue;
        if (!d->spread) {
            BN_TRY(bn_halo_exchange(a->field, reach));
            continue;
        }
        if (a->field->domain != d) { /* its messages are not those of this domain's boxes */
            const bn_halo_request foreign = { .field = a->field, .reach = reach, .wraps = a->wraps };
            BN_TRY(bn_halo_exchange_at_once(a->field->domain, &foreign));
            continue;
        }
        bool known = false;
        for (size_t r = 0; r < request_count; r++)
            if (requests[r].field == a->field) {
                requests[r].reach = reach > requests[r].reach ? reach : requests[r].reach;
                requests[r].wraps = requests[r].wraps && a->wraps;
                requests[r].side = requests[r].wraps && requests[r].side == a->side ? a->side : 0;
                known = true;
            }
        if (!known && request_count == BN_HALO_REQUESTS)
            return bn_fail(d->ctx, BN_USAGE, "kernel %s reads halos of more than %d fields", k->desc->name,
                           (int)BN_HALO_REQUESTS);
        if (!known)
            requests[request_count++] = (bn_halo_request){ a->field, reach, a->wraps ? a->side : 0, a->wraps };
    }
    for (size_t i = 0; i < count; i++)
        if (args[i].access == BN_A_TRANSPOSED &&
            ((k->desc->range != BN_PER_ROW && k->desc->range != BN_PER_BLOCK) || request_count > 0))
            return bn_fail(
                d->ctx, BN_USAGE,
                "kernel %s can't turn its result: it needs one of the ranges per row and per segment, and no "
                "neighbours of other boxes",
                k->desc->name);
    BN_TRY(launch_boxes(k, args, count, margin, requests, request_count));
    double cells = k->desc->range == BN_ONCE ? 1.0 : (double)bn_domain_points(d);
    k->calls++;
    k->bytes += (k->desc->cost.reads + k->desc->cost.writes) * (double)bn_domain_real_bytes(d) * cells;
    k->flops += k->desc->cost.flops * cells * (k->repeats > 0 ? k->repeats : 1);
    for (size_t i = 0; i < count; i++)
        BN_TRY(note_changes(d, &args[i], margin));
    return BN_OK;
}

bn_queue_counts bn_device_counts(const bn_device *d) { return d->counts; }

void bn_kernel_repeats(bn_kernel *k, double times) { k->repeats = times; }

void bn_kernel_layers(bn_kernel *k, size_t layers) { k->layers = layers; }

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

size_t bn_domain_profile(const bn_domain *d, bn_profile_row *rows, size_t room)
{
    size_t count = 0;
    for (bn_program *p = d->programs; p; p = p->next)
        for (bn_kernel *k = p->kernels; k; k = k->next) {
            if (k->calls == 0)
                continue;
            bool timed = d->device->profile && collect_events(k) == BN_OK;
            if (count < room)
                rows[count] = (bn_profile_row){ k->desc->name, k->calls, timed ? k->seconds : (double)NAN, k->bytes,
                                                k->flops };
            count++;
        }
    for (size_t i = 0; i < d->past_count; i++)
        add_row(rows, room, &count, &d->past[i]);
    return count;
}

bn_status bn_domain_go_on(const bn_domain *old, bn_domain *d)
{
    const size_t room = bn_domain_profile(old, NULL, 0) + 1;
    if (!(d->past = calloc(room, sizeof *d->past)))
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the profile of %zu kernels", room);
    d->past_count = bn_domain_profile(old, d->past, room);
    d->past_count = d->past_count < room ? d->past_count : room;
    d->build.built += old->build.built;
    d->build.cached += old->build.cached;
    d->build.seconds += old->build.seconds;
    d->build.cache = old->build.cache;
    return BN_OK;
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
                                            .range = k->desc->range,
                                            .calls = k->calls,
                                            .group = { k->group[0], k->group[1], k->group[2] },
                                            .largest = k->max_group < most ? k->max_group : most,
                                            .multiple = k->multiple,
                                            .local_bytes = k->local_bytes,
                                            .fits = k->fits };
        }
    return count;
}
