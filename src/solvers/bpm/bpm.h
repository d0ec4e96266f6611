/* bpm.h: what the files of the solver `bpm` share. Index profiles, matrices and modes are computed once on the host, in
 * double, and rounded once to the case's precision for both engines. */
#ifndef BN_BPM_H
#define BN_BPM_H

#include "api/fft.h"
#include "api/row_bands.h"
#include "sim/solver.h"

#include <complex.h>
#ifndef CMPLX /* glibc has it for gcc alone */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

#define BPM_SOLVERS(X) X(BPM_DIRECT, "direct") X(BPM_FFT, "fft")
typedef enum bpm_solver { BPM_SOLVERS(BN_CHOICE_ENUM) } bpm_solver;
#define BPM_POLARISATIONS(X) X(BPM_TE, "te") X(BPM_TM, "tm")
typedef enum bpm_polarisation { BPM_POLARISATIONS(BN_CHOICE_ENUM) } bpm_polarisation;
#define BPM_WALLS(X) X(BPM_METAL, "metal") X(BPM_PML, "pml")
typedef enum bpm_wall { BPM_WALLS(BN_CHOICE_ENUM) } bpm_wall;
#define BPM_LAUNCHES(X)                \
    X(BPM_LAUNCH_MODE, "mode")         \
    X(BPM_LAUNCH_GAUSSIAN, "gaussian") \
    X(BPM_LAUNCH_PLANE, "plane")       \
    X(BPM_LAUNCH_FILE, "file")
typedef enum bpm_launch_kind { BPM_LAUNCHES(BN_CHOICE_ENUM) } bpm_launch_kind;
#define BPM_SHAPES(X)                   \
    X(BPM_SLAB, "slab")                 \
    X(BPM_TAPER, "taper")               \
    X(BPM_S_BEND, "s-bend")             \
    X(BPM_FIBRE, "fibre")               \
    X(BPM_GRADED_FIBRE, "graded-fibre") \
    X(BPM_Y_JUNCTION, "y-junction")     \
    X(BPM_COUPLER, "coupler")
typedef enum bpm_shape { BPM_SHAPES(BN_CHOICE_ENUM) } bpm_shape; /* from BPM_Y_JUNCTION on: two guides */

#define BPM_PI 3.14159265358979323846
enum { BPM_STRUCTURES = 64, BPM_PORTS = 8, BPM_COLOURS = 64, BPM_LANES = 256, BPM_CHUNK_MAX = 64 };
/* Nodes of a chunk that leave registers for more work-groups on a compute unit; the most with which lines that a
 * work-group has as a whole take less time than in windows (an H200; kernels/bpm.cl). */
enum { BPM_CHUNK_SHORT = 9, BPM_CHUNK_LONG_SINGLE = 14, BPM_CHUNK_LONG_DOUBLE = 17 };
/* Steps of a launch that tells more of a device than a few do: data/cases/bpm/selftest-long.toml. */
enum { BPM_LONG_LAUNCH = 100 };

typedef struct bpm bpm;
typedef struct bpm_record bpm_record;

/* --- what the case says --- */

typedef struct bpm_config {
    uint32_t n, rows, beams; /* unknowns of a row, rows of the grid; in a plane each beam is a row */
    int axes;                /* 1: beams in a plane, 2: a beam in space */
    bpm_solver solver;
    bn_launches launches;
    double width, h, length, dz;
    size_t steps, per_record; /* steps along z: in all, in a step of the simulation */
    bool tm, wide_angle, pml, lossy, single;
    double theta, background, reference, wavelength;
    double pml_thickness, pml_strength;
} bpm_config;

/* A guide, or two, that the background is overlaid with from z `from` to z `to` [m]. */
typedef struct bpm_structure {
    bpm_shape shape;
    double _Complex index;
    double from, to;
    double centre, centre_end, width, width_end, separation, separation_end;
    double centre_x, width_x; /* in space; width_x 0: from wall to wall */
} bpm_structure;

typedef struct bpm_profile {
    bpm_structure structure[BPM_STRUCTURES];
    size_t structures;
    /* A picture instead of the background: z and y in a plane, the cross-section in space; an index for each colour. */
    uint32_t picture_width, picture_height; /* 0: neither that nor a map */
    const uint8_t *picture;                 /* number of the pixel's colour, top row first; NULL: none */
    double _Complex colour[BPM_COLOURS];
    const double *map; /* the index of every pixel in its place, lowest row first; NULL: none */
    double outline;    /* index at the guides' borders in pictures */
} bpm_profile;

typedef struct bpm_launch {
    bpm_launch_kind kind;
    int mode;
    double centre, waist, tilt;
    const bn_input *file;
} bpm_launch;

typedef struct bpm_beam {
    double wavelength, offset, index; /* [m]; offset of the launch [m]; added to the index of the structures */
    double n_eff;                     /* of the mode that overlaps are taken with; NaN: none */
    double start_power, mode_power;
    double phase; /* of that mode in a step along z by the scheme's closed form [rad] */
} bpm_beam;

/* --- lines that steps are taken along --- */

/* The operator of one line at one z: (P' psi)_i = w_i (m_(i+1/2) (psi_(i+1) - psi_i) - m_(i-1/2) (psi_i - psi_(i-1))) +
 * h^2 k0^2 (n_i^2 - n_ref^2) psi_i on `n` nodes, zero beyond; P' = h^2 k^2 P, k = k0 n_ref. m has n + 1 values.
 * With the scaling (bpm_scale) row i is multiplied by balance_i; middle_i = w_i (m_(i-1/2) + m_(i+1/2)). */
typedef struct bpm_operator {
    size_t n;
    double _Complex *w, *m, *index2, *balance, *middle;
} bpm_operator;

/* In a plane axis 0 has a line for each beam, along y. In space axis 0 has the lines along x, axis 1 those along y. */
typedef struct bpm_axis {
    uint32_t n, lines; /* unknowns of a line, number of lines */
    double h, width;
    int chunk, chunks, reach; /* unknowns of a chunk, chunks of a line, and how many of them influence another one */
    int overlap;              /* chunks beyond its own that a box has of a line cut into pieces */
    uint32_t piece;           /* unknowns of the longest piece: n, if lines are not cut */
    int *line_reach;          /* in space, of each line that was made here; `reach` is the largest */
    bool *stale;              /* lines whose matrices or phases are to be made: the index has changed on them */
    double _Complex *scale;   /* divides psi in memory, so that matrices are symmetric: n values, in a plane n a beam */
    bpm_operator op;
    bn_domain *domain; /* of the lines as rows */
    bn_program *program;
    bn_kernel *kernel;
    bn_field *psi, *r_field, *v_field, *work; /* r: factors of the elimination, v: P' as the second difference plus v */
} bpm_axis;

/* --- methods --- */

/* What a beam in a plane and a beam in space do differently, whatever the method of the steps. */
typedef struct bpm_geometry {
    bn_status (*plan)(const bn_case *, bn_plan *, bpm *); /* memory, and the field that enters */
    bn_status (*plan_fields)(bn_plan *, bpm *);
    bn_status (*plan_results)(bn_plan *);                      /* optional */
    bn_status (*launch)(bpm *);                                /* the field that enters into psi */
    bn_status (*observe)(bpm *, bpm_record *out, double *map); /* map: intensity along y, or NULL */
    bn_status (*results)(bpm *, const bpm_record *end, bn_results *);
    bn_status (*update_outputs)(bpm *);
    /* n^2 at the nodes of row j of psi; the real index along y as it appears in the map */
    void (*row_index)(const bpm *, double z, uint32_t j, double _Complex *out);
    void (*outline)(const bpm *, double z, double _Complex *row, double *out);
    const char *map_quantity;
} bpm_geometry;
extern const bpm_geometry bpm_plane_geometry, bpm_space_geometry;

typedef struct bpm_steps {
    size_t first, count;
    bool observed; /* afterwards the host reads psi */
} bpm_steps;

/* How psi is propagated along z on an engine. A section is a range of steps in which no structure changes. */
typedef struct bpm_method {
    bn_status (*setup)(bn_sim *, bpm *); /* optional */
    void (*teardown)(bpm *);
    void (*prepare)(bpm *, size_t k); /* optional: the host's part of the section that begins with step k */
    /* The section from s->section_begin on. `entered`: psi comes from the section before; else a checkpoint had it. */
    bn_status (*section)(bn_sim *, bpm *, bool entered);
    bn_status (*propagate)(bpm *, const bpm_steps *);
} bpm_method;
/* What each row of the cross-section adds, psi times the scale along x: |psi|^2, its first and second moments about the
 * node `middle` in nodes, and the real and imaginary part of conj(start) psi. */
enum { BPM_ROW_SUMS = 5 };
typedef bn_status bpm_sum_rows_function(bpm *, int middle, double (*sums)[BPM_ROW_SUMS]);
/* An engine's methods: elimination in a plane, elimination in space, transforms; and in space its sums. */
typedef struct bpm_methods {
    const bpm_method *plane, *space, *fft;
    bpm_sum_rows_function *sum_rows;
} bpm_methods;

/* --- the state --- */

/* Steps [begin, end) along z in which no structure changes. */
typedef struct bpm_section {
    size_t begin, end;
    int reach;
} bpm_section;

enum { BPM_SECTIONS = 64 };
typedef struct bpm_plane {
    /* The matrices of so many sections behind each other, of all beams: pairs; v in single numbers unless lossy. */
    double *r, *v;
    int *reach; /* of each line */
    bpm_section section[BPM_SECTIONS];
    size_t sections, most_sections, now;
    bool stored, scaled;                      /* the matrices are on the device; axis[0].scale is made */
    double *mode_field, *start_field, *field; /* amplitudes of the power: pairs, n * beams */
    bn_device_array *factors;
} bpm_plane;

/* What the matrices of all lines of a cross-section follow from, but for the index profile at that height; of the
 * phases of transforms this alone changes. */
typedef struct bpm_made_for {
    bool any;
    double z, reference;
    double _Complex p;
} bpm_made_for;

/* Of a device. */
typedef struct bpm_row_sums {
    bn_domain *domain;
    bn_field *field; /* pairs: numbers, and what their rounding left over */
    bn_device_array *scale;
    bn_program *program;
    bn_kernel *kernel;
} bpm_row_sums;

typedef struct bpm_space {
    bpm_sum_rows_function *sum_rows; /* the engine's */
    bpm_row_sums sums;
    bn_field *start, *intensity, *index; /* start: what enters; once it is found the mode, if that is what enters */
    double spot[2], spot_waist;          /* x and y of the middle of a Gaussian, or of the guess at a mode */
    double section_z;                    /* of the index profile */
    double _Complex section_p;
    bool scaled, scaled_for_layers; /* whether axis[].scale is known, and whether it has the absorbing layers */
    bpm_made_for made;              /* matrices on a device */
    double largest;                 /* of |psi| */
    bn_kernel *steps;               /* many steps a launch, where they gain by it; else NULL */
    bn_device_array *meeting;       /* of its work-groups (kernels/lib/meet.h) */
    bn_scalars *failed;             /* whether they did not meet */
    bool relaxing;                  /* the mode is sought by steps along imaginary z */
    int relax_stage, relax_steps;
    double relax_dz, relax_tolerance, relax_index, relax_change;
} bpm_space;

typedef struct bpm_transforms {
    bn_fft *fft;
    bn_field *half, *spectrum; /* phases of half a step, and of one in the spectrum */
    bpm_made_for made;
    bn_program *program;
    bn_kernel *multiply;
} bpm_transforms;

/* What was observed at the end of a step of the simulation, of one beam. */
struct bpm_record {
    double z;                          /* [m] */
    double power, start, mirror, mode; /* powers relative to that of the start */
    double phase;                      /* of the overlap with the mode beyond the closed form [rad] */
    double peak, centre, width;        /* intensity at the launch's centre; mean and 2 rms of the intensity [m] */
    double centre_x, width_x;          /* in space */
    double port[BPM_PORTS];
};

typedef struct bpm_history {
    bpm_record *record; /* of the first beam, after every step of the simulation; begins with the start */
    double *map;        /* intensity along y of the first beam, in space its mean along x; map_n values each */
    uint32_t map_n;
    size_t records, capacity;
    double port_from[BPM_PORTS], port_to[BPM_PORTS];
    size_t ports;
} bpm_history;

struct bpm {
    bpm_config c;
    bpm_profile profile;
    bpm_launch launch;
    bpm_beam *beam;
    double *factor; /* pairs, per beam: (p - q) / p */
    bpm_axis axis[2];
    size_t done, section_begin, section_end; /* steps along z */
    double per_piece;                        /* so many take a quarter of a second; 0: not known yet */
    const bpm_geometry *geometry;
    const bpm_method *method;
    bpm_plane plane;
    bpm_space space;
    bpm_transforms transforms;
    bpm_history history;
    bn_field *psi, *work; /* work: also `envelope`, between steps */
    void *reference_memory;
};

/* bpm.c */
BN_CHECKED bn_status bpm_allocate(bn_plan *, size_t count, double **out);
BN_CHECKED bn_status bpm_allocate_pairs(bn_plan *, size_t count, double _Complex **out);
BN_CHECKED bn_status bpm_allocate_operator(bn_plan *, bpm_axis *);
/* Constants of the kernels for the lines of axis d; the plan has those of axis 0. */
enum { BPM_KERNEL_CONSTANTS = 9, BPM_DEFINES = BPM_KERNEL_CONSTANTS + 1 };
void bpm_kernel_constants(const bpm *, int d, const bn_device_info *, bn_define out[BPM_KERNEL_CONSTANTS]);
BN_CHECKED bn_status bpm_plan_constants(bn_plan *, const bpm *);
/* psi, divided by the axes' scale, and `envelope`: work space of the steps, and E or H itself in files. */
BN_CHECKED bn_status bpm_plan_psi(bn_plan *, bpm *);

/* --- many steps in one launch, in space (bpm_one_launch.c) --- */

typedef enum bpm_store { BPM_IN_PLACE, BPM_TRANSPOSED, BPM_BOTH } bpm_store; /* of a result; see kernels/bpm.cl */

/* Passes along the lines of one direction and of the other by turns: `first` half steps, 2, 2, ..., `last`. */
typedef struct bpm_passes {
    bool along_y; /* the first */
    size_t count;
    int first, last;
    bpm_store store; /* of the last; the others store their results transposed */
} bpm_passes;

BN_CHECKED bn_status bpm_plan_one_launch(bn_plan *, const bpm *);
/* The fields of both axes are there. space.steps stays NULL where steps are several launches. */
BN_CHECKED bn_status bpm_one_launch_setup(bpm *);
void bpm_one_launch_teardown(bpm *);
BN_CHECKED bn_status bpm_run_passes(const bpm *, const bpm_passes *);
/* BN_DEVICE where work-groups have waited for each other in vain: to be asked where psi is no number. */
BN_CHECKED bn_status bpm_check_meetings(const bpm *);

/* bpm_structure.c: the case's structures, and squares of the index at height z. */
BN_CHECKED bn_status bpm_read_structures(const bn_case *, bpm *);
/* The picture of the case, if it has one; unlisted colours reject it. */
BN_CHECKED bn_status bpm_read_picture(const bn_case *, bn_plan *, bpm *);
/* The same of numbers; an index out of range rejects the case. */
BN_CHECKED bn_status bpm_read_map(const bn_case *, bn_plan *, bpm *);
/* The highest index there is, the background aside. */
double bpm_highest_index(const bpm_profile *);
/* Mean of n^2 over each of `count` cells of height h, the first centred at y0; `inverse`: 1 over the mean of 1 / n^2.
 */
void bpm_index(const bpm *, size_t beam, double z, double y0, size_t count, bool inverse, double _Complex *out);
/* The other way: adds to `gradient` of the map's values what a change by `slope` of bpm_index at these nodes makes. */
void bpm_index_slopes(const bpm *, size_t beam, double z, double y0, size_t count, const double *slope,
                      double *gradient);
/* n^2 at the nodes [first, first + count) of the row at y of the cross-section at z. */
void bpm_index_row(const bpm *, double z, double y, size_t first, size_t count, double _Complex *out);
/* Number of steps along z, from step `k` on, in which no structure changes; at least 1. */
size_t bpm_constant_steps(const bpm *, size_t k);
/* Marks as stale the lines of direction d that are not known to be as they were made; `same`, in space: all is but the
 * index. */
void bpm_mark_stale(const bpm *, int d, const bpm_made_for *, bool same, double z);
/* Goes once through the stale lines, the rows of these fields, and what few lines lie between them. */
BN_CHECKED bn_status bpm_make_stale(const bpm_axis *, const bn_row_band *, size_t count, bn_row_band_function *make,
                                    void *user);
/* Whether a plane has many sections: a guide changes its width or place, or there is a picture, which lies along z. */
bool bpm_varies(const bpm_profile *);
/* Whether anything differs from the background at height z. */
bool bpm_guides(const bpm_profile *, double z);

/* bpm_matrix.c: operators, matrices, their factors. */
void bpm_make_operator(const bpm *, size_t beam, double z, const bpm_operator *);
double bpm_k0(const bpm *, size_t beam);
/* p and q of (1 + p P) psi_new = (1 + q P) psi, and the phase that they give a mode of index n_eff. */
void bpm_step_weights(const bpm *, size_t beam, double _Complex *p, double _Complex *q);
double bpm_step_phase(const bpm *, size_t beam, double n_eff);
/* Of TM, what H is over the amplitude of the power, the field whose squares add up to the power: n / n_ref at the nodes
 * (in TE they are the same). Along z it is this amplitude that is continuous, not H: then no power is lost where the
 * guide changes, and what is left out of the wave equation is of second order in the change. */
void bpm_impedance_root(const bpm *, size_t beam, double z, double _Complex *root);
/* Complex stretching of a coordinate in the absorbing layers before the walls at 0 and `width`. */
double _Complex bpm_stretch(const bpm *, double place, double width);
/* r and v of lines that follow each other: the operator's rows with what stands in r, pairs, beside its differences,
 * and q0 = (h k)^2 / p on the diagonal. So many lines at a time take less than twice as long as one. */
enum { BPM_LINES_AT_ONCE = 4 };
void bpm_eliminate(const bpm_operator *, size_t lines, double _Complex q0, bool lossy, double *r, double *v);
/* For bn_parallel_rows: a node is as much work as so many values. */
enum { BPM_VALUES_A_NODE = 4 };
/* The scaling that makes the operator's matrix symmetric, and with it what bpm_eliminate takes. */
void bpm_scale(const bpm_operator *, double _Complex *scale);
/* How many chunks back a carried value still counts on lines in one medium, p the weight of the new layer; at most all.
 */
int bpm_guess_reach(const bpm *, const bpm_axis *, double _Complex p);
/* Nodes that each chunk of a line of n unknowns has at least: local memory holds the ends of so many chunks. */
int bpm_least_chunk(const bpm *, int n);
/* Nodes in a chunk that suit a line of n unknowns at distances h. */
int bpm_good_chunk(const bpm *, int n, double h);
/* How many chunks back a value that is carried along a line with these r still counts; at least 1. */
int bpm_reach(const bpm *, const bpm_axis *, const double *r);

/* bpm_modes.c: mode number `mode` (0: the fundamental) of a real operator; its field has largest value 1. False: the
 * operator has no such eigenvalue. */
bool bpm_find_mode(const bpm *, size_t beam, const bpm_operator *, int mode, double *n_eff, double *field);

/* bpm_plane.c; both engines have the same sections */
void bpm_plane_prepare(bpm *, size_t k);
BN_CHECKED bn_status bpm_plane_section(bn_sim *, bpm *, bool entered);
extern const bpm_method bpm_plane_method;

/* bpm_step.c: how many of `wish` steps a launch of the axis' kernel takes, of which a work-group has so many lines. */
BN_CHECKED bn_status bpm_launch_steps(const bpm_axis *, int lines, size_t wish, size_t *steps);

/* bpm_gradient.c: gradients of what a beam in a plane ends with, by the adjoint steps. */
bool bpm_map(const void *state, unsigned n[3]);
BN_CHECKED bn_status bpm_gradient(bn_sim *, void *state, const char *of, const double *slopes, double *gradient);
/* bpm_plane.c: of a result of the first beam with respect to the amplitude in s->plane.field: dF/d(real part) and
 * dF/d(imaginary part). False: it has no such slopes. */
bool bpm_result_slopes(const bpm *, const char *result, double *slopes);

/* bpm_space.c: a beam in space by alternating directions. */
/* Every second step takes the two directions in the other order, whatever sections and records it lies in. */
static inline bool bpm_begins_along_y(size_t step) { return step % 2 == 1; }
/* Scaling and weights for the step number k, or for a step along imaginary z. */
void bpm_space_prepare(bpm *, size_t k);
/* r, v and reach of the lines [first, first + count) of direction d in this section. */
void bpm_space_lines(bpm *, int d, uint32_t first, uint32_t count, double *r, double *v);
/* Sets the reach of direction d to the largest of its lines'. */
void bpm_space_reach(bpm *, int d);
/* A step of the simulation while the mode is sought. */
BN_CHECKED bn_status bpm_relax(bn_sim *, bpm *, bn_step *out);
extern const bpm_method bpm_space_method;

/* bpm_cross_section.c: the cross-section on the host, a few rows at a time. A row of what enters, or of the guess at
 * the mode (row: NULL, or 2 n values), and the sum of its squares. */
double bpm_start_row(const bpm *, uint32_t j, double *row);
/* Puts it into psi, made anew (then the start is stored, too) or as it was stored. */
BN_CHECKED bn_status bpm_launch_space(bpm *, bool make);
BN_CHECKED bn_status bpm_observe_space(bpm *, bpm_record *out, double *map);
BN_CHECKED bn_status bpm_update_space(bpm *);
/* The effective index of psi by Rayleigh's quotient, its largest value, into s->space.largest, and its power once that
 * is 1. */
BN_CHECKED bn_status bpm_rayleigh(bn_sim *, bpm *, double *index, double *power);
/* psi over s->space.largest, as what enters from now on, too. */
BN_CHECKED bn_status bpm_normalize(bpm *);

/* bpm_row_sums.c: on a device. */
BN_CHECKED bn_status bpm_plan_row_sums(bn_plan *, const bpm *);
BN_CHECKED bn_status bpm_row_sums_create(bn_sim *, bpm *);
void bpm_row_sums_destroy(bpm *);
bpm_sum_rows_function bpm_sum_rows;

/* bpm_fft.c: by transforms. `multiply`: one field by another, point by point. */
typedef bn_status bpm_multiply(bpm *, bn_field *, bn_field *by);
BN_CHECKED bn_status bpm_check_fft(const bn_case *, const bpm *);
BN_CHECKED bn_status bpm_plan_fft_fields(bn_plan *, bpm *);
BN_CHECKED bn_status bpm_fft_section(bn_sim *, bpm *, bool entered);
BN_CHECKED bn_status bpm_fft_propagate(bpm *, const bpm_steps *, bpm_multiply *);
extern const bpm_method bpm_fft_method;

/* bpm_measure.c */
BN_CHECKED bn_status bpm_plan_results(const bpm *, bn_plan *);
BN_CHECKED bn_status bpm_measure(bn_sim *, void *state, bn_results *);
/* The observed field as the next record. */
BN_CHECKED bn_status bpm_add_record(bpm *);
/* Length of what the port and the cell of height h around y have in common. */
double bpm_port_overlap(const bpm_history *, size_t port, double y, double h);
double bpm_found_beta(const bpm *, size_t beam, double phase);
extern const char *const bpm_port_names[BPM_PORTS];

/* bpm_step.c: what both engines do around the propagation, whichever method does it. */
BN_CHECKED bn_status bpm_setup(bn_sim *, bpm *, const bpm_methods *);
BN_CHECKED bn_status bpm_step(bn_sim *, void *state, bn_step *out);
void bpm_teardown(void *state);
BN_CHECKED bn_status bpm_update_outputs(bn_sim *, void *state);
BN_CHECKED bn_status bpm_resume(bn_sim *, void *state);
BN_CHECKED bn_status bpm_serialize(bn_sim *, void *state, bn_checkpoint_state *);

extern const bn_engine bpm_device, bn_bpm_reference_single, bn_bpm_reference_double;

#endif
