/* plan.c: collects what a solver announces and estimates what it takes. */
#include "sim/plan.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Adds one entry to a list of the plan; a full list is a mistake of the solver's author. */
#define ADD(plan, list, count, limit, ...)                                                                     \
    do {                                                                                                       \
        if ((plan)->count >= (limit))                                                                          \
            return bn_fail((plan)->ctx, BN_USAGE, "solver %s plans more than %d " #list, (plan)->solver->name, \
                           (int)(limit));                                                                      \
        (plan)->list[(plan)->count++] = __VA_ARGS__;                                                           \
        return BN_OK;                                                                                          \
    } while (0)

bn_status bn_plan_grid(bn_plan *p, const bn_grid *grid)
{
    p->grid = *grid;
    for (int k = grid->dims; k < 3; k++)
        p->grid.n[k] = 1;
    p->has_grid = true;
    return BN_OK;
}

bn_status bn_plan_halo(bn_plan *p, int cells)
{
    p->halo = cells;
    return BN_OK;
}

void bn_plan_ghost_cells(bn_plan *p, int cells) { p->margin = cells; }

void bn_plan_align(bn_plan *p, int cells) { p->align = cells; }

void bn_plan_whole_rows(bn_plan *p) { p->whole_rows = true; }

bn_status bn_plan_field(bn_plan *p, const bn_field_desc *desc) { ADD(p, fields, field_count, BN_PLAN_FIELDS, *desc); }

bn_status bn_plan_define(bn_plan *p, const char *name, double value)
{
    ADD(p, defines, define_count, BN_PLAN_DEFINES, (bn_define){ .name = name, .kind = BN_DEF_REAL, .u.r = value });
}

bn_status bn_plan_constants(bn_plan *p, const char *const *names, const double *values)
{
    for (size_t i = 0; names[i]; i++) {
        char *name;
        BN_TRY(bn_plan_allocate(p, strlen(names[i]) + 1, (void **)&name));
        for (size_t k = 0; names[i][k]; k++)
            name[k] = (char)toupper((unsigned char)names[i][k]);
        BN_TRY(bn_plan_define(p, name, values[i]));
    }
    return BN_OK;
}

bn_status bn_plan_codes(bn_plan *p, const bn_code *codes)
{
    for (; codes->name; codes++)
        BN_TRY(bn_plan_define_int(p, codes->name, codes->value));
    return BN_OK;
}

bn_status bn_plan_define_int(bn_plan *p, const char *name, long long value)
{
    ADD(p, defines, define_count, BN_PLAN_DEFINES, (bn_define){ .name = name, .kind = BN_DEF_INT, .u.i = value });
}

bn_status bn_plan_result(bn_plan *p, const char *name, const char *unit, const char *help)
{
    ADD(p, results, result_count, BN_PLAN_RESULTS, (bn_plan_number){ name, unit, help, (double)NAN });
}

bn_status bn_plan_series(bn_plan *p, const char *name, const char *unit)
{
    ADD(p, series, series_count, BN_SERIES_MAX, (bn_plan_number){ name, unit, "", (double)NAN });
}

bn_status bn_plan_picture(bn_plan *p, const bn_picture_desc *desc)
{
    ADD(p, pictures, picture_count, BN_PLAN_PICTURES, *desc);
}

bn_status bn_plan_note(bn_plan *p, const char *name, double value, const char *unit)
{
    ADD(p, notes, note_count, BN_PLAN_NOTES, (bn_plan_number){ name, unit, "", value });
}

bn_status bn_plan_choice(bn_plan *p, const char *name, const char *choice)
{
    ADD(p, notes, note_count, BN_PLAN_NOTES, (bn_plan_number){ name, "", choice, (double)NAN });
}

bn_status bn_plan_skip_kernel(bn_plan *p, const char *name) { ADD(p, skipped, skipped_count, BN_PLAN_SKIPPED, name); }

bn_status bn_plan_chart(bn_plan *p, const bn_plan_chart_desc *desc)
{
    ADD(p, charts, chart_count, BN_PLAN_CHARTS, *desc);
}

bn_status bn_plan_table(bn_plan *p, uint64_t bytes, uint64_t pieces)
{
    ADD(p, tables, table_count, BN_PLAN_TABLES, (bn_plan_bytes){ bytes, pieces > 0 ? pieces : 1 });
}

void bn_plan_mesh_output(bn_plan *p, const bn_plan_mesh_output_desc *desc) { p->layers = *desc; }

void bn_plan_map(bn_plan *p, int epsg)
{
    p->mapped = true;
    p->epsg = epsg;
}

const bn_device_info *bn_plan_device(const bn_plan *p) { return p->device; }

bn_context *bn_plan_context(const bn_plan *p) { return p->ctx; }

void bn_plan_steps(bn_plan *p, double steps) { p->known_steps = steps; }

void bn_plan_parts(bn_plan *p, int parts) { p->parts = parts; }

double bn_plan_most_steps(const bn_plan *p, const bn_case *c)
{
    return (double)bn_case_int(c, "stop.steps") * (p->parts > 1 ? p->parts : 1);
}

void bn_plan_wants_convergence(bn_plan *p, double tolerance, const char *advice)
{
    p->tolerance = tolerance;
    p->advice = advice;
}

bool bn_plan_only_counts(bn_plan *p, double cells)
{
    p->counted = p->counted || (p->count && cells > BN_PLAN_LOOKED);
    return p->counted;
}

static bn_status create(bn_context *ctx, const bn_case *c, const bn_device_info *device, void *state, bool count,
                        bn_plan **out)
{
    *out = NULL;
    bn_plan *p = calloc(1, sizeof *p);
    if (!p)
        return bn_fail(ctx, BN_MEMORY, "no memory for the plan of the case");
    p->ctx = ctx;
    p->solver = bn_solver_find(bn_case_solver(c));
    p->precision = bn_case_double(c) ? BN_DOUBLE : BN_SINGLE;
    p->halo = 1;
    p->device = device;
    p->count = count;
    bn_status st = p->solver->plan(c, state, p);
    const bn_status verdict = bn_case_verdict(ctx, c);
    if (verdict != BN_OK)
        st = verdict;
    else if (st == BN_OK && (!p->has_grid || p->field_count == 0))
        st = bn_fail(ctx, BN_USAGE, "solver %s plans no %s", p->solver->name, p->has_grid ? "field" : "grid");
    if (st != BN_OK)
        bn_plan_destroy(&p);
    *out = p;
    return st;
}

bn_status bn_plan_create(bn_context *ctx, const bn_case *c, const bn_device_info *device, void *state, bn_plan **out)
{
    return create(ctx, c, device, state, false, out);
}

bn_status bn_plan_count(bn_context *ctx, const bn_case *c, const bn_device_info *device, void *state, bn_plan **out)
{
    return create(ctx, c, device, state, true, out);
}

void bn_plan_destroy(bn_plan **plan)
{
    if (plan && *plan) {
        bn_plan_free_kept(*plan);
        free(*plan);
        *plan = NULL;
    }
}

static int element_bytes(const bn_plan *p, bn_type type)
{
    int real = p->precision == BN_DOUBLE ? 8 : 4;
    return type == BN_T_REAL ? real : type == BN_T_REAL2 ? 2 * real : type == BN_T_I32 ? 4 : type == BN_T_I64 ? 8 : 1;
}

bn_status bn_plan_more_memory(bn_plan *p, const bn_grid *grid, bn_type type, bool shared)
{
    const bn_domain_desc desc = { .grid = *grid, .precision = p->precision, .halo = p->halo + p->margin, .boxes = 1 };
    const uint64_t bytes = bn_domain_estimate(&desc, element_bytes(p, type), 1, &p->more_largest);
    if (bytes == 0 || __builtin_add_overflow(p->more_bytes[shared], bytes, &p->more_bytes[shared]))
        return bn_fail(p->ctx, BN_MEMORY, "a grid of %u x %u points can't be addressed; use a coarser one", grid->n[0],
                       grid->n[1]);
    return BN_OK;
}

/* Bytes of all fields, and of what setup makes beside them, on one device; 0 when they can't be addressed. */
static uint64_t field_bytes(const bn_plan *p, uint64_t *largest)
{
    const bn_domain_desc desc = { .grid = p->grid, .precision = p->precision, .halo = p->halo + p->margin, .boxes = 1 };
    uint64_t total = p->more_bytes[0];
    *largest = p->more_largest;
    for (size_t i = 0; i < p->field_count; i++) {
        uint64_t bytes = bn_domain_estimate(&desc, element_bytes(p, p->fields[i].type), p->fields[i].components,
                                            largest);
        if (bytes == 0 || __builtin_add_overflow(total, bytes, &total))
            return 0;
    }
    return total;
}

/* What one of so many devices needs; bytes 0: it can't be addressed. */
typedef struct share {
    double fields, tables, largest, largest_table; /* largest: buffer, of fields, of tables */
} share;
static share share_of(const bn_plan *p, size_t devices)
{
    /* Boxes are not all alike, and halos and messages come on top. */
    const double part = (devices > 1 ? 1.05 : 1) / (double)devices;
    uint64_t largest;
    const uint64_t fields = field_bytes(p, &largest);
    share s = { .fields = part * ((double)fields + (fields > 0 && devices > 1 ? (double)p->more_bytes[1] : 0)) };
    s.largest = part * (double)largest;
    for (size_t i = 0; i < p->table_count; i++) {
        const double pieces = (double)p->tables[i].pieces;
        const double bytes = (double)p->tables[i].bytes * ceil(pieces / (double)devices) / pieces;
        s.tables += bytes;
        s.largest_table = fmax(s.largest_table, bytes);
    }
    return s;
}

static bool has_room(const share *s, double bytes, double largest)
{
    return s->fields + s->tables <= bytes && s->largest <= largest && s->largest_table <= largest;
}

uint64_t bn_plan_device_bytes(const bn_plan *p, uint64_t *largest)
{
    uint64_t largest_field;
    const uint64_t fields = field_bytes(p, &largest_field);
    const share s = share_of(p, 1);
    if (largest)
        *largest = (uint64_t)fmax(s.largest, s.largest_table);
    return fields > 0 ? fields + (uint64_t)s.tables : 0;
}

bool bn_plan_has_room(const bn_plan *p, uint64_t bytes, uint64_t largest)
{
    const share s = share_of(p, 1);
    return !p->device || (s.fields + s.tables + (double)bytes <= (double)p->device->bytes &&
                          (double)largest <= (double)p->device->largest_buffer);
}

uint64_t bn_plan_host_bytes(const bn_plan *p)
{
    uint64_t total = p->more_bytes[0], points = 1, bytes;
    for (int k = 0; k < 3; k++)
        if (__builtin_mul_overflow(points, (uint64_t)p->grid.n[k], &points))
            return 0;
    for (size_t i = 0; i < p->field_count; i++) {
        uint64_t per_point = (uint64_t)element_bytes(p, p->fields[i].type) *
                             (uint64_t)(p->fields[i].components > 0 ? p->fields[i].components : 1);
        if (__builtin_mul_overflow(points, per_point, &bytes) || __builtin_add_overflow(total, bytes, &total))
            return 0;
    }
    return total;
}

/* Devices that it would fit on; 0: no number is enough. */
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
    /* The same grid, finer by the factor that the tighter of the two limits leaves; nothing if it is not the grid that
     * is too large. */
    double scale = each.largest_table <= have_largest ? (have - each.tables) / each.fields : 0;
    if (each.largest > 0 && have_largest / each.largest < scale)
        scale = have_largest / each.largest;
    const double shrink = pow(fmax(0.95 * scale, 0), 1.0 / p->grid.dims);
    const char *where = info ? info->name : "the host";
    char several[32] = "", beside[64] = "", coarser[96] = "no coarser grid makes room", remedy[128] = "";
    const size_t enough = info ? devices_for(p, have, have_largest) : 0;
    if (devices > 1)
        snprintf(several, sizeof several, "%zu times ", devices);
    if (one.tables > 0)
        snprintf(beside, sizeof beside, ", %.2f GiB of it beside the grid", one.tables / 0x1p30);
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
        p->grid.n[0], p->grid.n[1], p->grid.n[2], (one.fields + one.tables) / 0x1p30,
        fmax(one.largest, one.largest_table) / 0x1p30, beside, several, where, have * (double)devices / 0x1p30,
        have_largest * (double)devices / 0x1p30, coarser, remedy);
}
