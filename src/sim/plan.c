/* plan.c: collects what a solver announces and estimates what it takes. */
#include "sim/plan.h"

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

void bn_plan_align(bn_plan *p, int cells) { p->align = cells; }

void bn_plan_whole_rows(bn_plan *p) { p->whole_rows = true; }

bn_status bn_plan_field(bn_plan *p, const bn_field_desc *desc) { ADD(p, fields, field_count, BN_PLAN_FIELDS, *desc); }

bn_status bn_plan_define(bn_plan *p, const char *name, double value)
{
    ADD(p, defines, define_count, BN_PLAN_DEFINES, (bn_define){ .name = name, .kind = BN_DEF_REAL, .u.r = value });
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

void bn_plan_layers(bn_plan *p, const bn_plan_layers_desc *desc) { p->layers = *desc; }

const bn_device_info *bn_plan_device(const bn_plan *p) { return p->device; }

bn_context *bn_plan_context(const bn_plan *p) { return p->ctx; }

void bn_plan_effort(bn_plan *p, double steps, double kernels_per_step)
{
    p->effort_steps = steps;
    p->effort_kernels = kernels_per_step;
}

void bn_plan_wants_convergence(bn_plan *p, double tolerance) { p->tolerance = tolerance; }

bn_status bn_plan_create(bn_context *ctx, const bn_case *c, const bn_device_info *device, void *state, bn_plan **out)
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
    bn_status st = p->solver->plan(c, state, p);
    if (bn_case_problems(c)[0])
        st = bn_fail(ctx, BN_CASE, "%s", bn_case_problems(c));
    else if (st == BN_OK && (!p->has_grid || p->field_count == 0))
        st = bn_fail(ctx, BN_USAGE, "solver %s plans no %s", p->solver->name, p->has_grid ? "field" : "grid");
    if (st != BN_OK)
        bn_plan_destroy(&p);
    *out = p;
    return st;
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
    const bn_domain_desc desc = { .grid = *grid, .precision = p->precision, .halo = p->halo, .boxes = 1 };
    const uint64_t bytes = bn_domain_estimate(&desc, element_bytes(p, type), 1, &p->more_largest);
    if (bytes == 0 || __builtin_add_overflow(p->more_bytes[shared], bytes, &p->more_bytes[shared]))
        return bn_fail(p->ctx, BN_MEMORY, "a grid of %u x %u points can't be addressed; use a coarser one",
                       grid->n[0], grid->n[1]);
    return BN_OK;
}

uint64_t bn_plan_device_bytes(const bn_plan *p, uint64_t *largest)
{
    const bn_domain_desc desc = { .grid = p->grid, .precision = p->precision, .halo = p->halo, .boxes = 1 };
    uint64_t total = p->more_bytes[0], largest_here = p->more_largest;
    for (size_t i = 0; i < p->field_count; i++) {
        uint64_t bytes = bn_domain_estimate(&desc, element_bytes(p, p->fields[i].type), p->fields[i].components,
                                            &largest_here);
        if (bytes == 0 || __builtin_add_overflow(total, bytes, &total))
            return 0;
    }
    if (largest)
        *largest = largest_here;
    return total;
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

/* Boxes are not all alike, and halos and messages come on top. */
static const double shared_margin = 1.05;

size_t bn_plan_devices(const bn_plan *p, const bn_device_info *info)
{
    uint64_t largest = 0;
    const uint64_t need = bn_plan_device_bytes(p, &largest);
    const double have = (double)info->bytes, have_largest = (double)info->largest_buffer;
    if (need == 0)
        return 0;
    if ((double)need <= have && (double)largest <= have_largest)
        return 1;
    const double by_all = ceil(shared_margin * ((double)need + (double)p->more_bytes[1]) / have);
    const double by_one = ceil(shared_margin * (double)largest / have_largest);
    const double most = by_all > by_one ? by_all : by_one;
    return most < 2 ? 2 : most < 1e9 ? (size_t)most : 0;
}

bn_status bn_plan_check_memory(bn_context *ctx, const bn_plan *p, const bn_device_info *info, size_t devices)
{
    uint64_t largest = 0, need = info ? bn_plan_device_bytes(p, &largest) : bn_plan_host_bytes(p);
    uint64_t have = info ? info->bytes : (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t have_largest = info ? info->largest_buffer : have;
    if (need > 0 && devices > 1)
        need += p->more_bytes[1];
    const double margin = devices > 1 ? shared_margin : 1;
    const double each = margin * (double)need / (double)devices, each_largest = margin * (double)largest / (double)devices;
    if (need > 0 && each <= (double)have && each_largest <= (double)have_largest)
        return BN_OK;
    have *= devices;
    have_largest *= devices;
    /* The same grid, finer by the factor that the tighter of the two limits leaves. */
    double scale = need > 0 ? (double)have / (double)need : 0;
    if (largest > 0 && (double)have_largest / (double)largest < scale)
        scale = (double)have_largest / (double)largest;
    double shrink = pow(0.95 * scale, 1.0 / p->grid.dims);
    const char *where = info ? info->name : "the host";
    char several[32] = "", remedy[128] = "";
    if (devices > 1)
        snprintf(several, sizeof several, "%zu times ", devices);
    if (info)
        snprintf(remedy, sizeof remedy, ", or all of it on %zu such devices (--device all, or mpirun)",
                 bn_plan_devices(p, info));
    if (need == 0)
        return bn_fail(ctx, BN_MEMORY, "a grid of %u x %u x %u points can't be addressed; use a coarser one",
                       p->grid.n[0], p->grid.n[1], p->grid.n[2]);
    return bn_fail(ctx, BN_MEMORY,
                   "the grid of %u x %u x %u points needs %.2f GiB (largest buffer %.2f GiB), %s%s has %.2f GiB (largest "
                   "buffer %.2f GiB); "
                   "about %.0f x %.0f x %.0f points would fit%s",
                   p->grid.n[0], p->grid.n[1], p->grid.n[2], (double)need / 0x1p30, (double)largest / 0x1p30, several, where,
                   (double)have / 0x1p30, (double)have_largest / 0x1p30, floor(p->grid.n[0] * shrink),
                   p->grid.dims > 1 ? floor(p->grid.n[1] * shrink) : 1.0,
                   p->grid.dims > 2 ? floor(p->grid.n[2] * shrink) : 1.0, remedy);
}
