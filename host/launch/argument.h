/* argument.h: kinds of launch arguments. Each kind is one table of functions, in the file that knows its objects; the
 * launch knows the tables' functions alone. */
#ifndef BN_HOST_ARGUMENT_H
#define BN_HOST_ARGUMENT_H

#include "api/launch.h"
#include "comm/allreduce.h"
#include "grid/enqueue.h"
#include "grid/field.h"

/* A part of a box, in its own cells, or of its halo. */
typedef struct bn_part {
    long first[3];
    size_t n[3];
} bn_part;

enum { BN_PARTS_MAX = 6 };

/* A launch on its way. */
typedef struct bn_launching {
    bn_kernel *kernel;
    bn_domain *domain;
    const bn_arg *args;
    size_t count;
    /* What arguments declare: */
    size_t items;          /* work-items on each device, in range BN_PER_PARTICLE */
    const bn_arg *divides; /* the argument whose kind divides boxes into parts */
    double covered;        /* cells of the grid that are not left out; 0: all of them */
    bool begins;           /* an allreduce that goes on beside the launch */
    size_t requests;       /* fields whose halos are received while the kernel runs */
    bool needed;           /* it reads some of them */
    bn_domain *received;   /* their domain: a message belongs to the boxes of one */
    /* What one allreduce brings up to date before the kernel runs: */
    bn_partials *partials[BN_ALLREDUCE_MOST];
    bn_scalars *scalars[BN_ALLREDUCE_MOST];
    size_t partial_count, scalar_count;
} bn_launching;

/* Functions that are NULL have nothing to do. They are called in this order. */
struct bn_argument_kind {
    /* The domain that the object belongs to; NULL: the argument is a value. It must be the kernel's, unless it is one
     * of another grid in the same boxes. */
    bn_domain *(*owner)(const bn_arg *);
    bool field, reads, writes; /* the object is a field; the kernel reads, writes its cells */
    bool other_grid, everywhere;
    bool later; /* a later launch reads the halo */
    void (*declare)(bn_launching *, const bn_arg *);
    bn_status (*check)(const bn_launching *, const bn_arg *);
    bn_status (*collect)(bn_launching *,
                         const bn_arg *); /* for the allreduce; called where there are several devices */
    bn_status (*prepare)(bn_launching *, const bn_arg *);
    /* NULL: it is no argument of the kernel, and stands behind all that are. */
    bn_status (*set)(const bn_launching *, const bn_arg *, size_t box, cl_uint index);
    /* Gives the parts of a box that are launched one after the other. */
    size_t (*divide)(const bn_launching *, size_t box, bn_part parts[BN_PARTS_MAX]);
    /* Called when all parts are launched but the last one, if there are several: that runs beside what is done here. */
    bn_status (*outer_launched)(const bn_launching *, size_t box);
    bn_status (*after)(const bn_launching *, const bn_arg *);
};

/* Functions that several kinds have in common. */
bn_domain *bn_argument_field_owner(const bn_arg *);
bn_domain *bn_argument_array_owner(const bn_arg *);
bn_status bn_argument_set_field(const bn_launching *, const bn_arg *, size_t box, cl_uint index);
bn_status bn_argument_field_changed(const bn_launching *, const bn_arg *);
/* Sets the copy of the device that a box lies on. */
bn_status bn_argument_set_copy(const bn_launching *, size_t box, cl_uint index, bn_buffer *const *copies);
/* All cells of a box. */
bn_part bn_whole_box(const bn_domain *, size_t box);
/* Whether a launch on the box takes long enough to hide a transfer behind a part of it. */
bool bn_worth_splitting(const bn_kernel *, size_t box);

#endif
