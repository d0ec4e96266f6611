/* xray_reference.c: the history of photons in plain C; kernels/xray.cl has the numbers of the equations. Compiled for
 * float and for double. Formulas are the kernel's in the same association, so that both give the same bits, photon by
 * photon: this proves the port, the analytic tests prove the scheme. The device's integers modulo 2^64 are uint64_t
 * here. */
#include "sim/reference.h"
#include "xray.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if BN_REFERENCE_BYTES == 8
#define SQRT sqrt
#define FLOOR floor
#define RINT llrint
enum { MANTISSA = 52, BIAS = 1023 };
typedef uint64_t real_bits;
#else
#define SQRT sqrtf
#define FLOOR floorf
#define RINT llrintf
enum { MANTISSA = 23, BIAS = 127 };
typedef uint32_t real_bits;
#endif

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The largest real that an int holds; twice it, rounded, is what a word of 32 bits holds. */
static const real largest = BN_REFERENCE_BYTES == 8 ? REAL(2147483647.0) : REAL(2147483520.0);
static const real per_word = REAL(2.3283064365386963e-10), per_direction = REAL(4.656612873077393e-10);

typedef struct reference {
    const xray_config *config;
    const xray_volume *volume;
    const xray_integers *units;
    const int32_t *directions; /* of the detector's cells */
    struct {
        XRAY_CONSTANTS(BN_CONSTANT_REAL)
    } k;
    int64_t *image;   /* per cell: real part, imaginary part, photons, one left free */
    int64_t *counted; /* per cell of the density's box; NULL: without detector.volume */
    real *optical, *majorant, *angle;
} reference;

/* Philox4x32-10: Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3 (SC 2011). */
static void philox(const uint32_t counter[4], uint64_t seed, uint32_t out[4])
{
    uint32_t c[4] = { counter[0], counter[1], counter[2], counter[3] };
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        const uint64_t p = (uint64_t)0xD2511F53u * c[0], q = (uint64_t)0xCD9E8D57u * c[2];
        c[0] = (uint32_t)(q >> 32) ^ c[1] ^ k0;
        c[1] = (uint32_t)q;
        c[2] = (uint32_t)(p >> 32) ^ c[3] ^ k1;
        c[3] = (uint32_t)p;
    }
    memcpy(out, c, sizeof c);
}

static real middle_of(uint32_t w) { return (real)w + REAL(0.5); }

/* Horner's rule from the last coefficient. */
static real polynomial(const real *c, size_t count, real x)
{
    real sum = c[count - 1];
    for (size_t i = count - 1; i-- > 0;)
        sum = FMA(sum, x, c[i]);
    return sum;
}

/* Cosine and sine of an angle in units of 2 pi / 2^32, from those of at most a quarter of a revolution: Taylor's
 * series, or in single precision the polynomials whose largest errors are least. */
static real cos_sin(uint32_t angle, real *sine)
{
    static const real c[] = {
        REAL(1.0),
        REAL(-0.5),
#if BN_REFERENCE_BYTES == 8
        0.041666666666666664,
        -0.001388888888888889,
        2.48015873015873e-05,
        -2.755731922398589e-07,
        2.08767569878681e-09,
        -1.1470745597729725e-11,
        4.779477332387385e-14,
        -1.5619206968586225e-16,
        4.110317623312165e-19
#else
        0.0416666381f,
        -0.00138883619f,
        2.4760162e-05f,
        -2.60514952e-07f
#endif
    };
    static const real s[] = {
#if BN_REFERENCE_BYTES == 8
        -0.16666666666666666,
        0.008333333333333333,
        -0.0001984126984126984,
        2.7557319223985893e-06,
        -2.505210838544172e-08,
        1.6059043836821613e-10,
        -7.647163731819816e-13,
        2.8114572543455206e-15,
        -8.22063524662433e-18,
        1.9572941063391263e-20
#else
        -0.166666478f,
        0.00833289977f,
        -0.000198008973f,
        2.59048852e-06f
#endif
    };
    const bool back = angle - 0x40000000u < 0x80000000u;
    const real x = (real)(int32_t)(back ? angle - 0x80000000u : angle) * REAL(1.4629180792671596e-09), x2 = x * x;
    const real over = FMA(polynomial(s, COUNT(s), x2) * x2, x, x), along = polynomial(c, COUNT(c), x2);
    *sine = back ? -over : over;
    return back ? -along : along;
}

/* Exponent and mantissa in [1, 2) of a positive number. */
static int split(real v, real *m)
{
    real_bits bits;
    memcpy(&bits, &v, sizeof bits);
    const int exponent = (int)(bits >> MANTISSA) - BIAS;
    bits = (bits & (((real_bits)1 << MANTISSA) - 1)) | (real_bits)BIAS << MANTISSA;
    memcpy(m, &bits, sizeof bits);
    return exponent;
}

/* ln m = 2 artanh((m - 1) / (m + 1)) and its series, artanh z = z (1 + z^2 / 3 + ...). */
static const real artanh[] = { REAL(1.0),
                               REAL(0.3333333333333333),
                               REAL(0.2),
                               REAL(0.14285714285714285),
                               REAL(0.1111111111111111),
#if BN_REFERENCE_BYTES == 8
                               0.09090909090909091,
                               0.07692307692307693,
                               0.06666666666666667,
                               0.058823529411764705,
                               0.05263157894736842,
                               0.047619047619047616,
                               0.043478260869565216
#endif
};

/* -ln((w + 1/2) / 2^32), equation (1). */
static real exponential(uint32_t w)
{
    real m;
#if BN_REFERENCE_BYTES == 8
    int exponent = split(middle_of(w), &m);
    if (m > REAL(1.4142135)) {
        m = REAL(0.5) * m;
        exponent++;
    }
    const real z = (m - 1) / (m + 1);
    return (real)(32 - exponent) * REAL(0.6931471805599453) - 2 * z * polynomial(artanh, COUNT(artanh), z * z);
#else /* ln(1 + f) / f, f from the root of 1/2 to that of 2, less 1: the largest relative error is least */
    static const real c[] = { 1.0f,          -0.499999881f, 0.333341867f,  -0.250020742f, 0.199568331f,
                              -0.165623933f, 0.149522662f,  -0.143668443f, 0.0872235774f };
    int exponent = split(middle_of(w), &m);
    if (m >= 1.41421354f) { /* the float nearest to the root of 2, by whose bits the kernel divides */
        m = 0.5f * m;
        exponent++;
    }
    const real f = m - 1;
    return FMA((real)(exponent - 32) * 8388608.0f, -8.26295832e-08f, -f * polynomial(c, COUNT(c), f));
#endif
}

/* log10 to some six digits. */
static real decades(real x)
{
    real m;
    const int exponent = split(x, &m);
    const real z = (m - 1) / (m + 1);
    return (real)exponent * REAL(0.3010299956639812) + REAL(0.8685889638065037) * z * polynomial(artanh, 5, z * z);
}

/* A direction as numbers and as the integers that count for the phase; the polarisation e across it. */
typedef struct direction {
    real d[3], e[3];
    int64_t i[3]; /* 1 - u (of 32 bits), v, w (of 31 bits and a sign) in units of 2^-31 */
} direction;

static real between(real x, real low, real high) { return x < low ? low : x > high ? high : x; }

static void round_direction(direction *a)
{
    const real *d = a->d;
    const real missing = 1 - d[0];
    for (int k = 1; k < 3; k++)
        a->i[k] = RINT(between(d[k] * REAL(2147483648.0), -largest, largest));
    uint64_t m = (uint64_t)RINT(between(missing * REAL(2147483648.0), 0, 2 * largest));
    for (int k = 0; k < 2 && missing < REAL(0.5); k++)
        m = ((uint64_t)(a->i[1] * a->i[1]) + (uint64_t)(a->i[2] * a->i[2]) + 0x80000000u + m * m) >> 32;
    a->i[0] = (int64_t)m;
}

/* 1 - cos theta by (3). */
static real scattering_deficit(const reference *r, uint32_t w)
{
    if (!r->units->angle_bits)
        return middle_of(w) * (r->k.deficit * per_word);
    const uint32_t at = w >> (32 - r->units->angle_bits);
    return FMA(middle_of(w << r->units->angle_bits) * per_word, r->angle[at + 1] - r->angle[at], r->angle[at]);
}

static real dot(const real a[3], const real b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* (4). Without polarisation phi counts from two vectors across the direction (Duff et al. 2017). */
static void scatter(const reference *r, direction *a, const uint32_t words[4], const uint32_t number[4])
{
    real *d = a->d, *e = a->e, next[3], sine;
    const real missing = scattering_deficit(r, words[0]), across = SQRT(missing * (2 - missing)), c = 1 - missing;
    real k = cos_sin(words[1], &sine);
    if (r->config->law == XRAY_POLARISED) {
        for (uint32_t again = 1; again < 64; again++) {
            uint32_t more[4];
            philox((const uint32_t[]){ number[0], number[1], number[2], again }, r->config->seed, more);
            if ((real)(more[0] >> 8) * REAL(5.9604644775390625e-08) < 1 - across * across * (k * k))
                break;
            k = cos_sin(more[1], &sine);
        }
        const real g[3] = { d[1] * e[2] - d[2] * e[1], d[2] * e[0] - d[0] * e[2], d[0] * e[1] - d[1] * e[0] };
        for (int i = 0; i < 3; i++)
            next[i] = d[i] * c + across * (k * e[i] + sine * g[i]);
    } else {
        const real size = d[0] < 0 ? -d[0] : d[0], p = across * k, q = across * sine;
        const real along = FMA(p, d[1], q * d[2]), left = FMA(-along, 1 / (1 + size), c);
        next[1] = FMA(d[1], left, p);
        next[2] = FMA(d[2], left, q);
        next[0] = FMA(d[0], c, d[0] < 0 ? along : -along);
    }
    const real scale = FMA(-REAL(0.5), FMA(next[0], next[0], FMA(next[1], next[1], next[2] * next[2])), REAL(1.5));
    for (int i = 0; i < 3; i++)
        d[i] = next[i] * scale;
    if (r->config->law == XRAY_POLARISED) {
        const real along = dot(e, d);
        real f[3];
        for (int i = 0; i < 3; i++)
            f[i] = e[i] - along * d[i];
        const real size = 1 / SQRT(dot(f, f));
        for (int i = 0; i < 3; i++)
            e[i] = f[i] * size;
    }
    round_direction(a);
}

/* A ray through the blocks of the box: p + t d in cells. */
typedef struct ray {
    real p[3], d[3], t, inverse[3], leave[3];
    int block[3];
} ray;

static int clamped(real value, int low, int high)
{
    const int v = (int)FLOOR(value);
    return v < low ? low : v > high ? high : v;
}

static void find_leave(const reference *r, ray *a, int i)
{
    const int edge = (a->block[i] + (a->d[i] > 0)) * (1 << r->volume->bits[i]), size = (int)r->volume->box[i];
    a->leave[i] = a->d[i] == 0 ? REAL(1e30) : ((real)(edge < size ? edge : size) - a->p[i]) * a->inverse[i];
}

static void enter_blocks(const reference *r, ray *a)
{
    for (int i = 0; i < 3; i++) {
        const int cell = (int)FLOOR(a->p[i] + a->d[i] * a->t) >> r->volume->bits[i];
        a->block[i] = cell < 0 ? 0 : cell >= (int)r->volume->blocks[i] ? (int)r->volume->blocks[i] - 1 : cell;
        a->inverse[i] = a->d[i] == 0 ? 0 : 1 / a->d[i];
        find_leave(r, a, i);
    }
}

/* Moves t to where the ray meets the box; false when it misses it. */
static bool meets_box(const reference *r, ray *a)
{
    real in = 0, out = REAL(1e30);
    for (int i = 0; i < 3; i++) {
        const real size = (real)r->volume->box[i];
        if (a->d[i] == 0) {
            if (a->p[i] < 0 || a->p[i] > size)
                return false;
            continue;
        }
        const real inverse = 1 / a->d[i], x = -a->p[i] * inverse, y = (size - a->p[i]) * inverse;
        const real low = x < y ? x : y, high = x < y ? y : x;
        in = low > in ? low : in;
        out = high < out ? high : out;
        if (!(in < out))
            return false;
    }
    a->t = in;
    return true;
}

/* Into the next block; false behind the last. */
static bool next_block(const reference *r, ray *a, real next)
{
    const int i = next == a->leave[0] ? 0 : next == a->leave[1] ? 1 : 2;
    a->block[i] += a->d[i] > 0 ? 1 : -1;
    find_leave(r, a, i);
    return a->block[i] >= 0 && a->block[i] < (int)r->volume->blocks[i];
}

static size_t cell_of(const reference *r, const ray *a)
{
    size_t cell[3];
    for (int i = 0; i < 3; i++) {
        const int end = (a->block[i] + 1) << r->volume->bits[i], size = (int)r->volume->box[i];
        cell[i] = (size_t)clamped(FMA(a->d[i], a->t, a->p[i]), a->block[i] << r->volume->bits[i],
                                  (end < size ? end : size) - 1);
    }
    return (cell[2] * r->volume->box[1] + cell[1]) * r->volume->box[0] + cell[0];
}

/* Start of a photon along a side of the entrance, from the middle, in path units. */
static int entrance_place(const reference *r, uint32_t w, int axis, real normal)
{
    const long long aperture = r->units->aperture[axis], shift = r->units->shift[axis],
                    side = r->units->cell_side[axis];
    if (r->config->profile == XRAY_PENCIL)
        return (int)shift;
    const long long at = shift + (r->config->profile == XRAY_GAUSSIAN
                                      ? RINT(normal * (real)aperture)
                                      : (long long)((uint64_t)w * (uint64_t)aperture >> 32) - (aperture >> 1));
    if (r->config->positions == XRAY_RANDOM)
        return (int)at;
    const long long edge = side * (long long)r->volume->n[axis + 1] / 2, cell = (at * 65536 + edge) / side;
    return (int)((cell * side + side / 2 - edge) >> 16);
}

/* Sums over path segments: length, units of 2^-path_bits wavelengths, and times (1 - u, v, w), of which a unit is 2^31
 * times as small. */
typedef struct track {
    uint64_t length, missing, y, z;
    int y0, z0;
} track;

static void advance_phase(const reference *r, track *k, const direction *a, real distance)
{
    const int64_t path = RINT(distance * r->k.path_scale);
    k->length += (uint64_t)path;
    k->missing += (uint64_t)(path * a->i[0]);
    k->y += (uint64_t)(path * a->i[1]);
    k->z += (uint64_t)(path * a->i[2]);
}

static int64_t to_path_units(uint64_t sum) { return (int64_t)(sum + 0x40000000u) >> 31; }
static int64_t path_along_x(const track *k) { return to_path_units((k->length << 31) - k->missing); }

/* (5) in units of 2 pi / 2^32. */
static uint32_t phase(const reference *r, const track *k, const int32_t *to)
{
    const int64_t x = path_along_x(k), y = k->y0 + to_path_units(k->y), z = k->z0 + to_path_units(k->z);
    const uint64_t sum = k->missing + (uint64_t)(to[0] * x) - (uint64_t)(to[1] * y) - (uint64_t)(to[2] * z) +
                         (uint64_t)(r->units->beam[1] * k->y0) + (uint64_t)(r->units->beam[2] * k->z0);
    return (uint32_t)(sum >> (r->units->path_bits - 1));
}

static void deposit(const reference *r, size_t cell, uint32_t phi, real weight)
{
    real sine;
    const real c = cos_sin(phi, &sine);
    r->image[4 * cell] += RINT(c * weight);
    r->image[4 * cell + 1] += RINT(sine * weight);
    r->image[4 * cell + 2] += RINT(weight);
}

/* The expected-value estimator (7): the law's density towards some cells, evenly spread from a random one on. */
static void deposit_expected(const reference *r, const track *k, const direction *a, real share, uint32_t w)
{
    const size_t cells = (size_t)r->config->cells[0] * r->config->cells[1];
    size_t cell = (size_t)((uint64_t)w * cells >> 32);
    for (int n = 0; n < r->config->samples; n++, cell = (cell + (size_t)r->config->sample_stride) % cells) {
        const int32_t *t = &r->directions[4 * cell];
        const real change[3] = { 1 - (real)t[0] * per_direction - a->d[0], (real)t[1] * per_direction - a->d[1],
                                 (real)t[2] * per_direction - a->d[2] };
        const real missing = REAL(0.5) * dot(change, change), most = r->k.expectation;
        const real chance = r->units->angle_bits ? most * (1 + (1 - missing) * (1 - missing))
                                                 : (missing <= r->k.deficit ? most : 0);
        const real weight = chance * (real)t[3] * share;
        if (weight > 0)
            deposit(r, cell, phase(r, k, t), weight);
    }
}

static int detector_cell(const reference *r, real tangent, real per_cell, int cells)
{
    static const real arctan[] = { REAL(1.0),
                                   REAL(-0.3333333333333333),
                                   REAL(0.2),
                                   REAL(-0.14285714285714285),
                                   REAL(0.1111111111111111),
                                   REAL(-0.09090909090909091) };
    real at = tangent;
    if (!(at < r->k.reach && at > -r->k.reach))
        return -1;
    if (r->config->spacing ==
        XRAY_ANGLES) { /* a quarter of the angle where it is large, then the series of the inverse tangent */
        for (int n = 0; n < r->units->halvings; n++)
            at = at / (1 + SQRT(1 + at * at));
        at = (real)(1 << r->units->halvings) * at * polynomial(arctan, COUNT(arctan), at * at);
    }
    at = at * per_cell + ((real)(cells / 2) + REAL(0.5));
    return at >= 0 && at < (real)cells ? (int)at : -1;
}

/* The photon at the entrance, on its way along w; false if it passes beside the box. */
static bool emit(const reference *r, const uint32_t words[4], direction *a, track *k, ray *w)
{
    real sine = 0, radius = 0, cosine = 0;
    *a = (direction){ { r->k.beam_u, r->k.beam_v, r->k.beam_w },
                      { r->k.e_u, r->k.e_v, r->k.e_w },
                      { r->units->beam[0], r->units->beam[1], r->units->beam[2] } };
    if (r->config->profile == XRAY_GAUSSIAN) {
        radius = SQRT(2 * exponential(words[0]));
        cosine = cos_sin(words[1], &sine);
    }
    k->y0 = entrance_place(r, words[0], 0, radius * cosine);
    k->z0 = entrance_place(r, words[1], 1, radius * sine);
    *w = (ray){ .p = { r->k.start_x, (real)k->y0 * r->k.unit_y + r->k.centre_y,
                       (real)k->z0 * r->k.unit_z + r->k.centre_z },
                .d = { a->d[0], a->d[1] * r->k.per_y, a->d[2] * r->k.per_z } };
    return meets_box(r, w);
}

/* Whether the ray at t lies in the block where it is. */
static bool is_in_block(const reference *r, const ray *a, real t)
{
    for (int i = 0; i < 3; i++) {
        const int low = a->block[i] << r->volume->bits[i], next = (a->block[i] + 1) << r->volume->bits[i];
        const int size = (int)r->volume->box[i];
        const real x = FMA(a->d[i], t, a->p[i]);
        if (!(x >= (real)low && x < (real)(next < size ? next : size)))
            return false;
    }
    return true;
}

/* From block to block by `depth`, which is the optical depth to the next tentative collision; false behind the last
 * block. */
static bool reach_collision(const reference *r, ray *w, real depth, real *most)
{
    const uint32_t *blocks = r->volume->blocks;
    const bool alone = blocks[0] * blocks[1] * blocks[2] == 1;
    bool fresh = r->volume->dense;
    for (;;) {
        *most = r->majorant[((size_t)w->block[2] * blocks[1] + (size_t)w->block[1]) * blocks[0] + (size_t)w->block[0]];
        real next = w->leave[0] < w->leave[1] ? w->leave[0] : w->leave[1];
        next = w->leave[2] < next ? w->leave[2] : next;
        const real way = next > w->t ? next - w->t : 0;
        const real end = FMA(depth, 1 / *most, w->t);
        if (fresh ? is_in_block(r, w, end) : depth < *most * way) {
            w->t = end;
            return true;
        }
        if (fresh && alone)
            return false;
        if (fresh) { /* where the way leaves the block is asked only now */
            enter_blocks(r, w);
            fresh = false;
            continue;
        }
        depth = depth - *most * way;
        w->t = next;
        if (!next_block(r, w, next))
            return false;
    }
}

static real share_left(const reference *r, uint32_t weight)
{
    return (real)weight * (1 / (real)((int64_t)1 << r->units->tally_bits));
}

/* From the entrance to the last scattering; returns the number of scatterings. `weight`: what is not absorbed, in units
 * of 2^-tally_bits; the absorbed share is rounded up or down at random. */
static int trace(const reference *r, uint64_t photon, direction *a, track *k, uint32_t *weight)
{
    uint32_t number[4] = { (uint32_t)photon, (uint32_t)(photon >> 32), 0, 0 }, words[4];
    int scatterings = 0;
    ray w;
    real most;
    philox(number, r->config->seed, words);
    if (!emit(r, words, a, k, &w))
        return 0;
    enter_blocks(r, &w);
    while (reach_collision(r, &w, exponential(words[2]), &most)) {
        const uint32_t chance = words[3];
        number[2]++;
        philox(number, r->config->seed, words);
        if (r->volume->thinned &&
            !((real)(chance >> 8) * REAL(5.9604644775390625e-08) * most < r->optical[cell_of(r, &w)]))
            continue;
        advance_phase(r, k, a, w.t);
        scatterings++;
        uint32_t lost = 1;
        if (r->units->absorption > 0) {
            const uint64_t dither = (uint64_t)(2 * (chance % 256) + 1) << (r->units->absorption_bits - 9);
            lost = (uint32_t)((*weight * (uint64_t)r->units->absorption + dither) >> r->units->absorption_bits);
            *weight -= lost;
        }
        if (r->counted)
            r->counted[cell_of(r, &w)] += lost;
        if (r->config->estimator == XRAY_EXPECTED)
            deposit_expected(r, k, a, share_left(r, *weight), words[3]);
        scatter(r, a, words, number);
        if (scatterings == r->config->scatterings_max)
            break;
        for (int i = 0; i < 3; i++)
            w.p[i] = FMA(w.d[i], w.t, w.p[i]);
        w.d[0] = a->d[0];
        w.d[1] = a->d[1] * r->k.per_y;
        w.d[2] = a->d[2] * r->k.per_z;
        w.t = 0;
        if (!r->volume->dense)
            enter_blocks(r, &w);
    }
    return scatterings;
}

/* Traces a photon to the detector and adds it to the image and to the tallies of a cell, `plane` elements apart. */
static void detect(const reference *r, uint64_t photon, int64_t *tallies, size_t plane)
{
    uint32_t weight = (uint32_t)1 << r->units->tally_bits;
    const real tally_units = (real)weight;
    direction a;
    track k = { 0 };
    const uint32_t *cells = r->config->cells;
    const int scatterings = trace(r, photon, &a, &k, &weight);
    tallies[(size_t)(scatterings < XRAY_ORDERS - 1 ? scatterings : XRAY_ORDERS - 1) * plane]++;
    tallies[XRAY_SCATTERINGS * plane] += scatterings;
    tallies[XRAY_ESCAPED * plane] += weight;
    tallies[XRAY_COSINES * plane] += RINT(a.d[0] * tally_units);
    tallies[XRAY_SQUARES * plane] += RINT(a.d[0] * a.d[0] * tally_units);
    int y = -1, z = -1;
    if (a.d[0] > 0) {
        const real ty = a.d[1] / a.d[0], tz = a.d[2] / a.d[0], x = (real)path_along_x(&k);
        y = detector_cell(r, ty + ((real)(k.y0 + to_path_units(k.y)) - x * ty) * r->k.far_y, r->k.per_cell_y,
                          (int)cells[0]);
        z = detector_cell(r, tz + ((real)(k.z0 + to_path_units(k.z)) - x * tz) * r->k.far_z, r->k.per_cell_z,
                          (int)cells[1]);
    }
    if (y < 0 || z < 0) {
        tallies[XRAY_MISSED * plane]++;
        return;
    }
    const size_t cell = (size_t)z * cells[0] + (size_t)y;
    const int32_t *t = &r->directions[4 * cell];
    tallies[(t[3] ? XRAY_DETECTED : XRAY_STOPPED) * plane]++;
    if (t[3] && r->config->estimator == XRAY_ANALOG)
        deposit(r, cell, phase(r, &k, t), share_left(r, weight) * (real)((int64_t)1 << r->units->fixed_bits));
}

/* Adds the batch to the sums, and forms the fields of the output; after a coherence time the amplitude starts from zero
 * and its square is added to `past`. */
static void gather(const xray *s, const reference *r, bool fresh)
{
    const size_t cells = xray_detector_cells(s);
    int64_t *sums = bn_field_host(s->fields.sums);
    real *past = bn_field_host(s->fields.past), *amplitude = bn_field_host(s->fields.amplitude);
    real *intensity = bn_field_host(s->fields.intensity), *log_intensity = bn_field_host(s->fields.log_intensity);
    real *photons = bn_field_host(s->fields.photons);
    const real unit = REAL(1.0) / (real)((int64_t)1 << s->i.fixed_bits);
    for (size_t i = 0; i < cells; i++) {
        real *a = amplitude + i, *b = amplitude + cells + i;
        if (fresh) {
            past[i] = past[i] + (*a * *a + *b * *b);
            sums[i] = sums[cells + i] = 0;
        }
        for (size_t c = 0; c < 3; c++) {
            sums[c * cells + i] += r->image[4 * i + c];
            r->image[4 * i + c] = 0;
        }
        *a = (real)sums[i] * unit;
        *b = (real)sums[cells + i] * unit;
        intensity[i] = past[i] + (*a * *a + *b * *b);
        log_intensity[i] = decades(intensity[i] * r->k.gain + 1);
        photons[i] = (real)sums[2 * cells + i] * unit;
    }
}

static real *rounded(const double *values, size_t count)
{
    real *out = malloc(count * sizeof *out);
    for (size_t i = 0; out && i < count; i++)
        out[i] = (real)values[i];
    return out;
}

static void release(reference *r)
{
    free(r->image);
    free(r->counted);
    free(r->optical);
    free(r->majorant);
    free(r->angle);
}

static bn_status prepare(bn_sim *sim, const xray *s, reference *r)
{
    *r = (reference){ .config = &s->config,
                      .volume = &s->volume,
                      .units = &s->i,
                      .directions = s->detector.directions,
                      .image = calloc(4 * xray_detector_cells(s), sizeof *r->image),
                      .counted = s->config.volume ? calloc(xray_cells(s->volume.box), sizeof *r->counted) : NULL,
                      .optical = rounded(s->volume.optical, xray_cells(s->volume.box)),
                      .majorant = rounded(s->volume.majorant, xray_cells(s->volume.blocks)),
                      .angle = rounded(s->detector.angle, ((size_t)1 << XRAY_ANGLE_BITS) + 1) };
    bn_round_constants((const double *)&s->k, sizeof s->k / sizeof(double), (real *)&r->k);
    if (r->image && r->optical && r->majorant && r->angle && (r->counted || !s->config.volume))
        return BN_OK;
    release(r);
    return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for a batch of photons");
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    xray *s = state;
    const size_t cells = xray_detector_cells(s);
    const xray_batch b = xray_next_batch(s, bn_sim_steps(sim));
    reference r;
    if (s->volume.frames > 0)
        xray_density_at(s, b.time);
    BN_TRY(prepare(sim, s, &r));
    int64_t *tallies = bn_field_host(s->fields.tallies);
    for (uint64_t photon = b.begin; photon < b.end; photon++)
        detect(&r, photon, tallies + (photon - b.first) % cells, cells);
    gather(s, &r, b.fresh);
    s->traced = b.end;
    const bn_status st = s->config.volume ? xray_gather_volume(sim, s, r.counted) : BN_OK;
    release(&r);
    return st == BN_OK ? xray_report(sim, s, &b, out) : st;
}

static bn_status setup(bn_sim *sim, void *state)
{
    xray *s = state;
    return xray_against_fft(s) ? xray_fourier(sim, s) : BN_OK;
}

/* The fields of the output follow from the sums. */
static bn_status resume(bn_sim *sim, void *state)
{
    xray *s = state;
    reference r;
    BN_TRY(prepare(sim, s, &r));
    gather(s, &r, false);
    const bn_status st = s->config.volume ? xray_gather_volume(sim, s, r.counted) : BN_OK;
    release(&r);
    return st;
}

const bn_engine BN_REFERENCE(xray) = { .name = "reference", .setup = setup, .step = step, .resume = resume };
