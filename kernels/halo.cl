/* halo.cl: moves and fills boxes of elements, for the exchange of halos between boxes: once for all solvers. An
 * element is a word of 1, 4, 8 or 16 bytes; components lie a plane apart and are taken as the slowest part of the
 * third dimension.
 *
 *   first   element of the corner        rows, slices, planes: elements from one to the next
 *   nx ny   extent in cells              layers: extent in the third dimension, of one component
 */
#define EXTENT(x, y, z)                 \
    const int x = (int)get_global_id(0); \
    const int y = (int)get_global_id(1); \
    const int z = (int)get_global_id(2); \
    if (x >= nx || y >= ny || z >= layers * components) \
    return

#define ELEMENT(first, pitch, slice, plane) \
    ((first) + (z / layers) * (plane) + (z % layers) * (slice) + y * (pitch) + x)

#define COPY_KERNEL(name, word)                                                                                \
    kernel void name(global const word *from, global word *to, long from_first, long from_pitch,               \
                     long from_slice, long from_plane, long to_first, long to_pitch, long to_slice,            \
                     long to_plane, int nx, int ny, int layers, int components)                                \
    {                                                                                                          \
        EXTENT(x, y, z);                                                                                       \
        to[ELEMENT(to_first, to_pitch, to_slice, to_plane)] =                                                  \
            from[ELEMENT(from_first, from_pitch, from_slice, from_plane)];                                     \
    }

#define FILL_KERNEL(name, word, value)                                                                         \
    kernel void name(global word *to, uint paint, long first, long pitch, long slice, long plane, int nx,      \
                     int ny, int layers, int components)                                                       \
    {                                                                                                          \
        EXTENT(x, y, z);                                                                                       \
        to[ELEMENT(first, pitch, slice, plane)] = value;                                                       \
    }

COPY_KERNEL(halo_copy_1, uchar)
COPY_KERNEL(halo_copy_4, uint)
COPY_KERNEL(halo_copy_8, uint2)
COPY_KERNEL(halo_copy_16, uint4)

FILL_KERNEL(halo_fill_1, uchar, (uchar)paint)
FILL_KERNEL(halo_fill_4, uint, paint)
FILL_KERNEL(halo_fill_8, uint2, (uint2)(paint))
FILL_KERNEL(halo_fill_16, uint4, (uint4)(paint))
