/* multigrid.c: the grids of a V-cycle on a device, each with a domain of its own, and the launches. On a domain of
 * several boxes the large grids are cut into the same boxes. The first small grid exists twice, in boxes and
 * agglomerated: the right-hand side is copied to every device, which computes all coarser grids by itself and has the
 * correction then. The arithmetic of a node is the same either way. */
#include "numerics/multigrid.h"

#include "numerics/multigrid_plan.h"

#include <stdlib.h>

enum { MG_DOWN, MG_UP, MG_DENSE, MG_KERNELS };

/* Grids of fewer nodes are agglomerated: the halo exchanges of such a grid, two in a cycle, take longer than its
 * arithmetic on one device. Between parts of a CPU they are copies in its memory. */
enum { MG_AGGLOMERATED_CPU = 128 * 128, MG_AGGLOMERATED_GPU = 1024 * 1024 };

/* Patches, as in kernels/lib/patch.h: cells around one that it is computed from, of the right-hand side and of the
 * correction; work-items of a GPU that take a column of it. */
enum { MG_MARGIN = BN_MULTIGRID_GHOST_CELLS + 1, MG_COARSE_MARGIN = 2, MG_PATCH_STRIPS = 4 };
static uint32_t patch_columns(const bn_domain *d) { return bn_domain_precision(d) == BN_SINGLE ? 64 : 32; }

/* Of the finest grid, of the others away from sides and obstacles. */
static const bn_kernel_desc kernel_table[2][MG_KERNELS] = {
    { [MG_DOWN] = { "mg_down", BN_PER_PATCH, { .reads = 1.25, .writes = 0.25, .flops = 28 } },
      [MG_UP] = { "mg_up", BN_PER_PATCH, { .reads = 1.5, .writes = 1, .flops = 42 } } },
    { [MG_DOWN] = { "mg_down", BN_PER_PATCH, { .reads = 1.25, .writes = 0.25, .flops = 44 } },
      [MG_UP] = { "mg_up", BN_PER_PATCH, { .reads = 1.5, .writes = 1, .flops = 66 } },
      [MG_DENSE] = { "mg_dense", BN_PER_CELL, { .reads = BN_DENSE_NODES, .writes = 1, .flops = 2 * BN_DENSE_NODES } } },
};

typedef struct mg_level {
    const bn_grid_level *plan; /* valid during creation */
    bn_domain *domain;         /* owned, except the finest */
    bn_program *program;
    bn_kernel *kernels[MG_KERNELS];
    /* Owned, except the finest level's, whose x and b are the caller's, and whose kinds are the stencil's bits. */
    bn_field *kind, *A, *b, *x;
    bn_scalars *same;
    int step_x, step_y; /* to the next coarser level, and weights: bn_grid_level */
    double last_x, last_y;
    int rows; /* of a patch with its margin */
} mg_level;

struct bn_multigrid {
    bn_stencil stencil;
    bn_scalars *diagonal;
    bn_device_array *inverse;
    int levels;
    int agglomerated; /* level that is the same grid as the one before, but whole on every device; 0: none */
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
        .copies = bn_domain_boxes(finest) > 1,
        .device = bn_domain_device(finest),
        .auxiliary_to = finest,
    };
    return bn_domain_create(bn_domain_context(finest), &desc, &l->domain);
}

/* Writes a level's matrix and the kinds of its nodes, some rows of a box at a time; the kinds alone where nothing is
 * smoothed. */
static bn_status write_matrix(const mg_level *l)
{
    enum { BAND = 1 << 26 }; /* bytes, enough for rows on all processors */
    const bool single = bn_domain_precision(l->domain) == BN_SINGLE;
    const size_t point = l->A ? BN_STORED * (single ? sizeof(float) : sizeof(double)) : 1;
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
            bn_grid_kinds(l->plan, band.first, band.n, single, values);
            st = bn_field_write_region(l->kind, 0, 1, &band, BN_OWN_TYPE, values);
            if (st != BN_OK || !l->A)
                continue;
            bn_grid_matrix(l->plan, BN_STORED, band.first, band.n, single, values);
            st = bn_field_write_region(l->A, 0, BN_STORED, &band, BN_OWN_TYPE, values);
        }
        free(values);
        BN_TRY(st);
    }
    return BN_OK;
}

static bn_status create_fields(bn_multigrid *m, int number)
{
    mg_level *l = &m->level[number];
    const bool smoothed = number + 1 != m->agglomerated && number + 1 != m->levels;
    BN_TRY(bn_field_create(l->domain, &(bn_field_desc){ .name = "coarse kinds", .type = BN_T_U8, .components = 1 },
                           &l->kind));
    BN_TRY(bn_field_create(l->domain, &(bn_field_desc){ .name = "coarse b" }, &l->b));
    BN_TRY(bn_field_create(l->domain, &(bn_field_desc){ .name = "coarse x" }, &l->x));
    if (smoothed) {
        BN_TRY(bn_field_create(l->domain, &(bn_field_desc){ .name = "coarse A", .components = BN_STORED }, &l->A));
        BN_TRY(bn_scalars_create(l->domain, "coarse row", BN_STORED, &l->same));
        BN_TRY(bn_scalars_write(l->same, l->plan->same, BN_STORED));
    }
    return write_matrix(l);
}

/* Whether a level has a kernel: none where it is the same grid as the next one. */
static bool has_kernel(const bn_multigrid *m, int number, int kernel)
{
    const bool coarsest = number + 1 == m->levels;
    return kernel == MG_DENSE ? coarsest : !coarsest && number + 1 != m->agglomerated;
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
    for (int k = MG_DOWN; k <= MG_UP && l->kernels[k]; k++) {
        bn_kernel_patch(l->kernels[k], patch_columns(l->domain) - 2 * MG_MARGIN, (size_t)l->rows - 2 * MG_MARGIN);
        bn_kernel_items(l->kernels[k], (size_t)patch_columns(l->domain) * MG_PATCH_STRIPS);
    }
    return BN_OK;
}

/* Whether boxes can be made coarser, and have ghost cells for a patch's margin; those of the next grid have them for
 * MG_COARSE_MARGIN then. */
static bool can_coarsen(const bn_domain *d, int step_x, int step_y)
{
    return bn_domain_divides(d, (const int[3]){ step_x, step_y, 1 }) && bn_domain_max_radius(d) >= MG_MARGIN;
}

bool bn_multigrid_fits_boxes(const bn_domain *domain, const bn_stencil *s)
{
    return (size_t)s->nx * s->ny > BN_DENSE_NODES && can_coarsen(domain, bn_grid_step(s->nx), bn_grid_step(s->ny));
}

/* High patches have less margin to compute twice; low ones are more, and done sooner: a few on each compute unit. */
static int rows_of_patches(const mg_level *l)
{
    static const int rows[] = { 38, 22, 14 };
    const uint32_t nx = patch_columns(l->domain) - 2 * MG_MARGIN, across = (l->plan->nx + nx - 1) / nx,
                   wanted = 4 * bn_device_describe(bn_domain_device(l->domain))->compute_units;
    int n = 0;
    while (n < 2 && across * (l->plan->ny / (uint32_t)(rows[n] - 2 * MG_MARGIN) + 1) < wanted)
        n++;
    return rows[n];
}

/* Makes the coarser levels: in boxes as long as they are large and their cuts can be coarsened, then whole. */
static bn_status create_levels(bn_multigrid *m, const bn_multigrid_plan *plan)
{
    const bool boxes = bn_domain_boxes(m->level[0].domain) > 1;
    const size_t agglomerated = bn_runs_cpu_kernels(bn_domain_device(m->level[0].domain)) ? MG_AGGLOMERATED_CPU
                                                                                          : MG_AGGLOMERATED_GPU;
    bool whole = !boxes;
    m->level[0].plan = plan->level;
    m->levels = 1;
    for (int p = 1; p < plan->levels; p++) {
        const bn_grid_level *own = &plan->level[p];
        const bool small = (size_t)own->nx * own->ny < agglomerated || p + 1 == plan->levels;
        for (int copy = whole; copy < 2; copy++) {
            const int number = m->levels++;
            mg_level *l = &m->level[number];
            l->plan = own;
            if (copy == 0)
                m->agglomerated = number + 1;
            BN_TRY(create_domain(m, number));
            if (copy == 0 && !small && can_coarsen(l->domain, own->step_x, own->step_y))
                break;
            whole = true;
        }
    }
    for (int n = 0; n < m->levels; n++) {
        mg_level *l = &m->level[n];
        l->step_x = l->plan->step_x;
        l->step_y = l->plan->step_y;
        l->last_x = l->plan->last_x;
        l->last_y = l->plan->last_y;
        l->rows = rows_of_patches(l);
    }
    for (int l = 1; l < m->levels; l++)
        BN_TRY(create_fields(m, l));
    for (int l = 0; l < m->levels; l++)
        BN_TRY(build(m, l));
    return BN_OK;
}

bn_status bn_multigrid_create(bn_domain *domain, const bn_stencil *stencil, bn_field *bits, bn_multigrid **out)
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
    m->level[0].kind = bits;
    m->level[0].domain = domain;
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
        bn_scalars_destroy(&l->same);
        bn_field_destroy(&l->kind);
        bn_field_destroy(&l->A);
        bn_field_destroy(&l->b);
        bn_field_destroy(&l->x);
        bn_domain_destroy(&l->domain);
    }
    free(m);
    *multigrid = NULL;
}

/* A launch of kernel `k` on level `l` with the arguments of MATRIX_ARGUMENTS in front, of which it reads neighbours
 * within `radius`. */
#define RUN(m, l, k, radius, ...)                                                                                 \
    ((l)->A ? BN_RUN((l)->kernels[k], BN_SIZES((l)->domain), BN_READ((l)->kind, radius), BN_READ((l)->A, radius), \
                     BN_SCALARS((l)->same), __VA_ARGS__)                                                          \
            : BN_RUN((l)->kernels[k], BN_READ((l)->kind, radius), BN_SCALARS((m)->diagonal),                      \
                     BN_REALV((m)->stencil.kx), BN_REALV((m)->stencil.ky), __VA_ARGS__))

/* The arguments for two grids in the same boxes: sizes of the one that is not the kernel's, and BETWEEN_GRIDS. */
#define BETWEEN(other, finer)                                                                                 \
    BN_SIZES((other)->domain), BN_I32V((finer)->step_x), BN_I32V((finer)->step_y), BN_REALV((finer)->last_x), \
        BN_REALV((finer)->last_y)

static bn_status cycle(bn_multigrid *m, int number, bn_field *b, bn_field *x)
{
    const mg_level *l = &m->level[number], *next = l + 1;
    if (number + 1 == m->levels)
        return BN_RUN(l->kernels[MG_DENSE], BN_SIZES(l->domain), BN_ARRAY(m->inverse), BN_READ(b, 0), BN_WRITE(x));
    if (number + 1 == m->agglomerated) {
        BN_TRY(bn_field_copy(b, next->b));
        BN_TRY(cycle(m, number + 1, next->b, next->x));
        return bn_field_copy(next->x, x);
    }
    const bool boxes = number < m->agglomerated;
    const int margin = boxes ? MG_MARGIN : 0, coarse_margin = boxes ? MG_COARSE_MARGIN : 0;
    BN_TRY(RUN(m, l, MG_DOWN, margin, BN_READ(b, margin), BN_I32V(l->rows), BETWEEN(next, l),
               BN_READ_OTHER_GRID(next->kind), BN_WRITE_OTHER_GRID(next->b)));
    BN_TRY(cycle(m, number + 1, next->b, next->x));
    return RUN(m, l, MG_UP, margin, BN_READ(b, margin), BN_I32V(l->rows),
               BN_READ_OTHER_GRID_RADIUS(next->x, coarse_margin), BETWEEN(next, l), BN_WRITE(x));
}

bn_status bn_multigrid_cycle(void *user, bn_field *r, bn_field *z) { return cycle(user, 0, r, z); }
