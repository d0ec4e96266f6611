/* program.h: a .cl file built for every box shape of a domain, with sizes, precision and constants injected as -D. */
#ifndef BN_API_PROGRAM_H
#define BN_API_PROGRAM_H

#include "api/domain.h"

typedef struct bn_program bn_program;
typedef struct bn_kernel bn_kernel;

/* What one work-item stands for. */
typedef enum bn_range {
    BN_PER_CELL,          /* one per cell of each box, any work-group shape */
    BN_PER_BLOCK,         /* a work-group per block of BN_BLOCK_NX cells in BN_BLOCK_NY rows, or for several of them
                             (bn_kernel_patch): may write bn_partials */
    BN_PER_CELL_OR_BLOCK, /* per cell; per block where kernels are built for a CPU (EACH_CELL_ALIKE of lib/lanes.h) */
    BN_ONCE,              /* one work-group in all */
    BN_PER_TILE,     /* three dimensions: work-groups of BN_TILE_X x BN_TILE_Y items, tiles that overlap by their first
                        row, each going up through a piece of the layers, TILE_LAYERS on average */
    BN_PER_PATCH,    /* two dimensions: a work-group for every patch of cells, as large as bn_kernel_patch says */
    BN_PER_ROW,      /* a work-group for every row: it may read and write all of it, with barriers between */
    BN_PER_ROWS,     /* the same for every BN_BLOCK_NY rows; in parts that other devices wait for each of them has a
                        work-group of its own, told apart by get_group_id(2) */
    BN_PER_ROW_PAIR, /* a work-group for every two rows, or what a box has of every two columns */
    BN_PER_COLUMN_PAIR,
    BN_SIDE_BY_SIDE, /* work-groups that wait for each other, of a grid in one box: bn_kernel_side_by_side */
    BN_PER_PARTICLE /* one per particle that a device has room for, whatever the grid: launched by bn_migration alone */
} bn_range;

/* In how many launches a step or a solution is done (solver.launches): one of range BN_SIDE_BY_SIDE, or several. */
#define BN_LAUNCHES(X) X(BN_LAUNCHES_AUTO, "auto") X(BN_LAUNCHES_ONE, "one") X(BN_LAUNCHES_SEVERAL, "several")
typedef enum bn_launches {
    BN_LAUNCHES_AUTO, /* one on small grids, where the device lets work-groups run side by side */
    BN_LAUNCHES_ONE,  /* where it is possible */
    BN_LAUNCHES_SEVERAL
} bn_launches;

enum { BN_TILE_X = 64, BN_TILE_Y = 4 };

/* Per cell, in reals (so right in both precisions). */
typedef struct bn_cost {
    double reads, writes, flops;
} bn_cost;

typedef struct bn_kernel_desc {
    const char *name;
    bn_range range;
    bn_cost cost;
} bn_kernel_desc;

/* Builds `file` ("flow" for kernels/flow.cl, "transform+spectral" for two files one after the other). A failure is
 * BN_DEVICE with the compiler's log, file and lines; where programs are compiled beside each other it may come as late
 * as the first launch of one of its kernels. */
BN_CHECKED bn_status bn_program_build(bn_domain *, const char *file, const bn_define *, size_t count, bn_program **out);
/* The same for a file that takes sizes as arguments (BN_SIZES): the program is one for domains of any size, with
 * indices as wide as fields of `widest` need. */
BN_CHECKED bn_status bn_program_build_any_size(bn_domain *, const bn_domain *widest, const char *file,
                                               const bn_define *, size_t count, bn_program **out);
void bn_program_destroy(bn_program **);

/* Whether programs are compiled by several processes at once, so that two short ones come sooner than a long one. */
bool bn_compiles_aside(const bn_device *);

/* Whether kernels are built for a CPU there (IS_CPU of kernels/lib/index.h). */
bool bn_runs_cpu_kernels(const bn_device *);
/* Whether it is one of these, and its compiler takes kernels that are written in vectors of 512 bits. */
bool bn_takes_wide_vectors(const bn_device *);

/* Lends a kernel that lives with the program; `desc` must outlive it. */
BN_CHECKED bn_status bn_kernel_find(bn_program *, const bn_kernel_desc *desc, bn_kernel **lent);

/* Waits until all kernels of the domain are compiled that steps need: failures are known from then on, also for domains
 * without a device, which have none. */
BN_CHECKED bn_status bn_domain_kernels_ready(bn_domain *);

/* Whether the device can run the kernel with the work-group that its range asks for. */
bool bn_kernel_fits(bn_kernel *);

/* How the programs of a domain and its auxiliary ones came about, for the summary: seconds spent building,
 * programs built, taken from our cache. */
typedef struct bn_build_stats {
    double seconds;
    unsigned built, cached;
    const char *cache;
} bn_build_stats;
bn_build_stats bn_domain_build_stats(const bn_domain *);

/* Lists programs instead of compiling them, and launches nothing, until NULL is given: so that they can be compiled in
 * processes of their own before this one wants them. Reading scalars fails with BN_INTERRUPTED, without a
 * message; what was made in the meantime is good for nothing but to be destroyed. False where compilers gain nothing
 * from it (bn_quirks.parallel_builds). */
typedef struct bn_program_list {
    void (*add)(void *user, const char *name, const char *text, const char *options);
    void *user;
} bn_program_list;
bool bn_device_list_programs(bn_device *, const bn_program_list *);
/* Compiles a listed program for the driver's cache. */
BN_CHECKED bn_status bn_program_compile(bn_device *, const char *name, const char *text, const char *options);

/* From now on a kernel of range BN_PER_CELL, or BN_PER_BLOCK or a pair of lines, in one or two dimensions runs with so
 * many work-items a cell, or work-groups a block or pair, told apart by get_global_id(2): for grids of few cells on
 * devices that want many work-items. They may only write by atomics, or what no other layer writes. */
void bn_kernel_layers(bn_kernel *, size_t layers);

/* Work-items of a work-group of a kernel of cells, lines or blocks unless the caller of the domain says otherwise; 256
 * without. */
void bn_kernel_items(bn_kernel *, size_t items);

/* Pairs of lines of a work-group of a kernel of range BN_PER_ROW_PAIR or BN_PER_COLUMN_PAIR; 1 without. */
void bn_kernel_pairs(bn_kernel *, size_t pairs);

/* Work-groups, numbered one after the other, that share a pair of such lines; 1 without. */
void bn_kernel_shares(bn_kernel *, size_t groups);

/* Cells of a work-group of a kernel of range BN_PER_PATCH, along x and y. A kernel of range BN_PER_BLOCK may be given
 * those of several blocks above each other; else it has one block. */
void bn_kernel_patch(bn_kernel *, size_t nx, size_t ny);

/* Lets a kernel of range BN_SIDE_BY_SIDE run in as many work-groups, at most `wish`, as certainly run at the same time:
 * those that the compute units have room for by the kernel's registers (its largest work-group) and local memory. 1
 * where the device does not promise it. */
void bn_kernel_side_by_side(bn_kernel *, size_t wish);

/* From now on a launch does the operations of its declared cost so often on the same data, which move once: steps of a
 * beam that stays in a work-group, photons one after the other. */
void bn_kernel_repeats(bn_kernel *, double times);

/* How many of `wish` rounds one launch may do if a work-item goes through at most `each` iterations of loops a round
 * and `once` beside them, on the devices of this process: `wish` but for those that end loops early. BN_DEVICE: not
 * one. */
BN_CHECKED bn_status bn_kernel_rounds(const bn_kernel *, double once, double each, size_t wish, size_t *rounds);

/* One row per kernel that ran: for the summary and `run --profile`. */
typedef struct bn_profile_row {
    const char *kernel;
    unsigned long long calls;
    double seconds;      /* by device events; NaN unless the device was opened for profiling */
    double bytes, flops; /* declared */
} bn_profile_row;
/* all: also those of auxiliary domains (bn_domain_desc.auxiliary_to), added up by name. */
size_t bn_domain_profile(const bn_domain *, bool all, bn_profile_row *rows, size_t room);

/* What a tuner has to know of a kernel. */
typedef struct bn_kernel_info {
    const char *kernel;
    bn_range range;
    unsigned long long calls;
    size_t group[3];      /* work-group in use */
    size_t largest;       /* work-items that a group may have: the device's and the kernel's limit */
    size_t multiple;      /* sizes that the device prefers are multiples of it */
    uint64_t local_bytes; /* local memory of a group */
    bool fits;            /* bn_kernel_fits */
} bn_kernel_info;

/* All kernels of the domain's programs, also those that never ran. */
size_t bn_domain_kernels(const bn_domain *, bn_kernel_info *rows, size_t room);

#endif
