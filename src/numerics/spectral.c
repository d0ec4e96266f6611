/* spectral.c: puts the tables of the fast direct solver on a device and launches it. */
#include "numerics/spectral.h"

#include "numerics/cut_columns.h"

#include <stdlib.h>
#include <string.h>

enum { PAIRS, PLACES, FORWARD, BACK, TABLES }; /* of an axis; the last two: of a stretched grid */

struct bn_spectral {
    bn_program *program, *program_of_columns; /* of both kernels, or each of one */
    bn_kernel *rows, *columns;
    bn_kernel *solve; /* in place of both */
    bn_device_array *meeting;
    bn_scalars *failed;
    bn_cut_columns *cut;                       /* in place of the columns' kernel */
    bn_device_array *table[2][TABLES];         /* of each dimension of a stretched grid; else along x */
    bn_device_array *systems[2], *eigenvalues; /* along y, of each system; of a stretched grid */
    bn_field *work, *work_second, *plus;
    bn_field *dense; /* of a stretched grid: between the two dimensions */
};

static const bn_kernel_desc rows_kernel = { "spectral_rows",
                                            BN_PER_ROW_PAIR,
                                            { .reads = 1, .writes = 1, .flops = 110 } };
static const bn_kernel_desc columns_kernel = { "spectral_columns",
                                               BN_PER_COLUMN_PAIR,
                                               { .reads = 1, .writes = 1, .flops = 9 } };
static const bn_kernel_desc solve_kernel = { "spectral_solve",
                                             BN_SIDE_BY_SIDE,
                                             { .reads = 3, .writes = 3, .flops = 229 } };
static const bn_kernel_desc dense_rows_kernel = { "spectral_dense_rows",
                                                  BN_PER_BLOCK,
                                                  { .reads = 1, .writes = 1, .flops = 256 } };
static const bn_kernel_desc dense_columns_kernel = { "spectral_dense_columns",
                                                     BN_PER_BLOCK,
                                                     { .reads = 1, .writes = 1, .flops = 256 } };
/* Registers of a work-item: what passes of two levels need, so that an H200 has four work-groups on a compute unit;
 * nearly what passes of three levels need, so that it has three in place of two; and of two pairs in double precision,
 * whose local memory leaves room for three. */
enum { REGISTERS = 64, REGISTERS_OF_THREE_LEVELS = 80, REGISTERS_OF_TWO_PAIRS_IN_DOUBLE = 96 };
/* Lines from 2^PAIRS_LOG intervals on, of which there are so many, are taken in two pairs. */
enum { PAIRS_LOG = 10, PAIRS_LINES = 1000 };
/* Work-items that take columns side by side, and columns of theirs. */
enum { COLUMN_ITEMS = 256, COLUMNS_MOST = 8 };
/* Above so many nodes, or nodes along a side, several launches are faster than one: a work-group takes several pairs of
 * rows one after the other, or long ones (docs/measurements.md). */
enum { ONE_LAUNCH_NODES = 300 * 300, ONE_LAUNCH_SIDE = 801 };
enum { VECTOR = 64 }; /* bytes */
enum { DEFINES_MOST = 29 };

/* Levels of a pass over lines (kernels/transform.cl). */
static int levels(const bn_spectral_axis *a, size_t real_bytes)
{
    return real_bytes == 4 && !a->chirps && bn_spectral_group_log(a) > 11 ? 3 : 2;
}

/* Pairs of lines of a work-group. */
static size_t pairs(const bn_device *device, const bn_spectral_axis *a, int lines, size_t real_bytes)
{
    const bool fits = 2 * 2 * real_bytes * bn_spectral_room(a) <= bn_device_describe(device)->local_bytes;
    const bool many = a->log >= PAIRS_LOG && a->share_log == 0 && lines >= PAIRS_LINES;
    return levels(a, real_bytes) == 2 && many && fits ? 2 : 1;
}

/* Columns of a work-group, an even number. */
static size_t columns_of_group(const bn_column_plan *p)
{
    size_t columns = COLUMNS_MOST;
    while (columns > 2 && columns * (size_t)p->chunks > COLUMN_ITEMS)
        columns /= 2;
    return columns;
}

/* Work-items that form the sums of a line that is split: those of four lines each, at a point, or at both if there are
 * but two, of which every other line needs none. */
static size_t items_for_sums(const bn_spectral_axis *a)
{
    int most = 0, lines = 1;
    for (int s = 0; s < 2 && a->split[s] > 1; s++) {
        const int m = a->split[s], points = a->intervals / (lines * m) + 1, fours = bn_spectral_sums_row(m) / 4,
                  items = points == 2 ? lines * (m / 2 / 4 + 1) : lines * fours * points;
        most = items > most ? items : most;
        lines *= m;
    }
    return (size_t)most + 31;
}

/* The larger of two numbers of work-items, of which 0 is the default. */
static size_t larger_group(size_t a, size_t b) { return a == 0 || b == 0 ? 0 : a > b ? a : b; }

/* Work-items for lines: four points each; or eight, and a warp for those that are folded once more (0: the default). */
static size_t items(const bn_spectral_axis *a, size_t count, size_t real_bytes)
{
    const size_t points = (size_t)1 << bn_spectral_group_log(a), wish = bn_spectral_lines(a) > 1 ? items_for_sums(a)
                                                                        : levels(a, real_bytes) == 2
                                                                            ? count * points / 4
                                                                            : points / 8 + 32;
    return wish >= 288 ? 0 : wish < 64 ? 64 : wish / 32 * 32;
}

static int registers(const bn_spectral_axis *x, size_t count, size_t real_bytes)
{
    return real_bytes == 8 && count > 1 ? REGISTERS_OF_TWO_PAIRS_IN_DOUBLE
           : levels(x, real_bytes) == 3 ? REGISTERS_OF_THREE_LEVELS
                                        : REGISTERS;
}

/* Whether the device takes vectors, and has local memory for points and values of a vector of lines
 * (kernels/spectral_lines.cl). */
static bool takes_lines(const bn_device *device, const bn_spectral_axis *x)
{
    const size_t points = bn_spectral_lines(x) > 1 ? 2 * bn_spectral_split_points(x) : ((size_t)1 << x->log) + 2;
    return bn_takes_wide_vectors(device) &&
           points + (size_t)x->count <= bn_device_describe(device)->local_bytes / VECTOR;
}

/* Arrays one behind the other in one of the device. */
typedef struct piece {
    const double *values;
    size_t count;
} piece;
static bn_status create_joined(bn_domain *d, const char *name, const piece *pieces, size_t count, bn_device_array **out)
{
    size_t all = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        all += pieces[i].count;
    double *values = malloc(all * sizeof *values);
    if (!values)
        return bn_fail(bn_domain_context(d), BN_MEMORY, "no memory for the tables of the direct solver");
    for (size_t i = 0; i < count; at += pieces[i++].count)
        if (pieces[i].count > 0)
            memcpy(values + at, pieces[i].values, pieces[i].count * sizeof *values);
    const bn_status st = bn_device_array_reals(d, name, values, all, out);
    free(values);
    return st;
}

/* For the kernels of spectral_lines.cl, or of spectral.cl: twiddle factors, chirps and their spectrum, sums. */
enum { PIECES = 4 };
static void pairs_of(const bn_spectral_axis *a, bool lines, piece pairs[PIECES])
{
    pairs[0] = (piece){ lines ? a->twiddle : a->factors, lines ? bn_spectral_twiddles(a) : bn_spectral_factors(a) };
    pairs[1] = (piece){ a->chirp, a->chirps ? bn_spectral_chirps(a) : 0 };
    pairs[2] = (piece){ a->spectrum, a->chirps ? bn_spectral_spectrum(a) : 0 };
    pairs[3] = (piece){ a->sums, bn_spectral_sums(a) };
}

bn_status bn_spectral_tables(bn_domain *d, const bn_spectral_axis *a, bool lines, bn_device_array **numbers,
                             bn_device_array **out)
{
    const size_t count = (size_t)(a->terms * a->count);
    piece pairs[PIECES];
    pairs_of(a, lines, pairs);
    if (numbers)
        BN_TRY(create_joined(d, "transform", pairs, PIECES, numbers));
    int32_t *places = malloc(2 * count * sizeof *places);
    if (!places)
        return bn_fail(bn_domain_context(d), BN_MEMORY, "no memory for the tables of the direct solver");
    memcpy(places, a->pick, count * sizeof *places);
    memcpy(places + count, a->pick_back, count * sizeof *places);
    const bn_status st = bn_device_array_integers(d, "order", places, 2 * count, out);
    free(places);
    return st;
}

/* Of a stretched grid: eigenvalues, also those of the second system (NULL: none). */
static bn_status create_eigenvalues(bn_domain *domain, const bn_spectral_plan *plan, const bn_spectral_second *second,
                                    bn_device_array **out)
{
    bn_spectral_plan more = { 0 };
    piece values[4] = { { NULL, 0 } };
    if (second && !bn_spectral_plan_second(second->stencil, bn_domain_real_bytes(domain), &more))
        return bn_fail(bn_domain_context(domain), BN_MEMORY, "no memory for the tables of the direct solver");
    for (int d = 0; d < 2; d++) {
        const size_t nodes = (size_t)plan->axis[d].intervals + 1;
        values[d] = (piece){ plan->axis[d].eigenvalue, nodes };
        values[2 + d] = (piece){ more.axis[d].eigenvalue, nodes };
    }
    const bn_status st = create_joined(domain, "eigenvalues", values, second ? 4 : 2, out);
    bn_spectral_plan_destroy(&more);
    return st;
}

/* Tables of both systems; `cut`: no work-group has whole columns. */
static bn_status create_systems(bn_domain *domain, const bn_spectral_plan *plan, const bn_spectral_second *second,
                                bool cut, bn_spectral *s)
{
    bn_status st = BN_OK;
    bn_spectral_plan more = { 0 };
    const bn_column_plan *p = &plan->columns, *q = &more.columns;
    if (second && !bn_spectral_plan_second(second->stencil, bn_domain_real_bytes(domain), &more))
        BN_GO(bn_fail(bn_domain_context(domain), BN_MEMORY, "no memory for the tables of the direct solver"));
    if (cut) {
        BN_GO(bn_cut_columns_create(domain, plan, second ? q : NULL, &s->cut));
        goto out;
    }
    BN_GO(bn_device_array_reals(domain, "systems along y", p->tables, bn_column_numbers(p), &s->systems[0]));
    if (second)
        BN_GO(bn_device_array_reals(domain, "second systems along y", q->tables, bn_column_numbers(q), &s->systems[1]));
out:
    bn_spectral_plan_destroy(&more);
    return st;
}

/* Of a stretched grid. */
static bn_status create_dense(bn_domain *domain, const bn_spectral_plan *plan, const bn_spectral_second *second,
                              bn_spectral *s)
{
    const bn_spectral_axis *x = &plan->axis[0], *y = &plan->axis[1];
    const bn_define defines[] = {
        { .name = "SYSTEMS", .kind = BN_DEF_INT, .u.i = second ? 2 : 1 },
        { .name = "PLUS", .kind = BN_DEF_INT, .u.i = second && second->plus },
        { .name = "COUNT_X", .kind = BN_DEF_INT, .u.i = x->count },
        { .name = "FIRST_X", .kind = BN_DEF_INT, .u.i = x->first },
        { .name = "COUNT_Y", .kind = BN_DEF_INT, .u.i = y->count },
        { .name = "FIRST_Y", .kind = BN_DEF_INT, .u.i = y->first },
    };
    BN_TRY(bn_field_create(domain, &(bn_field_desc){ .name = "half of the coefficients" }, &s->dense));
    BN_TRY(create_eigenvalues(domain, plan, second, &s->eigenvalues));
    BN_TRY(bn_program_build(domain, "spectral_dense", defines, sizeof defines / sizeof *defines, &s->program));
    BN_TRY(bn_kernel_find(s->program, &dense_rows_kernel, &s->rows));
    BN_TRY(bn_kernel_find(s->program, &dense_columns_kernel, &s->columns));
    for (int d = 0; d < 2; d++) {
        const bn_spectral_axis *a = &plan->axis[d];
        const size_t nodes = (size_t)a->intervals + 1, count = (size_t)a->count * nodes;
        BN_TRY(bn_device_array_reals(domain, "eigenvectors", a->forward, count, &s->table[d][FORWARD]));
        BN_TRY(bn_device_array_reals(domain, "eigenvectors back", a->back, count, &s->table[d][BACK]));
    }
    return BN_OK;
}

/* Columns of long chunks need more registers than rows: where REGISTERS, which is defines[0], counts, they are a
 * program of their own; and those that are cut always. */
static bn_status build_programs(bn_domain *domain, const char *file, const bn_define *defines, size_t count, int chunk,
                                bn_spectral *s)
{
    bn_define all[DEFINES_MOST + 1];
    const bool apart = s->cut || (chunk >= BN_COLUMN_LONG && bn_compiles_aside(bn_domain_device(domain)));
    memcpy(all, defines, count * sizeof *all);
    all[count] = (bn_define){ .name = columns_kernel.name, .kind = BN_DEF_LEFT_OUT };
    BN_TRY(bn_program_build(domain, file, all, count + apart, &s->program));
    BN_TRY(bn_kernel_find(s->program, &rows_kernel, &s->rows));
    if (s->cut)
        return BN_OK;
    all[count].name = rows_kernel.name;
    all[0].u.i = bn_column_registers(bn_domain_real_bytes(domain));
    if (apart)
        BN_TRY(bn_program_build(domain, file, all, count + 1, &s->program_of_columns));
    return bn_kernel_find(apart ? s->program_of_columns : s->program, &columns_kernel, &s->columns);
}

bool bn_spectral_fits_boxes(const bn_domain *d, const bn_stencil *s)
{
    return bn_domain_boxes(d) == 1 || (!s->widths && !s->rectangle && bn_columns_fit_boxes(d, (int)s->ny - 1));
}

bool bn_spectral_gains_by_one_launch(const bn_device_info *device, uint32_t nx, uint32_t ny)
{
    return device && device->side_by_side && nx <= ONE_LAUNCH_SIDE && ny <= ONE_LAUNCH_SIDE &&
           nx * ny <= ONE_LAUNCH_NODES;
}

bool bn_spectral_takes_one_launch(const bn_stencil *s, size_t real_bytes, const bn_device_info *device,
                                  bn_launches launches)
{
    bn_spectral_axis axes[2];
    if (launches == BN_LAUNCHES_SEVERAL || s->widths || !device)
        return false;
    (void)bn_spectral_folds_or_splits(s, real_bytes, axes);
    const bn_spectral_axis *y = &axes[1];
    if (axes[0].share_log > 0 || bn_column_chunks(y->intervals, (bn_column_ends){ y->low_free, y->high_free }) >
                                     bn_column_chunks_most(real_bytes))
        return false;
    return launches == BN_LAUNCHES_ONE || bn_spectral_gains_by_one_launch(device, s->nx, s->ny);
}

static bn_status build_one_launch(bn_domain *domain, const bn_define *defines, size_t count, const bn_spectral_plan *p,
                                  size_t systems, size_t row_items, size_t columns, bn_spectral *s)
{
    const size_t rows = systems * (((size_t)p->axis[1].first + (size_t)p->axis[1].count + 1) / 2),
                 groups = ((size_t)p->axis[0].count + columns - 1) / columns;
    BN_TRY(bn_program_build(domain, "transform+columns+spectral", defines, count, &s->program));
    BN_TRY(bn_kernel_find(s->program, &solve_kernel, &s->solve));
    bn_kernel_items(s->solve, larger_group(row_items, (columns * (size_t)p->columns.chunks + 31) / 32 * 32));
    bn_kernel_side_by_side(s->solve, rows > groups ? rows : groups);
    BN_TRY(bn_device_array_meeting(domain, &s->meeting));
    return bn_scalars_create(domain, "failed meetings", 1, &s->failed);
}

bn_status bn_spectral_create(bn_domain *domain, const bn_stencil *stencil, bn_field *work,
                             const bn_spectral_second *second, bn_launches launches, bn_spectral **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    const size_t real_bytes = bn_domain_real_bytes(domain);
    bn_spectral_plan plan;
    bn_spectral *s = calloc(1, sizeof *s);
    if (!s || !bn_spectral_plan_create(stencil, real_bytes, &plan)) {
        free(s);
        return bn_fail(bn_domain_context(domain), BN_MEMORY, "no memory for the tables of the direct solver");
    }
    s->work = work;
    s->work_second = second ? second->work : NULL;
    s->plus = second ? second->plus : NULL;
    const bn_spectral_axis *x = &plan.axis[0], *y = &plan.axis[1];
    if (stencil->widths) {
        BN_GO(create_dense(domain, &plan, second, s));
        *out = s;
        s = NULL;
        goto out;
    }
    const bn_device *device = bn_domain_device(domain);
    const bool whole = bn_domain_boxes(domain) == 1;
    const bool one = whole && bn_spectral_takes_one_launch(stencil, real_bytes, bn_device_describe(device), launches);
    const bool lines = !one && takes_lines(device, x);
    /* CPUs take columns of any length. */
    const bool cut = !whole || (!lines && plan.columns.chunks > bn_column_chunks_most(real_bytes));
    BN_GO(create_systems(domain, &plan, second, cut, s));
    const size_t n = lines || one ? 1 : pairs(device, x, y->count, real_bytes);
    const size_t columns = one ? BN_SPECTRAL_ONE_LAUNCH_COLUMNS : columns_of_group(&plan.columns);
    piece px[PIECES];
    pairs_of(x, lines, px);
    const bn_define defines[DEFINES_MOST] = {
        { .name = "REGISTERS", .kind = BN_DEF_INT, .u.i = registers(x, n, real_bytes) },
        { .name = "SYSTEMS", .kind = BN_DEF_INT, .u.i = second ? 2 : 1 },
        { .name = "PLUS", .kind = BN_DEF_INT, .u.i = s->plus != NULL },
        { .name = "LOG_X", .kind = BN_DEF_INT, .u.i = lines ? x->log : bn_spectral_group_log(x) },
        { .name = "SHARE_LOG", .kind = BN_DEF_INT, .u.i = x->share_log },
        { .name = "LEVELS_X", .kind = BN_DEF_INT, .u.i = levels(x, real_bytes) },
        { .name = "LENGTH_X", .kind = BN_DEF_INT, .u.i = x->length },
        { .name = "CHIRP_X", .kind = BN_DEF_INT, .u.i = x->chirps },
        { .name = "SPLIT_X", .kind = BN_DEF_INT, .u.i = x->split[0] },
        { .name = "THEN_SPLIT_X", .kind = BN_DEF_INT, .u.i = x->split[1] },
        { .name = "COUNT_X", .kind = BN_DEF_INT, .u.i = x->count },
        { .name = "FIRST_X", .kind = BN_DEF_INT, .u.i = x->first },
        { .name = "MIRRORED_X", .kind = BN_DEF_INT, .u.i = x->mirrored },
        { .name = "ODD_X", .kind = BN_DEF_INT, .u.i = x->odd },
        { .name = "PAIRS_X", .kind = BN_DEF_INT, .u.i = (long)n },
        { .name = "ROOM", .kind = BN_DEF_INT, .u.i = (long)bn_spectral_room(x) },
        { .name = "TWICE_LOW_X", .kind = BN_DEF_INT, .u.i = x->low_free },
        { .name = "TWICE_HIGH_X", .kind = BN_DEF_INT, .u.i = x->high_free },
        { .name = "CHIRP_AT", .kind = BN_DEF_INT, .u.i = (long)(px[0].count / 2) },
        { .name = "SPECTRUM_AT", .kind = BN_DEF_INT, .u.i = (long)((px[0].count + px[1].count) / 2) },
        { .name = "SUMS_AT", .kind = BN_DEF_INT, .u.i = (long)((px[0].count + px[1].count + px[2].count) / 2) },
        { .name = "COUNT_Y", .kind = BN_DEF_INT, .u.i = y->count },
        { .name = "FIRST_Y", .kind = BN_DEF_INT, .u.i = y->first },
        { .name = "LOW_FREE_Y", .kind = BN_DEF_INT, .u.i = y->low_free },
        { .name = "HIGH_FREE_Y", .kind = BN_DEF_INT, .u.i = y->high_free },
        { .name = "CHUNK", .kind = BN_DEF_INT, .u.i = plan.columns.chunk },
        { .name = "CHUNKS", .kind = BN_DEF_INT, .u.i = plan.columns.chunks },
        { .name = "COLUMNS", .kind = BN_DEF_INT, .u.i = (long)columns },
        { .name = "ONE_LAUNCH", .kind = BN_DEF_INT, .u.i = one },
    };
    const size_t count = sizeof defines / sizeof *defines;
    if (one)
        BN_GO(build_one_launch(domain, defines, count, &plan, second ? 2 : 1, items(x, n, real_bytes), columns, s));
    else
        BN_GO(build_programs(domain, lines ? "spectral_lines" : "transform+columns+spectral", defines, count,
                             plan.columns.chunk, s));
    if (s->rows) {
        bn_kernel_pairs(s->rows, n);
        bn_kernel_shares(s->rows, lines ? 1 : (size_t)1 << x->share_log);
        bn_kernel_items(s->rows, items(x, n, real_bytes));
    }
    if (s->columns) {
        bn_kernel_pairs(s->columns, lines ? 1 : columns / 2);
        bn_kernel_items(s->columns, (columns * (size_t)plan.columns.chunks + 31) / 32 * 32);
    }
    BN_GO(bn_spectral_tables(domain, x, lines, &s->table[0][PAIRS], &s->table[0][PLACES]));
    *out = s;
    s = NULL;
out:
    bn_spectral_plan_destroy(&plan);
    bn_spectral_destroy(&s);
    return st;
}

void bn_spectral_destroy(bn_spectral **solver)
{
    if (!solver || !*solver)
        return;
    for (int t = 0; t < TABLES; t++) {
        bn_device_array_destroy(&(*solver)->table[0][t]);
        bn_device_array_destroy(&(*solver)->table[1][t]);
    }
    bn_cut_columns_destroy(&(*solver)->cut);
    bn_device_array_destroy(&(*solver)->systems[0]);
    bn_device_array_destroy(&(*solver)->systems[1]);
    bn_device_array_destroy(&(*solver)->eigenvalues);
    bn_program_destroy(&(*solver)->program);
    bn_program_destroy(&(*solver)->program_of_columns);
    bn_device_array_destroy(&(*solver)->meeting);
    bn_scalars_destroy(&(*solver)->failed);
    bn_field_destroy(&(*solver)->dense);
    free(*solver);
    *solver = NULL;
}

bn_status bn_spectral_ready(const bn_spectral *s) { return s->cut ? bn_cut_columns_ready(s->cut) : BN_OK; }

/* From coefficients to a solution; of the second system of two or not. */
static bn_status dense_back(const bn_spectral *s, bn_field *coefficients, bool second, bn_field *x)
{
    bn_device_array *const *tx = s->table[0], *const *ty = s->table[1];
    BN_TRY(BN_RUN(s->columns, BN_READ(coefficients, 0), BN_ARRAY(ty[BACK]), BN_ARRAY(s->eigenvalues), BN_I32V(0),
                  BN_UPDATE(s->dense), BN_NULL));
    return BN_RUN(s->rows, BN_READ(s->dense, 0), BN_ARRAY(tx[BACK]), BN_READ_OR_NULL(second ? s->plus : NULL, 0),
                  BN_I32V(second), BN_UPDATE(x));
}

static bn_status dense_solve_two(bn_spectral *s, bn_field *x, bn_field *y, bn_field *b)
{
    bn_device_array *const *tx = s->table[0], *const *ty = s->table[1];
    BN_TRY(BN_RUN(s->rows, BN_READ(b, 0), BN_ARRAY(tx[FORWARD]), BN_NULL, BN_I32V(0), BN_UPDATE(s->dense)));
    BN_TRY(BN_RUN(s->columns, BN_READ(s->dense, 0), BN_ARRAY(ty[FORWARD]), BN_ARRAY(s->eigenvalues), BN_I32V(1),
                  BN_UPDATE(s->work), BN_UPDATE_OR_NULL(s->work_second)));
    BN_TRY(dense_back(s, s->work, false, x));
    return s->work_second ? dense_back(s, s->work_second, true, y) : BN_OK;
}

/* The rows back to x and, if not NULL, y, or to y alone (`only_second`). later: its halo is received meanwhile. */
static bn_status rows_back(const bn_spectral *s, bn_field *x, bn_field *y, bool only_second, bn_field *later)
{
    bn_device_array *const *tx = s->table[0];
    const bn_arg args[] = {
        BN_READ(s->work, 0),
        BN_READ_OR_NULL(y ? s->work_second : NULL, 0),
        BN_UPDATE_OR_NULL(x),
        BN_UPDATE_OR_NULL(y),
        BN_READ_OR_NULL(y ? s->plus : NULL, 0),
        BN_ARRAY(tx[PAIRS]),
        BN_ARRAY(tx[PLACES]),
        BN_I32V(only_second ? 2 : 1),
        BN_READ_LATER(later, 1),
    };
    bn_kernel_layers(s->rows, y && !only_second ? 2 : 1);
    return bn_launch(s->rows, args, sizeof args / sizeof *args - !later);
}

static bn_status solve_in_one_launch(bn_spectral *s, bn_field *x, bn_field *y, bn_field *b)
{
    bn_device_array *const *tx = s->table[0];
    return BN_RUN(s->solve, BN_READ(b, 0), BN_UPDATE(x), BN_UPDATE_OR_NULL(y), BN_UPDATE(s->work),
                  BN_UPDATE_OR_NULL(s->work_second), BN_READ_OR_NULL(s->plus, 0), BN_ARRAY(tx[PAIRS]),
                  BN_ARRAY(tx[PLACES]), BN_ARRAY(s->systems[0]), BN_ARRAY_OR_NULL(s->systems[1]), BN_ARRAY(s->meeting),
                  BN_SCALARS(s->failed));
}

bn_scalars *bn_spectral_failed(const bn_spectral *s) { return s ? s->failed : NULL; }

bn_status bn_spectral_solve_two(bn_spectral *s, bn_field *x, bn_field *y, bn_field *b)
{
    if (s->dense)
        return dense_solve_two(s, x, y, b);
    if (s->solve)
        return solve_in_one_launch(s, x, s->work_second ? y : NULL, b);
    bn_device_array *const *tx = s->table[0];
    bn_field *second = s->work_second, *awaited;
    bn_kernel_layers(s->rows, 1);
    BN_TRY(BN_RUN(s->rows, BN_READ(b, 0), BN_NULL, BN_UPDATE(s->work), BN_NULL, BN_NULL, BN_ARRAY(tx[PAIRS]),
                  BN_ARRAY(tx[PLACES]), BN_I32V(0)));
    if (!s->cut) {
        BN_TRY(BN_RUN(s->columns, BN_UPDATE(s->work), BN_UPDATE_OR_NULL(second), BN_ARRAY(s->systems[0]),
                      BN_ARRAY_OR_NULL(s->systems[1])));
        return rows_back(s, x, second ? y : NULL, false, NULL);
    }
    BN_TRY(bn_cut_columns_solve(s->cut, s->work, &awaited));
    BN_TRY(rows_back(s, x, NULL, false, awaited));
    if (!second)
        return BN_OK;
    BN_TRY(bn_cut_columns_solve_second(s->cut, s->work, second));
    return rows_back(s, NULL, y, true, NULL);
}

bn_status bn_spectral_solve(bn_spectral *s, bn_field *x, bn_field *b) { return bn_spectral_solve_two(s, x, x, b); }
