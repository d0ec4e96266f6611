/* ray.h: a ray p + t d through a box of nx * ny * nz cells in blocks of 2^bits cells a side (Amanatides and Woo,
 * Eurographics 1987, from block to block). Each axis by itself: a box's sizes are constants, which compilers fold. */
#define FAR_AWAY REAL(1e30)

/* Of three numbers along x, y, z that of axis `cut`. */
#define ALONG(cut, x, y, z) ((cut) == 0 ? (x) : (cut) == 1 ? (y) : (z))

/* Index of a cell, or of a block, in an array whose slowest axis is `cut` and begins with its plane `first`: an array
 * in slabs, one to a device, or (cut 2, first 0) a whole one. */
static inline size_t slab_index(int cut, int first, int x, int y, int z, int nx, int ny, int nz)
{
    if (cut == 0)
        return ((size_t)(x - first) * nz + z) * ny + y;
    if (cut == 1)
        return ((size_t)(y - first) * nz + z) * nx + x;
    return ((size_t)(z - first) * ny + y) * nx + x;
}

/* Where the ray lies between 0 and size along an axis: narrows (*in, *out); 0 if nowhere. Both ends belong to it:
 * single precision rounds the last places before `size` to it. */
static inline int clip_ray(real p, real d, real size, real *in, real *out)
{
    if (d == 0)
        return p >= 0 && p <= size;
    const real inverse = REAL(1.0) / d, a = -p * inverse, b = (size - p) * inverse;
    const real low = a < b ? a : b, high = a < b ? b : a;
    *in = low > *in ? low : *in;
    *out = high < *out ? high : *out;
    return *in < *out;
}

/* Blocks along one axis: the ray's present one, where the ray leaves it, and whether it runs forward or not at all. */
typedef struct ray_axis {
    real p, inverse, exit;
    int block, forward, parallel;
} ray_axis;

static inline int block_at(real place, int bits, int blocks) { return clamp((int)floor(place) >> bits, 0, blocks - 1); }

static inline void set_block(ray_axis *r, int block, int bits, int size)
{
    r->block = block;
    r->exit = r->parallel ? FAR_AWAY : ((real)min((block + r->forward) * (1 << bits), size) - r->p) * r->inverse;
}

static inline void begin_axis(ray_axis *r, real p, real d, real t, int bits, int size, int blocks)
{
    r->p = p;
    r->parallel = d == 0;
    r->inverse = r->parallel ? REAL(0.0) : REAL(1.0) / d;
    r->forward = d > 0;
    set_block(r, block_at(p + d * t, bits, blocks), bits, size);
}

/* Into the next block; 0 behind the last one. */
static inline int next_block(ray_axis *r, int bits, int size, int blocks)
{
    set_block(r, r->block + (r->forward ? 1 : -1), bits, size);
    return r->block >= 0 && r->block < blocks;
}

/* Whether a place lies in a block, and so in the box. */
static inline int is_in_block(real place, int block, int bits, int size)
{
    return place >= (real)(block << bits) && place < (real)min((block + 1) << bits, size);
}

/* The cell of a place that is known to be in a block. */
static inline int cell_in_block(real place, int block, int bits, int size)
{
    return clamp((int)floor(place), block << bits, min((block + 1) << bits, size) - 1);
}
