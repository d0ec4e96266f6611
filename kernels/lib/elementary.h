/* elementary.h: elementary functions with the same bits on every device: exponent and mantissa from the bits of the
 * number, then a series by Horner's rule, each step one fma(). The first term left out is below half a unit in the last
 * place. */

/* Cosine and, in *s, sine of an angle in units of 2 pi / 2^32: the half revolution from the upper bits, then a
 * polynomial for at most a quarter of one: in double precision Taylor's series, in single, where fewer terms do, that
 * whose largest error is least, 3e-9. */
static inline real cos_sin(uint angle, real *s)
{
    const uint back = (angle + 0x40000000u) & 0x80000000u;
    const real x = (real)(int)(angle - back) * REAL(1.4629180792671596e-09), x2 = x * x;
#if REAL_BYTES == 8
    real a = REAL(1.9572941063391263e-20), b = REAL(4.110317623312165e-19);
    a = fma(a, x2, REAL(-8.22063524662433e-18));
    a = fma(a, x2, REAL(2.8114572543455206e-15));
    a = fma(a, x2, REAL(-7.647163731819816e-13));
    a = fma(a, x2, REAL(1.6059043836821613e-10));
    a = fma(a, x2, REAL(-2.505210838544172e-08));
    a = fma(a, x2, REAL(2.7557319223985893e-06));
    a = fma(a, x2, REAL(-0.0001984126984126984));
    a = fma(a, x2, REAL(0.008333333333333333));
    a = fma(a, x2, REAL(-0.16666666666666666));
    b = fma(b, x2, REAL(-1.5619206968586225e-16));
    b = fma(b, x2, REAL(4.779477332387385e-14));
    b = fma(b, x2, REAL(-1.1470745597729725e-11));
    b = fma(b, x2, REAL(2.08767569878681e-09));
    b = fma(b, x2, REAL(-2.755731922398589e-07));
    b = fma(b, x2, REAL(2.48015873015873e-05));
    b = fma(b, x2, REAL(-0.001388888888888889));
    b = fma(b, x2, REAL(0.041666666666666664));
#else
    real a = REAL(2.59048852e-06), b = REAL(-2.60514952e-07);
    a = fma(a, x2, REAL(-0.000198008973));
    a = fma(a, x2, REAL(0.00833289977));
    a = fma(a, x2, REAL(-0.166666478));
    b = fma(b, x2, REAL(2.4760162e-05));
    b = fma(b, x2, REAL(-0.00138883619));
    b = fma(b, x2, REAL(0.0416666381));
#endif
    b = fma(b, x2, REAL(-0.5));
    const real sine = fma(a * x2, x, x), cosine = fma(b, x2, REAL(1.0));
    *s = back ? -sine : sine;
    return back ? -cosine : cosine;
}

/* x = 2^exponent m, 1 <= m < 2, of a positive normal number. */
static inline int binary_exponent(real x, real *m)
{
#if REAL_BYTES == 8
    const ulong bits = as_ulong(x);
    *m = as_double((bits & 0xfffffffffffffUL) | 0x3ff0000000000000UL);
    return (int)(bits >> 52) - 1023;
#else
    const uint bits = as_uint(x);
    *m = as_float((bits & 0x7fffffu) | 0x3f800000u);
    return (int)(bits >> 23) - 127;
#endif
}

/* Five terms of artanh(z) / z from z^2, behind `sum`, those of higher order. */
static inline real artanh_series(real sum, real z2)
{
    sum = fma(sum, z2, REAL(0.14285714285714285));
    sum = fma(sum, z2, REAL(0.2));
    sum = fma(sum, z2, REAL(0.3333333333333333));
    return fma(sum, z2, REAL(1.0));
}

/* -ln((w + 1/2) / 2^32), exponentially distributed for random w. Of m near 1 in double precision ln m = 2 artanh((m -
 * 1) / (m + 1)); in single a polynomial without a division, whose largest relative error, 3e-8, is least. */
static inline real exponential(uint w)
{
#if REAL_BYTES == 8
    real m;
    int exponent = binary_exponent(philox_word(w), &m);
    if (m > REAL(1.4142135)) {
        m = REAL(0.5) * m;
        exponent++;
    }
    const real z = (m - REAL(1.0)) / (m + REAL(1.0)), z2 = z * z;
    real sum = REAL(0.043478260869565216);
    sum = fma(sum, z2, REAL(0.047619047619047616));
    sum = fma(sum, z2, REAL(0.05263157894736842));
    sum = fma(sum, z2, REAL(0.058823529411764705));
    sum = fma(sum, z2, REAL(0.06666666666666667));
    sum = fma(sum, z2, REAL(0.07692307692307693));
    sum = fma(sum, z2, REAL(0.09090909090909091));
    sum = fma(sum, z2, REAL(0.1111111111111111));
    return (real)(32 - exponent) * REAL(0.6931471805599453) - REAL(2.0) * z * artanh_series(sum, z2);
#else
    const int bits = as_int(philox_word(w)); /* 2^32 2^exponent m, m from the root of 1/2 to that of 2 */
    const int exponent = (bits - 0x4f3504f3) & ~0x7fffff; /* in units of 2^-23, as in `bits` */
    const real f = as_float(bits - exponent - 0x10000000) - REAL(1.0);
    real sum = REAL(0.0872235774);
    sum = fma(sum, f, REAL(-0.143668443));
    sum = fma(sum, f, REAL(0.149522662));
    sum = fma(sum, f, REAL(-0.165623933));
    sum = fma(sum, f, REAL(0.199568331));
    sum = fma(sum, f, REAL(-0.250020742));
    sum = fma(sum, f, REAL(0.333341867));
    sum = fma(sum, f, REAL(-0.499999881));
    sum = fma(sum, f, REAL(1.0));
    return fma((real)exponent, REAL(-8.26295832e-08), -f * sum); /* ln 2 / 2^23 */
#endif
}

/* log10 of x >= 1 to some six digits, for pictures. */
static inline real decades(real x)
{
    real m;
    const int exponent = binary_exponent(x, &m);
    const real z = (m - REAL(1.0)) / (m + REAL(1.0)), z2 = z * z;
    return (real)exponent * REAL(0.3010299956639812) +
           REAL(0.8685889638065037) * z * artanh_series(REAL(0.1111111111111111), z2);
}

/* atan x: its argument is halved so many times by atan x = 2 atan(x / (1 + sqrt(1 + x^2))), until the series serves. */
static inline real arctangent(real x, int halvings)
{
    for (int n = 0; n < halvings; n++)
        x = x / (REAL(1.0) + sqrt(REAL(1.0) + x * x));
    const real x2 = x * x;
    real sum = REAL(-0.09090909090909091);
    sum = fma(sum, x2, REAL(0.1111111111111111));
    sum = fma(sum, x2, REAL(-0.14285714285714285));
    sum = fma(sum, x2, REAL(0.2));
    sum = fma(sum, x2, REAL(-0.3333333333333333));
    sum = fma(sum, x2, REAL(1.0));
    return (real)(1 << halvings) * x * sum;
}
