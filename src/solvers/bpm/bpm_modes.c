/* bpm_modes.c: modes of a profile: eigenvalues of a symmetric tridiagonal matrix by counting signs (Givens' bisection
 * with Sturm sequences), its vectors by inverse iteration. */
#include "bpm.h"

#include <math.h>
#include <stdlib.h>

/* Symmetric tridiagonal matrix: diagonal d, beside it e (e[i] between i and i + 1). */
typedef struct tridiagonal {
    size_t n;
    double *d, *e;
} tridiagonal;

/* Number of eigenvalues above x. */
static size_t count_above(const tridiagonal *t, double x)
{
    size_t count = 0;
    double q = 1;
    for (size_t i = 0; i < t->n; i++) {
        q = t->d[i] - x - (i > 0 ? t->e[i - 1] * t->e[i - 1] / q : 0);
        if (q == 0)
            q = -1e-300;
        count += q > 0;
    }
    return count;
}

/* The eigenvalue that `index` others are above. */
static double eigenvalue(const tridiagonal *t, size_t index)
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = 0; i < t->n; i++) {
        const double beside = (i > 0 ? fabs(t->e[i - 1]) : 0) + (i + 1 < t->n ? fabs(t->e[i]) : 0);
        low = fmin(low, t->d[i] - beside);
        high = fmax(high, t->d[i] + beside);
    }
    for (int k = 0; k < 200; k++) {
        const double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high)
            break;
        if (count_above(t, middle) > index)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* Two steps of inverse iteration, by elimination with row exchanges. `room` has 4 n values. */
static void eigenvector(const tridiagonal *t, double lambda, double *x, double *room)
{
    const size_t n = t->n;
    double *a = room, *b = room + n, *c = room + 2 * n, *y = room + 3 * n;
    for (size_t i = 0; i < n; i++)
        x[i] = 1 + 0.5 * sin(1.7 * (double)i); /* no eigenvector is orthogonal to it by symmetry */
    for (int pass = 0; pass < 3; pass++) {
        /* Row i of the upper triangle: a_i, b_i, c_i on and right of the diagonal. */
        double d = t->d[0] - lambda, e = n > 1 ? t->e[0] : 0;
        for (size_t i = 0; i < n; i++)
            y[i] = x[i];
        for (size_t i = 0; i + 1 < n; i++) {
            const double under = t->e[i], next_d = t->d[i + 1] - lambda, next_e = i + 2 < n ? t->e[i + 1] : 0;
            if (fabs(d) >= fabs(under)) {
                const double m = under / (d != 0 ? d : 1e-300);
                a[i] = d != 0 ? d : 1e-300, b[i] = e, c[i] = 0;
                d = next_d - m * e;
                e = next_e;
                y[i + 1] -= m * y[i];
            } else {
                const double m = d / under, keep = y[i];
                a[i] = under, b[i] = next_d, c[i] = next_e;
                d = e - m * next_d;
                e = -m * next_e;
                y[i] = y[i + 1];
                y[i + 1] = keep - m * y[i];
            }
        }
        a[n - 1] = fabs(d) > 1e-300 ? d : 1e-300;
        double largest = 0;
        for (size_t i = n; i-- > 0;) {
            x[i] = y[i];
            if (i + 1 < n)
                x[i] -= b[i] * x[i + 1];
            if (i + 2 < n)
                x[i] -= c[i] * x[i + 2];
            x[i] /= a[i];
            largest = fmax(largest, fabs(x[i]));
        }
        for (size_t i = 0; i < n; i++)
            x[i] /= largest;
    }
}

/* Between metal walls in one medium the modes are sines, and known in closed form. */
static bool plain(const bpm *s, const bpm_operator *op)
{
    for (size_t i = 1; i < op->n; i++)
        if (op->index2[i] != op->index2[0] || op->w[i] != op->w[0])
            return false;
    return !s->c.tm;
}

bool bpm_find_mode(const bpm *s, size_t beam, const bpm_operator *op, int mode, double *n_eff, double *field)
{
    const size_t n = op->n;
    const double hk = s->c.h * bpm_k0(s, beam);
    double value, largest = 0;
    if ((size_t)mode >= n)
        return false;
    if (plain(s, op)) {
        const double sine = sin(0.5 * BPM_PI * (mode + 1) / (double)(n + 1));
        value = hk * hk * creal(op->index2[0]) - 4 * sine * sine;
        for (size_t i = 0; i < n; i++)
            field[i] = sin(BPM_PI * (double)((size_t)(mode + 1) * (i + 1) % (2 * n + 2)) / (double)(n + 1));
    } else {
        double *room = malloc(6 * n * sizeof *room);
        if (!room)
            return false;
        const tridiagonal t = { n, room, room + n };
        for (size_t i = 0; i < n; i++) {
            const double w = creal(op->w[i]), w_next = i + 1 < n ? creal(op->w[i + 1]) : 0;
            t.d[i] = hk * hk * creal(op->index2[i]) - w * creal(op->m[i] + op->m[i + 1]);
            t.e[i] = sqrt(w * w_next) * creal(op->m[i + 1]);
        }
        value = eigenvalue(&t, (size_t)mode);
        eigenvector(&t, value, field, room + 2 * n);
        for (size_t i = 0; i < n; i++)
            field[i] *= sqrt(creal(op->w[i]));
        free(room);
    }
    for (size_t i = 0; i < n; i++)
        largest = fabs(field[i]) > fabs(largest) + 1e-9 ? field[i] : largest;
    for (size_t i = 0; i < n; i++)
        field[i] /= largest;
    *n_eff = value > 0 ? sqrt(value) / hk : 0;
    return value > 0;
}
