/* bench.h: what the files of `binnacle bench` share: standard cases, what was measured of one, and what is made of it.
 */
#ifndef BN_BENCH_H
#define BN_BENCH_H

#include "api/launch.h"
#include "api/limits.h"
#include "cli/commands.h"

#include "binnacle/binnacle.h"
#include <jansson.h>

enum {
    BN_BENCH_SIZES = 4,
    BN_BENCH_SETS = 6,
    BN_BENCH_SET = 96,
    BN_BENCH_KERNELS = 64,
    BN_BENCH_ROUNDS = 7,
    BN_BENCH_PATH = 1024
};

/* A kind of work in several sizes. A floor counts what an update must move and compute at least, by the method and not
 * by the kernels: `reals` of the case's precision, `bytes` besides, `operations`. 0: what the kernels declare is taken.
 */
typedef struct bn_bench_case {
    const char *solver, *what;
    const char *unit;                  /* of an update: "cell", "point", "photon" */
    const char *text;                  /* the case but for its size and precision */
    unsigned sizes[2][BN_BENCH_SIZES]; /* on a CPU, on a GPU; 0 ends */
    int dims;                          /* a size is a number of points along each of so many axes */
    bool quick;                        /* measured with --quick too */
    double reals, bytes, operations;
    const char *sets[4]; /* settings besides, KEY=VALUE; ends with NULL */
} bn_bench_case;

extern const bn_bench_case bn_bench_cases[]; /* ends with a NULL solver */

/* A case in one size and precision, ready to be read. */
typedef struct bn_bench_job {
    const bn_bench_case *of;
    unsigned n;
    bool twice;      /* double precision */
    double per_step; /* updates that a step makes, a step being what the solver's field calls one */
    double per_item; /* updates for each item that the simulation counts */
    char sets[BN_BENCH_SETS][BN_BENCH_SET];
    size_t set_count;
    size_t work_group[3]; /* {0}: the default */
    bool reference;       /* timed on the CPU reference */
} bn_bench_job;

void bn_bench_prepare(const bn_bench_case *, unsigned n, bool twice, bool gpu, bn_bench_job *out);

typedef struct bn_bench_kernel {
    char name[64];
    double calls, seconds, bytes, flops; /* a step */
} bn_bench_kernel;

typedef struct bn_bench_result {
    double seconds, noise; /* of a step: median of the rounds, and half the distance of their quartiles over it */
    double updates;        /* a second */
    double bytes, flops;   /* declared by the kernels, a step */
    double floor;          /* [s] a step */
    double share;          /* floor over seconds; NaN: faster than the floor, which then is none */
    bool counted;          /* the floor counts the method's needs, else what the kernels declare */
    bool by_bytes;         /* bytes bound it, else operations */
    double setup;          /* [s] both simulations, by the clock and by events, without their builds */
    double build, rebuild; /* [s] without our cache (NaN: not measured), and as it came */
    unsigned built, cached;
    double launches, waits; /* a step: kernels in the queue, and times that the host waited for the device */
    double outside;         /* share of the wall time outside of kernels, NaN where noise is larger */
    bn_bench_kernel kernels[BN_BENCH_KERNELS];
    size_t kernel_count;
} bn_bench_result;

/* What solvers' self-tests on a device came to, so that each is asked once for each precision. */
enum { BN_BENCH_TESTED = 32 };
typedef struct bn_bench_tested {
    size_t count;
    struct {
        const char *solver;
        bool twice;
        bn_status outcome;
        char why[300];
    } rows[BN_BENCH_TESTED];
} bn_bench_tested;

/* A device with what is needed to measure on it. */
typedef struct bn_bench_device {
    const bn_cli *cli;
    bn_device *plain, *profiling;
    bn_device_limits peaks;
    bn_bench_tested *tested;
    double budget; /* [s] for one job's clock */
} bn_bench_device;

/* BN_CASE where the job's case or one of its settings is not what the solver knows: a mistake of ours. */
BN_CHECKED bn_status bn_bench_check(const bn_bench_device *, const bn_bench_job *);

/* Measures one job. A failure of the job (a device without fp64, too little memory) is BN_OK with `trouble` filled in;
 * others, such as a case that is wrong, are returned. `cold`: measures the build without our cache too. */
BN_CHECKED bn_status bn_bench_measure(const bn_bench_device *, const bn_bench_job *, bool cold, bn_bench_result *out,
                                      char *trouble, size_t room);

/* The same by the clock alone: seconds, noise, updates, launches and waits. */
BN_CHECKED bn_status bn_bench_time(const bn_bench_device *, const bn_bench_job *, bn_bench_result *out, char *trouble,
                                   size_t room);

/* roofline.png and scaling.png of one device's document. */
BN_CHECKED bn_status bn_bench_draw(bn_context *, const char *folder, const json_t *device);

/* A document that `bench` wrote; release it with json_decref. */
BN_CHECKED bn_status bn_bench_read(bn_context *, const char *path, json_t **out);
/* What became slower or faster than in the old document, and what the noise of both leaves open: a table, or with
 * --json a list "compare" in the document, which then is not printed yet. */
BN_CHECKED bn_status bn_bench_compare(const bn_cli *, json_t *now, const json_t *old);

/* A published study by the name that --suite gives, on one device: its figures beside ours, as the schema's "suite". */
BN_CHECKED bn_status bn_bench_suite(const bn_bench_device *, const char *name, json_t **out);
/* BN_USAGE, with the names, for one that there is none of. */
BN_CHECKED bn_status bn_bench_suite_check(bn_context *, const char *name);
/* What the runtime adds to the kernels, and what a start costs: "overhead" of the schema; and its tables. */
BN_CHECKED bn_status bn_bench_overhead(const bn_bench_device *, json_t **out);
BN_CHECKED bn_status bn_bench_overhead_print(bn_context *, const json_t *);
/* The default work-groups beside those that `tune` finds, for each solver's standard case: "default_vs_tuned". */
BN_CHECKED bn_status bn_bench_tuned(const bn_bench_device *, json_t **out);
BN_CHECKED bn_status bn_bench_tuned_print(bn_context *, const json_t *);

/* For runs in processes of their own: a folder, and its removal with all in it. */
BN_CHECKED bn_status bn_bench_temporary(bn_context *, char folder[BN_BENCH_PATH]);
void bn_bench_remove_tree(const char *path);

/* The arguments of such a run: `command` on the job's case, which is written to the folder, with its settings, on its
 * device,
 * --out `results` and these options (NULL at their end). */
enum { BN_BENCH_ARGUMENTS = 64 };
typedef struct bn_bench_command {
    const char *arguments[BN_BENCH_ARGUMENTS];
    char index[32], path[BN_BENCH_PATH + 64], results[BN_BENCH_PATH + 64];
} bn_bench_command;
BN_CHECKED bn_status bn_bench_child_command(const bn_bench_device *, const bn_bench_job *, const char *folder,
                                            const char *command, const char *const *options, bn_bench_command *out);

#endif
