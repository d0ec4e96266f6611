/* maxwell_anderson.c: acceleration of the iteration, which is a linear fixed point x = G(x). A cycle takes a few states
 * X_0, X_1, ..., some steps apart, and finds the weights with sum 1 for which the weighted differences X_{j+1} - X_j
 * nearly cancel; the next cycle begins at the mean of the states with these weights. This is Anderson's (1965) mixing,
 * restarted, also known as reduced rank extrapolation; for a linear map it does what GMRES restarted does. */
#include "maxwell.h"

#include <math.h>
#include <string.h>

/* Only when the light is full the map stays the same. */
maxwell_cycle maxwell_cycle_now(const maxwell *s)
{
    const unsigned long long ramp = maxwell_steps_of_ramp(&s->model);
    maxwell_cycle now = { .slot = -1 };
    if (s->steps < ramp)
        return now;
    const unsigned long long steps = s->steps - ramp;
    const unsigned long long apart = (unsigned long long)s->anderson.apart,
                             depth = (unsigned long long)s->anderson.depth;
    const unsigned long long phase = steps % (depth * apart);
    now.begin = phase == 0;
    now.finish = phase == 0 && steps > 0;
    if (phase % apart == 0 && steps > 0)
        now.slot = (int)(phase == 0 ? depth : phase / apart) - 1;
    return now;
}

/* Solves the Hermitian system G y = b in place by elimination with row pivots; n at most MAXWELL_DEPTH. */
static void solve(int n, cplx g[][MAXWELL_DEPTH], cplx *b)
{
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int r = c + 1; r < n; r++)
            if (hypot(g[r][c].re, g[r][c].im) > hypot(g[pivot][c].re, g[pivot][c].im))
                pivot = r;
        for (int k = 0; k < n; k++) {
            const cplx t = g[c][k];
            g[c][k] = g[pivot][k];
            g[pivot][k] = t;
        }
        const cplx t = b[c];
        b[c] = b[pivot];
        b[pivot] = t;
        for (int r = c + 1; r < n; r++) {
            const cplx m = cplx_over(g[r][c], g[c][c]);
            for (int k = c; k < n; k++) {
                g[r][k] = cplx_minus(g[r][k], cplx_times(m, g[c][k]));
            }
            b[r] = cplx_minus(b[r], cplx_times(m, b[c]));
        }
    }
    for (int r = n - 1; r >= 0; r--) {
        for (int k = r + 1; k < n; k++) {
            b[r] = cplx_minus(b[r], cplx_times(g[r][k], b[k]));
        }
        b[r] = cplx_over(b[r], g[r][r]);
    }
}

void maxwell_anderson_weights(const maxwell *s, const double *gram, double *weights)
{
    const int n = s->anderson.depth;
    cplx g[MAXWELL_DEPTH][MAXWELL_DEPTH], y[MAXWELL_DEPTH], sum = { 0, 0 };
    double scale[MAXWELL_DEPTH];
    /* The matrix is scaled to a unit diagonal. The ridge is the roundoff of the sums: differences that roundoff can't
     * tell apart get small weights. */
    const double ridge = s->config.double_precision ? 1e-13 : 1e-6;
    for (int i = 0; i < n; i++) {
        const double diagonal = gram[2 * (i * n + i)];
        scale[i] = diagonal > 0 && isfinite(diagonal) ? 1 / sqrt(diagonal) : 0;
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            const int row = i > k ? i : k, column = i > k ? k : i; /* the lower half is given: <U_column, U_row> */
            const double re = gram[2 * (row * n + column)], im = gram[2 * (row * n + column) + 1];
            /* The normal equations have <U_i, U_k> = sum conj(U_i) U_k at (i, k). */
            g[i][k] = (cplx){ scale[i] * scale[k] * re, scale[i] * scale[k] * (i > k ? -im : im) };
        }
        g[i][i] = (cplx){ 1 + ridge, 0 };
        y[i] = (cplx){ scale[i], 0 };
    }
    solve(n, g, y);
    for (int i = 0; i < n; i++) {
        y[i] = cplx_scaled(scale[i], y[i]);
        sum = cplx_plus(sum, y[i]);
    }
    cplx before = { 0, 0 };
    memset(weights, 0, 2 * (size_t)n * sizeof *weights);
    const double size = hypot(sum.re, sum.im);
    if (!(size > 0) || !isfinite(size)) /* nothing changes any more: the last state stays */
        return;
    for (int i = 0; i < n; i++) {
        weights[2 * i] = before.re;
        weights[2 * i + 1] = before.im;
        before = cplx_plus(before, cplx_over(y[i], sum));
    }
}

/* ------------------------------------------------------------------------------------------------- on a device */

bn_status maxwell_anderson_setup(bn_sim *sim, maxwell *s)
{
    maxwell_anderson *a = &s->anderson;
    bn_domain *d = bn_sim_domain(sim);
    a->store = bn_sim_kernel(sim, "maxwell_anderson_store");
    a->gram = bn_sim_kernel(sim, "maxwell_anderson_gram");
    a->gram_sum = bn_sim_kernel(sim, "maxwell_anderson_gram_sum");
    a->update = bn_sim_kernel(sim, "maxwell_anderson_update");
    BN_TRY(bn_partials_create(d, "products of changes", 2 * MAXWELL_COLUMNS, 0, &a->partials));
    BN_TRY(bn_scalars_create(d, "products of changes", (size_t)(2 * a->depth * a->depth), &a->gram_scalars));
    return bn_scalars_create(d, "weights of states", 2 * (size_t)a->depth, &a->weights);
}

void maxwell_anderson_teardown(maxwell *s)
{
    bn_partials_destroy(&s->anderson.partials);
    bn_scalars_destroy(&s->anderson.gram_scalars);
    bn_scalars_destroy(&s->anderson.weights);
}

/* Ends a cycle: products of all pairs of differences, then the mean of the states whose changes cancel best. */
static bn_status extrapolate(maxwell *s)
{
    maxwell_anderson *a = &s->anderson;
    double gram[2 * MAXWELL_DEPTH * MAXWELL_DEPTH], weights[2 * MAXWELL_DEPTH];
    const size_t count = 2 * (size_t)a->depth;
    for (int row = 0; row < a->depth; row++)
        for (int from = 0; from <= row; from += MAXWELL_COLUMNS) {
            BN_TRY(BN_RUN(a->gram, BN_READ(a->history, 0), BN_I32V(row), BN_I32V(from), BN_PARTIALS(a->partials)));
            BN_TRY(
                BN_RUN(a->gram_sum, BN_TOTALS(a->partials), BN_I32V(row), BN_I32V(from), BN_SCALARS(a->gram_scalars)));
        }
    BN_TRY(bn_scalars_read(a->gram_scalars, gram, count * (size_t)a->depth));
    maxwell_anderson_weights(s, gram, weights);
    BN_TRY(bn_scalars_write(a->weights, weights, count));
    return BN_RUN(a->update, BN_READ(a->history, 0), BN_SCALARS(a->weights), BN_WRITE(s->f.E), BN_WRITE(s->f.H),
                  BN_WRITE(s->f.part_E), BN_WRITE(s->f.part_H));
}

static bn_status store_state(maxwell *s, int slot)
{
    return BN_RUN(s->anderson.store, BN_READ(s->f.E, 0), BN_READ(s->f.H, 0), BN_READ(s->f.part_E, 0),
                  BN_READ(s->f.part_H, 0), BN_UPDATE(s->anderson.history), BN_I32V(slot));
}

bn_status maxwell_anderson_step(maxwell *s)
{
    const maxwell_cycle now = maxwell_cycle_now(s);
    if (now.slot >= 0 || now.finish || now.begin)
        BN_TRY(maxwell_catch_up(s));
    if (now.slot >= 0)
        BN_TRY(store_state(s, now.slot));
    if (now.finish)
        BN_TRY(extrapolate(s));
    return now.begin ? store_state(s, -1) : BN_OK;
}
