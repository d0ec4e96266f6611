/* multigrid_plan.c: Galerkin matrices P^T A P of bilinear interpolation P, and the inverse of the last. Coarse nodes
 * are every other fine node; one exists where the fine node is an unknown, so that corrections vanish on given values.
 * Away from sides and obstacles all rows of a matrix are the same: it is computed once, and the others node by node.
 */
#include "numerics/multigrid_plan.h"

#include "api/parallel_rows.h"
#include "numerics/inverse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE, SAME, OWN }; /* kinds of nodes: no unknown; row `same`; a row of its own */

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
static int parents_of(const bn_grid_level *fine, const bn_grid_level *coarse, uint32_t i, uint32_t j, long x[4],
                      long y[4], double weight[4])
{
    long px[2], py[2];
    double wx[2], wy[2];
    const int nx = parents(i, fine->step_x, coarse->nx, fine->last_x, px, wx);
    const int ny = parents(j, fine->step_y, coarse->ny, fine->last_y, py, wy);
    int count = 0;
    for (int b = 0; b < ny; b++)
        for (int a = 0; a < nx; a++)
            if (coarse->kind[(size_t)py[b] * coarse->nx + (size_t)px[a]] != NONE) {
                x[count] = px[a];
                y[count] = py[b];
                weight[count++] = wx[a] * wy[b];
            }
    return count;
}

/* The finest grid's matrix, where a node's kind are its bits. */
typedef struct finest {
    const bn_stencil *s;
    double diagonal[BN_DIAGONALS];
} finest;
static const uint8_t all_bits = 255;

static const double *own_row(const bn_grid_level *l, uint32_t i, uint32_t j)
{
    size_t low = l->first_own[j], high = l->first_own[j + 1];
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        *(l->own_x[middle] <= i ? &low : &high) = middle;
    }
    return l->own + BN_STORED * low;
}

/* The first nine entries of the row of node (i, j). */
static void row_at(const finest *f, const bn_grid_level *l, uint32_t i, uint32_t j, double row[9])
{
    const size_t at = (size_t)j * l->nx + i;
    memset(row, 0, 9 * sizeof *row);
    if (l->kind) {
        if (l->kind[at] != NONE)
            memcpy(row, l->kind[at] == SAME ? l->same : own_row(l, i, j), 9 * sizeof *row);
    } else if (f->s->bits[at]) {
        row[0] = f->diagonal[f->s->bits[at] & BN_CELLS];
        for (int d = 0; d < 4; d++)
            row[d + 1] = bn_stencil_entry(f->s, f->s->bits[at], d);
    }
}

/* Two levels. */
typedef struct two_levels {
    const finest *f;
    const bn_grid_level *fine;
    bn_grid_level *coarse;
} two_levels;

/* Whether the nodes of column i are all like each other, `around` rows up and down from row j. */
static bool column_same(const two_levels *t, uint32_t i, uint32_t j, uint32_t around)
{
    const uint8_t *kinds = t->fine->kind ? t->fine->kind : t->f->s->bits;
    const uint8_t same = t->fine->kind ? SAME : all_bits;
    bool good = j >= around && j + around < t->fine->ny;
    for (size_t row = good ? j - around : 1; good && row <= j + around; row++)
        good = kinds[row * t->fine->nx + i] == same;
    return good;
}

/* A coarse row is the same as others if all fine nodes around are like each other: those it is computed from, and those
 * whose parents it reaches. `own_x` and `own` come later, with room for as many as first_own counts. */
static void find_kinds(void *user, size_t first, size_t end)
{
    const two_levels *t = user;
    const uint32_t step_x = (uint32_t)t->fine->step_x, step_y = (uint32_t)t->fine->step_y;
    for (size_t j = first; j < end; j++) {
        uint8_t *kind = t->coarse->kind + j * t->coarse->nx;
        size_t own = 0;
        uint32_t column = 0, run = 0; /* columns before `column` that are good, one after the other */
        for (uint32_t i = 0; i < t->coarse->nx; i++) {
            double row[9];
            for (; column <= step_x * (i + 1) && column < t->fine->nx; column++)
                run = column_same(t, column, (uint32_t)j * step_y, step_y) ? run + 1 : 0;
            if (run > 2 * step_x && column == step_x * (i + 1) + 1) {
                kind[i] = SAME;
                continue;
            }
            row_at(t->f, t->fine, i * step_x, (uint32_t)j * step_y, row);
            kind[i] = row[0] != 0 ? OWN : NONE;
            own += row[0] != 0;
        }
        t->coarse->first_own[j + 1] = own;
    }
}

/* Row of coarse node (i, j). Addends of an entry come in the order of the fine nodes. */
static void galerkin_row(const two_levels *t, uint32_t i, uint32_t j, double out[BN_STORED])
{
    const bn_grid_level *fine = t->fine, *coarse = t->coarse;
    const uint32_t step_x = (uint32_t)fine->step_x, step_y = (uint32_t)fine->step_y;
    memset(out, 0, BN_STORED * sizeof *out);
    for (uint32_t fj = j > 0 ? step_y * j - (step_y - 1) : 0; fj < step_y * (j + 1) && fj < fine->ny; fj++)
        for (uint32_t fi = i > 0 ? step_x * i - (step_x - 1) : 0; fi < step_x * (i + 1) && fi < fine->nx; fi++) {
            double row[9], weight = 0, cw[4];
            long cx[4], cy[4];
            row_at(t->f, fine, fi, fj, row);
            if (row[0] == 0)
                continue;
            const int parents = parents_of(fine, coarse, fi, fj, cx, cy, cw);
            for (int r = 0; r < parents; r++)
                weight = cx[r] == i && cy[r] == j ? cw[r] : weight;
            for (int c = 0; c < 9; c++) {
                if (row[c] == 0)
                    continue;
                const int columns = parents_of(fine, coarse, (uint32_t)((long)fi + offset_x[c]),
                                               (uint32_t)((long)fj + offset_y[c]), cx, cy, cw);
                for (int k = 0; k < columns; k++)
                    out[component(cx[k] - i, cy[k] - j)] += weight * row[c] * cw[k];
            }
        }
    if (out[0] != 0)
        out[9] = BN_JACOBI_DAMPING / out[0];
}

static void own_rows(void *user, size_t first, size_t end)
{
    const two_levels *t = user;
    bn_grid_level *coarse = t->coarse;
    for (size_t j = first; j < end; j++) {
        size_t number = coarse->first_own[j];
        for (uint32_t i = 0; i < coarse->nx; i++)
            if (coarse->kind[j * coarse->nx + i] == OWN) {
                coarse->own_x[number] = i;
                galerkin_row(t, i, (uint32_t)j, coarse->own + BN_STORED * number++);
            }
    }
}

/* Weight of the last coarse node for the fine node beyond it: the ratio of a smooth error at the last node of a line to
 * that at the node before, from the last node's equation with the entries across the line added up, mean over the side.
 * It is one third if a value is given half a spacing beyond the last node, one at a mirrored border. `along` 0: the
 * side at the end of x, else of y. */
static double last_weight(const finest *f, const bn_grid_level *l, int along)
{
    const size_t count = along ? l->nx : l->ny;
    double sum = 0, rows = 0;
    for (size_t n = 0; n < count; n++) {
        double back = 0, here = 0, row[9];
        row_at(f, l, along ? (uint32_t)n : l->nx - 1, along ? l->ny - 1 : (uint32_t)n, row);
        for (int c = 0; c < 9; c++) {
            const int step = along ? offset_y[c] : offset_x[c];
            back += step < 0 ? row[c] : 0;
            here += step == 0 ? row[c] : 0;
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
static bool coarsen(const finest *f, bn_grid_level *fine, bn_grid_level *coarse)
{
    const size_t points = (size_t)coarse->nx * coarse->ny;
    const two_levels t = { f, fine, coarse };
    fine->step_x = bn_grid_step(fine->nx);
    fine->step_y = bn_grid_step(fine->ny);
    coarse->step_x = coarse->step_y = 1;
    coarse->last_x = coarse->last_y = 1;
    fine->last_x = last_weight(f, fine, 0);
    fine->last_y = last_weight(f, fine, 1);
    coarse->kind = malloc(points);
    coarse->first_own = calloc((size_t)coarse->ny + 1, sizeof *coarse->first_own);
    if (!coarse->kind || !coarse->first_own)
        return false;
    bn_parallel_rows(coarse->ny, coarse->nx, find_kinds, (void *)&t);
    for (uint32_t j = 0; j < coarse->ny; j++)
        coarse->first_own[j + 1] += coarse->first_own[j];
    const size_t own = coarse->first_own[coarse->ny];
    coarse->own_x = malloc((own + 1) * sizeof *coarse->own_x);
    coarse->own = malloc((own + 1) * BN_STORED * sizeof *coarse->own);
    if (!coarse->own_x || !coarse->own)
        return false;
    const uint8_t *any = memchr(coarse->kind, SAME, points);
    if (any)
        galerkin_row(&t, (uint32_t)((size_t)(any - coarse->kind) % coarse->nx),
                     (uint32_t)((size_t)(any - coarse->kind) / coarse->nx), coarse->same);
    bn_parallel_rows(coarse->ny, coarse->nx, own_rows, (void *)&t);
    return true;
}

static bool make_inverse(const finest *f, const bn_grid_level *l, double **out)
{
    const size_t n = (size_t)l->nx * l->ny;
    double row[9], *m = calloc(n * n, sizeof *m);
    if (!m)
        return false;
    for (size_t at = 0; at < n; at++) {
        row_at(f, l, (uint32_t)(at % l->nx), (uint32_t)(at / l->nx), row);
        for (int c = 0; c < 9; c++)
            if (row[c] != 0)
                m[at * n + (size_t)((long)at + offset_x[c] + (long)l->nx * offset_y[c])] = row[c];
    }
    (void)bn_inverse(m, n); /* rows without unknown stay zero */
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < r; c++)
            m[r * n + c] = m[c * n + r] = 0.5 * (m[r * n + c] + m[c * n + r]);
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

/* A part of a matrix on its way out. */
typedef struct written_matrix {
    const bn_grid_level *l;
    int components;
    const uint32_t *first, *n;
    bool single;
    void *out;
} written_matrix;

static void write_rows(void *user, size_t first, size_t end)
{
    static const double none[BN_STORED] = { 0 };
    const written_matrix *w = user;
    const size_t points = (size_t)w->n[0] * w->n[1];
    for (size_t j = first; j < end; j++)
        for (uint32_t i = 0; i < w->n[0]; i++) {
            const uint32_t x = w->first[0] + i, y = w->first[1] + (uint32_t)j;
            const int kind = w->l->kind[(size_t)y * w->l->nx + x];
            const double *row = kind == NONE ? none : kind == SAME ? w->l->same : own_row(w->l, x, y);
            const size_t at = j * w->n[0] + i;
            for (int c = 0; w->single && c < w->components; c++)
                ((float *)w->out)[(size_t)c * points + at] = (float)row[c];
            for (int c = 0; !w->single && c < w->components; c++)
                ((double *)w->out)[(size_t)c * points + at] = row[c];
        }
}

void bn_grid_matrix(const bn_grid_level *l, int components, const uint32_t first[2], const uint32_t n[2], bool single,
                    void *out)
{
    bn_parallel_rows(n[1], n[0], write_rows, &(written_matrix){ l, components, first, n, single, out });
}

typedef struct written_kinds {
    const bn_grid_level *l;
    const uint32_t *first, *n;
    bool alike; /* rows `same` are told apart from others */
    uint8_t *out;
} written_kinds;

static void write_kinds(void *user, size_t first, size_t end)
{
    const written_kinds *w = user;
    for (size_t j = first; j < end; j++)
        for (uint32_t i = 0; i < w->n[0]; i++) {
            const uint8_t kind = w->l->kind[((size_t)w->first[1] + j) * w->l->nx + w->first[0] + i];
            w->out[j * w->n[0] + i] = kind == SAME && !w->alike ? OWN : kind;
        }
}

void bn_grid_kinds(const bn_grid_level *l, const uint32_t first[2], const uint32_t n[2], bool single, uint8_t *out)
{
    bool alike = true;
    for (int c = 0; c < 9; c++)
        alike = alike && (single ? (float)l->same[c] != 0 : l->same[c] != 0);
    bn_parallel_rows(n[1], n[0], write_kinds, &(written_kinds){ l, first, n, alike, out });
}

bool bn_multigrid_plan_create(const bn_stencil *s, bn_multigrid_plan *out)
{
    finest f = { .s = s };
    bn_stencil_diagonals(s, f.diagonal);
    *out = (bn_multigrid_plan){
        .levels = 1, .level = { { .nx = s->nx, .ny = s->ny, .step_x = 1, .step_y = 1, .last_x = 1, .last_y = 1 } }
    };
    bool good = true;
    while (good && out->levels < BN_GRID_LEVELS) {
        bn_grid_level *fine = &out->level[out->levels - 1], *coarse = fine + 1;
        coarse->nx = fine->nx;
        coarse->ny = fine->ny;
        if (!bn_grid_next(&coarse->nx, &coarse->ny))
            break;
        good = coarsen(&f, fine, coarse);
        out->levels++;
    }
    good = good && make_inverse(&f, &out->level[out->levels - 1], &out->inverse);
    if (!good)
        bn_multigrid_plan_destroy(out);
    return good;
}

void bn_multigrid_plan_destroy(bn_multigrid_plan *plan)
{
    for (int l = 0; l < plan->levels; l++) {
        free(plan->level[l].kind);
        free(plan->level[l].first_own);
        free(plan->level[l].own_x);
        free(plan->level[l].own);
    }
    free(plan->inverse);
    *plan = (bn_multigrid_plan){ 0 };
}
