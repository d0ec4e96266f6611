/* program.h: the insides of programs and kernels. */
#ifndef BN_HOST_PROGRAM_H
#define BN_HOST_PROGRAM_H

#include "grid/grid.h"

enum { BN_PENDING_EVENTS = 256 };

enum { BN_ARGUMENT_BYTES = 64 };

/* The value of an argument; bytes == 0: not set yet. */
typedef struct bn_set_argument {
    size_t bytes;
    unsigned char value[BN_ARGUMENT_BYTES];
} bn_set_argument;

struct bn_kernel {
    struct bn_kernel *next;
    bn_program *program;
    const bn_kernel_desc *desc;
    bn_range range;   /* desc's, or what it comes to on this device */
    bool ready;       /* what follows is known: bn_kernel_ready */
    cl_kernel *cl;    /* one per box: arguments stay set */
    size_t max_group; /* over all shapes */
    size_t group[3];  /* local size in use */
    size_t spare[3];  /* another one that gives the same bits; where there is none the same */
    bool swapped;     /* the spare one is in use */
    bool fits;        /* it is what the range asks for */
    size_t multiple;  /* preferred by the device */
    cl_ulong local_bytes;
    double repeats;                         /* of the declared operations in a launch; 0 means 1 */
    size_t patch[2];                        /* bn_kernel_patch */
    size_t layers;                          /* work-items a cell, along the third dimension; 0 means 1 */
    size_t items;                           /* bn_kernel_items; 0: 256 */
    size_t pairs;                           /* bn_kernel_pairs; 0: 1 */
    size_t shares;                          /* bn_kernel_shares; 0: 1 */
    size_t side_by_side_wish, side_by_side; /* work-groups of range BN_SIDE_BY_SIDE */
    cl_uint argument_count;
    bn_set_argument *set; /* what was set last, box by box: setting the same again costs a microsecond */
    unsigned long long calls;
    double bytes, flops, seconds;
    cl_event pending[BN_PENDING_EVENTS]; /* profiling only */
    bn_device *pending_on[BN_PENDING_EVENTS];
    size_t pending_count;
};

/* Takes the shape that the device is to run kernels in (other_groups); before a launch. */
void bn_kernel_shape(bn_kernel *);

struct bn_program {
    struct bn_program *next;
    bn_domain *domain;
    char *file;
    struct bn_build **build; /* one per shape; programs alike share one */
    bn_kernel *kernels;
};

/* Waits until the kernel is compiled, and looks at what the compiler has made of it. Everything that launches kernels
 * asks for it first. */
bn_status bn_kernel_ready(bn_kernel *);

#endif
