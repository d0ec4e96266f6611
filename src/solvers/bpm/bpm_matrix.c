/* bpm_matrix.c: from an index profile to what a step along z needs.
 *
 * Psi_z = -i k (sqrt(1 + P) - 1) Psi with k = k0 n_ref and P = (d_yy + k0^2 (n^2 - n_ref^2)) / k^2; sqrt(1 + P) - 1 is
 * P / 2 (paraxial) or (P / 2) / (1 + P / 4) (wide angle; Hadley 1992). With the weight theta on the new layer:
 *   (1 + p P) Psi_new = (1 + q P) Psi,   p = w + i k dz theta / 2,   q = w - i k dz (1 - theta) / 2,   w = 0 or 1/4.
 * Solved for the change, which keeps the digits: Psi_new = Psi - (p - q) / p u with (h^2 k^2 / p + P') u = P' Psi and
 * P' = h^2 k^2 P. Rows and columns are scaled until all entries beside the diagonal are 1: then P' is the second
 * difference plus v, the matrix has one number a row, D, and its elimination another, r_i = 1 / (D_i - r_(i-1)). */
#include "bpm.h"

#include <math.h>

double bpm_k0(const bpm *s, size_t beam) { return 2 * BPM_PI / s->beam[beam].wavelength; }

void bpm_step_weights(const bpm *s, size_t beam, double _Complex *p, double _Complex *q)
{
    const double kdz = bpm_k0(s, beam) * s->c.reference * s->c.dz, w = s->c.wide_angle ? 0.25 : 0;
    *p = CMPLX(w, 0.5 * kdz * s->c.theta);
    *q = CMPLX(w, -0.5 * kdz * (1 - s->c.theta));
}

/* The phase of (1 + q P) / (1 + p P) for P = (n_eff / n_ref)^2 - 1, or that of the transforms. */
double bpm_step_phase(const bpm *s, size_t beam, double n_eff)
{
    const double ratio = n_eff / s->c.reference, P = (ratio - 1) * (ratio + 1);
    double _Complex p, q;
    if (s->c.solver == BPM_FFT)
        return -bpm_k0(s, beam) * s->c.reference * s->c.dz * (s->c.wide_angle ? ratio - 1 : 0.5 * P);
    bpm_step_weights(s, beam, &p, &q);
    return carg((1 + q * P) / (1 + p * P));
}

double _Complex bpm_stretch(const bpm *s, double place, double width)
{
    const double depth = fmax(s->c.pml_thickness - place, place - (width - s->c.pml_thickness)) / s->c.pml_thickness;
    return s->c.pml && depth > 0 ? CMPLX(1, -s->c.pml_strength * depth * depth) : 1;
}

void bpm_make_operator(const bpm *s, size_t beam, double z, const bpm_operator *op)
{
    const size_t n = op->n;
    bpm_index(s, beam, z, s->c.h, n, false, op->index2);
    for (size_t i = 0; i < n; i++)
        op->w[i] = 1 / bpm_stretch(s, (double)(i + 1) * s->c.h, s->c.width);
    if (s->c.tm) { /* n^2 d_y (n^-2 d_y H): H and n^-2 H_y are continuous */
        const double unit = s->c.reference * s->c.reference;
        bpm_index(s, beam, z, 0.5 * s->c.h, n + 1, false, op->m);
        bpm_index(s, beam, z, s->c.h, n, true, op->index2);
        for (size_t i = 0; i < n; i++)
            op->w[i] *= op->index2[i] / unit;
        for (size_t i = 0; i <= n; i++)
            op->m[i] = unit / op->m[i];
    } else {
        for (size_t i = 0; i <= n; i++)
            op->m[i] = 1;
    }
    for (size_t i = 0; s->c.pml && i <= n; i++)
        op->m[i] /= bpm_stretch(s, ((double)i + 0.5) * s->c.h, s->c.width);
}

void bpm_impedance_root(const bpm *s, size_t beam, double z, double _Complex *root)
{
    bpm_index(s, beam, z, s->c.h, s->c.n, true, root);
    for (size_t i = 0; i < s->c.n; i++)
        root[i] = csqrt(root[i]) / s->c.reference;
}

/* s_i s_(i+1) = 1 / m_(i+1/2), from the middle outwards, where m is about 1. */
void bpm_scale(const bpm_operator *op, double _Complex *s)
{
    const size_t n = op->n, middle = n / 2;
    s[middle] = 1 / csqrt(op->m[middle]);
    for (size_t i = middle; i > 0; i--)
        s[i - 1] = 1 / (op->m[i] * s[i]);
    for (size_t i = middle; i + 1 < n; i++)
        s[i + 1] = 1 / (op->m[i + 1] * s[i]);
    for (size_t i = 0; i < n; i++) {
        op->balance[i] = s[i] * s[i] / op->w[i];
        op->middle[i] = op->w[i] * (op->m[i] + op->m[i + 1]);
    }
}

/* The product of |r| over a chunk: the share of a carry that crosses it. */
static double passing(const double *r, size_t n, int c, int chunk)
{
    double square = 1;
    for (size_t i = (size_t)(c * chunk); i < (size_t)((c + 1) * chunk) && i < n; i++)
        square *= r[2 * i] * r[2 * i] + r[2 * i + 1] * r[2 * i + 1];
    return sqrt(fmax(square, 1e-280));
}

/* What is left of a carried value where it counts no more. */
static double least_share(const bpm *s) { return s->c.single ? 0x1p-28 : 0x1p-57; }

int bpm_reach(const bpm *s, const bpm_axis *a, const double *r)
{
    const double least = least_share(s);
    int begin = 0; /* of a window of chunks that lets pass less than `least` */
    int reach = 1;
    double passed = 1;
    for (int c = 0; c + 1 < a->chunks; c++) { /* the last one, which may be short, lies between no others */
        passed *= passing(r, a->n, c, a->chunk);
        for (double without; passed < least; passed = without, begin++) {
            without = passed / passing(r, a->n, begin, a->chunk);
            if (!(without < least))
                break;
        }
        reach = c + 1 - begin > reach ? c + 1 - begin : reach;
    }
    return reach;
}

/* Nodes over which a carried value fades to nothing in one medium; p: the weight of the new layer. */
static double fading(const bpm *s, double h, double _Complex p)
{
    const double hk = h * bpm_k0(s, 0) * (s->c.reference > 0 ? s->c.reference : s->c.background);
    const double _Complex d = hk * hk / p - 2;
    double _Complex r = 0.5 * (d - csqrt(d * d - 4));
    r = cabs(r) > 1 ? 1 / r : r; /* where r = 1 / (d - r) settles */
    return log(least_share(s)) / log(cabs(r));
}

int bpm_guess_reach(const bpm *s, const bpm_axis *a, double _Complex p)
{
    const double chunks = ceil(fading(s, a->h, p) / a->chunk);
    return chunks < a->chunks ? (int)chunks : a->chunks;
}

int bpm_least_chunk(const bpm *s, int n)
{
    const int most = s->c.single ? 1024 : 512; /* their ends fill 32 KiB of local memory */
    return (n + most - 1) / most;
}

/* Values are carried along over about `far` nodes, far / chunk chunks, for each of the n / chunk chunks: with chunks of
 * the square root of `far` that costs less than the elimination itself. */
int bpm_good_chunk(const bpm *s, int n, double h)
{
    enum { LEAST = 4, MOST = 15 }; /* a chunk lies in registers */
    bpm guess = *s;
    double _Complex p, q;
    if (s->c.reference == 0) /* not found yet */
        guess.c.reference = s->c.background;
    bpm_step_weights(&guess, 0, &p, &q);
    const double far = fading(&guess, h, p);
    int lines = s->c.axes == 2 ? BN_BLOCK_NY : 1; /* of a work-group, side by side */
    while (lines > 1 && lines * n > BPM_CHUNK_SHORT * BPM_LANES)
        lines /= 2;
    int usual = (lines * n + BPM_LANES - 1) / BPM_LANES;
    if (s->c.axes == 2 && usual > (s->c.single ? BPM_CHUNK_LONG_SINGLE : BPM_CHUNK_LONG_DOUBLE)) { /* in windows */
        const int least = bpm_least_chunk(s, n);
        usual = least > BPM_CHUNK_SHORT ? least : BPM_CHUNK_SHORT;
    }
    const int even = (int)ceil(sqrt(far < 1e4 ? far : 1e4));
    const int chunk = even > MOST ? MOST : even > LEAST ? even : LEAST;
    return (usual > chunk ? usual : chunk) | 1; /* odd: see kernels/bpm.cl */
}

/* 1 / z (Smith 1962). C's division, which minds infinities beside that, takes three times as long. */
static double _Complex inverse(double _Complex z)
{
    const double x = creal(z), y = cimag(z);
    const bool upright = fabs(x) < fabs(y);
    const double ratio = upright ? x / y : y / x, sum = upright ? x * ratio + y : y * ratio + x;
    return upright ? CMPLX(ratio / sum, -1 / sum) : CMPLX(1 / sum, -ratio / sum);
}

/* Of so many lines, a constant, whose chains of divisions overlap. */
static inline void eliminate(const bpm_operator *op, size_t lines, double _Complex q0, bool lossy, double *r, double *v)
{
    const size_t n = op->n, v_size = lossy ? 2 : 1;
    double _Complex before[BPM_LINES_AT_ONCE] = { 0 };
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < lines; l++) {
            double *out = r + 2 * (l * n + i), *other = v + v_size * (l * n + i);
            const double _Complex t = op->balance[i], at = CMPLX(out[0], out[1]) - op->middle[i], change = t * at + 2;
            before[l] = inverse(t * (at + q0) - before[l]);
            out[0] = creal(before[l]);
            out[1] = cimag(before[l]);
            other[0] = creal(change);
            if (lossy)
                other[1] = cimag(change);
        }
}

void bpm_eliminate(const bpm_operator *op, size_t lines, double _Complex q0, bool lossy, double *r, double *v)
{
    const size_t v_size = lossy ? 2 : 1;
    size_t l = 0;
    for (; l + BPM_LINES_AT_ONCE <= lines; l += BPM_LINES_AT_ONCE)
        eliminate(op, BPM_LINES_AT_ONCE, q0, lossy, r + 2 * l * op->n, v + v_size * l * op->n);
    for (; l < lines; l++)
        eliminate(op, 1, q0, lossy, r + 2 * l * op->n, v + v_size * l * op->n);
}
