/* test_issue_16_queue.c: how many launches the host queues ahead of a device, counted: few long ones, no end of short
 * ones. */
#include "support_case.h"

#include "api/launch.h"

#include <stdint.h>

/* The most launches that stood in the queue when so many were asked for, one after the other. */
static unsigned long long most_ahead(int launches, int operations)
{
    static const bn_kernel_desc kernel = { "slow_probe", BN_PER_CELL, { 1, 1, 0 } };
    const bn_context_desc context = { .kernel_dir = BN_TEST_KERNELS };
    bn_device *device;
    bn_domain *domain;
    bn_field *number;
    bn_program *program;
    bn_kernel *probe;
    OK(bn_context_create(&context, &ctx));
    OK(bn_device_open(ctx, "auto", false, &device));
    const bn_domain_desc desc = { .grid = { .dims = 2, .n = { 1, 1, 1 }, .h = { 1, 1, 1 } }, .device = device };
    OK(bn_domain_create(ctx, &desc, &domain));
    OK(bn_field_create(domain, &(bn_field_desc){ "number", "", BN_T_I32, 1, 0 }, &number));
    OK(bn_field_zero(number));
    OK(bn_program_build(domain, "slow_probe", NULL, 0, &program));
    OK(bn_kernel_find(program, &kernel, &probe));
    for (int i = 0; i < launches; i++)
        OK(BN_RUN(probe, BN_UPDATE(number), BN_I32V(operations)));
    OK(bn_domain_finish(domain));
    int32_t x;
    OK(bn_field_read(number, &x, sizeof x));
    ck_assert_int_ne(x, 0);
    const unsigned long long most = bn_device_counts(device).most_ahead;
    ck_assert_uint_ge(bn_device_counts(device).launches, (unsigned)launches);
    bn_program_destroy(&program);
    bn_field_destroy(&number);
    bn_domain_destroy(&domain);
    bn_device_close(&device);
    bn_context_destroy(&ctx);
    return most;
}

/* 3e7 triples of operations that wait for each other take 30 ms at the least, six cycles each at 6 GHz: batches are of
 * three launches at most, three batches stand in the queue. */
TEST(few_long_launches) { ck_assert_uint_le(most_ahead(24, 30000000), 9); }

/* Three batches of 1,024 at most; more than one, or the queue of a fast device would run dry. */
TEST(many_short_launches)
{
    const unsigned long long most = most_ahead(8000, 1);
    ck_assert_uint_le(most, 3 * 1024);
    ck_assert_uint_ge(most, 6);
}

int main(void) { return bn_test_main("issue_16_queue", NULL, NULL); }
