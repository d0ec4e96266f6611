/* checkpoint.h: the whole state of a simulation in a folder. A run that restarts from it has the bits of one that was
 * never stopped, with any number of boxes. The folder holds parts (HDF5: blocks of the fields, and the numbers beside
 * them) and a manifest, which lists the block of each field in each part and the SHA-256 of every part. The manifest is
 * written last, its last line is its own SHA-256, and the previous one stays beside it with its parts: one of them is
 * complete even after a power failure. Several ranks write parts of their own; one of them writes the manifest when all
 * are done. */
#ifndef BN_CHECKPOINT_H
#define BN_CHECKPOINT_H

#include "sim/checkpoint_state.h"

#define BN_MANIFEST "manifest.json"
#define BN_MANIFEST_BEFORE "manifest-before.json"

/* ---- writing ---- */

typedef struct bn_checkpoint_writer bn_checkpoint_writer;

/* Stores the numbers and begins to copy the fields; steps may continue. `part_bytes`: of fields in one part; 0: 128
 * MiB. All ranks call it. */
BN_CHECKED bn_status bn_checkpoint_writer_begin(bn_sim *, const char *folder, size_t part_bytes,
                                                bn_checkpoint_writer **out);
/* For numbers of the caller. */
bn_checkpoint_state *bn_checkpoint_writer_state(bn_checkpoint_writer *);
/* Writes everything; on any thread, with a context of its own. Removes parts that neither this checkpoint nor the
 * previous one needs. Where ranks have parts of the fields, all call it on the stepping thread. */
BN_CHECKED bn_status bn_checkpoint_writer_write(bn_context *, bn_checkpoint_writer *);
/* The same for ranks that continue to step meanwhile: each writes its own parts (any thread); when all have done that,
 * they gather the lists of their parts (all ranks, stepping thread), and the first writes the manifest (any thread). */
bool bn_checkpoint_writer_in_parts(const bn_checkpoint_writer *);
BN_CHECKED bn_status bn_checkpoint_writer_write_parts(bn_context *, bn_checkpoint_writer *);
BN_CHECKED bn_status bn_checkpoint_writer_gather(bn_context *, bn_checkpoint_writer *);
BN_CHECKED bn_status bn_checkpoint_writer_finish(bn_context *, bn_checkpoint_writer *);
void bn_checkpoint_writer_release(bn_checkpoint_writer **);

/* Removes the checkpoints of a folder, and the folder if it is empty then. Files that can't be removed are logged. */
void bn_checkpoint_remove(bn_context *, const char *folder);

/* ---- reading ---- */

typedef struct bn_checkpoint bn_checkpoint;

/* `path`: a manifest, a folder that holds one, or one whose folder "checkpoint" does. With a folder, the previous
 * manifest is used, with a warning, if the newest or a part of it is damaged. Everything is checked before anything is
 * used. BN_IO names what is damaged. */
BN_CHECKED bn_status bn_checkpoint_open(bn_context *, const char *path, bn_checkpoint **out);
void bn_checkpoint_close(bn_checkpoint **);
/* Whether a folder, or its folder "checkpoint", holds a manifest at all. */
bool bn_checkpoint_exists(const char *folder);
const char *bn_checkpoint_path(const bn_checkpoint *);        /* of its manifest */
bn_checkpoint_state *bn_checkpoint_state_of(bn_checkpoint *); /* for reading */

/* Reads the box [low, high) of a field, all components, in the order of bn_field_read, from the parts that hold it. */
BN_CHECKED bn_status bn_checkpoint_box(bn_checkpoint *, const char *field, const uint32_t low[3],
                                       const uint32_t high[3], void *values, size_t bytes);

/* Restores a simulation that has made no step. BN_CASE names the key where the checkpoint belongs to another case;
 * [output], [stop], the title and case.balance may differ. */
BN_CHECKED bn_status bn_checkpoint_restore(bn_checkpoint *, bn_sim *);

/* ---- shared by both ---- */

typedef struct bn_manifest_part {
    char file[32];
    bn_part_sum sum;
} bn_manifest_part;

/* The layout of a field in C order: {planes, z, y, x, numbers of a point that lie together}. */
typedef struct bn_part_layout {
    bn_part_type type;
    uint64_t n[BN_PART_DIMS];
} bn_part_layout;
bn_part_layout bn_field_layout(const bn_plan *, const bn_field_desc *);

/* A manifest whose own hash is right; the parts are not yet checked. */
typedef struct bn_manifest {
    struct json_t *json;
    long long number; /* of the checkpoint: counts up within its folder */
    bn_manifest_part *parts;
    size_t part_count;
} bn_manifest;
BN_CHECKED bn_status bn_manifest_read(bn_context *, const char *path, bn_manifest *out);
void bn_manifest_release(bn_manifest *);

#endif
