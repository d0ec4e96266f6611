/* checkpoint_part.h: a part of a checkpoint: an HDF5 file of plain datasets, up to five dimensions, read back box by
 * box. */
#ifndef BN_CHECKPOINT_PART_H
#define BN_CHECKPOINT_PART_H

#include "binnacle/context.h"
#include "io/sha256.h"

#include <stdint.h>

enum { BN_PART_DIMS = 5 };
typedef enum bn_part_type { BN_PART_F32, BN_PART_F64, BN_PART_I32, BN_PART_I64, BN_PART_U8 } bn_part_type;

/* A dataset: the last dimension is the fastest. `name` is its path in the file; groups on the way are made. */
typedef struct bn_part_block {
    const char *name;
    bn_part_type type;
    uint64_t n[BN_PART_DIMS];
    const void *values;
} bn_part_block;

/* What the finished file is. */
typedef struct bn_part_sum {
    unsigned long long bytes;
    char sha256[BN_SHA256_TEXT];
} bn_part_sum;

size_t bn_part_bytes(bn_part_type); /* of one value */

/* Memory for files being made, reused from one to the next: new pages cost more than copying into them. */
typedef struct bn_part_room {
    void *data;
    size_t bytes;
} bn_part_room;
void bn_part_room_free(bn_part_room *);

/* The file is made in memory (as much again as the blocks take), then written under a temporary name, synced and
 * renamed: a full disk fails in our own calls, whose status is checked. The same blocks give the same bytes. */
BN_CHECKED bn_status bn_part_write(bn_context *, const char *path, const bn_part_block *, size_t count, bn_part_room *,
                                   bn_part_sum *);

/* BN_IO unless the file has that size and that SHA-256. Only files that passed are given to HDF5, whose reader is no
 * match for damaged ones. */
BN_CHECKED bn_status bn_part_check(bn_context *, const char *path, const bn_part_sum *);

/* Copies the box of `size` values at `from` of a dataset into the array `values` of size `room`, at `to`. BN_IO when
 * there is no such dataset of that type. */
typedef struct bn_part_box {
    uint64_t from[BN_PART_DIMS], size[BN_PART_DIMS], room[BN_PART_DIMS], to[BN_PART_DIMS];
} bn_part_box;
BN_CHECKED bn_status bn_part_read(bn_context *, const char *path, const char *name, bn_part_type, const bn_part_box *,
                                  void *values);

#endif
