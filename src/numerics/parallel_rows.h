/* parallel_rows.h: rows of a grid worked on by several threads of the host. */
#ifndef BN_BANDS_H
#define BN_BANDS_H

#include <stddef.h>

/* Calls `work` for bands [first, end) that make up [0, rows), each on a thread of its own, up to one for each processor
 * and 16 in all; small counts, and bands whose thread can't be had, are worked on here. Returns when all is done. What
 * `work` writes must belong to its band alone. */
void bn_parallel_rows(size_t rows, void (*work)(void *user, size_t first, size_t end), void *user);

#endif
