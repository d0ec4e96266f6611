/* frame.h: the files of one output time. Fields are copied to pinned memory behind the steps launched so far; a job on
 * the writer's thread waits for the copies, converts, draws and writes while the stepping thread continues. Where ranks
 * have parts of the fields, the job of each writes its own parts to pieces; the stepping thread writes pictures, TIFF
 * and meshes before. The list of the pieces is written when all ranks have written theirs. */
#ifndef BN_FRAME_H
#define BN_FRAME_H

#include "io/writer.h"
#include "output/output_dir.h"
#include "output/mesh_output.h"
#include "output/postponed.h"
#include "sim/sim_parts.h"

typedef struct bn_frame bn_frame;

typedef struct bn_frame_desc {
    bn_context *ctx;
    bn_sim *sim;
    bn_output_dir *folder;
    bool leads; /* this rank writes the files that are not in pieces */
    bool vtk, tiff, hdf5, pictures, layered;
    bool animation;          /* pictures keep their values, to be drawn again with one scale */
    bn_postponed *postponed; /* takes pictures that are to be drawn later (postponed.h); NULL: there are none */
    bn_mesh_output *mesh;    /* NULL: none, or it does not lead */
} bn_frame_desc;

/* Whether ranks write pieces. */
bool bn_frame_in_pieces(const bn_frame_desc *);

/* Of the current step: names files, writes what is not in pieces, begins to copy the fields. */
BN_CHECKED bn_status bn_frame_create(const bn_frame_desc *, bn_frame **out);
void bn_frame_release(bn_frame *); /* accepts NULL */

/* "fields/NAME-000120.vti", relative to the output directory, as fields.pvd lists it. */
bn_path bn_frame_file(const bn_frame_desc *, unsigned long long step);
/* A picture's path, "pictures/NAME-000120.png". */
bn_path bn_frame_picture(const bn_output_dir *, const char *name, unsigned long long step);

/* The job of each rank: its pieces; without pieces all that is not written apart. */
BN_CHECKED bn_status bn_frame_write(bn_context *, bn_frame *);
/* Files that threads may write beside each other: pictures, those of HDF5 and VTK. None with pieces. */
size_t bn_frame_apart(const bn_frame *);
BN_CHECKED bn_status bn_frame_write_apart(bn_context *, bn_frame *, size_t which);
/* Of its copies of fields in host memory. */
size_t bn_frame_bytes(const bn_frame *);
/* On the leading rank, when all have done that: the files that list the pieces. */
BN_CHECKED bn_status bn_frame_list_pieces(bn_context *, const bn_frame *);

#endif
