/* conformance.h: the suite that every solver passes, in programs that run side by side: it compiles for minutes on
 * CPUs. */
#ifndef BN_TEST_CONFORMANCE_H
#define BN_TEST_CONFORMANCE_H

#include <stddef.h>

/* The program of one solver and its studies; NULL: of all that have no program of their own. BN_TEST_SOLVER picks one
 * instead. Gives the exit status. */
int conformance_main(const char *solver);

/* A solver, or after those a study; NULL behind the last. */
const char *solver_at(size_t index);

#endif
