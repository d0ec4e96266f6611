/* bpm_space.c: beams in space. P is split into what lies along x and along y, each with half of the index; a step along
 * z is a step along all lines of one direction and one along the lines across, and every second step takes them in the
 * other order (Strang 1968): second order in dz, and without absorption each of them keeps the power. Two half steps in
 * the same direction that follow each other are one launch.
 *
 * The fundamental mode comes from steps along imaginary z, which let it grow over all others: (1 + p P) psi_new = psi,
 * p = -k tau / 2 against the highest index, tau shorter and shorter, since the splitting bends the mode by a share of
 * tau. Its index is Rayleigh's quotient of the unsplit operator, in which that error enters squared. */
#include "bpm.h"

#include <math.h>
#include <string.h>

enum { RELAX_STAGES = 5, RELAX_FACTOR = 4 };

static bn_status keep(bn_plan *p, size_t count, double **out)
{
    void *memory;
    BN_TRY(bn_plan_allocate(p, count * sizeof **out, &memory));
    *out = memory;
    return BN_OK;
}

static bn_status keep_pairs(bn_plan *p, size_t count, double _Complex **out)
{
    double *memory;
    BN_TRY(keep(p, 2 * count, &memory));
    *out = (double _Complex *)(void *)memory;
    return BN_OK;
}

/* What setup_axis of bpm_step.c makes. */
static bn_status plan_memory(bn_plan *p, const bpm *s, int d)
{
    const bpm_axis *a = &s->axis[d];
    const bn_grid lines = { .dims = 2, .n = { a->n, a->lines, 1 }, .h = { 1, 1, 1 }, .nodes = true };
    const bn_type made[] = { BN_T_REAL2, s->lossy ? BN_T_REAL2 : BN_T_REAL, BN_T_REAL2, BN_T_REAL2 };
    for (int i = 0; i < (d == 0 ? 2 : 4); i++) /* psi and work along x are fields of the plan */
        BN_TRY(bn_plan_more_memory(p, &lines, made[i], false));
    for (int i = 0; i < 2; i++) /* what is turned, here and elsewhere */
        BN_TRY(bn_plan_more_memory(p, &lines, BN_T_REAL2, true));
    return BN_OK;
}

bn_status bpm_plan_space(const bn_case *c, bn_plan *p, bpm *s)
{
    const int wish = (int)bn_case_int(c, "solver.chunk");
    if (s->tm || (s->wide_angle && s->method != BPM_FFT) || s->beams > 1)
        return bn_case_reject(c, "grid.cells_x", "0: a plane",
                              "in space there is one scalar beam, and by elimination steps are paraxial");
    if (s->launch == BPM_LAUNCH_MODE && s->mode != 0)
        bn_case_reject(c, "launch.mode", NULL, "in space only the fundamental mode, 0, can be found");
    if (s->launch == BPM_LAUNCH_FILE)
        bn_case_reject(c, "launch.kind", NULL, "in space a file cannot be launched");
    if (s->launch == BPM_LAUNCH_MODE && s->structures == 0 && !s->picture)
        bn_case_reject(c, "launch.kind", NULL, "there is no structure that could have a mode");
    for (int d = 0; d < 2; d++) {
        bpm_axis *a = &s->axis[d];
        a->chunk = wish > 0 ? wish : bpm_good_chunk(s, (int)a->n, a->h);
        a->chunks = ((int)a->n + a->chunk - 1) / a->chunk;
        a->op.n = a->n;
        BN_TRY(keep_pairs(p, a->n, &a->scale));
        BN_TRY(keep_pairs(p, a->n, &a->op.w));
        BN_TRY(keep_pairs(p, a->n + 1, &a->op.m));
        BN_TRY(keep_pairs(p, a->n, &a->op.index2));
        if (s->method == BPM_DIRECT)
            BN_TRY(plan_memory(p, s, d));
    }
    s->relax_dz = bn_case_real(c, "launch.relax_dz");
    s->relax_tolerance = bn_case_real(c, "launch.relax_tolerance");
    s->relax_steps = (int)bn_case_int(c, "launch.relax_steps");
    return BN_OK;
}

static void weights(const bpm *s, double _Complex *p, double _Complex *q)
{
    if (!s->relaxing) {
        bpm_step_weights(s, 0, p, q);
        return;
    }
    const double tau = s->relax_dz * pow(RELAX_FACTOR, -s->relax_stage);
    *p = -0.5 * bpm_k0(s, 0) * s->reference * tau;
    *q = 0;
}

void bpm_make_space_section(bpm *s, size_t k)
{
    const bool pml = s->pml;
    double _Complex p, q;
    weights(s, &p, &q);
    s->factor[0] = creal((p - q) / p);
    s->factor[1] = cimag((p - q) / p);
    s->section_z = s->relaxing ? 0.5 * s->dz : ((double)k + 0.5) * s->dz;
    s->section_p = p;
    s->section_end = k + bpm_constant_steps(s, k);
    s->pml = pml && !s->relaxing; /* modes belong to the guide, not to the layers before the walls */
    for (int d = 0; d < 2; d++) {
        bpm_axis *a = &s->axis[d];
        for (size_t i = 0; i < a->n; i++)
            a->op.w[i] = 1 / bpm_stretch(s, (double)(i + 1) * a->h, a->width);
        for (size_t i = 0; i <= a->n; i++)
            a->op.m[i] = 1 / bpm_stretch(s, ((double)i + 0.5) * a->h, a->width);
        bpm_scale(&a->op, a->scale);
        a->reach = 1;
    }
    s->pml = pml;
}

/* Half of the index term at the nodes [first, first + count) along x of row j, times the square of h. */
static void own_terms(const bpm *s, uint32_t j, uint32_t first, uint32_t count, double h, double _Complex *out)
{
    const double k0 = bpm_k0(s, 0);
    bpm_index_row(s, s->section_z, (double)(j + 1) * s->axis[1].h, first, count, out);
    for (size_t i = 0; i < count; i++)
        out[i] = h * h * (0.5 * k0 * k0 * (out[i] - s->reference * s->reference));
}

void bpm_space_lines(bpm *s, int d, uint32_t first, uint32_t count, double *r, double *v)
{
    bpm_axis *a = &s->axis[d];
    const size_t n = a->n, v_size = s->lossy ? 2 : 1;
    const double k0 = bpm_k0(s, 0);
    const double _Complex q0 = a->h * a->h * k0 * k0 * s->reference * s->reference / s->section_p;
    double _Complex *own = a->op.index2, *rows = s->axis[0].op.index2;
    /* Lines along y gather their terms from rows of the cross-section, in their own places of r. */
    for (uint32_t j = 0; d == 1 && j < n; j++) {
        own_terms(s, j, first, count, a->h, rows);
        for (size_t line = 0; line < count; line++) {
            r[2 * (line * n + j)] = creal(rows[line]);
            r[2 * (line * n + j) + 1] = cimag(rows[line]);
        }
    }
    for (uint32_t line = 0; line < count; line++) {
        double *at = r + 2 * line * n;
        if (d == 0)
            own_terms(s, first + line, 0, a->n, a->h, own);
        else
            memcpy(own, at, 2 * n * sizeof *at);
        bpm_eliminate(&a->op, own, q0, a->scale, s->lossy, at, v + v_size * line * n);
        const int reach = bpm_reach(at, n, a->chunk, s->single);
        a->reach = reach > a->reach ? reach : a->reach;
    }
}

bn_status bpm_start_space(const bn_case *c, bn_plan *p, bpm *s)
{
    const bool counted = bn_plan_only_counts(p, (double)s->n * s->rows);
    const bool guess = s->launch == BPM_LAUNCH_MODE;
    const double middle_x = bn_case_real(c, "launch.centre_x");
    double *row = (double *)(void *)s->axis[0].op.index2, power = 0;
    s->spot[0] = middle_x >= 0 ? middle_x : 0.5 * s->axis[0].width;
    s->spot[1] = s->centre;
    s->spot_waist = s->waist;
    if (guess && s->structures > 0) { /* a spot on the first guide grows into its mode */
        s->spot[0] = s->structure[0].centre_x;
        s->spot[1] = s->centre = s->structure[0].centre;
        s->spot_waist = s->structure[0].width;
    }
    for (uint32_t j = 0; j < s->rows && !counted; j++) {
        bpm_start_row(s, j, row);
        for (size_t i = 0; i < 2 * (size_t)s->n; i++)
            power += row[i] * row[i];
    }
    s->start_power[0] = power;
    s->n_eff[0] = s->theory[0] = s->relax_index = (double)NAN;
    if (!counted && !(s->start_power[0] > 0))
        return bn_case_reject(c, "launch.centre", NULL, "the field that enters vanishes on the whole grid");
    s->relaxing = guess;
    s->relax_stage = 0;
    if (s->relaxing)
        s->reference = fmax(s->background, bpm_highest_index(s));
    else if (s->reference == 0)
        s->reference = s->background;
    return BN_OK;
}

bn_status bpm_relax(bn_sim *sim, bpm *s, const bpm_marcher *marcher, bn_step *out)
{
    double index, power;
    bpm_make_space_section(s, 0);
    BN_TRY(marcher->section(sim, s));
    BN_TRY(marcher->march(sim, s, 0, (size_t)s->relax_steps, true));
    BN_TRY(bpm_find_largest(sim, s));
    if (!isfinite(s->largest) || s->largest == 0)
        return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                       "the search for the mode failed; try a smaller launch.relax_dz");
    BN_TRY(bpm_rayleigh(sim, s, &index, &power));
    BN_TRY(bpm_normalize(s));
    s->relax_change = fabs(index - s->relax_index);
    s->relax_index = index;
    if (s->relax_change < s->relax_tolerance && ++s->relax_stage == RELAX_STAGES) {
        if (index <= s->background * (1 + 1e-9))
            return bn_fail(bn_sim_context(sim), BN_DIVERGED,
                           "the structure guides no mode: the index found is %.8f, not above the %.8f around it", index,
                           s->background);
        /* From here on the mode is launched. */
        s->start_power[0] = s->mode_power[0] = power;
        s->n_eff[0] = index;
        s->reference = bn_case_real(bn_sim_case(sim), "material.reference_index");
        s->reference = s->reference > 0 ? s->reference : index;
        const double P = (index / s->reference - 1) * (index / s->reference + 1);
        double _Complex p, q;
        bpm_step_weights(s, 0, &p, &q);
        s->theory[0] = carg((1 + q * P) / (1 + p * P));
        s->relaxing = false;
        s->section_end = 0;
        bpm_make_space_section(s, 0); /* its scaling is the field's from now on */
        s->section_end = 0;
        s->records = 0;
        BN_TRY(bpm_launch_space(s, false));
        BN_TRY(bpm_keep_record(sim, s));
    }
    *out = (bn_step){ .residual = s->relax_change };
    out->series[6] = s->relax_index;
    return BN_OK;
}
