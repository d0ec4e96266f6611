/* solver.h: what a solver implements (one constant table), and what the simulation lends it. */
#ifndef BN_SOLVER_H
#define BN_SOLVER_H

#include "api/repartition.h"
#include "api/field.h"
#include "api/launch.h"
#include "api/program.h"
#include "api/ranks.h"
#include "api/reduce.h"
#include "binnacle/sim.h"
#include "case/schema.h"
#include "sim/results_write.h"

typedef struct bn_plan bn_plan;

enum { BN_SERIES_MAX = 8 };

/* What a step tells the simulation. */
typedef struct bn_step {
    double dt;       /* [s], or in the unit of what the solver steps along */
    double residual; /* NaN where there is none */
    bool converged;
    bool complete;                /* nothing is left to do: the beam has left the structure */
    bool unfinished;              /* bn_sim_asked_to_end: what is left of the step is done by the next call */
    double updates;               /* cells computed, where a step is not once over the grid; 0: it is */
    double series[BN_SERIES_MAX]; /* values of the columns that plan() announced */
} bn_step;

/* One way to compute the step: "opencl" or "reference". */
typedef struct bn_engine {
    const char *name;
    bn_status (*setup)(bn_sim *, void *state); /* fields exist and hold what init() gave; optional */
    bn_status (*step)(bn_sim *, void *state, bn_step *out);
    void (*teardown)(void *state); /* optional: what setup acquired; safe after a partial setup */
    /* optional: brings fields up to date that the steps leave behind (sums, norms), before fields are read or written
     */
    bn_status (*update_outputs)(bn_sim *, void *state);
    /* optional: fields of the state and what `keep` names have just come from a checkpoint: whatever setup made of what
     * init() gave is made of them anew */
    bn_status (*resume)(bn_sim *, void *state);
    /* optional: what each block of the grid (bn_domain_blocks) costs in the steps to come, none negative, in any unit,
     * the same on all ranks. Then the simulation moves the cuts between devices to where the work is (case.balance):
     * all fields move with their values and keep their addresses; teardown, setup, `keep` and `resume` are called as if
     * the run went on from a checkpoint, so that `setup` asks anew for what belongs to the domain: kernels, sums,
     * tables. */
    bn_status (*work)(bn_sim *, void *state, double *work);
} bn_engine;

/* Numbers on their way to a checkpoint or back. */
typedef struct bn_checkpoint_state bn_checkpoint_state;

/* A straight line across a picture, where something of a solver's own stands: a source plane, the begin of an absorbing
 * layer. */
typedef struct bn_picture_mark {
    int dim;   /* axis of the grid that it is a place on */
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
    const char *contour_field;    /* lines of this field over it, or NULL */
    const char *contour_quantity; /* in the caption: "stream function ψ"; NULL: the field's name */
    const double *contour_levels; /* NULL: at most so many round ones */
    size_t contour_count;
    double low, high; /* low == high: from the data */
    bool blanks;      /* leave values below `blank_below` blank */
    double blank_below;
    const bool *hidden;       /* points that are drawn as solid: grid.n values, kept by the plan; NULL: none */
    const double (*walls)[4]; /* walls thinner than a cell: x, y of both ends [m], kept by the plan */
    size_t wall_count;
    /* Of a grid in three dimensions, a slice: the axis across it (0 x, 1 y, 2 z) and the place of the points on that
     * axis. The picture's own axes are the other two, in order. */
    int across;
    uint32_t at;
    bool timeless;       /* the title tells the step instead of a time */
    const char *caption; /* stands under the picture, as it reads at the output time; NULL: nothing */
    const bn_picture_mark *marks;
    size_t mark_count;
} bn_picture_desc;

/* A chart of a table of the results: all its columns over the first one, as pictures/TABLE.png. */
typedef struct bn_plan_chart_desc {
    const char *table, *title, *y_label;
    double x_scale; /* of the first column: 1e9 for nanometres; 0 means 1 */
    const char *x_label;
    bool log_y;
} bn_plan_chart_desc;

/* A choice of the case that is about speed alone: `binnacle tune` times its values, each compared with the reference.
 */
typedef struct bn_variant {
    const char *key;    /* of the schema: a choice or a whole number */
    const char *values; /* to be tried: "two-pass|rows|fused" */
    bool same_bits;     /* whichever is taken: then runs whose case leaves it open take what `tune` has found */
    bool (*matters)(const bn_case *); /* optional: whether it changes anything in this case */
} bn_variant;

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

/* Required: name, summary, schema, kernels, state_size, device, both references, plan, init, and a self-test case
 * data/cases/NAME/selftest.toml of few cells and steps. It launches every kernel, or others do that stand beside it and
 * are called selftest-WHAT.toml: device and reference are compared on all of them. Checked when the solver is looked up
 * and by the conformance suite. */
typedef struct bn_solver {
    const char *name, *summary;
    const bn_key *schema;          /* ends with a NULL name */
    const char *program;           /* optional: "studies/flood_layouts" for kernels/studies/flood_layouts.cl; NULL: the name */
    const bn_kernel_desc *kernels; /* of kernels/NAME.cl; ends with a NULL name */
    size_t state_size;             /* allocated zeroed by the simulation */
    const bn_engine *device;
    const bn_engine *reference[2]; /* by bn_precision: the same source, compiled for float and for double */
    bn_status (*plan)(const bn_case *, void *state, bn_plan *); /* grid, fields, defines, results; opens nothing */
    bn_status (*init)(bn_sim *, void *state); /* initial and boundary values: one code for both engines */
    bn_status (*measure)(bn_sim *, void *state, bn_results *); /* optional: the scalars that plan announced */
    double (*tolerance)(const bn_case *,
                        const char *field); /* optional; NULL: 0, device and reference agree bit for bit */
    /* optional: names the numbers that steps and results depend on beside the fields of the state, the step's number
     * and the time, with the calls below. Called after `present` to write a checkpoint and after setup to go on from
     * one, on either engine: what one wrote the other reads. */
    bn_status (*serialize)(bn_sim *, void *state, bn_checkpoint_state *);
    const bn_variant *variants; /* optional; ends with a NULL key */
    /* optional: what steps go along, which bn_step.dt adds up to, and its unit: "z", "m". NULL: time, in s. Progress,
     * series, pictures and the summary call it so. */
    const char *along, *along_unit;
} bn_solver;

/* The coordinate that steps go along: its name in tables, its letter in lines of text, its unit. */
typedef struct bn_coordinate {
    const char *name, *letter, *unit;
} bn_coordinate;
bn_coordinate bn_solver_coordinate(const bn_solver *);

/* --- for plan() --- */
BN_CHECKED bn_status bn_plan_grid(bn_plan *, const bn_grid *);
BN_CHECKED bn_status bn_plan_halo(bn_plan *, int cells); /* largest reach of any launch; 1 unless said otherwise */
/* The halo is wider by so many cells, which launches may compute along with their own where boxes are thick enough
 * (BN_GHOST_CELLS, bn_domain_max_radius). */
void bn_plan_ghost_cells(bn_plan *, int cells);
/* Cuts between boxes lie at multiples of so many cells, a power of two, where boxes are large enough for that: so often
 * the grid can be made coarser by halves in the same boxes. */
void bn_plan_align(bn_plan *, int cells);
void bn_plan_whole_rows(bn_plan *); /* no cuts along x (bn_domain_desc.whole_rows) */
BN_CHECKED bn_status bn_plan_field(bn_plan *, const bn_field_desc *);
/* A field of one component, on this grid, that setup makes beside those of the plan: for the memory that the case is
 * said to need. `shared`: only if several devices have a part of it each. */
BN_CHECKED bn_status bn_plan_more_memory(bn_plan *, const bn_grid *, bn_type, bool shared);
/* Constants of the steps, each declared once. A solver lists them in a macro, LIST(X) with X(member, "what it is"):
 *     typedef struct flow_constants { FLOW_CONSTANTS(BN_CONSTANT_MEMBER) } flow_constants;
 *     bn_plan_constants(p, BN_CONSTANT_NAMES(FLOW_CONSTANTS), (const double *)&s->k)
 * Kernels know member `nu_x` as NU_X, rounded to the case's precision; the reference rounds the same struct
 * (numerics/real.h). What is fixed over a run is such a constant, what changes from launch to launch an argument, what is
 * indexed a device array. */
#define BN_CONSTANT_MEMBER(name, meaning) double name;
#define BN_CONSTANT_NAME(name, meaning) #name,
#define BN_CONSTANT_NAMES(LIST) ((const char *const[]){ LIST(BN_CONSTANT_NAME) NULL })
BN_CHECKED bn_status bn_plan_constants(bn_plan *, const char *const *names, const double *values);
/* Whole numbers that host and kernels share, such as the bits of a node: LIST(X) with X(NAME, value, "what it is"). Kernels
 * know them as NAME. */
typedef struct bn_code {
    const char *name;
    long long value;
} bn_code;
#define BN_CODE_ENTRY(name, value, meaning) { #name, value },
#define BN_CODES(LIST) ((const bn_code[]){ LIST(BN_CODE_ENTRY){ NULL, 0 } })
BN_CHECKED bn_status bn_plan_codes(bn_plan *, const bn_code *);
BN_CHECKED bn_status bn_plan_define(bn_plan *, const char *name, double value); /* a real constant */
BN_CHECKED bn_status bn_plan_define_int(bn_plan *, const char *name, long long value);
BN_CHECKED bn_status bn_plan_result(bn_plan *, const char *name, const char *unit, const char *help);
BN_CHECKED bn_status bn_plan_series(bn_plan *, const char *name, const char *unit); /* in the order of bn_step.series */
BN_CHECKED bn_status bn_plan_picture(bn_plan *, const bn_picture_desc *);
BN_CHECKED bn_status bn_plan_chart(bn_plan *, const bn_plan_chart_desc *);
void bn_plan_mesh_output(bn_plan *, const bn_plan_mesh_output_desc *);

/* The grid lies on a map, x to the east and y to the north, in coordinates of that EPSG code (0: not known which):
 * TIFFs get the tags of GeoTIFF. */
void bn_plan_map(bn_plan *, int epsg);
/* A derived number that `check` prints and the summary keeps: "cell Reynolds number", 7.8, "". */
BN_CHECKED bn_status bn_plan_note(bn_plan *, const char *name, double value, const char *unit);
/* The same for a choice that was made: "the system for psi", "multigrid". Both literals. */
BN_CHECKED bn_status bn_plan_choice(bn_plan *, const char *name, const char *choice);
/* A kernel of the table that this case does not need and its program does not have. */
BN_CHECKED bn_status bn_plan_skip_kernel(bn_plan *, const char *name);
/* Bytes on a device beside the fields: tables, counters. `pieces`: so many alike, shared out among the devices
 * (bn_device_array_slabs), which may be more; 1: all of it on each. */
BN_CHECKED bn_status bn_plan_table(bn_plan *, uint64_t bytes, uint64_t pieces);
/* Whether so many bytes more, in buffers of at most `largest`, have room beside all that has been announced so far, on
 * a device by itself: on every one of those that will compute, so that all ranks decide alike. True where the device is
 * not known. */
bool bn_plan_has_room(const bn_plan *, uint64_t bytes, uint64_t largest);
/* Zeroed memory that lives as long as the plan: for what plan() works out and the steps need. */
BN_CHECKED bn_status bn_plan_allocate(bn_plan *, size_t bytes, void **out);
/* The grey values (0 black ... 255 white, top row first) of the PNG picture that the text `key` names, kept by the
 * plan. A relative path begins at the case file. A picture that can't be read rejects the case: then *grey is NULL. */
BN_CHECKED bn_status bn_plan_grey(bn_plan *, const bn_case *, const char *key, uint32_t *width, uint32_t *height,
                                  const unsigned char **grey);
BN_CHECKED bn_status bn_plan_item_grey(bn_plan *, const bn_case *, const char *key, size_t item, uint32_t *width,
                                       uint32_t *height, const unsigned char **grey);
/* The columns of a CSV file of numbers: its first line that is not a comment (#) names them. `name` is a path, which
 * begins at the case file, or the name of data that travels with the program ("materials/Ag-Johnson1972"). NULL in
 * *out: there is neither, which is no failure; a file that can't be read as numbers is. Kept by the plan. */
typedef struct bn_numbers {
    size_t columns, rows;
    const char *const *heads;
    const double *values; /* row by row; an empty place is NaN */
    const char *comments; /* the lines before the heads, without their # */
} bn_numbers;
BN_CHECKED bn_status bn_plan_numbers(bn_plan *, const bn_case *, const char *name, const bn_numbers **out);
/* The names of data that travel with the program whose name begins so ("materials/"), without that beginning, in one
 * text with commas between; kept by the plan. */
BN_CHECKED bn_status bn_plan_numbers_names(bn_plan *, const char *begin, const char **out);
/* To be asked before plan() makes or looks at anything that grows with the cells, of which there are so many: true when
 * the plan is there to count what the case takes, of more cells than are looked at for that. Then it announces the grid
 * and the fields alone; what hangs on single cells is announced as the most that it may be. */
bool bn_plan_only_counts(bn_plan *, double cells);
/* What the case will run on: a choice of method may depend on it, never a result. NULL: the reference, or not known. */
const bn_device_info *bn_plan_device(const bn_plan *);
/* Numbers on a grid in three dimensions from the file `name`, a path that begins at the case file: VTK (.vti), a stack
 * of pictures (.tif), HDF5 after openPMD or plain (.h5); `array` picks one of several, "": the only one. A file that
 * can't be read fails with BN_IO. Kept by the plan. */
typedef struct bn_volume_numbers {
    uint32_t n[3];
    double h[3];          /* spacing [m]; 0: the file doesn't tell */
    const double *values; /* x fastest */
} bn_volume_numbers;
BN_CHECKED bn_status bn_plan_volume(bn_plan *, const bn_case *, const char *name, const char *array,
                                    bn_volume_numbers *out);
/* The colours (three bytes red, green, blue a pixel, top row first) of the PNG picture that the text `key`, or that of
 * a list's item, names; else the same. */
BN_CHECKED bn_status bn_plan_rgb(bn_plan *, const bn_case *, const char *key, uint32_t *width, uint32_t *height,
                                 const unsigned char **rgb);
BN_CHECKED bn_status bn_plan_rgb_item(bn_plan *, const bn_case *, const char *key, size_t item, uint32_t *width,
                                      uint32_t *height, const unsigned char **rgb);
/* The only array of the VTK image NAME.vti in the folder that the text `key` names; kept by the plan. A file that is
 * missing or can't be read fails with BN_IO. */
typedef struct bn_image_numbers {
    uint32_t n[3];
    int components;
    const double *values; /* x fastest, component slowest */
} bn_image_numbers;
BN_CHECKED bn_status bn_plan_image(bn_plan *, const bn_case *, const char *key, const char *name,
                                   bn_image_numbers *out);
/* Polygons and lines with a meaning, from the WKT file or the table (.csv) that a list's item names; kept by the plan.
 * Vertices move to a lattice of `snap` metres. The calls below ask the geometry (src/io/shapes.h has their details). */
typedef struct bn_plan_shape {
    const char *name;       /* "" in a file of WKT alone */
    size_t line, number;    /* where it begins in the file, which one it is there; both from 1 */
    double low[2], high[2]; /* the rectangle around it */
    double inside[2];       /* some place in it */
    bool open;              /* a line, without an inside */
} bn_plan_shape;
typedef struct bn_plan_shapes {
    size_t count;
    bn_plan_shape *shape;
    double low[2], high[2]; /* around all of them */
    struct bn_shapes *geometry;
} bn_plan_shapes;
BN_CHECKED bn_status bn_plan_shapes_item(bn_plan *, const bn_case *, const char *key, size_t item, double snap,
                                         bn_plan_shapes **out);
bool bn_plan_shape_covers(const bn_plan_shapes *, size_t shape, const double x[2]);
/* Shapes one over the other: those with draw > 0 open an area, those with draw < 0 close it; `whole`: the rectangle
 * from low to high is open at the beginning. */
BN_CHECKED bn_status bn_plan_shapes_draw(bn_plan *, bn_plan_shapes *, const signed char *draw, bool whole,
                                         const double low[2], const double high[2]);
/* Of what was drawn: is all of the way from a to b open; is all of a rectangle open (1), none of it (-1), neither (0)?
 */
bool bn_plan_shapes_open(const bn_plan_shapes *, const double a[2], const double b[2]);
int bn_plan_shapes_box(const bn_plan_shapes *, const double low[2], const double high[2]);
/* Heights on a grid that knows its place, from the file that the text `key` names (GeoTIFF, ESRI ASCII grid); kept by
 * the plan. A file that can't be used fails with BN_IO or BN_CASE. */
typedef struct bn_plan_heights {
    double low[2], high[2], pixel[2]; /* the rectangle that it covers [m] */
    int epsg;                         /* code of its coordinates; 0: the file doesn't tell */
    struct bn_terrain *terrain;
} bn_plan_heights;
BN_CHECKED bn_status bn_plan_terrain(bn_plan *, const bn_case *, const char *key, bn_plan_heights **out);
/* Between the pixels' middles; NaN: outside, or without data. */
double bn_plan_height(const bn_plan_heights *, const double x[2]);
bn_context *bn_plan_context(const bn_plan *);
/* Steps after which the case is at its end by itself, where they are known before it runs. */
void bn_plan_steps(bn_plan *, double steps);
/* The run goes through so many parts one after the other, each of at most stop.steps steps: wavelengths of a sweep. */
void bn_plan_parts(bn_plan *, int parts);
/* The run is meant to end with bn_step.converged: reaching stop.steps first is a failure (exit 4). `tolerance` > 0 is
 * what the residual has to fall below; progress and summary show it. `advice`, a literal or NULL: what may help where
 * the residual no longer falls, for the message. */
void bn_plan_wants_convergence(bn_plan *, double tolerance, const char *advice);

/* --- for init, setup, step, measure --- */
bn_field *bn_sim_field(bn_sim *, const char *name);   /* announced by plan; asserts that it exists */
bn_kernel *bn_sim_kernel(bn_sim *, const char *name); /* of the solver's table, NULL if skipped; device only */
bn_domain *bn_sim_domain(bn_sim *);
bn_context *bn_sim_context(bn_sim *);
const bn_case *bn_sim_case(const bn_sim *);
/* Writes such an image, in the precision of the case; makes the folder. */
BN_CHECKED bn_status bn_sim_write_image(bn_sim *, const char *key, const char *name, const bn_image_numbers *);
/* Runs the engine's `present` unless the fields are up to date. */
BN_CHECKED bn_status bn_sim_update_outputs(bn_sim *);
double bn_sim_time(const bn_sim *);
unsigned long long bn_sim_steps(const bn_sim *);
/* For steps that may take seconds: whether the run is asked to end, by anyone on any rank (all ranks call it alike).
 * Then the step may return `unfinished`, in a state that `keep` describes and the next call goes on from. */
bool bn_sim_asked_to_end(bn_sim *);
double bn_seconds_now(void); /* of the monotonic clock */

/* --- for keep(): one call for both ways --- */
bool bn_state_restores(const bn_checkpoint_state *);
BN_CHECKED bn_status bn_state_reals(bn_checkpoint_state *, const char *name, double *values, size_t count);
BN_CHECKED bn_status bn_state_counts(bn_checkpoint_state *, const char *name, unsigned long long *values, size_t count);
BN_CHECKED bn_status bn_keep_size(bn_checkpoint_state *, const char *name, size_t *value);
/* Going on fails with BN_CASE unless the value is what it was: for what hangs on keys of [output] and [stop], which may
 * differ otherwise. */
BN_CHECKED bn_status bn_state_same(bn_checkpoint_state *, const char *key, double value);

/* The registry: src/sim/solvers.def, one line a solver. NULL when unknown. */
const bn_solver *bn_solver_find(const char *name);
/* Names of the studies (sim/studies.def), ending with NULL. bn_solver_find finds them, too. */
const char *const *bn_study_names(void);

#endif
