/* comm.h: the processes of a job (ranks), seen from the runtime. comm.c knows whether there are any; comm_mpi.c, a
 * library of its own that is loaded when a job was started by mpirun or srun, is the only file that knows MPI. */
#ifndef BN_HOST_COMM_H
#define BN_HOST_COMM_H

#include "binnacle/context.h"
#include <stdint.h>

/* A piece of memory on its way to or from a peer. Messages between two ranks are told apart by their tag. */
typedef struct bn_message {
    int peer, tag;
    void *data;
    size_t bytes;
} bn_message;

/* What a library of messages offers. Errors of the library end the job. All calls but `send`, `receive` and `wait` are
 * made by all ranks in the same order. */
typedef struct bn_comm_ops {
    const char *(*version)(void);
    void (*place)(int *rank, int *ranks, int *local_rank, int *local_ranks);
    void (*receive)(const bn_message *); /* begins; until `wait` */
    void (*send)(const bn_message *);    /* begins; until `wait` */
    void (*wait)(void);                  /* for all that was begun */
    void (*broadcast)(int root, void *data, size_t bytes);
    void (*all_sum)(int64_t *values, size_t count); /* exact, hence the same whatever the order */
    void (*all_max)(double *values, size_t count);
    void (*gather)(const void *mine, size_t bytes, void *all); /* the same size from each, in rank order, to everyone */
    void (*abort)(int code);
    void (*finish)(void);
} bn_comm_ops;

/* The name under which the library offers them. */
typedef const bn_comm_ops *bn_comm_entry(void);
#define BN_COMM_ENTRY "bn_comm_ops_of_library"

/* One rank of how many; ops is NULL if it is the only one. */
typedef struct bn_comm {
    const bn_comm_ops *ops;
    int rank, ranks, local_rank, local_ranks; /* local: among those of this machine */
} bn_comm;

#endif
