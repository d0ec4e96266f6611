/* announcements.h: what a solver's plan() announces: grid, fields, constants, results, pictures, memory. */
#ifndef BN_ANNOUNCEMENTS_H
#define BN_ANNOUNCEMENTS_H

#include "api/field.h"
#include "api/program.h"
#include "binnacle/sim.h"
#include "io/drawing.h"

typedef struct bn_plan bn_plan;

enum { BN_SERIES_MAX = 8 };

/* --- grid --- */
BN_CHECKED bn_status bn_plan_grid(bn_plan *, const bn_grid *);
/* A second grid, in three dimensions, for fields of role BN_VOLUME: no kernel sees them. Every rank has all of them in
 * host memory, on either engine, and the engine's update_outputs fills them in. */
void bn_plan_volume(bn_plan *, const bn_grid *);
BN_CHECKED bn_status bn_plan_halo(bn_plan *, int cells); /* largest stencil radius of any launch; 1 unless announced */
/* The halo is wider by so many ghost cells, which launches may compute along with their own where boxes are thick
 * enough (bn_domain_max_radius). */
void bn_plan_ghost_cells(bn_plan *, int cells);
/* Cuts between boxes lie at multiples of so many cells, a power of two, where boxes are large enough for that: the grid
 * can be coarsened by halves that often in the same boxes. */
void bn_plan_align(bn_plan *, int cells);
void bn_plan_whole_rows(bn_plan *); /* no cuts along x (bn_domain_desc.whole_rows) */
void bn_plan_one_box(bn_plan *);    /* no cuts at all: several devices leave the work to the first */
/* What a step costs on several devices, measured on H200s in single precision (docs/scaling.md). A step is whatever
 * repeats: a time step, an iteration, a batch. */
typedef struct bn_plan_scaling {
    double rate;      /* points, cells or photons a second on one device; 0: not known */
    double points;    /* in a step; 0: those of the grid */
    double launches;  /* of a step, one after the other, about; 0: one */
    int along;        /* axis that boxes follow each other on */
    double exchanges; /* launches in a step that wait for a halo */
    double bytes;     /* of a halo, for each cell of the cut */
    double face;      /* time that a halo takes even where all of its way is hidden [s] */
    double wait;      /* time in a step that several devices wait for sums, however many they are [s] */
    double overlap;   /* layers of a neighbour's that are computed beside one's own in a step */
    bool one_way;     /* launches look one way: a box between two others waits for one halo */
    unsigned most;    /* devices among which the work can be shared out; 0: any number */
    bool unsure;      /* cells that were not looked at decide whether it does */
} bn_plan_scaling;
void bn_plan_scales(bn_plan *, const bn_plan_scaling *);
/* The grid lies on a map, x to the east and y to the north, in coordinates of that EPSG code (0: not known): TIFFs get
 * the tags of GeoTIFF. */
void bn_plan_map(bn_plan *, int epsg);

/* --- fields and memory --- */
/* out: a member of the state, which has the field from init() on. */
BN_CHECKED bn_status bn_plan_field(bn_plan *, bn_field **out, const bn_field_desc *);
/* A field of one component, on this grid, that setup makes beside those of the plan: counts in the memory estimate.
 * `shared`: beyond each device's part of the others, where several devices have one: all of it on each. */
BN_CHECKED bn_status bn_plan_more_memory(bn_plan *, const bn_grid *, bn_type, bool shared);
/* Bytes on a device beside the fields: device arrays, counters. `pieces`: so many alike, shared out among the devices
 * (bn_device_array_slabs), which may be more; 1: all of it on each. */
BN_CHECKED bn_status bn_plan_table(bn_plan *, uint64_t bytes, uint64_t pieces);
/* Whether so many bytes more, in buffers of at most `largest`, fit beside all that has been announced so far, on every
 * device that will compute, so that all ranks decide alike. True where the device is not known. */
bool bn_plan_has_room(const bn_plan *, uint64_t bytes, uint64_t largest);
/* Zeroed memory that lives as long as the plan: for what plan() works out and the steps need. */
BN_CHECKED bn_status bn_plan_allocate(bn_plan *, size_t bytes, void **out);
/* plan() asks this before it makes or looks at anything that grows with the cells, of which there are so many. True:
 * the plan only estimates what the case takes, and the cells are too many to be looked at for that. Then plan()
 * announces the grid and the fields alone; what depends on single cells is announced as the most that it may be. */
bool bn_plan_only_counts(bn_plan *, double cells);

/* --- constants of kernels --- */
/* Constants of the steps, each declared once. A solver lists them in a macro, LIST(X) with X(member, "what it is"):
 *     typedef struct flow_constants { FLOW_CONSTANTS(BN_CONSTANT_MEMBER) } flow_constants;
 *     bn_plan_constants(p, BN_CONSTANT_NAMES(FLOW_CONSTANTS), (const double *)&s->k)
 * Kernels know member `nu_x` as NU_X, rounded to the case's precision; the reference rounds the same struct
 * (numerics/real.h). What is fixed over a run is such a constant, what changes from launch to launch an argument, what
 * is indexed a device array. */
#define BN_CONSTANT_MEMBER(name, meaning) double name;
#define BN_CONSTANT_NAME(name, meaning) #name,
#define BN_CONSTANT_NAMES(LIST) ((const char *const[]){ LIST(BN_CONSTANT_NAME) NULL })
BN_CHECKED bn_status bn_plan_constants(bn_plan *, const char *const *names, const double *values);
/* Whole numbers that host and kernels share, such as the bits of a node: LIST(X) with X(NAME, value, "what it is").
 * Kernels know them as NAME. */
typedef struct bn_code {
    const char *name;
    long long value;
} bn_code;
#define BN_CODE_ENTRY(name, value, meaning) { #name, value },
#define BN_CODES(LIST) ((const bn_code[]){ LIST(BN_CODE_ENTRY){ NULL, 0 } })
BN_CHECKED bn_status bn_plan_codes(bn_plan *, const bn_code *);
BN_CHECKED bn_status bn_plan_define(bn_plan *, const char *name, double value); /* a real constant */
BN_CHECKED bn_status bn_plan_define_int(bn_plan *, const char *name, long long value);
/* A kernel of the table that this case does not need and its program does not have. */
BN_CHECKED bn_status bn_plan_skip_kernel(bn_plan *, const char *name);

/* What the case asks of a device beside the kernels that it has, a literal: "multigrid". Before a run the device is
 * tested with as few self-test cases as have all its kernels and, where any case has them, all its needs. */
BN_CHECKED bn_status bn_plan_needs(bn_plan *, const char *what);

/* --- numbers that are printed and written --- */
BN_CHECKED bn_status bn_plan_result(bn_plan *, const char *name, const char *unit, const char *help);
BN_CHECKED bn_status bn_plan_series(bn_plan *, const char *name, const char *unit); /* in the order of bn_step.series */
/* A derived number that `check` prints and the summary keeps: "cell Reynolds number", 7.8, "". */
BN_CHECKED bn_status bn_plan_note(bn_plan *, const char *name, double value, const char *unit);
/* The same for a choice that was made: "the system for psi", "multigrid". Both literals. */
BN_CHECKED bn_status bn_plan_choice(bn_plan *, const char *name, const char *choice);

/* --- length of the run --- */
/* Steps after which the case ends by itself, where they are known before it runs. */
void bn_plan_steps(bn_plan *, double steps);
/* The run consists of so many parts one after the other, each of at most stop.steps steps: wavelengths of a sweep. */
void bn_plan_parts(bn_plan *, int parts);
/* The run is meant to end with bn_step.converged: reaching stop.steps first is a failure (exit 4). `tolerance` > 0: the
 * residual has to fall below it; progress and summary show it. `advice`, a literal or NULL: what may help where the
 * residual no longer falls, for the message. */
void bn_plan_wants_convergence(bn_plan *, double tolerance, const char *advice);

/* --- pictures, charts, meshes --- */
/* A straight line across a picture that marks a source plane or the begin of an absorbing layer. */
typedef struct bn_picture_mark {
    int dim;   /* axis of the grid on which `at` lies */
    double at; /* [m] */
    const char *label;
} bn_picture_mark;

/* A picture that the simulation draws from fields at output times. */
typedef struct bn_picture_desc {
    const char *name;  /* file name without number: "vorticity" */
    const char *field; /* real field, component 0 */
    const char *title;
    const char *quantity; /* at the colour bar, before the field's unit: "vorticity ω"; NULL: the field's name */
    enum { BN_PICTURE_SEQUENTIAL, BN_PICTURE_DIVERGING, BN_PICTURE_CYCLIC } map;
    const char *contour_field;    /* contour lines of this field, or NULL */
    const char *contour_quantity; /* in the caption: "stream function ψ"; NULL: the field's name */
    bool arrows; /* `field` has two components: its magnitude in colours and its direction as arrows; no lines */
    bool contour_outlines;        /* the lines are borders of what is there: their values are not named */
    const double *contour_levels; /* NULL: at most so many round ones */
    size_t contour_count;
    double low, high; /* low == high: from the data */
    bool blanks;      /* leave values below `blank_below` blank */
    double blank_below;
    const bool *hidden;            /* points that are drawn as solid: grid.n values, kept by the plan; NULL: none */
    const bn_drawing *drawing;     /* walls, doors, gauges; kept by the plan; NULL: none */
    const bn_value_class *classes; /* ascending; NULL: colours without steps */
    size_t class_count;
    /* Of a grid in three dimensions, a slice: the axis across it (0 x, 1 y, 2 z) and the index of its points on that
     * axis. The picture's own axes are the other two, in order. */
    int across;
    uint32_t at;
    bool timeless;     /* the title names the step instead of a time */
    double axis_scale; /* 0: the axes are lengths; else so many units make a metre */
    const char *axis_unit;
    const char *caption; /* under the picture, read at the output time; NULL: none */
    const bn_picture_mark *marks;
    size_t mark_count;
} bn_picture_desc;
BN_CHECKED bn_status bn_plan_picture(bn_plan *, const bn_picture_desc *);

/* A chart of a table of the results: all its columns over the first one, as pictures/TABLE.png. */
typedef struct bn_plan_chart_desc {
    const char *table, *title, *y_label;
    double x_scale; /* of the first column: 1e9 for nanometres; 0 means 1 */
    const char *x_label;
    bool log_y;
} bn_plan_chart_desc;
BN_CHECKED bn_status bn_plan_chart(bn_plan *, const bn_plan_chart_desc *);

/* Files of each layer of cells (a storey) at output times, for programs of geography and of crowds. Texts and lists
 * live as long as the plan. */
typedef struct bn_plan_mesh_output_desc {
    const char *name;   /* of files: "storey" gives storey1.nc, outlines/flooded-storey1-000120.wkt */
    const bool *hidden; /* cells that are walls: grid.n values; NULL: none */
    bool mesh;          /* UGRID NetCDF: these fields over time, the other ones of role output as they are at the end */
    const char *const *fields; /* ends with NULL */
    const char *outlined;      /* polygons (WKT) around the cells where this field is above a value; NULL: none */
    double above;
    const char *outline; /* "flooded" */
} bn_plan_mesh_output_desc;
void bn_plan_mesh_output(bn_plan *, const bn_plan_mesh_output_desc *);

/* --- what plan() may ask --- */
bn_context *bn_plan_context(const bn_plan *);
/* The device that the case will run on: a choice of method may depend on it, never a result. NULL: the reference, or
 * not known. */
const bn_device_info *bn_plan_device(const bn_plan *);
/* How many like it share the case out; 1: no others, or not known. Results may not depend on that either. */
size_t bn_plan_shared_by(const bn_plan *);

#endif
