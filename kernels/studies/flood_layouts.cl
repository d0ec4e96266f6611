/* flood_layouts.cl: a time step of shallow water at first order on hexagons in a closed basin, every cell computing its
 * six edges: the same arithmetic with the state in planes or as an array of structures (STRUCTURES), and with the
 * places of neighbours computed, or listed (LISTED), or those of cells from a file (ANY_CELLS), where a place below 0
 * is a wall. HLLC with hydrostatic reconstruction as in kernels/flood.cl:
 *   h' = h - K sum of mass fluxes,   (h c)' = h c - K sum of momentum fluxes,   K = FLUX_SCALE = dt * edge / area */
#define HALF REAL(0.5)
#define SLANT REAL(0.86602540378443864676) /* sin 60 degrees */

/* Where depth (0), velocity (1, 2) and bed (3) of a cell stand. */
#define ELEMENT(at, component) (STRUCTURES ? 4 * (long)(at) + (component) : (long)(at) + (component) * (long)PLANE)

typedef struct cell {
    real h, u, v, z;
} cell;
typedef struct sums {
    real mass, x, y;
} sums;

INLINED void load_cell(global const real *state, index_t at, cell *c)
{
    c->h = state[ELEMENT(at, 0)];
    c->u = state[ELEMENT(at, 1)];
    c->v = state[ELEMENT(at, 2)];
    c->z = state[ELEMENT(at, 3)];
}

/* The cell behind edge e, counted counter-clockwise from the east; odd rows are shifted by half a cell to the east. */
INLINED index_t neighbour(index_t at, int e, int shifted)
{
    return e == 0 ? at + 1 : e == 3 ? at - 1
         : (e < 3 ? at + PITCH : at - PITCH) + shifted - (e == 2 || e == 4 ? 1 : 0);
}

/* Adds what leaves cell l through an open edge towards the cell at `to_r`, of the normal (nx, ny). */
INLINED void add_hllc_flux(global const real *state, const cell *l, index_t to_r, real nx, real ny, int open, sums *s)
{
    cell r;
    load_cell(state, to_r, &r);
    const real rise = r.z - l->z, wet_l = l->h > DRY ? l->h : 0, wet_r = r.h > DRY ? r.h : 0;
    const real a = MAXIMUM(wet_l - MAXIMUM(rise, 0), 0), b = MAXIMUM(wet_r + MINIMUM(rise, 0), 0);
    const real ul = l->u * nx + l->v * ny, ur = r.u * nx + r.v * ny;
    const real vl = l->v * nx - l->u * ny, vr = r.v * nx - r.u * ny;
    const real c = SQRT(G * MAXIMUM(a, b)), from = a > 0 ? ul : ur, to = b > 0 ? ur : ul;
    const real low = MINIMUM(MINIMUM(from, to) - (a > 0 ? c : c + c), 0);
    const real high = MAXIMUM(MAXIMUM(from, to) + (b > 0 ? c : c + c), 0);
    const real share = -low / MAXIMUM(high - low, REAL(1e-30));
    const real ql = a * ul, qr = b * ur, jump = qr - ql, head = HALF * G * ((b - a) * (b + a));
    const real thrust = ql * ul + share * (((qr * ur - ql * ul) + head) - high * jump);
    const real mass = ql + share * (jump - high * (b - a)), along = mass * (mass > 0 ? vl : vr);
    s->mass = open ? s->mass + mass : s->mass;
    s->x = open ? s->x + (thrust * nx - along * ny) : s->x;
    s->y = open ? s->y + (thrust * ny + along * nx) : s->y;
}

/* The places of all neighbours. */
kernel void flood_layouts_list(global int *restrict neighbours)
{
    FOR_CELLS(1, i, j, lane)
        for (int e = 0; e < 6; e++)
            neighbours[AT(i, j) + e * PLANE] = (int)neighbour(AT(i, j), e, (Y0 + j) & 1);
}

/* Cell (i, j) of the whole grid. */
INLINED void advance_cell(global const real *state, global const int *neighbours, global real *next, index_t at,
                          lane_t i, int j)
{
#define LISTED_PLACE(e) neighbours[at + (e)*PLANE]
#define NEIGHBOUR(e) \
    (ANY_CELLS ? (LISTED_PLACE(e) < 0 ? at : LISTED_PLACE(e)) : LISTED ? LISTED_PLACE(e) : neighbour(at, e, odd))
#define OPEN(e, inside) (ANY_CELLS ? LISTED_PLACE(e) >= 0 : (inside))
    const int column = (int)i; /* Mesa 22.3 compares numbers of 64 bits wrongly: docs/reliability.md */
    const int odd = j & 1, west = column > 0, east = column < GNX - 1, below = j > 0, above = j < GNY - 1;
    cell c;
    sums s = { 0, 0, 0 };
    load_cell(state, at, &c);
    add_hllc_flux(state, &c, NEIGHBOUR(0), 1, 0, OPEN(0, east), &s);
    add_hllc_flux(state, &c, NEIGHBOUR(1), HALF, SLANT, OPEN(1, above & (east | !odd)), &s);
    add_hllc_flux(state, &c, NEIGHBOUR(2), -HALF, SLANT, OPEN(2, above & (west | odd)), &s);
    add_hllc_flux(state, &c, NEIGHBOUR(3), -1, 0, OPEN(3, west), &s);
    add_hllc_flux(state, &c, NEIGHBOUR(4), -HALF, -SLANT, OPEN(4, below & (west | odd)), &s);
    add_hllc_flux(state, &c, NEIGHBOUR(5), HALF, -SLANT, OPEN(5, below & (east | !odd)), &s);
    const real h = c.h - FLUX_SCALE * s.mass, deep = h > DRY ? h : 1;
    next[ELEMENT(at, 0)] = h < 0 ? 0 : h;
    next[ELEMENT(at, 1)] = h > DRY ? (c.h * c.u - FLUX_SCALE * s.x) / deep : 0;
    next[ELEMENT(at, 2)] = h > DRY ? (c.h * c.v - FLUX_SCALE * s.y) / deep : 0;
}

/* neighbours: read if LISTED. */
kernel void flood_layouts_advance(global const real *restrict state, global const int *restrict neighbours,
                                  global real *restrict next)
{
    const int first = block_first(), width = min(BLOCK_NX, NX - first), end = min(block_top() + BLOCK_NY, NY);
    for (int j = block_top(); j < end; j++) {
        const index_t at = AT(first, j);
        EACH_LANE(lane, width, advance_cell(state, neighbours, next, at + lane, X0 + first + lane, Y0 + j))
    }
}
