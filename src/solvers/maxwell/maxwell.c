/* maxwell.c: time-harmonic Maxwell equations in three dimensions on a staggered grid, for thin-film solar cells and
 * scatterers (docs/maxwell.md): the case's keys, the plan, the table. */
#include "maxwell.h"

#include "numerics/expression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXCHANGE_GONE                                                                   \
    "its images held coefficients of every cell, which only a published program used; " \
    "layers, boxes and spheres describe the structure"

/* A key is read in one piece. */
/* clang-format off */
static const bn_key schema[] = {
#include "maxwell_keys.def"

    { .name = "structure.map", .type = BN_KEY_TEXT, .def_text = "",
      .help = "refractive index of each cell, over that of its material: numbers of the grid's size (.h5, .tif, .vti, "
              "or memory of the library's caller); NaN: the material's" },

    { .name = "solver.sweep", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(MAXWELL_SWEEPS), .def_text = "auto",
      .help = "H and E in a pass each, cell by cell or in loops along rows, or both in one sweep with a second buffer "
              "of every field: along z, or, several iterations a launch, where work-groups can wait for each other; "
              "auto: rows on a CPU, on a GPU fused above a million cells, one launch on small grids" },
    { .name = "solver.start", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(MAXWELL_STARTS), .def_text = "dark",
      .help = "no field, or that of the planar stack that the structure is on average" },
    { .name = "solver.accelerate", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(MAXWELL_ACCELERATIONS),
      .def_text = "none",
      .help = "anderson: in cycles, go on from the mean of the states in which their changes cancel; takes memory for "
              "all of them" },
    { .name = "solver.depth", .type = BN_KEY_INT, .def = 8, .min = 2, .max = MAXWELL_DEPTH,
      .only = "solver.accelerate=anderson",
      .help = "states of a cycle" },
    { .name = "solver.apart", .type = BN_KEY_INT, .def = 40, .min = 1, .max = 10000,
      .only = "solver.accelerate=anderson",
      .help = "steps between them" },

    { .name = "output.slice", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(MAXWELL_SLICES), .def_text = "auto",
      .help = "plane of the pictures; auto: upright, across the longer side" },
    { .name = "output.slice_at", .type = BN_KEY_REAL, .def = 0.5, .min = 0, .max = 1,
      .help = "its place, as a share of the grid" },
    { .name = "stop.steps", .type = BN_KEY_INT, .def = 50000, .min = 1, .max = HUGE_VAL,
      .help = "the run ends after this many steps; of a sweep each wavelength has so many" },

    { .name = "solver.form", .type = BN_KEY_CHOICE,
      .gone = "coefficients in every cell repeat a published experiment; binnacle bench --suite seed-001 runs it" },
    { .name = "exchange.write", .type = BN_KEY_TEXT, .gone = EXCHANGE_GONE },
    { .name = "exchange.read", .type = BN_KEY_TEXT, .gone = EXCHANGE_GONE },
    { 0 },
};
/* clang-format on */

static const bn_variant variants[] = {
    { "solver.sweep", "two-pass|rows|fused|one-launch", true, NULL },
    { 0 },
};

/* Per cell, in reals: see docs/measurements.md. */
static const bn_kernel_desc kernels[] = {
    { "maxwell_H", BN_PER_CELL, { .reads = 12, .writes = 6, .flops = 84 } },
    { "maxwell_E", BN_PER_CELL, { .reads = 12.75, .writes = 6, .flops = 84 } },
    { "maxwell_H_rows", BN_PER_BLOCK, { .reads = 12, .writes = 6, .flops = 84 } },
    { "maxwell_E_rows", BN_PER_BLOCK, { .reads = 12.75, .writes = 6, .flops = 84 } },
    { "maxwell_E_watched", BN_PER_BLOCK, { .reads = 12.75, .writes = 6, .flops = 104 } },
    { "maxwell_fused", BN_PER_TILE, { .reads = 12.75, .writes = 12, .flops = 184 } },
    { "maxwell_both", BN_SIDE_BY_SIDE, { .reads = 12.75, .writes = 12, .flops = 336 } }, /* of an iteration */
    { "maxwell_anderson_store", BN_PER_CELL, { .reads = 40, .writes = 40, .flops = 20 } },
    { "maxwell_anderson_gram", BN_PER_BLOCK, { .reads = 100, .writes = 0, .flops = 320 } },
    { "maxwell_anderson_gram_sum", BN_ONCE, { 8, 0, 0 } },
    { "maxwell_anderson_update", BN_PER_CELL, { .reads = 160, .writes = 20, .flops = 1120 } },
    { "maxwell_norm", BN_PER_CELL, { .reads = 6, .writes = 1, .flops = 12 } },
    { "maxwell_maxima", BN_ONCE, { 2, 0, 0 } },
    { 0 },
};

/* The constants of the kernels: what is fixed over a run. m: the model, s: the state. */
#define MAXWELL_CONSTANTS(X)                                                                                     \
    X(PML_CELLS, m->pml.cells, "thickness of the absorbing layers")                                              \
    X(PML_BOTTOM, m->pml.bottom, "whether the bottom is an absorbing layer, else a metal wall")                  \
    X(PML_SIDES, m->pml.sides, "whether the sides are absorbing layers, else periodic")                          \
    X(BLOCH, m->light.bloch, "the sides are periodic but for a phase")                                           \
    X(VOLUME, m->light.volume, "E and H are the scattered field, the structure radiates")                        \
    X(CURRENT, m->light.current + m->light.magnetic, "1: the currents of a field radiate, 2: they are magnetic") \
    X(MAGNETIC, m->structure.magnetic, "faces have rows of their own in the table of H")                         \
    X(MAPPED, m->structure.mapped, "edges have rows of their own in the table of E")                             \
    X(SOURCE_PLANE, m->light.volume || m->light.current ? -1 : (long long)m->light.source,                       \
      "plane of E, above which E and H are the scattered field")                                                 \
    X(FUSED, s->config.sweep == MAXWELL_FUSED, "the kernel that advances H and E in one sweep")                  \
    X(ONE_LAUNCH, s->config.sweep == MAXWELL_ONE_LAUNCH, "the kernel that advances H and then E")                \
    X(ANDERSON_DEPTH, s->anderson.on ? s->anderson.depth : 0, "states of a cycle of Anderson's acceleration")    \
    X(GRAM_COLUMNS, MAXWELL_COLUMNS, "differences that a launch multiplies with another one")

/* Whether this case launches a kernel; the others are not built. */
static bool launches(const maxwell *s, const char *kernel)
{
    if (strncmp(kernel, "maxwell_anderson", strlen("maxwell_anderson")) == 0)
        return s->anderson.on;
    if (strcmp(kernel, "maxwell_fused") == 0)
        return s->config.sweep == MAXWELL_FUSED;
    if (strcmp(kernel, "maxwell_both") == 0)
        return s->config.sweep == MAXWELL_ONE_LAUNCH;
    if (strcmp(kernel, "maxwell_H_rows") == 0 || strcmp(kernel, "maxwell_E_rows") == 0)
        return s->config.sweep == MAXWELL_ROWS;
    if (strcmp(kernel, "maxwell_H") == 0 || strcmp(kernel, "maxwell_E") == 0)
        return s->config.sweep !=
               MAXWELL_ROWS; /* also beside other sweeps: in watched steps, and where these can't be */
    return true;
}

static bn_status plan_fields(maxwell *s, bn_plan *p)
{
    maxwell_fields *f = &s->f;
    const unsigned role = BN_STATE | BN_OUTPUT | BN_COMPARE;
    const int parts = s->model.pml.sides ? 3 : 2;
    BN_TRY(bn_plan_field(p, &f->E, &(bn_field_desc){ "E", "V m-1", BN_T_REAL2, 3, role }));
    BN_TRY(bn_plan_field(p, &f->H, &(bn_field_desc){ "Z0H", "V m-1", BN_T_REAL2, 3, role }));
    BN_TRY(bn_plan_field(p, &f->norm, &(bn_field_desc){ "E_norm", "V m-1", BN_T_REAL, 1, BN_OUTPUT | BN_COMPARE }));
    BN_TRY(bn_plan_field(p, &f->index, &(bn_field_desc){ "n", "", BN_T_REAL, 1, BN_OUTPUT }));
    BN_TRY(bn_plan_field(p, &f->part_E, &(bn_field_desc){ "part_E", "V m-1", BN_T_REAL2, parts, BN_STATE }));
    BN_TRY(bn_plan_field(p, &f->part_H, &(bn_field_desc){ "part_H", "V m-1", BN_T_REAL2, parts, BN_STATE }));
    if (s->config.sweep == MAXWELL_FUSED || s->config.sweep == MAXWELL_ONE_LAUNCH) {
        BN_TRY(bn_plan_field(p, &f->E_next, &(bn_field_desc){ "E_next", "V m-1", BN_T_REAL2, 3, 0 }));
        BN_TRY(bn_plan_field(p, &f->H_next, &(bn_field_desc){ "Z0H_next", "V m-1", BN_T_REAL2, 3, 0 }));
        BN_TRY(bn_plan_field(p, &f->part_E_next, &(bn_field_desc){ "part_E_next", "V m-1", BN_T_REAL2, parts, 0 }));
        BN_TRY(bn_plan_field(p, &f->part_H_next, &(bn_field_desc){ "part_H_next", "V m-1", BN_T_REAL2, parts, 0 }));
    }
    if (s->anderson.on)
        BN_TRY(bn_plan_field(
            p, &s->anderson.history,
            &(bn_field_desc){ "history", "", BN_T_REAL2, (s->anderson.depth + 1) * s->anderson.components, BN_STATE }));
    if (s->model.light.magnetic)
        BN_TRY(bn_plan_field(p, &f->current, &(bn_field_desc){ "M", "V m-2", BN_T_REAL2, 3, BN_STATE }));
    else if (s->model.light.current)
        BN_TRY(bn_plan_field(p, &f->current, &(bn_field_desc){ "J", "A m-2", BN_T_REAL2, 3, BN_STATE }));
    const bn_type rows = s->model.structure.mapped ? BN_T_I32 : BN_T_U8;
    if (s->model.structure.magnetic)
        BN_TRY(bn_plan_field(p, &f->faces, &(bn_field_desc){ "faces", "", rows, 3, 0 }));
    return bn_plan_field(p, &f->edges, &(bn_field_desc){ "edges", "", rows, 3, 0 });
}

static bn_status plan_kernels(const maxwell *s, bn_plan *p)
{
    const maxwell_model *m = &s->model;
    BN_TRY(bn_plan_codes(p, BN_CODES(MAXWELL_CONSTANTS)));
    for (const bn_kernel_desc *k = kernels; k->name; k++)
        if (!launches(s, k->name))
            BN_TRY(bn_plan_skip_kernel(p, k->name));
    return m->structure.magnetic ? bn_plan_needs(p, "magnetic materials") : BN_OK;
}

/* The plane of the pictures. */
static void choose_slice(const bn_case *c, const maxwell_model *m, maxwell_picture *picture)
{
    switch ((maxwell_slice)bn_case_choice(c, "output.slice")) {
    case MAXWELL_SLICE_AUTO: picture->across = m->n[0] >= m->n[1]; break;
    case MAXWELL_SLICE_YZ: picture->across = 0; break;
    case MAXWELL_SLICE_XZ: picture->across = 1; break;
    case MAXWELL_SLICE_XY: picture->across = 2; break;
    }
    const double place = bn_case_real(c, "output.slice_at") * m->n[picture->across];
    picture->slice = place >= m->n[picture->across] ? m->n[picture->across] - 1 : (uint32_t)place;
}

void maxwell_write_caption(maxwell *s)
{
    const bool light = s->model.t.wavelength < 1e-5;
    const char *unit = light ? "nm" : "mm";
    const double of_it = light ? 1e9 : 1e3;
    snprintf(s->picture.caption, sizeof s->picture.caption, "slice at %c = %.4g %s, wavelength in vacuum %.6g %s",
             "xyz"[s->picture.across], of_it * (s->picture.slice + 0.5) * s -> model.h, unit,
             of_it * s->model.t.wavelength, unit);
}

/* Where the light comes from, and where the absorbing layers begin. */
static size_t mark_places(const maxwell_model *m, bn_picture_mark *mark)
{
    size_t count = 0;
    if (!m->light.volume && !m->light.current)
        mark[count++] = (bn_picture_mark){ 2, m->light.source * m->h, "source" };
    for (int d = 0; d < 3; d++) {
        if (d == 2 ? m->pml.bottom : m->pml.sides)
            mark[count++] = (bn_picture_mark){ d, m->pml.cells * m->h, "PML" };
        if (d == 2 || m->pml.sides)
            mark[count++] = (bn_picture_mark){ d, (m->n[d] - (uint32_t)m->pml.cells) * m->h, "PML" };
    }
    return count;
}

static bn_status plan_pictures(maxwell *s, bn_plan *p)
{
    uint32_t points = 2;
    for (int d = 0; d < 3; d++)
        if (d != s->picture.across && s->model.n[d] < points)
            points = s->model.n[d];
    if (points < 2) /* a line: the profile tells more */
        return BN_OK;
    static double faces[] = { 1.2, 1.7, 2.4, 3.2 };
    bn_picture_desc picture = { .name = "E",
                                .field = "E_norm",
                                .quantity = "|E|",
                                .title = "|E| and where the index changes",
                                .map = BN_PICTURE_SEQUENTIAL,
                                .contour_field = "n",
                                .contour_quantity = "refractive index n",
                                .contour_outlines = true,
                                .contour_levels = faces,
                                .contour_count = sizeof faces / sizeof *faces,
                                .across = s->picture.across,
                                .at = s->picture.slice,
                                .timeless = true,
                                .caption = s->picture.caption,
                                .marks = s->picture.mark,
                                .mark_count = mark_places(&s->model, s->picture.mark) };
    BN_TRY(bn_plan_picture(p, &picture));
    picture.name = "structure";
    picture.field = "n";
    picture.title = "Refractive index";
    picture.quantity = "refractive index n";
    picture.contour_field = NULL;
    picture.contour_count = 0;
    return bn_plan_picture(p, &picture);
}

static bn_status plan_notes(const maxwell *s, bn_plan *p)
{
    const maxwell_model *m = &s->model;
    double n = 1;
    for (int i = 0; i < m->structure.materials; i++)
        if (m->structure.material[i].used)
            n = fmax(n, fabs(maxwell_index(&m->structure.material[i]).re));
    BN_TRY(bn_plan_note(p, "cells a wavelength in vacuum", m->light.wavelength / m->h, ""));
    BN_TRY(bn_plan_note(p, "in the densest material", m->light.wavelength / (n * m->h), ""));
    BN_TRY(bn_plan_note(p, "steps a period", 6.283185307179586 / (m->t.w * m->courant / sqrt(3.0)), ""));
    if (!m->light.volume && !m->light.current)
        BN_TRY(bn_plan_note(p, "source plane at z", m->light.source * m->h, "m"));
    bn_plan_wants_convergence(p, s->config.epsilon, NULL);
    bn_plan_parts(p, m->light.wavelengths);
    return BN_OK;
}

/* One sweep moves two thirds of the bytes, through a second buffer of every field; its tiles need a million cells to
 * fill a GPU. Small grids, in single and in double precision, take less time than two launches (docs/measurements.md).
 */
static const double one_launch_cells[2] = { 150000, 112000 };
static maxwell_sweep choose_sweep(const bn_case *c, const bn_device_info *device)
{
    double cells = 1;
    for (size_t d = 0; d < 3; d++)
        cells *= (double)bn_case_int_at(c, "grid.cells", d);
    const maxwell_sweep chosen = (maxwell_sweep)bn_case_choice(c, "solver.sweep");
    return chosen != MAXWELL_SWEEP_AUTO                                           ? chosen
           : !device || device->cpu                                               ? MAXWELL_ROWS
           : cells > 1e6                                                          ? MAXWELL_FUSED
           : device->side_by_side && cells <= one_launch_cells[bn_case_double(c)] ? MAXWELL_ONE_LAUNCH
                                                                                  : MAXWELL_TWO_PASS;
}

static void read_solver(const bn_case *c, const bn_device_info *device, maxwell *s)
{
    s->config = (maxwell_config){
        .sweep = choose_sweep(c, device),
        .start = (maxwell_start)bn_case_choice(c, "solver.start"),
        .epsilon = bn_case_real(c, "solver.epsilon"),
        .watch_every = (int)bn_case_int(c, "solver.watch_every"),
        .double_precision = bn_case_double(c),
    };
    s->anderson.on = bn_case_choice(c, "solver.accelerate") == MAXWELL_ANDERSON;
    s->anderson.depth = (int)bn_case_int(c, "solver.depth");
    s->anderson.apart = (int)bn_case_int(c, "solver.apart");
    s->spectrum.most_steps = bn_case_int(c, "stop.steps");
    s->anderson.components = s->model.pml.sides ? 12 : 10;
    const maxwell_light *light = &s->model.light;
    if (s->config.start == MAXWELL_LAYERS &&
        (light->volume || light->current || light->bloch || s->model.structure.mapped))
        (void)bn_case_reject(c, "solver.start", "solver.start = \"dark\"",
                             "the layers' field is known for a plane wave at normal incidence, without a map, alone");
}

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    maxwell *s = state;
    BN_TRY(maxwell_plan_model(c, p, &s->model));
    BN_TRY(maxwell_read_map(c, p, &s->model));
    read_solver(c, bn_plan_device(p), s);
    if (bn_case_diagnostics(c)[0])
        return BN_OK;
    if (s->config.start == MAXWELL_LAYERS) { /* the field begins at its full strength */
        s->model.light.ramp_periods = 0;
        maxwell_set_tables(&s->model);
    }
    choose_slice(c, &s->model, &s->picture);
    maxwell_write_caption(s);
    BN_TRY(plan_fields(s, p));
    BN_TRY(plan_kernels(s, p));
    bn_plan_scales(p, &(bn_plan_scaling){
                          .rate = 24.7e9, .along = 2, .exchanges = 2, .bytes = 24, .face = 60e-6, .one_way = true });
    BN_TRY(maxwell_plan_results(p, s));
    BN_TRY(bn_plan_series(p, "wavelength", "m"));
    BN_TRY(bn_plan_series(p, "E_max", "V m-1"));
    BN_TRY(plan_pictures(s, p));
    if (s->model.light.wavelengths > 1)
        BN_TRY(bn_plan_chart(
            p, &(bn_plan_chart_desc){ .table = "spectrum",
                                      .title = s->model.light.volume ? "Cross sections" : "Where the light goes",
                                      .x_label = "wavelength [nm]",
                                      .y_label = s->model.light.volume ? "cross section [m2]"
                                                                       : "share of the incident power",
                                      .x_scale = 1e9 }));
    return plan_notes(s, p);
}

static bn_status fill_index(void *state, const bn_region *r, void *out)
{
    const maxwell_model *m = &((const maxwell *)state)->model;
    double *values = out;
    for (size_t at = 0; at < bn_region_points(r); at++) {
        size_t p[3];
        bn_region_place(r, at, p);
        const size_t cell = (p[2] * m->n[1] + p[1]) * m->n[0] + p[0];
        maxwell_material of = m->structure.material[m->structure.cell[cell]];
        of.n = maxwell_cell_index(m, cell);
        values[at] = maxwell_index(&of).re;
    }
    return BN_OK;
}

/* Classes of edges or faces; with a map, rows of their tables. */
static bn_status write_rows(bn_sim *sim, bn_field *to, const maxwell_model *m, const uint8_t *class, const int32_t *row)
{
    const size_t count = 3 * maxwell_cells(m);
    if (!m->structure.mapped || row)
        return bn_field_write(to, row ? (const void *)row : class, row ? count * sizeof *row : count);
    int32_t *rows = malloc(count * sizeof *rows);
    if (!rows)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for the rows of %zu faces", count);
    for (size_t i = 0; i < count; i++)
        rows[i] = class[i] * (m->pml.cells + 1);
    const bn_status st = bn_field_write(to, rows, count * sizeof *rows);
    free(rows);
    return st;
}

static const char *const current_keys[3] = { "light.current_x", "light.current_y", "light.current_z" };

/* The case's currents at the places of E, magnetic ones at those of H; in phase with the light. */
typedef struct given_currents {
    const char *text[3];
    const maxwell_model *model;
    bn_context *ctx;
} given_currents;

static bn_status fill_currents(void *user, const bn_region *r, void *to)
{
    const given_currents *g = user;
    const size_t points = bn_region_points(r);
    double *values = to;
    for (size_t c = 0; c < 3; c++)
        for (size_t at = 0; at < points; at++) {
            size_t p[3];
            double place[3], *value = values + 2 * (c * points + at);
            bn_region_place(r, at, p);
            for (size_t d = 0; d < 3; d++)
                place[d] = ((double)p[d] + ((d == c) != g->model->light.magnetic ? 0.5 : 0)) * g->model->h;
            value[0] = value[1] = 0;
            if (!g->text[c][0])
                continue;
            (void)bn_expression(g->text[c], place, value); /* plan() has read it */
            if (!isfinite(value[0]))
                return bn_fail(g->ctx, BN_CASE, "%s = \"%s\" is no number at (%g, %g, %g) m", current_keys[c],
                               g->text[c], place[0], place[1], place[2]);
        }
    return BN_OK;
}

static bn_status set_currents(bn_sim *sim, maxwell *s)
{
    const bn_case *config = bn_sim_case(sim);
    given_currents g = { .model = &s->model, .ctx = bn_sim_context(sim) };
    bool any = false;
    for (size_t c = 0; c < 3; c++) {
        g.text[c] = bn_case_text(config, current_keys[c]);
        any = any || g.text[c][0];
    }
    return any ? bn_field_supply(s->f.current, BN_AS_DOUBLES, fill_currents, &g) : BN_OK;
}

static bn_status init(bn_sim *sim, void *state)
{
    maxwell *s = state;
    BN_TRY(bn_field_supply(s->f.index, BN_AS_DOUBLES, fill_index, s));
    if (s->model.light.current)
        BN_TRY(set_currents(sim, s));
    const maxwell_structure *t = &s->model.structure;
    BN_TRY(write_rows(sim, s->f.edges, &s->model, t->edge, t->row));
    if (t->magnetic)
        BN_TRY(write_rows(sim, s->f.faces, &s->model, t->face, NULL));
    return maxwell_begin_wavelength(sim, s);
}

static const char *const selftest_constants[] = { "PML_SIDES", "BLOCH", "VOLUME", NULL };

const bn_solver bn_solver_maxwell = {
    .name = "maxwell",
    .summary = "time-harmonic Maxwell equations: light in thin-film solar cells",
    .schema = schema,
    .program = "maxwell+maxwell_rows+maxwell_anderson",
    .kernels = kernels,
    .state_size = sizeof(maxwell),
    .device = &maxwell_device,
    .reference = { &bn_maxwell_reference_single, &bn_maxwell_reference_double },
    .plan = plan,
    .init = init,
    .measure = maxwell_measure,
    .serialize = maxwell_serialize,
    .variants = variants,
    .selftest_constants = selftest_constants,
    .map = maxwell_map,
    .gradient = maxwell_gradient,
};
