/* test_builds.c: programs compiled beside the host and in processes of their own, as where compilers let themselves be
 * called from several threads; no implementation that tests run on is of that kind, so the quirk is set here. */
#include "api/embedded_files.h"
#include "device/opencl.h"
#include "run/compile_aside.h"
#include "run/selftest.h"
#include "run/verify.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

static bn_context *ctx;
static bn_device *device;
static bn_case *c;

static void setup(void)
{
    const bn_embedded *file = bn_embedded_files;
    const char *single[] = { "case.precision=single" };
    while (file->name && strcmp(file->name, "selftest/bpm.toml") != 0)
        file++;
    ck_assert_int_eq(bn_context_create(NULL, &ctx), BN_OK);
    ck_assert_int_eq(bn_case_parse(ctx, file->name, file->text, single, 1, &c), BN_OK);
    ck_assert_int_eq(bn_device_open(ctx, NULL, false, &device), BN_OK);
    device->quirks.parallel_builds = true;
}

static void teardown(void)
{
    bn_case_destroy(&c);
    bn_device_close(&device);
    bn_context_destroy(&ctx);
}

/* The reduction that ends a run is compiled later; the second simulation never needs its own. */
TEST(test_builds_beside)
{
    bn_verify_report report;
    bn_sim *sim;
    ck_assert_int_eq(bn_verify_run(ctx, c, &(bn_sim_desc){ .device = device }, 3, &report), BN_OK);
    ck_assert_uint_gt(report.count, 0);
    for (size_t r = 0; r < report.count; r++)
        ck_assert_msg(report.rows[r].ok, "%s: %g ULPs", report.rows[r].field, report.rows[r].ulps);
    ck_assert_int_eq(bn_sim_create(ctx, c, &(bn_sim_desc){ .device = device }, &sim), BN_OK);
    bn_sim_destroy(&sim);
}

/* Children compile all that the case needs, each thing once, and end when nothing is left to begin. */
TEST(test_builds_aside)
{
    const char *program = getenv("BINNACLE");
    const char *arguments[] = {
        program ? program : "build/binnacle", "self-test", "bpm", "2/1-", "--device", "0", NULL
    };
    bn_aside aside = { .ctx = ctx };
    bn_child children[2];
    ck_assert(bn_aside_possible(device));
    ck_assert(bn_aside_hash(&aside) == 0);
    bn_aside_add(&aside, c, &(bn_sim_desc){ .device = device }, false);
    const size_t count = aside.count;
    const uint64_t hash = bn_aside_hash(&aside);
    ck_assert_uint_ge(count, 1);
    ck_assert(hash != 0);
    bn_aside_add(&aside, c, &(bn_sim_desc){ .device = device }, false);
    ck_assert_uint_eq(aside.count, count);
    ck_assert(bn_aside_hash(&aside) == hash);
    ck_assert_uint_le(bn_aside_children(&aside, 1, 16), count);
    ck_assert_uint_eq(bn_aside_children(&aside, 1, 1), 1);
    ck_assert_uint_eq(bn_aside_children(&aside, 3, 1), 3);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(bn_child_start(ctx, arguments, BN_CHILD_SOCKET | BN_CHILD_ERRORS, &children[i]), BN_OK);
    bn_aside_compile(&aside, children, 2, 0, 50, NULL);
    while (children[0].running)
        (void)bn_child_poll(children, 1);
    ck_assert_msg(children[0].end == BN_CHILD_EXITED && children[0].code == 0, "%s", children[0].said);
    for (int i = 0; i < 2; i++)
        bn_child_release(&children[i]);
    bn_aside_release(&aside);
    ck_assert_uint_eq(aside.count, 0);
}

/* A child that tests says that it has passed before it ends; this process compiles a program meanwhile. A child that
 * ends without that word has not passed. */
TEST(test_passes_before_it_ends)
{
    const char *program = getenv("BINNACLE");
    const char *arguments[] = { program ? program : "build/binnacle",
                                "self-test",
                                "bpm",
                                "1/1-",
                                "--device",
                                "0",
                                "--precision",
                                "single",
                                "selftest/bpm.toml",
                                NULL };
    bn_aside aside = { .ctx = ctx };
    bn_selftest_closing closing = { calloc(2, sizeof(bn_child)), 2 };
    ck_assert(closing.children != NULL);
    bn_child *tests = &closing.children[0], *fails = &closing.children[1];
    bn_aside_add(&aside, c, &(bn_sim_desc){ .device = device }, true);
    ck_assert_int_eq(bn_child_start(ctx, arguments, BN_CHILD_SOCKET | BN_CHILD_ERRORS, tests), BN_OK);
    arguments[8] = "selftest/none.toml";
    ck_assert_int_eq(bn_child_start(ctx, arguments, BN_CHILD_SOCKET | BN_CHILD_ERRORS, fails), BN_OK);
    bn_aside_compile(&aside, closing.children, 1, 1, 100, device);
    while (!bn_aside_passed(tests) && bn_child_poll(tests, 1) > 0)
        continue;
    ck_assert_msg(bn_aside_passed(tests), "%s", tests->said);
    while (bn_child_poll(fails, 1) > 0)
        continue;
    ck_assert(!bn_aside_passed(fails));
    bn_selftest_close(ctx, &closing);
    ck_assert(closing.count == 0 && closing.children == NULL);
    bn_aside_release(&aside);
}

int main(void) { return bn_test_main("builds", setup, teardown); }
