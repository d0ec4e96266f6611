/* linear_reference.c: linear solvers in plain C, the specification of kernels/cg.cl, spectral.cl and multigrid.cl.
 * Compiled for float and for double. The formulas are those of the kernels in the same association, so that both give
 * the same bits. */
#include "numerics/linear_reference.h"

#include "numerics/capacitance_plan.h"
#include "numerics/multigrid_plan.h"
#include "numerics/pair.h"
#include "numerics/spectral_plan.h"
#include "numerics/stretched.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A grid of multigrid: its matrix (NULL on the finest) and its vectors (x and b come from outside on the finest). */
typedef struct grid {
    real *A, *b, *x, *y;
} grid;

/* One dimension of the direct solver: tables in this precision. */
typedef struct axis {
    real *twiddle, *sums, *chirp, *spectrum, *eigenvalue, *forward, *back;
} axis;

struct bn_linear_reference {
    bn_context *ctx;
    bn_linear_desc desc;
    size_t n[3], points;
    real diagonal[BN_DIAGONALS], kx, ky;
    real *spacings; /* of a stretched grid */
    real *r, *p, *q, *z, *product, *partials;
    bn_multigrid_plan multigrid;
    grid grids[BN_GRID_LEVELS];
    real *inverse;
    bn_spectral_plan spectral;
    axis axes[2];
    real *columns, *coupled, *column; /* systems along y, alone and as the second of two */
    pair *line;
    bn_capacitance_plan capacitance; /* where there are obstacles */
    real *influence;
    unsigned long long solves;
    bn_cg_report checked; /* of the last direct solution whose residual was computed */
};

static real *rounded(const double *values, size_t count)
{
    real *out = malloc((count ? count : 1) * sizeof *out);
    for (size_t i = 0; out && i < count; i++)
        out[i] = (real)values[i];
    return out;
}

static bool create_dense(bn_linear_reference *l)
{
    bool good = true;
    for (int d = 0; d < 2 && good; d++) {
        const bn_spectral_axis *a = &l->spectral.axis[d];
        const size_t nodes = (size_t)a->intervals + 1;
        axis *t = &l->axes[d];
        t->forward = rounded(a->forward, (size_t)a->count * nodes);
        t->back = rounded(a->back, (size_t)a->count * nodes);
        t->eigenvalue = rounded(a->eigenvalue, nodes);
        good = t->forward && t->back && t->eigenvalue;
    }
    return good;
}

static bool create_spectral(bn_linear_reference *l)
{
    bn_spectral_plan second;
    if (!bn_spectral_plan_create(&l->desc.stencil, sizeof(real), &l->spectral))
        return false;
    if (l->spacings)
        return create_dense(l);
    const bn_spectral_axis *a = &l->spectral.axis[0];
    const size_t points = bn_spectral_lines(a) > 1 ? 2 * bn_spectral_split_points(a) : ((size_t)1 << a->log) + 1;
    axis *t = &l->axes[0];
    t->twiddle = rounded(a->twiddle, bn_spectral_twiddles(a));
    t->sums = rounded(a->sums, bn_spectral_sums(a));
    t->chirp = rounded(a->chirp, bn_spectral_chirps(a));
    t->spectrum = rounded(a->spectrum, bn_spectral_spectrum(a));
    l->line = malloc(points * sizeof *l->line);
    if (!bn_spectral_plan_second(&l->desc.stencil, sizeof(real), &second))
        return false;
    l->columns = rounded(l->spectral.columns.tables, bn_column_numbers(&l->spectral.columns));
    l->coupled = rounded(second.columns.tables, bn_column_numbers(&second.columns));
    l->column = malloc(((size_t)l->spectral.columns.chunks + 1) * sizeof *l->column);
    bn_spectral_plan_destroy(&second);
    return t->twiddle && t->sums && t->chirp && t->spectrum && l->line && l->columns && l->coupled && l->column;
}

static bool create_multigrid(bn_linear_reference *l)
{
    if (!bn_multigrid_plan_create(&l->desc.stencil, &l->multigrid))
        return false;
    const bn_grid_level *last = &l->multigrid.level[l->multigrid.levels - 1];
    const size_t dense = (size_t)last->nx * last->ny;
    for (int i = 0; i < l->multigrid.levels; i++) {
        const bn_grid_level *plan = &l->multigrid.level[i];
        const size_t points = (size_t)plan->nx * plan->ny;
        grid *g = &l->grids[i];
        g->y = calloc(points, sizeof(real));
        if (i > 0) {
            if ((g->A = malloc(BN_STORED * points * sizeof(real))))
                bn_grid_matrix(plan, BN_STORED, (const uint32_t[2]){ 0, 0 }, (const uint32_t[2]){ plan->nx, plan->ny },
                               sizeof(real) == sizeof(float), g->A);
            g->b = calloc(points, sizeof(real));
            g->x = calloc(points, sizeof(real));
        }
        if (!g->y || (i > 0 && (!g->A || !g->b || !g->x)))
            return false;
    }
    return (l->inverse = rounded(l->multigrid.inverse, dense * dense)) != NULL;
}

static bn_capacitance_solver solve_rectangle;

static bn_status create_capacitance(bn_linear_reference *l)
{
    bn_capacitance_plan *c = &l->capacitance;
    BN_TRY(bn_capacitance_plan_create(l->ctx, &l->desc.stencil, sizeof(real) == 8 ? 0x1p-53 : 0x1p-24, solve_rectangle,
                                      l, c));
    l->influence = rounded(c->influence, c->count * bn_region_points(&c->window));
    return l->influence ? BN_OK : bn_fail(l->ctx, BN_MEMORY, "no memory for %s", l->desc.name);
}

bn_status BN_PRECISE(linear_reference_create)(bn_context *ctx, const bn_linear_desc *desc, bn_linear_reference **out)
{
    *out = NULL;
    bn_linear_reference *l = calloc(1, sizeof *l);
    if (!l)
        return bn_fail(ctx, BN_MEMORY, "no memory for %s", desc->name);
    l->ctx = ctx;
    l->desc = *desc;
    const bn_stencil *s = &desc->stencil;
    l->n[0] = s->nx;
    l->n[1] = s->ny;
    l->n[2] = 1;
    l->points = l->n[0] * l->n[1];
    double diagonal[BN_DIAGONALS];
    bn_stencil_diagonals(s, diagonal);
    for (int i = 0; i < BN_DIAGONALS; i++)
        l->diagonal[i] = (real)diagonal[i];
    l->kx = (real)s->kx;
    l->ky = (real)s->ky;
    bool good = true;
    if (s->widths) {
        double *axes = bn_stencil_axes(s);
        good = axes && (l->spacings = rounded(axes, bn_stencil_axes_count(s))) != NULL;
        free(axes);
    }
    real **const vectors[] = { &l->r, &l->p, &l->q, &l->z, &l->product };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        good = (*vectors[i] = calloc(l->points, sizeof(real))) != NULL && good;
    const size_t blocks = (l->n[0] / BN_BLOCK_NX + 1) * (l->n[1] / BN_BLOCK_NY + 1);
    good = (l->partials = calloc(blocks, sizeof(real))) != NULL && good;
    if (good && desc->method == BN_LINEAR_SPECTRAL)
        good = create_spectral(l);
    if (good && desc->method == BN_LINEAR_MULTIGRID)
        good = create_multigrid(l);
    if (!good) {
        BN_PRECISE(linear_reference_destroy)(&l);
        return bn_fail(ctx, BN_MEMORY, "no memory for %s", desc->name);
    }
    if (desc->method == BN_LINEAR_SPECTRAL && s->rectangle) {
        const bn_status st = create_capacitance(l);
        if (st) {
            BN_PRECISE(linear_reference_destroy)(&l);
            return st;
        }
    }
    *out = l;
    return BN_OK;
}

void BN_PRECISE(linear_reference_destroy)(bn_linear_reference **reference)
{
    if (!reference || !*reference)
        return;
    bn_linear_reference *l = *reference;
    for (int i = 0; i < BN_GRID_LEVELS; i++) {
        free(l->grids[i].A);
        free(l->grids[i].b);
        free(l->grids[i].x);
        free(l->grids[i].y);
    }
    for (int d = 0; d < 2; d++) {
        free(l->axes[d].twiddle);
        free(l->axes[d].sums);
        free(l->axes[d].chirp);
        free(l->axes[d].spectrum);
        free(l->axes[d].eigenvalue);
        free(l->axes[d].forward);
        free(l->axes[d].back);
    }
    bn_multigrid_plan_destroy(&l->multigrid);
    bn_spectral_plan_destroy(&l->spectral);
    bn_capacitance_plan_destroy(&l->capacitance);
    free(l->influence);
    free(l->spacings);
    free(l->inverse);
    free(l->line);
    free(l->columns);
    free(l->coupled);
    free(l->column);
    free(l->r);
    free(l->p);
    free(l->q);
    free(l->z);
    free(l->product);
    free(l->partials);
    free(l);
    *reference = NULL;
}

/* Half of the number of cells, of two, that belong to the domain: the share of a face. */
static real face(unsigned bits, unsigned a, unsigned b)
{
    return REAL(0.5) * (real)(((bits & a) != 0) + ((bits & b) != 0));
}

/* The same on a stretched grid. */
static real stretched_row(const bn_linear_reference *l, size_t at, const real *v)
{
    const unsigned bits = l->desc.stencil.bits[at];
    const bn_spacings_at h = bn_spacings(l->spacings, l->n[0], l->n[1], at);
    const real west = bn_stretched_face(&h, l->kx, bits, 0), east = bn_stretched_face(&h, l->kx, bits, 1);
    const real south = bn_stretched_face(&h, l->ky, bits, 2), north = bn_stretched_face(&h, l->ky, bits, 3);
    real sum = (l->diagonal[15] * bn_stretched_area(&h, bits) + ((west + east) + (south + north))) * v[at];
    if (bits & BN_LINK_WEST)
        sum = sum - west * v[at - 1];
    if (bits & BN_LINK_EAST)
        sum = sum - east * v[at + 1];
    if (bits & BN_LINK_SOUTH)
        sum = sum - south * v[at - l->n[0]];
    if (bits & BN_LINK_NORTH)
        sum = sum - north * v[at + l->n[0]];
    return sum;
}

/* Row `at` of A v. */
static real row(const bn_linear_reference *l, size_t at, const real *v)
{
    const unsigned bits = l->desc.stencil.bits[at];
    if (l->spacings)
        return stretched_row(l, at, v);
    real sum = l->diagonal[bits & BN_CELLS] * v[at];
    if (bits & BN_LINK_WEST)
        sum = sum - (l->kx * face(bits, BN_CELL_SW, BN_CELL_NW)) * v[at - 1];
    if (bits & BN_LINK_EAST)
        sum = sum - (l->kx * face(bits, BN_CELL_SE, BN_CELL_NE)) * v[at + 1];
    if (bits & BN_LINK_SOUTH)
        sum = sum - (l->ky * face(bits, BN_CELL_SW, BN_CELL_SE)) * v[at - l->n[0]];
    if (bits & BN_LINK_NORTH)
        sum = sum - (l->ky * face(bits, BN_CELL_NW, BN_CELL_NE)) * v[at + l->n[0]];
    return sum;
}

/* ------------------------------------------------------------------------------------------------------------- sums */

/* Sum of a b over the unknowns. */
static real dot(const bn_linear_reference *l, const real *a, const real *b)
{
    for (size_t at = 0; at < l->points; at++)
        l->product[at] = l->desc.stencil.bits[at] ? a[at] * b[at] : 0;
    return bn_ordered_dot(l->product, NULL, l->n, l->partials);
}

/* -------------------------------------------------------------------------------------------------------- multigrid */

static const int offset_x[9] = { 0, -1, 1, 0, 0, -1, 1, -1, 1 }, offset_y[9] = { 0, 0, 0, -1, 1, -1, -1, 1, 1 };

static bool is_unknown(const bn_linear_reference *l, int level, size_t at)
{
    return level == 0 ? l->desc.stencil.bits[at] != 0 : l->grids[level].A[at] != 0;
}

static real damping(const bn_linear_reference *l, int level, size_t at)
{
    const bn_grid_level *plan = &l->multigrid.level[level];
    return level == 0 ? l->diagonal[16 + (l->desc.stencil.bits[at] & BN_CELLS)]
                      : l->grids[level].A[9 * (size_t)plan->nx * plan->ny + at];
}

static real level_row(const bn_linear_reference *l, int level, size_t at, const real *v)
{
    if (level == 0)
        return row(l, at, v);
    const bn_grid_level *plan = &l->multigrid.level[level];
    const real *A = l->grids[level].A;
    const size_t points = (size_t)plan->nx * plan->ny;
    real sum = A[at] * v[at];
    for (int c = 1; c < 9; c++) {
        const real entry = A[(size_t)c * points + at];
        if (entry != 0)
            sum = sum + entry * v[(size_t)((long)at + offset_x[c] + (long)plan->nx * offset_y[c])];
    }
    return sum;
}

/* y = x + W (b - A x) */
static void smooth(const bn_linear_reference *l, int level, const real *b, const real *x, real *y)
{
    const size_t points = (size_t)l->multigrid.level[level].nx * l->multigrid.level[level].ny;
    for (size_t at = 0; at < points; at++)
        y[at] = is_unknown(l, level, at) ? x[at] + damping(l, level, at) * (b[at] - level_row(l, level, at, x)) : 0;
}

static bool has_above(uint32_t i, int step, uint32_t coarse_n) { return step == 2 && i % 2 && i / 2 + 1 < coarse_n; }

static real share(long fine, long coarse, int step, uint32_t n, double last)
{
    if (fine == step * coarse)
        return 1;
    return fine > step * coarse && !has_above((uint32_t)fine, step, n) ? (real)last : REAL(0.5);
}

/* b of the next grid: the restricted residual. */
static void restrict_residual(const bn_linear_reference *l, int level, const real *b, const real *x)
{
    const bn_grid_level *fine = &l->multigrid.level[level], *coarse = fine + 1;
    for (long j = 0; j < coarse->ny; j++)
        for (long i = 0; i < coarse->nx; i++) {
            const size_t to = (size_t)(j * coarse->nx + i);
            real total = 0;
            for (long dy = 1 - fine->step_y; is_unknown(l, level + 1, to) && dy < fine->step_y; dy++)
                for (long dx = 1 - fine->step_x; dx < fine->step_x; dx++) {
                    const long fi = fine->step_x * i + dx, fj = fine->step_y * j + dy;
                    const size_t at = (size_t)(fj * fine->nx + fi);
                    if (fi < 0 || fj < 0 || fi >= fine->nx || fj >= fine->ny || !is_unknown(l, level, at))
                        continue;
                    const real weight = share(fj, j, fine->step_y, coarse->ny, fine->last_y) *
                                        share(fi, i, fine->step_x, coarse->nx, fine->last_x);
                    total = total + weight * (b[at] - level_row(l, level, at, x));
                }
            l->grids[level + 1].b[to] = total;
        }
}

/* The next grid's x at node (i, j) of this one. */
static real interpolate(const bn_linear_reference *l, int level, uint32_t i, uint32_t j)
{
    const bn_grid_level *fine = &l->multigrid.level[level], *coarse = fine + 1;
    const real *e = l->grids[level + 1].x + (size_t)(fine->step_y == 2 ? j / 2 : j) * coarse->nx +
                    (fine->step_x == 2 ? i / 2 : i);
    const bool above_x = has_above(i, fine->step_x, coarse->nx), above_y = has_above(j, fine->step_y, coarse->ny);
    const real alone_x = fine->step_x == 2 && i % 2 ? (real)fine->last_x : 1;
    const real alone_y = fine->step_y == 2 && j % 2 ? (real)fine->last_y : 1;
    const real low = above_x ? REAL(0.5) * (e[0] + e[1]) : alone_x * e[0];
    if (!above_y)
        return alone_y * low;
    const real high = above_x ? REAL(0.5) * (e[coarse->nx] + e[coarse->nx + 1]) : alone_x * e[coarse->nx];
    return REAL(0.5) * (low + high);
}

static void cycle(const bn_linear_reference *l, int level, const real *b, real *x)
{
    const bn_grid_level *plan = &l->multigrid.level[level];
    const size_t points = (size_t)plan->nx * plan->ny;
    real *y = l->grids[level].y;
    if (level + 1 == l->multigrid.levels) {
        for (size_t at = 0; at < points; at++) {
            real sum = 0;
            for (size_t k = 0; k < points; k++)
                sum = sum + l->inverse[k * points + at] * b[k];
            x[at] = sum;
        }
        return;
    }
    for (size_t at = 0; at < points; at++)
        y[at] = is_unknown(l, level, at) ? damping(l, level, at) * b[at] : 0;
    smooth(l, level, b, y, x);
    restrict_residual(l, level, b, x);
    cycle(l, level + 1, l->grids[level + 1].b, l->grids[level + 1].x);
    for (uint32_t j = 0; j < plan->ny; j++)
        for (uint32_t i = 0; i < plan->nx; i++) {
            const size_t at = (size_t)j * plan->nx + i;
            x[at] = is_unknown(l, level, at) ? x[at] + interpolate(l, level, i, j) : 0;
        }
    smooth(l, level, b, x, y);
    smooth(l, level, b, y, x);
}

/* ---------------------------------------------------------------------------------------------- conjugate gradients */

/* Hestenes and Stiefel (1952) in the order of Chronopoulos and Gear (1989), started from x, judged by the residual
 * recomputed from x. rr: of the recurrence; last: of the residual recomputed before. */
static void residual(const bn_linear_reference *l, const real *x, const real *b, bool check, bool direct,
                     const bn_cg_limits *limits, real *rr, real *last, real *bb, bn_cg_report *report)
{
    const real tolerance2 = (real)limits->tolerance2, floor_x = (real)limits->floor_x, floor_b = (real)limits->floor_b;
    for (size_t at = 0; at < l->points; at++)
        l->r[at] = l->desc.stencil.bits[at] ? b[at] - row(l, at, x) : 0;
    const real recurrence = *rr, before = *last;
    *rr = *last = dot(l, l->r, l->r);
    *bb = dot(l, b, b);
    const real xx = dot(l, x, x);
    report->state = BN_CG_RUN;
    if (!isfinite(*rr))
        report->state = BN_CG_BROKEN;
    else if (*rr <= tolerance2 * *bb)
        report->state = BN_CG_REACHED;
    else if (check && recurrence > tolerance2 * *bb)
        report->state = BN_CG_LIMIT;
    else if ((check || direct) && *rr <= floor_x * xx + floor_b * *bb)
        report->state = BN_CG_ROUNDED;
    else if (direct || (check && report->restarts > 0 && 4 * *rr > before))
        report->state = BN_CG_STALLED;
    else
        report->restarts += check;
    report->residual = bn_cg_relative((double)*rr, (double)*bb);
    report->right = sqrt((double)*bb);
}

/* q = A v */
static void multiply_by_matrix(const bn_linear_reference *l, const real *v)
{
    for (size_t at = 0; at < l->points; at++)
        l->q[at] = l->desc.stencil.bits[at] ? row(l, at, v) : 0;
}

static void conjugate_gradients(bn_linear_reference *l, real *x, const real *b, const bn_cg_target *target,
                                const bn_cg_limits *limits, bn_cg_report *report)
{
    const uint8_t *bits = l->desc.stencil.bits;
    const bool preconditioned = l->desc.method == BN_LINEAR_MULTIGRID;
    const real tolerance2 = (real)limits->tolerance2;
    real *r = l->r, *p = l->p, *z = preconditioned ? l->z : r;
    real rr = 0, bb = 0, last = 0;
    residual(l, x, b, false, false, limits, &rr, &last, &bb, report);
    while (report->state == BN_CG_RUN) {
        real rz_before = 0, pap = 0;
        for (bool fresh = true;; fresh = false) {
            if (!fresh && !isfinite(rr))
                report->state = BN_CG_BROKEN;
            else if (!fresh && (rr <= tolerance2 * bb || report->iterations >= target->iterations))
                report->state = BN_CG_CLAIMED;
            if (report->state != BN_CG_RUN)
                break;
            if (preconditioned)
                cycle(l, 0, r, z);
            multiply_by_matrix(l, z);
            const real rz = preconditioned ? dot(l, r, z) : rr, zaz = dot(l, z, l->q);
            const real ratio = fresh ? 0 : rz / rz_before, rest = zaz - ratio * ratio * pap;
            const real beta = rest > 0 ? ratio : 0; /* without a positive p.Ap the direction begins anew */
            pap = rest > 0 ? rest : zaz;
            if (!isfinite(pap) || !(pap > 0)) {
                report->state = BN_CG_BROKEN;
                break;
            }
            const real alpha = rz / pap;
            rz_before = rz;
            for (size_t at = 0; at < l->points; at++)
                p[at] = bits[at] ? z[at] + beta * p[at] : 0;
            multiply_by_matrix(l, p);
            for (size_t at = 0; at < l->points; at++)
                if (bits[at]) {
                    r[at] = r[at] - alpha * l->q[at];
                    x[at] = x[at] + alpha * p[at];
                }
            rr = dot(l, r, r);
            report->iterations++;
        }
        if (report->state == BN_CG_CLAIMED)
            residual(l, x, b, true, false, limits, &rr, &last, &bb, report);
    }
}

/* ---------------------------------------------------------------------------------------------------- direct solver */

static pair times(pair a, real re, real im) { return (pair){ FMA(a.x, re, -(a.y * im)), FMA(a.x, im, a.y * re) }; }

/* One level of butterflies over 2^top points, from point `begin`; up: its inverse, unscaled. Twiddle factors: roots of
 * 2^period. */
static void butterflies(pair *v, size_t begin, int log, int top, int period, const real *twiddle, bool up)
{
    const size_t half = (size_t)1 << (top - 1);
    for (size_t block = begin; block < (size_t)1 << log; block += 2 * half)
        for (size_t q = 0; q < half; q++) {
            pair *a = v + block + q, *b = a + half;
            const real *w = twiddle + 2 * (q << (period - top));
            const pair first = *a, second = up ? times(*b, w[0], -w[1]) : *b, d = minus(first, second);
            *a = (pair){ first.x + second.x, first.y + second.y };
            *b = up ? d : times(d, w[0], w[1]);
        }
}

/* Folds the first 2^top points and the end, which stands at 2^log: kernels/spectral.cl explains it. */
static void fold(pair *v, int log, int top, const real *twiddle, bool odd)
{
    const size_t m = (size_t)1 << (top - 1), last = (size_t)1 << log;
    const real sign = odd ? -1 : 1;
    for (size_t j = 0; j <= m / 2; j++) {
        const size_t end = j == 0 ? last : 2 * m - j;
        const pair a = v[j], b = v[m - j], c = v[m + j], d = v[end];
        const real *w = twiddle + 2 * (j << (log - top));
        const pair outer = { a.x - sign * d.x, a.y - sign * d.y }, inner = { b.x - sign * c.x, b.y - sign * c.y };
        const pair p = odd ? inner : outer, q = odd ? outer : inner;
        v[j] = (pair){ a.x + sign * d.x, a.y + sign * d.y };
        v[j == 0 ? last : m - j] = (pair){ b.x + sign * c.x, b.y + sign * c.y };
        v[m + j] = times((pair){ p.x + q.y, p.y - q.x }, w[0], -w[1]);
        if (j > 0)
            v[end] = times((pair){ q.x + p.y, q.y - p.x }, -w[1], w[0]);
    }
}

static void transform_folded(pair *v, int log, const real *twiddle, bool odd)
{
    const size_t last = (size_t)1 << log;
    for (int top = log; top > 0; top--) {
        fold(v, log, top, twiddle, odd);
        butterflies(v, (size_t)1 << top, log, top, log + 1, twiddle, false);
    }
    const pair low = v[0], high = v[last];
    v[0] = (pair){ low.x + high.x, low.y + high.y };
    v[last] = minus(low, high);
}

/* Conjugate and transposed: what fold() made of the first 2^top points and the end becomes those again, times two but
 * for the ends. */
static void unfold(pair *v, int log, int top, const real *twiddle, bool odd)
{
    const size_t m = (size_t)1 << (top - 1), last = (size_t)1 << log;
    const pair end = v[last], low = v[0], high = v[m];
    if (!odd) {
        v[0] = (pair){ low.x + high.x, low.y + high.y };
        v[last] = minus(low, high);
    }
    v[m] = odd ? (pair){ high.x + high.x, high.y + high.y } : (pair){ end.x + end.x, end.y + end.y };
    for (size_t j = 1; j <= m / 2; j++) {
        const real *w = twiddle + 2 * (j << (log - top));
        const pair a = v[j], b = v[m - j], p = times(v[m + j], w[0], w[1]), q = times(v[2 * m - j], w[0], -w[1]);
        const pair sum = { p.x + q.x, p.y + q.y }, difference_i = { q.y - p.y, p.x - q.x };
        const pair outer = odd ? difference_i : sum, inner = odd ? sum : difference_i;
        v[j] = (pair){ a.x + outer.x, a.y + outer.y };
        v[m - j] = (pair){ b.x + inner.x, b.y + inner.y };
        v[m + j] = odd ? minus(inner, b) : minus(b, inner);
        v[2 * m - j] = odd ? minus(outer, a) : minus(a, outer);
    }
}

static void unfold_all(pair *v, int log, const real *twiddle, bool odd)
{
    const size_t last = (size_t)1 << log;
    const pair low = v[0], high = v[last];
    v[0] = (pair){ low.x + high.x, low.y + high.y };
    v[last] = minus(low, high);
    for (int top = 1; top <= log; top++) {
        butterflies(v, (size_t)1 << top, log, top, log + 1, twiddle, true);
        unfold(v, log, top, twiddle, odd);
    }
}

/* The value at point i of a line that goes on beyond its ends, number 0 and `intervals`. */
static pair beyond(const pair *v, int intervals, bool odd, int i)
{
    const int within = i < 0 ? -i : i > intervals ? 2 * intervals - i : i;
    return within == i || !odd ? v[within] : (pair){ -v[within].x, -v[within].y };
}

/* Splits a line into m, by way of `work` that is as long as all of them: numerics/spectral_plan.h has the formulas. */
static void split_line(pair *v, int intervals, bool odd, int m, const real *sums, pair *work)
{
    const int shorter = intervals / m, points = shorter + 1;
    for (int j = 0; j < points; j++) {
        work[j] = v[m * j];
        for (int n = 1; n <= m / 2; n++) {
            const pair up = beyond(v, intervals, odd, m * j + 2 * shorter * n),
                       down = beyond(v, intervals, odd, m * j - 2 * shorter * n);
            work[n * points + j] = (pair){ up.x + down.x, up.y + down.y };
            work[(m / 2 + n) * points + j] = minus(up, down);
        }
    }
    for (int c = 0; c < m; c++)
        for (int j = 0; j < points; j++) {
            const bool sines = c > m / 2;
            pair sum = sines ? (pair){ 0, 0 } : work[j];
            for (int n = 1; n <= m / 2; n++) {
                const pair from = work[(sines ? m / 2 + n : n) * points + j];
                const real weight = sums[(n - 1) * bn_spectral_sums_row(m) + bn_spectral_sum_at(m, c)];
                sum = (pair){ FMA(weight, from.x, sum.x), FMA(weight, from.y, sum.y) };
            }
            v[c * points + j] = sum;
        }
}

/* Of the lines that come of one, those behind number m / 2 are odd where it is not. */
static bool changes(int number, int m) { return number > m / 2; }

/* All splits, and the transforms of the shorter lines. */
static void transform_split(const bn_spectral_axis *a, const axis *t, pair *v)
{
    const int m = a->split[0], then = a->split[1], shorter = a->intervals / m, points = (1 << a->log) + 1;
    pair *work = v + bn_spectral_split_points(a);
    split_line(v, a->intervals, a->odd, m, t->sums, work);
    if (then > 1) { /* from the last one on, since they need more room then */
        for (int line = m - 1; line >= 0; line--) {
            pair *to = v + (ptrdiff_t)line * then * points;
            memmove(to, v + (ptrdiff_t)line * (shorter + 1), (size_t)(shorter + 1) * sizeof *v);
            split_line(to, shorter, a->odd ^ changes(line, m), then,
                       t->sums + (ptrdiff_t)(m / 2) * bn_spectral_sums_row(m), work);
        }
    }
    for (int line = 0; line < m * then; line++)
        transform_folded(v + (ptrdiff_t)line * points, a->log, t->twiddle,
                         a->odd ^ changes(line / then, m) ^ changes(line % then, then));
}

/* What stands at a place of `pick`. */
static pair term(const pair *v, int32_t place)
{
    const pair at = v[abs(place) - 1];
    return place < 0 ? (pair){ -at.x, -at.y } : at;
}

static pair by(pair v, const real *w) { return times(v, w[0], w[1]); }

/* Two rows, of which one may be NULL. In place. */
static void transform_rows(bn_linear_reference *l, bool back, real *first, real *second)
{
    const bn_spectral_axis *a = &l->spectral.axis[0];
    const axis *t = &l->axes[0];
    const int32_t *pick = back ? a->pick_back : a->pick;
    pair *v = l->line;
    const bool split = bn_spectral_lines(a) > 1;
    for (int m = 0; m <= (split ? a->intervals : 1 << a->log); m++) {
        const int number = bn_spectral_value_at(a, m, back);
        v[m].x = number < 0 || !first ? 0 : first[number];
        v[m].y = number < 0 || !second ? 0 : second[number];
        if (a->chirps && number >= 0)
            v[m] = by(v[m], t->chirp + 2 * (ptrdiff_t)m);
    }
    if (split)
        transform_split(a, t, v);
    else
        transform_folded(v, a->log, t->twiddle, a->odd);
    for (int m = 0; a->chirps && m <= 1 << a->log; m++)
        v[m] = by(v[m], t->spectrum + 2 * (ptrdiff_t)m);
    if (a->chirps)
        unfold_all(v, a->log, t->twiddle, a->odd);
    for (int q = 0; q < a->count; q++) {
        pair value = term(v, pick[q]);
        for (int n = 1; n < a->terms && pick[n * a->count + q] != 0; n++) {
            const pair next = term(v, pick[n * a->count + q]);
            value = (pair){ value.x + next.x, value.y + next.y };
        }
        if (a->chirps)
            value = by(value, t->chirp + 2 * (ptrdiff_t)(pick[q] - 1 + bn_spectral_chirps_back(a)));
        if (a->odd && a->chirps)
            value = (pair){ -value.y, value.x };
        if (first)
            first[q] = value.x;
        if (second)
            second[q] = value.y;
    }
}

static void all_rows(bn_linear_reference *l, bool back, real *values)
{
    const bn_spectral_axis *x = &l->spectral.axis[0], *y = &l->spectral.axis[1];
    const int end = y->first + y->count;
    for (int j = 0; j < end; j += 2) {
        real *first = values + (size_t)j * l->n[0] + (size_t)x->first;
        transform_rows(l, back, j < y->first ? NULL : first, j + 1 < end ? first + l->n[0] : NULL);
    }
}

/* Between the separators of a column, of values at `stride` of each other: numerics/column_plan.h. The separators are
 * zero as yet. Returns the value before the next one. */
static real solve_chunk(const real *multiplier, size_t columns, int count, real scale, real *x, size_t stride)
{
    for (int j = count - 1; j >= 1; j--) {
        real *z = x + (size_t)j * stride;
        *z = FMA(multiplier[(size_t)j * columns], z[stride], *z);
    }
    real before = 0;
    for (int j = 1; j <= count; j++) {
        real *z = x + (size_t)j * stride;
        before = multiplier[(size_t)(j - 1) * columns] * FMA(*z, scale, before);
        *z = before;
    }
    return before;
}

/* As LEAST of kernels/lib/real.h says. */
static real or_nothing(real v) { return fabs((double)v) < (sizeof(real) == 8 ? 0x1p-900 : 0x1p-100) ? 0 : v; }

/* Column c, in place: x[j stride] is node j. */
static void solve_column(const bn_linear_reference *l, const real *tables, size_t c, real *x, size_t stride)
{
    const bn_column_plan *p = &l->spectral.columns;
    const bn_spectral_axis *y = &l->spectral.axis[1];
    const size_t columns = p->columns;
    const int last = y->first + y->count - 1;
    const real scale = tables[bn_column_numbers(p) - 1];
    const real *t = tables + c, *separator = t + (size_t)bn_column_separator(p) * columns,
               *inverse = t + (size_t)bn_column_inverse(p) * columns;
    real *b = l->column, before = 0;
    for (int s = 0; s < p->chunks; s++) {
        const int at = s * p->chunk, left = last - at, count = left < p->chunk ? left : p->chunk - 1;
        real *own = x + (size_t)at * stride;
        const real value = at < y->first ? 0 : own[0];
        const real *multiplier = t + (size_t)bn_column_multiplier(p, s + 1 == p->chunks) * columns;
        const real end = solve_chunk(multiplier, columns, count, scale, own, stride);
        b[s] = FMA(value, scale, count > 0 ? own[stride] : 0);
        b[s] = s > 0 ? b[s] + before : b[s];
        before = end;
    }
    for (int s = 1; s < p->chunks; s++)
        b[s] = FMA(separator[(size_t)(s - 1) * columns], b[s - 1], b[s]);
    b[p->chunks] = 0;
    for (int s = p->chunks - 1; s >= 0; s--)
        b[s] = FMA(separator[(size_t)s * columns], b[s + 1], inverse[(size_t)s * columns] * b[s]);
    for (int s = 0; s < p->chunks; s++) {
        const bool is_last = s + 1 == p->chunks;
        const int at = s * p->chunk, left = last - at, count = left < p->chunk ? left : p->chunk - 1;
        const real *share = t + (size_t)bn_column_share(p, is_last) * columns;
        real *own = x + (size_t)at * stride;
        if (at >= y->first)
            own[0] = or_nothing(b[s]);
        for (int j = 1; j <= count; j++) {
            const real near = FMA(share[(size_t)(j - 1) * columns], b[s], own[(size_t)j * stride]);
            own[(size_t)j * stride] = or_nothing(
                is_last ? near : FMA(share[(size_t)(p->chunk - j - 1) * columns], b[s + 1], near));
        }
    }
}

static void solve_columns(const bn_linear_reference *l, const real *tables, real *values)
{
    for (size_t c = 0; c < l->spectral.columns.columns; c++)
        solve_column(l, tables, c, values + (size_t)l->spectral.axis[0].first + c, l->n[0]);
}

/* The right-hand side of the second of two systems: nodes at mirrored ends of columns count half. */
static void halve_ends(const bn_linear_reference *l, const real *from, real *to)
{
    const bn_spectral_axis *y = &l->spectral.axis[1];
    for (size_t at = 0; at < l->points; at++) {
        const size_t j = at / l->n[0];
        const bool end = (j == 0 && y->low_free) || (j + 1 == l->n[1] && y->high_free);
        to[at] = end ? (real)0.5 * from[at] : from[at];
    }
}

/* Of a stretched grid, by products with eigenvectors: `in` to `out` along one dimension, at the unknowns. */
static void multiply(const bn_linear_reference *l, int d, const real *table, const real *in, real *out)
{
    const bn_spectral_axis *x = &l->spectral.axis[0], *y = &l->spectral.axis[1], *a = &l->spectral.axis[d];
    const size_t nodes = (size_t)a->intervals + 1, stride = d ? l->n[0] : 1;
    for (int j = y->first; j < y->first + y->count; j++)
        for (int i = x->first; i < x->first + x->count; i++) {
            const size_t at = (size_t)j * l->n[0] + (size_t)i, own = (size_t)(d ? j : i);
            const real *line = in + at - (own - (size_t)a->first) * stride;
            real sum = 0;
            for (size_t m = 0; m < (size_t)a->count; m++)
                sum = sum + table[m * nodes + own] * line[m * stride];
            out[at] = sum;
        }
}

/* The right-hand side to coefficients along x, in l->q. Values on a mirrored side along x count twice. */
static void transform_forward(bn_linear_reference *l, const real *b)
{
    const bn_spectral_axis *x = &l->spectral.axis[0];
    real *w = l->q;
    for (size_t at = 0; at < l->points; at++) {
        const size_t i = at % l->n[0];
        const bool end = (i == 0 && x->low_free) || (i + 1 == l->n[0] && x->high_free);
        w[at] = end ? 2 * b[at] : b[at];
    }
    all_rows(l, false, w);
}

/* On a stretched grid: w over the sums of eigenvalues, and from those coefficients back. */
static void divide(const bn_linear_reference *l, real *w)
{
    const real *eigenvalue_x = l->axes[0].eigenvalue, *eigenvalue_y = l->axes[1].eigenvalue;
    const bn_spectral_axis *x = &l->spectral.axis[0], *y = &l->spectral.axis[1];
    for (int j = y->first; j < y->first + y->count; j++)
        for (int i = x->first; i < x->first + x->count; i++) {
            real *value = w + (size_t)j * l->n[0] + (size_t)i;
            *value = *value / (eigenvalue_x[i] + eigenvalue_y[j]);
        }
}

static void multiply_back(const bn_linear_reference *l, real *w)
{
    multiply(l, 1, l->axes[1].back, w, l->product);
    multiply(l, 0, l->axes[0].back, l->product, w);
}

/* q = coefficients of A^-1 b on a stretched grid. */
static void solve_stretched(bn_linear_reference *l, const real *b)
{
    multiply(l, 0, l->axes[0].forward, b, l->product);
    multiply(l, 1, l->axes[1].forward, l->product, l->q);
    divide(l, l->q);
}

/* q = A^-1 b, obstacles filled. */
static void solve_filled(bn_linear_reference *l, const real *b)
{
    if (l->spacings) {
        solve_stretched(l, b);
        multiply_back(l, l->q);
        return;
    }
    transform_forward(l, b);
    solve_columns(l, l->columns, l->q);
    all_rows(l, true, l->q);
}

static bn_status solve_rectangle(void *user, const double *b, double *x)
{
    bn_linear_reference *l = user;
    const uint8_t *unknown = l->desc.stencil.rectangle;
    for (size_t at = 0; at < l->points; at++)
        l->p[at] = (real)b[at];
    solve_filled(l, l->p);
    for (size_t at = 0; at < l->points; at++)
        x[at] = unknown[at] ? (double)l->q[at] : 0;
    return BN_OK;
}

/* q at a node, and what x on obstacles differs from q there makes. */
static real corrected(const bn_linear_reference *l, const real *x, size_t at)
{
    const bn_capacitance_plan *c = &l->capacitance;
    const bn_region *w = &c->window;
    const size_t i = at % l->n[0] - w->first[0], j = at / l->n[0] - w->first[1];
    real sum = 0;
    if (i >= w->n[0] || j >= w->n[1])
        return l->q[at];
    for (size_t k = 0; k < c->count; k++)
        sum = sum + (x[c->surface[k]] - l->q[c->surface[k]]) * l->influence[(k * w->n[1] + j) * w->n[0] + i];
    return l->q[at] + sum;
}

static void solve_directly(bn_linear_reference *l, real *x, const real *b)
{
    solve_filled(l, b);
    for (size_t at = 0; at < l->points; at++)
        if (l->desc.stencil.bits[at])
            x[at] = corrected(l, x, at);
}

void BN_PRECISE(linear_reference_solve_two)(bn_linear_reference *l, bn_linear_reference *second, real *x, real *y,
                                            const real *b, const real *plus)
{
    if (l->spacings) {
        solve_stretched(l, b);
        memcpy(l->p, l->q, l->points * sizeof *l->p);
        divide(second, l->p);
        multiply_back(l, l->q);
        multiply_back(l, l->p);
    } else {
        transform_forward(l, b);
        solve_columns(l, l->columns, l->q);
        halve_ends(l, l->q, l->p);
        solve_columns(l, second->coupled, l->p);
        all_rows(l, true, l->q);
        all_rows(l, true, l->p);
    }
    for (size_t at = 0; at < l->points; at++)
        if (l->desc.stencil.bits[at]) {
            x[at] = l->q[at];
            y[at] = plus ? l->p[at] + plus[at] : l->p[at];
        }
}

bn_status BN_PRECISE(linear_reference_check)(bn_linear_reference *l, const real *x, const real *b,
                                             const bn_cg_target *target, bn_cg_report *report)
{
    const bn_cg_limits limits = bn_cg_limits_for(target, bn_stencil_norm(&l->desc.stencil), BN_DIRECT_KAPPA,
                                                 sizeof(real) == 8 ? BN_DOUBLE : BN_SINGLE);
    real rr = 0, bb = 0, last = 0;
    if (l->solves++ % BN_LINEAR_CHECK_EVERY == 0)
        residual(l, x, b, false, true, &limits, &rr, &last, &bb, &l->checked);
    *report = l->checked;
    return bn_cg_judge(l->ctx, l->desc.name, target, report);
}

bn_status BN_PRECISE(linear_reference_solve)(bn_linear_reference *l, real *x, const real *b, const bn_cg_target *target,
                                             bn_cg_report *report)
{
    if (l->desc.method == BN_LINEAR_SPECTRAL) {
        solve_directly(l, x, b);
        return BN_PRECISE(linear_reference_check)(l, x, b, target, report);
    }
    const bn_cg_limits limits = bn_cg_limits_for(target, bn_stencil_norm(&l->desc.stencil), BN_CG_KAPPA,
                                                 sizeof(real) == 8 ? BN_DOUBLE : BN_SINGLE);
    *report = (bn_cg_report){ 0 };
    conjugate_gradients(l, x, b, target, &limits, report);
    return bn_cg_judge(l->ctx, l->desc.name, target, report);
}

unsigned long long BN_PRECISE(linear_reference_solves)(const bn_linear_reference *l) { return l->solves; }

void BN_PRECISE(linear_reference_resume)(bn_linear_reference *l, unsigned long long solves, const bn_cg_report *report)
{
    l->solves = solves;
    l->checked = *report;
}
