/* pair.h: complex numbers as pairs, in the roundings of src/numerics/pair.h. */
static inline real2 cmul(real2 a, real2 b) { return (real2)(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x)); }

/* c + a b */
static inline real2 cfma(real2 a, real2 b, real2 c)
{
    return (real2)(fma(-a.y, b.y, fma(a.x, b.x, c.x)), fma(a.y, b.x, fma(a.x, b.y, c.y)));
}
