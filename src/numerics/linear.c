/* linear.c: one face for all methods. */
#include "numerics/linear.h"

#include "numerics/multigrid.h"
#include "numerics/spectral.h"

#include <stdlib.h>

/* A system gathered in one box. */
typedef struct gathered {
    bn_domain *domain;
    bn_field *x, *b;
    bn_linear_work work;
    bn_linear *linear;
} gathered;

struct bn_linear {
    bn_domain *domain;
    bn_linear_desc desc;
    bn_cg *cg;
    bn_spectral *spectral;
    bn_multigrid *multigrid;
    bn_field *q;
    gathered *gathered;
    bn_cg_target target;
    bn_cg_report report;
    bool waiting; /* the report is still on the device */
    unsigned long long solves;
};

static bn_status create_gathered(bn_domain *domain, const bn_linear_desc *desc, gathered **out)
{
    const bn_domain_desc own = { .grid = *bn_domain_grid(domain),
                                 .precision = bn_domain_precision(domain),
                                 .halo = 1,
                                 .device = bn_domain_device(domain) };
    gathered *g = *out = calloc(1, sizeof *g);
    if (!g)
        return bn_fail(bn_domain_context(domain), BN_MEMORY, "no memory to gather %s", desc->name);
    BN_TRY(bn_domain_create(bn_domain_context(domain), &own, &g->domain));
    const struct {
        const char *name;
        bn_type type;
        bn_field **field;
    } fields[] = {
        { "gathered x", BN_T_REAL, &g->x },          { "gathered b", BN_T_REAL, &g->b },
        { "gathered bits", BN_T_U8, &g->work.bits }, { "gathered r", BN_T_REAL, &g->work.r },
        { "gathered p", BN_T_REAL, &g->work.p },     { "gathered q", BN_T_REAL, &g->work.q },
        { "gathered z", BN_T_REAL, &g->work.z },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        BN_TRY(bn_field_create(g->domain, &(bn_field_desc){ .name = fields[i].name, .type = fields[i].type },
                               fields[i].field));
    return bn_linear_create(g->domain, desc, &g->work, &g->linear);
}

static void destroy_gathered(gathered *g)
{
    if (!g)
        return;
    bn_linear_destroy(&g->linear);
    bn_field_destroy(&g->x);
    bn_field_destroy(&g->b);
    bn_field_destroy(&g->work.bits);
    bn_field_destroy(&g->work.r);
    bn_field_destroy(&g->work.p);
    bn_field_destroy(&g->work.q);
    bn_field_destroy(&g->work.z);
    bn_domain_destroy(&g->domain);
    free(g);
}

bn_status bn_linear_create(bn_domain *domain, const bn_linear_desc *desc, const bn_linear_work *w, bn_linear **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_linear *l = calloc(1, sizeof *l);
    if (!l)
        return bn_fail(bn_domain_context(domain), BN_MEMORY, "no memory for %s", desc->name);
    l->domain = domain;
    l->desc = *desc;
    l->q = w->q;
    const bool whole = desc->method == BN_LINEAR_SPECTRAL ||
                       (desc->method == BN_LINEAR_MULTIGRID && !bn_multigrid_fits_boxes(domain, &desc->stencil));
    BN_GO(bn_field_write(w->bits, desc->stencil.bits, (size_t)desc->stencil.nx * desc->stencil.ny));
    if (whole && bn_domain_boxes(domain) > 1) {
        BN_GO(create_gathered(domain, desc, &l->gathered));
    } else {
        bn_cg_desc cg = {
            .name = desc->name, .stencil = desc->stencil, .bits = w->bits, .r = w->r, .p = w->p, .q = w->q
        };
        if (desc->method == BN_LINEAR_SPECTRAL)
            BN_GO(bn_spectral_create(domain, &desc->stencil, w->q, &l->spectral));
        if (desc->method == BN_LINEAR_MULTIGRID) {
            BN_GO(bn_multigrid_create(domain, &desc->stencil, w->bits, w->q, &l->multigrid));
            cg.z = w->z;
            cg.preconditioner = bn_multigrid_cycle;
            cg.user = l->multigrid;
        }
        BN_GO(bn_cg_create(domain, &cg, &l->cg));
    }
    l->desc.stencil.bits = NULL;
    *out = l;
    l = NULL;
out:
    bn_linear_destroy(&l);
    return st;
}

void bn_linear_destroy(bn_linear **linear)
{
    if (!linear || !*linear)
        return;
    bn_cg_destroy(&(*linear)->cg);
    bn_spectral_destroy(&(*linear)->spectral);
    bn_multigrid_destroy(&(*linear)->multigrid);
    destroy_gathered((*linear)->gathered);
    free(*linear);
    *linear = NULL;
}

bn_status bn_linear_solve(bn_linear *l, bn_field *x, bn_field *b, const bn_cg_target *target)
{
    l->target = *target;
    if (l->gathered) {
        gathered *g = l->gathered;
        BN_TRY(bn_field_copy(x, g->x));
        BN_TRY(bn_field_copy(b, g->b));
        BN_TRY(bn_linear_solve(g->linear, g->x, g->b, target));
        return bn_field_copy(g->x, x);
    }
    if (!l->spectral)
        return bn_cg_solve(l->cg, x, b, target, &l->report);
    BN_TRY(bn_spectral_solve(l->spectral, x, b));
    if (l->solves++ % BN_LINEAR_CHECK_EVERY != 0)
        return BN_OK;
    l->waiting = true;
    return bn_cg_check(l->cg, x, b, target);
}

unsigned long long bn_linear_solves(const bn_linear *l)
{
    return l->gathered ? bn_linear_solves(l->gathered->linear) : l->solves;
}

void bn_linear_resume(bn_linear *l, unsigned long long solves, const bn_cg_report *report)
{
    if (l->gathered) {
        bn_linear_resume(l->gathered->linear, solves, report);
        return;
    }
    l->solves = solves;
    l->report = *report;
}

bn_status bn_linear_reports(bn_linear *const *linear, bn_cg_report *report, size_t count, bn_scalars *scalars,
                            double *values, size_t value_count)
{
    enum { MOST = 7 };
    double read[MOST][BN_CG_SCALARS];
    bn_scalars_request requests[MOST + 1];
    size_t waiting = 0;
    bn_linear *of[MOST];
    for (size_t i = 0; i < count; i++)
        if (linear[i] && !linear[i]->gathered && linear[i]->waiting && waiting < MOST) {
            requests[waiting] = (bn_scalars_request){ bn_cg_scalars(linear[i]->cg), read[waiting], BN_CG_SCALARS };
            of[waiting++] = linear[i];
        }
    requests[waiting] = (bn_scalars_request){ scalars, values, value_count };
    BN_TRY(bn_scalars_read_all(requests, waiting + 1));
    for (size_t i = 0; i < waiting; i++) {
        of[i]->report = bn_cg_report_of(read[i]);
        of[i]->waiting = false;
    }
    for (size_t i = 0; i < count; i++)
        if (linear[i])
            BN_TRY(bn_linear_report(linear[i], &report[i]));
    return BN_OK;
}

bn_status bn_linear_report(bn_linear *l, bn_cg_report *report)
{
    if (l->gathered)
        return bn_linear_report(l->gathered->linear, report);
    if (l->waiting)
        BN_TRY(bn_cg_report_read(l->cg, &l->report));
    l->waiting = false;
    *report = l->report;
    return bn_cg_judge(bn_domain_context(l->domain), l->desc.name, &l->target, report);
}
