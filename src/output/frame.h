/* frame.h: the files of one output time. Fields are copied to pinned memory behind the steps launched so far; a job
 * waits for the copies, converts, draws and writes while the stepping thread goes on. Where ranks have parts of the
 * fields, the job of each writes its own parts to pieces, and what there is one of (pictures, TIFF, layers) is brought
 * together before, on the stepping thread; the list of the pieces is written when all ranks have written theirs. */
#ifndef BN_MOMENT_H
#define BN_MOMENT_H

#include "io/writer.h"
#include "output/output_dir.h"
#include "output/mesh_output.h"
#include "sim/sim_parts.h"

typedef struct bn_moment bn_moment;

typedef struct bn_moment_desc {
    bn_context *ctx;
    bn_sim *sim;
    bn_folder *folder;
    bool leads; /* writes what there is one of */
    bool vtk, tiff, hdf5, pictures, layered;
    bool animation;    /* pictures keep their values, to be drawn anew with the scale of all of them */
    bn_layers *layers; /* NULL: none, or it does not lead */
} bn_moment_desc;

/* Whether ranks write pieces. */
bool bn_moment_in_pieces(const bn_moment_desc *);

/* Names files, brings together what has to be, begins to copy the rest. Of the present step. */
BN_CHECKED bn_status bn_moment_create(const bn_moment_desc *, bn_moment **out);
void bn_moment_release(bn_moment *); /* accepts NULL */

/* "fields/NAME-000120.vti", relative to the folder, of what stands in fields.pvd. */
void bn_moment_file(const bn_moment_desc *, char *name, size_t room);
/* A picture's path, "pictures/NAME-000120.png": fresh memory. */
BN_CHECKED bn_status bn_moment_picture(bn_folder *, char **path, const char *name, unsigned long long step);

/* What a job does on each rank; without pieces that is all. */
BN_CHECKED bn_status bn_moment_write(bn_context *, bn_moment *);
/* On the leading rank, when all have done that: what names the pieces. */
BN_CHECKED bn_status bn_moment_list_pieces(bn_context *, const bn_moment *);

#endif
