/* bpm_row_sums.c: sums over rows of the cross-section, formed on the device (kernels/bpm_row_sums.cl): after a record
 * the host reads some numbers a row, not the field. */
#include "api/other_grids.h"
#include "bpm.h"

#include <stdlib.h>

void bpm_row_sums_destroy(bpm *s)
{
    bpm_row_sums *r = &s->space.sums;
    bn_program_destroy(&r->program);
    bn_device_array_destroy(&r->scale);
    bn_field_destroy(&r->field);
    bn_domain_destroy(&r->domain);
}

/* Columns of the grid that the sums are on are every so many-th of the cross-section's, at least BPM_ROW_SUMS. */
static int step_of(const bpm *s) { return ((int)s->c.n - 1) / (BPM_ROW_SUMS - 1); }

/* What bpm_row_sums_create makes, and the scale. */
bn_status bpm_plan_row_sums(bn_plan *p, const bpm *s)
{
    const bn_grid sums = { .dims = 2,
                           .n = { (s->c.n - 1) / (uint32_t)step_of(s) + 1, s->c.rows, 1 },
                           .h = { 1, 1, 1 } };
    const bn_grid line = { .dims = 2, .n = { s->c.n, 1, 1 }, .h = { 1, 1, 1 } };
    BN_TRY(bn_plan_more_memory(p, &sums, BN_T_REAL2, false));
    return s->c.pml ? bn_plan_more_memory(p, &line, BN_T_REAL2, false) : BN_OK;
}

bn_status bpm_row_sums_create(bn_sim *sim, bpm *s)
{
    static const bn_kernel_desc kernel = { "bpm_row_sums", BN_PER_ROW, { .reads = 4, .flops = 120 } };
    bpm_row_sums *r = &s->space.sums;
    bn_domain *d = bn_sim_domain(sim);
    BN_TRY(bn_domain_coarsen(d, (const int[3]){ step_of(s), 1, 1 }, 0, &r->domain));
    BN_TRY(bn_field_create(r->domain, &(bn_field_desc){ .name = "sums of rows", .type = BN_T_REAL2 }, &r->field));
    BN_TRY(bn_program_build_any_size(d, d, "bpm_row_sums", NULL, 0, &r->program));
    return bn_kernel_find(r->program, &kernel, &r->kernel);
}

/* The scale of the axis along x, where there is one. */
static bn_status need_scale(bpm *s)
{
    bpm_row_sums *r = &s->space.sums;
    if (r->scale || !s->c.pml)
        return BN_OK;
    return bn_device_array_reals(bn_field_domain(s->psi), "scale along x",
                                 (const double *)(const void *)s->axis[0].scale, 2 * (size_t)s->c.n, &r->scale);
}

bn_status bpm_sum_rows(bpm *s, int middle, double (*sums)[BPM_ROW_SUMS])
{
    bpm_row_sums *r = &s->space.sums;
    const size_t columns = bn_domain_grid(r->domain)->n[0];
    BN_TRY(need_scale(s));
    BN_TRY(BN_RUN(r->kernel, BN_SIZES(bn_field_domain(s->psi)), BN_SIZES(r->domain), BN_READ(s->psi, 0),
                  BN_READ(s->space.start, 0), BN_ARRAY_OR_NULL(r->scale), BN_I32V(middle),
                  BN_WRITE_OTHER_GRID(r->field)));
    double *pairs = malloc(2 * columns * s->c.rows * sizeof *pairs);
    if (!pairs)
        return bn_fail(bn_domain_context(r->domain), BN_MEMORY, "no memory for sums of %u rows", s->c.rows);
    const bn_region all = { .n = { (uint32_t)columns, s->c.rows, 1 } };
    const bn_status st = bn_field_read_region(r->field, 0, 1, &all, BN_AS_DOUBLES, pairs);
    for (size_t j = 0; st == BN_OK && j < s->c.rows; j++)
        for (size_t k = 0; k < BPM_ROW_SUMS; k++)
            sums[j][k] = pairs[2 * (j * columns + k)] + pairs[2 * (j * columns + k) + 1];
    free(pairs);
    return st;
}
