/* test_linear.c: all linear solvers (src/numerics/linear.h) on a device against their references, bit for bit, and
 * against the equations themselves, for matrices of every kind: mirrored borders, obstacles, unequal spacing, odd and
 * even sizes. */
#include "support_case.h"

#include "linear_references.h"
#include "numerics/spectral_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bn_device *device;

static void open_device(void)
{
    open_context();
    without_optimiser(true);
    device = opened_device();
}

/* free: whether the left, right, bottom, top border is mirrored (its nodes are unknowns). */
typedef enum obstacle { NOTHING, ISLAND, BUMP, STRETCHED } obstacle; /* the last one: none, but on a stretched grid */
typedef struct matrix {
    uint32_t nx, ny;
    double mass, kx, ky;
    bool free[4];
    obstacle obstacle;
} matrix;

static bool solid(const matrix *m, uint32_t i, uint32_t j)
{
    const bool across = i > m->nx / 3 && i < m->nx / 2;
    return m->obstacle == ISLAND ? across && j > m->ny / 3 && j < 2 * m->ny / 3
                                 : m->obstacle == BUMP && across && j < m->ny / 3;
}

static uint8_t *bits_of(const matrix *m)
{
    bool *nodes = calloc((size_t)m->nx * m->ny, sizeof *nodes);
    ck_assert_ptr_nonnull(nodes);
    for (uint32_t j = 0; j < m->ny; j++)
        for (uint32_t i = 0; i < m->nx; i++)
            nodes[j * m->nx + i] = solid(m, i, j);
    uint8_t *bits = bits_of_nodes(m->nx, m->ny, m->free, nodes);
    free(nodes);
    return bits;
}

/* Cells that grow threefold from the ends to the middle, over their mean; NULL: all alike. To be freed. */
static double *widths_of(const matrix *m)
{
    if (m->obstacle != STRETCHED)
        return NULL;
    double *widths = calloc((size_t)m->nx + m->ny, sizeof *widths), *at = widths;
    ck_assert_ptr_nonnull(widths);
    for (int dim = 0; dim < 2; dim++) {
        const uint32_t cells = (dim ? m->ny : m->nx) - 1;
        double sum = 0;
        for (uint32_t c = 0; c < cells; c++)
            sum += at[c] = 2 - cos(2 * 3.14159265358979323846 * (c + 0.5) / cells);
        for (uint32_t c = 0; c < cells; c++)
            at[c] *= cells / sum;
        at += cells;
    }
    return widths;
}

/* The control volume of a node of a rectangle on a stretched grid. */
static double area_at(const bn_stencil *s, uint32_t i, uint32_t j)
{
    const double *x = s->widths, *y = x + s->nx - 1;
    return 0.25 * ((i > 0 ? x[i - 1] : 0) + (i + 1 < s->nx ? x[i] : 0)) *
           ((j > 0 ? y[j - 1] : 0) + (j + 1 < s->ny ? y[j] : 0));
}

/* |b - A x| / |b| in double, and in *rounding the u (|A| |x| + |b|) / |b| that rounding x to a precision may cost. */
static double residual(const bn_stencil *s, const double *x, const double *b, double u, double *rounding)
{
    double xx = 0;
    const long step[4] = { -1, 1, -(long)s->nx, (long)s->nx };
    double diagonal[BN_DIAGONALS], rr = 0, bb = 0;
    bn_stencil_diagonals(s, diagonal);
    for (size_t at = 0; at < (size_t)s->nx * s->ny; at++) {
        if (!s->bits[at])
            continue;
        const uint32_t i = (uint32_t)(at % s->nx), j = (uint32_t)(at / s->nx);
        double own = s->widths ? s->mass * area_at(s, i, j) : diagonal[s->bits[at] & BN_CELLS], r = b[at];
        for (int d = 0; d < 4; d++) {
            const double face = bn_stencil_coupling(s, s->bits[at], d, i, j);
            if (s->widths)
                own += face;
            if (s->bits[at] & BN_LINK_WEST << d)
                r += face * x[(size_t)((long)at + step[d])];
        }
        r -= own * x[at];
        rr += r * r;
        bb += b[at] * b[at];
        xx += x[at] * x[at];
    }
    *rounding = u * (bn_stencil_norm(s) * sqrt(xx / bb) + 1);
    return sqrt(rr / bb);
}

static void check_equal(const answer *a, const answer *b, size_t points, const char *what)
{
    ck_assert_msg(memcmp(a->x, b->x, points * sizeof *a->x) == 0, "%s: other bits", what);
    ck_assert_msg(a->report.state == b->report.state && a->report.iterations == b->report.iterations &&
                      a->report.residual == b->report.residual,
                  "%s: states %d and %d, %u and %u iterations, residuals %g and %g", what, a->report.state,
                  b->report.state, a->report.iterations, b->report.iterations, a->report.residual, b->report.residual);
}

/* How much is checked: compiling kernels for one more size or group takes a second. */
typedef enum extent { REFERENCE_ONLY, SINGLE_ONLY, BOTH_PRECISIONS, ALL_GROUPS } extent;

/* One matrix by one method, cut and grouped in several ways. Returns the iterations in the last precision. */
static unsigned check_in(const matrix *m, bn_linear_method method, bn_launches launches, extent how)
{
    static const size_t groups[][3] = { { 0, 0, 0 }, { 7, 1, 1 } };
    const matrix without = { m->nx,  m->ny, m->mass, m->kx, m->ky, { m->free[0], m->free[1], m->free[2], m->free[3] },
                             NOTHING };
    const bool obstacles = m->obstacle == ISLAND || m->obstacle == BUMP;
    uint8_t *bits = bits_of(m), *rectangle = obstacles ? bits_of(&without) : NULL;
    const size_t points = (size_t)m->nx * m->ny;
    double *b = calloc(points, sizeof *b), *widths = widths_of(m);
    ck_assert_ptr_nonnull(b);
    for (size_t at = 0; at < points; at++)
        b[at] = bits[at] ? (double)(float)(1 + noise_at(at)) : 0;
    const bn_linear_desc desc = { .name = "the test's system",
                                  .stencil = { m->nx, m->ny, m->mass, m->kx, m->ky, bits, widths, rectangle },
                                  .method = method,
                                  .launches = launches };
    unsigned iterations = 0;
    for (int p = 0; p < (bn_device_describe(device)->fp64 && how != SINGLE_ONLY ? 2 : 1); p++) {
        const double tolerance = p == BN_DOUBLE ? 1e-10 : 1e-5;
        const bn_cg_target target = { tolerance, 5000 };
        char what[128];
        answer reference = solve_by_reference(&desc, b, (bn_precision)p, &target);
        iterations = reference.report.iterations;
        double rounding;
        const double left = residual(&desc.stencil, reference.x, b, p == BN_DOUBLE ? 0x1p-53 : 0x1p-24, &rounding);
        snprintf(what, sizeof what, "%u x %u, obstacle %d, method %d, precision %d", m->nx, m->ny, m->obstacle, method,
                 p);
        /* The numbers that README and messages give must be the truth. */
        ck_assert_msg(left <= 1.01 * tolerance || left <= 6 * rounding, "%s: residual %g, rounding %g", what, left,
                      rounding);
        ck_assert_msg(fabs(left - reference.report.residual) <= 0.01 * left + 2 * rounding,
                      "%s: residual %g, reported %g", what, left, reference.report.residual);
        /* Other groups and boxes in single precision alone: the bits of a precision do not depend on them. */
        for (size_t g = 0; how != REFERENCE_ONLY && g < (how == ALL_GROUPS && p == BN_SINGLE ? 2u : 1u); g++) {
            answer a = solve_on_device(&desc, b,
                                       (bn_domain_desc){ .precision = (bn_precision)p,
                                                         .halo = BN_CG_RADIUS,
                                                         .boxes = g == 1 ? 3 : 1,
                                                         .device = device,
                                                         .work_group = { groups[g][0], groups[g][1], groups[g][2] } },
                                       &target);
            check_equal(&a, &reference, points, what);
            free(a.x);
        }
        free(reference.x);
    }
    free(bits);
    free(rectangle);
    free(b);
    free(widths);
    return iterations;
}

static unsigned check(const matrix *m, bn_linear_method method, extent how)
{
    return check_in(m, method, BN_LAUNCHES_AUTO, how);
}

/* Rows of those that are cut into three boxes are three times a number of blocks: PoCL compiles for each shape. */
static const matrix matrices[] = {
    { 33, 33, 0, 1024, 1024, { false }, NOTHING },
    { 39, 24, 0, 1444, 529, { false }, NOTHING }, /* a column without a partner; split lines, one of them of an odd
                                                     number of intervals */
    { 17, 129, 0, 16, 400, { true }, NOTHING },
    { 300, 37, 1, 3, 0.7, { true, true, false, false }, NOTHING },
    { 5, 5, 0, 16, 16, { false }, NOTHING },
    { 65, 257, 0, 1, 1, { true, true }, NOTHING },
    { 33, 17, 1, 50, 20, { true, true, true, true }, NOTHING },
    { 34, 33, 0, 1, 1, { true, false, false, true }, NOTHING },
    { 65, 48, 0, 1, 1, { false, true }, ISLAND },
    { 50, 48, 0, 1, 2, { false }, BUMP },
    { 42, 31, 1, 3, 2, { true, true, true, true }, NOTHING },  /* split between mirrored ends */
    { 43, 36, 0, 1764, 1225, { false, true }, NOTHING },       /* split twice */
    { 132, 9, 1, 3, 2, { true, true, true, true }, NOTHING },  /* convolved between mirrored ends */
    { 150, 9, 0, 3, 1, { true }, NOTHING },                    /* convolved between unlike ones */
    { 9, 177, 0, 1, 3, { [2] = true }, NOTHING },              /* columns in longer chunks, the last of them full, */
    { 6, 674, 1, 1, 3, { [3] = true }, NOTHING },              /* or a separator alone, */
    { 5, 1283, 0, 1, 3, { false }, NOTHING },                  /* or two nodes */
    { 5, 8258, 0, 1, 3, { [2] = true, [3] = true }, NOTHING }, /* more chunks than a work-group takes */
};
enum { MATRICES = sizeof matrices / sizeof *matrices };

TEST(plain_iterations_equal_the_reference)
{
    check(&matrices[2], BN_LINEAR_CG, SINGLE_ONLY);
    check(&matrices[3], BN_LINEAR_CG, SINGLE_ONLY);
    check(&matrices[8], BN_LINEAR_CG, ALL_GROUPS);
}

TEST(direct_solutions_equal_the_reference)
{
    check(&matrices[1], BN_LINEAR_SPECTRAL, ALL_GROUPS);
    for (int i = 2; i < MATRICES; i++) {
        /* One is larger, with sides as the third has them; one is among the two systems below. */
        const bool more = i == 5 || i == 7;
        if (matrices[i].obstacle == NOTHING && (!more || long_tests()))
            check(&matrices[i], BN_LINEAR_SPECTRAL, i == 2 || i == 5 ? BOTH_PRECISIONS : SINGLE_ONLY);
    }
}

/* Mirrored ends, unlike ones, lines that are split twice or convolved, work-groups of seven, and around an obstacle. */
TEST(direct_solutions_in_one_launch_equal_the_reference)
{
    check_in(&matrices[2], BN_LINEAR_SPECTRAL, BN_LAUNCHES_ONE, ALL_GROUPS);
    check_in(&matrices[7], BN_LINEAR_SPECTRAL, BN_LAUNCHES_ONE, BOTH_PRECISIONS);
    check_in(&matrices[8], BN_LINEAR_SPECTRAL, BN_LAUNCHES_ONE, SINGLE_ONLY);
    check_in(&matrices[11], BN_LINEAR_SPECTRAL, BN_LAUNCHES_ONE, SINGLE_ONLY);
    check_in(&matrices[13], BN_LINEAR_SPECTRAL, BN_LAUNCHES_ONE, SINGLE_ONLY);
}

TEST(direct_solutions_around_obstacles_equal_the_reference)
{
    check(&matrices[8], BN_LINEAR_SPECTRAL, BOTH_PRECISIONS);
    check(&matrices[9], BN_LINEAR_SPECTRAL, ALL_GROUPS);
    /* With little diffusion the obstacle counts at few nodes; and an obstacle at a mirrored side. */
    check(&(matrix){ 65, 48, 1, 0.01, 0.02, { false, true }, ISLAND }, BN_LINEAR_SPECTRAL, BOTH_PRECISIONS);
    check(&(matrix){ 33, 33, 1, 4, 4, { true, true, true, false }, BUMP }, BN_LINEAR_SPECTRAL, SINGLE_ONLY);
}

TEST(stretched_grids_are_solved_by_eigenvectors_and_iterations)
{
    static const matrix grids[] = {
        { 33, 17, 0, 1024, 256, { false }, STRETCHED },
        { 40, 24, 0, 3, 1, { true, false, true, true }, STRETCHED },
        { 300, 37, 1, 3, 0.7, { true, true, false, false }, STRETCHED },
        { 33, 17, 1, 50, 20, { true, true, true, true }, STRETCHED },
    };
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        check(&grids[i], BN_LINEAR_SPECTRAL,
              i == 1                    ? ALL_GROUPS
              : i == 2 && !long_tests() ? SINGLE_ONLY
                                        : BOTH_PRECISIONS);
        check(&grids[i], BN_LINEAR_CG, i == 1 ? ALL_GROUPS : SINGLE_ONLY);
    }
}

TEST(multigrid_equals_the_reference)
{
    check(&matrices[2], BN_LINEAR_MULTIGRID, SINGLE_ONLY);
    check(&matrices[7], BN_LINEAR_MULTIGRID, BOTH_PRECISIONS);
    check(&matrices[8], BN_LINEAR_MULTIGRID, SINGLE_ONLY);
}

TEST(multigrid_on_boxes_and_in_groups) { check(&matrices[9], BN_LINEAR_MULTIGRID, ALL_GROUPS); }

TEST(multigrid_takes_few_cycles_on_any_grid)
{
    static const matrix grids[] = {
        { 65, 65, 0, 1, 1, { false }, NOTHING },        { 129, 129, 0, 1, 1, { false }, NOTHING },
        { 257, 257, 0, 1, 1, { false }, NOTHING },      { 130, 130, 0, 1, 1, { false }, NOTHING },
        { 200, 77, 0, 1, 1, { false, true }, NOTHING }, { 129, 97, 0, 1, 1, { false, true }, ISLAND },
    };
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        const unsigned cycles = check(&grids[i], BN_LINEAR_MULTIGRID, REFERENCE_ONLY);
        ck_assert_msg(cycles <= (grids[i].obstacle == NOTHING ? 9u : 12u), "%u x %u: %u cycles", grids[i].nx,
                      grids[i].ny, cycles);
    }
}

TEST(the_direct_solver_knows_what_it_can_not_do)
{
    const char *why = NULL;
    for (int i = 0; i < MATRICES; i++) {
        uint8_t *bits = bits_of(&matrices[i]);
        const matrix *m = &matrices[i];
        const bn_stencil s = { m->nx, m->ny, m->mass, m->kx, m->ky, bits, NULL, NULL };
        const bool good = bn_spectral_suits(&s, 4, &why);
        ck_assert_msg(good == (matrices[i].obstacle == NOTHING), "matrix %d", i);
        ck_assert_msg(good ? why == NULL : strstr(why, "obstacles") != NULL, "%s", why ? why : "no reason");
        free(bits);
    }
    /* An insulated obstacle, whose nodes are unknowns with what is left of their cells; one that is too large. */
    const matrix plain = { 33, 33, 0, 1, 1, { false }, NOTHING }, island = { 33, 33, 0, 1, 1, { false }, ISLAND },
                 open_plain = { 1500, 700, 0, 1, 1, { false }, NOTHING },
                 large = { 1500, 700, 0, 1, 1, { false }, ISLAND };
    uint8_t *rectangle = bits_of(&plain), *around = bits_of(&island), *wide = bits_of(&open_plain),
            *far_around = bits_of(&large);
    bn_stencil blocked = { 33, 33, 0, 1, 1, around, NULL, rectangle };
    ck_assert(bn_spectral_suits(&blocked, 4, &why) && why == NULL);
    around[10 * 33 + 10] &= (uint8_t)~BN_CELL_NE;
    ck_assert(!bn_spectral_suits(&blocked, 4, &why) && strstr(why, "values on them are given"));
    blocked = (bn_stencil){ 1500, 700, 0, 1, 1, far_around, NULL, wide };
    ck_assert(!bn_spectral_suits(&blocked, 4, &why) && strstr(why, "too many nodes"));
    free(rectangle);
    free(around);
    free(wide);
    free(far_around);
    const matrix longer = { 8194, 9, 0, 1, 1, { false }, NOTHING },
                 free_all = { 9, 9, 0, 1, 1, { true, true, true, true }, NOTHING };
    uint8_t *bits = bits_of(&longer);
    const bn_stencil s = { longer.nx, longer.ny, 0, 1, 1, bits, NULL, NULL };
    ck_assert(!bn_spectral_suits(&s, 4, &why) && strstr(why, "local memory"));
    free(bits);
    /* The most nodes along y: separators of two columns fit into local memory. */
    const struct {
        uint32_t ny;
        size_t real_bytes;
        bool suits;
    } columns[] = { { 65535, 4, true }, { 65536, 4, false }, { 32767, 8, true }, { 32768, 8, false } };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const matrix taller = { 5, columns[i].ny, 0, 1, 1, { false }, NOTHING };
        bits = bits_of(&taller);
        const bn_stencil tall = { taller.nx, taller.ny, 0, 1, 1, bits, NULL, NULL };
        ck_assert_msg(bn_spectral_suits(&tall, columns[i].real_bytes, &why) == columns[i].suits, "%u nodes",
                      columns[i].ny);
        ck_assert_msg(columns[i].suits ? why == NULL : strstr(why, "65,500 nodes") != NULL, "%s",
                      why ? why : "no reason");
        free(bits);
    }
    /* The longest lines of each kind, split, convolved or whole; and ones that are too long: by a point where
     * both ends are mirrored. Unlike ends take twice the intervals. */
    const struct {
        matrix m;
        size_t real_bytes;
        bool suits;
    } lines[] = {
        { { 1024, 9, 0, 1, 1, { false }, NOTHING }, 8, true },
        { { 1024, 9, 0, 1, 1, { true, true }, NOTHING }, 8, false },
        { { 1024, 9, 0, 1, 1, { false, true }, NOTHING }, 4, true },
        { { 1026, 9, 0, 1, 1, { false, true }, NOTHING }, 4, false },
        { { 512, 9, 0, 1, 1, { true }, NOTHING }, 8, true },
        { { 2049, 9, 0, 1, 1, { true }, NOTHING }, 4, true },
        { { 16385, 9, 0, 1, 1, { false }, NOTHING }, 4, true },
        { { 16385, 9, 0, 1, 1, { true, true }, NOTHING }, 4, false },
        { { 32769, 9, 0, 1, 1, { false }, NOTHING }, 4, false },
        { { 8193, 9, 0, 1, 1, { true, true }, NOTHING }, 4, true },
        { { 8193, 9, 0, 1, 1, { false }, NOTHING }, 8, true },
        { { 8193, 9, 0, 1, 1, { true, true }, NOTHING }, 8, false },
        { { 8193, 9, 0, 1, 1, { true }, NOTHING }, 8, false },
        { { 4097, 9, 0, 1, 1, { true }, NOTHING }, 8, true },
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        bits = bits_of(&lines[i].m);
        const bn_stencil line = { lines[i].m.nx, 9, 0, 1, 1, bits, NULL, NULL };
        ck_assert_msg(bn_spectral_suits(&line, lines[i].real_bytes, &why) == lines[i].suits, "%zu", i);
        free(bits);
    }
    bits = bits_of(&free_all);
    const bn_stencil t = { 9, 9, 0, 1, 1, bits, NULL, NULL };
    ck_assert(!bn_spectral_suits(&t, 4, &why) && strstr(why, "singular"));
    free(bits);
}

/* In single precision: |b - A x| / |b| of the first as of a direct solution, of the second with the factor of two
 * divisions (6 as in check() above). */
static void check_two(const matrix *m, int boxes, bn_launches launches)
{
    uint8_t *bits = bits_of(m);
    const size_t points = (size_t)m->nx * m->ny;
    double *b = calloc(7 * points, sizeof *b), *x[2] = { b + points, b + 2 * points },
           *y[2] = { b + 3 * points, b + 4 * points }, *area_x = b + 5 * points, *plus = b + 6 * points, rounding;
    double *widths = widths_of(m);
    ck_assert_ptr_nonnull(b);
    for (size_t at = 0; at < points; at++)
        b[at] = bits[at] ? (double)(float)(1 + noise_at(at)) : 0;
    const bn_linear_desc desc[2] = {
        { "A", { m->nx, m->ny, 1, 0.3 * m->kx, 0.3 * m->ky, bits, widths, NULL }, BN_LINEAR_SPECTRAL, true, launches },
        { "B", { m->nx, m->ny, 0, m->kx, m->ky, bits, widths, NULL }, BN_LINEAR_SPECTRAL, true, launches },
    };
    solve_two_by_reference(desc, b, plus, BN_SINGLE, x[1], y[1]);
    solve_two_on_device(
        desc, b, plus,
        (bn_domain_desc){ .precision = BN_SINGLE, .halo = BN_CG_RADIUS, .boxes = boxes, .device = device }, x[0], y[0]);
    for (size_t at = 0; at < points; at++) {
        const unsigned cells = bits[at] & BN_CELLS;
        ck_assert_msg(x[0][at] == x[1][at] && y[0][at] == y[1][at], "%u x %u in %d boxes: other bits at %zu", m->nx,
                      m->ny, boxes, at);
        area_x[at] = (widths ? area_at(&desc[0].stencil, (uint32_t)(at % m->nx), (uint32_t)(at / m->nx))
                             : 0.25 * ((cells & 1) + (cells >> 1 & 1) + (cells >> 2 & 1) + (cells >> 3))) *
                     x[0][at];
    }
    const double left_x = residual(&desc[0].stencil, x[0], b, 0x1p-24, &rounding), most_x = 6 * rounding;
    const double left_y = residual(&desc[1].stencil, y[0], area_x, 0x1p-24, &rounding), most_y = 6 * rounding;
    ck_assert_msg(left_x <= most_x && left_y <= most_y, "%u x %u: residuals %g (at most %g), %g (%g)", m->nx, m->ny,
                  left_x, most_x, left_y, most_y);
    free(bits);
    free(b);
    free(widths);
}

TEST(two_systems_are_solved_with_one_transform_forward)
{
    const bn_launches automatic = BN_LAUNCHES_AUTO;
    check_two(&matrices[0], 1, automatic);
    check_two(&matrices[2], 3, automatic); /* a mirrored side, whose nodes have half an area */
    check_two(&(matrix){ 40, 24, 0, 3, 1, { true, false, true, true }, STRETCHED }, 1, automatic);
    check_two(&matrices[7], 1, automatic); /* of mixed ends, and no power of two */
    check_two(&matrices[7], 1, BN_LAUNCHES_ONE);
}

/* More partial sums than one work-group adds up at once. */
TEST(sums_over_many_blocks_are_packed)
{
    const uint32_t nx = 300, ny = 4200;
    const bn_domain_desc desc = { .grid = { .dims = 2, .n = { nx, ny, 1 }, .h = { 1, 1, 1 }, .nodes = true },
                                  .precision = BN_SINGLE,
                                  .halo = BN_CG_RADIUS,
                                  .boxes = 3,
                                  .device = device };
    double *values = malloc((size_t)nx * ny * sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (size_t at = 0; at < (size_t)nx * ny; at++)
        values[at] = (double)(float)noise_at(at);
    double got[2][3];
    for (int engine = 0; engine < 2; engine++) {
        bn_domain_desc own = desc;
        bn_domain *domain;
        bn_field *field;
        if (engine == 1) {
            own.device = NULL;
            own.boxes = 1;
        }
        OK(bn_domain_create(ctx, &own, &domain));
        OK(bn_field_create(domain, &(bn_field_desc){ .name = "values" }, &field));
        OK(bn_field_set(field, values, (size_t)nx * ny));
        OK(bn_reduce(field, 0, BN_SUM, &got[engine][0]));
        OK(bn_reduce(field, 0, BN_SUM_SQUARES, &got[engine][1]));
        OK(bn_reduce(field, 0, BN_MAX_ABS, &got[engine][2]));
        bn_field_destroy(&field);
        bn_domain_destroy(&domain);
    }
    ck_assert_msg(memcmp(got[0], got[1], sizeof got[0]) == 0, "device %.9g %.9g %.9g, reference %.9g %.9g %.9g",
                  got[0][0], got[0][1], got[0][2], got[1][0], got[1][1], got[1][2]);
    near(got[0][1] / ((double)nx * ny), 1.0 / 3, 1e-3, "mean square of the noise");
    free(values);
}

int main(void) { return bn_test_main("linear", open_device, close_context); }
