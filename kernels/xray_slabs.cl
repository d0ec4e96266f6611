/* xray_slabs.cl: the walk of xray.cl, which stands before it, where each device has a slab of the density: photons
 * migrate from device to device (kernels/lib/migrate.h). */
#if SLABS
/* What a photon takes to another device (XRAY_PHOTON_WORDS of xray.h); the rest is computed again there. */
#define PHOTON_INTEGERS(X) \
    X(number.s0) X(number.s1) X(number.s2) X(scatterings) X(weight) X(k.y0) X(k.z0) X(a.block) X(b.block) X(c.block)
#define PHOTON_LONGS(X) X(k.length) X(k.deficit) X(k.y) X(k.z)
#define PHOTON_REALS(X) X(x) X(y) X(z) X(t) X(depth) X(d.u) X(d.v) X(d.w)
#define PHOTON_POLARISATION(X) if (POLARISED) { X(d.eu) X(d.ev) X(d.ew) }

static inline void pack(const photon *p, uint device, global uint *to)
{
    *to++ = device;
    PHOTON_INTEGERS(MIGRATE_PUT_INTEGER)
    PHOTON_LONGS(MIGRATE_PUT_LONG)
    PHOTON_REALS(MIGRATE_PUT_REAL)
    PHOTON_POLARISATION(MIGRATE_PUT_REAL)
}

static inline void unpack(photon *p, global const uint *from)
{
    global const uint *block = from++ + 8;
    PHOTON_INTEGERS(MIGRATE_GET_INTEGER)
    PHOTON_LONGS(MIGRATE_GET_LONG)
    PHOTON_REALS(MIGRATE_GET_REAL)
    PHOTON_POLARISATION(MIGRATE_GET_REAL)
    p->number.s3 = 0;
    p->words = philox(p->number, KEY);
    if (p->scatterings > 0)
        round_direction(&p->d);
    else
        set_beam_units(&p->d);
    set_direction_in_cells(p);
    enter_blocks(p);
    /* At a face rounding would decide which block a place belongs to: the photon brings its block. */
    set_block(&p->a, (int)block[0], BITS_X, BOX_X);
    set_block(&p->b, (int)block[1], BITS_Y, BOX_Y);
    set_block(&p->c, (int)block[2], BITS_Z, BOX_Z);
}

/* The next photon that enters this slab, of those of work-item `item`: it goes through the cells item, item + items
 * ... of CELLS * layers, which share a cell's photons as in xray_trace. All devices go through all numbers; a photon
 * beside the density belongs to the slab that it passes. *at: how many it has gone through. 0: there are no more. */
static inline int next_photon(photon *p, slab s, uint item, uint items, ulong first, ulong begin, ulong end,
                              uint rounds, uint layers, uint *at, uint *cell, int *flying)
{
    const uint each = (rounds + layers - 1) / layers;
    for (;;) {
        const ulong share = item + (ulong)(*at / each) * items;
        if (share >= (ulong)CELLS * layers)
            return 0;
        const uint round = (uint)(share / CELLS) + *at % each * layers;
        *cell = (uint)(share % CELLS);
        ++*at;
        const ulong number = first + *cell + (ulong)round * CELLS;
        if (round >= rounds || number < begin || number >= end)
            continue;
        *flying = emit(p, number);
        if (is_in(s, ALONG(CUT, block_at(p->x + p->dx * p->t, BITS_X, BLOCKS_X),
                           block_at(p->y + p->dy * p->t, BITS_Y, BLOCKS_Y),
                           block_at(p->z + p->dz * p->t, BITS_Z, BLOCKS_Z)))) {
            if (*flying)
                begin_flight(p);
            return 1;
        }
    }
}

/* The same photons where each device has a slab of the density, the blocks first_block ... end_block - 1: first those
 * that have migrated here, then those that enter here. */
kernel void xray_trace_slab(global const real *restrict optical, global const real *restrict majorant,
                            global const int *restrict directions, global const real *restrict angle,
                            volatile global long *image, volatile global long *volume,
                            volatile global long *tallies, global uint *migrating, int first_block, int end_block,
                            uint first0, uint first1, uint begin0, uint begin1, uint end0, uint end1, uint rounds,
                            uint layers)
{
    const uint item = (uint)get_global_id(0), items = migrate_items(migrating), here = migrate_device(migrating);
    const int may_begin = !migrate_hold(migrating);
    if (item >= items)
        return;
    const ulong first = (ulong)first1 << 32 | first0, begin = (ulong)begin1 << 32 | begin0,
                end = (ulong)end1 << 32 | end0;
    const slab own = { first_block, end_block, ALONE ? REAL(1.0) / majorant[0] : REAL(0.0) };
    const tally nothing = { 0, 0, 0, 0, 0, 0 };
    tally count = nothing;
    photon p;
    uint at = *migrate_memory(migrating, item), cell = 0;
    int flying = item < migrate_come(migrating), arrived = flying;
    if (flying) {
        unpack(&p, migrate_arrival(migrating, item));
        cell = (uint)(((ulong)p.number.s1 << 32 | p.number.s0) % CELLS);
    }
    uint counted_cell = cell;
    for (;;) {
        if (!flying) {
            if (!may_begin ||
                !next_photon(&p, own, item, items, first, begin, end, rounds, layers, &at, &cell, &flying))
                break;
            if (cell != counted_cell || count.fates >> 24 == 255) {
                add_tally(tallies + counted_cell, CELLS, &count);
                count = nothing;
                counted_cell = cell;
            }
        }
        real most = 0;
        if (flying)
            flying = reach_collision(&p, own, majorant, &most, !arrived);
        arrived = 0;
        if (flying == LEAVES_SLAB)
            break;
        if (flying)
            flying = collide(&p, own, most, optical, directions, angle, image, volume);
        if (!flying)
            detect(&p, directions, image, &count);
    }
    if (flying == LEAVES_SLAB)
        pack(&p, block_along_cut(&p) < own.first ? here - 1 : here + 1, migrate_departure(migrating));
    *migrate_memory(migrating, item) = at;
    add_tally(tallies + counted_cell, CELLS, &count);
}

/* Adds the tallies of all devices to those of the detector's cells. */
kernel void xray_collect_tallies(volatile global long *counted, global long *restrict tallies)
{
    CELL(i, j);
    const size_t cell = (size_t)(Y0 + j) * GNX + (size_t)(X0 + i);
    for (int n = 0; n < XRAY_TALLIES; n++) {
        tallies[AT(i, j) + n * (index_t)PLANE] += counted[n * (size_t)CELLS + cell];
        counted[n * (size_t)CELLS + cell] = 0;
    }
}
#endif
