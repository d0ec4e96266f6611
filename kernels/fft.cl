/* fft.cl: between a field and the dense complex array that a Fourier transform works on.
 *
 *   FN0 FN1 FN2   points of the field           M0 M1 M2   points of the dense array, x fastest, no padding
 *   ODD           the extension is odd (sine) rather than even (cosine)
 *
 * Sine and cosine transforms are transforms of the extended field:
 *   odd,  M = 2 (n + 1):   0  a b c  0 -c -b -a        even, M = 2 (n - 1):   a b c d  c b
 * first, pitch, slice: where the field's points lie (kernels/lib/index.h). */
#define DENSE(x, y, z)                      \
    const int x = (int)get_global_id(0);    \
    const int y = (int)get_global_id(1);    \
    const int z = (int)get_global_id(2);    \
    if (x >= M0 || y >= M1 || z >= M2)      \
    return;                                 \
    const long at = ((long)z * M1 + y) * M0 + x

#define FIELD(x, y, z) (first + (z)*slice + (y)*pitch + (x))

/* The field's point behind point i of the extension, -1 where that is zero; the sign is turned in the odd half. */
static inline int source(int i, int n, int m, real *sign)
{
    if (m == n) /* not extended: a dimension that is not there, or a plain transform */
        return i;
#if ODD
    if (i == 0 || i == n + 1)
        return -1;
    if (i > n + 1)
        *sign = -*sign;
    return i <= n ? i - 1 : m - 1 - i;
#else
    return i < n ? i : m - i;
#endif
}

/* Real field, extended, as complex numbers. */
kernel void fft_spread_real(global const real *restrict field, global real2 *restrict dense, long first, long pitch,
                            long slice)
{
    DENSE(x, y, z);
    real sign = 1;
    const int i = source(x, FN0, M0, &sign), j = source(y, FN1, M1, &sign), k = source(z, FN2, M2, &sign);
    dense[at] = (real2)(i < 0 || j < 0 || k < 0 ? 0 : sign * field[FIELD(max(i, 0), max(j, 0), max(k, 0))], 0);
}

kernel void fft_spread_complex(global const real2 *restrict field, global real2 *restrict dense, long first, long pitch,
                               long slice)
{
    DENSE(x, y, z);
    dense[at] = field[FIELD(x, y, z)];
}

/* The whole spectrum of a real field from its first half along x: the rest is its mirror image, conjugated. */
kernel void fft_spread_half(global const real2 *restrict field, global real2 *restrict dense, long first, long pitch,
                            long slice)
{
    DENSE(x, y, z);
    const int mirror = x > M0 / 2;
    const real2 value =
        field[mirror ? FIELD(M0 - x, y == 0 ? 0 : M1 - y, z == 0 ? 0 : M2 - z) : FIELD(x, y, z)];
    dense[at] = (real2)(value.x, mirror ? -value.y : value.y);
}

/* Work-items run over the field. `shift`: 1 where the extension begins with a zero, in the dimensions that are
 * extended. */
#define GATHER(x, y, z)                                                               \
    const int x = (int)get_global_id(0);                                              \
    const int y = (int)get_global_id(1);                                              \
    const int z = (int)get_global_id(2);                                              \
    if (x >= width || y >= FN1 || z >= FN2)                                           \
    return;                                                                           \
    const int x_d = x + (M0 != FN0 ? ODD : 0), y_d = y + (M1 != FN1 ? ODD : 0), z_d = z + (M2 != FN2 ? ODD : 0); \
    const long at = ((long)z_d * M1 + y_d) * M0 + x_d

/* scale_x times the real part plus scale_y times the imaginary part; one of them is zero. */
kernel void fft_gather_real(global const real2 *restrict dense, global real *restrict field, long first, long pitch,
                            long slice, int width, real scale_x, real scale_y)
{
    GATHER(x, y, z);
    field[FIELD(x, y, z)] = scale_x != 0 ? scale_x * dense[at].x : scale_y * dense[at].y;
}

kernel void fft_gather_complex(global const real2 *restrict dense, global real2 *restrict field, long first, long pitch,
                               long slice, int width, real scale_x, real scale_y)
{
    GATHER(x, y, z);
    const real2 v = dense[at]; /* times the complex number (scale_x, scale_y) */
    field[FIELD(x, y, z)] = (real2)(scale_x * v.x - scale_y * v.y, scale_x * v.y + scale_y * v.x);
}
