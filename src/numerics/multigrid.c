/* multigrid.c: the grids of a V-cycle on a device, each with a domain of its own, and the launches. On a domain of
 * several boxes the large grids are cut into the same boxes. The first small grid exists twice, in boxes and
 * agglomerated on the first device: the right-hand side is copied there, all coarser grids are whole, and the
 * correction is copied back. The arithmetic of a node is the same either way. */
#include "numerics/multigrid.h"

#include "numerics/multigrid_plan.h"

#include <stdlib.h>

enum {
    MG_START,
    MG_SMOOTH,
    MG_CORRECT,
    MG_CORRECT_SMOOTH,
    MG_RESIDUAL,
    MG_RESTRICT_FIRST,
    MG_RESTRICT,
    MG_RESTRICT_RESIDUAL,
    MG_DENSE,
    MG_KERNELS
};

/* Grids of fewer nodes are agglomerated: a halo exchange between devices takes longer than all arithmetic of such a
 * grid on one device, and a cycle has at least two exchanges a grid. */
enum { MG_AGGLOMERATED_NODES = 320 * 320 };

/* Ghost cells that a box computes itself: two cells of the result of mg_start give the residuals that the coarser grid
 * restricts; two cells of the corrected values allow a sweep over one ghost cell and then one over the box. Correcting
 * them reads this many cells around the box of the coarser grid. */
#define MG_COARSE_RADIUS(ghosts) ((ghosts) / 2 + 1)

/* Nodes up to which a grid corrects and sweeps in one launch. On a GPU this saves some 5 us, more than it costs to
 * compute each correction five times on the finest grid and nine times on others; a CPU gains nothing at 65 x 65 nodes.
 */
enum { MG_FUSED_NODES_CPU = 96 * 96, MG_FUSED_NODES_GPU = 512 * 512 };

/* Of the finest grid, of the others. */
static const bn_kernel_desc kernel_table[2][MG_KERNELS] = {
    { [MG_START] = { "mg_start", BN_PER_CELL, { .reads = 1, .writes = 1, .flops = 24 } },
      [MG_SMOOTH] = { "mg_smooth", BN_PER_CELL, { .reads = 2, .writes = 1, .flops = 14 } },
      [MG_CORRECT] = { "mg_correct", BN_PER_CELL, { .reads = 1.25, .writes = 1, .flops = 8 } },
      [MG_CORRECT_SMOOTH] = { "mg_correct_smooth", BN_PER_CELL, { .reads = 2.25, .writes = 1, .flops = 54 } },
      [MG_RESIDUAL] = { "mg_residual", BN_PER_CELL, { .reads = 2, .writes = 1, .flops = 11 } } },
    { [MG_START] = { "mg_start", BN_PER_CELL, { .reads = 11, .writes = 1, .flops = 40 } },
      [MG_SMOOTH] = { "mg_smooth", BN_PER_CELL, { .reads = 12, .writes = 1, .flops = 22 } },
      [MG_CORRECT] = { "mg_correct", BN_PER_CELL, { .reads = 1.25, .writes = 1, .flops = 8 } },
      [MG_CORRECT_SMOOTH] = { "mg_correct_smooth", BN_PER_CELL, { .reads = 12.25, .writes = 1, .flops = 94 } },
      [MG_RESIDUAL] = { "mg_residual", BN_PER_CELL, { .reads = 11, .writes = 1, .flops = 19 } },
      [MG_RESTRICT_FIRST] = { "mg_restrict_first", BN_PER_CELL, { .reads = 9, .writes = 1, .flops = 120 } },
      [MG_RESTRICT] = { "mg_restrict", BN_PER_CELL, { .reads = 45, .writes = 1, .flops = 180 } },
      [MG_RESTRICT_RESIDUAL] = { "mg_restrict_residual", BN_PER_CELL, { .reads = 5, .writes = 1, .flops = 18 } },
      [MG_DENSE] = { "mg_dense", BN_PER_CELL, { .reads = BN_DENSE_NODES, .writes = 1, .flops = 2 * BN_DENSE_NODES } } },
};

typedef struct mg_level {
    const bn_grid_level *plan; /* valid during creation */
    bn_domain *domain;         /* owned, except the finest */
    bn_program *program;
    bn_kernel *kernels[MG_KERNELS];
    bn_field *A, *b, *x, *y; /* owned, except the finest level's, whose x and b are the caller's */
    int step_x, step_y;      /* to the next coarser level, and weights: bn_grid_level */
    double last_x, last_y;
    bool fused; /* mg_correct_smooth takes the place of mg_correct */
    int ghosts; /* cells around its boxes that are computed instead of exchanged */
} mg_level;

struct bn_multigrid {
    bn_stencil stencil;
    bn_field *bits;
    bn_scalars *diagonal;
    bn_device_array *inverse;
    int levels;
    int agglomerated; /* level that is the same grid as the one before, but whole on the first device; 0: none */
    mg_level level[BN_GRID_LEVELS + 1];
};

/* The grid of a coarser level, whole or in the boxes of the one before. */
static bn_status create_domain(bn_multigrid *m, int number)
{
    mg_level *l = &m->level[number];
    bn_domain *finest = m->level[0].domain;
    const bn_grid_level *finer = l[-1].plan;
    if (number < m->agglomerated)
        return bn_domain_coarsen(l[-1].domain, (const int[3]){ finer->step_x, finer->step_y, 1 },
                                 BN_MULTIGRID_GHOST_CELLS + 1, &l->domain);
    const bn_domain_desc desc = {
        .grid = { .dims = 2, .n = { l->plan->nx, l->plan->ny, 1 }, .h = { 1, 1, 1 }, .nodes = true },
        .precision = bn_domain_precision(finest),
        .halo = 1,
        .device = bn_domain_device(finest)
    };
    return bn_domain_create(bn_domain_context(finest), &desc, &l->domain);
}

/* Writes the first components of a level's matrix, some rows of a box at a time. */
static bn_status write_matrix(const mg_level *l, int components)
{
    enum { BAND = 1 << 26 }; /* bytes, enough for rows on all processors */
    const bool single = bn_domain_precision(l->domain) == BN_SINGLE;
    const size_t point = (size_t)components * (single ? sizeof(float) : sizeof(double));
    bn_region whole;
    for (size_t part = 0; part < bn_domain_parts(l->domain); part++) {
        bn_domain_part(l->domain, part, &whole);
        const size_t most = BAND / (whole.n[0] * point) + 1;
        const uint32_t rows = most < whole.n[1] ? (uint32_t)most : whole.n[1];
        void *values = malloc(rows * whole.n[0] * point);
        if (!values)
            return bn_fail(bn_domain_context(l->domain), BN_MEMORY, "no memory for the matrices of multigrid");
        bn_status st = BN_OK;
        for (uint32_t j = 0; st == BN_OK && j < whole.n[1]; j += rows) {
            bn_region band = whole;
            band.first[1] += j;
            band.n[1] = whole.n[1] - j < rows ? whole.n[1] - j : rows;
            bn_grid_matrix(l->plan, components, band.first, band.n, single, values);
            st = bn_field_write_region(l->A, 0, components, &band, BN_OWN_TYPE, values);
        }
        free(values);
        BN_TRY(st);
    }
    return BN_OK;
}

static bn_status create_fields(bn_multigrid *m, int number)
{
    mg_level *l = &m->level[number];
    const int stored = number + 1 == m->agglomerated
                           ? 1
                           : BN_STORED; /* only where unknowns are: nothing is smoothed there */
    BN_TRY(bn_field_create(l->domain, &(bn_field_desc){ .name = "coarse A", .components = stored }, &l->A));
    BN_TRY(bn_field_create(l->domain, &(bn_field_desc){ .name = "coarse b" }, &l->b));
    BN_TRY(bn_field_create(l->domain, &(bn_field_desc){ .name = "coarse x" }, &l->x));
    if (number + 1 != m->agglomerated)
        BN_TRY(bn_field_create(l->domain, &(bn_field_desc){ .name = "coarse y" }, &l->y));
    return write_matrix(l, stored);
}

/* Whether the residual of a level is a field of its own, which boxes without ghost cells exchange. */
static bool separate(const bn_multigrid *m, int number)
{
    return number >= 0 && number + 1 < m->agglomerated && m->level[number].ghosts == 0;
}

/* Whether a level corrects and sweeps in one launch: it is small, and whole, so that all ranks decide alike. */
static bool small_enough(const bn_multigrid *m, int number)
{
    const bn_domain *d = m->level[number].domain;
    const bool cpu = bn_device_describe(bn_domain_device(d))->cpu;
    return number >= m->agglomerated && bn_domain_boxes(d) == 1 &&
           bn_domain_points(d) <= (cpu ? MG_FUSED_NODES_CPU : MG_FUSED_NODES_GPU);
}

/* Whether a level has a kernel. */
static bool has_kernel(const bn_multigrid *m, int number, int kernel)
{
    const bool first = number == 0 || number == m->agglomerated; /* reads no finer level */
    const bool coarsest = number + 1 == m->levels, from_residual = separate(m, number - 1);
    if (number + 1 == m->agglomerated && (kernel < MG_RESTRICT_FIRST || kernel == MG_DENSE))
        return false;
    switch (kernel) {
    case MG_RESTRICT_FIRST: return number == 1 && !first && !from_residual;
    case MG_RESTRICT: return number > 1 && !first && !from_residual;
    case MG_RESTRICT_RESIDUAL: return !first && from_residual;
    case MG_RESIDUAL: return separate(m, number);
    case MG_DENSE: return coarsest;
    case MG_CORRECT: return !coarsest && !m->level[number].fused;
    case MG_CORRECT_SMOOTH: return !coarsest && m->level[number].fused;
    default: return !coarsest;
    }
}

/* The program of the finest level, whose sizes are injected, or the one that all others share: the kernels that one of
 * them has. */
static bn_status build(bn_multigrid *m, int number)
{
    mg_level *l = &m->level[number];
    const bool finest = number == 0 && m->levels > 1;
    bn_define defines[1 + MG_KERNELS] = { { .name = "FINEST", .kind = BN_DEF_INT, .u.i = finest } };
    size_t count = 1;
    for (int k = 0; k < MG_KERNELS; k++) {
        bool wanted = false;
        for (int n = finest || m->levels == 1 ? 0 : 1; n < (finest ? 1 : m->levels); n++)
            wanted = wanted || has_kernel(m, n, k);
        if (!wanted)
            defines[count++] = (bn_define){ .name = kernel_table[1][k].name, .kind = BN_DEF_LEFT_OUT };
    }
    BN_TRY(finest ? bn_program_build(l->domain, "multigrid", defines, count, &l->program)
                  : bn_program_build_any_size(l->domain, m->level[0].domain, "multigrid", defines, count, &l->program));
    for (int k = 0; k < MG_KERNELS; k++)
        if (has_kernel(m, number, k))
            BN_TRY(bn_kernel_find(l->program, &kernel_table[!finest][k], &l->kernels[k]));
    return BN_OK;
}

bool bn_multigrid_fits_boxes(const bn_domain *domain, const bn_stencil *s)
{
    return (size_t)s->nx * s->ny > BN_DENSE_NODES &&
           bn_domain_divides(domain, (const int[3]){ bn_grid_step(s->nx), bn_grid_step(s->ny), 1 });
}

/* Makes the coarser levels: in boxes as long as they are large and their cuts can be coarsened, then whole. */
static bn_status create_levels(bn_multigrid *m, const bn_multigrid_plan *plan)
{
    const bool boxes = bn_domain_boxes(m->level[0].domain) > 1;
    bool whole = !boxes;
    m->level[0].plan = plan->level;
    m->levels = 1;
    for (int p = 1; p < plan->levels; p++) {
        const bn_grid_level *own = &plan->level[p];
        const bool small = (size_t)own->nx * own->ny < MG_AGGLOMERATED_NODES || p + 1 == plan->levels;
        for (int copy = whole; copy < 2; copy++) {
            const int number = m->levels++;
            mg_level *l = &m->level[number];
            l->plan = own;
            if (copy == 0)
                m->agglomerated = number + 1;
            BN_TRY(create_domain(m, number));
            if (copy == 0 && !small && bn_domain_divides(l->domain, (const int[3]){ own->step_x, own->step_y, 1 }))
                break;
            whole = true;
        }
    }
    for (int l = 0; l + 1 < m->agglomerated; l++)
        if (bn_domain_max_radius(m->level[l].domain) >= BN_MULTIGRID_GHOST_CELLS + 1 &&
            bn_domain_max_radius(m->level[l + 1].domain) >= MG_COARSE_RADIUS(BN_MULTIGRID_GHOST_CELLS))
            m->level[l].ghosts = BN_MULTIGRID_GHOST_CELLS;
    for (int n = 0; n < m->levels; n++) {
        mg_level *l = &m->level[n];
        l->step_x = l->plan->step_x;
        l->step_y = l->plan->step_y;
        l->last_x = l->plan->last_x;
        l->last_y = l->plan->last_y;
        l->fused = small_enough(m, n);
    }
    for (int l = 1; l < m->levels; l++)
        BN_TRY(create_fields(m, l));
    for (int l = 0; l < m->levels; l++)
        BN_TRY(build(m, l));
    return BN_OK;
}

bn_status bn_multigrid_create(bn_domain *domain, const bn_stencil *stencil, bn_field *bits, bn_field *work,
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
    m->level[0].domain = domain;
    m->level[0].y = work;
    BN_GO(create_levels(m, &plan));
    const bn_grid_level *last = &plan.level[plan.levels - 1];
    const size_t nodes = (size_t)last->nx * last->ny;
    BN_GO(bn_device_array_reals(m->level[m->levels - 1].domain, "coarsest inverse", plan.inverse, nodes * nodes,
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
    bn_device_array_destroy(&m->inverse);
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

/* A launch of kernel `k` on level `l` with the arguments of MATRIX_ARGUMENTS in front, of which it reads neighbours
 * within `radius`. */
#define RUN(m, l, k, radius, ...)                                                                                  \
    ((l) == 0 ? BN_RUN((m)->level[0].kernels[k], BN_READ((m)->bits, radius), BN_SCALARS((m)->diagonal),            \
                       BN_REALV((m)->stencil.kx), BN_REALV((m)->stencil.ky), __VA_ARGS__)                          \
              : BN_RUN((m)->level[l].kernels[k], BN_SIZES((m)->level[l].domain), BN_READ((m)->level[l].A, radius), \
                       __VA_ARGS__))

/* The arguments for two grids in the same boxes: sizes of the one that is not the kernel's, and BETWEEN_GRIDS. */
#define BETWEEN(other, finer)                                                                                 \
    BN_SIZES((other)->domain), BN_I32V((finer)->step_x), BN_I32V((finer)->step_y), BN_REALV((finer)->last_x), \
        BN_REALV((finer)->last_y)

static bn_status restrict_to(bn_multigrid *m, int number, bn_field *b, bn_field *x)
{
    mg_level *l = &m->level[number], *finer = l - 1;
    const int radius = number < m->agglomerated; /* within boxes of their own */
    if (separate(m, number - 1)) {
        BN_TRY(RUN(m, number - 1, MG_RESIDUAL, 0, BN_READ(b, 0), BN_READ(x, 1), BN_WRITE(finer->y)));
        return RUN(m, number, MG_RESTRICT_RESIDUAL, 0, BETWEEN(finer, finer), BN_READ_OTHER_GRID_RADIUS(finer->y, 1),
                   BN_WRITE(l->b));
    }
    if (number == 1)
        return RUN(m, number, MG_RESTRICT_FIRST, 0, BETWEEN(finer, finer), BN_READ_OTHER_GRID_RADIUS(m->bits, radius),
                   BN_SCALARS_OTHER_GRID(m->diagonal), BN_REALV(m->stencil.kx), BN_REALV(m->stencil.ky),
                   BN_READ_OTHER_GRID_RADIUS(b, radius), BN_READ_OTHER_GRID_RADIUS(x, 2 * radius), BN_WRITE(l->b));
    return RUN(m, number, MG_RESTRICT, 0, BETWEEN(finer, finer), BN_READ_OTHER_GRID_RADIUS(finer->A, radius),
               BN_READ_OTHER_GRID_RADIUS(b, radius), BN_READ_OTHER_GRID_RADIUS(x, 2 * radius), BN_WRITE(l->b));
}

static bn_status cycle(bn_multigrid *m, int number, bn_field *b, bn_field *x)
{
    mg_level *l = &m->level[number], *next = l + 1;
    if (number + 1 == m->levels)
        return BN_RUN(l->kernels[MG_DENSE], BN_SIZES(l->domain), BN_ARRAY(m->inverse), BN_READ(b, 0), BN_WRITE(x));
    if (number + 1 == m->agglomerated) {
        BN_TRY(bn_field_copy(b, next->b));
        BN_TRY(cycle(m, number + 1, next->b, next->x));
        return bn_field_copy(next->x, x);
    }
    const int ghosts = l->ghosts;
    BN_TRY(RUN(m, number, MG_START, 1, BN_READ(b, 1), BN_WRITE(x), BN_GHOST_CELLS(ghosts)));
    BN_TRY(restrict_to(m, number + 1, b, x));
    BN_TRY(cycle(m, number + 1, next->b, next->x));
    if (l->fused) {
        BN_TRY(RUN(m, number, MG_CORRECT_SMOOTH, 0, BN_READ(b, 0), BN_READ_OTHER_GRID(next->x), BETWEEN(next, l),
                   BN_READ(x, 1), BN_WRITE(l->y)));
    } else {
        bn_field *e = next->x;
        if (number == 0)
            BN_TRY(BN_RUN(l->kernels[MG_CORRECT], BN_READ(m->bits, 0),
                          BN_READ_OTHER_GRID_RADIUS(e, MG_COARSE_RADIUS(ghosts)), BETWEEN(next, l), BN_UPDATE(x),
                          BN_GHOST_CELLS(ghosts)));
        else
            BN_TRY(RUN(m, number, MG_CORRECT, 0, BN_READ_OTHER_GRID_RADIUS(e, MG_COARSE_RADIUS(ghosts)),
                       BETWEEN(next, l), BN_UPDATE(x), BN_GHOST_CELLS(ghosts)));
        BN_TRY(RUN(m, number, MG_SMOOTH, 0, BN_READ(b, 0), BN_READ(x, 1), BN_WRITE(l->y), BN_GHOST_CELLS(ghosts / 2)));
    }
    return RUN(m, number, MG_SMOOTH, 0, BN_READ(b, 0), BN_READ(l->y, 1), BN_WRITE(x), BN_GHOST_CELLS(0));
}

bn_status bn_multigrid_cycle(void *user, bn_field *r, bn_field *z) { return cycle(user, 0, r, z); }
