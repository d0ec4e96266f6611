/* xray.c: small-angle scattering by Monte Carlo transport of photons with phase (docs/xray.md): keys of the case, plan,
 * table. */
#include "xray.h"

#include <math.h>

/* clang-format off */
/* The defaults are the double slit, so that the shortest case shows something. */
static const bn_key schema[] = {
    { .name = "density.kind", .type = BN_KEY_CHOICE,
      .choices = BN_CHOICES(XRAY_DENSITIES),
      .def_text = "double-slit",
      .help = "shape of the density, seen from the entrance: x into it, y and z across; slits, lines along z" },
    { .name = "density.cells", .type = BN_KEY_INT, .count = 3, .def = 128, .min = 1, .max = 65536, .inferred = true,
      .help = "cells along x, y, z; those of a file need not be given" },
    { .name = "density.cell", .type = BN_KEY_REAL, .count = 3, .unit = "m", .def = 4e-9, .max = 1, .above = true,
      .inferred = true, .help = "sides of a cell; where a file tells them, they need not be given" },
    { .name = "density.file", .type = BN_KEY_TEXT, .def_text = "",
      .only = "density.kind=file",
      .help = ".vti, .pvti, .vtu or .vtk (cells that fill a lattice), .tif (a stack along z), .h5 (openPMD or plain), "
              "or .png (black is dense, the same along x); relative to the case file" },
    { .name = "density.frame.file", .type = BN_KEY_TEXT, .def_text = "", .list = true,
      .only = "density.kind=series",
      .help = "the density at a time, any of these but .png; linear in between" },
    { .name = "density.frame.time", .type = BN_KEY_REAL, .unit = "s", .min = -1e9, .max = 1e9, .list = true,
      .only = "density.kind=series",
      .help = "that time" },
    { .name = "density.array", .type = BN_KEY_TEXT, .def_text = "",
      .only = "density.kind=file|series",
      .help = "which array of VTK's files or .h5; empty: the only one" },
    { .name = "density.measure", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(XRAY_MEASURES), .def_text = "probability",
      .help = "what values mean: probability of a scattering in a cell, along its side in the flight's direction; or "
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
      .help = "of a slit or a line, along y; a cell has the density of its middle" },
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
    { .name = "source.face", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(XRAY_FACES),
      .def_text = "x_min", .help = "face of the grid where photons enter; y and z across follow it in cyclic order" },
    { .name = "source.wavelength", .type = BN_KEY_REAL, .unit = "m", .def = 1e-10, .max = 1, .above = true,
      .help = "of the light" },
    { .name = "source.photons", .type = BN_KEY_REAL, .def = 1e8, .min = 1, .max = XRAY_PHOTONS, .help = "in all" },
    { .name = "source.batch", .type = BN_KEY_INT, .def = 0, .min = 0, .max = XRAY_ROUNDS * XRAY_LAYERS,
      .help = "photons of a step, per cell of the detector; 0: about a sixty-fourth of all" },
    { .name = "source.profile", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(XRAY_PROFILES), .def_text = "uniform",
      .help = "of the light across the entrance" },
    { .name = "source.size", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = 0, .max = 1,
      .only = "source.profile!=pencil",
      .help = "of the light along y and z; gaussian: full width at half maximum; 0: the whole face" },
    { .name = "source.centre", .type = BN_KEY_REAL, .count = 2, .unit = "m", .def = 0, .min = -1, .max = 1,
      .help = "of the light, from the middle of the face" },
    { .name = "source.positions", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(XRAY_POSITIONS), .def_text = "random",
      .only = "source.profile!=pencil",
      .help = "of photons in their cell; fixed: in its middle" },
    { .name = "source.tilt", .type = BN_KEY_REAL, .count = 2, .unit = "rad", .def = 0, .min = -1.5, .max = 1.5,
      .help = "of the light's direction against x, towards y and z" },
    { .name = "source.polarisation", .type = BN_KEY_REAL, .unit = "rad", .def = 0, .min = -7, .max = 7,
      .only = "scattering.angle=polarised",
      .help = "angle of the electric field to y" },
    { .name = "source.pulse", .type = BN_KEY_REAL, .count = 2, .unit = "s", .min = -1e9, .max = 1e9,
      .only = "density.kind=series",
      .help = "when the first photon enters a series of densities, and the last; each step's photons see the "
              "density of its middle; equal: all frames" },
    { .name = "source.coherent_steps", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 1e15,
      .help = "coherence time: photons of so many steps interfere, then intensities add up; 0: all interfere" },
    { .name = "scattering.angle", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(XRAY_LAWS),
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
    { .name = "scattering.order", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(XRAY_MULTIPLICITIES),
      .def_text = "single",
      .help = "whether a photon may be scattered again" },
    { .name = "scattering.most", .type = BN_KEY_INT, .def = XRAY_SCATTERINGS_MAX, .min = 1, .max = XRAY_SCATTERINGS_MAX,
      .only = "scattering.order=multiple",
      .help = "scatterings of a photon at most, where they are multiple" },
    { .name = "detector.cells", .type = BN_KEY_INT, .count = 2, .def = 1024, .min = 2, .max = 16384,
      .help = "along y and z; the undisturbed direction is the middle of cell cells / 2" },
    { .name = "detector.cell_angle", .type = BN_KEY_REAL, .unit = "rad", .def = 70e-6, .max = 1, .above = true,
      .help = "seen under by the cell in the middle" },
    { .name = "detector.spacing", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(XRAY_SPACINGS), .def_text = "angles",
      .help = "whether the cells have equal angles or equal sides" },
    { .name = "detector.distance", .type = BN_KEY_REAL, .unit = "m", .def = 5, .max = 1e6, .above = true,
      .help = "from the entrance" },
    { .name = "detector.beam_stop", .type = BN_KEY_REAL, .def = 2, .min = 0, .max = 16384,
      .help = "radius of what the direct beam can't reach, in cells; 0: nothing" },
    { .name = "detector.volume", .type = BN_KEY_BOOL,
      .only = "density.kind!=series",
      .help = "also count collisions in each cell of the density: fluence, and what is absorbed" },
    { .name = "flight.method", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(XRAY_TRACKINGS), .def_text = "delta",
      .help = "delta: tentative collisions at the largest density of a block of cells; exact: from cell to cell" },
    { .name = "flight.block", .type = BN_KEY_INT, .def = 0, .min = 0, .max = 7,
      .only = "flight.method=delta",
      .help = "a block has 2^block cells a side; 0: where photons have least to do" },
    { .name = "solver.estimator", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(XRAY_ESTIMATORS), .def_text = "analog",
      .help = "what a scattering adds to the picture: its photon, or its expected value in some of the cells" },
    { .name = "solver.samples", .type = BN_KEY_INT, .def = 16, .min = 1, .max = 1000000,
      .only = "solver.estimator=expected",
      .help = "cells that the expected-value estimator visits for a scattering" },
    { .name = "solver.layers", .type = BN_KEY_INT, .def = 0, .min = 0, .max = XRAY_LAYERS,
      .help = "work-items per cell of the detector that share its photons of a step, as far as there are enough; 0: as "
              "many as fill a device. The result is the same" },
    { .name = "solver.density", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(XRAY_DISTRIBUTIONS),
      .def_text = "automatic",
      .help = "where several devices compute: all of the density on each, or a slab of it, and photons that come to "
              "another slab migrate to its device; automatic: slabs if a device has no room for all of it. The result "
              "is the same" },
    { .name = "solver.compare", .type = BN_KEY_CHOICE, .choices = BN_CHOICES(XRAY_COMPARISONS), .def_text = "none",
      .help = "the cut along y with the closed form of slits and gratings; the Fourier picture of the projection" },
    { 0 },
};
/* clang-format on */

/* The number of work-items per cell of the detector changes no result; other blocks use other random numbers. */
static bool delta_tracking(const bn_case *c) { return bn_case_choice(c, "flight.method") == XRAY_DELTA; }
static const bn_variant variants[] = {
    { "solver.layers", "1|2|4|8|16|32|64", true, NULL },
    { "flight.block", "0|1|2|3|4", false, delta_tracking },
    { 0 },
};

static const bn_kernel_desc kernels[] = {
    { "xray_trace", BN_PER_CELL, { .reads = 28, .writes = 28, .flops = 400 } },
    { "xray_trace_slab", BN_PER_PARTICLE, { .reads = 28, .writes = 28, .flops = 400 } },
    { "xray_collect_tallies", BN_PER_CELL, { .reads = 30, .writes = 30, .flops = 15 } },
    { "xray_gather", BN_PER_CELL, { .reads = 15, .writes = 20, .flops = 20 } },
    { 0 },
};

/* clang-format off */
/* Integers that kernels know by these names; `s` is the state. */
#define XRAY_CODES(X)                                                                                  \
    X(BOX_X, s->volume.box[0], "cells of the bounding box of the density")                              \
    X(BOX_Y, s->volume.box[1], "along y")                                                               \
    X(BOX_Z, s->volume.box[2], "along z")                                                               \
    X(BITS_X, s->volume.bits[0], "binary logarithm of a block's side in cells")                         \
    X(BITS_Y, s->volume.bits[1], "along y")                                                             \
    X(BITS_Z, s->volume.bits[2], "along z")                                                             \
    X(BLOCKS_X, s->volume.blocks[0], "blocks in the box")                                               \
    X(BLOCKS_Y, s->volume.blocks[1], "along y")                                                         \
    X(BLOCKS_Z, s->volume.blocks[2], "along z")                                                         \
    X(THINNED, s->volume.thinned, "blocks of unlike cells; 0: every collision is a scattering")         \
    X(DENSE, s->volume.dense, "most tentative collisions lie in the block where the flight began")          \
    X(SLABS, s->slabs.used, "each device has a slab of the density")                                    \
    X(CUT, s->slabs.cut, "axis of the slabs")                                                           \
    X(KEY0, s->config.seed & UINT32_MAX, "key of the random numbers")                                   \
    X(KEY1, s->config.seed >> 32, "its upper word")                                                     \
    X(SCATTERINGS_MAX, s->config.scatterings_max, "after so many a photon is scattered no more")             \
    X(POLARISED, s->config.law == XRAY_POLARISED, "the direction has a polarisation")                   \
    X(ABSORBING, s->i.absorption > 0, "collisions absorb")                                              \
    X(ABSORPTION_UNITS, s->i.absorption, "this share, in units of 2^-ABSORPTION_BITS")                  \
    X(ABSORPTION_BITS, s->i.absorption_bits, "of that number")                                          \
    X(TALLY_BITS, s->i.tally_bits, "weights of photons are multiples of 2^-TALLY_BITS")                 \
    X(VOLUME, s->config.volume, "collisions are counted in the cells of the density")                   \
    X(VOLUME_SETS, xray_counter_sets(s), "sets of counters there")                                      \
    X(PROFILE, s->config.profile, "of the light across the entrance")                                   \
    X(POSITIONS, s->config.positions, "of photons in their cell of the entrance")                       \
    X(EQUAL_ANGLES, s->config.spacing == XRAY_ANGLES, "of the detector's cells")                        \
    X(ESTIMATOR, s->config.estimator, "what a scattering adds to the picture")                          \
    X(SAMPLES, s->config.samples, "of the expected-value estimator")                                    \
    X(SAMPLE_STRIDE, s->config.sample_stride, "cells from sample to sample")                            \
    X(APERTURE_Y, s->i.aperture[0], "width of the light in path units")                                 \
    X(APERTURE_Z, s->i.aperture[1], "along z")                                                          \
    X(SHIFT_Y, s->i.shift[0], "its middle")                                                             \
    X(SHIFT_Z, s->i.shift[1], "along z")                                                                \
    X(FACE_CELLS_Y, s->volume.n[1], "cells of the entrance")                                            \
    X(FACE_CELLS_Z, s->volume.n[2], "along z")                                                          \
    X(CELL_SIDE_Y, s->i.cell_side[0], "of the entrance, path units / 2^16")                             \
    X(CELL_SIDE_Z, s->i.cell_side[1], "along z")                                                        \
    X(BEAM_DEFICIT_UNITS, s->i.beam[0], "1 - u of the beam in units of 2^-31")                          \
    X(BEAM_V_UNITS, s->i.beam[1], "v")                                                                  \
    X(BEAM_W_UNITS, s->i.beam[2], "w")                                                                  \
    X(PATH_BITS, s->i.path_bits, "a path unit is 2^-PATH_BITS wavelengths")                             \
    X(FIXED_BITS, s->i.fixed_bits, "sums are of multiples of 2^-FIXED_BITS photons")                    \
    X(ANGLE_BITS, s->i.angle_bits, "the angles' array has 2^ANGLE_BITS intervals; 0: none")             \
    X(HALVINGS, s->i.halvings, "of the argument of the arctangent")
/* clang-format on */

#define XRAY_CHOICE_ENTRY(id, text) { #id, id },
static bn_status plan_constants(const xray *s, bn_plan *p)
{
    static const bn_code choices[] = { XRAY_PROFILES(XRAY_CHOICE_ENTRY) XRAY_POSITIONS(XRAY_CHOICE_ENTRY)
                                           XRAY_ESTIMATORS(XRAY_CHOICE_ENTRY){ NULL, 0 } };
    BN_TRY(bn_plan_constants(p, BN_CONSTANT_NAMES(XRAY_CONSTANTS), (const double *)&s->k));
    BN_TRY(bn_plan_codes(p, choices));
    const char *const needs[] = { s->config.law == XRAY_POLARISED ? "polarised light" : NULL,
                                  s->config.profile == XRAY_GAUSSIAN ? "a gaussian profile" : NULL,
                                  s->i.absorption > 0 ? "absorption" : NULL,
                                  s->config.volume ? "a tally in the volume" : NULL,
                                  s->volume.dense ? "dense blocks" : NULL };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i])
            BN_TRY(bn_plan_needs(p, needs[i]));
    BN_TRY(bn_plan_codes(p, BN_CODES(XRAY_TALLY_COMPONENTS)));
    return bn_plan_codes(p, BN_CODES(XRAY_CODES));
}

/* Photons move along x: across y or z few migrate from slab to slab, across x all of them. */
static int axis_of_slabs(const xray *s)
{
    enum { MANY = 16 };
    const int across = s->volume.blocks[2] >= s->volume.blocks[1] ? 2 : 1;
    return s->volume.blocks[0] > MANY * s->volume.blocks[across] ? 0 : across;
}

/* What lies on a device beside the fields, and whether all of the density is on each. */
static bn_status plan_tables(const bn_case *c, xray *s, bn_plan *p)
{
    const xray_distribution wish = (xray_distribution)bn_case_choice(c, "solver.density");
    const uint64_t real = bn_case_double(c) ? 8 : 4, targets = xray_detector_cells(s);
    const uint64_t density = real * xray_cells(s->volume.box);
    const uint64_t majorants = real * xray_cells(s->volume.blocks);
    BN_TRY(bn_plan_table(p, 4 * sizeof(int32_t) * targets, 1));
    BN_TRY(bn_plan_table(p, 4 * sizeof(int64_t) * targets, 1));
    BN_TRY(bn_plan_table(p, real * (((uint64_t)1 << XRAY_ANGLE_BITS) + 1), 1));
    BN_TRY(bn_plan_table(p, xray_counters(s) * sizeof(int64_t), 1));
    s->slabs.used = wish == XRAY_SLABS ||
                    (wish == XRAY_AUTOMATIC && !bn_plan_has_room(p, density + majorants, density));
    s->slabs.cut = s->slabs.used ? axis_of_slabs(s) : 2;
    const uint64_t pieces = wish == XRAY_WHOLE ? 1 : s->volume.blocks[s->slabs.used ? s->slabs.cut : axis_of_slabs(s)];
    BN_TRY(bn_plan_table(p, density, pieces));
    BN_TRY(bn_plan_table(p, majorants, pieces));
    BN_TRY(bn_plan_choice(p, "the density on several devices", s->slabs.used ? "a slab on each" : "all of it on each"));
    if (!s->slabs.used) {
        BN_TRY(bn_plan_skip_kernel(p, "xray_trace_slab"));
        return bn_plan_skip_kernel(p, "xray_collect_tallies");
    }
    s->slabs.words = XRAY_PHOTON_WORDS +
                     (XRAY_PHOTON_REALS + (s->config.law == XRAY_POLARISED ? XRAY_POLARISATION_REALS : 0)) * real /
                         sizeof(uint32_t);
    s->slabs.room = (size_t)fmin((double)targets * s->config.layers, XRAY_MIGRATING);
    BN_TRY(bn_plan_table(p, XRAY_TALLIES * sizeof(int64_t) * targets, 1));
    BN_TRY(bn_plan_table(p, bn_migrating_particles_bytes(s->slabs.words, s->slabs.room), 1));
    if (s->slabs.cut != 2 && !s->volume.counted)
        BN_TRY(bn_plan_allocate(p, xray_cells(s->volume.box) * sizeof *s->slabs.transposed,
                                (void **)&s->slabs.transposed));
    return bn_plan_skip_kernel(p, "xray_trace");
}

static bn_status plan_fields(xray *s, bn_plan *p)
{
    xray_fields *f = &s->fields;
    const unsigned shown = BN_OUTPUT | BN_COMPARE;
    const double mrad = 1e3 / s->config.distance; /* in a metre on the detector */
    const struct {
        bn_field **out;
        bn_field_desc desc;
    } fields[] = {
        { &f->tallies, { "tallies", "", BN_T_I64, XRAY_TALLIES, BN_STATE | BN_COMPARE } },
        { &f->sums, { "sums", "", BN_T_I64, 3, BN_STATE | BN_COMPARE } },
        { &f->past, { "past", "", BN_T_REAL, 1, BN_STATE } },
        { &f->amplitude, { "amplitude", "", BN_T_REAL, 2, BN_STATE | shown } },
        { &f->intensity, { "intensity", "", BN_T_REAL, 1, shown } },
        { &f->log_intensity, { "log_intensity", "", BN_T_REAL, 1, shown } },
        { &f->photons, { "photons", "", BN_T_REAL, 1, shown } },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        BN_TRY(bn_plan_field(p, fields[i].out, &fields[i].desc));
    BN_TRY(bn_plan_picture(p, &(bn_picture_desc){ .name = "detector",
                                                  .field = "log_intensity",
                                                  .title = "Detector",
                                                  .quantity = "log10 (intensity + 1)",
                                                  .hidden = s->detector.stopped,
                                                  .timeless = true,
                                                  .axis_scale = s->config.spacing == XRAY_ANGLES ? mrad : 0,
                                                  .axis_unit = "mrad",
                                                  .map = BN_PICTURE_SEQUENTIAL }));
    BN_TRY(bn_plan_chart(p, &(bn_plan_chart_desc){ .table = "cut",
                                                   .title = "Cut through the picture along y",
                                                   .y_label = "intensity",
                                                   .log_y = s->config.density != XRAY_SINGLE_SLIT &&
                                                            s->config.density != XRAY_DOUBLE_SLIT,
                                                   .x_scale = 1e3,
                                                   .x_label = "angle [mrad]" }));
    BN_TRY(bn_plan_chart(p, &(bn_plan_chart_desc){ .table = "rings",
                                                   .title = "Means over rings, bars: standard errors",
                                                   .y_label = "intensity I(q)",
                                                   .x_scale = 1e-9,
                                                   .x_label = "q [1/nm]",
                                                   .log_y = true }));
    if (!xray_against_fft(s))
        return BN_OK;
    BN_TRY(bn_plan_field(p, &f->fourier, &(bn_field_desc){ "fourier", "", BN_T_REAL, 1, BN_OUTPUT }));
    BN_TRY(bn_plan_field(p, &f->log_fourier, &(bn_field_desc){ "log_fourier", "", BN_T_REAL, 1, BN_OUTPUT }));
    return bn_plan_picture(p, &(bn_picture_desc){ .name = "fourier",
                                                  .field = "log_fourier",
                                                  .title = "Fourier picture",
                                                  .quantity = "log10 (share of the maximum)",
                                                  .timeless = true,
                                                  .axis_scale = s->config.spacing == XRAY_ANGLES ? mrad : 0,
                                                  .axis_unit = "mrad",
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

static void read_source(const bn_case *c, xray_config *k)
{
    k->density = (xray_density)bn_case_choice(c, "density.kind");
    k->measure = (xray_measured)bn_case_choice(c, "density.measure");
    k->width = bn_case_real(c, "density.width");
    k->pitch = bn_case_real(c, "density.pitch");
    k->face = (xray_face)bn_case_choice(c, "source.face");
    k->wavelength = bn_case_real(c, "source.wavelength");
    k->seed = (uint64_t)bn_case_int(c, "case.seed");
    k->photons = (uint64_t)llround(bn_case_real(c, "source.photons"));
    k->coherent_steps = bn_case_int(c, "source.coherent_steps");
    k->profile = (xray_profile)bn_case_choice(c, "source.profile");
    k->positions = (xray_positions)bn_case_choice(c, "source.positions");
    for (size_t i = 0; i < 2; i++)
        k->pulse[i] = bn_case_real_at(c, "source.pulse", i);
}

static void read_scattering(const bn_case *c, xray_config *k)
{
    const bool multiple = bn_case_choice(c, "scattering.order") == XRAY_MULTIPLE;
    k->law = (xray_law)bn_case_choice(c, "scattering.angle");
    k->theta_max = bn_case_real(c, "scattering.theta_max");
    k->scatterings_max = multiple ? (int)bn_case_int(c, "scattering.most") : 1;
    for (size_t d = 0; d < 2; d++)
        k->cells[d] = (uint32_t)bn_case_int_at(c, "detector.cells", d);
    k->cell_angle = bn_case_real(c, "detector.cell_angle");
    k->distance = bn_case_real(c, "detector.distance");
    k->spacing = (xray_spacing)bn_case_choice(c, "detector.spacing");
    k->tracking = (xray_tracking)bn_case_choice(c, "flight.method");
    k->block_bits = (int)bn_case_int(c, "flight.block");
    k->estimator = (xray_estimator)bn_case_choice(c, "solver.estimator");
    k->compare = (xray_comparison)bn_case_choice(c, "solver.compare");
    k->absorption = bn_case_real(c, "density.absorption");
    k->volume = bn_case_bool(c, "detector.volume");
}

/* Photons of a step and work-items of a cell. */
static void choose_batch(const bn_case *c, xray_config *k)
{
    const uint64_t cells = (uint64_t)k->cells[0] * k->cells[1];
    const double items = fmin(fmax(1, XRAY_ITEMS / (double)cells), XRAY_LAYERS);
    k->samples = (int)fmin((double)bn_case_int(c, "solver.samples"), (double)cells);
    k->sample_stride = stride_of(cells);
    k->rounds = (uint32_t)bn_case_int(c, "source.batch");
    if (k->rounds == 0) { /* a sixty-fourth of all, but a million amplitudes at least */
        const double least = 0x1p20 / (double)cells / (k->estimator == XRAY_EXPECTED ? k->samples : 1);
        k->rounds = (uint32_t)fmin(fmax(fmax(1, (double)(k->photons / cells / 64)), least), 64 * items);
    }
    /* As few as fill a device, as many as the bytes of the tallies need. */
    const double wish = (double)bn_case_int(c, "solver.layers");
    k->layers = (uint32_t)fmax(fmin(wish > 0 ? wish : items, k->rounds), ceil((double)k->rounds / XRAY_ROUNDS));
}

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    xray *s = state;
    read_source(c, &s->config);
    read_scattering(c, &s->config);
    choose_batch(c, &s->config);
    BN_TRY(xray_plan_density(c, s, p));
    if (!s->volume.optical && !s->volume.counted)
        return BN_OK; /* rejected */
    if (s->volume.frames > 0 && s->config.pulse[0] == s->config.pulse[1]) {
        s->config.pulse[0] = s->volume.frame[0].time;
        s->config.pulse[1] = s->volume.frame[s->volume.frames - 1].time;
    }
    if (s->config.pulse[1] < s->config.pulse[0])
        return bn_case_reject(c, "source.pulse", NULL, "the last photon enters before the first");
    BN_TRY(xray_plan_source(c, s, p));
    BN_TRY(xray_plan_detector(c, s, p));
    if (xray_against_curve(s) && (s->config.density < XRAY_SINGLE_SLIT || s->config.density > XRAY_GRATING))
        return bn_case_reject(c, "solver.compare", NULL, "only slits and gratings have a closed form here");
    const double h = s->config.cell_angle * s->config.distance,
                 middle[2] = { (double)(s->config.cells[0] / 2), (double)(s->config.cells[1] / 2) };
    BN_TRY(bn_plan_grid(p, &(bn_grid){ .dims = 2,
                                       .n = { s->config.cells[0], s->config.cells[1], 1 },
                                       .h = { h, h, 1 },
                                       .origin = { -middle[0] * h, -middle[1] * h } }));
    BN_TRY(plan_fields(s, p));
    BN_TRY(xray_plan_volume(s, p));
    BN_TRY(plan_tables(c, s, p));
    BN_TRY(plan_constants(s, p));
    BN_TRY(xray_plan_results(s, p));
    BN_TRY(bn_plan_series(p, "photons", ""));
    if (xray_against_curve(s))
        BN_TRY(bn_plan_series(p, "mqf", ""));
    const double batch = (double)s->config.rounds * s->config.cells[0] * s->config.cells[1];
    bn_plan_scales(p, &(bn_plan_scaling){ .rate = 28.6e9, .points = batch, .wait = 70e-6 });
    bn_plan_steps(p, ceil((double)s->config.photons / batch));
    return BN_OK;
}

static bn_status init(bn_sim *sim, void *state)
{
    xray *s = state;
    const xray_fields *f = &s->fields;
    bn_field *const zero[] = { f->tallies, f->sums, f->past, f->amplitude, f->intensity, f->log_intensity, f->photons };
    (void)sim;
    for (size_t i = 0; i < sizeof zero / sizeof *zero; i++)
        BN_TRY(bn_field_zero(zero[i]));
    return s->config.volume ? bn_field_zero(f->counted) : BN_OK;
}

static bn_status serialize(bn_sim *sim, void *state, bn_checkpoint_state *k)
{
    xray *s = state;
    unsigned long long traced = s->traced;
    (void)sim;
    BN_TRY(bn_state_counts(k, "photons", &traced, 1));
    s->traced = traced;
    return BN_OK;
}

/* All counts are whole numbers. */
static double balance_limit(const bn_sim *sim, const void *state)
{
    (void)sim;
    (void)state;
    return 0;
}

const bn_solver bn_solver_xray = {
    .name = "xray",
    .summary = "x-ray photons with phase through an electron density: small-angle scattering",
    .counts = "photons",
    .schema = schema,
    .program = "xray+xray_slabs",
    .kernels = kernels,
    .state_size = sizeof(xray),
    .device = &xray_device,
    .reference = { &bn_xray_reference_single, &bn_xray_reference_double },
    .plan = plan,
    .init = init,
    .measure = xray_measure,
    .serialize = serialize,
    .balance = "uncounted",
    .balance_limit = balance_limit,
    .variants = variants,
};
