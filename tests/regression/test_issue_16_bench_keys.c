/* test_issue_16_bench_keys.c: what `binnacle bench` sets are keys that the solvers have. A setting that they do not
 * have is a failure, not an empty place in a table. */
#include "support.h"

#include "bench/bench_cases.c"
#include "bench/bench_linear.c"
#include "bench/bench_measure.c"
#include "bench/bench_work.c"

TEST(standard_cases_fit_their_solvers)
{
    bn_context *ctx;
    ck_assert_int_eq(bn_context_create(NULL, &ctx), BN_OK);
    const bn_bench_device d = { .wish = &(bn_bench_wish){ .ctx = ctx } };
    const bn_device_limits limits = { .copy = 4e12, .flops = { 6e13, 3e13 } };
    const bn_bench_case *const lists[] = { bn_bench_cases, bn_bench_scaled };
    for (size_t l = 0; l < 2; l++)
        for (const bn_bench_case *c = lists[l]; c->solver; c++)
            for (int gpu = 0; gpu < 2; gpu++)
                for (size_t i = 0; i < BN_BENCH_SIZES_MOST && c->sizes[gpu][i]; i++) {
                    bn_bench_job job;
                    bn_bench_prepare_on(c, c->sizes[gpu][i], i % 2, gpu, &limits, 1 + (unsigned)l, &job);
                    ck_assert_msg(bn_bench_check(&d, &job) == BN_OK, "%s", bn_error_text(ctx));
                }
    bn_context_destroy(&ctx);
}

TEST(a_key_that_is_none_is_a_failure)
{
    bn_context *ctx;
    bn_device *device;
    char trouble[300];
    bn_bench_result r;
    bn_bench_job job;
    ck_assert_int_eq(bn_context_create(NULL, &ctx), BN_OK);
    ck_assert_int_eq(bn_device_open(ctx, NULL, false, &device), BN_OK);
    const bn_bench_device d = {
        .wish = &(bn_bench_wish){ .ctx = ctx }, .plain = device, .profiling = device, .budget = 0.01
    };
    const bn_bench_case *flood = bn_bench_cases;
    while (strcmp(flood->solver, "flood") != 0)
        flood++;
    bn_bench_case of = *flood;
    of.sets[0] = "solver.layout=aos"; /* which no solver of users has */
    of.sets[1] = NULL;
    bn_bench_prepare(&of, 32, false, false, &job);
    ck_assert_int_eq(bn_bench_check(&d, &job), BN_CASE);
    ck_assert_ptr_nonnull(strstr(bn_error_text(ctx), "solver.layout"));
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_bench_measure(&d, &job, BN_BENCH_CLOCK, &r, trouble, sizeof trouble), BN_CASE);
    bn_error_clear(ctx);
    ck_assert_int_eq(bn_bench_measure(&d, &job, BN_BENCH_WHOLE, &r, trouble, sizeof trouble), BN_CASE);
    bn_error_clear(ctx);
    bn_device_close(&device);
    bn_context_destroy(&ctx);
}

int main(void) { return bn_test_main("issue_16_bench_keys", NULL, NULL); }
