/* cli_tune.h: what the parts of `binnacle tune` share: shapes, their times, and the jobs that child processes do. */
#ifndef BN_CLI_TUNE_H
#define BN_CLI_TUNE_H

#include "run/child.h"
#include "cli/options.h"
#include "sim/solver.h"

#include "api/launch.h"
#include "binnacle/case.h"
#include <jansson.h>

enum {
    BN_TUNE_KERNELS = 64,
    BN_TUNE_SHAPES = 512,
    BN_TUNE_ROUNDS = 5,
    BN_TUNE_NAME = 64,
    BN_TUNE_WHY = 160,
    BN_TUNE_VARIANTS = 32
};

typedef enum bn_tune_verdict {
    BN_TUNE_UNTRIED, /* the time was up before */
    BN_TUNE_OK,      /* same result as the reference */
    BN_TUNE_WRONG,
    BN_TUNE_FAILED, /* the device refused it */
    BN_TUNE_CRASHED,
    BN_TUNE_SKIPPED /* of a variant: one of its kernels does not fit the device */
} bn_tune_verdict;

/* One shape of one kernel. */
typedef struct bn_tune_shape {
    size_t side[3];
    bn_tune_verdict verdict;
    char why[BN_TUNE_WHY];          /* it is not OK */
    double seconds[BN_TUNE_ROUNDS]; /* of a launch, by device events; ascending once the sweep is over */
    size_t count;
    bool tied; /* with the best: the difference is within the spread */
} bn_tune_shape;

typedef struct bn_tune_kernel {
    char name[BN_TUNE_NAME];
    bn_range range;
    unsigned long long calls; /* in the steps of a measurement */
    size_t largest, multiple; /* bn_kernel_info */
    uint64_t local_bytes;
    char skipped[BN_TUNE_WHY];            /* why it is not tuned; "": it is */
    bn_tune_shape shapes[BN_TUNE_SHAPES]; /* the first one is the default */
    size_t count, best, chosen;           /* best: the fastest; chosen: that or the default, where they tie */
} bn_tune_kernel;

/* Another value of a key of the case; times are those of a whole step. */
typedef struct bn_tune_variant {
    const bn_variant *of;
    char value[BN_CASE_VALUE], present[BN_CASE_VALUE]; /* present: what the case has */
    char set[2 * BN_CASE_VALUE];                       /* KEY=VALUE */
    bn_tune_shape times;                               /* its sides mean nothing */
    bool open;                                         /* the case leaves the key open */
    bool same;                                         /* the same bits as the case's own value */
    bool tied, best, chosen;
} bn_tune_variant;

typedef struct bn_tune {
    const bn_cli *cli;
    const bn_device_info *device; /* lent by the context */
    char solver[BN_TUNE_NAME], precision[16];
    int dims;
    size_t n[3];
    double points;
    unsigned long long warm, steps;   /* of a measurement: before the clock starts, and then */
    char hash_warm[32], hash_end[32]; /* of the fields after these, in default shapes */
    bn_tune_kernel *kernels;
    size_t count;
    bn_tune_variant variants[BN_TUNE_VARIANTS];
    size_t variant_count, unfit;         /* unfit: kernels of the case as it is that the device can't run */
    bn_tune_shape plain;                 /* a step of the case as it is, measured between the variants */
    const char *extra[BN_TUNE_VARIANTS]; /* settings of the case besides --set: the variants that were chosen */
    size_t extra_count;
    double seconds, default_step, tuned_step; /* the whole sweep; a step with default and chosen shapes */
    bool no_gain;                             /* the step is slower with the fastest shapes: the default ones stay */
    size_t tried, wrong, failed;
    char *out; /* folder */
} bn_tune;

/* "64x4x1" */
void bn_tune_shape_text(char text[48], const size_t side[3]);
double bn_tune_median(const bn_tune_shape *);
double bn_tune_spread(const bn_tune_shape *); /* largest less smallest, over the median */

/* Whether the times of two shapes overlap once the outermost are left out. */
bool bn_tune_overlap(const bn_tune_shape *, const bn_tune_shape *);

/* One measurement with the default shapes in a child: its lines, and how it ended; release both. */
BN_CHECKED bn_status bn_tune_measure_plain(const bn_tune *, bool reference, json_t **answer, bn_child *);
/* Measures what the solver declares, and puts what was chosen into `extra`. After the default's measurement. */
BN_CHECKED bn_status bn_tune_variants(bn_tune *, const bn_case *);
void bn_tune_print_variants(const bn_tune *);

/* The case that the argument names: a file, or a solver's self-test. */
BN_CHECKED bn_status bn_tune_case(const bn_cli *, const char *const *set, size_t set_count, bn_case **out);

/* In a child: does the jobs of the plan (--plan FILE), one line of JSON each. */
BN_CHECKED bn_status bn_tune_child(const bn_cli *);

/* Results: the table on stdout (or JSON), and the files. */
BN_CHECKED bn_status bn_tune_print(const bn_tune *);
BN_CHECKED bn_status bn_tune_write(const bn_tune *);
json_t *bn_tune_json(const bn_tune *);

#endif
