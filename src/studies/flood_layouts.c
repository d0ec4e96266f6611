/* flood_layouts.c: the case, the plan and the step of the study of layouts (kernels/studies/flood_layouts.cl). */
#include "studies/flood_layouts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAYOUTS(X) X(LAYOUT_PLANES, "planes") X(LAYOUT_CELLS, "cells")
#define NEIGHBOURS(X) X(NEIGHBOURS_COMPUTED, "computed") X(NEIGHBOURS_LISTED, "listed")
enum { LAYOUTS(BN_CHOICE_ENUM) };
enum { NEIGHBOURS(BN_CHOICE_ENUM) };

/* A key is read in one piece. */
/* clang-format off */
static const bn_key schema[] = {
    { .name = "grid.cells", .type = BN_KEY_INT, .count = 2, .def = 100, .min = 2, .max = 65536,
      .help = "cells along x and rows along y" },
    { .name = "grid.file", .type = BN_KEY_TEXT, .def_text = "",
      .help = "cells in any order instead: a table of bed, depth, neighbour_0 (to the east) to neighbour_5 (counter-"
              "clockwise; rows from 0, -1 is a wall), and agent, the number of the agents' cell that it lies in (-1: "
              "none)" },
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

/* --- cells of a file --- */
enum { BED, DEPTH, NEIGHBOUR, AGENT = NEIGHBOUR + 6, COLUMNS, MISSING = 65535, ROW = 256 };

static double value_of(const flood_layouts *s, size_t cell, size_t what)
{
    return s->column[what] == MISSING ? -1 : s->file->values[cell * s->file->columns + s->column[what]];
}

/* Numbers of cells are whole, and each edge joins the same two cells from both sides: else water is lost. */
static bn_status check_cell(const bn_case *c, const flood_layouts *s, size_t cell)
{
    if (!isfinite(value_of(s, cell, BED)) || !(value_of(s, cell, DEPTH) >= 0 && value_of(s, cell, DEPTH) < HUGE_VAL))
        return bn_case_reject(c, "grid.file", NULL, "cell %zu: bed and depth must be numbers, no depth below 0", cell);
    for (size_t k = NEIGHBOUR; k <= AGENT; k++) {
        const double to = value_of(s, cell, k), most = k == AGENT ? 1e9 : (double)s->cells;
        if (!(to >= -1 && to < most) || to < floor(to))
            return bn_case_reject(c, "grid.file", NULL, "cell %zu: %s is no number of a cell, nor -1", cell,
                                  s->file->heads[s->column[k]]);
        const size_t back = NEIGHBOUR + (k - NEIGHBOUR + 3) % 6;
        if (k < AGENT && to >= 0 && lround(value_of(s, (size_t)to, back)) != (long)cell)
            return bn_case_reject(c, "grid.file", NULL,
                                  "neighbour_%zu of cell %zu is %g, whose neighbour_%zu is %g: an edge joins two cells",
                                  k - NEIGHBOUR, cell, to, back - NEIGHBOUR, value_of(s, (size_t)to, back));
    }
    return BN_OK;
}

static bn_status plan_cells(const bn_case *c, flood_layouts *s, bn_plan *p)
{
    static const char *const names[COLUMNS] = { "bed",         "depth",       "neighbour_0",
                                                "neighbour_1", "neighbour_2", "neighbour_3",
                                                "neighbour_4", "neighbour_5", "agent" };
    double level = -HUGE_VAL, lowest = HUGE_VAL;
    BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_TABLE, .key = "grid.file" }, &s->file));
    if (!s->file)
        return bn_case_reject(c, "grid.file", NULL, "there is no such table");
    for (size_t k = 0; k < COLUMNS; k++) {
        s->column[k] = MISSING;
        for (size_t i = 0; i < s->file->columns; i++)
            if (strcmp(s->file->heads[i], names[k]) == 0)
                s->column[k] = i;
        if (s->column[k] == MISSING && k != AGENT)
            return bn_case_reject(c, "grid.file", NULL, "the table has no column %s", names[k]);
    }
    s->cells = s->file->rows;
    for (size_t cell = 0; cell < s->cells; cell++) {
        BN_TRY(check_cell(c, s, cell));
        level = fmax(level, value_of(s, cell, BED) + value_of(s, cell, DEPTH));
        lowest = fmin(lowest, value_of(s, cell, BED));
    }
    s->levels[0] = level - lowest;
    s->levels[1] = s->amplitude = 0;
    s->nx = (uint32_t)(s->cells < ROW ? s->cells : ROW);
    s->ny = (uint32_t)((s->cells + s->nx - 1) / s->nx);
    bn_plan_one_box(p); /* a neighbour may lie anywhere */
    return BN_OK;
}

static bn_status fill_neighbours(void *user, const bn_region *r, void *to)
{
    const flood_layouts *s = user;
    const bn_place place = bn_domain_place(bn_field_domain(s->neighbours));
    int32_t *places = to;
    const size_t points = bn_region_points(r);
    for (size_t at = 0; at < points; at++) {
        size_t p[3];
        bn_region_place(r, at, p);
        const size_t cell = p[1] * s->nx + p[0];
        for (size_t e = 0; e < 6; e++) {
            const long beside = cell < s->cells ? lround(value_of(s, cell, NEIGHBOUR + e)) : -1;
            places[e * points + at] = (int32_t)(beside < 0
                                                    ? -1
                                                    : place.first + beside / s->nx * place.pitch + beside % s->nx);
        }
    }
    return BN_OK;
}

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
    if (bn_case_text(c, "grid.file")[0] != '\0')
        BN_TRY(plan_cells(c, s, p));
    s->structures = bn_case_choice(c, "solver.state") == LAYOUT_CELLS;
    s->listed = bn_case_choice(c, "solver.neighbours") == NEIGHBOURS_LISTED || s->file;
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
    BN_TRY(bn_plan_field(p, &s->state, &(bn_field_desc){ "state", "", BN_T_REAL, 4, BN_STATE | BN_COMPARE | layout }));
    BN_TRY(bn_plan_field(p, &s->next, &(bn_field_desc){ "next_state", "", BN_T_REAL, 4, layout }));
    if (s->listed)
        BN_TRY(bn_plan_field(p, &s->neighbours, &(bn_field_desc){ "neighbours", "", BN_T_I32, 6, 0 }));
    if (!s->listed || s->file)
        BN_TRY(bn_plan_skip_kernel(p, "flood_layouts_list"));
    BN_TRY(bn_plan_define_int(p, "STRUCTURES", s->structures));
    BN_TRY(bn_plan_define_int(p, "LISTED", s->listed));
    BN_TRY(bn_plan_define_int(p, "ANY_CELLS", s->file != NULL));
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
        const size_t cell = p[1] * s->nx + p[0];
        values[row * at] = !s->file ? fmax(0, level - bed) : cell < s->cells ? value_of(s, cell, DEPTH) : 0;
        values[row * at + plane] = values[row * at + 2 * plane] = 0;
        values[row * at + 3 * plane] = !s->file ? bed : cell < s->cells ? value_of(s, cell, BED) : 0;
    }
    return BN_OK;
}

static bn_status init(bn_sim *sim, void *state)
{
    flood_layouts *s = state;
    (void)sim;
    BN_TRY(bn_field_supply(s->state, BN_AS_DOUBLES, fill_state, s));
    if (s->file)
        BN_TRY(bn_field_supply(s->neighbours, BN_OWN_TYPE, fill_neighbours, s));
    return bn_field_copy(s->state, s->next); /* steps leave the bed as it is */
}

static bn_status setup(bn_sim *sim, void *state)
{
    flood_layouts *s = state;
    s->advance = bn_sim_kernel(sim, "flood_layouts_advance");
    return s->listed && !s->file ? BN_RUN(bn_sim_kernel(sim, "flood_layouts_list"), BN_UPDATE(s->neighbours)) : BN_OK;
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

/* The water of the agents' cells, each of several cells of the flood: from the flood to the agents alone, by the list
 * that the file has of it, as the study proposes. */
static bn_status measure(bn_sim *sim, void *state, bn_results *results)
{
    const flood_layouts *s = state;
    size_t agents = 0;
    for (size_t cell = 0; s->file && cell < s->cells; cell++)
        agents = (size_t)fmax((double)agents, 1 + value_of(s, cell, AGENT));
    if (agents == 0)
        return BN_OK;
    const size_t points = (size_t)s->nx * s->ny, step = s->structures ? 4 : 1;
    double *now = malloc(4 * points * sizeof *now), *columns = calloc(4 * agents, sizeof *columns);
    bn_status st = now && columns ? bn_field_get(s->state, now, 4 * points)
                                  : bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for %zu agents' cells", agents);
    double *number = columns, *count = number + agents, *mean = count + agents, *most = mean + agents;
    for (size_t cell = 0; st == BN_OK && cell < s->cells; cell++) {
        if (value_of(s, cell, AGENT) < 0)
            continue;
        const size_t a = (size_t)value_of(s, cell, AGENT);
        count[a]++;
        mean[a] += now[step * cell];
        most[a] = fmax(most[a], now[step * cell]);
    }
    for (size_t a = 0; st == BN_OK && a < agents; a++) {
        number[a] = (double)a;
        mean[a] = count[a] > 0 ? mean[a] / count[a] : (double)NAN;
    }
    if (st == BN_OK)
        st = bn_result_table(results, "agents",
                             (const bn_column[]){ { "agent", "", number },
                                                  { "cells", "", count },
                                                  { "depth, mean", "m", mean },
                                                  { "depth, largest", "m", most } },
                             4, agents);
    free(now);
    free(columns);
    return st;
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
    .measure = measure,
};
