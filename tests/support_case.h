/* support_case.h: what the tests of solvers share: one context, cases in memory run to their end on a device or on the
 * reference, and their results. */
#ifndef BN_TEST_SUPPORT_CASE_H
#define BN_TEST_SUPPORT_CASE_H

#include "support.h"

#include "binnacle/binnacle.h"

/* The test's context: open_context and close_context are its fixture. */
extern bn_context *ctx;
void open_context(void);
void close_context(void);
/* The device that is chosen by default; it is opened for the first who asks, and closed with the context. */
bn_device *opened_device(void);

/* The same with a folder of the test's own, which is removed with all in it; temporary files left there are a failure.
 */
extern char test_folder[96];
void open_folder(void);
void close_folder(void);
/* A path in it, valid until the fourth one after it; the same with a text written there. */
const char *in_folder(const char *name);
const char *text_file(const char *name, const char *text);

#define OK(call) ck_assert_msg((call) == BN_OK, "%s: %s", #call, bn_error_text(ctx))

/* A case on one engine, run to its end and measured. */
typedef struct run {
    bn_case *config;
    bn_sim *sim;
} run;

/* device NULL: the reference. `overrides` ends with NULL. */
run run_case(const char *text, bn_device *device, const char *const *overrides);
run run_boxes(const char *text, bn_device *device, int boxes, const char *const *overrides);
void end_run(run *);
#define RUN(text, device, ...) run_case((text), (device), (const char *const[]){ __VA_ARGS__, NULL })

/* A case that is rejected, or fails on the reference: the status, and a part of the message. */
void rejected_run(const char *text, bn_status expected, const char *why, const char *const *overrides);
#define REJECTED(text, expected, why, ...) \
    rejected_run((text), (expected), (why), (const char *const[]){ __VA_ARGS__, NULL })
#define rejected_case(text, expected, why) REJECTED(text, expected, why, NULL)

/* A field by name, which must be there. */
const bn_sim_field_info *field_info(const run *, const char *name);

/* All components of a field of reals in double, to be freed; of pairs, real and imaginary parts in turn. `count`: of
 * these values; may be NULL. */
double *field(const run *, const char *name, size_t *count);

/* The largest difference of a field between two runs of numbers, over its largest value. */
double difference(const run *, const run *, const char *name);

/* Both runs have the same bits in so many fields; `what` says which runs they are. */
void same_fields(const run *, const run *, const char *const *names, int count, const char *what);

/* A result by name, which must be there. */
double result(const run *, const char *name);
/* The columns of a table of the results, which must be there. count: of them; may be NULL. */
const bn_column *table(const run *, const char *name, size_t *count, size_t *rows);

#endif
