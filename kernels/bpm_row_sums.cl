/* bpm_row_sums.cl: what each row of the cross-section of a beam in space adds to what is observed of it, on grids of
 * any size: sums over the nodes i of a row, with psi times the scale of the axis,
 *     |psi|^2, |psi|^2 d, |psi|^2 d^2 with d = i - middle, and the two parts of conj(start) psi.
 * Each sum is a number and what rounding has left over so far (Knuth 1969, Dekker 1971), as good as one of twice the
 * digits; LANES lanes take every so many-th node, LAST_LANES lanes these, so that the bits depend on no work-group. */
#define SUMS 5 /* BPM_ROW_SUMS of the host */
#define LAST_LANES 16

/* high + low + x + left_over; `low` takes what the sum high + x rounds away. */
INLINED void add(local real *high, local real *low, real x, real left_over)
{
    const real sum = *high + x, added = sum - *high;
    *low += ((*high - (sum - added)) + (x - added)) + left_over;
    *high = sum;
}

/* To a lane those `apart`, 2 apart, ... from it, `count` with its own. */
static inline void fold(local real *high, local real *low, int apart, int count)
{
    for (int n = 1; n < count; n++)
        add(high, low, high[n * apart], low[n * apart]);
}

INLINED void add_product(local real *high, local real *low, real a, real b)
{
    const real product = a * b;
    add(high, low, product, fma(a, b, -product));
}

/* high, low: of a lane, those of the next sum LANES further. */
INLINED void add_node(local real *high, local real *low, real re, real im, real start_re, real start_im, real d)
{
    const real intensity = fma(re, re, im * im);
    add_product(high, low, re, re);
    add_product(high, low, im, im);
    add_product(high + LANES, low + LANES, intensity, d);
    add_product(high + 2 * LANES, low + 2 * LANES, intensity * d, d);
    add_product(high + 3 * LANES, low + 3 * LANES, start_re, re);
    add_product(high + 3 * LANES, low + 3 * LANES, start_im, im);
    add_product(high + 4 * LANES, low + 4 * LANES, start_re, im);
    add_product(high + 4 * LANES, low + 4 * LANES, -start_im, re);
}

/* psi, start, scale: pairs, by numbers, of which compilers for CPUs make vectors; scale: NULL, or of each node along x.
 * own: sizes of the grid; there: of that of the sums, SUMS or more to a row, pairs of the number and what is left over.
 */
kernel void bpm_row_sums(const int16 own, const int16 there, global const real *restrict psi,
                         global const real *restrict start, global const real *restrict scale, int middle,
                         global real2 *restrict sums)
{
    local real high[SUMS * LANES], low[SUMS * LANES];
    const int row = (int)get_global_id(1) - own.SIZES_Y0, nodes = own.SIZES_NX;
    const index_t at = own.SIZES_FIRST + (index_t)row * own.SIZES_PITCH;
    FOR_LANES(n, SUMS * LANES)
        high[n] = low[n] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int first = 0; first < nodes; first += LANES) {
        global const real *here = psi + 2 * (at + first), *before = start + 2 * (at + first), *by = scale + 2 * first;
        const int count = min(LANES, nodes - first), from_middle = first - middle;
        if (scale)
            EACH_LANE(lane, count,
                      const real re = here[2 * lane];
                      const real im = here[2 * lane + 1];
                      const real by_re = by[2 * lane];
                      const real by_im = by[2 * lane + 1];
                      add_node(high + lane, low + lane, fma(re, by_re, -(im * by_im)), fma(re, by_im, im * by_re),
                               before[2 * lane], before[2 * lane + 1], (real)(from_middle + (int)lane)))
        else
            EACH_LANE(lane, count,
                      add_node(high + lane, low + lane, here[2 * lane], here[2 * lane + 1], before[2 * lane],
                               before[2 * lane + 1], (real)(from_middle + (int)lane)))
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_LANES(n, SUMS * LAST_LANES)
        fold(high + n / LAST_LANES * LANES + n % LAST_LANES, low + n / LAST_LANES * LANES + n % LAST_LANES, LAST_LANES,
             LANES / LAST_LANES);
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_LANES(k, SUMS) {
        fold(high + k * LANES, low + k * LANES, 1, LAST_LANES);
        sums[there.SIZES_FIRST + (index_t)row * there.SIZES_PITCH + k] = (real2)(high[k * LANES], low[k * LANES]);
    }
}
