/* stencil.h: five-point matrices that are not stored: mass * area - k Laplacian on the nodes of a grid, of which some
 * cells (the squares between nodes) do not belong to the domain. One byte per node says it all:
 *   bits 0-3   whether the cell to the south-west, south-east, north-west, north-east belongs to the domain
 *   bits 4-7   whether the neighbour to the west, east, south, north is an unknown
 * 0: the node is no unknown. A node's control volume are the quarters of its cells, `area` their number over four; the
 * face towards a neighbour has half of its length in each of the two cells beside it. The entry towards the neighbour
 * is -(kx or ky) times that length; diagonal[cells] holds the entries of the diagonal for all sixteen sets of cells. */
#define STENCIL_WEST 16
#define STENCIL_EAST 32
#define STENCIL_SOUTH 64
#define STENCIL_NORTH 128
#define STENCIL_INSIDE 255 /* all eight */

/* The coupling through a face between the cells that bits a and b of s stand for. */
static inline real stencil_face(real k, int s, int a, int b)
{
    return k * (REAL(0.5) * (real)((s >> a & 1) + (s >> b & 1)));
}

/* The element at (dx, dy) from `at`. */
#define AROUND(dx, dy) (at + (dx) + (index_t)(dy) * PITCH)

/* real sum = (A v) at one point from its value `here` and the function-like macro v(dx, dy) for the neighbours; the
 * order of additions is part of the specification. All neighbours are read, in the halo too, so that no load waits for
 * the bits; what is read there does not count. Where there is no unknown the sum is zero. A node with all bits has whole
 * faces: a GPU does not look at single bits there, and gets the same values. */
#define STENCIL_PRODUCT(sum, s, here, v)                                                       \
    real sum;                                                                                  \
    {                                                                                          \
        const real west_ = v(-1, 0), east_ = v(1, 0);                                          \
        const real south_ = v(0, -1), north_ = v(0, 1);                                        \
        if (!IS_CPU && (s) == STENCIL_INSIDE) {                                                \
            sum = diagonal[15] * (here) - kx * west_ - kx * east_ - ky * south_ - ky * north_; \
        } else {                                                                               \
            sum = diagonal[(s)&15] * (here);                                                   \
            sum = sum - ((s)&STENCIL_WEST ? stencil_face(kx, s, 0, 2) * west_ : 0);            \
            sum = sum - ((s)&STENCIL_EAST ? stencil_face(kx, s, 1, 3) * east_ : 0);            \
            sum = sum - ((s)&STENCIL_SOUTH ? stencil_face(ky, s, 0, 1) * south_ : 0);          \
            sum = sum - ((s)&STENCIL_NORTH ? stencil_face(ky, s, 2, 3) * north_ : 0);          \
        }                                                                                      \
    }

/* The arguments that every kernel with a stencil has. */
#define STENCIL_ARGUMENTS global const uchar *restrict stencil, global const real *restrict diagonal, real kx, real ky
