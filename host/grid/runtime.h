/* runtime.h: the insides of domains, fields, programs and kernels, shared by the files of host/ alone. */
#ifndef BN_HOST_RUNTIME_H
#define BN_HOST_RUNTIME_H

#include "device/opencl.h"

#include "api/launch.h"
#include "api/device_array.h"
#include <pthread.h>

/* So many partial sums every work-group may add up by itself; if there are more, BN_PACKED at a time are added first.
 */
enum { BN_TOTALS_MAX = 2048, BN_PACKED = 256 };

/* Bytes behind every buffer that hold a known pattern in debug contexts. */
enum { BN_CANARY_BYTES = 256 };

/* How a box lies in memory; counted in elements. Rows start on 16-byte boundaries so that vector loads are aligned. */
typedef struct bn_layout {
    int halo[3]; /* per dimension: 0 in dimensions that are not there */
    size_t left; /* elements in front of cell 0 of a row: halo[0] rounded up */
    size_t pitch, slice, plane, first;
    size_t layers; /* of one component: n[2] + 2 halo[2] */
} bn_layout;

typedef struct bn_box {
    uint32_t offset[3], n[3];
    int place[3];      /* in the lattice of boxes */
    size_t shape;      /* index into bn_domain.shapes */
    bn_device *device; /* where it lies; NULL: on another rank, or the reference */
    size_t member;     /* that device's number in the team */
    int rank;
    bool far[3][2]; /* a box on another device lies that way: along x, y, z, towards lower and higher indices
                       (exchange.c) */
} bn_box;

/* Where the cells of a box of whole rows go that are turned (kernels/lib/index.h). */
typedef struct bn_transposed_layout {
    size_t first, pitch;
    uint32_t strip; /* rows; the rows behind them go to a block of their own, behind this one */
} bn_transposed_layout;

typedef struct bn_box_shape {
    uint32_t n[3];
    bn_layout layout;
    bn_transposed_layout turned; /* of domains of whole rows */
} bn_box_shape;

typedef struct bn_buffer {
    struct bn_buffer *next, *previous;
    char *name;
    cl_mem mem;
    cl_mem image; /* the same memory as a one-dimensional image; NULL until a kernel asks for it */
    bn_device *device;
    size_t bytes; /* without the canary */
} bn_buffer;

typedef struct bn_staging bn_staging;

/* Host memory that a device copies to and from at full speed, kept mapped. */
typedef struct bn_pinned {
    bn_device *device;
    cl_mem mem;
    void *data;
    size_t bytes;
} bn_pinned;

/* Two rooms in turn: the one that was filled last may still be on its way to devices, the one before that no longer,
 * where the queues have met in between. */
typedef struct bn_double_buffer {
    bn_pinned pinned;
    unsigned turn;
} bn_double_buffer;

typedef struct bn_halo_channels bn_halo_channels;
typedef struct bn_transpose bn_transpose;

struct bn_domain {
    bn_context *ctx;
    unsigned long long number; /* of this process's domains, from 1 on: addresses come again */
    bn_device *device;         /* of the first box here; NULL: reference */
    bn_domain_desc desc;
    /* Several devices, perhaps of several ranks, have boxes: `members` of this rank's team. What is no field has a copy
     * on each of them. A domain of one box is whole on every rank instead, and every rank computes all of it. */
    bool spread;
    size_t members;
    size_t *lead; /* the first box on each member */
    bn_halo_channels *exchange;
    bn_transpose *turn;     /* of what its kernels turn; NULL before the first */
    bn_double_buffer gathered; /* where partial sums come together */
    bn_double_buffer copied;   /* what goes through the host between fields of different domains */
    int reach;         /* the halo, or the thickness of the thinnest box */
    int lattice[3];    /* boxes along x, y, z */
    uint32_t *cuts[3]; /* lattice + 1 along each: where boxes begin, and the end */
    bool coarsened;    /* cuts are those of a finer domain, not between blocks of sums */
    bn_box *boxes;
    size_t box_count;
    bn_box_shape *shapes;
    size_t shape_count;
    uint32_t tile_layers; /* of a tile of range BN_PER_TILE */
    uint32_t segments;    /* of a row of the whole grid */
    size_t partials;      /* blocks of the whole grid that have a partial sum each */
    size_t totals;        /* values that a total is formed from: the partial sums, or packs of them */
    int index_bits;
    bn_buffer *buffers;   /* all of them, for the canaries */
    bn_program *programs; /* all of them, for the profile */
    bn_build_stats build;
    bn_program *services; /* halo and reduce kernels, built when first needed */
    bn_program *reductions;
    bn_partials *reduce_partials[2]; /* of sums, of maxima */
    bn_scalars *reduce_scalars;
    unsigned unflushed; /* launches since the last clFlush */
    bn_staging *idle;   /* pinned memory to be used again; guarded by lock */
    /* The owner and snapshots, which may outlive it: what they need stays until the last lets go. Guarded by lock. */
    size_t holders;
    pthread_mutex_t lock;
    bn_profile_row *past; /* kernels of the domains that this one goes on from (bn_domain_repartition) */
    size_t past_count;
};

struct bn_field {
    bn_domain *domain;
    bn_field_desc desc; /* name and unit are own copies */
    size_t element_bytes;
    bn_buffer **buffers; /* one per box, NULL for a box of another rank; all NULL for the reference */
    void *host;          /* reference only */
    int halo_valid;      /* cells of the halo that hold the neighbours' present values */
    int halo_unwrapped;  /* the same but for what lies across a periodic side that no cut divides */
    int halo_side[2];    /* the same of the sides of lower, of higher indices alone */
};

struct bn_partials {
    bn_domain *domain;
    bn_buffer **buffer, **packed; /* one per member; packed: NULL when there are few enough to be added up at once */
    int components;
    unsigned maxima; /* bit c: component c is a maximum */
    bool stale;      /* packed does not hold the present partial sums */
    bool apart;      /* every member has those of its own boxes only, of the components that are set in `changed` */
    uint64_t changed;
    bool shared; /* kernels read those of other boxes */
};
struct bn_device_array {
    bn_domain *domain;
    bn_buffer **buffer;        /* one per member */
    size_t planes, each, unit; /* of bn_device_array_slabs; 0: every member has all of it */
};
struct bn_scalars {
    bn_domain *domain;
    bn_buffer **buffer; /* one per member */
    size_t count;
    bool apart;   /* members may have different values */
    bool shared;  /* work-groups of one launch write to them together */
    void *before; /* shared: the values when they were last the same everywhere */
};

typedef struct bn_pending_event {
    cl_event event;
} bn_pending_event;
enum { BN_PENDING_EVENTS = 256 };

/* The value of an argument; bytes == 0: not set yet. */
typedef struct bn_set_argument {
    size_t bytes;
    unsigned char value[16];
} bn_set_argument;

struct bn_kernel {
    struct bn_kernel *next;
    bn_program *program;
    const bn_kernel_desc *desc;
    cl_kernel *cl;    /* one per box: arguments stay set */
    size_t max_group; /* over all shapes */
    size_t group[3];  /* local size in use */
    bool fits;        /* it is what the range asks for */
    size_t multiple;  /* preferred by the device */
    cl_ulong local_bytes;
    double repeats; /* of the declared operations in a launch; 0 means 1 */
    size_t layers;  /* work-items a cell, along the third dimension; 0 means 1 */
    cl_uint argument_count;
    struct bn_set_argument *set; /* what was set last, box by box: setting the same again costs a microsecond */
    unsigned long long calls;
    double bytes, flops, seconds;
    cl_event pending[BN_PENDING_EVENTS]; /* profiling only */
    size_t pending_count;
};

struct bn_program {
    struct bn_program *next;
    bn_domain *domain;
    char *file;
    cl_program *cl; /* one per shape */
    char **options; /* that they were built with */
    bn_kernel *kernels;
};

/* buffer.c */
BN_CHECKED bn_status bn_buffer_create(bn_domain *, bn_device *, const char *name, size_t bytes, bn_buffer **out);
/* One on each member; NULL or an array to be destroyed with the other. */
BN_CHECKED bn_status bn_copies_create(bn_domain *, const char *name, size_t bytes, bn_buffer ***out);
void bn_copies_destroy(bn_domain *, bn_buffer ***);
/* The same bytes to every member's copy; waits, or the host memory must stay as it is. */
BN_CHECKED bn_status bn_copies_write(bn_domain *, bn_buffer *const *, const void *data, size_t bytes, bool wait);

/* Grows to at least so many bytes; contents are lost. */
BN_CHECKED bn_status bn_pinned_need(bn_domain *, bn_device *, bn_pinned *, size_t bytes);
void bn_pinned_free(bn_pinned *);
/* The next of two rooms of so many bytes at least. */
BN_CHECKED bn_status bn_double_buffer_next(bn_domain *, bn_double_buffer *, const char *what, size_t bytes, void **room);
void bn_buffer_destroy(bn_domain *, bn_buffer **);
/* Views the buffer as an image of reals, for kernels that read through the texture path. */
BN_CHECKED bn_status bn_buffer_image(bn_domain *, bn_buffer *);

/* domain.c: the device of a member. */
bn_device *bn_member_device(const bn_domain *, size_t member);
/* Points that a box has at least along a dimension that is cut. */
uint32_t bn_least_thick(const bn_domain_desc *);
/* Cells along a dimension that every cut keeps together. */
uint32_t bn_cut_unit(int dim);
/* For snapshots: the domain's devices, memory to copy to and lock stay until they let go, on whatever thread. */
void bn_domain_hold(bn_domain *);
void bn_domain_let_go(bn_domain *);
/* What is dealt out among all devices of a domain, of all ranks, has so many parts; which one is the member's. */
int bn_domain_shares(const bn_domain *);
int bn_member_part(const bn_domain *, size_t member);
/* Pieces that so many units are cut into: piece p gets units [start(p), start(p + 1)). */
uint32_t bn_piece_start(uint32_t units, int pieces, int p);

/* halo.c: the box that lies a step away, each of -1, 0, 1; -1: the grid ends there, or has no such dimension. */
long bn_box_at(const bn_domain *, const bn_box *, const int step[3]);
BN_CHECKED bn_status bn_halo_exchange(bn_field *, int reach);

/* exchange.c: halos of boxes on different devices. What goes from one to another box travels as one message, corners
 * included. `begin` packs what the neighbours need of all these fields, `carry` sends it on its way; kernels launched
 * between them run meanwhile, as long as they read no halo. `end` puts what has come into the halos. */
enum { BN_HALO_REQUESTS = 24 };
typedef struct bn_halo_request {
    bn_field *field;
    int reach;
    int side;   /* 0: both; -1, 1: only what lies towards lower, towards higher indices */
    bool wraps; /* the reader finds what lies across a periodic side by itself, if no cut divides that dimension */
} bn_halo_request;
BN_CHECKED bn_status bn_halo_exchange_begin(bn_domain *, const bn_halo_request *, size_t count);
BN_CHECKED bn_status bn_halo_exchange_carry(bn_domain *);
BN_CHECKED bn_status bn_halo_exchange_end(bn_domain *, const bn_halo_request *, size_t count);
/* All three one after the other, where nothing is computed meanwhile. */
BN_CHECKED bn_status bn_halo_exchange_at_once(bn_domain *, const bn_halo_request *);
void bn_halo_exchange_destroy(bn_domain *);
BN_CHECKED bn_status bn_halo_copy(bn_field *, size_t from, const long from_first[3], size_t to, const long to_first[3],
                                  const long n[3]);
/* Between the field's box and a dense block `at` elements into a buffer of the same device. */
BN_CHECKED bn_status bn_halo_pack(bn_field *, size_t box, const long first[3], const long n[3], bn_buffer *,
                                  size_t at_bytes, bool unpack, cl_uint waits, const cl_event *wait, cl_event *done);
size_t bn_halo_block_bytes(const bn_field *, const long n[3]);
/* Bytes of a message up to where the next block may begin. */
size_t bn_block_end(size_t bytes);
/* Between the field's box and a buffer of the same device in which the block lies otherwise: the element it begins at,
 * and those from row to row, slice to slice, component to component. */
BN_CHECKED bn_status bn_block_move(bn_field *, size_t box, const long first[3], const long n[3], const bn_buffer *,
                                   const cl_long lie[4], bool unpack, cl_uint waits, const cl_event *wait,
                                   cl_event *done);

/* turn.c: launches that store their result turned, in a field of another domain (BN_WRITE_TRANSPOSED). `begin` readies the
 * memory that bn_transpose_memory gives the kernel, `packed` follows the launch over each strip of rows, in order, of every
 * box, `deliver` brings what others have stored into the field's boxes. */
enum { BN_TRANSPOSE_STRIPS = 4 };
/* Why the field can't take what kernels of this domain turn; NULL: it can. */
const char *bn_transpose_objection(const bn_domain *, const bn_field *);
BN_CHECKED bn_status bn_transpose_begin(bn_domain *, bn_field *);
const cl_mem *bn_transpose_memory(const bn_domain *, const bn_field *, size_t box);
BN_CHECKED bn_status bn_transpose_packed(bn_domain *, size_t box, size_t strip);
BN_CHECKED bn_status bn_transpose_deliver(bn_domain *, bn_field *);
void bn_transpose_destroy(bn_domain *);
/* Makes every member have all partial sums, and all members the same scalars; at most BN_ALLREDUCE_MOST of them in one round,
 * the only one in which the host waits. NULL entries are left out. */
enum { BN_ALLREDUCE_MOST = 8 };
BN_CHECKED bn_status bn_allreduce(bn_domain *, bn_partials *const *, size_t partials, bn_scalars *const *,
                                       size_t scalars);
/* Makes every member have the sum of all members' counters; makes them zero. */
BN_CHECKED bn_status bn_counters_merge(bn_device_array *);
BN_CHECKED bn_status bn_counters_clear(bn_device_array *);
void bn_halo_set(bn_field *, int valid); /* so many cells of the halo are right from now on */
BN_CHECKED bn_status bn_halo_poison(bn_field *, int valid);
BN_CHECKED bn_status bn_field_clear(bn_field *); /* own cells to zero, the rest untouched */

/* reduce.c: brings the packs of partial sums up to date. */
BN_CHECKED bn_status bn_partials_pack(bn_partials *);

/* launch.c */
/* What the kernels and programs of `old` have done so far counts for another domain from now on. */
BN_CHECKED bn_status bn_domain_go_on(const bn_domain *old, bn_domain *);
size_t bn_domain_real_bytes(const bn_domain *);
/* Enqueues one prepared kernel of one box. */
BN_CHECKED bn_status bn_enqueue(bn_kernel *, size_t box, const size_t offset[3], const size_t global[3],
                                const size_t local[3]);
BN_CHECKED bn_status bn_enqueue_after(bn_kernel *, size_t box, const size_t offset[3], const size_t global[3],
                                      const size_t local[3], cl_uint waits, const cl_event *wait, cl_event *done);
BN_CHECKED bn_status bn_set_arg(bn_kernel *, size_t box, cl_uint index, size_t bytes, const void *value);

/* table.c: the planes of a cut table that a member has, [first, end). */
void bn_device_array_planes(const bn_device_array *, size_t member, size_t *first, size_t *end);

/* travel.c: work-items of a launch on each device, and the member's buffer. */
size_t bn_migrating_particles_capacity(const bn_migrating_particles *);
const bn_buffer *bn_migrating_particles_buffer(const bn_migrating_particles *, size_t member);
bn_domain *bn_migrating_particles_domain(const bn_migrating_particles *);

/* snapshot.c */
void bn_staging_free_all(bn_domain *);

/* field.c: between doubles and the domain's precision; widened in place, where what is there fills the beginning. */
void bn_reals_narrow(const bn_domain *, const double *from, void *to, size_t count);
void bn_reals_widen(const bn_domain *, double *values, size_t count);

/* transfer.c: moves components [first, first + count) between host memory in C order and the boxes' own cells. */
BN_CHECKED bn_status bn_field_transfer(bn_field *, int first, int count, const bn_region *, void *values, bool write,
                                       bool wait);
/* Bytes of an element as transfers see it: interleaved components are one component of longer elements. */
size_t bn_field_unit(const bn_field *, int *first, int *count);
/* What a box has of a region; false: nothing. */
bool bn_box_common(const bn_box *, const bn_region *, bn_region *out);
/* Cells in the buffer of one of a field's boxes, which may lie in its halo, for calls that copy rectangles: elements of
 * eb bytes, from the cell `first` of the grid on. */
typedef struct bn_rect {
    const bn_box *box;
    bn_buffer *buffer;
    size_t at[3], row, slice; /* bytes, rows, layers; bytes from row to row, from layer to layer */
} bn_rect;
bn_rect bn_rect_of(const bn_field *, size_t box, int component, const uint32_t first[3], size_t eb);
/* The same from a place that is counted from the box's first cell. */
bn_rect bn_rect_in(const bn_field *, size_t box, int component, const long first[3], size_t eb);
/* Begins to read all components of a region of one box, which may reach into its halo. */
BN_CHECKED bn_status bn_field_enqueue_box(bn_field *, size_t box, const bn_region *, void *values);
/* domain.c: hands all that was enqueued to the devices, and waits for what was launched. */
BN_CHECKED bn_status bn_flush_all(bn_domain *, const char *what);
BN_CHECKED bn_status bn_wait_for_launches(bn_domain *, const char *what);
/* What is enqueued from now on begins when all devices of the domain here have done what was enqueued before. The host
 * waits only where events of one can't hold up another, or where other ranks have a part. */
BN_CHECKED bn_status bn_queues_meet(bn_domain *, const char *what);
/* Waits for all queues of the domain's devices, messages included. */
BN_CHECKED bn_status bn_finish_all(bn_domain *, const char *what);

#endif
