/* cli_sweep.h: a case over values of its keys: which points there are, what came of them, and the table. */
#ifndef BN_CLI_SWEEP_H
#define BN_CLI_SWEEP_H

#include "cli/options.h"
#include "output/json_text.h"

enum { BN_SWEEP_AXES = 6, BN_SWEEP_TEXT = 256, BN_SWEEP_VALUES = 100000 };

/* One --vary: a key and its values, as texts for --set and as numbers (of texts: 0, 1, 2, ...). */
typedef struct bn_sweep_axis {
    char key[BN_SWEEP_TEXT], unit[BN_SWEEP_TEXT];
    char (*text)[BN_SWEEP_TEXT];
    double *number;
    size_t count;
    bool words, even; /* values that are no numbers; numbers at equal distances */
} bn_sweep_axis;

typedef struct bn_sweep {
    const bn_cli *cli;
    const char *out;
    bn_sweep_axis axis[BN_SWEEP_AXES];
    size_t axis_count, points;
    json_t **summary; /* of each point: what its run left; NULL: it failed or was not run */
    char **reason;    /* why it failed */
} bn_sweep;

/* Reads the axes from the command line and counts the points. */
BN_CHECKED bn_status bn_sweep_axes(bn_sweep *);
/* Which value of an axis a point has: the last axis runs fastest; with --zip all run together. */
size_t bn_sweep_index(const bn_sweep *, size_t point, size_t axis);
/* A file in the folder of a point, NULL: the folder; free() it. */
char *bn_sweep_path(const bn_sweep *, size_t point, const char *name);
/* Writes sweep.csv, a chart for each result and report.html with links to the points, and prints their names. */
BN_CHECKED bn_status bn_sweep_write(const bn_sweep *);
const char *bn_sweep_first_reason(const bn_sweep *);
void bn_sweep_release(bn_sweep *);

#endif
