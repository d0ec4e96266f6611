/* spectral_plan.c: lengths, extensions, chirps and systems along y of the fast direct solver. */
#include "numerics/spectral_plan.h"

#include "api/parallel_rows.h"
#include "numerics/capacitance_plan.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static bool power_of_two(int n) { return (n & (n - 1)) == 0; }

static int ceil_log2(int n)
{
    int log = 0;
    while (1 << log < n)
        log++;
    return log;
}

/* Local memory that a pair of lines needs on a GPU. */
static size_t local_bytes(const bn_spectral_axis *a, size_t real_bytes) { return 2 * real_bytes * bn_spectral_room(a); }

/* Into so many lines a line is split at most, and so many are a second split's own work: more take as long as a
 * convolution (docs/measurements.md). */
enum { SPLIT_MOST = 128, SECOND_SPLIT = 8 };

/* Chooses the two factors of odd part m of the intervals, 1 for none, whose sum is the least. False: convolve. */
static bool choose_split(bn_spectral_axis *a, size_t real_bytes)
{
    int rest = a->intervals, powers[5] = { 0 }, count = 0, least = INT_MAX;
    a->log = 0;
    for (; rest % 2 == 0; rest /= 2)
        a->log++;
    const int all = rest;
    for (int p = 3; rest > 1; p += 2) {
        p = (long long)p * p > rest ? rest : p;
        if (rest % p != 0)
            continue;
        if (count == sizeof powers / sizeof *powers)
            return false;
        for (powers[count] = 1; rest % p == 0; rest /= p)
            powers[count] *= p;
        count++;
    }
    for (int set = 0; set < 1 << count; set++) {
        int part = 1;
        for (int i = 0; i < count; i++)
            part *= set >> i & 1 ? powers[i] : 1;
        const int other = all / part, sum = other > 1 ? part + other + SECOND_SPLIT : part;
        if (part >= other && sum < least) {
            least = sum;
            a->split[0] = part;
            a->split[1] = other;
        }
    }
    a->terms = (a->split[0] > 1 ? 2 : 1) * (a->split[1] > 1 ? 2 : 1);
    return least <= SPLIT_MOST && local_bytes(a, real_bytes) <= BN_SPECTRAL_LOCAL_BYTES;
}

/* Unknowns of a line, whose intervals and ends are set, and along x lengths of its transform. */
static void set_lengths(bn_spectral_axis *a, bool along_y, size_t real_bytes)
{
    a->split[0] = a->split[1] = a->terms = 1;
    a->mirrored = a->low_free == a->high_free ? BN_SPECTRAL_NOT_MIRRORED
                  : a->low_free               ? BN_SPECTRAL_MIRRORED_LOW
                                              : BN_SPECTRAL_MIRRORED_HIGH;
    a->first = a->low_free ? 0 : 1;
    a->count = a->intervals - 1 + a->low_free + a->high_free;
    if (a->dense || along_y)
        return;
    if (a->mirrored)
        a->intervals *= 2;
    a->length = 2 * a->intervals;
    a->odd = !(a->low_free && a->high_free);
    a->chirps = !power_of_two(a->length) && !choose_split(a, real_bytes);
    if (bn_spectral_lines(a) > 1 && !a->chirps)
        return;
    a->split[0] = a->split[1] = a->terms = 1;
    /* Both the values and the chirps are reflected at the ends of the convolution: so many intervals are enough that
     * what is reflected back meets no result. */
    a->log = ceil_log2(!a->chirps ? a->intervals : a->odd ? 2 * a->intervals - 1 : 2 * a->intervals);
    while (!a->chirps && a->share_log < BN_SPECTRAL_SHARE_LOG && local_bytes(a, real_bytes) > BN_SPECTRAL_LOCAL_BYTES)
        a->share_log++;
}

static const uint8_t *rectangle_of(const bn_stencil *s) { return s->rectangle ? s->rectangle : s->bits; }

/* The four sides as the bits at the middle of each say. */
static void find_ends(const bn_stencil *s, bool free_end[4])
{
    const uint8_t *bits = rectangle_of(s);
    const size_t nx = s->nx, mid = s->ny / 2 * nx + nx / 2, column = nx / 2;
    free_end[0] = bits[mid - column] != 0;
    free_end[1] = bits[mid - column + nx - 1] != 0;
    free_end[2] = bits[column] != 0;
    free_end[3] = bits[(size_t)(s->ny - 1) * nx + column] != 0;
}

/* One dimension of a matrix: its lengths. */
static bn_spectral_axis axis_of(const bn_stencil *s, int dim, size_t real_bytes)
{
    bool free_end[4];
    find_ends(s, free_end);
    bn_spectral_axis a = { .intervals = (int)(dim ? s->ny : s->nx) - 1,
                           .low_free = free_end[2 * dim],
                           .high_free = free_end[2 * dim + 1],
                           .dense = s->widths };
    set_lengths(&a, dim, real_bytes);
    return a;
}

/* Whether the nodes are those of a rectangle without obstacles: like those of a small one, whose nodes further than
 * EDGE from a side stand for all others. */
typedef struct rectangle {
    const bn_stencil *s;
    const uint8_t *small;
    uint32_t nx, ny; /* of the small one */
    bool *differs;   /* of each row */
} rectangle;
enum { EDGE = 3, SMALL = 2 * EDGE + 1 };

static uint32_t in_small(size_t i, uint32_t n, uint32_t small)
{
    return i <= EDGE || n == small ? (uint32_t)i : n - i <= EDGE ? small - (n - (uint32_t)i) : EDGE;
}

static void compare_rows(void *user, size_t first, size_t end)
{
    rectangle *r = user;
    const uint32_t nx = r->s->nx;
    for (size_t j = first; j < end; j++) {
        const uint8_t *bits = rectangle_of(r->s) + j * nx, *small = r->small + in_small(j, r->s->ny, r->ny) * r->nx;
        unsigned different = 0;
        for (uint32_t i = 0; i < nx; i++)
            different |= bits[i] ^ (i > EDGE && nx - i > EDGE ? small[EDGE] : small[in_small(i, nx, r->nx)]);
        r->differs[j] = different != 0;
    }
}

/* NULL, or why not. */
static const char *no_rectangle(const bn_stencil *s, const bool free_end[4])
{
    rectangle r = { .s = s, .nx = s->nx < SMALL ? s->nx : SMALL, .ny = s->ny < SMALL ? s->ny : SMALL };
    const char *why = NULL;
    bool unknown[SMALL * SMALL], cell[SMALL * SMALL];
    uint8_t bits[SMALL * SMALL];
    for (uint32_t j = 0; j < r.ny; j++)
        for (uint32_t i = 0; i < r.nx; i++) {
            unknown[j * r.nx + i] = (i > 0 || free_end[0]) && (i + 1 < r.nx || free_end[1]) && (j > 0 || free_end[2]) &&
                                    (j + 1 < r.ny || free_end[3]);
            cell[j * r.nx + i] = true;
        }
    bn_stencil_bits(r.nx, r.ny, unknown, cell, bits);
    r.small = bits;
    if (!(r.differs = calloc(s->ny, sizeof *r.differs)))
        return "there is no memory to check it";
    bn_parallel_rows(s->ny, s->nx, compare_rows, &r);
    if (memchr(r.differs, 1, s->ny))
        why = s->rectangle ? "it needs each side of one kind"
                           : "it needs a rectangle without obstacles, each side of one kind";
    free(r.differs);
    return why;
}

bool bn_spectral_suits(const bn_stencil *s, size_t real_bytes, const char **why)
{
    bool free_end[4];
    const size_t nx = s->nx, ny = s->ny;
    find_ends(s, free_end);
    const char *reason = no_rectangle(s, free_end);
    if (!reason && s->widths && (nx > BN_SPECTRAL_DENSE_NODES || ny > BN_SPECTRAL_DENSE_NODES))
        reason = "on a stretched grid it takes 1025 nodes along a side at most";
    const bn_spectral_axis x = axis_of(s, 0, real_bytes);
    if (!reason && !s->widths && local_bytes(&x, real_bytes) > BN_SPECTRAL_LOCAL_BYTES)
        reason = "its lines along x need more than the 32 KiB of local memory that every device has; fewer nodes, "
                 "nodes of a power of two plus one, or single precision would do";
    if (!reason && !s->widths && 8 * real_bytes * (ny / 64 + 1) > BN_SPECTRAL_LOCAL_BYTES)
        reason = "its columns along y need more than the 32 KiB of local memory that every device has; 65,500 nodes "
                 "would do, half of that in double precision";
    if (!reason && s->mass == 0 && free_end[0] && free_end[1] && free_end[2] && free_end[3])
        reason = "the matrix is singular: no side gives a value";
    if (!reason && s->rectangle)
        reason = bn_capacitance_refuses(s);
    if (why)
        *why = reason;
    return !reason;
}

bool bn_spectral_folds_or_splits(const bn_stencil *s, size_t real_bytes, bn_spectral_axis out[2])
{
    for (int d = 0; d < 2; d++)
        out[d] = axis_of(s, d, real_bytes);
    return !s->widths && !out[0].mirrored && !out[0].chirps && out[0].share_log == 0;
}

const char *bn_spectral_kind(const bn_stencil *s, size_t real_bytes, int dim)
{
    static const char *const whole_or_split[2][3] = {
        { "rows with unlike ends", "even rows", "odd rows" },
        { "split rows with unlike ends", "split even rows", "split odd rows" },
    };
    const bn_spectral_axis a = axis_of(s, dim, real_bytes);
    if (s->widths)
        return dim ? "columns of a stretched grid" : "rows of a stretched grid";
    if (dim &&
        bn_column_chunks(a.intervals, (bn_column_ends){ a.low_free, a.high_free }) > bn_column_chunks_most(real_bytes))
        return BN_SPECTRAL_CUT_COLUMNS;
    if (dim)
        return bn_column_chunk(a.intervals) < BN_COLUMN_LONG ? "columns in short chunks" : "columns in long chunks";
    if (a.chirps)
        return "convolved rows";
    if (a.share_log > 0)
        return "rows that work-groups share";
    return a.split[1] > 1 ? "twice split rows" : whole_or_split[a.split[0] > 1][a.mirrored ? 0 : a.odd ? 2 : 1];
}

/* Wave number of coefficient q. */
static int wave(const bn_spectral_axis *a, int q) { return a->mirrored ? 2 * q + 1 : a->odd ? q + 1 : q; }

static int reversed(int value, int bits)
{
    int out = 0;
    for (int b = 0; b < bits; b++)
        out |= (value >> b & 1) << (bits - 1 - b);
    return out;
}

/* The place of the coefficient at wave number k = 2^p (2 m + 1), in the form of `pick`: the block of the p-th fold,
 * whose points are in bit-reversed order, begins where it ends itself. Its transform of M points gives odd wave numbers
 * upwards at n = 0, 1 ... for even m, downwards for odd ones; backward, so that the index is M - n. */
static int32_t folded_place(int all, bool odd, int k)
{
    if (k == 0 || k == 1 << all)
        return k + 1;
    int block = 1 << (all - 1), log = all - 1;
    for (; k % 2 == 0; k /= 2, log--)
        block /= 2;
    const int m = k / 2, n = m % 2 ? block - 1 - m / 2 : m / 2;
    const int place = 1 + block + reversed((block - n) % block, log);
    return odd && m % 2 ? -place : place;
}

/* A line that may be split once more, on the way to those that are not: number `number` of those that have been split
 * so often, of so many intervals. */
typedef struct part_line {
    int splits, number, intervals;
    bool odd;
} part_line;

/* What the coefficient at wave number k, 0 ... intervals, of a line is the sum of, 0 for nothing. The transform over a
 * period is split, too: the remainder of k by m says which lines have it, and that by their own period at which wave
 * number. */
static void find_terms(const bn_spectral_axis *a, part_line line, int k, int sign, int32_t *terms)
{
    if (line.splits == 2 || a->split[line.splits] == 1) {
        const int32_t place = folded_place(a->log, line.odd, k), within = abs(place) - 1;
        const bool none = line.odd && (k == 0 || k == line.intervals);
        *terms = none ? 0 : sign * (place > 0 ? 1 : -1) * (1 + line.number * ((1 << a->log) + 1) + within);
        return;
    }
    const int m = a->split[line.splits], shorter = line.intervals / m, rest = k % m;
    const bool falls = 2 * rest > m, reflected = k % (2 * shorter) > shorter;
    const int c = falls ? m - rest : rest, within = reflected ? 2 * shorter - k % (2 * shorter) : k % (2 * shorter);
    const int half = line.splits == 0 ? 2 : 1;
    part_line next = { line.splits + 1, line.number * m + c, shorter, line.odd };
    find_terms(a, next, within, reflected && next.odd ? -sign : sign, terms);
    if (c == 0)
        return;
    /* exp(-i x) = cos x - i sin x: once more -i where the transform is not purely imaginary already. */
    next.number += m / 2;
    next.odd = !line.odd;
    const bool minus = falls ^ (reflected && next.odd) ^ !line.odd;
    find_terms(a, next, within, minus ? -sign : sign, terms + half);
}

/* The place of the coefficient at wave number k, in the form of `pick`. */
static void find_places(const bn_spectral_axis *a, int k, int32_t *places)
{
    int32_t terms[4] = { 0 };
    int count = 0;
    if (a->chirps)
        terms[0] = 1 + k;
    else
        find_terms(a, (part_line){ 0, 0, a->intervals, a->odd }, k, 1, terms);
    for (int n = 0; n < 4; n++)
        if (terms[n] != 0)
            places[count++ * a->count] = terms[n];
}

static void fill_sums(bn_spectral_axis *a)
{
    double *to = a->sums;
    for (int s = 0; s < 2; s++) {
        const int m = a->split[s];
        for (int n = 1; n <= m / 2; n++, to += bn_spectral_sums_row(m))
            for (int c = 0; c < m; c++) {
                const int turn = n * (c > m / 2 ? c - m / 2 : c) % m, near = 2 * turn > m ? m - turn : turn;
                const double angle = 2 * pi * near / m;
                to[bn_spectral_sum_at(m, c)] = c <= m / 2 ? cos(angle) : 2 * turn > m ? -sin(angle) : sin(angle);
            }
    }
}

/* exp(-i pi t / n), the same bits for angles that add up to a right one. */
static void root(int t, int n, double out[2])
{
    const bool upper = 2 * t > n;
    const int within = upper ? n - t : t;
    const bool swap = 4 * within > n;
    const double angle = pi * (swap ? 0.5 * n - within : within) / n, c = cos(angle),
                 s = 4 * within == n ? c : sin(angle);
    out[0] = (upper ? -1 : 1) * (swap ? s : c);
    out[1] = -(swap ? c : s);
}

/* Transform in place, natural order in, bit-reversed order out. */
static void transform(double *pairs, int log, const double *twiddle)
{
    for (int top = log; top > 0; top--)
        for (int block = 0; block < 1 << log; block += 1 << top)
            for (int q = 0; q < 1 << (top - 1); q++) {
                double *u = pairs + 2 * (block + q), *v = u + (2 << (top - 1));
                const double *w = twiddle + 2 * ((size_t)q << (log - top));
                const double re = u[0] - v[0], im = u[1] - v[1];
                u[0] += v[0];
                u[1] += v[1];
                v[0] = re * w[0] - im * w[1];
                v[1] = re * w[1] + im * w[0];
            }
}

/* The twiddle factors of each length side by side. */
static void fill_factors(bn_spectral_axis *a)
{
    const int most = a->log + 1;
    for (int log = 1; log <= most; log++)
        for (size_t t = 0; t < (size_t)1 << (log - 1); t++)
            for (size_t part = 0; part < 2; part++)
                a->factors[2 * (((size_t)1 << (log - 1)) + t) + part] = a->twiddle[2 * (t << (most - log)) + part];
}

/* exp(-i pi m^2 / length): the square modulo the period keeps the angle small and exact. */
static void chirp(const bn_spectral_axis *a, int m, double out[2])
{
    const double angle = pi * (double)((long long)m * m % (2LL * a->length)) / a->length;
    out[0] = cos(angle);
    out[1] = -sin(angle);
}

/* Values times their chirps, folded, times the spectrum, unfolded, times the chirps of the results. Of
 * an even line unfolding is folding but for the weights of the ends, which stand once in a period and other values
 * twice: spectrum and chirps make up for it, also for the last value, which the convolution has at both sides. */
static bool fill_chirps(bn_spectral_axis *a)
{
    const int size = 1 << a->log, period = 2 * size, reach = 2 * a->intervals;
    double *conjugates = calloc(2 * (size_t)period, sizeof *conjugates), c[2];
    if (!conjugates)
        return false;
    for (int m = 0; m <= (reach < size ? reach : size); m++) {
        chirp(a, m, c);
        for (int side = 0; side < 2; side++) { /* points m and -m */
            double *to = conjugates + (ptrdiff_t)2 * (side ? (period - m) % period : m);
            to[0] = c[0] / period;
            to[1] = -c[1] / period;
        }
    }
    transform(conjugates, a->log + 1, a->twiddle);
    for (int k = 0; k <= size; k++) {
        const double *from = conjugates + (ptrdiff_t)2 * reversed(k, a->log + 1),
                     weight = a->odd || (k > 0 && k < size) ? 1 : 0.5;
        double *to = a->spectrum + (ptrdiff_t)2 * (abs(folded_place(a->log, a->odd, k)) - 1);
        to[0] = weight * from[0];
        to[1] = weight * from[1];
    }
    for (int m = 0; m <= a->intervals; m++)
        for (int back = 0; back < 2; back++) {
            const double weight = a->odd ? 1 : back ? (m == 0 ? 2 : 1) : m == a->intervals ? 0.5 : 1;
            double *to = a->chirp + (ptrdiff_t)2 * (m + back * (a->intervals + 1));
            chirp(a, m, c);
            to[0] = weight * c[0];
            to[1] = weight * c[1];
        }
    free(conjugates);
    return true;
}

static bool fill_lines(bn_spectral_axis *a)
{
    const int size = 1 << a->log;
    a->pick = calloc((size_t)(a->terms * a->count), sizeof *a->pick);
    a->pick_back = calloc((size_t)(a->terms * a->count), sizeof *a->pick_back);
    a->twiddle = calloc(bn_spectral_twiddles(a), sizeof *a->twiddle);
    a->factors = calloc(bn_spectral_factors(a), sizeof *a->factors);
    a->sums = calloc(bn_spectral_sums(a) + 1, sizeof *a->sums);
    a->chirp = calloc(bn_spectral_chirps(a), sizeof *a->chirp);
    a->spectrum = calloc(bn_spectral_spectrum(a), sizeof *a->spectrum);
    if (!a->pick || !a->pick_back || !a->twiddle || !a->factors || !a->sums || !a->chirp || !a->spectrum)
        return false;
    for (int q = 0; q < a->count; q++) {
        /* The point of a value; of a line whose low end is mirrored they count down from the other one. */
        const int point = a->mirrored == BN_SPECTRAL_MIRRORED_LOW ? a->count - q : a->odd ? q + 1 : q;
        find_places(a, wave(a, q), a->pick + q);
        find_places(a, point, a->pick_back + q);
    }
    for (int t = 0; t <= size; t++)
        root(t, size, a->twiddle + (ptrdiff_t)2 * t);
    fill_factors(a);
    fill_sums(a);
    return !a->chirps || fill_chirps(a);
}

/* Eigenvalues of the symmetric matrix of `count` rows with this diagonal, in place, and off[m] between rows m and m +
 * 1; eigenvectors as rows. The QL method with implicit shifts (Martin and Wilkinson 1968). */
static void find_eigenvectors(double *diagonal, double *off, int count, double *vectors)
{
    off[count - 1] = 0;
    for (int l = 0; l < count; l++)
        for (;;) {
            int m = l;
            while (m + 1 < count && fabs(off[m]) > 0x1p-53 * (fabs(diagonal[m]) + fabs(diagonal[m + 1])))
                m++;
            if (m == l)
                break;
            const double half = 0.5 * (diagonal[l + 1] - diagonal[l]) / off[l], root = sqrt(half * half + 1);
            double g = diagonal[m] - diagonal[l] + off[l] / (half + (half < 0 ? -root : root)), s = 1, c = 1, p = 0;
            int i = m - 1;
            for (; i >= l; i--) {
                const double f = s * off[i], b = c * off[i], r = sqrt(f * f + g * g);
                off[i + 1] = r;
                if (r == 0) {
                    diagonal[i + 1] -= p;
                    off[m] = 0;
                    break;
                }
                s = f / r;
                c = g / r;
                g = diagonal[i + 1] - p;
                const double turn = (diagonal[i] - g) * s + 2 * c * b;
                p = s * turn;
                diagonal[i + 1] = g + p;
                g = c * turn - b;
                double *low = vectors + (size_t)i * (size_t)count, *high = low + count;
                for (int k = 0; k < count; k++) {
                    const double above = high[k], below = low[k];
                    high[k] = s * below + c * above;
                    low[k] = c * below - s * above;
                }
            }
            if (i >= l)
                continue;
            diagonal[l] -= p;
            off[l] = g;
            off[m] = 0;
        }
}

/* Of one dimension of a stretched grid: K v = lambda W v, K the differences between nodes, W the widths of the control
 * volumes, with v' W v = 1. */
static bool fill_dense(bn_spectral_axis *a, const double *widths, double k, double mass)
{
    const int count = a->count, nodes = a->intervals + 1;
    const size_t all = (size_t)count * (size_t)nodes;
    double *rows = calloc((size_t)count * (size_t)count, sizeof *rows), *off = calloc((size_t)count, sizeof *off),
           *root = calloc((size_t)count, sizeof *root), *value = calloc((size_t)count, sizeof *value);
    a->forward = calloc(all, sizeof *a->forward);
    a->back = calloc(all, sizeof *a->back);
    a->eigenvalue = calloc((size_t)nodes, sizeof *a->eigenvalue);
    const bool good = rows && off && root && value && a->forward && a->back && a->eigenvalue;
    for (int m = 0; good && m < count; m++) {
        const int node = a->first + m;
        const double below = node > 0 ? widths[node - 1] : 0, above = node < a->intervals ? widths[node] : 0;
        root[m] = 1 / sqrt(0.5 * (below + above));
        value[m] = ((below > 0 ? 1 / below : 0) + (above > 0 ? 1 / above : 0)) * root[m] * root[m];
        off[m] = above > 0 ? -root[m] / above : 0;
        rows[(size_t)m * (size_t)count + (size_t)m] = 1;
    }
    for (int m = 0; good && m + 1 < count; m++)
        off[m] *= root[m + 1];
    if (good)
        find_eigenvectors(value, off, count, rows);
    for (int node = 0; good && node < nodes; node++) {
        const int q = node - a->first;
        a->eigenvalue[node] = q >= 0 && q < count ? mass + k * value[q] : 1;
    }
    for (int q = 0; good && q < count; q++)
        for (int m = 0; m < count; m++) {
            const double v = rows[(size_t)q * (size_t)count + (size_t)m] * root[m];
            a->forward[(size_t)m * (size_t)nodes + (size_t)(a->first + q)] = v;
            a->back[(size_t)q * (size_t)nodes + (size_t)(a->first + m)] = v;
        }
    free(rows);
    free(off);
    free(root);
    free(value);
    return good;
}

/* scale: 1, or 1 over the length of the period along x. */
static bool fill_columns(const bn_stencil *s, size_t real_bytes, bool second, bn_spectral_plan *p)
{
    const bn_spectral_axis *x = &p->axis[0], *y = &p->axis[1];
    double *eigenvalue = calloc((size_t)x->count, sizeof *eigenvalue);
    for (int q = 0; eigenvalue && q < x->count; q++) {
        const double root = sin(pi * wave(x, q) / x->length);
        eigenvalue[q] = s->mass + 4 * s->kx * root * root;
    }
    const bool good = eigenvalue &&
                      bn_column_plan_create(y->intervals, (bn_column_ends){ y->low_free, y->high_free }, eigenvalue,
                                            (size_t)x->count, s->ky, 1 / (s->ky * (second ? 1 : x->length)), real_bytes,
                                            &p->columns);
    free(eigenvalue);
    return good;
}

static bool create_plan(const bn_stencil *s, size_t real_bytes, bool second, bn_spectral_plan *out)
{
    bool good = true;
    *out = (bn_spectral_plan){ 0 };
    for (int d = 0; d < 2; d++)
        out->axis[d] = axis_of(s, d, real_bytes);
    for (int d = 0; d < 2 && good && s->widths; d++) {
        bn_spectral_axis *a = &out->axis[d];
        good = fill_dense(a, s->widths + (d ? s->nx - 1 : 0), d ? s->ky : s->kx, d ? 0 : s->mass);
    }
    if (!s->widths)
        good = fill_lines(&out->axis[0]) && fill_columns(s, real_bytes, second, out);
    if (!good)
        bn_spectral_plan_destroy(out);
    return good;
}

bool bn_spectral_plan_create(const bn_stencil *s, size_t real_bytes, bn_spectral_plan *out)
{
    return create_plan(s, real_bytes, false, out);
}

bool bn_spectral_plan_second(const bn_stencil *s, size_t real_bytes, bn_spectral_plan *out)
{
    return create_plan(s, real_bytes, true, out);
}

void bn_spectral_plan_destroy(bn_spectral_plan *plan)
{
    for (int d = 0; d < 2; d++) {
        bn_spectral_axis *a = &plan->axis[d];
        free(a->pick);
        free(a->pick_back);
        free(a->twiddle);
        free(a->factors);
        free(a->sums);
        free(a->chirp);
        free(a->spectrum);
        free(a->eigenvalue);
        free(a->forward);
        free(a->back);
    }
    bn_column_plan_destroy(&plan->columns);
    *plan = (bn_spectral_plan){ 0 };
}
