/* writer.c: a queue of jobs and the threads that run them. The lock guards everything in bn_writer but the contexts: a
 * thread uses its own while it runs a job, others use that of the failed job only under the lock once `status` is set;
 * it is not used for jobs any more. */
#include "io/writer.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 16 };

typedef struct waiting_job {
    struct waiting_job *next;
    bn_job job;
    unsigned long long number;
} waiting_job;

typedef struct writer_thread {
    struct bn_writer *writer;
    bn_context *errors; /* its jobs' own */
    pthread_t thread;
    unsigned long long number; /* of the job that it runs; 0: none */
} writer_thread;

struct bn_writer {
    bn_context *ctx; /* the creator's: used on the creator's thread only */
    writer_thread threads[MOST_THREADS];
    size_t wanted, started;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a job came, was done, or the end was asked for */
    bool ending, reported;
    bn_status status; /* of the first job that failed; later jobs are not run */
    bn_context *failed;
    waiting_job *first, **last;
    unsigned long long submitted;
    size_t limit, held; /* bytes of jobs that are not done */
    double waited;
};

static double now(void)
{
    struct timespec t = { 0, 0 };
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether its memory has to wait for that of others. */
static bool too_much(const bn_writer *w, const bn_job *job)
{
    return job->bytes > 0 && w->held > 0 && w->held + job->bytes > w->limit;
}

/* The place in the queue of a job that may begin, NULL: none. Of the jobs that keep their order only the first in the
 * queue, after all that were submitted before it. */
static waiting_job **find_job(bn_writer *w)
{
    waiting_job **at = &w->first;
    if (!*at)
        return NULL;
    bool begins = true;
    for (size_t t = 0; t < w->started; t++)
        begins = begins && (w->threads[t].number == 0 || w->threads[t].number > (*at)->number);
    if (!begins)
        while (*at && !(*at)->job.apart)
            at = &(*at)->next;
    return *at ? at : NULL;
}

static bool busy(const bn_writer *w)
{
    bool any = w->first != NULL;
    for (size_t t = 0; t < w->started; t++)
        any = any || w->threads[t].number > 0;
    return any;
}

static bn_status job_run(bn_context *errors, const bn_job *job, bool failed)
{
    const bn_status st = failed ? BN_OK : job->run(errors, job->data);
    if (job->release)
        job->release(job->data);
    return st;
}

static void note_status(bn_writer *w, bn_status st, bn_context *errors)
{
    if (st == BN_OK || w->status != BN_OK)
        return;
    w->status = st;
    w->failed = errors;
}

/* A thread: takes a job, does it without the lock, until the end is asked for and nothing waits. */
static void *writer_loop(void *data)
{
    writer_thread *own = data;
    bn_writer *w = own->writer;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        waiting_job **at = find_job(w);
        if (!at && !w->first && w->ending)
            break;
        if (!at) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        waiting_job *j = *at;
        *at = j->next;
        if (!j->next)
            w->last = at;
        own->number = j->number;
        const bool failed = w->status != BN_OK;
        pthread_cond_broadcast(&w->changed); /* the next one may stand apart */
        pthread_mutex_unlock(&w->lock);
        const bn_status st = job_run(own->errors, &j->job, failed);
        pthread_mutex_lock(&w->lock);
        note_status(w, st, own->errors);
        w->held -= j->job.bytes;
        own->number = 0;
        free(j);
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Starts the threads with every signal blocked: signals belong to the main thread. 0 or the error. */
static int start_threads(bn_writer *w)
{
    sigset_t all, previous;
    sigfillset(&all);
    int error = pthread_sigmask(SIG_SETMASK, &all, &previous);
    if (error)
        return error;
    pthread_mutex_lock(&w->lock); /* threads that run look at how many there are */
    for (; !error && w->started < w->wanted; w->started += !error)
        error = pthread_create(&w->threads[w->started].thread, NULL, writer_loop, &w->threads[w->started]);
    if (w->started > 0)
        error = 0; /* fewer than wanted */
    pthread_mutex_unlock(&w->lock);
    const int restored = pthread_sigmask(SIG_SETMASK, &previous, NULL);
    return error ? error : restored;
}

bn_status bn_writer_create_threads(bn_context *ctx, size_t bytes, size_t threads, bn_writer **out)
{
    *out = NULL;
    bn_writer *w = calloc(1, sizeof *w);
    if (!w)
        return bn_fail(ctx, BN_MEMORY, "cannot start the writer: out of memory");
    w->ctx = ctx;
    w->limit = bytes;
    w->last = &w->first;
    w->wanted = threads < MOST_THREADS ? threads : MOST_THREADS;
    int error = pthread_mutex_init(&w->lock, NULL);
    if (error) {
        free(w);
        return bn_fail(ctx, BN_MEMORY, "cannot start the writer: %s", strerror(error));
    }
    error = pthread_cond_init(&w->changed, NULL);
    if (error) {
        pthread_mutex_destroy(&w->lock);
        free(w);
        return bn_fail(ctx, BN_MEMORY, "cannot start the writer: %s", strerror(error));
    }
    bn_status st = BN_OK;
    for (size_t t = 0; t < w->wanted || t < 1; t++) { /* without threads the first context is of the jobs in submit */
        w->threads[t].writer = w;
        st = bn_context_create(NULL, &w->threads[t].errors);
        if (st != BN_OK) {
            bn_fail(ctx, st, "cannot start the writer: no context for its errors");
            goto out;
        }
    }
    if (w->wanted > 0) {
        error = start_threads(w);
        if (error)
            BN_GO(bn_fail(ctx, BN_MEMORY, "cannot start the writer's thread: %s; allow more threads (ulimit -u)",
                          strerror(error)));
    }
    *out = w;
    w = NULL;
out:
    bn_writer_destroy(&w);
    return st;
}

bn_status bn_writer_create(bn_context *ctx, size_t bytes, bn_writer **out)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return bn_writer_create_threads(ctx, bytes, bytes == 0 ? 0 : processors > 2 ? (size_t)processors - 1 : 1, out);
}

/* Hands the jobs' first failure to the creator. Called with the lock held. */
static bn_status report(bn_writer *w)
{
    if (w->status == BN_OK)
        return BN_OK;
    w->reported = true;
    const char *text = bn_error_text(w->failed);
    return bn_fail(w->ctx, w->status, "%s", text[0] ? text : bn_status_text(w->status));
}

bn_status bn_writer_submit(bn_writer *w, const bn_job *job)
{
    waiting_job *next = w->started > 0 ? malloc(sizeof *next) : NULL;
    bn_status st;
    pthread_mutex_lock(&w->lock);
    const double start = now();
    const bool waits = next && too_much(w, job);
    while (next && w->status == BN_OK && too_much(w, job))
        pthread_cond_wait(&w->changed, &w->lock);
    w->waited += waits ? now() - start : 0;
    if (next && w->status == BN_OK) {
        *next = (waiting_job){ NULL, *job, ++w->submitted };
        *w->last = next;
        w->last = &next->next;
        w->held += job->bytes;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
        return BN_OK;
    }
    if (w->started > 0 && w->status == BN_OK) {
        pthread_mutex_unlock(&w->lock);
        (void)job_run(NULL, job, true);
        return bn_fail(w->ctx, BN_MEMORY, "no memory for a job of the writer");
    }
    free(next); /* no thread, or a dead queue: then the job is released only */
    note_status(w, job_run(w->threads[0].errors, job, w->status != BN_OK), w->threads[0].errors);
    st = report(w);
    pthread_mutex_unlock(&w->lock);
    return st;
}

bn_status bn_writer_drain(bn_writer *w)
{
    pthread_mutex_lock(&w->lock);
    while (busy(w))
        pthread_cond_wait(&w->changed, &w->lock);
    const bn_status st = report(w);
    pthread_mutex_unlock(&w->lock);
    return st;
}

double bn_writer_waited(bn_writer *w)
{
    pthread_mutex_lock(&w->lock);
    const double waited = w->waited;
    pthread_mutex_unlock(&w->lock);
    return waited;
}

void bn_writer_destroy(bn_writer **writer)
{
    bn_writer *w = *writer;
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    for (size_t t = 0; t < w->started; t++) {
        const int error = pthread_join(w->threads[t].thread, NULL);
        if (error)
            bn_log(w->ctx, BN_LOG_WARNING, "cannot wait for the writer's thread: %s", strerror(error));
    }
    if (w->status != BN_OK && !w->reported)
        bn_log(w->ctx, BN_LOG_WARNING, "a file could not be written: %s", bn_error_text(w->failed));
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    for (size_t t = 0; t < MOST_THREADS; t++)
        bn_context_destroy(&w->threads[t].errors);
    free(w);
    *writer = NULL;
}
