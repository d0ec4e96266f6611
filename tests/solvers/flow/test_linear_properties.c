/* test_linear_properties.c: what must hold for the linear solvers of src/numerics whatever device and reference agree
 * on: eigenvalues in closed form, the matrix as finite volumes written out once more, what makes conjugate gradients
 * conjugate gradients, and multigrid's rate of convergence. The reference in double does it. */
#include "support_case.h"

#include "linear_references.h"
#include "numerics/column_plan.h"

#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
/* mirrored: the left, right, bottom, top side, whose nodes are unknowns. body: an L of cells that do not belong to the
 * domain; its nodes are unknowns with what is left of their cells, or, if `given`, none. */
enum { LONGEST = 132, MOST = LONGEST * 70 };
typedef struct matrix {
    int nx, ny;
    double mass, kx, ky;
    bool mirrored[4], body, given;
} matrix;

static bool cell(const matrix *m, int i, int j)
{
    const bool across = i >= m->nx / 3 && i < m->nx / 2, up = j >= m->ny / 3 && j < 2 * m->ny / 3;
    return i >= 0 && j >= 0 && i + 1 < m->nx && j + 1 < m->ny &&
           !(m->body && ((across && up) || (i >= m->nx / 3 && i < 3 * m->nx / 4 && j >= m->ny / 3 && j < m->ny / 2)));
}

/* Cells at the south-west, south-east, north-west, north-east of a node. */
static void cells_at(const matrix *m, int i, int j, int c[4])
{
    for (int n = 0; n < 4; n++)
        c[n] = cell(m, i - 1 + n % 2, j - 1 + n / 2);
}

static bool unknown(const matrix *m, int i, int j)
{
    int c[4];
    if (i < 0 || j < 0 || i >= m->nx || j >= m->ny || (i == 0 && !m->mirrored[0]) ||
        (i == m->nx - 1 && !m->mirrored[1]) || (j == 0 && !m->mirrored[2]) || (j == m->ny - 1 && !m->mirrored[3]))
        return false;
    cells_at(m, i, j, c);
    const bool inside = i > 0 && j > 0 && i + 1 < m->nx && j + 1 < m->ny;
    return m->given && inside ? c[0] && c[1] && c[2] && c[3] : c[0] || c[1] || c[2] || c[3];
}

/* A v: fluxes k (v - neighbour) through faces that have half of their length in each cell beside them, and mass times a
 * quarter of each cell. What is no unknown has the value 0. */
static void apply(const matrix *m, const double *v, double *out)
{
    for (int j = 0; j < m->ny; j++)
        for (int i = 0; i < m->nx; i++) {
            const int at = j * m->nx + i;
            out[at] = 0;
            if (!unknown(m, i, j))
                continue;
            int c[4];
            cells_at(m, i, j, c);
            const struct {
                int dx, dy, cells;
                double k;
            } face[4] = { { -1, 0, c[0] + c[2], m->kx },
                          { 1, 0, c[1] + c[3], m->kx },
                          { 0, -1, c[0] + c[1], m->ky },
                          { 0, 1, c[2] + c[3], m->ky } };
            out[at] = m->mass * 0.25 * (c[0] + c[1] + c[2] + c[3]) * v[at];
            for (int d = 0; d < 4; d++) {
                const bool there = unknown(m, i + face[d].dx, j + face[d].dy);
                out[at] += 0.5 * face[d].cells * face[d].k *
                           (v[at] - (there ? v[at + face[d].dx + m->nx * face[d].dy] : 0));
            }
        }
}

static double dot(const matrix *m, const double *a, const double *b)
{
    double sum = 0;
    for (int at = 0; at < m->nx * m->ny; at++)
        sum += a[at] * b[at];
    return sum;
}

/* Numbers from -1 to 1 at the unknowns. */
static void noise(const matrix *m, unsigned seed, double *v)
{
    unsigned long long state = 88172645463325252ull + seed;
    for (int at = 0; at < m->nx * m->ny; at++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        v[at] = unknown(m, at % m->nx, at / m->nx) ? (double)(state % 2000001) / 1e6 - 1 : 0;
    }
}

static void find_bits(const matrix *m, uint8_t *bits)
{
    static bool is_unknown[MOST], is_cell[MOST];
    ck_assert(m->nx * m->ny <= MOST);
    for (int at = 0; at < m->nx * m->ny; at++)
        is_unknown[at] = unknown(m, at % m->nx, at / m->nx);
    for (int at = 0; at < (m->nx - 1) * (m->ny - 1); at++)
        is_cell[at] = cell(m, at % (m->nx - 1), at / (m->nx - 1));
    bn_stencil_bits((uint32_t)m->nx, (uint32_t)m->ny, is_unknown, is_cell, bits);
}

/* Solves from x. More iterations than `most` are an error, which only says so. */
static bn_cg_report solve(const matrix *m, bn_linear_method method, double tolerance, unsigned most, const double *b,
                          double *x)
{
    static uint8_t bits[MOST], rectangle[MOST];
    matrix filled = *m;
    filled.body = false;
    find_bits(m, bits);
    find_bits(&filled, rectangle);
    const bn_linear_desc desc = { .name = "the test's system",
                                  .stencil = { (uint32_t)m->nx, (uint32_t)m->ny, m->mass, m->kx, m->ky, bits, NULL,
                                               m->body && m->given ? rectangle : NULL },
                                  .method = method };
    bn_linear_reference *reference;
    bn_cg_report report;
    OK(bn_linear_reference_create_double(ctx, &desc, &reference));
    const bn_status st = bn_linear_reference_solve_double(reference, x, b, &(bn_cg_target){ tolerance, most }, &report);
    ck_assert_msg(st == BN_OK || report.state == BN_CG_LIMIT, "%s", bn_error_text(ctx));
    bn_error_clear(ctx);
    bn_linear_reference_destroy_double(&reference);
    return report;
}

/* --- eigenvalues --- */

/* Eigenvectors of a line of n nodes and their eigenvalues for k = 1 (a second difference, mirrored or 0 at its ends).
 */
static int line_modes(int n, bool low, bool high, double *value, double *vector)
{
    const int intervals = n - 1, count = intervals - 1 + low + high;
    for (int q = 0; q < count; q++) {
        const double wave = low != high ? q + 0.5 : low ? q : q + 1, angle = pi * wave / intervals;
        value[q] = 4 * sin(angle / 2) * sin(angle / 2);
        for (int i = 0; i < n; i++)
            vector[q * n + i] = low ? cos(angle * i) : sin(angle * i);
    }
    return count;
}

/* A sum of all eigenvectors comes back from (sum of eigenvalue times area times eigenvector). */
static void check_modes(const matrix *m, bn_linear_method method)
{
    static double amplitude[MOST], x[MOST], b[MOST], exact[MOST];
    static double value[2][LONGEST], vector[2][LONGEST * LONGEST];
    const int p_count = line_modes(m->nx, m->mirrored[0], m->mirrored[1], value[0], vector[0]);
    const int q_count = line_modes(m->ny, m->mirrored[2], m->mirrored[3], value[1], vector[1]);
    noise(&(matrix){ .nx = p_count, .ny = q_count, .mirrored = { true, true, true, true } }, 1, amplitude);
    double largest = 0, off = 0;
    for (int j = 0; j < m->ny; j++)
        for (int i = 0; i < m->nx; i++) {
            const int at = j * m->nx + i;
            const double area = (i == 0 || i == m->nx - 1 ? 0.5 : 1) * (j == 0 || j == m->ny - 1 ? 0.5 : 1);
            exact[at] = b[at] = x[at] = 0;
            if (unknown(m, i, j))
                for (int q = 0; q < q_count; q++)
                    for (int p = 0; p < p_count; p++) {
                        const double mode = amplitude[q * p_count + p] * vector[0][p * m->nx + i] *
                                            vector[1][q * m->ny + j];
                        exact[at] += mode;
                        b[at] += area * (m->mass + m->kx * value[0][p] + m->ky * value[1][q]) * mode;
                    }
        }
    /* Rounding times the condition number; the worst of all comes to 1.6 of these units. */
    const double low = m->mass + m->kx * value[0][0] + m->ky * value[1][0],
                 high = m->mass + m->kx * value[0][p_count - 1] + m->ky * value[1][q_count - 1],
                 limit = 4 * 0x1p-53 * high / low;
    solve(m, method, 1e-15, 1000, b, x);
    for (int at = 0; at < m->nx * m->ny; at++) {
        largest = fmax(largest, fabs(exact[at]));
        off = fmax(off, fabs(x[at] - exact[at]));
    }
    ck_assert_msg(off <= limit * largest, "%d x %d, sides %d%d%d%d, method %d: off by %.3g, at most %.3g", m->nx, m->ny,
                  m->mirrored[0], m->mirrored[1], m->mirrored[2], m->mirrored[3], method, off / largest, limit);
}

TEST(eigenvalues_are_those_of_the_differences)
{
    /* Intervals that are powers of two, and that are split once or twice; even and odd numbers of lines. */
    static const int sizes[][2] = { { 9, 7 }, { 7, 9 }, { 12, 11 }, { 36, 43 }, { 26, 51 } };
    for (int sides = 0; sides < 16; sides++)
        for (int s = 0; s < 5; s++) {
            const matrix m = { .nx = sizes[s][0],
                               .ny = sizes[s][1],
                               .mass = 0.7,
                               .kx = 3,
                               .ky = 1.7,
                               .mirrored = { sides & 1, sides & 2, sides & 4, sides & 8 } };
            check_modes(&m, BN_LINEAR_SPECTRAL);
            if (s < 3)
                check_modes(&m, BN_LINEAR_CG);
        }
    static const matrix larger[] = { { .nx = 33, .ny = 17, .kx = 3, .ky = 1.7, .mirrored = { true } },
                                     { .nx = 34, .ny = 27, .kx = 3, .ky = 1.7, .mirrored = { false, true } },
                                     { .nx = 30, .ny = 31, .kx = 1, .ky = 1, .mirrored = { [3] = true } },
                                     { .nx = 17, .ny = 40, .kx = 2, .ky = 1, .mirrored = { [2] = true } } };
    /* A prime number of intervals along x, too large to be split: convolved. */
    static const bool ends[][2] = { { false, false }, { true, false }, { false, true }, { true, true } };
    for (int i = 0; i < 4; i++) {
        check_modes(&(matrix){ .nx = 132, .ny = 30, .kx = 3, .ky = 1.7, .mirrored = { ends[i][0], ends[i][1] } },
                    BN_LINEAR_SPECTRAL);
        check_modes(&larger[i], BN_LINEAR_SPECTRAL);
        check_modes(&larger[i], BN_LINEAR_MULTIGRID);
    }
}

/* --- tridiagonal systems --- */

/* Between two separators of which one is 1 the solution is sinh((n - j) t) / sinh(n t), n nodes from one to the other,
 * 2 cosh(t) = 2 + m: also where m is next to nothing, or large. */
TEST(shares_of_separators_are_hyperbolic_sines)
{
    static const double m[] = { 0, 1e-14, 1e-9, 1e-4, 0.3, 5, 1e3 };
    enum { SYSTEMS = sizeof m / sizeof *m };
    for (int intervals = 40; intervals < 3000; intervals *= 3) {
        bn_column_plan p;
        ck_assert(bn_column_plan_create(intervals, (bn_column_ends){ false, true }, m, SYSTEMS, 1, 1, 8, &p));
        for (size_t c = 0; c < SYSTEMS; c++) {
            const double t = 2 * asinh(0.5 * sqrt(m[c]));
            const int last = intervals - (p.chunks - 1) * p.chunk; /* its end is mirrored */
            for (int j = 1; j < p.chunk; j++) {
                const double sine = m[c] == 0 ? 1 - (double)j / p.chunk
                                              : exp(-j * t) * expm1(-2 * (p.chunk - j) * t) / expm1(-2 * p.chunk * t);
                const double cosine = exp(-j * t) * (1 + exp(-2 * (last - j) * t)) / (1 + exp(-2 * last * t));
                const double got = p.tables[(size_t)(bn_column_share(&p, false) + j - 1) * SYSTEMS + c];
                const double got_last = p.tables[(size_t)(bn_column_share(&p, true) + j - 1) * SYSTEMS + c];
                ck_assert_msg(fabs(got - sine) <= 1e-13 * sine || sine < 1e-20, "m = %g: %g, not %g", m[c], got, sine);
                ck_assert_msg(j > last ? got_last == 0 : fabs(got_last - cosine) <= 1e-13 * cosine || cosine < 1e-20,
                              "last chunk, m = %g: %g, not %g", m[c], got_last, cosine);
            }
        }
        bn_column_plan_destroy(&p);
    }
}

/* --- finite volumes --- */

static const matrix around_bodies[] = {
    { .nx = 40, .ny = 31, .mass = 0.7, .kx = 3, .ky = 1.7, .mirrored = { true, true, true, true }, .body = true },
    { .nx = 33, .ny = 46, .mass = 0.1, .kx = 1, .ky = 2, .mirrored = { true, false, false, true }, .body = true },
    { .nx = 45, .ny = 33, .kx = 1, .ky = 1, .mirrored = { false, true }, .body = true, .given = true },
};

/* The solution, and the residual as it is reported, for tolerances that are reached. */
TEST(the_matrix_is_that_of_finite_volumes)
{
    static double exact[MOST], b[MOST], x[MOST], left[MOST];
    for (int i = 0; i < 3; i++)
        for (int multigrid = 0; multigrid < 2; multigrid++) {
            const matrix *m = &around_bodies[i];
            const bn_linear_method method = multigrid ? BN_LINEAR_MULTIGRID : BN_LINEAR_CG;
            const double tolerance = 1e-6;
            noise(m, 7, exact);
            apply(m, exact, b);
            noise(m, 9, x);
            const bn_cg_report report = solve(m, method, tolerance, 1000, b, x);
            apply(m, x, left);
            for (int at = 0; at < m->nx * m->ny; at++)
                left[at] = b[at] - left[at];
            const double residual = sqrt(dot(m, left, left) / dot(m, b, b));
            ck_assert_msg(residual <= tolerance && residual > 0.01 * tolerance, "matrix %d, method %d: residual %.3g",
                          i, method, residual);
            near(report.residual, residual, 1e-8 * tolerance, "b - A x written out");
            /* From so far away the recurrence is off by more than the tolerance, which restarts mend. */
            for (int at = 0; at < m->nx * m->ny; at++)
                x[at] *= 1e7;
            solve(m, method, 1e-14, 1000, b, x);
            double off = 0;
            for (int at = 0; at < m->nx * m->ny; at++)
                off = fmax(off, fabs(x[at] - exact[at]));
            /* The tolerance times the condition number, some thousands, for the worst field; this one has a hundredth.
             */
            near(off, 0, 5e-13, "the field that the right-hand side was made of");
        }
}

/* Where values on a body are given, the direct solver takes it by what its surface does to the rectangle; with little
 * diffusion that is nothing further away. */
TEST(direct_solutions_around_bodies_are_those_of_finite_volumes)
{
    static double exact[MOST], b[MOST], x[MOST];
    static const matrix bodies[] = {
        { .nx = 45, .ny = 33, .kx = 1, .ky = 1, .mirrored = { false, true }, .body = true, .given = true },
        { .nx = 40,
          .ny = 31,
          .mass = 0.7,
          .kx = 3,
          .ky = 1.7,
          .mirrored = { true, true, true },
          .body = true,
          .given = true },
        { .nx = 65, .ny = 40, .mass = 1, .kx = 0.01, .ky = 0.02, .mirrored = { true }, .body = true, .given = true },
    };
    for (int i = 0; i < 3; i++) {
        const matrix *m = &bodies[i];
        double off = 0;
        noise(m, 7, exact);
        apply(m, exact, b);
        memset(x, 0, sizeof x);
        solve(m, BN_LINEAR_SPECTRAL, 1e-14, 1, b, x);
        for (int at = 0; at < m->nx * m->ny; at++)
            off = fmax(off, fabs(x[at] - exact[at]));
        near(off, 0, 5e-13, "the field that the right-hand side was made of");
    }
}

/* --- conjugate gradients --- */

/* After k steps the residual is orthogonal to the space that the steps have searched: to A^n of the first residual,
 * n < k, and with any preconditioner to all that has been added to x. */
TEST(residuals_are_orthogonal_to_what_was_searched)
{
    static double b[MOST], start[MOST], x[MOST], r[MOST], image[MOST], krylov[8][MOST];
    for (int i = 0; i < 3; i++)
        for (int multigrid = 0; multigrid < 2; multigrid++)
            for (unsigned k = 1; k <= 5 - 2 * (unsigned)multigrid; k++) {
                const matrix *m = &around_bodies[i];
                const size_t bytes = (size_t)(m->nx * m->ny) * sizeof *x;
                noise(m, 3, b);
                noise(m, 5, start);
                memcpy(x, start, bytes);
                const bn_cg_report report = solve(m, multigrid ? BN_LINEAR_MULTIGRID : BN_LINEAR_CG, 1e-15, k, b, x);
                ck_assert_uint_eq(report.iterations, k);
                apply(m, start, image);
                apply(m, x, r);
                for (int at = 0; at < m->nx * m->ny; at++) {
                    krylov[0][at] = multigrid ? x[at] - start[at] : b[at] - image[at];
                    r[at] = b[at] - r[at];
                }
                for (unsigned n = 0; n < (multigrid ? 1 : k); n++) {
                    const double cosine = dot(m, r, krylov[n]) / sqrt(dot(m, r, r) * dot(m, krylov[n], krylov[n]));
                    ck_assert_msg(fabs(cosine) <= 1e-12, "matrix %d, step %u: cosine %.3g with vector %u", i, k, cosine,
                                  n);
                    apply(m, krylov[n], krylov[n + 1]);
                }
            }
}

/* --- multigrid --- */

/* One step of conjugate gradients from 0 gives a multiple of the preconditioned right-hand side, M b. Of b1, b2 and
 * their sum these are c1 M b1, c2 M b2 and c (M b1 + M b2) if M is linear; c / c1 and c / c2 follow from the three. */
TEST(the_cycle_is_linear_and_symmetric)
{
    static double b[3][MOST], x[3][MOST];
    for (int i = 0; i < 3; i++) {
        const matrix *m = &around_bodies[i];
        noise(m, 3, b[0]);
        noise(m, 5, b[1]);
        for (int at = 0; at < m->nx * m->ny; at++)
            b[2][at] = b[0][at] + b[1][at];
        memset(x, 0, sizeof x);
        for (int n = 0; n < 3; n++)
            solve(m, BN_LINEAR_MULTIGRID, 1e-15, 1, b[n], x[n]);
        const double a00 = dot(m, x[0], x[0]), a01 = dot(m, x[0], x[1]), a11 = dot(m, x[1], x[1]),
                     r0 = dot(m, x[0], x[2]), r1 = dot(m, x[1], x[2]), det = a00 * a11 - a01 * a01;
        const double f0 = (r0 * a11 - r1 * a01) / det, f1 = (r1 * a00 - r0 * a01) / det;
        double off = 0;
        for (int at = 0; at < m->nx * m->ny; at++)
            off = fmax(off, fabs(x[2][at] - f0 * x[0][at] - f1 * x[1][at]));
        near(off, 0, 1e-13, "M (b1 + b2) = M b1 + M b2");
        near(f0 * dot(m, x[0], b[1]) / (f1 * dot(m, x[1], b[0])), 1, 1e-12, "b2 M b1 = b1 M b2");
    }
}

/* Jacobi's sweeps, damped by 4/5, leave 3/5 of an error that the coarser grid does not see (1 - 4/5 (1 - cos) / 2 at
 * cos = 0); four sweeps a cycle leave rho = 0.6^4 of any error, which a two-grid analysis with Galerkin's matrix
 * confirms (Trottenberg, Oosterlee, Schueller 2001, chapter 4: 0.6, 0.36, 0.216, 0.130 for one to four). The spectrum
 * of M A then lies in 1 - rho ... 1, and k steps of conjugate gradients leave at most 2 / (c^k + c^-k) of the error in
 * A's norm, c = (1 - sqrt(1 - rho)) / (1 + sqrt(1 - rho)). The code leaves half of it. Mirrored sides with an even
 * number of nodes cost as much as a sweep. */
TEST(multigrid_contracts_as_the_two_grid_analysis_says)
{
    static double exact[MOST], b[MOST], x[MOST], image[MOST];
    static const matrix grids[] = {
        /* the even and mirrored ones last */
        { .nx = 65, .ny = 65, .kx = 1, .ky = 1 },
        { .nx = 129, .ny = 65, .kx = 1, .ky = 1, .mirrored = { true, false, true } },
        { .nx = 66, .ny = 64, .kx = 1, .ky = 1 },
        { .nx = 100, .ny = 47, .kx = 1, .ky = 1, .mirrored = { false, true } },
        { .nx = 66, .ny = 64, .kx = 1, .ky = 1, .mirrored = { false, true, false, true } },
    };
    enum { GRIDS = sizeof grids / sizeof *grids };
    for (int i = 0; i < GRIDS; i++)
        for (unsigned k = 1; k <= 4; k++) {
            const matrix *m = &grids[i];
            const double rho = pow(0.6, i + 2 < GRIDS ? 4 : 3), root = sqrt(1 - rho), c = (1 - root) / (1 + root);
            const double bound = 2 / (pow(c, k) + pow(c, -(double)k));
            noise(m, 11, exact);
            /* Smooth and rough errors alike: a smooth one added. */
            for (int at = 0; at < m->nx * m->ny; at++)
                exact[at] += exact[at] == 0 ? 0 : 10 * sin(3.0 * (at % m->nx) / m->nx) * sin(3.0 * at / m->nx / m->ny);
            apply(m, exact, b);
            memset(x, 0, sizeof x);
            solve(m, BN_LINEAR_MULTIGRID, 1e-15, k, b, x);
            const double before = dot(m, exact, b);
            for (int at = 0; at < m->nx * m->ny; at++)
                x[at] -= exact[at];
            apply(m, x, image);
            const double left = sqrt(dot(m, x, image) / before);
            ck_assert_msg(left <= bound, "%d x %d: %u cycles leave %.3g of the error, at most %.3g", m->nx, m->ny, k,
                          left, bound);
        }
}

int main(void) { return bn_test_main("linear properties", open_context, close_context); }
