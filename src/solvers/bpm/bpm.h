/* bpm.h: what the files of the solver `bpm` share. Numbers that need no device (index profiles, matrices, modes) are
 * made once on the host, in double, and rounded once to the case's precision for both engines. */
#ifndef BN_BPM_H
#define BN_BPM_H

#include "api/fft.h"
#include "api/row_bands.h"
#include "sim/solver.h"

#include <complex.h>
#ifndef CMPLX /* glibc has it for gcc alone */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

#define BPM_METHODS(X) X(BPM_DIRECT, "direct") X(BPM_FFT, "fft")
typedef enum bpm_method { BPM_METHODS(BN_CHOICE_ENUM) } bpm_method;
typedef enum bpm_launch { BPM_LAUNCH_MODE, BPM_LAUNCH_GAUSSIAN, BPM_LAUNCH_PLANE, BPM_LAUNCH_FILE } bpm_launch;
typedef enum bpm_shape {
    BPM_SLAB,
    BPM_TAPER,
    BPM_S_BEND,
    BPM_FIBRE,
    BPM_GRADED_FIBRE,
    BPM_Y_JUNCTION, /* from here on two guides */
    BPM_COUPLER
} bpm_shape;

enum { BPM_STRUCTURES = 64, BPM_PORTS = 8, BPM_COLOURS = 64, BPM_LANES = 256, BPM_CHUNK_MAX = 64 };

/* A guide, or two, that the background is overlaid with from z `from` to z `to` [m]. */
typedef struct bpm_structure {
    bpm_shape shape;
    double _Complex index;
    double from, to;
    double centre, centre_end, width, width_end, separation, separation_end;
    double centre_x, width_x; /* in space; width_x 0: from wall to wall */
} bpm_structure;

/* The operator of one beam at one z: (P' psi)_i = w_i (m_(i+1/2) (psi_(i+1) - psi_i) - m_(i-1/2) (psi_i - psi_(i-1))) +
 * h^2 k0^2 (n_i^2 - n_ref^2) psi_i on `n` nodes, zero beyond; P' = h^2 k^2 P, k = k0 n_ref. m has n + 1 values. */
typedef struct bpm_operator {
    size_t n;
    double _Complex *w, *m, *index2;
} bpm_operator;

/* In space: the lines along x or along y that half steps are taken along. */
typedef struct bpm_axis {
    uint32_t n, lines; /* unknowns of a line, number of lines */
    double h, width;
    int chunk, chunks, reach;
    double _Complex *scale; /* n: what the field is divided by */
    bpm_operator op;
    /* device */
    bn_domain *domain; /* of this axis' lines as rows */
    bn_program *program;
    bn_kernel *line;
    bn_field *psi, *r_field, *v_field, *work; /* r, v: as of a beam in a plane, of all lines */
} bpm_axis;

/* What was found at the end of a step of the simulation, for one beam. */
typedef struct bpm_state {
    double z;                          /* [m] */
    double power, start, mirror, mode; /* powers relative to that of the start */
    double phase;                      /* of the overlap with the mode beyond what theory says [rad] */
    double peak, centre, width;        /* intensity at the launch's centre; mean and 2 rms of the intensity [m] */
    double centre_x, width_x;          /* in space */
    double port[BPM_PORTS];
} bpm_state;

typedef struct bpm {
    uint32_t n, rows, beams; /* unknowns of a row, rows of the grid, beams: in a plane a row each, in space one */
    double width, h, length, dz;
    size_t steps, per_record, done; /* steps along z: in all, in a step of the simulation, so far */
    bool tm, wide_angle, pml, lossy, single;
    double theta, background, reference, wavelength;
    double pml_thickness, pml_strength;
    bpm_launch launch;
    int mode;
    double centre, waist, tilt;
    bpm_structure structure[BPM_STRUCTURES];
    size_t structures;
    /* a picture instead of the background: z and y in a plane, the cross-section in space; an index for each colour */
    uint32_t picture_width, picture_height;
    const uint8_t *picture; /* number of the pixel's colour, top row first; NULL: none */
    double _Complex colour[BPM_COLOURS];
    const bn_numbers *file; /* of the launch */
    double outline;         /* index at the guides' borders in pictures */
    double port_from[BPM_PORTS], port_to[BPM_PORTS];
    size_t ports;
    double (*beam)[3]; /* wavelength [m], offset of the launch [m], added to the index of the structures */

    bpm_method method;
    int chunk, chunks, reach; /* unknowns in a row, how many such rows, and how many of them matter for another one */

    /* per beam and node, of the section that is being marched through */
    bpm_operator op;
    /* pairs; v in single numbers unless lossy; s: what the amplitude of the power is divided by to be symmetric */
    double *r, *v, *s;
    double *factor; /* pairs, per beam: (p - q) / p */
    size_t section_begin, section_end;
    bool spectrum_set;

    /* in space */
    bool space;
    bpm_axis axis[2];                    /* x, y */
    bn_field *start, *intensity, *index; /* start: what enters; once it is found the mode, if that is what enters */
    double spot[2], spot_waist;          /* x and y of the middle of a Gaussian, or of the guess at a mode */
    double section_z;                    /* of the index profile */
    double _Complex section_p;
    double largest; /* of |psi| */
    bool relaxing;  /* the mode is sought by steps along imaginary z */
    int relax_stage, relax_steps;
    double relax_dz, relax_tolerance, relax_index, relax_change;

    /* the launched mode and the start; in space fields are on the device alone */
    double *mode_field, *start_field; /* amplitudes of the power: pairs, n * beams */
    double *n_eff;                    /* n_eff of the launched mode, per beam; NaN: none */
    double *start_power, *mode_power;
    double *theory; /* phase rate of the mode, per step along z [rad], by the discrete closed form */
    double *field;  /* amplitudes of the power: pairs, n * rows */

    bpm_state *record; /* of the first beam, after every step of the simulation; begins with the start */
    double *map;       /* intensity along y of the first beam, in space its mean along x; map_n values each */
    uint32_t map_n;
    size_t records, room;

    bn_field *psi, *r_field, *v_field, *work; /* work: also `envelope`, between steps */
    bn_fft *fft;
    bn_field *half, *spectrum; /* phases of half a step, and of one in the spectrum */
    double *phases;            /* pairs */
    bn_kernel *times;
    bn_program *own_program;
    /* device */
    bn_kernel *march;
    bn_device_array *factors;
    void *reference_memory;
} bpm;

/* bpm_structure.c: the case's structures, and squares of the index at height z. */
BN_CHECKED bn_status bpm_read_structures(const bn_case *, bpm *);
/* The picture of the case, if it has one; unlisted colours reject it. */
BN_CHECKED bn_status bpm_read_picture(const bn_case *, bn_plan *, bpm *);
/* The highest index there is, the background aside. */
double bpm_highest_index(const bpm *);
/* Mean of n^2 over each of `count` cells of height h, the first centred at y0; `inverse`: 1 over the mean of 1 / n^2.
 */
void bpm_index(const bpm *, size_t beam, double z, double y0, size_t count, bool inverse, double _Complex *out);
/* Number of steps along z, from step `k` on, in which no structure changes; at least 1. */
size_t bpm_constant_steps(const bpm *, size_t k);
/* Whether anything differs from the background at height z. */
bool bpm_guides(const bpm *, double z);

/* bpm_matrix.c: operators, matrices, their factors. */
void bpm_make_operator(const bpm *, size_t beam, double z, const bpm_operator *);
/* r, v, s of all beams for the step number k, and how far they reach. */
void bpm_make_section(bpm *, size_t k);
double bpm_k0(const bpm *, size_t beam);
/* p and q of (1 + p P) psi_new = (1 + q P) psi. */
void bpm_step_weights(const bpm *, size_t beam, double _Complex *p, double _Complex *q);

/* Of TM, what H is over the amplitude of the power, the field whose squares add up to the power: n / n_ref at the nodes
 * (in TE they are the same). Along z it is this amplitude that is continuous, not H: then no power is lost where the
 * guide changes, and what is left out of the wave equation is of second order in the change. */
void bpm_impedance_root(const bpm *, size_t beam, double z, double _Complex *root);
/* Complex stretching of a coordinate in the absorbing layers before the walls at 0 and `width`. */
double _Complex bpm_stretch(const bpm *, double place, double width);
/* r and v of one line: the operator's rows with `own` beside its differences, and q0 = (h k)^2 / p on the diagonal. */
void bpm_eliminate(const bpm_operator *, const double _Complex *own, double _Complex q0, const double _Complex *scale,
                   bool lossy, double *r, double *v);
void bpm_scale(const bpm_operator *, double _Complex *scale);
/* Nodes in a chunk that suit a line of n unknowns at distances h. */
int bpm_good_chunk(const bpm *, int n, double h);
/* How many chunks back a value that is carried along still counts. */
int bpm_reach(const double *r, size_t n, int chunk, bool single);

/* bpm_modes.c: mode number `mode` (0: the fundamental) of a real operator; its field has largest value 1. False: the
 * operator has no such eigenvalue. */
bool bpm_find_mode(const bpm *, size_t beam, const bpm_operator *, int mode, double *n_eff, double *field);

/* bpm_start.c: the field at z = 0. */
BN_CHECKED bn_status bpm_make_start(const bn_case *, bpm *);

/* bpm_measure.c; fetch, put and look for beams in a plane */
BN_CHECKED bn_status bpm_plan_results(const bpm *, bn_plan *);
BN_CHECKED bn_status bpm_measure(bn_sim *, void *state, bn_results *);
/* Reads the field into s->field, as amplitudes of the power. */
BN_CHECKED bn_status bpm_fetch(bpm *);
/* The field itself, E or H, into `work` for files; spoils s->field. */
BN_CHECKED bn_status bpm_show(bpm *);
/* The reverse of fetching; spoils s->field. */
BN_CHECKED bn_status bpm_put(bpm *);
void bpm_look(const bpm *, size_t beam, bpm_state *out);
BN_CHECKED bn_status bpm_keep_record(bn_sim *, bpm *);
/* Puts the start into the engine's field. */
BN_CHECKED bn_status bpm_begin(bn_sim *, bpm *);

/* bpm_step.c: what both engines do around the marching. */
typedef struct bpm_marcher {
    bn_status (*section)(bn_sim *, bpm *); /* r and v have changed */
    /* `first`: number of the first of these steps; `look`: the field is looked at afterwards */
    bn_status (*march)(bn_sim *, bpm *, size_t first, size_t steps, bool look);
} bpm_marcher;
BN_CHECKED bn_status bpm_advance(bn_sim *, bpm *, const bpm_marcher *, bn_step *out);
/* What a checkpoint needs beside psi, and, coming back, the section that psi was left in. */
BN_CHECKED bn_status bpm_serialize(bn_sim *, void *state, bn_checkpoint_state *);
BN_CHECKED bn_status bpm_take_up(bn_sim *, bpm *, const bpm_marcher *);
/* bpm_space.c: beams in space. */
/* Every second step takes the two directions in the other order, whatever sections and records it lies in. */
static inline bool bpm_begins_along_y(size_t step) { return step % 2 == 1; }
BN_CHECKED bn_status bpm_plan_space(const bn_case *, bn_plan *, bpm *);
/* The scaling and the weights for the step number k, or for a step along imaginary z. */
void bpm_make_space_section(bpm *, size_t k);
/* r and v of the lines [first, first + count) of direction d in this section; the reach grows with them. */
void bpm_space_lines(bpm *, int d, uint32_t first, uint32_t count, double *r, double *v);
BN_CHECKED bn_status bpm_start_space(const bn_case *, bn_plan *, bpm *);
/* A step of the simulation while the mode is sought. */
BN_CHECKED bn_status bpm_relax(bn_sim *, bpm *, const bpm_marcher *, bn_step *out);
/* bpm_cross.c: the cross-section, row by row. A row of what enters, or of the guess at the mode. */
void bpm_start_row(const bpm *, uint32_t j, double *row);
/* Puts it into psi, made anew (then the start is kept, too) or as it was kept. */
BN_CHECKED bn_status bpm_launch_space(bpm *, bool make);
/* `map`: the mean of the intensity along x, row by row; NULL: not wanted. */
BN_CHECKED bn_status bpm_look_space(bpm *, bpm_state *out, double *map);
/* Into s->largest. */
BN_CHECKED bn_status bpm_find_largest(bn_sim *, bpm *);
/* Of psi over s->largest: the effective index by Rayleigh's quotient, and the power. */
BN_CHECKED bn_status bpm_rayleigh(bn_sim *, bpm *, double *index, double *power);
/* psi over s->largest, as what enters from now on, too. */
BN_CHECKED bn_status bpm_normalize(bpm *);
/* Brings what is written to files up to date. */
BN_CHECKED bn_status bpm_update_outputs(bn_sim *, void *state);

/* bpm_fft.c: by transforms. `times`: one field by another, point by point. */
BN_CHECKED bn_status bpm_plan_fft(const bn_case *, bn_plan *, bpm *);
BN_CHECKED bn_status bpm_fft_section(bn_sim *, bpm *, size_t k);
BN_CHECKED bn_status bpm_fft_march(bn_sim *, bpm *, size_t steps,
                                   bn_status (*times)(bn_sim *, bpm *, bn_field *, bn_field *));
/* bpm_structure.c: n^2 at the nodes [first, first + count) of the row at y of the cross-section at z. */
void bpm_index_row(const bpm *, double z, double y, size_t first, size_t count, double _Complex *out);
extern const bn_engine bpm_device;

extern const bn_engine bn_bpm_reference_single, bn_bpm_reference_double;

#endif
