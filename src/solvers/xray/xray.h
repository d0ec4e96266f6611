/* xray.h: what the parts of `xray` share: photons through an electron density, with phase, to a detector. The frame is
 * the photons': x goes from the entrance face into the density, y and z across; lengths in metres unless said
 * otherwise. */
#ifndef BN_XRAY_H
#define BN_XRAY_H

#include "api/migrate.h"
#include "sim/solver.h"

enum {
    XRAY_ORDERS = 8,      /* photons are counted by their number of scatterings, the last: that or more */
    XRAY_LIFE = 15,       /* components of "lives"; see kernels/xray.cl */
    XRAY_FIXED_BITS = 22, /* amplitudes are sums of multiples of 2^-22: 2^40 photons in one cell still fit */
    XRAY_ANGLE_BITS = 12, /* a table of the scattering angle has 2^12 intervals */
    XRAY_ROUNDS = 255,    /* photons that a work-item flies in one launch at most: their orders are counted in bytes */
    XRAY_LAYERS = 256,    /* work-items a cell at most */
    XRAY_ITEMS = 1 << 18, /* work-items that a large device wants */
    XRAY_SCATTERINGS = 1000000,
    XRAY_MIGRATING = 1 << 18, /* photons that a device takes from others at a time, at most */
    XRAY_WORDS = 18,           /* of such a photon, and reals beside them, and those of its polarisation; see pack() */
    XRAY_REALS = 9,
    XRAY_POLAR = 3
};
/* Photons in all: the sums can't run over, wherever they land. */
#define XRAY_PHOTONS 1e12

typedef enum xray_density {
    XRAY_SLAB,
    XRAY_SINGLE_SLIT,
    XRAY_DOUBLE_SLIT,
    XRAY_GRATING,
    XRAY_OFFSET_GRATINGS,
    XRAY_SPHERE,
    XRAY_FOIL,
    XRAY_FILE,
    XRAY_SERIES
} xray_density;
typedef enum xray_angle { XRAY_UNIFORM, XRAY_THOMSON, XRAY_POLARISED, XRAY_HENYEY, XRAY_TABLE } xray_angle;
typedef enum xray_profile { XRAY_EVEN, XRAY_GAUSSIAN, XRAY_PENCIL } xray_profile;

/* What kernels and reference compute with; kernels/xray.cl explains the names. */
typedef struct xray_constants {
    double start_x, centre_y, centre_z, unit_y, unit_z, per_y, per_z, path_scale, deficit, beam[3], e[3], far_y, far_z,
        per_cell_y, per_cell_z, reach, gain, absorption, expectation;
    long long aperture_y, aperture_z, shift_y, shift_z, place_y, place_z, beam_id, beam_iv, beam_iw;
    int fixed_bits, halvings, path_bits, angle_bits, most, polarised, profile, placed, equal_angles, expected, thinned,
        absorbing, samples, stride;
} xray_constants;

/* The density at one time: as read, and as optical depths of the photons' frame. */
typedef struct xray_frame {
    double time;
    const double *values;
    double *depth;
} xray_frame;

typedef struct xray {
    /* the density: cells and their sides along x, y, z of the photons' frame; optical depth of a cell's side along x */
    uint32_t n[3];
    double h[3];
    double *whole;
    /* its box that is not empty, and the blocks of 2^bits cells with the largest value in each */
    uint32_t first[3], box[3], blocks[3];
    int bits[3];
    bool counted; /* there are too many cells to look at: neither of the arrays here is made */
    double *optical, *majorant;
    bool slabs; /* every device has a slab of them, blocks that follow one another along axis `cut` */
    int cut;
    double *turned;    /* room for a copy in which that axis is the slowest; NULL: it is */
    xray_frame *frame; /* of a series */
    size_t frames;
    double pulse[2]; /* when the first photon enters and the last one [s] */
    /* the detector */
    uint32_t cells[2];
    double cell_angle, distance, wavelength;
    int32_t
        *toward; /* per cell: 1 - u, v, w of its direction in units of 2^-31, and its solid angle (kernels/xray.cl) */
    double solid_angle; /* of the cell in the middle */
    bool *stopped;      /* cells behind the beam stop */
    double *angle;      /* 1 - cos of the scattering angle at 2^XRAY_ANGLE_BITS + 1 values of its distribution */
    xray_constants k;
    xray_density density;
    xray_angle law;
    const bn_input *law_table;
    double theta_max;
    double width, pitch; /* of the slits */
    bool against_curve, against_fft;
    uint64_t seed, photons, flown; /* in all, and so far */
    uint32_t rounds, layers;       /* photons per detector cell in a step, and work-items that fly them */
    long long coherent;            /* steps in which amplitudes add up; 0: all */
    bool fresh;                    /* what the photons bring from here on starts a new coherence time */
    double in_launch;              /* photons that a device flies in a tenth of a second; 0: not known yet */
    bn_field *lives, *sums, *kept, *amplitude, *intensity, *shown, *hits, *fourier, *log_fourier;
    bn_kernel *fly, *gather, *cross, *count; /* the last two where there are slabs, instead of the first */
    bn_device_array *d_optical, *d_majorant, *d_toward, *d_angle, *d_tally, *d_lives;
    bn_migrating_particles *travellers;
    size_t particle_words, particle_room;
} xray;

/* xray_density.c: the density of the case, cropped and cut into blocks; kept by the plan. */
BN_CHECKED bn_status xray_plan_density(const bn_case *, xray *, bn_plan *);
/* The box's density and majorants at a time, between two frames of a series. */
void xray_density_at(xray *, double time);
/* xray_detector.c: directions of the detector's cells, the law of scattering, the photons' start, all as constants. */
BN_CHECKED bn_status xray_plan_detector(const bn_case *, xray *, bn_plan *);
BN_CHECKED bn_status xray_plan_source(const bn_case *, xray *, bn_plan *);
/* xray_measure.c */
BN_CHECKED bn_status xray_plan_results(const xray *, bn_plan *);
BN_CHECKED bn_status xray_measure(bn_sim *, void *state, bn_results *);
/* xray_fourier.c: the Fourier picture of the projected density, into the field "fourier". */
BN_CHECKED bn_status xray_fourier(bn_sim *, xray *);

/* xray_step.c: what both engines do around a batch: its photons, whether the amplitude starts anew, and the report. */
typedef struct xray_batch {
    uint64_t first, begin, end; /* begin: behind the photons of it that have been flown already */
    uint32_t rounds;
    bool fresh;
    double time; /* of its middle, in a series */
} xray_batch;
xray_batch xray_next_batch(const xray *, unsigned long long step);
void xray_report(const xray *, bn_step *out);
extern const bn_engine xray_device;

extern const bn_engine bn_xray_reference_single, bn_xray_reference_double;

#endif
