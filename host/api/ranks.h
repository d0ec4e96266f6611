/* ranks.h: the processes of a job that mpirun or srun started, as the rest of the program sees them. */
#ifndef BN_API_RANKS_H
#define BN_API_RANKS_H

#include "binnacle/context.h"

/* If mpirun or srun started this process with others: joins them, once per process. From then on all of them create the
 * same domains and fields and make the same calls on them, each computing its own boxes. BN_USAGE when MPI can't be
 * loaded. */
BN_CHECKED bn_status bn_context_join(bn_context *);
int bn_context_rank(const bn_context *);  /* 0 alone */
int bn_context_ranks(const bn_context *); /* 1 alone */
/* The largest of every value over all ranks, to all of them; for what ranks may see differently (clocks, signals). */
void bn_context_agree(bn_context *, double *values, size_t count);
/* The text of every rank, in their order, to all of them; bn_texts_free releases them. */
BN_CHECKED bn_status bn_context_collect(bn_context *, const char *mine, char ***texts);
void bn_texts_free(bn_context *, char ***texts); /* accepts a pointer to NULL */
/* Says that `count` processes of this machine compile and compute at the same time, and that this is number `index` of
 * them. Caches that drivers can't share are then kept apart. Before devices are listed; ranks of MPI know it already.
 */
void bn_context_share_machine(bn_context *, int index, int count);
/* Ends this rank's part. A code other than 0 ends the whole job at once, with that code. */
void bn_context_leave(bn_context *, int code);
/* The file of the library that knows MPI; false where there is none or it can't be loaded. */
bool bn_context_library(char *name, size_t room);

#endif
