/* maxwell_layouts.cl: the iteration of maxwell.cl with all fields split and with coefficients in every cell, stored as
 * an array of structures (INTERLEAVED) or as a structure of arrays. Periodic sides, a plane wave at normal incidence.
 *
 * A record of E has 20 complex numbers (so has one of H): the parts xy, xz, yz, yx, zx, zy (the component, then the
 * component of the other field whose derivative drives it), what they are multiplied by (t), what the difference is
 * multiplied by (c), and what is added to xy and yx at the source:
 *     part = t part + c difference (+ ramp source) */
#define RECORD 20
#if INTERLEAVED
#define OF(f, member, at) f[(long)(at) * RECORD + (member)]
#else
#define OF(f, member, at) f[(long)(member)*PLANE + (at)]
#endif
#define FIELD_X(f, at) (OF(f, 0, at) + OF(f, 1, at))
#define FIELD_Y(f, at) (OF(f, 2, at) + OF(f, 3, at))
#define FIELD_Z(f, at) (OF(f, 4, at) + OF(f, 5, at))
#define PART(f, c, at, difference) (times(OF(f, 6 + (c), at), OF(f, c, at)) + times(OF(f, 12 + (c), at), difference))
#define STORE_PARTS(f, at) \
    OF(f, 0, at) = xy;     \
    OF(f, 1, at) = xz;     \
    OF(f, 2, at) = yz;     \
    OF(f, 3, at) = yx;     \
    OF(f, 4, at) = zx;     \
    OF(f, 5, at) = zy;

static inline real2 times(real2 a, real2 b) { return (real2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

static inline real square(real2 a) { return a.x * a.x + a.y * a.y; }

static inline real largest(real2 a, real2 b, real2 c) { return larger(larger(square(a), square(b)), square(c)); }

kernel void maxwell_layouts_H(global const real2 *restrict E, global real2 *restrict H, real ramp)
{
    CELL3(i, j, k);
    const index_t at = AT3(i, j, k), east = at + 1, north = at + PITCH, above = at + SLICE;
    const int top = Z0 + k == GNZ - 1;
    const real2 none = (real2)(0, 0), e_x = FIELD_X(E, at), e_y = FIELD_Y(E, at), e_z = FIELD_Z(E, at);
    const real2 e_y_above = top ? none : FIELD_Y(E, above), e_x_above = top ? none : FIELD_X(E, above);
    const real2 xy = PART(H, 0, at, e_y_above - e_y) + ramp * OF(H, 18, at);
    const real2 xz = PART(H, 1, at, e_z - FIELD_Z(E, north));
    const real2 yz = PART(H, 2, at, FIELD_Z(E, east) - e_z);
    const real2 yx = PART(H, 3, at, e_x - e_x_above) + ramp * OF(H, 19, at);
    const real2 zx = PART(H, 4, at, FIELD_X(E, north) - e_x);
    const real2 zy = PART(H, 5, at, e_y - FIELD_Y(E, east));
    STORE_PARTS(H, at)
}

/* With the largest |change|^2 and |E|^2 of every block. */
kernel void maxwell_layouts_E(global const real2 *restrict H, global real2 *restrict E, real ramp,
                              global acc *restrict partials)
{
    local acc changes[LANES], sizes[LANES];
    CLEAR_LANES(changes);
    CLEAR_LANES(sizes);
    FOR_CELLS(1, i, j, lane) {
        const index_t at = AT3(i, j, block_k()), west = at - 1, south = at - PITCH, below = at - SLICE;
        const int bottom = Z0 + block_k() == 0;
        const real2 none = (real2)(0, 0), h_x = FIELD_X(H, at), h_y = FIELD_Y(H, at), h_z = FIELD_Z(H, at);
        const real2 h_y_below = bottom ? none : FIELD_Y(H, below), h_x_below = bottom ? none : FIELD_X(H, below);
        const real2 old_x = FIELD_X(E, at), old_y = FIELD_Y(E, at), old_z = FIELD_Z(E, at);
        const real2 xy = PART(E, 0, at, h_y_below - h_y) + ramp * OF(E, 18, at);
        const real2 xz = PART(E, 1, at, h_z - FIELD_Z(H, south));
        const real2 yz = PART(E, 2, at, FIELD_Z(H, west) - h_z);
        const real2 yx = PART(E, 3, at, h_x - h_x_below) + ramp * OF(E, 19, at);
        const real2 zx = PART(E, 4, at, FIELD_X(H, south) - h_x);
        const real2 zy = PART(E, 5, at, h_y - FIELD_Y(H, west));
        STORE_PARTS(E, at)
        const real2 new_x = xy + xz, new_y = yz + yx, new_z = zx + zy;
        changes[lane] = larger(changes[lane], largest(new_x - old_x, new_y - old_y, new_z - old_z));
        sizes[lane] = larger(sizes[lane], largest(new_x, new_y, new_z));
    }
    put_partial_max(partials, 0, changes);
    put_partial_max(partials, 1, sizes);
}

/* The components as sums of their parts. */
kernel void maxwell_layouts_add_parts(global const real2 *restrict record, global real2 *restrict field)
{
    CELL3(i, j, k);
    const index_t at = AT3(i, j, k);
    field[at] = FIELD_X(record, at);
    field[at + PLANE] = FIELD_Y(record, at);
    field[at + 2 * PLANE] = FIELD_Z(record, at);
}

kernel void maxwell_layouts_maxima(global const acc *restrict partials, global real *restrict maxima)
{
    local acc scratch[FINISH_LANES];
    const acc change = total_max(partials, 0, scratch);
    const acc size = total_max(partials, 1, scratch);
    if (get_local_id(0) == 0) {
        maxima[0] = change;
        maxima[1] = size;
    }
}
