/* capacitance.c: puts the influence functions of obstacles on a device and launches their sum. */
#include "numerics/capacitance.h"

#include <stdlib.h>

struct bn_capacitance {
    bn_domain *domain;
    bn_stencil stencil;
    bn_spectral *rectangle;
    bn_capacitance_work work;
    bn_program *program;
    bn_kernel *correct;
    size_t count;     /* surface nodes */
    bn_region window; /* capacitance_plan.h */
    bn_device_array *surface, *influence;
};

static const bn_kernel_desc correct_kernel = { "capacitance_correct",
                                               BN_PER_ROW,
                                               { .reads = 2, .writes = 1, .flops = 2 } };

bn_status bn_capacitance_create(bn_domain *domain, const bn_stencil *s, bn_spectral *rectangle,
                                const bn_capacitance_work *work, bn_capacitance **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_capacitance *c = malloc(sizeof *c);
    if (!c)
        return bn_fail(bn_domain_context(domain), BN_MEMORY, "no memory for obstacles");
    *c = (bn_capacitance){ .domain = domain, .stencil = *s, .rectangle = rectangle, .work = *work };
    const bn_define most = { .name = "SURFACE_MOST", .kind = BN_DEF_INT, .u.i = BN_CAPACITANCE_SURFACE };
    BN_GO(bn_program_build(domain, "capacitance", &most, 1, &c->program));
    BN_GO(bn_kernel_find(c->program, &correct_kernel, &c->correct));
    *out = c;
    c = NULL;
out:
    bn_capacitance_destroy(&c);
    return st;
}

static bn_status solve_rectangle(void *user, const double *b, double *x)
{
    const bn_capacitance *c = user;
    BN_TRY(bn_field_set(c->work.source, b, bn_domain_points(c->domain)));
    BN_TRY(bn_spectral_solve(c->rectangle, c->work.filled, c->work.source));
    return bn_field_get(c->work.filled, x, bn_domain_points(c->domain));
}

static bn_status create_arrays(bn_capacitance *c, const bn_capacitance_plan *p)
{
    const bn_place place = bn_domain_place(c->domain);
    const uint32_t nx = c->stencil.nx;
    int32_t *surface = malloc((p->count + 1) * sizeof *surface);
    if (!surface)
        return bn_fail(bn_domain_context(c->domain), BN_MEMORY, "no memory for the nodes of obstacles");
    for (size_t k = 0; k < p->count; k++)
        surface[k] = (int32_t)(place.first + (long)(p->surface[k] / nx) * place.pitch + p->surface[k] % nx);
    const bn_status st = bn_device_array_integers(c->domain, "nodes of obstacles", surface, p->count, &c->surface);
    free(surface);
    BN_TRY(st);
    c->count = p->count;
    c->window = p->window;
    return bn_device_array_reals(c->domain, "influence functions of obstacles", p->influence,
                                 p->count * bn_region_points(&p->window), &c->influence);
}

bn_status bn_capacitance_find(bn_capacitance *c)
{
    const double roundoff = bn_domain_precision(c->domain) == BN_DOUBLE ? 0x1p-53 : 0x1p-24;
    bn_capacitance_plan plan;
    BN_TRY(bn_field_zero(c->work.filled));
    BN_TRY(bn_capacitance_plan_create(bn_domain_context(c->domain), &c->stencil, roundoff, solve_rectangle, c, &plan));
    const bn_status st = create_arrays(c, &plan);
    bn_capacitance_plan_destroy(&plan);
    return st;
}

void bn_capacitance_destroy(bn_capacitance **capacitance)
{
    if (!capacitance || !*capacitance)
        return;
    bn_capacitance *c = *capacitance;
    bn_program_destroy(&c->program);
    bn_device_array_destroy(&c->surface);
    bn_device_array_destroy(&c->influence);
    free(c);
    *capacitance = NULL;
}

bn_status bn_capacitance_solve(bn_capacitance *c, bn_field *x, bn_field *b)
{
    BN_TRY(bn_spectral_solve(c->rectangle, c->work.filled, b));
    return BN_RUN(c->correct, BN_READ(c->work.filled, 0), BN_ARRAY(c->surface), BN_ARRAY(c->influence),
                  BN_READ(c->work.bits, 0), BN_I32V((int32_t)c->count), BN_I32V((int32_t)c->window.first[0]),
                  BN_I32V((int32_t)c->window.first[1]), BN_I32V((int32_t)c->window.n[0]),
                  BN_I32V((int32_t)c->window.n[1]), BN_UPDATE(x));
}
