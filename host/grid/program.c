/* program.c: a kernel file built for every box shape of a domain, and the kernels in it. */
#include "grid/program.h"

#include "device/device_thread.h"
#include "device/program_build.h"
#include "grid/build.h"
#include "grid/queues.h"

#include <stdlib.h>
#include <string.h>

bool bn_runs_cpu_kernels(const bn_device *d) { return d->info.cpu && !d->quirks.runs_gpu_kernels; }

bool bn_takes_wide_vectors(const bn_device *d) { return bn_runs_cpu_kernels(d) && !d->quirks.minutes_over_vectors; }

static int by_name(const void *a, const void *b)
{
    return strcmp(((const bn_define *)a)->name, ((const bn_define *)b)->name);
}

/* The sizes that kernels/lib/index.h lists, for one shape. */
enum { BN_OWN_DEFINES = 26, BN_PLACE_DEFINES = 3, BN_DEVICE_DEFINES = 3 };
enum { BN_ALL_DEFINES = BN_OWN_DEFINES + BN_PLACE_DEFINES + BN_DEVICE_DEFINES };

/* Where boxes lie on several devices, each has a program that knows its place too. Gives how many there are. */
static size_t own_defines(const bn_domain *d, const bn_box_shape *s, const bn_box *box, bn_define out[BN_ALL_DEFINES])
{
    const uint32_t *g = d->desc.grid.n;
    const bn_device_info *info = &box->device->info;
    const struct {
        const char *name;
        long long value;
    } rows[BN_OWN_DEFINES] = {
        { "NX", s->n[0] },
        { "NY", s->n[1] },
        { "NZ", s->n[2] },
        { "GNX", g[0] },
        { "GNY", g[1] },
        { "GNZ", g[2] },
        { "DIMS", d->desc.grid.dims },
        { "HALO", d->desc.halo },
        { "PITCH", (long long)s->layout.pitch },
        { "SLICE", (long long)s->layout.slice },
        { "PLANE", (long long)s->layout.plane },
        { "FIRST", (long long)s->layout.first },
        { "SUM_BLOCKS_X", d->sums.blocks_x },
        { "PARTIALS", (long long)d->sums.partials },
        { "SUM_BLOCKS_Y", (d->desc.grid.n[1] + BN_BLOCK_NY - 1) / BN_BLOCK_NY },
        { "TOTALS", (long long)d->sums.totals },
        { "REAL_BYTES", (long long)bn_domain_real_bytes(d) },
        { "INDEX_BITS", d->index_bits },
        { "HAS_FP64", info->fp64 },
        { "HAS_INT64_ATOMICS", info->int64_atomics },
        { "IS_CPU", bn_runs_cpu_kernels(box->device) },
        { "PERIODIC_X", d->desc.grid.periodic[0] },
        { "PERIODIC_Y", d->desc.grid.periodic[1] },
        { "TILE_X", BN_TILE_X },
        { "TILE_Y", BN_TILE_Y },
        { "TILE_LAYERS", d->tile_layers },
    };
    for (size_t i = 0; i < BN_OWN_DEFINES; i++)
        out[i] = (bn_define){ .name = rows[i].name, .kind = BN_DEF_INT, .u.i = rows[i].value };
    static const char *const places[BN_PLACE_DEFINES] = { "OFFSET_X", "OFFSET_Y", "OFFSET_Z" };
    for (size_t i = 0; d->distributed && i < BN_PLACE_DEFINES; i++)
        out[BN_OWN_DEFINES + i] = (bn_define){ .name = places[i], .kind = BN_DEF_INT, .u.i = box->offset[i] };
    size_t count = BN_OWN_DEFINES + (d->distributed ? BN_PLACE_DEFINES : 0);
    if (box->device->quirks.sub_group)
        out[count++] = (bn_define){ .name = "SUB_GROUP", .kind = BN_DEF_INT, .u.i = box->device->quirks.sub_group };
    if (box->device->quirks.loop_limit > 0)
        out[count++] = (bn_define){ .name = "LOOPS_END", .kind = BN_DEF_INT, .u.i = 1 };
    /* By its text the kernel is another one for every device: by the offset of its box, or by a number. */
    if (box->device->quirks.runs_alone && !d->distributed && box->local > 0)
        out[count++] = (bn_define){ .name = "DEVICE_NUMBER", .kind = BN_DEF_INT, .u.i = (long long)box->local };
    return count;
}

/* Sizes of a file that takes them as arguments: the same constants for every domain, so that it is compiled once. Three
 * dimensions, of which some may have one cell. */
static const bn_box_shape any_shape = { .n = { 1, 1, 1 } };
static bn_domain any_size(const bn_domain *d, const bn_domain *widest)
{
    return (bn_domain){ .desc = { .grid = { .dims = 3, .n = { 1, 1, 1 } }, .precision = d->desc.precision },
                        .sums = { 1, 1, 1 },
                        .tile_layers = 1,
                        .index_bits = widest->index_bits };
}

/* Own and the caller's defines in one list sorted by name; a name that stands twice is an error. */
static bn_status all_defines(bn_domain *d, const bn_domain *widest, const bn_box *box, const bn_define *given,
                             size_t *count_of, bn_define **out)
{
    const size_t count = *count_of;
    bn_define *all = calloc(BN_ALL_DEFINES + count, sizeof *all);
    if (!all)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for the constants of a kernel");
    const bn_domain any = widest ? any_size(d, widest) : (bn_domain){ 0 };
    const size_t own = own_defines(widest ? &any : d, widest ? &any_shape : &d->shapes[box->shape], box, all);
    for (size_t i = 0; i < count; i++)
        all[own + i] = given[i];
    *count_of = own + count;
    qsort(all, *count_of, sizeof *all, by_name);
    for (size_t i = 1; i < *count_of; i++)
        if (strcmp(all[i - 1].name, all[i].name) == 0) {
            bn_fail(d->ctx, BN_USAGE, "the kernel constant %s is defined twice", all[i].name);
            free(all);
            return BN_USAGE;
        }
    *out = all;
    return BN_OK;
}

bool bn_compiles_aside(const bn_device *d) { return d->quirks.parallel_builds && d->group_size == 1; }

bool bn_device_list_programs(bn_device *d, const bn_program_list *list)
{
    const bool can = bn_compiles_aside(d);
    d->listing = can ? list : NULL;
    return can;
}

bn_status bn_program_compile(bn_device *d, const char *name, const char *text, const char *options)
{
    cl_program program;
    BN_TRY(bn_cl_build(d, name, text, options, &program, NULL));
    BN_CL(d, name, clReleaseProgram, program);
    return BN_OK;
}

/* widest: NULL where sizes are injected. */
static bn_status build_program(bn_domain *d, const bn_domain *widest, const char *file, const bn_define *defines,
                               size_t count, bn_program **out)
{
    *out = NULL;
    if (!d->device)
        return bn_fail(d->ctx, BN_USAGE, "kernels/%s.cl can't be built for the CPU reference", file);
    bn_status st = BN_OK;
    char *text = NULL, *options = NULL;
    bn_define *all = NULL;
    const double start = bn_seconds_now();
    bn_program *p = calloc(1, sizeof *p);
    if (!p || !(p->file = strdup(file)) || !(p->build = calloc(d->shape_count, sizeof(bn_build *))))
        BN_GO(bn_fail(d->ctx, BN_MEMORY, "no memory for program %s", file));
    p->domain = d;
    for (size_t b = 0; b < d->box_count; b++) {
        bn_box *box = &d->boxes[b];
        size_t all_count = count;
        if (p->build[box->shape] || !box->device)
            continue;
        BN_GO(all_defines(d, widest, box, defines, &all_count, &all));
        BN_GO(bn_kernel_text(d->ctx, file, all, all_count, d->desc.precision, &text, &options));
        free(all);
        all = NULL;
        st = bn_build_begin(box->device, file, text, options, &p->build[box->shape]);
        text = options = NULL;
        if (st != BN_OK)
            goto out;
        if (p->build[box->shape]->users > 1)
            continue;
        d->build.built++;
        d->build.cached += !p->build[box->shape]->builder && p->build[box->shape]->cached;
    }
    d->build.seconds += bn_seconds_now() - start;
    d->build.cache = d->device->quirks.cache == BN_CACHE_OURS ? "binnacle" : "platform";
    p->next = d->programs;
    d->programs = p;
    *out = p;
    p = NULL;
out:
    free(text);
    free(options);
    free(all);
    bn_program_destroy(&p);
    return st;
}

bn_status bn_program_build(bn_domain *d, const char *file, const bn_define *defines, size_t count, bn_program **out)
{
    return build_program(d, NULL, file, defines, count, out);
}

bn_status bn_program_build_any_size(bn_domain *d, const bn_domain *widest, const char *file, const bn_define *defines,
                                    size_t count, bn_program **out)
{
    return build_program(d, widest, file, defines, count, out);
}

static void kernel_destroy(bn_kernel *k)
{
    for (size_t i = 0; i < k->pending_count; i++)
        clReleaseEvent(k->pending[i]);
    for (size_t b = 0; k->cl && b < k->program->domain->box_count; b++)
        if (k->cl[b])
            clReleaseKernel(k->cl[b]);
    free(k->cl);
    free(k->set);
    free(k);
}

void bn_program_destroy(bn_program **program)
{
    if (!program || !*program)
        return;
    bn_program *p = *program;
    bn_domain *d = p->domain;
    for (size_t m = 0; d && m < d->local_count; m++) /* its kernels may be listed */
        bn_calls_settle(bn_local_device(d, m));
    for (bn_program **at = d ? &d->programs : NULL; at && *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    while (p->kernels) {
        bn_kernel *next = p->kernels->next;
        kernel_destroy(p->kernels);
        p->kernels = next;
    }
    for (size_t s = 0; p->build && d && s < d->shape_count; s++)
        bn_build_release(p->build[s]);
    free(p->build);
    free(p->file);
    free(p);
    *program = NULL;
}

/* How many work-groups of a kernel that is compiled certainly run at the same time. */
static size_t side_by_side(const bn_kernel *k)
{
    const bn_device_info *info = &k->program->domain->device->info;
    const size_t by_registers = k->max_group / k->group[0],
                 by_memory = k->local_bytes > 0 ? (size_t)(info->local_bytes / k->local_bytes) : by_registers,
                 each = by_registers < by_memory ? by_registers : by_memory,
                 room = info->side_by_side ? each * info->compute_units : 1;
    return room < 1 ? 1 : room < k->side_by_side_wish ? room : k->side_by_side_wish;
}

/* Local size of a kernel: the caller's wish for it, or for all, or the default for its range, cut down to what the
 * device and the kernel allow. */
static void choose_group(bn_kernel *k)
{
    const bn_domain *d = k->program->domain;
    const bn_device_info *info = &d->device->info;
    const size_t *wish = d->desc.work_group;
    for (size_t i = 0; i < d->desc.group_count; i++)
        if (strcmp(d->desc.groups[i].kernel, k->desc->name) == 0)
            wish = d->desc.groups[i].shape;
    size_t wished = wish[0] * (wish[1] ? wish[1] : 1) * (wish[2] ? wish[2] : 1);
    size_t g[3] = { 1, 1, 1 };
    if (k->range == BN_PER_CELL) {
        for (int i = 0; i < 3; i++)
            g[i] = wished ? (wish[i] ? wish[i] : 1) : 1;
        if (!wished) {
            size_t room = d->device->quirks.preferred_work_group ? d->device->quirks.preferred_work_group
                          : k->items                             ? k->items
                                                                 : 256;
            g[0] = d->desc.grid.dims > 1 ? 64 : room;
            g[1] = d->desc.grid.dims > 1 && room > 64 ? room / 64 : 1;
            /* Rows shorter than that leave the other work-items idle. */
            for (; d->desc.grid.dims > 1 && g[0] >= 2 * (size_t)d->desc.grid.n[0] && g[0] > 1; g[1] *= 2)
                g[0] /= 2;
        }
        for (int i = d->desc.grid.dims; i < 3; i++) /* a shape with more dimensions than the grid is folded into x */
            g[0] *= g[i], g[i] = 1;
    } else if (k->range == BN_PER_PARTICLE) {
        g[0] = wished ? wished : 64;
    } else if (k->range == BN_PER_TILE) {
        g[0] = BN_TILE_X; /* part of the kernel */
        g[1] = BN_TILE_Y;
    } else {
        /* On a CPU one work-item takes all lanes, side by side in vectors (kernels/lib/reduce.h). */
        g[0] = wished ? wished : bn_runs_cpu_kernels(d->device) ? 1 : k->items ? k->items : 256;
        /* Rows shorter than a block leave the other work-items idle. */
        while (!wished && k->range == BN_PER_BLOCK && g[0] > 64 && g[0] >= 2 * (size_t)d->desc.grid.n[0])
            g[0] /= 2;
    }
    size_t limit = k->max_group < info->max_work_group ? k->max_group : info->max_work_group;
    for (int i = 0; i < 3; i++)
        if (g[i] > info->max_work_item[i])
            g[i] = info->max_work_item[i];
    while (g[0] * g[1] * g[2] > limit) {
        int largest = g[2] > 1 ? 2 : g[1] > 1 ? 1 : 0;
        g[largest] = (g[largest] + 1) / 2;
    }
    k->fits = k->local_bytes <= info->local_bytes &&
              (k->range != BN_PER_TILE || (g[0] == BN_TILE_X && g[1] == BN_TILE_Y));
    memcpy(k->group, g, sizeof g);
    memcpy(k->spare, g, sizeof g);
    k->side_by_side = side_by_side(k);
    size_t *longest = &k->spare[g[1] > g[0]];
    if (k->range != BN_PER_TILE)
        *longest = *longest > 1 ? *longest / 2 : limit > 1 && info->max_work_item[0] > 1 ? 2 : 1;
}

void bn_kernel_shape(bn_kernel *k)
{
    if (k->swapped == k->program->domain->device->other_groups)
        return;
    k->swapped = !k->swapped;
    for (int i = 0; i < 3; i++) {
        const size_t used = k->group[i];
        k->group[i] = k->spare[i];
        k->spare[i] = used;
    }
}

bool bn_kernel_fits(bn_kernel *k)
{
    return k->program->domain->device->listing || (bn_kernel_ready(k) == BN_OK && k->fits); /* as is to be hoped */
}

bn_status bn_kernel_find(bn_program *p, const bn_kernel_desc *desc, bn_kernel **lent)
{
    *lent = NULL;
    bn_domain *d = p->domain;
    for (bn_kernel *k = p->kernels; k; k = k->next)
        if (strcmp(k->desc->name, desc->name) == 0) {
            *lent = k;
            return BN_OK;
        }
    bn_kernel *k = calloc(1, sizeof *k);
    if (!k || !(k->cl = calloc(d->box_count, sizeof *k->cl))) {
        free(k ? k->cl : NULL);
        free(k);
        return bn_fail(d->ctx, BN_MEMORY, "no memory for kernel %s", desc->name);
    }
    k->program = p;
    k->desc = desc;
    k->range = desc->range != BN_PER_CELL_OR_BLOCK ? desc->range
               : bn_runs_cpu_kernels(d->device)    ? BN_PER_BLOCK
                                                   : BN_PER_CELL;
    k->max_group = SIZE_MAX;
    k->next = p->kernels;
    p->kernels = k; /* from here on the program frees it */
    *lent = k;
    return d->device->quirks.parallel_builds ? BN_OK : bn_kernel_ready(k);
}

bn_status bn_kernel_ready(bn_kernel *k)
{
    bn_program *p = k->program;
    const bn_kernel_desc *desc = k->desc;
    bn_domain *d = p->domain;
    if (k->ready || d->device->listing)
        return BN_OK;
    const double start = bn_seconds_now();
    for (size_t s = 0; s < d->shape_count; s++)
        if (p->build[s])
            BN_TRY(bn_build_wait(p->build[s]));
    d->build.seconds += bn_seconds_now() - start;
    for (size_t b = 0; b < d->box_count; b++) {
        cl_int status;
        bn_device *device = d->boxes[b].device;
        if (!device)
            continue;
        k->cl[b] = clCreateKernel(p->build[d->boxes[b].shape]->cl, desc->name, &status);
        if (status != CL_SUCCESS) {
            k->cl[b] = NULL;
            bn_cl_fail(device, status, "clCreateKernel", desc->name);
            bn_note(d->ctx, "while looking for kernel %s in kernels/%s.cl", desc->name, p->file);
            return bn_error_status(d->ctx);
        }
        size_t group = 0, multiple = 0;
        cl_ulong local = 0;
        BN_CL(device, desc->name, clGetKernelWorkGroupInfo, k->cl[b], device->id, CL_KERNEL_WORK_GROUP_SIZE,
              sizeof group, &group, NULL);
        BN_CL(device, desc->name, clGetKernelWorkGroupInfo, k->cl[b], device->id, CL_KERNEL_LOCAL_MEM_SIZE,
              sizeof local, &local, NULL);
        BN_CL(device, desc->name, clGetKernelWorkGroupInfo, k->cl[b], device->id,
              CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple, &multiple, NULL);
        BN_CL(device, desc->name, clGetKernelInfo, k->cl[b], CL_KERNEL_NUM_ARGS, sizeof k->argument_count,
              &k->argument_count, NULL);
        if (device->quirks.local_counted_twice)
            local /= 2;
        if (group < 1)
            group = 1;
        if (group < k->max_group)
            k->max_group = group;
        k->multiple = multiple > 0 ? multiple : 1;
        if (local > k->local_bytes)
            k->local_bytes = local;
        /* Some implementations abort at the launch instead. Where times are taken, kernels are looked at that are never
         * launched: bn_launch refuses it then. */
        if (local > device->info.local_bytes && !device->profile)
            return bn_fail(d->ctx, BN_DEVICE, "kernel %s needs %llu bytes of local memory, %s has %llu", desc->name,
                           (unsigned long long)local, device->info.name, (unsigned long long)device->info.local_bytes);
    }
    k->set = calloc(d->box_count * (k->argument_count + 1), sizeof *k->set);
    if (!k->set)
        return bn_fail(d->ctx, BN_MEMORY, "no memory for kernel %s", desc->name);
    choose_group(k);
    k->ready = true;
    return BN_OK;
}

bn_status bn_domain_kernels_ready(bn_domain *d)
{
    for (bn_program *p = d->programs; p; p = p->next)
        for (bn_kernel *k = p->kernels; k && !bn_build_comes_later(p->file); k = k->next)
            BN_TRY(bn_kernel_ready(k));
    return BN_OK;
}

void bn_kernel_repeats(bn_kernel *k, double times) { k->repeats = times; }

void bn_kernel_layers(bn_kernel *k, size_t layers) { k->layers = layers; }

void bn_kernel_patch(bn_kernel *k, size_t nx, size_t ny)
{
    k->patch[0] = nx;
    k->patch[1] = ny;
}

void bn_kernel_pairs(bn_kernel *k, size_t pairs) { k->pairs = pairs; }

void bn_kernel_shares(bn_kernel *k, size_t groups) { k->shares = groups; }

void bn_kernel_items(bn_kernel *k, size_t items)
{
    k->items = items;
    if (k->ready)
        choose_group(k);
}

void bn_kernel_side_by_side(bn_kernel *k, size_t wish)
{
    k->side_by_side_wish = wish;
    if (k->ready)
        choose_group(k);
}

bn_status bn_kernel_rounds(const bn_kernel *k, double once, double each, size_t wish, size_t *rounds)
{
    const bn_domain *d = k->program->domain;
    *rounds = wish;
    for (size_t b = 0; b < d->box_count; b++) {
        const bn_device *device = d->boxes[b].device;
        const double limit = device ? device->quirks.loop_limit : 0;
        if (!(limit > 0) || once + each * (double)*rounds <= limit)
            continue;
        if (once + each > limit)
            return bn_fail(
                d->ctx, BN_DEVICE,
                "kernel %s would take %.0f iterations of loops, %s ends them after %.0f; take fewer cells or "
                "another device",
                k->desc->name, once + each, device->info.name, limit);
        *rounds = (size_t)((limit - once) / each);
    }
    return BN_OK;
}
