/* linear.c: one interface to all methods. */
#include "numerics/linear.h"

#include "numerics/capacitance.h"
#include "numerics/multigrid.h"
#include "numerics/spectral.h"

#include <stdlib.h>

/* A copy of the system in one box, for a method that can't be cut like the domain. */
enum { COPY_X, COPY_B, COPY_BITS, COPY_R, COPY_P, COPY_Q, COPY_Z, COPIES };

struct bn_linear {
    bn_domain *domain;
    bn_linear_desc desc;
    bn_domain *agglomerated; /* of the copy; NULL: the system is solved in the boxes of `domain` */
    bn_field *copy[COPIES];
    bn_cg *cg;
    bn_spectral *spectral, *coupled; /* coupled: of this and a second system */
    bn_field *plus;
    bn_capacitance *capacitance; /* where there are obstacles */
    bn_multigrid *multigrid;
    bn_cg_target target;
    bn_cg_report report;
    bool waiting; /* the report is still on the device */
    unsigned long long solves;
};

static bn_status create_copy(bn_linear *l, bn_linear_work *work)
{
    static const char *const names[COPIES] = { "whole x", "whole b", "whole bits", "whole r",
                                               "whole p", "whole q", "whole z" };
    bn_domain *d = l->domain;
    const bn_domain_desc own = {
        .grid = *bn_domain_grid(d),
        .precision = bn_domain_precision(d),
        .halo = 1,
        .device = bn_domain_device(d),
        .auxiliary_to = d,
    };
    BN_TRY(bn_domain_create(bn_domain_context(d), &own, &l->agglomerated));
    for (int i = 0; i < COPIES; i++)
        BN_TRY(bn_field_create(l->agglomerated,
                               &(bn_field_desc){ .name = names[i], .type = i == COPY_BITS ? BN_T_U8 : BN_T_REAL },
                               &l->copy[i]));
    *work = (bn_linear_work){ l->copy[COPY_BITS], l->copy[COPY_R], l->copy[COPY_P], l->copy[COPY_Q], l->copy[COPY_Z] };
    return bn_field_write(work->bits, l->desc.stencil.bits, bn_domain_points(d));
}

bn_status bn_linear_create(bn_domain *domain, const bn_linear_desc *desc, const bn_linear_work *w, bn_linear **out)
{
    *out = NULL;
    bn_status st = BN_OK;
    bn_linear_work work = *w;
    bn_linear *l = calloc(1, sizeof *l);
    if (!l)
        return bn_fail(bn_domain_context(domain), BN_MEMORY, "no memory for %s", desc->name);
    l->domain = domain;
    l->desc = *desc;
    const bool whole = (desc->method == BN_LINEAR_SPECTRAL && !bn_spectral_fits_boxes(domain, &desc->stencil)) ||
                       (desc->method == BN_LINEAR_MULTIGRID && !bn_multigrid_fits_boxes(domain, &desc->stencil));
    BN_GO(bn_field_write(w->bits, desc->stencil.bits, bn_domain_points(domain))); /* the solver's kernels read them */
    if (whole && bn_domain_boxes(domain) > 1) {
        BN_GO(create_copy(l, &work));
        domain = l->agglomerated;
    }
    bn_cg_desc cg = { .name = desc->name,
                      .stencil = desc->stencil,
                      .bits = work.bits,
                      .r = work.r,
                      .p = work.p,
                      .q = work.q,
                      .z = work.z,
                      .checks = desc->method == BN_LINEAR_SPECTRAL };
    if (desc->method == BN_LINEAR_SPECTRAL && !desc->only_coupled)
        BN_GO(bn_spectral_create(domain, &desc->stencil, work.q, NULL, desc->launches, &l->spectral));
    if (l->spectral && desc->stencil.rectangle)
        BN_GO(bn_capacitance_create(domain, &desc->stencil, l->spectral,
                                    &(bn_capacitance_work){ work.p, work.r, work.bits }, &l->capacitance));
    if (desc->method == BN_LINEAR_MULTIGRID) {
        BN_GO(bn_multigrid_create(domain, &desc->stencil, work.bits, &l->multigrid));
        cg.preconditioner = bn_multigrid_cycle;
        cg.user = l->multigrid;
    }
    BN_GO(bn_cg_create(domain, &cg, &l->cg));
    l->desc.stencil.bits = l->desc.stencil.rectangle = NULL;
    *out = l;
    l = NULL;
out:
    bn_linear_destroy(&l);
    return st;
}

bn_status bn_linear_ready(const bn_linear *l)
{
    if (l->spectral)
        BN_TRY(bn_spectral_ready(l->spectral));
    return l->coupled ? bn_spectral_ready(l->coupled) : BN_OK;
}

bn_status bn_linear_prepare(bn_linear *l) { return l->capacitance ? bn_capacitance_find(l->capacitance) : BN_OK; }

void bn_linear_destroy(bn_linear **linear)
{
    if (!linear || !*linear)
        return;
    bn_linear *l = *linear;
    bn_cg_destroy(&l->cg);
    bn_capacitance_destroy(&l->capacitance);
    bn_spectral_destroy(&l->spectral);
    bn_spectral_destroy(&l->coupled);
    bn_multigrid_destroy(&l->multigrid);
    for (int i = 0; i < COPIES; i++)
        bn_field_destroy(&l->copy[i]);
    bn_domain_destroy(&l->agglomerated);
    free(l);
    *linear = NULL;
}

bn_status bn_linear_couple(bn_linear *first, const bn_stencil *a, const bn_linear_work *w, const bn_stencil *b,
                           bn_field *plus)
{
    bn_field *const *copy = first->copy;
    first->plus = plus;
    bn_spectral_destroy(&first->coupled); /* of the setup */
    if (!first->agglomerated)
        return bn_spectral_create(first->domain, a, w->q, &(bn_spectral_second){ b, w->p, plus }, first->desc.launches,
                                  &first->coupled);
    const bn_spectral_second second = { b, copy[COPY_P], plus ? copy[COPY_Z] : NULL };
    return bn_spectral_create(first->agglomerated, a, copy[COPY_Q], &second, first->desc.launches, &first->coupled);
}

bn_status bn_linear_solve_two(bn_linear *l, bn_field *x, bn_field *y, bn_field *b)
{
    bn_field *const *copy = l->copy;
    if (!l->agglomerated)
        return bn_spectral_solve_two(l->coupled, x, y, b);
    BN_TRY(bn_field_copy(x, copy[COPY_X]));
    BN_TRY(bn_field_copy(y, copy[COPY_R]));
    BN_TRY(bn_field_copy(b, copy[COPY_B]));
    if (l->plus)
        BN_TRY(bn_field_copy(l->plus, copy[COPY_Z]));
    BN_TRY(bn_spectral_solve_two(l->coupled, copy[COPY_X], copy[COPY_R], copy[COPY_B]));
    BN_TRY(bn_field_copy(copy[COPY_X], x));
    return bn_field_copy(copy[COPY_R], y);
}

bool bn_linear_check_is_due(const bn_linear *l) { return l->solves % BN_LINEAR_CHECK_EVERY == 0; }

void bn_linear_count(bn_linear *l) { l->solves++; }

/* The same on the grid that is solved on. */
static bn_status check(bn_linear *l, bn_field *x, bn_field *b)
{
    const bool due = bn_linear_check_is_due(l);
    l->solves++;
    if (!due)
        return BN_OK;
    l->waiting = true;
    return bn_cg_check(l->cg, x, b, &l->target);
}

bn_status bn_linear_check(bn_linear *l, bn_field *x, bn_field *b, const bn_cg_target *target)
{
    l->target = *target;
    if (!l->agglomerated)
        return check(l, x, b);
    if (bn_linear_check_is_due(l)) {
        BN_TRY(bn_field_copy(x, l->copy[COPY_X]));
        BN_TRY(bn_field_copy(b, l->copy[COPY_B]));
    }
    return check(l, l->copy[COPY_X], l->copy[COPY_B]);
}

static bn_status solve(bn_linear *l, bn_field *x, bn_field *b)
{
    if (l->desc.method != BN_LINEAR_SPECTRAL)
        return bn_cg_solve(l->cg, x, b, &l->target, &l->report);
    BN_TRY(l->capacitance ? bn_capacitance_solve(l->capacitance, x, b) : bn_spectral_solve(l->spectral, x, b));
    return check(l, x, b);
}

bn_status bn_linear_solve(bn_linear *l, bn_field *x, bn_field *b, const bn_cg_target *target)
{
    l->target = *target;
    if (!l->agglomerated)
        return solve(l, x, b);
    BN_TRY(bn_field_copy(x, l->copy[COPY_X]));
    BN_TRY(bn_field_copy(b, l->copy[COPY_B]));
    BN_TRY(solve(l, l->copy[COPY_X], l->copy[COPY_B]));
    return bn_field_copy(l->copy[COPY_X], x);
}

unsigned long long bn_linear_solves(const bn_linear *l) { return l->solves; }

void bn_linear_resume(bn_linear *l, unsigned long long solves, const bn_cg_report *report)
{
    l->solves = solves;
    l->report = *report;
    l->waiting = false;
}

/* Work-groups of a solution in one launch have met. */
static bn_status check_meetings(const bn_linear *l)
{
    bn_scalars *const failed[] = { bn_spectral_failed(l->spectral), bn_spectral_failed(l->coupled) };
    for (size_t i = 0; i < sizeof failed / sizeof *failed; i++) {
        double value = 0;
        if (failed[i])
            BN_TRY(bn_scalars_read(failed[i], &value, 1));
        if (value != 0)
            return bn_fail(bn_domain_context(l->domain), BN_DEVICE,
                           "%s: work-groups waited for each other in vain; solver.launches = \"several\" goes without",
                           l->desc.name);
    }
    return BN_OK;
}

bn_status bn_linear_reports(bn_linear *const *linear, bn_cg_report *report, size_t count, bn_scalars *scalars,
                            double *values, size_t value_count)
{
    enum { MOST = 7 };
    double read[MOST][BN_CG_SCALARS] = { { 0 } };
    bn_scalars_request requests[MOST + 1];
    size_t waiting = 0;
    bn_linear *of[MOST];
    for (size_t i = 0; i < count; i++)
        if (linear[i] && !linear[i]->agglomerated && linear[i]->waiting && waiting < MOST) {
            requests[waiting] = (bn_scalars_request){ bn_cg_scalars(linear[i]->cg), read[waiting], BN_CG_SCALARS };
            of[waiting++] = linear[i];
        }
    requests[waiting] = (bn_scalars_request){ scalars, values, value_count };
    BN_TRY(bn_scalars_read_all(requests, waiting + 1));
    for (size_t i = 0; i < waiting; i++) {
        of[i]->report = bn_cg_report_of(read[i]);
        of[i]->waiting = false;
        BN_TRY(check_meetings(of[i]));
    }
    for (size_t i = 0; i < count; i++)
        if (linear[i])
            BN_TRY(bn_linear_report(linear[i], &report[i]));
    return BN_OK;
}

bn_status bn_linear_report(bn_linear *l, bn_cg_report *report)
{
    if (l->waiting) {
        double scalars[BN_CG_SCALARS];
        BN_TRY(bn_scalars_read(bn_cg_scalars(l->cg), scalars, BN_CG_SCALARS));
        l->report = bn_cg_report_of(scalars);
        l->waiting = false;
        BN_TRY(check_meetings(l));
    }
    *report = l->report;
    return bn_cg_judge(bn_domain_context(l->domain), l->desc.name, &l->target, report);
}
