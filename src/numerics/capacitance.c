/* capacitance.c: puts the influence functions of obstacles on a device and launches their sum. */
#include "numerics/capacitance.h"

#include <stdlib.h>

struct bn_capacitance {
    bn_spectral *rectangle;
    bn_capacitance_work work;
    bn_program *program;
    bn_kernel *correct;
    bn_device_array *surface, *influence;
};

static const bn_kernel_desc correct_kernel = { "capacitance_correct",
                                               BN_PER_ROW,
                                               { .reads = 2, .writes = 1, .flops = 2 } };

static bn_status solve_rectangle(void *user, const bn_region *box, const double *b, const bn_region *where, double *x)
{
    const bn_capacitance *c = user;
    BN_TRY(bn_field_write_region(c->work.source, 0, 1, box, BN_AS_DOUBLES, b));
    BN_TRY(bn_spectral_solve(c->rectangle, c->work.filled, c->work.source));
    return bn_field_read_region(c->work.filled, 0, 1, where, BN_AS_DOUBLES, x);
}

static bn_status create_arrays(bn_domain *d, const bn_capacitance_plan *p, bn_capacitance *c)
{
    const bn_place place = bn_domain_place(d);
    const uint32_t nx = bn_domain_grid(d)->n[0];
    int32_t *surface = malloc((p->count + 1) * sizeof *surface);
    if (!surface)
        return bn_fail(bn_domain_context(d), BN_MEMORY, "no memory for the nodes of obstacles");
    for (size_t k = 0; k < p->count; k++)
        surface[k] = (int32_t)(place.first + (long)(p->surface[k] / nx) * place.pitch + p->surface[k] % nx);
    const bn_status st = bn_device_array_integers(d, "nodes of obstacles", surface, p->count, &c->surface);
    free(surface);
    BN_TRY(st);
    return bn_device_array_reals(d, "influence functions of obstacles", p->influence,
                                 p->count * bn_region_points(&p->window), &c->influence);
}

bn_status bn_capacitance_create(bn_domain *domain, const bn_stencil *s, bn_spectral *rectangle,
                                const bn_capacitance_work *work, bn_capacitance **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_capacitance_plan plan = { 0 };
    bn_capacitance *c = calloc(1, sizeof *c);
    if (!c)
        return bn_fail(bn_domain_context(domain), BN_MEMORY, "no memory for obstacles");
    c->rectangle = rectangle;
    c->work = *work;
    BN_GO(bn_field_zero(work->filled));
    BN_GO(bn_field_zero(work->source));
    BN_GO(bn_capacitance_plan_create(bn_domain_context(domain), s,
                                     bn_domain_precision(domain) == BN_DOUBLE ? 0x1p-53 : 0x1p-24, solve_rectangle, c,
                                     &plan));
    const bn_define defines[] = {
        { .name = "SURFACE", .kind = BN_DEF_INT, .u.i = (long)plan.count },
        { .name = "WINDOW_X", .kind = BN_DEF_INT, .u.i = plan.window.first[0] },
        { .name = "WINDOW_Y", .kind = BN_DEF_INT, .u.i = plan.window.first[1] },
        { .name = "WINDOW_NX", .kind = BN_DEF_INT, .u.i = plan.window.n[0] },
        { .name = "WINDOW_NY", .kind = BN_DEF_INT, .u.i = plan.window.n[1] },
    };
    BN_GO(bn_program_build(domain, "capacitance", defines, sizeof defines / sizeof *defines, &c->program));
    BN_GO(bn_kernel_find(c->program, &correct_kernel, &c->correct));
    BN_GO(create_arrays(domain, &plan, c));
    *out = c;
    c = NULL;
out:
    bn_capacitance_plan_destroy(&plan);
    bn_capacitance_destroy(&c);
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
                  BN_READ(c->work.bits, 0), BN_UPDATE(x));
}
