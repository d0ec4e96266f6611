/* plan.h: what a solver's plan() announced: for the simulation, for `check`, for the observers. */
#ifndef BN_PLAN_H
#define BN_PLAN_H

#include "sim/solver.h"

enum {
    BN_PLAN_LOOKED = 70000000, /* cells, at most, that a plan looks at which only has to count: some seconds */
    BN_PLAN_FIELDS = 64,
    BN_PLAN_DEFINES = 128,
    BN_PLAN_RESULTS = 64,
    BN_PLAN_PICTURES = 64,
    BN_PLAN_NOTES = 32,
    BN_PLAN_SKIPPED = 32,
    BN_PLAN_CHARTS = 8,
    BN_PLAN_TABLES = 16
};

/* A derived number, or a result without its value; of a note `help` is the choice that it tells instead of a value. */
typedef struct bn_plan_number {
    const char *name, *unit, *help;
    double value;
} bn_plan_number;

/* Memory beside the fields. */
typedef struct bn_plan_bytes {
    uint64_t bytes, pieces;
} bn_plan_bytes;

/* What was read from a file that the case names: a checkpoint tells by it whether the file is still the same. */
typedef struct bn_plan_input {
    char *name;
    const void *values; /* lent while the plan lives */
    size_t bytes;
} bn_plan_input;

/* Names and units are lent by the solver: literals, or texts that live as long as the case. */
struct bn_plan {
    bn_context *ctx;
    const bn_solver *solver;
    bn_precision precision;
    const bn_device_info *device; /* lent; may be NULL */
    bool has_grid;
    bn_grid grid;
    int halo, margin;
    int align;
    bool whole_rows;
    bool count, counted; /* it has to count alone; the solver did so, since the cells are too many to look at */
    /* Beside the fields: in any case, and where several devices share the case [B]. */
    uint64_t more_bytes[2], more_largest;
    bn_field_desc fields[BN_PLAN_FIELDS];
    bn_define defines[BN_PLAN_DEFINES];
    bn_plan_number results[BN_PLAN_RESULTS], notes[BN_PLAN_NOTES], series[BN_SERIES_MAX];
    bn_picture_desc pictures[BN_PLAN_PICTURES];
    bn_plan_chart_desc charts[BN_PLAN_CHARTS];
    bool mapped;                          /* bn_plan_map was called */
    int epsg;                             /* of the map's coordinates; 0: not known */
    bn_plan_mesh_output_desc layers;           /* name NULL: none are wanted */
    const char *skipped[BN_PLAN_SKIPPED]; /* kernels */
    bn_plan_bytes tables[BN_PLAN_TABLES];
    struct bn_plan_memory *kept; /* memory lent to the solver */
    bn_plan_input *inputs;
    size_t input_count;
    size_t field_count, define_count, result_count, note_count, series_count, picture_count, skipped_count, chart_count,
        table_count;
    double known_steps; /* 0: not known before it runs */
    int parts;          /* of a run, each with stop.steps of its own; 0: one */
    double tolerance;   /* > 0: the case asks for convergence to it */
    const char *advice; /* what may help if it does not converge; NULL: nothing beside more steps */
};

/* `device`: what it will run on, NULL for the reference or where that is not known yet. Runs the plan of the case's
 * solver into `state` (zeroed, state_size bytes). Contradictions of the case are one BN_CASE with all of them. */
BN_CHECKED bn_status bn_plan_create(bn_context *, const bn_case *, const bn_device_info *device, void *state,
                                    bn_plan **out);
/* The same to see what the case takes: where `counted` comes back set, the grid has more than BN_PLAN_LOOKED cells, and
 * nothing was looked at or allocated cell by cell: enough for the calls below, not to run it. */
BN_CHECKED bn_status bn_plan_count(bn_context *, const bn_case *, const bn_device_info *device, void *state,
                                   bn_plan **out);
void bn_plan_destroy(bn_plan **);

/* Takes `data` over, also when it fails; NULL: there was no memory for it. */
BN_CHECKED bn_status bn_plan_adopt(bn_plan *, void *data, void (*release)(void *));
void bn_plan_free_kept(bn_plan *);
/* Where a file of the case lies: a relative path begins at the case file. False: the path is too long. */
bool bn_plan_path(const bn_case *, const char *name, char *path, size_t bytes);

/* Steps after which the run ends in any case. */
double bn_plan_most_steps(const bn_plan *, const bn_case *);

/* Bytes that fields and tables, and what setup makes beside them, take on one device and, in `*largest`, the largest
 * buffer; 0 when it can't be addressed. */
uint64_t bn_plan_device_bytes(const bn_plan *, uint64_t *largest);
/* So many devices like this one have room for the case; 0: it can't be addressed. */
size_t bn_plan_devices(const bn_plan *, const bn_device_info *);
/* Bytes that the reference takes on the host. */
uint64_t bn_plan_host_bytes(const bn_plan *);

/* BN_MEMORY with the grid that would fit, and the number of devices that it would fit on, when the plan is too large
 * for so many of them, or (NULL) for the host. */
BN_CHECKED bn_status bn_plan_check_memory(bn_context *, const bn_plan *, const bn_device_info *, size_t devices);

#endif
