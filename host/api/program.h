/* program.h: a .cl file built for every box shape of a domain, with sizes, precision and constants injected as -D. */
#ifndef BN_API_PROGRAM_H
#define BN_API_PROGRAM_H

#include "api/domain.h"

typedef struct bn_program bn_program;
typedef struct bn_kernel bn_kernel;

/* Reals become hexadecimal literals of the domain's precision; names (identifiers) pick variants. A place is a number
 * of bn_place that each box of the program's domain gets for its own number among the boxes of another: the same boxes
 * on the same devices. */
typedef enum bn_define_kind { BN_DEF_INT, BN_DEF_REAL, BN_DEF_NAME, BN_DEF_PLACE } bn_define_kind;
typedef enum bn_place_part { BN_PLACE_FIRST, BN_PLACE_PITCH, BN_PLACE_PLANE } bn_place_part;
typedef struct bn_define {
    const char *name;
    bn_define_kind kind;
    union {
        long long i;
        double r;
        const char *s;
        struct {
            const bn_domain *of;
            bn_place_part part;
        } place;
    } u;
} bn_define;

/* What one work-item stands for. */
typedef enum bn_range {
    BN_PER_CELL,     /* one per cell of each box, any work-group shape */
    BN_PER_BLOCK,  /* a work-group per block of BN_BLOCK_NX cells in BN_BLOCK_NY rows: may write bn_partials */
    BN_ONCE,         /* one work-group in all */
    BN_PER_TILE,     /* three dimensions: work-groups of BN_TILE_X x BN_TILE_Y items, tiles that overlap by their first
                        column and row, each going up through TILE_LAYERS layers */
    BN_PER_ROW,      /* a work-group for every row: it may read and write all of it, with barriers between */
    BN_PER_ROW_PAIR, /* a work-group for every two rows, or columns, of a grid in one box */
    BN_PER_COLUMN_PAIR,
    BN_PER_PARTICLE /* as many on each device as there is room for travellers, whatever the grid: launched by bn_migration
                        alone */
} bn_range;

enum { BN_TILE_X = 32, BN_TILE_Y = 8 };

/* Per cell, in reals (so right in both precisions). */
typedef struct bn_cost {
    double reads, writes, flops;
} bn_cost;

typedef struct bn_kernel_desc {
    const char *name;
    bn_range range;
    bn_cost cost;
} bn_kernel_desc;

/* Builds `file` ("flow" for kernels/flow.cl). A failure is BN_DEVICE with the compiler's log, file and lines. */
BN_CHECKED bn_status bn_program_build(bn_domain *, const char *file, const bn_define *, size_t count, bn_program **out);
void bn_program_destroy(bn_program **);

/* Lends a kernel that lives with the program; `desc` must outlive it. */
BN_CHECKED bn_status bn_kernel_find(bn_program *, const bn_kernel_desc *desc, bn_kernel **lent);

/* Whether the device can run the kernel with the work-group that its range asks for. */
bool bn_kernel_fits(const bn_kernel *);

/* How the programs of this process came about, for the summary: seconds spent building, programs built, taken from our
 * cache. */
typedef struct bn_build_stats {
    double seconds;
    unsigned built, cached;
    const char *cache;
} bn_build_stats;
bn_build_stats bn_domain_build_stats(const bn_domain *);

#endif
