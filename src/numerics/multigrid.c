/* multigrid.c: the grids of a V-cycle on a device, each with a domain of its own, and the launches. */
#include "numerics/multigrid.h"

#include "numerics/multigrid_plan.h"

#include <stdlib.h>

enum { MG_START, MG_SMOOTH, MG_CORRECT, MG_RESTRICT, MG_DENSE, MG_KERNELS };

static const bn_kernel_desc kernel_table[2][MG_KERNELS] = {
    { [MG_START] = { "mg_start", BN_PER_CELL, { .reads = 1, .writes = 1, .flops = 24 } },
      [MG_SMOOTH] = { "mg_smooth", BN_PER_CELL, { .reads = 2, .writes = 1, .flops = 14 } },
      [MG_CORRECT] = { "mg_correct", BN_PER_CELL, { .reads = 1.25, .writes = 1, .flops = 8 } },
      [MG_RESTRICT] = { "mg_restrict", BN_PER_CELL, { .reads = 8, .writes = 1, .flops = 120 } },
      [MG_DENSE] = { "mg_dense", BN_PER_CELL, { .reads = BN_DENSE_NODES, .writes = 1, .flops = 2 * BN_DENSE_NODES } } },
    { [MG_START] = { "mg_start", BN_PER_CELL, { .reads = 11, .writes = 1, .flops = 40 } },
      [MG_SMOOTH] = { "mg_smooth", BN_PER_CELL, { .reads = 12, .writes = 1, .flops = 22 } },
      [MG_CORRECT] = { "mg_correct", BN_PER_CELL, { .reads = 1.25, .writes = 1, .flops = 8 } },
      [MG_RESTRICT] = { "mg_restrict", BN_PER_CELL, { .reads = 44, .writes = 1, .flops = 180 } },
      [MG_DENSE] = { "mg_dense", BN_PER_CELL, { .reads = BN_DENSE_NODES, .writes = 1, .flops = 2 * BN_DENSE_NODES } } },
};

typedef struct mg_level {
    bn_domain *domain; /* own on all but the finest */
    bn_program *program;
    bn_kernel *kernels[MG_KERNELS];
    bn_field *A, *b, *x, *y; /* own on all but the finest, where x and b come with each cycle */
} mg_level;

struct bn_multigrid {
    bn_stencil stencil;
    bn_field *bits;
    bn_scalars *diagonal;
    bn_table *inverse;
    int levels;
    mg_level level[BN_GRID_LEVELS];
};

static bn_status create_fields(const bn_grid_level *plan, mg_level *l, bn_device *device, bn_context *ctx,
                               bn_precision precision)
{
    const bn_domain_desc desc = { .grid = { .dims = 2, .n = { plan->nx, plan->ny, 1 }, .h = { 1, 1, 1 }, .nodes = true },
                                  .precision = precision,
                                  .halo = 1,
                                  .device = device };
    const size_t points = (size_t)plan->nx * plan->ny;
    BN_TRY(bn_domain_create(ctx, &desc, &l->domain));
    BN_TRY(bn_field_create(l->domain, &(bn_field_desc){ .name = "coarse A", .components = BN_STORED }, &l->A));
    BN_TRY(bn_field_create(l->domain, &(bn_field_desc){ .name = "coarse b" }, &l->b));
    BN_TRY(bn_field_create(l->domain, &(bn_field_desc){ .name = "coarse x" }, &l->x));
    BN_TRY(bn_field_create(l->domain, &(bn_field_desc){ .name = "coarse y" }, &l->y));
    return bn_field_set(l->A, plan->A, BN_STORED * points);
}

static bn_status build(const bn_multigrid_plan *plan, bn_multigrid *m, int number)
{
    mg_level *l = &m->level[number];
    const bn_grid_level *own = &plan->level[number];
    const bool finest = number == 0, coarsest = number + 1 == plan->levels;
    const bn_grid_level *finer = finest ? own : own - 1, *coarser = coarsest ? own : own + 1;
    const bn_place finer_place = bn_domain_place(finest ? l->domain : l[-1].domain);
    const bn_place coarser_place = bn_domain_place(coarsest ? l->domain : l[1].domain);
    const struct {
        const char *name;
        long long value;
    } integers[] = {
        { "FINEST", finest },
        { "COARSEST", coarsest },
        { "FINER_FINEST", number == 1 },
        { "STEP_X", own->step_x },
        { "STEP_Y", own->step_y },
        { "COARSE_NX", coarser->nx },
        { "COARSE_NY", coarser->ny },
        { "COARSE_FIRST", coarser_place.first },
        { "COARSE_PITCH", coarser_place.pitch },
        { "FINER_STEP_X", finer->step_x },
        { "FINER_STEP_Y", finer->step_y },
        { "FINER_NX", finer->nx },
        { "FINER_NY", finer->ny },
        { "FINER_FIRST", finer_place.first },
        { "FINER_PITCH", finer_place.pitch },
        { "FINER_PLANE", finer_place.plane },
    };
    enum { COUNT = sizeof integers / sizeof *integers, ALL = COUNT + 4 };
    bn_define defines[ALL] = {
        [COUNT] = { .name = "LAST_X", .kind = BN_DEF_REAL, .u.r = own->last_x },
        { .name = "LAST_Y", .kind = BN_DEF_REAL, .u.r = own->last_y },
        { .name = "FINER_LAST_X", .kind = BN_DEF_REAL, .u.r = finer->last_x },
        { .name = "FINER_LAST_Y", .kind = BN_DEF_REAL, .u.r = finer->last_y },
    };
    for (int i = 0; i < COUNT; i++)
        defines[i] = (bn_define){ .name = integers[i].name, .kind = BN_DEF_INT, .u.i = integers[i].value };
    BN_TRY(bn_program_build(l->domain, "multigrid", defines, ALL, &l->program));
    for (int k = 0; k < MG_KERNELS; k++)
        if (!(k == MG_CORRECT && coarsest) && !(k == MG_RESTRICT && finest) && !(k == MG_DENSE && !coarsest))
            BN_TRY(bn_kernel_find(l->program, &kernel_table[!finest][k], &l->kernels[k]));
    return BN_OK;
}

bn_status bn_multigrid_create(bn_domain *domain, const bn_stencil *stencil, bn_field *bits, bn_field *room,
                              bn_multigrid **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_context *ctx = bn_domain_context(domain);
    bn_multigrid_plan plan;
    double diagonal[BN_DIAGONALS];
    bn_multigrid *m = calloc(1, sizeof *m);
    if (!m || !bn_multigrid_plan_create(stencil, &plan)) {
        free(m);
        return bn_fail(ctx, BN_MEMORY, "no memory for the grids of multigrid");
    }
    m->stencil = *stencil;
    m->bits = bits;
    m->levels = plan.levels;
    m->level[0].domain = domain;
    m->level[0].y = room;
    for (int l = 1; l < plan.levels; l++)
        BN_GO(create_fields(&plan.level[l], &m->level[l], bn_domain_device(domain), ctx, bn_domain_precision(domain)));
    for (int l = 0; l < plan.levels; l++)
        BN_GO(build(&plan, m, l));
    const bn_grid_level *last = &plan.level[plan.levels - 1];
    const size_t nodes = (size_t)last->nx * last->ny;
    BN_GO(bn_table_reals(m->level[plan.levels - 1].domain, "coarsest inverse", plan.inverse, nodes * nodes,
                         &m->inverse));
    BN_GO(bn_scalars_create(domain, "multigrid diagonal", BN_DIAGONALS, &m->diagonal));
    bn_stencil_diagonals(stencil, diagonal);
    BN_GO(bn_scalars_write(m->diagonal, diagonal, BN_DIAGONALS));
    *out = m;
    m = NULL;
out:
    bn_multigrid_plan_destroy(&plan);
    bn_multigrid_destroy(&m);
    return st;
}

void bn_multigrid_destroy(bn_multigrid **multigrid)
{
    if (!multigrid || !*multigrid)
        return;
    bn_multigrid *m = *multigrid;
    bn_table_destroy(&m->inverse);
    bn_scalars_destroy(&m->diagonal);
    for (int i = 0; i < m->levels; i++) {
        mg_level *l = &m->level[i];
        bn_program_destroy(&l->program);
        if (i == 0)
            continue;
        bn_field_destroy(&l->A);
        bn_field_destroy(&l->b);
        bn_field_destroy(&l->x);
        bn_field_destroy(&l->y);
        bn_domain_destroy(&l->domain);
    }
    free(m);
    *multigrid = NULL;
}

/* A launch of kernel `k` on level `l` with the arguments of MATRIX_ARGUMENTS in front. */
#define RUN(m, l, k, ...)                                                                                         \
    ((l) == 0 ? BN_RUN((m)->level[0].kernels[k], BN_READ((m)->bits, 0), BN_SCALARS((m)->diagonal),               \
                       BN_REALV((m)->stencil.kx), BN_REALV((m)->stencil.ky), __VA_ARGS__)                         \
              : BN_RUN((m)->level[l].kernels[k], BN_READ((m)->level[l].A, 0), __VA_ARGS__))

static bn_status restrict_to(bn_multigrid *m, int number, bn_field *b, bn_field *x)
{
    mg_level *l = &m->level[number];
    if (number == 1)
        return BN_RUN(l->kernels[MG_RESTRICT], BN_READ_FOREIGN(m->bits), BN_SCALARS_FOREIGN(m->diagonal),
                      BN_REALV(m->stencil.kx), BN_REALV(m->stencil.ky), BN_READ_FOREIGN(b), BN_READ_FOREIGN(x),
                      BN_READ(l->A, 0), BN_WRITE(l->b));
    return BN_RUN(l->kernels[MG_RESTRICT], BN_READ_FOREIGN(l[-1].A), BN_READ_FOREIGN(b), BN_READ_FOREIGN(x),
                  BN_READ(l->A, 0), BN_WRITE(l->b));
}

static bn_status cycle(bn_multigrid *m, int number, bn_field *b, bn_field *x)
{
    mg_level *l = &m->level[number];
    if (number + 1 == m->levels)
        return BN_RUN(l->kernels[MG_DENSE], BN_TABLE(m->inverse), BN_READ(b, 0), BN_WRITE(x));
    mg_level *next = l + 1;
    BN_TRY(RUN(m, number, MG_START, BN_READ(b, 1), BN_WRITE(x)));
    BN_TRY(restrict_to(m, number + 1, b, x));
    BN_TRY(cycle(m, number + 1, next->b, next->x));
    BN_TRY(BN_RUN(l->kernels[MG_CORRECT], BN_READ(number == 0 ? m->bits : l->A, 0), BN_READ_FOREIGN(next->x),
                  BN_UPDATE(x)));
    BN_TRY(RUN(m, number, MG_SMOOTH, BN_READ(b, 0), BN_READ(x, 1), BN_WRITE(l->y)));
    return RUN(m, number, MG_SMOOTH, BN_READ(b, 0), BN_READ(l->y, 1), BN_WRITE(x));
}

bn_status bn_multigrid_cycle(void *user, bn_field *r, bn_field *z) { return cycle(user, 0, r, z); }
