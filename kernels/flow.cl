/* flow.cl: one time step of stream function and vorticity on the nodes of a rectangle, border included (docs/flow.md):
 *   u = psi_y, v = -psi_x, omega = v_x - u_y
 * lint: -DUPWIND=0 -DDT=0.001 -DIX2=64.0 -DIY2=64.0 -DNUX=0.1 -DNUY=0.1 -DCX=16384.0 -DCY=16384.0 -DTHETA=1.0 -DWALL_X=32768.0 -DWALL_Y=32768.0 -DWALL_OMEGA=0.0 -DSLIP_LEFT=0.0 -DSLIP_RIGHT=0.0 -DSLIP_BOTTOM=0.0 -DSLIP_TOP=1.0 -DCONVECT_X=0.1 -DCONVECT_Y=0.1 -DNODE_OMEGA=1 -DNODE_PSI=2 -DNODE_HALF=4 -DNODE_WALL=8 -DNODE_FREE=16 -DNODE_OUT=32 -DNODE_SIDE=64 -DPSI_FIXED=256 -DOMEGA_FIXED=4096
 * lint: -DUPWIND=1 -DDT=0.001 -DIX2=64.0 -DIY2=64.0 -DNUX=0.1 -DNUY=0.1 -DCX=16384.0 -DCY=16384.0 -DTHETA=1.0 -DWALL_X=32768.0 -DWALL_Y=32768.0 -DWALL_OMEGA=0.5 -DSLIP_LEFT=0.0 -DSLIP_RIGHT=0.0 -DSLIP_BOTTOM=0.0 -DSLIP_TOP=1.0 -DCONVECT_X=0.1 -DCONVECT_Y=0.1 -DNODE_OMEGA=1 -DNODE_PSI=2 -DNODE_HALF=4 -DNODE_WALL=8 -DNODE_FREE=16 -DNODE_OUT=32 -DNODE_SIDE=64 -DPSI_FIXED=256 -DOMEGA_FIXED=4096
 *
 * node: what a node is, in bits (src/solvers/flow/flow.h): vorticity unknown, stream function unknown, row weighted by
 * one half, kind and side of the border, and for each neighbour (west, east, south, north: four bits from PSI_FIXED and
 * from OMEGA_FIXED) whether its value is given. */

/* Sum over neighbours whose value is given, along x and along y; `first` is PSI_FIXED or OMEGA_FIXED. */
#define FIXED_X(f, n, first) (((n) & (first) ? f[at - 1] : 0) + ((n) & 2 * (first) ? f[at + 1] : 0))
#define FIXED_Y(f, n, first) (((n) & 4 * (first) ? f[at - PITCH] : 0) + ((n) & 8 * (first) ? f[at + PITCH] : 0))

/* Right-hand side of (I + dt nu A) omega_next = omega - dt (u omega_x + v omega_y) + dt nu (values given at the
 * border); zero where omega is no unknown. next starts from omega. velocity: u, then v a plane further. */
kernel void flow_advance(global const real *restrict omega, global const real *restrict velocity,
                         global const int *restrict node, global real *restrict rhs, global real *restrict next)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int n = node[at];
    const real w = omega[at];
    real sum = 0;
    if (n & NODE_OMEGA) {
        const real west = omega[at - 1], east = omega[at + 1], south = omega[at - PITCH], north = omega[at + PITCH];
        const real u = velocity[at], v = velocity[at + PLANE];
#if UPWIND
        const real w_x = 2 * IX2 * (u > 0 ? w - west : east - w), w_y = 2 * IY2 * (v > 0 ? w - south : north - w);
#else
        const real w_x = IX2 * (east - west), w_y = IY2 * (north - south);
#endif
        sum = (w - DT * (u * w_x + v * w_y)) +
              (NUX * FIXED_X(omega, n, OMEGA_FIXED) + NUY * FIXED_Y(omega, n, OMEGA_FIXED));
    }
    rhs[at] = sum;
    next[at] = w;
}

/* Right-hand side of A psi = omega + (values given at the border). */
kernel void flow_source(global const real *restrict omega, global const real *restrict psi,
                        global const int *restrict node, global real *restrict before, global real *restrict rhs)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int n = node[at];
    before[at] = psi[at] + (psi[at] - before[at]);
    real sum = 0;
    if (n & NODE_PSI) {
        sum = omega[at] + (CX * FIXED_X(psi, n, PSI_FIXED) + CY * FIXED_Y(psi, n, PSI_FIXED));
        if (n & NODE_HALF)
            sum = REAL(0.5) * sum;
    }
    rhs[at] = sum;
}

/* Velocity everywhere and vorticity at the border from the new psi; the sums (omega_new - omega_old)^2 and omega_new^2,
 * and the largest |u| + |v|. At walls Thom (1933) or Woods (1954), in one form: omega_w = -WALL (psi_1 - psi_w) -
 * WALL_OMEGA omega_1 - SLIP. */
kernel void flow_walls(global const real *restrict psi, global const real *restrict next,
                       global const int *restrict node, global real *restrict omega, global real *restrict velocity,
                       global acc *restrict partials)
{
    local acc changes[LANES], sizes[LANES], speeds[LANES];
    CLEAR_LANES(changes);
    CLEAR_LANES(sizes);
    CLEAR_LANES(speeds);
    FOR_CELLS(1, i, lane) {
        const index_t at = AT(i, row_j());
        const int n = node[at], side = n / NODE_SIDE & 3;
        const real old = omega[at];
        real w = next[at], u = velocity[at], v = velocity[at + PLANE];
        if (n & NODE_OMEGA) {
            u = IY2 * (psi[at + PITCH] - psi[at - PITCH]);
            v = IX2 * (psi[at - 1] - psi[at + 1]);
        } else if (n & (NODE_WALL | NODE_FREE | NODE_OUT)) {
            const index_t inner = at + (side == 0 ? 1 : side == 1 ? -1 : side == 2 ? PITCH : -PITCH);
            const real drop = psi[inner] - psi[at];
            if (n & NODE_WALL) {
                const real slip = side == 0 ? SLIP_LEFT : side == 1 ? SLIP_RIGHT : side == 2 ? SLIP_BOTTOM : SLIP_TOP;
                const real wall = -(side < 2 ? WALL_X : WALL_Y) * drop - WALL_OMEGA * next[inner] - slip;
                w = old + THETA * (wall - old);
            } else if (n & NODE_FREE) { /* omega = 0: psi is straight along the normal */
                w = 0;
                if (side < 2)
                    v = 2 * IX2 * (side == 0 ? -drop : drop);
                else
                    u = 2 * IY2 * (side == 2 ? drop : -drop);
            } else { /* outflow: carried out by the normal velocity, upwind */
                if (side < 2)
                    u = IY2 * (psi[at + PITCH] - psi[at - PITCH]);
                else
                    v = IX2 * (psi[at - 1] - psi[at + 1]);
                const real out = side == 0 ? -u : side == 1 ? u : side == 2 ? -v : v;
                const real c = (side < 2 ? CONVECT_X : CONVECT_Y) * out;
                w = old - (c > 1 ? 1 : c > 0 ? c : 0) * (old - next[inner]);
            }
        }
        omega[at] = w;
        velocity[at] = u;
        velocity[at + PLANE] = v;
        changes[lane] += (w - old) * (w - old);
        sizes[lane] += w * w;
        speeds[lane] = larger(speeds[lane], fabs(u) + fabs(v));
    }
    put_partial_sum(partials, 0, changes);
    put_partial_sum(partials, 1, sizes);
    put_partial_max(partials, 2, speeds);
}

kernel void flow_total(global const acc *restrict partials, global real *restrict totals)
{
    local acc scratch[FINISH_LANES];
    const acc change = total_sum(partials, 0, scratch);
    const acc size = total_sum(partials, 1, scratch);
    const acc speed = total_max(partials, 2, scratch);
    if (get_local_id(0) == 0) {
        totals[0] = change;
        totals[1] = size;
        totals[2] = speed;
    }
}
