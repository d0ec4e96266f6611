/* bench_suites.h: what published studies have in common: their tables inside the program, and rows with their figures
 * beside ours. */
#ifndef BN_BENCH_SUITES_H
#define BN_BENCH_SUITES_H

#include "cli/bench.h"

typedef struct bn_suite {
    const bn_bench_device *d;
    json_t *rows;
    char *why; /* BN_SUITE_WHY bytes: why the last job was not measured; "": it was */
    bool gpu, quick;
    bool checks; /* the cases are read and nothing is measured */
} bn_suite;
enum { BN_SUITE_WHY = 160 };

/* A row; NaN: that side has no such figure. `why` of the last job gives the reason for ours. */
BN_CHECKED bn_status bn_suite_add(const bn_suite *, double published, double ours, const char *unit, const char *format,
                                  ...) BN_PRINTF(5, 6);
/* A row that has no figure of ours, and the reason. */
BN_CHECKED bn_status bn_suite_skip(const bn_suite *, double published, const char *unit, const char *why,
                                   const char *format, ...) BN_PRINTF(5, 6);
/* Seconds of a step; NaN, with a warning, where it could not be measured. A case that is wrong is a failure. */
BN_CHECKED bn_status bn_suite_seconds(const bn_suite *, const bn_bench_job *, double *seconds);
/* The first standard case of a solver. */
bn_bench_case bn_suite_base(const char *solver);

/* A published table: lines of fields with commas between, comments, one line of heads. */
enum { BN_PUBLISHED_FIELDS = 16, BN_PUBLISHED_FIELD = 80 };
typedef struct bn_published {
    const char *at;
    char heads[BN_PUBLISHED_FIELDS][BN_PUBLISHED_FIELD], fields[BN_PUBLISHED_FIELDS][BN_PUBLISHED_FIELD];
} bn_published;
bn_published bn_published_open(const char *name); /* one that is not there is empty */
bool bn_published_next(bn_published *);
const char *bn_published_text(const bn_published *, const char *head); /* "": no such column */
double bn_published_number(const bn_published *, const char *head);    /* NaN: no number */
double bn_published_seconds(const bn_published *, const char *head);   /* "22.52ms", "0.17s", "9.13min" */

/* bench_suite_flood.c */
BN_CHECKED bn_status bn_suite_bpm(const bn_suite *);
BN_CHECKED bn_status bn_suite_flood(const bn_suite *);
BN_CHECKED bn_status bn_suite_flow(const bn_suite *);
BN_CHECKED bn_status bn_suite_maxwell(const bn_suite *);
BN_CHECKED bn_status bn_suite_xray(const bn_suite *);

#endif
