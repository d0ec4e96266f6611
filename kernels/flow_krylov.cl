/* flow_krylov.cl: what Newton's method of `flow` does with vectors, whatever the equations: the Krylov space of GMRES,
 * the walls' share of the preconditioner, a step of the state (docs/flow.md, src/solvers/flow/flow_newton.c; F and J
 * are in flow.cl). Vector k of `basis` has PARTS components: of omega, and of T times its weight. */
#define PARTS (1 + HEAT)
#define VECTOR(k) ((index_t)((k)*PARTS) * PLANE)
/* Values of the nodes of a side, in `walls`. */
#define LONGER (GNX > GNY ? GNX : GNY)
#define OF_WALL(side) ((side)*LONGER + ((side) < 2 ? Y0 + j : X0 + i))

/* Vector k over its length, which becomes number k of `column`, and its values at walls. */
kernel void flow_newton_normalise(global real *restrict basis, global const int *restrict node,
                                  global const acc *restrict norms, int k, global real *restrict column,
                                  global real *restrict walls)
{
    local acc scratch[FINISH_LANES];
    const acc total = total_sum(norms, 0, scratch);
    const real length = SQRT(total), factor = length > 0 ? 1 / length : 0;
    if (first_group() && get_local_id(0) == 0)
        column[k] = length;
    FOR_CELLS(1, i, j, lane) {
        const index_t at = AT(i, j);
        const real value = factor * basis[at + VECTOR(k)];
        basis[at + VECTOR(k)] = value;
        if (HEAT)
            basis[at + VECTOR(k) + PLANE] = factor * basis[at + VECTOR(k) + PLANE];
        if (node[at] & NODE_WALL)
            walls[OF_WALL(node[at] / NODE_SIDE & 3)] = value;
    }
}

/* Products of the vectors 0 to k - 1 with vector k. At the end some are formed twice. */
kernel void flow_newton_dots(global const real *restrict basis, int k, global acc *restrict dots)
{
    local acc lanes[SUMS_AT_ONCE * LANES];
    for (int c = 0; c < k; c += SUMS_AT_ONCE) {
        for (int q = 0; q < SUMS_AT_ONCE; q++) {
            const index_t from = VECTOR(min(c + q, k - 1)), to = VECTOR(k);
            CLEAR_LANES(lanes + q * LANES);
            FOR_CELLS(1, i, j, lane) {
                const index_t at = AT(i, j);
                real sum = basis[at + from] * basis[at + to];
                if (HEAT)
                    sum = sum + basis[at + from + PLANE] * basis[at + to + PLANE];
                lanes[q * LANES + lane] += sum;
            }
        }
        put_partial_sums(dots, c, k, lanes);
    }
}

/* Their sums, shared out to the work-groups. */
kernel void flow_newton_column(global const acc *restrict dots, int k, global real *restrict column)
{
    local acc scratch[FINISH_LANES];
    const int groups = (int)(get_num_groups(0) * get_num_groups(1));
    for (int c = (int)(get_group_id(0) + get_num_groups(0) * get_group_id(1)); c < k; c += groups) {
        const acc total = total_sum(dots, c, scratch);
        if (get_local_id(0) == 0)
            column[c] = total;
    }
}

/* The values of a vector in this block, in local memory: of row r, and of omega (part 0) or T (part 1). */
#define OWN(r, part) (((r)*PARTS + (part)) * LANES)
#define EACH_NODE(r, lane, body)             \
    for (int r = 0; r < BLOCK_NY; r++)       \
        if (block_top() + r < NY) {          \
            EACH_LANE(lane, width, body)     \
        }

/* own -= factors[c] vector c, for the vectors c below k, in this order. */
static inline void subtract_vectors(local real *own, global const real *basis, global const real *factors, int k,
                                    index_t first, int width)
{
    for (int c = 0; c < k; c++) {
        const real factor = factors[c];
        for (int part = 0; part < PARTS; part++) {
            const index_t from = first + VECTOR(c) + (index_t)part * PLANE;
            EACH_NODE(r, lane, const int at = OWN(r, part) + lane;
                      own[at] = own[at] - factor * basis[from + r * PITCH + lane])
        }
    }
}

/* Vector k less its projection on the vectors before, and its squared length (classical Gram and Schmidt). */
kernel void flow_newton_project(global real *restrict basis, global const real *restrict column, int k,
                                global acc *restrict norms)
{
    local acc lanes[LANES];
    local real own[BLOCK_NY * PARTS * LANES];
    const int width = min(BLOCK_NX, NX - block_first());
    const index_t first = AT(block_first(), block_top()), to = first + VECTOR(k);
    CLEAR_LANES(lanes);
    for (int part = 0; part < PARTS; part++) {
        EACH_NODE(r, lane, own[OWN(r, part) + lane] = basis[to + part * PLANE + r * PITCH + lane])
    }
    subtract_vectors(own, basis, column, k, first, width);
    for (int part = 0; part < PARTS; part++) {
        EACH_NODE(r, lane, basis[to + part * PLANE + r * PITCH + lane] = own[OWN(r, part) + lane])
    }
    EACH_NODE(r, lane, real sum = own[OWN(r, 0) + lane] * own[OWN(r, 0) + lane];
              if (HEAT) sum = sum + own[OWN(r, PARTS - 1) + lane] * own[OWN(r, PARTS - 1) + lane]; lanes[lane] += sum)
    put_partial_sum(norms, 0, lanes);
}

/* Vector k = -(factors times the vectors before), and its values at walls. */
kernel void flow_newton_combine(global real *restrict basis, global const int *restrict node,
                                global const real *restrict factors, int k, global real *restrict walls)
{
    local real own[BLOCK_NY * PARTS * LANES];
    const int width = min(BLOCK_NX, NX - block_first());
    const index_t first = AT(block_first(), block_top()), to = first + VECTOR(k);
    for (int part = 0; part < PARTS; part++) {
        EACH_NODE(r, lane, own[OWN(r, part) + lane] = 0)
    }
    subtract_vectors(own, basis, factors, k, first, width);
    for (int part = 0; part < PARTS; part++) {
        EACH_NODE(r, lane, basis[to + part * PLANE + r * PITCH + lane] = own[OWN(r, part) + lane])
    }
    FOR_CELLS(1, i, j, lane) {
        const int n = node[AT(i, j)];
        if (n & NODE_WALL)
            walls[OF_WALL(n / NODE_SIDE & 3)] = own[OWN(j - block_top(), 0) + lane];
    }
}

/* P^-1 at walls: along each side, the inverse of the wall formula's share in J as a product with a matrix whose entries
 * depend on sum and difference of the places, table[|m - p|] - table[m + p]; on bodies a share. Elsewhere the start. */
kernel void flow_newton_walls(global const real *restrict basis, global const int *restrict node,
                              global const real *restrict walls, global const real *restrict table, int k,
                              real per_nu_x, real per_nu_y, real share, global real *restrict d_omega)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int n = node[at], side = n / NODE_SIDE & 3;
    real value = 0;
    if (n & NODE_WALL) {
        const int m = side < 2 ? Y0 + j : X0 + i, count = side < 2 ? GNY : GNX;
        global const real *entry = table + (side < 2 ? 0 : 2 * GNY), *wall = walls + side * LONGER;
        real sum = 0;
        for (int p = 1; p < count - 1; p++)
            sum = sum + (entry[m < p ? p - m : m - p] - entry[m + p]) * wall[p];
        value = -((side < 2 ? per_nu_x : per_nu_y) * sum);
    } else if (n & NODE_BODY) {
        value = -(share * basis[at + VECTOR(k)]);
    }
    d_omega[at] = value;
}

/* The state, and so much of a step further. */
kernel void flow_newton_update(global const real *restrict omega, global const real *restrict d_omega,
                               global const real *restrict T, global const real *restrict d_heat, real step,
                               global real *restrict next, global real *restrict T_next)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    next[at] = omega[at] + step * d_omega[at];
    if (HEAT)
        T_next[at] = T[at] + step * d_heat[at];
}

/* A start for the next viscosity, on the line through the states at the last two, of which the older is `before` until
 * then; back: the state becomes that one. */
kernel void flow_newton_predict(global real *restrict omega, global real *restrict T, real further, int back,
                                global real *restrict omega_before, global real *restrict T_before)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const real w = omega[at], w_before = omega_before[at];
    omega[at] = back ? w_before : w + further * (w - w_before);
    omega_before[at] = back ? w_before : w;
    if (HEAT) {
        const real t = T[at], t_before = T_before[at];
        T[at] = back ? t_before : t + further * (t - t_before);
        T_before[at] = back ? t_before : t;
    }
}
