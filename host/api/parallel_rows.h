/* parallel_rows.h: rows of a grid worked on by several threads of the host. */
#ifndef BN_PARALLEL_ROWS_H
#define BN_PARALLEL_ROWS_H

#include <stddef.h>

/* Calls `work` for ranges [first, end) that make up [0, rows), each on a thread of its own: at most one for each
 * processor and 16 in all, and so many that each has some ten thousand of the `width` values of a row. Ranges whose
 * thread can't be created are worked on by the caller. Returns when all is done. `work` may write to rows of its range
 * only. */
void bn_parallel_rows(size_t rows, size_t width, void (*work)(void *user, size_t first, size_t end), void *user);
/* The same of jobs that are worth a thread each. */
void bn_parallel_jobs(size_t jobs, void (*work)(void *user, size_t first, size_t end), void *user);

#endif
