/* xray.c: small-angle scattering by Monte Carlo (docs/xray.md): photons with phase through an electron density to a
 * detector: the case's keys, the plan, the table. */
#include "xray.h"

#include <math.h>

/* A key is read in one piece. */
/* clang-format off */
/* The defaults are the double slit, so that the starter case shows something. */
static const bn_key schema[] = {
    { .name = "density.kind", .type = BN_KEY_CHOICE,
      .choices = "slab|single-slit|double-slit|grating|offset-gratings|sphere|foil|file|series",
      .def_text = "double-slit",
      .help = "shape of the density, seen from the entrance: x into it, y and z across; slits, lines along z" },
    { .name = "density.cells", .type = BN_KEY_INT, .count = 3, .def = 128, .min = 1, .max = 65536, .inferred = true,
      .help = "cells along x, y, z; those of a file need not be given" },
    { .name = "density.cell", .type = BN_KEY_REAL, .count = 3, .unit = "m", .def = 4e-9, .max = 1, .above = true,
      .inferred = true, .help = "sides of a cell; where a file tells them, they need not be given" },
    { .name = "density.file", .type = BN_KEY_TEXT, .def_text = "",
      .only = "density.kind=file",
      .help = ".vti, .pvti, .tif (a stack along z), .h5 (openPMD or plain), or .png (black is dense, "
              "the same along x); relative to the case file" },
    { .name = "density.frame.file", .type = BN_KEY_TEXT, .def_text = "", .list = true,
      .only = "density.kind=series",
      .help = "the density at a time, .vti, .pvti, .tif or .h5; linear in between" },
    { .name = "density.frame.time", .type = BN_KEY_REAL, .unit = "s", .min = -1e9, .max = 1e9, .list = true,
      .only = "density.kind=series",
      .help = "that time" },
    { .name = "density.array", .type = BN_KEY_TEXT, .def_text = "",
      .only = "density.kind=file|series",
      .help = "which array of a .vti or .h5; empty: the only one" },
    { .name = "density.measure", .type = BN_KEY_CHOICE, .choices = "probability|electrons", .def_text = "probability",
      .help = "what values mean: chance to be scattered in a cell, along its side in the flight's direction; or "
              "electrons per m3, with Thomson's cross-section" },
    { .name = "density.value", .type = BN_KEY_REAL, .def = 1, .min = 0, .max = 1e40,
      .help = "inside of the shape; factor of a file's values" },
    { .name = "density.absorption", .type = BN_KEY_REAL, .def = 0, .min = 0, .max = 1,
      .help = "share of a photon that each collision absorbs; the rest is scattered" },
    { .name = "density.centre", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = -1, .max = 1,
      .only = "density.kind!=file|series",
      .help = "of the shape along y and z, from the middle" },
    { .name = "density.width", .type = BN_KEY_REAL, .unit = "m", .def = 12e-9, .max = 1, .above = true,
      .only = "density.kind=single-slit|double-slit|grating|offset-gratings",
      .help = "of a slit or a line, along y" },
    { .name = "density.pitch", .type = BN_KEY_REAL, .unit = "m", .def = 32e-9, .max = 1, .above = true,
      .only = "density.kind=double-slit|grating|offset-gratings|foil",
      .help = "from slit to slit, line to line, ripple to ripple" },
    { .name = "density.height", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1,
      .only = "density.kind!=sphere|file|series",
      .help = "of slits and lines, along z; 0: all of it" },
    { .name = "density.start", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1,
      .only = "density.kind!=file|series",
      .help = "where the shape begins along x" },
    { .name = "density.depth", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1,
      .only = "density.kind!=file|series",
      .help = "its length along x; 0: to the end" },
    { .name = "density.shift", .type = BN_KEY_REAL, .unit = "m", .def = 8e-9, .min = -1, .max = 1,
      .only = "density.kind=offset-gratings",
      .help = "along y of the second half of offset gratings against the first" },
    { .name = "density.radius", .type = BN_KEY_REAL, .unit = "m", .def = 50e-9, .max = 1, .above = true,
      .only = "density.kind=sphere",
      .help = "of a sphere" },
    { .name = "density.ripple", .type = BN_KEY_REAL, .unit = "m", .def = 0, .min = 0, .max = 1,
      .only = "density.kind=foil",
      .help = "amplitude of a foil's ripples" },
    { .name = "source.face", .type = BN_KEY_CHOICE, .choices = "x_min|x_max|y_min|y_max|z_min|z_max",
      .def_text = "x_min", .help = "face of the grid where photons enter; y and z across follow it in cyclic order" },
    { .name = "source.wavelength", .type = BN_KEY_REAL, .unit = "m", .def = 1e-10, .max = 1, .above = true,
      .help = "of the light" },
    { .name = "source.photons", .type = BN_KEY_REAL, .def = 1e8, .min = 1, .max = XRAY_PHOTONS, .help = "in all" },
    { .name = "source.batch", .type = BN_KEY_INT, .def = 0, .min = 0, .max = XRAY_ROUNDS * XRAY_LAYERS,
      .help = "photons that fly in a step, per cell of the detector; 0: about a sixty-fourth of all" },
    { .name = "source.profile", .type = BN_KEY_CHOICE, .choices = "uniform|gaussian|pencil", .def_text = "uniform",
      .help = "of the light across the entrance" },
    { .name = "source.size", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = 0, .max = 1,
      .only = "source.profile!=pencil",
      .help = "of the light along y and z; gaussian: full width at half maximum; 0: the whole face" },
    { .name = "source.centre", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = -1, .max = 1,
      .help = "of the light, from the middle of the face" },
    { .name = "source.positions", .type = BN_KEY_CHOICE, .choices = "random|fixed", .def_text = "random",
      .only = "source.profile!=pencil",
      .help = "of photons in their cell; fixed: in its middle" },
    { .name = "source.tilt", .type = BN_KEY_REAL, .count = 2, .unit = "rad", .def = 0, .min = -1.5, .max = 1.5,
      .help = "of the light's direction against x, towards y and z" },
    { .name = "source.polarisation", .type = BN_KEY_REAL, .unit = "rad", .def = 0, .min = -7, .max = 7,
      .only = "scattering.angle=polarised",
      .help = "angle of the electric field to y" },
    { .name = "source.pulse", .type = BN_KEY_REAL, .count = 2, .unit = "s", .min = -1e9, .max = 1e9,
      .only = "density.kind=series",
      .help = "when the first photon enters a series of densities, and the last; each step's photons meet the "
              "density of its middle; equal: all frames" },
    { .name = "source.coherent_steps", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 1e15,
      .help = "coherence time: photons of so many steps interfere, then intensities add up; 0: all interfere" },
    { .name = "scattering.angle", .type = BN_KEY_CHOICE, .choices = "uniform|thomson|polarised|henyey-greenstein|table",
      .def_text = "uniform", .help = "law of the scattering angle: uniform in solid angle, Thomson's without and with "
                                     "polarisation, Henyey and Greenstein's" },
    { .name = "scattering.theta_max", .type = BN_KEY_REAL, .unit = "rad", .def = 0.1, .max = 3.14159265358979312,
      .above = true,
      .help = "largest angle of a scattering" },
    { .name = "scattering.table", .type = BN_KEY_TEXT, .def_text = "",
      .only = "scattering.angle=table",
      .help = "CSV file of a law: angle [rad], rising from 0, and density in solid angle, on any scale" },
    { .name = "scattering.g", .type = BN_KEY_REAL, .def = 0, .min = -0.9, .max = 0.9,
      .only = "scattering.angle=henyey-greenstein",
      .help = "mean cosine of Henyey's and Greenstein's law" },
    { .name = "scattering.order", .type = BN_KEY_CHOICE, .choices = "single|multiple", .def_text = "single",
      .help = "whether a photon may be scattered again" },
    { .name = "scattering.most", .type = BN_KEY_INT, .def = XRAY_SCATTERINGS, .min = 1, .max = XRAY_SCATTERINGS,
      .only = "scattering.order=multiple",
      .help = "scatterings of a photon at most, where they are multiple" },
    { .name = "detector.cells", .type = BN_KEY_INT, .count = 2, .def = 1024, .min = 2, .max = 16384,
      .help = "along y and z; the undisturbed direction is the middle of cell cells / 2" },
    { .name = "detector.cell_angle", .type = BN_KEY_REAL, .unit = "rad", .def = 70e-6, .max = 1, .above = true,
      .help = "seen under by the cell in the middle" },
    { .name = "detector.spacing", .type = BN_KEY_CHOICE, .choices = "angles|lengths", .def_text = "angles",
      .help = "whether the cells have equal angles or equal sides" },
    { .name = "detector.distance", .type = BN_KEY_REAL, .unit = "m", .def = 5, .max = 1e6, .above = true,
      .help = "from the density" },
    { .name = "detector.beam_stop", .type = BN_KEY_REAL, .def = 2, .min = 0, .max = 16384,
      .help = "radius of what the direct beam can't reach, in cells; 0: nothing" },
    { .name = "flight.method", .type = BN_KEY_CHOICE, .choices = "delta|exact", .def_text = "delta",
      .help = "delta: tentative collisions at the largest density of a block of cells; exact: from cell to cell" },
    { .name = "flight.block", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 7,
      .only = "flight.method=delta",
      .help = "a block has 2^block cells a side; 0: where photons have least to do" },
    { .name = "solver.estimator", .type = BN_KEY_CHOICE, .choices = "analog|expected", .def_text = "analog",
      .help = "what a scattering brings to the picture: its photon, or its expectation in some of the cells" },
    { .name = "solver.samples", .type = BN_KEY_INT, .def = 16, .min = 1, .max = 1000000,
      .only = "solver.estimator=expected",
      .help = "cells that the expected-value estimator visits for a scattering" },
    { .name = "solver.layers", .type = BN_KEY_INT, .def = 0, .min = 0, .max = XRAY_LAYERS,
      .help = "work-items a cell of the detector that share its photons of a step, as far as there are enough; 0: as many as "
              "fill a device. The result is the same" },
    { .name = "solver.density", .type = BN_KEY_CHOICE, .choices = "automatic|whole|slabs", .def_text = "automatic",
      .help = "where several devices compute: all of the density on each, or a slab of it, and photons that come to another "
              "slab go on on its device; automatic: slabs if a device has no room for all of it. The result is the same" },
    { .name = "solver.compare", .type = BN_KEY_CHOICE, .choices = "none|curve|fft|both", .def_text = "none",
      .help = "the cut along y with the closed form of slits and gratings; the Fourier picture of the projection" },
    { 0 },
};
/* clang-format on */

/* The number of work-items a cell of the detector changes no count; larger blocks draw other random numbers. */
static bool tracks(const bn_case *c) { return bn_case_choice(c, "flight.method") == 0; }
static const bn_variant variants[] = {
    { "solver.layers", "1|2|4|8|16|32|64", true, NULL },
    { "flight.block", "0|1|2|3|4", false, tracks },
    { 0 },
};

static const bn_kernel_desc kernels[] = {
    { "xray_fly", BN_PER_CELL, { .reads = 28, .writes = 28, .flops = 400 } },
    { "xray_cross", BN_PER_PARTICLE, { .reads = 28, .writes = 28, .flops = 400 } },
    { "xray_count", BN_PER_CELL, { .reads = 30, .writes = 30, .flops = 15 } },
    { "xray_gather", BN_PER_CELL, { .reads = 15, .writes = 20, .flops = 20 } },
    { 0 },
};

static bn_status plan_defines(const xray *s, bn_plan *p)
{
    const xray_constants *k = &s->k;
    const struct {
        const char *name;
        double value;
    } reals[] = {
        { "START_X", k->start_x },
        { "CENTRE_Y", k->centre_y },
        { "CENTRE_Z", k->centre_z },
        { "UNIT_Y", k->unit_y },
        { "UNIT_Z", k->unit_z },
        { "PER_Y", k->per_y },
        { "PER_Z", k->per_z },
        { "PATH_SCALE", k->path_scale },
        { "DEFICIT", k->deficit },
        { "BEAM_U", k->beam[0] },
        { "BEAM_V", k->beam[1] },
        { "BEAM_W", k->beam[2] },
        { "E_U", k->e[0] },
        { "E_V", k->e[1] },
        { "E_W", k->e[2] },
        { "FAR_Y", k->far_y },
        { "FAR_Z", k->far_z },
        { "PER_CELL_Y", k->per_cell_y },
        { "PER_CELL_Z", k->per_cell_z },
        { "EXPECTATION", k->expectation },
        { "REACH", k->reach },
        { "GAIN", k->gain },
        { "ABSORPTION", k->absorption },
    };
    const struct {
        const char *name;
        long long value;
    } integers[] = {
        { "BOX_X", s->box[0] },
        { "BOX_Y", s->box[1] },
        { "BOX_Z", s->box[2] },
        { "BLOCK_X", s->bits[0] },
        { "BLOCK_Y", s->bits[1] },
        { "BLOCK_Z", s->bits[2] },
        { "BLOCKS_X", s->blocks[0] },
        { "BLOCKS_Y", s->blocks[1] },
        { "BLOCKS_Z", s->blocks[2] },
        { "FIXED_BITS", k->fixed_bits },
        { "PATH_BITS", k->path_bits },
        { "ANGLE_BITS", k->angle_bits },
        { "MOST", k->most },
        { "POLARISED", k->polarised },
        { "PROFILE", k->profile },
        { "PLACED", k->placed },
        { "EQUAL_ANGLES", k->equal_angles },
        { "EXPECTED", k->expected },
        { "ABSORBING", k->absorbing },
        { "HALVINGS", k->halvings },
        { "THINNED", k->thinned },
        { "KEY0", (long long)(s->seed & UINT32_MAX) },
        { "KEY1", (long long)(s->seed >> 32) },
        { "APERTURE_Y", k->aperture_y },
        { "APERTURE_Z", k->aperture_z },
        { "SHIFT_Y", k->shift_y },
        { "SHIFT_Z", k->shift_z },
        { "PLACES_Y", s->n[1] },
        { "PLACES_Z", s->n[2] },
        { "PLACE_Y", k->place_y },
        { "PLACE_Z", k->place_z },
        { "BEAM_ID", k->beam_id },
        { "BEAM_IV", k->beam_iv },
        { "BEAM_IW", k->beam_iw },
        { "SAMPLES", k->samples },
        { "STRIDE", k->stride },
        { "SLABS", s->slabs },
        { "CUT", s->cut },
    };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        BN_TRY(bn_plan_define(p, reals[i].name, reals[i].value));
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        BN_TRY(bn_plan_define_int(p, integers[i].name, integers[i].value));
    return BN_OK;
}

/* Photons fly along x: across y or z few come from slab to slab, across x all of them. */
static int axis_of_cuts(const xray *s)
{
    enum { MANY = 16 };
    const int across = s->blocks[2] >= s->blocks[1] ? 2 : 1;
    return s->blocks[0] > MANY * s->blocks[across] ? 0 : across;
}

/* What lies on a device beside the fields, and whether all of the density is on each. */
static bn_status plan_tables(const bn_case *c, xray *s, bn_plan *p)
{
    enum { AUTOMATIC, WHOLE, SLABS };
    const int wish = bn_case_choice(c, "solver.density");
    const uint64_t real = bn_case_double(c) ? 8 : 4, targets = (uint64_t)s->cells[0] * s->cells[1];
    const uint64_t density = real * s->box[0] * s->box[1] * s->box[2];
    const uint64_t majorants = real * s->blocks[0] * s->blocks[1] * s->blocks[2];
    BN_TRY(bn_plan_table(p, 4 * sizeof(int32_t) * targets, 1));
    BN_TRY(bn_plan_table(p, 4 * sizeof(int64_t) * targets, 1));
    BN_TRY(bn_plan_table(p, real * (((uint64_t)1 << XRAY_ANGLE_BITS) + 1), 1));
    s->slabs = wish == SLABS || (wish == AUTOMATIC && !bn_plan_has_room(p, density + majorants, density));
    s->cut = s->slabs ? axis_of_cuts(s) : 2;
    const uint64_t pieces = wish == WHOLE ? 1 : s->blocks[s->slabs ? s->cut : axis_of_cuts(s)];
    BN_TRY(bn_plan_table(p, density, pieces));
    BN_TRY(bn_plan_table(p, majorants, pieces));
    BN_TRY(bn_plan_choice(p, "the density on several devices", s->slabs ? "a slab on each" : "all of it on each"));
    if (!s->slabs) {
        BN_TRY(bn_plan_skip_kernel(p, "xray_cross"));
        return bn_plan_skip_kernel(p, "xray_count");
    }
    s->particle_words = XRAY_WORDS + (XRAY_REALS + (s->k.polarised ? XRAY_POLAR : 0)) * real / sizeof(uint32_t);
    s->particle_room = (size_t)fmin((double)targets * s->layers, XRAY_MIGRATING);
    BN_TRY(bn_plan_table(p, XRAY_LIFE * sizeof(int64_t) * targets, 1));
    BN_TRY(bn_plan_table(p, bn_migrating_particles_bytes(s->particle_words, s->particle_room), 1));
    if (s->cut != 2 && !s->counted)
        BN_TRY(bn_plan_allocate(p, (size_t)s->box[0] * s->box[1] * s->box[2] * sizeof *s->turned, (void **)&s->turned));
    return bn_plan_skip_kernel(p, "xray_fly");
}

static bn_status plan_fields(const xray *s, bn_plan *p)
{
    const unsigned shown = BN_OUTPUT | BN_COMPARE;
    const bn_field_desc fields[] = {
        { "lives", "", BN_T_I64, XRAY_LIFE, BN_STATE | BN_COMPARE },
        { "sums", "", BN_T_I64, 3, BN_STATE | BN_COMPARE },
        { "kept", "", BN_T_REAL, 1, BN_STATE },
        { "amplitude", "", BN_T_REAL, 2, BN_STATE | shown },
        { "intensity", "", BN_T_REAL, 1, shown },
        { "log_intensity", "", BN_T_REAL, 1, shown },
        { "photons", "", BN_T_REAL, 1, shown },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        BN_TRY(bn_plan_field(p, &fields[i]));
    BN_TRY(bn_plan_picture(p, &(bn_picture_desc){ .name = "detector",
                                                  .field = "log_intensity",
                                                  .title = "Detector",
                                                  .quantity = "log10 (intensity + 1)",
                                                  .hidden = s->stopped,
                                                  .timeless = true,
                                                  .map = BN_PICTURE_SEQUENTIAL }));
    BN_TRY(bn_plan_chart(
        p, &(bn_plan_chart_desc){ .table = "cut",
                                  .title = "Cut through the picture along y",
                                  .y_label = "intensity",
                                  .log_y = s->density != XRAY_SINGLE_SLIT && s->density != XRAY_DOUBLE_SLIT,
                                  .x_scale = 1e3,
                                  .x_label = "angle [mrad]" }));
    BN_TRY(bn_plan_chart(p, &(bn_plan_chart_desc){ .table = "rings",
                                                   .title = "Means over rings",
                                                   .y_label = "intensity",
                                                   .x_scale = 1e-9,
                                                   .x_label = "q [1/nm]",
                                                   .log_y = true }));
    if (!s->against_fft)
        return BN_OK;
    BN_TRY(bn_plan_field(p, &(bn_field_desc){ "fourier", "", BN_T_REAL, 1, BN_OUTPUT }));
    BN_TRY(bn_plan_field(p, &(bn_field_desc){ "log_fourier", "", BN_T_REAL, 1, BN_OUTPUT }));
    return bn_plan_picture(p, &(bn_picture_desc){ .name = "fourier",
                                                  .field = "log_fourier",
                                                  .title = "Fourier picture",
                                                  .quantity = "log10 (share of the maximum)",
                                                  .timeless = true,
                                                  .low = -6,
                                                  .high = 0,
                                                  .map = BN_PICTURE_SEQUENTIAL });
}

/* The samples of a scattering go through the detector in steps of the golden section, without meeting a cell twice. */
static int stride_of(uint64_t cells)
{
    uint64_t stride = (uint64_t)(0.6180339887498949 * (double)cells);
    for (; stride > 1; stride--) {
        uint64_t a = cells, b = stride;
        while (b) {
            const uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            break;
    }
    return (int)(stride > 0 ? stride : 1);
}

static void read_case(const bn_case *c, xray *s)
{
    const int compare = bn_case_choice(c, "solver.compare");
    xray_constants *k = &s->k;
    for (size_t d = 0; d < 2; d++)
        s->cells[d] = (uint32_t)bn_case_int_at(c, "detector.cells", d);
    const uint64_t cells = (uint64_t)s->cells[0] * s->cells[1];
    s->cell_angle = bn_case_real(c, "detector.cell_angle");
    s->distance = bn_case_real(c, "detector.distance");
    s->wavelength = bn_case_real(c, "source.wavelength");
    s->law = (xray_angle)bn_case_choice(c, "scattering.angle");
    s->theta_max = bn_case_real(c, "scattering.theta_max");
    s->against_curve = compare == 1 || compare == 3;
    s->against_fft = compare >= 2;
    s->seed = (uint64_t)bn_case_int(c, "case.seed");
    s->photons = (uint64_t)llround(bn_case_real(c, "source.photons"));
    s->coherent = bn_case_int(c, "source.coherent_steps");
    k->most = bn_case_choice(c, "scattering.order") == 0 ? 1 : (int)bn_case_int(c, "scattering.most");
    k->absorption = bn_case_real(c, "density.absorption");
    k->absorbing = k->absorption > 0;
    k->profile = bn_case_choice(c, "source.profile");
    k->placed = bn_case_choice(c, "source.positions");
    k->equal_angles = bn_case_choice(c, "detector.spacing") == 0;
    k->expected = bn_case_choice(c, "solver.estimator");
    k->samples = (int)fmin((double)bn_case_int(c, "solver.samples"), (double)cells);
    k->stride = stride_of(cells);
    s->rounds = (uint32_t)bn_case_int(c, "source.batch");
    const double wanted = fmin(fmax(1, XRAY_ITEMS / (double)cells), XRAY_LAYERS);
    if (s->rounds == 0) { /* a sixty-fourth of all, but a million amplitudes at least */
        const double least = 0x1p20 / (double)cells / (k->expected ? k->samples : 1);
        s->rounds = (uint32_t)fmin(fmax(fmax(1, (double)(s->photons / cells / 64)), least), 64 * wanted);
    }
    /* As few as fill a device, as many as the bytes of the counters need. */
    const double wish = (double)bn_case_int(c, "solver.layers");
    s->layers = (uint32_t)fmax(fmin(wish > 0 ? wish : wanted, s->rounds), ceil((double)s->rounds / XRAY_ROUNDS));
}

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    xray *s = state;
    read_case(c, s);
    BN_TRY(xray_plan_density(c, s, p));
    if (!s->optical && !s->counted)
        return BN_OK; /* rejected */
    for (size_t i = 0; i < 2; i++)
        s->pulse[i] = bn_case_real_at(c, "source.pulse", i);
    if (s->frames > 0 && s->pulse[0] == s->pulse[1]) {
        s->pulse[0] = s->frame[0].time;
        s->pulse[1] = s->frame[s->frames - 1].time;
    }
    if (s->pulse[1] < s->pulse[0])
        return bn_case_reject(c, "source.pulse", NULL, "the last photon enters before the first");
    BN_TRY(xray_plan_source(c, s, p));
    BN_TRY(xray_plan_detector(c, s, p));
    if (s->against_curve && (s->density < XRAY_SINGLE_SLIT || s->density > XRAY_GRATING))
        return bn_case_reject(c, "solver.compare", NULL, "only slits and gratings have a closed form here");
    const double h = s->cell_angle * s->distance, middle[2] = { (double)(s->cells[0] / 2), (double)(s->cells[1] / 2) };
    BN_TRY(bn_plan_grid(p, &(bn_grid){ .dims = 2,
                                       .n = { s->cells[0], s->cells[1], 1 },
                                       .h = { h, h, 1 },
                                       .origin = { -middle[0] * h, -middle[1] * h } }));
    BN_TRY(plan_fields(s, p));
    BN_TRY(plan_tables(c, s, p));
    BN_TRY(plan_defines(s, p));
    BN_TRY(xray_plan_results(s, p));
    BN_TRY(bn_plan_series(p, "photons", ""));
    bn_plan_steps(p, ceil((double)s->photons / ((double)s->rounds * s->cells[0] * s->cells[1])));
    return BN_OK;
}

static bn_status init(bn_sim *sim, void *state)
{
    xray *s = state;
    s->lives = bn_sim_field(sim, "lives");
    s->sums = bn_sim_field(sim, "sums");
    s->kept = bn_sim_field(sim, "kept");
    s->amplitude = bn_sim_field(sim, "amplitude");
    s->intensity = bn_sim_field(sim, "intensity");
    s->shown = bn_sim_field(sim, "log_intensity");
    s->hits = bn_sim_field(sim, "photons");
    bn_field *all[] = { s->lives, s->sums, s->kept, s->amplitude, s->intensity, s->shown, s->hits };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        BN_TRY(bn_field_zero(all[i]));
    if (!s->against_fft)
        return BN_OK;
    s->fourier = bn_sim_field(sim, "fourier");
    s->log_fourier = bn_sim_field(sim, "log_fourier");
    return BN_OK;
}

static bn_status keep(bn_sim *sim, void *state, bn_checkpoint_state *k)
{
    xray *s = state;
    unsigned long long flown = s->flown;
    (void)sim;
    BN_TRY(bn_state_counts(k, "photons", &flown, 1));
    s->flown = flown;
    return BN_OK;
}

const bn_solver bn_solver_xray = {
    .name = "xray",
    .summary = "x-ray photons with phase through an electron density: small-angle scattering",
    .schema = schema,
    .kernels = kernels,
    .state_size = sizeof(xray),
    .device = &xray_device,
    .reference = { &bn_xray_reference_single, &bn_xray_reference_double },
    .plan = plan,
    .init = init,
    .measure = xray_measure,
    .serialize = keep,
    .variants = variants,
};
