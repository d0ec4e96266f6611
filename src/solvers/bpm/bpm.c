/* bpm.c: beams along waveguides by Crank-Nicolson steps (docs/bpm.md): the case's keys, the plan, the table. */
#include "bpm.h"

#include <math.h>

#define ITERATION_GONE \
    "it belongs to a published iteration, which elimination replaces; binnacle bench --suite seed-003 runs it"

/* A key is read in one piece. */
/* clang-format off */
static const bn_key schema[] = {
    { .name = "grid.cells", .type = BN_KEY_INT, .def = 500, .min = 8, .max = 16384,
      .help = "intervals between the walls along y; the unknowns stand between them" },
    { .name = "grid.width", .type = BN_KEY_REAL, .unit = "m", .def = 10e-6, .max = 1, .above = true,
      .help = "distance of the walls, y = 0 ... width" },
    { .name = "grid.cells_x", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 16384,
      .help = "the same along x, at least 8; 0: a plane, in which nothing depends on x" },
    { .name = "grid.width_x", .type = BN_KEY_REAL, .unit = "m", .def = 10e-6, .max = 1, .above = true,
      .help = "in space: distance of the walls along x" },
    { .name = "light.wavelength", .type = BN_KEY_REAL, .unit = "m", .def = 1e-6, .max = 1, .above = true,
      .help = "in vacuum" },
    { .name = "light.polarisation", .type = BN_KEY_CHOICE, .choices = "te|tm", .def_text = "te",
      .help = "the field that is marched: E along x, or H along x" },
    { .name = "material.index", .type = BN_KEY_REAL, .def = 1, .min = 0.1, .max = 10,
      .help = "refractive index of the background" },
    { .name = "material.reference_index", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 10,
      .help = "of the plane wave that the field is told relative to; 0: of the launched mode if there are structures, "
              "else the background's" },
    { .name = "material.picture", .type = BN_KEY_TEXT, .def_text = "",
      .help = "PNG picture of the whole grid instead of the background: along z and y (up), in space of the "
              "cross-section; a path, relative to the case file" },
    { .name = "colour.rgb", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 0xffffff, .list = true,
      .help = "a colour of the picture, 0xRRGGBB; every one must be listed" },
    { .name = "colour.index", .type = BN_KEY_REAL, .def = 1, .min = 0.1, .max = 10, .list = true,
      .help = "the refractive index that it stands for" },
    { .name = "colour.absorption", .type = BN_KEY_REAL, .def = 0, .min = -1, .max = 10, .list = true,
      .help = "and its imaginary part" },
    { .name = "structure.kind", .type = BN_KEY_CHOICE,
      .choices = "slab|taper|s-bend|fibre|graded-fibre|y-junction|coupler", .def_text = "slab", .list = true,
      .help = "a guide, of changing width, of changing place, round, round with a parabolic index, splitting into two, "
              "or two beside each other" },
    { .name = "structure.index", .type = BN_KEY_REAL, .def = 1.5, .min = 0.1, .max = 10, .list = true,
      .help = "refractive index; later structures lie over earlier ones" },
    { .name = "structure.absorption", .type = BN_KEY_REAL, .def = 0, .min = -1, .max = 10, .list = true,
      .help = "imaginary part of the index, positive: power decays" },
    { .name = "structure.from", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1e3, .list = true,
      .help = "where it begins along z" },
    { .name = "structure.to", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1e3, .list = true,
      .help = "where it ends; 0: with the grid" },
    { .name = "structure.centre", .type = BN_KEY_REAL, .unit = "m", .def = -1, .min = -1, .max = 1, .list = true,
      .help = "its y; negative: the middle" },
    { .name = "structure.centre_end", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = -1, .max = 1, .list = true,
      .only = "structure.kind=s-bend",
      .help = "of an s-bend: y at its end" },
    { .name = "structure.width", .type = BN_KEY_REAL, .unit = "m", .def = 3e-6, .max = 1, .above = true, .list = true,
      .help = "of each guide" },
    { .name = "structure.centre_x", .type = BN_KEY_REAL, .unit = "m", .def = -1, .min = -1, .max = 1, .list = true,
      .help = "in space: its x; negative: the middle" },
    { .name = "structure.width_x", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1, .list = true,
      .only = "structure.kind!=fibre|graded-fibre",
      .help = "in space: of each guide along x; 0: from wall to wall (fibres are round)" },
    { .name = "structure.width_end", .type = BN_KEY_REAL, .unit = "m", .def = 1e-6, .max = 1, .above = true,
      .list = true, .only = "structure.kind=taper",
      .help = "of a taper: at its end" },
    { .name = "structure.separation", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1, .list = true,
      .only = "structure.kind=y-junction|coupler",
      .help = "of y-junction and coupler: between the middles of the guides, at the begin" },
    { .name = "structure.separation_end", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1, .list = true,
      .only = "structure.kind=y-junction",
      .help = "of a y-junction: at its end; smaller than separation: it combines" },
    { .name = "walls.kind", .type = BN_KEY_CHOICE, .choices = "metal|pml", .def_text = "metal",
      .help = "the marched field is 0 there (TE: perfect conductors), or absorbing layers before them" },
    { .name = "walls.thickness", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1,
      .only = "walls.kind=pml",
      .help = "of the absorbing layers; 0: a tenth of the width" },
    { .name = "walls.strength", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 1e4,
      .only = "walls.kind=pml",
      .help = "imaginary stretching at the wall; 0: 1e-6 of the field comes back at 10 degrees" },
    { .name = "launch.kind", .type = BN_KEY_CHOICE, .choices = "mode|gaussian|plane|file", .def_text = "mode",
      .help = "what enters at z = 0; its largest value is 1" },
    { .name = "launch.file", .type = BN_KEY_TEXT, .def_text = "",
      .only = "launch.kind=file",
      .help = "CSV file of y [m], real and imaginary part; relative to the case file" },
    { .name = "launch.mode", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 10000,
      .help = "number of the mode, 0: the fundamental; also the mode that overlaps are taken with" },
    { .name = "launch.centre", .type = BN_KEY_REAL, .unit = "m", .def = -1, .min = -1, .max = 1,
      .only = "launch.kind=gaussian",
      .help = "y of the Gaussian; negative: the middle" },
    { .name = "launch.centre_x", .type = BN_KEY_REAL, .unit = "m", .def = -1, .min = -1, .max = 1,
      .only = "launch.kind=gaussian",
      .help = "in space: its x" },
    { .name = "launch.waist", .type = BN_KEY_REAL, .unit = "m", .def = 2e-6, .max = 1, .above = true,
      .only = "launch.kind=gaussian",
      .help = "w of exp(-y^2 / w^2)" },
    { .name = "launch.tilt", .type = BN_KEY_REAL, .unit = "rad", .def = 0, .min = -1.5, .max = 1.5,
      .only = "launch.kind=gaussian|plane",
      .help = "of Gaussian and plane wave, towards +y, in material.index" },
    { .name = "launch.relax_dz", .type = BN_KEY_REAL, .unit = "m", .def = 40e-6, .max = 1, .above = true,
      .only = "launch.kind=mode",
      .help = "in space: first step along imaginary z that the mode is sought with; it is divided by 4 four times" },
    { .name = "launch.relax_steps", .type = BN_KEY_INT, .def = 40, .min = 1, .max = 100000,
      .only = "launch.kind=mode",
      .help = "such steps in a step of the simulation" },
    { .name = "launch.relax_tolerance", .type = BN_KEY_REAL, .def = 1e-8, .min = 1e-15, .max = 0.1,
      .only = "launch.kind=mode",
      .help = "change of the effective index in them at which the next, shorter steps follow" },
    { .name = "march.length", .type = BN_KEY_REAL, .unit = "m", .def = 100e-6, .max = 1e3, .above = true,
      .help = "along z" },
    { .name = "march.dz", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1,
      .help = "step, rounded so that a whole number fits, in space an even one; 0: a cell's width over pi" },
    { .name = "march.records", .type = BN_KEY_INT, .def = 200, .min = 1, .max = 100000,
      .help = "steps of the simulation: so often the field is looked at; many along z lie between, in one launch" },
    { .name = "march.theta", .type = BN_KEY_REAL, .def = 0.5, .min = 0.5, .max = 1,
      .help = "weight of the new layer; 1/2: Crank-Nicolson, which keeps the power" },
    { .name = "march.wide_angle", .type = BN_KEY_BOOL, .def = 0, .help = "Pade (1,1) instead of paraxial" },
    { .name = "batch.count", .type = BN_KEY_INT, .def = 1, .min = 1, .max = 65536,
      .help = "beams side by side in one run; maps and series show the first" },
    { .name = "batch.wavelength", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = 0, .max = 1,
      .help = "of the first and of the last beam; 0: light.wavelength" },
    { .name = "batch.offset", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = -1, .max = 1,
      .help = "added to launch.centre, first and last" },
    { .name = "batch.index", .type = BN_KEY_REAL, .count = 2, .def = 0, .min = -5, .max = 5,
      .help = "added to the index of all structures, first and last" },
    { .name = "port.from", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1, .list = true,
      .help = "the power between two y is told" },
    { .name = "port.to", .type = BN_KEY_REAL, .unit = "m", .def = 1, .min = 0, .max = 1, .list = true,
      .help = "its end" },
    { .name = "solver.method", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(BPM_METHODS), .def_text = "direct",
      .help = "elimination in one work-group, thousands of steps a launch; or transforms" },
    { .name = "solver.tau", .type = BN_KEY_CHOICE, .gone = ITERATION_GONE },
    { .name = "solver.tolerance", .type = BN_KEY_REAL, .gone = ITERATION_GONE },
    { .name = "solver.sweeps", .type = BN_KEY_INT, .gone = ITERATION_GONE },
    { .name = "solver.chunk", .type = BN_KEY_INT, .def = 0, .min = 0, .max = BPM_CHUNK_MAX,
      .only = "solver.method=direct",
      .help = "unknowns of the direct solver in one work-item; 0: as many as 256 work-items need, more if dz is long" },
    { .name = "output.map", .type = BN_KEY_BOOL, .def = 1, .help = "keep the intensity in y and z, as a picture" },
    { .name = "output.series_every", .type = BN_KEY_INT, .def = 1, .min = 1, .max = HUGE_VAL,
      .help = "steps between lines of series.csv" },
    { 0 },
};
/* clang-format on */

/* How many unknowns a work-item eliminates, and so how much local memory a line takes. The bits follow. */
static bool is_direct(const bn_case *c) { return bn_case_choice(c, "solver.method") == BPM_DIRECT; }
static const bn_variant variants[] = { { "solver.chunk", "0|5|7|9|11|15", false, is_direct }, { 0 } };

static const bn_kernel_desc kernels[] = {
    { "bpm_march", BN_PER_ROW, { .reads = 5, .writes = 2, .flops = 60 } },
    { 0 },
};

static bn_status read_case(const bn_case *c, bpm *s)
{
    const uint32_t cells = (uint32_t)bn_case_int(c, "grid.cells"), cells_x = (uint32_t)bn_case_int(c, "grid.cells_x");
    s->width = bn_case_real(c, "grid.width");
    s->h = s->width / cells;
    s->beams = (uint32_t)bn_case_int(c, "batch.count");
    s->space = cells_x > 0;
    s->n = s->space ? cells_x - 1 : cells - 1;
    s->rows = s->space ? cells - 1 : s->beams;
    if (s->space && cells_x < 8)
        return bn_case_reject(c, "grid.cells_x", "0: a plane", "%u cells are too few", cells_x);
    const double width_x = bn_case_real(c, "grid.width_x");
    s->axis[0] = (bpm_axis){ .n = s->n, .lines = s->rows, .h = width_x / (s->space ? cells_x : 1), .width = width_x };
    s->axis[1] = (bpm_axis){ .n = s->rows, .lines = s->n, .h = s->h, .width = s->width };
    s->length = bn_case_real(c, "march.length");
    s->method = (bpm_method)bn_case_choice(c, "solver.method");
    /* In space two steps are a symmetric pair; an odd one left at the end would spoil reciprocity. */
    const double whole = s->space && s->method == BPM_DIRECT ? 2 : 1, dz = bn_case_real(c, "march.dz"),
                 steps = whole * round(s->length / (dz > 0 ? dz : s->h / 3.14159265358979323846) / whole);
    if (steps > 1e9)
        return bn_case_reject(c, "march.dz", NULL, "%.3g steps along z are too many", steps);
    s->steps = (size_t)fmax(steps, whole);
    s->dz = s->length / (double)s->steps;
    const size_t records = (size_t)bn_case_int(c, "march.records");
    s->per_record = (s->steps + records - 1) / records;
    s->room = (s->steps + s->per_record - 1) / s->per_record + 1;
    s->tm = bn_case_choice(c, "light.polarisation") == 1;
    s->wide_angle = bn_case_bool(c, "march.wide_angle");
    s->single = !bn_case_double(c);
    s->theta = bn_case_real(c, "march.theta");
    s->background = bn_case_real(c, "material.index");
    s->reference = bn_case_real(c, "material.reference_index");
    s->wavelength = bn_case_real(c, "light.wavelength");
    s->launch = (bpm_launch)bn_case_choice(c, "launch.kind");
    s->mode = (int)bn_case_int(c, "launch.mode");
    s->centre = bn_case_real(c, "launch.centre");
    s->centre = s->centre >= 0 ? s->centre : 0.5 * s->width;
    s->waist = bn_case_real(c, "launch.waist");
    s->tilt = bn_case_real(c, "launch.tilt");
    s->pml = bn_case_choice(c, "walls.kind") == 1;
    s->pml_thickness = bn_case_real(c, "walls.thickness");
    s->pml_thickness = s->pml_thickness > 0 ? s->pml_thickness : 0.1 * s->width;
    s->lossy = s->pml;
    const double narrowest = s->space ? fmin(s->width, width_x) : s->width;
    if (s->pml && 2 * s->pml_thickness >= narrowest)
        bn_case_reject(c, "walls.thickness", NULL, "the absorbing layers leave nothing of the %g m between the walls",
                       narrowest);
    s->ports = bn_case_items(c, "port");
    if (s->ports > BPM_PORTS)
        return bn_case_reject(c, "port.from", NULL, "there may be at most %d ports", (int)BPM_PORTS);
    for (size_t i = 0; i < s->ports; i++) {
        s->port_from[i] = bn_case_item_real(c, "port.from", i);
        s->port_to[i] = bn_case_item_real(c, "port.to", i);
        if (s->port_to[i] <= s->port_from[i])
            bn_case_reject_item(c, "port.to", i, NULL, "ends at y = %g m, before it begins at %g m", s->port_to[i],
                                s->port_from[i]);
    }
    return bpm_read_structures(c, s);
}

static bn_status choose_chunks(const bn_case *c, bpm *s)
{
    const int wish = (int)bn_case_int(c, "solver.chunk");
    for (int d = 0; d < (s->space ? 2 : 1); d++) {
        const int n = (int)(d ? s->rows : s->n), least = (n + 511) / 512;
        if (wish > 0 && wish < least)
            return bn_case_reject(c, "solver.chunk", NULL,
                                  "%d unknowns in more than 512 chunks do not fit into local memory; take %d or more",
                                  n, least);
    }
    s->chunk = wish > 0 ? wish : bpm_good_chunk(s, (int)s->n, s->space ? s->axis[0].h : s->h);
    s->chunks = ((int)s->n + s->chunk - 1) / s->chunk;
    return BN_OK;
}

static bn_status read_launch_file(const bn_case *c, bn_plan *p, bpm *s)
{
    if (s->launch != BPM_LAUNCH_FILE)
        return BN_OK;
    BN_TRY(bn_plan_numbers(p, c, bn_case_text(c, "launch.file"), &s->file));
    if (!s->file)
        return bn_case_reject(c, "launch.file", NULL, "there is no such file");
    if (s->file->columns < 2 || s->file->rows < 2)
        return bn_case_reject(c, "launch.file", NULL, "two columns and two rows are needed: y, real part");
    for (size_t k = 0; k < s->file->rows * s->file->columns; k++)
        if (!isfinite(s->file->values[k]))
            return bn_case_reject(c, "launch.file", NULL, "row %zu has an empty place", k / s->file->columns + 1);
    for (size_t k = 1; k < s->file->rows; k++)
        if (!(s->file->values[k * s->file->columns] > s->file->values[(k - 1) * s->file->columns]))
            return bn_case_reject(c, "launch.file", NULL, "y does not rise from row %zu to the next", k);
    return BN_OK;
}

static bn_status read_batch(const bn_case *c, bn_plan *p, bpm *s)
{
    void *memory;
    BN_TRY(bn_plan_allocate(p, s->beams * sizeof *s->beam, &memory));
    s->beam = memory;
    static const char *const keys[3] = { "batch.wavelength", "batch.offset", "batch.index" };
    for (size_t beam = 0; beam < s->beams; beam++)
        for (size_t k = 0; k < 3; k++) {
            double from = bn_case_real_at(c, keys[k], 0), to = bn_case_real_at(c, keys[k], 1);
            if (k == 0) {
                from = from > 0 ? from : s->wavelength;
                to = to > 0 ? to : s->wavelength;
            }
            s->beam[beam][k] = from + (to - from) * (s->beams > 1 ? (double)beam / (s->beams - 1) : 0);
        }
    return BN_OK;
}

static bn_status keep(bn_plan *p, size_t count, double **out)
{
    void *memory;
    BN_TRY(bn_plan_allocate(p, count * sizeof **out, &memory));
    *out = memory;
    return BN_OK;
}

static bn_status keep_pairs(bn_plan *p, size_t count, double _Complex **out)
{
    double *memory;
    BN_TRY(keep(p, 2 * count, &memory));
    *out = (double _Complex *)(void *)memory;
    return BN_OK;
}

static bn_status keep_memory(const bn_case *c, bn_plan *p, bpm *s)
{
    const size_t points = (size_t)s->n * s->rows;
    void *memory;
    s->op.n = s->n;
    s->map_n = s->space ? s->rows : s->n;
    BN_TRY(keep_pairs(p, s->n, &s->op.w));
    BN_TRY(keep_pairs(p, s->n + 1, &s->op.m));
    BN_TRY(keep_pairs(p, s->n, &s->op.index2));
    double **pairs[] = { &s->mode_field, &s->start_field, &s->field, &s->r, &s->v, &s->s };
    for (size_t i = 0; !s->space && i < sizeof pairs / sizeof *pairs; i++)
        BN_TRY(keep(p, 2 * points, pairs[i]));
    double **each[] = { &s->n_eff, &s->start_power, &s->mode_power, &s->theory };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        BN_TRY(keep(p, s->beams, each[i]));
    BN_TRY(keep(p, 2 * s->beams, &s->factor));
    if (bn_case_bool(c, "output.map"))
        BN_TRY(keep(p, s->room * s->map_n, &s->map));
    BN_TRY(bn_plan_allocate(p, s->room * sizeof *s->record, &memory));
    s->record = memory;
    return BN_OK;
}

/* psi is divided by a scaling where there are absorbing layers or TM; `envelope` is what files have: room for the steps
 * to work in, and the field itself whenever it is looked at. */
static bn_status plan_psi(bn_plan *p)
{
    BN_TRY(bn_plan_field(p, &(bn_field_desc){ "psi", "", BN_T_REAL2, 1, BN_STATE | BN_COMPARE }));
    return bn_plan_field(p, &(bn_field_desc){ "envelope", "", BN_T_REAL2, 1, BN_OUTPUT });
}

static bn_status plan_fft_fields(bn_plan *p)
{
    static const char *const names[] = { "half", "spectrum" };
    for (size_t i = 0; i < 2; i++)
        BN_TRY(bn_plan_field(p, &(bn_field_desc){ names[i], "", BN_T_REAL2, 1, 0 }));
    return BN_OK;
}

/* In space: the cross-section. What the steps need beside psi lies in fields of each direction's own. */
static bn_status plan_space_fields(const bpm *s, bn_plan *p)
{
    const bool guides = s->structures > 0 || s->picture;
    BN_TRY(bn_plan_grid(p, &(bn_grid){ .dims = 2,
                                       .n = { s->n, s->rows, 1 },
                                       .h = { s->axis[0].h, s->h, 1 },
                                       .origin = { s->axis[0].h, s->h },
                                       .nodes = true }));
    BN_TRY(plan_psi(p));
    /* A mode that was sought is kept in checkpoints; anything else is made anew. */
    const unsigned kept = s->launch == BPM_LAUNCH_MODE ? BN_STATE : 0;
    BN_TRY(bn_plan_field(p, &(bn_field_desc){ "start", "", BN_T_REAL2, 1, kept }));
    BN_TRY(bn_plan_field(p, &(bn_field_desc){ "intensity", "", BN_T_REAL, 1, BN_OUTPUT }));
    BN_TRY(bn_plan_field(p, &(bn_field_desc){ "index", "", BN_T_REAL, 1, BN_OUTPUT }));
    if (s->method == BPM_FFT)
        BN_TRY(plan_fft_fields(p));
    BN_TRY(bn_plan_skip_kernel(p, "bpm_march"));
    bn_plan_whole_rows(p);
    BN_TRY(bn_plan_define_int(p, "CHUNK", s->axis[0].chunk));
    BN_TRY(bn_plan_define_int(p, "CHUNKS", s->axis[0].chunks));
    BN_TRY(bn_plan_define_int(p, "LOSSY", s->lossy));
    BN_TRY(bn_plan_define_int(p, "METHOD", s->method == BPM_FFT ? 3 : 2));
    BN_TRY(bn_plan_choice(p, "steps along z by", s->method == BPM_FFT ? "transforms" : "elimination along x and y"));
    return bn_plan_picture(p, &(bn_picture_desc){ .name = "cross-section",
                                                  .field = "intensity",
                                                  .title = "Intensity across the beam",
                                                  .quantity = "|E|²",
                                                  .map = BN_PICTURE_SEQUENTIAL,
                                                  .contour_field = guides ? "index" : NULL,
                                                  .contour_quantity = "refractive index",
                                                  .contour_levels = guides ? &s->outline : NULL,
                                                  .contour_count = guides,
                                                  .timeless = true });
}

static bn_status plan_fields(const bpm *s, bn_plan *p)
{
    /* x of the grid is y of the beams; its y counts beams. */
    BN_TRY(bn_plan_grid(
        p, &(bn_grid){
               .dims = 2, .n = { s->n, s->beams, 1 }, .h = { s->h, s->h, 1 }, .origin = { s->h }, .nodes = true }));
    BN_TRY(plan_psi(p));
    if (s->method == BPM_DIRECT)
        bn_plan_whole_rows(p);
    if (s->method == BPM_FFT)
        BN_TRY(plan_fft_fields(p));
    else
        BN_TRY(bn_plan_field(p, &(bn_field_desc){ "r", "", BN_T_REAL2, 1, 0 }));
    if (s->method != BPM_FFT)
        BN_TRY(bn_plan_field(p, &(bn_field_desc){ "v", "", s->lossy ? BN_T_REAL2 : BN_T_REAL, 1, 0 }));
    BN_TRY(bn_plan_define_int(p, "CHUNK", s->chunk));
    BN_TRY(bn_plan_define_int(p, "CHUNKS", s->chunks));
    BN_TRY(bn_plan_define_int(p, "LOSSY", s->lossy));
    return bn_plan_define_int(p, "METHOD", s->method == BPM_FFT ? 3 : s->method);
}

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    static const char *const names[][2] = { { "power", "" },        { "overlap_start", "" }, { "overlap_mirror", "" },
                                            { "overlap_mode", "" }, { "centre", "m" },       { "beam_width", "m" } };
    bpm *s = state;
    BN_TRY(read_case(c, s));
    BN_TRY(bpm_read_picture(c, p, s));
    BN_TRY(read_launch_file(c, p, s));
    BN_TRY(read_batch(c, p, s));
    BN_TRY(choose_chunks(c, s));
    if (s->method == BPM_FFT)
        BN_TRY(bpm_plan_fft(c, p, s));
    if (s->space)
        BN_TRY(bpm_plan_space(c, p, s));
    BN_TRY(keep_memory(c, p, s));
    s->outline = 0.5 * (s->background + bpm_highest_index(s));
    BN_TRY(s->space ? bpm_start_space(c, p, s) : bpm_make_start(c, s));
    s->pml_strength = bn_case_real(c, "walls.strength");
    if (s->pml_strength == 0) /* decay exp(-2 k sin(10 degrees) strength thickness / 3) there and back */
        s->pml_strength = 1.5 * log(1e6) / (bpm_k0(s, 0) * s->reference * sin(0.1745) * s->pml_thickness);
    for (size_t beam = 0; beam < s->beams; beam++) {
        double _Complex a, b;
        bpm_step_weights(s, beam, &a, &b);
        s->factor[2 * beam] = creal((a - b) / a);
        s->factor[2 * beam + 1] = cimag((a - b) / a);
    }
    if (s->space) {
        BN_TRY(plan_space_fields(s, p));
    } else {
        bpm_make_section(s, 0);
        BN_TRY(plan_fields(s, p));
        if (s->method == BPM_FFT)
            BN_TRY(bn_plan_skip_kernel(p, "bpm_march"));
        BN_TRY(bn_plan_choice(p, "steps along z by", s->method == BPM_FFT ? "transforms" : "elimination"));
    }
    BN_TRY(bpm_plan_results(s, p));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        BN_TRY(bn_plan_series(p, names[i][0], names[i][1]));
    if (s->space)
        BN_TRY(bn_plan_series(p, "n_eff", ""));
    BN_TRY(bn_plan_note(p, "steps along z", (double)s->steps, ""));
    BN_TRY(bn_plan_note(p, "of length", s->dz, "m"));
    if (!s->relaxing)
        BN_TRY(bn_plan_note(p, "reference index", s->reference, ""));
    if (isfinite(s->n_eff[0]))
        BN_TRY(bn_plan_note(p, "index of the mode", s->n_eff[0], ""));
    bn_plan_steps(p, (double)(s->room - 1));
    return BN_OK;
}

static bn_status init(bn_sim *sim, void *state)
{
    bpm *s = state;
    s->psi = bn_sim_field(sim, "psi");
    s->work = bn_sim_field(sim, "envelope");
    s->done = s->records = 0;
    if (s->method == BPM_FFT) {
        s->half = bn_sim_field(sim, "half");
        s->spectrum = bn_sim_field(sim, "spectrum");
    }
    if (s->space) { /* the rest once the engine has its own fields */
        s->start = bn_sim_field(sim, "start");
        s->intensity = bn_sim_field(sim, "intensity");
        s->index = bn_sim_field(sim, "index");
        return BN_OK;
    }
    if (s->method == BPM_FFT)
        return bpm_begin(sim, s);
    s->r_field = bn_sim_field(sim, "r");
    s->v_field = bn_sim_field(sim, "v");
    return bpm_begin(sim, s);
}

/* Everything agrees bit for bit, but for what the libraries of transforms do. */
static double tolerance(const bn_case *c, const char *field)
{
    (void)field;
    return bn_case_choice(c, "solver.method") == BPM_FFT ? (bn_case_double(c) ? 1e-11 : 1e-3) : 0;
}

const bn_solver bn_solver_bpm = {
    .name = "bpm",
    .summary = "light along waveguides: beam propagation by Crank-Nicolson",
    .schema = schema,
    .kernels = kernels,
    .state_size = sizeof(bpm),
    .device = &bpm_device,
    .reference = { &bn_bpm_reference_single, &bn_bpm_reference_double },
    .plan = plan,
    .init = init,
    .measure = bpm_measure,
    .serialize = bpm_serialize,
    .variants = variants,
    .tolerance = tolerance,
    .along = "z",
    .along_unit = "m",
};
