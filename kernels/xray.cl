/* xray.cl: photons through a density to a detector, each from entrance to detector by one work-item, in registers;
 * the specification is src/solvers/xray/xray_reference.c, the equations stand in docs/xray.md.
 *
 * The grid is the detector. The work-items of cell (i, j) fly the photons whose number is the cell's place in the grid
 * plus a multiple of the number of cells, so that a photon's life depends on its number alone: Philox words (number,
 * event). What a photon adds to the picture are integers: their order does not matter.
 *
 * Places are in cells of the density's box (what is not empty of it), x along the flight, and distances in sides of a
 * cell along x. For the phase, paths are integers in units of 2^-PATH_BITS wavelengths and directions (1 - u, v, w)
 * integers in units of 2^-31: products are exact, and running over reduces them modulo a turn, so that single precision
 * costs the phase nothing.
 *
 * Where the density is too large for one device (SLABS), each has a slab of it, blocks that follow one another along the axis
 * CUT, and a photon that comes to another slab goes on on that device (kernels/lib/migrate.h). Its life does not notice.
 *
 */
#define CELLS ((uint)GNX * (uint)GNY)
#define KEY ((uint2)(KEY0, KEY1))
#define FAR_AWAY REAL(1e30)

/* Of three numbers along x, y, z that of the axis CUT. The place of a cell, or a block, of nx * ny * nz, that axis being the
 * slowest and beginning with plane `first`. */
#if CUT == 0
#define ACROSS(x, y, z) (x)
#define PLACE_IN(first, x, y, z, nx, ny, nz) (((size_t)((x) - (first)) * (nz) + (z)) * (ny) + (y))
#elif CUT == 1
#define ACROSS(x, y, z) (y)
#define PLACE_IN(first, x, y, z, nx, ny, nz) (((size_t)((y) - (first)) * (nz) + (z)) * (nx) + (x))
#else
#define ACROSS(x, y, z) (z)
#define PLACE_IN(first, x, y, z, nx, ny, nz) (((size_t)((z) - (first)) * (ny) + (y)) * (nx) + (x))
#endif

/* What work-items count in `lives`: photons by number of scatterings (the last: that or more), and how they ended. */
#define ORDERS 8
#define DETECTED 8
#define STOPPED 9
#define MISSED 10
#define SCATTERINGS 11
#define COSINES 12 /* sum of the flight direction's x at the end, in units of 2^-30; of its square */
#define SQUARES 13
#define ABSORBED 14 /* photons in units of 2^-30 */
#define NUMBERS 15

/* 0.5 ... 2^32 - 0.5, as far as the precision goes. */
static inline real word(uint w) { return (real)w + REAL(0.5); }

/* Cosine and, in *s, sine of a turn in units of 2^-32: quadrant by bits, then the series on an eighth of a turn, whose
 * first term left out is below half a unit in the last place. */
static inline real cosine(uint turn, real *s)
{
    const uint quadrant = (turn + 0x20000000u) >> 30;
    const real x = (real)(int)(turn - (quadrant << 30)) * REAL(1.4629180792671596e-09), x2 = x * x;
#if REAL_BYTES == 8
    real a = REAL(-7.647163731819816e-13), b = REAL(4.779477332387385e-14);
    a = fma(a, x2, REAL(1.605904383682161e-10));
    a = fma(a, x2, REAL(-2.505210838544172e-08));
    a = fma(a, x2, REAL(2.7557319223985893e-06));
    b = fma(b, x2, REAL(-1.1470745597729725e-11));
    b = fma(b, x2, REAL(2.08767569878681e-09));
    b = fma(b, x2, REAL(-2.755731922398589e-07));
    b = fma(b, x2, REAL(2.48015873015873e-05));
#else
    real a = REAL(2.7557319223985893e-06), b = REAL(2.48015873015873e-05);
#endif
    a = fma(a, x2, REAL(-0.0001984126984126984));
    a = fma(a, x2, REAL(0.008333333333333333));
    a = fma(a, x2, REAL(-0.16666666666666666));
    b = fma(b, x2, REAL(-0.001388888888888889));
    b = fma(b, x2, REAL(0.041666666666666664));
    b = fma(b, x2, REAL(-0.5));
    const real sine = fma(a * x2, x, x), cosine = fma(b, x2, REAL(1.0));
    const real c = quadrant & 1 ? sine : cosine, t = quadrant & 1 ? cosine : sine;
    *s = quadrant & 2 ? -t : t;
    return (quadrant + 1) & 2 ? -c : c;
}

/* -ln((w + 1/2) / 2^32): from mantissa and exponent, ln m = 2 artanh((m - 1) / (m + 1)), m from 0.71 to 1.42. */
static inline real minus_log(uint w)
{
    const real v = word(w);
#if REAL_BYTES == 8
    const ulong bits = as_ulong(v);
    int exponent = (int)(bits >> 52) - 1023;
    real m = as_double((bits & 0xfffffffffffffUL) | 0x3ff0000000000000UL);
#else
    const uint bits = as_uint(v);
    int exponent = (int)(bits >> 23) - 127;
    real m = as_float((bits & 0x7fffffu) | 0x3f800000u);
#endif
    if (m > REAL(1.4142135)) {
        m = REAL(0.5) * m;
        exponent++;
    }
    const real z = (m - REAL(1.0)) / (m + REAL(1.0)), z2 = z * z;
#if REAL_BYTES == 8
    real sum = REAL(0.043478260869565216);
    sum = fma(sum, z2, REAL(0.047619047619047616));
    sum = fma(sum, z2, REAL(0.05263157894736842));
    sum = fma(sum, z2, REAL(0.058823529411764705));
    sum = fma(sum, z2, REAL(0.06666666666666667));
    sum = fma(sum, z2, REAL(0.07692307692307693));
    sum = fma(sum, z2, REAL(0.09090909090909091));
    sum = fma(sum, z2, REAL(0.1111111111111111));
#else
    real sum = REAL(0.1111111111111111);
#endif
    sum = fma(sum, z2, REAL(0.14285714285714285));
    sum = fma(sum, z2, REAL(0.2));
    sum = fma(sum, z2, REAL(0.3333333333333333));
    sum = fma(sum, z2, REAL(1.0));
    return (real)(32 - exponent) * REAL(0.6931471805599453) - REAL(2.0) * z * sum;
}

/* A direction, real, and as integers that count as the direction itself; e: the polarisation across it. */
typedef struct direction {
    real u, v, w;
    long id, iv, iw;
#if POLARISED
    real eu, ev, ew;
#endif
} direction;

static inline void set_integers(direction *d)
{
    const real missing = d->u > 0 ? (d->v * d->v + d->w * d->w) / (REAL(1.0) + d->u) : REAL(1.0) - d->u;
    d->iv = convert_long_rte(d->v * REAL(2147483648.0));
    d->iw = convert_long_rte(d->w * REAL(2147483648.0));
    d->id = convert_long_rte(missing * REAL(2147483648.0));
    if (missing < REAL(0.5)) /* a step of the iteration 2 (1 - u) = v^2 + w^2 + (1 - u)^2 */
        d->id = (long)(((ulong)(d->iv * d->iv) + (ulong)(d->iw * d->iw) + (ulong)(d->id * d->id) + 0x80000000UL) >> 32);
}

/* 1 - cos of the scattering angle. */
static inline real scattering_deficit(uint w, global const real *angle)
{
    if (ANGLE_BITS == 0)
        return word(w) * (DEFICIT * REAL(2.3283064365386963e-10)); /* uniform in solid angle */
    const uint at = w >> (32 - ANGLE_BITS);
    const real share = word(w << ANGLE_BITS) * REAL(2.3283064365386963e-10);
    return fma(share, angle[at + 1] - angle[at], angle[at]);
}

/* A new direction from the first two words of event `number`. */
static inline void scatter(direction *d, uint4 words, uint4 number, global const real *angle)
{
    const real deficit = scattering_deficit(words.s0, angle), across = sqrt(deficit * (REAL(2.0) - deficit));
    const real c = REAL(1.0) - deficit;
    real s;
#if POLARISED
    /* The angle to the polarisation is drawn again until 1 - sin^2 cos^2 allows it. */
    real k = cosine(words.s1, &s);
    for (uint again = 1; POLARISED && again < 64; again++) {
        const uint4 more = philox((uint4)(number.s0, number.s1, number.s2, again), KEY);
        if ((real)(more.s0 >> 8) * REAL(5.9604644775390625e-08) < REAL(1.0) - across * across * (k * k))
            break;
        k = cosine(more.s1, &s);
    }
    const real gu = d->v * d->ew - d->w * d->ev, gv = d->w * d->eu - d->u * d->ew, gw = d->u * d->ev - d->v * d->eu;
    const real u = d->u * c + across * (k * d->eu + s * gu);
    const real v = d->v * c + across * (k * d->ev + s * gv);
    const real w = d->w * c + across * (k * d->ew + s * gw);
#else
    (void)number;
    /* Two vectors across d, as in Duff et al., Journal of Computer Graphics Techniques 6 (2017) 1. */
    const real k = cosine(words.s1, &s), sign = d->u < 0 ? REAL(-1.0) : REAL(1.0);
    const real a = REAL(-1.0) / (sign + d->u), b = d->v * d->w * a;
    const real v = d->v * c + across * (k * (REAL(1.0) + sign * d->v * d->v * a) + s * b);
    const real w = d->w * c + across * (k * (sign * b) + s * (sign + d->w * d->w * a));
    const real u = d->u * c - across * (k * (sign * d->v) + s * d->w);
#endif
    const real longer = REAL(1.5) - REAL(0.5) * (u * u + v * v + w * w);
    d->u = u * longer;
    d->v = v * longer;
    d->w = w * longer;
#if POLARISED
    const real along = d->eu * d->u + d->ev * d->v + d->ew * d->w;
    const real eu = d->eu - along * d->u, ev = d->ev - along * d->v, ew = d->ew - along * d->w;
    const real size = REAL(1.0) / sqrt(eu * eu + ev * ev + ew * ew);
    d->eu = eu * size;
    d->ev = ev * size;
    d->ew = ew * size;
#endif
    set_integers(d);
}

/* Where a ray p + t d, d per side of a cell, lies between 0 and size: narrows (*in, *out). */
static inline int between(real p, real d, real size, real *in, real *out)
{
    if (d == 0)
        return p >= 0 && p < size;
    const real inverse = REAL(1.0) / d, a = -p * inverse, b = (size - p) * inverse;
    const real low = a < b ? a : b, high = a < b ? b : a;
    *in = low > *in ? low : *in;
    *out = high < *out ? high : *out;
    return *in < *out;
}

/* The walk through blocks along one axis: block, and distances where it is left. */
typedef struct walk {
    real p, inverse;
    int block, forward, still;
} walk;

static inline int block_at(real at, int bits, int blocks) { return clamp((int)floor(at) >> bits, 0, blocks - 1); }

static inline walk begin(real p, real d, real at, int bits, int blocks)
{
    walk w;
    w.p = p;
    w.still = d == 0;
    w.inverse = w.still ? REAL(0.0) : REAL(1.0) / d;
    w.forward = d > 0;
    w.block = block_at(at, bits, blocks);
    return w;
}

static inline real leave(walk w, int bits, int size)
{
    return w.still ? FAR_AWAY : ((real)min((w.block + w.forward) * (1 << bits), size) - w.p) * w.inverse;
}

static inline int inside(real at, int block, int bits, int size)
{
    return clamp((int)floor(at), block << bits, min((block + 1) << bits, size) - 1);
}

/* Where a photon's start lies along one side of the entrance, from the middle, in units of the path. */
static inline int place(uint w, uint aperture, int shift, uint places, long step, real normal)
{
    if (PROFILE == 2) /* a pencil */
        return shift;
    const long at = shift + (PROFILE == 1 ? convert_long_rte(normal * (real)aperture)
                                          : (long)mul_hi(w, aperture) - (long)(aperture >> 1));
    if (!PLACED)
        return (int)at;
    /* The middle of the cell; a cell's side has 16 bits behind the point. */
    const long edge = step * (long)places / 2, cell = ((at << 16) + edge) / step;
    return (int)((cell * step + step / 2 - edge) >> 16);
}

/* Cell of the detector along one axis from the tangent of the angle; negative: none. */
static inline int detector_cell(real tangent, real per_cell, int cells)
{
    if (!(fabs(tangent) < REACH))
        return -1;
    real at = tangent;
    if (EQUAL_ANGLES) {
        /* atan x = 2 atan(x / (1 + sqrt(1 + x^2))), twice where angles are large, then the series. */
        for (int n = 0; n < HALVINGS; n++)
            at = at / (REAL(1.0) + sqrt(REAL(1.0) + at * at));
        const real x2 = at * at;
        real sum = REAL(-0.09090909090909091);
        sum = fma(sum, x2, REAL(0.1111111111111111));
        sum = fma(sum, x2, REAL(-0.14285714285714285));
        sum = fma(sum, x2, REAL(0.2));
        sum = fma(sum, x2, REAL(-0.3333333333333333));
        sum = fma(sum, x2, REAL(1.0));
        at = (real)(1 << HALVINGS) * at * sum;
    }
    at = at * per_cell + ((real)(cells / 2) + REAL(0.5));
    return at >= 0 && at < (real)cells ? (int)at : -1;
}

/* How far a photon has come: sums over its flights of path times (1 - u, u, v, w), in units of 2^-(31 + PATH_BITS)
 * wavelengths; where it entered. */
typedef struct track {
    ulong missing, x, y, z;
    int y0, z0;
} track;

static inline void lengthen(track *k, const direction *d, real distance)
{
    const long path = convert_long_rte(distance * PATH_SCALE);
    const ulong missing = (ulong)(path * d->id);
    k->missing += missing;
    k->x += ((ulong)path << 31) - missing;
    k->y += (ulong)(path * d->iv);
    k->z += (ulong)(path * d->iw);
}

static inline long rounded(ulong sum) { return (long)(sum + 0x40000000UL) >> 31; }

/* Phase at a cell far away, over that of the undisturbed wave through the middle of the entrance, in turns of 2^32:
 * k times (path - direction . place). */
static inline uint phase(const track *k, global const int *toward)
{
    const long x = rounded(k->x), y = k->y0 + rounded(k->y), z = k->z0 + rounded(k->z);
    ulong sum = k->missing + (ulong)(toward[0] * x);
    sum -= (ulong)(toward[1] * y);
    sum -= (ulong)(toward[2] * z);
    sum += (ulong)((long)BEAM_IV * k->y0);
    sum += (ulong)((long)BEAM_IW * k->z0);
    return (uint)(sum >> (PATH_BITS - 1));
}

/* Adds a photon's (or a share of its) amplitude to a cell. */
static inline void expose(volatile global long *tally, uint cell, uint turn, real weight)
{
    real s;
    const real c = cosine(turn, &s);
    fixed_add(&tally[4 * (size_t)cell], convert_long_rte(c * weight));
    fixed_add(&tally[4 * (size_t)cell + 1], convert_long_rte(s * weight));
    fixed_add(&tally[4 * (size_t)cell + 2], convert_long_rte(weight));
}

/* Adds what the scattering at the end of the track is expected to bring to some cells, spread over the detector from
 * one that is drawn: density of the direction, times the cell's solid angle, times cells per sample. */
static inline void expect(volatile global long *tally, global const int *toward, const track *k,
                          const direction *d, real share, uint w)
{
    uint cell = mul_hi(w, CELLS);
    for (int n = 0; n < SAMPLES; n++) {
        global const int *t = &toward[4 * (size_t)cell];
        const real u = REAL(1.0) - (real)t[0] * REAL(4.656612873077393e-10);
        const real v = (real)t[1] * REAL(4.656612873077393e-10);
        const real x = (real)t[2] * REAL(4.656612873077393e-10), du = u - d->u, dv = v - d->v, dw = x - d->w;
        const real deficit = REAL(0.5) * (du * du + dv * dv + dw * dw);
        const real chance = ANGLE_BITS == 0 ? (deficit <= DEFICIT ? EXPECTATION : REAL(0.0))
                                            : EXPECTATION * (REAL(1.0) + (REAL(1.0) - deficit) * (REAL(1.0) - deficit));
        const real weight = chance * (real)t[3] * share;
        if (weight > 0)
            expose(tally, cell, phase(k, t), weight);
        cell = (cell + STRIDE) % CELLS;
    }
}

/* What a work-item counts; the orders in bytes. */
typedef struct life {
    ulong orders;
    int detected, stopped, missed, scatterings;
    long cosines, squares, absorbed;
} life;

/* What becomes of a photon: whether it flies on, or goes on in another slab. */
#define LANDS 0
#define FLIES 1
#define CROSSES 2

/* A photon on its way: since the last scattering it has gone t from (x, y, z) along d; (dx, dy, dz) is d in cells. */
typedef struct photon {
    uint4 number, words; /* of its event */
    direction d;
    track k;
    real x, y, z, dx, dy, dz, t, depth; /* depth: optical depth to go to the next tentative collision */
    walk a, b, c;
    real ta, tb, tc;
    real weight; /* what is not absorbed */
    int scatterings;
} photon;

static inline void find_leaves(photon *p)
{
    p->ta = leave(p->a, BLOCK_X, BOX_X);
    p->tb = leave(p->b, BLOCK_Y, BOX_Y);
    p->tc = leave(p->c, BLOCK_Z, BOX_Z);
}

static inline void enter_blocks(photon *p)
{
    p->a = begin(p->x, p->dx, p->x + p->dx * p->t, BLOCK_X, BLOCKS_X);
    p->b = begin(p->y, p->dy, p->y + p->dy * p->t, BLOCK_Y, BLOCKS_Y);
    p->c = begin(p->z, p->dz, p->z + p->dz * p->t, BLOCK_Z, BLOCKS_Z);
    find_leaves(p);
}

static inline void set_beam_integers(direction *d)
{
    d->id = BEAM_ID;
    d->iv = BEAM_IV;
    d->iw = BEAM_IW;
}

/* The direction in cells. */
static inline void look_ahead(photon *p)
{
    p->dx = p->d.u;
    p->dy = p->d.v * PER_Y;
    p->dz = p->d.w * PER_Z;
}

/* Through the entrance, to the box; LANDS when it misses that, and flies past where it is now. */
static inline int enter(photon *p, ulong number)
{
    p->number = (uint4)((uint)number, (uint)(number >> 32), 0, 0);
    p->words = philox(p->number, KEY);
    p->d.u = BEAM_U;
    p->d.v = BEAM_V;
    p->d.w = BEAM_W;
    set_beam_integers(&p->d);
#if POLARISED
    p->d.eu = E_U;
    p->d.ev = E_V;
    p->d.ew = E_W;
#endif
    real sine = 0, radius = 0, across = 0;
    if (PROFILE == 1) { /* Box and Muller 1958 */
        radius = sqrt(REAL(2.0) * minus_log(p->words.s0));
        across = cosine(p->words.s1, &sine);
    }
    p->k.missing = p->k.x = p->k.y = p->k.z = 0;
    p->k.y0 = place(p->words.s0, APERTURE_Y, SHIFT_Y, PLACES_Y, PLACE_Y, radius * across);
    p->k.z0 = place(p->words.s1, APERTURE_Z, SHIFT_Z, PLACES_Z, PLACE_Z, radius * sine);
    p->x = START_X;
    p->y = (real)p->k.y0 * UNIT_Y + CENTRE_Y;
    p->z = (real)p->k.z0 * UNIT_Z + CENTRE_Z;
    look_ahead(p);
    p->scatterings = 0;
    p->weight = 1;
    p->t = 0;
    real in = 0, out = FAR_AWAY;
    if (!between(p->x, p->dx, (real)BOX_X, &in, &out) || !between(p->y, p->dy, (real)BOX_Y, &in, &out) ||
        !between(p->z, p->dz, (real)BOX_Z, &in, &out))
        return LANDS;
    p->t = in;
    return FLIES;
}

/* Its flight through the box begins. */
static inline void start(photon *p)
{
    p->depth = minus_log(p->words.s2);
    enter_blocks(p);
}

/* What a device has of the density: blocks along the cut. */
typedef struct slab {
    int first, end;
} slab;

/* The photon's block along the cut. */
static inline int block_of(const photon *p) { return ACROSS(p->a.block, p->b.block, p->c.block); }

static inline int is_in(slab s, int block) { return !SLABS || (block >= s.first && block < s.end); }

/* From block to block up to the next tentative collision, unless the photon leaves the box or the slab before. */
static inline int reach_collision(photon *p, slab s, global const real *majorant, real *most)
{
    for (;;) {
        if (!is_in(s, block_of(p)))
            return CROSSES;
        *most = majorant[PLACE_IN(s.first, p->a.block, p->b.block, p->c.block, BLOCKS_X, BLOCKS_Y, BLOCKS_Z)];
        const real next = p->ta < p->tb ? (p->ta < p->tc ? p->ta : p->tc) : (p->tb < p->tc ? p->tb : p->tc);
        const real way = next > p->t ? next - p->t : REAL(0.0);
        if (p->depth < *most * way)
            return FLIES;
        p->depth = p->depth - *most * way;
        p->t = next;
        int outside;
        if (next == p->ta) {
            p->a.block += p->a.forward ? 1 : -1;
            p->ta = leave(p->a, BLOCK_X, BOX_X);
            outside = p->a.block < 0 || p->a.block >= BLOCKS_X;
        } else if (next == p->tb) {
            p->b.block += p->b.forward ? 1 : -1;
            p->tb = leave(p->b, BLOCK_Y, BOX_Y);
            outside = p->b.block < 0 || p->b.block >= BLOCKS_Y;
        } else {
            p->c.block += p->c.forward ? 1 : -1;
            p->tc = leave(p->c, BLOCK_Z, BOX_Z);
            outside = p->c.block < 0 || p->c.block >= BLOCKS_Z;
        }
        if (outside)
            return LANDS;
    }
}

/* The collision: refused, or a scattering; LANDS when it was the photon's last. */
static inline int collide(photon *p, slab s, real most, global const real *optical, global const int *toward,
                          global const real *angle, volatile global long *tally, life *count)
{
    p->t = p->t + p->depth / most;
    const real x = p->x + p->dx * p->t, y = p->y + p->dy * p->t, z = p->z + p->dz * p->t;
    const uint chance = p->words.s3;
    p->number.s2++;
    p->words = philox(p->number, KEY);
    p->depth = minus_log(p->words.s2);
    if (THINNED) {
        const int cx = inside(x, p->a.block, BLOCK_X, BOX_X), cy = inside(y, p->b.block, BLOCK_Y, BOX_Y);
        const int cz = inside(z, p->c.block, BLOCK_Z, BOX_Z);
        if (!((real)(chance >> 8) * REAL(5.9604644775390625e-08) * most <
              optical[PLACE_IN(s.first << ACROSS(BLOCK_X, BLOCK_Y, BLOCK_Z), cx, cy, cz, BOX_X, BOX_Y, BOX_Z)]))
            return FLIES;
    }
    lengthen(&p->k, &p->d, p->t);
    p->scatterings++;
    if (ABSORBING) {
        const real lost = p->weight * ABSORPTION;
        p->weight = p->weight - lost;
        count->absorbed += convert_long_rte(lost * REAL(1073741824.0));
    }
    if (EXPECTED)
        expect(tally, toward, &p->k, &p->d, p->weight, p->words.s3);
    scatter(&p->d, p->words, p->number, angle);
    if (p->scatterings == MOST)
        return LANDS;
    p->x = x;
    p->y = y;
    p->z = z;
    look_ahead(p);
    p->t = 0;
    enter_blocks(p);
    return FLIES;
}

/* To the detector, in free space. */
static inline void land(const photon *p, global const int *toward, volatile global long *tally, life *count)
{
    count->orders += (ulong)1 << 8 * min(p->scatterings, ORDERS - 1);
    count->scatterings += p->scatterings;
    count->cosines += convert_long_rte(p->d.u * REAL(1073741824.0));
    count->squares += convert_long_rte(p->d.u * p->d.u * REAL(1073741824.0));
    int cell_y = -1, cell_z = -1;
    if (p->d.u > 0) {
        /* The last place's own distance from the axis, seen from the detector, counts too. */
        const real py = (real)((long)p->k.y0 + rounded(p->k.y)) * FAR_Y;
        const real pz = (real)((long)p->k.z0 + rounded(p->k.z)) * FAR_Z;
        cell_y = detector_cell(p->d.v / p->d.u + py, PER_CELL_Y, GNX);
        cell_z = detector_cell(p->d.w / p->d.u + pz, PER_CELL_Z, GNY);
    }
    if (cell_y < 0 || cell_z < 0) {
        count->missed++;
        return;
    }
    const uint cell = (uint)cell_z * GNX + (uint)cell_y;
    global const int *t = &toward[4 * (size_t)cell];
    if (t[3] == 0) {
        count->stopped++;
        return;
    }
    count->detected++;
    if (!EXPECTED) /* else the picture has been told, but for the direct beam, which is not part of it */
        expose(tally, cell, phase(&p->k, t), p->weight * (real)((long)1 << FIXED_BITS));
}

static inline void count_up(volatile global long *own, size_t at, long value)
{
    if (value != 0)
        fixed_add(own + at, value);
}

/* What was counted joins a cell's numbers, which are `plane` elements apart. */
static inline void tell(volatile global long *own, size_t plane, const life *count)
{
    for (int n = 0; n < ORDERS; n++)
        count_up(own, n * plane, (long)(count->orders >> 8 * n & 255));
    count_up(own, DETECTED * plane, count->detected);
    count_up(own, STOPPED * plane, count->stopped);
    count_up(own, MISSED * plane, count->missed);
    count_up(own, SCATTERINGS * plane, count->scatterings);
    count_up(own, COSINES * plane, count->cosines);
    count_up(own, SQUARES * plane, count->squares);
    count_up(own, ABSORBED * plane, count->absorbed);
}

#if !SLABS
/* Photons first ... first + rounds * CELLS - 1 from `begin` on and below `end`, the numbers in two words, for each
 * cell by `layers` work-items in turn. `first` is the batch's first or whole rounds behind it, and `begin` less than
 * CELLS behind that. A work-item whose photon has landed takes its next at once, so that long lives are not waited
 * for. */
kernel void xray_fly(global const real *restrict optical, global const real *restrict majorant,
                     global const int *restrict toward, global const real *restrict angle, volatile global long *tally,
                     volatile global long *lives, uint first0, uint first1, uint begin0, uint begin1, uint end0,
                     uint end1, uint rounds, uint layers)
{
    CELL(i, j);
    const ulong begin = (ulong)begin1 << 32 | begin0, end = (ulong)end1 << 32 | end0;
    uint round = (uint)get_global_id(2);
    ulong number = ((ulong)first1 << 32 | first0) + (ulong)(Y0 + j) * GNX + (ulong)(X0 + i) + (ulong)round * CELLS;
    if (number < begin) {
        round += layers;
        number += (ulong)layers * CELLS;
    }
    const slab all = { 0, ACROSS(BLOCKS_X, BLOCKS_Y, BLOCKS_Z) };
    life count = { 0, 0, 0, 0, 0, 0, 0, 0 };
    photon p;
    int flying = 0;
    while (round < rounds && number < end) {
        if (!flying) {
            flying = enter(&p, number);
            if (flying)
                start(&p);
        }
        real most = 0;
        /* Asked in this way, Mesa 22.3 gets it right; with && between the calls, a function around them, or == it does not, or
         * warns. */
        if (flying)
            flying = reach_collision(&p, all, majorant, &most);
        if (flying)
            flying = collide(&p, all, most, optical, toward, angle, tally, &count);
        if (!flying) {
            land(&p, toward, tally, &count);
            round += layers;
            number += (ulong)layers * CELLS;
        }
    }
    tell(lives + AT(i, j), (size_t)PLANE, &count);
}
#else
/* A photon on its way to another device; what follows from the rest is worked out anew. XRAY_WORDS of xray.h. */
static inline void pack(const photon *p, uint device, global uint *to)
{
    to[0] = device;
    to[1] = p->number.s0;
    to[2] = p->number.s1;
    to[3] = p->number.s2;
    to[4] = (uint)p->scatterings;
    to[5] = (uint)p->k.y0;
    to[6] = (uint)p->k.z0;
    to[7] = (uint)p->a.block;
    to[8] = (uint)p->b.block;
    to[9] = (uint)p->c.block;
    to = migrate_put_long(to + 10, p->k.missing);
    to = migrate_put_long(to, p->k.x);
    to = migrate_put_long(to, p->k.y);
    to = migrate_put_long(to, p->k.z);
    const real reals[] = { p->x, p->y, p->z, p->t, p->depth, p->weight, p->d.u, p->d.v, p->d.w,
#if POLARISED
                           p->d.eu, p->d.ev, p->d.ew
#endif
    };
    for (int n = 0; n < 9 + 3 * POLARISED; n++)
        to = migrate_put(to, reals[n]);
}

static inline void unpack(photon *p, global const uint *from)
{
    p->number = (uint4)(from[1], from[2], from[3], 0);
    p->words = philox(p->number, KEY);
    p->scatterings = (int)from[4];
    p->k.y0 = (int)from[5];
    p->k.z0 = (int)from[6];
    p->k.missing = migrate_long(from + 10);
    p->k.x = migrate_long(from + 12);
    p->k.y = migrate_long(from + 14);
    p->k.z = migrate_long(from + 16);
    global const uint *reals = from + 18;
    p->x = migrate_real(reals);
    p->y = migrate_real(reals + MIGRATE_REAL);
    p->z = migrate_real(reals + 2 * MIGRATE_REAL);
    p->t = migrate_real(reals + 3 * MIGRATE_REAL);
    p->depth = migrate_real(reals + 4 * MIGRATE_REAL);
    p->weight = migrate_real(reals + 5 * MIGRATE_REAL);
    p->d.u = migrate_real(reals + 6 * MIGRATE_REAL);
    p->d.v = migrate_real(reals + 7 * MIGRATE_REAL);
    p->d.w = migrate_real(reals + 8 * MIGRATE_REAL);
#if POLARISED
    p->d.eu = migrate_real(reals + 9 * MIGRATE_REAL);
    p->d.ev = migrate_real(reals + 10 * MIGRATE_REAL);
    p->d.ew = migrate_real(reals + 11 * MIGRATE_REAL);
#endif
    if (p->scatterings > 0)
        set_integers(&p->d);
    else
        set_beam_integers(&p->d);
    look_ahead(p);
    enter_blocks(p);
    /* At a face rounding decides which block a place belongs to: the photon knows where it was going. */
    p->a.block = (int)from[7];
    p->b.block = (int)from[8];
    p->c.block = (int)from[9];
    find_leaves(p);
}

/* The next photon that enters into this slab, of those that work-item `item` goes through: for the cells item, item + items, ...
 * of CELLS * layers that share a cell's photons as in xray_fly. All devices go through all numbers; a photon that meets nothing of
 * the density belongs to the slab that it flies past. *at: how many of them are done. 0: there are no more. */
static inline int next_photon(photon *p, slab s, uint item, uint items, ulong first, ulong begin, ulong end, uint rounds,
                              uint layers, uint *at, uint *cell, int *flying)
{
    const uint each = (rounds + layers - 1) / layers;
    const ulong shares = (ulong)CELLS * layers;
    ulong share = item + (ulong)(*at / each) * items;
    int found = 0;
    while (!found && share < shares) {
        const uint round = (uint)(share / CELLS) + *at % each * layers;
        *cell = (uint)(share % CELLS);
        const ulong number = first + *cell + (ulong)round * CELLS;
        if (round < rounds && number >= begin && number < end) {
            *flying = enter(p, number);
            found = is_in(s, ACROSS(block_at(p->x + p->dx * p->t, BLOCK_X, BLOCKS_X),
                                    block_at(p->y + p->dy * p->t, BLOCK_Y, BLOCKS_Y),
                                    block_at(p->z + p->dz * p->t, BLOCK_Z, BLOCKS_Z)));
        }
        ++*at;
        share = item + (ulong)(*at / each) * items;
    }
    if (found && *flying)
        start(p);
    return found;
}

/* The same photons where each device has a slab of the density, the blocks first_block ... end_block - 1: first who has come
 * from another slab, then those who enter here. */
kernel void xray_cross(global const real *restrict optical, global const real *restrict majorant,
                       global const int *restrict toward, global const real *restrict angle, volatile global long *tally,
                       volatile global long *lives, global uint *travel, int first_block, int end_block, uint first0,
                       uint first1, uint begin0, uint begin1, uint end0, uint end1, uint rounds, uint layers)
{
    const uint item = (uint)get_global_id(0), items = migrate_items(travel), here = migrate_device(travel);
    const int begins = !migrate_hold(travel);
    if (item >= items)
        return;
    const ulong first = (ulong)first1 << 32 | first0, begin = (ulong)begin1 << 32 | begin0,
                end = (ulong)end1 << 32 | end0;
    const slab own = { first_block, end_block };
    const life nothing = { 0, 0, 0, 0, 0, 0, 0, 0 };
    life count = nothing;
    photon p;
    uint at = *migrate_memory(travel, item), cell = 0, told = 0, landed = 0;
    int flying = 0, crosses = 0, has = item < migrate_come(travel);
    if (has) {
        unpack(&p, migrate_arrival(travel, item));
        cell = (uint)(((ulong)p.number.s1 << 32 | p.number.s0) % CELLS);
        flying = 1;
    }
    told = cell;
    for (;;) {
        if (!has) {
            if (begins)
                has = next_photon(&p, own, item, items, first, begin, end, rounds, layers, &at, &cell, &flying);
            if (!has)
                break;
            if (cell != told || landed == 255) { /* orders are counted in bytes */
                tell(lives + told, CELLS, &count);
                count = nothing;
                told = cell;
                landed = 0;
            }
        }
        real most = 0;
        if (flying) {
            flying = reach_collision(&p, own, majorant, &most);
            crosses = flying == CROSSES;
        }
        if (crosses)
            break;
        if (flying)
            flying = collide(&p, own, most, optical, toward, angle, tally, &count);
        has = flying;
        if (!flying) {
            land(&p, toward, tally, &count);
            landed++;
        }
    }
    if (crosses)
        pack(&p, block_of(&p) < own.first ? here - 1 : here + 1, migrate_departure(travel));
    *migrate_memory(travel, item) = at;
    tell(lives + told, CELLS, &count);
}

/* What was counted on all devices joins the cells' own numbers. */
kernel void xray_count(volatile global long *counted, global long *restrict lives)
{
    CELL(i, j);
    const size_t cell = (size_t)(Y0 + j) * GNX + (size_t)(X0 + i);
    for (int n = 0; n < NUMBERS; n++) {
        lives[AT(i, j) + n * (index_t)PLANE] += counted[n * (size_t)CELLS + cell];
        counted[n * (size_t)CELLS + cell] = 0;
    }
}
#endif

/* log10 of x >= 1, from the same series; only the picture's scale. */
static inline real decades(real x)
{
#if REAL_BYTES == 8
    const ulong bits = as_ulong(x);
    const int exponent = (int)(bits >> 52) - 1023;
    const real m = as_double((bits & 0xfffffffffffffUL) | 0x3ff0000000000000UL);
#else
    const uint bits = as_uint(x);
    const int exponent = (int)(bits >> 23) - 127;
    const real m = as_float((bits & 0x7fffffu) | 0x3f800000u);
#endif
    const real z = (m - REAL(1.0)) / (m + REAL(1.0)), z2 = z * z;
    real sum = REAL(0.1111111111111111);
    sum = fma(sum, z2, REAL(0.14285714285714285));
    sum = fma(sum, z2, REAL(0.2));
    sum = fma(sum, z2, REAL(0.3333333333333333));
    sum = fma(sum, z2, REAL(1.0));
    return (real)exponent * REAL(0.3010299956639812) + REAL(0.8685889638065037) * z * sum;
}

/* Moves what the photons have brought since the last time into the whole sums, and makes of them what is shown. After a
 * coherence time the amplitude starts anew (`fresh`) and its square is kept; `kept` holds the intensity up to then. */
kernel void xray_gather(volatile global long *tally, global long *restrict sums, global real *restrict kept,
                        global real *restrict amplitude, global real *restrict intensity, global real *restrict shown,
                        global real *restrict photons, int fresh)
{
    CELL(i, j);
    const size_t cell = 4 * ((size_t)(Y0 + j) * GNX + (size_t)(X0 + i));
    const index_t at = AT(i, j);
    const real unit = REAL(1.0) / (real)((long)1 << FIXED_BITS);
    const long before = sums[at + 2 * (index_t)PLANE];
    real done = kept[at];
    if (fresh) {
        const real a = amplitude[at], b = amplitude[at + PLANE];
        done = done + (a * a + b * b);
        kept[at] = done;
    }
    const long re = (fresh ? 0 : sums[at]) + tally[cell], im = (fresh ? 0 : sums[at + PLANE]) + tally[cell + 1];
    const long hits = before + tally[cell + 2];
    tally[cell] = 0;
    tally[cell + 1] = 0;
    tally[cell + 2] = 0;
    sums[at] = re;
    sums[at + PLANE] = im;
    sums[at + 2 * (index_t)PLANE] = hits;
    const real a = (real)re * unit, b = (real)im * unit, all = done + (a * a + b * b);
    amplitude[at] = a;
    amplitude[at + PLANE] = b;
    intensity[at] = all;
    shown[at] = decades(all * GAIN + REAL(1.0));
    photons[at] = (real)hits * unit;
}
