/* test_multigrid_boxes.c: conjugate gradients with multigrid on grids cut into boxes, on one device and on several,
 * against the reference, bit for bit. The grid is large enough that two of multigrid's coarser grids are cut too, and
 * odd sizes meet the border. */
#include "support_case.h"

#include "linear_references.h"
#include "numerics/multigrid.h"

#include <stdlib.h>
#include <string.h>

enum { NX = 802, NY = 523, POINTS = NX * NY };

/* An obstacle that the cuts of two by two boxes go through; the right side is mirrored. */
static bool solid(int i, int j) { return i > 480 && i < 550 && j > 200 && j < 300; }

static uint8_t *bits_of(void)
{
    bool *unknown = calloc(POINTS, sizeof *unknown), *cell = calloc(POINTS, sizeof *cell);
    uint8_t *bits = calloc(POINTS, 1);
    ck_assert(unknown && cell && bits);
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            unknown[j * NX + i] = i > 0 && j > 0 && j + 1 < NY && !solid(i, j);
            if (i + 1 < NX && j + 1 < NY)
                cell[j * (NX - 1) + i] = !(solid(i, j) && solid(i + 1, j) && solid(i, j + 1) && solid(i + 1, j + 1));
        }
    bn_stencil_bits(NX, NY, unknown, cell, bits);
    free(unknown);
    free(cell);
    return bits;
}

static bn_linear_desc system_of(const uint8_t *bits)
{
    return (bn_linear_desc){ .name = "the test's system",
                             .stencil = { NX, NY, 0, 1, 1.5, bits, NULL },
                             .method = BN_LINEAR_MULTIGRID };
}

static bn_cg_target target_of(bn_precision p) { return (bn_cg_target){ p == BN_DOUBLE ? 1e-10 : 1e-4, 100 }; }

static void right_side(const uint8_t *bits, double *b)
{
    for (int at = 0; at < POINTS; at++)
        b[at] = bits[at] ? (double)(float)(1 + 0.001 * (at * 37 % 1009)) : 0;
}

/* The reference's solution. To be freed. */
static double *reference_solution(bn_precision precision, bn_cg_report *report)
{
    bn_linear_reference *reference;
    uint8_t *bits = bits_of();
    double *x = calloc(POINTS, sizeof *x), *b = calloc(POINTS, sizeof *b);
    float *one = calloc(POINTS, sizeof *one), *right = calloc(POINTS, sizeof *right);
    ck_assert(x && b && one && right);
    const bn_linear_desc desc = system_of(bits);
    const bn_cg_target target = target_of(precision);
    right_side(bits, b);
    if (precision == BN_DOUBLE) {
        OK(bn_linear_reference_create_double(ctx, &desc, &reference));
        OK(bn_linear_reference_solve_double(reference, x, b, &target, report));
        bn_linear_reference_destroy_double(&reference);
    } else {
        for (int at = 0; at < POINTS; at++)
            right[at] = (float)b[at];
        OK(bn_linear_reference_create_single(ctx, &desc, &reference));
        OK(bn_linear_reference_solve_single(reference, one, right, &target, report));
        bn_linear_reference_destroy_single(&reference);
        for (int at = 0; at < POINTS; at++)
            x[at] = (double)one[at];
    }
    free(b);
    free(one);
    free(right);
    free(bits);
    return x;
}

/* Solves on so many boxes of the devices of a list. To be freed. */
static double *solve(const char *devices, int boxes, int margin, bn_precision precision, bn_cg_report *report)
{
    enum { X, B, BITS, R, P, Q, Z, FIELDS };
    static const char *const names[FIELDS] = { "x", "b", "bits", "r", "p", "q", "z" };
    bn_device *device;
    bn_domain *domain;
    bn_field *f[FIELDS];
    bn_linear *linear;
    uint8_t *bits = bits_of();
    double *x = calloc(POINTS, sizeof *x);
    ck_assert_ptr_nonnull(x);
    right_side(bits, x);
    OK(bn_device_open(ctx, devices, false, &device));
    const bn_domain_desc desc = { .grid = { .dims = 2, .n = { NX, NY, 1 }, .h = { 1, 1, 1 }, .nodes = true },
                                  .precision = precision,
                                  .halo = 1 + margin,
                                  .ghost_cells = margin,
                                  .boxes = boxes,
                                  .align = 64,
                                  .device = device,
                                  .work_group = { 48, 1, 1 } };
    OK(bn_domain_create(ctx, &desc, &domain));
    ck_assert_uint_eq(bn_domain_boxes(domain), (size_t)boxes);
    ck_assert_uint_eq(bn_device_global_count(device), strcmp(devices, "all") == 0 ? 2 : 1);
    for (int i = 0; i < FIELDS; i++)
        OK(bn_field_create(domain, &(bn_field_desc){ .name = names[i], .type = i == BITS ? BN_T_U8 : BN_T_REAL },
                           &f[i]));
    OK(bn_field_set(f[B], x, POINTS));
    const bn_linear_desc system = system_of(bits);
    const bn_cg_target target = target_of(precision);
    OK(bn_linear_create(domain, &system,
                        &(bn_linear_work){ .bits = f[BITS], .r = f[R], .p = f[P], .q = f[Q], .z = f[Z] }, &linear));
    OK(bn_linear_solve(linear, f[X], f[B], &target));
    OK(bn_linear_report(linear, report));
    OK(bn_field_get(f[X], x, POINTS));
    OK(bn_domain_check_canaries(domain));
    bn_linear_destroy(&linear);
    for (int i = 0; i < FIELDS; i++)
        bn_field_destroy(&f[i]);
    bn_domain_destroy(&domain);
    bn_device_close(&device);
    free(bits);
    return x;
}

/* Boxes with NaN in all halos that no launch has asked for. */
static void compare(const char *devices, int boxes, int margin, bn_precision precision)
{
    bn_cg_report whole, cut;
    ck_assert_int_eq(bn_context_create(&(bn_context_desc){ .debug = true }, &ctx), BN_OK);
    double *one = reference_solution(precision, &whole);
    double largest = 0;
    for (int at = 0; at < POINTS; at++)
        largest = fmax(largest, fabs(one[at]));
    ck_assert_msg(largest > 100 && largest < 1e6, "a solution of size %g", largest); /* of order b NY^2 / 8 */
    ck_assert_msg(whole.iterations >= 3 && whole.iterations < 20, "%u cycles", whole.iterations);
    double *several = solve(devices, boxes, margin, precision, &cut);
    ck_assert_msg(memcmp(one, several, POINTS * sizeof *one) == 0, "%d boxes: other bits", boxes);
    ck_assert_msg(whole.state == cut.state && whole.iterations == cut.iterations && whole.residual == cut.residual,
                  "%d boxes: %u and %u cycles, residuals %g and %g", boxes, whole.iterations, cut.iterations,
                  whole.residual, cut.residual);
    free(several);
    free(one);
    bn_context_destroy(&ctx);
}

TEST(four_boxes_of_one_device)
{
    if (long_tests())
        compare("auto", 4, BN_MULTIGRID_GHOST_CELLS, BN_SINGLE);
}

TEST(two_boxes_of_two_devices)
{
    ck_assert_int_eq(setenv("BINNACLE_PARTITION", "2", 1), 0);
    compare("all", 2, BN_MULTIGRID_GHOST_CELLS, BN_DOUBLE);
}

TEST(boxes_without_ghost_cells_are_solved_whole)
{
    if (!long_tests())
        return;
    ck_assert_int_eq(setenv("BINNACLE_PARTITION", "2", 1), 0);
    compare("all", 2, 0, BN_DOUBLE);
}

TEST(four_boxes_of_two_devices) /* two by two: corners */
{
    ck_assert_int_eq(setenv("BINNACLE_PARTITION", "2", 1), 0);
    compare("all", 4, BN_MULTIGRID_GHOST_CELLS, BN_SINGLE);
}

TEST(three_boxes_of_two_devices)
{
    if (!long_tests())
        return;
    ck_assert_int_eq(setenv("BINNACLE_PARTITION", "2", 1), 0);
    compare("all", 3, BN_MULTIGRID_GHOST_CELLS, BN_SINGLE);
}

int main(void) { return bn_test_main("multigrid_boxes", NULL, NULL); }
