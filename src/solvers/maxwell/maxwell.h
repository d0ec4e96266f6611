/* maxwell.h: what the files of the solver `maxwell` share.
 *
 * Fields are complex amplitudes of exp(+i omega t); absorbing materials are n - i k. Inside, lengths count in cells, H
 * is multiplied by the impedance of vacuum (so that it is in V/m as E), and `w` = omega h / c. */
#ifndef BN_MAXWELL_H
#define BN_MAXWELL_H

#include "sim/solver.h"

typedef struct cplx {
    double re, im;
} cplx;

static inline cplx cplx_plus(cplx a, cplx b) { return (cplx){ a.re + b.re, a.im + b.im }; }
static inline cplx cplx_minus(cplx a, cplx b) { return (cplx){ a.re - b.re, a.im - b.im }; }
static inline cplx cplx_times(cplx a, cplx b) { return (cplx){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re }; }
static inline cplx cplx_scaled(double f, cplx a) { return (cplx){ f * a.re, f * a.im }; }
static inline cplx cplx_over(cplx a, cplx b)
{
    const double size = b.re * b.re + b.im * b.im;
    return (cplx){ (a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size };
}

enum {
    MAXWELL_MATERIALS = 64,
    MAXWELL_CLASSES = 256,
    MAXWELL_NAME = 64,
    MAXWELL_HINT = 1024, /* room for the names of all materials */
    MAXWELL_DEPTH = 16,
    MAXWELL_COLUMNS = 4,
    MAXWELL_MARKS = 7
};

#define MAXWELL_SOURCES(X)               \
    X(MAXWELL_SOURCE_PLANE, "plane")     \
    X(MAXWELL_SOURCE_VOLUME, "volume")   \
    X(MAXWELL_SOURCE_CURRENT, "current") \
    X(MAXWELL_SOURCE_MAGNETIC, "magnetic-current")
#define MAXWELL_SIDES(X) X(MAXWELL_SIDES_PERIODIC, "periodic") X(MAXWELL_SIDES_ABSORBING, "absorbing")
#define MAXWELL_BOTTOMS(X) X(MAXWELL_BOTTOM_ABSORBING, "absorbing") X(MAXWELL_BOTTOM_WALL, "wall")
#define MAXWELL_BORDERS(X) X(MAXWELL_BORDERS_AVERAGE, "average") X(MAXWELL_BORDERS_SHARP, "sharp")
#define MAXWELL_TEXTURES(X)               \
    X(MAXWELL_TEXTURE_FLAT, "flat")       \
    X(MAXWELL_TEXTURE_SAME, "same")       \
    X(MAXWELL_TEXTURE_RANDOM, "random")   \
    X(MAXWELL_TEXTURE_GRATING, "grating") \
    X(MAXWELL_TEXTURE_PICTURE, "picture")
#define MAXWELL_SWEEPS(X)           \
    X(MAXWELL_SWEEP_AUTO, "auto")   \
    X(MAXWELL_TWO_PASS, "two-pass") \
    X(MAXWELL_ROWS, "rows")         \
    X(MAXWELL_FUSED, "fused")       \
    X(MAXWELL_ONE_LAUNCH, "one-launch")
#define MAXWELL_STARTS(X) X(MAXWELL_DARK, "dark") X(MAXWELL_LAYERS, "layers")
#define MAXWELL_ACCELERATIONS(X) X(MAXWELL_PLAIN, "none") X(MAXWELL_ANDERSON, "anderson")
#define MAXWELL_SLICES(X) \
    X(MAXWELL_SLICE_AUTO, "auto") X(MAXWELL_SLICE_YZ, "yz") X(MAXWELL_SLICE_XZ, "xz") X(MAXWELL_SLICE_XY, "xy")

typedef enum maxwell_source { MAXWELL_SOURCES(BN_CHOICE_ENUM) } maxwell_source;
typedef enum maxwell_sides { MAXWELL_SIDES(BN_CHOICE_ENUM) } maxwell_sides;
typedef enum maxwell_bottom { MAXWELL_BOTTOMS(BN_CHOICE_ENUM) } maxwell_bottom;
typedef enum maxwell_borders { MAXWELL_BORDERS(BN_CHOICE_ENUM) } maxwell_borders;
typedef enum maxwell_texture { MAXWELL_TEXTURES(BN_CHOICE_ENUM) } maxwell_texture;
typedef enum maxwell_sweep { MAXWELL_SWEEPS(BN_CHOICE_ENUM) } maxwell_sweep;
typedef enum maxwell_start { MAXWELL_STARTS(BN_CHOICE_ENUM) } maxwell_start;
typedef enum maxwell_acceleration { MAXWELL_ACCELERATIONS(BN_CHOICE_ENUM) } maxwell_acceleration;
typedef enum maxwell_slice { MAXWELL_SLICES(BN_CHOICE_ENUM) } maxwell_slice;

#define MAXWELL_VACUUM_IMPEDANCE 376.730313668 /* [ohm] */

/* ------------------------------------------------------------------------ the model: what is to be solved */

typedef struct maxwell_material {
    char name[MAXWELL_NAME];
    double n, k;             /* at the present wavelength; (n - i k)^2 is the relative permittivity */
    double given_n, given_k; /* without a table */
    const bn_input *table;   /* wavelength_nm, n, k; NULL: constant */
    cplx mu;                 /* relative permeability, mu' - i mu'': im is -mu'' */
    bool used;               /* by a cell */
} maxwell_material;

/* The materials of the four cells around an edge of the grid, ascending; with sharp borders one material four times.
 * Edges with the same four materials are of one class. */
typedef struct maxwell_class {
    uint8_t of[4];
    double share[4]; /* of each in its permittivity; they add up to 1 */
    double loss[4];  /* of each in -eps'' */
    cplx eps;        /* relative, eps' - i eps'': im is -eps'' */
} maxwell_class;

/* The same for a face of the grid and the materials of the two cells beside it. */
typedef struct maxwell_face {
    uint8_t of[2];
    double loss[2]; /* of each in mu'' */
    cplx mu;
} maxwell_face;

typedef struct maxwell_light {
    double wavelength, until; /* [m]: the first and the last of a spectrum */
    int wavelengths;
    double amplitude, polarisation, incidence, azimuth;
    double ramp_periods; /* 0: full from the first step on */
    bool volume;         /* the scattered field is computed everywhere, driven by the polarisation of the structure */
    bool current;        /* no incident wave: the currents of a field radiate */
    bool magnetic;       /* and they are magnetic */
    bool bloch;          /* oblique incidence: sides are periodic but for a phase */
    uint32_t source;     /* plane of E */
} maxwell_light;

typedef struct maxwell_pml {
    int cells, order;
    double reflection;
    bool sides, bottom; /* where there are absorbing layers besides the top */
} maxwell_pml;

typedef struct maxwell_structure {
    maxwell_material material[MAXWELL_MATERIALS];
    int materials, above, below;
    uint8_t *cell; /* nx * ny * nz: material of each cell; NULL where the plan only counts */
    uint8_t *edge; /* 3 * nx * ny * nz: class of each edge; with sharp borders at first its material */
    maxwell_class classes[MAXWELL_CLASSES];
    int class_count;
    bool average;  /* borders: an edge has the mean permittivity of the cells around it */
    bool magnetic; /* a material that is used has a permeability */
    uint8_t *face; /* 3 * nx * ny * nz: class of each face, as `edge`; NULL where nothing is magnetic */
    maxwell_face faces[MAXWELL_CLASSES];
    int face_count; /* without magnetic materials one class, vacuum */
    /* structure.map: the index of each cell; NaN: that of its material. Then an edge at such a cell has a row of its
     * own in the table of the update of E, behind those of the classes. */
    bool mapped;
    double *map;
    int32_t *row;         /* of each edge */
    size_t rows;          /* of all edges */
    double sphere_radius; /* of the only sphere [m]; 0: none or several */
} maxwell_structure;

/* Tables of complex numbers, real and imaginary part of one after the other. */
typedef enum maxwell_table {
    MAXWELL_UPDATE_E,   /* by class and depth: t and c of the update of E */
    MAXWELL_UPDATE_H,   /* by class of faces and depth: t and c of the update of H */
    MAXWELL_CONTRAST,   /* by class (with a map by row): -i w (eps - eps_above) */
    MAXWELL_WAVE,       /* by plane: incident wave at normal incidence, E; then H half a cell above, of E_y or -E_x */
    MAXWELL_LATERAL,    /* 2 + nx + ny: phases across the sides, of the wave along x and y */
    MAXWELL_CONTRAST_H, /* by class of faces (with a map by row): -i w (mu - mu_above) */
    MAXWELL_TABLES
} maxwell_table;

/* Everything that depends on the wavelength, in double; engines round it once. */
typedef struct maxwell_tables {
    double wavelength, w; /* [m], omega h / c */
    double *of[MAXWELL_TABLES];
    cplx e_inc[2], h_inc[2]; /* amplitude of the incident E_x, E_y at the source plane and H_x, H_y half a cell above */
    double flux; /* of the incident wave through a cell's face, downwards, in |E|^2 of the case's units / 2 */
    double ramp; /* share of the ramp that a step is: 1 / steps of the ramp */
} maxwell_tables;

typedef struct maxwell_model {
    uint32_t n[3];
    double h;       /* [m] */
    double courant; /* of the iteration's step over the largest stable one */
    maxwell_light light;
    maxwell_pml pml;
    maxwell_structure structure;
    maxwell_tables t;
} maxwell_model;

/* maxwell_model.c: reads grid, light, boundaries and structure, announces the grid; the case may be rejected
 * (bn_case_diagnostics), then the tables are not there. */
BN_CHECKED bn_status maxwell_plan_model(const bn_case *, bn_plan *, maxwell_model *);
double maxwell_wavelength(const maxwell_model *, int which);
/* Materials and tables at a wavelength; rejects the case where a used material has no data there. */
void maxwell_set_wavelength(const bn_case *, maxwell_model *, double wavelength);
static inline size_t maxwell_cells(const maxwell_model *m) { return (size_t)m->n[0] * m->n[1] * m->n[2]; }

/* maxwell_material.c: optical constants. */
/* Number of the material called `name`: one of the case or a table that is part of the program; -1: unknown. */
BN_CHECKED bn_status maxwell_find_material(const bn_case *, bn_plan *, maxwell_structure *, const char *name, int *out);
/* What to say where it is unknown: the nearest name, and all there are. */
BN_CHECKED bn_status maxwell_unknown_material(bn_plan *, const maxwell_structure *, const char *name,
                                              char hint[MAXWELL_HINT]);
BN_CHECKED bn_status maxwell_read_materials(const bn_case *, bn_plan *, maxwell_structure *);
void maxwell_set_materials(const bn_case *, maxwell_structure *, double wavelength);
/* n - i k in the wave number: the root of permittivity times permeability. */
cplx maxwell_index(const maxwell_material *);

/* maxwell_structure.c: which material fills each cell. */
BN_CHECKED bn_status maxwell_build_structure(const bn_case *, bn_plan *, maxwell_model *);

/* maxwell_map.c: the index of cells from a map. After maxwell_plan_model: reads it, and makes the tables anew. */
BN_CHECKED bn_status maxwell_read_map(const bn_case *, bn_plan *, maxwell_model *);
double maxwell_cell_index(const maxwell_model *, size_t cell);
/* An edge along `axis`: the four cells around it; then false: none of them has its index from the map; else their
 * materials, and the mean of their permittivities, as a class. */
bool maxwell_mapped_edge(const maxwell_model *, int axis, const size_t place[3], size_t cell[4], maxwell_class *out);

/* maxwell_gradient.c: gradients with respect to the map by the adjoint equations. */
bool maxwell_map(const void *state, unsigned n[3]);
BN_CHECKED bn_status maxwell_gradient(bn_sim *, void *state, const char *of, const double *slopes, double *gradient);

/* maxwell_tables.c: classes of edges, coefficients, the incident wave. */
BN_CHECKED bn_status maxwell_find_classes(const bn_case *, bn_plan *, maxwell_model *);
BN_CHECKED bn_status maxwell_allocate_tables(bn_plan *, maxwell_model *);
/* Reals in a table. */
size_t maxwell_table_size(const maxwell_model *, maxwell_table);
void maxwell_set_tables(maxwell_model *);
static inline cplx maxwell_permittivity(double n, double k) { return (cplx){ n * n - k * k, -2 * n * k }; }
/* Place on an axis of the cell before `at`: across a periodic side the last one, at a wall the cell itself. */
uint32_t maxwell_cell_before(const maxwell_model *, int dim, uint32_t at);
/* Depth in an absorbing layer, in cells, of place `at` along dimension `dim` (of H: half a cell more). */
int maxwell_depth_E(const maxwell_model *, int dim, uint32_t at);
int maxwell_depth_H(const maxwell_model *, int dim, uint32_t at);
/* Strength of the source in the step after `steps` of them, 0 ... 1: a quintic ramp. */
double maxwell_ramp(const maxwell_model *, unsigned long long steps);
/* Steps until it is 1. */
unsigned long long maxwell_steps_of_ramp(const maxwell_model *);

/* ------------------------------------------------------------------------ the solver's state */

typedef struct maxwell_config {
    maxwell_sweep sweep; /* never MAXWELL_SWEEP_AUTO */
    maxwell_start start;
    double epsilon;
    int watch_every; /* steps between looks at the change */
    bool double_precision;
} maxwell_config;

typedef struct maxwell_fields {
    bn_field *E, *H, *part_E, *part_H, *edges, *faces, *norm, *index, *current;
    bn_field *E_next, *H_next, *part_E_next, *part_H_next; /* the second buffers of sweeps that fill them, else NULL */
} maxwell_fields;

typedef struct maxwell_kernels {
    bn_kernel *H, *E, *H_rows, *E_rows, *E_watched, *fused, *both, *maxima, *norm;
    bn_device_array *table[MAXWELL_TABLES];
    bn_device_array *meeting;        /* of the work-groups of `both` (kernels/lib/meet.h); else NULL */
    bn_device_array *light;          /* of `both`: numbers of the source, by step, the last ones those of full light */
    int put_off;                     /* steps that `both` has yet to do, in one launch */
    unsigned long long put_off_from; /* steps before them */
    bn_partials *partials;
    bn_scalars *scalars;
} maxwell_kernels;

/* Anderson acceleration: cycles of `depth` states, `apart` steps from one to the next. */
typedef struct maxwell_anderson {
    bool on;
    int depth, apart, components; /* components: complex numbers of a cell's state */
    bn_field *history;
    bn_kernel *store, *gram, *gram_sum, *update;
    bn_partials *partials;
    bn_scalars *gram_scalars, *weights;
} maxwell_anderson;

/* How the iteration at a wavelength ended: columns of sweep.csv. */
typedef struct maxwell_end {
    double steps, residual, converged;
} maxwell_end;

typedef struct maxwell_spectrum {
    int present;          /* number of the wavelength at work */
    double *values;       /* a row per wavelength */
    int columns, rows;    /* rows: of wavelengths that have ended */
    maxwell_end *ends;    /* of each wavelength */
    long long most_steps; /* for each wavelength */
} maxwell_spectrum;

/* The slice that pictures show, and what stands under it. */
typedef struct maxwell_picture {
    int across;
    uint32_t slice;
    char caption[96];
    bn_picture_mark mark[MAXWELL_MARKS];
} maxwell_picture;

typedef struct maxwell {
    maxwell_model model;
    maxwell_config config;
    maxwell_fields f;
    maxwell_kernels k;
    maxwell_anderson anderson;
    maxwell_spectrum spectrum;
    maxwell_picture picture;
    char (*result_name)[2][MAXWELL_NAME + 32]; /* made from the materials' */
    unsigned long long steps;                  /* at the present wavelength */
    double residual;
    double change, size; /* largest |change|^2 and |E|^2 of the last look */
    void *reference;
} maxwell;

/* maxwell.c: what stands under the pictures, at the present wavelength. */
void maxwell_write_caption(maxwell *);

/* maxwell_layers.c: the field of the planar stack that the structure is on average, as a start. */
BN_CHECKED bn_status maxwell_start_from_layers(bn_sim *, maxwell *);

/* maxwell_measure.c: reflectance, transmittance, absorptance, cross sections. */
BN_CHECKED bn_status maxwell_plan_results(bn_plan *, maxwell *);
BN_CHECKED bn_status maxwell_measure(bn_sim *, void *state, bn_results *);
/* The same for one wavelength, into a row of the spectrum. */
BN_CHECKED bn_status maxwell_measure_row(bn_sim *, const maxwell *, double *row);

/* maxwell_spectrum.c: one wavelength after the other. */
/* The fields that the iteration at a wavelength begins with, dark or those of the layers. Each wavelength begins anew:
 * the field of the one before, which is lit at once, excites standing waves that take thousands of steps to leave. */
BN_CHECKED bn_status maxwell_begin_wavelength(bn_sim *, maxwell *);
/* To be called after each step. The wavelength ends when it has converged, or, in a spectrum, when its steps are used
 * up; after the last one so does the run. */
BN_CHECKED bn_status maxwell_end_step(bn_sim *, maxwell *, bool converged, bn_step *out);
/* spectrum.csv and sweep.csv. */
BN_CHECKED bn_status maxwell_add_spectrum(bn_sim *, const maxwell *, bn_results *);
/* What a checkpoint needs beside the fields. */
BN_CHECKED bn_status maxwell_serialize(bn_sim *, void *state, bn_checkpoint_state *);

/* maxwell_step.c: launches what steps have put off. */
BN_CHECKED bn_status maxwell_catch_up(maxwell *);

/* maxwell_anderson.c */
typedef struct maxwell_cycle {
    bool begin, finish; /* the state begins a cycle; before that, it ends one */
    int slot;           /* number of the difference to the state before; -1: none */
} maxwell_cycle;
/* What is due after the steps done so far. */
maxwell_cycle maxwell_cycle_now(const maxwell *);
/* From gram[(row * depth + column) * 2], the sums of conj(U_column) U_row over the differences U for column <= row, the
 * complex factors of  next state = last state - sum factor_l U_l. */
void maxwell_anderson_weights(const maxwell *, const double *gram, double *weights);
/* The same on a device. */
BN_CHECKED bn_status maxwell_anderson_setup(bn_sim *, maxwell *);
void maxwell_anderson_teardown(maxwell *);
BN_CHECKED bn_status maxwell_anderson_step(maxwell *);

/* maxwell_step.c: the iteration on a device, and what both engines do around a step. */
bool maxwell_watches(const maxwell *);
BN_CHECKED bn_status maxwell_report(bn_sim *, maxwell *, bool watched, bn_step *out);
extern const bn_engine maxwell_device;

extern const bn_engine bn_maxwell_reference_single, bn_maxwell_reference_double;

#endif
