/* parallel_rows.c: a thread for each range of rows. */
#include "api/parallel_rows.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

enum { MOST_THREADS = 16, LEAST_VALUES = 1 << 14 }; /* worth a thread, which takes some 20 us to start */

typedef struct row_range {
    void (*work)(void *user, size_t first, size_t end);
    void *user;
    size_t first, end;
} row_range;

static void *run(void *given)
{
    const row_range *r = given;
    r->work(r->user, r->first, r->end);
    return NULL;
}

static void share_out(size_t rows, size_t count, void (*work)(void *user, size_t first, size_t end), void *user)
{
    if (count <= 1) { /* as many small calls are: asking for the number of processors reads a file */
        work(user, 0, rows);
        return;
    }
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = processors > 0 ? (size_t)processors : 1;
    most = most < MOST_THREADS ? most : MOST_THREADS;
    count = count < most ? count : most;
    row_range ranges[MOST_THREADS];
    pthread_t threads[MOST_THREADS];
    bool started[MOST_THREADS] = { false };
    for (size_t r = 0; r < count; r++) {
        ranges[r] = (row_range){ work, user, rows * r / count, rows * (r + 1) / count };
        started[r] = r > 0 && pthread_create(&threads[r], NULL, run, &ranges[r]) == 0;
    }
    for (size_t r = 0; r < count; r++)
        if (!started[r])
            run(&ranges[r]);
    for (size_t r = 0; r < count; r++)
        if (started[r])
            pthread_join(threads[r], NULL);
}

void bn_parallel_rows(size_t rows, size_t width, void (*work)(void *user, size_t first, size_t end), void *user)
{
    const size_t each = width < LEAST_VALUES ? LEAST_VALUES / (width > 0 ? width : 1) : 1; /* rows */
    share_out(rows, rows / each, work, user);
}

void bn_parallel_jobs(size_t jobs, void (*work)(void *user, size_t first, size_t end), void *user)
{
    share_out(jobs, jobs, work, user);
}
