/* test_issue_16_figures.c: what the benchmarks print: medians and quartiles of rounds, and no figure that is no time,
 * noisier than a tenth, or faster than its floor. */
#include "support.h"

#include "bench/bench.h"

START_TEST(median_and_quartiles)
{
    double odd[] = { 7, 1, 3, 2, 6, 5, 4 };
    const bench_time t = bench_middle(odd, 7);
    near(t.seconds, 4, 0, "the middle one of seven");
    near(t.spread, (6.0 - 2.0) / 4, 1e-15, "the second and the sixth of seven");
    double even[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    near(bench_middle(even, 8).seconds, 4.5, 0, "the mean of the two in the middle");
}
END_TEST

START_TEST(what_cannot_be_believed_is_not_shown)
{
    char reason[BENCH_REASON];
    ck_assert(bench_believes((bench_time){ 132e-6, 0.02 }, 28e-6, reason));
    ck_assert(bench_believes((bench_time){ 100e-6, 0 }, 102e-6, reason)); /* as exact as the bandwidth is known */
    ck_assert(!bench_believes((bench_time){ -464e-6, 0 }, 0, reason));
    ck_assert_ptr_nonnull(strstr(reason, "no time"));
    ck_assert(!bench_believes((bench_time){ (double)NAN, 0 }, 0, reason));
    ck_assert(!bench_believes((bench_time){ 132e-6, 0.11 }, 0, reason));
    ck_assert_ptr_nonnull(strstr(reason, "11 % apart"));
    ck_assert(!bench_believes((bench_time){ 132e-6, (double)NAN }, 0, reason));
    ck_assert(!bench_believes((bench_time){ 1e-6, 0 }, 7.3e-6, reason));
    ck_assert_ptr_nonnull(strstr(reason, "730 % of the floor"));
    ck_assert_uint_eq(bench_refused, 0);
    ck_assert(!bench_row((bench_time){ -1, 0 }, 0, "a row"));
    ck_assert_uint_eq(bench_refused, 1);
    ck_assert_int_eq(bench_end(), 1);
}
END_TEST

/* Work of a known length: waiting is done once a round. */
static unsigned calls, waits;
static void work(void *user)
{
    (void)user;
    calls++;
    const double start = now();
    while (now() - start < 1e-4)
        continue;
}
static void wait_for(void *user)
{
    (void)user;
    waits++;
}

START_TEST(rounds_are_many_steps)
{
    const bench_time t = bench_rounds(work, wait_for, NULL, 2e-3);
    ck_assert(t.seconds >= 1e-4);
    ck_assert_uint_ge(calls, 5 * BENCH_ROUNDS); /* on an idle machine some 20 a round */
    ck_assert_uint_ge(waits, BENCH_ROUNDS + 2);
    ck_assert_uint_lt(waits, calls);
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_test(tests, median_and_quartiles);
    tcase_add_test(tests, what_cannot_be_believed_is_not_shown);
    tcase_add_test(tests, rounds_are_many_steps);
}

int main(void) { return bn_test_main("issue_16_figures", add); }
