/* spectral_lines.cl: the kernels of spectral.cl for CPUs: LINES lines at a time, side by side in vectors. These are
 * written out, since PoCL 5.0 and 6.0 make none of such loops (lanes.h). The first work-item of one work-group in PAIRS
 * does them all: stores to transposed lines then fill whole lines of the cache, which no two cores share. Tables, order
 * and arithmetic are those of transform.cl, bit for bit.
 *
 * A point of all lines is one vector: in its lower half the first line of each pair, in its upper half the second, the
 * real and imaginary parts of one transform. */
#define PAIRS (32 / REAL_BYTES)
#define LINES (2 * PAIRS)
#define SLOT(line) ((line) / 2 + (line) % 2 * PAIRS)
#define REAL_AT(y, q, line) ((local real *)((y) + (q)))[SLOT(line)]
typedef __typeof__(((reals)(0)).lo) half_reals;
#if REAL_BYTES == 8
#define STORE_REALS(v, to) vstore8(v, 0, to)
#else
#define STORE_REALS(v, to) vstore16(v, 0, to)
#endif

#define ALWAYS_INLINED static inline __attribute__((always_inline))

#define TIMES(a, re, im) (reals)(fma((a).lo, re, -((a).hi * (im))), fma((a).lo, im, (a).hi * (re)))
ALWAYS_INLINED reals times(reals a, real2 w) { return TIMES(a, (half_reals)(w.x), (half_reals)(w.y)); }

/* Forward: (a, b) -> (a + b, (a - b) w). Backward (up): (a, b) -> (a + b conj w, a - b conj w). */
#define BUTTERFLY(a, b, w)                                              \
    {                                                                   \
        const reals u_ = a;                                             \
        const reals v_ = up ? times(b, (real2)((w).x, -(w).y)) : b;     \
        const reals d_ = u_ - v_;                                       \
        a = u_ + v_;                                                    \
        b = up ? d_ : times(d_, w);                                     \
    }

/* A level of butterflies over 2^top points, from point `begin` to `end`; twiddle factors: roots of 2^period. */
ALWAYS_INLINED void one_level(local reals *z, int begin, int end, int top, int period, global const real2 *twiddle,
                              int up)
{
    const int half_block = 1 << (top - 1);
    for (int block = begin; block < end; block += 2 * half_block)
        for (int q = 0; q < half_block; q++) {
            local reals *at = z + block + q;
            const real2 w = twiddle[q << (period - top)];
            reals a = at[0], b = at[half_block];
            BUTTERFLY(a, b, w)
            at[0] = a;
            at[half_block] = b;
        }
}

/* Two at once, the larger over 2^top points. */
ALWAYS_INLINED void two_levels(local reals *z, int begin, int end, int top, int period, global const real2 *twiddle)
{
    const int up = 0, part = 1 << (top - 2);
    for (int block = begin; block < end; block += 4 * part)
        for (int q = 0; q < part; q++) {
            local reals *at = z + block + q;
            const real2 w = twiddle[q << (period - top)], v = twiddle[(q + part) << (period - top)];
            const real2 w2 = twiddle[2 * q << (period - top)];
            reals a = at[0], b = at[part], c = at[2 * part], d = at[3 * part];
            BUTTERFLY(a, c, w)
            BUTTERFLY(b, d, v)
            BUTTERFLY(a, b, w2)
            BUTTERFLY(c, d, w2)
            at[0] = a;
            at[part] = b;
            at[2 * part] = c;
            at[3 * part] = d;
        }
}

/* One fold of the first 2^top points and the end, which stands at 2^log. */
ALWAYS_INLINED void fold(local reals *z, int log, int top, global const real2 *twiddle, int odd)
{
    const int mid = 1 << (top - 1), last = 1 << log;
    for (int k = 0; k <= mid / 2; k++) {
        const int end = k == 0 ? last : 2 * mid - k;
        const reals a = z[k], b = z[mid - k], c = z[mid + k], d = z[end];
        const reals outer = odd ? a + d : a - d, inner = odd ? b + c : b - c;
        const reals u = odd ? inner : outer, v = odd ? outer : inner;
        const real2 w = twiddle[k << (log - top)];
        z[k] = odd ? a - d : a + d;
        z[k == 0 ? last : mid - k] = odd ? b - c : b + c;
        z[mid + k] = times((reals)(u.lo + v.hi, u.hi - v.lo), (real2)(w.x, -w.y));
        if (k > 0)
            z[end] = times((reals)(v.lo + u.hi, v.hi - u.lo), (real2)(-w.y, w.x));
    }
}

ALWAYS_INLINED void transform_points(local reals *z, int log, global const real2 *twiddle, int odd)
{
    const int last = 1 << log;
    for (int top = log; top > 0; top -= 2) {
        fold(z, log, top, twiddle, odd);
        if (top == 1) {
            one_level(z, 2, last, 1, log + 1, twiddle, 0);
        } else {
            fold(z, log, top - 1, twiddle, odd);
            one_level(z, 1 << (top - 1), 1 << top, top - 1, log + 1, twiddle, 0);
            two_levels(z, 1 << top, last, top, log + 1, twiddle);
        }
    }
    const reals low = z[0], high = z[last];
    z[0] = low + high;
    z[last] = low - high;
}

/* The conjugate transpose of fold(): its points and the end again, times two but for the ends. */
ALWAYS_INLINED void unfold(local reals *z, int log, int top, global const real2 *twiddle, int odd)
{
    const int mid = 1 << (top - 1), last = 1 << log;
    const reals low = z[0], high = z[mid], end = z[last];
    if (!odd) {
        z[0] = low + high;
        z[last] = low - high;
    }
    z[mid] = odd ? high + high : end + end;
    for (int k = 1; k <= mid / 2; k++) {
        const real2 w = twiddle[k << (log - top)];
        const reals a = z[k], b = z[mid - k], p = times(z[mid + k], w), q = times(z[2 * mid - k], (real2)(w.x, -w.y));
        const reals sum = p + q, difference_i = (reals)(q.hi - p.hi, p.lo - q.lo);
        const reals outer = odd ? difference_i : sum, inner = odd ? sum : difference_i;
        z[k] = a + outer;
        z[mid - k] = b + inner;
        z[mid + k] = odd ? inner - b : b - inner;
        z[2 * mid - k] = odd ? outer - a : a - outer;
    }
}

/* Values times their chirps that are folded, to be multiplied by those of the results. */
ALWAYS_INLINED void convolve(local reals *z, int log, global const real2 *twiddle,
                             global const real2 *spectrum, int odd)
{
    const int last = 1 << log;
    for (int p = 0; p <= last; p++)
        z[p] = times(z[p], spectrum[p]);
    const reals low = z[0], high = z[last];
    z[0] = low + high;
    z[last] = low - high;
    for (int top = 1; top <= log; top++) {
        one_level(z, 1 << top, last, top, log + 1, twiddle, 1);
        unfold(z, log, top, twiddle, odd);
    }
}

/* The transform of a dimension, constants of the build; tables: of the host's spectral_plan.h, forward or back. */
typedef struct axis {
    int log, length, split, then_split, chirps, mirrored, odd, count;
} axis;
typedef struct tables {
    global const real2 *twiddle;
    global const int *pick;
    global const real2 *chirp, *spectrum;
    global const real *sums;
} tables;

/* The value at point i of a line that goes on beyond its ends. */
ALWAYS_INLINED reals beyond(local const reals *z, int intervals, int odd, int i)
{
    const reals v = z[i < 0 ? -i : i > intervals ? 2 * intervals - i : i];
    return odd && (i < 0 || i > intervals) ? -v : v;
}

/* Cosines and sines of a row of the table of sums: each filled up to a multiple of four. */
#define SINES(m) (4 * ((m) / 2 / 4 + 1))
#define SUMS(m) (SINES(m) + 4 * (((m) / 2 + 3) / 4))

/* Splits a line, in place, into m by way of `work`; the host's spectral_plan.h has the formulas. */
ALWAYS_INLINED void split_line(local reals *z, int intervals, int odd, int m, global const real *sums,
                               local reals *work)
{
    const int shorter = intervals / m, points = shorter + 1;
    for (int j = 0; j < points; j++) {
        work[j] = z[m * j];
        for (int n = 1; n <= m / 2; n++) {
            const reals up = beyond(z, intervals, odd, m * j + 2 * shorter * n);
            const reals down = beyond(z, intervals, odd, m * j - 2 * shorter * n);
            work[n * points + j] = up + down;
            work[(m / 2 + n) * points + j] = up - down;
        }
    }
    /* Four at a time, whose sums wait for each other the less. */
    for (int row = 0; row < SUMS(m); row += 4) {
        const int sines = row >= SINES(m), c = sines ? m / 2 + 1 + row - SINES(m) : row, end = sines ? m : m / 2 + 1;
        const int zeros = odd ^ sines; /* at both ends */
        for (int line = c; zeros && line < min(c + 4, end); line++)
            z[line * points] = z[line * points + shorter] = (reals)(0);
        for (int j = zeros; j < points - zeros; j++) {
            local const reals *from = work + (sines ? m / 2 : 0) * points + j;
            local reals *to = z + c * points + j;
            const reals begin = sines ? (reals)(0) : from[0];
            reals first = begin, second = begin, third = begin, fourth = begin;
            for (int n = 1; n <= m / 2; n++) {
                global const real *by = sums + (n - 1) * SUMS(m) + row;
                const reals v = from[n * points];
                first = fma((reals)(by[0]), v, first);
                second = fma((reals)(by[1]), v, second);
                third = fma((reals)(by[2]), v, third);
                fourth = fma((reals)(by[3]), v, fourth);
            }
            to[0] = first;
            if (c + 1 < end)
                to[points] = second;
            if (c + 2 < end)
                to[2 * points] = third;
            if (c + 3 < end)
                to[3 * points] = fourth;
        }
    }
}

/* Of the lines that come of one, those behind number m / 2 are odd where it is not. */
#define CHANGES(number, m) ((number) > (m) / 2)

/* The second split from the last line on, since they need more room then. */
ALWAYS_INLINED void transform_split(local reals *z, axis a, tables t, local reals *work)
{
    const int m = a.split, then = a.then_split, intervals = a.length / 2, shorter = intervals / m;
    const int points = (1 << a.log) + 1;
    split_line(z, intervals, a.odd, m, t.sums, work);
    for (int line = m - 1; then > 1 && line >= 0; line--) {
        local reals *to = z + line * then * points;
        for (int j = shorter; j >= 0; j--)
            to[j] = z[line * (shorter + 1) + j];
        split_line(to, shorter, a.odd ^ CHANGES(line, m), then, t.sums + m / 2 * SUMS(m), work);
    }
    for (int line = 0; line < m * then; line++)
        transform_points(z + line * points, a.log, t.twiddle,
                         a.odd ^ CHANGES(line / then, m) ^ CHANGES(line % then, then));
}
enum { MIRRORED_HIGH = 1, MIRRORED_LOW };

/* The value at point m of a transform, -1: zero; back: from coefficients. */
static inline int value_at(axis a, int m, int back)
{
    const int from_mirror = (int)abs(a.count - m), coefficient = m / 2;
    if (!a.mirrored)
        return m - a.odd < a.count ? m - a.odd : -1;
    if (back)
        return m % 2 && coefficient < a.count ? coefficient : -1;
    return from_mirror >= a.count ? -1 : a.mirrored == MIRRORED_LOW ? from_mirror : a.count - 1 - from_mirror;
}

/* Transforms the values y of lines; their points are in z then. work: for lines that are split. */
ALWAYS_INLINED void transform(local const reals *y, axis a, int back, tables t, local reals *z, local reals *work)
{
    const int split = a.split > 1;
    for (int m = 0; m <= (split ? a.length / 2 : 1 << a.log); m++) {
        const int number = value_at(a, m, back);
        const reals v = number < 0 ? (reals)(0) : y[number];
        z[m] = a.chirps && number >= 0 ? times(v, t.chirp[m]) : v;
    }
    if (split)
        transform_split(z, a, t, work);
    else
        transform_points(z, a.log, t.twiddle, a.odd);
    if (a.chirps)
        convolve(z, a.log, t.twiddle, t.spectrum, a.odd);
}

/* What stands at a place of `pick`. */
ALWAYS_INLINED reals term(local const reals *z, int place)
{
    const reals v = z[(int)abs(place) - 1];
    return place < 0 ? -v : v;
}

/* Value number q of the result of the transform. */
ALWAYS_INLINED reals result(local const reals *z, int q, axis a, tables t)
{
    reals sum = term(z, t.pick[q]);
    for (int n = 1; n < (a.split > 1 ? 2 : 1) * (a.then_split > 1 ? 2 : 1); n++)
        if (t.pick[n * a.count + q] != 0)
            sum = sum + term(z, t.pick[n * a.count + q]);
    const reals v = a.chirps ? times(sum, t.chirp[a.length / 2 + t.pick[q]]) : sum;
    return a.odd && a.chirps ? (reals)(-v.hi, v.lo) : v;
}

/* Values of the first of LINES lines that lie `apart`; zeros for the others. */
ALWAYS_INLINED void gather_lines(global const real *from, index_t apart, int lines, int count, local reals *y)
{
    for (int q = 0; q < count; q++)
        for (int line = 0; line < LINES; line++)
            REAL_AT(y, q, line) = line < lines ? from[line * apart + q] : 0;
}
ALWAYS_INLINED void gather(global const real *from, index_t apart, int lines, int count, local reals *y)
{
    if (lines == LINES)
        gather_lines(from, apart, LINES, count, y);
    else
        gather_lines(from, apart, lines, count, y);
}

/* Value q to the same place of each line. */
ALWAYS_INLINED void scatter(local const reals *y, int q, int lines, index_t apart, global real *to)
{
    for (int line = 0; line < lines; line++)
        to[line * apart] = REAL_AT(y, q, line);
}

/* The values v of lines that lie side by side, of `lines` of them. */
ALWAYS_INLINED void store(reals v, int lines, global real *to)
{
    reals in_order;
    in_order.even = v.lo;
    in_order.odd = v.hi;
    if (lines == LINES)
        STORE_REALS(in_order, to);
    for (int line = 0; lines < LINES && line < lines; line++)
        to[line] = ((private const real *)&in_order)[line];
}

#define AXIS(dim)                                                                                                \
    ((axis){ LOG_##dim, LENGTH_##dim, SPLIT_##dim, THEN_SPLIT_##dim, CHIRP_##dim, MIRRORED_##dim, ODD_##dim,     \
             COUNT_##dim })
/* An axis has its tables in one array of pairs and one of places. */
#define TABLES(dim, pairs, places, back)                                                                          \
    ((tables){ pairs, (places) + ((back) ? TERMS(dim) * COUNT_##dim : 0), (pairs) + CHIRP_AT_##dim,               \
               (pairs) + SPECTRUM_AT_##dim, (global const real *)((pairs) + SUMS_AT_##dim) })
#define TERMS(dim) ((SPLIT_##dim > 1 ? 2 : 1) * (THEN_SPLIT_##dim > 1 ? 2 : 1))
/* Points of all shorter lines, if lines are split; else of the line itself. */
#define POINTS(dim) \
    (SPLIT_##dim > 1 ? LENGTH_##dim / 2 + SPLIT_##dim * THEN_SPLIT_##dim : (1 << LOG_##dim) + 1)
#define WORK(dim) (SPLIT_##dim > 1 ? POINTS(dim) : 1)

/* Along x, from the grid to transposed lines; or back, from what spectral_columns wrote to the grid, a layer of the
 * launch for each system. The second solution gets `plus` added to it. */
kernel void spectral_rows(global const real *in, global const real *in_second, global real *out,
                          global real *out_second, global const real *plus, global const real2 *restrict pairs,
                          global const int *restrict places, int back)
{
    local reals z[POINTS(X)], y[COUNT_X], work[WORK(X)];
    const axis x = AXIS(X);
    const tables t = TABLES(X, pairs, places, back);
    const int row = 2 * (int)get_group_id(0), second = (int)get_group_id(2), lines = min(LINES, COUNT_Y - row);
    if (get_local_id(0) != 0 || get_group_id(0) % PAIRS != 0)
        return;
    const index_t first = AT(FIRST_X, FIRST_Y + row);
    gather((second ? in_second : in) + (back ? first - FIRST_X : first), PITCH, lines, COUNT_X, y);
    /* Values on a mirrored border count twice, because the stencil halves them. */
    if (!back) {
        y[0] *= (real)(1 + TWICE_LOW_X);
        y[COUNT_X - 1] *= (real)(1 + TWICE_HIGH_X);
        for (int q = 0; TWICE_LOW_Y && row == 0 && q < COUNT_X; q++)
            REAL_AT(y, q, 0) *= 2;
        for (int q = 0; TWICE_HIGH_Y && row + lines == COUNT_Y && q < COUNT_X; q++)
            REAL_AT(y, q, lines - 1) *= 2;
    }
    transform(y, x, back, t, z, work);
    global real *to = (second ? out_second : out) + (back ? first : TRANSPOSED_FIRST + row);
    for (int q = 0; q < COUNT_X; q++) {
        const reals v = result(z, q, x, t);
        if (!back) {
            store(v, lines, to + (index_t)q * TRANSPOSED_PITCH);
            continue;
        }
        y[q] = v;
        for (int line = 0; PLUS && second && line < lines; line++)
            REAL_AT(y, q, line) += plus[first + (index_t)line * PITCH + q];
        if (lines == LINES)
            scatter(y, q, LINES, PITCH, to + q);
        else
            scatter(y, q, lines, PITCH, to + q);
    }
}

/* Along y: transposed lines forward, division by eigenvalue_x + eigenvalue_y (both times the lengths of the periods;
 * those of the second system are not), back, to the grid's order in `out`. eigenvalues: along x, along y, and of the
 * second system. */
kernel void spectral_columns(global const real *transposed, global const real *transposed_second, global real *out,
                             global real *out_second, global const real *restrict eigenvalues,
                             global const real2 *restrict pairs, global const int *restrict places)
{
    local reals z[POINTS(Y)], y[COUNT_Y], work[WORK(Y)];
    const axis a = AXIS(Y);
    const tables forward = TABLES(Y, pairs, places, 0), backward = TABLES(Y, pairs, places, 1);
    const int column = 2 * (int)get_group_id(0), lines = min(LINES, COUNT_X - column);
    if (get_local_id(0) != 0 || get_group_id(0) % PAIRS != 0)
        return;
    (void)transposed_second; /* the coefficients stay in y */
    gather(transposed + TRANSPOSED_FIRST + (index_t)column * TRANSPOSED_PITCH, TRANSPOSED_PITCH, lines, COUNT_Y, y);
    transform(y, a, 0, forward, z, work);
    for (int q = 0; q < COUNT_Y; q++) {
        y[q] = result(z, q, a, forward);
        for (int line = lines; line < LINES; line++) /* those that are not there are zero, not almost */
            REAL_AT(y, q, line) = 0;
    }
    for (int system = 0; system < SYSTEMS; system++) {
        global const real *value_x = eigenvalues + system * (COUNT_X + COUNT_Y), *value_y = value_x + COUNT_X;
        reals by;
        for (int line = 0; line < LINES; line++)
            ((private real *)&by)[SLOT(line)] = value_x[min(column + line, COUNT_X - 1)];
        for (int q = 0; q < COUNT_Y; q++)
            y[q] = y[q] / (by + value_y[q]);
        transform(y, a, 1, backward, z, work);
        for (int q = 0; q < COUNT_Y; q++)
            store(result(z, q, a, backward), lines, (system ? out_second : out) + AT(column, FIRST_Y + q));
    }
}
