/* checkpoint.h: the whole state of a simulation in a folder, from which a run goes on with the bits of one that was
 * never stopped, cut into as many boxes as one likes.
 *
 * The folder holds parts (HDF5: blocks of the fields, and the numbers beside them) and a manifest that tells which
 * block of which field lies where and what the SHA-256 of every part is. The manifest is written last, its last line is
 * its own SHA-256, and the one before stays beside it with its parts: whenever the power goes, one of them is whole.
 * Several writers need no more than parts of their own and one of them to write the manifest when all are through. */
#ifndef BN_CHECKPOINT_H
#define BN_CHECKPOINT_H

#include "sim/checkpoint_state.h"

#define BN_MANIFEST "manifest.json"
#define BN_MANIFEST_BEFORE "manifest-before.json"

/* ---- writing ---- */

typedef struct bn_checkpoint_writer bn_checkpoint_writer;

/* Takes the numbers and begins to copy the fields; steps may go on. `part_bytes`: of fields in one part; 0: 128 MiB.
 * All ranks call it. */
BN_CHECKED bn_status bn_checkpoint_writer_begin(bn_sim *, const char *folder, size_t part_bytes, bn_checkpoint_writer **out);
/* For what the caller wants to find again. */
bn_checkpoint_state *bn_checkpoint_writer_state(bn_checkpoint_writer *);
/* Writes everything; alone on any thread, with a context of its own. Removes what neither this checkpoint nor the one
 * before needs. Where ranks have parts of the fields all call it, on the thread that steps. */
BN_CHECKED bn_status bn_checkpoint_writer_write(bn_context *, bn_checkpoint_writer *);
/* The same in steps, for ranks that go on meanwhile: each writes its own parts (any thread); when all have done that
 * they tell each other what they have written (all of them, the thread that steps), and the first writes the manifest
 * (any thread). */
bool bn_checkpoint_writer_in_parts(const bn_checkpoint_writer *);
BN_CHECKED bn_status bn_checkpoint_writer_write_parts(bn_context *, bn_checkpoint_writer *);
BN_CHECKED bn_status bn_checkpoint_writer_gather(bn_context *, bn_checkpoint_writer *);
BN_CHECKED bn_status bn_checkpoint_writer_finish(bn_context *, bn_checkpoint_writer *);
void bn_checkpoint_writer_release(bn_checkpoint_writer **);

/* Removes a folder's checkpoints, and the folder if it is empty then. What can't be removed is logged. */
void bn_checkpoint_remove(bn_context *, const char *folder);

/* ---- reading ---- */

typedef struct bn_checkpoint bn_checkpoint;

/* `path`: a manifest, a folder that holds one, or one whose folder "checkpoint" does. With a folder the manifest before
 * is taken, and said, if the newest or a part of it is damaged. Everything is checked before anything is used. BN_IO
 * says what is damaged. */
BN_CHECKED bn_status bn_checkpoint_open(bn_context *, const char *path, bn_checkpoint **out);
void bn_checkpoint_close(bn_checkpoint **);
/* Whether a folder, or its folder "checkpoint", holds a manifest at all. */
bool bn_checkpoint_exists(const char *folder);
const char *bn_checkpoint_path(const bn_checkpoint *); /* of its manifest */
bn_checkpoint_state *bn_checkpoint_state_of(bn_checkpoint *);      /* restores */

/* The box [low, high) of a field, all its components, in the order of bn_field_read, from whatever parts hold it. */
BN_CHECKED bn_status bn_checkpoint_box(bn_checkpoint *, const char *field, const uint32_t low[3],
                                       const uint32_t high[3], void *values, size_t bytes);

/* Into a simulation that has made no step. BN_CASE, and the key, when the checkpoint belongs to another case (but for
 * [output], [stop], the title and case.balance). */
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

/* A manifest that has been read and whose own sum is right; the parts have not been looked at. */
typedef struct bn_manifest {
    struct json_t *json;
    long long number; /* of the checkpoint: counts up in its folder */
    bn_manifest_part *parts;
    size_t part_count;
} bn_manifest;
BN_CHECKED bn_status bn_manifest_read(bn_context *, const char *path, bn_manifest *out);
void bn_manifest_release(bn_manifest *);

#endif
