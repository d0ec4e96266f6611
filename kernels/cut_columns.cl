/* cut_columns.cl: the tridiagonal systems along y of the fast direct solver (columns.cl) where no work-group has a
 * whole column: boxes have some chunks of each, or there are more than bn_column_chunks_most(). A launch finds what
 * separators see of their chunks, the next one puts their values into the chunks; between them separators are solved
 * for. In most columns they see no more of each other than their chunks (column_plan.h), and the next launch solves for
 * them by itself.
 *
 * The grid of these kernels has a row for each chunk; fields on the one that is solved on lie by FINE_FIRST and
 * FINE_PITCH. */

#if FINE_PITCH
/* Chunk `s` of all: what its separator has on its right-hand side, and with that of the chunk before. */
ALWAYS_INLINED real seen_by(global const real *ends, int column, int chunk, int s)
{
    const index_t at = AT(column, chunk);
    return s > 0 ? ends[at] + ends[at - PITCH + PLANE] : ends[at];
}

/* Of the systems 1 and 2, whose right-hand side are the values of the first one: `values`: number of the one whose
 * separators are known now and whose solution goes from `in` to `out`; `next`: then of the one whose separators'
 * right-hand sides go to `next_ends`, each with what its chunk gives the next one; 0: none. ends: right-hand sides for
 * `values`; known: values of the separators of the first `coupled` columns. */
kernel void spectral_chunks(global const real *in, global real *out, global const real *ends,
                            global const real *known, int known_first, int known_pitch, int coupled,
                            global real *next_ends, global const real *restrict systems,
                            global const real *restrict systems_second, int values, int next)
{
    CELL(column, chunk);
    const int s = Y0 + chunk, is_last = s + 1 == CHUNKS, node = chunk * CHUNK, first_node = Y0 * CHUNK;
    const columns c = { COUNT_X,    FIRST_Y - first_node,    FIRST_Y + COUNT_Y - 1 - first_node,
                        CHUNKS, LOW_FREE_Y && Y0 == 0, HIGH_FREE_Y };
    const index_t at = AT(column, chunk);
    real v[CHUNK];
    if (column >= COUNT_X || s >= CHUNKS)
        return;
    load_chunk(in, c, column, node, v);
    ROLLED
    for (int pass = 0; pass < 2; pass++) {
        const int system = pass ? next : values;
        global const real *t = (system == 2 ? systems_second : systems) + column;
        global const real *inverse = t + (SEPARATOR + CHUNKS + s) * COUNT_X;
        if (system == 0)
            continue;
        const real scale = t[(index_t)(SEPARATOR + 2 * CHUNKS) * COUNT_X - column];
        if (system == 2)
            halve_ends(v, c, node);
        solve_chunk(v, t + MULTIPLIER(is_last) * COUNT_X, COUNT_X, scale);
        if (pass) {
            next_ends[at] = fma(v[0], scale, v[1]);
            next_ends[at + PLANE] = v[CHUNK - 1];
            continue;
        }
        real own, behind = 0;
        if (column < coupled) {
            own = known[known_first + s * known_pitch + column];
            behind = is_last ? 0 : known[known_first + (s + 1) * known_pitch + column];
        } else {
            own = inverse[0] * seen_by(ends, column, chunk, s);
            behind = is_last ? 0 : inverse[COUNT_X] * seen_by(ends, column, chunk + 1, s + 1);
        }
        complete_chunk(v, t + SHARE(is_last) * COUNT_X, COUNT_X, own, behind, is_last);
        store_chunk(v, c, column, node, out);
    }
}
#endif

/* The separators of the columns in which they are coupled, on a grid that has these columns and a row for each chunk:
 * in place of their right-hand sides, behind which what the chunks give the next ones stands as a second component.
 * tables: a row for each chunk of multipliers, then of inverses. */
kernel void spectral_separators(global real *separators, global const real *restrict tables)
{
    local real room[4 * COLUMNS * CHUNKS];
    const int tasks = COLUMNS * CHUNKS, begin = COLUMNS * (int)get_group_id(0);
    const shared of = { room, room + tasks, room + 2 * tasks, room + 3 * tasks };
    FOR_ITEMS(task, tasks)
    {
        const int s = task / COLUMNS, column = min(begin + task % COLUMNS, NX - 1);
        of.b[task] = separators[AT(column, s)];
        of.ends[task] = separators[AT(column, s) + PLANE];
        of.multiplier[task] = tables[s * NX + column];
        of.inverse[task] = tables[(CHUNKS + s) * NX + column];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_ITEMS(column, COLUMNS)
    solve_separators(of, column, CHUNKS);
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_ITEMS(task, tasks)
    if (begin + task % COLUMNS < NX)
        separators[AT(begin + task % COLUMNS, task / COLUMNS)] = of.b[task];
}
