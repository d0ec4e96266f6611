/* writer.c: a queue of jobs and the thread that runs them. The lock guards everything in bn_writer but the contexts:
 * the thread uses `errors` while it runs a job, others only under the lock once `status` is set, after which the thread
 * does not use it. */
#include "io/writer.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct bn_writer {
    bn_context *ctx;    /* the creator's: used on the creator's thread only */
    bn_context *errors; /* the jobs' own */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a job came, was done, or the end was asked for */
    bool threaded, ending, busy, reported;
    bn_status status; /* of the first job that failed; later jobs are not run */
    bn_job *jobs;     /* ring of `depth` */
    size_t depth, first, count;
};

static void job_run(bn_writer *w, const bn_job *job, bool failed, bn_status *status)
{
    *status = failed ? BN_OK : job->run(w->errors, job->data);
    if (job->release)
        job->release(job->data);
}

/* The thread: takes the oldest job, does it without the lock, until the end is asked for and nothing waits. */
static void *writer_loop(void *data)
{
    bn_writer *w = data;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->count == 0 && !w->ending)
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->count == 0)
            break;
        const bn_job job = w->jobs[w->first];
        w->first = (w->first + 1) % w->depth;
        w->count--;
        w->busy = true;
        const bool failed = w->status != BN_OK;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
        bn_status st;
        job_run(w, &job, failed, &st);
        pthread_mutex_lock(&w->lock);
        if (w->status == BN_OK)
            w->status = st;
        w->busy = false;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Starts the thread with every signal blocked: signals belong to the main thread. 0 or the error. */
static int thread_start(bn_writer *w)
{
    sigset_t all, previous;
    sigfillset(&all);
    int error = pthread_sigmask(SIG_SETMASK, &all, &previous);
    if (error)
        return error;
    error = pthread_create(&w->thread, NULL, writer_loop, w);
    w->threaded = !error;
    const int restored = pthread_sigmask(SIG_SETMASK, &previous, NULL);
    return error ? error : restored;
}

bn_status bn_writer_create(bn_context *ctx, size_t depth, bn_writer **out)
{
    *out = NULL;
    bn_writer *w = calloc(1, sizeof *w);
    if (!w)
        return bn_fail(ctx, BN_MEMORY, "cannot start the writer: out of memory");
    w->ctx = ctx;
    w->depth = depth;
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
    bn_status st = bn_context_create(NULL, &w->errors);
    if (st != BN_OK) {
        bn_fail(ctx, st, "cannot start the writer: no context for its errors");
        goto out;
    }
    if (depth > 0) {
        w->jobs = calloc(depth, sizeof *w->jobs);
        if (!w->jobs) {
            st = bn_fail(ctx, BN_MEMORY, "cannot start the writer: out of memory for %zu jobs", depth);
            goto out;
        }
        error = thread_start(w);
        if (error) {
            st = bn_fail(ctx, BN_MEMORY, "cannot start the writer's thread: %s; allow more threads (ulimit -u)",
                         strerror(error));
            goto out;
        }
    }
    *out = w;
    w = NULL;
out:
    bn_writer_destroy(&w);
    return st;
}

/* Hands the jobs' first failure to the creator. Called with the lock held and no job running. */
static bn_status report(bn_writer *w)
{
    if (w->status == BN_OK)
        return BN_OK;
    w->reported = true;
    const char *text = bn_error_text(w->errors);
    return bn_fail(w->ctx, w->status, "%s", text[0] ? text : bn_status_text(w->status));
}

bn_status bn_writer_submit(bn_writer *w, const bn_job *job)
{
    pthread_mutex_lock(&w->lock);
    while (w->threaded && w->status == BN_OK && w->count == w->depth)
        pthread_cond_wait(&w->changed, &w->lock);
    const bool failed = w->status != BN_OK;
    if (w->threaded && !failed) {
        w->jobs[(w->first + w->count) % w->depth] = *job;
        w->count++;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
        return BN_OK;
    }
    bn_status st;
    job_run(w, job, failed, &st); /* no thread, or a dead queue: then the job is released only */
    if (!failed)
        w->status = st;
    st = report(w);
    pthread_mutex_unlock(&w->lock);
    return st;
}

bn_status bn_writer_drain(bn_writer *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->count > 0 || w->busy)
        pthread_cond_wait(&w->changed, &w->lock);
    const bn_status st = report(w);
    pthread_mutex_unlock(&w->lock);
    return st;
}

void bn_writer_destroy(bn_writer **writer)
{
    bn_writer *w = *writer;
    if (!w)
        return;
    if (w->threaded) {
        pthread_mutex_lock(&w->lock);
        w->ending = true;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->lock);
        const int error = pthread_join(w->thread, NULL);
        if (error)
            bn_log(w->ctx, BN_LOG_WARNING, "cannot wait for the writer's thread: %s", strerror(error));
    }
    if (w->status != BN_OK && !w->reported)
        bn_log(w->ctx, BN_LOG_WARNING, "a file could not be written: %s", bn_error_text(w->errors));
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    bn_context_destroy(&w->errors);
    free(w->jobs);
    free(w);
    *writer = NULL;
}
