/* xray.h: what the parts of `xray` share: Monte Carlo transport of photons with phase through an electron density to a
 * detector. The frame is the photons': x goes from the entrance face into the density, y and z along the face; lengths
 * in metres unless said otherwise. */
#ifndef BN_XRAY_H
#define BN_XRAY_H

#include "api/migrate.h"
#include "sim/solver.h"

enum {
    XRAY_FIXED_BITS = 22, /* amplitudes are sums of multiples of 2^-22: 2^40 photons in one cell still fit */
    XRAY_ANGLE_BITS = 12, /* the array of the scattering angle has 2^12 intervals */
    XRAY_ROUNDS = 255,    /* photons that a work-item traces in one launch at most: their orders are counted in bytes */
    XRAY_LAYERS = 256,    /* work-items per cell at most */
    XRAY_ITEMS = 1 << 18, /* work-items that fill a large device */
    XRAY_SCATTERINGS_MAX = 1000000,
    XRAY_SETS = 4,            /* sets of counters in the volume */
    XRAY_SET_CELLS = 1 << 21, /* counters of all sets, where there is more than one */
    XRAY_MIGRATING = 1 << 18, /* photons that a device takes from others at a time, at most */
    XRAY_PHOTON_WORDS =
        19, /* of a migrating photon, beside its reals and those of its polarisation: pack() of xray_slabs.cl */
    XRAY_PHOTON_REALS = 8,
    XRAY_POLARISATION_REALS = 3
};
/* Photons in all: the sums can't overflow, wherever they land. */
#define XRAY_PHOTONS 1e12

/* clang-format off */
/* Choices of the case. */
#define XRAY_DENSITIES(X)                                                                                          \
    X(XRAY_SLAB, "slab") X(XRAY_SINGLE_SLIT, "single-slit") X(XRAY_DOUBLE_SLIT, "double-slit")                      \
    X(XRAY_GRATING, "grating") X(XRAY_OFFSET_GRATINGS, "offset-gratings") X(XRAY_SPHERE, "sphere")                  \
    X(XRAY_FOIL, "foil") X(XRAY_FILE, "file") X(XRAY_SERIES, "series")
#define XRAY_MEASURES(X) X(XRAY_PROBABILITY, "probability") X(XRAY_ELECTRONS, "electrons")
#define XRAY_FACES(X)                                                                                              \
    X(XRAY_X_MIN, "x_min") X(XRAY_X_MAX, "x_max") X(XRAY_Y_MIN, "y_min") X(XRAY_Y_MAX, "y_max")                     \
    X(XRAY_Z_MIN, "z_min") X(XRAY_Z_MAX, "z_max")
#define XRAY_PROFILES(X) X(XRAY_UNIFORM_LIGHT, "uniform") X(XRAY_GAUSSIAN, "gaussian") X(XRAY_PENCIL, "pencil")
#define XRAY_POSITIONS(X) X(XRAY_RANDOM, "random") X(XRAY_FIXED, "fixed")
#define XRAY_LAWS(X)                                                                                               \
    X(XRAY_UNIFORM, "uniform") X(XRAY_THOMSON, "thomson") X(XRAY_POLARISED, "polarised")                            \
    X(XRAY_HENYEY, "henyey-greenstein") X(XRAY_TABLE, "table")
#define XRAY_MULTIPLICITIES(X) X(XRAY_SINGLE, "single") X(XRAY_MULTIPLE, "multiple")
#define XRAY_SPACINGS(X) X(XRAY_ANGLES, "angles") X(XRAY_LENGTHS, "lengths")
#define XRAY_TRACKINGS(X) X(XRAY_DELTA, "delta") X(XRAY_EXACT, "exact")
#define XRAY_ESTIMATORS(X) X(XRAY_ANALOG, "analog") X(XRAY_EXPECTED, "expected")
#define XRAY_DISTRIBUTIONS(X) X(XRAY_AUTOMATIC, "automatic") X(XRAY_WHOLE, "whole") X(XRAY_SLABS, "slabs")
#define XRAY_COMPARISONS(X)                                                                                        \
    X(XRAY_COMPARE_NONE, "none") X(XRAY_COMPARE_CURVE, "curve") X(XRAY_COMPARE_FFT, "fft") X(XRAY_COMPARE_BOTH, "both")
/* clang-format on */
typedef enum xray_density { XRAY_DENSITIES(BN_CHOICE_ENUM) } xray_density;
typedef enum xray_measured { XRAY_MEASURES(BN_CHOICE_ENUM) } xray_measured;
typedef enum xray_face { XRAY_FACES(BN_CHOICE_ENUM) } xray_face;
typedef enum xray_profile { XRAY_PROFILES(BN_CHOICE_ENUM) } xray_profile;
typedef enum xray_positions { XRAY_POSITIONS(BN_CHOICE_ENUM) } xray_positions;
typedef enum xray_law { XRAY_LAWS(BN_CHOICE_ENUM) } xray_law;
typedef enum xray_multiplicity { XRAY_MULTIPLICITIES(BN_CHOICE_ENUM) } xray_multiplicity;
typedef enum xray_spacing { XRAY_SPACINGS(BN_CHOICE_ENUM) } xray_spacing;
typedef enum xray_tracking { XRAY_TRACKINGS(BN_CHOICE_ENUM) } xray_tracking;
typedef enum xray_estimator { XRAY_ESTIMATORS(BN_CHOICE_ENUM) } xray_estimator;
typedef enum xray_distribution { XRAY_DISTRIBUTIONS(BN_CHOICE_ENUM) } xray_distribution;
typedef enum xray_comparison { XRAY_COMPARISONS(BN_CHOICE_ENUM) } xray_comparison;

/* clang-format off */
/* Real constants of kernels and reference. Path units: 2^-path_bits wavelengths. */
#define XRAY_CONSTANTS(X)                                                              \
    X(start_x, "entrance along x, in cells of the bounding box")                        \
    X(centre_y, "middle of the entrance in cells of the bounding box")                  \
    X(centre_z, "the same along z")                                                     \
    X(unit_y, "cells per path unit along y")                                            \
    X(unit_z, "the same along z")                                                       \
    X(per_y, "cells along y per side of a cell along x")                                \
    X(per_z, "the same along z")                                                        \
    X(path_scale, "path units per side of a cell along x")                              \
    X(deficit, "1 - cos of the largest scattering angle")                               \
    X(beam_u, "direction of the beam")                                                  \
    X(beam_v, "along y")                                                                \
    X(beam_w, "along z")                                                                \
    X(e_u, "its polarisation")                                                          \
    X(e_v, "along y")                                                                   \
    X(e_w, "along z")                                                                   \
    X(far_y, "tangent, seen from the detector, of a path unit along y")                 \
    X(far_z, "the same along z")                                                        \
    X(per_cell_y, "cells of the detector per unit of angle or tangent along y")         \
    X(per_cell_z, "the same along z")                                                   \
    X(reach, "tangent beyond which no cell of the detector lies")                       \
    X(gain, "of the logarithmic picture")                                               \
    X(expectation, "weight of a sample of the expected-value estimator")
/* Components of the field "tallies", for kernels too; before XRAY_DETECTED: photons by number of scatterings. */
#define XRAY_TALLY_COMPONENTS(X)                                                       \
    X(XRAY_ORDERS, 8, "numbers of scatterings, the last: that or more")                 \
    X(XRAY_DETECTED, 8, "photons in a cell of the detector")                            \
    X(XRAY_STOPPED, 9, "behind the beam stop")                                          \
    X(XRAY_MISSED, 10, "beside the detector")                                           \
    X(XRAY_SCATTERINGS, 11, "of all photons")                                           \
    X(XRAY_COSINES, 12, "sum of the final direction's x in units of 2^-tally_bits")     \
    X(XRAY_SQUARES, 13, "of its square")                                                \
    X(XRAY_ESCAPED, 14, "photons that are not absorbed, in the same units")             \
    X(XRAY_TALLIES, 15, "components")
/* clang-format on */
typedef struct xray_constants {
    XRAY_CONSTANTS(BN_CONSTANT_MEMBER)
} xray_constants;
#define XRAY_CODE_ENUM(name, value, meaning) name = (value),
enum { XRAY_TALLY_COMPONENTS(XRAY_CODE_ENUM) };

/* What the case says. */
typedef struct xray_config {
    xray_density density;
    xray_measured measure;
    xray_face face;
    double width, pitch; /* of the slits */
    double pulse[2];     /* when the first photon enters and the last one [s] */
    double wavelength;
    uint64_t seed, photons;
    uint32_t rounds, layers;  /* photons per detector cell in a step, and work-items that trace them */
    long long coherent_steps; /* in which amplitudes add up; 0: all */
    xray_profile profile;
    xray_positions positions;
    xray_law law;
    double theta_max;
    int scatterings_max;
    uint32_t cells[2]; /* of the detector */
    double cell_angle, distance;
    xray_spacing spacing;
    xray_tracking tracking;
    int block_bits; /* wished; 0: to be chosen */
    xray_estimator estimator;
    int samples, sample_stride;
    xray_comparison compare;
    double absorption;
    bool volume; /* a tally in each cell of the density */
} xray_config;

/* The density at one time: as read, and as optical depths of the photons' frame. */
typedef struct xray_frame {
    double time;
    const double *values;
    double *depth;
} xray_frame;

/* The density: cells and their sides along x, y, z of the photons' frame, and the optical depth of a cell's side along
 * x in `whole`. Of its bounding box, where it is not empty: the cells, and blocks of 2^bits cells a side with their
 * majorants. */
typedef struct xray_volume {
    uint32_t n[3];
    double h[3];
    double *whole;
    uint32_t first[3], box[3], blocks[3];
    int bits[3];
    bool dense;   /* light goes on for a small part of a block of 2^bits cells */
    bool thinned; /* blocks have unlike cells: not every tentative collision is one */
    bool counted; /* there are too many cells to look at: none of the arrays is made */
    double *optical, *majorant;
    xray_frame *frame; /* of a series */
    size_t frames;
} xray_volume;

/* Directions and laws, as arrays. Per cell of the detector 1 - u, v, w of its direction in units of 2^-31, and its
 * solid angle in units of 2^-16 of the middle one's. */
typedef struct xray_detector {
    int32_t *directions;
    double solid_angle; /* of the cell in the middle */
    bool *stopped;      /* cells behind the beam stop */
    double *angle;      /* 1 - cos of the scattering angle at 2^XRAY_ANGLE_BITS + 1 values of its distribution */
    const bn_input *law_table;
} xray_detector;

/* Integer constants of the phase (path units, directions in units of 2^-31) and of the sums. */
typedef struct xray_integers {
    long long aperture[2], shift[2]; /* width of the light and its middle along y, z; Gaussian: standard deviation */
    long long cell_side[2];          /* of the entrance, in path units / 2^16 */
    long long beam[3];               /* 1 - u, v, w */
    int path_bits, fixed_bits, angle_bits, halvings;
    int tally_bits;       /* weights of photons are multiples of 2^-tally_bits */
    long long absorption; /* of a collision, in units of 2^-absorption_bits */
    int absorption_bits;
} xray_integers;

typedef struct xray_fields {
    bn_field *tallies, *sums, *past, *amplitude, *intensity, *log_intensity, *photons, *fourier, *log_fourier;
    bn_field *counted, *absorbed, *fluence, *log_fluence; /* in the volume */
} xray_fields;

/* A density in slabs, one on each device, blocks that follow one another along axis `cut`. */
typedef struct xray_slabs {
    bool used;
    int cut;
    double *transposed; /* room for a copy in which that axis is the slowest; NULL: it is */
    size_t words, room; /* of a migrating photon; photons */
    bn_kernel *trace, *collect;
    bn_device_array *tallies;
    bn_migrating_particles *migrating;
} xray_slabs;

typedef struct xray_arrays {
    bn_device_array *optical, *majorant, *directions, *angle, *image, *volume;
} xray_arrays;

typedef struct xray {
    xray_config config;
    xray_volume volume;
    xray_detector detector;
    xray_constants k;
    xray_integers i;
    xray_fields fields;
    xray_arrays arrays;
    xray_slabs slabs;
    bn_kernel *trace, *gather;
    uint64_t traced;   /* photons so far */
    bool fresh;        /* what the photons bring from here on starts a new coherence time */
    double per_launch; /* photons that a device traces in a launch that is short enough; 0: not known yet */
} xray;

/* xray_density.c: the density of the case, cropped and in blocks; kept by the plan. */
BN_CHECKED bn_status xray_plan_density(const bn_case *, xray *, bn_plan *);
/* Index of cell (i, j, k) of the photons' frame on the grid of the case, as in the file of a density. */
size_t xray_place(const xray *, uint32_t i, uint32_t j, uint32_t k);
/* The box's density and majorants at a time, between two frames of a series. */
void xray_density_at(xray *, double time);
/* xray_volume.c: the tally in the cells of the density. plan: units of weights, too; gather adds what the photons have
 * left in the cells of the box since the last call, and forms the fields of the output. */
BN_CHECKED bn_status xray_plan_volume(xray *, bn_plan *);
BN_CHECKED bn_status xray_gather_volume(bn_sim *, xray *, const int64_t *counted);
int64_t xray_counted(const xray *); /* the sum over all cells */
/* xray_detector.c: directions of the detector's cells, the law of scattering, the photons' start, all as constants. */
BN_CHECKED bn_status xray_plan_detector(const bn_case *, xray *, bn_plan *);
BN_CHECKED bn_status xray_plan_source(const bn_case *, xray *, bn_plan *);
/* xray_measure.c */
BN_CHECKED bn_status xray_plan_results(const xray *, bn_plan *);
BN_CHECKED bn_status xray_measure(bn_sim *, void *state, bn_results *);
/* The mean squared error of the cut along y, as the fields of the output are. */
BN_CHECKED bn_status xray_cut_error(bn_sim *, const xray *, double *mqf);
/* xray_fourier.c: the Fourier picture of the projected density, into the field "fourier". */
BN_CHECKED bn_status xray_fourier(bn_sim *, xray *);

static inline size_t xray_detector_cells(const xray *s) { return (size_t)s->config.cells[0] * s->config.cells[1]; }
static inline size_t xray_cells(const uint32_t n[3]) { return (size_t)n[0] * n[1] * n[2]; }
/* Sets of counters in the volume, all of which count: as many as have little memory, at most XRAY_SETS. */
static inline size_t xray_counter_sets(const xray *s)
{
    size_t sets = XRAY_SETS;
    while (sets > 1 && sets * xray_cells(s->volume.box) > XRAY_SET_CELLS)
        sets /= 2;
    return sets;
}
/* Counters in the volume: one at least, since no buffer is empty. */
static inline size_t xray_counters(const xray *s)
{
    return s->config.volume ? xray_counter_sets(s) * xray_cells(s->volume.box) : 1;
}
static inline bool xray_against_curve(const xray *s)
{
    return s->config.compare == XRAY_COMPARE_CURVE || s->config.compare == XRAY_COMPARE_BOTH;
}
static inline bool xray_against_fft(const xray *s)
{
    return s->config.compare == XRAY_COMPARE_FFT || s->config.compare == XRAY_COMPARE_BOTH;
}

/* xray_step.c: what both engines do around a batch: its photons, whether the amplitude starts from zero, and the
 * report, which needs the fields of the output where the cut has a closed form. */
typedef struct xray_batch {
    uint64_t first, begin, end; /* begin: behind the photons of it that have been traced already */
    bool fresh;
    double time; /* of its middle, in a series */
} xray_batch;
xray_batch xray_next_batch(const xray *, unsigned long long step);
BN_CHECKED bn_status xray_report(bn_sim *, const xray *, const xray_batch *, bn_step *out);
extern const bn_engine xray_device;

extern const bn_engine bn_xray_reference_single, bn_xray_reference_double;

#endif
