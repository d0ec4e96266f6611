/* multigrid_plan.c: Galerkin matrices P^T A P of bilinear interpolation P, and the inverse of the last. Coarse nodes
 * are every other fine node; one exists where the fine node is an unknown, so that corrections vanish on given values.
 */
#include "numerics/multigrid_plan.h"

#include "numerics/parallel_rows.h"

#include <math.h>
#include <stdlib.h>

/* Components 1 to 8 of a stored matrix. */
static const int offset_x[9] = { 0, -1, 1, 0, 0, -1, 1, -1, 1 }, offset_y[9] = { 0, 0, 0, -1, 1, -1, -1, 1, 1 };

static int component(long dx, long dy)
{
    for (int c = 0; c < 9; c++)
        if (offset_x[c] == dx && offset_y[c] == dy)
            return c;
    return -1;
}

/* Parents of fine node i along one dimension and their weights; returns how many. */
static int parents(uint32_t i, int step, uint32_t coarse_n, double last, long place[2], double weight[2])
{
    place[0] = step == 2 ? i / 2 : i;
    weight[0] = 1;
    if (step == 1 || i % 2 == 0)
        return 1;
    weight[0] = last;
    if (i / 2 + 1 >= coarse_n)
        return 1;
    place[1] = place[0] + 1;
    weight[0] = weight[1] = 0.5;
    return 2;
}

/* The same in two dimensions, only parents that are unknowns. */
static int parents_of(const bn_grid_level *fine, const bn_grid_level *coarse, const bool *is_parent, uint32_t i,
                      uint32_t j, long x[4], long y[4], double weight[4])
{
    long px[2], py[2];
    double wx[2], wy[2];
    const int nx = parents(i, fine->step_x, coarse->nx, fine->last_x, px, wx);
    const int ny = parents(j, fine->step_y, coarse->ny, fine->last_y, py, wy);
    int count = 0;
    for (int b = 0; b < ny; b++)
        for (int a = 0; a < nx; a++)
            if (is_parent[(size_t)py[b] * coarse->nx + (size_t)px[a]]) {
                x[count] = px[a];
                y[count] = py[b];
                weight[count++] = wx[a] * wy[b];
            }
    return count;
}

/* Entry c of the row at `at`. */
static double entry(const bn_stencil *s, const double diagonal[BN_DIAGONALS], const bn_grid_level *l, size_t at, int c)
{
    const size_t points = (size_t)l->nx * l->ny;
    if (l->A)
        return l->A[(size_t)c * points + at];
    if (c > 4 || !s->bits[at])
        return 0;
    return c == 0 ? diagonal[s->bits[at] & BN_CELLS] : bn_stencil_entry(s, s->bits[at], c - 1);
}

/* Two levels; `is_parent`: which nodes of the coarser one are unknowns. */
typedef struct two_levels {
    const bn_stencil *s;
    const bn_grid_level *fine;
    bn_grid_level *coarse;
    bool *is_parent;
} two_levels;

static void find_parents(void *user, size_t first, size_t end)
{
    const two_levels *t = user;
    double diagonal[BN_DIAGONALS];
    bn_stencil_diagonals(t->s, diagonal);
    for (size_t j = first; j < end; j++)
        for (size_t i = 0; i < t->coarse->nx; i++) {
            const size_t at = j * (size_t)t->fine->step_y * t->fine->nx + i * (size_t)t->fine->step_x;
            t->is_parent[j * t->coarse->nx + i] = entry(t->s, diagonal, t->fine, at, 0) != 0;
        }
}

/* Fills rows [first, end) of the coarser matrix from the finer one. Addends of an entry come in the order of the finer
 * grid's nodes, so the result does not depend on the range. */
static void galerkin(void *user, size_t first, size_t end)
{
    const two_levels *t = user;
    const bn_stencil *s = t->s;
    const bn_grid_level *fine = t->fine;
    bn_grid_level *coarse = t->coarse;
    const bool *is_parent = t->is_parent;
    const size_t points = (size_t)coarse->nx * coarse->ny, step = (size_t)fine->step_y;
    const size_t top = first > 0 ? step * first - (step - 1) : 0, bottom = end < coarse->ny ? step * end : fine->ny;
    double diagonal[BN_DIAGONALS];
    bn_stencil_diagonals(s, diagonal);
    for (uint32_t j = (uint32_t)top; j < bottom; j++)
        for (uint32_t i = 0; i < fine->nx; i++) {
            const size_t at = (size_t)j * fine->nx + i;
            long rx[4], ry[4], cx[4], cy[4];
            double rw[4], cw[4];
            if (entry(s, diagonal, fine, at, 0) == 0)
                continue;
            const int rows = parents_of(fine, coarse, is_parent, i, j, rx, ry, rw);
            for (int c = 0; c < 9; c++) {
                const double a = entry(s, diagonal, fine, at, c);
                if (a == 0)
                    continue;
                const int columns = parents_of(fine, coarse, is_parent, (uint32_t)((long)i + offset_x[c]),
                                               (uint32_t)((long)j + offset_y[c]), cx, cy, cw);
                for (int r = 0; r < rows; r++) {
                    if ((size_t)ry[r] < first || (size_t)ry[r] >= end) /* of another range */
                        continue;
                    for (int k = 0; k < columns; k++) {
                        const int to = component(cx[k] - rx[r], cy[k] - ry[r]);
                        coarse->A[(size_t)to * points + (size_t)ry[r] * coarse->nx + (size_t)rx[r]] += rw[r] * a *
                                                                                                       cw[k];
                    }
                }
            }
        }
    for (size_t at = first * coarse->nx; at < end * coarse->nx; at++)
        if (coarse->A[at] != 0)
            coarse->A[9 * points + at] = BN_JACOBI_DAMPING / coarse->A[at];
}

/* Weight of the last coarse node for the fine node beyond it: the ratio of a smooth error at the last node of a line to
 * that at the node before, from the last node's equation with the entries across the line added up, mean over the side.
 * It is one third if a value is given half a spacing beyond the last node, one at a mirrored border. `along` 0: the
 * side at the end of x, else of y. */
static double last_weight(const bn_stencil *s, const double diagonal[BN_DIAGONALS], const bn_grid_level *l, int along)
{
    const size_t count = along ? l->nx : l->ny;
    double sum = 0, rows = 0;
    for (size_t n = 0; n < count; n++) {
        const size_t at = along ? (size_t)(l->ny - 1) * l->nx + n : n * l->nx + l->nx - 1;
        double back = 0, here = 0;
        for (int c = 0; c < 9; c++) {
            const int step = along ? offset_y[c] : offset_x[c];
            const double a = entry(s, diagonal, l, at, c);
            back += step < 0 ? a : 0;
            here += step == 0 ? a : 0;
        }
        if (here > 0) {
            sum += fmin(1, fmax(0, -back / here));
            rows++;
        }
    }
    return rows > 0 ? sum / rows : 1;
}

int bn_grid_step(uint32_t n) { return n > 3 ? 2 : 1; }
static uint32_t coarser(uint32_t n) { return n > 3 ? (n - 1) / 2 + 1 : n; }

/* coarse: its size is there. */
static bool coarsen(const bn_stencil *s, bn_grid_level *fine, bn_grid_level *coarse)
{
    double diagonal[BN_DIAGONALS];
    bn_stencil_diagonals(s, diagonal);
    fine->step_x = bn_grid_step(fine->nx);
    fine->step_y = bn_grid_step(fine->ny);
    coarse->step_x = coarse->step_y = 1;
    coarse->last_x = coarse->last_y = 1;
    fine->last_x = last_weight(s, diagonal, fine, 0);
    fine->last_y = last_weight(s, diagonal, fine, 1);
    const size_t points = (size_t)coarse->nx * coarse->ny;
    bool *is_parent = calloc(points, sizeof *is_parent);
    coarse->A = calloc(BN_STORED * points, sizeof *coarse->A);
    if (is_parent && coarse->A) {
        two_levels t = { s, fine, coarse, is_parent };
        bn_parallel_rows(coarse->ny, find_parents, &t);
        bn_parallel_rows(coarse->ny, galerkin, &t);
    }
    const bool good = is_parent && coarse->A;
    free(is_parent);
    return good;
}

/* Inverse of a symmetric positive definite matrix by Gauss and Jordan; rows without unknown stay zero. */
static void invert(double *m, size_t n)
{
    for (size_t p = 0; p < n; p++) {
        if (m[p * n + p] == 0)
            continue;
        const double pivot = 1 / m[p * n + p];
        m[p * n + p] = 1;
        for (size_t c = 0; c < n; c++)
            m[p * n + c] *= pivot;
        for (size_t r = 0; r < n; r++) {
            const double factor = m[r * n + p];
            if (r == p || factor == 0)
                continue;
            m[r * n + p] = 0;
            for (size_t c = 0; c < n; c++)
                m[r * n + c] -= factor * m[p * n + c];
        }
    }
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < r; c++)
            m[r * n + c] = m[c * n + r] = 0.5 * (m[r * n + c] + m[c * n + r]);
}

static bool make_inverse(const bn_stencil *s, const bn_grid_level *l, double **out)
{
    const size_t n = (size_t)l->nx * l->ny;
    double diagonal[BN_DIAGONALS], *m = calloc(n * n, sizeof *m);
    if (!m)
        return false;
    bn_stencil_diagonals(s, diagonal);
    for (size_t at = 0; at < n; at++)
        for (int c = 0; c < 9; c++) {
            const double a = entry(s, diagonal, l, at, c);
            if (a != 0)
                m[at * n + (size_t)((long)at + offset_x[c] + (long)l->nx * offset_y[c])] = a;
        }
    invert(m, n);
    *out = m;
    return true;
}

bool bn_grid_next(uint32_t *nx, uint32_t *ny)
{
    if ((size_t)*nx * *ny <= BN_DENSE_NODES)
        return false;
    *nx = coarser(*nx);
    *ny = coarser(*ny);
    return true;
}

bool bn_multigrid_plan_create(const bn_stencil *s, bn_multigrid_plan *out)
{
    *out = (bn_multigrid_plan){ .levels = 1, .level = { { s->nx, s->ny, 1, 1, 1, 1, NULL } } };
    bool good = true;
    while (good && out->levels < BN_GRID_LEVELS) {
        bn_grid_level *fine = &out->level[out->levels - 1], *coarse = fine + 1;
        coarse->nx = fine->nx;
        coarse->ny = fine->ny;
        if (!bn_grid_next(&coarse->nx, &coarse->ny))
            break;
        good = coarsen(s, fine, coarse);
        out->levels++;
    }
    good = good && make_inverse(s, &out->level[out->levels - 1], &out->inverse);
    if (!good)
        bn_multigrid_plan_destroy(out);
    return good;
}

void bn_multigrid_plan_destroy(bn_multigrid_plan *plan)
{
    for (int l = 0; l < plan->levels; l++)
        free(plan->level[l].A);
    free(plan->inverse);
    *plan = (bn_multigrid_plan){ 0 };
}
