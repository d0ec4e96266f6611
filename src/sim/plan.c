/* plan.c: collects what a solver announces. */
#include "sim/plan.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    return BN_OK;
}

void bn_plan_volume(bn_plan *p, const bn_grid *grid) { p->volume = *grid; }

bn_status bn_plan_halo(bn_plan *p, int cells)
{
    p->cut.halo = cells;
    return BN_OK;
}

void bn_plan_ghost_cells(bn_plan *p, int cells) { p->cut.ghost_cells = cells; }

void bn_plan_align(bn_plan *p, int cells) { p->cut.align = cells; }

void bn_plan_whole_rows(bn_plan *p) { p->cut.whole_rows = true; }
void bn_plan_one_box(bn_plan *p) { p->cut.one_box = true; }
void bn_plan_scales(bn_plan *p, const bn_plan_scaling *scaling) { p->cut.scaling = *scaling; }

bn_status bn_plan_field(bn_plan *p, bn_field **out, const bn_field_desc *desc)
{
    if (p->field_count < BN_PLAN_FIELDS)
        p->holders[p->field_count] = out;
    ADD(p, fields, field_count, BN_PLAN_FIELDS, *desc);
}

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
    ADD(p, results, result_count, BN_PLAN_RESULTS, (bn_plan_number){ name, unit, help, (double)NAN, 0, "" });
}

bn_status bn_plan_series(bn_plan *p, const char *name, const char *unit)
{
    ADD(p, series, series_count, BN_SERIES_MAX, (bn_plan_number){ name, unit, "", (double)NAN, 0, "" });
}

bn_status bn_plan_picture(bn_plan *p, const bn_picture_desc *desc)
{
    ADD(p, pictures, picture_count, BN_PLAN_PICTURES, *desc);
}

bn_status bn_plan_note(bn_plan *p, const char *name, double value, const char *unit)
{
    ADD(p, notes, note_count, BN_PLAN_NOTES, (bn_plan_number){ name, unit, "", value, 0, "" });
}

bn_status bn_plan_choice(bn_plan *p, const char *name, const char *choice)
{
    ADD(p, notes, note_count, BN_PLAN_NOTES, (bn_plan_number){ name, "", choice, (double)NAN, 0, "" });
}

bn_status bn_plan_skip_kernel(bn_plan *p, const char *name)
{
    ADD(p, defines, define_count, BN_PLAN_DEFINES, (bn_define){ .name = name, .kind = BN_DEF_LEFT_OUT });
}

bn_status bn_plan_needs(bn_plan *p, const char *what) { ADD(p, needs.names, needs.count, BN_PLAN_NEEDS, what); }

bn_status bn_plan_chart(bn_plan *p, const bn_plan_chart_desc *desc)
{
    ADD(p, charts, chart_count, BN_PLAN_CHARTS, *desc);
}

bn_status bn_plan_table(bn_plan *p, uint64_t bytes, uint64_t pieces)
{
    ADD(p, more.arrays, more.array_count, BN_PLAN_ARRAYS, (bn_plan_bytes){ bytes, pieces > 0 ? pieces : 1 });
}

void bn_plan_mesh_output(bn_plan *p, const bn_plan_mesh_output_desc *desc) { p->mesh_output = *desc; }

const bn_plan_chart_desc *bn_plan_chart_of(const bn_plan *p, const char *table, size_t bytes)
{
    for (size_t i = 0; i < p->chart_count; i++)
        if (strlen(p->charts[i].table) == bytes && strncmp(p->charts[i].table, table, bytes) == 0)
            return &p->charts[i];
    return NULL;
}

void bn_plan_map(bn_plan *p, int epsg)
{
    p->map.drawn = true;
    p->map.epsg = epsg;
}

const bn_device_info *bn_plan_device(const bn_plan *p) { return p->device; }

size_t bn_plan_shared_by(const bn_plan *p) { return p->cut.devices; }

bn_context *bn_plan_context(const bn_plan *p) { return p->ctx; }

void bn_plan_steps(bn_plan *p, double steps) { p->course.steps = steps; }

void bn_plan_parts(bn_plan *p, int parts) { p->course.parts = parts; }

double bn_plan_most_steps(const bn_plan *p, const bn_case *c)
{
    return (double)bn_case_int(c, "stop.steps") * (p->course.parts > 1 ? p->course.parts : 1);
}

void bn_plan_wants_convergence(bn_plan *p, double tolerance, const char *advice)
{
    p->course.tolerance = tolerance;
    p->course.advice = advice;
}

bool bn_plan_only_counts(bn_plan *p, double cells)
{
    p->estimate.counted = p->estimate.counted || cells > p->estimate.look;
    return p->estimate.counted;
}

/* [[expected]]: what is known of the results, unless --set has made another case of it. */
static void take_expected(bn_plan *p, const bn_case *c)
{
    const char *names[BN_PLAN_RESULTS + 1] = { NULL };
    for (size_t i = 0; i < p->result_count; i++)
        names[i] = p->results[i].name;
    for (size_t item = 0; !bn_case_varied(c) && item < bn_case_items(c, "expected"); item++) {
        const char *name = bn_case_item_text(c, "expected.result", item), *near = bn_suggest(name, names);
        size_t i = 0;
        while (i < p->result_count && strcmp(names[i], name) != 0)
            i++;
        if (i == p->result_count) {
            (void)bn_case_reject_item(c, "expected.result", item, NULL, "the case has no such result%s%s%s",
                                      near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
            continue;
        }
        p->results[i].value = bn_case_item_real(c, "expected.value", item);
        p->results[i].tolerance = bn_case_item_real(c, "expected.tolerance", item);
        p->results[i].source = bn_case_item_text(c, "expected.source", item);
    }
}

static bn_status create(bn_context *ctx, const bn_case *c, const bn_device_info *device, size_t devices, void *state,
                        double look, bn_plan **out)
{
    *out = NULL;
    bn_plan *p = calloc(1, sizeof *p);
    if (!p)
        return bn_fail(ctx, BN_MEMORY, "no memory for the plan of the case");
    p->ctx = ctx;
    p->solver = bn_solver_find(bn_case_solver(c));
    p->precision = bn_case_double(c) ? BN_DOUBLE : BN_SINGLE;
    p->cut.halo = 1;
    p->device = device;
    p->cut.devices = devices;
    p->estimate.look = look;
    bn_status st = p->solver->plan(c, state, p);
    if (st == BN_OK && !p->estimate.counted) /* without its cells a case may have fewer results */
        take_expected(p, c);
    const bn_status verdict = bn_case_verdict(ctx, c);
    if (verdict != BN_OK)
        st = verdict;
    else if (st == BN_OK && (p->grid.dims == 0 || p->field_count == 0))
        st = bn_fail(ctx, BN_USAGE, "solver %s plans no %s", p->solver->name, p->grid.dims > 0 ? "field" : "grid");
    if (st != BN_OK)
        bn_plan_destroy(&p);
    *out = p;
    return st;
}

bn_status bn_plan_create(bn_context *ctx, const bn_case *c, const bn_device_info *device, size_t devices, void *state,
                         bn_plan **out)
{
    return create(ctx, c, device, devices, state, HUGE_VAL, out);
}

bn_status bn_plan_count(bn_context *ctx, const bn_case *c, const bn_device_info *device, size_t devices, void *state,
                        bn_plan **out)
{
    return create(ctx, c, device, devices, state, BN_PLAN_LOOKED, out);
}

bn_status bn_plan_outline(bn_context *ctx, const bn_case *c, void *state, bn_plan **out)
{
    return create(ctx, c, NULL, 1, state, 0, out);
}

void bn_plan_destroy(bn_plan **plan)
{
    if (plan && *plan) {
        bn_plan_free_memory(*plan);
        free(*plan);
        *plan = NULL;
    }
}
