/* flood_layouts.c: the case, the plan and the step of the study of layouts (kernels/studies/flood_layouts.cl). */
#include "studies/flood_layouts.h"

#include <math.h>

#define LAYOUTS(X) X(LAYOUT_PLANES, "planes") X(LAYOUT_CELLS, "cells")
#define NEIGHBOURS(X) X(NEIGHBOURS_COMPUTED, "computed") X(NEIGHBOURS_LISTED, "listed")
enum { LAYOUTS(BN_CHOICE_ENUM) };
enum { NEIGHBOURS(BN_CHOICE_ENUM) };

/* A key is read in one piece. */
/* clang-format off */
static const bn_key schema[] = {
    { .name = "grid.cells", .type = BN_KEY_INT, .count = 2, .def = 100, .min = 2, .max = 65536,
      .help = "cells along x and rows along y" },
    { .name = "grid.spacing", .type = BN_KEY_REAL, .unit = "m", .def = 1, .max = 1e6, .above = true,
      .help = "distance between the centres of neighbours" },
    { .name = "bed.amplitude", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1e6,
      .help = "half of the height of ripples in the bed" },
    { .name = "initial.levels", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 1, .min = 0, .max = 1e6,
      .help = "heights of the water inside and outside of a circle in the middle" },
    { .name = "initial.radius", .type = BN_KEY_REAL, .unit = "m", .def = 1, .max = 1e6, .above = true,
      .help = "of the circle" },
    { .name = "solver.state", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(LAYOUTS), .def_text = "planes",
      .help = "each quantity in a plane of its own, or the four of a cell beside each other" },
    { .name = "solver.neighbours", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(NEIGHBOURS), .def_text = "computed",
      .help = "by the parity of the row, or from a list of their places" },
    { 0 },
};
/* clang-format on */

static const bn_kernel_desc kernels[] = {
    { "flood_layouts_list", BN_PER_BLOCK, { .writes = 6 } },
    { "flood_layouts_advance", BN_PER_BLOCK, { .reads = 4, .writes = 3, .flops = 330 } },
    { 0 },
};

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    flood_layouts *s = state;
    s->nx = (uint32_t)bn_case_int_at(c, "grid.cells", 0);
    s->ny = (uint32_t)bn_case_int_at(c, "grid.cells", 1);
    s->spacing = bn_case_real(c, "grid.spacing");
    s->amplitude = bn_case_real(c, "bed.amplitude");
    s->radius = bn_case_real(c, "initial.radius");
    for (size_t i = 0; i < 2; i++)
        s->levels[i] = bn_case_real_at(c, "initial.levels", i);
    s->structures = bn_case_choice(c, "solver.state") == LAYOUT_CELLS;
    s->listed = bn_case_choice(c, "solver.neighbours") == NEIGHBOURS_LISTED;
    s->k.g = 9.81;
    s->k.dry = 1e-6;
    /* No wave is faster than the front of the deepest water on a dry bed; 0.36 of a cell in a step, as in flood. */
    s->dt = 0.36 * s->spacing / (2 * sqrt(s->k.g * fmax(1e-3, fmax(s->levels[0], s->levels[1]) + s->amplitude)));
    s->k.flux_scale = s->dt * 2 / (3 * s->spacing);
    const double row = s->spacing * sqrt(0.75);
    BN_TRY(bn_plan_grid(p, &(bn_grid){ .dims = 2,
                                       .n = { s->nx, s->ny, 1 },
                                       .h = { s->spacing, row, 1 },
                                       .origin = { 0.25 * s->spacing, 0.5 * row },
                                       .kind = BN_HEXAGONAL }));
    const unsigned layout = s->structures ? BN_INTERLEAVED : 0;
    BN_TRY(bn_plan_field(p, &(bn_field_desc){ "state", "", BN_T_REAL, 4, BN_STATE | BN_COMPARE | layout }));
    BN_TRY(bn_plan_field(p, &(bn_field_desc){ "next_state", "", BN_T_REAL, 4, layout }));
    if (s->listed)
        BN_TRY(bn_plan_field(p, &(bn_field_desc){ "neighbours", "", BN_T_I32, 6, 0 }));
    else
        BN_TRY(bn_plan_skip_kernel(p, "flood_layouts_list"));
    BN_TRY(bn_plan_define_int(p, "STRUCTURES", s->structures));
    BN_TRY(bn_plan_define_int(p, "LISTED", s->listed));
    return bn_plan_constants(p, BN_CONSTANT_NAMES(FLOOD_LAYOUTS_CONSTANTS), (const double *)&s->k);
}

static bn_status fill_state(void *user, const bn_region *r, void *to)
{
    double *values = to;
    const flood_layouts *s = user;
    const size_t points = bn_region_points(r), row = s->structures ? 4 : 1, plane = s->structures ? 1 : points;
    for (size_t at = 0; at < points; at++) {
        size_t p[3];
        bn_region_place(r, at, p);
        const double x = (double)p[0] + (p[1] % 2 ? 0.75 : 0.25) - 0.5 * s->nx, y = (double)p[1] + 0.5 - 0.5 * s->ny;
        const double bed = s->amplitude * (1 + sin(0.7 * x) * cos(0.5 * y));
        const double level = s->levels[s->spacing * hypot(x, sqrt(0.75) * y) < s->radius ? 0 : 1];
        values[row * at] = fmax(0, level - bed);
        values[row * at + plane] = values[row * at + 2 * plane] = 0;
        values[row * at + 3 * plane] = bed;
    }
    return BN_OK;
}

static bn_status init(bn_sim *sim, void *state)
{
    flood_layouts *s = state;
    s->state = bn_sim_field(sim, "state");
    s->next = bn_sim_field(sim, "next_state");
    s->neighbours = s->listed ? bn_sim_field(sim, "neighbours") : NULL;
    BN_TRY(bn_field_supply(s->state, BN_AS_DOUBLES, fill_state, s));
    return bn_field_copy(s->state, s->next); /* steps leave the bed as it is */
}

static bn_status setup(bn_sim *sim, void *state)
{
    flood_layouts *s = state;
    s->advance = bn_sim_kernel(sim, "flood_layouts_advance");
    return s->listed ? BN_RUN(bn_sim_kernel(sim, "flood_layouts_list"), BN_UPDATE(s->neighbours)) : BN_OK;
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    (void)sim;
    flood_layouts *s = state;
    bn_field *const neighbours = s->listed ? s->neighbours : s->state; /* which are not read then */
    BN_TRY(BN_RUN(s->advance, BN_READ(s->state, 1), BN_READ(neighbours, 0), BN_UPDATE(s->next)));
    bn_field_swap(s->state, s->next);
    *out = (bn_step){ .dt = s->dt, .residual = (double)NAN };
    return BN_OK;
}

static bn_status resume(bn_sim *sim, void *state)
{
    (void)sim;
    flood_layouts *s = state;
    return bn_field_copy(s->state, s->next);
}

static const bn_engine device = { .name = "opencl", .setup = setup, .step = step, .resume = resume };

const bn_solver bn_solver_flood_layouts = {
    .name = "flood_layouts",
    .summary = "shallow water on hexagons in the memory layouts of a published study",
    .schema = schema,
    .program = "studies/flood_layouts",
    .kernels = kernels,
    .state_size = sizeof(flood_layouts),
    .device = &device,
    .reference = { &bn_flood_layouts_reference_single, &bn_flood_layouts_reference_double },
    .plan = plan,
    .init = init,
};
