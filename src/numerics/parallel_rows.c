/* parallel_rows.c: a thread for each band of rows. */
#include "numerics/parallel_rows.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

enum { MOST_THREADS = 16, LEAST_ROWS = 128 }; /* rows worth a thread */

typedef struct band {
    void (*work)(void *user, size_t first, size_t end);
    void *user;
    size_t first, end;
} band;

static void *run(void *given)
{
    const band *b = given;
    b->work(b->user, b->first, b->end);
    return NULL;
}

void bn_parallel_rows(size_t rows, void (*work)(void *user, size_t first, size_t end), void *user)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = rows / LEAST_ROWS, most = processors > 0 ? (size_t)processors : 1;
    most = most < MOST_THREADS ? most : MOST_THREADS;
    count = count < 1 ? 1 : count < most ? count : most;
    band bands[MOST_THREADS];
    pthread_t threads[MOST_THREADS];
    bool started[MOST_THREADS] = { false };
    for (size_t b = 0; b < count; b++) {
        bands[b] = (band){ work, user, rows * b / count, rows * (b + 1) / count };
        started[b] = b > 0 && pthread_create(&threads[b], NULL, run, &bands[b]) == 0;
    }
    for (size_t b = 0; b < count; b++)
        if (!started[b])
            run(&bands[b]);
    for (size_t b = 0; b < count; b++)
        if (started[b])
            pthread_join(threads[b], NULL);
}
