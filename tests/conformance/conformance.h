/* conformance.h: the suite that every solver passes, in programs that run side by side: it compiles for minutes on
 * CPUs. */
#ifndef BN_TEST_CONFORMANCE_H
#define BN_TEST_CONFORMANCE_H

#include "binnacle/binnacle.h"
#include "api/embedded_files.h"

#include <stdbool.h>
#include <stddef.h>

/* The program of one solver and of the studies that begin with its name; NULL: of all that have none of their own.
 * BN_TEST_SOLVER picks one instead. Gives the exit status. */
int conformance_main(const char *solver);

/* One way to run: device NULL is the reference. */
typedef struct way {
    bn_device *device;
    int boxes;
    size_t group[3]; /* {0}: the default */
} way;

/* resume.c: what a run ended with of which each step was saved. */
typedef struct kept_run {
    unsigned char *bytes;
    size_t count;
    unsigned long long steps;
    way way;
} kept_run;

/* Saves a checkpoint; the next run that is saved takes the place of this one. */
void keep_step(bn_context *, bn_sim *);
kept_run keep_end(bn_context *, bn_sim *, const way *);

/* The run resumed from several steps as it ran ends with the same bits, and so it does on the `other` engine, NULL: not
 * tried, and in the boxes and work-groups of `cut`, NULL: not tried. Releases it. */
void check_resumed(bn_context *, kept_run *, const bn_embedded *file, const char *precision, const way *other,
                   const way *cut);

/* Removes the checkpoints. */
void remove_kept(bn_context *);

/* A cut and an odd shape of work-groups that both the suite and resume.c take: PoCL compiles for each of both. */
enum { ODD_CUT = 3, ODD_GROUP_X = 7, ODD_GROUP_Y = 3 };

/* The boxes that stand for ODD_CUT: each is programs of its own, so a solver's first self-test case alone has a box in
 * the middle, but for `make test-long`. `file`: name of the self-test case. */
int odd_cut(const char *file);

/* Whether that case is cut at all: those in which something else crosses the cuts, in double precision a solver's first
 * one, but for flow, which compiles longest; in `make test-long` all. */
bool is_cut(const char *file, const char *precision);

/* Whether it is a solver's first self-test case. `file`: its name. */
bool is_first_case(const char *file);

/* Whether this program tests that solver or study. */
bool is_wanted(const char *solver);

/* A solver, or after those a study; NULL behind the last. */
const char *solver_at(size_t index);

#endif
