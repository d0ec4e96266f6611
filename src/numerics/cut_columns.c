/* cut_columns.c: grids, fields and launches of columns that no work-group has as a whole. */
#include "numerics/cut_columns.h"

#include "api/other_grids.h"

#include <stdlib.h>

/* Work-items of a work-group: of chunks, and of separators. */
enum { CHUNK_ITEMS = 128, SEPARATOR_ITEMS = 256 };
/* Columns of whose separators a work-group takes care, if they fit into its local memory. */
enum { SEPARATORS_MOST = 8 };

/* Of one system. */
typedef struct bn_cut_system {
    bn_device_array *columns; /* its tables */
    bn_field *ends;           /* in the boxes of the grid: what separators see of their chunks */
    bn_domain *everywhere;    /* the columns in which they are coupled; NULL: in none */
    bn_field *separators;     /* there */
    bn_device_array *tables;  /* there */
    bn_program *program;
    bn_kernel *solve;
    int coupled;
} bn_cut_system;

struct bn_cut_columns {
    bn_domain *rows; /* the grid's boxes, with a row for each chunk */
    bn_program *program;
    bn_kernel *chunks;
    bn_cut_system system[2];
};

/* Of a chunk of 64 nodes. */
static const bn_kernel_desc chunks_kernel = { "spectral_chunks",
                                              BN_PER_CELL,
                                              { .reads = 64, .writes = 64, .flops = 576 } };
static const bn_kernel_desc separators_kernel = { "spectral_separators",
                                                  BN_PER_COLUMN_PAIR,
                                                  { .reads = 2, .writes = 1, .flops = 6 } };

bool bn_columns_fit_boxes(const bn_domain *d, int intervals)
{
    const int step[3] = { (int)bn_domain_grid(d)->n[0], bn_column_chunk(intervals), 1 };
    return bn_domain_divides(d, step);
}

static int columns_of_group(const bn_domain *d, const bn_column_plan *p)
{
    int columns = SEPARATORS_MOST;
    while (columns > 2 && 4 * (size_t)columns * (size_t)p->chunks * bn_domain_real_bytes(d) > BN_SPECTRAL_LOCAL_BYTES)
        columns /= 2;
    return columns;
}

/* A kernel of kernels/cut_columns.cl without the other, on the grid `d` of its own. fine: the grid that is solved on,
 * for chunks; columns: of a work-group, for separators. */
static bn_status build(bn_domain *d, const bn_spectral_plan *plan, const bn_column_plan *p, const bn_domain *fine,
                       int columns, bn_program **program, bn_kernel **out)
{
    const bn_spectral_axis *x = &plan->axis[0], *y = &plan->axis[1];
    const bn_place place = fine ? bn_domain_place(fine) : (bn_place){ 0 }; /* of all boxes, which have whole rows */
    const bn_kernel_desc *kernel = fine ? &chunks_kernel : &separators_kernel;
    const bn_define defines[] = {
        { .name = "REGISTERS", .kind = BN_DEF_INT, .u.i = bn_column_registers(bn_domain_real_bytes(d)) },
        { .name = "COUNT_X", .kind = BN_DEF_INT, .u.i = x->count },
        { .name = "COUNT_Y", .kind = BN_DEF_INT, .u.i = y->count },
        { .name = "FIRST_Y", .kind = BN_DEF_INT, .u.i = y->first },
        { .name = "LOW_FREE_Y", .kind = BN_DEF_INT, .u.i = y->low_free },
        { .name = "HIGH_FREE_Y", .kind = BN_DEF_INT, .u.i = y->high_free },
        { .name = "CHUNK", .kind = BN_DEF_INT, .u.i = p->chunk },
        { .name = "CHUNKS", .kind = BN_DEF_INT, .u.i = p->chunks },
        { .name = "COLUMNS", .kind = BN_DEF_INT, .u.i = columns },
        { .name = "FINE_FIRST", .kind = BN_DEF_INT, .u.i = (long)place.first },
        { .name = "FINE_PITCH", .kind = BN_DEF_INT, .u.i = (long)place.pitch },
        { .name = fine ? separators_kernel.name : chunks_kernel.name, .kind = BN_DEF_LEFT_OUT },
    };
    BN_TRY(bn_program_build(d, "columns+cut_columns", defines, sizeof defines / sizeof *defines, program));
    BN_TRY(bn_kernel_find(*program, kernel, out));
    bn_kernel_items(*out, fine ? CHUNK_ITEMS : SEPARATOR_ITEMS);
    if (!fine)
        bn_kernel_pairs(*out, (size_t)columns / 2);
    return BN_OK;
}

/* Their tables: multipliers and inverses of the columns in which separators are coupled. */
static bn_status create_tables(const bn_column_plan *p, bn_cut_system *s)
{
    const size_t rows = 2 * (size_t)p->chunks;
    double *values = malloc(rows * p->coupled * sizeof *values);
    if (!values)
        return bn_fail(bn_domain_context(s->everywhere), BN_MEMORY, "no memory for the tables of the direct solver");
    for (size_t at = 0; at < rows * p->coupled; at++)
        values[at] = p->tables[((size_t)bn_column_separator(p) + at / p->coupled) * p->columns + at % p->coupled];
    const bn_status st = bn_device_array_reals(s->everywhere, "separators' systems", values, rows * p->coupled,
                                               &s->tables);
    free(values);
    return st;
}

static bn_status create_system(bn_cut_columns *c, const bn_spectral_plan *plan, const bn_column_plan *p,
                               bn_cut_system *s)
{
    bn_domain *rows = c->rows;
    const bn_domain_desc desc = {
        .grid = { .dims = 2, .n = { (uint32_t)p->coupled, bn_domain_grid(rows)->n[1], 1 }, .h = { 1, 1, 1 } },
        .precision = bn_domain_precision(rows),
        .copies = bn_domain_boxes(rows) > 1,
        .device = bn_domain_device(rows),
        .auxiliary_to = rows,
    };
    BN_TRY(bn_device_array_reals(rows, "systems along y", p->tables, bn_column_numbers(p), &s->columns));
    BN_TRY(bn_field_create(rows, &(bn_field_desc){ .name = "ends of chunks", .components = 2 }, &s->ends));
    s->coupled = (int)p->coupled;
    if (p->coupled == 0)
        return BN_OK;
    BN_TRY(bn_domain_create(bn_domain_context(rows), &desc, &s->everywhere));
    BN_TRY(bn_field_create(s->everywhere, &(bn_field_desc){ .name = "separators", .components = 2 }, &s->separators));
    BN_TRY(create_tables(p, s));
    return build(s->everywhere, plan, p, NULL, columns_of_group(rows, p), &s->program, &s->solve);
}

bn_status bn_cut_columns_create(bn_domain *domain, const bn_spectral_plan *plan, const bn_column_plan *second,
                                bn_cut_columns **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    const bn_column_plan *p = &plan->columns;
    bn_cut_columns *c = calloc(1, sizeof *c);
    if (!c)
        return bn_fail(bn_domain_context(domain), BN_MEMORY, "no memory for the direct solver");
    BN_GO(bn_domain_coarsen(domain, (const int[3]){ 1, p->chunk, 1 }, 1, &c->rows));
    BN_GO(build(c->rows, plan, p, domain, 2, &c->program, &c->chunks));
    BN_GO(create_system(c, plan, p, &c->system[0]));
    if (second)
        BN_GO(create_system(c, plan, second, &c->system[1]));
    *out = c;
    c = NULL;
out:
    bn_cut_columns_destroy(&c);
    return st;
}

void bn_cut_columns_destroy(bn_cut_columns **columns)
{
    if (!columns || !*columns)
        return;
    bn_cut_columns *c = *columns;
    for (int i = 0; i < 2; i++) {
        bn_program_destroy(&c->system[i].program);
        bn_device_array_destroy(&c->system[i].tables);
        bn_field_destroy(&c->system[i].separators);
        bn_field_destroy(&c->system[i].ends);
        bn_device_array_destroy(&c->system[i].columns);
        bn_domain_destroy(&c->system[i].everywhere);
    }
    bn_program_destroy(&c->program);
    bn_domain_destroy(&c->rows);
    free(c);
    *columns = NULL;
}

bn_status bn_cut_columns_ready(bn_cut_columns *c)
{
    for (int i = 0; i < 2; i++)
        if (c->system[i].everywhere)
            BN_TRY(bn_domain_kernels_ready(c->system[i].everywhere));
    return bn_domain_kernels_ready(c->rows);
}

/* The solution of system number `values`, counted from 1, of which `in` has the right-hand sides or the first solution;
 * and what separators of system number `next` see. 0: none. */
static bn_status launch(bn_cut_columns *c, bn_field *in, int values, bn_field *out, int next)
{
    static const bn_arg none = BN_NULL;
    const bn_cut_system *of = &c->system[values > 0 ? values - 1 : 0], *then = &c->system[next > 0 ? next - 1 : 0];
    const bool everywhere = values > 0 && of->everywhere;
    const bn_place place = everywhere ? bn_domain_place(of->everywhere) : (bn_place){ 0 };
    return BN_RUN(c->chunks, BN_READ_OTHER_GRID(in), values > 0 ? (bn_arg)BN_WRITE_OTHER_GRID(out) : none,
                  values > 0 ? (bn_arg)BN_READ(of->ends, 1) : none,
                  everywhere ? (bn_arg)BN_READ_EVERYWHERE(of->separators) : none, BN_I32V((int32_t)place.first),
                  BN_I32V((int32_t)place.pitch), BN_I32V(everywhere ? of->coupled : 0),
                  next > 0 ? (bn_arg)BN_WRITE(then->ends) : none, BN_ARRAY(c->system[0].columns),
                  BN_ARRAY_OR_NULL(c->system[1].columns), BN_I32V(values), BN_I32V(next));
}

/* What separators see is known, or was on its way to all devices. */
static bn_status solve_separators(const bn_cut_system *s)
{
    if (!s->everywhere)
        return BN_OK;
    BN_TRY(bn_field_copy_columns_end(s->ends, s->separators));
    return BN_RUN(s->solve, BN_UPDATE(s->separators), BN_ARRAY(s->tables));
}

static bn_status begin_copy(const bn_cut_system *s)
{
    return s->everywhere ? bn_field_copy_columns_begin(s->ends, s->separators) : BN_OK;
}

bn_status bn_cut_columns_solve(bn_cut_columns *c, bn_field *coefficients, bn_field **awaited)
{
    *awaited = c->system[1].ends;
    BN_TRY(launch(c, coefficients, 0, NULL, 1));
    BN_TRY(begin_copy(&c->system[0]));
    BN_TRY(solve_separators(&c->system[0]));
    BN_TRY(launch(c, coefficients, 1, coefficients, *awaited ? 2 : 0));
    return *awaited ? begin_copy(&c->system[1]) : BN_OK;
}

bn_status bn_cut_columns_solve_second(bn_cut_columns *c, bn_field *coefficients, bn_field *second)
{
    BN_TRY(solve_separators(&c->system[1]));
    return launch(c, coefficients, 2, second, 0);
}
