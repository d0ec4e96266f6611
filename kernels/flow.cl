/* flow.cl: one time step of temperature, vorticity and stream function on the nodes of a rectangle, border included
 * (docs/flow.md):
 *   u = psi_y, v = -psi_x, omega = v_x - u_y
 *
 * node: what a node is, in bits (src/solvers/flow/flow.h): vorticity unknown, stream function unknown, kind and side of
 * the border, for each neighbour (west, east, south, north: four bits from PSI_FIXED, OMEGA_FIXED and HEAT_FIXED) whether
 * its value is given, and the number of the body it belongs to. stencil: area and faces of a node's control volume
 * (lib/stencil.h). */

/* Sum over neighbours whose value is given, each times its coupling; `first` is PSI_FIXED, ... */
#define FIXED(f, n, first, s, kx, ky)                                                                            \
    ((((n) & (first) ? stencil_face(kx, s, 0, 2) * f[at - 1] : 0) +                                              \
      ((n) & 2 * (first) ? stencil_face(kx, s, 1, 3) * f[at + 1] : 0)) +                                         \
     (((n) & 4 * (first) ? stencil_face(ky, s, 0, 1) * f[at - PITCH] : 0) +                                      \
      ((n) & 8 * (first) ? stencil_face(ky, s, 2, 3) * f[at + PITCH] : 0)))

/* Control volume over h_x h_y. */
static inline real stencil_area(int s)
{
    return REAL(0.25) * (real)((s & 1) + (s >> 1 & 1) + (s >> 2 & 1) + (s >> 3 & 1));
}

/* Derivative along one dimension at a node between two others: central, or upwind against the velocity c; i2 = 1 / (2
 * h). */
static inline real convective(real before, real here, real after, real c, real i2)
{
    return UPWIND ? 2 * i2 * (c > 0 ? here - before : after - here) : i2 * (after - before);
}

/* Distance to the node next to the border, and the velocity out of the domain there. */
#define INNER(side) ((side) == 0 ? 1 : (side) == 1 ? -1 : (side) == 2 ? PITCH : -PITCH)
#define OUTWARDS(side, u, v) ((side) == 0 ? -(u) : (side) == 1 ? (u) : (side) == 2 ? -(v) : (v))

/* Share of the difference to the inner neighbour that an outflow carries out in a step: the Courant number, 0 ... 1. */
static inline real carried(int side, real u, real v)
{
    const real c = (side < 2 ? CONVECT_X : CONVECT_Y) * OUTWARDS(side, u, v);
    return c > 1 ? 1 : c > 0 ? c : 0;
}

#if HEAT
/* Right-hand side of (I + dt a A) T_next = T - dt (u T_x + v T_y) + dt a (values given at the border), by control
 * volumes; zero where T is given. T_next starts from T. velocity: u, then v a plane further. */
kernel void flow_heat(global const real *restrict T, global const real *restrict velocity,
                      global const int *restrict node, global const uchar *restrict stencil, global real *restrict rhs,
                      global real *restrict next)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int n = node[at], s = stencil[at], side = n / NODE_SIDE & 3;
    const real t = T[at];
    real sum = 0;
    if (s) {
        const real u = velocity[at], v = velocity[at + PLANE];
        const int inner_x = X0 + i > 0 && X0 + i < GNX - 1, inner_y = Y0 + j > 0 && Y0 + j < GNY - 1;
        const real t_x = inner_x ? convective(T[at - 1], t, T[at + 1], u, IX2) : 0;
        const real t_y = inner_y ? convective(T[at - PITCH], t, T[at + PITCH], v, IY2) : 0;
        real moved = t - DT * (u * t_x + v * t_y);
        if (n & NODE_OUT)
            moved = moved - carried(side, u, v) * (t - T[at + INNER(side)]);
        sum = stencil_area(s) * moved + FIXED(T, n, HEAT_FIXED, s, AX, AY);
    }
    rhs[at] = sum;
    next[at] = t;
}
#endif

/* Right-hand side of (I + dt nu A) omega_next = omega - dt (u omega_x + v omega_y) + dt C T_x + dt nu (values given at the
 * border); zero where omega is no unknown. next starts from omega. */
kernel void flow_advance(global const real *restrict omega, global const real *restrict velocity,
#if HEAT
                         global const real *restrict T,
#endif
                         global const int *restrict node, global const uchar *restrict stencil,
                         global real *restrict rhs, global real *restrict next)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int n = node[at];
    const real w = omega[at];
    real sum = 0;
    if (n & NODE_OMEGA) {
        const int s = stencil[at];
        const real u = velocity[at], v = velocity[at + PLANE];
        const real w_x = convective(omega[at - 1], w, omega[at + 1], u, IX2);
        const real w_y = convective(omega[at - PITCH], w, omega[at + PITCH], v, IY2);
        sum = w - DT * (u * w_x + v * w_y);
#if HEAT
        sum = sum + (DT * BUOYANCY) * (IX2 * (T[at + 1] - T[at - 1]));
#endif
        sum = sum + FIXED(omega, n, OMEGA_FIXED, s, NUX, NUY);
    }
    rhs[at] = sum;
    next[at] = w;
}

/* Right-hand side of A psi = omega + (values given at the border), and the start value 2 psi - psi_before. */
kernel void flow_source(global const real *restrict omega, global const real *restrict psi,
                        global const int *restrict node, global const uchar *restrict stencil,
                        global real *restrict before, global real *restrict rhs)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int n = node[at], s = stencil[at];
    real sum = 0;
    if (n & NODE_PSI) {
        before[at] = psi[at] + (psi[at] - before[at]);
        sum = stencil_area(s) * omega[at] + FIXED(psi, n, PSI_FIXED, s, CX, CY);
    } else {
        before[at] = psi[at];
    }
    rhs[at] = sum;
}

/* Thom (1933) or Woods (1954) in one form, from the node next to the wall: omega_w = -WALL (psi_1 - psi_w) - WALL_OMEGA
 * omega_1, without the slip of a moving wall. */
#define WALL_FORMULA(wall, to) (-(wall) * (psi[at + (to)] - psi[at]) - WALL_OMEGA * next[at + (to)])

/* k (f over there - f here) through the face between the cells that bits a and b of s stand for; nothing is read where there
 * is no face. */
#define THROUGH(f, k, s, a, b, to) ((s) >> (a)&1 || (s) >> (b)&1 ? stencil_face(k, s, a, b) * (f[at + (to)] - f[at]) : 0)

/* Velocity everywhere and vorticity at the border and on bodies from the new psi; the sums of squares of what the steady
 * equations leave over for omega, and of omega, the largest |u| + |v|, and the sum for T. What is left over is given as the
 * change that an explicit step would make of it: dt (nu Laplace omega - u omega_x - v omega_y + C T_x) in the fluid, at walls
 * and on bodies dt nu / h^2 (formula - omega), as it spreads to the node beside; see docs/flow.md. */
kernel void flow_walls(global const real *restrict psi, global const real *restrict next,
#if HEAT
                       global const real *restrict T, global const uchar *restrict stencil,
#endif
                       global const int *restrict node, global real *restrict omega, global real *restrict velocity,
                       global acc *restrict partials)
{
    local acc rests[LANES], sizes[LANES], speeds[LANES];
#if HEAT
    local acc heats[LANES];
    CLEAR_LANES(heats);
#endif
    CLEAR_LANES(rests);
    CLEAR_LANES(sizes);
    CLEAR_LANES(speeds);
    FOR_CELLS(1, i, j, lane) {
        const index_t at = AT(i, j);
        const int n = node[at], side = n / NODE_SIDE & 3;
        const real old = omega[at];
        real w = next[at], u = velocity[at], v = velocity[at + PLANE], rest = 0;
        if (n & NODE_OMEGA) {
            const real west = next[at - 1], east = next[at + 1], south = next[at - PITCH], north = next[at + PITCH];
            u = IY2 * (psi[at + PITCH] - psi[at - PITCH]);
            v = IX2 * (psi[at - 1] - psi[at + 1]);
            rest = (NUX * ((west - w) + (east - w)) + NUY * ((south - w) + (north - w))) -
                   DT * (u * convective(west, w, east, u, IX2) + v * convective(south, w, north, v, IY2));
#if HEAT
            rest = rest + (DT * BUOYANCY) * (IX2 * (T[at + 1] - T[at - 1]));
#endif
        } else if (n & NODE_WALL) { /* the velocity is the wall's own */
            const real formula = WALL_FORMULA(side < 2 ? WALL_X : WALL_Y, INNER(side));
            const real slip = (side < 2 ? SLIP_X * v : SLIP_Y * u);
            const real wall = formula - (side == 0 || side == 3 ? slip : -slip);
            w = old + THETA * (wall - old);
            rest = (side < 2 ? NUX : NUY) * (wall - old);
        } else if (n & NODE_BODY) { /* at rest; the mean of what the fluid on each side asks for */
            real sum = 0;
            int count = 0;
            if (n & PSI_FIXED)
                sum = sum + WALL_FORMULA(WALL_X, -1), count++;
            if (n & 2 * PSI_FIXED)
                sum = sum + WALL_FORMULA(WALL_X, 1), count++;
            if (n & 4 * PSI_FIXED)
                sum = sum + WALL_FORMULA(WALL_Y, -PITCH), count++;
            if (n & 8 * PSI_FIXED)
                sum = sum + WALL_FORMULA(WALL_Y, PITCH), count++;
            const real wall = sum / (real)count;
            w = old + THETA * (wall - old);
            rest = (NUX > NUY ? NUX : NUY) * (wall - old);
        } else if (n & NODE_FREE) { /* omega = 0: psi is straight along the normal */
            const real drop = psi[at + INNER(side)] - psi[at];
            w = 0;
            if (side < 2)
                v = 2 * IX2 * (side == 0 ? -drop : drop);
            else
                u = 2 * IY2 * (side == 2 ? drop : -drop);
        } else if (n & NODE_OUT) { /* carried out by the normal velocity, upwind */
            if (side < 2)
                u = IY2 * (psi[at + PITCH] - psi[at - PITCH]);
            else
                v = IX2 * (psi[at - 1] - psi[at + 1]);
            rest = -(carried(side, u, v) * (old - next[at + INNER(side)]));
            w = old + rest;
        }
        omega[at] = w;
        velocity[at] = u;
        velocity[at + PLANE] = v;
        rests[lane] += rest * rest;
        sizes[lane] += w * w;
        speeds[lane] = larger(speeds[lane], fabs(u) + fabs(v));
#if HEAT
        const int s = stencil[at];
        if (s) {
            const int inner_x = X0 + i > 0 && X0 + i < GNX - 1, inner_y = Y0 + j > 0 && Y0 + j < GNY - 1;
            const real t = T[at], t_x = inner_x ? convective(T[at - 1], t, T[at + 1], u, IX2) : 0;
            const real t_y = inner_y ? convective(T[at - PITCH], t, T[at + PITCH], v, IY2) : 0;
            real heat = ((THROUGH(T, AX, s, 0, 2, -1) + THROUGH(T, AX, s, 1, 3, 1)) +
                         (THROUGH(T, AY, s, 0, 1, -PITCH) + THROUGH(T, AY, s, 2, 3, PITCH))) / stencil_area(s) -
                        DT * (u * t_x + v * t_y);
            if (n & NODE_OUT)
                heat = heat - carried(side, u, v) * (t - T[at + INNER(side)]);
            heats[lane] += heat * heat;
        }
#endif
    }
    fold_sums_2_max(rests, sizes, speeds, ROW_LANES);
    put_partials_3(partials, 0, rests, sizes, speeds);
#if HEAT
    put_partial_sum(partials, 3, heats);
#endif
}

kernel void flow_total(global const acc *restrict sums, global real *restrict totals)
{
    local acc rests[FINISH_LANES], sizes[FINISH_LANES], speeds[FINISH_LANES];
    load_sums(sums, TOTALS, TOTAL_LANES, rests);
    load_sums(sums + TOTALS, TOTALS, TOTAL_LANES, sizes);
    load_max(sums + 2 * TOTALS, TOTALS, TOTAL_LANES, speeds);
    fold_sums_2_max(rests, sizes, speeds, TOTAL_LANES);
    const acc rest = rests[0], size = sizes[0], speed = speeds[0];
#if HEAT
    barrier(CLK_LOCAL_MEM_FENCE);
    const acc heat = total_sum(sums, 3, rests);
#else
    const acc heat = 0;
#endif
    if (get_local_id(0) == 0) {
        totals[0] = rest;
        totals[1] = size;
        totals[2] = speed;
        totals[3] = heat;
    }
}

/* ------------------------------------------------------------------------------------------ bodies around which it flows
 *
 * psi is constant on a body, and the constant follows from the pressure being single-valued: along the surface of a body at
 * rest nu omega_n + C T t_y integrates to nothing (docs/flow.md). With the wall formulas of Thom or Woods this is a sum
 * over the faces between fluid and body that is linear in the constant; lift[k], the stream function that is 1 on body k
 * and 0 on all others and on the border, carries the constant into the fluid. */
#if BODIES > 0
#define BODY_OF(at) (node[at] / BODY_NUMBER)

/* The sums over the faces of each body: omega_1 w + (psi_1 - psi_body) g, and buoyancy along the upright faces. */
kernel void flow_bodies(global const real *restrict psi, global const real *restrict next,
#if HEAT
                        global const real *restrict T,
#endif
                        global const int *restrict node, global acc *restrict partials)
{
    local acc lanes[LANES];
    for (int body = 1; body <= BODIES; body++) {
        CLEAR_LANES(lanes);
        FOR_CELLS(1, i, j, lane) {
            const index_t at = AT(i, j);
            const int n = node[at];
            if ((n & NODE_OMEGA) && (n & 15 * PSI_FIXED)) {
                real sum = 0;
#define FACE_OF_BODY(bit, to, w, g)                                       \
    if ((n & (bit)*PSI_FIXED) && BODY_OF(at + (to)) == body)              \
        sum = sum + ((w)*next[at] + (g) * (psi[at] - psi[at + (to)]));
                FACE_OF_BODY(1, -1, BODY_X, BODY_PSI_X)
                FACE_OF_BODY(2, 1, BODY_X, BODY_PSI_X)
                FACE_OF_BODY(4, -PITCH, BODY_Y, BODY_PSI_Y)
                FACE_OF_BODY(8, PITCH, BODY_Y, BODY_PSI_Y)
#if HEAT
                if ((n & PSI_FIXED) && BODY_OF(at - 1) == body)
                    sum = sum + BODY_HEAT * T[at - 1];
                if ((n & 2 * PSI_FIXED) && BODY_OF(at + 1) == body)
                    sum = sum - BODY_HEAT * T[at + 1];
#endif
                lanes[lane] += sum;
            }
        }
        put_partial_sum(partials, body - 1, lanes);
    }
}

/* change = response sums; totals[4 + k]: the change of psi on body k + 1. */
kernel void flow_respond(global const acc *restrict sums, global const real *restrict response,
                         global real *restrict totals)
{
    local acc scratch[FINISH_LANES];
    real change[BODIES];
    for (int k = 0; k < BODIES; k++)
        change[k] = 0;
    for (int body = 0; body < BODIES; body++) {
        const acc sum = total_sum(sums, body, scratch);
        for (int k = 0; k < BODIES; k++)
            change[k] = change[k] + response[k * BODIES + body] * sum;
    }
    if (get_local_id(0) == 0)
        for (int k = 0; k < BODIES; k++)
            totals[4 + k] = change[k];
}

/* psi += the changes, carried by the lifts. */
kernel void flow_lift(global const real *restrict lift, global const real *restrict totals, global real *restrict psi)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    real value = psi[at];
    for (int k = 0; k < BODIES; k++)
        value = value + totals[4 + k] * lift[at + (index_t)k * PLANE];
    psi[at] = value;
}
#endif
