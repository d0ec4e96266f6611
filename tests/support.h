/* support.h: what every test program shares: a Check suite in fork mode with a time-out, and comparisons that NaN never
 * passes. */
#ifndef BN_TEST_SUPPORT_H
#define BN_TEST_SUPPORT_H

#include <check.h>
#include <math.h>
#include <stdbool.h>

/* A test in the program's list. */
typedef struct bn_test {
    TTest test;
    int (*times)(void);
    struct bn_test *next;
} bn_test;
void bn_test_add(bn_test *);

/* TEST(name) { ... }: a test, which its program runs because it stands there: each puts itself into the list before
 * main(). LOOP_TEST(name, times) { ... }: so many tests, with _i from 0 on. */
#define TEST(name) LOOP_TEST(name, 1)
#define LOOP_TEST(name_, times_)                                                                 \
    static void name_(int _i);                                                                   \
    static int times_of_##name_(void) { return (int)(times_); }                                  \
    __attribute__((constructor)) static void add_##name_(void)                                   \
    {                                                                                            \
        static bn_test test = { { #name_, name_, __FILE__, __LINE__ }, times_of_##name_, NULL }; \
        bn_test_add(&test);                                                                      \
    }                                                                                            \
    static void name_(int _i __attribute__((unused)))

/* Runs all tests, each in its own process with a time-out of BN_TEST_TIMEOUT seconds (environment; 60), between
 * `set_up` and `tear_down` (NULL: nothing). Prints failures and, last, "N passed, N failed". Returns the exit code for
 * main(). */
int bn_test_main(const char *name, void (*set_up)(void), void (*tear_down)(void));

/* Finer grids and longer runs belong to `make test-long`. */
bool long_tests(void);

/* Whether PoCL compiles without its optimiser from now on in this process, which takes half of the time: for
 * comparisons of bits, which may not depend on it. To be called before the process compiles anything, since PoCL asks
 * once. Not in long tests, nor where the program runs without tests/run.sh.
 */
void without_optimiser(bool off);

/* Check writes down each place that a test passes, for tests that crash, and that costs a microsecond: here only where
 * it is another place than the last one, as a loop over a field passes one a million times. */
void bn_test_mark(const char *file, int line);
#define _mark_point bn_test_mark

/* |value - expected| <= tolerance; the source of the expected number stands in the message. */
#define near(value, expected, tolerance, source)                                                                 \
    do {                                                                                                         \
        const double near_v_ = (value), near_e_ = (expected), near_t_ = (tolerance);                             \
        ck_assert_msg(fabs(near_v_ - near_e_) <= near_t_, "%s = %.10g, expected %.10g within %.3g (%s)", #value, \
                      near_v_, near_e_, near_t_, source);                                                        \
    } while (0)

#endif
