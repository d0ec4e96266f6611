/* bench.h: what the files of `binnacle bench` share: standard cases, results of a measurement, tables and suites. */
#ifndef BN_BENCH_H
#define BN_BENCH_H

#include "api/launch.h"
#include "api/limits.h"
#include "case/string_buffer.h"
#include "output/json_text.h"

#include "binnacle/binnacle.h"
#include <signal.h>

enum {
    BN_BENCH_SIZES_MOST = 8,
    BN_BENCH_SETS = 6,
    BN_BENCH_SET = 96,
    BN_BENCH_KERNELS = 64,
    BN_BENCH_ROUNDS = 7,
    BN_BENCH_REASON = 300,
    BN_BENCH_PATH = 1024
};

typedef enum bn_bench_level { BN_BENCH_QUICK, BN_BENCH_USUAL, BN_BENCH_FULL } bn_bench_level;
/* What a step is: of the simulation, or a solve (or an iteration) of a linear system by itself. */
typedef enum bn_bench_linear { BN_BENCH_STEPS, BN_BENCH_DIRECT, BN_BENCH_MULTIGRID, BN_BENCH_FUSED_CG } bn_bench_linear;

/* A kind of work in several sizes. A floor counts what an update must move and compute at least, by the method and not
 * by the kernels: `reals` of the case's precision, `bytes` besides, `operations`. All 0: what the kernels declare is
 * taken. */
typedef struct bn_bench_case {
    const char *solver, *what;
    const char *unit;                       /* of an update: "cell", "point", "photon" */
    const char *text;                       /* the case but for its size and precision */
    unsigned sizes[2][BN_BENCH_SIZES_MOST]; /* on a CPU, on a GPU; 0 ends */
    int dims;                               /* a size is a number of points along each of so many axes */
    bn_bench_level level;                   /* the shortest table that has it */
    double reals, bytes, operations;
    const char *sets[4];    /* settings besides, KEY=VALUE; ends with NULL */
    double tall;            /* flow: so many times as many intervals along y as along x; 0: as many */
    unsigned beams;         /* bpm: in a plane, at once; 0: one */
    bn_bench_linear linear; /* `text` is not used */
    const char *counts;     /* a result by which updates are multiplied: scatterings of a photon; NULL: none */
    bool no_floor;          /* blocks may be left out: what all would need is no floor */
    bool develops;          /* what a step takes follows from the state: all rounds begin with the same one */
    bool clock_only;        /* its set-up takes seconds: done once, so that no kernels are listed */
} bn_bench_case;

extern const bn_bench_case bn_bench_cases[];  /* ends with a NULL solver */
extern const bn_bench_case bn_bench_scaled[]; /* the same, for `--suite scaling`: one size each */
extern const bn_bench_case bn_bench_peers[];  /* the same, for `--suite peers`: docs/peers.md has the other sides */

/* A case in one size and precision, ready to be read. */
typedef struct bn_bench_job {
    const bn_bench_case *of;
    unsigned n;
    bool twice;        /* double precision */
    double per_step;   /* updates that a step makes, a step being what the solver's field calls one */
    double per_record; /* steps that the simulation takes in one: those of a record of bpm */
    char sets[BN_BENCH_SETS][BN_BENCH_SET];
    size_t set_count;
    size_t work_group[3]; /* {0}: the default */
    bool reference;       /* timed on the CPU reference */
} bn_bench_job;

void bn_bench_prepare(const bn_bench_case *, unsigned n, bool twice, bool gpu, bn_bench_job *out);
/* For a device whose limits are known. The work is that of `times` jobs in one: the last axis is so many times as long,
 * of photons there are so many times as many. */
void bn_bench_prepare_on(const bn_bench_case *, unsigned n, bool twice, bool gpu, const bn_device_limits *,
                         unsigned times, bn_bench_job *out);

typedef struct bn_bench_kernel {
    char name[64];
    double calls, seconds, bytes, flops; /* a step */
    size_t group;                        /* work-items of a work-group */
    uint64_t local_bytes;                /* its local memory */
} bn_bench_kernel;

typedef struct bn_bench_result {
    double seconds, noise; /* of a step: median of the rounds, and half the distance of their quartiles over it */
    double updates;        /* a second */
    char refused[96];      /* why the figures can't be believed; "": they can */
    double bytes, flops;   /* declared by the kernels, a step */
    double floor;          /* [s] a step */
    double share;          /* floor over seconds; NaN: faster than the floor, which then is none */
    bool counted;          /* the floor counts the method's needs, else what the kernels declare */
    bool by_bytes;         /* bytes bound it, else operations */
    double setup;          /* [s] both simulations, by the clock and by events, without their builds */
    double build, rebuild; /* [s] without our cache (NaN: not measured), and as it came */
    unsigned built, cached;
    double launches, waits; /* a step: kernels in the queue, and times that the host waited for the device */
    double outside;         /* share of the wall time outside of kernels; NaN: the noise is larger */
    bn_bench_kernel kernels[BN_BENCH_KERNELS];
    size_t kernel_count;
} bn_bench_result;

/* Outcomes of solvers' self-tests on a device: each runs once for each precision. */
enum { BN_BENCH_TESTED = 32 };
typedef struct bn_bench_tested {
    size_t count;
    struct {
        const char *solver;
        bool twice;
        bn_status outcome;
        char why[BN_BENCH_REASON];
    } rows[BN_BENCH_TESTED];
} bn_bench_tested;

/* What the command line asks for. */
typedef struct bn_bench_wish {
    bn_context *ctx;
    const char *program;               /* path of this binary, for child processes */
    const volatile sig_atomic_t *stop; /* non-zero: end soon */
    const char *device, *out;          /* a selector; the folder for files, NULL: none */
    const char *const *solvers;        /* only these; none: all */
    size_t solver_count;
    bool quiet, quick, smallest; /* smallest: suites take seconds */
} bn_bench_wish;

/* A device with what is needed to measure on it. */
typedef struct bn_bench_device {
    const bn_bench_wish *wish;
    bn_device *plain, *profiling;
    bn_device_limits limits;
    bn_bench_tested *tested;
    double budget;  /* [s] for one job's clock */
    double end;     /* when the usual table is to be ready, by bn_seconds_now */
    size_t kinds;   /* of work that are left */
    size_t ordinal; /* among the devices of the command */
} bn_bench_device;

/* BN_CASE where the solver refuses the job's case or one of its settings. */
BN_CHECKED bn_status bn_bench_check(const bn_bench_device *, const bn_bench_job *);

/* By the clock alone (seconds, noise, updates, launches and waits); all; all, and the build without our cache. */
typedef enum bn_bench_depth { BN_BENCH_CLOCK, BN_BENCH_WHOLE, BN_BENCH_COLD } bn_bench_depth;

/* Measures one job. A failure of the job (a device without fp64, too little memory) is BN_OK with `trouble` filled in;
 * others, such as a case that is wrong, are returned. */
BN_CHECKED bn_status bn_bench_measure(const bn_bench_device *, const bn_bench_job *, bn_bench_depth,
                                      bn_bench_result *out, char *trouble, size_t room);

/* roofline.png and scaling.png of one device's document. */
BN_CHECKED bn_status bn_bench_draw(bn_context *, const char *folder, const json_t *device);

/* bench_table.c: rows of a document as a table. How a member of a row is written; `unit` stands behind it: */
typedef enum bn_bench_format {
    BN_BENCH_TEXT,
    BN_BENCH_SIZE,     /* "size" and "dims": 257^2 */
    BN_BENCH_NUMBER,   /* four digits */
    BN_BENCH_DURATION, /* seconds */
    BN_BENCH_RATE,     /* 1.23 G; without a unit that of the row, a second */
    BN_BENCH_SHARE     /* per cent */
} bn_bench_format;
typedef struct bn_bench_column {
    const char *head, *key; /* key: "floor/share" is a member of a member */
    bn_bench_format format;
    const char *unit;
} bn_bench_column;
/* Figures of rows that have "trouble", "refused" or "missing" are left out; the reasons stand below the table. */
BN_CHECKED bn_status bn_bench_print(bn_context *, const json_t *rows, const bn_bench_column *, size_t count);
/* The same on a page. */
BN_CHECKED bn_status bn_bench_html(bn_context *, bn_string *page, const char *caption, const json_t *rows,
                                   const bn_bench_column *, size_t count);
/* Appends `row`, and `more` members if not NULL, both of which it takes. */
BN_CHECKED bn_status bn_bench_add_row(bn_context *, json_t *rows, json_t *row, json_t *more);
/* Says on stderr what is measured next, unless --quiet. */
void bn_bench_tell(const bn_bench_device *, const bn_bench_job *);

/* A document that `bench` wrote; release it with json_decref. */
BN_CHECKED bn_status bn_bench_read(bn_context *, const char *path, json_t **out);
/* What became slower or faster than in the old document, read from `path`, and what the noise of both leaves open: a
 * list "compare" in the new one, which is printed as a table, too, if `print`. */
BN_CHECKED bn_status bn_bench_compare(bn_context *, json_t *now, const json_t *old, const char *path, bool print);

/* A published study by the name that --suite gives, on one device: its figures beside ours, as the schema's "suite". */
BN_CHECKED bn_status bn_bench_suite(const bn_bench_device *, const char *name, json_t **out);
BN_CHECKED bn_status bn_bench_suite_print(bn_context *, const json_t *);
/* BN_USAGE, with the names, for one that there is none of. */
BN_CHECKED bn_status bn_bench_suite_check(bn_context *, const char *name);
/* One, two, four ... of the devices that --device names together against one: "scaling". */
BN_CHECKED bn_status bn_bench_scaling(const bn_bench_device *, json_t **out);
BN_CHECKED bn_status bn_bench_scaling_print(bn_context *, const json_t *);
/* Every case that is part of the program as a process of its own: "jobs". */
BN_CHECKED bn_status bn_bench_jobs(const bn_bench_device *, json_t **out);
BN_CHECKED bn_status bn_bench_jobs_print(bn_context *, const json_t *);
/* Whether the solver is among those that are asked for. */
bool bn_bench_wanted(const bn_bench_wish *, const char *solver);

/* For runs in processes of their own: a folder, and its removal with all in it. */
BN_CHECKED bn_status bn_bench_temporary(bn_context *, char folder[BN_BENCH_PATH]);
void bn_bench_remove_tree(const char *path);

#endif
