/* cg_products.c: the case, the plan and the iteration on a device. */
#include "studies/cg_products.h"

#include <math.h>
#include <stdlib.h>

static const bn_key schema[] = {
    { .name = "grid.nodes",
      .type = BN_KEY_INT,
      .count = 2,
      .def = 64,
      .min = 3,
      .max = 16384,
      .help = "along x and y" },
    { .name = "solver.spmv",
      .type = BN_KEY_CHOICE,
      .choices = BN_CHOICES(CG_PRODUCTS_SPMV),
      .def_text = "local",
      .help = "matrix-vector product: offsets from global memory, from local memory, vector as an image" },
    { .name = "solver.dot",
      .type = BN_KEY_CHOICE,
      .choices = BN_CHOICES(CG_PRODUCTS_DOT),
      .def_text = "norm",
      .help = "dot product" },
    { 0 },
};

static const bn_kernel_desc kernels[] = {
    { "cg_products_start", BN_PER_CELL, { .reads = 1, .writes = 3, .flops = 0 } },
    { "cg_products_direction", BN_PER_CELL, { .reads = 2, .writes = 1, .flops = 2 } },
    { "cg_products_spmv", BN_PER_CELL, { .reads = 6, .writes = 1, .flops = 9 } },
    { "cg_products_dot", BN_PER_BLOCK, { .reads = 2, .writes = 0, .flops = 2 } },
    { "cg_products_norm", BN_PER_BLOCK, { .reads = 1, .writes = 0, .flops = 2 } },
    { "cg_products_alpha", BN_ONCE, { 0, 0, 0 } },
    { "cg_products_beta", BN_ONCE, { 0, 0, 0 } },
    { "cg_products_axpy", BN_PER_CELL, { .reads = 2, .writes = 1, .flops = 2 } },
    { 0 },
};

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    cg_products *s = state;
    s->nx = (uint32_t)bn_case_int_at(c, "grid.nodes", 0);
    s->ny = (uint32_t)bn_case_int_at(c, "grid.nodes", 1);
    s->spmv = bn_case_choice(c, "solver.spmv");
    s->dot = bn_case_choice(c, "solver.dot");
    BN_TRY(bn_plan_grid(p, &(bn_grid){ .dims = 2, .n = { s->nx, s->ny, 1 }, .h = { 1, 1, 1 }, .nodes = true }));
    BN_TRY(bn_plan_field(p, &s->A, &(bn_field_desc){ "A", "", BN_T_REAL, 5, 0 }));
    BN_TRY(bn_plan_field(p, &s->b, &(bn_field_desc){ "b", "", BN_T_REAL, 1, 0 }));
    BN_TRY(bn_plan_field(p, &s->x, &(bn_field_desc){ "x", "", BN_T_REAL, 1, BN_COMPARE }));
    BN_TRY(bn_plan_field(p, &s->r, &(bn_field_desc){ "r", "", BN_T_REAL, 1, BN_COMPARE }));
    BN_TRY(bn_plan_field(p, &s->p, &(bn_field_desc){ "p", "", BN_T_REAL, 1, BN_COMPARE }));
    BN_TRY(bn_plan_field(p, &s->q, &(bn_field_desc){ "q", "", BN_T_REAL, 1, BN_COMPARE }));
    BN_TRY(bn_plan_define_int(p, "SPMV", s->spmv));
    return bn_plan_define_int(p, "DOT", s->dot);
}

/* Entries that lead to the border, where x is given, are zero; so are all rows of the border. The right-hand side has
 * noise, so that all wave lengths take part. */
static bn_status init(bn_sim *sim, void *state)
{
    cg_products *s = state;
    const size_t nx = s->nx, ny = s->ny, points = nx * ny;
    bn_status st = BN_OK;
    double *values = calloc(6 * points, sizeof *values), *b = values ? values + 5 * points : NULL;
    if (!values)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for a system of %zu x %zu nodes", nx, ny);
    const double kx = (double)(nx - 1) * (double)(nx - 1), ky = (double)(ny - 1) * (double)(ny - 1);
    for (size_t j = 1; j + 1 < ny; j++)
        for (size_t i = 1; i + 1 < nx; i++) {
            const size_t at = j * nx + i;
            values[at] = 2 * (kx + ky);
            values[points + at] = i > 1 ? -kx : 0;
            values[2 * points + at] = i + 2 < nx ? -kx : 0;
            values[3 * points + at] = j > 1 ? -ky : 0;
            values[4 * points + at] = j + 2 < ny ? -ky : 0;
            b[at] = 1 + 0.1 * (double)(at * 2654435761u % 1000) / 1000;
        }
    BN_GO(bn_field_set(s->A, values, 5 * points));
    BN_GO(bn_field_set(s->b, b, points));
out:
    free(values);
    return st;
}

static bn_status setup(bn_sim *sim, void *state)
{
    cg_products *s = state;
    bn_domain *d = bn_sim_domain(sim);
    const int32_t pitch = (int32_t)bn_domain_place(d).pitch, offsets[5] = { 0, -1, 1, -pitch, pitch };
    s->start = bn_sim_kernel(sim, "cg_products_start");
    s->direction = bn_sim_kernel(sim, "cg_products_direction");
    s->product = bn_sim_kernel(sim, "cg_products_spmv");
    s->multiply = bn_sim_kernel(sim, "cg_products_dot");
    s->square = bn_sim_kernel(sim, "cg_products_norm");
    s->find_alpha = bn_sim_kernel(sim, "cg_products_alpha");
    s->find_beta = bn_sim_kernel(sim, "cg_products_beta");
    s->add = bn_sim_kernel(sim, "cg_products_axpy");
    BN_TRY(bn_partials_create(d, "p.Ap", 1, 0, &s->pap));
    BN_TRY(bn_partials_create(d, "r.r", 1, 0, &s->rr));
    BN_TRY(bn_scalars_create(d, "scalars of conjugate gradients", 3, &s->scalars));
    return bn_device_array_integers(d, "offsets of the diagonals", offsets, 5, &s->offsets);
}

static void teardown(void *state)
{
    cg_products *s = state;
    bn_partials_destroy(&s->pap);
    bn_partials_destroy(&s->rr);
    bn_scalars_destroy(&s->scalars);
    bn_device_array_destroy(&s->offsets);
}

static bn_status dot(const cg_products *s, bn_field *a, bn_field *b, bn_partials *out)
{
    if (s->dot == DOT_NORM && a == b)
        return BN_RUN(s->square, BN_READ(a, 0), BN_PARTIALS(out));
    return BN_RUN(s->multiply, BN_READ(a, 0), BN_READ(b, 0), BN_PARTIALS(out));
}

/* r.r and, but for the first time, beta. */
static bn_status find_beta(const cg_products *s, int first)
{
    BN_TRY(dot(s, s->r, s->r, s->rr));
    return BN_RUN(s->find_beta, BN_TOTALS(s->rr), BN_SCALARS(s->scalars), BN_I32V(first));
}

static bn_status iterate(const cg_products *s)
{
    BN_TRY(BN_RUN(s->direction, BN_READ(s->r, 0), BN_UPDATE(s->p), BN_SCALARS(s->scalars)));
    if (s->spmv == SPMV_IMAGE)
        BN_TRY(BN_RUN(s->product, BN_READ(s->A, 0), BN_ARRAY(s->offsets), BN_IMAGE(s->p, 1), BN_UPDATE(s->q)));
    else
        BN_TRY(BN_RUN(s->product, BN_READ(s->A, 0), BN_ARRAY(s->offsets), BN_READ(s->p, 1), BN_UPDATE(s->q)));
    BN_TRY(dot(s, s->p, s->q, s->pap));
    BN_TRY(BN_RUN(s->find_alpha, BN_TOTALS(s->pap), BN_SCALARS(s->scalars)));
    BN_TRY(BN_RUN(s->add, BN_READ(s->p, 0), BN_UPDATE(s->x), BN_SCALARS(s->scalars), BN_REALV(1)));
    BN_TRY(BN_RUN(s->add, BN_READ(s->q, 0), BN_UPDATE(s->r), BN_SCALARS(s->scalars), BN_REALV(-1)));
    return find_beta(s, 0);
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    const cg_products *s = state;
    (void)sim;
    BN_TRY(BN_RUN(s->start, BN_READ(s->b, 0), BN_WRITE(s->x), BN_WRITE(s->r), BN_WRITE(s->p)));
    BN_TRY(find_beta(s, 1));
    for (int i = 0; i < CG_PRODUCTS_ITERATIONS; i++)
        BN_TRY(iterate(s));
    *out = (bn_step){ .dt = 1, .residual = (double)NAN };
    return BN_OK;
}

static const bn_engine device = { .name = "opencl", .setup = setup, .step = step, .teardown = teardown };

const bn_solver bn_solver_cg_products = {
    .name = "cg_products",
    .summary = "conjugate gradients in separate kernels, with several matrix-vector and dot products",
    .schema = schema,
    .program = "studies/cg_products",
    .kernels = kernels,
    .state_size = sizeof(cg_products),
    .device = &device,
    .reference = { &bn_cg_products_reference_single, &bn_cg_products_reference_double },
    .plan = plan,
    .init = init,
};
