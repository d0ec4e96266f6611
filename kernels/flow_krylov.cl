/* flow_krylov.cl: what Newton's method of `flow` does with vectors, whatever the equations: the Krylov space of GMRES,
 * the walls' share of the preconditioner, elimination in place of both, a step of the state (docs/flow.md,
 * src/solvers/flow/flow_newton.c; F and J are in flow_newton.cl). Vector k of `basis` has
 * PARTS components: of omega, and of T times its weight. */
#define PARTS (1 + HEAT)
#define VECTOR(k) ((index_t)((k)*PARTS) * PLANE)
/* Values of the nodes of a side, in `walls`. */
#define LONGER (GNX > GNY ? GNX : GNY)
#define OF_WALL(side) ((side)*LONGER + ALONG_SIDE(side, i, j))

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

/* Of two vectors at a node. */
static inline real product(global const real *basis, index_t from, index_t to, index_t at)
{
    real sum = basis[at + from] * basis[at + to];
    if (HEAT)
        sum = sum + basis[at + from + PLANE] * basis[at + to + PLANE];
    return sum;
}

/* Products of the vectors 0 to k - 1 with vector k, shared out to the layers of the launch. At the end some are formed
 * twice. */
kernel void flow_newton_dots(global const real *restrict basis, int k, global acc *restrict dots)
{
    local acc lanes[SUMS_AT_ONCE * LANES];
    const int step = SUMS_AT_ONCE * (int)get_num_groups(2);
    for (int c = SUMS_AT_ONCE * (int)get_group_id(2); c < k; c += step) {
        for (int q = 0; q < SUMS_AT_ONCE; q++)
            CLEAR_LANES(lanes + q * LANES);
#if SUMS_AT_ONCE > 1
        const int width = min(BLOCK_NX, NX - block_first());
        barrier(CLK_LOCAL_MEM_FENCE);
        EACH_LANE_IN_ROWS(q, lane, SUMS_AT_ONCE, width, const index_t from = VECTOR(min(c + q, k - 1)); acc own = 0;
                          UNROLLED for (int r = 0; r < BLOCK_NY; r++)
                          if (NY % BLOCK_NY == 0 || block_top() + r < NY) own +=
                          product(basis, from, VECTOR(k), AT(block_first() + lane, block_top() + r));
                          lanes[q * LANES + lane] = own)
#else
        FOR_CELLS(1, i, j, lane)
            lanes[lane] += product(basis, VECTOR(c), VECTOR(k), AT(i, j));
#endif
        put_partial_sums(dots, c, k, lanes);
    }
}

/* Their sums, shared out to the work-groups. */
kernel void flow_newton_column(global const acc *restrict dots, int k, global real *restrict column)
{
    local acc scratch[FINISH_LANES];
    const int blocks = (int)(get_num_groups(0) * get_num_groups(1)), groups = blocks * (int)get_num_groups(2);
    const int block = (int)(get_group_id(0) + get_num_groups(0) * get_group_id(1));
    for (int c = block + blocks * (int)get_group_id(2); c < k; c += groups) {
        const acc total = total_sum(dots, c, scratch);
        if (get_local_id(0) == 0)
            column[c] = total;
    }
}

/* The values of a vector in this block, in local memory: of row r, and of omega (part 0) or T (part 1). */
#define OWN(r, part) (((r)*PARTS + (part)) * LANES)
#define EACH_NODE(r, lane, body) EACH_LANE_IN_ROWS(r, lane, min(BLOCK_NY, NY - block_top()), width, body)

/* own -= factors[c] vector c, for the vectors c below k, in this order; so many at once, whose loads overlap. On a GPU
 * also those that are left over, with the last one in the place of what is none. */
#define VECTORS_AT_ONCE 16
#define ARE_LOADED_AT_ONCE (LOADS_AT_ONCE >= VECTORS_AT_ONCE)
static inline void subtract_vectors(local real *own, global const real *basis, global const real *factors, int k,
                                    index_t first, int width)
{
    int c = 0;
    for (; c + VECTORS_AT_ONCE <= k; c += VECTORS_AT_ONCE) {
        for (int part = 0; part < PARTS; part++) {
            const index_t from = first + VECTOR(c) + (index_t)part * PLANE;
            EACH_NODE(r, lane, real value = own[OWN(r, part) + lane];
                      for (int q = 0; q < VECTORS_AT_ONCE; q++) value = value - factors[c + q] *
                                                                                    basis[from + VECTOR(q) +
                                                                                          r * PITCH + lane];
                      own[OWN(r, part) + lane] = value)
        }
    }
#if ARE_LOADED_AT_ONCE
    for (int part = 0; part < (c < k ? PARTS : 0); part++) {
        const index_t from = first + (index_t)part * PLANE;
        EACH_NODE(r, lane, real value = own[OWN(r, part) + lane];
                  for (int q = 0; q < VECTORS_AT_ONCE; q++) {
                      const int last = min(c + q, k - 1);
                      const real less = value - factors[last] * basis[from + VECTOR(last) + r * PITCH + lane];
                      value = c + q < k ? less : value;
                  } own[OWN(r, part) + lane] = value)
    }
#else
    for (; c < k; c++) {
        const real factor = factors[c];
        for (int part = 0; part < PARTS; part++) {
            const index_t from = first + VECTOR(c) + (index_t)part * PLANE;
            EACH_NODE(r, lane, const int at = OWN(r, part) + lane;
                      own[at] = own[at] - factor * basis[from + r * PITCH + lane])
        }
    }
#endif
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
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_CELLS(1, i, j, lane) {
        const real w = own[OWN(j - block_top(), 0) + lane], t = own[OWN(j - block_top(), PARTS - 1) + lane];
        lanes[lane] += HEAT ? w * w + t * t : w * w;
    }
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
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_CELLS(1, i, j, lane) {
        const int n = node[AT(i, j)];
        if (n & NODE_WALL)
            walls[OF_WALL(n / NODE_SIDE & 3)] = own[OWN(j - block_top(), 0) + lane];
    }
}

/* P^-1 at walls: along each side, the inverse of the wall formula's share in J as a product with a matrix whose entries
 * depend on sum and difference of the places, table[|m - p|] - table[m + p]; on bodies a share. Elsewhere the start.
 * Four sums, of every fourth place each, do not wait for one another: on a GPU each is a work-item's, where work-groups
 * at a side have room for its entries and values in local memory. */
#define NODES_ALONG(side) ((side) < 2 ? GNY : GNX)
#define TABLE_OF(side) ((side) < 2 ? 0 : 2 * GNY)
#define WALL_TERM(p) ((entry[m < (p) ? (p)-m : m - (p)] - entry[m + (p)]) * wall[p])
#define SIDE_IN_LOCAL (KEEPS_REGISTERS && 7 * LONGER * REAL_BYTES <= 32768)
#if !SIDE_IN_LOCAL
/* For the node at place m. */
static inline real sum_of_side(global const real *entry, global const real *wall, int m, int count)
{
    real a = 0, b = 0, c = 0, d = 0;
    int p = 1;
    for (; p + 4 < count; p += 4) {
        a = a + WALL_TERM(p);
        b = b + WALL_TERM(p + 1);
        c = c + WALL_TERM(p + 2);
        d = d + WALL_TERM(p + 3);
    }
    if (p + 1 < count)
        a = a + WALL_TERM(p);
    if (p + 2 < count)
        b = b + WALL_TERM(p + 1);
    if (p + 3 < count)
        c = c + WALL_TERM(p + 2);
    return (a + b) + (c + d);
}
#endif

kernel void flow_newton_walls(global const real *restrict basis, global const int *restrict node,
                              global const real *restrict walls, global const real *restrict table, int k,
                              real per_nu_x, real per_nu_y, real share, global real *restrict d_omega,
                              global real *restrict d_psi)
{
    const int i = (int)get_global_id(0) - X0, j = (int)get_global_id(1) - Y0, is_there = i < NX && j < NY;
    const index_t at = AT(i, j);
    const int n = is_there ? node[at] : 0, own_side = n / NODE_SIDE & 3;
    real sum = 0;
#if SIDE_IN_LOCAL
    local real entry[2 * LONGER], wall[LONGER], sums[4 * LONGER];
    const int nx = (int)get_local_size(0), ny = (int)get_local_size(1);
    const int item = (int)get_local_id(0) + nx * (int)get_local_id(1);
    const int x = (int)(get_global_id(0) - get_local_id(0)), y = (int)(get_global_id(1) - get_local_id(1));
    for (int side = 0; side < 4; side++) {
        const int count = NODES_ALONG(side), first = side < 2 ? y : x;
        if (!(side == 0 ? x == 0 : side == 1 ? x + nx >= GNX : side == 2 ? y == 0 : y + ny >= GNY))
            continue;
        for (int m = item; m < 2 * count; m += nx * ny) {
            entry[m] = table[TABLE_OF(side) + m];
            if (m < count)
                wall[m] = walls[side * LONGER + m];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const int tasks = 4 * min(side < 2 ? ny : nx, count - first);
        for (int task = item; task < tasks; task += nx * ny) {
            const int m = first + task / 4;
            real terms = 0;
            UNROLLED_BY_8
            for (int p = 1 + task % 4; p + 1 < count; p += 4)
                terms = terms + WALL_TERM(p);
            sums[task] = terms;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((n & NODE_WALL) && side == own_side) {
            local const real *of = sums + 4 * (ALONG_SIDE(side, i, j) - first);
            sum = (of[0] + of[1]) + (of[2] + of[3]);
        }
        barrier(CLK_LOCAL_MEM_FENCE); /* without it sums are wrong on PoCL 3.1, in the form for GPUs */
    }
#else
    if (n & NODE_WALL)
        sum = sum_of_side(table + TABLE_OF(own_side), walls + own_side * LONGER, ALONG_SIDE(own_side, i, j),
                          NODES_ALONG(own_side));
#endif
    if (!is_there)
        return;
    d_omega[at] = n & NODE_WALL   ? -((own_side < 2 ? per_nu_x : per_nu_y) * sum)
                  : n & NODE_BODY ? -(share * basis[at + VECTOR(k)])
                                  : 0;
    d_psi[at] = 0;
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

/* ------------------------------------------------------------------------------------------- elimination in a band
 *
 * J with psi as unknowns, too: two rows a node, A d_psi - area d_omega = 0 and J d = -F, in 2 x 2 blocks (psi first).
 * Nodes are numbered along the shorter side first, so that the 3 x 3 around a node lie within BAND of its own number.
 * band: element e of the blocks of a row side by side, of the columns BAND before to BAND after; behind them, in the
 * first column of a block, the right-hand side, in the second one the solution. Rows follow each other through the
 * nodes of one component after the other; halos and padding are not theirs. */
#if BAND > 0
#define NODES (GNX * GNY)
#define RIGHT (2 * BAND + 1)
#define NUMBER(i, j) ((i)*STRIDE_X + (j)*STRIDE_Y)
#define ENTRY(e, row, slot) (PLACE((uint)(row) * (RIGHT + 1) + (slot)) + (long)(e) * (RIGHT + 1) * PLANE)
#define PLACE(n) ((long)((n) / NODES) * PLANE + AT((int)((n) % NODES % GNX), (int)((n) % NODES / GNX)))

/* One of the unknowns (part 0: psi, 1: omega) 1 on every third node along x and y, so that a row of J sees one of them.
 */
kernel void flow_newton_unit(int colour, int part, global real *restrict d_omega, global real *restrict d_psi)
{
    CELL(i, j);
    const real one = i % 3 + 3 * (j % 3) == colour ? 1 : 0;
    d_omega[AT(i, j)] = part == 1 ? one : 0;
    d_psi[AT(i, j)] = part == 0 ? one : 0;
}

/* What the rows of a node say of them, from vector 1 = J times them; and the right-hand side, from vector 0 = F. What
 * is given does not change. */
kernel void flow_newton_rows(AXES_ARGUMENT global const real *restrict basis, global const int *restrict node,
                             global const uchar *restrict stencil, int colour, int part, real kx, real ky,
                             global real *restrict band)
{
    CELL(i, j);
    const index_t at = AT(i, j);
    const int s = stencil[at], row = NUMBER(i, j);
    const int di = (colour % 3 - i % 3 + 4) % 3 - 1, dj = (colour / 3 - j % 3 + 4) % 3 - 1;
    const int here = di == 0 && dj == 0, slot = BAND + NUMBER(di, dj);
    if (colour == 0 && part == 0)
        band[ENTRY(2, row, RIGHT)] = -basis[at];
    if (i + di < 0 || i + di >= GNX || j + dj < 0 || j + dj >= GNY)
        return;
    const real west = stencil_face(kx, s, 0, 2), east = stencil_face(kx, s, 1, 3);
    const real south = stencil_face(ky, s, 0, 1), north = stencil_face(ky, s, 2, 3);
    real of_psi = here && part == 0 ? 1 : 0;
    if (s && part == 0)
        of_psi = here              ? (west + east) + (south + north)
                 : dj == 0         ? -(di < 0 ? west : east)
                 : di == 0         ? -(dj < 0 ? south : north)
                                   : 0;
    else if (s)
        of_psi = here ? -stencil_area(s) : 0;
    band[ENTRY(part, row, slot)] = of_psi;
    band[ENTRY(2 + part, row, slot)] = node[at] & UNKNOWN ? basis[at + VECTOR(1)] : here && part == 1 ? 1 : 0;
}

/* Elimination goes by panels of PANEL pivots, in three launches: the square of the panel, its columns below and its
 * rows to the right of it, what remains. Every element loses its products in the order of the pivots, so panels do not
 * change bits. Below the diagonal remain the factors that rows were subtracted with. */
#define LOAD(x, a, PLACE_OF, row, at)                                    \
    real x##0 = a[PLACE_OF(0, row, at)], x##1 = a[PLACE_OF(1, row, at)], \
         x##2 = a[PLACE_OF(2, row, at)], x##3 = a[PLACE_OF(3, row, at)]
#define STORE(x, a, PLACE_OF, row, at)                              \
    a[PLACE_OF(0, row, at)] = x##0, a[PLACE_OF(1, row, at)] = x##1, \
    a[PLACE_OF(2, row, at)] = x##2, a[PLACE_OF(3, row, at)] = x##3
#define LOAD_BLOCK(x, row, slot) LOAD(x, band, ENTRY, row, slot)
/* The square of a panel in local memory. */
#define IN_SQUARE(e, r, c) (((e)*PANEL + (r)) * PANEL + (c))
/* own -= m x, of 2 x 2 blocks. */
#define SUBTRACT_BLOCKS(own, m, x)                 \
    own##0 = own##0 - (m##0 * x##0 + m##1 * x##2); \
    own##1 = own##1 - (m##0 * x##1 + m##1 * x##3); \
    own##2 = own##2 - (m##2 * x##0 + m##3 * x##2); \
    own##3 = own##3 - (m##2 * x##1 + m##3 * x##3)
/* own = own times the inverse of the pivot p. */
#define DIVIDE_BLOCK(own, p)                                                         \
    const real scale_ = 1 / (p##0 * p##3 - p##1 * p##2), a0_ = own##0, a2_ = own##2; \
    own##0 = scale_ * (a0_ * p##3 - own##1 * p##2);                                  \
    own##1 = scale_ * (own##1 * p##0 - a0_ * p##1);                                  \
    own##2 = scale_ * (a2_ * p##3 - own##3 * p##2);                                  \
    own##3 = scale_ * (own##3 * p##0 - a2_ * p##1)

/* The block at (row, slot), of column `column`, less the products of pivots `from` to `to` - 1. With `factor`, times
 * the inverse of the pivot of its own column. */
static inline void reduce_block(global real *band, int row, int slot, int column, int from, int to, int factor)
{
    LOAD_BLOCK(own, row, slot);
    ROLLED
    for (int k = from; k < to; k++) {
        const int upper = slot == RIGHT ? RIGHT : BAND + column - k;
        LOAD_BLOCK(m, row, BAND + k - row);
        LOAD_BLOCK(x, k, upper);
        SUBTRACT_BLOCKS(own, m, x);
    }
    if (factor) {
        LOAD_BLOCK(p, column, BAND);
        DIVIDE_BLOCK(own, p);
    }
    STORE(own, band, ENTRY, row, slot);
}

/* The square of the panel from pivot `begin` on, in local memory: pivot by pivot the column below it, then what is to
 * the right of it and below. */
kernel void flow_newton_panel(global real *band, int begin)
{
    local real square[4 * PANEL * PANEL];
    const int lane = (int)get_local_id(0), lanes = (int)get_local_size(0), size = min(PANEL, NODES - begin);
    ROLLED
    for (int id = lane; id < size * size; id += lanes) {
        const int r = id / size, c = id % size;
        if (abs(r - c) <= BAND) {
            LOAD_BLOCK(own, begin + r, BAND + c - r);
            STORE(own, square, IN_SQUARE, r, c);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    ROLLED
    for (int k = 0; k < size; k++) {
        const int rest = min(size, k + BAND + 1) - (k + 1);
        LOAD(p, square, IN_SQUARE, k, k);
        ROLLED
        for (int r = k + 1 + lane; r < k + 1 + rest; r += lanes) {
            LOAD(own, square, IN_SQUARE, r, k);
            DIVIDE_BLOCK(own, p);
            STORE(own, square, IN_SQUARE, r, k);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        ROLLED
        for (int id = lane; id < rest * rest; id += lanes) {
            const int r = k + 1 + id / rest, c = k + 1 + id % rest;
            LOAD(own, square, IN_SQUARE, r, c);
            LOAD(m, square, IN_SQUARE, r, k);
            LOAD(x, square, IN_SQUARE, k, c);
            SUBTRACT_BLOCKS(own, m, x);
            STORE(own, square, IN_SQUARE, r, c);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    ROLLED
    for (int id = lane; id < size * size; id += lanes) {
        const int r = id / size, c = id % size;
        if (abs(r - c) <= BAND) {
            LOAD(own, square, IN_SQUARE, r, c);
            STORE(own, band, ENTRY, begin + r, BAND + c - r);
        }
    }
}

/* A column of its rows to the right, the last one that of the right-hand side, or a row of its columns below. */
kernel void flow_newton_strips(global real *band, int begin)
{
    CELL(i, j);
    const int end = min(begin + PANEL, NODES);
    for (int id = j * NX + i; id < 2 * BAND + 1; id += NX * NY) {
        const int other = id < BAND ? end + id : end + id - BAND;
        ROLLED
        for (int k = begin; k < end; k++) {
            if (id == 2 * BAND)
                reduce_block(band, k, RIGHT, 0, max(begin, k - BAND), k, 0);
            else if (other < NODES && other <= k + BAND && id < BAND)
                reduce_block(band, k, BAND + other - k, other, max(begin, other - BAND), k, 0);
            else if (other < NODES && other <= k + BAND)
                reduce_block(band, other, BAND + k - other, k, max(begin, other - BAND), k, 1);
        }
    }
}

kernel void flow_newton_eliminate(global real *band, int begin)
{
    CELL(i, j);
    const int end = begin + PANEL;
    for (int id = j * NX + i; id < BAND * (BAND + 1); id += NX * NY) {
        const int row = end + id / (BAND + 1), c = id % (BAND + 1), column = end + c;
        if (row >= NODES)
            continue;
        if (c == BAND)
            reduce_block(band, row, RIGHT, 0, max(begin, row - BAND), end, 0);
        else if (column < NODES)
            reduce_block(band, row, BAND + column - row, column, max(begin, max(row, column) - BAND), end, 0);
    }
}

/* The solution at the nodes of a panel, from its last pivot up, and the right-hand sides of the rows before less its
 * share. */
kernel void flow_newton_substitute(global real *band, int begin)
{
    local real y[2 * PANEL]; /* right-hand sides, then the solution */
    const int lane = (int)get_local_id(0), lanes = (int)get_local_size(0), size = min(PANEL, NODES - begin);
    ROLLED
    for (int r = lane; r < 2 * size; r += lanes)
        y[r] = band[ENTRY(r % 2 * 2, begin + r / 2, RIGHT)];
    barrier(CLK_LOCAL_MEM_FENCE);
    ROLLED
    for (int k = size - 1; k >= 0; k--) {
        LOAD_BLOCK(p, begin + k, BAND);
        const real scale = 1 / (p0 * p3 - p1 * p2), y0 = y[2 * k], y1 = y[2 * k + 1];
        const real x0 = scale * (p3 * y0 - p1 * y1), x1 = scale * (p0 * y1 - p2 * y0);
        ROLLED
        for (int r = max(k - BAND, 0) + lane; r < k; r += lanes) {
            LOAD_BLOCK(a, begin + r, BAND + k - r);
            y[2 * r] = y[2 * r] - (a0 * x0 + a1 * x1);
            y[2 * r + 1] = y[2 * r + 1] - (a2 * x0 + a3 * x1);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0)
            y[2 * k] = x0, y[2 * k + 1] = x1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    ROLLED
    for (int r = lane; r < BAND && r < begin; r += lanes) {
        const int row = begin - 1 - r;
        real y0 = band[ENTRY(0, row, RIGHT)], y1 = band[ENTRY(2, row, RIGHT)];
        ROLLED
        for (int c = min(size - 1, BAND - 1 - r); c >= 0; c--) {
            LOAD_BLOCK(a, row, BAND + c + 1 + r);
            y0 = y0 - (a0 * y[2 * c] + a1 * y[2 * c + 1]);
            y1 = y1 - (a2 * y[2 * c] + a3 * y[2 * c + 1]);
        }
        band[ENTRY(0, row, RIGHT)] = y0;
        band[ENTRY(2, row, RIGHT)] = y1;
    }
    ROLLED
    for (int k = lane; k < size; k += lanes)
        band[ENTRY(3, begin + k, RIGHT)] = y[2 * k + 1];
}

kernel void flow_newton_solution(global const real *restrict band, global real *restrict d_omega)
{
    CELL(i, j);
    d_omega[AT(i, j)] = band[ENTRY(3, NUMBER(i, j), RIGHT)];
}
#endif
