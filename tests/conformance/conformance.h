/* conformance.h: the suite that every solver passes, in programs that run side by side: it compiles for minutes on
 * CPUs. */
#ifndef BN_TEST_CONFORMANCE_H
#define BN_TEST_CONFORMANCE_H

/* The program of one solver; NULL: of all that have no program of their own. BN_TEST_SOLVER picks any one instead.
 * Gives the exit status. */
int conformance_main(const char *solver);

#endif
