/* writer.h: threads that write files while the next steps run. The first failure stops the queue and is reported by the
 * next call. */
#ifndef BN_WRITER_H
#define BN_WRITER_H

#include "binnacle/context.h"

typedef struct bn_writer bn_writer;

/* A job: `run` is called on a thread of the writer with a context of its own for errors; `release` frees `data`
 * afterwards, also when the job was never run. Jobs are done one by one, each after all that were submitted before it;
 * one that stands `apart` is done at any time beside others. bytes: memory that it holds until its release; 0: none, or
 * what a job of more bytes holds that is submitted behind it. */
typedef struct bn_job {
    bn_status (*run)(bn_context *, void *data);
    void (*release)(void *data);
    void *data;
    bool apart;
    size_t bytes;
} bn_job;

/* A thread for each processor but one. `bytes`: what jobs that are not done may hold together before submit blocks; one
 * job of any size is always taken. 0: no thread, jobs run inside submit. */
BN_CHECKED bn_status bn_writer_create(bn_context *, size_t bytes, bn_writer **out);
/* The same with so many threads. */
BN_CHECKED bn_status bn_writer_create_threads(bn_context *, size_t bytes, size_t threads, bn_writer **out);
/* Takes the job over in every case (also on failure). */
BN_CHECKED bn_status bn_writer_submit(bn_writer *, const bn_job *);
/* Waits until all jobs are done; reports the first failure into the creator's context. */
BN_CHECKED bn_status bn_writer_drain(bn_writer *);
/* For how long submit has blocked so far [s]. */
double bn_writer_waited(bn_writer *);
void bn_writer_destroy(bn_writer **); /* drains first, failure logged */

#endif
