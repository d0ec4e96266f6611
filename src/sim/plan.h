/* plan.h: what a solver's plan() announced: for the simulation, for `check`, for the output. */
#ifndef BN_PLAN_H
#define BN_PLAN_H

#include "sim/solver_table.h"

enum {
    BN_PLAN_LOOKED = 70000000, /* most cells that a plan looks at which only estimates memory: some seconds */
    BN_PLAN_FIELDS = 64,
    BN_PLAN_DEFINES = 128,
    BN_PLAN_RESULTS = 64,
    BN_PLAN_PICTURES = 64,
    BN_PLAN_NOTES = 32,
    BN_PLAN_CHARTS = 8,
    BN_PLAN_ARRAYS = 16,
    BN_PLAN_NEEDS = 16
};

/* A derived number, or a result with the value that the case expects (NaN: none); `help` of a note is the choice that
 * was made, if it has no value. */
typedef struct bn_plan_number {
    const char *name, *unit, *help;
    double value;
    double tolerance;   /* of an expected value; 0: not known */
    const char *source; /* of an expected value */
} bn_plan_number;

/* Memory beside the fields. */
typedef struct bn_plan_bytes {
    uint64_t bytes, pieces;
} bn_plan_bytes;

/* Values that were read from a file that the case names: checkpoints store their hash, so that a restart finds out that
 * the file has changed. */
typedef struct bn_plan_file {
    const char *name;
    const void *values;
    size_t bytes;
    struct bn_plan_file *next;
} bn_plan_file;

/* Names and units belong to the solver: literals, or texts that live as long as the case. */
struct bn_plan {
    bn_context *ctx;
    const bn_solver *solver;
    bn_precision precision;
    const bn_device_info *device; /* not owned; may be NULL */
    bn_grid grid, volume;         /* volume: of fields of role BN_VOLUME; dims 0: there are none */
    struct {
        int halo, ghost_cells, align;
        bool whole_rows, one_box;
        size_t devices; /* that share the case out; 1 where that is not known */
        bn_plan_scaling scaling;
    } cut;
    struct {
        double look;  /* most cells that plan() may look at */
        bool counted; /* plan() left the cells out, since they are too many */
    } estimate;
    struct {
        uint64_t bytes[2], largest;           /* always, and where several devices share the case */
        bn_plan_bytes arrays[BN_PLAN_ARRAYS]; /* device arrays */
        size_t array_count;
    } more; /* memory beside the fields */
    bn_field_desc fields[BN_PLAN_FIELDS];
    bn_field **holders[BN_PLAN_FIELDS]; /* members of the solver's state */
    bn_define defines[BN_PLAN_DEFINES];
    bn_plan_number results[BN_PLAN_RESULTS], notes[BN_PLAN_NOTES], series[BN_SERIES_MAX];
    bn_picture_desc pictures[BN_PLAN_PICTURES];
    bn_plan_chart_desc charts[BN_PLAN_CHARTS];
    struct {
        bool drawn; /* bn_plan_map was called */
        int epsg;   /* of its coordinates; 0: not known */
    } map;
    bn_plan_mesh_output_desc mesh_output; /* name NULL: none */
    struct {
        const char *names[BN_PLAN_NEEDS];
        size_t count;
    } needs;                       /* of a run beside its kernels, for its self-test */
    struct bn_plan_memory *memory; /* of the solver */
    bn_plan_file *files;           /* in the order in which they were read */
    size_t field_count, define_count, result_count, note_count, series_count, picture_count, chart_count;
    struct {
        double steps;       /* 0: not known before it runs */
        int parts;          /* each with stop.steps of its own; 0: one */
        double tolerance;   /* > 0: the case asks for convergence to it */
        const char *advice; /* what may help if it does not converge; NULL: nothing beside more steps */
    } course;
};

/* Calls plan() of the case's solver with `state` (zeroed, state_size bytes). `device`: NULL for the reference or where
 * it is not known yet; `devices` share the case out. Contradictions of the case are one BN_CASE with all of them. */
BN_CHECKED bn_status bn_plan_create(bn_context *, const bn_case *, const bn_device_info *device, size_t devices,
                                    void *state, bn_plan **out);
/* The same to estimate memory. `counted` is set where the grid has more than BN_PLAN_LOOKED cells: then nothing was
 * looked at or allocated cell by cell, which is enough for the calls below, not to run it. */
BN_CHECKED bn_status bn_plan_count(bn_context *, const bn_case *, const bn_device_info *device, size_t devices,
                                   void *state, bn_plan **out);
/* The same without a look at any cell: a moment, however many there are. */
BN_CHECKED bn_status bn_plan_outline(bn_context *, const bn_case *, void *state, bn_plan **out);
void bn_plan_destroy(bn_plan **);

/* Whether a step is the last one that the solver is known to make. */
static inline bool bn_plan_ends_by(const bn_plan *p, double step)
{
    return p->course.steps > 0 && step >= p->course.steps;
}

/* The chart of a table, by the first bytes of a text as its name; NULL: there is none. */
const bn_plan_chart_desc *bn_plan_chart_of(const bn_plan *, const char *table, size_t bytes);

/* The grid that a field lies on. */
static inline const bn_grid *bn_plan_grid_of(const bn_plan *p, const bn_field_desc *d)
{
    return d->role & BN_VOLUME ? &p->volume : &p->grid;
}

/* Takes ownership of `data`, also when it fails; NULL: there was no memory for it. */
BN_CHECKED bn_status bn_plan_adopt(bn_plan *, void *data, void (*release)(void *));
void bn_plan_free_memory(bn_plan *);

/* Steps after which the run ends in any case. */
double bn_plan_most_steps(const bn_plan *, const bn_case *);

/* Bytes of fields and device arrays on one device, with what setup allocates beside them, and the largest buffer; 0
 * when it can't be addressed. */
uint64_t bn_plan_device_bytes(const bn_plan *, uint64_t *largest);
/* How many devices like this one the case needs; 0: it can't be addressed. */
size_t bn_plan_devices(const bn_plan *, const bn_device_info *);
/* Bytes that the reference takes on the host. */
uint64_t bn_plan_host_bytes(const bn_plan *);

/* BN_MEMORY when the plan is too large for so many devices or (NULL) for the host; names the grid that would fit and
 * how many devices would be enough. */
BN_CHECKED bn_status bn_plan_check_memory(bn_context *, const bn_plan *, const bn_device_info *, size_t devices);

#endif
