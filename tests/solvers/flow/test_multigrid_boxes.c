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
    static const bool mirrored[4] = { [1] = true };
    static bool nodes[POINTS];
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            nodes[j * NX + i] = solid(i, j);
    return bits_of_nodes(NX, NY, mirrored, nodes);
}

/* Boxes with NaN in all halos that no launch has asked for. */
static void compare(const char *devices, int boxes, int margin, bn_precision precision)
{
    const bn_cg_target target = { precision == BN_DOUBLE ? 1e-10 : 1e-4, 100 };
    bn_device *device;
    ck_assert_int_eq(bn_context_create(&(bn_context_desc){ .debug = true }, &ctx), BN_OK);
    OK(bn_device_open(ctx, devices, false, &device));
    ck_assert_uint_eq(bn_device_global_count(device), strcmp(devices, "all") == 0 ? 2 : 1);
    uint8_t *bits = bits_of();
    double *b = calloc(POINTS, sizeof *b), largest = 0;
    ck_assert_ptr_nonnull(b);
    for (int at = 0; at < POINTS; at++)
        b[at] = bits[at] ? (double)(float)(1 + 0.001 * (at * 37 % 1009)) : 0;
    const bn_linear_desc system = { .name = "the test's system",
                                    .stencil = { NX, NY, 0, 1, 1.5, bits, NULL, NULL },
                                    .method = BN_LINEAR_MULTIGRID };
    const answer whole = solve_by_reference(&system, b, precision, &target);
    for (int at = 0; at < POINTS; at++)
        largest = fmax(largest, fabs(whole.x[at]));
    ck_assert_msg(largest > 100 && largest < 1e6, "a solution of size %g", largest); /* of order b NY^2 / 8 */
    ck_assert_msg(whole.report.iterations >= 3 && whole.report.iterations < 20, "%u cycles", whole.report.iterations);
    const answer cut = solve_on_device(&system, b,
                                       (bn_domain_desc){ .precision = precision,
                                                         .halo = 1 + margin,
                                                         .ghost_cells = margin,
                                                         .boxes = boxes,
                                                         .align = 64,
                                                         .device = device,
                                                         .work_group = { 48, 1, 1 } },
                                       &target);
    ck_assert_msg(memcmp(whole.x, cut.x, POINTS * sizeof *cut.x) == 0, "%d boxes: other bits", boxes);
    ck_assert_msg(whole.report.state == cut.report.state && whole.report.iterations == cut.report.iterations &&
                      whole.report.residual == cut.report.residual,
                  "%d boxes: %u and %u cycles, residuals %g and %g", boxes, whole.report.iterations,
                  cut.report.iterations, whole.report.residual, cut.report.residual);
    free(whole.x);
    free(cut.x);
    free(b);
    free(bits);
    bn_device_close(&device);
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
