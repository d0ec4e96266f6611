/* spectral_lines.cl: the kernels of spectral.cl for CPUs: LINES lines at a time, side by side in vectors. These are
 * written out, since PoCL 5.0 and 6.0 make none of such loops (lanes.h). The first work-item of one work-group in PAIRS
 * does them all. Tables, order and arithmetic are those of transform.cl and columns.cl, bit for bit.
 *
 * A point of all rows is one vector: in its lower half the first line of each pair, in its upper half the second, the
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

/* Of the transform along x, forward or back: the host's spectral_plan.h has them. */
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
ALWAYS_INLINED void transform_split(local reals *z, tables t, local reals *work)
{
    const int m = SPLIT_X, then = THEN_SPLIT_X, intervals = LENGTH_X / 2, shorter = intervals / m;
    const int points = (1 << LOG_X) + 1;
    split_line(z, intervals, ODD_X, m, t.sums, work);
    for (int line = THEN_SPLIT_X > 1 ? m - 1 : -1; line >= 0; line--) {
        local reals *to = z + line * then * points;
        for (int j = shorter; j >= 0; j--)
            to[j] = z[line * (shorter + 1) + j];
        split_line(to, shorter, ODD_X ^ CHANGES(line, m), then, t.sums + m / 2 * SUMS(m), work);
    }
    for (int line = 0; line < m * then; line++)
        transform_points(z + line * points, LOG_X, t.twiddle,
                         ODD_X ^ CHANGES(line / then, m) ^ CHANGES(line % then, then));
}
enum { MIRRORED_HIGH = 1, MIRRORED_LOW };

/* The value at point m of a transform, -1: zero; back: from coefficients. */
static inline int value_at(int m, int back)
{
    const int from_mirror = (int)abs(COUNT_X - m), coefficient = m / 2;
    if (!MIRRORED_X)
        return m - ODD_X < COUNT_X ? m - ODD_X : -1;
    if (back)
        return m % 2 && coefficient < COUNT_X ? coefficient : -1;
    return from_mirror >= COUNT_X ? -1 : MIRRORED_X == MIRRORED_LOW ? from_mirror : COUNT_X - 1 - from_mirror;
}

/* Transforms the values y of lines; their points are in z then. work: for lines that are split. */
ALWAYS_INLINED void transform(local const reals *y, int back, tables t, local reals *z, local reals *work)
{
    for (int m = 0; m <= (SPLIT_X > 1 ? LENGTH_X / 2 : 1 << LOG_X); m++) {
        const int number = value_at(m, back);
        const reals v = number < 0 ? (reals)(0) : y[number];
        z[m] = CHIRP_X && number >= 0 ? times(v, t.chirp[m]) : v;
    }
    if (SPLIT_X > 1)
        transform_split(z, t, work);
    else
        transform_points(z, LOG_X, t.twiddle, ODD_X);
    if (CHIRP_X)
        convolve(z, LOG_X, t.twiddle, t.spectrum, ODD_X);
}

/* What stands at a place of `pick`. */
ALWAYS_INLINED reals term(local const reals *z, int place)
{
    const reals v = z[(int)abs(place) - 1];
    return place < 0 ? -v : v;
}

/* Value number q of the result of the transform. */
ALWAYS_INLINED reals result(local const reals *z, int q, tables t)
{
    reals sum = term(z, t.pick[q]);
    for (int n = 1; n < (SPLIT_X > 1 ? 2 : 1) * (THEN_SPLIT_X > 1 ? 2 : 1); n++)
        if (t.pick[n * COUNT_X + q] != 0)
            sum = sum + term(z, t.pick[n * COUNT_X + q]);
    const reals v = CHIRP_X ? times(sum, t.chirp[LENGTH_X / 2 + t.pick[q]]) : sum;
    return ODD_X && CHIRP_X ? (reals)(-v.hi, v.lo) : v;
}

/* Where all lines are there their number is a constant, and each value takes two instructions: in a loop over lines it
 * would be eleven, which were most of a transform's. */
#define EACH_LINE(line) _Pragma("unroll") for (int line = 0; line < LINES; line++)

/* COUNT_X values of the first of LINES lines that lie `apart`; zeros for the others. */
ALWAYS_INLINED void gather(global const real *from, index_t apart, int lines, local reals *y)
{
    if (lines == LINES)
        for (int q = 0; q < COUNT_X; q++) {
            EACH_LINE(line) REAL_AT(y, q, line) = from[line * apart + q];
        }
    else
        for (int q = 0; q < COUNT_X; q++)
            for (int line = 0; line < LINES; line++)
                REAL_AT(y, q, line) = line < lines ? from[line * apart + q] : 0;
}

/* To the lines that are there. */
ALWAYS_INLINED void scatter(local const reals *y, index_t apart, int lines, global real *to)
{
    if (lines == LINES)
        for (int q = 0; q < COUNT_X; q++) {
            EACH_LINE(line) to[line * apart + q] = REAL_AT(y, q, line);
        }
    else
        for (int q = 0; q < COUNT_X; q++)
            for (int line = 0; line < lines; line++)
                to[line * apart + q] = REAL_AT(y, q, line);
}

#define TABLES(back)                                                                                       \
    ((tables){ pairs, (places) + ((back) ? TERMS * COUNT_X : 0), (pairs) + CHIRP_AT, (pairs) + SPECTRUM_AT, \
               (global const real *)((pairs) + SUMS_AT) })
#define TERMS ((SPLIT_X > 1 ? 2 : 1) * (THEN_SPLIT_X > 1 ? 2 : 1))
/* Points of all shorter lines, if lines are split; else of the line itself. */
#define POINTS (SPLIT_X > 1 ? LENGTH_X / 2 + SPLIT_X * THEN_SPLIT_X : (1 << LOG_X) + 1)
#define WORK (SPLIT_X > 1 ? POINTS : 1)

/* Along x, from the grid to coefficients, or `back`, a layer of the launch for each system; 2: the second alone. Its
 * solution gets `plus` added to it. */
kernel void spectral_rows(global const real *in, global const real *in_second, global real *out,
                          global real *out_second, global const real *plus, global const real2 *restrict pairs,
                          global const int *restrict places, int back)
{
    local reals z[POINTS], y[COUNT_X], work[WORK];
    const tables t = TABLES(back);
    const int row = 2 * (int)get_group_id(0), second = (int)get_group_id(2) + (back > 1);
    /* The first line may be a row that is no unknown: it is taken along as zeros, and keeps its values. */
    const int begin = row < FIRST_Y - Y0, lines = min(LINES, min(FIRST_Y + COUNT_Y - Y0, NY) - row);
    if (get_local_id(0) != 0 || get_group_id(0) % PAIRS != 0)
        return;
    const index_t first = AT(FIRST_X, row), coefficients = first - FIRST_X;
    gather((second ? in_second : in) + (back ? coefficients : first), PITCH, lines, y);
    for (int q = 0; q < (begin ? COUNT_X : 0); q++)
        REAL_AT(y, q, 0) = 0;
    /* Values on a mirrored border count twice, because the stencil halves them. */
    if (!back) {
        y[0] *= (real)(1 + TWICE_LOW_X);
        y[COUNT_X - 1] *= (real)(1 + TWICE_HIGH_X);
    }
    transform(y, back, t, z, work);
    global real *to = (second ? out_second : out) + (back ? first : coefficients);
    for (int q = 0; q < COUNT_X; q++) {
        y[q] = result(z, q, t);
        for (int line = 0; PLUS && second && line < lines; line++)
            REAL_AT(y, q, line) += plus[first + (index_t)line * PITCH + q];
        if (begin)
            REAL_AT(y, q, 0) = to[q];
    }
    scatter(y, PITCH, lines, to);
}

/* Numbers that lie side by side: of LINES those from `begin` to `end`, zeros for the others. */
#if REAL_BYTES == 8
#define LOAD_REALS(from) vload8(0, from)
#else
#define LOAD_REALS(from) vload16(0, from)
#endif
ALWAYS_INLINED reals load(global const real *from, int begin, int end)
{
    reals v = (reals)(0);
    if (end - begin == LINES)
        return LOAD_REALS(from);
    for (int line = begin; line < end; line++)
        ((private real *)&v)[line] = from[line];
    return v;
}
ALWAYS_INLINED void store(reals v, int begin, int end, global real *to)
{
    if (end - begin == LINES)
        STORE_REALS(v, to);
    for (int line = end - begin == LINES ? end : begin; line < end; line++)
        to[line] = ((private const real *)&v)[line];
}
/* Of a row of a table: all of LINES are there but on the smallest grids. */
#if COUNT_X < LINES
#define ENTRIES(row) load(row, 0, COUNT_X)
#else
#define ENTRIES(row) LOAD_REALS(row)
#endif

#define OR_NOTHING(v) (fabs(v) < (reals)(LEAST) ? (reals)(0) : (v))

/* Along y, in place; the coefficients of the second solution are `second`. The host's column_plan.h has the method and
 * the tables. */
kernel void spectral_columns(global real *coefficients, global real *second, global const real *restrict systems,
                             global const real *restrict systems_second)
{
    local reals z[CHUNK], b[CHUNKS];
    /* The last columns are taken with some of those before, which others solve for. */
    const int own_column = 2 * (int)get_group_id(0), column = max(min(own_column, COUNT_X - LINES), 0);
    const int begin = own_column - column, end = min(LINES, COUNT_X - column), last = FIRST_Y + COUNT_Y - 1;
    if (get_local_id(0) != 0 || get_group_id(0) % PAIRS != 0)
        return;
    for (int system = 0; system < SYSTEMS; system++) {
        global const real *t = (system ? systems_second : systems) + column;
        global const real *separator = t + 4 * (CHUNK - 1) * COUNT_X, *inverse = separator + CHUNKS * COUNT_X;
        global real *to = system ? second : coefficients;
        const reals scale = (reals)(inverse[CHUNKS * COUNT_X - column]);
        reals handed_on = (reals)(0);
        for (int s = 0; s < CHUNKS; s++) {
            const int node = s * CHUNK, count = min(CHUNK - 1, last - node);
            global const real *multiplier = t + (s + 1 == CHUNKS ? 2 * (CHUNK - 1) : 0) * COUNT_X;
            for (int j = node < FIRST_Y; j <= count; j++) {
                const int mirrored = (LOW_FREE_Y & (node + j == 0)) | (HIGH_FREE_Y & (node + j == last));
                const real weight = (system > 0) & mirrored ? REAL(0.5) : 1;
                z[j] = (reals)(weight) * load(coefficients + AT(column, node + j), begin, end);
            }
            for (int j = count - 1; j >= 1; j--)
                z[j] = fma(ENTRIES(multiplier + j * COUNT_X), z[j + 1], z[j]);
            reals before = (reals)(0);
            for (int j = 1; j <= count; j++) {
                before = ENTRIES(multiplier + (j - 1) * COUNT_X) * fma(z[j], scale, before);
                z[j] = before;
                store(before, begin, end, to + AT(column, node + j));
            }
            b[s] = fma(node < FIRST_Y ? (reals)(0) : z[0], scale, count > 0 ? z[1] : (reals)(0));
            if (s > 0)
                b[s] = fma(ENTRIES(separator + (s - 1) * COUNT_X), b[s - 1], b[s] + handed_on);
            handed_on = before;
        }
        reals next = (reals)(0);
        for (int s = CHUNKS - 1; s >= 0; s--) {
            const int node = s * CHUNK, count = min(CHUNK - 1, last - node), is_last = s + 1 == CHUNKS;
            global const real *share = t + (is_last ? 3 : 1) * (CHUNK - 1) * COUNT_X;
            const reals alone = ENTRIES(inverse + s * COUNT_X) * b[s];
            const reals own = fma(ENTRIES(separator + s * COUNT_X), next, alone);
            z[0] = own;
            for (int j = 1; j <= count; j++) {
                const reals from = load(to + AT(column, node + j), begin, end);
                const reals near = fma(ENTRIES(share + (j - 1) * COUNT_X), own, from);
                z[j] = is_last ? near : fma(ENTRIES(share + (CHUNK - 1 - j) * COUNT_X), next, near);
            }
            for (int j = node < FIRST_Y; j <= count; j++)
                store(OR_NOTHING(z[j]), begin, end, to + AT(column, node + j));
            next = own;
        }
    }
}
