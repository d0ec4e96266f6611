/* maxwell.c: time-harmonic Maxwell equations in three dimensions on a staggered grid, for thin-film solar cells and
 * what scatters light (docs/maxwell.md): the case's keys, the plan, the table. */
#include "maxwell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A key is read in one piece. */
/* clang-format off */
static const bn_key schema[] = {
    { .name = "grid.cells", .type = BN_KEY_INT, .count = 3, .def = 48, .min = 1, .max = 16384,
      .help = "cells along x, y and z (upwards), absorbing layers included" },
    { .name = "grid.spacing", .type = BN_KEY_REAL, .unit = "m", .def = 20e-9, .max = 1, .above = true,
      .help = "edge of a cell" },

    { .name = "light.wavelength", .type = BN_KEY_REAL, .unit = "m", .def = 600e-9, .max = 1, .above = true,
      .help = "in vacuum; of a sweep the first" },
    { .name = "light.until", .type = BN_KEY_REAL, .unit = "m", .def = 600e-9, .max = 1, .above = true,
      .help = "of a sweep the last" },
    { .name = "light.count", .type = BN_KEY_INT, .def = 1, .min = 1, .max = 10000,
      .help = "wavelengths of a sweep, evenly spread" },
    { .name = "light.amplitude", .type = BN_KEY_REAL, .unit = "V m-1", .def = 1, .max = 1e12, .above = true,
      .help = "of the incident plane wave" },
    { .name = "light.polarisation", .type = BN_KEY_REAL, .unit = "rad", .def = 0, .min = -7, .max = 7,
      .help = "normal incidence: angle of E from the x axis; oblique: 0 is p, 90 degrees s" },
    { .name = "light.incidence", .type = BN_KEY_REAL, .unit = "rad", .def = 0, .min = 0, .max = 1.5,
      .help = "angle from the normal, in the half space above" },
    { .name = "light.azimuth", .type = BN_KEY_REAL, .unit = "rad", .def = 0, .min = -7, .max = 7,
      .help = "of an oblique wave: of its direction in the plane, from the x axis" },
    { .name = "light.ramp", .type = BN_KEY_REAL, .def = 5, .min = 0, .max = 1000, .inferred = true,
      .help = "periods in which the light comes up; an abrupt start leaves standing waves; oblique light takes 30 unless told" },
    { .name = "light.source", .type = BN_KEY_CHOICE, .choices = "plane|volume", .def_text = "plane",
      .help = "plane: incident wave at a plane under the upper absorbing layer; volume: what differs from the half space above radiates" },

    { .name = "boundary.sides", .type = BN_KEY_CHOICE, .choices = "periodic|absorbing", .def_text = "periodic",
      .help = "x and y; absorbing sides need light.source = \"volume\"" },
    { .name = "boundary.bottom", .type = BN_KEY_CHOICE, .choices = "absorbing|wall", .def_text = "absorbing",
      .help = "wall: a perfect conductor, for structures that end in a thick metal" },

    { .name = "pml.cells", .type = BN_KEY_INT, .def = 10, .min = 2, .max = 100, .help = "thickness of the absorbing layers" },
    { .name = "pml.order", .type = BN_KEY_INT, .def = 3, .min = 1, .max = 6, .help = "grade of their conductivity" },
    { .name = "pml.reflection", .type = BN_KEY_REAL, .def = 1e-6, .max = 0.5, .above = true,
      .help = "of the continuous layer at normal incidence; sets the conductivity" },

    { .name = "structure.above", .type = BN_KEY_TEXT, .def_text = "vacuum",
      .help = "material that the light comes from: a [[material]], or a table that travels with the program" },
    { .name = "structure.below", .type = BN_KEY_TEXT, .def_text = "vacuum", .inferred = true,
      .help = "material under the last layer" },
    { .name = "structure.top", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1,
      .help = "height of the first layer's upper face; 0: a quarter wavelength below the source" },
    { .name = "structure.borders", .type = BN_KEY_CHOICE, .choices = "average|sharp", .def_text = "average",
      .help = "permittivity where materials meet: mean of the cells around (right for faces along the grid), or of what stands on the edge of a cell (better for spheres)" },

    { .name = "material.name", .type = BN_KEY_TEXT, .def_text = "glass", .list = true, .help = "how layers call it" },
    { .name = "material.n", .type = BN_KEY_REAL, .def = 1.5, .min = 0, .max = 20, .list = true, .help = "refractive index" },
    { .name = "material.k", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 50, .list = true,
      .help = "extinction coefficient, of n - i k" },
    { .name = "material.table", .type = BN_KEY_TEXT, .def_text = "", .list = true,
      .help = "n and k over the wavelength instead: a table that travels with the program, such as Ag-Johnson1972 (a wrong name lists them all), or a CSV file beside the case" },

    { .name = "layer.material", .type = BN_KEY_TEXT, .def_text = "glass", .list = true,
      .help = "from top to bottom" },
    { .name = "layer.thickness", .type = BN_KEY_REAL, .unit = "m", .def = 100e-9, .min = 0, .max = 1, .list = true,
      .help = "from the mean of its upper face to the next" },
    { .name = "layer.texture", .type = BN_KEY_CHOICE, .choices = "flat|same|random|grating|picture", .def_text = "flat",
      .list = true, .help = "of its upper face; same: as the face above" },
    { .name = "layer.depth", .type = BN_KEY_REAL, .unit = "m", .def = 50e-9, .min = 0, .max = 1, .list = true,
      .only = "layer.texture=random|grating|picture",
      .help = "of a random texture the root mean square, else from lowest to highest" },
    { .name = "layer.correlation", .type = BN_KEY_REAL, .unit = "m", .def = 100e-9, .min = 0, .max = 1, .list = true,
      .only = "layer.texture=random",
      .help = "length over which a random texture is alike" },
    { .name = "layer.period", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1, .list = true,
      .only = "layer.texture=grating",
      .help = "of a grating along x" },
    { .name = "layer.fill", .type = BN_KEY_REAL, .def = 0.5, .min = 0, .max = 1, .list = true,
      .only = "layer.texture=grating",
      .help = "share of a grating's period that stands high" },
    { .name = "layer.picture", .type = BN_KEY_TEXT, .def_text = "", .list = true,
      .only = "layer.texture=picture",
      .help = "heights as a PNG (black low, white high) or TIFF over the whole grid" },

    { .name = "box.material", .type = BN_KEY_TEXT, .def_text = "glass", .list = true, .help = "of a block of cells" },
    { .name = "box.from", .type = BN_KEY_REAL, .count = 3, .unit = "m", .def = 0, .min = -1, .max = 1, .list = true,
      .help = "its lowest corner" },
    { .name = "box.to", .type = BN_KEY_REAL, .count = 3, .unit = "m", .def = 0, .min = -1, .max = 1, .list = true,
      .help = "its highest corner" },
    { .name = "sphere.material", .type = BN_KEY_TEXT, .def_text = "glass", .list = true, .help = "of a sphere" },
    { .name = "sphere.centre", .type = BN_KEY_REAL, .count = 3, .unit = "m", .def = 0, .min = -1, .max = 1, .list = true,
      .help = "its centre" },
    { .name = "sphere.radius", .type = BN_KEY_REAL, .unit = "m", .def = 100e-9, .max = 1, .above = true, .list = true,
      .help = "its radius" },

    { .name = "solver.form", .type = BN_KEY_CHOICE, .choices = "compact|soa|aos", .def_text = "compact",
      .help = "compact: a material index per component; soa, aos: split fields and coefficients in every cell, as structure of arrays or array of structures" },
    { .name = "solver.sweep", .type = BN_KEY_CHOICE, .choices = "auto|two-pass|rows|fused", .def_text = "auto",
      .help = "H and E in a pass each, cell by cell or in loops along rows, or in one sweep along z with a second buffer of every field; auto: rows on a CPU, on a GPU fused above 4 million cells" },
    { .name = "solver.start", .type = BN_KEY_CHOICE, .choices = "dark|layers", .def_text = "dark",
      .help = "no field, or that of the planar stack that the structure is on average" },
    { .name = "solver.accelerate", .type = BN_KEY_CHOICE, .choices = "none|anderson", .def_text = "none",
      .help = "anderson: in cycles, go on from the mean of the states in which their changes cancel; takes memory for all of them" },
    { .name = "solver.depth", .type = BN_KEY_INT, .def = 8, .min = 2, .max = MAXWELL_DEPTH, .only = "solver.accelerate=anderson",
      .help = "states of a cycle" },
    { .name = "solver.apart", .type = BN_KEY_INT, .def = 40, .min = 1, .max = 10000, .only = "solver.accelerate=anderson",
      .help = "steps between them" },
    { .name = "solver.courant", .type = BN_KEY_REAL, .def = 0.99, .max = 1, .above = true,
      .help = "time step of the iteration over the largest stable one" },
    { .name = "solver.epsilon", .type = BN_KEY_REAL, .def = 1e-5, .max = 0.1, .above = true,
      .help = "the iteration ends when the largest change of E falls below this times the largest E" },
    { .name = "solver.watch_every", .type = BN_KEY_INT, .def = 40, .min = 1, .max = 100000,
      .help = "steps between looks at the change" },

    { .name = "exchange.write", .type = BN_KEY_TEXT, .def_text = "",
      .help = "folder for the coefficients of every cell: an image (.vti) for each component of E, H, t, s and the source" },
    { .name = "exchange.read", .type = BN_KEY_TEXT, .def_text = "",
      .help = "such a folder, instead of a structure; with solver.form = \"soa\" or \"aos\"" },

    { .name = "output.slice", .type = BN_KEY_CHOICE, .choices = "auto|yz|xz|xy", .def_text = "auto",
      .help = "plane of the pictures; auto: upright, across the longer side" },
    { .name = "output.slice_at", .type = BN_KEY_REAL, .def = 0.5, .min = 0, .max = 1,
      .help = "its place, as a share of the grid" },
    { .name = "stop.steps", .type = BN_KEY_INT, .def = 50000, .min = 1, .max = HUGE_VAL,
      .help = "the run ends after this many steps; of a sweep each wavelength has so many" },
    { 0 },
};
/* clang-format on */

static bool is_compact(const bn_case *c) { return bn_case_choice(c, "solver.form") == MAXWELL_COMPACT; }

static const bn_variant variants[] = {
    { "solver.sweep", "two-pass|rows|fused", true, is_compact },
    { "solver.form", "compact|soa|aos", false, NULL },
    { 0 },
};

/* Per cell, in reals: see docs/performance.md. */
static const bn_kernel_desc kernels[] = {
    { "maxwell_H", BN_PER_CELL, { .reads = 12, .writes = 6, .flops = 84 } },
    { "maxwell_E", BN_PER_CELL, { .reads = 12.75, .writes = 6, .flops = 84 } },
    { "maxwell_H_rows", BN_PER_BLOCK, { .reads = 12, .writes = 6, .flops = 84 } },
    { "maxwell_E_rows", BN_PER_BLOCK, { .reads = 12.75, .writes = 6, .flops = 84 } },
    { "maxwell_E_watched", BN_PER_BLOCK, { .reads = 12.75, .writes = 6, .flops = 104 } },
    { "maxwell_fused", BN_PER_TILE, { .reads = 12.75, .writes = 12, .flops = 184 } },
    { "maxwell_serialize", BN_PER_CELL, { .reads = 40, .writes = 40, .flops = 20 } },
    { "maxwell_gram", BN_PER_BLOCK, { .reads = 100, .writes = 0, .flops = 320 } },
    { "maxwell_gram_total", BN_ONCE, { 8, 0, 0 } },
    { "maxwell_mix", BN_PER_CELL, { .reads = 160, .writes = 20, .flops = 1120 } },
    { "maxwell_norm", BN_PER_CELL, { .reads = 6, .writes = 1, .flops = 12 } },
    { "maxwell_seed_H", BN_PER_CELL, { .reads = 52, .writes = 12, .flops = 132 } },
    { "maxwell_seed_E", BN_PER_BLOCK, { .reads = 52, .writes = 12, .flops = 152 } },
    { "maxwell_seed_whole", BN_PER_CELL, { .reads = 12, .writes = 6, .flops = 6 } },
    { "maxwell_total", BN_ONCE, { 2, 0, 0 } },
    { 0 },
};

/* Whether this case launches a kernel; the others are not built. */
static bool launches(const maxwell *s, const char *kernel)
{
    static const char *const seed[] = { "maxwell_seed_H", "maxwell_seed_E", "maxwell_seed_whole" };
    static const char *const cycles[] = { "maxwell_serialize", "maxwell_gram", "maxwell_gram_total", "maxwell_mix" };
    const bool compact = s->form == MAXWELL_COMPACT, cells = s->sweep == MAXWELL_TWO_PASS;
    for (size_t i = 0; i < sizeof seed / sizeof *seed; i++)
        if (strcmp(kernel, seed[i]) == 0)
            return !compact;
    for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++)
        if (strcmp(kernel, cycles[i]) == 0)
            return compact && s->accelerate;
    if (strcmp(kernel, "maxwell_E_watched") == 0)
        return compact;
    if (strcmp(kernel, "maxwell_fused") == 0)
        return compact && s->fuse;
    if (strcmp(kernel, "maxwell_H_rows") == 0 || strcmp(kernel, "maxwell_E_rows") == 0)
        return compact && s->sweep == MAXWELL_ROWS;
    if (strcmp(kernel, "maxwell_H") == 0) /* before a look at the change too */
        return compact && (cells || s->fuse);
    if (strcmp(kernel, "maxwell_E") == 0)
        return compact && (cells || s->fuse); /* where tiles do not fit */
    return true;
}

static bn_status plan_fields(const maxwell *s, bn_plan *p)
{
    const unsigned role = BN_STATE | BN_OUTPUT | BN_COMPARE;
    BN_TRY(bn_plan_field(p, &(bn_field_desc){ "E", "V m-1", BN_T_REAL2, 3, role }));
    BN_TRY(bn_plan_field(p, &(bn_field_desc){ "Z0H", "V m-1", BN_T_REAL2, 3, role }));
    BN_TRY(bn_plan_field(p, &(bn_field_desc){ "E_norm", "V m-1", BN_T_REAL, 1, BN_OUTPUT }));
    BN_TRY(bn_plan_field(p, &(bn_field_desc){ "n", "", BN_T_REAL, 1, BN_OUTPUT }));
    if (s->form == MAXWELL_COMPACT) {
        const int parts = s->pml_sides ? 3 : 2;
        BN_TRY(bn_plan_field(p, &(bn_field_desc){ "part_E", "V m-1", BN_T_REAL2, parts, BN_STATE }));
        BN_TRY(bn_plan_field(p, &(bn_field_desc){ "part_H", "V m-1", BN_T_REAL2, parts, BN_STATE }));
        if (s->fuse) {
            BN_TRY(bn_plan_field(p, &(bn_field_desc){ "E_next", "V m-1", BN_T_REAL2, 3, 0 }));
            BN_TRY(bn_plan_field(p, &(bn_field_desc){ "Z0H_next", "V m-1", BN_T_REAL2, 3, 0 }));
            BN_TRY(bn_plan_field(p, &(bn_field_desc){ "part_E_next", "V m-1", BN_T_REAL2, parts, 0 }));
            BN_TRY(bn_plan_field(p, &(bn_field_desc){ "part_H_next", "V m-1", BN_T_REAL2, parts, 0 }));
        }
        if (s->accelerate)
            BN_TRY(bn_plan_field(
                p, &(bn_field_desc){ "history", "", BN_T_REAL2, (s->depth + 1) * s->state_components, BN_STATE }));
        return bn_plan_field(p, &(bn_field_desc){ "edges", "", BN_T_U8, 3, 0 });
    }
    const unsigned together = BN_STATE | (s->form == MAXWELL_AOS ? BN_INTERLEAVED : 0);
    BN_TRY(bn_plan_field(p, &(bn_field_desc){ "record_E", "", BN_T_REAL2, MAXWELL_RECORD, together }));
    return bn_plan_field(p, &(bn_field_desc){ "record_H", "", BN_T_REAL2, MAXWELL_RECORD, together });
}

static bn_status plan_defines(const maxwell *s, bn_plan *p)
{
    BN_TRY(bn_plan_define_int(p, "FORM", s->form));
    BN_TRY(bn_plan_define_int(p, "PML_CELLS", s->pml));
    BN_TRY(bn_plan_define_int(p, "LOW_Z", s->pml_bottom));
    BN_TRY(bn_plan_define_int(p, "PML_SIDES", s->pml_sides));
    BN_TRY(bn_plan_define_int(p, "BLOCH", s->bloch));
    BN_TRY(bn_plan_define_int(p, "VOLUME", s->volume));
    BN_TRY(bn_plan_define_int(p, "SOURCE", s->volume ? -1 : (long long)s->source));
    for (const bn_kernel_desc *k = kernels; k->name; k++)
        if (!launches(s, k->name))
            BN_TRY(bn_plan_skip_kernel(p, k->name));
    if (s->fuse)
        BN_TRY(bn_plan_define_int(p, "FUSED", 1));
    return s->accelerate ? bn_plan_define_int(p, "DEPTH", s->depth) : BN_OK;
}

/* The plane of the pictures. */
static void choose_slice(const bn_case *c, maxwell *s)
{
    static const int across_of[4] = { -1, 0, 1, 2 }; /* auto, yz, xz, xy */
    s->across = across_of[bn_case_choice(c, "output.slice")];
    if (s->across < 0)
        s->across = s->n[0] >= s->n[1];
    const double place = bn_case_real(c, "output.slice_at") * s->n[s->across];
    s->slice = place >= s->n[s->across] ? s->n[s->across] - 1 : (uint32_t)place;
}

/* Where the light comes from, and where the absorbing layers begin. */
static size_t mark_places(maxwell *s)
{
    size_t count = 0;
    if (!s->volume)
        s->mark[count++] = (bn_picture_mark){ 2, s->source * s->h, "source" };
    for (int d = 0; d < 3; d++) {
        if (d == 2 ? s->pml_bottom : s->pml_sides)
            s->mark[count++] = (bn_picture_mark){ d, s->pml * s->h, "PML" };
        if (d == 2 || s->pml_sides)
            s->mark[count++] = (bn_picture_mark){ d, (s->n[d] - (uint32_t)s->pml) * s->h, "PML" };
    }
    return count;
}

static bn_status plan_pictures(maxwell *s, bn_plan *p)
{
    uint32_t points = 2;
    for (int d = 0; d < 3; d++)
        if (d != s->across && s->n[d] < points)
            points = s->n[d];
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
                                .contour_levels = faces,
                                .contour_count = sizeof faces / sizeof *faces,
                                .across = s->across,
                                .at = s->slice,
                                .timeless = true,
                                .caption = s->caption,
                                .marks = s->mark,
                                .mark_count = mark_places(s) };
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
    double n = 1;
    for (int m = 0; m < s->materials; m++)
        if (s->material[m].used)
            n = fmax(n, s->material[m].n);
    BN_TRY(bn_plan_note(p, "cells a wavelength in vacuum", s->wavelength / s->h, ""));
    BN_TRY(bn_plan_note(p, "in the densest material", s->wavelength / (n * s->h), ""));
    BN_TRY(bn_plan_note(p, "steps a period", 6.283185307179586 / (s->t.w * s->courant / sqrt(3.0)), ""));
    if (!s->volume)
        BN_TRY(bn_plan_note(p, "source plane at z", s->source * s->h, "m"));
    bn_plan_wants_convergence(p, s->epsilon, NULL);
    bn_plan_parts(p, s->wavelengths);
    return BN_OK;
}

/* Fewer than eight cells a wavelength are no longer a wave of that wavelength. */
static void check_resolution(const bn_case *c, const maxwell *s)
{
    for (int m = 0; m < s->materials; m++) {
        const maxwell_material *material = &s->material[m];
        const double cells = s->t.wavelength / (material->n * s->h);
        if (material->used && material->n > material->k && cells < 8)
            (void)bn_case_reject(c, "grid.spacing", "eight are the least",
                                 "too coarse: %.3g cells a wavelength in %s (n = %.3g at %g nm)", cells, material->name,
                                 material->n, 1e9 * s->t.wavelength);
    }
}

/* The half spaces that the light comes from and goes to must carry a wave into the absorbing layers. */
static void check_half_spaces(const bn_case *c, const maxwell *s)
{
    const maxwell_material *above = &s->material[s->above], *low = &s->material[s->cell[0]];
    if (above->k > 0)
        (void)bn_case_reject(c, "structure.above", NULL, "the light comes from a material without loss, %s has k = %g",
                             above->name, above->k);
    if (s->pml_bottom && low->n <= low->k)
        (void)bn_case_reject(c, "boundary.bottom", "end it with boundary.bottom = \"wall\"",
                             "the absorbing layer at the bottom can't lie in a metal (%s, n = %g, k = %g)", low->name,
                             low->n, low->k);
}

static void read_light(const bn_case *c, maxwell *s)
{
    s->wavelength = bn_case_real(c, "light.wavelength");
    s->until = bn_case_real(c, "light.until");
    s->wavelengths = (int)bn_case_int(c, "light.count");
    s->amplitude = bn_case_real(c, "light.amplitude");
    s->polarisation = bn_case_real(c, "light.polarisation");
    s->incidence = bn_case_real(c, "light.incidence");
    s->azimuth = bn_case_real(c, "light.azimuth");
    s->ramp_periods = bn_case_real(c, "light.ramp");
    s->volume = bn_case_choice(c, "light.source") == 1;
    s->bloch = s->incidence > 0;
    if (s->bloch && !bn_case_given(c, "light.ramp"))
        s->ramp_periods =
            30; /* waves at grazing angles leave slowly, and layers hardly damp them: better not to wake them */
    s->pml_sides = bn_case_choice(c, "boundary.sides") == 1;
    s->pml_bottom = bn_case_choice(c, "boundary.bottom") == 0;
    s->pml = (int)bn_case_int(c, "pml.cells");
    s->pml_order = (int)bn_case_int(c, "pml.order");
    s->pml_reflection = bn_case_real(c, "pml.reflection");
    if (s->pml_sides && !s->volume)
        (void)bn_case_reject(c, "boundary.sides", "light.source = \"volume\"",
                             "absorbing sides do not let a plane wave along");
    if (s->volume && s->bloch)
        (void)bn_case_reject(c, "light.incidence", NULL, "light.source = \"volume\" knows normal incidence alone");
    if (s->volume && !s->pml_bottom)
        (void)bn_case_reject(c, "boundary.bottom", NULL, "light.source = \"volume\" needs an absorbing bottom");
    if (s->wavelengths > 1 && !bn_case_given(c, "light.until"))
        (void)bn_case_reject(c, "light.until", NULL, "a sweep of %d wavelengths needs the last one", s->wavelengths);
}

static void read_solver(const bn_case *c, const bn_device_info *device, maxwell *s)
{
    s->form = (maxwell_form)bn_case_choice(c, "solver.form");
    s->sweep = (maxwell_sweep)bn_case_choice(c, "solver.sweep");
    /* One sweep moves two thirds of the bytes, through a second buffer of every field: for GPUs. */
    /* Tiles of one sweep need millions of cells to fill a GPU (docs/performance.md). */
    const bool many = (double)bn_case_int_at(c, "grid.cells", 0) * (double)bn_case_int_at(c, "grid.cells", 1) *
                          (double)bn_case_int_at(c, "grid.cells", 2) >
                      4e6;
    if (s->sweep == MAXWELL_AUTO)
        s->sweep = !device || device->cpu ? MAXWELL_ROWS : many ? MAXWELL_FUSED : MAXWELL_TWO_PASS;
    s->fuse = s->form == MAXWELL_COMPACT && s->sweep == MAXWELL_FUSED;
    s->start = (maxwell_start)bn_case_choice(c, "solver.start");
    s->courant = bn_case_real(c, "solver.courant");
    s->epsilon = bn_case_real(c, "solver.epsilon");
    s->watch_every = (int)bn_case_int(c, "solver.watch_every");
    s->accelerate = bn_case_choice(c, "solver.accelerate") == 1;
    s->depth = (int)bn_case_int(c, "solver.depth");
    s->apart = (int)bn_case_int(c, "solver.apart");
    s->state_components = s->pml_sides ? 12 : 10;
    s->average = bn_case_choice(c, "structure.borders") == 0;
    s->double_precision = bn_case_double(c);
    s->most_steps = bn_case_int(c, "stop.steps");
    if (s->form != MAXWELL_COMPACT && (s->pml_sides || s->volume || s->bloch))
        (void)bn_case_reject(
            c, "solver.form", "solver.form = \"compact\"",
            "coefficients in every cell know periodic sides and a plane wave at normal incidence alone");
    s->imported = bn_case_text(c, "exchange.read")[0] != 0;
    if (s->imported && (s->form == MAXWELL_COMPACT || s->wavelengths > 1))
        (void)bn_case_reject(c, "exchange.read", "solver.form = \"soa\", light.count = 1",
                             "coefficients of every cell need a form that has them, and are those of one wavelength");
    if (s->accelerate && s->form != MAXWELL_COMPACT)
        (void)bn_case_reject(c, "solver.accelerate", "solver.form = \"compact\"",
                             "only the compact form can be accelerated");
    if (s->start == MAXWELL_LAYERS && (s->volume || s->bloch || s->form != MAXWELL_COMPACT))
        (void)bn_case_reject(
            c, "solver.start", "solver.start = \"dark\"",
            "the layers' field is known for a plane wave at normal incidence in the compact form alone");
}

static void read_grid(const bn_case *c, maxwell *s)
{
    for (size_t d = 0; d < 3; d++)
        s->n[d] = (uint32_t)bn_case_int_at(c, "grid.cells", d);
    s->h = bn_case_real(c, "grid.spacing");
    const uint32_t least = 2 * (uint32_t)s->pml + 8;
    if (s->n[2] < least)
        (void)bn_case_reject(c, "grid.cells", NULL,
                             "%u cells along z leave no room between the absorbing layers: %u are the least", s->n[2],
                             least);
    for (size_t d = 0; d < 2 && s->pml_sides; d++)
        if (s->n[d] < least)
            (void)bn_case_reject(c, "grid.cells", NULL,
                                 "%u cells leave no room between the absorbing sides: %u are the least", s->n[d],
                                 least);
    s->source = s->n[2] - (uint32_t)s->pml - 3;
}

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    maxwell *s = state;
    read_light(c, s);
    read_solver(c, bn_plan_device(p), s);
    read_grid(c, s);
    BN_TRY(maxwell_read_materials(c, p, s));
    if (bn_case_diagnostics(c)[0])
        return BN_OK; /* what follows relies on a grid that makes sense */
    BN_TRY(maxwell_build_structure(c, p, s));
    for (int i = s->wavelengths - 1; i >= 0; i--) { /* ends with the first */
        maxwell_set_wavelength(c, s, maxwell_wavelength(s, i));
        if (!s->cell) /* only counted: what fills the cells is not known */
            continue;
        check_resolution(c, s);
        check_half_spaces(c, s);
    }
    if (bn_case_diagnostics(c)[0])
        return BN_OK;
    if (s->imported && s->cell)
        BN_TRY(maxwell_read_folder(c, p, s));
    if (bn_case_diagnostics(c)[0])
        return BN_OK;
    if (s->cell)
        BN_TRY(maxwell_find_classes(c, p, s));
    BN_TRY(maxwell_room_for_tables(p, s));
    choose_slice(c, s);
    maxwell_set_tables(s);
    const bool around = !s->pml_sides;
    BN_TRY(bn_plan_grid(p, &(bn_grid){ .dims = 3,
                                       .n = { s->n[0], s->n[1], s->n[2] },
                                       .h = { s->h, s->h, s->h },
                                       .origin = { 0.5 * s->h, 0.5 * s->h, 0.5 * s->h },
                                       .periodic = { around, around, false } }));
    BN_TRY(plan_fields(s, p));
    BN_TRY(plan_defines(s, p));
    BN_TRY(maxwell_plan_results(p, s));
    BN_TRY(bn_plan_series(p, "wavelength", "m"));
    BN_TRY(bn_plan_series(p, "E_max", "V m-1"));
    BN_TRY(plan_pictures(s, p));
    if (s->wavelengths > 1)
        BN_TRY(bn_plan_chart(
            p, &(bn_plan_chart_desc){ .table = "spectrum",
                                      .title = s->volume ? "Cross sections" : "Where the light goes",
                                      .x_label = "wavelength [nm]",
                                      .y_label = s->volume ? "cross section [m2]" : "share of the incident power",
                                      .x_scale = 1e9 }));
    return plan_notes(s, p);
}

static bn_status fill_index(void *state, const bn_region *r, void *to)
{
    double *values = to;
    const maxwell *s = state;
    for (size_t at = 0; at < bn_region_points(r); at++) {
        size_t p[3];
        bn_region_place(r, at, p);
        values[at] = s->material[s->cell[(p[2] * s->n[1] + p[1]) * s->n[0] + p[0]]].n;
    }
    return BN_OK;
}

static bn_status init(bn_sim *sim, void *state)
{
    maxwell *s = state;
    const size_t cells = (size_t)s->n[0] * s->n[1] * s->n[2];
    s->E = bn_sim_field(sim, "E");
    s->H = bn_sim_field(sim, "Z0H");
    s->norm = bn_sim_field(sim, "E_norm");
    s->index = bn_sim_field(sim, "n");
    BN_TRY(bn_field_supply(s->index, BN_AS_DOUBLES, fill_index, s));
    if (s->form == MAXWELL_COMPACT) {
        s->part_E = bn_sim_field(sim, "part_E");
        s->part_H = bn_sim_field(sim, "part_H");
        s->edges = bn_sim_field(sim, "edges");
        if (s->fuse) {
            s->E_next = bn_sim_field(sim, "E_next");
            s->H_next = bn_sim_field(sim, "Z0H_next");
            s->part_E_next = bn_sim_field(sim, "part_E_next");
            s->part_H_next = bn_sim_field(sim, "part_H_next");
        }
        if (s->accelerate)
            s->history = bn_sim_field(sim, "history");
        BN_TRY(bn_field_write(s->edges, s->edge, 3 * cells));
    } else {
        s->record_E = bn_sim_field(sim, "record_E");
        s->record_H = bn_sim_field(sim, "record_H");
    }
    BN_TRY(maxwell_begin_wavelength(sim, s));
    if (bn_case_text(bn_sim_case(sim), "exchange.write")[0])
        BN_TRY(maxwell_write_folder(sim, s));
    return BN_OK;
}

const bn_solver bn_solver_maxwell = {
    .name = "maxwell",
    .summary = "time-harmonic Maxwell equations: light in thin-film solar cells",
    .schema = schema,
    .kernels = kernels,
    .state_size = sizeof(maxwell),
    .device = &maxwell_device,
    .reference = { &bn_maxwell_reference_single, &bn_maxwell_reference_double },
    .plan = plan,
    .init = init,
    .measure = maxwell_measure,
    .serialize = maxwell_serialize,
    .variants = variants,
};
