/* cut_columns.cl: the tridiagonal systems along y of the fast direct solver (columns.cl) where no work-group has a whole
 * column: boxes have some chunks of each, or there are more than BN_COLUMN_CHUNKS. A launch finds what separators see of
 * their chunks, the next one puts their values into the chunks; between them separators are solved for. In most columns
 * they see no more of each other than their chunks (column_plan.h), and the next launch solves for them by itself. */

/* Of the separators' grid, whose rows are the box's chunks. */
#define AT_CHUNK(sizes, column, chunk) ((sizes).SIZES_FIRST + (index_t)(chunk) * (sizes).SIZES_PITCH + (column))

/* Chunk `s` of all: what its separator has on its right-hand side, and with that of the chunk before. */
ALWAYS_INLINED real seen_by(global const real *ends, int16 sizes, int column, int chunk, int s)
{
    const index_t at = AT_CHUNK(sizes, column, chunk);
    return s > 0 ? ends[at] + ends[at - sizes.SIZES_PITCH + SIZES_PLANE(sizes)] : ends[at];
}

/* Chunks side by side in COLUMNS columns, a layer of the launch for each so many. Of the systems 1 and 2, whose
 * right-hand side are the values of the first one: `values`: number of the one whose separators are known now and whose
 * solution goes from `in` to `out`; `next`: then of the one whose separators' right-hand sides go to `next_ends`, each
 * with what its chunk gives the next one; 0: none. ends: right-hand sides for `values`; known: values of the separators
 * of the first `coupled` columns. */
kernel void spectral_chunks(global const real *in, global real *out, int16 sizes, global const real *ends,
                            global const real *known, int known_first, int known_pitch, int coupled,
                            global real *next_ends, global const real *restrict systems,
                            global const real *restrict systems_second, int values, int next)
{
    const int first_chunk = Y0 / CHUNK, chunks = min((NY + CHUNK - 1) / CHUNK, CHUNKS - first_chunk);
    const columns c = { COUNT_X, FIRST_Y - Y0, FIRST_Y + COUNT_Y - 1 - Y0, chunks, LOW_FREE_Y && Y0 == 0, HIGH_FREE_Y };
    const int begin = COLUMNS * (int)get_group_id(0), layer = (int)get_group_id(2), layers = (int)get_num_groups(2);
    const index_t scale_at = (index_t)(SEPARATOR + 2 * CHUNKS) * COUNT_X;
    for (int task = layer * (int)get_local_size(0) + (int)get_local_id(0); task < COLUMNS * chunks;
         task += layers * (int)get_local_size(0)) {
        const int chunk = task / COLUMNS, column = begin + task % COLUMNS, node = chunk * CHUNK;
        const int s = first_chunk + chunk, is_last = s + 1 == CHUNKS;
        real v[CHUNK];
        if (column >= COUNT_X)
            continue;
        load_chunk(in, c, column, node, v);
        ROLLED
        for (int pass = 0; pass < 2; pass++) {
            const int system = pass ? next : values;
            global const real *t = (system == 2 ? systems_second : systems) + column;
            if (system == 0)
                continue;
            if (system == 2)
                halve_ends(v, c, node);
            solve_chunk(v, t + MULTIPLIER(is_last) * COUNT_X, COUNT_X, t[scale_at - column]);
            if (pass) {
                const index_t at = AT_CHUNK(sizes, column, chunk);
                next_ends[at] = fma(v[0], t[scale_at - column], v[1]);
                next_ends[at + SIZES_PLANE(sizes)] = v[CHUNK - 1];
                continue;
            }
            global const real *inverse = t + (SEPARATOR + CHUNKS + s) * COUNT_X;
            real own, behind = 0;
            if (column < coupled) {
                own = known[known_first + s * known_pitch + column];
                behind = is_last ? 0 : known[known_first + (s + 1) * known_pitch + column];
            } else {
                own = inverse[0] * seen_by(ends, sizes, column, chunk, s);
                behind = is_last ? 0 : inverse[COUNT_X] * seen_by(ends, sizes, column, chunk + 1, s + 1);
            }
            complete_chunk(v, t + SHARE(is_last) * COUNT_X, COUNT_X, own, behind, is_last);
            store_chunk(v, c, column, node, out);
        }
    }
}

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
