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
 * lint: -DBOX_X=8 -DBOX_Y=16 -DBOX_Z=16 -DBLOCK_X=0 -DBLOCK_Y=1 -DBLOCK_Z=1 -DBLOCKS_X=8 -DBLOCKS_Y=8 -DBLOCKS_Z=8 -DFIXED_BITS=22 -DPATH_BITS=12 -DANGLE_BITS=0 -DMOST=1 -DPOLARISED=0 -DPROFILE=0 -DPLACED=0 -DEQUAL_ANGLES=1 -DEXPECTED=0 -DHALVINGS=2 -DREACH=1.5 -DGAIN=1.0 -DTHINNED=0 -DABSORBING=0 -DABSORPTION=0.0 -DKEY0=1 -DKEY1=0 -DSTART_X=-2.5 -DCENTRE_Y=1.5 -DCENTRE_Z=1.5 -DUNIT_Y=0.01 -DUNIT_Z=0.01 -DPER_Y=1.0 -DPER_Z=1.0 -DPATH_SCALE=163840.0 -DAPERTURE_Y=1000000 -DAPERTURE_Z=1000000 -DSHIFT_Y=0 -DSHIFT_Z=0 -DPLACES_Y=8 -DPLACES_Z=8 -DPLACE_Y=65536 -DPLACE_Z=65536 -DDEFICIT=0.005 -DBEAM_U=1.0 -DBEAM_V=0.0 -DBEAM_W=0.0 -DBEAM_ID=0 -DBEAM_IV=0 -DBEAM_IW=0 -DE_U=0.0 -DE_V=1.0 -DE_W=0.0 -DFAR_Y=0.0001 -DFAR_Z=0.0001 -DPER_CELL_Y=1000.0 -DPER_CELL_Z=1000.0 -DSAMPLES=4 -DSTRIDE=7 -DEXPECTATION=1.0
 * lint: -DBOX_X=8 -DBOX_Y=16 -DBOX_Z=16 -DBLOCK_X=0 -DBLOCK_Y=1 -DBLOCK_Z=1 -DBLOCKS_X=8 -DBLOCKS_Y=8 -DBLOCKS_Z=8 -DFIXED_BITS=22 -DPATH_BITS=12 -DANGLE_BITS=12 -DMOST=1000 -DPOLARISED=1 -DPROFILE=1 -DPLACED=1 -DEQUAL_ANGLES=0 -DEXPECTED=1 -DHALVINGS=0 -DREACH=0.1 -DGAIN=1.0 -DTHINNED=1 -DABSORBING=1 -DABSORPTION=0.1 -DKEY0=1 -DKEY1=0 -DSTART_X=-2.5 -DCENTRE_Y=1.5 -DCENTRE_Z=1.5 -DUNIT_Y=0.01 -DUNIT_Z=0.01 -DPER_Y=1.0 -DPER_Z=1.0 -DPATH_SCALE=163840.0 -DAPERTURE_Y=1000000 -DAPERTURE_Z=1000000 -DSHIFT_Y=0 -DSHIFT_Z=0 -DPLACES_Y=8 -DPLACES_Z=8 -DPLACE_Y=65536 -DPLACE_Z=65536 -DDEFICIT=0.005 -DBEAM_U=1.0 -DBEAM_V=0.0 -DBEAM_W=0.0 -DBEAM_ID=0 -DBEAM_IV=0 -DBEAM_IW=0 -DE_U=0.0 -DE_V=1.0 -DE_W=0.0 -DFAR_Y=0.0001 -DFAR_Z=0.0001 -DPER_CELL_Y=1000.0 -DPER_CELL_Z=1000.0 -DSAMPLES=4 -DSTRIDE=7 -DEXPECTATION=1.0
 */
#define CELLS ((uint)GNX * (uint)GNY)
#define KEY ((uint2)(KEY0, KEY1))
#define FAR_AWAY REAL(1e30)

/* What work-items count in `lives`: photons by number of scatterings (the last: that or more), and how they ended. */
#define ORDERS 8
#define DETECTED 8
#define STOPPED 9
#define MISSED 10
#define SCATTERINGS 11
#define COSINES 12 /* sum of the flight direction's x at the end, in units of 2^-30; of its square */
#define SQUARES 13
#define ABSORBED 14 /* photons in units of 2^-30 */

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

static inline walk begin(real p, real d, real at, int bits, int blocks)
{
    walk w;
    w.p = p;
    w.still = d == 0;
    w.inverse = w.still ? REAL(0.0) : REAL(1.0) / d;
    w.forward = d > 0;
    w.block = clamp((int)floor(at) >> bits, 0, blocks - 1);
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

static inline void enter_blocks(photon *p)
{
    p->a = begin(p->x, p->dx, p->x + p->dx * p->t, BLOCK_X, BLOCKS_X);
    p->b = begin(p->y, p->dy, p->y + p->dy * p->t, BLOCK_Y, BLOCKS_Y);
    p->c = begin(p->z, p->dz, p->z + p->dz * p->t, BLOCK_Z, BLOCKS_Z);
    p->ta = leave(p->a, BLOCK_X, BOX_X);
    p->tb = leave(p->b, BLOCK_Y, BOX_Y);
    p->tc = leave(p->c, BLOCK_Z, BOX_Z);
}

/* Through the entrance, to the box; 0 when it misses that. */
static inline int start(photon *p, ulong number)
{
    p->number = (uint4)((uint)number, (uint)(number >> 32), 0, 0);
    p->words = philox(p->number, KEY);
    p->d.u = BEAM_U;
    p->d.v = BEAM_V;
    p->d.w = BEAM_W;
    p->d.id = BEAM_ID;
    p->d.iv = BEAM_IV;
    p->d.iw = BEAM_IW;
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
    p->dx = p->d.u;
    p->dy = p->d.v * PER_Y;
    p->dz = p->d.w * PER_Z;
    p->scatterings = 0;
    p->weight = 1;
    real in = 0, out = FAR_AWAY;
    if (!between(p->x, p->dx, (real)BOX_X, &in, &out) || !between(p->y, p->dy, (real)BOX_Y, &in, &out) ||
        !between(p->z, p->dz, (real)BOX_Z, &in, &out))
        return 0;
    p->t = in;
    p->depth = minus_log(p->words.s2);
    enter_blocks(p);
    return 1;
}

/* From block to block up to the next tentative collision; 0 when the photon leaves the box before. */
static inline int reach_collision(photon *p, global const real *majorant, real *most)
{
    for (;;) {
        *most = majorant[((size_t)p->c.block * BLOCKS_Y + p->b.block) * BLOCKS_X + p->a.block];
        const real next = p->ta < p->tb ? (p->ta < p->tc ? p->ta : p->tc) : (p->tb < p->tc ? p->tb : p->tc);
        const real way = next > p->t ? next - p->t : REAL(0.0);
        if (p->depth < *most * way)
            return 1;
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
            return 0;
    }
}

/* The collision: refused, or a scattering; 0 when it was the photon's last. */
static inline int collide(photon *p, real most, global const real *optical, global const int *toward,
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
              optical[((size_t)cz * BOX_Y + cy) * BOX_X + cx]))
            return 1;
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
        return 0;
    p->x = x;
    p->y = y;
    p->z = z;
    p->dx = p->d.u;
    p->dy = p->d.v * PER_Y;
    p->dz = p->d.w * PER_Z;
    p->t = 0;
    enter_blocks(p);
    return 1;
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

static inline void count_up(volatile global long *own, int which, long value)
{
    if (value != 0)
        fixed_add(own + which * (size_t)PLANE, value);
}

/* Photons first ... first + rounds * CELLS - 1 below `end`, the numbers in two words, for each cell by `layers`
 * work-items in turn. One whose photon has landed takes its next at once, so that long lives are not waited for. */
kernel void xray_fly(global const real *restrict optical, global const real *restrict majorant,
                     global const int *restrict toward, global const real *restrict angle, volatile global long *tally,
                     volatile global long *lives, uint first0, uint first1, uint end0, uint end1, uint rounds,
                     uint layers)
{
    CELL(i, j);
    const ulong end = (ulong)end1 << 32 | end0;
    uint round = (uint)get_global_id(2);
    ulong number = ((ulong)first1 << 32 | first0) + (ulong)(Y0 + j) * GNX + (ulong)(X0 + i) + (ulong)round * CELLS;
    life count = { 0, 0, 0, 0, 0, 0, 0, 0 };
    photon p;
    int flying = 0;
    while (round < rounds && number < end) {
        if (!flying)
            flying = start(&p, number);
        real most = 0;
        if (flying) /* in two ifs: Mesa 22.3 makes something else of the two calls with && between */
            flying = reach_collision(&p, majorant, &most);
        if (flying)
            flying = collide(&p, most, optical, toward, angle, tally, &count);
        if (!flying) {
            land(&p, toward, tally, &count);
            round += layers;
            number += (ulong)layers * CELLS;
        }
    }
    volatile global long *own = lives + AT(i, j);
    for (int n = 0; n < ORDERS; n++)
        count_up(own, n, (long)(count.orders >> 8 * n & 255));
    count_up(own, DETECTED, count.detected);
    count_up(own, STOPPED, count.stopped);
    count_up(own, MISSED, count.missed);
    count_up(own, SCATTERINGS, count.scatterings);
    count_up(own, COSINES, count.cosines);
    count_up(own, SQUARES, count.squares);
    count_up(own, ABSORBED, count.absorbed);
}

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
