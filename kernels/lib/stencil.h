/* stencil.h: five-point matrices that are not stored: mass * area - k Laplacian on the nodes of a grid, of which some
 * cells (the squares between nodes) do not belong to the domain. One byte per node says it all:
 *   bits 0-3   whether the cell to the south-west, south-east, north-west, north-east belongs to the domain
 *   bits 4-7   whether the neighbour to the west, east, south, north is an unknown, or one whose value is in the row
 * 0: the node is no unknown. A node's control volume are the quarters of its cells, `area` their number over four; the
 * face towards a neighbour has half of its length in each of the two cells beside it. The entry towards the neighbour
 * is -(kx or ky) times that length; diagonal[cells] holds the entries of the diagonal for all sixteen sets of cells.
 *
 * On a stretched grid (STRETCHED; src/numerics/stencil.h) kx and ky are those of the mean spacing, and `axes` has for
 * each dimension the widths of the cells over it, from the one below the first node to the one above the last (1
 * outside), their inverses, and at each node the inverse of the mean of both. diagonal[15] then is `mass`. The node is
 * (i, j) of the box, where functions and kernels have variables of these names. */
#define STENCIL_WEST 16
#define STENCIL_EAST 32
#define STENCIL_SOUTH 64
#define STENCIL_NORTH 128
#define STENCIL_INSIDE 255 /* all eight */
/* What a loop over cells alike (lanes.h) has for the byte of a node. */
#define STENCIL_HERE(at) CODE_HERE(stencil[at], STENCIL_INSIDE)

#if STRETCHED
#define WITH_AXES , global const real *axes           /* parameter of a function that has (i, j) */
#define AXES_AT , global const real *axes, int i, int j
#define AXES_ARGUMENT global const real *restrict axes, /* of a kernel */
#define AXIS_X(k, at) axes[(k) * (GNX + 1) + (X0 + i) + (at)]
#define AXIS_Y(k, at) axes[3 * (GNX + 1) + (k) * (GNY + 1) + (Y0 + j) + (at)]
/* Of the cell below (0) or above (1). */
#define WIDTH_X(at) AXIS_X(0, at)
#define WIDTH_Y(at) AXIS_Y(0, at)
#define PER_WIDTH_X(at) AXIS_X(1, at)
#define PER_WIDTH_Y(at) AXIS_Y(1, at)
#define AT_NODE_X(k) ((k)*AXIS_X(2, 0))
#define AT_NODE_Y(k) ((k)*AXIS_Y(2, 0))
/* Outside the grid, where nothing is an unknown, there are no spacings either: those of the nearest node do. */
#define WITHIN_X(i) clamp(i, -X0, GNX - 1 - X0)
#define WITHIN_Y(j) clamp(j, -Y0, GNY - 1 - Y0)
#else
#define WITH_AXES
#define AXES_AT
#define AXES_ARGUMENT global const real *no_axes __attribute__((unused)), /* NULL */
#define AT_NODE_X(k) k
#define AT_NODE_Y(k) k
#define WITHIN_X(i) i
#define WITHIN_Y(j) j
#endif

/* The coupling through a face between the cells that bits a and b of s stand for. */
static inline real stencil_face(real k, int s, int a, int b AXES_AT)
{
#if STRETCHED
    const int across_x = b == a + 2;
    const real low = across_x ? WIDTH_Y(0) : WIDTH_X(0), high = across_x ? WIDTH_Y(1) : WIDTH_X(1);
    const real length = REAL(0.5) * ((s >> a & 1 ? low : 0) + (s >> b & 1 ? high : 0));
    return k * (length * (across_x ? PER_WIDTH_X(a) : PER_WIDTH_Y(a / 2)));
#else
    return k * (REAL(0.5) * (real)((s >> a & 1) + (s >> b & 1)));
#endif
}

/* Control volume over h_x h_y. */
static inline real stencil_area(int s AXES_AT)
{
#if STRETCHED
    const real south = (s & 1 ? WIDTH_X(0) : 0) + (s & 2 ? WIDTH_X(1) : 0);
    const real north = (s & 4 ? WIDTH_X(0) : 0) + (s & 8 ? WIDTH_X(1) : 0);
    return REAL(0.25) * (WIDTH_Y(0) * south + WIDTH_Y(1) * north);
#else
    return REAL(0.25) * (real)((s & 1) + (s >> 1 & 1) + (s >> 2 & 1) + (s >> 3 & 1));
#endif
}

#if STRETCHED
#define stencil_face(k, s, a, b) stencil_face(k, s, a, b, axes, i, j)
#define stencil_area(s) stencil_area(s, axes, i, j)
#endif

/* The element at (dx, dy) from `at`. */
#define AROUND(dx, dy) (at + (dx) + (index_t)(dy) * PITCH)

/* real sum = (A v) at one point from its value `here` and the function-like macro v(dx, dy) for the neighbours; the
 * order of additions is part of the specification. All neighbours are read, in the halo too, so that no load waits for
 * the bits; what is read there does not count. Where there is no unknown the sum is zero. A node with all bits has whole
 * faces: a GPU does not look at single bits there, and gets the same values. */
#if STRETCHED
#define STENCIL_PRODUCT(sum, s, here, v)                                                                  \
    real sum;                                                                                             \
    {                                                                                                     \
        const real west_ = stencil_face(kx, s, 0, 2), east_ = stencil_face(kx, s, 1, 3);                  \
        const real south_ = stencil_face(ky, s, 0, 1), north_ = stencil_face(ky, s, 2, 3);                \
        sum = (diagonal[15] * stencil_area(s) + ((west_ + east_) + (south_ + north_))) * (here);          \
        sum = sum - ((s)&STENCIL_WEST ? west_ * v(-1, 0) : 0);                                            \
        sum = sum - ((s)&STENCIL_EAST ? east_ * v(1, 0) : 0);                                             \
        sum = sum - ((s)&STENCIL_SOUTH ? south_ * v(0, -1) : 0);                                          \
        sum = sum - ((s)&STENCIL_NORTH ? north_ * v(0, 1) : 0);                                           \
    }
#else
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
#endif

/* The arguments that every kernel with a stencil has. */
#define STENCIL_ARGUMENTS                                                                                    \
    AXES_ARGUMENT global const uchar *restrict stencil, global const real *restrict diagonal, real kx, real ky
