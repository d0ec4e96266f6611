/* cli_sweep.h: a case over values of its keys: which points there are, what came of them, and the table. */
#ifndef BN_CLI_SWEEP_H
#define BN_CLI_SWEEP_H

#include "cli/options.h"
#include "io/file.h"
#include "output/json_text.h"

enum { BN_SWEEP_AXES = 6, BN_SWEEP_TEXT = 256, BN_SWEEP_VALUES = 100000 };

/* One --vary: a key and its values, as texts for --set and as numbers (of texts: 0, 1, 2, ...). With --optimize the
 * values are those of the evaluations, and lie between the bounds. */
typedef struct bn_sweep_axis {
    char key[BN_SWEEP_TEXT], unit[BN_SWEEP_TEXT]; /* the unit that --vary gives */
    char si[BN_SWEEP_TEXT];                       /* the unit of the key: of values without one */
    char (*text)[BN_SWEEP_TEXT];
    double *number;
    size_t count;
    bool words, even; /* values that are no numbers; numbers at equal distances */
    double low, high; /* the bounds, in `unit`; both are values until the optimiser begins */
} bn_sweep_axis;

typedef struct bn_sweep {
    const bn_cli *cli;
    const char *out;
    bn_sweep_axis axis[BN_SWEEP_AXES];
    size_t axis_count, points, room; /* room: the most there may be */
    bool zip;                        /* a point has the values of its own number from all axes */
    json_t **summary;                /* of each point: what its run left; NULL: it failed or was not run */
    char **reason;                   /* why it failed */
    char device[16];                 /* index of the first device */
    char goal[BN_SWEEP_TEXT];        /* the result of --optimize; "": none */
    bool most;                       /* its largest value is sought */
} bn_sweep;

/* Reads the axes from the command line and counts the points. */
BN_CHECKED bn_status bn_sweep_axes(bn_sweep *);
/* Another value of an axis: as a text of so many bytes, which may have a unit, and as a number. */
BN_CHECKED bn_status bn_sweep_add(const bn_sweep *, bn_sweep_axis *, const char *text, size_t bytes, double number);
/* Which value of an axis a point has: the last axis runs fastest; with --zip all run together. */
size_t bn_sweep_index(const bn_sweep *, size_t point, size_t axis);
/* A file in the folder of a point; "": the folder. */
bn_path bn_sweep_path(const bn_sweep *, size_t point, const char *name);
/* Writes sweep.csv, a chart for each result and report.html with links to the points, and prints their names. */
BN_CHECKED bn_status bn_sweep_write(const bn_sweep *);
/* The names of some results in one text. */
void bn_sweep_names(json_t *results, char *text, size_t room);
/* Runs a point on the first device, unless its folder has it: it has a summary or a reason afterwards. */
BN_CHECKED bn_status bn_sweep_evaluate(bn_sweep *, size_t point);
/* The result that is sought; NaN: the point has none. */
double bn_sweep_goal(const bn_sweep *, size_t point);
/* The point with the best value; false: none has one. */
bool bn_sweep_best(const bn_sweep *, size_t *point);
/* Adds points by an optimiser until it has converged or --evaluations are done. */
BN_CHECKED bn_status bn_sweep_optimize(bn_sweep *);
const char *bn_sweep_first_reason(const bn_sweep *);
void bn_sweep_release(bn_sweep *);

#endif
