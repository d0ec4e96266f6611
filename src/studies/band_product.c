/* band_product.c: the matrix and the vector, and their product on a device. */
#include "studies/band_product.h"

#include <math.h>
#include <stdlib.h>

static const bn_key schema[] = {
    { .name = "grid.points", .type = BN_KEY_INT, .def = 3000, .min = 2, .max = 1 << 24, .help = "N" },
    { .name = "band.lower",
      .type = BN_KEY_INT,
      .def = 1,
      .min = 0,
      .max = 256,
      .help = "diagonals under the main one" },
    { .name = "band.upper", .type = BN_KEY_INT, .def = 1, .min = 0, .max = 256, .help = "diagonals above it" },
    { 0 },
};

static const bn_kernel_desc kernels[] = {
    { "band_product_multiply", BN_PER_CELL, { .reads = 12, .writes = 2, .flops = 24 } },
    { 0 },
};

/* Entries of size 1 and below, anything but alike. */
static void fill(double *pairs, size_t count, double seed)
{
    for (size_t i = 0; i < count; i++) {
        pairs[2 * i] = sin(seed + 0.37 * (double)i);
        pairs[2 * i + 1] = cos(seed - 0.11 * (double)i);
    }
}

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    band_product *s = state;
    s->n = (uint32_t)bn_case_int(c, "grid.points");
    s->lower = (uint32_t)bn_case_int(c, "band.lower");
    s->upper = (uint32_t)bn_case_int(c, "band.upper");
    const uint32_t widest = s->lower > s->upper ? s->lower : s->upper;
    if (widest >= s->n)
        return bn_case_reject(c, s->lower > s->upper ? "band.lower" : "band.upper", NULL,
                              "a matrix of %u rows has no %u diagonals beside the main one", s->n, widest);
    BN_TRY(bn_plan_grid(p, &(bn_grid){ .dims = 2, .n = { s->n, 1, 1 }, .h = { 1, 1, 1 }, .nodes = true }));
    BN_TRY(bn_plan_halo(p, widest > 0 ? (int)widest : 1));
    BN_TRY(bn_plan_field(p, &s->x, &(bn_field_desc){ "x", "", BN_T_REAL2, 1, BN_STATE }));
    BN_TRY(bn_plan_field(p, &s->z, &(bn_field_desc){ "z", "", BN_T_REAL2, 1, BN_STATE | BN_COMPARE | BN_OUTPUT }));
    const struct {
        double **pairs;
        size_t count;
    } bands[] = { { &s->diagonal, s->n },
                  { &s->upper_band, band_start(s->n, (size_t)s->upper + 1) },
                  { &s->lower_band, band_start(s->n, (size_t)s->lower + 1) } };
    for (size_t i = 0; i < sizeof bands / sizeof *bands; i++) {
        BN_TRY(bn_plan_allocate(p, (2 * bands[i].count + 2) * sizeof(double), (void **)bands[i].pairs));
        fill(*bands[i].pairs, bands[i].count, (double)i);
        BN_TRY(bn_plan_table(p, (2 * bands[i].count + 2) * (bn_case_double(c) ? 8 : 4), 1));
    }
    BN_TRY(bn_plan_define_int(p, "LOWER", s->lower));
    return bn_plan_define_int(p, "UPPER", s->upper);
}

static bn_status init(bn_sim *sim, void *state)
{
    band_product *s = state;
    double *x = calloc(2 * (size_t)s->n, sizeof *x);
    if (!x)
        return bn_fail(bn_sim_context(sim), BN_MEMORY, "no memory for a vector of %u", s->n);
    fill(x, s->n, 3);
    const bn_status st = bn_field_set(s->x, x, 2 * (size_t)s->n);
    free(x);
    return st;
}

static bn_status setup(bn_sim *sim, void *state)
{
    band_product *s = state;
    const struct {
        const char *name;
        const double *pairs;
        size_t count;
    } bands[3] = { { "main diagonal", s->diagonal, s->n },
                   { "upper band", s->upper_band, band_start(s->n, (size_t)s->upper + 1) + 1 },
                   { "lower band", s->lower_band, band_start(s->n, (size_t)s->lower + 1) + 1 } };
    s->multiply = bn_sim_kernel(sim, "band_product_multiply");
    for (size_t i = 0; i < 3; i++)
        BN_TRY(bn_device_array_reals(bn_sim_domain(sim), bands[i].name, bands[i].pairs, 2 * bands[i].count,
                                     &s->arrays[i]));
    return BN_OK;
}

static void teardown(void *state)
{
    band_product *s = state;
    for (size_t i = 0; i < 3; i++)
        bn_device_array_destroy(&s->arrays[i]);
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    const band_product *s = state;
    const int radius = (int)(s->lower > s->upper ? s->lower : s->upper);
    (void)sim;
    *out = (bn_step){ .dt = 1, .residual = (double)NAN };
    return BN_RUN(s->multiply, BN_ARRAY(s->arrays[0]), BN_ARRAY(s->arrays[1]), BN_ARRAY(s->arrays[2]),
                  BN_READ(s->x, radius), BN_WRITE(s->z));
}

static const bn_engine device = { .name = "opencl", .setup = setup, .step = step, .teardown = teardown };

const bn_solver bn_solver_band_product = {
    .name = "band_product",
    .summary = "the product of a band matrix by diagonals and a vector, after Alekseev and Golovashkin (2010)",
    .program = "studies/band_product",
    .schema = schema,
    .kernels = kernels,
    .state_size = sizeof(band_product),
    .device = &device,
    .reference = { &bn_band_product_reference_single, &bn_band_product_reference_double },
    .plan = plan,
    .init = init,
};
