/* verify.h: a case on a device and on the CPU reference of the same precision, step by step, field by field. */
#ifndef BN_VERIFY_H
#define BN_VERIFY_H

#include "binnacle/sim.h"

enum { BN_VERIFY_FIELDS = 64 };

typedef struct bn_verify_row {
    const char *field; /* belongs to the solver */
    size_t values;
    size_t not_finite;     /* values that are NaN or infinite on the device, in the reference, or in both */
    double max_difference; /* this and the next two: NaN when any value is not finite */
    double relative_l2;
    double ulps;      /* largest distance in units in the last place */
    double tolerance; /* 0: equal bits */
    bool ok;          /* within the tolerance, and every value finite */
} bn_verify_row;

typedef struct bn_verify_report {
    bn_verify_row rows[BN_VERIFY_FIELDS];
    size_t count;
    unsigned long long steps; /* compared after so many */
    bool ok;
} bn_verify_report;

/* Compares `count` values of `element_bytes` (4 or 8) each, floating-point numbers where `real`, and fills in all of
 * the row but its field and tolerance, which are given. Real values that are not finite never pass: two sides that fail
 * in the same way have not been verified. */
void bn_verify_compare(const void *device, const void *reference, size_t count, size_t element_bytes, bool real,
                       bn_verify_row *row);

/* Runs both for `steps` steps (fewer when the case ends before) and compares every field that the solver says is to be
 * compared. BN_OK also when they differ: the report says so. `desc->device` is the device. */
BN_CHECKED bn_status bn_verify_run(bn_context *, bn_case *, const bn_sim_desc *desc, unsigned long long steps,
                                   bn_verify_report *report);

#endif
