/* checkpoint.h: the fields of a simulation's state in one file, from which a run goes on with the bits of one that was
 * never stopped. Only for solvers that say so (bn_solver.resumes). */
#ifndef BN_CHECKPOINT_H
#define BN_CHECKPOINT_H

#include "sim/solver.h"

/* Written aside and renamed. */
BN_CHECKED bn_status bn_checkpoint_write(bn_sim *, const char *path);
/* Into a simulation that has made no step. BN_CASE when the checkpoint belongs to another case (but for [output],
 * [stop] and titles), BN_IO when it is damaged. */
BN_CHECKED bn_status bn_checkpoint_read(bn_sim *, const char *path);

#endif
