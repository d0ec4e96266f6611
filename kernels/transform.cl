/* transform.cl: sine and cosine transforms of the rows of a grid, for the fast direct solver (spectral.cl) and for
 * whole steps in one launch (flow_step.cl): functions, no kernels. The kind of transform follows from the two ends of a
 * row.
 *
 * Each line is continued beyond its ends: odd where the value is given, even where the border mirrors. So it is
 * periodic with LENGTH points, and its Fourier transform purely imaginary (ODD) or real: two lines a, b share one
 * complex transform of a + i b. The transform applied twice gives LENGTH times the line, so forward and backward
 * transforms are one routine. A line whose ends are not alike is taken together with its image in the mirrored end
 * (MIRRORED), which makes it an odd one of twice the intervals; of its coefficients those of even wave numbers are
 * zero.
 *   pick[q]   value number q in the result of the transform: 1 + its place, negative where its sign is to be changed
 * Lines of N = 2^LOG intervals are folded, so that of the 2 N points of a period half are enough: even wave numbers are
 * the transform of f[j] -+ f[N - j] over N / 2 intervals, to be folded again; odd ones a transform of N / 2 points of
 * f[j] +- f[N - j] (Makhoul 1980). So block 0 of a level is folded while the others take their butterflies, in place.
 * The complex transform is radix 2 (Gentleman and Sande 1966: natural order in, bit-reversed order out) with 2^LOG
 * points in local memory, two or three levels at a time in registers. Lines of m 2^LOG intervals, m odd, are split into
 * m lines of 2^LOG first, in one step or two (SPLIT, THEN_SPLIT; the host's spectral_plan.h has the formulas): their
 * points lie one line after the other. Where m is too large for that, lines go through a convolution whose length is a
 * power of two (CHIRP; Bluestein 1970), which is folded, too, over 2^LOG intervals: values times chirps are folded,
 * multiplied by the spectrum of the chirps where they then lie, and unfolded. The matrix of the folded transform is
 * real and, but for the weights of the ends, which the tables have, symmetric: so its conjugate transpose, step by step
 * from the last to the first, is the same transform, out of bit-reversed order.
 *
 * A line too long for local memory is shared by 2^SHARE_LOG work-groups, with 2^LOG points of local memory each. So
 * many levels divide it into blocks that nothing connects any more: the first one is a line, to be folded again, the
 * others are transforms. Each work-group loads the whole line, folds it so often and keeps its own block. */

/* What the rows of this build are. Clang drops what stands behind a constant that is false before anything else, and
 * else optimises for as long what no row needs as what all need. */
#ifndef LENGTH_X
#define LENGTH_X 8
#define LOG_X 2
#define SPLIT_X 1
#define THEN_SPLIT_X 1
#define ROOM 4
#endif
#ifndef LEVELS_X
#define LEVELS_X 2
#define CHIRP_X 0
#define MIRRORED_X 0
#define PAIRS_X 1
#define SHARE_LOG 0
#endif

/* Index in local memory: points of every stride of the transform lie in different banks. Of two numbers that have no
 * bit in common SWIZZLE(a + b) = SWIZZLE(a) ^ SWIZZLE(b). */
#define SWIZZLE(i) ((i) ^ ((i) >> 4 & 7) ^ ((i) >> 2 & 12) ^ ((i) >> 3 & 8))

/* exp(-2 pi i t / 2^log), t < 2^log / 2. Each length has factors of its own, so that neighbours read what lies side by
 * side. Where a launch has several parts each reads them anew: the ones of the largest length serve all, where they fit
 * into few lines of the cache. */
#if ONE_LAUNCH && LOG_X <= 7
#define FACTOR(log, t) twiddle[(1 << LOG_X) + ((t) << (LOG_X + 1 - (log)))]
#else
#define FACTOR(log, t) twiddle[(1 << ((log)-1)) + (t)]
#endif

/* Forward: (a, b) -> (a + b, (a - b) w). Backward (up): (a, b) -> (a + b conj w, a - b conj w). */
#define BUTTERFLY(a, b, w)                                        \
    {                                                             \
        const real2 w_ = w, u_ = a;                               \
        const real2 v_ = up ? cmul(b, (real2)(w_.x, -w_.y)) : b; \
        const real2 d_ = u_ - v_;                                 \
        a = u_ + v_;                                              \
        b = up ? d_ : cmul(d_, w_);                              \
    }

/* The point q * part further than one at SWIZZLE(point) = `at` that has none of the bits of q * part. */
#define TAKE(v, q) real2 v = z[at ^ SWIZZLE((q)*part)];
#define PUT(v, q) z[at ^ SWIZZLE((q)*part)] = v;

/* Three levels at once, on eight points in registers; the largest butterflies span 2^top points. t: of 2^log / 8. */
ALWAYS_INLINED void pass_8(local real2 *z, int t, int top, global const real2 *twiddle)
{
    const int up = 0, part = 1 << (top - 3), offset = t & (part - 1), at = SWIZZLE((t >> (top - 3)) << top | offset);
    TAKE(a, 0)
    TAKE(b, 1)
    TAKE(c, 2) TAKE(d, 3) TAKE(e, 4) TAKE(f, 5) TAKE(g, 6) TAKE(h, 7)
#define LEVEL_0                                      \
    BUTTERFLY(a, e, FACTOR(top, offset))             \
    BUTTERFLY(b, f, FACTOR(top, offset + part))      \
    BUTTERFLY(c, g, FACTOR(top, offset + 2 * part))  \
    BUTTERFLY(d, h, FACTOR(top, offset + 3 * part))
#define LEVEL_1                                      \
    BUTTERFLY(a, c, FACTOR(top - 1, offset))         \
    BUTTERFLY(b, d, FACTOR(top - 1, offset + part))  \
    BUTTERFLY(e, g, FACTOR(top - 1, offset))         \
    BUTTERFLY(f, h, FACTOR(top - 1, offset + part))
#define LEVEL_2                              \
    BUTTERFLY(a, b, FACTOR(top - 2, offset)) \
    BUTTERFLY(c, d, FACTOR(top - 2, offset)) \
    BUTTERFLY(e, f, FACTOR(top - 2, offset)) \
    BUTTERFLY(g, h, FACTOR(top - 2, offset))
    LEVEL_0 LEVEL_1 LEVEL_2
    PUT(a, 0) PUT(b, 1) PUT(c, 2) PUT(d, 3) PUT(e, 4) PUT(f, 5) PUT(g, 6) PUT(h, 7)
}

/* Two levels, on four points of a part of 2^top, at distances of `part`; the first at `offset` of its part. */
ALWAYS_INLINED void butterflies_4(local real2 *z, int at, int part, int top, int offset, global const real2 *twiddle,
                                  int up)
{
    TAKE(a, 0)
    TAKE(b, 1)
    TAKE(c, 2)
    TAKE(d, 3)
    if (up) {
        BUTTERFLY(a, b, FACTOR(top - 1, offset))
        BUTTERFLY(c, d, FACTOR(top - 1, offset))
    }
    BUTTERFLY(a, c, FACTOR(top, offset))
    BUTTERFLY(b, d, FACTOR(top, offset + part))
    if (!up) {
        BUTTERFLY(a, b, FACTOR(top - 1, offset))
        BUTTERFLY(c, d, FACTOR(top - 1, offset))
    }
    PUT(a, 0)
    PUT(b, 1)
    PUT(c, 2)
    PUT(d, 3)
}

/* Two levels, on four points. t: of 2^log / 4. */
ALWAYS_INLINED void pass_4(local real2 *z, int t, int top, global const real2 *twiddle, int up)
{
    const int part = 1 << (top - 2), offset = t & (part - 1);
    butterflies_4(z, SWIZZLE((t >> (top - 2)) << top | offset), part, top, offset, twiddle, up);
}

/* Values of a line that a work-item loads at once; lines of launches of several parts are short. */
#if ONE_LAUNCH
#define AHEAD 1
#else
#define AHEAD 4
#endif

/* Along x: the ends of a line, and its unknowns, `count` nodes from `first` on. A work-group has PAIRS_X pairs of
 * lines, and ROOM points of local memory for each. Tables: those of the host's spectral_plan.h, forward or back. */
typedef struct axis {
    int odd, first, count, twice_low, twice_high;
} axis;
typedef struct tables {
    global const real2 *twiddle;
    global const int *pick;
    global const real2 *chirp, *spectrum;
    global const real *sums;
} tables;

/* Lines in global memory: value number q of line n at first[n * apart + q]. Of these lines those from `begin`, 0 or 1,
 * to `end` are there. Values at their ends are multiplied by two where the flags say so. */
typedef struct lines {
    index_t first, apart;
    int count, begin, end;
    int twice_low, twice_high;
    int mirrored;
} lines;
/* Which end of a line is mirrored; or it has coefficients of odd wave numbers alone. */
enum { MIRRORED_HIGH = 1, MIRRORED_LOW, ODD_WAVES };

/* Which lines of a pair are there. */
static inline int first_is_there(lines l, int pair) { return (2 * pair >= l.begin) & (2 * pair < l.end); }
static inline int second_is_there(lines l, int pair) { return 2 * pair + 1 < l.end; }

static inline real weight(lines l, int number)
{
    return (number == 0 && l.twice_low) || (number == l.count - 1 && l.twice_high) ? 2 : 1;
}

/* One fold over 2 M intervals, of a = f[j], b = f[M - j], c = f[M + j], d = f[2 M - j]; w = exp(-i pi j / 2 M). In
 * place of a, b: what is to be folded again; of c, d: points j and M - j of the transform. */
ALWAYS_INLINED void fold(real2 *a, real2 *b, real2 *c, real2 *d, real2 w, int odd)
{
    const real mirror = odd ? 1 : -1;
    const real2 far = mirror * *d, near = mirror * *c, outer = *a + far, inner = *b + near;
    const real2 u = odd ? inner : outer, v = odd ? outer : inner;
    *a = *a - far;
    *b = *b - near;
    *c = cmul((real2)(u.x + v.y, u.y - v.x), (real2)(w.x, -w.y));
    *d = cmul((real2)(v.x + u.y, v.y - u.x), (real2)(-w.y, w.x));
}

#define ARE_THREE(levels) (LEVELS_X == 3 && (levels) == 3)

/* Levels of block 0, 2^top points that are still to be folded, on the points that belong together:
 * a[r] = f[r part + k] and b[r] = f[(r + 1) part - k], part = 2^top >> levels, k = 0 ... part / 2. No loops: compilers
 * keep in registers what has an index that is a number in the text. */
ALWAYS_INLINED void fold_levels(real2 a[8], real2 b[8], int k, int top, int levels, global const real2 *twiddle,
                                int odd)
{
    const int up = 0, part = 1 << (top - levels);
#define FOLD_POINTS(n, log, r) \
    fold(&a[r], &b[(n) / 2 - 1 - (r)], &a[(n) / 2 + (r)], &b[(n)-1 - (r)], FACTOR(log, k + (r)*part), odd);
#define BESIDE_FOLD(block, n, log, r)                                                              \
    BUTTERFLY(a[(block) + (r)], a[(block) + (n) / 2 + (r)], FACTOR(log, k + (r)*part))             \
    BUTTERFLY(b[(block) + (r)], b[(block) + (n) / 2 + (r)], FACTOR(log, ((r) + 1) * part - k))
    if (ARE_THREE(levels)) {
        FOLD_POINTS(8, top + 1, 0)
        FOLD_POINTS(8, top + 1, 1)
        FOLD_POINTS(8, top + 1, 2)
        FOLD_POINTS(8, top + 1, 3)
        BESIDE_FOLD(4, 4, top - 1, 0)
        BESIDE_FOLD(4, 4, top - 1, 1)
    }
    const int left = ARE_THREE(levels) ? top - 1 : top;
    if (levels >= 2) {
        FOLD_POINTS(4, left + 1, 0)
        FOLD_POINTS(4, left + 1, 1)
        BESIDE_FOLD(2, 2, left - 1, 0)
    }
    if (ARE_THREE(levels)) {
        BESIDE_FOLD(4, 2, left - 1, 0)
        BESIDE_FOLD(6, 2, left - 1, 0)
    }
    FOLD_POINTS(2, top + 2 - levels, 0)
}

/* `each` for every part. */
#define EACH_PART(levels, each)                     \
    each(0) each(1)                                 \
    if ((levels) >= 2) { each(2) each(3) }          \
    if (ARE_THREE(levels)) { each(4) each(5) each(6) each(7) }

/* Where k = 0 the points of b are those of a, but for the line's end: it stands behind the others, at 2^log. */
ALWAYS_INLINED void put_folded(local real2 *z, real2 a[8], real2 b[8], int k, int log, int top, int levels, int odd)
{
    const int part = 1 << (top - levels), at = SWIZZLE(k), mirrored = SWIZZLE(part - k);
    if (k == 0 && !odd) {
        const real2 low = a[0], high = b[0]; /* over one interval, the last fold, the transform is sum and difference */
        a[0] = top == levels ? low + high : low;
        z[1 << log] = top == levels ? low - high : high;
    }
#define PUT_A(r) z[at ^ SWIZZLE((r)*part)] = a[r];
#define PUT_B(r) z[mirrored ^ SWIZZLE((r)*part)] = b[r];
    EACH_PART(levels, PUT_A)
    if (k > 0) {
        EACH_PART(levels, PUT_B)
    }
}

/* The value at point m of a transform, -1: zero. */
static inline int value_at(lines l, int m, int odd)
{
    const int from_mirror = (int)abs(l.count - m), coefficient = m / 2;
    const int mirrored = MIRRORED_X ? l.mirrored : 0;
    if (!mirrored)
        return m - odd < l.count ? m - odd : -1;
    if (mirrored == ODD_WAVES)
        return m % 2 && coefficient < l.count ? coefficient : -1;
    return from_mirror >= l.count ? -1 : mirrored == MIRRORED_LOW ? from_mirror : l.count - 1 - from_mirror;
}

/* Point m of the lines of a pair, multiplied by its chirp. `ends`: it may be one that is no value, or counts twice. */
ALWAYS_INLINED real2 point(global const real *values, lines l, int pair, int m, int odd, int ends, int chirps,
                           global const real2 *chirp)
{
    const int mirrored = MIRRORED_X ? l.mirrored : 0, any = ends | mirrored;
    const int number = any ? value_at(l, m, odd) : m - odd, line = 2 * pair;
    /* Of a convolution half of the points or more are none; of other lines two, for which a branch costs more. */
    if ((chirps | mirrored) && number < 0)
        return (real2)(0);
    const index_t at = l.first + line * l.apart + (any ? max(number, 0) : number);
    const real2 v = (real2)(first_is_there(l, pair) ? values[at] : 0,
                            second_is_there(l, pair) ? values[at + l.apart] : 0);
    if (!any)
        return v;
    if (number < 0)
        return (real2)(0);
    return chirps ? cmul(weight(l, number) * v, chirp[m]) : weight(l, number) * v;
}

/* Levels of the first pass, on the way from global to local memory: as many as do not make whole passes of `levels`,
 * two or three. Three have fewer barriers and take more registers. */
#define FIRST_PASS (LOG_X % LEVELS_X ? LOG_X % LEVELS_X : LEVELS_X)

ALWAYS_INLINED void fold_lines(global const real *values, lines l, int pairs, int log, int levels, int odd, int chirps,
                               global const real2 *twiddle, global const real2 *chirp, local real2 *z, int room)
{
    const int parts = 1 << levels, part = 1 << (log - levels), tasks = part / 2 + 1;
    FOR_ITEMS(t, pairs * tasks)
    {
        const int pair = t / tasks, k = t % tasks;
        real2 a[8], b[8];
#define LOAD_POINTS(r)                                                                            \
    a[r] = point(values, l, pair, (r)*part + k, odd, chirps || (r) == 0, chirps, chirp);          \
    b[r] = point(values, l, pair, ((r) + 1) * part - k, odd, chirps || (r) == parts - 1, chirps, chirp);
        EACH_PART(levels, LOAD_POINTS)
        fold_levels(a, b, k, log, levels, twiddle, odd);
        put_folded(z + pair * room, a, b, k, log, log, levels, odd);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* global: results may overwrite what other work-items read */
}

#define SHARES (1 << SHARE_LOG)

/* Points j and 2^LOG_X - j, j at most half of that, of block number `share` of a pair of lines. */
ALWAYS_INLINED void share_points(global const real *values, lines l, int share, int j, int odd,
                                 global const real2 *twiddle, real2 *near, real2 *far)
{
    const int parts = SHARES, part = 1 << LOG_X, k = j;
    real2 a[8], b[8];
#define LOAD_ENDS(r)                                                                \
    a[r] = point(values, l, 0, (r)*part + k, odd, (r) == 0, 0, 0);                  \
    b[r] = point(values, l, 0, ((r) + 1) * part - k, odd, (r) == parts - 1, 0, 0);
    EACH_PART(SHARE_LOG, LOAD_ENDS)
    fold_levels(a, b, k, LOG_X + SHARE_LOG, SHARE_LOG, twiddle, odd);
    *near = share == 0 ? a[0] : a[1];
    *far = share == 0 ? b[0] : b[1];
    if (SHARE_LOG == 2 && share > 1) {
        *near = share == 2 ? a[2] : a[3];
        *far = share == 2 ? b[2] : b[3];
    }
}

/* The first pass over a share. */
ALWAYS_INLINED void fold_share(global const real *values, lines l, int share, int levels, int odd,
                               global const real2 *twiddle, local real2 *z)
{
    const int up = 0, log = LOG_X, part = 1 << (log - levels);
    FOR_ITEMS(k, part / 2 + 1)
    {
        real2 a[8], b[8];
#define SHARE_POINTS(n, r)                                                                       \
    share_points(values, l, share, (r)*part + k, odd, twiddle, &a[r], &b[(n)-1 - (r)]);          \
    share_points(values, l, share, ((r) + 1) * part - k, odd, twiddle, &b[r], &a[(n)-1 - (r)]);
        SHARE_POINTS(1 << levels, 0)
        if (levels >= 2) {
            SHARE_POINTS(1 << levels, 1)
        }
        if (ARE_THREE(levels)) {
            SHARE_POINTS(8, 2)
            SHARE_POINTS(8, 3)
        }
        if (share == 0) {
            fold_levels(a, b, k, log, levels, twiddle, odd);
            put_folded(z, a, b, k, log, log, levels, odd);
        } else {
            const int left = ARE_THREE(levels) ? log - 1 : log;
            if (ARE_THREE(levels)) {
                BESIDE_FOLD(0, 8, log, 0)
                BESIDE_FOLD(0, 8, log, 1)
                BESIDE_FOLD(0, 8, log, 2)
                BESIDE_FOLD(0, 8, log, 3)
                BESIDE_FOLD(4, 4, left, 0)
                BESIDE_FOLD(4, 4, left, 1)
            }
            if (levels >= 2) {
                BESIDE_FOLD(0, 4, left, 0)
                BESIDE_FOLD(0, 4, left, 1)
                BESIDE_FOLD(2, 2, left - 1, 0)
            }
            BESIDE_FOLD(0, 2, log + 1 - levels, 0)
            if (ARE_THREE(levels)) {
                BESIDE_FOLD(4, 2, left - 1, 0)
                BESIDE_FOLD(6, 2, left - 1, 0)
            }
            put_folded(z, a, b, k, log, log, levels, 1); /* a transform has nothing behind it */
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* A pass over what is left to be folded, number k of 2^top >> levels parts. */
ALWAYS_INLINED void fold_pass(local real2 *z, int k, int log, int top, int levels, int odd, global const real2 *twiddle)
{
    const int last = (1 << levels) - 1, part = 1 << (top - levels);
    const int at = SWIZZLE(k), mirrored = SWIZZLE(part - k);
    real2 a[8], b[8];
#define TAKE_A(r) a[r] = z[at ^ SWIZZLE((r)*part)];
#define TAKE_B(r)                                       \
    b[r] = k > 0        ? z[mirrored ^ SWIZZLE((r)*part)] \
           : (r) < last ? a[((r) + 1) & 7]              \
           : odd        ? (real2)(0)                    \
                        : z[1 << log];
    EACH_PART(levels, TAKE_A)
    EACH_PART(levels, TAKE_B)
    fold_levels(a, b, k, top, levels, twiddle, odd);
    put_folded(z, a, b, k, log, top, levels, odd);
}

/* Of the lines that come of one, those behind number m / 2 are odd where it is not. */
#define CHANGES(number, m) ((number) > (m) / 2)
/* Whether a line is odd: all are alike, but for those that a pair is split into. */
ALWAYS_INLINED int is_odd(axis a, int line)
{
    if (SPLIT_X == 1)
        return a.odd;
    const int number = line % (SPLIT_X * THEN_SPLIT_X);
    return a.odd ^ CHANGES(number / THEN_SPLIT_X, SPLIT_X) ^ CHANGES(number % THEN_SPLIT_X, THEN_SPLIT_X);
}

/* The others, two levels at a time. `folds`: a line's, not those of a transform. */
ALWAYS_INLINED void fold_rest_4(local real2 *z, int room, int lines, int first_top, axis a, int folds,
                                global const real2 *twiddle)
{
    const int log = LOG_X;
    ROLLED
    for (int top = first_top; top > 0; top -= 2) {
        const int part = folds ? 1 << (top - 2) : 0;
        FOR_ITEMS(t, lines << (log - 2))
        {
            const int line = t >> (log - 2), task = t & ((1 << (log - 2)) - 1);
            local real2 *own = z + line * room;
            if (task >= part)
                pass_4(own, task, top, twiddle, 0);
            else if (2 * task <= part)
                fold_pass(own, task, log, top, 2, is_odd(a, line), twiddle);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Three at a time. What is folded is work for other warps than what is not. */
ALWAYS_INLINED void fold_rest(local real2 *z, int log, int first_top, int odd, int folds, global const real2 *twiddle)
{
    ROLLED
    for (int top = first_top; top > 0; top -= 3) {
        const int eighth = folds ? 1 << (top - 3) : 0, others = (1 << (log - 3)) - eighth;
        const int first = NEXT_WARP(others);
        FOR_ITEMS(t, folds ? first + eighth / 2 + 1 : others)
        {
            if (t < others)
                pass_8(z, t + eighth, top, twiddle);
            else if (t >= first)
                fold_pass(z, t - first, log, top, 3, odd, twiddle);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* The conjugate transpose of fold(); and of what it does where k = 0: `end` is what stands behind the line. */
ALWAYS_INLINED void unfold(real2 *a, real2 *b, real2 *c, real2 *d, real2 w, int odd)
{
    const real2 p = cmul(*c, w), q = cmul(*d, (real2)(w.x, -w.y));
    const real2 sum = p + q, difference_i = (real2)(q.y - p.y, p.x - q.x);
    const real2 outer = odd ? difference_i : sum, inner = odd ? sum : difference_i;
    *c = odd ? inner - *b : *b - inner;
    *d = odd ? outer - *a : *a - outer;
    *a = *a + outer;
    *b = *b + inner;
}
ALWAYS_INLINED void unfold_end(real2 *low, real2 *middle, real2 *end, int odd)
{
    const real2 from_low = *low, from_middle = *middle, from_end = *end;
    *low = odd ? from_low : from_low + from_middle;
    *end = odd ? from_end : from_low - from_middle;
    *middle = odd ? from_middle + from_middle : from_end + from_end;
}

/* What fold_pass() did, undone: one level or two. */
ALWAYS_INLINED void unfold_pass(local real2 *z, int k, int log, int top, int levels, int odd,
                                global const real2 *twiddle)
{
    const int up = 1, last = (1 << levels) - 1, part = 1 << (top - levels);
    const int at = SWIZZLE(k), mirrored = SWIZZLE(part - k);
    real2 a[8], b[8];
    EACH_PART(levels, TAKE_A)
    if (k == 0) {
        real2 end = odd ? (real2)(0) : z[1 << log];
        if (!odd && top == levels) {
            const real2 low = a[0];
            a[0] = low + end;
            end = low - end;
        }
        unfold_end(&a[0], &a[1], &end, odd);
        if (levels == 2) {
            BUTTERFLY(a[2], a[3], FACTOR(top - 1, 0))
            unfold_end(&a[0], &a[2], &end, odd);
            b[1] = a[1]; /* these are in the middle, where each of two is its own mirror image */
            b[3] = a[3];
            unfold(&a[1], &b[1], &a[3], &b[3], FACTOR(top + 1, part), odd);
        }
        if (!odd)
            z[1 << log] = end;
    } else {
        EACH_PART(levels, TAKE_B)
#define UNFOLD_POINTS(n, log, r) \
    unfold(&a[r], &b[(n) / 2 - 1 - (r)], &a[(n) / 2 + (r)], &b[(n)-1 - (r)], FACTOR(log, k + (r)*part), odd);
        UNFOLD_POINTS(2, top + 2 - levels, 0)
        if (levels == 2) {
            BESIDE_FOLD(2, 2, top - 1, 0)
            UNFOLD_POINTS(4, top + 1, 0)
            UNFOLD_POINTS(4, top + 1, 1)
        }
        EACH_PART(levels, PUT_B)
    }
    EACH_PART(levels, PUT_A)
}

/* The last pass, over whole lines. */
ALWAYS_INLINED void unfold_lines(local real2 *z, int room, int pairs, int log, int levels, int odd,
                                 global const real2 *twiddle)
{
    const int tasks = (1 << (log - levels)) / 2 + 1;
    FOR_ITEMS(t, pairs * tasks)
    unfold_pass(z + t / tasks * room, t % tasks, log, log, levels, odd, twiddle);
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Values times their chirps that are folded, to be multiplied by the chirps of the results. */
ALWAYS_INLINED void convolve(local real2 *z, int room, int pairs, int log, int odd, global const real2 *twiddle,
                             global const real2 *spectrum)
{
    FOR_ITEMS(t, pairs << log)
    {
        local real2 *own = z + (t >> log) * room;
        const int p = t & ((1 << log) - 1);
        own[SWIZZLE(p)] = cmul(own[SWIZZLE(p)], spectrum[p]);
        if (!odd && p == 0)
            own[1 << log] = cmul(own[1 << log], spectrum[1 << log]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    ROLLED
    for (int top = 2; top <= log - FIRST_PASS; top += 2) {
        const int part = 1 << (top - 2);
        FOR_ITEMS(t, pairs << (log - 2))
        {
            local real2 *own = z + (t >> (log - 2)) * room;
            const int task = t & ((1 << (log - 2)) - 1);
            if (task >= part)
                pass_4(own, task, top, twiddle, 1);
            else if (2 * task <= part)
                unfold_pass(own, task, log, top, 2, odd, twiddle);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (FIRST_PASS == 1)
        unfold_lines(z, room, pairs, log, 1, odd, twiddle);
    else
        unfold_lines(z, room, pairs, log, 2, odd, twiddle);
}

/* ---------------------------------------------------------------------------------------------- lines that are split
 *
 * Where point p of a line of 2^log intervals stands: the end behind the others. */
#define PLACE(p, log) ((p) >> (log) ? (p) : SWIZZLE(p))
/* Cosines and sines of a row of the table of sums: each filled up to a multiple of four. */
#define SUMS(m) (4 * ((m) / 2 / 4 + 1 + ((m) / 2 + 3) / 4))

/* Point i of a line that goes on beyond its ends: of it, or with the other sign. */
static inline int point_beyond(int intervals, int i) { return i < 0 ? -i : i > intervals ? 2 * intervals - i : i; }
static inline real sign_beyond(int intervals, int odd, int i) { return odd && (i < 0 || i > intervals) ? -1 : 1; }

/* What the sums are made of that split a line of I intervals into m: at n = 0 ... m / 2 and j = 0 ... I / m of m lines
 * of so many points in `to`. */
#define PUT_PARTS(from_point)                                                                                    \
    {                                                                                                            \
        const int i = m * j + 2 * shorter * n, opposite = m * j - 2 * shorter * n;                               \
        const real2 up = sign_beyond(intervals, odd, i) * from_point(point_beyond(intervals, i));                \
        const real2 down = sign_beyond(intervals, odd, opposite) *                                               \
                           from_point(point_beyond(intervals, opposite));                                        \
        to[n * points + j] = n == 0 ? up : up + down;                                                            \
        if (n > 0)                                                                                               \
            to[(m / 2 + n) * points + j] = up - down;                                                            \
    }

/* Sums over n of `lines` times m lines of so many points in `work`, to as many in z, whose points are to stand in
 * different banks if they are 2^log and one: four a work-item, which share what they load. */
ALWAYS_INLINED void sum_parts(local const real2 *work, int lines, int m, int points, global const real *sums,
                              local real2 *z, int log)
{
    const int highest = m / 2, cosines = highest / 4 + 1, fours = SUMS(m) / 4;
    FOR_ITEMS(t, lines * fours * points)
    {
        const int line = t / (fours * points), four = t / points % fours, j = t % points, sines = four >= cosines;
        const int first = sines ? highest + 1 + 4 * (four - cosines) : 4 * four, end = sines ? m : highest + 1;
        local const real2 *from = work + (line * m + (sines ? highest : 0)) * points + j;
        local real2 *to = z + (line * m + first) * points + (points == (1 << log) + 1 ? PLACE(j, log) : j);
        const real2 begin = sines ? (real2)(0) : from[0];
        real2 a = begin, b = begin, c = begin, d = begin;
#pragma unroll 4
        for (int n = 1; n <= highest; n++) {
            const real4 by = ((global const real4 *)sums)[(n - 1) * fours + four];
            const real2 v = from[n * points];
            a = fma((real2)(by.x), v, a);
            b = fma((real2)(by.y), v, b);
            c = fma((real2)(by.z), v, c);
            d = fma((real2)(by.w), v, d);
        }
        to[0] = a;
        if (first + 1 < end)
            to[points] = b;
        if (first + 2 < end)
            to[2 * points] = c;
        if (first + 3 < end)
            to[3 * points] = d;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* The same sums for lines of one interval, of which the odd ones are zero, and the transform of the others: sum and
 * difference of their ends. Four lines a work-item. */
ALWAYS_INLINED void sum_ends(local const real2 *work, int lines, int m, int odd, global const real *sums,
                             local real2 *z)
{
    const int highest = m / 2, cosines = highest / 4 + 1, fours = SUMS(m) / 4;
    FOR_ITEMS(t, lines * cosines)
    {
        const int line = t / cosines, sines = odd ^ (lines > 1 && CHANGES(line, lines));
        const int four = t % cosines + (sines ? cosines : 0);
        const int first = sines ? highest + 1 + 4 * (t % cosines) : 4 * four;
        const int count = four < fours ? min((sines ? m : highest + 1) - first, 4) : 0;
        local const real2 *from = work + 2 * (line * m + (sines ? highest : 0));
        local real2 *to = z + 2 * (line * m + first);
        real2 low[4], high[4];
#define FOR_FOUR(body) body(0, x) body(1, y) body(2, z) body(3, w)
#define BEGIN(i, part) low[i] = sines ? (real2)(0) : from[0], high[i] = sines ? (real2)(0) : from[1];
        FOR_FOUR(BEGIN)
#pragma unroll 4
        for (int n = 1; n <= (count > 0 ? highest : 0); n++) {
            const real4 by = ((global const real4 *)sums)[(n - 1) * fours + four];
#define ADD(i, part)                                        \
    low[i] = fma((real2)(by.part), from[2 * n], low[i]);    \
    high[i] = fma((real2)(by.part), from[2 * n + 1], high[i]);
            FOR_FOUR(ADD)
        }
#define STORE_ENDS(i, part)                 \
    if ((i) < count) {                      \
        to[2 * (i)] = low[i] + high[i];     \
        to[2 * (i) + 1] = low[i] - high[i]; \
    }
        FOR_FOUR(STORE_ENDS)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* A pair of lines, as far as its shorter lines are folded for the first time. */
ALWAYS_INLINED void fold_split(global const real *values, lines l, axis a, tables t, local real2 *z)
{
    const int room = (1 << LOG_X) + 1, all = SPLIT_X * THEN_SPLIT_X;
    local real2 *work = z + all * room;
    {
        const int m = SPLIT_X, intervals = LENGTH_X / 2, shorter = intervals / m, points = shorter + 1, odd = a.odd;
        local real2 *to = work;
        FOR_ITEMS(task, (m / 2 + 1) * points)
        {
            const int n = task / points, j = task % points;
#define FROM_GLOBAL(i) point(values, l, 0, i, odd, 1, 0, 0)
            PUT_PARTS(FROM_GLOBAL)
        }
        /* global: results may overwrite what other work-items read */
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if ((LOG_X == 0) & (THEN_SPLIT_X == 1))
            sum_ends(work, 1, m, odd, t.sums, z);
        else
            sum_parts(work, 1, m, points, t.sums, z, LOG_X);
    }
    if (THEN_SPLIT_X > 1) {
        const int m = THEN_SPLIT_X, intervals = LENGTH_X / 2 / SPLIT_X, shorter = intervals / m, points = shorter + 1;
        FOR_ITEMS(task, SPLIT_X * (m / 2 + 1) * points)
        {
            const int line = task / ((m / 2 + 1) * points), n = task / points % (m / 2 + 1), j = task % points;
            const int odd = a.odd ^ CHANGES(line, SPLIT_X);
            local const real2 *from = z + line * (intervals + 1);
            local real2 *to = work + line * m * points;
#define FROM_LOCAL(i) from[i]
            PUT_PARTS(FROM_LOCAL)
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        global const real *sums = t.sums + SPLIT_X / 2 * SUMS(SPLIT_X);
        if (LOG_X == 0)
            sum_ends(work, SPLIT_X, m, a.odd, sums, z);
        else
            sum_parts(work, SPLIT_X, m, points, sums, z, LOG_X);
    }
    if (LOG_X == 0)
        return;
    const int tasks = (1 << max(LOG_X - FIRST_PASS, 0)) / 2 + 1;
    FOR_ITEMS(task, all * tasks)
    {
        const int line = task / tasks;
        if (FIRST_PASS == 1)
            fold_pass(z + line * room, task % tasks, LOG_X, LOG_X, 1, is_odd(a, line), t.twiddle);
        else
            fold_pass(z + line * room, task % tasks, LOG_X, LOG_X, 2, is_odd(a, line), t.twiddle);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* share: which one of the line's, of several work-groups. */
ALWAYS_INLINED void transform(global const real *values, lines l, axis a, tables t, int share, local real2 *z)
{
    if ((SHARES > 1) & (FIRST_PASS == 1))
        fold_share(values, l, share, 1, a.odd, t.twiddle, z);
    else if ((SHARES > 1) & (FIRST_PASS == 2))
        fold_share(values, l, share, 2, a.odd, t.twiddle, z);
    else if (SHARES > 1)
        fold_share(values, l, share, 3, a.odd, t.twiddle, z);
    else if (SPLIT_X > 1)
        fold_split(values, l, a, t, z);
    else if (FIRST_PASS == 1)
        fold_lines(values, l, PAIRS_X, LOG_X, 1, a.odd, CHIRP_X, t.twiddle, t.chirp, z, ROOM);
    else if (FIRST_PASS == 2)
        fold_lines(values, l, PAIRS_X, LOG_X, 2, a.odd, CHIRP_X, t.twiddle, t.chirp, z, ROOM);
    else
        fold_lines(values, l, PAIRS_X, LOG_X, 3, a.odd, CHIRP_X, t.twiddle, t.chirp, z, ROOM);
    if (LEVELS_X == 2)
        fold_rest_4(z, SPLIT_X > 1 ? (1 << LOG_X) + 1 : ROOM, SPLIT_X > 1 ? SPLIT_X * THEN_SPLIT_X : PAIRS_X,
                    LOG_X - FIRST_PASS, a, share == 0, t.twiddle);
    else
        fold_rest(z, LOG_X, LOG_X - FIRST_PASS, a.odd, share == 0, t.twiddle);
    if (CHIRP_X)
        convolve(z, ROOM, PAIRS_X, LOG_X, a.odd, t.twiddle, t.spectrum);
}

/* What stands at a place of `pick`, of both lines. */
ALWAYS_INLINED real2 term(local const real2 *z, int place)
{
    const int at = (int)abs(place) - 1, points = (1 << LOG_X) + 1;
    const int line = SPLIT_X > 1 ? at / points : 0;
    const real2 v = z[line * points + PLACE(at - line * points, LOG_X)];
    return place < 0 ? -v : v;
}

/* v and the next term, if there is one. */
ALWAYS_INLINED real2 with_term(real2 v, local const real2 *z, int place)
{
    return place == 0 ? v : v + term(z, place);
}

/* Result number q, whose first term is at `place`: the transform is S_b - i S_a for odd lines that are convolved, else
 * C_a + i C_b. */
ALWAYS_INLINED real2 result(local const real2 *z, int place, int q, axis a, tables t)
{
    real2 v = term(z, place);
    if (SPLIT_X > 1)
        v = with_term(v, z, t.pick[a.count + q]);
    if (THEN_SPLIT_X > 1) {
        v = with_term(v, z, t.pick[2 * a.count + q]);
        v = with_term(v, z, t.pick[3 * a.count + q]);
    }
    if (CHIRP_X)
        v = cmul(v, t.chirp[LENGTH_X / 2 + place]);
    return CHIRP_X && a.odd ? (real2)(-v.y, v.x) : v;
}

/* What stands at `place` of the line by its place in this share, in the form of `pick`; 0: it is another's. The line's
 * end is the first one's. */
static inline int place_in_share(int place, int share)
{
    const int at = (int)abs(place) - 1, end = at == SHARES << LOG_X;
    const int within = end ? 1 << LOG_X : at & ((1 << LOG_X) - 1);
    const int own = (end ? 0 : at >> LOG_X) == share ? within + 1 : 0;
    return place < 0 ? -own : own;
}

/* Writes the results to lines, of a share its own. With `adds` the values of `plus` at the same places are added. */
ALWAYS_INLINED void store(global real *values, lines l, axis along, tables t, int share, int adds,
                          global const real *plus, local const real2 *z)
{
    const int all = PAIRS_X * l.count;
    for (int begin = (int)get_local_id(0); begin < all; begin += AHEAD * (int)get_local_size(0)) {
        int place[AHEAD];
#pragma unroll
        for (int n = 0; n < AHEAD; n++) {
            const int of_line = t.pick[min(begin + n * (int)get_local_size(0), all - 1) % l.count];
            place[n] = SHARES > 1 ? place_in_share(of_line, share) : of_line;
        }
#pragma unroll
        for (int n = 0; n < AHEAD; n++) {
            const int task = begin + n * (int)get_local_size(0), q = task % l.count, pair = task / l.count;
            const index_t at = l.first + 2 * pair * l.apart + q;
            if (task < all && 2 * pair < l.end && ((SHARES == 1) | (place[n] != 0))) {
                real2 v = result(z + pair * ROOM, place[n], q, along, t);
                if (adds)
                    v = v + (real2)(plus[at], second_is_there(l, pair) ? plus[at + l.apart] : 0);
                if (first_is_there(l, pair))
                    values[at] = v.x;
                if (second_is_there(l, pair))
                    values[at + l.apart] = v.y;
            }
        }
    }
}

/* Rows of the box from number `row` on, which is even, so that the same rows are pairs wherever boxes are cut; of them
 * those from `begin` to `end` are there. Values count twice at a mirrored end because the stencil halves them;
 * coefficients on their way back begin at the grid's first node, so that vectors of them are aligned. */
ALWAYS_INLINED lines take_rows(axis x, int back, int row, int begin, int end)
{
    return (lines){ AT(back ? 0 : x.first, row),
                    PITCH,
                    x.count,
                    row < begin,
                    end - row,
                    back ? 0 : x.twice_low,
                    back ? 0 : x.twice_high,
                    MIRRORED_X && back ? ODD_WAVES : MIRRORED_X };
}
