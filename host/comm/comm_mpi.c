/* comm_mpi.c: the ranks of a job through MPI. Built as a library of its own, so that the program itself neither needs
 * MPI nor waits for it to load. MPI's own handler ends the job when a call fails, and tells the call. */
#include "device/comm.h"

#include <mpi.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MPI counts in int. */
enum { LARGEST = 1 << 30, WAITING = 4096 };

static MPI_Request waiting[WAITING];
static int waiting_count;

static const char *version(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = '\0';
    return text;
}

static void place(int *rank, int *ranks, int *local_rank, int *local_ranks)
{
    MPI_Comm node;
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, *rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, local_rank);
    MPI_Comm_size(node, local_ranks);
    MPI_Comm_free(&node);
}

static void wait_for_all(void)
{
    MPI_Waitall(waiting_count, waiting, MPI_STATUSES_IGNORE);
    waiting_count = 0;
}

/* Long messages go in parts, which arrive in order. */
static void begin(const bn_message *m, int is_send)
{
    for (size_t at = 0; at < m->bytes; at += LARGEST) {
        const int part = (int)(m->bytes - at < LARGEST ? m->bytes - at : LARGEST);
        char *data = (char *)m->data + at;
        if (waiting_count == WAITING) { /* more than any cut has neighbours: better slow than wrong */
            fprintf(stderr, "binnacle: more than %d messages at once\n", (int)WAITING);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        MPI_Request *r = &waiting[waiting_count++];
        if (is_send)
            MPI_Isend(data, part, MPI_BYTE, m->peer, m->tag, MPI_COMM_WORLD, r);
        else
            MPI_Irecv(data, part, MPI_BYTE, m->peer, m->tag, MPI_COMM_WORLD, r);
    }
}

static void send_message(const bn_message *m) { begin(m, 1); }
static void receive_message(const bn_message *m) { begin(m, 0); }

static void broadcast(int root, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += LARGEST)
        MPI_Bcast((char *)data + at, (int)(bytes - at < LARGEST ? bytes - at : LARGEST), MPI_BYTE, root,
                  MPI_COMM_WORLD);
}

static void all_sum(int64_t *values, size_t count)
{
    for (size_t at = 0; at < count; at += LARGEST)
        MPI_Allreduce(MPI_IN_PLACE, values + at, (int)(count - at < LARGEST ? count - at : LARGEST), MPI_INT64_T,
                      MPI_SUM, MPI_COMM_WORLD);
}

static void all_max(double *values, size_t count)
{
    MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void gather(const void *mine, size_t bytes, void *all)
{
    MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void abort_job(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

static void finish(void)
{
    int done = 0;
    MPI_Finalized(&done);
    if (!done)
        MPI_Finalize();
}

BN_INTERFACE_BEGIN
const bn_comm_ops *bn_comm_ops_of_library(void);
BN_INTERFACE_END
const bn_comm_ops *bn_comm_ops_of_library(void)
{
    static const bn_comm_ops ops = { version, place,   receive_message, send_message, wait_for_all, broadcast,
                                     all_sum, all_max, gather,          abort_job,    finish };
    int done = 0;
    MPI_Initialized(&done);
    if (!done) {
        int level;
        /* Only the thread that steps sends; the one that writes files does not. */
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    }
    return &ops;
}
