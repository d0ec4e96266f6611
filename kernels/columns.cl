/* columns.cl: the tridiagonal systems along y of the fast direct solver (spectral.cl) and of whole steps in one launch
 * (flow_step.cl), and parts of those of cut_columns.cl: functions, no kernels. The host's column_plan.h has the method
 * and the tables. A work-item takes a chunk of a column, whose nodes stay in registers; neighbours take neighbouring
 * columns. */
#ifdef CHUNK

/* Parts of a solution in one launch: rows forward, columns, rows back. */
enum { ROWS, COLUMNS_BETWEEN, ROWS_BACK, PARTS };

/* The columns of a grid: their unknowns are rows first ... last. */
typedef struct columns {
    int count, first, last, chunks, low_free, high_free;
} columns;

/* Rows of the tables. */
#define MULTIPLIER(is_last) ((is_last) ? 2 * (CHUNK - 1) : 0)
#define SHARE(is_last) ((is_last) ? 3 * (CHUNK - 1) : CHUNK - 1)
#define SEPARATOR (4 * (CHUNK - 1))

/* Fields lie on the kernel's own grid, or on a finer one (cut_columns.cl). */
#if FINE_PITCH
#define COLUMN_PITCH FINE_PITCH
#define COLUMN_AT(column, node) (FINE_FIRST + (index_t)(node) * FINE_PITCH + (column))
#else
#define COLUMN_PITCH PITCH
#define COLUMN_AT(column, node) AT(column, node)
#endif

/* Node j of a chunk that begins at `begin`: the first of all nodes alone may be none before the unknowns. */
#define IS_UNKNOWN(j) (((j) > 0 || begin >= c.first) && begin + (j) <= c.last)

/* Node j of a chunk, 0 where there is no unknown. */
ALWAYS_INLINED void load_chunk(global const real *in, columns c, int column, int begin, real v[CHUNK])
{
    global const real *from = in + COLUMN_AT(column, begin);
    UNROLLED
    for (int j = 0; j < CHUNK; j++)
        v[j] = IS_UNKNOWN(j) ? from[j * COLUMN_PITCH] : 0;
}

/* The right-hand side of the second of two systems: the solution of the first one, half of it at mirrored ends. */
ALWAYS_INLINED void halve_ends(real v[CHUNK], columns c, int begin)
{
    UNROLLED
    for (int j = 0; j < CHUNK; j++)
        v[j] *= (c.low_free && begin + j == 0) || (c.high_free && begin + j == c.last) ? REAL(0.5) : 1;
}

/* What lies between the separators, for zeros there. */
ALWAYS_INLINED void solve_chunk(real v[CHUNK], global const real *multiplier, int count, real scale)
{
    UNROLLED
    for (int j = CHUNK - 2; j >= 1; j--)
        v[j] = fma(multiplier[j * count], v[j + 1], v[j]);
    real before = 0;
    multiplier += CHUNK > 32 ? LOADED_AGAIN : 0; /* fewer stay in registers, and loads take time */
    UNROLLED
    for (int j = 1; j < CHUNK; j++)
        before = v[j] = multiplier[(j - 1) * count] * fma(v[j], scale, before);
}

#define OR_NOTHING(v) (fabs(v) < LEAST ? 0 : (v))

/* The chunk where its separator and that behind it are known. */
ALWAYS_INLINED void complete_chunk(real v[CHUNK], global const real *share, int count, real own, real behind,
                                   int is_last)
{
    v[0] = OR_NOTHING(own);
    UNROLLED
    for (int j = 1; j < CHUNK; j++) {
        const real near = fma(share[(j - 1) * count], own, v[j]);
        const real value = is_last ? near : fma(share[(CHUNK - 1 - j) * count], behind, near);
        v[j] = OR_NOTHING(value);
    }
}

ALWAYS_INLINED void store_chunk(const real v[CHUNK], columns c, int column, int begin, global real *out)
{
    global real *to = out + COLUMN_AT(column, begin);
    UNROLLED
    for (int j = 0; j < CHUNK; j++)
        if (IS_UNKNOWN(j))
            to[j * COLUMN_PITCH] = v[j];
}

/* What work-items share, a number for each chunk of each of COLUMNS columns: separators' right-hand sides and then
 * values, what the chunk before adds to them, and their tables. */
typedef struct shared {
    local real *b, *ends, *multiplier, *inverse;
} shared;

/* The separators of a column, by one work-item. */
ALWAYS_INLINED void solve_separators(shared of, int column, int chunks)
{
    real y = of.b[column], x = 0;
    UNROLLED_BY_8
    for (int s = 1; s < chunks; s++) {
        const int at = s * COLUMNS + column;
        y = fma(of.multiplier[at - COLUMNS], y, of.b[at] + of.ends[at - COLUMNS]);
        of.b[at] = y;
    }
    UNROLLED_BY_8
    for (int s = chunks - 1; s >= 0; s--) {
        const int at = s * COLUMNS + column;
        x = fma(of.multiplier[at], x, of.inverse[at] * of.b[at]);
        of.b[at] = x;
    }
}

/* COLUMNS columns from `begin` on: coefficients along x of a right-hand side, in the grid's order from its first node,
 * to those of the solution, `out`, which may be `in`, and of a second system. `room` is for what work-items share. */
ALWAYS_INLINED void solve_columns(global const real *in, global real *out, global real *out_second, int systems,
                                  columns c, int begin, global const real *tables,
                                  global const real *tables_second, local real *room)
{
    const int tasks = COLUMNS * c.chunks, held = KEEPS_REGISTERS && tasks <= (int)get_local_size(0);
    const index_t scale_at = (index_t)(SEPARATOR + 2 * c.chunks) * c.count;
    const shared of = { room, room + tasks, room + 2 * tasks, room + 3 * tasks };
    real v[CHUNK];
    ROLLED
    for (int system = 0; system < systems; system++) {
        global const real *t = system ? tables_second : tables;
        global const real *from = system ? out : in;
        global real *to = system ? out_second : out;
        const real scale = t[scale_at];
        /* Before and behind the separators: a work-item that has a chunk alone still has it then. */
        ROLLED
        for (int behind = 0; behind < 2; behind++) {
            FOR_ITEMS(task, tasks)
            {
                const int chunk = task / COLUMNS, column = begin + task % COLUMNS, node = chunk * CHUNK;
                const int is_last = chunk + 1 == c.chunks;
                if (column >= c.count)
                    continue;
                if (!behind) {
                    of.multiplier[task] = t[(SEPARATOR + chunk) * c.count + column];
                    of.inverse[task] = t[(SEPARATOR + c.chunks + chunk) * c.count + column];
                }
                if (!held || (!behind && !system))
                    load_chunk(from, c, column, node, v);
                if (!held || !behind) {
                    if (system)
                        halve_ends(v, c, node);
                    solve_chunk(v, t + MULTIPLIER(is_last) * c.count + column, c.count, scale);
                }
                if (!behind) {
                    of.b[task] = fma(v[0], scale, v[1]);
                    of.ends[task] = v[CHUNK - 1];
                    continue;
                }
                const real own = of.b[task], next = is_last ? 0 : of.b[task + COLUMNS];
                complete_chunk(v, t + SHARE(is_last) * c.count + column, c.count, own, next, is_last);
                store_chunk(v, c, column, node, to);
            }
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            FOR_ITEMS(column, behind ? 0 : COLUMNS)
            if (begin + column < c.count)
                solve_separators(of, column, c.chunks);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}
#endif
