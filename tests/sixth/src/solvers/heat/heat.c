/* heat.c: the heat equation T_t = a Lap T, explicit, on a periodic square. Stable for a dt / h^2 <= 1/4. */
#include "heat.h"

#include <math.h>

/* clang-format off */
static const bn_key schema[] = {
    { .name = "grid.cells", .type = BN_KEY_INT, .count = 2, .def = 32, .min = 4, .max = 16384,
      .help = "cells along x and y" },
    { .name = "grid.size", .type = BN_KEY_REAL, .unit = "m", .def = 1, .max = 1e6, .above = true,
      .help = "length of the square's side" },
    { .name = "material.diffusivity", .type = BN_KEY_REAL, .unit = "m2 s-1", .def = 1e-4, .max = 1e6, .above = true,
      .help = "thermal diffusivity" },
    { .name = "time.dt", .type = BN_KEY_REAL, .unit = "s", .def = 1, .max = 1e9, .above = true, .help = "time step" },
    { 0 },
};
/* clang-format on */

static const bn_kernel_desc kernels[] = {
    { "heat_advance", BN_PER_CELL, { .reads = 1, .writes = 1, .flops = 6 } },
    { 0 },
};

static bn_status plan(const bn_case *c, void *state, bn_plan *p)
{
    heat *s = state;
    uint32_t nx = (uint32_t)bn_case_int_at(c, "grid.cells", 0), ny = (uint32_t)bn_case_int_at(c, "grid.cells", 1);
    double h = bn_case_real(c, "grid.size") / nx;
    s->dt = bn_case_real(c, "time.dt");
    s->k = bn_case_real(c, "material.diffusivity") * s->dt / (h * h);
    if (s->k > 0.25)
        return bn_case_reject(c, "time.dt", NULL, "unstable: diffusivity dt / h^2 = %.3g is above 1/4", s->k);
    BN_TRY(bn_plan_grid(p, &(bn_grid){ .dims = 2,
                                       .n = { nx, ny, 1 },
                                       .h = { h, h, 1 },
                                       .origin = { 0.5 * h, 0.5 * h },
                                       .periodic = { true, true } }));
    BN_TRY(bn_plan_field(p, &s->T, &(bn_field_desc){ "T", "K", BN_T_REAL, 1, BN_STATE | BN_OUTPUT | BN_COMPARE }));
    BN_TRY(bn_plan_field(p, &s->next, &(bn_field_desc){ "T_next", "K", BN_T_REAL, 1, 0 }));
    BN_TRY(bn_plan_result(p, "T_max", "K", "largest temperature at the end"));
    return bn_plan_define(p, "K", s->k);
}

static double hot_spot(const double x[3], const void *user)
{
    const bn_grid *g = user;
    const double pi = 3.14159265358979323846;
    return 300 + 10 * sin(2 * pi * x[0] / (g->n[0] * g->h[0])) * cos(2 * pi * x[1] / (g->n[1] * g->h[1]));
}

static bn_status init(bn_sim *sim, void *state)
{
    heat *s = state;
    return bn_field_fill(s->T, hot_spot, bn_domain_grid(bn_sim_domain(sim)));
}

static bn_status step(bn_sim *sim, void *state, bn_step *out)
{
    heat *s = state;
    BN_TRY(BN_RUN(bn_sim_kernel(sim, "heat_advance"), BN_READ(s->T, 1), BN_WRITE(s->next)));
    bn_field_swap(s->T, s->next);
    *out = (bn_step){ .dt = s->dt, .residual = (double)NAN };
    return BN_OK;
}

static bn_status measure(bn_sim *sim, void *state, bn_results *results)
{
    heat *s = state;
    double largest;
    (void)sim;
    BN_TRY(bn_reduce(s->T, 0, BN_MAX_ABS, &largest));
    return bn_result(results, "T_max", largest);
}

static const bn_engine device = { .name = "opencl", .step = step };

const bn_solver bn_solver_heat = {
    .name = "heat",
    .summary = "heat equation on a periodic square, explicit",
    .schema = schema,
    .kernels = kernels,
    .state_size = sizeof(heat),
    .device = &device,
    .reference = { &bn_heat_reference_single, &bn_heat_reference_double },
    .plan = plan,
    .init = init,
    .measure = measure,
};
