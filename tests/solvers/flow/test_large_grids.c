/* test_large_grids.c: direct solutions where no work-group has a whole column (kernels/cut_columns.cl), on boxes of one
 * device and of several and in columns of many chunks, against the reference, bit for bit: ends given and mirrored,
 * separators that are coupled, or in some columns alone, or in none; and boxes that do not fit, whose system is solved
 * in one. And those where work-groups share a row (kernels/transform.cl), two or four, of each kind of ends. */
#include "support_case.h"

#include "linear_references.h"
#include "numerics/spectral.h"
#include "numerics/spectral_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In how many of the columns separators are coupled. */
typedef enum coupling { NONE, SOME, ALL } coupling;

/* -(kx, 1) in the two directions, and a mass. free: whether the left, right, bottom, top border is mirrored. */
typedef struct matrix {
    uint32_t nx, ny;
    double mass, kx;
    bool free[4];
    coupling coupled;
} matrix;

static uint8_t *bits_of(const matrix *m) { return bits_of_nodes(m->nx, m->ny, m->free, NULL); }

static bn_stencil stencil_of(const matrix *m, const uint8_t *bits)
{
    return (bn_stencil){ m->nx, m->ny, m->mass, m->kx, 1, bits, NULL, NULL };
}

/* The tests' matrices are what they are for. */
static void check_coupling(const matrix *m, bn_precision precision, const bn_stencil *s)
{
    bn_spectral_plan plan;
    ck_assert(bn_spectral_plan_create(s, precision == BN_DOUBLE ? 8 : 4, &plan));
    const size_t coupled = plan.columns.coupled, columns = plan.columns.columns;
    ck_assert_msg((coupled == 0        ? NONE
                   : coupled < columns ? SOME
                                       : ALL) == m->coupled,
                  "%u x %u: %zu of %zu", m->nx, m->ny, coupled, columns);
    bn_spectral_plan_destroy(&plan);
}

static bn_device *opened(int parts)
{
    bn_device *device;
    char text[16];
    without_optimiser(true);
    snprintf(text, sizeof text, "%d", parts);
    ck_assert_int_eq(setenv("BINNACLE_PARTITION", text, 1), 0);
    /* NaN in all halos that no launch has asked for. */
    ck_assert_int_eq(bn_context_create(&(bn_context_desc){ .debug = true }, &ctx), BN_OK);
    OK(bn_device_open(ctx, parts > 1 ? "all" : "auto", false, &device));
    ck_assert_uint_eq(bn_device_global_count(device), (size_t)parts);
    return device;
}

static void closed(bn_device *device)
{
    bn_device_close(&device);
    bn_context_destroy(&ctx);
}

static bn_grid grid_of(const matrix *m)
{
    return (bn_grid){ .dims = 2, .n = { m->nx, m->ny, 1 }, .h = { 1, 1, 1 }, .nodes = true };
}

/* Whether the boxes can have the columns. */
static void check_fits(const bn_stencil *s, bn_domain_desc how, bool fits)
{
    bn_domain *domain;
    OK(bn_domain_create(ctx, &how, &domain));
    ck_assert_msg(bn_spectral_fits_boxes(domain, s) == fits, "%u x %u in %d boxes", s->nx, s->ny, how.boxes);
    bn_domain_destroy(&domain);
}

static void check_same(const matrix *m, const double *a, const double *b, const char *what)
{
    for (size_t at = 0; at < (size_t)m->nx * m->ny; at++)
        ck_assert_msg(memcmp(&a[at], &b[at], sizeof *a) == 0, "%u x %u, %s: %.17g at node %zu of row %zu, not %.17g",
                      m->nx, m->ny, what, a[at], at % m->nx, at / m->nx, b[at]);
}

/* Right-hand sides at the unknowns, other values elsewhere. */
static double *values_of(const uint8_t *bits, size_t points, bool elsewhere, size_t seed)
{
    double *v = calloc(points, sizeof *v);
    ck_assert_ptr_nonnull(v);
    for (size_t at = 0; at < points; at++)
        v[at] = bits[at] ? 1 + (double)(float)noise_at(seed + at) : elsewhere ? (double)(float)noise_at(seed + at) : 0;
    return v;
}

/* One system. */
static void check_one(const matrix *m, bn_domain_desc how)
{
    const size_t points = (size_t)m->nx * m->ny;
    const bn_cg_target target = { how.precision == BN_DOUBLE ? 1e-10 : 1e-4, 1 };
    uint8_t *bits = bits_of(m);
    double *b = values_of(bits, points, false, 0);
    const bn_linear_desc desc = { .name = "the test's system",
                                  .stencil = stencil_of(m, bits),
                                  .method = BN_LINEAR_SPECTRAL };
    const answer whole = solve_by_reference(&desc, b, how.precision, &target);
    const answer cut = solve_on_device(&desc, b, how, &target);
    check_same(m, cut.x, whole.x, "one system");
    ck_assert_msg(whole.report.residual == cut.report.residual, "residuals %g and %g", whole.report.residual,
                  cut.report.residual);
    free(whole.x);
    free(cut.x);
    free(b);
    free(bits);
}

/* The same in place: what was no unknown stays. */
static void check_in_place(const matrix *m, bn_domain_desc how)
{
    const size_t points = (size_t)m->nx * m->ny;
    const bn_cg_target target = { how.precision == BN_DOUBLE ? 1e-10 : 1e-4, 1 };
    uint8_t *bits = bits_of(m);
    double *b = values_of(bits, points, false, 7), *x = values_of(bits, points, true, 7);
    const bn_linear_desc desc = { .name = "the test's system",
                                  .stencil = stencil_of(m, bits),
                                  .method = BN_LINEAR_SPECTRAL };
    const answer whole = solve_by_reference(&desc, b, how.precision, &target);
    bn_domain *domain;
    bn_field *field, *work;
    bn_spectral *s;
    for (size_t at = 0; at < points; at++)
        whole.x[at] = bits[at] ? whole.x[at] : x[at];
    OK(bn_domain_create(ctx, &how, &domain));
    OK(bn_field_create(domain, &(bn_field_desc){ .name = "x" }, &field));
    OK(bn_field_create(domain, &(bn_field_desc){ .name = "work" }, &work));
    OK(bn_field_set(field, x, points));
    OK(bn_spectral_create(domain, &desc.stencil, work, NULL, BN_LAUNCHES_AUTO, &s));
    OK(bn_spectral_ready(s));
    OK(bn_spectral_solve(s, field, field));
    OK(bn_field_get(field, x, points));
    check_same(m, x, whole.x, "in place");
    bn_spectral_destroy(&s);
    bn_field_destroy(&work);
    bn_field_destroy(&field);
    bn_domain_destroy(&domain);
    free(whole.x);
    free(x);
    free(b);
    free(bits);
}

/* Two coupled systems, of which the second one has a mass of its own. */
static void check_two(const matrix *m, double second_mass, bn_domain_desc how)
{
    const size_t points = (size_t)m->nx * m->ny;
    uint8_t *bits = bits_of(m);
    double *b = values_of(bits, points, false, 3), *plus = values_of(bits, points, true, 5);
    double *x[2] = { values_of(bits, points, true, 11), values_of(bits, points, true, 11) },
           *y[2] = { values_of(bits, points, true, 13), values_of(bits, points, true, 13) };
    bn_linear_desc desc[2] = {
        { .name = "A", .stencil = stencil_of(m, bits), .method = BN_LINEAR_SPECTRAL, .only_coupled = true },
        { .name = "B", .stencil = stencil_of(m, bits), .method = BN_LINEAR_SPECTRAL, .only_coupled = true },
    };
    desc[1].stencil.mass = second_mass;
    solve_two_by_reference(desc, b, plus, how.precision, x[0], y[0]);
    solve_two_on_device(desc, b, plus, how, x[1], y[1]);
    check_same(m, x[1], x[0], "first of two");
    check_same(m, y[1], y[0], "second of two");
    for (int i = 0; i < 2; i++) {
        free(x[i]);
        free(y[i]);
    }
    free(plus);
    free(b);
    free(bits);
}

enum { ONE = 1, TWO = 2, IN_PLACE = 4 };

static void compare(const matrix *m, double second_mass, int which, bool fits, bn_domain_desc how)
{
    uint8_t *bits = bits_of(m);
    const bn_stencil s = stencil_of(m, bits);
    how.grid = grid_of(m);
    how.halo = 1;
    check_coupling(m, how.precision, &s);
    check_fits(&s, how, fits);
    free(bits);
    if (which & ONE)
        check_one(m, how);
    if (which & IN_PLACE)
        check_in_place(m, how);
    if (which & TWO)
        check_two(m, second_mass, how);
}

/* Rows that are split twice; the last separator has 16 nodes behind it, and a row of nodes that is none of its own. */
static const matrix given = { 43, 545, 0, 1, { false }, SOME };
/* The low end is mirrored, and the high one within a chunk. */
static const matrix mirrored = { 9, 521, 1e-3, 0.1, { true, false, true, true }, ALL };
/* The last separator is the mirrored high end. */
static const matrix at_end = { 6, 4097, 0, 0.02, { [3] = true }, ALL };
/* So much that no separator sees another. */
static const matrix heavy = { 9, 530, 60, 1, { true, true, true, false }, NONE };

TEST(two_boxes_of_one_device)
{
    bn_device *device = opened(1);
    const bn_domain_desc how = { .boxes = 2, .align = 16, .device = device };
    compare(&given, 0, ONE | IN_PLACE, true, how);
    compare(&heavy, 0, TWO, true, how);
    closed(device);
}

TEST(two_boxes_of_two_devices)
{
    bn_device *device = opened(2);
    const matrix steep = { 17, 561, 0, 8, { false }, SOME };
    compare(&steep, 100, ONE | TWO, true,
            (bn_domain_desc){ .precision = BN_DOUBLE, .boxes = 2, .align = 16, .device = device });
    compare(&mirrored, 0.1, TWO, true, (bn_domain_desc){ .boxes = 2, .align = 16, .device = device });
    closed(device);
}

TEST(four_boxes_of_two_devices)
{
    bn_device *device = opened(2);
    compare(&at_end, 1, TWO, true,
            (bn_domain_desc){ .boxes = 4, .align = 64, .device = device, .work_group = { 7, 1, 1 } });
    closed(device);
}

/* The box in the middle has a neighbour on either side, and each device its copy of the separators. */
TEST(three_devices)
{
    bn_device *device = opened(3);
    const matrix tall = { 5, 3137, 0, 0.02, { [2] = true }, ALL };
    compare(&tall, 30, TWO, true, (bn_domain_desc){ .boxes = 3, .align = 64, .device = device });
    closed(device);
}

TEST(boxes_that_do_not_fit)
{
    bn_device *device = opened(2);
    const matrix wide = { 300, 40, 0, 1, { [1] = true }, ALL };
    compare(&given, 0, TWO, false, (bn_domain_desc){ .boxes = 3, .device = device });
    compare(&wide, 0, ONE, false, (bn_domain_desc){ .boxes = 2, .align = 16, .device = device });
    closed(device);
}

/* With the kernels of GPUs more than bn_column_chunks_most() chunks of a column go by the same way in one box. */
TEST(many_chunks_of_a_gpu)
{
    ck_assert_int_eq(setenv("BINNACLE_DEVICE_TYPE", "gpu", 1), 0);
    bn_device *device = opened(1);
    const matrix tall = { 6, 8258, 0, 0.02, { [2] = true, [3] = true }, ALL };
    compare(&tall, 30, ONE | TWO, true, (bn_domain_desc){ .device = device });
    closed(device);
}

TEST(boxes_of_gpus)
{
    ck_assert_int_eq(setenv("BINNACLE_DEVICE_TYPE", "gpu", 1), 0);
    bn_device *device = opened(2);
    compare(&given, 1, TWO, true, (bn_domain_desc){ .boxes = 2, .align = 16, .device = device });
    closed(device);
}

/* On a GPU, or on a CPU as one, whose work-groups share a row. Of few work-items: what all of a work-group keep lies on
 * the stack, and is much without the optimiser. */
static void check_shared(const matrix *m, bn_precision precision, int share_log, int which, bn_device *device)
{
    uint8_t *bits = bits_of(m);
    const bn_stencil s = stencil_of(m, bits);
    bn_spectral_plan plan;
    ck_assert(bn_spectral_plan_create(&s, precision == BN_DOUBLE ? 8 : 4, &plan));
    ck_assert_msg(plan.axis[0].share_log == share_log, "%u nodes: %d", m->nx, plan.axis[0].share_log);
    bn_spectral_plan_destroy(&plan);
    free(bits);
    compare(m, 1, which, true,
            (bn_domain_desc){ .precision = precision, .device = device, .work_group = { 32, 1, 1 } });
}

TEST(rows_that_work_groups_share)
{
    ck_assert_int_eq(setenv("BINNACLE_DEVICE_TYPE", "gpu", 1), 0);
    bn_device *device = opened(1);
    check_shared(&(matrix){ 8193, 5, 0, 1, { false }, NONE }, BN_SINGLE, 1, ONE | TWO, device);
    check_shared(&(matrix){ 16385, 4, 0, 1, { false }, NONE }, BN_SINGLE, 2, ONE, device);
    check_shared(&(matrix){ 4097, 5, 0, 1, { true, true }, NONE }, BN_SINGLE, 1, ONE, device);
    check_shared(&(matrix){ 8193, 4, 0, 1, { true, true, true }, NONE }, BN_SINGLE, 2, TWO, device);
    check_shared(&(matrix){ 4097, 6, 0, 1, { true, false }, NONE }, BN_SINGLE, 1, TWO, device);
    check_shared(&(matrix){ 4097, 5, 0, 1, { false }, NONE }, BN_DOUBLE, 1, TWO, device);
    check_shared(&(matrix){ 8193, 4, 0, 1, { false }, NONE }, BN_DOUBLE, 2, ONE, device);
    check_shared(&(matrix){ 2049, 7, 0, 1, { true, true }, NONE }, BN_DOUBLE, 1, ONE, device);
    check_shared(&(matrix){ 4097, 5, 0, 1, { false, true }, NONE }, BN_DOUBLE, 2, ONE, device);
    closed(device);
}

TEST(rows_as_long_on_a_cpu)
{
    bn_device *device = opened(1);
    compare(&(matrix){ 8193, 5, 0, 1, { false }, NONE }, 1, TWO, true, (bn_domain_desc){ .device = device });
    compare(&(matrix){ 4097, 5, 0, 1, { true, true }, NONE }, 1, ONE, true,
            (bn_domain_desc){ .precision = BN_DOUBLE, .device = device });
    closed(device);
}

/* In boxes, whose pairs of rows are the same. */
TEST(shared_rows_in_boxes)
{
    ck_assert_int_eq(setenv("BINNACLE_DEVICE_TYPE", "gpu", 1), 0);
    bn_device *device = opened(2);
    compare(&(matrix){ 4097, 545, 0, 1, { [2] = true }, ALL }, 1, TWO, true,
            (bn_domain_desc){ .precision = BN_DOUBLE, .boxes = 2, .align = 16, .whole_rows = true, .device = device });
    closed(device);
}

int main(void) { return bn_test_main("large_grids", NULL, NULL); }
