/* frame.h: the files of one output time. Fields are copied to pinned memory behind the steps launched so far; a job
 * waits for the copies, converts, draws and writes while the stepping thread goes on. Where ranks have parts of the
 * fields, the job of each writes its own parts to pieces, and what there is one of (pictures, TIFF, layers) is brought
 * together before, on the stepping thread; the list of the pieces is written when all ranks have written theirs. */
#ifndef BN_FRAME_H
#define BN_FRAME_H

#include "io/writer.h"
#include "output/output_dir.h"
#include "output/mesh_output.h"
#include "sim/sim_parts.h"

typedef struct bn_frame bn_frame;

typedef struct bn_frame_desc {
    bn_context *ctx;
    bn_sim *sim;
    bn_output_dir *folder;
    bool leads; /* writes what there is one of */
    bool vtk, tiff, hdf5, pictures, layered;
    bool animation;    /* pictures keep their values, to be drawn anew with the scale of all of them */
    bn_mesh_output *layers; /* NULL: none, or it does not lead */
} bn_frame_desc;

/* Whether ranks write pieces. */
bool bn_frame_in_pieces(const bn_frame_desc *);

/* Names files, brings together what has to be, begins to copy the rest. Of the present step. */
BN_CHECKED bn_status bn_frame_create(const bn_frame_desc *, bn_frame **out);
void bn_frame_release(bn_frame *); /* accepts NULL */

/* "fields/NAME-000120.vti", relative to the folder, of what stands in fields.pvd. */
void bn_frame_file(const bn_frame_desc *, char *name, size_t room);
/* A picture's path, "pictures/NAME-000120.png": fresh memory. */
BN_CHECKED bn_status bn_frame_picture(bn_output_dir *, char **path, const char *name, unsigned long long step);

/* What a job does on each rank; without pieces that is all. */
BN_CHECKED bn_status bn_frame_write(bn_context *, bn_frame *);
/* On the leading rank, when all have done that: what names the pieces. */
BN_CHECKED bn_status bn_frame_list_pieces(bn_context *, const bn_frame *);

#endif
