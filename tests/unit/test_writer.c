/* test_writer.c: threads that write: order, jobs beside each other, bounded waiting, the first failure, signals. */
#include "io/writer.h"
#include "support.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { JOBS = 200 };

/* What the jobs of a test share; the creator reads it after a drain. */
typedef struct record {
    pthread_mutex_t lock;
    int order[JOBS], done, released;
    int fail_at;  /* this job fails; -1: none */
    bool blocked; /* every signal was blocked in the thread */
    pthread_t thread;
} record;

typedef struct item {
    record *shared;
    int number;
    long nanoseconds;
} item;

static bn_context *ctx;
static record shared;

static void setup(void)
{
    memset(&shared, 0, sizeof shared);
    shared.fail_at = -1;
    ck_assert_int_eq(pthread_mutex_init(&shared.lock, NULL), 0);
    ck_assert_int_eq(bn_context_create(NULL, &ctx), BN_OK);
}

static void teardown(void)
{
    bn_context_destroy(&ctx);
    pthread_mutex_destroy(&shared.lock);
}

static bn_status run(bn_context *own, void *data)
{
    item *it = data;
    sigset_t mask;
    if (it->nanoseconds)
        nanosleep(&(struct timespec){ 0, it->nanoseconds }, NULL);
    if (it->number == it->shared->fail_at)
        return bn_fail(own, BN_IO, "job %d: no space", it->number);
    pthread_mutex_lock(&it->shared->lock);
    it->shared->order[it->shared->done++] = it->number;
    it->shared->thread = pthread_self();
    it->shared->blocked = pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0 && sigismember(&mask, SIGINT) == 1 &&
                          sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGUSR1) == 1;
    pthread_mutex_unlock(&it->shared->lock);
    return BN_OK;
}

static void release(void *data)
{
    item *it = data;
    pthread_mutex_lock(&it->shared->lock);
    it->shared->released++;
    pthread_mutex_unlock(&it->shared->lock);
    free(it);
}

static bn_job job(int number, long nanoseconds)
{
    item *it = calloc(1, sizeof *it);
    ck_assert_ptr_nonnull(it);
    *it = (item){ &shared, number, nanoseconds };
    return (bn_job){ .run = run, .release = release, .data = it };
}

LOOP_TEST(test_writer_order, 4)
{
    static const size_t depths[] = { 0, 1, 3, 1000 };
    bn_writer *w = NULL;
    ck_assert_int_eq(bn_writer_create_threads(ctx, depths[_i], depths[_i] == 0 ? 0 : 4, &w), BN_OK);
    for (int i = 0; i < JOBS; i++) {
        const bn_job j = job(i, i % 16 ? 0 : 100000);
        ck_assert_int_eq(bn_writer_submit(w, &j), BN_OK);
    }
    ck_assert_int_eq(bn_writer_drain(w), BN_OK);
    ck_assert_int_eq(shared.done, JOBS);
    ck_assert_int_eq(shared.released, JOBS);
    for (int i = 0; i < JOBS; i++)
        ck_assert_int_eq(shared.order[i], i);
    ck_assert_int_eq(pthread_equal(shared.thread, pthread_self()) != 0, depths[_i] == 0);
    ck_assert(depths[_i] == 0 || shared.blocked);
    bn_writer_destroy(&w);
    ck_assert_ptr_null(w);
    bn_writer_destroy(&w);
}

LOOP_TEST(test_writer_first_failure_stops, 3)
{
    static const size_t depths[] = { 0, 1, 8 };
    bn_writer *w = NULL;
    shared.fail_at = 5;
    ck_assert_int_eq(bn_writer_create(ctx, depths[_i], &w), BN_OK);
    bn_status st = BN_OK;
    int submitted = 0;
    while (submitted < 50 && st == BN_OK) {
        const bn_job j = job(submitted++, 0);
        st = bn_writer_submit(w, &j);
    }
    ck_assert_int_eq(bn_writer_drain(w), BN_IO);
    ck_assert_int_eq(bn_writer_drain(w), BN_IO);
    ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), "job 5: no space"));
    ck_assert_int_eq(shared.done, 5);
    ck_assert_int_eq(shared.released, submitted);
    const bn_job j = job(99, 0);
    ck_assert_int_eq(bn_writer_submit(w, &j), BN_IO); /* taken over and released all the same */
    ck_assert_int_eq(shared.released, submitted + 1);
    bn_writer_destroy(&w);
}

TEST(test_writer_destroy_drains)
{
    bn_writer *w = NULL;
    ck_assert_int_eq(bn_writer_create(ctx, 64, &w), BN_OK);
    for (int i = 0; i < 20; i++) {
        const bn_job j = job(i, 200000);
        ck_assert_int_eq(bn_writer_submit(w, &j), BN_OK);
    }
    bn_writer_destroy(&w);
    ck_assert_int_eq(shared.done, 20);
    ck_assert_int_eq(shared.released, 20);
}

TEST(test_writer_destroy_with_unseen_failure)
{
    bn_writer *w = NULL;
    shared.fail_at = 0;
    ck_assert_int_eq(bn_writer_create(ctx, 4, &w), BN_OK);
    const bn_job j = job(0, 0);
    ck_assert_int_eq(bn_writer_submit(w, &j), BN_OK);
    bn_writer_destroy(&w); /* logs it */
    ck_assert_int_eq(shared.released, 1);
    ck_assert_int_eq(bn_error_status(ctx), BN_OK);
}

TEST(test_writer_job_without_release)
{
    bn_writer *w = NULL;
    item it = { &shared, 7, 0 };
    const bn_job j = { .run = run, .data = &it };
    ck_assert_int_eq(bn_writer_create(ctx, 1, &w), BN_OK);
    ck_assert_int_eq(bn_writer_submit(w, &j), BN_OK);
    ck_assert_int_eq(bn_writer_drain(w), BN_OK);
    ck_assert_int_eq(shared.order[0], 7);
    bn_writer_destroy(&w);
}

/* Jobs apart meet at a barrier: all of them must run at once. One that keeps its order comes after all before it. */
static pthread_barrier_t meeting;

static bn_status meet(bn_context *own, void *data)
{
    (void)pthread_barrier_wait(&meeting);
    return run(own, data);
}

TEST(test_writer_jobs_beside_each_other)
{
    enum { THREADS = 4, ROUNDS = 20 };
    bn_writer *w = NULL;
    ck_assert_int_eq(pthread_barrier_init(&meeting, NULL, THREADS), 0);
    ck_assert_int_eq(bn_writer_create_threads(ctx, JOBS, THREADS, &w), BN_OK);
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k <= THREADS; k++) {
            bn_job j = job(round * (THREADS + 1) + k, 0);
            j.apart = k < THREADS;
            j.run = j.apart ? meet : run;
            ck_assert_int_eq(bn_writer_submit(w, &j), BN_OK);
        }
    ck_assert_int_eq(bn_writer_drain(w), BN_OK);
    ck_assert_int_eq(shared.done, ROUNDS * (THREADS + 1));
    int place[JOBS], last = -1;
    for (int i = 0; i < shared.done; i++)
        place[shared.order[i]] = i;
    for (int round = 0; round < ROUNDS; round++) {
        const int own = place[round * (THREADS + 1) + THREADS];
        ck_assert_int_gt(own, last);
        last = own;
        for (int i = 0; i < round * (THREADS + 1) + THREADS; i++)
            ck_assert_int_lt(place[i], own);
    }
    bn_writer_destroy(&w);
    ck_assert_int_eq(pthread_barrier_destroy(&meeting), 0);
}

/* Jobs of 40 bytes where 100 may wait: never more than two at once; one of 1000 alone. */
static int inside, most_inside;

static bn_status count_inside(bn_context *own, void *data)
{
    const bn_status st = run(own, data);
    nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    return st;
}

static void leave(void *data)
{
    pthread_mutex_lock(&shared.lock);
    inside--;
    pthread_mutex_unlock(&shared.lock);
    release(data);
}

TEST(test_writer_bytes)
{
    bn_writer *w = NULL;
    ck_assert_int_eq(bn_writer_create_threads(ctx, 100, 4, &w), BN_OK);
    for (int i = 0; i < 30; i++) {
        bn_job j = job(i, 0);
        j.apart = true;
        j.bytes = i % 10 == 9 ? 1000 : 40;
        j.run = count_inside;
        j.release = leave;
        pthread_mutex_lock(&shared.lock);
        most_inside = inside > most_inside ? inside : most_inside; /* those that were let in, and are not done */
        inside++;
        pthread_mutex_unlock(&shared.lock);
        ck_assert_int_eq(bn_writer_submit(w, &j), BN_OK);
    }
    ck_assert_int_eq(bn_writer_drain(w), BN_OK);
    ck_assert_int_eq(shared.done, 30);
    ck_assert_int_le(most_inside, 2);
    ck_assert_double_gt(bn_writer_waited(w), 0);
    bn_writer_destroy(&w);
}

/* A frame: jobs apart that meet the stepping thread while none of them is done, then one with the memory of all. The
 * next frame's waits for it. */
TEST(test_writer_jobs_of_one_frame)
{
    enum { APART = 3 };
    bn_writer *w = NULL;
    ck_assert_int_eq(pthread_barrier_init(&meeting, NULL, APART + 1), 0);
    ck_assert_int_eq(bn_writer_create_threads(ctx, 100, APART, &w), BN_OK);
    for (int k = 0; k <= APART; k++) {
        bn_job j = job(k, 0);
        j.apart = k < APART;
        j.bytes = j.apart ? 0 : 1000;
        j.run = j.apart ? meet : run;
        ck_assert_int_eq(bn_writer_submit(w, &j), BN_OK);
    }
    ck_assert_double_eq(bn_writer_waited(w), 0);
    (void)pthread_barrier_wait(&meeting);
    bn_job next = job(APART + 1, 0);
    next.bytes = 1000;
    ck_assert_int_eq(bn_writer_submit(w, &next), BN_OK);
    pthread_mutex_lock(&shared.lock);
    ck_assert_int_ge(shared.released, APART + 1);
    pthread_mutex_unlock(&shared.lock);
    ck_assert_int_eq(bn_writer_drain(w), BN_OK);
    ck_assert_int_eq(shared.order[APART], APART);
    bn_writer_destroy(&w);
    ck_assert_int_eq(pthread_barrier_destroy(&meeting), 0);
}

int main(void) { return bn_test_main("writer", setup, teardown); }
