/* linear_references.c: one system, or two coupled ones, solved either way. */
#include "support_case.h"

#include "linear_references.h"

#include <stdlib.h>

double noise_at(size_t at)
{
    uint64_t x = at * 0x9e3779b97f4a7c15u + 0x1234567u;
    x ^= x >> 31;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 29;
    return (double)(x % 2000001) / 1e6 - 1;
}

uint8_t *bits_of_nodes(uint32_t nx, uint32_t ny, const bool mirrored[4], const bool *solid)
{
    const size_t points = (size_t)nx * ny;
    bool *unknown = calloc(points, sizeof *unknown), *cell = calloc(points, sizeof *cell);
    uint8_t *bits = calloc(points, 1);
    ck_assert(unknown && cell && bits);
    for (uint32_t j = 0; j < ny; j++)
        for (uint32_t i = 0; i < nx; i++) {
            const size_t at = (size_t)j * nx + i;
            unknown[at] = (i > 0 || mirrored[0]) && (i + 1 < nx || mirrored[1]) && (j > 0 || mirrored[2]) &&
                          (j + 1 < ny || mirrored[3]) && !(solid && solid[at]);
            if (i + 1 < nx && j + 1 < ny)
                cell[j * (nx - 1) + i] = !(solid && solid[at] && solid[at + 1] && solid[at + nx] && solid[at + nx + 1]);
        }
    bn_stencil_bits(nx, ny, unknown, cell, bits);
    free(unknown);
    free(cell);
    return bits;
}

answer solve_on_device(const bn_linear_desc *desc, const double *b, bn_domain_desc how, const bn_cg_target *target)
{
    enum { X, B, BITS, R, P, Q, Z, FIELDS };
    static const char *const names[FIELDS] = { "x", "b", "bits", "r", "p", "q", "z" };
    const size_t points = (size_t)desc->stencil.nx * desc->stencil.ny;
    bn_domain *domain;
    bn_field *f[FIELDS];
    bn_linear *linear;
    answer a = { .x = malloc(points * sizeof *a.x) };
    ck_assert_ptr_nonnull(a.x);
    how.grid = (bn_grid){ .dims = 2, .n = { desc->stencil.nx, desc->stencil.ny, 1 }, .h = { 1, 1, 1 }, .nodes = true };
    OK(bn_domain_create(ctx, &how, &domain));
    ck_assert(how.boxes == 0 || bn_domain_boxes(domain) == (size_t)how.boxes);
    for (int i = 0; i < FIELDS; i++)
        OK(bn_field_create(domain, &(bn_field_desc){ .name = names[i], .type = i == BITS ? BN_T_U8 : BN_T_REAL },
                           &f[i]));
    OK(bn_field_set(f[B], b, points));
    OK(bn_linear_create(domain, desc, &(bn_linear_work){ f[BITS], f[R], f[P], f[Q], f[Z] }, &linear));
    OK(bn_linear_prepare(linear));
    OK(bn_linear_solve(linear, f[X], f[B], target));
    OK(bn_linear_report(linear, &a.report));
    OK(bn_field_get(f[X], a.x, points));
    OK(bn_domain_check_canaries(domain));
    bn_linear_destroy(&linear);
    for (int i = 0; i < FIELDS; i++)
        bn_field_destroy(&f[i]);
    bn_domain_destroy(&domain);
    return a;
}

answer solve_by_reference(const bn_linear_desc *desc, const double *b, bn_precision precision,
                          const bn_cg_target *target)
{
    const size_t points = (size_t)desc->stencil.nx * desc->stencil.ny;
    answer a = { .x = calloc(points, sizeof *a.x) };
    float *x = calloc(points, sizeof *x), *right = calloc(points, sizeof *right);
    bn_linear_reference *reference;
    ck_assert(a.x && x && right);
    if (precision == BN_DOUBLE) {
        OK(bn_linear_reference_create_double(ctx, desc, &reference));
        OK(bn_linear_reference_solve_double(reference, a.x, b, target, &a.report));
        bn_linear_reference_destroy_double(&reference);
    } else {
        for (size_t at = 0; at < points; at++)
            right[at] = (float)b[at];
        OK(bn_linear_reference_create_single(ctx, desc, &reference));
        OK(bn_linear_reference_solve_single(reference, x, right, target, &a.report));
        bn_linear_reference_destroy_single(&reference);
        for (size_t at = 0; at < points; at++)
            a.x[at] = (double)x[at];
    }
    free(x);
    free(right);
    return a;
}

void solve_two_by_reference(const bn_linear_desc desc[2], const double *b, const double *plus, bn_precision precision,
                            double *x, double *y)
{
    const size_t points = (size_t)desc->stencil.nx * desc->stencil.ny;
    bn_linear_reference *reference[2];
    if (precision == BN_DOUBLE) {
        for (int i = 0; i < 2; i++)
            OK(bn_linear_reference_create_double(ctx, &desc[i], &reference[i]));
        bn_linear_reference_solve_two_double(reference[0], reference[1], x, y, b, plus);
        for (int i = 0; i < 2; i++)
            bn_linear_reference_destroy_double(&reference[i]);
        return;
    }
    enum { X, Y, B, PLUS, ARRAYS };
    float *single = calloc(ARRAYS * points, sizeof *single);
    ck_assert_ptr_nonnull(single);
    for (size_t at = 0; at < points; at++) {
        single[X * points + at] = (float)x[at];
        single[Y * points + at] = (float)y[at];
        single[B * points + at] = (float)b[at];
        single[PLUS * points + at] = (float)plus[at];
    }
    for (int i = 0; i < 2; i++)
        OK(bn_linear_reference_create_single(ctx, &desc[i], &reference[i]));
    bn_linear_reference_solve_two_single(reference[0], reference[1], single + X * points, single + Y * points,
                                         single + B * points, single + PLUS * points);
    for (int i = 0; i < 2; i++)
        bn_linear_reference_destroy_single(&reference[i]);
    for (size_t at = 0; at < points; at++) {
        x[at] = (double)single[X * points + at];
        y[at] = (double)single[Y * points + at];
    }
    free(single);
}

void solve_two_on_device(const bn_linear_desc desc[2], const double *b, const double *plus, bn_domain_desc how,
                         double *x, double *y)
{
    static const char *const names[] = { "x", "y", "b", "r", "p", "q", "plus", "bits", "bits of B" };
    enum { X, Y, B, R, P, Q, PLUS, BITS, FIELDS = BITS + 2 };
    const size_t points = (size_t)desc->stencil.nx * desc->stencil.ny;
    bn_domain *domain;
    bn_field *f[FIELDS];
    bn_linear *linear[2];
    how.grid = (bn_grid){ .dims = 2, .n = { desc->stencil.nx, desc->stencil.ny, 1 }, .h = { 1, 1, 1 }, .nodes = true };
    OK(bn_domain_create(ctx, &how, &domain));
    ck_assert(how.boxes == 0 || bn_domain_boxes(domain) == (size_t)how.boxes);
    for (int i = 0; i < FIELDS; i++)
        OK(bn_field_create(domain, &(bn_field_desc){ .name = names[i], .type = i < BITS ? BN_T_REAL : BN_T_U8 },
                           &f[i]));
    OK(bn_field_set(f[X], x, points));
    OK(bn_field_set(f[Y], y, points));
    OK(bn_field_set(f[B], b, points));
    OK(bn_field_set(f[PLUS], plus, points));
    for (int i = 0; i < 2; i++)
        OK(bn_linear_create(domain, &desc[i], &(bn_linear_work){ f[BITS + i], f[R], f[P], f[Q], NULL }, &linear[i]));
    OK(bn_linear_couple(linear[0], &desc[0].stencil, &(bn_linear_work){ f[BITS], f[R], f[P], f[Q], NULL },
                        &desc[1].stencil, f[PLUS]));
    OK(bn_linear_ready(linear[0]));
    OK(bn_linear_solve_two(linear[0], f[X], f[Y], f[B]));
    OK(bn_field_get(f[X], x, points));
    OK(bn_field_get(f[Y], y, points));
    OK(bn_domain_check_canaries(domain));
    for (int i = 0; i < 2; i++)
        bn_linear_destroy(&linear[i]);
    for (int i = 0; i < FIELDS; i++)
        bn_field_destroy(&f[i]);
    bn_domain_destroy(&domain);
}
