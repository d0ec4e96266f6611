/* maxwell.h: what the parts of the solver `maxwell` share: the case's numbers, materials, coefficients, fields.
 *
 * Fields are complex amplitudes of exp(+i omega t); absorbing materials are n - i k. Inside, lengths count in cells, H
 * is multiplied by the impedance of vacuum (so that it is in V/m as E), and `w` = omega h / c. */
#ifndef BN_MAXWELL_H
#define BN_MAXWELL_H

#include "sim/solver.h"

typedef struct cplx {
    double re, im;
} cplx;

static inline cplx cplx_times(cplx a, cplx b) { return (cplx){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re }; }
static inline cplx cplx_over(cplx a, cplx b)
{
    const double size = b.re * b.re + b.im * b.im;
    return (cplx){ (a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size };
}

enum {
    MAXWELL_MATERIALS = 64,
    MAXWELL_CLASSES = 256,
    MAXWELL_NAME = 64,
    MAXWELL_RECORD = 20,
    MAXWELL_DEPTH = 16,
    MAXWELL_COLUMNS = 4,
    MAXWELL_ENDS = 3,
    MAXWELL_MARKS = 7
};
typedef enum maxwell_form { MAXWELL_COMPACT, MAXWELL_SOA, MAXWELL_AOS } maxwell_form; /* order of the key's choices */
typedef enum maxwell_sweep { MAXWELL_AUTO, MAXWELL_TWO_PASS, MAXWELL_ROWS, MAXWELL_FUSED } maxwell_sweep;
typedef enum maxwell_start { MAXWELL_DARK, MAXWELL_LAYERS } maxwell_start;

typedef struct maxwell_material {
    char name[MAXWELL_NAME];
    double n, k;             /* at the present wavelength */
    double given_n, given_k; /* without a table */
    const bn_input *table; /* wavelength_nm, n, k; NULL: constant */
    bool used;               /* by a cell */
} maxwell_material;

/* What an edge of the grid is made of: the materials of the four cells around it, ascending; with sharp borders one
 * material four times. */
typedef struct maxwell_class {
    uint8_t of[4];
    double share[4]; /* of each in its permittivity; they add up to 1 */
    cplx eps;        /* relative, eps' - i eps'': im is -eps'' */
} maxwell_class;

/* Everything that depends on the wavelength, in double; engines round it once. */
typedef struct maxwell_tables {
    double wavelength, w;    /* [m], omega h / c */
    double *E;               /* classes * (pml + 1) * {t, c}, each re, im */
    double *H;               /* (pml + 1) * {t, c} */
    double *contrast;        /* classes: -i w (eps - eps_above) */
    double *wave;            /* nz: incident wave at E's planes, normal incidence */
    double *lateral;         /* 2 + nx + ny: phases across the sides, of the wave along x and y */
    cplx e_inc[2], h_inc[2]; /* amplitude of the incident E_x, E_y at the source plane and H_x, H_y half a cell above */
    cplx step_z;             /* phase of the incident wave from one plane to the next above */
    double flux; /* of the incident wave through a cell's face, downwards, in |E|^2 of the case's units / 2 */
    double ramp; /* share of the ramp that a step is: 1 / steps of the ramp */
} maxwell_tables;

typedef struct maxwell {
    uint32_t n[3];
    double h; /* [m] */
    bool double_precision;
    /* light */
    double wavelength, until; /* [m] */
    int wavelengths, present; /* of a sweep: how many, the one at work */
    double amplitude, polarisation, incidence, azimuth, ramp_periods;
    bool volume, bloch;
    uint32_t source; /* plane of E */
    /* sides */
    bool pml_sides, pml_bottom;
    int pml, pml_order;
    double pml_reflection;
    /* structure */
    maxwell_material material[MAXWELL_MATERIALS];
    int materials, above, below;
    uint8_t *cell; /* nx * ny * nz: material of each cell; NULL where the plan only counts */
    uint8_t *edge; /* 3 * nx * ny * nz: class of each edge; with sharp borders at first its material */
    maxwell_class classes[MAXWELL_CLASSES];
    int class_count;
    bool average;
    double sphere_radius; /* of the only sphere [m]; 0: none or several */
    /* iteration */
    maxwell_form form;
    maxwell_sweep sweep;
    maxwell_start start;
    double courant, epsilon;
    int watch_every; /* steps between looks at the change */
    bool fuse;       /* H and E in one sweep */
    bool accelerate;
    int depth, apart, state_components; /* states of a cycle, steps between them, complex numbers of a cell's state */
    maxwell_tables t;
    unsigned long long since; /* steps at the present wavelength */
    double residual;
    double change, size; /* largest |change|^2 and |E|^2 of the last look */
    /* of the pictures: the slice, and what stands under it */
    int across;
    uint32_t slice;
    char caption[96];
    bn_picture_mark mark[MAXWELL_MARKS];
    double *spectrum; /* a row per wavelength */
    int spectrum_columns, spectrum_rows;
    double *ends;         /* of each wavelength: steps, residual, 1 where it converged */
    long long most_steps; /* of each wavelength of a sweep */
    /* records read from a folder, by E and H and member */
    bool imported;
    const bn_input *image[2][MAXWELL_RECORD];
    /* names of results made from the materials' */
    char (*result_name)[2][MAXWELL_NAME + 32];
    /* fields */
    bn_field *E, *H, *part_E, *part_H, *edges, *norm, *index, *record_E, *record_H, *history;
    bn_field *E_next, *H_next, *part_E_next, *part_H_next;
    /* device */
    bn_kernel *step_H, *step_E, *step_H_rows, *step_E_rows, *step_E_watched, *total, *take_norm, *fused, *seed_H,
        *seed_E, *seed_whole, *keep_state, *gram, *gram_total, *mix_states;
    bn_device_array *table_E, *table_H, *table_contrast, *table_wave, *table_lateral;
    bn_partials *partials, *gram_partials;
    bn_scalars *scalars, *gram_scalars, *weight_scalars;
    /* reference */
    void *reference;
} maxwell;

/* maxwell_material.c: optical constants. */
/* Number of the material called `name`, which is entered when data of that name travels with the program; -1: unknown.
 */
BN_CHECKED bn_status maxwell_find_material(const bn_case *, bn_plan *, maxwell *, const char *name, int *out);
BN_CHECKED bn_status maxwell_read_materials(const bn_case *, bn_plan *, maxwell *);
/* Sets n and k of all materials at a wavelength; rejects the case where a used one has no data there. */
void maxwell_set_wavelength(const bn_case *, maxwell *, double wavelength);
double maxwell_wavelength(const maxwell *, int which);

/* maxwell_structure.c: which material fills each cell. */
BN_CHECKED bn_status maxwell_build_structure(const bn_case *, bn_plan *, maxwell *);

/* maxwell_tables.c: classes of edges, coefficients, the incident wave. */
BN_CHECKED bn_status maxwell_find_classes(const bn_case *, bn_plan *, maxwell *);
BN_CHECKED bn_status maxwell_room_for_tables(bn_plan *, maxwell *);
void maxwell_set_tables(maxwell *);
/* Depth in an absorbing layer, in cells, of place `at` along dimension `dim` (of H: half a cell more). */
int maxwell_depth_E(const maxwell *, int dim, uint32_t at);
int maxwell_depth_H(const maxwell *, int dim, uint32_t at);
/* Strength of the source in step `since`, 0 ... 1: a quintic ramp. */
double maxwell_ramp(const maxwell *);
/* The records of every cell for the forms with a coefficient per cell; 2 * RECORD reals a cell, planes or interleaved.
 */
BN_CHECKED bn_status maxwell_write_records(bn_sim *, maxwell *);

/* Dark fields, t and s of the six parts of E or H, and the source of one cell: 2 * RECORD reals. */
void maxwell_fill_record(const maxwell *, bool magnetic, const uint32_t at[3], double *record);

/* maxwell_exchange.c: the records as a folder of images. */
BN_CHECKED bn_status maxwell_write_folder(bn_sim *, maxwell *);
BN_CHECKED bn_status maxwell_read_folder(const bn_case *, bn_plan *, maxwell *);
void maxwell_take_record(const maxwell *, bool magnetic, const uint32_t at[3], double *record);

/* maxwell_layers.c: the field of the planar stack that the structure is on average, as a start. */
BN_CHECKED bn_status maxwell_start_from_layers(bn_sim *, maxwell *);

/* maxwell_measure.c: reflectance, transmittance, absorptance, cross sections. */
BN_CHECKED bn_status maxwell_plan_results(bn_plan *, maxwell *);
BN_CHECKED bn_status maxwell_measure(bn_sim *, void *state, bn_results *);
/* The same for one wavelength, into a row of the spectrum. */
BN_CHECKED bn_status maxwell_measure_row(bn_sim *, maxwell *, double *row);

/* Wavelengths of a sweep that have come to their end without converging. */
int maxwell_unconverged(const maxwell *);

/* maxwell_accelerate.c: cycles that extrapolate. */
typedef struct maxwell_cycle {
    bool begin, finish; /* the state begins a cycle; before that, it ends one */
    int slot;           /* number of the difference to the state before; -1: none */
} maxwell_cycle;
/* What is due after the steps done so far. */
maxwell_cycle maxwell_cycle_now(const maxwell *);
/* From gram[(row * depth + column) * 2], the sums of conj(U_column) U_row over the differences U for column <= row, the
 * complex factors of  next state = last state - sum factor_l U_l. */
void maxwell_weights(const maxwell *, const double *gram, double *factors);

/* maxwell_step.c: what both engines do around a step. */
/* The fields that the iteration at a wavelength begins with, dark or those of the layers. Of a sweep each wavelength
 * begins anew: the field of the one before, which is lit at once, wakes standing waves that take thousands of steps to
 * leave. */
BN_CHECKED bn_status maxwell_begin_wavelength(bn_sim *, maxwell *);
BN_CHECKED bn_status maxwell_report(bn_sim *, maxwell *, bool watched, bn_step *out);
/* What a checkpoint needs beside the fields; coming back, the tables are those of the wavelength that is at work. */
BN_CHECKED bn_status maxwell_serialize(bn_sim *, void *state, bn_checkpoint_state *);
bool maxwell_watches(const maxwell *);
extern const bn_engine maxwell_device;

extern const bn_engine bn_maxwell_reference_single, bn_maxwell_reference_double;

#endif
