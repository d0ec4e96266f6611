/* writer.h: one thread that writes files while the next steps run. Jobs are done in order; the first failure stops the
 * queue and is reported by the next call. */
#ifndef BN_WRITER_H
#define BN_WRITER_H

#include "binnacle/context.h"

typedef struct bn_writer bn_writer;

/* A job: `run` is called on the writer's thread with a context of its own for errors; `release` frees `data`
 * afterwards, also when the job was never run. */
typedef struct bn_job {
    bn_status (*run)(bn_context *, void *data);
    void (*release)(void *data);
    void *data;
} bn_job;

/* `depth`: jobs that may wait before submit blocks (bounds the memory); 0: no thread, jobs run inside submit. */
BN_CHECKED bn_status bn_writer_create(bn_context *, size_t depth, bn_writer **out);
/* Takes the job over in every case (also on failure). */
BN_CHECKED bn_status bn_writer_submit(bn_writer *, const bn_job *);
/* Waits until all jobs are done; reports the first failure into the creator's context. */
BN_CHECKED bn_status bn_writer_drain(bn_writer *);
void bn_writer_destroy(bn_writer **); /* drains first, failure logged */

#endif
