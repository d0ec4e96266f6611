/* conformance.h: the suite that every solver passes, in programs that run side by side: it compiles for minutes on
 * CPUs. */
#ifndef BN_TEST_CONFORMANCE_H
#define BN_TEST_CONFORMANCE_H

#include <stdbool.h>
#include <stddef.h>

/* The program of one solver and of the studies that begin with its name; NULL: of all that have none of their own.
 * BN_TEST_SOLVER picks one instead. Gives the exit status. */
int conformance_main(const char *solver);

/* resume.c: does nothing. Its tests come with it, since the linker takes of a library only files that are called. */
void join_resume_tests(void);

/* A cut and an odd shape of work-groups that both the suite and resume.c take: PoCL compiles for each of both. */
enum { ODD_CUT = 3, ODD_GROUP_X = 7, ODD_GROUP_Y = 3 };

/* The boxes that stand for ODD_CUT: each is programs of its own, so a solver's first self-test case alone has a box in
 * the middle, but for `make test-long`. `file`: name of the self-test case. */
int odd_cut(const char *file);

/* Whether that case is cut at all: those in which something else crosses the cuts, in double precision a solver's first
 * one, but for flow, which compiles longest; in `make test-long` all. */
bool is_cut(const char *file, const char *precision);

/* PoCL compiles the `whole` grid in default work-groups as for users where the case is cut, or its solver's first one;
 * the others, boxes and other work-groups without its optimiser. */
void choose_optimiser(const char *file, const char *precision, bool whole);

/* Whether it is a solver's first self-test case. `file`: its name. */
bool is_first_case(const char *file);

/* Whether this program tests that solver or study. */
bool is_wanted(const char *solver);

/* A solver, or after those a study; NULL behind the last. */
const char *solver_at(size_t index);

#endif
