/* plan_memory.c: memory of a plan for its solver, and what the case takes on a device or on the host. */
#include "sim/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* One allocation in the plan's list. */
struct bn_plan_memory {
    struct bn_plan_memory *next;
    void *data;
    void (*release)(void *);
};

bn_status bn_plan_adopt(bn_plan *p, void *data, void (*release)(void *))
{
    struct bn_plan_memory *k = data ? calloc(1, sizeof *k) : NULL;
    if (!k) {
        release(data);
        return bn_fail(p->ctx, BN_MEMORY, "no memory for the plan of the case");
    }
    *k = (struct bn_plan_memory){ p->memory, data, release };
    p->memory = k;
    return BN_OK;
}

bn_status bn_plan_allocate(bn_plan *p, size_t bytes, void **out)
{
    void *data = calloc(1, bytes ? bytes : 1);
    *out = NULL;
    BN_TRY(bn_plan_adopt(p, data, free));
    *out = data;
    return BN_OK;
}

void bn_plan_free_memory(bn_plan *p)
{
    while (p->memory) {
        struct bn_plan_memory *next = p->memory->next;
        p->memory->release(p->memory->data);
        free(p->memory);
        p->memory = next;
    }
}

static int element_bytes(const bn_plan *p, bn_type type)
{
    int real = p->precision == BN_DOUBLE ? 8 : 4;
    return type == BN_T_REAL ? real : type == BN_T_REAL2 ? 2 * real : type == BN_T_I32 ? 4 : type == BN_T_I64 ? 8 : 1;
}

bn_status bn_plan_more_memory(bn_plan *p, const bn_grid *grid, bn_type type, bool shared)
{
    const bn_domain_desc desc = {
        .grid = *grid, .precision = p->precision, .halo = p->cut.halo + p->cut.ghost_cells, .boxes = 1
    };
    const uint64_t bytes = bn_domain_estimate(&desc, element_bytes(p, type), 1, &p->more.largest);
    if (bytes == 0 || __builtin_add_overflow(p->more.bytes[shared], bytes, &p->more.bytes[shared]))
        return bn_fail(p->ctx, BN_MEMORY, "a grid of %u x %u points can't be addressed; use a coarser one", grid->n[0],
                       grid->n[1]);
    return BN_OK;
}

/* Bytes of all fields and of what setup allocates beside them, on one device; 0 when they can't be addressed. */
static uint64_t field_bytes(const bn_plan *p, uint64_t *largest)
{
    const bn_domain_desc desc = {
        .grid = p->grid, .precision = p->precision, .halo = p->cut.halo + p->cut.ghost_cells, .boxes = 1
    };
    uint64_t total = p->more.bytes[0];
    *largest = p->more.largest;
    for (size_t i = 0; i < p->field_count; i++) {
        if (p->fields[i].role & BN_VOLUME)
            continue;
        uint64_t bytes = bn_domain_estimate(&desc, element_bytes(p, p->fields[i].type), p->fields[i].components,
                                            largest);
        if (bytes == 0 || __builtin_add_overflow(total, bytes, &total))
            return 0;
    }
    return total;
}

/* Bytes that one of so many devices needs; fields 0: it can't be addressed. */
typedef struct share {
    double fields, arrays, largest, largest_array; /* largest buffer: of a field, of a device array */
} share;
static share share_of(const bn_plan *p, size_t devices)
{
    /* Boxes differ in size; halos and messages add to them. */
    const double part = (devices > 1 ? 1.05 : 1) / (double)devices;
    uint64_t largest;
    const uint64_t fields = field_bytes(p, &largest);
    share s = { .fields = part * (double)fields + (fields > 0 && devices > 1 ? (double)p->more.bytes[1] : 0) };
    s.largest = part * (double)largest;
    for (size_t i = 0; i < p->more.array_count; i++) {
        const double pieces = (double)p->more.arrays[i].pieces;
        const double bytes = (double)p->more.arrays[i].bytes * ceil(pieces / (double)devices) / pieces;
        s.arrays += bytes;
        s.largest_array = fmax(s.largest_array, bytes);
    }
    return s;
}

static bool has_room(const share *s, double bytes, double largest)
{
    return s->fields + s->arrays <= bytes && s->largest <= largest && s->largest_array <= largest;
}

uint64_t bn_plan_device_bytes(const bn_plan *p, uint64_t *largest)
{
    uint64_t largest_field;
    const uint64_t fields = field_bytes(p, &largest_field);
    const share s = share_of(p, 1);
    if (largest)
        *largest = (uint64_t)fmax(s.largest, s.largest_array);
    return fields > 0 ? fields + (uint64_t)s.arrays : 0;
}

bool bn_plan_has_room(const bn_plan *p, uint64_t bytes, uint64_t largest)
{
    const share s = share_of(p, 1);
    return !p->device || (s.fields + s.arrays + (double)bytes <= (double)p->device->bytes &&
                          (double)largest <= (double)p->device->largest_buffer);
}

uint64_t bn_plan_host_bytes(const bn_plan *p)
{
    uint64_t total = p->more.bytes[0], bytes;
    for (size_t i = 0; i < p->field_count; i++) {
        const bn_grid *g = bn_plan_grid_of(p, &p->fields[i]);
        uint64_t points = 1;
        for (int k = 0; k < 3; k++)
            if (__builtin_mul_overflow(points, (uint64_t)g->n[k], &points))
                return 0;
        uint64_t per_point = (uint64_t)element_bytes(p, p->fields[i].type) *
                             (uint64_t)(p->fields[i].components > 0 ? p->fields[i].components : 1);
        if (__builtin_mul_overflow(points, per_point, &bytes) || __builtin_add_overflow(total, bytes, &total))
            return 0;
    }
    return total;
}

/* Number of devices that it would fit on; 0: none is enough. */
static size_t devices_for(const bn_plan *p, double have, double have_largest)
{
    enum { MOST = 65536 };
    for (size_t n = 2; n <= MOST; n++) {
        const share s = share_of(p, n);
        if (has_room(&s, have, have_largest))
            return n;
    }
    return 0;
}

size_t bn_plan_devices(const bn_plan *p, const bn_device_info *info)
{
    const share one = share_of(p, 1);
    if (one.fields == 0)
        return 0;
    const double have = (double)info->bytes, have_largest = (double)info->largest_buffer;
    return has_room(&one, have, have_largest) ? 1 : devices_for(p, have, have_largest);
}

bn_status bn_plan_check_memory(bn_context *ctx, const bn_plan *p, const bn_device_info *info, size_t devices)
{
    const double host = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const double have = info ? (double)info->bytes : host, have_largest = info ? (double)info->largest_buffer : host;
    const double on_host = (double)bn_plan_host_bytes(p);
    const share each = info ? share_of(p, devices) : (share){ .fields = on_host };
    if (each.fields > 0 && has_room(&each, have, have_largest))
        return BN_OK;
    if (each.fields == 0)
        return bn_fail(ctx, BN_MEMORY, "a grid of %u x %u x %u points can't be addressed; use a coarser one",
                       p->grid.n[0], p->grid.n[1], p->grid.n[2]);
    const share one = info ? share_of(p, 1) : each;
    /* Factor of the number of cells that the tighter limit allows; 0 if not the grid is too large but a device array.
     */
    double scale = each.largest_array <= have_largest ? (have - each.arrays) / each.fields : 0;
    if (each.largest > 0 && have_largest / each.largest < scale)
        scale = have_largest / each.largest;
    const double shrink = pow(fmax(0.95 * scale, 0), 1.0 / p->grid.dims);
    const char *where = info ? info->name : "the host";
    char several[32] = "", beside[64] = "", coarser[96] = "no coarser grid makes room", remedy[128] = "";
    const size_t enough = info ? devices_for(p, have, have_largest) : 0;
    if (devices > 1)
        snprintf(several, sizeof several, "%zu times ", devices);
    if (one.arrays > 0)
        snprintf(beside, sizeof beside, ", %.2f GiB of it beside the grid", one.arrays / 0x1p30);
    if (p->grid.n[0] * shrink >= 1)
        snprintf(coarser, sizeof coarser, "about %.0f x %.0f x %.0f points would fit", floor(p->grid.n[0] * shrink),
                 p->grid.dims > 1 ? floor(p->grid.n[1] * shrink) : 1.0,
                 p->grid.dims > 2 ? floor(p->grid.n[2] * shrink) : 1.0);
    if (enough > 0)
        snprintf(remedy, sizeof remedy, ", or all of it on %zu such devices (--device all, or mpirun)", enough);
    return bn_fail(
        ctx, BN_MEMORY,
        "the grid of %u x %u x %u points needs %.2f GiB (largest buffer %.2f GiB%s), %s%s has %.2f GiB (largest "
        "buffer %.2f GiB); %s%s",
        p->grid.n[0], p->grid.n[1], p->grid.n[2], (one.fields + one.arrays) / 0x1p30,
        fmax(one.largest, one.largest_array) / 0x1p30, beside, several, where, have * (double)devices / 0x1p30,
        have_largest * (double)devices / 0x1p30, coarser, remedy);
}
