/* cli_tune.h: what the parts of `binnacle tune` share: candidates (shapes of work-groups, values of keys), their times,
 * and the child process that measures them. */
#ifndef BN_CLI_TUNE_H
#define BN_CLI_TUNE_H

#include "cli/options.h"
#include "io/file.h"
#include "run/child.h"
#include "sim/solver.h"

#include "api/launch.h"
#include "binnacle/case.h"

enum {
    BN_TUNE_KERNELS = 64,
    BN_TUNE_SHAPES = 512,
    BN_TUNE_ROUNDS = 5,
    BN_TUNE_NAME = 64,
    BN_TUNE_WHY = 160,
    BN_TUNE_VARIANTS = 32,
    BN_TUNE_HASH = 32,
    BN_TUNE_STORY = 2048
};

typedef enum bn_tune_verdict {
    BN_TUNE_UNTRIED, /* the time was up before */
    BN_TUNE_OK,      /* same result as the reference */
    BN_TUNE_WRONG,
    BN_TUNE_FAILED, /* the device refused it */
    BN_TUNE_CRASHED,
    BN_TUNE_SKIPPED /* of a variant: one of its kernels does not fit the device */
} bn_tune_verdict;
extern const char *const bn_tune_verdicts[];

/* A shape of a kernel's work-groups, or another value of a key of the case. */
typedef struct bn_tune_candidate {
    size_t side[3]; /* of a shape */
    bn_tune_verdict verdict;
    char why[BN_TUNE_WHY];          /* it is not OK */
    double seconds[BN_TUNE_ROUNDS]; /* of a launch by device events, or of a step by the clock; ascending */
    size_t count;
    bool tied; /* with the best: their times overlap */
} bn_tune_candidate;

/* What the child is asked: to measure the case with these settings and work-groups. */
typedef struct bn_tune_job {
    unsigned long long steps;                             /* that are timed; 0: the child chooses */
    bool reference;                                       /* compare with the CPU reference whatever the bits */
    char hash_warm[BN_TUNE_HASH], hash_end[BN_TUNE_HASH]; /* that the fields should have; "": not known yet */
    char set[BN_TUNE_VARIANTS][2 * BN_CASE_VALUE];
    size_t set_count;
    struct {
        char kernel[BN_TUNE_NAME];
        size_t side[3];
    } groups[BN_TUNE_KERNELS]; /* of the others the default */
    size_t group_count;
} bn_tune_job;

typedef struct bn_tune_row {
    char name[BN_TUNE_NAME];
    bn_range range;
    double calls, seconds;             /* in the timed steps */
    size_t side[3], largest, multiple; /* as bn_kernel_info */
    uint64_t local_bytes;
    bool fits;
} bn_tune_row;

typedef struct bn_tune_answer {
    bn_status status;
    char error[BN_TUNE_STORY]; /* it is not BN_OK */
    char solver[BN_TUNE_NAME], precision[16];
    char hash_warm[BN_TUNE_HASH], hash_end[BN_TUNE_HASH];
    int dims;
    size_t n[3];
    unsigned long long steps;
    double step_seconds;
    bn_tune_row rows[BN_TUNE_KERNELS];
    size_t row_count;
} bn_tune_answer;

typedef struct bn_tune_kernel {
    bn_tune_row info;                         /* as first measured */
    char skipped[BN_TUNE_WHY];                /* why it is not tuned; "": it is */
    bn_tune_candidate shapes[BN_TUNE_SHAPES]; /* the first one is the default */
    size_t count, best, chosen;               /* best: the fastest; chosen: that or the default, where they tie */
} bn_tune_kernel;

/* Another value of a key of the case; times are those of a whole step. */
typedef struct bn_tune_variant {
    const bn_variant *of;
    char value[BN_CASE_VALUE], present[BN_CASE_VALUE]; /* present: what the case has */
    char set[2 * BN_CASE_VALUE];                       /* KEY=VALUE */
    bn_tune_candidate times;
    bool open; /* the case leaves the key open */
    bool same; /* the same bits as the case's own value */
    bool best, chosen;
} bn_tune_variant;

typedef struct bn_tune {
    const bn_cli *cli;
    const bn_device_info *device; /* lent by the context */
    bn_child child;               /* measures; started again after a crash */
    bn_tune_job job;              /* the next one */
    bn_tune_answer answer;        /* the last one; BN_DEVICE where there is none */
    bool answered;                /* else the child crashed or hung */
    bn_tune_answer first;         /* in default shapes */
    double points;
    bn_tune_kernel *kernels;
    size_t count;
    bn_tune_variant variants[BN_TUNE_VARIANTS];
    size_t variant_count, unfit;              /* unfit: kernels of the case as it is that the device can't run */
    bn_tune_candidate plain;                  /* a step of the case as it is, measured between the variants */
    double seconds, default_step, tuned_step; /* the whole sweep; a step with default and chosen shapes */
    bool no_gain;                             /* the step is slower with the fastest shapes: the default ones stay */
    size_t tried, wrong, failed;
    bn_path out; /* folder */
} bn_tune;

/* Adds a time of an OK candidate, and reads what they say. */
void bn_tune_record(bn_tune_candidate *, double seconds);
double bn_tune_median(const bn_tune_candidate *);
double bn_tune_range(const bn_tune_candidate *); /* largest less smallest, over the median */
/* Whether the times of two overlap once the outermost are left out. */
bool bn_tune_overlap(const bn_tune_candidate *, const bn_tune_candidate *);
/* Adds a shape unless there is one like it. */
void bn_tune_add_shape(bn_tune_kernel *, const size_t side[3]);
/* Adds shapes with sides that are powers of two: all of them (--full), or the most promising. */
void bn_tune_choose_shapes(const bn_tune *, bn_tune_kernel *);
/* Adds what lies beside the fastest shape in any direction. */
void bn_tune_add_neighbours(const bn_tune *, bn_tune_kernel *);
/* The fastest that was measured at least so often; 0, the default, when there is no other. */
size_t bn_tune_fastest(const bn_tune_kernel *, size_t least);

/* Notes what kept a candidate from being measured. */
void bn_tune_blame(const bn_tune *, bn_tune_candidate *);

/* Has the child do the job. */
BN_CHECKED bn_status bn_tune_ask(bn_tune *);

/* Measures the variants that the solver declares, and puts those that were chosen into the job. */
BN_CHECKED bn_status bn_tune_variants(bn_tune *, const bn_case *);

/* The case that the argument names, a file or a solver's self-test, with --set and these settings. */
BN_CHECKED bn_status bn_tune_case(const bn_cli *, const char *const *set, size_t set_count, bn_case **out);
/* The child: does jobs until there is none. */
BN_CHECKED bn_status bn_tune_child(const bn_cli *);

/* Results: the table on stdout (or JSON), and the files. */
BN_CHECKED bn_status bn_tune_print(const bn_tune *);
BN_CHECKED bn_status bn_tune_write(const bn_tune *);

#endif
