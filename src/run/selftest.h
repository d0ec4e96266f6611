/* selftest.h: before a device computes for the user, every kernel that it is about to run is run on a small case with
 * known answers, in a child process (a driver may crash or hang), once per device, driver, precision and kernel text.
 */
#ifndef BN_SELFTEST_H
#define BN_SELFTEST_H

#include "run/verify.h"
#include "sim/plan.h"

typedef enum bn_selftest_outcome {
    BN_SELFTEST_PASSED, /* just now */
    BN_SELFTEST_KNOWN,  /* passed earlier on this device and driver */
    BN_SELFTEST_SKIPPED /* BINNACLE_SELFTEST=off */
} bn_selftest_outcome;

/* Whether an embedded file is a self-test case of the solver. */
bool bn_selftest_is_of(const char *embedded_name, const char *solver);

/* Every `count`th case of a solver, from the one with number `index` on; { 0, 1 } is all of them, { 1, 1 } none. */
typedef struct bn_selftest_part {
    size_t index, count;
    bool serves;              /* compiles what comes on standard input before (run/compile_aside.h) */
    const char *const *cases; /* their names, "selftest/flow.toml", ending with NULL; NULL or none: all */
    const char *first_steps;  /* of the case that comes on standard input (run/first_steps.h): its name; else NULL */
} bn_selftest_part;

/* Who wants to know the outcome of each case, "flow/selftest.toml". */
typedef struct bn_selftest_watch {
    void (*result)(void *user, const char *name, const bn_verify_report *);
    void *user;
} bn_selftest_watch;

/* The test itself, in this process: BN_MISMATCH when a field differs from the reference. With somebody to tell it to it
 * goes on with the other cases then. */
BN_CHECKED bn_status bn_selftest_here(bn_context *, const char *solver, const char *selector, bool double_precision,
                                      bn_selftest_part, const bn_selftest_watch *);

/* Child processes that have done their part and still close the device, for which a driver takes its time. Zeroed
 * memory is none. */
typedef struct bn_selftest_closing {
    struct bn_child *children;
    size_t count;
} bn_selftest_closing;

/* Waits for their end; one that takes longer than seconds is stopped, with a warning, which also tells of one that
 * crashed. */
void bn_selftest_close(bn_context *, bn_selftest_closing *);

/* A run that wants the device. */
typedef struct bn_selftest_run {
    const bn_plan *plan;
    bn_case *config;
    const bn_sim_desc *sim;       /* with the device open */
    bn_selftest_closing *closing; /* gets children that need not be waited for until the run ends */
} bn_selftest_run;

/* Makes sure that the device has passed, in the cases that have what the run needs (bn_plan_needs);
 * run NULL: in all cases. Where programs can be compiled ahead (run/compile_aside.h), those of the test and, unless its
 * grid is so large that setting it up twice would take longer, of the run are; where kernels that another process
 * compiles can be had, one takes the first steps of the run beside the test (run/first_steps.h). `program`: path of the
 * binary; child processes run its hidden command `self-test`, a part of the cases each. After a success those that
 * still close the device are in run->closing. BN_MISMATCH: the answer was wrong; BN_DEVICE: there is none, a child
 * crashed (over a compiler that aborts, say), hung, or could not compute. */
BN_CHECKED bn_status bn_selftest_ensure(bn_context *, const bn_device_info *, const char *solver, bool double_precision,
                                        const bn_selftest_run *run, const char *program, bn_selftest_outcome *outcome);

const char *bn_selftest_outcome_text(bn_selftest_outcome);

#endif
