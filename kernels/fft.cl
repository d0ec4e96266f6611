/* fft.cl: between a complex field and the dense array of NX * NY * NZ numbers that a Fourier transform works on. first,
 * pitch, slice: where the field's points lie (kernels/lib/index.h). */
#define POINT(x, y, z)                      \
    const int x = (int)get_global_id(0);    \
    const int y = (int)get_global_id(1);    \
    const int z = (int)get_global_id(2);    \
    if (x >= NX || y >= NY || z >= NZ)      \
    return;                                 \
    const long at = ((long)z * NY + y) * NX + x

#define FIELD(x, y, z) (first + (z)*slice + (y)*pitch + (x))

kernel void fft_pack(global const real2 *restrict field, global real2 *restrict dense, long first, long pitch,
                     long slice)
{
    POINT(x, y, z);
    dense[at] = field[FIELD(x, y, z)];
}

kernel void fft_unpack(global const real2 *restrict dense, global real2 *restrict field, long first, long pitch,
                       long slice, real scale)
{
    POINT(x, y, z);
    field[FIELD(x, y, z)] = scale * dense[at];
}
