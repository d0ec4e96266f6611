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
    { .name = "light.polarisation", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(BPM_POLARISATIONS), .def_text = "te",
      .help = "the field that is propagated: E along x, or H along x" },
    { .name = "material.index", .type = BN_KEY_REAL, .def = 1, .min = 0.1, .max = 10,
      .help = "refractive index of the background" },
    { .name = "material.reference_index", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 10,
      .help = "of the plane wave that the envelope is relative to; 0: of the launched mode if there are structures, "
              "else the background's" },
    { .name = "material.picture", .type = BN_KEY_TEXT, .def_text = "",
      .help = "PNG picture of the whole grid instead of the background: along z and y (up), in space of the "
              "cross-section; a path, relative to the case file" },
    { .name = "material.map", .type = BN_KEY_TEXT, .def_text = "",
      .help = "refractive indices in the place of the picture, as numbers: .h5, .tif, .vti, or memory of the library's "
              "caller; first the lowest y, along z (in space along x)" },
    { .name = "colour.rgb", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 0xffffff, .list = true,
      .help = "a colour of the picture, 0xRRGGBB; every one must be listed" },
    { .name = "colour.index", .type = BN_KEY_REAL, .def = 1, .min = 0.1, .max = 10, .list = true,
      .help = "the refractive index that it stands for" },
    { .name = "colour.absorption", .type = BN_KEY_REAL, .def = 0, .min = -1, .max = 10, .list = true,
      .help = "and its imaginary part" },
    { .name = "structure.kind", .type = BN_KEY_CHOICE,
      .choices = BN_CHOICES(BPM_SHAPES), .def_text = "slab", .list = true,
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
    { .name = "walls.kind", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(BPM_WALLS), .def_text = "metal",
      .help = "the propagated field is 0 there (TE: perfect conductors), or absorbing layers before them" },
    { .name = "walls.thickness", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1,
      .only = "walls.kind=pml",
      .help = "of the absorbing layers; 0: a tenth of the width" },
    { .name = "walls.strength", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 1e4,
      .only = "walls.kind=pml",
      .help = "imaginary stretching at the wall; 0: 1e-6 of the field comes back at 10 degrees" },
    { .name = "launch.kind", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(BPM_LAUNCHES), .def_text = "mode",
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
      .help = "steps of the simulation, each of many steps along z in one launch; results are recorded after each" },
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
      .help = "a result is the power between two y" },
    { .name = "port.to", .type = BN_KEY_REAL, .unit = "m", .def = 1, .min = 0, .max = 1, .list = true,
      .help = "its end" },
    { .name = "solver.method", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(BPM_SOLVERS), .def_text = "direct",
      .help = "elimination in one work-group, thousands of steps a launch; or transforms" },
    { .name = "solver.tau", .type = BN_KEY_CHOICE, .gone = ITERATION_GONE },
    { .name = "solver.tolerance", .type = BN_KEY_REAL, .gone = ITERATION_GONE },
    { .name = "solver.sweeps", .type = BN_KEY_INT, .gone = ITERATION_GONE },
    { .name = "solver.chunk", .type = BN_KEY_INT, .def = 0, .min = 0, .max = BPM_CHUNK_MAX,
      .only = "solver.method=direct",
      .help = "unknowns of the direct solver in one work-item; 0: as many as 256 work-items need, fewer in long lines "
              "of a beam in space, more if dz is long" },
    { .name = "solver.launches", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(BN_LAUNCHES), .def_text = "auto",
      .only = "solver.method=direct",
      .help = "of steps in space: one for many where work-groups can wait for each other and the cross-section is "
              "small and square, or several; the same bits" },
    { .name = "output.map", .type = BN_KEY_BOOL, .def = 1, .help = "keep the intensity in y and z, as a picture" },
    { .name = "output.series_every", .type = BN_KEY_INT, .def = 1, .min = 1, .max = HUGE_VAL,
      .help = "steps between lines of series.csv" },
    { 0 },
};
/* clang-format on */

/* The unknowns of a work-item decide how much local memory a line takes, and the last bits of results. */
static bool is_direct(const bn_case *c) { return bn_case_choice(c, "solver.method") == BPM_DIRECT; }
static const bn_variant variants[] = { { "solver.chunk", "0|5|7|9|11|15", false, is_direct }, { 0 } };

static const bn_kernel_desc kernels[] = {
    { "bpm_crank_nicolson", BN_PER_ROW, { .reads = 5, .writes = 2, .flops = 60 } },
    { 0 },
};

static bn_status read_grid(const bn_case *c, bpm *s)
{
    const uint32_t cells = (uint32_t)bn_case_int(c, "grid.cells"), cells_x = (uint32_t)bn_case_int(c, "grid.cells_x");
    const double width_x = bn_case_real(c, "grid.width_x");
    const bool space = cells_x > 0;
    bpm_config *g = &s->c;
    if (space && cells_x < 8)
        return bn_case_reject(c, "grid.cells_x", "0: a plane", "%u cells are too few", cells_x);
    s->geometry = space ? &bpm_space_geometry : &bpm_plane_geometry;
    g->axes = space ? 2 : 1;
    g->solver = (bpm_solver)bn_case_choice(c, "solver.method");
    g->launches = (bn_launches)bn_case_choice(c, "solver.launches");
    g->width = bn_case_real(c, "grid.width");
    g->h = g->width / cells;
    g->beams = (uint32_t)bn_case_int(c, "batch.count");
    g->n = space ? cells_x - 1 : cells - 1;
    g->rows = space ? cells - 1 : g->beams;
    const bpm_axis y = { .n = cells - 1, .lines = space ? g->n : g->beams, .h = g->h, .width = g->width };
    const bpm_axis x = { .n = g->n, .lines = g->rows, .h = width_x / (space ? cells_x : 1), .width = width_x };
    s->axis[0] = space ? x : y;
    s->axis[1] = y;
    g->length = bn_case_real(c, "march.length");
    /* By elimination in space two steps are a symmetric pair; an odd one left at the end would spoil reciprocity. */
    const double whole = space && g->solver == BPM_DIRECT ? 2 : 1, dz = bn_case_real(c, "march.dz"),
                 steps = whole * round(g->length / (dz > 0 ? dz : g->h / BPM_PI) / whole);
    if (steps > 1e9)
        return bn_case_reject(c, "march.dz", NULL, "%.3g steps along z are too many", steps);
    const size_t records = (size_t)bn_case_int(c, "march.records");
    g->steps = (size_t)fmax(steps, whole);
    g->dz = g->length / (double)g->steps;
    g->per_record = (g->steps + records - 1) / records;
    s->history.capacity = (g->steps + g->per_record - 1) / g->per_record + 1;
    s->history.map_n = y.n;
    return BN_OK;
}

static bn_status read_ports(const bn_case *c, bpm_history *m)
{
    m->ports = bn_case_items(c, "port");
    if (m->ports > BPM_PORTS)
        return bn_case_reject(c, "port.from", NULL, "there may be at most %d ports", (int)BPM_PORTS);
    for (size_t i = 0; i < m->ports; i++) {
        m->port_from[i] = bn_case_item_real(c, "port.from", i);
        m->port_to[i] = bn_case_item_real(c, "port.to", i);
        if (m->port_to[i] <= m->port_from[i])
            bn_case_reject_item(c, "port.to", i, NULL, "ends at y = %g m, before it begins at %g m", m->port_to[i],
                                m->port_from[i]);
    }
    return BN_OK;
}

static bn_status read_case(const bn_case *c, bpm *s)
{
    bpm_config *g = &s->c;
    bpm_launch *l = &s->launch;
    BN_TRY(read_grid(c, s));
    g->tm = bn_case_choice(c, "light.polarisation") == BPM_TM;
    g->wide_angle = bn_case_bool(c, "march.wide_angle");
    g->single = !bn_case_double(c);
    g->theta = bn_case_real(c, "march.theta");
    g->background = bn_case_real(c, "material.index");
    g->reference = bn_case_real(c, "material.reference_index");
    g->wavelength = bn_case_real(c, "light.wavelength");
    l->kind = (bpm_launch_kind)bn_case_choice(c, "launch.kind");
    l->mode = (int)bn_case_int(c, "launch.mode");
    l->centre = bn_case_real(c, "launch.centre");
    l->centre = l->centre >= 0 ? l->centre : 0.5 * g->width;
    l->waist = bn_case_real(c, "launch.waist");
    l->tilt = bn_case_real(c, "launch.tilt");
    g->pml = bn_case_choice(c, "walls.kind") == BPM_PML;
    g->pml_thickness = bn_case_real(c, "walls.thickness");
    g->pml_thickness = g->pml_thickness > 0 ? g->pml_thickness : 0.1 * g->width;
    g->lossy = g->pml;
    const double narrowest = fmin(g->width, s->axis[0].width);
    if (g->pml && 2 * g->pml_thickness >= narrowest)
        bn_case_reject(c, "walls.thickness", NULL, "the absorbing layers leave nothing of the %g m between the walls",
                       narrowest);
    BN_TRY(read_ports(c, &s->history));
    return bpm_read_structures(c, s);
}

static bn_status choose_chunks(const bn_case *c, bpm *s)
{
    const int wish = (int)bn_case_int(c, "solver.chunk");
    for (int d = 0; d < s->c.axes; d++) {
        bpm_axis *a = &s->axis[d];
        const int n = (int)a->n, least = bpm_least_chunk(s, n);
        if (wish > 0 && wish < least)
            return bn_case_reject(
                c, "solver.chunk", NULL,
                "local memory does not hold the ends of so many chunks of %d unknowns; take %d or more", n, least);
        a->chunk = wish > 0 ? wish : bpm_good_chunk(s, n, a->h);
        a->chunks = (n + a->chunk - 1) / a->chunk;
        a->piece = a->n;
    }
    return BN_OK;
}

static bn_status read_launch_file(const bn_case *c, bn_plan *p, bpm *s)
{
    if (s->launch.kind != BPM_LAUNCH_FILE)
        return BN_OK;
    BN_TRY(bn_plan_input(p, c, &(bn_input_desc){ .kind = BN_INPUT_TABLE, .key = "launch.file" }, &s->launch.file));
    if (!s->launch.file)
        return bn_case_reject(c, "launch.file", NULL, "there is no such file");
    if (s->launch.file->columns < 2 || s->launch.file->rows < 2)
        return bn_case_reject(c, "launch.file", NULL, "two columns and two rows are needed: y, real part");
    for (size_t k = 0; k < s->launch.file->rows * s->launch.file->columns; k++)
        if (!isfinite(s->launch.file->values[k]))
            return bn_case_reject(c, "launch.file", NULL, "row %zu has an empty place",
                                  k / s->launch.file->columns + 1);
    for (size_t k = 1; k < s->launch.file->rows; k++)
        if (!(s->launch.file->values[k * s->launch.file->columns] >
              s->launch.file->values[(k - 1) * s->launch.file->columns]))
            return bn_case_reject(c, "launch.file", NULL, "y does not rise from row %zu to the next", k);
    return BN_OK;
}

static bn_status read_batch(const bn_case *c, bn_plan *p, bpm *s)
{
    void *memory;
    BN_TRY(bn_plan_allocate(p, s->c.beams * sizeof *s->beam, &memory));
    s->beam = memory;
    static const char *const keys[3] = { "batch.wavelength", "batch.offset", "batch.index" };
    for (size_t beam = 0; beam < s->c.beams; beam++)
        for (size_t k = 0; k < 3; k++) {
            double *const members[3] = { &s->beam[beam].wavelength, &s->beam[beam].offset, &s->beam[beam].index };
            double from = bn_case_real_at(c, keys[k], 0), to = bn_case_real_at(c, keys[k], 1);
            if (k == 0) {
                from = from > 0 ? from : s->c.wavelength;
                to = to > 0 ? to : s->c.wavelength;
            }
            *members[k] = from + (to - from) * (s->c.beams > 1 ? (double)beam / (s->c.beams - 1) : 0);
        }
    return BN_OK;
}

bn_status bpm_allocate(bn_plan *p, size_t count, double **out)
{
    void *memory;
    BN_TRY(bn_plan_allocate(p, count * sizeof **out, &memory));
    *out = memory;
    return BN_OK;
}

bn_status bpm_allocate_pairs(bn_plan *p, size_t count, double _Complex **out)
{
    double *memory;
    BN_TRY(bpm_allocate(p, 2 * count, &memory));
    *out = (double _Complex *)(void *)memory;
    return BN_OK;
}

bn_status bpm_allocate_operator(bn_plan *p, bpm_axis *a)
{
    a->op.n = a->n;
    BN_TRY(bpm_allocate_pairs(p, a->n, &a->op.w));
    BN_TRY(bpm_allocate_pairs(p, a->n + 1, &a->op.m));
    BN_TRY(bpm_allocate_pairs(p, a->n, &a->op.balance));
    BN_TRY(bpm_allocate_pairs(p, a->n, &a->op.middle));
    return bpm_allocate_pairs(p, a->n, &a->op.index2);
}

bn_status bpm_plan_psi(bn_plan *p, bpm *s)
{
    BN_TRY(bn_plan_field(p, &s->psi, &(bn_field_desc){ "psi", "", BN_T_REAL2, 1, BN_STATE | BN_COMPARE }));
    return bn_plan_field(p, &s->work, &(bn_field_desc){ "envelope", "", BN_T_REAL2, 1, BN_OUTPUT });
}

/* Lines that a work-group of a cross-section takes side by side, as many as its work-items have chunks for, and how
 * many its local memory holds: as many as fill what memory writes at once, or those alone. 0: not even one fits. */
typedef struct group_lines {
    int side_by_side, held;
} group_lines;

static group_lines choose_lines(const bpm *s, const bpm_axis *a, const bn_device_info *device)
{
    /* What every device has, or what GPUs of NVIDIA allow a work-group where there is as much; some is the compilers'.
     */
    enum { EVERYWHERE = 32 << 10, MOST = 48 << 10, COMPILERS = 64 };
    const bool more = device && device->local_bytes >= MOST;
    const double room = (more ? MOST : EVERYWHERE) - COMPILERS, real = s->c.single ? 4 : 8, v = s->c.lossy ? 2 : 1;
    const int chunks = ((int)a->piece + a->chunk - 1) / a->chunk;
    const int full = 32 / (2 * (int)real); /* what memory writes at once: see kernels/bpm.cl */
    const double nodes = (double)chunks * a->chunk;
    for (int lines = BN_BLOCK_NY; s->c.axes == 2 && lines > 0; lines /= 2)
        for (int held = full > lines ? full : lines; lines * chunks <= BPM_LANES; held = lines) {
            if (real * (2 * (lines * 4 * chunks + held * (nodes + 1)) + v * lines * nodes + 2) <= room)
                return (group_lines){ lines, held };
            if (held == lines)
                break;
        }
    return (group_lines){ 1, 0 };
}

/* Whether a CPU has room for a line whose chunks are lanes: for no less than kernels/bpm_lanes.cl takes. */
static bool lanes_fit(const bpm *s, const bpm_axis *a, const bn_device_info *device)
{
    const double chunks = (a->piece + a->chunk - 1) / a->chunk, wide = chunks + 48;
    const double rows = (s->c.lossy ? 8 : 7) * (a->chunk + 2.0) + 9;
    return !device || (s->c.single ? 4 : 8) * rows * wide <= (double)device->local_bytes;
}

void bpm_kernel_constants(const bpm *s, int d, const bn_device_info *device, bn_define out[BPM_KERNEL_CONSTANTS])
{
    const bpm_axis *a = &s->axis[d];
    const group_lines group = choose_lines(s, a, device);
    out[0] = (bn_define){ "CHUNK", BN_DEF_INT, { .i = a->chunk } };
    out[1] = (bn_define){ "LOSSY", BN_DEF_INT, { .i = s->c.lossy } };
    out[2] = (bn_define){ "SPACE", BN_DEF_INT, { .i = s->c.axes == 2 } };
    /* Lines that fill a work-group each: 80 registers let three groups share an H200's compute unit, 64 four, which
     * take less time for 2048 lines. */
    const bool alone = s->c.axes == 2 && s->c.single && group.side_by_side == 1 && a->chunk <= BPM_CHUNK_SHORT;
    out[3] = (bn_define){ "REGISTERS", BN_DEF_INT, { .i = alone ? 64 : 0 } };
    /* Where half steps store their result transposed: a grid in one box is spared the sums with what a launch tells. */
    const bn_domain *other = s->axis[!d].domain;
    const bool one = s->c.axes == 2 && other && bn_domain_boxes(other) == 1;
    const bn_place place = one ? bn_domain_place(other) : (bn_place){ 0 };
    out[4] = (bn_define){ "OTHER_FIRST", BN_DEF_INT, { .i = place.first } };
    out[5] = (bn_define){ "OTHER_PITCH", BN_DEF_INT, { .i = place.pitch } };
    out[6] = (bn_define){ "SIDE_BY_SIDE", BN_DEF_INT, { .i = group.side_by_side } };
    out[7] = (bn_define){ "HELD", BN_DEF_INT, { .i = group.held } };
    out[8] = (bn_define){ "LANES_FIT", BN_DEF_INT, { .i = lanes_fit(s, a, device) } };
}

bn_status bpm_plan_constants(bn_plan *p, const bpm *s)
{
    bn_define constants[BPM_KERNEL_CONSTANTS];
    BN_TRY(bn_plan_needs(p, s->c.axes == 2 ? "lines along x and y" : "lines along y"));
    if (s->c.axes == 2 && (s->axis[0].chunks > BPM_LANES || s->axis[1].chunks > BPM_LANES))
        BN_TRY(bn_plan_needs(p, "lines in windows"));
    if (s->c.lossy)
        BN_TRY(bn_plan_needs(p, "absorbing layers"));
    if (s->c.axes == 1 && s->c.per_record >= BPM_LONG_LAUNCH)
        BN_TRY(bn_plan_needs(p, "long launches"));
    bpm_kernel_constants(s, 0, bn_plan_device(p), constants);
    for (size_t i = 0; i < BPM_KERNEL_CONSTANTS; i++)
        BN_TRY(bn_plan_define_int(p, constants[i].name, constants[i].u.i));
    return BN_OK;
}

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    static const char *const names[][2] = { { "power", "" },        { "overlap_start", "" }, { "overlap_mirror", "" },
                                            { "overlap_mode", "" }, { "centre", "m" },       { "beam_width", "m" } };
    bpm *s = state;
    bpm_history *m = &s->history;
    void *memory;
    BN_TRY(read_case(c, s));
    BN_TRY(bpm_read_picture(c, p, s));
    BN_TRY(bpm_read_map(c, p, s));
    BN_TRY(read_launch_file(c, p, s));
    BN_TRY(read_batch(c, p, s));
    BN_TRY(choose_chunks(c, s));
    if (s->c.solver == BPM_FFT)
        BN_TRY(bpm_check_fft(c, s));
    BN_TRY(bpm_allocate(p, 2 * s->c.beams, &s->factor));
    for (int d = 0; d < s->c.axes; d++) {
        BN_TRY(bn_plan_allocate(p, s->axis[d].lines * sizeof *s->axis[d].stale, &memory));
        s->axis[d].stale = memory;
    }
    if (bn_case_bool(c, "output.map"))
        BN_TRY(bpm_allocate(p, m->capacity * m->map_n, &m->map));
    BN_TRY(bn_plan_allocate(p, m->capacity * sizeof *m->record, &memory));
    m->record = memory;
    s->profile.outline = 0.5 * (s->c.background + bpm_highest_index(&s->profile));
    BN_TRY(s->geometry->plan(c, p, s));
    s->c.pml_strength = bn_case_real(c, "walls.strength");
    if (s->c.pml_strength == 0) /* decay exp(-2 k sin(10 degrees) strength thickness / 3) there and back */
        s->c.pml_strength = 1.5 * log(1e6) / (bpm_k0(s, 0) * s->c.reference * sin(0.1745) * s->c.pml_thickness);
    for (size_t beam = 0; beam < s->c.beams; beam++) {
        double _Complex a, b;
        bpm_step_weights(s, beam, &a, &b);
        s->factor[2 * beam] = creal((a - b) / a);
        s->factor[2 * beam + 1] = cimag((a - b) / a);
    }
    BN_TRY(s->geometry->plan_fields(p, s));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        BN_TRY(bn_plan_series(p, names[i][0], names[i][1]));
    BN_TRY(bpm_plan_results(s, p));
    BN_TRY(bn_plan_note(p, "steps along z", (double)s->c.steps, ""));
    BN_TRY(bn_plan_note(p, "of length", s->c.dz, "m"));
    BN_TRY(bn_plan_note(p, "of them in a step of the run", (double)s->c.per_record, ""));
    if (!s->space.relaxing)
        BN_TRY(bn_plan_note(p, "reference index", s->c.reference, ""));
    if (isfinite(s->beam[0].n_eff))
        BN_TRY(bn_plan_note(p, "index of the mode", s->beam[0].n_eff, ""));
    bn_plan_steps(p, (double)(m->capacity - 1));
    return BN_OK;
}

/* The field that enters is set up once the engine has its own fields, by bpm_setup. */
static bn_status init(bn_sim *sim, void *state)
{
    bpm *s = state;
    (void)sim;
    s->done = s->history.records = 0;
    return BN_OK;
}

/* Everything agrees bit for bit, but for what the libraries of transforms do. */
static double tolerance(const bn_case *c, const char *field)
{
    (void)field;
    return bn_case_choice(c, "solver.method") == BPM_FFT ? (bn_case_double(c) ? 1e-11 : 1e-3) : 0;
}

/* Without absorption each step is unitary; rounding changes the power by at most 1.8 units of the last place a step in
 * transforms of 29 to 4,096 values, and by 0.5 in eliminations (10 to 100,000 steps of twelve cases). */
static double balance_limit(const bn_sim *sim, const void *state)
{
    const bpm *s = state;
    const double unit = bn_case_double(bn_sim_case(sim)) ? 0x1p-52 : 0x1p-23;
    return s->c.lossy || s->c.theta > 0.5 || s->space.relaxing ? HUGE_VAL : 4 * unit * (double)(s->done + 16);
}

static const char *const selftest_constants[] = { "TRANSFORMS", NULL };

const bn_solver bn_solver_bpm = {
    .name = "bpm",
    .program = "bpm+bpm_lanes",
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
    .selftest_constants = selftest_constants,
    .variants = variants,
    .map = bpm_map,
    .gradient = bpm_gradient,
    .tolerance = tolerance,
    .balance = "power_drift",
    .balance_limit = balance_limit,
    .along = "z",
    .along_unit = "m",
};
