/* conformance.c: what every registered solver must pass, on its own self-test case: the device against the
 * reference in both precisions, any work-group, any number of boxes, the same twice, with canaries behind every buffer
 * and NaN in padding and stale halos. A new solver gets this free. The device is the first that the tests are given. */
#include "conformance/conformance.h"
#include "support.h"

#include "api/embedded_files.h"
#include "api/launch.h"
#include "binnacle/binnacle.h"
#include "run/selftest.h"
#include "sim/solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) ck_assert_msg((call) == BN_OK, "%s: %s", #call, bn_error_text(ctx))

enum { MOST_RESULTS = 256, MOST_KERNELS = 64 };

/* All fields to compare, one after the other, and every result, after the whole of each self-test case. */
typedef struct outcome {
    unsigned char *bits;
    size_t bytes;
    double results[MOST_RESULTS];
    size_t result_count;
    bool launched[MOST_KERNELS]; /* of the solver's table */
    bool tolerant;               /* equal bits are not promised for every field */
} outcome;

/* `device` NULL: the reference. Also checks canaries. Adds to `out`. */
static void run_file(bn_context *ctx, bn_device *device, const bn_embedded *file, const char *solver,
                     const char *precision, int boxes, const size_t group[3], outcome *out)
{
    bn_case *c;
    bn_sim *sim;
    char override[64];
    snprintf(override, sizeof override, "case.precision=%s", precision);
    const char *overrides[] = { override };
    OK(bn_case_parse(ctx, file->name, file->text, overrides, 1, &c));
    bn_sim_desc desc = { .device = device, .boxes = boxes };
    if (group)
        memcpy(desc.work_group, group, sizeof desc.work_group);
    OK(bn_sim_create(ctx, c, &desc, &sim));
    while (!bn_sim_done(sim))
        OK(bn_sim_step(sim));
    OK(bn_sim_measure(sim));
    for (size_t f = 0; f < bn_sim_field_count(sim); f++) {
        const bn_sim_field_info *info = bn_sim_field_at(sim, f);
        if (!info->compare)
            continue;
        size_t bytes = (size_t)info->n[0] * info->n[1] * info->n[2] * (size_t)info->components * info->element_bytes;
        out->bits = realloc(out->bits, out->bytes + bytes);
        ck_assert_ptr_nonnull(out->bits);
        double (*tolerance)(const bn_case *, const char *) = bn_solver_find(solver)->tolerance;
        out->tolerant = out->tolerant || (tolerance && tolerance(c, info->name) > 0);
        OK(bn_sim_read(sim, info->name, out->bits + out->bytes, bytes));
        out->bytes += bytes;
    }
    const bn_results *results = bn_sim_results(sim);
    for (size_t r = 0; r < bn_results_count(results) && out->result_count < MOST_RESULTS; r++)
        out->results[out->result_count++] = bn_results_at(results, r)->value;
    if (device) {
        OK(bn_domain_check_canaries(bn_sim_domain(sim)));
        bn_profile_row rows[MOST_KERNELS];
        size_t count = bn_domain_profile(bn_sim_domain(sim), rows, MOST_KERNELS);
        const bn_kernel_desc *kernels = bn_solver_find(solver)->kernels;
        for (size_t k = 0; kernels[k].name && k < MOST_KERNELS; k++)
            for (size_t i = 0; i < count && i < MOST_KERNELS; i++)
                out->launched[k] = out->launched[k] || strcmp(rows[i].kernel, kernels[k].name) == 0;
    }
    bn_sim_destroy(&sim);
    bn_case_destroy(&c);
}

/* All self-test cases of the solver; on a device they launch every kernel of its table. `few`: those of double
 * precision would say little that those of single have not said, and CPUs compile for minutes: the first one only. */
static outcome run_case(bn_context *ctx, bn_device *device, const char *solver, const char *precision, int boxes,
                        const size_t group[3], bool few)
{
    outcome out = { 0 };
    char first[128];
    snprintf(first, sizeof first, "selftest/%s.toml", solver);
    few = few && strcmp(precision, "double") == 0 && !long_tests();
    for (const bn_embedded *f = bn_embedded_files; f->name; f++)
        if (bn_selftest_is_of(f->name, solver) && (!few || strcmp(f->name, first) == 0))
            run_file(ctx, device, f, solver, precision, boxes, group, &out);
    ck_assert_msg(out.bytes > 0, "solver %s has no data/cases/%s/selftest.toml, or it compares no field", solver,
                  solver);
    const bn_kernel_desc *kernels = bn_solver_find(solver)->kernels;
    for (size_t k = 0; device && !few && kernels[k].name && k < MOST_KERNELS; k++)
        ck_assert_msg(out.launched[k], "the self-test of %s never launches %s", solver, kernels[k].name);
    return out;
}

static void same(const outcome *a, const outcome *b, const char *solver, const char *what)
{
    ck_assert_msg(a->bytes == b->bytes && memcmp(a->bits, b->bits, a->bytes) == 0, "%s: %s: fields differ", solver,
                  what);
    ck_assert_msg(a->result_count == b->result_count &&
                      memcmp(a->results, b->results, a->result_count * sizeof(double)) == 0,
                  "%s: %s: results differ", solver, what);
}

static size_t solver_count(void)
{
    size_t count = 0;
    while (bn_solver_names()[count])
        count++;
    return count;
}

static const char *program_of; /* NULL: of those without one */

static bool is_wanted(const char *solver)
{
    const char *only = getenv("BN_TEST_SOLVER");
    if (only || program_of)
        return strcmp(only ? only : program_of, solver) == 0;
    return strcmp(solver, "flood") != 0 && strcmp(solver, "maxwell") != 0;
}

/* Round `which` of a loop over all solvers and both precisions; BN_TEST_SOLVER picks one solver. */
static void one_of_all(void (*check)(bn_context *, bn_device *, const char *solver, const char *precision), bool debug,
                       int which)
{
    static const char *const precisions[] = { "single", "double" };
    bn_context *ctx;
    bn_device *device;
    const bn_context_desc desc = { .debug = debug };
    ck_assert_int_eq(bn_context_create(&desc, &ctx), BN_OK);
    OK(bn_device_open(ctx, "auto", false, &device));
    const bool wanted = is_wanted(bn_solver_names()[which / 2]);
    if (wanted && (which % 2 == 0 || bn_device_describe(device)->fp64))
        check(ctx, device, bn_solver_names()[which / 2], precisions[which % 2]);
    bn_device_close(&device);
    bn_context_destroy(&ctx);
}

static void check_reference(bn_context *ctx, bn_device *device, const char *solver, const char *precision)
{
    outcome reference = run_case(ctx, NULL, solver, precision, 1, NULL, false);
    outcome on_device = run_case(ctx, device, solver, precision, 1, NULL, false);
    if (!reference.tolerant) /* else they are compared by `binnacle verify`, within the solver's tolerance */
        same(&reference, &on_device, solver, "device and reference");
    free(reference.bits);
    free(on_device.bits);
}

START_TEST(device_equals_reference) { one_of_all(check_reference, true, _i); }
END_TEST

static void check_groups(bn_context *ctx, bn_device *device, const char *solver, const char *precision)
{
    /* PoCL compiles for each. */
    static const size_t groups[][3] = { { 7, 3, 1 }, { 64, 1, 1 }, { 1, 1, 1 }, { 16, 16, 1 } };
    outcome first = run_case(ctx, device, solver, precision, 1, NULL, true);
    for (size_t g = 0; g < (long_tests() ? 4u : 1u); g++) {
        outcome other = run_case(ctx, device, solver, precision, 1, groups[g], true);
        same(&first, &other, solver, "another work-group");
        free(other.bits);
    }
    outcome again = run_case(ctx, device, solver, precision, 1, NULL, true);
    same(&first, &again, solver, "the same again");
    free(again.bits);
    free(first.bits);
}

START_TEST(bits_do_not_depend_on_work_groups) { one_of_all(check_groups, false, _i); }
END_TEST

static void check_boxes(bn_context *ctx, bn_device *device, const char *solver, const char *precision)
{
    static const int boxes[] = { 7, 2, 3 };
    outcome first = run_case(ctx, device, solver, precision, 1, NULL, true);
    for (size_t b = 0; b < (long_tests() ? 3u : 1u); b++) {
        outcome other = run_case(ctx, device, solver, precision, boxes[b], NULL, true);
        same(&first, &other, solver, "another cut into boxes");
        free(other.bits);
    }
    free(first.bits);
}

START_TEST(bits_do_not_depend_on_boxes) { one_of_all(check_boxes, true, _i); }
END_TEST

START_TEST(every_solver_has_a_starter_case_that_passes)
{
    bn_context *ctx;
    ck_assert_int_eq(bn_context_create(NULL, &ctx), BN_OK);
    for (const char *const *solver = bn_solver_names(); *solver; solver++) {
        char *text;
        bn_case *c;
        OK(bn_solver_starter(ctx, *solver, &text));
        OK(bn_case_parse(ctx, "starter.toml", text, NULL, 0, &c));
        bn_case_destroy(&c);
        free(text);
    }
    bn_context_destroy(&ctx);
}
END_TEST

static void add(TCase *tests)
{
    const int rounds = 2 * (int)solver_count();
    tcase_add_loop_test(tests, device_equals_reference, 0, rounds);
    tcase_add_loop_test(tests, bits_do_not_depend_on_work_groups, 0, rounds);
    tcase_add_loop_test(tests, bits_do_not_depend_on_boxes, 0, rounds);
    tcase_add_test(tests, every_solver_has_a_starter_case_that_passes);
}

int conformance_main(const char *solver)
{
    program_of = solver;
    return bn_test_main("conformance", add);
}
