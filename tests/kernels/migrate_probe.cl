/* migrate_probe.cl: walkers who visit planes of a table that is cut into slabs, and go from device to device for it. */
static inline int plane_of(uint number, uint visit)
{
    return CROWD && visit == 1 ? 5 : (int)((number * 7 + visit * 5) % PLANES); /* in a crowd all meet in one plane */
}

kernel void migrate_walk(global const real *restrict table, volatile global long *tally, global uint *travel, int first,
                         int end)
{
    const uint item = (uint)get_global_id(0), items = migrate_items(travel);
    if (item >= items)
        return;
    uint at = *migrate_memory(travel, item), number = 0, visit = 0;
    long whole = 0;
    real sum = 0;
    int has = item < migrate_come(travel);
    if (has) {
        global const uint *t = migrate_arrival(travel, item);
        number = t[1];
        visit = t[2];
        whole = (long)migrate_long(t + 3);
        sum = migrate_real(t + 5);
    }
    for (;;) {
        if (!has) {
            number = item + at * items;
            if (migrate_hold(travel) || number >= COUNT)
                break;
            at++;
            visit = 0;
            whole = 0;
            sum = 0;
            has = plane_of(number, 0) >= first && plane_of(number, 0) < end;
            if (!has)
                continue;
        }
        const int plane = plane_of(number, visit);
        if (plane < first || plane >= end) {
            global uint *t = migrate_departure(travel);
            t[0] = ASTRAY ? 77 : plane < first ? migrate_device(travel) - 1 : migrate_device(travel) + 1;
            t[1] = number;
            t[2] = visit;
            migrate_put(migrate_put_long(t + 3, (ulong)whole), sum);
            break;
        }
        const real value = table[(size_t)(plane - first) * EACH + number % EACH];
        whole += (long)value * (number - 300L);
        sum = sum + value;
        if (++visit == VISITS) {
            fixed_add(&tally[0], 1);
            fixed_add(&tally[1 + number % 8], whole);
            fixed_add(&tally[9], (long)sum);
            has = 0;
        }
    }
    *migrate_memory(travel, item) = at;
}

kernel void migrate_take(volatile global long *tally, global long *restrict out)
{
    CELL(i, j);
    out[AT(i, j)] = tally[(Y0 + j) * GNX + X0 + i];
}
