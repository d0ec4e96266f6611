/* capacitance.cl: from the solution on a rectangle to that with obstacles in it, on which x is given: docs/flow.md,
 * "Obstacles in the direct solver", and src/numerics/capacitance_plan.h.
 * SURFACE_MOST: surface nodes at most. */

/* So many surface nodes at once, whose loads overlap. */
#define AT_ONCE 32

/* x = filled + sum over surface nodes k < count, in this order, of x - filled there times influence k, at the unknowns
 * of a row. surface: the places of these nodes; window: the first node along x and y at which they count, and how many
 * there are along each. */
kernel void capacitance_correct(global const real *restrict filled, global const int *restrict surface,
                                global const real *restrict influence, global const uchar *restrict stencil, int count,
                                int window_x, int window_y, int window_nx, int window_ny, global real *restrict x)
{
    local real values[SURFACE_MOST], own[NX];
    FOR_LANES(k, count)
        values[k] = x[surface[k]] - filled[surface[k]];
    barrier(CLK_LOCAL_MEM_FENCE);
    const int j = (int)get_global_id(1) - Y0, row = j - window_y;
    const bool in_window = row >= 0 && row < window_ny;
    const int begin = in_window ? window_x : NX, end = in_window ? window_x + window_nx : NX;
    const index_t at = AT(0, j), plane = (index_t)window_nx * window_ny;
    if (!HAS_ROWS)
        return;
    EACH_LANE_OF_ROW(i, 0, begin, STORE_IF(stencil[at + i] != 0, x[at + i], filled[at + i]))
    EACH_LANE_OF_ROW(i, end, NX, STORE_IF(stencil[at + i] != 0, x[at + i], filled[at + i]))
    if (!in_window)
        return;
    global const real *here = influence + (index_t)row * window_nx - window_x;
    EACH_LANE_OF_ROW(i, begin, end, own[i] = 0)
    int k = 0;
#define NEXT(q) sum = sum + values[k + q] * here[(k + q) * plane + i];
#define NEXT_8(q) NEXT(q) NEXT(q + 1) NEXT(q + 2) NEXT(q + 3) NEXT(q + 4) NEXT(q + 5) NEXT(q + 6) NEXT(q + 7)
#if LOADS_AT_ONCE >= AT_ONCE
    for (; k + AT_ONCE <= count; k += AT_ONCE)
        EACH_LANE_OF_ROW(i, begin, end, real sum = own[i]; NEXT_8(0) NEXT_8(8) NEXT_8(16) NEXT_8(24) own[i] = sum)
#endif
    for (; k + 8 <= count; k += 8)
        EACH_LANE_OF_ROW(i, begin, end, real sum = own[i]; NEXT_8(0) own[i] = sum)
    for (; k < count; k++)
        EACH_LANE_OF_ROW(i, begin, end, real sum = own[i]; NEXT(0) own[i] = sum)
    EACH_LANE_OF_ROW(i, begin, end, STORE_IF(stencil[at + i] != 0, x[at + i], filled[at + i] + own[i]))
}
