/* test_parallel_rows.c: rows worked on by several threads: each once, and matrices of coarser grids that do not depend
 * on it.
 */
#include "support.h"

#include "api/parallel_rows.h"
#include "numerics/multigrid_plan.h"

#include <stdlib.h>

static void count_rows(void *user, size_t first, size_t end)
{
    unsigned *rows = user;
    for (size_t r = first; r < end; r++)
        rows[r]++;
}

TEST(every_row_and_job_once)
{
    static const size_t counts[] = { 0, 1, 127, 128, 129, 255, 257, 1000, 5001 },
                        widths[] = { 0, 1, 128, 16383, 16384, 100000 };
    enum { WIDTHS = sizeof widths / sizeof *widths };
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        unsigned *rows = calloc(counts[c] + 1, sizeof *rows);
        ck_assert_ptr_nonnull(rows);
        for (size_t w = 0; w < WIDTHS; w++)
            bn_parallel_rows(counts[c], widths[w], count_rows, rows);
        bn_parallel_jobs(counts[c], count_rows, rows);
        for (size_t r = 0; r < counts[c]; r++)
            ck_assert_msg(rows[r] == WIDTHS + 1, "row %zu of %zu: %u times", r, counts[c], rows[r]);
        ck_assert_uint_eq(rows[counts[c]], 0);
        free(rows);
    }
}

enum { LONG = 1027, SHORT = 40 };

/* A channel along x or, transposed, along y, with a body. */
static bn_multigrid_plan plan_of(bool transposed)
{
    const uint32_t nx = transposed ? SHORT : LONG, ny = transposed ? LONG : SHORT;
    bool *unknown = calloc(LONG * SHORT, sizeof *unknown), *cell = calloc(LONG * SHORT, sizeof *cell);
    uint8_t *bits = calloc(LONG * SHORT, 1);
    ck_assert(unknown && cell && bits);
    for (uint32_t j = 0; j < ny; j++)
        for (uint32_t i = 0; i < nx; i++) {
            const uint32_t x = transposed ? j : i, y = transposed ? i : j;
            unknown[j * nx + i] = x > 0 && y > 0 && x + 1 < LONG && y + 1 < SHORT && !(x > 500 && x < 530 && y > 15);
            cell[j * (size_t)nx + i] = true;
        }
    for (size_t at = (size_t)(nx - 1) * (ny - 1); at < (size_t)LONG * SHORT; at++)
        cell[at] = false;
    bn_stencil_bits(nx, ny, unknown, cell, bits);
    const bn_stencil s = { nx, ny, 0, transposed ? 1.5 : 1, transposed ? 1 : 1.5, bits, NULL, NULL };
    bn_multigrid_plan plan;
    ck_assert(bn_multigrid_plan_create(&s, &plan));
    free(unknown);
    free(cell);
    free(bits);
    return plan;
}

static double *matrix_of(const bn_grid_level *l)
{
    double *A = malloc((size_t)l->nx * l->ny * BN_STORED * sizeof *A);
    ck_assert_ptr_nonnull(A);
    bn_grid_matrix(l, BN_STORED, (const uint32_t[2]){ 0, 0 }, (const uint32_t[2]){ l->nx, l->ny }, false, A);
    return A;
}

/* Of a channel and the same transposed: few long rows and many short ones are cut into ranges at other places. */
TEST(matrices_do_not_depend_on_threads)
{
    static const int transposed[9] = { 0, 3, 4, 1, 2, 5, 7, 6, 8 };
    bn_multigrid_plan a = plan_of(false), b = plan_of(true);
    ck_assert_int_eq(a.levels, b.levels);
    ck_assert_int_gt(a.levels, 2);
    for (int l = 1; l < a.levels; l++) {
        const bn_grid_level *p = &a.level[l], *q = &b.level[l];
        const size_t points = (size_t)p->nx * p->ny;
        double most = 0, *A = matrix_of(p), *B = matrix_of(q);
        ck_assert(p->nx == q->ny && p->ny == q->nx);
        for (size_t at = 0; at < points; at++)
            most = fmax(most, fabs(A[at]));
        ck_assert(most > 0);
        for (int c = 0; c < 9; c++)
            for (uint32_t j = 0; j < p->ny; j++)
                for (uint32_t i = 0; i < p->nx; i++)
                    near(B[(size_t)transposed[c] * points + (size_t)i * q->nx + j],
                         A[(size_t)c * points + (size_t)j * p->nx + i], 1e-13 * most, "the grid transposed");
        free(A);
        free(B);
    }
    bn_multigrid_plan_destroy(&a);
    bn_multigrid_plan_destroy(&b);
}

int main(void) { return bn_test_main("parallel_rows", NULL, NULL); }
