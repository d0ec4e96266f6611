/* maxwell_accelerate.c: the iteration as a linear fixed point x = G(x), sped up: in cycles of a few states X_0, X_1,
 * ..., some steps apart, the weights with sum 1 are found for which the weighted differences X_{j+1} - X_j nearly
 * cancel; the same mean of the states is where the next cycle begins. This is Anderson's (1965) mixing, restarted, also
 * known as reduced rank extrapolation; for a linear map it does what GMRES restarted does. */
#include "maxwell.h"

#include <math.h>
#include <string.h>

/* Steps before the first cycle: the light must be full, for only then the map stays the same. */
static unsigned long long dark_steps(const maxwell *s)
{
    return s->start == MAXWELL_LAYERS || s->t.ramp >= 1 ? 1 : (unsigned long long)(1 / s->t.ramp) + 1;
}

maxwell_cycle maxwell_cycle_now(const maxwell *s)
{
    maxwell_cycle now = { .slot = -1 };
    if (!s->accelerate || s->since < dark_steps(s))
        return now;
    const unsigned long long steps = s->since - dark_steps(s), length = (unsigned long long)(s->depth * s->apart);
    const unsigned long long phase = steps % length;
    now.begin = phase == 0;
    now.finish = phase == 0 && steps > 0;
    if (phase % (unsigned long long)s->apart == 0 && steps > 0)
        now.slot = (int)(phase == 0 ? s->depth : (long long)(phase / (unsigned long long)s->apart)) - 1;
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
                const cplx d = cplx_times(m, g[c][k]);
                g[r][k] = (cplx){ g[r][k].re - d.re, g[r][k].im - d.im };
            }
            const cplx d = cplx_times(m, b[c]);
            b[r] = (cplx){ b[r].re - d.re, b[r].im - d.im };
        }
    }
    for (int r = n - 1; r >= 0; r--) {
        for (int k = r + 1; k < n; k++) {
            const cplx d = cplx_times(g[r][k], b[k]);
            b[r] = (cplx){ b[r].re - d.re, b[r].im - d.im };
        }
        b[r] = cplx_over(b[r], g[r][r]);
    }
}

void maxwell_weights(const maxwell *s, const double *gram, double *weights)
{
    const int n = s->depth;
    cplx g[MAXWELL_DEPTH][MAXWELL_DEPTH], y[MAXWELL_DEPTH], sum = { 0, 0 };
    double scale[MAXWELL_DEPTH];
    /* Scaled to a unit diagonal; the roundoff of the sums stands on it, so that what they can't tell apart stays small.
     */
    const double ridge = s->double_precision ? 1e-13 : 1e-6;
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
        y[i] = (cplx){ y[i].re * scale[i], y[i].im * scale[i] };
        sum = (cplx){ sum.re + y[i].re, sum.im + y[i].im };
    }
    cplx before = { 0, 0 };
    memset(weights, 0, 2 * (size_t)n * sizeof *weights);
    const double size = hypot(sum.re, sum.im);
    if (!(size > 0) || !isfinite(size)) /* nothing changes any more: the last state stays */
        return;
    for (int i = 0; i < n; i++) {
        weights[2 * i] = before.re;
        weights[2 * i + 1] = before.im;
        const cplx w = cplx_over(y[i], sum);
        before = (cplx){ before.re + w.re, before.im + w.im };
    }
}
