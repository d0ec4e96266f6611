/* grid.h: what domains and fields consist of: boxes, their layout in memory, and the devices that they lie on. */
#ifndef BN_HOST_GRID_H
#define BN_HOST_GRID_H

#include "api/field.h"
#include "api/program.h"
#include "device/buffer.h"

/* So many partial sums every work-group may add up by itself; if there are more, BN_PACKED at a time are added first.
 */
enum { BN_TOTALS_MAX = 2048, BN_PACKED = 256 };

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
    size_t local;      /* that device's local index in its group */
    int rank;
    bool remote[3][2]; /* a box on another device lies that way: along x, y, z, towards lower and higher indices */
} bn_box;

typedef struct bn_box_shape {
    uint32_t n[3];
    bn_layout layout;
} bn_box_shape;

struct bn_domain {
    bn_context *ctx;
    unsigned long long number; /* of this process's domains, from 1 on: addresses come again */
    bn_device *device;         /* of the first box here; NULL: reference */
    bn_domain_desc desc;
    /* Boxes lie on several devices, perhaps of several ranks. What is no field has a copy on each of them. A domain of
     * one box is whole on every rank instead, and every rank computes all of it. */
    bool distributed;
    size_t local_count; /* devices of this rank */
    size_t *first_box;  /* on each of them */
    int max_radius;     /* of a stencil: the halo, or the thickness of the thinnest box */
    int lattice[3];     /* boxes along x, y, z */
    uint32_t *cuts[3];  /* lattice + 1 along each: where boxes begin, and the end */
    /* Boxes of a transposed domain, with points in common along x (transpose.h). Lattice and cuts are those of the
     * other domain: cuts[1] tells which points along x each box has for its own. */
    bool overlaps;
    bool coarsened; /* cuts are those of a finer domain, not between reduction blocks */
    bn_box *boxes;
    size_t box_count;
    bn_box_shape *shapes;
    size_t shape_count;
    struct bn_domain_sums {
        uint32_t blocks_x; /* reduction blocks in a row of the whole grid */
        size_t partials;   /* blocks of the whole grid that have a partial sum each */
        size_t totals;     /* values that a total is formed from: the partial sums, or packs of them */
    } sums;
    uint32_t tile_layers; /* of a tile of range BN_PER_TILE, on average */
    int index_bits;
    bn_buffer *buffers;   /* all of them, for the canaries */
    bn_program *programs; /* all of them, for the profile */
    bn_domain *main;      /* the domain that it is auxiliary to; NULL: none, or that one is gone */
    bn_domain *auxiliaries, *next_auxiliary;
    bn_build_stats build;
    unsigned unflushed;      /* launches since the last clFlush */
    bn_attachment *attached; /* by other files: destroyed with the domain */
};

struct bn_field {
    bn_domain *domain;
    bn_field_desc desc; /* name and unit are own copies */
    size_t element_bytes;
    bn_buffer **buffers; /* one per box, NULL for a box of another rank; all NULL for the reference */
    void *host;          /* reference only */
    void *under_way;     /* pinned memory from which all devices will be written (bn_field_copy_columns_begin) */
    /* How many cells of the halo hold the neighbours' present values: */
    struct bn_valid_halo {
        int all;       /* on all sides */
        int unwrapped; /* except across a periodic side that no cut divides */
        int side[2];   /* on the sides of lower, of higher indices alone */
    } valid;
};

#endif
