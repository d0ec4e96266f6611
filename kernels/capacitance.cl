/* capacitance.cl: from the solution on a rectangle to that with obstacles in it, on which x is given: docs/flow.md,
 * "Obstacles in the direct solver", and src/numerics/capacitance_plan.h.
 *   SURFACE                      nodes of obstacles beside unknowns
 *   WINDOW_X, WINDOW_Y           first node at which they count ...
 *   WINDOW_NX, WINDOW_NY         ... and how many there are along each dimension */

/* So many surface nodes at once, whose loads overlap. */
#define AT_ONCE 8

/* x = filled - sum over surface nodes k, in this order, of filled there times influence k, at the unknowns of a row.
 * surface: the places of these nodes. */
kernel void capacitance_correct(global const real *restrict filled, global const int *restrict surface,
                                global const real *restrict influence, global const uchar *restrict stencil,
                                global real *restrict x)
{
    local real values[SURFACE], own[WINDOW_NX];
    FOR_LANES(k, SURFACE)
        values[k] = filled[surface[k]];
    barrier(CLK_LOCAL_MEM_FENCE);
    const int j = (int)get_global_id(1) - Y0, row = j - WINDOW_Y;
    const bool in_window = (uint)row < WINDOW_NY;
    const int begin = in_window ? WINDOW_X : NX, end = in_window ? WINDOW_X + WINDOW_NX : NX;
    const index_t at = AT(0, j);
    if (!HAS_ROWS)
        return;
    EACH_LANE_OF_ROW(i, 0, begin, STORE_IF(stencil[at + i] != 0, x[at + i], filled[at + i]))
    EACH_LANE_OF_ROW(i, end, NX, STORE_IF(stencil[at + i] != 0, x[at + i], filled[at + i]))
    if (!in_window)
        return;
    global const real *here = influence + (index_t)row * WINDOW_NX - WINDOW_X;
    EACH_LANE_OF_ROW(i, begin, end, own[i - WINDOW_X] = filled[at + i])
    int k = 0;
#define NEXT(q) sum = sum - values[k + q] * here[(k + q) * (WINDOW_NX * WINDOW_NY) + i];
    for (; k + AT_ONCE <= SURFACE; k += AT_ONCE)
        EACH_LANE_OF_ROW(i, begin, end, real sum = own[i - WINDOW_X]; NEXT(0) NEXT(1) NEXT(2) NEXT(3) NEXT(4) NEXT(5)
                         NEXT(6) NEXT(7) own[i - WINDOW_X] = sum)
    for (; k < SURFACE; k++)
        EACH_LANE_OF_ROW(i, begin, end, real sum = own[i - WINDOW_X]; NEXT(0) own[i - WINDOW_X] = sum)
    EACH_LANE_OF_ROW(i, begin, end, STORE_IF(stencil[at + i] != 0, x[at + i], own[i - WINDOW_X]))
}
