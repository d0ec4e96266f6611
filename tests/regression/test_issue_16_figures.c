/* test_issue_16_figures.c: what `binnacle bench` prints: medians and quartiles of rounds, and no figure that is no
 * time, noisier than a tenth, or faster than its floor. */
#include "support.h"

#include "bench/bench_cases.c"
#include "bench/bench_linear.c"
#include "bench/bench_measure.c"
#include "bench/bench_work.c"

TEST(median_and_quartiles)
{
    double odd[] = { 7, 1, 3, 2, 6, 5, 4 }, even[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    bn_bench_result r = { 0 };
    take_median(odd, 7, &r);
    near(r.seconds, 4, 0, "the middle one of seven");
    near(r.noise, 0.5 * (6.0 - 2.0) / 4, 1e-15, "half of the second to the sixth of seven");
    take_median(even, 8, &r);
    near(r.seconds, 4.5, 0, "the mean of the two in the middle");
}

static const char *refusal(double low, double middle, double high)
{
    static bn_bench_result r;
    double rounds[] = { low, low, middle, high, high };
    r = (bn_bench_result){ 0 };
    take_median(rounds, 5, &r);
    return r.refused;
}

TEST(what_cannot_be_believed_is_not_shown)
{
    ck_assert_str_eq(refusal(131e-6, 132e-6, 134e-6), "");
    ck_assert_ptr_nonnull(strstr(refusal(-464e-6, -464e-6, -464e-6), "no time"));
    ck_assert_ptr_nonnull(strstr(refusal((double)NAN, (double)NAN, (double)NAN), "no time"));
    ck_assert_ptr_nonnull(strstr(refusal(95, 100, 106), "11 % apart"));
}

/* Shares of floors: as exact as the bandwidth is known, and none above. */
TEST(no_share_above_the_floor)
{
    const bn_bench_case of = { .solver = "flow", .reals = 1 };
    const bn_bench_device d = { .limits = { .copy = 4 } };
    const bn_bench_job job = { .of = &of, .per_step = 100 };
    bn_bench_result r = { .seconds = 98 };
    find_floor(&d, &job, &r);
    near(r.floor, 100, 1e-12, "100 updates of 4 bytes at 4 bytes a second");
    near(r.share, 100.0 / 98, 1e-12, "within what the limits are known to");
    r.seconds = 13.7;
    find_floor(&d, &job, &r);
    ck_assert(!isfinite(r.share));
}

/* A round is so many steps that waiting for the last one does not count. */
TEST(rounds_are_many_steps)
{
    bn_context *ctx;
    bn_device *device;
    bn_bench_job job;
    bn_bench_work w = { 0 };
    unsigned count;
    ck_assert_int_eq(bn_context_create(NULL, &ctx), BN_OK);
    ck_assert_int_eq(bn_device_open(ctx, NULL, false, &device), BN_OK);
    const bn_bench_case *maxwell = bn_bench_cases;
    while (strcmp(maxwell->solver, "maxwell") != 0)
        maxwell++;
    bn_bench_prepare(maxwell, 48, false, false, &job);
    ck_assert_int_eq(bn_bench_work_open(ctx, device, &job, &w), BN_OK);
    ck_assert_int_eq(find_count(&w, 1e-9, &count), BN_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(find_count(&w, 0.2, &count), BN_OK);
    double steps;
    const double start = bn_seconds_now();
    ck_assert_int_eq(bn_bench_work_run(&w, count, &steps), BN_OK);
    ck_assert(bn_seconds_now() - start > 0.02); /* half of it and more on an idle machine */
    near(steps, count, 1e-9, "an iteration each");
    bn_bench_work_close(&w);
    bn_device_close(&device);
    bn_context_destroy(&ctx);
}

int main(void) { return bn_test_main("issue_16_figures", NULL, NULL); }
